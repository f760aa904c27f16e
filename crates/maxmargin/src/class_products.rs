//! Products of rows with one vector for each class, all classes at once.
//!
//! ```text
//! values:  v_ik = ⟨w_k, x_i⟩ + b_k        pulls:  g_k = Σ_i s_ik x_i,  and Σ_i s_ik          (J.1)
//! ```
//!
//! The vectors lie side by side, `[column][class]`, so that one entry of a row is multiplied with the numbers of all classes at once. Behind
//! the last column comes a line of biases; the classes are padded with zeros to whole vectors of lanes.
//!
//! Both products are made in one pass over the rows, so the factors s of a row may depend on its values v.
//! Rows are taken in chunks whose size depends on the data alone, and partial sums are folded in order, so the bits do not
//! depend on the number of threads.

use std::ops::ControlFlow;

use pulp::Arch;

use crate::control::Stop;
use crate::data::{Matrix, Values};
use crate::simd::vectorised;
use crate::workers::Workers;

/// The number of classes is padded to a multiple of this.
const LANES: usize = 4;
/// Dense rows that are multiplied at a time.
const ROWS: usize = 4;
/// Lanes up to which a single row needs no memory for its values.
const FEW_LANES: usize = 32;
/// Chunks of rows between two polls.
const CHUNKS_A_POLL: usize = 32;
/// The fewest rows of a chunk, and the most chunks.
const LEAST_ROWS: usize = 256;
const MOST_CHUNKS: usize = 128;

/// How many numbers lie side by side for a number of classes.
pub(crate) fn lanes(classes: usize) -> usize {
    classes.div_ceil(LANES) * LANES
}

/// The rows that are multiplied.
#[derive(Clone, Copy)]
pub(crate) struct ClassProducts<'a> {
    pub(crate) matrix: &'a Matrix,
    /// The rows' places in the matrix.
    pub(crate) rows: &'a [usize],
    pub(crate) classes: usize,
    pub(crate) workers: &'a Workers,
}

/// What one pass computes.
pub(crate) struct Pass<'p> {
    /// The vectors of (J.1), `[column][class]` with the biases last; `None` leaves the values at 0.
    pub(crate) vectors: Option<&'p [f64]>,
    /// A line of `lanes` numbers for each row, handed to the work on that row.
    pub(crate) lines: &'p mut [f64],
    /// Whether the pulls of (J.1) are wanted.
    pub(crate) pulls: bool,
}

/// The sums of a pass.
#[derive(Debug)]
pub(crate) struct Sums {
    /// `[column][class]`, the sums of s_ik last; empty unless wanted.
    pub(crate) pulls: Vec<f64>,
    /// The sum of what the work on each row returned.
    pub(crate) total: f64,
}

/// One chunk of rows.
struct Chunk<'c> {
    start: usize,
    lines: &'c mut [f64],
    rows: usize,
}

