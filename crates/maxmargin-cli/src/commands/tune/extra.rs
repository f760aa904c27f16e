//! What is asked for beside the search: a learning curve, a proof, nested cross validation.

use maxmargin::data::Dataset;
use maxmargin::error::Error;
use maxmargin::tuning::{Grid, LearningCurve, Nested, NestedPart, Proof, Search, SearchParams, nested};
use maxmargin::{Control, Workers};

use super::plan::{filled, splits};
use super::table::Table;
use crate::arguments::Tune;
use crate::failure::Failure;
use crate::interrupt::{self, Phase};
use crate::progress::Watch;

/// A search that is done, and the cell that is taken.
pub(super) struct Extra<'a> {
    pub(super) arguments: &'a Tune,
    pub(super) search: &'a Search,
    pub(super) cell: usize,
    pub(super) data: &'a Dataset,
    pub(super) table: &'a Table<'a>,
    pub(super) workers: &'a Workers,
}

impl Extra<'_> {
    /// Does some more work, if it is wanted and nobody has interrupted.
    fn work<T>(
        &self,
        is_wanted: bool,
        counts: &'static str,
        work: impl FnOnce(&mut dyn Control) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Failure> {
        if !is_wanted || interrupt::asked() {
            return Ok(None);
        }
        let mut watch = Watch::new(None, self.arguments.quiet).counting(counts);
        let found = interrupt::during(Phase::Solving, || work(&mut watch));
        watch.finish();
        Ok(found?)
    }

    /// What more rows would bring.
    pub(super) fn learning(&self) -> Result<Option<LearningCurve>, Failure> {
        let is_wanted = self.arguments.learning || self.arguments.plot.is_some();
        self.work(is_wanted, "learning curve: part", |control| {
            self.search.learning(self.cell, self.data, self.workers, control)
        })
    }

    /// What is proved of the cell that is taken.
    pub(super) fn proof(&self) -> Result<Option<Proof>, Failure> {
        self.work(self.arguments.prove, "proof: split", |control| {
            self.search.prove(self.cell, self.data, self.workers, control)
        })
    }

    /// What such a search is worth. The grid is filled in anew from the training rows of each fold; `numbers` are the groups or folds of the rows.
    pub(super) fn nested(&self, grid: &Grid, numbers: Option<&[i64]>) -> Result<Option<Nested>, Failure> {
        let own = self.search.params();
        let mut part_of = |rows: &[usize]| {
            let all = self.table.learning_from(rows)?;
            let part = all.as_ref().unwrap_or(self.data).select_rows(rows);
            let numbers: Option<Vec<i64>> = numbers.map(|numbers| rows.iter().map(|&row| numbers[row]).collect());
            let grid = filled(grid, &own.training, &part, self.workers)?;
            let (splits, _) = splits(self.arguments, &part, numbers.as_deref())?;
            let mut of_splits = Vec::new();
            for split in splits.list().iter().filter(|_| all.is_some()) {
                let inner: Vec<usize> = split.train.iter().map(|&place| rows[place]).collect();
                let found = self.table.learning_from(&inner)?;
                of_splits.extend(found.map(|found| found.select_rows(rows)));
            }
            let mut search = SearchParams { grid, splits, ..own.clone() }.check()?;
            if !of_splits.is_empty() {
                search = search.with_data_of_splits(of_splits)?;
            }
            Ok(NestedPart { rows: part, search, all })
        };
        self.work(self.arguments.nested, "nested: chain", |control| {
            nested(&own.splits, self.data, self.arguments.choose, &mut part_of, self.workers, control)
        })
    }
}
