//! The preconditioner of several classes: for each class its own block of the Hessian.
//!
//! ```text
//! M_k = I + Σ_i h_ik x_i x_i′,   h_ik = C_i p_ik (1 − p_ik)                                        (PC.1)
//! ```

use std::ops::ControlFlow;

use super::cholesky::{self, Factor};
use super::scatter::Scatter;
use crate::class_products::Pass;
use crate::control::Stop;
use crate::data::Matrix;
use crate::problem::{Bias, JointProblem};

/// The most columns for which M_k is factored; for more it is its diagonal.
const FEW_COLUMNS: usize = 1200;
/// Rows that M_k is summed over, for each column; and the fewest in all.
const ROWS_A_COLUMN: usize = 6;
const LEAST_ROWS: usize = 2000;

/// M of (PC.1), ready to be solved with.
pub(super) enum Preconditioner {
    /// A factor for each class, or one for all.
    Factors(Vec<Factor>),
    /// The inverse of the diagonal, `[column][class]`.
    Diagonal(Vec<f64>),
}

impl Preconditioner {
    /// Bytes that it needs.
    pub(super) fn bytes(problem: &JointProblem<'_>) -> u64 {
        let columns = problem.points().matrix().columns() as u64 + 1;
        let (classes, size) = (problem.classes() as u64, columns * 8);
        if columns <= FEW_COLUMNS as u64 {
            (classes + 2).saturating_mul(columns).saturating_mul(size)
        } else {
            size.saturating_mul(classes).saturating_add(2 * problem.points().matrix().bytes())
        }
    }

    /// M at these probabilities; `None` when it is not finite.
    pub(super) fn new(
        problem: &JointProblem<'_>,
        probabilities: &[f64],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Self>> {
        if problem.points().matrix().columns() < FEW_COLUMNS {
            factors(problem, probabilities, poll)
        } else {
            diagonal(problem, probabilities, poll)
        }
    }

    /// `M⁻¹ R`, without the mean over the classes.
    pub(super) fn apply(&self, problem: &JointProblem<'_>, residual: &[f64]) -> Vec<f64> {
        let (classes, lanes) = (problem.classes(), problem.products().lanes());
        let mut result = match self {
            Preconditioner::Diagonal(inverse) => residual.iter().zip(inverse).map(|(r, inverse)| r * inverse).collect(),
            Preconditioner::Factors(factors) => {
                let size = factors[0].lower().ncols();
                let solved = problem.workers().map_chunks(classes, 1, |range| {
                    let k = range.start;
                    let mut column: Vec<f64> = (0..size).map(|j| residual[j * lanes + k]).collect();
                    factors[k.min(factors.len() - 1)].solve(&mut column);
                    column
                });
                let mut result = vec![0.0; residual.len()];
                for (k, column) in solved.iter().enumerate() {
                    column.iter().enumerate().for_each(|(j, &value)| result[j * lanes + k] = value);
                }
                result
            }
        };
        for line in result.chunks_mut(lanes) {
            let mean = line[..classes].iter().sum::<f64>() / classes as f64;
            line[..classes].iter_mut().for_each(|value| *value -= mean);
        }
        result
    }
}

/// h_ik of a row.
fn curvature(cost: f64, p: f64) -> f64 {
    cost * p * (1.0 - p)
}

fn factors(
    problem: &JointProblem<'_>,
    probabilities: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Preconditioner>> {
    let (classes, lanes, matrix) = (problem.classes(), problem.products().lanes(), problem.points().matrix());
    let constant = problem.bias() != Bias::None;
    let size = matrix.columns() + usize::from(constant);
    let wanted = (ROWS_A_COLUMN * size).max(LEAST_ROWS);
    // Spread over the rows, with an offset so that a period in their order does no harm.
    let count = problem.len();
    let places: Vec<usize> = if count > 2 * wanted {
        (0..wanted).map(|k| k * count / wanted + (k * 7919) % (count / wanted)).collect()
    } else {
        (0..count).collect()
    };
    let rows: Vec<usize> = places.iter().map(|&i| problem.rows()[i]).collect();
    let scale = count as f64 / places.len() as f64;
    let weights = |k: usize| -> Vec<f64> {
        places.iter().map(|&i| scale * curvature(problem.costs()[i], probabilities[i * lanes + k])).collect()
    };
    // Before the first step all classes are alike.
    let alike = probabilities.chunks(lanes).all(|line| line[..classes].iter().all(|p| *p == line[0]));
    let penalised = match (problem.penalised(), problem.bias()) {
        (false, _) => 0,
        (true, Bias::Folded) => size,
        (true, _) => matrix.columns(),
    };
    let mut factors = Vec::new();
    for k in 0..if alike { 1 } else { classes } {
        let weights = weights(k);
        let workers = problem.workers();
        let scatter = Scatter { matrix, rows: &rows, weights: &weights, constant, centres: None, workers };
        let mut block = scatter.lower(poll)?;
        (0..penalised).for_each(|j| block[(j, j)] += 1.0); // (PC.1)
        let column = |j: usize, out: &mut [f64]| out.copy_from_slice(&block.col_as_slice(j)[j..]);
        let Some(factor) = cholesky::factor(size, &column, 0.0, workers, poll)? else {
            return ControlFlow::Continue(None);
        };
        factors.push(factor);
    }
    ControlFlow::Continue(Some(Preconditioner::Factors(factors)))
}

fn diagonal(
    problem: &JointProblem<'_>,
    probabilities: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Preconditioner>> {
    let products = problem.products();
    let (classes, lanes) = (problem.classes(), products.lanes());
    let squared: Matrix = products.matrix.rebuild(products.matrix.columns(), |_, entries, out| {
        out.extend(entries.iter().map(|&(column, value)| (column, value * value)));
    });
    let squares = crate::class_products::ClassProducts { matrix: &squared, ..products };
    let costs = problem.costs();
    let pass = Pass { vectors: None, lines: &mut [], pulls: true };
    let sums = squares.pass(
        pass,
        |i, values, _| {
            for k in 0..classes {
                values[k] = curvature(costs[i], probabilities[i * lanes + k]);
            }
            0.0
        },
        poll,
    )?;
    let end = sums.pulls.len() - lanes;
    let inverse: Vec<f64> = sums
        .pulls
        .iter()
        .enumerate()
        .map(|(place, sum)| {
            let ridge = match (problem.penalised(), place < end || problem.bias() == Bias::Folded) {
                (true, true) => 1.0,
                _ => 0.0,
            };
            let entry = sum + ridge; // (PC.1)
            if entry > 0.0 { 1.0 / entry } else { 0.0 }
        })
        .collect();
    let finite = inverse.iter().all(|value| value.is_finite());
    ControlFlow::Continue(finite.then_some(Preconditioner::Diagonal(inverse)))
}
