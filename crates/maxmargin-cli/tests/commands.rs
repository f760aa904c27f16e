//! The main path of every command, as a user walks it.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use maxmargin::Model;
use maxmargin::certificate::Evidence;
use program::{done, json, near, program, run, words};
use tempfile::{TempDir, tempdir};

/// A folder with iris as a file.
fn with_iris() -> TempDir {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate iris -o iris.csv");
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The text with every number as #, and blanks in a row as one.
fn layout(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| {
                let bare = word.trim_matches(|character: char| "(),;".contains(character));
                if bare.parse::<f64>().is_ok() { word.replace(bare, "#") } else { word.to_string() }
            })
            .collect();
        out.push_str(words.join(" ").trim_end());
        out.push('\n');
    }
    out
}

#[test]
fn train_iris_writes_a_model_and_a_picture_and_says_what_it_found() {
    let folder = tempdir().unwrap();
    let run = done(folder.path(), "train iris");
    assert_eq!(files(folder.path()), ["iris.mm", "iris.svg"]);
    assert!(fs::read_to_string(folder.path().join("iris.svg")).unwrap().contains("<svg"));
    let said = layout(&words(&run.stdout));
    for part in [
        "data iris: # rows, # columns, # classes: setosa (#), versicolor (#), virginica (#) scaling standard kernel rbf(",
        "choice kernel and scaling: a table of full columns",
        "penalty C = # (the same as --c-over-n # or --lambda #) loss hinge, bias explicit solver block-smo",
        "stopped converged after # iterations in # s; tolerance #",
        "machine primal dual gap violation",
        "support vectors all on margin inside wrong side at C",
        "training # % right (# of # rows); # % by always saying setosa balanced accuracy # %, AUC #",
        "class rows predicted precision recall F1 setosa # # # # #",
        "rows of, taken for setosa versicolor virginica setosa # # #",
        "model iris.mm picture iris.svg (petal_length and petal_width; the other columns at their means)",
        "next: maxmargin verify iris.mm iris",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    insta::assert_snapshot!(run.stderr, @"training on 150 rows of 4 columns ...");
}

#[test]
fn the_way_from_a_file_of_ones_own_to_predictions() {
    let folder = with_iris();
    done(folder.path(), "train iris.csv --kernel rbf -C 10 --scale standard --plot iris.png --plot-columns 3,4 -q");
    assert_eq!(files(folder.path()), ["iris.csv", "iris.mm", "iris.png"]);
    let predicted = done(folder.path(), "predict iris.mm iris.csv");
    assert_eq!(predicted.stdout.lines().count(), 150);
    assert_eq!(predicted.stdout.lines().next(), Some("setosa"));
    assert!(predicted.stderr.starts_with("accuracy: 9"), "{}", predicted.stderr);
    done(folder.path(), "predict iris.mm iris.csv -o labels.txt -q");
    assert_eq!(fs::read_to_string(folder.path().join("labels.txt")).unwrap(), predicted.stdout);
    let checked = done(folder.path(), "verify iris.mm iris.csv");
    assert!(checked.stdout.ends_with("true: every number of the certificate was found again\n"));
    done(folder.path(), "inspect iris.mm iris.csv");
    done(folder.path(), "plot iris.mm iris.csv --columns petal_length,petal_width -o again.svg");
}

#[test]
fn columns_are_found_by_name_and_the_label_column_may_be_missing() {
    let folder = with_iris();
    let at = |name: &str| folder.path().join(name);
    let text = fs::read_to_string(at("iris.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let table = |columns: &dyn Fn(&[&str]) -> String| rows.iter().map(|row| columns(row) + "\n").collect::<String>();
    let without_label = table(&|row| row[..4].join(","));
    let bare: String = without_label.lines().skip(1).map(|line| format!("{line}\n")).collect();
    fs::write(at("turned.csv"), table(&|row| format!("n{},{},{},{},{}", row[0], row[3], row[2], row[1], row[0])))
        .unwrap();
    fs::write(at("bare.csv"), bare).unwrap();
    fs::write(at("unlabelled.csv"), without_label).unwrap();
    done(folder.path(), "train iris.csv -q");
    let expected = done(folder.path(), "predict iris.mm iris.csv").stdout;
    for file in ["turned.csv", "bare.csv", "unlabelled.csv", "unlabelled.csv --unlabelled"] {
        let run = done(folder.path(), &format!("predict iris.mm {file}"));
        assert_eq!(run.stdout, expected, "{file}");
        assert_eq!(run.stderr, "", "there are no labels in {file}, and so no accuracy");
    }
}

#[test]
fn predictions_can_be_one_json_object_with_the_time_they_took() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train iris -o iris.mm -q");
    let lines = done(folder.path(), "predict iris.mm iris").stdout;
    let report = |extra: &str| -> serde_json::Value {
        serde_json::from_str(&done(folder.path(), &format!("predict iris.mm iris --json {extra}")).stdout).unwrap()
    };
    let found = report("--decision-values");
    let labels: Vec<&str> = found["labels"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect();
    assert_eq!(labels, lines.lines().collect::<Vec<_>>());
    assert_eq!(found["decision_values"].as_array().unwrap().len(), 150);
    assert!(found["predict_seconds"].as_f64().unwrap() >= 0.0);
    let right = 150 - found["errors"].as_u64().unwrap();
    assert_eq!(found["accuracy"].as_f64().unwrap(), right as f64 / 150.0);
    let found = report("-o labels.txt");
    assert!(found["labels"].is_null() && found["rows"] == 150, "{found}");
    assert_eq!(fs::read_to_string(folder.path().join("labels.txt")).unwrap(), lines);
}

#[test]
fn a_model_of_one_column_predicts_a_file_of_one_column() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("one.csv"), "x,label\n1,a\n2,a\n5,b\n6,b\n").unwrap();
    fs::write(folder.path().join("new.csv"), "x\n0\n9\n").unwrap();
    done(folder.path(), "train one.csv -q");
    assert_eq!(done(folder.path(), "predict one.mm new.csv").stdout, "a\nb\n");
}

#[test]
fn words_that_new_data_lacks_or_adds_do_no_harm() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("train.csv", "colour,size,label\nred,1,a\nblue,2,b\nred,1.5,a\ngreen,3,b\n");
    write("new.csv", "size,colour\n1,red\n3,violet\n");
    done(folder.path(), "train train.csv --categorical -q");
    let run = done(folder.path(), "predict train.mm new.csv");
    assert_eq!(run.stdout, "a\nb\n");
    assert!(
        run.stderr.contains("1 cell of \"colour\" says what training has not seen, \"violet\" the first"),
        "{}",
        run.stderr
    );
    done(folder.path(), "verify train.mm train.csv");
}

