//! What must be equal, is: forms of one problem, storages of one matrix, orders of rows, numbers of threads.
#![allow(clippy::unwrap_used)] // all of this file is tests

mod oracle;

use std::ops::ControlFlow;

use maxmargin::certificate::Certificate;
use maxmargin::data::{Dataset, Label, Labels, Matrix, generate};
use maxmargin::geometry::nearest_points;
use maxmargin::kernel::{Gamma, KernelParams, Points};
use maxmargin::lift::{Monomials, lift};
use maxmargin::problem::{Bias, Loss, MarginParts, MarginProblem, Norm};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Error, Model, Progress, Stop, Unattended, Workers};
use oracle::problems::{normal, random};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn tight() -> Settings {
    Settings { tolerance: Some(1e-9), ..Settings::default() }
}

fn fit(data: &Dataset, params: &TrainingParams) -> Model {
    params.clone().check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn certificate(model: &Model) -> &Certificate {
    model.machines()[0].evidence.certificate().unwrap()
}

fn decisions(model: &Model, data: &Dataset) -> Vec<f64> {
    let predictions = model.predict(data, &Workers::none()).unwrap();
    (0..data.rows()).map(|row| predictions.decision_values(row)[0]).collect()
}

/// The largest difference, relative to the largest value.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(1.0f64, |most, value| most.max(value.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
}

fn bits(model: &Model) -> Vec<u64> {
    let machine = &model.machines()[0];
    let numbers = machine.coefficients.iter().chain(machine.weights.iter().flatten()).chain([&machine.bias]);
    numbers.map(|number| number.to_bits()).chain(machine.support.iter().map(|&place| u64::from(place))).collect()
}

/// Two Gaussian classes in some columns, `apart` from each other.
fn classes(seed: u64, rows: usize, columns: usize, apart: f64) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut values = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let centre = if column == 0 { apart * if row % 2 == 0 { -0.5 } else { 0.5 } } else { 0.0 };
            values.push(centre + normal(&mut generator));
        }
    }
    let labels = Labels::new((0..rows).map(|row| Label::new(["-1", "+1"][row % 2])));
    Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap()
}

fn rbf(gamma: f64) -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Value(gamma) }
}

/// Solves a square system by elimination with pivots.
fn eliminate(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        let pivot = a[k].clone();
        for (_, row) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    (0..n).map(|i| a[i][n] / a[i][i]).collect()
}

#[test]
fn the_direction_of_lda_is_that_of_least_squares() {
    for seed in 0..20 {
        let columns = 1 + seed as usize % 5;
        let data = classes(seed, 40 + seed as usize, columns, 1.5);
        // (X′X) (w, b) = X′y with a column of ones.
        let mut system = vec![vec![0.0; columns + 2]; columns + 1];
        for row in 0..data.rows() {
            let mut x = data.matrix().row(row);
            x.push(1.0);
            let y = if row % 2 == 0 { -1.0 } else { 1.0 };
            for i in 0..=columns {
                (0..=columns).for_each(|j| system[i][j] += x[i] * x[j]);
                system[i][columns + 1] += x[i] * y;
            }
        }
        let squares = &eliminate(system)[..columns];
        let params = TrainingParams { solver: Some(SolverKind::Lda), ..TrainingParams::default() };
        let model = fit(&data, &params);
        let lda = model.machines()[0].weights.as_ref().unwrap();
        let dot = |a: &[f64], b: &[f64]| oracle::dot(a, b);
        let cosine = dot(lda, squares) / (dot(lda, lda) * dot(squares, squares)).sqrt();
        assert!((cosine - 1.0).abs() < 1e-9, "seed {seed}: cosine {cosine}");
    }
}

