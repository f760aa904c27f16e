//! From what the folds say to what is taken: means, standard errors, differences to the best cell, and the choices.
//!
//! Let row i be held out in the splits f of S_i, each with n_f held-out rows of k splits. A score that is a mean over rows has
//!
//! ```text
//! l_i = Σ_{f ∈ S_i} loss_f(i)/(k n_f),   mean loss = Σ l_i,   SE² = Σ (l_i − n_i mean)²,   n_i = Σ_{f ∈ S_i} 1/(k n_f)      (TU.5)
//! d = Σ δ_i,   SE_d² = Σ δ_i²,   δ_i = l_i − l_i of the best cell                                                     (TU.6)
//! ```
//!
//! Differences are paired row by row, because what is hard for one cell is hard for the others. SE_d is about 0, not about d, so that it has a
//! bound before all splits are done (`race.rs`). For other scores the differences of the splits take the place of those of the rows.

use super::scores::{Metric, RowTruth};
use super::splits::Splits;
use super::tuned::{Cell, Counts, State};
use crate::data::Dataset;

/// Standard errors up to which a cell is not told apart from the best.
pub(super) const NOT_TOLD_APART: f64 = 1.96;

/// What is true of the rows.
#[derive(Clone, Debug)]
pub(super) enum Truth {
    /// The class of each row, `None` where it is not one of the classes, and how many classes there are.
    Classes(Vec<Option<u32>>, usize),
    /// The number of each row.
    Numbers(Vec<f64>),
}

impl Truth {
    pub(super) fn of_row(&self, row: usize) -> RowTruth {
        match self {
            // A class that nobody knows is never predicted.
            Truth::Classes(codes, _) => RowTruth::Class(codes[row].unwrap_or(u32::MAX)),
            Truth::Numbers(numbers) => RowTruth::Number(numbers[row]),
        }
    }
}

/// What each cell costs on each row, the mean over the splits that hold the row out.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// Cell after cell.
    all: Vec<f32>,
    rows: usize,
    /// The number of each row, for R².
    numbers: Option<Vec<f64>>,
}

impl Losses {
    #[cfg(test)]
    pub(super) fn of(all: Vec<f32>, rows: usize, numbers: Option<Vec<f64>>) -> Self {
        Losses { all, rows, numbers }
    }

    /// The losses of these cells, on the rows that are held out at all; `None` for scores that are no mean over rows.
    pub(super) fn of_cells<'c>(
        metric: &Metric,
        truth: &Truth,
        splits: &Splits,
        cells: impl Iterator<Item = &'c Cell>,
    ) -> Option<Self> {
        let mut times = vec![0.0; splits.rows()];
        splits.list().iter().flat_map(|split| &split.test).for_each(|&row| times[row] += 1.0);
        let held: Vec<usize> = (0..splits.rows()).filter(|&row| times[row] > 0.0).collect();
        let mut all = Vec::new();
        for cell in cells {
            let mut sums = vec![0.0; splits.rows()];
            for (split, fold) in splits.list().iter().zip(&cell.folds) {
                for (&row, &predicted) in split.test.iter().zip(&fold.as_ref()?.predicted) {
                    sums[row] += metric.loss_of_row(truth.of_row(row), predicted)? / times[row];
                }
            }
            all.extend(held.iter().map(|&row| sums[row] as f32));
        }
        let numbers = match (metric, truth) {
            (Metric::RSquared, Truth::Numbers(numbers)) => Some(held.iter().map(|&row| numbers[row]).collect()),
            _ => None,
        };
        Some(Losses { all, rows: held.len(), numbers })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn cells(&self) -> usize {
        self.all.len() / self.rows.max(1)
    }

    pub(super) fn of_cell(&self, cell: usize) -> &[f32] {
        &self.all[cell * self.rows..(cell + 1) * self.rows]
    }

    /// The score of some rows from their mean loss; `None` where it is not defined.
    pub(super) fn score_of(&self, metric: &Metric, mean: f64, rows: &[usize]) -> Option<f64> {
        match (metric, &self.numbers) {
            (Metric::RSquared, Some(numbers)) => {
                let centre = rows.iter().map(|&row| numbers[row]).sum::<f64>() / rows.len() as f64;
                let spread = rows.iter().map(|&row| (numbers[row] - centre).powi(2)).sum::<f64>() / rows.len() as f64;
                (spread > 0.0).then(|| 1.0 - mean / spread) // (ME.2)
            }
            (Metric::RSquared, None) => None,
            (Metric::Accuracy, _) => Some(1.0 - mean),
            _ => Some(mean),
        }
    }
}

/// l_i of (TU.5) for the rows, where all splits are done and the score is one less a mean over rows, or such a mean.
fn losses_of_rows(metric: &Metric, truth: &Truth, splits: &Splits, cell: &Cell) -> Option<Vec<f64>> {
    if matches!(metric, Metric::RSquared) {
        return None;
    }
    let mut losses = vec![0.0; splits.rows()];
    for (split, fold) in splits.list().iter().zip(&cell.folds) {
        let share = 1.0 / (splits.list().len() * split.test.len()) as f64;
        for (&row, &predicted) in split.test.iter().zip(&fold.as_ref()?.predicted) {
            losses[row] += share * metric.loss_of_row(truth.of_row(row), predicted)?;
        }
    }
    Some(losses)
}

/// Mean, and its standard error over the splits.
fn of_folds(scores: &[f64]) -> (f64, Option<f64>) {
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    (mean, (scores.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()))
}

/// Which cells are best, and which are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    pub(super) best: Option<usize>,
    pub(super) one_se: Option<usize>,
    pub(super) not_told_apart: Vec<usize>,
}

