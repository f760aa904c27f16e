//! Arrow (IPC): a table column by column, in batches of rows; the file form, which Feather 2 is, and the stream form.
//!
//! Labels and columns are chosen as from Parquet: columns of numbers are features, and those of texts (dictionaries of texts, too) where they are
//! asked for as categories; the last column is the label unless another is asked for. A missing value is a fault unless it is said what becomes of it. Batches may be compressed by lz4 or zstd. Written are
//! columns of doubles, and last the label as text or the number to learn as a double, called `label`, where there is one; weights and group numbers have no place in it. A file of ours
//! tells in its metadata (`maxmargin.names`: `none`) when the columns' names are only their numbers.

mod messages;

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_ipc::{MessageHeader, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use maxmargin::data::{Answers, Dataset, Label, Missing, TableRecipe, Values};
use maxmargin::error::quoted;

use crate::atomic::AtomicFile;
use crate::binary::join;
use crate::columns::{Columns, Head, Kind, RawValues, check_width, code_of, leave_out, not_finite, too_large};
use crate::error::{Error, reason};
use crate::guard::guarded;
use crate::limits::{most_bytes, too_much};
use crate::read::{Format, ReadOptions, content, refuse_learning};
use crate::remarks::{ReadData, Tally};
use crate::survey::{self, ColumnSurvey, TableSurvey};
use crate::table::{is_missing, missing_help, text_help};
pub(crate) use messages::{MAGIC, STREAM};
use messages::{Message, Messages};

/// The most columns of a file that is written: each costs memory, and bytes in every batch.
const MOST_COLUMNS: usize = 20_000;
/// About the bytes of a batch that is written.
const BATCH_BYTES: usize = 16 << 20;
/// The metadata that tells whether the names are the user's.
const NAMES_KEY: &str = "maxmargin.names";

/// An Arrow file or stream: what it holds, and which columns are asked for.
pub(crate) struct ArrowFile {
    origin: String,
    messages: Messages,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: HashMap<i64, ArrayRef>,
    chosen: Columns,
    /// The names of all columns.
    names: Vec<String>,
    /// Rows read.
    done: u64,
    /// Bytes of the labels read so far.
    label_bytes: Cell<u64>,
    failed: bool,
    /// What was done to cells.
    tally: Tally,
    /// Whether the names are the user's.
    named: bool,
}

impl ArrowFile {
    /// Opens a file in either form.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or has not the columns asked for.
    pub(crate) fn open(path: &Path, options: &ReadOptions, format: Format) -> Result<Self, Error> {
        let learnt = if survey::is_needed(options) {
            Some(ArrowFile::open_for(path, options, format, true)?.learn(options)?)
        } else {
            None
        };
        ArrowFile::open_for(path, learnt.as_ref().unwrap_or(options), format, false)
    }

    /// Opens a file, to be looked at whatever its columns hold, or to be read.
    ///
    /// # Errors
    /// As [`ArrowFile::open`].
    pub(crate) fn open_for(path: &Path, options: &ReadOptions, format: Format, is_survey: bool) -> Result<Self, Error> {
        let origin = path.to_string_lossy();
        let file = File::open(path).map_err(|error| Error::Open {
            path: origin.to_string(),
            reason: reason(&error),
            help: "check that it is a file that can be read".into(),
        })?;
        ArrowFile::new(Box::new(BufReader::new(file)), &origin, options, format == Format::Arrow, is_survey)
    }

    /// A file that is in memory.
    ///
    /// # Errors
    /// As [`ArrowFile::open`].
    pub(crate) fn from_bytes(bytes: &[u8], origin: &str, options: &ReadOptions, is_file: bool) -> Result<Self, Error> {
        let source = || Box::new(Cursor::new(bytes.to_vec()));
        let learnt = if survey::is_needed(options) {
            Some(ArrowFile::new(source(), origin, options, is_file, true)?.learn(options)?)
        } else {
            None
        };
        ArrowFile::new(source(), origin, learnt.as_ref().unwrap_or(options), is_file, false)
    }

    /// A stream.
    ///
    /// # Errors
    /// As [`ArrowFile::open`].
    pub(crate) fn from_stream(
        source: Box<dyn Read + Send>,
        origin: &str,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        refuse_learning(origin, options)?;
        ArrowFile::new(source, origin, options, false, false)
    }

    pub(crate) fn new(
        source: Box<dyn Read + Send>,
        origin: &str,
        options: &ReadOptions,
        is_file: bool,
        is_survey: bool,
    ) -> Result<Self, Error> {
        let mut messages = Messages::new(source, is_file).map_err(|what| damaged(origin, &what))?;
        let first = messages.next().map_err(|what| damaged(origin, &what))?;
        let read = || -> Result<(Schema, MetadataVersion), String> {
            let Some(first) = &first else { return Err("it has no schema".into()) };
            let message = messages::message(&first.head)?;
            let schema = message.header_as_schema().ok_or("it does not begin with its schema")?;
            Ok((try_fb_to_schema(schema).map_err(|error| error.to_string())?, message.version()))
        };
        let read = guarded(read).unwrap_or_else(|| Err("its schema does not read".into()));
        let (schema, version) = read.map_err(|what| damaged(origin, &what))?;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let named = schema.metadata().get(NAMES_KEY).is_none_or(|value| value != "none");
        let head = Head { origin, names: Some(&names), width: names.len(), is_text: false, named };
        check_width(head, options)?;
        let chosen = Columns::new(head, options)?;
        let features = chosen.features.iter().zip(&chosen.kinds).map(|(&place, kind)| (place, *kind != Kind::Number));
        for (column, is_text) in features.chain(chosen.label.map(|label| (label, true))).filter(|_| !is_survey) {
            check_column(origin, schema.field(column), is_text, Some(column) == chosen.label)?;
        }
        let (origin, schema, dictionaries) = (origin.into(), Arc::new(schema), HashMap::new());
        let (done, label_bytes, failed, tally) = (0, Cell::new(0), false, Tally::default());
        Ok(ArrowFile {
            origin,
            messages,
            schema,
            version,
            dictionaries,
            chosen,
            names,
            done,
            label_bytes,
            failed,
            tally,
            named,
        })
    }

    fn head(&self) -> Head<'_> {
        let (origin, names, width) = (&self.origin, Some(&self.names[..]), self.names.len());
        Head { origin, names, width, is_text: false, named: self.named }
    }

    /// How the columns become numbers.
    pub(crate) fn recipe(&self) -> TableRecipe {
        self.chosen.recipe()
    }

    /// All rows, and how they were read.
    ///
    /// # Errors
    /// When a batch is damaged, or holds what cannot be read.
    pub(crate) fn read(mut self) -> Result<ReadData, Error> {
        let origin = self.origin.clone();
        let data = join(&mut self, &origin)?;
        self.chosen.read_data(data, &self.tally, &origin)
    }

    /// Options to read by what a look at all rows has taught.
    fn learn(mut self, options: &ReadOptions) -> Result<ReadOptions, Error> {
        let survey = self.survey(options)?;
        let mut chosen = std::mem::take(&mut self.chosen);
        survey::learn(&survey, &mut chosen, self.head(), options)?;
        let recipe = Some(Arc::new(chosen.recipe()));
        Ok(ReadOptions { recipe, ..options.clone() })
    }

    /// Looks at all columns.
    ///
    /// # Errors
    /// When the file is damaged.
    pub(crate) fn survey(&mut self, options: &ReadOptions) -> Result<TableSurvey, Error> {
        let mut survey = TableSurvey::new(self.head(), &self.chosen, options)?;
        while let Some(batch) = self.next_batch()? {
            let looked = guarded(|| {
                for (array, found) in batch.columns().iter().zip(&mut survey.columns) {
                    self.look_at(array, found);
                }
            });
            looked.ok_or_else(|| damaged(&self.origin, "its columns do not fit"))?;
            survey.rows += batch.num_rows() as u64;
        }
        Ok(survey)
    }

    fn look_at(&self, array: &ArrayRef, found: &mut ColumnSurvey) {
        if let Some(texts) = all_texts(array) {
            for text in texts {
                match text.map(str::trim).filter(|text| !is_missing(text)) {
                    Some(text) => found.word(text),
                    None => found.missing(),
                }
            }
        } else if let Some(numbers) = some_numbers(array) {
            numbers.into_iter().for_each(|value| found.value(value));
        } else {
            found.other = true;
        }
    }

    /// The rows of the next batch that has any; `None` at the end.
    fn read_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let Some(batch) = self.next_batch()? else { return Ok(None) };
        let mut tally = std::mem::take(&mut self.tally);
        let data = guarded(|| self.rows(&batch, &mut tally));
        self.tally = tally;
        let data = data.unwrap_or_else(|| Err(damaged(&self.origin, "its columns do not fit")))?;
        self.done += batch.num_rows() as u64;
        Ok(Some(data))
    }

    /// The next batch that has rows; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            let next = self.messages.next().map_err(|what| damaged(&self.origin, &what))?;
            let Some(message) = next else { return Ok(None) };
            let decoded = guarded(|| self.decode(message)).unwrap_or_else(|| Err("its buffers do not fit".into()));
            let batch = decoded.map_err(|what| damaged(&self.origin, &what))?;
            if let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) {
                return Ok(Some(batch));
            }
        }
    }

    /// Takes a message: a dictionary is kept, a batch handed out.
    fn decode(&mut self, Message { head, body }: Message) -> Result<Option<RecordBatch>, String> {
        let fault = |error: ArrowError| error.to_string();
        let message = messages::message(&head)?;
        let body = body.into();
        match message.header_type() {
            MessageHeader::DictionaryBatch => {
                let batch = message.header_as_dictionary_batch().ok_or("a dictionary without a head")?;
                read_dictionary(&body, batch, &self.schema, &mut self.dictionaries, &self.version).map_err(fault)?;
                Ok(None)
            }
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or("a batch without a head")?;
                let schema = Arc::clone(&self.schema);
                let batch = read_record_batch(&body, batch, schema, &self.dictionaries, None, &self.version);
                batch.map(Some).map_err(fault)
            }
            _ => Err("a message that is neither rows nor a dictionary".into()),
        }
    }

    /// A batch as a data set.
    fn rows(&self, batch: &RecordBatch, tally: &mut Tally) -> Result<Dataset, Error> {
        let rows = batch.num_rows();
        let mut columns = Vec::with_capacity(self.chosen.features.len());
        for (feature, (&place, kind)) in self.chosen.features.iter().zip(&self.chosen.kinds).enumerate() {
            let array = batch.column(place);
            columns.push(match kind {
                Kind::Number => RawValues::Numbers(self.numbers(array, place)?),
                Kind::Values(values) => RawValues::Words(self.codes(array, place, values, feature, tally)?),
            });
        }
        let labels = match self.chosen.label {
            None => vec![Some(Label::new("0")); rows],
            Some(place) => self.labels(batch.column(place), place)?,
        };
        self.chosen.assemble(columns, labels, (&self.origin, self.done), tally)
    }

    /// A column of categories, as their places.
    fn codes(
        &self,
        array: &ArrayRef,
        place: usize,
        values: &[String],
        feature: usize,
        tally: &mut Tally,
    ) -> Result<Vec<u32>, Error> {
        let mut codes = Vec::with_capacity(array.len());
        let mut code = |text: Option<&str>| {
            let text = text.map(str::trim).filter(|text| !is_missing(text));
            if text.is_none() && self.chosen.missing == Missing::Error {
                return Err(self.missing_value(codes.len(), place));
            }
            codes.push(code_of(values, text, feature, tally));
            Ok(())
        };
        match (all_texts(array), some_numbers(array)) {
            (Some(texts), _) => texts.into_iter().try_for_each(code)?,
            (None, Some(numbers)) => numbers
                .into_iter()
                .try_for_each(|value| code((!value.is_nan()).then(|| value.to_string()).as_deref()))?,
            (None, None) => return Err(damaged(&self.origin, "a column is of another type")),
        }
        Ok(codes)
    }

    /// A column of finite numbers: in single precision where that holds all of them.
    fn numbers(&self, array: &ArrayRef, place: usize) -> Result<Values, Error> {
        if self.chosen.missing != Missing::Error {
            return self.lenient_numbers(array, place);
        }
        self.check_present(array, place)?;
        let singles = match array.data_type() {
            DataType::Float32 => Some(array.as_primitive::<Float32Type>().values().to_vec()),
            DataType::Boolean => Some(array.as_boolean().values().iter().map(|v| f32::from(u8::from(v))).collect()),
            _ => None,
        };
        let at = |row: usize| self.done + row as u64 + 1;
        let finite = |value: f64, row: usize| {
            if value.is_finite() { Ok(()) } else { Err(not_finite(&self.origin, value, at(row), &self.shown(place))) }
        };
        if let Some(singles) = singles {
            singles.iter().enumerate().try_for_each(|(row, &value)| finite(f64::from(value), row))?;
            return Ok(singles.into());
        }
        if array.data_type() == &DataType::Float64 {
            let values = array.as_primitive::<Float64Type>().values().to_vec();
            values.iter().enumerate().try_for_each(|(row, &value)| finite(value, row))?;
            return Ok(values.into());
        }
        let whole = |(row, value): (usize, i128)| {
            if value as f64 as i128 == value {
                Ok(value as f64)
            } else {
                Err(too_large(&self.origin, &value.to_string(), at(row), &self.shown(place)))
            }
        };
        let wholes = whole_numbers(array).ok_or_else(|| damaged(&self.origin, "a column is of another type"))?;
        Ok(wholes.into_iter().enumerate().map(whole).collect::<Result<Vec<f64>, _>>()?.into())
    }

    /// A column of numbers, NaN where one is missing.
    fn lenient_numbers(&self, array: &ArrayRef, place: usize) -> Result<Values, Error> {
        let at = |row: usize| self.done + row as u64 + 1;
        if let Some(wholes) = whole_numbers(array) {
            let is_lossy = |(row, value): (usize, &i128)| array.is_valid(row) && *value as f64 as i128 != *value;
            if let Some((row, value)) = wholes.iter().enumerate().find(|&pair| is_lossy(pair)) {
                return Err(too_large(&self.origin, &value.to_string(), at(row), &self.shown(place)));
            }
        }
        let values = some_numbers(array).ok_or_else(|| damaged(&self.origin, "a column is of another type"))?;
        match values.iter().position(|value| value.is_infinite()) {
            Some(row) => Err(not_finite(&self.origin, values[row], at(row), &self.shown(place))),
            None => Ok(values.into()),
        }
    }

    /// A column of labels; a missing one is none where its row is to be left out.
    fn labels(&self, array: &ArrayRef, place: usize) -> Result<Vec<Option<Label>>, Error> {
        if self.chosen.missing != Missing::Drop {
            return Ok(self.all_labels(array, place)?.into_iter().map(Some).collect());
        }
        if let Some(texts) = all_texts(array) {
            let label = |text: Option<&str>| {
                text.map(str::trim).filter(|text| !is_missing(text)).map(|text| self.text_label(text)).transpose()
            };
            return texts.into_iter().map(label).collect();
        }
        let numbers = self.lenient_numbers(array, place)?;
        let label = |row: usize| Some(numbers.get(row)).filter(|value| !value.is_nan());
        Ok((0..array.len()).map(|row| label(row).map(|value| Label::new(value.to_string()))).collect())
    }

    /// A column of labels, none of which may be missing.
    fn all_labels(&self, array: &ArrayRef, place: usize) -> Result<Vec<Label>, Error> {
        self.check_present(array, place)?;
        let number = |row: usize, text: String, value: f64| {
            if value.is_finite() {
                Ok(Label::new(text))
            } else {
                Err(not_finite(&self.origin, value, self.done + row as u64 + 1, &self.shown(place)))
            }
        };
        match array.data_type() {
            DataType::Float32 => {
                let values = array.as_primitive::<Float32Type>().values().iter().enumerate();
                values.map(|(row, value)| number(row, value.to_string(), f64::from(*value))).collect()
            }
            DataType::Float64 => {
                let values = array.as_primitive::<Float64Type>().values().iter().enumerate();
                values.map(|(row, value)| number(row, value.to_string(), *value)).collect()
            }
            DataType::Boolean => {
                let values = array.as_boolean().values().iter();
                Ok(values.map(|value| Label::new(u8::from(value).to_string())).collect())
            }
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary();
                let words = texts(dictionary.values().as_ref())
                    .ok_or_else(|| damaged(&self.origin, "a dictionary of no texts"))?;
                let word = |key: usize| match words.get(key) {
                    Some(Some(word)) => self.text_label(word),
                    _ => Err(damaged(&self.origin, "a label that its dictionary does not have")),
                };
                dictionary.normalized_keys().into_iter().map(word).collect()
            }
            _ => match (texts(array.as_ref()), whole_numbers(array)) {
                (Some(texts), _) => texts.into_iter().flatten().map(|text| self.text_label(text)).collect(),
                (None, Some(wholes)) => Ok(wholes.into_iter().map(|value| Label::new(value.to_string())).collect()),
                (None, None) => Err(damaged(&self.origin, "a column is of another type")),
            },
        }
    }

    /// A label that many rows may share, and of which each gets a copy: what these add up to is bounded.
    fn text_label(&self, text: &str) -> Result<Label, Error> {
        self.label_bytes.set(self.label_bytes.get().saturating_add(text.len() as u64));
        if self.label_bytes.get() > most_bytes(self.messages.bytes_read()) {
            return Err(too_much(&self.origin, "longer labels than fit into it", "save shorter labels"));
        }
        Ok(Label::new(text))
    }

    /// No value may be missing.
    fn check_present(&self, array: &ArrayRef, place: usize) -> Result<(), Error> {
        let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
        Err(self.missing_value((0..nulls.len()).find(|&row| nulls.is_null(row)).unwrap_or(0), place))
    }

    fn missing_value(&self, row: usize, place: usize) -> Error {
        let found = format!("a missing value in row {}, column {}", self.done + row as u64 + 1, self.shown(place));
        content(&self.origin, found, "a value", missing_help())
    }

    fn shown(&self, place: usize) -> String {
        format!("{} {}", place + 1, quoted(&self.names[place]))
    }
}

