//! What somebody meets who has just come: defaults that are said, labels that are no classes, reports that answer, slips that are understood.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use program::{done, json, near, run};
use tempfile::tempdir;

/// 60 rows of two columns, and what `answer` says of each.
fn table(at: &Path, name: &str, answer: impl Fn(usize, f64, f64) -> String) {
    let mut text = "a,b,y\n".to_string();
    for row in 0..60 {
        let (a, b) = (row as f64 * 0.37 % 2.0 - 1.0, row as f64 * 0.73 % 2.0 - 1.0);
        writeln!(text, "{a},{},{}", 1000.0 * b, answer(row, a, b)).unwrap();
    }
    fs::write(at.join(name), text).unwrap();
}

fn inside(a: f64, b: f64) -> String {
    if a * a + b * b < 0.6 { "in".into() } else { "out".into() }
}

#[track_caller]
fn refused(at: &Path, line: &str, what: &str, help: &str) {
    let run = run(at, line);
    assert_eq!(run.code, Some(2), "{line}\n{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(what) && run.stderr.contains(help), "{line}\n{}", run.stderr);
}

#[test]
fn the_data_chooses_kernel_and_scaling_and_the_report_says_why() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    table(at, "d.csv", |_, a, b| inside(a, b));
    let run = done(at, "train d.csv");
    assert!(run.stdout.contains("scaling     standard\n") && run.stdout.contains("kernel      rbf("), "{}", run.stdout);
    assert!(run.stdout.contains("choice      kernel and scaling: a table of full columns"), "{}", run.stdout);
    assert!(run.stdout.contains("--kernel and"), "{}", run.stdout);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    let chosen = json(at, "train d.csv --json");
    assert!(chosen["kernel"].as_str().unwrap().starts_with("rbf") && chosen["scaling"] == "standard", "{chosen}");
    assert!(
        chosen["choice"].as_str().unwrap().contains("full columns") && chosen["training_errors"].as_u64() < Some(15)
    );
    // The words for the default give its model, and either name keeps what it means alone.
    let same = json(at, "train d.csv --json --kernel auto --scale auto");
    assert_eq!((&same["objective"], &same["kernel"]), (&chosen["objective"], &chosen["kernel"]));
    let named = json(at, "train d.csv --json --kernel RBF --gamma scale --scale standard");
    assert_eq!((&named["objective"], &named["choice"]), (&chosen["objective"], &serde_json::Value::Null));
    for line in ["--kernel linear", "--scale none", "--kernel linear --scale none"] {
        let named = json(at, &format!("train d.csv --json {line}"));
        assert_eq!((&named["kernel"], &named["scaling"]), (&"linear".into(), &"none".into()), "{line}");
    }
    let scaled = json(at, "train d.csv --json --kernel linear --scale auto");
    assert_eq!((&scaled["kernel"], &scaled["scaling"]), (&"linear".into(), &"standard".into()));
    let solver = json(at, "train d.csv --json --solver primal-newton");
    assert_eq!((&solver["kernel"], &solver["scaling"]), (&"linear".into(), &"standard".into()));
    done(at, "verify d.mm d.csv");
    refused(at, "train d.csv --kernel auto --gamma 1", "--gamma goes with a kernel that is named", "--kernel rbf");

    done(at, "generate text --rows 300 --columns 500 -o text.svm");
    let sparse = json(at, "train text.svm --json");
    assert_eq!((&sparse["kernel"], &sparse["scaling"]), (&"linear".into(), &"none".into()));
    assert!(sparse["choice"].as_str().unwrap().contains("sparse"), "{sparse}");
}

