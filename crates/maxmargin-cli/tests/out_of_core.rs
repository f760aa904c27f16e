//! Training on data larger than memory: by itself or when asked, from every kind of file, leaving nothing behind.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::path::Path;

use program::{done, json, run};
use tempfile::{TempDir, tempdir};

/// Text of 3,000 rows.
fn with_text() -> TempDir {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate text --rows 3000 --columns 2000 -o text.svm");
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[track_caller]
fn refused(folder: &Path, line: &str, what: &str, help: &str) {
    let before = files(folder);
    let run = run(folder, line);
    assert_eq!(run.code, Some(2), "{line}\n{}\n{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}\n{}", run.stderr);
    assert_eq!(files(folder), before, "{line}");
}

#[test]
fn a_file_larger_than_memory_goes_out_of_core_by_itself_and_its_certificate_is_true() {
    let folder = with_text();
    let report = json(folder.path(), "train text.svm --memory 1M --json");
    assert_eq!(report["converged"], true);
    assert!(report["objective"]["relative_gap"].as_f64().unwrap() <= 1e-3, "{report}");
    assert!(report["out_of_core"]["reason"].as_str().unwrap().contains("the memory is 1.0 MiB"), "{report}");
    assert!(report["out_of_core"]["passes"].as_u64().unwrap() > 2);
    assert_eq!(files(folder.path()), ["text.mm", "text.svm"], "the cache is removed");
    let verified = done(folder.path(), "verify text.mm text.svm");
    assert!(verified.stdout.contains("true: every number of the certificate was found again"), "{}", verified.stdout);

    // The optimum is that of a training in memory.
    let whole = json(folder.path(), "train text.svm --gap 1e-6 --json -o whole.mm");
    let primal = |report: &serde_json::Value| report["objective"]["primal"].as_f64().unwrap();
    assert!(whole.get("out_of_core").is_none());
    assert!((primal(&report) - primal(&whole)).abs() <= 1e-3 * primal(&report), "{report}\n{whole}");
    let words = done(folder.path(), "train text.svm --memory 1M");
    assert!(
        words.stderr.contains("note: training out of core, block by block: the data takes about"),
        "{}",
        words.stderr
    );
    assert!(words.stdout.contains("3000 rows, 2000 columns, 2 classes"), "{}", words.stdout);
    assert!(program::words(&words.stdout).contains("passes over the data"), "{}", words.stdout);
}

#[test]
fn a_cache_that_is_named_is_kept_and_gives_the_same_model() {
    let folder = with_text();
    let at = folder.path();
    let run = done(at, "train text.svm --out-of-core --cache kept.mmc -o one.mm");
    assert!(run.stderr.contains("the cache is in kept.mmc"), "{}", run.stderr);
    done(at, "train kept.mmc --out-of-core -o two.mm -q");
    done(at, "train kept.mmc --out-of-core --threads 1 -o three.mm -q");
    let read = |name: &str| fs::read(at.join(name)).unwrap();
    assert!(read("one.mm") == read("two.mm") && read("two.mm") == read("three.mm"));
    assert_eq!(files(at), ["kept.mmc", "one.mm", "text.svm", "three.mm", "two.mm"]);
    refused(at, "train text.svm --out-of-core --cache text.svm", "is there, and is no cache", "--cache");
}

#[test]
fn every_kind_of_file_and_several_classes_are_trained_on() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate iris -o iris.csv");
    done(at, "convert iris.csv iris.parquet");
    for line in [
        "train iris --out-of-core -C 0.1 -o own.mm",
        "train iris.csv --out-of-core -C 0.1 -o csv.mm",
        "train iris.parquet --out-of-core -C 0.1 -o parquet.mm",
    ] {
        let run = done(at, line);
        assert!(run.stdout.contains("virginica"), "{}", run.stdout);
    }
    for name in ["own", "csv", "parquet"] {
        done(at, &format!("verify {name}.mm iris.csv"));
    }
    let chosen = done(at, "train iris.csv --out-of-core --columns petal_length,petal_width -C 0.1 -o two.mm");
    assert!(chosen.stdout.contains("150 rows, 2 columns, 3 classes"), "{}", chosen.stdout);
}

#[test]
fn what_needs_the_whole_data_is_refused_with_a_way_out() {
    let folder = with_text();
    let at = folder.path();
    for (flags, what, help) in [
        ("--kernel rbf", "a kernel other than linear cannot be trained block by block", "leave out the kernel"),
        ("--hard", "a hard margin, nu or no penalty cannot be trained block by block", "choose C"),
        ("--solver smo", "the solver that was named cannot", "dual-ascent"),
        ("--scale standard", "columns that are to be scaled cannot", "beforehand"),
        ("--holdout 0.2", "--holdout does not go with a training out of core", "a file of their own"),
        ("--checkpoint kept", "--checkpoint does not go with a training out of core", "--warm-start"),
        ("--memory 10K", "but the memory budget is 10.0 KiB", "--stream"),
    ] {
        refused(at, &format!("train text.svm --out-of-core {flags}"), what, help);
    }
    refused(at, "train iris --out-of-core --multiclass ovo", "classes by pairs or together cannot", "ovr");
    // Where nobody asked for it, what cannot go out of core is done in memory as ever.
    let kernel = run(at, "train text.svm --kernel rbf --solver smo --memory 1M --max-iterations 5 -o kernel.mm");
    assert!(kernel.stderr.contains("but it is read as a whole"), "{}", kernel.stderr);
}

#[test]
fn a_broken_line_and_a_damaged_block_are_told_with_their_place_and_leave_nothing_behind() {
    let folder = with_text();
    let at = folder.path();
    let text = fs::read_to_string(at.join("text.svm")).unwrap();
    let broken: String =
        text.lines().enumerate().map(|(k, line)| format!("{line}{}\n", if k == 2000 { " x:1" } else { "" })).collect();
    fs::write(at.join("broken.svm"), broken).unwrap();
    refused(at, "train broken.svm --out-of-core", "broken.svm:2001:", "");

    done(at, "train text.svm --cache kept.mmc --memory 1M -o one.mm -q");
    let mut bytes = fs::read(at.join("kept.mmc")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(at.join("damaged.mmc"), bytes).unwrap();
    refused(at, "train damaged.mmc --out-of-core -o damaged.mm", "its checksum does not match", "convert");
}

#[test]
fn a_time_limit_leaves_a_model_to_go_on_from() {
    let folder = with_text();
    let at = folder.path();
    let run = done(at, "train text.svm --out-of-core --gap 1e-13 --max-time 0.2 -o part.mm");
    assert!(run.stderr.contains("the solver did not converge (time-limit)"), "{}", run.stderr);
    done(at, "verify part.mm text.svm");
    let report = json(at, "train text.svm --out-of-core --warm-start part.mm -o rest.mm --json");
    assert_eq!(report["converged"], true);
}
