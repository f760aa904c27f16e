//! LIBSVM's and LIBLINEAR's programs by their names: flags, files, phrases, exit codes.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fmt::Write;
use std::fs;

use program::{Run, done, run};
use tempfile::{TempDir, tempdir};

/// 90 rows of three classes that overlap, of two of them, and of a function of one column, in LIBSVM text.
fn with_rows() -> TempDir {
    let folder = tempdir().unwrap();
    let [mut three, mut two, mut sine] = [const { String::new() }; 3];
    for i in 0..90 {
        let (class, turn) = (i % 3, f64::from(i));
        let (x, y) = (f64::from(class) + 1.1 * turn.sin(), 2.0 * f64::from(class % 2) + 1.4 * (1.3 * turn).cos());
        writeln!(three, "{} 1:{x:.4} 2:{y:.4}", [4, -7, 12][class as usize]).unwrap();
        if class < 2 {
            writeln!(two, "{} 1:{x:.4} 2:{y:.4}", ["-1", "+1"][class as usize]).unwrap();
        }
        writeln!(sine, "{:.4} 1:{:.4}", (turn / 9.0).sin() + 0.1 * (7.0 * turn).sin(), turn / 9.0).unwrap();
    }
    fs::write(folder.path().join("three"), three).unwrap();
    fs::write(folder.path().join("two"), two).unwrap();
    fs::write(folder.path().join("sine"), sine).unwrap();
    folder
}

fn text(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// The entry of a model file.
fn entry(folder: &TempDir, model: &str, name: &str) -> String {
    let text = text(folder, model);
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).to_string()
}

#[test]
fn training_prints_the_phrases_that_scripts_look_for() {
    let folder = with_rows();
    let said = done(folder.path(), "svm-train two").stdout;
    for phrase in
        ["optimization finished, #iter = ", "nu = ", "obj = -", ", rho = ", "nSV = ", ", nBSV = ", "Total nSV = "]
    {
        assert!(said.contains(phrase), "{said}");
    }
    assert_eq!(entry(&folder, "two.model", "svm_type"), "c_svc");
    assert_eq!(entry(&folder, "two.model", "gamma"), "0.5", "one over the columns");
    assert_eq!(entry(&folder, "two.model", "label"), "1 -1", "+1 comes first, though -1 does in the data");
    assert!(done(folder.path(), "svm-train -s 1 -n 0.5 two m").stdout.contains("\nC = "));
    assert!(done(folder.path(), "svm-train -s 4 sine m").stdout.contains("\nepsilon = "));
    assert_eq!(done(folder.path(), "svm-train -q two m").stdout, "");
    assert_eq!(done(folder.path(), "svm-train three m").stdout.matches("optimization finished").count(), 3);
    assert_eq!(entry(&folder, "m", "label"), "4 -7 12", "in the order of the data");
}

#[test]
fn prediction_writes_labels_and_prints_the_accuracy() {
    let folder = with_rows();
    done(folder.path(), "svm-train -q three m");
    let said = done(folder.path(), "svm-predict three m out").stdout;
    let lines = text(&folder, "out");
    let truth = text(&folder, "three");
    let right = lines.lines().zip(truth.lines()).filter(|(found, row)| row.starts_with(&format!("{found} "))).count();
    assert_eq!(lines.lines().count(), 90);
    assert!(said.starts_with("Accuracy = ") && said.ends_with(&format!("% ({right}/90) (classification)\n")), "{said}");
    let share: f64 = said["Accuracy = ".len()..].split('%').next().unwrap().parse().unwrap();
    assert!((share - 100.0 * right as f64 / 90.0).abs() < 1e-3 && right < 90, "{said}");
    done(folder.path(), "svm-train -q -s 3 -c 10 sine m");
    let said = done(folder.path(), "svm-predict sine m out").stdout;
    assert!(said.starts_with("Mean squared error = 0.0"), "{said}");
    assert!(said.contains("\nSquared correlation coefficient = 0.9"), "{said}");
}

