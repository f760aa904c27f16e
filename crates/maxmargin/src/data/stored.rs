//! The rows of a matrix in the way they are stored, for loops that ask for it once and not row by row.

use std::ops::Range;

use super::matrix::Matrix;

/// A number as it is stored.
pub(crate) trait Stored: Copy + Send + Sync + Into<f64> + bytemuck::NoUninit {}

impl Stored for f32 {}
impl Stored for f64 {}

/// Rows in one way to store them. Rows and columns out of range panic, here and below.
pub(crate) trait StoredRows: Sync {
    /// A number as it is stored.
    type Number: Stored;
    /// The dot product of a row with a vector of one number a column.
    fn dot(&self, row: usize, vector: &[f64]) -> f64;
    /// Adds `scale` times a row to a vector of one number a column.
    fn add_scaled(&self, row: usize, scale: f64, vector: &mut [f64]);
    /// How many entries of a row are stored.
    fn stored(&self, row: usize) -> usize;
    /// The values of rows that follow each other, and before them their columns, where those are stored.
    fn span(&self, rows: Range<usize>) -> (Option<&[u32]>, &[Self::Number]);
    /// Calls `visit(column, value)` for each stored entry, columns increasing.
    fn visit(&self, row: usize, visit: impl FnMut(usize, f64));

    /// The dot products of a row with L vectors that lie side by side; of one alone it is [`StoredRows::dot`].
    fn dot_lanes<const L: usize>(&self, row: usize, vectors: &[[f64; L]]) -> [f64; L];

    /// Adds a row, scaled for each, to L vectors that lie side by side.
    #[inline(always)]
    fn add_lanes<const L: usize>(&self, row: usize, scales: &[f64; L], vectors: &mut [[f64; L]]) {
        if L == 1 {
            return self.add_scaled(row, scales[0], vectors.as_flattened_mut());
        }
        self.visit(
            row,
            #[inline(always)]
            |column, value| {
                let vector = &mut vectors[column];
                (0..L).for_each(|lane| vector[lane] += value * scales[lane]);
            },
        );
    }
}

/// Rows with all their zeros.
#[derive(Clone, Copy)]
pub(crate) struct DenseRows<'a, T> {
    pub(crate) columns: usize,
    pub(crate) values: &'a [T],
}

/// Rows without them.
#[derive(Clone, Copy)]
pub(crate) struct SparseRows<'a, T> {
    pub(crate) offsets: &'a [u64],
    pub(crate) indices: &'a [u32],
    pub(crate) values: &'a [T],
}

impl<T> SparseRows<'_, T> {
    /// The columns of a row's entries, and their values.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> (&[u32], &[T]) {
        let span = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        (&self.indices[span.clone()], &self.values[span])
    }
}

/// Sums that a dense product is made of side by side, so that one need not wait for the other.
const LANES: usize = 8;
/// Running sums of the dot product with a sparse row.
const SPARSE_LANES: usize = 4;

impl<T: Stored> StoredRows for DenseRows<'_, T> {
    type Number = T;

    #[inline]
    fn dot(&self, row: usize, vector: &[f64]) -> f64 {
        let values = &self.values[row * self.columns..(row + 1) * self.columns];
        let (blocks, rest) = values.as_chunks::<LANES>();
        let (others, end) = vector[..self.columns].as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (block, other) in blocks.iter().zip(others) {
            for lane in 0..LANES {
                let value: f64 = block[lane].into();
                sums[lane] += value * other[lane];
            }
        }
        let tail: f64 = rest.iter().zip(end).map(|(&value, other)| value.into() * other).sum();
        folded(sums) + tail
    }

    #[inline]
    fn add_scaled(&self, row: usize, scale: f64, vector: &mut [f64]) {
        let values = &self.values[row * self.columns..(row + 1) * self.columns];
        for (target, &value) in vector[..self.columns].iter_mut().zip(values) {
            *target += scale * value.into();
        }
    }

    #[inline]
    fn stored(&self, _: usize) -> usize {
        self.columns
    }

    #[inline]
    fn span(&self, rows: Range<usize>) -> (Option<&[u32]>, &[T]) {
        (None, &self.values[rows.start * self.columns..rows.end * self.columns])
    }

    #[inline(always)]
    fn visit(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let values = &self.values[row * self.columns..(row + 1) * self.columns];
        values.iter().enumerate().for_each(|(column, &value)| visit(column, value.into()));
    }

    #[inline(always)]
    fn dot_lanes<const L: usize>(&self, row: usize, vectors: &[[f64; L]]) -> [f64; L] {
        if L == 1 {
            return [self.dot(row, vectors.as_flattened()); L];
        }
        let values = &self.values[row * self.columns..(row + 1) * self.columns];
        let (blocks, rest) = values.as_chunks::<SPARSE_LANES>();
        let (lines, end) = vectors[..self.columns].as_chunks::<SPARSE_LANES>();
        let mut sums = [[0.0; L]; SPARSE_LANES];
        for (block, lines) in blocks.iter().zip(lines) {
            for k in 0..SPARSE_LANES {
                add_line(&mut sums[k], block[k].into(), &lines[k]);
            }
        }
        rest.iter().zip(end).for_each(|(&value, line)| add_line(&mut sums[0], value.into(), line));
        folded_lines(sums)
    }
}

