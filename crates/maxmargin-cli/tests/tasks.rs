//! Regression and one-class, as a user walks them.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fmt::Write;
use std::fs;

use program::{done, json, run};
use tempfile::{TempDir, tempdir};

/// 60 rows on a line with some noise that is the same each time, and rows around (5, 4).
fn with_tables() -> TempDir {
    let folder = tempdir().unwrap();
    let (mut line, mut usual) = ("width,height,price\n".to_string(), "a,b\n".to_string());
    for i in 0..60 {
        let (x, y, noise) = (f64::from(i % 10), f64::from(i / 10), f64::from(i * 37 % 11) - 5.0);
        writeln!(line, "{x},{y},{}", 3.0 * x - 2.0 * y + 1.0 + 0.01 * noise).unwrap();
        writeln!(usual, "{},{}", 5.0 + 0.3 * (x - 4.5), 4.0 + 0.2 * (y - 2.5)).unwrap();
    }
    fs::write(folder.path().join("line.csv"), line).unwrap();
    fs::write(folder.path().join("usual.csv"), usual).unwrap();
    folder
}

#[test]
fn a_regression_is_trained_held_out_predicted_inspected_and_verified() {
    let folder = with_tables();
    let flags = "--task regression --epsilon 0.02 -C 100 --scale standard --holdout 0.2 --gap 1e-8";
    for loss in ["hinge", "squared"] {
        let found = json(folder.path(), &format!("train line.csv {flags} --loss {loss} --json"));
        assert_eq!((found["task"].as_str(), found["converged"].as_bool()), (Some("regression"), Some(true)));
        assert!(found["objective"]["relative_gap"].as_f64().unwrap() <= 1e-8);
        assert!(found["test"]["r_squared"].as_f64().unwrap() > 0.9999, "{}", found["test"]);
        assert!(found["training"]["mean_absolute_error"].as_f64().unwrap() < 0.05);
        let verified = done(folder.path(), "verify line.mm line.csv --holdout 0.2");
        assert!(verified.stdout.contains("true: every number"), "{}", verified.stdout);
        let predicted = done(folder.path(), "predict line.mm line.csv");
        let numbers: Vec<f64> = predicted.stdout.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 60);
        assert!((numbers[0] - 1.0).abs() < 0.1, "{}", numbers[0]);
        assert!(predicted.stderr.contains("mean squared error"), "{}", predicted.stderr);
        let shown = done(folder.path(), "inspect line.mm");
        assert!(shown.stdout.contains("regression, epsilon 0.02"), "{}", shown.stdout);
    }
    let words = done(folder.path(), "train line.csv --task regression");
    assert!(words.stdout.contains("R²") && words.stdout.contains("on the edge"), "{}", words.stdout);
    let report = json(folder.path(), "predict line.mm line.csv --json");
    assert_eq!(report["numbers"].as_array().unwrap().len(), 60);
    assert!(report["score"]["mean_squared_error"].as_f64().unwrap() >= 0.0);
}

#[test]
fn one_class_is_trained_without_labels_drawn_and_verified() {
    let folder = with_tables();
    let trained =
        done(folder.path(), "train usual.csv --task one-class --kernel linear --nu 0.1 --unlabelled --plot usual.svg");
    assert!(trained.stdout.contains("one-class, nu 0.1"), "{}", trained.stdout);
    assert!(fs::read_to_string(folder.path().join("usual.svg")).unwrap().contains("<svg"));
    done(folder.path(), "verify usual.mm usual.csv --unlabelled");
    let predicted = done(folder.path(), "predict usual.mm usual.csv --unlabelled");
    let outside = predicted.stdout.lines().filter(|line| *line == "-1").count();
    assert!(predicted.stdout.lines().all(|line| line == "1" || line == "-1"));
    assert!((1..=7).contains(&outside), "{outside}");
}

