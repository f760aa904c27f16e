//! Many classes and many columns: what takes a second for few must not take hours for many.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fmt::Write;
use std::fs;
use std::process::Command;

use program::done;
use tempfile::tempdir;

/// Three rows of each class around a point of its own, the classes mixed.
fn rows(classes: usize) -> String {
    let mut text = String::new();
    for row in 0..3 * classes {
        let class = row * 7 % classes;
        write!(text, "{}", class + 1).unwrap();
        for column in 0..6 {
            let place = ((class * 31 + column * 17) as f64 * 0.7).sin() * 4.0;
            write!(text, " {}:{:.4}", column + 1, place + ((row * 13 + column) as f64).sin() * 0.1).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_thousand_pairs_of_classes_are_trained_written_and_predicted_without_a_search_for_each() {
    let folder = tempdir().unwrap();
    // 11,175 machines: a search for each among all would be 10⁸ steps, in several places.
    fs::write(folder.path().join("many"), rows(150)).unwrap();
    let said = done(folder.path(), "svm-train -c 1000 many m").stdout;
    assert_eq!(said.matches("optimization finished").count(), 150 * 149 / 2);
    assert!(done(folder.path(), "svm-predict many m out").stdout.starts_with("Accuracy = 100% (450/450)"));
    done(folder.path(), "train many --task classification --kernel rbf -C 1000 --format libsvm -o m.mm");
    let said = done(folder.path(), "predict m.mm many --format libsvm");
    assert_eq!(said.stdout.lines().count(), 450);
    assert!(said.stderr.contains("accuracy: "), "{}", said.stderr);
}

/// Runs the program with 1 GiB of addresses; its exit code and what it said.
#[cfg(target_os = "linux")]
fn in_a_gigabyte(folder: &std::path::Path, arguments: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_maxmargin");
    let script = format!("ulimit -v 1048576; exec '{program}' {arguments}");
    let output = Command::new("sh").arg("-c").arg(script).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), said)
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_million_columns_of_which_two_have_an_entry_take_little_memory() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("wide"), "1 100000000:2\n-1 5:1\n").unwrap();
    let (code, said) = in_a_gigabyte(folder.path(), "train wide --kernel linear --format libsvm -o m.mm");
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::metadata(folder.path().join("m.mm")).unwrap().len() < 10_000);
    let (code, said) = in_a_gigabyte(folder.path(), "predict m.mm wide --format libsvm --quiet");
    assert_eq!((code, said.as_str()), (Some(0), "1\n-1\n"));
    let (code, said) = in_a_gigabyte(folder.path(), "verify m.mm wide --format libsvm");
    assert_eq!(code, Some(0), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn kernels_take_no_memory_for_columns_without_an_entry() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("wide"), "1 7:1 2147483646:2\n-1 5:1\n").unwrap();
    for kernel in ["rbf --gamma 0.5", "rbf", "polynomial", "laplacian --gamma 0.1"] {
        let train = format!("train wide --kernel {kernel} --format libsvm -o m.mm");
        let (code, said) = in_a_gigabyte(folder.path(), &train);
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = in_a_gigabyte(folder.path(), "predict m.mm wide --format libsvm --quiet");
        assert_eq!((code, said.as_str()), (Some(0), "1\n-1\n"), "{kernel}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn inspect_writes_80_thousand_machines_as_json_without_holding_them_all() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("many"), rows(400)).unwrap();
    done(folder.path(), "train many --task classification --kernel rbf -C 1000 --format libsvm -q -o m.mm");
    let (code, said) = in_a_gigabyte(folder.path(), "inspect m.mm --json");
    assert_eq!(code, Some(0), "{}", &said[..said.len().min(300)]);
    assert_eq!(said.matches("\"training_errors\":").count(), 400 * 399 / 2);
    assert!(said.starts_with("{\"rows\":1200,") && said.ends_with("}]}\n"));
}
