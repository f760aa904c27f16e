//! npy: a table of numbers as NumPy saves it.
//!
//! ```text
//! 6 bytes          0x93 "NUMPY"
//! 2 bytes          version: 1, 2 or 3, and 0
//! 2 or 4 bytes     length of the header (4 from version 2 on), little-endian
//! header           {'descr': '<f8', 'fortran_order': False, 'shape': (150, 5), } and blanks
//! numbers          row after row, or column after column when fortran_order is True
//! ```
//!
//! Numbers are floats of 4 and 8 bytes and whole numbers of up to 8 bytes, in either byte order. One column is the label, the
//! last unless another is asked for. Written are floats of 8 bytes, row after row, the answer last, where there is one; names, weights and group
//! numbers have no place in it.

use std::borrow::Cow;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use maxmargin::data::{Dataset, Label, Matrix, Missing, TableRecipe};
use maxmargin::error::quoted;

use crate::atomic::AtomicFile;
use crate::columns::{
    Columns, Head, Kind as ColumnKind, RawValues, check_width, code_of, not_finite, settle, too_large,
};
use crate::error::{Error, reason};
use crate::help::{Help, Setting};
use crate::limits::check_room;
use crate::read::{ReadOptions, no_rows};
use crate::remarks::{ReadData, Tally};
use crate::survey::{self, TableSurvey};

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The most bytes of a header: NumPy itself warns above 10,000.
const HEADER_LIMIT: usize = 1 << 16;
/// The bytes before the numbers of a file that is written.
const WRITTEN_HEADER: usize = 128;
/// Bytes of a block that is read.
const BLOCK_BYTES: usize = 16 << 20;

/// What the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    F32,
    F64,
    Signed(usize),
    Unsigned(usize),
}

impl Number {
    fn bytes(self) -> usize {
        match self {
            Number::F32 => 4,
            Number::F64 => 8,
            Number::Signed(bytes) | Number::Unsigned(bytes) => bytes,
        }
    }
}

/// What the elements of an array are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(Number),
    /// Texts of so many bytes each, zeros behind them.
    Bytes(usize),
    /// Texts of so many characters of 4 bytes each, zeros behind them.
    Characters(usize),
    /// Something else, as NumPy spells it.
    Other(String),
}

impl Kind {
    /// The bytes of an element, where that is known.
    pub(crate) fn bytes(&self) -> Option<usize> {
        match self {
            Kind::Number(number) => Some(number.bytes()),
            Kind::Bytes(count) => Some(*count),
            Kind::Characters(count) => count.checked_mul(4),
            Kind::Other(_) => None,
        }
    }
}

/// What the header of an array of any shape says.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) kind: Kind,
    pub(crate) big_endian: bool,
    pub(crate) fortran_order: bool,
    pub(crate) sizes: Vec<u64>,
}

/// What the header of a table of numbers says.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    number: Number,
    big_endian: bool,
    fortran_order: bool,
    rows: u64,
    columns: usize,
}

/// One number, before it is known whether it is a value or a label.
pub(crate) enum Found {
    Float(f64),
    Single(f32),
    Whole(i128),
}

impl Header {
    /// All rows, from all bytes behind the header.
    ///
    /// # Errors
    /// When the bytes are more or fewer than the header says, or hold what is no number.
    pub(crate) fn all_rows(&self, bytes: &[u8], chosen: &Columns, origin: &str) -> Result<Dataset, Error> {
        self.check_length(bytes, origin)?;
        self.rows(bytes, 0, self.rows as usize, chosen, origin)
    }

    /// Checks that the bytes behind the header are as many as it says.
    pub(crate) fn check_length(&self, bytes: &[u8], origin: &str) -> Result<(), Error> {
        match usize::try_from(self.rows).ok().and_then(|rows| rows.checked_mul(self.row_bytes())) {
            Some(length) if length == bytes.len() => Ok(()),
            _ => Err(cut(origin, self, bytes.len() as u64)),
        }
    }

