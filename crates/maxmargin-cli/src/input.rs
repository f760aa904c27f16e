//! Where data comes from: files, standard input, embedded sets and generators.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use maxmargin::data::{Dataset, embedded, generate};
use maxmargin::error::{listed, quoted};
use maxmargin::kernel::KernelParams;
use maxmargin::{Error, Model, Workers};
use maxmargin_io::{KernelValues, ReadOptions, Reader, without_compression};

use crate::arguments::Reading;
use crate::failure::Failure;
use crate::output::{Words, escaped, reason};
use crate::progress::ReadingLine;
use crate::report::counted;

/// The rows of a generated set, where none are asked for.
pub(crate) const GENERATED_ROWS: usize = 200;

/// Data that is at hand, but not yet read.
#[derive(Debug)]
pub(crate) struct Source {
    origin: String,
    content: Content,
    workers: Workers,
    words: Words,
}

#[derive(Debug)]
enum Content {
    /// A file, which is read anew when how to read it has become clear in a first try.
    File(PathBuf),
    /// A pipe, or standard input where it has no name. It can be read once: its bytes are kept for a second try.
    Pipe(Option<PathBuf>, OnceLock<Vec<u8>>),
    /// Part of the program.
    Ready(Box<Dataset>),
}

/// What `DATA` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Stdin,
    File(PathBuf),
    Embedded(&'static str),
    Generated(&'static str),
}

impl Origin {
    /// A file of that name wins over an embedded or generated set, with a note.
    pub(crate) fn new(data: &Path, words: Words) -> Result<Self, Failure> {
        if data.as_os_str() == "-" {
            return Ok(Origin::Stdin);
        }
        let known = |names: &[&'static str]| names.iter().find(|name| data.as_os_str() == **name).copied();
        let built_in =
            known(&embedded::NAMES).map(Origin::Embedded).or_else(|| known(&generate::NAMES).map(Origin::Generated));
        match (data.exists(), built_in) {
            (true, Some(_)) => {
                let name = escaped(&data.to_string_lossy());
                words.note(&format!(
                    "there is a file {name} in this folder, and it is read; the built-in set of that name is not"
                ));
                Ok(Origin::File(data.into()))
            }
            (false, Some(built_in)) => Ok(built_in),
            (true, None) => Ok(Origin::File(data.into())),
            (false, None) => Err(Failure::new(
                format!("cannot read {}: there is no such file", quoted(&data.to_string_lossy())),
                format!(
                    "check the name and the folder, or name a built-in set: {}, {}",
                    embedded::NAMES.join(", "),
                    generate::NAMES.join(", ")
                ),
            )),
        }
    }

    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self, Origin::Embedded(_) | Origin::Generated(_))
    }

    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            _ => None,
        }
    }

    /// What files made from the data are called, without an extension.
    pub(crate) fn stem(&self) -> PathBuf {
        match self {
            Origin::Stdin => "model".into(),
            Origin::File(path) => {
                let path = path.to_str().map_or(path.as_path(), |name| Path::new(without_compression(name)));
                path.file_stem().map_or_else(|| "model".into(), PathBuf::from)
            }
            Origin::Embedded(name) | Origin::Generated(name) => (*name).into(),
        }
    }

    /// What messages call the data.
    pub(crate) fn shown(&self) -> String {
        match self {
            Origin::Stdin => "standard input".into(),
            Origin::File(path) => escaped(&path.to_string_lossy()),
            Origin::Embedded(name) => (*name).into(),
            Origin::Generated(name) => format!("{name} (generated)"),
        }
    }

    /// Makes the data ready to be read, on these threads.
    ///
    /// # Errors
    /// When a set cannot be generated.
    pub(crate) fn fetch(&self, seed: u64, workers: &Workers, words: Words) -> Result<Source, Failure> {
        let content = match self {
            Origin::Stdin => Content::Pipe(None, OnceLock::new()),
            Origin::File(path) if path.is_file() || path.is_dir() => Content::File(path.clone()),
            Origin::File(path) => Content::Pipe(Some(path.clone()), OnceLock::new()),
            Origin::Embedded(name) => match embedded(name) {
                Some(data) => Content::Ready(Box::new(data)),
                None => return Err(Failure::new(format!("there is no embedded set {}", quoted(name)), "name another")),
            },
            Origin::Generated(name) => Content::Ready(Box::new(generate(name, GENERATED_ROWS, seed)?)),
        };
        let origin = match self {
            Origin::Stdin => "standard input".into(),
            Origin::File(path) => path.to_string_lossy().into_owned(),
            Origin::Embedded(name) | Origin::Generated(name) => (*name).into(),
        };
        Ok(Source { origin, content, workers: workers.clone(), words })
    }
}

