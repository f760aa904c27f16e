//! Tables as people have them, and models that remember how they were read.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::path::Path;

use program::{done, json, run};
use tempfile::tempdir;

/// Passengers: the label first, a number for each row, words, dates, missing numbers and a missing word.
fn passengers(path: &Path, order: [usize; 6]) {
    let mut rows = vec![["Survived", "PassengerId", "Sex", "Age", "Boarded", "Port"].map(String::from)];
    for row in 0..60 {
        let sex = if row % 3 == 0 { "male" } else { "female" };
        let age = if row % 7 == 0 { String::new() } else { (20 + row % 40).to_string() };
        let port = if row == 11 { "" } else { ["S", "C", "Q"][row % 3] };
        let survived = usize::from(row % 3 != 0 && row % 5 != 0);
        rows.push([
            survived.to_string(),
            (row + 1).to_string(),
            sex.into(),
            age,
            format!("1912-04-{:02}", 1 + row % 9),
            port.into(),
        ]);
    }
    let line = |row: &[String; 6]| order.map(|place| row[place].clone()).join(",") + "\n";
    fs::write(path, rows.iter().map(line).collect::<String>()).unwrap();
}

#[test]
fn a_table_of_everything_trains_with_one_command_and_its_model_predicts_another_order() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    passengers(&at.join("p.csv"), [0, 1, 2, 3, 4, 5]);
    passengers(&at.join("q.csv"), [5, 3, 2, 0, 1, 4]);
    let refused = run(at, "train p.csv");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("maxmargin doctor p.csv lists them all"), "{}", refused.stderr);
    let found = json(at, "doctor p.csv --json");
    assert_eq!(found["table"]["columns"].as_array().unwrap().len(), 6);
    let flags = "--label Survived --categorical Sex,Port --exclude PassengerId,Boarded --missing median";
    done(at, &format!("train p.csv {flags} -o p.mm"));
    let (first, second) = (done(at, "predict p.mm p.csv -q"), done(at, "predict p.mm q.csv -q"));
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(first.stdout.lines().count(), 60);
}

#[test]
fn a_model_is_verified_without_flags_after_a_holdout() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate moons --rows 80 --seed 3 -o m.csv");
    done(at, "train m.csv --holdout 0.25 --seed 5 -o m.mm -q");
    let run = done(at, "verify m.mm m.csv");
    assert!(run.stdout.contains("true"), "{}", run.stdout);
    let suspects = json(at, "suspects m.mm m.csv --json");
    assert_eq!(suspects["same_data"], true);
}

#[test]
fn a_model_of_another_recipe_is_kept_unless_it_is_forced_or_named() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    done(at, "generate moons --rows 40 -o m.csv");
    done(at, "train m.csv --kernel rbf -C 1 -q");
    let before = fs::read(at.join("m.mm")).unwrap();
    let run = done(at, "train m.csv --kernel rbf -C 10");
    assert!(run.stderr.contains("m-2.mm"), "{}", run.stderr);
    assert_eq!(fs::read(at.join("m.mm")).unwrap(), before);
    done(at, "train m.csv --kernel rbf -C 10 --force -q");
    assert_ne!(fs::read(at.join("m.mm")).unwrap(), before);
}

#[test]
fn rows_left_out_have_an_empty_line_in_a_prediction() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    let rows: String =
        (0..20).map(|row| format!("{},{},{}\n", row, row % 4, if row < 10 { "p" } else { "q" })).collect();
    fs::write(at.join("d.csv"), format!("a,b,kind\n{rows}")).unwrap();
    fs::write(at.join("e.csv"), "a,b\n1,2\n,2\n15,1\n").unwrap();
    done(at, "train d.csv --missing drop -o d.mm -q");
    let lines = done(at, "predict d.mm e.csv -q").stdout;
    assert_eq!(lines.lines().collect::<Vec<_>>(), ["p", "", "q"]);
}

#[test]
fn suspects_are_rows_of_the_file_where_some_were_left_out() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    // The first two rows lack a value; the thirteenth has the label of the other class.
    let row = |row: usize| match row {
        0 | 1 => format!(",{},p\n", row % 4),
        12 => "2,3,q\n".to_string(),
        _ => format!("{row},{},{}\n", row % 4, if row < 20 { "p" } else { "q" }),
    };
    fs::write(at.join("d.csv"), format!("a,b,kind\n{}", (0..40).map(row).collect::<String>())).unwrap();
    done(at, "train d.csv --missing drop --kernel linear --scale standard -o d.mm -q");
    let found = json(at, "suspects d.mm d.csv --top 1 --json");
    assert_eq!((&found["suspects"][0]["row"], &found["suspects"][0]["label"]), (&13.into(), &"q".into()), "{found}");
    let page = done(at, "suspects d.mm d.csv --top 1").stdout;
    assert!(page.lines().any(|line| line.split_whitespace().next() == Some("13")), "{page}");
}
