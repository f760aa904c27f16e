//! The probe: a fixed vector whose products with the rows are known, so that a sum over the rows can be checked.

use crate::data::Matrix;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::problem::Direction;
use crate::workers::Workers;

/// Rows that a thread takes at a time.
const ROWS_A_CHUNK: usize = 4096;

/// r of (SH.2) for a column: a number between ½ and 1 of either sign, which depends on the column alone.
fn entry(column: u64) -> f64 {
    // SplitMix64, Steele, Lea and Flood 2014.
    let mut bits = (column + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    let size = 0.5 + 0.5 * ((bits >> 11) as f64) / ((1u64 << 53) as f64);
    if bits & 1 == 0 { size } else { -size }
}

/// r for this many columns, and its number for b.
pub(super) fn probe(columns: usize) -> Direction {
    Direction { weights: (0..columns as u64).map(entry).collect(), bias: entry(u64::MAX - 1) }
}

/// What the probe says of the rows: ρ_i of (SH.2), and `a_i = Σ_j |x_ij r_j| + |r_b|`, the size of what it is summed of.
pub(super) struct Probed {
    pub(super) products: Vec<f64>,
    pub(super) sizes: Vec<f64>,
}

impl Probed {
    /// The probe's products with some rows of a matrix.
    pub(super) fn new(matrix: &Matrix, rows: &[usize], workers: &Workers) -> Self {
        let vector = probe(matrix.columns());
        let found = workers.map_chunks(rows.len(), ROWS_A_CHUNK, |range| {
            on_stored_rows!(matrix, stored => rows[range].iter().map(|&row| {
                let (mut product, mut size) = (vector.bias, vector.bias.abs());
                stored.visit(row, |column, value| {
                    let term = value * vector.weights[column];
                    product += term;
                    size += term.abs();
                });
                [product, size]
            }).collect::<Vec<_>>())
        });
        let (products, sizes) = found.into_iter().flatten().map(|[product, size]| (product, size)).unzip();
        Probed { products, sizes }
    }
}
