//! Reading in blocks, on threads, compressed or as a stream gives what reading at once gives: the same data, the same errors.
#![allow(clippy::unwrap_used)] // a test may end here

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use maxmargin::Workers;
use maxmargin::data::{AnswerKind, Dataset, Label, Labels, Matrix, Missing, Values};
use maxmargin_io::{
    Blocks, Categorical, DataWriter, Error, Format, KernelValues, ReadControl, ReadOptions, ReadProgress, Reader,
    read_bytes, read_path,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// All that a data set is, in bits: its storage, too.
fn bits(data: &Dataset) -> String {
    let numbers = |values: &Values| (0..values.len()).map(|place| values.get(place).to_bits()).collect::<Vec<_>>();
    let matrix = match data.matrix() {
        Matrix::Dense(dense) => format!("dense {:?}", numbers(dense.values())),
        Matrix::Sparse(csr) => format!("sparse {:?} {:?} {:?}", csr.offsets(), csr.indices(), numbers(csr.values())),
    };
    let labels = data.answers().labels();
    let classes: Vec<&str> = labels.iter().flat_map(|labels| labels.classes()).map(|label| label.text()).collect();
    format!(
        "{} x {} {matrix} {classes:?} {:?} {:?} {:?} {}",
        data.rows(),
        data.columns(),
        labels.map(Labels::codes),
        data.groups(),
        data.names(),
        data.has_open_columns()
    )
}

/// What reading gave: the data or the message, with its help.
fn outcome(result: Result<Dataset, Error>) -> String {
    match result {
        Ok(data) => bits(&data),
        Err(error) => format!("{error}; {}", error.help()),
    }
}

/// Rows in bits, their labels and groups, and how many columns they have.
type Joined = (Vec<Vec<u64>>, Vec<Option<Label>>, Vec<i64>, usize);

/// What the blocks of a text are when they are put together again; an error is told with the rows before it.
fn joined(reader: Reader<'_>, text: &[u8], origin: &str) -> Result<Joined, Error> {
    let (mut rows, mut labels, mut groups, mut columns) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for block in reader.blocks_of_source(text, origin)? {
        let block = block?;
        assert_eq!(block.first_row, rows.len(), "blocks follow one another");
        assert!(block.data.rows() > 0 && block.data.columns() >= columns);
        columns = block.data.columns();
        for row in 0..block.data.rows() {
            rows.push(block.data.matrix().row(row).into_iter().map(f64::to_bits).collect::<Vec<_>>());
            labels.push(block.data.answers().text(row).map(Label::new));
        }
        groups.extend(block.data.groups().unwrap_or_default());
    }
    rows.iter_mut().for_each(|row| row.resize(columns, 0));
    Ok((rows, labels, groups, columns))
}

/// Texts of rows, some with a fault, so that many are read to the end and many are not.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![8 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\n\n"), 1 => Just(" # c\n")];
    let entry = |step: std::ops::Range<u32>| (step, "(0|1|-?[0-9]{1,2}\\.[0-9]{1,9}|1e-3|0\\.12345678901234567)");
    let row = ("[+-]1|[0-9]|spam|ü|a longer label".prop_map(|l| l.replace(' ', "_")), vec(entry(1..4), 0..5), end)
        .prop_map(|(label, entries, end)| {
            let mut line = label;
            let mut index = 0;
            for (step, value) in entries {
                index += step;
                line.push_str(&format!(" {index}:{value}"));
            }
            line + end
        });
    let libsvm = vec(row, 1..12);
    let cell = "[0-9]{1,3}|-?[0-9]\\.[0-9]{1,4}| 7 |\"8\"|0";
    let label = "a|b|\"c,\n\"\"d\"|5|\u{e9}";
    let record = (vec(cell, 3), label, "\n|\r\n|\n\n")
        .prop_map(|(cells, label, end)| format!("{},{label}{end}", cells.join(",")));
    let table = (any::<bool>(), vec(record, 1..12)).prop_map(|(header, mut records)| {
        if header {
            records.insert(0, "x,\"y\nz\",w,kind\n".into());
        }
        records
    });
    let fault = prop_oneof![
        6 => Just(String::new()),
        1 => Just("1 3:x\n".to_string()),
        1 => Just("1 3:1 2:1\n".to_string()),
        1 => Just("1 qid:3 2:1\n".to_string()),
        1 => Just("1,2\n".to_string()),
        1 => Just("1,NA,3,a\n".to_string()),
        1 => Just("1,\"2,3,a\n".to_string()),
        1 => Just("1 1:1 \u{0}\n".to_string()),
        1 => Just("\u{feff}".to_string()),
        1 => Just("1 \u{fffd}\n".to_string()),
    ];
    (prop_oneof![libsvm, table], fault, any::<prop::sample::Index>(), any::<bool>(), any::<bool>()).prop_map(
        |(mut rows, fault, place, cut, grouped)| {
            if grouped {
                rows.iter_mut().for_each(|row| *row = row.replacen(' ', " qid:4 ", 1));
            }
            let place = place.index(rows.len() + 1);
            rows.insert(place, fault);
            let mut bytes = rows.concat().into_bytes();
            // A byte that is no UTF-8, where the sign for one stands.
            let sign = "\u{fffd}".as_bytes();
            while let Some(at) = bytes.windows(3).position(|window| window == sign) {
                bytes.splice(at..at + 3, [0xe9]);
            }
            if cut {
                bytes.pop();
            }
            bytes
        },
    )
}

