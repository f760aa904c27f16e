//! Rows as a kernel sees them: with their squared norms, the folded constant, and their numbers.

use std::sync::OnceLock;

use super::Packed;
use crate::data::Matrix;
use crate::error::Error;
use crate::workers::Workers;

/// A matrix prepared for kernels, once: squared norms, and whether a constant 1 is appended to each row.
///
/// ```text
/// x′ = (x, 1),   ⟨x′, z′⟩ = ⟨x, z⟩ + 1,   ‖x′ − z′‖ = ‖x − z‖              (folded bias)
/// ```
#[derive(Clone, Debug)]
pub struct Points {
    matrix: Matrix,
    folded: bool,
    squared_norms: Vec<f64>,
    numbers: Option<Vec<usize>>,
    single: OnceLock<Packed<f32>>,
    double: OnceLock<Packed<f64>>,
}

impl Points {
    /// Prepares a matrix; `folded` appends a constant 1 to each row, in thought only.
    pub fn new(matrix: Matrix, folded: bool) -> Self {
        Points::by(&Workers::none(), matrix, folded)
    }

    /// The same on several threads.
    pub fn by(workers: &Workers, matrix: Matrix, folded: bool) -> Self {
        let constant = if folded { 1.0 } else { 0.0 };
        let mut squared_norms = vec![constant; matrix.rows()];
        // Rows of a model that needs none of their numbers have no columns.
        let rows = if matrix.columns() == 0 { 0 } else { matrix.rows() };
        workers.fill_chunks(&mut squared_norms[..rows], 4096, |start, chunk| {
            // Summed in the order of `pairs::dots`, so that ‖x − x‖ is exactly 0.
            super::pairs::squared_norms(&matrix, start, chunk);
            chunk.iter_mut().for_each(|square| *square += constant);
        });
        Points { matrix, folded, squared_norms, numbers: None, single: OnceLock::new(), double: OnceLock::new() }
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

    /// `⟨x′, x′⟩` of every row.
    pub(crate) fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    /// `⟨x′, x′⟩` of a row.
    pub fn squared_norm(&self, row: usize) -> f64 {
        self.squared_norms[row]
    }

    /// The number a table knows a row by: its own place unless numbers were given.
    pub fn number(&self, row: usize) -> usize {
        self.numbers.as_ref().map_or(row, |numbers| numbers[row])
    }

    /// The rows laid out for many products at a time in single precision, once they have been.
    pub(crate) fn single(&self) -> &OnceLock<Packed<f32>> {
        &self.single
    }

    /// The same in double precision.
    pub(crate) fn double(&self) -> &OnceLock<Packed<f64>> {
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
