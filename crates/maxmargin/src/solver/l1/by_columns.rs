//! Newton's model of the objective in many columns, minimised one weight at a time without a matrix of products.
//!
//! The model is (L1.3). The values `v_i = ⟨d, x_i⟩` of the rows are kept instead of Gd, so that a step of one weight costs two
//! passes over its column. Weights that stay at 0 are visited again once the others are done.

use std::ops::ControlFlow;

use super::quadratic::{one_step, violation};
use crate::control::Stop;
use crate::data::Matrix;
use crate::data::stored::{StoredRows, on_stored_rows};

/// Entries between two polls.
const WORK_A_POLL: usize = 1 << 22;
/// The most sweeps: what is left then is for the next Newton step.
const MOST_SWEEPS: u32 = 100;
/// The least curvature of a column, as a part of the largest; smaller ones are replaced by it.
const LEAST_CURVATURE: f64 = 1e-12;

/// Rows by column.
pub(super) struct Columns {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    /// Turns rows, given by their places in a matrix, into columns.
    pub(super) fn new(matrix: &Matrix, rows: &[usize]) -> Self {
        let width = matrix.columns();
        let mut offsets = vec![0usize; width + 1];
        on_stored_rows!(matrix, stored => for &row in rows {
            stored.visit(row, |column, value| offsets[column + 1] += usize::from(value != 0.0));
        });
        (0..width).for_each(|j| offsets[j + 1] += offsets[j]);
        let (mut places, mut values) = (vec![0u32; offsets[width]], vec![0.0; offsets[width]]);
        let mut next = offsets.clone();
        on_stored_rows!(matrix, stored => for (i, &row) in rows.iter().enumerate() {
            stored.visit(row, |column, value| {
                if value != 0.0 {
                    (places[next[column]], values[next[column]]) = (i as u32, value);
                    next[column] += 1;
                }
            });
        });
        Columns { offsets, rows: places, values }
    }

    fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[j]..self.offsets[j + 1];
        self.rows[range.clone()].iter().zip(&self.values[range]).map(|(&row, &value)| (row as usize, value))
    }

    fn count(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The model (L1.3) by columns.
pub(super) struct ByColumns<'a> {
    pub(super) columns: &'a Columns,
    /// h, one a row.
    pub(super) curvatures: &'a [f64],
    /// g; one more than there are columns where there is a bias.
    pub(super) gradient: &'a [f64],
    /// w, and b where there is one.
    pub(super) point: &'a [f64],
    /// p
    pub(super) penalties: &'a [f64],
}

impl ByColumns<'_> {
    /// `w + d` near the minimum, to a violation of `tolerance` where [`MOST_SWEEPS`] reach it.
    pub(super) fn minimise(
        &self,
        tolerance: f64,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Vec<f64>> {
        let (size, h) = (self.point.len(), self.curvatures);
        let mut curvature: Vec<f64> = (0..self.columns.count())
            .map(|j| self.columns.column(j).map(|(i, value)| h[i] * value * value).sum())
            .collect();
        curvature.resize_with(size, || h.iter().sum());
        let largest = curvature.iter().copied().fold(0.0, f64::max);
        let least = if largest > 0.0 { LEAST_CURVATURE * largest } else { 1.0 };
        let mut at = self.point.to_vec();
        let mut values = vec![0.0; h.len()];
        let mut active: Vec<usize> = (0..size).collect();
        let (mut work, mut bound) = (0, f64::INFINITY);
        for _ in 0..MOST_SWEEPS {
            let (mut worst, mut kept) = (0.0f64, Vec::with_capacity(active.len()));
            for &j in &active {
                let is_column = j < self.columns.count();
                let sum: f64 = if is_column {
                    self.columns.column(j).map(|(i, value)| h[i] * value * values[i]).sum()
                } else {
                    h.iter().zip(&values).map(|(h, value)| h * value).sum()
                };
                let slope = self.gradient[j] + sum;
                let (z, penalty) = (at[j], self.penalties[j]);
                // A weight at 0 whose slope is far from the penalty will most likely stay there.
                if z == 0.0 && slope.abs() + bound.min(penalty) < penalty {
                    continue;
                }
                kept.push(j);
                worst = worst.max(violation(z, slope, penalty));
                let next = one_step(z, slope, curvature[j] + least, penalty);
                if next != z {
                    at[j] = next;
                    if is_column {
                        self.columns.column(j).for_each(|(i, value)| values[i] += (next - z) * value)
                    } else {
                        values.iter_mut().for_each(|value| *value += next - z)
                    }
                }
                work += if is_column { self.columns.offsets[j + 1] - self.columns.offsets[j] } else { h.len() };
                if work > WORK_A_POLL {
                    poll()?;
                    work = 0;
                }
            }
            if worst <= tolerance {
                if active.len() == size {
                    break;
                }
                (active, bound) = ((0..size).collect(), f64::INFINITY);
                continue;
            }
            (active, bound) = (kept, worst);
        }
        ControlFlow::Continue(at)
    }
}
