//! What a machine's numbers must be, computed from its coefficients alone by code that shares nothing with the library.
//!
//! `mod.rs` has the optimality conditions, `program.rs` the optimum by a general solver, `problems.rs` random problems.
#![allow(dead_code, unreachable_pub)] // each test file uses its own part

pub mod problems;
pub mod program;

use maxmargin::Model;
use maxmargin::problem::{Bias, Loss};

/// A binary problem in full: the dense Gram matrix, signs, costs.
#[derive(Clone, Debug)]
pub struct Case {
    /// K_ij; with a folded bias of x' = (x, 1).
    pub gram: Vec<Vec<f64>>,
    /// The rows, for linear models.
    pub rows: Vec<Vec<f64>>,
    pub signs: Vec<f64>,
    pub costs: Vec<f64>,
    pub loss: Loss,
    pub bias: Bias,
}

/// What a model says it is: c_i = α_i y_i for each row, b, and w when it is linear.
#[derive(Clone, Debug)]
pub struct Answer {
    pub coefficients: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub bias: f64,
}

/// What is true of it.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    pub primal: f64,
    pub dual: f64,
    pub gap: f64,
    pub violation: f64,
    pub infeasibility: f64,
    /// What f64 may have lost on the way.
    pub rounding: f64,
}

impl Answer {
    /// The answer of a model of two classes.
    pub fn of(model: &Model) -> Self {
        let machine = &model.machines()[0];
        let mut coefficients = vec![0.0; model.provenance().rows];
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            coefficients[model.parts().support_rows[place as usize] as usize] = coefficient;
        }
        Answer { coefficients, weights: machine.weights.clone(), bias: machine.bias }
    }
}

impl Case {
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Σ_j c_j K_ij for each row.
    fn products(&self, coefficients: &[f64]) -> Vec<f64> {
        self.gram.iter().map(|row| row.iter().zip(coefficients).map(|(k, c)| k * c).sum()).collect()
    }

    fn upper(&self, i: usize) -> f64 {
        if self.loss == Loss::Squared { f64::INFINITY } else { self.costs[i] }
    }

    /// α in its bounds; the same with equal sums for both classes, with an explicit bias; and how far it was from that.
    fn mended(&self, coefficients: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let raw: Vec<f64> = (0..self.len()).map(|i| coefficients[i] * self.signs[i]).collect();
        let alpha: Vec<f64> = (0..self.len()).map(|i| raw[i].max(0.0).min(self.upper(i))).collect();
        let mut balanced = alpha.clone();
        let mut infeasibility = (0..self.len()).map(|i| (alpha[i] - raw[i]).abs()).fold(0.0, f64::max);
        if self.bias == Bias::Explicit {
            let sum = |sign: f64| (0..self.len()).filter(|&i| self.signs[i] == sign).map(|i| alpha[i]).sum::<f64>();
            let (plus, minus) = (sum(1.0), sum(-1.0));
            infeasibility = infeasibility.max((plus - minus).abs());
            if (plus - minus).abs() > 1e-13 * (plus + minus) {
                for (alpha, &sign) in balanced.iter_mut().zip(&self.signs) {
                    if (sign > 0.0) == (plus > minus) {
                        *alpha *= plus.min(minus) / plus.max(minus);
                    }
                }
            }
        }
        (alpha, balanced, infeasibility)
    }

    /// The optimality conditions, from the definitions.
    pub fn judge(&self, answer: &Answer) -> Verdict {
        let largest = self.gram.iter().flatten().fold(0.0f64, |most, k| most.max(k.abs()));
        self.judge_by(answer, largest, |coefficients| self.products(coefficients))
    }

    /// The same without the matrix, for many rows: `kernel` is the formula, of rows as the kernel sees them.
    pub fn judge_without_gram(&self, answer: &Answer, kernel: impl Fn(&[f64], &[f64]) -> f64) -> Verdict {
        let seen: Vec<Vec<f64>> = self.rows.iter().map(|x| self.seen(x)).collect();
        let largest = seen.iter().map(|x| kernel(x, x).abs()).fold(0.0, f64::max);
        self.judge_by(answer, largest, |coefficients| {
            let support: Vec<usize> = (0..coefficients.len()).filter(|&j| coefficients[j] != 0.0).collect();
            seen.iter().map(|x| support.iter().map(|&j| coefficients[j] * kernel(x, &seen[j])).sum()).collect()
        })
    }

