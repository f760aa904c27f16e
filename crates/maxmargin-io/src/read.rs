//! From bytes to a [`Dataset`]: files, streams and bytes, compressed or not.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use maxmargin::data::{AnswerKind, Dataset, Missing, TableRecipe};
use maxmargin::error::quoted;
use maxmargin::{Unattended, Workers};

use crate::binary;
use crate::block::{Block, Cutter};
use crate::compressed::{Bounded, Compression, decompressed};
use crate::error::{Error, reason};
use crate::gather::{Expected, read_all};
use crate::help::{Help, Setting};
use crate::parser::{Kind, Parser};
use crate::remarks::{ReadData, Remarks};
use crate::row_blocks::RowBlocks;
use crate::survey::{self, TableSurvey};
use crate::table::Table;

/// How a data file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A row a line: `label index:value index:value ...`, zeros left out.
    Libsvm,
    /// A row a line, cells separated by commas, semicolons or tabs, with or without a header.
    Csv,
    /// A table saved by NumPy.
    Npy,
    /// Arrays saved by NumPy, in a zip archive.
    Npz,
    /// A table of columns.
    Parquet,
    /// A table of columns as Arrow writes it (IPC, Feather), in batches of rows that an index at the end knows.
    Arrow,
    /// The same without the index, as it comes through a pipe.
    ArrowStream,
    /// A cache file of ours.
    Cache,
}

/// How to read a data file. The default finds out what it can from the file itself.
///
/// # Examples
/// ```
/// use maxmargin_io::{ReadOptions, read_bytes};
///
/// let options = ReadOptions { label: Some("kind".into()), ..ReadOptions::default() };
/// let data = read_bytes(b"kind,width\nold,3\nnew,5\n", "table.csv", &options)?;
/// assert_eq!(data.answers().text(0).as_deref(), Some("old"));
/// assert_eq!(data.names(), Some(&["width".to_string()][..]));
/// # Ok::<(), maxmargin_io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The format; `None` finds it by name and content.
    pub format: Option<Format>,
    /// LIBSVM text whose first column is 0, not 1.
    pub zero_based: bool,
    /// LIBSVM text of kernel values, each row of which may begin with its serial number, `0:i`.
    pub kernel_values: Option<KernelValues>,
    /// The label column of a CSV file, by name or by number counted from 1; `None` takes the last.
    pub label: Option<String>,
    /// What is read of each row beside its columns. Without answers, all columns of a table are features, and the labels of other formats are
    /// left aside.
    pub answers: AnswerKind,
    /// Whether the first row of a CSV file names the columns; `None` finds it by content.
    pub header: Option<bool>,
    /// The columns of a table of which one column is made for each of their values, named `column=value`.
    pub categorical: Categorical,
    /// The columns to keep, by name or by number counted from 1, or as ranges `1-5`, in this order; `None` keeps all.
    pub columns: Option<Vec<String>>,
    /// Columns to leave out of those, named in the same ways.
    pub exclude: Vec<String>,
    /// What becomes of missing values of a table.
    pub missing: Missing,
    /// How the columns of a table become numbers, learnt before. The table is read so, and of the options above only the label, whether there is
    /// one, and the header count.
    pub recipe: Option<Arc<TableRecipe>>,
    /// For each row of a table, counted from 0, whether means, medians and categories are learnt from it; `None` learns from all. Rows that are held
    /// out are read so, and tell nothing. Which columns are categories is still seen in all rows.
    pub learn_from: Option<Arc<[bool]>>,
    /// Refuse a file of more bytes, counted after it is decompressed.
    pub max_bytes: Option<u64>,
}

impl ReadOptions {
    /// Whether something is learnt from the rows of a table before it is read: means, medians, or the values of categories.
    pub fn learns(&self) -> bool {
        self.recipe.is_none() && (self.categorical != Categorical::None || self.missing.is_learnt())
    }
}

/// Of which columns of a table one column is made for each of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Categorical {
    /// Of none.
    #[default]
    None,
    /// Of each that holds a word.
    Words,
    /// Of these, by name, by number counted from 1, or as ranges.
    Named(Vec<String>),
}

