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
fn a_path_to_an_accuracy_leaves_no_c_out() {
    let folder = folder();
    let found = json(folder.path(), "path moons --costs 0.1,10 --accuracy 0.2 --json");
    let points = found["points"].as_array().unwrap();
    let at = |place: usize, key: &str| points[place][key].as_f64().unwrap();
    assert!(points.len() > 2 && at(0, "c") == 0.1, "{points:?}");
    assert!((1..points.len()).all(|place| at(place, "c") <= at(place - 1, "proved_to")), "{points:?}");
    assert_eq!((at(points.len() - 1, "proved_to"), found["stop"].as_str()), (10.0, Some("converged")));
    let text = done(folder.path(), "path moons --costs 0.1,10 --accuracy 0.2 --plot p.svg").stdout;
    assert!(words(&text).contains("for every C up to 10 a model is proved to be within 20 %"), "{text}");
    assert!(fs::read_to_string(folder.path().join("p.svg")).unwrap().starts_with("<svg"));
    for wrong in ["--accuracy 0", "--accuracy 2", "--accuracy nan", "--plot p.gif"] {
        let found = run(folder.path(), &format!("path moons {wrong}"));
        assert!(found.code == Some(2) && found.stderr.contains("help:"), "{wrong}: {}", found.stderr);
    }
}

#[test]
fn a_search_is_drawn_at_once_and_later_from_its_json() {
    let folder = folder();
    let line = "tune moons --grid C=0.1:100:3,gamma=0.5,2 --plot pictures --json --quiet";
    let found = done(folder.path(), line).stdout;
    fs::write(folder.path().join("search.json"), &found).unwrap();
    for kind in ["grid", "path", "learning", "work"] {
        done(folder.path(), &format!("plot {kind} search.json -o later.svg --numbers {kind}.csv"));
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("later.svg"), read(&format!("pictures/{kind}.svg")), "{kind}");
        assert!(read(&format!("{kind}.csv")).lines().count() > 3, "{kind}");
    }
    done(folder.path(), "plot grid search.json -o dark.png --theme dark --title mine");
    let parsed: serde_json::Value = serde_json::from_str(&found).unwrap();
    let points = parsed["learning"]["points"].as_array().unwrap();
    assert!(points.len() == 6 && points[5]["rows"].as_u64() == Some(160), "{points:?}");
    done(folder.path(), "tune moons --grid C=1,gamma=0.5,2 --json --quiet");
    fs::write(folder.path().join("one.json"), done(folder.path(), "tune moons --grid C=1,gamma=1 --json -q").stdout)
        .unwrap();
    fs::write(folder.path().join("broken.json"), &found[..found.len() / 2]).unwrap();
    for (line, what) in [
        ("plot learning one.json -o x.svg", "has no learning curve"),
        ("plot path one.json -o x.svg", "no neighbours of another C"),
        ("plot grid broken.json -o x.svg", "is no search"),
        ("plot grid missing.json -o x.svg", "cannot read the search"),
        ("plot grid search.json moons -o x.svg", "drawn from a search alone"),
        ("tune moons --grid C=1,gamma=1 --plot one.json", "cannot make the folder"),
        ("tune moons --grid C=1,gamma=1 --plot no/where", "cannot make the folder"),
    ] {
        let found = run(folder.path(), line);
        assert!(found.code == Some(2) && found.stderr.contains(what), "{line}: {}", found.stderr);
        assert!(found.stderr.contains("help:"), "{line}: {}", found.stderr);
    }
}

