//! The numbers of the worked examples, by the flags that a user would type.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use program::{all_near, json, near};
use serde_json::Value;

fn train(line: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    json(folder.path(), &format!("train {line} --tolerance 1e-6 --json"))
}

#[test]
fn e1_is_the_widest_margin_between_separable_points() {
    let found = train("e1 --hard --alphas");
    all_near(&found["weights"], &[5.0 / 6.0, 1.0 / 3.0]);
    near(&found["bias_value"], -10.0 / 3.0);
    near(&found["margin"], 1.114172);
    near(&found["objective"]["dual"], 29.0 / 72.0);
    assert_eq!((&found["training_errors"], &found["stop"]), (&0.into(), &"converged".into()));
    let alpha: Vec<f64> = found["alpha"].as_array().unwrap().iter().map(|alpha| alpha.as_f64().unwrap()).collect();
    assert_eq!(alpha.len(), 14);
    // ½‖w‖² = ½ Σ α, and the two classes weigh the same.
    assert!((alpha.iter().sum::<f64>() - 29.0 / 36.0).abs() < 1e-4);
    assert!((alpha[..8].iter().sum::<f64>() - alpha[8..].iter().sum::<f64>()).abs() < 1e-12);
}

#[test]
fn e1_has_hulls_twice_the_margin_apart() {
    let folder = tempfile::tempdir().unwrap();
    json(folder.path(), "train e1 --hard --tolerance 1e-6 --json");
    let found = json(folder.path(), "inspect e1.mm e1 --json");
    let geometry = &found["machines"][0]["geometry"];
    near(&geometry["hulls"]["distance"], 2.228344);
    near(&geometry["hyperplane"]["margin"], 1.114172);
    near(&geometry["hyperplane"]["canonical"]["margin"], 1.114172);
    near(&geometry["hyperplane"]["origin_distance"], -3.714);
}

#[test]
fn e2_has_four_bounded_points_and_two_errors() {
    let found = train("e2 -C 1 --alphas");
    all_near(&found["weights"], &[5.0 / 6.0, 1.0 / 3.0]);
    near(&found["bias_value"], -10.0 / 3.0);
    near(&found["objective"]["primal"], 6.0694444);
    near(&found["objective"]["dual"], 6.0694444);
    near(&found["slack_sum"], 5.6667);
    // Alpha is not unique here: points on the margin may reach the bound too.
    assert!(found["support_vectors"]["bounded"].as_u64().unwrap() >= 4);
    assert_eq!(found["training_errors"], 2);
    all_near(&Value::Array(found["alpha"].as_array().unwrap()[14..].to_vec()), &[1.0; 4]);
}

#[test]
fn e3_is_an_ellipse() {
    let folder = tempfile::tempdir().unwrap();
    let line = "train e3 --kernel polynomial --degree 2 --gamma 1 --coef0 1 -C 4 --tolerance 1e-8 --json --alphas";
    let found = json(folder.path(), line);
    near(&found["bias_value"], 8.846154);
    near(&found["objective"]["primal"], 6.814103);
    all_near(&found["alpha"], &[0.620085, 2.070513, 3.805128, 0.318376, 2.961538, 3.852564]);
    let conic = json(folder.path(), "inspect e3.mm --json")["machines"][0]["geometry"]["conic"].clone();
    assert_eq!(conic["kind"], "ellipse");
    all_near(&conic["centre"], &[4.04535, 2.90696]);
    all_near(&conic["semi_axes"], &[2.78190, 1.55397]);
}

const SEPALS: &str = "iris --columns sepal_length,sepal_width --positive setosa --kernel linear";

#[test]
fn e4_is_iris_with_a_folded_and_an_explicit_bias() {
    for (flags, weights, bias, objective, errors) in [
        ("-C 10 --bias folded", [-2.746252, 3.747918], 3.086840, 45.867404, 1),
        ("-C 1000 --bias folded", [-8.571429, 7.142857], 23.142857, 330.040816, 0),
        ("-C 10 --bias explicit", [-4.0, 4.0], 9.0, 32.0, 0),
        ("-C 1000 --bias explicit", [-8.571429, 7.142857], 23.142857, 62.244898, 0),
    ] {
        let found = train(&format!("{SEPALS} {flags}"));
        all_near(&found["weights"], &weights);
        near(&found["bias_value"], bias);
        near(&found["objective"]["primal"], objective);
        if flags.contains("folded") {
            assert_eq!(found["training_errors"], errors, "{flags}");
        }
    }
}

#[test]
fn e4_is_the_same_model_in_all_three_forms_of_the_penalty() {
    for flags in ["-C 10", "--c-over-n 1500", "--lambda 0.000333333333333333"] {
        let found = train(&format!("{SEPALS} --bias folded {flags}"));
        near(&found["objective"]["primal"], 45.867404);
        near(&found["penalty"]["c"], 10.0);
        near(&found["penalty"]["c_over_n"], 1500.0);
        near(&found["penalty"]["lambda"], 1.0 / 3000.0);
    }
}

#[test]
fn e5_is_the_same_from_the_primal_and_from_the_dual() {
    for solver in ["newton", "dual-ascent", "smo"] {
        let found = train(&format!("{SEPALS} -C 1000 --loss squared --bias folded --solver {solver}"));
        all_near(&found["weights"], &[-7.473715, 6.340199]);
        near(&found["bias_value"], 19.908250);
        near(&found["objective"]["primal"], 285.040662);
        near(&found["objective"]["dual"], 285.040662);
        assert_eq!(found["solver"], solver);
    }
}
