//! Learning from files and pipes that are never in memory as a whole, and going on after an interrupt.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};

use program::{done, json, program, run};
use tempfile::{TempDir, tempdir};

/// A cache of 20,000 rows in mixed order.
fn with_cache() -> TempDir {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate blobs --rows 20000 --noise 1.2 -o blobs.svm");
    done(folder.path(), "convert blobs.svm blobs.mmc");
    folder
}

#[track_caller]
fn refused(folder: &Path, line: &str, what: &str, help: &str) {
    let run = run(folder, line);
    assert_eq!(run.code, Some(2), "{line}\n{}", run.stderr);
    assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}\n{}", run.stderr);
}

#[test]
fn a_stream_gives_the_same_model_from_every_kind_of_source() {
    let folder = with_cache();
    let line = "--stream --solver sgd --lambda 1e-4 --classes -1,+1 --validate 10 -q";
    done(folder.path(), &format!("train blobs.mmc {line} -o cache.mm"));
    done(folder.path(), &format!("train blobs.svm {line} -o text.mm"));
    let mut child = program(folder.path())
        .args(format!("train - {line} -o pipe.mm").split(' '))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(folder.path().join("blobs.svm")).unwrap()).unwrap();
    assert!(child.wait().unwrap().success());
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("cache.mm"), read("text.mm"));
    assert_eq!(read("cache.mm"), read("pipe.mm"));
    let run = done(folder.path(), "predict cache.mm blobs.mmc -o labels.txt");
    assert!(run.stderr.contains("accuracy: 9"), "{}", run.stderr);
}

#[test]
fn the_report_tells_the_estimates_and_why_there_is_no_certificate() {
    let folder = with_cache();
    let run = done(folder.path(), "train blobs.mmc --stream --passes 2 --validate 20");
    for words in
        ["19000 of", "38000 rows learnt in 2 passes", "held out", "certificate none: rows that stream by", "blobs.mm"]
    {
        let words = words.replace("19000 of", "each row before it was learnt");
        assert!(program::words(&run.stdout).contains(&words), "{words}\n{}", run.stdout);
    }
    let report = json(folder.path(), "train blobs.mmc --stream --passes 2 --validate 20 --json");
    assert_eq!(report["rows_learnt"], 38000);
    assert_eq!(report["held_out"]["rows"], 1000);
    assert!(report["held_out"]["error_rate"].as_f64().unwrap() < 0.08, "{report}");
    assert!(report["progressive"]["error_rate"].as_f64().unwrap() < 0.1, "{report}");
    let inspected = done(folder.path(), "inspect blobs.mm");
    assert!(inspected.stdout.contains("sgd"), "{}", inspected.stdout);
}

#[test]
fn verify_finds_the_certificate_that_a_stream_could_not_have() {
    let folder = with_cache();
    done(folder.path(), "train blobs.svm --stream --passes 3 --lambda 1e-3 -q -o stream.mm");
    let shown = done(folder.path(), "verify stream.mm blobs.svm");
    for words in ["relative gap", "found", "what its weights are worth on these rows"] {
        assert!(program::words(&shown.stdout).contains(words), "{words}\n{}", shown.stdout);
    }
    let found = json(folder.path(), "verify stream.mm blobs.svm --json");
    assert_eq!((&found["holds"], &found["same_data"]), (&true.into(), &serde_json::Value::Null));
    let certificate = &found["machines"][0]["found"];
    let gap = certificate["relative_gap"].as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!(gap > 0.0 && gap < 0.05, "{gap}");
}

#[test]
fn a_stream_that_is_cut_again_and_again_ends_in_the_same_model() {
    let folder = with_cache();
    let line = "train blobs.mmc --stream --lambda 1e-5 --passes 40 --batch 3 --validate 7 --loss logistic";
    done(folder.path(), &format!("{line} -o undisturbed.mm -q"));
    let first = done(folder.path(), &format!("{line} --checkpoint kept --max-time 0.02"));
    let kept = folder.path().join("kept");
    assert!(kept.is_file(), "{}", first.stderr);
    assert!(first.stderr.contains("--max-time 0.02 --resume kept"), "{}", first.stderr);
    let mut rounds = 1;
    while kept.is_file() {
        let limit = 0.02 * f64::from(rounds);
        let run = done(folder.path(), &format!("{line} --checkpoint kept --resume kept --max-time {limit}"));
        assert!(run.stderr.contains("note: going on from kept: pass "), "{}", run.stderr);
        rounds += 1;
        assert!(rounds < 1000, "it never ends");
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("blobs.mm"), read("undisturbed.mm"), "{rounds} rounds");
    assert!(!folder.path().join("kept.previous").exists());
}

#[test]
fn other_data_and_other_parameters_are_refused_when_going_on() {
    let folder = with_cache();
    let line = "train blobs.mmc --stream --lambda 1e-5 --passes 500";
    done(folder.path(), &format!("{line} --checkpoint kept --max-time 0.02 -q"));
    refused(
        folder.path(),
        "train blobs.mmc --stream --lambda 1e-4 --passes 500 --resume kept",
        "kept: the checkpoint was made with the lambda 1e-5, but now it is 0.0001",
        "give the parameters",
    );
    done(folder.path(), "generate blobs --rows 20000 --noise 1.2 --seed 9 -o other.svm");
    let other = line.replace("blobs.mmc", "other.svm");
    // Noticed where the checkpoint was made, or at the end of the pass when it was made between two of them.
    let run = run(folder.path(), &format!("{other} --resume kept --max-time 60"));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let words = ["made from other data", "not those of the pass before"];
    assert!(words.iter().any(|words| run.stderr.contains(words)), "{}", run.stderr);
}

