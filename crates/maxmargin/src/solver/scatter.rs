//! The weighted sum of the outer products of rows: the heart of a Hessian and of a covariance matrix.
//!
//! ```text
//! S = Σ_i weight_i (x_i − m_i)(x_i − m_i)′                              (H.2)
//! ```
//!
//! Rows are taken in blocks of a fixed size and partial sums are folded in order, so the bits do not depend on the
//! number of threads.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, Par};

use crate::control::Stop;
use crate::data::Matrix;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::workers::Workers;

/// Rows that one partial sum covers.
const BLOCK: usize = 512;
/// Up to this many columns, threads share out rows; beyond it, columns of S.
const FEW_COLUMNS: usize = 192;
/// Up to this many columns, sparse rows are added one by one to a matrix that stays in the processor's cache.
const NARROW: usize = 512;
/// Rows between two questions to the caller then, and entries of S that it takes to make a part of them pay.
const ROWS_A_POLL: usize = 1 << 20;
const PRODUCTS_AN_ENTRY: usize = 16;
/// Columns of S that one thread works on at a time.
const TILE: usize = 64;
/// Partial sums formed between two questions to the caller.
const BLOCKS_A_POLL: usize = 32;

/// What (H.2) is a sum over.
pub(super) struct Scatter<'a> {
    /// The numbers.
    pub(super) matrix: &'a Matrix,
    /// The rows' places in the matrix.
    pub(super) rows: &'a [usize],
    /// One a row, 0 or more. Rows of weight 0 cost nothing.
    pub(super) weights: &'a [f64],
    /// Whether a column of ones is appended.
    pub(super) constant: bool,
    /// The group of each row and the centre m of each group; without it m is 0.
    pub(super) centres: Option<(&'a [usize], &'a [Vec<f64>])>,
    /// The threads to work with.
    pub(super) workers: &'a Workers,
}

impl Scatter<'_> {
    /// The size of S.
    fn size(&self) -> usize {
        self.matrix.columns() + usize::from(self.constant)
    }

    /// S; only its lower half is filled.
    ///
    /// Cost: `rows · size²` multiplications for dense rows, the square of the entries of each sparse row.
    pub(super) fn lower(&self, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, Mat<f64>> {
        let used: Vec<usize> = (0..self.rows.len()).filter(|&i| self.weights[i] != 0.0).collect();
        let size = self.size();
        let sparse = matches!(self.matrix, Matrix::Sparse(_)) && self.centres.is_none();
        let density =
            self.matrix.entries() as f64 / (self.matrix.rows() as f64 * self.matrix.columns() as f64).max(1.0);
        let mut sum = Mat::zeros(size, size);
        if sparse && size <= NARROW && density <= 0.4 {
            for some in used.chunks(ROWS_A_POLL) {
                poll()?;
                self.add_narrow(some, &mut sum);
            }
        } else if sparse && density <= 0.2 {
            for block in used.chunks(BLOCK) {
                poll()?;
                self.add_sparse(block, &mut sum);
            }
        } else if size <= FEW_COLUMNS {
            for blocks in used.chunks(BLOCK * BLOCKS_A_POLL) {
                poll()?;
                let parts = self.workers.map_chunks(blocks.len(), BLOCK, |range| {
                    let block = self.spread(&blocks[range]);
                    let mut part = Mat::<f64>::zeros(size, size);
                    matmul(&mut part, Accum::Replace, block.transpose(), &block, 1.0, Par::Seq);
                    part
                });
                parts.iter().for_each(|part| sum += part);
            }
        } else {
            for block in used.chunks(BLOCK) {
                poll()?;
                self.add_tiles(&self.spread(block), &mut sum);
            }
        }
        ControlFlow::Continue(sum)
    }

    /// The chosen rows, centred and multiplied by the root of their weight.
    fn spread(&self, block: &[usize]) -> Mat<f64> {
        let mut spread = Mat::zeros(block.len(), self.size());
        for (k, &i) in block.iter().enumerate() {
            let root = self.weights[i].sqrt();
            if let Some((groups, centres)) = self.centres {
                centres[groups[i]].iter().enumerate().for_each(|(column, m)| spread[(k, column)] = -root * m);
            }
            self.matrix.visit(self.rows[i], |column, value| spread[(k, column)] += root * value);
            if self.constant {
                spread[(k, self.size() - 1)] = root;
            }
        }
        spread
    }

    /// Adds a block of rows, a tile of columns of S to a thread.
    fn add_tiles(&self, block: &Mat<f64>, sum: &mut Mat<f64>) {
        let size = self.size();
        self.workers.fill_chunks(&mut column_tiles(sum), 1, |_, tile| {
            for (first, tile) in tile {
                let (height, width) = (size - *first, tile.ncols());
                let left = block.subcols(*first, height);
                let tile = tile.as_mut().subrows_mut(*first, height);
                matmul(tile, Accum::Add, left.transpose(), block.subcols(*first, width), 1.0, Par::Seq);
            }
        });
    }

    /// Adds sparse rows entry by entry, each thread to a matrix of its own.
    fn add_narrow(&self, used: &[usize], sum: &mut Mat<f64>) {
        let (size, constant) = (self.size(), usize::from(self.constant));
        let entries = self.matrix.entries() / self.matrix.rows().max(1) + constant;
        let parts = (used.len() * entries * entries / (PRODUCTS_AN_ENTRY * size * size).max(1)).clamp(1, 8);
        let found = self.workers.map_chunks(used.len(), used.len().div_ceil(parts), |range| {
            let mut part = vec![0.0; size * size];
            let mut entries: Vec<(usize, f64)> = Vec::new();
            on_stored_rows!(self.matrix, rows => for &i in &used[range] {
                entries.clear();
                rows.visit(self.rows[i], |column, value| entries.push((column, value)));
                if self.constant {
                    entries.push((size - 1, 1.0));
                }
                let weight = self.weights[i];
                for (k, &(column, value)) in entries.iter().enumerate() {
                    let scaled = weight * value;
                    let column = &mut part[column * size..(column + 1) * size];
                    entries[k..].iter().for_each(|&(other, factor)| column[other] += scaled * factor); // (H.2)
                }
            });
            part
        });
        for part in found {
            for j in 0..size {
                let own = &part[j * size..(j + 1) * size];
                sum.col_as_slice_mut(j).iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
            }
        }
    }

    /// Adds sparse rows entry by entry, a tile of columns of S to a thread.
    fn add_sparse(&self, block: &[usize], sum: &mut Mat<f64>) {
        let entries: Vec<(f64, Vec<(usize, f64)>)> = block
            .iter()
            .map(|&i| {
                let mut row = Vec::new();
                self.matrix.visit(self.rows[i], |column, value| row.push((column, value)));
                if self.constant {
                    row.push((self.size() - 1, 1.0));
                }
                (self.weights[i], row)
            })
            .collect();
        self.workers.fill_chunks(&mut column_tiles(sum), 1, |_, tile| {
            for (first, tile) in tile {
                let end = *first + tile.ncols();
                for (weight, row) in &entries {
                    let from = row.partition_point(|&(column, _)| column < *first);
                    for (k, &(column, value)) in row.iter().enumerate().skip(from).take_while(|(_, e)| e.0 < end) {
                        for &(other, factor) in &row[k..] {
                            tile[(other, column - *first)] += weight * value * factor;
                        }
                    }
                }
            }
        });
    }
}

