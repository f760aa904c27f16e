//! The tasks with kernels, and ν: against the optimum of a general solver, against definitions, and against themselves.
#![allow(clippy::unwrap_used)] // a test may end here

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT};
use maxmargin::certificate::Certificate;
use maxmargin::data::{Answers, Dataset, Label, Labels, Matrix, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::solver::SolverKind;
use maxmargin::training::{ClassWeights, Penalty};
use maxmargin::{Beginning, Model, Stop, TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What is trained: a task, and whether C of two classes is found from a ν.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Classes { nu: f64 },
    Tube { epsilon: f64 },
    NuTube { nu: f64 },
    One { nu: f64 },
}

/// A random problem, in full.
struct Case {
    kind: Kind,
    rows: Vec<Vec<f64>>,
    /// ±1, or numbers.
    targets: Vec<f64>,
    weights: Vec<f64>,
    cost: f64,
    gamma: f64,
    loss: Loss,
    bias: Bias,
}

fn random(seed: u64) -> Case {
    let mut generator = Pcg64::seed_from_u64(seed);
    let (count, columns): (usize, usize) = (generator.random_range(8..=40), generator.random_range(1..=4));
    let rows: Vec<Vec<f64>> =
        (0..count).map(|_| (0..columns).map(|_| generator.random_range(-1.0..1.0)).collect()).collect();
    let weights: Vec<f64> =
        (0..count).map(|_| if seed.is_multiple_of(2) { 1.0 } else { generator.random_range(0.2..3.0) }).collect();
    let classes = seed.is_multiple_of(4);
    let mut target = |x: &Vec<f64>| {
        let value = (2.0 * x[0]).sin() + 0.3 * x[columns - 1] + 0.4 * generator.random_range(-1.0..1.0);
        if classes { value.signum() } else { value }
    };
    let mut targets: Vec<f64> = rows.iter().map(&mut target).collect();
    if classes {
        (targets[0], targets[1]) = (1.0, -1.0);
    }
    let of_sign = |sign: f64| -> f64 {
        targets.iter().zip(&weights).filter(|(target, _)| **target == sign).map(|(_, weight)| weight).sum()
    };
    let share = generator.random_range(0.05..0.95);
    let kind = match seed % 4 {
        0 => Kind::Classes { nu: share * 2.0 * of_sign(1.0).min(of_sign(-1.0)) / weights.iter().sum::<f64>() },
        1 => Kind::Tube { epsilon: [0.0, 0.1, 0.4][(seed / 4 % 3) as usize] },
        2 => Kind::NuTube { nu: share },
        _ => Kind::One { nu: share },
    };
    let tube = matches!(kind, Kind::Tube { .. });
    let loss = if tube && seed / 12 % 2 == 1 { Loss::Squared } else { Loss::Hinge };
    let bias = if tube { [Bias::Explicit, Bias::None, Bias::Folded][(seed / 24 % 3) as usize] } else { Bias::Explicit };
    let cost = 10f64.powf(generator.random_range(-1.0..1.5));
    let gamma = 10f64.powf(generator.random_range(-1.0..1.0));
    Case { kind, rows, targets, weights, cost, gamma, loss, bias }
}

impl Case {
    fn data(&self) -> Dataset {
        let matrix = Matrix::dense(self.rows.len(), self.rows[0].len(), self.rows.concat()).unwrap();
        let answers = match self.kind {
            Kind::Classes { .. } => Labels::new(self.targets.iter().map(|sign| Label::new(sign.to_string()))).into(),
            Kind::Tube { .. } | Kind::NuTube { .. } => Answers::Numbers(self.targets.clone()),
            Kind::One { .. } => Answers::None,
        };
        Dataset::new(matrix, answers).unwrap().with_weights(self.weights.clone()).unwrap()
    }

    fn params(&self, solver: SolverKind) -> TrainingParams {
        let (task, penalty) = match self.kind {
            Kind::Classes { nu } => (Task::Classification, Penalty::Nu(nu)),
            Kind::Tube { epsilon } => (Task::Regression { epsilon }, Penalty::C(self.cost)),
            Kind::NuTube { nu } => (Task::NuRegression { nu }, Penalty::C(self.cost)),
            Kind::One { nu } => (Task::OneClass { nu }, Penalty::C(self.cost)),
        };
        let mut params = TrainingParams {
            task,
            penalty,
            kernel: KernelParams::Rbf { gamma: Gamma::Value(self.gamma) },
            loss: Some(self.loss),
            bias: self.bias,
            solver: Some(solver),
            ..TrainingParams::default()
        };
        params.settings.tolerance = Some(1e-7);
        params
    }

    fn kernel(&self, i: usize, j: usize) -> f64 {
        let distance: f64 = self.rows[i].iter().zip(&self.rows[j]).map(|(a, b)| (a - b) * (a - b)).sum();
        (-self.gamma * distance).exp()
    }

    /// The least of the dual by an interior-point method, from its definition.
    fn least(&self) -> f64 {
        let n = self.rows.len();
        let two_sided = matches!(self.kind, Kind::Tube { .. } | Kind::NuTube { .. });
        let size = if two_sided { 2 * n } else { n };
        let side = |k: usize| if k < n { 1.0 } else { -1.0 };
        let sign = |k: usize| match self.kind {
            Kind::Classes { .. } => self.targets[k],
            Kind::One { .. } => 1.0,
            _ => side(k),
        };
        let cost = |k: usize| match self.kind {
            Kind::Classes { .. } => self.weights[k],
            _ => self.cost * self.weights[k % n],
        };
        let ridge = |k: usize| if self.loss == Loss::Squared { 0.5 / cost(k) } else { 1e-11 };
        // With a folded bias every kernel of distances stays what it is, so the constant has no part in it.
        let quadratic =
            |j: usize, k: usize| sign(j) * sign(k) * self.kernel(j % n, k % n) + if j == k { ridge(k) } else { 0.0 };
        let linear: Vec<f64> = (0..size)
            .map(|k| match self.kind {
                Kind::Tube { epsilon } => epsilon - side(k) * self.targets[k % n],
                Kind::NuTube { .. } => -side(k) * self.targets[k % n],
                _ => 0.0,
            })
            .collect();
        let total: f64 = (0..n).map(cost).sum();
        let all = |of: &dyn Fn(usize) -> f64| (0..size).map(of).collect::<Vec<f64>>();
        let of_group = |group: f64| all(&|k| f64::from(u8::from(sign(k) == group)));
        let equal: Vec<(Vec<f64>, f64)> = match self.kind {
            Kind::Classes { nu } | Kind::NuTube { nu } => {
                vec![(of_group(1.0), 0.5 * nu * total), (of_group(-1.0), 0.5 * nu * total)]
            }
            Kind::One { nu } => vec![(vec![1.0; size], nu * total)],
            Kind::Tube { .. } if self.bias == Bias::Explicit => vec![(all(&sign), 0.0)],
            Kind::Tube { .. } => vec![],
        };
        let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
        for k in 0..size {
            for j in 0..=k {
                rows.push(j);
                values.push(quadratic(j, k));
            }
            starts.push(rows.len());
        }
        let objective = CscMatrix::new(size, size, starts, rows, values);
        let bounded = self.loss == Loss::Hinge;
        let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
        for k in 0..size {
            for (line, (factors, _)) in equal.iter().enumerate().filter(|(_, (factors, _))| factors[k] != 0.0) {
                rows.push(line);
                values.push(factors[k]);
            }
            rows.push(equal.len() + k);
            values.push(-1.0);
            if bounded {
                rows.push(equal.len() + size + k);
                values.push(1.0);
            }
            starts.push(rows.len());
        }
        let lines = equal.len() + if bounded { 2 * size } else { size };
        let constraints = CscMatrix::new(lines, size, starts, rows, values);
        let mut right: Vec<f64> = equal.iter().map(|(_, sum)| *sum).collect();
        right.resize(equal.len() + size, 0.0);
        if bounded {
            right.extend((0..size).map(cost));
        }
        let cones = [ZeroConeT(equal.len()), NonnegativeConeT(lines - equal.len())];
        let settings = DefaultSettingsBuilder::default().verbose(false).tol_gap_abs(1e-11).tol_gap_rel(1e-11).build();
        let mut solver =
            DefaultSolver::new(&objective, &linear, &constraints, &right, &cones, settings.unwrap()).unwrap();
        solver.solve();
        solver.solution.obj_val
    }
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn certificate(model: &Model) -> &Certificate {
    model.machines()[0].evidence.certificate().unwrap()
}

#[test]
fn every_formulation_reaches_the_optimum_of_a_general_solver_and_verifies() {
    for seed in 0..144 {
        let case = random(seed);
        let (data, least) = (case.data(), case.least());
        for solver in [SolverKind::Smo, SolverKind::BlockSmo] {
            let what = format!("seed {seed} {:?} {:?} {:?} {solver:?}", case.kind, case.loss, case.bias);
            let model = fit(&data, case.params(solver));
            assert_eq!(model.stop(), Stop::Converged, "{what}: {:?}", model.machines()[0].notes);
            let found = certificate(&model);
            // The tolerance is met in units of the margin that ν comes to, the certificate is in units of 1.
            let scale =
                if let Kind::Classes { .. } = case.kind { model.machines()[0].cost.unwrap().max(1.0) } else { 1.0 };
            assert!(found.violation <= 2e-7 * scale && found.gap >= 0.0, "{what}: {found:?}");
            let total: f64 = case.weights.iter().sum();
            let (own, optimum) = match (case.kind, model.task()) {
                // In units of the margin 1/C the dual of ν is ½‖w‖² of C-SVC's w: w = C w_ν.
                (Kind::Classes { .. }, _) => {
                    let c = model.machines()[0].cost.unwrap();
                    (0.5 / (found.margin * c).powi(2), least)
                }
                (Kind::NuTube { nu }, Task::Regression { epsilon }) => {
                    (found.primal + nu * case.cost * total * epsilon, -least)
                }
                _ => (found.dual, -least),
            };
            assert!((own - optimum).abs() <= 1e-5 * optimum.abs().max(1.0), "{what}: {own} {optimum}");
            assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{what}");
        }
    }
}

#[test]
fn nu_bounds_the_share_of_errors_from_above_and_of_support_vectors_from_below() {
    for seed in (0..96).filter(|seed| seed % 4 != 1) {
        let case = random(seed);
        let model = fit(&case.data(), case.params(SolverKind::Smo));
        let nu = match case.kind {
            Kind::Classes { nu } | Kind::NuTube { nu } | Kind::One { nu } => nu,
            Kind::Tube { .. } => continue,
        };
        let total: f64 = case.weights.iter().sum();
        let machine = &model.machines()[0];
        let row = |place: &u32| model.parts().support_rows[*place as usize] as usize;
        let support: f64 = machine.support.iter().map(|place| case.weights[row(place)]).sum();
        let bound = machine.cost.unwrap();
        let at_bound: f64 = machine
            .support
            .iter()
            .zip(&machine.coefficients)
            .map(|(place, c)| (row(place), c.abs()))
            .filter(|(row, c)| *c >= bound * case.weights[*row] * (1.0 - 1e-9))
            .map(|(row, _)| case.weights[row])
            .sum();
        assert!(at_bound <= nu * total * (1.0 + 1e-6), "seed {seed}: {at_bound} of {total}, nu {nu}");
        assert!(support >= nu * total * (1.0 - 1e-6), "seed {seed}: {support} of {total}, nu {nu}");
    }
}

#[test]
fn a_row_of_weight_k_is_k_copies_and_of_weight_0_is_absent() {
    for seed in 0..16 {
        let mut case = random(seed);
        let n = case.rows.len();
        // The first two rows are of both classes, and must stay.
        case.weights = (0..n).map(|i| if i < 2 { 1.0 } else { [1.0, 2.0, 0.0, 3.0][i % 4] }).collect();
        let mut copies = random(seed);
        (copies.rows, copies.targets) = (vec![], vec![]);
        for i in 0..n {
            for _ in 0..case.weights[i] as usize {
                copies.rows.push(case.rows[i].clone());
                copies.targets.push(case.targets[i]);
            }
        }
        copies.weights = vec![1.0; copies.rows.len()];
        // ν has to be possible for these weights, too.
        if let Kind::Classes { .. } = case.kind {
            let of_sign = |sign: f64| copies.targets.iter().filter(|target| **target == sign).count() as f64;
            let nu = of_sign(1.0).min(of_sign(-1.0)) / copies.targets.len() as f64;
            (case.kind, copies.kind) = (Kind::Classes { nu }, Kind::Classes { nu });
        }
        let [weighted, copied] = [&case, &copies].map(|case| fit(&case.data(), case.params(SolverKind::Smo)));
        let (one, other) = (certificate(&weighted).dual, certificate(&copied).dual);
        assert!((one - other).abs() <= 1e-5 * other.abs().max(1.0), "seed {seed} {:?}: {one} {other}", case.kind);
        let values = |model: &Model| {
            let found = model.predict(&case.data(), &Workers::none()).unwrap();
            found.numbers().collect::<Vec<f64>>()
        };
        for (a, b) in values(&weighted).iter().zip(values(&copied)) {
            assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "seed {seed} {:?}: {a} {b}", case.kind);
        }
    }
}

#[test]
fn an_impossible_nu_is_said_before_the_work_starts_with_the_largest_that_is_possible() {
    let rows: Vec<f64> = (0..20).map(f64::from).collect();
    let labels = Labels::new((0..20).map(|row| Label::new(if row < 4 { "few" } else { "many" })));
    let data = Dataset::new(Matrix::dense(20, 1, rows).unwrap(), labels).unwrap();
    let params = TrainingParams { penalty: Penalty::Nu(0.5), ..TrainingParams::default() };
    let error = params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap_err();
    assert!(error.to_string().contains("nu is 0.5") && error.to_string().contains("0.4"), "{error}");
    assert!(error.help().contains("choose nu up to 0.4"), "{}", error.help());
    let possible = TrainingParams { penalty: Penalty::Nu(0.4), ..TrainingParams::default() };
    assert!(possible.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).is_ok());
    for (params, message) in [
        (TrainingParams { penalty: Penalty::Nu(1.5), ..TrainingParams::default() }, "nu is 1.5"),
        (TrainingParams { penalty: Penalty::Nu(f64::NAN), ..TrainingParams::default() }, "nu is NaN"),
        (TrainingParams { task: Task::NuRegression { nu: 0.0 }, ..TrainingParams::default() }, "nu is 0"),
        (
            TrainingParams { penalty: Penalty::Nu(0.2), bias: Bias::Folded, ..TrainingParams::default() },
            "nu goes with hinge loss and an explicit bias",
        ),
        (
            TrainingParams { penalty: Penalty::Nu(0.2), solver: Some(SolverKind::Sgd), ..TrainingParams::default() },
            "the solver sgd has no way to meet a nu",
        ),
    ] {
        let error = params.check().unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn many_rows_agree_between_the_solvers_and_for_any_number_of_threads() {
    let mut generator = Pcg64::seed_from_u64(7);
    let rows: Vec<f64> = (0..2 * 1500).map(|_| generator.random_range(-2.0..2.0)).collect();
    let targets: Vec<f64> =
        rows.chunks(2).map(|x| (2.0 * x[0]).sin() + 0.2 * x[1] + 0.1 * generator.random_range(-1.0..1.0)).collect();
    let signs = Labels::new(targets.iter().map(|target| Label::new(if *target > 0.2 { "1" } else { "-1" })));
    let (numbers, signs) = (Answers::Numbers(targets), Answers::Classes(signs));
    let matrix = Matrix::dense(1500, 2, rows).unwrap();
    for (task, penalty, answers) in [
        (Task::Regression { epsilon: 0.05 }, Penalty::C(3.0), &numbers),
        (Task::NuRegression { nu: 0.3 }, Penalty::C(3.0), &numbers),
        (Task::OneClass { nu: 0.2 }, Penalty::C(1.0), &Answers::None),
        (Task::Classification, Penalty::Nu(0.2), &signs),
    ] {
        let data = Dataset::new(matrix.clone(), answers.clone()).unwrap();
        let params = |solver: SolverKind| TrainingParams {
            task,
            penalty,
            kernel: KernelParams::Rbf { gamma: Gamma::Value(1.0) },
            solver: Some(solver),
            ..TrainingParams::default()
        };
        let by = |solver: SolverKind, threads: usize| {
            let workers = Workers::new(threads).unwrap();
            params(solver).check().unwrap().fit(&data, &workers, &mut Unattended).unwrap()
        };
        let (pairs, blocks) = (by(SolverKind::Smo, 1), by(SolverKind::BlockSmo, 1));
        // With a ν for the tube, its width is part of the objective.
        let objective = |model: &Model| match (task, model.task()) {
            (Task::NuRegression { nu }, Task::Regression { epsilon }) => {
                certificate(model).primal + nu * 3.0 * 1500.0 * epsilon
            }
            _ => certificate(model).primal,
        };
        let (one, other) = (objective(&pairs), objective(&blocks));
        assert!((one - other).abs() <= 2e-3 * one.abs().max(1.0), "{task:?}: {one} {other}");
        for threads in [2, 3] {
            let again = by(SolverKind::BlockSmo, threads);
            assert_eq!(blocks.machines()[0].coefficients, again.machines()[0].coefficients, "{task:?} {threads}");
            assert_eq!(blocks.machines()[0].bias, again.machines()[0].bias, "{task:?} {threads}");
        }
    }
}

/// The ball of a kernel whose k(x, x) is not the same for all x, from its geometry: centre, radius, and who is inside.
#[test]
fn a_ball_holds_all_but_the_share_nu_and_is_the_smallest() {
    for seed in 0..24 {
        let mut generator = Pcg64::seed_from_u64(seed);
        let (count, nu) = (generator.random_range(10..60), generator.random_range(0.03..0.9));
        let rows: Vec<f64> = (0..2 * count).map(|_| generator.random_range(-1.0..1.5)).collect();
        let matrix = Matrix::dense(count, 2, rows.clone()).unwrap();
        let data = Dataset::unlabelled(matrix);
        let kernel =
            |i: usize, j: usize| (0.7 * (rows[2 * i] * rows[2 * j] + rows[2 * i + 1] * rows[2 * j + 1]) + 1.0).powi(2);
        let mut params = TrainingParams {
            task: Task::Svdd { nu },
            kernel: KernelParams::Polynomial { gamma: Gamma::Value(0.7), coef0: 1.0, degree: 2 },
            ..TrainingParams::default()
        };
        params.settings.tolerance = Some(1e-8);
        for solver in [SolverKind::Smo, SolverKind::BlockSmo] {
            let model = fit(&data, TrainingParams { solver: Some(solver), ..params.clone() });
            let what = format!("seed {seed} nu {nu} {solver:?}");
            assert_eq!(model.stop(), Stop::Converged, "{what}");
            let (machine, found) = (&model.machines()[0], certificate(&model));
            assert!(found.relative_gap <= 1e-6 && found.gap >= 0.0, "{what}: {found:?}");
            assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{what}");
            let q = nu * count as f64;
            let mut share = vec![0.0; count];
            for (&place, &alpha) in machine.support.iter().zip(&machine.coefficients) {
                share[model.parts().support_rows[place as usize] as usize] = alpha / q;
            }
            assert!((share.iter().sum::<f64>() - 1.0).abs() <= 1e-9, "{what}");
            let to_centre = |i: usize| (0..count).map(|j| share[j] * kernel(i, j)).sum::<f64>();
            let centre: f64 = (0..count).map(|i| share[i] * to_centre(i)).sum();
            let distance = |i: usize| kernel(i, i) - 2.0 * to_centre(i) + centre;
            let radius = centre + 2.0 / q * machine.bias;
            // (P.11), times q²/2 the primal and the dual of the certificate.
            let primal = radius + (0..count).map(|i| (distance(i) - radius).max(0.0)).sum::<f64>() / q;
            let dual: f64 = (0..count).map(|i| share[i] * kernel(i, i)).sum::<f64>() - centre;
            let scale = 0.5 * q * q;
            assert!(
                (scale * primal - found.primal).abs() <= 1e-6 * found.primal.abs().max(1.0),
                "{what}: {primal} {found:?}"
            );
            assert!((scale * dual - found.dual).abs() <= 1e-6 * found.dual.abs().max(1.0), "{what}: {dual} {found:?}");
            let predictions = model.predict(&data, &Workers::none()).unwrap();
            for i in 0..count {
                let (value, expected) = (predictions.decision_values(i)[0], 0.5 * q * (radius - distance(i)));
                assert!((value - expected).abs() <= 1e-6 * q.max(1.0), "{what}: {value} {expected}");
            }
            let outside = (0..count).filter(|&i| distance(i) > radius * (1.0 + 1e-6)).count();
            assert!(outside as f64 <= q + 1e-9, "{what}: {outside}");
        }
    }
}

#[test]
fn where_every_row_is_as_long_a_ball_is_one_class() {
    for seed in 0..8 {
        let case = random(4 * seed + 3);
        let Kind::One { nu } = case.kind else { panic!("seed {seed}") };
        let one = fit(&case.data(), case.params(SolverKind::Smo));
        let ball = fit(&case.data(), TrainingParams { task: Task::Svdd { nu }, ..case.params(SolverKind::Smo) });
        let values =
            |model: &Model| model.predict(&case.data(), &Workers::none()).unwrap().numbers().collect::<Vec<_>>();
        for (a, b) in values(&one).into_iter().zip(values(&ball)) {
            assert!((a - b).abs() <= 1e-4 * a.abs().max(1.0), "seed {seed}: {a} {b}");
        }
    }
}

#[test]
fn a_row_of_weight_k_is_k_copies_for_a_ball_too() {
    for seed in 0..12 {
        let mut generator = Pcg64::seed_from_u64(seed);
        let count = generator.random_range(12..40);
        let rows: Vec<f64> = (0..2 * count).map(|_| generator.random_range(-1.0..1.5)).collect();
        let weights: Vec<f64> = (0..count).map(|i| if i < 2 { 1.0 } else { [1.0, 2.0, 0.0, 3.0][i % 4] }).collect();
        let copies: Vec<usize> = (0..count).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let data = Dataset::unlabelled(Matrix::dense(count, 2, rows).unwrap());
        let weighted = data.clone().with_weights(weights).unwrap();
        let mut params = TrainingParams {
            task: Task::Svdd { nu: generator.random_range(0.1..0.8) },
            kernel: KernelParams::Polynomial { gamma: Gamma::Value(0.7), coef0: 1.0, degree: 2 },
            ..TrainingParams::default()
        };
        params.settings.tolerance = Some(1e-8);
        for solver in [SolverKind::Smo, SolverKind::BlockSmo] {
            let params = TrainingParams { solver: Some(solver), ..params.clone() };
            let [own, copied] = [&weighted, &data.select_rows(&copies)].map(|data| fit(data, params.clone()));
            let values = |model: &Model| model.predict(&data, &Workers::none()).unwrap().numbers().collect::<Vec<_>>();
            for (a, b) in values(&own).into_iter().zip(values(&copied)) {
                assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "seed {seed} {solver:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn weights_of_classes_multiply_the_c_that_a_nu_comes_to() {
    let iris = embedded("iris").unwrap();
    let by = |penalty: Penalty, class_weights: &str| {
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
        let class_weights = if class_weights.is_empty() { ClassWeights::Equal } else { class_weights.parse().unwrap() };
        let mut params = TrainingParams { kernel, penalty, class_weights, ..TrainingParams::default() };
        params.settings.tolerance = Some(1e-8);
        params.check().unwrap().fit(&iris, &Workers::none(), &mut Unattended).unwrap()
    };
    let plain = by(Penalty::Nu(0.3), "");
    let weighed = by(Penalty::Nu(0.3), "virginica=4,setosa=0.5");
    for (machine, of_nu) in weighed.machines().iter().zip(plain.machines()) {
        assert_eq!(machine.cost, of_nu.cost);
        let alone = by(Penalty::C(machine.cost.unwrap()), "virginica=4,setosa=0.5");
        let same = alone.machines().iter().find(|other| other.pairing == machine.pairing).unwrap();
        assert!((same.bias - machine.bias).abs() < 1e-6, "{} is not {}", machine.bias, same.bias);
    }
    assert!(weighed.verify(&iris, &Workers::none()).unwrap().holds());
}

#[test]
fn what_all_weights_have_in_common_does_not_change_a_nu() {
    let moons = generate("moons", 60, 3).unwrap();
    let by = |weight: f64| {
        let data = moons.clone().with_weights(vec![weight; 60]).unwrap();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
        let mut params = TrainingParams { kernel, penalty: Penalty::Nu(0.3), ..TrainingParams::default() };
        params.settings.tolerance = Some(1e-8);
        params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap()
    };
    // A power of two, so that not even rounding differs.
    let least = 1.0 / f64::from(1 << 20);
    let (one, small) = (by(1.0), by(least));
    let (one, small) = (&one.machines()[0], &small.machines()[0]);
    assert_eq!((one.bias, one.iterations), (small.bias, small.iterations));
    assert_eq!(small.cost.unwrap() * least, one.cost.unwrap());
}

#[test]
fn a_training_by_nu_may_begin_at_its_own_model() {
    for seed in [4, 6, 7, 8, 10, 11] {
        let case = random(seed);
        assert!(!matches!(case.kind, Kind::Tube { .. }));
        let data = case.data();
        for solver in [SolverKind::Smo, SolverKind::BlockSmo] {
            let training = case.params(solver).check().unwrap();
            let cold = training.fit(&data, &Workers::none(), &mut Unattended).unwrap();
            let warm = training.fit_from(&data, Beginning::Model(&cold), &Workers::none(), &mut Unattended).unwrap();
            assert_eq!(warm.stop(), Stop::Converged);
            // b may be any number of an interval, so it is the objective that is compared.
            let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
            let (warm, cold) = (primal(&warm), primal(&cold));
            assert!((warm - cold).abs() <= 1e-5 * cold.abs().max(1.0), "seed {seed}, {solver:?}: {warm} is not {cold}");
        }
    }
}
