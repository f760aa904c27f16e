//! The builders say what they mean to the general door, and data of every kind is the same data.

use maxmargin::{
    ClassWeights, Classes, Custom, Dataset, Error, Fitted, Gamma, KernelParams, Label, Labels, Lda, LinearSvc,
    LinearSvr, Logistic, Matrix, Multiclass, NuSvc, NuSvr, Numbers, OneClass, Penalty, Perceptron, Rvm, Stop, Svc,
    Svdd, Svr, TrainingParams, Unattended, Usual, Workers,
};
use ndarray::{Array1, Array2, ShapeBuilder, array};

const X: [[f64; 2]; 6] = [[0.0, 0.0], [0.5, 1.0], [1.0, 0.25], [3.0, 3.0], [3.5, 4.0], [4.0, 3.25]];
const Y: [&str; 6] = ["low", "low", "low", "high", "high", "high"];

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "no error".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_builder_is_the_general_door_with_its_parameters_filled_in() {
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
    let params = TrainingParams { kernel, penalty: Penalty::C(3.0), ..TrainingParams::default() };
    let labels = Labels::new(Y.map(Label::new));
    let data = Dataset::new(Matrix::dense(6, 2, X.concat()).unwrap(), labels).unwrap();
    let general = params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
    let general: Fitted<Classes<String>> = general.try_into().unwrap();
    let builder = Svc::rbf().gamma(0.5).c(3.0);
    let workers = Workers::new(2).unwrap();
    for model in [
        builder.fit((&X, &Y)).unwrap(),
        builder.fit(&data).unwrap(),
        builder.fit_with((&X, &Y), &workers, &mut Unattended).unwrap(),
    ] {
        assert_eq!(model.decision_values(&X).unwrap(), general.decision_values(&X).unwrap());
        assert_eq!(model.certificate(), general.certificate());
    }
    let weights = Svc::linear().class_weights([("low", 2.0)]).balanced();
    assert_eq!(weights.params().class_weights, ClassWeights::Balanced);
    assert!(matches!(Svc::kernel("2 * linear").params().kernel, KernelParams::Scaled(2.0, _)));
}

#[test]
fn rows_of_every_kind_are_the_same_rows() {
    let fit = Svc::rbf().gamma(0.5).fit((&X, &Y)).unwrap();
    let expected = fit.decision_values(&X).unwrap();
    let nested: Vec<Vec<f64>> = X.iter().map(|row| row.to_vec()).collect();
    let slices: Vec<&[f64]> = X.iter().map(|row| &row[..]).collect();
    let by_rows = Array2::from_shape_vec((6, 2), X.concat()).unwrap();
    let mut by_columns = Array2::zeros((6, 2).f());
    by_columns.assign(&by_rows);
    let single = by_rows.mapv(|value| value as f32);
    let dense = Matrix::dense(6, 2, X.concat()).unwrap();
    let places = (0..12).map(|k| (k / 2, k % 2, X[k / 2][k % 2])).filter(|entry| entry.2 != 0.0);
    let triplets = Matrix::from_entries(6, 2, places.collect::<Vec<_>>().into_iter().rev()).unwrap();
    let svc = Svc::rbf().gamma(0.5);
    let found = [
        svc.fit((X.to_vec(), &Y)).unwrap().decision_values(&nested),
        svc.fit((&nested, &Y)).unwrap().decision_values(&slices),
        svc.fit((&slices[..], &Y)).unwrap().decision_values(&by_rows),
        svc.fit((&by_rows, &Y)).unwrap().decision_values(by_columns.view()),
        svc.fit((&by_columns, &Y)).unwrap().decision_values(&single),
        svc.fit((&single, &Y)).unwrap().decision_values(&dense),
        svc.fit((&dense, &Y)).unwrap().decision_values(dense.to_sparse()),
        svc.fit((&triplets, &Y)).unwrap().decision_values(&triplets),
    ];
    for (place, values) in found.into_iter().enumerate() {
        let values = values.unwrap();
        for row in 0..6 {
            assert!((values[row][0] - expected[row][0]).abs() < 1e-9, "kind {place}, row {row}: {values:?}");
        }
    }
}

