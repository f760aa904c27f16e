//! How a text is to be read, found out from its beginning; then block after block is, each by itself.

use std::collections::HashSet;
use std::path::Path;

use maxmargin::data::{AnswerKind, Answers, Dataset, Matrix};
use maxmargin::error::quoted;
use memchr::memrchr;

use crate::block::{Block, Cutter, check_text};
use crate::columns::numbers;
use crate::compressed::without_compression;
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::kernel_values::without_serials;
use crate::libsvm::{INDEX_LIMIT, Libsvm};
use crate::read::{Format, KernelValues, ReadOptions, asked_twice, content, data_error, no_rows, settings_error};
use crate::rows::{Fault, Rows};
use crate::table::{Table, separates_by_blanks, telling_part};

/// How many bytes of a text are looked at first to find out what it is.
const FIRST_LOOK: usize = 1 << 16;

/// How to read the blocks of a text.
#[derive(Debug)]
pub(crate) struct Parser {
    origin: String,
    pub(crate) kind: Kind,
    /// What is read of each row beside its columns.
    answers: AnswerKind,
    /// The columns to keep of LIBSVM text.
    chosen: Option<Vec<String>>,
    /// Whose kernel values LIBSVM text holds, where it does.
    kernel_values: Option<KernelValues>,
    /// What the file is if it is no text.
    binary: Option<&'static (&'static [u8], &'static str, &'static str)>,
}

/// What a text is.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each file")]
pub(crate) enum Kind {
    Libsvm(Libsvm),
    Table(Table),
}

impl Parser {
    /// Looks at the beginning of a text.
    ///
    /// # Errors
    /// When it is neither LIBSVM text nor CSV, or lacks what the options ask for.
    pub(crate) fn new(cutter: &mut Cutter<'_>, origin: &str, options: &ReadOptions) -> Result<Self, Error> {
        let mut least = FIRST_LOOK.min(cutter.size());
        let kind = loop {
            let (head, is_all) = cutter.head(least);
            if head.is_empty() && is_all {
                let help = "give a file with at least one row";
                return Err(content(origin, "an empty file", "LIBSVM text or CSV", help));
            }
            let lines = if is_all { head } else { &head[..memrchr(b'\n', head).map_or(0, |end| end + 1)] };
            if let Some(kind) = look(origin, lines, is_all, options)? {
                break kind;
            }
            least = least.max(head.len()).saturating_mul(2);
            if let Some(failure) = cutter.failure() {
                return Err(failure.clone());
            }
        };
        if let Kind::Table(table) = &kind {
            table.begin(cutter);
        }
        let binary = binary_kind(cutter.head(LONGEST_MAGIC).0);
        let chosen = match kind {
            Kind::Libsvm(_) => chosen_numbers(origin, options)?,
            Kind::Table(_) => None,
        };
        let is_libsvm = matches!(kind, Kind::Libsvm(_)) && !options.zero_based;
        let kernel_values = options.kernel_values.filter(|_| is_libsvm);
        Ok(Parser { origin: origin.into(), kind, answers: options.answers, chosen, kernel_values, binary })
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// What is read of each row beside its columns.
    pub(crate) fn answers(&self) -> AnswerKind {
        match &self.kind {
            Kind::Table(table) => table.columns.answers(),
            Kind::Libsvm(_) => self.answers,
        }
    }

    /// Whether each row has a word: the label of LIBSVM text is always read, because all that is no number may be one.
    pub(crate) fn has_words(&self) -> bool {
        match self.answers() {
            AnswerKind::Classes => true,
            AnswerKind::Numbers => false,
            AnswerKind::None => matches!(self.kind, Kind::Libsvm(_)),
        }
    }

    /// Whether each row has a number of its own.
    pub(crate) fn has_targets(&self) -> bool {
        self.answers() == AnswerKind::Numbers
    }

    /// The columns to keep of LIBSVM text.
    pub(crate) fn chosen(&self) -> Option<&[String]> {
        self.chosen.as_deref()
    }

    pub(crate) fn format(&self) -> Format {
        match self.kind {
            Kind::Libsvm(_) => Format::Libsvm,
            Kind::Table(_) => Format::Csv,
        }
    }

    /// Whether rows and columns get their places only when all rows are known.
    pub(crate) fn is_sorted_at_the_end(&self) -> bool {
        self.kernel_values == Some(KernelValues::Training)
    }

    /// Reads a block.
    pub(crate) fn read(&self, block: &Block, rows: &mut Rows) {
        match &self.kind {
            Kind::Libsvm(libsvm) => libsvm.read(block, rows),
            Kind::Table(table) => table.read(block, rows),
        }
    }

    /// Whether all columns of each row are read, zeros as well.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(&self.kind, Kind::Table(table) if table.is_dense())
    }

