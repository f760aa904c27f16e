//! Data at the edge: every solver answers with an error that says what to do, or with a finite model, and comes to an end.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::ops::ControlFlow;

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::kernel::{Custom, Gamma, KernelParams};
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::provenance::Note;
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Error, Progress, Stop, Workers};

/// So many steps are enough to meet every number that such data makes.
const CAP: u64 = 3000;

fn data(points: &[(&[f64], &str)]) -> Dataset {
    let values: Vec<f64> = points.iter().flat_map(|(x, _)| x.to_vec()).collect();
    let labels = Labels::new(points.iter().map(|&(_, label)| Label::new(label)));
    Dataset::new(Matrix::dense(points.len(), points[0].0.len(), values).unwrap(), labels).unwrap()
}

/// Nothing special: 24 points of two classes that overlap a little.
fn plain() -> Dataset {
    let values: Vec<f64> = (0..24)
        .flat_map(|i| {
            let (i, side) = (f64::from(i), if i % 2 == 0 { -1.0 } else { 1.0 });
            [side + (i * 1.7).sin(), (i * 2.3).cos()]
        })
        .collect();
    let labels = Labels::new((0..24).map(|i| Label::new(["-1", "+1"][i % 2])));
    Dataset::new(Matrix::dense(24, 2, values).unwrap(), labels).unwrap()
}

/// The columns of a data set multiplied by these factors.
fn scaled(data: &Dataset, factors: &[f64]) -> Dataset {
    let values: Vec<f64> = (0..data.rows())
        .flat_map(|row| {
            data.matrix().row(row).into_iter().zip(factors).map(|(x, factor)| x * factor).collect::<Vec<_>>()
        })
        .collect();
    data.clone().with_matrix(Matrix::dense(data.rows(), data.columns(), values).unwrap()).unwrap()
}

fn rbf(gamma: f64) -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Value(gamma) }
}

/// Trains by every solver, loss and bias with a cap on the steps. Returns how many models came out.
fn survive(name: &str, data: &Dataset, kernel: &KernelParams, penalty: Penalty) -> usize {
    let mut models = 0;
    for kind in SolverKind::ALL {
        for loss in [None, Some(Loss::Hinge), Some(Loss::Squared)] {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                let settings = Settings { tolerance: Some(1e-6), max_iterations: Some(CAP), ..Settings::default() };
                let params = TrainingParams {
                    kernel: kernel.clone(),
                    penalty,
                    loss,
                    bias,
                    solver: Some(kind),
                    norm: if kind == SolverKind::L1Newton { Norm::L1 } else { Norm::L2 },
                    settings,
                    ..TrainingParams::default()
                };
                models += usize::from(survives(&format!("{name}: {kind:?}, {loss:?}, {bias:?}"), data, params));
            }
        }
    }
    models
}

/// Whether a model came out. An error must have a way out; a model must be finite and its certificate true.
fn survives(name: &str, data: &Dataset, params: TrainingParams) -> bool {
    let training = match params.check() {
        Ok(training) => training,
        Err(error) => {
            assert!(!error.help().is_empty(), "{name}");
            return false;
        }
    };
    let mut polls = 0u64;
    let mut control = |_: Progress| {
        polls += 1;
        if polls > 1_000_000 { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    };
    let model = match training.fit(data, &Workers::none(), &mut control) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.help().is_empty() && !error.to_string().contains("parts do not fit"), "{name}: {error}");
            return false;
        }
    };
    assert_ne!(model.stop(), Stop::TimeLimit, "{name}: a cap of {CAP} steps was not kept");
    let predictions = model.predict(data, &Workers::none()).unwrap();
    for row in 0..data.rows() {
        let value = predictions.decision_values(row)[0];
        assert!(value.is_finite(), "{name}: decision value {value} of row {row}");
    }
    if let Some(found) = model.machines()[0].evidence.certificate() {
        let numbers = [found.primal, found.dual, found.gap, found.violation, found.infeasibility, found.slack_sum];
        assert!(numbers.iter().all(|number| !number.is_nan()), "{name}: {found:?}");
        assert!(found.gap >= 0.0 && found.dual.is_finite(), "{name}: {found:?}");
        let verification = model.verify(data, &Workers::none()).unwrap();
        assert!(verification.holds(), "{name}: {:?}", verification.disagreements);
    }
    true
}

