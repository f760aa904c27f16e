//! A search: parameters that are checked, and its rounds.
//!
//! Cells that differ in C or ε alone are a chain, with descending ε and, for each ε, ascending C. A job is one chain in one split, up to some cell.
//! What a job says depends on the job alone, so the order of jobs and the number of threads change nothing.
//!
//! 1. Every chain in the first two splits.
//! 2. The chain with the best cell so far in all other splits: now the loss of a cell is known.
//! 3. One split after the other: every chain up to the largest C that is not out, (TU.7).

use std::ops::{ControlFlow, Range};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::extend::Extension;
use super::grid::{Grid, Setting};
use super::honest::honest;
use super::judge::{Losses, Truth, copies, counts, judge};
use super::on_tables::Tables;
use super::plain::Shared;
use super::scores::Metric;
use super::splits::Splits;
use super::tasks::Done;
use super::tuned::{Cell, FoldResult, State, Tuned, Warning};
use super::{Knob, race};
use crate::control::{Control, Stop};
use crate::data::{Dataset, Label, ScalingKind, range_ratio};
use crate::error::Error;
use crate::kernel::KernelParams;
use crate::training::{Training, TrainingParams};
use crate::workers::Workers;

/// The range of a column over that of another from which on columns that are not scaled are worth a word.
const MOST_RANGE_RATIO: f64 = 100.0;

/// Entries of the data up to which copies are looked for.
const MOST_ENTRIES: usize = 50_000_000;

/// What to search, not yet checked. Plain, public.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::kernel::{Gamma, KernelParams};
/// use maxmargin::tuning::{Axis, Grid, Metric, SearchParams, Splits};
/// use maxmargin::{TrainingParams, Unattended, Workers};
///
/// let iris = embedded("iris").unwrap();
/// let grid = Grid::of(KernelParams::Rbf { gamma: Gamma::Scale }, Axis::read_all("C=0.1:100:4,gamma=0.01:1:3")?);
/// let search = SearchParams {
///     training: TrainingParams::default(),
///     grid,
///     splits: Splits::of_data(&iris, 5, 1, 0)?,
///     metric: Metric::Accuracy,
///     abandon: true,
///     tables: true,
///     seed: 0,
/// }
/// .check()?;
/// let tuned = search.run(&iris, &Workers::none(), &mut Unattended)?;
/// let best = &tuned.cells[tuned.best.unwrap()];
/// assert!(best.mean.unwrap() > 0.95);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearchParams {
    /// What all cells have in common. Its kernel is not looked at.
    pub training: TrainingParams,
    /// What is tried.
    pub grid: Grid,
    /// The splits.
    pub splits: Splits,
    /// What is to be good.
    pub metric: Metric,
    /// Whether cells are left that can neither win nor be chosen any more. The choice is the same either way.
    pub abandon: bool,
    /// Whether kernel values are computed once for all cells and splits where they fit into memory. The results are the same up to the tolerance.
    pub tables: bool,
    /// Where the draws of the honest estimate begin.
    pub seed: u64,
}

/// What is known of each cell and split: the state of a search, from which it goes on.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Results {
    /// The fingerprint of the data.
    pub fingerprint: String,
    /// The search, in words that the same search always has.
    pub search: String,
    /// For each cell the result of each split.
    pub cells: Vec<Vec<Option<FoldResult>>>,
    /// The cells that a sample of the rows left, with [`Strategy::Screen`]; empty before it was searched.
    #[cfg_attr(feature = "serde", serde(default))]
    pub screened: Vec<bool>,
    /// How the grid was extended so far, by [`Search::run_extending`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub extended: Vec<Vec<Extension>>,
}

/// Which cells a search leaves before they are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Those that can neither win nor be chosen any more: the choice is that of the whole grid.
    #[default]
    Certain,
    /// Also those that are behind the best by three standard errors after some splits. The choice is likely that of the whole grid.
    Race,
    /// Those that are behind by three standard errors on a sample of the rows, which is searched first.
    Screen,
}

/// A search that was checked.
#[derive(Clone, Debug)]
pub struct Search {
    pub(super) params: SearchParams,
    pub(super) strategy: Strategy,
    pub(super) settings: Vec<Setting>,
    /// The training of each cell.
    pub(super) trainings: Vec<Training>,
    /// The cells of each chain: descending ε, and ascending C for each.
    pub(super) chains: Vec<Vec<usize>>,
    /// For each split all rows as its training rows say that they are to be read; empty where that is the same for all.
    pub(super) of_splits: Vec<Dataset>,
}

