//! CSV: a row a line, cells separated by commas, semicolons, tabs, `|` or blanks, with or without a header.
//!
//! One column is the label, kept as written; all others are numbers, or, on request, one column for each value.
//! Blanks around a cell do not count. True and False are 1 and 0. Where another separator leaves the comma free, numbers may
//! have a decimal comma. A line that begins with `#` is a comment when a blank follows, or when it has not as many cells as a
//! row; one right above the rows that reads as their header is the header. Cost: one pass over the bytes.
//!
//! As with LIBSVM text there is a short way, for rows of plain numbers, and a long one that knows of everything else.

use std::collections::HashMap;
use std::path::Path;

use maxmargin::data::{AnswerKind, Missing};
use maxmargin::error::quoted;

use crate::block::{Block, Cutter, check_text};
use crate::cells::{BLANKS, Record, Span, cell_start, skip_empty_lines};
use crate::columns::{Columns, Head, Kind, flag_name, is_by_number};
use crate::compressed::without_compression;
use crate::error::Error;
use crate::libsvm::{TARGET_HELP, target};
use crate::number::number;
use crate::read::{Categorical, ReadOptions, content, no_rows};
use crate::rows::{Fault, Place, Rows, short_form};
use crate::survey::{self, TableSurvey};

/// How many lines are looked at to find the separator.
const TELLING_LINES: usize = 10;
/// The most lines of comments before the first row. After them a line that begins with `#` counts as a row, so that a file of
/// nothing else is not read whole to find its first row.
const MOST_COMMENTS: usize = 1000;

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

/// Whether a line is a comment for all that is known before the rows: it begins with `#`, and is not one of too many.
fn is_marked(line: &str, before: &mut usize) -> bool {
    *before += 1;
    *before <= MOST_COMMENTS && line.trim_start().starts_with('#')
}

/// How much of a text of whole lines tells what its columns are: two records and some lines. `None` when it does not reach
/// so far. When it is no text up to there, the part ends with the first byte that is none.
pub(crate) fn telling_part(origin: &str, bytes: &[u8], is_all: bool) -> Option<usize> {
    let (text, fault) = match check_text(bytes) {
        Ok(text) => (text, None),
        Err(at) => (check_text(&bytes[..at]).unwrap_or_default(), Some(at + 1)),
    };
    let mut before = 0;
    let filled = text.split_inclusive('\n').filter(|line| !line.trim().is_empty() && !is_marked(line, &mut before));
    let mut filled = filled.map(|line| (line, line.as_ptr() as usize - text.as_ptr() as usize));
    let first = filled.next();
    let lines =
        filled.nth(TELLING_LINES - 2).filter(|(line, _)| line.ends_with('\n')).map(|(line, at)| at + line.len());
    let whole = is_all.then_some(bytes.len());
    let Some(lines) = lines else { return fault.or(whole) };
    let (separator, mut record) = (find_separator(origin, text), Record::default());
    let end = |span: Span| (span.open.is_none() && text[..span.next].ends_with(['\n', '\r'])).then_some(span.next);
    let start = first.map_or(0, |(_, at)| at);
    let first = record.read(text, start, separator).and_then(end);
    let second = first.and_then(|at| record.read(text, at, separator)).and_then(end);
    second.map(|end| end.max(lines)).or(fault).or(whole)
}

/// The first records of a text.
struct Beginning {
    /// The first one that is no comment, or the comment before it that is the header.
    first: Record,
    span: Span,
    second: Option<(Record, Span)>,
    /// Whether the first one is a comment that names the columns.
    is_comment: bool,
}

