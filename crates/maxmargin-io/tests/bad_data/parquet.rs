//! Parquet files that are cut, damaged, or hold what is no table of numbers.

use std::sync::Arc;

use maxmargin::data::AnswerKind;
use maxmargin_io::{Format, ReadOptions};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{Built, columns, label, plain};

/// A column of a file, with a level of definition for each row where some are missing.
enum Column {
    Numbers(Vec<f64>, Option<Vec<i16>>),
    Wholes(Vec<i64>),
    Texts(Vec<&'static [u8]>, Option<Vec<i16>>),
    Truths(Vec<bool>),
    Fixed(Vec<&'static [u8]>),
    /// Numbers of lists: levels of definition, and of repetition.
    Lists(Vec<f64>, Vec<i16>, Vec<i16>),
}

/// A file with this schema, and one group of rows.
fn file(schema: &str, columns: Vec<Column>) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in columns {
        let mut out = group.next_column().unwrap().unwrap();
        match column {
            Column::Numbers(values, levels) => {
                out.typed::<DoubleType>().write_batch(&values, levels.as_deref(), None).unwrap();
            }
            Column::Wholes(values) => {
                out.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
            }
            Column::Texts(values, levels) => {
                let values: Vec<ByteArray> = values.into_iter().map(ByteArray::from).collect();
                out.typed::<ByteArrayType>().write_batch(&values, levels.as_deref(), None).unwrap();
            }
            Column::Truths(values) => {
                out.typed::<BoolType>().write_batch(&values, None, None).unwrap();
            }
            Column::Fixed(values) => {
                let value = |bytes: &[u8]| FixedLenByteArray::from(bytes.to_vec());
                let values: Vec<FixedLenByteArray> = values.into_iter().map(value).collect();
                out.typed::<FixedLenByteArrayType>().write_batch(&values, None, None).unwrap();
            }
            Column::Lists(values, levels, repeated) => {
                out.typed::<DoubleType>().write_batch(&values, Some(&levels), Some(&repeated)).unwrap();
            }
        }
        out.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

const TABLE: &str = "message m { required double a; required double b; required binary y (UTF8); }";

fn texts(values: [&'static str; 2]) -> Column {
    Column::Texts(values.map(str::as_bytes).to_vec(), None)
}

fn numbers(values: [f64; 2]) -> Column {
    Column::Numbers(values.to_vec(), None)
}

fn good() -> Vec<u8> {
    file(TABLE, vec![numbers([1.0, 2.0]), numbers([3.0, 4.0]), texts(["p", "q"])])
}

/// A good file with its last bytes changed: the length of its end, and `PAR1`.
fn with_end(length: u32, magic: &[u8; 4]) -> Vec<u8> {
    let mut bytes = good();
    let end = bytes.len() - 8;
    bytes[end..end + 4].copy_from_slice(&length.to_le_bytes());
    bytes[end + 4..].copy_from_slice(magic);
    bytes
}

fn forced() -> ReadOptions {
    ReadOptions { format: Some(Format::Parquet), ..plain() }
}

pub(crate) const CASES: &[Built] = &[
    (
        "cut in the middle",
        || good()[..good().len() / 2].to_vec(),
        plain,
        r#"found a Parquet file that cannot be read ("Parquet error: Invalid Parquet file. Corrupt footer"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "without its last byte",
        || good()[..good().len() - 1].to_vec(),
        plain,
        r#"found a Parquet file that cannot be read ("Parquet error: Invalid Parquet file. Corrupt footer"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "an end of another kind",
        || with_end(100, b"PAR2"),
        plain,
        r#"found a Parquet file that cannot be read ("Parquet error: Invalid Parquet file. Corrupt footer"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "an encrypted end",
        || with_end(100, b"PARE"),
        plain,
        r#"found a Parquet file that cannot be read ("Parquet error: Parquet file has an encrypted footer but the encryption feature i…"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "an end longer than the file",
        || with_end(u32::MAX, b"PAR1"),
        plain,
        r#"found a Parquet file that cannot be read ("EOF: Parquet file too small. Size is 607 but need 4294967303"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "an end of no bytes",
        || with_end(0, b"PAR1"),
        plain,
        r#"found a Parquet file that cannot be read ("EOF: Unexpected EOF"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "text",
        || b"a,b,y\n1,2,p\n".to_vec(),
        forced,
        r#"found a Parquet file that cannot be read ("Parquet error: Invalid Parquet file. Corrupt footer"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "nothing",
        Vec::new,
        forced,
        r#"found a Parquet file that cannot be read ("EOF: Parquet file too small. Size is 0 but need 8"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "read as LIBSVM text",
        good,
        || ReadOptions { format: Some(Format::Libsvm), ..plain() },
        "found a Parquet file, expected LIBSVM text or CSV",
        "give the file as it is, not compressed, and name no other format",
    ),
    (
        "read as CSV",
        good,
        || ReadOptions { format: Some(Format::Csv), ..plain() },
        "found a Parquet file, expected LIBSVM text or CSV",
        "give the file as it is, not compressed, and name no other format",
    ),
    (
        "read as npy",
        good,
        || ReadOptions { format: Some(Format::Npy), ..plain() },
        "found a NumPy array whose header does not read, expected a table of numbers saved by NumPy",
        "save it with numpy.save once more",
    ),
    (
        "no rows",
        || file(TABLE, vec![Column::Numbers(vec![], None), Column::Numbers(vec![], None), Column::Texts(vec![], None)]),
        plain,
        "found no rows, expected at least one",
        "give a file with at least one row",
    ),
    (
        "one column",
        || file("message m { required double a; }", vec![numbers([1.0, 2.0])]),
        plain,
        "found one column, expected a label column and at least one more",
        "give the features and the label in one table, the label in the last column",
    ),
    (
        "two columns of one name",
        || {
            file(
                "message m { required double a; required double a; required double y; }",
                vec![numbers([1.0, 2.0]), numbers([1.0, 2.0]), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"two columns are named "a""#,
        "rename one of them",
    ),
    (
        "a column of texts",
        || {
            file(
                "message m { required binary a (UTF8); required double y; }",
                vec![texts(["u", "v"]), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"found texts in column "a", expected numbers"#,
        "make a column of each value with categorical a, or leave it out with exclude a",
    ),
    (
        "a column of bytes of a fixed length",
        || {
            file(
                "message m { required fixed_len_byte_array(2) a; required double y; }",
                vec![Column::Fixed(vec![b"ab", b"cd"]), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"found values that are no plain numbers in column "a", expected numbers"#,
        "leave the column out with exclude a, or save it as numbers or text",
    ),
    (
        "a column of dates",
        || {
            file(
                "message m { required int64 a (TIMESTAMP(MILLIS,true)); required double y; }",
                vec![Column::Wholes(vec![1, 2]), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"found decimal numbers, dates or times in column "a", expected numbers"#,
        "leave the column out with exclude a, or save it as numbers or text",
    ),
    (
        "a column of lists",
        || {
            file(
                "message m { repeated double a; required double y; }",
                vec![Column::Lists(vec![1.0, 2.0, 3.0], vec![1, 1, 1], vec![0, 1, 0]), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"found lists in column "a", expected numbers"#,
        "leave the column out with exclude a, or save it as numbers or text",
    ),
    (
        "a missing number",
        || {
            file(
                "message m { optional double a; required double y; }",
                vec![Column::Numbers(vec![1.0], Some(vec![1, 0])), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"found a missing value in row 2, column 1 "a", expected a value"#,
        "say what becomes of missing values: missing mean, median or zero, or missing drop, which leaves the rows out",
    ),
    (
        "a missing label",
        || {
            file(
                "message m { required double a; optional binary y (UTF8); }",
                vec![numbers([0.0, 1.0]), Column::Texts(vec![b"p"], Some(vec![0, 1]))],
            )
        },
        plain,
        r#"found a missing value in row 1, column 2 "y", expected a value"#,
        "say what becomes of missing values: missing mean, median or zero, or missing drop, which leaves the rows out",
    ),
    (
        "a number that is none",
        || file(TABLE, vec![numbers([1.0, f64::NAN]), numbers([3.0, 4.0]), texts(["p", "q"])]),
        plain,
        r#"the value in row 2, column 1 "a" is NaN"#,
        "leave the row out, or fill the value in (with the column's mean, say)",
    ),
    (
        "an infinite number",
        || file(TABLE, vec![numbers([1.0, 2.0]), numbers([f64::NEG_INFINITY, 4.0]), texts(["p", "q"])]),
        plain,
        r#"the value in row 1, column 2 "b" is -inf"#,
        "leave the row out, or fill the value in (with the column's mean, say)",
    ),
    (
        "a label that is none",
        || {
            file(
                "message m { required double a; required double y; }",
                vec![numbers([0.0, 1.0]), numbers([1.0, f64::NAN])],
            )
        },
        plain,
        r#"the value in row 2, column 2 "y" is NaN"#,
        "leave the row out, or fill the value in (with the column's mean, say)",
    ),
    (
        "a whole number of too many digits",
        || {
            file(
                "message m { required int64 a; required double y; }",
                vec![Column::Wholes(vec![1, (1 << 53) + 1]), numbers([0.0, 1.0])],
            )
        },
        plain,
        r#"the whole number 9007199254740993 in row 2, column 1 "a" has more digits than can be computed with"#,
        "leave the column out with exclude, or subtract what its values share",
    ),
    (
        "a label that is no text",
        || file(TABLE, vec![numbers([1.0, 2.0]), numbers([3.0, 4.0]), Column::Texts(vec![b"p", b"\xff\xfe"], None)]),
        plain,
        r#"found bytes that are not UTF-8 in row 2, column 3 "y", expected a label"#,
        "save the label column as text or numbers",
    ),
    (
        "labels of lists",
        || {
            file(
                "message m { required double a; repeated double y; }",
                vec![numbers([0.0, 1.0]), Column::Lists(vec![1.0, 2.0, 3.0], vec![1, 1, 1], vec![0, 1, 0])],
            )
        },
        plain,
        r#"found lists in column "y", expected labels"#,
        "leave the column out with exclude y, or save it as numbers or text",
    ),
    (
        "a column that is a truth, and a label that is not there",
        || {
            file(
                "message m { required boolean a; required double y; }",
                vec![Column::Truths(vec![true, false]), numbers([0.0, 1.0])],
            )
        },
        || label("z"),
        r#"there is no column "z""#,
        r#"the columns are "a", "y""#,
    ),
    (
        "a label that is a column, too",
        good,
        || columns(&["a", "y"]),
        "column 3 is the label and also among the columns to keep",
        "leave it out of columns, or choose another with label",
    ),
    (
        "a column that is not there",
        good,
        || columns(&["a", "B"]),
        r#"there is no column "B""#,
        r#"the columns are "a", "b", "y""#,
    ),
    (
        "a column twice",
        good,
        || columns(&["a", "1"]),
        r#"the column "1" is asked for twice"#,
        "name each column once in columns",
    ),
    (
        "without a label, and a column of texts",
        good,
        || ReadOptions { answers: AnswerKind::None, ..plain() },
        r#"found texts in column "y", expected numbers"#,
        "make a column of each value with categorical y, or leave it out with exclude y",
    ),
];
