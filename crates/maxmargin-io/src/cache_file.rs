//! The cache file (`.mmc`): a data set as numbers, read at the speed of the disk, a block at a time or whole.
//!
//! ```text
//! 16 bytes         "maxmargin-cache" and one byte: the format, 1
//! blocks           one after the other, without gaps, each of about 256 KiB or one row
//! directory        JSON: { "program": "0.1.0", "rows": n, "columns": d, "entries": e, "weights": false, "groups": false,
//!                    "open_columns": true, "classes": ["+1", "-1"], "names": null, "blocks": [
//!                      { "offset": 16, "rows": r, "columns": c, "entries": e, "layout": "sparse", "values": "f32",
//!                        "checksum": "…" }, … ] }
//! 48 bytes         length of the directory, U64; the directory's BLAKE3 checksum; "mmcache" and the format once more
//!
//! block            labels  U32 [r]          places in "classes"
//!                  weights F64 [r]          where the file has weights
//!                  groups  I64 [r]          where the file has group numbers
//!                  lengths U32 [r]          sparse: how many entries each row has
//!                  indices U32 [e]          sparse: the column of each entry, increasing within a row
//!                  values  F32|F64 [e]      the numbers; a dense block has e = r c of them, row after row
//! ```
//!
//! All numbers are little-endian. Values are in single precision where that loses nothing in the whole block. A block's
//! checksum is BLAKE3 over its bytes, so a block can be read alone; its length follows from its counts. Classes are in
//! the order of appearance; numbers to learn are classes in their fewest digits, and rows without answers have the class 0. A block has no more columns than the file: where it has fewer, the others are zeros. No claim of
//! a file takes memory before it has been compared with the bytes that are there. Format numbers only grow: older files are
//! read for ever, newer ones refused by name.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use maxmargin::data::{Dataset, Label, Labels, Matrix, Values};
use maxmargin::out_of_core::BlockSource;
use serde::{Deserialize, Serialize};

use crate::error::{Error, reason};

/// The first bytes of a cache file, whatever its format.
pub(crate) const MAGIC: &[u8; 15] = b"maxmargin-cache";
/// The last bytes, but for the format.
const TAIL: &[u8; 7] = b"mmcache";
/// The format written.
pub(crate) const FORMAT: u8 = 1;
/// The magic and the format.
pub(crate) const HEAD_BYTES: u64 = 16;
/// Length, checksum, tail.
const END_BYTES: u64 = 48;

/// How the numbers of a block are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Layout {
    Dense,
    Sparse,
}

/// The precision of a block's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Precision {
    F32,
    F64,
}

/// What the directory says of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockEntry {
    pub(crate) offset: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) entries: u64,
    pub(crate) layout: Layout,
    pub(crate) values: Precision,
    pub(crate) checksum: String,
}

/// What stands at the end of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Directory {
    pub(crate) program: String,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) entries: u64,
    pub(crate) weights: bool,
    pub(crate) groups: bool,
    pub(crate) open_columns: bool,
    pub(crate) classes: Vec<Label>,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) blocks: Vec<BlockEntry>,
}

impl BlockEntry {
    /// The bytes of the block; `None` when its counts are no counts of a block.
    fn bytes(&self, weights: bool, groups: bool) -> Option<u64> {
        let sparse = self.layout == Layout::Sparse;
        if !sparse && self.rows.checked_mul(self.columns) != Some(self.entries) {
            return None;
        }
        let a_row = 4 + 8 * u64::from(weights) + 8 * u64::from(groups) + 4 * u64::from(sparse);
        let number = if self.values == Precision::F32 { 4 } else { 8 };
        let an_entry = number + 4 * u64::from(sparse);
        self.rows.checked_mul(a_row)?.checked_add(self.entries.checked_mul(an_entry)?)
    }
}

impl Directory {
    /// The directory and all after it, as bytes.
    pub(crate) fn end(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec(self)?;
        let (length, checksum) = (bytes.len() as u64, blake3::hash(&bytes));
        bytes.extend(length.to_le_bytes());
        bytes.extend(checksum.as_bytes());
        bytes.extend(TAIL);
        bytes.push(FORMAT);
        Ok(bytes)
    }

