//! `explain`: why a model says of a row what it says.

use maxmargin::Workers;
use maxmargin::review::Detail;

use crate::arguments::Explain;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::report::explanation::{self as report, Explained};
use crate::report::{counted, json_line};

/// Explains rows.
pub(super) fn run(arguments: &Explain) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.json };
    let origin = Origin::new(&arguments.data, words)?;
    let workers = Workers::new(arguments.threads)?;
    let model = crate::model_file::load(&arguments.model)?;
    let source = origin.fetch(arguments.reading.seed, &workers, words)?;
    let found = input::read_for_model(&source, &model, &arguments.reading, arguments.unlabelled, words)?;
    let rows = found.data.rows();
    if let Some(&row) = arguments.rows.iter().find(|&&row| row > rows as u64) {
        return Err(Failure::new(
            format!("{}: there is no row {row}: the data has {}", origin.shown(), counted(rows, "row")),
            format!("give --row a number from 1 to {rows}"),
        ));
    }
    let detail = Detail { terms: arguments.top, all_machines: arguments.all };
    let mut explained = Vec::new();
    for &number in &arguments.rows {
        let row = number as usize - 1;
        let label = found.labelled.then(|| found.data.labels().get(row).clone());
        explained.push(Explained { number, label, found: model.explain(&found.data, row, detail, &workers)? });
    }
    if let Some(note) = explained.iter().find_map(|one| one.found.note.as_deref()) {
        words.note(note);
    }
    output::print(&if arguments.json {
        json_line(&report::view(&model, &explained))
    } else {
        report::words(&model, &explained)
    })?;
    Ok(ExitCode::Done)
}
