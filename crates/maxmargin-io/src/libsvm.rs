//! LIBSVM text: a row a line, `label index:value index:value ...`, zeros left out.
//!
//! ```text
//! row     = label [ "qid:" number ] { index ":" number } [ "#" comment ]
//! label   = any word without a colon
//! index   = digits, increasing within a row, from 1 (or 0 on request)
//! ```
//!
//! Words are separated by spaces or tabs; empty lines are skipped. Cost: one pass over the bytes.

use std::collections::HashSet;

use maxmargin::data::{Dataset, Label, Labels};
use maxmargin::error::quoted;
use memchr::memchr;

use crate::error::Error;
use crate::number::{digit, number};
use crate::read::{ReadOptions, Source, asked_twice, is_blank, matrix, no_rows};

/// Columns are numbered in 32 bits, and their count must fit too.
const INDEX_LIMIT: u64 = u32::MAX as u64 - 1;

/// Reads LIBSVM text.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, Error> {
    if let Some(label) = &options.label {
        return Err(source.content(
            "LIBSVM text, where the label is the first word of a row",
            format!("CSV with a label column {}", quoted(label)),
            "leave out --label, or name the format: --format csv",
        ));
    }
    let mut rows = Rows { base: u64::from(!options.zero_based), ..Rows::new(*source) };
    let bytes = source.text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let stop = memchr(b'#', &bytes[start..end]).map_or(end, |length| start + length);
        rows.read_line(start, stop)?;
        start = end + 1;
    }
    let data = rows.finish()?;
    match &options.columns {
        Some(columns) => {
            let mut seen = HashSet::new();
            if let Some(name) = columns.iter().find(|&name| !seen.insert(name)) {
                return Err(asked_twice(source, name));
            }
            data.select_columns(columns).map_err(|error| source.data(error))
        }
        None => Ok(data),
    }
}

/// The rows read so far, compressed.
struct Rows<'a> {
    source: Source<'a>,
    /// The index of the first column: 1, or 0 on request.
    base: u64,
    columns: u64,
    offsets: Vec<u64>,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<&'a str>,
    groups: Vec<i64>,
}

impl<'a> Rows<'a> {
    fn new(source: Source<'a>) -> Self {
        Rows {
            source,
            base: 1,
            columns: 0,
            offsets: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            groups: Vec::new(),
        }
    }

    fn finish(self) -> Result<Dataset, Error> {
        let Rows { source, columns, offsets, indices, values, labels, groups, .. } = self;
        if labels.is_empty() {
            return Err(no_rows(&source));
        }
        // Any word is a label, so a whole CSV file would read as rows without entries.
        if columns == 0 && labels[0].contains([',', ';']) {
            let offset = labels[0].as_ptr() as usize - source.text.as_ptr() as usize;
            return Err(source.syntax(
                offset,
                quoted(labels[0]),
                "LIBSVM text (label index:value ...)",
                "if this is CSV, name the format: --format csv",
            ));
        }
        let labels = Labels::new(labels.into_iter().map(Label::new));
        let data = matrix(columns as usize, offsets, indices, values)
            .and_then(|matrix| Dataset::new(matrix, labels))
            .map(Dataset::with_open_columns)
            .and_then(|data| if groups.is_empty() { Ok(data) } else { data.with_groups(groups) });
        data.map_err(|error| source.data(error))
    }

    /// Reads the line between two places of the text, its comment cut off.
    fn read_line(&mut self, start: usize, stop: usize) -> Result<(), Error> {
        let text = self.source.text;
        // No byte from here on is out of the line.
        let line = &text.as_bytes()[..stop];
        let mut at = skip_blanks(line, start);
        if at == stop {
            return Ok(());
        }
        let label_end = word_end(line, at);
        let label = &text[at..label_end];
        if label.contains(':') {
            return Err(self.source.syntax(
                at,
                quoted(label),
                "a label",
                "begin each row with its label, or with 0 where it is not known",
            ));
        }
        at = skip_blanks(line, label_end);
        at = self.read_group(line, at)?;
        self.labels.push(label);

        // Indices below this one are out of order.
        let mut next = self.base;
        while at < stop {
            let (index, value, end) = match entry(line, at) {
                Some(entry) => entry,
                None => {
                    let end = word_end(line, at);
                    let (index, value) = self.slow_entry(at, &text[at..end])?;
                    (index, value, end)
                }
            };
            if !(index >= next && index < INDEX_LIMIT) {
                return Err(self.bad_index(at, index, next));
            }
            next = index + 1;
            if value != 0.0 {
                self.indices.push((index - self.base) as u32);
                self.values.push(value);
            }
            at = skip_blanks(line, end);
        }
        self.columns = self.columns.max(next - self.base);
        self.offsets.push(self.values.len() as u64);
        Ok(())
    }

