//! Rows whose label was changed are found again, because no model can follow them.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::Task;
use maxmargin::review::Suspects;
use maxmargin::training::TrainingParams;
use maxmargin::{Model, Unattended, Workers};

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn suspects(model: &Model, data: &Dataset) -> Suspects {
    model.suspects(data, &Workers::none()).unwrap()
}

/// The data with the label of each 20th row changed to the next class.
fn flipped(data: &Dataset) -> (Dataset, Vec<usize>) {
    let labels = data.labels().unwrap();
    let classes = labels.classes().len();
    let rows: Vec<usize> = (0..data.rows()).filter(|row| row % 20 == 7).collect();
    let of_row = |row: usize| {
        let code = labels.codes()[row] as usize;
        labels.classes()[if row % 20 == 7 { (code + 1) % classes } else { code }].clone()
    };
    let changed = Labels::new((0..data.rows()).map(of_row));
    (data.clone().with_answers(changed).unwrap(), rows)
}

/// How many of the changed rows are among the first suspects, as many as were changed.
fn found_again(model: &Model, data: &Dataset, changed: &[usize]) -> usize {
    let found = suspects(model, data);
    assert!(found.same_data && found.unknown == 0 && found.rows == data.rows());
    found.suspects.iter().take(changed.len()).filter(|suspect| changed.contains(&suspect.row)).count()
}

#[test]
fn rows_with_changed_labels_are_on_top() {
    let rbf = || KernelParams::Rbf { gamma: Gamma::Scale };
    let params = |kernel| TrainingParams { kernel, ..TrainingParams::default() };
    let (blobs, changed) = flipped(&generate::blobs(400, 0.7, 3).unwrap());
    assert_eq!(changed.len(), 20);
    let counts = [
        found_again(&fit(&blobs, params(KernelParams::Linear)), &blobs, &changed),
        found_again(&fit(&blobs, params(rbf())), &blobs, &changed),
    ];
    assert_eq!(counts, [20, 20]);
    let (moons, changed) = flipped(&generate::moons(400, 0.1, 3).unwrap());
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(2.0) };
    assert_eq!(found_again(&fit(&moons, params(kernel)), &moons, &changed), 20);
    let (iris, changed) = flipped(&embedded("iris").unwrap());
    assert_eq!(changed.len(), 8);
    let counts = [Multiclass::OneVsOne, Multiclass::OneVsRest, Multiclass::CrammerSinger].map(|multiclass| {
        let model = fit(&iris, TrainingParams { multiclass: Some(multiclass), ..TrainingParams::default() });
        found_again(&model, &iris, &changed)
    });
    // One line alone cannot tell versicolor from the rest, so its own rows are suspect, too.
    assert_eq!(counts, [8, 6, 8]);
}

#[test]
fn a_suspect_far_inside_is_at_its_bound() {
    let (data, _) = flipped(&generate::blobs(200, 0.7, 1).unwrap());
    let found = suspects(&fit(&data, TrainingParams::default()), &data);
    for suspect in &found.suspects {
        assert_eq!(suspect.share_of_bound, Some(1.0), "row {}", suspect.row);
    }
    assert!(found.suspects.is_sorted_by(|a, b| a.slack >= b.slack));
}

#[test]
fn a_weight_is_part_of_the_bound() {
    let (data, _) = flipped(&generate::blobs(100, 0.7, 1).unwrap());
    let weights = (0..100).map(|row| f64::from(row % 3) + 0.5).collect();
    let data = data.with_weights(weights).unwrap();
    let found = suspects(&fit(&data, TrainingParams::default()), &data);
    assert!(found.suspects.iter().all(|one| one.share_of_bound == Some(1.0)));
}

#[test]
fn other_data_has_suspects_but_no_alpha() {
    let model = fit(&generate::blobs(200, 0.7, 1).unwrap(), TrainingParams::default());
    let found = suspects(&model, &generate::blobs(200, 0.7, 2).unwrap());
    assert!(!found.same_data && !found.suspects.is_empty());
    assert!(found.suspects.iter().all(|suspect| suspect.share_of_bound.is_none()));
}

/// Sixteen rows on the line t = 2x, and one far from it.
#[test]
fn of_a_regression_the_row_with_the_largest_residual_comes_first() {
    let target = |row: usize| if row == 11 { 60.0 } else { 2.0 * row as f64 };
    let matrix = Matrix::dense(17, 1, (0..17).map(f64::from).collect::<Vec<f64>>()).unwrap();
    let data = Dataset::new(matrix, (0..17).map(target).collect::<Vec<f64>>()).unwrap();
    for task in [Task::Regression { epsilon: 0.5 }, Task::NuRegression { nu: 0.3 }] {
        let model = fit(&data, TrainingParams { task, ..TrainingParams::default() });
        let found = suspects(&model, &data);
        let worst = found.suspects[0];
        assert_eq!((worst.row, worst.predicted), (11, None), "{}", task.name());
        assert!((worst.slack - 37.5).abs() < 1.0 && (worst.value - 22.0).abs() < 1.0, "{worst:?}");
        assert_eq!(worst.share_of_bound, Some(1.0));
    }
}

#[test]
fn of_one_class_the_outliers_come_first() {
    let mut values = Vec::new();
    for step in 0..40 {
        let angle = f64::from(step) * 0.7;
        values.extend([angle.cos() * 0.5, angle.sin() * 0.5]);
    }
    values.extend([9.0, 9.0]);
    let data = Dataset::unlabelled(Matrix::dense(41, 2, values).unwrap());
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
    for task in [Task::OneClass { nu: 0.1 }, Task::Svdd { nu: 0.1 }] {
        let model = fit(&data, TrainingParams { task, kernel: kernel.clone(), ..TrainingParams::default() });
        let found = suspects(&model, &data);
        assert_eq!((found.suspects[0].row, found.suspects[0].predicted), (40, Some(0)), "{}", task.name());
        assert!(found.suspects.len() <= 5, "{}: {}", task.name(), found.suspects.len());
    }
}

#[test]
fn labels_that_the_model_does_not_know_are_counted_or_refused() {
    let data = embedded("e2").unwrap();
    let model = fit(&data, TrainingParams::default());
    let label = |row: usize| Label::new(if row < 3 { "other" } else { data.labels().unwrap().get(row).text() });
    let mixed = data.clone().with_answers(Labels::new((0..18).map(label))).unwrap();
    let found = suspects(&model, &mixed);
    assert_eq!((found.rows, found.unknown), (15, 3));
    let strange = data.with_answers(Labels::new((0..18).map(|row| Label::new(format!("l{}", row % 2))))).unwrap();
    let error = model.suspects(&strange, &Workers::none()).unwrap_err();
    assert_eq!(error.to_string(), "the model knows none of the data's labels");
}
