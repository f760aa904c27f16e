//! A better decision function from the decision values that a solution has: no kernel value is computed.
//!
//! ```text
//! f(x) = t Σ c_i k(x_i, x) + b′,   1 ≤ t as the bounds allow                                          (C.6)
//! ```
//!
//! t maximises the dual objective of `t c`, and b′ minimises the primal. A search that stops at a violation of v leaves about v of the
//! objective along that ray, and its b is an average. Both are improved here before the search goes on.
//!
//! Where the classes can be separated and C is so large that any slack outweighs ‖w‖², a t and b′ without slack are better:
//!
//! ```text
//! t = 2 / (u₊ − u₋),   b′ = −t (u₊ + u₋) / 2,   u₊ = min over y = 1 of Σ c_i k(x_i, x),   u₋ = max over y = −1          (C.7)
//! ```

use std::ops::Range;

use crate::problem::{Bias, Decision, MarginProblem, RowLoss, Solution};

/// Steps of the search for t. Each keeps two thirds of the interval, so that 60 leave 3e-11 of it.
const STEPS_OF_SCALE: usize = 60;

/// Steps of the search for b. Each halves the interval.
const STEPS_OF_BIAS: usize = 120;

/// Rows whose slopes one thread adds up at a time.
const ROWS_A_CHUNK: usize = 8192;

/// The largest t that is tried. A solution that would need more is far from its optimum and has to be searched on.
const LARGEST_SCALE: f64 = 2.0;

/// The error of decision values that (C.7) allows for, as a part of the margin.
const ROUNDING: f64 = 1e-10;

/// Replaces the solution's function by (C.6) or (C.7). `false` where the solution has no decision values or no coefficients.
pub(crate) fn tighten(problem: &MarginProblem<'_>, solution: &mut Solution) -> bool {
    let Solution { decision, alpha: Some(alpha), decision_values: Some(values), .. } = solution else { return false };
    let (loss, costs, targets) = (problem.row_loss(), problem.costs(), problem.targets());
    let coefficients: Vec<f64> = match decision {
        Decision::Expansion { coefficients, .. } => coefficients.clone(),
        Decision::Linear { .. } if loss == RowLoss::Hinge => alpha.iter().zip(targets).map(|(a, y)| a * y).collect(),
        Decision::Linear { .. } => return false,
    };
    let (Decision::Expansion { coefficients: numbers, bias } | Decision::Linear { weights: numbers, bias }) = decision;
    // A folded bias is part of the sum and is scaled with it.
    let is_apart = problem.bias() == Bias::Explicit;
    let sums: Vec<f64> = values.iter().map(|value| if is_apart { value - *bias } else { *value }).collect();
    let square: f64 = coefficients.iter().zip(&sums).map(|(c, u)| c * u).sum();
    let room =
        (0..sums.len()).filter(|&i| coefficients[i] != 0.0).map(|i| loss.bound(costs[i]) / coefficients[i].abs());
    // One class has a fixed sum of coefficients, so t stays 1.
    let largest = if problem.pull_on_bias() > 0.0 { 1.0 } else { room.fold(LARGEST_SCALE, f64::min) };
    let dual = |t: f64| {
        let terms = (0..sums.len()).map(|i| loss.dual_term(t * coefficients[i], targets[i], costs[i]));
        terms.sum::<f64>() - 0.5 * t * t * square
    };
    let scale = if largest > 1.0 { highest(1.0, largest, dual) } else { 1.0 };
    let scaled: Vec<f64> = sums.iter().map(|u| scale * u).collect();
    let own = if is_apart { best_bias(problem, &scaled) } else { 0.0 };
    let gap = |(t, b): (f64, f64)| {
        let cost = |i: usize| costs[i] * loss.value(targets[i], t * sums[i] + b);
        0.5 * t * t * square + problem.pull_on_bias() * b + (0..sums.len()).map(cost).sum::<f64>() - dual(t)
    };
    let free = without_slack(problem, &sums).filter(|&(t, b)| t <= largest && gap((t, b)) < gap((scale, own)));
    let (scale, shift) = free.unwrap_or((scale, own));
    numbers.iter_mut().chain(alpha.iter_mut()).for_each(|number| *number *= scale);
    *bias = if is_apart { shift } else { scale * *bias };
    values.iter_mut().zip(&sums).for_each(|(value, u)| *value = scale * u + shift);
    true
}

/// (C.7): the least t with its b for which no row has slack. `None` where t would be below 1, or the loss is not the hinge.
fn without_slack(problem: &MarginProblem<'_>, sums: &[f64]) -> Option<(f64, f64)> {
    if problem.row_loss() != RowLoss::Hinge {
        return None;
    }
    let (above, below) =
        sums.iter().zip(problem.targets()).fold((f64::INFINITY, f64::NEG_INFINITY), |(above, below), (&u, &target)| {
            if target > 0.0 { (above.min(u), below) } else { (above, below.max(u)) }
        });
    let (half, middle) = match problem.bias() {
        Bias::Explicit => (0.5 * (above - below), 0.5 * (above + below)),
        Bias::Folded | Bias::None => (above.min(-below), 0.0),
    };
    // Scaled up by ROUNDING, so that an error in the last digits of a decision value is no slack.
    let scale = (1.0 + ROUNDING) / half;
    let is_sensible = half > 0.0 && (1.0..=LARGEST_SCALE).contains(&scale);
    is_sensible.then_some((scale, -scale * middle))
}

/// The argument between `low` and `high` at which a concave function is largest.
fn highest(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS_OF_SCALE {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if function(a) < function(b) { low = a } else { high = b }
    }
    0.5 * (low + high)
}

/// The b that minimises `qb + Σ C_i ℓ(u_i + b, t_i)`: the slope changes sign there.
pub(crate) fn best_bias(problem: &MarginProblem<'_>, sums: &[f64]) -> f64 {
    let (loss, costs, targets, pull) = (problem.row_loss(), problem.costs(), problem.targets(), problem.pull_on_bias());
    let wanted = |i: usize| if loss == RowLoss::OneClass { -sums[i] } else { targets[i] - sums[i] };
    let ends = (0..sums.len())
        .map(wanted)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
    least_bias(ends, |b| {
        let of_rows = |rows: Range<usize>| rows.map(|i| loss.slope(targets[i], costs[i], sums[i] + b)).sum::<f64>();
        pull + problem.workers().map_chunks(sums.len(), ROWS_A_CHUNK, of_rows).iter().sum::<f64>()
    })
}

/// [`best_bias`] of the function that is b everywhere. Two classes are two rows, whose costs are those of all rows of a class.
pub(crate) fn best_constant(problem: &MarginProblem<'_>) -> f64 {
    if !problem.task().is_classification() {
        return best_bias(problem, &vec![0.0; problem.len()]);
    }
    let rows = || problem.signs().iter().zip(problem.costs());
    let [plus, minus] = [1.0, -1.0].map(|sign| rows().filter(|(own, _)| **own == sign).map(|(_, cost)| cost).sum());
    let loss = problem.row_loss();
    least_bias((-1.0, 1.0), |b| loss.slope(1.0, plus, b) + loss.slope(-1.0, minus, b))
}

/// Where the slope of a convex function changes its sign, between these ends and a little beyond.
fn least_bias((low, high): (f64, f64), slope: impl Fn(f64) -> f64) -> f64 {
    let spare = 1.0 + (high - low).abs();
    let (mut low, mut high) = (low - spare, high + spare);
    for _ in 0..STEPS_OF_BIAS {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