#[test]
fn three_ways_to_say_the_penalty_give_one_model() {
    for seed in 0..20 {
        let data = classes(seed, 30, 3, 1.0);
        let cost = 10f64.powf(seed as f64 / 5.0 - 2.0);
        let n = data.rows() as f64;
        let model = |penalty| fit(&data, &TrainingParams { penalty, settings: tight(), ..TrainingParams::default() });
        let one = model(Penalty::C(cost));
        for (name, other) in
            [("C/n", model(Penalty::COverN(cost * n))), ("lambda", model(Penalty::Lambda(0.5 / n / cost)))]
        {
            let apart = difference(&decisions(&one, &data), &decisions(&other, &data));
            assert!(apart < 1e-7, "seed {seed}, {name}: {apart:e}");
        }
        let wrong = model(Penalty::Lambda(0.25 / n / cost));
        assert_ne!(decisions(&one, &data), decisions(&wrong, &data), "seed {seed}: another lambda is another model");
    }
}

#[test]
fn the_distance_of_the_hulls_is_twice_the_margin() {
    let workers = Workers::none();
    for (seed, kernel) in (0..20).zip([KernelParams::Linear, rbf(0.3)].into_iter().cycle()) {
        let data = classes(seed, 24, 2, 12.0);
        let params = TrainingParams {
            penalty: Penalty::Hard,
            kernel: kernel.clone(),
            solver: Some(SolverKind::Smo),
            settings: tight(),
            ..TrainingParams::default()
        };
        let margin = certificate(&fit(&data, &params)).margin;
        let function = kernel.check(data.matrix()).unwrap();
        let points = Points::new(data.matrix().clone(), false);
        let signs = (0..24).map(|row| if row % 2 == 0 { -1.0 } else { 1.0 }).collect();
        let parts = MarginParts::new(&function, &points, &workers, (0..24).collect(), signs);
        let problem = MarginProblem::new(parts).unwrap();
        let nearest =
            nearest_points(&problem, 1.0, &Settings { tolerance: Some(1e-8), ..tight() }, &mut Unattended).unwrap();
        let relative = (nearest.distance - 2.0 * margin).abs() / nearest.distance;
        assert!(relative < 1e-6, "seed {seed}: {} and {margin}", nearest.distance);
        assert!(nearest.at_least <= nearest.distance);
    }
}

#[test]
fn a_point_that_stays_outside_of_the_margin_may_move() {
    let mut moved_inside = 0;
    for seed in 0..20 {
        let data = classes(seed, 40, 2, 4.0);
        let params = TrainingParams { solver: Some(SolverKind::Smo), settings: tight(), ..TrainingParams::default() };
        let model = fit(&data, &params);
        let (values, machine) = (decisions(&model, &data), &model.machines()[0]);
        let weights = machine.weights.clone().unwrap();
        let sign = |row: usize| [-1.0, 1.0][row % 2];
        let Some(row) = (0..40).find(|&row| sign(row) * values[row] > 1.5) else { continue };
        let change = |by: f64| {
            let mut numbers: Vec<f64> = (0..40).flat_map(|row| data.matrix().row(row)).collect();
            (0..2).for_each(|k| numbers[2 * row + k] += by * sign(row) * weights[k]);
            numbers[2 * row] += 0.3 * weights[1];
            numbers[2 * row + 1] -= 0.3 * weights[0];
            let matrix = Matrix::dense(40, 2, numbers).unwrap();
            fit(&Dataset::new(matrix, data.labels().unwrap().clone()).unwrap(), &params)
        };
        let apart = difference(&decisions(&change(2.0), &data), &values);
        assert!(apart < 1e-7, "seed {seed}: {apart:e}");
        // The control: far to the wrong side, it matters.
        moved_inside += usize::from(difference(&decisions(&change(-50.0), &data), &values) > 1e-3);
    }
    assert!(moved_inside >= 10, "{moved_inside}");
}