    /// What is known of the table before its rows.
    fn head<'o>(&self, origin: &'o str) -> Head<'o> {
        Head { origin, names: None, width: self.columns, is_text: false, named: false }
    }

    /// The bytes of a row.
    fn row_bytes(&self) -> usize {
        self.columns.saturating_mul(self.number.bytes())
    }

    /// The bytes of a number.
    pub(crate) fn size(&self) -> usize {
        self.number.bytes()
    }

    /// How many columns it has.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn number(&self, bytes: &[u8]) -> Found {
        let mut ordered = [0u8; 8];
        let length = bytes.len().min(8);
        ordered[..length].copy_from_slice(&bytes[..length]);
        if self.big_endian {
            ordered[..length].reverse();
        }
        let raw = u64::from_le_bytes(ordered);
        match self.number {
            Number::F32 => Found::Single(f32::from_bits(raw as u32)),
            Number::F64 => Found::Float(f64::from_bits(raw)),
            Number::Unsigned(_) => Found::Whole(i128::from(raw)),
            Number::Signed(bytes) => {
                // The sign fills the bytes that are not there.
                let shift = 64 - 8 * bytes as u32;
                Found::Whole(i128::from(((raw << shift) as i64) >> shift))
            }
        }
    }

    /// Some rows as a data set. `bytes` are theirs alone, or all of the file's in Fortran order.
    pub(crate) fn rows(
        &self,
        bytes: &[u8],
        first: u64,
        count: usize,
        chosen: &Columns,
        origin: &str,
    ) -> Result<Dataset, Error> {
        self.rows_with(bytes, first, count, chosen, origin, &mut Tally::default())
    }

    /// A number in a table.
    fn at(&self, bytes: &[u8], row: usize, column: usize) -> Found {
        let size = self.number.bytes();
        let place = if self.fortran_order {
            (column * self.rows as usize + row) * size
        } else {
            (row * self.columns + column) * size
        };
        self.number(&bytes[place..place + size])
    }

    /// [`Header::rows`] where missing numbers may be filled in or left out, and columns be categories.
    fn lenient_rows(
        &self,
        bytes: &[u8],
        first: u64,
        count: usize,
        chosen: &Columns,
        origin: &str,
        tally: &mut Tally,
    ) -> Result<Dataset, Error> {
        let value = |row: usize, column: usize| -> Result<f64, Error> {
            let place = || (first + row as u64 + 1, (column + 1).to_string());
            let value = match self.at(bytes, row, column) {
                Found::Float(value) => value,
                Found::Single(value) => f64::from(value),
                Found::Whole(value) if value as f64 as i128 != value => {
                    let (row, column) = place();
                    return Err(too_large(origin, &value.to_string(), row, &column));
                }
                Found::Whole(value) => value as f64,
            };
            if value.is_infinite() || value.is_nan() && chosen.missing == Missing::Error {
                let (row, column) = place();
                return Err(not_finite(origin, value, row, &column));
            }
            Ok(value)
        };
        let mut raw = Vec::with_capacity(chosen.features.len());
        for (feature, (&column, kind)) in chosen.features.iter().zip(&chosen.kinds).enumerate() {
            let values = (0..count).map(|row| value(row, column)).collect::<Result<Vec<f64>, _>>()?;
            raw.push(match kind {
                ColumnKind::Number => RawValues::Numbers(values.into()),
                ColumnKind::Values(words) => {
                    let text = |value: f64| (!value.is_nan()).then(|| value.to_string());
                    let code = |value: f64| code_of(words, text(value).as_deref(), feature, tally);
                    RawValues::Words(values.into_iter().map(code).collect())
                }
            });
        }
        let label = |row: usize| match chosen.label {
            None => Ok(Some(Label::new("0"))),
            Some(column) => {
                let found = value(row, column)?;
                if found.is_nan() && chosen.missing != Missing::Drop {
                    return Err(not_finite(origin, found, first + row as u64 + 1, &(column + 1).to_string()));
                }
                Ok((!found.is_nan()).then(|| Label::new(found.to_string())))
            }
        };
        let labels = (0..count).map(label).collect::<Result<Vec<_>, Error>>()?;
        chosen.assemble(raw, labels, (origin, first), tally)
    }

    fn rows_with(
        &self,
        bytes: &[u8],
        first: u64,
        count: usize,
        chosen: &Columns,
        origin: &str,
        tally: &mut Tally,
    ) -> Result<Dataset, Error> {
        if chosen.missing != Missing::Error || !chosen.is_dense() {
            return self.lenient_rows(bytes, first, count, chosen, origin, tally);
        }
        let number = |row: usize, column: usize| self.at(bytes, row, column);
        let single = matches!(self.number, Number::F32 | Number::Signed(1 | 2) | Number::Unsigned(1 | 2));
        let (mut singles, mut doubles) = (Vec::new(), Vec::new());
        check_room::<f64>(origin, count.saturating_mul(chosen.features.len()))?;
        if single {
            singles.reserve_exact(count * chosen.features.len())
        } else {
            doubles.reserve_exact(count * chosen.features.len())
        }
        let mut labels = Vec::with_capacity(count);
        for row in 0..count {
            for &column in &chosen.features {
                let place = || (first + row as u64 + 1, (column + 1).to_string());
                let value = match number(row, column) {
                    Found::Float(value) => value,
                    Found::Single(value) => f64::from(value),
                    Found::Whole(value) => {
                        if value as f64 as i128 != value {
                            let (row, column) = place();
                            return Err(too_large(origin, &value.to_string(), row, &column));
                        }
                        value as f64
                    }
                };
                if !value.is_finite() {
                    let (row, column) = place();
                    return Err(not_finite(origin, value, row, &column));
                }
                if single { singles.push(value as f32) } else { doubles.push(value) }
            }
            labels.push(Label::new(match chosen.label.map(|column| (column, number(row, column))) {
                None => "0".into(),
                Some((_, Found::Whole(value))) => value.to_string(),
                Some((_, Found::Single(value))) if value.is_finite() => value.to_string(),
                Some((_, Found::Float(value))) if value.is_finite() => value.to_string(),
                Some((column, Found::Single(value))) => {
                    let row = first + row as u64 + 1;
                    return Err(not_finite(origin, f64::from(value), row, &(column + 1).to_string()));
                }
                Some((column, Found::Float(value))) => {
                    return Err(not_finite(origin, value, first + row as u64 + 1, &(column + 1).to_string()));
                }
            }));
        }
        let columns = chosen.features.len();
        let matrix =
            if single { Matrix::dense(count, columns, singles) } else { Matrix::dense(count, columns, doubles) };
        let answers = chosen.answers_of(labels, origin, |row| first + row as u64 + 1)?;
        matrix
            .and_then(settle)
            .and_then(|matrix| Dataset::new(matrix, answers))
            .and_then(|data| match chosen.feature_names() {
                Some(names) => data.with_names(names),
                None => Ok(data),
            })
            .map_err(|error| Error::Data { path: origin.into(), error })
    }
}

