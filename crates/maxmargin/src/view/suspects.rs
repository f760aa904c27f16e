//! What the search for suspect rows reports.

use std::borrow::Cow;

use serde::Serialize;

use super::machine::machine_name;
use crate::data::Dataset;
use crate::model::Model;
use crate::review::Suspects;

/// A row whose label, number or place deserves a second look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuspectView<'a> {
    /// The row, counted from 1.
    pub row: usize,
    /// What it lacks, (M.8).
    pub slack: f64,
    /// What the machine says.
    pub decision_value: f64,
    /// The machine that it lacks most of.
    pub machine: String,
    /// What the data says of the row, where rows have labels or numbers.
    pub label: Option<Cow<'a, str>>,
    /// What the model says of it, where there are classes.
    pub predicted: Option<&'a str>,
    /// α as a part of its bound, for training data.
    pub alpha_over_bound: Option<f64>,
}

/// What was found when every row was compared with what the model says of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuspectsView<'a> {
    /// Whether the data is the training data.
    pub same_data: bool,
    /// How many rows were compared.
    pub rows: usize,
    /// Rows that were not compared, because the model does not know their label.
    pub rows_with_unknown_labels: usize,
    /// How many rows lack something.
    pub with_slack: usize,
    /// How many of them lie on the wrong side; `None` where there are no classes.
    pub on_the_wrong_side: Option<usize>,
    /// How many of them lie beyond the margin of the other class.
    pub beyond_the_other_margin: Option<usize>,
    /// The worst rows, as many as asked for.
    pub suspects: Vec<SuspectView<'a>>,
}

impl<'a> SuspectsView<'a> {
    /// The view of the `top` worst rows.
    pub fn new(model: &'a Model, data: &'a Dataset, found: &Suspects, top: usize) -> Self {
        let has_labels = model.task().usual().is_none();
        let has_classes = model.task().is_classification();
        let above = |slack: f64| found.suspects.iter().filter(|suspect| suspect.slack > slack).count();
        let suspects = found.suspects.iter().take(top).map(|suspect| SuspectView {
            row: suspect.row + 1,
            slack: suspect.slack,
            decision_value: suspect.value,
            machine: machine_name(model, &model.machines()[suspect.machine]),
            label: data.answers().text(suspect.row).filter(|_| has_labels),
            predicted: suspect.predicted.map(|code| model.label(code).text()),
            alpha_over_bound: suspect.share_of_bound,
        });
        SuspectsView {
            same_data: found.same_data,
            rows: found.rows,
            rows_with_unknown_labels: found.unknown,
            with_slack: found.suspects.len(),
            on_the_wrong_side: has_classes.then(|| above(1.0)),
            beyond_the_other_margin: has_classes.then(|| above(2.0)),
            suspects: suspects.collect(),
        }
    }
}
