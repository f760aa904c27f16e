//! What serves as rows: slices and arrays of rows, a matrix, a data set.

use crate::data::{Dataset, Matrix};
use crate::error::Error;

/// Rows of numbers, one point each: what a model is fitted to, and what it predicts.
///
/// | type | |
/// | --- | --- |
/// | `[R]`, `Vec<R>`, `[R; N]` | of rows `R` that are `Vec<f64>`, `[f64; N]` or `&[f64]` |
/// | `ndarray::Array2<A>` and its views | of `f64` or `f32`, with the feature `ndarray` |
/// | [`Matrix`] | dense or sparse: [`Matrix::sparse`] takes compressed rows, [`Matrix::from_entries`] triplets |
/// | [`Dataset`] | its columns are found by their names, where both sides have names |
///
/// # Examples
/// ```
/// use maxmargin::ToRows;
///
/// assert_eq!([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]].to_rows()?.rows(), 3);
/// assert_eq!(vec![vec![0.0, 1.0]].to_rows()?.columns(), 2);
/// let error = [vec![0.0, 1.0], vec![2.0]].to_rows().unwrap_err();
/// assert_eq!(error.to_string(), "rows: 1 numbers in row 2 does not fit 2 in row 1");
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known as rows of numbers",
    note = "give a reference to a slice, array or `Vec` of rows of `f64`, an `ndarray::Array2` (feature `ndarray`), a `Matrix` or a `Dataset`"
)]
pub trait ToRows {
    /// The rows as a data set.
    ///
    /// # Errors
    /// When rows differ in length, or a number is not finite.
    fn to_rows(&self) -> Result<Dataset, Error>;
}

impl<T: ToRows + ?Sized> ToRows for &T {
    fn to_rows(&self) -> Result<Dataset, Error> {
        (**self).to_rows()
    }
}

impl ToRows for Dataset {
    fn to_rows(&self) -> Result<Dataset, Error> {
        Ok(self.clone())
    }
}

impl ToRows for Matrix {
    fn to_rows(&self) -> Result<Dataset, Error> {
        // A data set has labels; these say nothing.
        Ok(Dataset::unlabelled(self.clone()))
    }
}

impl<R: AsRef<[f64]>> ToRows for [R] {
    fn to_rows(&self) -> Result<Dataset, Error> {
        let columns = self.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(self.len().saturating_mul(columns));
        for (row, numbers) in self.iter().map(AsRef::as_ref).enumerate() {
            if numbers.len() != columns {
                return Err(Error::Shape {
                    operation: "rows",
                    left: format!("{} numbers in row {}", numbers.len(), row + 1),
                    right: format!("{columns} in row 1"),
                });
            }
            values.extend_from_slice(numbers);
        }
        Matrix::dense(self.len(), columns, values)?.to_rows()
    }
}

impl<R: AsRef<[f64]>> ToRows for Vec<R> {
    fn to_rows(&self) -> Result<Dataset, Error> {
        self.as_slice().to_rows()
    }
}

impl<R: AsRef<[f64]>, const N: usize> ToRows for [R; N] {
    fn to_rows(&self) -> Result<Dataset, Error> {
        self.as_slice().to_rows()
    }
}

#[cfg(feature = "ndarray")]
impl<A, S> ToRows for ndarray::ArrayBase<S, ndarray::Ix2>
where
    A: Clone,
    S: ndarray::Data<Elem = A>,
    crate::data::Values: From<Vec<A>>,
{
    fn to_rows(&self) -> Result<Dataset, Error> {
        let values: Vec<A> = self.iter().cloned().collect();
        Matrix::dense(self.nrows(), self.ncols(), values)?.to_rows()
    }
}
