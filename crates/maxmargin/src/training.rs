//! From data to a model: parameters checked once, then a loop over binary problems.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::certificate::{Evidence, MERCER_ROWS, certify, decision_values, expansion};
use crate::checkpoint::{Checkpoint, FinishedMachine, MachineState, parameters};
use crate::control::{Control, Progress, Stop};
use crate::data::{Dataset, Label, Labels, Scaling, ScalingKind};
use crate::error::Error;
use crate::geometry::check_separable;
use crate::kernel::{ClassValues, Kernel, KernelFunction, KernelParams, Points};
use crate::model::{Machine, Model, ModelParts, Multiclass, Pairing};
use crate::problem::{Bias, Loss, MarginParts, MarginProblem};
use crate::relay::{self, Event, MachineControl};
use crate::solver::{self, Decision, Settings, Snapshot, Solution, SolverKind, Start};
use crate::workers::Workers;

/// How strong the penalty on w is, in one of the three ways to say it.
///
/// ```text
/// C:       ½‖w‖² + C Σ ξ_i
/// C/n:     ½‖w‖² + (C′/n) Σ ξ_i        C = C′/n
/// lambda:  λ‖w‖² + (1/n) Σ ξ_i         C = 1/(2nλ)                     (T.1)
/// ```
///
/// n is the number of rows of the binary problem, each counted by its weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// C
    C(f64),
    /// C′
    COverN(f64),
    /// λ
    Lambda(f64),
    /// No slack at all: C = ∞.
    Hard,
    /// No penalty on w (logistic regression only).
    None,
}

impl Penalty {
    /// The C of `½‖w‖² + C Σ ξ_i` for rows of this total weight; 1 without a penalty.
    pub fn cost(self, total_weight: f64) -> f64 {
        match self {
            Penalty::C(c) => c,
            Penalty::COverN(c) => c / total_weight,
            Penalty::Lambda(lambda) => 1.0 / (2.0 * total_weight * lambda), // (T.1)
            Penalty::Hard => f64::INFINITY,
            Penalty::None => 1.0,
        }
    }

    fn check(self) -> Result<(), Error> {
        let (name, value) = match self {
            Penalty::C(value) => ("C", value),
            Penalty::COverN(value) => ("c-over-n", value),
            Penalty::Lambda(value) => ("lambda", value),
            Penalty::Hard | Penalty::None => return Ok(()),
        };
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Error::parameter(name, value, "a finite number above 0"))
    }
}

/// What to train, not yet checked. Plain, public, `Default`.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::training::{Penalty, TrainingParams};
/// use maxmargin::{Unattended, Workers};
///
/// let data = embedded("e2").unwrap();
/// let training = TrainingParams { penalty: Penalty::C(1.0), ..TrainingParams::default() }.check()?;
/// let model = training.fit(&data, &Workers::none(), &mut Unattended)?;
/// let certificate = model.machines()[0].evidence.certificate().unwrap();
/// assert!((certificate.primal - 6.0694444).abs() < 1e-3);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainingParams {
    /// The kernel.
    pub kernel: KernelParams,
    /// The penalty.
    pub penalty: Penalty,
    /// The loss; `None` is the solver's own, else hinge.
    pub loss: Option<Loss>,
    /// How b is treated.
    pub bias: Bias,
    /// The solver; `None` lets the problem decide.
    pub solver: Option<SolverKind>,
    /// How several classes are told apart.
    pub multiclass: Multiclass,
    /// What is done to the columns first.
    pub scaling: ScalingKind,
    /// This label against all others.
    pub positive: Option<Label>,
    /// Settings for the solver.
    pub settings: Settings,
}

impl Default for TrainingParams {
    fn default() -> Self {
        TrainingParams {
            kernel: KernelParams::default(),
            penalty: Penalty::C(1.0),
            loss: None,
            bias: Bias::default(),
            solver: None,
            multiclass: Multiclass::default(),
            scaling: ScalingKind::None,
            positive: None,
            settings: Settings::default(),
        }
    }
}

