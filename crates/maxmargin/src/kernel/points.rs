//! Rows as a kernel sees them: with squared norms, a folded constant, and the numbers that a table of values knows them by.

use std::sync::{Arc, OnceLock};

use super::{KernelFunction, Packed};
use crate::data::Matrix;
use crate::error::Error;
use crate::workers::Workers;

/// Rows less their centre.
#[derive(Clone, Debug)]
struct CentredRows {
    centre: Centre,
    matrix: Matrix,
}

/// The mean of some rows, which is subtracted from all rows where it lies far from 0 compared with their spread.
///
/// The Gaussian kernel depends on differences of rows alone, and computes them from squared norms and dot products. Far from 0 these lose
/// digits; less the centre, they keep them. Both sides of a block must have the same centre subtracted. A model finds its centre from its
/// support vectors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Centre(Arc<Vec<f64>>);

/// Rows, evenly spread, whose mean is the centre.
const CENTRE_ROWS: usize = 1024;

/// `‖centre‖² / mean ‖x − centre‖²` above which the centre is subtracted. Each factor of 100 costs a kernel value two digits; single precision has
/// seven, and the search needs four.
const FAR: f64 = 100.0;

impl Centre {
    /// The centre of some rows. `None` where subtracting it gains nothing: the rows are near 0, most of their entries are 0, or the kernel
    /// does not depend on differences alone.
    pub(crate) fn of(kernel: &KernelFunction, matrix: &Matrix) -> Option<Self> {
        let is_full = 2 * matrix.entries() >= matrix.rows().saturating_mul(matrix.columns());
        if !sees_differences(kernel) || !is_full {
            return None;
        }
        let sample = matrix.rows().min(CENTRE_ROWS);
        let place = |k: usize| k * matrix.rows() / sample;
        let mut mean = vec![0.0; matrix.columns()];
        (0..sample).for_each(|k| matrix.visit(place(k), |column, value| mean[column] += value / sample as f64));
        let mut spread = 0.0;
        (0..sample).for_each(|k| matrix.visit(place(k), |column, value| spread += (value - mean[column]).powi(2)));
        let square: f64 = mean.iter().map(|mean| mean * mean).sum();
        let is_far = square.is_finite() && square > FAR * spread / sample as f64;
        is_far.then(|| Centre(Arc::new(mean)))
    }

    /// The rows less the centre.
    fn moved(&self, matrix: &Matrix) -> Matrix {
        // The centre is subtracted from zeros that are not stored, too.
        let full = matches!(matrix, Matrix::Sparse(_)).then(|| matrix.to_dense());
        let matrix = full.as_ref().unwrap_or(matrix);
        matrix.rebuild(matrix.columns(), |_, entries, out| {
            out.extend(entries.iter().map(|&(column, value)| (column, value - self.0[column as usize])));
        })
    }
}

/// Whether a kernel is made of Gaussian and Laplacian kernels alone, whose values depend on differences of rows alone.
fn sees_differences(kernel: &KernelFunction) -> bool {
    match kernel {
        KernelFunction::Rbf(_) | KernelFunction::Laplacian(_) => true,
        KernelFunction::Scaled(scaled) => sees_differences(scaled.kernel()),
        KernelFunction::Sum(sum) => sum.parts().iter().all(sees_differences),
        KernelFunction::Product(product) => product.parts().iter().all(sees_differences),
        _ => false,
    }
}

/// A matrix prepared for kernels, once: squared norms, and whether a constant 1 is appended to each row for a folded bias.
///
/// ```text
/// x′ = (x, 1),   ⟨x′, z′⟩ = ⟨x, z⟩ + 1,   ‖x′ − z′‖ = ‖x − z‖              (K.11)
/// ```
#[derive(Clone, Debug)]
pub struct Points {
    matrix: Matrix,
    moved: Option<CentredRows>,
    folded: bool,
    squared_norms: OnceLock<Vec<f64>>,
    numbers: Option<Vec<usize>>,
    single: OnceLock<Packed<f32>>,
    double: OnceLock<Packed<f64>>,
}

impl Points {
    /// Prepares a matrix. With `folded` its rows count as having a constant 1 appended, which is not stored.
    pub fn new(matrix: Matrix, folded: bool) -> Self {
        Points::by(&Workers::none(), matrix, folded)
    }

