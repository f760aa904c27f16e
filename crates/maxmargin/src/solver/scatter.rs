//! The weighted sum of the outer products of rows: the heart of a Hessian and of a covariance matrix.
//!
//! ```text
//! S = Σ_i weight_i (x_i − m_i)(x_i − m_i)′                              (MX.2)
//! ```
//!
//! Rows are taken in blocks of a fixed size and partial sums are folded in order, so the bits do not depend on the
//! number of threads.

mod blocks;

use std::ops::{ControlFlow, Range};

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::control::Stop;
use crate::data::stored::{SparseRows, Stored, StoredRows, on_stored_rows};
use crate::data::{Matrix, Values};
use crate::workers::Workers;
use blocks::{BlockOccupancy, Blocks};

/// Rows that are multiplied at a time.
const BLOCK: usize = 512;
/// Blocks of rows in one partial sum.
const BLOCKS: usize = 8;
/// The most columns for which threads share out rows. For more columns they share out columns of S.
const FEW_COLUMNS: usize = 192;
/// The most columns for which sparse rows are added one by one to a matrix that stays in the cache.
const NARROW: usize = 512;
/// Rows between two polls when S is narrow.
const ROWS_A_POLL: usize = 1 << 20;
/// Products for each entry of S from which on a thread gets a matrix of its own, because adding the matrices up then costs little.
const PRODUCTS_AN_ENTRY: usize = 16;
/// Columns of S that one thread works on at a time.
const TILE: usize = 64;
/// Partial sums between two polls.
const SUMS_A_POLL: usize = 8;
/// The largest part of the columns that may have an entry for sparse rows to be multiplied entry by entry.
const CROWDED: f64 = 0.2;
/// [`CROWDED`] when S is narrow.
const CROWDED_WHEN_NARROW: f64 = 0.4;
/// Rows that one thread copies to dense ones at a time.
const ROWS_A_CHUNK: usize = 32;

/// The fewest entries of a block of columns, in the mean, for which blocks are faster than single entries.
const ENTRIES_A_BLOCK: f64 = 2.0;
/// [`ENTRIES_A_BLOCK`] when S is narrow.
const ENTRIES_A_BLOCK_WHEN_NARROW: f64 = 2.5;
/// The largest part of all pairs of blocks that may hold entries for blocks to be faster than whole rows.
const PAIRS_OF_BLOCKS: f64 = 0.5;

/// Ways to sum up outer products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Sparse rows, entry by entry, each thread into a matrix of its own.
    Narrow,
    /// Blocks of columns, empty ones left out, each thread into a matrix of its own.
    NarrowBlocks,
    /// Blocks of columns, empty ones left out, each thread into columns of its own.
    Blocks,
    /// Sparse rows, entry by entry, each thread into columns of its own.
    Entries,
    /// Whole rows, each thread into a matrix of its own.
    FewColumns,
    /// Whole rows, each thread into columns of its own.
    Tiles,
}

/// The rows and weights of the sum (MX.2).
pub(crate) struct Scatter<'a> {
    /// The matrix that holds the rows.
    pub(crate) matrix: &'a Matrix,
    /// The rows' places in the matrix.
    pub(crate) rows: &'a [usize],
    /// The weight of each row, 0 or more. Rows of weight 0 are left out.
    pub(crate) weights: &'a [f64],
    /// Whether a column of ones is appended.
    pub(crate) constant: bool,
    /// The group of each row and the centre m of each group; without it m is 0.
    pub(crate) centres: Option<(&'a [usize], &'a [Vec<f64>])>,
    /// The threads to work with.
    pub(crate) workers: &'a Workers,
}

