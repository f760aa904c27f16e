//! `train`: LIBLINEAR's training program.

use std::path::Path;

use maxmargin::data::{Dataset, Folds, Label, Matrix};
use maxmargin::model::{Machine, ModelParts, Multiclass, Pairing};
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::training::{ClassWeights, Penalty};
use maxmargin::{Model, Training, TrainingParams, Workers};
use maxmargin_io::{LiblinearLayout, liblinear_model_to_text};

use super::data::{check_whole, numbers, read};
use super::ending::{Ending, watch};
use super::fits::{fit, named_weights, predicted};
use super::folds::{self, Random};
use super::general::g;
use super::options::{Options, model_name};
use super::order::order_in;
use super::scores::Scores;
use crate::input::answers_of;
use crate::interrupt::{self, Phase};
use crate::output::{self, Target};
use crate::size::default_memory;

const USAGE: &str = "\
Usage: train [options] training_set_file [model_file]
options:
-s type : type of machine (default 1)
  for classes
\t 0 -- L2-regularized logistic regression (primal)
\t 1 -- L2-regularized L2-loss support vector classification (dual)
\t 2 -- L2-regularized L2-loss support vector classification (primal)
\t 3 -- L2-regularized L1-loss support vector classification (dual)
\t 4 -- support vector classification by Crammer and Singer
\t 5 -- L1-regularized L2-loss support vector classification
\t 6 -- L1-regularized logistic regression
\t 7 -- L2-regularized logistic regression (dual)
  for regression
\t11 -- L2-regularized L2-loss support vector regression (primal)
\t12 -- L2-regularized L2-loss support vector regression (dual)
\t13 -- L2-regularized L1-loss support vector regression (dual)
  for outlier detection
\t21 -- one-class support vector machine (dual)
-c cost : C (default 1)
-p epsilon : epsilon of the regressions (default 0.1)
-n nu : nu of the one-class machine (default 0.5)
-e epsilon : how exact; the duality gap, relative, is brought below a thousandth of it (default 0.01 for -s 0, 2, 5, 6, 21;
\t0.0001 for -s 11; 0.1 for all others)
-B bias : if bias >= 0, a row x becomes [x; bias]; if < 0, there is no bias (default -1)
-R : the bias is not regularized; goes with -B 1, and -s 0, 2, 5, 6, 11
-wi weight : C of class i is weight*C
-v n : n folds of cross validation, and no model
-C : find parameters (C for -s 0, 2; C and p for -s 11)
-m nr_thread : threads (default: one for each core)
-M type : how several classes are told apart; 0, each against the rest, is all that the file has a place for
-q : no words
";

/// The types: number, name in the file, task, loss, norm, tolerance, and whether the objective they print is the dual's.
const TYPES: [(u8, &str, Loss, Norm, f64, bool); 12] = [
    (0, "L2R_LR", Loss::Logistic, Norm::L2, 0.01, false),
    (1, "L2R_L2LOSS_SVC_DUAL", Loss::Squared, Norm::L2, 0.1, true),
    (2, "L2R_L2LOSS_SVC", Loss::Squared, Norm::L2, 0.01, false),
    (3, "L2R_L1LOSS_SVC_DUAL", Loss::Hinge, Norm::L2, 0.1, true),
    (4, "MCSVM_CS", Loss::Hinge, Norm::L2, 0.1, true),
    (5, "L1R_L2LOSS_SVC", Loss::Squared, Norm::L1, 0.01, false),
    (6, "L1R_LR", Loss::Logistic, Norm::L1, 0.01, false),
    (7, "L2R_LR_DUAL", Loss::Logistic, Norm::L2, 0.1, true),
    (11, "L2R_L2LOSS_SVR", Loss::Squared, Norm::L2, 0.0001, false),
    (12, "L2R_L2LOSS_SVR_DUAL", Loss::Squared, Norm::L2, 0.1, true),
    (13, "L2R_L1LOSS_SVR_DUAL", Loss::Hinge, Norm::L2, 0.1, true),
    (21, "ONECLASS_SVM", Loss::Hinge, Norm::L2, 0.01, true),
];

/// What was asked for.
struct Plan {
    kind: u8,
    name: &'static str,
    of_dual: bool,
    params: TrainingParams,
    /// The constant column; none below 0.
    constant: f64,
    folds: Option<usize>,
    search: bool,
    /// Where a search begins, if it was said.
    start: (Option<f64>, Option<f64>),
    threads: usize,
    quiet: bool,
}