/// Reads a file that is in memory.
///
/// # Errors
/// When it is damaged, holds something else than a table of numbers, or not the columns asked for.
pub(crate) fn read(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<ReadData, Error> {
    let mut rest = bytes;
    let header = read_header(&mut rest, origin)?;
    match header.check_length(rest, origin) {
        Ok(()) => {
            let mut chosen = columns(&header, origin, options)?;
            if survey::is_needed(options) {
                let survey = survey(bytes, origin, options)?;
                survey::learn(&survey, &mut chosen, header.head(origin), options)?;
            }
            let mut tally = Tally::default();
            let data = header.rows_with(rest, 0, header.rows as usize, &chosen, origin, &mut tally)?;
            chosen.read_data(data, &tally, origin)
        }
        // What is wrong with the rows that are there comes first, as it does for those who read block by block.
        Err(cut) => match NpyBlocks::new(Box::new(bytes), origin, options)?.find_map(Result::err) {
            Some(error) => Err(error),
            None => Err(cut),
        },
    }
}

/// Looks at all columns of a file that is in memory.
///
/// # Errors
/// When it is damaged, or not a table of numbers.
pub(crate) fn survey(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<TableSurvey, Error> {
    let mut rest = bytes;
    let header = read_header(&mut rest, origin)?;
    header.check_length(rest, origin)?;
    let mut survey = TableSurvey::new(header.head(origin), &columns(&header, origin, options)?, options)?;
    for row in 0..header.rows as usize {
        for (column, found) in survey.columns.iter_mut().enumerate() {
            found.value(match header.at(rest, row, column) {
                Found::Float(value) => value,
                Found::Single(value) => f64::from(value),
                Found::Whole(value) => value as f64,
            });
        }
    }
    survey.rows = header.rows;
    Ok(survey)
}

/// The columns asked for.
fn columns(header: &Header, origin: &str, options: &ReadOptions) -> Result<Columns, Error> {
    let head = header.head(origin);
    check_width(head, options)?;
    Columns::new(head, options)
}

/// The rows of a file, a block at a time; all at once when the numbers are column after column.
pub(crate) struct NpyBlocks<'s> {
    source: Box<dyn Read + Send + 's>,
    origin: String,
    header: Header,
    chosen: Columns,
    /// The bytes of the first row.
    first: Vec<u8>,
    done: u64,
}

impl<'s> NpyBlocks<'s> {
    /// Reads the header.
    ///
    /// # Errors
    /// As [`read`].
    pub(crate) fn new(
        mut source: Box<dyn Read + Send + 's>,
        origin: &str,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let header = read_header(&mut source, origin)?;
        // The number of columns is a claim, which the first row has to bear out before anything is made for each column.
        let first = up_to(&mut source, header.row_bytes(), origin)?;
        if first.len() < header.row_bytes() {
            return Err(cut(origin, &header, first.len() as u64));
        }
        let chosen = columns(&header, origin, options)?;
        Ok(NpyBlocks { source, origin: origin.into(), header, chosen, first, done: 0 })
    }

    /// How the columns become numbers.
    pub(crate) fn recipe(&self) -> TableRecipe {
        self.chosen.recipe()
    }

    fn read_block(&mut self) -> Result<Dataset, Error> {
        let a_row = self.header.row_bytes();
        let most =
            if self.header.fortran_order { self.header.rows } else { (BLOCK_BYTES / a_row.max(1)).max(1) as u64 };
        let rows = most.min(self.header.rows - self.done);
        let length = (rows as usize).saturating_mul(a_row);
        let mut bytes = std::mem::take(&mut self.first);
        bytes.append(&mut up_to(&mut self.source, length - bytes.len(), &self.origin)?);
        let before = self.done.saturating_mul(a_row as u64);
        if bytes.len() < length {
            // The rows that are whole are checked first, and not those of other sizes of blocks.
            let whole = bytes.len() / a_row.max(1);
            if !self.header.fortran_order && whole > 0 {
                self.header.rows(&bytes, self.done, whole, &self.chosen, &self.origin)?;
            }
            return Err(cut(&self.origin, &self.header, before + bytes.len() as u64));
        }
        let data = self.header.rows(&bytes, self.done, rows as usize, &self.chosen, &self.origin)?;
        self.done += rows;
        if self.done == self.header.rows {
            let more = std::io::copy(&mut self.source, &mut std::io::sink());
            match more.map_err(|error| cannot_read(&self.origin, &error))? {
                0 => {}
                more => return Err(cut(&self.origin, &self.header, before + length as u64 + more)),
            }
        }
        Ok(data)
    }
}

/// So many bytes, or all that there are: room grows with those that come.
fn up_to(source: &mut impl Read, length: usize, origin: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    source.take(length as u64).read_to_end(&mut bytes).map_err(|error| cannot_read(origin, &error))?;
    Ok(bytes)
}

impl Iterator for NpyBlocks<'_> {
    type Item = Result<Dataset, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.done < self.header.rows).then(|| {
            let block = self.read_block();
            if block.is_err() {
                self.done = self.header.rows;
            }
            block
        })
    }
}

