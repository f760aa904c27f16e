//! The solver for those who do not name one.

use super::SolverKind;
use crate::problem::{Bias, Loss, MarginProblem};

/// Columns up to which a matrix of columns × columns is cheap.
const FEW_COLUMNS: usize = 1000;

/// Rows up to which pairs one after the other, in double precision, are as good as blocks.
const FEW_ROWS: usize = 500;

/// Picks a solver for a problem, and says why.
///
/// The primal is the better choice when there are few columns, the dual when there are many.
pub fn choose(problem: &MarginProblem<'_>) -> (SolverKind, Option<String>) {
    let (rows, columns) = (problem.len(), problem.columns());
    let linear = problem.kernel().is_linear();
    let because = |kind: SolverKind, reason: String| (kind, Some(reason));
    match (problem.loss(), problem.bias()) {
        (Loss::Logistic, _) => because(SolverKind::Logistic, "logistic loss".into()),
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
