//! What came out of a search, and which cell is to be taken.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::grid::{Grid, Knob, Setting};
use super::honest::Honest;
use super::scores::Metric;
use crate::control::Stop;

/// What one fold says of one cell.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct FoldResult {
    /// The score of the held-out rows; `None` where it is not defined.
    pub score: Option<f64>,
    /// The score of the training rows, where it was computed.
    pub training: Option<f64>,
    /// Support vectors.
    pub support: usize,
    /// Support vectors at their bound, over all machines.
    pub bounded: usize,
    /// 1/‖w‖, the least of the machines; `None` where w is 0 or the margin is not known.
    pub margin: Option<f64>,
    /// The largest relative duality gap of a machine; `None` where a machine has no certificate.
    pub gap: Option<f64>,
    /// Steps of the solver.
    pub steps: u64,
    /// The worst end of a machine.
    pub stop: Stop,
    /// The number of the class, or the number, that is predicted for each held-out row.
    pub predicted: Vec<f64>,
    /// The decision value of each held-out row, where there is one machine; else empty.
    pub values: Vec<f64>,
}

/// How a cell came to its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Every fold was solved to the tolerance.
    Exact,
    /// In every fold the solution is that of this cell of smaller C: no coefficient was at its bound.
    SameAs(usize),
    /// Broken off after some folds, because it could neither win nor be chosen any more.
    Abandoned,
    /// A fold was not solved to the tolerance, or not at all.
    Unfinished,
}

impl State {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            State::Exact => "exact",
            State::SameAs(_) => "same",
            State::Abandoned => "abandoned",
            State::Unfinished => "unfinished",
        }
    }
}

/// A cell of the grid. A heat map shows `mean` over the setting's values, hatched where the state is `Abandoned` and dotted where it is
/// `SameAs`; curves over C show `mean`, `se_rows`, [`Cell::training`], [`Cell::support`] and [`Cell::margin`].
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its parameters.
    pub setting: Setting,
    /// How it came to its numbers.
    pub state: State,
    /// What each split says; `None` for a split that was not done.
    pub folds: Vec<Option<FoldResult>>,
    /// The mean score of all splits; `None` unless all are done.
    pub mean: Option<f64>,
    /// The standard error of the mean over the splits.
    pub se_folds: Option<f64>,
    /// The standard error of the mean over the rows, (TU.5), where the score is a mean over rows.
    pub se_rows: Option<f64>,
    /// How far it is behind the best, at least 0, and the standard error of that difference, (TU.6).
    pub behind: Option<(f64, f64)>,
}

impl Cell {
    /// The mean over the splits that are done; `None` where none is, or one does not say.
    fn mean_of(&self, of: impl Fn(&FoldResult) -> Option<f64>) -> Option<f64> {
        let found: Option<Vec<f64>> = self.folds.iter().flatten().map(of).collect();
        let found = found.filter(|found| !found.is_empty())?;
        Some(found.iter().sum::<f64>() / found.len() as f64)
    }

    /// Whether all splits are done.
    pub fn is_complete(&self) -> bool {
        self.folds.iter().all(Option::is_some)
    }

    /// The mean score of the training rows.
    pub fn training(&self) -> Option<f64> {
        self.mean_of(|fold| fold.training)
    }

    /// Support vectors, the mean over the splits.
    pub fn support(&self) -> Option<f64> {
        self.mean_of(|fold| Some(fold.support as f64))
    }

    /// Support vectors at their bound, the mean over the splits.
    pub fn bounded(&self) -> Option<f64> {
        self.mean_of(|fold| Some(fold.bounded as f64))
    }

    /// 1/‖w‖, the mean over the splits.
    pub fn margin(&self) -> Option<f64> {
        self.mean_of(|fold| fold.margin)
    }

    /// The largest relative duality gap of a split.
    pub fn gap(&self) -> Option<f64> {
        let gaps: Option<Vec<f64>> = self.folds.iter().flatten().map(|fold| fold.gap).collect();
        gaps?.into_iter().reduce(f64::max)
    }

    /// Steps of the solver in all splits.
    pub fn steps(&self) -> u64 {
        self.folds.iter().flatten().map(|fold| fold.steps).sum()
    }
}