#[test]
fn decision_values_stand_beside_the_labels() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train iris -q");
    let run = done(folder.path(), "predict iris.mm iris --decision-values");
    let first: Vec<&str> = run.stdout.lines().next().unwrap().split('\t').collect();
    assert_eq!((first[0], first.len()), ("setosa", 4));
    assert!(first[1..].iter().all(|value| value.parse::<f64>().is_ok()));
}

#[test]
fn labels_are_given_back_as_they_were_written() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("d.csv"), "x,y,label\n1,1,+1\n2,1,+1.0\n7,8,-1\n8,8,\"a\nb\"\n").unwrap();
    done(folder.path(), "train d.csv -q");
    // A line break in a label must not become a line of the output.
    assert_eq!(done(folder.path(), "predict d.mm d.csv").stdout, "+1\n+1\n-1\na\\nb\n");
}

#[test]
fn standard_input_is_data_too() {
    let folder = with_iris();
    let mut child = program(folder.path())
        .args(["train", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let bytes = fs::read(folder.path().join("iris.csv")).unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["rows"], &found["model"]), (&150.into(), &"model.mm".into()));
}

#[test]
fn a_file_wins_over_a_built_in_set_of_its_name_with_a_note() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("iris"), "+1 1:1\n-1 1:3\n").unwrap();
    let run = done(folder.path(), "train iris");
    assert!(run.stderr.contains("note: there is a file iris"), "{}", run.stderr);
    assert!(run.stdout.contains("2 rows"), "{}", run.stdout);
}

