//! Machines on landmarks: the best on their landmarks, as far from the exact machine as they prove at most, and true to what they say.
#![allow(clippy::unwrap_used)] // all of this file is tests

mod oracle;

use std::ops::ControlFlow;

use maxmargin::certificate::Certificate;
use maxmargin::data::{Answers, Dataset, Label, Labels, Matrix, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Penalty, Task};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::Landmarks;
use maxmargin::{Beginning, Error, Model, Note, Progress, Stop, Svc, Svr, TrainingParams, Unattended, Workers};
use oracle::problems::normal;
use rand::SeedableRng;
use rand_pcg::Pcg64;

const GAMMA: f64 = 0.7;
const C: f64 = 1.5;
const EPSILON: f64 = 0.2;

/// Rows of three columns: two classes that overlap, or numbers that follow a wave with noise.
fn rows(seed: u64, count: usize, is_regression: bool) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let (mut values, mut codes, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..count {
        let x: [f64; 3] = std::array::from_fn(|_| normal(&mut generator));
        let wave = (1.5 * x[0]).sin() + x[1] * x[2];
        codes.push(if row < 2 { row as u32 } else { u32::from(wave + 0.5 * normal(&mut generator) > 0.0) });
        numbers.push(3.0 * wave + 0.3 * normal(&mut generator));
        values.extend(x);
    }
    let matrix = Matrix::dense(count, 3, values).unwrap();
    if is_regression {
        return Dataset::new(matrix, Answers::Numbers(numbers)).unwrap();
    }
    let labels = Labels::from_codes(&["-1", "1"].map(Label::new), &codes).unwrap();
    Dataset::new(matrix, labels).unwrap()
}

fn params(landmarks: Option<usize>) -> TrainingParams {
    TrainingParams {
        kernel: KernelParams::Rbf { gamma: Gamma::Value(GAMMA) },
        penalty: Penalty::C(C),
        landmarks: landmarks.map(|count| Landmarks { count, prove: true, until: None }),
        settings: Settings { gap: Some(1e-8), ..Settings::default() },
        ..TrainingParams::default()
    }
}

/// The exact machine, to many digits.
fn exact(like: &TrainingParams) -> TrainingParams {
    let settings = Settings { tolerance: Some(1e-8), gap: Some(1e-9), ..like.settings.clone() };
    TrainingParams { landmarks: None, settings, ..like.clone() }
}

fn fit(data: &Dataset, params: &TrainingParams) -> Model {
    params.clone().check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn certificate(model: &Model) -> &Certificate {
    model.machines()[0].evidence.certificate().unwrap()
}

/// Every loss and bias that landmarks go with.
fn problems() -> Vec<(bool, TrainingParams)> {
    let mut all = Vec::new();
    for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
        for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
            all.push((false, TrainingParams { loss: Some(loss), bias, ..params(Some(12)) }));
        }
        for loss in [Loss::Hinge, Loss::Squared] {
            let task = Task::Regression { epsilon: EPSILON };
            all.push((true, TrainingParams { task, loss: Some(loss), bias, ..params(Some(12)) }));
        }
    }
    all
}

/// The problem on some landmarks, written down naively: a dense kernel matrix, elimination, and the formulas of each loss.
struct Naive {
    kernel: Vec<Vec<f64>>,
    targets: Vec<f64>,
    landmarks: Vec<usize>,
    is_regression: bool,
    loss: Loss,
    bias: Bias,
}

impl Naive {
    fn new(data: &Dataset, params: &TrainingParams, model: &Model) -> Self {
        let is_regression = params.task.is_regression();
        let row = |i: usize| data.matrix().row(i);
        // A constant that is folded into rows is in no difference of two of them.
        let kernel = |i: usize, j: usize| {
            let squares: f64 = row(i).iter().zip(row(j)).map(|(a, b)| (a - b).powi(2)).sum();
            (-GAMMA * squares).exp()
        };
        let targets = if is_regression {
            data.numbers().unwrap().to_vec()
        } else {
            data.labels().unwrap().codes().iter().map(|&code| 2.0 * f64::from(code) - 1.0).collect()
        };
        Naive {
            kernel: (0..data.rows()).map(|i| (0..data.rows()).map(|j| kernel(i, j)).collect()).collect(),
            targets,
            landmarks: model.parts().support_rows.iter().map(|&row| row as usize).collect(),
            is_regression,
            loss: params.loss.unwrap_or_default(),
            bias: params.bias,
        }
    }

