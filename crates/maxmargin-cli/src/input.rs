//! Where data comes from: files, standard input, embedded sets and generators.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use maxmargin::data::{
    AnswerKind, Dataset, Missing, Reading as ModelReading, TableRecipe, embedded, generate, plain_split,
    stratified_split,
};
use maxmargin::error::{listed, quoted};
use maxmargin::kernel::KernelParams;
use maxmargin::problem::Task;
use maxmargin::{Model, Workers};
use maxmargin_io::{
    KernelValues, ReadData, ReadOptions, Reader, Remarks, Setting, TableSurvey, select, without_compression,
};

use crate::arguments::Reading;
use crate::failure::Failure;
use crate::output::{Words, escaped, reason};
use crate::progress::ReadingLine;
use crate::report::counted;
use crate::tables;

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
    pub(crate) fn read(&self, options: &ReadOptions) -> Result<ReadData, maxmargin_io::Error> {
        let line = ReadingLine::new(&self.origin, self.words.quiet);
        let reader = Reader::new(options).on(&self.workers).watched_by(&line);
        match &self.content {
            Content::File(path) => reader.read_data(path),
            Content::Pipe(path, bytes) => reader.read_data_bytes(self.piped(path.as_deref(), bytes)?, &self.origin),
            Content::Ready(data) => select((**data).clone(), &self.origin, options)?
                .with_answers_of(options.answers)
                .map(|data| ReadData { data, recipe: None, remarks: Remarks::default() })
                .map_err(|error| maxmargin_io::Error::Data { path: self.origin.clone(), error }),
        }
    }

    /// [`Source::read`], where there is no second try: what comes through a pipe is not kept.
    ///
    /// # Errors
    /// As there; of a table, with all that is wrong with it.
    pub(crate) fn read_once(&self, options: &ReadOptions) -> Result<ReadData, Failure> {
        let read = match &self.content {
            Content::Pipe(path, _) => {
                let line = ReadingLine::new(&self.origin, self.words.quiet);
                let reader = Reader::new(options).on(&self.workers).watched_by(&line);
                self.pipe(path.as_deref()).and_then(|pipe| reader.read_data_source(pipe, &self.origin))
            }
            _ => self.read(options),
        };
        read.map_err(|error| match self.survey(options) {
            Ok(Some(survey)) => tables::explained(error, &survey, options, &self.origin),
            _ => error.into(),
        })
    }

    /// Looks at all of a table. `None` when the data is no table of raw columns, or came through a pipe.
    ///
    /// # Errors
    /// When the beginning does not read.
    pub(crate) fn survey(&self, options: &ReadOptions) -> Result<Option<TableSurvey>, maxmargin_io::Error> {
        let line = ReadingLine::new(&self.origin, self.words.quiet);
        let reader = Reader::new(options).on(&self.workers).watched_by(&line);
        match &self.content {
            Content::File(path) => reader.survey_path(path),
            Content::Pipe(path, bytes) if path.is_none() && bytes.get().is_some() => {
                reader.survey_bytes(self.piped(None, bytes)?, &self.origin)
            }
            _ => Ok(None),
        }
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

/// What data for a task has beside its columns. The labels of one class are not learnt, but compared with where they are there.
pub(crate) fn answers_of(task: Task) -> AnswerKind {
    if task.is_regression() { AnswerKind::Numbers } else { AnswerKind::Classes }
}

/// How the data of a training is read where it is a table of kernel values.
pub(crate) fn training_table(kernel: &KernelParams) -> Option<KernelValues> {
    matches!(kernel, KernelParams::Precomputed).then_some(KernelValues::Training)
}

/// The columns that a model needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    columns: usize,
    names: Option<&'a [String]>,
    /// How the training data was read, where that is known.
    reading: Option<&'a ModelReading>,
    /// What the model learnt of each row.
    answers: AnswerKind,
    /// Whose kernel values the data are, where they are such.
    kernel_values: Option<KernelValues>,
}

impl Wanted<'_> {
    /// The same for the very rows that the model was trained on.
    pub(crate) fn of_training(self) -> Self {
        Wanted { kernel_values: self.kernel_values.map(|_| KernelValues::Training), ..self }
    }

    /// How tables may have to be read, in the order to try.
    fn recipes(&self) -> Vec<TableRecipe> {
        if let Some(table) = self.reading.and_then(|reading| reading.table.as_ref()) {
            return vec![table.clone()];
        }
        match self.names {
            // One column for each word of a column of words is how training may have read it.
            Some(names) => {
                [Some(TableRecipe::of_names(names)), TableRecipe::of_words(names)].into_iter().flatten().collect()
            }
            None => vec![TableRecipe::of_places(self.columns)],
        }
    }
}

