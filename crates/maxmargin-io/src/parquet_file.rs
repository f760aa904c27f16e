//! Parquet: a table column by column, in groups of rows.
//!
//! Columns of numbers (floats, whole numbers, truth values) are features, and those of texts where they are asked for as categories. One
//! column is the label, the last unless another is asked for: numbers or texts. A missing value is a fault unless it is said what becomes of it. Written are columns of doubles, and last the label as text or the number to learn as a double,
//! called `label`, where there is one; weights and group numbers have no place in it. A file of ours tells in its metadata (`maxmargin.names`:
//! `none`) when the columns' names are only their numbers.

mod pages;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use maxmargin::data::{Answers, Dataset, Label, Missing, TableRecipe, Values};
use maxmargin::error::quoted;
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, Type};

use crate::atomic::AtomicFile;
use crate::binary::join;
use crate::columns::{Columns, Head, Kind, RawValues, check_width, code_of, leave_out, not_finite, too_large};
use crate::error::{Error, reason};
use crate::guard;
use crate::limits::{check_room, most_bytes, most_numbers, too_much};
use crate::read::ReadOptions;
use crate::remarks::{ReadData, Tally};
use crate::survey::{self, ColumnSurvey, TableSurvey};
use crate::table::{MISSING_HELP, is_missing, text_help};

/// Opens the file at a place.
type BytesFrom = Box<dyn Fn(u64) -> Result<Box<dyn Read>, ParquetError> + Send>;

/// Takes the row of a text and the text, where there is one.
type TextVisitor<'v> = dyn FnMut(usize, Option<&str>) -> Result<(), Error> + 'v;
/// Takes a value, where there is one.
type ValueVisitor<'v, V> = dyn FnMut(Option<&V>) -> Result<(), Error> + 'v;

