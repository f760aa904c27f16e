//! Which held-out labels of a cell are those of the exact optimum, whatever the solver left undone.
//!
//! Let a machine have the duality gap g. Its objective is strongly convex in w, so that `‖w − w*‖ ≤ r = √(2g)`. Write s(x) = f(x) − b. The optimal
//! b* is where the slopes of the losses add up to 0, at one of the numbers `y_i − s*(x_i)`, each of which is known to r √k(x_i, x_i). Let b₁ to b₂ be
//! where the slopes of the losses at s add up to 0. Then, over the training rows i
//!
//! ```text
//! s(x) + b₁ − r (√k(x, x) + max_i √k(x_i, x_i)) ≤ f*(x) ≤ s(x) + b₂ + r (√k(x, x) + max_i √k(x_i, x_i))          (TU.8)
//! ```
//!
//! A machine without a bias has no b and no second root; one with a folded bias has 1 more in k. A row is proved when the signs that are certain
//! already decide the vote on its class. Rows that are not proved may be right or wrong: they leave an interval for the score.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::plain::Shared;
use super::scores::Metric;
use super::search::Search;
use super::splits::Split;
use crate::control::{Control, Progress, Stop};
use crate::data::Dataset;
use crate::error::Error;
use crate::kernel::Gram;
use crate::model::{Machine, Model, Multiclass};
use crate::problem::{Bias, Loss};
use crate::training::{Beginning, Training, TrainingParams};
use crate::workers::Workers;
use std::ops::ControlFlow;

/// The relative gaps that are asked for, one after the other, until all rows are proved. A finer one than the last is lost in rounding.
const GAPS: [f64; 5] = [1e-3, 1e-5, 1e-7, 1e-9, 1e-11];

/// How many rounding errors of a sum a decision value may have.
const ROUNDINGS: f64 = 64.0;

/// What is proved of a cell.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Proof {
    /// The place of the cell.
    pub cell: usize,
    /// The least and the greatest mean score that the exact optimum may have.
    pub score: (f64, f64),
    /// Held-out rows in all splits.
    pub rows: usize,
    /// Those whose label is not proved.
    pub unproved: usize,
    /// The largest relative gap that was left.
    pub gap: f64,
}

/// What is proved of a split.
struct SplitProof {
    /// Rows that the optimum surely has right, and those that it may have right.
    right: (usize, usize),
    unproved: usize,
    gap: f64,
}

