//! `tune` as a user runs it.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may end here

mod program;

use std::fs;
use std::time::Duration;

use program::{done, json, program, run, words};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_search_says_what_it_found_and_trains_with_it() {
    let folder = folder();
    let found = done(folder.path(), "tune iris -o iris.mm");
    let text = words(&found.stdout);
    for part in [
        "150 rows, 4 columns; 5 folds, stratified, seed 0; columns standardised within each fold; rbf",
        "best",
        "one-SE",
        "honest",
        "iris.mm",
    ] {
        assert!(text.contains(part), "{part}: {}", found.stdout);
    }
    let model = json(folder.path(), "inspect iris.mm --json");
    assert_eq!(model["classes"].as_array().unwrap().len(), 3);
    // The model is an ordinary one: its certificate holds.
    done(folder.path(), "verify iris.mm iris");
}

#[test]
fn json_has_every_cell_and_the_choice_is_among_them() {
    let folder = folder();
    let found =
        json(folder.path(), "tune moons --grid C=0.1:100:4,gamma=0.1:10:3 --choose one-se --json --held-out --quiet");
    let cells = found["cells"].as_array().unwrap();
    assert_eq!((cells.len(), found["splits"].as_u64()), (12, Some(5)));
    let best = found["best"].as_u64().unwrap() as usize;
    let mean = |cell: usize| cells[cell]["mean"].as_f64();
    assert!((0..12).filter_map(mean).all(|other| other <= mean(best).unwrap()));
    assert_eq!(found["chosen"], found["one_se"]);
    let rows: usize =
        cells[best]["held_out"].as_array().unwrap().iter().map(|fold| fold.as_array().unwrap().len()).sum();
    assert_eq!(Some(rows as u64), found["rows"].as_u64());
    let honest = &found["honest"];
    assert!(honest["interval"][0].as_f64() <= honest["score"].as_f64());
    // Abandoning and threads change no choice.
    let whole =
        json(folder.path(), "tune moons --grid C=0.1:100:4,gamma=0.1:10:3 --strategy grid --threads 1 --json --quiet");
    assert_eq!((&whole["best"], &whole["one_se"]), (&found["best"], &found["one_se"]));
}

#[test]
fn groups_stay_together_and_their_column_is_not_trained_on() {
    let folder = folder();
    let mut table = String::from("a,b,patient,label\n");
    for row in 0..60 {
        let (a, b) = (f64::from(row % 7), f64::from(row % 5));
        table += &format!("{a},{b},{},{}\n", row / 6, if a + b > 5.0 { "yes" } else { "no" });
    }
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let found = done(folder.path(), "tune t.csv --groups patient --folds 4 --grid C=1,10,gamma=0.5 -o t.mm");
    assert!(words(&found.stdout).contains("keep groups of column \"patient\" whole"), "{}", found.stdout);
    assert_eq!(json(folder.path(), "inspect t.mm --json")["columns"].as_u64(), Some(2));
    done(folder.path(), "predict t.mm t.csv -o p.txt");
    let given = json(folder.path(), "tune t.csv --fold-column patient --grid C=1,gamma=0.5 --json --quiet");
    assert_eq!(given["splits"].as_u64(), Some(10));
    let wrong = run(folder.path(), "tune t.csv --groups a,b --grid C=1,gamma=0.5");
    assert_eq!(wrong.code, Some(2));
}