fn cannot_read(origin: &str, error: &std::io::Error) -> Error {
    let help = "check that it is a file that can be read";
    Error::Open { path: origin.into(), reason: reason(error), help: help.into() }
}

fn cut(origin: &str, header: &Header, found: u64) -> Error {
    Error::Content {
        path: origin.into(),
        found: format!("{found} bytes of numbers"),
        expected: format!("{} x {} numbers of {} bytes", header.rows, header.columns, header.number.bytes()),
        help: "copy the file again, or save it with numpy.save once more".into(),
    }
}

/// Reads all before the numbers of a table.
fn read_header(source: &mut impl Read, origin: &str) -> Result<Header, Error> {
    describe(source, origin)?.table(origin)
}

fn no_table(origin: &str, found: String, help: &str) -> Error {
    Error::Content {
        path: origin.into(),
        found,
        expected: "a table of numbers saved by NumPy".into(),
        help: help.into(),
    }
}

fn damaged(origin: &str) -> Error {
    no_table(origin, "a NumPy array whose header does not read".into(), "save it with numpy.save once more")
}

impl Description {
    /// The header of a table of numbers with at least one row; an array of one dimension is a column.
    ///
    /// # Errors
    /// When it is something else.
    pub(crate) fn table(self, origin: &str) -> Result<Header, Error> {
        let of = |kind: &str| {
            let help = "save it as numbers first: array.astype(\"float64\")";
            Err(no_table(origin, format!("a NumPy array of {}", quoted(kind)), help))
        };
        let number = match self.kind {
            Kind::Number(number) => number,
            Kind::Bytes(count) => return of(&format!("|S{count}")),
            Kind::Characters(count) => return of(&format!("<U{count}")),
            Kind::Other(kind) => return of(&kind),
        };
        let (rows, columns) = match self.sizes.as_slice() {
            &[rows, columns] => (rows, columns),
            &[rows] => (rows, 1),
            sizes => {
                let found = format!("a NumPy array of {} dimensions", sizes.len());
                return Err(no_table(origin, found, "make it a table first: array.reshape(len(array), -1)"));
            }
        };
        if rows == 0 {
            return Err(no_rows(origin));
        }
        let columns = usize::try_from(columns).ok().filter(|&columns| columns < u32::MAX as usize);
        let columns = columns.ok_or_else(|| damaged(origin))?;
        let (big_endian, fortran_order) = (self.big_endian, self.fortran_order);
        Ok(Header { number, big_endian, fortran_order, rows, columns })
    }
}