impl Source {
    /// Reads the data.
    ///
    /// # Errors
    /// When it does not read as asked, with its place.
    pub(crate) fn read(&self, options: &ReadOptions) -> Result<Dataset, maxmargin_io::Error> {
        let line = ReadingLine::new(&self.origin, self.words.quiet);
        let reader = Reader::new(options).on(&self.workers).watched_by(&line);
        match &self.content {
            Content::File(path) => reader.read_path(path),
            Content::Pipe(path, bytes) => reader.read_bytes(self.piped(path.as_deref(), bytes)?, &self.origin),
            Content::Ready(data) => match &options.columns {
                None => Ok((**data).clone()),
                Some(columns) => once(columns)
                    .and_then(|()| data.select_columns(&by_name(columns, data.names())))
                    .map_err(|error| maxmargin_io::Error::Data { path: self.origin.clone(), error }),
            },
        }
    }

    /// [`Source::read`], where there is no second try: what comes through a pipe is not kept.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn read_once(self, options: &ReadOptions) -> Result<Dataset, maxmargin_io::Error> {
        let Content::Pipe(path, _) = &self.content else { return self.read(options) };
        let line = ReadingLine::new(&self.origin, self.words.quiet);
        let reader = Reader::new(options).on(&self.workers).watched_by(&line);
        reader.read_source(self.pipe(path.as_deref())?, &self.origin)
    }

    /// All bytes of a pipe.
    fn piped<'s>(&self, path: Option<&Path>, kept: &'s OnceLock<Vec<u8>>) -> Result<&'s [u8], maxmargin_io::Error> {
        if let Some(bytes) = kept.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        self.pipe(path)?.read_to_end(&mut bytes).map_err(|error| self.cannot_read(&error))?;
        Ok(kept.get_or_init(|| bytes))
    }

    fn pipe(&self, path: Option<&Path>) -> Result<Box<dyn Read + Send>, maxmargin_io::Error> {
        Ok(match path {
            None => Box::new(io::stdin()),
            Some(path) => Box::new(File::open(path).map_err(|error| self.cannot_read(&error))?),
        })
    }

    fn cannot_read(&self, error: &io::Error) -> maxmargin_io::Error {
        maxmargin_io::Error::Open {
            path: self.origin.clone(),
            reason: reason(error),
            help: "pipe data into the program, or name a file".into(),
        }
    }
}

/// Columns by their names, where a number counted from 1 stands for one.
pub(crate) fn by_name(columns: &[String], names: Option<&[String]>) -> Vec<String> {
    let name = |column: &String| {
        let names = names.filter(|names| !names.contains(column))?;
        let number: usize = column.parse().ok()?;
        names.get(number.checked_sub(1)?).cloned()
    };
    columns.iter().map(|column| name(column).unwrap_or_else(|| column.clone())).collect()
}

/// Checks that no column is asked for twice.
fn once(columns: &[String]) -> Result<(), Error> {
    match columns.iter().enumerate().find(|(place, name)| columns[..*place].contains(name)) {
        None => Ok(()),
        Some((_, name)) => Err(Error::Data {
            what: format!("the column {} is asked for twice", quoted(name)),
            help: "name each column once in --columns".into(),
        }),
    }
}

/// How the data of a training is read where it is a table of kernel values.
pub(crate) fn training_table(kernel: &KernelParams) -> Option<KernelValues> {
    matches!(kernel, KernelParams::Precomputed).then_some(KernelValues::Training)
}

/// Data read for a model: in columns that it knows.
#[derive(Debug)]
pub(crate) struct ForModel {
    pub(crate) data: Dataset,
    /// Whether the labels are the user's; without a label column they mean nothing.
    pub(crate) labelled: bool,
}

