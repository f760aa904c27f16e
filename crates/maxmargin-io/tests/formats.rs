//! Every format to every other and back: what a format can hold comes back to the bit, and what it cannot is said.
#![allow(clippy::unwrap_used)] // a test may end here

use std::fs;
use std::path::Path;

use maxmargin::data::{AnswerKind, Dataset, Label, Labels, Matrix, embedded};
use maxmargin_io::{Blocks, DataWriter, Error, Format, ReadOptions, read_bytes, read_path};

const FORMATS: [(Format, &str); 8] = [
    (Format::Libsvm, "svm"),
    (Format::Csv, "csv"),
    (Format::Npy, "npy"),
    (Format::Npz, "npz"),
    (Format::Arrow, "feather"),
    (Format::ArrowStream, "arrows"),
    (Format::Parquet, "parquet"),
    (Format::Cache, "mmc"),
];

/// Numbers that are hard to keep, with numbers for labels.
fn numeric() -> Dataset {
    let values = vec![0.1, -1e300, 5e-324, 0.0, 1.0 / 3.0, 123456789.125, 0.0, 2.0, 1e-5, -7.0, f64::MAX, 0.1 + 0.2];
    let labels = Labels::new(["-1", "2", "-1", "0.5"].map(Label::new));
    Dataset::new(Matrix::dense(4, 3, values).unwrap(), labels).unwrap()
}

fn write(path: &Path, format: Format, parts: &[Dataset]) -> Result<Vec<&'static str>, Error> {
    let mut writer = DataWriter::create(path, format)?;
    for part in parts {
        writer.push(part)?;
    }
    let lost = writer.lost().to_vec();
    writer.finish().map(|_| lost)
}

fn rows(data: &Dataset) -> Vec<(Vec<u64>, String)> {
    let row = |row| data.matrix().row(row).into_iter().map(|value| (value + 0.0).to_bits()).collect();
    (0..data.rows()).map(|k| (row(k), data.labels().unwrap().get(k).text().to_string())).collect()
}

#[test]
fn numbers_and_labels_go_through_every_pair_of_formats_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let data = numeric();
    for (first, name) in FORMATS {
        let one = folder.path().join(format!("one.{name}"));
        write(&one, first, std::slice::from_ref(&data)).unwrap();
        let read = read_path(&one, &ReadOptions::default()).unwrap();
        assert_eq!(rows(&read), rows(&data), "{name}");
        for (second, other) in FORMATS {
            let two = folder.path().join(format!("two.{other}"));
            write(&two, second, std::slice::from_ref(&read)).unwrap();
            let back = read_path(&two, &ReadOptions::default()).unwrap();
            assert_eq!(rows(&back), rows(&data), "{name} to {other}");
            assert_eq!(back.fingerprint(), data.fingerprint());
            assert_eq!(back.names(), None, "{name} to {other}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2 * FORMATS.len(), "nothing else is left behind");
}

#[test]
fn names_and_texts_are_kept_where_there_is_a_place_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let iris = embedded("iris").unwrap();
    for (format, name) in FORMATS {
        let path = folder.path().join(format!("iris.{name}"));
        let written = write(&path, format, std::slice::from_ref(&iris));
        if format == Format::Npy {
            let error = written.unwrap_err();
            assert!(error.to_string().starts_with("the label \"setosa\" is no number"), "{error}");
            assert!(!path.exists());
            continue;
        }
        let back = read_path(&path, &ReadOptions::default()).unwrap();
        assert_eq!(rows(&back), rows(&iris), "{name}");
        match format {
            Format::Libsvm | Format::Npz => assert_eq!((written.unwrap(), back.names()), (vec!["column names"], None)),
            _ => assert_eq!((written.unwrap(), back.names()), (vec![], iris.names()), "{name}"),
        }
    }
}

#[test]
fn what_a_format_has_no_place_for_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let data = Dataset::new(Matrix::dense(2, 1, vec![1.0, 2.0]).unwrap(), Labels::new(["+1", "-1"].map(Label::new)))
        .and_then(|data| data.with_weights(vec![1.0, 2.0]))
        .and_then(|data| data.with_groups(vec![1, 2]))
        .and_then(|data| data.with_names(vec!["x".into()]))
        .unwrap();
    let lost = |format| write(&folder.path().join("t"), format, std::slice::from_ref(&data)).unwrap();
    assert_eq!(lost(Format::Libsvm), ["column names", "weights"]);
    assert_eq!(lost(Format::Csv), ["weights", "group numbers"]);
    assert_eq!(lost(Format::Parquet), ["weights", "group numbers"]);
    assert_eq!(lost(Format::Arrow), ["weights", "group numbers"]);
    assert_eq!(lost(Format::Npz), ["column names", "weights", "group numbers"]);
    assert_eq!(lost(Format::Npy), ["column names", "weights", "group numbers", "the spelling of labels"]);
    assert!(lost(Format::Cache).is_empty());
}

#[test]
fn blocks_joined_are_the_file_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let data = numeric();
    let parts = [data.select_rows(&[0, 1]), data.select_rows(&[2]), data.select_rows(&[3])];
    let options = ReadOptions::default();
    for (format, name) in FORMATS {
        let path = folder.path().join(format!("t.{name}"));
        write(&path, format, &parts).unwrap();
        assert_eq!(rows(&read_path(&path, &options).unwrap()), rows(&data), "{name}");
        let found: Vec<Dataset> = Blocks::open(&path, &options).unwrap().collect::<Result<_, _>>().unwrap();
        let joined: Vec<_> = found.iter().flat_map(rows).collect();
        assert_eq!(joined, rows(&data), "{name}");
        let bytes = fs::read(&path).unwrap();
        let blocks = Blocks::from_source(std::io::Cursor::new(bytes), &format!("t.{name}"), &options).unwrap();
        let found: Vec<Dataset> = blocks.collect::<Result<_, _>>().unwrap();
        assert_eq!(found.iter().flat_map(rows).collect::<Vec<_>>(), rows(&data), "{name}");
    }
}

