//! Rows a block at a time, from any file or pipe: data that is never in memory as a whole.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use maxmargin::data::{Dataset, Label};

use crate::arrow_file::ArrowFile;
use crate::binary::{self, first_bytes, first_format};
use crate::cache_file::CacheFile;
use crate::error::{Error, reason};
use crate::npy::NpyBlocks;
use crate::parquet_file::ParquetFile;
use crate::read::{Format, ReadOptions, Reader};

/// The rows of some data, a block after the other, each a data set of at least one row.
///
/// All formats but npz are read in bounded memory: a block of about 256 KiB, a group of rows, a MiB of text. Columns may grow from
/// block to block where the data has open columns (LIBSVM text). The first error is the last item.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin_io::{Blocks, CacheWriter, ReadOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("iris.mmc");
/// let mut writer = CacheWriter::with_blocks_of(&path, 1000)?;
/// writer.push(&embedded("iris").unwrap())?;
/// writer.finish()?;
///
/// let options = ReadOptions::default();
/// let blocks = Blocks::open(&path, &options)?;
/// assert_eq!(blocks.rows(), Some(150));
/// let rows: Vec<usize> = blocks.map(|block| block.map(|block| block.rows())).collect::<Result<_, _>>()?;
/// assert_eq!((rows.len(), rows.iter().sum::<usize>()), (6, 150));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Blocks<'a> {
    blocks: Box<dyn Iterator<Item = Result<Dataset, Error>> + Send + 'a>,
    rows: Option<u64>,
    classes: Option<Vec<Label>>,
    grows: bool,
    failed: bool,
}

impl<'a> Blocks<'a> {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read, or its beginning does not read as asked.
    pub fn open(path: &Path, options: &'a ReadOptions) -> Result<Self, Error> {
        let origin = path.to_string_lossy().into_owned();
        let cannot_read = |error: std::io::Error| Error::Open {
            path: origin.clone(),
            reason: reason(&error),
            help: "check that it is a file that can be read".into(),
        };
        let mut file = File::open(path).map_err(cannot_read)?;
        let is_file = file.metadata().map_err(cannot_read)?.is_file();
        let first = first_bytes(&mut file).map_err(cannot_read)?;
        match first_format(&first, options.format).filter(|_| is_file) {
            Some(Format::Cache) => Blocks::of_cache(CacheFile::open(path)?, options, origin),
            Some(Format::Parquet) => Blocks::of_parquet(ParquetFile::open(path, options)?),
            Some(format @ Format::Arrow) => Ok(Blocks::of(ArrowFile::open(path, options, format)?)),
            _ => Blocks::from_source(Cursor::new(first).chain(file), &origin, options),
        }
    }

    /// Reads from a stream, such as standard input. Messages call it `origin`.
    ///
    /// A cache, Parquet, npz or Arrow file is read from its end, so that it has to be read whole first.
    ///
    /// # Errors
    /// When the beginning cannot be read, or does not read as asked.
    pub fn from_source(
        mut source: impl Read + Send + 'static,
        origin: &str,
        options: &'a ReadOptions,
    ) -> Result<Self, Error> {
        let cannot_read = |error: std::io::Error| Error::Open {
            path: origin.into(),
            reason: reason(&error),
            help: "check that it is a file that can be read".into(),
        };
        let first = first_bytes(&mut source).map_err(cannot_read)?;
        let format = first_format(&first, options.format);
        let mut source = Cursor::new(first).chain(source);
        let mut whole = || {
            let mut bytes = Vec::new();
            source.read_to_end(&mut bytes).map(|_| bytes).map_err(cannot_read)
        };
        match format {
            Some(Format::Cache) => Blocks::of_cache(CacheFile::from_bytes(whole()?, origin)?, options, origin.into()),
            Some(Format::Parquet) => Blocks::of_parquet(ParquetFile::from_bytes(whole()?, origin, options)?),
            Some(format @ Format::Npz) => {
                Ok(Blocks::of(std::iter::once(binary::read(&whole()?, origin, options, format)?).map(Ok)))
            }
            Some(Format::Arrow) => Ok(Blocks::of(ArrowFile::from_bytes(whole()?, origin, options)?)),
            Some(Format::ArrowStream) => Ok(Blocks::of(ArrowFile::from_stream(Box::new(source), origin, options)?)),
            Some(Format::Npy) => Ok(Blocks::of(NpyBlocks::new(Box::new(source), origin, options)?)),
            _ => text_blocks(source, origin, options),
        }
    }

    /// Blocks of which nothing is known beforehand.
    fn of(blocks: impl Iterator<Item = Result<Dataset, Error>> + Send + 'a) -> Self {
        Blocks { blocks: Box::new(blocks), rows: None, classes: None, grows: false, failed: false }
    }

    fn of_cache(file: CacheFile, options: &'a ReadOptions, origin: String) -> Result<Self, Error> {
        binary::refuse_label(&origin, options)?;
        let (rows, classes) = (file.rows(), file.classes().to_vec());
        let blocks = (0..file.blocks())
            .map(move |block| file.read_block(block).and_then(|data| binary::select(data, &origin, options)));
        Ok(Blocks { rows: Some(rows), classes: Some(classes), ..Blocks::of(blocks) })
    }

    fn of_parquet(file: ParquetFile) -> Result<Self, Error> {
        Ok(Blocks { rows: Some(file.rows()), ..Blocks::of(file) })
    }

    /// How many rows there are, where that is known beforehand.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Whether a block may have more columns than the one before.
    pub fn may_grow(&self) -> bool {
        self.grows
    }

    /// The labels, sorted, where they are known beforehand.
    pub fn classes(&self) -> Option<&[Label]> {
        self.classes.as_deref()
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Dataset, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let block = self.blocks.next()?;
        self.failed = block.is_err();
        Some(block)
    }
}

/// Text, a block of about this many bytes at a time.
const TEXT_BYTES: usize = 1 << 20;

fn text_blocks<'a>(
    source: impl Read + Send + 'static,
    origin: &str,
    options: &'a ReadOptions,
) -> Result<Blocks<'a>, Error> {
    let blocks = Reader::new(options).in_blocks_of(TEXT_BYTES).blocks_of_source(source, origin)?;
    let grows = blocks.format() == Format::Libsvm;
    Ok(Blocks { grows, ..Blocks::of(blocks.map(|block| block.map(|block| block.data))) })
}
