//! One look at all of a table: what each column holds, whatever is wrong with it.
//!
//! It is what `doctor` shows, and what is learnt from before a table is read whose missing values are filled in or whose words
//! become columns. Cost: one pass; a column keeps up to 1,001 different values, and its numbers where their median is asked for.

use std::collections::HashSet;
use std::sync::Arc;

use maxmargin::data::Missing;

use crate::block::Block;
use crate::columns::{Columns, Head, Kind, VALUES_LIMIT};
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::read::{Categorical, ReadOptions, settings_error};
use crate::rows::Fault;
use crate::table::{Cell, Table};

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// It is the label.
    Label,
    /// A model is to learn from it.
    Feature,
    /// It is left out.
    LeftOut,
}

/// What all cells of a column come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// There is no value.
    Empty,
    /// Numbers, some with digits behind the point.
    Numbers,
    /// Whole numbers.
    WholeNumbers,
    /// True and False.
    Truths,
    /// Dates or times.
    Dates,
    /// Words.
    Words,
    /// Numbers and words.
    Mixed,
    /// Values of a kind that cannot be read, such as lists.
    Other,
}

impl ColumnKind {
    /// What users are told.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Empty => "empty",
            ColumnKind::Numbers => "numbers",
            ColumnKind::WholeNumbers => "whole numbers",
            ColumnKind::Truths => "true or false",
            ColumnKind::Dates => "dates",
            ColumnKind::Words => "words",
            ColumnKind::Mixed => "numbers and words",
            ColumnKind::Other => "no plain values",
        }
    }
}

/// What a column holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColumnSurvey {
    /// Its name, or its number counted from 1.
    pub name: String,
    /// Whether the name is the table's.
    pub named: bool,
    /// What it is used for.
    pub role: ColumnRole,
    /// Cells that are finite numbers, or True and False.
    pub numbers: u64,
    /// Cells that say True or False.
    pub truths: u64,
    /// Cells of other text.
    pub words: u64,
    /// Those of them that are dates or times.
    pub dates: u64,
    /// Cells without a value.
    pub missing: u64,
    /// Infinite numbers.
    pub infinite: u64,
    /// Whether all numbers are whole.
    pub whole: bool,
    /// Whether all cells are whole numbers, each greater by one than the one before.
    pub counts_rows: bool,
    /// The smallest number and the largest.
    pub range: Option<(f64, f64)>,
    /// The first cell of text.
    pub first_word: Option<String>,
    /// Whether the file says that it holds something else than numbers and texts.
    pub other: bool,
    last: f64,
    /// The rows that are learnt from, and how many rows have been looked at; `None` learns from all.
    learn_from: Option<Arc<[bool]>>,
    at: usize,
    /// The numbers that are learnt from, and their mean.
    learnt: u64,
    mean: f64,
    texts: HashSet<String>,
    bits: HashSet<u64>,
    /// Whether numbers are told apart by how they are written.
    by_text: bool,
    /// All numbers, where their median is asked for.
    all: Option<Vec<f64>>,
}

impl ColumnSurvey {
    fn new(name: String, named: bool, role: ColumnRole, by_text: bool, keeps_all: bool) -> Self {
        ColumnSurvey {
            name,
            named,
            role,
            numbers: 0,
            truths: 0,
            words: 0,
            dates: 0,
            missing: 0,
            infinite: 0,
            whole: true,
            counts_rows: true,
            range: None,
            first_word: None,
            other: false,
            last: 0.0,
            learn_from: None,
            at: 0,
            learnt: 0,
            mean: 0.0,
            texts: HashSet::new(),
            bits: HashSet::new(),
            by_text,
            all: keeps_all.then(Vec::new),
        }
    }

    /// Adds a cell of a text.
    fn cell(&mut self, cell: Cell, text: &str) {
        match cell {
            Cell::Missing => self.missing(),
            Cell::Number(value) => {
                self.truths += u64::from(text.starts_with(['T', 't', 'F', 'f']));
                self.number(value, text);
            }
            Cell::Infinite => self.infinite(),
            Cell::Text => self.word(text),
        }
    }

    /// Whether the row of the next cell is learnt from. Each cell is added once.
    fn next_is_learnt(&mut self) -> bool {
        let row = self.at;
        self.at += 1;
        self.learn_from.as_ref().is_none_or(|rows| rows.get(row).copied().unwrap_or(false))
    }

    /// Adds a missing value.
    pub(crate) fn missing(&mut self) {
        self.next_is_learnt();
        self.missing += 1;
        self.counts_rows = false;
    }

    pub(crate) fn infinite(&mut self) {
        self.next_is_learnt();
        self.infinite += 1;
        self.counts_rows = false;
    }

