//! `convert`: between all formats, and what is said of what is lost.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;

use program::{done, json, program, run};
use tempfile::tempdir;

#[test]
fn a_table_goes_through_all_formats_and_back_to_the_same_text() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate moons --rows 100 -o first.csv");
    for pair in ["first.csv a.parquet", "a.parquet a.feather", "a.feather a.arrows", "a.arrows b.mmc", "b.mmc last.csv"]
    {
        let run = done(at, &format!("convert {pair}"));
        assert!(run.stderr.contains("wrote 100 rows to "), "{}", run.stderr);
        assert!(!run.stderr.contains("left out"), "{}", run.stderr);
    }
    assert_eq!(fs::read(at.join("first.csv")).unwrap(), fs::read(at.join("last.csv")).unwrap());
    let run = done(at, "convert b.mmc c.svm");
    assert!(run.stderr.contains("note: LIBSVM text has no place for column names: left out"), "{}", run.stderr);
    done(at, "convert c.svm d.npy -q");
    done(at, "convert d.npy d.npz -q");
    done(at, "convert d.npz e.svm -q");
    let without_plus = fs::read_to_string(at.join("c.svm")).unwrap().replace("+1 ", "1 ");
    assert_eq!(without_plus, fs::read_to_string(at.join("e.svm")).unwrap());
    let left = fs::read_dir(at).unwrap().count();
    assert_eq!(left, 10, "nothing else is left behind");
}

#[test]
fn every_command_reads_every_format_and_trains_the_same_model() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate moons --rows 80 -o moons.csv");
    let others = ["moons.mmc", "moons.parquet", "moons.svm", "moons.arrow", "moons.arrows", "moons.npz"];
    for name in others {
        done(at, &format!("convert moons.csv {name} -q"));
    }
    let mut reports = Vec::new();
    for name in ["moons.csv"].into_iter().chain(others) {
        reports.push(json(at, &format!("train {name} --kernel rbf --json -o {name}.mm"))["objective"].clone());
        let verified = done(at, &format!("verify moons.csv.mm {name}"));
        assert_eq!(verified.code, Some(0));
        let predicted = done(at, &format!("predict moons.csv.mm {name}"));
        assert_eq!(predicted.stdout.lines().count(), 80, "{name}");
    }
    assert!(reports.windows(2).all(|pair| pair[0] == pair[1]), "{reports:?}");
}

#[test]
fn what_cannot_be_converted_is_said_and_nothing_is_written() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate iris -o iris.csv");
    fs::write(at.join("bad.csv"), "a,b\n1,x\nz,y\n").unwrap();
    for (line, what, help) in [
        ("convert iris.csv iris.npy", "the label \"setosa\" is no number", "write CSV, Parquet or a cache"),
        ("convert iris.csv /dev/stdout --to npz", "an npz file cannot be written to a pipe", "name a file"),
        ("convert iris.csv iris.unknown", "does not say the format", "--to"),
        ("convert iris.csv iris.csv", "it is read as well", "another name"),
        ("convert bad.csv bad.mmc", "bad.csv:3:1: found \"z\"", "--categorical"),
        ("convert none.csv none.mmc", "there is no such file", "check the name"),
        ("convert iris.csv iris.mmc --label colour", "there is no column \"colour\"", "the columns are"),
        ("convert iris.csv none/iris.mmc", "there is no folder", "make the folder"),
    ] {
        let run = run(at, line);
        assert_eq!(run.code, Some(2), "{line}\n{}", run.stderr);
        assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}\n{}", run.stderr);
    }
    assert_eq!(fs::read_dir(at).unwrap().count(), 2);
    done(at, "convert iris.csv iris.mmc");
    let run = run(at, "train iris.mmc --label colour");
    assert!(run.stderr.contains("cache file, whose labels are known"), "{}", run.stderr);
}

#[test]
fn an_arrow_stream_goes_through_pipes() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate moons --rows 50 -o moons.arrows");
    let text = done(at, "convert moons.arrows /dev/stdout --to csv -q").stdout;
    assert_eq!(text.lines().count(), 51);
    let from = fs::File::open(at.join("moons.arrows")).unwrap();
    let train = program(at).args(["train", "-", "--kernel", "rbf", "-o", "piped.mm"]).stdin(from).output().unwrap();
    assert!(train.status.success(), "{train:?}");
    assert_eq!(done(at, "predict piped.mm moons.arrows").stdout.lines().count(), 50);
}

#[test]
fn a_damaged_parquet_file_is_bad_input_and_no_bug_of_ours() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate e1 -o e1.parquet");
    let bytes = fs::read(at.join("e1.parquet")).unwrap();
    let mut refused = 0;
    for place in (0..bytes.len()).step_by(bytes.len() / 60) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x5a;
        fs::write(at.join("damaged.parquet"), damaged).unwrap();
        let run = run(at, "convert damaged.parquet out.csv --format parquet");
        assert!(matches!(run.code, Some(0 | 2)), "byte {place}: {:?}\n{}", run.code, run.stderr);
        refused += usize::from(run.code == Some(2));
    }
    assert!(refused > 10, "{refused}");
}
