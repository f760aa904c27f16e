//! LIBSVM text: a row a line, `label index:value index:value ...`, zeros left out.
//!
//! ```text
//! row     = label [ "qid:" number ] { index ":" number } [ "#" comment ]
//! label   = any word without a colon
//! index   = digits, increasing within a row, from 1 (or 0 on request)
//! ```
//!
//! Tables of kernel values may have a serial number in the place of an index 0: see `kernel_values.rs`.
//!
//! Words are separated by spaces or tabs; empty lines are skipped. Cost: one pass over the bytes.
//!
//! A line is read in two ways. The short one takes what nearly all lines are, and gives up at whatever else it sees; the
//! long one takes everything, and is the only one that knows of faults.

use maxmargin::data::AnswerKind;
use maxmargin::error::quoted;
use memchr::memchr;

use crate::block::Block;
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::marks::{Marks, UNKNOWN};
use crate::number::{Digits, digits_value, eight, known_number, number};
use crate::read::ReadOptions;
use crate::rows::{Fault, First, Place, Rows};

/// Columns are numbered in 32 bits, and their count must fit too.
pub(crate) const INDEX_LIMIT: u64 = u32::MAX as u64 - 1;

/// How LIBSVM text is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Libsvm {
    /// The index of the first column: 1, or 0 on request.
    base: u64,
    /// Whether the first word of a row is a number to learn, and not a label.
    has_targets: bool,
}

impl Libsvm {
    pub(crate) fn new(origin: &str, options: &ReadOptions) -> Result<Self, Error> {
        match &options.label {
            Some(label) => Err(Error::Content {
                path: origin.into(),
                found: "LIBSVM text, where the label is the first word of a row".into(),
                expected: format!("CSV with a label column {}", quoted(label)),
                help: Help::from("leave out ")
                    .name(Setting::Label)
                    .and(", or name the format: ")
                    .set(Setting::Format, "csv"),
            }),
            // A serial number is read as a column before the first, and taken out in the end.
            None => Ok(Libsvm {
                base: u64::from(!options.zero_based && options.kernel_values.is_none()),
                has_targets: options.answers == AnswerKind::Numbers,
            }),
        }
    }

    /// Reads a block. The rows before the first fault are whole.
    pub(crate) fn read(&self, block: &Block, rows: &mut Rows) {
        rows.clear();
        let (text, not_text) = block.text();
        let mut marks = std::mem::take(&mut rows.marks);
        let fault = Lines { block, text, base: self.base, has_targets: self.has_targets, rows }.read(&mut marks);
        rows.marks = marks;
        match fault {
            Some(fault) => {
                rows.forget_row();
                rows.fault = Some(fault);
            }
            None => {
                rows.lines = memchr::memchr_iter(b'\n', block.bytes()).count();
                rows.fault = not_text;
            }
        }
    }
}

/// Whether a byte separates the words of a line.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// Whether a word ends at a byte.
#[inline]
fn is_end(byte: u8) -> bool {
    is_blank(byte) || byte == b'\n'
}

/// The lines of a block, and the rows read so far.
struct Lines<'a> {
    block: &'a Block,
    text: &'a str,
    base: u64,
    has_targets: bool,
    rows: &'a mut Rows,
}

/// Bytes whose marks are found at a time, and those of a line at most that is read the short way.
const WINDOW: usize = 1 << 15;
const LONGEST_LINE: usize = 1 << 20;

/// What came of reading a line the short way.
enum Short {
    /// It is read, and the next one starts here.
    Read(usize),
    /// It is of another form; nothing has happened.
    Other,
    /// It goes on beyond what is marked; nothing has happened.
    Beyond,
}

/// The marks from some place of the text on.
struct Cursor<'m> {
    base: usize,
    places: &'m [u32],
    /// The number of the next one.
    next: usize,
}

impl Cursor<'_> {
    /// The place of the k-th mark; beyond every text where it is not known.
    #[inline]
    fn place(&self, k: usize) -> usize {
        match self.places[k] {
            UNKNOWN => usize::MAX,
            place => self.base + place as usize,
        }
    }

    /// The first mark after a place, from the k-th on.
    #[inline]
    fn after(&self, mut k: usize, place: usize) -> usize {
        while self.place(k) <= place {
            k += 1;
        }
        k
    }
}