fn all_options() -> Vec<ReadOptions> {
    let plain = ReadOptions::default;
    let columns = |names: &[&str]| Some(names.iter().map(|name| name.to_string()).collect());
    vec![
        ReadOptions { columns: columns(&["9", "2", "30"]), ..plain() },
        ReadOptions { columns: columns(&["2", "x"]), ..plain() },
        ReadOptions { columns: columns(&["2", "0", "1"]), ..plain() },
        ReadOptions { columns: columns(&["18446744073709551615"]), ..plain() },
        ReadOptions { columns: columns(&["1", "2", "1"]), ..plain() },
        ReadOptions { header: Some(true), ..plain() },
        ReadOptions { header: Some(false), label: Some("1".into()), ..plain() },
        ReadOptions { max_bytes: Some(40), ..plain() },
        ReadOptions { kernel_values: Some(KernelValues::New), ..plain() },
        plain(),
        ReadOptions { categorical: Categorical::Words, ..plain() },
        ReadOptions { missing: Missing::Drop, ..plain() },
        ReadOptions { missing: Missing::Zero, ..plain() },
        ReadOptions { missing: Missing::Median, ..plain() },
        ReadOptions { categorical: Categorical::Named(vec!["1".into()]), missing: Missing::Mean, ..plain() },
        ReadOptions { exclude: vec!["1-2".into()], ..plain() },
        ReadOptions { format: Some(Format::Libsvm), columns: Some(vec!["2".into(), "1".into()]), ..plain() },
        ReadOptions { format: Some(Format::Csv), answers: AnswerKind::None, ..plain() },
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn blocks_cut_anywhere_and_any_threads_give_the_same(text in texts()) {
        let workers = Workers::new(3).unwrap();
        for options in all_options() {
            let expected = outcome(read_bytes(&text, "data", &options));
            for size in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
                let reader = Reader::new(&options).in_blocks_of(size);
                prop_assert_eq!(&outcome(reader.read_bytes(&text, "data")), &expected, "blocks of {}", size);
                let on_threads = reader.on(&workers).read_bytes(&text, "data");
                prop_assert_eq!(&outcome(on_threads), &expected, "blocks of {} on threads", size);
                let stream = reader.on(&workers).read_source(Dripping(&text), "data");
                prop_assert_eq!(&outcome(stream), &expected, "a stream in blocks of {}", size);
            }
        }
    }

    #[test]
    fn the_blocks_of_a_stream_are_the_rows_of_the_whole(text in texts(), size in 1usize..100) {
        let workers = Workers::new(2).unwrap();
        for options in all_options().into_iter().filter(needs_one_pass) {
            let reader = Reader::new(&options).in_blocks_of(size).on(&workers);
            match (read_bytes(&text, "data", &options), joined(reader, &text, "data")) {
                (Ok(data), Ok((rows, labels, groups, columns))) => {
                    prop_assert_eq!((data.rows(), data.columns()), (rows.len(), columns));
                    prop_assert_eq!(data.groups().unwrap_or_default(), &groups[..]);
                    for row in 0..data.rows() {
                        let bits: Vec<u64> = data.matrix().row(row).into_iter().map(f64::to_bits).collect();
                        prop_assert_eq!(&bits, &rows[row]);
                        prop_assert_eq!(data.answers().text(row).map(Label::new), labels[row].clone());
                    }
                }
                (Err(whole), Err(stream)) => {
                    prop_assert_eq!((whole.to_string(), whole.help()), (stream.to_string(), stream.help()));
                }
                (whole, stream) => prop_assert!(false, "{:?} but {:?}", whole.is_ok(), stream.is_ok()),
            }
        }
    }
}

