//! What solvers say of their steps, against computations that are written down naively: kernels, objectives, segments and classes are
//! computed here from the points alone.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::ops::ControlFlow;

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::kernel::{Gamma, KernelParams, Points};
use maxmargin::problem::{Decision, MarginParts, MarginProblem};
use maxmargin::solver::{Settings, Solution, SolverKind, solve};
use maxmargin::{
    Bias, CheckpointControl, Control, Loss, Model, Penalty, Progress, Step, Stop, TrainingParams, Unattended, Workers,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Keeps all steps.
#[derive(Default)]
struct Watcher(Vec<Step>);

impl Control for Watcher {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    fn wants_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        self.0.push(step);
    }
}

impl CheckpointControl for Watcher {}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Formula {
    Linear,
    Quadratic,
    Gaussian,
}

/// A small problem.
#[derive(Clone, Debug)]
struct Case {
    points: Vec<[f64; 2]>,
    signs: Vec<f64>,
    cost: f64,
    formula: Formula,
    loss: Loss,
    bias: Bias,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        let rows = random.random_range(4..11);
        let points: Vec<[f64; 2]> =
            (0..rows).map(|_| [random.random_range(-2.0..2.0), random.random_range(-2.0..2.0)]).collect();
        let mut signs: Vec<f64> =
            points.iter().map(|x| if x[0] + random.random_range(-1.0..1.0) > 0.0 { 1.0 } else { -1.0 }).collect();
        (signs[0], signs[1]) = (1.0, -1.0);
        let cost = [0.1, 1.0, 10.0][random.random_range(0..3)];
        let formula = [Formula::Linear, Formula::Quadratic, Formula::Gaussian][random.random_range(0..3)];
        let loss = [Loss::Hinge, Loss::Squared][random.random_range(0..2)];
        Case { points, signs, cost, formula, loss, bias: Bias::Explicit }
    }

    fn with(&self, formula: Formula, loss: Loss, bias: Bias) -> Self {
        Case { formula, loss, bias, ..self.clone() }
    }

    fn kernel(&self, i: usize, j: usize) -> f64 {
        let (x, z) = (self.points[i], self.points[j]);
        let constant = if self.bias == Bias::Folded { 1.0 } else { 0.0 };
        let product = x[0] * z[0] + x[1] * z[1] + constant;
        match self.formula {
            Formula::Linear => product,
            Formula::Quadratic => (product + 1.0).powi(2),
            Formula::Gaussian => (-0.7 * ((x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2))).exp(),
        }
    }

    /// What squared loss adds to the diagonal.
    fn ridge(&self) -> f64 {
        if self.loss == Loss::Squared { 0.5 / self.cost } else { 0.0 }
    }

    fn upper(&self) -> f64 {
        if self.loss == Loss::Squared { f64::INFINITY } else { self.cost }
    }

    /// Σ_j α_j y_j K_ij
    fn lifted(&self, alpha: &[f64], i: usize) -> f64 {
        (0..alpha.len()).map(|j| alpha[j] * self.signs[j] * self.kernel(i, j)).sum()
    }

    /// Σ α − ½ Σ α_i α_j y_i y_j K'_ij
    fn dual(&self, alpha: &[f64]) -> f64 {
        let row =
            |i: usize| alpha[i] - 0.5 * alpha[i] * (self.signs[i] * self.lifted(alpha, i) + self.ridge() * alpha[i]);
        (0..alpha.len()).map(row).sum()
    }

    fn primal(&self, alpha: &[f64], bias: f64) -> f64 {
        let norm: f64 = (0..alpha.len()).map(|i| alpha[i] * self.signs[i] * self.lifted(alpha, i)).sum();
        let row = |i: usize| self.cost * self.loss.value(self.signs[i] * (self.lifted(alpha, i) + bias));
        0.5 * norm + (0..alpha.len()).map(row).sum::<f64>()
    }

    fn solve(&self, kind: SolverKind, settings: &Settings) -> (Vec<Step>, Solution) {
        let mut watcher = Watcher::default();
        let solution = self.run(kind, settings, &mut watcher);
        (watcher.0, solution)
    }

    fn run(&self, kind: SolverKind, settings: &Settings, control: &mut dyn Control) -> Solution {
        let matrix = Matrix::dense(self.points.len(), 2, self.points.concat()).unwrap();
        let params = match self.formula {
            Formula::Linear => KernelParams::Linear,
            Formula::Quadratic => KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 },
            Formula::Gaussian => KernelParams::Rbf { gamma: Gamma::Value(0.7) },
        };
        let kernel = params.check(&matrix).unwrap();
        let points = Points::new(matrix, self.bias == Bias::Folded);
        let workers = Workers::none();
        let rows = (0..self.signs.len()).collect();
        let parts = MarginParts {
            costs: vec![self.cost; self.signs.len()],
            loss: self.loss,
            bias: self.bias,
            ..MarginParts::new(&kernel, &points, &workers, rows, self.signs.clone())
        };
        solve(kind, &MarginProblem::new(parts).unwrap(), settings, control).unwrap()
    }
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a - b).abs() <= 1e-8 * scale.abs().max(1.0)
}

