//! How the size of the weights is measured, and what the L1 norm asks of the dual.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Bias, Direction, LinearProblem, Loss, RowLoss};
use crate::error::Error;
use crate::kernel::KernelFunction;

/// How the size of the weights is measured in the objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Norm {
    /// `½‖w‖² = ½ Σ w_j²`: every column has a part in the answer.
    #[default]
    L2,
    /// `‖w‖₁ = Σ |w_j|`: columns that help little have the weight 0. Linear kernel, squared or logistic loss.
    L1,
}

impl Norm {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Norm::L2 => "l2",
            Norm::L1 => "l1",
        }
    }

    /// Whether this is the norm of files that do not name one.
    pub fn is_l2(&self) -> bool {
        *self == Norm::L2
    }

    /// Checks that a norm goes with a loss, with or without a penalty and slack.
    ///
    /// # Errors
    /// When it does not; the message has the way out.
    pub(crate) fn check(self, loss: Loss, penalised: bool, hard: bool) -> Result<(), Error> {
        let refuse = |what: &str, help: &str| Err(Error::Combination { what: what.into(), help: help.into() });
        if self == Norm::L2 {
            return Ok(());
        }
        if hard {
            return refuse(
                "a hard margin with the L1 norm is not among the problems that are solved",
                "leave out hard and choose a large C, or norm l2",
            );
        }
        if !penalised {
            return refuse("without a penalty there is no norm of the weights", "choose a C, or leave out the norm");
        }
        if loss == Loss::Hinge {
            return refuse(
                "hinge loss has corners, so it is not minimised together with the L1 norm, which has corners, too",
                "choose loss squared or logistic, or norm l2",
            );
        }
        Ok(())
    }

    /// Checks that a norm goes with a kernel.
    ///
    /// # Errors
    /// When it does not; the message has the way out.
    pub(crate) fn check_kernel(self, kernel: &KernelFunction) -> Result<(), Error> {
        if self == Norm::L2 || kernel.is_linear() {
            return Ok(());
        }
        Err(Error::Combination {
            what: format!(
                "the L1 norm is a sum over the weights of columns, which the kernel {} does not have",
                kernel.name()
            ),
            help: "choose the linear kernel, or norm l2".into(),
        })
    }
}

/// A point of the dual of a linear problem with the L1 norm.
///
/// ```text
/// primal:  min  ‖w‖₁ + Σ_i C_i ℓ(⟨w, x_i⟩ + b, t_i)                        |b| is part of the norm when folded   (N.1)
/// dual:    max  Σ_i −(C_iℓ)*(−c_i),   |Σ_i c_i x_ij| ≤ 1 for every column j,
///          explicit b:  Σ c_i = 0,   folded b:  |Σ c_i| ≤ 1                                                      (N.2)
/// ```
///
/// A feasible c bounds every primal value from below: by the definition of the conjugate
/// `C_iℓ(f_i) ≥ −(C_iℓ)*(−c_i) − c_i f_i` for any f, and summed over the rows of any w and b
///
/// ```text
/// primal ≥ dual + ‖w‖₁ − Σ_j w_j (Σ_i c_i x_ij) − b Σ c_i ≥ dual                                                (N.3)
/// ```
///
/// since no `|Σ_i c_i x_ij|` exceeds 1, and b or the sum of c is 0, or b is one of the w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DualPoint {
    /// The factor on c that makes it feasible, and the dual largest.
    pub(crate) scale: f64,
    /// The dual objective at `scale · c`.
    pub(crate) value: f64,
}

/// The largest `|Σ_i c_i x_ij|` over the columns, a folded bias among them.
pub(crate) fn largest_product(bias: Bias, combined: &Direction) -> f64 {
    let of_bias = if bias == Bias::Folded { combined.bias.abs() } else { 0.0 };
    combined.weights.iter().fold(of_bias, |most, product| most.max(product.abs()))
}

/// Rows whose dual terms are summed at a time.
const ROWS_A_CHUNK: usize = 4096;
/// Halvings of the range of the scale: more than f64 has digits.
const HALVINGS: u32 = 60;

