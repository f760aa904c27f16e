//! From data to a model: parameters checked once, then a loop over binary problems, or one problem of all classes.

mod assembly;
mod automatic;
mod beginning;
mod class_rows;
mod class_weights;
mod empty_columns;
mod few;
mod finish;
mod joint;
mod kept;
mod last_digits;
mod ledger;
mod machines;
mod network;
mod norm;
mod params;
mod path;
mod verdict;

use std::borrow::Cow;

use crate::certificate::Evidence;
use crate::checkpoint::{CheckpointControl, FinishedMachine, MachineState};
use crate::control::{Control, Progress, Stop, Unkept};
use crate::data::{Dataset, Label, Labels, Scaling, ScalingKind};
use crate::error::Error;
use crate::geometry::check_separable;
use crate::kernel::{Centre, Gram, Kernel, KernelFunction, KernelParams, Points};
use crate::model::{Model, ModelParts, Multiclass, Pairing};
pub use crate::problem::Penalty;
use crate::problem::{Bias, FromNu, Loss, MarginParts, MarginProblem, Task};
use crate::relay::MachineControl;
use crate::solver::{self, Settings, SolverKind, Start};
use crate::workers::Workers;
use assembly::{assemble, assemble_kept, pool_support_vectors};
pub use automatic::{AutomaticChoice, FEWEST_GAUSSIAN_ROWS, MOST_GAUSSIAN_ROWS, choose_kernel};
pub use beginning::Beginning;
pub(crate) use class_rows::ClassRows;
pub use class_weights::ClassWeights;
pub(crate) use class_weights::row_weights;
use finish::finish;
pub(crate) use finish::training_errors;
pub(crate) use joint::joint_problem;
use kept::Kept;
use ledger::{Booked, Ledger};
use machines::{Broken, Group, Shared, pays_side_by_side};
pub(crate) use network::network_errors;
pub use params::TrainingParams;
use verdict::{in_units, settle};

