//! Decision values and labels for new rows.

use super::Model;
use crate::data::{Dataset, Label};
use crate::error::Error;
use crate::kernel::{Kernel, Points};
use crate::workers::Workers;

/// Rows that one thread works on at a time.
const ROWS_A_CHUNK: usize = 16;

/// What a model says of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    machines: usize,
    values: Vec<f64>,
    codes: Vec<u32>,
    note: Option<String>,
}

impl Predictions {
    /// For each row the place of its class among the model's classes.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The decision values of a row, one a machine.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn decision_values(&self, row: usize) -> &[f64] {
        &self.values[row * self.machines..(row + 1) * self.machines]
    }

    /// What the user should know of the data, if anything.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

impl Model {
    /// Predicts data with columns of its own: see [`Model::align`].
    ///
    /// # Errors
    /// As [`Model::align`].
    pub fn predict(&self, data: &Dataset, workers: &Workers) -> Result<Predictions, Error> {
        let aligned = self.align(data)?;
        let values = self.decision_values(&aligned.points, workers);
        let (classes, machines) = (self.classes().len(), self.machines().len());
        let pairings: Vec<_> = self.machines().iter().map(|machine| machine.pairing).collect();
        let codes = values.chunks(machines).map(|row| self.parts.multiclass.decide(&pairings, classes, row)).collect();
        Ok(Predictions { machines, values, codes, note: aligned.note })
    }

    /// The label of a class by its place.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn label(&self, code: u32) -> &Label {
        &self.classes()[code as usize]
    }

    /// Decision values of prepared points, row after row, one a machine
    ///
    /// ```text
    /// f(x) = ⟨w, x⟩ + b,   or   f(x) = Σ_i c_i k(x, x_i) + b             (M.1)
    /// ```
    ///
    /// Each row of the result depends on that row alone: batches and threads change nothing.
    pub fn decision_values(&self, points: &Points, workers: &Workers) -> Vec<f64> {
        let machines = self.machines().len();
        let mut values = vec![0.0; points.len() * machines];
        let pool: Vec<usize> = (0..self.points.len()).collect();
        workers.fill_chunks(&mut values, ROWS_A_CHUNK * machines, |start, chunk| {
            let mut kernel_row = vec![0.0; if self.parts.kernel.is_linear() { 0 } else { pool.len() }];
            for (k, out) in chunk.chunks_mut(machines).enumerate() {
                let row = start / machines + k;
                if !self.parts.kernel.is_linear() {
                    self.parts.kernel.block(points.rows(&[row]), self.points.rows(&pool), &mut kernel_row);
                }
                for (value, machine) in out.iter_mut().zip(self.machines()) {
                    let sum: f64 = match &machine.weights {
                        Some(weights) => points.matrix().dot(row, weights),
                        None => {
                            let support = machine.support.iter().zip(&machine.coefficients);
                            support.map(|(&place, coefficient)| coefficient * kernel_row[place as usize]).sum()
                        }
                    };
                    *value = sum + machine.bias; // (M.1)
                }
            }
        });
        values
    }
}
