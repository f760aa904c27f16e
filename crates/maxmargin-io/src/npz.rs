//! npz: arrays as NumPy's `savez` and SciPy's `save_npz` put them into one zip archive.
//!
//! | arrays | what they are |
//! | --- | --- |
//! | `X`, `x` or `data` | a table of numbers, a row of it a row of the data |
//! | `indices`, `indptr`, `data`, `shape`, `format` | the same with zeros left out, as `save_npz` writes a CSR matrix |
//! | `y`, `labels` or `target` | a label a row: numbers or texts |
//!
//! Another array is taken for labels where it is asked for by name. Members are stored or deflated; they have checksums, which are
//! checked. Written are `X`, floats of 8 bytes, and `y`: floats of 8 bytes where all labels are spelled as numbers are, else texts. Names,
//! weights and group numbers have no place in it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use maxmargin::data::{AnswerKind, Dataset, Label, Matrix};
use maxmargin::error::{listed, quoted};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::atomic::AtomicFile;
use crate::block::too_long;
use crate::columns::{Columns, Head, answers_of, not_finite, select, too_large};
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::npy::{Description, Found, Header, Kind, describe, header};
use crate::read::{ReadOptions, content, data_error, no_rows};
use crate::write::as_labels;

/// The first bytes of a zip archive.
const MAGIC: &[u8; 4] = b"PK\x03\x04";
/// The names of arrays, the most usual first.
const FEATURES: [&str; 3] = ["X", "x", "data"];
const LABELS: [&str; 3] = ["y", "labels", "target"];
/// The most arrays of a file; `save_npz` writes six.
const MOST_ARRAYS: usize = 1000;
const AGAIN: &str = "copy the file again, or save it with numpy.savez(file, X=X, y=y) once more";

/// Whether bytes begin as an archive whose first member is an array.
pub(crate) fn is_npz(bytes: &[u8]) -> bool {
    let length = || usize::from(u16::from_le_bytes([bytes[26], bytes[27]]));
    bytes.starts_with(MAGIC)
        && bytes.len() > 30
        && bytes.get(30..30 + length()).is_some_and(|name| name.ends_with(b".npy"))
}

/// Reads a file that is in memory.
///
/// # Errors
/// When it is damaged, has not the arrays of a data set, or their sizes do not fit each other.
pub(crate) fn read(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    let mut archive = Archive::open(bytes, origin, options.max_bytes)?;
    let mut data = if archive.has("indptr") || archive.has("indices") { archive.sparse()? } else { archive.table()? };
    if options.answers != AnswerKind::None {
        let (labels, member) = archive.labels(options.label.as_deref(), data.rows())?;
        let answers = answers_of(options.answers, labels, &member, |row| row as u64 + 1, || "1".into())?;
        data = data.with_answers(answers).map_err(|error| data_error(origin, error))?;
    }
    select(data, origin, options)
}

