//! How a caller watches a solver and stops it: progress, interrupts and limits come in here, and nowhere else.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::solver::Snapshot;

/// Why a solver stopped. Only [`Stop::Converged`] promises the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The tolerance was reached.
    Converged,
    /// The limit on iterations came first.
    IterationLimit,
    /// The limit on time came first.
    TimeLimit,
    /// The caller interrupted.
    Interrupted,
    /// No further progress was possible in this arithmetic before the tolerance was reached.
    Stalled,
    /// The optimum lies at infinity (logistic regression without a penalty on separable data).
    Diverged,
}

impl Stop {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::IterationLimit => "iteration-limit",
            Stop::TimeLimit => "time-limit",
            Stop::Interrupted => "interrupted",
            Stop::Stalled => "stalled",
            Stop::Diverged => "diverged",
        }
    }
}

/// What a solver says of itself between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Which machine of how many (multi-class); (0, 1) for a binary problem.
    pub machine: (usize, usize),
    /// Steps done in this machine.
    pub iteration: u64,
    /// The largest violation of the optimality conditions, where the solver knows it.
    pub violation: Option<f64>,
    /// The duality gap, where the solver knows it.
    pub gap: Option<f64>,
    /// What it would cost to end now, with a certificate, as a part of the work so far: a limit on time has to leave room for it.
    pub ending: f64,
}

impl Progress {
    /// Whether a limit on time is reached, with what the end costs.
    pub fn is_over(&self, elapsed: Duration, limit: Duration) -> bool {
        elapsed.as_secs_f64() * (1.0 + self.ending.max(0.0)) >= limit.as_secs_f64()
    }
}

/// Asked between steps whether to go on. The command line, Python and the server each bring their own.
///
/// A `Break` carries the reason, which becomes the solution's [`Stop`]. Solvers ask at least every few
/// milliseconds of work, so an implementation should be cheap. They may ask from another thread than the caller's: a training that
/// uses several threads runs on one of them.
pub trait Control: Send {
    /// Go on, or break with the reason.
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop>;

    /// Whether to keep where the solver is now. Asked after each poll, also after one that broke, with the same progress;
    /// so it should be cheap.
    fn wants_snapshot(&mut self, _progress: &Progress) -> bool {
        false
    }

    /// Whether it may break before the solver is done, at a limit on time. Then a training begins with some of its rows, so that what it
    /// has at that moment is of use.
    fn is_limited(&self) -> bool {
        false
    }

    /// Receives where a solver is, when it was wanted and the solver can tell. In a training, what arrives is a
    /// [`Checkpoint`] instead.
    fn keep_snapshot(&mut self, _snapshot: Snapshot) {}

    /// Receives where a training is, when a snapshot was wanted.
    fn keep_checkpoint(&mut self, _checkpoint: &Checkpoint) {}
}

/// Polls, and hands over a snapshot where one is wanted.
///
/// In this order, so that a control that breaks can be sure to be asked whether it wants to keep what is given up.
pub(crate) fn poll_keeping(
    control: &mut dyn Control,
    progress: Progress,
    snapshot: impl FnOnce() -> Snapshot,
) -> ControlFlow<Stop> {
    let answer = control.poll(progress);
    if control.wants_snapshot(&progress) {
        control.keep_snapshot(snapshot());
    }
    answer
}

/// Never stops, shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Control for Unattended {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Any closure that can be sent to another thread is a control.
impl<F: FnMut(Progress) -> ControlFlow<Stop> + Send> Control for F {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self(progress)
    }
}
