//! The commands that say why: of a prediction, of a label, of data and of a fit.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;

use program::{done, json, near, run};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// A folder with models of every kind.
fn with_models() -> TempDir {
    let folder = tempdir().unwrap();
    for line in [
        "train iris --kernel linear --solver smo -o pairs.mm --quiet",
        "train iris -o rest.mm --kernel rbf --multiclass ovr --quiet",
        "train iris -o together.mm --kernel linear --multiclass crammer-singer --quiet",
        "train e1 -o e1.mm --hard --tolerance 1e-8 --quiet",
        "train e1 -o scaled.mm --scale standard --quiet",
        "train e1 -o ball.mm --task svdd --kernel rbf --nu 0.3 --quiet",
    ] {
        done(folder.path(), line);
    }
    folder
}

#[test]
fn a_linear_model_is_explained_by_its_columns() {
    let folder = with_models();
    let found = json(folder.path(), "explain e1.mm e1 --row 3 --json");
    let row = &found["rows"][0];
    assert_eq!(
        (row["row"].as_u64(), row["predicted"].as_str(), row["label"].as_str()),
        (Some(3), Some("+1"), Some("+1"))
    );
    let machine = &row["machines"][0];
    near(&machine["decision_value"], 4.0 / 3.0);
    near(&machine["distance"], 8.0 / 29f64.sqrt());
    assert_eq!(machine["terms"][0]["column"], "x1");
    near(&machine["terms"][0]["term"], 20.0 / 6.0);
    near(&machine["terms"][0]["share"], 20.0 / 28.0);
    let page = done(folder.path(), "explain e1.mm e1 --row 3").stdout;
    assert!(page.contains("distance  1.48556 to the boundary, in the columns' own units"), "{page}");
    assert!(done(folder.path(), "explain scaled.mm e1 --row 3").stdout.contains("in scaled columns"));
}

#[test]
fn a_kernel_model_is_explained_by_its_support_vectors() {
    let folder = with_models();
    let found = json(folder.path(), "explain rest.mm iris --row 71 --row 1 --top 3 --json");
    assert_eq!(found["distances"], "in the kernel's space");
    assert_eq!(found["rows"].as_array().unwrap().len(), 2);
    let row = &found["rows"][0];
    assert_eq!(row["lead"]["rival"], "virginica");
    assert_eq!(row["machines"].as_array().unwrap().len(), 2, "the winner and the next one");
    let machine = &row["machines"][0];
    assert_eq!(machine["terms"].as_array().unwrap().len(), 3);
    assert_eq!(machine["terms"][0]["training_row"], 71, "nothing is nearer to a row than itself");
    near(&machine["terms"][0]["value"], 1.0);
    let all = json(folder.path(), "explain rest.mm iris --row 71 --top 1000 --all --json");
    for machine in all["rows"][0]["machines"].as_array().unwrap() {
        let terms = machine["terms"].as_array().unwrap();
        let sum: f64 = terms.iter().map(|term| term["term"].as_f64().unwrap()).sum();
        near(&machine["decision_value"], sum + machine["bias_value"].as_f64().unwrap());
        assert_eq!(machine["terms_in_all"], terms.len());
    }
}