#[test]
fn what_a_stream_has_no_use_for_is_refused() {
    let folder = with_cache();
    let at = folder.path();
    for (flags, what, help) in [
        ("-C 1", "cannot depend on the number of its rows", "--lambda or --c-over-n"),
        ("--kernel rbf", "this kernel does not go with --stream", "leave out --kernel"),
        ("--solver newton", "this solver does not go with --stream", "sgd"),
        ("--nu 0.2", "--nu does not go with --stream", "--lambda"),
        ("--epsilon 0.2", "--epsilon does not go with --stream", "leave it out"),
        ("--unlabelled", "--unlabelled does not go with --stream", "leave it out"),
        ("--holdout 0.1", "--holdout does not go with --stream", "--validate"),
        ("--passes 0", "passes is 0", "1 or more"),
        ("--validate 1", "validate is 1", "2 or more"),
        ("--lambda 0", "lambda is 0", "above 0"),
        ("--classes a", "one label is declared", "two labels"),
        ("--classes -1,7", "has the label \"+1\", which is new", "--classes"),
        ("--memory 1K", "needs", "--memory"),
    ] {
        refused(at, &format!("train blobs.mmc --stream {flags}"), what, help);
    }
    refused(at, "train - --stream --passes 2", "standard input can be read only once", "name a file");
    refused(at, "train blobs.mmc --passes 2", "--stream", "--help");
    assert!(!at.join("blobs.mm").exists());
}

#[test]
fn text_of_any_size_streams_from_the_generator_through_a_pipe() {
    let folder = tempdir().unwrap();
    let mut generator = program(folder.path())
        .args(["generate", "text", "--rows", "6000", "--columns", "500"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let learner = program(folder.path())
        .args("train - --stream --validate 10 --json -o text.mm".split(' '))
        .stdin(generator.stdout.take().unwrap())
        .output()
        .unwrap();
    assert!(generator.wait().unwrap().success() && learner.status.success());
    let report: serde_json::Value = serde_json::from_slice(&learner.stdout).unwrap();
    assert_eq!((&report["rows_learnt"], &report["columns"]), (&5400.into(), &500.into()));
    assert!(report["held_out"]["error_rate"].as_f64().unwrap() < 0.3, "{report}");
    done(folder.path(), "generate text --rows 6000 --columns 500 -o text.mmc");
    done(folder.path(), "generate text --rows 6000 --columns 500 -o text.svm");
    done(folder.path(), "train text.svm --stream --validate 10 -q -o again.mm");
    done(folder.path(), "train text.mmc --stream --validate 10 -q -o cached.mm");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("text.mm") == read("again.mm") && read("text.mm") == read("cached.mm"));
    refused(folder.path(), "generate text --columns 3", "columns is 3", "200");
    refused(folder.path(), "generate moons --columns 3", "only text", "leave out");
    refused(folder.path(), "generate text --format npy", "does not go to standard output", "-o");
}

#[cfg(unix)]
fn interrupted(mut child: Child) -> (Option<i32>, String) {
    use std::io::{BufRead, BufReader, Read};
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut words = String::new();
    while !words.contains("training on") {
        assert_ne!(errors.read_line(&mut words).unwrap(), 0, "it ended before it began: {words}");
    }
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    errors.read_to_string(&mut words).unwrap();
    (child.wait().unwrap().code(), words)
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_heard_while_a_pipe_is_silent_and_nothing_is_lost() {
    let folder = with_cache();
    // The pipe stays open and says nothing: whoever waits for it must hear Ctrl-C all the same.
    let mut child = program(folder.path())
        .args(["train", "-", "--stream", "--checkpoint", "kept"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdin.take().unwrap();
    let (code, words) = interrupted(child);
    drop(pipe);
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("interrupted before the first row was read"), "{words}");
    let long = "train blobs.mmc --stream --passes 100000000 --checkpoint kept";
    let child =
        program(folder.path()).args(long.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (code, words) = interrupted(child);
    assert_eq!(code, Some(130), "{words}");
    if folder.path().join("kept").is_file() {
        assert!(words.contains(&format!("to go on:\n  maxmargin {long} --resume kept")), "{words}");
    } else {
        assert!(words.contains("before the first row"), "{words}");
    }
    assert!(!folder.path().join("blobs.mm").exists());
}

#[test]
fn a_broken_file_is_refused_with_the_same_words_as_when_it_is_read_as_a_whole() {
    let folder = tempdir().unwrap();
    for (name, text, found) in [
        ("empty.csv", "a,b,label\n1,2,x\n3,,y\n5,6,x\n", "empty.csv:3:3: found an empty cell"),
        ("text.csv", "a,b,label\n1,2,x\n3,abc,y\n5,6,x\n", "text.csv:3:3: found \"abc\""),
        ("short.csv", "a,b,label\n1,2,x\n3,y\n5,6,x\n", "short.csv:3:3: found a row of 2 cells"),
        ("text.svm", "1 1:2 2:3\n-1 1:x 2:2\n", "text.svm:2:6: found \"x\""),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let whole = run(folder.path(), &format!("train {name}"));
        let streamed = run(folder.path(), &format!("train {name} --stream -q"));
        assert_eq!([whole.code, streamed.code], [Some(2), Some(2)], "{name}");
        assert!(streamed.stderr.contains(found), "{name}: {}", streamed.stderr);
        // Only one who has read the whole file can count.
        let counted = "; missing in all: 1 cell of \"b\"";
        assert_eq!(streamed.stderr, whole.stderr.replace(counted, ""), "{name}");
    }
}
