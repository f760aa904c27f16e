//! What a model says of rows beside its predictions: how well it does, why, which rows are odd, and what may be wrong.
//!
//! Every function returns the view that the command line prints with `--json`. Rows in it are counted from 1, as they are there; the Python
//! side counts them from 0.

use std::sync::Arc;

use maxmargin::diagnosis::{of_data, of_kernel, of_model};
use maxmargin::kernel::{KernelParams, Points};
use maxmargin::review::Detail;
use maxmargin::view::{DiagnosisView, ExplainedRow, ExplanationView, FindingView, ScoreView, SuspectsView};
use pyo3::prelude::*;

use crate::data::{Data, workers};
use crate::door::{self, Watch};
use crate::errors::Fault;
use crate::model::Model;
use crate::params::Answers;

/// How well a model predicts rows with answers. Decision values are kept up to this number, 32 MB; beyond it there is no AUC.
const MOST_KEPT: usize = 1 << 22;

/// How well a model predicts rows, by what is known of them.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    answers: Answers<'_>,
    threads: usize,
) -> PyResult<String> {
    let dataset = answers.dataset(&data.matrix)?;
    let model = Arc::clone(&model.inner);
    door::run(py, Watch::default(), move |_| {
        let workers = workers(threads, usize::MAX)?;
        let aligned = model.align_by(&dataset, &workers)?;
        let has_values = dataset.rows().saturating_mul(model.machines().len()) <= MOST_KEPT;
        let predictions = if has_values {
            model.predict_aligned(aligned, &workers)
        } else {
            model.predict_classes(aligned, &workers)
        };
        let found = ScoreView::of_model(&model, &dataset, &predictions, has_values).ok_or_else(|| Fault::Input {
            what: "there is nothing to compare the predictions with".into(),
            help: "give the answers of the rows".into(),
        })?;
        in_json(serde_json::to_string(&found))
    })
}

/// Why a model says of rows what it says. `numbers` are the numbers of the rows, counted from 1, in the data that they are taken from.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // they have names in Python
pub(crate) fn explain(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    answers: Answers<'_>,
    numbers: Vec<u64>,
    terms: usize,
    all_machines: bool,
    threads: usize,
) -> PyResult<String> {
    let dataset = answers.dataset(&data.matrix)?;
    let model = Arc::clone(&model.inner);
    door::run(py, Watch::default(), move |_| {
        let workers = workers(threads, usize::MAX)?;
        let detail = Detail { terms, all_machines };
        let mut found = Vec::with_capacity(dataset.rows());
        for row in 0..dataset.rows() {
            found.push((model.explain(&dataset, row, detail, &workers)?, dataset.answers().text(row)));
        }
        let rows = numbers.iter().zip(&found).map(|(&number, (why, label))| {
            let label = label.as_deref();
            ExplainedRow::new(&model, number, label, why)
        });
        in_json(serde_json::to_string(&ExplanationView::new(&model, rows.collect())))
    })
}

/// The rows whose label, number or place deserves a second look, the worst `top` of them.
#[pyfunction]
pub(crate) fn suspects(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    answers: Answers<'_>,
    top: usize,
    threads: usize,
) -> PyResult<String> {
    let dataset = answers.dataset(&data.matrix)?;
    let model = Arc::clone(&model.inner);
    door::run(py, Watch::default(), move |_| {
        let found = model.suspects(&dataset, &workers(threads, usize::MAX)?)?;
        in_json(serde_json::to_string(&SuspectsView::new(&model, &dataset, &found, top)))
    })
}

/// What may be wrong with data, with a model of it, or with a kernel and a cost of slack for it. What each finding means is said in Python,
/// which knows its own parameters.
#[pyfunction]
#[pyo3(signature = (data, answers, model, kernel, cost, threads))]
pub(crate) fn diagnose(
    py: Python<'_>,
    data: &Data,
    answers: Answers<'_>,
    model: Option<&Model>,
    kernel: Option<String>,
    cost: Option<f64>,
    threads: usize,
) -> PyResult<String> {
    let dataset = answers.dataset(&data.matrix)?;
    let model = model.map(|model| Arc::clone(&model.inner));
    let kernel = kernel.map(|kernel| kernel.parse::<KernelParams>().map_err(Fault::from)).transpose()?;
    door::run(py, Watch::default(), move |_| {
        let workers = workers(threads, usize::MAX)?;
        let is_labelled = !dataset.answers().is_none();
        let mut findings = of_data(&dataset, dataset.answers().labels().is_some(), &workers);
        if let Some(model) = &model {
            findings.extend(of_model(model, &dataset, is_labelled, &workers)?);
            let cost = model.machines().iter().filter_map(|machine| machine.cost).reduce(f64::max);
            let cost = cost.filter(|_| model.task().is_classification());
            findings.extend(of_kernel(&model.recipe().kernel, &model.align(&dataset)?.points, cost));
        }
        if let Some(kernel) = &kernel {
            let kernel = kernel.check(dataset.matrix())?;
            findings.extend(of_kernel(&kernel, &Points::new(dataset.matrix().clone(), false), cost));
        }
        // What matters most comes first; else the order stays.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
        let views = findings.iter().map(|finding| FindingView::new(finding, String::new(), String::new())).collect();
        in_json(serde_json::to_string(&DiagnosisView::new("X", &dataset, model.as_deref(), views)))
    })
}

/// The text of a view.
pub(crate) fn in_json(text: serde_json::Result<String>) -> Result<String, Fault> {
    text.map_err(|error| Fault::Bug(error.to_string()))
}
