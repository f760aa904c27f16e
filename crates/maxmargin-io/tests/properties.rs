//! What holds for every file and every data set: no bytes make the reader panic, and what is written reads back.

use maxmargin::data::{AnswerKind, Dataset, Label, Labels, Matrix};
use maxmargin_io::{
    Categorical, Error, Format, KernelValues, ReadOptions, Reader, read_bytes, write_csv, write_libsvm,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Two data sets are the same: shape, numbers, labels as written, group numbers and names.
fn same(a: &Dataset, b: &Dataset) -> Result<(), String> {
    if (a.rows(), a.columns()) != (b.rows(), b.columns()) {
        return Err(format!("{} x {} and {} x {}", a.rows(), a.columns(), b.rows(), b.columns()));
    }
    if a.answers().kind() != b.answers().kind() {
        return Err(format!("{:?} and {:?}", a.answers().kind(), b.answers().kind()));
    }
    if let Some(row) = (0..a.rows()).find(|&row| a.answers().text(row) != b.answers().text(row)) {
        return Err(format!("row {row} is {:?} and {:?}", a.answers().text(row), b.answers().text(row)));
    }
    if let (Some(first), Some(second)) = (a.answers().labels(), b.answers().labels())
        && first.codes() != second.codes()
    {
        return Err(format!("labels {first:?} and {second:?}"));
    }
    if (a.groups(), a.names()) != (b.groups(), b.names()) {
        return Err(format!("{:?} {:?} and {:?} {:?}", a.groups(), a.names(), b.groups(), b.names()));
    }
    match (0..a.rows()).find(|&row| a.matrix().row(row) != b.matrix().row(row)) {
        Some(row) => Err(format!("{:?} and {:?}", a.matrix().row(row), b.matrix().row(row))),
        None => Ok(()),
    }
}

/// What is known of a row; labels are equal as numbers are.
fn answer(data: &Dataset, row: usize) -> Option<Label> {
    data.answers().text(row).map(Label::new)
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let names = || prop_oneof![Just("1"), Just("2"), Just("0"), Just("a"), Just("b")].prop_map(String::from);
    (
        prop_oneof![Just(None), Just(Some(Format::Libsvm)), Just(Some(Format::Csv))],
        (
            any::<bool>(),
            prop_oneof![Just(AnswerKind::Classes), Just(AnswerKind::Numbers), Just(AnswerKind::None)],
            any::<bool>(),
        ),
        proptest::option::of(any::<bool>()),
        proptest::option::of(names()),
        proptest::option::weighted(0.2, vec(names(), 0..3)),
        proptest::option::weighted(0.3, prop_oneof![Just(KernelValues::Training), Just(KernelValues::New)]),
    )
        .prop_map(|(format, (zero_based, answers, categorical), header, label, columns, kernel_values)| {
            ReadOptions {
                format,
                zero_based,
                label,
                answers,
                header,
                categorical: if categorical { Categorical::Words } else { Categorical::None },
                columns,
                kernel_values,
                ..ReadOptions::default()
            }
        })
}

/// Pieces of files, so that faults deep in a file are reached too.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => "[0-9]{1,3}:[0-9.e-]{0,4} ",
        4 => "[ab,;\t\"\n\r#:? -]{1,3}",
        4 => "[0-9]{1,2}[,;\t]",
        3 => Just("\n".to_string()),
        1 => Just("1 qid:2 ".to_string()),
        1 => Just("NA,nan,inf,".to_string()),
        1 => Just("\"a\"\"b\n\",".to_string()),
        1 => prop_oneof![Just("\"\""), Just(",\n"), Just("\"\"\n"), Just("\r"), Just(",,"), Just("\"")].prop_map(String::from),
        1 => Just("\u{feff}".to_string()),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        2 => (-1000i32..1000).prop_map(|number| f64::from(number) / 8.0),
        2 => any::<f64>().prop_filter("finite", |number| number.is_finite()),
        1 => prop_oneof![Just(f64::MAX), Just(f64::MIN_POSITIVE), Just(5e-324), Just(0.1 + 0.2), Just(1e17), Just(-1e-5)],
    ]
}

