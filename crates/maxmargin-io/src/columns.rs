//! Which columns of a table are features, which one is the label, and how their cells become numbers: CSV, npy, Parquet and Arrow.

use std::collections::HashSet;

use maxmargin::data::{
    AnswerKind, Answers, ColumnRecipe, Csr, Dataset, Label, Labels, Matrix, Missing, RawColumn, TableRecipe, Values,
};
use maxmargin::error::{listed, quoted};

use crate::error::Error;
use crate::gather::sparse_matrix;
use crate::help::{Help, Setting};
use crate::libsvm::TARGET_HELP;
use crate::read::{ReadOptions, all_dropped, asked_twice, content, data_error, settings_error};
use crate::remarks::{ReadData, Remarks, Tally};

/// A column of more values than this is hardly a category.
pub(crate) const VALUES_LIMIT: usize = 1000;
/// The most columns that ranges of numbers may name where nothing else bounds them.
const MOST_NAMED: u64 = 1 << 24;

/// What becomes of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Number,
    /// One column for each of these, sorted.
    Values(Vec<String>),
}

/// The columns of a table that are used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// How many columns the table has.
    pub(crate) width: usize,
    /// The column of labels; `None` when there is none.
    pub(crate) label: Option<usize>,
    /// What is read from it.
    answers: AnswerKind,
    /// The columns that are not the label, in the order of the data set.
    pub(crate) features: Vec<usize>,
    /// What becomes of them.
    pub(crate) kinds: Vec<Kind>,
    /// What a missing number of each becomes, where that was learnt.
    fills: Vec<Option<f64>>,
    /// The names of the features, where they have any.
    pub(crate) names: Option<Vec<String>>,
    /// The name of the label column.
    label_name: Option<String>,
    /// Whether the table named its columns.
    pub(crate) named: bool,
    pub(crate) missing: Missing,
}

/// What is known of a table before its rows are read.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) origin: &'a str,
    /// The names of all columns, where there are any.
    pub(crate) names: Option<&'a [String]>,
    pub(crate) width: usize,
    /// Whether the table is text, whose first line may be taken for names.
    pub(crate) is_text: bool,
    /// Whether the names are the user's.
    pub(crate) named: bool,
}

impl Head<'_> {
    /// The place of a column by its name, or by its number counted from 1.
    pub(crate) fn find_one(&self, name: &str) -> Option<usize> {
        let number = || name.parse().ok().filter(|number| (1..=self.width).contains(number)).map(|number| number - 1);
        self.names.and_then(|names| names.iter().position(|known| known == name)).or_else(number)
    }

    /// The place of a column by its name, or by its number counted from 1.
    fn find(&self, name: &str) -> Result<usize, Error> {
        self.find_one(name).ok_or_else(|| {
            let what = format!("there is no column {}", quoted(name));
            let numbered = || Help::from(format!("the columns are numbered 1 to {}", self.width));
            let help: Help = match (self.names, self.is_text) {
                (Some(names), _) => {
                    format!("the columns are {}", listed(names.iter().map(|name| quoted(name)), 8)).into()
                }
                (None, true) => numbered().and("; with a header they have names: ").set(Setting::Header, "true"),
                (None, false) => numbered(),
            };
            settings_error(self.origin, what, help)
        })
    }

    /// The places of the columns asked for: names, numbers counted from 1, and ranges of them, as in `1-5` or `width-height`.
    pub(crate) fn find_all(&self, asked: &[String], setting: Setting) -> Result<Vec<usize>, Error> {
        let mut places = Vec::new();
        let mut seen = HashSet::new();
        for name in asked {
            let range = match self.find_one(name) {
                Some(place) => place..=place,
                None => match ranges(name).find_map(|(a, b)| Some((self.find_one(a)?, self.find_one(b)?))) {
                    Some((first, last)) if first <= last => first..=last,
                    Some(_) => return Err(backwards(self.origin, name)),
                    None => return Err(self.find(name).map_or_else(|error| error, |_| backwards(self.origin, name))),
                },
            };
            for place in range {
                if !seen.insert(place) {
                    return Err(asked_twice(self.origin, name, setting));
                }
                places.push(place);
            }
        }
        Ok(places)
    }

    /// A column as messages call it.
    pub(crate) fn describe(&self, place: usize) -> String {
        match self.names.and_then(|names| names.get(place)) {
            Some(name) if self.is_text => format!("column {} {}", place + 1, quoted(name)),
            _ => format!("column {}", place + 1),
        }
    }

    pub(crate) fn name(&self, place: usize) -> String {
        self.names.and_then(|names| names.get(place)).cloned().unwrap_or_else(|| (place + 1).to_string())
    }
}

