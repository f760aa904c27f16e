//! What more rows would bring: the scores of a cell on the held-out rows and on those it was trained on, over the number of training rows.
//!
//! Every split is trained on part of its training rows, and then on more and more of them: the rows of a smaller part are in every larger one, and
//! each class has its share. Held-out rows stay what they are. It is a search of one cell, whose splits are all parts of all splits.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::search::Search;
use super::splits::{Split, Splits};
use super::tuned::FoldResult;
use crate::control::{Control, Stop};
use crate::data::Dataset;
use crate::error::Error;
use crate::workers::Workers;

/// The shares of the training rows that a curve has a point for. More points make it smoother, and cost a fit for each split.
const SHARES: [f64; 6] = [0.1, 0.2, 0.4, 0.6, 0.8, 1.0];

/// A mean over the splits, and the standard deviation around it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one split; 0 where there is one alone.
    pub deviation: f64,
}

impl Spread {
    /// Of some numbers; `None` where there are none.
    pub(super) fn of(numbers: &[f64]) -> Option<Self> {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        (!numbers.is_empty()).then(|| Spread { mean, deviation: (squares / (count - 1.0).max(1.0)).sqrt() })
    }
}

/// The scores of trainings on some number of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct LearningPoint {
    /// How many rows a training had, the mean over the splits.
    pub rows: usize,
    /// The scores of these rows.
    pub training: Spread,
    /// The scores of the held-out rows.
    pub held_out: Spread,
}

/// A learning curve.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct LearningCurve {
    /// The place of the cell.
    pub cell: usize,
    /// From few rows to all.
    pub points: Vec<LearningPoint>,
}

impl Search {
    /// The learning curve of a cell; `None` where the control broke before it was done, or no score is defined.
    ///
    /// # Errors
    /// As [`Search::run`].
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn learning(
        &self,
        cell: usize,
        data: &Dataset,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<Option<LearningCurve>, Error> {
        let setting = &self.settings()[cell];
        let own = self.params();
        let codes = data.answers().labels().map_or_else(|| vec![0; data.rows()], |labels| labels.codes().to_vec());
        let (mut parts, mut orders) = (Vec::new(), Vec::new());
        for (number, split) in own.splits.list().iter().enumerate() {
            orders.push(order(&split.train, &codes, own.seed, number));
        }
        for share in SHARES {
            for (split, order) in own.splits.list().iter().zip(&orders) {
                let count = ((share * order.len() as f64).round() as usize).max(2).min(order.len());
                parts.push(Split { train: order[..count].to_vec(), test: split.test.clone() });
            }
        }
        let splits = Splits::given(parts, data.rows())?;
        let rows: Vec<usize> = splits.list().iter().map(|split| split.train.len()).collect();
        let of_parts = self.of_splits.iter().cycle().take(splits.list().len()).cloned().collect();
        let mut one = self.with_cell(setting, splits)?;
        if !self.of_splits.is_empty() {
            one = one.with_data_of_splits(of_parts)?;
        }
        let found = one.run(data, workers, control)?;
        if found.stop != Stop::Converged {
            return Ok(None);
        }
        let count = own.splits.list().len();
        let points = found.cells[0].folds.chunks(count).zip(rows.chunks(count)).filter_map(|(folds, rows)| {
            let of = |score: fn(&FoldResult) -> Option<f64>| {
                Spread::of(&folds.iter().flatten().filter_map(score).collect::<Vec<f64>>())
            };
            Some(LearningPoint {
                rows: rows.iter().sum::<usize>() / rows.len(),
                training: of(|fold| fold.training)?,
                held_out: of(|fold| fold.score)?,
            })
        });
        let points: Vec<LearningPoint> = points.collect();
        Ok((!points.is_empty()).then_some(LearningCurve { cell, points }))
    }
}

/// Rows in an order whose every beginning has the classes in their shares, and one row of each class at least as soon as there are as many rows.
fn order(rows: &[usize], codes: &[u32], seed: u64, split: usize) -> Vec<usize> {
    let mut shuffled = rows.to_vec();
    let mut random = Pcg64::seed_from_u64(seed.wrapping_add(split as u64));
    shuffled.shuffle(&mut random);
    let classes = rows.iter().map(|&row| codes[row] as usize + 1).max().unwrap_or(0);
    let mut sizes = vec![0usize; classes];
    rows.iter().for_each(|&row| sizes[codes[row] as usize] += 1);
    let mut seen = vec![0usize; classes];
    let mut placed: Vec<(f64, usize)> = Vec::with_capacity(rows.len());
    for row in shuffled {
        let class = codes[row] as usize;
        let rank = seen[class];
        seen[class] += 1;
        placed.push((if rank == 0 { 0.0 } else { (rank as f64 + 0.5) / sizes[class] as f64 }, row));
    }
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    placed.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Grid, Metric, SearchParams};
    use super::*;
    use crate::control::{Progress, Unattended};
    use crate::data::{embedded, generate};
    use crate::kernel::{Gamma, KernelParams};
    use crate::training::TrainingParams;
    use std::ops::ControlFlow;

