//! The perceptron with a kernel: a separating surface, any one.
//!
//! # Problem
//! Find coefficients c and b with `y_i f(x_i) > 0` for every row, `f(x) = Σ c_j k(x_j, x) + b`.
//!
//! # Optimality
//! A sweep over all rows without a mistake.
//!
//! # Step
//! For each row in turn, when `y_i f(x_i) ≤ 0`
//! ```text
//! c_i ← c_i + y_i,   b ← b + y_i,   f_j ← f_j + y_i (K_ij + 1) for all j              (KP.1)
//! ```
//! With a folded bias the constant is part of K, and b stays 0 as it does without a bias. The averaged variant returns
//! the mean of (c, b) over all rows seen, as (PT.2) of the perceptron does.
//!
//! # Stopping
//! After a sweep without a mistake, or at the limit of 1000 sweeps.
//!
//! # Cost
//! A sweep costs n comparisons and n kernel values a mistake; rows of K are kept as long as they fit into the memory.
//!
//! # When to use
//! As a baseline. Costs and losses play no part.
//!
//! # Reference
//! M. A. Aizerman, E. M. Braverman and L. I. Rozonoer, Theoretical foundations of the potential function method, 1964;
//! Y. Freund and R. E. Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37, 1999.

use std::ops::ControlFlow;

use super::perceptron::{MAX_SWEEPS, Mistakes, not_separable_note};
use super::{Settings, Solution, decision_of};
use crate::control::{Control, Progress, Stop};
use crate::problem::{Bias, FromNu, MarginProblem};

/// Rows looked at between two polls, when there is no mistake.
const ROWS_A_POLL: usize = 1 << 16;

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let size = problem.len();
    let mut state = State {
        coefficients: vec![0.0; size],
        bias: 0.0,
        values: vec![0.0; size],
        history: vec![0.0; size],
        bias_history: 0.0,
        seen: 0.0,
    };
    let mut sweeps = 0;
    let stop = match state.learn(problem, settings, control, &mut sweeps) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    let average = settings.averaged && state.seen > 0.0;
    if average {
        let seen = state.seen; // (PT.2)
        state.coefficients.iter_mut().zip(&state.history).for_each(|(c, u)| *c -= u / seen);
        state.bias -= state.bias_history / seen;
    }
    let finite = state.values.iter().all(|value| value.is_finite());
    let decision = decision_of(problem, state.coefficients, state.bias);
    Solution {
        from_nu: FromNu::Nothing,
        decision,
        alpha: None,
        decision_values: (finite && !average).then_some(state.values),
        stop,
        iterations: sweeps,
        notes: not_separable_note(stop, sweeps),
    }
}

struct State {
    coefficients: Vec<f64>,
    bias: f64,
    values: Vec<f64>,
    /// u of (PT.2)
    history: Vec<f64>,
    bias_history: f64,
    /// Rows seen so far.
    seen: f64,
}

impl State {
    fn learn(
        &mut self,
        problem: &MarginProblem<'_>,
        settings: &Settings,
        control: &mut dyn Control,
        sweeps: &mut u64,
    ) -> ControlFlow<Stop, Stop> {
        let (size, gram, rows) = (problem.len(), problem.gram(), problem.rows());
        let limit = settings.max_iterations.unwrap_or(MAX_SWEEPS);
        let constant = if problem.bias() == Bias::Explicit { 1.0 } else { 0.0 };
        let mut kept: Vec<Option<Box<[f64]>>> = vec![None; size];
        let mut room = settings.memory / (8 * size as u64);
        let mut fresh = vec![0.0; size];
        let mut shown = control.wants_steps().then(|| Mistakes::new(size));
        while *sweeps < limit {
            let progress = Progress { iteration: *sweeps, ..Progress::default() };
            let mut mistakes = 0u64;
            for i in 0..size {
                if i % ROWS_A_POLL == 0 {
                    control.poll(progress)?;
                }
                let sign = problem.signs()[i];
                // Written so that a value that is not a number is a mistake.
                let right = sign * self.values[i] > 0.0;
                if !right {
                    control.poll(progress)?;
                    mistakes += 1;
                    if kept[i].is_none() {
                        gram.block(&rows[i..=i], rows, &mut fresh);
                        if room > 0 {
                            room -= 1;
                            kept[i] = Some(fresh.clone().into());
                        }
                    }
                    let (kernel_row, value) = (kept[i].as_deref().unwrap_or(&fresh), self.values[i]);
                    // (KP.1)
                    self.coefficients[i] += sign;
                    self.bias += constant * sign;
                    self.values.iter_mut().zip(kernel_row).for_each(|(f, k)| *f += sign * (k + constant));
                    self.history[i] += self.seen * sign;
                    self.bias_history += self.seen * constant * sign;
                    if let Some(shown) = &mut shown {
                        control.step(shown.add(i, (rows[i], sign), *sweeps, value, self.bias));
                    }
                }
                self.seen += 1.0;
            }
            *sweeps += 1;
            if mistakes == 0 {
                return ControlFlow::Continue(Stop::Converged);
            }
        }
        ControlFlow::Continue(Stop::IterationLimit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::solver::Decision;
    use crate::solver::SolverKind;

    #[test]
    fn xor_is_learnt_with_the_quadratic_kernel_and_not_without() {
        let fixture = Fixture::new(&xor(), 1.0).kernel(quadratic());
        let solution = fixture.solve(SolverKind::KernelPerceptron, &Settings::default());
        assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
        let raw = Fixture::new(&xor(), 1.0).solve(SolverKind::KernelPerceptron, &Settings::default());
        assert_eq!((raw.stop, raw.notes.len()), (Stop::IterationLimit, 1));
    }

    #[test]
    fn with_a_linear_kernel_it_is_the_perceptron() {
        for averaged in [false, true] {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                let fixture = Fixture::new(&blobs(40, 3.5, 9), 1.0).bias(bias);
                let settings = Settings { averaged, ..Settings::default() };
                let one = fixture.solve(SolverKind::Perceptron, &settings);
                let other = fixture.solve(SolverKind::KernelPerceptron, &settings);
                assert_eq!((one.stop, one.iterations), (other.stop, other.iterations));
                let (Decision::Linear { weights, bias }, Decision::Linear { weights: w, bias: b }) =
                    (&one.decision, &other.decision)
                else {
                    panic!("not linear");
                };
                let close = |a: f64, b: f64| (a - b).abs() < 1e-10;
                assert!(close(*bias, *b) && weights.iter().zip(w).all(|(a, b)| close(*a, *b)));
            }
        }
    }

    #[test]
    fn no_memory_for_rows_changes_nothing() {
        let fixture = Fixture::new(&ellipse(), 1.0).kernel(quadratic());
        let little = Settings { memory: 0, ..Settings::default() };
        let (one, other) = (
            fixture.solve(SolverKind::KernelPerceptron, &Settings::default()),
            fixture.solve(SolverKind::KernelPerceptron, &little),
        );
        assert_eq!(numbers(&one), numbers(&other));
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::KernelPerceptron, &Fixture::new(&separable(), 1.0));
    }
}
