//! What rounding hides of a gap, and what is done about it.
//!
//! The decision values of an expansion are sums of kernel values. Where columns are far from 0, or a polynomial is steep, the terms cancel,
//! and f64 keeps few digits of the sum. A certificate made of such values is wrong by as much as
//!
//! ```text
//! Σ_i (|c_i| + C_i |ℓ′(f_i)|) |error of f_i|                                                         (C.8)
//! ```
//!
//! So the error is bounded from the sizes of rows and coefficients, then measured on a few rows with twice the digits. Where it matters, all
//! decision values are computed with twice the digits, or, where that would take too long, (C.8) is added to the gap.

use super::{Evidence, relative_gap};
use crate::kernel::{KernelFunction, Polynomial, Rbf, precise_sums};
use crate::problem::{MarginProblem, RowLoss};
use crate::solver::Decision;

/// (C.8) as a part of the primal below which it does not matter: `verify` lets objectives differ by ten times as much.
const HARMLESS: f64 = 1e-7;

/// Rows that the error is measured on, and how much larger it may be on others.
const SAMPLE: usize = 16;
const SAFETY: f64 = 4.0;

/// Products of entries up to which all rows are computed with twice the digits: about 0.2 s of one thread. More would keep an interrupt waiting.
const MOST_PRODUCTS: f64 = (1 << 24) as f64;

/// What rounding has done to the decision values of an expansion.
pub(crate) enum Rounding {
    /// Nothing that matters.
    Harmless,
    /// It matters, and these are the values with all digits of f64.
    Precise(Vec<f64>),
    /// It matters by about this much, (C.8), and to compute better values would take too long.
    Hidden(f64),
}

/// Judges the decision values of an expansion. `precise` computes those of some rows, given by their places, with twice the digits.
pub(crate) fn rounding(
    problem: &MarginProblem<'_>,
    decision: &Decision,
    values: &[f64],
    evidence: &Evidence,
    precise: impl Fn(&[usize]) -> Vec<f64>,
) -> Rounding {
    let (Decision::Expansion { coefficients, .. }, Some(found)) = (decision, evidence.certificate()) else {
        return Rounding::Harmless;
    };
    let weights = weights(problem, coefficients, values);
    let total: f64 = weights.iter().sum();
    let allowed = HARMLESS * found.primal.abs();
    if !(allowed > 0.0) || error_bound(problem, coefficients) * total <= allowed {
        return Rounding::Harmless;
    }
    let matter: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let sample = SAMPLE.min(matter.len());
    let places: Vec<usize> = (0..sample).map(|k| matter[k * matter.len() / sample]).collect();
    let error =
        places.iter().zip(precise(&places)).map(|(&i, precise)| (precise - values[i]).abs()).fold(0.0, f64::max);
    if SAFETY * error * total <= allowed {
        return Rounding::Harmless;
    }
    let support = coefficients.iter().filter(|&&coefficient| coefficient != 0.0).count();
    if (problem.len() * support) as f64 * entries_a_row(problem) > MOST_PRODUCTS {
        return Rounding::Hidden(error * total); // (C.8)
    }
    let all: Vec<usize> = (0..problem.len()).collect();
    let precise = precise(&all);
    // Numbers beyond 1e290 have no twice as many digits.
    if precise.iter().all(|value| value.is_finite()) { Rounding::Precise(precise) } else { Rounding::Harmless }
}

/// The decision values of some rows of a problem with twice the digits, each rounded once.
pub(crate) fn precise_values(problem: &MarginProblem<'_>, decision: &Decision, places: &[usize]) -> Vec<f64> {
    let Decision::Expansion { coefficients, bias } = decision else { return Vec::new() };
    let wanted: Vec<usize> = places.iter().map(|&i| problem.rows()[i]).collect();
    let support: Vec<usize> = (0..problem.len()).filter(|&i| coefficients[i] != 0.0).collect();
    let rows: Vec<usize> = support.iter().map(|&i| problem.rows()[i]).collect();
    let active: Vec<f64> = support.iter().map(|&i| coefficients[i]).collect();
    let points = problem.points();
    precise_sums(problem.kernel(), points.rows(&wanted), points.rows(&rows), &active, *bias, problem.workers())
}

