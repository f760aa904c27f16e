//! The relevance vector machine: a kernel classifier with a prior for each coefficient, most of which turn out to be 0.
//!
//! # Problem
//! Every row i has a basis function `φ_i = k(x_i, ·)` with a coefficient c_i, normally distributed about 0 with a precision a_i of its own:
//! ```text
//! f(x) = Σ_i c_i k(x_i, x) + b,   p(y | f) = σ(y f),   c_i ~ N(0, 1/a_i)
//! E(c, b) = Σ_i C_i log(1 + exp(−y_i f(x_i))) + ½ Σ_i a_i c_i²                            (RV.1)
//! ```
//! The a_i are those under which the labels are most likely once c is integrated out, by Laplace's approximation at the mode μ of (RV.1):
//! ```text
//! log p(y | a) ≈ −E(μ) + ½ Σ log a_i − ½ log |H|,   H = Φ′BΦ + diag(a),   B = diag(C_i σ(f_i) σ(−f_i))     (RV.2)
//! ```
//! Where that drives `a_i → ∞`, c_i is 0 and the row is not part of the model. The rows that are left are the relevance vectors.
//! An explicit b is a basis function without a prior, which is always there; with a folded one the constant is part of the kernel, and
//! without a bias it is absent. C_i is how often row i was seen, in whole numbers or not: C = 1 is the machine of the reference, and the
//! weight of a row counts its copies.
//!
//! # Optimality
//! At the mode, (RV.2) with B held is the likelihood of a normal model, and as a function of one precision it is
//! ```text
//! ℓ(a) = ½ (log a − log(a + s) + q²/(a + s)),   ℓ(∞) = 0                                  (RV.3)
//! ```
//! with its maximum at `a = s²/(q² − s)` where `q² > s`, and at ∞ elsewhere. For a row in the model `s = 1/Σ_ii − a`, `q = μ_i/Σ_ii`,
//! `Σ = H⁻¹`; for others, with the pulls `r_i = C_i y_i σ(−y_i f_i)`,
//! ```text
//! s = φ′Bφ − φ′BΦ Σ Φ′Bφ,   q = φ′r                                                       (RV.4)
//! ```
//! Optimal means that no precision can gain: none that is there by moving or leaving, none that is not by coming.
//!
//! # Step
//! One precision moves to the maximum of (RV.3): the one that gains most among those that are there, until none gains more than the
//! tolerance; then the one that gains most of all others comes in. After each step the mode is found anew by Newton's method, from the old one. A
//! precision that turns back and forth takes shorter steps, and a row that left three times stays away: B moves with the mode, so
//! that (RV.3) is not a function of which each step is sure to gain.
//!
//! # Stopping
//! When no step gains more than the tolerance, in units of the logarithm of the likelihood. `Stalled` when the memory for basis functions is used
//! up, when a row that stays away would gain, or when the gains fall below what this arithmetic can tell.
//!
//! Separable data are no exception: the coefficients of logistic regression would grow without end, but the precisions bound these.
//! The problem is not convex, so there is no certificate: another machine may be more likely.
//!
//! # Cost
//! A look at all rows costs n² kernel values, unless these are kept, and n² times the number m of vectors; each other step n m². Memory
//! 3nm numbers, and n² where that is at most half of what there is.
//!
//! # When to use
//! For probabilities and very few vectors, with up to some thousand rows. Without a C to choose.
//!
//! # Reference
//! M. E. Tipping, Sparse Bayesian learning and the relevance vector machine, JMLR 1, 2001; M. E. Tipping and A. C. Faul, Fast marginal
//! likelihood maximisation for sparse Bayesian models, AISTATS, 2003.

mod columns;
mod mode;
mod precision;

use std::ops::ControlFlow;

use super::{Settings, Solution, decision_of};
use crate::control::{Control, Progress, Stop};
use crate::problem::{Bias, FromNu, MarginProblem};
use crate::provenance::Note;
use columns::{CANDIDATES_AT_A_TIME, Columns};
use mode::Mode;
use precision::Factors;

/// Why a model has no certificate.
pub(super) const NOT_CONVEX: &str =
    "the likelihood of the precisions is not convex: another relevance vector machine may be more likely";

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 20_000;
/// A row that left so many times stays away.
const MOST_DEPARTURES: u8 = 3;
/// Gains that are rounding, relative to the logarithm of the likelihood.
const ROUNDING: f64 = 1e-12;
/// A row must gain more than the best one before it by this part, so that rounding does not choose among equals.
const CLEARLY_MORE: f64 = 1e-9;
/// Basis functions that there must be memory for.
const LEAST_ROOM: u64 = 32;

