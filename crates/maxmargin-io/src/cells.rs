//! The cells of CSV text, one record at a time.
//!
//! ```text
//! record  = cell { separator cell } line-end          empty lines are no records
//! cell    = quote { any byte but a quote, or two quotes } quote rest  |  rest
//! rest    = any bytes but separators and line ends    so that a quote within is a letter
//! ```
//!
//! Where [`BLANKS`] separate, a run of blanks and tabs counts as one separator, and those at the ends of a line do not count.

use memchr::memchr;

/// The separator that stands for runs of blanks and tabs.
pub(crate) const BLANKS: u8 = b' ';

/// Whether a byte separates cells.
pub(crate) fn separates(byte: u8, separator: u8) -> bool {
    byte == separator || separator == BLANKS && byte == b'\t'
}

/// The place after blanks, where blanks separate.
fn skip_blanks(bytes: &[u8], mut at: usize, separator: u8) -> usize {
    while separator == BLANKS && matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// The cells of a record, without their quotes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    text: String,
    ends: Vec<usize>,
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    /// Where the next one may start.
    pub(crate) next: usize,
    /// Where the last cell starts, when its quote is never closed.
    pub(crate) open: Option<usize>,
}

impl Record {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Reads the record at a place of a text, or after the empty lines there. `None` when there is none.
    pub(crate) fn read(&mut self, text: &str, at: usize, separator: u8) -> Option<Span> {
        self.text.clear();
        self.ends.clear();
        let bytes = text.as_bytes();
        let start = skip_empty_lines(bytes, at, separator);
        if start >= bytes.len() {
            return None;
        }
        let mut at = start;
        loop {
            let cell = at;
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    let Some(length) = memchr(b'"', &bytes[at..]) else {
                        self.text.push_str(&text[at..]);
                        self.ends.push(self.text.len());
                        return Some(Span { start, next: bytes.len(), open: Some(cell) });
                    };
                    let quote = at + length;
                    // A quote within the cell is written twice.
                    let twice = bytes.get(quote + 1) == Some(&b'"');
                    self.text.push_str(&text[at..quote + usize::from(twice)]);
                    at = quote + 1 + usize::from(twice);
                    if !twice {
                        break;
                    }
                }
            }
            let end = cell_end(bytes, at, separator);
            self.text.push_str(&text[at..end]);
            self.ends.push(self.text.len());
            match next_cell(bytes, end, separator) {
                Some(next) => at = next,
                None => {
                    let end = skip_blanks(bytes, end, separator);
                    return Some(Span { start, next: (end + 1).min(bytes.len()), open: None });
                }
            }
        }
    }

    /// Takes the `#` off the beginning of the first cell; a cell that is nothing else goes.
    pub(crate) fn without_mark(&self) -> Self {
        let mut cells: Vec<&str> = self.iter().collect();
        if let Some(first) = cells.first_mut() {
            *first = first.trim_start().trim_start_matches('#');
        }
        if cells.len() > 1 && cells[0].is_empty() && self.get(0).is_some_and(|cell| cell.trim() == "#") {
            cells.remove(0);
        }
        let mut record = Record::default();
        for cell in cells {
            record.text.push_str(cell);
            record.ends.push(record.text.len());
        }
        record
    }
}

/// Where the cell after one that ends here begins; `None` at the end of the line.
fn next_cell(bytes: &[u8], end: usize, separator: u8) -> Option<usize> {
    if !bytes.get(end).is_some_and(|&byte| separates(byte, separator)) {
        return None;
    }
    let next = skip_blanks(bytes, end + 1, separator);
    let at_end = matches!(bytes.get(next), None | Some(b'\r' | b'\n'));
    (separator != BLANKS || !at_end).then_some(next)
}

/// The place after empty lines; where blanks separate, lines of blanks are empty, too.
pub(crate) fn skip_empty_lines(bytes: &[u8], mut at: usize, separator: u8) -> usize {
    loop {
        let next = skip_blanks(bytes, at, separator);
        match bytes.get(next) {
            Some(b'\r' | b'\n') => at = next + 1,
            _ => return next,
        }
    }
}

