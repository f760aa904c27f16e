//! `suspects`: rows whose label, number or place deserves a second look.

use maxmargin::Workers;
use maxmargin::view::SuspectsView;

use crate::arguments::Suspects;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::report::{json_line, suspects as report};

/// Lists the rows.
pub(super) fn run(arguments: &Suspects) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.review.json };
    let origin = Origin::new(&arguments.review.data, words)?;
    let workers = Workers::new(arguments.review.threads)?;
    let model = crate::model_file::load(&arguments.review.model)?;
    let source = origin.fetch(arguments.review.reading.seed_of(&model), &workers, words)?;
    let found = input::read_for_model(&source, &model, &arguments.review.reading, arguments.review.unlabelled, words)?;
    if !found.labelled() && model.task().usual().is_none() {
        return Err(Failure::new(
            format!("{}: the data has no label column, but it is labels that may be suspect", origin.shown()),
            "name the label column with --label",
        ));
    }
    let part = input::training_part(&model, found.data.clone(), arguments.review.reading.seed_of(&model), &workers)?;
    let mut suspects = model.suspects(&part.0, &workers)?;
    // From rows that were trained on to rows that were read: some may have been held out.
    if let Some(places) = &part.1 {
        suspects.suspects.iter_mut().for_each(|suspect| suspect.row = places[suspect.row]);
    }
    if !suspects.same_data {
        words.note("the data is not the data that the model was trained on, so no alpha is known of its rows");
    }
    if suspects.unknown > 0 {
        words.note(&format!("{} have labels that the model does not know", report::rows(suspects.unknown)));
    }
    // From rows that were read to rows of the file: some may have been dropped.
    let file_row = |row: usize| found.remarks.file_row(row as u64) as usize;
    output::print(&if arguments.review.json {
        let mut view = SuspectsView::new(&model, &found.data, &suspects, arguments.top);
        view.suspects.iter_mut().for_each(|suspect| suspect.row = file_row(suspect.row - 1) + 1);
        json_line(&view)
    } else {
        report::words(&model, &found.data, &suspects, arguments.top, file_row)
    })?;
    Ok(ExitCode::Done)
}
