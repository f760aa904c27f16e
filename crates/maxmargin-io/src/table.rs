//! CSV: a row a line, cells separated by commas, semicolons, tabs, `|` or blanks, with or without a header.
//!
//! One column is the label, kept as written; all others are numbers, or, on request, one column for each value.
//! Blanks around a cell do not count. True and False are 1 and 0. Where another separator leaves the comma free, numbers may
//! have a decimal comma. A line that begins with `#` is a comment when a blank follows, or when it has not as many cells as a
//! row; one right above the rows that reads as their header is the header. Cost: one pass over the bytes.
//!
//! As with LIBSVM text there is a short way, for rows of plain numbers, and a long one that knows of everything else.

mod shape;

use std::collections::HashMap;

use maxmargin::data::{AnswerKind, Missing};
use maxmargin::error::quoted;

use crate::block::{Block, Cutter};
use crate::cells::{BLANKS, Record, Span, cell_start, skip_empty_lines};
use crate::columns::{Columns, Head, Kind};
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::libsvm::{TARGET_HELP, target};
use crate::number::number;
use crate::read::{ReadOptions, content, no_rows};
use crate::rows::{Fault, Place, Rows, short_form};
use crate::survey::{self, TableSurvey};
use shape::{Beginning, find_separator, has_commas, has_header, is_remark, line_end};
pub(crate) use shape::{separates_by_blanks, telling_part};

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Infinite,
    Missing,
    Text,
}

impl Cell {
    pub(crate) fn new(text: &str, decimal_comma: bool) -> Self {
        if decimal_comma && text.contains(['.', ',']) {
            return match text.contains('.') {
                // A point may separate thousands here.
                true => Cell::Text,
                false => Cell::new(&text.replacen(',', ".", 1), false),
            };
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Cell::Number(number),
            Ok(number) if number.is_nan() => Cell::Missing,
            Ok(_) => Cell::Infinite,
            Err(_) if is_missing(text) => Cell::Missing,
            Err(_) => match text {
                "True" | "true" | "TRUE" => Cell::Number(1.0),
                "False" | "false" | "FALSE" => Cell::Number(0.0),
                _ => Cell::Text,
            },
        }
    }
}

/// Whether a cell says that its value is not known.
pub(crate) fn is_missing(text: &str) -> bool {
    matches!(text, "" | "?" | "NA" | "N/A" | "n/a" | "NULL" | "null" | "<NA>")
        || text.parse::<f64>().is_ok_and(|number| number.is_nan())
}

