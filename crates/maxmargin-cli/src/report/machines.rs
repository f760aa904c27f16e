//! What there is to say of each machine of a model, and of all of them together.

use maxmargin::Model;
use maxmargin::calibration::Calibration;
use maxmargin::certificate::joint::{JointCertificate, JointEvidence};
use maxmargin::certificate::{Certificate, Evidence};
use maxmargin::data::Label;
use maxmargin::error::listed;
use maxmargin::model::Machine;
use maxmargin::problem::{Loss, Norm, Task};
use maxmargin::training::Penalty;
use serde_json::{Value, json};

use super::{Page, brief, counted, number};
use crate::output::short;

/// What a machine tells apart, the positive class first; or what else it does.
pub(crate) fn title(model: &Model, machine: &Machine) -> String {
    match model.task() {
        Task::Classification => {}
        Task::Regression { .. } | Task::NuRegression { .. } => return "regression".into(),
        Task::OneClass { .. } => return "one class".into(),
        Task::Svdd { .. } => return "a ball".into(),
    }
    let name = |class: usize| short(model.classes()[class].text());
    let positive = name(machine.pairing.positive);
    let negative = machine.pairing.negative.map_or_else(|| "rest".into(), name);
    format!("{positive} against {negative}")
}

/// The penalty of a machine in all forms: C, C′ of C′/n, and λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Forms {
    pub(crate) c: Option<f64>,
    pub(crate) c_over_n: Option<f64>,
    pub(crate) lambda: Option<f64>,
}

impl Forms {
    pub(crate) fn of_machine(machine: &Machine, norm: Norm) -> Self {
        let rows = machine.rows as f64;
        let factor = if norm == Norm::L1 { 1.0 } else { 2.0 };
        Forms {
            c: machine.cost,
            c_over_n: machine.cost.map(|c| c * rows),
            lambda: machine.cost.map(|c| 1.0 / (factor * rows * c)),
        }
    }

    /// The forms that all machines share; the one that the user gave always is.
    pub(crate) fn of_model(model: &Model) -> Self {
        let all: Vec<Forms> =
            model.machines().iter().map(|machine| Forms::of_machine(machine, model.parts().norm)).collect();
        let shared = |form: fn(&Forms) -> Option<f64>| {
            let first = all.first().and_then(form)?;
            all.iter().all(|forms| form(forms) == Some(first)).then_some(first)
        };
        let mut forms = Forms {
            c: shared(|forms| forms.c),
            c_over_n: shared(|forms| forms.c_over_n),
            lambda: shared(|forms| forms.lambda),
        };
        match model.parts().penalty {
            Penalty::C(value) => forms.c = Some(value),
            Penalty::COverN(value) => forms.c_over_n = Some(value),
            Penalty::Lambda(value) => forms.lambda = Some(value),
            _ => {}
        }
        forms
    }

    pub(crate) fn json(self, penalty: Penalty) -> Value {
        let given = match penalty {
            Penalty::C(_) => "c",
            Penalty::COverN(_) => "c_over_n",
            Penalty::Lambda(_) => "lambda",
            Penalty::Nu(_) => "nu",
            Penalty::Hard => "hard",
            Penalty::None => "none",
        };
        json!({ "given": given, "c": self.c, "c_over_n": self.c_over_n, "lambda": self.lambda })
    }

    pub(crate) fn words(self, penalty: Penalty) -> String {
        match penalty {
            Penalty::Hard => return "hard margin: no slack".into(),
            Penalty::None => return "none".into(),
            Penalty::Nu(nu) => {
                let found = self.c.map_or_else(String::new, |c| format!(", which came to C = {}", number(c, 6)));
                return format!("nu = {}{found}", number(nu, 6));
            }
            _ => {}
        }
        let forms = [("C", "-C", self.c), ("C/n", "--c-over-n", self.c_over_n), ("lambda", "--lambda", self.lambda)];
        let given = match penalty {
            Penalty::COverN(_) => 1,
            Penalty::Lambda(_) => 2,
            _ => 0,
        };
        let value = |value: Option<f64>| value.map_or_else(|| "?".into(), |value| number(value, 6));
        let others: Vec<String> = (0..3)
            .filter(|&form| form != given && forms[form].2.is_some())
            .map(|form| format!("{} {}", forms[form].1, value(forms[form].2)))
            .collect();
        let first = format!("{} = {}", forms[given].0, value(forms[given].2));
        match others.is_empty() {
            true => format!("{first} (in the other forms it differs by machine: see --json)"),
            false => format!("{first} (the same as {})", others.join(" or ")),
        }
    }
}

