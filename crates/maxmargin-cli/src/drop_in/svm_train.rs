//! `svm-train`: LIBSVM's training program.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use maxmargin::calibration::{Calibration, CalibrationParams, noise, platt};
use maxmargin::data::{Dataset, Labels};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::{Machine, Multiclass, Pairing};
use maxmargin::problem::Task;
use maxmargin::training::{ClassWeights, Penalty};
use maxmargin::{Model, Training, TrainingParams, Workers};
use maxmargin_io::{LibsvmLayout, libsvm_model_to_text};

use super::data::{check_whole, numbers, read};
use super::ending::{Ending, watch};
use super::fits::{fit, named_weights, predicted};
use super::folds::{self, Random};
use super::options::{Options, model_name};
use super::order::order_in;
use super::scores::Scores;
use crate::input::{answers_of, training_table};
use crate::interrupt::{self, Phase};
use crate::output::{self, Target};
use crate::size::default_memory;

const USAGE: &str = "\
Usage: svm-train [options] training_set_file [model_file]
options:
-s svm_type : type of machine (default 0)
\t0 -- C-SVC\t\t(classes)
\t1 -- nu-SVC\t\t(classes)
\t2 -- one-class SVM
\t3 -- epsilon-SVR\t(regression)
\t4 -- nu-SVR\t\t(regression)
-t kernel_type : type of kernel (default 2)
\t0 -- linear: u'*v
\t1 -- polynomial: (gamma*u'*v + coef0)^degree
\t2 -- radial basis function: exp(-gamma*|u-v|^2)
\t3 -- sigmoid: tanh(gamma*u'*v + coef0)
\t4 -- precomputed kernel (kernel values in training_set_file)
-d degree : degree of the kernel (default 3)
-g gamma : gamma of the kernel (default 1/columns)
-r coef0 : coef0 of the kernel (default 0)
-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)
-n nu : nu of nu-SVC, one-class SVM and nu-SVR (default 0.5)
-p epsilon : epsilon of epsilon-SVR (default 0.1)
-m cachesize : memory for kernel values in MB, at least (default 100)
-e epsilon : tolerance to stop at (default 0.001)
-h shrinking : taken, and of no effect: the engine shrinks as it sees fit (default 1)
-b probability_estimates : whether to train for probabilities, 0 or 1 (default 0)
-wi weight : C of class i is weight*C, for C-SVC (default 1)
-v n : n folds of cross validation, and no model
-q : no words
";

/// The most folds of an estimate of probabilities.
const FOLDS: usize = 5;

/// Bytes of phrases that are written to standard output at a time.
const BYTES_A_WRITE: usize = 1 << 16;

/// What was asked for.
struct Plan {
    params: TrainingParams,
    probabilities: bool,
    folds: Option<usize>,
    quiet: bool,
}

/// What the options say of a training; the weights of classes need the data, and have [`named_weights`].
///
/// # Errors
/// When a value is no number of its kind, or not known.
pub(super) fn params_of(options: &Options) -> Result<TrainingParams, Ending> {
    Plan::new(options).map(|plan| plan.params)
}

/// Trains.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    let options = Options::new(arguments, "stdgrcnpmehbvw", "q", USAGE)?;
    let file = options.file(0)?.to_string();
    let mut plan = Plan::new(&options)?;
    let model_file = options.files.get(1).cloned().unwrap_or_else(|| model_name(&file));
    let target = match plan.folds {
        None => Some(Target::new(Path::new(&model_file), &[Path::new(&file)])?),
        Some(_) => None,
    };
    let workers = Workers::new(0)?;
    let kernel_values = training_table(&plan.params.kernel);
    let data = read(&file, &workers, plan.quiet, answers_of(plan.params.task), kernel_values)?;
    if plan.params.task.is_classification() {
        check_whole(&data)?;
    }
    plan.name_weights(&options, &data)?;
    let training = plan.params.clone().check()?;
    let session = Session { plan: &plan, training: &training, workers: &workers };
    let mut random = Random::new();
    if let Some(folds) = plan.folds {
        let text = interrupt::during(Phase::Solving, || session.cross_validate(&data, folds, &mut random))?;
        return Ok(output::print(&text)?);
    }
    let order = order_in(&data);
    let model = interrupt::during(Phase::Solving, || session.train(&data, &mut random))?;
    if plan.params.task.is_classification() {
        session.say(&format!("Total nSV = {}\n", model.parts().support_rows.len()))?;
    }
    let classes = model.recipe().task.is_classification();
    let layout =
        LibsvmLayout { order: classes.then_some(&order[..]), rows: Some(data.matrix()), workers: Some(&workers) };
    let text = libsvm_model_to_text(&model, layout)?;
    // The system takes the memory of a program that ends at once; to free 499,500 machines one by one takes longer.
    std::mem::forget(model);
    match target {
        Some(target) => Ok(target.save(text.as_bytes())?),
        None => Ok(()),
    }
}

