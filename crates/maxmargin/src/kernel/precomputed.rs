//! Kernel values that the user computed.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Kernel, Rows};
use crate::data::Matrix;

/// A table of kernel values: row i of the data holds k(x_i, t) for every training row t
///
/// ```text
/// k(x_i, t_j) = X[i, number of t_j]                                     (K.7)
/// ```
///
/// The right side of a block must be training rows; see [`Points::number`](super::Points::number).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Precomputed {}

impl Kernel for Precomputed {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        let mut table: Vec<f64>;
        for (&i, values) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
            table = left.points().matrix().row(i);
            for (&j, value) in right.list().iter().zip(values) {
                *value = table[right.points().number(j)]; // (K.7)
            }
        }
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        for (&row, value) in rows.list().iter().zip(out) {
            let number = rows.points().number(row);
            *value = 0.0;
            rows.points().matrix().visit(row, |column, entry| {
                if column == number {
                    *value = entry;
                }
            });
        }
    }

    fn always_positive_semidefinite(&self) -> bool {
        false
    }
}

/// The largest |X_ij − X_ji|, and the largest |X_ij|, of a square matrix.
pub(super) fn asymmetry(matrix: &Matrix) -> (f64, f64) {
    let rows: Vec<Vec<f64>> = (0..matrix.rows()).map(|row| matrix.row(row)).collect();
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for (i, row) in rows.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            largest = largest.max(value.abs());
            worst = worst.max((value - rows[j][i]).abs());
        }
    }
    (worst, largest)
}
