//! E2: points that no line separates.

use super::{Entry, Notebook, certificate, decision_values, embedded, line, params, signs};
use crate::data::Dataset;
use crate::error::Error;
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E2",
    title: "points that no line separates",
    shows: "Four points inside the margin or on the wrong side pay with slack; their multipliers sit at the bound C. The \
            line is that of E1.",
    figure,
    run,
};

const OBJECTIVE: f64 = 29.0 / 72.0 + 17.0 / 3.0;

/// The last four rows, which E1 does not have: the point, and its slack.
const SLACKS: [(&str, f64); 4] =
    [("(4, 2)", 1.0 / 3.0), ("(2, 3)", 5.0 / 3.0), ("(3, 2)", 5.0 / 6.0), ("(5, 3)", 17.0 / 6.0)];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    Ok((embedded("e2")?, TrainingParams { penalty: Penalty::C(1.0), ..params() }))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (data, params) = figure()?;
    for (kind, model) in notebook.fit_all(&data, &params)? {
        notebook.all_equal(&["w1", "w2", "b"], kind, &[5.0 / 6.0, 1.0 / 3.0, -10.0 / 3.0], &line(&model));
        let found = certificate(&model)?;
        notebook.equal("objective", Some(kind), OBJECTIVE, found.primal);
        notebook.equal("dual objective", Some(kind), OBJECTIVE, found.dual);
        notebook.equal("sum of slacks", Some(kind), 17.0 / 3.0, found.slack_sum);
        let (values, signs) = (decision_values(&model, &data, notebook.workers)?, signs(&model, &data));
        let coefficients = super::coefficients(&model);
        for (row, (point, slack)) in (14..).zip(SLACKS) {
            notebook.equal(format!("slack of {point}"), Some(kind), slack, 1.0 - signs[row] * values[row]);
            notebook.equal(format!("alpha of {point}"), Some(kind), 1.0, signs[row] * coefficients[row]);
        }
        notebook.count("misclassified points", Some(kind), 2, super::machine(&model).training_errors);
        let wrong = (0..data.rows()).filter(|&row| signs[row] * values[row] < 0.0).map(|row| row + 1).sum();
        notebook.count("sum of their row numbers: (2, 3) is row 16, (5, 3) row 18", Some(kind), 34, wrong);
    }
    notebook.descend(&data, &params, "", OBJECTIVE)
}
