//! Limits on time, by a clock that counts work: machines share them, keep them, and are of use at their end.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use maxmargin::control::Work;
use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::problem::Task;
use maxmargin::provenance::Note;
use maxmargin::solver::SolverKind;
use maxmargin::training::Penalty;
use maxmargin::{
    Beginning, Checkpoint, CheckpointControl, Control, Model, Progress, Stop, TrainingParams, Unattended, Workers,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Rows of each class, and classes.
const ROWS: usize = 1_500;
const CLASSES: usize = 4;
/// Rows that stand in for all of a machine that has no time.
const STAND_IN: usize = 16;
/// What a kernel value costs in a certificate.
const OF_ENDING: f64 = 2.5;
/// Work of one step of 16 variables with 3,000 rows, and what it adds to the end. A step that is begun is not broken off.
const LEAST_STEP: f64 = 16.0 * 3_000.0 * (1.0 + OF_ENDING);

/// A clock whose time is the work that was done.
struct Clock {
    limit: f64,
    done: f64,
    /// Whether machines leave time to those to come.
    is_fair: bool,
}

impl Control for Clock {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self.done = self.done.max(progress.work.done);
        let reserved = if self.is_fair { progress.reserved } else { 0.0 };
        let is_over = Progress { reserved, ..progress }.is_over(self.done / self.limit);
        if is_over { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    }

    fn spent(&self) -> Option<f64> {
        Some(self.done / self.limit)
    }
}

/// Classes around four corners of a cube, all as far from each other, and near enough that many rows are support vectors.
fn data(seed: u64) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let (mut numbers, mut labels) = (vec![], vec![]);
    for k in 0..ROWS * CLASSES {
        let corner = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]][k % CLASSES];
        numbers.extend(corner.map(|place: f64| place + 1.8 * generator.random::<f64>()));
        labels.push(Label::new(["a", "b", "c", "d"][k % CLASSES]));
    }
    Dataset::new(Matrix::dense(ROWS * CLASSES, 3, numbers).unwrap(), Labels::new(labels)).unwrap()
}

/// The model at a limit, and all work: what the clock saw, and the end of the last machine.
fn fit(data: &Dataset, limit: f64, is_fair: bool) -> (Model, f64) {
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(2.0) };
    let training = TrainingParams { kernel, ..TrainingParams::default() }.check().unwrap();
    let mut clock = Clock { limit, done: 0.0, is_fair };
    let model = training.fit(data, &Workers::none(), &mut clock).unwrap();
    let last = &model.machines()[model.machines().len() - 1];
    let work = clock.done + OF_ENDING * (last.support.len() * last.rows) as f64;
    (model, work)
}

#[test]
fn several_classes_do_not_overrun_a_limit_on_time_and_all_machines_are_of_use() {
    for seed in [1, 2] {
        let data = data(seed);
        for limit in [1e7, 1.5e7, 2e7] {
            let (model, work) = fit(&data, limit, true);
            println!("seed {seed}, limit {limit:e}: {work:e}, {}", model.stop().name());
            assert_eq!(model.stop(), Stop::TimeLimit, "seed {seed}, limit {limit:e}");
            assert!(work <= 1.05 * limit + LEAST_STEP, "seed {seed}, limit {limit:e}: {work:e}");
            for machine in model.machines() {
                let part = machine.training_errors as f64 / machine.rows as f64;
                assert!(part < 0.35, "seed {seed}, limit {limit:e}: {part} wrong");
                assert!(machine.evidence.certificate().is_some(), "seed {seed}, limit {limit:e}");
            }
        }
    }
}

/// The fewest support vectors of a machine.
fn fewest(model: &Model) -> usize {
    model.machines().iter().map(|machine| machine.support.len()).min().unwrap_or(0)
}

#[test]
fn no_machine_takes_the_time_of_those_to_come() {
    let data = data(3);
    let (fair, _) = fit(&data, 2e7, true);
    assert!(fewest(&fair) > STAND_IN, "{}", fewest(&fair));
    // Negative control: where nothing is reserved, the first machines take all, and the last has but its stand-in.
    let (unfair, _) = fit(&data, 2e7, false);
    assert!(fewest(&unfair) <= STAND_IN, "{}", fewest(&unfair));
}