#[test]
fn pairs_vote_and_classes_trained_together_have_a_lead() {
    let folder = with_models();
    let page = done(folder.path(), "explain pairs.mm iris --row 71 --top 1").stdout;
    insta::assert_snapshot!(page, @r"
    row         71, label versicolor
    predicted   versicolor
    votes       versicolor 2, virginica 1

    versicolor against setosa
      value     2.8022444 = 4 terms + bias
      bias      -1.45056
      distance  2.29099 to the boundary, in the columns' own units
      column         weight  value       term   share
      petal_length  1.00316    4.8    4.81519  63.4 %
      3 more                        -0.562385  36.6 %

    virginica against versicolor
      value     -0.051966329 = 4 terms + bias
      bias      -6.78106
      distance  0.0168947 to the boundary, in the columns' own units
      column         weight  value      term   share
      petal_length  2.03215    4.8   9.75432  48.8 %
      3 more                        -3.02523  51.2 %

    1 machine more: see --all
    ");
    let found = json(folder.path(), "explain together.mm iris --row 71 --json");
    assert!(found["rows"][0]["votes"].is_null() && found["rows"][0]["lead"]["distance"].as_f64().unwrap() > 0.0);
    assert!(done(folder.path(), "explain ball.mm e1 --row 1").stdout.contains("a ball"));
}

#[test]
fn suspects_are_listed_the_worst_first() {
    let folder = tempdir().unwrap();
    done(folder.path(), "generate blobs --rows 200 --seed 4 -o blobs.csv");
    // Each 20th label is changed for the other one.
    let table = fs::read_to_string(folder.path().join("blobs.csv")).unwrap();
    let flipped = |(number, line): (usize, &str)| {
        let (rest, label) = line.rsplit_once(',').unwrap();
        let other = if label.contains('-') { "1" } else { "-1" };
        if number % 20 == 8 { format!("{rest},{other}") } else { line.to_string() }
    };
    let lines: Vec<String> = table.lines().enumerate().map(flipped).collect();
    fs::write(folder.path().join("blobs.csv"), lines.join("\n") + "\n").unwrap();
    done(folder.path(), "train blobs.csv --kernel rbf --quiet");
    let found = json(folder.path(), "suspects blobs.mm blobs.csv --top 10 --json");
    assert_eq!(found["same_data"], true);
    let rows: Vec<u64> = found["suspects"].as_array().unwrap().iter().map(|row| row["row"].as_u64().unwrap()).collect();
    let right = rows.iter().filter(|&&row| row % 20 == 8).count();
    assert_eq!(right, 10, "{rows:?}");
    assert!(found["suspects"].as_array().unwrap().iter().all(|row| row["alpha_over_bound"] == 1.0));
    let page = done(folder.path(), "suspects blobs.mm blobs.csv --top 2").stdout;
    assert!(page.contains("row") && page.contains("alpha/bound") && page.contains("more (see --top)"), "{page}");
    let other = run(folder.path(), "suspects blobs.mm blobs --seed 9");
    assert!(other.stderr.contains("note: the data is not the data that the model was trained on"), "{}", other.stderr);
}

fn kinds(found: &Value) -> Vec<&str> {
    let all = found["findings"].as_array().unwrap();
    all.iter().map(|finding| finding["details"]["finding"].as_str().unwrap()).collect()
}

#[test]
fn the_doctor_finds_nothing_in_clean_data_and_a_good_fit() {
    let folder = with_models();
    for line in ["doctor blobs --json --strict", "doctor moons --kernel rbf -C 1 --json --strict"] {
        assert_eq!(kinds(&json(folder.path(), line)), [""; 0], "{line}");
    }
    // Iris has rows that are there twice.
    let found = json(folder.path(), "doctor iris pairs.mm --json --strict");
    assert!(kinds(&found).contains(&"repeated-rows"), "{found}");
    assert!(found["findings"].as_array().unwrap().iter().all(|finding| finding["severity"] == "note"), "{found}");
    assert!(done(folder.path(), "doctor blobs").stdout.ends_with("nothing was found that needs a word\n"));
}

#[test]
fn the_doctor_says_what_is_wrong_and_what_to_do() {
    let folder = tempdir().unwrap();
    let rows: String =
        (0..40).map(|row| format!("{},{},7,{}\n", row * 5, f64::from(row % 7) * 0.01, row % 2)).collect();
    fs::write(folder.path().join("t.csv"), format!("wide,narrow,constant,y\n{rows}")).unwrap();
    let page = done(folder.path(), "doctor t.csv --kernel rbf --gamma 100 -C 1e9").stdout;
    insta::assert_snapshot!(page, @r#"
    data        t.csv: 40 rows, 3 columns

    warning: column "wide" ranges 3250 times as far as column "narrow", which will
      hardly count
      help: scale the columns: train with --scale standard

    warning: gamma is too large: the kernel value of a median pair of rows is
      e^-745, so every row stands alone
      help: choose a gamma about 0.13, or --gamma scale

    note: 1 of 3 columns have one value in all rows, the first is column "constant"
      help: leave them out with --columns: they tell nothing

    note: C = 1e9 is 1e9 times 1/mean k(x, x): a fit takes long, and follows every
      row
      help: begin at a C about 1, and raise it while the errors on rows kept out
        fall

    column             kind  missing  distinct                advice
    wide      whole numbers        0        40
    narrow          numbers        0         7
    constant  whole numbers        0         1  one value: --exclude
    y         whole numbers        0         2             the label
    try: maxmargin train t.csv --exclude constant
    "#);
    assert_eq!(run(folder.path(), "doctor t.csv --kernel rbf --strict").code, Some(1));
    assert_eq!(run(folder.path(), "doctor t.csv --kernel rbf").code, Some(0));
    // Nothing is to be done by hand where train scales by itself.
    assert_eq!(run(folder.path(), "doctor t.csv --strict").code, Some(0));
    assert_eq!(kinds(&json(folder.path(), "doctor t.csv --scale standard --strict --json")), ["constant-columns"]);
}

#[test]
fn the_doctor_knows_repeated_and_contradictory_rows_and_odd_labels() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("t.svm"), "1 1:1\n-1 1:1\n1 1:1\n-1 1:2\n-1 1:3\n").unwrap();
    let found = json(folder.path(), "doctor t.svm --json");
    assert_eq!(kinds(&found), ["contradictions", "repeated-rows", "rare-classes"]);
    assert_eq!(
        found["findings"][0]["what"],
        "1 row repeats one before with another label: row 2 (\"-1\") is row 1 (\"1\") again"
    );
    let table: String = (0..40).map(|row| format!("{}.5,{}\n", row % 9, row * 3)).collect();
    fs::write(folder.path().join("n.csv"), &table).unwrap();
    assert_eq!(kinds(&json(folder.path(), "doctor n.csv --json")), ["contradictions", "numeric-labels"]);
    let of_regression = json(folder.path(), "doctor n.csv --task regression --json");
    assert_eq!(kinds(&of_regression), ["contradictions"], "two numbers for one row");
}

