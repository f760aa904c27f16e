//! `l1-newton`: Newton's method on the primal of a linear problem with the L1 norm, over the columns that matter.
//!
//! # Problem
//! ```text
//! min  F(w, b) = ‖w‖₁ + Σ_i C_i ℓ(⟨w, x_i⟩ + b, t_i)                                              (L1.1)
//! ```
//! with squared or logistic loss. Any bias: a folded b is one of the w, an explicit one has no penalty.
//!
//! # Optimality
//! With the coefficients `c_i` of the rows, (R.2), and the products `r_j = Σ_i c_i x_ij`
//! ```text
//! w_j > 0: r_j = 1,   w_j < 0: r_j = −1,   w_j = 0: |r_j| ≤ 1,   explicit b: Σ c_i = 0                 (L1.2)
//! ```
//! The largest difference is the violation: the largest component of the smallest subgradient. Its unit is the penalty of a
//! weight, so that a tolerance of 0.001 is a thousandth of that.
//!
//! # Step
//! A pass over the rows gives c, their curvatures h and all products. The working set (`working_set.rs`) is the columns in use
//! and those whose products exceed 1 most, as many as are in use. In these, Newton's model
//! ```text
//! min_d  −⟨r, d⟩ + ½ d′Gd + ‖w + d‖₁,   G_jk = Σ_i h_i x_ij x_ik                                     (L1.3)
//! ```
//! is minimised one weight at a time, on the matrix G (`quadratic.rs`), or by columns where the set is too large for that
//! (`by_columns.rs`), the better the nearer the optimum is. With squared loss only the rows that got or lost slack change G.
//! Then t along d: 1 if F rises no more than it should there, else a point where F has just stopped to fall.
//!
//! # Stopping
//! When the violation is within the tolerance, or the relative gap to the best dual point along c (N.4) is within the one asked
//! for. `Stalled` when neither the objective nor the violation has become smaller for a while.
//!
//! # Cost
//! A step is a pass over the rows, a copy of the working set where that changed, the squares of the entries of the rows in it
//! for G, and sweeps of `used × size` multiplications. Memory: eight numbers a row, a copy of the working set, and the square of its
//! size.
//!
//! # When to use
//! When few columns should do, or to know which ones matter. Nothing else solves this problem here.
//!
//! # References
//! Yuan, Ho, Lin 2012 (proximal Newton); Friedman, Hastie, Tibshirani 2010 (one weight at a time on the matrix of products);
//! Massias, Gramfort, Salmon 2018 (working sets, dual points).

mod by_columns;
mod quadratic;
mod working_set;

use std::ops::ControlFlow;

use faer::Mat;

use super::scatter::Scatter;
use super::start::Start;
use super::{Decision, Settings, Solution};
use crate::control::{Control, Progress, Stop};
use crate::problem::{
    Advanced, Bias, Direction, FromNu, LinearProblem, MarginProblem, Passes, RowLoss, RowState, RowSums, dual_point,
    largest_product,
};
use by_columns::{ByColumns, Columns};
use quadratic::Quadratic;
use working_set::WorkingSet;

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 1000;
/// Steps without progress before the solver gives up.
const PATIENCE: u32 = 12;
/// The most columns of a working set that G is made for.
const MOST_BY_MATRIX: usize = 3000;
/// The violation of Newton's model that a step may leave, as a part of the objective's violation.
const LEAST_ACCURACY: f64 = 0.1;
const MOST_ACCURACY: f64 = 1e-3;
/// Changes of G before it is computed anew, so that rounding does not add up.
const MOST_CHANGES: u32 = 30;

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    // The columns in use are at most all of them, by row and by column.
    let copies = 2 * problem.points().matrix().bytes();
    let vectors = 8 * (9 * problem.len() + 24 * problem.columns()) as u64;
    vectors.saturating_add(copies)
}

