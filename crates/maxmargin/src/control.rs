//! How a caller watches a solver and stops it: progress, interrupts and limits come in here, and nowhere else.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

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
}

/// Asked between steps whether to go on. The command line, Python and the server each bring their own.
///
/// A `Break` carries the reason, which becomes the solution's [`Stop`]. Solvers ask at least every few
/// milliseconds of work, so an implementation should be cheap.
pub trait Control {
    /// Go on, or break with the reason.
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop>;
}

/// Never stops, shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Control for Unattended {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Any closure is a control.
impl<F: FnMut(Progress) -> ControlFlow<Stop>> Control for F {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self(progress)
    }
}

/// Adds the number of the machine to what passes through.
pub(crate) struct OfMachine<'a> {
    pub(crate) inner: &'a mut dyn Control,
    pub(crate) machine: (usize, usize),
}

impl Control for OfMachine<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self.inner.poll(Progress { machine: self.machine, ..progress })
    }
}