/// Basis functions that there is memory for: three columns of n numbers each, beside those of the candidates.
fn room(rows: usize, memory: u64) -> u64 {
    (memory / (8 * rows.max(1) as u64)).saturating_sub(CANDIDATES_AT_A_TIME as u64) / 3
}

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    let rows = problem.len() as u64;
    let columns = 3 * LEAST_ROOM.min(rows) + CANDIDATES_AT_A_TIME as u64;
    rows.saturating_mul(8).saturating_mul(columns)
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let mut search = Search::new(problem, settings);
    let stop = match search.run(control) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    let mut coefficients = vec![0.0; problem.len()];
    let mut bias = 0.0;
    let mut notes = search.notes;
    if let Some(mode) = &search.mode {
        let (own, others) = mode.weights.split_at(usize::from(problem.bias() == Bias::Explicit));
        bias = own.first().copied().unwrap_or(0.0);
        search.kept.iter().zip(others).for_each(|(&place, &weight)| coefficients[place] = weight);
        notes.push(Note::RelevanceVectors {
            vectors: search.kept.len(),
            rows: problem.len(),
            log_evidence: mode.log_evidence,
            gradient: mode.gradient,
        });
        if search.kept.is_empty() && stop == Stop::Converged {
            notes.push(Note::NoRelevanceVector);
        }
    }
    let decision = decision_of(problem, coefficients, bias);
    Solution {
        from_nu: FromNu::Nothing,
        decision,
        alpha: None,
        decision_values: None,
        stop,
        iterations: search.steps,
        notes,
    }
}

/// A basis function, and how it has moved.
#[derive(Clone, Copy, Debug)]
struct Function {
    /// The row's place in the problem.
    place: usize,
    /// a
    precision: f64,
    /// The part of a step that is taken.
    damping: f64,
    /// The last step of log a.
    last: f64,
}

/// What one precision can do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// That of a function moves.
    Move { at: usize, precision: f64 },
    /// A function leaves.
    Leave { at: usize },
    /// The function of a row comes.
    Come { place: usize, precision: f64 },
}

/// Where the search is. The mode is that of the functions whose places are in `kept`.
struct Search<'a, 'p> {
    problem: &'a MarginProblem<'p>,
    settings: &'a Settings,
    functions: Vec<Function>,
    columns: Columns<'a, 'p>,
    mode: Option<Mode>,
    kept: Vec<usize>,
    /// How often each row has left.
    departures: Vec<u8>,
    steps: u64,
    notes: Vec<Note>,
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(problem: &'a MarginProblem<'p>, settings: &'a Settings) -> Self {
        Search {
            problem,
            settings,
            functions: Vec::new(),
            columns: Columns::new(problem, settings.memory),
            mode: None,
            kept: Vec::new(),
            departures: vec![0; problem.len()],
            steps: 0,
            notes: Vec::new(),
        }
    }

    fn run(&mut self, control: &mut dyn Control) -> ControlFlow<Stop, Stop> {
        let limit = self.settings.max_iterations.unwrap_or(MAX_STEPS);
        loop {
            let Some(mode) = self.find_mode(control)? else {
                self.notes.push(Note::NoMode);
                return ControlFlow::Continue(Stop::Stalled);
            };
            let least = self.settings.tolerance().max(ROUNDING * mode.log_evidence.abs().max(1.0));
            let mut found = self.best_of_own(&mode).filter(|(gain, _)| *gain > least);
            let mut kept_away = 0.0;
            if found.is_none() {
                let progress = Progress { iteration: self.steps, violation: Some(least), ..Progress::default() };
                let mut poll = || control.poll(progress);
                let others = self.best_of_others(&mode, &mut poll);
                // Kept also when the look at the other rows is broken off.
                self.keep(mode);
                (found, kept_away) = others?;
                found = found.filter(|(gain, _)| *gain > least);
            } else {
                self.keep(mode);
            }
            let gain = found.map_or(0.0, |(gain, _)| gain);
            control.poll(Progress { iteration: self.steps, violation: Some(gain), ..Progress::default() })?;
            let Some((_, step)) = found else {
                return ControlFlow::Continue(self.at_rest(kept_away, least));
            };
            if self.steps >= limit {
                return ControlFlow::Continue(Stop::IterationLimit);
            }
            if matches!(step, Step::Come { .. }) && self.functions.len() as u64 >= self.room() {
                self.notes.push(Note::NoMemoryForVectors { vectors: self.functions.len() });
                return ControlFlow::Continue(Stop::Stalled);
            }
            self.steps += 1;
            self.take(step);
        }
    }

