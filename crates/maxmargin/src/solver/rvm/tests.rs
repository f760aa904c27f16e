//! What the relevance vector machine promises of its steps, of copies, of few and of awkward rows.

use super::super::fixtures::*;
use super::*;
use crate::control::Unattended;
use crate::error::Error;
use crate::kernel::{Gamma, KernelParams};
use crate::problem::Loss;
use crate::solver::{Decision, SolverKind};

fn rbf(gamma: f64) -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Value(gamma) }
}

fn rvm(points: &[([f64; 2], f64)], kernel: KernelParams) -> Fixture {
    Fixture::new(points, 1.0).kernel(kernel).loss(Loss::Logistic)
}

/// How many coefficients are not 0.
fn vectors(solution: &Solution) -> usize {
    match &solution.decision {
        Decision::Expansion { coefficients, .. } => coefficients.iter().filter(|c| **c != 0.0).count(),
        Decision::Linear { .. } => panic!("linear"),
    }
}

/// The logarithm of the determinant of a positive matrix, and its inverse times each of some vectors, by elimination without pivots.
fn eliminate(mut matrix: Vec<Vec<f64>>, mut right: Vec<Vec<f64>>) -> (f64, Vec<Vec<f64>>) {
    let size = matrix.len();
    let mut logarithm = 0.0;
    for k in 0..size {
        logarithm += matrix[k][k].ln();
        let pivot = matrix[k].clone();
        for i in (0..size).filter(|&i| i != k) {
            let factor = matrix[i][k] / pivot[k];
            (0..size).for_each(|j| matrix[i][j] -= factor * pivot[j]);
            right.iter_mut().for_each(|vector| vector[i] -= factor * vector[k]);
        }
    }
    right.iter_mut().for_each(|vector| (0..size).for_each(|i| vector[i] /= matrix[i][i]));
    (logarithm, right)
}

/// The likelihood of the normal model at a mode, written down: noise B⁻¹, a column for each precision, and a bias without a prior
///
/// ```text
/// −½ (log |N| + t′N⁻¹t + log |1′N⁻¹1| − (1′N⁻¹t)²/(1′N⁻¹1)),   N = B⁻¹ + Σ φφ′/a,   t = f + B⁻¹r
/// ```
struct Normal {
    kernel: Vec<Vec<f64>>,
    noise: Vec<f64>,
    targets: Vec<f64>,
    explicit: bool,
}

impl Normal {
    fn at(search: &Search<'_, '_>) -> Self {
        let (problem, mode) = (search.problem, search.mode.as_ref().unwrap());
        let size = problem.len();
        let mut flat = vec![0.0; size * size];
        problem.gram().block(problem.rows(), problem.rows(), &mut flat);
        let kernel: Vec<Vec<f64>> = flat.chunks(size).map(<[f64]>::to_vec).collect();
        let explicit = problem.bias() == Bias::Explicit;
        let (constant, others) = mode.weights.split_at(usize::from(explicit));
        let value = |i: usize| {
            let sum: f64 = search.kept.iter().zip(others).map(|(&place, c)| c * kernel[place][i]).sum();
            sum + constant.first().copied().unwrap_or(0.0)
        };
        let values: Vec<f64> = (0..size).map(value).collect();
        let chance = |i: usize| 1.0 / (1.0 + (-values[i]).exp());
        let noise: Vec<f64> = (0..size).map(|i| 1.0 / (problem.costs()[i] * chance(i) * (1.0 - chance(i)))).collect();
        let target = |i: usize| {
            let hit = if problem.signs()[i] > 0.0 { 1.0 } else { 0.0 };
            values[i] + noise[i] * problem.costs()[i] * (hit - chance(i))
        };
        let targets = (0..size).map(target).collect();
        Normal { kernel, noise, targets, explicit }
    }

