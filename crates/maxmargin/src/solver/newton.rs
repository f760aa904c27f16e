//! Newton's method on the primal with a linear kernel: few columns, any number of rows.
//!
//! # Problem
//! ```text
//! min  F(w, b) = ½‖w‖² + Σ_i C_i max(0, 1 − y_i f(x_i))²,   f(x) = ⟨w, x⟩ + b          (NW.1)
//! ```
//! F is convex and piecewise quadratic. An explicit b is not penalised, a folded one is.
//!
//! # Optimality
//! The gradient vanishes. With `α_i = 2C_i max(0, 1 − y_i f(x_i))` it is
//! ```text
//! g = w − Σ α_i y_i x_i,   g_b = −Σ α_i y_i   (b − Σ α_i y_i when folded)              (NW.2)
//! ```
//! so that at the optimum these α solve the dual.
//!
//! # Step
//! Over the rows A with `y_i f(x_i) < 1`
//! ```text
//! H = I + 2 Σ_A C_i x_i x_i′,   H d = −g                                             (NW.3)
//! ```
//! by Cholesky's method (with a ridge of a few units of rounding where H is singular), then the exact minimiser of F along d.
//! The step is 1 once A is right, and lands on the optimum.
//!
//! # Stopping
//! When the violation of the dual's optimality conditions at α, as the certificate measures it, and (explicit bias) the
//! change of the gradient that an exact `Σ α_i y_i = 0` would cost, are both within the tolerance, rounding included. `Stalled` after 10
//! steps without a lower violation or objective.
//!
//! # Cost
//! A step costs |A| · columns² + columns³/3, memory 2 · columns² numbers. A dozen steps are usual.
//!
//! # When to use
//! Squared loss, and at most a few thousand columns.
//!
//! # Reference
//! S. S. Keerthi and D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs,
//! JMLR 6, 2005. O. L. Mangasarian, A finite Newton method for classification, 2002.

use std::ops::ControlFlow;

use super::hessian::{self, Ridge};
use super::line_search::exact_step;
use super::{Decision, Settings, Solution, dot};
use crate::control::{Control, Progress, Step, Stop};
use crate::problem::{Bias, DualProblem, FromNu, Loss, MarginProblem};

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 1000;
/// Steps without progress before the solver gives up.
const PATIENCE: u32 = 10;

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    hessian::bytes(problem.points().matrix().columns())
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let mut state = State::new(problem);
    let stop = match problem.dual() {
        Ok(dual) => match state.descend(problem, &dual, settings, control) {
            ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
        },
        Err(_) => Stop::Stalled,
    };
    Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: state.weights, bias: state.bias },
        alpha: Some(state.alpha),
        decision_values: Some(state.decision_values),
        stop,
        iterations: state.iterations,
        notes: Vec::new(),
    }
}

/// A point (w, b) and what belongs to it.
struct State {
    weights: Vec<f64>,
    bias: f64,
    decision_values: Vec<f64>,
    alpha: Vec<f64>,
    iterations: u64,
}

impl State {
    fn new(problem: &MarginProblem<'_>) -> Self {
        let columns = problem.points().matrix().columns();
        State {
            weights: vec![0.0; columns],
            bias: 0.0,
            decision_values: vec![0.0; problem.len()],
            alpha: problem.costs().iter().map(|&cost| Loss::Squared.dual_of_margin(0.0, cost)).collect(),
            iterations: 0,
        }
    }

