//! Newton's method on the primal, in the coefficients of a kernel expansion: any kernel, thousands of rows.
//!
//! # Problem
//! ```text
//! min  ½ β′Kβ + Σ_i C_i max(0, 1 − y_i f_i)²,   f = Kβ + b                             (KN.1)
//! ```
//! An explicit b is free; with a folded one K is the kernel of the folded points and b = 0 here.
//!
//! # Optimality
//! ```text
//! β_i = 2C_i y_i max(0, 1 − y_i f_i),   explicit bias: Σ β_i = 0                      (KN.2)
//! ```
//! so that `α_i = y_i β_i` solve the dual.
//!
//! # Step
//! Over the rows A with `y_i f_i < 1`, and with β = 0 elsewhere, Newton's step leads to
//! ```text
//! (K_AA + diag(1/(2C_i))) β_A + b 1 = y_A,   1′β_A = 0                                (KN.3)
//! ```
//! (without the second equation and b unless the bias is explicit), solved by Cholesky's method. Then the exact
//! minimiser of the objective along the line to that point: 1 once A is right, which lands on the optimum. After a step without progress
//! the whole step is taken: a large C leaves the line search no digits.
//! The first set A comes from the same problem over every other row, and so on down to a few hundred: the large
//! systems then have about as many equations as there are support vectors, not rows. A large C is reached over
//! smaller ones, a hundred times larger each.
//!
//! # Stopping
//! When the violation of the dual's optimality conditions at `α_i = max(0, y_i β_i)`, as the certificate measures it, is
//! within the tolerance. `Stalled` after 10
//! steps without a lower violation or objective.
//!
//! # Cost
//! K costs n² kernel values once; a step |A|³/3 + n². Memory 2n² numbers.
//!
//! # When to use
//! Squared loss, a kernel, and up to some ten thousand rows.
//!
//! # Reference
//! O. Chapelle, Training a support vector machine in the primal, Neural Computation 19, 2007.

use std::ops::ControlFlow;

use super::line_search::exact_step;
use super::{Settings, Solution, cholesky, decision_of, dot};
use crate::control::{Control, Progress, Step, Stop};
use crate::problem::{Bias, DualProblem, FromNu, Loss, MarginProblem};
use crate::provenance::Note;
use crate::workers::Workers;

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 1000;
/// Steps without progress before the solver gives up.
const PATIENCE: u32 = 10;
/// Rows of K computed between two polls.
const ROWS_A_POLL: usize = 32;
/// The most steps on a smaller problem at whose solution the next one begins.
const STEPS_A_STAGE: u64 = 50;
/// C times the mean of K_ii above which smaller costs come first.
const LARGE_COST: f64 = 1e4;
/// Rows of K multiplied between two polls.
const PRODUCTS_A_POLL: usize = 1024;
/// A problem of fewer rows starts with all of them active.
const FEW_ROWS: usize = 500;

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    let rows = problem.len() as u64;
    rows.saturating_mul(rows).saturating_mul(16)
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let zeros = || vec![0.0; problem.len()];
    let mut state = State { alpha: zeros(), coefficients: zeros(), bias: 0.0, values: zeros() };
    let mut iterations = 0;
    let mut notes = Vec::new();
    let stop = match problem.dual() {
        Ok(dual) => match run(problem, &dual, settings, control, &mut state, &mut iterations, &mut notes) {
            ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
        },
        Err(_) => Stop::Stalled,
    };
    let decision = decision_of(problem, state.coefficients, state.bias);
    Solution {
        from_nu: FromNu::Nothing,
        decision,
        alpha: Some(state.alpha),
        decision_values: Some(state.values),
        stop,
        iterations,
        notes,
    }
}

/// α, and the decision function: its coefficients, b and values.
struct State {
    alpha: Vec<f64>,
    coefficients: Vec<f64>,
    bias: f64,
    values: Vec<f64>,
}