/// How often machines are trained at most: those that had too little time go on with what others have left to them.
const MOST_ROUNDS: usize = 4;

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
    /// A control that breaks makes the solver return what it has; the model says so in [`Model::stop`]. To keep checkpoints, see
    /// [`Training::fit_from`].
    ///
    /// # Errors
    /// When no problem can be made of the data, a solver cannot solve it or lacks memory, or a hard margin does not exist.
    pub fn fit(&self, data: &Dataset, workers: &Workers, control: &mut dyn Control) -> Result<Model, Error> {
        self.fit_from(data, Beginning::Scratch, workers, &mut Unkept(control))
    }

    /// Trains a model from where another training was.
    ///
    /// When the control wants one, it receives a [`Checkpoint`](crate::checkpoint::Checkpoint) of the whole training:
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
    /// use maxmargin::solver::SolverKind;
    /// use maxmargin::{Beginning, Checkpoint, CheckpointControl, Control, Progress, Stop, TrainingParams, Unattended, Workers};
    ///
    /// /// Breaks at the tenth step, and keeps where that was.
    /// struct Once(Option<Checkpoint>);
    ///
    /// impl Control for Once {
    ///     fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
    ///         if progress.iteration < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    ///     }
    /// }
    ///
    /// impl CheckpointControl for Once {
    ///     fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
    ///         progress.iteration == 10
    ///     }
    ///     fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
    ///         self.0 = Some(checkpoint.clone());
    ///     }
    /// }
    ///
    /// let (data, workers) = (embedded("e2").unwrap(), Workers::none());
    /// let training = TrainingParams { solver: Some(SolverKind::Smo), ..TrainingParams::default() }.check()?;
    /// let mut control = Once(None);
    /// let broken = training.fit_from(&data, Beginning::Scratch, &workers, &mut control)?;
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
        control: &mut dyn CheckpointControl,
    ) -> Result<Model, Error> {
        match self.occupied_columns(data) {
            Some(columns) => self.fit_occupied(data, &columns, beginning, workers, control),
            None => self.fit_columns(data, beginning, workers, control),
        }
    }

    /// Trains on all columns that the data has.
    fn fit_columns(
        &self,
        data: &Dataset,
        beginning: Beginning<'_>,
        workers: &Workers,
        control: &mut dyn CheckpointControl,
    ) -> Result<Model, Error> {
        let params = &self.params;
        if data.rows() == 0 {
            return Err(no_rows());
        }
        let labels = self.labels(data)?;
        let network = params.solver == Some(SolverKind::Mlp);
        if network {
            self.check_network(&beginning, labels.classes().len())?;
        }
        let targets = params.task.is_regression().then(|| targets(data)).transpose()?;
        if params.scaling != ScalingKind::None {
            let (need, budget) = (Scaling::bytes_to_learn(data.columns()), params.settings.memory);
            if need > budget {
                return Err(Error::Memory { what: format!("to scale {} columns", data.columns()), need, budget });
            }
        }
        let scaling = (params.scaling != ScalingKind::None).then(|| Scaling::learn(params.scaling, data.matrix()));
        let matrix = match &scaling {
            Some(scaling) => scaling.apply(data.matrix())?,
            None => data.matrix().clone(),
        };
        if let (Task::Svdd { .. }, KernelParams::Linear) = (params.task, &params.kernel)
            && 8 * data.columns() as u64 > params.settings.memory
        {
            return Err(Error::Memory {
                what: format!("a centre with {} columns", data.columns()),
                need: 8 * data.columns() as u64,
                budget: params.settings.memory,
            });
        }
        let kernel = params.kernel.check_weighted(&matrix, data.weights())?;
        if kernel.is_precomputed() && (params.bias == Bias::Folded || scaling.is_some()) {
            return Err(Error::Combination {
                what: "a precomputed kernel has no columns to scale or to fold a bias into".into(),
                help: "choose bias explicit or none, and no scaling".into(),
            });
        }
        let class_weights = params.class_weights.of_classes(&labels, data.weights())?;
        let weights = row_weights(data.weights(), labels.codes(), class_weights.as_deref());
        let centre = Centre::of(&kernel, &matrix);
        let points = Points::around(workers, matrix, params.bias == Bias::Folded, centre);
        let mut parts = ModelParts {
            task: params.task,
            kernel: kernel.clone(),
            bias: params.bias,
            loss: self.loss,
            penalty: params.penalty,
            norm: params.norm,
            solver: String::new(),
            tolerance: params.settings.tolerance(),
            multiclass: params.way_for(labels.classes().len(), data.columns()),
            classes: if targets.is_some() { Vec::new() } else { labels.classes().to_vec() },
            class_weights,
            one_against_rest: params.positive.is_some() && data.labels().classes().len() > 2,
            columns: data.columns(),
            names: data.names().map(<[String]>::to_vec),
            scaling,
            network: None,
            training_rows: data.rows(),
            fingerprint: data.fingerprint_by(workers),
            machines: Vec::new(),
            joint: None,
            support_rows: Vec::new(),
            vectors: None,
        };
        if let (Penalty::Nu(_), Some(_)) = (params.penalty, &parts.class_weights) {
            let by_nu = self.without_class_weights().fit_from(data, Beginning::Scratch, workers, control)?;
            if by_nu.stop() != Stop::Converged {
                return Ok(by_nu);
            }
            parts.machines = by_nu.machines().to_vec();
        }
        let pairings = parts.pairings();
        let of_class = rows_of_classes(&parts, labels.codes(), weights.as_deref());
        let mut ledger = Ledger::new(matches!(beginning, Beginning::Checkpoint(_)), !control.keeps_checkpoints());
        let unmeasured = Ledger::new(false, true);
        let mut shared = Shared {
            data,
            of_class: of_class.as_ref(),
            labels: &labels,
            targets: targets.as_deref(),
            weights: weights.as_deref(),
            kernel: &kernel,
            points: &points,
            workers,
            pairings: &pairings,
            values: None,
            ledger: &unmeasured,
        };
        if network {
            self.fit_network(&shared, &mut parts, control)?;
            return Model::new(parts);
        }
        if parts.multiclass.is_joint(labels.classes().len()) {
            let expansions = self.fit_together(beginning, &shared, &mut parts, control)?;
            pool_support_vectors(&mut parts, expansions, &points, workers);
            return Model::new(parts);
        }
        let values = self.class_values(&shared);
        shared.values = values.as_ref();
        self.check_largest(&shared, &parts)?;
        let mut checkpoint = self.begin(beginning, &shared, &parts)?;
        let groups = self.groups(&shared, &parts)?;
        let side_by_side = pays_side_by_side(&shared, &groups) && self.fits_side_by_side(&shared);
        // Side by side, each machine has one thread.
        let alone = Workers::none();
        let team = if side_by_side { &alone } else { workers };
        if !kernel.is_linear() {
            ledger.measure(Gram::new(&kernel, &points, team), data.rows(), control);
        }
        let shared = Shared { ledger: &ledger, ..shared };
        let (mut broken, mut before) = (Broken::new(), Broken::new());
        let mut kept = Kept::new(pairings.len(), data.rows());
        for _ in 0..MOST_ROUNDS {
            broken = if side_by_side {
                self.fit_side_by_side(&groups, &shared, &parts, &mut checkpoint, &mut kept, control)?
            } else {
                self.fit_one_by_one(&groups, &shared, &parts, &mut checkpoint, control)?
            };
            keep_better(&mut broken, std::mem::take(&mut before));
            let is_late = broken.values().all(|finished| finished.machine.stop == Stop::TimeLimit);
            let late = || broken.values().map(|finished| finished.as_ref());
            let has_time = control.spent().is_some_and(|spent| ledger.has_time_for(spent, late()));
            if broken.is_empty() || !is_late || !has_time || !ledger.is_free() {
                break;
            }
            // Machines that needed less than their part of the time leave it to those that needed more.
            kept.hand_over(&mut checkpoint);
            for (&number, finished) in &broken {
                let state = &mut checkpoint.machines[number];
                if !matches!(state, MachineState::Running { .. }) {
                    *state = finished.to_go_on(params.task);
                }
            }
            before = std::mem::take(&mut broken);
        }
        if let Some((machines, solver)) = kept.take_all(pairings.len()) {
            drop(checkpoint);
            assemble_kept(&mut parts, machines, solver, &points, workers);
            return Model::new(parts);
        }
        kept.hand_over(&mut checkpoint);
        let mut states = checkpoint.machines;
        broken.into_iter().for_each(|(number, finished)| states[number] = MachineState::Finished(finished));
        assemble(&mut parts, states, &points, workers);
        Model::new(parts)
    }

    /// The same for classes that count alike. It finds the C of a ν: that is a share of the rows, whatever their classes count.
    fn without_class_weights(&self) -> Self {
        let params = TrainingParams { class_weights: ClassWeights::Equal, ..self.params.clone() };
        Training { params, loss: self.loss }
    }

    /// Some rows of data to train on by themselves, as for a fold: of a table of kernel values their columns only.
    ///
    /// # Errors
    /// When a row of a table has no column.
    pub fn part_of(&self, data: &Dataset, rows: &[usize]) -> Result<Dataset, Error> {
        let part = data.select_rows(rows);
        if !matches!(self.params.kernel, KernelParams::Precomputed) {
            return Ok(part);
        }
        if data.columns() != data.rows() {
            return Err(Error::Shape {
                operation: "part of a table",
                left: format!("{} columns", data.columns()),
                right: format!("{} rows: the table must be square", data.rows()),
            });
        }
        part.select_columns(&rows.iter().map(|&row| data.name(row)).collect::<Vec<_>>())
    }

    /// A label for each row: its own, one against the rest, or, where there are no classes, one for all rows.
    fn labels<'d>(&self, data: &'d Dataset) -> Result<Cow<'d, Labels>, Error> {
        let labels = match (self.params.task, &self.params.positive) {
            (Task::Classification, None) => Cow::Borrowed(data.labels()),
            (Task::Classification, Some(positive)) => match data.labels().one_against_rest(positive) {
                Some(labels) => Cow::Owned(labels),
                None => return Err(data.find_label(positive.text()).err().unwrap_or_else(no_rows)),
            },
            (Task::Regression { .. } | Task::NuRegression { .. }, _) => {
                return Ok(Cow::Owned(Labels::from_spellings([Label::new("")], vec![0; data.rows()])));
            }
            (Task::OneClass { .. } | Task::Svdd { .. }, _) => {
                let classes = ["-1", "1"].map(Label::new);
                return Ok(Cow::Owned(Labels::from_spellings(classes, vec![1; data.rows()])));
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
    #[expect(clippy::vec_box, reason = "a machine is large, and is handed on in its box")]
    fn fit_group(
        &self,
        group: &Group,
        shared: &Shared<'_>,
        parts: &ModelParts,
        states: &[MachineState],
        settings: &Settings,
        control: &mut dyn MachineControl,
    ) -> Result<Vec<Box<FinishedMachine>>, Error> {
        let (labels, Group { numbers, solver, reserved }) = (shared.labels, group);
        let control = &mut Booked::new(control, shared.ledger, *reserved);
        let (mut problems, mut costs) = (Vec::with_capacity(numbers.len()), Vec::with_capacity(numbers.len()));
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
            // Only the first machine says why.
            (None, None) if numbers[0] == 0 => solver::choose(&problems[0]),
            (None, None) => (solver::choose_silently(&problems[0]), None),
        };
        let asked = kind;
        let finer = if self.wants_last_digits(shared.data) {
            last_digits::of_machine(kind, &problems[0], settings)
        } else {
            None
        };
        let (kind, goal) = finer.as_ref().map_or((kind, settings), |(kind, goal)| (*kind, goal));
        // Before the search for a separator, which is dear: what this solver cannot do it says at once.
        solver::supports(kind, &problems[0], goal)?;
        control.begin(kind);
        let mut starts: Vec<Start> = states.iter().zip(&problems).map(|(state, own)| state.start(kind, own)).collect();
        if control.spent().is_some() && shared.ledger.is_free() {
            for (problem, start) in problems.iter().zip(&mut starts).filter(|(_, start)| **start == Start::Scratch) {
                *start = few::begin(kind, problem, settings, control);
            }
        }
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
        let solutions = solver::solve_together(kind, &problems, &in_units(goal, &problems[0]), starts, control)?;
        // Before the certificate, which may take long.
        control.end();
        let mut finished = Vec::with_capacity(numbers.len());
        for (k, (mut solution, problem)) in solutions.into_iter().zip(problems).enumerate() {
            if numbers[k] == 0 {
                solution.notes.extend(reason.iter().map(|reason| format!("solver {}: {reason}", kind.name())));
            }
            let solution = few::stand_in(kind, &problem, solution, settings, control);
            let is_named = self.params.solver.is_some();
            let again = finer.is_some().then(|| problem.clone());
            let mut settled = settle(kind, is_named, problem, solution, settings, control)?;
            let gave_up = matches!(settled.solution.stop, Stop::IterationLimit | Stop::Stalled);
            if let Some(problem) = again.filter(|_| gave_up && settings.max_iterations.is_none()) {
                // A closure keeps no snapshots: an interrupted search goes on from the first goal, to the same bits.
                let mut ask = |progress: Progress| control.poll(progress);
                let solution = solver::solve(asked, &problem, &in_units(settings, &problem), &mut ask)?;
                settled = settle(asked, is_named, problem, solution, settings, control)?;
            }
            let kind = settled.kind;
            let cost = if let FromNu::Cost(found) = settled.solution.from_nu { found * costs[k] } else { costs[k] };
            let (mut machine, expansion) = finish(settled, shared.pairings[numbers[k]], cost);
            if let Some(reason) = kind.why_uncertified() {
                machine.evidence = Evidence::None(reason.into());
            }
            finished.push(Box::new(FinishedMachine { solver: kind, machine, expansion }));
        }
        control.close();
        Ok(finished)
    }
}

