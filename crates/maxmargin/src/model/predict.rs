//! Decision values and labels for new rows.

use std::ops::Range;
use std::sync::Arc;

use pulp::Arch;

use super::{Aligned, Machine, Model, NewRows};
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::data::{Label, Labels};
use crate::error::Error;
use crate::kernel::{Expansion, Kernel, Points, SumVisitor, VISIT_LANES};
use crate::recipe::{Pairing, best_in_order, decide};
use crate::simd::vectorised;
use crate::workers::Workers;

/// Rows that one thread multiplies with weights at a time.
const ROWS_A_CHUNK: usize = 64;

/// Entries times machines of a linear model from which on threads are woken.
const WORTH_A_THREAD: usize = 100_000;

/// Decision values that are kept at a time when classes alone are asked for: 64 MB.
const VALUES_AT_A_TIME: usize = 1 << 23;

/// Pairs of classes from which on their votes are counted one by one, without a list of decision values.
const MANY_MACHINES: usize = 1000;

/// What a model says of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    machines: usize,
    values: Vec<f64>,
    codes: Vec<u32>,
    /// The model's classes, for the labels.
    classes: Arc<[Label]>,
    note: Option<String>,
}

impl Predictions {
    /// For each row the place of its class among the model's classes; nothing for a regression.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The label of each row; none for a regression.
    pub fn labels(&self) -> Labels {
        Labels::from_codes(&self.classes, &self.codes).unwrap_or_else(|| Labels::new([]))
    }

    /// The label of a row.
    ///
    /// # Panics
    /// When `row` is out of range, or for a regression.
    pub fn label(&self, row: usize) -> &Label {
        &self.classes[self.codes[row] as usize]
    }

    /// The decision values of a row, one a machine.
    ///
    /// # Panics
    /// When `row` is out of range, or classes alone were asked for ([`Model::predict_classes`]).
    pub fn decision_values(&self, row: usize) -> &[f64] {
        &self.values[row * self.machines..(row + 1) * self.machines]
    }

    /// The first decision value of each row: what a regression predicts.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = f64> {
        self.values.chunks(self.machines).map(|values| values[0])
    }

    /// What the user should know of the data, if anything.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

