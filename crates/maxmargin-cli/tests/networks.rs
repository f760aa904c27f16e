//! Networks and relevance vector machines, as a user walks them.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;

use program::{done, json, run};
use tempfile::tempdir;

#[test]
fn a_network_learns_xor_is_drawn_predicted_inspected_and_has_nothing_to_verify() {
    let folder = tempdir().unwrap();
    let words = done(folder.path(), "train xor --solver mlp --hidden 4 -C 100 --scale none --plot xor.svg");
    assert!(words.stdout.contains("1 hidden layer of 4 units, tanh"), "{}", words.stdout);
    assert!(
        program::words(&words.stdout).contains("no certificate, because the objective of a network is not convex"),
        "{}",
        words.stdout
    );
    assert!(program::words(&words.stdout).contains("largest component of the gradient"), "{}", words.stdout);
    assert!(fs::read_to_string(folder.path().join("xor.svg")).unwrap().contains("<svg"));
    let verified = done(folder.path(), "verify xor.mm xor");
    assert!(verified.stdout.contains("there is no certificate to check"), "{}", verified.stdout);
    let shown = done(folder.path(), "inspect xor.mm xor");
    assert!(shown.stdout.contains("network") && !shown.stdout.contains("plane"), "{}", shown.stdout);
    let predicted = done(folder.path(), "predict xor.mm xor --probabilities");
    assert!(predicted.stderr.contains("100"), "{}", predicted.stderr);
    done(folder.path(), "plot xor.mm xor -o xor.png");
    let found = json(folder.path(), "inspect xor.mm --json");
    assert_eq!(found["network"], serde_json::json!({ "hidden": [4], "activation": "tanh" }));
    assert!(found["machines"][0]["weights"].is_null());
}

#[test]
fn a_network_of_two_layers_tells_three_classes_apart() {
    let folder = tempdir().unwrap();
    let flags = "--solver mlp --hidden 6,4 --activation sigmoid --starts 2 -C 100 --scale standard";
    let found = json(folder.path(), &format!("train iris {flags} --json"));
    assert_eq!(found["solver"], "mlp");
    assert_eq!(found["multiclass"], "joint");
    assert_eq!(found["network"]["hidden"], serde_json::json!([6, 4]));
    assert!(found["training_errors"].as_u64().unwrap() <= 3, "{}", found["training_errors"]);
    assert!(found["certificate"]["none"].as_str().unwrap().contains("not convex"));
    assert!(found["objective"].is_null());
    done(folder.path(), "verify iris.mm iris");
    let report = json(folder.path(), "predict iris.mm iris --probabilities --json");
    assert_eq!(report["rows"], 150);
}

#[test]
fn the_same_seed_gives_the_same_file_for_any_number_of_threads_and_another_seed_another() {
    let folder = tempdir().unwrap();
    let train = |flags: &str, name: &str| {
        done(folder.path(), &format!("train iris --solver mlp --max-iterations 40 -q -o {name} {flags}"));
        fs::read(folder.path().join(name)).unwrap()
    };
    let one = train("--threads 1", "a.mm");
    assert_eq!(one, train("--threads 3", "b.mm"));
    assert_ne!(one, train("--threads 1 --seed 7", "c.mm"));
}

#[test]
fn what_a_network_has_not_is_refused_with_a_way_out() {
    let folder = tempdir().unwrap();
    done(folder.path(), "train e1 --solver mlp --hidden 2 -q");
    for (line, said) in [
        ("train e1 --solver mlp --kernel rbf", "features of its own"),
        ("train e1 --solver mlp --loss hinge", "logistic loss, not hinge"),
        ("train e1 --solver mlp --bias folded", "explicit bias"),
        ("train e1 --solver mlp --hidden 0", "hidden"),
        ("train e1 --solver mlp --starts 0", "starts"),
        ("train e1 --solver mlp --gap 1e-3", "no gap"),
        ("train e1 --solver mlp --checkpoint e1.checkpoint", "--checkpoint does not go with the solver mlp"),
        ("train e1 --solver mlp --warm-start e1.mm", "--warm-start does not go with the solver mlp"),
        ("train e1 --warm-start e1.mm -o other.mm", "is a network"),
        ("train e1 --solver mlp --stream", "does not go with --stream"),
        ("train e1 --solver mlp --out-of-core", "solver"),
        ("train iris --solver mlp --multiclass ovo", "all classes together"),
        ("convert-model e1.mm e1.model --to libsvm", "is a network, and LIBSVM has none"),
        ("convert-model e1.mm e1.model --to liblinear", "is a network, and LIBLINEAR has none"),
    ] {
        let refused = run(folder.path(), line);
        assert_eq!(refused.code, Some(2), "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(said) && refused.stderr.contains("help:"), "{line}: {}", refused.stderr);
    }
}

#[test]
fn a_relevance_vector_machine_of_rings_is_small_drawn_and_says_probabilities() {
    let folder = tempdir().unwrap();
    let found = json(folder.path(), "train rings --solver rvm --kernel rbf --gamma 1 --json --plot rings.svg");
    assert_eq!((&found["solver"], &found["loss"]), (&"rvm".into(), &"logistic".into()));
    assert_eq!(found["training_errors"], 0);
    let vectors = &found["support_vectors"];
    assert!(vectors["total"].as_u64().unwrap() <= 12 && vectors["bounded"] == 0, "{vectors}");
    assert!(found["certificate"]["none"].as_str().unwrap().contains("not convex"));
    assert!(found["notes"][0].as_str().unwrap().contains("log marginal likelihood"), "{}", found["notes"]);
    done(folder.path(), "verify rings.mm rings");
    let predicted = done(folder.path(), "predict rings.mm rings --probabilities");
    assert_eq!(predicted.stdout.lines().count(), found["rows"].as_u64().unwrap() as usize);
    let words = done(folder.path(), "train rings --solver rvm --kernel rbf --gamma 1 -o words.mm");
    assert!(words.stdout.contains("found for each vector"), "{}", words.stdout);
    for line in [
        "train rings --solver rvm --hard",
        "train rings --solver rvm --no-penalty",
        "train rings --solver rvm --loss hinge",
    ] {
        let refused = run(folder.path(), line);
        assert!(refused.code == Some(2) && refused.stderr.contains("help:"), "{line}: {}", refused.stderr);
    }
}
