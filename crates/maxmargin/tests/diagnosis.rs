//! Every finding on data that has its cause, and none on data that has not.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix, embedded, generate};
use maxmargin::diagnosis::{Finding, Severity, of_data, of_kernel, of_model};
use maxmargin::kernel::{Gamma, KernelParams, Points};
use maxmargin::problem::Task;
use maxmargin::solver::Settings;
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Model, Unattended, Workers};

/// Rows with labels by turns a and b, of so many columns.
fn table(columns: usize, values: Vec<f64>) -> Dataset {
    let rows = values.len() / columns;
    let labels = Labels::new((0..rows).map(|row| Label::new(["a", "b"][row % 2])));
    Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap()
}

fn with_labels(labels: impl IntoIterator<Item = String>) -> Dataset {
    let labels = Labels::new(labels.into_iter().map(Label::new));
    let values = (0..labels.len()).map(|row| (row as f64 * 0.7).sin()).collect::<Vec<_>>();
    Dataset::new(Matrix::dense(labels.len(), 1, values).unwrap(), labels).unwrap()
}

/// [`look`] without what is said of small classes, which these tables all have.
fn look_at_columns(data: &Dataset) -> Vec<Finding> {
    let mut found = look(data);
    found.retain(|one| !matches!(one, Finding::RareClasses { .. }));
    found
}

/// The findings of dense data, which those of sparse data must equal but for the storage.
fn look(data: &Dataset) -> Vec<Finding> {
    let found = of_data(data, true, &Workers::none());
    let sparse = data.clone().with_matrix(data.matrix().to_sparse()).unwrap();
    let other = of_data(&sparse, true, &Workers::none());
    assert!(found.iter().filter(|one| !matches!(one, Finding::MostlyZeros { .. })).eq(&other), "{found:?}\n{other:?}");
    found
}

fn kernel(data: &Dataset, params: &KernelParams, cost: Option<f64>) -> Vec<Finding> {
    of_kernel(&params.check(data.matrix()).unwrap(), &Points::new(data.matrix().clone(), false), cost)
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn of_fit(model: &Model, data: &Dataset) -> Vec<Finding> {
    of_model(model, data, true, &Workers::none()).unwrap()
}

fn warnings(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.severity() == Severity::Warning).collect()
}

#[test]
fn clean_data_and_a_good_fit_have_no_warning() {
    for data in
        [embedded("iris").unwrap(), generate::blobs(200, 0.7, 1).unwrap(), generate::moons(200, 0.1, 1).unwrap()]
    {
        let rbf = KernelParams::Rbf { gamma: Gamma::Scale };
        let model = fit(&data, TrainingParams { kernel: rbf.clone(), ..TrainingParams::default() });
        let all = [look(&data), kernel(&data, &rbf, Some(1.0)), of_fit(&model, &data)].concat();
        assert!(warnings(&all).is_empty(), "{all:?}");
    }
}

#[test]
fn columns_are_compared_by_their_ranges() {
    let data = table(3, vec![0.0, 1.0, 3.0, 1.0, 900.0, 3.0, 0.5, 20.0, 3.0, 0.1, 70.0, 3.0]);
    assert_eq!(
        look_at_columns(&data),
        [
            Finding::UnscaledColumns { wide: 1, narrow: 0, ratio: 899.0 },
            Finding::ConstantColumns { count: 1, columns: 3, first: 2 }
        ]
    );
}

#[test]
fn columns_that_are_all_constant_are_a_warning() {
    let found = look(&table(1, vec![5.0; 4]));
    assert_eq!(found[0], Finding::ConstantColumns { count: 1, columns: 1, first: 0 });
    assert_eq!(found[0].severity(), Severity::Warning);
}

#[test]
fn a_copy_of_a_column_is_found_and_a_near_copy_is_not() {
    let near = f64::from_bits(2.5f64.to_bits() + 1);
    let data = table(4, vec![1.0, 7.0, 1.0, 1.0, 0.0, 8.0, 0.0, 0.0, 2.5, 9.0, 2.5, near]);
    let copies: Vec<_> = look(&data).into_iter().filter(|one| matches!(one, Finding::CopiedColumns { .. })).collect();
    assert_eq!(copies, [Finding::CopiedColumns { count: 1, first: [0, 2] }]);
}

#[test]
fn a_column_of_one_row_and_a_table_of_zeros_are_noted() {
    let mut values = vec![0.0; 200 * 60];
    (0..200).for_each(|row| values[row * 60] = (row as f64).cos());
    values[7 * 60 + 3] = 1.0;
    let found = look(&table(60, values));
    assert!(found.contains(&Finding::LonelyColumns { count: 1, columns: 60, first: 3 }), "{found:?}");
    assert!(found.iter().any(|one| matches!(one, Finding::MostlyZeros { share } if *share > 0.98)), "{found:?}");
    assert!(found.contains(&Finding::ConstantColumns { count: 58, columns: 60, first: 1 }), "{found:?}");
}