/// The two ends that a range may have: a name may hold a `-` itself.
fn ranges(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('-').map(|(at, _)| (&text[..at], &text[at + 1..]))
}

fn backwards(origin: &str, range: &str) -> Error {
    let what = format!("the range {} of columns ends before it begins", quoted(range));
    data_error(origin, maxmargin::Error::Data { what, help: "name the column on the left first".into() })
}

/// Whether a column is asked for by number, or a range of numbers.
pub(crate) fn is_by_number(name: &str) -> bool {
    let is_number = |text: &str| text.parse::<usize>().is_ok();
    is_number(name) || name.split_once('-').is_some_and(|(first, last)| is_number(first) && is_number(last))
}

/// Numbers counted from 1, with ranges written out: of data whose columns have no names.
///
/// # Errors
/// When a range ends before it begins, or names too many columns.
pub(crate) fn numbers(origin: &str, asked: &[String]) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for name in asked {
        let range = name.split_once('-').and_then(|(a, b)| Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?)));
        match range {
            None => all.push(name.clone()),
            Some((first, last)) if first > last => return Err(backwards(origin, name)),
            Some((first, last)) if last - first >= MOST_NAMED => {
                let what = format!("the range {} names more than {MOST_NAMED} columns", quoted(name));
                let help = "name fewer columns".into();
                return Err(data_error(origin, maxmargin::Error::Data { what, help }));
            }
            Some((first, last)) => all.extend((first..=last).map(|number| number.to_string())),
        }
    }
    Ok(all)
}

/// The columns that are asked for of data that is in memory, under their own names.
///
/// # Errors
/// When one is not there, or asked for twice, or none is left.
pub fn select(data: Dataset, origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    if let Some(recipe) = &options.recipe {
        return of_model(data, origin, recipe);
    }
    if options.columns.is_none() && options.exclude.is_empty() {
        return Ok(data);
    }
    let head =
        Head { origin, names: data.names(), width: data.columns(), is_text: false, named: data.names().is_some() };
    let places = head.chosen(options, None)?;
    let names: Vec<String> = places.iter().map(|&place| head.name(place)).collect();
    data.select_columns(&names).map_err(|error| data_error(origin, error))
}

/// The columns of data in memory that a recipe makes: by name where both have names.
fn of_model(data: Dataset, origin: &str, recipe: &TableRecipe) -> Result<Dataset, Error> {
    let Some(known) = data.names().filter(|_| recipe.is_named()) else { return Ok(data) };
    let mut names = Vec::new();
    for column in &recipe.columns {
        let name = column.column.name.as_deref().unwrap_or_default();
        match &column.categories {
            None => names.push(name.to_string()),
            Some(values) => names.extend(values.iter().map(|value| format!("{name}={value}"))),
        }
    }
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        let error = maxmargin::Error::Data {
            what: format!("there is no column {}, which the model needs", quoted(name)),
            help: format!("the columns are {}", listed(known.iter().map(|name| quoted(name)), 8)),
        };
        return Err(data_error(origin, error));
    }
    data.select_columns(&names).map_err(|error| data_error(origin, error))
}

impl Head<'_> {
    /// The features: the columns asked for, or all but the label, without those excluded.
    fn chosen(&self, options: &ReadOptions, label: Option<usize>) -> Result<Vec<usize>, Error> {
        let mut features = match &options.columns {
            Some(asked) => self.find_all(asked, Setting::Columns)?,
            None => (0..self.width).filter(|&place| Some(place) != label).collect(),
        };
        if !options.exclude.is_empty() {
            let excluded: HashSet<usize> = self.find_all(&options.exclude, Setting::Exclude)?.into_iter().collect();
            if let Some(label) = label.filter(|label| excluded.contains(label)) {
                let what = format!("{} is the label and also among the columns to leave out", self.describe(label));
                let help = Help::from("choose another label with ").name(Setting::Label);
                return Err(settings_error(self.origin, what, help.and(", or take it out of ").name(Setting::Exclude)));
            }
            features.retain(|place| !excluded.contains(place));
            if features.is_empty() {
                let what = "all columns are left out, and none is there to learn from";
                return Err(settings_error(self.origin, what, "leave a column in"));
            }
        }
        Ok(features)
    }
}