impl Iterator for ArrowFile {
    type Item = Result<Dataset, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.read_batch().transpose();
        self.failed = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// The texts of an array; `None` when it is of something else.
fn texts(array: &dyn Array) -> Option<Vec<Option<&str>>> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().iter().collect()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().iter().collect()),
        DataType::Utf8View => Some(array.as_string_view().iter().collect()),
        _ => None,
    }
}

/// The texts of an array or of its dictionary, `None` for those that are missing; `None` when it is of something else.
fn all_texts(array: &ArrayRef) -> Option<Vec<Option<&str>>> {
    let DataType::Dictionary(..) = array.data_type() else { return texts(array.as_ref()) };
    let dictionary = array.as_any_dictionary();
    let words = texts(dictionary.values().as_ref())?;
    let keys = dictionary.normalized_keys();
    let word = |row: usize| array.is_valid(row).then(|| words.get(keys[row]).copied().flatten()).flatten();
    Some((0..array.len()).map(word).collect())
}

/// The numbers of an array, NaN for those that are missing; `None` when it is of something else.
fn some_numbers(array: &ArrayRef) -> Option<Vec<f64>> {
    let mut values: Vec<f64> = match array.data_type() {
        DataType::Float32 => array.as_primitive::<Float32Type>().values().iter().map(|&v| f64::from(v)).collect(),
        DataType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
        DataType::Boolean => array.as_boolean().values().iter().map(|value| f64::from(u8::from(value))).collect(),
        _ => whole_numbers(array)?.into_iter().map(|value| value as f64).collect(),
    };
    for row in (0..array.len()).filter(|&row| array.is_null(row)) {
        values[row] = f64::NAN;
    }
    Some(values)
}

