//! The catalogue of bad data files, by format.
#![allow(unreachable_pub)] // one test file uses it

mod cache;
mod csv;
mod libsvm_text;
mod npy;
mod other_files;
mod parquet;

use maxmargin_io::{Categorical, Format, ReadOptions};

/// A bad file: its name, its bytes, how it is read, the message, and the help.
pub type Case = (&'static str, &'static [u8], fn() -> ReadOptions, &'static str, &'static str);

/// A bad file that is made: what is wrong with it, its bytes, how it is read, the message without the name, and the help.
pub type Built = (&'static str, fn() -> Vec<u8>, fn() -> ReadOptions, &'static str, &'static str);

/// A bad file of either kind.
pub struct BadFile {
    pub what: String,
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub options: ReadOptions,
    pub message: String,
    pub help: &'static str,
}

/// All of them.
pub fn all() -> Vec<BadFile> {
    let written = [libsvm_text::CASES, csv::CASES, npy::CASES, other_files::CASES].into_iter().flatten();
    let written = written.map(|&(name, bytes, options, message, help)| BadFile {
        what: bytes.escape_ascii().to_string(),
        name,
        bytes: bytes.to_vec(),
        options: options(),
        message: message.into(),
        help,
    });
    let built = [("d.parquet", parquet::CASES), ("d.mmc", cache::CASES)].into_iter();
    let built = built.flat_map(|(name, cases)| cases.iter().map(move |case| (name, case)));
    let built = built.map(|(name, &(what, bytes, options, message, help))| BadFile {
        what: what.into(),
        name,
        bytes: bytes(),
        options: options(),
        message: format!("{name}: {message}"),
        help,
    });
    written.chain(built).collect()
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn libsvm() -> ReadOptions {
    ReadOptions { format: Some(Format::Libsvm), ..plain() }
}

fn zero_based() -> ReadOptions {
    ReadOptions { zero_based: true, ..plain() }
}

pub fn categorical() -> ReadOptions {
    ReadOptions { categorical: Categorical::Words, ..plain() }
}

fn label(name: &str) -> ReadOptions {
    ReadOptions { label: Some(name.into()), ..plain() }
}

fn columns(names: &[&str]) -> ReadOptions {
    ReadOptions { columns: Some(names.iter().map(|name| name.to_string()).collect()), ..plain() }
}

fn header(header: bool) -> ReadOptions {
    ReadOptions { header: Some(header), ..plain() }
}