/// Each kernel that such data is likely to meet.
fn kernels() -> [KernelParams; 3] {
    [KernelParams::Linear, rbf(0.5), KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 }]
}

#[test]
fn rows_that_repeat_with_both_labels() {
    let all: Vec<(&[f64], &str)> =
        vec![(&[1.0, 2.0], "a"), (&[1.0, 2.0], "b"), (&[1.0, 2.0], "a"), (&[0.0, 1.0], "b"), (&[0.0, 1.0], "a")];
    for kernel in kernels() {
        assert!(survive("repeated", &data(&all), &kernel, Penalty::C(1.0)) > 0);
    }
    // Only one point, with both labels: no direction at all.
    for kernel in kernels() {
        assert!(survive("one point", &data(&all[..3]), &kernel, Penalty::C(1.0)) > 0);
    }
    let hard = TrainingParams { penalty: Penalty::Hard, ..TrainingParams::default() };
    let error = hard.check().unwrap().fit(&data(&all), &Workers::none(), &mut maxmargin::Unattended).unwrap_err();
    assert!(matches!(error, Error::NotSeparable { .. }), "{error}");
}

#[test]
fn one_row_a_class() {
    let two = data(&[(&[0.0, 1.0], "a"), (&[1.0, 0.0], "b")]);
    for kernel in kernels() {
        for penalty in [Penalty::C(1.0), Penalty::C(1e-3), Penalty::Hard] {
            assert!(survive("two rows", &two, &kernel, penalty) > 0, "{kernel:?}");
        }
    }
}

#[test]
fn rows_of_zeros() {
    let zeros = data(&[(&[0.0, 0.0], "a"), (&[0.0, 0.0], "b"), (&[0.0, 0.0], "b")]);
    let mixed = data(&[(&[0.0, 0.0], "a"), (&[1.0, 0.0], "b"), (&[0.0, 0.0], "b")]);
    for kernel in kernels() {
        for data in [&zeros, &mixed] {
            survive("zeros", data, &kernel, Penalty::C(1.0));
            survive("zeros", data, &kernel, Penalty::Hard);
        }
    }
}

#[test]
fn a_constant_column() {
    let mut values: Vec<f64> = Vec::new();
    let base = plain();
    (0..24).for_each(|row| values.extend([&base.matrix().row(row)[..], &[7.0, 0.0]].concat()));
    let data = Dataset::new(Matrix::dense(24, 4, values).unwrap(), base.labels().unwrap().clone()).unwrap();
    for kernel in kernels() {
        assert!(survive("constant", &data, &kernel, Penalty::C(1.0)) > 0);
    }
}

#[test]
fn penalties_at_both_ends() {
    for kernel in kernels() {
        for cost in [1e-10, 1e12, 1e-300, 1e300] {
            survive(&format!("C = {cost:e}"), &plain(), &kernel, Penalty::C(cost));
        }
    }
    assert!(survive("C = 1e-10", &plain(), &KernelParams::Linear, Penalty::C(1e-10)) > 0);
    assert!(survive("C = 1e12", &plain(), &KernelParams::Linear, Penalty::C(1e12)) > 0);
}

#[test]
fn kernels_at_both_ends() {
    for gamma in [1e-12, 1e6, 1e-300, 1e300] {
        assert!(survive(&format!("gamma = {gamma:e}"), &plain(), &rbf(gamma), Penalty::C(1.0)) > 0);
    }
}

