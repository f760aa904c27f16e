//! CSV: a row a line, cells separated by commas, semicolons or tabs, with or without a header.
//!
//! One column is the label, kept as written; all others are numbers, or, on request, one column for each value.
//! Blanks around a cell do not count. Cost: one pass over the bytes, and one more where values become columns.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use maxmargin::data::{Dataset, Label, Labels};
use maxmargin::error::{listed, quoted};

use crate::error::Error;
use crate::number::number;
use crate::read::{ReadOptions, Source, asked_twice, matrix, no_rows};

/// A column of more values than this is hardly a category.
const VALUES_LIMIT: usize = 1000;

/// Reads CSV.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, Error> {
    let table = Table::new(*source, options)?;
    let kinds = table.kinds(options)?;
    table.rows(&kinds)
}

/// What a cell holds.
enum Cell {
    Number(f64),
    Infinite,
    Missing,
    Text,
}

impl Cell {
    fn new(text: &str) -> Self {
        if let Some((number, end)) = number(text.as_bytes(), 0)
            && end == text.len()
        {
            return Cell::Number(number);
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Cell::Number(number),
            Ok(number) if number.is_nan() => Cell::Missing,
            Ok(_) => Cell::Infinite,
            Err(_) if is_missing(text) => Cell::Missing,
            Err(_) => Cell::Text,
        }
    }
}

/// Whether a cell says that its value is not known.
pub(crate) fn is_missing(text: &str) -> bool {
    matches!(text, "" | "?" | "NA" | "N/A" | "n/a" | "NULL" | "null")
        || text.parse::<f64>().is_ok_and(|number| number.is_nan())
}

/// Whether a cell is a number with a comma for the decimal point.
fn has_decimal_comma(text: &str) -> bool {
    text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// What becomes of a column.
enum Kind {
    Number,
    /// One column for each of these, sorted.
    Values(Vec<String>),
}

/// A text whose columns are known.
struct Table<'a> {
    source: Source<'a>,
    separator: u8,
    header: bool,
    /// How many cells each row has.
    width: usize,
    /// The line of the first row or the header.
    first_line: usize,
    /// The columns' names; without a header none.
    names: Vec<String>,
    label: Option<usize>,
    /// The columns that are not the label, in the order of the data set.
    features: Vec<usize>,
    /// The names of the features that the user chose, as written.
    chosen: Option<&'a [String]>,
}

impl<'a> Table<'a> {
    fn new(source: Source<'a>, options: &'a ReadOptions) -> Result<Self, Error> {
        let separator = find_separator(&source);
        let mut records = Records::new(source, separator);
        let (start, first) =
            records.next()?.map(|(start, record)| (start, record.clone())).ok_or_else(|| no_rows(&source))?;
        let second = records.next()?.map(|(_, record)| record.clone());
        let width = first.len();
        if !(width >= 2 || options.unlabelled) {
            return Err(source.syntax(
                start,
                "one column",
                "a label column and at least one more",
                "separate the cells with commas, semicolons or tabs",
            ));
        }
        let header = has_header(&first, second.as_ref(), options);
        let mut table = Table {
            source,
            separator,
            header,
            width,
            first_line: source.line(start),
            names: Vec::new(),
            label: None,
            features: Vec::new(),
            chosen: options.columns.as_deref(),
        };
        if header {
            table.names = table.read_names(start, &first)?;
        }
        if !options.unlabelled {
            table.label = Some(options.label.as_deref().map_or(Ok(width - 1), |name| table.find(name))?);
        }
        table.features = match table.chosen {
            Some(names) => names.iter().map(|name| table.find(name)).collect::<Result<_, _>>()?,
            None => (0..width).filter(|&place| Some(place) != table.label).collect(),
        };
        let mut seen = HashSet::new();
        if let Some(place) = table.features.iter().position(|&place| !seen.insert(place)) {
            let name = table.chosen.map_or("", |names| &names[place]);
            return Err(asked_twice(&source, name));
        }
        if let Some(label) = table.label
            && table.features.contains(&label)
        {
            return Err(source.data(maxmargin::Error::Combination {
                what: format!("{} is the label and also among the columns to keep", table.describe(label)),
                help: "leave it out of --columns, or choose another with --label".into(),
            }));
        }
        if header && second.is_none() {
            let help = "add rows, or say that the first line is a row: --no-header";
            return Err(source.content("a header without rows", "at least one row", help));
        }
        Ok(table)
    }