/// Where the rest of a cell ends.
fn cell_end(bytes: &[u8], mut at: usize, separator: u8) -> usize {
    while let Some(&byte) = bytes.get(at)
        && !(separates(byte, separator) || byte == b'\n' || byte == b'\r')
    {
        at += 1;
    }
    at
}

/// The byte where a cell of the record that starts at a place starts; the last cell's where there are fewer.
pub(crate) fn cell_start(bytes: &[u8], start: usize, separator: u8, place: usize) -> usize {
    let mut cell = skip_blanks(bytes, start, separator);
    for _ in 0..place {
        let mut at = cell;
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            loop {
                match memchr(b'"', bytes.get(at..).unwrap_or_default()) {
                    None => return cell,
                    Some(length) if bytes.get(at + length + 1) == Some(&b'"') => at += length + 2,
                    Some(length) => {
                        at += length + 1;
                        break;
                    }
                }
            }
        }
        match next_cell(bytes, cell_end(bytes, at, separator), separator) {
            Some(next) => cell = next,
            None => return cell,
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::last_record_end;
    use proptest::prelude::*;

    #[test]
    fn runs_of_blanks_separate_as_one_and_count_for_nothing_at_the_ends() {
        let (found, open) = records("  1 \t2   \"a b\"  \n \t\n3 4 c\r\n", BLANKS);
        assert_eq!(found, [["1", "2", "a b"], ["3", "4", "c"]]);
        assert!(!open);
        assert_eq!(cell_start(b" 1  2 c", 0, BLANKS, 2), 6);
    }

    #[test]
    fn a_mark_is_taken_off_the_first_cell() {
        let of = |text: &str, separator| {
            let mut record = Record::default();
            record.read(text, 0, separator);
            record.without_mark().iter().map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(of("# a,b", b','), [" a", "b"]);
        assert_eq!(of("# a b", BLANKS), ["a", "b"]);
        assert_eq!(of("#a b", BLANKS), ["a", "b"]);
    }

    /// All records, and whether a quote is open at the end.
    fn records(text: &str, separator: u8) -> (Vec<Vec<String>>, bool) {
        let (mut record, mut at, mut open) = (Record::default(), 0, false);
        let mut all = Vec::new();
        while let Some(span) = record.read(text, at, separator) {
            all.push(record.iter().map(String::from).collect());
            (at, open) = (span.next, span.open.is_some());
        }
        (all, open)
    }

    fn by_the_csv_crate(text: &str, separator: u8) -> Vec<Vec<String>> {
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.delimiter(separator).has_headers(false).flexible(true).from_reader(text.as_bytes());
        reader.into_records().map(|record| record.unwrap().iter().map(String::from).collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn records_are_those_of_the_csv_crate(text in "[a1,;\"\n\r ü]{0,30}") {
            for separator in [b',', b';'] {
                prop_assert_eq!(records(&text, separator).0, by_the_csv_crate(&text, separator));
            }
        }

        #[test]
        fn a_text_is_cut_where_its_last_whole_record_ends(text in "[a,\"\n\r]{0,30}") {
            let all = records(&text, b',').0;
            // After a line end, with no quote open before it, and such that both parts read as they did.
            let is_cut = |&end: &usize| {
                let (mut joined, open) = records(&text[..end], b',');
                joined.extend(records(&text[end..], b',').0);
                text.as_bytes()[end - 1] == b'\n' && !open && joined == all
            };
            prop_assert_eq!(last_record_end(text.as_bytes(), b','), (1..=text.len()).rev().find(is_cut));
        }

        #[test]
        fn cells_start_where_they_are_found(text in "[a,\"]{1,12}", place in 0usize..6) {
            let mut record = Record::default();
            let span = record.read(&text, 0, b',').unwrap();
            let start = cell_start(text.as_bytes(), span.start, b',', place.min(record.len() - 1));
            let mut rest = Record::default();
            rest.read(&text, start, b',');
            if start < text.len() {
                prop_assert_eq!(rest.get(0), record.get(place.min(record.len() - 1)));
            } else {
                prop_assert_eq!(record.get(record.len() - 1), Some(""));
            }
        }
    }
}