#[test]
fn labels_come_back_in_the_type_that_they_went_in_with() {
    fn model<Y: maxmargin::ToLabels>(y: Y) -> Fitted<Classes<Y::Class>> {
        Svc::linear().fit((&X, y)).unwrap()
    }
    assert_eq!(model(&Y).predict(&X).unwrap(), Y);
    assert_eq!(model(Y.to_vec()).predict(&X).unwrap(), Y);
    assert_eq!(model(Array1::from(Y.map(String::from).to_vec())).predict(&X).unwrap(), Y);
    assert_eq!(model(&[3, 3, 3, -7, -7, -7]).predict(&X).unwrap(), [3, 3, 3, -7, -7, -7]);
    assert_eq!(model(&array![1_u8, 1, 1, 0, 0, 0]).predict(&X).unwrap(), [1_u8, 1, 1, 0, 0, 0]);
    assert_eq!(model(&[false, false, false, true, true, true]).classes(), [false, true]);
    assert_eq!(model(['a', 'a', 'a', 'b', 'b', 'b']).classes(), ['a', 'b']);
    // As the library sorts labels: numbers by value.
    assert_eq!(model(&[10_i64, 10, 10, 9, 9, 9]).classes(), [9, 10]);
}

#[test]
fn each_builder_makes_a_model_of_its_kind() {
    let y = [0, 0, 0, 1, 1, 1];
    let classes = [
        Svc::linear().fit((&X, &y)),
        Svc::poly(2).coef0(1.0).fit((&X, &y)),
        Svc::linear().hard_margin().fit((&X, &y)),
        NuSvc::linear().nu(0.4).fit((&X, &y)),
        LinearSvc::new().hinge().fit((&X, &y)),
        LinearSvc::new().l1().fit((&X, &y)),
        Logistic::new().standardised().fit((&X, &y)),
        Logistic::new().l1().c(10.0).fit((&X, &y)),
        Lda::new().shrinkage(0.1).fit((&X, &y)),
        Rvm::linear().fit((&X, &y)),
        Perceptron::new().fit((&X, &y)),
        Perceptron::kernel("rbf(gamma=1)").fit((&X, &y)),
    ];
    for (place, model) in classes.into_iter().enumerate() {
        let model = model.unwrap();
        assert_eq!(model.predict(&X).unwrap(), y, "builder {place}");
        assert_eq!(model.score(&X, &y).unwrap(), 1.0);
        // Perceptrons, the relevance vector machine and Fisher's discriminant have no objective to be certified.
        assert_eq!(model.certificate().is_some(), place < 8, "builder {place}");
    }
    let t = [0.0, 1.5, 1.25, 6.0, 7.5, 7.25];
    for model in [
        Svr::linear().c(100.0).epsilon(0.01).fit((&X, &t)),
        NuSvr::linear().c(100.0).nu(0.9).fit((&X, &t)),
        LinearSvr::new().c(100.0).epsilon(0.01).fit((&X, &Array1::from(t.to_vec()))),
    ] {
        let model: Fitted<Numbers> = model.unwrap();
        assert!(model.score(&X, &t).unwrap() > 0.99);
        assert_eq!(model.stop(), Stop::Converged);
    }
    // A square of 25 rows around (2, 2): its middle is usual, and what lies far off is not.
    let square: Vec<[f64; 2]> = (0..25).map(|k| [f64::from(k % 5), f64::from(k / 5)]).collect();
    for model in [OneClass::rbf().gamma(0.1).nu(0.2).fit(&square), Svdd::rbf().gamma(0.1).nu(0.2).fit(&square)] {
        let model: Fitted<Usual> = model.unwrap();
        assert_eq!(model.predict(&[[2.0, 2.0], [90.0, -90.0]]).unwrap(), [true, false]);
    }
}

#[test]
fn weights_of_rows_count_as_copies() {
    let copied: Vec<[f64; 2]> = X.iter().chain(&X[3..]).copied().collect();
    let answers = ["low", "low", "low", "high", "high", "high", "high", "high", "high"];
    let svc = Svc::linear().c(0.1).tolerance(1e-9);
    let weighted = svc.fit((&X, &Y, &[1, 1, 1, 2, 2, 2])).unwrap();
    let plain = svc.fit((&copied, &answers)).unwrap();
    let (a, b) = (weighted.decision_values(&X).unwrap(), plain.decision_values(&X).unwrap());
    assert!((0..6).all(|row| (a[row][0] - b[row][0]).abs() < 1e-6), "{a:?} {b:?}");
    assert!(weighted.verify((&X, &Y, &[1, 1, 1, 2, 2, 2])).unwrap().holds());
    assert!(!weighted.verify((&X, &Y)).unwrap().holds());
}

