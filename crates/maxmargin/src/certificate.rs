//! How good an answer is, in numbers that anybody can check from the model and the data alone.

pub mod joint;
mod l1;
mod of_weights;
pub(crate) mod rounding;
mod summary;
mod tighten;

use std::borrow::Cow;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::kernel::mercer_check;
use crate::problem::{self, Bias, Coupling, Decision, Loss, ManyRows, MarginProblem, Norm, Pulls, RowLoss, Solution};
pub use l1::ColumnCounts;
pub(crate) use of_weights::dual_point;
pub use summary::CertificateSummary;
pub(crate) use tighten::{best_bias, best_constant, tighten};

/// How good a solution of a convex problem is.
///
/// ```text
/// primal = ½‖w‖² + qb + Σ C_i ℓ(f(x_i), t_i)  ≥  optimum  ≥  dual = Σ (R.1)_i − ½‖Σ c_i φ(x_i)‖²     (C.1)
/// gap = primal − dual = Σ (R.5)_i + ½‖w − Σ c_i φ(x_i)‖² ≥ 0                                        (C.5)
/// relative gap = gap / |primal|
/// ```
///
/// `c_i = α_i y_i` for two classes and `α_i` for other tasks; ℓ is the loss of (P.1).
///
/// * The gap is summed by the second line. Its terms are all 0 or more, so that a gap far below the objectives keeps its digits.
/// * The dual needs a feasible α. The solver's α is clipped to its bounds; with an explicit bias the heavier class is then scaled down
///   until `Σ c_i = q`.
/// * The violation and the counts are those of the clipped α. Scaling takes every variable of a class off its bound, even if it
///   scales by rounding alone.
/// * A hard margin has the primal of w scaled until every row has margin 1.
/// * The L1 norm has the primal (N.1) and the dual (N.2), see [`Norm`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Certificate {
    /// The objective at the model's own w and b; infinite when a hard margin is not met.
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub primal: f64,
    /// The dual objective, a bound below the optimum.
    pub dual: f64,
    /// primal − dual.
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub gap: f64,
    /// The gap divided by |primal|; 0 where both are 0.
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub relative_gap: f64,
    /// The largest violation of the optimality conditions, (D.2); for logistic loss the largest component of the
    /// primal's gradient, with the L1 norm that of its smallest subgradient.
    pub violation: f64,
    /// How far the solver's α was from feasible: the largest distance from its bounds, and |Σ c_i − q| with an explicit bias.
    pub infeasibility: f64,
    /// 1/‖w‖
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub margin: f64,
    /// Σ ξ_i of (P.0)
    pub slack_sum: f64,
    /// How many rows are of which kind.
    pub counts: Counts,
    /// How many columns are in use, with the L1 norm.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub columns: Option<ColumnCounts>,
}

impl Certificate {
    /// Every number with what it is, counts last.
    pub fn numbers(&self) -> Vec<(Quantity, f64)> {
        let counts = self.counts;
        let mut numbers = vec![
            (Quantity::Primal, self.primal),
            (Quantity::Dual, self.dual),
            (Quantity::Gap, self.gap),
            (Quantity::RelativeGap, self.relative_gap),
            (Quantity::Violation, self.violation),
            (Quantity::Infeasibility, self.infeasibility),
            (Quantity::Margin, self.margin),
            (Quantity::SlackSum, self.slack_sum),
            (Quantity::NotSupport, counts.not_support as f64),
            (Quantity::OnMargin, counts.on_margin as f64),
            (Quantity::Inside, counts.inside as f64),
            (Quantity::Misclassified, counts.misclassified as f64),
            (Quantity::Support, counts.support as f64),
            (Quantity::Bounded, counts.bounded as f64),
        ];
        let of_columns = |found: ColumnCounts| {
            [(Quantity::UsedColumns, found.used as f64), (Quantity::UnusedColumns, found.unused as f64)]
        };
        numbers.extend(self.columns.into_iter().flat_map(of_columns));
        numbers
    }
}

/// A number of a certificate, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// The primal objective.
    Primal,
    /// The dual objective.
    Dual,
    /// The difference of both.
    Gap,
    /// The gap over the primal.
    RelativeGap,
    /// The largest violation of the optimality conditions.
    Violation,
    /// How far the dual point is from feasible.
    Infeasibility,
    /// The margin 1/‖w‖.
    Margin,
    /// The sum of the slacks.
    SlackSum,
    /// Rows without influence.
    NotSupport,
    /// Rows on the margin.
    OnMargin,
    /// Rows inside the margin.
    Inside,
    /// Rows on the wrong side.
    Misclassified,
    /// Support vectors.
    Support,
    /// Support vectors at their bound.
    Bounded,
    /// Columns whose weight is not 0.
    UsedColumns,
    /// Columns whose weight is 0.
    UnusedColumns,
}