    fn room(&self) -> u64 {
        room(self.problem.len(), self.settings.memory)
    }

    /// No step gains more than `least`: whether that is what was asked for.
    fn at_rest(&mut self, kept_away: f64, least: f64) -> Stop {
        if kept_away > least {
            self.notes.push(Note::KeptAway { times: MOST_DEPARTURES, gain: kept_away });
            return Stop::Stalled;
        }
        if least > self.settings.tolerance() { Stop::Stalled } else { Stop::Converged }
    }

    /// The mode of the functions that are there; `None` when there is no finite one.
    fn find_mode(&self, control: &mut dyn Control) -> ControlFlow<Stop, Option<Mode>> {
        let progress = Progress { iteration: self.steps, ..Progress::default() };
        let mut poll = || control.poll(progress);
        let precisions: Vec<f64> = self.functions.iter().map(|function| function.precision).collect();
        let start: Vec<f64> = match &self.mode {
            Some(mode) => {
                let constants = mode.weights.len() - self.kept.len();
                let of = |function: &Function| self.kept.iter().position(|&place| place == function.place);
                let weight = |at: Option<usize>| at.map_or(0.0, |at| mode.weights[constants + at]);
                let others = self.functions.iter().map(|function| weight(of(function)));
                mode.weights[..constants].iter().copied().chain(others).collect()
            }
            None => vec![0.0; self.columns.count()],
        };
        mode::find(self.problem, &self.columns, &precisions, start, &mut poll)
    }

    fn keep(&mut self, mode: Mode) {
        self.mode = Some(mode);
        self.kept = self.functions.iter().map(|function| function.place).collect();
    }

    /// The step that gains most among the functions that are there.
    fn best_of_own(&self, mode: &Mode) -> Option<(f64, Step)> {
        let mut best: Option<(f64, Step)> = None;
        let constants = mode.weights.len() - self.functions.len();
        let variances = mode.variances();
        for (at, function) in self.functions.iter().enumerate() {
            let factors = Factors::within(function.precision, mode.weights[constants + at], variances[constants + at]);
            let now = factors.value(function.precision);
            let (gain, step) = match factors.best() {
                Some(best) => {
                    let target = (best / function.precision).ln();
                    let precision = function.precision * (function.damping * target).exp();
                    (factors.value(best) - now, Step::Move { at, precision })
                }
                None => (-now, Step::Leave { at }),
            };
            if gain.is_finite() && best.is_none_or(|(most, _)| gain > most + CLEARLY_MORE * most) {
                best = Some((gain, step));
            }
        }
        best
    }

    /// The row that gains most by coming, and the most that one which stays away would gain.
    fn best_of_others(
        &mut self,
        mode: &Mode,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, (Option<(f64, Step)>, f64)> {
        let mut is_there = vec![false; self.problem.len()];
        self.functions.iter().for_each(|function| is_there[function.place] = true);
        let places: Vec<usize> = (0..self.problem.len()).filter(|&place| !is_there[place]).collect();
        let mut best: Option<(f64, Step)> = None;
        let mut kept_away: f64 = 0.0;
        for (place, factors) in self.columns.factors(mode, &places, poll)? {
            let Some(precision) = factors.best() else { continue };
            let gain = factors.value(precision);
            if !gain.is_finite() {
                continue;
            }
            if self.departures[place] >= MOST_DEPARTURES {
                kept_away = kept_away.max(gain);
            } else if best.is_none_or(|(most, _)| gain > most + CLEARLY_MORE * most) {
                best = Some((gain, Step::Come { place, precision }));
            }
        }
        ControlFlow::Continue((best, kept_away))
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Move { at, precision } => {
                let function = &mut self.functions[at];
                let last = (precision / function.precision).ln();
                let turned = last * function.last < 0.0;
                function.damping = if turned { 0.5 * function.damping } else { (1.5 * function.damping).min(1.0) };
                (function.precision, function.last) = (precision, last);
            }
            Step::Leave { at } => {
                let function = self.functions.remove(at);
                self.columns.remove(at);
                self.departures[function.place] = self.departures[function.place].saturating_add(1);
            }
            Step::Come { place, precision } => {
                self.functions.push(Function { place, precision, damping: 1.0, last: 0.0 });
                self.columns.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests;