#[test]
fn the_doctor_says_why_a_fit_is_poor() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train blobs --kernel rbf --gamma 1e-7 -C 1e-5 -o poor.mm --quiet");
    let found = json(folder.path(), "doctor blobs poor.mm --json");
    assert!(kinds(&found).contains(&"wide-kernel") && kinds(&found).contains(&"all-at-bound"), "{found}");
    done(folder.path(), "train blobs --max-iterations 1 --solver smo -o cut.mm --quiet");
    let found = json(folder.path(), "doctor blobs cut.mm --json");
    assert!(kinds(&found).contains(&"not-converged"), "{found}");
    let found = json(folder.path(), "doctor moons cut.mm --json");
    assert!(kinds(&found).contains(&"other-data"), "{found}");
}

/// What the user typed, what the answer says, and the way out that it names.
#[test]
fn wrong_questions_are_answered_with_a_way_out() {
    let folder = with_models();
    for (line, what, help) in [
        ("explain e1.mm e1", "required arguments were not provided", "--help"),
        ("explain e1.mm e1 --row 0", "0 is not in 1..", "--help"),
        ("explain e1.mm e1 --row -1", "invalid value '-1' for '--row <N>'", "--help"),
        (
            "explain e1.mm e1 --row 15",
            "e1: there is no row 15: the data has 14 rows",
            "give --row a number from 1 to 14",
        ),
        ("explain e1.mm e1 --row 18446744073709551615", "there is no row 18446744073709551615", "from 1 to 14"),
        ("explain none.mm e1 --row 1", "cannot read", "name a model file that train has written"),
        ("explain pairs.mm e1 --row 1", "which the model needs", "the columns are"),
        ("explain e1.mm e1 --row 1 --top x", "invalid value 'x' for '--top <N>'", "--help"),
        ("suspects pairs.mm blobs", "which the model needs", "the columns are"),
        ("suspects e1.mm none.csv", "there is no such file", "check the name"),
        ("suspects e1.mm e1 --top -1", "invalid value '-1' for '--top <N>'", "--help"),
        ("doctor none.csv", "there is no such file", "check the name"),
        ("doctor e1 --gamma 1", "--gamma goes with a kernel that is named, and none is", "name it, as in --kernel rbf"),
        ("doctor e1 --kernel rbf --gamma -1", "gamma is -1, but it must be", "give gamma a value"),
        ("doctor e1 --kernel rbf -C 0", "C is 0, but it must be a finite number above 0", "give -C a value"),
        ("doctor e1 --kernel rbf -C nan", "C is NaN, but it must be", "give -C a value"),
        ("doctor e1 e1.mm --kernel rbf", "--kernel does not go with a model", "leave out --kernel, or the model"),
        ("doctor e1 e1.mm --scale standard", "cannot be used with", "--help"),
        ("doctor e1 pairs.mm", "which the model needs", "the columns are"),
        ("doctor e1 --columns x9", "there is no column \"x9\"", "the columns are"),
    ] {
        let found = run(folder.path(), line);
        assert_eq!(found.code, Some(2), "{line}\n{}{}", found.stdout, found.stderr);
        assert!(found.stderr.contains(what) && found.stderr.contains(help), "{line}\n{}", found.stderr);
        assert!(found.stdout.is_empty(), "{line}");
    }
}