    /// Checks that the blocks fill the file up to `end` and add up to what is claimed.
    fn check(&self, end: u64) -> Result<(), String> {
        let (mut offset, mut rows, mut entries) = (HEAD_BYTES, 0u64, 0u64);
        for (number, block) in self.blocks.iter().enumerate() {
            let bytes = block.bytes(self.weights, self.groups).filter(|_| block.columns <= self.columns);
            let next = bytes.and_then(|bytes| offset.checked_add(bytes)).filter(|&next| next <= end);
            let Some(next) = next.filter(|_| block.offset == offset) else {
                return Err(format!("block {} does not lie in it", number + 1));
            };
            offset = next;
            // Each row takes bytes, so these cannot overflow.
            (rows, entries) = (rows + block.rows, entries + block.entries);
        }
        if offset != end || rows != self.rows || entries != self.entries {
            return Err("its blocks do not add up".into());
        }
        if self.columns >= u64::from(u32::MAX) {
            return Err(format!("it claims {} columns", self.columns));
        }
        if self.names.as_ref().is_some_and(|names| names.len() as u64 != self.columns) {
            return Err("its names are not one a column".into());
        }
        Ok(())
    }
}

/// Where the bytes are.
enum Bytes {
    File(Mutex<File>),
    Memory(Vec<u8>),
}

impl Bytes {
    /// Reads a span that has been found to lie within them.
    fn read(&self, span: Range<u64>) -> io::Result<Vec<u8>> {
        match self {
            Bytes::Memory(bytes) => Ok(bytes[span.start as usize..span.end as usize].to_vec()),
            Bytes::File(file) => {
                let mut bytes = vec![0; (span.end - span.start) as usize];
                let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                file.seek(SeekFrom::Start(span.start))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes)
            }
        }
    }
}

/// A cache file whose directory has been read and checked. Blocks are read when they are asked for, from any thread.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin_io::{CacheFile, CacheWriter};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("iris.mmc");
/// let mut writer = CacheWriter::create(&path)?;
/// writer.push(&embedded("iris").unwrap())?;
/// writer.finish()?;
///
/// let file = CacheFile::open(&path)?;
/// assert_eq!((file.rows(), file.columns(), file.blocks()), (150, 4, 1));
/// assert_eq!(file.read_block(0)?.matrix().row(0), [5.1, 3.5, 1.4, 0.2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CacheFile {
    name: String,
    bytes: Bytes,
    directory: Directory,
    /// The classes, sorted, and the place among them of each class of the directory.
    classes: Vec<Label>,
    places: Vec<u32>,
}