#[test]
fn sparse_data_stays_sparse_on_the_way_through_tables() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = Matrix::sparse(3, 5, vec![0, 1, 1, 2], vec![1, 4], vec![0.5, 2.0]).unwrap();
    let data = Dataset::new(matrix, Labels::new(["1", "2", "1"].map(Label::new))).unwrap();
    for (format, name) in FORMATS {
        let path = folder.path().join(format!("t.{name}"));
        write(&path, format, std::slice::from_ref(&data)).unwrap();
        let back = read_path(&path, &ReadOptions::default()).unwrap();
        assert!(matches!(back.matrix(), Matrix::Sparse(_)), "{name}");
        assert_eq!(back.fingerprint(), data.fingerprint(), "{name}");
    }
}

#[test]
fn the_label_and_the_columns_are_chosen_by_name_or_number() {
    let folder = tempfile::tempdir().unwrap();
    let data = numeric();
    let (npy, parquet) = (folder.path().join("t.npy"), folder.path().join("t.parquet"));
    let arrow = folder.path().join("t.arrow");
    write(&arrow, Format::Arrow, &[embedded("iris").unwrap()]).unwrap();
    write(&npy, Format::Npy, std::slice::from_ref(&data)).unwrap();
    write(&parquet, Format::Parquet, &[embedded("iris").unwrap()]).unwrap();
    let options = |label: Option<&str>, columns: Option<&[&str]>, answers: AnswerKind| ReadOptions {
        label: label.map(String::from),
        columns: columns.map(|columns| columns.iter().map(|&name| name.into()).collect()),
        answers,
        ..ReadOptions::default()
    };
    let found = read_path(&npy, &options(Some("1"), None, AnswerKind::Classes)).unwrap();
    assert_eq!((found.labels().unwrap().get(0).text(), found.matrix().row(0)), ("0.1", vec![-1e300, 5e-324, -1.0]));
    let found = read_path(&npy, &options(None, Some(&["3", "1"]), AnswerKind::Classes)).unwrap();
    assert_eq!(
        (found.names().unwrap(), found.matrix().row(0)),
        (&["3".to_string(), "1".into()][..], vec![5e-324, 0.1])
    );
    assert_eq!(read_path(&npy, &options(None, None, AnswerKind::None)).unwrap().columns(), 4);
    for table in [&parquet, &arrow] {
        let found = read_path(table, &options(None, Some(&["petal_width"]), AnswerKind::Classes)).unwrap();
        assert_eq!((found.columns(), found.labels().unwrap().get(0).text()), (1, "setosa"));
        let found = read_path(table, &options(Some("petal_width"), Some(&["1"]), AnswerKind::Classes)).unwrap();
        assert_eq!((found.matrix().row(0), found.labels().unwrap().get(0).text()), (vec![5.1], "0.2"));
    }
    for (path, options, what) in [
        (&npy, options(Some("9"), None, AnswerKind::Classes), "there is no column \"9\""),
        (&npy, options(None, Some(&["1", "1"]), AnswerKind::Classes), "asked for twice"),
        (&npy, options(None, Some(&["4"]), AnswerKind::Classes), "is the label and also"),
        (&parquet, options(Some("colour"), None, AnswerKind::Classes), "there is no column \"colour\""),
        (&parquet, options(Some("1"), None, AnswerKind::Classes), "found texts in column \"label\""),
        (&arrow, options(Some("colour"), None, AnswerKind::Classes), "there is no column \"colour\""),
        (&arrow, options(Some("1"), None, AnswerKind::Classes), "found texts in column \"label\""),
    ] {
        let error = read_path(path, &options).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn damaged_npz_and_arrow_files_are_refused_or_read_and_never_more() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in [(Format::Npz, "t.npz"), (Format::Arrow, "t.arrow"), (Format::ArrowStream, "t.arrows")] {
        let path = folder.path().join(name);
        write(&path, format, &[numeric()]).unwrap();
        let bytes = fs::read(&path).unwrap();
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        for length in 0..bytes.len() {
            let read = read_bytes(&bytes[..length], name, &options);
            // A stream may end after any of its messages, so that without the last eight bytes it is still whole.
            let whole = format == Format::ArrowStream && length == bytes.len() - 8;
            assert_eq!(read.is_ok(), whole, "the first {length} bytes of {name}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = read_bytes(&damaged, name, &options) {
                assert!(!error.to_string().contains('\n') && !error.help().is_empty(), "bit {bit}: {error}");
            }
        }
    }
}

#[test]
fn damaged_parquet_files_are_refused_or_read_and_never_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, Format::Parquet, &[numeric()]).unwrap();
    let bytes = fs::read(&path).unwrap();
    let options = ReadOptions { format: Some(Format::Parquet), ..ReadOptions::default() };
    for length in 0..bytes.len() {
        assert!(read_bytes(&bytes[..length], "t.parquet", &options).is_err(), "the first {length} bytes");
    }
    // Parquet has checksums for some of its bytes only: a flipped bit may go unnoticed, but does no harm.
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Err(error) = read_bytes(&damaged, "t.parquet", &options) {
            assert!(!error.to_string().contains('\n') && !error.help().is_empty(), "bit {bit}");
        }
    }
}

#[test]
fn text_that_begins_like_a_parquet_file_is_text() {
    let data = read_bytes(b"PAR1 1:2\nb 1:3\n", "t", &ReadOptions::default()).unwrap();
    assert_eq!(data.labels().unwrap().get(0).text(), "PAR1");
}
