//! Writing a cache file (see `cache_file.rs` for the format): rows arrive block by block, in bounded memory.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use maxmargin::data::{Answers, Dataset, Label, Matrix};

use crate::atomic::AtomicFile;
use crate::cache_file::{BlockEntry, CacheFile, Directory, FORMAT, HEAD_BYTES, Layout, MAGIC, Precision};
use crate::error::Error;
use crate::write::Shortest;

/// A block is written once it has this many bytes.
const BLOCK_BYTES: usize = 256 << 10;

/// Writes a cache file, whole or not at all: it is there once [`CacheWriter::finish`] has been called.
///
/// Memory: two blocks of about 256 KiB, or two rows where one is longer. The file's blocks do not depend on how the rows were
/// cut into data sets, as long as these are of one kind, dense or sparse.
pub struct CacheWriter {
    file: AtomicFile,
    block_bytes: usize,
    /// Where the next block begins.
    offset: u64,
    /// What all data sets share, once there has been one.
    directory: Option<Directory>,
    /// The place of each label, by its text; spellings of a number share one.
    known: HashMap<String, u32>,
    /// The place of each label that is a number, by the bits of the number.
    numbers: HashMap<u64, u32>,
    pending: Pending,
}

/// Rows that are not yet written.
#[derive(Default)]
struct Pending {
    dense: bool,
    columns: usize,
    labels: Vec<u32>,
    weights: Vec<f64>,
    groups: Vec<i64>,
    lengths: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Whether a number needs double precision.
    double: bool,
}

impl Pending {
    fn bytes(&self) -> usize {
        let (row, entry) = (4 + self.weights.len().min(1) * 8 + self.groups.len().min(1) * 8, 8);
        let (row, entry) = if self.dense { (row, entry) } else { (row + 4, entry + 4) };
        self.labels.len() * row + self.values.len() * entry
    }
}