#[test]
fn kernels_that_are_none() {
    let minus = Custom::new("minus", |x, z| -x.iter().zip(z).map(|(a, b)| a * b).sum::<f64>());
    let mixed = Custom::new("mixed", |x, z| x[0] * z[0] - 3.0 * x[1] * z[1]);
    let sigmoid = KernelParams::Sigmoid { gamma: Gamma::Value(1.75), coef0: 0.1 };
    for kernel in [KernelParams::Custom(minus), KernelParams::Custom(mixed), sigmoid] {
        for cost in [1e-3, 1.0, 1e3, 1e12] {
            assert!(survive(&format!("{kernel:?}, C = {cost:e}"), &plain(), &kernel, Penalty::C(cost)) > 0);
        }
    }
}

#[test]
fn columns_of_any_scale() {
    for factors in [
        [1e150, 1.0],
        [1e-150, 1.0],
        [1e150, 1e-150],
        [1e-150, 1e-150],
        [1e149, 1e149],
        [1e-300, 1e-300],
        [1e300, 1e300],
        [1e8, 1e-8],
    ] {
        let data = scaled(&plain(), &factors);
        for kernel in kernels() {
            for cost in [1.0, 1e12] {
                survive(&format!("{factors:?}, C = {cost:e}, {kernel:?}"), &data, &kernel, Penalty::C(cost));
            }
        }
    }
}

#[test]
fn without_a_cap_of_the_user_there_is_one_of_the_solver() {
    // No end in sight: classes that overlap, a tolerance below rounding.
    for kind in SolverKind::ALL {
        for kernel in [KernelParams::Linear, rbf(0.5)] {
            let settings = Settings { tolerance: Some(1e-300), ..Settings::default() };
            let bias = if kind == SolverKind::DualAscent { Bias::Folded } else { Bias::Explicit };
            let params = TrainingParams { kernel, bias, solver: Some(kind), settings, ..TrainingParams::default() };
            let few = plain().select_rows(&(0..8).collect::<Vec<_>>());
            match params.check().unwrap().fit(&few, &Workers::none(), &mut maxmargin::Unattended) {
                Ok(model) => assert_ne!(model.stop(), Stop::Interrupted),
                Err(error) => assert!(matches!(error, Error::Combination { .. }), "{kind:?}: {error}"),
            }
        }
    }
}

#[test]
fn a_search_whose_steps_are_smaller_than_rounding_ends_soon() {
    // One column far from 0: polynomials of degree 4 of these rows differ in their last digits only.
    let values = [28.769_698, 29.146_919, 29.351_591, 29.219_214, 29.150_381, 28.945_658];
    let labels = Labels::new([0, 1, 1, 0, 0, 1].map(|class: u8| Label::new(class.to_string())));
    let data = Dataset::new(Matrix::dense(6, 1, values.to_vec()).unwrap(), labels).unwrap();
    for (gamma, cost) in [(27.890_767, 49_017.17), (27.9, 1e5), (30.0, 1e3), (1.0, 1e6)] {
        let params = TrainingParams {
            kernel: KernelParams::Polynomial { gamma: Gamma::Value(gamma), coef0: 10.0, degree: 4 },
            penalty: Penalty::C(cost),
            ..TrainingParams::default()
        };
        let model = params.check().unwrap().fit(&data, &Workers::none(), &mut maxmargin::Unattended).unwrap();
        assert!(matches!(model.stop(), Stop::Converged | Stop::Stalled), "gamma {gamma}, C {cost}: {:?}", model.stop());
        assert!(model.machines()[0].iterations < 1_000_000, "gamma {gamma}, C {cost}");
    }
}