#[test]
fn probabilities_are_written_beside_the_labels() {
    let folder = with_rows();
    done(folder.path(), "svm-train -q -b 1 three m");
    assert_eq!(entry(&folder, "m", "probA").split(' ').count(), 3);
    done(folder.path(), "svm-predict -b 1 three m out");
    let out = text(&folder, "out");
    assert_eq!(out.lines().next(), Some("labels 4 -7 12"));
    for line in out.lines().skip(1) {
        let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        assert!((numbers[1..].iter().sum::<f64>() - 1.0).abs() < 1e-4, "{line}");
        let best = if numbers[1] >= numbers[2] && numbers[1] >= numbers[3] {
            4.0
        } else if numbers[2] >= numbers[3] {
            -7.0
        } else {
            12.0
        };
        assert_eq!(numbers[0], best, "{line}");
    }
    let said = done(folder.path(), "svm-predict three m out").stdout;
    assert!(said.starts_with("Model supports probability estimates, but disabled in prediction.\n"), "{said}");
    done(folder.path(), "svm-train -q -b 1 -s 3 sine m");
    let said = done(folder.path(), "svm-predict -b 1 sine m out").stdout;
    assert!(said.contains("z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=0."), "{said}");
    done(folder.path(), "svm-train -q -b 1 -s 2 -n 0.3 two m");
    assert_eq!(entry(&folder, "m", "prob_density_marks").split(' ').count(), 10);
    done(folder.path(), "svm-predict -b 1 two m out");
    assert!(text(&folder, "out").starts_with("labels normal outlier\n"));
}

#[test]
fn folds_are_counted_and_no_model_is_written() {
    let folder = with_rows();
    let rate = |line: &str| {
        let said = done(folder.path(), line).stdout;
        let last = said.trim_end().rsplit('\n').next().unwrap().to_string();
        last.strip_prefix("Cross Validation Accuracy = ")
            .and_then(|rest| rest.strip_suffix('%'))
            .map(|rate| rate.parse::<f64>().unwrap())
    };
    assert!(rate("svm-train -v 5 three").unwrap() > 60.0);
    assert_eq!(rate("svm-train -v 5 three"), rate("svm-train -q -v 5 three"), "the same folds each time");
    assert!(rate("liblinear-train -s 3 -v 5 two").unwrap() > 60.0);
    let said = done(folder.path(), "svm-train -v 5 -s 3 -q sine").stdout;
    assert!(said.starts_with("Cross Validation Mean squared error = "), "{said}");
    assert!(!folder.path().join("three.model").exists() && !folder.path().join("sine.model").exists());
}

#[test]
fn scaling_keeps_and_restores_ranges() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("a"), "1 1:0 2:10 3:7\n2 1:5 2:20 3:7\n3 1:10 2:40 3:7\n").unwrap();
    fs::write(folder.path().join("b"), "2 1:20 4:3\n").unwrap();
    let scaled = done(folder.path(), "svm-scale -l 0 -s ranges a").stdout;
    assert_eq!(scaled, "1 \n2 1:0.5 2:0.333333 \n3 1:1 2:1 \n");
    assert_eq!(text(&folder, "ranges"), "x\n0 1\n1 0 10\n2 10 40\n");
    let again = run(folder.path(), "svm-scale -r ranges b");
    assert_eq!(again.stdout, "2 1:2 2:-0.333333 \n");
    assert!(again.stderr.contains("feature index 4 was not seen"), "{}", again.stderr);
    let with_targets = done(folder.path(), "svm-scale -y -1 1 a").stdout;
    assert!(with_targets.starts_with("-1 ") && with_targets.contains("\n0 ") && with_targets.contains("\n1 "));
}

#[test]
fn linear_machines_are_trained_and_predict() {
    let folder = with_rows();
    for kind in [0, 1, 2, 3, 4, 5, 6, 7] {
        let said = done(folder.path(), &format!("liblinear-train -s {kind} -B 1 three m")).stdout;
        assert!(said.contains("optimization finished, #iter = ") && said.contains("Objective value = "), "{said}");
        let said = done(folder.path(), "liblinear-predict three m out").stdout;
        assert!(said.starts_with("Accuracy = ") && said.ends_with("/90)\n"), "{said}");
    }
    assert_eq!(entry(&folder, "m", "solver_type"), "L2R_LR_DUAL");
    assert_eq!(entry(&folder, "m", "bias"), "1");
    done(folder.path(), "liblinear-predict -b 1 -q three m out");
    assert!(text(&folder, "out").starts_with("labels 4 -7 12\n"));
    for kind in [11, 12, 13] {
        done(folder.path(), &format!("liblinear-train -q -s {kind} -B 1 sine m"));
        let said = done(folder.path(), "liblinear-predict sine m out").stdout;
        assert!(said.starts_with("Mean squared error = "), "{said}");
    }
    let said = done(folder.path(), "liblinear-train -C -s 0 two").stdout;
    assert!(said.starts_with("Doing parameter search with 5-fold cross validation.\nlog2c="), "{said}");
    assert!(said.trim_end().rsplit('\n').next().unwrap().starts_with("Best C = "), "{said}");
}

