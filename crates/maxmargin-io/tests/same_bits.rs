//! `block-smo` gives the same model file whatever it is trained with: threads, memory, storage, machines side by side or not,
//! and interruptions.
#![allow(clippy::unwrap_used)] // a test may end here

use std::ops::ControlFlow;

use maxmargin::data::{Dataset, Label, Labels, Matrix, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::{Precision, Settings, SolverKind};
use maxmargin::training::{Beginning, Penalty};
use maxmargin::{
    Checkpoint, CheckpointControl, Control, Model, Progress, Stop, Training, TrainingParams, Unattended, Workers,
};
use maxmargin_io::{checkpoint_from_bytes, checkpoint_to_bytes, model_to_bytes};

/// Numbers that look random, from a seed.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

/// From −1 to 1, about.
fn number(state: &mut u64) -> f64 {
    random(state) as f64 / f64::from(1u32 << 30) - 1.0
}

/// Rows around a centre for each class, that overlap, and some with any label; about `density` of the numbers are not 0.
fn clouds(rows: usize, columns: usize, classes: usize, density: f64, mut seed: u64) -> Dataset {
    let mut values = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let centre = if column < 2 * classes && column % classes == row % classes { 1.2 } else { 0.0 };
            let there = (number(&mut seed) + 1.0) * 0.5 < density;
            let value = number(&mut seed) + number(&mut seed) + centre;
            values.push(if there { value } else { 0.0 });
        }
    }
    let class = |row: usize| match random(&mut seed) % 12 {
        0 => random(&mut seed) as usize % classes,
        _ => row % classes,
    };
    let classes: Vec<usize> = (0..rows).map(class).collect();
    let labels = Labels::new(classes.iter().map(|class| Label::new(class.to_string())));
    Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap()
}

/// Some of the labels turned.
fn turned(data: Dataset, share: f64, mut seed: u64) -> Dataset {
    let mut label = |row: usize| {
        let text = data.labels().unwrap().get(row).text();
        let turn = (number(&mut seed) + 1.0) * 0.5 < share;
        Label::new(if (text == "+1") != turn { "+1" } else { "-1" })
    };
    let labels = Labels::new((0..data.rows()).map(&mut label).collect::<Vec<_>>());
    data.clone().with_answers(labels).unwrap()
}

fn sparse(data: &Dataset) -> Dataset {
    data.clone().with_matrix(data.matrix().to_sparse()).unwrap()
}

fn params(gamma: f64, cost: f64) -> TrainingParams {
    TrainingParams {
        kernel: KernelParams::Rbf { gamma: Gamma::Value(gamma) },
        penalty: Penalty::C(cost),
        solver: Some(SolverKind::BlockSmo),
        settings: Settings { tolerance: Some(1e-4), ..Settings::default() },
        ..TrainingParams::default()
    }
}

/// Problems of more rows than one block has, a binary one for each way through the solver, and two of three classes.
fn trainings() -> Vec<(&'static str, Dataset, TrainingParams)> {
    let laplacian = KernelParams::Laplacian { gamma: Gamma::Value(0.05) };
    vec![
        ("few columns", clouds(3000, 3, 2, 1.0, 1), params(0.5, 10.0)),
        // Kernel values that are dear, so that all of the memory is used.
        ("many columns", clouds(2300, 70, 2, 1.0, 2), params(0.02, 10.0)),
        ("sparse", sparse(&clouds(2300, 150, 2, 0.1, 3)), params(0.05, 10.0)),
        ("squared, free", clouds(2400, 5, 2, 1.0, 4), {
            TrainingParams { loss: Some(Loss::Squared), bias: Bias::None, ..params(0.5, 1.0) }
        }),
        ("double", clouds(2300, 6, 2, 1.0, 5), {
            let settings = Settings { tolerance: Some(1e-4), precision: Precision::Double, ..Settings::default() };
            TrainingParams { settings, ..params(0.3, 3.0) }
        }),
        // Rows that were set aside come back.
        ("linear, free", turned(generate("blobs", 2500, 11).unwrap(), 0.05, 11), {
            TrainingParams { kernel: KernelParams::Linear, bias: Bias::None, ..params(0.0, 0.1) }
        }),
        // Polled within a block.
        ("laplacian", clouds(2200, 24, 2, 1.0, 6), TrainingParams { kernel: laplacian, ..params(0.0, 10.0) }),
        ("one against one", clouds(3900, 4, 3, 1.0, 7), params(0.5, 3.0)),
        ("one against rest", clouds(2700, 4, 3, 1.0, 8), {
            TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..params(0.5, 3.0) }
        }),
    ]
}

fn with_memory(params: &TrainingParams, memory: u64) -> Training {
    let settings = Settings { memory, ..params.settings.clone() };
    TrainingParams { settings, ..params.clone() }.check().unwrap()
}

/// The least memory that no machine is refused with: no row is kept.
fn least_memory(data: &Dataset, params: &TrainingParams) -> u64 {
    let mut memory = 1;
    loop {
        // Broken at once, each machine has still said what it needs.
        match with_memory(params, memory).fit(data, &Workers::none(), &mut KeepAt::new(0)) {
            Err(maxmargin::Error::Memory { need, .. }) => memory = need,
            other => {
                assert!(memory > 1 && other.is_ok());
                return memory;
            }
        }
    }
}