/// Data of 1 to 6 rows and `smallest` to 5 columns with labels of this pattern, dense or sparse.
fn data(smallest: usize, label: &'static str) -> impl Strategy<Value = Dataset> {
    (1usize..7, smallest..6, any::<bool>()).prop_flat_map(move |(rows, columns, dense)| {
        (vec(number(), rows * columns), vec(label, rows)).prop_map(move |(values, labels)| {
            let matrix = Matrix::dense(rows, columns, values).expect("finite numbers");
            let matrix = if dense { matrix } else { matrix.to_sparse() };
            Dataset::new(matrix, Labels::new(labels.into_iter().map(Label::new))).expect("a label a row")
        })
    })
}

fn written(write: impl Fn(&Dataset, &mut Vec<u8>) -> Result<(), Error>, data: &Dataset) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(data, &mut bytes).expect("labels that can be written");
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in vec(any::<u8>(), 0..200), options in options()) {
        let _ = read_bytes(&bytes, "data", &options);
    }

    #[test]
    fn no_pieces_of_files_make_the_reader_panic(bytes in pieces(), options in options()) {
        if let Err(error) = read_bytes(&bytes, "data", &options) {
            let (message, help) = (error.to_string(), error.help());
            prop_assert!(message.starts_with("data:"), "{}", message);
            prop_assert!(!help.is_empty() && !(message + &help).chars().any(char::is_control));
        }
    }

    #[test]
    fn pieces_of_files_read_the_same_whole_and_in_blocks_of_any_size(bytes in pieces(), options in options(), size in 1usize..40) {
        let options = ReadOptions { categorical: Categorical::None, ..options };
        let whole = read_bytes(&bytes, "data", &options);
        let small = Reader::new(&options).in_blocks_of(size).read_bytes(&bytes, "data");
        prop_assert_eq!(whole.as_ref().err(), small.as_ref().err());
        if let (Ok(whole), Ok(small)) = (&whole, &small) {
            same(whole, small).map_err(TestCaseError::fail)?;
        }
        if options.kernel_values == Some(KernelValues::Training) {
            return Ok(());
        }
        let blocks = Reader::new(&options).in_blocks_of(size).blocks_of_source(&bytes[..], "data");
        let blocks = blocks.and_then(|blocks| blocks.collect::<Result<Vec<_>, _>>());
        // Which columns a broken table of kernel values has is counted differently in blocks: both are refused.
        if options.kernel_values.is_some() && options.columns.is_some() {
            prop_assert_eq!(whole.is_err(), blocks.is_err());
            return Ok(());
        }
        prop_assert_eq!(whole.as_ref().err(), blocks.as_ref().err());
        if let (Ok(whole), Ok(blocks)) = (&whole, &blocks) {
            let mut row = 0;
            for block in blocks {
                for place in 0..block.data.rows() {
                    let (mut own, all) = (block.data.matrix().row(place), whole.matrix().row(row));
                    own.resize(all.len(), 0.0);
                    prop_assert_eq!((own, answer(&block.data, place)), (all, answer(whole, row)));
                    row += 1;
                }
                prop_assert_eq!(block.data.names(), whole.names());
            }
            prop_assert_eq!(row, whole.rows());
        }
    }

    #[test]
    fn libsvm_text_reads_back(data in data(0, "[+-]?[0-9]{1,2}|[a-z,]{1,3}|[0-9]\\.[05]"), groups in proptest::option::of(vec(any::<i64>(), 6))) {
        let data = match groups {
            Some(groups) => data.clone().with_groups(groups[..data.rows()].to_vec()).unwrap(),
            None => data,
        };
        // Labels with commas and no column at all are taken for CSV.
        if data.columns() == 0 && data.labels().unwrap().classes().iter().any(|label| label.text().contains(',')) {
            return Ok(());
        }
        let options = ReadOptions { format: Some(Format::Libsvm), ..ReadOptions::default() };
        let back = read_bytes(&written(write_libsvm, &data), "data", &options).unwrap();
        same(&data, &back).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn csv_reads_back(
        data in data(1, "[+-]?[0-9]{1,2}|[a-z\"]([a-z ,;\t\"\r\n]{0,3}[a-z\"])?|label"),
        names in proptest::option::of(vec("[a-zA-Z\"_]([a-z ,;\t\"\r\n=]{0,3}[a-z0-9])?|[0-9]{1,3}", 5)),
    ) {
        // Words that say that a value is missing are no labels: writing refuses them.
        let missing = |label: &Label| ["nan", "null"].contains(&label.text());
        if data.labels().unwrap().classes().iter().any(missing) {
            return Ok(());
        }
        // Names that repeat are left out; columns get numbers for names when the first row would read as a header.
        let numbers = || (1..=data.columns()).map(|column| column.to_string()).collect::<Vec<_>>();
        let numbered = (data.labels().unwrap().get(0).text() == "label").then(numbers);
        let with_names = |names: Vec<String>| data.clone().with_names(names[..data.columns()].to_vec()).ok();
        let named = names.and_then(with_names).or_else(|| numbered.and_then(with_names));
        let data = named.unwrap_or(data);
        let back = read_bytes(&written(write_csv, &data), "data.csv", &ReadOptions::default());
        let back = back.map_err(|error| TestCaseError::fail(error.to_string()))?;
        same(&data, &back).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_fault_in_a_table_is_told_with_its_place(
        cells in vec(vec("[0-9]{1,3}|\"[0-9]{1,2}\"| [0-9]\\.5 ", 3), 2..6),
        labels in vec("[a-z]|ü|\"[a-zü,\n]{1,4}b\"|\"\"\"x\"", 6),
        ends in vec("\n|\r\n|\n\n|\r\n\r\n\n", 6),
        (row, column, quoted) in (0usize..6, 0usize..3, any::<bool>()),
    ) {
        let row = row % cells.len();
        let mut text = String::from("first,second,third,kind\n");
        let mut place = (0, 0);
        for (number, line) in cells.iter().enumerate() {
            for (other, cell) in line.iter().enumerate() {
                if (number, other) == (row, column) {
                    let start = text.rfind('\n').map_or(0, |end| end + 1);
                    place = (text.matches('\n').count() + 1, text[start..].chars().count() + 1);
                    text.push_str(if quoted { "\"zz\"" } else { "zz" });
                } else {
                    text.push_str(cell);
                }
                text.push(',');
            }
            text.push_str(&labels[number]);
            text.push_str(&ends[number]);
        }
        let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
        let error = read_bytes(text.as_bytes(), "data.csv", &options).unwrap_err().to_string();
        let expected = format!("data.csv:{}:{}: found \"zz\" in column {} ", place.0, place.1, column + 1);
        prop_assert!(error.starts_with(&expected), "{} but {} in {:?}", error, expected, text);
    }
}

#[test]
fn the_comparison_of_data_sets_can_fail() {
    let read = |text: &str| read_bytes(text.as_bytes(), "data.csv", &ReadOptions::default()).unwrap();
    let one = read("x,k\n1,a\n2,b\n");
    assert_eq!(same(&one, &read("x,k\n1,a\n2,b\n")), Ok(()));
    for other in ["x,k\n1,a\n3,b\n", "x,k\n1,a\n2,a\n", "y,k\n1,a\n2,b\n", "x,k\n1,a\n", "1,a\n2,b\n"] {
        assert!(same(&one, &read(other)).is_err(), "{other:?}");
    }
}

#[test]
fn a_first_label_that_says_label_does_not_lose_its_row() {
    let matrix = Matrix::dense(2, 1, vec![1.0, 2.0]).unwrap();
    let data = Dataset::new(matrix, Labels::new(["label", "other"].map(Label::new))).unwrap();
    let back = read_bytes(&written(write_csv, &data), "data.csv", &ReadOptions::default()).unwrap();
    same(&data, &back).unwrap();
}