/// The columns that a model needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    columns: usize,
    names: Option<&'a [String]>,
    /// Whose kernel values the data are, where they are such.
    kernel_values: Option<KernelValues>,
}

impl Wanted<'_> {
    /// The same for the very rows that the model was trained on.
    pub(crate) fn of_training(self) -> Self {
        Wanted { kernel_values: self.kernel_values.map(|_| KernelValues::Training), ..self }
    }
}

impl<'a> From<&'a Model> for Wanted<'a> {
    fn from(model: &'a Model) -> Self {
        let kernel_values = model.recipe().kernel.is_precomputed().then_some(KernelValues::New);
        Wanted { columns: model.parts().columns, names: model.parts().names.as_deref(), kernel_values }
    }
}

/// The columns of a model that will be trained on this data.
impl<'a> From<&'a Dataset> for Wanted<'a> {
    fn from(data: &'a Dataset) -> Self {
        Wanted { columns: data.columns(), names: data.names(), kernel_values: None }
    }
}

/// The same, where it is known whether the data is a table of kernel values.
impl<'a> From<(&'a Dataset, &KernelParams)> for Wanted<'a> {
    fn from((data, kernel): (&'a Dataset, &KernelParams)) -> Self {
        let kernel_values = matches!(kernel, KernelParams::Precomputed).then_some(KernelValues::New);
        Wanted { kernel_values, ..Wanted::from(data) }
    }
}

/// Reads data for a model: the columns that it needs, by name where it has names, and a label column if there is one.
///
/// # Errors
/// When the data does not read, or lacks a column.
pub(crate) fn read_for_model<'a>(
    source: &Source,
    model: impl Into<Wanted<'a>>,
    reading: &Reading,
    unlabelled: bool,
    words: Words,
) -> Result<ForModel, Failure> {
    let Wanted { columns: wanted, names, kernel_values } = model.into();
    let mut first_error = None;
    if let Some(names) = names {
        // One column for each word of a column of words is how training read it.
        let has_words = names.iter().any(|name| name.contains('='));
        let plain = (names.to_vec(), reading.categorical);
        let tries = if has_words { vec![plain, (columns_of_words(names), true)] } else { vec![plain] };
        for (columns, categorical) in tries {
            let options = ReadOptions { categorical, unlabelled, kernel_values, ..reading.options(Some(&columns)) };
            match read_either_way(source, &options) {
                Ok(found) => return Ok(ForModel { data: with_missing_words(found.data, names, words)?, ..found }),
                Err(error) => first_error = Some(error),
            }
        }
    }
    // Without names on one of the two sides columns are known by their place.
    let options = ReadOptions { unlabelled, kernel_values, ..reading.options(None) };
    let by_place = source.read(&options).and_then(|data| {
        let none_is_label = !unlabelled && reading.label.is_none() && data.columns() + 1 == wanted;
        if none_is_label && !data.has_open_columns() {
            let data = source.read(&ReadOptions { unlabelled: true, ..options })?;
            return Ok(ForModel { data, labelled: false });
        }
        Ok(ForModel { data, labelled: !unlabelled })
    });
    match (by_place, first_error) {
        // Data with names must have the model's.
        (Ok(found), Some(error)) if found.data.names().is_some() => Err(needed(error, names)),
        (Err(_), Some(error)) => Err(needed(error, names)),
        (Ok(found), _) => {
            let columns = found.data.columns();
            if columns == wanted || found.data.has_open_columns() || found.data.names().is_some() {
                return Ok(found);
            }
            Err(Failure::new(
                format!(
                    "{}: found {}, but the model needs {wanted}",
                    escaped(&source.origin),
                    counted(columns, "column")
                ),
                match names {
                    Some(names) => format!(
                        "give its columns in this order, or with a header: {}",
                        listed(names.iter().map(|name| quoted(name)), 8)
                    ),
                    None => "give the columns that the model was trained on, in their order".into(),
                },
            ))
        }
        (Err(error), None) => Err(error.into()),
    }
}

