//! Cholesky's factorisation of a symmetric positive matrix, a panel at a time, so that a caller can stop it.
//!
//! ```text
//! A + ridge = L L′                                                      (MX.1)
//! ```
//!
//! The panels and tiles depend on the size alone, so the bits of L do not depend on the number of threads.
//!
//! Cost: n³/3 multiplications, n²/2 numbers beside the n²/2 of the matrix.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::IntoConst;
use faer::{Accum, Mat, MatMut, Par, Side};

use crate::control::Stop;
use crate::workers::Workers;

/// Columns factored at a time.
const PANEL: usize = 128;
/// Rows of a panel that one thread works on at a time.
const TILE: usize = 256;
/// Multiplications between two polls.
const WORK_A_POLL: usize = 1 << 30;
/// The ridges tried one after the other, relative to the diagonal.
const RIDGES: [f64; 8] = [0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-7, 1e-3];

/// L of (MX.1).
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    lower: Mat<f64>,
    /// The ridge that was needed, relative to the diagonal; 0 for a matrix that is positive definite by itself.
    pub(crate) ridge: f64,
}

impl Factor {
    /// L
    pub(crate) fn lower(&self) -> &Mat<f64> {
        &self.lower
    }

    /// Solves `L x = rhs` in place.
    pub(super) fn solve_lower(&self, rhs: &mut [f64]) {
        let size = rhs.len();
        let x = MatMut::from_column_major_slice_mut(rhs, size, 1);
        solve_lower_triangular_in_place(self.lower.as_ref(), x, Par::Seq);
    }

    /// Solves `(A + ridge) x = rhs` in place.
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        let size = rhs.len();
        let mut x = MatMut::from_column_major_slice_mut(rhs, size, 1);
        solve_lower_triangular_in_place(self.lower.as_ref(), x.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.lower.transpose(), x.as_mut(), Par::Seq);
    }
}

