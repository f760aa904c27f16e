//! What is said of tables: all that is wrong with one, what its columns are, and what to do about them.

use std::collections::HashSet;

use maxmargin::data::{AnswerKind, Dataset, Matrix, Missing, TableRecipe};
use maxmargin::error::{listed, quoted};
use maxmargin_io::{
    Categorical, ColumnKind, ColumnRole, ColumnSurvey, ReadOptions, Remarks, TableSurvey, is_identifier_name,
    is_label_name,
};
use serde_json::{Value, json};

use crate::failure::{Failure, help_of};
use crate::input::{dropped_words, filled_words};
use crate::output::escaped;
use crate::report::{Page, counted};

/// Fewer rows that count up by one may do so by chance.
const FEWEST_COUNTED: usize = 10;
/// A label of more different numbers than this is looked at twice.
const MANY_LABELS: usize = 20;
/// Words of more different values than this are hardly categories.
const MOST_CATEGORIES: usize = 50;

/// A column's name as a flag takes it.
fn flag(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c));
    if plain { name.to_string() } else { quoted(name) }
}

/// Why a column cannot be read as it is.
fn fault(column: &ColumnSurvey, options: &ReadOptions) -> Option<&'static str> {
    let is_words = options.categorical == Categorical::Words;
    match column.role {
        ColumnRole::LeftOut => None,
        ColumnRole::Label => (column.missing > 0 && options.missing != Missing::Drop).then_some("missing labels"),
        ColumnRole::Feature => match column.kind() {
            ColumnKind::Other => Some("values that cannot be read"),
            ColumnKind::Dates | ColumnKind::Words | ColumnKind::Mixed if !is_words => Some("words"),
            _ if column.infinite > 0 => Some("infinite numbers"),
            _ if column.missing > 0 && options.missing == Missing::Error => Some("missing values"),
            _ => None,
        },
    }
}

/// The error of a table that does not read, with all else that is wrong with it.
pub(crate) fn explained(
    error: maxmargin_io::Error,
    survey: &TableSurvey,
    options: &ReadOptions,
    origin: &str,
) -> Failure {
    use maxmargin_io::Error::{Content, Syntax};
    if !matches!(error, Syntax { .. } | Content { .. }) {
        return error.into();
    }
    let (mut what, mut help) = (error.to_string(), help_of(&error));
    let named = match &options.categorical {
        Categorical::Named(names) => &names[..],
        _ => &[],
    };
    let faulty: Vec<(usize, &ColumnSurvey)> = survey
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| fault(column, options).is_some() && !named.contains(&column.name))
        .collect();
    let lacking = |columns: &mut dyn Iterator<Item = &ColumnSurvey>| {
        let cells: Vec<String> = columns
            .filter(|column| column.missing > 0)
            .map(|column| format!("{} of {}", counted(column.missing as usize, "cell"), quoted(&column.name)))
            .collect();
        listed(cells.into_iter(), 8)
    };
    if what.contains("expected a value") {
        let cells = lacking(&mut faulty.iter().map(|(_, column)| *column));
        what.push_str(&format!("; missing in all: {cells}"));
    }
    let is_told = |(place, column): &&(usize, &ColumnSurvey)| {
        let number = place + 1;
        what.contains(&format!("column {number} "))
            || what.contains(&format!("column {number},"))
            || what.contains(&format!("column {}", quoted(&column.name)))
    };
    let told = faulty.iter().filter(is_told).count();
    let others: Vec<&(usize, &ColumnSurvey)> = faulty.iter().filter(|column| !is_told(column)).collect();
    if told > 0 && !others.is_empty() {
        let names = others
            .iter()
            .map(|(_, column)| format!("{} ({})", quoted(&column.name), fault(column, options).unwrap_or_default()));
        let verb = if others.len() == 1 { "does" } else { "do" };
        help.push_str(&format!("; and {} more {verb} not read: {}", counted(others.len(), "column"), listed(names, 4)));
    }
    if let Some((rows, _)) = survey.ragged.filter(|(rows, _)| told > 0 || *rows > 1) {
        help.push_str(&format!("; {} of another number of cells", counted(rows as usize, "row")));
    }
    if let Some(label) = survey.other_label().filter(|_| options.label.is_none() && options.answers != AnswerKind::None)
    {
        help.push_str(&format!("; if {} is the label: --label {}", quoted(&label.name), flag(&label.name)));
    }
    if faulty.len() > 1 || survey.ragged.is_some_and(|(rows, _)| rows > 1) {
        help.push_str(&format!("; maxmargin doctor {} lists them all", escaped(origin)));
    }
    Failure::new(what, help)
}

