//! Which columns of a table of numbers are features, and which one is the label: npy, Parquet and Arrow, as CSV has it.

use std::collections::HashSet;

use maxmargin::data::{Csr, Dataset, Label, Labels, Matrix, Values};
use maxmargin::error::{listed, quoted};

use crate::error::Error;
use crate::read::{ReadOptions, data_error};

/// The columns asked for.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// The column of labels; `None` when there is none.
    pub(crate) label: Option<usize>,
    /// The columns that are not the label, in the order of the data set.
    pub(crate) features: Vec<usize>,
    /// Their names, where there are any.
    pub(crate) names: Option<Vec<String>>,
}

impl Columns {
    /// Finds the columns asked for among `width`, which have these names or none.
    ///
    /// # Errors
    /// When one is not there, or asked for twice.
    pub(crate) fn new(
        origin: &str,
        names: Option<&[String]>,
        width: usize,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let fault = |what: String, help: String| {
            let error = maxmargin::Error::Data { what, help };
            Err(Error::Data { path: origin.into(), error })
        };
        let combination = |what: String, help: &str| {
            let error = maxmargin::Error::Combination { what, help: help.into() };
            Err(Error::Data { path: origin.into(), error })
        };
        if !(width >= 2 || options.unlabelled && width >= 1) {
            return Err(Error::Content {
                path: origin.into(),
                found: if width == 1 { "one column".into() } else { "no columns".into() },
                expected: "a label column and at least one more".into(),
                help: "give the features and the label in one table, the label in the last column".into(),
            });
        }
        let find = |name: &str| {
            let number = || name.parse().ok().filter(|number| (1..=width).contains(number)).map(|number| number - 1);
            match names.and_then(|names| names.iter().position(|known| known == name)).or_else(number) {
                Some(place) => Ok(place),
                None => fault(
                    format!("there is no column {}", quoted(name)),
                    match names {
                        Some(names) => {
                            format!("the columns are {}", listed(names.iter().map(|name| quoted(name)), 8))
                        }
                        None => format!("the columns are numbered 1 to {width}"),
                    },
                ),
            }
        };
        let label = match (&options.label, options.unlabelled) {
            (_, true) => None,
            (Some(name), false) => Some(find(name)?),
            (None, false) => Some(width - 1),
        };
        let features: Vec<usize> = match &options.columns {
            Some(chosen) => chosen.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
            None => (0..width).filter(|&place| Some(place) != label).collect(),
        };
        let mut seen = HashSet::new();
        if let Some(place) = features.iter().position(|&place| !seen.insert(place)) {
            let name = options.columns.as_ref().map_or("", |chosen| &chosen[place]);
            return combination(
                format!("the column {} is asked for twice", quoted(name)),
                "name each column once in --columns",
            );
        }
        if let Some(label) = label.filter(|label| features.contains(label)) {
            return combination(
                format!("column {} is the label and also among the columns to keep", label + 1),
                "leave it out of --columns, or choose another with --label",
            );
        }
        let names = match (&options.columns, names) {
            (Some(chosen), _) => Some(chosen.clone()),
            (None, Some(names)) => Some(features.iter().map(|&place| names[place].clone()).collect()),
            (None, None) => None,
        };
        Ok(Columns { label, features, names })
    }
}

/// Columns of numbers and a label for each row as data: in single precision where all of them are.
pub(crate) fn of_columns(
    columns: &[Values],
    labels: Vec<Label>,
    names: Option<&Vec<String>>,
    origin: &str,
) -> Result<Dataset, Error> {
    let (rows, width) = (labels.len(), columns.len());
    let matrix = if columns.iter().all(|column| matches!(column, Values::F32(_))) {
        let row = |row: usize| columns.iter().map(move |column| column.get(row) as f32);
        Matrix::dense(rows, width, (0..rows).flat_map(row).collect::<Vec<f32>>())
    } else {
        let row = |row: usize| columns.iter().map(move |column| column.get(row));
        Matrix::dense(rows, width, (0..rows).flat_map(row).collect::<Vec<f64>>())
    };
    matrix
        .and_then(settle)
        .and_then(|matrix| Dataset::new(matrix, Labels::new(labels)))
        .and_then(|data| match names {
            Some(names) => data.with_names(names.clone()),
            None => Ok(data),
        })
        .map_err(|error| data_error(origin, error))
}

/// A dense matrix, or its rows without the zeros where more than half of its numbers are zero.
pub(crate) fn settle(matrix: Matrix) -> Result<Matrix, maxmargin::Error> {
    let Matrix::Dense(dense) = &matrix else { return Ok(matrix) };
    let zeros = match dense.values() {
        Values::F32(values) => values.iter().filter(|&&value| value == 0.0).count(),
        Values::F64(values) => values.iter().filter(|&&value| value == 0.0).count(),
    };
    if matrix.entries() - zeros >= matrix.entries().div_ceil(2) {
        return Ok(matrix);
    }
    let single = matches!(dense.values(), Values::F32(_));
    match matrix.to_sparse() {
        Matrix::Sparse(csr) if single => {
            let values: Vec<f32> = (0..csr.values().len()).map(|place| csr.values().get(place) as f32).collect();
            let (offsets, indices) = (Csr::offsets(&csr).to_vec(), csr.indices().to_vec());
            Matrix::sparse(matrix.rows(), matrix.columns(), offsets, indices, values)
        }
        sparse => Ok(sparse),
    }
}

/// The error of a number that is none: where it is, and the way out.
pub(crate) fn not_finite(origin: &str, value: f64, row: u64, column: &str) -> Error {
    let error = maxmargin::Error::Data {
        what: format!("the value in row {row}, column {column} is {value}"),
        help: "leave the row out, or fill the value in (with the column's mean, say)".into(),
    };
    Error::Data { path: origin.into(), error }
}

/// The error of a whole number that double precision cannot hold.
pub(crate) fn too_large(origin: &str, value: &str, row: u64, column: &str) -> Error {
    let error = maxmargin::Error::Data {
        what: format!(
            "the whole number {value} in row {row}, column {column} has more digits than can be computed with"
        ),
        help: "leave the column out with --columns, or subtract what its values share".into(),
    };
    Error::Data { path: origin.into(), error }
}
