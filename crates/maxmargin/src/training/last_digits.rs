//! The last digits of a small fit.
//!
//! A tolerance is there to save time. On few rows it saves none, and leaves digits open that users see: fits that should be equal
//! (dense and sparse rows, weights and copies of rows) would differ in the fourth digit. So the machines of a small training are
//! searched to a goal ten million times finer. They are still judged by the bounds that were asked for, and a search that does not
//! get to the finer goal is repeated as asked.
//!
//! This is for linear and precomputed kernels and for ν-regression. All other kernel machines of few rows are solved to the last
//! digits by Newton's method on the free variables (`solver/block_smo/free.rs`), whatever the tolerance.

use super::Training;
use crate::data::Dataset;
use crate::problem::{Loss, MarginProblem, Norm, Task};
use crate::solver::{self, Settings, SolverKind};

/// Rows of a small training. With more, a search to the last digits may take noticeably longer than one to the tolerance.
const SMALL_ROWS: usize = 500;
/// How much finer the goal is.
const FINER: f64 = 1e-7;
/// The finest violation to aim at: below it there is only rounding.
const FINEST_VIOLATION: f64 = 1e-12;
/// Steps of a search to the last digits before it is given up: pair steps of a microsecond or two, and steps of Newton's method. With more, a
/// search that cannot get there takes longer; with fewer, some that could is repeated as asked.
const MOST_STEPS: u64 = 200_000;
const MOST_NEWTON_STEPS: u64 = 200;

impl Training {
    /// Whether the machines of a training are searched to their last digits: there are few rows, the solver was left to us, and more than
    /// one step is allowed.
    pub(super) fn wants_last_digits(&self, data: &Dataset) -> bool {
        let may_step = self.params.settings.max_iterations.is_none_or(|most| most > 1);
        data.rows() <= SMALL_ROWS && self.params.solver.is_none() && may_step
    }
}

/// The finer goal for the tolerance alone, for classes that are trained together.
pub(super) fn of_joint(settings: &Settings) -> Settings {
    Settings { gap: None, ..finer(settings) }
}

/// The solver and the goal that find the last digits of a problem; `None` where the solver chosen finds them by itself.
pub(super) fn of_machine(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
) -> Option<(SolverKind, Settings)> {
    let (rows, columns, loss) = (problem.len(), problem.columns(), problem.loss());
    let is_linear = problem.kernel().is_linear();
    let is_nu_regression = matches!(problem.task(), Task::NuRegression { .. });
    if problem.hard() || !(is_linear || problem.kernel().is_precomputed() || is_nu_regression) {
        return None;
    }
    let is_primal = is_linear && problem.penalised() && problem.nu().is_none() && problem.reach().is_none();
    let finer = finer(settings);
    let Some(gap) = settings.linear_gap().filter(|_| is_primal) else {
        // Hinge loss: the coefficients are asked for as well, not only the weights.
        let kind = if loss == Loss::Hinge { SolverKind::BlockSmo } else { kind };
        return Some((kind, finer));
    };
    if loss == Loss::Squared && problem.norm() == Norm::L2 && solver::newton_step_is_free(rows, columns) {
        return None;
    }
    // A gap is a difference of nearly equal numbers, and falls with the square of the distance from the optimum: the last digits are a
    // matter of the violation. Newton's method finds them soon, but for the corners of hinge loss in a space of many columns.
    if loss == Loss::Hinge && columns > rows {
        return Some((kind, Settings { gap: Some((gap * FINER).max(f64::EPSILON)), ..finer }));
    }
    let newton = if problem.norm() == Norm::L1 { SolverKind::L1Newton } else { SolverKind::PrimalNewton };
    let max_iterations = settings.max_iterations.or(Some(MOST_NEWTON_STEPS));
    Some((newton, Settings { gap: None, max_iterations, ..finer }))
}

fn finer(settings: &Settings) -> Settings {
    Settings {
        tolerance: Some((settings.tolerance() * FINER).max(FINEST_VIOLATION)),
        max_iterations: settings.max_iterations.or(Some(MOST_STEPS)),
        ..settings.clone()
    }
}
