//! Explicit feature maps φ: points lifted to a space where a linear machine does what a kernel would.
//!
//! | map | columns out | the dot product ⟨φ(x), φ(z)⟩ is |
//! | --- | --- | --- |
//! | [`Monomials`] | (d + q over q) | the polynomial kernel, exactly |
//! | [`Products`] | d (d − 1)/2 | the sum of the products of pairs |
//! | [`Trigonometric`] | 2 d K | a sum of cosines of the differences |
//! | [`Fourier`] | 2 m | near the Gaussian kernel, the nearer the larger m |
//! | [`Nystrom`] | at most the number of landmarks | near any kernel, and equal to it on the landmarks |

mod fourier;
mod monomials;
mod nystrom;
mod products;
mod trigonometric;

pub use fourier::Fourier;
pub use monomials::Monomials;
pub use nystrom::Nystrom;
pub use products::Products;
pub use trigonometric::Trigonometric;

use crate::data::Matrix;
use crate::error::Error;

/// The most columns that a map makes.
pub const MOST_COLUMNS: usize = 1_000_000;

/// The most numbers that a map keeps or makes at once: 8 GiB of them.
pub const MOST_ENTRIES: usize = 1 << 30;

/// A map from rows of `input_columns` numbers to rows of `output_columns` numbers.
pub trait Lift {
    /// How many numbers a point has before.
    fn input_columns(&self) -> usize;

    /// How many numbers it has after.
    fn output_columns(&self) -> usize;

    /// Writes φ(x) to `out`.
    ///
    /// # Panics
    /// When `x` or `out` has another length than the two counts say.
    fn lift_row(&self, x: &[f64], out: &mut [f64]);

    /// A name for each column after, made of those before.
    ///
    /// # Panics
    /// When there is not one name a column.
    fn names(&self, input: &[String]) -> Vec<String>;
}

/// Lifts each row of a matrix; the result is dense.
///
/// # Errors
/// When the matrix has another number of columns than the map, the result would have more than [`MOST_ENTRIES`]
/// numbers, or one of them would be too large for f64.
///
/// # Examples
/// ```
/// use maxmargin::data::Matrix;
/// use maxmargin::lift::{Products, lift};
///
/// let matrix = Matrix::dense(1, 3, vec![2.0, 3.0, 5.0])?;
/// assert_eq!(lift(&Products::new(3)?, &matrix)?.row(0), [6.0, 10.0, 15.0]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn lift(map: &dyn Lift, matrix: &Matrix) -> Result<Matrix, Error> {
    if matrix.columns() != map.input_columns() {
        return Err(Error::Shape {
            operation: "lift",
            left: format!("data of {} columns", matrix.columns()),
            right: format!("a map of {} columns", map.input_columns()),
        });
    }
    let columns = map.output_columns();
    check_size("the lifted data", matrix.rows(), columns)?;
    let mut values = vec![0.0; matrix.rows() * columns];
    for (row, out) in values.chunks_mut(columns.max(1)).enumerate() {
        map.lift_row(&matrix.row(row), out);
        if let Some(column) = out.iter().position(|value| !value.is_finite()) {
            return Err(Error::Data {
                what: format!("lifted, row {} is {} in column {}", row + 1, out[column], column + 1),
                help: "scale the columns first (standard or minmax), or lower the degree".into(),
            });
        }
    }
    Matrix::dense(matrix.rows(), columns, values)
}

/// Refuses sizes over [`MOST_ENTRIES`] before anything is allocated.
fn check_size(what: &str, rows: usize, columns: usize) -> Result<(), Error> {
    if rows.checked_mul(columns).is_some_and(|size| size <= MOST_ENTRIES) {
        return Ok(());
    }
    Err(Error::Combination {
        what: format!("{what} would have {rows} rows x {columns} columns, more than {MOST_ENTRIES} numbers"),
        help: "lift to fewer columns, lift fewer rows at a time, or use the kernel itself".into(),
    })
}

/// Refuses maps with more than [`MOST_COLUMNS`] columns before anything is allocated; `None` stands for an overflow.
fn check_columns(columns: Option<usize>) -> Result<usize, Error> {
    columns.filter(|&count| count <= MOST_COLUMNS).ok_or_else(|| Error::Combination {
        what: format!("the map would make more than {MOST_COLUMNS} columns"),
        help: "lift fewer columns, lower the degree, or use the kernel itself".into(),
    })
}

/// The promise of [`Lift::lift_row`] about lengths.
fn assert_lengths(map: &dyn Lift, x: &[f64], out: &[f64]) {
    assert_eq!(
        (x.len(), out.len()),
        (map.input_columns(), map.output_columns()),
        "a map lifts rows of its own lengths"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;

    /// φ(x) of one point.
    pub(super) fn lifted(map: &dyn Lift, x: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; map.output_columns()];
        map.lift_row(x, &mut out);
        out
    }

    pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    pub(super) fn column_names(count: usize) -> Vec<String> {
        (1..=count).map(|column| format!("x{column}")).collect()
    }

    #[test]
    fn every_map_keeps_its_counts_and_names_its_columns() {
        let landmarks = generate("moons", 5, 1).unwrap();
        let linear = |x: &[f64], z: &[f64]| dot(x, z);
        let maps: [&dyn Lift; 5] = [
            &Monomials::new(2, 3, 1.0, 1.0).unwrap(),
            &Products::new(2).unwrap(),
            &Trigonometric::new(2, 3, 1.0).unwrap(),
            &Fourier::new(2, 4, 1.0, 1).unwrap(),
            &Nystrom::new(landmarks.matrix(), linear, 1e-12).unwrap(),
        ];
        for (number, map) in maps.into_iter().enumerate() {
            assert_eq!(map.input_columns(), 2, "map {number}");
            let mut names = map.names(&column_names(2));
            assert_eq!(names.len(), map.output_columns(), "map {number}");
            names.sort();
            names.dedup();
            assert_eq!(names.len(), map.output_columns(), "map {number} repeats a name");
            let out = lift(map, &landmarks.matrix().to_sparse()).unwrap();
            assert_eq!((out.rows(), out.columns()), (5, map.output_columns()), "map {number}");
            assert_eq!(out.row(4), lifted(map, &landmarks.matrix().row(4)), "map {number}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_made() {
        let map = Monomials::new(2, 3, 1.0, 1.0).unwrap();
        let error = lift(&map, &Matrix::without_columns(1)).unwrap_err();
        assert_eq!(error.to_string(), "lift: data of 0 columns does not fit a map of 2 columns");
        let error = lift(&map, &Matrix::dense(1, 2, vec![1.0, 1e200]).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "lifted, row 1 is inf in column 5");
        assert!(error.help().starts_with("scale the columns"));
        let wide = Products::new(1400).unwrap();
        let tall = Matrix::sparse(2000, 1400, vec![0; 2001], vec![], Vec::<f64>::new()).unwrap();
        let error = lift(&wide, &tall).unwrap_err();
        assert!(error.to_string().starts_with("the lifted data would have 2000 rows x 979300 columns"), "{error}");
    }

    #[test]
    fn no_rows_lift_to_no_rows() {
        let none = Matrix::dense(0, 2, Vec::<f64>::new()).unwrap();
        let out = lift(&Products::new(2).unwrap(), &none).unwrap();
        assert_eq!((out.rows(), out.columns()), (0, 1));
        let alone = lift(&Products::new(1).unwrap(), &Matrix::dense(2, 1, vec![1.0, 2.0]).unwrap()).unwrap();
        assert_eq!((alone.rows(), alone.columns()), (2, 0));
    }
}
