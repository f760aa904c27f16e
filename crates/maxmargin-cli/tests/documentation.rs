//! Every command that the documentation shows is run, page by page, in the order in which it stands there.
//!
//! A page's ```` ```sh ```` blocks run in one folder, with the files that its readers are taken to have. A line must end with exit code 0. Lines
//! of `cargo`, `pip` and `python` are not run here, except for `cargo run`, which becomes the program.
#![allow(clippy::unwrap_used)] // a test may end here
#![cfg(unix)] // the blocks are for a shell

mod program;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use program::done;
use tempfile::tempdir;

/// A line of a page, and where it stands.
struct Line {
    number: usize,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The lines of all blocks of a language, without empty ones.
fn blocks(page: &str, language: &str) -> Vec<Line> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut inside = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(opened) = line.strip_prefix("```") {
            inside = opened == language;
        } else if inside && !line.trim().is_empty() {
            lines.push(Line { number: at + 1, text: line.to_string() });
        }
    }
    lines
}

/// What is run for a line: `None` for what this test leaves to others.
fn command(line: &str) -> Option<String> {
    if let Some(rest) = line.strip_prefix("cargo run --release -- ") {
        return Some(format!("maxmargin {rest}"));
    }
    let others = ["cargo ", "pip ", "python "];
    (!others.iter().any(|word| line.starts_with(word))).then(|| line.to_string())
}

/// Runs the commands of a page in a folder, and says how many there were.
fn run_page(folder: &Path, page: &str) -> usize {
    let program = Path::new(env!("CARGO_BIN_EXE_maxmargin"));
    let path = format!("{}:{}", program.parent().unwrap().display(), env::var("PATH").unwrap());
    let mut count = 0;
    for Line { number, text } in blocks(page, "sh") {
        let Some(command) = command(&text) else { continue };
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder)
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{page}, line {number}: {command}\n{}\n{said}", output.status);
        count += 1;
    }
    count
}

/// Makes a table with the columns `width`, `height` and `label`, and new rows without the label.
fn write_table(folder: &Path, name: &str) {
    done(folder, &format!("generate moons --rows 120 --seed 1 -o {name}"));
    let rows = fs::read_to_string(folder.join(name)).unwrap();
    let body = rows.split_once('\n').unwrap().1;
    fs::write(folder.join(name), format!("width,height,label\n{body}")).unwrap();
    let new: Vec<&str> = body.lines().take(10).map(|row| row.rsplit_once(',').unwrap().0).collect();
    fs::write(folder.join("new.csv"), format!("width,height\n{}\n", new.join("\n"))).unwrap();
}

/// Copies LIBSVM's set of heart patients, which the tests carry.
fn write_heart(folder: &Path, name: &str) {
    fs::copy(root().join("crates/maxmargin-cli/tests/data/heart_scale"), folder.join(name)).unwrap();
}

#[test]
fn the_readme() {
    let folder = tempdir().unwrap();
    assert!(run_page(folder.path(), "README.md") >= 7, "and no file is needed");
}

#[test]
fn the_first_steps() {
    let folder = tempdir().unwrap();
    write_table(folder.path(), "mine.csv");
    write_heart(folder.path(), "large.svm");
    // The page shows what becomes of an interrupted training; here it is trained to its end.
    done(folder.path(), "train large.svm --kernel rbf -o large.mm");
    assert!(run_page(folder.path(), "docs/first-steps.md") >= 18);
}

#[test]
fn the_manual() {
    let folder = tempdir().unwrap();
    write_table(folder.path(), "clicks.csv");
    write_heart(folder.path(), "clicks.svm");
    assert!(run_page(folder.path(), "docs/manual.md") >= 4);
}

#[test]
fn the_page_of_large_kernels() {
    let folder = tempdir().unwrap();
    assert!(run_page(folder.path(), "docs/large-kernels.md") >= 5, "and no file is needed");
}

#[test]
fn the_way_from_libsvm() {
    let folder = tempdir().unwrap();
    write_heart(folder.path(), "heart");
    write_heart(folder.path(), "heart_scale");
    assert!(run_page(folder.path(), "docs/coming-from-libsvm.md") >= 7);
}

/// The pictures in the folder of the docs are those that the commands of their page make. `WRITE_PICTURES=1` puts them there.
#[test]
fn the_pictures() {
    let folder = tempdir().unwrap();
    assert!(run_page(folder.path(), "docs/pictures.md") >= 18);
    let page = fs::read_to_string(root().join("docs/pictures.md")).unwrap();
    let shown: Vec<&str> =
        page.split("](pictures/").skip(1).filter_map(|rest| rest.split_once(')')).map(|part| part.0).collect();
    assert!(shown.len() >= 28, "{shown:?}");
    let mut stale = Vec::new();
    for name in shown {
        let made = fs::read(folder.path().join("pictures").join(name)).unwrap();
        let kept = root().join("docs/pictures").join(name);
        if env::var_os("WRITE_PICTURES").is_some() {
            fs::write(&kept, &made).unwrap();
        }
        if fs::read(&kept).ok().as_ref() != Some(&made) {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "WRITE_PICTURES=1 makes these anew: {stale:?}");
}

/// The crate's README runs as a test of its documentation, so one program stands for both.
#[test]
fn the_program_of_the_readme_is_the_one_that_the_crate_tests() {
    let lines =
        |page| blocks(page, "rust").into_iter().map(|line| line.text.split("//").next().unwrap().trim().to_string());
    let shown: Vec<String> = lines("README.md").collect();
    let tested: Vec<String> = lines("crates/maxmargin/README.md").filter(|line| !line.starts_with('#')).collect();
    assert!(shown.len() >= 6);
    assert_eq!(shown, tested);
}

#[test]
fn a_command_that_fails_is_seen() {
    let folder = tempdir().unwrap();
    let page = folder.path().join("page.md");
    fs::write(&page, "```sh\nmaxmargin train no-such-file.csv\n```\n").unwrap();
    let outcome = std::panic::catch_unwind(|| run_page(folder.path(), page.to_str().unwrap()));
    assert!(outcome.is_err());
}
