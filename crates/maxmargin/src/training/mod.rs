//! From data to a model: parameters checked once, then a loop over binary problems, or one problem of all classes.

mod beginning;
mod class_weights;
mod finish;
mod joint;
mod machines;
mod norm;
mod params;

use crate::checkpoint::{FinishedMachine, MachineState};
use crate::control::{Control, Progress};
use crate::data::{Dataset, Label, Labels, Scaling, ScalingKind};
use crate::error::Error;
use crate::geometry::check_separable;
use crate::kernel::{KernelFunction, Points};
use crate::model::{Model, ModelParts, Pairing};
use crate::problem::{Bias, Loss, MarginParts, MarginProblem, Task};
use crate::relay::MachineControl;
use crate::solver::{self, Settings, Start};
use crate::workers::Workers;
pub use beginning::Beginning;
pub use class_weights::ClassWeights;
pub(crate) use class_weights::row_weights;
use finish::finish;
pub(crate) use finish::training_errors;
pub(crate) use joint::joint_problem;
use machines::{Group, Shared, pays_side_by_side};
pub use params::{Penalty, TrainingParams};

/// Checked parameters.
#[derive(Clone, Debug)]
pub struct Training {
    params: TrainingParams,
    loss: Loss,
}

impl Training {
    /// The parameters, as they were given.
    pub fn params(&self) -> &TrainingParams {
        &self.params
    }

    /// What is minimised.
    pub(crate) fn loss(&self) -> Loss {
        self.loss
    }

    /// Trains a model: scaling, kernel, then a binary problem for each machine.
    ///
    /// A control that breaks makes the solver return what it has; the model says so in [`Model::stop`].
    ///
    /// # Errors
    /// When no problem can be made of the data, a solver cannot solve it or lacks memory, or a hard margin does not exist.
    pub fn fit(&self, data: &Dataset, workers: &Workers, control: &mut dyn Control) -> Result<Model, Error> {
        self.fit_from(data, Beginning::Scratch, workers, control)
    }