impl CacheFile {
    /// Opens a cache file, and checks its directory.
    ///
    /// # Errors
    /// When it cannot be read, is no cache file, damaged, or of a newer format.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.to_string_lossy().into_owned();
        let file = File::open(path).map_err(|error| cannot_read(&name, &error))?;
        CacheFile::of_file(name, file)
    }

    /// A cache file that is open. Messages call it `name`.
    pub(crate) fn of_file(name: String, file: File) -> Result<Self, Error> {
        let length = file.metadata().map_err(|error| cannot_read(&name, &error))?.len();
        CacheFile::new(name, Bytes::File(Mutex::new(file)), length)
    }

    /// A cache file that is in memory. Messages call it `name`.
    ///
    /// # Errors
    /// As [`CacheFile::open`].
    pub fn from_bytes(bytes: Vec<u8>, name: &str) -> Result<Self, Error> {
        let length = bytes.len() as u64;
        CacheFile::new(name.into(), Bytes::Memory(bytes), length)
    }

    fn new(name: String, bytes: Bytes, length: u64) -> Result<Self, Error> {
        let read = |span: Range<u64>| bytes.read(span).map_err(|error| cannot_read(&name, &error));
        let other = || Error::OwnFile {
            path: name.clone(),
            what: "this is no cache file, or only a part of one".into(),
            help: "name a cache file that convert has written".into(),
        };
        if length < HEAD_BYTES + END_BYTES {
            return Err(other());
        }
        let head = read(0..HEAD_BYTES)?;
        if !head.starts_with(MAGIC) {
            return Err(other());
        }
        match head[MAGIC.len()] {
            FORMAT => {}
            0 => return Err(damaged(&name, "its format is 0")),
            format => {
                return Err(Error::OwnFile {
                    path: name.clone(),
                    what: format!("the cache is of format {format}, and this program reads formats up to {FORMAT}"),
                    help: "update maxmargin".into(),
                });
            }
        }
        let end = read(length - END_BYTES..length)?;
        if !end.ends_with(&[&TAIL[..], &[FORMAT]].concat()) {
            return Err(damaged(&name, "its end is missing"));
        }
        let claimed = u64::from_le_bytes(end[..8].try_into().unwrap_or_default());
        if claimed > length - HEAD_BYTES - END_BYTES {
            return Err(damaged(&name, "its directory does not lie in it"));
        }
        let start = length - END_BYTES - claimed;
        let text = read(start..length - END_BYTES)?;
        if blake3::hash(&text).as_bytes() != &end[8..40] {
            return Err(damaged(&name, "the checksum of its directory does not match"));
        }
        let directory: Directory = serde_json::from_slice(&text).map_err(|error| damaged(&name, &error.to_string()))?;
        directory.check(start).map_err(|what| damaged(&name, &what))?;
        let all: Vec<u32> = (0..directory.classes.len() as u32).collect();
        let labels = Labels::from_codes(&directory.classes, &all);
        let labels = labels.filter(|labels| labels.classes().len() == all.len());
        let labels = labels.ok_or_else(|| damaged(&name, "a class is there twice"))?;
        let (classes, places) = (labels.classes().to_vec(), labels.codes().to_vec());
        Ok(CacheFile { name, bytes, directory, classes, places })
    }

    /// How many rows the file has.
    pub fn rows(&self) -> u64 {
        self.directory.rows
    }

    /// How many columns the file has.
    pub fn columns(&self) -> usize {
        self.directory.columns as usize
    }

    /// How many entries are stored.
    pub fn entries(&self) -> u64 {
        self.directory.entries
    }

    /// How many blocks the file has.
    pub fn blocks(&self) -> usize {
        self.directory.blocks.len()
    }

    /// How many rows a block has.
    ///
    /// # Panics
    /// When `block` is out of range, here and in the methods below.
    pub fn block_rows(&self, block: usize) -> usize {
        self.directory.blocks[block].rows as usize
    }

    /// Bytes that a block takes in memory once it is read.
    pub fn block_bytes(&self, block: usize) -> u64 {
        let entry = &self.directory.blocks[block];
        let number = if entry.values == Precision::F32 { 4 } else { 8 };
        let widened = entry.layout == Layout::Dense && entry.columns < self.directory.columns;
        let sparse = entry.layout == Layout::Sparse || widened;
        let a_row =
            4 + 8 * u64::from(sparse) + 8 * u64::from(self.directory.weights) + 8 * u64::from(self.directory.groups);
        entry.rows * a_row + entry.entries * (number + 4 * u64::from(sparse))
    }

    /// Bytes that working through the file takes, where `held` blocks are in memory at a time: the largest of them, and
    /// the bytes of the file that one is made of.
    pub fn working_bytes(&self, held: u64) -> u64 {
        let largest = (0..self.blocks()).map(|block| self.block_bytes(block)).max().unwrap_or(0);
        largest.saturating_mul(held.saturating_add(1))
    }

    /// The labels of all rows, sorted.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// The columns' names, where the data had them.
    pub fn names(&self) -> Option<&[String]> {
        self.directory.names.as_deref()
    }

    /// Whether the rows have weights.
    pub fn has_weights(&self) -> bool {
        self.directory.weights
    }

    /// Whether columns may be missing at the end, as in LIBSVM text.
    pub fn has_open_columns(&self) -> bool {
        self.directory.open_columns
    }

    /// What tells this file from others: the checksum of its directory, which holds those of all blocks.
    pub fn checksum(&self) -> String {
        serde_json::to_vec(&self.directory)
            .map_or_else(|_| String::new(), |text| blake3::hash(&text).to_hex().to_string())
    }

    /// Reads a block: its rows in all columns of the file, with their labels, weights and group numbers.
    ///
    /// # Errors
    /// When the block cannot be read, or is damaged.
    pub fn read_block(&self, block: usize) -> Result<Dataset, Error> {
        let mut raw = self.read_raw(block)?;
        let matrix = raw.take_matrix(self.columns()).map_err(|error| self.damaged_block(block, &error.to_string()))?;
        self.dataset(matrix, &raw.labels, raw.weights, raw.groups)
            .map_err(|error| self.damaged_block(block, &error.to_string()))
    }

    /// A data set with the names of this file.
    fn dataset(
        &self,
        matrix: Matrix,
        codes: &[u32],
        weights: Option<Vec<f64>>,
        groups: Option<Vec<i64>>,
    ) -> Result<Dataset, maxmargin::Error> {
        let labels = Labels::from_codes(&self.classes, codes).unwrap_or_else(|| Labels::new([]));
        let mut data = Dataset::new(matrix, labels)?;
        if self.directory.open_columns {
            data = data.with_open_columns();
        }
        if let Some(weights) = weights {
            data = data.with_weights(weights)?;
        }
        if let Some(groups) = groups {
            data = data.with_groups(groups)?;
        }
        match self.names() {
            Some(names) => data.with_names(names.to_vec()),
            None => Ok(data),
        }
    }

    /// Reads all rows.
    ///
    /// The matrix is dense when all blocks are, or when at least half of its numbers are not zero; in single precision when
    /// all blocks are.
    ///
    /// # Errors
    /// When a block cannot be read, or is damaged.
    pub fn read(&self) -> Result<Dataset, Error> {
        let blocks = &self.directory.blocks;
        if let [_] = blocks.as_slice() {
            return self.read_block(0);
        }
        let full = |block: &BlockEntry| block.layout == Layout::Dense && block.columns == self.directory.columns;
        let single = blocks.iter().all(|block| block.values == Precision::F32);
        let (mut labels, mut weights, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        let (mut singles, mut doubles): (Vec<f32>, Vec<f64>) = (Vec::new(), Vec::new());
        let all_full = blocks.iter().all(full);
        let (mut offsets, mut indices) = (vec![0u64], Vec::new());
        for number in 0..blocks.len() {
            let mut raw = self.read_raw(number)?;
            labels.extend(&raw.labels);
            weights.extend(raw.weights.iter().flatten());
            groups.extend(raw.groups.iter().flatten());
            if !all_full {
                let (lengths, columns) = raw.take_entries();
                let end = *offsets.last().unwrap_or(&0);
                offsets.extend(lengths.iter().scan(end, |end, &length| {
                    *end += u64::from(length);
                    Some(*end)
                }));
                indices.extend(columns);
            }
            match raw.values {
                Numbers::F32(values) if single => singles.extend(values),
                Numbers::F32(values) => doubles.extend(values.into_iter().map(f64::from)),
                Numbers::F64(values) => doubles.extend(values),
            }
        }
        let (rows, columns) = (labels.len(), self.columns());
        let values = if single { Values::from(singles) } else { Values::from(doubles) };
        let matrix = if all_full {
            Matrix::dense(rows, columns, values)
        } else {
            let cells = rows.checked_mul(columns);
            let half_full = cells.is_some_and(|cells| values.len() >= cells.div_ceil(2));
            Matrix::sparse(rows, columns, offsets, indices, values)
                .map(|sparse| if half_full { sparse.to_dense() } else { sparse })
        };
        let weights = self.directory.weights.then_some(weights);
        let groups = self.directory.groups.then_some(groups);
        matrix
            .and_then(|matrix| self.dataset(matrix, &labels, weights, groups))
            .map_err(|error| damaged(&self.name, &error.to_string()))
    }

    /// Reads the bytes of a block, and makes numbers of them.
    fn read_raw(&self, number: usize) -> Result<RawBlock, Error> {
        let entry = &self.directory.blocks[number];
        // Checked when the file was opened.
        let length = entry.bytes(self.directory.weights, self.directory.groups).unwrap_or(0);
        let bytes = self.bytes.read(entry.offset..entry.offset + length).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged_block(number, "its end is missing"),
            _ => cannot_read(&self.name, &error),
        })?;
        if blake3::hash(&bytes).to_hex().as_str() != entry.checksum {
            return Err(self.damaged_block(number, "its checksum does not match"));
        }
        RawBlock::new(&bytes, entry, &self.directory, &self.places).map_err(|what| self.damaged_block(number, what))
    }

    fn damaged_block(&self, number: usize, what: &str) -> Error {
        damaged(&self.name, &format!("block {}: {what}", number + 1))
    }
}