/// One chain in one split.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) chain: usize,
    pub(super) split: usize,
    /// The first cells of the chain.
    pub(super) cells: Vec<usize>,
}

impl SearchParams {
    /// The only way to a [`Search`]: every cell is checked before anything is trained.
    ///
    /// # Errors
    /// When the grid is empty or too large, or the parameters of a cell are out of range or do not go together.
    pub fn check(self) -> Result<Search, Error> {
        self.metric.check(self.training.task.is_regression())?;
        let settings = self.grid.settings()?;
        let training = |setting: &Setting| self.grid.params(setting, &self.training)?.check();
        let trainings = settings.iter().map(training).collect::<Result<Vec<Training>, Error>>()?;
        let mut chains: Vec<Vec<usize>> = Vec::new();
        for (cell, setting) in settings.iter().enumerate() {
            let is_next = |chain: &&mut Vec<usize>| {
                let last = &settings[chain[chain.len() - 1]];
                let goes_along = |knob: Knob| setting.value(knob).is_some();
                last.part == setting.part
                    && last.of_chain().eq(setting.of_chain())
                    && (goes_along(Knob::C) || goes_along(Knob::Epsilon))
            };
            match chains.last_mut().filter(is_next) {
                Some(chain) => chain.push(cell),
                None => chains.push(vec![cell]),
            }
        }
        // A solution for some ε is feasible for every other, and a larger ε has fewer support vectors to begin with.
        let epsilon = |cell: &usize| settings[*cell].value(Knob::Epsilon).unwrap_or(0.0);
        chains.iter_mut().for_each(|chain| chain.sort_by(|a, b| epsilon(b).total_cmp(&epsilon(a))));
        let (strategy, of_splits) = (Strategy::Certain, Vec::new());
        Ok(Search { params: self, strategy, settings, trainings, chains, of_splits })
    }
}

impl Search {
    /// The parameters, as they were given.
    pub fn params(&self) -> &SearchParams {
        &self.params
    }

    /// The search with all rows once more for each split, read as its training rows say: means of missing values and categories are learnt from
    /// these. The answers of the rows are those of the data.
    ///
    /// # Errors
    /// When there is not a data set for each split, or one has other rows.
    pub fn with_data_of_splits(self, of_splits: Vec<Dataset>) -> Result<Self, Error> {
        let splits = &self.params.splits;
        if of_splits.len() != splits.list().len() || of_splits.iter().any(|data| data.rows() != splits.rows()) {
            return Err(Error::Shape {
                operation: "data of splits",
                left: format!("{} data sets", of_splits.len()),
                right: format!("{} splits of {} rows", splits.list().len(), splits.rows()),
            });
        }
        Ok(Search { of_splits, ..self })
    }

    /// All rows as a split reads them.
    pub(super) fn data_of<'s>(&'s self, split: usize, data: &'s Dataset) -> &'s Dataset {
        self.of_splits.get(split).unwrap_or(data)
    }

    /// This search by another strategy.
    ///
    /// # Errors
    /// When a race or a sample is asked for with a score that is no mean over rows.
    pub fn by(self, strategy: Strategy) -> Result<Self, Error> {
        if strategy != Strategy::Certain && !self.params.metric.is_mean_over_rows() {
            return Err(Error::Combination {
                what: format!("a race needs a score that is a mean over rows, not {}", self.params.metric.name()),
                help: "choose accuracy, mse, mae or r2, or search the whole grid".into(),
            });
        }
        Ok(Search { strategy, ..self })
    }

    /// The parameters of the cells, in their order.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The training of a cell, for the final fit: `search.training(tuned.best?)?.fit(data, ...)`.
    pub fn training(&self, cell: usize) -> Option<&Training> {
        self.trainings.get(cell)
    }

    /// Searches. When the control breaks, what is there is judged: the best of the cells that are done, and [`Tuned::stop`] says why.
    ///
    /// # Errors
    /// When the data does not go with the splits or the metric, a split trains on one class alone, or as [`Training::fit`].
    pub fn run(&self, data: &Dataset, workers: &Workers, control: &mut dyn Control) -> Result<Tuned, Error> {
        self.run_from(data, Results::default(), workers, control, &mut |_, _| {})
    }

