//! What kernels compute of a pair of rows: dot products, distances and sums over columns. All in f64.

use pulp::Arch;

use super::Rows;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::data::{Matrix, Values};
use crate::simd::vectorised;

/// Dot products of a block: `out[i * right.len() + j] = ⟨x′_i, z′_j⟩`, the folded constant included.
///
/// A left row is copied to a dense one once; each right row then costs its stored entries.
pub(super) fn dots(left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
    assert_eq!(out.len(), left.len() * right.len(), "a block needs a place for each pair");
    debug_assert_eq!(left.points().centre(), right.points().centre(), "both sides are moved alike");
    let (matrix, width) = (right.points().seen(), right.len());
    if width == 0 {
        return;
    }
    let constant = if right.points().folded() { 1.0 } else { 0.0 };
    if matrix.columns() > super::MOST_SPREAD_COLUMNS && matches!(matrix, Matrix::Sparse(_)) {
        // A dense row would be far larger than its entries.
        column_products(left, right, out);
        out.iter_mut().for_each(|value| *value += constant);
        return;
    }
    let mut spread = vec![0.0; matrix.columns()];
    for (&i, values) in left.list().iter().zip(out.chunks_mut(width)) {
        left.points().seen().visit(i, |column, value| spread[column] = value);
        for (&j, value) in right.list().iter().zip(values) {
            *value = dot_with_row(&spread, matrix, j) + constant;
        }
        left.points().seen().visit(i, |column, _| spread[column] = 0.0);
    }
}

/// `γ (‖x‖² + ‖z‖²)` above which a Gaussian value may lose digits that matter, because its distance comes from norms and a dot product.
/// Times 2⁻⁵² it is the largest error of such a value: 1e-10. Larger: more digits are lost. Smaller: distances are computed twice in data
/// that is merely not scaled, which takes twice the time.
pub(crate) const FAR_OUT: f64 = 524_288.0;

/// `γ ‖x − z‖²` from which on a Gaussian value counts as 0: e⁻⁶⁴ is 2e-28. Larger: more distances are computed twice for no gain.
const NOTHING: f64 = 64.0;

/// The largest error of a squared distance, as a part of `‖x‖² + ‖z‖²`: 128 roundings of single precision. Larger: more distances are
/// computed twice. Smaller: a value above 0 may count as 0.
const UNSURE: f64 = 1.0 / 65_536.0;

/// Whether rows with this sum of squared norms are far enough out for their Gaussian value to lose digits.
pub(super) fn may_cancel(gamma: f64, norms: f64) -> bool {
    gamma * norms > FAR_OUT
}

/// Whether the distance of two rows has to be computed from their differences: the rows are far out, and near enough to each other for a
/// Gaussian value above 0. `norms` is the sum of their squared norms. The answer depends on the pair alone.
pub(super) fn is_cancelled(gamma: f64, norms: f64, dot: f64) -> bool {
    // Norms that overflow give NaN, which must not count as a large distance.
    may_cancel(gamma, norms) && !(gamma * (norms - 2.0 * dot) >= NOTHING + gamma * UNSURE * norms)
}

/// Squared distances of a block: `‖x‖² + ‖z‖² − 2⟨x, z⟩`, at least 0, or from differences where these terms cancel.
pub(super) fn squared_distances(left: Rows<'_>, right: Rows<'_>, gamma: f64, out: &mut [f64]) {
    dots(left, right, out);
    let norms = |i: usize, j: usize| left.points().squared_norm(i) + right.points().squared_norm(j);
    each(left, right, out, |i, j, dot| {
        if is_cancelled(gamma, norms(i, j), dot) {
            return squared_differences(left.points().matrix(), i, right.points().matrix(), j);
        }
        (norms(i, j) - 2.0 * dot).max(0.0)
    });
}

/// How many running sums [`squared_differences`] keeps.
const DIFFERENCE_LANES: usize = 8;