/// Trains.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    let options = Options::new(arguments, "scpneBvwmM", "RCq", USAGE)?;
    let file = options.file(0)?.to_string();
    let mut plan = Plan::new(&options)?;
    let model_file = options.files.get(1).cloned().unwrap_or_else(|| model_name(&file));
    let target = match plan.folds.is_none() && !plan.search {
        true => Some(Target::new(Path::new(&model_file), &[Path::new(&file)])?),
        false => None,
    };
    let workers = Workers::new(plan.threads)?;
    let plain = read(&file, &workers, plan.quiet, answers_of(plan.params.task), None)?;
    if plan.params.task.is_classification() {
        check_whole(&plain)?;
    }
    plan.name_weights(&options, &plain)?;
    let columns = plain.columns();
    let data = plan.with_constant(plain)?;
    let session = Session { plan: &plan, workers: &workers };
    if plan.search {
        let folds = plan.folds.unwrap_or(5);
        return interrupt::during(Phase::Solving, || session.search(&data, folds));
    }
    if let Some(folds) = plan.folds {
        let training = plan.params.clone().check()?;
        let scores = interrupt::during(Phase::Solving, || session.cross_validate(&data, folds, &training))?;
        return Ok(output::print(&scores.of_folds(data_is_numbers(&plan)))?);
    }
    let training = plan.params.clone().check()?;
    let model = interrupt::during(Phase::Solving, || session.fit(&training, &data))?;
    session.say(&session.phrases(&model))?;
    let order = order_in(&data);
    let classes = model.task().is_classification();
    let model = plan.without_constant(&model, columns)?;
    let constant = (plan.constant >= 0.0).then_some(plan.constant);
    let layout = LiblinearLayout { order: classes.then_some(&order[..]), constant, name: Some(plan.name) };
    let text = liblinear_model_to_text(&model, layout)?;
    match target {
        Some(target) => Ok(target.save(text.as_bytes())?),
        None => Ok(()),
    }
}

fn data_is_numbers(plan: &Plan) -> bool {
    plan.params.task.is_regression()
}

