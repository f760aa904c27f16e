//! What a text table looks like, by its first lines: what separates cells, which lines are comments, and whether the first row names
//! the columns.

use std::path::Path;

use maxmargin::data::AnswerKind;

use super::{Cell, has_decimal_comma};
use crate::block::check_text;
use crate::cells::{BLANKS, Record, Span};
use crate::columns::is_by_number;
use crate::compressed::without_compression;
use crate::read::{Categorical, ReadOptions};

/// How many lines are looked at to find the separator.
const TELLING_LINES: usize = 10;
/// The most lines of comments before the first row. After them a line that begins with `#` counts as a row, so that a file of
/// nothing else is not read whole to find its first row.
const MOST_COMMENTS: usize = 1000;

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
pub(super) struct Beginning {
    /// The first one that is no comment, or the comment before it that is the header.
    pub(super) first: Record,
    pub(super) span: Span,
    pub(super) second: Option<(Record, Span)>,
    /// Whether the first one is a comment that names the columns.
    pub(super) is_comment: bool,
}

impl Beginning {
    /// Reads them. A text whose every line begins with `#` has no comments.
    pub(super) fn new(part: &str, separator: u8, options: &ReadOptions) -> Option<Self> {
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
pub(super) fn is_remark(line: &str) -> bool {
    line.strip_prefix('#').is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', ' ', '\t', '\r', '\n', '!']))
}

/// Where the line of a byte ends, with its end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end + 1)
}

/// Whether numbers have a decimal comma: some cells do, and none has a decimal point.
pub(super) fn has_commas(part: &str, separator: u8, first: Span, header: bool) -> bool {
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
pub(super) fn find_separator(origin: &str, text: &str) -> u8 {
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
pub(super) fn has_header(first: &Record, second: Option<&Record>, options: &ReadOptions) -> bool {
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

    #[test]
    fn a_separator_within_quotes_does_not_count() {
        assert_eq!(count_separators("0,\"a\t;\"\"\t\",5\" pipe;\t|"), [1, 1, 1, 2]);
        assert_eq!(count_separators("\";;"), [0, 0, 0, 0]);
    }
}