impl TrainingParams {
    /// The only way to a [`Training`], and so the only place where ranges are tested.
    ///
    /// # Errors
    /// When a parameter is out of range, or two do not go together.
    pub fn check(self) -> Result<Training, Error> {
        self.penalty.check()?;
        let settings = &self.settings;
        if !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", settings.tolerance, "a finite number above 0"));
        }
        if settings.max_iterations == Some(0) {
            return Err(Error::parameter("max-iterations", 0, "1 or more"));
        }
        if settings.batch == 0 {
            return Err(Error::parameter("batch", 0, "1 or more"));
        }
        if !(settings.shrinkage >= 0.0 && settings.shrinkage <= 1.0) {
            return Err(Error::parameter("shrinkage", settings.shrinkage, "from 0 to 1"));
        }
        let loss = self.loss.unwrap_or(match self.solver {
            Some(SolverKind::Newton | SolverKind::KernelNewton) => Loss::Squared,
            Some(SolverKind::Logistic) => Loss::Logistic,
            _ => Loss::Hinge,
        });
        if self.penalty == Penalty::None && loss != Loss::Logistic {
            return Err(Error::Combination {
                what: format!("{} loss without a penalty has no single best model", loss.name()),
                help: "choose lambda above 0, or the solver logistic".into(),
            });
        }
        if self.penalty == Penalty::Hard && loss != Loss::Hinge {
            return Err(Error::Combination {
                what: format!("a hard margin allows no slack, so {} loss has nothing to do", loss.name()),
                help: "leave out the loss, or choose C instead of a hard margin".into(),
            });
        }
        Ok(Training { params: self, loss })
    }
}

/// Where a training begins.
#[derive(Clone, Debug)]
pub enum Beginning<'a> {
    /// As if the data had never been seen.
    Scratch,
    /// Where the same training was.
    Checkpoint(Checkpoint),
    /// At a model of the same data, trained with another penalty, kernel or tolerance: each machine begins at its α
    ///
    /// ```text
    /// α_i = c_i y_i · C/C_old                                              (T.2)
    /// ```
    Model(&'a Model),
}

/// What the machines of a training share.
struct Shared<'a> {
    data: &'a Dataset,
    /// The data's labels, or one against the rest.
    labels: &'a Labels,
    kernel: &'a KernelFunction,
    points: &'a Points,
    workers: &'a Workers,
    pairings: &'a [Pairing],
    /// Kernel values that several machines need.
    values: Option<&'a ClassValues>,
}

/// Adds the number of the machine to what passes through, and makes checkpoints of snapshots.
struct OfMachine<'a> {
    inner: &'a mut dyn Control,
    machine: (usize, usize),
    solver: Option<SolverKind>,
    checkpoint: &'a mut Checkpoint,
    broke: bool,
}

impl OfMachine<'_> {
    /// Hands over the checkpoint as it is, if one is wanted.
    fn offer_checkpoint(&mut self) {
        if self.inner.wants_snapshot(&Progress { machine: self.machine, ..Progress::default() }) {
            self.inner.keep_checkpoint(self.checkpoint);
        }
    }
}

impl Control for OfMachine<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let answer = self.inner.poll(Progress { machine: self.machine, ..progress });
        self.broke |= answer.is_break();
        answer
    }

    fn wants_snapshot(&mut self, progress: &Progress) -> bool {
        self.inner.wants_snapshot(&Progress { machine: self.machine, ..*progress })
    }

    fn keep_snapshot(&mut self, snapshot: Snapshot) {
        if let Some(solver) = self.solver {
            self.checkpoint.machines[self.machine.0] = MachineState::Running { solver, snapshot };
        }
        self.inner.keep_checkpoint(self.checkpoint);
    }
}

impl MachineControl for OfMachine<'_> {
    fn begin(&mut self, kind: SolverKind) {
        self.solver = Some(kind);
    }

    fn end(&mut self) {
        if self.broke {
            self.offer_checkpoint();
        }
    }
}

/// Of the memory, a part in so many may hold kernel values that several machines need.
const PART_FOR_VALUES: u64 = 4;