/// Whether a cell is a number with a comma for the decimal point.
pub(crate) fn has_decimal_comma(text: &str) -> bool {
    text.contains(',') && !text.contains('.') && text.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// What a cell of a row is for.
#[derive(Clone, Copy, Debug)]
enum Role {
    Nothing,
    Label,
    Feature(usize),
}

/// What the cell of the label column says.
enum Answer<'r> {
    Label(&'r str),
    Target(f64),
}

/// A table whose columns are known.
#[derive(Debug)]
pub(crate) struct Table {
    origin: String,
    separator: u8,
    /// Whether numbers have a comma for the decimal point.
    decimal_comma: bool,
    header: bool,
    /// How many cells each row has.
    width: usize,
    /// The line of the first row or the header.
    first_line: usize,
    /// Where the first row or the header ends.
    first_end: usize,
    /// Where the rows begin, after the header and the comments before it.
    rows_start: usize,
    /// The columns' names; without a header none.
    names: Vec<String>,
    /// Whether the header names a column that is not the label.
    is_named: bool,
    pub(crate) columns: Columns,
    roles: Vec<Role>,
}

impl Table {
    /// Finds out about the columns from a part of the text that tells.
    pub(crate) fn new(origin: &str, part: &str, options: &ReadOptions) -> Result<Self, Error> {
        let separator = find_separator(origin, part);
        let block = Block::of(part.as_bytes());
        let syntax = |fault: Fault| fault.error(origin, 0);
        let beginning = Beginning::new(part, separator, options).ok_or_else(|| no_rows(origin))?;
        let Beginning { first, span, second, is_comment } = beginning;
        let start = span.start;
        let check_closed = |open: Option<usize>| open.map_or(Ok(()), |at| Err(syntax(never_closed(&block, at))));
        check_closed(span.open)?;
        check_closed(second.as_ref().and_then(|(_, span)| span.open))?;
        let second = second.map(|(record, _)| record);
        let width = first.len();
        if !(width >= 2 || options.answers == AnswerKind::None || options.recipe.is_some()) {
            let Place { line, column } = Place::new(&block, start);
            return Err(Error::OneColumn { path: origin.into(), line, column });
        }
        let header = is_comment || has_header(&first, second.as_ref(), options);
        let mut table = Table {
            origin: origin.into(),
            separator,
            decimal_comma: separator != b',' && has_commas(part, separator, span, header),
            header,
            width,
            first_line: Place::new(&block, start).line,
            first_end: span.next,
            rows_start: if header { span.next } else { start },
            names: Vec::new(),
            is_named: false,
            columns: Columns::default(),
            roles: vec![Role::Nothing; width],
        };
        if header {
            table.names = table.read_names(&block, start, &first).map_err(syntax)?;
        }
        let label = match (&options.label, options.answers) {
            (_, AnswerKind::None) => None,
            (Some(name), _) => table.head().find_one(name),
            (None, _) => Some(width - 1),
        };
        let is_named = |(place, cell): (usize, &str)| Some(place) != label && !cell.trim().is_empty();
        table.is_named = header && first.iter().enumerate().any(is_named);
        table.columns = Columns::new(table.head(), options)?;
        if header && second.is_none() {
            let help = Help::from("add rows, or say that the first line is a row: ").set(Setting::Header, "false");
            return Err(content(origin, "a header without rows", "at least one row", help));
        }
        for (feature, &place) in table.columns.features.iter().enumerate() {
            table.roles[place] = Role::Feature(feature);
        }
        if let Some(label) = table.columns.label {
            table.roles[label] = Role::Label;
        }
        Ok(table)
    }

    /// Learns from a look at all rows what becomes of the columns.
    ///
    /// # Errors
    /// When a column has too many values, or none.
    pub(crate) fn learn(&mut self, survey: &TableSurvey, options: &ReadOptions) -> Result<(), Error> {
        let mut columns = std::mem::take(&mut self.columns);
        let learnt = survey::learn(survey, &mut columns, self.head(), options);
        self.columns = columns;
        learnt
    }

    /// What is known before the rows are read.
    pub(crate) fn head(&self) -> Head<'_> {
        Head {
            origin: &self.origin,
            names: self.header.then_some(&self.names[..]),
            width: self.width,
            is_text: true,
            named: self.is_named,
        }
    }

    /// Tells how the text is to be cut: the header, or the row that would be one, is part of the first block.
    pub(crate) fn begin(&self, cutter: &mut Cutter<'_>) {
        cutter.begin(self.separator, self.first_end);
    }

    /// The names in the header; a column without one goes by its number.
    fn read_names(&self, block: &Block, start: usize, header: &Record) -> Result<Vec<String>, Fault> {
        let mut known = HashMap::new();
        let mut names = Vec::with_capacity(header.len());
        for (place, cell) in header.iter().enumerate() {
            let name = match cell.trim() {
                "" => (place + 1).to_string(),
                name => name.to_string(),
            };
            if let Some(other) = known.insert(name.clone(), place) {
                return Err(self.fault(
                    block,
                    start,
                    place,
                    format!("the name {} of column {} again", quoted(&name), other + 1),
                    "a name of its own",
                    Help::from("rename one of the columns, or say that the first line is a row: ")
                        .set(Setting::Header, "false"),
                ));
            }
            names.push(name);
        }
        Ok(names)
    }

    /// A column as messages call it.
    fn describe(&self, place: usize) -> String {
        self.head().describe(place)
    }

    /// How many columns the data set has.
    pub(crate) fn columns(&self) -> usize {
        self.columns.columns()
    }

    /// Whether all columns of each row are read, zeros as well.
    pub(crate) fn is_dense(&self) -> bool {
        self.columns.is_dense()
    }

    /// Where the rows of a block begin: in the first one after the header.
    fn rows_start(&self, block: &Block) -> usize {
        if block.number == 0 { self.rows_start } else { 0 }
    }

    /// Whether a line is a comment. `cells` are as many as it would have as a row.
    fn is_comment(&self, text: &str, start: usize, cells: usize) -> bool {
        text.as_bytes().get(start) == Some(&b'#')
            && (cells != self.width || (self.width == 1 && cells == 1) || is_remark(&text[start..]))
    }

    /// Reads the next record that is no comment.
    fn next_record(&self, text: &str, mut at: usize, record: &mut Record) -> Option<Span> {
        loop {
            let span = record.read(text, at, self.separator)?;
            if !self.is_comment(text, span.start, record.len()) {
                return Some(span);
            }
            at = line_end(text, span.start);
        }
    }

    /// Hands out the cells of each row of a block, with the byte where the row begins; of rows of another width as well.
    ///
    /// # Errors
    /// When a quote is never closed, or the bytes are no text.
    pub(crate) fn each_row(&self, block: &Block, mut row: impl FnMut(&Record, usize)) -> Result<(), Fault> {
        let (text, not_text) = block.text();
        let (mut at, mut record) = (self.rows_start(block), Record::default());
        while let Some(span) = self.next_record(text, at, &mut record) {
            if let Some(cell) = span.open {
                return Err(never_closed(block, cell));
            }
            row(&record, span.start);
            at = span.next;
        }
        not_text.map_or(Ok(()), Err)
    }

    /// What a cell of a feature holds.
    pub(crate) fn cell(&self, text: &str) -> Cell {
        Cell::new(text, self.decimal_comma)
    }

    /// Reads a block. The rows before the first fault are whole.
    pub(crate) fn read(&self, block: &Block, rows: &mut Rows) {
        rows.clear();
        rows.columns = self.columns() as u64;
        let (text, not_text) = block.text();
        let is_short = self.is_dense() && self.separator != BLANKS && !self.decimal_comma;
        let (padded, mut record) = (block.padded(), Record::default());
        let mut at = self.rows_start(block);
        loop {
            at = skip_empty_lines(text.as_bytes(), at, self.separator);
            if at >= text.len() {
                break;
            }
            if is_short
                && padded[at] != b'#'
                && let Some(next) = self.short_row(text, padded, at, rows)
            {
                at = next;
                continue;
            }
            rows.forget_row();
            let Some(span) = self.next_record(text, at, &mut record) else { break };
            if let Err(fault) = self.long_row(block, span.start, span.open, &record, rows) {
                rows.forget_row();
                rows.fault = Some(fault);
                return;
            }
            at = span.next;
        }
        rows.tally.rows = (rows.ends.len() + rows.tally.dropped.len()) as u64;
        rows.lines = memchr::memchr_iter(b'\n', block.bytes()).count();
        rows.fault = not_text;
    }

    /// Reads a row of plain numbers and returns where it ends; `None` when it is of another form, and then some of it may
    /// have been read.
    #[inline]
    fn short_row(&self, text: &str, padded: &[u8], start: usize, rows: &mut Rows) -> Option<usize> {
        let separator = self.separator;
        let is_end = |byte: u8| byte == separator || byte == b'\n' || byte == b'\r';
        let base = rows.values.len();
        rows.values.resize(base + self.columns.features.len(), 0.0);
        let row = &mut rows.values[base..];
        let (mut at, mut filled, mut label) = (start, 0, None);
        for (place, role) in self.roles.iter().enumerate() {
            if place > 0 {
                if padded[at] != separator {
                    return None;
                }
                at += 1;
            }
            if let Role::Feature(feature) = *role
                && let Some((value, end)) = number(padded, at, is_end)
            {
                // A zero has no sign.
                row[feature] = value + 0.0;
                filled += u64::from(value != 0.0);
                at = end;
                continue;
            }
            let cell = at;
            while !is_end(padded[at]) {
                at += 1;
            }
            if padded[cell] == b'"' {
                return None;
            }
            match *role {
                Role::Nothing => {}
                Role::Feature(feature) => match self.cell(text[cell..at].trim()) {
                    Cell::Number(value) => {
                        row[feature] = value + 0.0;
                        filled += u64::from(value != 0.0);
                    }
                    _ => return None,
                },
                Role::Label => label = Some((cell, at)),
            }
        }
        // The text may end here, without a line end of its own.
        if at < text.len() && !matches!(padded[at], b'\n' | b'\r') {
            return None;
        }
        match label {
            None if self.columns.label.is_none() => {}
            None => return None,
            Some((cell, end)) if self.columns.answers() == AnswerKind::Numbers => {
                let plain = number(padded, cell, is_end).map(|(target, _)| target + 0.0);
                rows.targets.push(plain.or_else(|| target(text[cell..end].trim()))?);
            }
            Some((cell, end)) => {
                let known = short_form(&padded[cell..end]).and_then(|short| rows.words.known(short));
                let code = match known {
                    Some(code) => code,
                    None => {
                        let label = text[cell..end].trim();
                        if is_missing(label) {
                            return None;
                        }
                        rows.words.code(label)
                    }
                };
                rows.codes.push(code);
            }
        }
        rows.filled += filled;
        rows.ends.push(rows.values.len() as u64);
        Some(at)
    }

    /// Reads a row, or says what is wrong with it.
    fn long_row(
        &self,
        block: &Block,
        start: usize,
        open: Option<usize>,
        record: &Record,
        rows: &mut Rows,
    ) -> Result<(), Fault> {
        if let Some(cell) = open {
            return Err(never_closed(block, cell));
        }
        self.check_width(block, start, record)?;
        let cells = |place: usize| record.get(place).unwrap_or_default().trim();
        let lacks = |&place: &usize| matches!(self.cell(cells(place)), Cell::Missing);
        let columns = &self.columns;
        if columns.missing == Missing::Drop
            && (columns.features.iter().any(lacks) || columns.label.is_some_and(|label| is_missing(cells(label))))
        {
            let row = rows.ends.len() + rows.tally.dropped.len();
            rows.tally.dropped.push(row as u64);
            return Ok(());
        }
        let label = self.read_label(block, start, record)?;
        let is_dense = self.is_dense();
        let mut column = 0;
        for (feature, (&place, kind)) in columns.features.iter().zip(&columns.kinds).enumerate() {
            let text = cells(place);
            let (step, width, value) = match (self.cell(text), kind) {
                (Cell::Number(value), Kind::Number) => (0, 1, value),
                (Cell::Missing, Kind::Number) if columns.fill(feature).is_some() => {
                    rows.tally.filled(feature, 1);
                    (0, 1, columns.fill(feature).unwrap_or_default())
                }
                (Cell::Number(_) | Cell::Text, Kind::Values(values)) => {
                    match values.binary_search_by(|value| value.as_str().cmp(text)) {
                        Ok(step) => (step, values.len(), 1.0),
                        Err(_) => {
                            rows.tally.unseen(feature, text);
                            (0, values.len(), 0.0)
                        }
                    }
                }
                (Cell::Missing, Kind::Values(values)) if columns.missing != Missing::Error => {
                    rows.tally.filled(feature, 1);
                    (0, values.len(), 0.0)
                }
                (cell, _) => return Err(self.bad_cell(block, start, place, text, cell)),
            };
            if is_dense {
                // A zero has no sign.
                rows.values.push(value + 0.0);
                rows.filled += u64::from(value != 0.0);
            } else if value != 0.0 {
                rows.indices.push((column + step) as u32);
                rows.values.push(value);
            }
            column += width;
        }
        rows.ends.push(rows.values.len() as u64);
        match label {
            Some(Answer::Label(label)) => {
                let code = rows.words.code(label);
                rows.codes.push(code);
            }
            Some(Answer::Target(target)) => rows.targets.push(target),
            None => {}
        }
        Ok(())
    }

    fn read_label<'r>(&self, block: &Block, start: usize, record: &'r Record) -> Result<Option<Answer<'r>>, Fault> {
        let Some(place) = self.columns.label else { return Ok(None) };
        let text = record.get(place).unwrap_or_default().trim();
        if is_missing(text) {
            let found = format!("{} in {}", missing(text), self.describe(place));
            let help = Help::from("fill the label in, or leave such rows out with ").set(Setting::Missing, "drop");
            return Err(self.fault(block, start, place, found, "a label", help));
        }
        if self.columns.answers() != AnswerKind::Numbers {
            return Ok(Some(Answer::Label(text)));
        }
        let with_point = (self.decimal_comma && has_decimal_comma(text))
            .then(|| text.replacen(',', ".", 1))
            .and_then(|text| target(&text));
        match with_point.or_else(|| target(text)) {
            Some(target) => Ok(Some(Answer::Target(target))),
            None => {
                let found = format!("{} in {}", quoted(text), self.describe(place));
                Err(self.fault(block, start, place, found, "a number to learn", TARGET_HELP))
            }
        }
    }

    #[cold]
    fn bad_cell(&self, block: &Block, start: usize, place: usize, text: &str, cell: Cell) -> Fault {
        let column = self.describe(place);
        match cell {
            Cell::Missing => {
                let help = missing_help();
                self.fault(block, start, place, format!("{} in {column}", missing(text)), "a value", help)
            }
            Cell::Infinite => {
                let help = "leave the row out, or correct the value";
                self.fault(block, start, place, format!("{} in {column}", quoted(text)), "a finite number", help)
            }
            Cell::Text | Cell::Number(_) => {
                let help: Help = if has_decimal_comma(text) {
                    "write numbers with a decimal point".into()
                } else {
                    text_help(&self.head().name(place))
                };
                let is_first = block.number == 0 && Place::new(block, start).line == self.first_line;
                let help = if !self.header && !has_decimal_comma(text) && is_first {
                    help.and("; if this line names the columns, give ").set(Setting::Header, "true")
                } else {
                    help
                };
                self.fault(block, start, place, format!("{} in {column}", quoted(text)), "a number", help)
            }
        }
    }

    fn check_width(&self, block: &Block, start: usize, record: &Record) -> Result<(), Fault> {
        if record.len() == self.width {
            return Ok(());
        }
        let cells = |count| if count == 1 { "1 cell".into() } else { format!("{count} cells") };
        // More cells than names or fewer; the place is the first one too many, or the end of the row.
        Err(self.fault(
            block,
            start,
            self.width.min(record.len()),
            format!("a row of {}", cells(record.len())),
            format!("{} as in line {}", self.width, self.first_line),
            "give each row as many cells, and put cells that hold the separator in quotes",
        ))
    }

    /// A fault in a cell of the record that starts at a byte of a block.
    fn fault(
        &self,
        block: &Block,
        start: usize,
        place: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<Help>,
    ) -> Fault {
        let at = cell_start(block.bytes(), start, self.separator, place);
        Fault::new(block, at, found, expected, help)
    }
}