impl Quantity {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Primal => "primal",
            Quantity::Dual => "dual",
            Quantity::Gap => "gap",
            Quantity::RelativeGap => "relative gap",
            Quantity::Violation => "violation",
            Quantity::Infeasibility => "infeasibility",
            Quantity::Margin => "margin",
            Quantity::SlackSum => "sum of slacks",
            Quantity::NotSupport => "rows that are not support vectors",
            Quantity::OnMargin => "rows on the margin",
            Quantity::Inside => "rows inside the margin",
            Quantity::Misclassified => "misclassified rows",
            Quantity::Support => "support vectors",
            Quantity::Bounded => "support vectors at the bound",
            Quantity::UsedColumns => "columns in use",
            Quantity::UnusedColumns => "columns not in use",
        }
    }
}

/// How many rows are of which kind. Each row is of exactly one of the first four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Counts {
    /// α = 0: outside of the margin, without influence.
    pub not_support: usize,
    /// α ≠ 0 and no slack: on the margin, or on the edge of the tube.
    pub on_margin: usize,
    /// α ≠ 0 and 0 < slack ≤ 1: inside the margin, on the right side. For tasks without classes: all rows with slack.
    pub inside: usize,
    /// α ≠ 0 and slack > 1: on the wrong side. For tasks without classes: none.
    pub misclassified: usize,
    /// α ≠ 0.
    pub support: usize,
    /// α at its upper bound.
    pub bounded: usize,
}

/// A certificate, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Evidence {
    /// The problem is convex, and this is how good the answer is.
    Certificate(Certificate),
    /// There is no certificate, and this is the reason.
    None(String),
}

impl Evidence {
    /// The certificate, if there is one.
    pub fn certificate(&self) -> Option<&Certificate> {
        match self {
            Evidence::Certificate(certificate) => Some(certificate),
            Evidence::None(_) => None,
        }
    }
}

/// f(x_i) of a decision function for each row of a problem, from scratch in f64.
pub(crate) fn decision_values(problem: &MarginProblem<'_>, decision: &Decision) -> Vec<f64> {
    match decision {
        Decision::Linear { weights, bias } => problem.decisions_of_weights(weights, *bias),
        Decision::Expansion { coefficients, bias } => {
            let mut values = if coefficients.contains(&0.0) {
                let all: Vec<usize> = (0..problem.len()).collect();
                expansion(problem, &all, coefficients)
            } else {
                problem.gram().product(problem.rows(), problem.rows(), coefficients)
            };
            values.iter_mut().for_each(|value| *value += bias);
            values
        }
    }
}

/// `Σ_j c_j k(x_j, x_i)` for some rows of a problem, given by their places in it.
pub(crate) fn expansion(problem: &MarginProblem<'_>, places: &[usize], coefficients: &[f64]) -> Vec<f64> {
    let wanted: Vec<usize> = places.iter().map(|&i| problem.rows()[i]).collect();
    let active: Vec<usize> = (0..problem.len()).filter(|&i| coefficients[i] != 0.0).collect();
    let rows: Vec<usize> = active.iter().map(|&i| problem.rows()[i]).collect();
    let active: Vec<f64> = active.iter().map(|&i| coefficients[i]).collect();
    problem.gram().product(&wanted, &rows, &active)
}

