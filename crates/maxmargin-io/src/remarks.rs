//! What was done to the cells of a table while it was read: counted, and told with the data.

use std::collections::BTreeMap;

use maxmargin::data::{Dataset, TableRecipe};

use crate::columns::{Columns, Kind};

/// Counts of some rows. Features are known by their places among the features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Rows read, those left out among them.
    pub(crate) rows: u64,
    /// Missing cells that were filled in.
    filled: BTreeMap<usize, u64>,
    /// Cells of categories that training did not see, and the first of them.
    unseen: BTreeMap<usize, (u64, String)>,
    /// Rows left out, counted from 0, increasing.
    pub(crate) dropped: Vec<u64>,
}

impl Tally {
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.filled.clear();
        self.unseen.clear();
        self.dropped.clear();
    }

    pub(crate) fn filled(&mut self, feature: usize, cells: u64) {
        if cells > 0 {
            *self.filled.entry(feature).or_default() += cells;
        }
    }

    pub(crate) fn unseen(&mut self, feature: usize, value: &str) {
        self.unseen.entry(feature).or_insert_with(|| (0, value.into())).0 += 1;
    }

    /// Adds the rows that come next.
    pub(crate) fn add(&mut self, next: &Tally) {
        self.dropped.extend(next.dropped.iter().map(|row| self.rows + row));
        self.rows += next.rows;
        next.filled.iter().for_each(|(&feature, &cells)| self.filled(feature, cells));
        for (&feature, (cells, first)) in &next.unseen {
            self.unseen.entry(feature).or_insert_with(|| (0, first.clone())).0 += cells;
        }
    }
}

/// What was done to the cells of a table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Remarks {
    /// Columns with missing cells that were filled in, and how many.
    pub filled: Vec<(String, u64)>,
    /// Rows that were left out because a value was missing, counted from 0, increasing.
    pub dropped: Vec<u64>,
    /// Columns with cells of categories that the recipe does not know, which count as none of those known.
    pub unseen: Vec<Unseen>,
    /// Columns that became one column for each of their values, and how many they became.
    pub categories: Vec<(String, usize)>,
}

/// Cells whose category was not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The column.
    pub column: String,
    /// How many cells.
    pub cells: u64,
    /// What the first of them says.
    pub first: String,
}

impl Remarks {
    pub(crate) fn new(tally: &Tally, columns: &Columns) -> Self {
        let name = |feature: usize| match &columns.names {
            Some(names) => names[feature].clone(),
            None => (columns.features[feature] + 1).to_string(),
        };
        let made = |(feature, kind): (usize, &Kind)| match kind {
            Kind::Number => None,
            Kind::Values(values) => Some((name(feature), values.len())),
        };
        let unseen = |(&feature, (cells, first)): (&usize, &(u64, String))| Unseen {
            column: name(feature),
            cells: *cells,
            first: first.clone(),
        };
        Remarks {
            filled: tally.filled.iter().map(|(&feature, &cells)| (name(feature), cells)).collect(),
            dropped: tally.dropped.clone(),
            unseen: tally.unseen.iter().map(unseen).collect(),
            categories: columns.kinds.iter().enumerate().filter_map(made).collect(),
        }
    }

    /// The row of the file that a row of the data set is, both counted from 0.
    pub fn file_row(&self, row: u64) -> u64 {
        let mut found = row;
        // Each row that was left out before it moves it one on.
        for &dropped in &self.dropped {
            if dropped > found {
                break;
            }
            found += 1;
        }
        found
    }
}

/// Data, and how it was read.
#[derive(Clone, Debug)]
pub struct ReadData {
    /// The rows.
    pub data: Dataset,
    /// How raw columns became numbers; `None` where the file is no table of raw columns (LIBSVM text, npz, a cache).
    pub recipe: Option<TableRecipe>,
    /// What was done to cells on the way.
    pub remarks: Remarks,
}

impl ReadData {
    /// Whether the rows have answers to compare a model's with.
    pub fn labelled(&self) -> bool {
        !self.data.answers().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_numbers_in_the_file_when_others_are_left_out() {
        let remarks = Remarks { dropped: vec![0, 2, 3, 7], ..Remarks::default() };
        let rows: Vec<u64> = (0..5).map(|row| remarks.file_row(row)).collect();
        assert_eq!(rows, [1, 4, 5, 6, 8]);
    }

    #[test]
    fn tallies_of_blocks_add_up_in_their_order() {
        let (mut all, mut next) = (Tally::default(), Tally::default());
        (all.rows, all.dropped) = (3, vec![1]);
        all.filled(0, 2);
        (next.rows, next.dropped) = (2, vec![0]);
        next.filled(0, 1);
        next.unseen(4, "x");
        all.add(&next);
        assert_eq!((all.rows, &all.dropped[..], all.filled[&0]), (5, &[1, 3][..], 3));
        assert_eq!(all.unseen[&4], (1, "x".to_string()));
    }
}