    /// A row with the constant that a folded bias appends.
    pub fn seen(&self, x: &[f64]) -> Vec<f64> {
        if self.bias == Bias::Folded { [x, &[1.0]].concat() } else { x.to_vec() }
    }

    fn judge_by(&self, answer: &Answer, largest: f64, products_of: impl Fn(&[f64]) -> Vec<f64>) -> Verdict {
        let n = self.len();
        let own = products_of(&answer.coefficients);
        let products_of = |c: &[f64]| if c == answer.coefficients { own.clone() } else { products_of(c) };
        let values: Vec<f64> = match &answer.weights {
            Some(weights) => {
                let dot = |x: &Vec<f64>| x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
                self.rows.iter().map(|x| dot(x) + answer.bias).collect()
            }
            None => products_of(&answer.coefficients).iter().map(|u| u + answer.bias).collect(),
        };
        let norm = match &answer.weights {
            Some(weights) => {
                let folded = if self.bias == Bias::Folded { answer.bias * answer.bias } else { 0.0 };
                weights.iter().map(|w| w * w).sum::<f64>() + folded
            }
            None => dot(&answer.coefficients, &products_of(&answer.coefficients)),
        };
        let slack = |i: usize| (1.0 - self.signs[i] * values[i]).max(0.0);
        let primal = if self.costs[0].is_infinite() {
            let least = (0..n).map(|i| self.signs[i] * values[i]).fold(f64::INFINITY, f64::min);
            if least > 0.0 { 0.5 * norm / least.powi(2) } else { f64::INFINITY }
        } else {
            let loss = |i: usize| if self.loss == Loss::Squared { slack(i).powi(2) } else { slack(i) };
            0.5 * norm + (0..n).map(|i| self.costs[i] * loss(i)).sum::<f64>()
        };

        let (alpha, balanced, infeasibility) = self.mended(&answer.coefficients);
        let ridge = |i: usize| if self.loss == Loss::Squared { 0.5 / self.costs[i] } else { 0.0 };
        let terms: f64 = (0..n).map(|i| balanced[i] - 0.5 * ridge(i) * balanced[i].powi(2)).sum();
        let signed: Vec<f64> = (0..n).map(|i| balanced[i] * self.signs[i]).collect();
        let dual = terms - 0.5 * dot(&signed, &products_of(&signed));
        let signed: Vec<f64> = (0..n).map(|i| alpha[i] * self.signs[i]).collect();
        let products = products_of(&signed);
        let gradient: Vec<f64> = (0..n).map(|i| self.signs[i] * products[i] + ridge(i) * alpha[i] - 1.0).collect();
        let violation = self.violation(&alpha, &gradient);

        let mass: f64 = answer.coefficients.iter().map(|c| c.abs()).sum();
        let ridges = (0..n).map(|i| ridge(i) * alpha[i]).fold(0.0, f64::max);
        let rounding = 1e-14 * (1.0 + largest * mass + ridges + answer.bias.abs());
        Verdict { primal, dual, gap: primal - dual, violation, infeasibility, rounding }
    }

    fn violation(&self, alpha: &[f64], gradient: &[f64]) -> f64 {
        let (mut up, mut down, mut worst) = (f64::NEG_INFINITY, f64::INFINITY, 0.0f64);
        for i in 0..self.len() {
            // Next to its bound is at its bound: bounds are products, and rounded.
            let upper = self.upper(i);
            let edge = 1e-12 * if upper.is_finite() { upper } else { alpha.iter().copied().fold(0.0, f64::max) };
            let (grows, shrinks) = (alpha[i] < upper - edge, alpha[i] > edge);
            worst = worst.max(if grows { -gradient[i] } else { 0.0 }).max(if shrinks { gradient[i] } else { 0.0 });
            let value = -self.signs[i] * gradient[i];
            if if self.signs[i] > 0.0 { grows } else { shrinks } {
                up = up.max(value);
            }
            if if self.signs[i] > 0.0 { shrinks } else { grows } {
                down = down.min(value);
            }
        }
        if self.bias == Bias::Explicit { (up - down).max(0.0) } else { worst }
    }
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