fn run(
    problem: &MarginProblem<'_>,
    dual: &DualProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
    state: &mut State,
    iterations: &mut u64,
    notes: &mut Vec<Note>,
) -> ControlFlow<Stop, Stop> {
    let table = Table::new(problem, &mut || control.poll(Progress::default()))?;
    if !table.values.iter().all(|value| value.is_finite()) {
        notes.push(Note::KernelNotFinite);
        return ControlFlow::Continue(Stop::Stalled);
    }
    let limit = settings.max_iterations.unwrap_or(MAX_STEPS);
    let size = problem.len();
    let stages = stages(problem);
    let is_watched = control.wants_steps();
    let mut point = Point { beta: vec![0.0; size], bias: 0.0, values: vec![0.0; size] };
    for (stage, &(stride, factor)) in stages.iter().enumerate() {
        let rows: Vec<usize> = (0..size).step_by(stride).collect();
        let costs: Vec<f64> = problem.costs().iter().map(|cost| factor * cost).collect();
        let (whole, mut steps) = (stage + 1 == stages.len(), 0);
        let (mut best, mut stored, mut lowest) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let (mut idle, mut last_active) = (0, Vec::new());
        loop {
            let mut violation = None;
            if whole {
                let mut poll = || control.poll(Progress { iteration: *iterations, ..Progress::default() });
                let next = point.certified(problem, &table, &mut poll)?;
                let gradient: Vec<f64> = (0..size)
                    .map(|i| {
                        let kernel = problem.signs()[i] * (next.values[i] - next.bias);
                        kernel + dual.ridge()[i] * next.alpha[i] + dual.linear()[i]
                    })
                    .collect();
                let found = dual.violation(&next.alpha, &gradient);
                if !found.is_finite() {
                    return ControlFlow::Continue(Stop::Stalled);
                }
                violation = Some(found);
                let objective = point.objective(problem);
                idle = if found < best || objective < lowest { 0 } else { idle + 1 };
                // The best point is the lowest one, and of points as low the one nearest to optimality.
                let lower = objective < lowest - 1e-9 * lowest.abs() || lowest.is_infinite();
                let as_low = objective <= lowest + 1e-9 * lowest.abs();
                lowest = lowest.min(objective);
                if found <= settings.tolerance() {
                    *state = next;
                } else if lower || (as_low && found < stored) {
                    // The point itself is the better decision function, as long as its α are not optimal.
                    let (coefficients, values) = (point.beta.clone(), point.values.clone());
                    (stored, *state) = (found, State { coefficients, values, ..next });
                }
                best = best.min(found);
            }
            let progress = Progress { iteration: *iterations, violation, ..Progress::default() };
            control.poll(progress)?;
            if violation.is_some_and(|violation| violation <= settings.tolerance()) {
                return ControlFlow::Continue(Stop::Converged);
            }
            if *iterations >= limit {
                return ControlFlow::Continue(Stop::IterationLimit);
            }
            if idle >= PATIENCE {
                if !crate::kernel::Kernel::always_positive_semidefinite(problem.kernel()) {
                    notes.push(Note::KernelInDoubt { kernel: problem.kernel().name() });
                }
                return ControlFlow::Continue(Stop::Stalled);
            }
            let active: Vec<usize> =
                rows.iter().copied().filter(|&i| problem.signs()[i] * point.values[i] < 1.0).collect();
            if !whole && (active == last_active || steps >= STEPS_A_STAGE) {
                break;
            }
            steps += 1;
            // Where the line search has no digits left, whole steps may still find the right set of rows.
            let whole_step = idle > 0;
            let mut poll = || control.poll(progress);
            let Some(next) = point.step(problem, &table, &costs, &rows, &active, whole_step, &mut poll)? else {
                return ControlFlow::Continue(Stop::Stalled);
            };
            let (next, length) = next;
            (point, last_active) = (next, active);
            *iterations += 1;
            if is_watched {
                control.step(Step::Newton {
                    machine: 0,
                    iteration: *iterations,
                    active: last_active.iter().map(|&i| problem.rows()[i]).collect(),
                    length,
                    weights: Vec::new(),
                    coefficients: point.beta.clone(),
                    bias: point.bias,
                    primal: point.objective(problem),
                    violation,
                });
            }
        }
    }
    ControlFlow::Continue(Stop::Stalled)
}

/// The smaller problems that lead to the whole one: each takes every k-th row, and multiplies all C by a factor.
///
/// First small costs, then many rows. While the wrong rows are active, a large C makes large coefficients, whose sums lose the digits
/// that the line search needs. A start next to the optimum avoids that.
fn stages(problem: &MarginProblem<'_>) -> Vec<(usize, f64)> {
    let size = problem.len();
    let mut stride = 1;
    while size / (2 * stride) >= FEW_ROWS {
        stride *= 2;
    }
    let mean = problem.gram().diagonal(problem.rows()).iter().map(|value| value.abs() / size as f64).sum::<f64>();
    let strength = problem.costs().iter().copied().fold(0.0, f64::max) * mean;
    let mut stages = vec![(stride, 1.0)];
    while strength * stages[0].1 > LARGE_COST && stages.len() < 20 {
        stages.insert(0, (stride, 0.01 * stages[0].1));
    }
    while stride > 1 {
        stride /= 2;
        stages.push((stride, 1.0));
    }
    stages
}

/// K, row after row.
struct Table<'a> {
    size: usize,
    values: Vec<f64>,
    workers: &'a Workers,
}

