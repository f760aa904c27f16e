//! Random problems from a seed, small enough for dense arithmetic.

use std::f64::consts::TAU;

use maxmargin::data::{Dataset, Label, Labels, Matrix};
use maxmargin::kernel::{Custom, Gamma, KernelParams};
use maxmargin::problem::{Bias, Loss};
use maxmargin::training::{Penalty, TrainingParams};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Case, dot};

/// A kernel written down a second time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formula {
    Linear,
    Polynomial(f64, f64, u32),
    Rbf(f64),
    Sigmoid(f64, f64),
    Laplacian(f64),
    ChiSquare(f64),
    /// A table of the values of an rbf kernel.
    Precomputed(f64),
    /// linear + rbf
    Sum(f64),
    /// rbf · (⟨x, z⟩ + 1)²
    Product(f64),
    /// 3 · rbf
    Scaled(f64),
    /// 1 / (1 + ‖x − z‖²)
    Custom,
}

/// How many there are.
pub const FORMULAS: u64 = 11;

impl Formula {
    fn number(k: u64, gamma: f64) -> Self {
        match k {
            0 => Formula::Linear,
            1 => Formula::Polynomial(gamma, 1.0, 2),
            2 => Formula::Rbf(gamma),
            3 => Formula::Sigmoid(gamma, 0.1),
            4 => Formula::Laplacian(gamma),
            5 => Formula::ChiSquare(gamma),
            6 => Formula::Precomputed(gamma),
            7 => Formula::Sum(gamma),
            8 => Formula::Product(gamma),
            9 => Formula::Scaled(gamma),
            _ => Formula::Custom,
        }
    }

    pub fn value(self, x: &[f64], z: &[f64]) -> f64 {
        let distance = || x.iter().zip(z).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let rbf = |gamma: f64| (-gamma * distance()).exp();
        match self {
            Formula::Linear => dot(x, z),
            Formula::Polynomial(gamma, constant, degree) => (gamma * dot(x, z) + constant).powi(degree as i32),
            Formula::Rbf(gamma) | Formula::Precomputed(gamma) => rbf(gamma),
            Formula::Sigmoid(gamma, constant) => (gamma * dot(x, z) + constant).tanh(),
            Formula::Laplacian(gamma) => (-gamma * x.iter().zip(z).map(|(a, b)| (a - b).abs()).sum::<f64>()).exp(),
            Formula::ChiSquare(gamma) => {
                let term = |(a, b): (&f64, &f64)| if a + b > 0.0 { (a - b).powi(2) / (a + b) } else { 0.0 };
                (-gamma * x.iter().zip(z).map(term).sum::<f64>()).exp()
            }
            Formula::Sum(gamma) => dot(x, z) + rbf(gamma),
            Formula::Product(gamma) => rbf(gamma) * (dot(x, z) + 1.0).powi(2),
            Formula::Scaled(gamma) => 3.0 * rbf(gamma),
            Formula::Custom => 1.0 / (1.0 + distance()),
        }
    }

    pub fn params(self) -> KernelParams {
        let rbf = |gamma: f64| KernelParams::Rbf { gamma: Gamma::Value(gamma) };
        match self {
            Formula::Linear => KernelParams::Linear,
            Formula::Polynomial(gamma, coef0, degree) => {
                KernelParams::Polynomial { gamma: Gamma::Value(gamma), coef0, degree }
            }
            Formula::Rbf(gamma) => rbf(gamma),
            Formula::Sigmoid(gamma, coef0) => KernelParams::Sigmoid { gamma: Gamma::Value(gamma), coef0 },
            Formula::Laplacian(gamma) => KernelParams::Laplacian { gamma: Gamma::Value(gamma) },
            Formula::ChiSquare(gamma) => KernelParams::ChiSquare { gamma: Gamma::Value(gamma) },
            Formula::Precomputed(_) => KernelParams::Precomputed,
            Formula::Sum(gamma) => KernelParams::Sum(vec![KernelParams::Linear, rbf(gamma)]),
            Formula::Product(gamma) => {
                let square = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
                KernelParams::Product(vec![rbf(gamma), square])
            }
            Formula::Scaled(gamma) => KernelParams::Scaled(3.0, Box::new(rbf(gamma))),
            Formula::Custom => KernelParams::Custom(Custom::new("cauchy", |x, z| Formula::Custom.value(x, z))),
        }
    }
}

