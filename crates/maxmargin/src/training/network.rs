//! Training a network: what goes with it, and the machines over its last layer.

use super::assembly::Trained;
use super::joint::TOGETHER;
use super::machines::Shared;
use super::{Beginning, Training, TrainingParams};
use crate::certificate::Evidence;
use crate::certificate::joint::JointEvidence;
use crate::control::Control;
use crate::error::{Error, Parameter};
use crate::kernel::KernelParams;
use crate::model::{Machine, Model, network_errors};
use crate::problem::{Bias, Loss, Penalty};
use crate::recipe::Multiclass;
use crate::solver::{self, NETWORK_NOT_CONVEX, SolverKind};

/// Hidden layers, and units of each, at most.
const MOST_LAYERS: usize = 16;
const MOST_UNITS: usize = 1 << 16;
/// Starts at most.
const MOST_STARTS: usize = 1000;

impl TrainingParams {
    /// Checks the shape of a network.
    pub(super) fn check_shape(&self) -> Result<(), Error> {
        let settings = &self.settings;
        if !(1..=MOST_LAYERS).contains(&settings.hidden.len()) {
            let found = format!("{} layers", settings.hidden.len());
            return Err(Error::parameter(
                Parameter::Hidden,
                found,
                "1 to 16 layers; without one it is the solver logistic",
            ));
        }
        if let Some(units) = settings.hidden.iter().find(|units| !(1..=MOST_UNITS).contains(*units)) {
            let allowed = "from 1 to 65536 units a layer; without a hidden layer it is the solver logistic";
            return Err(Error::parameter(Parameter::Hidden, units, allowed));
        }
        if !(1..=MOST_STARTS).contains(&settings.starts) {
            return Err(Error::parameter(Parameter::Starts, settings.starts, "from 1 to 1000"));
        }
        Ok(())
    }
}

impl Training {
    /// Checks that everything that was asked for goes with a network.
    pub(super) fn check_network(&self, beginning: &Beginning<'_>, classes: usize) -> Result<(), Error> {
        let params = &self.params;
        let refuse = |what: &str, help: &str| {
            Err(Error::Combination { what: format!("the solver mlp {what}"), help: help.into() })
        };
        if !params.task.is_classification() {
            return refuse("tells classes apart", "choose task classification, or another solver");
        }
        if !matches!(params.kernel, KernelParams::Linear) {
            return refuse(
                "makes features of its own in the place of a kernel's",
                "choose kernel linear, or a solver for kernels (smo, rvm)",
            );
        }
        if self.loss != Loss::Logistic {
            let what = format!("minimises logistic loss, not {}", self.loss.name());
            return refuse(&what, "leave out the loss, or choose another solver");
        }
        if params.bias != Bias::Explicit {
            return refuse("has an explicit bias for every unit", "leave out the bias");
        }
        if matches!(params.penalty, Penalty::None | Penalty::Hard | Penalty::Nu(_)) {
            return refuse("needs a penalty on the weights", "choose C, or lambda above 0");
        }
        if params.settings.gap.is_some() {
            return refuse("knows of no gap, because its problem is not convex", "give a tolerance instead");
        }
        if classes > 2 && params.way() != Multiclass::Joint {
            return refuse("finds all classes together", "leave out multiclass, or choose joint");
        }
        match beginning {
            Beginning::Scratch => Ok(()),
            Beginning::Checkpoint(_) => refuse("keeps no checkpoints", "begin from scratch"),
            Beginning::Model(_) | Beginning::Part { .. } => refuse("has no use for a warm start", "begin from scratch"),
        }
    }

    /// Trains a network, and the machines over its last layer.
    ///
    /// # Errors
    /// When there is no such problem, or the solver lacks memory.
    pub(super) fn fit_network(&self, shared: &Shared<'_>, control: &mut dyn Control) -> Result<Trained, Error> {
        let (problem, cost) = shared.recipe.joint_problem(shared.points, shared.workers, shared.answers)?;
        let solution = solver::solve_network(&problem, &self.params.settings, control)?;
        let together = shared.recipe.multiclass.is_joint(problem.classes());
        let why = if together { TOGETHER } else { NETWORK_NOT_CONVEX };
        let (mut machines, mut notes) = (Vec::with_capacity(shared.pairings.len()), solution.notes);
        for ((&pairing, weights), &bias) in shared.pairings.iter().zip(&solution.weights).zip(&solution.biases) {
            machines.push(Machine {
                pairing,
                bias,
                stop: solution.stop,
                iterations: solution.iterations,
                training_errors: 0,
                rows: problem.len(),
                cost: Some(cost),
                epsilon: None,
                reach: None,
                calibration: None,
                evidence: Evidence::None(why.into()),
                notes: std::mem::take(&mut notes),
                weights: Some(weights.clone()),
                support: Vec::new(),
                coefficients: Vec::new(),
            });
        }
        let errors = network_errors(&solution.network, &machines, &problem, shared.workers);
        machines.iter_mut().zip(errors).for_each(|(machine, errors)| machine.training_errors = errors);
        Ok(Trained {
            solver: SolverKind::Mlp,
            machines,
            joint: together.then(|| JointEvidence::None(NETWORK_NOT_CONVEX.into())),
            network: Some(solution.network),
            support_rows: Vec::new(),
            vectors: None,
            landmarks: None,
        })
    }
}

/// A network to start from is of no use to other solvers.
///
/// # Errors
/// When the model has one.
pub(super) fn refuse_network(model: &Model) -> Result<(), Error> {
    if model.parts().network.is_none() {
        return Ok(());
    }
    Err(Error::Combination {
        what: "the model to start from is a network, whose weights are not those of the columns".into(),
        help: "begin from scratch".into(),
    })
}
