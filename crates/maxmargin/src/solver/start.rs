//! Where a solver begins, and where it was between two steps.

use std::ops::ControlFlow;

use crate::control::{Control, Progress, Stop, Unattended, Unkept};
use crate::problem::{Coupling, DualProblem, MarginProblem};

/// Where a solver begins. The optimum does not depend on it, the way there does.
///
/// [`SolverFacts::beginnings`](super::SolverFacts::beginnings) says what a solver can begin at; it begins from scratch at anything else.
/// With the L1 norm w is not a sum over the rows, and with a smooth loss the weights of a neighbouring C are nearer than its α, scaled, are.
///
/// A solver that knows nothing of snapshots offers none; from scratch it ends in the same solution.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start {
    /// As if the problem had never been seen.
    #[default]
    Scratch,
    /// The α of a related problem, one a row of this one. It need not be feasible: it is made so.
    Alpha(Vec<f64>),
    /// w and b of a related problem.
    Weights {
        /// w, one a column.
        weights: Vec<f64>,
        /// b
        bias: f64,
    },
    /// Where the same solver was in the same problem: it goes on as if nothing had happened.
    Snapshot(Snapshot),
}

impl Start {
    /// The start of a problem's dual, which may have more variables than the problem has rows.
    pub(super) fn of_dual(self, problem: &MarginProblem<'_>) -> Start {
        match self {
            Start::Alpha(alpha) => Start::Alpha(problem.dual_variables(alpha)),
            start => start,
        }
    }

    /// The coefficients `α_i y_i` to begin at, where the start has them.
    pub(super) fn coefficients(&self, signs: &[f64]) -> Option<Vec<f64>> {
        match self {
            Start::Alpha(alpha) => Some(alpha.iter().zip(signs).map(|(alpha, sign)| alpha * sign).collect()),
            Start::Scratch | Start::Weights { .. } | Start::Snapshot(_) => None,
        }
    }
}

/// Where a solver was between two steps: enough to go on as if nothing had happened, to the bit.
///
/// A solver that cannot read a snapshot (of another problem, or of another version of it) starts from scratch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Steps done.
    pub iterations: u64,
    /// α, one a row of the problem.
    pub alpha: Vec<f64>,
    /// The gradient as it was kept, with what rounding has done to it.
    pub gradient: Vec<f64>,
    /// Whole numbers, of a meaning that the solver defines.
    pub lists: Vec<Vec<u64>>,
    /// Further numbers, of a meaning that the solver defines.
    pub numbers: Vec<f64>,
}

impl Snapshot {
    /// Whether α lies in the bounds of a problem, and the gradient is one of as many finite numbers.
    pub(super) fn fits(&self, problem: &DualProblem<'_>) -> bool {
        self.alpha.len() == problem.len()
            && self.gradient.len() == problem.len()
            && self.alpha.iter().zip(problem.upper()).all(|(&alpha, &upper)| 0.0 <= alpha && alpha <= upper)
            && self.gradient.iter().all(|value| value.is_finite())
    }
}

/// A control that may keep where a solver is, to go on from there later.
pub trait SnapshotControl: Control {
    /// Whether to keep where the solver is now. Asked after each poll, also after one that broke, with the same progress;
    /// so it should be cheap.
    fn wants_snapshot(&mut self, _progress: &Progress) -> bool {
        false
    }

    /// Receives where the solver is, when it was wanted and the solver can tell.
    fn keep_snapshot(&mut self, _snapshot: Snapshot) {}
}

impl SnapshotControl for Unattended {}

impl<F: FnMut(Progress) -> ControlFlow<Stop> + Send> SnapshotControl for F {}

impl SnapshotControl for Unkept<'_> {}

/// Polls, and hands over a snapshot where one is wanted.
///
/// In this order, so that a control that breaks can be sure to be asked whether it wants to keep what is given up.
pub(super) fn poll_keeping(
    control: &mut dyn SnapshotControl,
    progress: Progress,
    snapshot: impl FnOnce() -> Snapshot,
) -> ControlFlow<Stop> {
    let answer = control.poll(progress);
    if control.wants_snapshot(&progress) {
        control.keep_snapshot(snapshot());
    }
    answer
}

