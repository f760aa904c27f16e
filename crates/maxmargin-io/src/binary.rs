//! Formats that are not text: found by their first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use maxmargin::data::{Answers, Dataset, Labels, Matrix, Values};

use crate::arrow_file::ArrowFile;
use crate::block::too_long;
use crate::cache_file::{self, CacheFile};
use crate::columns::select;
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::parquet_file::ParquetFile;
use crate::read::{Format, ReadOptions, cannot_read, data_error, no_rows};
use crate::remarks::{ReadData, Remarks};
use crate::survey::TableSurvey;
use crate::{arrow_file, npy, npz, parquet_file};

/// The format of bytes that are not text; the one asked for, where that is such a format.
pub(crate) fn find(bytes: &[u8], asked: Option<Format>) -> Option<Format> {
    match asked {
        Some(Format::Libsvm | Format::Csv) => None,
        Some(format) => Some(format),
        None if bytes.starts_with(cache_file::MAGIC) => Some(Format::Cache),
        None if bytes.starts_with(npy::MAGIC) => Some(Format::Npy),
        None if npz::is_npz(bytes) => Some(Format::Npz),
        None if bytes.starts_with(arrow_file::MAGIC) => Some(Format::Arrow),
        None if bytes.starts_with(arrow_file::STREAM) => Some(Format::ArrowStream),
        // Text may begin with these letters, too: a label, say.
        None if is_parquet(bytes) => Some(Format::Parquet),
        None => None,
    }
}

/// Enough bytes to tell the format, or all there are.
pub(crate) fn first_bytes(source: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The format of data that begins with these bytes, where it is not text; the one asked for, where that is such a format.
pub(crate) fn first_format(first: &[u8], asked: Option<Format>) -> Option<Format> {
    find(first, asked)
}

/// [`first_format`] of a file. What cannot be read is left to those who say why.
pub(crate) fn find_in(path: &Path, asked: Option<Format>) -> Option<Format> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|found| found.is_file()))?;
    first_format(&first_bytes(&mut file).ok()?, asked)
}

/// Reads a file in such a format, in no more memory than its numbers need.
pub(crate) fn read_path(path: &Path, options: &ReadOptions, format: Format) -> Result<ReadData, Error> {
    let origin = path.to_string_lossy();
    if let (Some(limit), Ok(found)) = (options.max_bytes, path.metadata())
        && found.len() > limit
    {
        return Err(too_long(&origin, limit));
    }
    match format {
        Format::Cache => Ok(without_recipe(read_cache(&CacheFile::open(path)?, &origin, options)?)),
        Format::Parquet => ParquetFile::open(path, options)?.read(),
        Format::Arrow | Format::ArrowStream => ArrowFile::open(path, options, format)?.read(),
        _ => {
            let bytes = std::fs::read(path).map_err(|error| cannot_read(&origin, &error))?;
            read(&bytes, &origin, options, format)
        }
    }
}

/// Whether bytes begin as a Parquet file does, and are no text.
pub(crate) fn is_parquet(bytes: &[u8]) -> bool {
    let magic = parquet_file::MAGIC;
    bytes.starts_with(magic)
        && (bytes.len() > 2 * magic.len() && bytes.ends_with(magic) || memchr::memchr(0, bytes).is_some())
}

impl Format {
    /// The format that a file's name says, by what it ends with.
    ///
    /// ```
    /// use std::path::Path;
    /// use maxmargin_io::Format;
    ///
    /// assert_eq!(Format::of_name(Path::new("train.parquet")), Some(Format::Parquet));
    /// assert_eq!(Format::of_name(Path::new("a9a")), None);
    /// ```
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "libsvm" | "svm" | "svmlight" | "txt" => Some(Format::Libsvm),
            "csv" | "tsv" => Some(Format::Csv),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "feather" => Some(Format::Arrow),
            "arrows" => Some(Format::ArrowStream),
            "mmc" => Some(Format::Cache),
            _ => None,
        }
    }

    /// What messages call the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "LIBSVM text",
            Format::Csv => "CSV",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
            Format::ArrowStream => "an Arrow stream",
            Format::Cache => "a cache file",
        }
    }
}