/// Certifies a solution. `tolerance` tells slack from none when rows are counted.
///
/// Cost: O(non-zeros) for linear models; for others a pass over rows × support vectors where the solution has no decision
/// values, or its coefficients are not `α_i y_i`.
pub fn certify(problem: &MarginProblem<'_>, solution: &Solution, tolerance: f64) -> Evidence {
    if let Some(reason) = why_not(problem, solution) {
        return Evidence::None(reason);
    }
    if problem.norm() == Norm::L1 {
        return l1::certify(problem, solution, tolerance);
    }
    let Some(alpha) = &solution.alpha else {
        return Evidence::None("the method minimises no objective".into());
    };
    let values = match &solution.decision_values {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(decision_values(problem, &solution.decision)),
    };
    let FeasibleAlpha { clipped, balanced, infeasibility } = feasible(problem, alpha);
    let norm = squared_norm(problem, &solution.decision, &values);
    let mut parts = dual_parts(problem, solution, &values, &clipped);
    let (violation, losses) = (parts.violation, parts.losses);
    if let Some(balanced) = &balanced {
        parts = dual_parts(problem, solution, &values, balanced);
    }
    let alpha = balanced.as_deref().unwrap_or(&clipped);
    let sums = Sums::over(problem, &values, losses, &clipped, alpha, tolerance);
    let (primal, gap) = if problem.hard() {
        let least =
            problem.signs().iter().zip(&*values).map(|(sign, value)| sign * value).fold(f64::INFINITY, f64::min);
        let primal = if least > 0.0 { 0.5 * norm / (least * least) } else { f64::INFINITY };
        (primal, gap_between(primal, sums.dual_terms - 0.5 * parts.quadratic))
    } else {
        let primal = 0.5 * norm + problem.pull_on_bias() * solution.decision.bias() + sums.losses; // (C.1)
        let gap = sums.gaps + 0.5 * parts.distance; // (C.5)
        // Where squares overflow, the gap is measured from α = 0, a point of every dual whose sum of α is not given.
        (primal, if gap.is_finite() || problem.pull_on_bias() > 0.0 { gap } else { primal })
    };
    // A dual far below the primal has no digits in their difference, and a hard margin may have no primal.
    let dual = if gap <= 0.5 * primal.abs() { primal - gap } else { sums.dual_terms - 0.5 * parts.quadratic };
    let dual = if dual.is_finite() { dual } else { primal - gap };
    Evidence::Certificate(Certificate {
        primal,
        dual,
        gap,
        relative_gap: relative_gap(gap, primal),
        violation,
        infeasibility,
        margin: 1.0 / norm.sqrt(),
        slack_sum: sums.slack,
        counts: sums.counts,
        columns: None,
    })
}

/// What the rows add to a certificate.
#[derive(Default)]
struct Sums {
    /// Σ C_i ℓ
    losses: f64,
    /// Σ −(C_iℓ)*(−c_i)
    dual_terms: f64,
    /// Σ (R.5)
    gaps: f64,
    /// Σ ξ_i
    slack: f64,
    counts: Counts,
}

impl Sums {
    /// Sums over all rows. Losses are those at `values`, unless `losses` has their sum; dual terms are those of `alpha`, the balanced
    /// α; the kinds of rows follow `clipped`, the α before it was balanced.
    fn over(
        problem: &MarginProblem<'_>,
        values: &[f64],
        losses: Option<f64>,
        clipped: &[f64],
        alpha: &[f64],
        tolerance: f64,
    ) -> Self {
        let (signs, targets, costs, loss) = (problem.signs(), problem.targets(), problem.costs(), problem.row_loss());
        let (classes, hard) = (problem.task().is_classification(), problem.hard());
        let parts = problem.workers().map_chunks(problem.len(), ROWS_A_CHUNK, |range| {
            let many = ManyRows { loss, targets: &targets[range.clone()], costs: &costs[range.clone()] };
            let (values, clipped) = (&values[range.clone()], &clipped[range.clone()]);
            let coefficients: Vec<f64> =
                alpha[range.clone()].iter().zip(&signs[range]).map(|(alpha, sign)| alpha * sign).collect();
            let mut part = Sums { dual_terms: many.dual_terms(&coefficients), ..Sums::default() };
            part.losses = if hard || losses.is_some() { 0.0 } else { many.losses(values) };
            part.gaps = if hard { 0.0 } else { many.gaps(values, &coefficients) };
            for (k, (&value, &alpha)) in values.iter().zip(clipped).enumerate() {
                let slack = loss.slack(many.targets[k], value);
                part.slack += slack;
                // Only classes have a wrong side.
                let slack = if classes { slack } else { slack.min(1.0) };
                part.counts.add(alpha, loss.bound(many.costs[k]), slack, tolerance);
            }
            part
        });
        let start = Sums { losses: losses.unwrap_or(0.0), ..Sums::default() };
        parts.into_iter().fold(start, |mut all, part| {
            all.losses += part.losses;
            all.dual_terms += part.dual_terms;
            all.gaps += part.gaps;
            all.slack += part.slack;
            all.counts.join(&part.counts);
            all
        })
    }
}