impl<T: Stored> StoredRows for SparseRows<'_, T> {
    type Number = T;

    #[inline]
    fn dot(&self, row: usize, vector: &[f64]) -> f64 {
        let (indices, values) = self.row(row);
        let (blocks, rest) = indices.as_chunks::<SPARSE_LANES>();
        let (numbers, end) = values.as_chunks::<SPARSE_LANES>();
        let mut sums = [0.0; SPARSE_LANES];
        for (columns, numbers) in blocks.iter().zip(numbers) {
            for lane in 0..SPARSE_LANES {
                let value: f64 = numbers[lane].into();
                sums[lane] += value * vector[columns[lane] as usize];
            }
        }
        let tail: f64 = rest.iter().zip(end).map(|(&column, &value)| value.into() * vector[column as usize]).sum();
        (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
    }

    #[inline]
    fn add_scaled(&self, row: usize, scale: f64, vector: &mut [f64]) {
        let (indices, values) = self.row(row);
        for (&column, &value) in indices.iter().zip(values) {
            vector[column as usize] += scale * value.into();
        }
    }

    #[inline]
    fn stored(&self, row: usize) -> usize {
        (self.offsets[row + 1] - self.offsets[row]) as usize
    }

    #[inline]
    fn span(&self, rows: Range<usize>) -> (Option<&[u32]>, &[T]) {
        let span = self.offsets[rows.start] as usize..self.offsets[rows.end] as usize;
        (Some(&self.indices[span.clone()]), &self.values[span])
    }

    #[inline(always)]
    fn visit(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let (indices, values) = self.row(row);
        for (&column, &value) in indices.iter().zip(values) {
            visit(column as usize, value.into());
        }
    }

    #[inline(always)]
    fn dot_lanes<const L: usize>(&self, row: usize, vectors: &[[f64; L]]) -> [f64; L] {
        if L == 1 {
            return [self.dot(row, vectors.as_flattened()); L];
        }
        let (indices, values) = self.row(row);
        let (blocks, rest) = indices.as_chunks::<SPARSE_LANES>();
        let (numbers, end) = values.as_chunks::<SPARSE_LANES>();
        let mut sums = [[0.0; L]; SPARSE_LANES];
        for (columns, numbers) in blocks.iter().zip(numbers) {
            for k in 0..SPARSE_LANES {
                add_line(&mut sums[k], numbers[k].into(), &vectors[columns[k] as usize]);
            }
        }
        for (&column, &value) in rest.iter().zip(end) {
            add_line(&mut sums[0], value.into(), &vectors[column as usize]);
        }
        folded_lines(sums)
    }
}

/// `sums += value · line`
#[inline(always)]
fn add_line<const L: usize>(sums: &mut [f64; L], value: f64, line: &[f64; L]) {
    (0..L).for_each(|lane| sums[lane] += value * line[lane]);
}

#[inline(always)]
fn folded_lines<const L: usize>(sums: [[f64; L]; SPARSE_LANES]) -> [f64; L] {
    std::array::from_fn(|lane| (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]))
}

#[inline]
fn folded(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// Runs `$body` with `$rows` being the [`StoredRows`] of a matrix: the loop in it is compiled for each way to store rows.
macro_rules! on_stored_rows {
    ($matrix:expr, $rows:ident => $body:expr) => {
        match $matrix {
            $crate::data::Matrix::Dense(dense) => {
                let columns = $matrix.columns();
                match dense.values() {
                    $crate::data::Values::F32(values) => {
                        let $rows = $crate::data::stored::DenseRows { columns, values: &values[..] };
                        $body
                    }
                    $crate::data::Values::F64(values) => {
                        let $rows = $crate::data::stored::DenseRows { columns, values: &values[..] };
                        $body
                    }
                }
            }
            $crate::data::Matrix::Sparse(csr) => {
                let (offsets, indices) = (csr.offsets(), csr.indices());
                match csr.values() {
                    $crate::data::Values::F32(values) => {
                        let $rows = $crate::data::stored::SparseRows { offsets, indices, values: &values[..] };
                        $body
                    }
                    $crate::data::Values::F64(values) => {
                        let $rows = $crate::data::stored::SparseRows { offsets, indices, values: &values[..] };
                        $body
                    }
                }
            }
        }
    };
}
pub(crate) use on_stored_rows;

impl Matrix {
    /// The dot product of a row with a vector of one number a column.
    ///
    /// # Panics
    /// When `row` is out of range, or the vector is too short.
    pub fn dot(&self, row: usize, vector: &[f64]) -> f64 {
        on_stored_rows!(self, rows => rows.dot(row, vector))
    }

    /// Adds `scale` times a row to a vector of one number a column.
    ///
    /// # Panics
    /// When `row` is out of range, or the vector is too short.
    pub fn add_scaled(&self, row: usize, scale: f64, vector: &mut [f64]) {
        on_stored_rows!(self, rows => rows.add_scaled(row, scale, vector));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_are_those_of_the_entries_for_every_length_and_storage() {
        for columns in 0..40 {
            let values: Vec<f32> = (0..3 * columns).map(|k| if k % 3 == 1 { 0.0 } else { (k as f32).sin() }).collect();
            let single = Matrix::dense(3, columns, values.clone()).unwrap();
            let double = Matrix::dense(3, columns, values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>()).unwrap();
            let vector: Vec<f64> = (0..columns).map(|k| (k as f64 + 0.5).cos()).collect();
            for matrix in [single.to_sparse(), single, double.to_sparse(), double] {
                for row in 0..3 {
                    let (mut expected, mut sum) = (0.0, vector.clone());
                    matrix.visit(row, |column, value| {
                        expected += value * vector[column];
                        sum[column] += 0.7 * value;
                    });
                    let mut found = vector.clone();
                    matrix.add_scaled(row, 0.7, &mut found);
                    assert!((matrix.dot(row, &vector) - expected).abs() < 1e-12);
                    assert_eq!(found, sum);
                }
            }
        }
    }
}