/// Puts machines of an earlier round in the place of those that were broken off again at a higher objective.
fn keep_better(broken: &mut Broken, mut before: Broken) {
    let primal =
        |machine: &FinishedMachine| machine.machine.evidence.certificate().map_or(f64::INFINITY, |found| found.primal);
    for (number, machine) in broken {
        if let Some(earlier) = before.remove(number).filter(|earlier| primal(earlier) < primal(machine)) {
            *machine = earlier;
        }
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
    /// The rows of each class by these weights; `None` where each machine looks at all rows anyway.
    pub(crate) of_class: Option<&'a ClassRows>,
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
    let Answers { targets, weights, .. } = answers;
    let (rows, signs) = rows_of_machine(answers, pairing, parts, workers);
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[rows[i]]);
    let total = match weights {
        None => rows.len() as f64,
        Some(_) => (0..rows.len()).map(weight).sum(),
    };
    // Once a C was found for a ν, it is the machine's.
    let known = parts.machine_of(pairing).and_then(|machine| machine.cost);
    let (nu, cost) = match (parts.penalty, known) {
        // What weights have in common does not matter to a share, but would to a tolerance.
        (Penalty::Nu(nu), None) => (Some(nu), rows.len() as f64 / total),
        (Penalty::Nu(_), Some(cost)) => (None, cost),
        (penalty, _) => (None, penalty.cost_with(parts.norm, total)),
    };
    let costs = workers.numbers(rows.len(), |i| cost * weight(i));
    let mut targets = targets.map_or_else(Vec::new, |targets| rows.iter().map(|&row| targets[row]).collect());
    if let Task::Svdd { nu } = parts.task {
        // (P.11)
        let reach = 0.5 * nu * costs.iter().sum::<f64>();
        targets = vec![0.0; rows.len()];
        kernel.diagonal(points.rows(&rows), &mut targets);
        targets.iter_mut().for_each(|target| *target *= reach);
    }
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
        nu,
        shared: None,
    };
    Ok((MarginProblem::new(parts)?, cost))
}