/// `‖x − z‖²` from the differences of entries, which loses no digits however far out the rows are.
///
/// The number of a column decides which of eight running sums takes it. So dense and sparse rows, and both orders of the two rows, give the
/// same bits. The rows are those of the matrices: no centre is subtracted.
pub(super) fn squared_differences(left: &Matrix, i: usize, right: &Matrix, j: usize) -> f64 {
    let mut sums = [0.0; DIFFERENCE_LANES];
    if let (Matrix::Dense(x), Matrix::Dense(z)) = (left, right) {
        let (width, arch) = (left.columns(), Arch::new());
        let (x_span, z_span) = (i * width..(i + 1) * width, j * width..(j + 1) * width);
        if let (Values::F64(x), Values::F64(z)) = (x.values(), z.values()) {
            vectorised(
                arch,
                #[inline(always)]
                || add_squared_differences(&x[x_span], &z[z_span], &mut sums),
            );
            return sums.iter().sum();
        }
    }
    let mut add = |column: usize, difference: f64| sums[column % DIFFERENCE_LANES] += difference * difference;
    let mut entries = Vec::new();
    left.visit(i, |column, value| entries.push((column, value)));
    let mut rest = entries.as_slice();
    right.visit(j, |column, z| {
        while let [(c, x), tail @ ..] = rest
            && *c < column
        {
            add(*c, *x);
            rest = tail;
        }
        match rest {
            [(c, x), tail @ ..] if *c == column => {
                add(column, x - z);
                rest = tail;
            }
            _ => add(column, z),
        }
    });
    rest.iter().for_each(|&(column, x)| add(column, x));
    sums.iter().sum()
}

/// [`squared_differences`] of dense rows.
#[inline(always)]
fn add_squared_differences(x: &[f64], z: &[f64], sums: &mut [f64; DIFFERENCE_LANES]) {
    let (x_chunks, z_chunks) = (x.as_chunks::<DIFFERENCE_LANES>(), z.as_chunks::<DIFFERENCE_LANES>());
    for (x, z) in x_chunks.0.iter().zip(z_chunks.0) {
        for lane in 0..DIFFERENCE_LANES {
            sums[lane] += (x[lane] - z[lane]) * (x[lane] - z[lane]);
        }
    }
    for ((x, z), sum) in x_chunks.1.iter().zip(z_chunks.1).zip(sums) {
        *sum += (x - z) * (x - z);
    }
}

/// Replaces each value of a block by `map(left row, right row, value)`.
pub(super) fn each(left: Rows<'_>, right: Rows<'_>, out: &mut [f64], map: impl Fn(usize, usize, f64) -> f64) {
    for (&i, values) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
        for (&j, value) in right.list().iter().zip(values) {
            *value = map(i, j, *value);
        }
    }
}

/// Sums `term(x_c, z_c)` over all columns c where either row has an entry; `term(0, 0)` must be 0.
///
/// The folded constant is left out: it is equal in both rows, and the terms of all callers are 0 for equal numbers.
///
/// The order of summation depends on the right row alone, as in [`dot_with_row`].
pub(super) fn column_sums(left: Rows<'_>, right: Rows<'_>, out: &mut [f64], term: impl Fn(f64, f64) -> f64) {
    assert_eq!(out.len(), left.len() * right.len(), "a block needs a place for each pair");
    if let Matrix::Dense(dense) = right.points().matrix() {
        let arch = Arch::new();
        return match dense.values() {
            Values::F32(values) => vectorised(
                arch,
                #[inline(always)]
                || sums_with_dense(left, right, values, out, &term),
            ),
            Values::F64(values) => vectorised(
                arch,
                #[inline(always)]
                || sums_with_dense(left, right, values, out, &term),
            ),
        };
    }
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for (&i, values) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
        entries.clear();
        left.points().matrix().visit(i, |column, value| entries.push((column, value)));
        for (&j, sum) in right.list().iter().zip(values) {
            *sum = 0.0;
            let mut rest = entries.as_slice();
            right.points().matrix().visit(j, |column, z| {
                while let [(c, x), tail @ ..] = rest
                    && *c < column
                {
                    *sum += term(*x, 0.0);
                    rest = tail;
                }
                match rest {
                    [(c, x), tail @ ..] if *c == column => {
                        *sum += term(*x, z);
                        rest = tail;
                    }
                    _ => *sum += term(0.0, z),
                }
            });
            rest.iter().for_each(|&(_, x)| *sum += term(x, 0.0));
        }
    }
}

