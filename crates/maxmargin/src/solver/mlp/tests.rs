//! What a network promises: its gradient, what it learns, and that nothing but the seed changes it.

use super::*;
use crate::control::Unattended;
use crate::data::{Label, Matrix, ScalingKind, embedded, generate};
use crate::kernel::Points;
use crate::model::{Activation, Model, Multiclass};
use crate::problem::{Bias, JointParts, Loss};
use crate::training::{ClassWeights, Penalty};
use crate::workers::Workers;
use crate::{Beginning, Dataset, TrainingParams};

fn params(hidden: &[usize]) -> TrainingParams {
    let settings = Settings { hidden: hidden.to_vec(), ..Settings::default() };
    TrainingParams { solver: Some(SolverKind::Mlp), penalty: Penalty::C(100.0), settings, ..TrainingParams::default() }
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn errors(model: &Model) -> usize {
    model.machines().iter().map(|machine| machine.training_errors).sum()
}

/// Every number of a network.
fn numbers(model: &Model) -> Vec<u64> {
    let layers = &model.parts().network.as_ref().unwrap().layers;
    let hidden = layers.iter().flat_map(|layer| layer.weights.iter().chain(&layer.biases));
    let machines = model.machines().iter().flat_map(|m| m.weights.iter().flatten().chain([&m.bias]));
    hidden.chain(machines).map(|number| number.to_bits()).collect()
}

/// (ML.1) of a model, from what it predicts and its weights alone.
fn objective(model: &Model, data: &Dataset, cost: f64) -> f64 {
    let predictions = model.predict(data, &Workers::none()).unwrap();
    let weight = |row: usize| data.weights().map_or(1.0, |weights| weights[row]);
    let codes = model.codes(data);
    let loss = |row: usize| {
        let (values, code) = (predictions.decision_values(row), codes[row].unwrap() as usize);
        match values {
            [value] => (1.0 + (if code == 1 { -value } else { *value }).exp()).ln(),
            values => values.iter().map(|value| value.exp()).sum::<f64>().ln() - values[code],
        }
    };
    let losses: f64 = (0..data.rows()).map(|row| cost * weight(row) * loss(row)).sum();
    let layers = &model.parts().network.as_ref().unwrap().layers;
    let hidden = layers.iter().flat_map(|layer| &layer.weights);
    let squares: f64 =
        hidden.chain(model.machines().iter().flat_map(|m| m.weights.iter().flatten())).map(|w| w * w).sum();
    0.5 * squares + losses
}

/// Calls `work` with the problem of some rows of 3 columns and so many classes.
fn with_problem(classes: usize, sparse: bool, work: impl FnOnce(&JointProblem<'_>)) {
    let mut random = Pcg64::seed_from_u64(classes as u64);
    let values: Vec<f64> = (0..3 * 14).map(|_| random.random_range(-1.5..1.5)).collect();
    let matrix = Matrix::dense(14, 3, values).unwrap();
    let points = Points::new(if sparse { matrix.to_sparse() } else { matrix }, false);
    let workers = Workers::none();
    let parts = JointParts {
        points: &points,
        workers: &workers,
        rows: (0..14).rev().collect(),
        codes: (0..14).map(|i| (i % classes) as u32).collect(),
        classes,
        costs: (0..14).map(|i| 0.3 + f64::from(i % 4)).collect(),
        loss: Loss::Logistic,
        bias: Bias::Explicit,
        penalised: true,
    };
    work(&JointProblem::new(parts).unwrap());
}

/// The largest difference between a gradient and central differences, relative to its size.
fn distance(objective: &Objective<'_>, point: &[f64], gradient: &[f64]) -> f64 {
    let value = |point: &[f64]| match objective.value_and_gradient(point, &mut || ControlFlow::Continue(())) {
        ControlFlow::Continue((value, _)) => value,
        ControlFlow::Break(_) => unreachable!(),
    };
    let size = gradient.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
    let difference = |k: usize| {
        let moved = |by: f64| {
            let mut other = point.to_vec();
            other[k] += by;
            value(&other)
        };
        (moved(1e-6) - moved(-1e-6)) / 2e-6
    };
    (0..point.len()).map(|k| (difference(k) - gradient[k]).abs() / size).fold(0.0, f64::max)
}

#[test]
fn the_gradient_is_that_of_central_differences() {
    for classes in [2, 3] {
        for activation in Activation::ALL {
            for hidden in [vec![4], vec![3, 5], vec![4, 3, 2]] {
                for sparse in [false, true] {
                    with_problem(classes, sparse, |problem| {
                        let settings = Settings { hidden: hidden.clone(), activation, ..Settings::default() };
                        let objective = Objective::new(problem, &settings);
                        let point = objective.draw(&mut Pcg64::seed_from_u64(7));
                        let ControlFlow::Continue((_, mut gradient)) =
                            objective.value_and_gradient(&point, &mut || ControlFlow::Continue(()))
                        else {
                            panic!("nobody breaks")
                        };
                        let what = format!("{classes} classes, {activation:?}, {hidden:?}");
                        let apart = distance(&objective, &point, &gradient);
                        assert!(apart < 1e-8, "{what}: {apart:e}");
                        // The check can fail: one component that is off by a thousandth of the largest shows.
                        let most = gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                        gradient[point.len() / 2] += 1e-3 * most.max(1.0);
                        assert!(distance(&objective, &point, &gradient) > 1e-4, "{what}");
                    });
                }
            }
        }
    }
}

#[test]
fn xor_and_rings_take_a_few_units() {
    for (name, units) in [("xor", 4), ("rings", 4)] {
        for activation in Activation::ALL {
            let data = generate(name, 60, 8).unwrap();
            let mut params = params(&[units]);
            params.settings = Settings { activation, starts: 10, ..params.settings };
            let model = fit(&data, params);
            assert_eq!(errors(&model), 0, "{name} {activation:?} {:?}", model.machines()[0].notes);
        }
    }
    // The four corners, by two units.
    let corners = vec![1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0];
    let labels = crate::data::Labels::new(["a", "a", "b", "b"].map(Label::new));
    let data = Dataset::new(Matrix::dense(4, 2, corners).unwrap(), labels).unwrap();
    let mut two = params(&[2]);
    two.settings.starts = 10;
    assert_eq!(errors(&fit(&data, two)), 0);
}

#[test]
fn several_classes_are_found_together_with_probabilities() {
    let iris = embedded("iris").unwrap();
    let model = fit(&iris, TrainingParams { scaling: ScalingKind::Standard, ..params(&[6, 4]) });
    assert!(errors(&model) <= 2, "{}", errors(&model));
    assert_eq!((model.machines().len(), model.recipe().multiclass), (3, Multiclass::Joint));
    let predictions = model.predict(&iris, &Workers::none()).unwrap();
    let probabilities = model.probabilities(&predictions).unwrap();
    assert!(probabilities.chunks(3).all(|line| (line.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(model.verify(&iris, &Workers::none()).unwrap().holds());
    let mut forged = model.parts().clone();
    forged.machines[1].training_errors += 1;
    assert!(!Model::new(forged).unwrap().verify(&iris, &Workers::none()).unwrap().holds());
}

#[test]
fn the_objective_that_is_reported_is_that_of_the_model() {
    let iris = embedded("iris").unwrap();
    for positive in [None, Some(Label::new("virginica"))] {
        let model = fit(&iris, TrainingParams { positive, scaling: ScalingKind::Standard, ..params(&[4]) });
        let found = objective(&model, &iris, 100.0);
        let note = model.machines()[0].notes[0].to_string();
        assert!(note.contains(&format!("objective {found:.6e}")), "{note} {found:e}");
    }
}

#[test]
fn threads_change_no_bit_and_neither_does_a_second_run() {
    let data = generate("moons", 3000, 2).unwrap();
    let run = |threads: usize, seed: u64| {
        let mut params = params(&[5, 4]);
        params.settings = Settings { seed, starts: 2, max_iterations: Some(30), ..params.settings };
        let training = params.check().unwrap();
        numbers(&training.fit(&data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap())
    };
    let alone = run(1, 0);
    assert_eq!(alone, run(1, 0));
    assert_eq!(alone, run(2, 0));
    assert_eq!(alone, run(3, 0));
    assert_ne!(alone, run(1, 1));
}

#[test]
fn storage_changes_no_bit() {
    let data = generate("moons", 200, 2).unwrap();
    let sparse = data.clone().with_matrix(data.matrix().to_sparse()).unwrap();
    assert_eq!(numbers(&fit(&data, params(&[5]))), numbers(&fit(&sparse, params(&[5]))));
}

#[test]
fn a_weight_is_a_number_of_copies_and_0_is_absence() {
    let data = generate("moons", 40, 3).unwrap();
    let weights: Vec<usize> = (0..40).map(|row| row % 3).collect();
    let copies: Vec<usize> = (0..40).flat_map(|row| vec![row; weights[row]]).collect();
    let weighted = data.clone().with_weights(weights.iter().map(|&weight| weight as f64).collect()).unwrap();
    let copied = data.select_rows(&copies);
    let mut params = params(&[4]);
    params.penalty = Penalty::C(1.0);
    params.settings = Settings { tolerance: Some(1e-7), starts: 1, ..params.settings };
    let (one, other) = (fit(&weighted, params.clone()), fit(&copied, params));
    let (a, b) = (objective(&one, &weighted, 1.0), objective(&other, &copied, 1.0));
    assert!((a - b).abs() < 1e-6 * a, "{a} {b}");
}

#[test]
fn weights_of_classes_move_the_boundary() {
    let data = generate("moons", 60, 4).unwrap();
    let label = data.labels().unwrap().classes()[1].text().to_string();
    let with = |weight: f64| {
        let class_weights: ClassWeights = format!("{label}={weight}").parse().unwrap();
        let model = fit(&data, TrainingParams { class_weights, penalty: Penalty::C(0.1), ..params(&[4]) });
        model.predict(&data, &Workers::none()).unwrap().codes().iter().filter(|&&code| code == 1).count()
    };
    assert!(with(1.0) < with(50.0));
}

#[test]
fn an_interrupt_leaves_a_finite_network() {
    let data = generate("xor", 60, 8).unwrap();
    for at in [0, 1, 20] {
        let mut polls = 0;
        let mut control = |_: Progress| {
            polls += 1;
            if polls > at { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
        };
        let model = params(&[4]).check().unwrap().fit(&data, &Workers::none(), &mut control).unwrap();
        assert_eq!(model.stop(), Stop::Interrupted);
    }
}

#[test]
fn what_does_not_go_with_a_network_is_refused_with_a_way_out() {
    let data = generate("xor", 40, 1).unwrap();
    let refused = |params: TrainingParams, beginning: Beginning<'_>| {
        let error = match params.check() {
            Ok(training) => training.fit_from(&data, beginning, &Workers::none(), &mut Unattended).unwrap_err(),
            Err(error) => error,
        };
        assert!(!error.help().is_empty(), "{error}");
        error.to_string()
    };
    let base = || params(&[4]);
    let scratch = || Beginning::Scratch;
    let rbf = crate::kernel::KernelParams::Rbf { gamma: crate::kernel::Gamma::Scale };
    let said = refused(TrainingParams { kernel: rbf, ..base() }, scratch());
    assert!(said.contains("features of its own"), "{said}");
    let said = refused(TrainingParams { loss: Some(Loss::Hinge), ..base() }, scratch());
    assert!(said.contains("logistic loss, not hinge"), "{said}");
    assert!(refused(TrainingParams { bias: Bias::Folded, ..base() }, scratch()).contains("explicit bias"));
    assert!(refused(TrainingParams { penalty: Penalty::None, ..base() }, scratch()).contains("penalty"));
    assert!(refused(params(&[]), scratch()).contains("hidden"));
    assert!(refused(params(&[4, 0]), scratch()).contains("hidden"));
    let mut none = base();
    none.settings.starts = 0;
    assert!(refused(none, scratch()).contains("starts"));
    let mut little = base();
    little.settings.memory = 100;
    assert!(refused(little, scratch()).contains("memory"));
    let network = fit(&data, base());
    assert!(refused(base(), Beginning::Model(&network)).contains("warm start"));
    let linear = TrainingParams { solver: Some(SolverKind::PrimalNewton), ..TrainingParams::default() };
    assert!(refused(linear, Beginning::Model(&network)).contains("network"));
}

#[test]
fn numbers_at_the_end_of_the_range_give_a_finite_network() {
    let data = generate("xor", 20, 1).unwrap();
    for scale in [1e-200, 1e-30, 1e30, 1e150] {
        let values: Vec<f64> = (0..20).flat_map(|row| data.matrix().row(row)).map(|value| value * scale).collect();
        let data = data.clone().with_matrix(Matrix::dense(20, 2, values).unwrap()).unwrap();
        for activation in Activation::ALL {
            let mut params = params(&[3]);
            params.settings = Settings { activation, max_iterations: Some(40), ..params.settings };
            // A model is finite, or it would not be one.
            let model = fit(&data, params);
            assert_eq!(model.predict(&data, &Workers::none()).unwrap().codes().len(), 20);
        }
    }
}