/// Whose kernel values a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelValues {
    /// Of training rows with each other: rows are sorted by their serial numbers, and only the columns of these numbers are kept.
    Training,
    /// Of new rows with training rows: the serial numbers mean nothing.
    New,
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadProgress {
    /// The bytes read so far, before they are decompressed.
    pub bytes: u64,
    /// The bytes that there are, where that is known.
    pub total: Option<u64>,
}

/// Told how far reading has come, and asked whether to go on: by any of the threads, many times a second.
pub trait ReadControl: Sync {
    /// Whether to go on; a break ends reading with [`Error::Interrupted`].
    fn poll(&self, progress: ReadProgress) -> ControlFlow<()>;
}

/// Reading goes on to the end.
impl ReadControl for Unattended {
    fn poll(&self, _: ReadProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Reads data on several threads, watched by somebody.
///
/// The result, with the error that it may be, is the same for any number of threads.
///
/// # Examples
/// ```
/// use maxmargin::Workers;
/// use maxmargin_io::{ReadOptions, Reader};
///
/// let (options, workers) = (ReadOptions::default(), Workers::new(2)?);
/// let data = Reader::new(&options).on(&workers).read_bytes(b"+1 1:0.5\n-1 2:1\n", "example.svm")?;
/// assert_eq!((data.rows(), data.columns()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    options: &'a ReadOptions,
    workers: Option<&'a Workers>,
    control: &'a dyn ReadControl,
    block: usize,
}

/// How many bytes of text are read at once by a thread: what it makes of them fits next to the processor.
const BLOCK: usize = 1 << 18;

impl<'a> Reader<'a> {
    /// Reads on the calling thread, unattended.
    pub fn new(options: &'a ReadOptions) -> Self {
        Reader { options, workers: None, control: &Unattended, block: BLOCK }
    }

    /// Reads on these threads.
    pub fn on(self, workers: &'a Workers) -> Self {
        Reader { workers: Some(workers), ..self }
    }

    /// Asks before each block of text whether to go on.
    pub fn watched_by(self, control: &'a dyn ReadControl) -> Self {
        Reader { control, ..self }
    }

    /// Reads about so many bytes of text at once, or one line where that is longer. This says how large the blocks of
    /// [`Reader::blocks_of_path`] are, and changes nothing else.
    pub fn in_blocks_of(self, bytes: usize) -> Self {
        Reader { block: bytes.clamp(1, 1 << 30), ..self }
    }

    /// Reads a data file.
    ///
    /// # Errors
    /// When the file cannot be read, or as [`read_bytes`] does.
    pub fn read_path(&self, path: &Path) -> Result<Dataset, Error> {
        self.read_data(path).map(|read| read.data)
    }

    /// [`Reader::read_path`], with how the file was read.
    ///
    /// # Errors
    /// As there.
    pub fn read_data(&self, path: &Path) -> Result<ReadData, Error> {
        if let Some(format) = binary::find_in(path, self.options.format) {
            return binary::read_path(path, self.options, format);
        }
        let origin = path.to_string_lossy();
        let open = || File::open(path).map_err(|error| cannot_read(&origin, &error));
        let file = open()?;
        let Some(length) = length(&file) else { return self.read_data_source(file, &origin) };
        let opened = self.open(file, &origin, Some(length))?;
        let sample = |at: u64, room: &mut [u8]| {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(room)
        };
        self.read(opened, &origin, || self.open(open()?, &origin, Some(length)), sample)
    }

    /// Reads data from a stream, such as standard input, to its end. Messages call it `origin`.
    ///
    /// # Errors
    /// When the stream fails or exceeds [`ReadOptions::max_bytes`], or as [`read_bytes`] does.
    pub fn read_source(&self, source: impl Read + Send, origin: &str) -> Result<Dataset, Error> {
        self.read_data_source(source, origin).map(|read| read.data)
    }