impl Columns {
    /// Finds the columns asked for, or those that a recipe needs.
    ///
    /// # Errors
    /// When one is not there, or asked for twice.
    pub(crate) fn new(head: Head<'_>, options: &ReadOptions) -> Result<Self, Error> {
        if let Some(recipe) = &options.recipe {
            return Columns::of_recipe(head, recipe, options);
        }
        let label = match (&options.label, options.answers) {
            (_, AnswerKind::None) => None,
            (Some(name), _) => Some(head.find(name)?),
            (None, _) => Some(head.width - 1),
        };
        let features = head.chosen(options, label)?;
        if let Some(label) = label.filter(|label| features.contains(label)) {
            let what = format!("{} is the label and also among the columns to keep", head.describe(label));
            let help = Help::from("leave it out of ").name(Setting::Columns);
            return Err(settings_error(head.origin, what, help.and(", or choose another with ").name(Setting::Label)));
        }
        let are_named = head.named || options.columns.is_some() || !options.exclude.is_empty();
        Ok(Columns {
            width: head.width,
            label,
            answers: options.answers,
            kinds: vec![Kind::Number; features.len()],
            fills: Vec::new(),
            names: are_named.then(|| features.iter().map(|&place| head.name(place)).collect()),
            features,
            label_name: label.filter(|_| head.named).map(|place| head.name(place)),
            named: head.named,
            missing: options.missing,
        })
    }

    /// Finds the columns that a recipe needs: by name where both have names, else by place.
    fn of_recipe(head: Head<'_>, recipe: &TableRecipe, options: &ReadOptions) -> Result<Self, Error> {
        let by_name = head.named && recipe.is_named();
        let (used, width) = (recipe.used(), head.width);
        let asked = match (&options.label, options.answers) {
            (Some(name), AnswerKind::Classes | AnswerKind::Numbers) => Some(head.find(name)?),
            _ => None,
        };
        let trained = recipe.label.as_ref().map(|label| label.place);
        let needed = || {
            let found = if width == 1 { "1 column".into() } else { format!("{width} columns") };
            let names: Vec<String> =
                recipe.columns.iter().filter_map(|c| c.column.name.as_deref()).map(quoted).collect();
            let help = if names.is_empty() {
                "give the columns that the model was trained on, in their order".into()
            } else {
                format!("give its columns in this order, or with a header: {}", listed(names.into_iter(), 8))
            };
            let what = format!("found {found}, but the model needs {used}");
            data_error(head.origin, maxmargin::Error::Data { what, help })
        };
        let (features, label) = if by_name {
            let find = |column: &ColumnRecipe| {
                let name = column.column.name.as_deref().unwrap_or_default();
                head.names.and_then(|names| names.iter().position(|known| known == name)).ok_or_else(|| {
                    let error = maxmargin::Error::Data {
                        what: format!("there is no column {}, which the model needs", quoted(name)),
                        help: format!(
                            "the columns are {}",
                            listed(head.names.unwrap_or_default().iter().map(|name| quoted(name)), 8)
                        ),
                    };
                    data_error(head.origin, error)
                })
            };
            let features: Vec<usize> = recipe.columns.iter().map(find).collect::<Result<_, _>>()?;
            let label = match &recipe.label {
                Some(label) => {
                    head.names.and_then(|names| names.iter().position(|known| Some(known) == label.name.as_ref()))
                }
                None => Some(width - 1),
            };
            (features, label)
        } else {
            // As in training; or without the label, which was not the last for all that is known; or these columns alone.
            let places = |shift: &dyn Fn(usize) -> usize| -> Vec<usize> {
                if recipe.columns.is_empty() {
                    (0..recipe.width).filter(|place| Some(*place) != trained).map(shift).collect()
                } else {
                    recipe.columns.iter().map(|column| shift(column.column.place)).collect()
                }
            };
            match trained {
                Some(label) if width == recipe.width => (places(&|place| place), Some(label)),
                Some(label) if width + 1 == recipe.width => (places(&|place| place - usize::from(place > label)), None),
                None if width == recipe.width => (places(&|place| place), None),
                _ if width == used + 1 => {
                    let label = asked.unwrap_or(used);
                    ((0..width).filter(|&place| place != label).collect(), Some(label))
                }
                _ if width == used => ((0..used).collect(), None),
                _ => return Err(needed()),
            }
        };
        if features.iter().any(|&place| place >= width) {
            return Err(needed());
        }
        let label = match (asked, options.answers) {
            (_, AnswerKind::None) => None,
            (Some(label), _) => Some(label),
            (None, _) => label,
        };
        // A label that the model computes with is none.
        let taken: HashSet<usize> = features.iter().copied().collect();
        let label = label.filter(|label| !taken.contains(label));
        let kind = |column: &ColumnRecipe| column.categories.clone().map_or(Kind::Number, Kind::Values);
        let are_listed = !recipe.columns.is_empty();
        let name =
            |column: &ColumnRecipe| column.column.name.clone().unwrap_or_else(|| (column.column.place + 1).to_string());
        Ok(Columns {
            width,
            label,
            answers: options.answers,
            kinds: if are_listed {
                recipe.columns.iter().map(kind).collect()
            } else {
                vec![Kind::Number; features.len()]
            },
            fills: recipe.columns.iter().map(|column| column.fill).collect(),
            names: are_listed.then(|| recipe.columns.iter().map(name).collect()),
            features,
            label_name: label.filter(|_| head.named).map(|place| head.name(place)),
            named: head.named,
            missing: recipe.missing,
        })
    }