#[test]
fn a_limit_on_time_leaves_room_for_the_end_and_for_machines_to_come() {
    let work = |to_end| Work { done: 10.0, to_end };
    let progress = |to_end, reserved| Progress { work: work(to_end), price: 0.1, reserved, ..Progress::default() };
    assert!(!progress(0.0, 0.0).is_over(0.6) && progress(0.0, 0.0).is_over(1.0));
    assert!(!progress(3.0, 0.0).is_over(0.6) && progress(5.0, 0.0).is_over(0.6));
    assert!(!progress(0.0, 0.3).is_over(0.6) && progress(0.0, 0.5).is_over(0.6));
    assert!(progress(3.0, 0.3).is_over(0.6));
    // Where nobody knows the price of work, the end takes no time.
    assert!(!Progress { work: work(9.0), ..Progress::default() }.is_over(0.6));
}

/// Two classes that hinge loss with a large C tells apart slowly: the objective rises far above that of the start before it falls.
fn overlapping(seed: u64, rows: usize) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let (mut numbers, mut labels) = (vec![], vec![]);
    for _ in 0..rows {
        let x: [f64; 4] = std::array::from_fn(|_| generator.random::<f64>());
        let noise = 0.6 * (generator.random::<f64>() - 0.5);
        labels.push(Label::new(if x[0] + 0.3 * (9.0 * x[1]).sin() + noise > 0.5 { "p" } else { "n" }));
        numbers.extend(x);
    }
    Dataset::new(Matrix::dense(rows, 4, numbers).unwrap(), Labels::new(labels)).unwrap()
}

#[test]
fn a_longer_limit_leaves_no_worse_objective_than_a_short_one() {
    for seed in [5, 6] {
        let data = overlapping(seed, 6_000);
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(4.0) };
        let penalty = maxmargin::training::Penalty::C(100.0);
        let training = TrainingParams { kernel, penalty, ..TrainingParams::default() }.check().unwrap();
        let primal_at = |limit: f64| {
            let mut clock = Clock { limit, done: 0.0, is_fair: true };
            let model = training.fit(&data, &Workers::none(), &mut clock).unwrap();
            model.machines()[0].evidence.certificate().unwrap().primal
        };
        let primals: Vec<f64> = [1e7, 2e7, 4e7, 8e7].into_iter().map(primal_at).collect();
        let is_falling = primals.windows(2).all(|pair| pair[1] <= 1.02 * pair[0]);
        assert!(is_falling, "seed {seed}: {primals:?}");
    }
}

/// A clock that keeps the checkpoint of a search which it breaks off.
struct Keeping {
    clock: Clock,
    broke: bool,
    kept: Option<Checkpoint>,
}

impl Control for Keeping {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let answer = self.clock.poll(progress);
        self.broke |= answer.is_break();
        answer
    }

    fn spent(&self) -> Option<f64> {
        self.clock.spent()
    }
}

impl CheckpointControl for Keeping {
    fn keeps_checkpoints(&self) -> bool {
        true
    }

    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        self.broke && (self.kept.is_none() || progress.iteration > 0)
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.kept = Some(checkpoint.clone());
    }
}

#[test]
fn a_fit_that_a_limit_broke_off_goes_on_from_its_checkpoint_to_the_same_bits() {
    let data = overlapping(7, 3_000);
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(4.0) };
    let training = TrainingParams { kernel, ..TrainingParams::default() }.check().unwrap();
    let workers = Workers::none();
    let at_once = training.fit(&data, &workers, &mut Unattended).unwrap();
    for limit in [3e6, 1e7, 2e7] {
        let clock = Clock { limit, done: 0.0, is_fair: true };
        let mut control = Keeping { clock, broke: false, kept: None };
        let broken = training.fit_from(&data, Beginning::Scratch, &workers, &mut control).unwrap();
        assert_eq!(broken.stop(), Stop::TimeLimit, "limit {limit:e}");
        let beginning = Beginning::Checkpoint(control.kept.unwrap());
        let continued = training.fit_from(&data, beginning, &workers, &mut Unattended).unwrap();
        assert_eq!(continued.machines()[0].coefficients, at_once.machines()[0].coefficients, "limit {limit:e}");
    }
}