pub(super) fn solve(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn Control,
) -> Solution {
    let linear = LinearProblem::of_margin(problem);
    let mut search = Search::new(&linear, settings, start);
    let stop = match search.descend(settings, control) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    let alpha = search.state.coefficients.iter().zip(problem.signs()).map(|(c, sign)| (c * sign).max(0.0)).collect();
    Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: search.point.weights, bias: search.point.bias },
        alpha: Some(alpha),
        decision_values: Some(search.state.values),
        stop,
        iterations: search.steps,
        notes: Vec::new(),
    }
}

struct Search<'p, 'a> {
    problem: &'p LinearProblem<'a>,
    passes: Passes<'p, 'a>,
    state: RowState,
    point: Direction,
    set: WorkingSet,
    model: Model,
    /// The most columns that G is made for.
    most_by_matrix: usize,
    steps: u64,
}

/// What is kept of the model (L1.3) from step to step, for one working set.
enum Model {
    /// Nothing.
    Unknown,
    /// G, the curvatures it was made with, and how often it was changed since.
    Matrix { matrix: Mat<f64>, curvatures: Vec<f64>, changes: u32 },
    /// The working set by columns.
    Columns(Columns),
}

/// What a pass found at a point.
struct PassResult {
    /// r of (L1.2), and Σ c_i.
    products: Direction,
    /// F
    primal: f64,
    sums: RowSums,
}

impl PassResult {
    fn is_finite(&self) -> bool {
        self.primal.is_finite() && self.products.is_finite()
    }
}

impl<'p, 'a> Search<'p, 'a> {
    fn new(problem: &'p LinearProblem<'a>, settings: &Settings, start: Start) -> Self {
        let rows = problem.len();
        let state = RowState {
            values: vec![0.0; rows],
            coefficients: vec![0.0; rows],
            curvatures: vec![0.0; rows],
            changes: vec![0.0; rows],
            centres: Vec::new(),
            foreseen: Vec::new(),
            sharpness: 1.0,
        };
        // G twice, and a factor of a part of it.
        let affordable = ((settings.memory / 4 / 24) as f64).sqrt() as usize;
        let mut search = Search {
            problem,
            passes: Passes::new(problem),
            state,
            point: Direction::zero(problem.columns()),
            set: WorkingSet::new(problem),
            model: Model::Unknown,
            most_by_matrix: MOST_BY_MATRIX.min(affordable),
            steps: 0,
        };
        if let Start::Weights { weights, bias } = start
            && weights.len() == problem.columns()
        {
            let bias = if problem.bias == Bias::None { 0.0 } else { bias };
            search.begin_at(Direction { weights, bias });
        }
        search
    }

    /// Begins at the weights of a related problem.
    fn begin_at(&mut self, point: Direction) {
        if point.is_finite() {
            self.state.values = self.problem.values(&point.weights, point.bias);
            if self.state.values.iter().all(|value| value.is_finite()) {
                self.point = point;
            } else {
                self.state.values.fill(0.0);
            }
        }
    }

    fn descend(&mut self, settings: &Settings, control: &mut dyn Control) -> ControlFlow<Stop, Stop> {
        control.poll(Progress::default())?;
        let mut found = self.look(None);
        if !found.is_finite() {
            self.go_back(Direction::zero(self.problem.columns()));
            found = self.look(None);
        }
        let (mut least_primal, mut least_violation, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            let violation = self.violation(&found);
            let progress = Progress {
                iteration: self.steps,
                violation: Some(violation),
                gap: Some(self.least_gap(&found)),
                ..Progress::default()
            };
            control.poll(progress)?;
            let done = match settings.linear_gap() {
                Some(target) => {
                    let target = target * found.primal.abs();
                    self.least_gap(&found) <= target && self.gap(&found) <= target
                }
                None => violation <= settings.tolerance(),
            };
            if done {
                return ControlFlow::Continue(Stop::Converged);
            }
            if self.steps >= settings.max_iterations.unwrap_or(MAX_STEPS) {
                return ControlFlow::Continue(Stop::IterationLimit);
            }
            let better = found.primal < least_primal || violation < least_violation;
            idle = if better { 0 } else { idle + 1 };
            (least_primal, least_violation) = (least_primal.min(found.primal), least_violation.min(violation));
            if idle >= PATIENCE || !violation.is_finite() {
                return ControlFlow::Continue(Stop::Stalled);
            }
            let mut poll = || control.poll(progress);
            let direction = self.direction(&found, violation, &mut poll)?;
            if !direction.is_finite() {
                return ControlFlow::Continue(Stop::Stalled);
            }
            poll()?;
            let last = self.point.clone();
            found = self.step(&found, &direction);
            if !found.is_finite() {
                self.go_back(last);
                return ControlFlow::Continue(Stop::Stalled);
            }
            self.steps += 1;
        }
    }