/// What a training should say of the columns it learns from: a fault, and the way out.
pub(crate) fn warnings(
    data: &Dataset,
    recipe: Option<&TableRecipe>,
    options: &ReadOptions,
    are_classes: bool,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for column in identifiers(data) {
        let name = data.name(column);
        found.push((
            format!("column {} numbers or names the rows, which tells nothing of others", quoted(&name)),
            format!("leave it out with --exclude {}", flag(&name)),
        ));
    }
    let other = recipe.filter(|_| options.label.is_none() && options.answers != AnswerKind::None);
    if let Some((recipe, name)) = other.and_then(|recipe| Some((recipe, other_label(data, recipe, are_classes)?))) {
        let last = recipe.label.as_ref().and_then(|label| label.name.as_deref());
        let last = last.map_or_else(String::new, |last| format!(", {}", quoted(last)));
        found.push((
            format!("the label is taken from the last column{last}, but column {} looks like it", quoted(&name)),
            format!("name it with --label {}", flag(&name)),
        ));
    }
    found
}

/// What is worth a word of how a table was read.
pub(crate) fn notes(remarks: &Remarks, way: Missing) -> Vec<String> {
    let made: usize = remarks.categories.iter().map(|(_, made)| made).sum();
    let columns = remarks.categories.iter().map(|(name, made)| format!("{} ({made})", quoted(name)));
    let categories = (!remarks.categories.is_empty()).then(|| {
        let from = counted(remarks.categories.len(), "column");
        format!("--categorical makes {} of {from}: {}", counted(made, "column"), listed(columns, 8))
    });
    categories.into_iter().chain(filled_words(remarks, way)).chain(dropped_words(remarks)).collect()
}

/// Columns that number the rows, or are called so and have another whole number in each row.
fn identifiers(data: &Dataset) -> Vec<usize> {
    let (matrix, rows) = (data.matrix(), data.rows());
    if rows < 2 || data.has_open_columns() {
        return Vec::new();
    }
    let (first, second) = (matrix.row(0), matrix.row(1));
    let mut counting: Vec<usize> = if rows >= FEWEST_COUNTED {
        (0..data.columns())
            .filter(|&column| first[column].fract() == 0.0 && second[column] == first[column] + 1.0)
            .collect()
    } else {
        Vec::new()
    };
    let mut row = 2;
    while row < rows && !counting.is_empty() {
        let values = matrix.row(row);
        counting.retain(|&column| values[column] == first[column] + row as f64);
        row += 1;
    }
    let is_called_so = |column: &usize| data.names().is_some_and(|names| is_identifier_name(&names[*column]));
    let called: Vec<usize> =
        (0..data.columns()).filter(is_called_so).filter(|column| !counting.contains(column)).collect();
    counting.extend(called.into_iter().filter(|&column| all_differ(matrix, column)));
    counting.sort_unstable();
    counting
}

/// Whether a column has another whole number in each row.
fn all_differ(matrix: &Matrix, column: usize) -> bool {
    let only = matrix.select_columns(&[Some(column)]);
    let mut seen = HashSet::new();
    (0..only.rows()).all(|row| only.row(row).first().is_some_and(|v| v.fract() == 0.0 && seen.insert(v.to_bits())))
}

