use super::*;
use crate::control::Unattended;
use crate::data::{Label, Labels, embedded, generate};
use crate::kernel::{Gamma, KernelParams};
use crate::problem::Bias;
use crate::recipe::Multiclass;
use crate::solver::{Settings, SolverKind};
use crate::training::{Penalty, TrainingParams};

fn rbf(gamma: f64) -> TrainingParams {
    let settings = Settings { tolerance: Some(1e-9), ..Settings::default() };
    TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Value(gamma) }, settings, ..TrainingParams::default() }
}

fn fitted(params: &TrainingParams, data: &Dataset) -> (Training, Model) {
    let training = params.clone().check().unwrap();
    let model = training.fit(data, &Workers::none(), &mut Unattended).unwrap();
    (training, model)
}

fn calibrated(params: &TrainingParams, data: &Dataset, how: CalibrationParams) -> Model {
    let (training, model) = fitted(params, data);
    training.calibrate(&model, data, how, &Workers::none(), &mut Unattended).unwrap().continue_value().unwrap()
}

/// Decision values of one machine with each row left out, by formula and by training without it.
fn both_ways(params: &TrainingParams, data: &Dataset) -> Vec<[f64; 3]> {
    let (training, model) = fitted(params, data);
    let workers = Workers::none();
    let points = model.align(data).unwrap().points;
    let values = model.decision_values(&points, &workers);
    let targets = model.task().is_regression().then(|| data.numbers().unwrap());
    let codes: Vec<u32> = match &targets {
        Some(targets) => vec![0; targets.len()],
        None => model.codes(data).into_iter().map(|code| code.unwrap_or(0)).collect(),
    };
    let answers = RowAnswers {
        classes: model.classes().len(),
        codes: &codes,
        targets: targets.as_deref(),
        weights: None,
        of_class: None,
    };
    let seen = Seen { model: &model, data, points: &points, values: &values, answers, copies: None, workers: &workers };
    let formula = seen.by_formula(true, &mut Unattended).unwrap().continue_value().unwrap().unwrap();
    let left_out = |row: usize| {
        let kept: Vec<usize> = (0..data.rows()).filter(|&other| other != row).collect();
        let beginning = crate::Beginning::Part { model: &model, rows: &kept };
        let part = training.fit_from(&data.select_rows(&kept), beginning, &workers, &mut Unattended).unwrap();
        let own = part.align(&data.select_rows(&[row])).unwrap().points;
        part.decision_values(&own, &workers)[0]
    };
    (0..data.rows()).map(|row| [values[row], formula[row], left_out(row)]).collect()
}

#[test]
fn the_formula_is_exact_where_all_rows_stay_support_vectors() {
    // So small a C that every row lies within the margin, whoever is left out: the optimum is the solution of linear equations.
    let data = generate("blobs", 40, 3).unwrap();
    for bias in [Bias::Explicit, Bias::None] {
        let params = TrainingParams { loss: Some(Loss::Squared), penalty: Penalty::C(0.02), bias, ..rbf(0.3) };
        for (row, [seen, formula, truth]) in both_ways(&params, &data).into_iter().enumerate() {
            assert!((formula - truth).abs() < 1e-6, "{bias:?}, row {row}: {seen} {formula} {truth}");
            assert!((seen - truth).abs() > 1e-4, "leaving row {row} out should change something");
        }
    }
}

#[test]
fn rows_that_are_no_support_vectors_keep_their_value_and_others_come_near_the_truth() {
    let data = generate("blobs", 80, 1).unwrap();
    let params = TrainingParams { penalty: Penalty::C(1.0), ..rbf(3.0) };
    let rows = both_ways(&params, &data);
    let kept = rows.iter().filter(|[seen, formula, _]| seen == formula).count();
    assert!(kept > 10, "{kept}");
    let error = |k: usize| rows.iter().map(|row| (row[k] - row[2]).abs()).sum::<f64>() / rows.len() as f64;
    // The values of the model itself are the control: they are farther off.
    assert!(error(1) < 0.6 * error(0), "{} {}", error(1), error(0));
    for [seen, formula, truth] in rows.into_iter().filter(|[seen, formula, _]| seen == formula) {
        assert!((formula - truth).abs() < 1e-5, "{seen} {truth}");
    }
}

