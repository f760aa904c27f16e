//! How much of a gap rounding may hide, and what is done about it.
//!
//! The decision values of an expansion are sums of kernel values. Where columns are far from 0, or a polynomial is steep, the terms cancel,
//! and f64 keeps few digits of the sum. A certificate made of such values is wrong by at most
//!
//! ```text
//! Σ_i (|c_i| + C_i |ℓ′(f_i)|) |error of f_i|                                                         (C.8)
//! ```
//!
//! Three steps, each taken only if the one before leaves more than [`HARMLESS`]:
//!
//! 1. The error of each row is bounded from the sizes of rows and coefficients (C.10).
//! 2. The errors of the rows with the largest bounds are measured with twice the digits, and all bounds are lowered in proportion.
//! 3. All decision values are computed with twice the digits; where that would take too long, (C.8) is added to the gap.

use super::{Evidence, relative_gap};
use crate::kernel::{Exponential, FAR_OUT, KernelFunction, Polynomial, Rbf, precise_sums};
use crate::problem::{Decision, MarginProblem};

/// The largest (C.8) that is ignored, as a part of the primal. `verify` lets objectives differ by ten times as much.
const HARMLESS: f64 = 1e-7;

/// Rows whose errors are measured with twice the digits.
const SAMPLE: usize = 16;

/// How many times the largest measured error, relative to its bound, other rows may have.
const SAFETY: f64 = 4.0;

/// Products of entries up to which all rows are computed with twice the digits without a sample before: about 0.2 ms.
const FEW_PRODUCTS: f64 = (1 << 14) as f64;

/// Products of entries up to which all rows are computed with twice the digits: about 0.2 s on one thread. A larger number would keep an
/// interrupt waiting; a smaller one would leave more certificates with a gap of rounding.
const MOST_PRODUCTS: f64 = (1 << 24) as f64;

/// What rounding has done to the decision values of an expansion.
pub(crate) enum Rounding {
    /// Nothing that matters.
    Harmless,
    /// It mattered: these values, computed with twice the digits, replace those before.
    Precise(Vec<f64>),
    /// It may hide this much of the gap, (C.8), and better values would take too long.
    Hidden(f64),
}

/// Judges the decision values of an expansion. `precise` computes the values of the rows at given places with twice the digits. The sample
/// uses a plain exponential, whose rounding can only make the measured errors larger.
pub(crate) fn rounding(
    problem: &MarginProblem<'_>,
    decision: &Decision,
    values: &[f64],
    evidence: &Evidence,
    precise: impl Fn(&[usize], Exponential) -> Vec<f64>,
) -> Rounding {
    let (Decision::Expansion { coefficients, .. }, Some(found)) = (decision, evidence.certificate()) else {
        return Rounding::Harmless;
    };
    let bounds = error_bounds(problem, coefficients);
    let weights = weights(problem, coefficients, values, &bounds);
    let parts: Vec<f64> = weights.iter().zip(&bounds).map(|(weight, bound)| weight * bound).collect();
    let total: f64 = parts.iter().sum(); // (C.8) at most
    let allowed = HARMLESS * found.primal.abs();
    if !(allowed > 0.0) || total <= allowed {
        return Rounding::Harmless;
    }
    let support = coefficients.iter().filter(|&&coefficient| coefficient != 0.0).count();
    let products = (problem.len() * support) as f64 * entries_a_row(problem);
    let mut likely = total;
    if products > FEW_PRODUCTS {
        let mut places: Vec<usize> = (0..parts.len()).collect();
        places.sort_by(|&i, &j| parts[j].total_cmp(&parts[i]).then(i.cmp(&j)));
        places.truncate(SAMPLE);
        let sample = precise(&places, Exponential::Plain);
        let errors = places.iter().zip(sample).map(|(&i, precise)| (precise - values[i]).abs() / bounds[i]);
        // NaN counts as the largest error.
        let share = errors.fold(0.0, |most: f64, share| if share <= most { most } else { share });
        likely = if share.is_finite() { SAFETY * share * total } else { total };
        if likely <= allowed {
            return Rounding::Harmless;
        }
    }
    let hidden = Rounding::Hidden(likely.min(f64::MAX.sqrt())); // (C.8)
    if products > MOST_PRODUCTS {
        return hidden;
    }
    let all: Vec<usize> = (0..problem.len()).collect();
    let values = precise(&all, Exponential::Precise);
    // Numbers beyond 1e290 overflow when they are split into two.
    if values.iter().all(|value| value.is_finite()) { Rounding::Precise(values) } else { hidden }
}

/// Decision values of the rows at these places, computed with twice the digits and rounded once.
pub(crate) fn precise_values(
    problem: &MarginProblem<'_>,
    decision: &Decision,
    places: &[usize],
    exponential: Exponential,
) -> Vec<f64> {
    let Decision::Expansion { coefficients, bias } = decision else { return Vec::new() };
    let wanted: Vec<usize> = places.iter().map(|&i| problem.rows()[i]).collect();
    let support: Vec<usize> = (0..problem.len()).filter(|&i| coefficients[i] != 0.0).collect();
    let rows: Vec<usize> = support.iter().map(|&i| problem.rows()[i]).collect();
    let active: Vec<f64> = support.iter().map(|&i| coefficients[i]).collect();
    let points = problem.points();
    let (wanted, rows) = (points.rows(&wanted), points.rows(&rows));
    precise_sums(problem.kernel(), exponential, wanted, rows, &active, *bias, problem.workers())
}