/// The first and last bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";
/// The most columns of a file that is written: each costs memory, and bytes in every group of rows.
const MOST_COLUMNS: usize = 20_000;
/// About the bytes of a group of rows that is written.
const GROUP_BYTES: usize = 32 << 20;
/// Values read at a time.
const BATCH: usize = 1 << 16;
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

    /// A column of numbers, NaN where one is missing. Infinite ones are a fault when it is `finite`.
    fn read_some_numbers(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        finite: bool,
    ) -> Result<Vec<f64>, Error> {
        let unsigned = is_unsigned(descriptor);
        let values = match reader {
            ColumnReader::FloatColumnReader(reader) => {
                self.read_some(reader, descriptor, place, rows, |&value| f64::from(value))?
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.read_some(reader, descriptor, place, rows, |&value| value)?
            }
            ColumnReader::BoolColumnReader(reader) => {
                self.read_some(reader, descriptor, place, rows, |&value| f64::from(u8::from(value)))?
            }
            ColumnReader::Int32ColumnReader(reader) => self.read_some(reader, descriptor, place, rows, |&value| {
                if unsigned { f64::from(value as u32) } else { f64::from(value) }
            })?,
            ColumnReader::Int64ColumnReader(reader) => {
                let lossy = std::cell::Cell::new(None);
                let values = self.read_some(reader, descriptor, place, rows, |&value| {
                    let whole = if unsigned { i128::from(value as u64) } else { i128::from(value) };
                    if whole as f64 as i128 != whole && lossy.get().is_none() {
                        lossy.set(Some(whole));
                    }
                    whole as f64
                })?;
                if let Some(whole) = lossy.get().filter(|_| finite) {
                    let row = values.iter().position(|&value| value == whole as f64).unwrap_or(0);
                    let row = self.done + row as u64 + 1;
                    return Err(too_large(&self.origin, &whole.to_string(), row, &self.shown(place)));
                }
                values
            }
            _ => return Err(other_damage(&self.origin, "a column is of another type than it says")),
        };
        match values.iter().position(|value| value.is_infinite()).filter(|_| finite) {
            Some(row) => Err(not_finite(&self.origin, values[row], self.done + row as u64 + 1, &self.shown(place))),
            None => Ok(values),
        }
    }

    /// All values of a column as numbers, NaN where one is missing.
    fn read_some<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<Vec<f64>, Error> {
        let mut all = Vec::new();
        let mut each = |found: Option<&T::T>| {
            all.push(found.map_or(f64::NAN, &number));
            Ok(())
        };
        self.each_value(&mut reader, descriptor, place, rows, BATCH, &mut each)?;
        Ok(all)
    }

    /// Hands out the texts of a column, and the rows that they are in.
    fn each_text(
        &self,
        mut reader: ColumnReaderImpl<ByteArrayType>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
        each: &mut TextVisitor<'_>,
    ) -> Result<(), Error> {
        let mut row = 0;
        let mut text = |found: Option<&ByteArray>| {
            row += 1;
            match found.map(ByteArray::as_utf8) {
                None => each(row - 1, None),
                Some(Ok(text)) => each(row - 1, Some(text.trim())),
                Some(Err(_)) => Err(self.no_text(row - 1, place)),
            }
        };
        self.each_value(&mut reader, descriptor, place, rows, batch, &mut text)
    }

    /// Hands out the values of a column, `None` where one is missing.
    fn each_value<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        _: usize,
        rows: u64,
        most: usize,
        each: &mut ValueVisitor<'_, T::T>,
    ) -> Result<(), Error> {
        let highest = descriptor.max_def_level();
        let (mut values, mut levels): (Vec<T::T>, Vec<i16>) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            levels.clear();
            values.clear();
            let batch = most.min((rows - read) as usize);
            let (records, found, _) = reader
                .read_records(batch, (highest > 0).then_some(&mut levels), None, &mut values)
                .map_err(|error| damaged(&self.origin, &error))?;
            if records == 0 {
                return Err(other_damage(&self.origin, "a column is shorter than the others"));
            }
            let mut present = values.iter().take(found);
            for record in 0..records {
                let is_there = highest == 0 || levels.get(record).is_some_and(|&level| level == highest);
                each(if is_there { present.next() } else { None })?;
            }
            read += records as u64;
        }
        Ok(())
    }

    fn no_text(&self, row: usize, place: usize) -> Error {
        Error::Content {
            path: self.origin.clone(),
            found: format!(
                "bytes that are not UTF-8 in row {}, column {}",
                self.done + row as u64 + 1,
                self.shown(place)
            ),
            expected: if Some(place) == self.chosen.label { "a label" } else { "text" }.into(),
            help: if Some(place) == self.chosen.label {
                "save the label column as text or numbers".into()
            } else {
                "save the column as text or numbers".into()
            },
        }
    }

    fn missing_value(&self, row: u64, place: usize) -> Error {
        Error::Content {
            path: self.origin.clone(),
            found: format!("a missing value in row {row}, column {}", self.shown(place)),
            expected: "a value".into(),
            help: MISSING_HELP.into(),
        }
    }

    /// A column of numbers.
    fn read_numbers(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
    ) -> Result<Values, Error> {
        let unsigned = is_unsigned(descriptor);
        let finite = |values: Vec<f64>| match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(row) => Err(not_finite(&self.origin, values[row], self.done + row as u64 + 1, &self.shown(place))),
        };
        Ok(match reader {
            ColumnReader::FloatColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                finite(values.iter().map(|&value| f64::from(value)).collect())?;
                values.into()
            }
            ColumnReader::DoubleColumnReader(reader) => finite(self.read_all(reader, descriptor, place, rows)?)?.into(),
            ColumnReader::BoolColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                values.into_iter().map(|value| f32::from(u8::from(value))).collect::<Vec<f32>>().into()
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let number = |value: i32| if unsigned { f64::from(value as u32) } else { f64::from(value) };
                values.into_iter().map(number).collect::<Vec<f64>>().into()
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let mut numbers = Vec::with_capacity(values.len());
                for (row, value) in values.into_iter().enumerate() {
                    let whole = if unsigned { i128::from(value as u64) } else { i128::from(value) };
                    if whole as f64 as i128 != whole {
                        let row = self.done + row as u64 + 1;
                        return Err(too_large(&self.origin, &whole.to_string(), row, &self.shown(place)));
                    }
                    numbers.push(whole as f64);
                }
                numbers.into()
            }
            _ => return Err(other_damage(&self.origin, "a column is of another type than it says")),
        })
    }

    /// A column of labels.
    fn read_labels(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
    ) -> Result<Vec<Option<Label>>, Error> {
        if self.chosen.missing == Missing::Drop {
            return self.read_some_labels(reader, descriptor, place, rows, batch);
        }
        let labels = self.read_all_labels(reader, descriptor, place, rows, batch)?;
        Ok(labels.into_iter().map(Some).collect())
    }

    /// A column of labels, some of which may be missing.
    fn read_some_labels(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
    ) -> Result<Vec<Option<Label>>, Error> {
        if let ColumnReader::ByteArrayColumnReader(reader) = reader {
            let (mut labels, mut left) = (Vec::new(), most_bytes(self.length));
            self.each_text(reader, descriptor, place, rows, batch, &mut |_, text| {
                let text = text.filter(|text| !is_missing(text));
                left = left
                    .checked_sub(text.map_or(0, str::len) as u64)
                    .ok_or_else(|| too_much(&self.origin, "longer labels than fit into it", "save shorter labels"))?;
                labels.push(text.map(Label::new));
                Ok(())
            })?;
            return Ok(labels);
        }
        let numbers = self.read_some_numbers(reader, descriptor, place, rows, true)?;
        Ok(numbers.into_iter().map(|value| (!value.is_nan()).then(|| Label::new(value.to_string()))).collect())
    }

    /// A column of labels, none of which may be missing.
    fn read_all_labels(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
    ) -> Result<Vec<Label>, Error> {
        let unsigned = is_unsigned(descriptor);
        let numbers = |numbers: Vec<f64>, text: &dyn Fn(usize) -> String| {
            let check = |row: usize| {
                if numbers[row].is_finite() {
                    Ok(Label::new(text(row)))
                } else {
                    Err(not_finite(&self.origin, numbers[row], self.done + row as u64 + 1, &self.shown(place)))
                }
            };
            (0..numbers.len()).map(check).collect::<Result<Vec<_>, _>>()
        };
        match reader {
            ColumnReader::FloatColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                numbers(values.iter().map(|&value| f64::from(value)).collect(), &|row| values[row].to_string())
            }
            ColumnReader::DoubleColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                numbers(values.clone(), &|row| values[row].to_string())
            }
            ColumnReader::BoolColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                Ok(values.into_iter().map(|value| Label::new(u8::from(value).to_string())).collect())
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let text = |value: i32| if unsigned { (value as u32).to_string() } else { value.to_string() };
                Ok(values.into_iter().map(|value| Label::new(text(value))).collect())
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let text = |value: i64| if unsigned { (value as u64).to_string() } else { value.to_string() };
                Ok(values.into_iter().map(|value| Label::new(text(value))).collect())
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                // Many rows may share one text, and each has its own copy from here on.
                let mut left = most_bytes(self.length);
                let check = |texts: &[ByteArray]| {
                    for text in texts {
                        left = left.checked_sub(text.len() as u64).ok_or_else(|| {
                            too_much(&self.origin, "longer labels than fit into it", "save shorter labels")
                        })?;
                    }
                    Ok(())
                };
                let values = self.read_all_by(reader, descriptor, place, rows, batch, check)?;
                let text = |(row, value): (usize, ByteArray)| match value.as_utf8() {
                    Ok(text) => Ok(Label::new(text)),
                    Err(_) => Err(self.no_text(row, place)),
                };
                values.into_iter().enumerate().map(text).collect()
            }
            _ => Err(other_damage(&self.origin, "a column is of another type than it says")),
        }
    }

    /// All values of a column, none of which may be missing.
    fn read_all<T: DataType>(
        &self,
        reader: ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
    ) -> Result<Vec<T::T>, Error> {
        self.read_all_by(reader, descriptor, place, rows, BATCH, |_| Ok(()))
    }

    /// [`ParquetFile::read_all`], so many values at a time, each time looked at by `check`.
    fn read_all_by<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        most: usize,
        mut check: impl FnMut(&[T::T]) -> Result<(), Error>,
    ) -> Result<Vec<T::T>, Error> {
        let fault = |error: ParquetError| damaged(&self.origin, &error);
        let optional = descriptor.max_def_level() > 0;
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            levels.clear();
            let (batch, before) = (most.min((rows - read) as usize), values.len());
            let (records, found, _) =
                reader.read_records(batch, optional.then_some(&mut levels), None, &mut values).map_err(fault)?;
            check(&values[before..])?;
            if records == 0 {
                return Err(other_damage(&self.origin, "a column is shorter than the others"));
            }
            if found < records {
                let missing = levels.iter().position(|&level| level < descriptor.max_def_level()).unwrap_or(0);
                return Err(self.missing_value(self.done + read + missing as u64 + 1, place));
            }
            read += records as u64;
        }
        Ok(values)
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

fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    matches!(
        descriptor.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
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