/// Reads all before the elements of an array.
///
/// # Errors
/// When it does not read.
pub(crate) fn describe(source: &mut impl Read, origin: &str) -> Result<Description, Error> {
    let damaged = || damaged(origin);
    let mut take = |length: usize| -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        match source.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(damaged()),
            Err(error) => Err(cannot_read(origin, &error)),
        }
    };
    let first = take(8)?;
    if !first.starts_with(MAGIC) || !matches!(first[6], 1..=3) || first[7] != 0 {
        return Err(damaged());
    }
    let length = match first[6] {
        1 => take(2)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte)),
        _ => take(4)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte)),
    };
    if length > HEADER_LIMIT {
        return Err(damaged());
    }
    let text = String::from_utf8(take(length)?).map_err(|_| damaged())?;
    let after = |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start());
    let fortran_order = match after("'fortran_order':") {
        Some(rest) if rest.starts_with("True") => true,
        Some(rest) if rest.starts_with("False") => false,
        _ => return Err(damaged()),
    };
    let shape = after("'shape':").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'));
    let sizes: Option<Vec<u64>> = shape.and_then(|(sizes, _)| {
        sizes.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse().ok()).collect()
    });
    let described = after("'descr':").ok_or_else(damaged)?;
    let descr = described.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(descr, _)| descr);
    let size = |letter: char, kind: &str| kind.strip_prefix(letter).and_then(|size| size.parse::<usize>().ok());
    let order_and_kind = descr.and_then(|descr| descr.split_at_checked(1));
    let kind = match order_and_kind.filter(|(order, _)| ["<", ">", "=", "|"].contains(order)) {
        Some((_, "f4")) => Kind::Number(Number::F32),
        Some((_, "f8")) => Kind::Number(Number::F64),
        Some((_, "b1" | "u1")) => Kind::Number(Number::Unsigned(1)),
        Some((_, "i1")) => Kind::Number(Number::Signed(1)),
        Some((_, "i2")) => Kind::Number(Number::Signed(2)),
        Some((_, "i4")) => Kind::Number(Number::Signed(4)),
        Some((_, "i8")) => Kind::Number(Number::Signed(8)),
        Some((_, "u2")) => Kind::Number(Number::Unsigned(2)),
        Some((_, "u4")) => Kind::Number(Number::Unsigned(4)),
        Some((_, "u8")) => Kind::Number(Number::Unsigned(8)),
        Some(("|", kind)) if size('S', kind).is_some() => Kind::Bytes(size('S', kind).unwrap_or(0)),
        Some(("<" | ">", kind)) if size('U', kind).is_some() => Kind::Characters(size('U', kind).unwrap_or(0)),
        _ => {
            // A list of fields holds commas of its own.
            let end = if described.starts_with('[') { ']' } else { ',' };
            let kind = described.split_inclusive(end).next().unwrap_or_default();
            Kind::Other(kind.trim_end_matches(',').trim_matches('\'').into())
        }
    };
    let big_endian = descr.is_some_and(|descr| descr.starts_with('>'));
    Ok(Description { kind, big_endian, fortran_order, sizes: sizes.ok_or_else(damaged)? })
}