/// Rows of a machine up to which it is as fast on one thread as on several.
const SMALL_MACHINE: usize = 4000;

/// Whether machines side by side, each on one thread, are faster than one after the other on all threads.
fn pays_side_by_side(shared: &Shared<'_>) -> bool {
    let (machines, threads) = (shared.pairings.len(), shared.workers.threads());
    let sizes = class_sizes(shared.labels);
    let largest = shared.pairings.iter().map(|pairing| pairing.rows(&sizes)).max().unwrap_or(0);
    threads > 1 && machines > 1 && (machines >= 2 * threads || largest <= SMALL_MACHINE)
}

/// How many rows each class has.
fn class_sizes(labels: &Labels) -> Vec<usize> {
    let mut sizes = vec![0; labels.classes().len()];
    labels.codes().iter().for_each(|&code| sizes[code as usize] += 1);
    sizes
}

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

    /// Trains a model: scaling, kernel, then a binary problem for each machine.
    ///
    /// A control that breaks makes the solver return what it has; the model says so in [`Machine::stop`].
    ///
    /// # Errors
    /// When no problem can be made of the data, a solver cannot solve it or lacks memory, or a hard margin does not exist.
    pub fn fit(&self, data: &Dataset, workers: &Workers, control: &mut dyn Control) -> Result<Model, Error> {
        self.fit_from(data, Beginning::Scratch, workers, control)
    }

    /// Trains a model from where another training was.
    ///
    /// When the control wants a snapshot, it receives a [`Checkpoint`] of the whole training: while a solver runs that can
    /// offer one, after each machine, and when it has broken.
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
        let labels = match &params.positive {
            None => data.labels().clone(),
            Some(positive) => match data.labels().one_against_rest(positive) {
                Some(labels) => labels,
                None => return Err(data.find_label(positive.text()).err().unwrap_or_else(no_rows)),
            },
        };
        if data.rows() == 0 {
            return Err(no_rows());
        }
        if labels.classes().len() < 2 {
            return Err(Error::Data {
                what: format!("all {} rows have the label {}", data.rows(), crate::error::quoted(labels.get(0).text())),
                help: "give rows of at least two classes".into(),
            });
        }
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
        let points = Points::new(matrix, params.bias == Bias::Folded);
        let mut parts = ModelParts {
            kernel: kernel.clone(),
            bias: params.bias,
            loss: self.loss,
            penalty: params.penalty,
            solver: String::new(),
            tolerance: params.settings.tolerance,
            multiclass: params.multiclass,
            classes: labels.classes().to_vec(),
            one_against_rest: params.positive.is_some() && data.labels().classes().len() > 2,
            columns: data.columns(),
            names: data.names().map(<[String]>::to_vec),
            scaling,
            training_rows: data.rows(),
            fingerprint: data.fingerprint(),
            machines: Vec::new(),
            support_rows: Vec::new(),
            vectors: None,
        };
        let pairings = params.multiclass.pairings(labels.classes().len());
        let mut shared = Shared {
            data,
            labels: &labels,
            kernel: &kernel,
            points: &points,
            workers,
            pairings: &pairings,
            values: None,
        };
        let values = self.class_values(&shared);
        shared.values = values.as_ref();
        self.check_largest(&shared, &parts)?;
        let mut checkpoint = self.begin(beginning, &shared, &parts)?;
        let side_by_side = pays_side_by_side(&shared) && self.fits_side_by_side(&shared);
        let broken = match side_by_side {
            true => self.fit_side_by_side(&shared, &parts, &mut checkpoint, control)?,
            false => self.fit_one_by_one(&shared, &parts, &mut checkpoint, control)?,
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

    /// The states that the machines begin in.
    fn begin(&self, beginning: Beginning<'_>, shared: &Shared<'_>, parts: &ModelParts) -> Result<Checkpoint, Error> {
        let (fingerprint, parameters) = (parts.fingerprint.clone(), parameters(&self.params));
        let machines = match beginning {
            Beginning::Scratch => shared.pairings.iter().map(|_| MachineState::scratch()).collect(),
            Beginning::Checkpoint(checkpoint) => {
                checkpoint.check_parameters(&self.params)?;
                checkpoint.check(shared.data, &fingerprint, shared.pairings)?;
                checkpoint.machines
            }
            Beginning::Model(model) => warm_starts(model, shared, parts)?,
        };
        Ok(Checkpoint { fingerprint, parameters, machines })
    }

    /// What the largest of several machines needs must be there, before the first is trained.
    fn check_largest(&self, shared: &Shared<'_>, parts: &ModelParts) -> Result<(), Error> {
        let sizes = class_sizes(shared.labels);
        let largest = shared.pairings.iter().max_by_key(|pairing| pairing.rows(&sizes));
        let Some(&pairing) = largest.filter(|_| shared.pairings.len() > 1) else { return Ok(()) };
        let (codes, weights) = (shared.labels.codes(), shared.data.weights());
        let (problem, _) =
            machine_problem(shared.kernel, shared.points, shared.workers, codes, weights, pairing, parts)?;
        let kind = self.params.solver.unwrap_or_else(|| solver::choose(&problem).0);
        solver::supports(kind, &problem.sharing(shared.values), &self.params.settings)
    }

    /// A place for kernel values that several machines need, where these are small enough to be solved as a whole.
    fn class_values(&self, shared: &Shared<'_>) -> Option<ClassValues> {
        let blocks = self.params.solver.is_none_or(|solver| solver == SolverKind::BlockSmo);
        let pairs = shared.pairings.iter().all(|pairing| pairing.negative.is_some());
        let codes = shared.labels.codes();
        let mut rows = vec![Vec::new(); if pairs { shared.labels.classes().len() } else { 1 }];
        let weights = shared.data.weights();
        for row in (0..codes.len()).filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0)) {
            rows[if pairs { codes[row] as usize } else { 0 }].push(row);
        }
        rows.iter_mut().filter(|rows| rows.len() > solver::LARGEST_BLOCK).for_each(Vec::clear);
        let values = ClassValues::new(rows);
        let fits = values.bytes() <= self.params.settings.memory / PART_FOR_VALUES;
        (blocks && shared.pairings.len() > 1 && fits).then_some(values)
    }

    /// Bytes that all machines share.
    fn bytes_in_common(&self, shared: &Shared<'_>) -> u64 {
        let values = shared.values.map_or(0, ClassValues::bytes);
        solver::shared_bytes(shared.points.matrix(), self.params.settings.precision) + values
    }

    /// The budget of each of the machines that run side by side: what they share is there once.
    fn memory_side_by_side(&self, shared: &Shared<'_>) -> u64 {
        let settings = &self.params.settings;
        let common = self.bytes_in_common(shared);
        let own = settings.memory.saturating_sub(common) / shared.workers.threads() as u64;
        common.saturating_add(own).min(settings.memory)
    }

    /// Whether there is memory for as many of the largest machine as there are threads.
    fn fits_side_by_side(&self, shared: &Shared<'_>) -> bool {
        let (settings, matrix) = (&self.params.settings, shared.points.matrix());
        let sizes = class_sizes(shared.labels);
        let largest = shared.pairings.iter().map(|pairing| pairing.rows(&sizes)).max().unwrap_or(0);
        let need = self.bytes_in_common(shared) + solver::own_bytes(matrix, largest, settings.precision);
        need <= self.memory_side_by_side(shared)
    }

    /// Trains the machines that are not done, each on all threads. Their states are kept up to date; those that the control
    /// broke are handed back, since theirs is not the state of a machine that is done.
    fn fit_one_by_one(
        &self,
        shared: &Shared<'_>,
        parts: &ModelParts,
        checkpoint: &mut Checkpoint,
        control: &mut dyn Control,
    ) -> Result<Vec<Option<FinishedMachine>>, Error> {
        let mut all_broken = Vec::new();
        for number in 0..shared.pairings.len() {
            if matches!(checkpoint.machines[number], MachineState::Finished(_)) {
                all_broken.push(None);
                continue;
            }
            let (state, machine) = (checkpoint.machines[number].clone(), (number, shared.pairings.len()));
            let mut control = OfMachine { inner: control, machine, solver: None, checkpoint, broke: false };
            let finished = self.fit_machine(number, shared, parts, &state, &self.params.settings, &mut control)?;
            if control.broke {
                all_broken.push(Some(finished));
                continue;
            }
            control.checkpoint.machines[number] = MachineState::Finished(Box::new(finished));
            control.offer_checkpoint();
            all_broken.push(None);
        }
        Ok(all_broken)
    }

    /// The same with as many machines at a time as there are threads, each on one. Threads change no bits, so neither does
    /// this. The control is asked on the calling thread; a machine that is under way is not part of a checkpoint.
    fn fit_side_by_side(
        &self,
        shared: &Shared<'_>,
        parts: &ModelParts,
        checkpoint: &mut Checkpoint,
        control: &mut dyn Control,
    ) -> Result<Vec<Option<FinishedMachine>>, Error> {
        let count = shared.pairings.len();
        let alone = Workers::none();
        let one = Shared { workers: &alone, ..*shared };
        let settings = Settings { memory: self.memory_side_by_side(shared), ..self.params.settings.clone() };
        // The largest first, so that none is left for the end.
        let mut waiting: Vec<usize> =
            (0..count).filter(|&number| !matches!(checkpoint.machines[number], MachineState::Finished(_))).collect();
        let sizes = class_sizes(shared.labels);
        let size = |number: usize| shared.pairings[number].rows(&sizes);
        waiting.sort_by_key(|&number| std::cmp::Reverse(size(number)));
        let states: Vec<MachineState> = checkpoint.machines.clone();
        let mut broken: Vec<Option<FinishedMachine>> = (0..count).map(|_| None).collect();
        let mut failed: Option<(usize, Error)> = None;
        let work = |number: usize, control: &mut dyn MachineControl| {
            self.fit_machine(number, &one, parts, &states[number], &settings, control)
        };
        relay::run(shared.workers, &waiting, count, work, control, |event, control| {
            let number = match event {
                // Before the certificates of what was broken, which may take long.
                Event::Broke => count - 1,
                Event::Done { number, result: Ok(finished), broke: false } => {
                    checkpoint.machines[number] = MachineState::Finished(Box::new(finished));
                    number
                }
                Event::Done { number, result: Ok(finished), broke: true } => {
                    broken[number] = Some(finished);
                    return;
                }
                Event::Done { number, result: Err(error), .. } => {
                    if failed.as_ref().is_none_or(|(other, _)| number < *other) {
                        failed = Some((number, error));
                    }
                    return;
                }
            };
            if control.wants_snapshot(&Progress { machine: (number, count), ..Progress::default() }) {
                control.keep_checkpoint(checkpoint);
            }
        });
        match failed {
            Some((_, error)) => Err(error),
            None => Ok(broken),
        }
    }

    /// Trains one machine from the state it is in.
    fn fit_machine(
        &self,
        number: usize,
        shared: &Shared<'_>,
        parts: &ModelParts,
        state: &MachineState,
        settings: &Settings,
        control: &mut dyn MachineControl,
    ) -> Result<FinishedMachine, Error> {
        let pairing = shared.pairings[number];
        let (labels, weights) = (shared.labels, shared.data.weights());
        let (problem, cost) =
            machine_problem(shared.kernel, shared.points, shared.workers, labels.codes(), weights, pairing, parts)?;
        let problem = problem.sharing(shared.values);
        let (kind, reason) = match self.params.solver {
            Some(kind) => (kind, None),
            None => solver::choose(&problem),
        };
        // Before the search for a separator, which is dear: what this solver cannot do it says at once.
        solver::supports(kind, &problem, settings)?;
        control.begin(kind);
        let start = state.start(kind, &problem);
        // A snapshot is there because the search has found a separator.
        if problem.hard() && !matches!(start, Start::Snapshot(_)) {
            let name = |class: usize| labels.classes()[class].text().to_string();
            let negative = pairing.negative.map_or_else(|| "rest".to_string(), name);
            let classes = (negative, name(pairing.positive));
            // Where the search is, is not where the machine is: a closure keeps no snapshots.
            check_separable(&problem, classes, settings, &mut |progress: Progress| control.poll(progress))?;
        }
        let mut solution = solver::solve_from(kind, &problem, settings, start, control)?;
        // Before the certificate, which may take long.
        control.end();
        if number == 0 {
            solution.notes.extend(reason.map(|reason| format!("solver {}: {reason}", kind.name())));
        }
        let (machine, expansion) = self.finish(&problem, solution, pairing, cost);
        Ok(FinishedMachine { solver: kind, machine, expansion })
    }

    /// Solution to machine: certificate, errors, and the coefficients by training row.
    fn finish(
        &self,
        problem: &MarginProblem<'_>,
        mut solution: Solution,
        pairing: Pairing,
        cost: f64,
    ) -> (Machine, Vec<(u64, f64)>) {
        // The α of an expansion are what the model keeps of them, its coefficients.
        if let (Decision::Expansion { coefficients, .. }, Some(alpha)) = (&solution.decision, &mut solution.alpha) {
            *alpha = coefficients.iter().zip(problem.signs()).map(|(coefficient, sign)| coefficient * sign).collect();
        }
        // Where that is cheap, the values are the model's own, and not what the solver kept of them.
        if is_cheap(problem, &solution.decision) || solution.decision_values.is_none() {
            solution.decision_values = Some(decision_values(problem, &solution.decision));
        }
        let mut evidence = certify(problem, &solution, self.params.settings.tolerance);
        if !is_cheap(problem, &solution.decision) && !can_be_trusted(problem, &solution, &evidence) {
            solution.decision_values = Some(decision_values(problem, &solution.decision));
            evidence = certify(problem, &solution, self.params.settings.tolerance);
        }
        if evidence.certificate().is_some()
            && problem.len() > MERCER_ROWS
            && !problem.kernel().always_positive_semidefinite()
        {
            solution.notes.push(format!(
                "the kernel was found positive semidefinite on {MERCER_ROWS} of {} rows: on all of them it is an assumption of \
                 the certificate",
                problem.len()
            ));
        }
        let values = solution.decision_values.as_deref().unwrap_or_default();
        let training_errors = training_errors(problem, values);
        let (weights, bias, coefficients) = match (solution.decision, &solution.alpha) {
            (Decision::Linear { weights, bias }, alpha) => {
                let signed = alpha.iter().flatten().zip(problem.signs()).map(|(alpha, sign)| alpha * sign).collect();
                (Some(weights), bias, signed)
            }
            (Decision::Expansion { coefficients, bias }, _) => (None, bias, coefficients),
        };
        let expansion = problem
            .rows()
            .iter()
            .zip(&coefficients)
            .filter(|(_, coefficient): &(_, &f64)| **coefficient != 0.0)
            .map(|(&row, &coefficient)| (row as u64, coefficient))
            .collect();
        let machine = Machine {
            pairing,
            bias,
            stop: solution.stop,
            iterations: solution.iterations,
            training_errors,
            rows: problem.len(),
            cost: cost.is_finite().then_some(cost).filter(|_| problem.penalised()),
            evidence,
            notes: solution.notes,
            weights,
            support: Vec::new(),
            coefficients: Vec::new(),
        };
        (machine, expansion)
    }
}