    /// [`Reader::read_source`], with how the data was read.
    ///
    /// # Errors
    /// As there.
    pub fn read_data_source(&self, mut source: impl Read + Send, origin: &str) -> Result<ReadData, Error> {
        let first = binary::first_bytes(&mut source).map_err(|error| cannot_read(origin, &error))?;
        let is_binary = binary::first_format(&first, self.options.format).is_some();
        let mut source = io::Cursor::new(first).chain(source);
        if survey::is_needed(self.options) || is_binary {
            // It is needed twice, or from its end. One byte above the limit is enough to see that it is exceeded.
            let limit = self.options.max_bytes.map_or(u64::MAX, |limit| limit.saturating_add(1));
            let mut bytes = Vec::new();
            source.by_ref().take(limit).read_to_end(&mut bytes).map_err(|error| cannot_read(origin, &error))?;
            return self.read_data_bytes(&bytes, origin);
        }
        let opened = self.open(source, origin, None)?;
        self.read(opened, origin, || Err(no_rows(origin)), |_, _| Err(io::ErrorKind::Unsupported.into()))
    }

    /// Reads data from bytes. Messages call them `origin`; its extension helps to find the format.
    ///
    /// # Errors
    /// As [`read_bytes`] does.
    pub fn read_bytes(&self, bytes: &[u8], origin: &str) -> Result<Dataset, Error> {
        self.read_data_bytes(bytes, origin).map(|read| read.data)
    }

    /// [`Reader::read_bytes`], with how the bytes were read.
    ///
    /// # Errors
    /// As there.
    pub fn read_data_bytes(&self, bytes: &[u8], origin: &str) -> Result<ReadData, Error> {
        if let Some(format) = binary::find(bytes, self.options.format) {
            return binary::read(bytes, origin, self.options, format);
        }
        let open = || self.open(bytes, origin, Some(bytes.len() as u64));
        let sample = |at: u64, room: &mut [u8]| {
            let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)?.get(..room.len()));
            from.map(|from| room.copy_from_slice(from)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        };
        self.read(open()?, origin, open, sample)
    }

    /// Looks at all of a table, whatever is wrong with it. `None` when the file is none of raw columns: LIBSVM text, npz, a cache.
    ///
    /// # Errors
    /// When the file cannot be read, or its beginning does not say what its columns are.
    pub fn survey_path(&self, path: &Path) -> Result<Option<TableSurvey>, Error> {
        if let Some(format) = binary::find_in(path, self.options.format) {
            return binary::survey_path(path, self.options, format);
        }
        let origin = path.to_string_lossy();
        let file = File::open(path).map_err(|error| cannot_read(&origin, &error))?;
        let total = length(&file);
        self.survey(self.open(file, &origin, total)?, &origin)
    }

    /// [`Reader::survey_path`] of bytes.
    ///
    /// # Errors
    /// As there.
    pub fn survey_bytes(&self, bytes: &[u8], origin: &str) -> Result<Option<TableSurvey>, Error> {
        if let Some(format) = binary::find(bytes, self.options.format) {
            return binary::survey(bytes, origin, self.options, format);
        }
        self.survey(self.open(bytes, origin, Some(bytes.len() as u64))?, origin)
    }

    fn survey(&self, mut opened: Opened<'_>, origin: &str) -> Result<Option<TableSurvey>, Error> {
        let parser = Parser::new(&mut opened.cutter, origin, self.options)?;
        match &parser.kind {
            Kind::Table(table) => self.look(&mut opened, &parser, table).map(Some),
            Kind::Libsvm(_) => Ok(None),
        }
    }

    /// How a table of text is read whose rows have to be seen first; `None` when the file is LIBSVM text.
    pub(crate) fn learn_path(&self, path: &Path) -> Result<Option<TableRecipe>, Error> {
        let origin = path.to_string_lossy();
        let file = File::open(path).map_err(|error| cannot_read(&origin, &error))?;
        let total = length(&file);
        let mut opened = self.open(file, &origin, total)?;
        let mut parser = Parser::new(&mut opened.cutter, &origin, self.options)?;
        let Kind::Table(table) = &parser.kind else { return Ok(None) };
        let survey = self.look(&mut opened, &parser, table)?;
        match &mut parser.kind {
            Kind::Table(table) => table.learn(&survey, self.options).map(|()| Some(table.columns.recipe())),
            Kind::Libsvm(_) => Ok(None),
        }
    }

