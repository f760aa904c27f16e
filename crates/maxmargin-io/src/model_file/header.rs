//! What stands in the header of a model file: names and numbers as JSON, and no vectors. A key that is there stays, with its meaning.

use maxmargin::Stop;
use maxmargin::calibration::Calibration;
use maxmargin::certificate::Evidence;
use maxmargin::certificate::joint::JointEvidence;
use maxmargin::data::{Label, Scaling};
use maxmargin::kernel::KernelFunction;
use maxmargin::landmarks::{DualPoint, Proof};
use maxmargin::model::{Machine, ModelParts, Multiclass, Network, Pairing};
use maxmargin::problem::{Bias, Loss, Norm, Penalty, Task};
use maxmargin::provenance::{Note, Origin, Provenance};
use maxmargin::recipe::Recipe;
use serde::{Deserialize, Serialize};

/// A model without its vectors, weights and coefficients.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(default, skip_serializing_if = "is_classification")]
    task: Task,
    kernel: KernelFunction,
    bias: Bias,
    loss: Loss,
    penalty: Penalty,
    #[serde(default, skip_serializing_if = "Norm::is_l2")]
    norm: Norm,
    solver: String,
    tolerance: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    multiclass: Multiclass,
    classes: Vec<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class_weights: Option<Vec<f64>>,
    one_against_rest: bool,
    columns: usize,
    names: Option<Vec<String>>,
    scaling: Option<Scaling>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
    training_rows: usize,
    fingerprint: String,
    machines: Vec<MachineHeader>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    joint: Option<JointEvidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    landmarks: Option<Vec<LandmarkHeader>>,
}

/// What a file says of a machine on landmarks beside its dual point.
#[derive(Serialize, Deserialize)]
struct LandmarkHeader {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
}

/// Whether a task need not be mentioned.
fn is_classification(task: &Task) -> bool {
    task.is_classification()
}

/// A machine without its vectors.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Machine")]
pub(crate) struct MachineHeader {
    pairing: Pairing,
    bias: f64,
    stop: Stop,
    iterations: u64,
    training_errors: usize,
    rows: usize,
    cost: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reach: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    evidence: Evidence,
    notes: Vec<String>,
}

impl Header {
    /// What a file says of a model, with the facts of these machines: those of many stand in tensors.
    pub(super) fn of(parts: &ModelParts, machines: &[Machine]) -> Self {
        let recipe = parts.recipe.clone();
        Header {
            task: recipe.task,
            kernel: recipe.kernel,
            bias: recipe.bias,
            loss: recipe.loss,
            penalty: recipe.penalty,
            norm: recipe.norm,
            solver: parts.provenance.origin.name().into(),
            tolerance: parts.provenance.tolerance,
            gap: parts.provenance.gap,
            multiclass: recipe.multiclass,
            classes: parts.classes.clone(),
            class_weights: recipe.class_weights,
            one_against_rest: parts.one_against_rest,
            columns: parts.columns,
            names: parts.names.clone(),
            scaling: parts.scaling.clone(),
            network: parts.network.clone(),
            training_rows: parts.provenance.rows,
            fingerprint: parts.provenance.fingerprint.clone(),
            machines: machines.iter().map(MachineHeader::of).collect(),
            joint: parts.joint.clone(),
            landmarks: parts
                .landmarks
                .as_ref()
                .map(|points| points.iter().map(|point| LandmarkHeader { proof: point.proof }).collect()),
        }
    }

    /// The parts of a model, whose vectors are still to come.
    pub(super) fn into_parts(self) -> ModelParts {
        let recipe = Recipe {
            task: self.task,
            kernel: self.kernel,
            bias: self.bias,
            loss: self.loss,
            penalty: self.penalty,
            norm: self.norm,
            multiclass: self.multiclass,
            class_weights: self.class_weights,
        };
        ModelParts {
            recipe,
            provenance: Provenance {
                origin: Origin::of_name(&self.solver),
                rows: self.training_rows,
                fingerprint: self.fingerprint,
                tolerance: self.tolerance,
                gap: self.gap,
            },
            classes: self.classes,
            one_against_rest: self.one_against_rest,
            columns: self.columns,
            names: self.names,
            scaling: self.scaling,
            network: self.network,
            machines: self.machines.into_iter().map(MachineHeader::into_machine).collect(),
            joint: self.joint,
            support_rows: Vec::new(),
            vectors: None,
            landmarks: self.landmarks.map(|points| {
                points.into_iter().map(|LandmarkHeader { proof }| DualPoint { proof, ..DualPoint::default() }).collect()
            }),
        }
    }
}

impl MachineHeader {
    /// What a file says of a machine.
    pub(crate) fn of(machine: &Machine) -> Self {
        MachineHeader {
            pairing: machine.pairing,
            bias: machine.bias,
            stop: machine.stop,
            iterations: machine.iterations,
            training_errors: machine.training_errors,
            rows: machine.rows,
            cost: machine.cost,
            epsilon: machine.epsilon,
            reach: machine.reach,
            calibration: machine.calibration.clone(),
            evidence: machine.evidence.clone(),
            notes: machine.notes.iter().map(Note::to_string).collect(),
        }
    }

    /// A machine whose vectors are still to come.
    pub(crate) fn into_machine(self) -> Machine {
        Machine {
            pairing: self.pairing,
            bias: self.bias,
            stop: self.stop,
            iterations: self.iterations,
            training_errors: self.training_errors,
            rows: self.rows,
            cost: self.cost,
            epsilon: self.epsilon,
            reach: self.reach,
            calibration: self.calibration,
            evidence: self.evidence,
            notes: self.notes.iter().map(|words| Note::of_words(words)).collect(),
            weights: None,
            support: Vec::new(),
            coefficients: Vec::new(),
        }
    }
}