/// Rows on the wrong side; a value of exactly 0 is on the negative one.
pub(crate) fn training_errors(problem: &MarginProblem<'_>, values: &[f64]) -> usize {
    let wrong = |(&value, &sign): (&f64, &f64)| (value > 0.0) != (sign > 0.0);
    values.iter().zip(problem.signs()).filter(|&pair| wrong(pair)).count()
}

/// Kernel values that cost little beside any training.
const FEW_VALUES: usize = 1 << 16;

/// Rows that decision values are checked at.
const SAMPLE: usize = 64;

/// Whether decision values from scratch cost a pass over the data, or a few thousand kernel values.
fn is_cheap(problem: &MarginProblem<'_>, decision: &Decision) -> bool {
    match decision {
        Decision::Linear { .. } => true,
        Decision::Expansion { coefficients, .. } => {
            let support = coefficients.iter().filter(|coefficient| **coefficient != 0.0).count();
            problem.len().saturating_mul(support) <= FEW_VALUES
        }
    }
}

/// Whether the decision values that a solver kept are the model's own, as far as it matters: their error, found at a sample
/// of rows, shows neither in the violation nor, times the costs, in the objective.
///
/// Rows that are no support vectors and have no loss have no part in either, and may be known to fewer digits.
fn can_be_trusted(problem: &MarginProblem<'_>, solution: &Solution, evidence: &Evidence) -> bool {
    let (Decision::Expansion { coefficients, bias }, Some(values)) = (&solution.decision, &solution.decision_values)
    else {
        return true;
    };
    let (signs, costs) = (problem.signs(), problem.costs());
    let matters = |&i: &usize| coefficients[i] != 0.0 || problem.loss().value(signs[i] * values[i]) > 0.0;
    let rows: Vec<usize> = (0..problem.len()).filter(matters).collect();
    let size = evidence.certificate().map_or(1.0, |found| found.primal.abs().max(1.0));
    let sample = SAMPLE.min(rows.len());
    let places: Vec<usize> = (0..sample).map(|k| rows[k * rows.len() / sample]).collect();
    let own = expansion(problem, &places, coefficients);
    let error = places.iter().zip(own).map(|(&i, own)| (own + bias - values[i]).abs()).fold(0.0, f64::max);
    let slope = |&i: &usize| costs[i] * (2.0 * (1.0 - signs[i] * values[i])).max(1.0);
    let slopes: f64 = rows.iter().map(slope).filter(|slope| slope.is_finite()).sum();
    error * slopes.max(1.0) <= 1e-7 * size
}