/// Whether rows can be read as they come.
fn needs_one_pass(options: &ReadOptions) -> bool {
    options.categorical == Categorical::None && !options.missing.is_learnt()
}

/// The rows before the end or the error of a file, read block by block, and the error.
fn rows_and_error(path: &std::path::Path, size: Option<usize>, options: &ReadOptions) -> (usize, Option<Error>) {
    let mut rows = 0;
    let mut count = |block: Result<Dataset, Error>| block.map(|data| rows += data.rows()).err();
    let error = match size {
        None => Blocks::open(path, options).map(|mut blocks| blocks.find_map(&mut count)),
        Some(size) => Reader::new(options)
            .in_blocks_of(size)
            .blocks_of_path(path)
            .map(|mut blocks| blocks.find_map(|block| count(block.map(|block| block.data)))),
    };
    (rows, error.unwrap_or_else(Some))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_damaged_compressed_tail_loses_no_rows_and_is_told_the_same_way_whole_and_in_blocks(
        texts in vec(texts(), 1..4), kind in 0usize..4, cut in any::<prop::sample::Index>(), flips in any::<bool>(),
    ) {
        let (ending, compress) = COMPRESSIONS[kind];
        let mut bytes = compress(&texts.concat());
        let place = cut.index(bytes.len()).max(11).min(bytes.len() - 1);
        if flips {
            bytes[place] ^= 0x10;
        } else {
            bytes.truncate(place);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("d.{ending}"));
        std::fs::write(&path, &bytes).unwrap();
        for options in all_options().into_iter().filter(needs_one_pass) {
            let whole = read_path(&path, &options);
            let in_blocks = rows_and_error(&path, None, &options);
            for size in [1, 7, 50, 1000] {
                prop_assert_eq!(&rows_and_error(&path, Some(size), &options), &in_blocks, "blocks of {}", size);
                let again = Reader::new(&options).in_blocks_of(size).read_path(&path);
                prop_assert_eq!(again.as_ref().err(), whole.as_ref().err(), "blocks of {}", size);
            }
            prop_assert_eq!(whole.as_ref().err(), in_blocks.1.as_ref());
            if let Ok(data) = whole {
                prop_assert_eq!(data.rows(), in_blocks.0);
            }
        }
    }
}

#[test]
fn rows_before_a_damaged_compressed_tail_are_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.svm.gz");
    let text = many_rows();
    let bytes = gzip(text.as_bytes());
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (rows, error) = rows_and_error(&path, None, &ReadOptions::default());
    assert!(rows > 10_000, "{rows}");
    assert!(error.unwrap().to_string().contains("damaged or cut off"));
    // What is wrong with a row before it comes first, however large the blocks are.
    let wrong = gzip(text.replacen("+1 ", "+1 x ", 1).as_bytes());
    std::fs::write(&path, &wrong[..wrong.len() / 2]).unwrap();
    let told = read_path(&path, &ReadOptions::default()).unwrap_err();
    assert!(told.to_string().contains("found \"x\""), "{told}");
    assert_eq!(rows_and_error(&path, None, &ReadOptions::default()).1, Some(told));
}