    /// Looks at all rows of a table of text.
    fn look(&self, opened: &mut Opened<'_>, parser: &Parser, table: &Table) -> Result<TableSurvey, Error> {
        let mut survey = TableSurvey::new(table.head(), &table.columns, self.options)?;
        let (mut block, mut lines) = (Block::default(), 0);
        while opened.go_on(self.control, parser.origin()).and_then(|()| opened.cutter.next(&mut block))? {
            if let Err(fault) = survey.add(table, &block) {
                survey.fault = Some(parser.error(fault, lines));
                break;
            }
            lines += memchr::memchr_iter(b'\n', block.bytes()).count();
        }
        Ok(survey)
    }

    /// The rows of a file, block after block; see [`RowBlocks`].
    ///
    /// # Errors
    /// When the file cannot be read, or does not begin as a text in one of the formats.
    pub fn blocks_of_path(&self, path: &Path) -> Result<RowBlocks<'a>, Error> {
        let origin = path.to_string_lossy();
        let file = File::open(path).map_err(|error| cannot_read(&origin, &error))?;
        let length = length(&file);
        self.blocks(file, &origin, length, self.control)
    }

    /// The rows of a stream, block after block; see [`RowBlocks`]. Messages call it `origin`.
    ///
    /// # Errors
    /// When the stream cannot be read, or does not begin as a text in one of the formats.
    pub fn blocks_of_source(&self, source: impl Read + Send + 'a, origin: &str) -> Result<RowBlocks<'a>, Error> {
        self.blocks(source, origin, None, self.control)
    }

    pub(crate) fn blocks<'s>(
        &self,
        source: impl Read + Send + 's,
        origin: &str,
        total: Option<u64>,
        control: &'s dyn ReadControl,
    ) -> Result<RowBlocks<'s>, Error> {
        let mut opened = self.open(source, origin, total)?;
        let parser = Parser::new(&mut opened.cutter, origin, self.options)?;
        if matches!(parser.kind, Kind::Table(_)) {
            refuse_learning(origin, self.options)?;
        }
        if parser.is_sorted_at_the_end() {
            let what = "the columns of a table of kernel values are known only when all rows have been read".into();
            let help = "read the file as a whole".into();
            return Err(data_error(origin, maxmargin::Error::Combination { what, help }));
        }
        Ok(RowBlocks::new(opened, parser, self.workers.cloned().unwrap_or_default(), control))
    }

    /// Makes a stream ready to be cut into blocks.
    fn open<'s>(&self, source: impl Read + Send + 's, origin: &str, total: Option<u64>) -> Result<Opened<'s>, Error> {
        let (done, has_failed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let counted = Counted { source, done: Arc::clone(&done), has_failed: Arc::clone(&has_failed) };
        let (stream, compression) = decompressed(counted).map_err(|error| cannot_read(origin, &error))?;
        let stream = match compression {
            None => stream,
            Some(_) => Box::new(Bounded::new(stream, Arc::clone(&done))),
        };
        let limit = self.options.max_bytes;
        let name = origin.to_string();
        let explain = move |error: &io::Error| match compression {
            Some(compression) if !has_failed.load(Ordering::Relaxed) => compression.damaged(&name, error),
            _ => cannot_read(&name, error),
        };
        // A short file needs no long block.
        let plain = total.filter(|_| compression.is_none());
        let short = plain.and_then(|total| usize::try_from(total).ok()).map_or(usize::MAX, |total| total + 1);
        let cutter = Cutter::new(stream, origin, Box::new(explain), self.block.min(short), limit);
        Ok(Opened { cutter, done, total, compression })
    }

    /// Reads all of a stream. `again` opens it once more, and `sample` reads from any place of it.
    fn read<'s>(
        &self,
        mut opened: Opened<'s>,
        origin: &str,
        again: impl Fn() -> Result<Opened<'s>, Error>,
        sample: impl Fn(u64, &mut [u8]) -> io::Result<()>,
    ) -> Result<ReadData, Error> {
        let mut parser = Parser::new(&mut opened.cutter, origin, self.options)?;
        if survey::is_needed(self.options)
            && let Kind::Table(table) = &parser.kind
        {
            let survey = self.look(&mut opened, &parser, table)?;
            opened = again()?;
            opened.cutter.head(0);
            if let Kind::Table(table) = &mut parser.kind {
                table.learn(&survey, self.options)?;
                table.begin(&mut opened.cutter);
            }
        }
        let expected = match (opened.compression, opened.total) {
            (None, Some(total)) if total / 4 > self.block as u64 => expect(&parser, total, sample),
            _ => Expected::default(),
        };
        let alone = Workers::none();
        let Opened { cutter, done, total, .. } = opened;
        let go_on = || poll(self.control, &done, total, origin);
        let (data, tally) = read_all(cutter, &parser, expected, self.workers.unwrap_or(&alone), &go_on)?;
        Ok(match &parser.kind {
            Kind::Table(table) => {
                ReadData { data, recipe: Some(table.columns.recipe()), remarks: Remarks::new(&tally, &table.columns) }
            }
            Kind::Libsvm(_) => ReadData { data, recipe: None, remarks: Remarks::default() },
        })
    }
}

