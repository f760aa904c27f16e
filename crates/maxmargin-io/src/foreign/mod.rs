//! Models of other programs, in and out: LIBSVM's and LIBLINEAR's text files; and out only: ONNX.
//!
//! What their files have no place for (scaling, names of columns, certificates) is refused or said, never dropped in silence. A model
//! that was read has no certificate, because nothing is known of its training.

mod liblinear;
mod libsvm;
mod onnx;

use std::fmt::Write as _;

use maxmargin::Model;
use maxmargin::certificate::Evidence;
use maxmargin::control::Stop;
use maxmargin::data::{Label, Matrix};
use maxmargin::error::quoted;
use maxmargin::kernel::KernelFunction;
use maxmargin::model::{Machine, ModelParts, Multiclass, Pairing};
use maxmargin::problem::{Bias, Loss, Norm, Penalty, Task};
use maxmargin::provenance::{Origin, Provenance};
use maxmargin::recipe::Recipe;

use crate::error::Error;
use crate::help::{Help, Setting};
pub use liblinear::{LiblinearLayout, liblinear_model_from_text, liblinear_model_to_text};
pub use libsvm::{LibsvmLayout, libsvm_model_from_text, libsvm_model_to_text};
pub use onnx::onnx_model_to_bytes;

/// Why a model of another program has no certificate.
const NO_CERTIFICATE: &str = "the model was read from another program's file, which says nothing of its training";
/// The most classes, columns and vectors that a file may claim.
const MOST_CLASSES: usize = 100_000;
const MOST_COLUMNS: usize = 100_000_000;

/// The program that a model file in text is of, by its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignModel {
    /// LIBSVM.
    Libsvm,
    /// LIBLINEAR.
    Liblinear,
}

impl ForeignModel {
    /// Which one it is, if any.
    pub fn of_text(bytes: &[u8]) -> Option<Self> {
        let known = [(&b"svm_type"[..], ForeignModel::Libsvm), (b"solver_type", ForeignModel::Liblinear)];
        known.into_iter().find(|(word, _)| bytes.starts_with(word)).map(|(_, kind)| kind)
    }
}