/// The best multiple of c in (N.2). c is within the bounds of (R.1) and, with an explicit bias, has the sum 0; `combined` is
/// `Σ c_i x_i`.
///
/// D(s), the dual along `s c`, is concave, so its slope tells on which side of s the maximum lies:
///
/// ```text
/// s ≤ 1 / max_j |Σ_i c_i x_ij|,   s c_i within its bounds,
/// D′(s) = Σ_i c_i f_i(s),   f_i(s) the value at which s c_i is the coefficient of the row                        (N.4)
/// ```
pub(crate) fn dual_point(problem: &LinearProblem<'_>, coefficients: &[f64], combined: &Direction) -> DualPoint {
    let sum = |term: &(dyn Fn(usize) -> f64 + Sync)| -> f64 {
        let chunks = problem.workers.map_chunks(problem.len(), ROWS_A_CHUNK, |range| range.map(term).sum::<f64>());
        chunks.iter().sum()
    };
    let value = |scale: f64| {
        sum(&|i| match coefficients[i] {
            0.0 => 0.0,
            c => problem.loss.dual_term(scale * c, problem.targets[i], problem.costs[i]),
        })
    };
    let largest = largest_product(problem.bias, combined);
    let mut most = if largest > 0.0 { 1.0 / largest } else { f64::MAX };
    let within = |i: usize| problem.costs[i] / coefficients[i].abs();
    if problem.loss != RowLoss::Squared {
        let bounded = problem
            .workers
            .map_chunks(problem.len(), ROWS_A_CHUNK, |range| range.map(within).fold(f64::INFINITY, f64::min));
        most = bounded.into_iter().fold(most, f64::min);
    }
    let slope = |scale: f64| {
        sum(&|i| match coefficients[i] {
            0.0 => 0.0,
            c => c * value_of_coefficient(problem.loss, scale * c, problem.targets[i], problem.costs[i]),
        }) // (N.4)
    };
    let scale = if problem.loss == RowLoss::Squared {
        // D(s) = s Σ t c − s² Σ c²/(4C)
        let linear = sum(&|i| problem.targets[i] * coefficients[i]);
        let square = sum(&|i| coefficients[i] * coefficients[i] / (4.0 * problem.costs[i]));
        if square > 0.0 { (linear / (2.0 * square)).clamp(0.0, most) } else { 0.0 }
    } else if slope(most) >= 0.0 {
        most
    } else {
        let (mut low, mut high) = (0.0, most);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 {
                low = middle
            } else {
                high = middle
            }
            if high - low <= 1e-12 * high {
                break;
            }
        }
        low
    };
    DualPoint { scale, value: value(scale) }
}

/// The decision value of a row whose coefficient is c: the inverse of (R.2), for smooth losses.
fn value_of_coefficient(loss: RowLoss, coefficient: f64, target: f64, cost: f64) -> f64 {
    match loss {
        RowLoss::Squared => target - coefficient / (2.0 * cost),
        _ => {
            let part = target * coefficient / cost;
            target * ((1.0 - part) / part).ln()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::problem::Passes;
    use crate::workers::Workers;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// (N.3) for random c, made feasible, and random w and b: no dual value lies above any primal value.
    #[test]
    fn no_dual_point_lies_above_any_primal_value() {
        for seed in 0..200 {
            let mut random = Pcg64::seed_from_u64(seed);
            let (rows, columns) = (random.random_range(1..12), random.random_range(1..6));
            let mut number = |scale: f64| scale * random.random_range(-1.0..1.0);
            let matrix =
                Matrix::dense(rows, columns, (0..rows * columns).map(|_| number(2.0)).collect::<Vec<f64>>()).unwrap();
            let targets: Vec<f64> = (0..rows).map(|_| number(1.0).signum()).collect();
            let costs: Vec<f64> = (0..rows).map(|_| 0.1 + number(3.0).abs()).collect();
            let (squares, workers, all) = (vec![0.0; rows], Workers::none(), (0..rows).collect::<Vec<_>>());
            for loss in [RowLoss::Squared, RowLoss::Logistic] {
                for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                    let problem = LinearProblem {
                        matrix: &matrix,
                        rows: &all,
                        squares: &squares,
                        targets: &targets,
                        costs: &costs,
                        loss,
                        bias,
                        pull_on_bias: 0.0,
                        workers: &workers,
                    };
                    let mut c: Vec<f64> = (0..rows).map(|i| loss.clipped(number(2.0), targets[i], costs[i])).collect();
                    if bias == Bias::Explicit {
                        problem.balance(&mut c);
                    }
                    let combined = Passes::new(&problem).combine(&c);
                    let point = dual_point(&problem, &c, &combined);
                    let (scale, what) = (point.scale, format!("seed {seed} {loss:?} {bias:?}"));
                    assert!(scale * largest_product(bias, &combined) <= 1.0 + 1e-12, "{what}");
                    // No other multiple that is feasible is better.
                    let value =
                        |s: f64| -> f64 { (0..rows).map(|i| loss.dual_term(s * c[i], targets[i], costs[i])).sum() };
                    for other in [0.0, 0.5 * scale, 0.99 * scale] {
                        assert!(value(other) <= point.value + 1e-9, "{what}: {other}");
                    }
                    for _ in 0..20 {
                        let weights: Vec<f64> = (0..columns).map(|_| number(1.0)).collect();
                        let offset = if bias == Bias::None { 0.0 } else { number(1.0) };
                        let mut primal: f64 = weights.iter().map(|w| w.abs()).sum();
                        primal += if bias == Bias::Folded { offset.abs() } else { 0.0 };
                        let values = problem.values(&weights, offset);
                        primal += (0..rows).map(|i| costs[i] * loss.value(targets[i], values[i])).sum::<f64>();
                        assert!(point.value <= primal + 1e-9, "{what}: {} above {primal}", point.value);
                    }
                }
            }
        }
    }
}
