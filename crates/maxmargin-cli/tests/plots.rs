//! `plot` and `--plot` as a user runs them: each kind, both formats and themes, the numbers, and what is refused.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::path::Path;

use program::{done, run};
use tempfile::tempdir;

/// A folder with models of classes, of numbers and with probabilities, and a trace.
fn with_models() -> tempfile::TempDir {
    let folder = tempdir().unwrap();
    let path = folder.path();
    done(path, "generate blobs --rows 80 --noise 1.5 --seed 1 -o two.csv");
    done(
        path,
        "train two.csv --kernel rbf -C 1 --scale none --solver smo --probabilities --trace trace.jsonl -o two.mm",
    );
    done(path, "train e2 -C 1 --solver smo --scale none -o e2.mm");
    done(path, "generate iris -o iris.csv");
    done(path, "train iris.csv --task regression --label petal_width --columns petal_length --kernel rbf -o width.mm");
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn every_kind_is_drawn_with_its_numbers() {
    let folder = with_models();
    let path = folder.path();
    for (kind, words, header) in [
        ("regions", "two.mm two.csv", "row,across,up,class,predicted,value,support"),
        ("margins", "two.mm two.csv", "row,class,margin"),
        ("roc", "two.mm two.csv", "class,threshold,false_alarms,recall,precision"),
        ("calibration", "two.mm two.csv", "from,to,rows,predicted,came_true,low,high"),
        ("confusion", "two.mm two.csv", "true,predicted,rows,share"),
        ("hulls", "e2.mm e2", "what,across,up,weight"),
        ("tube", "width.mm iris.csv", "row,across,true,predicted"),
        ("residuals", "width.mm iris.csv", "row,true,predicted,residual"),
        ("why", "two.mm two.csv --row 3", "what,term,sum"),
        ("convergence", "trace.jsonl", "iteration,primal,dual,gap,violation"),
    ] {
        let said = done(path, &format!("plot {kind} {words} -o {kind}.svg --numbers {kind}.csv --theme dark"));
        assert!(said.stderr.contains(&format!("wrote {kind}.svg")), "{}", said.stderr);
        assert!(said.stderr.contains(&format!("wrote {kind}.csv (its numbers)")), "{}", said.stderr);
        let picture = read(path, &format!("{kind}.svg"));
        assert!(picture.contains("<title>") && picture.contains("#14181d"), "{kind} is not on dark paper");
        let numbers = read(path, &format!("{kind}.csv"));
        assert_eq!(numbers.lines().next(), Some(header), "{kind}");
        assert!(numbers.lines().count() > 1, "{kind}");
    }
    // The picture of a model as a whole needs no word; a PNG has two pixels a unit.
    done(path, "plot width.mm iris.csv -o whole.svg");
    done(path, "plot tube width.mm iris.csv -o tube.svg");
    assert_eq!(read(path, "whole.svg"), read(path, "tube.svg"));
    done(path, "plot two.mm two.csv --width 500 --height 400 -o two.png");
    let png = fs::read(path.join("two.png")).unwrap();
    assert_eq!((&png[16..20], &png[20..24]), (&1000u32.to_be_bytes()[..], &800u32.to_be_bytes()[..]));
}

#[test]
fn predictions_verifications_and_regressions_are_drawn_along_the_way() {
    let folder = with_models();
    let path = folder.path();
    done(path, "predict two.mm two.csv -o labels.txt --plot confusion.svg");
    assert!(read(path, "confusion.svg").contains("Confusion: "));
    done(path, "verify two.mm two.csv --plot margins.svg");
    assert!(read(path, "margins.svg").contains("Margins: "));
    done(path, "verify width.mm iris.csv --plot residuals.svg");
    assert!(read(path, "residuals.svg").contains("Residuals: "));
    done(
        path,
        "train iris.csv --task regression --label petal_width --columns 1-3 --kernel rbf -o all.mm --plot tube.svg",
    );
    assert!(read(path, "tube.svg").contains("true = predicted"));
    // More than two columns, and none of them named: the plane that shows most.
    let said = done(path, "train iris --kernel rbf --plot plane.svg -o iris.mm --columns 1,2,3,4");
    assert!(said.stdout.contains("the plane that shows most of all columns"), "{}", said.stdout);
    assert!(read(path, "plane.svg").contains("this plane decides as the model does"));
}

#[test]
fn the_figures_of_the_textbooks_come_in_both_themes() {
    let folder = tempdir().unwrap();
    let names = |theme: &str| -> Vec<String> {
        done(folder.path(), &format!("examples E3 E10 --plot {theme} --theme {theme}"));
        let mut names: Vec<String> = fs::read_dir(folder.path().join(theme))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("light"), ["e10-sweep.svg", "e3-ellipse.svg"]);
    assert_eq!(names("dark"), ["e10-sweep.svg", "e3-ellipse.svg"]);
    assert_ne!(read(folder.path(), "light/e3-ellipse.svg"), read(folder.path(), "dark/e3-ellipse.svg"));
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_way_out_and_leaves_nothing() {
    let folder = with_models();
    let path = folder.path();
    fs::write(path.join("broken.jsonl"), "{\"iteration\":1,\"gap\":0.5}\n{\"iteration\":\n").unwrap();
    fs::write(path.join("silent.jsonl"), "{\"iteration\":1}\n").unwrap();
    for (words, what, help) in [
        ("pie two.mm two.csv -o p.svg", "there is no kind of picture \"pie\"", "the kinds are regions, margins"),
        ("tube two.mm two.csv -o p.svg", "predict numbers, and this one does classification", "regions, margins"),
        ("roc width.mm iris.csv -o p.svg", "predict classes, and this one does regression", "tube, residuals, why"),
        ("roc two.mm -o p.svg", "the kind roc is drawn from rows, and there are none", "give the data"),
        ("why two.mm two.csv --row 81 -o p.svg", "there is no row 81", "from 1 to 80"),
        ("why two.mm two.csv --row 0 -o p.svg", "invalid value '0' for '--row <N>'", "--help"),
        ("calibration e2.mm e2 -o p.svg", "has no probabilities", "--probabilities"),
        ("hulls two.mm two.csv -o p.svg", "a linear kernel", "choose the kind regions"),
        ("hulls e2.mm e1 -o p.svg", "this is other data", "give the training data"),
        ("two.mm two.csv -o p.svg --theme sepia", "invalid value 'sepia'", "--help"),
        ("two.mm two.csv -o p.svg --numbers p.svg", "would be one file", "different names"),
        ("two.mm two.csv -o p.svg --numbers no/p.csv", "there is no folder \"no\"", "make the folder"),
        ("convergence no.jsonl -o p.svg", "cannot read the trace \"no.jsonl\"", "--trace"),
        ("convergence broken.jsonl -o p.svg", "\"broken.jsonl\", line 2", "--trace"),
        ("convergence silent.jsonl -o p.svg", "says nothing of objectives", "smo"),
        ("convergence trace.jsonl two.csv -o p.svg", "drawn from a trace alone", "leave out the data"),
        ("regions two.mm two.csv more -o p.svg", "unexpected value 'more'", "--help"),
    ] {
        let run = run(path, &format!("plot {words}"));
        assert_eq!(run.code, Some(2), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(what), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(help), "{words}: {}", run.stderr);
        assert!(!path.join("p.svg").exists(), "{words} has left a picture");
    }
}