/// Fills in means, standard errors and differences of the cells, and chooses.
pub(super) fn judge(metric: &Metric, truth: &Truth, splits: &Splits, cells: &mut [Cell]) -> Verdict {
    for cell in cells.iter_mut() {
        let scores: Option<Vec<f64>> = cell.folds.iter().map(|fold| fold.as_ref()?.score).collect();
        let Some(scores) = scores else { continue };
        let (mean, se) = of_folds(&scores);
        (cell.mean, cell.se_folds) = (Some(mean), se);
        let Some(losses) = losses_of_rows(metric, truth, splits, cell) else { continue };
        let (total, mut square) = (losses.iter().sum::<f64>(), vec![0.0; splits.rows()]);
        for split in splits.list() {
            let share = 1.0 / (splits.list().len() * split.test.len()) as f64;
            split.test.iter().for_each(|&row| square[row] += share);
        }
        let term = |(loss, share): (&f64, &f64)| (loss - share * total).powi(2); // (TU.5)
        cell.se_rows = Some(losses.iter().zip(&square).map(term).sum::<f64>().sqrt());
    }
    // Larger is better from here on.
    let sign = if metric.is_loss() { -1.0 } else { 1.0 };
    let support = |cell: &Cell| cell.support().unwrap_or(f64::INFINITY);
    let mut best: Option<usize> = None;
    for place in 0..cells.len() {
        let Some(mean) = cells[place].mean else { continue };
        let is_better = best.is_none_or(|best| {
            let other = &cells[best];
            let difference = sign * (mean - other.mean.unwrap_or(f64::NAN));
            difference > 0.0 || difference == 0.0 && support(&cells[place]) < support(other)
        });
        if is_better {
            best = Some(place);
        }
    }
    let Some(best) = best else { return Verdict { best: best_so_far(sign, cells), ..Verdict::default() } };
    let own = losses_of_rows(metric, truth, splits, &cells[best]);
    let winner: Vec<f64> = cells[best].folds.iter().flatten().filter_map(|fold| fold.score).collect();
    for place in 0..cells.len() {
        let cell = &cells[place];
        let Some(mean) = cell.mean else { continue };
        let behind = (sign * (cells[best].mean.unwrap_or(mean) - mean)).max(0.0);
        let losses = if own.is_some() { losses_of_rows(metric, truth, splits, cell) } else { None };
        let se = match (losses, &own) {
            (Some(losses), Some(own)) => {
                losses.iter().zip(own).map(|(loss, own)| (loss - own).powi(2)).sum::<f64>().sqrt() // (TU.6)
            }
            _ => {
                let scores = cell.folds.iter().flatten().filter_map(|fold| fold.score);
                of_folds(&scores.zip(&winner).map(|(score, own)| score - own).collect::<Vec<_>>()).1.unwrap_or(0.0)
            }
        };
        cells[place].behind = Some((behind, se));
    }
    let within =
        |place: usize, errors: f64| cells[place].behind.is_some_and(|(d, se)| d <= errors * se) || place == best;
    let mut one_se = best;
    for place in (0..cells.len()).filter(|&place| within(place, 1.0)) {
        let (found, taken) = (support(&cells[place]), support(&cells[one_se]));
        let behind = |place: usize| cells[place].behind.map_or(f64::INFINITY, |(d, _)| d);
        if found < taken || found == taken && behind(place) < behind(one_se) {
            one_se = place;
        }
    }
    let not_told_apart = (0..cells.len()).filter(|&place| within(place, NOT_TOLD_APART)).collect();
    Verdict { best: Some(best), one_se: Some(one_se), not_told_apart }
}

/// Where no cell is done: the best mean of those with the most splits. `None` where no split is done.
fn best_so_far(sign: f64, cells: &[Cell]) -> Option<usize> {
    let key = |place: &usize| {
        let scores: Vec<f64> = cells[*place].folds.iter().flatten().filter_map(|fold| fold.score).collect();
        (!scores.is_empty()).then(|| (scores.len(), sign * scores.iter().sum::<f64>() / scores.len() as f64))
    };
    let better = |best: Option<usize>, place: usize| match (best.and_then(|best| key(&best)), key(&place)) {
        (Some(own), Some(other)) if other > own => Some(place),
        (None, Some(_)) => Some(place),
        _ => best,
    };
    (0..cells.len()).fold(None, better)
}

/// How many cells came to their numbers in which way.
pub(super) fn counts(cells: &[Cell]) -> Counts {
    let count = |of: fn(State) -> bool| cells.iter().filter(|cell| of(cell.state)).count();
    Counts {
        exact: count(|state| state == State::Exact),
        same: count(|state| matches!(state, State::SameAs(_))),
        abandoned: count(|state| state == State::Abandoned),
        unfinished: count(|state| state == State::Unfinished),
    }
}

/// How many held-out rows of the first split that holds them out have a copy among the rows that it trains on.
pub(super) fn copies(data: &Dataset, splits: &Splits) -> usize {
    let mut groups: std::collections::HashMap<Vec<(usize, u64)>, Vec<usize>> = std::collections::HashMap::new();
    for row in 0..data.rows() {
        let mut key = Vec::new();
        data.matrix().visit(row, |column, value| {
            if value != 0.0 {
                key.push((column, value.to_bits()));
            }
        });
        groups.entry(key).or_default().push(row);
    }
    let mut copies: Vec<&[usize]> = vec![&[]; data.rows()];
    groups.values().filter(|rows| rows.len() > 1).for_each(|rows| rows.iter().for_each(|&row| copies[row] = rows));
    let (mut seen, mut count) = (vec![false; data.rows()], 0);
    for split in splits.list() {
        for &row in &split.test {
            if !std::mem::replace(&mut seen[row], true)
                && copies[row].iter().any(|other| split.train.binary_search(other).is_ok())
            {
                count += 1;
            }
        }
    }
    count
}
