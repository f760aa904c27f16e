//! A training that goes on from a checkpoint, or begins at a model.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::path::Path;

use program::{Run, done, json, run};
use tempfile::{TempDir, tempdir};

/// Steps enough for a fit to be cut in many places.
const SLOW: &str = "train hard.csv --kernel rbf -C 1000 --tolerance 1e-4 --max-iterations 60000";

fn with_data() -> TempDir {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate moons --rows 600 --noise 0.5 -o hard.csv");
    folder
}

/// A folder with the checkpoint of a fit that ran into its time limit.
fn with_checkpoint() -> (TempDir, Run) {
    let folder = with_data();
    let run = done(folder.path(), &format!("{SLOW} --checkpoint kept --max-time 0.01"));
    assert!(folder.path().join("kept").is_file(), "{}", run.stderr);
    (folder, run)
}

#[track_caller]
fn refused(folder: &Path, line: &str, what: &str, help: &str) {
    let run = run(folder, line);
    assert_eq!(run.code, Some(2), "{line}\n{}", run.stderr);
    assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}\n{}", run.stderr);
}

#[test]
fn a_fit_that_is_cut_by_its_time_limit_again_and_again_ends_in_the_same_model() {
    let (folder, first) = with_checkpoint();
    let at = |name: &str| folder.path().join(name);
    assert!(first.stderr.contains("note: where the training was is in kept; to go on:"), "{}", first.stderr);
    assert!(first.stderr.contains(&format!("{SLOW} --checkpoint kept --max-time 0.01 --resume kept")));
    let mut rounds = 1;
    while at("kept").is_file() {
        let limit = 0.05 * f64::from(rounds);
        done(folder.path(), &format!("{SLOW} --checkpoint kept --resume kept --max-time {limit}"));
        rounds += 1;
        assert!(rounds < 1000, "it never ends");
    }
    assert!(!at("kept.previous").exists(), "both files are removed once the model is written");
    done(folder.path(), &format!("{SLOW} -o undisturbed.mm"));
    assert_eq!(fs::read(at("hard.mm")).unwrap(), fs::read(at("undisturbed.mm")).unwrap(), "{rounds} rounds");
}

#[test]
fn checkpoints_are_written_along_the_way_and_removed_at_the_end() {
    let folder = with_data();
    done(folder.path(), "train hard.csv -o plain.mm -q");
    let run = done(folder.path(), "train hard.csv -o kept.mm --checkpoint kept --checkpoint-every 0.005");
    assert!(!run.stderr.contains("resume"), "{}", run.stderr);
    let at = |name: &str| folder.path().join(name);
    assert_eq!(fs::read(at("plain.mm")).unwrap(), fs::read(at("kept.mm")).unwrap());
    assert!(!at("kept").exists() && !at("kept.previous").exists());
}

#[test]
fn a_checkpoint_is_not_overwritten_by_a_training_that_does_not_go_on_from_it() {
    let (folder, _) = with_checkpoint();
    refused(folder.path(), &format!("{SLOW} --checkpoint kept"), "there is a file \"kept\" already", "--resume kept");
}

#[test]
fn other_data_and_other_parameters_are_refused_with_what_differs() {
    let (folder, _) = with_checkpoint();
    let refused = |line: &str, what: &str, help: &str| refused(folder.path(), line, what, help);
    refused(
        &format!("{} --resume kept", SLOW.replace("-C 1000", "-C 10")),
        "kept: the checkpoint was made with the penalty C 1000.0, but now it is C 10.0",
        "give the parameters that the checkpoint was made with",
    );
    refused(
        &format!("{SLOW} --bias none --resume kept"),
        "the bias explicit, but now it is none",
        "give the parameters",
    );
    refused(
        &format!("{SLOW} --holdout 0.5 --resume kept"),
        "the checkpoint was made from other data",
        "give the data that the checkpoint was made from",
    );
    let threads = run(folder.path(), &format!("{SLOW} --threads 2 --memory 1G --resume kept --max-time 0.1"));
    assert_eq!(threads.code, Some(0), "{}", threads.stderr);
}

#[test]
fn a_damaged_checkpoint_names_the_one_before_it() {
    let (folder, _) = with_checkpoint();
    let at = |name: &str| folder.path().join(name);
    let mut bytes = fs::read(at("kept")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(at("broken"), &bytes).unwrap();
    refused(
        folder.path(),
        &format!("{SLOW} --resume broken"),
        "broken: the checkpoint file is damaged",
        "from scratch",
    );
    fs::rename(at("kept"), at("broken.previous")).unwrap();
    let line = format!("{SLOW} --resume broken");
    refused(folder.path(), &line, "broken: the checkpoint file is damaged", "go on from \"broken.previous\"");
    fs::remove_file(at("broken")).unwrap();
    refused(folder.path(), &line, "there is no such file", "go on from \"broken.previous\"");
    done(folder.path(), &format!("{SLOW} --resume broken.previous --max-time 0.1"));
}

#[test]
fn a_warm_start_at_another_penalty_reaches_the_same_objective_in_fewer_steps() {
    let folder = with_data();
    let line = "train hard.csv --kernel rbf --tolerance 1e-5 --json";
    done(folder.path(), &format!("{line} -C 1 -o one.mm"));
    let cold = json(folder.path(), &format!("{line} -C 1.2"));
    let warm = json(folder.path(), &format!("{line} -C 1.2 --warm-start one.mm"));
    let (cold_steps, warm_steps) = (cold["iterations"].as_u64().unwrap(), warm["iterations"].as_u64().unwrap());
    assert!(warm_steps < cold_steps, "{warm_steps} {cold_steps}");
    program::near(&warm["objective"]["dual"], cold["objective"]["dual"].as_f64().unwrap());
}
