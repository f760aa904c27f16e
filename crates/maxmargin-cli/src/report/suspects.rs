//! What `suspects` reports, as words and as JSON.

use maxmargin::Model;
use maxmargin::data::Dataset;
use maxmargin::problem::Task;
use maxmargin::review::{Suspect, Suspects};

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

/// The page. `file_row` says which row of the file a row of the data is, both counted from 0.
pub(crate) fn words(
    model: &Model,
    data: &Dataset,
    found: &Suspects,
    top: usize,
    file_row: impl Fn(usize) -> usize,
) -> String {
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
        let mut line = vec![(file_row(row) + 1).to_string(), number(slack, 5), number(value, 6)];
        line.extend(model.task().usual().is_none().then(|| short(&data.answers().text(row).unwrap_or_default())));
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
