//! A table that is read anew for each split: means of missing values and categories are learnt from its training rows, so that those held out tell
//! nothing.

use maxmargin::data::Dataset;
use maxmargin::error::Error;
use maxmargin::tuning::Splits;
use maxmargin_io::{ReadOptions, Remarks};

use super::plan::take_column;
use crate::failure::Failure;
use crate::input::{self, Source};

/// A table, and how it was read.
pub(super) struct Table<'a> {
    pub(super) source: &'a Source,
    pub(super) options: &'a ReadOptions,
    pub(super) remarks: &'a Remarks,
    /// How many rows it has.
    pub(super) rows: usize,
    /// The column of groups or folds, which is taken out.
    pub(super) column: Option<&'a str>,
}

impl Table<'_> {
    /// All rows, as some of them say that they are to be read; `None` where nothing is learnt from rows.
    ///
    /// # Errors
    /// When the table does not read again.
    pub(super) fn learning_from(&self, rows: &[usize]) -> Result<Option<Dataset>, Error> {
        let remarks = self.remarks;
        if !self.options.learns() || remarks.filled.is_empty() && remarks.categories.is_empty() {
            return Ok(None);
        }
        let found = input::read_learning_from(self.source, self.options, (remarks, self.rows), rows)
            .and_then(|found| take_column(found.data, self.column));
        match found {
            Ok((data, _)) => Ok(Some(data)),
            Err(Failure::Input { what, help }) => Err(Error::Data { what, help }),
            Err(Failure::BrokenPipe) => Ok(None),
        }
    }

    /// All rows for each split; empty where all splits read them as the whole table does.
    ///
    /// # Errors
    /// When the table does not read again.
    pub(super) fn of_splits(&self, splits: &Splits, whole: &Dataset) -> Result<Vec<Dataset>, Error> {
        let mut found = Vec::new();
        for split in splits.list() {
            let Some(data) = self.learning_from(&split.train)? else { return Ok(Vec::new()) };
            found.push(data);
        }
        let is_whole = |data: &Dataset| data.names() == whole.names() && data.fingerprint() == whole.fingerprint();
        Ok(if found.iter().all(is_whole) { Vec::new() } else { found })
    }
}