/// What was minimised, for methods that minimise something.
pub(crate) fn problem(page: &mut Page, model: &Model) {
    let parts = model.parts();
    if let Some(weights) = &parts.class_weights {
        let one = |(label, &weight): (&Label, &f64)| format!("{} {}", short(label.text()), number(weight, 4));
        page.line("weights", &listed(parts.classes.iter().zip(weights).map(one), 8));
    }
    if let Some(found) = model.machines().first().and_then(|machine| machine.calibration.as_ref()) {
        page.line("calibrated", &calibration(found, parts.joint.is_some()));
    }
    let minimises_nothing = ["perceptron", "kernel-perceptron", "lda"].contains(&parts.solver.as_str());
    if minimises_nothing {
        return page.line("bias", parts.bias.name());
    }
    page.line(
        "penalty",
        &match parts.solver.as_str() {
            "rvm" => format!("found for each vector; a row counts C = {} times", c_in_words(model)),
            _ => Forms::of_model(model).words(parts.penalty),
        },
    );
    match parts.task {
        Task::Classification => {}
        Task::Regression { epsilon } => page.line("task", &format!("regression, epsilon {}", number(epsilon, 6))),
        Task::NuRegression { nu } => page.line("task", &format!("regression, nu {}", number(nu, 6))),
        Task::Svdd { nu } => page.line("task", &format!("svdd, nu {}", number(nu, 6))),
        Task::OneClass { nu } => page.line("task", &format!("one-class, nu {}", number(nu, 6))),
    }
    let norm = if parts.norm == Norm::L1 { ", norm l1" } else { "" };
    page.line("loss", &format!("{}{norm}, bias {}", parts.loss.name(), parts.bias.name()));
}

/// What is known of probabilities.
fn calibration(found: &Calibration, together: bool) -> String {
    match found {
        // One factor for all classes leaves the largest value the largest.
        Calibration::Sigmoid { .. } if together => "probabilities that agree with the prediction".into(),
        Calibration::Slopes(_) => {
            "probabilities that rise with the decision value and agree with the prediction".into()
        }
        Calibration::Sigmoid { .. } => "probabilities by Platt's sigmoid, which may differ from the prediction".into(),
        Calibration::Noise { scale } => format!("targets lie {} from the prediction in the mean", number(*scale, 4)),
        Calibration::Marks(marks) => format!("{} marks of how much lies below a decision value", marks.len()),
    }
}

/// C, where all machines have the same.
fn c_in_words(model: &Model) -> String {
    Forms::of_model(model).c.map_or_else(|| "?".into(), |c| number(c, 6))
}

/// What comes before the loss: the kernel, or the layers of a network.
pub(crate) fn features(page: &mut Page, model: &Model) {
    match &model.parts().network {
        None => page.line("kernel", &model.parts().kernel.to_string()),
        Some(network) => {
            let units: Vec<String> = network.layers.iter().map(|layer| layer.outputs.to_string()).collect();
            let layers = counted(units.len(), "hidden layer");
            page.line("network", &format!("{layers} of {} units, {}", units.join(" and "), network.activation.name()));
        }
    }
}

/// A network's shape as JSON; `null` where there is none.
pub(crate) fn network(model: &Model) -> Value {
    model.parts().network.as_ref().map_or(Value::Null, |network| {
        let units: Vec<usize> = network.layers.iter().map(|layer| layer.outputs).collect();
        json!({ "hidden": units, "activation": network.activation.name() })
    })
}

/// Support vectors of a model: all, those at the upper bound in some machine, and the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Support {
    pub(crate) total: usize,
    pub(crate) free: usize,
    pub(crate) bounded: usize,
}