#[test]
fn huge_values_and_tiny_ranges_are_told_with_their_place() {
    let found = look_at_columns(&table(1, vec![1.0, -9e9, 2.0, 4e8]));
    assert_eq!(found, [Finding::HugeValues { count: 2, row: 1, column: 0, value: -9e9 }]);
    let found = look_at_columns(&table(1, vec![1e6, 1e6 + 1e-3, 1e6, 1e6]));
    assert!(matches!(found[0], Finding::TinyRanges { count: 1, column: 0, size, .. } if size > 1e6), "{found:?}");
    let found = look_at_columns(&table(1, vec![f64::MAX, -f64::MAX, 0.0, 1.0]));
    assert!(matches!(found[..], [Finding::HugeValues { count: 2, .. }]), "{found:?}");
}

#[test]
fn fewer_rows_than_columns_are_noted() {
    let found = look(&table(3, vec![1.0, 2.0, 3.0, 3.0, 1.0, 2.0]));
    assert_eq!(found, [Finding::FewRows { rows: 2, columns: 3 }, Finding::SingleRows { count: 2, class: 0 }]);
}

#[test]
fn rows_that_repeat_others_are_told_by_their_labels() {
    // Labels by turns: rows 1 and 3 are the same with one label, rows 2 and 5 with two; -0 is 0.
    let data = table(2, vec![1.0, 0.0, 2.0, 5.0, 1.0, -0.0, 3.0, 1.0, 2.0, 5.0, 4.0, 4.0]);
    let found = look(&data);
    assert_eq!(found[0], Finding::Contradictions { count: 1, first: [1, 4] });
    assert_eq!(found[1], Finding::RepeatedRows { count: 1, rows: 6, first: [0, 2] });
}

#[test]
fn classes_are_counted() {
    let labels = |counts: &[(&str, usize)]| {
        with_labels(counts.iter().flat_map(|&(name, count)| vec![name.to_string(); count]).collect::<Vec<_>>())
    };
    assert_eq!(look(&labels(&[("a", 30)])), [Finding::SingleClass]);
    assert_eq!(look(&labels(&[("a", 30), ("b", 20)])), []);
    assert_eq!(
        look(&labels(&[("a", 30), ("b", 3), ("c", 1)])),
        [
            Finding::SingleRows { count: 1, class: 2 },
            Finding::RareClasses { count: 1, class: 1, rows: 3 },
            Finding::Imbalance { largest: 0, smallest: 2, ratio: 30.0 }
        ]
    );
}

#[test]
fn many_different_numbers_are_no_classes() {
    let found = look(&with_labels((0..50).map(|row| (row * row).to_string())));
    assert_eq!(found, [Finding::NumericLabels { classes: 50, rows: 50 }]);
    let found = look(&with_labels((0..8).map(|row| format!("{row}.25"))));
    assert_eq!(found, [Finding::NumericLabels { classes: 8, rows: 8 }]);
    assert_eq!(look(&with_labels((0..80).map(|row| (row % 10).to_string()))), [], "digits are classes");
}

#[test]
fn a_gamma_far_from_the_distances_is_told_with_a_better_one() {
    let data = generate::blobs(200, 0.7, 1).unwrap();
    let found = |gamma: f64| kernel(&data, &KernelParams::Rbf { gamma: Gamma::Value(gamma) }, None);
    assert_eq!(found(0.5), []);
    let [Finding::NarrowKernel { exponent, gamma }] = found(100.0)[..] else { panic!("{:?}", found(100.0)) };
    assert!(exponent > 30.0);
    assert_eq!(found(gamma), []);
    let [Finding::WideKernel { exponent, gamma }] = found(1e-6)[..] else { panic!("{:?}", found(1e-6)) };
    assert!(exponent < 1e-3);
    assert_eq!(found(gamma), []);
    let alike = table(1, vec![2.0; 6]);
    let same = kernel(&alike, &KernelParams::Rbf { gamma: Gamma::Value(1.0) }, None);
    assert!(matches!(same[..], [Finding::WideKernel { gamma: f64::INFINITY, .. }]), "{same:?}");
}

#[test]
fn kernel_values_that_are_large_or_of_no_kernel_are_told() {
    let data = table(1, vec![1.0, 200.0, 3.0, -400.0]);
    let polynomial = |degree| KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 0.0, degree };
    let found = kernel(&data, &polynomial(4), None);
    assert!(matches!(found[..], [Finding::LargeKernel { largest }] if largest > 6e20), "{found:?}");
    assert_eq!(kernel(&data, &polynomial(100), None), [Finding::KernelOverflow { row: 1 }]);
    let sigmoid = KernelParams::Sigmoid { gamma: Gamma::Value(1.0), coef0: -1.0 };
    let found = kernel(&table(1, vec![0.1, 0.5, -0.4, 1.0]), &sigmoid, None);
    assert!(
        matches!(found[..], [Finding::NotPositiveSemidefinite { rows: 4, smallest }] if smallest < 0.0),
        "{found:?}"
    );
}