#[test]
fn probabilities_rise_with_the_decision_value_and_agree_with_the_prediction() {
    for (name, params) in [("moons", rbf(1.0)), ("overlap", rbf(0.5)), ("overlap", TrainingParams::default())] {
        let data = generate(name, 200, 5).or_else(|_| generate("blobs", 200, 5)).unwrap();
        for held in [None, Some(Held::Folds(5))] {
            let model = calibrated(&params, &data, CalibrationParams { held, platt: false });
            let predictions = model.predict(&data, &Workers::none()).unwrap();
            let p = model.probabilities(&predictions).unwrap();
            let mut pairs: Vec<(f64, f64)> =
                (0..data.rows()).map(|row| (predictions.decision_values(row)[0], p[2 * row + 1])).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(pairs.windows(2).all(|pair| pair[0].1 <= pair[1].1));
            assert!(pairs.iter().all(|&(f, p)| (f > 0.0) == (p > 0.5) || p == 0.5), "{name}");
        }
    }
}

#[test]
fn no_class_is_likelier_than_the_predicted_one_whatever_the_machines() {
    let iris = embedded("iris").unwrap();
    let with = |multiclass: Multiclass, solver: Option<SolverKind>| TrainingParams {
        multiclass: Some(multiclass),
        solver,
        ..TrainingParams::default()
    };
    for params in [
        TrainingParams { multiclass: Some(Multiclass::OneVsOne), ..rbf(0.5) },
        TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..rbf(0.5) },
        with(Multiclass::CrammerSinger, None),
        with(Multiclass::OneVsRest, Some(SolverKind::Perceptron)),
        with(Multiclass::OneVsOne, Some(SolverKind::Lda)),
    ] {
        let model = calibrated(&params, &iris, CalibrationParams::default());
        assert!(model.has_probabilities());
        let predictions = model.predict(&iris, &Workers::none()).unwrap();
        for (row, line) in model.probabilities(&predictions).unwrap().chunks(3).enumerate() {
            assert!((line.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line:?}");
            let own = line[predictions.codes()[row] as usize];
            assert!(line.iter().all(|&p| p <= own + 1e-15 && p >= 0.0), "{line:?}");
        }
    }
}

#[test]
fn calibrated_probabilities_are_those_that_the_data_was_drawn_with() {
    // One column, and p known: P(+ | x) = σ(2x).
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let x: Vec<f64> = (0..1000).map(|_| 4.0 * uniform() - 2.0).collect();
    let labels = x.iter().map(|&x| Label::new(if uniform() < sigmoid(2.0 * x) { "+1" } else { "-1" }));
    let labels = Labels::new(labels.collect::<Vec<_>>());
    let data = Dataset::new(crate::data::Matrix::dense(1000, 1, x.clone()).unwrap(), labels).unwrap();
    let model = calibrated(&rbf(0.2), &data, CalibrationParams::default());
    let p = model.probabilities(&model.predict(&data, &Workers::none()).unwrap()).unwrap();
    let positive = model.classes().iter().position(|label| label.text() == "+1").unwrap();
    let error = |of: &dyn Fn(usize) -> f64| (0..1000).map(|i| (of(i) - sigmoid(2.0 * x[i])).abs()).sum::<f64>() / 1e3;
    assert!(error(&|i| p[2 * i + positive]) < 0.06);
    // The control: hard decisions are far off.
    assert!(error(&|i| f64::from(u8::from(p[2 * i + positive] > 0.5))) > 0.15);
}

