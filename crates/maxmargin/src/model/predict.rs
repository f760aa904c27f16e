//! Decision values and labels for new rows.

use pulp::Arch;

use super::multiclass::decide;
use super::{Aligned, Machine, Model, Pairing};
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::data::{Dataset, Label};
use crate::error::Error;
use crate::kernel::{Expansion, Kernel, Points};
use crate::simd::vectorised;
use crate::workers::Workers;

/// Rows that one thread multiplies with weights at a time.
const ROWS_A_CHUNK: usize = 64;

/// Entries times machines of a linear model from which on threads are woken.
const WORTH_A_THREAD: usize = 100_000;

/// What a model says of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    machines: usize,
    values: Vec<f64>,
    codes: Vec<u32>,
    note: Option<String>,
}

impl Predictions {
    /// For each row the place of its class among the model's classes; nothing for a regression.
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

    /// The first decision value of each row: what a regression predicts.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = f64> {
        self.values.chunks(self.machines).map(|values| values[0])
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
        Ok(self.predict_aligned(self.align(data)?, workers))
    }

    /// Predicts data in the model's own columns.
    pub fn predict_aligned(&self, aligned: Aligned, workers: &Workers) -> Predictions {
        let values = self.decision_values(&aligned.points, workers);
        let machines = self.machines().len();
        let pairings: Vec<Pairing> = self.machines().iter().map(|machine| machine.pairing).collect();
        let mut score = vec![0.0; self.classes().len()];
        let codes = match self.task().is_regression() {
            true => Vec::new(),
            false => values.chunks(machines).map(|row| decide(&pairings, row, &mut score)).collect(),
        };
        Predictions { machines, values, codes, note: aligned.note }
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
    /// less `(q/2) k(x, x)` for a ball, so that f > 0 within it; of a network see (M.9).
    ///
    /// Each row of the result depends on that row alone: batches and threads change nothing.
    pub fn decision_values(&self, points: &Points, workers: &Workers) -> Vec<f64> {
        let machines = self.machines().len();
        let mut values = if let Some(network) = &self.parts.network {
            let all: Vec<usize> = (0..points.len()).collect();
            return network.values(points.matrix(), &all, self.machines(), workers);
        } else if self.parts.kernel.is_linear() {
            self.products_with_weights(points, workers)
        } else {
            let all: Vec<usize> = (0..points.len()).collect();
            let expansion = self.expansion.get_or_init(|| self.expansion_by_class());
            expansion.values(&self.parts.kernel, points.rows(&all), &self.points, workers)
        };
        for values in values.chunks_mut(machines) {
            values.iter_mut().zip(self.machines()).for_each(|(value, machine)| *value += machine.bias); // (M.1)
        }
        if let [Machine { reach: Some(reach), .. }] = self.machines() {
            let all: Vec<usize> = (0..points.len()).collect();
            let mut diagonal = vec![0.0; points.len()];
            self.parts.kernel.diagonal(points.rows(&all), &mut diagonal);
            values.iter_mut().zip(&diagonal).for_each(|(value, k)| *value -= reach * k);
        }
        values
    }

    /// The machines' coefficients, the support vectors of a class one after the other: they serve the same machines.
    fn expansion_by_class(&self) -> Expansion {
        let mut classes = vec![0; self.points.len()];
        for machine in self.machines() {
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                let Pairing { positive, negative } = machine.pairing;
                if let Some(class) = if coefficient > 0.0 { Some(positive) } else { negative } {
                    classes[place as usize] = class;
                }
            }
        }
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        order.sort_by_key(|&place| classes[place as usize]);
        let lists = self.machines().iter().map(|machine| (&machine.support[..], &machine.coefficients[..]));
        Expansion::new(&order, lists)
    }

    /// `⟨w, x⟩` for each row and machine: several machines at a time, their weights side by side.
    fn products_with_weights(&self, points: &Points, workers: &Workers) -> Vec<f64> {
        let machines = self.machines().len();
        let mut values = vec![0.0; points.len() * machines];
        let alone = Workers::none();
        let work = points.matrix().entries().saturating_mul(machines);
        let workers = if work > WORTH_A_THREAD { workers } else { &alone };
        let lists: Vec<&[f64]> =
            self.machines().iter().map(|machine| machine.weights.as_deref().unwrap_or_default()).collect();
        match lists.as_slice() {
            [weights] => workers.fill_chunks(&mut values, ROWS_A_CHUNK, |start, chunk| {
                for (k, value) in chunk.iter_mut().enumerate() {
                    *value = points.matrix().dot(start + k, weights);
                }
            }),
            lists => (0..machines).step_by(LANES).for_each(|first| {
                let side_by_side = self.side_by_side(&lists[first..machines.min(first + LANES)]);
                products_in_lanes(points, &side_by_side, workers, &mut values, machines, first);
            }),
        }
        values
    }

    /// Weights of some machines by column.
    fn side_by_side(&self, lists: &[&[f64]]) -> Vec<[f64; LANES]> {
        let mut all = vec![[0.0; LANES]; self.parts.columns];
        for (lane, weights) in lists.iter().enumerate() {
            all.iter_mut().zip(*weights).for_each(|(line, &weight)| line[lane] = weight);
        }
        all
    }
}

/// Machines whose weights lie side by side.
const LANES: usize = 8;

/// The products of all rows with some machines, from the `first` on.
fn products_in_lanes(
    points: &Points,
    weights: &[[f64; LANES]],
    workers: &Workers,
    values: &mut [f64],
    machines: usize,
    first: usize,
) {
    let count = LANES.min(machines - first);
    let arch = Arch::new();
    workers.fill_chunks(values, ROWS_A_CHUNK * machines, |start, chunk| {
        on_stored_rows!(points.matrix(), rows => vectorised(
            arch,
            #[inline(always)]
            || {
                for (k, out) in chunk.chunks_mut(machines).enumerate() {
                    let products = rows.dot_lanes(start / machines + k, weights);
                    out[first..first + count].copy_from_slice(&products[..count]);
                }
            },
        ));
    });
}