/// The length of a file, where the system knows it.
fn length(file: &File) -> Option<u64> {
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file());
    metadata.map(|metadata| metadata.len()).filter(|length| *length > 0)
}

/// How many rows and entries a text of so many bytes will have, from some places of it, and a little more.
fn expect(parser: &Parser, total: u64, sample: impl Fn(u64, &mut [u8]) -> io::Result<()>) -> Expected {
    const PLACES: u64 = 16;
    let mut room = vec![0; (total / PLACES).min(1 << 14) as usize];
    let (mut lines, mut colons) = (0, 0);
    for place in 0..PLACES {
        if sample(place * (total / PLACES), &mut room).is_err() {
            return Expected::default();
        }
        lines += memchr::memchr_iter(b'\n', &room).count();
        colons += memchr::memchr_iter(b':', &room).count();
    }
    // What is too much takes no memory: it is never written to.
    let scale =
        |count: usize| (count as f64 / (PLACES as f64 * room.len() as f64) * total as f64 * 1.1) as usize + 4096;
    let rows = scale(lines);
    match &parser.kind {
        Kind::Libsvm(_) => Expected { rows, entries: scale(colons) },
        // A number takes a byte, and its separator another.
        Kind::Table(table) if table.is_dense() => {
            let most = usize::try_from(total / 2).unwrap_or(usize::MAX);
            Expected { rows, entries: rows.saturating_mul(table.columns()).min(most) }
        }
        Kind::Table(_) => Expected::default(),
    }
}

/// A stream that is ready to be cut into blocks.
pub(crate) struct Opened<'s> {
    pub(crate) cutter: Cutter<'s>,
    done: Arc<AtomicU64>,
    total: Option<u64>,
    compression: Option<Compression>,
}

impl Opened<'_> {
    /// Asks whether to go on.
    pub(crate) fn go_on(&self, control: &dyn ReadControl, origin: &str) -> Result<(), Error> {
        poll(control, &self.done, self.total, origin)
    }
}

fn poll(control: &dyn ReadControl, done: &AtomicU64, total: Option<u64>, origin: &str) -> Result<(), Error> {
    match control.poll(ReadProgress { bytes: done.load(Ordering::Relaxed), total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted { path: origin.into() }),
    }
}

