//! Where words and files go: results to standard output, words about them to standard error, files whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use maxmargin::error::quoted;
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::{self, Phase};

/// Bytes of JSON that are written at a time. Fewer make more calls of the system.
const JSON_PART: usize = 1 << 16;

/// Writes a result to standard output.
///
/// # Errors
/// When it cannot be written; a broken pipe is told apart.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a value to standard output as one line of JSON, part by part as it is made.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(JSON_PART, io::stdout().lock());
    serde_json::to_writer(&mut out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Says something on standard error. When nobody listens there, that is no fault.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Text of a file or of the user, made safe to print: control characters escaped, the rest as it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        // What `escape_debug` changes but for quotes and backslashes is not fit to be seen.
        match character {
            '\\' | '"' | '\'' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// What the system said, in the style of our own messages.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    // The temporary file's name, which comes after, tells the user nothing.
    escaped(text.split(" at path").next().unwrap_or_default()).to_lowercase()
}

/// [`escaped`], and cut to fit a table.
pub(crate) fn short(text: &str) -> String {
    short_to(text, 32)
}

/// [`escaped`], and cut after some letters.
pub(crate) fn short_to(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", escaped(&text[..end])),
        None => escaped(text),
    }
}

/// What is said along the way, on standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) quiet: bool,
}

impl Words {
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            say(&format!("note: {text}"));
        }
    }

    pub(crate) fn warning(self, what: &str, help: &str) {
        if !self.quiet {
            say(&format!("warning: {what}\n  help: {help}"));
        }
    }
}

/// A file to be written later, found to be writable before the work starts.
#[derive(Clone, Debug)]
pub(crate) struct Target(PathBuf);

impl Target {
    /// Checks that a file can be written, and that it is none of the files that are read.
    ///
    /// # Errors
    /// When its folder is missing or protected, it is a folder or protected itself, or it is read as well.
    pub(crate) fn new(path: &Path, read: &[&Path]) -> Result<Self, Failure> {
        let fail = |why: &str, help: &str| {
            Err(Failure::new(format!("cannot write {}: {why}", quoted(&path.to_string_lossy())), help))
        };
        if path.as_os_str() == "-" || path.as_os_str().is_empty() {
            return fail("it is not the name of a file", "name a file (for standard output: /dev/stdout)");
        }
        if let Ok(own) = fs::canonicalize(path)
            && read.iter().any(|other| fs::canonicalize(other).is_ok_and(|other| other == own))
        {
            return fail("it is read as well", "choose another name with -o");
        }
        match fs::metadata(path) {
            Ok(file) if file.is_dir() => return fail("it is a folder", "name a file in it"),
            Ok(file) if file.is_file() && file.permissions().readonly() => {
                return fail("it is write-protected", "choose another name, or allow writing");
            }
            Ok(file) if !file.is_file() => return Ok(Target(path.into())),
            _ => {}
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let why = format!("there is no folder {}", quoted(&folder.to_string_lossy()));
            return fail(&why, "make the folder first, or choose another one");
        }
        if let Err(error) = tempfile::tempfile_in(folder) {
            let why = escaped(error.to_string().split(" (os error").next().unwrap_or_default()).to_lowercase();
            return fail(
                &format!("nothing can be written in its folder: {why}"),
                "choose a folder that you can write in",
            );
        }
        Ok(Target(path.into()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The file's name for a report.
    pub(crate) fn shown(&self) -> String {
        escaped(&self.0.to_string_lossy())
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be saved; what was there before is then untouched.
    pub(crate) fn save(&self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(interrupt::during(Phase::Saving, || maxmargin_io::save_atomically(&self.0, bytes))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_letters_are_not() {
        assert_eq!(escaped("größer \"x\" \u{1b}[2J\n"), "größer \"x\" \\u{1b}[2J\\n");
        assert_eq!(short(&"é".repeat(40)), format!("{}…", "é".repeat(32)));
    }

    #[test]
    fn a_file_that_is_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, "x").unwrap();
        assert!(Target::new(&path, &[]).is_ok());
        assert!(Target::new(&path, &[&folder.path().join("./data")]).is_err());
        assert!(Target::new(folder.path(), &[]).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }
}