impl Model {
    /// Predicts rows: a data set with columns of its own ([`Model::align`]), or a matrix in the model's.
    ///
    /// # Errors
    /// As [`Model::align`].
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::embedded;
    /// use maxmargin::metrics::accuracy;
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let (iris, workers) = (embedded("iris").unwrap(), Workers::none());
    /// let model = TrainingParams::default().check()?.fit(&iris, &workers, &mut Unattended)?;
    /// let predictions = model.predict(iris.matrix(), &workers)?;
    /// assert_eq!(predictions.label(0).text(), "setosa");
    /// assert!(accuracy(iris.labels()?, &predictions.labels())? > 0.95);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn predict<'a>(&self, rows: impl Into<NewRows<'a>>, workers: &Workers) -> Result<Predictions, Error> {
        Ok(self.predict_aligned(self.align_by(rows, workers)?, workers))
    }

    /// Predicts data in the model's own columns.
    pub fn predict_aligned(&self, aligned: Aligned, workers: &Workers) -> Predictions {
        let values = self.decision_values(&aligned.points, workers);
        let machines = self.machines().len();
        let pairings: Vec<Pairing> = self.machines().iter().map(|machine| machine.pairing).collect();
        let mut score = vec![0.0; self.classes().len()];
        let order: Vec<usize> = (0..self.classes().len()).collect();
        let codes = match self.task().is_regression() {
            true => Vec::new(),
            false => values.chunks(machines).map(|row| decide(&pairings, row, &mut score, &order)).collect(),
        };
        Predictions { machines, values, codes, classes: self.classes().into(), note: aligned.note }
    }

    /// Predicts the classes of data in the model's own columns, and keeps no decision values: those of many machines are far larger than the
    /// data. A regression is predicted as by [`Model::predict_aligned`].
    pub fn predict_classes(&self, aligned: Aligned, workers: &Workers) -> Predictions {
        if self.task().is_regression() {
            return self.predict_aligned(aligned, workers);
        }
        let order: Vec<usize> = (0..self.classes().len()).collect();
        let codes = self.winners(&aligned.points, &order, workers);
        let classes = self.classes().into();
        Predictions { machines: self.machines().len(), values: Vec::new(), codes, classes, note: aligned.note }
    }

    /// For each row the place of its class among the model's classes; of those that tie the first in `order`, which has all of them.
    ///
    /// Memory: decision values of some rows at a time.
    ///
    /// # Panics
    /// For a regression, which has no classes.
    pub fn winners(&self, points: &Points, order: &[usize], workers: &Workers) -> Vec<u32> {
        let by_votes = if self.parts.recipe.kernel.is_linear() {
            self.winners_by_weights(points, order, workers)
        } else {
            self.winners_by_votes(points, order, workers)
        };
        if let Some(codes) = by_votes {
            return codes;
        }
        let machines = self.machines().len();
        let pairings: Vec<Pairing> = self.machines().iter().map(|machine| machine.pairing).collect();
        let rows_at_a_time = (VALUES_AT_A_TIME / machines.max(1)).max(1);
        let mut codes = Vec::with_capacity(points.len());
        for first in (0..points.len()).step_by(rows_at_a_time) {
            let rows = first..points.len().min(first + rows_at_a_time);
            let values = self.decision_values_of(points, rows.clone(), workers);
            let found = workers.map_chunks(rows.len(), ROWS_A_CHUNK, |some| {
                let mut score = vec![0.0; self.classes().len()];
                let of = |row: usize| decide(&pairings, &values[row * machines..][..machines], &mut score, order);
                some.map(of).collect::<Vec<u32>>()
            });
            found.into_iter().for_each(|found| codes.extend(found));
        }
        codes
    }

    /// [`Model::winners`] of many pairs of classes: votes are counted as soon as a decision value is known. `None` where that is no gain.
    fn winners_by_votes(&self, points: &Points, order: &[usize], workers: &Workers) -> Option<Vec<u32>> {
        let (parts, pairs) = (&self.parts, self.many_pairs()?);
        let expansion = self.expansion.get_or_init(|| self.expansion_by_class());
        if !expansion.is_visitable(&parts.recipe.kernel) {
            return None;
        }
        let all: Vec<usize> = (0..points.len()).collect();
        let votes = Votes { pairs, order, arch: Arch::new() };
        Some(expansion.visit_sums(&parts.recipe.kernel, points.rows(&all), &self.points, workers, &votes))
    }

    /// The positive class, the negative one and b of each machine; `None` unless the machines are for pairs of classes, and many.
    fn many_pairs(&self) -> Option<Vec<(usize, usize, f64)>> {
        if self.parts.network.is_some() || self.machines().len() < MANY_MACHINES {
            return None;
        }
        let pair = |machine: &Machine| Some((machine.pairing.positive, machine.pairing.negative?, machine.bias));
        self.machines().iter().map(pair).collect()
    }

    /// [`Model::winners`] of many pairs of classes whose machines are linear: votes are counted as soon as a decision value is known. `None` where
    /// that is no gain. The decision values are those of [`Model::decision_values`] to the bit.
    ///
    /// Memory: the weights once more, and votes of some rows a thread.
    fn winners_by_weights(&self, points: &Points, order: &[usize], workers: &Workers) -> Option<Vec<u32>> {
        let (columns, machines) = (self.parts.columns, self.machines());
        let pairs = self.many_pairs().filter(|_| columns > 0)?;
        let mut weights = vec![[0.0; LANES]; columns * machines.len().div_ceil(LANES)];
        workers.fill_chunks(&mut weights, columns * ROWS_A_CHUNK, |start, lines| {
            let of_groups = machines[start / columns * LANES..].chunks(LANES);
            for (lines, machines) in lines.chunks_mut(columns).zip(of_groups) {
                for (lane, machine) in machines.iter().enumerate() {
                    lines.iter_mut().zip(machine.weights.iter().flatten()).for_each(|(line, &own)| line[lane] = own);
                }
            }
        });
        let (arch, classes) = (Arch::new(), order.len());
        let found = workers.map_chunks(points.len(), ROWS_A_CHUNK, |some| {
            let mut votes = vec![0u32; some.len() * classes];
            on_stored_rows!(points.matrix(), rows => vectorised(
                arch,
                #[inline(always)]
                || {
                    for (weights, pairs) in weights.chunks(columns).zip(pairs.chunks(LANES)) {
                        for (k, votes) in votes.chunks_mut(classes).enumerate() {
                            let products = rows.dot_lanes(some.start + k, weights);
                            for (product, &(positive, negative, bias)) in products.into_iter().zip(pairs) {
                                // (M.1); a decision value of exactly 0 is negative.
                                votes[if product + bias > 0.0 { positive } else { negative }] += 1;
                            }
                        }
                    }
                },
            ));
            let winner = |votes: &[u32]| best_in_order(order, |class| f64::from(votes[class]));
            votes.chunks(classes).map(winner).collect::<Vec<u32>>()
        });
        Some(found.concat())
    }

    /// The label of a class by its place.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn label(&self, code: u32) -> &Label {
        &self.classes()[code as usize]
    }

    /// Decision values of prepared points, row after row, one a machine
    ///
    /// ```text
    /// f(x) = ⟨w, x⟩ + b,   or   f(x) = Σ_i c_i k(x, x_i) + b             (M.1)
    /// ```
    ///
    /// less `(q/2) k(x, x)` for a ball, so that f > 0 within it; of a network see (M.9).
    ///
    /// Each row of the result depends on that row alone: batches and threads change nothing.
    pub fn decision_values(&self, points: &Points, workers: &Workers) -> Vec<f64> {
        self.decision_values_of(points, 0..points.len(), workers)
    }

    /// [`Model::decision_values`] of some of the points.
    fn decision_values_of(&self, points: &Points, rows: Range<usize>, workers: &Workers) -> Vec<f64> {
        let machines = self.machines().len();
        let all: Vec<usize> = rows.clone().collect();
        let mut values = if let Some(network) = &self.parts.network {
            let planes: Vec<_> = self.machines().iter().map(Machine::plane).collect();
            return network.values(points.matrix(), &all, &planes, workers);
        } else if self.parts.recipe.kernel.is_linear() {
            self.products_with_weights(points, rows, workers)
        } else {
            let expansion = self.expansion.get_or_init(|| self.expansion_by_class());
            expansion.values(&self.parts.recipe.kernel, points.rows(&all), &self.points, workers)
        };
        for values in values.chunks_mut(machines) {
            values.iter_mut().zip(self.machines()).for_each(|(value, machine)| *value += machine.bias); // (M.1)
        }
        if let [Machine { reach: Some(reach), .. }] = self.machines() {
            let mut diagonal = vec![0.0; all.len()];
            self.parts.recipe.kernel.diagonal(points.rows(&all), &mut diagonal);
            values.iter_mut().zip(&diagonal).for_each(|(value, k)| *value -= reach * k);
        }
        values
    }

    /// The machines' coefficients, the support vectors of a class one after the other: they serve the same machines.
    fn expansion_by_class(&self) -> Expansion {
        let mut classes = vec![0; self.points.len()];
        for machine in self.machines() {
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                let Pairing { positive, negative } = machine.pairing;
                if let Some(class) = if coefficient > 0.0 { Some(positive) } else { negative } {
                    classes[place as usize] = class;
                }
            }
        }
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        order.sort_by_key(|&place| classes[place as usize]);
        let lists = self.machines().iter().map(|machine| (&machine.support[..], &machine.coefficients[..]));
        Expansion::new(&order, lists)
    }

    /// `⟨w, x⟩` for each row and machine: several machines at a time, their weights side by side.
    fn products_with_weights(&self, points: &Points, rows: Range<usize>, workers: &Workers) -> Vec<f64> {
        let machines = self.machines().len();
        let mut values = vec![0.0; rows.len() * machines];
        let alone = Workers::none();
        let work = points.matrix().entries().saturating_mul(machines);
        let workers = if work > WORTH_A_THREAD { workers } else { &alone };
        let lists: Vec<&[f64]> =
            self.machines().iter().map(|machine| machine.weights.as_deref().unwrap_or_default()).collect();
        match lists.as_slice() {
            [weights] => workers.fill_chunks(&mut values, ROWS_A_CHUNK, |start, chunk| {
                for (k, value) in chunk.iter_mut().enumerate() {
                    *value = points.matrix().dot(rows.start + start + k, weights);
                }
            }),
            lists => (0..machines).step_by(LANES).for_each(|first| {
                let side_by_side = self.side_by_side(&lists[first..machines.min(first + LANES)]);
                products_in_lanes(points, rows.start, &side_by_side, workers, &mut values, machines, first);
            }),
        }
        values
    }

    /// Weights of some machines by column.
    fn side_by_side(&self, lists: &[&[f64]]) -> Vec<[f64; LANES]> {
        let mut all = vec![[0.0; LANES]; self.parts.columns];
        for (lane, weights) in lists.iter().enumerate() {
            all.iter_mut().zip(*weights).for_each(|(line, &weight)| line[lane] = weight);
        }
        all
    }
}

