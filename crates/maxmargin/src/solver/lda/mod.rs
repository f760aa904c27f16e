//! Fisher's linear discriminant: the directions along which classes are farthest apart for their spread.
//!
//! # Problem
//! Two classes:
//! ```text
//! max_w  J(w) = ⟨w, m₊ − m₋⟩² / (s₊² + s₋²)                                              (FD.1)
//! ```
//! with the classes' means m and the spread `s² = Σ ω_i (⟨w, x_i⟩ − ⟨w, m⟩)²` of each class. The weights ω_i are the costs, scaled
//! to a sum of 1. Several classes: the class that is most likely when each is a Gaussian around its mean with the same scatter.
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
//! for a shrinkage s, or for one that each class sets itself (FD.6). A singular C_W without shrinkage gets the smallest ridge that
//! works, and a note says so.
//!
//! The threshold of two classes is placed where the weighted training errors are fewest, in the middle of the widest gap
//! between neighbouring projections of those that tie; or where the least-squares line through (⟨w, x_i⟩, y_i) crosses 0:
//! ```text
//! b = ȳ var(p) / cov(p, y) − p̄,   p_i = ⟨w, x_i⟩                                           (FD.4)
//! ```
//! or where the classes are equally likely when each is a Gaussian around its mean with the scatter C_W; `f(x)` is then the logarithm of
//! their odds, as (FD.9) has it for several classes:
//! ```text
//! b = log(ω₊/ω₋) − ½ (p̄₊ + p̄₋),   ω and p̄ the mass of each class and the mean of its p       (FD.10)
//! ```
//! Without a bias b = 0. Several classes have a function each, and no thresholds: (FD.9).
//!
//! Fewer rows than columns: no matrix of columns × columns is formed, see `wide.rs`. Without shrinkage two classes then get
//! the shortest w that puts all rows of a class in one place (least squares with the scatter around the common mean), and
//! several classes are told apart within the span of their rows.
//!
//! # Stopping
//! After the one step, `Converged`; `Stalled` with w = 0 when C_W cannot be factored.
//!
//! # Cost
//! n · d²/2 + d³/3 on all threads; memory 3d² numbers. With n < d: d · n²/2 + n³/3 and 3n² numbers.
//!
//! # When to use
//! As a baseline, and (with [`projection`]) to draw K classes in K − 1 dimensions.
//!
//! # Reference
//! R. A. Fisher, The use of multiple measurements in taxonomic problems, 1936; C. R. Rao, 1948; J. H. Friedman, Regularized
//! discriminant analysis, 1989; O. Ledoit and M. Wolf, A well-conditioned estimator for large-dimensional covariance matrices, 2004.

mod joint;
mod pooled;
mod projection;
mod shrinkage;
mod wide;

use std::ops::ControlFlow;

use self::pooled::{Pooled, Sample};
use super::{Decision, Settings, Solution, Threshold, dot};
use crate::control::{Control, Progress, Stop};
use crate::problem::{Bias, FromNu, MarginProblem};
use crate::provenance::Note;

