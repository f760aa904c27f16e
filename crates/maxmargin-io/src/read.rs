//! From bytes to a [`Dataset`]: what kind of file it is, and whether it is text at all.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use maxmargin::data::{Dataset, Matrix};
use maxmargin::error::{bytes as shown_bytes, quoted};

use crate::error::{Error, reason};
use crate::{binary, libsvm, table};

/// How a data file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A row a line: `label index:value index:value ...`, zeros left out.
    Libsvm,
    /// A row a line, cells separated by commas, semicolons or tabs, with or without a header.
    Csv,
    /// A table saved by NumPy.
    Npy,
    /// A table of columns.
    Parquet,
    /// A cache file of ours.
    Cache,
}

/// How to read a data file. The default finds out what it can from the file itself.
///
/// # Examples
/// ```
/// use maxmargin_io::{ReadOptions, read_bytes};
///
/// let options = ReadOptions { label: Some("kind".into()), ..ReadOptions::default() };
/// let data = read_bytes(b"kind,width\nold,3\nnew,5\n", "table.csv", &options)?;
/// assert_eq!(data.labels().get(0).text(), "old");
/// assert_eq!(data.names(), Some(&["width".to_string()][..]));
/// # Ok::<(), maxmargin_io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` finds it by name and content.
    pub format: Option<Format>,
    /// LIBSVM text whose first column is 0, not 1.
    pub zero_based: bool,
    /// The label column of a CSV file, by name or by number counted from 1; `None` takes the last.
    pub label: Option<String>,
    /// A CSV file without a label column: all columns are features, and each row gets the label `0`.
    pub unlabelled: bool,
    /// Whether the first row of a CSV file names the columns; `None` finds it by content.
    pub header: Option<bool>,
    /// Make of each CSV column that is not numeric one column for each of its values, named `column=value`.
    pub categorical: bool,
    /// The columns to keep, by name or by number counted from 1, in this order; `None` keeps all.
    pub columns: Option<Vec<String>>,
    /// Refuse a file of more bytes.
    pub max_bytes: Option<u64>,
}

/// Reads a data file.
///
/// # Errors
/// When the file cannot be read, or as [`read_bytes`] does.
pub fn read_path(path: &Path, options: &ReadOptions) -> Result<Dataset, Error> {
    let origin = path.to_string_lossy();
    let file = File::open(path).map_err(|error| cannot_read(&origin, &error))?;
    read_source(file, &origin, options)
}

/// Reads data from a stream, such as standard input, to its end. Messages call it `origin`.
///
/// # Errors
/// When the stream fails or exceeds [`ReadOptions::max_bytes`], or as [`read_bytes`] does.
pub fn read_source(source: impl Read, origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    let mut bytes = Vec::new();
    // One byte above the limit is enough to see that it is exceeded.
    let limit = options.max_bytes.map_or(u64::MAX, |limit| limit.saturating_add(1));
    source.take(limit).read_to_end(&mut bytes).map_err(|error| cannot_read(origin, &error))?;
    read_bytes(&bytes, origin, options)
}

/// Reads data from bytes. Messages call them `origin`; its extension helps to find the format.
///
/// A matrix is dense when at least half of its numbers are not zero, else sparse, whatever the format.
/// Labels are kept as they are written.
///
/// # Errors
/// When the bytes are not text in one of the formats, with the place of the first fault; when they hold no rows;
/// when an option asks for a column that is not there.
pub fn read_bytes(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<Dataset, Error> {
    if let Some(limit) = options.max_bytes
        && bytes.len() as u64 > limit
    {
        return Err(Error::Limit {
            path: origin.into(),
            what: format!("the data are more than the limit of {}", shown_bytes(limit)),
            help: "raise the limit, or give fewer rows".into(),
        });
    }
    if let Some(format) = binary::find(bytes, options.format) {
        return binary::read(bytes, origin, options, format);
    }
    let source = Source { origin, text: text_of(bytes, origin)? };
    match options.format.map_or_else(|| find_format(&source), Ok)? {
        Format::Csv => table::read(&source, options),
        _ => libsvm::read(&source, options),
    }
}

/// Text and the name that messages give it.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) origin: &'a str,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// A fault at a byte of the text.
    pub(crate) fn syntax(
        &self,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) -> Error {
        syntax(self.origin, self.text.as_bytes(), offset, found, expected, help)
    }

    /// A fault of the text as a whole.
    pub(crate) fn content(
        &self,
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) -> Error {
        let path = self.origin.into();
        Error::Content { path, found: found.into(), expected: expected.into(), help: help.into() }
    }

    /// A fault that a data set found.
    pub(crate) fn data(&self, error: maxmargin::Error) -> Error {
        Error::Data { path: self.origin.into(), error }
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        line_and_column(self.text.as_bytes(), offset).0
    }
}

