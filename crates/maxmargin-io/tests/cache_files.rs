//! Cache files: what is written comes back to the bit, whole and block by block, and what is damaged is refused.
#![allow(clippy::unwrap_used)] // a test may end here

use std::fs;
use std::path::Path;

use maxmargin::data::{Dataset, Label, Labels, Matrix, Values, embedded};
use maxmargin_io::{CacheFile, CacheWriter, ReadOptions, is_cache, read_bytes, read_cache};
use proptest::prelude::*;

fn write(path: &Path, block_bytes: usize, parts: &[Dataset]) -> u64 {
    let mut writer = CacheWriter::with_blocks_of(path, block_bytes).unwrap();
    parts.iter().for_each(|part| writer.push(part).unwrap());
    writer.finish().unwrap()
}

/// Everything in a data set that a format can keep, as text; numbers as bits.
fn shown(data: &Dataset) -> String {
    let bits = |row: usize| {
        let mut entries = Vec::new();
        data.matrix().visit(row, |column, value| entries.push((column, value.to_bits())));
        entries
    };
    let rows: Vec<_> = (0..data.rows()).map(|row| (bits(row), data.labels().unwrap().get(row).text())).collect();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {} {}",
        rows,
        data.weights(),
        data.groups(),
        data.names(),
        data.columns(),
        data.has_open_columns(),
        matches!(data.matrix(), Matrix::Dense(_)),
    )
}

fn slice(data: &Dataset, from: usize, to: usize) -> Dataset {
    data.select_rows(&(from..to).collect::<Vec<_>>())
}

/// A small file of two blocks, sparse, with weights, group numbers and names.
fn small(path: &Path) -> Dataset {
    let matrix = Matrix::sparse(3, 4, vec![0, 2, 2, 4], vec![0, 3, 1, 2], vec![0.5, -1e300, 0.0, 0.1]).unwrap();
    let data = Dataset::new(matrix, Labels::new(["+1", "-1", "x y"].map(Label::new)))
        .and_then(|data| data.with_weights(vec![1.0, 0.0, 2.5]))
        .and_then(|data| data.with_groups(vec![7, -7, i64::MIN]))
        .and_then(|data| data.with_names(["a", "b", "ä\n", ""].map(String::from).to_vec()))
        .unwrap();
    write(path, 40, std::slice::from_ref(&data));
    data
}

#[test]
fn a_data_set_with_all_that_there_is_comes_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.mmc");
    let data = small(&path);
    assert_eq!(CacheFile::open(&path).unwrap().blocks(), 2);
    assert_eq!(shown(&read_cache(&path).unwrap()), shown(&data));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["small.mmc"]);
}

#[test]
fn a_block_is_read_alone_and_knows_the_columns_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("iris.mmc");
    let iris = embedded("iris").unwrap();
    // 150 rows of 4 numbers that need double precision: 36 bytes each.
    write(&path, 36 * 40, std::slice::from_ref(&iris));
    let file = CacheFile::open(&path).unwrap();
    assert_eq!((file.blocks(), file.rows(), file.columns(), file.entries()), (4, 150, 4, 600));
    assert_eq!(file.classes(), iris.labels().unwrap().classes());
    let rows: Vec<usize> = (0..4).map(|block| file.block_rows(block)).collect();
    assert_eq!(rows, [40, 40, 40, 30]);
    assert_eq!(shown(&file.read_block(2).unwrap()), shown(&slice(&iris, 80, 120)));
    assert_eq!(shown(&file.read().unwrap()), shown(&iris));
}

#[test]
fn columns_may_grow_from_one_part_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grown.mmc");
    let read = |text: &str| read_bytes(text.as_bytes(), "t.svm", &ReadOptions::default()).unwrap();
    let text = ["1 1:1 2:2\n2 1:3\n", "1 5:1\n", "3 2:7 9:1\n"];
    write(&path, 1 << 20, &text.map(read));
    let whole = read(&text.concat());
    let file = CacheFile::open(&path).unwrap();
    assert_eq!(file.read_block(0).unwrap().columns(), 9);
    assert_eq!(file.read_block(0).unwrap().matrix().row(0)[..3], [1.0, 2.0, 0.0]);
    let found = file.read().unwrap();
    assert_eq!(found.fingerprint(), whole.fingerprint());
    assert!(found.has_open_columns());
}

#[test]
fn numbers_are_in_single_precision_exactly_where_that_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("precision.mmc");
    for (value, single) in
        [(0.5, true), (-0.0, true), (0.1, false), (1e300, false), (f64::from(0.1f32), true), (1e-320, false)]
    {
        let data = Dataset::new(Matrix::dense(1, 1, vec![value]).unwrap(), Labels::new([Label::new("1")])).unwrap();
        write(&path, 1 << 20, &[data]);
        let found = read_cache(&path).unwrap();
        let Matrix::Dense(dense) = found.matrix() else { panic!("{value} became sparse") };
        assert_eq!(matches!(dense.values(), Values::F32(_)), single, "{value}");
        assert_eq!(dense.values().get(0).to_bits(), value.to_bits());
    }
}