/// The first thing that is wrong with the pairs of a search.
fn fault_of_pairs(case: &Case, steps: &[Step]) -> Result<Vec<f64>, String> {
    let mut alpha = vec![0.0; case.signs.len()];
    for (number, step) in steps.iter().enumerate() {
        let &Step::Pair { i, j, signs, upper, before, after, low, high, wanted, taken, gain, dual, gap, bias, .. } =
            step
        else {
            return Err(format!("step {number} is no pair: {step:?}"));
        };
        let fail = |what: &str, found: f64, naive: f64| Err(format!("step {number}: {what} is {found}, not {naive}"));
        if before != [alpha[i], alpha[j]] || signs != [case.signs[i], case.signs[j]] || upper != [case.upper(); 2] {
            return Err(format!("step {number} begins elsewhere: {step:?}, {alpha:?}"));
        }
        let ([a, b], bound) = (before, case.upper());
        let (least, most) = if signs[0] == signs[1] {
            ((a + b - bound).max(0.0), (a + b).min(bound))
        } else {
            ((b - a).max(0.0), (bound + b - a).min(bound))
        };
        if !close(low, least, a + b) || !close(high, most, a + b) {
            return Err(format!("step {number}: from {low} to {high}, not from {least} to {most}"));
        }
        // Platt's step: α_2 + y_2 (E_1 − E_2)/η.
        let error = |k: usize| case.lifted(&alpha, k) + case.ridge() * alpha[k] * case.signs[k] - case.signs[k];
        let eta = case.kernel(i, i) + case.kernel(j, j) - 2.0 * case.kernel(i, j) + 2.0 * case.ridge();
        let free = b + signs[1] * (error(i) - error(j)) / eta;
        if !close(wanted, free, free) {
            return fail("the wanted end", wanted, free);
        }
        if !close(taken, free.clamp(least, most), free) || taken != after[1] {
            return fail("the end", taken, free.clamp(least, most));
        }
        let old = case.dual(&alpha);
        (alpha[i], alpha[j]) = (after[0], after[1]);
        let new = case.dual(&alpha);
        if !close(dual, new, new) {
            return fail("the dual objective", dual, new);
        }
        if !close(gain, new - old, new) || gain < 0.0 {
            return fail("the gain", gain, new - old);
        }
        let naive = case.primal(&alpha, bias.unwrap()) - new;
        if !close(gap, naive, new.abs() + naive) {
            return fail("the gap", gap, naive);
        }
    }
    Ok(alpha)
}

#[test]
fn pairs_of_smo_are_those_of_platt_and_end_at_the_fit() {
    for seed in 0..500 {
        let case = Case::random(seed);
        let (steps, solution) = case.solve(SolverKind::Smo, &Settings::default());
        assert!(!steps.is_empty(), "seed {seed}");
        let alpha = fault_of_pairs(&case, &steps).unwrap_or_else(|fault| panic!("seed {seed}, {case:?}: {fault}"));
        assert_eq!(Some(&alpha), solution.alpha.as_ref(), "seed {seed}: the last step is not the fit");
        let unseen = case.run(SolverKind::Smo, &Settings::default(), &mut Unattended);
        assert_eq!(
            (solution.decision, solution.alpha),
            (unseen.decision, unseen.alpha),
            "seed {seed}: watching changes the fit"
        );
    }
}