#[test]
fn a_regression_means_the_same_on_every_scale_unless_it_is_told_not_to() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    for (name, factor) in [("small.csv", 1e-3), ("large.csv", 1e4)] {
        table(at, name, |_, a, b| (factor * ((3.0 * a).sin() + b)).to_string());
    }
    let r_squared = |line: &str| {
        let found = json(at, &format!("train {line} --task regression --json"));
        (found["training"]["r_squared"].as_f64().unwrap(), found)
    };
    let ((small, report), (large, _)) = (r_squared("small.csv"), r_squared("large.csv"));
    assert!(small > 0.9 && (small - large).abs() < 1e-2, "{small} {large}");
    // The certificate is of an ordinary regression, in the units of the targets.
    let deviation = report["target_deviation"].as_f64().unwrap();
    near(&report["epsilon"], 0.1 * deviation);
    near(&report["penalty"]["c"], deviation);
    done(at, "verify small.mm small.csv");
    let told = done(at, "train large.csv --task regression").stdout;
    assert!(told.contains("targets     C and epsilon count in their standard deviation"), "{told}");
    // In their own units an epsilon of 0.1 is larger than all targets of a few thousandths.
    let (own, report) = r_squared("small.csv --targets own");
    assert!(own < 0.01 && report["target_deviation"].is_null(), "{own}");
    let named = json(at, "train small.csv --task regression --kernel rbf --scale standard --json");
    assert_eq!((&named["epsilon"], &named["penalty"]["c"]), (&0.1.into(), &1.0.into()));
}

#[test]
fn amounts_and_names_are_not_trained_as_classes_without_a_word() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    table(at, "amounts.csv", |_, a, b| format!("{:.3}", 7.0 * a + b));
    table(at, "counts.csv", |row, _, _| (row / 2).to_string());
    table(at, "names.csv", |row, _, _| format!("person {row}"));
    table(at, "few.csv", |row, _, _| if row == 0 { "rare".into() } else { format!("{}", row % 3) });
    for name in ["amounts.csv", "counts.csv"] {
        for flags in ["", "--out-of-core"] {
            refused(at, &format!("train {name} {flags}"), "amounts rather than classes", "--task regression");
        }
    }
    refused(at, "train names.csv", "60 of the 60 labels have one row each", "--label COLUMN");
    assert!(!at.join("amounts.mm").exists() && !at.join("names.mm").exists());
    done(at, "train amounts.csv --task regression");
    let forced = done(at, "train counts.csv --task classification");
    assert!(
        forced.stderr.contains("warning: 30 different numbers in 60 rows are learnt as classes"),
        "{}",
        forced.stderr
    );
    let few = done(at, "train few.csv");
    assert!(few.stderr.contains("warning: the class \"rare\" has one row"), "{}", few.stderr);
    assert!(json(at, "train few.csv --json")["notes"].to_string().contains("one row"));
}

#[test]
fn a_report_of_classes_answers_what_is_asked_of_it() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let run = done(at, "train iris --holdout 0.2 --probabilities --seed 3 -o iris.mm");
    for words in ["% by always saying", "balanced accuracy", "AUC", "log loss", "precision", "F1", "taken for"] {
        assert!(run.stdout.contains(words), "{words}\n{}", run.stdout);
    }
    let score = &json(at, "train iris --holdout 0.2 --probabilities --seed 3 --json -o iris.mm")["test"];
    assert_eq!(score["confusion"].as_array().unwrap().len(), 3);
    let counted: u64 = score["confusion"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(counted, 30);
    near(&score["baseline"]["accuracy"], 1.0 / 3.0);
    assert!(score["auc"].as_f64().unwrap() > 0.9 && score["log_loss"].as_f64().unwrap() < 0.7, "{score}");
    for class in score["classes"].as_array().unwrap() {
        assert_eq!(class["rows"], 10);
        assert!(class["recall"].as_f64().unwrap() > 0.6 && class["f1"].is_f64(), "{class}");
    }
    let predicted = done(at, "predict iris.mm iris");
    assert!(predicted.stderr.starts_with("accuracy: 9") && predicted.stderr.contains("recall"), "{}", predicted.stderr);
    let view = json(at, "predict iris.mm iris --json");
    assert_eq!(view["score"]["classes"][0]["label"], "setosa");
    near(&view["score"]["accuracy"], view["accuracy"].as_f64().unwrap());
    // Without labels there is nothing to compare.
    fs::write(at.join("new.csv"), "sepal_length,sepal_width,petal_length,petal_width\n5,3.5,1.4,0.2\n").unwrap();
    assert!(json(at, "predict iris.mm new.csv --json").get("score").is_none());
}