/// The arrays of a file.
struct Archive<'a> {
    origin: &'a str,
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Places of the members by the names of their arrays.
    places: HashMap<String, usize>,
    /// Bytes that may still be unpacked, and the limit that they were of.
    left: Option<(u64, u64)>,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8], origin: &'a str, limit: Option<u64>) -> Result<Self, Error> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(origin, &error.to_string()))?;
        if zip.len() > MOST_ARRAYS {
            let found = format!("an npz file of {} members", zip.len());
            return Err(content(origin, found, format!("{MOST_ARRAYS} at most"), "save only X and y into it"));
        }
        // Of two members of one name the archive keeps one, without a word.
        if let Some(claimed) = members(bytes).filter(|&claimed| claimed != zip.len()) {
            let found = format!("an npz file with {claimed} members of {} names", zip.len());
            return Err(content(origin, found, "each array once", AGAIN));
        }
        let mut places = HashMap::new();
        for (place, name) in zip.file_names().enumerate() {
            let name = name.map_err(|error| damaged(origin, &error.to_string()))?;
            places.insert(name.strip_suffix(".npy").unwrap_or(&name).to_string(), place);
        }
        Ok(Archive { origin, zip, places, left: limit.map(|limit| (limit, limit)) })
    }

    fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The names in the file, for messages.
    fn shown(&self) -> String {
        let mut names: Vec<&String> = self.places.keys().collect();
        names.sort();
        if names.is_empty() {
            "no arrays".into()
        } else {
            format!("the arrays {}", listed(names.into_iter().map(|name| quoted(name)), 8))
        }
    }

    /// What messages call an array.
    fn member(&self, name: &str) -> String {
        format!("{}/{name}.npy", self.origin)
    }

    /// The array of one of some names; `None` when none is there.
    fn only(&self, names: &[&'static str], what: &str) -> Result<Option<&'static str>, Error> {
        let found: Vec<&'static str> = names.iter().copied().filter(|name| self.has(name)).collect();
        match found.as_slice() {
            [] => Ok(None),
            [name] => Ok(Some(*name)),
            _ => Err(content(
                self.origin,
                format!("the arrays {} for {what}", listed(found.iter().map(|name| quoted(name)), 8)),
                "one of them",
                "leave the others out when you save the file, or give them other names",
            )),
        }
    }

    /// What an array is, and the bytes of its elements: as many as its shape says.
    fn array(&mut self, name: &str) -> Result<(Description, Vec<u8>), Error> {
        let (origin, member) = (self.origin, self.member(name));
        let Some(&place) = self.places.get(name) else {
            let expected = format!("the array {}", quoted(name));
            return Err(content(origin, self.shown(), expected, AGAIN));
        };
        let mut file = self.zip.by_index(place).map_err(|error| damaged(&member, &error.to_string()))?;
        // The size is a claim, so that room grows with the bytes that come.
        let (mut bytes, claimed) = (Vec::new(), file.size());
        let most = self.left.map_or(u64::MAX, |(left, _)| left.saturating_add(1));
        let read = file.by_ref().take(most).read_to_end(&mut bytes);
        read.map_err(|error| damaged(&member, &error.to_string()))?;
        if let Some((left, limit)) = &mut self.left {
            match left.checked_sub(bytes.len() as u64) {
                Some(rest) => *left = rest,
                None => return Err(too_long(origin, *limit)),
            }
        }
        if bytes.len() as u64 != claimed {
            return Err(damaged(&member, &format!("{} bytes, not {claimed}", bytes.len())));
        }
        let mut rest = &bytes[..];
        let description = describe(&mut rest, &member)?;
        let count = description.sizes.iter().try_fold(1u64, |count, &size| count.checked_mul(size));
        let size = description.kind.bytes().map(|size| size as u64);
        if let (Some(size), found) = (size, rest.len() as u64)
            && count.and_then(|count| count.checked_mul(size)) != Some(found)
        {
            let sizes = listed(description.sizes.iter().map(u64::to_string), 8);
            return Err(content(
                &member,
                format!("{found} bytes of elements"),
                format!("the shape ({sizes}) of elements of {size} bytes"),
                AGAIN,
            ));
        }
        let rest = rest.len();
        bytes.drain(..bytes.len() - rest);
        Ok((description, bytes))
    }

    /// The features as a table, without answers.
    fn table(&mut self) -> Result<Dataset, Error> {
        let Some(name) = self.only(&FEATURES, "the features")? else {
            let help = "save it with numpy.savez(file, X=X, y=y), or a sparse matrix with scipy.sparse.save_npz";
            return Err(content(self.origin, self.shown(), "a table X, x or data", help));
        };
        let member = self.member(name);
        let (description, bytes) = self.array(name)?;
        let header = description.table(&member)?;
        if header.columns() == 0 {
            return Err(content(&member, "no columns", "at least one", "give a table with at least one column"));
        }
        let unlabelled = ReadOptions { answers: AnswerKind::None, ..ReadOptions::default() };
        let head = Head { origin: &member, names: None, width: header.columns(), is_text: false, named: false };
        header.all_rows(&bytes, &Columns::new(head, &unlabelled)?, &member)
    }

    /// The same of the features as SciPy saves them.
    fn sparse(&mut self) -> Result<Dataset, Error> {
        let (description, bytes) = self.array("format")?;
        let format = texts(&description, &bytes).and_then(|mut texts| texts.pop()).unwrap_or_default();
        if format != "csr" {
            return Err(content(
                &self.member("format"),
                format!("the format {}", quoted(&format)),
                "\"csr\"",
                "save the matrix by rows: scipy.sparse.save_npz(file, matrix.tocsr())",
            ));
        }
        let shape = self.whole("shape")?;
        let &[rows, columns] = shape.as_slice() else {
            let found = format!("{} sizes", shape.len());
            return Err(content(&self.member("shape"), found, "2, of rows and columns", AGAIN));
        };
        if rows == 0 {
            return Err(no_rows(self.origin));
        }
        let (indices, indptr) = (self.whole("indices")?, self.whole("indptr")?);
        let member = self.member("data");
        let (description, bytes) = self.array("data")?;
        let values =
            if bytes.is_empty() { Vec::new() } else { numbers(&description.table(&member)?, &bytes, &member)? };
        let wrong = |name: &str, found: String, expected: String| {
            Err(content(&self.member(name), found, expected, "save the matrix with scipy.sparse.save_npz once more"))
        };
        if columns == 0 || columns >= u64::from(u32::MAX) {
            return wrong("shape", format!("{columns} columns"), "1 to 4294967294".into());
        }
        let offsets = rows.saturating_add(1);
        if indptr.len() as u64 != offsets {
            return wrong("indptr", format!("{} offsets", indptr.len()), format!("{offsets} for {rows} rows"));
        }
        if values.len() != indices.len() {
            return wrong("data", format!("{} values", values.len()), format!("{}, one an index", indices.len()));
        }
        if indptr[0] != 0 || !indptr.is_sorted() || indptr.last() != Some(&(indices.len() as u64)) {
            let expected = format!("offsets that increase from 0 to {}", indices.len());
            return wrong("indptr", "other offsets".into(), expected);
        }
        // SciPy does not promise that the columns of a row are sorted, nor that each comes once.
        let (mut order, mut sorted, mut moved, mut offsets) = (Vec::new(), Vec::new(), Vec::new(), vec![0u64]);
        for row in 0..rows as usize {
            order.clear();
            order.extend(indptr[row] as usize..indptr[row + 1] as usize);
            order.sort_by_key(|&place| indices[place]);
            let mut last = None;
            for &place in &order {
                let column = indices[place];
                if column >= columns || last == Some(column) {
                    let twice = if last == Some(column) { " twice" } else { "" };
                    let found = format!("column {column}{twice} in row {}", row + 1);
                    return wrong("indices", found, format!("each column once, counted from 0, below {columns}"));
                }
                last = Some(column);
                if values[place] != 0.0 {
                    sorted.push(column as u32);
                    moved.push(values[place]);
                }
            }
            offsets.push(sorted.len() as u64);
        }
        let dense = moved.len() as u64 >= rows.saturating_mul(columns).div_ceil(2);
        let made = Matrix::sparse(rows as usize, columns as usize, offsets, sorted, moved);
        made.map(|matrix| if dense { matrix.to_dense() } else { matrix })
            .map(Dataset::unlabelled)
            .map_err(|error| data_error(self.origin, error))
    }

    /// An array of whole numbers that are not negative.
    fn whole(&mut self, name: &str) -> Result<Vec<u64>, Error> {
        let member = self.member(name);
        let (description, bytes) = self.array(name)?;
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let header = description.table(&member)?;
        let one = |(place, bytes): (usize, &[u8])| {
            match header.number(bytes) {
                Found::Whole(value) if value >= 0 => Ok(value as u64),
                Found::Whole(value) => Err(value.to_string()),
                Found::Float(value) => Err(value.to_string()),
                Found::Single(value) => Err(value.to_string()),
            }
            .map_err(|found| {
                let expected = "whole numbers from 0 on";
                content(&member, format!("{found} in place {}", place + 1), expected, AGAIN)
            })
        };
        bytes.chunks_exact(header.size()).enumerate().map(one).collect()
    }

    /// A label for each row, and what messages call their array.
    fn labels(&mut self, asked: Option<&str>, rows: usize) -> Result<(Vec<Label>, String), Error> {
        let name = match asked {
            Some(name) if self.has(name) => name,
            Some(name) => {
                let help = Help::from("name one of these with ")
                    .name(Setting::Label)
                    .and(", or none where one is called y, labels or target");
                return Err(content(self.origin, self.shown(), format!("labels called {}", quoted(name)), help));
            }
            None => match self.only(&LABELS, "the labels")? {
                Some(name) => name,
                None => {
                    let help = Help::from("save y too, name another array with ")
                        .name(Setting::Label)
                        .and(", or predict with ")
                        .name(Setting::Unlabelled);
                    return Err(content(self.origin, self.shown(), "labels called y, labels or target", help));
                }
            },
        };
        let member = self.member(name);
        let (description, bytes) = self.array(name)?;
        let flat = match description.sizes.as_slice() {
            &[count] | &[count, 1] => count,
            sizes => {
                let found = format!("an array of the shape ({})", listed(sizes.iter().map(u64::to_string), 8));
                return Err(content(&member, found, "one label a row", "save y as one column: y.ravel()"));
            }
        };
        if flat != rows as u64 {
            let help = "save as many labels as rows";
            return Err(content(&member, format!("{flat} labels"), format!("{rows}, one a row"), help));
        }
        if let Some(texts) = texts(&description, &bytes) {
            return Ok((texts.into_iter().map(Label::new).collect(), member));
        }
        if matches!(description.kind, Kind::Bytes(_) | Kind::Characters(_)) {
            let help = "save the labels as text or numbers";
            return Err(content(&member, "labels that are no text", "UTF-8 or Unicode", help));
        }
        let header = description.table(&member)?;
        let label = |(row, bytes): (usize, &[u8])| {
            let (text, value) = match header.number(bytes) {
                Found::Whole(value) => (value.to_string(), 0.0),
                Found::Single(value) => (value.to_string(), f64::from(value)),
                Found::Float(value) => (value.to_string(), value),
            };
            if value.is_finite() { Ok(Label::new(text)) } else { Err(not_finite(&member, value, row as u64 + 1, "1")) }
        };
        let labels = bytes.chunks_exact(header.size()).enumerate().map(label).collect::<Result<_, _>>()?;
        Ok((labels, member))
    }
}

/// How many members the end of an archive without a comment claims; NumPy writes none. `None` where that is not told there.
fn members(bytes: &[u8]) -> Option<usize> {
    let end = bytes.get(bytes.len().checked_sub(22)?..)?;
    let count = u16::from_le_bytes([end[10], end[11]]);
    (end.starts_with(b"PK\x05\x06") && count < u16::MAX).then_some(usize::from(count))
}

/// Finite numbers, one after the other.
fn numbers(header: &Header, bytes: &[u8], member: &str) -> Result<Vec<f64>, Error> {
    let one = |(place, bytes): (usize, &[u8])| {
        let row = place as u64 + 1;
        match header.number(bytes) {
            Found::Whole(value) if value as f64 as i128 != value => {
                Err(too_large(member, &value.to_string(), row, "1"))
            }
            Found::Whole(value) => Ok(value as f64),
            Found::Single(value) if value.is_finite() => Ok(f64::from(value)),
            Found::Float(value) if value.is_finite() => Ok(value),
            Found::Single(value) => Err(not_finite(member, f64::from(value), row, "1")),
            Found::Float(value) => Err(not_finite(member, value, row, "1")),
        }
    };
    bytes.chunks_exact(header.size()).enumerate().map(one).collect()
}

/// The texts of an array; `None` when it is of something else, or not of text.
fn texts(description: &Description, bytes: &[u8]) -> Option<Vec<String>> {
    match description.kind {
        // An array of empty texts has no bytes to count.
        Kind::Bytes(0) | Kind::Characters(0) => {
            let count = description.sizes.iter().product::<u64>();
            (count == 0).then(Vec::new)
        }
        Kind::Bytes(size) => {
            let text = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.trim_end_matches('\0').to_string());
            bytes.chunks_exact(size).map(text).collect()
        }
        Kind::Characters(size) => {
            let character = |bytes: &[u8]| {
                let code = bytes.try_into().ok()?;
                let code = if description.big_endian { u32::from_be_bytes(code) } else { u32::from_le_bytes(code) };
                char::from_u32(code)
            };
            let text = |bytes: &[u8]| {
                let text: String = bytes.chunks_exact(4).map(character).collect::<Option<_>>()?;
                Some(text.trim_end_matches('\0').to_string())
            };
            bytes.chunks_exact(size.checked_mul(4)?).map(text).collect()
        }
        Kind::Number(_) | Kind::Other(_) => None,
    }
}

