//! CSV: a row a line, cells separated by commas, semicolons or tabs, with or without a header.
//!
//! One column is the label, kept as written; all others are numbers, or, on request, one column for each value.
//! Blanks around a cell do not count. Cost: one pass over the bytes, and one more where values become columns.
//!
//! As with LIBSVM text there is a short way, for rows of plain numbers, and a long one that knows of everything else.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use maxmargin::error::{listed, quoted};

use crate::block::{Block, Cutter, check_text};
use crate::cells::{Record, Span, cell_start, skip_line_ends};
use crate::compressed::without_compression;
use crate::error::Error;
use crate::number::number;
use crate::read::{ReadOptions, asked_twice, content, data_error, no_rows};
use crate::rows::{Fault, Place, Rows, short_form};

/// A column of more values than this is hardly a category.
const VALUES_LIMIT: usize = 1000;

/// How many lines are looked at to find the separator.
const TELLING_LINES: usize = 10;

/// What a cell holds.
enum Cell {
    Number(f64),
    Infinite,
    Missing,
    Text,
}

impl Cell {
    fn new(text: &str) -> Self {
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
#[derive(Debug)]
enum Kind {
    Number,
    /// One column for each of these, sorted.
    Values(Vec<String>),
}

/// What a cell of a row is for.
#[derive(Clone, Copy, Debug)]
enum Role {
    Nothing,
    Label,
    Feature(usize),
}

/// A table whose columns are known.
#[derive(Debug)]
pub(crate) struct Table {
    origin: String,
    separator: u8,
    header: bool,
    /// How many cells each row has.
    width: usize,
    /// The line of the first row or the header.
    first_line: usize,
    /// Where the first row or the header ends.
    first_end: usize,
    /// The columns' names; without a header none.
    names: Vec<String>,
    /// Whether the header names a column that is not the label.
    is_named: bool,
    label: Option<usize>,
    /// The columns that are not the label, in the order of the data set.
    features: Vec<usize>,
    /// The names of the features that the user chose, as written.
    chosen: Option<Vec<String>>,
    roles: Vec<Role>,
    kinds: Vec<Kind>,
}

/// How much of a text of whole lines tells what its columns are: two records and some lines. `None` when it does not reach
/// so far. When it is no text up to there, the part ends with the first byte that is none.
pub(crate) fn telling_part(origin: &str, bytes: &[u8], is_all: bool) -> Option<usize> {
    let (text, fault) = match check_text(bytes) {
        Ok(text) => (text, None),
        Err(at) => (check_text(&bytes[..at]).unwrap_or_default(), Some(at + 1)),
    };
    let mut filled = text.split_inclusive('\n').filter(|line| !line.trim().is_empty());
    let lines = filled
        .nth(TELLING_LINES - 1)
        .filter(|line| line.ends_with('\n'))
        .map(|line| line.as_ptr() as usize - text.as_ptr() as usize + line.len());
    let whole = is_all.then_some(bytes.len());
    let Some(lines) = lines else { return fault.or(whole) };
    let (separator, mut record) = (find_separator(origin, text), Record::default());
    let end = |span: Span| (span.open.is_none() && text[..span.next].ends_with(['\n', '\r'])).then_some(span.next);
    let first = record.read(text, 0, separator).and_then(end);
    let second = first.and_then(|at| record.read(text, at, separator)).and_then(end);
    second.map(|end| end.max(lines)).or(fault).or(whole)
}

impl Table {
    /// Finds out about the columns from a part of the text that tells.
    pub(crate) fn new(origin: &str, part: &str, options: &ReadOptions) -> Result<Self, Error> {
        let separator = find_separator(origin, part);
        let block = Block::of(part.as_bytes());
        let syntax = |fault: Fault| fault.error(origin, 0);
        let (mut first, mut second) = (Record::default(), Record::default());
        let span = first.read(part, 0, separator).ok_or_else(|| no_rows(origin))?;
        let start = span.start;
        let check_closed = |open: Option<usize>| open.map_or(Ok(()), |at| Err(syntax(never_closed(&block, at))));
        check_closed(span.open)?;
        let second_span = second.read(part, span.next, separator);
        check_closed(second_span.and_then(|span| span.open))?;
        let second = second_span.map(|_| second);
        let width = first.len();
        if !(width >= 2 || options.unlabelled) {
            let Place { line, column } = Place::new(&block, start);
            return Err(Error::OneColumn { path: origin.into(), line, column });
        }
        let header = has_header(&first, second.as_ref(), options);
        let mut table = Table {
            origin: origin.into(),
            separator,
            header,
            width,
            first_line: Place::new(&block, start).line,
            first_end: span.next,
            names: Vec::new(),
            is_named: false,
            label: None,
            features: Vec::new(),
            chosen: options.columns.clone(),
            roles: vec![Role::Nothing; width],
            kinds: Vec::new(),
        };
        if header {
            table.names = table.read_names(&block, start, &first).map_err(syntax)?;
        }
        if !options.unlabelled {
            table.label = Some(options.label.as_deref().map_or(Ok(width - 1), |name| table.find(name))?);
        }
        let is_named = |(place, cell): (usize, &str)| Some(place) != table.label && !cell.trim().is_empty();
        table.is_named = header && first.iter().enumerate().any(is_named);
        table.features = match &table.chosen {
            Some(names) => names.iter().map(|name| table.find(name)).collect::<Result<_, _>>()?,
            None => (0..width).filter(|&place| Some(place) != table.label).collect(),
        };
        let mut seen = HashSet::new();
        if let Some(place) = table.features.iter().position(|&place| !seen.insert(place)) {
            let name = table.chosen.as_ref().map_or("", |names| &names[place]);
            return Err(asked_twice(origin, name));
        }
        if let Some(label) = table.label
            && table.features.contains(&label)
        {
            return Err(data_error(
                origin,
                maxmargin::Error::Combination {
                    what: format!("{} is the label and also among the columns to keep", table.describe(label)),
                    help: "leave it out of --columns, or choose another with --label".into(),
                },
            ));
        }
        if header && second.is_none() {
            let help = "add rows, or say that the first line is a row: --no-header";
            return Err(content(origin, "a header without rows", "at least one row", help));
        }
        table.features.iter().enumerate().for_each(|(feature, &place)| table.roles[place] = Role::Feature(feature));
        if let Some(label) = table.label {
            table.roles[label] = Role::Label;
        }
        table.kinds = table.features.iter().map(|_| Kind::Number).collect();
        Ok(table)
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
            let what = format!("there is no column {}", quoted(name));
            let help = if self.header {
                format!("the columns are {}", listed(self.names.iter().map(|name| quoted(name)), 8))
            } else {
                format!("the columns are numbered 1 to {}; with a header they have names: --header", self.width)
            };
            data_error(&self.origin, maxmargin::Error::Data { what, help })
        })
    }