#[test]
fn every_built_in_set_trains_and_verifies() {
    let folder = tempdir().unwrap();
    for name in ["iris", "e1", "e2", "e3", "blobs", "xor", "rings", "moons", "far-blob"] {
        done(folder.path(), &format!("train {name} --kernel rbf --seed 3 -q"));
        done(folder.path(), &format!("verify {name}.mm {name} --seed 3"));
    }
}

#[test]
fn every_solver_is_reached_by_its_name() {
    let folder = tempdir().unwrap();
    for solver in "smo dual-ascent interior-point newton kernel-newton sgd perceptron kernel-perceptron lda logistic"
        .split_whitespace()
    {
        let found =
            json(folder.path(), &format!("train iris --positive setosa --bias folded --solver {solver} --json"));
        assert_eq!((&found["solver"], &found["training_errors"]), (&solver.into(), &0.into()));
        let certified = !["perceptron", "kernel-perceptron", "lda"].contains(&solver);
        assert_eq!(found["objective"].is_object(), certified, "{solver}");
        assert_eq!(found["certificate"]["none"].is_string(), !certified, "{solver}");
        done(folder.path(), "verify iris.mm iris");
    }
}

#[test]
fn json_is_one_object_with_totals_on_top_and_machines_below() {
    let folder = tempdir().unwrap();
    let found = json(folder.path(), "train iris --json --alphas --holdout 0.2 --seed 5");
    assert_eq!(found["rows"], 120);
    assert_eq!(found["columns"], 4);
    assert_eq!(found["classes"], serde_json::json!(["setosa", "versicolor", "virginica"]));
    assert_eq!(found["test"]["rows"], 30);
    let machines = found["machines"].as_array().unwrap();
    assert_eq!(machines.len(), 3);
    let sum = |path: &str| machines.iter().map(|machine| machine.pointer(path).unwrap().as_f64().unwrap()).sum::<f64>();
    for path in ["/objective/primal", "/objective/dual", "/objective/gap", "/slack_sum"] {
        near(found.pointer(path).unwrap(), sum(path));
    }
    for key in "solver kernel loss bias stop iterations seconds violation support_vectors training_errors margin model \
                weights bias_value notes penalty plot"
        .split_whitespace()
    {
        assert!(found.get(key).is_some(), "{key}");
    }
    let support = &found["support_vectors"];
    assert_eq!(
        support["total"].as_u64(),
        Some(support["free"].as_u64().unwrap() + support["bounded"].as_u64().unwrap())
    );
    let alpha = found["alpha"].as_array().unwrap();
    assert!(alpha.len() == 3 && alpha.iter().all(|machine| machine.as_array().unwrap().len() == 120));
    assert!(alpha.iter().flat_map(|machine| machine.as_array().unwrap()).all(|alpha| alpha.as_f64().unwrap() >= 0.0));
}

#[test]
fn a_split_is_the_same_for_the_same_seed_and_verify_finds_it_again() {
    let folder = tempdir().unwrap();
    let first = json(folder.path(), "train iris --json --holdout 0.3 --seed 9");
    let second = json(folder.path(), "train iris --json --holdout 0.3 --seed 9");
    assert_eq!((&first["fingerprint"], &first["test"]), (&second["fingerprint"], &second["test"]));
    done(folder.path(), "verify iris.mm iris --holdout 0.3 --seed 9");
    assert_eq!(run(folder.path(), "verify iris.mm iris --holdout 0.3 --seed 10").code, Some(1));
    // Without flags, the model remembers which rows were held out.
    done(folder.path(), "verify iris.mm iris");
}

#[test]
fn a_test_file_is_scored() {
    let folder = with_iris();
    let found = json(folder.path(), "train iris.csv --kernel linear --test iris --json");
    near(&found["test"]["accuracy"], 149.0 / 150.0);
}

