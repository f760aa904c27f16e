//! What a solver does in one step, as data: enough to draw the step, and to go back and forth between steps without the solver.

#[cfg(feature = "serde")]
use serde::Serialize;

/// One step of a solver, handed to [`Control::step`](super::Control::step).
///
/// A row is a number of the problem's own [`rows`](crate::problem::MarginProblem::rows): of a training, the row of its data, counted from 0.
/// A machine is its place in the model. An iteration counts what the solver counts: pairs, sweeps or steps of Newton's method. The dual
/// objective is the one that the certificate names: it rises by `gain`.
///
/// Steps are the same for the same problem and settings, for any number of threads. JSON has no infinite number, and says `null`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "step", rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Step {
    /// `smo` moves two variables, of the rows `i` and `j`, so that `s_i α_i + s_j α_j` stays as it is; without such a sum
    /// (a bias that is folded, or none) over the rectangle of both bounds. Where it moves one variable only, `i` is `j`.
    Pair {
        /// The place of the machine in the model.
        machine: usize,
        /// Pairs moved so far, this one included.
        iteration: u64,
        /// The row that violates most.
        i: usize,
        /// Its partner.
        j: usize,
        /// `s_i` and `s_j`, +1 or −1: the coefficients of the rows are `s α`.
        signs: [f64; 2],
        /// The bounds of `α_i` and `α_j`; infinite where there is none.
        upper: [f64; 2],
        /// `α_i` and `α_j` before the step.
        before: [f64; 2],
        /// `α_i` and `α_j` after the step.
        after: [f64; 2],
        /// L: the least `α_j` for which both are within their bounds.
        low: f64,
        /// H: the largest such `α_j`.
        high: f64,
        /// `α_j` where the objective would be largest without bounds; infinite where it has no curvature.
        wanted: f64,
        /// `α_j` after the step: `wanted`, cut to L and H where the sum is fixed.
        taken: f64,
        /// By how much the dual objective rises.
        gain: f64,
        /// The dual objective after the step.
        dual: f64,
        /// The duality gap after the step.
        gap: f64,
        /// The largest violation of the optimality conditions before the step.
        violation: f64,
        /// b after the step, where it is explicit and known.
        bias: Option<f64>,
    },
    /// `dual-ascent` moves one variable.
    Coordinate {
        /// The place of the machine in the model.
        machine: usize,
        /// Sweeps done before.
        iteration: u64,
        /// The row.
        row: usize,
        /// The coefficient of the row is `sign · α`.
        sign: f64,
        /// The bounds of α.
        low: f64,
        /// The upper bound; infinite where there is none.
        high: f64,
        /// α before the step.
        before: f64,
        /// α where the objective would be largest without bounds.
        wanted: f64,
        /// α after the step.
        taken: f64,
        /// By how much the dual objective rises.
        gain: f64,
        /// The dual objective after the step; unknown while an explicit bias is approached.
        dual: Option<f64>,
        /// b after the step, where it is known.
        bias: Option<f64>,
    },
    /// `perceptron` and `kernel-perceptron` meet a row on the wrong side, and add it.
    Mistake {
        /// The place of the machine in the model.
        machine: usize,
        /// Sweeps done before.
        iteration: u64,
        /// The row.
        row: usize,
        /// Its class, +1 or −1.
        sign: f64,
        /// f of the row before it is added.
        value: f64,
        /// How often this row was added, now included: its coefficient is `sign · times`.
        times: u64,
        /// All mistakes so far.
        mistakes: u64,
        /// b after the step.
        bias: f64,
    },
    /// `sgd` looks at a batch of rows, and adds those with slack.
    Sample {
        /// The place of the machine in the model.
        machine: usize,
        /// Sweeps done before.
        iteration: u64,
        /// The rows of the batch.
        rows: Vec<usize>,
        /// Those of them with slack.
        violating: Vec<usize>,
        /// The size of the step, Λ/s of (SG.2).
        rate: f64,
        /// w after the step.
        weights: Vec<f64>,
        /// b after the step.
        bias: f64,
    },
    /// A solver by Newton's method goes to a new point.
    Newton {
        /// The place of the machine in the model.
        machine: usize,
        /// Steps done so far, this one included.
        iteration: u64,
        /// The rows that the quadratic model of this step was made of.
        active: Vec<usize>,
        /// The part of Newton's step that was taken.
        length: f64,
        /// w after the step, of a linear solver.
        weights: Vec<f64>,
        /// The coefficient of each row of the problem after the step, of a solver for kernels.
        coefficients: Vec<f64>,
        /// b after the step.
        bias: f64,
        /// The primal objective after the step.
        primal: f64,
        /// The largest violation of the optimality conditions before the step, where it is known.
        violation: Option<f64>,
    },
}

impl Step {
    /// The place of the machine in the model.
    pub fn machine(&self) -> usize {
        match self {
            Step::Pair { machine, .. }
            | Step::Coordinate { machine, .. }
            | Step::Mistake { machine, .. }
            | Step::Sample { machine, .. }
            | Step::Newton { machine, .. } => *machine,
        }
    }

    /// The step as one of another machine: a solver counts its own machines from 0.
    pub(crate) fn of_machine(mut self, number: usize) -> Self {
        match &mut self {
            Step::Pair { machine, .. }
            | Step::Coordinate { machine, .. }
            | Step::Mistake { machine, .. }
            | Step::Sample { machine, .. }
            | Step::Newton { machine, .. } => *machine = number,
        }
        self
    }

    /// The step as one of a search that goes on after some iterations.
    pub(crate) fn after(mut self, before: u64) -> Self {
        match &mut self {
            Step::Pair { iteration, .. }
            | Step::Coordinate { iteration, .. }
            | Step::Mistake { iteration, .. }
            | Step::Sample { iteration, .. }
            | Step::Newton { iteration, .. } => *iteration = iteration.saturating_add(before),
        }
        self
    }
}
