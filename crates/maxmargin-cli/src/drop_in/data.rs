//! Data files as both programs know them.

use std::path::Path;

use maxmargin::Workers;
use maxmargin::data::{AnswerKind, Dataset, Label};
use maxmargin::error::quoted;
use maxmargin_io::{Format, KernelValues, ReadOptions, Reader};

use super::ending::Ending;
use crate::progress::ReadingLine;

/// Reads a file in LIBSVM's form.
pub(super) fn read(
    file: &str,
    workers: &Workers,
    quiet: bool,
    answers: AnswerKind,
    kernel_values: Option<KernelValues>,
) -> Result<Dataset, Ending> {
    let options = ReadOptions { format: Some(Format::Libsvm), answers, kernel_values, ..ReadOptions::default() };
    let line = ReadingLine::new(file, quiet);
    let data = Reader::new(&options).on(workers).watched_by(&line).read_path(Path::new(file));
    data.map_err(|error| Ending::reading(&error, "input"))
}

/// The targets, or the labels as numbers.
pub(super) fn numbers(data: &Dataset) -> Result<Vec<f64>, Ending> {
    let Some(labels) = data.answers().labels() else { return Ok(data.numbers()?.into_owned()) };
    labels.numbers().map_err(|row| {
        let label = quoted(labels.get(row).text());
        Ending::Refused(format!("Wrong input format at line {}\n  the label {label} is not a number", row + 1))
    })
}

/// Labels of classes are whole numbers: a model's file has no place for others, which is better said before the work than after it.
pub(super) fn check_whole(data: &Dataset) -> Result<(), Ending> {
    let whole = |label: &Label| {
        label.number().is_some_and(|number| number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX))
    };
    match data.labels()?.classes().iter().find(|label| !whole(label)) {
        None => Ok(()),
        Some(label) => Err(Ending::parameter(
            &format!("labels of classes are whole numbers only, and {} is none", quoted(label.text())),
            "number the classes, or train a regression; maxmargin train takes any labels",
        )),
    }
}