#[test]
fn a_regression_within_its_tube_needs_no_step() {
    let values: Vec<f64> = (0..60).map(|i| f64::from(i).sin()).collect();
    let labels = Labels::new((0..60).map(|i| Label::new(format!("{}", 1.0 + 0.001 * f64::from(i)))));
    let data = Dataset::new(Matrix::dense(60, 1, values).unwrap(), labels).unwrap();
    let task = Task::Regression { epsilon: 0.1 };
    let params = TrainingParams { task, kernel: rbf(1.0), ..TrainingParams::default() };
    let model = params.check().unwrap().fit(&data, &Workers::none(), &mut maxmargin::Unattended).unwrap();
    let machine = &model.machines()[0];
    assert_eq!((model.stop(), machine.iterations, machine.coefficients.len()), (Stop::Converged, 0, 0));
    // The middle of what the tube allows.
    assert!((machine.bias - 1.0295).abs() < 1e-12, "{}", machine.bias);
}

#[test]
fn a_nu_on_rows_that_hardly_differ_is_found_to_the_tolerance() {
    let kernel = rbf(1e-4);
    for nu in [0.3, 0.6] {
        let params = TrainingParams { kernel: kernel.clone(), penalty: Penalty::Nu(nu), ..TrainingParams::default() };
        let model = params.check().unwrap().fit(&plain(), &Workers::none(), &mut maxmargin::Unattended).unwrap();
        let certificate = model.machines()[0].evidence.certificate().unwrap().clone();
        assert_eq!(model.stop(), Stop::Converged, "nu {nu}");
        assert!(certificate.violation <= 1e-3, "nu {nu}: {}", certificate.violation);
    }
}

/// Rows of few points on circles, with numbers to learn.
fn numbers_at(rows: usize, point: impl Fn(f64) -> Vec<f64>, target: impl Fn(f64) -> f64) -> Dataset {
    let values: Vec<f64> = (0..rows).flat_map(|i| point(i as f64)).collect();
    let labels = Labels::new((0..rows).map(|i| Label::new(target(i as f64).to_string())));
    Dataset::new(Matrix::dense(rows, values.len() / rows, values).unwrap(), labels).unwrap()
}

fn fit(data: &Dataset, params: TrainingParams) -> maxmargin::Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut maxmargin::Unattended).unwrap()
}

#[test]
fn a_nu_regression_with_equal_rows_and_a_large_c_has_no_tube_where_nu_asks_for_none() {
    for points in [4.0, 6.0, 9.0] {
        let place = |i: f64| (7.0 * i) % points;
        let point = |i: f64| {
            let p = place(i);
            vec![100.0 + (1.7 * p).sin(), (2.3 * p).cos(), (0.9 * p + 1.0).sin()]
        };
        let data = numbers_at(31, point, |i| 3.0 * (2.1 * place(i)).sin());
        for (gamma, cost) in [(0.1, 163_000.0), (1.0, 163_000.0), (0.3, 1e7)] {
            let task = Task::NuRegression { nu: 0.242 };
            let params =
                TrainingParams { task, kernel: rbf(gamma), penalty: Penalty::C(cost), ..TrainingParams::default() };
            let model = fit(&data, params);
            let (machine, what) = (&model.machines()[0], format!("{points} points, gamma {gamma}, C {cost}"));
            let found = machine.evidence.certificate().unwrap();
            assert_eq!((model.stop(), machine.epsilon), (Stop::Converged, Some(0.0)), "{what}: {found:?}");
            assert!(found.relative_gap < 1e-6 && machine.iterations < 100_000, "{what}: {found:?}");
        }
    }
}

#[test]
fn a_nu_that_asks_for_a_tube_gets_one() {
    let data = numbers_at(40, |i| vec![(1.7 * i).sin(), (2.3 * i).cos()], |i| (3.1 * i).sin());
    let task = Task::NuRegression { nu: 0.3 };
    let model = fit(&data, TrainingParams { task, kernel: rbf(0.1), ..TrainingParams::default() });
    assert_eq!(model.stop(), Stop::Converged);
    assert!(model.machines()[0].epsilon.unwrap() > 0.1);
}

