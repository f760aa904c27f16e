//! What a verification reports.

use serde::Serialize;

use super::machine::{EvidenceView, machine_name};
use crate::landmarks::Proof;
use crate::model::Model;
use crate::review::{Disagreement, Verification};

/// The evidence that a model stores, and what was found when it was computed anew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedView<'a> {
    /// What the machine tells apart; left out for all classes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What the model says.
    pub stored: Option<EvidenceView<'a>>,
    /// What is true.
    pub found: EvidenceView<'a>,
    /// The proof against the exact machine computed anew, where the model has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// What a verification reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerificationView<'a> {
    /// Whether everything that the model says of itself is true.
    pub holds: bool,
    /// Whether the data is the training data; `None` where the model does not know it.
    pub same_data: Option<bool>,
    /// The numbers that differ.
    pub disagreements: &'a [Disagreement],
    /// The evidence for classes that were trained together.
    pub together: Option<ComparedView<'a>>,
    /// The evidence of each machine.
    pub machines: Vec<ComparedView<'a>>,
}

impl<'a> VerificationView<'a> {
    /// The view of what was found for a model.
    pub fn new(model: &'a Model, found: &'a Verification) -> Self {
        let stored = model.parts().joint.as_ref().map(EvidenceView::from);
        let (machines, proofs) = (model.machines().iter().zip(&found.evidence), &found.proofs);
        VerificationView {
            holds: found.holds(),
            same_data: found.same_data,
            disagreements: &found.disagreements,
            together: found.joint.as_ref().map(|found| ComparedView {
                machine: None,
                stored,
                found: found.into(),
                proof: None,
            }),
            machines: machines
                .enumerate()
                .map(|(number, (machine, found))| ComparedView {
                    machine: Some(machine_name(model, machine)),
                    stored: Some(EvidenceView::from(&machine.evidence)),
                    found: found.into(),
                    proof: proofs.get(number).copied().flatten(),
                })
                .collect(),
        }
    }
}
