//! Arrow files and streams: those that pyarrow wrote itself, and those that do not read.
#![allow(clippy::unwrap_used)] // a test may end here

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array, LargeStringArray,
    ListArray, NullArray, RecordBatch, StringArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use maxmargin::data::Dataset;
use maxmargin_io::{Blocks, Error, Format, ReadOptions, read_bytes};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn file_with(batch: &RecordBatch, options: IpcWriteOptions) -> Vec<u8> {
    let mut out = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    out.write(batch).unwrap();
    out.into_inner().unwrap()
}

fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    file_with(&batch(columns), IpcWriteOptions::default())
}

fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = batch(columns);
    let mut out = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    out.write(&batch).unwrap();
    out.into_inner().unwrap()
}

fn compressed(columns: Vec<(&str, ArrayRef)>, kind: CompressionType) -> Vec<u8> {
    file_with(&batch(columns), IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap())
}

fn numbers(numbers: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(numbers.to_vec()))
}

fn words(words: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(words.to_vec()))
}

/// Two rows.
fn good() -> Vec<(&'static str, ArrayRef)> {
    vec![("a", numbers(&[1.0, 2.0])), ("b", numbers(&[3.0, 4.0])), ("kind", words(&["x", "y"]))]
}

fn read(bytes: &[u8]) -> Result<Dataset, Error> {
    read_bytes(bytes, "t.arrow", &ReadOptions::default())
}

fn texts(data: &Dataset) -> Vec<String> {
    (0..data.rows()).map(|row| data.labels().unwrap().get(row).text().to_string()).collect()
}

#[test]
fn files_of_pyarrow_read_as_they_are() {
    let all: [&[u8]; 3] = [
        include_bytes!("peers/pyarrow_lz4.feather"),
        include_bytes!("peers/pyarrow_zstd.feather"),
        include_bytes!("peers/pyarrow_dictionary.arrows"),
    ];
    for bytes in all {
        let data = read(bytes).unwrap();
        assert_eq!(texts(&data), ["x", "ü", "x"]);
        assert_eq!(data.names().unwrap(), ["a", "b", "c"]);
        assert_eq!((data.matrix().row(0), data.matrix().row(2)), (vec![1.5, 1.0, 1.0], vec![-3.0, 3.0, 1.0]));
    }
    let options = ReadOptions::default();
    let blocks = Blocks::from_source(std::io::Cursor::new(all[2]), "t.arrows", &options).unwrap();
    assert_eq!(blocks.map(|block| block.unwrap().rows()).collect::<Vec<_>>(), [2, 1], "a block a batch");
}

#[test]
fn labels_are_numbers_texts_or_a_dictionary_of_texts() {
    let dictionary: DictionaryArray<Int8Type> = ["y", "x"].into_iter().collect();
    let all: [(ArrayRef, [&str; 2]); 6] = [
        (Arc::new(Int64Array::from(vec![-5, 1 << 60])), ["-5", "1152921504606846976"]),
        (Arc::new(UInt64Array::from(vec![0, u64::MAX])), ["0", "18446744073709551615"]),
        (Arc::new(Float32Array::from(vec![0.1, 2.0])), ["0.1", "2"]),
        (Arc::new(BooleanArray::from(vec![true, false])), ["1", "0"]),
        (Arc::new(LargeStringArray::from(vec!["p", "ü"])), ["p", "ü"]),
        (Arc::new(dictionary), ["y", "x"]),
    ];
    for (labels, expected) in all {
        for bytes in [file, stream].map(|write| write(vec![("a", numbers(&[1.0, 2.0])), ("kind", labels.clone())])) {
            assert_eq!(texts(&read(&bytes).unwrap()), expected);
        }
    }
}

#[test]
fn compressed_batches_are_unpacked() {
    let many: Vec<f64> = (0..5000).map(|number| f64::from(number % 7)).collect();
    let columns = || vec![("a", numbers(&many)), ("kind", words(&vec!["x"; 5000]))];
    for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let bytes = compressed(columns(), kind);
        assert!(bytes.len() < 40_000, "{}", bytes.len());
        let data = read(&bytes).unwrap();
        assert_eq!((data.rows(), data.matrix().row(4999)), (5000, vec![1.0]));
    }
}