/// The whole numbers of an array; `None` when it is of something else.
fn whole_numbers(array: &ArrayRef) -> Option<Vec<i128>> {
    macro_rules! wide {
        ($kind:ty) => {
            Some(array.as_primitive::<$kind>().values().iter().map(|&value| i128::from(value)).collect())
        };
    }
    match array.data_type() {
        DataType::Int8 => wide!(Int8Type),
        DataType::Int16 => wide!(Int16Type),
        DataType::Int32 => wide!(Int32Type),
        DataType::Int64 => wide!(Int64Type),
        DataType::UInt8 => wide!(UInt8Type),
        DataType::UInt16 => wide!(UInt16Type),
        DataType::UInt32 => wide!(UInt32Type),
        DataType::UInt64 => wide!(UInt64Type),
        _ => None,
    }
}

/// Checks that a column is one that can be read.
fn check_column(origin: &str, field: &Field, takes_text: bool, is_label: bool) -> Result<(), Error> {
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let found = match field.data_type() {
        DataType::Float32 | DataType::Float64 | DataType::Boolean => return Ok(()),
        kind if kind.is_integer() => return Ok(()),
        kind if is_text(kind) && takes_text => return Ok(()),
        DataType::Dictionary(_, words) if is_text(words) && takes_text => return Ok(()),
        kind if is_text(kind) => "texts",
        DataType::Dictionary(_, words) if is_text(words) => "texts in a dictionary",
        DataType::Dictionary(..) => "a dictionary",
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "lists",
        kind if kind.is_temporal() || kind.is_decimal() => "decimal numbers, dates or times",
        DataType::Null => "no values",
        _ => "values that are no plain numbers",
    };
    Err(content(
        origin,
        format!("{found} in column {}", quoted(field.name())),
        if is_label { "labels" } else { "numbers" },
        if found.starts_with("texts") { text_help(field.name()) } else { leave_out(field.name()) },
    ))
}