/// A cache file can be trained on block by block.
impl BlockSource for CacheFile {
    type Error = Error;

    fn blocks(&self) -> usize {
        CacheFile::blocks(self)
    }

    fn block_rows(&self, block: usize) -> usize {
        CacheFile::block_rows(self, block)
    }

    fn columns(&self) -> usize {
        CacheFile::columns(self)
    }

    fn classes(&self) -> &[Label] {
        CacheFile::classes(self)
    }

    fn names(&self) -> Option<&[String]> {
        CacheFile::names(self)
    }

    fn has_weights(&self) -> bool {
        CacheFile::has_weights(self)
    }

    fn working_bytes(&self) -> u64 {
        CacheFile::working_bytes(self, 2)
    }

    fn read(&self, block: usize) -> Result<Dataset, Error> {
        self.read_block(block)
    }
}

/// Reads a whole cache file.
///
/// # Errors
/// When it cannot be read, is no cache file, damaged, or of a newer format.
pub fn read_cache(path: &Path) -> Result<Dataset, Error> {
    CacheFile::open(path)?.read()
}

/// Whether a file begins as a cache file does. What cannot be read is none.
pub fn is_cache(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok_and(|()| &head == MAGIC)
}

/// The numbers of a block, in the precision they are stored in.
enum Numbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// A block as it stands in the file, its labels turned into places among the sorted classes.
struct RawBlock {
    labels: Vec<u32>,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<i64>>,
    columns: usize,
    /// Entries a row and their columns; none for a dense block.
    sparse: Option<(Vec<u32>, Vec<u32>)>,
    values: Numbers,
}