impl Support {
    pub(crate) fn of_machine(machine: &Machine, loss: Loss) -> Self {
        if let Some(certificate) = machine.evidence.certificate() {
            let counts = certificate.counts;
            let (total, bounded) = (counts.support, counts.bounded);
            return Support { total, free: total.saturating_sub(bounded), bounded };
        }
        let (total, bounded) = (machine.support.len(), at_bound(machine, loss).count());
        Support { total, free: total - bounded, bounded }
    }

    pub(crate) fn of_model(model: &Model) -> Self {
        let loss = model.parts().loss;
        if let Some(evidence) = &model.parts().joint {
            let total = evidence.certificate().map_or(0, |found| found.support);
            let (bounded, found) = (joint_at_bound(model), loss == Loss::Hinge);
            return Support { total, free: total - bounded, bounded: if found { bounded } else { 0 } };
        }
        if let [only] = model.machines() {
            return Support::of_machine(only, loss);
        }
        let total = model.parts().support_rows.len();
        let mut bounded: Vec<u32> = model.machines().iter().flat_map(|machine| at_bound(machine, loss)).collect();
        bounded.sort_unstable();
        bounded.dedup();
        Support { total, free: total - bounded.len(), bounded: bounded.len() }
    }

    pub(crate) fn json(self) -> Value {
        json!({ "total": self.total, "free": self.free, "bounded": self.bounded })
    }
}

/// The places of a machine's support vectors at the upper bound.
fn at_bound(machine: &Machine, loss: Loss) -> impl Iterator<Item = u32> {
    // A coefficient of logistic loss has no bound to reach, or is one of a relevance vector, which has none.
    let bounded = machine.cost.filter(|_| loss != Loss::Logistic);
    let bound = bounded.map_or(f64::INFINITY, |cost| loss.dual_bound(cost));
    let support = machine.support.iter().zip(&machine.coefficients);
    support.filter(move |(_, coefficient)| coefficient.abs() >= bound).map(|(&place, _)| place)
}

/// Rows of classes trained together whose own class pulls as hard as it may.
fn joint_at_bound(model: &Model) -> usize {
    let at_bound = |machine: &Machine| {
        let bound = machine.cost.unwrap_or(f64::INFINITY);
        machine.coefficients.iter().filter(|&&alpha| alpha >= bound).count()
    };
    model.machines().iter().map(at_bound).sum()
}

/// One machine as JSON.
pub(crate) fn json_of(model: &Model, machine: &Machine) -> Value {
    let name = |class: usize| model.classes().get(class).map(Label::text);
    let certificate = machine.evidence.certificate();
    json!({
        "positive": name(machine.pairing.positive),
        "negative": machine.pairing.negative.map(name),
        "rows": machine.rows,
        "stop": machine.stop.name(),
        "iterations": machine.iterations,
        "objective": objective(certificate),
        "violation": certificate.map(|certificate| certificate.violation),
        "support_vectors": Support::of_machine(machine, model.parts().loss).json(),
        "training_errors": machine.training_errors,
        "margin": certificate.map(|certificate| certificate.margin),
        "slack_sum": certificate.map(|certificate| certificate.slack_sum),
        "weights": machine.weights.as_ref().filter(|_| model.parts().network.is_none()),
        "bias_value": machine.bias,
        "penalty": Forms::of_machine(machine, model.parts().norm).json(model.parts().penalty),
        "calibration": machine.calibration,
        "certificate": evidence(&machine.evidence),
        "notes": machine.notes,
    })
}

/// Objectives as JSON; `null` without a certificate.
pub(crate) fn objective(certificate: Option<&Certificate>) -> Value {
    certificate.map_or(Value::Null, |found| {
        json!({ "primal": found.primal, "dual": found.dual, "gap": found.gap, "relative_gap": found.relative_gap })
    })
}

/// A certificate, or the reason for none, as JSON.
pub(crate) fn evidence(evidence: &Evidence) -> Value {
    match evidence {
        Evidence::Certificate(certificate) => json!(certificate),
        Evidence::None(reason) => json!({ "none": reason }),
    }
}

/// The evidence for classes trained together as JSON.
pub(crate) fn joint_evidence(evidence: &JointEvidence) -> Value {
    match evidence {
        JointEvidence::Certificate(certificate) => json!(certificate),
        JointEvidence::None(reason) => json!({ "none": reason }),
    }
}

