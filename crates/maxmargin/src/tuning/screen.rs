//! A sample of the rows, searched first: cells that are far behind on it are left.
//!
//! The sample is a part of each split's held-out rows, at even distances, so it has the shares of classes and groups that the splits have. A cell is
//! left when it is behind the best by three standard errors of the paired difference, (TU.6).

use std::ops::ControlFlow;

use super::search::Search;
use super::splits::{Split, Splits};
use crate::control::{Control, Stop};
use crate::data::Dataset;
use crate::error::Error;
use crate::workers::Workers;

/// Rows of a sample. More: the sample costs more, and leaves fewer cells that would have won on all rows.
const SAMPLED_ROWS: usize = 2_000;

/// Times as many rows as a sample from which on it pays.
const WORTH_IT: usize = 2;

/// Standard errors by which a cell has to be behind.
const LIKELY: f64 = 3.0;

impl Search {
    /// The cells that a sample leaves: none where there are too few rows for one.
    pub(super) fn screen(
        &self,
        data: &Dataset,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, Vec<bool>>, Error> {
        let none = vec![false; self.settings.len()];
        let rows = data.rows();
        if rows < WORTH_IT * SAMPLED_ROWS {
            return Ok(ControlFlow::Continue(none));
        }
        let mut is_sampled = vec![false; rows];
        for split in self.params.splits.list() {
            let count = (split.test.len() * SAMPLED_ROWS).div_ceil(rows);
            (0..count).for_each(|k| is_sampled[split.test[k * split.test.len() / count]] = true);
        }
        let sample: Vec<usize> = (0..rows).filter(|&row| is_sampled[row]).collect();
        let part = self.trainings[0].part_of(data, &sample)?;
        let places = |own: &[usize]| own.iter().filter_map(|row| sample.binary_search(row).ok()).collect();
        let split = |split: &Split| Split { train: places(&split.train), test: places(&split.test) };
        let splits = Splits::given(self.params.splits.list().iter().map(split).collect(), sample.len())?;
        let mut params = self.params.clone();
        (params.splits, params.abandon) = (splits, false);
        let mut search = params.check()?;
        for data in &self.of_splits {
            search.of_splits.push(self.trainings[0].part_of(data, &sample)?);
        }
        let tuned = search.run(&part, workers, control)?;
        if tuned.stop != Stop::Converged {
            return Ok(ControlFlow::Break(tuned.stop));
        }
        let is_behind = |behind: Option<(f64, f64)>| behind.is_some_and(|(apart, se)| apart > LIKELY * se);
        Ok(ControlFlow::Continue(tuned.cells.iter().map(|cell| is_behind(cell.behind)).collect()))
    }
}
