//! LIBSVM's and LIBLINEAR's programs, by their names: the same flags, files, phrases and exit codes, by our engine.
//!
//! | called as | or | is |
//! | --- | --- | --- |
//! | `svm-train` | `maxmargin svm-train` | [`svm_train`] |
//! | `svm-predict` | `maxmargin svm-predict` | [`svm_predict`] |
//! | `svm-grid` | `maxmargin svm-grid` | [`svm_grid`], their `grid.py` |
//! | `svm-scale` | `maxmargin svm-scale` | [`svm_scale`] |
//! | `train`, `liblinear-train` | `maxmargin liblinear-train` | [`linear_train`] |
//! | `predict`, `liblinear-predict` | `maxmargin liblinear-predict` | [`linear_predict`] |
//!
//! They end with 0 or 1, as the originals do; an interrupt is 130 here, too. Where a phrase of the originals would be printed for a mistake,
//! it is, and our own words follow, which say where and how to go on.

mod data;
mod ending;
mod fits;
mod folds;
mod general;
mod linear_predict;
mod linear_train;
mod options;
mod order;
mod scores;
mod svm_grid;
mod svm_predict;
mod svm_scale;
mod svm_train;

use std::ffi::OsString;
use std::path::Path;

use crate::exit::ExitCode;

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    SvmTrain,
    SvmPredict,
    SvmScale,
    SvmGrid,
    LinearTrain,
    LinearPredict,
}

/// The names that are names of commands of ours, too; those may only be the name of the program.
const COMMANDS: [(&str, Program); 6] = [
    ("svm-train", Program::SvmTrain),
    ("svm-predict", Program::SvmPredict),
    ("svm-scale", Program::SvmScale),
    ("svm-grid", Program::SvmGrid),
    ("liblinear-train", Program::LinearTrain),
    ("liblinear-predict", Program::LinearPredict),
];
const NAMES: [(&str, Program); 2] = [("train", Program::LinearTrain), ("predict", Program::LinearPredict)];

/// The program that was called, if it is one of these, and its arguments.
pub(crate) fn called(arguments: impl Iterator<Item = OsString>) -> Option<(Program, Vec<String>)> {
    let arguments: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let name = Path::new(arguments.first()?).file_stem()?.to_str()?;
    let among =
        |list: &[(&str, Program)], name: &str| list.iter().find(|(own, _)| *own == name).map(|(_, found)| *found);
    if let Some(program) = among(&COMMANDS, name).or_else(|| among(&NAMES, name)) {
        return Some((program, arguments[1..].to_vec()));
    }
    Some((among(&COMMANDS, arguments.get(1)?)?, arguments[2..].to_vec()))
}

/// Runs a program.
pub(crate) fn run(program: Program, arguments: &[String]) -> ExitCode {
    let done = match program {
        Program::SvmTrain => svm_train::run(arguments),
        Program::SvmPredict => svm_predict::run(arguments),
        Program::SvmScale => svm_scale::run(arguments),
        Program::SvmGrid => svm_grid::run(arguments),
        Program::LinearTrain => linear_train::run(arguments),
        Program::LinearPredict => linear_predict::run(arguments),
    };
    match done {
        Ok(()) => ExitCode::Done,
        Err(ending) => ending.tell(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Option<(Program, Vec<String>)> {
        called(words.iter().map(OsString::from))
    }

    #[test]
    fn a_program_is_known_by_the_name_it_was_called_by_or_by_its_first_word() {
        let rest = || vec!["-c".to_string(), "1".into()];
        assert_eq!(of(&["/opt/bin/svm-train", "-c", "1"]), Some((Program::SvmTrain, rest())));
        assert_eq!(of(&["./train", "-c", "1"]), Some((Program::LinearTrain, rest())));
        assert_eq!(of(&["svm-scale.exe"]), Some((Program::SvmScale, Vec::new())));
        assert_eq!(of(&["maxmargin", "svm-predict", "-c", "1"]), Some((Program::SvmPredict, rest())));
        assert_eq!(of(&["maxmargin", "train", "iris"]), None);
        assert_eq!(of(&["maxmargin"]), None);
    }
}
