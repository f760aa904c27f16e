//! What the user should know of a machine.

use std::fmt;

use super::{Choice, SolverKind};

/// What the user should know of a machine. [`fmt::Display`] has the sentence, without a full stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// Why this solver, which nobody named. The first machine of a model says it.
    Chosen {
        /// Which one.
        solver: SolverKind,
        /// Why.
        why: Choice,
    },
    /// Another solver took the place of one that stalled.
    StoodIn {
        /// The one that stalled.
        stalled: SolverKind,
        /// The other one.
        tried: SolverKind,
    },
    /// A solver cannot begin where it was told to.
    NoWarmStart {
        /// Which one.
        solver: SolverKind,
    },
    /// The solution is as good as the arithmetic allows.
    AtLimit {
        /// How good that is.
        relative_gap: f64,
        /// What rounding leaves of the violation.
        violation: f64,
    },
    /// The optimum of one class is 0, and what was found is 0 up to rounding.
    NothingParts,
    /// What is left of a regression's objective is what its targets are rounded by.
    RoundedTargets {
        /// What is left.
        objective: f64,
    },
    /// Rounding of kernel values shows in the decision values.
    Rounding(MoreDigits),
    /// The kernel was tried on some of the rows, and assumed to be one on all of them.
    AssumedPositive {
        /// On how many it was tried.
        tried: usize,
        /// How many there are.
        rows: usize,
    },
    /// A limit on time came before the first step.
    OfFewRows {
        /// The rows that stand in for all.
        rows: usize,
    },
    /// What the search had was worse than a constant.
    Constant,
    /// Most columns have no entry, and the model has no weights for them.
    FewColumns {
        /// Columns with an entry.
        used: usize,
        /// All columns.
        columns: usize,
    },
    /// At this ν there is no margin.
    NoMargin {
        /// ν
        nu: f64,
    },
    /// The C that a ν came to.
    CostOfNu {
        /// ν
        nu: f64,
        /// C
        cost: f64,
    },
    /// The ε that a ν came to.
    EpsilonOfNu {
        /// ν
        nu: f64,
        /// ε
        epsilon: f64,
    },
    /// A perceptron made mistakes to the end.
    MistakesInEachSweep {
        /// How many sweeps there were.
        sweeps: u64,
    },
    /// There is no hard margin.
    NotSeparable,
    /// Without a penalty there is no optimum.
    WeightsWithoutEnd,
    /// Fisher's criterion of a direction.
    FisherCriterion(f64),
    /// Two classes have the same mean.
    SameMean,
    /// A scatter matrix could not be inverted as it was.
    SingularScatter {
        /// The part of its diagonal that was added to it.
        ridge: f64,
    },
    /// There are fewer rows than columns, and nothing is shrunk.
    FewerRowsThanColumns {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A kernel value is not finite.
    KernelNotFinite,
    /// The kernel may not be positive semidefinite.
    KernelInDoubt {
        /// Its name.
        kernel: &'static str,
    },
    /// What a relevance vector machine came to.
    RelevanceVectors {
        /// How many there are.
        vectors: usize,
        /// Of how many rows.
        rows: usize,
        /// The logarithm of the marginal likelihood.
        log_evidence: f64,
        /// The largest component of the gradient at the mode.
        gradient: f64,
    },
    /// No row raises the likelihood.
    NoRelevanceVector,
    /// The mode of the weights could not be found.
    NoMode,
    /// There is no memory for more relevance vectors.
    NoMemoryForVectors {
        /// How many there is memory for.
        vectors: usize,
    },
    /// A row came and left too often.
    KeptAway {
        /// How often.
        times: u8,
        /// What the likelihood would gain.
        gain: f64,
    },
    /// What a network came to.
    LowestStart {
        /// The start, counted from 1, and how many there were.
        start: (usize, usize),
        /// The objective.
        objective: f64,
        /// The largest component of its gradient.
        gradient: f64,
    },
    /// The data was read block by block.
    BlockByBlock {
        /// How often.
        passes: u64,
    },
    /// The coefficients did not fit into memory.
    WithoutCoefficients {
        /// How many support vectors there are.
        support: u64,
        /// What they would take, in words.
        size: String,
        /// The primal, the dual and the relative gap that the certificate had.
        certificate: [f64; 3],
    },
    /// The decision function is a sum over landmarks.
    OnLandmarks {
        /// How many there are.
        landmarks: usize,
        /// How many were drawn: those in the span of the others are left out.
        asked: usize,
        /// Of how many rows.
        rows: usize,
    },
    /// Training errors of a stream are of rows that had not been learnt yet.
    ErrorsBeforeLearning,
    /// The words that a file has for a note.
    Told(String),
}