    /// A column as messages call it.
    fn describe(&self, place: usize) -> String {
        match self.names.get(place) {
            Some(name) => format!("column {} {}", place + 1, quoted(name)),
            None => format!("column {}", place + 1),
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

    /// Whether all columns of each row are read, zeros as well.
    pub(crate) fn is_dense(&self) -> bool {
        self.kinds.iter().all(|kind| matches!(kind, Kind::Number))
    }

    /// The names of the columns of the data set; none when the file has none and nothing makes them needed.
    pub(crate) fn feature_names(&self) -> Option<Vec<String>> {
        if !self.is_named && self.chosen.is_none() && self.is_dense() {
            return None;
        }
        let mut names = Vec::new();
        for (feature, (&place, kind)) in self.features.iter().zip(&self.kinds).enumerate() {
            let name = match &self.chosen {
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

    /// Reads a block. The rows before the first fault are whole.
    pub(crate) fn read(&self, block: &Block, rows: &mut Rows) {
        rows.clear();
        rows.columns = self.columns() as u64;
        let (text, not_text) = block.text();
        let is_dense = self.is_dense();
        let (padded, mut record) = (block.padded(), Record::default());
        let mut at = 0;
        if block.number == 0 && self.header {
            at = record.read(text, at, self.separator).map_or(text.len(), |span| span.next);
        }
        loop {
            at = skip_line_ends(text.as_bytes(), at);
            if at >= text.len() {
                break;
            }
            if is_dense && let Some(next) = self.short_row(text, padded, at, rows) {
                at = next;
                continue;
            }
            rows.forget_row();
            let Some(span) = record.read(text, at, self.separator) else { break };
            if let Err(fault) = self.long_row(block, span.start, span.open, &record, rows) {
                rows.forget_row();
                rows.fault = Some(fault);
                return;
            }
            at = span.next;
        }
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
        rows.values.resize(base + self.features.len(), 0.0);
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
                Role::Feature(feature) => match Cell::new(text[cell..at].trim()) {
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
        let code = match label {
            None if self.label.is_none() => rows.words.code("0"),
            None => return None,
            Some((cell, end)) => match short_form(&padded[cell..end]).and_then(|short| rows.words.known(short)) {
                Some(code) => code,
                None => {
                    let label = text[cell..end].trim();
                    if is_missing(label) {
                        return None;
                    }
                    rows.words.code(label)
                }
            },
        };
        rows.codes.push(code);
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
        let label = self.read_label(block, start, record)?;
        let is_dense = self.is_dense();
        let mut column = 0;
        for (&place, kind) in self.features.iter().zip(&self.kinds) {
            let text = record.get(place).unwrap_or_default().trim();
            let (step, width, value) = match (Cell::new(text), kind) {
                (Cell::Number(value), Kind::Number) => (0, 1, value),
                (Cell::Number(_) | Cell::Text, Kind::Values(values)) => {
                    let step = values.binary_search_by(|value| value.as_str().cmp(text));
                    (step.unwrap_or_default(), values.len(), 1.0)
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
        let code = rows.words.code(label);
        rows.codes.push(code);
        Ok(())
    }

    fn read_label<'r>(&self, block: &Block, start: usize, record: &'r Record) -> Result<&'r str, Fault> {
        let Some(place) = self.label else { return Ok("0") };
        let text = record.get(place).unwrap_or_default().trim();
        if is_missing(text) {
            let found = format!("{} in {}", missing(text), self.describe(place));
            return Err(self.fault(block, start, place, found, "a label", "fill the label in, or remove the row"));
        }
        Ok(text)
    }

    #[cold]
    fn bad_cell(&self, block: &Block, start: usize, place: usize, text: &str, cell: Cell) -> Fault {
        let column = self.describe(place);
        match cell {
            Cell::Missing => {
                let help = "fill the value in (with the column's mean, say), or remove the row";
                self.fault(block, start, place, format!("{} in {column}", missing(text)), "a value", help)
            }
            Cell::Infinite => {
                let help = "leave the row out, or correct the value";
                self.fault(block, start, place, format!("{} in {column}", quoted(text)), "a finite number", help)
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
                let is_first = block.number == 0 && Place::new(block, start).line == self.first_line;
                if !self.header && !has_decimal_comma(text) && is_first {
                    help.push_str("; if this line names the columns, pass --header");
                }
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
        help: impl Into<String>,
    ) -> Fault {
        let at = cell_start(block.bytes(), start, self.separator, place);
        Fault::new(block, at, found, expected, help)
    }
}

/// The values of the columns of words, gathered from block after block.
pub(crate) struct Categories {
    values: Vec<BTreeSet<String>>,
    is_text: Vec<bool>,
}

impl Categories {
    pub(crate) fn new(table: &Table) -> Self {
        let count = table.features.len();
        Categories { values: vec![BTreeSet::new(); count], is_text: vec![false; count] }
    }

    /// Looks through a block that comes after so many lines.
    pub(crate) fn add(&mut self, table: &Table, block: &Block, lines: usize) -> Result<(), CategoryFault> {
        let (text, not_text) = block.text();
        let mut record = Record::default();
        let mut at = 0;
        if block.number == 0 && table.header {
            at = record.read(text, at, table.separator).map_or(text.len(), |span| span.next);
        }
        let syntax = |fault: Fault| CategoryFault::Fault(fault, lines);
        while let Some(span) = record.read(text, at, table.separator) {
            if let Some(cell) = span.open {
                return Err(syntax(never_closed(block, cell)));
            }
            table.check_width(block, span.start, &record).map_err(syntax)?;
            for (feature, &place) in table.features.iter().enumerate() {
                let text = record.get(place).unwrap_or_default().trim();
                let values = &mut self.values[feature];
                self.is_text[feature] |= matches!(Cell::new(text), Cell::Text);
                // One above the limit is enough to see that it is exceeded.
                if values.len() <= VALUES_LIMIT && !values.contains(text) {
                    values.insert(text.to_string());
                }
                if self.is_text[feature] && values.len() > VALUES_LIMIT {
                    return Err(CategoryFault::Limit(Error::Limit {
                        path: table.origin.clone(),
                        what: format!("{} has more than {VALUES_LIMIT} different values", table.describe(place)),
                        help: "name the columns to keep with --columns, or join rare values".into(),
                    }));
                }
            }
            at = span.next;
        }
        not_text.map_or(Ok(()), |fault| Err(syntax(fault)))
    }

    /// Makes columns of the values.
    pub(crate) fn finish(self, table: &mut Table) {
        let kind = |(values, is_text)| {
            if is_text { Kind::Values(BTreeSet::into_iter(values).collect()) } else { Kind::Number }
        };
        table.kinds = self.values.into_iter().zip(self.is_text).map(kind).collect();
    }
}

/// Why the values of columns could not be gathered.
pub(crate) enum CategoryFault {
    /// A fault in a block, and the lines before it.
    Fault(Fault, usize),
    Limit(Error),
}

#[cold]
fn never_closed(block: &Block, cell: usize) -> Fault {
    let help = "close the quote, and write a quote within a cell twice";
    Fault::new(block, cell, "a quote that is never closed", "a closing quote", help)
}

fn missing(text: &str) -> String {
    if text.is_empty() { "an empty cell".into() } else { format!("the missing value {}", quoted(text)) }
}

/// The separator: a tab in a file named so, else the one that splits the first lines alike.
fn find_separator(origin: &str, text: &str) -> u8 {
    if Path::new(without_compression(origin)).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"))
    {
        return b'\t';
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(TELLING_LINES);
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
fn has_header(first: &Record, second: Option<&Record>, options: &ReadOptions) -> bool {
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
    use crate::read::{Format, read_bytes};
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
        let error = read(text, "t.csv", &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:6:3: found \"z\" in column 2 \"y\""), "{error}");
    }

    #[test]
    fn a_column_without_a_name_goes_by_its_number() {
        assert_eq!(names(&read_text(",x,k\n0,1,a\n1,2,b\n")), ["1", "x"]);
    }
}