impl Plan {
    fn new(options: &Options) -> Result<Self, Ending> {
        let whole = |letter: char, default: u8, most: u8, name: &str| -> Result<u8, Ending> {
            let found: i64 = options.value(letter, i64::from(default))?;
            u8::try_from(found).ok().filter(|&found| found <= most).ok_or_else(|| {
                Ending::parameter(
                    &format!("unknown {name} {found}"),
                    &format!("give -{letter} a whole number from 0 to {most}"),
                )
            })
        };
        let gamma = match options.value('g', 0.0)? {
            0.0 => Gamma::Auto,
            value => Gamma::Value(value),
        };
        let coef0 = options.value('r', 0.0)?;
        let kernel = match whole('t', 2, 4, "kernel type")? {
            0 => KernelParams::Linear,
            1 => KernelParams::Polynomial { gamma, coef0, degree: options.value('d', 3)? },
            2 => KernelParams::Rbf { gamma },
            3 => KernelParams::Sigmoid { gamma, coef0 },
            _ => KernelParams::Precomputed,
        };
        let (cost, nu) = (options.value('c', 1.0)?, options.value('n', 0.5)?);
        let (task, penalty) = match whole('s', 0, 4, "svm type")? {
            0 => (Task::Classification, Penalty::C(cost)),
            1 => (Task::Classification, Penalty::Nu(nu)),
            2 => (Task::OneClass { nu }, Penalty::C(1.0)),
            3 => (Task::Regression { epsilon: options.value('p', 0.1)? }, Penalty::C(cost)),
            _ => (Task::NuRegression { nu }, Penalty::C(cost)),
        };
        let multiclass = task.is_classification().then_some(Multiclass::OneVsOne);
        let mut params = TrainingParams { task, kernel, penalty, multiclass, ..TrainingParams::default() };
        params.settings.tolerance = Some(options.value('e', 1e-3)?);
        let cache: f64 = options.value('m', 100.0)?;
        if !(cache > 0.0 && cache.is_finite()) {
            return Err(Ending::parameter("cache_size <= 0", "give -m a number of megabytes above 0"));
        }
        params.settings.memory = default_memory().0.max((cache * 1_048_576.0) as u64);
        whole('h', 1, 1, "shrinking")?;
        let probabilities = whole('b', 0, 1, "probability")? == 1;
        let folds: Option<i64> = if options.has('v') { Some(options.value('v', 0)?) } else { None };
        let folds = match folds {
            Some(folds) if folds < 2 => return Err(options.wrong("n-fold cross validation: n must >= 2")),
            folds => folds.map(|folds| folds as usize),
        };
        Ok(Plan { params, probabilities, folds, quiet: options.has('q') })
    }

    /// The weights of classes, where there is a C that they are of.
    fn name_weights(&mut self, options: &Options, data: &Dataset) -> Result<(), Ending> {
        if !matches!((self.params.task, self.params.penalty), (Task::Classification, Penalty::C(_))) {
            return Ok(());
        }
        self.params.class_weights = named_weights(options, data)?;
        Ok(())
    }
}

/// What stays the same from fit to fit.
struct Session<'a> {
    plan: &'a Plan,
    training: &'a Training,
    workers: &'a Workers,
}

