//! Machines on landmarks from the command line: what is said of them, saved, verified, refused.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::path::Path;

use program::{done, json, run, words};
use tempfile::{TempDir, tempdir};

fn with_data() -> TempDir {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate moons --rows 400 --noise 0.3 --seed 1 -o moons.csv");
    folder
}

#[track_caller]
fn refused(folder: &Path, line: &str, what: &str, help: &str) {
    let run = run(folder, line);
    assert_eq!(run.code, Some(2), "{line}\n{}", run.stderr);
    assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}\n{}", run.stderr);
}

#[test]
fn a_report_says_what_is_solved_and_what_is_proved_and_verify_finds_both_again() {
    let folder = with_data();
    let run = done(folder.path(), "train moons.csv --kernel rbf --landmarks 40 --prove -o few.mm");
    let page = words(&run.stdout);
    assert!(page.contains("converged on the landmarks"), "{page}");
    assert!(page.contains("40 landmarks; proved: the objective is at most"), "{page}");
    let run = done(folder.path(), "verify few.mm moons.csv");
    assert!(run.stdout.contains("true: every number of the certificate was found again"), "{}", run.stdout);
    assert!(words(&run.stdout).contains("proved relative gap"), "{}", run.stdout);
    let found = json(folder.path(), "verify few.mm moons.csv --json");
    assert_eq!(found["holds"], true);
    assert!(found["machines"][0]["proof"]["relative_gap"].as_f64().unwrap() > 0.0);
    let plain = done(folder.path(), "train moons.csv --kernel rbf --landmarks 40 -o plain.mm");
    assert!(words(&plain.stdout).contains("nothing is proved about the exact machine"), "{}", plain.stdout);
    // Without a kernel it is rbf, however many rows there are; the model predicts, draws and converts as any other.
    let report =
        json(folder.path(), "train moons.csv --landmarks 40 --prove --json -o own.mm --holdout 0.2 --plot own.svg");
    assert!(report["kernel"].as_str().unwrap().starts_with("rbf"));
    assert_eq!(report["landmarks"]["count"], 40);
    assert!(report["test"]["accuracy"].as_f64().unwrap() > 0.8);
    for line in
        ["predict own.mm moons.csv", "inspect own.mm", "explain own.mm moons.csv --row 3", "suspects own.mm moons.csv"]
    {
        done(folder.path(), line);
    }
    done(folder.path(), "convert-model few.mm few.model --to libsvm");
    let [ours, theirs] =
        ["few.mm", "few.model"].map(|model| done(folder.path(), &format!("predict {model} moons.csv")));
    assert_eq!(ours.stdout.lines().count(), theirs.stdout.lines().count());
}

#[test]
fn threads_and_a_file_change_no_bit() {
    let folder = with_data();
    for threads in 1..=3 {
        let line = format!("train moons.csv --kernel rbf --landmarks 60 --prove --threads {threads} -o {threads}.mm");
        done(folder.path(), &line);
    }
    let models = [1, 2, 3].map(|threads| fs::read(folder.path().join(format!("{threads}.mm"))).unwrap());
    assert!(models[0] == models[1] && models[0] == models[2]);
}

#[test]
fn landmarks_are_added_until_enough_is_proved_and_the_exact_engine_begins_there() {
    let folder = with_data();
    let line = "train moons.csv --kernel rbf --landmarks 10 --proved-gap 0.05 --json -o enough.mm";
    let report = json(folder.path(), line);
    assert!(report["landmarks"]["proved_gap"].as_f64().unwrap() <= 0.05);
    assert!(report["landmarks"]["count"].as_u64().unwrap() > 10);
    let exact = json(folder.path(), "train moons.csv --kernel rbf --warm-start enough.mm --json -o exact.mm");
    assert_eq!(exact["converged"], true);
    assert!(exact["landmarks"].is_null());
    let own = report["objective"]["primal"].as_f64().unwrap();
    let best = exact["objective"]["dual"].as_f64().unwrap();
    assert!(own >= best * (1.0 - 1e-6) && (own - best) / own <= 0.05, "{own} {best}");
}

#[test]
fn what_does_not_go_with_landmarks_is_refused_with_the_way_out() {
    let folder = with_data();
    let train = |rest: &str| format!("train moons.csv {rest}");
    refused(folder.path(), &train("--kernel rbf --landmarks 0"), "--landmarks is 0", "1 or more");
    refused(folder.path(), &train("--kernel rbf --landmarks some"), "give a whole number, or auto", "--help");
    refused(
        folder.path(),
        &train("--kernel rbf --landmarks 401"),
        "401 landmarks cannot be drawn from 400 rows",
        "at most 400",
    );
    refused(folder.path(), &train("--kernel linear --landmarks 10"), "the linear kernel has weights", "such as rbf");
    refused(folder.path(), &train("--kernel rbf --landmarks 10 --hard"), "no hard margin", "choose C");
    refused(folder.path(), &train("--kernel rbf --prove"), "--landmarks", "--help");
    refused(folder.path(), &train("--kernel rbf --landmarks 10 --proved-gap 0"), "--proved-gap is 0", "above 0");
    refused(folder.path(), &train("--kernel rbf --landmarks 300 --memory 1M"), "need", "at most");
    refused(folder.path(), &train("--kernel rbf --landmarks 10 --stream"), "--landmarks", "--stream");
}