/// A feasible point next to `alpha`: clipped into the bounds and, with a coupled sum, balanced.
///
/// What lies within rounding of its upper bound is put there. The class that is too heavy gives up its excess by a factor
/// on its variables between the bounds first: those at a bound most likely belong there, also in the related problem.
/// With a sum for either sign ([`Coupling::BySign`]) each of the two is brought to its own.
pub(super) fn feasible(problem: &DualProblem<'_>, alpha: &[f64]) -> Vec<f64> {
    if alpha.len() != problem.len() {
        return problem.start().to_vec();
    }
    let clipped = |(&alpha, &upper): (&f64, &f64)| {
        if !(alpha > 0.0 && alpha.is_finite()) {
            0.0
        } else if alpha >= upper * (1.0 - NEXT_TO_BOUND) {
            upper
        } else {
            alpha
        }
    };
    let mut alpha: Vec<f64> = alpha.iter().zip(problem.upper()).map(clipped).collect();
    match problem.coupling() {
        Coupling::None => alpha,
        Coupling::All => {
            balance(problem, &mut alpha);
            alpha
        }
        Coupling::BySign => {
            let is_met = [1.0, -1.0].into_iter().all(|sign| bring_to_sum(problem, &mut alpha, sign));
            if is_met { alpha } else { problem.start().to_vec() }
        }
    }
}

/// Brings the sum of the α of one sign to what it is at the problem's own start: by a factor on those between their bounds, or, where the
/// sum is too small, on the room that is left. Whether that was possible.
fn bring_to_sum(problem: &DualProblem<'_>, alpha: &mut [f64], sign: f64) -> bool {
    let group: Vec<usize> = (0..alpha.len()).filter(|&i| problem.signs()[i] == sign).collect();
    let sum = |alpha: &[f64], chosen: &dyn Fn(usize) -> bool| -> f64 {
        group.iter().filter(|&&i| chosen(i)).map(|&i| alpha[i]).sum()
    };
    let wanted = sum(problem.start(), &|_| true);
    let excess = sum(alpha, &|_| true) - wanted;
    let bounded: Vec<bool> = alpha.iter().zip(problem.upper()).map(|(alpha, upper)| alpha >= upper).collect();
    if excess > 0.0 {
        let mass = sum(alpha, &|i| !bounded[i]);
        let factor = ((mass - excess) / mass).max(0.0);
        group.iter().filter(|&&i| !bounded[i]).for_each(|&i| alpha[i] *= factor);
    } else if excess < 0.0 {
        let room: f64 = group.iter().map(|&i| problem.upper()[i] - alpha[i]).sum();
        let part = (-excess / room).min(1.0);
        group.iter().for_each(|&i| alpha[i] += part * (problem.upper()[i] - alpha[i]));
    }
    (sum(alpha, &|_| true) - wanted).abs() <= MISSED_SUM * wanted && alpha.iter().all(|alpha| alpha.is_finite())
}

/// The part of a sum that may be missed when it is brought to a value: rounding.
const MISSED_SUM: f64 = 1e-12;

/// Lowers the α of the heavier sign until `Σ s_i α_i` is what it is at the problem's own start: 0, but for one class. Where there are
/// none to lower, those of the other sign are raised, in proportion to the room that they have.
fn balance(problem: &DualProblem<'_>, alpha: &mut [f64]) {
    let signed_sum =
        |alpha: &[f64]| -> f64 { alpha.iter().zip(problem.signs()).map(|(alpha, sign)| alpha * sign).sum() };
    let sum = signed_sum(alpha) - signed_sum(problem.start());
    let (heavier, mut excess) = (sum.signum(), sum.abs());
    let bounded: Vec<bool> = alpha.iter().zip(problem.upper()).map(|(alpha, upper)| alpha >= upper).collect();
    for at_bound in [false, true] {
        let chosen = |i: usize| problem.signs()[i] == heavier && bounded[i] == at_bound;
        let mass: f64 = (0..alpha.len()).filter(|&i| chosen(i)).map(|i| alpha[i]).sum();
        if excess > 0.0 && mass > 0.0 {
            let factor = ((mass - excess) / mass).max(0.0);
            (0..alpha.len()).filter(|&i| chosen(i)).for_each(|i| alpha[i] *= factor);
            excess = (excess - mass).max(0.0);
        }
    }
    let room = |alpha: &[f64], i: usize| {
        if problem.signs()[i] == heavier { 0.0 } else { (problem.upper()[i] - alpha[i]).clamp(0.0, f64::MAX) }
    };
    let total: f64 = (0..alpha.len()).map(|i| room(alpha, i)).sum();
    if excess > 0.0 && total > 0.0 {
        let part = (excess / total).min(1.0);
        (0..alpha.len()).for_each(|i| alpha[i] = (alpha[i] + part * room(alpha, i)).min(problem.upper()[i]));
    }
}