#[test]
fn predictions_are_a_table_with_a_header_when_asked() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    table(at, "d.csv", |_, a, b| if inside(a, b) == "in" { "\"in, side\"".into() } else { "out".into() });
    done(at, "train d.csv --probabilities -q");
    let text = done(at, "predict d.mm d.csv --csv --decision-values --probabilities").stdout;
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("predicted,\"decision value: out against in, side\",\"probability: in, side\",probability: out")
    );
    assert_eq!(lines.clone().count(), 60);
    for line in lines {
        let (label, numbers) = line.rsplit_once(if line.starts_with('"') { "\"," } else { "out," }).unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
        assert!((numbers[1] + numbers[2] - 1.0).abs() < 1e-12 && label.is_empty() == (numbers[0] > 0.0), "{line}");
    }
    // A regression that was calibrated has an interval around each prediction.
    table(at, "n.csv", |_, a, b| (a + b).to_string());
    done(at, "train n.csv --task regression --probabilities -q");
    let text = done(at, "predict n.mm n.csv --csv --probabilities -q").stdout;
    assert!(text.starts_with("predicted,low,high\n"), "{text}");
    for line in text.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        assert!(numbers[1] < numbers[0] && numbers[0] < numbers[2], "{line}");
    }
    assert_eq!(json(at, "predict n.mm n.csv --json --probabilities")["intervals"].as_array().unwrap().len(), 60);
}

#[test]
fn nothing_that_is_printed_is_wider_than_80_letters() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let wide = |text: &str| text.lines().filter(|line| line.chars().count() > 80).map(String::from).collect::<Vec<_>>();
    done(at, "generate moons --rows 200 -o moons.csv");
    for line in [
        "train iris",
        "train iris --solver logistic --multiclass joint --probabilities",
        "train moons.csv --holdout 0.2 --probabilities -o moons.mm",
        "train moons.csv --out-of-core -o cored.mm",
        "inspect iris.mm iris",
        "verify moons.mm moons.csv --holdout 0.2",
        "predict moons.mm moons.csv -o labels.txt",
        "explain iris.mm iris --row 1",
        "suspects iris.mm iris",
        "doctor iris --kernel rbf -C 1e6",
    ] {
        let run = done(at, line);
        assert_eq!(wide(&run.stdout), [""; 0], "{line}\n{}", run.stdout);
    }
    for command in
        "train predict convert convert-model inspect verify explain suspects doctor examples kernel-check generate plot project"
            .split(' ')
    {
        // A command to be typed stays in one line.
        let help = done(at, &format!("{command} --help")).stdout;
        let long: Vec<String> = wide(&help).into_iter().filter(|line| !line.trim().starts_with("maxmargin ")).collect();
        assert_eq!(long, [""; 0], "{command}");
    }
}

#[test]
fn slips_are_understood_or_answered_with_the_right_flag() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate iris -o iris.csv");
    assert_eq!(json(at, "train iris.csv --kernel RBF --C 3 --json")["penalty"]["c"], 3.0);
    refused(at, "train iris.csv --holdout 25", "holdout is 25", "for 25 % write 0.25");
    // A cache is made where the data does not fit into memory, and not without need.
    let cached = done(at, "train iris.csv --cache iris.mmc");
    assert!(cached.stderr.contains("no cache iris.mmc is made") && !at.join("iris.mmc").exists(), "{}", cached.stderr);
    // What has no certificate is not to be verified.
    assert!(done(at, "train iris.csv -o iris.mm").stdout.contains("next: maxmargin verify iris.mm iris.csv"));
    assert!(
        done(at, "train iris.csv --solver mlp -o net.mm").stdout.contains("next: maxmargin predict net.mm iris.csv")
    );
}

