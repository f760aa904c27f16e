//! What `train` reports, as words and as JSON.

use maxmargin::certificate::Evidence;
use maxmargin::certificate::joint::JointEvidence;
use maxmargin::data::Dataset;
use maxmargin::problem::{Loss, Task};
use maxmargin::recipe::Recipe;
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::Penalty;
use maxmargin::view::{OutOfCoreView, ScoreView, Seconds, TrainingFacts, TrainingView};
use maxmargin::{Model, Progress, Stop};

use super::machines;
use super::score::Score;
use super::{Page, counted, number, percent};
use crate::output::short;

/// Everything that is known after training.
#[derive(Debug)]
pub(crate) struct Trained<'a> {
    /// What the data is called.
    pub(crate) origin: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// How many rows each class has.
    pub(crate) class_rows: Vec<usize>,
    /// The rows, where they are in memory.
    pub(crate) data: Option<&'a Dataset>,
    pub(crate) model: &'a Model,
    pub(crate) read_seconds: f64,
    pub(crate) train_seconds: f64,
    pub(crate) save_seconds: f64,
    pub(crate) training: Score,
    pub(crate) test: Option<Score>,
    /// What the user should know, in whole sentences.
    pub(crate) notes: Vec<String>,
    /// What was said on standard error already.
    pub(crate) warnings: Vec<String>,
    /// Why the solver was chosen, when it was not named.
    pub(crate) reason: Option<String>,
    /// Why the kernel and the scaling were chosen, where they were not named.
    pub(crate) choice: Option<String>,
    /// The unit that C and epsilon were given in, where it is not that of the targets.
    pub(crate) deviation: Option<f64>,
    pub(crate) model_file: Option<String>,
    pub(crate) picture: Option<Picture>,
    pub(crate) alphas: bool,
    pub(crate) seed: u64,
    /// What the solver was to reach, in words.
    pub(crate) goal: String,
}

/// What a solver had to reach: the relative gap that a linear machine stops at, else the tolerance.
pub(crate) fn goal(model: &Model, settings: &Settings) -> String {
    let parts = model.parts();
    let has_gap = match &parts.joint {
        Some(_) => parts.recipe.loss == Loss::Logistic,
        None => parts.machines.iter().all(|machine| machine.evidence.certificate().is_some()),
    };
    // Machines on landmarks are linear ones over features.
    let is_linear = parts.recipe.kernel.is_linear() || parts.landmarks.is_some();
    let is_linear = is_linear && parts.recipe.penalty != Penalty::Hard && has_gap;
    match settings.linear_gap().filter(|_| is_linear && parts.provenance.solver() != Some(SolverKind::Sgd)) {
        Some(gap) => format!("relative gap {}", number(gap, 3)),
        None => format!("tolerance {}", number(parts.provenance.tolerance, 3)),
    }
}

/// A picture that was written.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) file: String,
    /// What it shows.
    pub(crate) of: String,
}

/// The page that a newcomer reads.
pub(crate) fn words(trained: &Trained<'_>) -> String {
    let model = trained.model;
    let parts = model.parts();
    let mut page = Page::new();
    page.line("data", &format!("{}: {}", trained.origin, size(trained)));
    if let Some(scaling) = &parts.scaling {
        page.line("scaling", scaling.kind().name());
    }
    machines::features(&mut page, model);
    if let Some(choice) = &trained.choice {
        page.line("choice", choice);
    }
    machines::problem(&mut page, model);
    if let Some(deviation) = trained.deviation {
        let unit = number(deviation, 4);
        let given = in_deviations(&parts.recipe, deviation);
        page.line(
            "targets",
            &format!("C and epsilon count in their standard deviation, {unit}{given} (--targets own: in 1)"),
        );
    }
    if parts.joint.is_some() {
        page.line("classes", &format!("{}: all of them in one problem", parts.recipe.multiclass.name()));
    }
    let reason = trained.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    page.line("solver", &format!("{}{reason}", parts.provenance.origin.name()));
    machines::landmarks(&mut page, model);
    let iterations = model.iterations();
    page.line(
        "stopped",
        &format!(
            "{} after {} in {} s; {}",
            machines::stopped(model),
            counted(iterations as usize, "iteration"),
            number(trained.train_seconds, 3),
            trained.goal
        ),
    );
    page.text("");
    machines::table(&mut page, model);
    page.text("");
    page.line("training", &training(trained));
    if let Some(test) = &trained.test {
        page.line("test", &test.words());
    }
    // What is new says more than what was learnt.
    trained.test.as_ref().unwrap_or(&trained.training).details(&mut page);
    for note in &trained.notes {
        page.line("note", note);
    }
    if let Some(file) = &trained.model_file {
        page.exact("model", file);
    }
    if let Some(picture) = &trained.picture {
        page.line("picture", &format!("{} ({})", picture.file, picture.of));
    }
    page.finish()
}