#[test]
fn a_wrong_bound_kernel_or_class_is_seen() {
    let case = Case { cost: 0.1, loss: Loss::Hinge, ..Case::random(3) };
    let (steps, _) = case.solve(SolverKind::Smo, &Settings::default());
    assert!(fault_of_pairs(&case, &steps).is_ok());
    let mut other = case.clone();
    other.cost = 0.1001;
    assert!(fault_of_pairs(&other, &steps).is_err());
    let mut other = case.clone();
    other.points[1][0] += 1e-3;
    assert!(fault_of_pairs(&other, &steps).is_err());
    let mut other = case;
    other.signs.iter_mut().for_each(|sign| *sign = -*sign);
    assert!(fault_of_pairs(&other, &steps).is_err());
}

#[test]
fn without_a_sum_pairs_lie_in_the_rectangle_of_both_bounds_and_gain_what_they_say() {
    for seed in 0..100 {
        let case = Case { bias: Bias::Folded, ..Case::random(seed) };
        let (steps, solution) = case.solve(SolverKind::Smo, &Settings::default());
        let mut alpha = vec![0.0; case.signs.len()];
        for step in &steps {
            let &Step::Pair { i, j, after, low, high, taken, gain, dual, .. } = step else { panic!("{step:?}") };
            let old = case.dual(&alpha);
            (alpha[i], alpha[j]) = (after[0], after[1]);
            let new = case.dual(&alpha);
            assert!(close(dual, new, new) && close(gain, new - old, new), "seed {seed}: {step:?}, {old} to {new}");
            assert!((low, high) == (0.0, case.upper()) && (low..=high).contains(&taken), "seed {seed}: {step:?}");
        }
        assert_eq!(Some(alpha), solution.alpha, "seed {seed}");
    }
}

#[test]
fn coordinates_of_dual_ascent_gain_what_they_say_and_end_at_the_fit() {
    for seed in 0..200 {
        let bias = if seed % 2 == 0 { Bias::Folded } else { Bias::None };
        let case = Case { bias, ..Case::random(seed) };
        let settings = Settings { tolerance: Some(1e-4), max_iterations: Some(60), ..Settings::default() };
        let (steps, solution) = case.solve(SolverKind::DualAscent, &settings);
        let mut alpha = vec![0.0; case.signs.len()];
        for step in &steps {
            let &Step::Coordinate { row, sign, low, high, before, wanted, taken, gain, dual, .. } = step else {
                panic!("{step:?}")
            };
            assert!(before == alpha[row] && sign == case.signs[row] && (low, high) == (0.0, case.upper()), "{step:?}");
            let slope = 1.0 - case.signs[row] * case.lifted(&alpha, row) - case.ridge() * alpha[row];
            let free = before + slope / (case.kernel(row, row) + case.ridge());
            assert!(close(wanted, free, free) && close(taken, free.clamp(low, high), free), "seed {seed}: {step:?}");
            let old = case.dual(&alpha);
            alpha[row] = taken;
            let new = case.dual(&alpha);
            assert!(close(gain, new - old, new) && close(dual.unwrap(), new, new), "seed {seed}: {step:?}, {new}");
        }
        assert_eq!(Some(alpha), solution.alpha, "seed {seed} {case:?}");
    }
}

#[test]
fn with_an_explicit_bias_coordinates_still_end_at_the_fit() {
    let case = Case::random(7).with(Formula::Linear, Loss::Hinge, Bias::Explicit);
    let (steps, solution) = case.solve(SolverKind::DualAscent, &Settings::default());
    let mut alpha = vec![0.0; case.signs.len()];
    for step in &steps {
        let &Step::Coordinate { row, before, taken, dual, .. } = step else { panic!("{step:?}") };
        assert_eq!((before, dual), (alpha[row], None));
        alpha[row] = taken;
    }
    // The fit is balanced, which the search approaches from outside.
    let found = solution.alpha.unwrap();
    assert!(alpha.iter().zip(&found).all(|(a, b)| (a - b).abs() < 0.05 * case.cost), "{alpha:?} {found:?}");
}