/// The binary problem of one machine: the rows of its classes, those of weight 0 left out. And its C.
///
/// # Errors
/// When no problem can be made of them.
pub(crate) fn machine_problem<'a>(
    kernel: &'a KernelFunction,
    points: &'a Points,
    workers: &'a Workers,
    codes: &[u32],
    weights: Option<&[f64]>,
    pairing: Pairing,
    parts: &ModelParts,
) -> Result<(MarginProblem<'a>, f64), Error> {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let (rows, signs): (Vec<usize>, Vec<f64>) = rows_of(codes, weights, pairing).unzip();
    let cost = machine_cost(codes, weights, pairing, parts.penalty);
    let costs = rows.iter().map(|&row| cost * weight(row)).collect();
    let parts = MarginParts {
        costs,
        loss: parts.loss,
        bias: parts.bias,
        penalised: parts.penalty != Penalty::None,
        ..MarginParts::new(kernel, points, workers, rows, signs)
    };
    Ok((MarginProblem::new(parts)?, cost))
}

/// The rows of a machine's classes, those of weight 0 left out, with their signs.
fn rows_of(codes: &[u32], weights: Option<&[f64]>, pairing: Pairing) -> impl Iterator<Item = (usize, f64)> {
    (0..codes.len())
        .filter(move |&row| weights.is_none_or(|weights| weights[row] > 0.0))
        .filter_map(move |row| pairing.sign(codes[row] as usize).map(|sign| (row, sign)))
}

