//! `explain`: why a model says of a row what it says.

use maxmargin::review::{Detail, Explanation, TermSource};
use maxmargin::{Model, Workers};

use crate::arguments::Explain;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::report::explanation::{self as report, Explained};
use crate::report::{counted, json_line};

/// Explains rows.
pub(super) fn run(arguments: &Explain) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.review.json };
    let origin = Origin::new(&arguments.review.data, words)?;
    let workers = Workers::new(arguments.review.threads)?;
    let model = crate::model_file::load(&arguments.review.model)?;
    let source = origin.fetch(arguments.review.reading.seed_of(&model), &workers, words)?;
    let found = input::read_for_model(&source, &model, &arguments.review.reading, arguments.review.unlabelled, words)?;
    // Rows are those of the file, also where some of them were left out.
    let dropped = &found.remarks.dropped;
    let rows = found.data.rows() + dropped.len();
    if let Some(&row) = arguments.rows.iter().find(|&&row| row > rows as u64) {
        return Err(Failure::new(
            format!("{}: there is no row {row}: the data has {}", origin.shown(), counted(rows, "row")),
            format!("give --row a number from 1 to {rows}"),
        ));
    }
    if let Some(&row) = arguments.rows.iter().find(|&&row| dropped.contains(&(row - 1))) {
        return Err(Failure::new(
            format!("{}: row {row} was left out, because a value is missing", origin.shown()),
            "give --row another number, or fill the value in",
        ));
    }
    let detail = Detail { terms: arguments.top, all_machines: arguments.all };
    let mut explained = Vec::new();
    for &number in &arguments.rows {
        let row = number as usize - 1 - dropped.iter().filter(|&&dropped| dropped < number - 1).count();
        let label = found.data.answers().text(row).filter(|_| found.labelled()).map(String::from);
        let mut why = model.explain(&found.data, row, detail, &workers)?;
        name_rows_of_the_file(&mut why, &model);
        explained.push(Explained { number, label, found: why });
    }
    if let Some(note) = explained.iter().find_map(|one| one.found.note.as_deref()) {
        words.note(note);
    }
    output::print(&if arguments.review.json {
        json_line(&report::view(&model, &explained))
    } else {
        report::words(&model, &explained)
    })?;
    Ok(ExitCode::Done)
}

/// Names the rows of the training file, where some of them were not trained on.
fn name_rows_of_the_file(why: &mut Explanation, model: &Model) {
    let Some(known) = model.reading().map(|reading| &reading.support_rows).filter(|known| !known.is_empty()) else {
        return;
    };
    for term in why.reasons.iter_mut().flat_map(|reason| &mut reason.terms) {
        if let TermSource::TrainingRow(row) = &mut term.source
            && let Ok(place) = model.parts().support_rows.binary_search(row)
        {
            *row = known[place];
        }
    }
}