    /// The names in the header; a column without one goes by its number.
    fn read_names(&self, start: usize, header: &StringRecord) -> Result<Vec<String>, Error> {
        let mut known = HashMap::new();
        let mut names = Vec::with_capacity(header.len());
        for (place, cell) in header.iter().enumerate() {
            let name = match cell.trim() {
                "" => (place + 1).to_string(),
                name => name.to_string(),
            };
            if let Some(other) = known.insert(name.clone(), place) {
                return Err(self.fault(
                    start,
                    place,
                    format!("the name {} of column {} again", quoted(&name), other + 1),
                    "a name of its own",
                    "rename one of the columns, or say that the first line is a row: --no-header",
                ));
            }
            names.push(name);
        }
        Ok(names)
    }

    /// The place of a column by its name or its number counted from 1.
    fn find(&self, name: &str) -> Result<usize, Error> {
        let number = || name.parse().ok().filter(|number| (1..=self.width).contains(number)).map(|number| number - 1);
        self.names.iter().position(|known| known == name).or_else(number).ok_or_else(|| {
            self.source.data(maxmargin::Error::Data {
                what: format!("there is no column {}", quoted(name)),
                help: if self.header {
                    format!("the columns are {}", listed(self.names.iter().map(|name| quoted(name)), 8))
                } else {
                    format!("the columns are numbered 1 to {}; with a header they have names: --header", self.width)
                },
            })
        })
    }

    /// A column as messages call it.
    fn describe(&self, place: usize) -> String {
        match self.names.get(place) {
            Some(name) => format!("column {} {}", place + 1, quoted(name)),
            None => format!("column {}", place + 1),
        }
    }

    /// What becomes of each feature.
    fn kinds(&self, options: &ReadOptions) -> Result<Vec<Kind>, Error> {
        if !options.categorical {
            return Ok(self.features.iter().map(|_| Kind::Number).collect());
        }
        let mut values = vec![BTreeSet::new(); self.features.len()];
        let mut is_text = vec![false; self.features.len()];
        let mut records = self.records()?;
        while let Some((start, record)) = records.next()? {
            self.check_width(start, record)?;
            for (feature, &place) in self.features.iter().enumerate() {
                let text = record[place].trim();
                is_text[feature] |= matches!(Cell::new(text), Cell::Text);
                // One above the limit is enough to see that it is exceeded.
                if values[feature].len() <= VALUES_LIMIT && !values[feature].contains(text) {
                    values[feature].insert(text.to_string());
                }
                if is_text[feature] && values[feature].len() > VALUES_LIMIT {
                    return Err(Error::Limit {
                        path: self.source.origin.into(),
                        what: format!("{} has more than {VALUES_LIMIT} different values", self.describe(place)),
                        help: "name the columns to keep with --columns, or join rare values".into(),
                    });
                }
            }
        }
        let kind = |(values, is_text)| match is_text {
            true => Kind::Values(BTreeSet::into_iter(values).collect()),
            false => Kind::Number,
        };
        Ok(values.into_iter().zip(is_text).map(kind).collect())
    }