/// The C of a machine.
fn machine_cost(codes: &[u32], weights: Option<&[f64]>, pairing: Pairing, penalty: Penalty) -> f64 {
    let weight = |(row, _)| weights.map_or(1.0, |weights| weights[row]);
    penalty.cost(rows_of(codes, weights, pairing).map(weight).sum())
}

/// Where the machines begin that a model has, too; the others begin from scratch.
///
/// # Errors
/// When the model was trained on other data, or has none of the machines.
fn warm_starts(model: &Model, shared: &Shared<'_>, parts: &ModelParts) -> Result<Vec<MachineState>, Error> {
    let old = model.parts();
    if old.fingerprint != parts.fingerprint {
        return Err(Error::Data {
            what: "the model to start from was trained on other data".into(),
            help: "give a model of the same rows, columns, labels and weights, or begin from scratch".into(),
        });
    }
    let same_classes = old.classes == parts.classes && old.one_against_rest == parts.one_against_rest;
    let found = |pairing: Pairing| old.machines.iter().find(|machine| same_classes && machine.pairing == pairing);
    if shared.pairings.iter().all(|&pairing| found(pairing).is_none()) {
        return Err(Error::Combination {
            what: "no machine of the model to start from tells the same classes apart".into(),
            help: "choose multiclass and the positive label as the model has them, or begin from scratch".into(),
        });
    }
    let (codes, weights) = (shared.labels.codes(), shared.data.weights());
    let state = |&pairing: &Pairing| {
        let Some(machine) = found(pairing) else { return MachineState::scratch() };
        let cost = machine_cost(codes, weights, pairing, parts.penalty);
        // A hard margin has no C to go by.
        let ratio = machine.cost.map(|old| cost / old).filter(|ratio| ratio.is_finite()).unwrap_or(1.0);
        let alpha = |(&place, &coefficient): (&u32, &f64)| {
            let row = old.support_rows[place as usize];
            let sign = pairing.sign(*codes.get(row as usize)? as usize)?;
            let alpha = coefficient * sign * ratio; // (T.2)
            (alpha > 0.0).then_some((row, alpha))
        };
        MachineState::Untouched { alpha: machine.support.iter().zip(&machine.coefficients).filter_map(alpha).collect() }
    };
    Ok(shared.pairings.iter().map(state).collect())
}