/// The matrix of compressed rows without zeros: dense when at least half of its numbers are not zero, else sparse.
///
/// A dense matrix then needs at most 16 bytes for each number that is not zero, so no file makes it run away.
pub(crate) fn matrix(
    columns: usize,
    offsets: Vec<u64>,
    indices: Vec<u32>,
    values: Vec<f64>,
) -> Result<Matrix, maxmargin::Error> {
    let rows = offsets.len() - 1;
    match rows.checked_mul(columns).filter(|&cells| values.len() >= cells.div_ceil(2)) {
        Some(cells) => {
            let mut dense = vec![0.0; cells];
            for row in 0..rows {
                for place in offsets[row] as usize..offsets[row + 1] as usize {
                    dense[row * columns + indices[place] as usize] = values[place];
                }
            }
            Matrix::dense(rows, columns, dense)
        }
        None => Matrix::sparse(rows, columns, offsets, indices, values),
    }
}

/// Whether a byte separates the words of a line.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

fn cannot_read(origin: &str, error: &std::io::Error) -> Error {
    let help = match error.kind() {
        std::io::ErrorKind::NotFound => "check the name and the folder",
        std::io::ErrorKind::PermissionDenied => "allow yourself to read it, or choose another file",
        std::io::ErrorKind::IsADirectory => "name a file in it",
        _ => "check that it is a file that can be read",
    };
    Error::Open { path: origin.into(), reason: reason(error), help: help.into() }
}

/// The bytes as text without a byte order mark, or why they are not text.
fn text_of<'a>(bytes: &'a [u8], origin: &str) -> Result<&'a str, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.is_empty() {
        return Err(Error::Content {
            path: origin.into(),
            found: "an empty file".into(),
            expected: "LIBSVM text or CSV".into(),
            help: "give a file with at least one row".into(),
        });
    }
    match (memchr::memchr(0, bytes), std::str::from_utf8(bytes)) {
        (None, Ok(text)) => Ok(text),
        (zero, text) => {
            // Only now: a text may well begin with the letters of a file kind, such as the label `PAR1`.
            if let Some((_, name, help)) = KINDS.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
                return Err(Error::Content {
                    path: origin.into(),
                    found: (*name).into(),
                    expected: "LIBSVM text or CSV".into(),
                    help: (*help).into(),
                });
            }
            let invalid = text.err().map(|error| error.valid_up_to());
            Err(match (zero, invalid) {
                (zero, Some(offset)) if zero.is_none_or(|zero| zero > offset) => {
                    let found = format!("the byte 0x{:02x}, which is not UTF-8", bytes[offset]);
                    let help = "save the file as UTF-8 (if it is Latin-1: iconv -f latin1 -t utf-8)";
                    syntax(origin, bytes, offset, found, "UTF-8 text", help)
                }
                (zero, _) => {
                    let help = "give LIBSVM text or CSV, not a binary file";
                    syntax(origin, bytes, zero.unwrap_or_default(), "a zero byte", "text", help)
                }
            })
        }
    }
}

/// The first bytes of files that are not text, what they are, and the way out.
const KINDS: [(&[u8], &str, &str); 10] = [
    (b"\x1f\x8b", "gzip-compressed data", "decompress the file first: gzip -d"),
    (b"BZh", "bzip2-compressed data", "decompress the file first: bzip2 -d"),
    (b"\xfd7zXZ\0", "xz-compressed data", "decompress the file first: xz -d"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data", "decompress the file first: zstd -d"),
    (b"PK\x03\x04", "a zip archive", "unpack the archive first, or save the spreadsheet as CSV"),
    (b"PAR1", "a Parquet file", "save the data as CSV first"),
    (b"\x93NUMPY", "a NumPy array", "save the data as CSV first"),
    (b"\xff\xfe", "text in UTF-16, not UTF-8", "save the file as UTF-8"),
    (b"\xfe\xff", "text in UTF-16, not UTF-8", "save the file as UTF-8"),
    (b"\x89HDF\r\n", "an HDF5 file", "save the data as CSV first"),
];

/// The format of a text: by its name when that says CSV, else by the first line that tells.
fn find_format(source: &Source) -> Result<Format, Error> {
    let extension = Path::new(source.origin).extension().map(|extension| extension.to_ascii_lowercase());
    let extension = extension.as_ref().and_then(|extension| extension.to_str());
    if matches!(extension, Some("csv" | "tsv")) {
        return Ok(Format::Csv);
    }
    let is_named_libsvm = matches!(extension, Some("libsvm" | "svm"));
    let mut first = None;
    let mut offset = 0;
    for line in source.text.split_inclusive('\n') {
        let words = line.split('#').next().unwrap_or_default().trim();
        if !words.is_empty() {
            if is_libsvm(words) || (is_named_libsvm && words.contains(':')) {
                return Ok(Format::Libsvm);
            }
            if words.contains([',', ';', '\t']) {
                return Ok(Format::Csv);
            }
            first.get_or_insert((offset, words));
            // A row of LIBSVM text may hold only its label, and then the next line tells.
            if words.contains(char::is_whitespace) {
                break;
            }
        }
        offset += line.len();
    }
    match first {
        None => Err(no_rows(source)),
        Some(_) if is_named_libsvm => Ok(Format::Libsvm),
        Some((offset, words)) => Err(source.syntax(
            offset,
            quoted(words),
            "LIBSVM text (label index:value ...) or CSV",
            "separate the cells of a row with commas, semicolons or tabs, or name the format: --format libsvm, --format csv",
        )),
    }
}

/// The error of a column that is asked for more than once.
pub(crate) fn asked_twice(source: &Source, name: &str) -> Error {
    source.data(maxmargin::Error::Combination {
        what: format!("the column {} is asked for twice", quoted(name)),
        help: "name each column once in --columns".into(),
    })
}

/// The error of a text without a row.
pub(crate) fn no_rows(source: &Source) -> Error {
    source.content("no rows", "at least one", "give a file with at least one row")
}

/// Whether a line reads as LIBSVM text, with or without a fault.
fn is_libsvm(line: &str) -> bool {
    let is_entry = |word: &str| {
        word.split_once(':').is_some_and(|(index, value)| {
            (index == "qid" || (!index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())))
                && !value.contains([',', ';', ':'])
        })
    };
    line.split_whitespace().skip(1).any(is_entry) || (line.contains(':') && !line.contains([',', ';', '\t']))
}