fn fit(data: &Dataset, training: &Training, threads: usize) -> Model {
    training.fit(data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap()
}

fn bytes(model: &Model) -> Vec<u8> {
    model_to_bytes(model).unwrap()
}

#[test]
fn threads_and_memory_change_no_byte_of_a_model() {
    for (name, data, params) in trainings() {
        let large = with_memory(&params, 2 << 30);
        let expected = fit(&data, &large, 1);
        assert_eq!(expected.stop(), Stop::Converged, "{name}");
        let expected = bytes(&expected);
        for threads in [2, 3, 4, 8] {
            assert!(bytes(&fit(&data, &large, threads)) == expected, "{name}, {threads} threads");
        }
        let least = least_memory(&data, &params);
        assert!(bytes(&fit(&data, &with_memory(&params, least), 1)) == expected, "{name}, {least} bytes");
        // Some rows are kept, and give way to others.
        let some = with_memory(&params, 2 * (least + (1 << 20)));
        assert!(bytes(&fit(&data, &some, 2)) == expected, "{name}, a megabyte more");
    }
}

#[test]
fn what_is_enough_memory_for_one_thread_is_enough_for_many() {
    let (_, data, params) = trainings().into_iter().find(|(name, ..)| *name == "one against one").unwrap();
    let training = with_memory(&params, least_memory(&data, &params));
    assert!(bytes(&fit(&data, &training, 8)) == bytes(&fit(&data, &training, 1)));
}

#[test]
fn the_data_itself_and_the_parameters_do_change_the_model() {
    let (_, data, params) = trainings().into_iter().next().unwrap();
    let training = with_memory(&params, 2 << 30);
    let expected = bytes(&fit(&data, &training, 2));
    let other = TrainingParams { penalty: Penalty::C(1.0 + 1e-9), ..params.clone() }.check().unwrap();
    assert!(bytes(&fit(&data, &other, 2)) != expected);
    assert!(bytes(&fit(&data.select_rows(&(1..data.rows()).collect::<Vec<_>>()), &training, 2)) != expected);
}

/// All that a machine is, in bits.
fn bits(model: &Model) -> Vec<(Vec<u64>, String)> {
    let of = |machine: &maxmargin::model::Machine| {
        let numbers = machine.coefficients.iter().chain([&machine.bias]).map(|number| number.to_bits()).collect();
        (numbers, format!("{:?} {:?} {:?}", machine.support, machine.evidence, machine.iterations))
    };
    model.machines().iter().map(of).collect()
}

#[test]
fn dense_and_sparse_storage_of_the_same_numbers_give_the_same_machines() {
    for (columns, density) in [(6, 1.0), (40, 0.2), (120, 0.05)] {
        let data = clouds(2300, columns, 2, density, columns as u64);
        let training = params(1.0 / columns as f64, 1.0).check().unwrap();
        let dense = bits(&fit(&data, &training, 2));
        assert!(bits(&fit(&sparse(&data), &training, 2)) == dense, "{columns} columns, {density} of them");
    }
}

/// Keeps a checkpoint at a poll, and breaks there.
struct KeepAt {
    polls: u64,
    at: u64,
    kept: Option<Vec<u8>>,
}

impl KeepAt {
    fn new(at: u64) -> Self {
        KeepAt { polls: 0, at, kept: None }
    }
}

impl Control for KeepAt {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.polls += 1;
        if self.polls < self.at { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    }
}

impl CheckpointControl for KeepAt {
    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        self.polls >= self.at && self.kept.is_none()
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.kept = Some(checkpoint_to_bytes(checkpoint).unwrap());
    }
}

/// Trains until the poll `at`, from a beginning; where it was then, or the model when it was done before.
fn until(
    data: &Dataset,
    training: &Training,
    beginning: Beginning<'_>,
    threads: usize,
    at: u64,
) -> Result<Vec<u8>, Box<Model>> {
    let mut control = KeepAt::new(at);
    let model = training.fit_from(data, beginning, &Workers::new(threads).unwrap(), &mut control).unwrap();
    if control.polls < at {
        return Err(Box::new(model));
    }
    assert_eq!(model.stop(), Stop::Interrupted);
    Ok(control.kept.expect("a break offers a checkpoint"))
}

fn checkpoint(kept: &[u8]) -> Beginning<'static> {
    Beginning::Checkpoint(checkpoint_from_bytes(kept, "kept").unwrap())
}

#[test]
fn a_training_that_was_broken_at_any_poll_goes_on_to_the_same_model() {
    let mut seed = 1;
    for (name, data, params) in trainings() {
        let large = with_memory(&params, 2 << 30);
        let small = with_memory(&params, 3 * (least_memory(&data, &params) + (1 << 20)));
        let mut all = KeepAt::new(u64::MAX);
        let expected = bytes(&large.fit(&data, &Workers::none(), &mut all).unwrap());
        for trial in 0..5 {
            let at = match trial {
                0 => all.polls,
                _ => 1 + random(&mut seed) % all.polls,
            };
            let name = format!("{name}, broken at poll {at} of {}", all.polls);
            let Ok(kept) = until(&data, &large, Beginning::Scratch, 1, at) else { panic!("{name}: not broken") };
            // Once more, with less memory, then to the end with other threads.
            let again = 1 + random(&mut seed) % all.polls;
            match until(&data, &small, checkpoint(&kept), 1, again) {
                Err(model) => assert!(bytes(&model) == expected, "{name}"),
                Ok(kept) => {
                    let workers = Workers::new(1 + trial % 3).unwrap();
                    let model = small.fit_from(&data, checkpoint(&kept), &workers, &mut Unattended).unwrap();
                    assert!(bytes(&model) == expected, "{name}, and again {again} later");
                }
            }
        }
    }
}
