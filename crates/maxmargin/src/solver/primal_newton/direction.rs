//! Newton's direction (PN.2): by Cholesky's method where there are few columns, else by conjugate gradients.

use std::ops::ControlFlow;

use crate::control::Stop;
use crate::problem::{Bias, Direction, LinearProblem, Passes};
use crate::solver::cholesky::Factor;
use crate::solver::hessian::{self, Ridge};

/// The most steps of the conjugate gradients. What is left then is for the next step of Newton's method.
const MOST_STEPS: usize = 250;
/// The usual number of steps of the conjugate gradients, by which their cost is compared with that of a matrix.
const USUAL_STEPS: f64 = 25.0;
/// The most columns for which a matrix is made.
const MOST_COLUMNS: usize = 3000;

/// The most columns for which the preconditioner is a factored matrix of some rows; and the number of those rows for each column.
const STEERED_COLUMNS: usize = 1200;
const ROWS_A_COLUMN: usize = 6;
/// Steps of the conjugate gradients after which the preconditioner is renewed.
const TOO_MANY_STEPS: usize = 12;

/// Finds directions for a problem, and keeps the preconditioner from step to step.
pub(super) struct Directions {
    by_matrix: bool,
    steered: bool,
    /// The preconditioner, while conjugate gradients need few steps with it.
    factor: Option<Factor>,
}

impl Directions {
    /// Uses a matrix where it is cheaper than conjugate gradients and fits into the memory.
    pub(super) fn new(problem: &LinearProblem<'_>, memory: u64) -> Self {
        let columns = problem.columns() as f64;
        let rows = problem.len() as f64;
        let entries_a_row = problem.matrix.entries() as f64 / problem.matrix.rows().max(1) as f64;
        // Both costs in multiplications: outer products and factorisation; and two passes over the rows for each step.
        let matrix = 0.5 * rows * entries_a_row * entries_a_row + columns * columns * columns / 6.0;
        let passes = USUAL_STEPS * 2.0 * rows * entries_a_row;
        let fits = hessian::bytes(problem.columns()) <= memory / 2;
        Directions {
            by_matrix: fits && problem.columns() <= MOST_COLUMNS && matrix <= passes,
            steered: fits && problem.columns() <= STEERED_COLUMNS,
            factor: None,
        }
    }

    /// Conjugate gradients, however few columns there are.
    #[cfg(test)]
    pub(super) fn without_matrix(steered: bool) -> Self {
        Directions { by_matrix: false, steered, factor: None }
    }

    /// d of (PN.2), up to the accuracy of the system; `None` when it is not finite.
    pub(super) fn find(
        &mut self,
        system: &System<'_, '_>,
        passes: &mut Passes<'_, '_>,
        poll: &mut Poll<'_>,
    ) -> DirectionResult {
        if self.by_matrix {
            let found = by_matrix(system, poll)?;
            return ControlFlow::Continue(found.filter(Direction::is_finite));
        }
        if self.steered && self.factor.is_none() {
            self.factor = steering(system, poll)?;
        }
        let (found, steps) = by_conjugate_gradients(system, self.factor.as_ref(), passes, poll)?;
        if steps > TOO_MANY_STEPS {
            self.factor = None;
        }
        ControlFlow::Continue(Some(found).filter(Direction::is_finite))
    }
}

/// Asks the caller whether to go on.
pub(super) type Poll<'a> = dyn FnMut() -> ControlFlow<Stop> + 'a;
/// A direction, or none that is finite; a break where the caller asked for one.
pub(super) type DirectionResult = ControlFlow<Stop, Option<Direction>>;

/// The system (PN.2), and how accurately it is to be solved.
pub(super) struct System<'s, 'a> {
    pub(super) problem: &'s LinearProblem<'a>,
    /// h_i
    pub(super) curvatures: &'s [f64],
    /// g
    pub(super) gradient: &'s Direction,
    /// The entry of P for b.
    pub(super) bias_ridge: f64,
    /// The part of g that may be left, `accuracy` of (PN.6).
    pub(super) accuracy: f64,
}

impl System<'_, '_> {
    fn ridge(&self) -> Ridge {
        Ridge { weights: 1.0, bias: (self.problem.bias != Bias::None).then_some(self.bias_ridge) }
    }

