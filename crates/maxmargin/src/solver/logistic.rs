//! Logistic regression by iteratively reweighted least squares, which is Newton's method.
//!
//! # Problem
//! ```text
//! min  F(w, b) = ½‖w‖² + Σ_i C_i log(1 + exp(−y_i f(x_i))),   f(x) = ⟨w, x⟩ + b          (LR.1)
//! ```
//! with or without the first term; an explicit b is not part of it, a folded one is.
//!
//! # Optimality
//! The gradient vanishes. With `α_i = C_i σ(−y_i f(x_i))`, `σ(z) = 1/(1 + exp(−z))`, it is
//! ```text
//! g = w − Σ α_i y_i x_i,   g_b = −Σ α_i y_i   (b − Σ α_i y_i when folded)                (LR.2)
//! ```
//!
//! # Step
//! ```text
//! H = I + Σ_i C_i σ(f_i) σ(−f_i) x_i x_i′,   H d = −g                                   (LR.3)
//! ```
//! and the longest of 1, ½, ¼, … of d that the slope of F along it allows.
//!
//! # Stopping
//! With a penalty: when the gradient of the dual at α, which is `−y_i ⟨g, x_i⟩` up to the bias, has no component (explicit bias: no two
//! that differ by) more than the tolerance, and neither does what an exact `Σ α_i y_i = 0` would change of it.
//! Without: when d changes no decision value by more than the tolerance.
//!
//! Without a penalty there is no optimum when the data can be separated: along any separating direction F falls for
//! ever. A direction or a point (w, b) that puts every row on its right side, or on the plane, shows this, and the solver
//! stops with `Diverged`.
//!
//! # Cost
//! A step costs n · columns² + columns³/3, memory 2 · columns² numbers. A dozen steps are usual.
//!
//! # When to use
//! For probabilities, with at most a few thousand columns.
//!
//! # Reference
//! D. R. Cox, 1958; A. Albert and J. A. Anderson, On the existence of maximum likelihood estimates in logistic regression models, Biometrika 71,
//! 1984; T. P. Minka, A comparison of numerical optimizers for logistic regression, 2003.

use std::ops::ControlFlow;

use super::hessian::{self, Ridge};
use super::line_search::slope_step;
use super::{Decision, Settings, Solution, dot};
use crate::control::{Control, Progress, Stop};
use crate::problem::{Bias, FromNu, Loss, MarginProblem};
use crate::provenance::Note;

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 1000;
/// Steps without progress before the solver gives up.
const PATIENCE: u32 = 10;

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    hessian::bytes(problem.points().matrix().columns())
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let columns = problem.points().matrix().columns();
    let mut point = Point::new(problem, vec![0.0; columns], 0.0);
    let mut iterations = 0;
    let stop = match descend(problem, settings, control, &mut point, &mut iterations) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    let mut notes = Vec::new();
    if stop == Stop::Diverged {
        notes.push(Note::WeightsWithoutEnd);
    }
    Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: point.weights, bias: point.bias },
        alpha: Some(point.alpha),
        decision_values: Some(point.values),
        stop,
        iterations,
        notes,
    }
}

/// A point (w, b) and what belongs to it.
struct Point {
    weights: Vec<f64>,
    bias: f64,
    values: Vec<f64>,
    alpha: Vec<f64>,
}

impl Point {
    fn new(problem: &MarginProblem<'_>, weights: Vec<f64>, bias: f64) -> Self {
        let values = problem.decisions_of_weights(&weights, bias);
        let alpha = (0..problem.len())
            .map(|i| Loss::Logistic.dual_of_margin(problem.signs()[i] * values[i], problem.costs()[i]))
            .collect();
        Point { weights, bias, values, alpha }
    }

    fn is_finite(&self) -> bool {
        let numbers = self.weights.iter().chain(&self.values).chain(&self.alpha);
        self.bias.is_finite() && numbers.copied().all(f64::is_finite)
    }

    /// (w, b) as one vector, b last, with zeros where there is no penalty.
    fn penalty(&self, problem: &MarginProblem<'_>) -> Vec<f64> {
        let strength = if problem.penalised() { 1.0 } else { 0.0 };
        let mut vector: Vec<f64> = self.weights.iter().map(|w| strength * w).collect();
        match problem.bias() {
            Bias::Explicit => vector.push(0.0),
            Bias::Folded => vector.push(strength * self.bias),
            Bias::None => {}
        }
        vector
    }
}

