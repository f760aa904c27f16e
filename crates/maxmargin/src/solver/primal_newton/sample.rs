//! The start of the search: the minimum over some of the rows, each standing for several.
//!
//! ```text
//! min  ½‖w‖² + qb + Σ_{i in S} (C_i n/|S|) ℓ(⟨w, x_i⟩ + b, t_i)                                      (PN.7)
//! ```
//!
//! The first steps of Newton's method only find out which rows matter, at the same cost as the last steps. A sample finds that out for a
//! part of the cost, and itself begins at a smaller sample. The whole then needs only the few steps near its minimum.

use crate::problem::LinearProblem;

/// One row in this many is in the sample.
const ONE_OF: usize = 8;
/// Consecutive rows that a sample takes together, because they are neighbours in memory. These runs are spread evenly, so that the order of
/// the rows does no harm.
const RUN: usize = 32;
/// The fewest rows of a sample for each column, and in all. Fewer say too little about the whole.
const ROWS_A_COLUMN: usize = 8;
const LEAST_ROWS: usize = 2000;

/// Some rows of a problem.
pub(super) struct Sample {
    rows: Vec<usize>,
    targets: Vec<f64>,
    costs: Vec<f64>,
}

impl Sample {
    /// A sample; `None` where the problem is too small for one to pay.
    pub(super) fn of(problem: &LinearProblem<'_>) -> Option<Self> {
        let size = problem.len() / ONE_OF;
        if size < LEAST_ROWS.max(ROWS_A_COLUMN * problem.columns()) {
            return None;
        }
        let (runs, rest) = (size / RUN, problem.len() - size / RUN * RUN);
        let scale = problem.len() as f64 / (runs * RUN) as f64;
        let mut sample = Sample { rows: Vec::new(), targets: Vec::new(), costs: Vec::new() };
        for i in (0..runs).flat_map(|k| (0..RUN).map(move |j| k * RUN + k * rest / runs + j)) {
            sample.rows.push(problem.rows[i]);
            sample.targets.push(problem.targets[i]);
            sample.costs.push(scale * problem.costs[i]);
        }
        Some(sample)
    }

    /// The problem (PN.7).
    pub(super) fn problem<'s>(&'s self, whole: &LinearProblem<'s>) -> LinearProblem<'s> {
        LinearProblem { rows: &self.rows, targets: &self.targets, costs: &self.costs, ..whole.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::*;
    use super::*;

    fn sample_of(rows: usize) -> Option<(usize, f64, f64)> {
        Fixture::new(&blobs(rows, 0.5, 1), 2.0).with(|problem| {
            let whole = LinearProblem::of_margin(problem);
            let sample = Sample::of(&whole)?;
            let part = sample.problem(&whole);
            assert!(part.rows.is_sorted_by(|a, b| a < b), "no row is taken twice");
            let covered = part.rows[part.len() - 1] - part.rows[0];
            Some((part.len(), part.costs.iter().sum(), covered as f64 / rows as f64))
        })
    }

    #[test]
    fn a_sample_is_spread_over_the_rows_and_weighs_as_much_as_they_do() {
        for rows in [16_001, 20_000, 31_999, 100_003] {
            let (count, cost, covered) = sample_of(rows).unwrap();
            assert!(count <= rows / ONE_OF && count + RUN > rows / ONE_OF, "{rows}: {count}");
            assert!((cost - 2.0 * rows as f64).abs() <= 1e-9 * cost, "{rows}: {cost}");
            assert!(covered > 0.97, "{rows}: {covered}");
        }
    }

    #[test]
    fn few_rows_are_not_sampled() {
        assert_eq!(sample_of(8 * LEAST_ROWS - 1), None);
        assert_eq!(sample_of(100), None);
    }
}