impl CacheWriter {
    /// Begins to write a cache file.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn create(path: &Path) -> Result<Self, Error> {
        CacheWriter::with_blocks_of(path, BLOCK_BYTES)
    }

    /// [`CacheWriter::create`] with blocks of another size.
    ///
    /// # Errors
    /// When the file cannot be written there.
    pub fn with_blocks_of(path: &Path, bytes: usize) -> Result<Self, Error> {
        CacheWriter::begin(AtomicFile::create(path)?, bytes)
    }

    /// [`CacheWriter::with_blocks_of`] for a file without a name, in this folder: it is gone when it is closed, however the
    /// program ends. See [`CacheWriter::finish_nameless`].
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn nameless_in(folder: &Path, bytes: usize) -> Result<Self, Error> {
        CacheWriter::begin(AtomicFile::nameless(folder, "the cache of the data")?, bytes)
    }

    fn begin(mut file: AtomicFile, bytes: usize) -> Result<Self, Error> {
        let head = [&MAGIC[..], &[FORMAT]].concat();
        file.write_all(&head).map_err(|error| file.write_error(error))?;
        Ok(CacheWriter {
            file,
            block_bytes: bytes,
            offset: HEAD_BYTES,
            directory: None,
            known: HashMap::new(),
            numbers: HashMap::new(),
            pending: Pending::default(),
        })
    }

    /// Adds rows. The first data set says whether the file has weights, group numbers and names.
    ///
    /// # Errors
    /// When the data set has no weights, group numbers or names where those before it had, or the other way round; or the
    /// file cannot be written.
    pub fn push(&mut self, data: &Dataset) -> Result<(), Error> {
        self.check_fit(data)?;
        // In the order of appearance, however the rows are cut into data sets.
        let mut codes: Vec<Option<u32>> =
            data.answers().labels().map_or_else(Vec::new, |labels| vec![None; labels.classes().len()]);
        let dense = matches!(data.matrix(), Matrix::Dense(_));
        let fits = |pending: &Pending| pending.dense == dense && (!dense || pending.columns == data.columns());
        if !fits(&self.pending) {
            self.write_block()?;
        }
        for row in 0..data.rows() {
            let code = match data.answers() {
                Answers::Classes(labels) => {
                    let class = labels.codes()[row] as usize;
                    let code = codes[class].unwrap_or_else(|| self.code(labels.get(row)));
                    codes[class] = Some(code);
                    code
                }
                Answers::Numbers(numbers) => self.code_of_number(numbers[row]),
                Answers::None => self.code_of_number(0.0),
            };
            let pending = &mut self.pending;
            pending.dense = dense;
            pending.columns = pending.columns.max(data.columns());
            pending.labels.push(code);
            pending.weights.extend(data.weights().map(|weights| weights[row]));
            pending.groups.extend(data.groups().map(|groups| groups[row]));
            let before = pending.values.len();
            data.matrix().visit(row, |column, value| {
                if !dense {
                    pending.indices.push(column as u32);
                }
                pending.double |= f64::from(value as f32).to_bits() != value.to_bits();
                pending.values.push(value);
            });
            if !dense {
                pending.lengths.push((pending.values.len() - before) as u32);
            }
            if pending.bytes() >= self.block_bytes {
                self.write_block()?;
            }
        }
        Ok(())
    }

    /// Makes the file, durably. Returns how many rows it has.
    ///
    /// # Errors
    /// When there were no rows, or the file cannot be written.
    pub fn finish(self) -> Result<u64, Error> {
        let (file, rows) = self.write_end()?;
        file.commit()?;
        Ok(rows)
    }

    /// Ends a file without a name, and opens it for reading.
    ///
    /// # Errors
    /// When there were no rows, or the file cannot be written.
    pub fn finish_nameless(self) -> Result<CacheFile, Error> {
        let (file, _) = self.write_end()?;
        let name = file.shown().to_string();
        CacheFile::of_file(name, file.into_file())
    }

    fn write_end(mut self) -> Result<(AtomicFile, u64), Error> {
        self.write_block()?;
        let Some(directory) = self.directory.filter(|directory| directory.rows > 0) else {
            return Err(Error::NotWritable {
                what: "there are no rows to write".into(),
                help: "give data with at least one row".into(),
            });
        };
        let end = directory.end().map_err(|error| self.file.write_error(error.into()))?;
        self.file.write_all(&end).map_err(|error| self.file.write_error(error))?;
        Ok((self.file, directory.rows))
    }

    /// Checks that the data set has what those before it had, and takes note of its columns.
    fn check_fit(&mut self, data: &Dataset) -> Result<(), Error> {
        let directory = self.directory.get_or_insert_with(|| Directory {
            program: env!("CARGO_PKG_VERSION").into(),
            rows: 0,
            columns: 0,
            entries: 0,
            weights: data.weights().is_some(),
            groups: data.groups().is_some(),
            open_columns: data.has_open_columns(),
            classes: Vec::new(),
            names: data.names().map(<[String]>::to_vec),
            blocks: Vec::new(),
        });
        let fault = [
            ("weights", directory.weights != data.weights().is_some()),
            ("group numbers", directory.groups != data.groups().is_some()),
            ("column names", directory.names.as_deref() != data.names()),
        ]
        .into_iter()
        .find_map(|(name, differ)| differ.then_some(name));
        if let Some(name) = fault {
            return Err(Error::NotWritable {
                what: format!("the {name} of row {} are not like those of the rows before it", directory.rows + 1),
                help: "give all rows the same kind of weights, group numbers and column names".into(),
            });
        }
        directory.columns = directory.columns.max(data.columns() as u64);
        Ok(())
    }

    /// The place of a label in the file's classes.
    fn code(&mut self, label: &Label) -> u32 {
        let Some(directory) = &mut self.directory else { return 0 };
        if let Some(&code) = self.known.get(label.text()) {
            return code;
        }
        let next = directory.classes.len() as u32;
        let place = match label.number() {
            // A zero has no sign.
            Some(number) => *self.numbers.entry((number + 0.0).to_bits()).or_insert(next),
            None => next,
        };
        if place == next {
            directory.classes.push(label.clone());
        }
        self.known.insert(label.text().to_string(), place);
        place
    }

    /// The place of a number in the file's classes, where it is written in the fewest digits that read back as it.
    fn code_of_number(&mut self, number: f64) -> u32 {
        let Some(directory) = &mut self.directory else { return 0 };
        let classes = &mut directory.classes;
        *self.numbers.entry((number + 0.0).to_bits()).or_insert_with(|| {
            classes.push(Label::new(Shortest(number + 0.0).to_string()));
            classes.len() as u32 - 1
        })
    }

    /// Writes the pending rows, if there are any.
    fn write_block(&mut self) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        let Some(directory) = self.directory.as_mut().filter(|_| !pending.labels.is_empty()) else { return Ok(()) };
        let mut bytes = Vec::with_capacity(pending.bytes());
        pending.labels.iter().for_each(|code| bytes.extend(code.to_le_bytes()));
        pending.weights.iter().for_each(|weight| bytes.extend(weight.to_le_bytes()));
        pending.groups.iter().for_each(|group| bytes.extend(group.to_le_bytes()));
        pending.lengths.iter().for_each(|length| bytes.extend(length.to_le_bytes()));
        pending.indices.iter().for_each(|index| bytes.extend(index.to_le_bytes()));
        if pending.double {
            pending.values.iter().for_each(|value| bytes.extend(value.to_le_bytes()))
        } else {
            pending.values.iter().for_each(|&value| bytes.extend((value as f32).to_le_bytes()))
        }
        self.file.write_all(&bytes).map_err(|error| self.file.write_error(error))?;
        directory.blocks.push(BlockEntry {
            offset: self.offset,
            rows: pending.labels.len() as u64,
            columns: pending.columns as u64,
            entries: pending.values.len() as u64,
            layout: if pending.dense { Layout::Dense } else { Layout::Sparse },
            values: if pending.double { Precision::F64 } else { Precision::F32 },
            checksum: blake3::hash(&bytes).to_hex().to_string(),
        });
        directory.rows += pending.labels.len() as u64;
        directory.entries += pending.values.len() as u64;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