    fn search(data: &Dataset, tables: bool) -> Search {
        SearchParams {
            training: TrainingParams::default(),
            grid: Grid::of(KernelParams::Rbf { gamma: Gamma::Scale }, Axis::read_all("C=1,10,gamma=0.5,2").unwrap()),
            splits: Splits::of_data(data, 4, 1, 3).unwrap(),
            metric: Metric::Accuracy,
            abandon: true,
            tables,
            seed: 3,
        }
        .check()
        .unwrap()
    }

    #[test]
    fn the_last_point_is_the_cell_itself_and_each_point_is_that_of_separate_fits() {
        let data = generate("moons", 160, 5).unwrap();
        let own = search(&data, true);
        let tuned = own.run(&data, &Workers::none(), &mut Unattended).unwrap();
        let curve = own.learning(3, &data, &Workers::none(), &mut Unattended).unwrap().unwrap();
        assert_eq!((curve.cell, curve.points.len()), (3, SHARES.len()));
        let last = curve.points.last().unwrap();
        assert!((last.held_out.mean - tuned.cells[3].mean.unwrap()).abs() < 1e-12, "{last:?}");
        assert_eq!(last.rows, 120);
        // The oracle: the rows of a part, by an ordinary fit and prediction.
        let codes = data.labels().unwrap().codes();
        for (place, share) in SHARES.into_iter().enumerate() {
            let scores: Vec<f64> = own
                .params()
                .splits
                .list()
                .iter()
                .enumerate()
                .map(|(number, split)| {
                    let order = order(&split.train, codes, 3, number);
                    let part = data.select_rows(&order[..(share * 120.0).round() as usize]);
                    let model = own.training(3).unwrap().fit(&part, &Workers::none(), &mut Unattended).unwrap();
                    let test = data.select_rows(&split.test);
                    let found = model.predict(&test, &Workers::none()).unwrap();
                    let right =
                        found.codes().iter().zip(test.labels().unwrap().codes()).filter(|(a, b)| a == b).count();
                    right as f64 / split.test.len() as f64
                })
                .collect();
            let mean = scores.iter().sum::<f64>() / 4.0;
            assert!(
                (curve.points[place].held_out.mean - mean).abs() < 0.011,
                "{place}: {mean} {:?}",
                curve.points[place]
            );
        }
        assert!(curve.points[0].held_out.mean < last.held_out.mean, "more rows bring more: {curve:?}");
    }

    #[test]
    fn every_part_has_all_classes_and_lies_in_the_next() {
        let data = embedded("iris").unwrap();
        let codes = data.labels().unwrap().codes();
        let rows: Vec<usize> = (0..150).filter(|row| row % 5 != 0).collect();
        let found = order(&rows, codes, 7, 0);
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, rows);
        assert_ne!(order(&rows, codes, 8, 0), found);
        for count in [3, 12, 60] {
            let of_class = |class: u32| found[..count].iter().filter(|&&row| codes[row] == class).count();
            assert!((0..3).all(|class| of_class(class).abs_diff(count / 3) <= 1), "{count}");
        }
    }

    #[test]
    fn a_break_leaves_no_half_curve() {
        let data = generate("moons", 160, 5).unwrap();
        let mut stop = |_: Progress| ControlFlow::Break(Stop::Interrupted);
        assert_eq!(search(&data, false).learning(0, &data, &Workers::none(), &mut stop).unwrap(), None);
    }
}
