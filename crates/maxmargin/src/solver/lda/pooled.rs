//! The scatter within the classes, pooled, shrunk and ready to be solved with: as a matrix of columns × columns, or, where there
//! are fewer rows than columns, through one of rows × rows.

use std::ops::ControlFlow;

use faer::Mat;

use super::shrinkage::{Shrinkage, Spread};
use super::wide::Wide;
use crate::class_products::{ClassProducts, Pass};
use crate::control::Stop;
use crate::data::Matrix;
use crate::solver::cholesky::{self, Factor};
use crate::solver::scatter::Scatter;
use crate::workers::Workers;

/// A pivot below this part of its diagonal entry is rounding: the matrix is singular.
const LEAST_PIVOT: f64 = 1e-13;
/// A spread below this part of its column's size is rounding.
const LEAST_SPREAD: f64 = 1e-13;
/// Rows whose squares one thread sums up at a time, at least.
const ROWS_A_CHUNK: usize = 1024;

/// Rows in groups.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) matrix: &'a Matrix,
    /// The rows' places in the matrix.
    pub(super) rows: &'a [usize],
    /// ω_i, above 0, with a sum of 1.
    pub(super) weights: &'a [f64],
    /// The group of each row.
    pub(super) groups: &'a [usize],
    /// How many groups there are; none is empty.
    pub(super) classes: usize,
    pub(super) workers: &'a Workers,
}

impl<'a> Sample<'a> {
    /// Whether rows × rows is the smaller matrix.
    pub(super) fn is_wide(&self) -> bool {
        is_wide(self.rows.len(), self.matrix.columns())
    }

    pub(super) fn products(&self, vectors: usize) -> ClassProducts<'a> {
        ClassProducts { matrix: self.matrix, rows: self.rows, classes: vectors, workers: self.workers }
    }

    /// The mass of each group, and its mean.
    fn means(&self, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, (Vec<f64>, Vec<Vec<f64>>)> {
        let mut masses = vec![0.0; self.classes];
        self.groups.iter().zip(self.weights).for_each(|(&group, weight)| masses[group] += weight);
        let products = self.products(self.classes);
        let (lanes, columns) = (products.lanes(), self.matrix.columns());
        let pass = Pass { vectors: None, lines: &mut [], pulls: true };
        let sums = products.pass(
            pass,
            #[inline(always)]
            |i, values, _| {
                let group = self.groups[i];
                values.fill(0.0);
                values[group] = self.weights[i] / masses[group];
                0.0
            },
            poll,
        )?;
        let mean = |k: usize| (0..columns).map(|column| sums.pulls[column * lanes + k]).collect();
        ControlFlow::Continue((masses.clone(), (0..self.classes).map(mean).collect()))
    }

    /// `Σ_i ω_i (x_i − m)²` for each column over the rows of each group, divided by the group's mass.
    pub(super) fn variances(&self, masses: &[f64], means: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let columns = self.matrix.columns();
        let size = self.rows.len().div_ceil(16).max(ROWS_A_CHUNK);
        let dense = matches!(self.matrix, Matrix::Dense(_));
        let parts = self.workers.map_chunks(self.rows.len(), size, |range| {
            let mut part = vec![vec![0.0; columns]; self.classes];
            for i in range {
                let (group, weight) = (self.groups[i], self.weights[i]);
                let (part, mean) = (&mut part[group], &means[group]);
                // Entries that are left out are as far from the mean as 0 is: they are counted below.
                self.matrix.visit(self.rows[i], |column, value| {
                    let (centred, m) = (value - mean[column], mean[column]);
                    part[column] += weight * if dense { centred * centred } else { centred * centred - m * m };
                });
            }
            part
        });
        let mut sums = vec![vec![0.0; columns]; self.classes];
        for part in &parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            });
        }
        for ((sum, mean), mass) in sums.iter_mut().zip(means).zip(masses) {
            for (sum, m) in sum.iter_mut().zip(mean) {
                let square = *sum / mass + if dense { 0.0 } else { m * m };
                *sum = if square > LEAST_SPREAD * LEAST_SPREAD * m * m { square } else { 0.0 };
            }
        }
        sums
    }

    /// The rows of one group.
    pub(super) fn places_of(&self, group: usize) -> Vec<usize> {
        (0..self.rows.len()).filter(|&i| self.groups[i] == group).collect()
    }

    /// What (FD.6) needs of a group beside its correlations: columns of a spread, how many rows it counts as, and the mean of
    /// the fourth powers. A row of the smallest weight counts as one.
    pub(super) fn spread_of(&self, group: usize, mass: f64, mean: &[f64], variance: &[f64]) -> Spread {
        let columns = self.matrix.columns();
        let least = self.weights.iter().copied().fold(f64::INFINITY, f64::min);
        let inverse: Vec<f64> = variance.iter().map(|&v| if v > 0.0 { 1.0 / v } else { 1.0 }).collect();
        let dense = matches!(self.matrix, Matrix::Dense(_));
        // ‖z‖² of a row without entries.
        let empty: f64 = mean.iter().zip(&inverse).map(|(m, inverse)| m * m * inverse).sum();
        let places = self.places_of(group);
        let parts = self.workers.map_chunks(places.len(), ROWS_A_CHUNK, |range| {
            let fourth = |&i: &usize| {
                let mut square = if dense { 0.0 } else { empty };
                self.matrix.visit(self.rows[i], |column, value| {
                    let (centred, m) = (value - mean[column], mean[column]);
                    let own = if dense { centred * centred } else { centred * centred - m * m };
                    square += own * inverse[column];
                });
                self.weights[i] / mass * square * square
            };
            places[range].iter().map(fourth).sum::<f64>()
        });
        let trace = variance.iter().filter(|&&v| v > 0.0).count() as f64;
        Spread { columns, trace, count: mass / least, fourth: parts.iter().sum(), squares: 0.0 }
    }
}

