//! What a training reports.

use serde::Serialize;

use super::machine::{EvidenceView, LandmarksView, MachinesView, ObjectiveView, SolvedView};
use crate::certificate::Certificate;
use crate::control::{Progress, Stop};
use crate::data::Dataset;
use crate::model::Model;
use crate::problem::Task;
use crate::training::Penalty;

/// How long the parts of a command took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Reading the data.
    pub read: f64,
    /// Training.
    pub train: f64,
    /// Saving the model.
    pub save: f64,
}

/// What a training knows beside its model.
#[derive(Clone, Debug, Default)]
pub struct TrainingFacts<'a, S> {
    /// What the data is called.
    pub data: &'a str,
    /// Rows that were trained on.
    pub rows: usize,
    /// The columns of the data.
    pub columns: usize,
    /// Why the solver was chosen, when it was not named.
    pub solver_reason: Option<&'a str>,
    /// Why the kernel and the scaling were chosen, where they were not named.
    pub choice: Option<&'a str>,
    /// The standard deviation of the targets, where C and ε were given in it.
    pub target_deviation: Option<f64>,
    /// Where randomness began.
    pub seed: u64,
    /// How long it took.
    pub seconds: Seconds,
    /// How well the training rows are predicted.
    pub training: Option<S>,
    /// Training rows that are predicted wrongly, where all were counted.
    pub training_errors: Option<usize>,
    /// How well rows are predicted that took no part.
    pub test: Option<S>,
    /// What the user should know, in whole sentences.
    pub notes: Vec<&'a str>,
    /// The model's file.
    pub model: Option<&'a str>,
    /// The picture's file.
    pub plot: Option<&'a str>,
    /// The training rows, where the dual variables are wanted.
    pub alpha_of: Option<&'a Dataset>,
    /// What a training out of core adds.
    pub out_of_core: Option<OutOfCoreView<'a>>,
}

/// What a training out of core adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutOfCoreView<'a> {
    /// Why it was out of core.
    pub reason: &'a str,
    /// How often the data was read.
    pub passes: u64,
    /// How much was read.
    pub bytes_read: u64,
    /// The cache's file, where it is kept.
    pub cache: Option<&'a str>,
}

/// The dual variables: one list, or one a machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Alpha {
    One(Vec<f64>),
    All(Vec<Vec<f64>>),
}

/// What a training reports. `S` is a score.
#[derive(Clone, Debug, Serialize)]
pub struct TrainingView<'a, S> {
    data: &'a str,
    rows: usize,
    columns: usize,
    #[serde(flatten)]
    solved: SolvedView<'a>,
    task: &'static str,
    epsilon: Option<f64>,
    nu: Option<f64>,
    solver_reason: Option<&'a str>,
    choice: Option<&'a str>,
    target_deviation: Option<f64>,
    scaling: &'static str,
    seed: u64,
    converged: bool,
    iterations: u64,
    seconds: Seconds,
    objective: Option<ObjectiveView>,
    violation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    landmarks: Option<LandmarksView>,
    training_errors: Option<usize>,
    training: Option<S>,
    margin: Option<f64>,
    slack_sum: Option<f64>,
    weights: Option<&'a [f64]>,
    bias_value: Option<f64>,
    certificate: Option<EvidenceView<'a>>,
    test: Option<S>,
    machines: MachinesView<'a>,
    notes: Vec<&'a str>,
    model: Option<&'a str>,
    plot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<Alpha>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_core: Option<OutOfCoreView<'a>>,
}

