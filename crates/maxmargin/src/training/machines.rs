//! The machines of a training: one after the other on all threads, or side by side on one each.

use std::ops::ControlFlow;

use super::{Answers, Training, machine_problem};
use crate::checkpoint::{Checkpoint, FinishedMachine, MachineState};
use crate::control::{Control, Progress, Stop};
use crate::data::{Dataset, Labels};
use crate::error::Error;
use crate::kernel::{ClassValues, KernelFunction, Points};
use crate::model::{ModelParts, Pairing};
use crate::relay::{self, Event, MachineControl};
use crate::solver::{self, Settings, Snapshot, SolverKind};
use crate::workers::Workers;

/// What the machines of a training share.
pub(super) struct Shared<'a> {
    pub(super) data: &'a Dataset,
    /// The data's labels, or one against the rest.
    pub(super) labels: &'a Labels,
    /// The data's numbers, for a regression.
    pub(super) targets: Option<&'a [f64]>,
    /// What each row counts, the weight of its class included.
    pub(super) weights: Option<&'a [f64]>,
    pub(super) kernel: &'a KernelFunction,
    pub(super) points: &'a Points,
    pub(super) workers: &'a Workers,
    pub(super) pairings: &'a [Pairing],
    /// Kernel values that several machines need.
    pub(super) values: Option<&'a ClassValues>,
}

impl<'a> Shared<'a> {
    /// What the machines should say of each row.
    pub(super) fn answers(&self) -> Answers<'a> {
        Answers { codes: self.labels.codes(), targets: self.targets, weights: self.weights }
    }
}

