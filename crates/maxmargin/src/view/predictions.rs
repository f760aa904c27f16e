//! What a prediction reports.

use serde::Serialize;

use super::score::ScoreView;
use crate::data::Label;
use crate::model::{Model, Predictions};

/// What a prediction reports. What was not asked for is left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionsView<'a> {
    /// How many rows were predicted.
    pub rows: usize,
    /// How many of them wrongly, where the data has labels.
    pub errors: Option<usize>,
    /// The share that is predicted rightly, where the data has labels.
    pub accuracy: Option<f64>,
    /// How long reading took.
    pub read_seconds: f64,
    /// How long predicting took.
    pub predict_seconds: f64,
    /// How well the rows are predicted, where the data has answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreView<'a>>,
    /// What a regression predicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Vec<f64>>,
    /// Where nine of ten targets lie, for each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<[f64; 2]>>,
    /// The label of each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<&'a str>>,
    /// The decision values of each row, one a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_values: Option<Vec<&'a [f64]>>,
    /// The classes, in the order of the probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<&'a str>>,
    /// The probability of each class, for each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Vec<&'a [f64]>>,
}

impl<'a> PredictionsView<'a> {
    /// The view of rows that were read and predicted in some seconds.
    pub fn new(rows: usize, read_seconds: f64, predict_seconds: f64) -> Self {
        PredictionsView {
            rows,
            errors: None,
            accuracy: None,
            read_seconds,
            predict_seconds,
            score: None,
            numbers: None,
            intervals: None,
            labels: None,
            decision_values: None,
            classes: None,
            probabilities: None,
        }
    }

    /// Adds what is predicted, with the decision values where they are wanted, and the probabilities where they are known.
    pub fn add_predictions(
        &mut self,
        model: &'a Model,
        predictions: &'a Predictions,
        decision_values: bool,
        probabilities: Option<&'a [f64]>,
    ) {
        if model.task().is_regression() {
            self.numbers = Some(predictions.numbers().collect());
            return;
        }
        self.labels = Some(predictions.codes().iter().map(|&code| model.label(code).text()).collect());
        self.decision_values =
            decision_values.then(|| (0..self.rows).map(|row| predictions.decision_values(row)).collect());
        if let Some(all) = probabilities {
            self.classes = Some(model.classes().iter().map(Label::text).collect());
            self.probabilities = Some(all.chunks(model.classes().len().max(1)).collect());
        }
    }
}
