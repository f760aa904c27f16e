//! Relevance vector machines beside support vector machines: as good, and of far fewer vectors.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::certificate::Evidence;
use maxmargin::data::{Dataset, Label, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::solver::SolverKind;
use maxmargin::{Model, Stop, TrainingParams, Unattended, Workers};

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn by(solver: SolverKind, kernel: KernelParams) -> TrainingParams {
    TrainingParams { solver: Some(solver), kernel, ..TrainingParams::default() }
}

fn rbf(gamma: f64) -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Value(gamma) }
}

fn quadratic() -> KernelParams {
    KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 }
}

fn errors(model: &Model, data: &Dataset) -> usize {
    let predictions = model.predict(data, &Workers::none()).unwrap();
    let codes = model.codes(data);
    predictions.codes().iter().zip(codes).filter(|(found, code)| Some(**found) != *code).count()
}

fn vectors(model: &Model) -> usize {
    model.parts().support_rows.len()
}

#[test]
fn as_good_as_the_support_vector_machine_with_far_fewer_vectors() {
    let cases = [
        ("xor, quadratic", generate("xor", 60, 8).unwrap(), quadratic()),
        ("rings, quadratic", generate("rings", 60, 8).unwrap(), quadratic()),
        ("xor", generate("xor", 200, 8).unwrap(), rbf(1.0)),
        ("rings", generate("rings", 200, 8).unwrap(), rbf(1.0)),
        ("moons", generate("moons", 200, 8).unwrap(), rbf(1.0)),
        ("iris", embedded("iris").unwrap(), rbf(0.25)),
    ];
    for (name, data, kernel) in cases {
        let svm = fit(&data, by(SolverKind::Smo, kernel.clone()));
        let rvm = fit(&data, by(SolverKind::Rvm, kernel));
        assert_eq!(rvm.stop(), Stop::Converged, "{name}");
        let (of_svm, of_rvm) = (errors(&svm, &data), errors(&rvm, &data));
        assert!(of_rvm <= of_svm + data.rows() / 100, "{name}: {of_rvm} errors, the other {of_svm}");
        assert!(3 * vectors(&rvm) <= vectors(&svm), "{name}: {} vectors, the other {}", vectors(&rvm), vectors(&svm));
    }
}

#[test]
fn probabilities_rise_with_the_decision_value_and_there_is_no_certificate() {
    let moons = generate("moons", 120, 2).unwrap();
    let model = fit(&moons, by(SolverKind::Rvm, rbf(1.0)));
    let predictions = model.predict(&moons, &Workers::none()).unwrap();
    let probabilities = model.probabilities(&predictions).unwrap();
    let mut pairs: Vec<(f64, f64)> =
        (0..120).map(|row| (predictions.decision_values(row)[0], probabilities[2 * row + 1])).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(pairs.is_sorted_by(|a, b| a.1 <= b.1));
    let machine = &model.machines()[0];
    assert!(matches!(&machine.evidence, Evidence::None(reason) if reason.contains("not convex")));
    assert!(matches!(machine.notes[0], maxmargin::provenance::Note::RelevanceVectors { .. }));
    assert!(model.verify(&moons, &Workers::none()).unwrap().holds());
}

#[test]
fn several_classes_by_pairs_and_against_the_rest() {
    let iris = embedded("iris").unwrap();
    for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
        let model = fit(&iris, TrainingParams { multiclass: Some(multiclass), ..by(SolverKind::Rvm, rbf(0.25)) });
        assert!(errors(&model, &iris) <= 6, "{multiclass:?}: {}", errors(&model, &iris));
        let predictions = model.predict(&iris, &Workers::none()).unwrap();
        let probabilities = model.probabilities(&predictions).unwrap();
        assert!(probabilities.chunks(3).all(|line| (line.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    }
}

#[test]
fn storage_changes_nothing() {
    let iris = embedded("iris").unwrap();
    let sparse = iris.clone().with_matrix(iris.matrix().to_sparse()).unwrap();
    let params = || TrainingParams { positive: Some(Label::new("versicolor")), ..by(SolverKind::Rvm, rbf(0.25)) };
    let (one, other) = (fit(&iris, params()), fit(&sparse, params()));
    assert_eq!(one.parts().support_rows, other.parts().support_rows);
    let pairs = one.machines()[0].coefficients.iter().zip(&other.machines()[0].coefficients);
    pairs.for_each(|(a, b)| assert!((a - b).abs() <= 1e-6 * a.abs().max(1.0), "{a} {b}"));
}
