//! Small problems that the tests of all solvers share.

use std::ops::ControlFlow;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Decision, Settings, Solution, SolverKind, solve};
use crate::control::{Control, Progress, Stop, Unattended};
use crate::data::Matrix;
use crate::kernel::{Gamma, KernelFunction, KernelParams, Points};
use crate::problem::{Bias, Loss, MarginParts, MarginProblem, Norm};
use crate::workers::Workers;

/// Points, signs and costs that live as long as the test.
pub(super) struct Fixture {
    pub(super) matrix: Matrix,
    pub(super) signs: Vec<f64>,
    pub(super) costs: Vec<f64>,
    pub(super) kernel: KernelParams,
    pub(super) loss: Loss,
    pub(super) bias: Bias,
    pub(super) penalised: bool,
    pub(super) norm: Norm,
    pub(super) threads: usize,
}

impl Fixture {
    pub(super) fn new(points: &[([f64; 2], f64)], cost: f64) -> Self {
        let values: Vec<f64> = points.iter().flat_map(|(x, _)| *x).collect();
        Fixture {
            matrix: Matrix::dense(points.len(), 2, values).unwrap(),
            signs: points.iter().map(|&(_, sign)| sign).collect(),
            costs: vec![cost; points.len()],
            kernel: KernelParams::Linear,
            loss: Loss::Hinge,
            bias: Bias::Explicit,
            penalised: true,
            norm: Norm::L2,
            threads: 1,
        }
    }

    pub(super) fn loss(mut self, loss: Loss) -> Self {
        self.loss = loss;
        self
    }

    pub(super) fn bias(mut self, bias: Bias) -> Self {
        self.bias = bias;
        self
    }

    pub(super) fn without_penalty(mut self) -> Self {
        self.penalised = false;
        self
    }

    pub(super) fn norm(mut self, norm: Norm) -> Self {
        self.norm = norm;
        self
    }

    pub(super) fn kernel(mut self, kernel: KernelParams) -> Self {
        self.kernel = kernel;
        self
    }

    pub(super) fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Calls `work` with the problem.
    pub(super) fn with<R>(&self, work: impl FnOnce(&MarginProblem<'_>) -> R) -> R {
        let kernel: KernelFunction = self.kernel.check(&self.matrix).unwrap();
        let points = Points::new(self.matrix.clone(), self.bias == Bias::Folded);
        let workers = Workers::new(self.threads).unwrap();
        let rows = (0..self.signs.len()).collect();
        let parts = MarginParts {
            costs: self.costs.clone(),
            loss: self.loss,
            bias: self.bias,
            penalised: self.penalised,
            norm: self.norm,
            ..MarginParts::new(&kernel, &points, &workers, rows, self.signs.clone())
        };
        work(&MarginProblem::new(parts).unwrap())
    }

    pub(super) fn solve(&self, kind: SolverKind, settings: &Settings) -> Solution {
        self.with(|problem| solve(kind, problem, settings, &mut Unattended).unwrap())
    }

    /// The primal objective (P.1), from the decision function alone.
    pub(super) fn primal(&self, solution: &Solution) -> f64 {
        self.with(|problem| {
            let (norm, values) = match &solution.decision {
                Decision::Linear { weights, bias } => {
                    let folded = if self.bias == Bias::Folded { bias * bias } else { 0.0 };
                    let norm = weights.iter().map(|w| w * w).sum::<f64>() + folded;
                    (norm, problem.decisions_of_weights(weights, *bias))
                }
                Decision::Expansion { coefficients, bias } => {
                    let lifted = problem.gram().product(problem.rows(), problem.rows(), coefficients);
                    let norm = lifted.iter().zip(coefficients).map(|(f, c)| f * c).sum();
                    (norm, lifted.iter().map(|f| f + bias).collect())
                }
            };
            let loss: f64 =
                (0..self.signs.len()).map(|i| self.costs[i] * self.loss.value(self.signs[i] * values[i])).sum();
            0.5 * norm + loss
        })
    }

    /// The violation of the dual's optimality conditions at a solution's α, from α alone.
    pub(super) fn violation(&self, solution: &Solution) -> f64 {
        let alpha = solution.alpha.as_ref().unwrap();
        self.with(|problem| {
            let dual = problem.dual().unwrap();
            dual.violation(alpha, &dual.gradient(alpha))
        })
    }

    /// The rows on the wrong side.
    pub(super) fn errors(&self, solution: &Solution) -> usize {
        self.with(|problem| {
            let values = match &solution.decision {
                Decision::Linear { weights, bias } => problem.decisions_of_weights(weights, *bias),
                Decision::Expansion { coefficients, bias } => problem
                    .gram()
                    .product(problem.rows(), problem.rows(), coefficients)
                    .iter()
                    .map(|f| f + bias)
                    .collect(),
            };
            values.iter().zip(&self.signs).filter(|(f, y)| (**f > 0.0) != (**y > 0.0)).count()
        })
    }
}

/// E1 of the worked examples: separable, 14 points.
pub(super) fn separable() -> Vec<([f64; 2], f64)> {
    let positive = [[3.5, 4.25], [4.0, 3.0], [4.0, 4.0], [4.5, 1.75], [4.9, 4.5], [5.0, 4.0], [5.5, 2.5], [5.5, 3.5]];
    let negative = [[0.5, 1.5], [1.0, 2.5], [1.25, 0.5], [1.5, 1.5], [2.0, 2.0], [2.5, 0.75]];
    positive.map(|x| (x, 1.0)).into_iter().chain(negative.map(|x| (x, -1.0))).collect()
}

/// E2: E1 and four points that make it not separable.
pub(super) fn not_separable() -> Vec<([f64; 2], f64)> {
    let mut points = separable();
    points.extend([([4.0, 2.0], 1.0), ([2.0, 3.0], 1.0), ([3.0, 2.0], -1.0), ([5.0, 3.0], -1.0)]);
    points
}

/// E3: six points for the quadratic kernel.
pub(super) fn ellipse() -> Vec<([f64; 2], f64)> {
    let positive = [[1.0, 2.0], [4.0, 1.0], [6.0, 4.5], [7.0, 2.0]];
    let negative = [[4.0, 4.0], [6.0, 3.0]];
    positive.map(|x| (x, 1.0)).into_iter().chain(negative.map(|x| (x, -1.0))).collect()
}

/// The quadratic kernel `(1 + ⟨x, z⟩)²`.
pub(super) fn quadratic() -> KernelParams {
    KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 }
}

