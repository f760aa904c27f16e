//! Solvers: algorithms by name, each of which turns a [`MarginProblem`] into a [`Solution`].
//!
//! <!-- solvers -->
//! | name | for | goes with | classes together | a checkpoint may lie | certificate |
//! | --- | --- | --- | --- | --- | --- |
//! | `smo` | one pair of variables at a time, in double precision; never the n × n matrix | any kernel, hinge or squared loss, any bias, classification, regression, one-class or svdd, ν, hard margin | no | in a machine | yes |
//! | `block-smo` | the choice for kernels: up to 1,280 rows as a whole, more in blocks of variables, on all cores | any kernel, hinge or squared loss, any bias, classification, regression, one-class or svdd, ν, hard margin | no | in a machine | yes |
//! | `dual-ascent` | one row at a time: sparse rows of many columns | linear, any loss, any bias, classification, regression or one-class; any kernel, hinge or squared loss, bias folded or none, classification, hard margin | hinge loss | between machines | yes |
//! | `interior-point` | few rows; the independent reference | any kernel, hinge or squared loss, any bias, classification, hard margin | no | between machines | yes |
//! | `newton` | squared loss in the primal, for few columns | linear, squared loss, any bias, classification | no | between machines | yes |
//! | `primal-newton` | any size: all weights at once, all cores, to any gap | linear, any loss, any bias, classification, regression or one-class | no | between machines | yes |
//! | `kernel-newton` | squared loss in the coefficients of a kernel, for few rows | any kernel, squared loss, any bias, classification | no | between machines | yes |
//! | `sgd` | a few rows a step, with a certified gap | linear, hinge loss, any bias, classification | no | between machines | yes |
//! | `perceptron` | a baseline for classes that can be separated | linear, any loss, any bias, classification, no penalty | no | between machines | no objective |
//! | `kernel-perceptron` | the perceptron with a kernel | any kernel, any loss, any bias, classification, no penalty | no | between machines | no objective |
//! | `lda` | Fisher's discriminant: Gaussian classes with one scatter matrix | linear, any loss, any bias, classification, no penalty | yes | between machines | no objective |
//! | `logistic` | logistic regression, with or without a penalty; softmax for several classes | linear, logistic loss, any bias, classification, no penalty | logistic loss | between machines | yes |
//! | `l1-newton` | the L1 norm: only the columns that matter, to any gap | linear, squared or logistic loss, any bias, classification, norm l1 | no | between machines | yes |
//! | `rvm` | the relevance vector machine: probabilities, very few vectors | any kernel, logistic loss, any bias, classification | no | between machines | not convex |
//! | `mlp` | networks: one or more hidden layers before a linear machine | linear, logistic loss, bias explicit, classification | logistic loss | between machines | not convex |
//! <!-- /solvers -->
//!
//! Several classes at once are the matter of `joint/` and `lda/`, networks that of `mlp/`.
//!
//! To add one: write its file with `bytes` and `solve`, declare it below, name it in [`SolverKind`], and give it an entry in `table.rs`; the
//! table above and that of `docs/manual.md` are written by the test `tables`. Every solver asks its [`Control`] between steps, ends at `max_iterations`, and uses
//! no clock. One that can be resumed asks through `start::poll_keeping`, and takes a [`Start::Snapshot`].

mod block_smo;
mod cache;
pub(crate) mod cholesky;
mod choose;
mod chunks;
mod drift;
pub(crate) mod dual_ascent;
#[cfg(test)]
mod fixtures;
mod hessian;
#[cfg(feature = "interior-point")]
mod interior_point;
#[cfg(not(feature = "interior-point"))]
#[path = "left_out.rs"]
mod interior_point;
mod joint;
mod kernel_newton;
mod kernel_perceptron;
mod l1;
mod lda;
mod line_search;
mod logistic;
mod mlp;
mod newton;
mod no_tube;
mod perceptron;
mod preconditioner;
mod primal_newton;
mod rvm;
pub(crate) mod scatter;
mod sgd;
pub(crate) mod smo;
mod start;
mod table;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use joint::{JointSolution, JointStart, solve_joint, supports_joint};
pub use lda::{Projection, Shrinkage, fisher_criterion, projection as lda_projection};
pub(crate) use mlp::{NOT_CONVEX as NETWORK_NOT_CONVEX, solve_network};

use crate::control::{Control, Stop, Unkept};
use crate::error::Error;
use crate::network::Activation;
pub use crate::problem::{Decision, Solution};
use crate::problem::{DualProblem, FromNu, MarginProblem, Recovered};
use crate::provenance::Note;
pub use crate::provenance::SolverKind;
use crate::room::check_room;
pub(crate) use block_smo::{Chain, ChainProblem, OF_ENDING, WHOLE_ROWS, own_bytes, shared_bytes};
pub use choose::choose;
pub(crate) use chunks::solve_by_chunks;
pub(crate) use primal_newton::newton_step_is_free;
use smo::DualSolution;
pub use start::{Snapshot, SnapshotControl, Start};
pub use table::{Aim, Beginnings, Domain, PenaltyKind, SolverFacts, TaskKind, supports_norm};
use table::{Asked, either};