impl ClassProducts<'_> {
    /// How many numbers lie side by side.
    pub(crate) fn lanes(&self) -> usize {
        lanes(self.classes)
    }

    /// How many numbers a set of vectors has, with the line of biases.
    pub(crate) fn size(&self) -> usize {
        (self.matrix.columns() + 1) * self.lanes()
    }

    /// Rows of a chunk: enough for the work on them to outweigh adding up the chunk's sums.
    fn rows_a_chunk(&self) -> usize {
        let entries = (self.matrix.entries() / self.matrix.rows().max(1)).max(1);
        let outweigh = 4 * self.matrix.columns() / entries;
        self.rows.len().div_ceil(MOST_CHUNKS).max(LEAST_ROWS).max(outweigh)
    }

    /// Goes over all rows once. `work(place, values, line)` gets the values v of a row, replaces them by the factors s, and returns a term of
    /// the total. Both must depend on that row alone.
    pub(crate) fn pass<W: Fn(usize, &mut [f64], &mut [f64]) -> f64 + Sync>(
        &self,
        pass: Pass<'_>,
        work: W,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Sums> {
        let (lanes, size) = (self.lanes(), self.rows_a_chunk());
        let Pass { vectors, lines, pulls } = pass;
        let mut rest = lines;
        let mut chunks = Vec::new();
        for start in (0..self.rows.len()).step_by(size) {
            let rows = size.min(self.rows.len() - start);
            let (first, others) = rest.split_at_mut(if rest.is_empty() { 0 } else { rows * lanes });
            chunks.push(Chunk { start, lines: first, rows });
            rest = others;
        }
        let mut sums = Sums { pulls: if pulls { vec![0.0; self.size()] } else { Vec::new() }, total: 0.0 };
        let arch = Arch::new();
        for chunks in chunks.chunks_mut(CHUNKS_A_POLL) {
            poll()?;
            let parts = self.workers.map_parts(chunks, |chunk| {
                let mut part = if pulls { vec![0.0; self.size()] } else { Vec::new() };
                let total = vectorised(
                    arch,
                    #[inline(always)]
                    || self.chunk(chunk, vectors, &mut part, &work),
                );
                (part, total)
            });
            for (part, total) in parts {
                sums.pulls.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
                sums.total += total;
            }
        }
        ControlFlow::Continue(sums)
    }

    /// The values of one row, given by its place: `lanes` numbers.
    pub(crate) fn row_values(&self, place: usize, vectors: &[f64], values: &mut [f64]) {
        let alone = ClassProducts { rows: &self.rows[place..=place], ..*self };
        let mut chunk = Chunk { start: 0, lines: values, rows: 1 };
        vectorised(
            Arch::new(),
            #[inline(always)]
            || {
                alone.chunk(&mut chunk, Some(vectors), &mut [], &|_, values: &mut [f64], line: &mut [f64]| {
                    line.copy_from_slice(values);
                    0.0
                })
            },
        );
    }

    /// Adds one row, given by its place, times a factor for each class to the vectors.
    pub(crate) fn add_row(&self, place: usize, factors: &[f64], vectors: &mut [f64]) {
        let alone = ClassProducts { rows: &self.rows[place..=place], ..*self };
        let mut chunk = Chunk { start: 0, lines: &mut [], rows: 1 };
        vectorised(
            Arch::new(),
            #[inline(always)]
            || {
                alone.chunk(&mut chunk, None, vectors, &|_, values: &mut [f64], _: &mut [f64]| {
                    values.copy_from_slice(factors);
                    0.0
                })
            },
        );
    }

    #[inline(always)]
    fn chunk<W: Fn(usize, &mut [f64], &mut [f64]) -> f64>(
        &self,
        chunk: &mut Chunk<'_>,
        vectors: Option<&[f64]>,
        pulls: &mut [f64],
        work: &W,
    ) -> f64 {
        let rows = &self.rows[chunk.start..chunk.start + chunk.rows];
        let columns = self.matrix.columns();
        let lanes = self.lanes();
        // One row of not very many classes needs no memory of its own.
        let (mut few, mut many);
        let values: &mut [f64] = if rows.len() == 1 && lanes <= FEW_LANES {
            few = [0.0; FEW_LANES];
            &mut few
        } else {
            many = vec![0.0; ROWS * lanes];
            &mut many
        };
        let mut total = 0.0;
        let mut meet = as_meet(
            #[inline(always)]
            |place, count, values| {
                for r in 0..count {
                    let line: &mut [f64] = if chunk.lines.is_empty() {
                        &mut []
                    } else {
                        &mut chunk.lines[(place + r) * lanes..(place + r + 1) * lanes]
                    };
                    let values = &mut values[r * lanes..(r + 1) * lanes];
                    total += work(chunk.start + place + r, values, line);
                }
            },
        );
        match self.matrix {
            Matrix::Dense(dense) => match dense.values() {
                Values::F32(numbers) => {
                    let row = |row: usize| &numbers[row * columns..(row + 1) * columns];
                    dense_rows(rows, row, vectors, pulls, lanes, values, &mut meet);
                }
                Values::F64(numbers) => {
                    let row = |row: usize| &numbers[row * columns..(row + 1) * columns];
                    dense_rows(rows, row, vectors, pulls, lanes, values, &mut meet);
                }
            },
            Matrix::Sparse(csr) => {
                let span = |row: usize| csr.offsets()[row] as usize..csr.offsets()[row + 1] as usize;
                match csr.values() {
                    Values::F32(numbers) => {
                        let row = |row: usize| (&csr.indices()[span(row)], &numbers[span(row)]);
                        sparse_rows(rows, row, vectors, pulls, lanes, values, &mut meet);
                    }
                    Values::F64(numbers) => {
                        let row = |row: usize| (&csr.indices()[span(row)], &numbers[span(row)]);
                        sparse_rows(rows, row, vectors, pulls, lanes, values, &mut meet);
                    }
                }
            }
        }
        total
    }
}

