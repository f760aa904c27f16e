//! `converged` is the certificate's word: the same for the same geometry, whatever the scale, the solver and the task.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::ops::ControlFlow;

use maxmargin::data::{Dataset, Label, Labels, Matrix, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::Penalty;
use maxmargin::{Control, Model, Progress, Stop, TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Two classes of 40 rows, 26 to 14 or so, whose columns are of this size.
fn two_classes(seed: u64, scale: f64) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut normal = || (0..12).map(|_| generator.random::<f64>()).sum::<f64>() - 6.0;
    let (mut numbers, mut labels) = (vec![], vec![]);
    for _ in 0..40 {
        let (a, b) = (normal(), normal());
        numbers.extend([a * scale, b * scale]);
        labels.push(Label::new(if a + 0.5 * normal() > 0.5 { "p" } else { "n" }));
    }
    Dataset::new(Matrix::dense(40, 2, numbers).unwrap(), Labels::new(labels)).unwrap()
}

/// The same rows with numbers to learn, of this size.
fn numbers(seed: u64, scale: f64) -> Dataset {
    let data = two_classes(seed, 1.0);
    let target = |row: usize| {
        let (mut a, mut b) = (0.0, 0.0);
        data.matrix().visit(row, |column, value| if column == 0 { a = value } else { b = value });
        scale * (a - 0.3 * b + 0.2 * (7.0 * a).sin())
    };
    Dataset::new(data.matrix().clone(), (0..data.rows()).map(target).collect::<Vec<f64>>()).unwrap()
}

/// Iterations after which a solver that is asked for by name may end: `smo` would take millions.
const LIMIT_OF_NAMED: u64 = 100_000;

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn relative_gap(model: &Model) -> f64 {
    model.machines()[0].evidence.certificate().unwrap().relative_gap
}

#[test]
fn columns_of_any_size_are_learnt_before_converged_is_said() {
    use SolverKind::{BlockSmo, DualAscent, InteriorPoint, KernelNewton, Logistic, Newton, PrimalNewton, Smo};
    let solvers = [
        (Loss::Hinge, vec![None, Some(Smo), Some(BlockSmo), Some(DualAscent), Some(InteriorPoint), Some(PrimalNewton)]),
        (Loss::Squared, vec![None, Some(Smo), Some(BlockSmo), Some(Newton), Some(KernelNewton), Some(PrimalNewton)]),
        (Loss::Logistic, vec![None, Some(Logistic), Some(PrimalNewton), Some(DualAscent)]),
    ];
    // The rows of seed 0 can be separated by a margin of 1/700 only.
    for seed in 0..3 {
        for scale in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
            let data = two_classes(seed, scale);
            for (loss, kinds) in &solvers {
                for &solver in kinds {
                    let settings = Settings { max_iterations: solver.map(|_| LIMIT_OF_NAMED), ..Settings::default() };
                    let params = TrainingParams { loss: Some(*loss), solver, settings, ..TrainingParams::default() };
                    let model = fit(&data, params);
                    let what =
                        format!("seed {seed}, columns of {scale:e}, {loss:?}, {solver:?}: {}", model.stop().name());
                    let gap = relative_gap(&model);
                    assert!(model.stop() != Stop::Converged || gap <= Settings::GAP, "{what}, relative gap {gap:e}");
                    // A solver that is asked for by name may end with an honest word: columns of 1e6 are as hard as C = 1e12.
                    assert!(solver.is_some() || model.stop() == Stop::Converged, "{what}, relative gap {gap:e}");
                }
            }
        }
    }
}

/// Two moons on a grid of 1/1024, moved by this much, which is exact for whole numbers up to 2^42.
fn moons_at(rows: usize, offset: f64) -> Dataset {
    moons_in_places(rows, |_| offset)
}

/// Two moons on a grid of 1/1024, each row moved by what `offset` says of its number.
fn moons_in_places(rows: usize, offset: impl Fn(usize) -> f64) -> Dataset {
    let data = generate("moons", rows, 11).unwrap();
    let mut numbers = vec![];
    for row in 0..data.rows() {
        data.matrix().visit(row, |_, value| numbers.push((value * 1024.0).round() / 1024.0 + offset(row)));
    }
    data.with_matrix(Matrix::dense(rows, 2, numbers).unwrap()).unwrap()
}

#[test]
fn a_gaussian_kernel_learns_the_same_wherever_the_rows_lie() {
    let params = TrainingParams {
        kernel: KernelParams::Rbf { gamma: Gamma::Value(2.0) },
        penalty: Penalty::C(100.0),
        ..TrainingParams::default()
    };
    // Solved with the whole matrix, and by blocks in single precision.
    for rows in [120, 1500] {
        let near = fit(&moons_at(rows, 0.0), params.clone());
        let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
        for offset in [2000.0, 1e6, 1e9] {
            let data = moons_at(rows, offset);
            let far = fit(&data, params.clone());
            assert_eq!(far.stop(), Stop::Converged);
            assert!((primal(&far) / primal(&near) - 1.0).abs() < 1e-3, "{} {}", primal(&far), primal(&near));
            assert!(far.verify(&data, &Workers::none()).unwrap().holds());
            // Rows whose zeros are not stored are moved with all others.
            let sparse = data.clone().with_matrix(data.matrix().to_sparse()).unwrap();
            let codes = |data: &Dataset| far.predict(data, &Workers::none()).unwrap().codes().to_vec();
            assert_eq!(codes(&data), codes(&sparse));
            let wrong = codes(&data).iter().zip(data.labels().unwrap().codes()).filter(|(a, b)| a != b).count();
            assert!(wrong * 20 < rows, "{wrong} of {rows} wrong");
            // The model keeps the rows as they came.
            let vectors = far.parts().vectors.as_ref().unwrap();
            assert!(vectors.row(0).iter().all(|&value| value > 0.9 * offset));
        }
    }
}

