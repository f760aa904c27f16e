//! Models of LIBSVM and LIBLINEAR: there and back, against what these programs said themselves, and what does not read.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix, ScalingKind, embedded};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::training::Penalty;
use maxmargin::{Model, TrainingParams, Unattended, Workers};
use maxmargin_io::{
    Error, LiblinearLayout, LibsvmLayout, liblinear_model_from_text, liblinear_model_to_text, libsvm_model_from_text,
    libsvm_model_to_text,
};

/// Iris with the labels 3, −2 and 10, in the order of its classes, or with numbers.
fn iris(labels: [&str; 3]) -> Dataset {
    let iris = embedded("iris").unwrap();
    let texts =
        iris.labels().unwrap().codes().iter().map(|&code| Label::new(labels[code as usize])).collect::<Vec<_>>();
    Dataset::new(iris.matrix().clone(), Labels::new(texts)).unwrap()
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

/// The same labels, and decision values within rounding.
fn assert_same(data: &Dataset, one: &Model, other: &Model, what: &str) {
    let [one, other] = [one, other].map(|model| (model, model.predict(data, &Workers::none()).unwrap()));
    for row in 0..data.rows() {
        let (a, b) = (one.1.decision_values(row), other.1.decision_values(row));
        assert_eq!(a.len(), b.len(), "{what}");
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-10 * a.abs().max(1.0);
        assert!(a.iter().zip(b).all(near), "{what}, row {row}: {a:?} {b:?}");
    }
    if !one.0.task().is_regression() {
        let label = |(model, found): &(&Model, maxmargin::model::Predictions), row: usize| {
            model.label(found.codes()[row]).clone()
        };
        assert!((0..data.rows()).all(|row| label(&one, row) == label(&other, row)), "{what}");
    }
}

fn rbf() -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Value(0.3) }
}

#[test]
fn models_go_to_libsvms_file_and_back() {
    let (three, two, numbers) = (iris(["3", "-2", "10"]), iris(["-1", "1", "1"]), iris(["0.5", "2", "-1.25"]));
    let polynomial = KernelParams::Polynomial { gamma: Gamma::Value(0.2), coef0: 1.0, degree: 3 };
    let base = TrainingParams::default;
    for (name, data, params) in [
        ("three classes", &three, TrainingParams { kernel: rbf(), ..base() }),
        ("two classes", &two, TrainingParams { kernel: polynomial, ..base() }),
        ("nu", &two, TrainingParams { kernel: rbf(), penalty: Penalty::Nu(0.2), ..base() }),
        ("linear", &three, base()),
        ("linear, two", &two, base()),
        ("regression", &numbers, TrainingParams { kernel: rbf(), task: Task::Regression { epsilon: 0.1 }, ..base() }),
        ("linear regression", &numbers, TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..base() }),
        ("one class", &numbers, TrainingParams { kernel: rbf(), task: Task::OneClass { nu: 0.2 }, ..base() }),
    ] {
        let model = fit(data, params);
        for order in [None, Some(vec![1, 0]), Some(vec![2, 0, 1])] {
            let text =
                libsvm_model_to_text(&model, LibsvmLayout { order: order.as_deref(), ..LibsvmLayout::default() })
                    .unwrap();
            assert_same(
                data,
                &model,
                &libsvm_model_from_text(&text, "m").unwrap(),
                &format!("{name} {order:?}\n{text}"),
            );
        }
    }
}

