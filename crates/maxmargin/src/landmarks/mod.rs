//! Kernel machines on landmarks: functions of the kernel's own space that are sums over a few of the rows.
//!
//! ```text
//! f(x) = Σ_j b_j k(z_j, x) + b,   ‖w‖² = b'K_zz b,   z_j the landmarks                              (LM.2)
//! ```
//!
//! Such a function is one that the exact machine could have chosen, and its norm is the true one. So its objective P̃ is a value of the exact
//! problem, above that problem's optimum; and whatever is feasible in the exact dual proves how far above (LM.1), in `proof.rs`.
//!
//! The best function on the landmarks is a linear machine. With `K_zz = L L'` and the features
//!
//! ```text
//! φ̃(x) = L⁻¹ (k(z_1, x), ..., k(z_m, x))',   w = L'b:   f(x) = ⟨w, φ̃(x)⟩ + b,   ‖w‖² = b'K_zz b      (LM.3)
//! ```
//!
//! the two objectives are the same number. Any solver of linear machines finds it, and its certificate is that of the problem on the landmarks.
//! A folded bias is part of the kernel here, so the linear machine has none.
//!
//! # Cost
//! n m kernel values, n m² multiplications and n m numbers for the features of n rows; m³/3 multiplications for L.
//!
//! # References
//! C. Williams, M. Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000. A. Rudi, L. Carratino, L. Rosasco, FALKON, NIPS 2017.

mod factor;
mod proof;

use std::ops::ControlFlow;

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatMut, Par};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::control::Stop;
use crate::kernel::Gram;
pub(crate) use proof::prove;

/// The part of its own k(z, z) that a landmark must add to the landmarks before it. One that adds less lies in their span but for rounding,
/// and is left out. With a smaller part L loses digits; with a larger one, functions are lost.
pub(crate) const LEAST_PIVOT: f64 = 1e-10;

/// Rows whose features are computed between two polls.
const ROWS_A_POLL: usize = 2048;
/// Rows whose features one thread computes at a time. Fixed, so that the number of threads changes no bit.
const ROWS_A_CHUNK: usize = 64;

/// A machine on landmarks beside its sum over them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DualPoint {
    /// The training rows (counted from 0) whose coefficient is not 0, increasing.
    pub rows: Vec<u64>,
    /// `c_i = α_i y_i` of each of them: a point of the dual, of the problem on the landmarks and of the exact one.
    pub coefficients: Vec<f64>,
    /// How far the machine is from the exact one, where that was asked for.
    pub proof: Option<Proof>,
}

/// What is proved of the distance to the exact machine
///
/// ```text
/// P̃ − P* ≤ P̃ − D(tα),   D(tα) = Σ −(C_iℓ)*(−t c_i) − ½ t² c'K c,   0 ≤ t ≤ 1                         (LM.1)
/// ```
///
/// P* is the optimum of the exact problem, K its own kernel matrix, and t the best factor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Proof {
    /// D(tα), a bound below the optimum of the exact problem.
    pub dual: f64,
    /// P̃ − D(tα)
    pub gap: f64,
    /// The gap divided by |P̃|; 0 where both are 0.
    pub relative_gap: f64,
}

/// Some landmarks that are independent, and L of (LM.3).
#[derive(Clone, Debug)]
pub(crate) struct Span {
    rows: Vec<usize>,
    lower: Mat<f64>,
}

/// Rows drawn at random, each equally likely; increasing.
pub(crate) fn draw(mut rows: Vec<usize>, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Pcg64::seed_from_u64(seed);
    let count = count.min(rows.len());
    let mut drawn = rows.partial_shuffle(&mut random, count).0.to_vec();
    drawn.sort_unstable();
    drawn
}

impl Span {
    /// The span of these rows, in their order. Those that add less than `least_pivot` of themselves are left out.
    pub(crate) fn new(
        gram: Gram<'_>,
        rows: &[usize],
        least_pivot: f64,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Self> {
        let size = rows.len();
        let mut lower = Mat::<f64>::zeros(size, size);
        let mut values = vec![0.0; ROWS_A_CHUNK * size];
        for start in (0..size).step_by(ROWS_A_CHUNK) {
            poll()?;
            let part = &rows[start..(start + ROWS_A_CHUNK).min(size)];
            let values = &mut values[..part.len() * size];
            gram.block(part, rows, values);
            // The matrix is symmetric: a row of it is a column.
            for (k, row) in values.chunks(size).enumerate() {
                lower.col_as_slice_mut(start + k).copy_from_slice(row);
            }
        }
        let kept = factor::factor(&mut lower, least_pivot, gram.workers(), poll)?;
        let lower = if kept.len() == size {
            lower
        } else {
            Mat::from_fn(kept.len(), kept.len(), |i, j| lower[(kept[i], kept[j])])
        };
        ControlFlow::Continue(Span { rows: kept.into_iter().map(|place| rows[place]).collect(), lower })
    }

    /// The span of no landmarks: constants.
    pub(crate) fn empty() -> Self {
        Span { rows: Vec::new(), lower: Mat::zeros(0, 0) }
    }

    /// The landmarks.
    pub(crate) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// φ̃ of (LM.3) for some rows, one after another.
    pub(crate) fn features(
        &self,
        gram: Gram<'_>,
        rows: &[usize],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Vec<f64>> {
        let size = self.rows.len();
        let mut features = gram.workers().zeros(rows.len() * size);
        if size == 0 {
            return ControlFlow::Continue(features);
        }
        for (rows, part) in rows.chunks(ROWS_A_POLL).zip(features.chunks_mut(ROWS_A_POLL * size)) {
            poll()?;
            gram.block(rows, &self.rows, part);
            gram.workers().fill_chunks(part, ROWS_A_CHUNK * size, |_, chunk| {
                // Features row after row are a matrix of one column a row.
                let count = chunk.len() / size;
                let columns = MatMut::from_column_major_slice_mut(chunk, size, count);
                solve_lower_triangular_in_place(self.lower.as_ref(), columns, Par::Seq); // (LM.3)
            });
        }
        ControlFlow::Continue(features)
    }

    /// `w = L'b`
    pub(crate) fn weights(&self, coefficients: &[f64]) -> Vec<f64> {
        let below = |j: usize| &self.lower.col_as_slice(j)[j..];
        let of_column = |j: usize| below(j).iter().zip(&coefficients[j..]).map(|(l, b)| l * b).sum();
        (0..self.rows.len()).map(of_column).collect()
    }

    /// `b` with `L'b = w`
    pub(crate) fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let mut solved = weights.to_vec();
        let size = solved.len();
        let columns = MatMut::from_column_major_slice_mut(&mut solved, size, 1);
        solve_upper_triangular_in_place(self.lower.transpose(), columns, Par::Seq);
        solved
    }
}