    fn rows(&self, kinds: &[Kind]) -> Result<Dataset, Error> {
        let (mut offsets, mut indices, mut values, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        let mut columns = 0;
        let mut records = self.records()?;
        while let Some((start, record)) = records.next()? {
            self.check_width(start, record)?;
            labels.push(self.read_label(start, record)?);
            columns = 0;
            for (&place, kind) in self.features.iter().zip(kinds) {
                let text = record[place].trim();
                let (step, width, value) = match (Cell::new(text), kind) {
                    (Cell::Number(value), Kind::Number) => (0, 1, value),
                    (Cell::Number(_) | Cell::Text, Kind::Values(values)) => {
                        let step = values.binary_search_by(|value| value.as_str().cmp(text));
                        (step.unwrap_or_default(), values.len(), 1.0)
                    }
                    (cell, _) => return Err(self.bad_cell(start, place, text, cell)),
                };
                if value != 0.0 {
                    indices.push((columns + step) as u32);
                    values.push(value);
                }
                columns += width;
            }
            offsets.push(values.len() as u64);
        }
        let names = self.feature_names(kinds);
        matrix(columns, offsets, indices, values)
            .and_then(|matrix| Dataset::new(matrix, Labels::new(labels)))
            .and_then(|data| match names {
                Some(names) => data.with_names(names),
                None => Ok(data),
            })
            .map_err(|error| self.source.data(error))
    }

    /// The names of the columns of the data set; none when the file has none and nothing makes them needed.
    fn feature_names(&self, kinds: &[Kind]) -> Option<Vec<String>> {
        let all_numbers = kinds.iter().all(|kind| matches!(kind, Kind::Number));
        if !self.header && self.chosen.is_none() && all_numbers {
            return None;
        }
        let mut names = Vec::new();
        for (feature, (&place, kind)) in self.features.iter().zip(kinds).enumerate() {
            let name = match self.chosen {
                Some(chosen) => chosen[feature].clone(),
                None => self.names.get(place).cloned().unwrap_or_else(|| (place + 1).to_string()),
            };
            match kind {
                Kind::Number => names.push(name),
                Kind::Values(values) => names.extend(values.iter().map(|value| format!("{name}={value}"))),
            }
        }
        Some(names)
    }

    fn read_label(&self, start: usize, record: &StringRecord) -> Result<Label, Error> {
        let Some(place) = self.label else { return Ok(Label::new("0")) };
        let text = record[place].trim();
        if is_missing(text) {
            let found = format!("{} in {}", missing(text), self.describe(place));
            return Err(self.fault(start, place, found, "a label", "fill the label in, or remove the row"));
        }
        Ok(Label::new(text))
    }

    #[cold]
    fn bad_cell(&self, start: usize, place: usize, text: &str, cell: Cell) -> Error {
        let column = self.describe(place);
        match cell {
            Cell::Missing => {
                let help = "fill the value in (with the column's mean, say), or remove the row";
                self.fault(start, place, format!("{} in {column}", missing(text)), "a value", help)
            }
            Cell::Infinite => {
                let help = "leave the row out, or correct the value";
                self.fault(start, place, format!("{} in {column}", quoted(text)), "a finite number", help)
            }
            Cell::Text | Cell::Number(_) => {
                let mut help = String::new();
                if has_decimal_comma(text) {
                    help.push_str("write numbers with a decimal point");
                } else {
                    help.push_str(
                        "make a column of each value with --categorical, or name the columns to keep with --columns",
                    );
                }
                if !self.header && !has_decimal_comma(text) && self.source.line(start) == self.first_line {
                    help.push_str("; if this line names the columns, pass --header");
                }
                self.fault(start, place, format!("{} in {column}", quoted(text)), "a number", help)
            }
        }
    }

    fn check_width(&self, start: usize, record: &StringRecord) -> Result<(), Error> {
        if record.len() == self.width {
            return Ok(());
        }
        let cells = |count| if count == 1 { "1 cell".into() } else { format!("{count} cells") };
        // More cells than names or fewer; the place is the first one too many, or the end of the row.
        Err(self.source.syntax(
            self.cell_start(start, self.width.min(record.len())),
            format!("a row of {}", cells(record.len())),
            format!("{} as in line {}", self.width, self.first_line),
            "give each row as many cells, and put cells that hold the separator in quotes",
        ))
    }

    /// A fault in a cell of the record that starts at a byte of the text.
    fn fault(
        &self,
        start: usize,
        place: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) -> Error {
        self.source.syntax(self.cell_start(start, place), found, expected, help)
    }

    /// The byte where a cell starts, found by walking through its record once more.
    fn cell_start(&self, start: usize, place: usize) -> usize {
        walk(self.source.text.as_bytes(), start, self.separator).take(place + 1).last().map_or(start, |cell| cell.start)
    }

    /// The rows, without the header.
    fn records(&self) -> Result<Records<'a>, Error> {
        let mut records = Records::new(self.source, self.separator);
        if self.header {
            records.next()?;
        }
        Ok(records)
    }
}