    /// How the columns become numbers, to be applied to other tables.
    pub(crate) fn recipe(&self) -> TableRecipe {
        let raw = |place: usize, name: Option<&String>| RawColumn { name: name.filter(|_| self.named).cloned(), place };
        let column = |feature: usize| ColumnRecipe {
            column: raw(self.features[feature], self.names.as_ref().map(|names| &names[feature])),
            categories: match &self.kinds[feature] {
                Kind::Number => None,
                Kind::Values(values) => Some(values.clone()),
            },
            fill: self.fills.get(feature).copied().flatten(),
        };
        let listed = if self.names.is_some() { self.features.len() } else { 0 };
        TableRecipe {
            width: self.width,
            label: self.label.map(|place| raw(place, self.label_name.as_ref())),
            columns: (0..listed).map(column).collect(),
            missing: self.missing,
        }
    }

    /// Data with how it was read.
    ///
    /// # Errors
    /// When all rows were left out.
    pub(crate) fn read_data(&self, data: Dataset, tally: &Tally, origin: &str) -> Result<ReadData, Error> {
        if data.rows() == 0 {
            return Err(all_dropped(origin));
        }
        let (recipe, remarks) = (Some(self.recipe()), Remarks::new(tally, self));
        Ok(ReadData { data, recipe, remarks })
    }

    /// Sets what was learnt of all rows: the values of columns that become one column for each, and what missing numbers become.
    pub(crate) fn settle(&mut self, kinds: Vec<Kind>, fills: Vec<Option<f64>>, head: Head<'_>) {
        (self.kinds, self.fills) = (kinds, fills);
        if !self.is_dense() || self.missing.is_learnt() {
            self.names.get_or_insert_with(|| self.features.iter().map(|&place| head.name(place)).collect());
        }
    }

    /// What a missing number becomes; `None` where it is an error, or its row is left out.
    pub(crate) fn fill(&self, feature: usize) -> Option<f64> {
        match self.missing {
            Missing::Zero => Some(0.0),
            Missing::Error | Missing::Drop => None,
            Missing::Mean | Missing::Median => self.fills.get(feature).copied().flatten(),
        }
    }

    /// How many columns the data set has.
    pub(crate) fn columns(&self) -> usize {
        let columns = |kind: &Kind| match kind {
            Kind::Number => 1,
            Kind::Values(values) => values.len(),
        };
        self.kinds.iter().map(columns).sum()
    }

    /// Whether each column is one number, so that zeros are read as well.
    pub(crate) fn is_dense(&self) -> bool {
        self.kinds.iter().all(|kind| matches!(kind, Kind::Number))
    }

    /// The names of the columns of the data set, where it has any.
    pub(crate) fn feature_names(&self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for (name, kind) in self.names.as_ref()?.iter().zip(&self.kinds) {
            match kind {
                Kind::Number => names.push(name.clone()),
                Kind::Values(values) => names.extend(values.iter().map(|value| format!("{name}={value}"))),
            }
        }
        Some(names)
    }

    /// What is read of each row beside its columns: nothing where there is no label column.
    pub(crate) fn answers(&self) -> AnswerKind {
        if self.label.is_some() { self.answers } else { AnswerKind::None }
    }

