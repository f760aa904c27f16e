//! Ctrl-C and time limits: the program ends, says what it reached, and leaves nothing half-written.
#![allow(clippy::unwrap_used)] // a test may end here
#![cfg(unix)]

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use program::{done, program};
use tempfile::tempdir;

/// A fit that does not end by itself within minutes.
const LONG: &str = "train hard.csv --kernel rbf -C 1e6 --tolerance 1e-12 --max-iterations 1000000000000";

/// Starts a long fit, interrupts it once it has begun, and returns its exit code and all of its words.
fn interrupted(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    done(folder, "generate moons --rows 3000 --noise 0.6 -o hard.csv");
    let mut child =
        program(folder).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut words = String::new();
    while !words.contains("training on") {
        assert_ne!(errors.read_line(&mut words).unwrap(), 0, "it ended before it began: {words}");
    }
    signal(&child, "INT");
    let mut output = child.stdout.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        let mut printed = String::new();
        let _ = output.read_to_string(&mut printed);
        let _ = sender.send((text, printed));
    });
    // Far above the 200 ms promised: this is about ending at all, on a machine that may be busy.
    let Ok((rest, printed)) = receiver.recv_timeout(Duration::from_secs(60)) else {
        let _ = child.kill();
        panic!("it did not end");
    };
    (child.wait().unwrap().code(), words + &rest, printed)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn an_interrupt_says_what_was_reached_and_writes_nothing() {
    let folder = tempdir().unwrap();
    let (code, words, _) = interrupted(folder.path(), LONG);
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("interrupted after") && words.contains("violation") && words.contains("gap"), "{words}");
    assert!(words.contains("no model was written"), "{words}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["hard.csv"]);
}

#[test]
fn an_interrupt_while_data_are_read_ends_the_program_at_once() {
    let folder = tempdir().unwrap();
    let mut child = program(folder.path())
        .args(["train", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds, so that it is being read when all is written; and the end is not in sight.
    input.write_all(&b"+1 1:1 2:1\n-1 2:1\n".repeat(100_000)).unwrap();
    signal(&child, "INT");
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{words}");
    assert_eq!(words, "interrupted\n");
    drop(input);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_interrupt_with_a_checkpoint_says_how_to_go_on() {
    let folder = tempdir().unwrap();
    let line = format!("{LONG} --checkpoint kept");
    let (code, words, _) = interrupted(folder.path(), &line);
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("interrupted after"), "{words}");
    assert!(words.contains(&format!("where the training was is in kept; to go on:\n  maxmargin {line} --resume kept")));
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["hard.csv", "kept"]);
    let run = done(folder.path(), &format!("{line} --resume kept --max-time 0.2"));
    assert!(run.stderr.contains("note: going on from kept: 0 of 1 machine done"), "{}", run.stderr);
    // The checkpoint of the time limit, and the one of the interrupt.
    assert!(folder.path().join("kept").is_file() && folder.path().join("kept.previous").is_file());
    done(folder.path(), &format!("{line} --resume kept.previous --max-time 0.1"));
}

#[test]
fn whenever_it_is_killed_there_is_a_whole_checkpoint() {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate moons --rows 3000 --noise 0.6 -o hard.csv");
    let line = format!("{LONG} --checkpoint kept --checkpoint-every 0.0005");
    let kept = folder.path().join("kept");
    let mut resume = "";
    for kill in 0..10 {
        let mut child = program(folder.path())
            .args(format!("{line}{resume}").split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !kept.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
            thread::yield_now();
        }
        // From the first one on, the file can be loaded at each moment.
        for look in 0..5 * kill {
            maxmargin_io::load_checkpoint(&kept).unwrap_or_else(|error| panic!("kill {kill}, look {look}: {error}"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        maxmargin_io::load_checkpoint(&kept).unwrap();
        resume = " --resume kept";
    }
    done(folder.path(), &format!("{line}{resume} --max-time 0.05"));
}

#[test]
fn an_interrupt_keeps_a_checkpoint_and_a_model_on_request() {
    let folder = tempdir().unwrap();
    let (code, words, _) = interrupted(folder.path(), &format!("{LONG} --checkpoint kept --save-partial"));
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("what was reached is in hard.mm") && words.contains("--resume kept"), "{words}");
    done(folder.path(), "verify hard.mm hard.csv");
    assert!(folder.path().join("kept").is_file());
}

#[test]
fn what_an_interrupt_reached_is_kept_on_request_and_is_a_whole_model() {
    let folder = tempdir().unwrap();
    let (code, words, printed) = interrupted(folder.path(), &format!("{LONG} --save-partial --json"));
    assert_eq!(code, Some(130), "{words}");
    let found: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&found["stop"], &found["model"]), (&"interrupted".into(), &"hard.mm".into()));
    done(folder.path(), "inspect hard.mm");
    done(folder.path(), "verify hard.mm hard.csv");
}

#[test]
fn an_interrupted_fit_prints_one_json_object_too() {
    let folder = tempdir().unwrap();
    let (code, words, printed) = interrupted(folder.path(), &format!("{LONG} --json"));
    assert_eq!(code, Some(130), "{words}");
    let found: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&found["stop"], &found["converged"]), (&"interrupted".into(), &false.into()));
    assert!(found["model"].is_null() && found["iterations"].is_u64(), "{printed}");
}

#[test]
fn a_time_limit_ends_a_fit_with_a_true_certificate() {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate moons --rows 3000 --noise 0.6 -o hard.csv");
    let run = done(folder.path(), &format!("{LONG} --max-time 0.2"));
    assert!(run.stdout.contains("stopped     time-limit"), "{}", run.stdout);
    done(folder.path(), "verify hard.mm hard.csv");
}

#[test]
fn an_interrupt_out_of_core_leaves_no_cache_and_with_save_partial_a_model_to_go_on_from() {
    let folder = tempdir().unwrap();
    let line = "train hard.csv --out-of-core -C 1e4 --gap 1e-14 --max-iterations 1000000000";
    let (code, words, _) = interrupted(folder.path(), line);
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("no model was written"), "{words}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["hard.csv"]);

    let (code, words, _) = interrupted(folder.path(), &format!("{line} --save-partial"));
    assert_eq!(code, Some(130), "{words}");
    if words.contains("--warm-start hard.mm") {
        done(folder.path(), "train hard.csv --out-of-core --warm-start hard.mm --max-time 0.2 -o rest.mm -q");
    } else {
        // It came before all rows had been counted.
        assert!(words.contains("no model was written"), "{words}");
    }
}