fn descend(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
    point: &mut Point,
    iterations: &mut u64,
) -> ControlFlow<Stop, Stop> {
    let (signs, costs, columns) = (problem.signs(), problem.costs(), point.weights.len());
    let rows = 0..problem.len();
    let widest = problem.gram().diagonal(problem.rows()).into_iter().fold(0.0, f64::max);
    let (mut best, mut lowest, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
    loop {
        let progress = |violation| Progress { iteration: *iterations, violation, ..Progress::default() };
        control.poll(progress(None))?;
        let coefficients: Vec<f64> = rows.clone().map(|i| point.alpha[i] * signs[i]).collect();
        let (of_alpha, _) = problem.weights_of_coefficients(&coefficients);
        let imbalance: f64 = coefficients.iter().sum();
        let penalty = point.penalty(problem);
        // (LR.2)
        let mut gradient = penalty.clone();
        gradient[..columns].iter_mut().zip(&of_alpha).for_each(|(g, v)| *g -= v);
        gradient[columns..].iter_mut().for_each(|g| *g -= imbalance);

        let curvature = |i: usize| {
            let power = (-point.values[i].abs()).exp(); // σ(f) σ(−f) without cancellation
            costs[i] * power / ((1.0 + power) * (1.0 + power))
        };
        let curvatures: Vec<f64> = rows.clone().map(curvature).collect();
        let mut poll = || control.poll(progress(None));
        let (matrix, ridge) = (problem.points().matrix(), Ridge::of(problem));
        let (own, workers) = (problem.rows(), problem.workers());
        let found = hessian::direction(matrix, own, workers, ridge, &curvatures, &gradient, &mut poll)?;
        let Some(direction) = found else {
            return ControlFlow::Continue(Stop::Stalled);
        };
        let (along_weights, along_bias) = direction.split_at(columns);
        let along_bias = along_bias.first().copied().unwrap_or(0.0);
        let change = problem.decisions_of_weights(along_weights, along_bias);

        if !problem.penalised() && *iterations > 0 {
            let separates = |values: &[f64], slack: f64| rows.clone().all(|i| signs[i] * values[i] >= slack);
            let largest = change.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let strictly = rows.clone().all(|i| signs[i] * point.values[i] > 0.0);
            if strictly || (largest > 0.1 && separates(&change, -1e-9 * largest)) {
                return ControlFlow::Continue(Stop::Diverged);
            }
        }
        let violation = if problem.penalised() {
            let bias = if problem.bias() == Bias::Folded { gradient[columns] } else { 0.0 };
            let moved = problem.decisions_of_weights(&gradient[..columns], bias);
            if problem.bias() == Bias::Explicit {
                let (most, least) = extremes(&moved);
                (most - least).max(imbalance.abs() * widest)
            } else {
                let (most, least) = extremes(&moved);
                most.max(-least)
            }
        } else {
            let (most, least) = extremes(&change);
            most.max(-least)
        };
        if !violation.is_finite() {
            return ControlFlow::Continue(Stop::Stalled);
        }
        control.poll(progress(Some(violation)))?;
        if violation <= settings.tolerance() {
            return ControlFlow::Continue(Stop::Converged);
        }
        if *iterations >= settings.max_iterations.unwrap_or(MAX_STEPS) {
            return ControlFlow::Continue(Stop::IterationLimit);
        }

        let along_penalty = dot(&penalty, &direction);
        let square: f64 = {
            let masked = Point { weights: along_weights.to_vec(), bias: along_bias, values: vec![], alpha: vec![] };
            dot(&masked.penalty(problem), &direction)
        };
        let norm = 0.5 * {
            let folded = if problem.bias() == Bias::Folded { point.bias * point.bias } else { 0.0 };
            if problem.penalised() { dot(&point.weights, &point.weights) + folded } else { 0.0 }
        };
        // F and its slope along d
        let at = |step: f64| {
            let (mut value, mut slope) = (norm + step * along_penalty + 0.5 * step * step * square, 0.0);
            for i in rows.clone() {
                let margin = signs[i] * (point.values[i] + step * change[i]);
                value += costs[i] * Loss::Logistic.value(margin);
                slope -= Loss::Logistic.dual_of_margin(margin, costs[i]) * signs[i] * change[i];
            }
            (value, slope + along_penalty + step * square)
        };
        let start = at(0.0);
        idle = if violation < best || start.0 < lowest { 0 } else { idle + 1 };
        (best, lowest) = (best.min(violation), lowest.min(start.0));
        let Some(step) = slope_step(start, at).filter(|_| idle < PATIENCE) else {
            return ControlFlow::Continue(Stop::Stalled);
        };
        let weights = point.weights.iter().zip(along_weights).map(|(w, d)| w + step * d).collect();
        let next = Point::new(problem, weights, point.bias + step * along_bias);
        if !next.is_finite() {
            return ControlFlow::Continue(Stop::Stalled);
        }
        *point = next;
        *iterations += 1;
    }
}

/// The largest and the smallest value.
fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::NEG_INFINITY, f64::INFINITY), |(most, least), &v| (most.max(v), least.min(v)))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::solver::SolverKind;

    /// Logistic regression without a penalty.
    fn plain(points: &[([f64; 2], f64)]) -> (Fixture, Solution) {
        let fixture = Fixture::new(points, 1.0).loss(Loss::Logistic).without_penalty();
        let solution = fixture.solve(SolverKind::Logistic, &tolerance(1e-9));
        (fixture, solution)
    }

    #[test]
    fn the_gradient_vanishes_and_the_dual_meets_the_primal_for_every_bias_and_cost() {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for cost in [1e-3, 1.0, 1e3] {
                let fixture = Fixture::new(&blobs(80, 1.0, 7), cost).loss(Loss::Logistic).bias(bias);
                let solution = fixture.solve(SolverKind::Logistic, &tolerance(1e-8));
                assert_eq!(solution.stop, Stop::Converged);
                let alpha = solution.alpha.as_ref().unwrap();
                let dual = fixture.with(|problem| {
                    let coefficients: Vec<f64> = alpha.iter().zip(problem.signs()).map(|(a, y)| a * y).collect();
                    let (weights, folded) = problem.weights_of_coefficients(&coefficients);
                    let terms: f64 = alpha.iter().map(|&alpha| Loss::Logistic.dual_term(alpha, cost)).sum();
                    terms - 0.5 * (dot(&weights, &weights) + folded * folded)
                });
                let primal = fixture.primal(&solution);
                assert!((primal - dual).abs() <= 1e-7 * primal, "{bias:?} {cost}: {primal} {dual}");
            }
        }
    }

    #[test]
    fn without_a_penalty_separable_data_diverge_and_it_is_said() {
        let (_, solution) = plain(&separable());
        assert_eq!(solution.stop, Stop::Diverged);
        assert!(solution.notes[0].to_string().contains("separated"));
    }

    #[test]
    fn without_a_penalty_data_that_touch_diverge_too() {
        let touching = [([-1.0, 0.0], -1.0), ([0.0, 0.0], -1.0), ([0.0, 0.0], 1.0), ([1.0, 0.0], 1.0)];
        assert_eq!(plain(&touching).1.stop, Stop::Diverged);
    }

    #[test]
    fn without_a_penalty_overlapping_data_converge_to_a_vanishing_gradient() {
        let (fixture, solution) = plain(&blobs(200, 0.5, 3));
        assert_eq!(solution.stop, Stop::Converged);
        let alpha = solution.alpha.as_ref().unwrap();
        let coefficients: Vec<f64> = alpha.iter().zip(&fixture.signs).map(|(a, y)| a * y).collect();
        let (gradient, _) = fixture.with(|problem| problem.weights_of_coefficients(&coefficients));
        assert!(gradient.iter().all(|g| g.abs() < 1e-6) && coefficients.iter().sum::<f64>().abs() < 1e-6);
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::Logistic, &Fixture::new(&separable(), 1.0).loss(Loss::Logistic));
    }

    #[test]
    fn threads_change_nothing() {
        let fixture = || Fixture::new(&blobs(3000, 0.5, 1), 1.0).loss(Loss::Logistic);
        assert_threads_change_nothing(SolverKind::Logistic, fixture);
    }

    #[test]
    fn numbers_at_the_end_of_the_range_give_a_finite_solution() {
        for scale in [1e-150, 1e-30, 1e30, 1e149] {
            let points: Vec<_> = separable().into_iter().map(|(x, y)| (x.map(|v| v * scale), y)).collect();
            for cost in [1e-10, 1.0, 1e12] {
                let fixture = Fixture::new(&points, cost).loss(Loss::Logistic);
                let solution = fixture.solve(SolverKind::Logistic, &Settings::default());
                assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{scale:e} {cost:e}");
            }
        }
    }
}
