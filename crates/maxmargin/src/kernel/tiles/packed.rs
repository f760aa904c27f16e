//! Rows laid out to pass by panels.

use std::sync::OnceLock;

use crate::data::{Buffer, Matrix, Values};
use crate::kernel::Points;
use crate::simd::Real;

/// The share of entries other than 0 from which on a matrix is laid out dense, because multiplying by zeros is then faster than skipping them.
const DENSE_FROM: f64 = 0.5;

/// The rows of some points in one precision, laid out to pass by panels.
#[derive(Clone, Debug)]
pub(crate) struct Packed<T> {
    pub(super) layout: Layout<T>,
    /// Whether every entry is 1 and no row has more than 255 of them, so that dot products are counted in bytes.
    pub(super) binary: bool,
    /// The squared norm of each row.
    pub(super) norms: Vec<T>,
    /// The largest of the squared norms.
    pub(super) largest: T,
}

#[derive(Clone, Debug)]
pub(super) enum Layout<T> {
    Dense { columns: usize, values: Buffer<T> },
    Sparse { offsets: Buffer<u64>, indices: Buffer<u32>, values: Buffer<T> },
}

/// A [`Layout`], borrowed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Laid<'a, T> {
    Dense { columns: usize, values: &'a [T] },
    Sparse { offsets: &'a [u64], indices: &'a [u32], values: &'a [T] },
}

/// A precision that points keep their rows packed in.
pub(crate) trait Packable: Real {
    /// The place for the rows packed in this precision.
    fn place(points: &Points) -> &OnceLock<Packed<Self>>;
}

impl Packable for f32 {
    fn place(points: &Points) -> &OnceLock<Packed<f32>> {
        points.single()
    }
}

impl Packable for f64 {
    fn place(points: &Points) -> &OnceLock<Packed<f64>> {
        points.double()
    }
}

impl<T: Real> Packed<T> {
    /// Packs a matrix. Shares its memory where it already has this precision and layout.
    pub(super) fn new(matrix: &Matrix) -> Self {
        let stored = not_zero(matrix);
        let layout = Layout::shared(matrix, stored).unwrap_or_else(|| Layout::copied(matrix, stored));
        let norm = |row: &[T]| row.iter().fold(T::default(), |norm, &value| value.fused(value, norm));
        let (norms, binary): (Vec<T>, bool) = match layout.borrow() {
            Laid::Dense { columns, values } => {
                ((0..matrix.rows()).map(|row| norm(&values[row * columns..(row + 1) * columns])).collect(), false)
            }
            Laid::Sparse { offsets, values, .. } => {
                let rows = || offsets.windows(2).map(|ends| &values[ends[0] as usize..ends[1] as usize]);
                let is_binary = |row: &[T]| row.len() <= 255 && row.iter().all(|value| *value == T::of(1.0));
                (rows().map(norm).collect(), rows().all(is_binary))
            }
        };
        let largest = norms.iter().fold(T::default(), |most, &norm| norm.larger(most));
        Packed { layout, binary, norms, largest }
    }

    /// An upper bound on the bytes of packed rows, in addition to the matrix: stored zeros count as entries.
    pub(crate) fn bytes(matrix: &Matrix) -> u64 {
        let size = size_of::<T>() as u64;
        let (rows, columns, stored) = (matrix.rows() as u64, matrix.columns() as u64, matrix.entries());
        let dense = is_dense(matrix, stored);
        let is_shared = match matrix {
            Matrix::Dense(own) => dense && T::shared(own.values()).is_some(),
            Matrix::Sparse(own) => !dense && T::shared(own.values()).is_some(),
        };
        let numbers = if is_shared {
            0
        } else if dense {
            rows.saturating_mul(columns) * size
        } else {
            stored as u64 * (size + 4) + rows * 8
        };
        numbers + rows * size
    }
}

impl<T: Real> Layout<T> {
    pub(super) fn borrow(&self) -> Laid<'_, T> {
        match self {
            Layout::Dense { columns, values } => Laid::Dense { columns: *columns, values },
            Layout::Sparse { offsets, indices, values } => Laid::Sparse { offsets, indices, values },
        }
    }

    fn shared(matrix: &Matrix, stored: usize) -> Option<Self> {
        match matrix {
            Matrix::Dense(dense) if is_dense(matrix, stored) => {
                let values = T::shared(dense.values())?.clone();
                Some(Layout::Dense { columns: matrix.columns(), values })
            }
            // A stored zero would count as a one.
            Matrix::Sparse(csr) if !is_dense(matrix, stored) && stored == matrix.entries() => {
                let values = T::shared(csr.values())?.clone();
                let (offsets, indices) = csr.buffers();
                Some(Layout::Sparse { offsets, indices, values })
            }
            _ => None,
        }
    }

    fn copied(matrix: &Matrix, stored: usize) -> Self {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if is_dense(matrix, stored) {
            let mut values = vec![T::default(); rows * columns];
            for (row, values) in values.chunks_mut(columns.max(1)).enumerate() {
                matrix.visit(row, |column, value| values[column] = T::of(value));
            }
            return Layout::Dense { columns, values: values.into() };
        }
        // Each entry is written, and overwritten by the next if it is 0: a branch that cannot be predicted would take longer.
        let (mut indices, mut values) = (vec![0; stored + 1], vec![T::default(); stored + 1]);
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut end = 0;
        for row in 0..rows {
            matrix.visit(row, |column, value| {
                (indices[end], values[end]) = (column as u32, T::of(value));
                end += usize::from(value != 0.0);
            });
            offsets.push(end as u64);
        }
        indices.truncate(stored);
        values.truncate(stored);
        Layout::Sparse { offsets: offsets.into(), indices: indices.into(), values: values.into() }
    }
}

/// Whether zeros are too few to be skipped.
fn is_dense(matrix: &Matrix, stored: usize) -> bool {
    stored as f64 >= DENSE_FROM * matrix.rows() as f64 * matrix.columns() as f64
}

/// How many entries are not 0.
fn not_zero(matrix: &Matrix) -> usize {
    let values = match matrix {
        Matrix::Dense(dense) => dense.values(),
        Matrix::Sparse(csr) => csr.values(),
    };
    match values {
        Values::F32(values) => values.iter().filter(|value| **value != 0.0).count(),
        Values::F64(values) => values.iter().filter(|value| **value != 0.0).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_right_already_are_shared_and_not_copied() {
        let full = Matrix::dense(9, 8, (1..=72).map(f64::from).collect::<Vec<f64>>()).unwrap();
        let few = (0..72).map(|k| if k % 8 == 3 { 0.5 } else { 0.0 }).collect::<Vec<f64>>();
        let doubles = [full, Matrix::dense(9, 8, few).unwrap().to_sparse()];
        for matrix in doubles {
            let copy = Packed::<f32>::bytes(&matrix);
            assert_eq!(Packed::<f64>::bytes(&matrix), 9 * 8, "norms alone");
            assert!(copy > 9 * 4, "{copy}");
            assert!(Layout::<f64>::shared(&matrix, not_zero(&matrix)).is_some());
            assert!(Layout::<f32>::shared(&matrix, not_zero(&matrix)).is_none());
        }
    }
}
