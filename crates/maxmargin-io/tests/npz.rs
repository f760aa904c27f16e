//! npz files: those that NumPy and SciPy wrote themselves, and those that do not read.
#![allow(clippy::unwrap_used)] // a test may end here

use std::io::{Cursor, Write};

use maxmargin::data::{AnswerKind, Dataset, Matrix};
use maxmargin_io::{DataWriter, Error, Format, ReadOptions, read_bytes, read_path};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An array as NumPy saves it.
fn npy(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), elements].concat()
}

fn doubles(shape: &str, numbers: &[f64]) -> Vec<u8> {
    npy("<f8", shape, &numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

fn wholes(numbers: &[i32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", numbers.len()), &bytes)
}

fn zipped(members: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        out.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method)).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap().into_inner()
}

fn stored(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    zipped(members, CompressionMethod::Stored)
}

/// Two rows of two columns.
fn table() -> (&'static str, Vec<u8>) {
    ("X", doubles("(2, 2)", &[1.0, 2.0, 3.0, 4.0]))
}

fn labels() -> (&'static str, Vec<u8>) {
    ("y", doubles("(2,)", &[1.0, -1.0]))
}

/// The arrays of a sparse matrix of two rows and four columns, with labels; one of them replaced.
fn sparse(replaced: &str, by: Vec<u8>) -> Vec<u8> {
    let mut members = vec![
        ("indices", wholes(&[3, 1, 0])),
        ("indptr", wholes(&[0, 2, 3])),
        ("format", npy("|S3", "()", b"csr")),
        ("shape", wholes(&[2, 4])),
        ("data", doubles("(3,)", &[0.5, 2.0, -1.0])),
        labels(),
    ];
    members.iter_mut().filter(|(name, _)| *name == replaced).for_each(|(_, bytes)| bytes.clone_from(&by));
    stored(&members)
}

fn read(bytes: &[u8]) -> Result<Dataset, Error> {
    read_bytes(bytes, "t.npz", &ReadOptions::default())
}

fn texts(data: &Dataset) -> Vec<String> {
    (0..data.rows()).map(|row| data.labels().unwrap().get(row).text().to_string()).collect()
}

#[test]
fn files_of_numpy_and_scipy_read_as_they_are() {
    let rows = [[1.5, 0.0, -2.0], [0.0, 0.25, 0.0], [3.0, 4.0, 5.0], [0.0, 0.0, 1e-3]];
    let data = read(include_bytes!("peers/numpy.npz")).unwrap();
    assert!((0..4).all(|row| data.matrix().row(row) == rows[row]));
    assert_eq!(texts(&data), ["1", "-1", "1", "2"]);
    let data = read(include_bytes!("peers/numpy_compressed.npz")).unwrap();
    assert!((0..4).all(|row| data.matrix().row(row) == rows[row].map(|value| f64::from(value as f32))));
    assert_eq!(texts(&data), ["ja", "nein", "ja", "größer"]);
    let data = read(include_bytes!("peers/scipy_with_y.npz")).unwrap();
    assert!((0..4).all(|row| data.matrix().row(row) == rows[row]));
    assert_eq!(texts(&data), ["1", "-1", "1", "2"]);
    let unlabelled = ReadOptions { answers: AnswerKind::None, ..ReadOptions::default() };
    let data = read_bytes(include_bytes!("peers/scipy_csr.npz"), "t.npz", &unlabelled).unwrap();
    assert!(matches!(data.matrix(), Matrix::Sparse(_)));
    assert_eq!((data.columns(), data.matrix().row(0)), (5, vec![0.0, 0.0, 2.5, 0.0, 0.0]));
}

#[test]
fn columns_of_a_sparse_row_need_not_be_sorted() {
    let data = read(&sparse("", Vec::new())).unwrap();
    assert_eq!((data.matrix().row(0), data.matrix().row(1)), (vec![0.0, 2.0, 0.0, 0.5], vec![-1.0, 0.0, 0.0, 0.0]));
    assert_eq!(texts(&data), ["1", "-1"]);
}

#[test]
fn labels_are_numbers_or_texts_and_any_array_that_is_named() {
    for (y, expected) in [
        (wholes(&[7, -7]), ["7", "-7"]),
        (doubles("(2, 1)", &[0.5, 2.0]), ["0.5", "2"]),
        (npy("|b1", "(2,)", &[1, 0]), ["1", "0"]),
        (npy("|S3", "(2,)", b"ab\0c\0\0"), ["ab", "c"]),
        (npy("<U1", "(2,)", b"\xfc\0\0\0b\0\0\0"), ["ü", "b"]),
        (npy(">U1", "(2,)", b"\0\0\0\xfc\0\0\0b"), ["ü", "b"]),
    ] {
        assert_eq!(texts(&read(&stored(&[table(), ("target", y)])).unwrap()), expected);
    }
    let both = stored(&[table(), labels(), ("other", wholes(&[5, 6]))]);
    let options = ReadOptions { label: Some("other".into()), ..ReadOptions::default() };
    assert_eq!(texts(&read_bytes(&both, "t.npz", &options).unwrap()), ["5", "6"]);
    let options = ReadOptions { columns: Some(vec!["2".into()]), ..ReadOptions::default() };
    assert_eq!(read_bytes(&both, "t.npz", &options).unwrap().matrix().row(1), [4.0]);
}

#[test]
fn labels_keep_their_spelling_and_the_same_data_make_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let csv = read_bytes(b"a,kind\n1,+1\n2,yes\n3,007\n", "t.csv", &ReadOptions::default()).unwrap();
    let files = ["one.npz", "two.npz"].map(|name| {
        let path = folder.path().join(name);
        let mut writer = DataWriter::create(&path, Format::Npz).unwrap();
        writer.push(&csv.select_rows(&[0])).unwrap();
        writer.push(&csv.select_rows(&[1, 2])).unwrap();
        assert_eq!(writer.finish().unwrap(), 3);
        assert_eq!(texts(&read_path(&path, &ReadOptions::default()).unwrap()), ["+1", "yes", "007"]);
        std::fs::read(path).unwrap()
    });
    assert_eq!(files[0], files[1]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn what_does_not_read_is_said_with_its_array_and_the_way_out() {
    let whole = stored(&[table(), labels()]);
    let flipped = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x40;
        bytes
    };
    let at = whole.windows(8).position(|part| part == 4.0f64.to_le_bytes()).unwrap();
    let mut twice = stored(&[table(), ("Y", labels().1), labels()]);
    let places: Vec<usize> = (0..twice.len() - 5).filter(|&k| &twice[k..k + 5] == b"Y.npy").collect();
    places.into_iter().for_each(|place| twice[place] = b'y');
    let two = |first: (&str, Vec<u8>), second: (&str, Vec<u8>)| stored(&[first, second]);
    let with_x = |bytes: Vec<u8>| two(("X", bytes), labels());
    let with_y = |bytes: Vec<u8>| two(table(), ("y", bytes));
    let again = "numpy.savez(file, X=X, y=y) once more";
    for (name, bytes, what, help) in [
        ("cut", whole[..whole.len() - 30].to_vec(), "t.npz: found an npz file that cannot be read (", again),
        ("checksum", flipped(at), "t.npz/X.npy: found an npz file that cannot be read (\"Invalid checksum", again),
        ("no table", stored(&[labels()]), "t.npz: found the arrays \"y\", expected a table X, x or data", "save_npz"),
        (
            "no labels",
            stored(&[table()]),
            "found the arrays \"X\", expected labels called y, labels or target",
            "unlabelled",
        ),
        (
            "two tables",
            stored(&[table(), ("data", table().1), labels()]),
            "the arrays \"X\", \"data\" for the features, expected one",
            "leave the others out",
        ),
        (
            "two labels",
            stored(&[table(), labels(), ("target", labels().1)]),
            "\"y\", \"target\" for the labels",
            "other names",
        ),
        ("one name twice", twice, "found an npz file with 3 members of 2 names, expected each array once", again),
        (
            "texts for numbers",
            with_x(npy("<U1", "(2, 1)", b"a\0\0\0b\0\0\0")),
            "t.npz/X.npy: found a NumPy array of \"<U1\"",
            "astype",
        ),
        ("objects", with_x(npy("|O", "(2, 2)", b"\x80\x04")), "t.npz/X.npy: found a NumPy array of \"|O\"", "astype"),
        ("complex", with_y(npy("<c16", "(2,)", &[0; 32])), "t.npz/y.npy: found a NumPy array of \"<c16\"", "astype"),
        (
            "three dimensions",
            with_x(doubles("(2, 1, 1)", &[1.0, 2.0])),
            "t.npz/X.npy: found a NumPy array of 3 dimensions",
            "reshape",
        ),
        (
            "huge shape",
            with_x(npy("<f8", "(9999999999999, 9999999)", &[0; 16])),
            "t.npz/X.npy: found 16 bytes of elements, expected the shape (9999999999999, 9999999)",
            again,
        ),
        (
            "short",
            with_x(doubles("(2, 2)", &[1.0, 2.0, 3.0])),
            "found 24 bytes of elements, expected the shape (2, 2) of elements of 8 bytes",
            again,
        ),
        ("no rows", with_x(doubles("(0, 2)", &[])), "found no rows, expected at least one", "at least one row"),
        ("no columns", with_x(doubles("(2, 0)", &[])), "t.npz/X.npy: found no columns", "at least one column"),
        (
            "NaN",
            with_x(doubles("(2, 1)", &[1.0, f64::NAN])),
            "t.npz/X.npy: the value in row 2, column 1 is NaN",
            "fill the value in",
        ),
        (
            "too few labels",
            with_y(wholes(&[1])),
            "t.npz/y.npy: found 1 labels, expected 2, one a row",
            "as many labels",
        ),
        (
            "labels of columns",
            with_y(doubles("(2, 2)", &[0.0; 4])),
            "t.npz/y.npy: found an array of the shape (2, 2)",
            "ravel",
        ),
        (
            "an infinite label",
            with_y(doubles("(2,)", &[1.0, f64::INFINITY])),
            "t.npz/y.npy: the value in row 2",
            "fill",
        ),
        (
            "no characters",
            with_y(npy("<U1", "(2,)", &[0xff; 8])),
            "t.npz/y.npy: found labels that are no text",
            "as text",
        ),
        (
            "no header",
            with_x(b"PK, no array".to_vec()),
            "t.npz/X.npy: found a NumPy array whose header does not read",
            "numpy.save",
        ),
        (
            "by columns",
            sparse("format", npy("|S3", "()", b"csc")),
            "t.npz/format.npy: found the format \"csc\"",
            "tocsr()",
        ),
        ("no format", sparse("format", npy("|S0", "(3,)", b"")), "t.npz/format.npy: found the format \"\"", "tocsr()"),
        ("three sizes", sparse("shape", wholes(&[2, 4, 1])), "t.npz/shape.npy: found 3 sizes, expected 2", again),
        ("no columns", sparse("shape", wholes(&[2, 0])), "t.npz/shape.npy: found 0 columns", "save_npz"),
        (
            "too many rows",
            sparse("shape", wholes(&[i32::MAX, 4])),
            "t.npz/indptr.npy: found 3 offsets, expected 2147483648",
            "save_npz",
        ),
        (
            "offsets back",
            sparse("indptr", wholes(&[0, 4, 3])),
            "t.npz/indptr.npy: found other offsets, expected offsets that increase from 0 to 3",
            "save_npz",
        ),
        ("offsets beyond", sparse("indptr", wholes(&[0, 2, 9])), "t.npz/indptr.npy: found other offsets", "save_npz"),
        (
            "a column too far",
            sparse("indices", wholes(&[4, 1, 0])),
            "t.npz/indices.npy: found column 4 in row 1, expected each column once, counted from 0, below 4",
            "save_npz",
        ),
        ("a column twice", sparse("indices", wholes(&[1, 1, 0])), "found column 1 twice in row 1", "save_npz"),
        (
            "a negative column",
            sparse("indices", wholes(&[-1, 1, 0])),
            "t.npz/indices.npy: found -1 in place 1, expected whole numbers",
            again,
        ),
        (
            "a broken column",
            sparse("indices", doubles("(3,)", &[0.5, 1.0, 2.0])),
            "t.npz/indices.npy: found 0.5 in place 1",
            again,
        ),
        (
            "too few values",
            sparse("data", doubles("(2,)", &[1.0, 2.0])),
            "t.npz/data.npy: found 2 values, expected 3, one an index",
            "save_npz",
        ),
        (
            "an infinite value",
            sparse("data", doubles("(3,)", &[1.0, f64::INFINITY, 2.0])),
            "t.npz/data.npy: the value in row 2",
            "fill",
        ),
    ] {
        let error = read(&bytes).unwrap_err();
        assert!(error.to_string().contains(what), "{name}: {error}");
        assert!(error.help().contains(help), "{name}: {}", error.help());
    }
}

#[test]
fn an_array_that_unpacks_to_more_than_the_limit_is_refused() {
    let zeros = npy("<f8", "(100000, 10)", &vec![0; 8_000_000]);
    let bytes = zipped(&[("X", zeros), ("y", npy("|i1", "(100000,)", &vec![1; 100_000]))], CompressionMethod::Deflated);
    assert!(bytes.len() < 100_000);
    let options = ReadOptions { max_bytes: Some(1_000_000), ..ReadOptions::default() };
    let error = read_bytes(&bytes, "t.npz", &options).unwrap_err();
    assert!(error.to_string().contains("more than the limit of"), "{error}");
    assert_eq!(read(&bytes).unwrap().rows(), 100_000);
}

#[test]
fn an_archive_of_something_else_is_no_npz_file() {
    let bytes = stored(&[table()]);
    let place = bytes.windows(5).position(|part| part == b"X.npy").unwrap();
    let mut other = bytes;
    other[place + 4] = b'x';
    let error = read_bytes(&other, "t.xlsx", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "t.xlsx: found a zip archive, expected LIBSVM text or CSV");
}