/// Hands back a closure as it is. An attribute can stand before an argument, but not before the value of a `let`: with it, the closure is
/// compiled for the instructions of the machine, like all that calls it. Elsewhere each fused product would be a call.
#[inline(always)]
fn as_meet<F: FnMut(usize, usize, &mut [f64])>(meet: F) -> F {
    meet
}

/// Rows without gaps, a few at a time.
#[inline(always)]
fn dense_rows<'m, T: Copy + Into<f64> + 'm>(
    rows: &[usize],
    row: impl Fn(usize) -> &'m [T],
    vectors: Option<&[f64]>,
    pulls: &mut [f64],
    lanes: usize,
    values: &mut [f64],
    meet: &mut impl FnMut(usize, usize, &mut [f64]),
) {
    let (groups, rest) = rows.as_chunks::<ROWS>();
    for (k, group) in groups.iter().enumerate() {
        let several: [&[T]; ROWS] = std::array::from_fn(|r| row(group[r]));
        several_rows(k * ROWS, &several, vectors, pulls, lanes, values, meet);
    }
    for (k, &one) in rest.iter().enumerate() {
        several_rows(groups.len() * ROWS + k, &[row(one)], vectors, pulls, lanes, values, meet);
    }
}

#[inline(always)]
fn several_rows<T: Copy + Into<f64>, const R: usize>(
    place: usize,
    rows: &[&[T]; R],
    vectors: Option<&[f64]>,
    pulls: &mut [f64],
    lanes: usize,
    values: &mut [f64],
    meet: &mut impl FnMut(usize, usize, &mut [f64]),
) {
    let values = &mut values[..R * lanes];
    match vectors {
        Some(vectors) => {
            for offset in (0..lanes / 8).map(|k| 8 * k) {
                dense_values::<T, R, 8>(rows, vectors, lanes, offset, values);
            }
            if !lanes.is_multiple_of(8) {
                dense_values::<T, R, 4>(rows, vectors, lanes, lanes - 4, values);
            }
        }
        None => values.fill(0.0),
    }
    meet(place, R, values);
    if !pulls.is_empty() {
        for offset in (0..lanes / 8).map(|k| 8 * k) {
            dense_pulls::<T, R, 8>(rows, pulls, lanes, offset, values);
        }
        if !lanes.is_multiple_of(8) {
            dense_pulls::<T, R, 4>(rows, pulls, lanes, lanes - 4, values);
        }
    }
}

/// N lanes of R rows' values; their sums stay in registers.
#[inline(always)]
fn dense_values<T: Copy + Into<f64>, const R: usize, const N: usize>(
    rows: &[&[T]; R],
    vectors: &[f64],
    lanes: usize,
    offset: usize,
    values: &mut [f64],
) {
    let columns = rows[0].len();
    let rows: [&[T]; R] = std::array::from_fn(|r| &rows[r][..columns]);
    let bias = line::<N>(vectors, columns, lanes, offset);
    let mut sums = [*bias; R];
    for column in 0..columns {
        let numbers = line::<N>(vectors, column, lanes, offset);
        for r in 0..R {
            let value: f64 = rows[r][column].into();
            for n in 0..N {
                sums[r][n] = value.mul_add(numbers[n], sums[r][n]);
            }
        }
    }
    for r in 0..R {
        values[r * lanes + offset..][..N].copy_from_slice(&sums[r]);
    }
}

#[inline(always)]
fn dense_pulls<T: Copy + Into<f64>, const R: usize, const N: usize>(
    rows: &[&[T]; R],
    pulls: &mut [f64],
    lanes: usize,
    offset: usize,
    values: &[f64],
) {
    let columns = rows[0].len();
    let rows: [&[T]; R] = std::array::from_fn(|r| &rows[r][..columns]);
    let factors: [[f64; N]; R] = std::array::from_fn(|r| *line::<N>(values, r, lanes, offset));
    for column in 0..columns {
        let sums = line_mut::<N>(pulls, column, lanes, offset);
        for r in 0..R {
            let value: f64 = rows[r][column].into();
            for n in 0..N {
                sums[n] = value.mul_add(factors[r][n], sums[n]);
            }
        }
    }
    let sums = line_mut::<N>(pulls, columns, lanes, offset);
    for r in 0..R {
        for n in 0..N {
            sums[n] += factors[r][n];
        }
    }
}