#[test]
fn a_header_after_many_empty_lines_is_a_header_in_blocks_of_any_size() {
    let text = "\n".repeat(100) + "x,label\n1,a\n2,b\n";
    let options = ReadOptions::default();
    let whole = bits(&read_bytes(text.as_bytes(), "d.csv", &options).unwrap());
    for size in [1, 3, 99, 101] {
        let read = Reader::new(&options).in_blocks_of(size).read_bytes(text.as_bytes(), "d.csv");
        assert_eq!(bits(&read.unwrap()), whole, "blocks of {size}");
        assert_eq!(joined(Reader::new(&options).in_blocks_of(size), text.as_bytes(), "d.csv").unwrap().0.len(), 2);
    }
}

/// Reading a file in any format, whole and block by block: the same error, or as many rows.
fn same_both_ways(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<usize, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let whole = read_path(&path, options).map(|data| data.rows());
    let (rows, error) = rows_and_error(&path, None, options);
    match &whole {
        Ok(count) => assert_eq!((rows, &error), (*count, &None), "{name} {options:?}"),
        Err(told) => assert_eq!(error.as_ref(), Some(told), "{name} {options:?}"),
    }
    whole
}

#[test]
fn files_that_are_no_text_are_read_the_same_whole_and_in_blocks_and_so_are_their_faults() {
    let folder = tempfile::tempdir().unwrap();
    let formats = [Format::Npy, Format::Npz, Format::Parquet, Format::Arrow, Format::ArrowStream, Format::Cache];
    let data = maxmargin::data::generate("blobs", 60, 1).unwrap();
    let options = [None, Some(vec!["2"]), Some(vec!["2", "2"]), Some(vec!["7"]), Some(vec!["0", "x"])];
    for (format, ending) in formats.into_iter().zip(["npy", "npz", "parquet", "arrow", "arrows", "mmc"]) {
        let (path, name) = (folder.path().join(format!("t.{ending}")), format!("t.{ending}"));
        let mut writer = DataWriter::create(&path, format).unwrap();
        writer.push(&data).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for columns in &options {
            let columns = columns.as_ref().map(|names| names.iter().map(|name| name.to_string()).collect());
            for max_bytes in [None, Some(30)] {
                let options = ReadOptions { columns: columns.clone(), max_bytes, ..ReadOptions::default() };
                let read = same_both_ways(&bytes, &name, &options);
                assert!(columns.is_some() || max_bytes.is_some() || read == Ok(60), "{name}");
                for length in (0..bytes.len()).step_by(37) {
                    let _ = same_both_ways(&bytes[..length], &name, &options);
                }
            }
        }
        let _ = same_both_ways(&[&bytes[..], b"more"].concat(), &name, &ReadOptions::default());
        for place in (0..bytes.len()).step_by(11) {
            let mut changed = bytes.clone();
            changed[place] ^= 0xff;
            let _ = same_both_ways(&changed, &name, &ReadOptions { format: Some(format), ..ReadOptions::default() });
        }
    }
    for path in ["none.csv", "none.parquet", "."] {
        let path = folder.path().join(path);
        let told = read_path(&path, &ReadOptions::default()).unwrap_err();
        assert_eq!(rows_and_error(&path, None, &ReadOptions::default()), (0, Some(told)));
    }
}

/// A stream that gives a few bytes at a time.
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = room.len().min(3).min(self.0.len());
        room[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn the_comparison_of_outcomes_can_fail() {
    let outcome = |text: &str| outcome(read_bytes(text.as_bytes(), "d", &ReadOptions::default()));
    let texts =
        ["1 1:1 3:2\n", "1 1:1 3:2.5\n", "1 1:1 2:2\n", "-1 1:1 3:2\n", "1 1:1 3:x\n", "1 1:1  3:x\n", "1,1,3\n"];
    for (place, text) in texts.iter().enumerate() {
        assert!(texts[..place].iter().all(|other| outcome(other) != outcome(text)), "{text:?}");
    }
}

/// Enough rows for many blocks of the usual size.
fn many_rows() -> String {
    let mut state = 7u64;
    let mut text = String::new();
    for row in 0..40_000u64 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text.push_str(if state >> 63 == 0 { "+1" } else { "-1" });
        for column in 1..(state >> 33) % 12 {
            text.push_str(&format!(" {}:{}", column * 7 + row % 5, (state >> (20 + column)) % 1000));
        }
        text.push('\n');
    }
    text
}

