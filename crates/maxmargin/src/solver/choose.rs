//! Chooses a solver where the user names none.

use super::SolverKind;
use crate::problem::{Loss, MarginProblem, Norm};

/// Picks a solver for a problem, and says why.
///
/// Linear machines go to the linear solvers, whatever the number of rows: the primal is the better choice when there are few columns,
/// the dual when there are many. All others go to the engine for kernels, which has a way of its own for few rows.
pub fn choose(problem: &MarginProblem<'_>) -> (SolverKind, Option<String>) {
    pick(problem, |reason| Some(reason()))
}

/// The choice of [`choose`] without the words, which only the first of many machines needs.
pub(crate) fn choose_silently(problem: &MarginProblem<'_>) -> SolverKind {
    pick(problem, |_| None).0
}

/// Picks a solver, and hands over the words for why to `say`, which keeps them or does not make them.
fn pick(
    problem: &MarginProblem<'_>,
    say: impl Fn(&dyn Fn() -> String) -> Option<String>,
) -> (SolverKind, Option<String>) {
    let (rows, columns) = (problem.len(), problem.columns());
    if problem.norm() == Norm::L1 {
        let reason = say(&|| "the L1 norm, which leaves most columns out of each step".into());
        return (SolverKind::L1Newton, reason);
    }
    if !problem.penalised() {
        return (SolverKind::Logistic, say(&|| "logistic loss without a penalty".into()));
    }
    let is_linear =
        problem.kernel().is_linear() && !problem.hard() && problem.nu().is_none() && problem.reach().is_none();
    // Few full rows of many columns are a smaller problem as a kernel matrix.
    let most = if columns < SOME_COLUMNS { columns } else { columns.saturating_mul(ROWS_A_COLUMN) };
    let is_wide = rows <= super::WHOLE_ROWS && rows < most && !is_sparse(problem);
    if is_linear && (!is_wide || problem.loss() == Loss::Logistic) {
        return for_linear(problem, say);
    }
    let why = if rows <= super::WHOLE_ROWS {
        "whose kernel matrix is solved as a whole"
    } else {
        "so blocks of variables and all cores pay"
    };
    (SolverKind::BlockSmo, say(&|| format!("{rows} rows, {why}")))
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
fn for_linear(
    problem: &MarginProblem<'_>,
    say: impl Fn(&dyn Fn() -> String) -> Option<String>,
) -> (SolverKind, Option<String>) {
    let (rows, columns, entries) = (problem.len(), problem.columns(), entries_a_row(problem));
    let sparse = is_sparse(problem);
    let steepness = |i: usize| problem.costs()[i] * problem.points().squared_norm(problem.rows()[i]);
    let mild = || (0..rows).map(steepness).sum::<f64>() <= MILD * rows as f64;
    if sparse && mild() {
        let reason = || {
            format!("{entries:.0} of {columns} columns in a row, and C is not large, so one row at a time is enough")
        };
        (SolverKind::DualAscent, say(&reason))
    } else if sparse {
        (SolverKind::PrimalNewton, say(&|| "C is large, so one row at a time would take many sweeps".into()))
    } else {
        let reason = || {
            format!(
                "{rows} rows with {entries:.0} numbers each in {columns} columns, so the primal is the smaller problem"
            )
        };
        (SolverKind::PrimalNewton, say(&reason))
    }
}