/// The four corners of a square, opposite ones of one class.
pub(super) fn xor() -> Vec<([f64; 2], f64)> {
    vec![([1.0, 1.0], 1.0), ([-1.0, -1.0], 1.0), ([1.0, -1.0], -1.0), ([-1.0, 1.0], -1.0)]
}

/// Two classes of points in two squares whose centres are `apart` from each other; sides of 2.
pub(super) fn blobs(count: usize, apart: f64, seed: u64) -> Vec<([f64; 2], f64)> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..count)
        .map(|i| {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            let mut number = || random.random_range(-1.0..1.0) + random.random_range(-0.2..0.2);
            ([number() + sign * apart / 2.0 + 0.7, number() + 0.3 * sign], sign)
        })
        .collect()
}

/// Settings with another tolerance.
pub(super) fn tolerance(tolerance: f64) -> Settings {
    Settings { tolerance: Some(tolerance), ..Settings::default() }
}

/// Breaks at once.
pub(super) fn break_at_once() -> impl Control {
    |_: Progress| ControlFlow::Break(Stop::Interrupted)
}

/// Every number of a solution.
pub(super) fn numbers(solution: &Solution) -> Vec<f64> {
    let (mut all, bias) = match &solution.decision {
        Decision::Linear { weights, bias } => (weights.clone(), *bias),
        Decision::Expansion { coefficients, bias } => (coefficients.clone(), *bias),
    };
    all.push(bias);
    all.extend(solution.alpha.iter().flatten());
    all.extend(solution.decision_values.iter().flatten());
    all
}

/// Asserts that a solver stops at the first question, with a finite solution.
pub(super) fn assert_interrupts(kind: SolverKind, fixture: &Fixture) {
    fixture.with(|problem| {
        let solution = solve(kind, problem, &Settings::default(), &mut break_at_once()).unwrap();
        assert_eq!(solution.stop, Stop::Interrupted);
        assert!(numbers(&solution).iter().all(|value| value.is_finite()));
    });
}

/// Asserts that the number of threads changes no bit.
pub(super) fn assert_threads_change_nothing(kind: SolverKind, fixture: impl Fn() -> Fixture) {
    let alone = fixture().solve(kind, &Settings::default());
    let team = fixture().threads(3).solve(kind, &Settings::default());
    assert_eq!(numbers(&alone), numbers(&team));
}