/// Rows with gaps, one at a time.
#[inline(always)]
fn sparse_rows<'m, T: Copy + Into<f64> + 'm>(
    rows: &[usize],
    row: impl Fn(usize) -> (&'m [u32], &'m [T]),
    vectors: Option<&[f64]>,
    pulls: &mut [f64],
    lanes: usize,
    values: &mut [f64],
    meet: &mut impl FnMut(usize, usize, &mut [f64]),
) {
    let values = &mut values[..lanes];
    for (place, &number) in rows.iter().enumerate() {
        let (columns, numbers) = row(number);
        match vectors {
            Some(vectors) => {
                for offset in (0..lanes / 8).map(|k| 8 * k) {
                    sparse_values::<T, 8>(columns, numbers, vectors, lanes, offset, values);
                }
                if !lanes.is_multiple_of(8) {
                    sparse_values::<T, 4>(columns, numbers, vectors, lanes, lanes - 4, values);
                }
            }
            None => values.fill(0.0),
        }
        meet(place, 1, values);
        if !pulls.is_empty() {
            for offset in (0..lanes / 8).map(|k| 8 * k) {
                sparse_pulls::<T, 8>(columns, numbers, pulls, lanes, offset, values);
            }
            if !lanes.is_multiple_of(8) {
                sparse_pulls::<T, 4>(columns, numbers, pulls, lanes, lanes - 4, values);
            }
        }
    }
}

/// N lanes of a row's values: four sums on their way, so that none waits for the one before.
#[inline(always)]
fn sparse_values<T: Copy + Into<f64>, const N: usize>(
    columns: &[u32],
    numbers: &[T],
    vectors: &[f64],
    lanes: usize,
    offset: usize,
    values: &mut [f64],
) {
    // Each by its own name: in an array of arrays they would stay in memory.
    let (mut first, mut second, mut third, mut fourth) = ([0.0; N], [0.0; N], [0.0; N], [0.0; N]);
    let line_of = |column: u32| line::<N>(vectors, column as usize, lanes, offset);
    let (entries, last) = columns.as_chunks::<4>();
    let (factors, rest) = numbers.as_chunks::<4>();
    // Counted, because a call between the loops, even to make an iterator, would put the sums into memory for all of them.
    for k in 0..entries.len() {
        let (columns, numbers) = (&entries[k], &factors[k]);
        first = sum_with(first, numbers[0].into(), line_of(columns[0]));
        second = sum_with(second, numbers[1].into(), line_of(columns[1]));
        third = sum_with(third, numbers[2].into(), line_of(columns[2]));
        fourth = sum_with(fourth, numbers[3].into(), line_of(columns[3]));
    }
    for k in 0..last.len() {
        first = sum_with(first, rest[k].into(), line_of(last[k]));
    }
    let bias = line::<N>(vectors, vectors.len() / lanes - 1, lanes, offset);
    let values = &mut values[offset..][..N];
    for n in 0..N {
        values[n] = (first[n] + second[n]) + (third[n] + fourth[n]) + bias[n];
    }
}

/// `sums + value · line`
#[inline(always)]
fn sum_with<const N: usize>(mut sums: [f64; N], value: f64, line: &[f64; N]) -> [f64; N] {
    for n in 0..N {
        sums[n] = value.mul_add(line[n], sums[n]);
    }
    sums
}

#[inline(always)]
fn sparse_pulls<T: Copy + Into<f64>, const N: usize>(
    columns: &[u32],
    numbers: &[T],
    pulls: &mut [f64],
    lanes: usize,
    offset: usize,
    values: &[f64],
) {
    let factors = *line::<N>(values, 0, lanes, offset);
    for k in 0..columns.len() {
        let sums = line_mut::<N>(pulls, columns[k] as usize, lanes, offset);
        *sums = sum_with(*sums, numbers[k].into(), &factors);
    }
    let sums = line_mut::<N>(pulls, pulls.len() / lanes - 1, lanes, offset);
    for n in 0..N {
        sums[n] += factors[n];
    }
}

