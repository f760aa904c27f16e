//! Every solver, every kernel, loss, bias and storage: random problems against two oracles of another make.
#![allow(clippy::unwrap_used)] // all of this file is tests

mod oracle;

use std::collections::BTreeMap;

use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::{Error, Stop, TrainingParams, Unattended, Workers};
use oracle::problems::{Formula, Random, random};
use oracle::program::{Optimum, optimum};
use oracle::{Answer, Case};

const TOLERANCE: f64 = 1e-6;

/// How many random problems.
const SEEDS: u64 = 220;

/// Seeds beyond those that once found a fault: every variable at a bound and the sum not 0 (interior-point), and an α that
/// grew beyond f64 on a kernel that is not positive semidefinite (smo).
const ONCE_WRONG: [u64; 3] = [1850, 5021, 2852];

/// The solvers that go for the optimum itself.
fn minimisers() -> impl Iterator<Item = SolverKind> {
    let baseline = [
        SolverKind::Sgd,
        SolverKind::Perceptron,
        SolverKind::KernelPerceptron,
        SolverKind::Lda,
        SolverKind::Rvm,
        SolverKind::Mlp,
    ];
    SolverKind::ALL.into_iter().filter(move |kind| !baseline.contains(kind))
}

/// What may stand between a primal value and the optimum when no condition is violated by more than `violation`.
fn promised(case: &Case, answer: &Answer, violation: f64) -> f64 {
    let mass: f64 = match case.loss {
        Loss::Squared => answer.coefficients.iter().map(|c| c.abs()).sum(),
        _ => case.costs.iter().sum(),
    };
    let curved: f64 = case.costs.iter().map(|cost| cost * violation).sum();
    violation * (mass + if case.loss == Loss::Squared { curved } else { 0.0 })
}

/// Trains one problem by one solver, and complains of everything that is not as it must be. `None`: not its problem.
fn complaints(problem: &Random, kind: SolverKind, optimum: Option<Optimum>) -> Option<(Stop, Vec<String>)> {
    // A cap, so that slow is no worse than honest.
    let max_iterations = Some(if kind == SolverKind::DualAscent { 20_000 } else { 200_000 });
    let settings = Settings { tolerance: Some(TOLERANCE), max_iterations, ..Settings::default() };
    let params = TrainingParams { solver: Some(kind), settings, ..problem.params.clone() };
    let workers = Workers::none();
    let model = match params.check().unwrap().fit(&problem.data, &workers, &mut Unattended) {
        Ok(model) => model,
        Err(Error::Combination { .. }) => return None,
        Err(error) => return Some((Stop::Stalled, vec![format!("error: {error}")])),
    };
    let mut wrong = vec![];
    let mut demand = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    let verification = model.verify(&problem.data, &workers).unwrap();
    demand(verification.holds(), format!("verify: {:?}", verification.disagreements));
    let machine = &model.machines()[0];
    let (Some(certificate), Some(optimum)) = (machine.evidence.certificate(), optimum) else {
        return Some((machine.stop, wrong));
    };
    let answer = Answer::of(&model);
    let verdict = problem.case.judge(&answer);
    let size = optimum.size();
    let rounding = verdict.rounding * (1.0 + problem.case.costs.iter().sum::<f64>());
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + rounding + 1e-12;
    demand(same(certificate.primal, verdict.primal), format!("primal {} is {}", certificate.primal, verdict.primal));
    demand(same(certificate.dual, verdict.dual), format!("dual {} is {}", certificate.dual, verdict.dual));
    demand(
        (certificate.violation - verdict.violation).abs() <= 1e-9 + verdict.rounding,
        format!("violation {} is {}", certificate.violation, verdict.violation),
    );
    demand(certificate.gap >= 0.0, format!("gap {:e}", certificate.gap));
    demand(verdict.gap >= -1e-9 * size - rounding, format!("the oracle's gap {:e}", verdict.gap));
    // Weak duality, whatever the solver reached.
    let slack = 1e-8 * size + 1e-9 + rounding;
    demand(verdict.primal >= optimum.low - slack, format!("primal {} below {optimum:?}", verdict.primal));
    demand(verdict.dual <= optimum.high + slack, format!("dual {} above {optimum:?}", verdict.dual));
    if machine.stop == Stop::Converged {
        let accuracy = 1e-6 * size + 1e-9 + rounding;
        demand(verdict.violation <= TOLERANCE + verdict.rounding, format!("converged at {:e}", verdict.violation));
        let mass: f64 = answer.coefficients.iter().map(|c| c.abs()).sum();
        demand(
            verdict.infeasibility <= 1e-9 * mass,
            format!("converged, but infeasible by {:e}", verdict.infeasibility),
        );
        demand(optimum.distance(verdict.dual) <= accuracy, format!("dual {} not {optimum:?}", verdict.dual));
        let promised = promised(&problem.case, &answer, TOLERANCE);
        demand(
            optimum.distance(verdict.primal) <= accuracy.max(promised),
            format!("primal {} not {optimum:?} (promised {promised:e})", verdict.primal),
        );
    }
    Some((machine.stop, wrong))
}