impl RawBlock {
    fn new(bytes: &[u8], entry: &BlockEntry, directory: &Directory, places: &[u32]) -> Result<Self, &'static str> {
        let (rows, entries) = (entry.rows as usize, entry.entries as usize);
        let mut rest = bytes;
        let mut take = |length: usize| {
            let (part, left) = rest.split_at_checked(length).ok_or("it is cut")?;
            rest = left;
            Ok::<_, &'static str>(part)
        };
        let codes = numbers(take(4 * rows)?, u32::from_le_bytes);
        let labels: Option<Vec<u32>> = codes.into_iter().map(|code| places.get(code as usize).copied()).collect();
        let labels = labels.ok_or("a label is none of the classes")?;
        let weights = if directory.weights { Some(numbers(take(8 * rows)?, f64::from_le_bytes)) } else { None };
        let groups = if directory.groups { Some(numbers(take(8 * rows)?, i64::from_le_bytes)) } else { None };
        let sparse = match entry.layout {
            Layout::Dense => None,
            Layout::Sparse => {
                let lengths = numbers(take(4 * rows)?, u32::from_le_bytes);
                if lengths.iter().map(|&length| u64::from(length)).sum::<u64>() != entry.entries {
                    return Err("its rows do not add up");
                }
                Some((lengths, numbers(take(4 * entries)?, u32::from_le_bytes)))
            }
        };
        let values = match entry.values {
            Precision::F32 => Numbers::F32(numbers(take(4 * entries)?, f32::from_le_bytes)),
            Precision::F64 => Numbers::F64(numbers(take(8 * entries)?, f64::from_le_bytes)),
        };
        Ok(RawBlock { labels, weights, groups, columns: entry.columns as usize, sparse, values })
    }

    /// Takes out the entries a row and their columns, also of a dense block.
    fn take_entries(&mut self) -> (Vec<u32>, Vec<u32>) {
        match self.sparse.take() {
            Some(entries) => entries,
            None => {
                let rows = self.labels.len();
                let indices = (0..rows).flat_map(|_| 0..self.columns as u32).collect();
                (vec![self.columns as u32; rows], indices)
            }
        }
    }

    /// Takes out the numbers as a matrix of so many columns; a dense block of fewer becomes sparse.
    fn take_matrix(&mut self, columns: usize) -> Result<Matrix, maxmargin::Error> {
        let values = match &mut self.values {
            Numbers::F32(values) => Values::from(std::mem::take(values)),
            Numbers::F64(values) => Values::from(std::mem::take(values)),
        };
        if self.sparse.is_none() && self.columns == columns {
            return Matrix::dense(self.labels.len(), columns, values);
        }
        let (lengths, indices) = self.take_entries();
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        offsets.push(0u64);
        let mut end = 0;
        for length in lengths {
            end += u64::from(length);
            offsets.push(end);
        }
        Matrix::sparse(self.labels.len(), columns, offsets, indices, values)
    }
}

/// Bytes as numbers.
fn numbers<const N: usize, T>(bytes: &[u8], from: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| from(*chunk)).collect()
}

fn damaged(name: &str, what: &str) -> Error {
    Error::OwnFile {
        path: name.into(),
        what: format!("the cache file is damaged: {what}"),
        help: "make the cache again with convert, or copy the file again".into(),
    }
}

fn cannot_read(name: &str, error: &io::Error) -> Error {
    Error::Open { path: name.into(), reason: reason(error), help: "name a cache file that convert has written".into() }
}