impl<'a, S> TrainingView<'a, S> {
    /// The view of a model that was trained.
    pub fn new(model: &'a Model, facts: TrainingFacts<'a, S>) -> Self {
        let (parts, machines) = (model.parts(), model.machines());
        let only = if let [only] = machines { Some(only) } else { None };
        let certificates: Option<Vec<&Certificate>> =
            machines.iter().map(|machine| machine.evidence.certificate()).collect();
        let extreme = |number: fn(&Certificate) -> f64, better: fn(f64, f64) -> f64| {
            certificates.as_ref().and_then(|all| all.iter().map(|found| number(found)).reduce(better))
        };
        let joint = parts.joint.as_ref();
        let (objective, violation) = match joint {
            Some(evidence) => {
                let found = evidence.certificate();
                (found.map(ObjectiveView::from), found.map(|found| found.violation))
            }
            None => (
                certificates.as_ref().map(|all| ObjectiveView::of_all(all)),
                extreme(|certificate| certificate.violation, f64::max),
            ),
        };
        TrainingView {
            data: facts.data,
            rows: facts.rows,
            columns: facts.columns,
            solved: SolvedView::new(model),
            task: parts.recipe.task.name(),
            epsilon: if let Task::Regression { epsilon } = parts.recipe.task { Some(epsilon) } else { None },
            nu: if let Penalty::Nu(nu) = parts.recipe.penalty { Some(nu) } else { parts.recipe.task.usual() },
            solver_reason: facts.solver_reason,
            choice: facts.choice,
            target_deviation: facts.target_deviation,
            scaling: parts.scaling.as_ref().map_or("none", |scaling| scaling.kind().name()),
            seed: facts.seed,
            converged: model.stop() == Stop::Converged,
            iterations: model.iterations(),
            seconds: facts.seconds,
            objective,
            violation,
            landmarks: LandmarksView::new(model),
            training_errors: facts.training_errors,
            training: facts.training,
            margin: extreme(|certificate| certificate.margin, f64::min),
            slack_sum: certificates.as_ref().map(|all| all.iter().map(|found| found.slack_sum).sum()),
            weights: only.and_then(|machine| machine.weights.as_deref()).filter(|_| parts.network.is_none()),
            bias_value: only.map(|machine| machine.bias),
            certificate: match joint {
                Some(evidence) => Some(EvidenceView::from(evidence)),
                None => only.map(|machine| EvidenceView::from(&machine.evidence)),
            },
            test: facts.test,
            machines: MachinesView::new(model),
            notes: facts.notes,
            model: facts.model,
            plot: facts.plot,
            alpha: facts.alpha_of.map(|data| alphas(model, data)),
            out_of_core: facts.out_of_core,
        }
    }
}

/// What is known of a training that was interrupted before it could make a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InterruptedView {
    stop: &'static str,
    converged: bool,
    machine: usize,
    of_machines: usize,
    iterations: u64,
    seconds: TrainSeconds,
    violation: Option<f64>,
    gap: Option<f64>,
    /// There is none.
    model: Option<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct TrainSeconds {
    train: f64,
}

impl InterruptedView {
    /// The view of what a solver said last, some seconds after its start.
    pub fn new(progress: &Progress, seconds: f64) -> Self {
        InterruptedView {
            stop: Stop::Interrupted.name(),
            converged: false,
            machine: progress.machine.0 + 1,
            of_machines: progress.machine.1,
            iterations: progress.iteration,
            seconds: TrainSeconds { train: seconds },
            violation: progress.violation,
            gap: progress.gap,
            model: None,
        }
    }
}

fn alphas(model: &Model, data: &Dataset) -> Alpha {
    let codes = model.codes(data);
    match model.machines() {
        [_] => Alpha::One(alpha(model, 0, &codes)),
        all => Alpha::All((0..all.len()).map(|number| alpha(model, number, &codes)).collect()),
    }
}

/// The dual variables of a machine, one a training row; 0 for rows that take no part.
fn alpha(model: &Model, number: usize, codes: &[Option<u32>]) -> Vec<f64> {
    let (mut alpha, pairing) = (vec![0.0; codes.len()], model.machines()[number].pairing);
    for (row, coefficient) in model.dual_coefficients(number) {
        // Of classes trained together every α has a sign of its own.
        let sign = if model.parts().joint.is_some() || !model.task().is_classification() {
            1.0
        } else {
            codes.get(row).copied().flatten().and_then(|code| pairing.sign(code as usize)).unwrap_or(0.0)
        };
        if let Some(alpha) = alpha.get_mut(row) {
            *alpha = coefficient * sign;
        }
    }
    alpha
}