/// Whether a problem is convex: all of these kernels are positive semidefinite, but the sigmoid.
fn convex(problem: &Random) -> bool {
    !matches!(problem.formula, Formula::Sigmoid(..))
}

#[test]
fn every_solver_of_a_problem_finds_the_optimum_and_certifies_it_truly() {
    let mut wrong = vec![];
    let mut stops: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut sharp = 0;
    for seed in (0..SEEDS).chain(ONCE_WRONG) {
        let problem = random(seed);
        let optimum = convex(&problem).then(|| optimum(&problem.case));
        sharp += usize::from(optimum.is_some_and(|optimum| optimum.is_sharp()));
        for kind in minimisers() {
            let Some((stop, complaints)) = complaints(&problem, kind, optimum) else { continue };
            if stop != Stop::Converged {
                println!("seed {seed} ({}), {}: {}", problem.describe(), kind.name(), stop.name());
            }
            *stops.entry((kind.name(), stop.name())).or_default() += 1;
            for complaint in complaints {
                wrong.push(format!("seed {seed} ({}), {}: {complaint}", problem.describe(), kind.name()));
            }
        }
    }
    println!("{stops:?}; {sharp} sharp optima of {SEEDS}");
    assert!(wrong.is_empty(), "{} complaints:\n{}\n{stops:?}", wrong.len(), wrong.join("\n"));
    assert!(sharp as u64 * 10 >= SEEDS * 8, "the program's optimum is sharp for {sharp} of {SEEDS} only");
    for kind in ["smo", "dual-ascent", "interior-point", "newton", "kernel-newton"] {
        let count = |wanted: Option<&str>| -> usize {
            let of = |key: &(&str, &str)| key.0 == kind && wanted.is_none_or(|stop| key.1 == stop);
            stops.iter().filter(|(key, _)| of(key)).map(|(_, count)| count).sum()
        };
        let (converged, all) = (count(Some("converged")), count(None));
        assert!(all > 0, "{kind} takes no part");
        assert!(converged * 10 >= all * 8, "{kind} converges on {converged} of {all} problems only");
    }
}

#[test]
fn stochastic_descent_brackets_the_optimum_by_its_certified_gap() {
    let (mut converged, mut problems) = (0, 0);
    for seed in 0..4 * SEEDS {
        let problem = random(seed);
        if problem.formula != Formula::Linear || problem.case.loss != Loss::Hinge {
            continue;
        }
        problems += 1;
        let settings = Settings { tolerance: Some(1e-2), ..Settings::default() };
        let params = TrainingParams { solver: Some(SolverKind::Sgd), settings, ..problem.params.clone() };
        let model = params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
        let certificate = model.machines()[0].evidence.certificate().unwrap();
        let (verdict, optimum) = (problem.case.judge(&Answer::of(&model)), optimum(&problem.case));
        let slack = 1e-8 * optimum.size() + 1e-9;
        let name = format!("seed {seed} ({}): {certificate:?}, {verdict:?}, {optimum:?}", problem.describe());
        assert!(verdict.primal >= optimum.low - slack && verdict.dual <= optimum.high + slack, "{name}");
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-12;
        assert!(same(certificate.primal, verdict.primal) && same(certificate.dual, verdict.dual), "{name}");
        if model.stop() == Stop::Converged {
            converged += 1;
            assert!(certificate.gap <= 1e-2 * certificate.primal.max(1.0), "{name}");
        }
        assert!(model.verify(&problem.data, &Workers::none()).unwrap().holds(), "{name}");
    }
    assert!(converged * 2 >= problems, "{converged} of {problems} converge");
}

#[test]
fn logistic_regression_ends_where_its_gradient_is_nothing() {
    for seed in 0..SEEDS {
        let problem = random(seed);
        if problem.formula != Formula::Linear {
            continue;
        }
        let case = &problem.case;
        let settings = Settings { tolerance: Some(TOLERANCE), ..Settings::default() };
        let solver = Some(SolverKind::Logistic);
        let params = TrainingParams { solver, loss: Some(Loss::Logistic), settings, ..problem.params.clone() };
        let model = params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
        assert_eq!(model.stop(), Stop::Converged, "seed {seed} ({})", problem.describe());
        let machine = &model.machines()[0];
        let (weights, bias) = (machine.weights.as_ref().unwrap(), machine.bias);
        // ∇ of ½‖w‖² + Σ C_i log(1 + exp(−y_i f(x_i))), by the definition.
        let gradient = |weights: &[f64], bias: f64| {
            let mut gradient = weights.to_vec();
            gradient.push(if case.bias == Bias::Folded { bias } else { 0.0 });
            for (i, x) in case.rows.iter().enumerate() {
                let margin = case.signs[i] * (oracle::dot(x, weights) + bias);
                let pull = case.costs[i] * case.signs[i] / (1.0 + margin.exp());
                for (slope, x) in gradient.iter_mut().zip(x.iter().chain([&1.0])) {
                    *slope -= pull * x;
                }
            }
            if case.bias == Bias::None {
                gradient.pop();
            }
            gradient.iter().map(|slope| slope.abs()).fold(0.0, f64::max)
        };
        let mass: f64 = case.costs.iter().sum();
        let found = gradient(weights, bias);
        assert!(found <= TOLERANCE + 1e-13 * mass, "seed {seed} ({}): {found:e}", problem.describe());
        let certified = machine.evidence.certificate().unwrap();
        assert!((certified.violation - found).abs() <= 1e-9 + 1e-13 * mass, "seed {seed}: {certified:?} {found:e}");
        assert!(certified.gap >= 0.0, "seed {seed}: {certified:?}");
        // The control: elsewhere it is not.
        let elsewhere: Vec<f64> = weights.iter().map(|weight| weight + 0.1).collect();
        assert!(gradient(&elsewhere, bias) > TOLERANCE, "seed {seed}");
    }
}