#[test]
fn many_blocks_on_any_number_of_threads_give_the_same_bits() {
    let (options, text) = (ReadOptions::default(), many_rows());
    assert!(text.len() > 1 << 20);
    let whole = Reader::new(&options).in_blocks_of(usize::MAX).read_bytes(text.as_bytes(), "d").unwrap();
    for threads in [1, 2, 3, 8] {
        let workers = Workers::new(threads).unwrap();
        let reader = Reader::new(&options).on(&workers);
        assert!(bits(&reader.read_bytes(text.as_bytes(), "d").unwrap()) == bits(&whole), "{threads} threads");
        // Of unknown length, so that no room is made before.
        assert!(bits(&reader.read_source(text.as_bytes(), "d").unwrap()) == bits(&whole), "{threads} threads");
    }
}

#[test]
fn rows_that_become_denser_than_the_samples_let_expect_are_all_kept() {
    // Long comments where samples are taken, so that fewer rows are expected than there are.
    let mut text = String::new();
    while text.len() < 2 << 20 {
        text.push_str(&format!("# {}\n", "c".repeat(100_000)));
        (0..2000).for_each(|row| text.push_str(&format!("{} 1:{row} 2:1 5:1\n", row % 3)));
    }
    let options = ReadOptions::default();
    let workers = Workers::new(2).unwrap();
    let whole = Reader::new(&options).in_blocks_of(usize::MAX).read_bytes(text.as_bytes(), "d").unwrap();
    let found = Reader::new(&options).on(&workers).read_bytes(text.as_bytes(), "d").unwrap();
    assert!(bits(&whole) == bits(&found));
}

