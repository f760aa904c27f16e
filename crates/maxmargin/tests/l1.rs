//! The L1 norm against oracles of another make: a quadratic program for squared loss, proximal gradients for logistic loss,
//! and the optimality conditions from their definition.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::ops::ControlFlow;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT};
use maxmargin::certificate::{Certificate, Evidence};
use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::{ModelParts, Multiclass};
use maxmargin::problem::{Bias, Loss, Norm};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::Penalty;
use maxmargin::{Beginning, Error, Model, Progress, Stop, TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const LOSSES: [Loss; 2] = [Loss::Squared, Loss::Logistic];
const BIASES: [Bias; 3] = [Bias::Explicit, Bias::Folded, Bias::None];

/// A problem written down densely.
#[derive(Clone, Debug)]
struct Case {
    rows: Vec<Vec<f64>>,
    signs: Vec<f64>,
    costs: Vec<f64>,
    loss: Loss,
    bias: Bias,
}

/// w and b.
type Point = (Vec<f64>, f64);

impl Case {
    fn columns(&self) -> usize {
        self.rows[0].len()
    }

    fn value(&self, (weights, bias): &Point, i: usize) -> f64 {
        self.rows[i].iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() + bias
    }

    /// C ℓ and its slope in f.
    fn loss_and_slope(&self, i: usize, f: f64) -> (f64, f64) {
        let (sign, cost) = (self.signs[i], self.costs[i]);
        let z = sign * f;
        match self.loss {
            Loss::Squared => (cost * (1.0 - z).max(0.0).powi(2), -2.0 * cost * sign * (1.0 - z).max(0.0)),
            Loss::Logistic if z > 0.0 => (cost * (-z).exp().ln_1p(), -cost * sign * (-z).exp() / (1.0 + (-z).exp())),
            Loss::Logistic => (cost * (z.exp().ln_1p() - z), -cost * sign / (1.0 + z.exp())),
            Loss::Hinge => unreachable!("not with this norm"),
        }
    }

    fn primal(&self, point: &Point) -> f64 {
        let norm = point.0.iter().map(|w| w.abs()).sum::<f64>();
        let folded = if self.bias == Bias::Folded { point.1.abs() } else { 0.0 };
        norm + folded + (0..self.rows.len()).map(|i| self.loss_and_slope(i, self.value(point, i)).0).sum::<f64>()
    }

    /// The slopes of the losses in w, and in b.
    fn gradient(&self, point: &Point) -> Point {
        let (mut of_weights, mut of_bias) = (vec![0.0; self.columns()], 0.0);
        for (i, row) in self.rows.iter().enumerate() {
            let slope = self.loss_and_slope(i, self.value(point, i)).1;
            of_weights.iter_mut().zip(row).for_each(|(sum, x)| *sum += slope * x);
            of_bias += slope;
        }
        (of_weights, of_bias)
    }

    /// The largest component of the smallest subgradient.
    fn violation(&self, point: &Point) -> f64 {
        let (gradient, of_bias) = self.gradient(point);
        let of = |w: f64, g: f64| if w == 0.0 { (g.abs() - 1.0).max(0.0) } else { (g + w.signum()).abs() };
        let last = match self.bias {
            Bias::Explicit => of_bias.abs(),
            Bias::Folded => of(point.1, of_bias),
            Bias::None => 0.0,
        };
        point.0.iter().zip(&gradient).map(|(&w, &g)| of(w, g)).fold(last, f64::max)
    }

    fn dataset(&self, sparse: bool) -> Dataset {
        let matrix = Matrix::dense(self.rows.len(), self.columns(), self.rows.concat()).unwrap();
        let matrix = if sparse { matrix.to_sparse() } else { matrix };
        let labels = Labels::new(self.signs.iter().map(|&sign| Label::new(if sign > 0.0 { "+1" } else { "-1" })));
        Dataset::new(matrix, labels).unwrap().with_weights(self.costs.clone()).unwrap()
    }

    fn params(&self, tolerance: f64) -> TrainingParams {
        TrainingParams {
            penalty: Penalty::C(1.0),
            norm: Norm::L1,
            loss: Some(self.loss),
            bias: self.bias,
            settings: Settings { tolerance: Some(tolerance), ..Settings::default() },
            ..TrainingParams::default()
        }
    }

    fn fit(&self, tolerance: f64, sparse: bool) -> Model {
        fit(&self.dataset(sparse), self.params(tolerance))
    }
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn point(model: &Model) -> Point {
    let machine = &model.machines()[0];
    (machine.weights.clone().unwrap(), machine.bias)
}

/// More columns than rows now and then, some of them 0, constant, or copies of others; rows of unequal cost.
fn random(seed: u64, loss: Loss, bias: Bias) -> Case {
    let mut random = Pcg64::seed_from_u64(seed);
    let (count, columns) = (random.random_range(4..30), random.random_range(1..14));
    let scale = 10f64.powf(random.random_range(-1.5..1.0));
    let mut number = |low: f64, high: f64| random.random_range(low..high);
    let truth: Vec<f64> = (0..columns).map(|_| number(-1.0, 1.0)).collect();
    let (mut rows, mut signs) = (Vec::new(), Vec::new());
    for i in 0..count {
        let mut row: Vec<f64> = (0..columns).map(|_| number(-1.5, 1.5)).collect();
        if columns > 4 {
            row[1] = row[0];
            row[2] = 0.0;
            row[3] = 1.0;
        }
        let value = row.iter().zip(&truth).map(|(x, w)| x * w).sum::<f64>() + 0.3 + number(-0.5, 0.5);
        signs.push(match i {
            0 => 1.0,
            1 => -1.0,
            _ => value.signum(),
        });
        rows.push(row);
    }
    let costs = (0..count).map(|_| scale * number(0.5, 2.0)).collect();
    Case { rows, signs, costs, loss, bias }
}

/// min Σ (u_j + v_j) + Σ C ξ²,  ξ_i + t_i ⟨u − v, x_i⟩ + t_i b ≥ 1,  u, v ≥ 0: a quadratic program in (u, v, b⁺, b⁻, ξ).
fn quadratic_optimum(case: &Case) -> f64 {
    let (n, d) = (case.rows.len(), case.columns());
    let offset = usize::from(case.bias != Bias::None);
    let (first_bias, first_slack) = (2 * d, 2 * d + 2 * offset);
    let size = first_slack + n;
    let (mut starts, mut places, mut values) = (vec![0], vec![], vec![]);
    for j in 0..size {
        if j >= first_slack {
            places.push(j);
            values.push(2.0 * case.costs[j - first_slack]);
        }
        starts.push(places.len());
    }
    let objective = CscMatrix::new(size, size, starts, places, values);
    let mut linear = vec![1.0; 2 * d];
    linear.extend(vec![if case.bias == Bias::Folded { 1.0 } else { 0.0 }; 2 * offset]);
    linear.extend(vec![0.0; n]);
    // −(ξ + t f) + s = −1 and −u + s = 0 with s ≥ 0; an explicit bias is held by its two parts being 0 or more, too.
    let (mut starts, mut places, mut values) = (vec![0], vec![], vec![]);
    for j in 0..size {
        if j >= first_slack {
            places.push(j - first_slack);
            values.push(-1.0);
        } else {
            let negative = if j < first_bias { j >= d } else { j > first_bias };
            for i in 0..n {
                let x = if j < first_bias { case.rows[i][j % d] } else { 1.0 };
                places.push(i);
                values.push(if negative { case.signs[i] * x } else { -case.signs[i] * x });
            }
            places.push(n + j);
            values.push(-1.0);
        }
        starts.push(places.len());
    }
    let constraints = CscMatrix::new(n + first_slack, size, starts, places, values);
    let mut right = vec![-1.0; n];
    right.extend(vec![0.0; first_slack]);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let cones = [NonnegativeConeT(n + first_slack)];
    let mut solver = DefaultSolver::new(&objective, &linear, &constraints, &right, &cones, settings).unwrap();
    solver.solve();
    solver.solution.obj_val
}

/// Proximal gradients with momentum that starts anew when the objective rises.
fn proximal_optimum(case: &Case) -> f64 {
    let squares: f64 =
        (0..case.rows.len()).map(|i| case.costs[i] * (1.0 + case.rows[i].iter().map(|x| x * x).sum::<f64>())).sum();
    let rate = 1.0 / (squares * if case.loss == Loss::Squared { 2.0 } else { 0.25 });
    let shrink = |value: f64| value.signum() * (value.abs() - rate).max(0.0);
    let mut at: Point = (vec![0.0; case.columns()], 0.0);
    let (mut ahead, mut momentum, mut last) = (at.clone(), 1.0f64, f64::INFINITY);
    for _ in 0..300_000 {
        let (gradient, of_bias) = case.gradient(&ahead);
        let weights: Vec<f64> = ahead.0.iter().zip(&gradient).map(|(w, g)| shrink(w - rate * g)).collect();
        let bias = match case.bias {
            Bias::Explicit => ahead.1 - rate * of_bias,
            Bias::Folded => shrink(ahead.1 - rate * of_bias),
            Bias::None => 0.0,
        };
        let next: Point = (weights, bias);
        let primal = case.primal(&next);
        let larger = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let (part, larger) = if primal > last { (0.0, 1.0) } else { ((momentum - 1.0) / larger, larger) };
        ahead = (next.0.iter().zip(&at.0).map(|(a, b)| a + part * (a - b)).collect(), next.1 + part * (next.1 - at.1));
        (at, momentum, last) = (next, larger, primal);
        if case.violation(&at) <= 1e-9 {
            break;
        }
    }
    case.primal(&at)
}

#[test]
fn squared_loss_ends_where_a_quadratic_program_does() {
    for seed in 0..60 {
        for bias in BIASES {
            let case = random(seed, Loss::Squared, bias);
            let model = case.fit(1e-9, seed % 2 == 0);
            let (found, optimum) = (case.primal(&point(&model)), quadratic_optimum(&case));
            let what = format!("seed {seed} {bias:?}: {found} {optimum}");
            assert!((found - optimum).abs() <= 1e-7 * optimum.max(1.0), "{what}");
        }
    }
}

#[test]
fn logistic_loss_ends_where_proximal_gradients_do() {
    for seed in 0..20 {
        for bias in BIASES {
            let case = random(seed, Loss::Logistic, bias);
            let model = case.fit(1e-9, seed % 2 == 0);
            let (found, optimum) = (case.primal(&point(&model)), proximal_optimum(&case));
            let what = format!("seed {seed} {bias:?}: {found} {optimum}");
            assert!((found - optimum).abs() <= 1e-7 * optimum.max(1.0), "{what}");
        }
    }
}

/// The oracles can fail: at a point that is not the optimum, each says so.
#[test]
fn the_oracles_know_a_wrong_answer() {
    for loss in LOSSES {
        let case = random(3, loss, Bias::Explicit);
        let mut wrong = point(&case.fit(1e-9, false));
        let optimum = if loss == Loss::Squared { quadratic_optimum(&case) } else { proximal_optimum(&case) };
        assert!((case.primal(&wrong) - optimum).abs() <= 1e-7 * optimum && case.violation(&wrong) <= 1e-8);
        wrong.0[0] += 0.01;
        assert!(case.primal(&wrong) > optimum + 1e-6, "{loss:?}");
        assert!(case.violation(&wrong) > 1e-3, "{loss:?}");
    }
}

#[test]
fn the_certificate_is_true_and_tight_at_the_optimum() {
    for seed in 0..40 {
        for loss in LOSSES {
            for bias in BIASES {
                let case = random(seed, loss, bias);
                let model = case.fit(1e-8, seed % 2 == 1);
                let what = format!("seed {seed} {loss:?} {bias:?}");
                assert_eq!(model.stop(), Stop::Converged, "{what}");
                let certificate = model.machines()[0].evidence.certificate().unwrap();
                let at = point(&model);
                assert!((certificate.primal - case.primal(&at)).abs() <= 1e-10 * certificate.primal, "{what}");
                assert!((certificate.violation - case.violation(&at)).abs() <= 1e-10, "{what}");
                assert!(certificate.violation <= 1e-8, "{what}: {certificate:?}");
                assert!((0.0..=1e-6).contains(&certificate.relative_gap), "{what}: {certificate:?}");
                let used = at.0.iter().filter(|w| **w != 0.0).count();
                let counts = certificate.columns.unwrap();
                assert_eq!((counts.used, counts.used + counts.unused), (used, case.columns()), "{what}");
            }
        }
    }
}

/// However far a search has got, its dual is no larger than the optimum, nor its primal smaller.
#[test]
fn the_bounds_hold_at_every_step() {
    for seed in 0..25 {
        for loss in LOSSES {
            for bias in BIASES {
                let case = random(seed, loss, bias);
                let optimum = case.primal(&point(&case.fit(1e-10, false)));
                for steps in 1..6 {
                    let mut params = case.params(1e-12);
                    params.settings.max_iterations = Some(steps);
                    let model = fit(&case.dataset(false), params);
                    let found = model.machines()[0].evidence.certificate().unwrap();
                    let what = format!(
                        "seed {seed} {loss:?} {bias:?}, {steps} steps: {} {optimum} {}",
                        found.dual, found.primal
                    );
                    let slack = 1e-8 * optimum.max(1.0);
                    assert!(found.dual <= optimum + slack && found.primal >= optimum - slack, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_relative_gap_that_is_asked_for_is_the_certificates() {
    for seed in 0..20 {
        for loss in LOSSES {
            for bias in BIASES {
                let case = random(seed, loss, bias);
                let mut params = case.params(1.0);
                params.settings.gap = Some(1e-6);
                let model = fit(&case.dataset(false), params);
                let gap = model.machines()[0].evidence.certificate().unwrap().relative_gap;
                assert_eq!(model.stop(), Stop::Converged, "seed {seed} {loss:?} {bias:?}");
                assert!(gap <= 1.01e-6, "seed {seed} {loss:?} {bias:?}: {gap:e}");
            }
        }
    }
}

#[test]
fn dense_and_sparse_rows_and_copies_instead_of_weights_make_no_difference() {
    for seed in 0..15 {
        for loss in LOSSES {
            let mut case = random(seed, loss, Bias::Explicit);
            case.costs = (0..case.rows.len()).map(|i| 1.0 + (i % 3) as f64).collect();
            let mut copies = Case { rows: vec![], signs: vec![], costs: vec![], ..case.clone() };
            for i in 0..case.rows.len() {
                for _ in 0..case.costs[i] as usize {
                    copies.rows.push(case.rows[i].clone());
                    copies.signs.push(case.signs[i]);
                    copies.costs.push(1.0);
                }
            }
            let primal = case.primal(&point(&case.fit(1e-9, false)));
            for (name, other) in [("sparse", case.fit(1e-9, true)), ("copies", copies.fit(1e-9, false))] {
                let found = case.primal(&point(&other));
                assert!((found - primal).abs() <= 1e-9 * primal, "seed {seed} {loss:?} {name}: {found} {primal}");
            }
        }
    }
}

#[test]
fn a_small_c_leaves_no_column_in_use() {
    for loss in LOSSES {
        for bias in BIASES {
            let mut case = random(5, loss, bias);
            case.costs.iter_mut().for_each(|cost| *cost = 1e-4);
            let model = case.fit(1e-8, false);
            let certificate = model.machines()[0].evidence.certificate().unwrap();
            assert_eq!(model.stop(), Stop::Converged, "{loss:?} {bias:?}");
            assert_eq!(certificate.columns.unwrap().used, 0, "{loss:?} {bias:?}");
            assert!(certificate.relative_gap <= 1e-9, "{loss:?} {bias:?}: {certificate:?}");
            assert!(model.verify(&case.dataset(false), &Workers::none()).unwrap().holds());
        }
    }
}

/// Sparse rows of many columns of which few matter: working sets, all of them.
fn wide(rows: usize, columns: usize, seed: u64) -> Dataset {
    let mut random = Pcg64::seed_from_u64(seed);
    let (mut offsets, mut indices, mut values, mut labels) = (vec![0u64], vec![], vec![], vec![]);
    for _ in 0..rows {
        let mut chosen: Vec<u32> = (0..30).map(|_| random.random_range(0..columns as u32)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let numbers: Vec<f64> = chosen.iter().map(|_| random.random_range(0.2..1.0)).collect();
        let score: f64 = chosen
            .iter()
            .zip(&numbers)
            .map(|(&j, value)| {
                if j % 7 == 0 {
                    *value
                } else if j % 11 == 0 {
                    -value
                } else {
                    0.0
                }
            })
            .sum();
        labels.push(Label::new(if score + random.random_range(-0.3..0.3) > 0.0 { "+1" } else { "-1" }));
        values.extend(numbers);
        indices.extend(chosen);
        offsets.push(values.len() as u64);
    }
    Dataset::new(Matrix::sparse(rows, columns, offsets, indices, values).unwrap(), Labels::new(labels)).unwrap()
}

fn wide_params(loss: Loss, c: f64) -> TrainingParams {
    TrainingParams {
        penalty: Penalty::C(c),
        norm: Norm::L1,
        loss: Some(loss),
        settings: Settings { gap: Some(1e-7), ..Settings::default() },
        ..TrainingParams::default()
    }
}

#[test]
fn threads_change_no_bit_of_a_model_of_many_columns() {
    let data = wide(3000, 2000, 1);
    for loss in LOSSES {
        let fit = |threads: usize| {
            let training = wide_params(loss, 2.0).check().unwrap();
            training.fit(&data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap()
        };
        let (alone, team) = (fit(1), fit(4));
        assert_eq!(alone.stop(), Stop::Converged);
        let (weights, _) = point(&alone);
        let used = weights.iter().filter(|w| **w != 0.0).count();
        assert!((50..1900).contains(&used), "{used}");
        assert_eq!(point(&alone), point(&team));
        assert_eq!(alone.machines()[0].coefficients, team.machines()[0].coefficients);
        assert!(alone.verify(&data, &Workers::none()).unwrap().holds());
    }
}

#[test]
fn little_memory_for_a_matrix_changes_the_way_and_not_the_end() {
    let data = wide(1500, 1200, 2);
    for loss in LOSSES {
        let mut params = wide_params(loss, 2.0);
        let plenty = fit(&data, params.clone());
        params.settings.memory = 2 << 20;
        let little = fit(&data, params);
        let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
        assert_eq!((plenty.stop(), little.stop()), (Stop::Converged, Stop::Converged));
        assert!((primal(&plenty) - primal(&little)).abs() <= 2e-7 * primal(&plenty));
        assert_ne!(plenty.machines()[0].weights, little.machines()[0].weights, "both went the same way");
    }
}

#[test]
fn a_model_of_another_c_is_a_good_beginning() {
    let data = wide(2000, 1500, 3);
    for loss in LOSSES {
        let before = fit(&data, wide_params(loss, 1.5));
        let cold = fit(&data, wide_params(loss, 2.0));
        let training = wide_params(loss, 2.0).check().unwrap();
        let warm = training.fit_from(&data, Beginning::Model(&before), &Workers::none(), &mut Unattended).unwrap();
        let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
        assert!((primal(&warm) - primal(&cold)).abs() <= 2e-7 * primal(&cold), "{loss:?}");
        let steps = (warm.iterations(), cold.iterations());
        assert!(steps.0 < steps.1, "{loss:?}: {steps:?}");
    }
}

#[test]
fn several_classes_are_told_apart_in_pairs_and_one_by_one() {
    let iris = maxmargin::data::embedded("iris").unwrap();
    for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
        for loss in LOSSES {
            let params = TrainingParams {
                multiclass: Some(multiclass),
                settings: Settings { gap: Some(1e-6), ..Settings::default() },
                ..wide_params(loss, 10.0)
            };
            let model = fit(&iris, params);
            assert_eq!(model.stop(), Stop::Converged, "{multiclass:?} {loss:?}");
            assert_eq!(model.machines().len(), 3);
            assert!(model.verify(&iris, &Workers::none()).unwrap().holds());
            let wrong = model
                .predict(&iris, &Workers::none())
                .unwrap()
                .codes()
                .iter()
                .zip(iris.labels().unwrap().codes())
                .filter(|(found, label)| found != label)
                .count();
            assert!(wrong <= 10, "{multiclass:?} {loss:?}: {wrong}");
        }
    }
}

#[test]
fn an_interrupt_leaves_a_certified_model() {
    let data = wide(1000, 800, 4);
    for steps in 0..4 {
        let mut control = |progress: Progress| match progress.iteration < steps {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(Stop::Interrupted),
        };
        let training = wide_params(Loss::Logistic, 1.0).check().unwrap();
        let model = training.fit(&data, &Workers::none(), &mut control).unwrap();
        assert_eq!(model.stop(), Stop::Interrupted);
        assert!(model.machines()[0].evidence.certificate().unwrap().gap > 0.0);
        assert!(model.verify(&data, &Workers::none()).unwrap().holds());
    }
}

#[test]
fn what_does_not_go_with_the_l1_norm_is_refused_with_a_way_out() {
    let data = maxmargin::data::embedded("e2").unwrap();
    let l1 = || TrainingParams { norm: Norm::L1, ..TrainingParams::default() };
    let refused = |params: TrainingParams| {
        let error = match params.check() {
            Ok(training) => training.fit(&data, &Workers::none(), &mut Unattended).err(),
            Err(error) => Some(error),
        };
        let Some(error @ Error::Combination { .. }) = error else { panic!("{error:?}") };
        (error.to_string(), error.help())
    };
    let (what, help) = refused(TrainingParams { loss: Some(Loss::Hinge), ..l1() });
    assert!(what.starts_with("hinge loss has corners"), "{what}");
    assert_eq!(help, "choose loss squared or logistic, or norm l2");
    let (what, _) = refused(TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Scale }, ..l1() });
    assert!(what.contains("only the linear kernel"), "{what}");
    let (what, _) = refused(TrainingParams { penalty: Penalty::Hard, ..l1() });
    assert!(what.starts_with("a hard margin with the L1 norm"), "{what}");
    let (what, _) = refused(TrainingParams { penalty: Penalty::None, loss: Some(Loss::Logistic), ..l1() });
    assert!(what.starts_with("without a penalty"), "{what}");
    for multiclass in [Multiclass::Joint, Multiclass::CrammerSinger] {
        let (what, help) = refused(TrainingParams { multiclass: Some(multiclass), ..l1() });
        assert!(what.contains("trained together") && help.contains("ovr"), "{what}");
    }
    for kind in SolverKind::ALL.into_iter().filter(|&kind| kind != SolverKind::L1Newton) {
        let (what, help) = refused(TrainingParams { solver: Some(kind), loss: Some(Loss::Squared), ..l1() });
        assert_eq!(what, format!("the solver {} does not minimise the L1 norm", kind.name()));
        assert!(help.contains("l1-newton"), "{help}");
    }
    let (what, _) = refused(TrainingParams { solver: Some(SolverKind::L1Newton), ..TrainingParams::default() });
    assert_eq!(what, "the solver l1-newton is for the L1 norm");
}

#[test]
fn a_forged_count_of_columns_or_norm_is_noticed() {
    let data = maxmargin::data::embedded("e2").unwrap();
    let model = fit(&data, TrainingParams { norm: Norm::L1, ..TrainingParams::default() });
    let holds = |edit: &dyn Fn(&mut ModelParts)| {
        let mut parts = model.parts().clone();
        edit(&mut parts);
        Model::new(parts).unwrap().verify(&data, &Workers::none()).unwrap().holds()
    };
    let certificate = |parts: &mut ModelParts, edit: fn(&mut Certificate)| match &mut parts.machines[0].evidence {
        Evidence::Certificate(certificate) => edit(certificate),
        Evidence::None(reason) => panic!("{reason}"),
    };
    assert!(holds(&|_| {}));
    assert!(!holds(&|parts| certificate(parts, |found| found.columns.as_mut().unwrap().used += 1)));
    assert!(!holds(&|parts| certificate(parts, |found| found.columns = None)));
    assert!(!holds(&|parts| certificate(parts, |found| found.dual *= 1.001)));
    assert!(!holds(&|parts| parts.recipe.norm = Norm::L2));
}

#[test]
fn the_loss_is_squared_and_lambda_that_of_the_l1_norm_where_nothing_else_is_said() {
    let data = maxmargin::data::embedded("e2").unwrap();
    let rows = data.rows() as f64;
    let l1 = |penalty: Penalty| TrainingParams { norm: Norm::L1, penalty, ..TrainingParams::default() };
    let (one, other) = (fit(&data, l1(Penalty::C(2.0))), fit(&data, l1(Penalty::Lambda(1.0 / (2.0 * rows)))));
    assert_eq!((one.recipe().loss, one.provenance().solver()), (Loss::Squared, Some(SolverKind::L1Newton)));
    let cost = other.machines()[0].cost.unwrap();
    assert!((cost - 2.0).abs() < 1e-12, "{cost}");
}