#[test]
fn quiet_is_quiet_and_json_is_alone_on_standard_output() {
    let folder = tempdir().unwrap();
    let quiet = done(folder.path(), "train iris -q");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let json = done(folder.path(), "train iris --json");
    assert_eq!(json.stdout.lines().count(), 1);
    assert_eq!(files(folder.path()), ["iris.mm"], "no picture where nobody asked for one");
}

#[test]
fn wide_and_narrow_columns_get_a_warning_that_names_the_flag() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("d.csv"), "a,b,label\n0,0,x\n1000,1,y\n500,0.5,x\n").unwrap();
    let plain = done(folder.path(), "train d.csv");
    assert!(
        plain.stderr.contains("warning: column \"a\" ranges 1000 times as far as column \"b\""),
        "{}",
        plain.stderr
    );
    assert!(plain.stderr.contains("--scale standard"), "{}", plain.stderr);
    assert!(!done(folder.path(), "train d.csv --scale standard").stderr.contains("warning"));
    let notes = json(folder.path(), "train d.csv --json")["notes"].to_string();
    assert!(notes.contains("--scale standard"), "{notes}");
}

#[test]
fn not_converging_is_news_and_with_strict_an_exit_code() {
    let folder = tempdir().unwrap();
    let line = "train moons --kernel rbf -C 100 --max-iterations 3";
    let run = done(folder.path(), line);
    assert!(run.stderr.contains("warning: the solver did not converge (iteration-limit)"), "{}", run.stderr);
    let strict = program::run(folder.path(), &format!("{line} --strict --json"));
    assert_eq!(strict.code, Some(1));
    let found: serde_json::Value = serde_json::from_str(&strict.stdout).unwrap();
    assert_eq!((&found["stop"], &found["converged"]), (&"iteration-limit".into(), &false.into()));
    done(folder.path(), "verify moons.mm moons");
}

#[test]
fn the_model_has_the_same_bytes_for_any_number_of_threads() {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate moons --rows 700 --noise 0.4 -o moons.csv");
    let mut bytes = Vec::new();
    for threads in ["1", "2", "4"] {
        done(folder.path(), &format!("train moons.csv --kernel rbf -C 10 --threads {threads} -q"));
        bytes.push(fs::read(folder.path().join("moons.mm")).unwrap());
        let predicted =
            done(folder.path(), &format!("predict moons.mm moons.csv --decision-values --threads {threads}"));
        bytes.push(predicted.stdout.into_bytes());
    }
    assert!(bytes.iter().step_by(2).all(|model| *model == bytes[0]));
    assert!(bytes.iter().skip(1).step_by(2).all(|values| *values == bytes[1]));
}

#[test]
fn verify_names_the_number_that_is_false() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train e2 -q");
    let path = folder.path().join("e2.mm");
    let mut parts = maxmargin_io::load_model(&path).unwrap().parts().clone();
    let Evidence::Certificate(certificate) = &mut parts.machines[0].evidence else { panic!("it is certified") };
    certificate.gap = 0.0;
    certificate.primal = 5.0;
    maxmargin_io::save_model(&path, &Model::new(parts).unwrap()).unwrap();
    let run = run(folder.path(), "verify e2.mm e2");
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("false: +1 against -1: the model says primal is 5, but it is 6.06"), "{}", run.stdout);
    let json = program::run(folder.path(), "verify e2.mm e2 --json");
    assert_eq!(json.code, Some(1));
    let found: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&found["holds"], &found["same_data"]), (&false.into(), &true.into()));
    assert_eq!(found["disagreements"][0]["name"], "primal");
}

#[test]
fn verify_knows_other_data_by_its_hash() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train blobs --seed 1 -q");
    let run = run(folder.path(), "verify blobs.mm blobs --seed 2");
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("false: the data is not the data that the model was trained on"), "{}", run.stdout);
}