impl<'a> Table<'a> {
    fn new(problem: &MarginProblem<'a>, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, Self> {
        let size = problem.len();
        let mut values = vec![0.0; size * size];
        let (gram, rows) = (problem.gram(), problem.rows());
        for (k, block) in values.chunks_mut(ROWS_A_POLL * size).enumerate() {
            poll()?;
            let first = k * ROWS_A_POLL;
            gram.block(&rows[first..first + block.len() / size], rows, block);
        }
        ControlFlow::Continue(Table { size, values, workers: problem.workers() })
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.size..(i + 1) * self.size]
    }

    /// Kβ
    fn product(&self, beta: &[f64], poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, Vec<f64>> {
        let used: Vec<usize> = (0..self.size).filter(|&j| beta[j] != 0.0).collect();
        let mut out = vec![0.0; self.size];
        for (k, block) in out.chunks_mut(PRODUCTS_A_POLL).enumerate() {
            poll()?;
            self.workers.fill_chunks(block, 64, |start, chunk| {
                let first = k * PRODUCTS_A_POLL + start;
                for (i, value) in (first..).zip(chunk) {
                    let row = self.row(i);
                    *value = used.iter().map(|&j| row[j] * beta[j]).sum();
                }
            });
        }
        ControlFlow::Continue(out)
    }
}

/// β and b, with f = Kβ + b.
struct Point {
    beta: Vec<f64>,
    bias: f64,
    values: Vec<f64>,
}

impl Point {
    /// The dual variables of this point, none below 0, and the decision function they make.
    fn certified(
        &self,
        problem: &MarginProblem<'_>,
        table: &Table<'_>,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, State> {
        let signs = problem.signs();
        let alpha: Vec<f64> = self.beta.iter().zip(signs).map(|(beta, sign)| (beta * sign).max(0.0)).collect();
        if (0..alpha.len()).all(|i| alpha[i] * signs[i] == self.beta[i]) {
            let (coefficients, values) = (self.beta.clone(), self.values.clone());
            return ControlFlow::Continue(State { alpha, coefficients, bias: self.bias, values });
        }
        let coefficients: Vec<f64> = alpha.iter().zip(signs).map(|(alpha, sign)| alpha * sign).collect();
        let values = table.product(&coefficients, poll)?.iter().map(|value| value + self.bias).collect();
        ControlFlow::Continue(State { alpha, coefficients, bias: self.bias, values })
    }

    /// (KN.1)
    fn objective(&self, problem: &MarginProblem<'_>) -> f64 {
        let norm: f64 = self.beta.iter().zip(&self.values).map(|(beta, value)| beta * (value - self.bias)).sum();
        let row = |i: usize| problem.costs()[i] * Loss::Squared.value(problem.signs()[i] * self.values[i]);
        0.5 * norm + (0..problem.len()).map(row).sum::<f64>()
    }