/// The file with the last of some bytes replaced.
fn replaced(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let place = (0..=bytes.len() - from.len()).rev().find(|&k| bytes[k..].starts_with(from)).unwrap();
    bytes[place..place + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn what_does_not_read_is_said_with_its_place_and_the_way_out() {
    let whole = file(good());
    let with = |name: &'static str, column: ArrayRef| {
        file(vec![("a", numbers(&[1.0, 2.0])), (name, column), ("kind", words(&["x", "y"]))])
    };
    let list =
        ListArray::from_iter_primitive::<arrow_array::types::Float64Type, _, _>(vec![Some(vec![Some(1.0)]), None]);
    let dictionary: DictionaryArray<Int8Type> = ["y", "x"].into_iter().collect();
    let missing = Arc::new(Float64Array::from(vec![Some(1.0), None]));
    let nameless = Arc::new(StringArray::from(vec![Some("x"), None]));
    // A stream's second message is its batch: 8 bytes, and then its head.
    let streamed = stream(good());
    let batch = 8 + u32::from_le_bytes(streamed[4..8].try_into().unwrap()) as usize;
    let claimed = |place: usize, value: u32| {
        let mut bytes = streamed.clone();
        bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let packed =
        compressed(vec![("a", numbers(&[1.5; 999])), ("kind", words(&vec!["x"; 999]))], CompressionType::LZ4_FRAME);
    let huge = replaced(packed, &(999u64 * 8).to_le_bytes(), &(1u64 << 46).to_le_bytes());
    let again = "copy the file again";
    for (name, bytes, what, help) in [
        (
            "cut",
            whole[..whole.len() - 1].to_vec(),
            "t.arrow: found an Arrow file that cannot be read (\"its end is missing\")",
            again,
        ),
        ("cut in a batch", streamed[..streamed.len() - 40].to_vec(), "the body of a message: ", again),
        ("first bytes alone", b"ARROW1\0\0".to_vec(), "a message does not begin as it should", again),
        ("no schema", b"\xff\xff\xff\xff\0\0\0\0".to_vec(), "it has no schema", again),
        ("a huge head", claimed(4, 0x7fff_fff0), "a message claims a head of 2147483632 bytes", again),
        ("a long head", claimed(4, 0x0010_0000), "the head of a message: ", again),
        ("another batch", claimed(batch, 7), "a message does not begin as it should", again),
        ("a huge buffer", huge, "a compressed buffer claims 70368744177664 bytes, more than a file", again),
        (
            "a missing value",
            with("b", missing),
            "found a missing value in row 2, column 2 \"b\", expected a value",
            "missing",
        ),
        (
            "a missing label",
            file(vec![("a", numbers(&[1.0, 2.0])), ("kind", nameless)]),
            "a missing value in row 2, column 2 \"kind\"",
            "missing drop",
        ),
        ("NaN", with("b", numbers(&[f64::NAN, 1.0])), "the value in row 1, column 2 \"b\" is NaN", "leave the row out"),
        (
            "infinite label",
            file(vec![("a", numbers(&[1.0])), ("kind", numbers(&[f64::INFINITY]))]),
            "row 1, column 2 \"kind\" is inf",
            "leave the row out",
        ),
        (
            "too many digits",
            with("b", Arc::new(UInt64Array::from(vec![1, u64::MAX]))),
            "the whole number 18446744073709551615 in row 2, column 2 \"b\" has more digits",
            "exclude",
        ),
        ("texts", with("b", words(&["p", "q"])), "found texts in column \"b\", expected numbers", "categorical"),
        ("lists", with("b", Arc::new(list)), "found lists in column \"b\", expected numbers", "exclude"),
        (
            "dates",
            with("b", Arc::new(Date32Array::from(vec![1, 2]))),
            "found decimal numbers, dates or times in column \"b\"",
            "exclude",
        ),
        ("dictionary", with("b", Arc::new(dictionary)), "found texts in a dictionary in column \"b\"", "categorical"),
        ("nothing", with("b", Arc::new(NullArray::new(2))), "found no values in column \"b\"", "exclude"),
        (
            "one column",
            file(vec![("a", numbers(&[1.0]))]),
            "found one column, expected a label column and at least one more",
            "last column",
        ),
        (
            "no rows",
            file(vec![("a", numbers(&[])), ("kind", words(&[]))]),
            "found no rows, expected at least one",
            "at least one row",
        ),
        ("twice", file(vec![("a", numbers(&[1.0])), ("a", numbers(&[2.0])), ("kind", words(&["x"]))]), "\"a\"", ""),
    ] {
        let error = match read(&bytes) {
            Err(error) => error,
            Ok(data) => panic!("{name}: {} rows were read", data.rows()),
        };
        assert!(error.to_string().contains(what), "{name}: {error}");
        assert!(error.help().contains(help) && !error.help().is_empty(), "{name}: {}", error.help());
    }
    let error = read(include_bytes!("peers/pyarrow_v1.feather")).unwrap_err();
    assert!(error.to_string().contains("a Feather file of version 1"), "{error}");
    let csv = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    assert!(read_bytes(&whole, "t.arrow", &csv).unwrap_err().to_string().contains("an Arrow file"));
}

#[test]
fn a_compressed_file_with_a_flipped_bit_does_no_harm() {
    for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let many = [0.5; 100];
        let bytes = compressed(vec![("a", numbers(&many)), ("kind", words(&["x"; 100]))], kind);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let options = ReadOptions { format: Some(Format::Arrow), ..ReadOptions::default() };
            if let Err(error) = read_bytes(&damaged, "t.arrow", &options) {
                assert!(!error.to_string().contains('\n') && !error.help().is_empty(), "bit {bit}: {error}");
            }
        }
    }
}