fn damaged(origin: &str, what: &str) -> Error {
    content(
        origin,
        format!("an Arrow file that cannot be read ({})", quoted(what)),
        "a whole Arrow file or stream of numbers",
        "copy the file again, or save the data once more (pyarrow.feather.write_feather writes what is read)",
    )
}

/// Writes an Arrow file or stream, whole or not at all: it is there once [`ArrowWriter::finish`] has been called.
pub(crate) struct ArrowWriter {
    state: State,
    is_file: bool,
    rows: u64,
}

/// Before and after the columns are known.
enum State {
    Begun(Option<AtomicFile>),
    File(Box<FileWriter<BufWriter<AtomicFile>>>, SchemaRef),
    Stream(Box<StreamWriter<BufWriter<AtomicFile>>>, SchemaRef),
}

impl ArrowWriter {
    /// Begins to write a file, in the form that `format` names.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub(crate) fn create(path: &Path, format: Format) -> Result<Self, Error> {
        let state = State::Begun(Some(AtomicFile::create(path)?));
        Ok(ArrowWriter { state, is_file: format == Format::Arrow, rows: 0 })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When the columns are too many, or not those of the rows before, or the file cannot be written.
    pub(crate) fn push(&mut self, data: &Dataset) -> Result<(), Error> {
        if let State::Begun(file) = &mut self.state {
            let schema = Arc::new(schema(data)?);
            let Some(file) = file.take() else { return Err(write_error("the file was given up")) };
            let out = BufWriter::with_capacity(1 << 20, file);
            let fault = |error: ArrowError| write_error(&error.to_string());
            self.state = if self.is_file {
                State::File(Box::new(FileWriter::try_new(out, &schema).map_err(fault)?), schema)
            } else {
                State::Stream(Box::new(StreamWriter::try_new(out, &schema).map_err(fault)?), schema)
            };
        }
        let (State::File(_, schema) | State::Stream(_, schema)) = &self.state else { return Ok(()) };
        let answered = usize::from(!data.answers().is_none());
        let (schema, columns) = (Arc::clone(schema), schema.fields().len() - answered);
        if columns != data.columns() {
            return Err(Error::NotWritable {
                what: format!("row {} has {} columns, not {columns}", self.rows + 1, data.columns()),
                help: "give all rows the same columns".into(),
            });
        }
        let group = (BATCH_BYTES / (8 * (columns + 1))).max(1);
        for start in (0..data.rows()).step_by(group) {
            let batch = batch(data, start..data.rows().min(start + group), &schema);
            let written = batch.and_then(|batch| match &mut self.state {
                State::File(writer, _) => writer.write(&batch),
                State::Stream(writer, _) => writer.write(&batch),
                State::Begun(_) => Ok(()),
            });
            written.map_err(|error| write_error(&error.to_string()))?;
        }
        self.rows += data.rows() as u64;
        Ok(())
    }