/// The lines of a model file, with their numbers.
struct Lines<'t> {
    path: &'t str,
    /// Whether the last line ends, as both programs end it; else the file was cut off.
    whole: bool,
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
    /// The number of the line handed out last, counted from 1.
    number: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str, path: &'t str) -> Self {
        Lines { path, whole: text.ends_with('\n'), lines: text.lines().enumerate(), number: 0 }
    }

    fn next(&mut self, expected: &str) -> Result<&'t str, Error> {
        match self.lines.next() {
            Some((place, line)) => {
                self.number = place + 1;
                Ok(line)
            }
            None => {
                self.number += 1;
                Err(self.fault("the end of the file", expected))
            }
        }
    }

    /// The first word of the next line, and the others.
    fn entry(&mut self, expected: &str) -> Result<(&'t str, Vec<&'t str>), Error> {
        let line = self.next(expected)?;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some(word) => Ok((word, words.collect())),
            None => Err(self.fault("an empty line", expected)),
        }
    }

    /// Nothing but empty lines may be left, and the last one must end.
    fn end(&mut self) -> Result<(), Error> {
        if !self.whole {
            return Err(self.fault("a last line that is cut off", "the end of the line"));
        }
        for (place, line) in self.lines.by_ref() {
            self.number = place + 1;
            if !line.trim().is_empty() {
                let found = quoted(&line.chars().take(20).collect::<String>());
                return Err(self.fault(&found, "the end of the file"));
            }
        }
        Ok(())
    }

    fn fault(&self, found: &str, expected: &str) -> Error {
        Error::Syntax {
            path: self.path.into(),
            line: self.number,
            column: 1,
            found: found.into(),
            expected: expected.into(),
            help: "give the model file as the program has written it".into(),
        }
    }

    /// A number of the line handed out last.
    fn number<T: std::str::FromStr>(&self, word: &str, expected: &str) -> Result<T, Error> {
        word.parse().map_err(|_| self.fault(&quoted(word), expected))
    }

    fn finite(&self, word: &str, expected: &str) -> Result<f64, Error> {
        let value: f64 = self.number(word, expected)?;
        if value.is_finite() { Ok(value) } else { Err(self.fault(&quoted(word), expected)) }
    }

    /// As many numbers as there should be.
    fn numbers(&self, words: &[&str], count: usize, expected: &str) -> Result<Vec<f64>, Error> {
        if words.len() != count {
            return Err(self.fault(&format!("{} numbers", words.len()), &format!("{count}: {expected}")));
        }
        words.iter().map(|word| self.finite(word, expected)).collect()
    }

    /// Notes an entry, of which a second one would change what the first one said.
    fn once(&self, name: &'t str, seen: &mut Vec<&'t str>) -> Result<(), Error> {
        if seen.contains(&name) {
            return Err(self.fault(&format!("the entry {} again", quoted(name)), "each entry once"));
        }
        seen.push(name);
        Ok(())
    }

    /// The labels of an entry: whole numbers, however they are written.
    fn labels(&self, words: &[&str]) -> Result<Vec<i64>, Error> {
        let whole = |word: &str| {
            let number: f64 = word.parse().ok().filter(|number: &f64| number.fract() == 0.0)?;
            (number.abs() <= 9e15).then_some(number as i64)
        };
        let label = |word: &&str| match word.parse().ok().or_else(|| whole(word)) {
            Some(label) => Ok(label),
            None => Err(self.fault(&quoted(word), "whole numbers")),
        };
        words.iter().map(label).collect()
    }

    /// The only number of an entry, which is finite.
    fn single_finite(&self, words: &[&str]) -> Result<f64, Error> {
        match words {
            [word] => self.finite(word, "a finite number"),
            _ => Err(self.fault(&format!("{} words", words.len()), "a number")),
        }
    }

    /// The only number of an entry.
    fn single<T: std::str::FromStr>(&self, words: &[&str], expected: &str) -> Result<T, Error> {
        match words {
            [word] => self.number(word, expected),
            _ => Err(self.fault(&format!("{} words", words.len()), expected)),
        }
    }
}

/// A machine of a model that was read.
fn machine(pairing: Pairing, bias: f64) -> Machine {
    Machine {
        pairing,
        bias,
        stop: Stop::Converged,
        iterations: 0,
        training_errors: 0,
        rows: 0,
        cost: None,
        epsilon: None,
        reach: None,
        calibration: None,
        evidence: Evidence::None(NO_CERTIFICATE.into()),
        notes: Vec::new(),
        weights: None,
        support: Vec::new(),
        coefficients: Vec::new(),
    }
}

/// What a file says of a model, in our terms.
struct Read {
    task: Task,
    kernel: KernelFunction,
    loss: Loss,
    norm: Norm,
    origin: Origin,
    multiclass: Multiclass,
    classes: Vec<Label>,
    columns: usize,
    machines: Vec<Machine>,
    vectors: Option<Matrix>,
    /// The training rows of the vectors, increasing, for a table of kernel values.
    table: Option<Vec<u64>>,
}

impl Read {
    fn model(self, path: &str) -> Result<Model, Error> {
        let pool = self.vectors.as_ref().map_or(0, Matrix::rows);
        let support_rows = self.table.unwrap_or_else(|| (0..pool as u64).collect());
        // Of the rows that were no support vectors nothing is known.
        let training_rows = support_rows.last().map_or(0, |last| *last as usize + 1);
        let joint = self.multiclass.is_joint(self.classes.len());
        let recipe = Recipe {
            task: self.task,
            kernel: self.kernel,
            bias: Bias::Explicit,
            loss: self.loss,
            penalty: Penalty::C(1.0),
            norm: self.norm,
            multiclass: self.multiclass,
            class_weights: None,
        };
        let parts = ModelParts {
            recipe,
            provenance: Provenance {
                origin: self.origin,
                rows: training_rows,
                fingerprint: String::new(),
                // Nothing is promised.
                tolerance: f64::MAX,
                gap: None,
            },
            classes: self.classes,
            one_against_rest: false,
            columns: self.columns,
            names: None,
            scaling: None,
            network: None,
            machines: self.machines,
            joint: joint.then(|| maxmargin::certificate::joint::JointEvidence::None(NO_CERTIFICATE.into())),
            support_rows,
            vectors: self.vectors,
            landmarks: None,
        };
        Model::new(parts).map_err(|error| Error::Data { path: path.into(), error })
    }
}

