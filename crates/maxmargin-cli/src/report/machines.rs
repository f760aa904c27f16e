//! What there is to say of each machine of a model, and of all of them together.

use maxmargin::calibration::Calibration;
use maxmargin::certificate::Evidence;
use maxmargin::certificate::joint::JointEvidence;
use maxmargin::data::Label;
use maxmargin::error::listed;
use maxmargin::model::Machine;
use maxmargin::problem::{Loss, Norm, Task};
use maxmargin::provenance::SolverKind;
use maxmargin::training::Penalty;
use maxmargin::view::penalty_of_model;
use maxmargin::{Model, Stop};

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

/// The penalty in words: the form that was given, and the others.
fn penalty_in_words(model: &Model) -> String {
    let (forms, penalty) = (penalty_of_model(model), model.recipe().penalty);
    match penalty {
        Penalty::Hard => return "hard margin: no slack".into(),
        Penalty::None => return "none".into(),
        Penalty::Nu(nu) => {
            let found = forms.c.map_or_else(String::new, |c| format!(", which came to C = {}", number(c, 6)));
            return format!("nu = {}{found}", number(nu, 6));
        }
        _ => {}
    }
    let forms = [("C", "-C", forms.c), ("C/n", "--c-over-n", forms.c_over_n), ("lambda", "--lambda", forms.lambda)];
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
    if others.is_empty() {
        return format!("{first} (in the other forms it differs by machine: see --json)");
    }
    format!("{first} (the same as {})", others.join(" or "))
}

/// What was minimised, for methods that minimise something.
pub(crate) fn problem(page: &mut Page, model: &Model) {
    let parts = model.parts();
    if let Some(weights) = &parts.recipe.class_weights {
        let one = |(label, &weight): (&Label, &f64)| format!("{} {}", short(label.text()), number(weight, 4));
        page.line("weights", &listed(parts.classes.iter().zip(weights).map(one), 8));
    }
    if let Some(found) = model.machines().first().and_then(|machine| machine.calibration.as_ref()) {
        page.line("calibrated", &calibration(found, parts.joint.is_some()));
    }
    let solver = parts.provenance.solver();
    if let Some(SolverKind::Perceptron | SolverKind::KernelPerceptron | SolverKind::Lda) = solver {
        return page.line("bias", parts.recipe.bias.name());
    }
    page.line(
        "penalty",
        &match solver {
            Some(SolverKind::Rvm) => format!(
                "found for each vector; a row counts C = {} times",
                penalty_of_model(model).c.map_or_else(|| "?".into(), |c| number(c, 6))
            ),
            _ => penalty_in_words(model),
        },
    );
    match parts.recipe.task {
        Task::Classification => {}
        Task::Regression { epsilon } => page.line("task", &format!("regression, epsilon {}", number(epsilon, 6))),
        Task::NuRegression { nu } => page.line("task", &format!("regression, nu {}", number(nu, 6))),
        Task::Svdd { nu } => page.line("task", &format!("svdd, nu {}", number(nu, 6))),
        Task::OneClass { nu } => page.line("task", &format!("one-class, nu {}", number(nu, 6))),
    }
    let norm = if parts.recipe.norm == Norm::L1 { ", norm l1" } else { "" };
    page.line("loss", &format!("{}{norm}, bias {}", parts.recipe.loss.name(), parts.recipe.bias.name()));
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

/// A text with its long numbers rounded to six digits. The file of the model and `--json` have all digits.
fn in_six_digits(text: &str) -> String {
    const LONG: usize = 10;
    let is_numeric = |character: char| character.is_ascii_digit() || character == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_numeric) {
        let (before, from) = rest.split_at(start);
        let (token, after) = from.split_at(from.find(|character| !is_numeric(character)).unwrap_or(from.len()));
        out += before;
        match token.parse() {
            Ok(value) if token.len() > LONG => out += &number(value, 6),
            _ => out += token,
        }
        rest = after;
    }
    out + rest
}

/// What comes before the loss: the kernel, or the layers of a network.
pub(crate) fn features(page: &mut Page, model: &Model) {
    match &model.parts().network {
        None => page.line("kernel", &in_six_digits(&model.recipe().kernel.to_string())),
        Some(network) => {
            let units: Vec<String> = network.layers.iter().map(|layer| layer.outputs.to_string()).collect();
            let layers = counted(units.len(), "hidden layer");
            page.line("network", &format!("{layers} of {} units, {}", units.join(" and "), network.activation.name()));
        }
    }
}

/// Why the solver stopped. A machine on landmarks has converged on these, and not to the exact machine.
pub(crate) fn stopped(model: &Model) -> String {
    let stop = model.stop();
    let of_what = if model.parts().landmarks.is_some() && stop == Stop::Converged { " on the landmarks" } else { "" };
    format!("{}{of_what}", stop.name())
}

/// How many landmarks there are, and what is proved of the distance to the exact machine.
pub(crate) fn landmarks(page: &mut Page, model: &Model) {
    let Some(points) = &model.parts().landmarks else { return };
    let count = counted(model.parts().support_rows.len(), "landmark");
    let of = match points.len() {
        1 => String::new(),
        machines => format!(", of the worst of {machines} machines"),
    };
    let proof = match model.proved_gap() {
        Some(gap) => format!(
            "proved: the objective is at most {} above that of the exact machine, relative to itself{of}",
            brief(gap)
        ),
        None => "nothing is proved about the exact machine (--prove)".into(),
    };
    page.line("landmarks", &format!("{count}; {proof}"));
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
            if model.recipe().loss == Loss::Hinge {
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
        if model.recipe().norm == Norm::L1 {
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

#[cfg(test)]
mod tests {
    use super::in_six_digits;

    #[test]
    fn long_numbers_are_rounded_and_all_else_stays() {
        assert_eq!(in_six_digits("rbf(gamma=0.11111111111111076)"), "rbf(gamma=0.111111)");
        assert_eq!(in_six_digits("0.5 * rbf(gamma=0.25) + linear"), "0.5 * rbf(gamma=0.25) + linear");
        assert_eq!(in_six_digits("sigmoid(gamma=-1.5, coef0=1e300)"), "sigmoid(gamma=-1.5, coef0=1e300)");
        assert_eq!(in_six_digits("1000000000000"), "1e12");
    }
}
