//! Rosenblatt's perceptron: a separating plane, any one.
//!
//! # Problem
//! Find w and b with `y_i (⟨w, x_i⟩ + b) > 0` for every row.
//!
//! # Optimality
//! A sweep over all rows without a mistake.
//!
//! # Step
//! For each row in turn, when `y_i f(x_i) ≤ 0`
//! ```text
//! w ← w + y_i x_i,   b ← b + y_i                                        (PT.1)
//! ```
//! (b stays 0 without a bias). The averaged variant returns the mean of (w, b) over all rows seen, which is less at the
//! mercy of the last mistakes:
//! ```text
//! w̄ = w − u/T,   u = Σ over mistakes of (t − 1) y x                      (PT.2)
//! ```
//! with t the rows seen at the mistake, T those seen at the end.
//!
//! # Stopping
//! After a sweep without a mistake, or at the limit of 1000 sweeps: on data that cannot be separated the perceptron never rests.
//!
//! # Cost
//! A sweep costs the entries of the matrix. On data within a ball of radius R with a margin γ there are at most (R/γ)² mistakes.
//!
//! # When to use
//! As a baseline. Costs and losses play no part.
//!
//! # Reference
//! F. Rosenblatt, 1958; A. B. J. Novikoff, On convergence proofs on perceptrons, 1962; Y. Freund and R. E. Schapire, Large
//! margin classification using the perceptron algorithm, Machine Learning 37, 1999.

use std::ops::ControlFlow;

use super::{Decision, Settings, Solution};
use crate::control::{Control, Progress, Step, Stop};
use crate::problem::{Bias, FromNu, MarginProblem};
use crate::provenance::Note;

/// The most sweeps unless the settings say otherwise.
pub(super) const MAX_SWEEPS: u64 = 1000;
/// Entries of the matrix looked at between two polls.
const ENTRIES_A_POLL: usize = 1 << 20;

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let columns = problem.points().matrix().columns();
    let mut state = State { weights: vec![0.0; columns], bias: 0.0, history: vec![0.0; columns + 1], seen: 0.0 };
    let mut sweeps = 0;
    let stop = match state.learn(problem, settings, control, &mut sweeps) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    if settings.averaged && state.seen > 0.0 {
        state.average();
    }
    Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: state.weights, bias: state.bias },
        alpha: None,
        decision_values: None,
        stop,
        iterations: sweeps,
        notes: not_separable_note(stop, sweeps),
    }
}

/// What to say when the sweeps ran out.
pub(super) fn not_separable_note(stop: Stop, sweeps: u64) -> Vec<Note> {
    if stop != Stop::IterationLimit {
        return Vec::new();
    }
    vec![Note::MistakesInEachSweep { sweeps }]
}

/// The mistakes so far, for those who watch.
pub(super) struct Mistakes {
    /// How often each row was one.
    times: Vec<u64>,
    all: u64,
}

impl Mistakes {
    pub(super) fn new(rows: usize) -> Self {
        Mistakes { times: vec![0; rows], all: 0 }
    }

    /// Counts a mistake at the i-th row of the problem, and says so.
    pub(super) fn add(&mut self, i: usize, (row, sign): (usize, f64), iteration: u64, value: f64, bias: f64) -> Step {
        self.times[i] += 1;
        self.all += 1;
        Step::Mistake { machine: 0, iteration, row, sign, value, times: self.times[i], mistakes: self.all, bias }
    }
}

struct State {
    weights: Vec<f64>,
    bias: f64,
    /// u of (PT.2), b last.
    history: Vec<f64>,
    /// T
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
        let (matrix, columns) = (problem.points().matrix(), self.weights.len());
        let rows_a_poll = (ENTRIES_A_POLL / (matrix.entries() / matrix.rows().max(1)).max(1)).max(1);
        let limit = settings.max_iterations.unwrap_or(MAX_SWEEPS);
        let step = if problem.bias() == Bias::None { 0.0 } else { 1.0 };
        let mut shown = control.wants_steps().then(|| Mistakes::new(problem.len()));
        while *sweeps < limit {
            let mut mistakes = 0u64;
            for (i, (&row, &sign)) in problem.rows().iter().zip(problem.signs()).enumerate() {
                if i % rows_a_poll == 0 {
                    control.poll(Progress { iteration: *sweeps, ..Progress::default() })?;
                }
                // Written so that a value that is not a number is a mistake.
                let value = matrix.dot(row, &self.weights) + self.bias;
                let right = sign * value > 0.0;
                if !right {
                    mistakes += 1;
                    matrix.add_scaled(row, sign, &mut self.weights); // (PT.1)
                    self.bias += step * sign;
                    if let Some(shown) = &mut shown {
                        control.step(shown.add(i, (row, sign), *sweeps, value, self.bias));
                    }
                    if settings.averaged {
                        matrix.add_scaled(row, self.seen * sign, &mut self.history[..columns]); // (PT.2)
                        self.history[columns] += self.seen * step * sign;
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

    /// (PT.2)
    fn average(&mut self) {
        let columns = self.weights.len();
        let average: Vec<f64> = self.weights.iter().zip(&self.history).map(|(w, u)| w - u / self.seen).collect();
        if average.iter().all(|value| value.is_finite()) {
            self.weights = average;
            self.bias -= self.history[columns] / self.seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::data::Matrix;
    use crate::solver::SolverKind;

    #[test]
    fn separable_points_are_separated() {
        let fixture = Fixture::new(&separable(), 1.0);
        let solution = fixture.solve(SolverKind::Perceptron, &Settings::default());
        assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
    }

    #[test]
    fn xor_is_not_learnt_raw_and_is_learnt_lifted() {
        let mut fixture = Fixture::new(&xor(), 1.0);
        let solution = fixture.solve(SolverKind::Perceptron, &Settings::default());
        assert_eq!((solution.stop, solution.notes.len()), (Stop::IterationLimit, 1));
        assert!(fixture.errors(&solution) > 0);
        let lifted: Vec<f64> = xor().iter().flat_map(|([a, b], _)| [*a, *b, a * b]).collect();
        fixture.matrix = Matrix::dense(4, 3, lifted).unwrap();
        let solution = fixture.solve(SolverKind::Perceptron, &Settings::default());
        assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
    }

    #[test]
    fn the_average_is_the_mean_of_all_steps() {
        let fixture = Fixture::new(&[([1.0, 0.0], 1.0), ([0.0, 1.0], -1.0)], 1.0).bias(Bias::None);
        let averaged = Settings { averaged: true, ..Settings::default() };
        // w is (1, 0) after the first row, (1, −1) after the second and in the second sweep.
        let solution = fixture.solve(SolverKind::Perceptron, &averaged);
        assert_eq!(solution.decision, Decision::Linear { weights: vec![1.0, -0.75], bias: 0.0 });
    }

    #[test]
    fn without_a_bias_b_stays_0() {
        let fixture = Fixture::new(&blobs(30, 4.0, 1), 1.0).bias(Bias::None);
        let solution = fixture.solve(SolverKind::Perceptron, &Settings::default());
        assert!(matches!(solution.decision, Decision::Linear { bias: 0.0, .. }));
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::Perceptron, &Fixture::new(&separable(), 1.0));
    }
}
