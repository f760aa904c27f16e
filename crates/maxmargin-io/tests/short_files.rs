//! Short files that claim much: what a file costs is bounded by its bytes and a constant, and a claim that does not fit is an
//! error.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::io::{Cursor, Read};
use std::sync::Arc;

use maxmargin_io::{Blocks, Error, Format, KernelValues, ReadOptions, libsvm_model_from_text, read_bytes};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

fn plain() -> ReadOptions {
    ReadOptions::default()
}

/// What is wrong with a file, read whole and block by block, which must be the same.
fn refused(bytes: &[u8], name: &str, options: &ReadOptions) -> String {
    let whole = read_bytes(bytes, name, options).unwrap_err();
    let blocks = Blocks::from_source(Cursor::new(bytes.to_vec()), name, options);
    let in_blocks = blocks.map_or_else(Some, |mut blocks| blocks.find_map(Result::err)).unwrap();
    assert_eq!(whole, in_blocks);
    whole.to_string()
}

fn npy(shape: &str, fortran: &str, numbers: usize) -> Vec<u8> {
    let text = format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = (text.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\0"[..], &length, text.as_bytes(), &vec![0; 8 * numbers]].concat()
}

#[test]
fn an_npy_file_that_claims_four_thousand_million_columns_is_refused_by_its_length() {
    for fortran in ["False", "True"] {
        for shape in ["(1, 4294967294)", "(2, 4294967294)", "(9000000000000000000, 4294967294)"] {
            let told = refused(&npy(shape, fortran, 40), "t.npy", &plain());
            assert!(told.starts_with("t.npy: found 320 bytes of numbers, expected "), "{told}");
        }
    }
}

/// A Parquet file of one group of rows: a column of one number, and labels.
fn parquet(rows: usize, label: &'static [u8]) -> Vec<u8> {
    let schema = parse_message_type("message m { required double a; required binary y (UTF8); }").unwrap();
    let properties = WriterProperties::builder().set_data_page_row_count_limit(usize::MAX).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let (mut numbers, texts) = (group.next_column().unwrap().unwrap(), vec![ByteArray::from(label); rows]);
    numbers.typed::<DoubleType>().write_batch(&vec![1.0; rows], None, None).unwrap();
    numbers.close().unwrap();
    let mut labels = group.next_column().unwrap().unwrap();
    labels.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
    labels.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_parquet_file_of_long_runs_holds_no_more_numbers_than_its_length_allows() {
    let file = parquet(10_000_000, b"1");
    assert!(file.len() < 2000, "{}", file.len());
    let told = refused(&file, "t.parquet", &plain());
    let what = "the file stands for 10000000 rows of 2 columns, which is more than a file of its length may";
    assert_eq!(told, format!("t.parquet: {what}"));
    // A usual file of a constant column is read.
    assert_eq!(read_bytes(&parquet(100_000, b"1"), "t.parquet", &plain()).unwrap().rows(), 100_000);
}

#[test]
fn a_parquet_label_that_many_rows_share_is_not_copied_without_end() {
    let label: &'static [u8] = vec![b'x'; 100_000].leak();
    let told = refused(&parquet(20_000, label), "t.parquet", &plain());
    let what = "the file stands for longer labels than fit into it, which is more than a file of its length may";
    assert_eq!(told, format!("t.parquet: {what}"));
}

#[test]
fn a_parquet_dictionary_that_claims_more_values_than_bytes_is_refused() {
    let mut file = parquet(2, b"1");
    // The first page is a dictionary of one number: 1: 2, 2: 8 bytes, 3: 8 bytes, 7: { 1: 1 value.
    let head = [0x15, 4, 0x15, 16, 0x15, 16, 0x4c, 0x15, 2];
    assert_eq!(file[4..13], head);
    file[12] = 126;
    let told = refused(&file, "t.parquet", &plain());
    assert!(told.contains("a dictionary of more values than bytes"), "{told}");
}

#[test]
fn compressed_text_unpacks_to_no_more_than_its_length_allows() {
    let text = || std::io::repeat(b' ').take(100 << 20);
    let mut bzip2 = Vec::new();
    bzip2::read::BzEncoder::new(text(), bzip2::Compression::fast()).read_to_end(&mut bzip2).unwrap();
    let zstd = zstd::encode_all(text(), 1).unwrap();
    for (file, name) in [(bzip2, "t.csv.bz2"), (zstd, "t.csv.zst")] {
        assert!(file.len() < 50_000, "{}", file.len());
        let error = read_bytes(&file, name, &plain()).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
        assert!(error.help().starts_with("decompress it first"), "{}", error.help());
        let blocks =
            Blocks::from_source(Cursor::new(file), name, &ReadOptions { format: Some(Format::Csv), ..plain() })
                .map(|_| ());
        assert_eq!(blocks.unwrap_err(), error);
    }
}

#[test]
fn a_kernel_value_in_a_far_column_costs_no_memory_for_the_columns_before_it() {
    for (text, columns) in [("1 400000000:10\n", 400_000_000), ("1 4000000000:10\n-1 3:1\n", 4_000_000_000)] {
        for values in [KernelValues::Training, KernelValues::New] {
            let options = ReadOptions { kernel_values: Some(values), ..plain() };
            let data = read_bytes(text.as_bytes(), "t.svm", &options).unwrap();
            assert_eq!(data.columns(), columns);
        }
    }
    // Rows of nothing but their numbers, which is a table of zeros.
    let text: String = (1..=40_000).map(|row| format!("{} 0:{row}\n", row % 2)).collect();
    let options = ReadOptions { kernel_values: Some(KernelValues::Training), ..plain() };
    let data = read_bytes(text.as_bytes(), "t.svm", &options).unwrap();
    assert_eq!((data.rows(), data.columns()), (40_000, 40_000));
}

#[test]
fn columns_chosen_of_a_wide_text_cost_no_memory_for_the_others() {
    let options = ReadOptions { columns: Some(vec!["4000000000".into(), "2".into()]), ..plain() };
    let data = read_bytes(b"1 2:5 4000000000:10\n", "t.svm", &options).unwrap();
    assert_eq!(data.matrix().row(0), [10.0, 5.0]);
}

#[test]
fn a_short_libsvm_model_of_many_machines_and_columns_is_refused() {
    let classes = 30;
    let list = |count: usize, word: &dyn Fn(usize) -> String| (0..count).map(word).collect::<Vec<_>>().join(" ");
    let lines: String = (0..classes).map(|_| format!("{} 10000000:1\n", list(classes - 1, &|_| "1".into()))).collect();
    let text = format!(
        "svm_type c_svc\nkernel_type linear\nnr_class {classes}\ntotal_sv {classes}\nrho {}\nlabel {}\nnr_sv {}\nSV\n{lines}",
        list(classes * (classes - 1) / 2, &|_| "0".into()),
        list(classes, &|class| class.to_string()),
        list(classes, &|_| "1".into()),
    );
    assert!(text.len() < 4000);
    let error = libsvm_model_from_text(&text, "m").unwrap_err();
    let what = "the file stands for 4350000000 weights, of 435 machines and 10000000 columns";
    assert_eq!(error.to_string(), format!("m: {what}, which is more than a file of its length may"));
    // With fewer columns it loads.
    assert!(libsvm_model_from_text(&text.replace("10000000:1", "100:1"), "m").is_ok());
}

#[test]
fn a_wide_table_of_few_rows_is_read_in_memory_of_its_length() {
    let row = "1,".repeat(1_000_000) + "a\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    std::fs::write(&path, row.repeat(2)).unwrap();
    let data = maxmargin_io::read_path(&path, &plain()).unwrap();
    assert_eq!((data.rows(), data.columns()), (2, 1_000_000));
    // Empty lines look like many rows.
    std::fs::write(&path, "1,".repeat(10_000) + "a\n" + &"\n".repeat(4 << 20)).unwrap();
    let data = maxmargin_io::read_path(&path, &plain()).unwrap();
    assert_eq!((data.rows(), data.columns()), (1, 10_000));
}