    /// Searches from where another search of the same data and parameters was; `keep` is handed the state after each job, and
    /// once more, with `true`, when the control broke. The result is the same as without a break, to the bit.
    ///
    /// # Errors
    /// As [`Search::run`], and when the state is of other data or another search.
    pub fn run_from(
        &self,
        data: &Dataset,
        from: Results,
        workers: &Workers,
        control: &mut dyn Control,
        keep: &mut dyn FnMut(&Results, bool),
    ) -> Result<Tuned, Error> {
        let mut shared = self.shared(data)?;
        let mut results = self.begin(data, from, workers)?;
        let count = self.params.splits.list().len();
        if self.strategy == Strategy::Screen && results.screened.is_empty() {
            match self.screen(data, workers, control)? {
                ControlFlow::Continue(screened) => results.screened = screened,
                ControlFlow::Break(stop) => return Ok(self.finish(data, &shared, results, Some(stop), workers)),
            }
        }
        let (races, truth) = (self.leaves(), shared.truth.clone());
        let all: Vec<usize> = (0..self.chains.len()).collect();
        shared.done.of = self.chains.len() * count;
        let mut tables = None;
        let mut stop = None;
        let mut round = |results: &mut Results, jobs: Vec<Job>, control: &mut dyn Control| -> Result<bool, Error> {
            let jobs: Vec<Job> = jobs.into_iter().filter(|job| !is_known(results, job)).collect();
            let mut take = |job: &Job, found: Vec<FoldResult>| {
                // A job that was broken off is done again from its beginning.
                if found.len() == job.cells.len() {
                    for (&cell, found) in job.cells.iter().zip(found) {
                        results.cells[cell][job.split] = Some(found);
                    }
                    keep(results, false);
                }
            };
            let (on_tables, plain): (Vec<Job>, Vec<Job>) =
                jobs.into_iter().partition(|job| self.params.tables && self.has_table(data, job.chain));
            if !on_tables.is_empty() {
                let tables = tables.get_or_insert_with(|| Tables::new(data));
                stop = self.fit_on_tables(&shared, tables, &on_tables, workers, control, &mut take)?;
                shared.done.jobs += on_tables.len();
            }
            if stop.is_none() && !plain.is_empty() {
                stop = self.fit_plainly(&shared, &plain, workers, control, &mut take)?;
                shared.done.jobs += plain.len();
            }
            Ok(stop.is_none())
        };
        // Each chain up to its last cell that is not out.
        let jobs = |chains: &[usize], splits: Range<usize>, out: &[bool]| -> Vec<Job> {
            let of = |chain: usize| {
                let last = self.chains[chain].iter().rposition(|&cell| !out[cell]);
                let cells = last.map_or(Vec::new(), |last| self.chains[chain][..=last].to_vec());
                splits.clone().map(move |split| Job { chain, split, cells: cells.clone() })
            };
            chains.iter().flat_map(|&chain| of(chain)).filter(|job| !job.cells.is_empty()).collect()
        };
        let out = self.screened(&results);
        if races {
            let mut goes_on = round(&mut results, jobs(&all, 0..2, &out), control)?;
            let pilot = self.best_chain(&results);
            if goes_on {
                goes_on = round(&mut results, jobs(&[pilot], 2..count, &out), control)?;
            }
            for split in 2..count {
                if !goes_on {
                    break;
                }
                let out = self.out(&truth, &results, |cell, own| own < split || self.chains[pilot].contains(&cell));
                goes_on = round(&mut results, jobs(&all, split..split + 1, &out), control)?;
            }
        } else {
            round(&mut results, jobs(&all, 0..count, &out), control)?;
        }
        if stop.is_some() {
            keep(&results, true);
        }
        Ok(self.finish(data, &shared, results, stop, workers))
    }

    /// Whether cells are left between splits.
    fn leaves(&self) -> bool {
        let (metric, splits) = (&self.params.metric, &self.params.splits);
        let is_race = self.strategy == Strategy::Race && splits.list().len() > 2;
        self.params.abandon && (is_race || race::is_certain(metric, splits))
    }

    /// The cells that a sample left.
    fn screened(&self, results: &Results) -> Vec<bool> {
        let is_known = results.screened.len() == self.settings.len();
        if is_known { results.screened.clone() } else { vec![false; self.settings.len()] }
    }

