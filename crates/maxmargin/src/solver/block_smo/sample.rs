//! The start of a problem of one class, found from a sample of its rows.
//!
//! The problem of a sample S, each of whose rows stands for n/|S| rows,
//!
//! ```text
//! min  ½ α′Qα + p′α  over the rows of S,   0 ≤ α ≤ (n/|S|) u,   Σ α as it is                          (B.4)
//! ```
//!
//! has about the v of the whole. With one class, Σ α is so large that most support vectors end at their bounds. The start puts the rows with
//! the largest v at their bounds:
//!
//! ```text
//! α = argmax Σ_k v_k α_k,   0 ≤ α ≤ u,   Σ α as it is                                                 (B.5)
//! ```
//!
//! Each of these rows needs one kernel row; a start at arbitrary rows would need those of the arbitrary rows as well. Machines of two classes
//! and regressions begin at 0 instead, which costs nothing and is nearer to their solution.

use std::ops::ControlFlow;

use super::rows::{KernelRows, Move};
use super::{WORK_A_POLL, solve_dual};
use crate::control::{Control, Progress, Stop};
use crate::kernel::{Packable, Tiles};
use crate::problem::{Coupling, DualParts, DualProblem};
use crate::solver::Settings;
use crate::solver::start::Start;

/// One row in this many is in the sample.
const ONE_OF: usize = 8;

/// The least rows of a sample.
const LEAST_ROWS: usize = 256;

/// The tolerance of the sample's problem, in tolerances of the whole.
const LOOSER: f64 = 10.0;

/// The start (B.5) from the solution of (B.4). `None` unless the problem has one class, bounds, no ridge and enough rows, and the sample converges.
pub(super) fn start<T: Packable>(
    problem: &DualProblem<'_>,
    settings: &Settings,
    memory: u64,
    control: &mut dyn Control,
) -> Option<Start> {
    let one_sign = problem.signs().iter().all(|&sign| sign > 0.0) && problem.coupling() == Coupling::All;
    let plain = problem.ridge().iter().all(|&ridge| ridge == 0.0) && problem.upper().iter().all(|u| u.is_finite());
    if problem.len() / ONE_OF < LEAST_ROWS || !one_sign || !plain {
        return None;
    }
    let list: Vec<usize> = (0..problem.len()).step_by(ONE_OF).collect();
    let sample = sample(problem, &list)?;
    let loose = Settings { tolerance: Some(LOOSER * settings.tolerance()), ..settings.clone() };
    // The control must not see the violation of the sample as progress, nor keep its snapshots.
    let mut quiet = |_: Progress| control.poll(Progress::default());
    let found = solve_dual(&sample, &loose, memory, Start::Scratch, &mut quiet);
    if found.stop != Stop::Converged {
        return None;
    }
    let moved = list.iter().zip(&found.alpha).filter(|(_, alpha)| **alpha > 0.0);
    let moves = moved.map(|(&row, &amount)| Move { row, place: problem.rows()[row] as u32, amount });
    let values = values::<T>(problem, &moves.collect::<Vec<Move>>(), control)?;
    Some(Start::Alpha(corner(problem, &values)))
}

/// The problem (B.4).
fn sample<'a>(problem: &DualProblem<'a>, list: &[usize]) -> Option<DualProblem<'a>> {
    let scale = problem.len() as f64 / list.len() as f64;
    let some = |all: &[f64], scale: f64| -> Vec<f64> { list.iter().map(|&k| scale * all[k]).collect() };
    let parts = DualParts {
        gram: *problem.gram(),
        rows: list.iter().map(|&k| problem.rows()[k]).collect(),
        signs: some(problem.signs(), 1.0),
        linear: some(problem.linear(), 1.0),
        upper: some(problem.upper(), scale),
        ridge: some(problem.ridge(), 1.0),
        coupling: problem.coupling(),
        start: filled(&some(problem.upper(), scale), problem.start().iter().sum(), 0..list.len()),
    };
    DualProblem::new(parts).ok()
}

/// v of (B.1) for all variables; `None` at a break.
fn values<T: Packable>(problem: &DualProblem<'_>, moves: &[Move], control: &mut dyn Control) -> Option<Vec<f64>> {
    let gram = problem.gram();
    let tiles = Tiles::<T>::new(gram.kernel(), gram.points());
    let mut rows = KernelRows::new(tiles, problem.rows(), gram.workers(), 0);
    let at_once = ((WORK_A_POLL / (problem.len() as f64 * tiles.cost())) as usize).max(1);
    for part in moves.chunks(at_once) {
        if let ControlFlow::Break(_) = control.poll(Progress::default()) {
            return None;
        }
        rows.add_passing(part);
    }
    let mut values = Vec::with_capacity(problem.len());
    rows.visit(|k, sum| values.push(-(sum + problem.linear()[k as usize])));
    Some(values)
}

/// α of (B.5).
fn corner(problem: &DualProblem<'_>, values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    filled(problem.upper(), problem.start().iter().sum(), order.into_iter())
}

/// Sets variables to their bounds, in this order, until α has the sum.
fn filled(upper: &[f64], sum: f64, order: impl Iterator<Item = usize>) -> Vec<f64> {
    let (mut alpha, mut lacking) = (vec![0.0; upper.len()], sum);
    for k in order {
        alpha[k] = upper[k].min(lacking);
        lacking -= alpha[k];
    }
    alpha
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_filled_in_their_order_until_the_sum_is_there() {
        assert_eq!(filled(&[1.0, 2.0, 3.0], 4.5, [2, 0, 1].into_iter()), [1.0, 0.5, 3.0]);
        assert_eq!(filled(&[1.0, 2.0], 0.0, [1, 0].into_iter()), [0.0, 0.0]);
    }
}
