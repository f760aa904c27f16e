//! Regression and one-class: against the optimum of a general solver, against definitions, and against themselves.
#![allow(clippy::unwrap_used)] // a test may end here

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT};
use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Beginning, Penalty};
use maxmargin::{Error, Model, Stop, TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A random problem, in full.
struct Case {
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    cost: f64,
    task: Task,
    loss: Loss,
    bias: Bias,
}

/// Every task, loss and bias comes round as the seed counts up; the rest is drawn.
fn random(seed: u64) -> Case {
    let mut generator = Pcg64::seed_from_u64(seed);
    let (count, columns): (usize, usize) = (generator.random_range(3..=50), generator.random_range(1..=5));
    let shift = generator.random_range(-3.0..3.0);
    let mut row = || (0..columns).map(|_| generator.random_range(-2.0..2.0) + shift).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..count).map(|_| row()).collect();
    let size = 10f64.powf(generator.random_range(-1.0..3.0));
    let target = |x: &Vec<f64>| size * (x[0] - 0.3 * x[columns - 1] + 1.0);
    let targets = rows.iter().map(|x| target(x) + 0.3 * size * generator.random_range(-1.0..1.0)).collect();
    let task = match seed % 3 {
        0 | 1 => Task::Regression { epsilon: [0.0, 0.05 * size, 0.4 * size][(seed / 3 % 3) as usize] },
        _ => Task::OneClass { nu: generator.random_range(0.02..1.0) },
    };
    let loss = if seed % 3 == 1 { Loss::Squared } else { Loss::Hinge };
    let bias = match seed / 9 % 3 {
        _ if seed % 3 == 2 => Bias::Explicit,
        0 => Bias::Explicit,
        1 => Bias::Folded,
        _ => Bias::None,
    };
    let weights =
        (0..count).map(|_| if seed.is_multiple_of(2) { 1.0 } else { generator.random_range(0.2..3.0) }).collect();
    let cost = 10f64.powf(generator.random_range(-3.0..2.0));
    Case { rows, targets, weights, cost, task, loss, bias }
}

