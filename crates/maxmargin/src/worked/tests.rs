use super::*;
use crate::control::Unattended;

/// Runs an example and shows what does not hold.
fn check(id: &str, solvers: &[&str]) {
    let example = run(id, &Workers::none(), &mut Unattended).unwrap();
    let failing: Vec<String> = example
        .checks
        .iter()
        .filter(|check| !check.holds())
        .map(|check| {
            let solver = check.solver.unwrap_or("-");
            format!("{solver}: {}: expected {}, obtained {}", check.what, check.expected(), check.obtained())
        })
        .collect();
    assert!(failing.is_empty(), "{id}:\n{}", failing.join("\n"));
    assert!(example.holds());
    for solver in solvers {
        assert!(example.checks.iter().any(|check| check.solver == Some(solver)), "{id}: {solver} takes no part");
    }
}

#[test]
fn e1_separable_points() {
    check("E1", &["smo", "interior-point"]);
}

#[test]
fn e2_points_that_no_line_separates() {
    check("E2", &["smo", "interior-point", "sgd"]);
}

#[test]
fn e3_a_quadratic_kernel() {
    check("E3", &["smo", "interior-point"]);
}

#[test]
fn e4_iris_by_its_sepals() {
    check("E4", &["smo", "dual-ascent", "interior-point", "sgd"]);
}

#[test]
fn e5_iris_by_its_sepals_with_squared_loss() {
    check("E5", &["smo", "dual-ascent", "interior-point", "newton", "kernel-newton"]);
}

#[test]
fn e6_iris_on_its_principal_components() {
    check("E6", &["smo", "dual-ascent", "interior-point", "sgd"]);
}

#[test]
fn e7_iris_on_its_principal_components_with_squared_loss() {
    check("E7", &["smo", "dual-ascent", "interior-point", "kernel-newton"]);
}

#[test]
fn e8_xor_and_rings() {
    check("E8", &["smo", "interior-point", "perceptron", "kernel-perceptron", "rvm", "mlp"]);
}

#[test]
fn e9_a_far_blob() {
    check("E9", &["smo", "interior-point", "newton", "lda", "logistic"]);
}

#[test]
fn e10_a_sweep_of_c() {
    check("E10", &["smo", "interior-point"]);
}

#[test]
fn a_check_of_a_wrong_number_does_not_hold() {
    let check = |claim: Claim| Check { what: String::new(), solver: None, claim }.holds();
    let equal = |expected: f64, obtained: f64| check(Claim::Equal { expected, obtained, tolerance: 1e-4 });
    assert!(equal(1.0, 1.00009) && !equal(1.0, 1.00011) && !equal(1.0, f64::NAN) && !equal(f64::NAN, 1.0));
    assert!(check(Claim::AtMost { limit: 1.0, obtained: 1.0 }) && !check(Claim::AtMost { limit: 1.0, obtained: 1.1 }));
    assert!(!check(Claim::AtMost { limit: 1.0, obtained: f64::NAN }));
    assert!(
        check(Claim::AtLeast { limit: 1.0, obtained: 1.0 }) && !check(Claim::AtLeast { limit: 1.0, obtained: 0.9 })
    );
    let falling = |obtained: &[f64]| check(Claim::Falling { obtained: obtained.to_vec() });
    assert!(falling(&[3.0, 2.0, 1.0]) && !falling(&[3.0, 3.0, 1.0]) && !falling(&[3.0, f64::NAN]) && !falling(&[1.0]));
}

#[test]
fn an_example_with_one_wrong_number_does_not_hold() {
    let mut example = run("e1", &Workers::none(), &mut Unattended).unwrap();
    assert!(example.holds());
    let Claim::Equal { expected, .. } = &mut example.checks[0].claim else { panic!("w1 is a number") };
    *expected += 1e-3;
    assert!(!example.holds());
    assert!(!Example { checks: vec![], ..example }.holds(), "nothing checked, nothing shown");
}

#[test]
fn a_report_of_a_check_carries_the_verdict() {
    let check = Check { what: "b".into(), solver: Some("smo"), claim: Claim::AtMost { limit: 1.0, obtained: 2.0 } };
    let text = serde_json::to_string(&check).unwrap();
    assert_eq!(text, r#"{"what":"b","solver":"smo","claim":"at-most","limit":1.0,"obtained":2.0,"holds":false}"#);
}

#[test]
fn every_example_has_a_figure_in_the_plane_and_no_other_name_is_known() {
    for id in ids() {
        let (data, params) = figure(id).unwrap();
        assert_eq!(data.columns(), 2, "{id}");
        params.check().unwrap();
    }
    assert!(figure("E11").is_none());
    let error = run("E11", &Workers::none(), &mut Unattended).unwrap_err();
    assert_eq!(error.to_string(), r#"there is no example "E11""#);
    assert_eq!(error.help(), "the examples are E1, E2, E3, E4, E5, E6, E7, E8, E9, E10");
}