/// Objectives of classes trained together as JSON; `null` without a certificate.
pub(crate) fn joint_objective(certificate: Option<&JointCertificate>) -> Value {
    certificate.map_or(Value::Null, |found| {
        json!({ "primal": found.primal, "dual": found.dual, "gap": found.gap, "relative_gap": found.relative_gap })
    })
}

/// The one certificate of classes trained together, and the errors of each.
fn joint_table(page: &mut Page, model: &Model, evidence: &JointEvidence) {
    const MOST: usize = 20;
    let words = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
    let classes = counted(model.classes().len(), "class");
    match evidence {
        JointEvidence::Certificate(found) => {
            let mut head = vec!["together", "primal", "dual", "gap", "relative gap", "violation"];
            let mut row = vec![
                classes,
                number(found.primal, 8),
                number(found.dual, 8),
                brief(found.gap),
                brief(found.relative_gap),
                brief(found.violation),
            ];
            if model.parts().loss == Loss::Hinge {
                head.push("support vectors");
                row.push(found.support.to_string());
            }
            page.table(&[words(&head), row]);
        }
        JointEvidence::None(reason) => {
            page.text(&format!("{classes} together: no certificate, because {reason}"));
        }
    }
    page.text("");
    let mut rows = vec![words(&["class", "errors"])];
    for machine in model.machines().iter().take(MOST) {
        rows.push(vec![short(model.classes()[machine.pairing.positive].text()), machine.training_errors.to_string()]);
    }
    page.table(&rows);
    if model.machines().len() > MOST {
        page.text(&format!("... and {} classes more (see --json)", model.machines().len() - MOST));
    }
}

/// The certificates as a table, and below it why some machines have none.
pub(crate) fn table(page: &mut Page, model: &Model) {
    const MOST: usize = 20;
    if let Some(evidence) = &model.parts().joint {
        return joint_table(page, model, evidence);
    }
    let words = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
    let certified: Vec<_> =
        model.machines().iter().filter_map(|machine| Some((machine, machine.evidence.certificate()?))).collect();
    if !certified.is_empty() {
        let classes = model.task().is_classification();
        let errors = match model.task() {
            Task::Classification => "errors",
            Task::Regression { .. } | Task::NuRegression { .. } => "",
            Task::OneClass { .. } | Task::Svdd { .. } => "outside",
        };
        let mut rows = vec![words(&["machine", "primal", "dual", "gap", "violation", "margin", "slack", errors])];
        let mut kinds = vec![words(match classes {
            true => &["support vectors", "all", "on margin", "inside", "wrong side", "at C"],
            false => &["support vectors", "all", "on the edge", "with slack", "at C"],
        })];
        if model.parts().norm == Norm::L1 {
            kinds[0].push("columns in use".into());
        }
        for (machine, certificate) in certified.iter().take(MOST) {
            let counts = certificate.counts;
            rows.push(vec![
                title(model, machine),
                number(certificate.primal, 8),
                number(certificate.dual, 8),
                brief(certificate.gap),
                brief(certificate.violation),
                number(certificate.margin, 5),
                number(certificate.slack_sum, 5),
                match errors {
                    "" => String::new(),
                    _ => format!("{} of {}", machine.training_errors, machine.rows),
                },
            ]);
            let mut shown = vec![counts.support, counts.on_margin, counts.inside, counts.misclassified, counts.bounded];
            if !classes {
                shown.remove(3);
            }
            let columns = certificate.columns.map(|found| format!("{} of {}", found.used, found.used + found.unused));
            let shown = shown.iter().map(ToString::to_string).chain(columns);
            kinds.push(std::iter::once(title(model, machine)).chain(shown).collect());
        }
        page.table(&rows);
        page.text("");
        page.table(&kinds);
        if certified.len() > MOST {
            page.text(&format!("... and {} machines more (see --json)", certified.len() - MOST));
        }
    }
    for machine in model.machines().iter().take(MOST) {
        if let Evidence::None(reason) = &machine.evidence {
            page.text(&format!("{}: no certificate, because {reason}", title(model, machine)));
            let Machine { training_errors, rows, .. } = machine;
            page.text(&format!("{training_errors} of {rows} training rows are on the wrong side"));
        }
    }
}