/// Cuts a matrix into tiles of columns, each with the number of its first column.
fn column_tiles(matrix: &mut Mat<f64>) -> Vec<(usize, MatMut<'_, f64>)> {
    let (mut tiles, mut rest, mut column) = (Vec::new(), matrix.as_mut(), 0);
    while rest.ncols() > 0 {
        let width = TILE.min(rest.ncols());
        let (tile, right) = rest.split_at_col_mut(width);
        tiles.push((column, tile));
        (rest, column) = (right, column + width);
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(matrix: &Matrix, weights: &[f64], workers: &Workers) -> Mat<f64> {
        let rows: Vec<usize> = (0..matrix.rows()).collect();
        let scatter = Scatter { matrix, rows: &rows, weights, constant: true, centres: None, workers };
        match scatter.lower(&mut || ControlFlow::Continue(())) {
            ControlFlow::Continue(sum) => sum,
            ControlFlow::Break(stop) => panic!("{stop:?}"),
        }
    }

    #[test]
    fn dense_and_sparse_rows_narrow_and_wide_give_the_sum_of_outer_products() {
        for (rows, columns) in [(0, 3), (1, 1), (40, 5), (1100, 3), (30, 260)] {
            let value = |i: usize, j: usize| {
                if (i + j).is_multiple_of(7) { (i * columns + j) as f64 * 0.01 + 1.0 } else { 0.0 }
            };
            let values: Vec<f64> = (0..rows).flat_map(|i| (0..columns).map(move |j| value(i, j))).collect();
            let dense = Matrix::dense(rows, columns, values).unwrap();
            let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
            let sums = [&dense, &dense.to_sparse()].map(|matrix| lower(matrix, &weights, &Workers::none()));
            let at = |i: usize, j: usize| if j == columns { 1.0 } else { value(i, j) };
            for j in 0..=columns {
                for k in j..=columns {
                    let expected: f64 = (0..rows).map(|i| weights[i] * at(i, j) * at(i, k)).sum();
                    for sum in &sums {
                        assert!((sum[(k, j)] - expected).abs() <= 1e-10 * expected.abs().max(1.0));
                    }
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        for columns in [3, 300] {
            let values: Vec<f64> = (0..2000 * columns).map(|k| (k as f64).sin()).collect();
            let matrix = Matrix::dense(2000, columns, values).unwrap();
            let weights = vec![0.3; 2000];
            assert_eq!(lower(&matrix, &weights, &Workers::none()), lower(&matrix, &weights, &Workers::new(2).unwrap()));
        }
    }
}