impl Search {
    /// Solves a cell ever more exactly, until the label of every held-out row is proved to be that of the exact optimum, or arithmetic knows no
    /// better. `None` where the control broke.
    ///
    /// # Errors
    /// When the score is not accuracy, or the machines are not those of hinge loss in pairs of classes; and as [`Training::fit`].
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn prove(
        &self,
        cell: usize,
        data: &Dataset,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<Option<Proof>, Error> {
        let training = self.training(cell).map(Training::params).cloned().unwrap_or_default();
        self.check_provable(&training)?;
        let shared = self.shared(data)?;
        let splits = self.params().splits.list();
        let mut proof = Proof { cell, score: (0.0, 0.0), rows: 0, unproved: 0, gap: 0.0 };
        for (number, split) in splits.iter().enumerate() {
            let mut counted =
                |progress: Progress| control.poll(Progress { machine: (number, splits.len()), ..progress });
            let ControlFlow::Continue(found) =
                self.prove_split(&training, &shared, self.data_of(number, data), split, workers, &mut counted)?
            else {
                return Ok(None);
            };
            let share = 1.0 / (splits.len() * split.test.len()) as f64;
            proof.score.0 += share * found.right.0 as f64;
            proof.score.1 += share * found.right.1 as f64;
            proof.rows += split.test.len();
            proof.unproved += found.unproved;
            proof.gap = proof.gap.max(found.gap);
        }
        Ok(Some(proof))
    }

    fn check_provable(&self, training: &TrainingParams) -> Result<(), Error> {
        let refuse = |what: &str, help: &str| Err(Error::Combination { what: what.into(), help: help.into() });
        if self.params().metric != Metric::Accuracy {
            return refuse("labels are proved, and the score is not one of labels alone", "choose the metric accuracy");
        }
        let by_pairs = matches!(training.multiclass, None | Some(Multiclass::OneVsOne));
        if !training.task.is_classification() || training.loss.is_some_and(|loss| loss != Loss::Hinge) || !by_pairs {
            return refuse(
                "labels are proved for hinge loss and pairs of classes",
                "choose the loss hinge, or leave the proof out",
            );
        }
        Ok(())
    }

    /// One split, to ever finer gaps.
    fn prove_split(
        &self,
        training: &TrainingParams,
        shared: &Shared<'_>,
        data: &Dataset,
        split: &Split,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, SplitProof>, Error> {
        let part = data.select_rows(&split.train);
        let held_out = data.select_rows(&split.test);
        let mut last: Option<Model> = None;
        let mut proof: Option<SplitProof> = None;
        for gap in GAPS {
            let mut params = TrainingParams { loss: Some(Loss::Hinge), ..training.clone() };
            params.settings.gap = Some(gap);
            params.settings.tolerance = None;
            let beginning = last.as_ref().map_or(Beginning::Scratch, Beginning::Model);
            let model =
                params.check()?.fit_from(&part, beginning, workers, &mut crate::control::Unkept(&mut *control))?;
            if matches!(model.stop(), Stop::Interrupted | Stop::TimeLimit) {
                return Ok(ControlFlow::Break(model.stop()));
            }
            let found = judge(&model, shared, &part, &held_out, &split.test, workers)?;
            let is_better = proof.as_ref().is_none_or(|before| found.unproved < before.unproved);
            let is_done = found.unproved == 0;
            if is_better {
                proof = Some(found);
            }
            if is_done || model.stop() != Stop::Converged {
                break;
            }
            last = Some(model);
        }
        let nothing = SplitProof { right: (0, split.test.len()), unproved: split.test.len(), gap: f64::INFINITY };
        Ok(ControlFlow::Continue(proof.unwrap_or(nothing)))
    }
}

/// Which labels of held-out rows are certain.
fn judge(
    model: &Model,
    shared: &Shared<'_>,
    part: &Dataset,
    held_out: &Dataset,
    test: &[usize],
    workers: &Workers,
) -> Result<SplitProof, Error> {
    let (own_roots, new_roots) = (roots(model, part, workers)?, roots(model, held_out, workers)?);
    let (own, new) = (model.predict(part, workers)?, model.predict(held_out, workers)?);
    let own_codes = model.codes(part);
    let machines = model.machines();
    let reaches: Option<Vec<Reach>> = machines
        .iter()
        .enumerate()
        .map(|(place, machine)| {
            let values: Vec<f64> = (0..part.rows()).map(|row| own.decision_values(row)[place]).collect();
            Reach::of(model, machine, part, &own_codes, &values, &own_roots)
        })
        .collect();
    let gap = model.certificate().map_or(f64::INFINITY, |summary| summary.relative_gap);
    let Some(reaches) = reaches else {
        return Ok(SplitProof { right: (0, test.len()), unproved: test.len(), gap: f64::INFINITY });
    };
    let places: Vec<u32> = model.classes().iter().map(|class| shared.place(class)).collect();
    let mut proof = SplitProof { right: (0, 0), unproved: 0, gap };
    for (k, &row) in test.iter().enumerate() {
        let signs: Vec<Option<bool>> =
            reaches.iter().zip(new.decision_values(k)).map(|(reach, &value)| reach.sign(value, new_roots[k])).collect();
        let class = places[new.codes()[k] as usize];
        let is_right = shared.class_of(row) == Some(class);
        let is_proved = decides(machines, &signs, model.classes().len(), new.codes()[k] as usize);
        proof.unproved += usize::from(!is_proved);
        proof.right.0 += usize::from(is_proved && is_right);
        proof.right.1 += usize::from(!is_proved || is_right);
    }
    Ok(proof)
}

/// √k(x, x) of each row; of a folded bias with 1 more in k. A kernel may already count the column of a folded bias: one more is only less sharp.
fn roots(model: &Model, data: &Dataset, workers: &Workers) -> Result<Vec<f64>, Error> {
    let aligned = model.align(data)?;
    let all: Vec<usize> = (0..data.rows()).collect();
    let squares = Gram::new(&model.recipe().kernel, &aligned.points, workers).diagonal(&all);
    let folded = if model.recipe().bias == Bias::Folded { 1.0 } else { 0.0 };
    Ok(squares.into_iter().map(|square| (square + folded).max(0.0).sqrt()).collect())
}

/// Whether the signs that are certain make this class the winner, whatever the others are.
fn decides(machines: &[Machine], signs: &[Option<bool>], classes: usize, winner: usize) -> bool {
    // Of classes against the rest, the largest decision value wins: signs do not say which that is.
    if machines.len() > 1 && machines.iter().any(|machine| machine.pairing.negative.is_none()) {
        return false;
    }
    if signs.iter().all(Option::is_some) {
        return true;
    }
    let (mut least, mut most) = (vec![0usize; classes], vec![0usize; classes]);
    for (machine, sign) in machines.iter().zip(signs) {
        let positive = machine.pairing.positive;
        let Some(negative) = machine.pairing.negative else { return false };
        for (class, wins) in [(positive, true), (negative, false)] {
            least[class] += usize::from(*sign == Some(wins));
            most[class] += usize::from(*sign != Some(!wins));
        }
    }
    (0..classes).all(|class| class == winner || most[class] < least[winner])
}

/// How far the decision values of the optimum may be from a machine's.
struct Reach {
    /// What b* may be less the machine's b: b₁ − b and b₂ − b.
    shift: (f64, f64),
    /// √(2g)
    radius: f64,
    /// max √k(x_i, x_i) over the training rows, or 0 where b is none or part of w.
    root: f64,
    /// What rounding may do.
    rounding: f64,
}

impl Reach {
    /// `None` where the machine has no certificate.
    fn of(
        model: &Model,
        machine: &Machine,
        part: &Dataset,
        codes: &[Option<u32>],
        values: &[f64],
        roots: &[f64],
    ) -> Option<Self> {
        let radius = (2.0 * machine.evidence.certificate()?.gap.max(0.0)).sqrt();
        let cost = machine.cost?;
        let mut rows: Vec<(f64, f64)> = Vec::new();
        let (mut sum, mut all, mut root) = (0.0, 0.0, 0.0f64);
        for (row, code) in codes.iter().enumerate() {
            let class = code.map(|code| code as usize);
            let is_positive = class == Some(machine.pairing.positive);
            if !is_positive && machine.pairing.negative.is_some_and(|negative| class != Some(negative)) {
                continue;
            }
            let of_class = model.recipe().class_weights.as_ref().zip(class).map_or(1.0, |(all, class)| all[class]);
            let weight = cost * of_class * part.weights().map_or(1.0, |weights| weights[row]);
            if weight <= 0.0 {
                continue;
            }
            let target = if is_positive { 1.0 } else { -1.0 };
            // y_i − s(x_i), where the slope of the loss of this row changes, as far from the machine's own b.
            rows.push((target - values[row], weight));
            sum -= if is_positive { weight } else { 0.0 };
            all += weight;
            root = root.max(roots[row]);
        }
        let largest =
            machine.coefficients.iter().map(|c| c.abs()).sum::<f64>() * root * root + machine.bias.abs() + 1.0;
        let rounding = ROUNDINGS * f64::EPSILON * largest;
        if model.recipe().bias != Bias::Explicit {
            return Some(Reach { shift: (0.0, 0.0), radius, root: 0.0, rounding });
        }
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // Sums of weights that should be equal differ by rounding.
        let slack = 1e-9 * all;
        let (mut low, mut high) = (None, None);
        for (at, weight) in rows {
            sum += weight;
            if low.is_none() && sum >= -slack {
                low = Some(at);
            }
            if high.is_none() && sum > slack {
                high = Some(at);
            }
        }
        Some(Reach { shift: (low?, high?), radius, root, rounding })
    }

    /// Whether the optimum's decision value is above 0, (TU.8), as the machine's own is; `None` where that is not certain.
    fn sign(&self, value: f64, root: f64) -> Option<bool> {
        let off = self.radius * (root + self.root) + self.rounding;
        let (low, high) = (value + self.shift.0 - off, value + self.shift.1 + off); // (TU.8)
        if low > 0.0 && value > 0.0 {
            return Some(true);
        }
        (high < 0.0 && value < 0.0).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Grid, Metric, SearchParams, Splits};
    use super::*;
    use crate::control::Unattended;
    use crate::data::{embedded, generate};
    use crate::kernel::{Gamma, KernelParams};
    use crate::problem::Penalty;
    use crate::provenance::SolverKind;

    fn fit(data: &Dataset, params: &TrainingParams, gap: f64, most: Option<u64>) -> Model {
        let mut params = params.clone();
        params.settings.gap = Some(gap);
        params.settings.max_iterations = most;
        params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
    }

    /// A solver that does as many steps as it is told, and no more.
    fn smo() -> TrainingParams {
        TrainingParams { solver: Some(SolverKind::Smo), ..TrainingParams::default() }
    }

    /// The most that decision values of held-out rows are off after some steps, as a part of what (TU.8) allows.
    fn worst(data: &Dataset, params: &TrainingParams, steps: u64) -> f64 {
        let rows: Vec<usize> = (0..data.rows()).collect();
        let (test, train): (Vec<usize>, Vec<usize>) = rows.iter().partition(|row| *row % 4 == 0);
        let (part, held_out) = (data.select_rows(&train), data.select_rows(&test));
        let (rough, exact) = (fit(&part, params, 1e-3, Some(steps)), fit(&part, params, 1e-13, None));
        let workers = Workers::none();
        let values = |model: &Model, data: &Dataset, place: usize| -> Vec<f64> {
            let found = model.predict(data, &workers).unwrap();
            (0..data.rows()).map(|row| found.decision_values(row)[place]).collect()
        };
        let (own_roots, new_roots) =
            (roots(&rough, &part, &workers).unwrap(), roots(&rough, &held_out, &workers).unwrap());
        let codes = rough.codes(&part);
        let mut worst = 0.0f64;
        for (place, machine) in rough.machines().iter().enumerate() {
            let own = values(&rough, &part, place);
            let reach = Reach::of(&rough, machine, &part, &codes, &own, &own_roots).unwrap();
            let (found, truth) = (values(&rough, &held_out, place), values(&exact, &held_out, place));
            for k in 0..held_out.rows() {
                let off = reach.radius * (new_roots[k] + reach.root) + reach.rounding;
                let (low, high) = (found[k] + reach.shift.0, found[k] + reach.shift.1);
                worst = worst.max((low - truth[k]).max(truth[k] - high) / off);
            }
        }
        worst
    }

    #[test]
    fn the_optimum_lies_within_what_is_allowed_for_every_bias_and_kernel() {
        let (mut largest, mut count) = (0.0f64, 0);
        for (seed, steps) in [(1, 20), (2, 60), (3, 200)] {
            let data = generate("moons", 120, seed).unwrap();
            for bias in [Bias::Explicit, Bias::None] {
                for kernel in [KernelParams::Linear, KernelParams::Rbf { gamma: Gamma::Value(1.0) }] {
                    let params = TrainingParams { kernel, bias, penalty: Penalty::C(3.0), ..smo() };
                    let found = worst(&data, &params, steps);
                    assert!(found <= 1.0, "seed {seed}, {bias:?}: {found}");
                    (largest, count) = (largest.max(found), count + 1);
                }
            }
        }
        let iris = embedded("iris").unwrap();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
        let params = TrainingParams { kernel, penalty: Penalty::C(10.0), ..smo() };
        assert!(worst(&iris, &params, 15) <= 1.0);
        // The negative control: a fiftieth of what is allowed would be too little.
        assert!(largest > 0.02, "{count}: {largest}");
    }

    #[test]
    fn a_proved_score_is_that_of_the_exact_optimum() {
        let data = generate("moons", 200, 4).unwrap();
        let search = SearchParams {
            training: TrainingParams::default(),
            grid: Grid::of(KernelParams::Rbf { gamma: Gamma::Scale }, Axis::read_all("C=1,gamma=0.5,2").unwrap()),
            splits: Splits::of_data(&data, 4, 1, 0).unwrap(),
            metric: Metric::Accuracy,
            abandon: true,
            tables: true,
            seed: 0,
        }
        .check()
        .unwrap();
        let proof = search.prove(1, &data, &Workers::none(), &mut Unattended).unwrap().unwrap();
        let mut mean = 0.0;
        for split in search.params().splits.list() {
            let model = fit(&data.select_rows(&split.train), search.training(1).unwrap().params(), 1e-13, None);
            let test = data.select_rows(&split.test);
            let found = model.predict(&test, &Workers::none()).unwrap();
            let right = found.codes().iter().zip(test.labels().unwrap().codes()).filter(|(a, b)| a == b).count();
            mean += right as f64 / (4 * split.test.len()) as f64;
        }
        assert!(proof.score.0 - 1e-12 <= mean && mean <= proof.score.1 + 1e-12, "{mean} {proof:?}");
        assert!(proof.rows == 200 && proof.unproved <= 2, "{proof:?}");
        assert!((proof.score.1 - proof.score.0 - proof.unproved as f64 / 200.0).abs() < 1e-12, "{proof:?}");
    }

    #[test]
    fn a_vote_is_decided_by_the_signs_that_are_certain() {
        let iris = embedded("iris").unwrap();
        let model = fit(&iris, &TrainingParams::default(), 1e-3, None);
        // Machines: class 0 against 1, 0 against 2, 1 against 2, either sign.
        let (zero, other) = (model.machines()[0].pairing, model.machines()[2].pairing);
        let wins = |pairing: crate::model::Pairing, class: usize| Some(pairing.positive == class);
        let of_zero = [wins(zero, 0), wins(model.machines()[1].pairing, 0), None];
        assert!(decides(model.machines(), &of_zero, 3, 0));
        assert!(!decides(model.machines(), &[None, of_zero[1], wins(other, 1)], 3, 0));
        assert!(decides(model.machines(), &[of_zero[0], of_zero[1], wins(other, 1)], 3, 0));
    }

    #[test]
    fn what_cannot_be_proved_is_refused() {
        let data = generate("moons", 60, 4).unwrap();
        let with = |metric: Metric, loss: Loss| {
            let training = TrainingParams { loss: Some(loss), ..TrainingParams::default() };
            let grid = Grid::of(KernelParams::Linear, Axis::read_all("C=1").unwrap());
            let splits = Splits::of_data(&data, 3, 1, 0).unwrap();
            let params = SearchParams { training, grid, splits, metric, abandon: true, tables: true, seed: 0 };
            params.check().unwrap().prove(0, &data, &Workers::none(), &mut Unattended).unwrap_err().to_string()
        };
        assert!(with(Metric::F1, Loss::Hinge).contains("not one of labels alone"));
        assert!(with(Metric::Accuracy, Loss::Squared).contains("proved for hinge loss"));
    }
}