    /// The cells that are not gone on with, from what is known of the cells and splits that `counts`. What a search leaves must not depend on where
    /// it was broken off.
    fn out(&self, truth: &Truth, results: &Results, counts: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let mut cells: Vec<Vec<Option<&FoldResult>>> = Vec::with_capacity(results.cells.len());
        for (cell, folds) in results.cells.iter().enumerate() {
            let known = folds.iter().enumerate().map(|(split, fold)| fold.as_ref().filter(|_| counts(cell, split)));
            cells.push(known.collect());
        }
        let mut out = self.screened(results);
        let SearchParams { metric, splits, .. } = &self.params;
        let mut add = |more: Vec<bool>| out.iter_mut().zip(more).for_each(|(out, more)| *out |= more);
        if self.leaves() && race::is_certain(metric, splits) {
            add(race::out(&cells, splits));
        }
        if self.leaves() && self.strategy == Strategy::Race {
            add(race::out_likely(metric, truth, splits, &cells));
        }
        out
    }

    /// The state to begin with.
    fn begin(&self, data: &Dataset, from: Results, workers: &Workers) -> Result<Results, Error> {
        let untouched = self.untouched(data, workers);
        if from == Results::default() {
            return Ok(untouched);
        }
        let is_shape = from.cells.len() == self.settings.len()
            && from.cells.iter().all(|cell| cell.len() == self.params.splits.list().len());
        let rows = |split: usize| self.params.splits.list()[split].test.len();
        let fits = |cell: &Vec<Option<FoldResult>>| {
            cell.iter()
                .enumerate()
                .all(|(split, fold)| fold.as_ref().is_none_or(|fold| fold.predicted.len() == rows(split)))
        };
        if from.fingerprint != untouched.fingerprint {
            return Err(Error::Data {
                what: "the checkpoint is of a search on other data".into(),
                help: "give the data of that search, or begin anew without the checkpoint".into(),
            });
        }
        if from.search != untouched.search || !is_shape || !from.cells.iter().all(fits) {
            return Err(Error::Data {
                what: "the checkpoint is of a search with other parameters".into(),
                help: "give the parameters of that search, or begin anew without the checkpoint".into(),
            });
        }
        Ok(from)
    }

    /// The state in which nothing is known.
    pub(super) fn untouched(&self, data: &Dataset, workers: &Workers) -> Results {
        Results {
            fingerprint: data.fingerprint_by(workers).to_string(),
            search: self.text(),
            cells: vec![vec![None; self.params.splits.list().len()]; self.settings.len()],
            screened: Vec::new(),
            extended: Vec::new(),
        }
    }