impl<'a> From<&'a Model> for Wanted<'a> {
    fn from(model: &'a Model) -> Self {
        let kernel_values = model.recipe().kernel.is_precomputed().then_some(KernelValues::New);
        let (columns, names) = (model.parts().columns, model.parts().names.as_deref());
        let answers = answers_of(model.task());
        Wanted { columns, names, reading: model.reading(), answers, kernel_values }
    }
}

/// The columns of a model that will be trained on this data.
impl<'a> From<&'a Dataset> for Wanted<'a> {
    fn from(data: &'a Dataset) -> Self {
        let answers = data.answers().kind();
        Wanted { columns: data.columns(), names: data.names(), reading: None, answers, kernel_values: None }
    }
}

/// The columns of a model that will be trained on this data, read so, with this kernel.
impl<'a> From<(&'a Dataset, &'a ModelReading, &KernelParams)> for Wanted<'a> {
    fn from((data, reading, kernel): (&'a Dataset, &'a ModelReading, &KernelParams)) -> Self {
        let kernel_values = matches!(kernel, KernelParams::Precomputed).then_some(KernelValues::New);
        Wanted { reading: Some(reading), kernel_values, ..Wanted::from(data) }
    }
}

/// Reads data for a model as its training data was read: the columns that it needs, by name where both have names, and a label column if there
/// is one.
///
/// # Errors
/// When the data does not read, or lacks a column.
pub(crate) fn read_for_model<'a>(
    source: &Source,
    model: impl Into<Wanted<'a>>,
    reading: &Reading,
    unlabelled: bool,
    words: Words,
) -> Result<ReadData, Failure> {
    let wanted = model.into();
    let unlabelled =
        unlabelled || (reading.label.is_none() && wanted.reading.is_some_and(|reading| reading.unlabelled));
    if unlabelled {
        return read_wanted(source, Wanted { answers: AnswerKind::None, ..wanted }, reading, words);
    }
    let found = read_wanted(source, wanted, reading, words);
    match (found, wanted.answers) {
        // Words where numbers could be do not matter to a prediction.
        (Err(failure), AnswerKind::Numbers) => {
            read_wanted(source, Wanted { answers: AnswerKind::Classes, ..wanted }, reading, words).map_err(|_| failure)
        }
        (found, _) => found,
    }
}

