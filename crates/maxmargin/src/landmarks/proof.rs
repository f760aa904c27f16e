//! How far a machine on landmarks is from the exact one: (LM.1).

use std::ops::ControlFlow;

use super::Proof;
use crate::control::Stop;
use crate::problem::{Bias, MarginProblem};

/// Kernel values between two polls.
const VALUES_A_POLL: usize = 1 << 22;
/// Rows of a kernel without fast products between two polls.
const ROWS_A_POLL: usize = 256;
/// Steps of the search for t. Each keeps two thirds of the interval.
const STEPS: usize = 100;

/// (LM.1) for a machine whose objective in the exact problem is `primal`, by any coefficients: they are clipped to their bounds and, with an
/// explicit bias, balanced.
///
/// Cost: a kernel value for each pair of rows whose coefficient is not 0.
pub(crate) fn prove(
    problem: &MarginProblem<'_>,
    primal: f64,
    coefficients: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Proof> {
    let (targets, costs, signs, loss) = (problem.targets(), problem.costs(), problem.signs(), problem.row_loss());
    let mut alpha: Vec<f64> =
        (0..problem.len()).map(|i| signs[i] * loss.clipped(coefficients[i], targets[i], costs[i])).collect();
    if problem.bias() == Bias::Explicit {
        problem.balance(&mut alpha);
    }
    let active: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] != 0.0).collect();
    let rows: Vec<usize> = active.iter().map(|&i| problem.rows()[i]).collect();
    let own: Vec<f64> = active.iter().map(|&i| alpha[i] * signs[i]).collect();
    let sums = products(problem, &rows, &own, poll)?;
    let square = own.iter().zip(sums).map(|(c, u)| c * u).sum::<f64>().max(0.0);
    // Rows without a coefficient add nothing: the conjugate of a loss is 0 there.
    let terms =
        |t: f64| active.iter().zip(&own).map(|(&i, c)| loss.dual_term(t * c, targets[i], costs[i])).sum::<f64>();
    let dual = highest(|t| terms(t) - 0.5 * t * t * square); // (LM.1)
    let gap = primal - dual;
    // A difference that rounding alone puts below 0 is 0. One further below is a fault, and is shown.
    let gap = if gap < 0.0 && gap > -ROUNDING * primal.abs() { 0.0 } else { gap };
    let relative_gap = if gap == 0.0 { 0.0 } else { gap / primal.abs() };
    ControlFlow::Continue(Proof { dual, gap, relative_gap })
}

/// The part of the objective that rounding may take off its difference from the dual.
const ROUNDING: f64 = 1e-9;

/// `Σ_j c_j k(x_i, x_j)` for rows and their coefficients.
fn products(
    problem: &MarginProblem<'_>,
    rows: &[usize],
    coefficients: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Vec<f64>> {
    let gram = problem.gram();
    if gram.kernel().of_dots().is_some() {
        return gram.symmetric_product(rows, coefficients, VALUES_A_POLL, poll);
    }
    let mut sums = Vec::with_capacity(rows.len());
    for part in rows.chunks(ROWS_A_POLL) {
        poll()?;
        sums.extend(gram.product(part, rows, coefficients));
    }
    ControlFlow::Continue(sums)
}

/// The largest value of a concave function between 0 and 1.
fn highest(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if function(a) < function(b) { low = a } else { high = b }
    }
    function(0.5 * (low + high)).max(function(1.0)).max(function(0.0))
}