#[test]
fn a_limit_of_ages_is_no_limit() {
    let folder = tempdir().unwrap();
    for limit in ["1e30", "inf"] {
        done(folder.path(), &format!("train iris --max-time {limit} -q -o m.mm"));
    }
}

#[test]
fn inspect_tells_the_whole_of_a_model() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train e2 --scale minmax -q");
    let page = done(folder.path(), "inspect e2.mm e2 --mu 0.25").stdout;
    for text in ["kernel      linear", "scaling     minmax", "plane", "canonical", "reduced hulls (mu = 0.25)", "risk"]
    {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let bare = done(folder.path(), "inspect e2.mm").stdout;
    assert!(bare.contains("plane") && !bare.contains("hulls"), "{bare}");
}

#[test]
fn a_kernel_and_what_is_none_are_told_apart() {
    let folder = tempdir().unwrap();
    insta::assert_snapshot!(layout(&done(folder.path(), "kernel-check --kernel linear e3").stdout), @r"
    kernel linear
    data e3: # rows
    eigenvalues smallest #, largest #
    asymmetry #
    verdict a kernel: positive semidefinite on any data
    ");
    let sigmoid = "kernel-check --kernel sigmoid --gamma 0.1 --coef0 -1 blobs";
    let found = json(folder.path(), &format!("{sigmoid} --json"));
    assert_eq!(found["is_kernel"], false, "{found}");
    assert!(found["smallest_eigenvalue"].as_f64().unwrap() < 0.0);
    assert_eq!(run(folder.path(), &format!("{sigmoid} --strict")).code, Some(1));
    assert!(done(folder.path(), sigmoid).stdout.contains("no kernel"));
    let trained = json(folder.path(), "train blobs --kernel sigmoid --gamma 0.1 --coef0 -1 --json");
    assert!(trained["certificate"]["none"].as_str().unwrap().contains("not positive semidefinite"), "{trained}");
}

#[test]
fn generated_files_read_back_as_the_same_data() {
    let folder = tempdir().unwrap();
    let hash = |line: &str| json(folder.path(), line)["fingerprint"].clone();
    done(folder.path(), "generate moons --rows 60 --seed 4 -o moons.csv");
    done(folder.path(), "generate moons --rows 60 --seed 4 -o moons.libsvm");
    assert_eq!(hash("train moons.csv --json"), hash("train moons.libsvm --json"));
    done(folder.path(), "generate moons --rows 200 --seed 4 -o default.csv");
    assert_eq!(hash("train default.csv --json"), hash("train moons --seed 4 --json"));
    insta::assert_snapshot!(done(folder.path(), "generate e3").stdout, @r"
    x1,x2,label
    1,2,+1
    4,1,+1
    6,4.5,+1
    7,2,+1
    4,4,-1
    6,3,-1
    ");
}

#[test]
fn examples_match_and_draw() {
    let folder = tempdir().unwrap();
    let found = json(folder.path(), "examples --json");
    assert_eq!((&found["holds"], &found["wrong"]), (&true.into(), &0.into()), "{found}");
    assert_eq!(found["examples"].as_array().unwrap().len(), 10);
    let run = done(folder.path(), "examples e1 E2 --plot pictures");
    assert!(run.stdout.contains("expected") && run.stdout.contains("numbers of 2 examples match"), "{}", run.stdout);
    assert_eq!(
        files(&folder.path().join("pictures")),
        ["e1-hulls.svg", "e1-margin.svg", "e1-plane.svg", "e1-separators.svg", "e2-slack.svg"]
    );
}

#[test]
fn help_has_examples_for_each_command() {
    let folder = tempdir().unwrap();
    for command in ["train", "predict", "inspect", "verify", "examples", "kernel-check", "generate", "plot"] {
        let help = done(folder.path(), &format!("{command} --help")).stdout;
        assert!(help.contains("Examples:") && help.contains(&format!("maxmargin {command}")), "{help}");
    }
    assert!(done(folder.path(), "--version").stdout.starts_with("maxmargin "));
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train e2 -q");
    for line in
        ["generate moons --rows 200000", "predict e2.mm big.csv", "examples", "train --help", "inspect e2.mm e2"]
    {
        if line.contains("big.csv") {
            done(folder.path(), "generate blobs --rows 50000 -o big.csv");
        }
        let mut child =
            program(folder.path()).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{line}: {errors}");
        assert!(!errors.contains("error"), "{line}: {errors}");
    }
}

#[test]
fn classes_trained_together_have_one_certificate_which_verify_finds_again() {
    let folder = tempdir().unwrap();
    let run = done(folder.path(), "train iris --solver logistic --multiclass joint -o joint.mm");
    let said = layout(&words(&run.stdout));
    for part in [
        "scaling standard kernel linear choice kernel and scaling: the solver logistic goes with the linear kernel",
        "loss logistic, bias explicit classes joint: all of them in one problem solver logistic stopped converged",
        "together primal dual gap relative gap violation # classes # # # # #",
        "class errors setosa # versicolor # virginica #",
        "AUC #, log loss #",
        "model joint.mm next: maxmargin verify joint.mm iris",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let report = json(folder.path(), "train iris --multiclass crammer-singer --bias folded -o cs.mm --json");
    assert_eq!(report["multiclass"], "crammer-singer");
    assert_eq!(report["solver"], "dual-ascent");
    assert!(report["certificate"]["relative_gap"].as_f64().unwrap() < 1e-2);
    assert_eq!(report["objective"]["primal"], report["certificate"]["primal"]);
    for model in ["joint.mm", "cs.mm"] {
        let verified = done(folder.path(), &format!("verify {model} iris")).stdout;
        assert!(verified.contains("all classes together") && verified.contains("true: every number"), "{verified}");
        assert!(done(folder.path(), &format!("inspect {model}")).stdout.contains("all classes in one problem"));
    }
    let lda = done(folder.path(), "train iris --solver lda --shrinkage auto -o lda.mm").stdout;
    assert!(lda.contains("3 classes together: no certificate, because the method minimises no objective"), "{lda}");
    let explicit = json(folder.path(), "train iris --multiclass crammer-singer -o explicit.mm --json");
    let primal = |report: &serde_json::Value| report["certificate"]["primal"].as_f64().unwrap();
    assert!(primal(&explicit) < primal(&report), "a bias that costs nothing is no worse than one that does");
    assert!(explicit["certificate"]["relative_gap"].as_f64().unwrap() < 1e-2);
    assert!(done(folder.path(), "verify explicit.mm iris").stdout.contains("true: every number"));
}

fn run_it(folder: &Path, line: &str) -> String {
    run(folder, line).stderr
}

#[test]
fn probabilities_are_printed_beside_the_labels_or_refused_with_the_way_out() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train iris --solver logistic --multiclass joint -o joint.mm -q");
    let lines = done(folder.path(), "predict joint.mm iris --probabilities").stdout;
    let first: Vec<&str> = lines.lines().next().unwrap().split('\t').collect();
    assert_eq!((first.len(), first[0]), (4, "setosa"));
    let sum: f64 = first[1..].iter().map(|p| p.parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{first:?}");
    let report = json(folder.path(), "predict joint.mm iris --probabilities --json");
    assert_eq!(report["classes"][2], "virginica");
    assert_eq!(report["probabilities"].as_array().unwrap().len(), 150);
    done(folder.path(), "train iris -o pairs.mm -q");
    let refused = run_it(folder.path(), "predict pairs.mm iris --probabilities");
    assert!(
        refused.contains("a model of hinge loss has no probabilities") && refused.contains("--solver logistic"),
        "{refused}"
    );
}

#[test]
fn project_writes_rows_in_few_dimensions_that_train_again() {
    let folder = with_iris();
    let said = done(folder.path(), "project iris.csv --onto 2 -o flat.csv").stderr;
    assert!(said.contains("wrote 150 rows in 2 dimensions to flat.csv"), "{said}");
    let text = fs::read_to_string(folder.path().join("flat.csv")).unwrap();
    assert!(text.starts_with("ld1,ld2,label\n"), "{text}");
    assert_eq!(text.lines().count(), 151);
    assert!(done(folder.path(), "train flat.csv").stdout.contains("2 columns"));
    // The same rows as new ones, and more dimensions than there are.
    let again = done(folder.path(), "project iris.csv --onto 2 --apply iris.csv").stdout;
    assert_eq!(again, text);
    assert!(done(folder.path(), "project iris --onto 5 -o many.csv").stderr.contains("span 2 dimensions only"));
    let refused = run_it(folder.path(), "project iris --shrinkage 7");
    assert!(refused.contains("shrinkage is 7, but it must be from 0 to 1, or auto"), "{refused}");
}

#[test]
fn weights_of_classes_are_in_the_report_and_in_the_model_that_verifies() {
    let folder = with_iris();
    let report = json(folder.path(), "train iris.csv --class-weights virginica=4,setosa=0.5 --json -o w.mm");
    assert_eq!(report["class_weights"].to_string(), "[0.5,1.0,4.0]");
    done(folder.path(), "verify w.mm iris.csv");
    let page = done(folder.path(), "inspect w.mm").stdout;
    assert!(page.contains("setosa 0.5, versicolor 1, virginica 4"), "{page}");
    let refused = run(folder.path(), "train iris.csv --class-weights rose=2");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("no class is called \"rose\""), "{}", refused.stderr);
}

#[test]
fn a_gap_that_is_asked_for_is_reached_by_the_solver_that_is_chosen() {
    let folder = with_iris();
    let report = json(folder.path(), "train iris.csv --kernel linear --gap 1e-9 --multiclass ovr --json");
    assert_eq!(report["solver"], "primal-newton");
    for machine in report["machines"].as_array().unwrap() {
        assert!(machine["certificate"]["relative_gap"].as_f64().unwrap() <= 1e-9, "{machine}");
    }
    let report = json(folder.path(), "train iris.csv --gap 1e-9 --kernel rbf --json");
    for machine in report["machines"].as_array().unwrap() {
        assert!(machine["certificate"]["relative_gap"].as_f64().unwrap() <= 1e-9, "{machine}");
    }
    let refused = run(folder.path(), "train iris.csv --gap 1e-9 --solver perceptron");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("has no gap to stop at"), "{}", refused.stderr);
}

#[test]
fn the_l1_norm_is_in_the_report_and_in_the_model_that_verifies() {
    let folder = with_iris();
    for loss in ["squared", "logistic"] {
        let line = format!(
            "train iris.csv --kernel linear --norm l1 --loss {loss} --multiclass ovr --gap 1e-6 -C 0.1 --json -o l1.mm"
        );
        let report = json(folder.path(), &line);
        assert_eq!((&report["norm"], &report["solver"]), (&"l1".into(), &"l1-newton".into()));
        for machine in report["machines"].as_array().unwrap() {
            let certificate = &machine["certificate"];
            assert!(certificate["relative_gap"].as_f64().unwrap() <= 1e-6, "{machine}");
            let columns = |kind: &str| certificate["columns"][kind].as_u64().unwrap();
            assert_eq!(columns("used") + columns("unused"), 4);
        }
        done(folder.path(), "verify l1.mm iris.csv");
        let page = done(folder.path(), "inspect l1.mm").stdout;
        assert!(page.contains("norm l1") && page.contains("columns in use"), "{page}");
        let warm = json(folder.path(), &format!("{line} --warm-start l1.mm"));
        assert_eq!(warm["iterations"], 0, "a start at the optimum takes no steps");
    }
}

#[test]
fn a_model_without_a_norm_has_the_l2_norm() {
    let folder = with_iris();
    let report = json(folder.path(), "train iris.csv --kernel linear --positive setosa --json -o l2.mm");
    assert_eq!(report["norm"], "l2");
    // As older programs wrote it: nothing is said of a norm.
    let bytes = std::fs::read(folder.path().join("l2.mm")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("norm"));
    done(folder.path(), "verify l2.mm iris.csv");
}