#[test]
fn a_weight_of_two_is_a_copy_for_the_calibration_too() {
    let data = generate("blobs", 60, 2).unwrap();
    let weights: Vec<f64> = (0..60).map(|row| [1.0, 2.0, 0.0][row % 3]).collect();
    let copies: Vec<usize> = (0..60).flat_map(|row| vec![row; weights[row] as usize]).collect();
    let weighted = data.clone().with_weights(weights).unwrap();
    let copied = data.select_rows(&copies);
    // By formula a copy that is left out leaves its twin: equal only where no row is left out, so on values that all rows have.
    let rows = |data: &Dataset| -> Vec<link::Row> {
        let one = |row: usize| link::Row {
            value: data.matrix().row(row)[0],
            positive: data.labels().unwrap().codes()[row] == 1,
            weight: data.weights().map_or(1.0, |weights| weights[row]),
        };
        (0..data.rows()).map(one).collect()
    };
    for fit in [link::platt, link::slopes] {
        let numbers = |calibration: Calibration| match calibration {
            Calibration::Slopes(slopes) => slopes.to_vec(),
            Calibration::Sigmoid { slope, offset } => vec![slope, offset],
            _ => Vec::new(),
        };
        let (left, right) = (numbers(fit(&rows(&weighted))), numbers(fit(&rows(&copied))));
        assert!(left.iter().zip(&right).all(|(a, b)| (a - b).abs() < 1e-6), "{left:?} {right:?}");
    }
}

#[test]
fn a_regression_knows_its_noise_and_one_class_its_marks() {
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let x: Vec<f64> = (0..300).map(|_| 6.0 * uniform()).collect();
    // Laplace noise of scale 0.2
    let noise: Vec<f64> = (0..300)
        .map(|_| {
            let u = uniform() - 0.5;
            -0.2 * f64::copysign((1.0 - 2.0 * u.abs()).ln(), u)
        })
        .collect();
    let targets: Vec<f64> = x.iter().zip(&noise).map(|(x, z)| x.sin() + z).collect();
    let data = Dataset::new(crate::data::Matrix::dense(300, 1, x).unwrap(), targets).unwrap();
    for held in [None, Some(Held::Folds(5))] {
        let params = TrainingParams { task: Task::Regression { epsilon: 0.05 }, ..rbf(1.0) };
        let model = calibrated(&params, &data, CalibrationParams { held, platt: false });
        let Some(Calibration::Noise { scale }) = model.machines()[0].calibration else { panic!("no noise") };
        assert!((0.16..0.26).contains(&scale), "{scale}");
        assert!(!model.has_probabilities());
    }
    let blobs = generate("blobs", 200, 1).unwrap();
    for task in [Task::OneClass { nu: 0.3 }, Task::Svdd { nu: 0.3 }] {
        let model = calibrated(&TrainingParams { task, ..rbf(0.3) }, &blobs, CalibrationParams::default());
        let predictions = model.predict(&blobs, &Workers::none()).unwrap();
        let p = model.probabilities(&predictions).unwrap();
        let right = |(line, &code): (&[f64], &u32)| if code == 1 { line[1] >= 0.5 } else { line[1] <= 0.5 };
        assert!(p.chunks(2).zip(predictions.codes()).all(right));
        assert!(p.chunks(2).any(|line| line[1] == 0.001) && p.chunks(2).any(|line| line[1] == 0.999));
    }
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let iris = embedded("iris").unwrap();
    let (training, model) = fitted(&TrainingParams::default(), &iris);
    let calibrate = |data: &Dataset, held: Held, training: &Training, model: &Model| {
        let how = CalibrationParams { held: Some(held), platt: false };
        training.calibrate(model, data, how, &Workers::none(), &mut Unattended).unwrap_err().to_string()
    };
    let other = iris.select_rows(&(0..149).collect::<Vec<_>>());
    assert!(calibrate(&other, Held::Folds(5), &training, &model).contains("trained on other data"));
    assert_eq!(
        calibrate(&iris, Held::Folds(1), &training, &model),
        "folds is 1, but it must be from 2 to the number of rows"
    );
    let (training, model) =
        fitted(&TrainingParams { solver: Some(SolverKind::Perceptron), ..TrainingParams::default() }, &iris);
    let said = calibrate(&iris, Held::LeaveOneOut, &training, &model);
    assert_eq!(said, "rows of a model by perceptron cannot be left out by formula");
    let one_class = TrainingParams { task: Task::OneClass { nu: 0.01 }, ..rbf(0.1) };
    let (training, model) = fitted(&one_class, &iris.select_rows(&(0..50).collect::<Vec<_>>()));
    let few = iris.select_rows(&(0..50).collect::<Vec<_>>());
    assert!(calibrate(&few, Held::LeaveOneOut, &training, &model).contains("too few for marks"));
}

