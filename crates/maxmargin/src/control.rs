//! How a caller watches a solver and stops it: progress, interrupts and limits come in here, and nowhere else.

mod step;

use std::ops::ControlFlow;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use step::Step;

/// Why a solver stopped. Only [`Stop::Converged`] promises the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
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

/// Work of a solver, or of a whole training, in kernel values of single precision. What else takes time is counted by how many of those it lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// The work so far. It is 0 where the solver does not count.
    pub done: f64,
    /// The work that an end would take now, certificate included.
    pub to_end: f64,
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
    /// The work so far and the work to an end. A limit on time has to leave room for the end.
    pub work: Work,
    /// The part of a limit on time that a unit of work takes at the end; 0 where that is not known.
    pub price: f64,
    /// The part of a limit on time, from 0 to 1, that belongs to machines that have not begun.
    pub reserved: f64,
}

impl Progress {
    /// Whether a solver has to end now, when this part of a limit on time has passed:
    ///
    /// ```text
    /// spent + price · to_end ≥ 1 − reserved                                 (TL.1)
    /// ```
    pub fn is_over(&self, spent: f64) -> bool {
        spent + self.price * self.work.to_end >= 1.0 - self.reserved // (TL.1)
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

    /// The part of a limit on time that has passed; `None` without a limit. Under a limit a training begins with some of its rows, so that
    /// what it has when it is broken off is of use.
    fn spent(&self) -> Option<f64> {
        None
    }

    /// The work that a limit on time leaves to a machine of a training, its end included; `None` where that is not known.
    fn work_left(&self) -> Option<f64> {
        None
    }

    /// Whether the steps of the solvers are to be shown. Solvers ask once before they begin, and while nobody looks steps cost nothing.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Receives a step that was taken, when [`Control::wants_steps`]. `smo`, `dual-ascent`, `sgd`, the perceptrons, `newton`, `kernel-newton`
    /// and `primal-newton` show theirs.
    fn step(&mut self, _step: Step) {}
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

/// A control that keeps nothing, whatever the one behind it would keep.
pub(crate) struct Unkept<'a>(pub(crate) &'a mut dyn Control);

impl Control for Unkept<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self.0.poll(progress)
    }

    fn spent(&self) -> Option<f64> {
        self.0.spent()
    }

    fn work_left(&self) -> Option<f64> {
        self.0.work_left()
    }

    fn wants_steps(&self) -> bool {
        self.0.wants_steps()
    }

    fn step(&mut self, step: Step) {
        self.0.step(step);
    }
}

/// The control of one of several trainings that share a limit on time: it sees its portion as the whole limit.
pub(crate) struct Portion<'a> {
    inner: &'a mut dyn Control,
    /// Where the portion begins, and how large it is, as parts of the whole limit.
    start: f64,
    size: f64,
}

impl<'a> Portion<'a> {
    /// An equal portion of the time that is left, for the first of some trainings to come.
    pub(crate) fn of_left(inner: &'a mut dyn Control, trainings: usize) -> Self {
        let start = inner.spent().unwrap_or(0.0);
        Portion { inner, start, size: (1.0 - start).max(0.0) / trainings.max(1) as f64 }
    }
}

impl Control for Portion<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let reserved = 1.0 - (self.start + (1.0 - progress.reserved) * self.size);
        self.inner.poll(Progress { price: progress.price * self.size, reserved, ..progress })
    }

    fn spent(&self) -> Option<f64> {
        let own = |spent: f64| if self.size > 0.0 { (spent - self.start) / self.size } else { f64::INFINITY };
        self.inner.spent().map(own)
    }

    fn wants_steps(&self) -> bool {
        self.inner.wants_steps()
    }

    fn step(&mut self, step: Step) {
        self.inner.step(step);
    }
}

/// The control of a search that goes on after some iterations.
pub(crate) struct After<'a> {
    pub(crate) inner: &'a mut dyn Control,
    pub(crate) iterations: u64,
}

impl Control for After<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self.inner.poll(Progress { iteration: progress.iteration.saturating_add(self.iterations), ..progress })
    }

    fn wants_steps(&self) -> bool {
        self.inner.wants_steps()
    }

    fn step(&mut self, step: Step) {
        self.inner.step(step.after(self.iterations));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit of which this part has passed.
    struct At(f64);

    impl Control for At {
        fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
            if progress.is_over(self.0) { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
        }

        fn spent(&self) -> Option<f64> {
            Some(self.0)
        }
    }

    #[test]
    fn trainings_that_share_a_limit_each_see_their_own_portion_of_what_is_left() {
        let mut clock = At(0.5);
        // The second half is shared by two: the portion is from 0.5 to 0.75.
        let portion = Portion::of_left(&mut clock, 2);
        assert_eq!(portion.spent(), Some(0.0));
        let (start, size) = (portion.start, portion.size);
        for (now, price, reserved, is_over) in [
            (0.7, 0.0, 0.0, false),
            (0.76, 0.0, 0.0, true),
            (0.6, 0.0, 0.5, false),
            (0.65, 0.0, 0.5, true),
            (0.6, 0.5, 0.0, false),
            (0.7, 0.5, 0.0, true),
        ] {
            let mut clock = At(now);
            let mut portion = Portion { inner: &mut clock, start, size };
            let work = Work { done: 0.0, to_end: 1.0 };
            let progress = Progress { work, price, reserved, ..Progress::default() };
            assert_eq!(portion.poll(progress).is_break(), is_over, "{now} {price} {reserved}");
        }
    }
}