#[test]
fn the_kernel_and_the_explicit_lifted_form_agree() {
    for seed in 0..12 {
        let (gamma, coef0, degree) =
            (0.5 + seed as f64 / 10.0, [1.0, 0.0, 0.5][seed as usize % 3], 2 + seed as u32 % 2);
        let data = classes(seed, 30, 2, 1.0);
        let map = Monomials::new(2, degree, gamma, coef0).unwrap();
        let lifted = Dataset::new(lift(&map, data.matrix()).unwrap(), data.labels().unwrap().clone()).unwrap();
        let kernel = KernelParams::Polynomial { gamma: Gamma::Value(gamma), coef0, degree };
        for (loss, bias) in [(Loss::Hinge, Bias::Explicit), (Loss::Squared, Bias::None)] {
            let settings = Settings { tolerance: Some(1e-8), ..Settings::default() };
            let solver = Some(SolverKind::Smo);
            let base = TrainingParams { loss: Some(loss), bias, settings, solver, ..TrainingParams::default() };
            let by_kernel = fit(&data, &TrainingParams { kernel: kernel.clone(), ..base.clone() });
            let by_map = fit(&lifted, &base);
            let apart = difference(&decisions(&by_kernel, &data), &decisions(&by_map, &lifted));
            assert!(apart < 1e-6, "seed {seed}, {loss:?}: {apart:e}");
            let (a, b) = (certificate(&by_kernel).primal, certificate(&by_map).primal);
            assert!((a - b).abs() < 1e-6 * a, "seed {seed}, {loss:?}: {a} and {b}");
        }
    }
}

/// A setting for each solver that it can work with, linear where it can be.
fn settings_of_all_solvers() -> Vec<TrainingParams> {
    let of = |kind: SolverKind| TrainingParams {
        solver: Some(kind),
        norm: if kind == SolverKind::L1Newton { Norm::L1 } else { Norm::L2 },
        bias: if kind == SolverKind::DualAscent { Bias::Folded } else { Bias::Explicit },
        kernel: match kind {
            SolverKind::Smo
            | SolverKind::KernelNewton
            | SolverKind::KernelPerceptron
            | SolverKind::InteriorPoint
            | SolverKind::Rvm => rbf(0.5),
            _ => KernelParams::Linear,
        },
        ..TrainingParams::default()
    };
    let linear = [SolverKind::Smo, SolverKind::KernelNewton, SolverKind::KernelPerceptron];
    SolverKind::ALL
        .into_iter()
        .map(of)
        .chain(linear.map(|kind| TrainingParams { kernel: KernelParams::Linear, ..of(kind) }))
        .chain([TrainingParams { kernel: rbf(0.5), ..of(SolverKind::DualAscent) }])
        .collect()
}

fn capped(params: TrainingParams, cap: u64) -> TrainingParams {
    let settings = Settings { max_iterations: Some(cap), ..params.settings.clone() };
    TrainingParams { settings, ..params }
}

#[test]
fn storage_changes_nothing() {
    for seed in 0..22 {
        let problem = random(seed);
        let settings = Settings { tolerance: Some(1e-8), max_iterations: Some(100_000), ..Settings::default() };
        let params = TrainingParams { solver: Some(SolverKind::Smo), settings, ..problem.params.clone() };
        let with = |matrix: Matrix| problem.data.clone().with_matrix(matrix).unwrap();
        let dense = with(problem.data.matrix().to_dense());
        let sparse = with(problem.data.matrix().to_sparse());
        let (a, b) = (fit(&dense, &params), fit(&sparse, &params));
        if a.stop() != Stop::Converged || b.stop() != Stop::Converged || problem.describe().contains("Sigmoid") {
            continue; // no single optimum to agree on
        }
        let (primal, other) = (certificate(&a).primal, certificate(&b).primal);
        assert!((primal - other).abs() < 1e-6 * primal, "seed {seed} {}: {primal} {other}", problem.describe());
        let apart = difference(&decisions(&a, &dense), &decisions(&b, &sparse));
        assert!(apart < 1e-5, "seed {seed} {}: {apart:e}", problem.describe());
    }
}

#[test]
fn single_precision_storage_of_the_same_numbers_gives_the_same_bits() {
    let coarse = classes(5, 40, 3, 1.5);
    let singles: Vec<f32> = (0..40).flat_map(|row| coarse.matrix().row(row)).map(|value| value as f32).collect();
    let doubles: Vec<f64> = singles.iter().map(|&value| f64::from(value)).collect();
    let with = |matrix: Matrix| Dataset::new(matrix, coarse.labels().unwrap().clone()).unwrap();
    let single = with(Matrix::dense(40, 3, singles).unwrap());
    let double = with(Matrix::dense(40, 3, doubles).unwrap());
    for params in settings_of_all_solvers() {
        let params = capped(params, 500);
        assert_eq!(bits(&fit(&single, &params)), bits(&fit(&double, &params)), "{:?}", params.solver);
    }
}