    /// The search in words that the same search always has.
    fn text(&self) -> String {
        let SearchParams { training, grid, splits, metric, abandon, tables, .. } = &self.params;
        // A budget of memory that follows what is free must not make another search.
        let mut training = training.clone();
        training.settings.memory = 0;
        let strategy = self.strategy;
        let text = format!("{training:?} {grid:?} {splits:?} {} {abandon} {tables} {strategy:?}", metric.name());
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// What all jobs share, and the checks of the data.
    pub(super) fn shared<'d>(&self, data: &'d Dataset) -> Result<Shared<'d>, Error> {
        let SearchParams { training, splits, .. } = &self.params;
        if splits.rows() != data.rows() {
            return Err(Error::Shape {
                operation: "splits of data",
                left: format!("splits of {} rows", splits.rows()),
                right: format!("{} rows", data.rows()),
            });
        }
        let (truth, classes) = if training.task.is_regression() {
            (Truth::Numbers(data.numbers()?.into_owned()), Vec::new())
        } else if training.task.is_classification() {
            let labels = match &training.positive {
                Some(positive) => data.labels()?.one_against_rest(positive).ok_or_else(|| Error::Data {
                    what: format!("no row has the label {}", crate::error::quoted(positive.text())),
                    help: "name a label that the data has".into(),
                })?,
                None => data.labels()?.clone(),
            };
            for (number, split) in splits.list().iter().enumerate() {
                let first = labels.codes()[split.train[0]];
                if split.train.iter().all(|&row| labels.codes()[row] == first) {
                    return Err(Error::Data {
                        what: format!("split {} trains on rows of one class alone", number + 1),
                        help: "choose fewer folds, or give more rows of each class".into(),
                    });
                }
            }
            let codes = labels.codes().iter().map(|&code| Some(code)).collect();
            (Truth::Classes(codes, labels.classes().len()), labels.classes().to_vec())
        } else {
            let classes = ["-1", "1"].map(Label::new).to_vec();
            let labels = data.labels().map_err(|_| Error::Data {
                what: "a search needs rows that are known to be unusual, with the label -1, beside usual ones with the label 1".into(),
                help: "give labels, or choose nu as the share of rows that may be unusual".into(),
            })?;
            let place = |&code: &u32| classes.iter().position(|class| *class == labels.classes()[code as usize]);
            let codes = labels.codes().iter().map(|code| place(code).map(|place| place as u32)).collect();
            (Truth::Classes(codes, 2), classes)
        };
        Ok(Shared { data, truth, classes, done: Done::default() })
    }

    /// The chain with the least loss in the first two splits.
    fn best_chain(&self, results: &Results) -> usize {
        let loss = |cell: usize| -> f64 {
            let of_fold = |fold: &Option<FoldResult>| match fold.as_ref()?.score {
                Some(score) if self.params.metric.is_loss() => Some(score),
                Some(score) => Some(1.0 - score),
                None => Some(1.0),
            };
            let first = results.cells[cell].iter().take(2).map(of_fold);
            first.sum::<Option<f64>>().unwrap_or(f64::INFINITY)
        };
        let least = |chain: usize| self.chains[chain].iter().map(|&cell| loss(cell)).fold(f64::INFINITY, f64::min);
        (1..self.chains.len()).fold(0, |best, chain| if least(chain) < least(best) { chain } else { best })
    }

    /// Judges what is there.
    fn finish(
        &self,
        data: &Dataset,
        shared: &Shared<'_>,
        results: Results,
        stop: Option<Stop>,
        workers: &Workers,
    ) -> Tuned {
        let (splits, metric) = (&self.params.splits, &self.params.metric);
        let mut cells: Vec<Cell> = Vec::with_capacity(self.settings.len());
        for (setting, folds) in self.settings.iter().zip(results.cells) {
            let is_solved = |fold: &Option<FoldResult>| fold.as_ref().is_some_and(|fold| fold.stop == Stop::Converged);
            let state = match folds.iter().all(Option::is_some) {
                // A search that came to its end has done all that it did not leave.
                false if stop.is_none() => State::Abandoned,
                true if folds.iter().all(is_solved) => State::Exact,
                _ => State::Unfinished,
            };
            cells.push(Cell {
                setting: setting.clone(),
                state,
                folds,
                mean: None,
                se_folds: None,
                se_rows: None,
                behind: None,
            });
        }
        for chain in &self.chains {
            for pair in chain.windows(2) {
                let is_same = cells[pair[1]].state == State::Exact
                    && self.differ_in_c_alone(pair[0], pair[1])
                    && is_saturated(&cells[pair[0]])
                    && is_copy(&cells[pair[0]], &cells[pair[1]]);
                if is_same {
                    let first = if let State::SameAs(first) = cells[pair[0]].state { first } else { pair[0] };
                    cells[pair[1]].state = State::SameAs(first);
                }
            }
        }
        let verdict = judge(metric, &shared.truth, splits, &mut cells);
        let complete = || cells.iter().filter(|cell| cell.mean.is_some() && !matches!(cell.state, State::SameAs(_)));
        let losses = Losses::of_cells(metric, &shared.truth, splits, complete());
        let honest = losses.and_then(|losses| honest(metric, &losses, self.params.seed, workers));
        let mut warnings = self.warnings(data, shared, &cells, verdict.best, workers);
        let left = match self.strategy {
            Strategy::Certain => 0,
            Strategy::Race => counts(&cells).abandoned,
            Strategy::Screen => {
                let of_sample = cells.iter().zip(&results.screened);
                of_sample.filter(|(cell, is_screened)| **is_screened && cell.state == State::Abandoned).count()
            }
        };
        if left > 0 {
            warnings.push(Warning::Raced { cells: left, by_sample: self.strategy == Strategy::Screen });
        }
        Tuned {
            metric: metric.clone(),
            grid: self.params.grid.clone(),
            splits: splits.list().len(),
            rows: data.rows(),
            best: verdict.best,
            one_se: verdict.one_se,
            not_told_apart: verdict.not_told_apart,
            honest,
            counts: counts(&cells),
            warnings,
            stop: stop.unwrap_or(Stop::Converged),
            cells,
        }
    }

    /// The parameters whose smallest or largest value the best cell has, that value, and whether it is the largest.
    pub(super) fn borders(cells: &[Cell], best: usize) -> Vec<(Knob, f64, bool)> {
        let own = &cells[best];
        // A larger C that changes nothing lies beyond no border.
        let goes_on = matches!(own.state, State::SameAs(_)) || is_saturated(own);
        let border = |&(knob, value): &(Knob, f64)| {
            let of_part = cells.iter().filter(|cell| cell.setting.part == own.setting.part);
            let values = of_part.filter_map(|cell| cell.setting.value(knob));
            let (least, most) = values.fold((value, value), |(a, b), v| (a.min(v), b.max(v)));
            let is_end = knob == Knob::C && value == most && goes_on;
            (least < most && (value == least || value == most) && !is_end).then_some((knob, value, value == most))
        };
        own.setting.values.iter().filter_map(border).collect()
    }

    /// What the user should know.
    fn warnings(
        &self,
        data: &Dataset,
        shared: &Shared<'_>,
        cells: &[Cell],
        best: Option<usize>,
        workers: &Workers,
    ) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let splits = &self.params.splits;
        let borders = best.map(|best| Search::borders(cells, best)).unwrap_or_default();
        warnings.extend(borders.into_iter().map(|(knob, value, _)| Warning::Border { knob, value }));
        if let Truth::Classes(codes, count) = &shared.truth {
            for class in 0..*count {
                let rows = codes.iter().filter(|code| **code == Some(class as u32)).count();
                if rows < splits.list().len() && splits.is_once() {
                    warnings.push(Warning::FewRows { label: shared.classes[class].text().into(), rows });
                }
            }
        }
        let is_table = self.params.grid.parts.iter().any(|part| matches!(part.kernel, KernelParams::Precomputed));
        if !is_table && data.matrix().entries() <= MOST_ENTRIES {
            let rows = copies(data, splits);
            if rows > 0 {
                warnings.push(Warning::Copies { rows });
            }
        }
        if let Some(groups) = data.groups() {
            let is_split = |split: &super::Split| {
                let kept: std::collections::HashSet<i64> = split.train.iter().map(|&row| groups[row]).collect();
                split.test.iter().any(|&row| kept.contains(&groups[row]))
            };
            if splits.list().iter().any(is_split) {
                warnings.push(Warning::Groups);
            }
        }
        if !is_table
            && self.params.training.scaling == ScalingKind::None
            && let Some((_, _, ratio)) = range_ratio(data.matrix(), workers).filter(|found| found.2 > MOST_RANGE_RATIO)
        {
            warnings.push(Warning::Unscaled { ratio });
        }
        let unfinished = cells.iter().filter(|cell| cell.state == State::Unfinished && cell.is_complete());
        let (count, gap) = unfinished.fold((0, None), |(count, worst): (usize, Option<f64>), cell| {
            (count + 1, cell.gap().map_or(worst, |gap| Some(worst.map_or(gap, |worst| worst.max(gap)))))
        });
        if count > 0 {
            warnings.push(Warning::Unfinished { cells: count, gap });
        }
        warnings
    }
}