#[test]
fn mistakes_of_the_perceptrons_are_rows_on_the_wrong_side_and_add_up_to_the_fit() {
    for seed in 0..100 {
        for (kind, formula) in [
            (SolverKind::Perceptron, Formula::Linear),
            (SolverKind::KernelPerceptron, Formula::Gaussian),
            (SolverKind::KernelPerceptron, Formula::Quadratic),
        ] {
            let case = Case::random(seed).with(formula, Loss::Hinge, Bias::Explicit);
            let settings = Settings { max_iterations: Some(40), ..Settings::default() };
            let (steps, solution) = case.solve(kind, &settings);
            let (mut times, mut b) = (vec![0.0; case.signs.len()], 0.0);
            for (number, step) in steps.iter().enumerate() {
                let &Step::Mistake { row, sign, value, times: told, mistakes, bias, .. } = step else {
                    panic!("{step:?}")
                };
                let naive = case.lifted(&times, row) + b;
                assert!(close(value, naive, naive) && sign * value <= 0.0, "seed {seed}: {step:?}, {naive}");
                times[row] += 1.0;
                b += sign;
                assert_eq!((told as f64, mistakes as usize, bias), (times[row], number + 1, b), "seed {seed}");
            }
            match solution.decision {
                Decision::Linear { weights, bias } => {
                    let w = |k: usize| -> f64 {
                        (0..times.len()).map(|i| times[i] * case.signs[i] * case.points[i][k]).sum()
                    };
                    assert!(bias == b && close(weights[0], w(0), 1.0) && close(weights[1], w(1), 1.0), "seed {seed}");
                }
                Decision::Expansion { coefficients, bias } => {
                    let naive: Vec<f64> = times.iter().zip(&case.signs).map(|(times, sign)| times * sign).collect();
                    assert_eq!((coefficients, bias), (naive, b), "seed {seed}");
                }
            }
        }
    }
}

#[test]
fn samples_of_sgd_are_the_rows_with_slack_and_the_last_one_is_the_fit() {
    for seed in 0..50 {
        let case = Case::random(seed).with(Formula::Linear, Loss::Hinge, Bias::None);
        let settings = Settings { max_iterations: Some(16), batch: 2, seed, ..Settings::default() };
        let (steps, solution) = case.solve(SolverKind::Sgd, &settings);
        let (mut w, mut sum, mut seen) = ([0.0; 2], [0.0; 2], 0.0);
        let total = case.cost * case.signs.len() as f64;
        for step in &steps {
            let Step::Sample { rows, violating, rate, weights, .. } = step else { panic!("{step:?}") };
            let has_slack = |i: &usize| case.signs[*i] * (w[0] * case.points[*i][0] + w[1] * case.points[*i][1]) < 1.0;
            assert_eq!(violating, &rows.iter().copied().filter(|i| has_slack(i)).collect::<Vec<_>>(), "seed {seed}");
            seen += rows.len() as f64;
            for &i in violating {
                (0..2).for_each(|k| sum[k] += case.signs[i] * case.points[i][k]);
            }
            w = sum.map(|v| total / seen * v);
            assert!(
                close(*rate, total / seen, *rate) && close(weights[0], w[0], w[0]) && close(weights[1], w[1], w[1])
            );
            w = [weights[0], weights[1]];
        }
        let Decision::Linear { weights, .. } = solution.decision else { panic!("not linear") };
        assert_eq!(weights, w, "seed {seed}");
    }
}