/// Settings that every solver reads what it needs of. Checked by the training parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The largest violation of the optimality conditions to stop at; `None` is [`Settings::TOLERANCE`] for kernel machines, and leaves
    /// the end of linear ones to the gap. A regression's violation is counted in halves of the range of its targets.
    pub tolerance: Option<f64>,
    /// The relative duality gap to stop at. `None` is [`Settings::GAP`] for linear machines, unless they are given a tolerance, and
    /// [`Settings::KERNEL_GAP`] beside the tolerance for all others. A gap that is given to a linear machine takes the place of its
    /// tolerance.
    pub gap: Option<f64>,
    /// The most steps (sweeps over the rows for `dual-ascent`, `sgd` and the perceptrons); `None` is the solver's own cap.
    pub max_iterations: Option<u64>,
    /// Bytes for caches and matrices.
    pub memory: u64,
    /// The precision of kernel values in `block-smo`; what it finds is checked in double precision either way.
    pub precision: Precision,
    /// Where randomness starts.
    pub seed: u64,
    /// Rows a step of `sgd` looks at.
    pub batch: usize,
    /// Whether `sgd` and the perceptrons return the average of their steps.
    pub averaged: bool,
    /// What `lda` adds to the scatter matrix.
    pub shrinkage: Shrinkage,
    /// How `lda` places its threshold.
    pub threshold: Threshold,
    /// The units of each hidden layer of `mlp`.
    pub hidden: Vec<usize>,
    /// What a hidden unit of `mlp` makes of its sum.
    pub activation: Activation,
    /// How often `mlp` begins anew, to take the lowest end.
    pub starts: usize,
}

impl Settings {
    /// The violation that kernel machines stop at, LIBSVM's.
    pub const TOLERANCE: f64 = 1e-3;
    /// The relative gap that linear machines stop at.
    pub const GAP: f64 = 1e-4;
    /// The relative gap that no kernel machine may be above. Where no coefficient is at its bound, a violation of 1e-3 proves about 2e-3.
    pub const KERNEL_GAP: f64 = 5e-3;

    /// The largest violation to stop at.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(Self::TOLERANCE)
    }

    /// The relative gap that a linear machine stops at; `None` where it stops at a violation.
    pub fn linear_gap(&self) -> Option<f64> {
        self.gap.or(if self.tolerance.is_some() { None } else { Some(Self::GAP) })
    }
}

/// The precision of the kernel values that a solver works with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Precision {
    /// 32 bits.
    #[default]
    Single,
    /// 64 bits.
    Double,
}

/// How `lda` places its threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Threshold {
    /// Where the training errors are fewest.
    #[default]
    LeastError,
    /// Where least squares puts it.
    LeastSquares,
    /// Where two Gaussian classes of one scatter are equally likely.
    EqualOdds,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tolerance: None,
            gap: None,
            max_iterations: None,
            memory: 2 << 30,
            precision: Precision::default(),
            seed: 0,
            batch: 1,
            averaged: false,
            shrinkage: Shrinkage::default(),
            threshold: Threshold::default(),
            hidden: vec![8],
            activation: Activation::default(),
            starts: 4,
        }
    }
}

/// Checks that a solver can solve a problem, within its memory.
///
/// # Errors
/// When it cannot, with the way out.
pub fn supports(kind: SolverKind, problem: &MarginProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let facts = kind.facts();
    if facts.is_left_out {
        return Err(Error::Combination {
            what: format!("the solver {} was left out of this build", kind.name()),
            help: format!("build maxmargin with the feature `{}`, or leave the solver out", kind.name()),
        });
    }
    facts.check(&Asked::of(problem, settings))?;
    if facts.solve.is_none() {
        return Err(makes_a_network(kind));
    }
    within_memory(kind, (facts.bytes)(problem, settings), settings.memory)
}

/// A network is more than a decision function over the rows of a problem.
fn makes_a_network(kind: SolverKind) -> Error {
    Error::Combination {
        what: format!(
            "the solver {} makes a network, which is trained as a whole and not for one pair of classes",
            kind.name()
        ),
        help: format!("train a model with the solver {}, or choose another solver", kind.name()),
    }
}

/// Checks that what a solver needs is within the budget, and that the system has it.
///
/// # Errors
/// When it is not.
fn within_memory(kind: SolverKind, need: u64, budget: u64) -> Result<(), Error> {
    let help = "use a machine with more memory, give fewer rows or columns, or choose the solver smo, which works in little memory";
    check_room(|| format!("the solver {}", kind.name()), need, budget, help)
}