/// The error of a missing column, which it is the model that asks for.
fn needed(error: maxmargin_io::Error, names: Option<&[String]>) -> Failure {
    let wanted = |what: &str| {
        let names = names.into_iter().flatten();
        names
            .flat_map(|name| [name.as_str(), name.split('=').next().unwrap_or(name)])
            .any(|name| what.ends_with(&quoted(name)))
    };
    match error {
        maxmargin_io::Error::Data { path, error: Error::Data { what, help } } if wanted(&what) => {
            Failure::new(format!("{}: {what}, which the model needs", escaped(&path)), help)
        }
        error => error.into(),
    }
}

/// Reads data whose columns are known, the last of all being the label unless it is one of them.
fn read_either_way(source: &Source, options: &ReadOptions) -> Result<ForModel, maxmargin_io::Error> {
    match source.read(options) {
        Ok(data) => Ok(ForModel { data, labelled: !options.unlabelled }),
        Err(error) => {
            let label_is_wanted = matches!(&error, maxmargin_io::Error::Data { error: Error::Combination { .. }, .. });
            let too_narrow = matches!(&error, maxmargin_io::Error::OneColumn { .. });
            if options.unlabelled || options.label.is_some() || !(label_is_wanted || too_narrow) {
                return Err(error);
            }
            let data = source.read(&ReadOptions { unlabelled: true, ..options.clone() })?;
            Ok(ForModel { data, labelled: false })
        }
    }
}

/// `colour=red`, `colour=blue`, `width` are made of the columns `colour`, `width`.
fn columns_of_words(names: &[String]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for name in names {
        let column = name.split('=').next().unwrap_or(name);
        if !columns.iter().any(|known| known == column) {
            columns.push(column.into());
        }
    }
    columns
}

/// Words that occur in training but not here get a column of zeros; words that occur only here get a note.
fn with_missing_words(data: Dataset, names: &[String], words: Words) -> Result<Dataset, Failure> {
    let Some(found) = data.names() else { return Ok(data) };
    let place = |name: &String| found.iter().position(|other| other == name);
    let column = |name: &str| name.split_once('=').map(|(column, _)| format!("{column}="));
    let is_word = |name: &str| column(name).is_some_and(|column| found.iter().any(|other| other.starts_with(&column)));
    for name in found {
        if !names.contains(name) && column(name).is_some_and(|column| names.iter().any(|n| n.starts_with(&column))) {
            words.note(&format!("the model has never seen {}: it counts as none of the words known", quoted(name)));
        }
    }
    if names.iter().all(|name| place(name).is_some())
        || !names.iter().all(|name| place(name).is_some() || is_word(name))
    {
        return Ok(data);
    }
    let places: Vec<Option<usize>> = names.iter().map(place).collect();
    let matrix = data.matrix().select_columns(&places);
    Ok(Dataset::new(matrix, data.labels().clone())?.with_names(names.to_vec())?)
}

/// Columns up to which each may have a number or a place of its own, whatever the rows store.
const MOST_COLUMNS_OF_TABLE: usize = 1 << 24;

/// Refuses data whose columns are too many to look at each, as hashed features may be. `what` wants to.
pub(crate) fn check_columns(columns: usize, what: &str) -> Result<(), Failure> {
    if columns <= MOST_COLUMNS_OF_TABLE {
        return Ok(());
    }
    Err(Failure::new(
        format!("the data has {columns} columns, and {what} has a place for each, up to {MOST_COLUMNS_OF_TABLE}"),
        "choose columns with --columns, or number those in use from 1 on",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_a_name_unless_it_is_one() {
        let names = ["a", "1", "c"].map(String::from);
        let asked = ["3", "1", "b", "0", "4"].map(String::from);
        assert_eq!(by_name(&asked, Some(&names)), ["c", "1", "b", "0", "4"]);
        assert_eq!(by_name(&asked, None), asked);
    }

    #[test]
    fn files_made_from_data_are_called_as_it_is_without_its_endings() {
        let stem = |name: &str| Origin::File(name.into()).stem();
        assert_eq!(["a/d.csv", "d.csv.gz", "d.ZST", "d"].map(stem), ["d", "d", "d", "d"].map(PathBuf::from));
    }

    #[test]
    fn columns_of_words_are_joined_again() {
        let names = ["colour=red", "size", "colour=blue"].map(String::from);
        assert_eq!(columns_of_words(&names), ["colour", "size"]);
    }
}