/// The column that looks like the label, where the last one does not.
fn other_label(data: &Dataset, recipe: &TableRecipe, are_classes: bool) -> Option<String> {
    let label = recipe.label.as_ref()?;
    if label.name.as_deref().is_some_and(is_label_name) {
        return None;
    }
    let by_name =
        recipe.columns.iter().filter_map(|column| column.column.name.as_ref()).find(|name| is_label_name(name));
    if let Some(name) = by_name {
        return Some(name.clone());
    }
    // A last column of many numbers, and a first one of few.
    let classes = data.answers().labels()?.classes();
    let are_many = classes.len() > MANY_LABELS && classes.len() * 10 > data.rows();
    let are_numbers = classes.iter().all(|class| class.text().parse::<f64>().is_ok());
    let is_first = recipe.columns.first().is_none_or(|column| column.column.place == 0 && column.categories.is_none());
    if !(are_classes && are_many && are_numbers && is_first && label.place > 0) {
        return None;
    }
    let first = data.matrix().select_columns(&[Some(0)]);
    let mut seen = HashSet::new();
    let few = (0..first.rows()).all(|row| {
        first.row(row).first().is_some_and(|value| {
            seen.insert(value.to_bits());
            value.fract() == 0.0 && seen.len() <= MANY_LABELS
        })
    });
    (few && seen.len() >= 2 && seen.len() * 4 <= data.rows()).then(|| data.name(0))
}

/// What to do with a column, in words; and the flags that do it.
#[derive(Debug, Default)]
struct Advice {
    words: String,
    exclude: bool,
    categorical: bool,
    missing: bool,
}

fn advise(column: &ColumnSurvey) -> Advice {
    let words = |words: &str| Advice { words: words.into(), ..Advice::default() };
    let exclude = |text: &str| Advice { exclude: true, ..words(text) };
    if column.role == ColumnRole::LeftOut {
        return words("left out");
    }
    if column.role == ColumnRole::Label {
        let lacking = if column.missing > 0 { "; rows without it: --missing drop" } else { "" };
        return words(&format!("the label{lacking}"));
    }
    let distinct = column.distinct();
    let lacks = column.missing > 0;
    match column.kind() {
        ColumnKind::Empty => exclude("no value: --exclude"),
        ColumnKind::Other => exclude("cannot be read: --exclude"),
        _ if column.is_identifier() => exclude("names the rows: --exclude"),
        ColumnKind::Dates => exclude("--exclude, or make numbers of them"),
        ColumnKind::Words | ColumnKind::Mixed => {
            let few =
                distinct.is_some_and(|count| count <= MOST_CATEGORIES && (count as u64) * 2 <= column.values().max(6));
            let stray = column.kind() == ColumnKind::Mixed && column.words * 5 < column.numbers;
            let example = column.first_word.as_deref().map(quoted).unwrap_or_default();
            let text = match (stray, few) {
                (true, _) => format!("{} such as {example}: correct", counted(column.words as usize, "cell")),
                (false, true) => "--categorical".into(),
                (false, false) => "too many values: --exclude".into(),
            };
            Advice { exclude: !few, categorical: few, missing: few && lacks, ..words(&text) }
        }
        _ if column.infinite > 0 => {
            words(&format!("{} infinite: correct", counted(column.infinite as usize, "number")))
        }
        _ if distinct == Some(1) && !lacks => exclude("one value: --exclude"),
        _ if lacks => Advice { missing: true, ..words("--missing median") },
        _ => words(""),
    }
}

/// Adds the list of a table's columns to a page.
pub(crate) fn list(page: &mut Page, survey: &TableSurvey, command: Option<&str>) {
    let mut rows = vec![["column", "kind", "missing", "distinct", "advice"].map(String::from).to_vec()];
    for column in &survey.columns {
        rows.push(vec![
            crate::output::short(&column.name),
            column.kind().name().into(),
            column.missing.to_string(),
            column.distinct().map_or_else(|| "> 1000".into(), |count| count.to_string()),
            advise(column).words,
        ]);
    }
    page.table(&rows);
    if let Some((rows, first)) = survey.ragged {
        page.text(&format!("{} of another number of cells, the first is row {first}", counted(rows as usize, "row")));
    }
    if let Some(fault) = &survey.fault {
        page.text(&format!("not looked at to its end: {fault}"));
    }
    if let Some(label) = survey.other_label() {
        page.text(&format!("column {} may be the label: --label {}", quoted(&label.name), flag(&label.name)));
    }
    if let Some(command) = command {
        page.text(&format!("try: {command}"));
    }
}

