//! Several classes, each against the rest, climb side by side: each machine must end where it ends alone.
#![allow(clippy::unwrap_used)] // a test may end here

use std::ops::ControlFlow;

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Beginning, ClassWeights};
use maxmargin::{Model, Progress, Stop, TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Sparse rows of a number of classes, each with words of its own beside those of all.
fn rows(classes: usize, seed: u64) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let (count, columns) = (30 * classes, 12 * classes + 20);
    let mut values = vec![0.0; count * columns];
    let mut labels = Vec::new();
    for row in 0..count {
        let class = generator.random_range(0..classes);
        labels.push(Label::new(format!("class {class:02}")));
        for _ in 0..6 {
            let own = generator.random_range(0..4) > 0;
            let column =
                if own { 20 + 12 * class + generator.random_range(0..12) } else { generator.random_range(0..columns) };
            values[row * columns + column] += generator.random_range(0.2..1.0);
        }
    }
    let matrix = Matrix::dense(count, columns, values).unwrap().to_sparse();
    Dataset::new(matrix, Labels::new(labels)).unwrap()
}

fn params(loss: Loss, bias: Bias, gap: f64) -> TrainingParams {
    TrainingParams {
        loss: Some(loss),
        bias,
        solver: Some(SolverKind::DualAscent),
        multiclass: Some(Multiclass::OneVsRest),
        settings: Settings { gap: Some(gap), ..Settings::default() },
        ..TrainingParams::default()
    }
}

fn fit(data: &Dataset, params: TrainingParams, threads: usize) -> Model {
    params.check().unwrap().fit(data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap()
}

fn primal(model: &Model, machine: usize) -> f64 {
    model.machines()[machine].evidence.certificate().unwrap().primal
}

#[test]
fn every_machine_reaches_its_gap_and_ends_where_it_ends_alone() {
    for (classes, seed) in [(3, 1), (5, 2), (8, 3), (17, 4)] {
        let data = rows(classes, seed);
        for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                let what = format!("{classes} classes, seed {seed}, {loss:?}, {bias:?}");
                let model = fit(&data, params(loss, bias, 1e-6), 2);
                assert_eq!(model.stop(), Stop::Converged, "{what}");
                assert_eq!(model.machines().len(), classes);
                assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{what}");
                for number in 0..classes {
                    let gap = model.machines()[number].evidence.certificate().unwrap().relative_gap;
                    assert!(gap <= 1.01e-6, "{what}, machine {number}: {gap}");
                }
                let positive = Some(model.classes()[classes - 1].clone());
                let alone = fit(&data, TrainingParams { positive, ..params(loss, bias, 1e-6) }, 1);
                let (one, other) = (primal(&model, classes - 1), primal(&alone, 0));
                assert!((one - other).abs() <= 2e-6 * other.max(1.0), "{what}: {one} {other}");
            }
        }
    }
}

#[test]
fn a_tolerance_is_kept_by_every_machine() {
    let data = rows(6, 7);
    let mut asked = params(Loss::Hinge, Bias::Explicit, 1.0);
    asked.settings = Settings { tolerance: Some(1e-4), ..Settings::default() };
    let model = fit(&data, asked, 2);
    for machine in model.machines() {
        let violation = machine.evidence.certificate().unwrap().violation;
        assert!(machine.stop == Stop::Converged && violation <= 1e-4, "{violation}");
    }
}

#[test]
fn threads_change_no_bit() {
    for (classes, seed) in [(3, 11), (9, 12), (20, 13)] {
        let data = rows(classes, seed);
        let with = |threads: usize| format!("{:?}", fit(&data, params(Loss::Hinge, Bias::None, 1e-5), threads).parts());
        let alone = with(1);
        assert!(with(2) == alone && with(5) == alone, "{classes} classes");
    }
}

#[test]
fn weights_of_classes_and_rows_are_those_of_each_machine() {
    let data = rows(5, 21);
    let weights: Vec<f64> = (0..data.rows()).map(|row| f64::from(row as u32 % 3)).collect();
    let copies: Vec<usize> = (0..data.rows()).flat_map(|row| vec![row; row % 3]).collect();
    let copied = data.select_rows(&copies);
    let weighted = data.with_weights(weights).unwrap();
    let asked =
        || TrainingParams { class_weights: ClassWeights::Balanced, ..params(Loss::Squared, Bias::Explicit, 1e-8) };
    let (one, other) = (fit(&weighted, asked(), 1), fit(&copied, asked(), 1));
    for number in 0..5 {
        let (one, other) = (primal(&one, number), primal(&other, number));
        assert!((one - other).abs() <= 2e-8 * other.max(1.0), "machine {number}: {one} {other}");
    }
}

#[test]
fn a_warm_start_is_one_for_each_machine_and_an_interrupt_ends_them_all() {
    let data = rows(7, 31);
    let old = fit(&data, params(Loss::Hinge, Bias::None, 1e-6), 1);
    let training = params(Loss::Hinge, Bias::None, 1e-6).check().unwrap();
    let warm = training.fit_from(&data, Beginning::Model(&old), &Workers::none(), &mut Unattended).unwrap();
    assert!(warm.iterations() < old.iterations(), "{} {}", warm.iterations(), old.iterations());
    let mut left = 5;
    let mut control = |_: Progress| {
        left -= 1;
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    };
    let broken = params(Loss::Hinge, Bias::None, 1e-9).check().unwrap();
    let model = broken.fit(&data, &Workers::none(), &mut control).unwrap();
    assert_eq!(model.stop(), Stop::Interrupted);
    assert!(model.verify(&data, &Workers::none()).unwrap().holds());
}
