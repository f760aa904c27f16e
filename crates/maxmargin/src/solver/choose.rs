//! Chooses a solver where the user names none.

use crate::problem::{Loss, MarginProblem, Norm};
use crate::provenance::{Choice, SolverKind};

/// Picks a solver for a problem, and says why.
///
/// Linear machines go to the linear solvers, whatever the number of rows: the primal is the better choice when there are few columns,
/// the dual when there are many. All others go to the engine for kernels, which has a way of its own for few rows.
pub fn choose(problem: &MarginProblem<'_>) -> (SolverKind, Choice) {
    let (rows, columns) = (problem.len(), problem.columns());
    if problem.norm() == Norm::L1 {
        return (SolverKind::L1Newton, Choice::L1Norm);
    }
    if !problem.penalised() {
        return (SolverKind::Logistic, Choice::NoPenalty);
    }
    let is_linear =
        problem.kernel().is_linear() && !problem.hard() && problem.nu().is_none() && problem.reach().is_none();
    // Few full rows of many columns are a smaller problem as a kernel matrix.
    let most = if columns < SOME_COLUMNS { columns } else { columns.saturating_mul(ROWS_A_COLUMN) };
    let is_wide = rows <= super::WHOLE_ROWS && rows < most && !is_sparse(problem);
    if is_linear && (!is_wide || problem.loss() == Loss::Logistic) {
        return for_linear(problem);
    }
    let is_whole = rows <= super::WHOLE_ROWS;
    (SolverKind::BlockSmo, if is_whole { Choice::WholeMatrix { rows } } else { Choice::Blocks { rows } })
}

/// Rows for each column up to which few rows are the smaller problem, from so many columns on: a Newton step costs their square.
const ROWS_A_COLUMN: usize = 8;
const SOME_COLUMNS: usize = 32;
/// Of the numbers of a row at most this part is not zero when it is sparse, and a table is wide from so many columns on.
const SPARSE: f64 = 0.05;
const MANY_COLUMNS: usize = 2000;
/// The largest C‖x‖² at which one row at a time is soon done.
const MILD: f64 = 100.0;

/// How many numbers of a row are stored, on average.
fn entries_a_row(problem: &MarginProblem<'_>) -> f64 {
    let matrix = problem.points().matrix();
    matrix.entries() as f64 / matrix.rows().max(1) as f64
}

/// Whether a row has few of many columns.
fn is_sparse(problem: &MarginProblem<'_>) -> bool {
    let columns = problem.columns();
    entries_a_row(problem) <= SPARSE * columns as f64 && columns >= MANY_COLUMNS
}

/// A linear problem: one row at a time where each touches few of many weights, else Newton's method.
fn for_linear(problem: &MarginProblem<'_>) -> (SolverKind, Choice) {
    let (rows, columns, entries) = (problem.len(), problem.columns(), entries_a_row(problem));
    if !is_sparse(problem) {
        return (SolverKind::PrimalNewton, Choice::Primal { rows, entries, columns });
    }
    let steepness = |i: usize| problem.costs()[i] * problem.points().squared_norm(problem.rows()[i]);
    if (0..rows).map(steepness).sum::<f64>() <= MILD * rows as f64 {
        (SolverKind::DualAscent, Choice::FewEntries { entries, columns })
    } else {
        (SolverKind::PrimalNewton, Choice::LargeC)
    }
}