#[test]
fn a_penalty_is_judged_beside_the_kernel() {
    let data = generate::blobs(100, 0.7, 1).unwrap();
    let rbf = KernelParams::Rbf { gamma: Gamma::Scale };
    assert_eq!(kernel(&data, &rbf, Some(1e-3)), [Finding::SmallPenalty { c: 1e-3, usual: 1.0 }]);
    assert_eq!(kernel(&data, &rbf, Some(1e9)), [Finding::LargePenalty { c: 1e9, usual: 1.0 }]);
    assert_eq!(kernel(&data, &rbf, Some(f64::INFINITY)), []);
}

#[test]
fn a_fit_is_judged_by_its_alphas() {
    let data = generate::blobs(100, 0.7, 1).unwrap();
    let rbf = |gamma: f64| KernelParams::Rbf { gamma: Gamma::Value(gamma) };
    let found = |kernel, c: f64| {
        let model = fit(&data, TrainingParams { kernel, penalty: Penalty::C(c), ..TrainingParams::default() });
        of_fit(&model, &data)
    };
    assert_eq!(found(rbf(0.5), 1e-4), [Finding::AllAtBound { bounded: 100, rows: 100, c: 1e-4 }]);
    let some = found(rbf(1e4), 10.0);
    assert_eq!(some, [Finding::ManySupportVectors { support: 100, rows: 100 }]);
    let some = found(rbf(0.5), 1e7);
    let none = |one: &Finding| matches!(one, Finding::NoneAtBound { c: 1e7, largest } if *largest < 10.0);
    assert!(some.iter().any(none), "{some:?}");
}

#[test]
fn a_fit_that_did_not_end_or_knows_other_data_says_so() {
    let data = generate::blobs(100, 0.7, 1).unwrap();
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
    let settings = Settings { max_iterations: Some(1), ..Settings::default() };
    let model = fit(&data, TrainingParams { kernel, settings, ..TrainingParams::default() });
    let found = of_fit(&model, &generate::blobs(100, 0.7, 2).unwrap());
    assert_eq!(found[0], Finding::OtherData);
    assert_eq!(found[1], Finding::NotConverged { stop: "iteration-limit", iterations: model.iterations() });
    assert!(matches!(found[2], Finding::LooseCertificate { .. }), "{found:?}");
}

#[test]
fn a_model_that_is_no_better_than_a_guess_is_told() {
    // Labels by turns along a line: no line tells them apart, and there are two of a for one of b.
    let labels = (0..60).map(|row| if row % 3 == 0 { "b" } else { "a" }.to_string());
    let data = with_labels(labels);
    let model = fit(&data, TrainingParams { penalty: Penalty::C(0.01), ..TrainingParams::default() });
    let found = of_fit(&model, &data);
    assert!(found.contains(&Finding::NoBetterThanMajority { errors: 20, of_majority: 20, rows: 60 }), "{found:?}");
    let numbers = with_labels((0..40).map(|row| (f64::from(row % 7) * 10.0).to_string()));
    let task = Task::Regression { epsilon: 100.0 };
    let model = fit(&numbers, TrainingParams { task, ..TrainingParams::default() });
    let found = of_fit(&model, &numbers);
    assert!(matches!(found[..], [Finding::NoBetterThanMean { r_squared }] if r_squared <= 0.0), "{found:?}");
    let strange = data.clone().with_answers(Labels::new((0..60).map(|row| Label::new(["a", "x"][row % 2])))).unwrap();
    let model = fit(&data, TrainingParams::default());
    let found = of_fit(&model, &strange);
    assert!(found.contains(&Finding::UnknownLabels { count: 30, row: 1 }), "{found:?}");
}

/// Two columns of sizes that differ by 10⁴, and a large C: what makes steps many.
#[test]
fn a_slow_fit_is_told_with_its_free_vectors() {
    let blobs = generate::blobs(100, 1.5, 1).unwrap();
    let values = (0..100)
        .flat_map(|row| {
            let x = blobs.matrix().row(row);
            [1e3 * x[0], 0.1 * x[1]]
        })
        .collect::<Vec<_>>();
    let data = blobs.clone().with_matrix(Matrix::dense(100, 2, values).unwrap()).unwrap();
    let settings = Settings { max_iterations: Some(200_000), ..Settings::default() };
    let solver = Some(maxmargin::solver::SolverKind::Smo);
    let model = fit(&data, TrainingParams { penalty: Penalty::C(1e3), settings, solver, ..TrainingParams::default() });
    let found = of_fit(&model, &data);
    assert!(found.iter().any(|one| matches!(one, Finding::ManyIterations { rows: 100, .. })), "{found:?}");
}