    fn likelihood(&self, functions: &[(usize, f64)]) -> f64 {
        let size = self.noise.len();
        let entry = |i: usize, j: usize| {
            let sum: f64 = functions.iter().map(|&(k, a)| self.kernel[k][i] * self.kernel[k][j] / a).sum();
            sum + if i == j { self.noise[i] } else { 0.0 }
        };
        let matrix = (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect();
        let (logarithm, solved) = eliminate(matrix, vec![self.targets.clone(), vec![1.0; size]]);
        let quadratic = super::super::dot(&self.targets, &solved[0]);
        let (ones, mixed): (f64, f64) = (solved[1].iter().sum(), solved[0].iter().sum());
        let of_bias = if self.explicit { ones.ln() - mixed * mixed / ones } else { 0.0 };
        -0.5 * (logarithm + quadratic + of_bias)
    }

    /// The most that one precision can gain, by a search over a fine grid of it.
    fn most_gain(&self, functions: &[(usize, f64)]) -> f64 {
        let now = self.likelihood(functions);
        let mut most = f64::NEG_INFINITY;
        for place in 0..self.noise.len() {
            let at = functions.iter().position(|&(other, _)| other == place);
            let mut others = functions.to_vec();
            let own = at.map(|at| others.remove(at).1);
            most = most.max(self.likelihood(&others) - now);
            let centre = own.unwrap_or(1.0);
            for power in -60..=60 {
                let mut changed = others.clone();
                changed.push((place, centre * 10f64.powf(f64::from(power) * 0.1)));
                most = most.max(self.likelihood(&changed) - now);
            }
        }
        most
    }
}

/// Runs a search, and hands it over.
fn with_search(fixture: &Fixture, settings: &Settings, work: impl FnOnce(&mut Search<'_, '_>, Stop)) {
    fixture.with(|problem| {
        crate::solver::supports(SolverKind::Rvm, problem, settings).unwrap();
        let mut search = Search::new(problem, settings);
        let (ControlFlow::Continue(stop) | ControlFlow::Break(stop)) = search.run(&mut Unattended);
        work(&mut search, stop);
    });
}

fn precisions(search: &Search<'_, '_>) -> Vec<(usize, f64)> {
    search.functions.iter().map(|function| (function.place, function.precision)).collect()
}

#[test]
fn at_the_end_no_step_of_one_precision_gains_more_than_the_tolerance() {
    for seed in 0..4 {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for kernel in [rbf(0.5), quadratic(), KernelParams::Linear] {
                let mut fixture = rvm(&blobs(18, 1.0, seed), kernel.clone()).bias(bias);
                fixture.costs = (0..18).map(|i| 0.5 + f64::from(i % 3)).collect();
                with_search(&fixture, &tolerance(1e-6), |search, stop| {
                    let what = format!("seed {seed}, {bias:?}, {kernel:?}");
                    assert_eq!(stop, Stop::Converged, "{what}: {:?}", search.notes);
                    let most = Normal::at(search).most_gain(&precisions(search));
                    assert!(most < 1.1e-6, "{what}: {most:e}");
                });
            }
        }
    }
}

#[test]
fn before_the_end_the_same_check_finds_a_step_that_gains() {
    let fixture = rvm(&blobs(18, 1.0, 1), rbf(0.5));
    let settings = Settings { max_iterations: Some(1), ..tolerance(1e-6) };
    with_search(&fixture, &settings, |search, stop| {
        assert_eq!(stop, Stop::IterationLimit);
        assert!(Normal::at(search).most_gain(&precisions(search)) > 1e-3);
    });
    with_search(&fixture, &tolerance(1e-6), |search, _| {
        let normal = Normal::at(search);
        let mut moved = precisions(search);
        moved[0].1 *= 3.0;
        assert!(normal.most_gain(&moved) > 1e-3);
    });
}

#[test]
fn the_gains_of_the_search_are_those_of_the_normal_model() {
    let fixture = rvm(&blobs(20, 1.0, 5), rbf(0.5));
    let settings = Settings { max_iterations: Some(6), ..tolerance(1e-9) };
    with_search(&fixture, &settings, |search, _| {
        let normal = Normal::at(search);
        let functions = precisions(search);
        let now = normal.likelihood(&functions);
        let mode = search.mode.take().unwrap();
        let (others, _) = match search.best_of_others(&mode, &mut || ControlFlow::Continue(())) {
            ControlFlow::Continue(found) => found,
            ControlFlow::Break(_) => unreachable!(),
        };
        let own = search.best_of_own(&mode);
        for (gain, step) in [others, own].into_iter().flatten() {
            let mut changed = functions.clone();
            match step {
                Step::Come { place, precision } => changed.push((place, precision)),
                Step::Move { at, precision } => changed[at].1 = precision,
                Step::Leave { at } => drop(changed.remove(at)),
            }
            let found = normal.likelihood(&changed) - now;
            assert!((found - gain).abs() < 1e-8 * gain.max(1.0), "{step:?}: {gain} {found}");
        }
        assert!(others.is_some() && own.is_some());
    });
}