/// Counts the bytes that are read, and notes whether it is the stream itself that failed.
struct Counted<R> {
    source: R,
    done: Arc<AtomicU64>,
    has_failed: Arc<AtomicBool>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let result = self.source.read(room);
        match &result {
            Ok(count) => {
                self.done.fetch_add(*count as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() != io::ErrorKind::Interrupted => self.has_failed.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        result
    }
}

/// Reads a data file on the calling thread; [`Reader`] uses more.
///
/// # Errors
/// When the file cannot be read, or as [`read_bytes`] does.
pub fn read_path(path: &Path, options: &ReadOptions) -> Result<Dataset, Error> {
    Reader::new(options).read_path(path)
}

/// Reads data from a stream, such as standard input, to its end. Messages call it `origin`.
///
/// # Errors
/// When the stream fails or exceeds [`ReadOptions::max_bytes`], or as [`read_bytes`] does.
pub fn read_source(source: impl Read + Send, origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    Reader::new(options).read_source(source, origin)
}

/// Reads data from bytes. Messages call them `origin`; its extension helps to find the format.
///
/// A matrix is dense when at least half of its numbers are not zero, else sparse, whatever the format.
/// Labels are kept as they are written. Data compressed by gzip, bzip2, xz or zstd are decompressed.
///
/// # Errors
/// When the bytes are not text in one of the formats, with the place of the first fault; when they hold no rows;
/// when an option asks for a column that is not there.
pub fn read_bytes(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    Reader::new(options).read_bytes(bytes, origin)
}

/// The error of a file as a whole.
pub(crate) fn content(
    origin: &str,
    found: impl Into<String>,
    expected: impl Into<String>,
    help: impl Into<Help>,
) -> Error {
    let path = origin.into();
    Error::Content { path, found: found.into(), expected: expected.into(), help: help.into() }
}

/// The error that a data set found.
pub(crate) fn data_error(origin: &str, error: maxmargin::Error) -> Error {
    Error::Data { path: origin.into(), error }
}

/// The error of settings that do not go together, or not with the file.
pub(crate) fn settings_error(origin: &str, what: impl Into<String>, help: impl Into<Help>) -> Error {
    Error::Settings { path: origin.into(), what: what.into(), help: help.into() }
}

/// The error of a column that is asked for more than once.
pub(crate) fn asked_twice(origin: &str, name: &str, setting: Setting) -> Error {
    let what = format!("the column {} is asked for twice", quoted(name));
    settings_error(origin, what, Help::from("name each column once in ").name(setting))
}

/// The error of a text without a row.
pub(crate) fn no_rows(origin: &str) -> Error {
    content(origin, "no rows", "at least one", "give a file with at least one row")
}

/// Refuses what can be learnt only of all rows, where they come one after the other.
pub(crate) fn refuse_learning(origin: &str, options: &ReadOptions) -> Result<(), Error> {
    if !survey::is_needed(options) {
        return Ok(());
    }
    let (what, help) = match options.categorical {
        Categorical::None => {
            ("means and medians of columns", Help::from("choose ").set(Setting::Missing, "drop").and(" or zero"))
        }
        _ => ("the values of columns of words", Help::from("leave out ").name(Setting::Categorical)),
    };
    let what = format!("{what} are known only when all rows have been read");
    Err(settings_error(origin, what, help.and(", or give a file that can be read twice")))
}

/// The error of a table whose rows are all left out.
pub(crate) fn all_dropped(origin: &str) -> Error {
    let help = Help::from("fill them in: ").set(Setting::Missing, "mean").and(", median or zero");
    content(origin, "a missing value in every row", "a row without one", help)
}

/// The error of a file that cannot be read.
pub(crate) fn cannot_read(origin: &str, error: &io::Error) -> Error {
    let help = match error.kind() {
        io::ErrorKind::NotFound => "check the name and the folder",
        io::ErrorKind::PermissionDenied => "allow yourself to read it, or choose another file",
        io::ErrorKind::IsADirectory => "name a file in it",
        _ => "check that it is a file that can be read",
    };
    Error::Open { path: origin.into(), reason: reason(error), help: help.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let data = read_bytes(b"\xef\xbb\xbfx,y\n1,2\n", "t.csv", &ReadOptions::default()).unwrap();
        assert_eq!(data.names(), Some(&["x".to_string()][..]));
    }

    #[test]
    fn a_stream_is_not_read_beyond_the_limit() {
        let options = ReadOptions { max_bytes: Some(7), ..ReadOptions::default() };
        assert!(read_source(&b"1 1:1 \n"[..], "-", &options).is_ok());
        let endless = std::io::repeat(b'1');
        let error = read_source(endless, "-", &options).unwrap_err();
        assert_eq!(error.to_string(), "-: the data are more than the limit of 7 B");
    }

    #[test]
    fn a_file_that_is_not_there_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_path(&folder.path().join("none.svm"), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().ends_with("none.svm\": there is no such file"), "{error}");
        assert_eq!(error.help(), "check the name and the folder");
        let error = read_path(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().ends_with("\": it is a folder"), "{error}");
    }
}