/// Labels that both programs keep as whole numbers, sorted as our models have them: for each place in the file its place among the
/// classes.
///
/// A model may tell `1` from `1.0`, and then its file names one number twice. Both programs read that, so it is read here:
/// such classes keep their order, or have it turned round where `last_first` says that the file has it so.
fn sorted(labels: &[i64], last_first: bool) -> (Vec<Label>, Vec<usize>) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    if last_first {
        order.reverse();
    }
    order.sort_by_key(|&place| labels[place]);
    let mut places = vec![0; labels.len()];
    order.iter().enumerate().for_each(|(class, &place)| places[place] = class);
    (order.iter().map(|&place| Label::new(labels[place].to_string())).collect(), places)
}

/// A model that cannot be written.
fn not_writable<T>(what: impl Into<String>, help: impl Into<Help>) -> Result<T, Error> {
    Err(Error::NotWritable { what: what.into(), help: help.into() })
}

/// Checks what neither program's file has a place for; the labels as whole numbers.
fn check_writable(model: &Model, program: &str) -> Result<Vec<i64>, Error> {
    let parts = model.parts();
    if parts.network.is_some() {
        return not_writable(
            format!("the model is a network, and {program} has none"),
            "train with another solver, such as smo or logistic",
        );
    }
    if parts.scaling.is_some() {
        return not_writable(
            format!("the model scales its columns, and {program}'s file has no place for that"),
            Help::from("scale the data beforehand, and train without ").name(Setting::Scale),
        );
    }
    let whole = |label: &Label| {
        let number = label.number().filter(|number| number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX));
        number.map(|number| number as i64)
    };
    match parts.classes.iter().map(whole).collect::<Option<Vec<i64>>>() {
        Some(labels) => Ok(labels),
        None => not_writable(
            format!("{program} knows labels that are whole numbers only"),
            "train on labels such as 1 and 2",
        ),
    }
}

/// The column (counted from 0) that the file has each weight of a linear model in: its own number where columns are known by numbers, else its
/// place.
fn columns_in_file(parts: &ModelParts) -> Vec<usize> {
    let number = |name: &String| name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let numbers = parts.names.as_ref().and_then(|names| names.iter().map(number).collect::<Option<Vec<usize>>>());
    let numbers = numbers.filter(|numbers| numbers.iter().all(|&number| number < MOST_COLUMNS));
    numbers.unwrap_or_else(|| (0..parts.columns).collect())
}

/// Adds the non-zeros of a row, columns counted from 1.
fn put_entries(text: &mut String, matrix: &Matrix, row: usize) {
    matrix.visit(row, |column, value| {
        if value != 0.0 {
            let _ = write!(text, "{}:{value} ", column + 1);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_known_by_the_first_word() {
        assert_eq!(ForeignModel::of_text(b"svm_type c_svc\n"), Some(ForeignModel::Libsvm));
        assert_eq!(ForeignModel::of_text(b"solver_type L2R_LR\n"), Some(ForeignModel::Liblinear));
        assert_eq!(ForeignModel::of_text(b"{}"), None);
    }

    #[test]
    fn labels_are_sorted_and_their_places_kept() {
        let (labels, places) = sorted(&[3, -1, 2], false);
        assert_eq!(labels.iter().map(Label::text).collect::<Vec<_>>(), ["-1", "2", "3"]);
        assert_eq!(places, [2, 0, 1]);
        assert_eq!(sorted(&[1, 0, 1], false).1, [1, 0, 2]);
        assert_eq!(sorted(&[1, 1], true).1, [1, 0]);
    }
}
