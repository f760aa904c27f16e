//! From data to a model: parameters checked once, then a loop over binary problems, or one problem of all classes.

mod assembly;
mod automatic;
mod beginning;
mod class_weights;
mod empty_columns;
mod few;
mod finish;
mod hopeless;
mod joint;
mod kept;
mod landmarks;
mod last_digits;
mod ledger;
mod machines;
mod matching;
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
use crate::kernel::{Centre, Gram, KernelParams, Points};
use crate::model::{Machine, Model, ModelParts};
pub use crate::problem::Penalty;
use crate::problem::{Bias, FromNu, Loss, Task};
use crate::provenance::{Choice, Note, Origin, Provenance};
use crate::recipe::{Pairing, Recipe, RowAnswers, row_weights};
use crate::relay::MachineControl;
use crate::room::check_room;
use crate::solver::{self, Settings, SolverKind, Start};
use crate::workers::Workers;
use assembly::{Trained, assemble, assemble_kept};
pub use automatic::{AutomaticChoice, FEWEST_GAUSSIAN_ROWS, MOST_GAUSSIAN_ROWS, choose_kernel};
pub use beginning::Beginning;
pub use class_weights::ClassWeights;
use finish::finish;
use kept::Kept;
pub use landmarks::Landmarks;
use ledger::{Booked, Ledger};
use machines::{Broken, Group, Shared, pays_side_by_side};
pub use params::TrainingParams;
pub use path::PathStep;
use verdict::{in_units, settle};

/// How often machines are trained at most: those that had too little time go on with what others have left to them.
const MOST_ROUNDS: usize = 4;

/// Vectors of one number a column that the centre of a ball takes at once: its own, two sums of a pass over the rows, and the model's.
const VECTORS_OF_CENTRE: u64 = 4;