    /// A direction as one vector, b last unless there is none.
    fn joined(&self, direction: &Direction) -> Vec<f64> {
        let mut whole = direction.weights.clone();
        whole.extend((self.problem.bias != Bias::None).then_some(direction.bias));
        whole
    }

    fn parted(&self, mut whole: Vec<f64>) -> Direction {
        let bias = if self.problem.bias == Bias::None { 0.0 } else { whole.pop().unwrap_or(0.0) };
        Direction { weights: whole, bias }
    }
}

fn by_matrix(system: &System<'_, '_>, poll: &mut Poll<'_>) -> DirectionResult {
    let LinearProblem { matrix, rows, workers, .. } = *system.problem;
    let gradient = system.joined(system.gradient);
    let found = hessian::direction(matrix, rows, workers, system.ridge(), system.curvatures, &gradient, poll)?;
    ControlFlow::Continue(found.map(|whole| system.parted(whole)))
}

/// The preconditioner: the factored matrix of (PN.2) over some of the rows that curve the objective, each standing for several. It costs a part
/// of the whole matrix, and conjugate gradients need few steps with it.
fn steering(system: &System<'_, '_>, poll: &mut Poll<'_>) -> ControlFlow<Stop, Option<Factor>> {
    let problem = system.problem;
    let curved: Vec<usize> = (0..problem.len()).filter(|&i| system.curvatures[i] > 0.0).collect();
    let wanted = ROWS_A_COLUMN * (problem.columns() + 1);
    let count = curved.len();
    let places: Vec<usize> = if count > 2 * wanted {
        // Spread over the rows, with an offset so that a period in their order does no harm.
        (0..wanted).map(|k| curved[k * count / wanted + (k * 7919) % (count / wanted)]).collect()
    } else {
        curved
    };
    let scale = count as f64 / places.len().max(1) as f64;
    let rows: Vec<usize> = places.iter().map(|&i| problem.rows[i]).collect();
    let curvatures: Vec<f64> = places.iter().map(|&i| scale * system.curvatures[i]).collect();
    hessian::factor(problem.matrix, &rows, problem.workers, system.ridge(), &curvatures, poll)
}

/// Conjugate gradients with a preconditioner M, the factor or else the diagonal of the matrix
///
/// ```text
/// until  r′M⁻¹r ≤ accuracy² g′M⁻¹g,   r = −g − Hd                             (PN.6)
/// ```
///
/// Returns the direction and the number of steps.
fn by_conjugate_gradients(
    system: &System<'_, '_>,
    factor: Option<&Factor>,
    passes: &mut Passes<'_, '_>,
    poll: &mut Poll<'_>,
) -> ControlFlow<Stop, (Direction, usize)> {
    let System { problem, curvatures, gradient, bias_ridge, accuracy } = *system;
    let without_bias = problem.bias == Bias::None;
    let mut diagonal = Direction::default();
    if factor.is_none() {
        diagonal = passes.diagonal(curvatures);
        diagonal.weights.iter_mut().for_each(|value| *value += 1.0);
        diagonal.bias += bias_ridge;
    }
    let preconditioned = |residual: &Direction| match factor {
        Some(factor) => {
            let mut whole = system.joined(residual);
            factor.solve(&mut whole);
            system.parted(whole)
        }
        None => Direction {
            weights: residual.weights.iter().zip(&diagonal.weights).map(|(r, m)| r / m).collect(),
            bias: if without_bias { 0.0 } else { residual.bias / diagonal.bias },
        },
    };
    let mut solution = Direction::zero(problem.columns());
    let mut residual = Direction { weights: gradient.weights.iter().map(|g| -g).collect(), bias: -gradient.bias };
    let mut along = preconditioned(&residual);
    let mut size = residual.dot(&along);
    let enough = accuracy * accuracy * size;
    let mut steps = 0;
    while steps < MOST_STEPS && size > enough && size > 0.0 {
        poll()?;
        let mut curved = passes.curved(curvatures, &along);
        curved.weights.iter_mut().zip(&along.weights).for_each(|(value, p)| *value += p);
        curved.bias = if without_bias { 0.0 } else { curved.bias + bias_ridge * along.bias };
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
        steps += 1;
    }
    ControlFlow::Continue((solution, steps))
}