    /// The error that a fault is, in a block after so many lines.
    pub(crate) fn error(&self, fault: Fault, lines: usize) -> Error {
        // Only now: a text may well begin with the letters of a file kind, such as the label `PAR1`.
        match self.binary {
            Some(binary) if fault.is_not_text => binary_file(&self.origin, binary),
            _ => fault.error(&self.origin, lines),
        }
    }

    /// The data set of a matrix and what belongs to it.
    ///
    /// # Errors
    /// When a column that is asked for is not there.
    pub(crate) fn dataset(&self, matrix: Matrix, answers: Answers, groups: Vec<i64>) -> Result<Dataset, Error> {
        let data = Dataset::new(matrix, answers)
            .and_then(|data| if groups.is_empty() { Ok(data) } else { data.with_groups(groups) });
        let data = data.and_then(|data| match &self.kind {
            Kind::Libsvm(_) => Ok(data.with_open_columns()),
            Kind::Table(table) => match table.columns.feature_names() {
                Some(names) => data.with_names(names),
                None => Ok(data),
            },
        });
        let mut data = data.map_err(|error| data_error(&self.origin, error))?;
        if let Some(what) = self.kernel_values {
            data = without_serials(data, what, &self.origin)?;
        }
        match &self.chosen {
            None => Ok(data),
            Some(columns) => data.select_columns(columns).map_err(|error| data_error(&self.origin, error)),
        }
    }
}

/// The columns of LIBSVM text that are asked for, checked as far as that is possible before the rows are known.
fn chosen_numbers(origin: &str, options: &ReadOptions) -> Result<Option<Vec<String>>, Error> {
    if !options.exclude.is_empty() {
        let what = "LIBSVM text does not say how many columns there are, so none can be left out of all";
        return Err(settings_error(
            origin,
            what,
            Help::from("name the columns to keep: ").set(Setting::Columns, "1-5,8"),
        ));
    }
    let Some(asked) = &options.columns else { return Ok(None) };
    let columns = numbers(origin, asked)?;
    let mut seen = HashSet::new();
    for name in &columns {
        if !seen.insert(name) {
            return Err(asked_twice(origin, name, Setting::Columns));
        }
        if !name.parse().is_ok_and(|number: u64| (1..=INDEX_LIMIT).contains(&number)) {
            let what = format!("there is no column {}", quoted(name));
            let help = "LIBSVM text has no names: ask for columns by their numbers, counted from 1".into();
            return Err(data_error(origin, maxmargin::Error::Data { what, help }));
        }
    }
    Ok(Some(columns))
}

/// What a text is, by its first lines; `None` when more are needed.
fn look(origin: &str, lines: &[u8], is_all: bool, options: &ReadOptions) -> Result<Option<Kind>, Error> {
    let format = match options.format {
        Some(format) => Some(format),
        None => find_format(origin, lines, is_all)?,
    };
    match format {
        None => Ok(None),
        Some(Format::Csv) => match telling_part(origin, lines, is_all) {
            None => Ok(None),
            Some(part) => {
                let part = check_text(&lines[..part]).map_err(|at| not_text(origin, lines, at))?;
                Ok(Some(Kind::Table(Table::new(origin, part, options)?)))
            }
        },
        // Formats that are not text do not come here.
        Some(_) => Ok(Some(Kind::Libsvm(Libsvm::new(origin, options)?))),
    }
}

