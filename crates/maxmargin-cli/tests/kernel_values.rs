//! Tables of kernel values in LIBSVM's form, `label 0:i 1:K(x, x_1) 2:K(x, x_2) ...`, as a user walks them.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use program::{done, json, run};
use tempfile::tempdir;

/// Points around two or three centres, and their labels.
fn points(count: usize, classes: usize) -> Vec<([f64; 2], usize)> {
    let point = |k: usize| {
        let (class, turn) = (k % classes, k as f64);
        ([class as f64 + 0.6 * turn.sin(), 1.5 * (class % 2) as f64 + 0.6 * (1.7 * turn).cos()], class)
    };
    (0..count).map(point).collect()
}

fn value(x: [f64; 2], z: [f64; 2]) -> f64 {
    (-0.5 * ((x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2))).exp()
}

/// The rows of these numbers, with a column for each of the first `columns` points.
fn table(path: &Path, points: &[([f64; 2], usize)], rows: &[usize], columns: usize, serial: impl Fn(usize) -> String) {
    let mut text = String::new();
    for &row in rows {
        write!(text, "{}{}", points[row].1, serial(row)).unwrap();
        for column in 0..columns {
            write!(text, " {}:{}", column + 1, value(points[row].0, points[column].0)).unwrap();
        }
        text.push('\n');
    }
    fs::write(path, text).unwrap();
}

fn numbered(row: usize) -> String {
    format!(" 0:{}", row + 1)
}

#[test]
fn a_table_with_serial_numbers_is_the_kernel_itself_in_any_order_of_its_rows() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let points = points(60, 3);
    let all: Vec<usize> = (0..40).collect();
    let mixed: Vec<usize> = (0..40).map(|k| k * 7 % 40).collect();
    let new: Vec<usize> = (40..60).collect();
    table(&at.join("plain.svm"), &points, &all, 40, |_| String::new());
    table(&at.join("numbered.svm"), &points, &all, 40, numbered);
    table(&at.join("mixed.svm"), &points, &mixed, 40, numbered);
    table(&at.join("new.svm"), &points, &new, 40, |_| " 0:77".into());
    let rows = |list: &[usize]| -> String {
        list.iter().map(|&row| format!("{} 1:{} 2:{}\n", points[row].1, points[row].0[0], points[row].0[1])).collect()
    };
    fs::write(at.join("points.svm"), rows(&all)).unwrap();
    fs::write(at.join("new_points.svm"), rows(&new)).unwrap();
    done(at, "train points.svm --kernel rbf --gamma 0.5 -o points.mm");
    let expected = json(at, "predict points.mm new_points.svm --decision-values --json");
    for name in ["plain", "numbered", "mixed"] {
        done(at, &format!("train {name}.svm --kernel precomputed --test new.svm -o {name}.mm"));
        let found = json(at, &format!("predict {name}.mm new.svm --decision-values --json"));
        assert_eq!(found["labels"], expected["labels"], "{name}");
        let near = |(a, b): (&serde_json::Value, &serde_json::Value)| {
            a.as_array().unwrap().iter().zip(b.as_array().unwrap()).for_each(|(a, b)| {
                assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 0.02, "{name}: {a} {b}");
            });
        };
        let [found, wanted] = [&found, &expected].map(|json| json["decision_values"].as_array().unwrap().clone());
        found.iter().zip(&wanted).for_each(near);
        for data in ["plain", "numbered", "mixed"] {
            done(at, &format!("verify {name}.mm {data}.svm"));
        }
    }
    let bytes = ["plain.mm", "numbered.mm", "mixed.mm"].map(|name| fs::read(at.join(name)).unwrap());
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2], "the same model, to the byte");
    done(at, "kernel-check mixed.svm --kernel precomputed");
}

#[test]
fn some_rows_of_a_table_are_trained_on_and_new_rows_are_read_by_their_columns() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let points = points(60, 2);
    let some: Vec<usize> = (0..50).filter(|k| k % 3 != 1).rev().collect();
    let others: Vec<usize> = (0..60).filter(|k| !some.contains(k)).collect();
    table(&at.join("some.svm"), &points, &some, 50, numbered);
    table(&at.join("others.svm"), &points, &others, 50, numbered);
    done(at, "train some.svm --kernel precomputed -o some.mm");
    done(at, "verify some.mm some.svm");
    let rows = |list: &[usize]| -> String {
        list.iter().map(|&row| format!("{} 1:{} 2:{}\n", points[row].1, points[row].0[0], points[row].0[1])).collect()
    };
    let mut sorted = some.clone();
    sorted.sort_unstable();
    fs::write(at.join("points.svm"), rows(&sorted)).unwrap();
    fs::write(at.join("new_points.svm"), rows(&others)).unwrap();
    done(at, "train points.svm --kernel rbf --gamma 0.5 -o points.mm");
    let found = json(at, "predict some.mm others.svm --json");
    assert_eq!(found["labels"], json(at, "predict points.mm new_points.svm --json")["labels"]);
    // To LIBSVM's file the numbers go as they are, and back.
    done(at, "convert-model some.mm some.model --to libsvm -q");
    let text = fs::read_to_string(at.join("some.model")).unwrap();
    assert!(text.contains("kernel_type precomputed\n"), "{text}");
    let number = |line: &str| line.split_once(" 0:").unwrap().1.trim().parse::<usize>().unwrap();
    let vectors: Vec<usize> = text.split_once("SV\n").unwrap().1.lines().map(number).collect();
    assert!(vectors.len() > 2 && vectors.iter().all(|&number| some.contains(&(number - 1))), "{vectors:?}");
    assert_eq!(json(at, "predict some.model others.svm --json")["labels"], found["labels"]);
}

#[test]
fn serial_numbers_that_are_none_are_said_with_their_row() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    for (text, what) in [
        ("1 0:1 1:2 2:1\n2 0:1 1:1 2:2\n", "t.svm: rows 1 and 2 both have the serial number 1"),
        ("1 0:1 1:2 2:1\n2 1:1 2:2\n", "t.svm: row 2 has no serial number, unlike others"),
        ("1 0:1 1:2 2:1\n2 0:1.5 1:1 2:2\n", "t.svm: row 2 has the serial number 1.5"),
        ("1 0:-1 1:2 2:1\n2 0:2 1:1 2:2\n", "t.svm: row 1 has the serial number -1"),
        ("1 0:1e300 1:2 2:1\n2 0:2 1:1 2:2\n", "t.svm: row 1 has the serial number 1"),
    ] {
        fs::write(at.join("t.svm"), text).unwrap();
        let run = run(at, "train t.svm --kernel precomputed");
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(what) && run.stderr.contains("begin each training row with 0:i"), "{}", run.stderr);
    }
    // For other kernels an index 0 is a fault, as ever.
    fs::write(at.join("t.svm"), "1 0:1 1:2 2:1\n2 0:2 1:1 2:2\n").unwrap();
    let run = run(at, "train t.svm --kernel rbf");
    assert!(run.stderr.contains("t.svm:1:3: found the index 0, expected one of 1 or more"), "{}", run.stderr);
}