/// How well the training rows are met.
fn training(trained: &Trained<'_>) -> String {
    match (trained.model.task(), &trained.training) {
        (Task::OneClass { .. } | Task::Svdd { .. }, Score::Counted { rows, errors }) => {
            format!("{} inside ({} of {})", percent(rows - errors, *rows), rows - errors, counted(*rows, "row"))
        }
        (_, score) if score.rows() < trained.rows => format!("{}, a sample of them", score.words()),
        (_, score) => score.words(),
    }
}

/// C and ε of a regression as they were given, in standard deviations of the targets: (T.4) backwards.
fn in_deviations(recipe: &Recipe, deviation: f64) -> String {
    let c = match recipe.penalty {
        Penalty::C(c) if recipe.loss == Loss::Hinge => format!(": C = {}", number(c / deviation, 6)),
        Penalty::C(c) => format!(": C = {}", number(c, 6)),
        _ => String::new(),
    };
    match recipe.task {
        Task::Regression { epsilon } if !c.is_empty() => format!("{c}, epsilon {}", number(epsilon / deviation, 6)),
        _ => c,
    }
}

/// Rows, columns and classes in words.
fn size(trained: &Trained<'_>) -> String {
    let model = trained.model;
    let rows_and_columns = format!("{}, {}", counted(trained.rows, "row"), counted(trained.columns, "column"));
    if !model.task().is_classification() {
        return rows_and_columns;
    }
    let mut classes: Vec<String> = model
        .classes()
        .iter()
        .zip(&trained.class_rows)
        .take(6)
        .map(|(label, count)| format!("{} ({count})", short(label.text())))
        .collect();
    if model.classes().len() > 6 {
        classes.push("...".into());
    }
    format!("{rows_and_columns}, {}: {}", counted(model.classes().len(), "class"), classes.join(", "))
}

/// What `train --json` prints.
pub(crate) fn view<'a>(
    trained: &'a Trained<'a>,
    out_of_core: Option<OutOfCoreView<'a>>,
) -> TrainingView<'a, ScoreView<'a>> {
    let facts = TrainingFacts {
        data: &trained.origin,
        rows: trained.rows,
        columns: trained.columns,
        solver_reason: trained.reason.as_deref(),
        choice: trained.choice.as_deref(),
        target_deviation: trained.deviation,
        seed: trained.seed,
        seconds: Seconds { read: trained.read_seconds, train: trained.train_seconds, save: trained.save_seconds },
        training: Some(trained.training.view()),
        training_errors: trained.training.errors().filter(|_| trained.training.rows() == trained.rows),
        test: trained.test.as_ref().map(Score::view),
        notes: trained.notes.iter().chain(&trained.warnings).map(String::as_str).collect(),
        model: trained.model_file.as_deref(),
        plot: trained.picture.as_ref().map(|picture| picture.file.as_str()),
        alpha_of: trained.data.filter(|_| trained.alphas),
        out_of_core,
    };
    TrainingView::new(trained.model, facts)
}

/// What a solver had reached when it was stopped.
pub(crate) fn reached(model: &Model, seconds: f64) -> String {
    let iterations = model.iterations();
    let mut text = format!(
        "{} after {} in {} s",
        model.stop().name(),
        counted(iterations as usize, "iteration"),
        number(seconds, 3)
    );
    if let Some(evidence) = &model.parts().joint {
        text.push_str(&match evidence {
            JointEvidence::Certificate(found) => {
                format!(": violation {}, gap {}", number(found.violation, 3), number(found.gap, 3))
            }
            JointEvidence::None(reason) => format!("; no certificate, because {reason}"),
        });
        return text;
    }
    let certificates: Vec<_> = model.machines().iter().filter_map(|machine| machine.evidence.certificate()).collect();
    if certificates.is_empty() {
        if let Some(Evidence::None(reason)) = model.machines().first().map(|machine| &machine.evidence) {
            text.push_str(&format!("; no certificate, because {reason}"));
        }
        return text;
    }
    let violation = certificates.iter().map(|certificate| certificate.violation).fold(0.0, f64::max);
    let gap: f64 = certificates.iter().map(|certificate| certificate.gap).sum();
    text.push_str(&format!(": violation {}, gap {}", number(violation, 3), number(gap, 3)));
    text
}

/// What an interrupted solver said last, when there is no time to certify it.
pub(crate) fn reached_last(progress: &Progress, seconds: f64) -> String {
    let of = match progress.machine {
        (_, 1) => String::new(),
        (machine, machines) => format!(" in machine {} of {machines}", machine + 1),
    };
    let iterations = counted(progress.iteration as usize, "iteration");
    let said = |value: Option<f64>| value.map_or_else(|| "not known".into(), |value| number(value, 3));
    let (violation, gap) = (said(progress.violation), said(progress.gap));
    format!(
        "{}{of} after {iterations} in {} s: violation {violation}, gap {gap}",
        Stop::Interrupted.name(),
        number(seconds, 3)
    )
}