    #[allow(clippy::too_many_arguments)] // the parts of one system
    /// A step of the problem over some rows with these costs, towards the solution of (KN.3) over the active ones, and its length; `None`
    /// when that has no finite solution.
    fn step(
        &self,
        problem: &MarginProblem<'_>,
        table: &Table<'_>,
        costs: &[f64],
        rows: &[usize],
        active: &[usize],
        whole_step: bool,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<(Point, f64)>> {
        let signs = problem.signs();
        let column = |j: usize, out: &mut [f64]| {
            let row = table.row(active[j]);
            active[j..].iter().zip(out.iter_mut()).for_each(|(&i, value)| *value = row[i]);
            out[0] += 0.5 / costs[active[j]];
        };
        let Some(factor) = cholesky::factor(active.len(), &column, 0.0, problem.workers(), poll)? else {
            return ControlFlow::Continue(None);
        };
        // (KN.3), by elimination of b
        let mut target: Vec<f64> = active.iter().map(|&i| signs[i]).collect();
        factor.solve(&mut target);
        let mut bias = self.bias;
        if problem.bias() == Bias::Explicit && !active.is_empty() {
            let mut ones = vec![1.0; active.len()];
            factor.solve(&mut ones);
            bias = target.iter().sum::<f64>() / ones.iter().sum::<f64>();
            target.iter_mut().zip(&ones).for_each(|(value, one)| *value -= bias * one);
        }
        let mut direction: Vec<f64> = self.beta.iter().map(|beta| -beta).collect();
        active.iter().zip(&target).for_each(|(&i, value)| direction[i] += value);
        let along_bias = bias - self.bias;
        let lifted = table.product(&direction, poll)?;
        let along: f64 = (0..signs.len()).map(|i| (self.values[i] - self.bias) * direction[i]).sum();
        let (margins, changes): (Vec<f64>, Vec<f64>) =
            rows.iter().map(|&i| (signs[i] * self.values[i], signs[i] * (lifted[i] + along_bias))).unzip();
        let row_costs: Vec<f64> = rows.iter().map(|&i| costs[i]).collect();
        let curvature = dot(&direction, &lifted);
        let step = if whole_step { 1.0 } else { exact_step(along, curvature, &margins, &changes, &row_costs) };
        let mut beta: Vec<f64> = self.beta.iter().zip(&direction).map(|(beta, d)| beta + step * d).collect();
        let mut values: Vec<f64> = (0..signs.len()).map(|i| self.values[i] + step * (lifted[i] + along_bias)).collect();
        let bias = self.bias + step * along_bias;
        if step == 1.0 {
            // After a whole step the new point is exact, without the rounding of the way.
            beta.fill(0.0);
            active.iter().zip(&target).for_each(|(&i, &value)| beta[i] = value);
            values = table.product(&beta, poll)?.iter().map(|value| value + bias).collect();
        }
        let finite = bias.is_finite() && beta.iter().chain(&values).all(|value| value.is_finite());
        ControlFlow::Continue(finite.then_some((Point { beta, bias, values }, step)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::kernel::{Gamma, KernelParams};
    use crate::solver::SolverKind;

    fn kernels() -> [KernelParams; 3] {
        [KernelParams::Linear, quadratic(), KernelParams::Rbf { gamma: Gamma::Value(0.5) }]
    }

    #[test]
    fn the_certificate_holds_for_every_kernel_bias_and_cost() {
        for kernel in kernels() {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                for cost in [1e-3, 1.0, 1e3, 1e6] {
                    let fixture = Fixture::new(&blobs(60, 1.0, 3), cost).loss(Loss::Squared).bias(bias);
                    let fixture = fixture.kernel(kernel.clone());
                    let solution = fixture.solve(SolverKind::KernelNewton, &tolerance(1e-6));
                    assert_eq!(solution.stop, Stop::Converged, "{kernel:?} {bias:?} {cost}");
                    assert!(fixture.violation(&solution) <= 1e-6, "{kernel:?} {bias:?} {cost}");
                    let sum: f64 =
                        solution.alpha.iter().flatten().zip(&fixture.signs).map(|(alpha, sign)| alpha * sign).sum();
                    assert!(bias != Bias::Explicit || sum.abs() <= 1e-9 * cost.max(1.0));
                }
            }
        }
    }

    #[test]
    fn with_a_linear_kernel_it_agrees_with_newton() {
        for seed in 0..5 {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                for cost in [1e-3, 1e-1, 1.0, 1e3] {
                    let mut fixture = Fixture::new(&blobs(50, 1.2, seed), cost).loss(Loss::Squared).bias(bias);
                    fixture.costs.iter_mut().step_by(3).for_each(|cost| *cost *= 2.5);
                    let objective = |kind| fixture.primal(&fixture.solve(kind, &tolerance(1e-8)));
                    let (one, other) = (objective(SolverKind::Newton), objective(SolverKind::KernelNewton));
                    assert!((one - other).abs() <= 1e-8 * one, "seed {seed} {bias:?} {cost}: {one} {other}");
                }
            }
        }
    }

    #[test]
    fn growing_sets_of_rows_lead_to_the_same_optimum() {
        let fixture = Fixture::new(&blobs(1300, 0.7, 5), 1.0).loss(Loss::Squared);
        let linear = fixture.primal(&fixture.solve(SolverKind::Newton, &tolerance(1e-8)));
        let solution = fixture.solve(SolverKind::KernelNewton, &tolerance(1e-8));
        assert_eq!(solution.stop, Stop::Converged);
        assert!((fixture.primal(&solution) - linear).abs() <= 1e-8 * linear);
    }

    #[test]
    fn separable_rows_at_a_large_cost_converge() {
        for seed in 0..5 {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                let fixture = Fixture::new(&blobs(24, 3.5, seed), 1e8).loss(Loss::Squared).bias(bias);
                let solution = fixture.solve(SolverKind::KernelNewton, &Settings::default());
                assert_eq!(solution.stop, Stop::Converged, "seed {seed} {bias:?}");
                assert!(fixture.violation(&solution) <= 1e-3);
            }
        }
    }

    #[test]
    fn a_kernel_that_is_none_ends_with_a_finite_solution() {
        let kernel = KernelParams::Sigmoid { gamma: Gamma::Value(2.0), coef0: -3.0 };
        let fixture = Fixture::new(&blobs(40, 0.5, 2), 100.0).loss(Loss::Squared).kernel(kernel);
        let solution = fixture.solve(SolverKind::KernelNewton, &Settings::default());
        assert!(numbers(&solution).iter().all(|value| value.is_finite()));
        assert!(solution.stop != Stop::Converged || fixture.violation(&solution) <= 1e-3);
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::KernelNewton, &Fixture::new(&separable(), 1.0).loss(Loss::Squared));
    }

    #[test]
    fn threads_change_nothing() {
        let fixture = || Fixture::new(&blobs(700, 0.5, 1), 1.0).loss(Loss::Squared).kernel(quadratic());
        assert_threads_change_nothing(SolverKind::KernelNewton, fixture);
    }
}
