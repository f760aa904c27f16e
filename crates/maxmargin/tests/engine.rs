//! `block-smo` where its blocks, its shrinking and its second look have work to do: problems of more than 2048 rows, against
//! `smo`, the optimality conditions computed from scratch, and a general solver.
#![allow(clippy::unwrap_used)] // all of this file is tests

mod oracle;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use maxmargin::checkpoint::MachineState;
use maxmargin::data::{Dataset, Label, Labels, Matrix, generate};
use maxmargin::kernel::{Custom, Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::solver::{Precision, Settings, SolverKind};
use maxmargin::training::{Beginning, Penalty};
use maxmargin::{Checkpoint, CheckpointControl, Control, Model, Progress, Stop, TrainingParams, Unattended, Workers};
use oracle::problems::{FORMULAS, Formula, normal, random};
use oracle::program::optimum;
use oracle::{Answer, Case};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const TOLERANCE: f64 = 1e-4;

/// A problem, as the library gets it and as the oracle sees it.
struct Problem {
    name: &'static str,
    formula: Formula,
    data: Dataset,
    params: TrainingParams,
    case: Case,
}

/// Rows and their signs.
type Points = (Vec<Vec<f64>>, Vec<f64>);

impl Problem {
    fn new(name: &'static str, (points, signs): Points, formula: Formula, cost: f64) -> Self {
        let rows = points.len();
        let matrix = match formula {
            Formula::Precomputed(_) => {
                let row = |x: &Vec<f64>| points.iter().map(|z| formula.value(x, z)).collect::<Vec<f64>>();
                Matrix::dense(rows, rows, points.iter().flat_map(row).collect::<Vec<f64>>()).unwrap()
            }
            _ => Matrix::dense(rows, points[0].len(), points.concat()).unwrap(),
        };
        let labels = Labels::new(signs.iter().map(|&sign| Label::new(if sign > 0.0 { "+1" } else { "-1" })));
        let data = Dataset::new(matrix, labels).unwrap();
        let params = TrainingParams {
            kernel: formula.params(),
            penalty: Penalty::C(cost),
            solver: Some(SolverKind::BlockSmo),
            settings: Settings { tolerance: Some(TOLERANCE), ..Settings::default() },
            ..TrainingParams::default()
        };
        let (costs, loss, bias) = (vec![cost; rows], Loss::Hinge, Bias::Explicit);
        let case = Case { gram: vec![], rows: points, signs, costs, loss, bias };
        Problem { name, formula, data, params, case }
    }

    fn of(mut self, loss: Loss, bias: Bias) -> Self {
        (self.params.loss, self.params.bias) = (Some(loss), bias);
        (self.case.loss, self.case.bias) = (loss, bias);
        self
    }

    fn weighted(mut self, seed: u64) -> Self {
        let mut generator = Pcg64::seed_from_u64(seed);
        let weights: Vec<f64> = self.case.costs.iter().map(|_| generator.random_range(0.2..3.0)).collect();
        self.case.costs.iter_mut().zip(&weights).for_each(|(cost, weight)| *cost *= weight);
        self.data = self.data.with_weights(weights).unwrap();
        self
    }

    fn sparse(mut self) -> Self {
        let matrix = self.data.matrix().to_sparse();
        self.data = self.data.with_matrix(matrix).unwrap();
        self
    }

    fn double(mut self) -> Self {
        self.params.settings.precision = Precision::Double;
        self
    }

    fn fit_by(&self, solver: SolverKind) -> Model {
        let params = TrainingParams { solver: Some(solver), ..self.params.clone() };
        params.check().unwrap().fit(&self.data, &Workers::none(), &mut Unattended).unwrap()
    }

    fn judge(&self, model: &Model) -> oracle::Verdict {
        self.case.judge_without_gram(&Answer::of(model), |x, z| self.formula.value(x, z))
    }
}

/// Rows of a generator of the library, some of their labels turned.
fn generated(name: &str, rows: usize, seed: u64, turned: f64) -> Points {
    let data = generate(name, rows, seed).unwrap();
    let mut generator = Pcg64::seed_from_u64(seed);
    let sign = |row: usize| if data.labels().unwrap().get(row).text() == "+1" { 1.0 } else { -1.0 };
    let signs = (0..rows).map(|row| if generator.random::<f64>() < turned { -sign(row) } else { sign(row) }).collect();
    ((0..rows).map(|row| data.matrix().row(row)).collect(), signs)
}

/// Normal rows; the sign is that of a curved function and some noise.
fn curved(rows: usize, columns: usize, seed: u64, noise: f64) -> Points {
    let mut generator = Pcg64::seed_from_u64(seed);
    let points: Vec<Vec<f64>> = (0..rows).map(|_| (0..columns).map(|_| normal(&mut generator)).collect()).collect();
    let side = |x: &Vec<f64>| x[0] + x[1] * x[columns - 1] + noise * normal(&mut generator);
    let signs = points.iter().map(side).map(f64::signum).collect();
    (points, signs)
}

/// Rows of zeros and ones, about a fifth of them ones.
fn binary(rows: usize, columns: usize, seed: u64) -> Points {
    let mut generator = Pcg64::seed_from_u64(seed);
    let bit = |_| f64::from(u8::from(generator.random_bool(0.2)));
    let values: Vec<f64> = (0..rows * columns).map(bit).collect();
    let points: Vec<Vec<f64>> = values.chunks(columns).map(<[f64]>::to_vec).collect();
    let side = |x: &Vec<f64>| {
        let sum: f64 = x.iter().enumerate().map(|(k, x)| if k % 3 == 0 { *x } else { -0.5 * x }).sum();
        sum + 0.5 * x[0] * x[1] + 0.7 * normal(&mut generator)
    };
    let signs = points.iter().map(side).map(f64::signum).collect();
    (points, signs)
}

fn absolute((mut points, signs): Points) -> Points {
    points.iter_mut().flatten().for_each(|value| *value = value.abs());
    (points, signs)
}

/// Every row three times, the third time with any label, and some rows of zeros.
fn repeated((points, signs): Points, seed: u64) -> Points {
    let mut generator = Pcg64::seed_from_u64(seed);
    let any = signs.iter().map(|_| if generator.random::<bool>() { 1.0 } else { -1.0 }).collect();
    let mut all: Vec<Vec<f64>> = [&points[..], &points, &points].concat();
    let mut all_signs: Vec<f64> = [signs.clone(), signs, any].concat();
    for k in 0..60 {
        all.push(vec![0.0; points[0].len()]);
        all_signs.push(if k % 3 == 0 { 1.0 } else { -1.0 });
    }
    (all, all_signs)
}

/// Every kernel, loss, bias and storage, with more rows than one block has.
fn problems() -> Vec<Problem> {
    use Formula::*;
    let new = Problem::new;
    vec![
        new("moons", generated("moons", 3500, 1, 0.1), Rbf(1.0), 1.0),
        new("rings", generated("rings", 2800, 2, 0.05), Rbf(2.0), 100.0),
        new("blobs", generated("blobs", 2500, 3, 0.05), Linear, 0.1),
        new("blobs without a bias", generated("blobs", 2500, 4, 0.05), Linear, 0.1).of(Loss::Hinge, Bias::None),
        new("binary", binary(2500, 60, 5), Rbf(0.1), 1.0).sparse(),
        new("binary, folded", binary(2500, 60, 6), Polynomial(0.1, 1.0, 2), 0.1).sparse().of(Loss::Hinge, Bias::Folded),
        new("polynomial", curved(2500, 8, 7, 0.5), Polynomial(0.1, 1.0, 3), 1.0).of(Loss::Squared, Bias::Folded),
        new("laplacian", generated("moons", 2400, 8, 0.1), Laplacian(1.0), 1.0).of(Loss::Hinge, Bias::None),
        new("chi-square", absolute(generated("moons", 2400, 9, 0.05)), ChiSquare(1.0), 2.0).weighted(9),
        new("sigmoid", curved(2400, 4, 10, 1.0), Sigmoid(0.01, 0.0), 1.0),
        new("precomputed", generated("moons", 2200, 11, 0.1), Precomputed(1.0), 1.0),
        new("sum", generated("rings", 2400, 12, 0.1), Sum(1.0), 1.0).of(Loss::Squared, Bias::None),
        new("product", generated("rings", 2400, 13, 0.1), Product(1.0), 1.0),
        new("custom", generated("moons", 2400, 14, 0.1), Custom, 1.0).of(Loss::Squared, Bias::Explicit),
        new("repeated", repeated(generated("moons", 800, 15, 0.1), 15), Rbf(1.0), 10.0),
        new("repeated, squared", repeated(curved(800, 3, 16, 0.2), 16), Rbf(0.3), 10.0)
            .of(Loss::Squared, Bias::Explicit)
            .weighted(16),
        new("double", curved(2500, 10, 17, 0.5), Rbf(0.1), 10.0).weighted(17).double(),
        new("double, sparse, free", binary(2300, 40, 18), Rbf(0.1), 1.0).sparse().double().of(Loss::Hinge, Bias::None),
        new("weighted", curved(2600, 10, 19, 0.5), Rbf(0.1), 1.0).weighted(19).of(Loss::Squared, Bias::Folded),
    ]
}

#[test]
fn many_rows_end_where_smo_ends_and_the_conditions_hold() {
    let mut wrong = vec![];
    for problem in problems() {
        let (model, other) = (problem.fit_by(SolverKind::BlockSmo), problem.fit_by(SolverKind::Smo));
        let (verdict, reference) = (problem.judge(&model), problem.judge(&other));
        let machine = &model.machines()[0];
        println!("{}: {:?}, {} steps, {verdict:?}", problem.name, machine.stop, machine.iterations);
        let mut demand = |holds: bool, what: String| {
            if !holds {
                wrong.push(format!("{}: {what}", problem.name));
            }
        };
        demand(machine.stop == Stop::Converged, format!("{:?}", machine.stop));
        demand(verdict.violation <= TOLERANCE + verdict.rounding, format!("{verdict:?}"));
        let mass: f64 = machine.coefficients.iter().map(|c| c.abs()).sum();
        demand(verdict.infeasibility <= 1e-12 * mass, format!("{verdict:?}"));
        let verification = model.verify(&problem.data, &Workers::none()).unwrap();
        demand(verification.holds(), format!("{:?}", verification.disagreements));
        let Some(certificate) = machine.evidence.certificate() else {
            demand(matches!(problem.formula, Formula::Sigmoid(..)), "no certificate".into());
            continue;
        };
        demand(certificate.violation <= TOLERANCE, format!("{certificate:?}"));
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 + verdict.rounding;
        demand(same(certificate.violation, verdict.violation), format!("{certificate:?} is {verdict:?}"));
        let size = reference.dual.abs();
        demand((certificate.dual - verdict.dual).abs() <= 1e-9 * size, format!("{certificate:?} is {verdict:?}"));
        demand((certificate.primal - verdict.primal).abs() <= 1e-7 * size, format!("{certificate:?} is {verdict:?}"));
        demand((verdict.dual - reference.dual).abs() <= 1e-6 * size, format!("dual {verdict:?}, not {reference:?}"));
        // Weak duality, each by the other.
        demand(verdict.dual <= reference.primal + 1e-9 * size, format!("{verdict:?}, {reference:?}"));
        demand(reference.dual <= verdict.primal + 1e-9 * size, format!("{verdict:?}, {reference:?}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn either_precision_finds_the_optimum_of_small_problems() {
    // All kernels, losses and biases.
    for seed in 0..6 * FORMULAS {
        let problem = random(seed);
        if matches!(problem.formula, Formula::Sigmoid(..)) {
            continue;
        }
        let optimum = optimum(&problem.case);
        for precision in [Precision::Single, Precision::Double] {
            let settings = Settings { tolerance: Some(1e-6), precision, ..Settings::default() };
            let params = TrainingParams { solver: Some(SolverKind::BlockSmo), settings, ..problem.params.clone() };
            let model = params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
            let verdict = problem.case.judge(&Answer::of(&model));
            let name = format!("seed {seed} ({}), {precision:?}: {verdict:?}, {optimum:?}", problem.describe());
            assert_eq!(model.stop(), Stop::Converged, "{name}");
            assert!(verdict.violation <= 1e-6 + verdict.rounding, "{name}");
            let rounding = verdict.rounding * (1.0 + problem.case.costs.iter().sum::<f64>());
            assert!(optimum.distance(verdict.dual) <= 1e-6 * optimum.size() + 1e-9 + rounding, "{name}");
        }
    }
}

#[test]
fn the_oracle_of_many_rows_is_that_of_few_and_notices_a_wrong_multiplier() {
    for seed in [2, 13, 24, 35, 46, 57] {
        let problem = random(seed);
        let settings = Settings { tolerance: Some(1e-8), ..Settings::default() };
        let params = TrainingParams { solver: Some(SolverKind::BlockSmo), settings, ..problem.params.clone() };
        let model = params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
        let mut answer = Answer::of(&model);
        let judge = |answer: &Answer| problem.case.judge_without_gram(answer, |x, z| problem.formula.value(x, z));
        let (found, expected) = (judge(&answer), problem.case.judge(&answer));
        assert!((found.dual - expected.dual).abs() <= 1e-10 * expected.dual.abs(), "seed {seed}");
        assert!((found.violation - expected.violation).abs() <= 1e-10 + expected.rounding, "seed {seed}");
        let largest = answer.coefficients.iter().map(|c| c.abs()).fold(0.0, f64::max);
        let place = answer.coefficients.iter().position(|c| c.abs() == largest).unwrap();
        answer.coefficients[place] *= 0.9;
        assert!(judge(&answer).violation > 1e-6, "seed {seed}");
    }
}

/// Breaks at a poll, and from then on.
struct BreakAt {
    polls: u64,
    last: u64,
}

impl Control for BreakAt {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.polls += 1;
        if self.polls > self.last { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

/// Few rows a block, so that there are many polls: more than 2048 rows, and work between the polls of one block.
fn slow_to_poll() -> Vec<Problem> {
    vec![
        Problem::new("moons", generated("moons", 2600, 21, 0.1), Formula::Rbf(1.0), 10.0),
        Problem::new("laplacian", curved(2200, 24, 22, 0.5), Formula::Laplacian(0.02), 10.0),
        Problem::new("free", generated("rings", 2500, 23, 0.1), Formula::Rbf(1.0), 10.0).of(Loss::Squared, Bias::None),
    ]
}

#[test]
fn an_interrupted_model_says_so_and_its_certificate_is_true() {
    for (seed, problem) in slow_to_poll().into_iter().enumerate() {
        let training = problem.params.clone().check().unwrap();
        let mut all = BreakAt { polls: 0, last: u64::MAX };
        let whole = training.fit(&problem.data, &Workers::none(), &mut all).unwrap();
        let mut generator = Pcg64::seed_from_u64(seed as u64);
        let mut places: Vec<u64> = (0..3).map(|_| generator.random_range(0..all.polls)).collect();
        places.extend([0, all.polls - 1]);
        places.sort_unstable();
        let mut reached = 0.0;
        for last in places {
            let name = format!("{}, broken at poll {last} of {}", problem.name, all.polls);
            let model = training.fit(&problem.data, &Workers::none(), &mut BreakAt { polls: 0, last }).unwrap();
            assert_eq!(model.stop(), Stop::Interrupted, "{name}");
            let (verdict, machine) = (problem.judge(&model), &model.machines()[0]);
            let certificate = machine.evidence.certificate().unwrap();
            let same = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-9 * size.max(1.0) + verdict.rounding;
            assert!(
                same(certificate.violation, verdict.violation, verdict.violation),
                "{name}: {certificate:?} {verdict:?}"
            );
            assert!(same(certificate.dual, verdict.dual, verdict.dual.abs()), "{name}: {certificate:?} {verdict:?}");
            assert!(model.verify(&problem.data, &Workers::none()).unwrap().holds(), "{name}");
            // What was reached is not thrown away.
            assert!(verdict.dual >= reached * (1.0 - 1e-9), "{name}: {verdict:?}, {reached} before");
            reached = verdict.dual;
        }
        // The next fit is right.
        let next = training.fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
        assert_eq!(Answer::of(&next).coefficients, Answer::of(&whole).coefficients, "{}", problem.name);
    }
}

/// How many kernel values were computed between two polls at most, and after the last one.
struct Meter {
    values: Arc<AtomicU64>,
    before: u64,
    most: u64,
    polls: u64,
    last: u64,
}

impl Control for Meter {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        let now = self.values.load(Ordering::Relaxed);
        self.most = self.most.max(now - self.before);
        (self.before, self.polls) = (now, self.polls + 1);
        if self.polls > self.last { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

impl CheckpointControl for Meter {}

#[test]
fn polls_come_often_whatever_a_kernel_value_costs() {
    let rows = 3300;
    for columns in [2, 24] {
        let values = Arc::new(AtomicU64::new(0));
        let counted = values.clone();
        let kernel = Custom::new("counted", move |x, z| {
            counted.fetch_add(1, Ordering::Relaxed);
            1.0 / (1.0 + x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>())
        });
        let problem = Problem::new("counted", curved(rows, columns, 31, 0.5), Formula::Custom, 1.0);
        let params = TrainingParams { kernel: KernelParams::Custom(kernel), ..problem.params.clone() };
        let training = params.check().unwrap();
        let meter =
            |last| Meter { values: values.clone(), before: values.load(Ordering::Relaxed), most: 0, polls: 0, last };
        let mut cold = meter(u64::MAX);
        let model = training.fit(&problem.data, &Workers::none(), &mut cold).unwrap();
        let mut warm = meter(u64::MAX);
        training.fit_from(&problem.data, Beginning::Model(&model), &Workers::none(), &mut warm).unwrap();
        let mut broken = meter(cold.polls / 2);
        training.fit(&problem.data, &Workers::none(), &mut broken).unwrap();
        let after = values.load(Ordering::Relaxed) - broken.before;
        println!(
            "{columns} columns: {} polls, {} support vectors, at most {} values between two, {} from a model, {after} after a break",
            cold.polls,
            model.parts().support_rows.len(),
            cold.most,
            warm.most,
        );
        // The kernel values of the largest block, and as many to move it.
        let bound = 2048 * 2048 + 2048 * rows as u64;
        assert!(cold.most <= bound, "{columns} columns: {} kernel values between two polls", cold.most);
        assert!(warm.most <= bound, "{columns} columns: {} kernel values between two polls, from a model", warm.most);
    }
}

#[test]
fn from_a_model_the_same_optimum_is_found_in_few_steps_or_at_another_penalty() {
    for problem in slow_to_poll() {
        let from = |model: &Model, cost: f64| {
            let params = TrainingParams { penalty: Penalty::C(cost), ..problem.params.clone() };
            let training = params.check().unwrap();
            let warm =
                training.fit_from(&problem.data, Beginning::Model(model), &Workers::none(), &mut Unattended).unwrap();
            (warm, training.fit(&problem.data, &Workers::none(), &mut Unattended).unwrap())
        };
        let model = problem.fit_by(SolverKind::BlockSmo);
        let (again, cold) = from(&model, 10.0);
        let name = problem.name;
        assert_eq!(again.stop(), Stop::Converged, "{name}");
        let steps = (again.machines()[0].iterations, cold.machines()[0].iterations);
        // About a tenth; how many exactly hangs on rounding, which decides how near to the tolerance the model is.
        assert!(steps.0 * 5 <= steps.1, "{name}: {steps:?} steps");
        let dual = |model: &Model| model.machines()[0].evidence.certificate().unwrap().dual;
        assert!((dual(&again) - dual(&cold)).abs() <= 1e-6 * dual(&cold), "{name}");
        for cost in [3.0, 30.0] {
            let (warm, cold) = from(&model, cost);
            assert_eq!(warm.stop(), Stop::Converged, "{name}, C {cost}");
            let found = warm.machines()[0].evidence.certificate().unwrap();
            assert!(found.violation <= TOLERANCE, "{name}, C {cost}: {found:?}");
            assert!((found.dual - dual(&cold)).abs() <= 1e-6 * dual(&cold), "{name}, C {cost}: {found:?}");
        }
    }
}

/// Keeps the checkpoint of one poll.
struct KeepAt {
    polls: u64,
    at: u64,
    kept: Option<Checkpoint>,
}

impl Control for KeepAt {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.polls += 1;
        ControlFlow::Continue(())
    }
}

impl CheckpointControl for KeepAt {
    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        self.polls == self.at
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.kept.get_or_insert_with(|| checkpoint.clone());
    }
}

#[test]
fn a_checkpoint_of_absurd_numbers_ends_in_a_model_all_the_same() {
    let problem = &slow_to_poll()[0];
    let training = problem.params.clone().check().unwrap();
    let mut control = KeepAt { polls: 0, at: 3, kept: None };
    let model = training.fit_from(&problem.data, Beginning::Scratch, &Workers::none(), &mut control).unwrap();
    let kept = control.kept.unwrap();
    let expected = problem.judge(&model).dual;
    let MachineState::Running { snapshot, .. } = &kept.machines[0] else { panic!("it is running") };
    for list in 0..snapshot.lists.len() {
        for place in (0..snapshot.lists[list].len().min(4)).take(if list < 3 { 1 } else { 4 }) {
            for absurd in [0, u64::MAX, 1 << 40] {
                let mut other = kept.clone();
                let MachineState::Running { snapshot, .. } = &mut other.machines[0] else { unreachable!() };
                snapshot.lists[list][place] = absurd;
                let name = format!("number {place} of list {list} is {absurd}");
                let beginning = Beginning::Checkpoint(other);
                let model = training.fit_from(&problem.data, beginning, &Workers::none(), &mut Unattended).unwrap();
                let verdict = problem.judge(&model);
                assert!(
                    model.stop() != Stop::Converged || (verdict.dual - expected).abs() <= 1e-6 * expected,
                    "{name}"
                );
            }
        }
    }
}

/// Many rows of a curve with noise, for tasks other than two classes.
fn noisy_curve(rows: usize, seed: u64) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let points: Vec<f64> = (0..2 * rows).map(|_| generator.random_range(-2.0..2.0)).collect();
    let target = |x: &[f64]| (2.0 * x[0]).sin() + x[1] * x[1] + 0.4 * normal(&mut generator);
    let targets: Vec<f64> = points.chunks(2).map(target).collect();
    Dataset::new(Matrix::dense(rows, 2, points).unwrap(), targets).unwrap()
}

#[test]
fn what_is_remembered_between_checks_is_in_the_certificate_and_in_the_checkpoint() {
    let data = noisy_curve(2600, 3);
    let mut remembered = 0;
    for task in [Task::Regression { epsilon: 0.1 }, Task::NuRegression { nu: 0.4 }, Task::OneClass { nu: 0.1 }] {
        let params = TrainingParams {
            task,
            kernel: KernelParams::Rbf { gamma: Gamma::Value(2.0) },
            penalty: Penalty::C(10.0),
            solver: Some(SolverKind::BlockSmo),
            settings: Settings { tolerance: Some(TOLERANCE), ..Settings::default() },
            ..TrainingParams::default()
        };
        let training = params.check().unwrap();
        let mut counted = KeepAt { polls: 0, at: u64::MAX, kept: None };
        let model = training.fit(&data, &Workers::none(), &mut counted).unwrap();
        assert_eq!(model.stop(), Stop::Converged, "{task:?}");
        assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{task:?}");
        let content = |model: &Model| format!("{:?}", model.parts());
        // The polls of the last checks, and one before.
        for at in (counted.polls.saturating_sub(6)..=counted.polls).chain([counted.polls / 2]) {
            let mut control = KeepAt { polls: 0, at, kept: None };
            training.fit_from(&data, Beginning::Scratch, &Workers::none(), &mut control).unwrap();
            let Some(kept) = control.kept else { continue };
            let MachineState::Running { snapshot, .. } = &kept.machines[0] else { continue };
            // Beside the objective: what rows were set aside with, or are known in double precision.
            remembered += u64::from(snapshot.numbers.len() > 1);
            let beginning = Beginning::Checkpoint(kept);
            let again = training.fit_from(&data, beginning, &Workers::none(), &mut Unattended).unwrap();
            assert_eq!(content(&again), content(&model), "{task:?}, poll {at} of {}", counted.polls);
        }
    }
    assert!(remembered >= 6, "{remembered}");
}

#[test]
fn gamma_that_is_nothing_or_everything_in_single_precision_is_no_trap() {
    for gamma in [1e-60, 1e-30, 1e30, 1e60] {
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(gamma) };
        let problem = Problem::new("gamma", generated("moons", 300, 41, 0.1), Formula::Rbf(gamma), 1.0);
        let params = TrainingParams { kernel, ..problem.params.clone() };
        let model = params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
        let verdict = problem.judge(&model);
        assert!(verdict.violation <= TOLERANCE + verdict.rounding, "gamma {gamma:e}: {:?} {verdict:?}", model.stop());
    }
}

/// Rows of several classes around a ring, not in the order of their classes.
fn ring(rows: usize, classes: usize, seed: u64) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let codes: Vec<usize> = (0..rows).map(|_| generator.random_range(0..classes)).collect();
    let mut point = |code: usize| {
        let angle = std::f64::consts::TAU * code as f64 / classes as f64;
        let (x, y) = (angle.cos() + 0.5 * normal(&mut generator), angle.sin() + 0.5 * normal(&mut generator));
        [x, y]
    };
    let values: Vec<f64> = codes.iter().flat_map(|&code| point(code)).collect();
    let labels = Labels::new(codes.iter().map(|code| Label::new(code.to_string())));
    Dataset::new(Matrix::dense(rows, 2, values).unwrap(), labels).unwrap()
}

#[test]
fn values_shared_between_machines_change_no_bit() {
    let data = ring(1200, 3, 5);
    let weights = (0..1200).map(|row| if row % 7 == 0 { 0.0 } else { 1.0 }).collect();
    let weighted = data.clone().with_weights(weights).unwrap();
    // So many bytes that a machine has room, but not beside all values of its classes.
    let (little, more) = (10 << 20, 30 << 20);
    for (data, multiclass, little) in [
        (&data, Multiclass::OneVsOne, little),
        (&weighted, Multiclass::OneVsOne, little),
        (&data, Multiclass::OneVsRest, more),
    ] {
        let fit = |memory: u64, threads: usize| {
            let params = TrainingParams {
                kernel: KernelParams::Rbf { gamma: Gamma::Value(2.0) },
                penalty: Penalty::C(10.0),
                solver: Some(SolverKind::BlockSmo),
                multiclass: Some(multiclass),
                settings: Settings { memory, ..Settings::default() },
                ..TrainingParams::default()
            };
            params.check().unwrap().fit(data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap()
        };
        let expected = fit(1 << 30, 1);
        assert_eq!(expected.stop(), Stop::Converged);
        for (memory, threads) in [(little, 1), (1 << 30, 2), (1 << 30, 3)] {
            let model = fit(memory, threads);
            assert_eq!(model.parts().support_rows, expected.parts().support_rows);
            for (machine, expected) in model.machines().iter().zip(expected.machines()) {
                assert_eq!(
                    machine.coefficients, expected.coefficients,
                    "{multiclass:?}, {memory} bytes, {threads} threads"
                );
                assert_eq!(machine.bias.to_bits(), expected.bias.to_bits());
            }
        }
        let errors = training_errors(&expected, data);
        assert!(errors < 500, "{errors} errors");
        assert!(expected.verify(data, &Workers::none()).unwrap().holds());
    }
}

fn training_errors(model: &Model, data: &Dataset) -> usize {
    let predictions = model.predict(data, &Workers::none()).unwrap();
    predictions.codes().iter().zip(data.labels().unwrap().codes()).filter(|(found, code)| found != code).count()
}