#[test]
fn a_search_can_be_nested_proved_and_followed_over_its_rows() {
    let folder = folder();
    let line = "tune moons --grid C=0.1:100:4,gamma=0.1:10:3 --nested --prove --learning";
    let found = json(folder.path(), &format!("{line} --json --quiet"));
    let nested = &found["nested"];
    assert_eq!(nested["splits"].as_array().unwrap().len(), 5);
    assert!(nested["mean"].as_f64().unwrap() > 0.7, "{nested}");
    let proof = &found["proof"];
    let (low, high) = (proof["score"][0].as_f64().unwrap(), proof["score"][1].as_f64().unwrap());
    let best = found["best"].as_u64().unwrap() as usize;
    let mean = found["cells"][best]["mean"].as_f64().unwrap();
    assert!(low <= high && (mean - low).abs() < 0.02 && proof["rows"].as_u64() == Some(200), "{proof}");
    let text = done(folder.path(), line).stdout;
    for part in ["nested", "proved", "learning"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for (wrong, what) in
        [("--prove --metric auc", "not one of labels alone"), ("--prove --loss squared", "proved for hinge loss")]
    {
        let found = run(folder.path(), &format!("tune moons --grid C=1,gamma=1 {wrong}"));
        assert!(found.code == Some(2) && found.stderr.contains(what), "{wrong}: {}", found.stderr);
    }
}

/// A table whose held-out folds have other means: x is missing in some rows, and in fold 0 it is far out where it is there.
fn leaky_table() -> Vec<[String; 4]> {
    let mut rows = Vec::new();
    for row in 0..60usize {
        let (fold, is_first) = (row % 4, row % 8 < 4);
        let x = match (row % 5, fold) {
            (0, _) => String::new(),
            (_, 0) => format!("{}", 40 + row),
            _ => format!("{}", (row * 7 % 10) as f64 / 10.0 + if is_first { 0.0 } else { 1.5 }),
        };
        // One colour is seen in fold 1 alone.
        let colour = if fold == 1 && row % 3 == 0 { "violet" } else { ["red", "blue"][row % 2] };
        rows.push([x, colour.into(), fold.to_string(), if is_first { "a" } else { "b" }.into()]);
    }
    rows
}

#[test]
fn held_out_rows_tell_nothing_of_means_and_categories() {
    let folder = folder();
    let rows = leaky_table();
    let write = |name: &str, rows: &[&[String; 4]]| {
        let lines: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        fs::write(folder.path().join(name), format!("x,colour,fold,label\n{lines}")).unwrap();
    };
    write("all.csv", &rows.iter().collect::<Vec<_>>());
    let way = "--missing mean --categorical colour --scale standard";
    let found = json(
        folder.path(),
        &format!("tune all.csv {way} --fold-column fold --grid C=1,gamma=0.5 --held-out --json --quiet"),
    );
    let mut differ = 0;
    for fold in 0..4 {
        // The oracle: a file of the training rows, and a model that remembers how it was read.
        let (test, train): (Vec<&[String; 4]>, Vec<&[String; 4]>) =
            rows.iter().partition(|row| row[2] == fold.to_string());
        write("train.csv", &train);
        write("test.csv", &test);
        done(
            folder.path(),
            &format!("train train.csv {way} --exclude fold --kernel rbf --gamma 0.5 -C 1 -o own.mm -q"),
        );
        done(folder.path(), &format!("train all.csv {way} --exclude fold --kernel rbf --gamma 0.5 -C 1 -o all.mm -q"));
        let expected = done(folder.path(), "predict own.mm test.csv -q").stdout;
        let codes: Vec<f64> = expected.lines().map(|label| if label == "a" { 0.0 } else { 1.0 }).collect();
        let held_out: Vec<f64> =
            found["cells"][0]["held_out"][fold].as_array().unwrap().iter().map(|code| code.as_f64().unwrap()).collect();
        assert_eq!(held_out, codes, "fold {fold}");
        differ += usize::from(done(folder.path(), "predict all.mm test.csv -q").stdout != expected);
    }
    assert!(differ > 0, "the negative control: what held-out rows tell changes something");
}

#[test]
fn a_holdout_learns_means_from_its_training_rows_alone() {
    let folder = folder();
    let fill_of = |changed: Option<usize>| {
        let row = |row: usize| {
            let x =
                if row % 6 == 5 { String::new() } else { format!("{}", if changed == Some(row) { 100 } else { row }) };
            format!("{x},{},{}\n", row % 7, if row.is_multiple_of(2) { "a" } else { "b" })
        };
        let text: String = (0..24).map(row).collect();
        fs::write(folder.path().join("t.csv"), format!("x,y,label\n{text}")).unwrap();
        done(folder.path(), "train t.csv --missing mean --holdout 0.5 --seed 3 -o t.mm -q");
        let bytes = fs::read(folder.path().join("t.mm")).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (_, rest) = text.split_once(r#"\"fill\":"#).unwrap();
        rest.split(['}', ',']).next().unwrap().parse::<f64>().unwrap()
    };
    let plain = fill_of(None);
    // A value tells something of the mean exactly where its row is trained on: half of the rows, of each class.
    let telling: Vec<usize> = (0..24).filter(|row| row % 6 != 5 && fill_of(Some(*row)) != plain).collect();
    let mean = telling.iter().sum::<usize>() as f64 / telling.len() as f64;
    assert!((plain - mean).abs() < 1e-12, "{plain} {mean}");
    assert!((8..=12).contains(&telling.len()), "{telling:?}");
}

#[test]
fn svm_grid_goes_on_passes_options_on_and_draws() {
    let folder = folder();
    done(folder.path(), "generate moons --rows 120 -o m.libsvm");
    let grid = "-log2c -1,3,2 -log2g 1,-3,-2 -v 4";
    let whole = done(folder.path(), &format!("svm-grid {grid} m.libsvm")).stdout;
    let kept = fs::read_to_string(folder.path().join("m.libsvm.out")).unwrap();
    let half: String = kept.lines().take(4).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("m.libsvm.out"), half).unwrap();
    let resumed = done(folder.path(), &format!("svm-grid {grid} -resume m.libsvm")).stdout;
    assert_eq!(resumed.lines().filter(|line| line.starts_with("[resumed]")).count(), 4);
    assert_eq!(resumed.lines().last(), whole.lines().last());
    assert_eq!(fs::read_to_string(folder.path().join("m.libsvm.out")).unwrap(), kept);
    // What is not searched is None, as in Python.
    let linear =
        done(folder.path(), "svm-grid -t 0 -log2g null -log2c -1,3,2 -v 4 -out null -png m.png m.libsvm").stdout;
    assert!(linear.starts_with("[local] 1.0 None "), "{linear}");
    assert!(fs::read(folder.path().join("m.png")).unwrap().starts_with(b"\x89PNG"));
    let best: Vec<&str> = linear.lines().last().unwrap().split(' ').collect();
    let alone = done(folder.path(), &format!("svm-train -q -t 0 -v 4 -c {} m.libsvm", best[0])).stdout;
    assert!(alone.contains(best[1].trim_end_matches(".0")), "{alone} {best:?}");
    for (wrong, what) in [
        ("-c 1", "Use -log2c and -log2g."),
        ("-log2c null -log2g null", "should not be null simultaneously"),
        ("-s 3", "rates are those of classes"),
        ("-s 1", "nu-SVC (-s 1) has no c"),
        ("-resume nothing", "cannot read the file for resumption"),
        ("-z 3", "Unknown option"),
        ("stray", "neither an option nor the last word"),
    ] {
        let found = run(folder.path(), &format!("svm-grid {wrong} m.libsvm"));
        assert!(found.code == Some(1) && found.stderr.contains(what), "{wrong}: {}", found.stderr);
    }
}

#[test]
fn svm_grid_prints_the_lines_of_grid_py() {
    let folder = folder();
    done(folder.path(), "generate moons --rows 120 -o m.libsvm");
    let found = done(folder.path(), "svm-grid -log2c -1,3,2 -log2g 1,-3,-2 -v 4 m.libsvm");
    let lines: Vec<&str> = found.stdout.lines().collect();
    assert_eq!(lines.len(), 10);
    assert!(
        lines[0].starts_with("[local] 1.0 -1.0 ") && lines[0].contains("(best c=2.0, g=0.5, rate="),
        "{}",
        lines[0]
    );
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
