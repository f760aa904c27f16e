//! What a solver asks of a problem before it starts, and how it says no.

use super::{Settings, SolverKind};
use crate::error::Error;
use crate::problem::{Bias, Loss, MarginProblem, Norm};

fn refuse(kind: SolverKind, what: &str, help: &str) -> Error {
    Error::Combination { what: format!("the solver {} {what}", kind.name()), help: help.into() }
}

/// Other tasks than classification are for those who know of them, and so is ν.
pub(super) fn task(kind: SolverKind, problem: &MarginProblem<'_>) -> Result<(), Error> {
    let general = matches!(kind, SolverKind::Smo | SolverKind::BlockSmo);
    if problem.nu().is_some() && !general {
        return Err(refuse(kind, "has no way to meet a nu", "choose the solver smo or block-smo, or auto"));
    }
    if problem.task().is_classification() || general {
        return Ok(());
    }
    let linear = matches!(kind, SolverKind::DualAscent | SolverKind::PrimalNewton);
    if linear && problem.kernel().is_linear() && problem.reach().is_none() {
        return Ok(());
    }
    let (name, kernel, ball) = (problem.task().name(), problem.kernel().name(), problem.reach().is_some());
    let what = match linear {
        true if ball => format!("does no {name}"),
        true => format!("does {name} with the linear kernel only, not {kernel}"),
        false => format!("tells classes apart: it does no {name}"),
    };
    let solvers = if problem.kernel().is_linear() && !ball {
        "primal-newton, dual-ascent, smo or block-smo"
    } else {
        "smo or block-smo"
    };
    Err(refuse(kind, &what, &format!("choose the solver {solvers}, or auto")))
}

/// A network is more than a decision function over the rows of a problem.
pub(super) fn makes_a_network() -> Error {
    let what = "makes a network, which is trained as a whole and not for one pair of classes";
    refuse(SolverKind::Mlp, what, "train a model with the solver mlp, or choose another solver")
}

/// The kernel must be linear.
pub(super) fn linear_kernel(kind: SolverKind, problem: &MarginProblem<'_>) -> Result<(), Error> {
    if problem.kernel().is_linear() {
        return Ok(());
    }
    let what = format!("works with the linear kernel only, not {}", problem.kernel().name());
    Err(refuse(kind, &what, "choose kernel linear, or a solver for kernels (smo, kernel-newton, kernel-perceptron)"))
}

/// The loss must be one of these.
pub(super) fn loss(kind: SolverKind, problem: &MarginProblem<'_>, allowed: &[Loss]) -> Result<(), Error> {
    if allowed.contains(&problem.loss()) {
        return Ok(());
    }
    let names = allowed.iter().map(|loss| loss.name()).collect::<Vec<_>>().join(" or ");
    let what = format!("minimises {names} loss, not {}", problem.loss().name());
    Err(refuse(kind, &what, &format!("choose loss {names}, or another solver")))
}

/// The bias must not be explicit.
pub(super) fn no_explicit_bias(kind: SolverKind, problem: &MarginProblem<'_>) -> Result<(), Error> {
    if problem.bias() != Bias::Explicit {
        return Ok(());
    }
    let what = "moves one variable at a time, which an explicit bias does not allow";
    Err(refuse(kind, what, "choose bias folded or none, or the solver smo"))
}

/// The margin must be soft.
pub(super) fn soft_margin(kind: SolverKind, problem: &MarginProblem<'_>) -> Result<(), Error> {
    if !problem.hard() {
        return Ok(());
    }
    Err(refuse(kind, "has no hard margin", "leave out hard, or choose the solver smo, dual-ascent or interior-point"))
}

/// A gap can be asked for only of those who have one.
pub(super) fn gap(kind: SolverKind, problem: &MarginProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let has_none = matches!(
        kind,
        SolverKind::Perceptron | SolverKind::KernelPerceptron | SolverKind::Lda | SolverKind::Rvm | SolverKind::Mlp
    );
    if settings.gap.is_none() || !has_none && problem.penalised() {
        return Ok(());
    }
    let help = "leave out the gap, or choose a solver that minimises an objective with a penalty";
    Err(refuse(kind, "has no gap to stop at", help))
}

/// The norm must be the solver's own: each has one.
pub(super) fn norm(kind: SolverKind, norm: Norm) -> Result<(), Error> {
    match (kind, norm) {
        (SolverKind::L1Newton, Norm::L1) => Ok(()),
        (SolverKind::L1Newton, Norm::L2) => {
            Err(refuse(kind, "is for the L1 norm", "choose norm l1, or another solver (primal-newton for norm l2)"))
        }
        (_, Norm::L2) => Ok(()),
        (_, Norm::L1) => {
            Err(refuse(kind, "does not minimise the L1 norm", "leave the solver out, choose l1-newton, or norm l2"))
        }
    }
}

/// The weights must be penalised.
pub(super) fn penalty(kind: SolverKind, problem: &MarginProblem<'_>) -> Result<(), Error> {
    if problem.penalised() {
        return Ok(());
    }
    Err(refuse(kind, "needs a penalty on the weights", "choose lambda above 0, or the solver logistic"))
}

/// The need must be within the budget.
pub(super) fn memory(kind: SolverKind, need: u64, budget: u64) -> Result<(), Error> {
    if need <= budget {
        return Ok(());
    }
    Err(Error::Memory { what: format!("the solver {}", kind.name()), need, budget })
}