    /// ½ b'Kb + C Σ ℓ of a sum over the landmarks.
    fn primal(&self, coefficients: &[f64], bias: f64) -> f64 {
        let sum = |i: usize| self.landmarks.iter().zip(coefficients).map(|(&j, b)| b * self.kernel[i][j]).sum::<f64>();
        let norm: f64 = self.landmarks.iter().zip(coefficients).map(|(&j, b)| b * sum(j)).sum();
        let cost = |(i, &t): (usize, &f64)| {
            let f = sum(i) + bias;
            let slack = if self.is_regression { (f - t).abs() - EPSILON } else { 1.0 - t * f }.max(0.0);
            match self.loss {
                Loss::Hinge => slack,
                Loss::Squared => slack * slack,
                Loss::Logistic => (-t * f).exp().ln_1p(),
            }
        };
        0.5 * norm + C * self.targets.iter().enumerate().map(cost).sum::<f64>()
    }

    /// The dual objective with the quadratic form of some kernel matrix: infinitely low for a point that is not feasible.
    fn dual(&self, dual: &[f64], quadratic: f64) -> f64 {
        let is_feasible = |(&c, &t): (&f64, &f64)| match (self.is_regression, self.loss) {
            (false, Loss::Squared) => t * c >= -1e-12,
            (false, _) => (-1e-12..=C + 1e-9).contains(&(t * c)),
            (true, Loss::Squared) => true,
            (true, _) => c.abs() <= C + 1e-9,
        };
        let sum: f64 = dual.iter().sum();
        let size: f64 = dual.iter().map(|c| c.abs()).sum();
        if !dual.iter().zip(&self.targets).all(is_feasible) || self.bias == Bias::Explicit && sum.abs() > 1e-7 * size {
            return f64::NEG_INFINITY;
        }
        let entropy = |p: f64| if p <= 0.0 || p >= 1.0 { 0.0 } else { -p * p.ln() - (1.0 - p) * (1.0 - p).ln() };
        let term = |(&c, &t): (&f64, &f64)| {
            let tube = if self.is_regression { EPSILON * c.abs() } else { 0.0 };
            match self.loss {
                Loss::Hinge => t * c - tube,
                Loss::Squared => t * c - tube - c * c / (4.0 * C),
                Loss::Logistic => C * entropy(t * c / C),
            }
        };
        dual.iter().zip(&self.targets).map(term).sum::<f64>() - 0.5 * quadratic
    }

    /// c'K c with the kernel matrix of all rows.
    fn exact_quadratic(&self, dual: &[f64]) -> f64 {
        let row = |(own, c): (&Vec<f64>, &f64)| c * own.iter().zip(dual).map(|(k, c)| k * c).sum::<f64>();
        self.kernel.iter().zip(dual).map(row).sum()
    }