/// Rows on the wrong side; a value of exactly 0 is on the negative one. For a regression none: its errors are numbers.
pub(crate) fn training_errors(problem: &MarginProblem<'_>, values: &[f64]) -> usize {
    if problem.task().is_regression() {
        return 0;
    }
    let wrong = |&i: &usize| (problem.side(i, values[i]) > 0.0) != (problem.signs()[i] > 0.0);
    if values.len() <= ROWS_A_CHUNK {
        return (0..values.len()).filter(wrong).count();
    }
    problem.workers().map_chunks(values.len(), ROWS_A_CHUNK, |range| range.filter(wrong).count()).iter().sum()
}

/// Rows of a certificate that a thread takes at a time. Fixed, because sums are folded chunk by chunk and the bits depend on it.
const ROWS_A_CHUNK: usize = 8192;

/// primal − dual. A difference that rounding alone puts below 0 becomes 0; one further below is a fault, and is shown.
pub(crate) fn gap_between(primal: f64, dual: f64) -> f64 {
    let difference = primal - dual;
    if difference < 0.0 && difference > -1e-9 * primal.abs().max(1.0) { 0.0 } else { difference }
}

/// gap / |primal|; 0 where the gap is 0, infinite where only the primal is 0.
pub(crate) fn relative_gap(gap: f64, primal: f64) -> f64 {
    if gap == 0.0 { 0.0 } else { gap / primal.abs() }
}

/// Rows of the Mercer check of a kernel that may not be positive semidefinite. The check costs their number cubed.
pub(crate) const MERCER_ROWS: usize = 400;
/// Rows of a first Mercer check: most functions that are no kernels already show it on these.
const FEW_MERCER_ROWS: usize = 32;

/// The reason why a problem has no certificate, if so.
fn why_not(problem: &MarginProblem<'_>, solution: &Solution) -> Option<String> {
    if !problem.penalised() {
        return Some("without a penalty the dual has no feasible point to bound the optimum with".into());
    }
    if solution.alpha.is_none() || crate::kernel::Kernel::always_positive_semidefinite(problem.kernel()) {
        return None;
    }
    let check = |rows: usize| mercer_check(problem.kernel(), problem.points(), problem.rows(), rows);
    // A negative eigenvalue on some rows proves one on all rows.
    let of_few = check(FEW_MERCER_ROWS).ok().filter(|report| !report.is_kernel);
    match of_few.map_or_else(|| check(MERCER_ROWS), Ok) {
        Ok(report) if report.is_kernel => None,
        Ok(report) => Some(format!(
            "the kernel {} is not positive semidefinite on these rows (smallest eigenvalue {:.3e} of {} rows), so the \
             problem is not convex and its dual bounds nothing",
            problem.kernel().name(),
            report.smallest_eigenvalue,
            report.rows
        )),
        Err(error) => Some(format!("the kernel could not be checked: {error}")),
    }
}

/// A feasible point made from a solver's α.
struct FeasibleAlpha<'a> {
    /// α clipped to its bounds.
    clipped: Cow<'a, [f64]>,
    /// `clipped`, scaled until both classes have the same sum; `None` where no explicit bias asks for it, or the sums are equal.
    balanced: Option<Vec<f64>>,
    /// [`Certificate::infeasibility`]
    infeasibility: f64,
}

/// α clipped to its bounds and, with an explicit bias, balanced.
fn feasible<'a>(problem: &MarginProblem<'_>, alpha: &'a [f64]) -> FeasibleAlpha<'a> {
    let (signs, targets, costs, loss) = (problem.signs(), problem.targets(), problem.costs(), problem.row_loss());
    let clip = |i: usize| signs[i] * loss.clipped(alpha[i] * signs[i], targets[i], costs[i]);
    let off = problem
        .workers()
        .map_chunks(problem.len(), ROWS_A_CHUNK, |range| range.map(|i| (alpha[i] - clip(i)).abs()).fold(0.0, f64::max));
    let mut balanced = None;
    let mut infeasibility = off.into_iter().fold(0.0, f64::max);
    let clipped = if infeasibility > 0.0 {
        Cow::Owned(problem.workers().numbers(problem.len(), clip))
    } else {
        Cow::Borrowed(alpha)
    };
    if problem.bias() == Bias::Explicit {
        let mut scaled = clipped.to_vec();
        let [difference, size] = problem.balance(&mut scaled);
        infeasibility = infeasibility.max(difference);
        // A difference of rounding alone is left as it is.
        balanced = (difference > 1e-13 * size).then_some(scaled);
    }
    FeasibleAlpha { clipped, balanced, infeasibility }
}

