//! What a model says of a row depends on that row alone: not on its batch, its place in it, or the threads.
#![allow(clippy::unwrap_used)] // all of this file is tests

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::kernel::{Custom, Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::Bias;
use maxmargin::training::TrainingParams;
use maxmargin::{Model, Unattended, Workers};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Rows around as many centres as there are classes; about `density` of the entries are not 0.
fn data(seed: u64, rows: usize, columns: usize, classes: usize, density: f64, ones: bool) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut values = vec![0.0; rows * columns];
    for row in 0..rows {
        for column in 0..columns {
            let near = if column % classes == row % classes { 0.25 } else { 0.0 };
            if generator.random_bool((density + near).min(1.0)) {
                values[row * columns + column] = if ones { 1.0 } else { generator.random_range(0.1..2.0) + 4.0 * near };
            }
        }
    }
    let labels = Labels::new((0..rows).map(|row| Label::new(format!("class {}", row % classes))));
    Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap()
}

fn sparse(data: &Dataset) -> Dataset {
    Dataset::new(data.matrix().to_sparse(), data.labels().unwrap().clone()).unwrap()
}

fn fit(data: &Dataset, kernel: KernelParams, multiclass: Multiclass, bias: Bias) -> Model {
    let params = TrainingParams { kernel, multiclass: Some(multiclass), bias, ..TrainingParams::default() };
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

/// For each row the bits of its decision values, and its class.
fn said(model: &Model, data: &Dataset, workers: &Workers) -> Vec<(Vec<u64>, u32)> {
    let predictions = model.predict(data, workers).unwrap();
    let bits = |row| predictions.decision_values(row).iter().map(|value| value.to_bits()).collect();
    (0..data.rows()).map(|row| (bits(row), predictions.codes()[row])).collect()
}

fn models() -> Vec<(String, Model, Dataset)> {
    let rbf = KernelParams::Rbf { gamma: Gamma::Value(0.1) };
    let polynomial = KernelParams::Polynomial { gamma: Gamma::Value(0.2), coef0: 1.0, degree: 2 };
    let least = Custom::new("least", |x, z| x.iter().zip(z).map(|(a, b)| a.min(*b)).sum());
    let kernels = [
        ("linear", KernelParams::Linear),
        ("rbf", rbf),
        ("polynomial", polynomial),
        ("laplacian", KernelParams::Laplacian { gamma: Gamma::Value(0.1) }),
        ("custom", KernelParams::Custom(least)),
    ];
    let ways = [(2, Multiclass::OneVsOne), (5, Multiclass::OneVsOne), (4, Multiclass::OneVsRest)];
    let mut out = Vec::new();
    for (name, kernel) in kernels {
        for (classes, way) in ways {
            for (density, ones) in [(0.7, false), (0.15, false), (0.15, true)] {
                let seed = out.len() as u64;
                let training = data(seed, 70, 20, classes, density, ones);
                let new = data(1000 + seed, 600, 20, classes, density, ones);
                let bias = if seed.is_multiple_of(2) { Bias::Explicit } else { Bias::Folded };
                let model = fit(&training, kernel.clone(), way, bias);
                out.push((format!("{name}, {classes} classes, {}, density {density}", way.name()), model, new));
            }
        }
    }
    out
}

#[test]
fn threads_batches_and_orders_change_no_bit_of_a_prediction() {
    let teams: Vec<Workers> = [2, 3, 4, 8].map(|threads| Workers::new(threads).unwrap()).into();
    for (seed, (name, model, data)) in models().into_iter().enumerate() {
        let expected = said(&model, &data, &Workers::none());
        for workers in &teams {
            assert_eq!(said(&model, &data, workers), expected, "{name}, {} threads", workers.threads());
        }
        let mut order: Vec<usize> = (0..data.rows()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(seed as u64));
        for size in [1, 7, 16, 31, 33, 599] {
            for rows in order.chunks(size) {
                let found = said(&model, &data.select_rows(rows), &teams[0]);
                assert!(
                    rows.iter().zip(&found).all(|(&row, found)| *found == expected[row]),
                    "{name}, {size} at a time"
                );
            }
        }
    }
}

#[test]
fn a_decision_value_is_the_sum_over_the_support_vectors() {
    for (name, model, data) in models().into_iter().filter(|(_, model, _)| !model.recipe().kernel.is_linear()) {
        let points = model.align(&data).unwrap().points;
        let found = model.decision_values(&points, &Workers::none());
        let machines = model.machines().len();
        for row in 0..data.rows() {
            for (number, machine) in model.machines().iter().enumerate() {
                let list: Vec<usize> = machine.support.iter().map(|&place| place as usize).collect();
                let mut values = vec![0.0; list.len()];
                let vectors = model.support_vectors().rows(&list);
                maxmargin::kernel::Kernel::block(&model.recipe().kernel, points.rows(&[row]), vectors, &mut values);
                let sum: f64 = values.iter().zip(&machine.coefficients).map(|(value, c)| value * c).sum();
                let (found, expected) = (found[row * machines + number], sum + machine.bias);
                assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1.0), "{name}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn dense_and_sparse_rows_get_the_same_bits_from_kernels_of_dot_products() {
    for (name, model, data) in models().into_iter().filter(|(name, ..)| name.starts_with(['r', 'p'])) {
        let workers = Workers::none();
        assert_eq!(said(&model, &data, &workers), said(&model, &sparse(&data), &workers), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_cut_into_batches_gives_what_the_whole_gives(
        seed in 0u64..1000, rows in 1usize..120, columns in 1usize..40, density in 0.05f64..1.0,
        cuts in proptest::collection::vec(1usize..50, 1..6), threads in 1usize..4, classes in 2usize..5,
    ) {
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5 / columns as f64) };
        let training = data(seed, 40, columns, classes, density, false);
        let model = fit(&training, kernel, Multiclass::OneVsOne, Bias::Explicit);
        let new = data(seed + 1, rows, columns, classes, density, false);
        let new = if seed.is_multiple_of(2) { new } else { sparse(&new) };
        let workers = Workers::new(threads).unwrap();
        let whole = said(&model, &new, &workers);
        let (mut start, mut parts) = (0, Vec::new());
        for cut in cuts.iter().cycle() {
            let batch: Vec<usize> = (start..(start + cut).min(rows)).collect();
            parts.extend(said(&model, &new.select_rows(&batch), &Workers::none()));
            start += cut;
            if start >= rows {
                break;
            }
        }
        prop_assert_eq!(parts, whole);
    }
}