/// [`read_for_model`], with these answers.
fn read_wanted(source: &Source, wanted: Wanted<'_>, reading: &Reading, words: Words) -> Result<ReadData, Failure> {
    let learnt = wanted.reading.and_then(|reading| reading.table.as_ref()).map(|table| table.missing);
    if let Some(way) = reading.missing.filter(|way| way.is_learnt() && Some(*way) != learnt) {
        return Err(Failure::new(
            format!("the {0} of a column is learnt in training, and this model has learnt none", way.name()),
            format!("train with --missing {}, or choose --missing drop or zero here", way.name()),
        ));
    }
    let zero_based = reading.zero_based || wanted.reading.is_some_and(|reading| reading.zero_based);
    let mut first_error = None;
    for mut recipe in wanted.recipes() {
        recipe.missing = reading.missing.unwrap_or(recipe.missing);
        let Wanted { answers, kernel_values, .. } = wanted;
        let (recipe, plain) = (Some(Arc::new(recipe)), reading.options(None));
        let options = ReadOptions { answers, zero_based, kernel_values, recipe, exclude: Vec::new(), ..plain };
        match source.read(&options) {
            Ok(found) => {
                check_width(&found, &wanted, source)?;
                note_remarks(&found.remarks, learnt, words);
                return Ok(found);
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(match first_error {
        Some(error) => for_model(error),
        None => Failure::new("the model says nothing of its columns", "train it again"),
    })
}

/// Checks the columns of data that is no table of raw columns.
fn check_width(found: &ReadData, wanted: &Wanted<'_>, source: &Source) -> Result<(), Failure> {
    let (data, needed) = (&found.data, wanted.columns);
    if found.recipe.is_some() || data.columns() == needed || data.has_open_columns() || data.names().is_some() {
        return Ok(());
    }
    Err(Failure::new(
        format!(
            "{}: found {}, but the model needs {needed}",
            escaped(&source.origin),
            counted(data.columns(), "column")
        ),
        match wanted.names {
            Some(names) => format!(
                "give its columns in this order, or with a header: {}",
                listed(names.iter().map(|name| quoted(name)), 8)
            ),
            None => "give the columns that the model was trained on, in their order".into(),
        },
    ))
}

/// The error of data for a model, which knows already what becomes of columns of words.
fn for_model(error: maxmargin_io::Error) -> Failure {
    // A missing label cannot be filled in.
    if error.helps(Setting::Missing, Some("mean")) {
        let help = "leave the rows out, or take 0, with --missing drop or zero; or train with --missing mean or median";
        return Failure::new(error.to_string(), help);
    }
    if error.helps(Setting::Categorical, None) {
        let help =
            "give a number, as in the training data; or train again with --categorical or --exclude and this column";
        return Failure::new(error.to_string(), help);
    }
    error.into()
}

/// Says what was done to cells of data that a model is asked about.
fn note_remarks(remarks: &Remarks, way: Option<Missing>, words: Words) {
    for unseen in &remarks.unseen {
        words.warning(
            &format!(
                "{} of {} {} what training has not seen, {} the first",
                counted(unseen.cells as usize, "cell"),
                quoted(&unseen.column),
                if unseen.cells == 1 { "says" } else { "say" },
                quoted(&unseen.first)
            ),
            "they count as none of the values known; train again on rows that have them",
        );
    }
    if let Some(note) = filled_words(remarks, way.unwrap_or(Missing::Zero)) {
        words.note(&note);
    }
    if let Some(note) = dropped_words(remarks) {
        words.note(&note);
    }
}

/// What is said of missing values that were filled in.
pub(crate) fn filled_words(remarks: &Remarks, way: Missing) -> Option<String> {
    let cells: u64 = remarks.filled.iter().map(|(_, cells)| cells).sum();
    let columns = remarks.filled.iter().map(|(name, cells)| format!("{cells} of {}", quoted(name)));
    (cells > 0).then(|| {
        format!("{} filled in ({}): {}", counted(cells as usize, "missing value"), way.name(), listed(columns, 8))
    })
}

/// What is said of rows that were left out.
pub(crate) fn dropped_words(remarks: &Remarks) -> Option<String> {
    let count = remarks.dropped.len();
    let rows = remarks.dropped.iter().map(|row| (row + 1).to_string());
    (count > 0).then(|| format!("{} with missing values left out: {}", counted(count, "row"), listed(rows, 8)))
}

/// The rows of a data set that a model was trained on, by their places, when `data` is what was split for it; `None` when all of them were.
///
/// # Errors
/// When the share cannot be split off.
pub(crate) fn training_rows(
    model: &Model,
    data: &Dataset,
    holdout: Option<f64>,
    seed: u64,
) -> Result<Option<Vec<usize>>, Failure> {
    let Some(share) = holdout.or_else(|| model.reading().and_then(|reading| reading.holdout)) else { return Ok(None) };
    Ok(Some(split_rows(data, model.task(), share, seed)?.0))
}

/// The rows that the model was trained on, and their places, where data is all rows that these were split from; else the data as it is.
///
/// # Errors
/// When the share cannot be split off.
pub(crate) fn training_part(
    model: &Model,
    data: Dataset,
    seed: u64,
    workers: &Workers,
) -> Result<(Dataset, Option<Vec<usize>>), Failure> {
    // Other data may be too small to be split so, which is no fault.
    let rows = training_rows(model, &data, None, seed).unwrap_or_default();
    let Some(rows) = rows.filter(|rows| rows.len() == model.provenance().rows) else { return Ok((data, None)) };
    let part = data.select_rows(&rows);
    Ok(if model.is_training_data(&part, workers) { (part, Some(rows)) } else { (data, None) })
}

/// Reads data once more, so that means, medians and categories are learnt from some of its rows alone: what is held out must not tell anything.
/// `remarks` and `count` are those of the data as it was read with these options.
///
/// # Errors
/// When the data does not read again.
pub(crate) fn read_learning_from(
    source: &Source,
    options: &ReadOptions,
    (remarks, count): (&Remarks, usize),
    rows: &[usize],
) -> Result<ReadData, Failure> {
    let file_rows: Vec<usize> = rows.iter().map(|&row| remarks.file_row(row as u64) as usize).collect();
    let mut learn_from = vec![false; file_rows.iter().max().map_or(0, |row| row + 1)];
    file_rows.into_iter().for_each(|row| learn_from[row] = true);
    let found = source.read(&ReadOptions { learn_from: Some(learn_from.into()), ..options.clone() })?;
    if found.data.rows() == count {
        return Ok(found);
    }
    let what = format!("{} has other rows than a moment ago", source.origin);
    Err(Failure::new(what, "give a file that nobody writes to meanwhile"))
}

/// The rows to train on and those held out: by class, where there are classes.
///
/// # Errors
/// When there are too few rows.
pub(crate) fn split_rows(
    data: &Dataset,
    task: Task,
    share: f64,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), Failure> {
    if task.is_classification() {
        Ok(stratified_split(data.labels()?, share, seed)?)
    } else {
        Ok(plain_split(data.rows(), share, seed)?)
    }
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
}