fn missing(text: &str) -> String {
    if text.is_empty() { "an empty cell".into() } else { format!("the missing value {}", quoted(text)) }
}

/// The records of a text, each with the byte where it starts.
struct Records<'a> {
    source: Source<'a>,
    separator: u8,
    reader: csv::Reader<&'a [u8]>,
    record: StringRecord,
}

impl<'a> Records<'a> {
    fn new(source: Source<'a>, separator: u8) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.delimiter(separator).has_headers(false).flexible(true);
        Records { source, separator, reader: builder.from_reader(source.text.as_bytes()), record: StringRecord::new() }
    }

    /// The next record; the one before is overwritten.
    fn next(&mut self) -> Result<Option<(usize, &StringRecord)>, Error> {
        let more = self.reader.read_record(&mut self.record).map_err(|error| {
            let found = format!("a table that cannot be read ({})", quoted(&error.to_string()));
            self.source.content(found, "CSV", "save the file as CSV once more")
        })?;
        if !more {
            return Ok(None);
        }
        let bytes = self.source.text.as_bytes();
        // The reader skips empty lines, but counts them to the record after them.
        let mut start = self.record.position().map_or(0, |position| position.byte() as usize).min(bytes.len());
        while start < bytes.len() && matches!(bytes[start], b'\r' | b'\n') {
            start += 1;
        }
        // A quote that is never closed swallows the rest of the text, so only the last record can have one.
        if self.reader.position().byte() as usize >= bytes.len()
            && let Some(cell) = walk(bytes, start, self.separator).last()
            && cell.open
        {
            let help = "close the quote, and write a quote within a cell twice";
            return Err(self.source.syntax(cell.start, "a quote that is never closed", "a closing quote", help));
        }
        Ok(Some((start, &self.record)))
    }
}

/// A cell of a record: where it starts, and whether its quote is never closed.
struct Walked {
    start: usize,
    open: bool,
}

/// Walks through the cells of the record that starts at `at`.
fn walk(bytes: &[u8], at: usize, separator: u8) -> impl Iterator<Item = Walked> + '_ {
    let mut next = Some(at);
    std::iter::from_fn(move || {
        let start = next?;
        let mut at = start;
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            loop {
                match memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) {
                    None => {
                        next = None;
                        return Some(Walked { start, open: true });
                    }
                    // A quote within the cell is written twice.
                    Some(length) if bytes.get(at + length + 1) == Some(&b'"') => at += length + 2,
                    Some(length) => {
                        at += length + 1;
                        break;
                    }
                }
            }
        }
        while let Some(&byte) = bytes.get(at)
            && !(byte == separator || byte == b'\n' || byte == b'\r')
        {
            at += 1;
        }
        next = (bytes.get(at) == Some(&separator)).then_some(at + 1);
        Some(Walked { start, open: false })
    })
}

/// The separator: a tab in a file named so, else the one that splits the first lines alike.
fn find_separator(source: &Source) -> u8 {
    if Path::new(source.origin).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv")) {
        return b'\t';
    }
    let lines = source.text.lines().filter(|line| !line.trim().is_empty()).take(10);
    let counts: Vec<[usize; 3]> = lines.map(count_separators).collect();
    let first = counts.first().copied().unwrap_or_default();
    let alike = |&candidate: &usize| first[candidate] > 0 && counts.iter().all(|c| c[candidate] == first[candidate]);
    let candidates = 0..SEPARATORS.len();
    let found = candidates.clone().find(alike).or_else(|| candidates.max_by_key(|&candidate| first[candidate]));
    found.map_or(b',', |candidate| SEPARATORS[candidate])
}