/// N numbers of a line.
#[inline(always)]
fn line<const N: usize>(numbers: &[f64], line: usize, lanes: usize, offset: usize) -> &[f64; N] {
    match numbers[line * lanes + offset..].first_chunk() {
        Some(chunk) => chunk,
        None => unreachable!("a line has all its lanes"),
    }
}

#[inline(always)]
fn line_mut<const N: usize>(numbers: &mut [f64], line: usize, lanes: usize, offset: usize) -> &mut [f64; N] {
    match numbers[line * lanes + offset..].first_chunk_mut() {
        Some(chunk) => chunk,
        None => unreachable!("a line has all its lanes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_on() -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    fn value(i: usize, j: usize) -> f64 {
        if (i * 5 + j * 3).is_multiple_of(4) { 0.0 } else { ((i * 31 + j * 17) as f64).sin() }
    }

    /// Values and pulls of some rows, by one pass; a row's factors are its values squared.
    fn products(matrix: &Matrix, classes: usize, workers: &Workers) -> (Vec<f64>, Vec<f64>, f64) {
        let rows: Vec<usize> = (0..matrix.rows()).rev().collect();
        let products = ClassProducts { matrix, rows: &rows, classes, workers };
        let lanes = products.lanes();
        let number = |k: usize| if k % lanes < classes { ((k * 7) as f64).cos() } else { 0.0 };
        let vectors: Vec<f64> = (0..products.size()).map(number).collect();
        let mut lines = vec![0.0; rows.len() * lanes];
        let pass = Pass { vectors: Some(&vectors), lines: &mut lines, pulls: true };
        let work = |_: usize, values: &mut [f64], line: &mut [f64]| {
            line.copy_from_slice(values);
            values.iter_mut().for_each(|value| *value *= *value);
            line[0]
        };
        let ControlFlow::Continue(sums) = products.pass(pass, work, &mut go_on) else { panic!("broken") };
        (lines, sums.pulls, sums.total)
    }

    #[test]
    fn values_and_pulls_are_those_of_the_sums_written_out_for_every_layout() {
        for (rows, columns) in [(0, 3), (1, 1), (3, 2), (7, 5), (600, 9)] {
            let numbers: Vec<f64> = (0..rows * columns).map(|k| value(k / columns, k % columns)).collect();
            let single: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
            let dense = Matrix::dense(rows, columns, numbers).unwrap();
            let single = Matrix::dense(rows, columns, single).unwrap();
            for matrix in [&dense, &dense.to_sparse(), &single, &single.to_sparse()] {
                for classes in [3, 4, 7, 8, 10, 21] {
                    let (lines, pulls, total) = products(matrix, classes, &Workers::none());
                    let lanes = lanes(classes);
                    let number = |k: usize| if k % lanes < classes { ((k * 7) as f64).cos() } else { 0.0 };
                    let expected = |place: usize, k: usize| {
                        let row = matrix.row(rows - 1 - place);
                        let dot: f64 = (0..columns).map(|j| row[j] * number(j * lanes + k)).sum();
                        dot + number(columns * lanes + k)
                    };
                    let mut sum = 0.0;
                    for place in 0..rows {
                        for k in 0..lanes {
                            assert!((lines[place * lanes + k] - expected(place, k)).abs() < 1e-12);
                        }
                        sum += expected(place, 0);
                    }
                    assert!((total - sum).abs() < 1e-10);
                    for k in 0..lanes {
                        for j in 0..=columns {
                            let at = |place: usize| if j == columns { 1.0 } else { matrix.row(rows - 1 - place)[j] };
                            let pull: f64 = (0..rows).map(|place| at(place) * expected(place, k).powi(2)).sum();
                            assert!((pulls[j * lanes + k] - pull).abs() < 1e-9 * pull.abs().max(1.0));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let numbers: Vec<f64> = (0..3000 * 6).map(|k| value(k / 6, k % 6)).collect();
        let dense = Matrix::dense(3000, 6, numbers).unwrap();
        for matrix in [&dense, &dense.to_sparse()] {
            let alone = products(matrix, 7, &Workers::none());
            assert_eq!(products(matrix, 7, &Workers::new(3).unwrap()), alone);
        }
    }
}