#[test]
fn several_kernels_and_regressions_are_searched() {
    let folder = folder();
    let found =
        json(folder.path(), "tune moons --kernel rbf,linear,polynomial --grid C=1,gamma=0.5,degree=2,3 --json --quiet");
    let kernels: Vec<&str> =
        found["cells"].as_array().unwrap().iter().map(|cell| cell["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels, ["rbf", "linear", "polynomial", "polynomial"]);
    let rows: String = (0..80).map(|k| format!("{},{}\n", f64::from(k) / 8.0, (f64::from(k) / 8.0).sin())).collect();
    fs::write(folder.path().join("s.csv"), format!("x,y\n{rows}")).unwrap();
    let text = done(folder.path(), "tune s.csv --task regression --grid C=1,10,epsilon=0.01,0.1,gamma=1").stdout;
    assert!(text.contains("r2") && text.contains("honest"), "{text}");
    let refused = run(folder.path(), "tune s.csv");
    assert!(refused.code == Some(2) && refused.stderr.contains("amounts rather than classes"), "{}", refused.stderr);
}

#[test]
fn mistakes_are_named_with_a_way_out() {
    let folder = folder();
    fs::write(folder.path().join("there"), "x").unwrap();
    for (line, what) in [
        ("tune iris --grid cost=1", "does not read"),
        ("tune iris --kernel linear --grid gamma=1", "none of the kernels linear has a gamma"),
        ("tune iris --grid C=-1,gamma=1", "C is -1"),
        ("tune iris --folds 1", "--folds is 1"),
        ("tune iris --folds 500", "folds is 500"),
        ("tune iris --repeats 0", "repeats is 0"),
        ("tune iris --metric r2", "is not for classes"),
        ("tune iris --max-time 0", "max-time is 0"),
        ("tune iris --groups nothing", "nothing"),
        ("tune iris --checkpoint there", "already"),
        ("tune iris --resume there", "is no checkpoint of tune"),
        ("tune iris --resume missing", "cannot read"),
        ("tune iris -o nowhere/x.mm", "there is no folder"),
        ("tune iris --kernel precomputed", "no parameters to search"),
        ("tune iris --held-out", "--json"),
    ] {
        let found = run(folder.path(), line);
        assert_eq!(found.code, Some(2), "{line}: {}", found.stderr);
        assert!(found.stderr.contains(what), "{line}: {}", found.stderr);
        assert!(found.stderr.contains("help:") || found.stderr.contains("Usage"), "{line}: {}", found.stderr);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_search_that_is_out_of_time_goes_on_from_its_checkpoint_to_the_same_numbers() {
    let folder = folder();
    done(folder.path(), "generate moons --rows 1500 -o m.csv");
    let axes = "--grid C=0.1:1000:6,gamma=0.1:100:6 --json --quiet";
    let whole = json(folder.path(), &format!("tune m.csv {axes}"));
    let cut = run(folder.path(), &format!("tune m.csv {axes} --max-time 0.15 --checkpoint kept"));
    assert_eq!(cut.code, Some(0), "{}", cut.stderr);
    if folder.path().join("kept").is_file() {
        let rest = json(folder.path(), &format!("tune m.csv {axes} --resume kept --checkpoint kept"));
        assert_eq!(rest, whole);
        assert!(!folder.path().join("kept").exists(), "a search that is done needs no checkpoint");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_shows_the_best_so_far() {
    let folder = folder();
    done(folder.path(), "generate moons --rows 3000 -o m.csv");
    let line = "tune m.csv --grid C=1:100000:10,gamma=0.01:1000:12 --threads 1";
    let child = program(folder.path())
        .args(line.split_whitespace())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    // A fast machine may have been done before.
    if sent.success() && output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(130));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("interrupted"), "{said}");
    }
}

#[test]
fn train_can_search_first() {
    let folder = folder();
    let found = done(folder.path(), "train moons --tune");
    assert!(found.stdout.contains("honest") && folder.path().join("moons.mm").is_file(), "{}", found.stdout);
    for stray in ["-C 3", "--holdout 0.2", "--stream", "--gamma 1"] {
        assert_eq!(run(folder.path(), &format!("train moons --tune {stray}")).code, Some(2), "{stray}");
    }
}

#[test]
fn a_path_lists_a_certified_model_for_each_c() {
    let folder = folder();
    let found = json(folder.path(), "path moons --kernel rbf --gamma 1 --costs 0.1:10:3 --json");
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|point| point["c"].as_f64().unwrap().round()).collect::<Vec<_>>(), [0.0, 1.0, 10.0]);
    assert!(points.iter().all(|point| point["relative_gap"].as_f64().unwrap() < 0.01));
    let margins: Vec<f64> = points.iter().map(|point| point["margin"].as_f64().unwrap()).collect();
    assert!(margins[0] > margins[1] && margins[1] > margins[2], "{margins:?}");
    assert!(done(folder.path(), "path iris").stdout.contains("converged"));
    for wrong in ["path iris --costs 1:x:3", "path iris --costs 0:1:3", "path iris --task one-class"] {
        assert_eq!(run(folder.path(), wrong).code, Some(2), "{wrong}");
    }
}

#[test]
fn svm_grid_prints_the_lines_of_grid_py() {
    let folder = folder();
    done(folder.path(), "generate moons --rows 120 -o m.libsvm");
    let found = done(folder.path(), "svm-grid -log2c -1,3,2 -log2g 1,-3,-2 -v 4 m.libsvm");
    let lines: Vec<&str> = found.stdout.lines().collect();
    assert_eq!(lines.len(), 10);
    assert!(lines[0].starts_with("[local] 1 -1 ") && lines[0].contains("(best c=2.0, g=0.5, rate="), "{}", lines[0]);
    let best: Vec<f64> = lines[9].split(' ').map(|word| word.parse().unwrap()).collect();
    let kept = fs::read_to_string(folder.path().join("m.libsvm.out")).unwrap();
    assert_eq!(kept.lines().count(), 9);
    let rates = kept.lines().map(|line| line.rsplit('=').next().unwrap().parse::<f64>().unwrap());
    assert_eq!(rates.fold(0.0, f64::max), best[2]);
    // The rate is that of svm-train with the same folds.
    let alone = done(folder.path(), &format!("svm-train -q -v 4 -c {} -g {} m.libsvm", best[0], best[1]));
    let text = alone.stdout;
    assert!(text.contains(&format!("{}", best[2])), "{text} {best:?}");
    assert_eq!(run(folder.path(), "svm-grid -log2c 1,2 m.libsvm").code, Some(1));
    assert_eq!(run(folder.path(), "svm-grid").code, Some(1));
}