/// Machines that are trained together, by their numbers; one alone, in most cases.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) numbers: Vec<usize>,
    /// The solver of several, and why, where it was not named.
    pub(super) solver: Option<(SolverKind, Option<String>)>,
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

    fn is_limited(&self) -> bool {
        self.inner.is_limited()
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

/// Rows of a machine up to which it is as fast on one thread as on several; and above which it takes so long that it should
/// be part of checkpoints while it runs, and have all threads.
const SMALL_MACHINE: usize = 4_000;
const LARGE_MACHINE: usize = 100_000;

/// Whether machines side by side, each on one thread, are faster than one after the other on all threads.
pub(super) fn pays_side_by_side(shared: &Shared<'_>, groups: &[Group]) -> bool {
    let (machines, threads) = (shared.pairings.len(), shared.workers.threads());
    if groups.len() < machines {
        // Those that are trained together use one thread.
        return threads > 1 && groups.len() > 1;
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
    pub(super) fn check_largest(&self, shared: &Shared<'_>, parts: &ModelParts) -> Result<(), Error> {
        if shared.pairings.len() == 1 {
            return Ok(());
        }
        let sizes = class_sizes(shared.labels);
        let largest = shared.pairings.iter().max_by_key(|pairing| pairing.rows(&sizes));
        let Some(&pairing) = largest else { return Ok(()) };
        let (problem, _) =
            machine_problem(shared.kernel, shared.points, shared.workers, shared.answers(), pairing, parts)?;
        let kind = self.params.solver.unwrap_or_else(|| solver::choose(&problem).0);
        solver::supports(kind, &problem.sharing(shared.values), &self.params.settings)
    }

    /// The machines in groups that are trained together: classes against the rest, where the solver gains from it. It depends on
    /// the problem alone, and not on the threads, so the bits do not either.
    pub(super) fn groups(&self, shared: &Shared<'_>, parts: &ModelParts) -> Result<Vec<Group>, Error> {
        let count = shared.pairings.len();
        let alone = || (0..count).map(|number| Group { numbers: vec![number], solver: None }).collect();
        let against_rest = shared.pairings.iter().all(|pairing| pairing.negative.is_none());
        if count < 2 || !against_rest {
            return Ok(alone());
        }
        let (kernel, points, workers) = (shared.kernel, shared.points, shared.workers);
        let (problem, _) = machine_problem(kernel, points, workers, shared.answers(), shared.pairings[0], parts)?;
        let solver = self.params.solver.map_or_else(|| solver::choose(&problem), |kind| (kind, None));
        let most = solver::problems_at_a_time(solver.0, &problem);
        if most < 2 {
            return Ok(alone());
        }
        // An even number of about equal ones, so that two threads have the same to do.
        let groups = count.div_ceil(most).next_multiple_of(if count < 4 { 1 } else { 2 });
        let place = |k: usize| k * count / groups;
        let group = |k: usize| Group { numbers: (place(k)..place(k + 1)).collect(), solver: Some(solver.clone()) };
        Ok((0..groups).map(group).collect())
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
        let weights = shared.weights;
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
        groups: &[Group],
        shared: &Shared<'_>,
        parts: &ModelParts,
        checkpoint: &mut Checkpoint,
        control: &mut dyn Control,
    ) -> Result<Vec<Option<FinishedMachine>>, Error> {
        let count = shared.pairings.len();
        let mut broken: Vec<Option<FinishedMachine>> = (0..count).map(|_| None).collect();
        for group in left(groups, checkpoint) {
            let states: Vec<_> = group.numbers.iter().map(|&number| checkpoint.machines[number].clone()).collect();
            let machine = (group.numbers[0], count);
            let mut control = OfMachine { inner: control, machine, solver: None, checkpoint, broke: false };
            let settings = &self.params.settings;
            let finished =
                shared.workers.inside(|| self.fit_group(&group, shared, parts, &states, settings, &mut control))?;
            if control.broke {
                group.numbers.iter().zip(finished).for_each(|(&number, finished)| broken[number] = Some(finished));
                continue;
            }
            keep_finished(control.checkpoint, &group, finished);
            control.offer_checkpoint();
        }
        Ok(broken)
    }

    /// The same with as many groups at a time as there are threads, each on one. Threads change no bits, so neither does
    /// this. The control is asked on the calling thread; a machine that is under way is not part of a checkpoint.
    pub(super) fn fit_side_by_side(
        &self,
        groups: &[Group],
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
        let mut groups = left(groups, checkpoint);
        let sizes = class_sizes(shared.labels);
        let size = |group: &Group| group.numbers.iter().map(|&number| shared.pairings[number].rows(&sizes)).sum();
        groups.sort_by_key(|group| std::cmp::Reverse::<usize>(size(group)));
        let states: Vec<MachineState> = checkpoint.machines.clone();
        let mut broken: Vec<Option<FinishedMachine>> = (0..count).map(|_| None).collect();
        let mut failed: Option<(usize, Error)> = None;
        let waiting: Vec<usize> = (0..groups.len()).collect();
        let work = |k: usize, control: &mut dyn MachineControl| {
            let states: Vec<_> = groups[k].numbers.iter().map(|&number| states[number].clone()).collect();
            self.fit_group(&groups[k], &one, parts, &states, &settings, control)
        };
        relay::run(shared.workers, &waiting, groups.len(), work, control, |event, control| {
            match event {
                // Before the certificates of what was broken, which may take long.
                Event::Broke => {}
                Event::Done { number, result: Ok(finished), broke: false } => {
                    keep_finished(checkpoint, &groups[number], finished);
                }
                Event::Done { number, result: Ok(finished), broke: true } => {
                    let numbers = &groups[number].numbers;
                    numbers.iter().zip(finished).for_each(|(&number, finished)| broken[number] = Some(finished));
                    return;
                }
                Event::Done { number, result: Err(error), .. } => {
                    let first = groups[number].numbers[0];
                    if failed.as_ref().is_none_or(|(other, _)| first < *other) {
                        failed = Some((first, error));
                    }
                    return;
                }
            }
            let machine = (count - 1, count);
            if control.wants_snapshot(&Progress { machine, ..Progress::default() }) {
                control.keep_checkpoint(checkpoint);
            }
        });
        match failed {
            Some((_, error)) => Err(error),
            None => Ok(broken),
        }
    }
}

/// The groups of the machines that are not done.
fn left(groups: &[Group], checkpoint: &Checkpoint) -> Vec<Group> {
    let waits = |number: &usize| !matches!(checkpoint.machines[*number], MachineState::Finished(_));
    let left =
        |group: &Group| Group { numbers: group.numbers.iter().copied().filter(waits).collect(), ..group.clone() };
    groups.iter().map(left).filter(|group| !group.numbers.is_empty()).collect()
}

/// The machines of a group are done.
fn keep_finished(checkpoint: &mut Checkpoint, group: &Group, finished: Vec<FinishedMachine>) {
    for (&number, finished) in group.numbers.iter().zip(finished) {
        checkpoint.machines[number] = MachineState::Finished(Box::new(finished));
    }
}