/// ‖w‖² of the decision function, the folded bias included.
fn squared_norm(problem: &MarginProblem<'_>, decision: &Decision, values: &[f64]) -> f64 {
    match decision {
        Decision::Linear { weights, bias } => {
            let folded = if problem.bias() == Bias::Folded { bias * bias } else { 0.0 };
            weights.iter().map(|weight| weight * weight).sum::<f64>() + folded
        }
        // ‖w‖² = Σ c_i (f(x_i) − b)
        Decision::Expansion { coefficients, bias } => {
            coefficients.iter().zip(values).map(|(c, value)| c * (value - bias)).sum::<f64>().max(0.0)
        }
    }
}

/// What the products of rows add to a certificate.
struct DualParts {
    /// ‖Σ α_i y_i φ(x_i)‖²
    quadratic: f64,
    /// ‖w − Σ α_i y_i φ(x_i)‖²
    distance: f64,
    violation: f64,
    /// Σ C_i ℓ, where the pass that found the others had it at hand.
    losses: Option<f64>,
}

/// [`DualParts`] at α.
fn dual_parts(problem: &MarginProblem<'_>, solution: &Solution, values: &[f64], alpha: &[f64]) -> DualParts {
    // An expansion has no vector of weights, and so no gradient to measure.
    let mut of_gradient = f64::INFINITY;
    if let (Decision::Linear { weights, bias }, Loss::Logistic) = (&solution.decision, problem.loss()) {
        // The violation is the primal's gradient, which needs no u; a square that overflows goes the long way.
        let parts = logistic_parts(problem, (weights, *bias), values, alpha);
        if parts.quadratic.is_finite() {
            return parts;
        }
        of_gradient = parts.violation;
    }
    let signs = problem.signs();
    let signed = problem.workers().numbers(problem.len(), |i| alpha[i] * signs[i]);
    // u_i = ⟨Σ α_j y_j φ(x_j), φ(x_i)⟩, and the squared distance of w from Σ α_j y_j φ(x_j).
    let (products, distance): (Vec<f64>, Option<f64>) = match &solution.decision {
        Decision::Linear { weights: own, bias: own_bias } => {
            let (weights, bias) = problem.weights_of_coefficients(&signed);
            let of_bias = if problem.bias() == Bias::Folded { bias - own_bias } else { 0.0 };
            let distance = squared_distance(own, &weights) + of_bias * of_bias;
            // A w that is the sum of these coefficients has its products in `values`.
            let products = if distance == 0.0 {
                values.iter().map(|value| value - (own_bias - bias)).collect()
            } else {
                problem.decisions_of_weights(&weights, bias)
            };
            (products, Some(distance))
        }
        Decision::Expansion { coefficients, bias } if *coefficients == signed => {
            (values.iter().map(|value| value - bias).collect(), Some(0.0))
        }
        Decision::Expansion { .. } => {
            let all: Vec<usize> = (0..problem.len()).collect();
            (expansion(problem, &all, &signed), None)
        }
    };
    let quadratic = signed.iter().zip(&products).map(|(c, u)| c * u).sum::<f64>().max(0.0);
    let distance = distance.unwrap_or_else(|| {
        // ‖w − w′‖² = Σ (c_i − c′_i)(u_i − u′_i)
        let Decision::Expansion { coefficients, bias } = &solution.decision else { return 0.0 };
        let term = |i: usize| (coefficients[i] - signed[i]) * (values[i] - bias - products[i]);
        (0..problem.len()).map(term).sum::<f64>().max(0.0)
    });
    let violation = match problem.loss() {
        Loss::Logistic => of_gradient,
        Loss::Hinge | Loss::Squared => dual_violation(problem, &products, alpha),
    };
    DualParts { quadratic, distance, violation, losses: None }
}

/// ‖a − b‖²
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// (D.2) at α, given `u_i = ⟨Σ α_j y_j φ(x_j), φ(x_i)⟩`. A row of a regression has two variables, one for each side of the tube.
fn dual_violation(problem: &MarginProblem<'_>, products: &[f64], alpha: &[f64]) -> f64 {
    let (n, signs, costs, loss) = (problem.len(), problem.signs(), problem.costs(), problem.row_loss());
    let coupling = if problem.bias() == Bias::Explicit { Coupling::All } else { Coupling::None };
    let upper = |i: usize| loss.bound(costs[i % n]);
    let found = match loss {
        RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
            let signs: Vec<f64> = (0..2 * n).map(|k| if k < n { 1.0 } else { -1.0 }).collect();
            let alpha: Vec<f64> = (0..2 * n).map(|k| (signs[k] * alpha[k % n]).max(0.0)).collect();
            let gradient = |k: usize| {
                let i = k % n;
                signs[k] * (products[i] - problem.targets()[i]) + width + loss.ridge(costs[i]) * alpha[k]
            };
            problem::violation(coupling, &signs, upper, &alpha, gradient)
        }
        _ => {
            let margin = |i: usize| loss.side(problem.targets()[i]).1;
            let gradient = |i: usize| signs[i] * products[i] + loss.ridge(costs[i]) * alpha[i] - margin(i); // that of (P.2)
            problem::violation(coupling, signs, upper, alpha, gradient)
        }
    };
    found.max(0.0)
}