#[test]
fn the_certificate_of_several_machines_is_their_sum() {
    let x: Vec<[f64; 1]> = (0..9).map(|k| [f64::from(k)]).collect();
    let y = [0, 0, 0, 1, 1, 1, 2, 2, 2];
    let model = Svc::linear().c(0.5).fit((&x, &y)).unwrap();
    let of_machines: Vec<_> =
        model.model().machines().iter().map(|machine| machine.evidence.certificate().unwrap()).collect();
    let all = model.certificate().unwrap();
    assert_eq!(of_machines.len(), 3);
    assert!((all.primal - of_machines.iter().map(|own| own.primal).sum::<f64>()).abs() < 1e-12);
    assert!(of_machines.iter().any(|own| own.violation == all.violation));
    assert!((all.relative_gap - all.gap / all.primal).abs() < 1e-12);
    // Classes that were trained together have one certificate.
    let joint = Logistic::new().fit((&x, &y)).unwrap();
    let of_all = joint.model().parts().joint.as_ref().and_then(|joint| joint.certificate()).unwrap();
    assert_eq!(joint.certificate().unwrap().gap, of_all.gap);
    let rest = Svc::linear().multiclass(Multiclass::OneVsRest).probabilities().fit((&x, &y)).unwrap();
    let table: Array2<f64> = rest.probabilities(&x).unwrap().into();
    assert_eq!(table.dim(), (9, 3));
    assert!(table.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-9));
}

#[test]
fn what_cannot_be_is_said_when_it_is_fitted() {
    let labels = &Y;
    for (found, expected) in [
        (message(Svc::linear().gamma(1.0).fit((&X, labels))), "gamma was given, but the kernel has none"),
        (message(Svc::rbf().coef0(1.0).fit((&X, labels))), "coef0 was given, but the kernel has none"),
        (message(Svc::rbf().gamma(-1.0).fit((&X, labels))), "gamma is -1, but it must be a finite number above 0"),
        (message(Svc::rbf().c(f64::NAN).fit((&X, labels))), "C is NaN, but it must be a finite number above 0"),
        (
            message(Svc::kernel("rbx").fit((&X, labels))),
            "kernel \"rbx\", character 1: found \"rbx\", expected a kernel",
        ),
        (message(Svc::rbf().fit((&X[..3], labels))), "data set: 6 labels does not fit 3 expected"),
        (message(Svc::rbf().fit((&X, &["a"; 6]))), "all 6 rows have the label \"a\""),
        (message(Svc::rbf().fit((&[[0.0; 2]; 0], &["a"; 0]))), "the data has no rows"),
        (
            message(Svc::rbf().fit((&vec![vec![0.0], vec![]], &[0, 1]))),
            "rows: 0 numbers in row 2 does not fit 1 in row 1",
        ),
        (message(Svr::rbf().fit((&X[..2], &[0.5, f64::INFINITY]))), "the target of row 2 is inf"),
        (message(Svc::rbf().fit((&[[f64::NAN]], &[0]))), "the value in row 1, column 1 is NaN"),
        (message(NuSvc::rbf().nu(2.0).fit((&X, labels))), "nu is 2, but it must be above 0 and at most 1"),
    ] {
        assert_eq!(found, expected);
    }
    let model = Svc::rbf().fit((&X, labels)).unwrap();
    assert_eq!(message(model.predict(&[[1.0]])), "predict: 1 columns of data does not fit 2 columns of the model");
    assert_eq!(message(model.probabilities(&X)), "a model of hinge loss has no probabilities");
    let wrong: Result<Fitted<Classes<i32>>, Error> = model.model().clone().try_into();
    assert_eq!(message(wrong), "the class \"high\" of the model is no i32");
    let wrong: Result<Fitted<Numbers>, Error> = model.into_model().try_into();
    assert_eq!(message(wrong), "a model for the task classification has no numbers");
    assert_eq!(
        message(Svr::linear().fit((&X, &[1.0; 6])).unwrap().score(&X, &[1.0; 6])),
        "R² is not defined for numbers that are all the same"
    );
    let entries = |entries: [(usize, usize, f64); 2]| message(Matrix::from_entries(2, 2, entries));
    assert_eq!(entries([(0, 1, 1.0), (0, 1, 2.0)]), "two entries are for row 1, column 2");
    assert_eq!(
        entries([(0, 1, 1.0), (2, 0, 2.0)]),
        "sparse matrix: an entry in row 3, column 1 does not fit 2 rows x 2 columns"
    );
}

#[test]
fn a_kernel_of_ones_own_is_a_kernel() {
    let own = Custom::new("dot", |x, z| x.iter().zip(z).map(|(a, b)| a * b).sum());
    let (own, linear) = (Svc::kernel(own).fit((&X, &Y)).unwrap(), Svc::linear().fit((&X, &Y)).unwrap());
    let (a, b) = (own.decision_values(&X).unwrap(), linear.decision_values(&X).unwrap());
    assert!((0..6).all(|row| (a[row][0] - b[row][0]).abs() < 1e-2), "{a:?} {b:?}");
}