impl Beginning {
    /// Reads them. A text whose every line begins with `#` has no comments.
    fn new(part: &str, separator: u8, options: &ReadOptions) -> Option<Self> {
        let mut records: Vec<(Record, Span)> = Vec::new();
        let (mut at, mut record, mut before) = (0, Record::default(), 0);
        let mut rows = 0;
        while rows < 2
            && let Some(span) = record.read(part, at, separator)
        {
            // Only the last comment may be of use.
            let is_comment = rows == 0 && is_marked(&part[span.start..], &mut before);
            let mut span = span;
            if is_comment {
                // A quote in a comment opens nothing. Only the first and the last comment may be of use.
                let end = line_end(part, span.start);
                record.read(&part[..end], span.start, separator);
                (span.next, span.open) = (end, None);
                records.truncate(1);
            }
            rows += usize::from(!is_comment);
            records.push((record.clone(), span));
            if span.open.is_some() {
                break;
            }
            at = span.next;
        }
        if rows == 0 {
            // What is left are comments, or rows of a column that begins with the mark.
            let is_plain = |(record, _): &(Record, Span)| record.get(0).is_some_and(|c| c.len() > 1 && !is_remark(c));
            if !records.iter().all(is_plain) {
                return None;
            }
            let mut all = records.into_iter();
            let (first, span) = all.next()?;
            let mut second = Record::default();
            let next = second.read(part, span.next, separator);
            return Some(Beginning { first, span, second: next.map(|span| (second, span)), is_comment: false });
        }
        let comments = records.len() - rows;
        let mut rest = records.split_off(comments).into_iter();
        let (first, span) = rest.next()?;
        let second = rest.next();
        if let Some((comment, comment_span)) = records.pop() {
            let names = comment.without_mark();
            let are_names = names.len() == first.len()
                && !has_header(&first, second.as_ref().map(|(record, _)| record), options)
                && has_header(&names, Some(&first), options);
            if are_names && options.header != Some(false) {
                let second = Some((first, span));
                return Some(Beginning { first: names, span: comment_span, second, is_comment: true });
            }
        }
        Some(Beginning { first, span, second, is_comment: false })
    }
}

/// Whether a line that begins so is a remark whatever its cells are.
fn is_remark(line: &str) -> bool {
    line.strip_prefix('#').is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', ' ', '\t', '\r', '\n', '!']))
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
            let help = "add rows, or say that the first line is a row: --no-header";
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
                    "rename one of the columns, or say that the first line is a row: --no-header",
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
            let help = "fill the label in, or leave such rows out with --missing drop";
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
                let help = MISSING_HELP;
                self.fault(block, start, place, format!("{} in {column}", missing(text)), "a value", help)
            }
            Cell::Infinite => {
                let help = "leave the row out, or correct the value";
                self.fault(block, start, place, format!("{} in {column}", quoted(text)), "a finite number", help)
            }
            Cell::Text | Cell::Number(_) => {
                let mut help = if has_decimal_comma(text) {
                    "write numbers with a decimal point".into()
                } else {
                    text_help(&self.head().name(place))
                };
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

/// The way out for a value that is missing.
pub(crate) const MISSING_HELP: &str =
    "say what becomes of missing values: --missing drop (leaves the rows out), mean, median or zero";

/// The way out for a column of words.
pub(crate) fn text_help(name: &str) -> String {
    let name = flag_name(name);
    format!("make a column of each value with --categorical {name}, or leave it out with --exclude {name}")
}

/// Where the line of a byte ends, with its end.
fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end + 1)
}

#[cold]
fn never_closed(block: &Block, cell: usize) -> Fault {
    let help = "close the quote, and write a quote within a cell twice";
    Fault::new(block, cell, "a quote that is never closed", "a closing quote", help)
}

fn missing(text: &str) -> String {
    if text.is_empty() { "an empty cell".into() } else { format!("the missing value {}", quoted(text)) }
}

/// Whether numbers have a decimal comma: some cells do, and none has a decimal point.
fn has_commas(part: &str, separator: u8, first: Span, header: bool) -> bool {
    let (mut at, mut record) = (if header { first.next } else { first.start }, Record::default());
    let (mut commas, mut points) = (false, false);
    while let Some(span) = record.read(part, at, separator) {
        for cell in record.iter().map(str::trim) {
            commas |= has_decimal_comma(cell);
            points |= cell.contains('.') && cell.parse::<f64>().is_ok();
        }
        if span.open.is_some() {
            break;
        }
        at = span.next;
    }
    commas && !points
}