/// What a machine takes until the model is made: its own place, its state, its pairing, its number and its solver, and about 100 bytes for
/// the support vectors of few rows.
const BYTES_OF_MACHINE: u64 =
    (size_of::<Machine>() + size_of::<MachineState>() + size_of::<Pairing>() + size_of::<usize>() + 100) as u64;

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
        if let Some(wanted) = self.params.landmarks.and_then(|landmarks| landmarks.until) {
            return self.fit_until(wanted, data, beginning, workers, control);
        }
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
        let targets = params.task.is_regression().then(|| data.numbers()).transpose()?;
        if params.scaling != ScalingKind::None {
            let (need, budget) = (Scaling::bytes_to_learn(data.columns()), params.settings.memory);
            check_room(
                || format!("to scale {} columns", data.columns()),
                need,
                budget,
                "scale no columns, or give fewer",
            )?;
        }
        let scaling =
            (params.scaling != ScalingKind::None).then(|| Scaling::learn_by(params.scaling, data.matrix(), workers));
        let matrix = match &scaling {
            Some(scaling) => scaling.apply_by(data.matrix(), workers)?,
            None => data.matrix().clone(),
        };
        if let (Task::Svdd { .. }, KernelParams::Linear) = (params.task, &params.kernel) {
            let need = VECTORS_OF_CENTRE * 8 * data.columns() as u64;
            let help = "choose the kernel rbf with a number as gamma, whose memory follows the entries of the rows";
            check_room(|| format!("a centre with {} columns", data.columns()), need, params.settings.memory, help)?;
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
        let recipe = Recipe {
            task: params.task,
            kernel,
            bias: params.bias,
            loss: self.loss,
            penalty: params.penalty,
            norm: params.norm,
            multiclass: params.way_for(labels.classes().len(), data.columns()),
            class_weights,
        };
        let found_costs = match self.costs_of_nu(&recipe, data, workers, control)? {
            Ok(costs) => costs,
            Err(unfinished) => return Ok(unfinished),
        };
        let classes = if targets.is_some() { &[] } else { labels.classes() };
        self.check_machines(&recipe, classes.len())?;
        let pairings = recipe.pairings(classes.len());
        hopeless::check_machines(control.spent(), 0, pairings.len())?;
        let mut answers = RowAnswers {
            classes: labels.classes().len(),
            codes: labels.codes(),
            targets: targets.as_deref(),
            weights: weights.as_deref(),
            of_class: None,
        };
        let of_class = recipe.rows_of_classes(answers);
        answers.of_class = of_class.as_ref();
        let lifted = self.lift(&recipe, &points, weights.as_deref(), workers, control)?;
        let mut ledger = Ledger::new(matches!(beginning, Beginning::Checkpoint(_)), !control.keeps_checkpoints());
        let unmeasured = Ledger::new(false, true);
        let mut shared = Shared {
            recipe: lifted.as_ref().map_or(&recipe, |lifted| &lifted.recipe),
            data,
            fingerprint: &data.fingerprint_by(workers),
            settings: &params.settings,
            labels: &labels,
            classes,
            one_against_rest: params.positive.is_some() && data.labels()?.classes().len() > 2,
            answers,
            points: lifted.as_ref().map_or(&points, |lifted| &lifted.points),
            workers,
            pairings: &pairings,
            found_costs: &found_costs,
            values: None,
            ledger: &unmeasured,
        };
        if network {
            let trained = self.fit_network(&shared, control)?;
            return model_of(&shared, scaling, trained);
        }
        if recipe.multiclass.is_joint(labels.classes().len()) {
            let trained = self.fit_together(beginning, &shared, control)?;
            return model_of(&shared, scaling, trained);
        }
        let values = self.class_values(&shared);
        shared.values = values.as_ref();
        self.check_largest(&shared)?;
        let mut checkpoint = self.begin(beginning, &shared)?;
        let groups = self.groups(&shared)?;
        hopeless::check_machines(control.spent(), 0, pairings.len())?;
        // Steps are shown machine after machine, in an order that does not depend on the threads.
        let side_by_side =
            !control.wants_steps() && pays_side_by_side(&shared, &groups) && self.fits_side_by_side(&shared);
        // Side by side, each machine has one thread.
        let alone = Workers::none();
        let team = if side_by_side { &alone } else { workers };
        if !shared.recipe.kernel.is_linear() {
            ledger.measure(Gram::new(&recipe.kernel, &points, team), data.rows(), control);
        }
        let shared = Shared { ledger: &ledger, ..shared };
        let (mut broken, mut before) = (Broken::new(), Broken::new());
        let mut kept = Kept::new(pairings.len(), data.rows());
        for _ in 0..MOST_ROUNDS {
            broken = if side_by_side {
                self.fit_side_by_side(&groups, &shared, &mut checkpoint, &mut kept, control)?
            } else {
                self.fit_one_by_one(&groups, &shared, &mut checkpoint, control)?
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
        let trained = if let Some((machines, solver)) = kept.take_all(pairings.len()) {
            drop(checkpoint);
            assemble_kept(machines, solver, &shared.recipe.kernel, shared.points, workers)
        } else {
            kept.hand_over(&mut checkpoint);
            let mut states = checkpoint.machines;
            broken.into_iter().for_each(|(number, finished)| states[number] = MachineState::Finished(finished));
            assemble(states, &shared.recipe.kernel, shared.points, workers)
        };
        let Some(lifted) = &lifted else { return model_of(&shared, scaling, trained) };
        let exact = Shared { recipe: &recipe, points: &points, values: None, ..shared };
        let trained = self.land(lifted, &exact, trained, control)?;
        model_of(&exact, scaling, trained)
    }

    /// The C of each machine that its ν comes to, where classes have weights: ν is a share of the rows, whatever their classes count, and the
    /// weights multiply that C. None where the machines find their own. A search that did not end is handed back as the model that it is.
    fn costs_of_nu(
        &self,
        recipe: &Recipe,
        data: &Dataset,
        workers: &Workers,
        control: &mut dyn CheckpointControl,
    ) -> Result<Result<Vec<Option<f64>>, Model>, Error> {
        if !matches!(recipe.penalty, Penalty::Nu(_)) || recipe.class_weights.is_none() {
            return Ok(Ok(Vec::new()));
        }
        let params = TrainingParams { class_weights: ClassWeights::Equal, ..self.params.clone() };
        let found = Training { params, loss: self.loss }.fit_from(data, Beginning::Scratch, workers, control)?;
        let is_done = found.stop() == Stop::Converged;
        Ok(if is_done { Ok(found.machines().iter().map(|machine| machine.cost).collect()) } else { Err(found) })
    }

    /// Checks that there is memory for all machines, which are as many as classes or as pairs of them.
    ///
    /// # Errors
    /// When there is not.
    fn check_machines(&self, recipe: &Recipe, classes: usize) -> Result<(), Error> {
        let machines = recipe.multiclass.machines(classes.max(2)).unwrap_or(usize::MAX) as u64;
        let need = machines.saturating_mul(BYTES_OF_MACHINE);
        let help = "choose multiclass ovr, which makes one machine for each class, or leave out classes of few rows";
        let what = || format!("training {classes} classes as {machines} machines");
        // They are the model: the budget is for what a training needs beside it.
        check_room(what, need, u64::MAX, help)
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
            (Task::Classification, None) => Cow::Borrowed(data.labels()?),
            (Task::Classification, Some(positive)) => match data.labels()?.one_against_rest(positive) {
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
            let label = crate::error::quoted(labels.get(0).text());
            return Err(Error::Data {
                what: match data.rows() {
                    1 => format!("the only row has the label {label}"),
                    rows => format!("all {rows} rows have the label {label}"),
                },
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
        states: &[MachineState],
        settings: &Settings,
        control: &mut dyn MachineControl,
    ) -> Result<Vec<Box<FinishedMachine>>, Error> {
        let (labels, Group { numbers, solver, reserved }) = (shared.labels, group);
        let control = &mut Booked::new(control, shared.ledger, *reserved);
        let (mut problems, mut costs) = (Vec::with_capacity(numbers.len()), Vec::with_capacity(numbers.len()));
        for &number in numbers {
            let (problem, cost) = shared.problem(number)?;
            problems.push(problem.sharing(shared.values));
            costs.push(cost);
        }
        let (kind, reason) = match (solver.clone(), self.params.solver) {
            (Some(chosen), _) => chosen,
            (None, Some(kind)) => (kind, None),
            // Only the first machine says why.
            (None, None) => with_reason(solver::choose(&problems[0])),
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
        let is_begun = starts.iter().any(|start| *start != Start::Scratch);
        hopeless::check_end(&problems[0], control)?;
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
        let given_up = if is_begun { None } else { hopeless::given_up(&problems[0], control) };
        let solutions = match given_up {
            Some(none) => vec![none],
            None => solver::solve_together(kind, &problems, &in_units(goal, &problems[0]), starts, control)?,
        };
        // Before the certificate, which may take long.
        control.end();
        let mut finished = Vec::with_capacity(numbers.len());
        for (k, (mut solution, problem)) in solutions.into_iter().zip(problems).enumerate() {
            if numbers[k] == 0 {
                solution.notes.extend(reason.clone().map(|why| Note::Chosen { solver: kind, why }));
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

/// A solver that was chosen, and why.
fn with_reason((kind, why): (SolverKind, Choice)) -> (SolverKind, Option<Choice>) {
    (kind, Some(why))
}

/// The model of what was trained.
fn model_of(shared: &Shared<'_>, scaling: Option<Scaling>, trained: Trained) -> Result<Model, Error> {
    let (data, Trained { solver, machines, joint, network, support_rows, vectors, landmarks }) = (shared.data, trained);
    let mut recipe = shared.recipe.clone();
    if let Some(epsilon) = machines.last().and_then(|machine| machine.epsilon) {
        recipe.task = Task::Regression { epsilon };
    }
    Model::new(ModelParts {
        recipe,
        provenance: Provenance {
            origin: Origin::Trained(solver),
            rows: data.rows(),
            fingerprint: shared.fingerprint.to_string(),
            tolerance: shared.settings.tolerance(),
            gap: shared.settings.gap,
        },
        classes: shared.classes.to_vec(),
        one_against_rest: shared.one_against_rest,
        columns: data.columns(),
        names: data.names().map(<[String]>::to_vec),
        scaling,
        network,
        machines,
        joint,
        support_rows,
        vectors,
        landmarks,
    })
}

fn no_rows() -> Error {
    Error::Data { what: "the data has no rows".into(), help: "give at least one row of each of two classes".into() }
}

#[cfg(test)]
mod tests;
