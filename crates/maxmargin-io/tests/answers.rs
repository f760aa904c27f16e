//! Labels, numbers or nothing: what is asked for is what is read, from every format.
#![allow(clippy::unwrap_used)] // a test may end here

use std::path::Path;

use maxmargin::Workers;
use maxmargin::data::{AnswerKind, Answers, Dataset, Label, Labels, Matrix};
use maxmargin_io::{Blocks, DataWriter, Format, ReadOptions, Reader, read_bytes, read_path};
use tempfile::tempdir;

const FILES: [(&str, Format); 8] = [
    ("t.svm", Format::Libsvm),
    ("t.csv", Format::Csv),
    ("t.npy", Format::Npy),
    ("t.npz", Format::Npz),
    ("t.parquet", Format::Parquet),
    ("t.arrow", Format::Arrow),
    ("t.arrows", Format::ArrowStream),
    ("t.mmc", Format::Cache),
];

const TARGETS: [f64; 6] = [0.1, -1e300, 5e-324, 3.0, 0.0, 0.1 + 0.2];

fn asked(answers: AnswerKind) -> ReadOptions {
    ReadOptions { answers, ..ReadOptions::default() }
}

fn rows() -> Matrix {
    Matrix::dense(6, 2, (1..=12).map(|k| f64::from(k) * 0.37).collect::<Vec<f64>>()).unwrap()
}

