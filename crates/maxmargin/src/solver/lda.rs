//! Fisher's linear discriminant: the direction along which two classes are farthest apart for their spread.
//!
//! # Problem
//! ```text
//! max_w  J(w) = ⟨w, m₊ − m₋⟩² / (s₊² + s₋²)                                              (FD.1)
//! ```
//! with the classes' means m and the spread `s² = Σ ω_i (⟨w, x_i⟩ − ⟨w, m⟩)²` of each class. The weights ω_i are the costs, scaled
//! to a sum of 1.
//!
//! # Optimality
//! ```text
//! C_W w = m₊ − m₋,   C_W = Σ ω_i (x_i − m)(x_i − m)′, m the mean of the row's own class         (FD.2)
//! ```
//!
//! # Step
//! One: (FD.2) by Cholesky's method, with
//! ```text
//! C_W ← (1 − s) C_W + s (trace C_W / d) I                                                 (FD.3)
//! ```
//! for a shrinkage s. A singular C_W without shrinkage gets the smallest ridge that works, and a note says so.
//!
//! The threshold is placed where the weighted training errors are fewest, in the middle of the widest gap between neighbouring
//! projections of those that tie; or where the least-squares line through (⟨w, x_i⟩, y_i) crosses 0:
//! ```text
//! b = ȳ var(p) / cov(p, y) − p̄,   p_i = ⟨w, x_i⟩                                           (FD.4)
//! ```
//! Without a bias b = 0.
//!
//! # Stopping
//! After the one step, `Converged`; `Stalled` with w = 0 when C_W cannot be factored.
//!
//! # Cost
//! n · d² + d³/3; memory 2d² numbers.
//!
//! # When to use
//! As a baseline, and (with [`projection`]) to draw K classes in K − 1 dimensions.
//!
//! # Reference
//! R. A. Fisher, The use of multiple measurements in taxonomic problems, 1936; C. R. Rao, 1948; J. H. Friedman, Regularized
//! discriminant analysis, 1989.

use std::ops::ControlFlow;

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par, Side};

use super::cholesky::{self, Factor};
use super::hessian;
use super::scatter::Scatter;
use super::{Decision, Settings, Solution, SolverKind, Threshold, dot, requirements};
use crate::control::{Control, Progress, Stop};
use crate::data::Matrix;
use crate::error::Error;
use crate::problem::{Bias, MarginProblem};
use crate::workers::Workers;

/// A pivot below this part of its diagonal entry is rounding: the matrix is singular.
const LEAST_PIVOT: f64 = 1e-13;

pub(super) fn supports(problem: &MarginProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let kind = SolverKind::Lda;
    requirements::soft_margin(kind, problem)?;
    requirements::linear_kernel(kind, problem)?;
    requirements::memory(kind, hessian::bytes(problem.points().matrix().columns()), settings.memory)
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let mut poll = || control.poll(Progress::default());
    let weights = normalised(problem.costs());
    let mut notes = Vec::new();
    let columns = problem.points().matrix().columns();
    let (direction, stop) = match discriminant(problem, settings.shrinkage, &weights, &mut notes, &mut poll) {
        ControlFlow::Continue(Some(direction)) => (direction, Stop::Converged),
        ControlFlow::Continue(None) => (vec![0.0; columns], Stop::Stalled),
        ControlFlow::Break(stop) => (vec![0.0; columns], stop),
    };
    let projections = problem.decisions_of_weights(&direction, 0.0);
    let bias = match (problem.bias(), settings.threshold) {
        (Bias::None, _) => 0.0,
        (_, Threshold::LeastError) => least_error(&projections, problem.signs(), &weights),
        (_, Threshold::LeastSquares) => least_squares(&projections, problem.signs(), &weights),
    };
    if stop == Stop::Converged {
        let criterion = fisher_criterion(&projections, problem.signs(), &weights);
        notes.push(format!("the Fisher criterion is {criterion:.6}"));
    }
    Solution {
        decision: Decision::Linear { weights: direction, bias: if bias.is_finite() { bias } else { 0.0 } },
        alpha: None,
        decision_values: None,
        stop,
        iterations: u64::from(stop == Stop::Converged),
        notes,
    }
}