/// Reads bytes in such a format.
pub(crate) fn read(bytes: &[u8], origin: &str, options: &ReadOptions, format: Format) -> Result<ReadData, Error> {
    if let Some(limit) = options.max_bytes.filter(|&limit| bytes.len() as u64 > limit) {
        return Err(too_long(origin, limit));
    }
    match format {
        Format::Npy => npy::read(bytes, origin, options),
        Format::Npz => Ok(without_recipe(npz::read(bytes, origin, options)?)),
        Format::Arrow | Format::ArrowStream => {
            ArrowFile::from_bytes(bytes, origin, options, format == Format::Arrow)?.read()
        }
        Format::Parquet => ParquetFile::from_bytes(bytes.to_vec(), origin, options, false)?.read(),
        _ => {
            let data = read_cache(&CacheFile::from_bytes(bytes.to_vec(), origin)?, origin, options)?;
            Ok(without_recipe(data))
        }
    }
}

/// Data that was no table of raw columns.
fn without_recipe(data: Dataset) -> ReadData {
    ReadData { data, recipe: None, remarks: Remarks::default() }
}

/// Looks at all of a table in a file of such a format. `None` when it has no raw columns.
pub(crate) fn survey_path(path: &Path, options: &ReadOptions, format: Format) -> Result<Option<TableSurvey>, Error> {
    let origin = path.to_string_lossy();
    match format {
        Format::Parquet => ParquetFile::open_for(path, options, true)?.survey(options).map(Some),
        Format::Arrow | Format::ArrowStream => {
            ArrowFile::open_for(path, options, format, true)?.survey(options).map(Some)
        }
        Format::Npy => {
            let bytes = std::fs::read(path).map_err(|error| cannot_read(&origin, &error))?;
            survey(&bytes, &origin, options, format)
        }
        _ => Ok(None),
    }
}

/// Looks at all of a table in bytes of such a format. `None` when it has no raw columns.
pub(crate) fn survey(
    bytes: &[u8],
    origin: &str,
    options: &ReadOptions,
    format: Format,
) -> Result<Option<TableSurvey>, Error> {
    match format {
        Format::Parquet => ParquetFile::from_bytes(bytes.to_vec(), origin, options, true)?.survey(options).map(Some),
        Format::Arrow | Format::ArrowStream => {
            let source = Box::new(std::io::Cursor::new(bytes.to_vec()));
            ArrowFile::new(source, origin, options, format == Format::Arrow, true)?.survey(options).map(Some)
        }
        Format::Npy => npy::survey(bytes, origin, options).map(Some),
        _ => Ok(None),
    }
}

fn read_cache(file: &CacheFile, origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    refuse_label(origin, options)?;
    check_selection(file.columns(), file.names(), origin, options)?;
    if file.rows() == 0 {
        return Err(no_rows(origin));
    }
    let data = file.read()?.with_answers_of(options.answers).map_err(|error| data_error(origin, error))?;
    select(data, origin, options)
}

/// Checks that the columns asked for are among these, before any row is read.
pub(crate) fn check_selection(
    columns: usize,
    names: Option<&[String]>,
    origin: &str,
    options: &ReadOptions,
) -> Result<(), Error> {
    if options.columns.is_none() && options.exclude.is_empty() && options.recipe.is_none() {
        return Ok(());
    }
    let none = Matrix::sparse(0, columns, vec![0], Vec::new(), Vec::<f64>::new());
    let none = none.map(Dataset::unlabelled).and_then(|data| match names {
        Some(names) => data.with_names(names.to_vec()),
        None => Ok(data),
    });
    match none {
        Ok(none) => select(none, origin, options).map(drop),
        Err(error) => Err(Error::Data { path: origin.into(), error }),
    }
}

