//! Where a problem of one class begins: at the corner of the box that the solution of some of the rows points to.
//!
//! A sample S, whose rows each stand for n/|S| of them,
//!
//! ```text
//! min  ½ α′Qα + p′α  over the rows of S,   0 ≤ α ≤ (n/|S|) u,   Σ α as it is                          (B.4)
//! ```
//!
//! has about the v of the whole. There, Σ α is so large that most support vectors end at their bounds, and these are the rows that
//!
//! ```text
//! α = argmax Σ_k v_k α_k,   0 ≤ α ≤ u,   Σ α as it is                                                 (B.5)
//! ```
//!
//! puts there. Each costs its kernel row once, where a start at any rows costs those of the start as well. (Machines of two classes and
//! regressions begin at 0, at no cost, and a corner is farther from their solution than that.)

use std::ops::ControlFlow;

use super::rows::{KernelRows, Move};
use super::{WORK_A_POLL, solve_dual};
use crate::control::{Control, Progress, Stop};
use crate::kernel::Tiles;
use crate::problem::{Coupling, DualParts, DualProblem};
use crate::simd::Real;
use crate::solver::Settings;
use crate::solver::start::Start;

/// A sample is one row of so many.
const ONE_OF: usize = 8;

/// Rows that a sample has at least.
const LEAST_ROWS: usize = 256;

/// How many times the tolerance a sample is solved to.
const LOOSER: f64 = 10.0;

/// (B.5) of (B.4), if that pays.
pub(super) fn start<T: Real>(
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
    // The violation of a sample is none of the whole, and its snapshots are not ours.
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

/// (B.4)
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

/// (B.1) of all variables; `None` at a break.
fn values<T: Real>(problem: &DualProblem<'_>, moves: &[Move], control: &mut dyn Control) -> Option<Vec<f64>> {
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

/// (B.5)
fn corner(problem: &DualProblem<'_>, values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    filled(problem.upper(), problem.start().iter().sum(), order.into_iter())
}

/// Bounds, in this order, until they make the sum.
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
