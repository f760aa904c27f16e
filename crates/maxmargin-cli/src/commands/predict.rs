//! `predict`: labels or numbers for new rows.

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use maxmargin::data::Dataset;
use maxmargin::metrics::Residuals;
use maxmargin::model::Predictions;
use maxmargin::{Model, Workers};
use serde_json::json;

use crate::arguments::Predict;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Target, Words, escaped};
use crate::report::json_line;
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
    let started = Instant::now();
    let source = origin.fetch(arguments.reading.seed, &workers, words)?;
    let found = input::read_for_model(&source, &model, &arguments.reading, arguments.unlabelled, words)?;
    let read_seconds = started.elapsed().as_secs_f64();
    // LIBSVM's file leaves out columns in which no vector has an entry; a row's entry in them counts.
    let model = if model.parts().solver == "libsvm" { model.widened(found.data.columns())? } else { model };
    let aligned = model.align(&found.data)?;
    let started = Instant::now();
    let by_values = arguments.decision_values || arguments.probabilities;
    let predictions =
        if by_values { model.predict_aligned(aligned, &workers) } else { model.predict_classes(aligned, &workers) };
    let predict_seconds = started.elapsed().as_secs_f64();
    if let Some(note) = predictions.note() {
        words.note(note);
    }
    let rows = found.data.rows();
    let to_file = target.is_some();
    let probabilities = arguments.probabilities.then(|| model.probabilities(&predictions)).transpose()?;
    let classes = model.classes().len();
    // What follows the label of a row.
    let beside = |row: usize| match &probabilities {
        Some(all) => &all[row * classes..(row + 1) * classes],
        None if arguments.decision_values => predictions.decision_values(row),
        None => &[],
    };
    match target {
        Some(target) => {
            let mut bytes = Vec::new();
            write(&model, &predictions, rows, beside, &mut bytes)?;
            target.save(&bytes)?;
        }
        None if arguments.json => {}
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&model, &predictions, rows, beside, &mut out)?;
            out.flush()?;
        }
    }
    let score = if found.labelled { score(&model, &found.data, &predictions) } else { None };
    if arguments.json {
        let mut report = json!({
            "rows": rows,
            "errors": score.and_then(Score::errors),
            "accuracy": score.and_then(Score::accuracy),
            "read_seconds": read_seconds,
            "predict_seconds": predict_seconds,
        });
        if let Some(Score::Numbers(_)) = score {
            report["score"] = json!(score.map(Score::view));
        }
        if !to_file && model.task().is_regression() {
            report["numbers"] = predictions.numbers().collect();
        } else if !to_file {
            let labels = predictions.codes().iter().map(|&code| model.label(code).text());
            report["labels"] = labels.collect();
            if arguments.decision_values {
                report["decision_values"] = (0..rows).map(|row| json!(predictions.decision_values(row))).collect();
            }
            if probabilities.is_some() {
                report["classes"] = model.classes().iter().map(|label| label.text()).collect();
                report["probabilities"] = (0..rows).map(|row| json!(beside(row))).collect();
            }
        }
        output::print(&json_line(&report))?;
    } else if found.labelled && !arguments.quiet {
        match score {
            None if model.task().is_regression() => {
                words.note("the data's labels are not numbers, so there is no error to report");
            }
            None => words.note("none of the data's labels is one of the model's, so there is no accuracy to report"),
            Some(score @ Score::Classes { .. }) => output::say(&format!("accuracy: {}", score.words())),
            Some(score @ Score::Numbers(_)) => output::say(&score.words()),
        }
    }
    Ok(ExitCode::Done)
}

/// A label or number a line, and the numbers beside it.
fn write<'a>(
    model: &Model,
    predictions: &Predictions,
    rows: usize,
    beside: impl Fn(usize) -> &'a [f64],
    out: &mut impl Write,
) -> io::Result<()> {
    if model.task().is_regression() {
        for value in predictions.numbers() {
            writeln!(out, "{value}")?;
        }
        return Ok(());
    }
    // A label may hold anything that a cell of a table can, a line break too.
    let labels: Vec<String> = model.classes().iter().map(|label| escaped(label.text())).collect();
    for row in 0..rows {
        out.write_all(labels[predictions.codes()[row] as usize].as_bytes())?;
        for value in beside(row) {
            write!(out, "\t{value}")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// How good predictions are; `None` when the data has no labels of the model's kind. A label that the model does not know never is
/// predicted rightly.
pub(super) fn score(model: &Model, data: &Dataset, predictions: &Predictions) -> Option<Score> {
    if model.task().is_regression() {
        let truth = data.labels().numbers().ok()?;
        return Residuals::new(&truth, predictions.numbers()).map(Score::Numbers);
    }
    let truth = model.codes(data.labels());
    if truth.iter().flatten().count() == 0 {
        return None;
    }
    let errors = truth.iter().zip(predictions.codes()).filter(|(truth, found)| **truth != Some(**found)).count();
    Some(Score::Classes { rows: data.rows(), errors })
}
