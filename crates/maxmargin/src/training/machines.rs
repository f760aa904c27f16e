//! The machines of a training: one after the other on all threads, or side by side on one each.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use super::kept::Kept;
use super::ledger::Ledger;
use super::{Training, hopeless, with_reason};
use crate::checkpoint::{Checkpoint, CheckpointControl, FinishedMachine, MachineState};
use crate::control::{Control, Progress, Step, Stop};
use crate::data::{Dataset, Label, Labels};
use crate::error::Error;
use crate::kernel::{ClassValues, Points};
use crate::problem::MarginProblem;
use crate::provenance::Choice;
use crate::recipe::{Pairing, Recipe, RowAnswers};
use crate::relay::{self, Event, MachineControl};
use crate::solver::{self, Settings, Snapshot, SnapshotControl, SolverKind};
use crate::workers::Workers;

/// What the machines of a training share.
pub(super) struct Shared<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) data: &'a Dataset,
    /// The hash of the data.
    pub(super) fingerprint: &'a str,
    pub(super) settings: &'a Settings,
    /// The data's labels, or one against the rest.
    pub(super) labels: &'a Labels,
    /// The classes among the labels; none for a regression.
    pub(super) classes: &'a [Label],
    /// Whether the first class stands for all labels other than the second.
    pub(super) one_against_rest: bool,
    /// What the machines should say of each row.
    pub(super) answers: RowAnswers<'a>,
    pub(super) points: &'a Points,
    pub(super) workers: &'a Workers,
    pub(super) pairings: &'a [Pairing],
    /// The C of each machine, where that was found for a ν beforehand.
    pub(super) found_costs: &'a [Option<f64>],
    /// Kernel values that several machines need.
    pub(super) values: Option<&'a ClassValues>,
    /// The work of all machines.
    pub(super) ledger: &'a Ledger,
}

impl<'a> Shared<'a> {
    /// The problem of a machine, and its C.
    ///
    /// # Errors
    /// When no problem can be made of its rows.
    pub(super) fn problem(&self, number: usize) -> Result<(MarginProblem<'a>, f64), Error> {
        let found = self.found_costs.get(number).copied().flatten();
        self.recipe.machine_problem(self.points, self.workers, self.answers, self.pairings[number], found)
    }
}

/// Machines that are trained together, by their numbers; one alone, in most cases.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) numbers: Vec<usize>,
    /// The solver of several, and why, where it was not named.
    pub(super) solver: Option<(SolverKind, Option<Choice>)>,
    /// The part of a limit on time that belongs to groups that come later.
    pub(super) reserved: f64,
}

/// All machines of a training in groups of about the same number. A group is made when it is asked for: there may be millions.
pub(super) struct Groups {
    machines: usize,
    groups: usize,
    solver: Option<(SolverKind, Option<Choice>)>,
}

impl Groups {
    /// Each machine by itself.
    fn alone(machines: usize) -> Self {
        Groups { machines, groups: machines, solver: None }
    }

    /// The numbers of the machines of a group.
    fn numbers(&self, group: usize) -> Range<usize> {
        let place = |k: usize| k * self.machines / self.groups;
        place(group)..place(group + 1)
    }

    /// The machines of a group that are not done.
    fn left(&self, group: usize, checkpoint: &Checkpoint, reserved: f64) -> Group {
        let numbers = self.numbers(group).filter(|&number| waits(&checkpoint.machines[number])).collect();
        Group { numbers, solver: self.solver.clone(), reserved }
    }

    /// The groups with a machine that is not done.
    fn waiting(&self, checkpoint: &Checkpoint) -> Vec<usize> {
        let waits = |group: &usize| self.numbers(*group).any(|number| waits(&checkpoint.machines[number]));
        (0..self.groups).filter(waits).collect()
    }
}

/// Whether a machine is not done.
fn waits(state: &MachineState) -> bool {
    !matches!(state, MachineState::Finished(_))
}

/// Machines that the control broke, by their numbers.
pub(super) type Broken = BTreeMap<usize, Box<FinishedMachine>>;

