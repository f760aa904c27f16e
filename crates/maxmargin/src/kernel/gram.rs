//! The kernel matrix of some points, which is never formed: blocks of it on request.

use super::{Kernel, Points, Rows};
use crate::workers::Workers;

/// Columns of a single row that one thread computes at a time. Fixed, so that threads do not change results.
const COLUMNS_A_CHUNK: usize = 1024;

/// All that stands between a solver and a kernel: blocks of `K_ij = k(x_i, x_j)`, and the diagonal.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a> {
    kernel: &'a dyn Kernel,
    points: &'a Points,
    workers: &'a Workers,
}

impl<'a> Gram<'a> {
    /// The kernel matrix of `points`.
    pub fn new(kernel: &'a dyn Kernel, points: &'a Points, workers: &'a Workers) -> Self {
        Gram { kernel, points, workers }
    }

    /// The kernel.
    pub fn kernel(&self) -> &'a dyn Kernel {
        self.kernel
    }

    /// The points.
    pub fn points(&self) -> &'a Points {
        self.points
    }

    /// The threads that compute it.
    pub fn workers(&self) -> &'a Workers {
        self.workers
    }

    /// `out[i * right.len() + j] = K[left[i], right[j]]`, on all threads.
    pub fn block(&self, left: &[usize], right: &[usize], out: &mut [f64]) {
        let (rows, columns) = (self.points.rows(left), self.points.rows(right));
        if left.len() == 1 {
            self.workers.fill_chunks(out, COLUMNS_A_CHUNK, |start, chunk| {
                self.kernel.block(rows, columns.slice(start..start + chunk.len()), chunk);
            });
        } else if !right.is_empty() {
            self.workers.fill_chunks(out, right.len(), |start, chunk| {
                let row = start / right.len();
                self.kernel.block(rows.slice(row..row + 1), columns, chunk);
            });
        }
    }

    /// `K[i, i]` for each row listed.
    pub fn diagonal(&self, list: &[usize]) -> Vec<f64> {
        let mut out = vec![0.0; list.len()];
        self.kernel.diagonal(self.points.rows(list), &mut out);
        out
    }

    /// `f_i = Σ_j coefficients[j] · K[rows[i], columns[j]]`: a product with the kernel matrix, a few rows at a time.
    ///
    /// Memory: one row of the block a thread.
    pub fn product(&self, rows: &[usize], columns: &[usize], coefficients: &[f64]) -> Vec<f64> {
        expand(self.kernel, self.points.rows(rows), self.points.rows(columns), coefficients, self.workers)
    }
}

/// `f_i = Σ_j coefficients[j] · k(left i, right j)`, a row at a time on each thread.
pub(crate) fn expand(
    kernel: &dyn Kernel,
    left: Rows<'_>,
    right: Rows<'_>,
    coefficients: &[f64],
    workers: &Workers,
) -> Vec<f64> {
    let mut out = vec![0.0; left.len()];
    workers.fill_chunks(&mut out, 16, |start, chunk| {
        let mut values = vec![0.0; right.len()];
        for (k, sum) in chunk.iter_mut().enumerate() {
            kernel.block(left.slice(start + k..start + k + 1), right, &mut values);
            *sum = values.iter().zip(coefficients).map(|(value, coefficient)| value * coefficient).sum();
        }
    });
    out
}