/// A problem, its answer by smo, and the optimum.
fn solved(seed: u64) -> (Random, Answer, Optimum) {
    let problem = random(seed);
    let settings = Settings { tolerance: Some(1e-9), ..Settings::default() };
    let params = TrainingParams { solver: Some(SolverKind::Smo), settings, ..problem.params.clone() };
    let model = params.check().unwrap().fit(&problem.data, &Workers::none(), &mut Unattended).unwrap();
    let optimum = optimum(&problem.case);
    (problem, Answer::of(&model), optimum)
}

/// Seeds of an explicit, a folded and no bias, either loss.
const CONTROLS: [u64; 6] = [2, 13, 24, 35, 46, 57];

#[test]
fn the_oracle_notices_a_wrong_multiplier() {
    for seed in CONTROLS {
        let (problem, answer, _) = solved(seed);
        let good = problem.case.judge(&answer);
        assert!(good.violation < 1e-8, "seed {seed}: {good:?}");
        let largest = answer.coefficients.iter().map(|c| c.abs()).fold(0.0, f64::max);
        let place = answer.coefficients.iter().position(|c| c.abs() == largest).unwrap();
        // Moved inward, so that no bound hides it.
        let mut other = answer.clone();
        other.coefficients[place] *= 0.9;
        let bad = problem.case.judge(&other);
        assert!(bad.violation > 1e-6, "seed {seed}: {bad:?}");
        assert!(bad.dual < good.dual, "seed {seed}: {bad:?}");
        assert!(problem.case.bias != Bias::Explicit || bad.infeasibility > 1e-6, "seed {seed}: {bad:?}");
        // Moved outward, past its bound or into the margin.
        let mut other = answer.clone();
        other.coefficients[place] *= 2.0;
        let bad = problem.case.judge(&other);
        assert!(bad.violation > 1e-6 || bad.infeasibility > 1e-6, "seed {seed}: {bad:?}");
    }
}

#[test]
fn the_oracle_notices_a_wrong_offset() {
    for seed in CONTROLS {
        let (problem, answer, _) = solved(seed);
        let good = problem.case.judge(&answer);
        for step in [0.5, -0.5] {
            let bad = problem.case.judge(&Answer { bias: answer.bias + step, ..answer.clone() });
            if problem.case.bias == Bias::Explicit {
                assert!(bad.gap > good.gap, "seed {seed}, step {step}: {bad:?} {good:?}");
            } else {
                assert!(bad.primal != good.primal, "seed {seed}, step {step}: {bad:?} {good:?}");
            }
        }
    }
}

#[test]
fn the_program_notices_a_wrong_problem() {
    for seed in CONTROLS {
        let (problem, answer, right) = solved(seed);
        let verdict = problem.case.judge(&answer);
        assert!(right.distance(verdict.dual) <= 1e-6 * right.size() + 1e-9, "seed {seed}");
        let mut other = problem.case.clone();
        other.costs.iter_mut().for_each(|cost| *cost *= 1.1);
        other.gram.iter_mut().flatten().for_each(|value| *value *= 0.9);
        let wrong = optimum(&other);
        assert!(wrong.distance(verdict.dual) > 1e-4 * right.size(), "seed {seed}: {wrong:?} {right:?}");
    }
}

#[test]
fn every_kernel_loss_bias_and_storage_comes_round() {
    let problems: Vec<Random> = (0..SEEDS).map(random).collect();
    let count = |test: &dyn Fn(&Random) -> bool| problems.iter().filter(|problem| test(problem)).count();
    for loss in [Loss::Hinge, Loss::Squared] {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for sparse in [false, true] {
                let stored =
                    |problem: &Random| matches!(problem.data.matrix(), maxmargin::data::Matrix::Sparse(_)) == sparse;
                assert!(count(&|p| p.case.loss == loss && p.case.bias == bias && stored(p)) >= 5, "{loss:?} {bias:?}");
            }
        }
    }
    assert!(count(&|problem| problem.formula == Formula::Linear) >= 15);
}