/// Adds the number of the machine to what passes through, and makes checkpoints of snapshots.
struct OfMachine<'a> {
    inner: &'a mut dyn CheckpointControl,
    machine: (usize, usize),
    /// The machines that are trained together, by their numbers.
    numbers: &'a [usize],
    solver: Option<SolverKind>,
    checkpoint: &'a mut Checkpoint,
    broke: bool,
    /// Whether the inner control wants the next snapshot.
    is_wanted: bool,
}

impl OfMachine<'_> {
    /// Hands over the checkpoint as it is, if one is wanted.
    fn offer_checkpoint(&mut self) {
        if self.inner.wants_checkpoint(&Progress { machine: self.machine, ..Progress::default() }) {
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

    fn spent(&self) -> Option<f64> {
        self.inner.spent()
    }

    fn wants_steps(&self) -> bool {
        self.inner.wants_steps()
    }

    fn step(&mut self, step: Step) {
        let number = self.numbers.get(step.machine()).copied().unwrap_or(self.machine.0);
        self.inner.step(step.of_machine(number));
    }
}

impl SnapshotControl for OfMachine<'_> {
    fn wants_snapshot(&mut self, progress: &Progress) -> bool {
        self.is_wanted = self.inner.wants_checkpoint(&Progress { machine: self.machine, ..*progress });
        // A machine that has used its part of the time goes on from there in a checkpoint that is kept later.
        self.is_wanted || self.broke && progress.iteration > 0 && self.inner.spent().is_some()
    }

    fn keep_snapshot(&mut self, snapshot: Snapshot) {
        if let Some(solver) = self.solver {
            self.checkpoint.machines[self.machine.0] = MachineState::Running { solver, snapshot };
        }
        if self.is_wanted {
            self.inner.keep_checkpoint(self.checkpoint);
        }
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

/// Rows of a machine up to which it is as fast on one thread as on several; and above which it takes so long that it should
/// be part of checkpoints while it runs, and have all threads.
const SMALL_MACHINE: usize = 4_000;
const LARGE_MACHINE: usize = 100_000;

/// Rows of the machines that a thread takes at a time, when they run side by side. With fewer, threads wait for each other more often; with
/// more, the last thread works alone for longer. Where all machines together have many rows, a task has one in [`TASKS`] of them.
const ROWS_A_TASK: usize = 256;
const MOST_ROWS_A_TASK: usize = 4096;
const TASKS: usize = 512;

/// Whether machines side by side, each on one thread, are faster than one after the other on all threads.
pub(super) fn pays_side_by_side(shared: &Shared<'_>, groups: &Groups) -> bool {
    let (machines, threads) = (shared.pairings.len(), shared.workers.threads());
    if groups.groups < machines {
        // Those that are trained together use one thread.
        return threads > 1 && groups.groups > 1;
    }
    if threads == 1 || machines == 1 {
        return false;
    }
    let sizes = class_sizes(shared.labels);
    let largest = shared.pairings.iter().map(|pairing| pairing.rows(&sizes)).max().unwrap_or(0);
    machines >= 2 * threads && largest <= LARGE_MACHINE || largest <= SMALL_MACHINE
}

/// How many rows each class has.
fn class_sizes(labels: &Labels) -> Vec<usize> {
    let mut sizes = vec![0; labels.classes().len()];
    labels.codes().iter().for_each(|&code| sizes[code as usize] += 1);
    sizes
}

impl Training {
    /// What the largest of several machines needs must be there, before the first is trained.
    pub(super) fn check_largest(&self, shared: &Shared<'_>) -> Result<(), Error> {
        if shared.pairings.len() == 1 {
            return Ok(());
        }
        let sizes = class_sizes(shared.labels);
        let largest = (0..shared.pairings.len()).max_by_key(|&number| shared.pairings[number].rows(&sizes));
        let Some(largest) = largest else { return Ok(()) };
        let (problem, _) = shared.problem(largest)?;
        let kind = self.params.solver.unwrap_or_else(|| solver::choose(&problem).0);
        solver::supports(kind, &problem.sharing(shared.values), &self.params.settings)
    }

    /// The machines in groups that are trained together: classes against the rest, where the solver gains from it. It depends on
    /// the problem alone, and not on the threads, so the bits do not either.
    pub(super) fn groups(&self, shared: &Shared<'_>) -> Result<Groups, Error> {
        let count = shared.pairings.len();
        let against_rest = shared.pairings.iter().all(|pairing| pairing.negative.is_none());
        if count < 2 || !against_rest || self.wants_last_digits(shared.data) {
            return Ok(Groups::alone(count));
        }
        let (problem, _) = shared.problem(0)?;
        let solver = self.params.solver.map_or_else(|| with_reason(solver::choose(&problem)), |kind| (kind, None));
        let most = solver::problems_at_a_time(solver.0, &problem);
        if most < 2 {
            return Ok(Groups::alone(count));
        }
        // An even number of about equal ones, so that two threads have the same to do.
        let groups = count.div_ceil(most).next_multiple_of(if count < 4 { 1 } else { 2 });
        Ok(Groups { machines: count, groups, solver: Some(solver) })
    }

    /// A place for kernel values that several machines need, where these are small enough to be solved as a whole.
    pub(super) fn class_values(&self, shared: &Shared<'_>) -> Option<ClassValues> {
        let blocks = self.params.solver.is_none_or(|solver| solver == SolverKind::BlockSmo);
        if !blocks || shared.pairings.len() < 2 {
            return None;
        }
        let pairs = shared.pairings.iter().all(|pairing| pairing.negative.is_some());
        let codes = shared.labels.codes();
        let mut rows = vec![Vec::new(); if pairs { shared.labels.classes().len() } else { 1 }];
        let weights = shared.answers.weights;
        for row in (0..codes.len()).filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0)) {
            rows[if pairs { codes[row] as usize } else { 0 }].push(row);
        }
        rows.iter_mut().filter(|rows| rows.len() > solver::WHOLE_ROWS).for_each(Vec::clear);
        let values = ClassValues::new(rows);
        let memory = self.params.settings.memory;
        // The machines come first.
        let left = memory.saturating_sub(self.bytes_of_largest(shared));
        let fits = values.bytes() <= left.min(memory / PART_FOR_VALUES);
        fits.then_some(values)
    }

    /// Bytes that all machines share.
    fn bytes_in_common(&self, shared: &Shared<'_>) -> u64 {
        let values = shared.values.map_or(0, ClassValues::bytes);
        solver::shared_bytes(shared.points.matrix(), self.params.settings.precision) + values
    }

    /// Bytes that the largest machine needs, with what it shares.
    fn bytes_of_largest(&self, shared: &Shared<'_>) -> u64 {
        let sizes = class_sizes(shared.labels);
        let largest = shared.pairings.iter().map(|pairing| pairing.rows(&sizes)).max().unwrap_or(0);
        let own = solver::own_bytes(shared.points.matrix(), largest, self.params.settings.precision);
        self.bytes_in_common(shared) + own
    }

    /// The budget of each of the machines that run side by side: what they share is there once.
    fn memory_side_by_side(&self, shared: &Shared<'_>) -> u64 {
        let settings = &self.params.settings;
        let common = self.bytes_in_common(shared);
        let own = settings.memory.saturating_sub(common) / shared.workers.threads() as u64;
        common.saturating_add(own).min(settings.memory)
    }

    /// Whether there is memory for as many of the largest machine as there are threads.
    pub(super) fn fits_side_by_side(&self, shared: &Shared<'_>) -> bool {
        self.bytes_of_largest(shared) <= self.memory_side_by_side(shared)
    }

    /// Trains the machines that are not done, each group on all threads. Their states are kept up to date; those that the
    /// control broke are handed back, since theirs is not the state of a machine that is done.
    pub(super) fn fit_one_by_one(
        &self,
        groups: &Groups,
        shared: &Shared<'_>,
        checkpoint: &mut Checkpoint,
        control: &mut dyn CheckpointControl,
    ) -> Result<Broken, Error> {
        let count = shared.pairings.len();
        let mut broken = Broken::new();
        let waiting = groups.waiting(checkpoint);
        let sizes = class_sizes(shared.labels);
        let size = |group: &usize| groups.numbers(*group).map(|number| shared.pairings[number].rows(&sizes)).sum();
        let reserved = shared.ledger.reserved(control.spent(), waiting.iter().map(size));
        // Groups that are done already have begun.
        let mut tried = count - waiting.iter().map(|&group| groups.numbers(group).len()).sum::<usize>();
        for (group, reserved) in waiting.into_iter().zip(reserved) {
            let group = groups.left(group, checkpoint, reserved);
            let states: Vec<_> = group.numbers.iter().map(|&number| checkpoint.machines[number].clone()).collect();
            let machine = (group.numbers[0], count);
            let numbers = &group.numbers;
            let mut control = OfMachine {
                inner: control,
                machine,
                numbers,
                solver: None,
                checkpoint,
                broke: false,
                is_wanted: false,
            };
            let settings = &self.params.settings;
            let finished = shared.workers.inside(|| self.fit_group(&group, shared, &states, settings, &mut control))?;
            tried += finished.len();
            hopeless::check_machines(control.inner.spent(), tried, count)?;
            if control.broke {
                broken.extend(group.numbers.into_iter().zip(finished));
                continue;
            }
            keep_finished(control.checkpoint, &group, finished);
            control.offer_checkpoint();
        }
        Ok(broken)
    }

    /// Trains as many groups at a time as there are threads, each on one. Threads change no bits, so neither does
    /// this. The control is asked on the calling thread; a machine that is under way is not part of a checkpoint. Machines that are done
    /// are `kept`, or in the checkpoint once the control wanted one.
    pub(super) fn fit_side_by_side(
        &self,
        groups: &Groups,
        shared: &Shared<'_>,
        checkpoint: &mut Checkpoint,
        all: &mut Kept,
        control: &mut dyn CheckpointControl,
    ) -> Result<Broken, Error> {
        let count = shared.pairings.len();
        let alone = Workers::none();
        let one = Shared { workers: &alone, ..*shared };
        let settings = Settings { memory: self.memory_side_by_side(shared), ..self.params.settings.clone() };
        // The largest first, so that none is left for the end.
        let mut waiting = groups.waiting(checkpoint);
        let sizes = class_sizes(shared.labels);
        let size = |group: &usize| groups.numbers(*group).map(|number| shared.pairings[number].rows(&sizes)).sum();
        waiting.sort_by_cached_key(|group| std::cmp::Reverse::<usize>(size(group)));
        let tasks = tasks(&waiting, |group| size(&group));
        let reserved = shared
            .ledger
            .reserved(control.spent(), tasks.iter().map(|task| waiting[task.clone()].iter().map(size).sum()));
        // Most machines begin from scratch, and need no copy of their state.
        let scratch = MachineState::scratch();
        let untouched = |state: &MachineState| match state {
            MachineState::Untouched { alpha, point } => alpha.is_empty() && point.is_none(),
            _ => false,
        };
        let begun = checkpoint.machines.iter().enumerate().filter(|(_, state)| waits(state) && !untouched(state));
        let begun: BTreeMap<usize, MachineState> = begun.map(|(number, state)| (number, state.clone())).collect();
        let done: Vec<bool> = checkpoint.machines.iter().map(|state| !waits(state)).collect();
        let mut broken = Broken::new();
        let mut failed: Option<(usize, Error)> = None;
        let mut tried = count - waiting.iter().map(|&group| groups.numbers(group).len()).sum::<usize>();
        // Set when there are too many machines for a limit on time.
        let is_hopeless = AtomicBool::new(false);
        let work = |task: usize, control: &mut dyn MachineControl| {
            if is_hopeless.load(Ordering::Relaxed) {
                return Vec::new();
            }
            let several = tasks[task].len() > 1;
            let fit = |(place, &group): (usize, &usize)| {
                let numbers = groups.numbers(group).filter(|&number| !done[number]).collect();
                let group = Group { numbers, solver: groups.solver.clone(), reserved: reserved[task] };
                let state = |number: &usize| begun.get(number).unwrap_or(&scratch).clone();
                let states: Vec<_> = group.numbers.iter().map(state).collect();
                // The first group of a task asks, and learns whether all are to stop.
                let (wait, silence) =
                    if several { (if place == 0 { 0 } else { SILENT_POLLS }, SILENT_POLLS) } else { (0, 0) };
                let mut control = Watched { inner: control, broke: false, wait, silence };
                let result = self.fit_group(&group, &one, &states, &settings, &mut control);
                Fitted { broke: control.broke, result, group }
            };
            waiting[tasks[task].clone()].iter().enumerate().map(fit).collect::<Vec<Fitted>>()
        };
        let sizes: Vec<usize> = tasks.iter().map(Range::len).collect();
        relay::run(shared.workers, &sizes, work, control, |event, control| {
            let mut kept = true;
            // A break comes before the certificates of what was broken, which may take long.
            if let Event::Done(fitted) = event {
                kept = false;
                for Fitted { group, broke, result } in fitted {
                    tried += group.numbers.len();
                    match result {
                        Ok(finished) if broke => broken.extend(group.numbers.into_iter().zip(finished)),
                        Ok(finished) => {
                            all.keep(checkpoint, &group, finished);
                            kept = true;
                        }
                        Err(error) => {
                            let first = group.numbers[0];
                            if failed.as_ref().is_none_or(|(other, _)| first < *other) {
                                failed = Some((first, error));
                            }
                        }
                    }
                }
            }
            if let Err(error) = hopeless::check_machines(control.spent(), tried, count) {
                is_hopeless.store(true, Ordering::Relaxed);
                failed.get_or_insert((0, error));
            }
            let machine = (count - 1, count);
            if kept && control.wants_checkpoint(&Progress { machine, ..Progress::default() }) {
                all.hand_over(checkpoint);
                control.keep_checkpoint(checkpoint);
            }
        });
        match failed {
            Some((_, error)) => Err(error),
            None => Ok(broken),
        }
    }
}

