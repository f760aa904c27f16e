//! Fewer rows than columns: Σ is never formed, but lives in the span of the rows.
//!
//! With `z_i = √(ω_i (1 − s)) (x_i − m_i)` as the rows of Z, and D what shrinkage puts on the diagonal,
//!
//! ```text
//! Σ = Z′Z + D,   Σ⁻¹ = D⁻¹ − D⁻¹Z′ (I + Z D⁻¹ Z′)⁻¹ Z D⁻¹                                  (FD.7)
//! ```
//!
//! (the identity of Woodbury), so that a matrix of rows × rows is all that is factored. Without shrinkage D is 0, Σ has an inverse
//! on the span of Z only, and the solution of least length is
//!
//! ```text
//! Σ⁺ v = Z′ (Z Z′ + ε)⁻² Z v                                                              (FD.8)
//! ```
//!
//! with an ε so small that it tells rounding from what is there.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::pooled::{Sample, shrunk_diagonal};
use super::shrinkage::Shrinkage;
use crate::class_products::Pass;
use crate::control::Stop;
use crate::data::{Dense, Matrix, Values};
use crate::kernel::{Gram, Linear, Points};
use crate::solver::cholesky::{self, Factor};
use crate::solver::scatter::column_tiles;

/// ε of (FD.8), as a part of the mean of the diagonal of ZZ′.
const RIDGE: f64 = 1e-11;
/// Columns of dense rows that are multiplied at a time.
const COLUMNS_A_BLOCK: usize = 512;
/// Rows that one thread centres at a time, and rows of a sparse product between two polls.
const ROWS_A_CHUNK: usize = 32;
const ROWS_A_POLL: usize = 256;

/// Σ by (FD.7) or (FD.8).
pub(super) struct Wide {
    /// The factor of `I + Z D⁻¹ Z′`, or of `Z Z′ + ε`.
    factor: Factor,
    /// √(ω_i (1 − s)) of each row.
    roots: Vec<f64>,
    /// 1/D of each column; `None` without shrinkage.
    inverse: Option<Vec<f64>>,
}