/// The votes of many pairs of classes for the rows of some lanes.
struct Votes<'a> {
    /// The positive class, the negative one and b of each machine.
    pairs: Vec<(usize, usize, f64)>,
    /// All classes; of those that tie the first wins.
    order: &'a [usize],
    arch: Arch,
}

impl SumVisitor for Votes<'_> {
    /// How many votes each class has, in each lane.
    type State = Vec<[f64; VISIT_LANES]>;
    type Found = u32;

    fn begin(&self) -> Self::State {
        vec![[0.0; VISIT_LANES]; self.order.len()]
    }

    fn visit(&self, votes: &mut Self::State, first: usize, sums: &[[f64; VISIT_LANES]]) {
        vectorised(
            self.arch,
            #[inline(always)]
            || {
                for (&(positive, negative, bias), values) in self.pairs[first..].iter().zip(sums) {
                    let mut won = [0.0; VISIT_LANES];
                    for lane in 0..VISIT_LANES {
                        // (M.1); a decision value of exactly 0 is negative.
                        won[lane] = if values[lane] + bias > 0.0 { 1.0 } else { 0.0 };
                    }
                    let of_positive = &mut votes[positive];
                    (0..VISIT_LANES).for_each(|lane| of_positive[lane] += won[lane]);
                    let of_negative = &mut votes[negative];
                    (0..VISIT_LANES).for_each(|lane| of_negative[lane] += 1.0 - won[lane]);
                }
            },
        );
    }

    fn end(&self, votes: Self::State, found: &mut [u32]) {
        for (lane, found) in found.iter_mut().enumerate() {
            *found = best_in_order(self.order, |class| votes[class][lane]);
        }
    }
}

