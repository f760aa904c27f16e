//! Rows a block at a time, from any file or pipe: data that is never in memory as a whole.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use maxmargin::Unattended;
use maxmargin::data::{Dataset, Label, Missing, TableRecipe};

use crate::arrow_file::ArrowFile;
use crate::binary::{self, first_bytes, first_format};
use crate::block::too_long;
use crate::cache_file::CacheFile;
use crate::columns::select;
use crate::error::Error;
use crate::npy::NpyBlocks;
use crate::parquet_file::ParquetFile;
use crate::read::{Categorical, Format, ReadOptions, Reader, cannot_read, data_error, no_rows, refuse_learning};
use crate::survey;

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
    recipe: Option<TableRecipe>,
    /// What messages call the data.
    origin: String,
    /// Whether a row has come, and whether nothing more comes.
    begun: bool,
    done: bool,
}

impl<'a> Blocks<'a> {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read, or its beginning does not read as asked.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let origin = path.to_string_lossy().into_owned();
        let fault = |error: std::io::Error| cannot_read(&origin, &error);
        let mut file = File::open(path).map_err(fault)?;
        let found = file.metadata().map_err(fault)?;
        let first = first_bytes(&mut file).map_err(fault)?;
        let format = first_format(&first, options.format).filter(|_| found.is_file());
        if let (Some(_), Some(limit)) = (format, options.max_bytes.filter(|&limit| found.len() > limit)) {
            return Err(too_long(&origin, limit));
        }
        match format {
            Some(Format::Cache) => Blocks::of_cache(CacheFile::open(path)?, options, origin),
            Some(Format::Parquet) => Blocks::of_parquet(ParquetFile::open(path, options)?, &origin),
            Some(format @ Format::Arrow) => Blocks::of_arrow(ArrowFile::open(path, options, format)?, &origin),
            // Text is looked at first, to be read by what was learnt of it.
            None if survey::is_needed(options) && found.is_file() => {
                let recipe = Reader::new(options).learn_path(path)?.map(Arc::new);
                let options =
                    ReadOptions { recipe, categorical: Categorical::None, missing: Missing::Error, ..options.clone() };
                Blocks::from_source(Cursor::new(first).chain(file), &origin, &options)
            }
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
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let fault = |error: std::io::Error| cannot_read(origin, &error);
        let first = first_bytes(&mut source).map_err(fault)?;
        let format = first_format(&first, options.format);
        let mut source = Cursor::new(first).chain(source);
        let mut whole = || {
            // One byte above the limit is enough to see that it is exceeded.
            let limit = options.max_bytes.map_or(u64::MAX, |limit| limit.saturating_add(1));
            let mut bytes = Vec::new();
            source.by_ref().take(limit).read_to_end(&mut bytes).map_err(fault)?;
            match options.max_bytes.filter(|&limit| bytes.len() as u64 > limit) {
                Some(limit) => Err(too_long(origin, limit)),
                None => Ok(bytes),
            }
        };
        match format {
            Some(Format::Cache) => Blocks::of_cache(CacheFile::from_bytes(whole()?, origin)?, options, origin.into()),
            Some(Format::Parquet) => {
                Blocks::of_parquet(ParquetFile::from_bytes(whole()?, origin, options, false)?, origin)
            }
            Some(format @ Format::Npz) => {
                Ok(Blocks::of(std::iter::once(binary::read(&whole()?, origin, options, format)?.data).map(Ok), origin))
            }
            Some(Format::Arrow) => Blocks::of_arrow(ArrowFile::from_bytes(&whole()?, origin, options, true)?, origin),
            Some(Format::ArrowStream) => {
                Blocks::of_arrow(ArrowFile::from_stream(Box::new(source), origin, options)?, origin)
            }
            Some(Format::Npy) => {
                refuse_learning(origin, options)?;
                let blocks = NpyBlocks::new(Box::new(source), origin, options)?;
                Ok(Blocks { recipe: Some(blocks.recipe()), ..Blocks::of(blocks, origin) })
            }
            _ => text_blocks(source, origin, options),
        }
    }

    /// Blocks of which nothing is known beforehand.
    fn of(blocks: impl Iterator<Item = Result<Dataset, Error>> + Send + 'a, origin: &str) -> Self {
        let blocks = Box::new(blocks);
        Blocks {
            blocks,
            origin: origin.into(),
            rows: None,
            classes: None,
            grows: false,
            recipe: None,
            begun: false,
            done: false,
        }
    }

    fn of_cache(file: CacheFile, options: &ReadOptions, origin: String) -> Result<Self, Error> {
        binary::refuse_label(&origin, options)?;
        binary::check_selection(file.columns(), file.names(), &origin, options)?;
        let (name, count) = (origin.clone(), file.blocks());
        let (rows, classes, options) = (file.rows(), file.classes().to_vec(), options.clone());
        let read = move |block: usize| {
            let data = file.read_block(block)?.with_answers_of(options.answers);
            select(data.map_err(|error| data_error(&origin, error))?, &origin, &options)
        };
        let blocks = (0..count).map(read);
        Ok(Blocks { rows: Some(rows), classes: Some(classes), ..Blocks::of(blocks, &name) })
    }

    fn of_parquet(file: ParquetFile, origin: &str) -> Result<Self, Error> {
        // Rows may be left out.
        let rows = (!file.drops_rows()).then(|| file.rows());
        Ok(Blocks { rows, recipe: Some(file.recipe()), ..Blocks::of(file, origin) })
    }

    fn of_arrow(file: ArrowFile, origin: &str) -> Result<Self, Error> {
        Ok(Blocks { recipe: Some(file.recipe()), ..Blocks::of(file, origin) })
    }

    /// How raw columns become numbers; `None` where the data is no table of raw columns.
    pub fn recipe(&self) -> Option<&TableRecipe> {
        self.recipe.as_ref()
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
        if self.done {
            return None;
        }
        let block = match self.blocks.find(|block| !block.as_ref().is_ok_and(|data| data.rows() == 0)) {
            // As for those who read it whole.
            None if !self.begun => Some(Err(no_rows(&self.origin))),
            block => block,
        };
        self.begun = true;
        self.done = !matches!(block, Some(Ok(_)));
        block
    }
}

/// Text, a block of about this many bytes at a time.
const TEXT_BYTES: usize = 1 << 20;

fn text_blocks<'a>(
    source: impl Read + Send + 'static,
    origin: &str,
    options: &ReadOptions,
) -> Result<Blocks<'a>, Error> {
    let blocks = Reader::new(options).in_blocks_of(TEXT_BYTES).blocks(source, origin, None, &Unattended)?;
    let (grows, recipe) = (blocks.format() == Format::Libsvm, blocks.recipe());
    Ok(Blocks { grows, recipe, ..Blocks::of(blocks.map(|block| block.map(|block| block.data)), origin) })
}