/// No time at all.
struct NoTime;

impl Control for NoTime {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        ControlFlow::Break(Stop::TimeLimit)
    }

    fn spent(&self) -> Option<f64> {
        Some(1.0)
    }
}

#[test]
fn a_nu_and_the_solver_smo_leave_the_solution_of_few_rows_and_no_constant_where_there_is_no_time() {
    let data = data(3).select_rows(&(0..ROWS * CLASSES).filter(|row| row % CLASSES < 2).collect::<Vec<_>>());
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(2.0) };
    for (solver, penalty) in [
        (None, Penalty::Nu(0.6)),
        (Some(SolverKind::Smo), Penalty::Nu(0.6)),
        (Some(SolverKind::Smo), Penalty::C(1.0)),
        (None, Penalty::C(1.0)),
    ] {
        let params = TrainingParams { kernel: kernel.clone(), penalty, solver, ..TrainingParams::default() };
        let model = params.check().unwrap().fit(&data, &Workers::none(), &mut NoTime).unwrap();
        let (machine, what) = (&model.machines()[0], format!("{solver:?}, {penalty:?}"));
        assert_eq!(model.stop(), Stop::TimeLimit, "{what}");
        assert!(machine.notes.iter().any(|note| matches!(note, Note::OfFewRows { .. })), "{what}: {:?}", machine.notes);
        assert!(5 * machine.training_errors < 2 * data.rows(), "{what}: {} errors", machine.training_errors);
    }
}

#[test]
fn a_nu_whose_search_cannot_begin_in_time_does_not_begin() {
    let data = data(3).select_rows(&(0..ROWS * CLASSES).filter(|row| row % CLASSES < 2).collect::<Vec<_>>());
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(2.0) };
    let params = TrainingParams { kernel, penalty: Penalty::Nu(0.6), ..TrainingParams::default() };
    let training = params.check().unwrap();
    let fit = |limit: f64| {
        let mut clock = Clock { limit, done: 0.0, is_fair: true };
        let model = training.fit(&data, &Workers::none(), &mut clock).unwrap();
        (model.machines()[0].clone(), clock.done)
    };
    // A point that is feasible has the part 0.6 of 3,000 rows as support vectors, each with 3,000 kernel values and more for the end.
    let least = OF_ENDING * 0.6 * 9e6;
    let (machine, work) = fit(0.5 * least);
    assert!(work < 0.5 * least, "{work:e}");
    assert!(machine.notes.iter().any(|note| matches!(note, Note::OfFewRows { .. })), "{:?}", machine.notes);
    assert!(5 * machine.training_errors < 2 * data.rows(), "{} errors", machine.training_errors);
    // Negative control: with time enough it begins.
    let (machine, _) = fit(20.0 * least);
    assert!(machine.iterations > 0 && !machine.notes.iter().any(|note| matches!(note, Note::OfFewRows { .. })));
}

#[test]
fn one_class_of_many_rows_is_refused_where_its_certificate_takes_far_longer_than_the_limit() {
    let data = data(4);
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(2.0) };
    for task in [Task::OneClass { nu: 0.5 }, Task::Svdd { nu: 0.5 }] {
        let params = TrainingParams { kernel: kernel.clone(), task, ..TrainingParams::default() };
        let training = params.check().unwrap();
        let least = OF_ENDING * 0.5 * (ROWS * CLASSES).pow(2) as f64;
        let mut clock = Clock { limit: 0.1 * least, done: 0.0, is_fair: true };
        let error = training.fit(&data, &Workers::none(), &mut clock).unwrap_err();
        let message =
            "the limit on time is too short for one class of 6000 rows: the certificate alone takes about 10 times";
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(clock.done < 0.1 * least, "{:e}", clock.done);
        // Negative control: twice the time is no reason to refuse.
        let mut clock = Clock { limit: least, done: 0.0, is_fair: true };
        assert!(training.fit(&data, &Workers::none(), &mut clock).is_ok());
    }
}