/// The error of a head that is no text.
#[cold]
fn not_text(origin: &str, head: &[u8], at: usize) -> Error {
    match (binary_kind(head), Block::of(head).text().1) {
        (Some(binary), _) => binary_file(origin, binary),
        (None, Some(fault)) => fault.error(origin, 0),
        (None, None) => content(origin, format!("no text at byte {}", at + 1), "text", "save the file as UTF-8"),
    }
}

/// The longest of the texts below.
const LONGEST_MAGIC: usize = 16;

/// The first bytes of files that are not text, what they are, and the way out.
const BINARY: [(&[u8], &str, &str); 24] = [
    (b"\x1f\x8b", "gzip-compressed data", "decompress the file first: gzip -d"),
    (b"BZh", "bzip2-compressed data", "decompress the file first: bzip2 -d"),
    (b"\xfd7zXZ\0", "xz-compressed data", "decompress the file first: xz -d"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data", "decompress the file first: zstd -d"),
    (b"PK\x03\x04", "a zip archive", "unpack the archive first, or save the spreadsheet as CSV"),
    (b"PAR1", "a Parquet file", "give the file as it is, not compressed, and name no other format"),
    (b"ARROW1", "an Arrow file", "give the file as it is, not compressed, and name no other format"),
    (b"FEA1", "a Feather file of version 1", "save it in version 2: pyarrow.feather.write_feather"),
    (b"\x93NUMPY", "a NumPy array", "give the file as it is, not compressed, and name no other format"),
    (b"\xff\xfe", "text in UTF-16, not UTF-8", "save the file as UTF-8"),
    (b"\xfe\xff", "text in UTF-16, not UTF-8", "save the file as UTF-8"),
    (b"\x89HDF\r\n", "an HDF5 file", "save the data as CSV first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack the archive first"),
    (b"Rar!\x1a\x07", "a rar archive", "unpack the archive first"),
    (b"\x04\x22\x4d\x18", "lz4-compressed data", "decompress the file first: lz4 -d"),
    (b"\x1f\x9d", "data compressed by compress", "decompress the file first: gzip -d"),
    (b"%PDF-", "a PDF document", "save the table that it shows as CSV"),
    (b"\x89PNG\r\n", "a PNG picture", "give the numbers as LIBSVM text or CSV"),
    (b"\xff\xd8\xff", "a JPEG picture", "give the numbers as LIBSVM text or CSV"),
    (b"SQLite format 3\0", "an SQLite database", "save a table of it as CSV first"),
    (b"ORC", "an ORC file", "save the data as Parquet or CSV first"),
    (b"Obj\x01", "an Avro file", "save the data as Parquet or CSV first"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet or document (xls, doc)", "save the spreadsheet as CSV"),
    (b"MATLAB 5.0", "a MATLAB file", "save the data as CSV first"),
];

fn binary_kind(head: &[u8]) -> Option<&'static (&'static [u8], &'static str, &'static str)> {
    BINARY.iter().find(|(magic, ..)| head.starts_with(magic))
}

fn binary_file(origin: &str, (_, name, help): &(&[u8], &str, &str)) -> Error {
    content(origin, *name, "LIBSVM text or CSV", *help)
}

/// The format of a text: by its name when that says CSV, else by the first line that tells. `None` when none of these does.
fn find_format(origin: &str, lines: &[u8], is_all: bool) -> Result<Option<Format>, Error> {
    let extension = Path::new(without_compression(origin)).extension().map(|extension| extension.to_ascii_lowercase());
    let extension = extension.as_ref().and_then(|extension| extension.to_str());
    if matches!(extension, Some("csv" | "tsv")) {
        return Ok(Some(Format::Csv));
    }
    let is_named_libsvm = matches!(extension, Some("libsvm" | "svm"));
    let mut first = None;
    let (mut at, mut told) = (0, false);
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let line_text = check_text(line).map_err(|place| not_text(origin, lines, at + place))?;
        let words = line_text.split('#').next().unwrap_or_default().trim();
        if !words.is_empty() {
            if is_libsvm(words) || (is_named_libsvm && words.contains(':')) {
                return Ok(Some(Format::Libsvm));
            }
            // A label may hold a bar.
            if words.contains([',', ';', '\t']) || (words.contains('|') && !is_named_libsvm) {
                return Ok(Some(Format::Csv));
            }
            first.get_or_insert((at, words));
            // A row of LIBSVM text may hold only its label, and then the next line tells.
            if words.contains(char::is_whitespace) {
                told = true;
                break;
            }
        }
        at += line.len();
    }
    match first {
        _ if !(is_all || told) => Ok(None),
        None => Err(no_rows(origin)),
        Some(_) if is_named_libsvm => Ok(Some(Format::Libsvm)),
        Some(_) if first_lines_are_numbers(lines) => Ok(Some(Format::Csv)),
        Some((at, words)) => Err(Fault::new(
            &Block::of(lines),
            at,
            quoted(words),
            "LIBSVM text (label index:value ...) or CSV",
            Help::from("separate the cells of a row with commas, semicolons, tabs, | or blanks, or name the format: ")
                .set(Setting::Format, "libsvm")
                .and(" or ")
                .set(Setting::Format, "csv"),
        )
        .error(origin, 0)),
    }
}

