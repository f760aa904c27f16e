//! Models over a range of C, each begun where the one before has ended, so that a slider over C never waits.

use maxmargin::training::Penalty;
use maxmargin::{Control, Workers};
use serde::Serialize;

use crate::error::Error;
use crate::fit::Fitted;
use crate::grid::{self, Line, View};
use crate::problem;
use crate::request::{GridRequest, Method};

/// The grid of the pictures of a sweep.
const SIZE: GridRequest = GridRequest { columns: 64, rows: 45 };

/// The model of one C.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SweepEntry {
    c: f64,
    margin: Option<f64>,
    slack_sum: Option<f64>,
    primal: Option<f64>,
    relative_gap: Option<f64>,
    support: usize,
    errors: usize,
    /// w of a linear machine.
    weights: Option<Vec<f64>>,
    lines: Vec<Line>,
}

/// A model for each cost, in the order given.
pub(crate) fn sweep(
    fitted: &Fitted,
    costs: &[f64],
    view: View,
    workers: &Workers,
    control: &mut dyn Control,
) -> Result<Vec<SweepEntry>, Error> {
    if !matches!(fitted.asked.method, Method::Svm | Method::Logistic) {
        return Err(Error::new("this method has no C", "choose the support vector machine or logistic regression"));
    }
    let mut asked = fitted.asked.clone();
    asked.c = Some(1.0);
    let training = problem::params(&asked)?.check()?;
    let penalties: Vec<Penalty> = costs.iter().map(|&cost| Penalty::C(cost)).collect();
    let models = training.fit_path(&fitted.data, &penalties, workers, control)?;
    let mut entries = Vec::with_capacity(models.len());
    for (model, &c) in models.into_iter().zip(costs) {
        let own = Fitted { model, steps: None, ..fitted.clone() };
        let certificate = own.only_machine().and_then(|machine| machine.evidence.certificate());
        let lines = grid::grid(&own, view, SIZE, None, workers, control)?.lines;
        entries.push(SweepEntry {
            c,
            margin: certificate.map(|found| found.margin),
            slack_sum: certificate.map(|found| found.slack_sum),
            primal: certificate.map(|found| found.primal),
            relative_gap: certificate.map(|found| found.relative_gap),
            support: own.model.parts().support_rows.len(),
            errors: own.model.machines().iter().map(|machine| machine.training_errors).sum(),
            weights: own.only_machine().and_then(|machine| machine.weights.clone()),
            lines,
        });
    }
    Ok(entries)
}
