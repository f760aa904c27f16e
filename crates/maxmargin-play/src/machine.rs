//! The numbers of a model, as the page shows them.

use maxmargin::certificate::Counts;
use maxmargin::model::Model;
use serde::Serialize;

use crate::fit::Fitted;

/// A model in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ModelNumbers {
    /// The labels, sorted; of two the second is positive.
    labels: Vec<String>,
    solver: String,
    /// Why that solver, where nobody named it.
    reason: Option<String>,
    kernel: String,
    stop: &'static str,
    converged: bool,
    iterations: u64,
    certificate: Option<CertificateNumbers>,
    /// Why there is no certificate.
    uncertified: Option<String>,
    training_errors: usize,
    machines: Vec<MachineNumbers>,
}

/// How far a model is from the best one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct CertificateNumbers {
    primal: f64,
    dual: f64,
    gap: f64,
    relative_gap: f64,
    violation: f64,
}

/// One machine in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct MachineNumbers {
    positive: String,
    /// The other label; none where it is the rest.
    negative: Option<String>,
    /// w of a linear machine.
    weights: Option<Vec<f64>>,
    bias: f64,
    margin: Option<f64>,
    slack_sum: Option<f64>,
    counts: Option<Counts>,
    support: usize,
}

/// The numbers of a fit.
pub(crate) fn numbers(fitted: &Fitted, training_errors: usize) -> ModelNumbers {
    let model = &fitted.model;
    let name = |class: usize| model.classes()[class].text().to_string();
    let machines = model.machines().iter().map(|machine| {
        let certificate = machine.evidence.certificate();
        MachineNumbers {
            positive: name(machine.pairing.positive),
            negative: machine.pairing.negative.map(name),
            weights: machine.weights.clone().filter(|_| model.parts().network.is_none()),
            bias: machine.bias,
            margin: certificate.map(|found| found.margin),
            slack_sum: certificate.map(|found| found.slack_sum),
            counts: certificate.map(|found| found.counts),
            support: machine.support.len(),
        }
    });
    ModelNumbers {
        labels: model.classes().iter().map(|label| label.text().to_string()).collect(),
        solver: model.provenance().origin.to_string(),
        reason: model.choice().map(ToString::to_string),
        kernel: model.recipe().kernel.to_string(),
        stop: model.stop().name(),
        converged: model.stop() == maxmargin::Stop::Converged,
        iterations: model.iterations(),
        certificate: model.certificate().map(|found| CertificateNumbers {
            primal: found.primal,
            dual: found.dual,
            gap: found.gap,
            relative_gap: found.relative_gap,
            violation: found.violation,
        }),
        uncertified: uncertified(model),
        training_errors,
        machines: machines.collect(),
    }
}

/// Why there is no certificate, from the first machine that has none.
fn uncertified(model: &Model) -> Option<String> {
    model.machines().iter().find_map(|machine| match &machine.evidence {
        maxmargin::Evidence::None(reason) => Some(reason.clone()),
        maxmargin::Evidence::Certificate(_) => None,
    })
}
