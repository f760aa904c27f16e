//! Writing data of any format, block by block: whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use maxmargin::data::{AnswerKind, Dataset};

use crate::arrow_file::ArrowWriter;
use crate::atomic::AtomicFile;
use crate::cache_writer::CacheWriter;
use crate::error::Error;
use crate::npy::NpyWriter;
use crate::npz::NpzWriter;
use crate::parquet_file::ParquetWriter;
use crate::read::Format;
use crate::write::{csv_rows, libsvm_rows};

/// Writes a data file: it is there once [`DataWriter::finish`] has been called.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin_io::{DataWriter, Format, ReadOptions, read_path};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("iris.parquet");
/// let iris = embedded("iris").unwrap();
/// let mut writer = DataWriter::create(&path, Format::Parquet)?;
/// writer.push(&iris)?;
/// assert_eq!(writer.finish()?, 150);
/// assert_eq!(read_path(&path, &ReadOptions::default())?.fingerprint(), iris.fingerprint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DataWriter {
    format: Format,
    out: Out,
    rows: u64,
    columns: usize,
    /// What the rows have beside their columns, once there was one.
    answers: Option<AnswerKind>,
    /// What stands between the cells of CSV.
    separator: char,
    /// What the format has no place for, once there was some.
    lost: Vec<&'static str>,
}

enum Out {
    Text(BufWriter<AtomicFile>),
    Npy(NpyWriter),
    Npz(Box<NpzWriter>),
    Arrow(Box<ArrowWriter>),
    Parquet(Box<ParquetWriter>),
    Cache(Box<CacheWriter>),
}

impl DataWriter {
    /// Begins to write a file.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn create(path: &Path, format: Format) -> Result<Self, Error> {
        let out = match format {
            Format::Libsvm | Format::Csv => Out::Text(BufWriter::with_capacity(1 << 20, AtomicFile::create(path)?)),
            Format::Npy => Out::Npy(NpyWriter::create(path)?),
            Format::Npz => Out::Npz(Box::new(NpzWriter::create(path)?)),
            Format::Arrow | Format::ArrowStream => Out::Arrow(Box::new(ArrowWriter::create(path, format)?)),
            Format::Parquet => Out::Parquet(Box::new(ParquetWriter::create(path)?)),
            Format::Cache => Out::Cache(Box::new(CacheWriter::create(path)?)),
        };
        // A name that says tabs is read by tabs.
        let is_tsv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
        let separator = if is_tsv { '\t' } else { ',' };
        Ok(DataWriter { format, out, rows: 0, columns: 0, answers: None, separator, lost: Vec::new() })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When the format cannot hold them, or the file cannot be written.
    pub fn push(&mut self, data: &Dataset) -> Result<(), Error> {
        let first = self.rows == 0;
        if !first && self.format == Format::Csv && data.columns() != self.columns {
            return Err(Error::NotWritable {
                what: format!("row {} has {} columns, not {}", self.rows + 1, data.columns(), self.columns),
                help: "give all rows the same columns".into(),
            });
        }
        if data.columns() == 0 && !matches!(self.format, Format::Libsvm | Format::Cache | Format::Csv) {
            return Err(Error::NotWritable {
                what: format!("data without columns cannot be written as {}", self.format.name()),
                help: "write LIBSVM text, which has rows of only a label".into(),
            });
        }
        self.columns = data.columns();
        let answers = *self.answers.get_or_insert(data.answers().kind());
        if answers != data.answers().kind() {
            return Err(Error::NotWritable {
                what: format!("the answers of row {} are not like those of the rows before it", self.rows + 1),
                help: "give all rows labels, or all of them numbers, or none of them any".into(),
            });
        }
        for what in losses(data, self.format) {
            if !self.lost.contains(&what) {
                self.lost.push(what);
            }
        }
        match &mut self.out {
            Out::Text(out) => {
                let written = if self.format == Format::Csv {
                    csv_rows(data, out, first, self.separator)
                } else {
                    libsvm_rows(data, out, first)
                };
                written.map_err(|error| match error {
                    Error::Write { kind, .. } => out.get_ref().write_error(kind.into()),
                    other => other,
                })?;
            }
            Out::Npy(out) => out.push(data)?,
            Out::Npz(out) => out.push(data)?,
            Out::Arrow(out) => out.push(data)?,
            Out::Parquet(out) => out.push(data)?,
            Out::Cache(out) => out.push(data)?,
        }
        self.rows += data.rows() as u64;
        Ok(())
    }

    /// What the data had and the format has no place for, so far.
    pub fn lost(&self) -> &[&'static str] {
        &self.lost
    }

    /// Makes the file, durably. Returns how many rows it has.
    ///
    /// # Errors
    /// When there were no rows, or the file cannot be written.
    pub fn finish(self) -> Result<u64, Error> {
        if self.rows == 0 {
            return Err(Error::NotWritable {
                what: "there are no rows to write".into(),
                help: "give data with at least one row".into(),
            });
        }
        match self.out {
            Out::Text(mut out) => {
                let flushed = out.flush();
                flushed.map_err(|error| out.get_ref().write_error(error))?;
                let (file, _) = out.into_parts();
                file.commit()?;
                Ok(self.rows)
            }
            Out::Npy(out) => out.finish(),
            Out::Npz(out) => out.finish(),
            Out::Arrow(out) => out.finish(),
            Out::Parquet(out) => out.finish(),
            Out::Cache(out) => out.finish(),
        }
    }
}

/// What some data has and a format has no place for.
fn losses(data: &Dataset, format: Format) -> Vec<&'static str> {
    let spelled = || {
        let plain = |text: &str, number: Option<f64>| number.is_none_or(|number| number.to_string() == text);
        let classes = data.answers().labels().map_or(&[][..], |labels| labels.classes());
        !classes.iter().all(|class| plain(class.text(), class.number()))
    };
    let cache = format == Format::Cache;
    [
        ("column names", data.names().is_some() && matches!(format, Format::Libsvm | Format::Npy | Format::Npz)),
        ("weights", data.weights().is_some() && !cache),
        ("group numbers", data.groups().is_some() && !cache && format != Format::Libsvm),
        ("the spelling of labels", format == Format::Npy && spelled()),
    ]
    .into_iter()
    .filter_map(|(what, lost)| lost.then_some(what))
    .collect()
}