    /// g'K_zz⁻¹g with g the products of `Σ c_i φ(x_i)` with the landmarks: what of its length lies in their span.
    fn quadratic_on_landmarks(&self, dual: &[f64]) -> f64 {
        let products: Vec<f64> =
            self.landmarks.iter().map(|&j| self.kernel[j].iter().zip(dual).map(|(k, c)| k * c).sum()).collect();
        let system = self.landmarks.iter().zip(&products).map(|(&i, product)| {
            self.landmarks.iter().map(|&j| self.kernel[i][j]).chain([*product]).collect::<Vec<f64>>()
        });
        eliminate(system.collect()).iter().zip(&products).map(|(a, b)| a * b).sum()
    }
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

/// The dual point of the first machine, one number a row.
fn dual_point(model: &Model, count: usize) -> Vec<f64> {
    let mut all = vec![0.0; count];
    model.dual_coefficients(0).for_each(|(row, c)| all[row] = c);
    all
}

#[test]
fn a_machine_is_the_best_on_its_landmarks_by_sums_of_our_own() {
    for seed in 1..=4 {
        for (is_regression, params) in problems() {
            let data = rows(seed, 60, is_regression);
            let model = fit(&data, &params);
            let name = format!("seed {seed}, {:?}, {:?}, {}", params.loss, params.bias, params.task.name());
            assert_eq!(model.stop(), Stop::Converged, "{name}");
            let naive = Naive::new(&data, &params, &model);
            let machine = &model.machines()[0];
            let primal = naive.primal(&machine.coefficients, machine.bias);
            let point = dual_point(&model, 60);
            let below = naive.dual(&point, naive.quadratic_on_landmarks(&point));
            let size = primal.abs();
            assert!((certificate(&model).primal - primal).abs() <= 1e-8 * size, "{name}: {primal}");
            assert!(primal - below <= 1e-6 * size && primal - below >= -1e-8 * size, "{name}: {primal} {below}");
            // The oracle can fail: a sum that is a little off is not the best, and a dual point that is off proves nothing.
            let mut off = machine.coefficients.clone();
            off[0] += 0.05;
            assert!(naive.primal(&off, machine.bias) - below > 1e-6 * size, "{name}");
            let wrong: Vec<f64> = point.iter().map(|c| -c).collect();
            assert!(primal - naive.dual(&wrong, naive.quadratic_on_landmarks(&wrong)) > 1e-2 * size, "{name}");
        }
    }
}

#[test]
fn the_proved_gap_is_at_least_the_distance_to_the_exact_machine() {
    for seed in 1..=8 {
        for (is_regression, params) in problems() {
            // No solver finds the exact machine of logistic loss with a kernel: its landmarks are all rows.
            if params.loss == Some(Loss::Logistic) {
                continue;
            }
            let data = rows(100 + seed, 70, is_regression);
            let (model, best) = (fit(&data, &params), fit(&data, &exact(&params)));
            let name = format!("seed {seed}, {:?}, {:?}, {}", params.loss, params.bias, params.task.name());
            let proof = model.parts().landmarks.as_ref().unwrap()[0].proof.unwrap();
            let (here, there) = (certificate(&model).primal, certificate(&best).primal);
            let distance = here - there;
            assert!(distance > 1e-4 * here, "{name}: 12 landmarks of 70 rows are not all that matters");
            assert!(proof.gap >= distance - 1e-7 * here, "{name}: proved {} of {distance}", proof.gap);
            assert!(proof.dual <= there * (1.0 + 1e-7), "{name}");
            assert!((proof.gap - (here - proof.dual)).abs() <= 1e-12 * here, "{name}");
            assert_eq!(model.proved_gap(), Some(proof.relative_gap));
            // The bound of the problem on the landmarks is none of the exact one: it would prove too much.
            assert!(certificate(&model).gap < distance, "{name}");
            // By sums of our own: the dual point is feasible, and no factor from 0 to 1 has a higher dual.
            let naive = Naive::new(&data, &params, &model);
            let point = dual_point(&model, 70);
            let quadratic = naive.exact_quadratic(&point);
            let dual = |k: u32| {
                let t = f64::from(k) / 100.0;
                naive.dual(&point.iter().map(|c| t * c).collect::<Vec<f64>>(), t * t * quadratic)
            };
            let most = (0..=100).map(dual).fold(f64::NEG_INFINITY, f64::max);
            assert!(most.is_finite() && proof.dual >= most - 1e-7 * here, "{name}: {} {most}", proof.dual);
            assert!(proof.dual <= most + 2e-3 * here, "{name}: {} {most}", proof.dual);
        }
    }
}

#[test]
fn with_all_rows_as_landmarks_the_machine_is_the_exact_one() {
    for (is_regression, like) in problems() {
        let params = TrainingParams { landmarks: params(Some(50)).landmarks, ..like };
        let data = rows(7, 50, is_regression);
        let model = fit(&data, &params);
        let name = format!("{:?}, {:?}, {}", params.loss, params.bias, params.task.name());
        assert!(model.proved_gap().unwrap() <= 1e-6, "{name}: {:?}", model.proved_gap());
        if params.loss == Some(Loss::Logistic) {
            continue;
        }
        let best = fit(&data, &exact(&params));
        let (here, there) = (certificate(&model).primal, certificate(&best).primal);
        assert!((here - there).abs() <= 1e-6 * there, "{name}: {here} {there}");
    }
}

fn bits(model: &Model) -> Vec<u64> {
    let mut all = Vec::new();
    for (machine, point) in model.machines().iter().zip(model.parts().landmarks.as_ref().unwrap()) {
        let proof = point.proof.map_or(0.0, |proof| proof.dual);
        let numbers = machine.coefficients.iter().chain(&point.coefficients).chain([&machine.bias, &proof]);
        all.extend(numbers.map(|number| number.to_bits()));
    }
    all
}

#[test]
fn threads_change_no_bit() {
    let two = rows(3, 3_000, false);
    let three = generate("blobs", 600, 5).unwrap();
    for (data, count) in [(&two, 150), (&three, 40)] {
        let training = params(Some(count)).check().unwrap();
        let fits = [1, 2, 3].map(|threads| {
            let workers = Workers::new(threads).unwrap();
            bits(&training.fit(data, &workers, &mut Unattended).unwrap())
        });
        assert!(fits[0] == fits[1] && fits[0] == fits[2]);
    }
}

#[test]
fn dense_and_sparse_rows_give_one_machine() {
    let data = rows(11, 80, false);
    let sparse = Dataset::new(data.matrix().to_sparse(), data.labels().unwrap().clone()).unwrap();
    let (one, other) = (fit(&data, &params(Some(20))), fit(&sparse, &params(Some(20))));
    assert_eq!(one.parts().support_rows, other.parts().support_rows);
    let values = |model: &Model, data: &Dataset| -> Vec<f64> {
        let predictions = model.predict(data, &Workers::none()).unwrap();
        (0..80).map(|row| predictions.decision_values(row)[0]).collect()
    };
    for (a, b) in values(&one, &data).into_iter().zip(values(&other, &sparse)) {
        assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn a_model_is_verified_from_its_file_and_the_data_and_no_number_can_be_forged() {
    let workers = Workers::none();
    let mut trained: Vec<(Dataset, Model)> = problems()
        .into_iter()
        .map(|(is_regression, params)| {
            let data = rows(5, 60, is_regression);
            let model = fit(&data, &params);
            (data, model)
        })
        .collect();
    for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
        let data = generate("blobs", 90, 3).unwrap();
        let params = TrainingParams { multiclass: Some(multiclass), ..params(Some(15)) };
        let model = fit(&data, &params);
        trained.push((data, model));
    }
    for (data, model) in &trained {
        let found = model.verify(data, &workers).unwrap();
        assert!(found.holds(), "{:?}", found.disagreements);
        assert!(found.proofs.len() == model.machines().len() && found.proofs.iter().all(Option::is_some));
    }
    let (data, model) = &trained[0];
    type Forgery = fn(&mut maxmargin::model::ModelParts);
    let forgeries: [(&str, Forgery); 7] = [
        ("a landmark", |parts| {
            let vectors = parts.vectors.as_ref().unwrap();
            let mut values: Vec<f64> = (0..vectors.rows()).flat_map(|row| vectors.row(row)).collect();
            values[0] += 0.1;
            parts.vectors = Some(Matrix::dense(vectors.rows(), 3, values).unwrap());
        }),
        ("proved gap", |parts| parts.landmarks.as_mut().unwrap()[0].proof.as_mut().unwrap().gap *= 0.9),
        ("proved relative gap", |parts| {
            parts.landmarks.as_mut().unwrap()[0].proof.as_mut().unwrap().relative_gap *= 0.9
        }),
        ("dual of the exact problem", |parts| parts.landmarks.as_mut().unwrap()[0].proof.as_mut().unwrap().dual += 0.1),
        ("a coefficient of the dual", |parts| parts.landmarks.as_mut().unwrap()[0].coefficients[0] *= 0.5),
        ("a coefficient of a landmark", |parts| parts.machines[0].coefficients[0] += 0.1),
        ("the bias", |parts| parts.machines[0].bias += 0.1),
    ];
    for (name, forge) in forgeries {
        let mut parts = model.parts().clone();
        forge(&mut parts);
        assert!(!Model::new(parts).unwrap().verify(data, &workers).unwrap().holds(), "{name}");
    }
}

#[test]
fn landmarks_are_added_until_the_proof_is_good_enough() {
    let data = rows(21, 200, false);
    let landmarks = Some(Landmarks { count: 10, prove: true, until: Some(0.02) });
    let solver = Some(SolverKind::PrimalNewton);
    let asked = TrainingParams { landmarks, solver, ..params(None) };
    let with = |count: usize| TrainingParams { solver, ..params(Some(count)) };
    let model = fit(&data, &asked);
    assert_eq!(model.stop(), Stop::Converged);
    assert!(model.proved_gap().unwrap() <= 0.02);
    let count = model.parts().support_rows.len();
    assert!(count > 10);
    // It is the model of that number, and half of it proves less.
    assert_eq!(bits(&model), bits(&fit(&data, &with(count))));
    assert!(fit(&data, &with(count / 2)).proved_gap().unwrap() > 0.02);
    // Memory for 50 landmarks and no more: the last model that fits is kept, and says that it is not what was asked for.
    let memory = 8 * 45 * (200 + 90);
    let settings = Settings { memory, ..asked.settings.clone() };
    let little = fit(&data, &TrainingParams { settings, ..asked.clone() });
    assert_eq!(little.stop(), Stop::Stalled);
    assert_eq!(little.parts().support_rows.len(), 40);
    // An interrupt in a later round leaves the model of the round before.
    let mut polls = 0;
    let training = asked.clone().check().unwrap();
    let mut count = |_: Progress| {
        polls += 1;
        ControlFlow::Continue(())
    };
    training.fit(&data, &Workers::none(), &mut count).unwrap();
    let (last, mut polls_so_far) = (polls - 2, 0);
    let mut interrupt = |_: Progress| {
        polls_so_far += 1;
        if polls_so_far < last { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    };
    let broken = training.fit(&data, &Workers::none(), &mut interrupt).unwrap();
    assert_eq!(broken.stop(), Stop::Interrupted);
    assert!(broken.proved_gap().unwrap() > 0.02);
}

#[test]
fn an_interrupt_before_the_first_feature_leaves_a_constant_that_says_so() {
    let data = rows(22, 200, false);
    let mut control = |_: Progress| ControlFlow::Break(Stop::TimeLimit);
    let model = params(Some(50)).check().unwrap().fit(&data, &Workers::none(), &mut control).unwrap();
    assert_eq!(model.stop(), Stop::TimeLimit);
    assert_eq!((model.parts().support_rows.len(), model.proved_gap()), (0, None));
    assert_eq!(model.predict(&data, &Workers::none()).unwrap().codes().len(), 200);
}

#[test]
fn the_exact_engine_begins_at_a_machine_on_landmarks() {
    for is_regression in [false, true] {
        let data = rows(31, 1_500, is_regression);
        let task = if is_regression { Task::Regression { epsilon: EPSILON } } else { Task::Classification };
        let like = TrainingParams { task, settings: Settings::default(), ..params(Some(200)) };
        let model = fit(&data, &like);
        let exact = TrainingParams { landmarks: None, ..like };
        let from = |params: &TrainingParams, beginning: Beginning<'_>| {
            params.clone().check().unwrap().fit_from(&data, beginning, &Workers::none(), &mut Unattended).unwrap()
        };
        let (warm, cold) = (from(&exact, Beginning::Model(&model)), from(&exact, Beginning::Scratch));
        assert_eq!((warm.stop(), cold.stop()), (Stop::Converged, Stop::Converged));
        assert!(!warm.machines()[0].notes.iter().any(|note| matches!(note, Note::NoWarmStart { .. })));
        let (a, b) = (certificate(&warm).primal, certificate(&cold).primal);
        assert!((a - b).abs() <= 1e-2 * b, "{a} {b}");
        assert!(warm.parts().landmarks.is_none() && warm.verify(&data, &Workers::none()).unwrap().holds());
        // After one step the search is where it began, and that is nearer to the optimum than no α at all.
        let settings = Settings { max_iterations: Some(1), ..Settings::default() };
        let short = TrainingParams { settings, ..exact.clone() };
        let [warm, cold] = [Beginning::Model(&model), Beginning::Scratch].map(|beginning| from(&short, beginning));
        let (a, b) = (certificate(&warm).primal, certificate(&cold).primal);
        assert!(a < b, "{a} {b}");
    }
}

#[test]
fn landmarks_that_add_nothing_are_left_out_and_rows_of_weight_0_are_none() {
    let data = rows(41, 60, false);
    let twice: Vec<usize> = (0..60).flat_map(|row| [row, row]).collect();
    let model = fit(&data.select_rows(&twice), &params(Some(120)));
    assert_eq!(model.parts().support_rows.len(), 60);
    assert!(model.machines()[0].notes.iter().any(|note| note.to_string().contains("60 more were drawn")));
    let weights: Vec<f64> = (0..60).map(|row| f64::from(row % 3)).collect();
    let weighted = rows(41, 60, false).with_weights(weights).unwrap();
    let model = fit(&weighted, &params(Some(40)));
    assert!(model.parts().support_rows.iter().all(|row| row % 3 != 0));
    assert!(model.verify(&weighted, &Workers::none()).unwrap().holds());
    // A weight of 2 is two rows.
    let copies: Vec<usize> = (0..60).flat_map(|row| vec![row; row % 3]).collect();
    let copied = fit(&rows(41, 60, false).select_rows(&copies), &params(Some(60)));
    let (a, b) = (certificate(&model).primal, certificate(&copied).primal);
    assert!((a - b).abs() <= 1e-6 * a, "{a} {b}");
}

#[test]
fn what_landmarks_do_not_go_with_is_refused_with_a_way_out() {
    let data = rows(51, 60, false);
    let told = |change: fn(&mut TrainingParams)| {
        let mut asked = params(Some(10));
        change(&mut asked);
        let found = asked.check().and_then(|training| training.fit(&data, &Workers::none(), &mut Unattended));
        let error: Error = found.unwrap_err();
        assert!(!error.help().is_empty());
        error.to_string()
    };
    assert_eq!(told(|p| p.landmarks.as_mut().unwrap().count = 0), "landmarks is 0, but it must be 1 or more");
    assert_eq!(
        told(|p| p.landmarks.as_mut().unwrap().count = 61),
        "61 landmarks cannot be drawn from 60 rows of a weight above 0"
    );
    assert_eq!(
        told(|p| p.landmarks.as_mut().unwrap().until = Some(f64::NAN)),
        "proved-gap is NaN, but it must be a finite number above 0"
    );
    assert!(told(|p| p.kernel = KernelParams::Linear).contains("the linear kernel has weights instead"));
    assert!(told(|p| p.kernel = KernelParams::Precomputed).contains("a precomputed kernel"));
    assert!(told(|p| p.kernel = "sigmoid".parse().unwrap()).contains("positive semidefinite"));
    assert!(told(|p| p.penalty = Penalty::Hard).contains("no hard margin"));
    assert!(told(|p| p.penalty = Penalty::Nu(0.5)).contains("no nu"));
    assert!(told(|p| p.task = Task::OneClass { nu: 0.5 }).contains("not for one-class"));
    assert!(told(|p| p.multiclass = Some(Multiclass::CrammerSinger)).contains("trained together"));
    assert!(told(|p| p.solver = Some(SolverKind::Perceptron)).contains("the solver perceptron"));
    assert!(told(|p| p.settings.memory = 1000).contains("the features of 60 rows on 10 landmarks need"));
}

#[test]
fn the_builders_have_landmarks() {
    let data = rows(61, 60, false);
    let (x, y): (Vec<Vec<f64>>, Vec<i32>) =
        (0..60).map(|row| (data.matrix().row(row), data.labels().unwrap().codes()[row] as i32)).unzip();
    let fitted = Svc::rbf().gamma(GAMMA).landmarks(20).prove().fit((&x, &y)).unwrap();
    let model = fitted.model();
    assert_eq!(model.parts().support_rows.len(), 20);
    assert!(model.proved_gap().is_some());
    let numbers: Vec<f64> = y.iter().map(|&code| f64::from(code)).collect();
    let fitted = Svr::rbf().prove_to(0.5).fit((&x, &numbers)).unwrap();
    assert!(fitted.model().proved_gap().unwrap() <= 0.5);
}