    /// Trains a model from where another training was.
    ///
    /// When the control wants a snapshot, it receives a [`Checkpoint`](crate::checkpoint::Checkpoint) of the whole training:
    /// while a solver runs that can offer one, after each machine, and when it has broken.
    ///
    /// # Errors
    /// As [`Training::fit`]; and when the beginning belongs to other data, other parameters or other classes.
    ///
    /// # Examples
    /// A training is interrupted, and goes on:
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use maxmargin::data::embedded;
    /// use maxmargin::{Beginning, Checkpoint, Control, Progress, Stop, TrainingParams, Unattended, Workers};
    ///
    /// /// Breaks at the tenth step, and keeps where that was.
    /// struct Once(Option<Checkpoint>);
    ///
    /// impl Control for Once {
    ///     fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
    ///         if progress.iteration < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    ///     }
    ///     fn wants_snapshot(&mut self, progress: &Progress) -> bool {
    ///         progress.iteration == 10
    ///     }
    ///     fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
    ///         self.0 = Some(checkpoint.clone());
    ///     }
    /// }
    ///
    /// let (data, workers) = (embedded("e2").unwrap(), Workers::none());
    /// let training = TrainingParams::default().check()?;
    /// let mut control = Once(None);
    /// let broken = training.fit(&data, &workers, &mut control)?;
    /// assert_eq!(broken.stop(), Stop::Interrupted);
    ///
    /// let beginning = Beginning::Checkpoint(control.0.unwrap());
    /// let model = training.fit_from(&data, beginning, &workers, &mut Unattended)?;
    /// let undisturbed = training.fit(&data, &workers, &mut Unattended)?;
    /// assert_eq!(model.machines()[0].iterations, undisturbed.machines()[0].iterations);
    /// assert_eq!(model.machines()[0].weights, undisturbed.machines()[0].weights);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn fit_from(
        &self,
        data: &Dataset,
        beginning: Beginning<'_>,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<Model, Error> {
        let params = &self.params;
        if data.rows() == 0 {
            return Err(no_rows());
        }
        let labels = self.labels(data)?;
        let targets = params.task.is_regression().then(|| targets(data)).transpose()?;
        let scaling = (params.scaling != ScalingKind::None).then(|| Scaling::learn(params.scaling, data.matrix()));
        let matrix = match &scaling {
            Some(scaling) => scaling.apply(data.matrix())?,
            None => data.matrix().clone(),
        };
        let kernel = params.kernel.check(&matrix)?;
        if kernel.is_precomputed() && (params.bias == Bias::Folded || scaling.is_some()) {
            return Err(Error::Combination {
                what: "a precomputed kernel has no columns to scale or to fold a bias into".into(),
                help: "choose bias explicit or none, and no scaling".into(),
            });
        }
        let class_weights = params.class_weights.of_classes(&labels, data.weights())?;
        let weights = row_weights(data.weights(), labels.codes(), class_weights.as_deref());
        let points = Points::by(workers, matrix, params.bias == Bias::Folded);
        let mut parts = ModelParts {
            task: params.task,
            kernel: kernel.clone(),
            bias: params.bias,
            loss: self.loss,
            penalty: params.penalty,
            norm: params.norm,
            solver: String::new(),
            tolerance: params.settings.tolerance,
            multiclass: params.way(),
            classes: if targets.is_some() { Vec::new() } else { labels.classes().to_vec() },
            class_weights,
            one_against_rest: params.positive.is_some() && data.labels().classes().len() > 2,
            columns: data.columns(),
            names: data.names().map(<[String]>::to_vec),
            scaling,
            training_rows: data.rows(),
            fingerprint: data.fingerprint_by(workers),
            machines: Vec::new(),
            joint: None,
            support_rows: Vec::new(),
            vectors: None,
        };
        let pairings = parts.pairings();
        let mut shared = Shared {
            data,
            labels: &labels,
            targets: targets.as_deref(),
            weights: weights.as_deref(),
            kernel: &kernel,
            points: &points,
            workers,
            pairings: &pairings,
            values: None,
        };
        if parts.multiclass.is_joint(labels.classes().len()) {
            let expansions = self.fit_together(beginning, &shared, &mut parts, control)?;
            pool_support_vectors(&mut parts, expansions, &points);
            return Model::new(parts);
        }
        let values = self.class_values(&shared);
        shared.values = values.as_ref();
        self.check_largest(&shared, &parts)?;
        let mut checkpoint = self.begin(beginning, &shared, &parts)?;
        let groups = self.groups(&shared, &parts)?;
        let side_by_side = pays_side_by_side(&shared, &groups) && self.fits_side_by_side(&shared);
        let broken = match side_by_side {
            true => self.fit_side_by_side(&groups, &shared, &parts, &mut checkpoint, control)?,
            false => self.fit_one_by_one(&groups, &shared, &parts, &mut checkpoint, control)?,
        };
        let mut expansions = Vec::new();
        for (state, broken) in checkpoint.machines.into_iter().zip(broken) {
            let finished = match (broken, state) {
                (Some(broken), _) => broken,
                (None, MachineState::Finished(finished)) => *finished,
                (None, _) => unreachable!("a machine is finished or broken"),
            };
            parts.solver = finished.solver.name().into();
            parts.machines.push(finished.machine);
            expansions.push(finished.expansion);
        }
        pool_support_vectors(&mut parts, expansions, &points);
        Model::new(parts)
    }

    /// A label for each row: its own, one against the rest, or, where there are no classes, one for all rows.
    fn labels(&self, data: &Dataset) -> Result<Labels, Error> {
        let labels = match (self.params.task, &self.params.positive) {
            (Task::Classification, None) => data.labels().clone(),
            (Task::Classification, Some(positive)) => match data.labels().one_against_rest(positive) {
                Some(labels) => labels,
                None => return Err(data.find_label(positive.text()).err().unwrap_or_else(no_rows)),
            },
            (Task::Regression { .. }, _) => {
                return Ok(Labels::from_spellings([Label::new("")], vec![0; data.rows()]));
            }
            (Task::OneClass { .. }, _) => {
                return Ok(Labels::from_spellings(["-1", "1"].map(Label::new), vec![1; data.rows()]));
            }
        };
        if labels.classes().len() < 2 {
            return Err(Error::Data {
                what: format!("all {} rows have the label {}", data.rows(), crate::error::quoted(labels.get(0).text())),
                help: "give rows of at least two classes".into(),
            });
        }
        Ok(labels)
    }

    /// Trains the machines of a group from the states they are in. Several at once have a solver that gains from it.
    fn fit_group(
        &self,
        group: &Group,
        shared: &Shared<'_>,
        parts: &ModelParts,
        states: &[MachineState],
        settings: &Settings,
        control: &mut dyn MachineControl,
    ) -> Result<Vec<FinishedMachine>, Error> {
        let (labels, Group { numbers, solver }) = (shared.labels, group);
        let (mut problems, mut costs) = (Vec::new(), Vec::new());
        for &number in numbers {
            let pairing = shared.pairings[number];
            let (problem, cost) =
                machine_problem(shared.kernel, shared.points, shared.workers, shared.answers(), pairing, parts)?;
            problems.push(problem.sharing(shared.values));
            costs.push(cost);
        }
        let (kind, reason) = match (solver.clone(), self.params.solver) {
            (Some(chosen), _) => chosen,
            (None, Some(kind)) => (kind, None),
            (None, None) => solver::choose(&problems[0], settings),
        };
        // Before the search for a separator, which is dear: what this solver cannot do it says at once.
        solver::supports(kind, &problems[0], settings)?;
        control.begin(kind);
        let starts: Vec<Start> = states.iter().zip(&problems).map(|(state, own)| state.start(kind, own)).collect();
        for ((problem, start), &number) in problems.iter().zip(&starts).zip(numbers) {
            // A snapshot is there because the search has found a separator.
            if problem.hard() && !matches!(start, Start::Snapshot(_)) {
                let name = |class: usize| labels.classes()[class].text().to_string();
                let Pairing { positive, negative } = shared.pairings[number];
                let classes = (negative.map_or_else(|| "rest".to_string(), name), name(positive));
                // Where the search is, is not where the machine is: a closure keeps no snapshots.
                check_separable(problem, classes, settings, &mut |progress: Progress| control.poll(progress))?;
            }
        }
        let solutions = solver::solve_together(kind, &problems, settings, starts, control)?;
        // Before the certificate, which may take long.
        control.end();
        let mut finished = Vec::new();
        for (k, mut solution) in solutions.into_iter().enumerate() {
            if numbers[k] == 0 {
                solution.notes.extend(reason.iter().map(|reason| format!("solver {}: {reason}", kind.name())));
            }
            let tolerance = self.params.settings.tolerance;
            let (machine, expansion) = finish(&problems[k], solution, shared.pairings[numbers[k]], costs[k], tolerance);
            finished.push(FinishedMachine { solver: kind, machine, expansion });
        }
        Ok(finished)
    }
}

