//! From a stream to a model.

use super::StreamingSgd;
use crate::certificate::Evidence;
use crate::control::Stop;
use crate::error::Error;
use crate::kernel::{KernelFunction, Linear};
use crate::model::{Machine, Model, ModelParts};
use crate::problem::{Norm, Penalty, Task};
use crate::provenance::{Note, Origin, Provenance, SolverKind};
use crate::recipe::{Multiclass, Recipe};

/// The reason that stands in the place of a certificate.
const NO_CERTIFICATE: &str = "rows that stream by leave no dual variables behind, and without them the distance from the \
                              optimum is not known; verify finds it where the rows fit into memory";

impl StreamingSgd {
    /// The model at this moment: the average (ST.4), or the last w where no average is asked for. Rows that wait for their batch to fill are
    /// not in it.
    ///
    /// # Errors
    /// When no rows have been learnt, or a weight is not finite.
    pub fn model(&self, stop: Stop) -> Result<Model, Error> {
        if self.learnt == 0 || self.classes.is_empty() {
            return Err(Error::Data {
                what: "no rows have been learnt".into(),
                help: "give at least one row that has weight and is not held out".into(),
            });
        }
        let lambda = self.params.lambda;
        let total = self.weight[0].max(self.weight[1]);
        let multiclass = Multiclass::OneVsRest;
        let rows = usize::try_from(self.longest.max(self.rows)).unwrap_or(usize::MAX);
        let machines = self.machines.iter().zip(multiclass.pairings(self.classes.len())).map(|(machine, pairing)| {
            let (weights, bias) = machine.model();
            Machine {
                pairing,
                bias,
                stop,
                iterations: self.steps,
                training_errors: usize::try_from(machine.errors).unwrap_or(usize::MAX),
                rows,
                cost: Some(Penalty::Lambda(lambda).cost(total)).filter(|cost| cost.is_finite()),
                epsilon: None,
                reach: None,
                calibration: None,
                evidence: Evidence::None(NO_CERTIFICATE.into()),
                notes: vec![Note::ErrorsBeforeLearning],
                weights: Some(weights),
                support: Vec::new(),
                coefficients: Vec::new(),
            }
        });
        let recipe = Recipe {
            task: Task::Classification,
            kernel: KernelFunction::Linear(Linear {}),
            bias: self.params.bias,
            loss: self.params.loss,
            penalty: Penalty::Lambda(lambda),
            norm: Norm::L2,
            multiclass,
            class_weights: None,
        };
        Model::new(ModelParts {
            recipe,
            provenance: Provenance {
                origin: Origin::Trained(SolverKind::Sgd),
                rows,
                fingerprint: String::new(),
                // Nothing was asked for, and nothing is promised.
                tolerance: f64::MAX,
                gap: None,
            },
            classes: self.classes.clone(),
            one_against_rest: false,
            columns: self.columns,
            names: self.names.clone(),
            scaling: None,
            network: None,
            machines: machines.collect(),
            joint: None,
            support_rows: Vec::new(),
            vectors: None,
            landmarks: None,
        })
    }
}