impl Session<'_> {
    fn say(&self, text: &str) -> Result<(), Ending> {
        if self.plan.quiet { Ok(()) } else { Ok(output::print(text)?) }
    }

    /// One fit, with its phrases; and its probabilities, where they are asked for.
    fn train(&self, data: &Dataset, random: &mut Random) -> Result<Model, Ending> {
        let calibrations = if self.plan.probabilities { self.calibrations(data, random)? } else { Vec::new() };
        let model = self.fit(self.training, data)?;
        let order = order_in(data);
        if !self.plan.quiet {
            self.say_of_machines(&model, &order)?;
        }
        if !self.plan.probabilities {
            return Ok(model);
        }
        if matches!(model.task(), Task::OneClass { .. }) {
            let mut watch = watch(self.plan.quiet);
            let how = CalibrationParams::default();
            return match self.training.calibrate(&model, data, how, self.workers, &mut watch) {
                Ok(ControlFlow::Continue(model)) => Ok(model),
                Ok(ControlFlow::Break(_)) => Err(Ending::Interrupted),
                // Too few rows for marks: theirs goes on without them.
                Err(error) => {
                    output::say(&format!("WARNING: {error}; {}", error.help()));
                    Ok(model)
                }
            };
        }
        let mut parts = model.parts().clone();
        for (machine, found) in parts.machines.iter_mut().zip(calibrations) {
            machine.calibration = Some(found);
        }
        Ok(Model::new(parts)?)
    }

    /// The phrases of all machines, many at a time: 1,000 classes have 499,500 machines.
    fn say_of_machines(&self, model: &Model, order: &[usize]) -> Result<(), Ending> {
        let mut text = String::new();
        for (machine, sign) in in_their_order(model, order) {
            text.push_str(&phrases(model, machine, sign));
            if text.len() > BYTES_A_WRITE {
                self.say(&text)?;
                text.clear();
            }
        }
        self.say(&text)
    }

    fn fit(&self, training: &Training, data: &Dataset) -> Result<Model, Ending> {
        fit(training, data, self.workers, self.plan.quiet)
    }

    /// How good the folds are that were left out.
    fn cross_validate(&self, data: &Dataset, folds: usize, random: &mut Random) -> Result<String, Ending> {
        let rows = data.rows();
        let task = self.plan.params.task;
        let folds = if folds > rows {
            output::say(&format!(
                "WARNING: # folds ({folds}) > # data ({rows}). Will use # folds = # data instead (i.e., leave-one-out cross validation)"
            ));
            rows
        } else {
            folds
        };
        let folds = match task.is_classification() && folds < rows {
            true => folds::by_class(data.labels()?, folds, random),
            false => folds::plain(rows, folds, random),
        };
        let targets = numbers(data)?;
        let mut scores = Scores::default();
        for (out, kept) in folds.each() {
            let part = self.training.part_of(data, &kept)?;
            let predicted = if task.is_classification() && part.labels()?.classes().len() < 2 {
                // One class is all that there is to say.
                vec![targets[kept[0]]; out.len()]
            } else {
                let model = self.train(&part, random)?;
                let rest = data.select_rows(&out);
                let order = order_in(&part);
                predicted(&model, &rest, &order, self.plan.probabilities, self.workers)?
            };
            out.iter().zip(predicted).for_each(|(&row, found)| scores.add(targets[row], found));
        }
        Ok(scores.of_folds(task.is_regression()))
    }

    /// Probabilities by five folds, as theirs: the rows of each pair of classes shuffled anew.
    fn calibrations(&self, data: &Dataset, random: &mut Random) -> Result<Vec<Calibration>, Ending> {
        let task = self.plan.params.task;
        if task.is_regression() {
            let targets = numbers(data)?;
            let folds = folds::plain(data.rows(), FOLDS.min(data.rows()), random);
            let mut residuals = Vec::new();
            for (out, kept) in folds.each() {
                let model = self.fit(self.training, &self.training.part_of(data, &kept)?)?;
                let found = model.predict(&data.select_rows(&out), self.workers)?;
                residuals.extend(out.iter().zip(found.numbers()).map(|(&row, found)| targets[row] - found));
            }
            return Ok(vec![noise(&residuals)]);
        }
        if !task.is_classification() {
            return Ok(Vec::new());
        }
        let classes = data.labels()?.classes().len();
        let order = order_in(data);
        let of_class = rows_by_class(data.labels()?);
        // By both classes of a pair.
        let mut found: HashMap<(usize, Option<usize>), Calibration> = HashMap::new();
        for first in 0..classes {
            for second in first + 1..classes {
                let (a, b) = (order[first], order[second]);
                // The rows of the first class, then those of the second: that is the order they are shuffled in.
                let rows = [&of_class[a][..], &of_class[b]].concat();
                let pairing = Pairing { positive: a.max(b), negative: Some(a.min(b)) };
                found.insert((pairing.positive, pairing.negative), self.pair(data, &rows, pairing, random)?);
            }
        }
        // Machines come in our order.
        let machines = maxmargin::model::Multiclass::OneVsOne.pairings(classes);
        Ok(machines.iter().filter_map(|pairing| found.remove(&(pairing.positive, pairing.negative))).collect())
    }

    /// The sigmoid of one pair of classes.
    fn pair(
        &self,
        data: &Dataset,
        rows: &[usize],
        pairing: Pairing,
        random: &mut Random,
    ) -> Result<Calibration, Ending> {
        let codes = data.labels()?.codes();
        let positive: Vec<bool> = rows.iter().map(|&row| codes[row] as usize == pairing.positive).collect();
        let mut values = vec![0.0; rows.len()];
        for (out, kept) in folds::plain(rows.len(), FOLDS, random).each() {
            let of_class = |class: bool| kept.iter().filter(|&&place| positive[place] == class).count();
            let (own, other) = (of_class(true), of_class(false));
            if own == 0 || other == 0 {
                let value = f64::from(u8::from(own > 0)) - f64::from(u8::from(other > 0));
                out.iter().for_each(|&place| values[place] = value);
                continue;
            }
            let at = |places: &[usize]| places.iter().map(|&place| rows[place]).collect::<Vec<usize>>();
            let part = self.training.part_of(data, &at(&kept))?;
            let training = self.of_classes(&part)?;
            let model = self.fit(&training, &part)?;
            let points = model.align(&data.select_rows(&at(&out)))?.points;
            let found = model.decision_values(&points, self.workers);
            out.iter().zip(found).for_each(|(&place, value)| values[place] = value);
        }
        Ok(platt(&values, &positive)?)
    }

    /// The training with the weights of those classes only that the data has.
    fn of_classes(&self, data: &Dataset) -> Result<Training, Ending> {
        let mut params = self.plan.params.clone();
        if let ClassWeights::Given(given) = &mut params.class_weights {
            let known = data.labels()?.classes();
            given.retain(|(label, _)| known.contains(label));
        }
        Ok(params.check()?)
    }
}