impl Scatter<'_> {
    /// The size of S.
    fn size(&self) -> usize {
        self.matrix.columns() + usize::from(self.constant)
    }

    /// S; only its lower half is filled.
    ///
    /// Cost: `rows · size²` multiplications for dense rows, the square of the entries of each sparse row.
    pub(crate) fn lower(&self, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, Mat<f64>> {
        let (size, all) = (self.size(), self.rows.len());
        let used = || -> Vec<usize> { (0..all).filter(|&i| self.weights[i] != 0.0).collect() };
        let polls = (0..all).step_by(ROWS_A_POLL).map(|start| start..(start + ROWS_A_POLL).min(all));
        let mut sum = Mat::zeros(size, size);
        match self.way() {
            Way::Narrow => {
                for some in polls {
                    poll()?;
                    self.add_narrow(some, &mut sum);
                }
                self.take_centres_off(&mut sum);
            }
            Way::NarrowBlocks => {
                let mut blocks = Blocks::new(self, 1);
                for some in polls {
                    poll()?;
                    let parts = self.parts(some.len());
                    let found = self.workers.map_chunks(some.len(), some.len().div_ceil(parts), |range| {
                        let mut part = Blocks::new(self, 1);
                        part.add_alone(self, some.start + range.start..some.start + range.end);
                        part
                    });
                    found.iter().for_each(|part| blocks.join(part));
                }
                blocks.write(&mut sum);
                self.take_centres_off(&mut sum);
            }
            Way::Blocks => {
                let used = used();
                let mut blocks = Blocks::new(self, used.len());
                for some in used.chunks(blocks.rows()) {
                    poll()?;
                    blocks.add(self, some);
                }
                blocks.write(&mut sum);
                self.take_centres_off(&mut sum);
            }
            Way::Entries => {
                for block in used().chunks(BLOCK) {
                    poll()?;
                    self.add_sparse(block, &mut sum);
                }
                self.take_centres_off(&mut sum);
            }
            Way::FewColumns => {
                for rows in used().chunks(BLOCK * BLOCKS * SUMS_A_POLL) {
                    poll()?;
                    let parts = self.workers.map_chunks(rows.len(), BLOCK * BLOCKS, |range| {
                        let mut part = Mat::<f64>::zeros(size, size);
                        let mut spread = vec![0.0; BLOCK.min(range.len()) * size];
                        for block in rows[range].chunks(BLOCK) {
                            let spread = &mut spread[..block.len() * size];
                            block.iter().zip(spread.chunks_mut(size)).for_each(|(&i, out)| self.spread(i, out));
                            let block = MatRef::from_row_major_slice(spread, block.len(), size);
                            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
                            let left = block.transpose();
                            triangular::matmul(&mut part, lower, Accum::Add, left, full, block, full, 1.0, Par::Seq);
                        }
                        part
                    });
                    parts.iter().for_each(|part| sum += part);
                }
            }
            Way::Tiles => {
                let used = used();
                let mut spread = vec![0.0; BLOCK.min(used.len()) * size];
                for block in used.chunks(BLOCK) {
                    poll()?;
                    let spread = &mut spread[..block.len() * size];
                    self.workers.fill_chunks(spread, ROWS_A_CHUNK * size, |start, out| {
                        let rows = &block[start / size..];
                        rows.iter().zip(out.chunks_mut(size)).for_each(|(&i, out)| self.spread(i, out));
                    });
                    self.add_tiles(MatRef::from_row_major_slice(spread, block.len(), size), &mut sum);
                }
            }
        }
        ControlFlow::Continue(sum)
    }

    /// The fastest way, by how the rows are stored and where their entries occupancy.
    fn way(&self) -> Way {
        let size = self.size();
        let sparse = matches!(self.matrix, Matrix::Sparse(_));
        let cells = self.matrix.rows() as f64 * self.matrix.columns() as f64;
        let density = self.matrix.entries() as f64 / cells.max(1.0);
        let crowded = density > CROWDED;
        // Subtracting centres from a sum of many entries would lose digits.
        let narrow = sparse && size <= NARROW && (!crowded || density <= CROWDED_WHEN_NARROW && self.centres.is_none());
        if narrow {
            let occupancy = BlockOccupancy::of(self);
            let pays = occupancy.entries >= ENTRIES_A_BLOCK_WHEN_NARROW * occupancy.blocks;
            return if pays { Way::NarrowBlocks } else { Way::Narrow };
        }
        if size > FEW_COLUMNS {
            let occupancy = BlockOccupancy::of(self);
            let crowded = occupancy.entries > CROWDED * size as f64 && self.centres.is_some();
            let part = occupancy.blocks / occupancy.all as f64;
            let pays = !sparse || occupancy.entries >= ENTRIES_A_BLOCK * occupancy.blocks;
            if pays && !crowded && part * part <= PAIRS_OF_BLOCKS {
                return Way::Blocks;
            }
        }
        match (sparse && !crowded, size <= FEW_COLUMNS) {
            (true, _) => Way::Entries,
            (false, true) => Way::FewColumns,
            (false, false) => Way::Tiles,
        }
    }

    /// A row, centred and multiplied by the root of its weight.
    fn spread(&self, i: usize, out: &mut [f64]) {
        let root = self.weights[i].sqrt();
        match self.centres {
            Some((groups, centres)) => out.iter_mut().zip(&centres[groups[i]]).for_each(|(out, m)| *out = -root * m),
            None => out.fill(0.0),
        }
        self.matrix.visit(self.rows[i], |column, value| out[column] += root * value);
        if self.constant {
            out[self.size() - 1] = root;
        }
    }

    /// Turns a sum of raw rows into one of centred rows: subtracts `Σ_k weight_k m_k m_k′`.
    fn take_centres_off(&self, sum: &mut Mat<f64>) {
        let Some((groups, centres)) = self.centres else { return };
        let mut mass = vec![0.0; centres.len()];
        groups.iter().zip(self.weights).for_each(|(&group, weight)| mass[group] += weight);
        self.workers.fill_chunks(&mut column_tiles(sum), 1, |_, tile| {
            for (first, tile) in tile {
                for column in 0..tile.ncols() {
                    for (centre, mass) in centres.iter().zip(&mass) {
                        let factor = mass * centre[*first + column];
                        if factor != 0.0 {
                            (*first + column..centre.len()).for_each(|row| tile[(row, column)] -= factor * centre[row]);
                        }
                    }
                    // A column without spread would keep rounding errors.
                    let (square, place) = (tile[(*first + column, column)], *first + column);
                    let size: f64 =
                        centres.iter().zip(&mass).map(|(centre, mass)| mass * centre[place] * centre[place]).sum();
                    if square <= 1e-12 * size {
                        (place..self.matrix.columns()).for_each(|row| tile[(row, column)] = 0.0);
                    }
                }
            }
        });
    }

    /// Adds a block of rows, a tile of columns of S to a thread.
    fn add_tiles(&self, block: MatRef<'_, f64>, sum: &mut Mat<f64>) {
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

    /// How many threads get a matrix of their own for this many rows.
    fn parts(&self, rows: usize) -> usize {
        let (size, constant) = (self.size(), usize::from(self.constant));
        let entries = self.matrix.entries() / self.matrix.rows().max(1) + constant;
        (rows * entries * entries / (PRODUCTS_AN_ENTRY * size * size).max(1)).clamp(1, 8)
    }

    /// Adds some of the sparse rows entry by entry, each thread to a matrix of its own.
    fn add_narrow(&self, some: Range<usize>, sum: &mut Mat<f64>) {
        let size = self.size();
        let parts = self.parts(some.len());
        let found = self.workers.map_chunks(some.len(), some.len().div_ceil(parts), |range| {
            let mut part = vec![0.0; size * size];
            let mut entries: Vec<(usize, f64)> = Vec::new();
            let range = some.start + range.start..some.start + range.end;
            on_stored_rows!(self.matrix, rows => for i in range.filter(|&i| self.weights[i] != 0.0) {
                entries.clear();
                rows.visit(self.rows[i], |column, value| entries.push((column, value)));
                if self.constant {
                    entries.push((size - 1, 1.0));
                }
                let weight = self.weights[i];
                for (k, &(column, value)) in entries.iter().enumerate() {
                    let scaled = weight * value;
                    let column = &mut part[column * size..(column + 1) * size];
                    entries[k..].iter().for_each(|&(other, factor)| column[other] += scaled * factor); // (MX.2)
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
        let Matrix::Sparse(csr) = self.matrix else { return };
        let (offsets, indices) = (csr.offsets(), csr.indices());
        let mut tiles = column_tiles(sum);
        // The first tiles have the longest columns. Long and short ones alternate, so that every thread gets about the same work.
        let count = tiles.len();
        tiles.sort_by_key(|(first, _)| (first / TILE).min(count - 1 - first / TILE));
        self.workers.fill_chunks(&mut tiles, 1, |_, tile| {
            for (first, tile) in tile {
                match csr.values() {
                    Values::F32(values) => {
                        let rows = SparseRows { offsets, indices, values: &values[..] };
                        self.add_to_tile(block, &rows, *first, tile.as_mut());
                    }
                    Values::F64(values) => {
                        let rows = SparseRows { offsets, indices, values: &values[..] };
                        self.add_to_tile(block, &rows, *first, tile.as_mut());
                    }
                }
            }
        });
    }

    /// Adds sparse rows to the columns of a tile.
    fn add_to_tile<T: Stored>(
        &self,
        block: &[usize],
        rows: &SparseRows<'_, T>,
        first: usize,
        mut tile: MatMut<'_, f64>,
    ) {
        let (end, last) = (first + tile.ncols(), self.size() - 1);
        for &i in block {
            let weight = self.weights[i];
            let (columns, values) = rows.row(self.rows[i]);
            let from = columns.partition_point(|&column| (column as usize) < first);
            for (k, &column) in columns.iter().enumerate().skip(from) {
                let Some(column) = Some(column as usize).filter(|&column| column < end) else { break };
                let factor = weight * values[k].into();
                let Some(sums) = tile.as_mut().col_mut(column - first).try_as_col_major_mut() else { continue };
                let sums = sums.as_slice_mut();
                for (&other, &value) in columns[k..].iter().zip(&values[k..]) {
                    sums[other as usize] += factor * value.into();
                }
                if self.constant {
                    sums[last] += factor;
                }
            }
            if self.constant && end > last {
                tile[(last, last - first)] += weight;
            }
        }
    }
}

/// Cuts a matrix into tiles of columns, each with the number of its first column.
pub(super) fn column_tiles(matrix: &mut Mat<f64>) -> Vec<(usize, MatMut<'_, f64>)> {
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
    fn centred_rows_give_the_scatter_around_their_centres_dense_or_sparse() {
        for (columns, every) in [(6, 3), (40, 17), (260, 31)] {
            let value = |i: usize, j: usize| {
                if (i * 7 + j * 3).is_multiple_of(every) { (i * columns + j) as f64 * 0.01 + 1.0 } else { 0.0 }
            };
            let values: Vec<f64> = (0..50 * columns).map(|k| value(k / columns, k % columns)).collect();
            let dense = Matrix::dense(50, columns, values).unwrap();
            let rows: Vec<usize> = (0..50).collect();
            let groups: Vec<usize> = rows.iter().map(|i| i % 3).collect();
            let weights: Vec<f64> = rows.iter().map(|i| 1.0 + (i % 4) as f64).collect();
            let mass = |k: usize| rows.iter().filter(|&&i| i % 3 == k).map(|&i| weights[i]).sum::<f64>();
            let mean = |k: usize, j: usize| {
                rows.iter().filter(|&&i| i % 3 == k).map(|&i| weights[i] * value(i, j)).sum::<f64>() / mass(k)
            };
            let centres: Vec<Vec<f64>> = (0..3).map(|k| (0..columns).map(|j| mean(k, j)).collect()).collect();
            for matrix in [&dense, &dense.to_sparse()] {
                let workers = Workers::none();
                let around = Some((&groups[..], &centres[..]));
                let scatter = Scatter {
                    matrix,
                    rows: &rows,
                    weights: &weights,
                    constant: false,
                    centres: around,
                    workers: &workers,
                };
                let ControlFlow::Continue(sum) = scatter.lower(&mut || ControlFlow::Continue(())) else {
                    panic!("broken")
                };
                let at = |i: usize, j: usize| value(i, j) - centres[groups[i]][j];
                for j in 0..columns {
                    for k in j..columns {
                        let expected: f64 = (0..50).map(|i| weights[i] * at(i, j) * at(i, k)).sum();
                        let size: f64 = (0..50).map(|i| weights[i] * value(i, j).powi(2)).sum();
                        assert!((sum[(k, j)] - expected).abs() <= 1e-10 * size.max(1.0), "{columns} {j} {k}");
                    }
                }
            }
        }
    }

    /// Rows with a few runs of entries each, dense.
    fn clustered(rows: usize, columns: usize) -> Matrix {
        let value = |i: usize, j: usize| {
            if (j / 23 + i * i).is_multiple_of(5) { ((i * columns + j) as f64).sin() } else { 0.0 }
        };
        Matrix::dense(rows, columns, (0..rows * columns).map(|k| value(k / columns, k % columns)).collect::<Vec<_>>())
            .unwrap()
    }

    #[test]
    fn rows_in_clusters_are_added_by_blocks_dense_and_sparse() {
        let wide = [(1, 600), (63, 520), (64, 519), (65, 513), (128, 520), (129, 520), (1100, 521)];
        let narrow = [(1, 120), (64, 54), (129, 55), (3000, 60), (200, 300)];
        for (rows, columns) in wide.into_iter().chain(narrow) {
            let dense = clustered(rows, columns);
            let values: Vec<Vec<f64>> = (0..rows).map(|i| dense.row(i)).collect();
            let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64 * 0.5 + f64::from(i == 0)).collect();
            let all: Vec<usize> = (0..rows).collect();
            for matrix in [&dense, &dense.to_sparse()] {
                let workers = Workers::none();
                let scatter =
                    Scatter { matrix, rows: &all, weights: &weights, constant: true, centres: None, workers: &workers };
                let way = match (matrix, columns) {
                    (Matrix::Sparse(_), ..NARROW) => Way::NarrowBlocks,
                    (Matrix::Dense(_), ..=FEW_COLUMNS) => Way::FewColumns,
                    _ => Way::Blocks,
                };
                assert_eq!(scatter.way(), way);
                let sum = lower(matrix, &weights, &workers);
                assert_eq!(sum, lower(matrix, &weights, &Workers::new(3).unwrap()));
                let row = |i: usize, j: usize| if j == columns { 1.0 } else { values[i][j] };
                for j in (0..=columns).step_by(7).chain([columns]) {
                    for k in j..=columns {
                        let expected: f64 = (0..rows).map(|i| weights[i] * row(i, j) * row(i, k)).sum();
                        assert!((sum[(k, j)] - expected).abs() <= 1e-11 * rows as f64, "{rows} {j} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn entries_that_lie_alone_and_rows_without_gaps_are_not_added_by_blocks() {
        let (rows, columns) = (40, 600);
        let all: Vec<usize> = (0..rows).collect();
        let weights = vec![1.0; rows];
        let workers = Workers::none();
        let matrix = |value: fn(usize) -> f64| {
            Matrix::dense(rows, columns, (0..rows * columns).map(value).collect::<Vec<_>>()).unwrap()
        };
        let alone = matrix(|k| if k % 17 == 0 { 1.0 } else { 0.0 }).to_sparse();
        let full = matrix(|k| k as f64 + 1.0);
        for (matrix, way) in [(&alone, Way::Entries), (&full, Way::Tiles)] {
            let scatter =
                Scatter { matrix, rows: &all, weights: &weights, constant: false, centres: None, workers: &workers };
            assert_eq!(scatter.way(), way);
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
