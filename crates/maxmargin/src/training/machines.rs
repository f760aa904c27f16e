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

/// Rows of a machine up to which it is as fast on one thread as on several; and above which it takes so long that it should
/// be part of checkpoints while it runs, and have all threads.
const SMALL_MACHINE: usize = 4_000;
const LARGE_MACHINE: usize = 100_000;

/// Whether machines side by side, each on one thread, are faster than one after the other on all threads.
pub(super) fn pays_side_by_side(shared: &Shared<'_>) -> bool {
    let (machines, threads) = (shared.pairings.len(), shared.workers.threads());
    let sizes = class_sizes(shared.labels);
    let largest = shared.pairings.iter().map(|pairing| pairing.rows(&sizes)).max().unwrap_or(0);
    let enough = machines >= 2 * threads && largest <= LARGE_MACHINE;
    threads > 1 && machines > 1 && (enough || largest <= SMALL_MACHINE)
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
        let sizes = class_sizes(shared.labels);
        let largest = shared.pairings.iter().max_by_key(|pairing| pairing.rows(&sizes));
        let Some(&pairing) = largest.filter(|_| shared.pairings.len() > 1) else { return Ok(()) };
        let (problem, _) =
            machine_problem(shared.kernel, shared.points, shared.workers, shared.answers(), pairing, parts)?;
        let kind = self.params.solver.unwrap_or_else(|| solver::choose(&problem, &self.params.settings).0);
        solver::supports(kind, &problem.sharing(shared.values), &self.params.settings)
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

    /// Trains the machines that are not done, each on all threads. Their states are kept up to date; those that the control
    /// broke are handed back, since theirs is not the state of a machine that is done.
    pub(super) fn fit_one_by_one(
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
    pub(super) fn fit_side_by_side(
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
}