#[test]
fn xor_takes_a_vector_or_two_of_the_quadratic_kernel() {
    let fixture = rvm(&xor(), quadratic());
    let solution = fixture.solve(SolverKind::Rvm, &Settings::default());
    assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
    assert!((1..=4).contains(&vectors(&solution)));
}

#[test]
fn separable_rows_have_finite_coefficients_and_no_error() {
    let fixture = rvm(&separable(), rbf(0.2));
    let solution = fixture.solve(SolverKind::Rvm, &tolerance(1e-6));
    assert_eq!((solution.stop, fixture.errors(&solution)), (Stop::Converged, 0));
    assert!(numbers(&solution).iter().all(|value| value.abs() < 1e3), "{solution:?}");
    assert!(vectors(&solution) <= 4);
}

#[test]
fn two_rows_are_enough() {
    for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
        let fixture = rvm(&[([0.0, 1.0], 1.0), ([2.0, -1.0], -1.0)], rbf(1.0)).bias(bias);
        let solution = fixture.solve(SolverKind::Rvm, &Settings::default());
        assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{bias:?}");
        assert_eq!(solution.stop, Stop::Converged, "{bias:?} {:?}", solution.notes);
    }
}

#[test]
fn rows_that_are_there_many_times_or_nearly_so_are_no_trouble() {
    for shift in [0.0, 1e-9, 1e-6] {
        let one = blobs(12, 1.5, 3);
        let mut points = Vec::new();
        for copy in 0..5 {
            points.extend(one.iter().map(|(x, y)| (x.map(|v| v + f64::from(copy) * shift), *y)));
        }
        let fixture = rvm(&points, rbf(0.3));
        let solution = fixture.solve(SolverKind::Rvm, &tolerance(1e-5));
        assert_eq!(solution.stop, Stop::Converged, "{shift:e} {:?}", solution.notes);
        assert!(vectors(&solution) <= 12, "{shift:e}: {}", vectors(&solution));
    }
}

#[test]
fn rows_that_say_nothing_leave_a_constant_and_it_is_said() {
    // Either class at the same places.
    let points = [([0.0, 0.0], 1.0), ([0.0, 0.0], -1.0), ([1.0, 1.0], 1.0), ([1.0, 1.0], -1.0)];
    let solution = rvm(&points, rbf(1.0)).solve(SolverKind::Rvm, &Settings::default());
    assert_eq!((solution.stop, vectors(&solution)), (Stop::Converged, 0));
    assert!(solution.notes[1].to_string().contains("constant"), "{:?}", solution.notes);
}

#[test]
fn memory_for_a_few_columns_changes_no_bit_and_too_little_is_refused() {
    let fixture = rvm(&blobs(300, 1.0, 2), rbf(0.5));
    let all = fixture.solve(SolverKind::Rvm, &Settings::default());
    // Less than twice 300² numbers, so that K is not kept.
    let few = Settings { memory: 8 * 300 * (64 + 3 * 40), ..Settings::default() };
    assert_eq!(numbers(&all), numbers(&fixture.solve(SolverKind::Rvm, &few)));
    let none = Settings { memory: 8 * 300 * 64, ..Settings::default() };
    fixture.with(|problem| {
        assert!(matches!(crate::solver::supports(SolverKind::Rvm, problem, &none), Err(Error::Memory { .. })));
    });
}

#[test]
fn an_interrupt_leaves_a_finite_solution() {
    assert_interrupts(SolverKind::Rvm, &rvm(&separable(), rbf(0.5)));
}

#[test]
fn threads_change_nothing() {
    assert_threads_change_nothing(SolverKind::Rvm, || rvm(&blobs(400, 0.7, 1), rbf(0.5)));
}

#[test]
fn numbers_at_the_end_of_the_range_give_a_finite_solution() {
    for scale in [1e-150, 1e-30, 1e30, 1e70] {
        let points: Vec<_> = separable().into_iter().map(|(x, y)| (x.map(|v| v * scale), y)).collect();
        for cost in [1e-10, 1.0, 1e12] {
            for kernel in [KernelParams::Linear, quadratic(), rbf(1.0)] {
                let mut fixture = rvm(&points, kernel.clone());
                fixture.costs = vec![cost; points.len()];
                let solution = fixture.solve(SolverKind::Rvm, &Settings::default());
                assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{scale:e} {cost:e} {kernel:?}");
            }
        }
    }
}