fn damaged(origin: &str, what: &str) -> Error {
    content(origin, format!("an npz file that cannot be read ({})", quoted(what)), "a whole npz file", AGAIN)
}

/// Writes an npz file, whole or not at all: it is there once [`NpzWriter::finish`] has been called.
///
/// An array begins with its size, so that rows wait in a file without a name until all have come.
pub(crate) struct NpzWriter {
    file: AtomicFile,
    waiting: BufWriter<File>,
    rows: u64,
    columns: Option<usize>,
    /// The labels met so far, and for each row the place of its own.
    places: HashMap<String, u32>,
    labels: Vec<Label>,
    codes: Vec<u32>,
    /// Whether the rows have answers.
    answered: bool,
}

impl NpzWriter {
    /// Begins to write a file.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let file = AtomicFile::create(path)?;
        if file.is_device() {
            return Err(Error::NotWritable {
                what: "an npz file cannot be written to a pipe: it is finished at places that were written before"
                    .into(),
                help: Help::from("name a file, or choose another format with ").name(Setting::To),
            });
        }
        let waiting = tempfile::tempfile_in(file.folder()).map_err(|error| file.write_error(error))?;
        Ok(NpzWriter {
            file,
            waiting: BufWriter::with_capacity(1 << 20, waiting),
            rows: 0,
            columns: None,
            places: HashMap::new(),
            labels: Vec::new(),
            codes: Vec::new(),
            answered: true,
        })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When the columns are more or fewer than before, or the file cannot be written.
    pub(crate) fn push(&mut self, data: &Dataset) -> Result<(), Error> {
        let columns = *self.columns.get_or_insert(data.columns());
        if columns != data.columns() {
            return Err(Error::NotWritable {
                what: format!("row {} has {} columns, not {columns}", self.rows + 1, data.columns()),
                help: "give all rows the same columns".into(),
            });
        }
        self.answered = !data.answers().is_none();
        // Texts are filled up with zeros, which are taken off again.
        let labels = as_labels(data);
        if let Some(class) = labels.classes().iter().find(|class| class.text().ends_with('\0')) {
            return Err(Error::NotWritable {
                what: format!("the label {} cannot be written as npz", quoted(class.text())),
                help: "write Parquet or a cache instead, or choose labels that do not end in a zero byte".into(),
            });
        }
        let mut of_class = Vec::with_capacity(labels.classes().len());
        for class in labels.classes() {
            let place = *self.places.entry(class.text().into()).or_insert_with(|| {
                self.labels.push(class.clone());
                self.labels.len() as u32 - 1
            });
            of_class.push(place);
        }
        self.codes.extend(labels.codes().iter().map(|&code| of_class[code as usize]));
        for row in 0..data.rows() {
            for value in data.matrix().row(row) {
                self.waiting.write_all(&value.to_le_bytes()).map_err(|error| self.file.write_error(error))?;
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
        let Some(columns) = self.columns.filter(|_| self.rows > 0) else {
            return Err(Error::NotWritable {
                what: "there are no rows to write".into(),
                help: "give data with at least one row".into(),
            });
        };
        let written = self.waiting.flush().and_then(|()| self.waiting.get_mut().seek(SeekFrom::Start(0)));
        written.map_err(|error| self.file.write_error(error))?;
        let (kind, texts) = self.texts();
        // The year of a member is no part of the data, so that the same data make the same file.
        let stored = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true)
            .last_modified_time(zip::DateTime::default());
        let shown = self.file.shown().to_string();
        let rows = self.rows;
        let (codes, waiting) = (&self.codes, self.waiting.get_mut());
        let mut out = ZipWriter::new(BufWriter::with_capacity(1 << 20, self.file));
        let answered = self.answered;
        let write = || -> std::io::Result<()> {
            out.start_file("X.npy", stored)?;
            out.write_all(&header("<f8", &format!("({rows}, {columns})")))?;
            std::io::copy(&mut BufReader::with_capacity(1 << 20, waiting), &mut out)?;
            if !answered {
                return Ok(());
            }
            out.start_file("y.npy", stored)?;
            out.write_all(&header(&kind, &format!("({rows},)")))?;
            codes.iter().try_for_each(|&code| out.write_all(&texts[code as usize]))
        };
        let failed = |error: std::io::Error| Error::Write { kind: error.kind(), reason: format!("{shown}: {error}") };
        write().map_err(failed)?;
        let mut out = out.finish().map_err(|error| failed(error.into()))?;
        out.flush().map_err(failed)?;
        let (file, _) = out.into_parts();
        file.commit()?;
        Ok(rows)
    }

    /// What the labels are in NumPy's words, and the bytes of each.
    fn texts(&self) -> (String, Vec<Vec<u8>>) {
        let number = |label: &Label| label.number().filter(|number| number.to_string() == label.text());
        if let Some(numbers) = self.labels.iter().map(number).collect::<Option<Vec<f64>>>() {
            return ("<f8".into(), numbers.into_iter().map(|number| number.to_le_bytes().to_vec()).collect());
        }
        let length = |label: &Label| label.text().chars().count();
        let longest = self.labels.iter().map(length).max().unwrap_or(0).max(1);
        let bytes = |label: &Label| {
            let mut bytes: Vec<u8> = label.text().chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            bytes.resize(longest * 4, 0);
            bytes
        };
        (format!("<U{longest}"), self.labels.iter().map(bytes).collect())
    }
}
