//! Nested cross validation: what a search is worth, told by rows that neither it nor its choice has seen.
//!
//! Each outer split searches anew on its training rows, with folds of their own, trains with what that search chooses, and is scored on its held-out
//! rows. This takes a whole search for each outer split, and needs no assumption; the honest estimate of (TU.4) costs nothing, and is what it
//! approximates.
//!
//! **References.** Varma, Simon, Bias in error estimation when using cross-validation for model selection, BMC Bioinformatics 7, 2006.

use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::grid::{Axis, Grid, Setting, kernel_name};
use super::search::{Search, SearchParams};
use super::splits::Splits;
use super::tuned::Choose;
use crate::control::{Control, Progress, Stop};
use crate::data::Dataset;
use crate::error::Error;
use crate::workers::Workers;

/// What one outer split says.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct NestedSplit {
    /// The kernel that the search on its training rows chose.
    pub kernel: String,
    /// The parameters that it chose, by their names.
    pub params: BTreeMap<String, f64>,
    /// The score that the search found for them.
    pub searched: Option<f64>,
    /// The score of the held-out rows, which the search has not seen; `None` where it is not defined.
    pub score: Option<f64>,
}

/// What a search is worth.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Nested {
    /// The mean score of the outer splits.
    pub mean: f64,
    /// Its standard error over the outer splits; `None` of one split alone.
    pub se: Option<f64>,
    /// What each outer split says.
    pub splits: Vec<NestedSplit>,
}

impl Nested {
    /// How many different choices the searches have made.
    pub fn choices(&self) -> usize {
        let mut seen: Vec<(&str, &BTreeMap<String, f64>)> = Vec::new();
        for split in &self.splits {
            let own = (&*split.kernel, &split.params);
            if !seen.contains(&own) {
                seen.push(own);
            }
        }
        seen.len()
    }
}

/// What an outer split is searched with.
#[derive(Clone, Debug)]
pub struct NestedPart {
    /// Its training rows.
    pub rows: Dataset,
    /// The search on them.
    pub search: Search,
    /// All rows of the data as the training rows say that they are to be read; `None` where they are read the same way for every split.
    pub all: Option<Dataset>,
}

/// Searches once for each outer split. `part_of` makes the search of some rows of the data. `None` where the control broke.
///
/// # Errors
/// As `part_of` and [`Search::run`]; when no score is defined; and when `part_of` makes a search that has no cell to choose.
pub fn nested(
    outer: &Splits,
    data: &Dataset,
    choose: Choose,
    part_of: &mut dyn FnMut(&[usize]) -> Result<NestedPart, Error>,
    workers: &Workers,
    control: &mut dyn Control,
) -> Result<Option<Nested>, Error> {
    let count = outer.list().len();
    let mut splits = Vec::with_capacity(count);
    for (number, split) in outer.list().iter().enumerate() {
        let mut counted = |progress: Progress| {
            let (done, of) = progress.machine;
            control.poll(Progress { machine: (number * of + done, count * of), ..progress })
        };
        let NestedPart { rows, search: inner, all } = part_of(&split.train)?;
        let found = inner.run(&rows, workers, &mut counted)?;
        if found.stop != Stop::Converged {
            return Ok(None);
        }
        let Some(cell) = found.chosen(choose) else { return Err(undefined()) };
        let splits_of_one = Splits::given(vec![split.clone()], data.rows())?;
        let mut judge = inner.with_cell(&cell.setting, splits_of_one)?;
        if let Some(all) = all {
            judge = judge.with_data_of_splits(vec![all])?;
        }
        let judged = judge.run(data, workers, &mut counted)?;
        if judged.stop != Stop::Converged {
            return Ok(None);
        }
        splits.push(NestedSplit {
            kernel: inner.grid().parts.get(cell.setting.part).map_or("", |part| kernel_name(&part.kernel)).into(),
            params: cell.setting.values.iter().map(|(knob, value)| (knob.name().into(), *value)).collect(),
            searched: cell.mean,
            score: judged.cells[0].folds[0].as_ref().and_then(|fold| fold.score),
        });
    }
    let scores: Vec<f64> = splits.iter().filter_map(|split| split.score).collect();
    if scores.is_empty() {
        return Err(undefined());
    }
    let all = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / all;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    Ok(Some(Nested { mean, se: (scores.len() > 1).then(|| (squares / (all - 1.0) / all).sqrt()), splits }))
}