    fn descend(
        &mut self,
        problem: &MarginProblem<'_>,
        dual: &DualProblem<'_>,
        settings: &Settings,
        control: &mut dyn Control,
    ) -> ControlFlow<Stop, Stop> {
        let (signs, costs) = (problem.signs(), problem.costs());
        let (mut best_violation, mut best_objective, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        let squares = dual.gram().diagonal(dual.rows());
        let widest = squares.iter().copied().fold(0.0, f64::max);
        let lengths: Vec<f64> = squares.iter().map(|square| square.sqrt()).collect();
        let is_watched = control.wants_steps();
        loop {
            let coefficients: Vec<f64> = self.alpha.iter().zip(signs).map(|(alpha, sign)| alpha * sign).collect();
            let (of_alpha, folded) = problem.weights_of_coefficients(&coefficients);
            let imbalance: f64 = coefficients.iter().sum();
            // (NW.2)
            let mut gradient: Vec<f64> = self.weights.iter().zip(&of_alpha).map(|(w, v)| w - v).collect();
            match problem.bias() {
                Bias::Explicit => gradient.push(-imbalance),
                Bias::Folded => gradient.push(self.bias - imbalance),
                Bias::None => {}
            }
            let products = problem.decisions_of_weights(&of_alpha, folded);
            let dual_gradient: Vec<f64> = (0..signs.len())
                .map(|i| signs[i] * products[i] + dual.ridge()[i] * self.alpha[i] + dual.linear()[i])
                .collect();
            let cost_of_balance = if problem.bias() == Bias::Explicit { imbalance.abs() * widest } else { 0.0 };
            let rounding: f64 = self.alpha.iter().zip(&lengths).map(|(alpha, length)| alpha * length).sum();
            let rounding = f64::EPSILON * rounding * widest.sqrt();
            let violation = dual.violation(&self.alpha, &dual_gradient).max(cost_of_balance) + rounding;
            let progress = Progress { iteration: self.iterations, violation: Some(violation), ..Progress::default() };
            control.poll(progress)?;
            if violation <= settings.tolerance() {
                return ControlFlow::Continue(Stop::Converged);
            }
            if self.iterations >= settings.max_iterations.unwrap_or(MAX_STEPS) {
                return ControlFlow::Continue(Stop::IterationLimit);
            }
            let objective = self.objective(problem);
            let better = violation < best_violation || objective < best_objective;
            idle = if better { 0 } else { idle + 1 };
            (best_violation, best_objective) = (best_violation.min(violation), best_objective.min(objective));
            if idle >= PATIENCE {
                return ControlFlow::Continue(Stop::Stalled);
            }

            let mut poll = || control.poll(progress);
            let Some(direction) = self.direction(problem, &gradient, &mut poll)? else {
                return ControlFlow::Continue(Stop::Stalled);
            };
            poll()?;
            let (along_weights, along_bias) = direction.split_at(self.weights.len());
            let along_bias = along_bias.first().copied().unwrap_or(0.0);
            let change = problem.decisions_of_weights(along_weights, along_bias);
            let (margins, changes): (Vec<f64>, Vec<f64>) =
                (0..signs.len()).map(|i| (signs[i] * self.decision_values[i], signs[i] * change[i])).unzip();
            let penalised_bias = if problem.bias() == Bias::Folded { 1.0 } else { 0.0 };
            let along = dot(&self.weights, along_weights) + penalised_bias * self.bias * along_bias;
            let curvature = dot(along_weights, along_weights) + penalised_bias * along_bias * along_bias;
            let step = exact_step(along, curvature, &margins, &changes, costs);
            poll()?;

            let weights: Vec<f64> = self.weights.iter().zip(along_weights).map(|(w, d)| w + step * d).collect();
            let bias = self.bias + step * along_bias;
            let decision_values = problem.decisions_of_weights(&weights, bias);
            let alpha: Vec<f64> = (0..signs.len())
                .map(|i| Loss::Squared.dual_of_margin(signs[i] * decision_values[i], costs[i]))
                .collect();
            let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
            if !(finite(&weights) && bias.is_finite() && finite(&decision_values) && finite(&alpha)) {
                return ControlFlow::Continue(Stop::Stalled);
            }
            let active = if is_watched { self.active(problem) } else { Vec::new() };
            *self = State { weights, bias, decision_values, alpha, iterations: self.iterations + 1 };
            if is_watched {
                control.step(Step::Newton {
                    machine: 0,
                    iteration: self.iterations,
                    active,
                    length: step,
                    weights: self.weights.clone(),
                    coefficients: Vec::new(),
                    bias: self.bias,
                    primal: self.objective(problem),
                    violation: Some(violation),
                });
            }
        }
    }

    /// F of (NW.1)
    fn objective(&self, problem: &MarginProblem<'_>) -> f64 {
        let folded = if problem.bias() == Bias::Folded { self.bias * self.bias } else { 0.0 };
        let row = |i: usize| problem.costs()[i] * Loss::Squared.value(problem.signs()[i] * self.decision_values[i]);
        0.5 * (dot(&self.weights, &self.weights) + folded) + (0..problem.len()).map(row).sum::<f64>()
    }

    /// The rows with slack.
    fn active(&self, problem: &MarginProblem<'_>) -> Vec<usize> {
        let has_slack = |i: &usize| problem.signs()[*i] * self.decision_values[*i] < 1.0;
        (0..problem.len()).filter(has_slack).map(|i| problem.rows()[i]).collect()
    }

    /// d of (NW.3); `None` when H cannot be factored.
    fn direction(
        &self,
        problem: &MarginProblem<'_>,
        gradient: &[f64],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Vec<f64>>> {
        let active = |i: usize| problem.signs()[i] * self.decision_values[i] < 1.0;
        let weights: Vec<f64> =
            (0..problem.len()).map(|i| if active(i) { 2.0 * problem.costs()[i] } else { 0.0 }).collect();
        let (matrix, rows) = (problem.points().matrix(), problem.rows());
        hessian::direction(matrix, rows, problem.workers(), Ridge::of(problem), &weights, gradient, poll) // (NW.3)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::solver::SolverKind;

    #[test]
    fn the_certificate_holds_for_every_bias_and_cost() {
        for seed in 0..5 {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                for cost in [1e-3, 1.0, 1e3, 1e6] {
                    let fixture = Fixture::new(&blobs(60, 1.0, seed), cost).loss(Loss::Squared).bias(bias);
                    let solution = fixture.solve(SolverKind::Newton, &tolerance(1e-6));
                    assert_eq!(solution.stop, Stop::Converged, "seed {seed} {bias:?} {cost}");
                    assert!(fixture.violation(&solution) <= 1e-6, "seed {seed} {bias:?} {cost}");
                }
            }
        }
    }

    #[test]
    fn hinge_loss_and_kernels_are_refused() {
        let refused = |fixture: Fixture| {
            fixture.with(|problem| crate::solver::supports(SolverKind::Newton, problem, &Settings::default()).is_err())
        };
        assert!(refused(Fixture::new(&separable(), 1.0)));
        assert!(refused(Fixture::new(&separable(), 1.0).loss(Loss::Squared).kernel(quadratic())));
        assert!(!refused(Fixture::new(&separable(), 1.0).loss(Loss::Squared)));
        let small = Settings { memory: 16, ..Settings::default() };
        assert!(
            Fixture::new(&separable(), 1.0).loss(Loss::Squared).with(|problem| crate::solver::supports(
                SolverKind::Newton,
                problem,
                &small
            )
            .is_err())
        );
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::Newton, &Fixture::new(&separable(), 1.0).loss(Loss::Squared));
    }

    #[test]
    fn threads_change_nothing() {
        assert_threads_change_nothing(SolverKind::Newton, || {
            Fixture::new(&blobs(3000, 0.5, 1), 1.0).loss(Loss::Squared)
        });
    }

    #[test]
    fn numbers_at_the_end_of_the_range_give_a_finite_solution() {
        for scale in [1e-150, 1e-30, 1e30, 1e149] {
            let points: Vec<_> = separable().into_iter().map(|(x, y)| (x.map(|v| v * scale), y)).collect();
            for cost in [1e-10, 1.0, 1e12] {
                let fixture = Fixture::new(&points, cost).loss(Loss::Squared);
                let solution = fixture.solve(SolverKind::Newton, &Settings::default());
                assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{scale:e} {cost:e}");
            }
        }
    }
}