#[test]
fn the_order_of_rows_changes_nothing() {
    for seed in 0..20 {
        let data = classes(seed, 30, 2, 1.0);
        let mut order: Vec<usize> = (0..30).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(seed));
        let other = data.select_rows(&order);
        for loss in [Loss::Hinge, Loss::Squared] {
            for kind in [SolverKind::Smo, SolverKind::InteriorPoint, SolverKind::KernelNewton] {
                let settings = Settings { tolerance: Some(1e-7), ..Settings::default() };
                let params = TrainingParams {
                    kernel: rbf(0.5),
                    loss: Some(loss),
                    solver: Some(kind),
                    settings,
                    ..TrainingParams::default()
                };
                let Ok(one) = params.clone().check().unwrap().fit(&data, &Workers::none(), &mut Unattended) else {
                    continue;
                };
                let apart = difference(&decisions(&one, &data), &decisions(&fit(&other, &params), &data));
                assert!(apart < 1e-5, "seed {seed}, {loss:?}, {kind:?}: {apart:e}");
            }
        }
    }
}

#[test]
fn a_weight_is_a_number_of_copies() {
    for seed in 0..12 {
        let data = classes(seed, 24, 2, 1.0);
        let mut generator = Pcg64::seed_from_u64(seed);
        let weights: Vec<usize> = (0..24).map(|row| if row < 2 { 1 } else { generator.random_range(0..=2) }).collect();
        let copies: Vec<usize> = (0..24).flat_map(|row| vec![row; weights[row]]).collect();
        let copied = data.select_rows(&copies);
        let weighted = data.clone().with_weights(weights.iter().map(|&weight| weight as f64).collect()).unwrap();
        for params in settings_of_all_solvers() {
            // Those that minimise nothing, only nearly, or one of many minima, depend on the path.
            let path = [SolverKind::Sgd, SolverKind::Perceptron, SolverKind::KernelPerceptron, SolverKind::Mlp];
            if path.contains(&params.solver.unwrap()) {
                continue;
            }
            for penalty in [Penalty::C(1.0), Penalty::COverN(20.0), Penalty::Lambda(0.02)] {
                let settings = Settings { tolerance: Some(1e-7), ..params.settings.clone() };
                let params = TrainingParams { penalty, settings, ..params.clone() };
                let (a, b) = (fit(&weighted, &params), fit(&copied, &params));
                let apart = difference(&decisions(&a, &data), &decisions(&b, &data));
                assert!(apart < 1e-4, "seed {seed}, {:?}, {penalty:?}: {apart:e}", params.solver);
                let (Some(a), Some(b)) =
                    (a.machines()[0].evidence.certificate(), b.machines()[0].evidence.certificate())
                else {
                    continue;
                };
                assert!((a.primal - b.primal).abs() < 1e-5 * a.primal, "seed {seed}, {:?}", params.solver);
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // More rows than one thread takes at a time.
    let data = generate("moons", 1100, 3).unwrap();
    for params in settings_of_all_solvers() {
        let params = capped(params, 60);
        let training = params.clone().check().unwrap();
        // Solvers of cubic cost show the same on fewer rows.
        let cubic = matches!(params.solver, Some(SolverKind::InteriorPoint));
        let data = if cubic { data.select_rows(&(0..200).collect::<Vec<_>>()) } else { data.clone() };
        let mut first: Option<(Vec<u64>, Vec<u64>)> = None;
        for threads in [1, 2, 3, 4, 8] {
            let workers = Workers::new(threads).unwrap();
            let model = training.fit(&data, &workers, &mut Unattended).unwrap();
            let predictions = model.predict(&data, &workers).unwrap();
            let values = (0..data.rows()).map(|row| predictions.decision_values(row)[0].to_bits()).collect();
            let found = (bits(&model), values);
            match &first {
                None => first = Some(found),
                Some(first) => assert!(*first == found, "{:?} with {threads} threads", params.solver),
            }
        }
    }
}

#[test]
fn a_prediction_does_not_depend_on_the_batch() {
    let data = generate("moons", 150, 4).unwrap();
    for (kernel, sparse) in [(KernelParams::Linear, false), (rbf(1.0), false), (rbf(1.0), true)] {
        let model = fit(&data, &TrainingParams { kernel, ..TrainingParams::default() });
        let data = if sparse { data.clone().with_matrix(data.matrix().to_sparse()).unwrap() } else { data.clone() };
        let whole = decisions(&model, &data);
        for batch in [1, 7, 16, 17, 149] {
            let rows: Vec<usize> = (0..150).collect();
            let parts: Vec<f64> =
                rows.chunks(batch).flat_map(|rows| decisions(&model, &data.select_rows(rows))).collect();
            let same = whole.iter().zip(&parts).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same && parts.len() == 150, "batch {batch}");
        }
    }
}

/// Breaks at the poll of this number, counted from 1.
fn breaking(at: usize, with: Stop) -> impl FnMut(Progress) -> ControlFlow<Stop> {
    let mut polls = 0;
    move |_| {
        polls += 1;
        if polls >= at { ControlFlow::Break(with) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_interrupt_leaves_a_finite_model_that_says_so() {
    let data = classes(6, 60, 2, 1.0);
    for params in settings_of_all_solvers() {
        let kind = params.solver.unwrap();
        let training = params.check().unwrap();
        let mut interrupted = 0;
        for at in [1, 2, 3, 5, 8, 20, 100, 1000] {
            for reason in [Stop::Interrupted, Stop::TimeLimit] {
                let mut broken = false;
                let mut control = breaking(at, reason);
                let mut watched = |progress: Progress| {
                    let flow = control(progress);
                    broken |= flow.is_break();
                    flow
                };
                let model = training.fit(&data, &Workers::none(), &mut watched).unwrap();
                assert_eq!(model.stop() == reason, broken, "{kind:?} at poll {at}: {:?}", model.stop());
                interrupted += usize::from(broken);
                assert!(decisions(&model, &data).iter().all(|value| value.is_finite()), "{kind:?} at poll {at}");
                assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{kind:?} at poll {at}");
                if let Some(certificate) = model.machines()[0].evidence.certificate() {
                    assert!(certificate.gap >= 0.0, "{kind:?} at poll {at}: gap {}", certificate.gap);
                }
            }
        }
        assert!(interrupted > 0, "{kind:?} never asks");
    }
}

#[test]
fn an_interrupted_hard_margin_is_no_error_either() {
    let data = classes(7, 30, 2, 12.0);
    let params = TrainingParams { penalty: Penalty::Hard, settings: tight(), ..TrainingParams::default() };
    let training = params.check().unwrap();
    for at in 1..40 {
        match training.fit(&data, &Workers::none(), &mut breaking(at, Stop::Interrupted)) {
            Ok(model) => assert!(matches!(model.stop(), Stop::Interrupted | Stop::Converged), "poll {at}"),
            Err(error) => panic!("poll {at}: {error}"),
        }
    }
}

#[test]
fn a_gap_is_never_negative_however_early_the_end() {
    for seed in 0..60 {
        let problem = random(seed);
        if problem.describe().contains("Sigmoid") {
            continue;
        }
        for kind in SolverKind::ALL {
            for cap in [1, 2, 5, 30] {
                let params = capped(TrainingParams { solver: Some(kind), ..problem.params.clone() }, cap);
                let model = match params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended) {
                    Ok(model) => model,
                    Err(Error::Combination { .. }) => break,
                    Err(error) => panic!("seed {seed}, {kind:?}: {error}"),
                };
                let Some(certificate) = model.machines()[0].evidence.certificate() else { continue };
                assert!(certificate.gap >= 0.0, "seed {seed}, {kind:?}, cap {cap}: {certificate:?}");
                assert!(certificate.violation >= 0.0 && certificate.infeasibility >= 0.0, "seed {seed}, {kind:?}");
            }
        }
    }
}