    /// Makes the file, durably. Returns how many rows it has.
    ///
    /// # Errors
    /// When there were no rows, or the file cannot be written.
    pub(crate) fn finish(self) -> Result<u64, Error> {
        let out = match self.state {
            State::Begun(_) => {
                return Err(Error::NotWritable {
                    what: "there are no rows to write".into(),
                    help: "give data with at least one row".into(),
                });
            }
            // The end is written by this, too.
            State::File(writer, _) => writer.into_inner(),
            State::Stream(writer, _) => writer.into_inner(),
        };
        let mut out = out.map_err(|error| write_error(&error.to_string()))?;
        let flushed = out.flush();
        flushed.map_err(|error| out.get_ref().write_error(error))?;
        let (file, _) = out.into_parts();
        file.commit()?;
        Ok(self.rows)
    }
}

fn write_error(what: &str) -> Error {
    Error::Write { kind: std::io::ErrorKind::Other, reason: what.into() }
}

/// The columns of a file that is written.
fn schema(data: &Dataset) -> Result<Schema, Error> {
    if data.columns() > MOST_COLUMNS {
        return Err(Error::NotWritable {
            what: format!("{} columns are more than the {MOST_COLUMNS} that an Arrow file is good for", data.columns()),
            help: "write a cache or LIBSVM text instead, which leave out zeros".into(),
        });
    }
    let names: Vec<String> = (0..data.columns()).map(|column| data.name(column)).collect();
    let mut label = "label".to_string();
    while names.contains(&label) {
        label.push('_');
    }
    let mut fields: Vec<Field> = names.into_iter().map(|name| Field::new(name, DataType::Float64, false)).collect();
    match data.answers() {
        Answers::Classes(_) => fields.push(Field::new(label, DataType::Utf8, false)),
        Answers::Numbers(_) => fields.push(Field::new(label, DataType::Float64, false)),
        Answers::None => {}
    }
    let named = data.names().is_some();
    let words = (!named).then(|| (NAMES_KEY.to_string(), "none".to_string()));
    Ok(Schema::new(fields).with_metadata(words.into_iter().collect::<HashMap<_, _>>()))
}

/// Some rows as a batch.
fn batch(data: &Dataset, rows: std::ops::Range<usize>, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let count = rows.len();
    // Column after column.
    let mut values = vec![0.0; count * data.columns()];
    for (place, row) in rows.clone().enumerate() {
        data.matrix().visit(row, |column, value| values[column * count + place] = value);
    }
    let numbers = |column: &[f64]| Arc::new(Float64Array::from(column.to_vec())) as ArrayRef;
    let mut columns: Vec<ArrayRef> = values.chunks_exact(count).map(numbers).collect();
    match data.answers() {
        Answers::Classes(labels) => {
            columns.push(Arc::new(StringArray::from_iter_values(rows.map(|row| labels.get(row).text()))));
        }
        Answers::Numbers(answers) => columns.push(numbers(&answers[rows])),
        Answers::None => {}
    }
    RecordBatch::try_new(Arc::clone(schema), columns)
}
