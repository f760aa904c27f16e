//! The solver for those who do not name one.

use super::{Settings, SolverKind};
use crate::problem::{Bias, Loss, MarginProblem, Norm};

/// Columns up to which a matrix of columns × columns is cheap.
const FEW_COLUMNS: usize = 1000;

/// Rows up to which pairs one after the other, in double precision, are as good as blocks.
const FEW_ROWS: usize = 500;

/// Picks a solver for a problem, and says why.
///
/// The primal is the better choice when there are few columns, the dual when there are many.
pub fn choose(problem: &MarginProblem<'_>, settings: &Settings) -> (SolverKind, Option<String>) {
    let (rows, columns) = (problem.len(), problem.columns());
    let linear = problem.kernel().is_linear();
    let because = |kind: SolverKind, reason: String| (kind, Some(reason));
    if problem.norm() == Norm::L1 {
        return because(SolverKind::L1Newton, "the L1 norm, which leaves most columns out of each step".into());
    }
    match (problem.loss(), problem.bias()) {
        _ if problem.nu().is_some() || problem.reach().is_some() || !(problem.task().is_classification() || linear) => {
            match rows > FEW_ROWS {
                true => because(SolverKind::BlockSmo, format!("{rows} rows, so blocks of variables and all cores pay")),
                false => because(SolverKind::Smo, "it solves every kernel and every task in little memory".into()),
            }
        }
        _ if !problem.task().is_classification() => for_many_rows(problem),
        (Loss::Logistic, _) if (rows <= FEW_ROWS && settings.gap.is_none()) || !problem.penalised() => {
            because(SolverKind::Logistic, "logistic loss".into())
        }
        _ if linear && (rows > FEW_ROWS || settings.gap.is_some()) && !problem.hard() => for_many_rows(problem),
        (Loss::Squared, _) if linear && columns <= FEW_COLUMNS && columns < rows => because(
            SolverKind::Newton,
            format!("squared loss and {columns} columns for {rows} rows, so the primal is the smaller problem"),
        ),
        (_, Bias::Folded | Bias::None) if linear && !problem.hard() => because(
            SolverKind::DualAscent,
            "linear kernel without an explicit bias, so one variable at a time is enough".into(),
        ),
        (Loss::Hinge | Loss::Squared, _) if rows > FEW_ROWS && !problem.hard() => {
            because(SolverKind::BlockSmo, format!("{rows} rows, so blocks of variables and all cores pay"))
        }
        _ => because(SolverKind::Smo, "it solves every kernel, loss and bias in little memory".into()),
    }
}

/// Of the numbers of a row at most this part is not zero when it is sparse, and a table is wide from so many columns on.
const SPARSE: f64 = 0.05;
const MANY_COLUMNS: usize = 2000;
/// The largest C‖x‖² at which one row at a time is soon done.
const MILD: f64 = 100.0;

/// A linear problem of many rows: one row at a time where each touches few of many weights, else Newton's method.
fn for_many_rows(problem: &MarginProblem<'_>) -> (SolverKind, Option<String>) {
    let matrix = problem.points().matrix();
    let (rows, columns) = (problem.len(), problem.columns());
    let entries = matrix.entries() as f64 / matrix.rows().max(1) as f64;
    let sparse = entries <= SPARSE * columns as f64 && columns >= MANY_COLUMNS;
    let steepness = |i: usize| problem.costs()[i] * problem.points().squared_norm(problem.rows()[i]);
    let mild = || (0..rows).map(steepness).sum::<f64>() <= MILD * rows as f64;
    let (kind, reason) = if sparse && mild() {
        let reason =
            format!("{entries:.0} of {columns} columns in a row, and C is not large, so one row at a time is enough");
        (SolverKind::DualAscent, reason)
    } else if sparse {
        (SolverKind::PrimalNewton, "C is large, so one row at a time would take many sweeps".into())
    } else {
        let reason = format!(
            "{rows} rows with {entries:.0} numbers each in {columns} columns, so the primal is the smaller problem"
        );
        (SolverKind::PrimalNewton, reason)
    };
    (kind, Some(reason))
}