/// The separator: a tab in a file named so, else the one that splits the first lines alike.
fn find_separator(origin: &str, text: &str) -> u8 {
    if Path::new(without_compression(origin)).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"))
    {
        return b'\t';
    }
    let mut before = 0;
    let filled = |line: &&str| !line.trim().is_empty() && !is_marked(line, &mut before);
    let lines: Vec<&str> = text.lines().filter(filled).take(TELLING_LINES).collect();
    let lines = if lines.is_empty() {
        text.lines().filter(|line| !line.trim().is_empty()).take(TELLING_LINES).collect()
    } else {
        lines
    };
    let counts: Vec<[usize; 4]> = lines.iter().map(|line| count_separators(line)).collect();
    let first = counts.first().copied().unwrap_or_default();
    let alike = |candidate: usize| first[candidate] > 0 && counts.iter().all(|c| c[candidate] == first[candidate]);
    // A bar may also stand in a cell, and a comma in a number.
    let is_found =
        |&candidate: &usize| alike(candidate) && (candidate != BAR || !alike(COMMA) || first[BAR] >= first[COMMA]);
    if let Some(candidate) = (0..SEPARATORS.len()).find(is_found) {
        return SEPARATORS[candidate];
    }
    if first.iter().all(|&count| count == 0) && separates_by_blanks(&lines) {
        return BLANKS;
    }
    let most = [0, 1, BAR, COMMA].into_iter().max_by_key(|&candidate| first[candidate]);
    most.map_or(b',', |candidate| SEPARATORS[candidate])
}

/// A comma may also be part of a number, so it comes last.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];
const BAR: usize = 2;
const COMMA: usize = 3;

/// Whether lines are rows of cells with blanks between: of two cells or more, equally many in each line, and some are numbers.
pub(crate) fn separates_by_blanks(lines: &[&str]) -> bool {
    let mut record = Record::default();
    let mut cells = |line: &str| {
        let is_whole = record.read(line, 0, BLANKS).is_some_and(|span| span.open.is_none());
        let numbers = record.iter().filter(|cell| matches!(Cell::new(cell, false), Cell::Number(_))).count();
        if is_whole { (record.len(), numbers) } else { (0, 0) }
    };
    let all: Vec<(usize, usize)> = lines.iter().map(|line| cells(line)).collect();
    let width = all.first().map_or(0, |(cells, _)| *cells);
    let numbers: usize = all.iter().map(|(_, numbers)| numbers).sum();
    width >= 2 && all.iter().all(|(cells, _)| *cells == width) && numbers >= all.len()
}

/// How often each separator stands outside of quotes, whichever of them it is that separates.
fn count_separators(line: &str) -> [usize; 4] {
    let mut counts = [0; 4];
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
    // The names that a model knows.
    if let Some(recipe) = &options.recipe {
        let names = recipe.columns.iter().filter_map(|column| column.column.name.as_deref());
        let known: std::collections::HashSet<&str> =
            names.chain(recipe.label.iter().filter_map(|label| label.name.as_deref())).collect();
        if first.iter().any(|cell| known.contains(cell.trim())) {
            return true;
        }
    }
    let categorical = match &options.categorical {
        Categorical::Named(names) => &names[..],
        _ => &[],
    };
    let asked = options.label.iter().chain(options.columns.iter().flatten());
    if asked.chain(&options.exclude).chain(categorical).any(|name| !is_by_number(name)) {
        return true;
    }
    let number = options.label.as_ref().and_then(|number| number.parse::<usize>().ok());
    let own = options.recipe.as_ref().and_then(|recipe| recipe.label.as_ref()).map(|label| label.place);
    let has_label = options.answers != AnswerKind::None;
    let label = has_label.then(|| own.unwrap_or(number.unwrap_or(first.len()).wrapping_sub(1)));
    if label.and_then(|label| first.get(label)).is_some_and(|cell| cell.trim() == "label") {
        return true;
    }
    let is_number = |cell: &str| matches!(Cell::new(cell, false), Cell::Number(_)) || has_decimal_comma(cell);
    first.iter().enumerate().filter(|&(place, _)| Some(place) != label).any(|(place, cell)| {
        matches!(Cell::new(cell.trim(), false), Cell::Text)
            && !has_decimal_comma(cell.trim())
            && second.is_none_or(|second| second.get(place).map(str::trim).is_some_and(is_number))
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
    fn a_separator_within_quotes_does_not_count() {
        assert_eq!(count_separators("0,\"a\t;\"\"\t\",5\" pipe;\t|"), [1, 1, 1, 2]);
        assert_eq!(count_separators("\";;"), [0, 0, 0, 0]);
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