    /// Adds a text.
    pub(crate) fn word(&mut self, text: &str) {
        self.words += 1;
        self.dates += u64::from(is_date(text));
        self.counts_rows = false;
        if self.first_word.is_none() {
            self.first_word = Some(text.into());
        }
        if self.next_is_learnt() {
            self.keep(text);
        }
    }

    /// Adds a number, which is written so.
    pub(crate) fn number(&mut self, value: f64, text: &str) {
        self.numbers += 1;
        self.whole &= value.fract() == 0.0;
        self.counts_rows &= self.whole && (self.numbers == 1 || value == self.last + 1.0);
        self.last = value;
        let (least, most) = self.range.unwrap_or((value, value));
        self.range = Some((least.min(value), most.max(value)));
        if !self.next_is_learnt() {
            return;
        }
        self.learnt += 1;
        // A running mean cannot overflow.
        self.mean += (value - self.mean) / self.learnt as f64;
        if self.by_text {
            self.keep(text);
        } else if self.bits.len() <= VALUES_LIMIT {
            self.bits.insert((value + 0.0).to_bits());
        }
        if let Some(all) = &mut self.all {
            all.push(value);
        }
    }

    /// Adds a number of a table that is no text.
    pub(crate) fn value(&mut self, value: f64) {
        if value.is_nan() {
            self.missing();
        } else if value.is_infinite() {
            self.infinite();
        } else if self.by_text {
            self.number(value, &value.to_string());
        } else {
            self.number(value, "");
        }
    }

    fn keep(&mut self, text: &str) {
        // One above the limit is enough to see that it is exceeded.
        if self.texts.len() <= VALUES_LIMIT && !self.texts.contains(text) {
            self.texts.insert(text.into());
        }
    }

    /// How many different values there are; `None` when there are more than 1,000.
    pub fn distinct(&self) -> Option<usize> {
        let count = self.texts.len() + self.bits.len();
        (self.texts.len() <= VALUES_LIMIT && self.bits.len() <= VALUES_LIMIT).then_some(count)
    }

    /// Cells with a value.
    pub fn values(&self) -> u64 {
        self.numbers + self.words + self.infinite
    }

    /// What all cells come to.
    pub fn kind(&self) -> ColumnKind {
        match (self.numbers + self.infinite, self.words) {
            _ if self.other => ColumnKind::Other,
            (0, 0) => ColumnKind::Empty,
            (0, words) if self.dates == words => ColumnKind::Dates,
            (0, _) => ColumnKind::Words,
            (numbers, 0) if self.truths == numbers => ColumnKind::Truths,
            (_, 0) if self.whole && self.infinite == 0 => ColumnKind::WholeNumbers,
            (_, 0) => ColumnKind::Numbers,
            _ => ColumnKind::Mixed,
        }
    }

    /// Whether the column names its rows, and tells nothing else of them: it counts them, or it is called so and no value comes twice.
    pub fn is_identifier(&self) -> bool {
        let all_differ = self.distinct().is_none_or(|distinct| distinct as u64 == self.values());
        let counts = self.counts_rows && self.numbers >= FEWEST_COUNTED;
        let is_whole = self.words > 0 || (self.whole && self.infinite == 0);
        self.missing == 0
            && (counts || (self.named && is_identifier_name(&self.name) && all_differ && is_whole && self.values() > 1))
    }

    /// What a missing number becomes; `None` where there is no number, or nothing is learnt. Where none of the rows that are learnt from has a number,
    /// but others have, it is 0.
    fn fill(&self, missing: Missing) -> Option<f64> {
        let found = match missing {
            Missing::Mean => (self.learnt > 0).then_some(self.mean),
            Missing::Median => self.median(),
            _ => return None,
        };
        found.or((self.numbers > 0).then_some(0.0))
    }

    /// The middle of the numbers.
    fn median(&self) -> Option<f64> {
        let mut all = self.all.clone()?;
        all.sort_by(f64::total_cmp);
        let (low, high) = (*all.get(all.len().checked_sub(1)? / 2)?, *all.get(all.len() / 2)?);
        Some(0.5 * low + 0.5 * high)
    }
}

/// Fewest rows for which a column that counts up by one is taken for a counter. In fewer rows that may be chance.
const FEWEST_COUNTED: u64 = 10;

/// Whether a column is called as one that names its rows.
pub fn is_identifier_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    matches!(
        &lower[..],
        "id" | "index" | "idx" | "row" | "rowid" | "row_id" | "uuid" | "key" | "unnamed: 0" | "no" | "nr"
    ) || ["_id", " id", "-id", ".id", "_index", "_key"].iter().any(|end| lower.ends_with(end))
        || name.len() > 2 && (name.ends_with("Id") || name.ends_with("ID"))
}