    /// Reads `qid:number`, if it is there, and returns the place after it.
    fn read_group(&mut self, line: &[u8], at: usize) -> Result<usize, Error> {
        let rows = self.labels.len();
        let has_group = line[at..].starts_with(b"qid:");
        if rows > 0 && has_group == self.groups.is_empty() {
            let (found, expected) = if has_group {
                ("a qid", "none, as in the rows before")
            } else {
                ("no qid", "one, as in the rows before")
            };
            return Err(self.source.syntax(at, found, expected, "give every row a qid after its label, or none"));
        }
        if !has_group {
            return Ok(at);
        }
        let end = word_end(line, at);
        let number = &self.source.text[at + 4..end];
        let group = number.parse().map_err(|_| {
            self.source.syntax(at + 4, quoted(number), "a whole number", "number the queries in digits, as in qid:1")
        })?;
        self.groups.push(group);
        Ok(skip_blanks(line, end))
    }

    /// Reads an entry that is not in the most common form, or says what is wrong with it.
    #[cold]
    fn slow_entry(&self, at: usize, word: &str) -> Result<(u64, f64), Error> {
        let Some((index, number)) = word.split_once(':') else {
            let help = "write each entry as index:value, without spaces around the colon";
            return Err(self.source.syntax(at, quoted(word), "an entry index:value", help));
        };
        if index == "qid" {
            return Err(self.source.syntax(
                at,
                quoted(word),
                "an entry index:value",
                "write qid right after the label",
            ));
        }
        if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            let help = "number the columns from 1 on, in digits";
            return Err(self.source.syntax(at, quoted(word), "an entry index:value", help));
        }
        // Digits that do not fit are too many, and said to be so below.
        let index = index.parse().unwrap_or(u64::MAX);
        let at = at + word.len() - number.len();
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((index, value)),
            Ok(value) if value.is_infinite() && number.bytes().any(|byte| byte.is_ascii_digit()) => {
                let help = "scale the column, or correct the value";
                Err(self.source.syntax(at, quoted(number), "a number of at most 1.8e308", help))
            }
            Ok(_) => {
                let help = "leave the row out, or fill the value in (with the column's mean, say)";
                Err(self.source.syntax(at, quoted(number), "a finite number", help))
            }
            Err(_) if number.is_empty() => {
                let help = "leave the entry out where the value is 0, or fill it in";
                Err(self.source.syntax(at, "no value", "a number after the colon", help))
            }
            Err(_) => {
                let help = "write numbers like 3, -0.5 or 1e-3, with a decimal point";
                Err(self.source.syntax(at, quoted(number), "a number", help))
            }
        }
    }

    #[cold]
    fn bad_index(&self, at: usize, index: u64, next: u64) -> Error {
        if index >= INDEX_LIMIT {
            let found = match index {
                u64::MAX => "an index of 20 digits or more".into(),
                index => format!("the index {index}"),
            };
            let expected = format!("one below {INDEX_LIMIT}");
            return self.source.syntax(at, found, expected, "renumber the columns that are used");
        }
        if index < self.base {
            let help = "number the columns from 1, or say that they begin at 0: --zero-based";
            return self.source.syntax(at, "the index 0", "one of 1 or more", help);
        }
        if index + 1 == next {
            let found = format!("the index {index} again");
            return self.source.syntax(at, found, "each index once in a row", "join or remove the repeated entries");
        }
        let found = format!("the index {index} after {}", next - 1);
        self.source.syntax(at, found, "increasing indices", "sort the entries of each row by index")
    }
}

fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && is_blank(line[at]) {
        at += 1;
    }
    at
}

fn word_end(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && !is_blank(line[at]) {
        at += 1;
    }
    at
}

