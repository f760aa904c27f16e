//! `predict`: labels for new rows.

use std::io::{self, BufWriter, Write};

use maxmargin::data::Dataset;
use maxmargin::model::Predictions;
use maxmargin::{Model, Workers};

use crate::arguments::Predict;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Target, Words, escaped};
use crate::report::training::Score;

/// Predicts.
pub(super) fn run(arguments: &Predict) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.quiet };
    let origin = Origin::new(&arguments.data, words)?;
    let mut read = vec![arguments.model.as_path()];
    read.extend(origin.file());
    let target = arguments.output.as_deref().map(|path| Target::new(path, &read)).transpose()?;
    let workers = Workers::new(arguments.threads)?;
    let model = crate::model_file::load(&arguments.model)?;
    let source = origin.fetch(arguments.reading.seed)?;
    let found = input::read_for_model(&source, &model, &arguments.reading, arguments.unlabelled, words)?;
    let predictions = model.predict(&found.data, &workers)?;
    if let Some(note) = predictions.note() {
        words.note(note);
    }
    let rows = found.data.rows();
    match target {
        Some(target) => {
            let mut bytes = Vec::new();
            write(&model, &predictions, rows, arguments.decision_values, &mut bytes)?;
            target.save(&bytes)?;
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&model, &predictions, rows, arguments.decision_values, &mut out)?;
            out.flush()?;
        }
    }
    if found.labelled && !arguments.quiet {
        let known = model.codes(found.data.labels()).iter().flatten().count();
        match known {
            0 => words.note("none of the data's labels is one of the model's, so there is no accuracy to report"),
            _ => {
                let score = score(&model, &found.data, &predictions);
                output::say(&format!("accuracy: {}", score.words()));
            }
        }
    }
    Ok(ExitCode::Done)
}

/// A label a line, and with it the decision values.
fn write(model: &Model, predictions: &Predictions, rows: usize, values: bool, out: &mut impl Write) -> io::Result<()> {
    // A label may hold anything that a cell of a table can, a line break too.
    let labels: Vec<String> = model.classes().iter().map(|label| escaped(label.text())).collect();
    for row in 0..rows {
        out.write_all(labels[predictions.codes()[row] as usize].as_bytes())?;
        if values {
            for value in predictions.decision_values(row) {
                write!(out, "\t{value}")?;
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// How many predictions are wrong; a label that the model does not know never is right.
pub(super) fn score(model: &Model, data: &Dataset, predictions: &Predictions) -> Score {
    let truth = model.codes(data.labels());
    let errors = truth.iter().zip(predictions.codes()).filter(|(truth, found)| **truth != Some(**found)).count();
    Score { rows: data.rows(), errors }
}
