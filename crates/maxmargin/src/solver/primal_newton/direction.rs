//! Newton's direction (PN.2): by Cholesky's method where there are few columns, else by conjugate gradients.

use std::ops::ControlFlow;

use crate::control::Stop;
use crate::problem::{Bias, Direction, LinearProblem, Passes};
use crate::solver::hessian::{self, Ridge};

/// Steps of the conjugate gradients at most: what is left after so many is for the next step of Newton's method.
const MOST_STEPS: usize = 250;
/// Steps that conjugate gradients usually take, to weigh them against a matrix.
const USUAL_STEPS: f64 = 25.0;
/// Columns beyond which no matrix is made.
const MOST_COLUMNS: usize = 3000;

/// How directions are found for a problem.
pub(super) struct Directions {
    by_matrix: bool,
}

impl Directions {
    /// A matrix where it is cheaper than conjugate gradients, and there is memory for it.
    pub(super) fn new(problem: &LinearProblem<'_>, memory: u64) -> Self {
        let columns = problem.columns() as f64;
        let rows = problem.len() as f64;
        let entries_a_row = problem.matrix.entries() as f64 / problem.matrix.rows().max(1) as f64;
        // In products: the outer products of all rows and the factorisation, against two passes a step.
        let matrix = 0.5 * rows * entries_a_row * entries_a_row + columns * columns * columns / 6.0;
        let passes = USUAL_STEPS * 2.0 * rows * entries_a_row;
        let fits = hessian::bytes(problem.columns()) <= memory / 2;
        Directions { by_matrix: fits && problem.columns() <= MOST_COLUMNS && matrix <= passes }
    }

    /// Conjugate gradients, however few columns there are.
    #[cfg(test)]
    pub(super) fn without_matrix() -> Self {
        Directions { by_matrix: false }
    }

    /// d with `(P + Σ h_i x_i x_i′) d = −g` up to a part of g; `None` when there is none that is finite.
    pub(super) fn find(
        &self,
        problem: &LinearProblem<'_>,
        passes: &mut Passes<'_, '_>,
        curvatures: &[f64],
        gradient: &Direction,
        bias_ridge: f64,
        accuracy: f64,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Direction>> {
        let found = match self.by_matrix {
            true => by_matrix(problem, curvatures, gradient, bias_ridge, poll)?,
            false => Some(by_conjugate_gradients(problem, passes, curvatures, gradient, bias_ridge, accuracy, poll)?),
        };
        ControlFlow::Continue(found.filter(Direction::is_finite))
    }
}

fn by_matrix(
    problem: &LinearProblem<'_>,
    curvatures: &[f64],
    gradient: &Direction,
    bias_ridge: f64,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Direction>> {
    let mut whole = gradient.weights.clone();
    let bias = (problem.bias != Bias::None).then_some(bias_ridge);
    if problem.bias != Bias::None {
        whole.push(gradient.bias);
    }
    let ridge = Ridge { weights: 1.0, bias };
    let found = hessian::direction(problem.matrix, problem.rows, problem.workers, ridge, curvatures, &whole, poll)?;
    ControlFlow::Continue(found.map(|mut weights| {
        let bias = if problem.bias == Bias::None { 0.0 } else { weights.pop().unwrap_or(0.0) };
        Direction { weights, bias }
    }))
}

/// Conjugate gradients with the diagonal of the matrix as preconditioner M
///
/// ```text
/// until  r′M⁻¹r ≤ accuracy² g′M⁻¹g,   r = −g − Hd                             (PN.6)
/// ```
fn by_conjugate_gradients(
    problem: &LinearProblem<'_>,
    passes: &mut Passes<'_, '_>,
    curvatures: &[f64],
    gradient: &Direction,
    ridge: f64,
    accuracy: f64,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Direction> {
    let mut diagonal = passes.diagonal(curvatures);
    diagonal.weights.iter_mut().for_each(|value| *value += 1.0);
    diagonal.bias += ridge;
    let preconditioned = |residual: &Direction| Direction {
        weights: residual.weights.iter().zip(&diagonal.weights).map(|(r, m)| r / m).collect(),
        bias: if problem.bias == Bias::None { 0.0 } else { residual.bias / diagonal.bias },
    };
    let mut solution = Direction::zero(problem.columns());
    let mut residual = Direction { weights: gradient.weights.iter().map(|g| -g).collect(), bias: -gradient.bias };
    let mut along = preconditioned(&residual);
    let mut size = residual.dot(&along);
    let enough = accuracy * accuracy * size;
    for _ in 0..MOST_STEPS {
        if !(size > enough && size > 0.0) {
            break;
        }
        poll()?;
        let mut curved = passes.curved(curvatures, &along);
        curved.weights.iter_mut().zip(&along.weights).for_each(|(value, p)| *value += p);
        curved.bias = if problem.bias == Bias::None { 0.0 } else { curved.bias + ridge * along.bias };
        let bend = along.dot(&curved);
        if !(bend > 0.0 && bend.is_finite()) {
            break;
        }
        let step = size / bend;
        solution.add(step, &along);
        residual.add(-step, &curved);
        let next = preconditioned(&residual);
        let new = residual.dot(&next); // (PN.6)
        let turn = new / size;
        along.weights.iter_mut().zip(&next.weights).for_each(|(p, z)| *p = z + turn * *p);
        along.bias = next.bias + turn * along.bias;
        size = new;
    }
    ControlFlow::Continue(solution)
}