#[test]
fn a_nu_at_which_classes_have_no_margin_is_given_up_soon() {
    let values: Vec<f64> = (0..90).map(|i| 2.0 * (1.7 * f64::from(i)).sin()).collect();
    let labels = Labels::new((0..90).map(|i| Label::new(if (5.3 * f64::from(i)).sin() > 0.0 { "a" } else { "b" })));
    let data = Dataset::new(Matrix::dense(90, 1, values).unwrap(), labels).unwrap();
    for (kernel, nu) in [(rbf(2e-4), 0.335), (rbf(0.1), 0.2), (rbf(1e-3), 0.1), (KernelParams::Linear, 0.2)] {
        let model = fit(
            &data,
            TrainingParams { kernel: kernel.clone(), penalty: Penalty::Nu(nu), ..TrainingParams::default() },
        );
        let machine = &model.machines()[0];
        let what = format!("{kernel:?}, nu {nu}: {} steps, {:?}", machine.iterations, machine.notes);
        assert_eq!(model.stop(), Stop::Stalled, "{what}");
        assert!(machine.notes.iter().any(|note| matches!(note, Note::NoMargin { .. })), "{what}");
        assert!(machine.iterations < 100_000, "{what}");
    }
}

#[test]
fn targets_that_differ_by_little_beside_their_size_are_learnt() {
    let point = |i: f64| vec![(1.7 * i).sin(), (2.3 * i).cos()];
    for size in [1e-8, 1e-10, 1e-12, 0.0] {
        let data = numbers_at(40, point, |i| 1e4 + size * (3.1 * i).sin());
        for kernel in [rbf(0.5), KernelParams::Linear] {
            for (task, cost) in [
                (Task::NuRegression { nu: 0.3 }, 1.0),
                (Task::NuRegression { nu: 0.7 }, 1e5),
                (Task::Regression { epsilon: 0.1 * size }, 1e-3),
                (Task::Regression { epsilon: 0.0 }, 1.0),
            ] {
                let params = TrainingParams {
                    task,
                    kernel: kernel.clone(),
                    penalty: Penalty::C(cost),
                    ..TrainingParams::default()
                };
                let model = fit(&data, params);
                let machine = &model.machines()[0];
                let what = format!("{size:e}, {kernel:?}, {task:?}, {}: {:?}", model.stop().name(), machine.evidence);
                assert!(machine.iterations < 1_000_000, "{what}, {} steps", machine.iterations);
                let at_limit = machine.notes.iter().any(Note::is_at_limit);
                let found = machine.evidence.certificate().unwrap();
                // At the limits the whole objective is what the targets are rounded by.
                assert!(
                    !at_limit || found.primal <= 40.0 * cost * 1e4 * 8.0 * f64::EPSILON || found.relative_gap < 1e-7,
                    "{what}"
                );
                assert!(size > 1e-12 || model.stop() == Stop::Converged, "{what}");
            }
        }
    }
}

#[test]
fn a_ball_over_very_many_columns_says_what_it_needs_before_memory_is_asked_for() {
    let matrix = Matrix::sparse(2, 400_000_000, vec![0, 1, 3], vec![399_999_999, 0, 2], vec![1.0, 1.0, 2.0]).unwrap();
    let data = Dataset::new(matrix, Labels::new(["1", "2"].map(Label::new))).unwrap();
    let settings = Settings { memory: 4 << 30, ..Settings::default() };
    let params = TrainingParams { task: Task::Svdd { nu: 0.5 }, settings, ..TrainingParams::default() };
    let error = params.check().unwrap().fit(&data, &Workers::none(), &mut maxmargin::Unattended).unwrap_err();
    assert!(matches!(error, Error::Memory { need: 12_800_000_000, .. }), "{error}");
    assert_eq!(error.to_string(), "a centre with 400000000 columns needs 11.9 GiB, but the memory budget is 4.0 GiB");
}