/// Whether a matrix of rows × rows is the smaller one.
pub(super) fn is_wide(rows: usize, columns: usize) -> bool {
    rows < columns
}

/// Bytes that the matrices need.
pub(super) fn bytes(rows: usize, columns: usize, classes: usize) -> u64 {
    let size = if is_wide(rows, columns) { rows } else { columns } as u64 + 1;
    let means = (classes as u64).saturating_mul(columns as u64).saturating_mul(8 * 6);
    size.saturating_mul(size).saturating_mul(24).saturating_add(means)
}

/// The pooled scatter Σ of some groups, by its factors.
pub(super) struct Pooled<'a> {
    pub(super) sample: Sample<'a>,
    /// Of each group.
    pub(super) means: Vec<Vec<f64>>,
    /// The sum of the weights of each group.
    pub(super) masses: Vec<f64>,
    /// The root of the mean square of each column.
    sizes: Vec<f64>,
    /// The ridge that a singular Σ needed, relative to its diagonal; mostly 0.
    pub(super) ridge: f64,
    form: Form,
}

enum Form {
    Columns(Factor),
    Rows(Wide),
}

impl<'a> Pooled<'a> {
    /// Pools, shrinks and factors; `None` when the numbers are too large or too small for that.
    pub(super) fn new(
        sample: Sample<'a>,
        shrinkage: Shrinkage,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Self>> {
        let (masses, means) = sample.means(poll)?;
        if sample.is_wide() {
            let variances = sample.variances(&masses, &means);
            let within = |j: usize| (0..masses.len()).map(|k| masses[k] * variances[k][j]).sum::<f64>();
            let within: Vec<f64> = (0..sample.matrix.columns()).map(within).collect();
            let sizes = sizes(&masses, &means, &within);
            let wide = Wide::new(&sample, &masses, &means, &variances, shrinkage, poll)?;
            return ControlFlow::Continue(wide.map(|wide| Pooled {
                sample,
                means,
                masses,
                sizes,
                ridge: 0.0,
                form: Form::Rows(wide),
            }));
        }
        let (scatter, diagonal) = match shrinkage {
            Shrinkage::Part(part) => {
                let centres = Some((sample.groups, means.as_slice()));
                let Sample { matrix, rows, weights, workers, .. } = sample;
                let scatter = Scatter { matrix, rows, weights, constant: false, centres, workers }.lower(poll)?;
                (scatter, Diagonal::Part(part))
            }
            Shrinkage::Auto => {
                let (scatter, diagonal) = shrunk(&sample, &masses, &means, poll)?;
                (scatter, Diagonal::Added(diagonal))
            }
        };
        let columns = sample.matrix.columns();
        let within: Vec<f64> = (0..columns).map(|j| scatter[(j, j)].max(0.0)).collect();
        let sizes = sizes(&masses, &means, &within);
        let Some(factor) = factor(&scatter, &sizes, &diagonal, sample.workers, poll)? else {
            return ControlFlow::Continue(None);
        };
        let ridge = factor.ridge;
        ControlFlow::Continue(Some(Pooled { sample, means, masses, sizes, ridge, form: Form::Columns(factor) }))
    }

    /// Replaces each vector v by `Σ⁻¹ v`.
    pub(super) fn solve(
        &self,
        vectors: &mut [Vec<f64>],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop> {
        match &self.form {
            Form::Columns(factor) => vectors.iter_mut().for_each(|vector| factor.solve(vector)),
            Form::Rows(wide) => wide.solve(&self.sample, &self.means, vectors, poll)?,
        }
        ControlFlow::Continue(())
    }

    /// Whether Σ is known on the span of the rows only, because there are fewer of them than columns and nothing is shrunk.
    pub(super) fn on_span_only(&self) -> bool {
        matches!(&self.form, Form::Rows(wide) if !wide.is_shrunk())
    }

    /// The mean of all rows.
    pub(super) fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.sizes.len()];
        for (class, mass) in self.means.iter().zip(&self.masses) {
            mean.iter_mut().zip(class).for_each(|(mean, value)| *mean += mass * value);
        }
        mean
    }

