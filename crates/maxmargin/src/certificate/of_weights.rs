//! A dual point for weights that came without dual variables, such as those of a stream, so that they can be certified.
//!
//! ```text
//! c_i = t ĉ_i,   ĉ_i the coefficient of (R.2) or (R.3) at f_i = ⟨w, x_i⟩ + b,   Σ ĉ_i = 0 with an explicit b        (W.1)
//! ```
//!
//! Every t from 0 to 1 gives a feasible point of the dual, and so a bound on the optimum; the best t is taken. At the optimum of a smooth
//! loss ĉ is optimal for the dual. A loss with a corner does not determine the coefficient of a row on the margin, so several
//! sharpnesses of (R.3) are tried.

use crate::problem::{Bias, LinearProblem, MarginProblem, Passes, dot};

/// The sharpnesses σ of (R.3) that are tried, for decision values of about 1. A small one spreads coefficients over many rows near the
/// margin, a large one leaves only rows on it between their bounds.
const SHARPNESSES: [f64; 5] = [0.5, 2.0, 8.0, 32.0, 128.0];

/// Steps of the search for t. Each keeps two thirds of the interval.
const STEPS: usize = 60;

/// α of (W.1) for weights with these decision values. `None` unless the problem is linear, penalised and without a hard margin.
pub(crate) fn dual_point(problem: &MarginProblem<'_>, values: &[f64]) -> Option<Vec<f64>> {
    if !(problem.kernel().is_linear() && problem.penalised()) || problem.hard() {
        return None;
    }
    let linear = LinearProblem::of_margin(problem);
    let mut passes = Passes::new(&linear);
    let sharpnesses = if linear.loss.is_smooth() { &SHARPNESSES[..1] } else { &SHARPNESSES[..] };
    let mut best: Option<(f64, Vec<f64>)> = None;
    for sharpness in sharpnesses {
        let coefficient = |i: usize| {
            let (target, cost) = (linear.targets[i], linear.costs[i]);
            let centre = linear.loss.middle(target, cost);
            linear.loss.pull(target, cost, values[i], centre, sharpness / linear.scale()).coefficient
        };
        let mut coefficients: Vec<f64> = (0..linear.len()).map(coefficient).collect();
        if linear.bias == Bias::Explicit {
            linear.balance(&mut coefficients);
        }
        let combined = passes.combine(&coefficients);
        let mut square = dot(&combined.weights, &combined.weights);
        if linear.bias == Bias::Folded {
            square += combined.bias * combined.bias;
        }
        // (LP.2)
        let dual = |t: f64| {
            let term = |i: usize| linear.loss.dual_term(t * coefficients[i], linear.targets[i], linear.costs[i]);
            (0..linear.len()).map(term).sum::<f64>() - 0.5 * t * t * square
        };
        let t = highest(dual);
        if best.as_ref().is_none_or(|(most, _)| dual(t) > *most) {
            let alpha = coefficients.iter().zip(problem.signs()).map(|(c, sign)| t * c * sign).collect();
            best = Some((dual(t), alpha));
        }
    }
    best.map(|(_, alpha)| alpha)
}

/// The t from 0 to 1 at which a concave function is largest.
fn highest(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        if function(low + third) < function(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    let middle = 0.5 * (low + high);
    // The search by thirds never reaches the end of the interval.
    if function(1.0) >= function(middle) { 1.0 } else { middle }
}