#[test]
fn a_broken_control_breaks_the_calibration_off() {
    let iris = embedded("iris").unwrap();
    let (training, model) = fitted(&rbf(0.5), &iris);
    for held in [Held::LeaveOneOut, Held::Folds(3)] {
        let mut breaks = |_: Progress| ControlFlow::Break(Stop::Interrupted);
        let how = CalibrationParams { held: Some(held), platt: false };
        let found = training.calibrate(&model, &iris, how, &Workers::none(), &mut breaks).unwrap();
        assert!(matches!(found, ControlFlow::Break(Stop::Interrupted)));
    }
}

#[test]
fn a_table_of_kernel_values_is_calibrated_as_the_kernel_is() {
    let data = generate("blobs", 60, 4).unwrap();
    let row = |i: usize| data.matrix().row(i);
    let value = |i: usize, j: usize| {
        let square: f64 = row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
        (-0.5 * square).exp()
    };
    let table: Vec<f64> = (0..60).flat_map(|i| (0..60).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
    let table =
        Dataset::new(crate::data::Matrix::dense(60, 60, table).unwrap(), data.labels().unwrap().clone()).unwrap();
    let precomputed = TrainingParams { kernel: KernelParams::Precomputed, ..rbf(0.5) };
    for held in [Held::LeaveOneOut, Held::Folds(4)] {
        let how = CalibrationParams { held: Some(held), platt: false };
        let slopes = |model: Model| match model.machines()[0].calibration {
            Some(Calibration::Slopes(slopes)) => slopes,
            _ => panic!("no slopes"),
        };
        let (own, of_table) =
            (slopes(calibrated(&rbf(0.5), &data, how)), slopes(calibrated(&precomputed, &table, how)));
        assert!(own.iter().zip(of_table).all(|(a, b)| (a - b).abs() < 1e-4), "{held:?}: {own:?} {of_table:?}");
    }
}

#[test]
fn a_row_of_weight_k_is_calibrated_as_k_copies_are() {
    for seed in 0..5 {
        let data = generate("moons", 40, seed).unwrap();
        let weights: Vec<usize> = (0..40).map(|row| (row * 7 + seed as usize) % 4).collect();
        let copies: Vec<usize> = (0..40).rev().flat_map(|row| std::iter::repeat_n(row, weights[row])).collect();
        let copied = data.select_rows(&copies);
        let weighed = data.clone().with_weights(weights.iter().map(|&weight| weight as f64).collect()).unwrap();
        let mut params = rbf(0.5);
        params.settings.tolerance = Some(1e-11);
        let how = CalibrationParams { held: Some(Held::LeaveOneOut), platt: false };
        let probabilities = |model: Model| {
            let predictions = model.predict(&data, &Workers::none()).unwrap();
            model.probabilities(&predictions).unwrap()
        };
        let (left, right) =
            (probabilities(calibrated(&params, &weighed, how)), probabilities(calibrated(&params, &copied, how)));
        let farthest = left.iter().zip(&right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(farthest < 1e-6, "seed {seed}: {farthest}");
    }
}