/// Where a row lies, by its number, in units of a distance.
type Place = fn(usize) -> f64;

#[test]
fn a_gaussian_kernel_learns_the_same_however_far_out_some_rows_lie() {
    let params = TrainingParams {
        kernel: KernelParams::Rbf { gamma: Gamma::Value(2.0) },
        penalty: Penalty::C(100.0),
        ..TrainingParams::default()
    };
    // A few rows far out, two clusters on either side of 0, and two on one side.
    let places: [(&str, Place); 3] = [
        ("a few", |row| if row < 5 { 1.0 } else { 0.0 }),
        ("two clusters", |row| if row % 4 < 2 { 1.0 } else { -1.0 }),
        ("two clusters on one side", |row| if row % 4 < 2 { 100.0 } else { 101.0 }),
    ];
    let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
    // Solved with the whole matrix, and by blocks in single precision.
    for rows in [120, 1500] {
        for (name, place) in places {
            let name = format!("{name}, {rows} rows");
            // A kernel value between places that are 64 from each other is 0 already.
            let near = fit(&moons_in_places(rows, |row| 64.0 * place(row)), params.clone());
            for distance in [1e5, 1e7] {
                let data = moons_in_places(rows, |row| distance * place(row));
                let far = fit(&data, params.clone());
                assert_eq!(far.stop(), Stop::Converged, "{name} at {distance:e}");
                let ratio = primal(&far) / primal(&near);
                assert!((ratio - 1.0).abs() < 1e-3, "{name} at {distance:e}: {} {}", primal(&far), primal(&near));
                assert!(far.verify(&data, &Workers::none()).unwrap().holds(), "{name} at {distance:e}");
                let predict = |data: &Dataset| far.predict(data, &Workers::none()).unwrap();
                let whole = predict(&data);
                let wrong = whole.codes().iter().zip(data.labels().unwrap().codes()).filter(|(a, b)| a != b).count();
                assert!(wrong * 20 < rows, "{name} at {distance:e}: {wrong} of {rows} wrong");
                // The same bits of sparse rows, and of each row by itself.
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
                let sparse = predict(&data.clone().with_matrix(data.matrix().to_sparse()).unwrap());
                for row in (0..rows).step_by(7) {
                    let alone = predict(&data.select_rows(&[row]));
                    let expected = bits(whole.decision_values(row));
                    assert_eq!(bits(alone.decision_values(0)), expected, "{name} at {distance:e}: row {row} alone");
                    assert_eq!(bits(sparse.decision_values(row)), expected, "{name} at {distance:e}: row {row} sparse");
                }
            }
        }
    }
}

#[test]
fn a_polynomial_of_rows_far_from_0_says_what_rounding_leaves_of_its_gap() {
    let kernel = KernelParams::Polynomial { gamma: Gamma::Value(1e-12), coef0: 0.0, degree: 4 };
    for solver in [SolverKind::BlockSmo, SolverKind::Smo, SolverKind::InteriorPoint] {
        let settings = Settings { max_iterations: Some(LIMIT_OF_NAMED), ..Settings::default() };
        let params = TrainingParams {
            kernel: kernel.clone(),
            penalty: Penalty::C(1e12),
            solver: Some(solver),
            settings,
            ..TrainingParams::default()
        };
        let data = moons_at(120, 1e6);
        let model = fit(&data, params);
        assert_ne!(model.stop(), Stop::Converged, "{solver:?}: {}", relative_gap(&model));
        let notes = &model.machines()[0].notes;
        assert!(notes.iter().any(|note| matches!(note, maxmargin::provenance::Note::Rounding(_))), "{notes:?}");
        assert!(model.verify(&data, &Workers::none()).unwrap().holds());
    }
}

#[test]
fn targets_of_any_size_have_the_same_verdict() {
    for scale in [1e-8, 1e-3, 1.0, 1e3, 1e8] {
        let data = numbers(5, scale);
        for (kernel, c) in [(KernelParams::Rbf { gamma: Gamma::Value(0.5) }, scale), (KernelParams::Linear, scale)] {
            for epsilon in [0.0, 0.05 * scale] {
                for solver in [None, Some(SolverKind::Smo), Some(SolverKind::BlockSmo)] {
                    let params = TrainingParams {
                        task: Task::Regression { epsilon },
                        kernel: kernel.clone(),
                        penalty: Penalty::C(c),
                        solver,
                        ..TrainingParams::default()
                    };
                    let model = fit(&data, params);
                    let what = format!("targets of {scale:e}, {kernel:?}, epsilon {epsilon:e}, {solver:?}");
                    assert_eq!(model.stop(), Stop::Converged, "{what}: relative gap {:e}", relative_gap(&model));
                    assert!(relative_gap(&model) <= Settings::KERNEL_GAP, "{what}: {:e}", relative_gap(&model));
                }
            }
        }
    }
}

