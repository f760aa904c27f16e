//! `predict`: labels or numbers for new rows.

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use maxmargin::calibration::Calibration;
use maxmargin::model::Predictions;
use maxmargin::provenance;
use maxmargin::view::{PredictionsView, machine_name};
use maxmargin::{Model, Workers};
use maxmargin_plot::Kind;

use crate::arguments::Predict;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Target, Words, escaped};
use crate::picture::{self, Sketch};
use crate::report::score::{Score, wants_values};
use crate::report::{Page, json_line};

/// Predicts.
pub(super) fn run(arguments: &Predict) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.quiet };
    let origin = Origin::new(&arguments.data, words)?;
    let mut read = vec![arguments.model.as_path()];
    read.extend(origin.file());
    let target = arguments.output.as_deref().map(|path| Target::new(path, &read)).transpose()?;
    let sketch = Sketch::of(arguments.plot.as_ref(), &read)?;
    let workers = Workers::new(arguments.threads)?;
    let model = crate::model_file::load(&arguments.model)?;
    let started = Instant::now();
    let source = origin.fetch(arguments.reading.seed_of(&model), &workers, words)?;
    let found = input::read_for_model(&source, &model, &arguments.reading, arguments.unlabelled, words)?;
    let read_seconds = started.elapsed().as_secs_f64();
    // LIBSVM's file leaves out columns in which no vector has an entry; a row's entry in them counts.
    let model = if model.provenance().origin == provenance::Origin::Libsvm {
        model.widened(found.data.columns())?
    } else {
        model
    };
    let aligned = model.align_by(&found.data, &workers)?;
    let rows = found.data.rows();
    let is_told = found.labelled() && (arguments.json || !arguments.quiet);
    let has_values = arguments.decision_values || arguments.probabilities || is_told && wants_values(&model, rows);
    let started = Instant::now();
    let predictions =
        if has_values { model.predict_aligned(aligned, &workers) } else { model.predict_classes(aligned, &workers) };
    let predict_seconds = started.elapsed().as_secs_f64();
    if let Some(note) = predictions.note() {
        words.note(note);
    }
    let table = Table::new(&model, &predictions, rows, &found.remarks.dropped, arguments)?;
    let write = |out: &mut dyn Write| if arguments.csv { table.write_csv(out) } else { table.write_lines(out) };
    let to_file = target.is_some();
    match target {
        Some(target) => {
            let mut bytes = Vec::new();
            write(&mut bytes)?;
            target.save(&bytes)?;
        }
        None if arguments.json => {}
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
    }
    if let Some(sketch) = sketch {
        let task = model.task();
        let kind = if task.is_classification() && found.labelled() { Kind::Confusion } else { Kind::usual(task) };
        let sketch = Sketch { kind: Some(kind), ..sketch };
        let of = picture::draw(&sketch, &model, Some(&found.data), &workers)?;
        words.note(&format!("wrote {} ({of})", sketch.target.shown()));
    }
    let score = if is_told { Score::new(&model, &found.data, &predictions, has_values) } else { None };
    if arguments.json {
        let mut view = PredictionsView::new(rows, read_seconds, predict_seconds);
        view.errors = score.as_ref().and_then(Score::errors);
        view.accuracy = score.as_ref().and_then(Score::accuracy);
        view.score = score.as_ref().map(Score::view);
        if !to_file {
            view.add_predictions(&model, &predictions, arguments.decision_values, table.probabilities.as_deref());
            view.intervals = table.intervals();
        }
        output::print(&json_line(&view))?;
    } else if is_told {
        match score {
            None if model.task().is_regression() => {
                words.note("the data's labels are not numbers, so there is no error to report");
            }
            None => words.note("none of the data's labels is one of the model's, so there is no accuracy to report"),
            Some(score @ Score::Numbers(_)) => output::say(&score.words()),
            Some(score) => {
                let mut page = Page::new();
                page.text(&format!("accuracy: {}", score.words()));
                score.details(&mut page);
                output::say(page.finish().trim_end());
            }
        }
    }
    Ok(ExitCode::Done)
}

/// The share of targets that lies within the interval of a prediction.
const WITHIN: f64 = 0.9;

/// What there is to write of each row.
struct Table<'a> {
    model: &'a Model,
    predictions: &'a Predictions,
    rows: usize,
    /// Rows of the file that were left out, increasing: each has an empty line, so that lines are the rows of the file.
    dropped: &'a [u64],
    has_values: bool,
    probabilities: Option<Vec<f64>>,
    /// How far the interval of a regression's prediction reaches to each side.
    reach: Option<f64>,
}

