//! `doctor`: what may be wrong, and what to do about it.

use maxmargin::data::{AnswerKind, Dataset, Scaling, ScalingKind};
use maxmargin::diagnosis::{Finding, Severity, of_data, of_kernel, of_model};
use maxmargin::kernel::Points;
use maxmargin::training::choose_kernel;
use maxmargin::{Model, TrainingParams, Workers};
use maxmargin_io::{ReadOptions, TableSurvey};
use serde_json::json;

use super::train::refusal;
use crate::arguments::{Doctor, TaskKind};
use crate::exit::ExitCode;
use crate::failure::{Failure, help_of};
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::report::diagnosis::{self as report, Patient};
use crate::report::{Page, counted, json_line};
use crate::tables;

/// Looks, and reports.
pub(super) fn run(arguments: &Doctor) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.json };
    let origin = Origin::new(&arguments.data, words)?;
    if let (Some(_), Some(flag)) = (&arguments.model, given(arguments)) {
        return Err(Failure::new(
            format!("--{flag} does not go with a model, which has a kernel of its own"),
            format!("leave out --{flag}, or the model"),
        ));
    }
    if let Some(c) = arguments.c.filter(|c| !(*c > 0.0 && c.is_finite())) {
        return Err(maxmargin::Error::parameter(maxmargin::error::Parameter::C, c, "a finite number above 0").into());
    }
    let params = arguments.kernel.params()?;
    let workers = Workers::new(arguments.threads)?;
    let model = arguments.model.as_deref().map(crate::model_file::load).transpose()?;
    let seed = model.as_ref().map_or_else(|| arguments.reading.seed(), |model| arguments.reading.seed_of(model));
    let source = origin.fetch(seed, &workers, words)?;
    let (data, labelled, table) = match &model {
        Some(model) => {
            let found = input::read_for_model(&source, model, &arguments.reading, arguments.unlabelled, words)?;
            let labelled = found.labelled();
            (input::training_part(model, found.data, seed, &workers)?.0, labelled, None)
        }
        None => {
            let options = ReadOptions {
                answers: match (arguments.unlabelled, arguments.task) {
                    (true, _) => AnswerKind::None,
                    (false, Some(TaskKind::Regression)) => AnswerKind::Numbers,
                    (false, _) => AnswerKind::Classes,
                },
                ..arguments.reading.options(arguments.columns.as_deref())
            };
            let (read, survey) = (source.read(&options), source.survey(&options));
            let table = survey.ok().flatten().map(|survey| {
                let command = tables::command(&survey, &arguments.data.to_string_lossy(), &options);
                (survey, command)
            });
            match (read, table) {
                (Ok(found), table) => (found.data, !arguments.unlabelled, table),
                // What does not train as it is can be looked at all the same.
                (Err(error), Some((survey, command))) => {
                    return unread(arguments, &origin, &error, &survey, command.as_deref());
                }
                (Err(error), None) => return Err(error.into()),
            }
        }
    };
    input::check_columns(data.columns(), "doctor")?;
    let classes = labelled && has_classes(arguments, model.as_ref());
    let mut findings = of_data(&data, classes, &workers);
    match &model {
        Some(model) => findings.extend(of_fit(model, &data, labelled, &workers)?),
        None if arguments.kernel.kernel.is_some() || arguments.c.is_some() => {
            let matrix = match arguments.scale {
                ScalingKind::None => data.matrix().clone(),
                kind => Scaling::learn(kind, data.matrix()).apply(data.matrix())?,
            };
            let kernel = params.check(&matrix)?;
            findings.extend(of_kernel(&kernel, &Points::new(matrix, false), arguments.c));
        }
        None => {}
    }
    let scaled = match &model {
        Some(model) => model.parts().scaling.is_some(),
        None if arguments.kernel.kernel.is_none() && arguments.scale == ScalingKind::None => {
            // Nothing is named, so `train` chooses.
            let chosen = choose_kernel(&TrainingParams::default(), data.matrix(), table.is_some());
            chosen.scaling != ScalingKind::None
        }
        None => arguments.scale != ScalingKind::None,
    };
    if scaled {
        findings.retain(|finding| !matches!(finding, Finding::UnscaledColumns { .. }));
    }
    // What matters most comes first; else the order stays.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
    let patient = Patient { shown: origin.shown(), data: &data, model: model.as_ref(), findings: &findings };
    let mut page = Page::new();
    let mut object = serde_json::to_value(report::view(&patient)).unwrap_or_default();
    let refused = data.answers().labels().filter(|_| classes && model.is_none() && arguments.task.is_none());
    if let Some((what, help)) = refused.and_then(|labels| refusal(labels, &findings)) {
        does_not_train(&mut page, &what, &help);
        object["error"] = json!({ "what": what, "help": help });
    }
    if let Some((survey, command)) = &table {
        page.text("");
        tables::list(&mut page, survey, command.as_deref());
        object["table"] = tables::json(survey, command.as_deref());
    }
    output::print(&if arguments.json { json_line(&object) } else { report::words(&patient) + &page.finish() })?;
    let warned = findings.iter().any(|finding| finding.severity() == Severity::Warning);
    Ok(if arguments.strict && warned { ExitCode::NotAsAsked } else { ExitCode::Done })
}

/// What there is to say of a table that does not read as it is.
fn unread(
    arguments: &Doctor,
    origin: &Origin,
    error: &maxmargin_io::Error,
    survey: &TableSurvey,
    command: Option<&str>,
) -> Result<ExitCode, Failure> {
    let (what, help) = (error.to_string(), help_of(error));
    output::print(&if arguments.json {
        json_line(&json!({
            "data": origin.shown(),
            "rows": survey.rows,
            "columns": survey.columns.len(),
            "error": { "what": what, "help": help },
            "table": tables::json(survey, command),
            "findings": [],
        }))
    } else {
        let mut page = Page::new();
        let (rows, columns) = (survey.rows as usize, survey.columns.len());
        page.line("data", &format!("{}: {}, {}", origin.shown(), counted(rows, "row"), counted(columns, "column")));
        does_not_train(&mut page, &what, &help);
        page.text("");
        tables::list(&mut page, survey, command);
        page.finish()
    })?;
    Ok(if arguments.strict { ExitCode::NotAsAsked } else { ExitCode::Done })
}

/// Says why a table cannot be learnt from as it is.
fn does_not_train(page: &mut Page, what: &str, help: &str) {
    page.text("");
    page.text(&format!("it does not train as it is: {what}"));
    page.text(&format!("  help: {help}"));
}

/// A flag of the kernel that was given.
fn given(arguments: &Doctor) -> Option<&'static str> {
    let kernel = arguments.kernel.kernel.is_some().then_some("kernel");
    kernel.or_else(|| arguments.kernel.flag())
}

/// Whether labels are classes.
fn has_classes(arguments: &Doctor, model: Option<&Model>) -> bool {
    match model {
        Some(model) => model.task().is_classification(),
        None => arguments.task.is_none_or(|task| task == TaskKind::Classification),
    }
}

/// What there is to say of a model, its kernel and its C.
fn of_fit(model: &Model, data: &Dataset, labelled: bool, workers: &Workers) -> Result<Vec<Finding>, Failure> {
    let mut findings = of_model(model, data, labelled, workers)?;
    let cost = model.machines().iter().filter_map(|machine| machine.cost).reduce(f64::max);
    let cost = cost.filter(|_| model.task().is_classification());
    findings.extend(of_kernel(&model.recipe().kernel, &model.align(data)?.points, cost));
    Ok(findings)
}