impl Plan {
    fn new(options: &Options) -> Result<Self, Ending> {
        let search = options.has('C');
        let mut kind: i64 = options.value('s', 1)?;
        if search && !options.has('s') {
            output::say("Solver not specified. Using -s 2");
            kind = 2;
        }
        let found = TYPES.iter().find(|(number, ..)| i64::from(*number) == kind);
        let Some(&(kind, name, loss, norm, own, of_dual)) = found else {
            return Err(Ending::parameter(&format!("unknown solver type {kind}"), "give -s 0 to 7, 11, 12, 13 or 21"));
        };
        if search && !matches!(kind, 0 | 2 | 11) {
            return Err(options.wrong("Warm-start parameter search only available for -s 0, -s 2 and -s 11"));
        }
        let tolerance: f64 = options.value('e', own)?;
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(Ending::parameter("eps <= 0", "give -e a number above 0"));
        }
        let constant: f64 = options.value('B', -1.0)?;
        let explicit = options.has('R');
        if explicit && (constant != 1.0 || !matches!(kind, 0 | 2 | 5 | 6 | 11)) {
            return Err(Ending::parameter(
                "-R goes with -B 1 and -s 0, 2, 5, 6 or 11 only",
                "leave out -R, or give these",
            ));
        }
        if options.value('M', 0)? != 0 {
            return Err(Ending::parameter(
                "the file of a model has a place for each class against the rest only",
                "leave out -M",
            ));
        }
        let one_class = kind == 21;
        if one_class && constant >= 0.0 {
            output::say("WARNING: one-class SVM has no bias term; -B is of no effect");
        }
        let task = match kind {
            11..=13 => Task::Regression { epsilon: options.value('p', 0.1)? },
            21 => Task::OneClass { nu: options.value('n', 0.5)? },
            _ => Task::Classification,
        };
        let multiclass = match kind {
            4 => Some(Multiclass::CrammerSinger),
            _ if task.is_classification() => Some(Multiclass::OneVsRest),
            _ => None,
        };
        let bias = match (explicit || one_class, constant == 1.0) {
            (true, _) => Bias::Explicit,
            (false, true) => Bias::Folded,
            (false, false) => Bias::None,
        };
        let cost = options.value('c', 1.0)?;
        let mut params = TrainingParams {
            task,
            penalty: Penalty::C(if one_class { 1.0 } else { cost }),
            norm,
            loss: Some(loss),
            bias,
            multiclass,
            ..TrainingParams::default()
        };
        params.settings.memory = default_memory().0;
        // Over all classes theirs stops at a violation of this size, which is measured as ours is.
        params.settings.tolerance = Some(if kind == 4 { tolerance } else { (0.1 * tolerance).min(1e-3) });
        // Theirs stop by rules of their own, one for each solver; a gap says the same of all.
        params.settings.gap = Some((1e-3 * tolerance).clamp(1e-9, 1e-4)).filter(|_| kind != 4);
        let folds: Option<i64> = if options.has('v') { Some(options.value('v', 0)?) } else { None };
        let folds = match folds {
            Some(folds) if folds < 2 => return Err(options.wrong("n-fold cross validation: n must >= 2")),
            folds => folds.map(|folds| folds as usize),
        };
        let given = |letter: char, value: f64| options.has(letter).then_some(value);
        let start = (given('c', cost), given('p', options.value('p', 0.1)?));
        let constant = if one_class { -1.0 } else { constant };
        let quiet = options.has('q');
        let threads: usize = options.value('m', 0)?;
        Ok(Plan { kind, name, of_dual, params, constant, folds, search, start, threads, quiet })
    }

    /// The weights of the classes that there are; for the others a word.
    fn name_weights(&mut self, options: &Options, data: &Dataset) -> Result<(), Ending> {
        if !self.params.task.is_classification() {
            return Ok(());
        }
        self.params.class_weights = named_weights(options, data)?;
        Ok(())
    }

    /// Whether the constant is a column of the data: our own folded bias is of value 1.
    fn has_column(&self) -> bool {
        self.constant >= 0.0 && self.constant != 1.0
    }

    /// The data with the constant as its last column, where it needs one.
    fn with_constant(&self, data: Dataset) -> Result<Dataset, Ending> {
        if !self.has_column() {
            return Ok(data);
        }
        let (rows, columns) = (data.rows(), data.columns());
        let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
        for row in 0..rows {
            data.matrix().visit(row, |column, value| {
                indices.push(column as u32);
                values.push(value);
            });
            indices.push(columns as u32);
            values.push(self.constant);
            offsets.push(indices.len() as u64);
        }
        let matrix = Matrix::sparse(rows, columns + 1, offsets, indices, values)?;
        Ok(Dataset::new(matrix, data.answers().clone())?)
    }

    /// The model with the constant's weight as its bias.
    fn without_constant(&self, model: &Model, columns: usize) -> Result<Model, Ending> {
        if !self.has_column() {
            return Ok(model.clone());
        }
        let mut parts = model.parts().clone();
        for machine in &mut parts.machines {
            let last = machine.weights.as_mut().and_then(Vec::pop).unwrap_or(0.0);
            machine.bias = last * self.constant;
        }
        parts.columns = columns;
        Ok(Model::new(parts)?)
    }
}

/// What stays the same from fit to fit.
struct Session<'a> {
    plan: &'a Plan,
    workers: &'a Workers,
}

