//! Cholesky's factorisation of the landmarks' kernel matrix. Landmarks in the span of those before them are left out.
//!
//! ```text
//! K_zz = L L',   a landmark is kept where  L_jj² = K_jj − Σ_{i<j} L_ji² > least pivot · K_jj            (LM.4)
//! ```
//!
//! No ridge is added: what is minimised on the landmarks that are kept is the true objective.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::prelude::IntoConst;
use faer::{Accum, Mat, Par};

use crate::control::Stop;
use crate::workers::Workers;

/// Columns factored at a time.
const PANEL: usize = 64;
/// Rows of a panel that one thread works on at a time. Fixed, so that the number of threads changes no bit.
const TILE: usize = 256;

/// Replaces a symmetric matrix by L, and lists the columns that are kept. The rows and columns of the others are no part of L.
pub(super) fn factor(
    matrix: &mut Mat<f64>,
    least_pivot: f64,
    workers: &Workers,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Vec<usize>> {
    let size = matrix.nrows();
    let diagonal: Vec<f64> = (0..size).map(|j| matrix[(j, j)]).collect();
    let mut kept = Vec::with_capacity(size);
    for start in (0..size).step_by(PANEL) {
        poll()?;
        let width = PANEL.min(size - start);
        take_off(matrix, start, width, workers);
        for j in start..start + width {
            let mut column = matrix.col_as_slice(j)[j..].to_vec();
            let pivot = column[0];
            let is_kept = pivot > least_pivot * diagonal[j] && pivot.is_finite(); // (LM.4)
            let scale = if is_kept { 1.0 / pivot.sqrt() } else { 0.0 };
            column.iter_mut().for_each(|entry| *entry *= scale);
            for k in j + 1..start + width {
                let (own, factor) = (&column[k - j..], column[k - j]);
                let others = &mut matrix.col_as_slice_mut(k)[k..];
                others.iter_mut().zip(own).for_each(|(entry, own)| *entry -= factor * own);
            }
            matrix.col_as_slice_mut(j)[j..].copy_from_slice(&column);
            if is_kept {
                kept.push(j);
            }
        }
    }
    for j in 1..size {
        matrix.col_as_slice_mut(j)[..j].fill(0.0);
    }
    ControlFlow::Continue(kept)
}

/// Takes the part of the columns before a panel off it. The columns of landmarks that were left out are 0, and take nothing off.
fn take_off(matrix: &mut Mat<f64>, start: usize, width: usize, workers: &Workers) {
    let (left, right) = matrix.as_mut().split_at_col_mut(start);
    let left = left.into_const();
    let pivots = left.subrows(start, width);
    let (mut tiles, mut row) = (Vec::new(), start);
    let mut rest = right.subcols_mut(0, width).split_at_row_mut(start).1;
    while rest.nrows() > 0 {
        let height = TILE.min(rest.nrows());
        let (tile, below) = rest.split_at_row_mut(height);
        tiles.push((row, tile));
        (rest, row) = (below, row + height);
    }
    workers.fill_chunks(&mut tiles, 1, |_, tile| {
        for (row, tile) in tile {
            let rows = left.subrows(*row, tile.nrows());
            matmul(tile.as_mut(), Accum::Add, rows, pivots.transpose(), -1.0, Par::Seq);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Gaussian kernel of places on a line, each of which may stand there twice.
    fn kernel(places: &[f64]) -> Mat<f64> {
        Mat::from_fn(places.len(), places.len(), |i, j| (-(places[i] - places[j]).powi(2)).exp())
    }

    fn factored(places: &[f64], workers: &Workers) -> (Mat<f64>, Vec<usize>) {
        let mut matrix = kernel(places);
        match factor(&mut matrix, 1e-10, workers, &mut || ControlFlow::Continue(())) {
            ControlFlow::Continue(kept) => (matrix, kept),
            ControlFlow::Break(stop) => panic!("{stop:?}"),
        }
    }

    #[test]
    fn the_product_of_the_factors_is_the_matrix_of_what_is_kept_for_sizes_around_the_panel() {
        for size in [0, 1, 2, 63, 64, 65, 130, 300] {
            // Every fifth place stands there once more.
            let places: Vec<f64> = (0..size).map(|k| 3.0 * (k - usize::from(k % 5 == 4)) as f64).collect();
            let (lower, kept) = factored(&places, &Workers::none());
            assert_eq!(kept, (0..size).filter(|k| k % 5 != 4).collect::<Vec<_>>());
            let matrix = kernel(&places);
            for (i, j) in kept.iter().flat_map(|&i| kept.iter().map(move |&j| (i, j))) {
                let product: f64 = kept.iter().map(|&k| lower[(i, k)] * lower[(j, k)]).sum();
                assert!((product - matrix[(i, j)]).abs() < 1e-12, "{size} {i} {j}");
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let places: Vec<f64> = (0..700).map(|k| 0.9 * f64::from(k)).collect();
        assert_eq!(factored(&places, &Workers::none()), factored(&places, &Workers::new(3).unwrap()));
    }
}