#[test]
fn what_is_written_for_libsvm_its_programs_can_read() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let run = done(at, "convert iris iris.svm");
    assert!(run.stderr.contains("1 = setosa, 2 = versicolor, 3 = virginica"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(at.join("iris.svm.labels")).unwrap(), "1 setosa\n2 versicolor\n3 virginica\n");
    let numbers: Vec<String> = fs::read_to_string(at.join("iris.svm"))
        .unwrap()
        .lines()
        .map(|line| line.split(' ').next().unwrap().to_string())
        .collect();
    assert_eq!((numbers.len(), &numbers[0][..], &numbers[149][..]), (150, "1", "3"));
    done(at, "svm-train -q iris.svm iris.model");
    done(at, "convert iris words.svm --keep-labels");
    assert!(fs::read_to_string(at.join("words.svm")).unwrap().starts_with("setosa "));
    done(at, "generate moons -o moons.csv");
    assert!(!done(at, "convert moons.csv moons.svm").stderr.contains("LIBSVM knows numbers"));
    assert!(!at.join("moons.svm.labels").exists());

    let wrong = program::run(at, "svm-train -c -1 iris.svm");
    assert!(wrong.stderr.contains("give -c a value"), "{}", wrong.stderr);
    let sparse = done(at, "liblinear-train -s 5 iris.svm").stdout;
    assert!(sparse.contains("#nonzeros/#features = ") && !sparse.contains("nSV"), "{sparse}");
    assert!(done(at, "liblinear-train -s 2 iris.svm").stdout.contains("nSV = "));
}

#[test]
fn a_table_with_columns_of_zeros_is_a_table_all_the_same() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    // Six columns of counts, most of them 0: fewer than half of the cells are not.
    let row = |row: usize| {
        let counts: Vec<String> = (0..6).map(|column| if row % 6 == column { "3" } else { "0" }.to_string()).collect();
        format!("{},{}.5,{}\n", counts.join(","), row % 9, if row % 6 < 3 { "a" } else { "b" })
    };
    let head = "c1,c2,c3,c4,c5,c6,x,kind\n";
    fs::write(at.join("counts.csv"), head.to_string() + &(0..120).map(row).collect::<String>()).unwrap();
    let told = done(at, "train counts.csv").stdout;
    assert!(told.contains("choice      kernel and scaling: a table of full columns"), "{told}");
}

#[test]
fn doctor_says_what_train_will_refuse() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.csv"), (0..100).map(|row| format!("{row},{},{}\n", row % 3, row * 7)).collect::<String>())
        .unwrap();
    let told = done(at, "doctor a.csv").stdout;
    assert!(told.contains("it does not train as it is: the labels are 100 different numbers in 100 rows"), "{told}");
    assert_eq!(run(at, "train a.csv").code, Some(2));
    let told = done(at, "doctor a.csv --task regression").stdout;
    assert!(!told.contains("does not train"), "{told}");
    // A few fractions are amounts, too.
    let amount = |row: usize| format!("{},{},{}\n", row, row % 3, 1.5 * (row % 15) as f64);
    fs::write(at.join("b.csv"), (0..100).map(amount).collect::<String>()).unwrap();
    assert!(run(at, "train b.csv").stderr.contains("15 different numbers in 100 rows: amounts"));
}

#[test]
fn doctor_asks_for_no_scaling_that_train_does_by_itself() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let row = |row: usize| {
        format!("{},{},{}\n", row * 10_000, (row % 7) as f64 / 7.0, if row.is_multiple_of(2) { "a" } else { "b" })
    };
    fs::write(at.join("u.csv"), (0..40).map(row).collect::<String>()).unwrap();
    assert!(!done(at, "doctor u.csv").stdout.contains("--scale standard"));
    assert!(done(at, "doctor u.csv --kernel rbf").stdout.contains("--scale standard"));
}

#[test]
fn units_of_targets_are_said_where_naming_a_kernel_changes_them() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let row = |row: usize| format!("{},{},{}\n", row, row % 7, 100_000 + 1000 * row);
    fs::write(at.join("h.csv"), (0..60).map(row).collect::<String>()).unwrap();
    let warned = |line: &str| done(at, line).stderr.contains("C and epsilon count in the targets' own units");
    assert!(warned("train h.csv --task regression --kernel rbf --scale standard -o a.mm"));
    assert!(!warned("train h.csv --task regression --kernel rbf --scale standard --targets own -o b.mm"));
    assert!(!warned("train h.csv --task regression -o c.mm"));
}

#[test]
fn a_number_of_a_kernel_needs_the_kernel() {
    let folder = tempdir().unwrap();
    let refused = run(folder.path(), "train iris --gamma 1");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--gamma goes with a kernel that is named, and none is"), "{}", refused.stderr);
}