impl Evidence {
    /// The evidence with `hidden` added to its gap.
    pub(crate) fn with_hidden(mut self, hidden: f64) -> Self {
        if let Evidence::Certificate(found) = &mut self {
            found.gap += hidden;
            found.dual = found.primal - found.gap;
            found.relative_gap = relative_gap(found.gap, found.primal);
        }
        self
    }
}

/// `|c_i| + C_i |ℓ′(f_i)|` of (C.8), for each row. Where the error may carry a row over a corner of the loss, the slope beyond it counts.
fn weights(problem: &MarginProblem<'_>, coefficients: &[f64], values: &[f64], bounds: &[f64]) -> Vec<f64> {
    let (loss, targets, costs) = (problem.row_loss(), problem.targets(), problem.costs());
    let slope = |i: usize| {
        if !costs[i].is_finite() {
            return 0.0;
        }
        let either_side = [values[i] - bounds[i], values[i] + bounds[i]];
        // A NaN counts as larger.
        let steeper = |most: f64, slope: f64| if slope <= most { most } else { slope };
        either_side.into_iter().map(|value| loss.slope(targets[i], costs[i], value).abs()).fold(0.0, steeper)
    };
    (0..values.len()).map(|i| coefficients[i].abs() + slope(i)).collect()
}

/// The mean number of entries of a row.
fn entries_a_row(problem: &MarginProblem<'_>) -> f64 {
    let matrix = problem.points().matrix();
    matrix.entries() as f64 / matrix.rows().max(1) as f64 + 1.0
}

/// A bound on the rounding error of each decision value, up to a factor of about 1 that the sample measures:
///
/// ```text
/// ε (√m + q √d) √k(x_i, x_i) Σ_j |c_j| √k(x_j, x_j),
/// and for Gaussian kernels   + 4 ε √d (h(x_i) Σ_j |c_j| + Σ_j |c_j| h(x_j))                          (C.10)
/// ```
///
/// with m support vectors, d entries a row, the degree q from [`steepness`], and h from [`lost_by_cancelling`], summed over the Gaussian
/// kernels.
fn error_bounds(problem: &MarginProblem<'_>, coefficients: &[f64]) -> Vec<f64> {
    let mut gammas = Vec::new();
    let degree = steepness(problem.kernel(), &mut gammas);
    let lengths: Vec<f64> =
        problem.gram().diagonal(problem.rows()).into_iter().map(|square| square.max(0.0).sqrt()).collect();
    let lost = |norm: f64| gammas.iter().map(|gamma| lost_by_cancelling(gamma * norm)).sum();
    let lost: Vec<f64> = problem.rows().iter().map(|&row| lost(problem.points().squared_norm(row))).collect();
    let entries = entries_a_row(problem).sqrt();
    let (mut support, mut mass, mut size, mut reach) = (0.0f64, 0.0, 0.0, 0.0);
    for (i, coefficient) in coefficients.iter().map(|coefficient| coefficient.abs()).enumerate() {
        support += if coefficient > 0.0 { 1.0 } else { 0.0 };
        mass += coefficient;
        size += coefficient * lengths[i];
        reach += coefficient * lost[i];
    }
    let steep = support.sqrt() + degree * entries;
    let bound = |i: usize| steep * lengths[i] * size + 4.0 * entries * (lost[i] * mass + reach); // (C.10)
    (0..coefficients.len()).map(|i| f64::EPSILON * bound(i)).collect()
}

/// The error of a Gaussian value that a row with this `γ‖x‖²` causes, in units of ε
///
/// ```text
/// h = γ‖x‖²   up to FAR_OUT,   1 above                                                              (C.11)
/// ```
///
/// Rows beyond [`FAR_OUT`] have distances computed from differences: `γ‖x − z‖²` is then wrong by a part ε of itself, and the value by less
/// than ε, since `t e^−t < 1`.
fn lost_by_cancelling(scaled_norm: f64) -> f64 {
    if scaled_norm <= FAR_OUT { scaled_norm } else { 1.0 }
}

/// The degree of a kernel as a polynomial in the dot product; other kernels count as degree 1, because none is steeper than that. Adds the γ
/// of Gaussian kernels to `gammas`.
fn steepness(kernel: &KernelFunction, gammas: &mut Vec<f64>) -> f64 {
    let mut of_parts = |parts: &[KernelFunction]| parts.iter().map(|part| steepness(part, gammas)).sum();
    match kernel {
        KernelFunction::Polynomial(Polynomial { degree, .. }) => f64::from(*degree),
        KernelFunction::Rbf(Rbf { gamma }) => {
            gammas.push(*gamma);
            1.0
        }
        KernelFunction::Sum(sum) => of_parts(sum.parts()),
        KernelFunction::Product(product) => of_parts(product.parts()),
        KernelFunction::Scaled(scaled) => steepness(scaled.kernel(), gammas),
        _ => 1.0,
    }
}