/// What the user should know of a search. The text is a whole sentence without its full stop; `help` is the way out.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The best cell has the smallest or the largest value of a parameter.
    Border {
        /// The parameter.
        knob: Knob,
        /// Its value in the best cell.
        value: f64,
    },
    /// The best cell lay on the border of a range that the data suggested, so the range was extended.
    Extended {
        /// The parameter.
        knob: Knob,
        /// The value that it goes to now.
        to: f64,
    },
    /// Cells were left because they are likely worse than the best.
    Raced {
        /// How many.
        cells: usize,
        /// Whether a sample of the rows said so, or some of the splits.
        by_sample: bool,
    },
    /// A class has fewer rows than there are splits.
    FewRows {
        /// The label.
        label: String,
        /// How many rows.
        rows: usize,
    },
    /// Rows that are the same are trained on and held out in one split.
    Copies {
        /// How many held-out rows have such a copy in their first split.
        rows: usize,
    },
    /// The data has group numbers, and groups are split.
    Groups,
    /// Columns differ much in size, and are not scaled.
    Unscaled {
        /// How many times larger the largest range is than the smallest.
        ratio: f64,
    },
    /// Cells were not solved to the tolerance.
    Unfinished {
        /// How many.
        cells: usize,
        /// The largest relative gap of one that is known.
        gap: Option<f64>,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Border { knob, value } => {
                write!(formatter, "the best cell lies on the border of the grid: {} is {value}", knob.name())
            }
            Warning::Extended { knob, to } => {
                write!(
                    formatter,
                    "the best cell lay on the border of the grid, which was extended: {} goes to {}",
                    knob.name(),
                    three_digits(*to)
                )
            }
            Warning::Raced { cells, by_sample } => {
                let by = if *by_sample { "on a sample of the rows" } else { "after some of the splits" };
                write!(formatter, "{cells} cells were left because they are likely worse than the best {by}")
            }
            Warning::FewRows { label, rows } => {
                write!(
                    formatter,
                    "the class {} has {rows} rows, fewer than there are splits",
                    crate::error::quoted(label)
                )
            }
            Warning::Copies { rows } => {
                write!(
                    formatter,
                    "{rows} held-out rows have a copy among the rows that are trained on, which makes scores too good"
                )
            }
            Warning::Groups => {
                formatter.write_str("the data has groups, and rows of one group are on both sides of a split")
            }
            Warning::Unscaled { ratio } => {
                write!(
                    formatter,
                    "the ranges of the columns differ by a factor of {ratio:.0}, and the columns are not scaled"
                )
            }
            Warning::Unfinished { cells, gap: Some(gap) } => {
                write!(
                    formatter,
                    "{cells} cells were not solved to the tolerance, the worst to a gap of {:.1} %",
                    100.0 * gap
                )
            }
            Warning::Unfinished { cells, gap: None } => {
                write!(formatter, "{cells} cells were not solved to the tolerance")
            }
        }
    }
}

/// A number with three digits, for words.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl Warning {
    /// The way out.
    pub fn help(&self) -> &'static str {
        match self {
            Warning::Border { .. } => "extend the range of this parameter, and search again",
            Warning::Extended { .. } => "name the range to keep the search within it",
            Warning::Raced { .. } => "search the whole grid to be certain of the choice",
            Warning::FewRows { .. } => "choose fewer folds, or give more rows of this class",
            Warning::Copies { .. } => "leave copies out, or give rows of one origin the same group",
            Warning::Groups => "give the groups to the search, so that each stays on one side",
            Warning::Unscaled { .. } => "scale the columns (standard or minmax)",
            Warning::Unfinished { .. } => "scale the columns, leave the largest C out, or give more time",
        }
    }
}

/// How many cells came to their numbers in which way, over all splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Solved.
    pub exact: usize,
    /// Copied from a smaller C.
    pub same: usize,
    /// Abandoned.
    pub abandoned: usize,
    /// Not solved to the tolerance.
    pub unfinished: usize,
}

/// Which cell is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choose {
    /// The best mean score.
    #[default]
    Best,
    /// The fewest support vectors among cells that are behind the best by one standard error at most.
    OneSe,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What was made as good as it can be.
    pub metric: Metric,
    /// What was tried.
    pub grid: Grid,
    /// The cells, chain after chain; in a chain C ascends.
    pub cells: Vec<Cell>,
    /// How many splits each cell has.
    pub splits: usize,
    /// How many rows the data has.
    pub rows: usize,
    /// The cell with the best mean score. Where the search was broken off before a cell was complete, the best of those with the most splits; `None`
    /// where there is none.
    pub best: Option<usize>,
    /// The one-SE choice: the fewest support vectors among cells that are behind the best by one standard error of the difference at most.
    pub one_se: Option<usize>,
    /// The cells whose difference to the best is at most 1.96 of its standard errors, the best among them.
    pub not_told_apart: Vec<usize>,
    /// What the model that such a search chooses is worth on new rows; `None` for scores that are no mean over rows.
    pub honest: Option<Honest>,
    /// How many cells came to their numbers in which way.
    pub counts: Counts,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// Why the search ended: `Converged` where it is done, else the reason of the break.
    pub stop: Stop,
}

impl Tuned {
    /// The place of the cell that is taken.
    pub fn place(&self, choose: Choose) -> Option<usize> {
        match choose {
            Choose::Best => self.best,
            Choose::OneSe => self.one_se,
        }
    }

    /// The cell that is taken.
    pub fn chosen(&self, choose: Choose) -> Option<&Cell> {
        self.cells.get(self.place(choose)?)
    }

    /// The different values of a parameter in a part of the grid, ascending: the axes of a heat map.
    pub fn values(&self, part: usize, knob: Knob) -> Vec<f64> {
        let of_part = self.cells.iter().filter(|cell| cell.setting.part == part);
        let mut values: Vec<f64> = of_part.filter_map(|cell| cell.setting.value(knob)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }
}