#[test]
fn the_first_of_many_faults_is_told_with_its_line_on_any_number_of_threads() {
    let text = many_rows();
    let mut lines: Vec<&str> = text.lines().collect();
    for line in [39_000, 31_000, 22_345] {
        lines[line] = "1 5:1 4:1";
    }
    let text = lines.join("\n");
    for threads in [1, 2, 8] {
        let workers = Workers::new(threads).unwrap();
        let options = ReadOptions::default();
        let error = Reader::new(&options).on(&workers).read_bytes(text.as_bytes(), "d").unwrap_err();
        assert_eq!(error.to_string(), "d:22346:7: found the index 4 after 5, expected increasing indices");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    liblzma::encode_all(bytes, 1).unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

type Compress = fn(&[u8]) -> Vec<u8>;
const COMPRESSIONS: [(&str, Compress); 4] = [("gz", gzip), ("bz2", bzip2), ("xz", xz), ("zst", zstd)];

#[test]
fn compressed_data_are_the_same_in_one_piece_or_joined_by_name_file_or_stream() {
    let folder = tempfile::tempdir().unwrap();
    let (options, text) = (ReadOptions::default(), many_rows());
    let workers = Workers::new(2).unwrap();
    let plain = bits(&read_bytes(text.as_bytes(), "d", &options).unwrap());
    for (ending, compress) in COMPRESSIONS {
        let whole = compress(text.as_bytes());
        let (front, back) = text.split_at(text.len() / 3);
        let joined = [compress(front.as_bytes()), compress(back.as_bytes())].concat();
        for bytes in [whole, joined] {
            assert!(bits(&read_bytes(&bytes, "d", &options).unwrap()) == plain, "{ending}");
            let path = folder.path().join(format!("d.svm.{ending}"));
            std::fs::write(&path, &bytes).unwrap();
            assert!(bits(&Reader::new(&options).on(&workers).read_path(&path).unwrap()) == plain, "{ending}");
            assert!(bits(&Reader::new(&options).read_source(Dripping(&bytes), "-").unwrap()) == plain, "{ending}");
        }
        // CSV by its name, which its only column would not tell; and words made columns, for which it is read twice.
        let table = compress(b"a\n1\n2\n");
        let unlabelled = ReadOptions { answers: AnswerKind::None, ..ReadOptions::default() };
        assert_eq!(read_bytes(&table, &format!("d.csv.{ending}"), &unlabelled).unwrap().rows(), 2, "{ending}");
        let words = compress(b"a,b\nred,1\nblue,2\n");
        let categorical = ReadOptions { categorical: Categorical::Words, header: Some(true), ..ReadOptions::default() };
        let path = folder.path().join(format!("d.csv.{ending}"));
        std::fs::write(&path, &words).unwrap();
        assert_eq!(read_path(&path, &categorical).unwrap().columns(), 2, "{ending}");
        let stream = Reader::new(&categorical).read_source(&words[..], "d.csv").unwrap();
        assert_eq!(stream.columns(), 2, "{ending}");
    }
}

#[test]
fn damaged_compressed_data_are_an_error_wherever_they_are_cut_or_changed() {
    let text = &many_rows()[..3000];
    let text = &text[..=text.rfind('\n').unwrap()];
    for (ending, compress) in COMPRESSIONS {
        let whole = compress(text.as_bytes());
        for length in (11..whole.len()).step_by(7) {
            let error = read_bytes(&whole[..length], "d.svm", &ReadOptions::default()).expect_err(ending).to_string();
            assert!(error.contains("-compressed data that are damaged or cut off"), "{ending} of {length}: {error}");
        }
        let mut changed = whole.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 0x55;
        let error = read_bytes(&changed, "d.svm", &ReadOptions::default()).expect_err(ending);
        // Some see it at once, some only by the sum at the end, and what comes out before may be no text.
        assert!(!error.to_string().is_empty() && !error.help().is_empty(), "{ending}");
    }
}

#[test]
fn a_small_file_that_decompresses_to_a_large_one_is_stopped_by_the_limit() {
    let line = b"1 1:1 2:1 3:1 4:1 5:1 6:1 7:1\n".repeat(200_000);
    for (ending, compress) in COMPRESSIONS {
        let small = compress(&line);
        assert!(small.len() < line.len() / 50, "{ending}: {}", small.len());
        let options = ReadOptions { max_bytes: Some(1 << 20), ..ReadOptions::default() };
        let error = read_bytes(&small, "d.svm", &options).unwrap_err();
        assert_eq!(error.to_string(), "d.svm: the data are more than the limit of 1.0 MiB", "{ending}");
        let reader = Reader::new(&options);
        let last = reader.blocks_of_source(&small[..], "d.svm").unwrap().last().unwrap();
        assert_eq!(last.unwrap_err(), error, "{ending}");
    }
}

/// Breaks when so many bytes are read, and notes how many there were.
struct BreakAt {
    at: u64,
    seen: AtomicU64,
}

impl ReadControl for BreakAt {
    fn poll(&self, progress: ReadProgress) -> ControlFlow<()> {
        let before = self.seen.fetch_max(progress.bytes, Ordering::Relaxed);
        assert!(progress.total.is_some_and(|total| total >= before));
        if progress.bytes >= self.at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn reading_is_interrupted_between_blocks_and_told_how_far_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let (path, text, options) = (folder.path().join("d.svm"), many_rows(), ReadOptions::default());
    std::fs::write(&path, &text).unwrap();
    for threads in [1, 2] {
        let workers = Workers::new(threads).unwrap();
        let control = BreakAt { at: 1 << 19, seen: AtomicU64::new(0) };
        let reader = Reader::new(&options).on(&workers).watched_by(&control);
        assert!(matches!(reader.read_path(&path), Err(Error::Interrupted { .. })));
        assert!(control.seen.load(Ordering::Relaxed) < 1 << 20);
        assert!(matches!(reader.blocks_of_path(&path).unwrap().last(), Some(Err(Error::Interrupted { .. }))));
        let control = BreakAt { at: u64::MAX, seen: AtomicU64::new(0) };
        assert!(Reader::new(&options).on(&workers).watched_by(&control).read_path(&path).is_ok());
        assert!(control.seen.load(Ordering::Relaxed) > text.len() as u64 / 2);
    }
}

#[test]
fn words_of_a_stream_cannot_become_columns_and_that_is_said() {
    let options = ReadOptions { categorical: Categorical::Words, ..ReadOptions::default() };
    let error = Reader::new(&options).blocks_of_source(&b"a,b\nx,1\n"[..], "d.csv").err().unwrap();
    assert!(error.to_string().contains("known only when all rows have been read"), "{error}");
}
