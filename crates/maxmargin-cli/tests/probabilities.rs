//! `train --probabilities` and what `predict` makes of it, as a user walks it.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use program::{done, json, run};
use tempfile::tempdir;

#[test]
fn probabilities_agree_with_the_labels_whatever_the_way() {
    let folder = tempdir().unwrap();
    for way in ["", "=leave-one-out", "=folds"] {
        done(folder.path(), &format!("train iris --kernel rbf --probabilities{way} -o m.mm -q"));
        let found = json(folder.path(), "predict m.mm iris --probabilities --json");
        let classes: Vec<&str> =
            found["classes"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        for (label, line) in found["labels"].as_array().unwrap().iter().zip(found["probabilities"].as_array().unwrap())
        {
            let line: Vec<f64> = line.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
            let own = classes.iter().position(|name| *name == label.as_str().unwrap()).unwrap();
            assert!(
                (line.iter().sum::<f64>() - 1.0).abs() < 1e-9 && line.iter().all(|p| *p <= line[own] + 1e-12),
                "{line:?}"
            );
        }
    }
}

#[test]
fn a_report_says_how_a_model_was_calibrated() {
    let folder = tempdir().unwrap();
    let said = done(folder.path(), "train moons --kernel rbf --probabilities -o m.mm").stdout;
    assert!(said.contains("calibrated") && program::words(&said).contains("agree with the prediction"), "{said}");
    let trained = json(folder.path(), "train moons --kernel rbf --probabilities=platt -o p.mm --json");
    assert!(trained["machines"][0]["calibration"]["sigmoid"]["slope"].as_f64().unwrap() > 0.0);
    done(folder.path(), "verify p.mm moons");
    let model = json(folder.path(), "inspect p.mm --json");
    assert!(model.to_string().contains("sigmoid"), "{model}");
}

#[test]
fn platts_sigmoid_goes_to_libsvms_file_and_back() {
    let folder = tempdir().unwrap();
    let data = "generate blobs --rows 80 -o rows.svm";
    done(folder.path(), data);
    done(folder.path(), "train rows.svm --kernel rbf --probabilities=platt -o own.mm -q");
    done(folder.path(), "convert-model own.mm theirs.model --to libsvm");
    let text = std::fs::read_to_string(folder.path().join("theirs.model")).unwrap();
    assert!(text.contains("\nprobA ") && text.contains("\nprobB "), "{text}");
    let of = |model: &str| {
        json(folder.path(), &format!("predict {model} rows.svm --probabilities --json"))["probabilities"].clone()
    };
    let (own, theirs) = (of("own.mm"), of("theirs.model"));
    for (own, theirs) in own.as_array().unwrap().iter().zip(theirs.as_array().unwrap()) {
        program::near(&own[0], theirs[0].as_f64().unwrap());
    }
}

#[test]
fn probabilities_that_another_file_has_no_place_for_are_not_dropped_in_silence() {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate blobs --rows 80 -o rows.svm");
    done(folder.path(), "train rows.svm --kernel linear --probabilities -o own.mm -q");
    for to in ["libsvm", "liblinear", "onnx"] {
        let said = done(folder.path(), &format!("convert-model own.mm theirs --to {to}")).stderr;
        assert!(said.contains("left out"), "{to}: {said}");
    }
    assert_eq!(done(folder.path(), "convert-model own.mm again.mm").stderr, "");
}

#[test]
fn what_has_no_probabilities_says_how_to_get_them() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train iris -o m.mm -q");
    let refused = run(folder.path(), "predict m.mm iris --probabilities");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("has no probabilities") && refused.stderr.contains("--probabilities"),
        "{}",
        refused.stderr
    );
    for (line, said) in [
        ("train iris --probabilities=sometimes", "leave-one-out"),
        ("train iris --stream --solver sgd --probabilities", "--probabilities"),
        ("train iris --solver perceptron --probabilities=leave-one-out -o p.mm", "cannot be left out by formula"),
    ] {
        let refused = run(folder.path(), line);
        assert_eq!(refused.code, Some(2), "{line}");
        assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
    }
    assert!(!folder.path().join("p.mm").exists());
}