/// A clock that goes on whenever somebody looks at it.
struct Looks {
    limit: u32,
    looks: AtomicU32,
}

impl Control for Looks {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let is_over = self.spent().is_some_and(|spent| progress.is_over(spent));
        if is_over { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    }

    fn spent(&self) -> Option<f64> {
        Some(f64::from(self.looks.fetch_add(1, Ordering::Relaxed)) / f64::from(self.limit))
    }
}

#[test]
fn machines_that_are_too_many_for_a_limit_are_given_up_soon_and_not_finished_one_by_one() {
    let classes = 150;
    let place = |row: u32| f64::from(row % classes) + 0.01 * f64::from(row / classes);
    let numbers: Vec<f64> = (0..2 * classes).map(place).collect();
    let labels = (0..2 * classes).map(|row| Label::new(format!("c{}", row % classes)));
    let rows = 2 * classes as usize;
    let data = Dataset::new(Matrix::dense(rows, 1, numbers).unwrap(), Labels::new(labels)).unwrap();
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(1.0) };
    let training = TrainingParams { kernel, ..TrainingParams::default() }.check().unwrap();
    for threads in [1, 2] {
        let workers = Workers::new(threads).unwrap();
        let mut clock = Looks { limit: 30, looks: AtomicU32::new(0) };
        let error = training.fit(&data, &workers, &mut clock).unwrap_err();
        assert!(error.to_string().starts_with("the limit on time has passed, and "), "{threads}: {error}");
        assert!(error.to_string().ends_with(" of 11175 machines were trained"), "{threads}: {error}");
        // Negative control: a limit that is long enough.
        let mut clock = Looks { limit: 100_000_000, looks: AtomicU32::new(0) };
        assert_eq!(training.fit(&data, &workers, &mut clock).unwrap().stop(), Stop::Converged, "{threads}");
    }
}

#[test]
fn the_solver_smo_begins_with_few_rows_under_a_limit() {
    let data = overlapping(8, 6_000);
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(4.0) };
    let solver = Some(SolverKind::Smo);
    let training = TrainingParams { kernel, solver, ..TrainingParams::default() }.check().unwrap();
    for limit in [1e7, 3e7] {
        let mut clock = Clock { limit, done: 0.0, is_fair: true };
        let model = training.fit(&data, &Workers::none(), &mut clock).unwrap();
        let machine = &model.machines()[0];
        let work = clock.done + OF_ENDING * (machine.support.len() * machine.rows) as f64;
        println!("limit {limit:e}: {work:e}, {} errors, {} support", machine.training_errors, machine.support.len());
        assert_eq!(model.stop(), Stop::TimeLimit, "limit {limit:e}");
        assert!(3 * machine.training_errors < data.rows(), "limit {limit:e}: {} errors", machine.training_errors);
        assert!(work <= 1.1 * limit, "limit {limit:e}: {work:e}");
    }
}

#[test]
fn relevance_vectors_are_those_of_few_rows_where_there_is_no_time() {
    let data = overlapping(9, 3_000);
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(4.0) };
    let solver = Some(SolverKind::Rvm);
    let training = TrainingParams { kernel, solver, ..TrainingParams::default() }.check().unwrap();
    let model = training.fit(&data, &Workers::none(), &mut NoTime).unwrap();
    let machine = &model.machines()[0];
    assert_eq!(model.stop(), Stop::TimeLimit);
    assert!(machine.notes.contains(&Note::OfFewRows { rows: 128 }), "{:?}", machine.notes);
    assert!(3 * machine.training_errors < data.rows(), "{} errors", machine.training_errors);
}
