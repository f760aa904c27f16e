//! A better decision function out of a solution's own numbers: no kernel value is computed.
//!
//! ```text
//! f(x) = t Σ c_i k(x_i, x) + b′,   1 ≤ t as the bounds allow                                          (C.6)
//! ```
//!
//! t is where the dual objective of `t c` is largest, b′ where the primal is least. A search that ends at a violation of v stops short of
//! the optimum along that ray by about v of the objective, and with an average b, so both are worth a look before the search goes on.

use crate::problem::{Bias, MarginProblem, RowLoss};
use crate::solver::{Decision, Solution};

/// Steps of the searches for t and b, each of which leaves two thirds, or half, of where it may be.
const STEPS_OF_SCALE: usize = 60;
const STEPS_OF_BIAS: usize = 120;

/// The largest t that is tried: a search that lacks more than this has not begun.
const LARGEST_SCALE: f64 = 2.0;

/// (C.6) in the place of the solution's own function. Only for kernel expansions whose decision values are known.
pub(crate) fn tighten(problem: &MarginProblem<'_>, solution: &mut Solution) {
    let Solution { decision, alpha: Some(alpha), decision_values: Some(values), .. } = solution else { return };
    let Decision::Expansion { coefficients, bias } = decision else { return };
    let (loss, costs, targets) = (problem.row_loss(), problem.costs(), problem.targets());
    let sums: Vec<f64> = values.iter().map(|value| value - *bias).collect();
    let square: f64 = coefficients.iter().zip(&sums).map(|(c, u)| c * u).sum();
    let room =
        (0..sums.len()).filter(|&i| coefficients[i] != 0.0).map(|i| loss.bound(costs[i]) / coefficients[i].abs());
    // One class has a sum of coefficients that is given.
    let largest = if problem.pull_on_bias() > 0.0 { 1.0 } else { room.fold(LARGEST_SCALE, f64::min) };
    let dual = |t: f64| {
        let terms = (0..sums.len()).map(|i| loss.dual_term(t * coefficients[i], targets[i], costs[i]));
        terms.sum::<f64>() - 0.5 * t * t * square
    };
    let scale = if largest > 1.0 { highest(1.0, largest, dual) } else { 1.0 };
    coefficients.iter_mut().chain(alpha.iter_mut()).for_each(|number| *number *= scale);
    let sums: Vec<f64> = sums.iter().map(|u| scale * u).collect();
    if problem.bias() == Bias::Explicit {
        *bias = best_bias(problem, &sums);
    }
    values.iter_mut().zip(&sums).for_each(|(value, u)| *value = u + *bias);
}

/// Where a concave function is highest.
fn highest(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS_OF_SCALE {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if function(a) < function(b) { low = a } else { high = b }
    }
    0.5 * (low + high)
}

/// b where `qb + Σ C_i ℓ(u_i + b, t_i)` is least: where its slope changes sign.
fn best_bias(problem: &MarginProblem<'_>, sums: &[f64]) -> f64 {
    let (loss, costs, targets) = (problem.row_loss(), problem.costs(), problem.targets());
    let slope = |b: f64| {
        let rows = (0..sums.len()).map(|i| slope(loss, targets[i], costs[i], sums[i] + b));
        problem.pull_on_bias() + rows.sum::<f64>()
    };
    let wanted = |i: usize| if loss == RowLoss::OneClass { -sums[i] } else { targets[i] - sums[i] };
    let (mut low, mut high) = (0..sums.len())
        .map(wanted)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
    let spare = 1.0 + (high - low).abs();
    (low, high) = (low - spare, high + spare);
    for _ in 0..STEPS_OF_BIAS {
        let middle = 0.5 * (low + high);
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The slope of a row's cost at its decision value; at a corner, one of those between its two sides.
fn slope(loss: RowLoss, target: f64, cost: f64, f: f64) -> f64 {
    let slack = loss.slack(target, f);
    match loss {
        RowLoss::Hinge if slack > 0.0 => -target * cost,
        RowLoss::Squared => -2.0 * target * cost * slack,
        RowLoss::Epsilon(_) if slack > 0.0 => cost * (f - target).signum(),
        RowLoss::SquaredEpsilon(_) => 2.0 * cost * slack * (f - target).signum(),
        RowLoss::OneClass | RowLoss::Ball if slack > 0.0 => -cost,
        RowLoss::Logistic => -target * cost / (1.0 + (target * f).exp()),
        RowLoss::Hinge | RowLoss::Epsilon(_) | RowLoss::OneClass | RowLoss::Ball => 0.0,
    }
}