/// A cache knows which of its columns is the label.
pub(crate) fn refuse_label(origin: &str, options: &ReadOptions) -> Result<(), Error> {
    match &options.label {
        None => Ok(()),
        Some(label) => Err(Error::Content {
            path: origin.into(),
            found: "a cache file, whose labels are known".into(),
            expected: format!("a table with a label column {}", maxmargin::error::quoted(label)),
            help: Help::from("leave out ").name(Setting::Label).and(", or make the cache again from the table"),
        }),
    }
}

/// Blocks of the same columns, one after the other, as one data set: dense where at least half of its numbers are not zero. Messages call the
/// data `origin`.
///
/// # Errors
/// The first error of the blocks; or when there is none, or their columns or answers do not go together.
pub fn join(blocks: impl Iterator<Item = Result<Dataset, Error>>, origin: &str) -> Result<Dataset, Error> {
    let mut blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    if blocks.len() == 1 {
        return Ok(blocks.remove(0));
    }
    let Some(first) = blocks.first() else { return Err(no_rows(origin)) };
    let names = first.names().map(<[String]>::to_vec);
    let (rows, columns) = (blocks.iter().map(Dataset::rows).sum::<usize>(), first.columns());
    let entries: usize = blocks.iter().map(|block| nonzeros(block.matrix())).sum();
    let dense = entries >= (rows * columns).div_ceil(2);
    let single = blocks.iter().all(|block| is_single(block.matrix()));
    let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for block in &blocks {
        for row in 0..block.rows() {
            if dense {
                values.extend(block.matrix().row(row));
                continue;
            }
            block.matrix().visit(row, |column, value| {
                if value != 0.0 {
                    indices.push(column as u32);
                    values.push(value);
                }
            });
            offsets.push(values.len() as u64);
        }
    }
    let values: Values =
        if single { values.into_iter().map(|value| value as f32).collect::<Vec<f32>>().into() } else { values.into() };
    let answers = join_answers(&blocks);
    let weights = join_weights(&blocks);
    let matrix = if dense {
        Matrix::dense(rows, columns, values)
    } else {
        Matrix::sparse(rows, columns, offsets, indices, values)
    };
    matrix
        .and_then(|matrix| Dataset::new(matrix, answers))
        .and_then(|data| match weights {
            Some(weights) => data.with_weights(weights),
            None => Ok(data),
        })
        .and_then(|data| match names {
            Some(names) => data.with_names(names),
            None => Ok(data),
        })
        .map_err(|error| Error::Data { path: origin.into(), error })
}

/// The answers of all blocks, which are of the kind that the first has.
fn join_answers(blocks: &[Dataset]) -> Answers {
    let labels = |block: &Dataset| block.answers().labels().cloned();
    match blocks.first().map(Dataset::answers) {
        Some(Answers::Classes(_)) => {
            let of_block = |labels: Labels| (0..labels.len()).map(move |row| labels.get(row).clone());
            Labels::new(blocks.iter().filter_map(labels).flat_map(of_block)).into()
        }
        Some(Answers::Numbers(_)) => {
            Answers::Numbers(blocks.iter().filter_map(|block| block.answers().numbers()).flatten().copied().collect())
        }
        Some(Answers::None) | None => Answers::None,
    }
}

/// The weights of all rows, where some rows have any; the others weigh 1.
fn join_weights(blocks: &[Dataset]) -> Option<Vec<f64>> {
    blocks.iter().any(|block| block.weights().is_some()).then(|| {
        let of_block = |block: &Dataset| block.weights().map_or_else(|| vec![1.0; block.rows()], <[f64]>::to_vec);
        blocks.iter().flat_map(of_block).collect()
    })
}

fn nonzeros(matrix: &Matrix) -> usize {
    let mut count = 0;
    (0..matrix.rows()).for_each(|row| matrix.visit(row, |_, value| count += usize::from(value != 0.0)));
    count
}

fn is_single(matrix: &Matrix) -> bool {
    match matrix {
        Matrix::Dense(dense) => matches!(dense.values(), Values::F32(_)),
        Matrix::Sparse(csr) => matches!(csr.values(), Values::F32(_)),
    }
}