/// Dot products of rows too wide for a dense copy, without the folded constant: sums over the columns that both rows have.
fn column_products(left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for (&i, values) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
        entries.clear();
        left.points().seen().visit(i, |column, value| entries.push((column, value)));
        for (&j, sum) in right.list().iter().zip(values) {
            *sum = 0.0;
            let mut rest = entries.as_slice();
            right.points().seen().visit(j, |column, z| {
                rest = &rest[rest.partition_point(|&(c, _)| c < column)..];
                if let Some(&(c, x)) = rest.first()
                    && c == column
                {
                    *sum += x * z;
                }
            });
        }
    }
}

/// [`column_sums`] of dense rows.
#[inline(always)]
fn sums_with_dense<T: Copy + Into<f64>>(
    left: Rows<'_>,
    right: Rows<'_>,
    values: &[T],
    out: &mut [f64],
    term: &impl Fn(f64, f64) -> f64,
) {
    let width = right.points().matrix().columns();
    for (&i, sums) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
        let spread = left.points().matrix().row(i);
        for (&j, sum) in right.list().iter().zip(sums) {
            *sum = dense_sum(&spread, &values[j * width..(j + 1) * width], term);
        }
    }
}

/// The dot product of a dense row with row `j` of a matrix.
///
/// The order of summation depends on row `j` alone: eight running sums for a dense row, one for a sparse row.
pub(super) fn dot_with_row(spread: &[f64], matrix: &Matrix, j: usize) -> f64 {
    match matrix {
        Matrix::Dense(dense) => {
            let width = matrix.columns();
            let span = j * width..(j + 1) * width;
            match dense.values() {
                Values::F32(values) => dense_dot(spread, &values[span]),
                Values::F64(values) => dense_dot(spread, &values[span]),
            }
        }
        Matrix::Sparse(_) => matrix.dot(j, spread),
    }
}

/// `⟨x, x⟩` of the rows from `start` on, each summed in the same order as [`dot_with_row`].
pub(super) fn squared_norms(matrix: &Matrix, start: usize, out: &mut [f64]) {
    let width = matrix.columns();
    let row = |k: usize| (start + k) * width..(start + k + 1) * width;
    match matrix {
        Matrix::Dense(dense) => match dense.values() {
            Values::F32(values) => {
                out.iter_mut().enumerate().for_each(|(k, out)| *out = dense_dot(&values[row(k)], &values[row(k)]));
            }
            Values::F64(values) => {
                out.iter_mut().enumerate().for_each(|(k, out)| *out = dense_dot(&values[row(k)], &values[row(k)]));
            }
        },
        Matrix::Sparse(_) => on_stored_rows!(matrix, stored => for (k, out) in out.iter_mut().enumerate() {
            *out = 0.0;
            stored.visit(start + k, |_, value| *out += value * value);
        }),
    }
}

/// `⟨x, z⟩`
fn dense_dot<S: Copy + Into<f64>, T: Copy + Into<f64>>(x: &[S], z: &[T]) -> f64 {
    dense_sum(x, z, &|a, b| a * b)
}

/// `Σ term(x_c, z_c)`: eight running sums, folded in a fixed order; the compiler turns them into vector instructions.
#[inline(always)]
fn dense_sum<S: Copy + Into<f64>, T: Copy + Into<f64>>(x: &[S], z: &[T], term: &impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (x_chunks, z_chunks) = (x.chunks_exact(LANES), z.chunks_exact(LANES));
    let tail: f64 =
        x_chunks.remainder().iter().zip(z_chunks.remainder()).map(|(&a, &b)| term(a.into(), b.into())).sum();
    for (a, b) in x_chunks.zip(z_chunks) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane].into(), b[lane].into());
        }
    }
    sums.iter().sum::<f64>() + tail
}
