//! Where a training was: what is done, what is under way, and what it must be matched with before it goes on.

use std::ops::ControlFlow;

use crate::control::{Control, Progress, Stop, Unattended, Unkept};
use crate::data::Dataset;
use crate::error::Error;
use crate::model::Machine;
use crate::problem::{MarginProblem, Task};
use crate::recipe::Pairing;
use crate::solver::{Snapshot, SolverKind, Start};
use crate::workers::Workers;

/// A control that may keep where a training is.
///
/// A training asks after each poll, also after one that broke, with the same progress; and after each machine that is done.
pub trait CheckpointControl: Control {
    /// Whether checkpoints are kept. A training that is resumed from one ends at the same bits as one that was never broken off, so a limit on
    /// time does not change the way that its search takes.
    fn keeps_checkpoints(&self) -> bool {
        false
    }

    /// Whether to keep where the training is now. Asked often, so it should be cheap.
    fn wants_checkpoint(&mut self, _progress: &Progress) -> bool {
        false
    }

    /// Receives where the training is, when that was wanted.
    fn keep_checkpoint(&mut self, _checkpoint: &Checkpoint) {}
}

impl CheckpointControl for Unattended {}

impl<F: FnMut(Progress) -> ControlFlow<Stop> + Send> CheckpointControl for F {}

impl CheckpointControl for Unkept<'_> {}

/// Where a training was, a state for each machine. A training that goes on from it ends in the same bits as one that was never
/// disturbed.
///
/// It belongs to its data and parameters, which [`Training::fit_from`](crate::Training::fit_from) checks. Threads and memory
/// may differ: they change no bits.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The hash of the training data.
    pub fingerprint: String,
    /// Every parameter that the bits of the model depend on, by name.
    pub parameters: Vec<(String, String)>,
    /// The machines, in the order of [`Multiclass::pairings`](crate::recipe::Multiclass::pairings).
    pub machines: Vec<MachineState>,
}

/// Where one machine was.
#[derive(Clone, Debug)]
pub enum MachineState {
    /// Not begun, or begun by a solver that offers no snapshots.
    Untouched {
        /// The α of a warm start, by training row, increasing; none from scratch.
        alpha: ByRow,
        /// w and b of a warm start with the L1 norm, where w is not a sum over the rows.
        point: Option<(Vec<f64>, f64)>,
    },
    /// Between two steps of its solver.
    Running {
        /// The solver.
        solver: SolverKind,
        /// Where it was.
        snapshot: Snapshot,
    },
    /// Done: certified, and ready to be put into a model.
    Finished(Box<FinishedMachine>),
}

/// A machine that is done.
#[derive(Clone, Debug)]
pub struct FinishedMachine {
    /// The solver that was used.
    pub solver: SolverKind,
    /// The machine without its support vectors, which are known once all machines are done.
    pub machine: Machine,
    /// The coefficients that are not 0, by training row, increasing.
    pub expansion: ByRow,
}

impl FinishedMachine {
    /// Where a machine that was broken off goes on: at its α, which have a sign in a regression only.
    pub(crate) fn to_go_on(&self, task: Task) -> MachineState {
        let alpha = |coefficient: f64| if task.is_regression() { coefficient } else { coefficient.abs() };
        let alpha = self.expansion.pairs().map(|(row, coefficient)| (row, alpha(coefficient))).collect();
        let point = self.machine.weights.clone().map(|weights| (weights, self.machine.bias));
        MachineState::Untouched { alpha, point }
    }
}

/// A number for each of some training rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByRow {
    /// The rows, increasing.
    pub rows: Vec<u64>,
    /// As many.
    pub numbers: Vec<f64>,
}

impl ByRow {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Each row with its number.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, f64)> {
        self.rows.iter().copied().zip(self.numbers.iter().copied())
    }
}

impl FromIterator<(u64, f64)> for ByRow {
    fn from_iter<I: IntoIterator<Item = (u64, f64)>>(pairs: I) -> Self {
        let (rows, numbers) = pairs.into_iter().unzip();
        ByRow { rows, numbers }
    }
}

impl Checkpoint {
    /// Checks that the states are those of these machines, trained on this data.
    pub(crate) fn check(
        &self,
        data: &Dataset,
        fingerprint: &str,
        pairings: &[Pairing],
        workers: &Workers,
    ) -> Result<(), Error> {
        if self.fingerprint != fingerprint && !data.has_fingerprint(&self.fingerprint, workers) {
            return Err(Error::Data {
                what: "the checkpoint was made from other data".into(),
                help:
                    "give the data that the checkpoint was made from (the same rows, columns, labels and weights), or \
                       begin from scratch"
                        .into(),
            });
        }
        let unfit = |what: String| {
            Err(Error::Data {
                what: format!("the checkpoint does not fit: {what}"),
                help: "begin from scratch, or from an older checkpoint".into(),
            })
        };
        if self.machines.len() != pairings.len() {
            return unfit(format!("it has {} machines, not {}", self.machines.len(), pairings.len()));
        }
        for (state, &pairing) in self.machines.iter().zip(pairings) {
            let list = match state {
                MachineState::Running { .. } => continue,
                MachineState::Untouched { alpha, .. } => alpha,
                MachineState::Finished(finished) if finished.machine.pairing != pairing => {
                    return unfit("its machines are not in the order of their classes".into());
                }
                MachineState::Finished(finished) => &finished.expansion,
            };
            let increasing = list.rows.is_sorted_by(|a, b| a < b);
            if !increasing || list.rows.last().is_some_and(|&row| row >= data.rows() as u64) {
                return unfit(format!("its rows do not increase below {}", data.rows()));
            }
        }
        Ok(())
    }
}

impl MachineState {
    /// Not begun, and to begin from scratch.
    pub(crate) fn scratch() -> Self {
        MachineState::Untouched { alpha: ByRow::default(), point: None }
    }

    /// Where this solver is to begin. What another solver has left is of no use to it.
    pub(crate) fn start(&self, kind: SolverKind, problem: &MarginProblem<'_>) -> Start {
        match self {
            MachineState::Running { solver, snapshot } if *solver == kind => Start::Snapshot(snapshot.clone()),
            MachineState::Untouched { point: Some((weights, bias)), .. } if kind.prefers_weights(problem) => {
                Start::Weights { weights: weights.clone(), bias: *bias }
            }
            MachineState::Untouched { alpha, .. } if !alpha.is_empty() => {
                let mut start = vec![0.0; problem.len()];
                for (row, value) in alpha.pairs() {
                    if let Ok(place) = problem.rows().binary_search(&(row as usize)) {
                        start[place] = value;
                    }
                }
                Start::Alpha(start)
            }
            _ => Start::Scratch,
        }
    }
}
