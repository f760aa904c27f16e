//! What can go wrong between bytes and types: what was found, where, what was expected, and the way out.

use std::borrow::Cow;
use std::io;

use maxmargin::error::quoted;
use thiserror::Error as ThisError;

use crate::help::{Help, Setting};

/// An error of reading or writing. Its text is one line, lower case, without a full stop; [`Error::help`] is the way out.
///
/// Texts of the user are quoted and escaped, so that a message is safe to print whatever the file holds. What other code
/// says of a file, such as the JSON parser, passes through the same gate: no message has a control character.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be opened or read.
    #[error("cannot read {}: {}", quoted(path), clean(reason))]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
        /// The way out.
        help: Help,
    },
    /// A file that is not of a kind that can be read, or holds nothing.
    #[error("{}: found {}, expected {}", shown(path), clean(found), clean(expected))]
    Content {
        /// The file.
        path: String,
        /// What the file is.
        found: String,
        /// What would be read.
        expected: String,
        /// The way out.
        help: Help,
    },
    /// A place in a file that does not read.
    #[error("{}:{line}:{column}: found {}, expected {}", shown(path), clean(found), clean(expected))]
    Syntax {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The character in the line, counted from 1.
        column: usize,
        /// What is there.
        found: String,
        /// What would be read.
        expected: String,
        /// The way out.
        help: Help,
    },
    /// A text table with one column, which cannot be the label and a feature at once.
    #[error("{}:{line}:{column}: found one column, expected a label column and at least one more", shown(path))]
    OneColumn {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The character in the line, counted from 1.
        column: usize,
    },
    /// A file that reads, but of which no data set can be made.
    #[error("{}: {}", shown(path), clean(&error.to_string()))]
    Data {
        /// The file.
        path: String,
        /// What the data set said.
        error: maxmargin::Error,
    },
    /// Settings that do not go together, or not with the file.
    #[error("{}: {}", shown(path), clean(what))]
    Settings {
        /// The file.
        path: String,
        /// What does not go together.
        what: String,
        /// The way out.
        help: Help,
    },
    /// More than a stated limit allows.
    #[error("{}: {}", shown(path), clean(what))]
    Limit {
        /// The file.
        path: String,
        /// What there is, and how much is allowed.
        what: String,
        /// The way out.
        help: Help,
    },
    /// Reading was stopped from outside.
    #[error("{}: reading was interrupted", shown(path))]
    Interrupted {
        /// The file.
        path: String,
    },
    /// A data set that the format written cannot hold.
    #[error("{}", clean(what))]
    NotWritable {
        /// What cannot be written.
        what: String,
        /// The way out.
        help: Help,
    },
    /// The stream written to failed.
    #[error("cannot write: {}", clean(reason))]
    Write {
        /// What kind of failure it was; a broken pipe is told from a full disk by it.
        kind: io::ErrorKind,
        /// What the system said.
        reason: String,
    },
    /// A file that could not be saved.
    #[error("cannot save {}: {} (while {step})", quoted(path), clean(reason))]
    Save {
        /// The file.
        path: String,
        /// What was being done.
        step: &'static str,
        /// What the system said.
        reason: String,
        /// The way out.
        help: Help,
    },
    /// A model or checkpoint file that is damaged, or of another kind or version.
    #[error("{}: {}", shown(path), clean(what))]
    OwnFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
        /// The way out.
        help: Help,
    },
}

impl Error {
    /// The way out: one sentence that says what to do.
    pub fn help(&self) -> String {
        clean(&self.way_out().to_string()).into_owned()
    }

    /// [`Error::help`], with settings and their values as somebody writes them: as flags, or as arguments of Python. The value is empty
    /// where the setting itself is meant.
    pub fn help_by(&self, tell: impl Fn(Setting, &str) -> String) -> String {
        clean(&self.way_out().told_by(tell)).into_owned()
    }

    /// Whether a setting is part of the way out, with this value where one is given.
    pub fn helps(&self, setting: Setting, value: Option<&str>) -> bool {
        self.way_out().names(setting, value)
    }