/// [`DualParts`] with logistic loss: the violation is the largest component of the primal's gradient in w and b.
fn logistic_parts(
    problem: &MarginProblem<'_>,
    (weights, bias): (&[f64], f64),
    values: &[f64],
    alpha: &[f64],
) -> DualParts {
    let mut pulls = problem.workers().zeros(problem.len());
    let found = problem.workers().fill_and_map(&mut pulls, ROWS_A_CHUNK, |start, pulls| {
        let range = start..start + pulls.len();
        let (targets, costs) = (&problem.signs()[range.clone()], &problem.costs()[range.clone()]);
        let (many, mut bends) = (ManyRows { loss: RowLoss::Logistic, targets, costs }, vec![0.0; pulls.len()]);
        let (losses, _) = many.pulls(&values[range], &[], 0.0, Pulls { coefficients: pulls, curvatures: &mut bends });
        (losses, pulls.iter().sum::<f64>())
    });
    let (losses, total) = found.iter().fold((0.0, 0.0), |all, part| (all.0 + part.0, all.1 + part.1));
    let [(own, own_bias), (target, _)] = problem.weights_of_two(|i| [alpha[i] * problem.signs()[i], pulls[i]]);
    let quadratic = problem::dot(&own, &own) + own_bias * own_bias;
    let of_bias = if problem.bias() == Bias::Folded { bias - own_bias } else { 0.0 };
    let distance = squared_distance(weights, &own) + of_bias * of_bias;
    let of_weights = weights.iter().zip(&target).map(|(w, t)| (w - t).abs()).fold(0.0, f64::max);
    let violation = match problem.bias() {
        Bias::Explicit => of_weights.max(total.abs()),
        Bias::Folded => of_weights.max((bias - total).abs()),
        Bias::None => of_weights,
    };
    DualParts { quadratic, distance, violation, losses: Some(losses) }
}

/// Slack, in tolerances, up to which a row counts as on the margin: a converged solver may leave this much.
pub(crate) const SLACK_A_TOLERANCE: f64 = 10.0;

/// How many rows lie within `error` of the border between two kinds, so that rounding may count them as either.
pub(crate) fn borderline(problem: &MarginProblem<'_>, values: &[f64], tolerance: f64, error: f64) -> usize {
    let borders = [SLACK_A_TOLERANCE * tolerance, 1.0];
    let borders = if problem.task().is_classification() { &borders[..] } else { &borders[..1] };
    let near = |(&target, &value): (&f64, &f64)| {
        let slack = problem.row_loss().slack(target, value);
        borders.iter().any(|border| (slack - border).abs() <= error)
    };
    problem.targets().iter().zip(values).filter(|&pair| near(pair)).count()
}

impl Counts {
    /// Counts a row. A slack above 1 is that of a row on the wrong side.
    pub(crate) fn add(&mut self, alpha: f64, bound: f64, slack: f64, tolerance: f64) {
        // No branches: a processor cannot predict the kind of a row.
        let support = alpha != 0.0;
        let wrong = slack > 1.0;
        let inside = !wrong & (slack > SLACK_A_TOLERANCE * tolerance);
        self.support += usize::from(support);
        self.bounded += usize::from(support & (alpha.abs() >= bound));
        self.not_support += usize::from(!support);
        self.misclassified += usize::from(support & wrong);
        self.inside += usize::from(support & inside);
        self.on_margin += usize::from(support & !wrong & !inside);
    }

    /// Adds the counts of other rows.
    pub(crate) fn join(&mut self, other: &Counts) {
        self.not_support += other.not_support;
        self.on_margin += other.on_margin;
        self.inside += other.inside;
        self.misclassified += other.misclassified;
        self.support += other.support;
        self.bounded += other.bounded;
    }
}

/// JSON has no infinity; `null` stands for it.
#[cfg(feature = "serde")]
pub(crate) mod null_is_infinite {
    #[cfg(feature = "serde")]
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_none() }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}
