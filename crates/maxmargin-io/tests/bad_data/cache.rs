//! Cache files that are cut, damaged, or lie with a checksum that fits.

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin_io::{CacheWriter, Format, ReadOptions};

use super::{Built, columns, label, plain};

/// Three sparse rows of four columns with weights, in two blocks.
fn good() -> Vec<u8> {
    let matrix = Matrix::sparse(3, 4, vec![0, 2, 2, 4], vec![0, 3, 1, 2], vec![0.5, -1e300, 0.0, 0.1]).unwrap();
    let data = Dataset::new(matrix, Labels::new(["+1", "-1", "x"].map(Label::new))).unwrap();
    let data = data.with_weights(vec![1.0, 0.0, 2.5]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.mmc");
    let mut writer = CacheWriter::with_blocks_of(&path, 40).unwrap();
    writer.push(&data).unwrap();
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

/// A good file whose directory says something else, with a checksum that fits it.
fn forged(from: &str, to: &str) -> Vec<u8> {
    let bytes = good();
    let end = bytes.len() - 48;
    let length = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
    let text = std::str::from_utf8(&bytes[end - length..end]).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    let text = text.replacen(from, to, 1);
    let mut forged = bytes[..end - length].to_vec();
    forged.extend(text.as_bytes());
    forged.extend((text.len() as u64).to_le_bytes());
    forged.extend(blake3::hash(text.as_bytes()).as_bytes());
    forged.extend(b"mmcache\x01");
    forged
}

/// A good file with a byte changed, counted from its end where `place` is negative.
fn changed(place: i64) -> Vec<u8> {
    let mut bytes = good();
    let length = bytes.len() as i64;
    bytes[if place < 0 { length + place } else { place } as usize] ^= 1;
    bytes
}

fn with_format(format: u8) -> Vec<u8> {
    let mut bytes = good();
    bytes[15] = format;
    bytes
}

fn forced() -> ReadOptions {
    ReadOptions { format: Some(Format::Cache), ..plain() }
}

pub(crate) const CASES: &[Built] = &[
    (
        "nothing",
        Vec::new,
        forced,
        "this is no cache file, or only a part of one",
        "name a cache file that convert has written",
    ),
    (
        "text",
        || b"1 1:1\n".to_vec(),
        forced,
        "this is no cache file, or only a part of one",
        "name a cache file that convert has written",
    ),
    (
        "its first bytes alone",
        || good()[..16].to_vec(),
        plain,
        "this is no cache file, or only a part of one",
        "name a cache file that convert has written",
    ),
    (
        "without its last byte",
        || good()[..good().len() - 1].to_vec(),
        plain,
        "the cache file is damaged: its end is missing",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a byte too many",
        || [good(), vec![0]].concat(),
        plain,
        "the cache file is damaged: its end is missing",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "format 0",
        || with_format(0),
        plain,
        "the cache file is damaged: its format is 0",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a newer format",
        || with_format(9),
        plain,
        "the cache is of format 9, and this program reads formats up to 1",
        "update maxmargin",
    ),
    (
        "another format at its end",
        || changed(-1),
        plain,
        "the cache file is damaged: its end is missing",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a directory of another length",
        || changed(-48),
        plain,
        "the cache file is damaged: the checksum of its directory does not match",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a directory longer than the file",
        || changed(-41),
        plain,
        "the cache file is damaged: its directory does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a changed directory",
        || changed(-60),
        plain,
        "the cache file is damaged: the checksum of its directory does not match",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a changed checksum",
        || changed(-20),
        plain,
        "the cache file is damaged: the checksum of its directory does not match",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a changed block",
        || changed(20),
        plain,
        "the cache file is damaged: block 1: its checksum does not match",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a directory that is no JSON",
        || forged("{", "["),
        plain,
        "the cache file is damaged: expected `,` or `]`",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "no rows",
        || forged("\"rows\":3,", ""),
        plain,
        "the cache file is damaged: missing field `rows`",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "more rows than blocks",
        || forged("\"rows\":3", "\"rows\":18446744073709551615"),
        plain,
        "the cache file is damaged: its blocks do not add up",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "too many columns",
        || forged("\"columns\":4", "\"columns\":4294967295"),
        plain,
        "the cache file is damaged: it claims 4294967295 columns",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "fewer columns than a block",
        || forged("\"columns\":4", "\"columns\":1"),
        plain,
        "the cache file is damaged: block 1 does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "more entries than blocks",
        || forged("\"entries\":4", "\"entries\":1000000000000"),
        plain,
        "the cache file is damaged: its blocks do not add up",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a block elsewhere",
        || forged("\"offset\":16", "\"offset\":17"),
        plain,
        "the cache file is damaged: block 1 does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a block of another layout",
        || forged("\"layout\":\"sparse\"", "\"layout\":\"dense\""),
        plain,
        "the cache file is damaged: block 1 does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a block of an unknown layout",
        || forged("\"layout\":\"sparse\"", "\"layout\":\"ragged\""),
        plain,
        "the cache file is damaged: unknown variant `ragged`, expected `dense` or `sparse`",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a block of another precision",
        || forged("\"values\":\"f64\"", "\"values\":\"f32\""),
        plain,
        "the cache file is damaged: block 2 does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a class twice",
        || forged("\"classes\":[\"+1\"", "\"classes\":[\"-1.0\""),
        plain,
        "the cache file is damaged: a class is there twice",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a class that is missing",
        || forged("\"classes\":[\"+1\",", "\"classes\":["),
        plain,
        "the cache file is damaged: block 2: a label is none of the classes",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "weights that are not there",
        || forged("\"weights\":true", "\"weights\":false"),
        plain,
        "the cache file is damaged: block 2 does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "groups that are not there",
        || forged("\"groups\":false", "\"groups\":true"),
        plain,
        "the cache file is damaged: block 2 does not lie in it",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "one name for four columns",
        || forged("\"names\":null", "\"names\":[\"a\"]"),
        plain,
        "the cache file is damaged: its names are not one a column",
        "make the cache again with convert, or copy the file again",
    ),
    (
        "names that come twice",
        || forged("\"names\":null", "\"names\":[\"a\",\"b\",\"a\",\"c\"]"),
        plain,
        r#"the cache file is damaged: two columns are named "a""#,
        "make the cache again with convert, or copy the file again",
    ),
    (
        "a label column",
        good,
        || label("a"),
        r#"found a cache file, whose labels are known, expected a table with a label column "a""#,
        "leave out label, or make the cache again from the table",
    ),
    (
        "a column that is not there",
        good,
        || columns(&["5"]),
        r#"there is no column "5""#,
        "the columns are numbered 1 to 4",
    ),
    (
        "read as Parquet",
        good,
        || ReadOptions { format: Some(Format::Parquet), ..plain() },
        r#"found a Parquet file that cannot be read ("Parquet error: Invalid Parquet file. Corrupt footer"), expected a whole Parquet file of numbers"#,
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
];