impl Evidence {
    /// The evidence with a gap that is larger by what rounding may hide of it.
    pub(crate) fn with_hidden(mut self, hidden: f64) -> Self {
        if let Evidence::Certificate(found) = &mut self {
            found.gap += hidden;
            found.dual = found.primal - found.gap;
            found.relative_gap = relative_gap(found.gap, found.primal);
        }
        self
    }
}

/// `|c_i| + C_i |ℓ′(f_i)|` of (C.8), for each row.
fn weights(problem: &MarginProblem<'_>, coefficients: &[f64], values: &[f64]) -> Vec<f64> {
    let (loss, targets, costs) = (problem.row_loss(), problem.targets(), problem.costs());
    let slope = |i: usize| {
        let slack = loss.slack(targets[i], values[i]);
        match loss {
            _ if !costs[i].is_finite() => 0.0,
            RowLoss::Squared | RowLoss::SquaredEpsilon(_) => 2.0 * costs[i] * slack,
            RowLoss::Logistic => costs[i] / (1.0 + (targets[i] * values[i]).exp()),
            RowLoss::Hinge | RowLoss::Epsilon(_) | RowLoss::OneClass | RowLoss::Ball if slack > 0.0 => costs[i],
            RowLoss::Hinge | RowLoss::Epsilon(_) | RowLoss::OneClass | RowLoss::Ball => 0.0,
        }
    };
    (0..values.len()).map(|i| coefficients[i].abs() + slope(i)).collect()
}

/// The mean number of entries of a row.
fn entries_a_row(problem: &MarginProblem<'_>) -> f64 {
    let matrix = problem.points().matrix();
    matrix.entries() as f64 / matrix.rows().max(1) as f64 + 1.0
}

/// What rounding changes of a decision value, at most, but for constants of the order of 1:
///
/// ```text
/// ε (√m + q √d) max_i √k(x_i, x_i) Σ_j |c_j| √k(x_j, x_j),   and for the Gaussian kernel   + 4 ε √d γ max_i ‖x_i‖² Σ_j |c_j|
/// ```
///
/// with m support vectors, d entries a row, and the degree q and γ of [`steepness`].
fn error_bound(problem: &MarginProblem<'_>, coefficients: &[f64]) -> f64 {
    let (degree, gamma) = steepness(problem.kernel());
    let lengths = problem.gram().diagonal(problem.rows());
    let entries = entries_a_row(problem).sqrt();
    let (mut support, mut mass, mut size, mut longest, mut norm) = (0.0f64, 0.0, 0.0, 0.0f64, 0.0f64);
    for ((&row, &coefficient), square) in problem.rows().iter().zip(coefficients).zip(lengths) {
        let length = square.max(0.0).sqrt();
        support += if coefficient != 0.0 { 1.0 } else { 0.0 };
        mass += coefficient.abs();
        size += coefficient.abs() * length;
        longest = longest.max(length);
        norm = norm.max(problem.points().squared_norm(row));
    }
    let sums = (support.sqrt() + degree * entries) * longest * size;
    f64::EPSILON * (sums + 4.0 * entries * gamma * norm * mass)
}

/// How steep a kernel is beside its own values: the degree of a polynomial in the dot product, and the γ of Gaussian kernels. Other kernels
/// are as steep as a dot product at most.
fn steepness(kernel: &KernelFunction) -> (f64, f64) {
    let of_parts = |parts: &[KernelFunction]| {
        parts.iter().map(steepness).fold((0.0, 0.0), |(degree, gamma), part| (degree + part.0, gamma + part.1))
    };
    match kernel {
        KernelFunction::Polynomial(Polynomial { degree, .. }) => (f64::from(*degree), 0.0),
        KernelFunction::Rbf(Rbf { gamma }) => (1.0, *gamma),
        KernelFunction::Sum(sum) => of_parts(sum.parts()),
        KernelFunction::Product(product) => of_parts(product.parts()),
        KernelFunction::Scaled(scaled) => steepness(scaled.kernel()),
        _ => (1.0, 0.0),
    }
}