fn syntax(
    origin: &str,
    bytes: &[u8],
    offset: usize,
    found: impl Into<String>,
    expected: impl Into<String>,
    help: impl Into<String>,
) -> Error {
    let (line, column) = line_and_column(bytes, offset);
    let (found, expected, help) = (found.into(), expected.into(), help.into());
    Error::Syntax { path: origin.into(), line, column, found, expected, help }
}

/// The line of a byte, and the character in it, both counted from 1.
fn line_and_column(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    // Every byte but those that continue a character of UTF-8.
    let column = before[start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::data::Matrix;

    fn format(text: &str, origin: &str) -> Option<Format> {
        find_format(&Source { origin, text }).ok()
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
            ("1 2 3\n", None),
            ("word\n", None),
            ("\n#\n", None),
        ] {
            assert_eq!(format(text, "data"), expected, "{text:?}");
        }
    }

    #[test]
    fn the_name_tells_what_the_content_cannot() {
        assert_eq!(format("a:1\n", "x.CSV"), Some(Format::Csv));
        assert_eq!(format("a\n", "x.tsv"), Some(Format::Csv));
        assert_eq!(format("1\n-1\n", "x.svm"), Some(Format::Libsvm));
        assert_eq!(format("1 1:1\n", "x.t"), Some(Format::Libsvm));
        assert_eq!(format("1,1\n", "x.scale"), Some(Format::Csv));
    }

    #[test]
    fn places_count_characters_not_bytes() {
        let text = "a\nü€x";
        assert_eq!(line_and_column(text.as_bytes(), 0), (1, 1));
        assert_eq!(line_and_column(text.as_bytes(), text.len() - 1), (2, 3));
        assert_eq!(line_and_column(text.as_bytes(), text.len()), (2, 4));
        assert_eq!(line_and_column(b"", 9), (1, 1));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let data = read_bytes(b"\xef\xbb\xbfx,y\n1,2\n", "t.csv", &ReadOptions::default()).unwrap();
        assert_eq!(data.names(), Some(&["x".to_string()][..]));
    }

    #[test]
    fn half_full_is_dense_and_less_is_sparse() {
        let half = matrix(2, vec![0, 1, 2], vec![0, 1], vec![3.0, 4.0]).unwrap();
        assert!(matches!(half, Matrix::Dense(_)));
        assert_eq!((half.row(0), half.row(1)), (vec![3.0, 0.0], vec![0.0, 4.0]));
        let less = matrix(3, vec![0, 1, 2], vec![0, 1], vec![3.0, 4.0]).unwrap();
        assert!(matches!(less, Matrix::Sparse(_)));
        assert_eq!((less.row(0), less.row(1)), (vec![3.0, 0.0, 0.0], vec![0.0, 4.0, 0.0]));
    }

    #[test]
    fn a_stream_is_not_read_beyond_the_limit() {
        let options = ReadOptions { max_bytes: Some(7), ..ReadOptions::default() };
        assert!(read_source(&b"1 1:1 \n"[..], "-", &options).is_ok());
        let endless = std::io::repeat(b'1');
        let error = read_source(endless, "-", &options).unwrap_err();
        assert_eq!(error.to_string(), "-: the data are more than the limit of 7 B");
    }

    #[test]
    fn a_file_that_is_not_there_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_path(&folder.path().join("none.svm"), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().ends_with("none.svm\": there is no such file"), "{error}");
        assert_eq!(error.help(), "check the name and the folder");
        let error = read_path(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().ends_with("\": it is a folder"), "{error}");
    }
}