#[cfg(unix)]
#[test]
fn a_link_of_their_name_is_their_program() {
    let folder = with_rows();
    for name in ["svm-train", "train"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_maxmargin"), folder.path().join(name)).unwrap();
        let output =
            std::process::Command::new(folder.path().join(name)).arg("two").current_dir(folder.path()).output();
        assert!(output.unwrap().status.success());
        let head = text(&folder, "two.model");
        assert!(head.starts_with(if name == "train" { "solver_type L2R_L2LOSS_SVC_DUAL" } else { "svm_type c_svc" }));
    }
}

#[test]
fn mistakes_end_with_1_in_their_words_and_ours_and_nothing_is_written() {
    let folder = with_rows();
    fs::write(folder.path().join("bad"), "1 1:2\n-1 2:x\n").unwrap();
    fs::write(folder.path().join("words"), "spam 1:2\nham 2:1\n").unwrap();
    for (line, said) in [
        ("svm-train", "Usage: svm-train"),
        ("svm-train -x 1 two", "Unknown option: -x"),
        ("svm-train -c", "Usage: svm-train"),
        ("svm-train -c much two", "the value of -c is \"much\""),
        ("svm-train -s 9 two", "unknown svm type 9"),
        ("svm-train -t 7 two", "unknown kernel type 7"),
        ("svm-train -c -1 two", "ERROR: C is -1"),
        ("svm-train -e 0 two", "ERROR: tolerance is 0"),
        ("svm-train -m 0 two", "cache_size <= 0"),
        ("svm-train -b 2 two", "unknown probability 2"),
        ("svm-train -v 1 two", "n must >= 2"),
        ("svm-train -s 1 -n 1.5 two", "ERROR: nu is 1.5"),
        ("svm-train -g nan two", "ERROR: gamma is NaN"),
        ("svm-train missing", "can't open input file missing"),
        ("svm-train bad", "Wrong input format at line 2\n  bad:2:6: found \"x\""),
        ("svm-train words out", "whole numbers only, and \"ham\" is none"),
        ("liblinear-train sine out", "whole numbers only"),
        ("svm-train two missing/m", "there is no folder \"missing\""),
        ("svm-train -t 4 two", "the table must be square"),
        ("svm-predict two", "Usage: svm-predict"),
        ("svm-predict two missing out", "can't open model file missing"),
        ("svm-predict two two out", "can't open model file two"),
        ("svm-predict -b 1 two plain out", "Model does not support probabiliy estimates"),
        ("svm-scale", "Usage: svm-scale"),
        ("svm-scale -l 1 -u 0 two", "inconsistent lower/upper specification"),
        ("svm-scale -s a -r b two", "cannot use -r and -s simultaneously"),
        ("svm-scale -r two two", "Wrong format of scaling factors at line 1"),
        ("svm-scale -r missing two", "can't open file missing"),
        ("liblinear-train -s 8 two", "unknown solver type 8"),
        ("liblinear-train -R two", "-R goes with -B 1"),
        ("liblinear-train -C -s 3 two", "only available for -s 0, -s 2 and -s 11"),
        ("liblinear-train -M 1 two", "each class against the rest only"),
        ("liblinear-predict -b 1 two squared out", "only supported for logistic regression"),
    ] {
        done(folder.path(), "svm-train -q two plain");
        done(folder.path(), "liblinear-train -q two squared");
        let before = fs::read_dir(folder.path()).unwrap().count();
        let Run { code, stdout, stderr } = run(folder.path(), line);
        assert_eq!(code, Some(1), "{line}: {stdout}{stderr}");
        assert!(format!("{stdout}{stderr}").contains(said), "{line}: {stdout}{stderr}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "{line}");
    }
}

#[test]
fn weights_of_classes_count_and_an_unknown_label_is_said() {
    let folder = with_rows();
    done(folder.path(), "svm-train -q two plain");
    let run = run(folder.path(), "svm-train -q -w1 10 -w5 2 two weighted");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("WARNING: class label 5 specified in weight is not found"), "{}", run.stderr);
    let positive = |model: &str| {
        done(folder.path(), &format!("svm-predict -q two {model} out"));
        text(&folder, "out").lines().filter(|line| *line == "1").count()
    };
    assert!(positive("weighted") > positive("plain"));
}