/// The names that labels mostly have.
pub fn is_label_name(name: &str) -> bool {
    matches!(
        &name.trim().to_lowercase()[..],
        "target" | "label" | "labels" | "class" | "y" | "outcome" | "diagnosis" | "species"
    )
}

/// Whether a text is a date or a time: digits in groups with `-`, `/`, `.` or `:` between, two groups at least.
fn is_date(text: &str) -> bool {
    let body = text.strip_suffix('Z').unwrap_or(text);
    let groups: Vec<&str> = body.split(['-', '/', '.', ':', ' ', 'T']).collect();
    let is_number = |group: &&str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = body.contains(':') && groups.len() == 2;
    let is_day = (3..=8).contains(&groups.len()) && groups[1].len() <= 2;
    (is_time || is_day) && groups.iter().all(is_number) && groups.iter().take(3).all(|group| group.len() <= 4)
}

/// What a table holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableSurvey {
    /// The rows, with those of another width.
    pub rows: u64,
    /// All columns, in their order.
    pub columns: Vec<ColumnSurvey>,
    /// Rows that have not as many cells as the first, and the row, counted from 1, that is the first of them.
    pub ragged: Option<(u64, u64)>,
    /// Why the table could not be looked at to its end.
    pub fault: Option<Error>,
}

impl TableSurvey {
    /// A look that has not begun.
    pub(crate) fn new(head: Head<'_>, columns: &Columns, options: &ReadOptions) -> Result<Self, Error> {
        let named = categorical_places(head, options)?;
        let features: HashSet<usize> = columns.features.iter().copied().collect();
        let column = |place: usize| {
            let role = match columns.label {
                Some(label) if label == place => ColumnRole::Label,
                _ if features.contains(&place) => ColumnRole::Feature,
                _ => ColumnRole::LeftOut,
            };
            let by_text =
                named.contains(&place) || options.categorical == Categorical::Words || role == ColumnRole::Label;
            let keeps_all = options.missing == Missing::Median && role == ColumnRole::Feature;
            let column = ColumnSurvey::new(head.name(place), head.named, role, by_text, keeps_all);
            ColumnSurvey { learn_from: options.learn_from.clone(), ..column }
        };
        Ok(TableSurvey { rows: 0, columns: (0..head.width).map(column).collect(), ragged: None, fault: None })
    }

    /// Adds the rows of a block of text.
    pub(crate) fn add(&mut self, table: &Table, block: &Block) -> Result<(), Fault> {
        table.each_row(block, |record, _| {
            self.rows += 1;
            if record.len() != self.columns.len() {
                let row = self.rows;
                self.ragged = Some(self.ragged.map_or((1, row), |(rows, first)| (rows + 1, first)));
                return;
            }
            for (column, text) in self.columns.iter_mut().zip(record.iter()) {
                let text = text.trim();
                column.cell(table.cell(text), text);
            }
        })
    }

    /// The columns whose label it may be: one of a name that labels have, or the first where the last one cannot be it.
    pub fn other_label(&self) -> Option<&ColumnSurvey> {
        let label = self.columns.iter().find(|column| column.role == ColumnRole::Label)?;
        let by_name = self.columns.iter().find(|column| {
            column.named && column.role != ColumnRole::Label && is_label_name(&column.name) && column.values() > 0
        });
        if is_label_name(&label.name) && label.named {
            return None;
        }
        by_name.or_else(|| {
            let first = self.columns.first().filter(|first| first.role == ColumnRole::Feature)?;
            (!may_be_label(label) && may_be_label(first) && !first.is_identifier()).then_some(first)
        })
    }
}

/// Whether a column may hold classes: few different values, and each in every row.
fn may_be_label(column: &ColumnSurvey) -> bool {
    let few = column
        .distinct()
        .is_some_and(|distinct| (2..=50).contains(&distinct) && (distinct as u64) * 2 <= column.values().max(4));
    few && column.missing == 0 && column.infinite == 0 && (column.whole || column.numbers == 0)
}

/// The columns that are asked for as categories.
fn categorical_places(head: Head<'_>, options: &ReadOptions) -> Result<HashSet<usize>, Error> {
    match &options.categorical {
        Categorical::Named(names) => Ok(head.find_all(names, Setting::Categorical)?.into_iter().collect()),
        _ => Ok(HashSet::new()),
    }
}

/// The way out that leaves a column out.
fn without(head: Head<'_>, place: usize) -> Help {
    Help::from("leave the column out with ").set(Setting::Exclude, head.name(place))
}

