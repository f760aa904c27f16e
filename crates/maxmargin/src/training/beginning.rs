//! Where a training begins: from scratch, where it was, or at a model.

use super::Training;
use super::machines::Shared;
use super::matching::parameters;
use super::network::refuse_network;
use crate::checkpoint::{Checkpoint, MachineState};
use crate::error::Error;
use crate::model::Model;
use crate::recipe::Pairing;

/// Where a training begins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Beginning<'a> {
    /// As if the data had never been seen.
    Scratch,
    /// Where the same training was.
    Checkpoint(Checkpoint),
    /// At a model of the same data, trained with another penalty, kernel or tolerance: each machine begins at its α
    ///
    /// ```text
    /// α_i = c_i y_i · C/C_old                                              (T.2)
    /// ```
    ///
    /// With the L1 norm it begins at its w and b.
    Model(&'a Model),
    /// At a model of more rows: the data is some of them, by their places, increasing. As [`Beginning::Model`] in all else; that the rows
    /// are the same is for the caller to see to.
    Part {
        /// The model of all rows.
        model: &'a Model,
        /// Which of its rows the data has.
        rows: &'a [usize],
    },
}

impl Training {
    /// The states that the machines begin in.
    pub(super) fn begin(&self, beginning: Beginning<'_>, shared: &Shared<'_>) -> Result<Checkpoint, Error> {
        let (fingerprint, parameters) = (shared.fingerprint.to_string(), parameters(&self.params));
        let machines = match beginning {
            Beginning::Scratch => shared.pairings.iter().map(|_| MachineState::scratch()).collect(),
            Beginning::Checkpoint(checkpoint) => {
                checkpoint.check_parameters(&self.params)?;
                checkpoint.check(shared.data, &fingerprint, shared.pairings, shared.workers)?;
                checkpoint.machines
            }
            Beginning::Model(model)
                if model.provenance().fingerprint != fingerprint
                    && !shared.data.has_fingerprint(&model.provenance().fingerprint, shared.workers) =>
            {
                return Err(of_other_data());
            }
            Beginning::Model(model) => warm_starts(model, None, shared)?,
            Beginning::Part { model, rows } => warm_starts(model, Some(rows), shared)?,
        };
        Ok(Checkpoint { fingerprint, parameters, machines })
    }
}

/// Where the machines begin that a model has, too; the others begin from scratch.
///
/// # Errors
/// When the model has none of the machines.
fn warm_starts(model: &Model, rows: Option<&[usize]>, shared: &Shared<'_>) -> Result<Vec<MachineState>, Error> {
    refuse_network(model)?;
    let old = model.parts();
    // What a nu of a regression came to is an epsilon.
    let (task, old_task) = (shared.recipe.task, old.recipe.task);
    let same_task = std::mem::discriminant(&old_task) == std::mem::discriminant(&task)
        || old_task.is_regression() && task.is_regression();
    let same_classes = same_task && old.classes == shared.classes && old.one_against_rest == shared.one_against_rest;
    let found = |pairing: Pairing| old.machine_of(pairing).filter(|_| same_classes);
    if shared.pairings.iter().all(|&pairing| found(pairing).is_none()) {
        return Err(Error::Combination {
            what: "no machine of the model to start from tells the same classes apart".into(),
            help: "choose multiclass and the positive label as the model has them, or begin from scratch".into(),
        });
    }
    let codes = shared.labels.codes();
    let state = |&pairing: &Pairing| {
        let Some(machine) = found(pairing) else { return MachineState::scratch() };
        let cost = shared.recipe.machine_cost(shared.answers, pairing, shared.workers);
        // A hard margin has no C to go by.
        let ratio = machine.cost.map(|old| cost / old).filter(|ratio| ratio.is_finite()).unwrap_or(1.0);
        let alpha = |(row, coefficient): (usize, f64)| {
            let row = match rows {
                Some(rows) => rows.binary_search(&row).ok()? as u64,
                None => row as u64,
            };
            let sign = pairing.sign(*codes.get(row as usize)? as usize)?;
            let alpha = coefficient * sign * ratio; // (T.2)
            (alpha > 0.0 || task.is_regression()).then_some((row, alpha))
        };
        let point = machine.weights.clone().map(|weights| (weights, machine.bias));
        let number = old.recipe.place(old.classes.len(), pairing).unwrap_or(usize::MAX);
        let alpha = model.dual_coefficients(number).filter_map(alpha).collect();
        MachineState::Untouched { alpha, point }
    };
    Ok(shared.pairings.iter().map(state).collect())
}

fn of_other_data() -> Error {
    Error::Data {
        what: "the model to start from was trained on other data".into(),
        help: "give a model of the same rows, columns, labels and weights, or begin from scratch".into(),
    }
}