/// Factors a matrix with the smallest ridge that works.
///
/// `column(j, out)` writes the entries `A[j.., j]`. Every pivot must stay above `least_pivot` times its diagonal entry; 0
/// asks only for a positive one. A diagonal entry of 0 gets the mean of the others as its ridge.
///
/// `None` when no ridge works: an entry is not finite, or the matrix is far from positive.
pub(crate) fn factor(
    size: usize,
    column: &dyn Fn(usize, &mut [f64]),
    least_pivot: f64,
    workers: &Workers,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Factor>> {
    let mut lower = Mat::<f64>::zeros(size, size);
    for ridge in RIDGES {
        for j in 0..size {
            if j % PANEL == 0 {
                poll()?;
            }
            column(j, &mut lower.col_as_slice_mut(j)[j..]);
        }
        let diagonal: Vec<f64> = (0..size).map(|j| lower[(j, j)]).collect();
        if !diagonal.iter().all(|value| value.is_finite()) {
            return ControlFlow::Continue(None);
        }
        let mean = diagonal.iter().map(|value| value.abs() / size as f64).sum::<f64>();
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let shifted: Vec<f64> = diagonal
            .iter()
            .map(|&value| if value == 0.0 { ridge * mean } else { value + ridge * value.abs() })
            .collect();
        (0..size).for_each(|j| lower[(j, j)] = shifted[j]);
        if in_place(&mut lower, &shifted, least_pivot, workers, poll)? {
            return ControlFlow::Continue(Some(Factor { lower, ridge }));
        }
    }
    ControlFlow::Continue(None)
}

/// Replaces the lower half by L; false when a pivot is too small.
fn in_place(
    lower: &mut Mat<f64>,
    diagonal: &[f64],
    least_pivot: f64,
    workers: &Workers,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, bool> {
    let size = lower.nrows();
    for start in (0..size).step_by(PANEL) {
        let width = PANEL.min(size - start);
        let (left, right) = lower.as_mut().split_at_col_mut(start);
        let left = left.into_const();
        let pivots = left.subrows(start, width);
        let (_, panel) = right.subcols_mut(0, width).split_at_row_mut(start);
        let mut tiles = row_tiles(panel, start);
        // The columns before this panel are done: take their part off, a few tiles at a time.
        let group = (WORK_A_POLL / (TILE * width * start.max(1))).max(1);
        for tiles in tiles.chunks_mut(group) {
            poll()?;
            workers.fill_chunks(tiles, 1, |_, tile| {
                for (row, tile) in tile {
                    let rows = left.subrows(*row, tile.nrows());
                    matmul(tile.as_mut(), Accum::Add, rows, pivots.transpose(), -1.0, Par::Seq);
                }
            });
        }
        drop(tiles);
        let panel = lower.as_mut().submatrix_mut(start, start, size - start, width);
        let (mut block, rest) = panel.split_at_row_mut(width);
        let Ok(done) = block.as_ref().llt(Side::Lower) else {
            return ControlFlow::Continue(false);
        };
        let done = done.L();
        let enough = |j: usize| {
            let pivot = done[(j, j)] * done[(j, j)];
            pivot > least_pivot * diagonal[start + j] && pivot.is_finite()
        };
        if !(0..width).all(enough) {
            return ControlFlow::Continue(false);
        }
        block.copy_from(done);
        poll()?;
        workers.fill_chunks(&mut row_tiles(rest, 0), 1, |_, tile| {
            for (_, tile) in tile {
                solve_lower_triangular_in_place(done, tile.as_mut().transpose_mut(), Par::Seq);
            }
        });
    }
    // What was written above the diagonal is not part of L.
    for j in 1..size {
        lower.col_as_slice_mut(j)[..j].fill(0.0);
    }
    ControlFlow::Continue(true)
}

/// Cuts a panel into tiles of rows, each with the number of its first row, counted from `first`.
fn row_tiles(panel: MatMut<'_, f64>, first: usize) -> Vec<(usize, MatMut<'_, f64>)> {
    let (mut tiles, mut rest, mut row) = (Vec::new(), panel, first);
    while rest.nrows() > 0 {
        let height = TILE.min(rest.nrows());
        let (tile, below) = rest.split_at_row_mut(height);
        tiles.push((row, tile));
        (rest, row) = (below, row + height);
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_on() -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    fn entry(i: usize, j: usize) -> f64 {
        let wave = ((i * 7 + j * 7) as f64).sin() * 0.5;
        if i == j { 400.0 + wave } else { wave }
    }

    fn factor_of(size: usize, workers: &Workers) -> Factor {
        let column = |j: usize, out: &mut [f64]| (j..size).for_each(|i| out[i - j] = entry(i, j));
        match factor(size, &column, 0.0, workers, &mut go_on) {
            ControlFlow::Continue(Some(factor)) => factor,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_product_of_the_factors_is_the_matrix_for_sizes_around_the_panel() {
        for size in [0, 1, 2, 3, 127, 128, 129, 300, 513] {
            let factor = factor_of(size, &Workers::none());
            let product = factor.lower() * factor.lower().transpose();
            for i in 0..size {
                for j in 0..=i {
                    assert!((product[(i, j)] - entry(i, j)).abs() < 1e-10, "{size} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn the_solution_solves_the_system() {
        let size = 300;
        let mut x: Vec<f64> = (0..size).map(|i| (i as f64).cos()).collect();
        let rhs = x.clone();
        factor_of(size, &Workers::none()).solve(&mut x);
        for (i, expected) in rhs.iter().enumerate() {
            let row: f64 = (0..size).map(|j| entry(i.max(j), i.min(j)) * x[j]).sum();
            assert!((row - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let alone = factor_of(700, &Workers::none());
        let team = factor_of(700, &Workers::new(3).unwrap());
        assert_eq!(alone.lower(), team.lower());
    }

    #[test]
    fn a_singular_matrix_gets_a_ridge_and_one_that_is_not_finite_gets_nothing() {
        let ones = |_: usize, out: &mut [f64]| out.fill(1.0);
        let ControlFlow::Continue(Some(found)) = factor(5, &ones, 1e-13, &Workers::none(), &mut go_on) else {
            panic!("no ridge worked");
        };
        assert!(found.ridge > 0.0);
        let bad = |_: usize, out: &mut [f64]| out.fill(f64::INFINITY);
        assert!(matches!(factor(2, &bad, 0.0, &Workers::none(), &mut go_on), ControlFlow::Continue(None)));
    }
}
