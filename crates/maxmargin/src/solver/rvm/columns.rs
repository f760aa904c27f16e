//! The basis functions at the rows: columns of the kernel matrix, kept for those in the model and passed by for the others.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::mode::Mode;
use super::precision::Factors;
use crate::control::Stop;
use crate::problem::{Bias, MarginProblem};

/// Candidates whose kernel values are in memory at a time, where not all are.
pub(super) const CANDIDATES_AT_A_TIME: usize = 64;
/// Candidates that one thread looks at.
const CANDIDATES_A_THREAD: usize = 16;
/// What is left of a function once those in the model have taken their part is rounding below this part of it.
const INDEPENDENT: f64 = 1e-11;

/// Φ: a column of ones where the bias is explicit, then a column for each basis function.
pub(super) struct Columns<'a, 'p> {
    problem: &'a MarginProblem<'p>,
    /// Column after column.
    values: Vec<f64>,
    /// K, row after row as far as it has been computed, where there is memory for all of it.
    table: Option<Vec<f64>>,
}

impl<'a, 'p> Columns<'a, 'p> {
    pub(super) fn new(problem: &'a MarginProblem<'p>, memory: u64) -> Self {
        let size = problem.len() as u64;
        let fits = size.saturating_mul(size).saturating_mul(8) <= memory / 2;
        let values = if problem.bias() == Bias::Explicit { vec![1.0; problem.len()] } else { Vec::new() };
        Columns { problem, values, table: fits.then(Vec::new) }
    }

    /// How many there are, the one of the bias included.
    pub(super) fn count(&self) -> usize {
        self.values.len() / self.problem.len()
    }

    /// Whether the first belongs to the bias.
    pub(super) fn constants(&self) -> usize {
        usize::from(self.problem.bias() == Bias::Explicit)
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn push(&mut self, place: usize) {
        let (size, rows) = (self.problem.len(), self.problem.rows());
        let start = self.values.len();
        self.values.resize(start + size, 0.0);
        self.problem.gram().block(&rows[place..=place], rows, &mut self.values[start..]);
    }

    pub(super) fn remove(&mut self, at: usize) {
        let start = (self.constants() + at) * self.problem.len();
        self.values.drain(start..start + self.problem.len());
    }

    /// (RV.4) for some rows that are not in the model; those that it can do without are left out.
    pub(super) fn factors(
        &mut self,
        mode: &Mode,
        places: &[usize],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Vec<(usize, Factors)>> {
        let size = self.problem.len();
        // BΦ, and r as one more column
        let mut right: Vec<f64> = self
            .values
            .chunks(size)
            .flat_map(|column| column.iter().zip(&mode.curvatures).map(|(value, curvature)| value * curvature))
            .collect();
        right.extend_from_slice(&mode.pulls);
        let mut found = Vec::new();
        let mut fresh = Vec::new();
        for places in places.chunks(CANDIDATES_AT_A_TIME) {
            poll()?;
            let rows: Vec<usize> = places.iter().map(|&place| self.problem.rows()[place]).collect();
            let Some(table) = &mut self.table else {
                fresh.resize(places.len() * size, 0.0);
                self.problem.gram().block(&rows, self.problem.rows(), &mut fresh);
                let values: Vec<&[f64]> = fresh.chunks(size).collect();
                found.extend(self.factors_of(mode, places, &values, &right));
                continue;
            };
            // Rows of K come in order: all up to the last of these are computed once.
            let wanted = (places[places.len() - 1] + 1) * size;
            while table.len() < wanted {
                poll()?;
                let first = table.len() / size;
                let last = (first + CANDIDATES_AT_A_TIME).min(size);
                let start = table.len();
                table.resize(last * size, 0.0);
                self.problem.gram().block(&self.problem.rows()[first..last], self.problem.rows(), &mut table[start..]);
            }
            let table = self.table.as_deref().unwrap_or_default();
            let values: Vec<&[f64]> = places.iter().map(|&place| &table[place * size..(place + 1) * size]).collect();
            found.extend(self.factors_of(mode, places, &values, &right));
        }
        ControlFlow::Continue(found)
    }

    /// (RV.4) for rows whose kernel values are there.
    fn factors_of(&self, mode: &Mode, places: &[usize], values: &[&[f64]], right: &[f64]) -> Vec<(usize, Factors)> {
        let (size, count) = (self.problem.len(), self.count());
        let right = MatRef::from_column_major_slice(right, size, count + 1);
        let parts = self.problem.workers().map_chunks(places.len(), CANDIDATES_A_THREAD, |range| {
            let own = &values[range.clone()];
            let mut left = Vec::with_capacity(own.len() * size);
            own.iter().for_each(|values| left.extend_from_slice(values));
            let mut products = vec![0.0; own.len() * (count + 1)];
            // A row of products a candidate
            let out = MatMut::from_row_major_slice_mut(&mut products, own.len(), count + 1);
            matmul(out, Accum::Replace, MatRef::from_row_major_slice(&left, own.len(), size), right, 1.0, Par::Seq);
            let one = |(k, values): (usize, &&[f64])| {
                let mut shared = products[k * (count + 1)..(k + 1) * (count + 1)].to_vec();
                let fit = shared.pop().unwrap_or(f64::NAN);
                mode.factor.solve_lower(&mut shared);
                let whole: f64 = values.iter().zip(&mode.curvatures).map(|(value, b)| value * value * b).sum();
                let spread = whole - shared.iter().map(|value| value * value).sum::<f64>();
                (spread > INDEPENDENT * whole && spread.is_finite() && fit.is_finite())
                    .then_some((places[range.start + k], Factors { spread, fit }))
            };
            own.iter().enumerate().filter_map(one).collect::<Vec<_>>()
        });
        parts.into_iter().flatten().collect()
    }
}