/// What the decision functions should say of each row, and what the row counts.
#[derive(Clone, Copy)]
pub(crate) struct Answers<'a> {
    /// The place of its class; one for all rows where there are no classes.
    pub(crate) codes: &'a [u32],
    /// Its number, for a regression.
    pub(crate) targets: Option<&'a [f64]>,
    /// 1 for all rows where there are none.
    pub(crate) weights: Option<&'a [f64]>,
}

/// The problem of one machine: the rows of its classes, those of weight 0 left out. And its C.
///
/// # Errors
/// When no problem can be made of them.
pub(crate) fn machine_problem<'a>(
    kernel: &'a KernelFunction,
    points: &'a Points,
    workers: &'a Workers,
    answers: Answers<'_>,
    pairing: Pairing,
    parts: &ModelParts,
) -> Result<(MarginProblem<'a>, f64), Error> {
    let Answers { codes, targets, weights } = answers;
    let count = rows_of(codes, weights, pairing, parts).count();
    let (mut rows, mut signs, mut costs) =
        (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
    let mut total = 0.0;
    for (row, sign) in rows_of(codes, weights, pairing, parts) {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        rows.push(row);
        signs.push(sign);
        costs.push(weight);
        total += weight;
    }
    let cost = parts.penalty.cost_with(parts.norm, total);
    costs.iter_mut().for_each(|weight| *weight *= cost);
    let targets = targets.map_or_else(Vec::new, |targets| rows.iter().map(|&row| targets[row]).collect());
    let parts = MarginParts {
        kernel,
        points,
        workers,
        rows,
        task: parts.task,
        signs,
        targets,
        costs,
        loss: parts.loss,
        bias: parts.bias,
        penalised: parts.penalty != Penalty::None,
        norm: parts.norm,
        shared: None,
    };
    Ok((MarginProblem::new(parts)?, cost))
}

/// The labels of a regression's data as numbers.
///
/// # Errors
/// When one is none.
pub(crate) fn targets(data: &Dataset) -> Result<Vec<f64>, Error> {
    data.labels().numbers().map_err(|row| Error::Data {
        what: format!(
            "the label {} of row {} is not a number",
            crate::error::quoted(data.labels().get(row).text()),
            row + 1
        ),
        help: "regression needs a number for each row: name another label column, or choose task classification".into(),
    })
}

/// The rows of a machine's classes, those of weight 0 left out, with their signs.
fn rows_of(
    codes: &[u32],
    weights: Option<&[f64]>,
    pairing: Pairing,
    parts: &ModelParts,
) -> impl Iterator<Item = (usize, f64)> {
    // Looked up and not asked for, because classes come in no order that a processor could foresee.
    let signs: Vec<f64> = (0..parts.classes.len().max(1)).map(|class| pairing.sign(class).unwrap_or(0.0)).collect();
    (0..codes.len())
        .filter(move |&row| weights.is_none_or(|weights| weights[row] > 0.0))
        .map(move |row| (row, signs[codes[row] as usize]))
        .filter(|&(_, sign)| sign != 0.0)
}

/// The C of a machine.
fn machine_cost(codes: &[u32], weights: Option<&[f64]>, pairing: Pairing, parts: &ModelParts) -> f64 {
    let weight = |(row, _)| weights.map_or(1.0, |weights| weights[row]);
    parts.penalty.cost_with(parts.norm, rows_of(codes, weights, pairing, parts).map(weight).sum())
}

/// Joins the machines' support vectors into one pool, each training row once.
fn pool_support_vectors(parts: &mut ModelParts, expansions: Vec<Vec<(u64, f64)>>, points: &Points) {
    let mut used = vec![false; parts.training_rows];
    expansions.iter().flatten().for_each(|&(row, _)| used[row as usize] = true);
    let pool: Vec<u64> = (0..parts.training_rows as u64).filter(|&row| used[row as usize]).collect();
    let mut places = vec![0u32; parts.training_rows];
    pool.iter().enumerate().for_each(|(place, &row)| places[row as usize] = place as u32);
    for (machine, expansion) in parts.machines.iter_mut().zip(expansions) {
        machine.support = expansion.iter().map(|&(row, _)| places[row as usize]).collect();
        machine.coefficients = expansion.into_iter().map(|(_, coefficient)| coefficient).collect();
    }
    if !(parts.kernel.is_linear() || parts.kernel.is_precomputed()) {
        let rows: Vec<usize> = pool.iter().map(|&row| row as usize).collect();
        parts.vectors = Some(points.matrix().select_rows(&rows));
    }
    parts.support_rows = pool;
}

fn no_rows() -> Error {
    Error::Data { what: "the data has no rows".into(), help: "give at least one row of each of two classes".into() }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::control::{Stop, Unattended};
    use crate::data::{Label, Labels, Matrix, embedded, generate};
    use crate::kernel::{Gamma, KernelParams};
    use crate::model::Multiclass;
    use crate::solver::{Snapshot, SolverKind};

    fn fit(data: &Dataset, params: TrainingParams) -> Result<Model, Error> {
        params.check()?.fit(data, &Workers::none(), &mut Unattended)
    }

    #[test]
    fn parameters_out_of_range_are_refused_nan_among_them() {
        let settings = |edit: fn(&mut Settings)| {
            let mut params = TrainingParams::default();
            edit(&mut params.settings);
            params
        };
        let penalty = |penalty: Penalty| TrainingParams { penalty, ..TrainingParams::default() };
        for (params, message) in [
            (penalty(Penalty::C(0.0)), "C is 0, but it must be a finite number above 0"),
            (penalty(Penalty::C(f64::NAN)), "C is NaN, but it must be a finite number above 0"),
            (penalty(Penalty::COverN(-1.0)), "c-over-n is -1, but it must be a finite number above 0"),
            (penalty(Penalty::Lambda(f64::INFINITY)), "lambda is inf, but it must be a finite number above 0"),
            (settings(|s| s.tolerance = f64::NAN), "tolerance is NaN, but it must be a finite number above 0"),
            (settings(|s| s.max_iterations = Some(0)), "max-iterations is 0, but it must be 1 or more"),
            (settings(|s| s.batch = 0), "batch is 0, but it must be 1 or more"),
            (settings(|s| s.shrinkage = f64::NAN.into()), "shrinkage is NaN, but it must be from 0 to 1, or auto"),
            (penalty(Penalty::None), "hinge loss without a penalty has no single best model"),
            (
                TrainingParams { loss: Some(Loss::Squared), ..penalty(Penalty::Hard) },
                "a hard margin allows no slack, so squared loss has nothing to do",
            ),
        ] {
            assert_eq!(params.check().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn data_that_make_no_problem_are_refused_with_the_reason() {
        let e1 = embedded("e1").unwrap();
        let one_class = e1.select_rows(&[0, 1]);
        let error = fit(&one_class, TrainingParams::default()).unwrap_err();
        assert_eq!(error.to_string(), "all 2 rows have the label \"+1\"");
        let none = Dataset::new(Matrix::without_columns(0), Labels::new([])).unwrap();
        assert_eq!(fit(&none, TrainingParams::default()).unwrap_err().to_string(), "the data has no rows");
        let positive = TrainingParams { positive: Some(Label::new("7")), ..TrainingParams::default() };
        let error = fit(&e1, positive).unwrap_err();
        assert_eq!(error.to_string(), "no row has the label \"7\"");
        assert_eq!(error.help(), "the labels are \"-1\", \"+1\"");
        let weightless = e1.clone().with_weights(vec![0.0; 14]).unwrap();
        assert!(fit(&weightless, TrainingParams::default()).is_err());
    }

    #[test]
    fn a_hard_margin_that_does_not_exist_names_the_classes_and_the_rows() {
        let hard = TrainingParams { penalty: Penalty::Hard, ..TrainingParams::default() };
        let error = fit(&embedded("e2").unwrap(), hard).unwrap_err();
        let Error::NotSeparable { classes, rows, .. } = &error else { panic!("{error}") };
        assert_eq!((classes.0.as_str(), classes.1.as_str()), ("-1", "+1"));
        assert!(rows.iter().all(|row| (1..=18).contains(row)) && !rows.is_empty());
    }

    #[test]
    fn three_classes_are_three_machines_over_one_pool() {
        let iris = embedded("iris").unwrap();
        for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
            let model =
                fit(&iris, TrainingParams { multiclass: Some(multiclass), ..TrainingParams::default() }).unwrap();
            assert_eq!(model.machines().len(), 3);
            assert!(model.parts().support_rows.is_sorted_by(|a, b| a < b));
            let predictions = model.predict(&iris, &Workers::none()).unwrap();
            let errors = predictions.codes().iter().zip(iris.labels().codes()).filter(|(a, b)| a != b).count();
            assert!(errors <= 10, "{multiclass:?}: {errors} errors");
        }
    }

    #[test]
    fn memory_that_the_largest_machine_lacks_is_missed_before_the_first_is_trained() {
        let rows = generate("blobs", 1300, 1).unwrap();
        let class = |row: usize| {
            if row < 20 {
                "a"
            } else if row < 40 {
                "b"
            } else {
                "c"
            }
        };
        let labels = Labels::new((0..1300).map(|row| Label::new(class(row))));
        let data = Dataset::new(rows.matrix().clone(), labels).unwrap();
        let mut polls = 0;
        let mut control = |_: Progress| {
            polls += 1;
            ControlFlow::Continue(())
        };
        let params = TrainingParams {
            kernel: KernelParams::Rbf { gamma: Gamma::Value(1.0) },
            settings: Settings { memory: 5 << 20, ..Settings::default() },
            ..TrainingParams::default()
        };
        let error = params.check().unwrap().fit(&data, &Workers::none(), &mut control).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        assert_eq!(polls, 0);
    }

    #[test]
    fn the_three_ways_to_say_the_penalty_are_one() {
        assert_eq!(Penalty::C(3.0).cost(10.0), 3.0);
        assert_eq!(Penalty::COverN(30.0).cost(10.0), 3.0);
        assert_eq!(Penalty::Lambda(1.0 / 60.0).cost(10.0), 3.0);
    }

    #[test]
    fn a_solver_says_what_it_cannot_do_before_a_separator_is_searched_for() {
        let data = generate("xor", 40, 1).unwrap();
        let fit = |solver| {
            let params = TrainingParams {
                penalty: Penalty::Hard,
                solver: Some(solver),
                loss: Some(Loss::Hinge),
                ..TrainingParams::default()
            };
            params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap_err()
        };
        assert!(matches!(fit(SolverKind::Smo), Error::NotSeparable { .. }));
        assert!(matches!(fit(SolverKind::Sgd), Error::Combination { .. }));
    }

    /// Breaks at the n-th poll and at all that follow, and keeps the last checkpoint.
    struct BreakAt {
        polls: u64,
        left: u64,
        broke: bool,
        kept: Option<Checkpoint>,
    }

    impl BreakAt {
        fn new(left: u64) -> Self {
            BreakAt { polls: 0, left, broke: false, kept: None }
        }
    }

    impl Control for BreakAt {
        fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
            self.polls += 1;
            self.broke = self.polls > self.left;
            if self.broke { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
        }

        fn wants_snapshot(&mut self, _: &Progress) -> bool {
            self.broke
        }

        fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
            self.kept = Some(checkpoint.clone());
        }
    }

    /// All numbers of a model, and the words beside them.
    fn content(model: &Model) -> String {
        format!("{:?}", model.parts())
    }

    fn rbf(gamma: f64) -> TrainingParams {
        TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Value(gamma) }, ..TrainingParams::default() }
    }

    #[test]
    fn a_training_that_was_broken_anywhere_goes_on_as_if_nothing_had_happened() {
        let iris = embedded("iris").unwrap();
        let hard = TrainingParams {
            penalty: Penalty::Hard,
            positive: Some(Label::new("setosa")),
            ..TrainingParams::default()
        };
        let folded = TrainingParams { loss: Some(Loss::Squared), bias: Bias::Folded, ..rbf(0.5) };
        let by_ascent = TrainingParams { solver: Some(SolverKind::DualAscent), ..folded.clone() };
        let by_newton = TrainingParams { solver: Some(SolverKind::Newton), ..TrainingParams::default() };
        for params in [TrainingParams::default(), rbf(0.5), hard, folded, by_ascent, by_newton] {
            let training = params.check().unwrap();
            let mut polls = BreakAt::new(u64::MAX);
            let undisturbed = training.fit(&iris, &Workers::none(), &mut polls).unwrap();
            for share in [0.0, 0.03, 0.3, 0.5, 0.77, 0.95] {
                let mut beginning = Beginning::Scratch;
                // Three interrupts at this place of what is left, then to the end.
                for _ in 0..3 {
                    let mut control = BreakAt::new((share * polls.polls as f64) as u64);
                    training.fit_from(&iris, beginning, &Workers::none(), &mut control).unwrap();
                    match control.kept {
                        Some(kept) => beginning = Beginning::Checkpoint(kept),
                        None => {
                            beginning = Beginning::Scratch;
                            break;
                        }
                    }
                }
                let model = training.fit_from(&iris, beginning, &Workers::none(), &mut Unattended).unwrap();
                assert_eq!(content(&model), content(&undisturbed), "{:?} {share}", training.params());
            }
        }
    }

    fn kept(data: &Dataset, params: TrainingParams) -> Checkpoint {
        let mut control = BreakAt::new(5);
        params.check().unwrap().fit(data, &Workers::none(), &mut control).unwrap();
        control.kept.unwrap()
    }

    fn resume(data: &Dataset, params: TrainingParams, checkpoint: Checkpoint) -> Result<Model, Error> {
        params.check()?.fit_from(data, Beginning::Checkpoint(checkpoint), &Workers::none(), &mut Unattended)
    }

    #[test]
    fn a_checkpoint_of_other_data_or_parameters_is_refused_by_name() {
        let iris = embedded("iris").unwrap();
        let checkpoint = kept(&iris, rbf(0.5));
        let fewer = iris.select_rows(&(1..150).collect::<Vec<_>>());
        let error = resume(&fewer, rbf(0.5), checkpoint.clone()).unwrap_err();
        assert_eq!(error.to_string(), "the checkpoint was made from other data");
        let penalty = TrainingParams { penalty: Penalty::Lambda(2.0), ..rbf(0.5) };
        let error = resume(&iris, penalty, checkpoint.clone()).unwrap_err();
        assert_eq!(error.to_string(), "the checkpoint was made with the penalty C 1.0, but now it is lambda 2.0");
        assert!(error.help().ends_with("or begin from scratch"));
        assert!(resume(&iris, rbf(0.25), checkpoint.clone()).unwrap_err().to_string().contains("the kernel Rbf"));
        let mut threads = rbf(0.5);
        threads.settings.memory /= 2;
        assert!(resume(&iris, threads, checkpoint).is_ok());
    }

    #[test]
    fn a_checkpoint_that_lies_is_refused_and_a_snapshot_that_lies_is_not_used() {
        let iris = embedded("iris").unwrap();
        let whole = kept(&iris, rbf(0.5));
        let undisturbed = content(&fit(&iris, rbf(0.5)).unwrap());
        let refused = |edit: &dyn Fn(&mut Checkpoint)| {
            let mut checkpoint = whole.clone();
            edit(&mut checkpoint);
            resume(&iris, rbf(0.5), checkpoint).unwrap_err().to_string()
        };
        assert!(refused(&|checkpoint| drop(checkpoint.machines.pop())).contains("2 machines, not 3"));
        for alpha in [vec![(7, 0.5), (7, 0.5)], vec![(150, 0.5)]] {
            let said = refused(&|c| c.machines[1] = MachineState::Untouched { alpha: alpha.clone(), point: None });
            assert!(said.contains("do not increase below 150"), "{said}");
        }
        let edits: [fn(&mut Snapshot); 6] = [
            |snapshot| snapshot.alpha.truncate(3),
            |snapshot| snapshot.alpha[3] = f64::NAN,
            |snapshot| snapshot.alpha[3] = 7.0,
            |snapshot| snapshot.gradient[3] = f64::INFINITY,
            |snapshot| snapshot.lists.clear(),
            |snapshot| snapshot.numbers.push(1.0),
        ];
        for edit in edits {
            let mut checkpoint = whole.clone();
            let MachineState::Running { snapshot, .. } = &mut checkpoint.machines[0] else { panic!("it is running") };
            edit(snapshot);
            assert_eq!(content(&resume(&iris, rbf(0.5), checkpoint).unwrap()), undisturbed);
        }
        // The negative control: a snapshot that can be used is used.
        let mut checkpoint = whole.clone();
        let MachineState::Running { snapshot, .. } = &mut checkpoint.machines[0] else { panic!("it is running") };
        snapshot.iterations += 1;
        assert_ne!(content(&resume(&iris, rbf(0.5), checkpoint).unwrap()), undisturbed);
    }

    fn warm(data: &Dataset, params: TrainingParams, model: &Model) -> Result<Model, Error> {
        params.check()?.fit_from(data, Beginning::Model(model), &Workers::none(), &mut Unattended)
    }

    #[test]
    fn a_warm_start_reaches_the_same_optimum_in_fewer_steps() {
        let data = generate("moons", 400, 1).unwrap();
        let iterations = |model: &Model| model.machines().iter().map(|machine| machine.iterations).sum::<u64>();
        let dual = |model: &Model| model.machines()[0].evidence.certificate().unwrap().dual;
        let with = |c: f64, gamma: f64, bias: Bias| {
            let mut params = TrainingParams { penalty: Penalty::C(c), bias, ..rbf(gamma) };
            params.settings.tolerance = 1e-6;
            params
        };
        let ascent = |params: TrainingParams| TrainingParams { solver: Some(SolverKind::DualAscent), ..params };
        let (explicit, none) = (|c, gamma| with(c, gamma, Bias::Explicit), |c, gamma| with(c, gamma, Bias::None));
        for (old, new) in [
            (explicit(10.0, 1.0), explicit(10.0, 1.0)),
            (explicit(10.0, 1.0), explicit(12.0, 1.0)),
            (explicit(10.0, 1.0), explicit(9.0, 1.0)),
            (explicit(10.0, 1.0), explicit(10.0, 1.05)),
            (none(10.0, 1.0), none(9.0, 1.0)),
            (ascent(none(10.0, 1.0)), ascent(none(9.0, 1.0))),
        ] {
            let old = fit(&data, old).unwrap();
            let (cold, warm) = (fit(&data, new.clone()).unwrap(), warm(&data, new, &old).unwrap());
            assert!((dual(&warm) - dual(&cold)).abs() <= 1e-6 * dual(&cold), "{} {}", dual(&warm), dual(&cold));
            assert!(iterations(&warm) < iterations(&cold), "{} {}", iterations(&warm), iterations(&cold));
        }
    }

    #[test]
    fn a_warm_start_of_several_machines_can_be_broken_too() {
        let iris = embedded("iris").unwrap();
        let old = fit(&iris, rbf(0.5)).unwrap();
        let training = TrainingParams { penalty: Penalty::C(3.0), ..rbf(0.5) }.check().unwrap();
        let beginning = || Beginning::Model(&old);
        let undisturbed = training.fit_from(&iris, beginning(), &Workers::none(), &mut Unattended).unwrap();
        let mut most = BreakAt::new(u64::MAX);
        training.fit_from(&iris, beginning(), &Workers::none(), &mut most).unwrap();
        for left in (0..most.polls).step_by(17) {
            let mut control = BreakAt::new(left);
            let broken = training.fit_from(&iris, beginning(), &Workers::none(), &mut control).unwrap();
            assert_eq!(broken.stop(), Stop::Interrupted);
            let beginning = Beginning::Checkpoint(control.kept.unwrap());
            let model = training.fit_from(&iris, beginning, &Workers::none(), &mut Unattended).unwrap();
            assert_eq!(content(&model), content(&undisturbed), "broken at poll {left}");
        }
    }

    #[test]
    fn a_model_that_is_no_start_is_refused_and_a_solver_without_use_for_it_says_so() {
        let iris = embedded("iris").unwrap();
        let model = fit(&iris, TrainingParams::default()).unwrap();
        let fewer = iris.select_rows(&(1..150).collect::<Vec<_>>());
        let error = warm(&fewer, TrainingParams::default(), &model).unwrap_err();
        assert_eq!(error.to_string(), "the model to start from was trained on other data");
        let rest = TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..TrainingParams::default() };
        let error = warm(&iris, rest, &model).unwrap_err();
        assert_eq!(error.to_string(), "no machine of the model to start from tells the same classes apart");
        let newton = TrainingParams { solver: Some(SolverKind::Newton), ..TrainingParams::default() };
        let found = warm(&iris, newton, &model).unwrap();
        assert_eq!(found.machines()[0].notes, ["newton has no use for a warm start, and began from scratch"]);
    }
}
