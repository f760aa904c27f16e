//! What a diagnosis reports.

use serde::Serialize;

use super::machine::SupportView;
use crate::data::Dataset;
use crate::diagnosis::{Finding, Severity};
use crate::model::Model;

/// A finding, with the words of whoever tells it: the way out names flags in the command line, and parameters in Python.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingView<'a> {
    severity: Severity,
    what: String,
    help: String,
    details: &'a Finding,
}

impl<'a> FindingView<'a> {
    /// A finding and what there is to say of it.
    pub fn new(finding: &'a Finding, what: String, help: String) -> Self {
        FindingView { severity: finding.severity(), what, help, details: finding }
    }
}

/// What a diagnosis reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagnosisView<'a> {
    data: &'a str,
    rows: usize,
    columns: usize,
    solver: Option<&'a str>,
    stop: Option<&'static str>,
    iterations: Option<u64>,
    support_vectors: Option<SupportView>,
    findings: Vec<FindingView<'a>>,
}

impl<'a> DiagnosisView<'a> {
    /// The view of what was found in data that has a name, and in a model of it.
    pub fn new(name: &'a str, data: &Dataset, model: Option<&'a Model>, findings: Vec<FindingView<'a>>) -> Self {
        DiagnosisView {
            data: name,
            rows: data.rows(),
            columns: data.columns(),
            solver: model.map(|model| model.provenance().origin.name()),
            stop: model.map(|model| model.stop().name()),
            iterations: model.map(Model::iterations),
            support_vectors: model.map(SupportView::of_model),
            findings,
        }
    }
}