impl Lines<'_> {
    /// Reads all lines up to the first fault.
    fn read(&mut self, marks: &mut Marks) -> Option<Fault> {
        let (text, padded) = (self.text, self.block.padded());
        let has_comments = memchr(b'#', text.as_bytes()).is_some();
        let (mut start, mut window) = (0, WINDOW);
        while start < text.len() {
            let first = start;
            marks.find(padded, start, (start + window).min(text.len() + 1));
            let mut cursor = Cursor { base: start, places: marks.places(), next: 0 };
            while start < text.len() {
                match self.short_line(padded, start, &mut cursor) {
                    Short::Read(next) => start = next,
                    Short::Beyond if start > first || window < LONGEST_LINE => break,
                    Short::Beyond | Short::Other => {
                        let end = memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |length| start + length);
                        let comment = if has_comments { memchr(b'#', &text.as_bytes()[start..end]) } else { None };
                        if let Err(fault) = self.long_line(start, comment.map_or(end, |length| start + length)) {
                            return Some(fault);
                        }
                        start = end + 1;
                    }
                }
            }
            window = if start == first { LONGEST_LINE } else { WINDOW };
        }
        None
    }

    /// Reads a line of the most common form.
    #[inline]
    fn short_line(&mut self, padded: &[u8], start: usize, cursor: &mut Cursor<'_>) -> Short {
        // Rows with a group are not of this form, and the first row of a block says whether there are groups.
        if !self.rows.groups.is_empty() || self.rows.first.is_none() {
            return Short::Other;
        }
        let (answer, mut at) =
            match if self.has_targets { short_target(padded, start) } else { short_label(padded, start) } {
                Some(found) => found,
                None => return Short::Other,
            };
        let label_end = at;
        let mut next = self.base;
        match padded[at] {
            b' ' | b'\t' => {
                let mut k = cursor.after(cursor.next, at);
                at += 1;
                loop {
                    let entry = match short_entry(padded, at, cursor, k) {
                        Some(entry) if entry.end == usize::MAX => {
                            self.rows.forget_row();
                            return Short::Beyond;
                        }
                        Some(entry) => entry,
                        None if padded[at] == b'\n' => break,
                        None => {
                            self.rows.forget_row();
                            return Short::Other;
                        }
                    };
                    let Entry { index, value, end, marks } = entry;
                    if !(index >= next && index < INDEX_LIMIT) {
                        self.rows.forget_row();
                        return Short::Other;
                    }
                    next = index + 1;
                    if value != 0.0 {
                        self.rows.indices.push((index - self.base) as u32);
                        self.rows.values.push(value);
                    }
                    (at, k) = (end, marks);
                    match padded[at] {
                        b' ' | b'\t' => at += 1,
                        b'\n' => break,
                        b'\r' if padded[at + 1] == b'\n' => {
                            at += 1;
                            break;
                        }
                        _ => {
                            self.rows.forget_row();
                            return Short::Other;
                        }
                    }
                }
                cursor.next = k;
            }
            b'\n' => {}
            _ => return Short::Other,
        }
        match answer {
            Answer::Target(target) => self.rows.targets.push(target),
            Answer::Label(label) => {
                let code = self.rows.words.known(label);
                let code = code.unwrap_or_else(|| self.rows.words.code(&self.text[start..label_end]));
                self.rows.codes.push(code);
            }
        }
        self.rows.columns = self.rows.columns.max(next - self.base);
        self.rows.ends.push(self.rows.values.len() as u64);
        Short::Read(at + 1)
    }

    /// Reads the line between two places of the text, its comment cut off.
    fn long_line(&mut self, start: usize, stop: usize) -> Result<(), Fault> {
        let text = self.text;
        // No byte from here on is out of the line.
        let line = &text.as_bytes()[..stop];
        let mut at = skip_blanks(line, start);
        if at == stop {
            return Ok(());
        }
        let label_at = at;
        let label_end = word_end(line, at);
        let label = &text[at..label_end];
        if label.contains(':') {
            let help = "begin each row with its label, or with 0 where it is not known";
            return Err(self.fault(at, quoted(label), "a label", help));
        }
        let target = self.has_targets.then(|| self.long_target(label_at, label)).transpose()?;
        at = skip_blanks(line, label_end);
        at = self.read_group(line, label_at, at)?;

        // Indices below this one are out of order.
        let mut next = self.base;
        while at < stop {
            let end = word_end(line, at);
            let (index, value) = self.long_entry(at, &text[at..end])?;
            if !(index >= next && index < INDEX_LIMIT) {
                return Err(self.bad_index(at, index, next));
            }
            next = index + 1;
            if value != 0.0 {
                self.rows.indices.push((index - self.base) as u32);
                self.rows.values.push(value);
            }
            at = skip_blanks(line, end);
        }
        match target {
            Some(target) => self.rows.targets.push(target),
            None => {
                let code = self.rows.words.code(label);
                self.rows.codes.push(code);
            }
        }
        self.rows.columns = self.rows.columns.max(next - self.base);
        self.rows.ends.push(self.rows.values.len() as u64);
        Ok(())
    }

    /// The number to learn of a row.
    fn long_target(&self, at: usize, word: &str) -> Result<f64, Fault> {
        target(word).ok_or_else(|| self.fault(at, quoted(word), "a number to learn", TARGET_HELP))
    }

    /// Reads `qid:number`, if it is there, and returns the place after it.
    fn read_group(&mut self, line: &[u8], label_at: usize, at: usize) -> Result<usize, Fault> {
        let has_group = line[at..].starts_with(b"qid:");
        match self.rows.first {
            None => {
                let place = |at| Place::new(self.block, at);
                self.rows.first = Some(First { has_group, label: place(label_at), group: place(at) });
            }
            Some(first) if first.has_group != has_group => {
                let (found, expected, help) = group_mismatch(has_group);
                return Err(self.fault(at, found, expected, help));
            }
            Some(_) => {}
        }
        if !has_group {
            return Ok(at);
        }
        let end = word_end(line, at);
        let number = &self.text[at + 4..end];
        let group = number.parse().map_err(|_| {
            self.fault(at + 4, quoted(number), "a whole number", "number the queries in digits, as in qid:1")
        })?;
        self.rows.groups.push(group);
        Ok(skip_blanks(line, end))
    }

    /// Reads an entry, or says what is wrong with it.
    fn long_entry(&self, at: usize, word: &str) -> Result<(u64, f64), Fault> {
        let Some((index, number)) = word.split_once(':') else {
            let help = "write each entry as index:value, without spaces around the colon";
            return Err(self.fault(at, quoted(word), "an entry index:value", help));
        };
        if index == "qid" {
            return Err(self.fault(at, quoted(word), "an entry index:value", "write qid right after the label"));
        }
        if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            let help = "number the columns from 1 on, in digits";
            return Err(self.fault(at, quoted(word), "an entry index:value", help));
        }
        // Digits that do not fit are too many, and said to be so below.
        let index = index.parse().unwrap_or(u64::MAX);
        let at = at + word.len() - number.len();
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((index, value)),
            Ok(_) if number.bytes().any(|byte| byte.is_ascii_digit()) => {
                let help = "scale the column, or correct the value";
                Err(self.fault(at, quoted(number), "a number of at most 1.8e308", help))
            }
            Ok(_) => {
                let help = "leave the row out, or fill the value in (with the column's mean, say)";
                Err(self.fault(at, quoted(number), "a finite number", help))
            }
            Err(_) if number.is_empty() => {
                let help = "leave the entry out where the value is 0, or fill it in";
                Err(self.fault(at, "no value", "a number after the colon", help))
            }
            Err(_) => {
                let help = "write numbers like 3, -0.5 or 1e-3, with a decimal point";
                Err(self.fault(at, quoted(number), "a number", help))
            }
        }
    }

    #[cold]
    fn bad_index(&self, at: usize, index: u64, next: u64) -> Fault {
        if index >= INDEX_LIMIT {
            let found = match index {
                u64::MAX => "an index of 20 digits or more".into(),
                index => format!("the index {index}"),
            };
            let expected = format!("one below {INDEX_LIMIT}");
            return self.fault(at, found, expected, "renumber the columns that are used");
        }
        if index < self.base {
            let help = Help::from("number the columns from 1, or say that they begin at 0: ").name(Setting::ZeroBased);
            return self.fault(at, "the index 0", "one of 1 or more", help);
        }
        if index + 1 == next {
            let found = format!("the index {index} again");
            return self.fault(at, found, "each index once in a row", "join or remove the repeated entries");
        }
        let found = format!("the index {index} after {}", next - 1);
        self.fault(at, found, "increasing indices", "sort the entries of each row by index")
    }

    #[cold]
    fn fault(&self, at: usize, found: impl Into<String>, expected: impl Into<String>, help: impl Into<Help>) -> Fault {
        Fault::new(self.block, at, found, expected, help)
    }
}