    /// `one − other`, without what is rounding.
    pub(super) fn difference(&self, one: &[f64], other: &[f64]) -> Vec<f64> {
        let of = |j: usize| {
            let difference = one[j] - other[j];
            if difference.abs() <= LEAST_SPREAD * self.sizes[j] { 0.0 } else { difference }
        };
        (0..self.sizes.len()).map(of).collect()
    }
}

/// The root of the mean square of each column, from its spread within the groups and that of the means.
fn sizes(masses: &[f64], means: &[Vec<f64>], within: &[f64]) -> Vec<f64> {
    let of = |j: usize| {
        let between: f64 = masses.iter().zip(means).map(|(mass, mean)| mass * mean[j] * mean[j]).sum();
        (within[j] + between).sqrt()
    };
    (0..within.len()).map(of).collect()
}

/// The shrinkage that is still to be added to the diagonal.
enum Diagonal {
    /// (FD.3) with this s.
    Part(f64),
    /// The scatter is shrunk; these numbers are added.
    Added(Vec<f64>),
}

/// The factor of (FD.3).
fn factor(
    scatter: &Mat<f64>,
    sizes: &[f64],
    diagonal: &Diagonal,
    workers: &Workers,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Factor>> {
    let size = scatter.ncols();
    // Columns that are constant within each class, up to rounding.
    let constant: Vec<bool> = (0..size).map(|j| scatter[(j, j)].max(0.0).sqrt() <= LEAST_SPREAD * sizes[j]).collect();
    let mean = (0..size).map(|j| scatter[(j, j)] / size as f64).sum::<f64>();
    let kept = if let Diagonal::Part(part) = diagonal { 1.0 - part } else { 1.0 };
    let column = |j: usize, out: &mut [f64]| {
        for (i, value) in (j..size).zip(out.iter_mut()) {
            let noise = constant[i] || constant[j];
            *value = if noise { 0.0 } else { kept * scatter[(i, j)] };
        }
        out[0] += match diagonal {
            Diagonal::Part(part) => part * mean, // (FD.3)
            Diagonal::Added(added) => added[j],
        };
    };
    cholesky::factor(size, &column, LEAST_PIVOT, workers, poll)
}

/// The scatter of all groups, each shrunk by its own part, and what is to be added to the diagonal.
fn shrunk(
    sample: &Sample<'_>,
    masses: &[f64],
    means: &[Vec<f64>],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, (Mat<f64>, Vec<f64>)> {
    let columns = sample.matrix.columns();
    let mut sum = Mat::<f64>::zeros(columns, columns);
    let mut added = vec![0.0; columns];
    for group in 0..sample.classes {
        let places = sample.places_of(group);
        let rows: Vec<usize> = places.iter().map(|&i| sample.rows[i]).collect();
        let weights: Vec<f64> = places.iter().map(|&i| sample.weights[i] / masses[group]).collect();
        let zeros = vec![0; rows.len()];
        let centres = Some((&zeros[..], &means[group..=group]));
        let (matrix, workers) = (sample.matrix, sample.workers);
        let scatter = Scatter { matrix, rows: &rows, weights: &weights, constant: false, centres, workers };
        let scatter = scatter.lower(poll)?;
        let variance: Vec<f64> = (0..columns)
            .map(|j| {
                let (square, mean) = (scatter[(j, j)], means[group][j]);
                if square > LEAST_SPREAD * LEAST_SPREAD * mean * mean { square } else { 0.0 }
            })
            .collect();
        let mut spread = sample.spread_of(group, masses[group], &means[group], &variance);
        for j in (0..columns).filter(|&j| variance[j] > 0.0) {
            for i in (j..columns).filter(|&i| variance[i] > 0.0) {
                let square = scatter[(i, j)] * scatter[(i, j)] / (variance[i] * variance[j]);
                spread.squares += if i == j { square } else { 2.0 * square };
            }
        }
        let part = spread.part();
        for j in 0..columns {
            for i in j..columns {
                sum[(i, j)] += masses[group] * (1.0 - part) * scatter[(i, j)];
            }
            added[j] += masses[group] * shrunk_diagonal(part, &spread, variance[j]);
        }
    }
    ControlFlow::Continue((sum, added))
}

/// What a part of shrinkage adds to a column of this spread; one without any counts as 1.
pub(super) fn shrunk_diagonal(part: f64, spread: &Spread, variance: f64) -> f64 {
    part * spread.mean() * if variance > 0.0 { variance } else { 1.0 }
}