/// The bytes before the elements of an array, row after row.
pub(crate) fn header(descr: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (WRITTEN_HEADER - 10) as u16;
    let mut header = [&MAGIC[..], &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat();
    header.resize(WRITTEN_HEADER - 1, b' ');
    header.push(b'\n');
    header
}

/// Writes an npy file, whole or not at all: it is there once [`NpyWriter::finish`] has been called.
pub(crate) struct NpyWriter {
    out: BufWriter<AtomicFile>,
    rows: u64,
    columns: Option<usize>,
    /// Numbers of a row: one a column, and the answer where there is one.
    width: usize,
}

impl NpyWriter {
    /// Begins to write a file.
    ///
    /// # Errors
    /// When it cannot be written there, or the number of rows cannot be put into its header at the end.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let file = AtomicFile::create(path)?;
        if file.is_device() {
            return Err(Error::NotWritable {
                what: "an npy file cannot be written to a pipe: its header tells how many rows come".into(),
                help: Help::from("name a file, or choose another format with ").name(Setting::To),
            });
        }
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(&[0; WRITTEN_HEADER]).map_err(|error| out.get_ref().write_error(error))?;
        Ok(NpyWriter { out, rows: 0, columns: None, width: 0 })
    }

    /// Adds rows, the label last.
    ///
    /// # Errors
    /// When a label is no number, the columns are more or fewer than before, or the file cannot be written.
    pub(crate) fn push(&mut self, data: &Dataset) -> Result<(), Error> {
        let answers = match data.answers().labels().map(|labels| (labels, labels.numbers())) {
            Some((labels, Err(row))) => {
                let label = quoted(labels.get(row).text());
                return Err(Error::NotWritable {
                    what: format!("the label {label} is no number, and npy files hold nothing else"),
                    help: "write CSV, Parquet or a cache instead, or make the labels numbers".into(),
                });
            }
            Some((_, Ok(numbers))) => Some(Cow::Owned(numbers)),
            None => data.answers().numbers().map(Cow::Borrowed),
        };
        let columns = *self.columns.get_or_insert(data.columns());
        self.width = data.columns() + usize::from(answers.is_some());
        if columns != data.columns() {
            return Err(Error::NotWritable {
                what: format!("row {} has {} columns, not {columns}", self.rows + 1, data.columns()),
                help: "give all rows the same columns".into(),
            });
        }
        for row in 0..data.rows() {
            let answer = answers.as_ref().map(|answers| answers[row]);
            for value in data.matrix().row(row).into_iter().chain(answer) {
                self.out.write_all(&value.to_le_bytes()).map_err(|error| self.out.get_ref().write_error(error))?;
            }
        }
        self.rows += data.rows() as u64;
        Ok(())
    }

    /// Makes the file, durably. Returns how many rows it has.
    ///
    /// # Errors
    /// When there were no rows, or the file cannot be written.
    pub(crate) fn finish(mut self) -> Result<u64, Error> {
        if self.rows == 0 {
            return Err(Error::NotWritable {
                what: "there are no rows to write".into(),
                help: "give data with at least one row".into(),
            });
        }
        let header = header("<f8", &format!("({}, {})", self.rows, self.width));
        let mut write = || -> std::io::Result<()> {
            self.out.seek(SeekFrom::Start(0))?;
            self.out.write_all(&header)?;
            self.out.flush()
        };
        let written = write();
        written.map_err(|error| self.out.get_ref().write_error(error))?;
        // Flushed above, so nothing is left to write.
        let (file, _) = self.out.into_parts();
        file.commit()?;
        Ok(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as NumPy writes it.
    fn file(descr: &str, fortran: bool, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let fortran = if fortran { "True" } else { "False" };
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        [&MAGIC[..], &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes(), numbers].concat()
    }

    fn read_default(bytes: &[u8]) -> Result<Dataset, Error> {
        read(bytes, "t.npy", &ReadOptions::default()).map(|read| read.data)
    }

    #[test]
    fn every_kind_of_number_reads_in_both_orders() {
        let numbers = [1i64, 2, 3, 4, 5, 6];
        let bytes = |size: usize, big: bool, make: &dyn Fn(i64) -> [u8; 8]| -> Vec<u8> {
            let one = |&number: &i64| {
                let mut bytes = make(number)[..size].to_vec();
                if big {
                    bytes.reverse();
                }
                bytes
            };
            numbers.iter().flat_map(one).collect()
        };
        let whole = |number: i64| number.to_le_bytes();
        let double = |number: i64| (number as f64).to_le_bytes();
        let single = |number: i64| {
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&(number as f32).to_le_bytes());
            bytes
        };
        for big in [false, true] {
            let order = if big { ">" } else { "<" };
            for (descr, size) in
                [("i1", 1), ("u1", 1), ("i2", 2), ("u2", 2), ("i4", 4), ("u4", 4), ("i8", 8), ("u8", 8)]
            {
                let data = read_default(&file(&format!("{order}{descr}"), false, "(2, 3)", &bytes(size, big, &whole)))
                    .unwrap();
                assert_eq!((data.matrix().row(0), data.matrix().row(1)), (vec![1.0, 2.0], vec![4.0, 5.0]), "{descr}");
                assert_eq!(data.labels().unwrap().get(1).text(), "6");
            }
            for (descr, size, make) in [("f8", 8, &double as &dyn Fn(i64) -> [u8; 8]), ("f4", 4, &single)] {
                let data =
                    read_default(&file(&format!("{order}{descr}"), true, "(2, 3)", &bytes(size, big, make))).unwrap();
                assert_eq!((data.matrix().row(0), data.matrix().row(1)), (vec![1.0, 3.0], vec![2.0, 4.0]), "{descr}");
                assert_eq!(data.labels().unwrap().get(0).text(), "5");
            }
        }
        let negative = read_default(&file("|i1", false, "(1, 2)", &[0xff, 0x80])).unwrap();
        assert_eq!((negative.matrix().row(0), negative.labels().unwrap().get(0).text()), (vec![-1.0], "-128"));
    }

    #[test]
    fn what_is_no_table_of_finite_numbers_is_refused_with_the_way_out() {
        let double = |numbers: &[f64]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
        let refused = |bytes: &[u8], what: &str, help: &str| {
            let error = read_default(bytes).unwrap_err();
            assert!(error.to_string().contains(what) && error.help().contains(help), "{error}\n{}", error.help());
        };
        let two = double(&[1.0, 2.0]);
        refused(&file("<f8", false, "(1, 3)", &two), "16 bytes of numbers, expected 1 x 3", "copy the file again");
        refused(&file("<f8", false, "(1, 1)", &two), "one column", "label in the last column");
        refused(&file("<f8", false, "(2,)", &two), "one column", "label in the last column");
        refused(&file("<f8", false, "(1, 1, 2)", &two), "3 dimensions", "reshape");
        refused(&file("<f8", false, "(0, 2)", &[]), "no rows", "at least one row");
        refused(&file("<U3", false, "(1, 2)", &two), "a NumPy array of \"<U3\"", "astype");
        refused(&file("<f8", false, "(9999999999999999999, 2)", &two), "bytes of numbers", "copy the file again");
        refused(
            &file("<f8", false, "(1, 2)", &double(&[f64::NAN, 1.0])),
            "row 1, column 1 is NaN",
            "fill the value in",
        );
        refused(&file("<f8", false, "(1, 2)", &double(&[1.0, f64::INFINITY])), "column 2 is inf", "fill the value in");
        refused(&file("<i8", false, "(1, 2)", &[0xff; 16].map(|byte: u8| byte >> 1)), "more digits", "exclude");
        let whole = file("<f8", false, "(1, 2)", &two);
        for length in 0..whole.len() {
            assert!(read_default(&whole[..length]).is_err(), "the first {length} bytes");
        }
    }

    #[test]
    fn blocks_are_the_rows_of_the_whole() {
        let numbers: Vec<u8> = (0..30).flat_map(|number| f64::from(number).to_le_bytes()).collect();
        let bytes = file("<f8", false, "(10, 3)", &numbers);
        let options = ReadOptions { label: Some("1".into()), ..ReadOptions::default() };
        let blocks = NpyBlocks::new(Box::new(std::io::Cursor::new(bytes.clone())), "t.npy", &options).unwrap();
        let parts: Vec<Dataset> = blocks.collect::<Result<_, _>>().unwrap();
        let whole = read(&bytes, "t.npy", &options).unwrap().data;
        assert_eq!(parts.iter().map(Dataset::rows).sum::<usize>(), 10);
        assert_eq!((parts[0].matrix().row(0), whole.labels().unwrap().get(1).text()), (vec![1.0, 2.0], "3"));
        assert_eq!(parts[0].fingerprint(), whole.fingerprint());
        let turned = file("<f8", true, "(10, 3)", &numbers);
        let blocks = NpyBlocks::new(Box::new(std::io::Cursor::new(turned.clone())), "t.npy", &options).unwrap();
        let parts: Vec<Dataset> = blocks.collect::<Result<_, _>>().unwrap();
        assert_eq!(parts[0].fingerprint(), read(&turned, "t.npy", &options).unwrap().data.fingerprint());
        let short = NpyBlocks::new(Box::new(std::io::Cursor::new(bytes[..200].to_vec())), "t.npy", &options).unwrap();
        assert_eq!(short.map(|block| block.is_ok()).collect::<Vec<_>>(), [false]);
    }
}
