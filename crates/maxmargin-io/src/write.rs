//! From a [`Dataset`] to bytes. What is written reads back as the same numbers, bit for bit, and the same labels.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use maxmargin::data::{Answers, Dataset, Label, Labels};
use maxmargin::error::quoted;

use crate::error::Error;
use crate::libsvm::is_blank;
use crate::table::is_missing;

/// Writes LIBSVM text: `label index:value ...`, indices from 1, zeros left out, group numbers as `qid`.
///
/// Weights and column names have no place in it and are left out. Where no row holds the last column, the first row
/// gets a zero there, so that the number of columns is kept.
///
/// # Errors
/// When a label is not one word without `:` and `#`, or the stream fails.
pub fn write_libsvm(data: &Dataset, out: &mut impl Write) -> Result<(), Error> {
    libsvm_rows(data, out, true)?;
    Ok(out.flush()?)
}

/// Rows of LIBSVM text; the first ones tell the number of columns.
pub(crate) fn libsvm_rows(data: &Dataset, out: &mut impl Write, first: bool) -> Result<(), Error> {
    let (matrix, labels) = (data.matrix(), as_labels(data));
    let first_label = labels.codes().first().filter(|_| first);
    for (code, class) in labels.classes().iter().enumerate() {
        let text = written(class);
        // The first word of a file must not look like the beginning of another one; and without columns, a comma like CSV.
        let is_separated = |text: &str| text.contains([',', ';']) || text.contains(char::is_whitespace);
        let misleads =
            first_label == Some(&(code as u32)) && is_misleading(text) || data.columns() == 0 && is_separated(text);
        if misleads
            || text.is_empty()
            || text.chars().any(|c| c == ':' || c == '#' || c == '\n' || c == '\0' || blank(c))
        {
            return Err(Error::NotWritable {
                what: format!("the label {} cannot be written as LIBSVM text", quoted(class.text())),
                help: "write CSV, or choose labels of one word without : and #".into(),
            });
        }
    }
    let mut last_is_held = false;
    for row in 0..data.rows() {
        matrix.visit(row, |column, value| last_is_held |= column + 1 == data.columns() && value != 0.0);
    }
    let mut line = String::new();
    for row in 0..data.rows() {
        line.clear();
        line.push_str(written(labels.get(row)));
        if let Some(groups) = data.groups() {
            line.push_str(&format!(" qid:{}", groups[row]));
        }
        matrix.visit(row, |column, value| {
            if value != 0.0 {
                push(&mut line, format_args!(" {}:{}", column + 1, Shortest(value)));
            }
        });
        // A first row of only a label does not tell that this is LIBSVM text.
        let is_bare = row == 0 && !line.contains(':');
        if row == 0 && first && (!last_is_held || is_bare) && data.columns() > 0 {
            push(&mut line, format_args!(" {}:0", data.columns()));
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Writes CSV with commas: a header where the columns have names, a row a line, the answer last and called `label`, where there is one.
///
/// Weights and group numbers have no place in it and are left out. Where the first label is the text `label`, that row would
/// read as a header, so one of empty names is written before it.
///
/// # Errors
/// When there are no columns, a label reads as a missing value, a label or a name has blanks around it, or the stream fails.
pub fn write_csv(data: &Dataset, out: &mut impl Write) -> Result<(), Error> {
    csv_rows(data, out, true, ',')?;
    Ok(out.flush()?)
}

/// Rows of CSV; the first ones come with the header, where there is one.
pub(crate) fn csv_rows(data: &Dataset, out: &mut impl Write, first: bool, separator: char) -> Result<(), Error> {
    if data.columns() == 0 {
        return Err(Error::NotWritable {
            what: "data without columns cannot be written as CSV".into(),
            help: "write LIBSVM text, which has rows of only a label".into(),
        });
    }
    let labels = (!data.answers().is_none()).then(|| as_labels(data));
    for class in labels.iter().flat_map(|labels| labels.classes()) {
        let text = written(class);
        if is_missing(text) || text.trim() != text || text.contains('\0') {
            return Err(Error::NotWritable {
                what: format!("the label {} cannot be written as CSV", quoted(class.text())),
                help: "choose labels without blanks around them that do not say that a value is missing".into(),
            });
        }
    }
    for name in data.names().unwrap_or_default() {
        if name.trim().is_empty() || name.trim() != name || name.contains('\0') {
            return Err(Error::NotWritable {
                what: format!("the column name {} cannot be written as CSV", quoted(name)),
                help: "choose names that are not empty and have no blanks around them, or write Parquet".into(),
            });
        }
    }
    let mut line = String::new();
    // Without a header, a first row labelled `label` would be taken for one. Names that are empty are none.
    let needs_header = data.rows() > 0 && labels.as_ref().is_some_and(|labels| labels.get(0).text() == "label");
    if first && (data.names().is_some() || needs_header) {
        let none = vec![String::new(); if data.names().is_some() { 0 } else { data.columns() }];
        let names = data.names().unwrap_or(&none);
        for (place, name) in names.iter().enumerate() {
            // A line that begins so is a comment.
            if place == 0 && (is_misleading(name) || name.starts_with('#')) {
                push_quoted(&mut line, name, separator);
            } else {
                push_cell(&mut line, name, separator);
            }
        }
        let mut label = "label".to_string();
        while names.contains(&label) {
            label.push('_');
        }
        match labels {
            Some(_) => push_cell(&mut line, &label, '\n'),
            None => end_line(&mut line),
        }
        out.write_all(line.as_bytes())?;
    }
    for row in 0..data.rows() {
        line.clear();
        for value in data.matrix().row(row) {
            push(&mut line, format_args!("{}{separator}", Shortest(value)));
        }
        match &labels {
            Some(labels) => push_cell(&mut line, written(labels.get(row)), '\n'),
            None => end_line(&mut line),
        }
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// The answers as labels: a number by its shortest spelling, and `0` for each row where there are none.
pub(crate) fn as_labels(data: &Dataset) -> Cow<'_, Labels> {
    match data.answers() {
        Answers::Classes(labels) => Cow::Borrowed(labels),
        Answers::Numbers(numbers) => {
            let spelled = |&number: &f64| Label::new(Shortest(number + 0.0).to_string());
            Cow::Owned(Labels::new(numbers.iter().map(spelled)))
        }
        Answers::None => Cow::Owned(Labels::from_spellings([Label::new("0")], vec![0; data.rows()])),
    }
}

/// A label's text; blanks around a number are no part of the label.
fn written(label: &Label) -> &str {
    if label.number().is_some() { label.text().trim() } else { label.text() }
}

fn blank(character: char) -> bool {
    u8::try_from(character).is_ok_and(is_blank)
}

/// Appends to a text, which cannot fail.
fn push(line: &mut String, text: fmt::Arguments) {
    let _ = fmt::Write::write_fmt(line, text);
}

/// Whether a file that begins with this word would be taken for one that is no text, or lose the beginning of the word.
fn is_misleading(word: &str) -> bool {
    let magic = ["\u{feff}", "maxmargin-cache", "BZh", "PK\u{3}\u{4}", "PAR1"];
    magic.iter().any(|magic| word.starts_with(magic))
}

/// Puts the end of a line in the place of its last separator.
fn end_line(line: &mut String) {
    line.pop();
    line.push('\n');
}

/// Appends a cell, in quotes where it needs them.
fn push_cell(line: &mut String, text: &str, end: char) {
    if text.is_empty() || text.contains([',', ';', '\t', '|', '"', '\n', '\r']) {
        return push_quoted(line, text, end);
    }
    line.push_str(text);
    line.push(end);
}

fn push_quoted(line: &mut String, text: &str, end: char) {
    line.push('"');
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
    line.push(end);
}

/// A number in the fewest digits that read back as the same number, with an exponent where that is shorter to read.
pub(crate) struct Shortest(pub(crate) f64);

impl fmt::Display for Shortest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-5..1e17).contains(&size) {
            write!(formatter, "{}", self.0)
        } else {
            write!(formatter, "{:e}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{ReadOptions, read_bytes};
    use maxmargin::data::Matrix;

    fn data(columns: usize, values: &[f64], labels: &[&str]) -> Dataset {
        let matrix = Matrix::dense(labels.len(), columns, values.to_vec()).unwrap();
        Dataset::new(matrix, Labels::new(labels.iter().map(|&label| Label::new(label)))).unwrap()
    }

    fn libsvm(data: &Dataset) -> Result<String, Error> {
        let mut out = Vec::new();
        write_libsvm(data, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    fn csv(data: &Dataset) -> Result<String, Error> {
        let mut out = Vec::new();
        write_csv(data, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn numbers_are_written_in_the_fewest_digits_that_read_back() {
        for (value, text) in [
            (0.1, "0.1"),
            (-3.0, "-3"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::MAX, "1.7976931348623157e308"),
            (1e-5, "0.00001"),
        ] {
            assert_eq!(Shortest(value).to_string(), text);
            assert_eq!(text.parse(), Ok(value));
        }
    }

    #[test]
    fn libsvm_text_leaves_out_zeros_but_keeps_the_number_of_columns() {
        let data = data(3, &[1.5, 0.0, 0.0, 0.0, 2.0, 0.0], &["+1", "-1"]).with_groups(vec![7, 8]).unwrap();
        assert_eq!(libsvm(&data).unwrap(), "+1 qid:7 1:1.5 3:0\n-1 qid:8 2:2\n");
    }

    #[test]
    fn csv_names_the_label_column_so_that_no_name_is_used_twice() {
        let data = data(2, &[1.0, 2.0], &["a,b"]).with_names(vec!["label".into(), "x\"".into()]).unwrap();
        assert_eq!(csv(&data).unwrap(), "label,\"x\"\"\",label_\n1,2,\"a,b\"\n");
    }

    #[test]
    fn labels_that_would_not_read_back_are_refused() {
        for label in ["", "a b", "a:b", "#1", "a\tb", "a\nb", "\u{b}"] {
            let error = libsvm(&data(1, &[1.0], &[label])).unwrap_err();
            assert_eq!(error.to_string(), format!("the label {} cannot be written as LIBSVM text", quoted(label)));
        }
        for label in ["", "NA", "nan", " a", "?"] {
            let error = csv(&data(1, &[1.0], &[label])).unwrap_err();
            assert_eq!(error.to_string(), format!("the label {} cannot be written as CSV", quoted(label)));
        }
        assert_eq!(csv(&data(1, &[1.0], &[" 1"])).unwrap(), "1,1\n");
        assert!(csv(&data(0, &[], &["1"])).is_err());
    }

    #[test]
    fn a_stream_that_fails_is_an_error_that_tells_the_kind() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        for error in [write_libsvm(&data(1, &[1.0], &["1"]), &mut Full), write_csv(&data(1, &[1.0], &["1"]), &mut Full)]
        {
            assert!(matches!(error, Err(Error::Write { kind: std::io::ErrorKind::BrokenPipe, .. })));
        }
    }

    #[test]
    fn a_matrix_in_single_precision_reads_back_as_the_same_numbers() {
        let matrix = Matrix::dense(1, 2, vec![0.1f32, -1e-30]).unwrap();
        let single = Dataset::new(matrix, Labels::new([Label::new("1")])).unwrap();
        let text = libsvm(&single).unwrap();
        let back = read_bytes(text.as_bytes(), "t.svm", &ReadOptions::default()).unwrap();
        assert_eq!(back.matrix().row(0), single.matrix().row(0));
    }
}
