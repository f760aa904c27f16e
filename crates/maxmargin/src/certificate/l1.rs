//! How good a solution with the L1 norm is.
//!
//! ```text
//! primal = ‖w‖₁ + Σ C_i ℓ(y_i f(x_i))  ≥  optimum  ≥  dual = Σ_i (P.3)_i at s c                        (C.3)
//! ```
//!
//! c are the solution's coefficients `α_i y_i`, clipped to their bounds and, with an explicit bias, balanced to the sum 0. The factor s
//! makes them feasible and the dual as large as possible (N.4). By (N.3) the dual is a bound.

use std::borrow::Cow;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Certificate, Evidence, Sums, decision_values, gap_between, relative_gap};
use crate::problem::{Bias, Decision, LinearProblem, MarginProblem, Passes, Solution, dual_point, largest_product};

/// How many columns a model with the L1 norm uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ColumnCounts {
    /// Columns with a weight other than 0.
    pub used: usize,
    /// Columns with the weight 0.
    pub unused: usize,
}

/// Certifies a solution with the L1 norm.
///
/// Cost: three passes over the rows.
pub(super) fn certify(problem: &MarginProblem<'_>, solution: &Solution, tolerance: f64) -> Evidence {
    let (Decision::Linear { weights, bias }, Some(alpha)) = (&solution.decision, &solution.alpha) else {
        return Evidence::None("the method minimises no objective".into());
    };
    let values = match &solution.decision_values {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(decision_values(problem, &solution.decision)),
    };
    let (linear, signs, costs) = (LinearProblem::of_margin(problem), problem.signs(), problem.costs());
    let mut passes = Passes::new(&linear);

    let folded = if problem.bias() == Bias::Folded { *bias } else { 0.0 };
    let norm = weights.iter().map(|weight| weight.abs()).sum::<f64>() + folded.abs();
    let square = weights.iter().map(|weight| weight * weight).sum::<f64>() + folded * folded;
    let clipped: Vec<f64> =
        alpha.iter().zip(costs).map(|(alpha, &cost)| alpha.clamp(0.0, problem.loss().dual_bound(cost))).collect();
    let sums = Sums::over(problem, &values, None, &clipped, &clipped, tolerance);
    let primal = norm + sums.losses; // (C.3)
    let mut coefficients: Vec<f64> = clipped.iter().zip(signs).map(|(alpha, sign)| alpha * sign).collect();
    let mut infeasibility = alpha.iter().zip(&clipped).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if problem.bias() == Bias::Explicit {
        infeasibility = infeasibility.max(coefficients.iter().sum::<f64>().abs());
        linear.balance(&mut coefficients);
    }
    let combined = passes.combine(&coefficients);
    infeasibility = infeasibility.max(largest_product(problem.bias(), &combined) - 1.0);
    let dual = dual_point(&linear, &coefficients, &combined).value; // (C.3)

    let violation = violation(&linear, &mut passes, weights, *bias, &values);
    let gap = gap_between(primal, dual);
    let used = weights.iter().filter(|weight| **weight != 0.0).count();
    Evidence::Certificate(Certificate {
        primal,
        dual,
        gap,
        relative_gap: relative_gap(gap, primal),
        violation,
        infeasibility,
        margin: 1.0 / square.sqrt(),
        slack_sum: sums.slack,
        counts: sums.counts,
        columns: Some(ColumnCounts { used, unused: weights.len() - used }),
    })
}

/// The largest component of the smallest subgradient of the primal
///
/// ```text
/// w_j ≠ 0: |sign(w_j) − r_j|,   w_j = 0: max(0, |r_j| − 1),   explicit b: |Σ c_i|                          (C.4)
/// ```
///
/// with the coefficients c of the decision values and `r_j = Σ_i c_i x_ij`.
fn violation(
    linear: &LinearProblem<'_>,
    passes: &mut Passes<'_, '_>,
    weights: &[f64],
    bias: f64,
    values: &[f64],
) -> f64 {
    let pulls: Vec<f64> = (0..linear.len())
        .map(|i| linear.loss.pull(linear.targets[i], linear.costs[i], values[i], 0.0, 1.0).coefficient)
        .collect();
    let products = passes.combine(&pulls);
    let of_column = |weight: f64, product: f64| match weight {
        0.0 => (product.abs() - 1.0).max(0.0),
        weight => (weight.signum() - product).abs(),
    };
    let of_bias = match linear.bias {
        Bias::Explicit => products.bias.abs(),
        Bias::Folded => of_column(bias, products.bias),
        Bias::None => 0.0,
    };
    weights.iter().zip(&products.weights).map(|(&w, &r)| of_column(w, r)).fold(of_bias, f64::max)
}
