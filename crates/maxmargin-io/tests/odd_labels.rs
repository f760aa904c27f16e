//! What is written reads back as it was, whatever bytes labels and names have; where a format cannot hold them, that is said
//! and nothing is written.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin_io::{DataWriter, Error, Format, ReadOptions, read_path};
use proptest::collection::{hash_set, vec};
use proptest::prelude::*;

const FORMATS: [(Format, &str); 11] = [
    (Format::Libsvm, "libsvm"),
    (Format::Libsvm, "svm"),
    (Format::Libsvm, "txt"),
    (Format::Csv, "csv"),
    (Format::Csv, "tsv"),
    (Format::Npy, "npy"),
    (Format::Npz, "npz"),
    (Format::Parquet, "parquet"),
    (Format::Arrow, "arrow"),
    (Format::ArrowStream, "arrows"),
    (Format::Cache, "mmc"),
];

/// Texts that are hard to write.
fn odd() -> impl Strategy<Value = String> {
    let known = [
        "",
        " ",
        "label",
        "label_",
        "1",
        "1.0",
        "+1",
        "-0",
        "1e400",
        "nan",
        "NA",
        "?",
        "inf",
        "a b",
        " a",
        "a ",
        "\ta",
        "a\u{a0}",
        "\u{85}",
        "\u{feff}",
        "\u{feff}a",
        "maxmargin-cache",
        "BZh91AY&SY",
        "PAR1",
        "PK\u{3}\u{4}",
        "a,b",
        "a;b",
        "a\"b",
        "\"",
        "\"\"",
        "a\nb",
        "a\rb",
        "\r\n",
        "a:b",
        "qid:1",
        "#a",
        "a#b",
        "1,5",
        "x=y",
        "\u{7f}",
        "a\0b",
        "a\0",
        "\0",
        "\u{1}",
        "\u{1f}",
        "\u{9b}31m",
        "\u{1b}[2J",
        "\u{2028}",
        "ü",
        "-",
        "'",
        "\\",
        "\\n",
    ];
    prop_oneof![
        3 => prop::sample::select(known.to_vec()).prop_map(String::from),
        1 => vec(prop_oneof![any::<char>(), prop::char::range('\0', '\u{ff}')], 0..4).prop_map(String::from_iter),
    ]
}

fn data() -> impl Strategy<Value = Dataset> {
    (1usize..5, 0usize..4, any::<bool>()).prop_flat_map(|(rows, columns, has_names)| {
        let values = vec(prop_oneof![Just(0.0), Just(1.0), Just(-2.5)], rows * columns);
        (values, vec(odd(), rows), hash_set(odd(), columns)).prop_map(move |(values, labels, names)| {
            let matrix = Matrix::dense(rows, columns, values).unwrap();
            let data = Dataset::new(matrix, Labels::new(labels.into_iter().map(Label::new))).unwrap();
            match has_names.then(|| data.clone().with_names(names.into_iter().collect())) {
                Some(Ok(named)) => named,
                _ => data,
            }
        })
    })
}

fn check(data: &Dataset) -> Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for (format, ending) in FORMATS {
        let path = folder.path().join(format!("t.{ending}"));
        let write = || {
            let mut writer = DataWriter::create(&path, format)?;
            writer.push(data)?;
            writer.finish()
        };
        match write() {
            Ok(_) => {}
            Err(Error::NotWritable { .. }) => {
                refused += 1;
                assert!(!path.exists(), "{ending}");
                continue;
            }
            Err(other) => return Err(format!("{ending}: {other}")),
        }
        // Rows of only a label are known for LIBSVM text by the name alone.
        let format = (ending == "txt" && data.columns() == 0).then_some(Format::Libsvm);
        let found = read_path(&path, &ReadOptions { format, ..ReadOptions::default() });
        let found = found.map_err(|error| format!("{ending}: {error}"))?;
        let names = !matches!(ending, "libsvm" | "svm" | "txt" | "npy" | "npz");
        if names && found.names() != data.names() {
            return Err(format!("{ending}: {:?} and {:?}", found.names(), data.names()));
        }
        if (found.rows(), found.columns()) != (data.rows(), data.columns()) {
            return Err(format!("{ending}: {} x {}", found.rows(), found.columns()));
        }
        for row in 0..data.rows() {
            let [own, other] =
                [data, &found].map(|data| (data.matrix().row(row), data.labels().unwrap().get(row).clone()));
            // Spellings of a number are one label.
            let same = own.1.number().is_some() || own.1.text() == other.1.text();
            if own != other || !same {
                return Err(format!("{ending}: {own:?} and {other:?}"));
            }
        }
    }
    Ok(refused)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn labels_and_names_of_any_bytes_read_back_equal_or_are_refused(data in data()) {
        let checked = check(&data);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

#[test]
fn labels_with_control_bytes_are_held_by_every_format_that_has_texts() {
    for label in ["\u{1}", "a\u{7f}b", "\u{1b}[2J", "x\u{1f}", "a\u{9b}"] {
        let matrix = Matrix::dense(2, 1, vec![1.0, 2.0]).unwrap();
        let data = Dataset::new(matrix, Labels::new([label, "b"].map(Label::new))).unwrap();
        // npy alone holds numbers only.
        assert_eq!(check(&data), Ok(1), "{label:?}");
    }
}
