//! Newton's direction in the weights of a linear problem, shared by the losses.
//!
//! ```text
//! (P + Σ_i h_i x_i x_i′) d = −g                                         (H.3)
//! ```
//!
//! P has a 1 on the diagonal for each penalised weight; the last weight is b unless there is none.

use std::ops::ControlFlow;

use super::cholesky;
use super::scatter::Scatter;
use crate::control::Stop;
use crate::problem::{Bias, MarginProblem};

/// Bytes that [`direction`] needs: a matrix and its factor.
pub(super) fn bytes(problem: &MarginProblem<'_>) -> u64 {
    let size = problem.points().matrix().columns() as u64 + 1;
    size.saturating_mul(size).saturating_mul(16)
}

/// d of (H.3), with the smallest ridge that makes the matrix positive; `None` when none does or d is not finite.
pub(super) fn direction(
    problem: &MarginProblem<'_>,
    curvatures: &[f64],
    gradient: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Vec<f64>>> {
    let matrix = problem.points().matrix();
    let scatter = Scatter {
        matrix,
        rows: problem.rows(),
        weights: curvatures,
        constant: problem.bias() != Bias::None,
        centres: None,
        workers: problem.workers(),
    };
    let mut hessian = scatter.lower(poll)?;
    let penalised = match (problem.penalised(), problem.bias()) {
        (false, _) => 0,
        (true, Bias::Folded) => hessian.ncols(),
        (true, _) => matrix.columns(),
    };
    (0..penalised).for_each(|j| hessian[(j, j)] += 1.0);
    let column = |j: usize, out: &mut [f64]| out.copy_from_slice(&hessian.col_as_slice(j)[j..]);
    let factor = cholesky::factor(hessian.ncols(), &column, 0.0, problem.workers(), poll)?;
    ControlFlow::Continue(factor.and_then(|factor| {
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        factor.solve(&mut direction); // (H.3)
        direction.iter().all(|value| value.is_finite()).then_some(direction)
    }))
}