/// Whether the first lines are rows of a table whose cells have blanks between.
fn first_lines_are_numbers(lines: &[u8]) -> bool {
    let text = check_text(lines).unwrap_or_default();
    let filled = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().filter(filled).take(2).collect();
    separates_by_blanks(&lines)
}

/// Whether a line reads as LIBSVM text, with or without a fault.
fn is_libsvm(line: &str) -> bool {
    let is_entry = |word: &str| {
        word.split_once(':').is_some_and(|(index, value)| {
            (index == "qid" || (!index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())))
                && !value.contains([',', ';', ':', '|'])
        })
    };
    line.split_whitespace().skip(1).any(is_entry) || (line.contains(':') && !line.contains([',', ';', '\t', '|']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str, origin: &str) -> Option<Format> {
        find_format(origin, text.as_bytes(), true).ok().flatten()
    }

    #[test]
    fn the_format_is_found_by_content() {
        let libsvm = Some(Format::Libsvm);
        let csv = Some(Format::Csv);
        for (text, expected) in [
            ("1 1:0.5 2:3\n", libsvm),
            ("1,2 1:0.5\n", libsvm),
            ("1\t1:0.5\t2:3\n", libsvm),
            ("# made by hand\n\n3\n4 # only a label\n1 7:1\n", libsvm),
            ("1 qid:3 1:2\n", libsvm),
            ("1 1:abc\n", libsvm),
            ("1 a:1\n", libsvm),
            ("1:1 2:1\n", libsvm),
            ("1,2,3\n", csv),
            ("a;b\n1;2\n", csv),
            ("a\tb\n", csv),
            ("2020-01-01 12:30:00,5,6\n", csv),
            ("1|2|a:b\n", csv),
            ("2020-01-01 12:30:00|5|6\n", csv),
            ("1 2 3\n", csv),
            ("a b c\n1 2 c\n", csv),
            ("the quick fox\njumps over it\n", None),
            ("word\n", None),
            ("\n#\n", None),
        ] {
            assert_eq!(format(text, "data"), expected, "{text:?}");
        }
    }

    #[test]
    fn the_name_tells_what_the_content_cannot() {
        assert_eq!(format("a:1\n", "x.CSV"), Some(Format::Csv));
        assert_eq!(format("a:1\n", "x.csv.GZ"), Some(Format::Csv));
        assert_eq!(format("a\n", "x.tsv"), Some(Format::Csv));
        assert_eq!(format("1\n-1\n", "x.svm"), Some(Format::Libsvm));
        assert_eq!(format("1\n-1\n", "x.svm.xz"), Some(Format::Libsvm));
        assert_eq!(format("1 1:1\n", "x.t"), Some(Format::Libsvm));
        assert_eq!(format("1,1\n", "x.scale"), Some(Format::Csv));
    }
}