#[test]
fn newton_steps_lower_the_primal_over_the_rows_with_slack_and_the_last_one_is_the_fit() {
    for seed in 0..100 {
        let linear = Case::random(seed).with(Formula::Linear, Loss::Squared, Bias::Explicit);
        for kind in [SolverKind::Newton, SolverKind::PrimalNewton] {
            let (steps, solution) = linear.solve(kind, &Settings::default());
            let (mut point, mut last) = ([0.0; 3], f64::INFINITY);
            let f = |p: [f64; 3], i: usize| p[0] * linear.points[i][0] + p[1] * linear.points[i][1] + p[2];
            let slack = |p: [f64; 3], i: usize| (1.0 - linear.signs[i] * f(p, i)).max(0.0);
            for step in &steps {
                let Step::Newton { active, weights, bias, primal, .. } = step else { panic!("{step:?}") };
                let rows = 0..linear.signs.len();
                assert_eq!(active, &rows.clone().filter(|&i| slack(point, i) > 0.0).collect::<Vec<_>>(), "seed {seed}");
                point = [weights[0], weights[1], *bias];
                let loss: f64 = rows.map(|i| linear.cost * slack(point, i).powi(2)).sum();
                let naive = 0.5 * (point[0] * point[0] + point[1] * point[1]) + loss;
                assert!(close(*primal, naive, naive) && naive <= last + 1e-9 * last, "seed {seed}: {primal} {naive}");
                last = naive;
            }
            let Decision::Linear { weights, bias } = solution.decision else { panic!("not linear") };
            if !steps.is_empty() {
                let ends = [weights[0], weights[1], bias].iter().zip(point).all(|(a, b)| close(*a, b, b));
                assert!(ends, "seed {seed} {kind:?}: {weights:?} {bias}, not {point:?}");
            }
        }
        let kernel = linear.with(Formula::Gaussian, Loss::Squared, Bias::Explicit);
        let (steps, solution) = kernel.solve(SolverKind::KernelNewton, &Settings::default());
        let Some(Step::Newton { coefficients, bias, primal, .. }) = steps.last() else { panic!("no step") };
        let alpha: Vec<f64> = coefficients.iter().zip(&kernel.signs).map(|(c, sign)| c * sign).collect();
        assert!(close(*primal, kernel.primal(&alpha, *bias), *primal), "seed {seed}");
        let found = solution.alpha.unwrap();
        // What rounding of the system puts below 0 is 0 in the fit.
        assert!(alpha.iter().zip(&found).all(|(a, b)| close(a.max(0.0), *b, *b)), "seed {seed}: {alpha:?} {found:?}");
    }
}

/// Three classes of a few rows.
fn three_classes() -> Dataset {
    let mut random = Pcg64::seed_from_u64(11);
    let centres = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]];
    let rows: Vec<f64> =
        (0..30).flat_map(|row| centres[row % 3].map(|middle: f64| middle + random.random_range(-1.0..1.0))).collect();
    let labels = Labels::new((0..30).map(|row| Label::new(["a", "b", "c"][row % 3])));
    Dataset::new(Matrix::dense(30, 2, rows).unwrap(), labels).unwrap()
}

fn train(kind: SolverKind, data: &Dataset, threads: usize, control: &mut dyn CheckpointControl) -> Model {
    let params = TrainingParams {
        kernel: KernelParams::Linear,
        penalty: Penalty::C(1.0),
        solver: Some(kind),
        settings: Settings { tolerance: Some(1e-6), ..Settings::default() },
        ..TrainingParams::default()
    };
    let training = params.check().unwrap();
    training.fit_from(data, maxmargin::Beginning::Scratch, &Workers::new(threads).unwrap(), control).unwrap()
}

#[test]
fn with_several_classes_steps_name_their_machine_and_rows_of_the_data() {
    let data = three_classes();
    for kind in [SolverKind::Smo, SolverKind::Perceptron] {
        let (mut alone, mut team) = (Watcher::default(), Watcher::default());
        let model = train(kind, &data, 1, &mut alone);
        let other = train(kind, &data, 2, &mut team);
        assert_eq!(alone.0, team.0, "threads change the steps");
        let unseen = train(kind, &data, 2, &mut Unattended);
        let bits = |model: &Model| model.machines().iter().map(|machine| machine.weights.clone()).collect::<Vec<_>>();
        assert!(bits(&model) == bits(&other) && bits(&model) == bits(&unseen), "watching changes the model");
        let mut machines: Vec<usize> = alone.0.iter().map(Step::machine).collect();
        assert!(machines.is_sorted());
        machines.dedup();
        assert_eq!(machines, [0, 1, 2]);
        for step in &alone.0 {
            let pairing = model.machines()[step.machine()].pairing;
            let rows = match step {
                Step::Pair { i, j, .. } => vec![*i, *j],
                Step::Mistake { row, .. } => vec![*row],
                other => panic!("{other:?}"),
            };
            assert!(
                rows.iter().all(|row| row % 3 == pairing.positive || Some(row % 3) == pairing.negative),
                "{step:?}"
            );
        }
    }
}
