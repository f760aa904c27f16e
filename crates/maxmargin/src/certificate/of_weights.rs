//! A dual point out of a primal one: what weights are worth that came without dual variables, as those of a stream do.
//!
//! ```text
//! c_i = t ĉ_i,   ĉ_i the coefficient of (R.2) or (R.3) at f_i = ⟨w, x_i⟩ + b,   Σ ĉ_i = 0 with an explicit b        (W.1)
//! ```
//!
//! Every 0 ≤ t ≤ 1 gives a point that the dual allows, and so a bound on the optimum; the best one is taken. At the optimum of a smooth
//! loss ĉ is the dual's own optimum. A loss that is not smooth leaves open what a row on the margin has, so several sharpnesses of (R.3)
//! are tried.

use crate::problem::{Bias, LinearProblem, MarginProblem, Passes, dot};

/// σ of (R.3), for decision values of about 1, from rows of which nothing is known to those that are on one side or the other.
const SHARPNESSES: [f64; 5] = [0.5, 2.0, 8.0, 32.0, 128.0];

/// Steps of the search for t, each of which leaves two thirds of where it may be.
const STEPS: usize = 60;

/// α of (W.1) for weights with these decision values. `None` for what is not a linear problem with a penalty.
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

/// Where a concave function of 0 ≤ t ≤ 1 is highest.
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
    // An end that is the best is not reached by thirds.
    if function(1.0) >= function(middle) { 1.0 } else { middle }
}