fn write(path: &Path, format: Format, data: &Dataset) {
    let mut writer = DataWriter::create(path, format).unwrap();
    writer.push(&data.select_rows(&[0, 1, 2])).unwrap();
    writer.push(&data.select_rows(&[3, 4, 5])).unwrap();
    assert_eq!(writer.finish().unwrap(), 6);
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn numbers_come_back_to_the_bit_from_every_format() {
    let folder = tempdir().unwrap();
    let data = Dataset::new(rows(), TARGETS.to_vec()).unwrap();
    for (name, format) in FILES {
        let path = folder.path().join(name);
        write(&path, format, &data);
        let options = asked(AnswerKind::Numbers);
        let back = read_path(&path, &options).unwrap();
        assert_eq!(bits(back.answers().numbers().unwrap()), bits(&TARGETS), "{name}");
        assert_eq!(back.fingerprint(), data.fingerprint(), "{name}");
        let blocks = Blocks::open(&path, &options).unwrap();
        let found: Vec<f64> = blocks.flat_map(|block| block.unwrap().numbers().unwrap().into_owned()).collect();
        assert_eq!(bits(&found), bits(&TARGETS), "{name}");
        let labels = read_path(&path, &asked(AnswerKind::Classes)).unwrap();
        assert_eq!(bits(&labels.numbers().unwrap()), bits(&TARGETS), "{name}");
        assert_eq!(labels.fingerprint(), data.fingerprint(), "{name}");
    }
}

#[test]
fn labels_that_are_numbers_in_words_are_read_as_numbers_from_every_format() {
    let folder = tempdir().unwrap();
    let labels = Labels::new(["1.50", "+2", "-3e0", "1.5", "0", "7"].map(Label::new));
    for (name, format) in FILES {
        let path = folder.path().join(name);
        write(&path, format, &Dataset::new(rows(), labels.clone()).unwrap());
        let back = read_path(&path, &asked(AnswerKind::Numbers)).unwrap();
        assert_eq!(back.answers(), &Answers::Numbers(vec![1.5, 2.0, -3.0, 1.5, 0.0, 7.0]), "{name}");
    }
}

#[test]
fn rows_without_answers_come_back_without_from_every_format() {
    let folder = tempdir().unwrap();
    let data = Dataset::unlabelled(rows());
    for (name, format) in FILES {
        let path = folder.path().join(name);
        write(&path, format, &data);
        let back = read_path(&path, &asked(AnswerKind::None)).unwrap();
        assert!(back.answers().is_none(), "{name}");
        assert_eq!((back.columns(), back.fingerprint()), (2, data.fingerprint()), "{name}");
    }
}

#[test]
fn rows_whose_answers_are_of_another_kind_are_refused() {
    let folder = tempdir().unwrap();
    let numbers = Dataset::new(rows(), TARGETS.to_vec()).unwrap();
    for (name, format) in FILES {
        let mut writer = DataWriter::create(&folder.path().join(name), format).unwrap();
        writer.push(&numbers).unwrap();
        let error = writer.push(&Dataset::unlabelled(rows())).unwrap_err();
        assert_eq!(error.to_string(), "the answers of row 7 are not like those of the rows before it", "{name}");
    }
}

#[test]
fn a_number_to_learn_that_is_none_is_told_with_its_place() {
    let folder = tempdir().unwrap();
    let help = "name another label column, or choose task classification";
    for (name, text, message) in [
        ("t.svm", "1.5 1:1\n tall 1:2\n", "t.svm:2:2: found \"tall\", expected a number to learn"),
        ("t.svm", "1.5 1:1\n2 1:1\nnan 1:2\n", "t.svm:3:1: found \"nan\", expected a number to learn"),
        ("t.csv", "a,y\n1,2\n3,\"tall\"\n", "t.csv:3:3: found \"tall\" in column 2 \"y\", expected a number to learn"),
        ("t.csv", "a,y\n1,2\n3,1e999\n", "t.csv:3:3: found \"1e999\" in column 2 \"y\", expected a number to learn"),
    ] {
        let error = read_bytes(text.as_bytes(), name, &asked(AnswerKind::Numbers)).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
    }
    let error = read_bytes(b"a,y\n1,2\n3,\n", "t.csv", &asked(AnswerKind::Numbers)).unwrap_err();
    assert_eq!(error.to_string(), "t.csv:3:3: found an empty cell in column 2 \"y\", expected a label");
    let words = Labels::new(["1", "2", "tall", "4", "5", "6"].map(Label::new));
    for (name, format) in [("t.parquet", Format::Parquet), ("t.arrow", Format::Arrow), ("t.npz", Format::Npz)] {
        let path = folder.path().join(name);
        write(&path, format, &Dataset::new(rows(), words.clone()).unwrap());
        let error = read_path(&path, &asked(AnswerKind::Numbers)).unwrap_err();
        assert!(error.to_string().contains("found \"tall\" in row 3, column"), "{error}");
        assert_eq!(error.help(), help);
    }
    let path = folder.path().join("t.mmc");
    write(&path, Format::Cache, &Dataset::new(rows(), words).unwrap());
    let error = read_path(&path, &asked(AnswerKind::Numbers)).unwrap_err();
    assert!(error.to_string().ends_with("the label \"tall\" of row 3 is not a number"), "{error}");
}

/// Numbers in all spellings, many blocks of them: read as numbers they are those that the labels spell, for any number of threads.
#[test]
fn numbers_are_those_that_labels_spell_however_many_threads_read_them() {
    let spell = |k: u32| match k % 7 {
        0 => format!("{}", k % 11),
        1 => format!("+{}.5", k),
        2 => format!("-{:.17}", f64::from(k).sin().abs()),
        3 => format!("{:e}", f64::from(k).cos() * 1e-200),
        4 => format!("{}.", k),
        5 => format!("{:.20}", f64::from(k).sqrt()),
        _ => format!(".{k}"),
    };
    let svm: String = (0..3000).map(|k| format!("{} {}:{}\n", spell(k), k % 9 + 1, k % 5 + 1)).collect();
    let csv: String = (0..3000).map(|k| format!("{},{},{}\n", k % 5, k % 3, spell(k))).collect();
    for (name, text) in [("t.svm", svm), ("t.csv", csv)] {
        let labels = read_bytes(text.as_bytes(), name, &asked(AnswerKind::Classes)).unwrap();
        let expected = bits(&labels.numbers().unwrap());
        assert_eq!(expected.len(), 3000);
        let options = asked(AnswerKind::Numbers);
        for threads in [1, 2, 3] {
            let workers = Workers::new(threads).unwrap();
            for block in [100, 1 << 12, 1 << 20] {
                let reader = Reader::new(&options).on(&workers).in_blocks_of(block);
                let found = reader.read_bytes(text.as_bytes(), name).unwrap();
                assert_eq!(bits(found.answers().numbers().unwrap()), expected, "{name} {threads} {block}");
            }
        }
    }
}

#[test]
fn numbers_to_learn_may_have_a_decimal_comma_where_others_have_one() {
    let found = read_bytes(b"0,5;1,25\n2;-3,5\n1,5;4\n", "t.csv", &asked(AnswerKind::Numbers)).unwrap();
    assert_eq!(found.answers(), &Answers::Numbers(vec![1.25, -3.5, 4.0]));
}

#[test]
fn a_table_without_a_label_column_has_no_answers() {
    let text = b"a,b\n1,2\n3,4\n";
    let data = read_bytes(text, "t.csv", &asked(AnswerKind::None)).unwrap();
    assert_eq!((data.columns(), data.answers()), (2, &Answers::None));
    let labelled = read_bytes(b"1 1:2\n-1 2:3\n", "t.svm", &asked(AnswerKind::None)).unwrap();
    assert!(labelled.answers().is_none());
}