/// A comma may also be part of a number, so it comes last.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// How often each separator stands outside of quotes, whichever of them it is that separates.
fn count_separators(line: &str) -> [usize; 3] {
    let mut counts = [0; 3];
    let (mut quoted, mut at_start) = (false, true);
    for byte in line.bytes() {
        let separator = SEPARATORS.iter().position(|&separator| separator == byte);
        // A quote opens only where a cell starts; one that is written twice closes and opens again.
        let opens = byte == b'"' && (quoted || at_start);
        at_start = opens && quoted;
        quoted ^= opens;
        if let Some(separator) = separator.filter(|_| !quoted) {
            counts[separator] += 1;
            at_start = true;
        }
    }
    counts
}

/// Whether the first record names the columns.
///
/// It does when a column is asked for by name, when a text stands above a number, or when the label column says `label`.
fn has_header(first: &StringRecord, second: Option<&StringRecord>, options: &ReadOptions) -> bool {
    if let Some(header) = options.header {
        return header;
    }
    let asked = options.label.iter().chain(options.columns.iter().flatten());
    if asked.into_iter().any(|name| name.parse::<usize>().is_err()) {
        return true;
    }
    let number = options.label.as_ref().and_then(|number| number.parse::<usize>().ok());
    let label = (!options.unlabelled).then_some(number.unwrap_or(first.len()).wrapping_sub(1));
    if label.and_then(|label| first.get(label)).is_some_and(|cell| cell.trim() == "label") {
        return true;
    }
    first.iter().enumerate().filter(|&(place, _)| Some(place) != label).any(|(place, cell)| {
        matches!(Cell::new(cell.trim()), Cell::Text)
            && !has_decimal_comma(cell.trim())
            && second.is_none_or(|second| {
                second
                    .get(place)
                    .map(str::trim)
                    .is_some_and(|cell| matches!(Cell::new(cell), Cell::Number(_)) || has_decimal_comma(cell))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_named(text: &str, origin: &str, options: &ReadOptions) -> Dataset {
        read(&Source { origin, text }, options).unwrap()
    }

    fn read_text(text: &str) -> Dataset {
        read_named(text, "test.csv", &ReadOptions::default())
    }

    fn names(data: &Dataset) -> Vec<&str> {
        data.names().unwrap_or_default().iter().map(String::as_str).collect()
    }

    fn labels(data: &Dataset) -> Vec<&str> {
        (0..data.rows()).map(|row| data.labels().get(row).text()).collect()
    }

    #[test]
    fn a_header_is_found_by_a_text_above_a_number() {
        let data = read_text("width,height,kind\n1,2,a\n3,4.5,b\n");
        assert_eq!(names(&data), ["width", "height"]);
        assert_eq!((data.matrix().row(1), labels(&data)), (vec![3.0, 4.5], vec!["a", "b"]));
    }

    #[test]
    fn a_file_without_a_header_keeps_its_first_row() {
        let data = read_text("1,2,a\n3,4.5,b\n");
        assert!(data.names().is_none());
        assert_eq!(labels(&data), ["a", "b"]);
    }

    #[test]
    fn a_missing_value_in_the_first_row_does_not_make_it_a_header() {
        let error = read(&Source { origin: "t.csv", text: "?,2,a\n3,4,b\n" }, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:1:1: found the missing value"), "{error}");
    }

    #[test]
    fn names_that_are_numbers_are_a_header_when_the_label_column_says_so() {
        assert_eq!(names(&read_text("2020,2021,label\n1,2,a\n")), ["2020", "2021"]);
    }

    #[test]
    fn the_label_column_is_chosen_by_name_or_number() {
        for label in ["kind", "1"] {
            let options = ReadOptions { label: Some(label.into()), ..ReadOptions::default() };
            let data = read_named("kind,x,y\na,1,2\nb,3,4\n", "t.csv", &options);
            assert_eq!((names(&data), labels(&data)), (vec!["x", "y"], vec!["a", "b"]), "{label}");
        }
    }

    #[test]
    fn a_name_goes_before_a_number() {
        let options = ReadOptions { label: Some("2".into()), header: Some(true), ..ReadOptions::default() };
        let data = read_named("2,x\na,1\n", "t.csv", &options);
        assert_eq!(labels(&data), ["a"]);
    }

    #[test]
    fn data_without_labels_keep_all_columns() {
        let options = ReadOptions { unlabelled: true, ..ReadOptions::default() };
        let data = read_named("x\n1\n2\n", "t.csv", &options);
        assert_eq!((names(&data), labels(&data), data.columns()), (vec!["x"], vec!["0", "0"], 1));
    }

    #[test]
    fn values_become_columns_on_request() {
        let options = ReadOptions { categorical: true, ..ReadOptions::default() };
        let data = read_named("size,color,y\n1,red,a\n2,blue,b\n3,red,a\n", "t.csv", &options);
        assert_eq!(names(&data), ["size", "color=blue", "color=red"]);
        assert_eq!((data.matrix().row(0), data.matrix().row(1)), (vec![1.0, 0.0, 1.0], vec![2.0, 1.0, 0.0]));
        let data = read_named("1,7,a\n2,red,b\n", "t.csv", &options);
        assert_eq!(names(&data), ["1", "2=7", "2=red"]);
    }

    #[test]
    fn columns_that_are_not_kept_need_not_be_numbers() {
        let options = ReadOptions { columns: Some(vec!["y".into(), "x".into()]), ..ReadOptions::default() };
        let data = read_named("id,x,y,kind\nk7,1,2,a\n,3,4,b\n", "t.csv", &options);
        assert_eq!((names(&data), data.matrix().row(1)), (vec!["y", "x"], vec![4.0, 3.0]));
    }

    #[test]
    fn the_separator_is_found() {
        for (text, origin) in [
            ("x;y;k\n1;2;a\n", "t.csv"),
            ("x\ty\tk\n1\t2\ta\n", "t.txt"),
            ("x\ty\tk\n1\t2\ta,b;c;d;e\n", "t.tsv"),
            ("x , y,k\n 1, 2 , a\n", "t.csv"),
            ("\"x\",\"y\",\"k;\"\n1,2,a\n", "t.csv"),
            ("x,y,\"\"\"k;\"\"\"\n1,2,\"a;\"\n", "t.csv"),
        ] {
            let data = read_named(text, origin, &ReadOptions::default());
            assert_eq!((names(&data), data.matrix().row(0)), (vec!["x", "y"], vec![1.0, 2.0]), "{text:?}");
        }
    }

    #[test]
    fn a_separator_within_quotes_does_not_count() {
        assert_eq!(count_separators("0,\"a\t;\"\"\t\",5\" pipe;\t"), [1, 1, 2]);
        assert_eq!(count_separators("\";;"), [0, 0, 0]);
    }

    #[test]
    fn quotes_hold_separators_line_ends_and_quotes() {
        let data = read_text("x,\"a \"\"b\"\", c\",k\r\n\"1\",2,\"u\nv\"\r\n\r\n3,4,w");
        assert_eq!(names(&data), ["x", "a \"b\", c"]);
        assert_eq!((labels(&data), data.rows()), (vec!["u\nv", "w"], 2));
    }

    #[test]
    fn a_place_after_lines_within_quotes_is_right() {
        let text = "x,y,k\n\n1,\"2\",\"a\n\nb\"\n3,\"z\",c\n";
        let error = read(&Source { origin: "t.csv", text }, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:6:3: found \"z\" in column 2 \"y\""), "{error}");
    }

    #[test]
    fn a_column_without_a_name_goes_by_its_number() {
        assert_eq!(names(&read_text(",x,k\n0,1,a\n1,2,b\n")), ["1", "x"]);
    }
}