    /// Back to a point whose numbers were finite; to 0 where its coefficients are not.
    fn go_back(&mut self, point: Direction) {
        self.state.values = self.problem.values(&point.weights, point.bias);
        self.point = point;
        self.look(None);
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !(finite(&self.state.values) && finite(&self.state.coefficients)) {
            self.point = Direction::zero(self.problem.columns());
            self.state.values.fill(0.0);
            self.state.coefficients.fill(0.0);
        }
    }

    /// A pass at the point, or a whole direction further.
    fn look(&mut self, direction: Option<&Direction>) -> PassResult {
        let Advanced { combined: products, sums, .. } = self.passes.advance(&mut self.state, direction);
        let primal = self.norm(&self.point) + sums.losses; // (L1.1)
        PassResult { products, primal, sums }
    }

    /// ‖w‖₁, a folded bias included.
    fn norm(&self, point: &Direction) -> f64 {
        let of_bias = if self.problem.bias == Bias::Folded { point.bias.abs() } else { 0.0 };
        point.weights.iter().map(|weight| weight.abs()).sum::<f64>() + of_bias
    }

    /// (L1.2)
    fn violation(&self, found: &PassResult) -> f64 {
        let of_bias = match self.problem.bias {
            Bias::Explicit => found.products.bias.abs(),
            Bias::Folded => quadratic::violation(self.point.bias, -found.products.bias, 1.0),
            Bias::None => 0.0,
        };
        let weights = self.point.weights.iter().zip(&found.products.weights);
        weights.map(|(&weight, product)| quadratic::violation(weight, -product, 1.0)).fold(of_bias, f64::max)
    }

    /// A lower bound on the gap: the dual along c is concave and so lies below its tangent.
    fn least_gap(&self, found: &PassResult) -> f64 {
        let largest = largest_product(self.problem.bias, &found.products);
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        // D′(1) of (N.4) is Σ c_i f_i.
        let slope = self.point.dot(&found.products);
        found.primal - (found.sums.dual_terms + (scale - 1.0) * slope).min(found.primal)
    }

    /// The gap as the certificate states it.
    fn gap(&mut self, found: &PassResult) -> f64 {
        if self.problem.bias != Bias::Explicit || found.products.bias == 0.0 {
            return found.primal - dual_point(self.problem, &self.state.coefficients, &found.products).value;
        }
        let mut coefficients = self.state.coefficients.clone();
        self.problem.balance(&mut coefficients);
        let combined = self.passes.combine(&coefficients);
        found.primal - dual_point(self.problem, &coefficients, &combined).value
    }