    /// [`Points::new`] on several threads.
    pub fn by(workers: &Workers, matrix: Matrix, folded: bool) -> Self {
        Points::around(workers, matrix, folded, None)
    }

    /// [`Points::by`] with a centre subtracted, for a kernel that depends on differences alone.
    pub(crate) fn around(workers: &Workers, matrix: Matrix, folded: bool, centre: Option<Centre>) -> Self {
        let points = Points::unmeasured(matrix, folded, centre);
        points.measure(workers);
        points
    }

    /// [`Points::around`] without the squared norms, which are computed when they are asked for: a linear prediction never asks.
    pub(crate) fn unmeasured(matrix: Matrix, folded: bool, centre: Option<Centre>) -> Self {
        let moved = centre.map(|centre| CentredRows { matrix: centre.moved(&matrix), centre });
        let (squared_norms, single, double) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Points { matrix, moved, folded, squared_norms, numbers: None, single, double }
    }

    /// The squared norms, computed on several threads unless they are known.
    pub(crate) fn measure(&self, workers: &Workers) -> &[f64] {
        self.squared_norms.get_or_init(|| {
            let constant = if self.folded { 1.0 } else { 0.0 };
            let mut squared_norms = vec![constant; self.matrix.rows()];
            // A model that needs no entries keeps rows without columns.
            let rows = if self.matrix.columns() == 0 { 0 } else { self.matrix.rows() };
            workers.fill_chunks(&mut squared_norms[..rows], 4096, |start, chunk| {
                // Summed in the order of `pairs::dots`, so that ‖x − x‖ is exactly 0.
                super::pairs::squared_norms(self.seen(), start, chunk);
                chunk.iter_mut().for_each(|square| *square += constant);
            });
            squared_norms
        })
    }

    /// Gives each row the number that a precomputed kernel's table knows it by.
    ///
    /// # Errors
    /// When there is not one number a row.
    pub fn with_numbers(mut self, numbers: Vec<usize>) -> Result<Self, Error> {
        if numbers.len() != self.matrix.rows() {
            return Err(Error::Shape {
                operation: "row numbers",
                left: format!("{} numbers", numbers.len()),
                right: format!("{} rows", self.matrix.rows()),
            });
        }
        self.numbers = Some(numbers);
        Ok(self)
    }

    /// The matrix, without the constant.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The rows as dot products see them: less the centre, if there is one.
    pub(super) fn seen(&self) -> &Matrix {
        self.moved.as_ref().map_or(&self.matrix, |moved| &moved.matrix)
    }

    /// The centre that was subtracted from the rows.
    pub(crate) fn centre(&self) -> Option<&Centre> {
        self.moved.as_ref().map(|moved| &moved.centre)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a constant 1 is appended to each row.
    pub fn folded(&self) -> bool {
        self.folded
    }

    /// `⟨x′, x′⟩` of every row, less the centre if there is one.
    pub(crate) fn squared_norms(&self) -> &[f64] {
        self.measure(&Workers::none())
    }

    /// `⟨x′, x′⟩` of a row, less the centre if there is one.
    pub fn squared_norm(&self, row: usize) -> f64 {
        self.squared_norms()[row]
    }

    /// The number a table knows a row by: its own place unless numbers were given.
    pub fn number(&self, row: usize) -> usize {
        self.numbers.as_ref().map_or(row, |numbers| numbers[row])
    }

    /// The rows packed for panels in single precision; empty until they are first needed.
    pub(super) fn single(&self) -> &OnceLock<Packed<f32>> {
        &self.single
    }

    /// The rows packed for panels in double precision; empty until they are first needed.
    pub(super) fn double(&self) -> &OnceLock<Packed<f64>> {
        &self.double
    }

    /// Some of the rows, for a kernel to work on.
    pub fn rows<'a>(&'a self, list: &'a [usize]) -> Rows<'a> {
        Rows { points: self, list }
    }
}

/// One side of a block: a list of rows of some points.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    points: &'a Points,
    list: &'a [usize],
}

impl<'a> Rows<'a> {
    /// The points that the rows are of.
    pub fn points(&self) -> &'a Points {
        self.points
    }

    /// The rows' places.
    pub fn list(&self) -> &'a [usize] {
        self.list
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A part of the list.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Rows<'a> {
        Rows { points: self.points, list: &self.list[range] }
    }
}
