//! The mode of the coefficients for given precisions, by Newton's method (iteratively reweighted least squares).

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::super::cholesky::{self, Factor};
use super::super::dot;
use super::super::line_search::slope_step;
use super::columns::Columns;
use crate::control::Stop;
use crate::problem::{Loss, MarginProblem};
use crate::workers::Workers;

/// The most steps to a mode.
const MAX_STEPS: usize = 100;
/// What a last step may gain, relative to the objective.
const LAST_GAIN: f64 = 1e-18;
/// What it may gain where the line search has no digits left.
const STALLED_GAIN: f64 = 1e-9;
/// Columns of H that one thread computes at a time.
const COLUMNS_A_THREAD: usize = 16;
/// Multiplications from which on threads are woken.
const WORTH_A_THREAD: usize = 1 << 18;

/// The minimum of (RV.1) and what (RV.2) needs of it.
pub(super) struct Mode {
    /// b where the bias is explicit, then a coefficient for each basis function.
    pub(super) weights: Vec<f64>,
    /// r of (RV.4)
    pub(super) pulls: Vec<f64>,
    /// The diagonal of B.
    pub(super) curvatures: Vec<f64>,
    /// That of H.
    pub(super) factor: Factor,
    /// (RV.2); an explicit b has no prior, and adds nothing for one.
    pub(super) log_evidence: f64,
    /// The largest component of the gradient of (RV.1).
    pub(super) gradient: f64,
}

impl Mode {
    /// The diagonal of Σ = H⁻¹.
    pub(super) fn variances(&self) -> Vec<f64> {
        let size = self.weights.len();
        let variance = |j: usize| {
            let mut unit = vec![0.0; size];
            unit[j] = 1.0;
            self.factor.solve_lower(&mut unit);
            dot(&unit, &unit)
        };
        (0..size).map(variance).collect()
    }
}

/// Finds the mode from a start; `None` when there is none in this arithmetic.
pub(super) fn find(
    problem: &MarginProblem<'_>,
    columns: &Columns<'_, '_>,
    precisions: &[f64],
    start: Vec<f64>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Mode>> {
    let (signs, costs, rows) = (problem.signs(), problem.costs(), problem.len());
    let count = start.len();
    let ridge: Vec<f64> = vec![0.0; columns.constants()].into_iter().chain(precisions.iter().copied()).collect();
    let mut weights = start;
    let mut values = product(columns.values(), rows, &weights);
    for step in 0..MAX_STEPS {
        poll()?;
        let pulls: Vec<f64> =
            (0..rows).map(|i| signs[i] * Loss::Logistic.dual_of_margin(signs[i] * values[i], costs[i])).collect();
        let curvature = |i: usize| {
            let power = (-values[i].abs()).exp(); // σ(f) σ(−f) without cancellation
            costs[i] * power / ((1.0 + power) * (1.0 + power))
        };
        let curvatures: Vec<f64> = (0..rows).map(curvature).collect();
        let gradient: Vec<f64> = (0..count)
            .map(|j| ridge[j] * weights[j] - dot(&columns.values()[j * rows..(j + 1) * rows], &pulls))
            .collect();
        let hessian = hessian(columns.values(), rows, &curvatures, &ridge, problem.workers());
        let column = |j: usize, out: &mut [f64]| out.copy_from_slice(&hessian[j * count + j..(j + 1) * count]);
        let Some(factor) = cholesky::factor(count, &column, 0.0, problem.workers(), poll)? else {
            return ControlFlow::Continue(None);
        };
        let mut direction: Vec<f64> = gradient.iter().map(|value| -value).collect();
        factor.solve(&mut direction);
        let decrease = -dot(&gradient, &direction);
        let energy =
            |values: &[f64]| (0..rows).map(|i| costs[i] * Loss::Logistic.value(signs[i] * values[i])).sum::<f64>();
        let squares: f64 = ridge.iter().zip(&weights).map(|(a, w)| a * w * w).sum();
        let objective = energy(&values) + 0.5 * squares; // (RV.1)
        if !(decrease.is_finite() && objective.is_finite()) {
            return ControlFlow::Continue(None);
        }
        let done = decrease <= LAST_GAIN * objective.max(1.0);
        let change = product(columns.values(), rows, &direction);
        let (along, square): (f64, f64) = (
            (0..count).map(|j| ridge[j] * weights[j] * direction[j]).sum(),
            (0..count).map(|j| ridge[j] * direction[j] * direction[j]).sum(),
        );
        let at = |step: f64| {
            let (mut value, mut slope) =
                (0.5 * squares + step * along + 0.5 * step * step * square, along + step * square);
            for i in 0..rows {
                let margin = signs[i] * (values[i] + step * change[i]);
                value += costs[i] * Loss::Logistic.value(margin);
                slope -= Loss::Logistic.dual_of_margin(margin, costs[i]) * signs[i] * change[i];
            }
            (value, slope)
        };
        let length = if done { None } else { slope_step((objective, -decrease), at) };
        let near = done || decrease <= STALLED_GAIN * objective.max(1.0);
        match length {
            Some(length) if step + 1 < MAX_STEPS => {
                weights.iter_mut().zip(&direction).for_each(|(weight, change)| *weight += length * change);
                values = product(columns.values(), rows, &weights);
            }
            _ if near => {
                let logarithms: f64 = precisions.iter().map(|precision| precision.ln()).sum();
                let diagonal = (0..count).map(|j| factor.lower()[(j, j)].ln()).sum::<f64>();
                let log_evidence = -objective + 0.5 * logarithms - diagonal; // (RV.2)
                let gradient = gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                let mode = Mode { weights, pulls, curvatures, factor, log_evidence, gradient };
                return ControlFlow::Continue(log_evidence.is_finite().then_some(mode));
            }
            _ => return ControlFlow::Continue(None),
        }
    }
    ControlFlow::Continue(None)
}

/// Φ times a vector.
fn product(columns: &[f64], rows: usize, weights: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; rows];
    for (column, weight) in columns.chunks(rows).zip(weights) {
        out.iter_mut().zip(column).for_each(|(out, value)| *out += weight * value);
    }
    out
}

/// H of (RV.2), column after column.
fn hessian(columns: &[f64], rows: usize, curvatures: &[f64], ridge: &[f64], workers: &Workers) -> Vec<f64> {
    let count = ridge.len();
    let alone = Workers::none();
    let workers = if rows * count * count > WORTH_A_THREAD { workers } else { &alone };
    let left = MatRef::from_column_major_slice(columns, rows, count);
    let mut out = vec![0.0; count * count];
    workers.fill_chunks(&mut out, COLUMNS_A_THREAD * count.max(1), |start, chunk| {
        let (first, width) = (start / count, chunk.len() / count);
        let own = &columns[first * rows..(first + width) * rows];
        let weighted: Vec<f64> = own
            .chunks(rows)
            .flat_map(|column| column.iter().zip(curvatures).map(|(value, curvature)| value * curvature))
            .collect();
        let right = MatRef::from_column_major_slice(&weighted, rows, width);
        let target = MatMut::from_column_major_slice_mut(chunk, count, width);
        matmul(target, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
    });
    (0..count).for_each(|j| out[j * count + j] += ridge[j]);
    out
}
