//! Runs the program as a user does.
#![allow(dead_code, unreachable_pub)] // each test file uses its part

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What came of a run.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The program, to be run in a folder.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_maxmargin"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs it with these arguments, separated by blanks.
pub fn run(folder: &Path, line: &str) -> Run {
    run_words(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// Runs it with these arguments.
pub fn run_words(folder: &Path, words: &[&str]) -> Run {
    let output = program(folder).args(words).output().expect("the program starts");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("standard output is text"),
        stderr: String::from_utf8(output.stderr).expect("standard error is text"),
    }
}

/// Runs it, and expects it to succeed.
#[track_caller]
pub fn done(folder: &Path, line: &str) -> Run {
    let run = run(folder, line);
    assert_eq!(run.code, Some(0), "{line}\n{}\n{}", run.stdout, run.stderr);
    run
}

/// Runs it, and reads the one JSON object that it prints.
#[track_caller]
pub fn json(folder: &Path, line: &str) -> Value {
    let run = done(folder, line);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{line}: {error}\n{}", run.stdout))
}

/// A text with one blank between its words: what is said, wherever a line ends.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Expects two numbers to agree to a part of 1e-4, or to 1e-4 where 0 is expected.
#[track_caller]
pub fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("expected {expected}, found {found}"));
    let most = 1e-4 * if expected == 0.0 { 1.0 } else { expected.abs() };
    assert!((found - expected).abs() <= most, "expected {expected}, found {found}");
}

/// [`near`], for lists.
#[track_caller]
pub fn all_near(found: &Value, expected: &[f64]) {
    let found = found.as_array().unwrap_or_else(|| panic!("expected {expected:?}, found {found}"));
    assert_eq!(found.len(), expected.len(), "{found:?}");
    found.iter().zip(expected).for_each(|(found, &expected)| near(found, expected));
}