    /// d of (L1.3), over all columns.
    fn direction(
        &mut self,
        found: &PassResult,
        violation: f64,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Direction> {
        let problem = self.problem;
        if self.set.choose(problem, &self.point.weights, &found.products.weights, violation) {
            self.model = Model::Unknown;
        }
        poll()?;
        let columns = &self.set.columns;
        let mut point: Vec<f64> = columns.iter().map(|&j| self.point.weights[j]).collect();
        let mut gradient: Vec<f64> = columns.iter().map(|&j| -found.products.weights[j]).collect();
        let mut penalties = vec![1.0; columns.len()];
        if problem.bias != Bias::None {
            point.push(self.point.bias);
            gradient.push(-found.products.bias);
            penalties.push(if problem.bias == Bias::Folded { 1.0 } else { 0.0 });
        }
        let tolerance = violation * violation.clamp(MOST_ACCURACY, LEAST_ACCURACY);
        self.renew_model(poll)?;
        let minimum = match &self.model {
            Model::Matrix { matrix, .. } => {
                let workers = problem.workers;
                let (gradient, point, penalties) = (&gradient[..], &point[..], &penalties[..]);
                Quadratic { matrix, gradient, point, penalties, workers }.minimise(tolerance, poll)?
            }
            Model::Columns(columns) => {
                let curvatures = &self.state.curvatures;
                let (gradient, point, penalties) = (&gradient[..], &point[..], &penalties[..]);
                ByColumns { columns, curvatures, gradient, point, penalties }.minimise(tolerance, poll)?
            }
            Model::Unknown => point.clone(),
        };
        let mut direction = Direction::zero(problem.columns());
        self.set.columns.iter().enumerate().for_each(|(k, &j)| direction.weights[j] = minimum[k] - point[k]);
        if problem.bias != Bias::None {
            direction.bias = minimum[columns_of(&self.set)] - point[columns_of(&self.set)];
        }
        ControlFlow::Continue(direction)
    }

    /// Makes the model that of the rows' curvatures.
    fn renew_model(&mut self, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop> {
        let problem = self.problem;
        let (matrix, rows) = self.set.rows(problem);
        if self.set.columns.len() > self.most_by_matrix {
            if !matches!(self.model, Model::Columns(_)) {
                self.model = Model::Columns(Columns::new(matrix, rows));
            }
            return ControlFlow::Continue(());
        }
        let now = &self.state.curvatures;
        let constant = problem.bias != Bias::None;
        let mut scattered = |weights: &[f64]| {
            Scatter { matrix, rows, weights, constant, centres: None, workers: problem.workers }.lower(poll)
        };
        if let Model::Matrix { matrix, curvatures, changes } = &mut self.model
            && problem.loss == RowLoss::Squared
            && *changes < MOST_CHANGES
        {
            let used = now.iter().filter(|h| **h != 0.0).count();
            let changed = now.iter().zip(&*curvatures).filter(|(new, old)| new != old).count();
            if changed <= used / 2 {
                let part = |sign: f64| -> Vec<f64> {
                    now.iter().zip(&*curvatures).map(|(new, old)| (sign * (new - old)).max(0.0)).collect()
                };
                let (more, less) = (scattered(&part(1.0))?, scattered(&part(-1.0))?);
                *matrix += mirrored(more) - mirrored(less);
                curvatures.copy_from_slice(now);
                *changes += 1;
                return ControlFlow::Continue(());
            }
        }
        let matrix = mirrored(scattered(now)?);
        self.model = Model::Matrix { matrix, curvatures: now.clone(), changes: 0 };
        ControlFlow::Continue(())
    }

    /// Goes along a direction: all of it if F does not rise too steeply there, else to where F has just stopped to fall.
    fn step(&mut self, from: &PassResult, direction: &Direction) -> PassResult {
        let start = self.point.clone();
        let before = self.slope_of_norm(&start, direction, 0.0) - from.products.dot(direction);
        self.point.add(1.0, direction);
        let found = self.look(Some(direction));
        let slope = self.slope_of_norm(&start, direction, 1.0) - found.sums.slope;
        let lower = found.primal <= from.primal + 1e-13 * from.primal.abs();
        if slope <= 0.0 || (lower && slope <= 0.5 * before.abs()) {
            return found;
        }
        // The rows have gone a whole step already.
        let changes = std::mem::take(&mut self.state.changes);
        let values: Vec<f64> = self.state.values.iter().zip(&changes).map(|(value, change)| value - change).collect();
        let slope_at = |t: f64| {
            let problem = self.problem;
            let rows = problem.workers.map_chunks(problem.len(), 4096, |range| {
                let pull = |i: usize| {
                    problem.loss.pull(problem.targets[i], problem.costs[i], values[i] + t * changes[i], 0.0, 1.0)
                };
                range.map(|i| pull(i).coefficient * changes[i]).sum::<f64>()
            });
            self.slope_of_norm(&start, direction, t) - rows.iter().sum::<f64>()
        };
        let step = falling_until(before, slope_at);
        self.state.values = values;
        self.state.values.iter_mut().zip(&changes).for_each(|(value, change)| *value += step * change);
        self.state.changes = changes;
        self.point = start;
        self.point.add(step, direction);
        self.look(None)
    }

    /// The slope of ‖w + td‖₁ in t, from the right at 0 and from the left elsewhere.
    fn slope_of_norm(&self, start: &Direction, direction: &Direction, t: f64) -> f64 {
        let one = |at: f64, change: f64| {
            let there = at + t * change;
            if there != 0.0 {
                there.signum() * change
            } else if t > 0.0 {
                -change.abs()
            } else {
                change.abs()
            }
        };
        let of_bias = if self.problem.bias == Bias::Folded { one(start.bias, direction.bias) } else { 0.0 };
        let changed = start.weights.iter().zip(&direction.weights).filter(|(_, change)| **change != 0.0);
        changed.map(|(&at, &change)| one(at, change)).sum::<f64>() + of_bias
    }
}

/// A t in (0, 1) at which a convex function still falls, but by no more than 0.3 of how it fell at 0. `slope_at(t)` is its slope.
fn falling_until(before: f64, mut slope_at: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let slope = slope_at(middle);
        if slope > 0.0 {
            high = middle;
        } else {
            low = middle;
            if slope >= 0.3 * before {
                break;
            }
        }
    }
    low
}

/// How many columns a working set has, and so the place of the bias behind them.
fn columns_of(set: &WorkingSet) -> usize {
    set.columns.len()
}

/// Columns of a matrix that are mirrored at a time, so that both sides stay in the cache.
const TILE: usize = 64;

/// Both halves of a symmetric matrix whose lower half is filled.
fn mirrored(mut matrix: Mat<f64>) -> Mat<f64> {
    let size = matrix.ncols();
    for top in (0..size).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for column in left..(left + TILE).min(size) {
                for row in top.max(column + 1)..(top + TILE).min(size) {
                    matrix[(column, row)] = matrix[(row, column)];
                }
            }
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::problem::Loss;
    use crate::problem::Norm;
    use crate::solver::SolverKind;

    const LOSSES: [Loss; 2] = [Loss::Squared, Loss::Logistic];

    fn fixture(points: &[([f64; 2], f64)], cost: f64, loss: Loss) -> Fixture {
        Fixture::new(points, cost).loss(loss).norm(Norm::L1)
    }

    #[test]
    fn every_loss_bias_and_cost_reaches_its_tolerance_and_the_certificate_agrees() {
        for seed in 0..4 {
            for loss in LOSSES {
                for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                    for cost in [1e-3, 1.0, 1e3] {
                        let fixture = fixture(&blobs(60, 1.0, seed), cost, loss).bias(bias);
                        let solution = fixture.solve(SolverKind::L1Newton, &tolerance(1e-7));
                        let what = format!("seed {seed} {loss:?} {bias:?} {cost}");
                        assert_eq!(solution.stop, Stop::Converged, "{what}");
                        let evidence = fixture.with(|problem| crate::certificate::certify(problem, &solution, 1e-6));
                        let certificate = evidence.certificate().unwrap();
                        assert!(certificate.violation <= 1.01e-7, "{what}: {certificate:?}");
                        assert!((0.0..=1e-6).contains(&certificate.relative_gap), "{what}: {certificate:?}");
                    }
                }
            }
        }
    }

