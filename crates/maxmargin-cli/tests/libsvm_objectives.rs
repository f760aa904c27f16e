//! Objectives and support vectors that LIBSVM 3.24 finds on its own sample, at its default tolerance of 1e-3.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::path::Path;

use program::json;

/// Flags, the dual objective that `svm-train` prints, and its support vectors (all, at the bound).
const FOUND_BY_LIBSVM: [(&str, f64, u64, u64); 4] = [
    ("-C 1 --kernel linear", 92.473356, 101, 88),
    ("-C 1 --kernel rbf --gamma 0.1", 98.177308, 133, 101),
    ("-C 100 --kernel rbf --gamma 0.5", 221.778840, 174, 0),
    ("-C 10 --kernel polynomial --degree 3 --gamma 0.1 --coef0 1", 391.925718, 111, 28),
];

#[test]
fn no_objective_is_worse_than_that_of_libsvm() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/heart_scale");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data, folder.path().join("heart_scale")).unwrap();
    for (flags, objective, support, bounded) in FOUND_BY_LIBSVM {
        let found = json(folder.path(), &format!("train heart_scale {flags} --solver smo --json"));
        let dual = found["objective"]["dual"].as_f64().unwrap();
        assert!(dual >= objective * (1.0 - 1e-6), "{flags}: {dual} is worse than {objective}");
        // The dual is a bound below the optimum, which is all of it that LIBSVM's can be below ours.
        assert!(dual <= objective * (1.0 + 1e-5), "{flags}: {dual} is above {objective}");
        let vectors = &found["support_vectors"];
        assert_eq!((&vectors["total"], &vectors["bounded"]), (&support.into(), &bounded.into()), "{flags}");
    }
}
