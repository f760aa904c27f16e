//! Classes that few of many rows hold apart: the rows that matter are found chunk by chunk, each solved as a whole.
//!
//! # Problem
//! (P.1) with the linear kernel, hinge or squared loss, where nearly all rows lie outside of the margin. There the optimum is tiny beside
//! `Σ C_i`, and smoothing, by which `primal-newton` reaches it, leaves nothing of it.
//!
//! # Step
//! The problem over a chunk of rows is solved with its whole kernel matrix (`block-smo`). Its support vectors and the rows that lie
//! farthest inside its margin make the next chunk. When no other row lies inside, its solution is that of all rows.
//!
//! # Stopping
//! When no row outside of the chunk lacks more than a part of the tolerance. `None` when the chunks get too large, or do not end.
//!
//! # Cost
//! A pass over the rows, and a whole problem of up to 1,280 of them, for each chunk.
//!
//! # Reference
//! Vapnik 1982 (chunking).

use super::{Decision, Settings, Solution, SolverKind, WHOLE_ROWS};
use crate::control::{Control, Stop};
use crate::problem::{Loss, MarginProblem};

/// The most chunks, and the most support vectors that leave room for others.
const MOST_CHUNKS: usize = 60;
const MOST_SUPPORT: usize = 900;

/// Rows of either class in the first chunk.
const FIRST_ROWS: usize = 400;

/// What a row outside of the chunk may lack.
const LACK: f64 = 1e-7;

/// Solves a problem by chunks, the first chosen by these decision values; `None` where chunks do not help.
pub(crate) fn solve_by_chunks(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    mut values: Vec<f64>,
    control: &mut dyn Control,
) -> Option<Solution> {
    let is_linear = problem.kernel().is_linear() && problem.loss() != Loss::Logistic && problem.nu().is_none();
    if !(is_linear && problem.task().is_classification()) || problem.hard() || problem.len() <= WHOLE_ROWS {
        return None;
    }
    let signs = problem.signs();
    let lack = |values: &[f64], i: usize| 1.0 - signs[i] * values[i];
    let mut chunk: Vec<usize> = Vec::new();
    for sign in [1.0, -1.0] {
        let of_sign = (0..problem.len()).filter(|&i| signs[i] == sign).collect();
        chunk.extend(farthest(of_sign, FIRST_ROWS, |i| lack(&values, i)));
    }
    let goal = Settings { tolerance: Some(LACK), gap: None, max_iterations: None, ..settings.clone() };
    let mut iterations = 0u64;
    for _ in 0..MOST_CHUNKS {
        chunk.sort_unstable();
        let part = problem.part(&chunk).ok()?;
        let found = super::solve(SolverKind::BlockSmo, &part, &goal, control).ok()?;
        iterations = iterations.saturating_add(found.iterations);
        let (Decision::Linear { weights, bias }, Some(of_part)) = (found.decision, found.alpha) else { return None };
        if !matches!(found.stop, Stop::Converged | Stop::Stalled) {
            return None;
        }
        values = problem.decisions_of_weights(&weights, bias);
        let outside = |&i: &usize| chunk.binary_search(&i).is_err() && lack(&values, i) > LACK;
        let lacking: Vec<usize> = (0..problem.len()).filter(outside).collect();
        if lacking.is_empty() {
            let mut alpha = vec![0.0; problem.len()];
            chunk.iter().zip(of_part).for_each(|(&i, of_part)| alpha[i] = of_part);
            return Some(Solution {
                decision: Decision::Linear { weights, bias },
                alpha: Some(alpha),
                decision_values: Some(values),
                from_nu: found.from_nu,
                stop: Stop::Converged,
                iterations,
                notes: Vec::new(),
            });
        }
        let support: Vec<usize> = chunk.iter().zip(&of_part).filter(|(_, a)| **a > 0.0).map(|(&i, _)| i).collect();
        if support.len() > MOST_SUPPORT {
            return None;
        }
        chunk = farthest(lacking, WHOLE_ROWS - support.len(), |i| lack(&values, i));
        chunk.extend(support);
    }
    None
}

/// The rows of a list with the largest measure, at most `most` of them.
fn farthest(mut list: Vec<usize>, most: usize, measure: impl Fn(usize) -> f64) -> Vec<usize> {
    if list.len() > most {
        let order = |&a: &usize, &b: &usize| measure(b).total_cmp(&measure(a)).then(a.cmp(&b));
        list.select_nth_unstable_by(most, order);
        list.truncate(most);
    }
    list
}
