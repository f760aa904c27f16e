//! Several numbers for each row.

use std::fmt;
use std::ops::Index;

/// As many numbers for each row, such as probabilities or decision values. `table[row]` is a slice of them.
///
/// With the feature `ndarray` it turns into an `Array2<f64>` by `into()`.
#[derive(Clone, PartialEq)]
pub struct Table {
    columns: usize,
    values: Vec<f64>,
}

impl Table {
    /// A table of `columns` columns, at least one, from its numbers row after row.
    pub(super) fn new(columns: usize, values: Vec<f64>) -> Self {
        Table { columns: columns.max(1), values }
    }

    /// How many numbers there are for each row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The rows, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// All numbers, row after row.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }
}

impl Index<usize> for Table {
    type Output = [f64];

    /// # Panics
    /// When the row is out of range.
    fn index(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }
}

/// A list of rows.
impl fmt::Debug for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.rows()).finish()
    }
}

#[cfg(feature = "ndarray")]
impl From<Table> for ndarray::Array2<f64> {
    fn from(table: Table) -> Self {
        let shape = (table.rows().len(), table.columns);
        ndarray::Array2::from_shape_vec(shape, table.values)
            .unwrap_or_else(|error| unreachable!("a table has the numbers of all its rows: {error}"))
    }
}