/// What became of a group.
#[expect(clippy::vec_box, reason = "a machine is large, and is handed on in its box")]
struct Fitted {
    group: Group,
    /// Whether the control broke it.
    broke: bool,
    result: Result<Vec<Box<FinishedMachine>>, Error>,
}

/// Remembers whether the control broke one group of a task.
struct Watched<'a> {
    inner: &'a mut dyn MachineControl,
    broke: bool,
    /// Polls until the next one that is passed on, and how many are not passed on between two.
    wait: u32,
    silence: u32,
}

/// Polls of small machines that are not passed on between two: their steps take less time than it takes to wake the listening thread.
const SILENT_POLLS: u32 = 1000;

impl Control for Watched<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if self.wait > 0 && !self.broke {
            self.wait -= 1;
            return ControlFlow::Continue(());
        }
        self.wait = self.silence;
        let answer = self.inner.poll(progress);
        self.broke |= answer.is_break();
        answer
    }

    fn spent(&self) -> Option<f64> {
        self.inner.spent()
    }
}

impl SnapshotControl for Watched<'_> {}

impl MachineControl for Watched<'_> {
    fn begin(&mut self, kind: SolverKind) {
        self.inner.begin(kind);
    }

    fn end(&mut self) {
        self.inner.end();
    }
}

/// Spans of the groups that a thread trains at a time: one large group, or small ones of [`ROWS_A_TASK`] rows together.
fn tasks(groups: &[usize], size: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    let all: usize = groups.iter().map(|&group| size(group)).sum();
    let enough = (all / TASKS).clamp(ROWS_A_TASK, MOST_ROWS_A_TASK);
    let mut rows = enough;
    for (place, &group) in groups.iter().enumerate() {
        match tasks.last_mut() {
            Some(last) if rows < enough => last.end = place + 1,
            _ => {
                tasks.push(place..place + 1);
                rows = 0;
            }
        }
        rows += size(group);
    }
    tasks
}

/// The machines of a group are done.
#[expect(clippy::vec_box, reason = "a machine is large, and is handed on in its box")]
fn keep_finished(checkpoint: &mut Checkpoint, group: &Group, finished: Vec<Box<FinishedMachine>>) {
    for (&number, finished) in group.numbers.iter().zip(finished) {
        checkpoint.machines[number] = MachineState::Finished(finished);
    }
}