    /// The answers that a column of labels holds; `row` is the number of a label's row, for messages.
    ///
    /// # Errors
    /// When a label is no number where one is asked for.
    pub(crate) fn answers_of(
        &self,
        labels: Vec<Label>,
        origin: &str,
        row: impl Fn(usize) -> u64,
    ) -> Result<Answers, Error> {
        let name = || match (&self.label_name, self.label) {
            (Some(name), Some(place)) => format!("{} {}", place + 1, quoted(name)),
            (_, place) => place.map_or_else(String::new, |place| (place + 1).to_string()),
        };
        answers_of(self.answers(), labels, origin, row, name)
    }

    /// Rows of raw columns as a data set. Missing numbers are NaN here, and missing values of categories `None`; `first` rows of the table came before.
    pub(crate) fn assemble(
        &self,
        raw: Vec<RawValues>,
        labels: Vec<Option<Label>>,
        (origin, first): (&str, u64),
        tally: &mut Tally,
    ) -> Result<Dataset, Error> {
        let rows = labels.len();
        let lacks = |row: usize| {
            labels[row].is_none()
                || raw.iter().any(|column| match column {
                    RawValues::Numbers(values) => values.get(row).is_nan(),
                    RawValues::Words(codes) => codes[row] == MISSING,
                })
        };
        let kept: Option<Vec<usize>> =
            (self.missing == Missing::Drop).then(|| (0..rows).filter(|&row| !lacks(row)).collect());
        if let Some(kept) = &kept {
            let is_kept: HashSet<usize> = kept.iter().copied().collect();
            tally.dropped.extend((0..rows).filter(|row| !is_kept.contains(row)).map(|row| tally.rows + row as u64));
        }
        tally.rows += rows as u64;
        let count = kept.as_ref().map_or(rows, Vec::len);
        let row_at = |place: usize| kept.as_ref().map_or(place, |kept| kept[place]);
        let (mut filled, mut lacking) = (vec![0u64; raw.len()], vec![0u64; raw.len()]);
        let mut number = |feature: usize, value: f64| match self.fill(feature).filter(|_| value.is_nan()) {
            Some(fill) => {
                filled[feature] += 1;
                fill
            }
            None => value,
        };
        let matrix = if !self.is_dense() {
            let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
            for place in 0..count {
                let (row, mut column) = (row_at(place), 0);
                for (feature, (from, kind)) in raw.iter().zip(&self.kinds).enumerate() {
                    let width = if let Kind::Values(words) = kind { words.len() } else { 1 };
                    let (step, value) = match from {
                        RawValues::Numbers(numbers) => (0, number(feature, numbers.get(row))),
                        RawValues::Words(codes) if codes[row] >= UNSEEN => {
                            lacking[feature] += u64::from(codes[row] == MISSING);
                            (0, 0.0)
                        }
                        RawValues::Words(codes) => (codes[row], 1.0),
                    };
                    if value != 0.0 {
                        indices.push(column + step);
                        values.push(value);
                    }
                    column += width as u32;
                }
                offsets.push(values.len() as u64);
            }
            sparse_matrix(self.columns(), offsets, indices, values, &maxmargin::Workers::none())
        } else {
            let columns: Vec<&Values> = raw.iter().filter_map(RawValues::numbers).collect();
            let width = columns.len();
            let cells = (0..count).flat_map(|place| (0..width).map(move |feature| (place, feature)));
            let value = |(place, feature): (usize, usize)| number(feature, columns[feature].get(row_at(place)));
            if columns.iter().all(|column| matches!(column, Values::F32(_))) {
                Matrix::dense(count, width, cells.map(value).map(|value| value as f32).collect::<Vec<f32>>())
            } else {
                Matrix::dense(count, width, cells.map(value).collect::<Vec<f64>>())
            }
            .and_then(settle)
        };
        let counts = filled.iter().zip(&lacking).map(|(numbers, words)| numbers + words).enumerate();
        counts.for_each(|(feature, count)| tally.filled(feature, count));
        let labels: Vec<Label> = (0..count).filter_map(|place| labels[row_at(place)].clone()).collect();
        let answers = self.answers_of(labels, origin, |place| first + row_at(place) as u64 + 1)?;
        matrix
            .and_then(|matrix| Dataset::new(matrix, answers))
            .and_then(|data| match self.feature_names() {
                Some(names) => data.with_names(names),
                None => Ok(data),
            })
            .map_err(|error| data_error(origin, error))
    }
}