/// A random problem, as the library gets it and as the oracle sees it.
pub struct Random {
    pub formula: Formula,
    pub data: Dataset,
    pub params: TrainingParams,
    pub case: Case,
}

impl Random {
    /// What to print when it fails.
    pub fn describe(&self) -> String {
        let (case, rows) = (&self.case, self.case.len());
        let columns = self.data.columns();
        format!(
            "{:?}, {:?}, {:?}, C {:e}, {rows} rows, {columns} columns",
            self.formula, case.loss, case.bias, case.costs[0]
        )
    }
}

pub fn normal(generator: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (generator.random(), generator.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
}

/// Every kernel, loss, bias and storage comes round as the seed counts up; the rest is drawn.
pub fn random(seed: u64) -> Random {
    let mut generator = Pcg64::seed_from_u64(seed);
    let gamma = 10f64.powf(generator.random_range(-1.0..0.5));
    let formula = Formula::number(seed % FORMULAS, gamma);
    let loss = if (seed / FORMULAS).is_multiple_of(2) { Loss::Hinge } else { Loss::Squared };
    let bias = match (seed / (2 * FORMULAS) % 3, formula) {
        (0, _) | (2, Formula::Precomputed(_)) => Bias::Explicit,
        (1, _) => Bias::None,
        _ => Bias::Folded,
    };
    let rows: usize = generator.random_range(2..=60);
    let columns: usize = generator.random_range(1..=6);
    let cost = 10f64.powf(generator.random_range(-3.0..3.0));

    // Half of the time on a coarse grid, so that rows repeat, with either label.
    let grid = generator.random::<bool>();
    let overlap = generator.random_range(0.0..1.0);
    let (mut points, mut signs) = (vec![], vec![]);
    for i in 0..rows {
        let mut x: Vec<f64> = (0..columns).map(|_| normal(&mut generator)).collect();
        if grid {
            x.iter_mut().for_each(|value| *value = value.round());
        }
        let side = if x[0] + 0.5 * x[columns - 1] > 0.0 { 1.0 } else { -1.0 };
        let flipped = generator.random::<f64>() < 0.5 * overlap;
        signs.push(match i {
            0 => 1.0,
            1 => -1.0,
            _ if flipped => -side,
            _ => side,
        });
        if matches!(formula, Formula::ChiSquare(_)) {
            x.iter_mut().for_each(|value| *value = value.abs());
        }
        points.push(x);
    }

    let seen = |x: &Vec<f64>| if bias == Bias::Folded { [&x[..], &[1.0]].concat() } else { x.clone() };
    let gram: Vec<Vec<f64>> =
        points.iter().map(|x| points.iter().map(|z| formula.value(&seen(x), &seen(z))).collect()).collect();
    let matrix = match formula {
        Formula::Precomputed(_) => Matrix::dense(rows, rows, gram.concat()).unwrap(),
        _ => Matrix::dense(rows, columns, points.concat()).unwrap(),
    };
    let matrix = if seed.is_multiple_of(2) { matrix } else { matrix.to_sparse() };
    let labels = Labels::new(signs.iter().map(|&sign| Label::new(if sign > 0.0 { "+1" } else { "-1" })));
    let mut data = Dataset::new(matrix, labels).unwrap();
    let mut costs = vec![cost; rows];
    if seed.is_multiple_of(3) {
        let weights: Vec<f64> = (0..rows).map(|_| generator.random_range(0.5..2.0)).collect();
        costs.iter_mut().zip(&weights).for_each(|(cost, weight)| *cost *= weight);
        data = data.with_weights(weights).unwrap();
    }
    let params = TrainingParams {
        kernel: formula.params(),
        penalty: Penalty::C(cost),
        loss: Some(loss),
        bias,
        ..TrainingParams::default()
    };
    let case = Case { gram, rows: points, signs, costs, loss, bias };
    Random { formula, data, params, case }
}