/// The list of a table's columns for programs.
pub(crate) fn json(survey: &TableSurvey, command: Option<&str>) -> Value {
    let column = |column: &ColumnSurvey| {
        json!({
            "name": column.name,
            "role": match column.role {
                ColumnRole::Label => "label",
                ColumnRole::Feature => "feature",
                ColumnRole::LeftOut => "left out",
            },
            "kind": column.kind().name(),
            "missing": column.missing,
            "distinct": column.distinct(),
            "infinite": column.infinite,
            "advice": advise(column).words,
        })
    };
    json!({
        "rows": survey.rows,
        "ragged_rows": survey.ragged.map_or(0, |(rows, _)| rows),
        "columns": survey.columns.iter().map(column).collect::<Vec<_>>(),
        "label": survey.other_label().map(|label| &label.name),
        "try": command,
    })
}

/// The command that trains on a table that does not train as it is; `None` where nothing is to be said of it.
pub(crate) fn command(survey: &TableSurvey, file: &str, options: &ReadOptions) -> Option<String> {
    let label = survey.other_label().filter(|_| options.label.is_none() && options.answers != AnswerKind::None);
    let last = survey.columns.iter().find(|column| column.role == ColumnRole::Label);
    let is_label = |column: &&ColumnSurvey| label.is_some_and(|label| label.name == column.name);
    // A last column that is not the label after all is a feature like any other.
    let freed = last.filter(|_| label.is_some()).map(|column| {
        let mut column = column.clone();
        column.role = ColumnRole::Feature;
        column
    });
    let columns = survey.columns.iter().filter(|column| !is_label(column) && column.role == ColumnRole::Feature);
    let all: Vec<(&str, Advice)> = columns.chain(&freed).map(|column| (column.name.as_str(), advise(column))).collect();
    let names = |is_meant: fn(&Advice) -> bool| {
        let names: Vec<String> =
            all.iter().filter(|(_, advice)| is_meant(advice)).map(|(name, _)| flag(name)).collect();
        names.join(",")
    };
    let (categorical, exclude) = (names(|advice| advice.categorical), names(|advice| advice.exclude));
    let mut command = format!("maxmargin train {}", escaped(file));
    let mut plain = true;
    let mut add = |text: String| {
        command.push_str(&text);
        plain = false;
    };
    if let Some(label) = label {
        add(format!(" --label {}", flag(&label.name)));
    }
    if !categorical.is_empty() {
        add(format!(" --categorical {categorical}"));
    }
    if !exclude.is_empty() {
        add(format!(" --exclude {exclude}"));
    }
    if all.iter().any(|(_, advice)| advice.missing) {
        add(" --missing median".into());
    }
    (!plain).then_some(command)
}

#[cfg(test)]
mod tests {
    use maxmargin::data::{Label, Labels};

    use super::*;

    fn data(columns: usize, values: Vec<f64>, names: &[&str]) -> Dataset {
        let rows = values.len() / columns;
        let labels = Labels::new((0..rows).map(|_| Label::new("a")));
        let data = Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap();
        data.with_names(names.iter().map(|name| name.to_string()).collect()).unwrap()
    }

    #[test]
    fn a_column_that_counts_the_rows_is_found_and_others_are_not() {
        let values = (0..12).flat_map(|row| [f64::from(row) + 5.0, f64::from(row % 3), f64::from(row) * 0.5]).collect();
        assert_eq!(identifiers(&data(3, values, &["n", "x", "y"])), [0]);
        let few = (0..9).flat_map(|row| [f64::from(row), 1.0]).collect();
        assert!(identifiers(&data(2, few, &["n", "x"])).is_empty());
        let called = (0..4).flat_map(|row| [f64::from(row * row), f64::from(row / 2)]).collect();
        assert_eq!(identifiers(&data(2, called, &["user_id", "group_id"])), [0]);
    }
}
