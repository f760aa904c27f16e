//! Writing Parquet: groups of rows, column after column.

use std::path::Path;
use std::sync::Arc;

use maxmargin::data::{Answers, Dataset};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::NAMES_KEY;
use crate::atomic::AtomicFile;
use crate::error::Error;

/// The most columns of a file that is written: each costs memory, and bytes in every group of rows.
const MOST_COLUMNS: usize = 20_000;
/// About the bytes of a group of rows that is written.
const GROUP_BYTES: usize = 32 << 20;

/// Writes a Parquet file, whole or not at all: it is there once [`ParquetWriter::finish`] has been called.
pub(crate) struct ParquetWriter {
    state: State,
    rows: u64,
}

/// Before and after the columns are known.
enum State {
    Begun(Option<AtomicFile>),
    Writing { writer: Box<SerializedFileWriter<AtomicFile>>, columns: usize },
}

impl ParquetWriter {
    /// Begins to write a file.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        Ok(ParquetWriter { state: State::Begun(Some(AtomicFile::create(path)?)), rows: 0 })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When the columns are too many, or not those of the rows before, or the file cannot be written.
    pub(crate) fn push(&mut self, data: &Dataset) -> Result<(), Error> {
        if let State::Begun(file) = &mut self.state {
            let Some(file) = file.take() else { return Err(write_error("the file was given up")) };
            let writer = Box::new(begin(file, data)?);
            self.state = State::Writing { writer, columns: data.columns() };
        }
        let State::Writing { writer, columns } = &mut self.state else { return Ok(()) };
        if *columns != data.columns() {
            return Err(Error::NotWritable {
                what: format!("row {} has {} columns, not {columns}", self.rows + 1, data.columns()),
                help: "give all rows the same columns".into(),
            });
        }
        let group = (GROUP_BYTES / (8 * (*columns + 1))).max(1);
        for start in (0..data.rows()).step_by(group) {
            let rows: Vec<usize> = (start..data.rows().min(start + group)).collect();
            write_group(writer, data, &rows).map_err(|error| write_error(&error.to_string()))?;
        }
        self.rows += data.rows() as u64;
        Ok(())
    }

    /// Makes the file, durably. Returns how many rows it has.
    ///
    /// # Errors
    /// When there were no rows, or the file cannot be written.
    pub(crate) fn finish(self) -> Result<u64, Error> {
        let State::Writing { writer, .. } = self.state else {
            return Err(Error::NotWritable {
                what: "there are no rows to write".into(),
                help: "give data with at least one row".into(),
            });
        };
        let file = writer.into_inner().map_err(|error| write_error(&error.to_string()))?;
        file.commit()?;
        Ok(self.rows)
    }
}

fn write_error(what: &str) -> Error {
    Error::Write { kind: std::io::ErrorKind::Other, reason: what.into() }
}

/// The file with its columns, ready for rows.
fn begin(file: AtomicFile, data: &Dataset) -> Result<SerializedFileWriter<AtomicFile>, Error> {
    if data.columns() > MOST_COLUMNS {
        return Err(Error::NotWritable {
            what: format!(
                "{} columns are more than the {MOST_COLUMNS} that a Parquet file is good for",
                data.columns()
            ),
            help: "write a cache or LIBSVM text instead, which leave out zeros".into(),
        });
    }
    let mut names: Vec<String> = (0..data.columns()).map(|column| data.name(column)).collect();
    let mut label = "label".to_string();
    while names.contains(&label) {
        label.push('_');
    }
    if !data.answers().is_none() {
        names.push(label);
    }
    let field = |(place, name): (usize, &String)| {
        let is_text = place == data.columns() && data.answers().labels().is_some();
        let builder = Type::primitive_type_builder(name, if is_text { Physical::BYTE_ARRAY } else { Physical::DOUBLE })
            .with_repetition(Repetition::REQUIRED);
        let builder = if is_text { builder.with_logical_type(Some(LogicalType::String)) } else { builder };
        builder.build().map(Arc::new)
    };
    let fault = |error: ParquetError| write_error(&error.to_string());
    let fields = names.iter().enumerate().map(field).collect::<Result<Vec<_>, _>>().map_err(fault)?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(fault)?;
    let names = match data.names() {
        Some(_) => None,
        None => Some(vec![KeyValue::new(NAMES_KEY.into(), "none".to_string())]),
    };
    let properties = WriterProperties::builder()
        .set_created_by(format!("maxmargin {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(names)
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(fault)
}

/// Writes some rows as a group.
fn write_group(
    writer: &mut SerializedFileWriter<AtomicFile>,
    data: &Dataset,
    rows: &[usize],
) -> Result<(), ParquetError> {
    // Column after column.
    let mut values = vec![0.0; rows.len() * data.columns()];
    for (place, &row) in rows.iter().enumerate() {
        data.matrix().visit(row, |column, value| values[column * rows.len() + place] = value);
    }
    let mut group = writer.next_row_group()?;
    for column in values.chunks_exact(rows.len()) {
        let Some(mut out) = group.next_column()? else { break };
        out.typed::<DoubleType>().write_batch(column, None, None)?;
        out.close()?;
    }
    if let Some(mut out) = group.next_column()? {
        match data.answers() {
            Answers::Classes(labels) => {
                let labels: Vec<ByteArray> = rows.iter().map(|&row| labels.get(row).text().into()).collect();
                out.typed::<ByteArrayType>().write_batch(&labels, None, None)?;
            }
            Answers::Numbers(numbers) => {
                let numbers: Vec<f64> = rows.iter().map(|&row| numbers[row]).collect();
                out.typed::<DoubleType>().write_batch(&numbers, None, None)?;
            }
            Answers::None => {}
        }
        out.close()?;
    }
    group.close()?;
    Ok(())
}