/// Whether all cells of a job are known in its split.
fn is_known(results: &Results, job: &Job) -> bool {
    job.cells.iter().all(|&cell| results.cells[cell][job.split].is_some())
}

/// Whether no coefficient of a kernel machine is at its bound in any split, so that a larger C changes nothing.
fn is_saturated(cell: &Cell) -> bool {
    cell.is_complete() && cell.folds.iter().flatten().all(|fold| fold.bounded == 0 && fold.support > 0)
}

/// Whether all splits of two cells have the same values to the bit.
fn is_copy(one: &Cell, other: &Cell) -> bool {
    one.folds.iter().flatten().zip(other.folds.iter().flatten()).all(|(one, other)| {
        one.predicted == other.predicted && one.values == other.values && one.support == other.support
    })
}

/// What the search tries, for messages.
impl Search {
    /// Whether two cells have the same values of all parameters but C.
    pub(super) fn differ_in_c_alone(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.settings[one], &self.settings[other]);
        one.part == other.part && one.without_c().eq(other.without_c())
    }

    /// How many fits the grid and the splits come to, if nothing is shared or left out.
    pub fn fits(&self) -> usize {
        self.settings.len() * self.params.splits.list().len()
    }

    /// What was searched.
    pub fn grid(&self) -> &Grid {
        &self.params.grid
    }
}