#[test]
fn kernels_and_nu_are_trained_reported_and_verified() {
    let folder = with_tables();
    for (file, flags, said) in [
        ("line.csv", "--task regression --kernel rbf", "regression, epsilon 0.1"),
        ("line.csv", "--task regression --kernel rbf --nu 0.3", "regression, epsilon"),
        ("line.csv", "--task regression --nu 0.3", "nu = 0.3 came to epsilon"),
        ("usual.csv", "--task one-class --kernel rbf --nu 0.1 --unlabelled", "one-class, nu 0.1"),
        ("usual.csv", "--task svdd --kernel polynomial --nu 0.1 --unlabelled", "svdd, nu 0.1"),
        ("iris", "--kernel rbf --nu 0.2", "nu = 0.2"),
    ] {
        let unlabelled = if flags.contains("--unlabelled") { "--unlabelled" } else { "" };
        let trained = done(folder.path(), &format!("train {file} {flags} -o task.mm"));
        assert!(program::words(&trained.stdout).contains(said), "{flags}: {}", trained.stdout);
        let verified = done(folder.path(), &format!("verify task.mm {file} {unlabelled}"));
        assert!(verified.stdout.contains("true"), "{flags}: {}", verified.stdout);
        let predicted = done(folder.path(), &format!("predict task.mm {file} {unlabelled}"));
        assert!(predicted.stdout.lines().count() >= 60, "{flags}");
    }
    let report = json(folder.path(), "train iris --kernel rbf --nu 0.2 -o task.mm --json");
    assert_eq!(report["nu"], 0.2);
    assert!(report["machines"][0]["certificate"]["relative_gap"].as_f64().unwrap() < 0.1);
    let impossible = run(folder.path(), "train iris --nu 0.9 --positive setosa -o no.mm");
    assert_eq!(impossible.code, Some(2));
    assert!(impossible.stderr.contains("allow 0.666667 at most"), "{}", impossible.stderr);
}

#[test]
fn what_does_not_go_together_is_refused_with_a_way_out() {
    let folder = with_tables();
    for (flags, what, help) in [
        ("--nu 0.5 -C 1", "--nu finds the penalty, which was given, too", "leave out one of the two"),
        ("--nu 1.5", "nu is 1.5", "above 0 and at most 1"),
        ("--nu 0.5 --loss squared", "nu goes with hinge loss and an explicit bias", "C in the place of nu"),
        ("--task regression --nu 0.5 --epsilon 1", "--nu finds the epsilon that --epsilon gives", "leave out one"),
        ("--task one-class --epsilon 1", "--epsilon goes with --task regression", "leave it out"),
        ("--unlabelled", "--unlabelled goes with --task one-class", "leave it out"),
        ("--task regression --epsilon=-1", "epsilon is -1", "must be"),
        ("--task one-class --nu 2", "nu is 2", "must be"),
        (
            "--task regression --kernel rbf --solver dual-ascent",
            "with the linear kernel only, not rbf",
            "smo or block-smo",
        ),
        ("--task regression --loss logistic", "regression has no logistic loss", "hinge or squared"),
        ("--task regression --class-weights balanced", "no use for weights of classes", "leave it out"),
        ("--task regression --solver newton", "the solver newton tells classes apart", "primal-newton"),
        ("--task regression --norm l1 --loss squared", "the L1 norm is for classes, not for regression", "norm l2"),
        ("--task regression --stream", "--task does not go with --stream", "leave it out"),
        ("--task ranking", "ranking", "regression"),
    ] {
        let run = run(folder.path(), &format!("train line.csv {flags}"));
        assert_eq!(run.code, Some(2), "{flags}: {}", run.stderr);
        assert!(run.stderr.contains(what) && run.stderr.contains(help), "{flags}: {}", run.stderr);
        assert!(!folder.path().join("line.mm").exists(), "{flags}");
    }
    let run = run(folder.path(), "train iris --task regression -o x.mm");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("the label \"setosa\" of row 1 is not a number"), "{}", run.stderr);
}
