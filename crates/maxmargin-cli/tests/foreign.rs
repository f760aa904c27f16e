//! Models of LIBSVM and LIBLINEAR, as a user walks them.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use program::{done, run};
use tempfile::{TempDir, tempdir};

/// 60 rows of three classes, in LIBSVM text.
fn with_rows() -> TempDir {
    let folder = tempdir().unwrap();
    let mut text = String::new();
    for i in 0..60 {
        let (class, turn) = (i % 3, f64::from(i));
        let (x, y) = (f64::from(class) + 0.4 * turn.sin(), 2.0 * f64::from(class % 2) + 0.4 * (1.3 * turn).cos());
        writeln!(text, "{} 1:{x:.4} 2:{y:.4}", [4, -7, 12][class as usize]).unwrap();
    }
    fs::write(folder.path().join("rows.svm"), text).unwrap();
    folder
}

fn predicted(folder: &Path, model: &str) -> String {
    done(folder, &format!("predict {model} rows.svm")).stdout
}

#[test]
fn a_model_goes_to_either_program_and_back_and_predicts_the_same() {
    let folder = with_rows();
    for (flags, program) in [
        ("--kernel rbf", "libsvm"),
        ("--kernel linear", "libsvm"),
        ("--kernel linear --multiclass ovr --loss squared", "liblinear"),
    ] {
        done(folder.path(), &format!("train rows.svm {flags} -o own.mm"));
        let said = done(folder.path(), &format!("convert-model own.mm theirs.model --to {program}")).stdout;
        assert!(said.contains("theirs.model"), "{said}");
        done(folder.path(), "convert-model theirs.model back.mm -q");
        let own = predicted(folder.path(), "own.mm");
        assert_eq!(own.lines().count(), 60, "{flags}");
        assert_eq!(predicted(folder.path(), "theirs.model"), own, "{flags}");
        assert_eq!(predicted(folder.path(), "back.mm"), own, "{flags}");
        let inspected = done(folder.path(), "inspect theirs.model").stdout;
        assert!(program::words(&inspected).contains("read from another program's file"), "{inspected}");
    }
}

#[test]
fn a_model_is_written_for_onnx_by_the_name_of_the_file_or_when_asked() {
    let folder = with_rows();
    done(folder.path(), "train rows.svm --kernel rbf --scale standard -o own.mm");
    done(folder.path(), "convert-model own.mm one.onnx");
    done(folder.path(), "convert-model own.mm two --to onnx -q");
    let [one, two] = ["one.onnx", "two"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(one, two);
    assert!(one.windows(13).any(|part| part == b"SVMClassifier"));
}

#[test]
fn what_cannot_be_converted_is_refused_and_nothing_is_written() {
    let folder = with_rows();
    done(folder.path(), "train rows.svm --kernel rbf -o own.mm");
    done(folder.path(), "train iris --kernel linear -o words.mm");
    done(folder.path(), "train rows.svm --kernel laplacian -o laplacian.mm");
    fs::write(folder.path().join("broken.model"), "svm_type c_svc\nkernel_type rbf\ngamma x\n").unwrap();
    for (line, what, help) in [
        ("own.mm out.model", "does not say whose file it is to be", "--to libsvm"),
        ("own.mm out.model --to liblinear", "LIBLINEAR has no kernels", "kernel linear"),
        ("laplacian.mm out.model --to onnx", "ONNX has no operator for the kernel laplacian", "rbf or sigmoid"),
        ("words.mm out.model --to libsvm", "labels that are whole numbers only", "1 and 2"),
        (
            "broken.model out.mm",
            "broken.model:3:1: found \"x\", expected a finite number",
            "as the program has written it",
        ),
        ("absent.model out.mm", "absent.model", ""),
        ("own.mm own.mm", "own.mm", ""),
    ] {
        let run = run(folder.path(), &format!("convert-model {line}"));
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}: {}", run.stderr);
        assert!(!folder.path().join("out.model").exists() && !folder.path().join("out.mm").exists(), "{line}");
    }
}
