//! Newton's direction in the weights of a linear problem, shared by the losses.
//!
//! ```text
//! (P + Σ_i h_i x_i x_i′) d = −g                                         (MX.3)
//! ```
//!
//! P is diagonal, with a 1 for each penalised weight; the last weight is b unless there is none.

use std::ops::ControlFlow;

use super::cholesky::{self, Factor};
use super::scatter::Scatter;
use crate::control::Stop;
use crate::data::Matrix;
use crate::problem::{Bias, MarginProblem};
use crate::workers::Workers;

/// Bytes that [`direction`] needs for this many columns: a matrix and its factor.
pub(super) fn bytes(columns: usize) -> u64 {
    let size = columns as u64 + 1;
    size.saturating_mul(size).saturating_mul(16)
}

/// The diagonal of P.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ridge {
    /// Of every weight.
    pub(super) weights: f64,
    /// Of b; `None` where there is none.
    pub(super) bias: Option<f64>,
}

impl Ridge {
    /// 1 for what a problem penalises.
    pub(super) fn of(problem: &MarginProblem<'_>) -> Self {
        let penalty = if problem.penalised() { 1.0 } else { 0.0 };
        let bias = match problem.bias() {
            Bias::Explicit => Some(0.0),
            Bias::Folded => Some(penalty),
            Bias::None => None,
        };
        Ridge { weights: penalty, bias }
    }
}

/// d of (MX.3), with the smallest ridge that makes the matrix positive; `None` when none does or d is not finite.
pub(super) fn direction(
    matrix: &Matrix,
    rows: &[usize],
    workers: &Workers,
    ridge: Ridge,
    curvatures: &[f64],
    gradient: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Vec<f64>>> {
    let factor = factor(matrix, rows, workers, ridge, curvatures, poll)?;
    ControlFlow::Continue(factor.and_then(|factor| {
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        factor.solve(&mut direction); // (MX.3)
        direction.iter().all(|value| value.is_finite()).then_some(direction)
    }))
}

/// The matrix of (MX.3), factored with the smallest ridge that makes it positive.
pub(super) fn factor(
    matrix: &Matrix,
    rows: &[usize],
    workers: &Workers,
    ridge: Ridge,
    curvatures: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Factor>> {
    let (columns, constant) = (matrix.columns(), ridge.bias.is_some());
    let mut hessian = Scatter { matrix, rows, weights: curvatures, constant, centres: None, workers }.lower(poll)?;
    (0..columns).for_each(|j| hessian[(j, j)] += ridge.weights);
    if let Some(bias) = ridge.bias {
        hessian[(columns, columns)] += bias;
    }
    let column = |j: usize, out: &mut [f64]| out.copy_from_slice(&hessian.col_as_slice(j)[j..]);
    cholesky::factor(hessian.ncols(), &column, 0.0, workers, poll)
}
