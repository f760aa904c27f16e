//! Rows that a model had to give up on: those far on the wrong side of their margin, whose labels deserve a second look.

#[cfg(feature = "serde")]
use serde::Serialize;

use crate::certificate::SLACK_A_TOLERANCE;
use crate::data::Dataset;
use crate::error::Error;
use crate::model::{Machine, Model};
use crate::problem::{RowLoss, Task};
use crate::recipe::{Pairing, decide, row_weights};
use crate::workers::Workers;

/// What was found when every row was compared with what the model says of it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Suspects {
    /// Whether the data is the training data, by its hash. Of other data no α is known.
    pub same_data: bool,
    /// How many rows were compared.
    pub rows: usize,
    /// Rows with a label that the model does not know, which were not.
    pub unknown: usize,
    /// The rows that lack something, that which lacks most first; of equal ones the first. What a solver may leave a row on the margin
    /// by its tolerance is nothing.
    pub suspects: Vec<Suspect>,
}

/// A row that lacks something of costing nothing: its slack
///
/// ```text
/// ξ = max over the row's machines of  max(0, 1 − y f(x))       classes; for those trained together 1 − (f_own − max f_other)
///     max(0, |f(x) − t| − ε)                                   numbers
///     max(0, −f(x))                                            one class, and a ball                     (M.8)
/// ```
///
/// Between classes the row is on the wrong side where ξ > 1, and beyond the other class's margin where ξ > 2.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Suspect {
    /// The row, counted from 0.
    pub row: usize,
    /// ξ
    pub slack: f64,
    /// The machine that it is largest for.
    pub machine: usize,
    /// What that machine says.
    pub value: f64,
    /// What the model predicts: the place of a class; `None` for a regression, which predicts `value`.
    pub predicted: Option<u32>,
    /// α of the row in that machine as a part of its bound, where the data is the training data, and there are both.
    pub share_of_bound: Option<f64>,
}

impl Model {
    /// The rows that lack something of costing nothing, the worst first: see [`Suspect`].
    ///
    /// A wrong label makes a row one that lies far inside of another class, and the more rows around it have the right one, the larger its
    /// slack is. Not every suspect has a wrong label: it may be unlike all others.
    ///
    /// Cost: that of predicting the rows.
    ///
    /// # Errors
    /// As [`Model::align`]; when a label of a regression's data is not a number, or the model knows none of the labels.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::embedded;
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let data = embedded("e2").unwrap();
    /// let model = TrainingParams::default().check()?.fit(&data, &Workers::none(), &mut Unattended)?;
    /// let found = model.suspects(&data, &Workers::none())?;
    /// assert!(found.same_data);
    /// assert_eq!(found.suspects[0].row, 17, "(5, 3) is called -1 among rows that are called +1");
    /// assert_eq!(found.suspects[0].share_of_bound, Some(1.0));
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn suspects(&self, data: &Dataset, workers: &Workers) -> Result<Suspects, Error> {
        let parts = self.parts();
        let points = self.align(data)?.points;
        let codes: Vec<Option<u32>> = match self.task() {
            Task::Classification => {
                data.labels()?;
                self.codes(data)
            }
            Task::Regression { .. } | Task::NuRegression { .. } => vec![Some(0); data.rows()],
            Task::OneClass { .. } | Task::Svdd { .. } => vec![Some(1); data.rows()],
        };
        let unknown = codes.iter().filter(|code| code.is_none()).count();
        if unknown == data.rows() && unknown > 0 {
            return Err(Error::Data {
                what: "the model knows none of the data's labels".into(),
                help: "give data with the labels that the model was trained on".into(),
            });
        }
        let targets = parts.recipe.task.is_regression().then(|| data.numbers()).transpose()?;
        let same_data = self.is_training_data(data, workers);
        let shares = same_data.then(|| self.shares_of_bounds(data, &codes));
        let values = self.decision_values(&points, workers);
        let pairings: Vec<Pairing> = self.machines().iter().map(|machine| machine.pairing).collect();
        let order: Vec<usize> = (0..self.classes().len()).collect();
        let mut score = vec![0.0; self.classes().len()];
        // One class has its edge where predictions have it, (T.5). A model of another program promises no tolerance at all.
        let tolerated = (SLACK_A_TOLERANCE * parts.provenance.tolerance).min(0.1);
        let least = if self.task().usual().is_some() { 0.0 } else { tolerated };
        let mut suspects = Vec::new();
        for (row, (values, &code)) in values.chunks(pairings.len()).zip(&codes).enumerate() {
            let Some(code) = code else { continue };
            let target = targets.as_ref().map(|targets| targets[row]);
            let (machine, slack) = self.largest_slack(values, code as usize, target);
            if slack > least {
                let predicted = (!self.task().is_regression()).then(|| decide(&pairings, values, &mut score, &order));
                let share_of_bound = shares.as_ref().and_then(|shares| shares[machine].get(&row).copied());
                suspects.push(Suspect { row, slack, machine, value: values[machine], predicted, share_of_bound });
            }
        }
        suspects.sort_by(|a, b| b.slack.total_cmp(&a.slack).then(a.row.cmp(&b.row)));
        Ok(Suspects { same_data, rows: data.rows() - unknown, unknown, suspects })
    }

    /// (M.8): the machine with the largest slack of a row, and that slack.
    fn largest_slack(&self, values: &[f64], code: usize, target: Option<f64>) -> (usize, f64) {
        if self.parts().joint.is_some() {
            let others = values.iter().enumerate().filter(|(class, _)| *class != code).map(|(_, value)| *value);
            return (code, (1.0 - (values[code] - others.fold(f64::NEG_INFINITY, f64::max))).max(0.0));
        }
        let slack = |(number, &value): (usize, &f64)| {
            let machine = &self.machines()[number];
            let loss = match self.task() {
                // What a ν came to is the machine's.
                Task::NuRegression { .. } => RowLoss::Epsilon(machine.epsilon.unwrap_or(0.0)),
                // The decision value of a ball has its target taken off already.
                Task::Svdd { .. } => RowLoss::OneClass,
                task => RowLoss::of_task(task, self.recipe().loss),
            };
            let target = target.or_else(|| machine.pairing.sign(code))?;
            Some((number, loss.slack(target, value)))
        };
        let found = values.iter().enumerate().filter_map(slack);
        found.reduce(|best, other| if other.1 > best.1 { other } else { best }).unwrap_or((0, 0.0))
    }

    /// For each machine the rows with α > 0, and α as a part of its bound; none where the loss has no bound.
    fn shares_of_bounds(&self, data: &Dataset, codes: &[Option<u32>]) -> Vec<std::collections::HashMap<usize, f64>> {
        let parts = self.parts();
        let codes: Vec<u32> = codes.iter().map(|code| code.unwrap_or(0)).collect();
        let weights = row_weights(data.weights(), &codes, parts.recipe.class_weights.as_deref());
        let of_machine = |(number, machine): (usize, &Machine)| {
            let bound =
                RowLoss::of_task(parts.recipe.task, parts.recipe.loss).bound(machine.cost.unwrap_or(f64::INFINITY));
            let share = |(row, coefficient): (usize, f64)| {
                let bound = bound * weights.as_ref().map_or(1.0, |weights| weights[row]);
                (bound.is_finite() && bound > 0.0).then(|| (row, coefficient.abs() / bound))
            };
            self.dual_coefficients(number).filter_map(share).collect()
        };
        self.machines().iter().enumerate().map(of_machine).collect()
    }
}
