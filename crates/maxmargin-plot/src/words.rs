//! A model in words: what it is, and how good it is.

use maxmargin::certificate::Evidence;
use maxmargin::kernel::{KernelFunction, Polynomial, Sigmoid};
use maxmargin::model::{Model, Network};
use maxmargin::problem::Task;
use maxmargin::training::Penalty;

use crate::drawing::axis::short;
use crate::drawing::text::{counted, safe};
use crate::rows::{Rows, has_relevance_vectors};

/// Kernel, penalty and loss.
pub(crate) fn what(model: &Model) -> String {
    let parts = model.parts();
    if let Some(nu) = parts.recipe.task.usual() {
        let what = if let Task::Svdd { .. } = parts.recipe.task { "a ball" } else { "one class" };
        return format!("{}, {what}, ν = {}", kernel(&parts.recipe.kernel), short(nu));
    }
    let penalty = match parts.recipe.penalty {
        Penalty::C(c) => format!("C = {}", short(c)),
        Penalty::COverN(c) => format!("C = {}/n", short(c)),
        Penalty::Lambda(lambda) => format!("λ = {}", short(lambda)),
        Penalty::Nu(nu) => format!("ν = {}", short(nu)),
        Penalty::Hard => "hard margin".into(),
        Penalty::None => "no penalty".into(),
    };
    let features = parts.network.as_ref().map_or_else(|| kernel(&parts.recipe.kernel), network);
    if has_relevance_vectors(model) {
        return format!("{features}, relevance vector machine");
    }
    match (parts.recipe.task, parts.recipe.penalty) {
        (Task::Regression { epsilon }, _) => format!("{features}, {penalty}, ε = {}", short(epsilon)),
        (_, Penalty::Hard) => format!("{features}, {penalty}"),
        _ => format!("{features}, {penalty}, {} loss", parts.recipe.loss.name()),
    }
}

/// A network by its hidden units.
fn network(network: &Network) -> String {
    let units: Vec<String> = network.layers.iter().map(|layer| layer.outputs.to_string()).collect();
    format!("network of {} {} units", units.join(" and "), network.activation.name())
}

/// A kernel with its parameters in few digits.
fn kernel(kernel: &KernelFunction) -> String {
    let name = kernel.name();
    match kernel {
        KernelFunction::Polynomial(Polynomial { gamma, coef0, degree }) => {
            format!("{name} kernel of degree {degree} (γ = {}, c = {})", short(*gamma), short(*coef0))
        }
        KernelFunction::Sigmoid(Sigmoid { gamma, coef0 }) => {
            format!("{name} kernel (γ = {}, c = {})", short(*gamma), short(*coef0))
        }
        KernelFunction::Custom(_) => safe(&kernel.to_string()),
        _ => kernel.decay().map_or(format!("{name} kernel"), |gamma| format!("{name} kernel (γ = {})", short(gamma))),
    }
}

/// Support vectors, errors and gap.
pub(crate) fn how_good(model: &Model, rows: &Rows) -> String {
    let parts = model.parts();
    let mut facts = Vec::new();
    if !parts.support_rows.is_empty() {
        let what = if has_relevance_vectors(model) { "relevance vector" } else { "support vector" };
        facts.push(counted(parts.support_rows.len(), what));
    }
    match (rows.training, model.machines()) {
        (Some(_), _) if !model.task().is_classification() => {
            facts.push(format!("{} of {} rows outside", rows.errors(), rows.len()));
        }
        (Some(true), _) => facts.push(counted(rows.errors(), "training error")),
        (Some(false), _) => facts.push(format!("{} on these {} rows", counted(rows.errors(), "error"), rows.len())),
        (None, [machine]) => facts.push(counted(machine.training_errors, "training error")),
        _ => {}
    }
    facts.push(gap(model));
    facts.join(" · ")
}

/// How far the model is from the best one at most.
pub(crate) fn gap(model: &Model) -> String {
    let parts = model.parts();
    if let Some(evidence) = &parts.joint {
        return match evidence.certificate() {
            Some(found) => format!("duality gap {}", short(found.gap)),
            None => "no certificate".into(),
        };
    }
    let gaps: Option<Vec<f64>> =
        model.machines().iter().map(|machine| machine.evidence.certificate().map(|found| found.gap)).collect();
    match (gaps, model.machines()) {
        (Some(gaps), [_]) => format!("duality gap {}", short(gaps[0])),
        (Some(gaps), _) => format!("duality gaps up to {}", short(gaps.into_iter().fold(0.0, f64::max))),
        (None, machines) => {
            let none = machines.iter().filter(|machine| matches!(machine.evidence, Evidence::None(_))).count();
            if none == machines.len() {
                "no certificate".into()
            } else {
                format!("{none} machines without certificate")
            }
        }
    }
}