/// Labels as answers of this kind; the number of a label's row and its column are for messages.
///
/// # Errors
/// When a label is no number where one is asked for.
pub(crate) fn answers_of(
    kind: AnswerKind,
    labels: Vec<Label>,
    origin: &str,
    row: impl Fn(usize) -> u64,
    column: impl Fn() -> String,
) -> Result<Answers, Error> {
    let target = |(place, label): (usize, &Label)| {
        label.number().map(|number| number + 0.0).ok_or_else(|| Error::Content {
            path: origin.into(),
            found: format!("{} in row {}, column {}", quoted(label.text()), row(place), column()),
            expected: "a number to learn".into(),
            help: TARGET_HELP.into(),
        })
    };
    Ok(match kind {
        AnswerKind::Classes => Labels::new(labels).into(),
        AnswerKind::Numbers => labels.iter().enumerate().map(target).collect::<Result<Vec<f64>, Error>>()?.into(),
        AnswerKind::None => Answers::None,
    })
}

/// Checks that a table that is no text has columns enough.
pub(crate) fn check_width(head: Head<'_>, options: &ReadOptions) -> Result<(), Error> {
    let width = head.width;
    if width >= 2 || (options.answers == AnswerKind::None || options.recipe.is_some()) && width >= 1 {
        return Ok(());
    }
    Err(content(
        head.origin,
        if width == 1 { "one column" } else { "no columns" },
        "a label column and at least one more",
        "give the features and the label in one table, the label in the last column",
    ))
}

/// The way out for a column that cannot be read.
pub(crate) fn leave_out(name: &str) -> Help {
    Help::from("leave the column out with ").set(Setting::Exclude, name).and(", or save it as numbers or text")
}

/// The place of a value among the categories; one that is not known is counted.
pub(crate) fn code_of(values: &[String], text: Option<&str>, feature: usize, tally: &mut Tally) -> u32 {
    let Some(text) = text else { return MISSING };
    match values.binary_search_by(|value| value.as_str().cmp(text)) {
        Ok(place) => place as u32,
        Err(_) => {
            tally.unseen(feature, text);
            UNSEEN
        }
    }
}

/// The code of a missing value of a column of categories.
pub(crate) const MISSING: u32 = u32::MAX;
/// The code of a value that is none of the known categories.
pub(crate) const UNSEEN: u32 = u32::MAX - 1;

/// The values of a column before missing ones are seen to.
pub(crate) enum RawValues {
    /// Numbers; a missing one is NaN.
    Numbers(Values),
    /// The places of values among the categories, [`MISSING`] or [`UNSEEN`].
    Words(Vec<u32>),
}

impl RawValues {
    fn numbers(&self) -> Option<&Values> {
        match self {
            RawValues::Numbers(values) => Some(values),
            RawValues::Words(_) => None,
        }
    }
}

/// A dense matrix, or its rows without the zeros where more than half of its numbers are zero.
pub(crate) fn settle(matrix: Matrix) -> Result<Matrix, maxmargin::Error> {
    let Matrix::Dense(dense) = &matrix else { return Ok(matrix) };
    let zeros = match dense.values() {
        Values::F32(values) => values.iter().filter(|&&value| value == 0.0).count(),
        Values::F64(values) => values.iter().filter(|&&value| value == 0.0).count(),
    };
    if matrix.entries() - zeros >= matrix.entries().div_ceil(2) {
        return Ok(matrix);
    }
    let single = matches!(dense.values(), Values::F32(_));
    match matrix.to_sparse() {
        Matrix::Sparse(csr) if single => {
            let values: Vec<f32> = (0..csr.values().len()).map(|place| csr.values().get(place) as f32).collect();
            let (offsets, indices) = (Csr::offsets(&csr).to_vec(), csr.indices().to_vec());
            Matrix::sparse(matrix.rows(), matrix.columns(), offsets, indices, values)
        }
        sparse => Ok(sparse),
    }
}

/// The error of a number that is none: where it is, and the way out.
pub(crate) fn not_finite(origin: &str, value: f64, row: u64, column: &str) -> Error {
    let error = maxmargin::Error::Data {
        what: format!("the value in row {row}, column {column} is {value}"),
        help: "leave the row out, or fill the value in (with the column's mean, say)".into(),
    };
    Error::Data { path: origin.into(), error }
}

/// The error of a whole number that double precision cannot hold.
pub(crate) fn too_large(origin: &str, value: &str, row: u64, column: &str) -> Error {
    let what =
        format!("the whole number {value} in row {row}, column {column} has more digits than can be computed with");
    let help = Help::from("leave the column out with ").name(Setting::Exclude);
    settings_error(origin, what, help.and(", or subtract what its values share"))
}