/// The part of its bound by which a variable may miss it and still be put there.
const NEXT_TO_BOUND: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Gram, KernelFunction, Linear, Points};
    use crate::problem::DualParts;
    use crate::workers::Workers;

    fn with_problem(upper: Vec<f64>, coupling: Coupling, work: impl FnOnce(&DualProblem<'_>)) {
        let n = upper.len();
        let signs = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        with_signs(signs, vec![0.0; n], upper, coupling, work);
    }

    fn with_signs(
        signs: Vec<f64>,
        start: Vec<f64>,
        upper: Vec<f64>,
        coupling: Coupling,
        work: impl FnOnce(&DualProblem<'_>),
    ) {
        let n = upper.len();
        let points = Points::new(Matrix::dense(n, 1, vec![1.0; n]).unwrap(), false);
        let (kernel, workers) = (KernelFunction::Linear(Linear {}), Workers::none());
        let parts = DualParts {
            gram: Gram::new(&kernel, &points, &workers),
            rows: (0..n).collect(),
            signs,
            linear: vec![-1.0; n],
            upper,
            ridge: vec![0.0; n],
            coupling,
            start,
        };
        work(&DualProblem::new(parts).unwrap());
    }

    #[test]
    fn free_variables_give_up_the_excess_before_those_at_their_bound() {
        with_problem(vec![1.0; 6], Coupling::All, |problem| {
            // The even ones weigh 1 + 0.5 + 0.5, the odd ones 1.5.
            assert_eq!(feasible(problem, &[1.0, 1.0, 0.5, 0.5, 0.5, 0.0]), [1.0, 1.0, 0.25, 0.5, 0.25, 0.0]);
            // Where they do not have enough, those at a bound give too.
            assert_eq!(feasible(problem, &[1.0, 0.5, 1.0, 0.0, 0.5, 0.0]), [0.25, 0.5, 0.25, 0.0, 0.0, 0.0]);
            assert_eq!(feasible(problem, &[1.0, 0.0, 0.5, 0.0, 0.0, 0.0]), [0.0; 6]);
        });
    }

    #[test]
    fn one_class_keeps_the_sum_that_its_own_start_has() {
        let (signs, start, upper) = (vec![1.0; 4], vec![1.0, 1.0, 0.0, 0.0], vec![1.0; 4]);
        with_signs(signs, start, upper, Coupling::All, |problem| {
            assert_eq!(feasible(problem, &[1.0, 0.5, 0.5, 0.0]), [1.0, 0.5, 0.5, 0.0]);
            assert_eq!(feasible(problem, &[1.0, 1.0, 0.5, 0.5]), [1.0, 1.0, 0.0, 0.0], "too much: the free ones give");
            assert_eq!(feasible(problem, &[1.0, 0.0, 0.0, 0.0]), [1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0], "too little");
            assert_eq!(feasible(problem, &[0.0; 4]), [0.5; 4]);
        });
    }

    #[test]
    fn with_a_sum_for_either_sign_each_is_brought_to_its_own() {
        let signs = vec![1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let start = vec![1.0, 1.0, 0.5, 0.5, 0.0, 0.0];
        with_signs(signs, start.clone(), vec![1.0; 6], Coupling::BySign, |problem| {
            assert_eq!(feasible(problem, &[0.5, 1.0, 0.5, 0.25, 0.5, 0.25]), [0.5, 1.0, 0.5, 0.25, 0.5, 0.25]);
            // The even ones are too heavy, the odd ones too light.
            assert_eq!(feasible(problem, &[1.0, 1.0, 0.5, 0.0, 0.5, 0.0]), [1.0, 1.0, 0.25, 0.25, 0.25, 0.25]);
            assert_eq!(feasible(problem, &[1.0; 6]), start, "nothing between the bounds can give");
            assert_eq!(feasible(problem, &[1.0]), start);
        });
    }

    #[test]
    fn whatever_is_no_start_becomes_one() {
        with_problem(vec![1.0, 1.0, f64::INFINITY, f64::INFINITY], Coupling::None, |problem| {
            assert_eq!(feasible(problem, &[f64::NAN, -1.0, 5.0, f64::INFINITY]), [0.0, 0.0, 5.0, 0.0]);
            assert_eq!(feasible(problem, &[3.0, 1.0 - 1e-15, 0.0, 0.0]), [1.0, 1.0, 0.0, 0.0]);
            assert_eq!(feasible(problem, &[3.0]), [0.0; 4]);
        });
    }

    proptest! {
        #[test]
        fn a_start_is_always_within_its_bounds_and_balanced(
            upper in prop::collection::vec(1e-3..1e3f64, 2..12),
            alpha in prop::collection::vec(-1.0..2e3f64, 12),
        ) {
            let alpha = &alpha[..upper.len()];
            with_problem(upper.clone(), Coupling::All, |problem| {
                let found = feasible(problem, alpha);
                let sum: f64 = found.iter().zip(problem.signs()).map(|(alpha, sign)| alpha * sign).sum();
                let size: f64 = found.iter().sum();
                // What is left of large numbers that were lowered is known to the digits that these had.
                let rounding = 1e-15 * upper.iter().sum::<f64>();
                assert!(sum.abs() <= 1e-12 * size.max(1e-3) + rounding, "{found:?}");
                assert!(found.iter().zip(&upper).all(|(&alpha, &upper)| (0.0..=upper).contains(&alpha)));
            });
        }
    }
}
