//! How far to go along a direction: to where the slope vanishes.

use crate::problem::{LinearProblem, RowState};

/// Whether a step may end where the slope is `after`. It was `before`, below 0, at the beginning.
pub(super) fn is_near_enough(before: f64, after: f64) -> bool {
    after.abs() <= ENOUGH * before.abs()
}

/// The part of its slope that a step may leave.
const ENOUGH: f64 = 0.3;
/// The most evaluations of the slope. After these the root is known to a part in 2^50.
const MOST_LOOKS: usize = 60;
/// Rows that a thread takes at a time.
const ROWS_A_CHUNK: usize = 8192;

/// The step t > 0 at which the slope is near 0
///
/// ```text
/// φ′(t) = ⟨w, d⟩ + t⟨d, d⟩ − Σ_i c_i(f_i + tδ_i) δ_i                        (PN.5)
/// ```
///
/// φ′ rises with t. A bracket is found by doubling, and the root in it by Newton's steps that stay inside. `along` and `curvature` are
/// the first two products; the values of the state are those at t = 1. Returns 1 when rounding hides the root.
pub(super) fn find(problem: &LinearProblem<'_>, state: &RowState, along: f64, curvature: f64, before: f64) -> f64 {
    let slope = |t: f64| {
        let sums = problem.workers.map_chunks(problem.len(), ROWS_A_CHUNK, |range| {
            let (mut first, mut second) = (0.0, 0.0);
            for i in range {
                let change = state.changes[i];
                let centre = state.centres.get(i).copied().unwrap_or(0.0);
                let f = state.values[i] + (t - 1.0) * change;
                let pull = problem.loss.pull(problem.targets[i], problem.costs[i], f, centre, state.sharpness);
                first += pull.coefficient * change;
                second += pull.curvature * change * change;
            }
            (first, second)
        });
        let (first, second) = sums.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        (along + t * curvature - first, curvature + second) // (PN.5)
    };
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut step = 1.0;
    for _ in 0..MOST_LOOKS {
        let (value, rise) = slope(step);
        if is_near_enough(before, value) {
            return step;
        }
        if value > 0.0 {
            high = step;
        } else if value < 0.0 {
            low = step;
        } else {
            return 1.0;
        }
        let newton = step - value / rise;
        step = match (newton > low && newton < high, high.is_finite()) {
            (true, true) => newton,
            (true, false) => newton.min(4.0 * step),
            (false, true) => 0.5 * (low + high),
            (false, false) => 2.0 * step,
        };
        if !(step > 0.0 && step.is_finite()) {
            return 1.0;
        }
    }
    if low > 0.0 { low } else { 1.0 }
}