/// w of (FD.2); `None` when it is not finite.
fn discriminant(
    problem: &MarginProblem<'_>,
    shrinkage: f64,
    weights: &[f64],
    notes: &mut Vec<String>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Vec<f64>>> {
    poll()?;
    let groups: Vec<usize> = problem.signs().iter().map(|&sign| usize::from(sign > 0.0)).collect();
    let within = Within::new(problem.points().matrix(), problem.rows(), weights, &groups, 2, problem.workers(), poll)?;
    let Some(factor) = within.factor(shrinkage, problem.workers(), poll)? else {
        return ControlFlow::Continue(None);
    };
    if factor.ridge > 0.0 {
        notes.push(format!(
            "the scatter matrix is singular: {:e} of its diagonal was added to it; choose a shrinkage above 0 for a say in this",
            factor.ridge
        ));
    }
    let mut direction = within.difference(1, 0);
    if direction.iter().all(|&value| value == 0.0) {
        notes.push("the two classes have the same mean, so no direction tells them apart".into());
    }
    factor.solve(&mut direction); // (FD.2)
    ControlFlow::Continue(direction.iter().all(|value| value.is_finite()).then_some(direction))
}

/// The weights, scaled to a sum of 1.
fn normalised(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let total: f64 = weights.iter().map(|weight| weight / largest).sum();
    weights.iter().map(|weight| weight / largest / total).collect()
}

/// The scatter within the classes, and what it was computed from.
struct Within {
    /// C_W, lower half.
    scatter: Mat<f64>,
    /// Of each class.
    means: Vec<Vec<f64>>,
    /// The sum of the weights of each class.
    masses: Vec<f64>,
    /// Columns that are constant within each class, up to rounding.
    constant: Vec<bool>,
    /// The root of the mean square of each column.
    sizes: Vec<f64>,
}

impl Within {
    fn new(
        matrix: &Matrix,
        rows: &[usize],
        weights: &[f64],
        groups: &[usize],
        classes: usize,
        workers: &Workers,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Self> {
        let columns = matrix.columns();
        let mut masses = vec![0.0; classes];
        let mut means = vec![vec![0.0; columns]; classes];
        let mut sizes = vec![0.0; columns];
        for i in 0..rows.len() {
            masses[groups[i]] += weights[i];
        }
        for i in 0..rows.len() {
            matrix.add_scaled(rows[i], weights[i] / masses[groups[i]], &mut means[groups[i]]);
            matrix.visit(rows[i], |column, value| sizes[column] += weights[i] * value * value);
        }
        sizes.iter_mut().for_each(|size| *size = size.sqrt());
        let centres = Some((groups, means.as_slice()));
        let scatter = Scatter { matrix, rows, weights, constant: false, centres, workers }.lower(poll)?;
        let constant = (0..columns).map(|j| scatter[(j, j)].max(0.0).sqrt() <= 1e-13 * sizes[j]).collect();
        ControlFlow::Continue(Within { scatter, means, masses, constant, sizes })
    }

    /// The factor of (FD.3).
    fn factor(
        &self,
        shrinkage: f64,
        workers: &Workers,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Factor>> {
        let size = self.scatter.ncols();
        let mean = (0..size).map(|j| self.scatter[(j, j)] / size as f64).sum::<f64>();
        let column = |j: usize, out: &mut [f64]| {
            for (i, value) in (j..size).zip(out.iter_mut()) {
                let noise = self.constant[i] || self.constant[j];
                *value = if noise { 0.0 } else { (1.0 - shrinkage) * self.scatter[(i, j)] };
            }
            out[0] += shrinkage * mean; // (FD.3)
        };
        cholesky::factor(size, &column, LEAST_PIVOT, workers, poll)
    }

    /// The difference of two classes' means, without what is rounding.
    fn difference(&self, one: usize, other: usize) -> Vec<f64> {
        let of = |j: usize| {
            let difference = self.means[one][j] - self.means[other][j];
            if difference.abs() <= 1e-13 * self.sizes[j] { 0.0 } else { difference }
        };
        (0..self.sizes.len()).map(of).collect()
    }
}

/// Fisher's criterion (FD.1) of projections `p_i = ⟨w, x_i⟩` of rows of two signs; infinite when the classes have no spread.
///
/// The weights are scaled to a sum of 1.
pub fn fisher_criterion(projections: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
    let weights = normalised(weights);
    let class = |sign: f64| {
        let rows = || (0..signs.len()).filter(move |&i| signs[i] == sign);
        let mass: f64 = rows().map(|i| weights[i]).sum();
        let mean = rows().map(|i| weights[i] / mass * projections[i]).sum::<f64>();
        let spread = rows().map(|i| weights[i] * (projections[i] - mean) * (projections[i] - mean)).sum::<f64>();
        (mean, spread)
    };
    let ((positive, s), (negative, t)) = (class(1.0), class(-1.0));
    let apart = (positive - negative) * (positive - negative);
    if apart == 0.0 { 0.0 } else { apart / (s + t) } // (FD.1)
}

/// b by least weighted training error; `f > 0` is the positive class.
fn least_error(projections: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..projections.len()).collect();
    order.sort_unstable_by(|&i, &j| projections[i].total_cmp(&projections[j]));
    let at = |k: usize| projections[order[k]];
    let last = order.len() - 1;
    // All rows above the threshold: the negative ones are wrong. The ends come first and have no gap.
    let mut wrong: f64 = (0..signs.len()).filter(|&i| signs[i] < 0.0).map(|i| weights[i]).sum();
    let margin = 0.5 * (at(last) - at(0)).max(f64::MIN_POSITIVE);
    let (mut threshold, mut fewest, mut widest) = (at(0) - margin, wrong, 0.0);
    for k in 0..=last {
        wrong += signs[order[k]] * weights[order[k]];
        let gap = if k < last { at(k + 1) - at(k) } else { 0.0 };
        if k < last && gap <= 0.0 {
            continue; // equal projections cannot be told apart
        }
        // Sums of weights in another order differ by rounding: that is a tie.
        if wrong < fewest - 1e-12 || (wrong <= fewest + 1e-12 && gap > widest) {
            let place = if k < last { at(k) + 0.5 * gap } else { at(last) + margin };
            (threshold, fewest, widest) = (place, wrong.min(fewest), gap);
        }
    }
    -threshold
}

/// b by least squares, (FD.4).
fn least_squares(projections: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
    let (p, y) = (dot(projections, weights), dot(signs, weights));
    let rows = || projections.iter().zip(signs).zip(weights);
    let covariance: f64 = rows().map(|((projection, sign), weight)| weight * (projection - p) * (sign - y)).sum();
    let variance: f64 = rows().map(|((projection, _), weight)| weight * (projection - p) * (projection - p)).sum();
    let crossing = y * variance / covariance;
    if crossing.is_finite() { crossing - p } else { -p }
}

/// The directions that tell K classes apart: the leading K − 1 solutions of `C_B w = λ C_W w`.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The directions, the most telling one first; each has one number a column and `w′ C_W w = 1`.
    pub directions: Vec<Vec<f64>>,
    /// λ of each direction: the spread of the classes' means along it, for a spread of 1 within the classes.
    pub eigenvalues: Vec<f64>,
    /// The mean of all rows, which is projected to 0.
    pub mean: Vec<f64>,
    /// The ridge that a singular C_W needed, relative to its diagonal; mostly 0.
    pub ridge: f64,
}

impl Projection {
    /// The coordinates of a row, one a direction.
    ///
    /// # Panics
    /// When the row is out of range, or the matrix has another number of columns.
    pub fn project(&self, matrix: &Matrix, row: usize) -> Vec<f64> {
        self.directions.iter().map(|direction| matrix.dot(row, direction) - dot(direction, &self.mean)).collect()
    }
}

/// Fisher's discriminant for K classes
///
/// ```text
/// C_B w = λ C_W w,   C_B = Σ_k ω_k (m_k − m)(m_k − m)′                                    (FD.5)
/// ```
///
/// with ω_k the part of the rows that class k has. `codes` holds the class of each row, from 0 to `classes` − 1.
///
/// Cost: n · d² + O(d³).
///
/// # Errors
/// When there is not one code a row, a code is out of range, a class is empty, there are fewer than two classes or no columns,
/// the shrinkage is not from 0 to 1, or the numbers are too large or too small for a finite result.
///
/// # Examples
/// ```
/// use maxmargin::{data::Matrix, solver::lda_projection};
///
/// let matrix = Matrix::dense(4, 2, vec![0.0, 0.0, 0.0, 1.0, 5.0, 0.0, 5.0, 1.0])?;
/// let projection = lda_projection(&matrix, &[0, 0, 1, 1], 2, 0.1)?;
/// assert_eq!(projection.directions.len(), 1);
/// assert!(projection.directions[0][1].abs() < 1e-9); // the second column does not tell the classes apart
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn projection(matrix: &Matrix, codes: &[usize], classes: usize, shrinkage: f64) -> Result<Projection, Error> {
    let data = |what: &str, help: &str| Error::Data { what: what.into(), help: help.into() };
    if codes.len() != matrix.rows() {
        let (left, right) = (format!("{} codes", codes.len()), format!("{} rows", matrix.rows()));
        return Err(Error::Shape { operation: "projection", left, right });
    }
    if !(0.0..=1.0).contains(&shrinkage) {
        return Err(Error::parameter("shrinkage", shrinkage, "from 0 to 1"));
    }
    if let Some(code) = codes.iter().find(|&&code| code >= classes) {
        return Err(Error::parameter("class code", code, "below the number of classes"));
    }
    if classes < 2 || (0..classes).any(|class| !codes.contains(&class)) {
        return Err(data("a class has no rows, or there is one class only", "give rows of two classes at least"));
    }
    if matrix.columns() == 0 {
        return Err(data("there are no columns", "give at least one column"));
    }
    let rows: Vec<usize> = (0..matrix.rows()).collect();
    let weights = vec![1.0 / matrix.rows() as f64; matrix.rows()];
    let (workers, mut go_on) = (Workers::none(), || ControlFlow::Continue(()));
    let not_finite = || data("the scatter matrix is not finite", "scale the columns (standard or minmax)");
    let ControlFlow::Continue(within) = Within::new(matrix, &rows, &weights, codes, classes, &workers, &mut go_on)
    else {
        return Err(not_finite());
    };
    let ControlFlow::Continue(Some(factor)) = within.factor(shrinkage, &workers, &mut go_on) else {
        return Err(not_finite());
    };
    let columns = matrix.columns();
    let mut mean = vec![0.0; columns];
    for (class, mass) in within.means.iter().zip(&within.masses) {
        mean.iter_mut().zip(class).for_each(|(mean, value)| *mean += mass * value);
    }
    // C_B = MM′ with a column √ω_k (m_k − m) for each class, so L⁻¹ C_B L⁻ᵀ = (L⁻¹M)(L⁻¹M)′.
    let mut lifted = Mat::from_fn(columns, classes, |j, k| {
        let difference = within.means[k][j] - mean[j];
        if difference.abs() <= 1e-13 * within.sizes[j] { 0.0 } else { within.masses[k].sqrt() * difference }
    });
    solve_lower_triangular_in_place(factor.lower().as_ref(), lifted.as_mut(), Par::Seq);
    if (0..classes).any(|k| lifted.col_as_slice(k).iter().any(|value| !value.is_finite())) {
        return Err(not_finite());
    }
    // The small matrix (L⁻¹M)′(L⁻¹M) has the same eigenvalues; its vectors v lead to those of (FD.5).
    let small = lifted.transpose() * &lifted;
    let eigen = small.self_adjoint_eigen(Side::Lower).map_err(|_| not_finite())?;
    let (mut directions, mut eigenvalues) = (Vec::new(), Vec::new());
    for k in (0..classes).rev().take((classes - 1).min(columns)) {
        let value = eigen.S()[k].max(0.0);
        let mut direction = &lifted * eigen.U().subcols(k, 1);
        let length = value.sqrt();
        // A value that is rounding has no direction: the means lie in fewer dimensions.
        if value <= 1e-14 * eigen.S()[classes - 1] {
            break;
        }
        (0..columns).for_each(|j| direction[(j, 0)] /= length);
        solve_upper_triangular_in_place(factor.lower().transpose(), direction.as_mut(), Par::Seq);
        directions.push(direction.col_as_slice(0).to_vec());
        eigenvalues.push(value);
    }
    if directions.iter().flatten().any(|value| !value.is_finite()) {
        return Err(not_finite());
    }
    Ok(Projection { directions, eigenvalues, mean, ridge: factor.ridge })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;

    fn linear(solution: &Solution) -> (Vec<f64>, f64) {
        match &solution.decision {
            Decision::Linear { weights, bias } => (weights.clone(), *bias),
            Decision::Expansion { .. } => panic!("not linear"),
        }
    }

    /// The least-squares fit of y on (x, 1), by the normal equations.
    fn fit(fixture: &Fixture) -> Vec<f64> {
        let rows = fixture.signs.len();
        let design = Mat::from_fn(rows, 3, |i, j| if j == 2 { 1.0 } else { fixture.matrix.row(i)[j] });
        let normal = design.transpose() * &design;
        let target = Mat::from_fn(rows, 1, |i, _| fixture.signs[i]);
        let mut solution = (design.transpose() * target).col_as_slice(0).to_vec();
        let column = |j: usize, out: &mut [f64]| out.copy_from_slice(&normal.col_as_slice(j)[j..]);
        let mut go_on = || ControlFlow::Continue(());
        match cholesky::factor(3, &column, 0.0, &Workers::none(), &mut go_on) {
            ControlFlow::Continue(Some(factor)) => factor.solve(&mut solution),
            _ => panic!("no factor"),
        }
        solution
    }

    #[test]
    fn the_direction_is_proportional_to_that_of_least_squares_and_so_is_its_threshold() {
        for seed in 0..10 {
            let mut points = blobs(41, 1.0, seed);
            points.truncate(31 + seed as usize);
            let fixture = Fixture::new(&points, 1.0);
            let settings = Settings { threshold: Threshold::LeastSquares, ..Settings::default() };
            let (weights, bias) = linear(&fixture.solve(SolverKind::Lda, &settings));
            let fitted = fit(&fixture);
            let ratio = weights[0] / fitted[0];
            assert!(ratio > 0.0, "seed {seed}");
            assert!((weights[1] - ratio * fitted[1]).abs() <= 1e-9 * ratio, "seed {seed}");
            assert!((bias - ratio * fitted[2]).abs() <= 1e-9 * ratio, "seed {seed}");
        }
    }

    #[test]
    fn no_direction_has_a_larger_criterion() {
        let fixture = Fixture::new(&blobs(60, 1.5, 2), 1.0);
        let (weights, _) = linear(&fixture.solve(SolverKind::Lda, &Settings::default()));
        let criterion = |weights: &[f64]| {
            let projections = fixture.with(|problem| problem.decisions_of_weights(weights, 0.0));
            fisher_criterion(&projections, &fixture.signs, &fixture.costs)
        };
        let best = criterion(&weights);
        for k in 0..100 {
            let angle = f64::from(k) * 0.0314159;
            assert!(criterion(&[angle.cos(), angle.sin()]) <= best * (1.0 + 1e-12));
        }
    }

    #[test]
    fn a_row_of_weight_two_is_two_rows() {
        let mut points = blobs(20, 1.0, 3);
        let mut weighted = Fixture::new(&points, 1.0);
        weighted.costs[4] = 2.0;
        points.push(points[4]);
        let doubled = Fixture::new(&points, 5.0);
        let (one, other) = (
            linear(&weighted.solve(SolverKind::Lda, &Settings::default())),
            linear(&doubled.solve(SolverKind::Lda, &Settings::default())),
        );
        assert!((one.0[0] - other.0[0]).abs() < 1e-9 && (one.0[1] - other.0[1]).abs() < 1e-9);
        assert!((one.1 - other.1).abs() < 1e-9);
    }

    #[test]
    fn the_threshold_of_least_error_lies_in_the_middle_of_the_widest_gap() {
        let weights = [0.25; 4];
        assert_eq!(least_error(&[1.0, 2.0, 5.0, 6.0], &[-1.0, -1.0, 1.0, 1.0], &weights), -3.5);
        // One error either way: after 1, where the gap is 3, or after 5, where it is 1.
        assert_eq!(least_error(&[1.0, 4.0, 5.0, 6.0], &[-1.0, 1.0, -1.0, 1.0], &weights), -2.5);
        // Equal projections cannot be told apart.
        let ties = least_error(&[1.0, 1.0, 1.0, 2.0], &[-1.0, 1.0, -1.0, 1.0], &weights);
        assert_eq!(ties, -1.5);
    }

    #[test]
    fn a_singular_scatter_gets_a_ridge_and_a_note_that_names_shrinkage() {
        let mut fixture = Fixture::new(&separable(), 1.0);
        let doubled: Vec<f64> = separable().iter().flat_map(|(x, _)| [x[0], x[1], x[0], 0.1]).collect();
        fixture.matrix = Matrix::dense(14, 4, doubled).unwrap();
        let solution = fixture.solve(SolverKind::Lda, &Settings::default());
        assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
        assert!(solution.notes[0].contains("shrinkage"));
        let (weights, _) = linear(&solution);
        assert_eq!(weights[3], 0.0); // a constant column tells nothing
        assert!(weights.iter().all(|weight| weight.abs() < 1e3));
        let shrunk = Settings { shrinkage: 0.2, ..Settings::default() };
        assert_eq!(fixture.solve(SolverKind::Lda, &shrunk).notes.len(), 1);
    }

    #[test]
    fn full_shrinkage_leads_along_the_difference_of_the_means() {
        let fixture = Fixture::new(&separable(), 1.0);
        let shrunk = Settings { shrinkage: 1.0, ..Settings::default() };
        let (weights, _) = linear(&fixture.solve(SolverKind::Lda, &shrunk));
        let mean = |sign: f64, column: usize| {
            let class: Vec<f64> = separable().iter().filter(|(_, y)| *y == sign).map(|(x, _)| x[column]).collect();
            class.iter().sum::<f64>() / class.len() as f64
        };
        let apart = [0, 1].map(|column| mean(1.0, column) - mean(-1.0, column));
        assert!((weights[0] * apart[1] - weights[1] * apart[0]).abs() < 1e-9);
    }

    #[test]
    fn without_a_bias_b_is_0() {
        let fixture = Fixture::new(&separable(), 1.0).bias(Bias::None);
        assert_eq!(linear(&fixture.solve(SolverKind::Lda, &Settings::default())).1, 0.0);
    }

    #[test]
    fn the_projection_of_two_classes_is_the_discriminant_and_whitens_the_scatter() {
        let fixture = Fixture::new(&blobs(50, 1.0, 6), 1.0);
        let codes: Vec<usize> = fixture.signs.iter().map(|&sign| usize::from(sign > 0.0)).collect();
        let found = projection(&fixture.matrix, &codes, 2, 0.0).unwrap();
        let (weights, _) = linear(&fixture.solve(SolverKind::Lda, &Settings::default()));
        let direction = &found.directions[0];
        assert!((direction[0] * weights[1] - direction[1] * weights[0]).abs() < 1e-9 * weights[0].abs());
        let projected: Vec<f64> = (0..50).map(|row| found.project(&fixture.matrix, row)[0]).collect();
        let mean = |code: usize| (0..50).filter(|&i| codes[i] == code).map(|i| projected[i] / 25.0).sum::<f64>();
        let spread: f64 = (0..50).map(|i| (projected[i] - mean(codes[i])).powi(2) / 50.0).sum();
        assert!((spread - 1.0).abs() < 1e-9);
        // Two classes of half the rows each: the means' spread is a quarter of their squared distance.
        assert!((found.eigenvalues[0] - 0.25 * (mean(0) - mean(1)).powi(2)).abs() < 1e-9);
    }

    #[test]
    fn three_classes_in_a_triangle_have_two_directions_and_on_a_line_one() {
        let centres = |bent: f64| [[0.0, 0.0], [4.0, 0.0], [8.0, bent]];
        for (bent, expected) in [(5.0, 2), (0.0, 1)] {
            let shape = [[0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3]];
            let values: Vec<f64> = centres(bent)
                .iter()
                .flat_map(|centre| shape.iter().flat_map(move |offset| [centre[0] + offset[0], centre[1] + offset[1]]))
                .collect();
            let codes: Vec<usize> = (0..12).map(|i| i / 4).collect();
            let found = projection(&Matrix::dense(12, 2, values).unwrap(), &codes, 3, 0.0).unwrap();
            assert_eq!(found.directions.len(), expected);
            assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn bad_codes_are_errors() {
        let matrix = Matrix::dense(2, 1, vec![0.0, 1.0]).unwrap();
        assert!(projection(&matrix, &[0], 2, 0.0).is_err());
        assert!(projection(&matrix, &[0, 2], 2, 0.0).is_err());
        assert!(projection(&matrix, &[0, 0], 2, 0.0).is_err());
        assert!(projection(&matrix, &[0, 1], 2, f64::NAN).is_err());
        assert!(projection(&matrix, &[0, 1], 2, 0.0).is_ok());
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::Lda, &Fixture::new(&separable(), 1.0));
    }

    #[test]
    fn numbers_at_the_end_of_the_range_give_a_finite_solution() {
        for scale in [1e-160, 1e-30, 1e30, 1e149] {
            let points: Vec<_> = separable().into_iter().map(|(x, y)| (x.map(|v| v * scale), y)).collect();
            let solution = Fixture::new(&points, 1e12).solve(SolverKind::Lda, &Settings::default());
            assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{scale:e}");
        }
    }

    #[test]
    fn threads_change_nothing() {
        assert_threads_change_nothing(SolverKind::Lda, || Fixture::new(&blobs(3000, 0.5, 1), 1.0));
    }
}
