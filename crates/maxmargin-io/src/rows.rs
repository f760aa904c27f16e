//! The rows of one block of text, and its fault.
//!
//! A block is read without knowing those before it. What depends on them (the line that a fault is in, whether rows have
//! a `qid`, the number of a label) is settled when blocks are put together, in order.

use std::hash::{BuildHasher, RandomState};

use crate::block::Block;
use crate::error::Error;
use crate::help::Help;
use crate::marks::Marks;
use crate::remarks::Tally;

/// A fault in a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) help: Help,
    /// Whether it is that the bytes are not text.
    pub(crate) is_not_text: bool,
}

impl Fault {
    /// A fault at a byte of a block.
    #[cold]
    pub(crate) fn new(
        block: &Block,
        at: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<Help>,
    ) -> Self {
        let (found, expected, help) = (found.into(), expected.into(), help.into());
        Fault { place: Place::new(block, at), found, expected, help, is_not_text: false }
    }

    /// The error, once it is known how many lines come before the block.
    pub(crate) fn error(self, origin: &str, lines: usize) -> Error {
        let Fault { place, found, expected, help, .. } = self;
        Error::Syntax { path: origin.into(), line: lines + place.line, column: place.column, found, expected, help }
    }
}

/// A place in a block: its line, and the character in it, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    /// The place of a byte.
    pub(crate) fn new(block: &Block, at: usize) -> Self {
        let before = &block.bytes()[..at.min(block.bytes().len())];
        let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        // Every byte but those that continue a character of UTF-8.
        let column = before[start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() + 1;
        Place { line, column }
    }
}

/// The rows of a block, compressed. Kept and filled again, so that its memory is asked for once.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Where each row ends among the values.
    pub(crate) ends: Vec<u64>,
    /// The column of each value; none when all columns of each row are there.
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
    /// The number of each row's label among the words.
    pub(crate) codes: Vec<u32>,
    pub(crate) words: Words,
    /// The number of each row, where numbers are asked for; then there are no codes.
    pub(crate) targets: Vec<f64>,
    pub(crate) groups: Vec<i64>,
    /// How many columns there are, at least.
    pub(crate) columns: u64,
    /// How many values are not zero, where zeros are among them.
    pub(crate) filled: u64,
    /// How many lines end in the block.
    pub(crate) lines: usize,
    /// The first row, once its label is read.
    pub(crate) first: Option<First>,
    pub(crate) fault: Option<Fault>,
    /// What was done to cells.
    pub(crate) tally: Tally,
    /// Memory for the marks of a text.
    pub(crate) marks: Marks,
}

/// What the rows of other blocks must agree with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) has_group: bool,
    /// Where its label is, and where its `qid` is or would be.
    pub(crate) label: Place,
    pub(crate) group: Place,
}

impl Rows {
    /// Forgets the rows, but not the memory.
    pub(crate) fn clear(&mut self) {
        let Rows {
            ends,
            indices,
            values,
            codes,
            words,
            targets,
            groups,
            columns,
            filled,
            lines,
            first,
            fault,
            tally,
            marks: _,
        } = self;
        ends.clear();
        indices.clear();
        values.clear();
        codes.clear();
        words.clear();
        targets.clear();
        groups.clear();
        tally.clear();
        (*columns, *filled, *lines) = (0, 0, 0);
        (*first, *fault) = (None, None);
    }

    /// Forgets the entries of the row that is being read.
    pub(crate) fn forget_row(&mut self) {
        let end = self.ends.last().map_or(0, |&end| end as usize);
        self.values.truncate(end);
        self.indices.truncate(end);
    }
}

/// The most words that are searched one by one; more are found by their hash.
const FEW: usize = 16;

/// Different words, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Words {
    text: String,
    ends: Vec<usize>,
    /// The first few short ones in one number each, with their number.
    short: Vec<(u64, u32)>,
    /// Numbers of words by their hash, one more than they are; 0 is a free place.
    table: Vec<u32>,
    state: RandomState,
}

impl Words {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, code: u32) -> &str {
        let code = code as usize;
        let start = code.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[code]]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|code| self.get(code))
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.short.clear();
        self.table.fill(0);
    }

    /// The number of a word in short form, if it is one of the first few.
    #[inline]
    pub(crate) fn known(&self, short: u64) -> Option<u32> {
        self.short.iter().find(|(other, _)| *other == short).map(|&(_, code)| code)
    }

    /// The number of a word, which may be a new one.
    pub(crate) fn code(&mut self, word: &str) -> u32 {
        if self.table.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let place = match self.find(word) {
            Ok(code) => return code,
            Err(place) => place,
        };
        self.text.push_str(word);
        self.ends.push(self.text.len());
        self.table[place] = self.len() as u32;
        let code = self.len() as u32 - 1;
        if let Some(short) = short_form(word.as_bytes())
            && self.short.len() < FEW
        {
            self.short.push((short, code));
        }
        code
    }

    /// The number of a word, or its free place in the table.
    fn find(&self, word: &str) -> Result<u32, usize> {
        let mut place = self.state.hash_one(word) as usize;
        loop {
            place &= self.table.len() - 1;
            match self.table[place].checked_sub(1) {
                None => return Err(place),
                Some(code) if self.get(code) == word => return Ok(code),
                Some(_) => place += 1,
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.table = vec![0; (2 * self.table.len()).max(64)];
        for code in 0..self.len() as u32 {
            if let Err(place) = self.find(self.get(code)) {
                self.table[place] = code + 1;
            }
        }
    }
}

/// A word of at most seven bytes as one number.
pub(crate) fn short_form(word: &[u8]) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..word.len()).filter(|room| room.len() < 8)?.copy_from_slice(word);
    bytes[7] = word.len() as u8;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_not_bytes() {
        let text = "a\nü€x";
        let place = |text: &str, at| {
            let Place { line, column } = Place::new(&Block::of(text.as_bytes()), at);
            (line, column)
        };
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, text.len() - 1), (2, 3));
        assert_eq!(place(text, text.len()), (2, 4));
        assert_eq!(place("", 9), (1, 1));
    }

    #[test]
    fn words_are_numbered_as_they_come() {
        let mut words = Words::default();
        let texts: Vec<String> = (0..1000).map(|number| format!("w{}", number * number % 331)).collect();
        for _ in 0..2 {
            let mut seen: Vec<&str> = Vec::new();
            for text in &texts {
                if !seen.contains(&text.as_str()) {
                    seen.push(text);
                }
                let expected = seen.iter().position(|other| other == text);
                assert_eq!(Some(words.code(text) as usize), expected, "{text}");
            }
            assert_eq!(words.iter().collect::<Vec<_>>(), seen);
            words.clear();
        }
        assert_eq!(
            (words.code(""), words.code("\0"), words.code("eight bytes and more"), words.code("")),
            (0, 1, 2, 0)
        );
    }

    #[test]
    fn short_words_differ_in_their_short_form() {
        let forms = ["", "\0", "\0\0", "a", "b", "+1", "-1", "1234567"].map(|word| short_form(word.as_bytes()));
        assert!((0..forms.len()).all(|place| forms[place].is_some() && !forms[..place].contains(&forms[place])));
        assert_eq!(short_form(b"12345678"), None);
        let mut words = Words::default();
        let code = words.code("+1");
        assert_eq!(short_form(b"+1").and_then(|short| words.known(short)), Some(code));
        assert_eq!(short_form(b"-1").and_then(|short| words.known(short)), None);
    }
}