    fn way_out(&self) -> Cow<'_, Help> {
        match self {
            Error::Open { help, .. }
            | Error::Content { help, .. }
            | Error::Syntax { help, .. }
            | Error::Settings { help, .. }
            | Error::Limit { help, .. }
            | Error::NotWritable { help, .. }
            | Error::Save { help, .. }
            | Error::OwnFile { help, .. } => Cow::Borrowed(help),
            Error::Data { error, .. } => Cow::Owned(error.help().into()),
            Error::OneColumn { .. } => {
                Cow::Owned("separate the cells with commas, semicolons, tabs, | or blanks".into())
            }
            Error::Interrupted { .. } => Cow::Owned("read it again".into()),
            Error::Write { .. } => Cow::Owned("write to another place, or make room there".into()),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Write { kind: error.kind(), reason: reason(&error) }
    }
}

/// What the system said, in the style of our own messages.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut characters = text.chars().flat_map(char::escape_debug);
            characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
        }
    }
}

/// A text without control characters: each is written as its number. All else is left as it is, so that a text that has
/// been escaped before stays the same.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    // These turn the direction of the text after them, or end a line.
    let is_bad = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_bad(character) {
            cleaned.extend(character.escape_default());
        } else {
            cleaned.push(character);
        }
    }
    Cow::Owned(cleaned)
}

/// A file's name as the place of a message: not quoted, so that editors find it, but with control characters escaped.
fn shown(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            '\\' | '\'' | '"' => text.push(character),
            _ => text.extend(character.escape_debug()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_as_file_line_column() {
        let error = Error::Syntax {
            path: "data.svm".into(),
            line: 3,
            column: 7,
            found: quoted("x\n"),
            expected: "a number".into(),
            help: "write a number".into(),
        };
        assert_eq!(error.to_string(), r#"data.svm:3:7: found "x\n", expected a number"#);
        assert_eq!(error.help(), "write a number");
    }

    #[test]
    fn a_file_name_cannot_forge_a_line_or_move_the_cursor() {
        let error = Error::Limit { path: "a\n\u{1b}[2J\"b\\c".into(), what: "w".into(), help: "h".into() };
        assert_eq!(error.to_string(), "a\\n\\u{1b}[2J\"b\\c: w");
    }

    #[test]
    fn no_message_has_a_control_character_whoever_said_it() {
        let bad: String = ('\0'..='\u{ff}').filter(|c| c.is_control()).chain(['\u{2028}', '\u{202e}']).collect();
        let (path, text) = (format!("f{bad}"), || format!("x{bad}y"));
        let out = || Help::from(text()).set(Setting::Exclude, text());
        let error = maxmargin::Error::Data { what: text(), help: text() };
        let all = [
            Error::Open { path: path.clone(), reason: text(), help: out() },
            Error::Content { path: path.clone(), found: text(), expected: text(), help: out() },
            Error::Syntax { path: path.clone(), line: 1, column: 1, found: text(), expected: text(), help: out() },
            Error::Settings { path: path.clone(), what: text(), help: out() },
            Error::Data { path: path.clone(), error },
            Error::Limit { path: path.clone(), what: text(), help: out() },
            Error::Interrupted { path: path.clone() },
            Error::NotWritable { what: text(), help: out() },
            Error::Write { kind: io::ErrorKind::Other, reason: text() },
            Error::Save { path: path.clone(), step: "writing", reason: text(), help: out() },
            Error::OwnFile { path, what: text(), help: out() },
        ];
        for error in all {
            let told = format!("{error} {}", error.help());
            assert!(!told.contains(|c: char| c.is_control() || bad.contains(c)), "{told:?}");
        }
        assert_eq!(clean("a\u{7f}b\u{85}\n"), "a\\u{7f}b\\u{85}\\n");
        assert_eq!(clean(r#""\u{7f}" ü"#), r#""\u{7f}" ü"#);
    }

    #[test]
    fn what_the_system_said_is_told_in_our_style() {
        let said = |error| reason(&error);
        assert_eq!(said(io::ErrorKind::NotFound.into()), "there is no such file");
        assert_eq!(said(io::Error::other("Some Thing\n(os error 5)")), "some Thing\\n(os error 5)");
        assert_eq!(said(io::Error::other("")), "");
        #[cfg(unix)]
        assert_eq!(said(io::Error::from_raw_os_error(5)), "input/output error");
    }
}