pub(super) use joint::{solve as solve_joint, supports as supports_joint};
pub use projection::{Projection, projection};
pub use shrinkage::Shrinkage;

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    pooled::bytes(problem.len(), problem.points().matrix().columns(), 2)
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
        (_, Threshold::EqualOdds) => equal_odds(&projections, problem.signs(), &weights),
    };
    if stop == Stop::Converged {
        let criterion = fisher_criterion(&projections, problem.signs(), &weights);
        notes.push(Note::FisherCriterion(criterion));
    }
    Solution {
        from_nu: FromNu::Nothing,
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
    shrinkage: Shrinkage,
    weights: &[f64],
    notes: &mut Vec<Note>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Vec<f64>>> {
    poll()?;
    let groups: Vec<usize> = problem.signs().iter().map(|&sign| usize::from(sign > 0.0)).collect();
    let (matrix, rows) = (problem.points().matrix(), problem.rows());
    let sample = Sample { matrix, rows, weights, groups: &groups, classes: 2, workers: problem.workers() };
    let Some(pooled) = Pooled::new(sample, shrinkage, poll)? else {
        return ControlFlow::Continue(None);
    };
    let mut direction = vec![pooled.difference(&pooled.means[1], &pooled.means[0])];
    if direction[0].iter().all(|&value| value == 0.0) {
        notes.push(Note::SameMean);
    }
    if pooled.on_span_only() {
        notes.push(fewer_rows_note(&sample));
        // The scatter around the common mean contains the direction between the means; the scatter within the classes may not.
        let groups = vec![0; rows.len()];
        let together = Sample { groups: &groups, classes: 1, ..sample };
        let Some(together) = Pooled::new(together, shrinkage, poll)? else {
            return ControlFlow::Continue(None);
        };
        together.solve(&mut direction, poll)?;
    } else {
        notes.extend(ridge_note(pooled.ridge));
        pooled.solve(&mut direction, poll)?; // (FD.2)
    }
    let direction = direction.swap_remove(0);
    ControlFlow::Continue(direction.iter().all(|value| value.is_finite()).then_some(direction))
}

/// What to say of a ridge that was needed.
fn ridge_note(ridge: f64) -> Option<Note> {
    (ridge > 0.0).then_some(Note::SingularScatter { ridge })
}

/// What to say of rows that are fewer than columns, where nothing is shrunk.
fn fewer_rows_note(sample: &Sample<'_>) -> Note {
    Note::FewerRowsThanColumns { rows: sample.rows.len(), columns: sample.matrix.columns() }
}

/// The weights, scaled to a sum of 1.
fn normalised(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let total: f64 = weights.iter().map(|weight| weight / largest).sum();
    weights.iter().map(|weight| weight / largest / total).collect()
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

/// b where the odds are even, (FD.10).
fn equal_odds(projections: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
    let class = |sign: f64| {
        let rows = || (0..signs.len()).filter(move |&i| signs[i] == sign);
        let mass: f64 = rows().map(|i| weights[i]).sum();
        (mass, rows().map(|i| weights[i] / mass * projections[i]).sum::<f64>())
    };
    let ((positive, above), (negative, below)) = (class(1.0), class(-1.0));
    (positive / negative).ln() - 0.5 * (above + below)
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::super::cholesky;
    use super::super::fixtures::*;
    use super::*;
    use crate::data::Matrix;
    use crate::solver::SolverKind;
    use crate::workers::Workers;

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
    fn at_even_odds_the_function_is_the_difference_of_the_two_classes_own() {
        let mut fixture = Fixture::new(&blobs(41, 1.0, 7), 1.0);
        fixture.costs[3] = 5.0;
        let settings = Settings { threshold: Threshold::EqualOdds, ..Settings::default() };
        let (weights, bias) = linear(&fixture.solve(SolverKind::Lda, &settings));
        // With the means m and masses ω of the classes written out: f(½(m₊ + m₋)) = log(ω₊/ω₋).
        let sum = |sign: f64, of: &dyn Fn(usize) -> f64| -> f64 {
            (0..fixture.signs.len()).filter(|&i| fixture.signs[i] == sign).map(|i| fixture.costs[i] * of(i)).sum()
        };
        let mass = |sign: f64| sum(sign, &|_| 1.0);
        let mean = |sign: f64, j: usize| sum(sign, &|i| fixture.matrix.row(i)[j]) / mass(sign);
        let middle = |j: usize| 0.5 * (mean(1.0, j) + mean(-1.0, j));
        let value = weights[0] * middle(0) + weights[1] * middle(1) + bias;
        assert!((value - (mass(1.0) / mass(-1.0)).ln()).abs() < 1e-9, "{value}");
    }

    #[test]
    fn a_singular_scatter_gets_a_ridge_and_a_note_that_names_shrinkage() {
        let mut fixture = Fixture::new(&separable(), 1.0);
        let doubled: Vec<f64> = separable().iter().flat_map(|(x, _)| [x[0], x[1], x[0], 0.1]).collect();
        fixture.matrix = Matrix::dense(14, 4, doubled).unwrap();
        let solution = fixture.solve(SolverKind::Lda, &Settings::default());
        assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
        assert!(solution.notes[0].to_string().contains("shrinkage"));
        let (weights, _) = linear(&solution);
        assert_eq!(weights[3], 0.0); // a constant column tells nothing
        assert!(weights.iter().all(|weight| weight.abs() < 1e3));
        let shrunk = Settings { shrinkage: 0.2.into(), ..Settings::default() };
        assert_eq!(fixture.solve(SolverKind::Lda, &shrunk).notes.len(), 1);
    }

    #[test]
    fn full_shrinkage_leads_along_the_difference_of_the_means() {
        let fixture = Fixture::new(&separable(), 1.0);
        let shrunk = Settings { shrinkage: 1.0.into(), ..Settings::default() };
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