/// Joins the machines' support vectors into one pool, each training row once.
fn pool_support_vectors(parts: &mut ModelParts, expansions: Vec<Vec<(u64, f64)>>, points: &Points) {
    let mut pool: Vec<u64> = expansions.iter().flatten().map(|&(row, _)| row).collect();
    pool.sort_unstable();
    pool.dedup();
    for (machine, expansion) in parts.machines.iter_mut().zip(expansions) {
        machine.support = expansion.iter().map(|(row, _)| pool.partition_point(|other| other < row) as u32).collect();
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
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Labels, Matrix, embedded, generate};
    use crate::kernel::Gamma;

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
            (settings(|s| s.shrinkage = f64::NAN), "shrinkage is NaN, but it must be from 0 to 1"),
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
            let model = fit(&iris, TrainingParams { multiclass, ..TrainingParams::default() }).unwrap();
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
    fn kept_decision_values_are_trusted_only_when_they_are_the_models_own() {
        let data = generate("moons", 100, 1).unwrap();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(1.0) }.check(data.matrix()).unwrap();
        let (points, workers) = (Points::new(data.matrix().clone(), false), Workers::none());
        let signs = data.labels().codes().iter().map(|&code| 2.0 * f64::from(code) - 1.0).collect();
        let rows = (0..100).collect();
        let problem = MarginProblem::new(MarginParts::new(&kernel, &points, &workers, rows, signs)).unwrap();
        let mut solution = solver::solve(SolverKind::Smo, &problem, &Settings::default(), &mut Unattended).unwrap();
        let evidence = certify(&problem, &solution, 1e-3);
        assert!(can_be_trusted(&problem, &solution, &evidence));
        solution.decision_values.iter_mut().flatten().for_each(|value| *value += 1e-6);
        assert!(!can_be_trusted(&problem, &solution, &evidence));
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
            let said = refused(&|c| c.machines[1] = MachineState::Untouched { alpha: alpha.clone() });
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
        let rest = TrainingParams { multiclass: Multiclass::OneVsRest, ..TrainingParams::default() };
        let error = warm(&iris, rest, &model).unwrap_err();
        assert_eq!(error.to_string(), "no machine of the model to start from tells the same classes apart");
        let newton = TrainingParams { solver: Some(SolverKind::Newton), ..TrainingParams::default() };
        let found = warm(&iris, newton, &model).unwrap();
        assert_eq!(found.machines()[0].notes, ["newton has no use for a warm start, and began from scratch"]);
    }
}
