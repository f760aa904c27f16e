//! A process that is killed leaves nothing behind, and a file that it was to replace is as it was.
#![cfg(target_os = "linux")]

mod program;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use program::program;

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Feeds a command rows that do not end, and kills it once it has taken many.
fn killed_in_the_middle(mut command: Command) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut rows = child.stdin.take().expect("a pipe");
    // A pipe holds 64 KiB, so that the program has read, and written, nearly all of this.
    let block = "+1 1:0.5 2:1.25 7:3\n-1 1:0.25 3:4.5 7:1\n".repeat(25_000);
    for _ in 0..12 {
        rows.write_all(block.as_bytes()).expect("the program reads");
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

#[test]
fn a_process_that_is_killed_with_9_while_writing_leaves_no_temporary_file() {
    for name in ["out.mmc", "out.svm"] {
        for old in [None, Some("the old content")] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(name);
            old.iter().for_each(|old| std::fs::write(&path, old).expect("a file"));
            let mut command = program(folder.path());
            command.args(["convert", "-", name]);
            killed_in_the_middle(command);
            let expected: Vec<&str> = old.iter().map(|_| name).collect();
            assert_eq!(names(folder.path()), expected, "{name}");
            assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), old, "{name}");
        }
    }
}

#[test]
fn training_out_of_core_that_is_killed_with_9_leaves_no_cache_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(folder.path());
    command.args(["train", "-", "--out-of-core", "--memory", "8M", "-o", "m.mm"]);
    killed_in_the_middle(command);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}