impl<'a> Table<'a> {
    fn new(
        model: &'a Model,
        predictions: &'a Predictions,
        rows: usize,
        dropped: &'a [u64],
        arguments: &Predict,
    ) -> Result<Self, Failure> {
        let reach = reach(model).filter(|_| arguments.probabilities);
        let probabilities =
            (arguments.probabilities && reach.is_none()).then(|| model.probabilities(predictions)).transpose()?;
        Ok(Table { model, predictions, rows, dropped, has_values: arguments.decision_values, probabilities, reach })
    }

    /// The numbers of a row, beside what is predicted.
    fn numbers(&self, row: usize) -> impl Iterator<Item = f64> {
        let is_regression = self.model.task().is_regression();
        let values: &[f64] =
            if self.has_values && !is_regression { self.predictions.decision_values(row) } else { &[] };
        let classes = self.model.classes().len();
        let probabilities = self.probabilities.as_ref().map_or(&[][..], |all| &all[row * classes..][..classes]);
        let interval = self.reach.map(|reach| {
            let middle = self.predictions.decision_values(row)[0];
            [middle - reach, middle + reach]
        });
        values.iter().chain(probabilities).copied().chain(interval.into_iter().flatten())
    }

    /// The row of the data that each row of the file is; `None` for one that was left out.
    fn lines(&self) -> impl Iterator<Item = Option<usize>> {
        let (mut next, mut left) = (0, self.dropped.iter().peekable());
        (0..(self.rows + self.dropped.len()) as u64).map(move |line| {
            if left.next_if(|&&dropped| dropped == line).is_some() {
                return None;
            }
            next += 1;
            Some(next - 1)
        })
    }

    /// What is predicted of each row.
    fn predicted(&self) -> Box<dyn Iterator<Item = String> + '_> {
        if self.model.task().is_regression() {
            return Box::new(self.predictions.numbers().map(|number| number.to_string()));
        }
        let codes = self.predictions.codes().iter();
        Box::new(codes.map(|&code| self.model.classes()[code as usize].text().to_string()))
    }

    /// A label or number a line, and the numbers beside it.
    fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut predicted = self.predicted();
        for row in self.lines() {
            let Some((row, predicted)) = row.zip(row.and_then(|_| predicted.next())) else {
                out.write_all(b"\n")?;
                continue;
            };
            // A label may hold anything that a cell of a table can, a line break too.
            out.write_all(escaped(&predicted).as_bytes())?;
            for number in self.numbers(row) {
                write!(out, "\t{number}")?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// A table with a header.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut head = vec!["predicted".to_string()];
        if self.has_values && !self.model.task().is_regression() {
            let names = self.model.machines().iter().map(|machine| machine_name(self.model, machine));
            head.extend(names.map(|name| format!("decision value: {name}")));
        }
        if self.probabilities.is_some() {
            head.extend(self.model.classes().iter().map(|label| format!("probability: {}", label.text())));
        }
        if self.reach.is_some() {
            head.extend(["low".to_string(), "high".to_string()]);
        }
        let head: Vec<String> = head.iter().map(|name| cell(name)).collect();
        writeln!(out, "{}", head.join(","))?;
        let mut predicted = self.predicted();
        for row in self.lines() {
            let Some((row, predicted)) = row.zip(row.and_then(|_| predicted.next())) else {
                writeln!(out, "{}", ",".repeat(head.len() - 1))?;
                continue;
            };
            out.write_all(cell(&predicted).as_bytes())?;
            for number in self.numbers(row) {
                write!(out, ",{number}")?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The intervals of a regression's predictions.
    fn intervals(&self) -> Option<Vec<[f64; 2]>> {
        let reach = self.reach?;
        Some(self.predictions.numbers().map(|middle| [middle - reach, middle + reach]).collect())
    }
}

/// How far from a regression's prediction the share [`WITHIN`] of targets lies: of the density `exp(−|z|/s) / (2 s)` the share `1 − exp(−t/s)`
/// lies within t.
fn reach(model: &Model) -> Option<f64> {
    match model.machines().first()?.calibration {
        Some(Calibration::Noise { scale }) => Some(-scale * (1.0 - WITHIN).ln()),
        _ => None,
    }
}

/// A cell of a CSV file, in quotes where it needs them.
fn cell(text: &str) -> String {
    if text.is_empty() || text.contains([',', ';', '\t', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_reader_could_misread_are_quoted() {
        assert_eq!(["a b", "a,b", "say \"x\"", ""].map(cell), ["a b", "\"a,b\"", "\"say \"\"x\"\"\"", "\"\""]);
    }
}