#[test]
fn threads_do_not_change_the_text_for_libsvm() {
    let data = iris(["3", "-2", "10"]);
    for kernel in [KernelParams::Rbf { gamma: Gamma::Value(0.5) }, KernelParams::Linear] {
        let model = fit(&data, TrainingParams { kernel, ..TrainingParams::default() });
        let alone = LibsvmLayout { order: Some(&[2, 0, 1]), rows: Some(data.matrix()), workers: None };
        let expected = libsvm_model_to_text(&model, alone).unwrap();
        for threads in [1, 3] {
            let workers = Workers::new(threads).unwrap();
            let found = libsvm_model_to_text(&model, LibsvmLayout { workers: Some(&workers), ..alone }).unwrap();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn a_table_of_kernel_values_goes_to_libsvms_file_and_back() {
    let points = iris(["3", "-2", "10"]);
    let rows: Vec<Vec<f64>> = (0..points.rows()).step_by(3).map(|row| points.matrix().row(row)).collect();
    let dot = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let values: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(move |b| dot(a, b))).collect();
    let labels = Labels::new((0..points.rows()).step_by(3).map(|row| points.labels().unwrap().get(row).clone()));
    let table = Dataset::new(Matrix::dense(50, 50, values).unwrap(), labels).unwrap().with_open_columns();
    let model = fit(&table, TrainingParams { kernel: KernelParams::Precomputed, ..TrainingParams::default() });
    for order in [None, Some(vec![2, 0, 1])] {
        let text =
            libsvm_model_to_text(&model, LibsvmLayout { order: order.as_deref(), ..LibsvmLayout::default() }).unwrap();
        assert_same(&table, &model, &libsvm_model_from_text(&text, "m").unwrap(), &text);
    }
    let text = libsvm_model_to_text(&model, LibsvmLayout::default()).unwrap();
    let first = text.split_once("SV\n").unwrap().1.lines().next().unwrap().split_once("0:").unwrap().1;
    for (to, said) in [
        ("0:0", "found \"0:0\", expected 0:i alone, the number of a training row, counted from 1"),
        ("0:1e9", "found \"1e9\", expected 0:i alone"),
        ("1:1", "found \"1:1\", expected 0:i alone"),
        ("0:1 1:2", "found none or several entries, expected 0:i alone"),
        ("", "found none or several entries, expected 0:i alone"),
    ] {
        let error = libsvm_model_from_text(&text.replacen(&format!("0:{first}"), to, 1), "m").unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    let twice = "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 1\nSV\n1 0:4 \n1 0:4 \n";
    let error = libsvm_model_from_text(twice, "m").unwrap_err();
    assert!(error.to_string().contains("found two vectors 0:4, expected each training row once"), "{error}");
}

#[test]
fn models_go_to_liblinears_file_and_back() {
    let (three, two, numbers) = (iris(["3", "-2", "10"]), iris(["-1", "1", "1"]), iris(["0.5", "2", "-1.25"]));
    let base = |multiclass: Multiclass| TrainingParams { multiclass: Some(multiclass), ..TrainingParams::default() };
    let rest = || base(Multiclass::OneVsRest);
    let alone = TrainingParams::default;
    for (name, data, params) in [
        ("squared", &three, TrainingParams { loss: Some(Loss::Squared), ..rest() }),
        ("logistic", &three, TrainingParams { loss: Some(Loss::Logistic), bias: Bias::Folded, ..rest() }),
        ("hinge", &two, TrainingParams { bias: Bias::None, ..rest() }),
        ("together", &three, base(Multiclass::CrammerSinger)),
        ("l1", &two, TrainingParams { norm: Norm::L1, ..rest() }),
        ("regression", &numbers, TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..alone() }),
        ("one class", &numbers, TrainingParams { task: Task::OneClass { nu: 0.2 }, ..alone() }),
    ] {
        let model = fit(data, params);
        let text = liblinear_model_to_text(&model, LiblinearLayout::default()).unwrap();
        assert_same(data, &model, &liblinear_model_from_text(&text, "m").unwrap(), &format!("{name}\n{text}"));
    }
}

#[test]
fn what_a_file_has_no_place_for_is_refused_with_the_way_out() {
    let (three, words) = (iris(["3", "-2", "10"]), iris(["a", "b", "c"]));
    let base = TrainingParams::default;
    let laplacian = KernelParams::Laplacian { gamma: Gamma::Value(0.3) };
    let rest = TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..base() };
    let refused = |found: Result<String, Error>, what: &str, help: &str| {
        let error = found.unwrap_err();
        assert!(error.to_string().contains(what) && error.help().contains(help), "{error}: {}", error.help());
    };
    let scaled = fit(&three, TrainingParams { scaling: ScalingKind::Standard, kernel: rbf(), ..base() });
    refused(libsvm_model_to_text(&scaled, LibsvmLayout::default()), "scales its columns", "beforehand");
    refused(
        libsvm_model_to_text(&fit(&words, base()), LibsvmLayout::default()),
        "whole numbers only",
        "such as 1 and 2",
    );
    refused(libsvm_model_to_text(&fit(&three, rest.clone()), LibsvmLayout::default()), "by pairs only", "ovo");
    refused(
        libsvm_model_to_text(&fit(&three, TrainingParams { kernel: laplacian, ..base() }), LibsvmLayout::default()),
        "no kernel",
        "rbf",
    );
    refused(liblinear_model_to_text(&fit(&three, base()), LiblinearLayout::default()), "pairs of classes", "ovr");
    refused(
        liblinear_model_to_text(&fit(&three, TrainingParams { kernel: rbf(), ..rest }), LiblinearLayout::default()),
        "no kernels",
        "LIBSVM",
    );
}

const LIBSVM: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n\
                      0.75 1:0.5 3:-1 \n-0.75 2:2 \n";
const LIBLINEAR: &str = "solver_type L2R_LR\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 1\nw\n0.5 \n-1.5 \n0 \n0.25 \n";

#[test]
fn values_are_those_of_the_definitions() {
    let data = Dataset::new(Matrix::dense(1, 3, vec![1.0, 1.0, 0.0]).unwrap(), Labels::new([Label::new("1")])).unwrap();
    let value = |model: &Model| model.predict(&data, &Workers::none()).unwrap().decision_values(0)[0];
    let rbf = |distance: f64| (-0.5 * distance).exp();
    // The first label is +1, which is our positive class.
    let expected = 0.75 * rbf(0.25 + 1.0 + 1.0) - 0.75 * rbf(1.0 + 1.0) - 0.25;
    assert!((value(&libsvm_model_from_text(LIBSVM, "m").unwrap()) - expected).abs() < 1e-15);
    // The first label is −1: ours has the other sign.
    assert!((value(&liblinear_model_from_text(LIBLINEAR, "m").unwrap()) - -(0.5 - 1.5 + 0.25)).abs() < 1e-15);
}

/// What LIBSVM 3.37 and LIBLINEAR 2.50 said of four rows, by models that they had written.
#[test]
fn decision_values_are_those_that_the_programs_gave_themselves() {
    let rows = [[-1.179, 0.0, 0.795], [3.535, 0.419, 0.922], [0.101, 2.203, 0.943], [-1.275, -1.731, 0.113]];
    let labels = Labels::new(["5", "-3", "2", "5"].map(Label::new));
    let data = Dataset::new(Matrix::dense(4, 3, rows.concat()).unwrap(), labels).unwrap();
    // By pairs of the labels 5, −3 and 2, in this order.
    let of_libsvm = [
        [0.9994807383091571, 0.43271562734624874, -0.9188589982474742],
        [-0.9998398620473199, 0.6131202949235272, 1.0000007908228221],
        [0.5816721083975237, -1.093854386476314, -1.1983432401744247],
        [0.9996116499761911, 1.0000817699345295, -0.27006411832774624],
    ];
    // By these labels.
    let of_liblinear = [
        [0.7031565614778739, -1.7513616773418916, -0.37280865688196024],
        [0.04260833579621659, 0.8478395760509285, -3.72835063280427],
        [-0.5687148543794256, -0.7223397997885297, 0.26459733723714896],
        [0.9121821302621507, -1.8488061918349827, -0.9321204839684998],
    ];
    let libsvm = libsvm_model_from_text(include_str!("models/libsvm_three_classes.model"), "m").unwrap();
    let liblinear = liblinear_model_from_text(include_str!("models/liblinear_three_classes.model"), "m").unwrap();
    for (model, theirs, ours) in [
        // Ours are 2 against −3, 5 against −3 and 5 against 2.
        (&libsvm, of_libsvm, (|[a, b, c]| [-c, a, b]) as fn([f64; 3]) -> [f64; 3]),
        (&liblinear, of_liblinear, |[a, b, c]| [b, c, a]),
    ] {
        let found = model.predict(&data, &Workers::none()).unwrap();
        for (row, theirs) in theirs.into_iter().enumerate() {
            let near = |(a, b): (f64, &f64)| (a - b).abs() <= 1e-10;
            assert!(ours(theirs).into_iter().zip(found.decision_values(row)).all(near), "row {row}");
            assert_eq!(model.label(found.codes()[row]), data.labels().unwrap().get(row));
        }
    }
}

#[test]
fn a_model_whose_labels_are_equal_as_numbers_loads_from_the_file_that_it_was_written_to() {
    let (two, three) = (iris(["-1", "1", "1"]), iris(["3", "-2", "10"]));
    // Those who know their classes themselves, as the Python package does, may tell these apart.
    let renamed = |model: Model, names: &[&str]| {
        let mut parts = model.parts().clone();
        parts.classes = names.iter().map(|name| Label::new(*name)).collect();
        Model::new(parts).unwrap()
    };
    let base = TrainingParams::default;
    let ovr = || TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..base() };
    let layout = LiblinearLayout::default;
    for (names, kernel) in [(["1", "1.0"], rbf()), (["+1", "1"], KernelParams::Linear)] {
        let model = renamed(fit(&two, TrainingParams { kernel, ..base() }), &names);
        let text = libsvm_model_to_text(&model, LibsvmLayout::default()).unwrap();
        assert!(text.contains("\nlabel 1 1\n"), "{text}");
        assert_same(&two, &model, &libsvm_model_from_text(&text, "m").unwrap(), "libsvm");
        if model.recipe().kernel.is_linear() {
            let text = liblinear_model_to_text(&model, layout()).unwrap();
            assert_same(&two, &model, &liblinear_model_from_text(&text, "m").unwrap(), "liblinear");
        }
    }
    let names = ["1", "1.0", "2"];
    let model = renamed(fit(&three, TrainingParams { kernel: rbf(), ..base() }), &names);
    let text = libsvm_model_to_text(&model, LibsvmLayout::default()).unwrap();
    assert_same(&three, &model, &libsvm_model_from_text(&text, "m").unwrap(), "three");
    let model = renamed(fit(&three, ovr()), &names);
    let text = liblinear_model_to_text(&model, layout()).unwrap();
    assert_same(&three, &model, &liblinear_model_from_text(&text, "m").unwrap(), "three, liblinear");
    // Labels that others have written as numbers with a point.
    let text = text.replacen("label 1 1 2", "label 1.0 +2 3e0", 1);
    let labels = liblinear_model_from_text(&text, "m").unwrap();
    assert_eq!(labels.classes().iter().map(Label::text).collect::<Vec<_>>(), ["1", "2", "3"]);
}