    /// One column, two rows, C = 1: `|w| + 2 (1 − w)²` is least at w = 3/4, where it is 7/8.
    #[test]
    fn a_problem_of_two_rows_has_the_solution_found_by_hand() {
        let fixture = fixture(&[([1.0, 0.0], 1.0), ([-1.0, 0.0], -1.0)], 1.0, Loss::Squared).bias(Bias::None);
        let solution = fixture.solve(SolverKind::L1Newton, &tolerance(1e-12));
        let Decision::Linear { weights, bias } = &solution.decision else { panic!("not linear") };
        assert!((weights[0] - 0.75).abs() < 1e-12 && weights[1] == 0.0 && *bias == 0.0, "{weights:?}");
        let evidence = fixture.with(|problem| crate::certificate::certify(problem, &solution, 1e-6));
        let certificate = evidence.certificate().unwrap();
        assert!((certificate.primal - 0.875).abs() < 1e-12 && (certificate.dual - 0.875).abs() < 1e-12);
    }

    #[test]
    fn a_start_at_the_optimum_stays_there() {
        for loss in LOSSES {
            let fixture = fixture(&blobs(150, 0.8, 1), 2.0, loss);
            let cold = fixture.solve(SolverKind::L1Newton, &tolerance(1e-8));
            let Decision::Linear { weights, bias } = cold.decision.clone() else { panic!("not linear") };
            let warm = fixture.with(|problem| {
                let start = Start::Weights { weights, bias };
                solve(problem, &tolerance(1e-8), start, &mut crate::control::Unattended)
            });
            assert_eq!((warm.stop, warm.iterations), (Stop::Converged, 0), "{loss:?}");
        }
    }

