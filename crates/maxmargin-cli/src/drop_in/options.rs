//! Their command lines: options of a letter, each with a value but for a few, then the names of files.

use std::str::FromStr;

use super::ending::Ending;

/// A command line, taken apart.
#[derive(Debug)]
pub(super) struct Options {
    /// The letter and what follows it in the same word, and the value; empty where the option has none.
    pub(super) given: Vec<(char, String, String)>,
    pub(super) files: Vec<String>,
    usage: &'static str,
}

impl Options {
    /// Takes words apart: `letters` are the options with a value, `flags` those without.
    ///
    /// # Errors
    /// When an option is unknown, or its value is missing.
    pub(super) fn new(words: &[String], letters: &str, flags: &str, usage: &'static str) -> Result<Self, Ending> {
        let mut given = Vec::new();
        let mut place = 0;
        while let Some(word) = words.get(place).filter(|word| word.starts_with('-')) {
            let mut characters = word.chars().skip(1);
            let letter = characters.next().unwrap_or(' ');
            let rest: String = characters.collect();
            if flags.contains(letter) {
                given.push((letter, rest, String::new()));
                place += 1;
                continue;
            }
            if !letters.contains(letter) {
                return Err(Ending::Usage(Some(format!("Unknown option: -{}", letter.escape_debug())), usage));
            }
            let Some(value) = words.get(place + 1) else { return Err(Ending::Usage(None, usage)) };
            given.push((letter, rest, value.clone()));
            place += 2;
        }
        Ok(Options { given, files: words[place..].to_vec(), usage })
    }

    /// Whether an option was given.
    pub(super) fn has(&self, letter: char) -> bool {
        self.given.iter().any(|(own, _, _)| *own == letter)
    }

    /// The value of an option given last, or what it is without.
    ///
    /// # Errors
    /// When it does not read.
    pub(super) fn value<T: FromStr>(&self, letter: char, default: T) -> Result<T, Ending> {
        match self.given.iter().rev().find(|(own, _, _)| *own == letter) {
            Some((_, _, text)) => self.read(letter, text),
            None => Ok(default),
        }
    }

    /// The number after an option.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn read<T: FromStr>(&self, letter: char, text: &str) -> Result<T, Ending> {
        text.parse().map_err(|_| {
            let what =
                format!("the value of -{letter} is {}, which is no number of its kind", maxmargin::error::quoted(text));
            Ending::Usage(Some(what), self.usage)
        })
    }

    /// The name of a file.
    ///
    /// # Errors
    /// When it is missing.
    pub(super) fn file(&self, place: usize) -> Result<&str, Ending> {
        self.files.get(place).map(String::as_str).ok_or(Ending::Usage(None, self.usage))
    }

    /// The usage, with a word on what is wrong.
    pub(super) fn wrong(&self, what: &str) -> Ending {
        Ending::Usage(Some(what.into()), self.usage)
    }

    /// `-wi weight`: the labels and their weights.
    ///
    /// # Errors
    /// When one is no number.
    pub(super) fn class_weights(&self) -> Result<Vec<(i64, f64)>, Ending> {
        let weights = self.given.iter().filter(|(letter, _, _)| *letter == 'w');
        weights.map(|(_, label, weight)| Ok((self.read('w', label)?, self.read('w', weight)?))).collect()
    }
}

/// A file's name without folders, and with `.model`: where a model goes that was given no name.
pub(super) fn model_name(data: &str) -> String {
    format!("{}.model", data.rsplit('/').next().unwrap_or(data))
}