/// Machines whose weights lie side by side.
const LANES: usize = 8;

/// The products of rows, from the `first_row` on, with some machines, from the `first` on.
fn products_in_lanes(
    points: &Points,
    first_row: usize,
    weights: &[[f64; LANES]],
    workers: &Workers,
    values: &mut [f64],
    machines: usize,
    first: usize,
) {
    let count = LANES.min(machines - first);
    let arch = Arch::new();
    workers.fill_chunks(values, ROWS_A_CHUNK * machines, |start, chunk| {
        on_stored_rows!(points.matrix(), rows => vectorised(
            arch,
            #[inline(always)]
            || {
                for (k, out) in chunk.chunks_mut(machines).enumerate() {
                    let products = rows.dot_lanes(first_row + start / machines + k, weights);
                    out[first..first + count].copy_from_slice(&products[..count]);
                }
            },
        ));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Dataset, Matrix};
    use crate::kernel::{Gamma, KernelParams};
    use crate::model::Multiclass;
    use crate::training::TrainingParams;

    /// 46 classes of 2 rows make 1,035 machines.
    fn many_classes() -> Dataset {
        let values: Vec<f64> = (0..92 * 3).map(|k| (f64::from(k) * 1.37).sin() + f64::from(k / 6 % 5)).collect();
        let labels = Labels::new((0..92).map(|row| Label::new(format!("{}", row / 2))));
        Dataset::new(Matrix::dense(92, 3, values).unwrap(), labels).unwrap()
    }

    #[test]
    fn votes_that_are_counted_at_once_are_those_of_the_decision_values() {
        let data = many_classes();
        for kernel in [KernelParams::Linear, KernelParams::Rbf { gamma: Gamma::Value(0.5) }] {
            let params = TrainingParams { kernel, multiclass: Some(Multiclass::OneVsOne), ..TrainingParams::default() };
            let model = params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
            assert!(model.machines().len() >= MANY_MACHINES);
            let expected = model.predict(&data, &Workers::none()).unwrap();
            for threads in [1, 2, 3] {
                let workers = Workers::new(threads).unwrap();
                let found = model.predict_classes(model.align(&data).unwrap(), &workers);
                assert_eq!(found.codes(), expected.codes());
            }
            let mut backwards: Vec<usize> = (0..46).collect();
            backwards.reverse();
            let points = model.align(&data).unwrap().points;
            let found = model.winners(&points, &backwards, &Workers::none());
            let pairings: Vec<Pairing> = model.machines().iter().map(|machine| machine.pairing).collect();
            for (row, &code) in found.iter().enumerate() {
                let values = expected.decision_values(row);
                assert_eq!(code, decide(&pairings, values, &mut vec![0.0; 46], &backwards));
            }
        }
    }
}