impl Case {
    /// What a violation is counted in: half of the range of a regression's targets, else 1.
    fn unit(&self) -> f64 {
        let (low, high) = (
            self.targets.iter().copied().fold(f64::INFINITY, f64::min),
            self.targets.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        if matches!(self.task, Task::Regression { .. }) && high > low { 0.5 * (high - low) } else { 1.0 }
    }

    fn data(&self, sparse: bool) -> Dataset {
        let matrix = Matrix::dense(self.rows.len(), self.rows[0].len(), self.rows.concat()).unwrap();
        let matrix = if sparse { matrix.to_sparse() } else { matrix };
        Dataset::new(matrix, self.targets.clone()).unwrap().with_weights(self.weights.clone()).unwrap()
    }

    fn params(&self, solver: Option<SolverKind>, gap: f64) -> TrainingParams {
        TrainingParams {
            task: self.task,
            penalty: Penalty::C(self.cost),
            loss: Some(self.loss),
            bias: self.bias,
            solver,
            settings: Settings { gap: Some(gap), ..Settings::default() },
            ..TrainingParams::default()
        }
    }

    fn describe(&self) -> String {
        let (rows, columns) = (self.rows.len(), self.rows[0].len());
        format!("{:?} {:?} {:?} C {:e}, {rows} rows, {columns} columns", self.task, self.loss, self.bias, self.cost)
    }

    /// q of (P.1)
    fn pull(&self) -> f64 {
        match self.task {
            Task::OneClass { nu } => nu * self.cost * self.weights.iter().sum::<f64>(),
            _ => 0.0,
        }
    }

    fn slack(&self, i: usize, value: f64) -> f64 {
        match self.task {
            Task::Regression { epsilon } => ((value - self.targets[i]).abs() - epsilon).max(0.0),
            _ => (-value).max(0.0),
        }
    }

    /// The objective, from its definition.
    fn primal(&self, weights: &[f64], bias: f64) -> f64 {
        let folded = if self.bias == Bias::Folded { bias * bias } else { 0.0 };
        let norm = weights.iter().map(|w| w * w).sum::<f64>() + folded;
        let losses: f64 = (0..self.rows.len())
            .map(|i| {
                let value: f64 = self.rows[i].iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() + bias;
                let slack = self.slack(i, value);
                self.cost * self.weights[i] * if self.loss == Loss::Squared { slack * slack } else { slack }
            })
            .sum();
        0.5 * norm + self.pull() * bias + losses
    }

    /// The optimum over w, b and ξ by an interior-point method: two bounds of it.
    fn optimum(&self) -> (f64, f64) {
        let (n, d) = (self.rows.len(), self.rows[0].len());
        let biased = usize::from(self.bias != Bias::None);
        let (at_bias, at_slack) = (d, d + biased);
        let size = at_slack + n;
        let diagonal: Vec<f64> = (0..size)
            .map(|k| match k {
                k if k < d => 1.0,
                k if k < at_slack => f64::from(u8::from(self.bias == Bias::Folded)),
                k if self.loss == Loss::Squared => 2.0 * self.cost * self.weights[k - at_slack],
                _ => 0.0,
            })
            .collect();
        let linear: Vec<f64> = (0..size)
            .map(|k| match k {
                k if k >= at_slack && self.loss == Loss::Hinge => self.cost * self.weights[k - at_slack],
                k if k == at_bias && biased == 1 => self.pull(),
                _ => 0.0,
            })
            .collect();
        // Lines of  A v ≤ r.
        let (mut lines, mut right): (Vec<Vec<f64>>, Vec<f64>) = (vec![], vec![]);
        for i in 0..n {
            let mut line = |sign: f64, bound: f64| {
                let mut line = vec![0.0; size];
                (0..d).for_each(|j| line[j] = sign * self.rows[i][j]);
                if biased == 1 {
                    line[at_bias] = sign;
                }
                line[at_slack + i] = -1.0;
                lines.push(line);
                right.push(bound);
            };
            match self.task {
                Task::Regression { epsilon } => {
                    line(1.0, epsilon + self.targets[i]);
                    line(-1.0, epsilon - self.targets[i]);
                }
                _ => line(-1.0, 0.0),
            }
            let mut line = vec![0.0; size];
            line[at_slack + i] = -1.0;
            lines.push(line);
            right.push(0.0);
        }
        let objective = CscMatrix::new(size, size, (0..=size).collect(), (0..size).collect(), diagonal);
        let (mut starts, mut places, mut values) = (vec![0], vec![], vec![]);
        for column in 0..size {
            for (row, line) in lines.iter().enumerate().filter(|(_, line)| line[column] != 0.0) {
                places.push(row);
                values.push(line[column]);
            }
            starts.push(places.len());
        }
        let constraints = CscMatrix::new(lines.len(), size, starts, places, values);
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(1e-11)
            .tol_gap_rel(1e-11)
            .tol_feas(1e-11)
            .build()
            .unwrap();
        let cones = [NonnegativeConeT(lines.len())];
        let mut solver = DefaultSolver::new(&objective, &linear, &constraints, &right, &cones, settings).unwrap();
        solver.solve();
        let (one, other) = (solver.solution.obj_val, solver.solution.obj_val_dual);
        (one.min(other), one.max(other))
    }
}

fn fit(data: &Dataset, params: TrainingParams, threads: usize) -> Result<Model, Error> {
    params.check()?.fit(data, &Workers::new(threads).unwrap(), &mut Unattended)
}

const SOLVERS: [SolverKind; 2] = [SolverKind::PrimalNewton, SolverKind::DualAscent];

#[test]
fn the_certificate_is_true_and_its_bounds_meet_at_the_optimum_of_a_general_solver() {
    for seed in 0..216 {
        let case = random(seed);
        let data = case.data(false);
        let (low, high) = case.optimum();
        let size = low.abs().max(high.abs()).max(1.0);
        for solver in SOLVERS {
            let what = format!("seed {seed}: {} {}", case.describe(), solver.name());
            let model = fit(&data, case.params(Some(solver), 1e-7), 1).unwrap();
            let machine = &model.machines()[0];
            let certificate = machine.evidence.certificate().unwrap();
            let primal = case.primal(machine.weights.as_ref().unwrap(), machine.bias);
            assert!((primal - certificate.primal).abs() <= 1e-9 * size, "{what}: {primal} {}", certificate.primal);
            // Of one class around the origin nothing is left but rounding, and a search may end before that.
            if matches!(case.task, Task::OneClass { .. })
                && certificate.primal.abs().max(certificate.gap) <= 1e-8 * size
            {
                continue;
            }
            assert_eq!(machine.stop, Stop::Converged, "{what}: {certificate:?}");
            // Rows around the origin have the optimum 0, of which no gap is a small part.
            let at_limit = machine.notes.iter().any(maxmargin::provenance::Note::is_at_limit);
            assert!(at_limit || certificate.relative_gap <= 1.01e-7, "{what}: {certificate:?}");
            assert!(!at_limit || certificate.gap <= 1e-6, "{what}: {certificate:?}");
            assert!(certificate.primal >= low - 1e-8 * size, "{what}: {certificate:?} {low}");
            assert!(certificate.dual <= high + 1e-8 * size, "{what}: {certificate:?} {high}");
            assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{what}");
        }
    }
}

#[test]
fn a_tolerance_is_kept_by_both_solvers() {
    for seed in 0..54 {
        let case = random(seed);
        // Numbers of about 1, for which such a tolerance is meant.
        if case.targets.iter().any(|target| target.abs() > 10.0) || case.cost > 1.0 {
            continue;
        }
        for solver in SOLVERS {
            let mut params = case.params(Some(solver), 1.0);
            params.settings = Settings { tolerance: Some(1e-5), ..Settings::default() };
            let model = fit(&case.data(false), params, 1).unwrap();
            let what = format!("seed {seed}: {} {}", case.describe(), solver.name());
            let certificate = model.machines()[0].evidence.certificate().unwrap();
            let violation = certificate.violation;
            let is_nothing = certificate.primal.abs().max(certificate.gap) <= 1e-8;
            let may_stall = matches!(case.task, Task::OneClass { .. }) && is_nothing;
            assert!(may_stall || model.stop() == Stop::Converged, "{what}: {certificate:?}");
            assert!(violation <= 1.01e-5 * case.unit(), "{what}: {violation}");
        }
    }
}

#[test]
fn a_row_of_weight_k_is_k_copies_and_one_of_weight_0_is_absent() {
    for seed in 0..54 {
        let mut case = random(seed);
        let mut generator = Pcg64::seed_from_u64(seed + 1000);
        case.weights.iter_mut().for_each(|weight| *weight = f64::from(generator.random_range(0..4u8)));
        case.weights[0] = 2.0;
        let copies: Vec<usize> = (0..case.rows.len()).flat_map(|i| vec![i; case.weights[i] as usize]).collect();
        let copied = Case {
            rows: copies.iter().map(|&i| case.rows[i].clone()).collect(),
            targets: copies.iter().map(|&i| case.targets[i]).collect(),
            weights: vec![1.0; copies.len()],
            ..case
        };
        for solver in SOLVERS {
            let primal = |case: &Case| {
                let model = fit(&case.data(false), case.params(Some(solver), 1e-8), 1).unwrap();
                model.machines()[0].evidence.certificate().unwrap().primal
            };
            let (weighted, copied) = (primal(&case), primal(&copied));
            let close = (weighted - copied).abs() <= 2e-8 * weighted.abs().max(1.0);
            assert!(close, "seed {seed}: {} {}: {weighted} {copied}", case.describe(), solver.name());
        }
    }
}

#[test]
fn sparse_rows_give_the_optimum_of_dense_ones_and_threads_change_no_bit() {
    for seed in 0..27 {
        let case = random(seed);
        for solver in SOLVERS {
            let params = || case.params(Some(solver), 1e-7);
            let model = fit(&case.data(false), params(), 1).unwrap();
            let threads = fit(&case.data(false), params(), 4).unwrap();
            assert_eq!(format!("{:?}", model.parts()), format!("{:?}", threads.parts()), "seed {seed}");
            let sparse = fit(&case.data(true), params(), 1).unwrap();
            let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
            let (dense, sparse) = (primal(&model), primal(&sparse));
            assert!((dense - sparse).abs() <= 2e-7 * dense.abs().max(1.0), "seed {seed}: {dense} {sparse}");
        }
    }
}

#[test]
fn a_line_is_found_through_points_that_lie_on_it() {
    let rows: Vec<f64> = (0..50).map(f64::from).collect();
    let targets: Vec<f64> = rows.iter().map(|x| 3.0 * x - 7.0).collect();
    let data = Dataset::new(Matrix::dense(50, 1, rows).unwrap(), targets).unwrap();
    for loss in [Loss::Hinge, Loss::Squared] {
        let params = TrainingParams {
            task: Task::Regression { epsilon: 0.0 },
            loss: Some(loss),
            penalty: Penalty::C(1e3),
            settings: Settings { gap: Some(1e-9), ..Settings::default() },
            ..TrainingParams::default()
        };
        let model = fit(&data, params, 1).unwrap();
        let machine = &model.machines()[0];
        assert!((machine.weights.as_ref().unwrap()[0] - 3.0).abs() < 1e-4, "{loss:?}");
        assert!((machine.bias + 7.0).abs() < 1e-2, "{loss:?}: {}", machine.bias);
        let predictions = model.predict(&data, &Workers::none()).unwrap();
        assert!(predictions.codes().is_empty());
        assert!(predictions.numbers().zip(0..).all(|(found, x)| (found - (3.0 * f64::from(x) - 7.0)).abs() < 1e-2));
    }
}

#[test]
fn of_one_class_at_most_a_share_of_nu_is_outside_and_at_least_that_share_supports() {
    for seed in 0..20 {
        let mut generator = Pcg64::seed_from_u64(seed);
        let (rows, nu) = (200, generator.random_range(0.05..0.6));
        let values: Vec<f64> = (0..2 * rows).map(|_| generator.random_range(0.5..3.0)).collect();
        let data = Dataset::unlabelled(Matrix::dense(rows, 2, values).unwrap());
        let params = TrainingParams {
            task: Task::OneClass { nu },
            settings: Settings { gap: Some(1e-10), ..Settings::default() },
            ..TrainingParams::default()
        };
        let model = fit(&data, params, 1).unwrap();
        let certificate = model.machines()[0].evidence.certificate().unwrap();
        let allowed = (nu * rows as f64).ceil() as usize;
        assert!(certificate.counts.support >= allowed, "seed {seed}: {certificate:?}");
        let strictly = |value: f64| value < -1e-4 * model.machines()[0].bias.abs();
        let predictions = model.predict(&data, &Workers::none()).unwrap();
        let outside = predictions.numbers().filter(|&value| strictly(value)).count();
        assert!(outside <= allowed, "seed {seed}: {outside} of {allowed}");
        let texts: Vec<&str> = predictions.codes().iter().map(|&code| model.label(code).text()).collect();
        assert!(texts.contains(&"1"));
        assert!(predictions.numbers().zip(texts).all(|(value, text)| (value > 0.0) == (text == "1")));
    }
}

#[test]
fn a_warm_start_along_a_path_ends_at_the_same_optimum() {
    for seed in 0..18 {
        let case = random(seed);
        let data = case.data(false);
        for solver in SOLVERS {
            let old = fit(&data, case.params(Some(solver), 1e-6), 1).unwrap();
            let mut params = case.params(Some(solver), 1e-7);
            params.penalty = Penalty::C(1.5 * case.cost);
            let cold = fit(&data, params.clone(), 1).unwrap();
            let training = params.check().unwrap();
            let warm = training.fit_from(&data, Beginning::Model(&old), &Workers::none(), &mut Unattended).unwrap();
            let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
            let (warm, cold) = (primal(&warm), primal(&cold));
            assert!((warm - cold).abs() <= 2e-7 * cold.abs().max(1.0), "seed {seed} {}: {warm} {cold}", solver.name());
        }
    }
}

#[test]
fn what_is_no_problem_is_refused_with_the_reason() {
    let case = random(0);
    let regression = || TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..TrainingParams::default() };
    let one_class = || TrainingParams { task: Task::OneClass { nu: 0.5 }, ..TrainingParams::default() };
    let said = |params: TrainingParams| fit(&case.data(false), params, 1).unwrap_err().to_string();
    for (params, message) in [
        (
            TrainingParams { task: Task::Regression { epsilon: -0.1 }, ..TrainingParams::default() },
            "epsilon is -0.1, but it must be a finite number of 0 or more",
        ),
        (
            TrainingParams { task: Task::Regression { epsilon: f64::NAN }, ..TrainingParams::default() },
            "epsilon is NaN, but it must be a finite number of 0 or more",
        ),
        (
            TrainingParams { task: Task::OneClass { nu: 0.0 }, ..TrainingParams::default() },
            "nu is 0, but it must be above 0 and at most 1",
        ),
        (
            TrainingParams { task: Task::OneClass { nu: 1.5 }, ..TrainingParams::default() },
            "nu is 1.5, but it must be above 0 and at most 1",
        ),
        (TrainingParams { loss: Some(Loss::Logistic), ..regression() }, "regression has no logistic loss"),
        (TrainingParams { loss: Some(Loss::Squared), ..one_class() }, "one-class has no squared loss"),
        (
            TrainingParams { penalty: Penalty::Hard, ..regression() },
            "regression has no classes, and so no use for a hard margin",
        ),
        (
            TrainingParams { positive: Some(Label::new("1")), ..regression() },
            "regression has no classes, and so no use for a positive label",
        ),
        (TrainingParams { bias: Bias::None, ..one_class() }, "one-class needs an explicit bias: it is the threshold"),
        (
            TrainingParams { solver: Some(SolverKind::Sgd), ..regression() },
            "the solver sgd tells classes apart: it does no regression",
        ),
    ] {
        assert_eq!(said(params), message);
    }
    let words = Labels::new((0..case.rows.len()).map(|i| Label::new(if i == 1 { "tall" } else { "1.5" })));
    let error = fit(&case.data(false).with_answers(words).unwrap(), regression(), 1).unwrap_err();
    assert_eq!(error.to_string(), "the label \"tall\" of row 2 is not a number");
    let absent = case.data(false).with_weights(vec![0.0; case.rows.len()]).unwrap();
    assert_eq!(fit(&absent, regression(), 1).unwrap_err().to_string(), "there are no rows");
}