impl Wide {
    /// `None` when the numbers are too large or too small for a factor.
    pub(super) fn new(
        sample: &Sample<'_>,
        masses: &[f64],
        means: &[Vec<f64>],
        variances: &[Vec<f64>],
        shrinkage: Shrinkage,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Self>> {
        let columns = sample.matrix.columns();
        let (parts, diagonal) = match shrinkage {
            Shrinkage::Part(part) => {
                let trace: f64 = masses.iter().zip(variances).map(|(mass, v)| mass * v.iter().sum::<f64>()).sum();
                (vec![part; sample.classes], vec![part * trace / columns as f64; columns]) // (FD.3)
            }
            Shrinkage::Auto => ledoit_wolf(sample, masses, means, variances, poll)?,
        };
        let roots: Vec<f64> =
            (0..sample.rows.len()).map(|i| (sample.weights[i] * (1.0 - parts[sample.groups[i]])).sqrt()).collect();
        let shrinks = diagonal.iter().any(|&added| added > 0.0);
        if !shrinks {
            let gram = centred_gram(sample, means, &roots, None, poll)?;
            let size = gram.ncols();
            let mean = (0..size).map(|i| gram[(i, i)] / size as f64).sum::<f64>();
            let ridge = if mean > 0.0 { RIDGE * mean } else { 1.0 };
            let factor = factor(&gram, ridge, sample, poll)?;
            return ControlFlow::Continue(factor.map(|factor| Wide { factor, roots, inverse: None }));
        }
        // A column without any spread has nothing that could be shrunk: it gets the mean of the others.
        let mean = diagonal.iter().sum::<f64>() / columns as f64;
        let inverse: Vec<f64> = diagonal.iter().map(|&d| 1.0 / if d > 0.0 { d } else { mean }).collect();
        if !inverse.iter().all(|value| value.is_finite()) {
            return ControlFlow::Continue(None);
        }
        let gram = centred_gram(sample, means, &roots, Some(&inverse), poll)?;
        let factor = factor(&gram, 1.0, sample, poll)?;
        ControlFlow::Continue(factor.map(|factor| Wide { factor, roots, inverse: Some(inverse) }))
    }

    /// Whether something was added to the diagonal.
    pub(super) fn is_shrunk(&self) -> bool {
        self.inverse.is_some()
    }

    /// Replaces each vector v by `Σ⁻¹ v`, or by `Σ⁺ v` where nothing was shrunk.
    pub(super) fn solve(
        &self,
        sample: &Sample<'_>,
        means: &[Vec<f64>],
        vectors: &mut [Vec<f64>],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        if let Some(inverse) = &self.inverse {
            for vector in vectors.iter_mut() {
                vector.iter_mut().zip(inverse).for_each(|(value, inverse)| *value *= inverse);
            }
        }
        let products = sample.products(vectors.len());
        let (lanes, columns, rows) = (products.lanes(), sample.matrix.columns(), sample.rows.len());
        // Z v of all vectors: √ω (⟨x_i, v⟩ − ⟨m_i, v⟩).
        let mut side_by_side = vec![0.0; products.size()];
        for (k, vector) in vectors.iter().enumerate() {
            (0..columns).for_each(|column| side_by_side[column * lanes + k] = vector[column]);
        }
        let offsets: Vec<Vec<f64>> =
            means.iter().map(|mean| vectors.iter().map(|vector| crate::solver::dot(mean, vector)).collect()).collect();
        let mut lines = vec![0.0; rows * lanes];
        let pass = Pass { vectors: Some(&side_by_side), lines: &mut lines, pulls: false };
        products.pass(
            pass,
            |i, values, line| {
                let offset = &offsets[sample.groups[i]];
                offset.iter().enumerate().for_each(|(k, offset)| line[k] = self.roots[i] * (values[k] - offset));
                0.0
            },
            poll,
        )?;
        for k in 0..vectors.len() {
            let mut column: Vec<f64> = (0..rows).map(|i| lines[i * lanes + k]).collect();
            self.factor.solve(&mut column);
            if !self.is_shrunk() {
                self.factor.solve(&mut column);
            }
            (0..rows).for_each(|i| lines[i * lanes + k] = self.roots[i] * column[i]);
        }
        // Z′ t = Σ t_i x_i − Σ_k (Σ of the t_i of class k) m_k
        let pass = Pass { vectors: None, lines: &mut lines, pulls: true };
        let sums = products.pass(
            pass,
            |_, values, line| {
                values.copy_from_slice(line);
                0.0
            },
            poll,
        )?;
        let mut pulls = vec![vec![0.0; vectors.len()]; sample.classes];
        for (i, line) in lines.chunks(lanes).enumerate() {
            pulls[sample.groups[i]].iter_mut().zip(line).for_each(|(pull, value)| *pull += value);
        }
        for (k, vector) in vectors.iter_mut().enumerate() {
            for column in 0..columns {
                let centre: f64 = (0..sample.classes).map(|class| pulls[class][k] * means[class][column]).sum();
                let lifted = sums.pulls[column * lanes + k] - centre;
                vector[column] = match &self.inverse {
                    Some(inverse) => vector[column] - inverse[column] * lifted, // (FD.7)
                    None => lifted,                                             // (FD.8)
                };
            }
        }
        ControlFlow::Continue(())
    }
}

fn factor(
    gram: &Mat<f64>,
    ridge: f64,
    sample: &Sample<'_>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Factor>> {
    let column = |j: usize, out: &mut [f64]| {
        out.copy_from_slice(&gram.col_as_slice(j)[j..]);
        out[0] += ridge;
    };
    cholesky::factor(gram.ncols(), &column, 0.0, sample.workers, poll)
}

/// The part that each group is shrunk by, and what all of them add to the diagonal.
fn ledoit_wolf(
    sample: &Sample<'_>,
    masses: &[f64],
    means: &[Vec<f64>],
    variances: &[Vec<f64>],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, (Vec<f64>, Vec<f64>)> {
    let mut parts = Vec::new();
    let mut diagonal = vec![0.0; sample.matrix.columns()];
    for group in 0..sample.classes {
        let (mean, variance, mass) = (&means[group..=group], &variances[group], masses[group]);
        let places = sample.places_of(group);
        let rows: Vec<usize> = places.iter().map(|&i| sample.rows[i]).collect();
        let zeros = vec![0; rows.len()];
        let weights: Vec<f64> = places.iter().map(|&i| sample.weights[i] / mass).collect();
        let own = Sample { rows: &rows, groups: &zeros, weights: &weights, classes: 1, ..*sample };
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let inverse: Vec<f64> = variance.iter().map(|&v| if v > 0.0 { 1.0 / v } else { 0.0 }).collect();
        let gram = centred_gram(&own, mean, &roots, Some(&inverse), poll)?;
        let mut spread = sample.spread_of(group, mass, &means[group], variance);
        // The squares of all correlations are those of the products of rows.
        for j in 0..gram.ncols() {
            let column = &gram.col_as_slice(j)[j..];
            let all: f64 = column.iter().map(|value| value * value).sum();
            spread.squares += 2.0 * all - column[0] * column[0];
        }
        let part = spread.part();
        for (sum, &variance) in diagonal.iter_mut().zip(variance) {
            *sum += mass * shrunk_diagonal(part, &spread, variance);
        }
        parts.push(part);
    }
    ControlFlow::Continue((parts, diagonal))
}

/// `Z S Z′` for a diagonal S (the identity where there is none), lower half.
///
/// Dense rows are centred before they are multiplied; of sparse ones the products are centred.
fn centred_gram(
    sample: &Sample<'_>,
    means: &[Vec<f64>],
    roots: &[f64],
    diagonal: Option<&[f64]>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Mat<f64>> {
    match sample.matrix {
        Matrix::Dense(dense) => dense_gram(dense, sample, means, roots, diagonal, poll),
        Matrix::Sparse(_) => sparse_gram(sample, means, roots, diagonal, poll),
    }
}

fn dense_gram(
    dense: &Dense,
    sample: &Sample<'_>,
    means: &[Vec<f64>],
    roots: &[f64],
    diagonal: Option<&[f64]>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Mat<f64>> {
    let (rows, columns) = (sample.rows.len(), sample.matrix.columns());
    let scale: Vec<f64> = (0..columns).map(|j| diagonal.map_or(1.0, |diagonal| diagonal[j].sqrt())).collect();
    let mut sum = Mat::zeros(rows, rows);
    for first in (0..columns).step_by(COLUMNS_A_BLOCK) {
        poll()?;
        let width = COLUMNS_A_BLOCK.min(columns - first);
        let mut block = vec![0.0; rows * width];
        sample.workers.fill_chunks(&mut block, ROWS_A_CHUNK * width, |start, out| {
            for (k, out) in out.chunks_mut(width).enumerate() {
                let i = start / width + k;
                let mean = &means[sample.groups[i]];
                let from = sample.rows[i] * columns + first;
                let centred = |column: usize, value: f64| roots[i] * scale[column] * (value - mean[column]);
                match dense.values() {
                    Values::F32(values) => {
                        let values = values[from..from + width].iter().zip(out).enumerate();
                        values.for_each(|(k, (&value, out))| *out = centred(first + k, value.into()));
                    }
                    Values::F64(values) => {
                        let values = values[from..from + width].iter().zip(out).enumerate();
                        values.for_each(|(k, (&value, out))| *out = centred(first + k, value));
                    }
                }
            }
        });
        let block = MatRef::from_row_major_slice(&block, rows, width);
        sample.workers.fill_chunks(&mut column_tiles(&mut sum), 1, |_, tile| {
            for (first, tile) in tile {
                let (height, width) = (rows - *first, tile.ncols());
                let (left, right) = (block.subrows(*first, height), block.subrows(*first, width));
                let tile = tile.as_mut().subrows_mut(*first, height);
                matmul(tile, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
            }
        });
    }
    ControlFlow::Continue(sum)
}

fn sparse_gram(
    sample: &Sample<'_>,
    means: &[Vec<f64>],
    roots: &[f64],
    diagonal: Option<&[f64]>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Mat<f64>> {
    let (rows, columns) = (sample.rows.len(), sample.matrix.columns());
    let scaled = |column: usize| diagonal.map_or(1.0, |diagonal| diagonal[column]);
    // ⟨x_i, S m_k⟩ and ⟨m_k, S m_l⟩
    let products = sample.products(sample.classes);
    let lanes = products.lanes();
    let mut vectors = vec![0.0; products.size()];
    for (k, mean) in means.iter().enumerate() {
        (0..columns).for_each(|column| vectors[column * lanes + k] = scaled(column) * mean[column]);
    }
    let mut with_means = vec![0.0; rows * lanes];
    let pass = Pass { vectors: Some(&vectors), lines: &mut with_means, pulls: false };
    products.pass(
        pass,
        |_, values, line| {
            line.copy_from_slice(values);
            0.0
        },
        poll,
    )?;
    let of_means = |k: usize, l: usize| (0..columns).map(|j| vectors[j * lanes + k] * means[l][j]).sum::<f64>();
    let of_means: Vec<Vec<f64>> =
        (0..sample.classes).map(|k| (0..sample.classes).map(|l| of_means(k, l)).collect()).collect();

    let own = sample.matrix.select_rows(sample.rows);
    let own = match diagonal {
        None => own,
        Some(diagonal) => own.rebuild(columns, |_, entries, out| {
            out.extend(entries.iter().map(|&(column, value)| (column, value * diagonal[column as usize].sqrt())));
        }),
    };
    let points = Points::new(own, false);
    let (kernel, all) = (Linear {}, (0..rows).collect::<Vec<usize>>());
    let gram = Gram::new(&kernel, &points, sample.workers);
    let mut sum = Mat::zeros(rows, rows);
    for left in all.chunks(ROWS_A_POLL) {
        poll()?;
        let right = &all[left[0]..];
        let mut block = vec![0.0; left.len() * right.len()];
        gram.block(left, right, &mut block);
        for (k, &j) in left.iter().enumerate() {
            let (group, line) = (sample.groups[j], &block[k * right.len()..][..right.len()]);
            let column = &mut sum.col_as_slice_mut(j)[j..];
            for (offset, (out, product)) in column.iter_mut().zip(&line[k..]).enumerate() {
                let (i, other) = (j + offset, sample.groups[j + offset]);
                let centred =
                    product - with_means[i * lanes + group] - with_means[j * lanes + other] + of_means[group][other];
                *out = roots[i] * roots[j] * centred;
            }
        }
    }
    ControlFlow::Continue(sum)
}