#[test]
fn a_large_c_and_a_kernel_that_is_nearly_singular_converge_on_few_rows() {
    for (c, gamma) in [(1e6, 1e-3), (1e4, 0.1), (1e6, 10.0), (1e3, 1e-4)] {
        for bias in [Bias::Explicit, Bias::Folded] {
            let params = TrainingParams {
                kernel: KernelParams::Rbf { gamma: Gamma::Value(gamma) },
                penalty: Penalty::C(c),
                bias,
                ..TrainingParams::default()
            };
            let model = fit(&two_classes(9, 1.0), params);
            let machine = &model.machines()[0];
            assert_eq!(model.stop(), Stop::Converged, "C {c:e}, gamma {gamma}, {bias:?}: {:?}", machine.evidence);
            assert!(machine.iterations < 20_000, "C {c:e}, gamma {gamma}, {bias:?}: {} steps", machine.iterations);
        }
    }
}

/// Breaks at a poll, as a clock would.
struct Limited {
    polls: u64,
    limit: u64,
}

impl Control for Limited {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.polls += 1;
        if self.polls > self.limit { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    }

    fn spent(&self) -> Option<f64> {
        Some(self.polls as f64 / self.limit.max(1) as f64)
    }
}

#[test]
fn what_a_short_time_limit_leaves_is_better_than_chance() {
    let data = generate("moons", 20_000, 3).unwrap();
    let params = TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Value(2.0) }, ..TrainingParams::default() };
    let training = params.check().unwrap();
    for limit in [6, 12, 40] {
        let model = training.fit(&data, &Workers::none(), &mut Limited { polls: 0, limit }).unwrap();
        let errors = model.machines()[0].training_errors as f64 / data.rows() as f64;
        assert!(errors < 0.15, "{limit} polls, {}: {errors}", model.stop().name());
    }
}

#[test]
fn a_time_limit_that_is_over_at_once_still_leaves_a_model_of_use() {
    // In four directions from the middle, so that a line through it tells each class from the rest.
    let mut generator = Pcg64::seed_from_u64(5);
    let (mut numbers, mut labels) = (vec![], vec![]);
    for k in 0..4_000 {
        let (x, y) = [(5.0, 0.0), (0.0, 5.0), (-5.0, 0.0), (0.0, -5.0)][k % 4];
        numbers.extend([x + generator.random::<f64>(), y + generator.random::<f64>()]);
        labels.push(Label::new(["a", "b", "c", "d"][k % 4]));
    }
    let data = Dataset::new(Matrix::dense(4_000, 2, numbers).unwrap(), Labels::new(labels)).unwrap();
    let kernels = [KernelParams::Linear, KernelParams::Rbf { gamma: Gamma::Value(0.1) }];
    for (kernel, solver) in kernels
        .into_iter()
        .zip([SolverKind::PrimalNewton, SolverKind::BlockSmo])
        .chain([(KernelParams::Linear, SolverKind::DualAscent)])
    {
        let training = TrainingParams { kernel, solver: Some(solver), ..TrainingParams::default() }.check().unwrap();
        for threads in [1, 2] {
            let workers = Workers::new(threads).unwrap();
            let model = training.fit(&data, &workers, &mut Limited { polls: 0, limit: 0 }).unwrap();
            let errors = model.machines().iter().map(|machine| machine.training_errors).sum::<usize>();
            assert_eq!(model.stop(), Stop::TimeLimit, "{solver:?}");
            assert!(errors < 200, "{solver:?} on {threads} threads: {errors} errors of all machines");
        }
    }
}

#[test]
fn a_small_fit_has_the_same_digits_at_any_tolerance() {
    for seed in 0..5 {
        let data = two_classes(seed, 1.0);
        for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
            let weights = |settings: Settings, solver: Option<SolverKind>| {
                let model =
                    fit(&data, TrainingParams { loss: Some(loss), solver, settings, ..TrainingParams::default() });
                assert_eq!(model.stop(), Stop::Converged, "seed {seed}, {}", loss.name());
                model.machines()[0].weights.clone().unwrap()
            };
            let at = |gap: f64| Settings { gap: Some(gap), ..Settings::default() };
            let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let (coarse, fine) = (weights(at(1e-2), None), weights(at(1e-8), None));
            assert!(far(&coarse, &fine) < 1e-6, "seed {seed}, {}: {coarse:?} and {fine:?}", loss.name());
            if loss == Loss::Hinge {
                // The measure can fail: a solver that is named goes as far as it is asked to.
                let named = weights(at(1e-2), Some(SolverKind::DualAscent));
                assert!(far(&named, &fine) > 1e-6, "seed {seed}");
            }
        }
    }
}
