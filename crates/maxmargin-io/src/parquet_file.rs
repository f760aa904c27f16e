//! Parquet: a table column by column, in groups of rows.
//!
//! Columns of numbers (floats, whole numbers, truth values) are features, and those of texts where they are asked for as categories. One
//! column is the label, the last unless another is asked for: numbers or texts. A missing value is a fault unless it is said what becomes of it. Written are columns of doubles, and last the label as text or the number to learn as a double,
//! called `label`, where there is one; weights and group numbers have no place in it. A file of ours tells in its metadata (`maxmargin.names`:
//! `none`) when the columns' names are only their numbers.

mod pages;
mod values;
mod writer;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use maxmargin::data::{Dataset, Label, Missing, TableRecipe};
use maxmargin::error::quoted;
use parquet::basic::{ConvertedType, Encoding, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::binary::join;
use crate::columns::{Columns, Head, Kind, RawValues, check_width, code_of, leave_out};
use crate::error::{Error, reason};
use crate::guard;
use crate::limits::{check_room, most_bytes, most_numbers, too_much};
use crate::read::ReadOptions;
use crate::remarks::{ReadData, Tally};
use crate::survey::{self, ColumnSurvey, TableSurvey};
use crate::table::{is_missing, text_help};
use values::BATCH;
pub(crate) use writer::ParquetWriter;

/// Opens the file at a place.
type BytesFrom = Box<dyn Fn(u64) -> Result<Box<dyn Read>, ParquetError> + Send>;

/// The first and last bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";
/// About the bytes of texts that are read at a time where each may be as long as its page.
const TEXT_BATCH_BYTES: u64 = 64 << 20;
/// The metadata that tells whether the names are the user's.
const NAMES_KEY: &str = "maxmargin.names";

/// Does some work with a file that may be damaged; what panics is damage.
fn guarded<T>(origin: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    guard::guarded(work).unwrap_or_else(|| Err(other_damage(origin, "its pages do not fit together")))
}

/// A Parquet file: what it holds, and which columns are asked for.
pub(crate) struct ParquetFile {
    origin: String,
    reader: Box<dyn FileReader>,
    /// Reads from a place in the file on.
    bytes: BytesFrom,
    /// The bytes of the file.
    length: u64,
    chosen: Columns,
    /// The names of all columns.
    names: Vec<String>,
    /// Whether the names are the user's.
    named: bool,
    next: usize,
    /// Rows read.
    done: u64,
    /// What was done to cells.
    tally: Tally,
}

impl ParquetFile {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or has not the columns asked for.
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        ParquetFile::open_for(path, options, false)
    }

    /// Opens a file, to be looked at whatever its columns hold, or to be read.
    ///
    /// # Errors
    /// As [`ParquetFile::open`].
    pub(crate) fn open_for(path: &Path, options: &ReadOptions, is_survey: bool) -> Result<Self, Error> {
        let origin = path.to_string_lossy();
        let file = File::open(path).map_err(|error| Error::Open {
            path: origin.to_string(),
            reason: reason(&error),
            help: "check that it is a file that can be read".into(),
        })?;
        let again = file.try_clone().map_err(|error| other_damage(&origin, &reason(&error)))?;
        ParquetFile::of(file, again, &origin, options, is_survey)
    }

    /// A file that is in memory.
    ///
    /// # Errors
    /// As [`ParquetFile::open`].
    pub(crate) fn from_bytes(
        bytes: Vec<u8>,
        origin: &str,
        options: &ReadOptions,
        is_survey: bool,
    ) -> Result<Self, Error> {
        let bytes = Bytes::from(bytes);
        ParquetFile::of(bytes.clone(), bytes, origin, options, is_survey)
    }

    /// A file that is read by two ways: as what it holds, and as bytes.
    fn of<R: ChunkReader + 'static>(
        file: R,
        bytes: R,
        origin: &str,
        options: &ReadOptions,
        is_survey: bool,
    ) -> Result<Self, Error> {
        guarded(origin, || {
            let length = file.len();
            let reader = SerializedFileReader::new(file).map_err(|error| damaged(origin, &error))?;
            let bytes = move |at: u64| Ok(Box::new(bytes.get_read(at)?) as Box<dyn Read>);
            ParquetFile::new(Box::new(reader), Box::new(bytes), length, origin, options, is_survey)
        })
    }

    fn new(
        reader: Box<dyn FileReader>,
        bytes: BytesFrom,
        length: u64,
        origin: &str,
        options: &ReadOptions,
        is_survey: bool,
    ) -> Result<Self, Error> {
        let metadata = reader.metadata().file_metadata();
        let schema = metadata.schema_descr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let unnamed = metadata.key_value_metadata().into_iter().flatten();
        let unnamed = unnamed.into_iter().any(|pair| pair.key == NAMES_KEY && pair.value.as_deref() == Some("none"));
        let named = !unnamed;
        let head = Head { origin, names: Some(&names), width: names.len(), is_text: false, named };
        check_width(head, options)?;
        let chosen = Columns::new(head, options)?;
        let (origin, tally) = (origin.into(), Tally::default());
        let mut file = ParquetFile { origin, reader, bytes, length, chosen, names, named, next: 0, done: 0, tally };
        if is_survey {
            return Ok(file);
        }
        if survey::is_needed(options) {
            let survey = file.survey(options)?;
            let mut chosen = std::mem::take(&mut file.chosen);
            survey::learn(&survey, &mut chosen, file.head(), options)?;
            (file.chosen, file.done) = (chosen, 0);
        }
        for &column in file.chosen.features.iter().chain(&file.chosen.label) {
            file.check_column(column)?;
        }
        file.check_size()?;
        Ok(file)
    }

    fn head(&self) -> Head<'_> {
        let (origin, names, width) = (&self.origin, Some(&self.names[..]), self.names.len());
        Head { origin, names, width, is_text: false, named: self.named }
    }

    /// All rows, and how they were read.
    ///
    /// # Errors
    /// When a group of rows is damaged, or holds what cannot be read.
    pub(crate) fn read(mut self) -> Result<ReadData, Error> {
        let origin = self.origin.clone();
        let data = join(&mut self, &origin)?;
        self.chosen.read_data(data, &self.tally, &origin)
    }

    /// How the columns become numbers.
    pub(crate) fn recipe(&self) -> TableRecipe {
        self.chosen.recipe()
    }

    /// Whether rows without a value are left out.
    pub(crate) fn drops_rows(&self) -> bool {
        self.chosen.missing == Missing::Drop
    }

    /// Looks at all columns.
    ///
    /// # Errors
    /// When the file is damaged.
    pub(crate) fn survey(&mut self, options: &ReadOptions) -> Result<TableSurvey, Error> {
        let mut survey = TableSurvey::new(self.head(), &self.chosen, options)?;
        self.check_size()?;
        for group in 0..self.reader.num_row_groups() {
            let rows = self.reader.metadata().row_group(group).num_rows().max(0) as u64;
            if rows == 0 {
                continue;
            }
            for (place, column) in survey.columns.iter_mut().enumerate() {
                let origin = self.origin.clone();
                guarded(&origin, || self.look_at(group, place, rows, column))?;
            }
            survey.rows += rows;
            self.done += rows;
        }
        self.done = 0;
        Ok(survey)
    }

    /// Looks at a column of a group of rows.
    fn look_at(&self, group: usize, place: usize, rows: u64, found: &mut ColumnSurvey) -> Result<(), Error> {
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(place);
        if self.what_is_odd(&descriptor).is_some() {
            found.other = true;
            return Ok(());
        }
        let (column, batch) = self.column(group, place, rows)?;
        if let ColumnReader::ByteArrayColumnReader(reader) = column {
            return self.each_text(reader, &descriptor, place, rows, batch, &mut |_, text| {
                match text {
                    Some(text) if !is_missing(text) => found.word(text),
                    _ => found.missing(),
                }
                Ok(())
            });
        }
        for value in self.read_some_numbers(column, &descriptor, place, rows, false)? {
            found.value(value);
        }
        Ok(())
    }

    /// Checks what the file claims to hold. A run of one value takes a few bytes however long it is.
    fn check_size(&self) -> Result<(), Error> {
        let groups = self.reader.metadata().row_groups().iter();
        let rows = groups.fold(0u64, |rows, group| rows.saturating_add(group.num_rows().max(0) as u64));
        let numbers = rows.saturating_mul(self.chosen.features.len() as u64 + 1);
        if numbers > most_numbers(self.length) {
            let what = format!("{rows} rows of {} columns", self.chosen.features.len() + 1);
            return Err(too_much(&self.origin, &what, SIZE_HELP));
        }
        Ok(())
    }

    /// A column of a group of rows, once its pages are known to unpack to what may be; and how many values to read at a time.
    fn column(&self, group: usize, place: usize, rows: u64) -> Result<(ColumnReader, usize), Error> {
        let fault = |error: ParquetError| damaged(&self.origin, &error);
        let metadata = self.reader.metadata();
        let (chunk, schema) = (metadata.row_group(group).column(place), metadata.file_metadata().schema_descr());
        let (start, length) = chunk.byte_range();
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(other_damage(&self.origin, "a column does not lie in it"));
        }
        let most = most_bytes(self.length);
        let read = |at: u64| (self.bytes)(start + at).map_err(|error| error.to_string());
        let unpacked = pages::unpacked_bytes(length, most, read).map_err(|what| other_damage(&self.origin, &what))?;
        if unpacked > most {
            let what = format!("{unpacked} bytes in column {}", self.shown(place));
            return Err(too_much(&self.origin, &what, SIZE_HELP));
        }
        let descriptor = schema.column(place);
        let shares_beginnings = chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY);
        // Texts that share their beginnings may each be as long as all bytes together.
        let batch = match TEXT_BATCH_BYTES.checked_div(unpacked).filter(|_| shares_beginnings) {
            Some(batch) => (batch as usize).clamp(1, BATCH),
            None => BATCH,
        };
        let checked = pages::Checked {
            pages: self
                .reader
                .get_row_group(group)
                .and_then(|group| group.get_column_page_reader(place))
                .map_err(fault)?,
            rows,
            has_levels: descriptor.max_def_level() > 0,
            shares_beginnings,
        };
        Ok((get_column_reader(descriptor, Box::new(checked)), batch))
    }

    /// How many rows the file says it has.
    pub(crate) fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows().max(0) as u64
    }

    /// Checks that a column is one that can be read.
    fn check_column(&self, column: usize) -> Result<(), Error> {
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(column);
        let is_label = Some(column) == self.chosen.label;
        let feature = self.chosen.features.iter().position(|&place| place == column);
        let is_values = feature.is_some_and(|feature| self.chosen.kinds[feature] != Kind::Number);
        let is_text = descriptor.physical_type() == Physical::BYTE_ARRAY;
        let (found, help) = match self.what_is_odd(&descriptor) {
            Some(found) => (found, leave_out(&self.names[column])),
            None if is_text && !is_label && !is_values => ("texts", text_help(&self.names[column])),
            None => return Ok(()),
        };
        Err(Error::Content {
            path: self.origin.clone(),
            found: format!("{found} in column {}", quoted(&self.names[column])),
            expected: if is_label { "labels" } else { "numbers" }.into(),
            help,
        })
    }

    /// What a column holds that cannot be read.
    fn what_is_odd(&self, descriptor: &ColumnDescriptor) -> Option<&'static str> {
        match descriptor.physical_type() {
            _ if descriptor.max_rep_level() > 0 => Some("lists"),
            _ if is_scaled(descriptor) => Some("decimal numbers, dates or times"),
            Physical::BOOLEAN
            | Physical::INT32
            | Physical::INT64
            | Physical::FLOAT
            | Physical::DOUBLE
            | Physical::BYTE_ARRAY => None,
            _ => Some("values that are no plain numbers"),
        }
    }

    /// Reads the next group of rows that has any.
    fn read_group(&mut self) -> Option<Result<Dataset, Error>> {
        while self.next < self.reader.num_row_groups() {
            let group = self.next;
            self.next += 1;
            let rows = self.reader.metadata().row_group(group).num_rows();
            if rows > 0 {
                let mut tally = std::mem::take(&mut self.tally);
                let data = guarded(&self.origin, || self.read_rows(group, rows as u64, &mut tally));
                self.tally = tally;
                self.done += rows as u64;
                return Some(data);
            }
        }
        None
    }

    fn read_rows(&self, group: usize, rows: u64, tally: &mut Tally) -> Result<Dataset, Error> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        check_room::<f64>(&self.origin, (rows as usize).saturating_mul(self.chosen.features.len() + 1))?;
        let mut columns = Vec::with_capacity(self.chosen.features.len());
        let is_strict = self.chosen.missing == Missing::Error;
        for (feature, (&place, kind)) in self.chosen.features.iter().zip(&self.chosen.kinds).enumerate() {
            let (column, batch) = self.column(group, place, rows)?;
            let descriptor = schema.column(place);
            columns.push(match kind {
                Kind::Number if is_strict => RawValues::Numbers(self.read_numbers(column, &descriptor, place, rows)?),
                Kind::Number => {
                    RawValues::Numbers(self.read_some_numbers(column, &descriptor, place, rows, true)?.into())
                }
                Kind::Values(values) => {
                    let mut codes = Vec::with_capacity(rows as usize);
                    let mut code = |row: usize, text: Option<&str>| {
                        if text.is_none() && is_strict {
                            return Err(self.missing_value(self.done + row as u64 + 1, place));
                        }
                        codes.push(code_of(values, text, feature, tally));
                        Ok(())
                    };
                    match column {
                        ColumnReader::ByteArrayColumnReader(reader) => {
                            let mut each =
                                |row: usize, text: Option<&str>| code(row, text.filter(|text| !is_missing(text)));
                            self.each_text(reader, &descriptor, place, rows, batch, &mut each)?;
                        }
                        column => {
                            let numbers = self.read_some_numbers(column, &descriptor, place, rows, true)?;
                            for (row, value) in numbers.into_iter().enumerate() {
                                let text = (!value.is_nan()).then(|| value.to_string());
                                code(row, text.as_deref())?;
                            }
                        }
                    }
                    RawValues::Words(codes)
                }
            });
        }
        let labels = match self.chosen.label {
            None => vec![Some(Label::new("0")); rows as usize],
            Some(place) => {
                let (column, batch) = self.column(group, place, rows)?;
                self.read_labels(column, &schema.column(place), place, rows, batch)?
            }
        };
        self.chosen.assemble(columns, labels, (&self.origin, self.done), tally)
    }

    fn shown(&self, place: usize) -> String {
        format!("{} {}", place + 1, quoted(&self.names[place]))
    }
}

impl Iterator for ParquetFile {
    type Item = Result<Dataset, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.read_group();
        if matches!(group, Some(Err(_))) {
            self.next = usize::MAX;
        }
        group
    }
}

/// Whether the numbers of a column mean something else than themselves.
fn is_scaled(descriptor: &ColumnDescriptor) -> bool {
    let logical = descriptor.logical_type_ref();
    matches!(
        logical,
        Some(
            LogicalType::Decimal { .. } | LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. }
        )
    ) || matches!(
        descriptor.converted_type(),
        ConvertedType::DECIMAL
            | ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
    )
}

/// The way out for a file that holds too much.
const SIZE_HELP: &str = "save the data as CSV or npy, which take as many bytes as they hold numbers";

fn damaged(origin: &str, error: &ParquetError) -> Error {
    other_damage(origin, &error.to_string())
}

fn other_damage(origin: &str, what: &str) -> Error {
    Error::Content {
        path: origin.into(),
        found: format!("a Parquet file that cannot be read ({})", quoted(what)),
        expected: "a whole Parquet file of numbers".into(),
        help:
            "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)"
                .into(),
    }
}