/// The rows of each class, increasing.
fn rows_by_class(labels: &Labels) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); labels.classes().len()];
    labels.codes().iter().enumerate().for_each(|(row, &code)| rows[code as usize].push(row));
    rows
}

/// The machines as their file has them, and whether their decision value has our sign.
fn in_their_order<'m>(model: &'m Model, order: &[usize]) -> Vec<(&'m Machine, f64)> {
    if !model.task().is_classification() {
        return model.machines().iter().map(|machine| (machine, 1.0)).collect();
    }
    let mut found = Vec::new();
    for (place, &a) in order.iter().enumerate() {
        for &b in &order[place + 1..] {
            let pairing = Pairing { positive: a.max(b), negative: Some(a.min(b)) };
            let machine = model.parts().machine_of(pairing);
            found.extend(machine.map(|machine| (machine, if a > b { 1.0 } else { -1.0 })));
        }
    }
    found
}

/// What LIBSVM says of a fit.
fn phrases(model: &Model, machine: &Machine, sign: f64) -> String {
    let parts = model.parts();
    let mut text = format!("*\noptimization finished, #iter = {}\n", machine.iterations);
    let Some(certificate) = machine.evidence.certificate() else { return text };
    let total: f64 = machine.coefficients.iter().map(|coefficient| coefficient.abs()).sum();
    let rows = machine.rows as f64;
    let cost = machine.cost.unwrap_or(1.0);
    // ½‖w‖²
    let norm = 0.5 / (certificate.margin * certificate.margin);
    let (found, objective) = match (parts.recipe.task, parts.recipe.penalty) {
        (Task::Classification, Penalty::Nu(_)) => (format!("C = {cost:.6}\n"), norm),
        (Task::OneClass { .. }, _) => (String::new(), norm),
        (Task::Regression { .. }, _) if machine.epsilon.is_some() => {
            let epsilon = machine.epsilon.unwrap_or(0.0);
            (format!("epsilon = {epsilon:.6}\n"), -(certificate.dual + epsilon * total))
        }
        (Task::Classification, _) if parts.recipe.class_weights.is_some() => (String::new(), -certificate.dual),
        _ => (format!("nu = {:.6}\n", total / (cost * rows)), -certificate.dual),
    };
    text.push_str(&found);
    text.push_str(&format!("obj = {objective:.6}, rho = {:.6}\n", -sign * machine.bias));
    text.push_str(&format!("nSV = {}, nBSV = {}\n", certificate.counts.support, certificate.counts.bounded));
    text
}