/// Whether a table has to be looked at before it can be read.
pub(crate) fn is_needed(options: &ReadOptions) -> bool {
    options.learns()
}

/// Learns from a look what becomes of columns.
///
/// # Errors
/// When a column has too many values to be categories, or no number to fill in, or is not among those that are used.
pub(crate) fn learn(
    survey: &TableSurvey,
    columns: &mut Columns,
    head: Head<'_>,
    options: &ReadOptions,
) -> Result<(), Error> {
    let named = categorical_places(head, options)?;
    if let Some(&place) = named.iter().filter(|place| !columns.features.contains(place)).min() {
        let what = if columns.label == Some(place) {
            format!("{} is the label and also among the categories", head.describe(place))
        } else {
            format!("{} is left out and also among the categories", head.describe(place))
        };
        return Err(settings_error(head.origin, what, Help::from("leave it out of ").name(Setting::Categorical)));
    }
    let (mut kinds, mut fills) = (Vec::new(), Vec::new());
    for &place in &columns.features {
        let column = &survey.columns[place];
        let is_values = named.contains(&place) || (options.categorical == Categorical::Words && column.words > 0);
        if is_values {
            if column.texts.len() > VALUES_LIMIT {
                return Err(Error::Limit {
                    path: head.origin.into(),
                    what: format!("{} has more than {VALUES_LIMIT} different values", head.describe(place)),
                    help: without(head, place).and(", or join rare values"),
                });
            }
            let mut values: Vec<String> = column.texts.iter().cloned().collect();
            values.sort();
            kinds.push(Kind::Values(values));
            fills.push(None);
            continue;
        }
        let fill = column.fill(options.missing);
        if options.missing.is_learnt() && fill.is_none() && column.words == 0 {
            let what = format!("{} has no value at all, so no {} either", head.describe(place), options.missing.name());
            return Err(settings_error(head.origin, what, without(head, place)));
        }
        kinds.push(Kind::Number);
        fills.push(fill);
    }
    columns.settle(kinds, fills, head);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_told_from_other_words() {
        for text in
            ["2020-01-31", "31.1.2020", "1/2/99", "2020-01-31 12:30", "2020-01-31T12:30:00Z", "12:30", "12:30:59"]
        {
            assert!(is_date(text), "{text}");
        }
        for text in ["red", "1-2", "a-b-c", "Braund, Mr. Owen", "A/5 21171", "-", "1.2.3kg", "10.0.0.x"] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn names_of_identifiers_and_labels_are_known() {
        assert!(
            ["id", "ID", "PassengerId", "user_id", "Unnamed: 0", "index"].iter().all(|name| is_identifier_name(name))
        );
        assert!(!["width", "humid", "idle", "Id of", "age"].iter().any(|name| is_identifier_name(name)));
        assert!(is_label_name("Target") && is_label_name("y") && !is_label_name("yes"));
    }

    #[test]
    fn only_the_rows_that_are_learnt_from_count() {
        let mut column = ColumnSurvey::new("x".into(), true, ColumnRole::Feature, false, true);
        column.learn_from = Some([true, false, true, false].into());
        column.value(1.0);
        column.value(100.0);
        column.missing();
        column.value(7.0);
        assert_eq!((column.fill(Missing::Mean), column.fill(Missing::Median)), (Some(1.0), Some(1.0)));
        assert_eq!((column.numbers, column.missing, column.fill(Missing::Zero)), (3, 1, None));
        let mut words = ColumnSurvey::new("x".into(), true, ColumnRole::Feature, true, false);
        words.learn_from = Some([false, true].into());
        words.word("red");
        words.word("blue");
        assert_eq!((words.words, words.texts.len(), words.texts.contains("blue")), (2, 1, true));
        // Others have a number, but none of those that are learnt from.
        let mut empty = ColumnSurvey::new("x".into(), true, ColumnRole::Feature, false, true);
        empty.learn_from = Some([false].into());
        empty.value(3.0);
        assert_eq!(empty.fill(Missing::Mean), Some(0.0));
    }

    #[test]
    fn the_median_of_an_even_number_of_values_is_between_the_two_in_the_middle() {
        let of = |values: &[f64]| {
            let mut column = ColumnSurvey::new("x".into(), true, ColumnRole::Feature, false, true);
            values.iter().for_each(|&value| column.value(value));
            column.median()
        };
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(of(&[4.0, 1.0, 2.0, f64::NAN, 10.0]), Some(3.0));
        assert_eq!(of(&[-f64::MAX, f64::MAX]), Some(f64::MAX / 2.0 + -f64::MAX / 2.0));
        assert_eq!(of(&[]), None);
    }
}