    #[test]
    fn a_start_that_is_none_is_left_out() {
        for weights in [vec![f64::NAN, 1.0], vec![1.0], vec![f64::MAX, f64::MAX]] {
            let fixture = fixture(&blobs(40, 0.8, 1), 2.0, Loss::Squared);
            let solution = fixture.with(|problem| {
                let start = Start::Weights { weights: weights.clone(), bias: 0.0 };
                solve(problem, &tolerance(1e-8), start, &mut crate::control::Unattended)
            });
            assert_eq!(solution.stop, Stop::Converged, "{weights:?}");
        }
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        for loss in LOSSES {
            assert_interrupts(SolverKind::L1Newton, &fixture(&separable(), 1.0, loss));
        }
    }

    #[test]
    fn threads_change_nothing() {
        for loss in LOSSES {
            let make = || fixture(&blobs(30_000, 0.5, 1), 1.0, loss);
            assert_threads_change_nothing(SolverKind::L1Newton, make);
        }
    }

    #[test]
    fn numbers_at_the_end_of_the_range_give_a_finite_solution() {
        for scale in [1e-150, 1e-30, 1e30, 1e149] {
            let points: Vec<_> = separable().into_iter().map(|(x, y)| (x.map(|v| v * scale), y)).collect();
            for cost in [1e-10, 1.0, 1e12] {
                for loss in LOSSES {
                    let solution = fixture(&points, cost, loss).solve(SolverKind::L1Newton, &Settings::default());
                    assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{scale:e} {cost:e} {loss:?}");
                }
            }
        }
    }

    #[test]
    fn too_little_memory_is_refused() {
        fixture(&separable(), 1.0, Loss::Squared).with(|problem| {
            assert!(
                crate::solver::supports(
                    SolverKind::L1Newton,
                    problem,
                    &Settings { memory: 100, ..Settings::default() }
                )
                .is_err()
            );
            assert!(crate::solver::supports(SolverKind::L1Newton, problem, &Settings::default()).is_ok());
        });
    }

    #[test]
    fn a_step_along_a_line_ends_where_the_slope_has_nearly_vanished() {
        for minimum in [0.9, 0.3, 0.01] {
            let step = falling_until(-minimum, |t| t - minimum);
            assert!(step <= minimum && step >= 0.69 * minimum, "{minimum}: {step}");
        }
    }

    #[test]
    fn a_mirrored_matrix_is_symmetric() {
        let size = 130;
        let whole = |j: usize, k: usize| (j.min(k) * 1000 + j.max(k)) as f64;
        let found = mirrored(Mat::from_fn(size, size, |j, k| if j >= k { whole(j, k) } else { 0.0 }));
        assert!((0..size).all(|j| (0..size).all(|k| found[(j, k)] == whole(j, k))));
    }
}