/// An entry in the most common form, and the place after it.
#[inline]
fn entry(line: &[u8], start: usize) -> Option<(u64, f64, usize)> {
    let mut at = start;
    let mut index = 0;
    while let Some(digit) = digit(line, at) {
        index = index * 10 + digit;
        at += 1;
        // Ten digits fit in 64 bits without a check of each.
        if at - start > 10 {
            return None;
        }
    }
    if at == start || line.get(at) != Some(&b':') {
        return None;
    }
    let (value, at) = number(line, at + 1)?;
    Some((index, value, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::data::Matrix;

    fn read_text(text: &str, options: &ReadOptions) -> Dataset {
        read(&Source { origin: "test", text }, options).unwrap()
    }

    fn texts(data: &Dataset) -> Vec<&str> {
        (0..data.rows()).map(|row| data.labels().get(row).text()).collect()
    }

    #[test]
    fn rows_labels_and_the_highest_index_are_read() {
        let data = read_text("+1 1:0.5 3:-2e3\n-1 2:1\n", &ReadOptions::default());
        assert_eq!((data.rows(), data.columns()), (2, 3));
        assert_eq!((data.matrix().row(0), data.matrix().row(1)), (vec![0.5, 0.0, -2000.0], vec![0.0, 1.0, 0.0]));
        assert_eq!(texts(&data), ["+1", "-1"]);
        assert!(data.groups().is_none() && data.names().is_none());
    }

    #[test]
    fn comments_blank_lines_and_line_ends_do_not_matter() {
        let plain = "1 1:2 5:3\n2\n3 2:1";
        let dressed = "# by hand\r\n\r\n  1\t1:2   5:3 \r\n\n2#no entries\r\n3 2:1# last";
        let (plain, dressed) = (read_text(plain, &ReadOptions::default()), read_text(dressed, &ReadOptions::default()));
        assert_eq!(texts(&plain), texts(&dressed));
        assert_eq!((dressed.rows(), dressed.columns()), (3, 5));
        (0..3).for_each(|row| assert_eq!(plain.matrix().row(row), dressed.matrix().row(row)));
    }

    #[test]
    fn columns_begin_at_zero_on_request() {
        let data = read_text("1 0:7 2:8\n", &ReadOptions { zero_based: true, ..ReadOptions::default() });
        assert_eq!(data.matrix().row(0), [7.0, 0.0, 8.0]);
    }

    #[test]
    fn groups_are_kept() {
        let data = read_text("1 qid:3 1:2\n0 qid:-4\n", &ReadOptions::default());
        assert_eq!(data.groups(), Some(&[3, -4][..]));
    }

    #[test]
    fn written_zeros_widen_the_matrix_but_are_not_stored() {
        let data = read_text("1 1:0 2:5 9:0.0\n1 4:-0\n", &ReadOptions::default());
        assert_eq!((data.columns(), data.matrix().entries()), (9, 1));
        assert!(matches!(data.matrix(), Matrix::Sparse(_)));
    }

    #[test]
    fn several_labels_and_words_are_kept_as_written() {
        assert_eq!(
            texts(&read_text("1,2 1:1\nspam 1:1\n1.50 1:2\n", &ReadOptions::default())),
            ["1,2", "spam", "1.50"]
        );
    }

    #[test]
    fn rows_without_entries_make_a_matrix_without_columns() {
        let data = read_text("1\n-1\n", &ReadOptions::default());
        assert_eq!((data.rows(), data.columns()), (2, 0));
    }

    #[test]
    fn the_highest_index_allowed_is_read() {
        let data = read_text("1 4294967293:1\n", &ReadOptions::default());
        assert_eq!(data.columns(), 4294967293);
        let data = read_text("1 4294967293:1\n", &ReadOptions { zero_based: true, ..ReadOptions::default() });
        assert_eq!(data.columns(), 4294967294);
    }

    #[test]
    fn chosen_columns_are_kept_in_the_order_given() {
        let options = ReadOptions { columns: Some(vec!["3".into(), "1".into()]), ..ReadOptions::default() };
        let data = read_text("1 1:10 2:20 3:30\n", &options);
        assert_eq!(data.matrix().row(0), [30.0, 10.0]);
    }
}