/// The rows of each class, where there are more than two and machines for pairs of them.
pub(crate) fn rows_of_classes(parts: &ModelParts, codes: &[u32], weights: Option<&[f64]>) -> Option<ClassRows> {
    let pairs = parts.multiclass == Multiclass::OneVsOne && parts.classes.len() > 2;
    pairs.then(|| ClassRows::new(parts.classes.len(), codes, weights))
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

/// The rows of a machine's classes, those of weight 0 left out, and their signs.
fn rows_of_machine(
    answers: Answers<'_>,
    pairing: Pairing,
    parts: &ModelParts,
    workers: &Workers,
) -> (Vec<usize>, Vec<f64>) {
    let Answers { codes, weights, of_class, .. } = answers;
    if let (Some(of_class), Some(negative)) = (of_class, pairing.negative) {
        return of_class.pair(pairing.positive, negative);
    }
    let signs: Vec<Option<f64>> = (0..parts.classes.len().max(1)).map(|class| pairing.sign(class)).collect();
    if let (None, Some(signs)) = (weights, signs.into_iter().collect::<Option<Vec<f64>>>()) {
        // All rows, as with two classes.
        let rows = workers.numbers(codes.len(), |row| row);
        return (rows, workers.numbers(codes.len(), |row| signs[codes[row] as usize]));
    }
    let count = rows_of(codes, weights, pairing, parts).count();
    let (mut rows, mut signs) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (row, sign) in rows_of(codes, weights, pairing, parts) {
        rows.push(row);
        signs.push(sign);
    }
    (rows, signs)
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
fn machine_cost(answers: Answers<'_>, pairing: Pairing, parts: &ModelParts, workers: &Workers) -> f64 {
    let (rows, _) = rows_of_machine(answers, pairing, parts, workers);
    let total = match answers.weights {
        None => rows.len() as f64,
        Some(weights) => rows.iter().map(|&row| weights[row]).sum(),
    };
    match parts.penalty {
        Penalty::Nu(_) => rows.len() as f64 / total,
        penalty => penalty.cost_with(parts.norm, total),
    }
}

fn no_rows() -> Error {
    Error::Data { what: "the data has no rows".into(), help: "give at least one row of each of two classes".into() }
}

#[cfg(test)]
mod tests;