/// The way out for a value that is missing.
pub(crate) fn missing_help() -> Help {
    Help::from("say what becomes of missing values: ")
        .set(Setting::Missing, "mean")
        .and(", median or zero, or ")
        .set(Setting::Missing, "drop")
        .and(", which leaves the rows out")
}

/// The way out for a column of words.
pub(crate) fn text_help(name: &str) -> Help {
    Help::from("make a column of each value with ")
        .set(Setting::Categorical, name)
        .and(", or leave it out with ")
        .set(Setting::Exclude, name)
}

#[cold]
fn never_closed(block: &Block, cell: usize) -> Fault {
    let help = "close the quote, and write a quote within a cell twice";
    Fault::new(block, cell, "a quote that is never closed", "a closing quote", help)
}

fn missing(text: &str) -> String {
    if text.is_empty() { "an empty cell".into() } else { format!("the missing value {}", quoted(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Categorical, Format, read_bytes};
    use maxmargin::data::Dataset;

    fn read(text: &str, origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
        read_bytes(text.as_bytes(), origin, &ReadOptions { format: Some(Format::Csv), ..options.clone() })
    }

    fn read_named(text: &str, origin: &str, options: &ReadOptions) -> Dataset {
        read(text, origin, options).unwrap()
    }

    fn read_text(text: &str) -> Dataset {
        read_named(text, "test.csv", &ReadOptions::default())
    }

    fn names(data: &Dataset) -> Vec<&str> {
        data.names().unwrap_or_default().iter().map(String::as_str).collect()
    }

    fn labels(data: &Dataset) -> Vec<&str> {
        (0..data.rows()).map(|row| data.labels().unwrap().get(row).text()).collect()
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
        let error = read("?,2,a\n3,4,b\n", "t.csv", &ReadOptions::default()).unwrap_err();
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
        let options = ReadOptions { answers: AnswerKind::None, ..ReadOptions::default() };
        let data = read_named("x\n1\n2\n", "t.csv", &options);
        assert_eq!((names(&data), data.answers().is_none(), data.columns()), (vec!["x"], true, 1));
    }

    #[test]
    fn values_become_columns_on_request() {
        let options = ReadOptions { categorical: Categorical::Words, ..ReadOptions::default() };
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
    fn quotes_hold_separators_line_ends_and_quotes() {
        let data = read_text("x,\"a \"\"b\"\", c\",k\r\n\"1\",2,\"u\nv\"\r\n\r\n3,4,w");
        assert_eq!(names(&data), ["x", "a \"b\", c"]);
        assert_eq!((labels(&data), data.rows()), (vec!["u\nv", "w"], 2));
    }

    #[test]
    fn a_place_after_lines_within_quotes_is_right() {
        let text = "x,y,k\n\n1,\"2\",\"a\n\nb\"\n3,\"z\",c\n";
        let error = read(text, "t.csv", &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:6:3: found \"z\" in column 2 \"y\""), "{error}");
    }

    #[test]
    fn a_column_without_a_name_goes_by_its_number() {
        assert_eq!(names(&read_text(",x,k\n0,1,a\n1,2,b\n")), ["1", "x"]);
    }
}
