//! What explanations of single rows report.

use serde::Serialize;

use super::machine::machine_name;
use crate::model::Model;
use crate::review::{Explanation, Reason, TermSource};

/// How many machines speak for a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VoteView<'a> {
    /// The class.
    pub label: &'a str,
    /// How many machines speak for it.
    pub votes: usize,
}

/// The class that won and the next one, (M.4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeadView<'a> {
    /// The class that came second.
    pub rival: &'a str,
    /// How far the class that won is ahead.
    pub value: f64,
    /// How far the boundary between the two is.
    pub distance: Option<f64>,
}

/// One term of a decision value: of a training row, or of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermView {
    /// `c_i`, or `w_j`.
    pub coefficient: f64,
    /// `k(x, x_i)`, or `x_j` as the machine sees it.
    pub value: f64,
    /// Their product.
    pub term: f64,
    /// Its part of the sum of all |terms|.
    pub share: f64,
    /// The training row, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_row: Option<u64>,
    /// The column's name, or its number counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

/// What one machine says of a row, and why, (M.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReasonView {
    /// What the machine tells apart.
    pub machine: String,
    /// f(x)
    pub decision_value: f64,
    /// b
    pub bias_value: f64,
    /// What a ball takes off for the row itself.
    pub own_term: Option<f64>,
    /// The largest terms.
    pub terms: Vec<TermView>,
    /// How many terms are not 0.
    pub terms_in_all: usize,
    /// Σ t_i
    pub sum_of_terms: f64,
    /// Σ |t_i|
    pub sum_of_sizes: f64,
    /// How far the boundary is.
    pub distance: Option<f64>,
}

impl ReasonView {
    fn new(model: &Model, reason: &Reason) -> Self {
        let terms = reason.terms.iter().map(|term| {
            let (training_row, column) = match term.source {
                TermSource::TrainingRow(row) => (Some(row + 1), None),
                TermSource::Column(column) => (None, Some(column_name(model, column))),
            };
            let (coefficient, value) = (term.coefficient, term.value);
            TermView { coefficient, value, term: term.term, share: term.share, training_row, column }
        });
        ReasonView {
            machine: machine_name(model, &model.machines()[reason.machine]),
            decision_value: reason.value,
            bias_value: reason.bias,
            own_term: reason.own,
            terms: terms.collect(),
            terms_in_all: reason.count,
            sum_of_terms: reason.sum,
            sum_of_sizes: reason.size,
            distance: reason.distance,
        }
    }
}

/// The name of a column, or its number counted from 1.
fn column_name(model: &Model, column: usize) -> String {
    let names = model.parts().names.as_ref();
    names.and_then(|names| names.get(column).cloned()).unwrap_or_else(|| (column + 1).to_string())
}

/// A row, explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedRow<'a> {
    /// The row, counted from 1.
    pub row: u64,
    /// What the data says of it.
    pub label: Option<&'a str>,
    /// The class that the model says.
    pub predicted: Option<&'a str>,
    /// The number that a regression says.
    pub number: Option<f64>,
    /// The decision value of every machine.
    pub decision_values: &'a [f64],
    /// The votes of pairs of classes.
    pub votes: Option<Vec<VoteView<'a>>>,
    /// The class that won and the next one.
    pub lead: Option<LeadView<'a>>,
    /// The machines that matter.
    pub machines: Vec<ReasonView>,
    /// What the user should know of the data.
    pub note: Option<&'a str>,
}

impl<'a> ExplainedRow<'a> {
    /// The view of a row, counted from 1, with its label in the data.
    pub fn new(model: &'a Model, row: u64, label: Option<&'a str>, found: &'a Explanation) -> Self {
        let name = |code: u32| model.label(code).text();
        let votes = found.votes.as_ref().map(|votes| {
            votes.iter().enumerate().map(|(code, &votes)| VoteView { label: name(code as u32), votes }).collect()
        });
        let lead =
            found.lead.map(|lead| LeadView { rival: name(lead.rival), value: lead.value, distance: lead.distance });
        ExplainedRow {
            row,
            label,
            predicted: found.code.map(name),
            number: if found.code.is_none() { found.values.first().copied() } else { None },
            decision_values: &found.values,
            votes,
            lead,
            machines: found.reasons.iter().map(|reason| ReasonView::new(model, reason)).collect(),
            note: found.note.as_deref(),
        }
    }
}

/// Rows, explained by one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplanationView<'a> {
    /// The kernel.
    pub kernel: String,
    /// Where distances are measured, in words.
    pub distances: &'static str,
    /// The rows.
    pub rows: Vec<ExplainedRow<'a>>,
}

impl<'a> ExplanationView<'a> {
    /// The view of rows that a model explains.
    pub fn new(model: &Model, rows: Vec<ExplainedRow<'a>>) -> Self {
        ExplanationView { kernel: model.recipe().kernel.to_string(), distances: Self::space(model), rows }
    }

    /// Where a model measures distances.
    pub fn space(model: &Model) -> &'static str {
        match (model.recipe().kernel.is_linear(), model.parts().scaling.is_some()) {
            (true, true) => "in scaled columns",
            (true, false) => "in the columns' own units",
            (false, _) => "in the kernel's space",
        }
    }
}