#[test]
fn every_prefix_and_every_flipped_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.mmc");
    small(&path);
    let bytes = fs::read(&path).unwrap();
    let read = |bytes: Vec<u8>| CacheFile::from_bytes(bytes, "t").and_then(|file| file.read());
    assert!(read(bytes.clone()).is_ok());
    for length in 0..bytes.len() {
        assert!(read(bytes[..length].to_vec()).is_err(), "the first {length} bytes");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(read(damaged).is_err(), "bit {bit}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(read(longer).is_err());
}

#[test]
fn claims_are_compared_with_the_bytes_before_memory_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.mmc");
    small(&path);
    let bytes = fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[bytes.len() - 48..bytes.len() - 40].try_into().unwrap()) as usize;
    let start = bytes.len() - 48 - length;
    let text = std::str::from_utf8(&bytes[start..bytes.len() - 48]).unwrap();
    // A directory that lies, with a checksum that fits it.
    let forged = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let text = text.replacen(from, to, 1);
        let mut forged = bytes[..start].to_vec();
        forged.extend(text.as_bytes());
        forged.extend((text.len() as u64).to_le_bytes());
        forged.extend(blake3::hash(text.as_bytes()).as_bytes());
        forged.extend(b"mmcache\x01");
        CacheFile::from_bytes(forged, "t").and_then(|file| file.read())
    };
    assert!(forged("\"rows\":3", "\"rows\":3").is_ok());
    for (from, to) in [
        ("\"rows\":3", "\"rows\":18446744073709551615"),
        ("\"columns\":4", "\"columns\":4294967295"),
        ("\"entries\":4", "\"entries\":1000000000000"),
        ("\"offset\":16", "\"offset\":17"),
        ("\"layout\":\"sparse\"", "\"layout\":\"dense\""),
        ("\"classes\":[\"+1\"", "\"classes\":[\"-1.0\""),
        ("\"classes\":[\"+1\",", "\"classes\":["),
        ("\"weights\":true", "\"weights\":false"),
    ] {
        let error = forged(from, to).unwrap_err();
        assert!(error.to_string().starts_with("t: the cache file is damaged: "), "{to}: {error}");
    }
}

#[test]
fn other_files_and_newer_formats_are_refused_by_name() {
    let refused = |bytes: &[u8]| CacheFile::from_bytes(bytes.to_vec(), "t").err().unwrap();
    for bytes in [&b""[..], b"1 1:1\n", &[0; 100]] {
        assert_eq!(refused(bytes).to_string(), "t: this is no cache file, or only a part of one");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.mmc");
    small(&path);
    assert!(is_cache(&path) && !is_cache(folder.path()) && !is_cache(&folder.path().join("none")));
    let mut bytes = fs::read(&path).unwrap();
    bytes[15] = 9;
    let error = refused(&bytes);
    assert_eq!(error.to_string(), "t: the cache is of format 9, and this program reads formats up to 1");
    assert_eq!(error.help(), "update maxmargin");
}

#[test]
fn no_byte_of_a_cache_is_padding_that_could_be_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.mmc");
    small(&path);
    let bytes = fs::read(&path).unwrap();
    let is_read = |bytes: &[u8]| CacheFile::from_bytes(bytes.to_vec(), "t").and_then(|file| file.read()).is_ok();
    assert!(is_read(&bytes));
    for place in 0..bytes.len() {
        for other in
            [0, 1, b' ', b'\t', b'\n', 0x7f, 0xff, bytes[place] ^ 1].into_iter().filter(|&byte| byte != bytes[place])
        {
            let mut changed = bytes.clone();
            changed[place] = other;
            assert!(!is_read(&changed), "byte {place} as {other}");
        }
        // Nor can one be added.
        assert!(!is_read(&[&bytes[..place], b" ", &bytes[place..]].concat()), "a blank at {place}");
    }
}

#[test]
fn what_is_not_finished_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.mmc");
    let mut writer = CacheWriter::create(&path).unwrap();
    writer.push(&embedded("iris").unwrap()).unwrap();
    assert!(!path.exists());
    drop(writer);
    let error = CacheWriter::create(&path).unwrap().finish().unwrap_err();
    assert_eq!(error.to_string(), "there are no rows to write");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn parts_that_differ_in_kind_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let iris = embedded("iris").unwrap();
    let mut writer = CacheWriter::create(&folder.path().join("t.mmc")).unwrap();
    writer.push(&iris).unwrap();
    let error = writer.push(&iris.clone().with_weights(vec![1.0; 150]).unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("the weights of row"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_cut_into_parts_and_any_block_size_give_the_same_data(
        seed in 0u64..1000, block in 1usize..2000, cut in 0usize..=60, sparse in any::<bool>(), labels in 1usize..5
    ) {
        let mut state = seed;
        let mut next = || { state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); state >> 33 };
        let values: Vec<f64> = (0..60 * 5).map(|_| if next() % 3 == 0 { 0.0 } else { next() as f64 * 0.1 }).collect();
        let texts: Vec<Label> = (0..60).map(|_| Label::new((next() as usize % labels).to_string())).collect();
        let matrix = Matrix::dense(60, 5, values).unwrap();
        let matrix = if sparse { matrix.to_sparse() } else { matrix };
        let data = Dataset::new(matrix, Labels::new(texts)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
        write(&whole, block, std::slice::from_ref(&data));
        write(&parts, block, &[slice(&data, 0, cut), slice(&data, cut, 60)]);
        prop_assert_eq!(fs::read(&whole).unwrap(), fs::read(&parts).unwrap(), "seed {}", seed);
        let found = read_cache(&whole).unwrap();
        prop_assert_eq!(found.fingerprint(), data.fingerprint());
        if !sparse {
            prop_assert_eq!(shown(&found), shown(&data));
        }
    }
}