/// What is wrong with a row that has a group, or none, unlike those before it.
pub(crate) fn group_mismatch(has_group: bool) -> (&'static str, &'static str, &'static str) {
    let help = "give every row a qid after its label, or none";
    if has_group {
        ("a qid", "none, as in the rows before", help)
    } else {
        ("no qid", "one, as in the rows before", help)
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

/// The way out where a number to learn is none.
pub(crate) const TARGET_HELP: &str = "name another label column, or choose task classification";

/// The number to learn that a word spells; a zero has no sign.
pub(crate) fn target(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number + 0.0)
}

/// The first word of a line, read the short way.
enum Answer {
    /// A label of at most seven bytes, as [`short_form`](crate::rows::short_form) has it.
    Label(u64),
    Target(f64),
}

/// A short label, and the place after it.
#[inline]
fn short_label(padded: &[u8], start: usize) -> Option<(Answer, usize)> {
    let (mut length, mut label) = (0, 0u64);
    loop {
        let byte = padded[start + length];
        if byte <= b' ' {
            break;
        }
        if byte == b':' || byte == b'#' || length == 7 {
            return None;
        }
        label |= u64::from(byte) << (8 * length);
        length += 1;
    }
    (length > 0).then_some((Answer::Label(label | (length as u64) << 56), start + length))
}

/// A number to learn of few digits, and the place after it.
#[inline]
fn short_target(padded: &[u8], start: usize) -> Option<(Answer, usize)> {
    let (value, end) = number(padded, start, is_end)?;
    Some((Answer::Target(value + 0.0), end))
}

/// An entry in the most common form.
struct Entry {
    index: u64,
    value: f64,
    /// The place after it; beyond every text where the marks end before it.
    end: usize,
    /// The number of the first mark after that.
    marks: usize,
}

/// The entry at a place, which is before the k-th mark.
#[inline]
fn short_entry(padded: &[u8], at: usize, cursor: &Cursor<'_>, k: usize) -> Option<Entry> {
    let colon = cursor.place(k);
    let beyond = Entry { index: 0, value: 0.0, end: usize::MAX, marks: k };
    if colon == usize::MAX {
        return Some(beyond);
    }
    if padded[colon] != b':' {
        return None;
    }
    let index = match colon - at {
        count @ 1..=8 => digits_value(eight(padded, at), count),
        9 | 10 => padded[at..colon].iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0')),
        _ => return None,
    };
    let (mut start, mut k) = (colon + 1, k + 1);
    let negative = cursor.place(k) == start && padded[start] == b'-';
    if negative {
        (start, k) = (start + 1, k + 1);
    }
    let point = cursor.place(k);
    let mut end = point;
    if point != usize::MAX && padded[point] == b'.' {
        k += 1;
        end = cursor.place(k);
    }
    if end == usize::MAX {
        return Some(beyond);
    }
    match known_number(padded, Digits { start, point, end }) {
        Some(value) if is_end(padded[end]) => {
            Some(Entry { index, value: if negative { -value } else { value }, end, marks: k + 1 })
        }
        _ => {
            let (value, end) = long_value(padded, colon + 1)?;
            Some(Entry { index, value, end, marks: cursor.after(k, end) })
        }
    }
}

/// A value of many digits, or with an exponent.
#[cold]
fn long_value(padded: &[u8], at: usize) -> Option<(f64, usize)> {
    let length = padded[at..].iter().take(64).take_while(|&&byte| !is_end(byte) && byte != b'#').count();
    let value: f64 = std::str::from_utf8(&padded[at..at + length]).ok()?.parse().ok()?;
    value.is_finite().then_some((value, at + length))
}

#[cfg(test)]
mod tests {
    use crate::read::{Format, ReadOptions, read_bytes};
    use maxmargin::data::{Dataset, Matrix};

    fn read_text(text: &str, options: &ReadOptions) -> Dataset {
        let options = ReadOptions { format: Some(Format::Libsvm), ..options.clone() };
        read_bytes(text.as_bytes(), "test", &options).unwrap()
    }

    fn texts(data: &Dataset) -> Vec<&str> {
        (0..data.rows()).map(|row| data.labels().unwrap().get(row).text()).collect()
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
