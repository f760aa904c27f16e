//! What `suspects` reports, as words and as JSON.

use maxmargin::Model;
use maxmargin::data::Dataset;
use maxmargin::model::{Suspect, Suspects};
use maxmargin::problem::Task;
use serde_json::{Value, json};

use super::machines::title;
use super::{Page, counted, number};
use crate::output::short;

/// `1 row`, `2 rows`.
pub(crate) fn rows(count: usize) -> String {
    counted(count, "row")
}

/// How many suspects have a slack above this.
fn above(found: &Suspects, slack: f64) -> usize {
    found.suspects.iter().filter(|suspect| suspect.slack > slack).count()
}

/// The page.
pub(crate) fn words(model: &Model, data: &Dataset, found: &Suspects, top: usize) -> String {
    let mut page = Page::new();
    let all = rows(found.rows);
    page.text(&match model.task() {
        Task::Classification => format!(
            "of {all}, {} lack something of the margin, {} are on the wrong side, {} beyond the other margin",
            found.suspects.len(),
            above(found, 1.0),
            above(found, 2.0)
        ),
        Task::Regression { .. } | Task::NuRegression { .. } => {
            format!("of {all}, {} are further from their number than epsilon", found.suspects.len())
        }
        Task::OneClass { .. } | Task::Svdd { .. } => format!("of {all}, {} are outside", found.suspects.len()),
    });
    let shown = &found.suspects[..top.min(found.suspects.len())];
    if shown.is_empty() {
        return page.finish();
    }
    let classes = model.task().is_classification();
    let machines = model.machines().len() > 1;
    let mut head = vec!["row", "slack", "decision value"];
    head.extend(model.task().usual().is_none().then_some("label"));
    head.extend(classes.then_some("predicted"));
    head.extend(found.same_data.then_some("alpha/bound"));
    head.extend(machines.then_some("machine"));
    page.text("");
    let mut table = vec![head.into_iter().map(String::from).collect::<Vec<_>>()];
    for suspect in shown {
        let Suspect { row, slack, machine, value, predicted, share_of_bound } = *suspect;
        let mut line = vec![(row + 1).to_string(), number(slack, 5), number(value, 6)];
        line.extend(model.task().usual().is_none().then(|| short(data.labels().get(row).text())));
        line.extend(predicted.filter(|_| classes).map(|code| short(model.label(code).text())));
        line.extend(found.same_data.then(|| share_of_bound.map_or_else(|| "-".into(), |share| number(share, 3))));
        line.extend(machines.then(|| title(model, &model.machines()[machine])));
        table.push(line);
    }
    page.table(&table);
    if found.suspects.len() > shown.len() {
        page.text(&format!("... and {} more (see --top)", found.suspects.len() - shown.len()));
    }
    page.finish()
}

/// The object that `suspects --json` prints.
pub(crate) fn json(model: &Model, data: &Dataset, found: &Suspects, top: usize) -> Value {
    let labelled = model.task().usual().is_none();
    let one = |suspect: &Suspect| {
        json!({
            "row": suspect.row + 1,
            "slack": suspect.slack,
            "decision_value": suspect.value,
            "machine": title(model, &model.machines()[suspect.machine]),
            "label": labelled.then(|| data.labels().get(suspect.row).text()),
            "predicted": suspect.predicted.map(|code| model.label(code).text()),
            "alpha_over_bound": suspect.share_of_bound,
        })
    };
    json!({
        "same_data": found.same_data,
        "rows": found.rows,
        "rows_with_unknown_labels": found.unknown,
        "with_slack": found.suspects.len(),
        "on_the_wrong_side": model.task().is_classification().then(|| above(found, 1.0)),
        "beyond_the_other_margin": model.task().is_classification().then(|| above(found, 2.0)),
        "suspects": found.suspects.iter().take(top).map(one).collect::<Vec<_>>(),
    })
}