impl Session<'_> {
    fn say(&self, text: &str) -> Result<(), Ending> {
        if self.plan.quiet { Ok(()) } else { Ok(output::print(text)?) }
    }

    fn fit(&self, training: &Training, data: &Dataset) -> Result<Model, Ending> {
        let params = training.params();
        if self.plan.kind == 4 && data.labels()?.classes().len() == 2 {
            // Two functions that are each other's negative: ‖w₁‖² + ‖w₂‖² is half of ‖w₁ − w₂‖².
            let Penalty::C(cost) = params.penalty else { return self.fit_once(training, data) };
            let doubled = TrainingParams { penalty: Penalty::C(2.0 * cost), ..params.clone() };
            return self.fit_once(&doubled.check()?, data);
        }
        match &params.class_weights {
            ClassWeights::Given(given)
                if data.labels()?.classes().len() > 2 && params.multiclass == Some(Multiclass::OneVsRest) =>
            {
                self.fit_each(params, given, data)
            }
            _ => self.fit_once(training, data),
        }
    }

    /// A class after the other: the weight of a class is that of its own rows against the rest, all of which count 1.
    fn fit_each(&self, params: &TrainingParams, given: &[(Label, f64)], data: &Dataset) -> Result<Model, Ending> {
        let classes = data.labels()?.classes();
        let mut whole: Option<ModelParts> = None;
        for (class, label) in classes.iter().enumerate() {
            let own: Vec<(Label, f64)> = given.iter().filter(|(known, _)| known == label).cloned().collect();
            let class_weights = if own.is_empty() { ClassWeights::Equal } else { ClassWeights::Given(own) };
            let params = TrainingParams { positive: Some(label.clone()), class_weights, ..params.clone() };
            let mut parts = self.fit_once(&params.check()?, data)?.parts().clone();
            let found = parts.machines.drain(..).map(|machine| Machine {
                pairing: Pairing { positive: class, negative: None },
                // What the file has a place for is the weights.
                support: Vec::new(),
                coefficients: Vec::new(),
                ..machine
            });
            let found: Vec<Machine> = found.collect();
            whole.get_or_insert(parts).machines.extend(found);
        }
        let mut parts = whole.ok_or_else(|| Ending::parameter("the data has no rows", "give at least one"))?;
        parts.classes = classes.to_vec();
        parts.recipe.class_weights = None;
        parts.one_against_rest = false;
        parts.support_rows.clear();
        Ok(Model::new(parts)?)
    }

    fn fit_once(&self, training: &Training, data: &Dataset) -> Result<Model, Ending> {
        fit(training, data, self.workers, self.plan.quiet)
    }

    /// What LIBLINEAR says of a fit.
    fn phrases(&self, model: &Model) -> String {
        let of_machine = |machine: &Machine| {
            let mut text = format!("optimization finished, #iter = {}\n", machine.iterations);
            if let Some(certificate) = machine.evidence.certificate() {
                let objective = if self.plan.of_dual { -certificate.dual } else { certificate.primal };
                text.push_str(&format!("Objective value = {objective:.6}\n"));
                // The L1 norm counts columns in the place of vectors.
                text.push_str(&match certificate.columns {
                    Some(columns) => {
                        format!("#nonzeros/#features = {}/{}\n", columns.used, columns.used + columns.unused)
                    }
                    None => format!("nSV = {}\n", certificate.counts.support),
                });
            }
            text
        };
        match &model.parts().joint {
            Some(joint) => {
                let mut text = format!("optimization finished, #iter = {}\n", model.iterations());
                if let Some(certificate) = joint.certificate() {
                    let found = model.parts().support_rows.len();
                    text.push_str(&format!("Objective value = {:.6}\nnSV = {found}\n", -certificate.dual));
                }
                text
            }
            None => model.machines().iter().map(of_machine).collect(),
        }
    }

    /// How good the folds are that were left out.
    fn cross_validate(&self, data: &Dataset, folds: usize, training: &Training) -> Result<Scores, Ending> {
        let targets = numbers(data)?;
        let mut scores = Scores::default();
        for (out, kept) in folds_of(data, folds).each() {
            let part = data.select_rows(&kept);
            let found = if training.params().task.is_classification() && part.labels()?.classes().len() < 2 {
                // One class is all that there is to say.
                vec![targets[kept[0]]; out.len()]
            } else {
                let model = self.fit(training, &part)?;
                self.say(&self.phrases(&model))?;
                predicted(&model, &data.select_rows(&out), &order_in(&part), false, self.workers)?
            };
            out.iter().zip(found).for_each(|(&row, found)| scores.add(targets[row], found));
        }
        Ok(scores)
    }

    /// `-C`: every C from a small one on, each twice the one before, and for a regression some ε.
    fn search(&self, data: &Dataset, folds: usize) -> Result<(), Ending> {
        self.say(&format!("Doing parameter search with {folds}-fold cross validation.\n"))?;
        let targets = numbers(data)?;
        if self.plan.kind != 11 {
            let (cost, rate) = self.search_costs(data, folds, &targets, None, 1024.0)?;
            return Ok(output::print(&format!("Best C = {}  CV accuracy = {}%\n", g(cost), g(rate)))?);
        }
        let largest = targets.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        let first = match self.plan.start.1 {
            Some(epsilon) if epsilon > 0.0 && largest > 0.0 => ((epsilon / (largest / 20.0)) as usize).min(19),
            _ => 19,
        };
        let mut best: Option<(f64, f64, f64)> = None;
        for step in (0..=first).rev() {
            let epsilon = step as f64 * largest / 20.0;
            let (cost, error) = self.search_costs(data, folds, &targets, Some(epsilon), 1_048_576.0)?;
            if best.is_none_or(|(_, _, least)| error < least) {
                best = Some((cost, epsilon, error));
            }
        }
        let (cost, epsilon, error) = best.unwrap_or_default();
        Ok(output::print(&format!("Best C = {} Best p = {}  CV MSE = {}\n", g(cost), g(epsilon), g(error)))?)
    }

    /// The best C, and its rate in percent or its squared error.
    fn search_costs(
        &self,
        data: &Dataset,
        folds: usize,
        targets: &[f64],
        epsilon: Option<f64>,
        most: f64,
    ) -> Result<(f64, f64), Ending> {
        let start = self.plan.start.0.unwrap_or_else(|| self.first_cost(data, targets, epsilon)).min(most);
        let costs: Vec<f64> =
            std::iter::successors(Some(start), |cost| Some(2.0 * cost)).take_while(|&cost| cost <= most).collect();
        let mut params = self.plan.params.clone();
        if let Some(epsilon) = epsilon {
            params.task = Task::Regression { epsilon };
        }
        let training = params.check()?;
        let penalties: Vec<Penalty> = costs.iter().map(|&cost| Penalty::C(cost)).collect();
        let mut scores = vec![Scores::default(); costs.len()];
        for (out, kept) in folds_of(data, folds).each() {
            let (part, rest) = (data.select_rows(&kept), data.select_rows(&out));
            let order = order_in(&part);
            let mut watch = watch(self.plan.quiet);
            let models = training.fit_path(&part, &penalties, self.workers, &mut watch);
            watch.finish();
            if interrupt::asked() {
                return Err(Ending::Interrupted);
            }
            for (model, scores) in models?.iter().zip(&mut scores) {
                let found = predicted(model, &rest, &order, false, self.workers)?;
                out.iter().zip(found).for_each(|(&row, found)| scores.add(targets[row], found));
            }
        }
        let mut best = (start, if epsilon.is_some() { f64::INFINITY } else { 0.0 });
        for (&cost, scores) in costs.iter().zip(&scores) {
            let log = cost.log2();
            let (better, score) = match epsilon {
                Some(epsilon) => {
                    let error = scores.squared_error();
                    self.say(&format!("log2c={log:7.2}\tp={epsilon:7.2}\tMean squared error={}\n", g(error)))?;
                    (error < best.1, error)
                }
                None => {
                    self.say(&format!("log2c={log:7.2}\trate={}\n", g(scores.rate())))?;
                    (scores.rate() > best.1, scores.rate())
                }
            };
            if better {
                best = (cost, score);
            }
        }
        self.say("WARNING: maximum C reached.\n")?;
        Ok(best)
    }

    /// So small a C that the weights are nearly 0: a power of 2.
    fn first_cost(&self, data: &Dataset, targets: &[f64], epsilon: Option<f64>) -> f64 {
        let square = |row: usize| {
            let mut sum = 0.0;
            data.matrix().visit(row, |_, value| sum += value * value);
            // The constant of a folded bias is not in the data.
            sum + if self.plan.constant == 1.0 { 1.0 } else { 0.0 }
        };
        let longest = (0..data.rows()).map(square).fold(0.0, f64::max);
        let rows = data.rows() as f64;
        let least = match (self.plan.kind, epsilon) {
            (0, _) => 1.0 / (rows * longest),
            (_, None) => 1.0 / (2.0 * rows * longest),
            (_, Some(epsilon)) => {
                let sum: f64 = targets.iter().map(|y| y.abs()).sum();
                let loss: f64 = targets.iter().map(|y| (y.abs() - epsilon).max(0.0)).map(|slack| slack * slack).sum();
                0.01 * loss / (8.0 * sum * sum * longest)
            }
        };
        let power = least.log2().floor().exp2();
        if power > 0.0 && power.is_finite() { power } else { 1.0 }
    }
}

fn folds_of(data: &Dataset, folds: usize) -> Folds {
    let rows = data.rows();
    if folds > rows {
        output::say(
            "WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross validation)",
        );
    }
    folds::plain(rows, folds.min(rows), &mut Random::new())
}