/// What was done about decision values without enough digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MoreDigits {
    /// The certificate was computed with twice the digits.
    Twice,
    /// So much was added to the gap.
    Added(f64),
}

impl Note {
    /// What a file says of a machine.
    pub fn of_words(words: &str) -> Self {
        let chosen = words.strip_prefix("solver ").and_then(|rest| rest.split_once(": "));
        let chosen = chosen.and_then(|(name, why)| Some((SolverKind::from_name(name)?, why)));
        match chosen {
            Some((solver, why)) => Note::Chosen { solver, why: Choice::Told(why.into()) },
            None => Note::Told(words.into()),
        }
    }

    /// Whether it says that a solution is as good as the arithmetic allows.
    pub fn is_at_limit(&self) -> bool {
        matches!(self, Note::AtLimit { .. } | Note::NothingParts | Note::RoundedTargets { .. })
    }
}

/// The sentences.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Chosen { solver, why } => write!(f, "solver {}: {why}", solver.name()),
            Note::StoodIn { stalled, tried } => {
                write!(f, "{} stalled, so {} was tried", stalled.name(), tried.name())
            }
            Note::NoWarmStart { solver } => {
                write!(f, "{} has no use for a warm start, and began from scratch", solver.name())
            }
            Note::AtLimit { relative_gap, violation } => write!(
                f,
                "converged to the limits of double precision: the relative gap is {relative_gap:.1e}, and the violation of \
                 {violation:.1e} is what rounding leaves"
            ),
            Note::NothingParts => write!(
                f,
                "converged to the limits of double precision: the rows lie around 0, so nothing parts them from it and the \
                 optimum is 0; choose the kernel rbf, or a smaller nu"
            ),
            Note::RoundedTargets { objective } => write!(
                f,
                "converged to the limits of double precision: the objective of {objective:.1e} is what the targets are rounded \
                 by; subtract from all targets what they have in common, and they keep more digits"
            ),
            Note::Rounding(done) => {
                write!(f, "rounding of the kernel values shows in the decision values, so ")?;
                match done {
                    MoreDigits::Twice => write!(f, "the certificate was computed with twice the digits")?,
                    MoreDigits::Added(hidden) => write!(f, "{hidden:.1e} was added to the gap")?,
                }
                write!(f, "; columns that are scaled keep more digits")
            }
            Note::AssumedPositive { tried, rows } => write!(
                f,
                "the kernel was found positive semidefinite on {tried} of {rows} rows: on all of them it is an assumption of \
                 the certificate"
            ),
            Note::OfFewRows { rows } => {
                write!(f, "the limit on time came before the first step: this is the solution of {rows} rows")
            }
            Note::Constant => write!(f, "nothing better than a constant was found: what the search had was worse"),
            Note::FewColumns { used, columns } => write!(
                f,
                "{used} of {columns} columns have an entry: the model has weights for these, and knows them by their numbers"
            ),
            Note::NoMargin { nu } => {
                write!(f, "at nu = {nu} the classes leave no margin between them: choose a larger nu, or C instead")
            }
            Note::CostOfNu { nu, cost } => write!(f, "nu = {nu} came to C = {cost:.6e}"),
            Note::EpsilonOfNu { nu, epsilon } => write!(f, "nu = {nu} came to epsilon = {epsilon:.6e}"),
            Note::MistakesInEachSweep { sweeps } => {
                write!(f, "there were mistakes in each of {sweeps} sweeps: the data may not be separable")
            }
            Note::NotSeparable => {
                write!(f, "the classes cannot be separated, so there is no hard margin: use a soft one")
            }
            Note::WeightsWithoutEnd => write!(
                f,
                "the data can be separated, so without a penalty the weights grow without end: add a penalty on the weights"
            ),
            Note::FisherCriterion(criterion) => write!(f, "the Fisher criterion is {criterion:.6}"),
            Note::SameMean => write!(f, "the two classes have the same mean, so no direction tells them apart"),
            Note::SingularScatter { ridge } => write!(
                f,
                "the scatter matrix is singular: {ridge:e} of its diagonal was added to it; choose a shrinkage above 0 for a \
                 say in this"
            ),
            Note::FewerRowsThanColumns { rows, columns } => write!(
                f,
                "{rows} rows say nothing of most directions of {columns} columns: what was found lies in their span; choose a \
                 shrinkage above 0, or auto"
            ),
            Note::KernelNotFinite => write!(f, "a kernel value is not a finite number"),
            Note::KernelInDoubt { kernel } => {
                write!(f, "the kernel {kernel} is not always positive semidefinite, and may not be on these rows")
            }
            Note::RelevanceVectors { vectors, rows, log_evidence, gradient } => write!(
                f,
                "{vectors} relevance vector{} of {rows} rows, log marginal likelihood {log_evidence:.6}, gradient at the mode \
                 {gradient:.1e}",
                if *vectors == 1 { "" } else { "s" },
            ),
            Note::NoRelevanceVector => write!(
                f,
                "no row raises the likelihood: the decision function is constant. Another kernel width, or scaling, may help"
            ),
            Note::NoMode => write!(f, "the mode could not be found in this arithmetic"),
            Note::NoMemoryForVectors { vectors } => write!(
                f,
                "there is memory for {vectors} relevance vectors, and more would raise the likelihood: give more memory"
            ),
            Note::KeptAway { times, gain } => {
                write!(f, "a row that came and left {times} times stays away, although it would gain {gain:.1e}")
            }
            Note::LowestStart { start: (start, starts), objective, gradient } => {
                if *starts > 1 {
                    write!(f, "the lowest of {starts} starts is number {start}: ")?;
                }
                write!(f, "objective {objective:.6e}, largest component of the gradient {gradient:.1e}")
            }
            Note::BlockByBlock { passes } => {
                write!(f, "trained block by block, in {passes} passes over the data")
            }
            Note::WithoutCoefficients { support, size, certificate: [primal, dual, relative_gap] } => write!(
                f,
                "the coefficients of {support} support vectors, which take {size}, are left out of the model, and so is the \
                 certificate that could not be checked without them: primal {primal:.9e}, dual {dual:.9e}, relative gap \
                 {relative_gap:.3e}"
            ),
            Note::OnLandmarks { landmarks, asked, rows } => {
                write!(
                    f,
                    "the certificate is that of the problem on {landmarks} landmarks of {rows} rows: no other sum over them is \
                     much better; how far the exact machine may be is what a proof says"
                )?;
                match asked - landmarks {
                    0 => Ok(()),
                    1 => write!(f, "; 1 more was drawn, and is left out because it adds nothing to the others"),
                    left => {
                        write!(f, "; {left} more were drawn, and are left out because they add nothing to the others")
                    }
                }
            }
            Note::ErrorsBeforeLearning => {
                write!(f, "training errors are those of rows predicted before they were learnt, in all passes")
            }
            Note::Told(words) => f.write_str(words),
        }
    }
}
