//! The kernel matrix of some points. It is never formed as a whole; blocks of it are computed on request.

use super::{ClassValues, Kernel, Panel, Points, Tiles, expand};
use crate::simd::Real;
use crate::workers::Workers;

/// Columns of a single row that a thread computes at a time. Fixed, so that the number of threads changes no bit.
const COLUMNS_A_CHUNK: usize = 1024;

/// Right rows that pass by a panel before their values are transposed into the result.
const ROWS_A_TILE: usize = 48;

/// All that stands between a solver and a kernel: blocks of `K_ij = k(x_i, x_j)`, and the diagonal.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a> {
    kernel: &'a dyn Kernel,
    points: &'a Points,
    workers: &'a Workers,
    shared: Option<&'a ClassValues>,
}

impl<'a> Gram<'a> {
    /// The kernel matrix of `points`.
    pub fn new(kernel: &'a dyn Kernel, points: &'a Points, workers: &'a Workers) -> Self {
        Gram { kernel, points, workers, shared: None }
    }

    /// The kernel matrix with values that several machines share.
    pub fn sharing(self, shared: Option<&'a ClassValues>) -> Self {
        Gram { shared, ..self }
    }

    /// Values that several machines share, if there are any.
    pub fn shared(&self) -> Option<&'a ClassValues> {
        self.shared
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
        if self.kernel.of_dots().is_some() {
            self.block_of_dots(left, right, out);
        } else if left.len() == 1 {
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

    /// [`Gram::block`] for kernels of dot products: the right rows pass by panels of left rows.
    fn block_of_dots(&self, left: &[usize], right: &[usize], out: &mut [f64]) {
        let tiles = Tiles::<f64>::new(self.kernel, self.points);
        if tiles.few(left, right, out) {
            return;
        }
        let scratch = || {
            let panel = match left.len() {
                1 => tiles.single_panel(self.points),
                rows if rows <= f64::NARROW => tiles.narrow_panel(self.points),
                _ => tiles.panel(self.points),
            };
            let values = vec![0.0; ROWS_A_TILE * panel.lanes()];
            (panel, values)
        };
        if left.len() == 1 {
            self.workers.fill_chunks_with(out, COLUMNS_A_CHUNK, scratch, |(panel, values), start, chunk| {
                tiles.load(panel, left);
                fill_rows(&tiles, panel, &right[start..start + chunk.len()], values, chunk);
            });
        } else if !right.is_empty() {
            self.workers.fill_chunks_with(
                out,
                f64::LANES.min(left.len()) * right.len(),
                scratch,
                |(panel, values), start, chunk| {
                    let first = start / right.len();
                    tiles.load(panel, &left[first..first + chunk.len() / right.len()]);
                    fill_rows(&tiles, panel, right, values, chunk);
                },
            );
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
    /// Memory: for each thread a panel of rows.
    pub fn product(&self, rows: &[usize], columns: &[usize], coefficients: &[f64]) -> Vec<f64> {
        expand(self.kernel, self.points.rows(rows), self.points.rows(columns), coefficients, self.workers)
    }
}

/// `out[lane * right.len() + j] = k(lane, right[j])` for all rows of a panel.
fn fill_rows(tiles: &Tiles<'_, f64>, panel: &Panel<'_, f64>, right: &[usize], values: &mut [f64], out: &mut [f64]) {
    let lanes = panel.lanes();
    let starts: [usize; ROWS_A_TILE] = std::array::from_fn(|k| k * lanes);
    let mut places = [0; ROWS_A_TILE];
    for (tile, rows) in right.chunks(ROWS_A_TILE).enumerate() {
        places.iter_mut().zip(rows).for_each(|(place, &row)| *place = row as u32);
        tiles.fill(panel, &places[..rows.len()], &starts[..rows.len()], values);
        for lane in 0..panel.len() {
            let out = &mut out[lane * right.len() + tile * ROWS_A_TILE..][..rows.len()];
            out.iter_mut().zip(values.chunks(lanes)).for_each(|(out, values)| *out = values[lane]);
        }
    }
}