/// Solves a problem by the algorithm named, from scratch.
///
/// # Errors
/// As [`supports`]. Not converging is no error: see [`Solution::stop`].
pub fn solve(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<Solution, Error> {
    solve_from(kind, problem, settings, Start::Scratch, &mut Unkept(control))
}

/// Solves a problem by the algorithm named, from a start; [`Start`] says which solvers make use of which.
///
/// # Errors
/// As [`supports`].
pub fn solve_from(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> Result<Solution, Error> {
    supports(kind, problem, settings)?;
    solve_supported(kind, problem, settings, start, control)
}

/// [`solve_from`] of what [`supports`] has let pass.
fn solve_supported(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> Result<Solution, Error> {
    let Beginnings { alpha, weights, .. } = kind.facts().beginnings;
    let ignored = matches!(start, Start::Alpha(_)) && !alpha || matches!(start, Start::Weights { .. }) && !weights;
    let mut solution = if problem.nu().is_some() && problem.task().is_regression() {
        no_tube::solve(kind, problem, settings, start, control)?
    } else {
        search(kind, problem, settings, start, control)?
    };
    if ignored {
        solution.notes.push(Note::NoWarmStart { solver: kind });
    }
    Ok(solution)
}

/// One search by the algorithm named, of a problem that it supports.
fn search(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> Result<Solution, Error> {
    let solve = kind.facts().solve.ok_or_else(|| makes_a_network(kind))?;
    Ok(solve(problem, settings, start, control))
}

/// How many problems over the same rows, like this one, a solver takes at a time: 1 where it gains nothing from more.
pub(crate) fn problems_at_a_time(kind: SolverKind, problem: &MarginProblem<'_>) -> usize {
    match kind {
        SolverKind::DualAscent if dual_ascent::solves_together(problem) => dual_ascent::MOST_LANES,
        _ => 1,
    }
}

/// Solves several problems over the same rows, with the same loss and bias, at once; each as well as it would be alone.
///
/// [`supports`] must have let the first of them pass: the others are of the same kind and size.
///
/// # Errors
/// When the solver makes a network.
pub(crate) fn solve_together(
    kind: SolverKind,
    problems: &[MarginProblem<'_>],
    settings: &Settings,
    mut starts: Vec<Start>,
    control: &mut dyn SnapshotControl,
) -> Result<Vec<Solution>, Error> {
    match (problems, starts.pop()) {
        ([problem], Some(start)) => Ok(vec![solve_supported(kind, problem, settings, start, control)?]),
        (_, last) => {
            starts.extend(last);
            Ok(dual_ascent::solve_together(problems, settings, starts, control))
        }
    }
}

/// Solves a problem through its dual, and reads the decision function off the dual's solution.
///
/// ```text
/// c_i = α_i y_i,   b = −ρ (explicit bias, (D.3)),   f(x_i) = y_i (∇_i − p_i − r_i α_i) + b          (D.9)
/// ```
fn solve_by_dual(problem: &MarginProblem<'_>, solve: impl FnOnce(&DualProblem<'_>) -> DualSolution) -> Solution {
    let dual = match problem.dual() {
        Ok(dual) => dual,
        Err(error) => unreachable!("`supports` lets no such problem pass: {error}"),
    };
    let DualSolution { alpha, gradient, stop, iterations } = solve(&dual);
    let Recovered { coefficients, bias, values, from_nu } = problem.recover(&dual, &alpha, &gradient);
    let mut notes = Vec::new();
    let (mut alpha, mut stop) = (alpha, stop);
    match (problem.nu(), from_nu) {
        (Some(nu), FromNu::Nothing) => {
            notes.push(Note::NoMargin { nu });
            stop = if stop == Stop::Converged { Stop::Stalled } else { stop };
        }
        (Some(nu), FromNu::Cost(cost)) => notes.push(Note::CostOfNu { nu, cost }),
        (Some(nu), FromNu::Epsilon(epsilon)) => notes.push(Note::EpsilonOfNu { nu, epsilon }),
        (None, _) => {}
    }
    if alpha.len() != problem.len() || problem.nu().is_some() {
        alpha = coefficients.iter().zip(problem.signs()).map(|(c, sign)| c * sign).collect();
    }
    let decision = decision_of(problem, coefficients, bias);
    Solution { decision, alpha: Some(alpha), decision_values: Some(values), from_nu, stop, iterations, notes }
}

/// The decision function of the coefficients `c_i`: a vector of weights where the kernel is linear.
fn decision_of(problem: &MarginProblem<'_>, coefficients: Vec<f64>, bias: f64) -> Decision {
    if !problem.kernel().is_linear() {
        return Decision::Expansion { coefficients, bias };
    }
    let (weights, folded) = problem.weights_of_coefficients(&coefficients);
    Decision::Linear { weights, bias: bias + folded }
}

/// ⟨a, b⟩
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