fn undefined() -> Error {
    Error::Data {
        what: "the score is not defined in any outer split".into(),
        help: "choose another metric, or fewer folds".into(),
    }
}

impl Search {
    /// The search of one cell with other splits.
    ///
    /// # Errors
    /// When the cell's parameters do not go together, which those of a search do.
    pub(super) fn with_cell(&self, setting: &Setting, splits: Splits) -> Result<Search, Error> {
        let own = self.params();
        let axes = setting.values.iter().map(|&(knob, value)| Axis { knob, values: vec![value] }).collect();
        let part = super::grid::GridPart { axes, ..own.grid.parts[setting.part].clone() };
        SearchParams { grid: Grid { parts: vec![part] }, splits, abandon: false, ..own.clone() }.check()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::super::{Metric, Split};
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Label, Labels, Matrix, generate};
    use crate::kernel::{Gamma, KernelParams};
    use crate::training::TrainingParams;

    fn search(data: &Dataset) -> Result<Search, Error> {
        SearchParams {
            training: TrainingParams::default(),
            grid: Grid::of(KernelParams::Rbf { gamma: Gamma::Scale }, Axis::read_all("C=0.1:1000:5,gamma=0.1:30:5")?),
            splits: Splits::of_data(data, 4, 1, 1)?,
            metric: Metric::Accuracy,
            abandon: true,
            tables: true,
            seed: 1,
        }
        .check()
    }

    fn run(data: &Dataset) -> Nested {
        let outer = Splits::of_data(data, 4, 1, 9).unwrap();
        let mut part_of = |rows: &[usize]| {
            let rows = data.select_rows(rows);
            Ok(NestedPart { search: search(&rows)?, rows, all: None })
        };
        nested(&outer, data, Choose::Best, &mut part_of, &Workers::none(), &mut Unattended).unwrap().unwrap()
    }

    /// Rows whose labels have nothing to do with them.
    fn noise(seed: u64) -> Dataset {
        let mut random = Pcg64::seed_from_u64(seed);
        let numbers: Vec<f64> = (0..80 * 3).map(|_| random.random_range(-1.0..1.0)).collect();
        let labels = Labels::new((0..80).map(|_| Label::new(if random.random_bool(0.5) { "a" } else { "b" })));
        Dataset::new(Matrix::dense(80, 3, numbers).unwrap(), labels).unwrap()
    }

    #[test]
    fn a_search_on_noise_is_worth_nothing_though_its_best_score_says_otherwise() {
        let (mut outer, mut inner) = (0.0, 0.0);
        for seed in 0..8 {
            let found = run(&noise(seed));
            outer += found.mean / 8.0;
            inner += found.splits.iter().filter_map(|split| split.searched).sum::<f64>() / 32.0;
        }
        assert!((outer - 0.5).abs() < 0.06, "{outer}");
        // The negative control: the scores that the choices were made by.
        assert!(inner > outer + 0.04, "{inner} {outer}");
    }

    #[test]
    fn a_split_is_that_of_a_search_and_a_fit_by_hand() {
        let data = generate("moons", 120, 2).unwrap();
        let found = run(&data);
        let outer = Splits::of_data(&data, 4, 1, 9).unwrap();
        for (own, Split { train, test }) in found.splits.iter().zip(outer.list()) {
            let part = data.select_rows(train);
            let inner = search(&part).unwrap();
            let tuned = inner.run(&part, &Workers::none(), &mut Unattended).unwrap();
            let best = tuned.best.unwrap();
            let model = inner.training(best).unwrap().fit(&part, &Workers::none(), &mut Unattended).unwrap();
            let rest = data.select_rows(test);
            let said = model.predict(&rest, &Workers::none()).unwrap();
            let right = said.codes().iter().zip(rest.labels().unwrap().codes()).filter(|(a, b)| a == b).count();
            assert!((own.score.unwrap() - right as f64 / test.len() as f64).abs() < 1e-12, "{own:?}");
            let of_best = tuned.cells[best].setting.values.iter();
            assert!(
                of_best.clone().count() == 2 && of_best.clone().all(|(knob, value)| own.params[knob.name()] == *value)
            );
        }
    }
}
