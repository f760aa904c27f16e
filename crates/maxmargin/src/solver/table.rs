//! What each solver is for, and what it goes with: the one place that says so.
//!
//! [`supports`](super::supports) and its refusals, the names and the help of the command line, and the tables of docs/manual.md and rustdoc are
//! made of [`TABLE`]. `tests/tables.rs` holds the two tables to it, and writes them anew.

use super::start::SnapshotControl;
use super::{
    Settings, Solution, Start, block_smo, dual_ascent, interior_point, kernel_newton, kernel_perceptron, l1, lda,
    logistic, mlp, newton, perceptron, primal_newton, rvm, sgd, smo,
};
use crate::error::Error;
use crate::problem::{Bias, Loss, MarginProblem, Norm, Task};
use crate::provenance::SolverKind;

/// What a solver is for, and what it goes with.
#[derive(Clone, Copy, Debug)]
pub struct SolverFacts {
    /// The solver.
    pub kind: SolverKind,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// What it goes with: whatever lies in one of these.
    pub domains: &'static [Domain],
    /// The losses over several classes at once that it minimises.
    pub together: &'static [Loss],
    /// Whether it takes several classes at once where nobody says how they are told apart.
    pub is_joint: bool,
    /// The loss where none is named; `None` is hinge loss.
    pub own_loss: Option<Loss>,
    /// What it looks for.
    pub aim: Aim,
    /// What it can begin at.
    pub beginnings: Beginnings,
    /// Whether it stops at a gap where one is asked for, and not at a violation.
    pub(crate) stops_at_gap: bool,
    /// Bytes that it needs for a problem.
    pub(super) bytes: fn(&MarginProblem<'_>, &Settings) -> u64,
    /// Whether this build is without the solver, because the feature of its name is off.
    pub(super) is_left_out: bool,
    /// How it solves a problem of two classes, or of none; `None` where it makes a network.
    pub(super) solve: Option<Solve>,
}

/// Solves a problem that a solver goes with.
pub(super) type Solve = fn(&MarginProblem<'_>, &Settings, Start, &mut dyn SnapshotControl) -> Solution;

/// Problems that a solver goes with: each choice of one list with each of the others.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Whether it takes other kernels than the linear one.
    pub any_kernel: bool,
    /// The losses.
    pub losses: &'static [Loss],
    /// The ways to treat b.
    pub biases: &'static [Bias],
    /// The tasks, ν apart.
    pub tasks: &'static [TaskKind],
    /// How the weights are measured.
    pub norm: Norm,
    /// The penalties.
    pub penalties: &'static [PenaltyKind],
}

/// A [`Task`] without its numbers. A regression with a ν is one with [`PenaltyKind::Nu`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// A class.
    Classification,
    /// A number.
    Regression,
    /// Whether a row is like the others.
    OneClass,
    /// Whether a row lies in the smallest ball around the others.
    Svdd,
}

/// A [`Penalty`](crate::problem::Penalty) without its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltyKind {
    /// A C, said in one of the three ways.
    Soft,
    /// A ν that a C or an ε is found for.
    Nu,
    /// No slack.
    Hard,
    /// No penalty on w.
    None,
}

/// What a solver looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The minimum of a convex objective, to any digit; the certificate says how near it came.
    Minimum,
    /// A point near that minimum, with a certificate.
    NearMinimum,
    /// A function that minimises no objective.
    NoMinimum,
    /// A minimum that need not be the least, and why.
    NotConvex(&'static str),
}

/// What a solver can begin at, beside nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beginnings {
    /// [`Start::Alpha`]
    pub alpha: bool,
    /// [`Start::Weights`]
    pub weights: bool,
    /// [`Start::Snapshot`]: a training goes on in the middle of a machine.
    pub snapshot: bool,
}

const SCRATCH: Beginnings = Beginnings { alpha: false, weights: false, snapshot: false };
const EVERY_LOSS: &[Loss] = &[Loss::Hinge, Loss::Squared, Loss::Logistic];
const EVERY_BIAS: &[Bias] = &[Bias::Explicit, Bias::Folded, Bias::None];
const CLASSES: &[TaskKind] = &[TaskKind::Classification];

/// Linear machines of two classes with a C, any bias and the L2 norm; what a solver does more is said beside it.
const LINEAR: Domain = Domain {
    any_kernel: false,
    losses: EVERY_LOSS,
    biases: EVERY_BIAS,
    tasks: CLASSES,
    norm: Norm::L2,
    penalties: &[PenaltyKind::Soft],
};

/// All that the one quadratic program says, (D.1).
const GENERAL: Domain = Domain {
    any_kernel: true,
    losses: &[Loss::Hinge, Loss::Squared],
    tasks: &[TaskKind::Classification, TaskKind::Regression, TaskKind::OneClass, TaskKind::Svdd],
    penalties: &[PenaltyKind::Soft, PenaltyKind::Nu, PenaltyKind::Hard],
    ..LINEAR
};

/// What most entries share.
const USUAL: SolverFacts = SolverFacts {
    kind: SolverKind::Smo,
    purpose: "",
    domains: &[],
    together: &[],
    is_joint: false,
    own_loss: None,
    aim: Aim::Minimum,
    beginnings: SCRATCH,
    stops_at_gap: false,
    bytes: |_, _| 0,
    is_left_out: false,
    solve: None,
};

/// All solvers, in the order of [`SolverKind::ALL`].
pub(super) static TABLE: [SolverFacts; SolverKind::ALL.len()] = [
    SolverFacts {
        kind: SolverKind::Smo,
        purpose: "one pair of variables at a time, in double precision; never the n × n matrix",
        domains: &[GENERAL],
        beginnings: Beginnings { alpha: true, snapshot: true, ..SCRATCH },
        bytes: smo::bytes,
        solve: Some(smo::solve),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::BlockSmo,
        purpose: "the choice for kernels: up to 1,280 rows as a whole, more in blocks of variables, on all cores",
        domains: &[GENERAL],
        beginnings: Beginnings { alpha: true, snapshot: true, ..SCRATCH },
        bytes: block_smo::bytes,
        solve: Some(block_smo::solve),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::DualAscent,
        purpose: "one row at a time: sparse rows of many columns",
        domains: &[
            Domain { tasks: &[TaskKind::Classification, TaskKind::Regression, TaskKind::OneClass], ..LINEAR },
            Domain {
                any_kernel: true,
                losses: &[Loss::Hinge, Loss::Squared],
                biases: &[Bias::Folded, Bias::None],
                penalties: &[PenaltyKind::Soft, PenaltyKind::Hard],
                ..LINEAR
            },
        ],
        together: &[Loss::Hinge],
        beginnings: Beginnings { alpha: true, ..SCRATCH },
        stops_at_gap: true,
        bytes: dual_ascent::bytes,
        solve: Some(|problem, settings, start, control| dual_ascent::solve(problem, settings, start, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::InteriorPoint,
        purpose: "few rows; the independent reference",
        domains: &[Domain {
            any_kernel: true,
            losses: &[Loss::Hinge, Loss::Squared],
            penalties: &[PenaltyKind::Soft, PenaltyKind::Hard],
            ..LINEAR
        }],
        is_left_out: cfg!(not(feature = "interior-point")),
        bytes: interior_point::bytes,
        solve: Some(|problem, settings, _, control| interior_point::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Newton,
        purpose: "squared loss in the primal, for few columns",
        domains: &[Domain { losses: &[Loss::Squared], ..LINEAR }],
        own_loss: Some(Loss::Squared),
        bytes: newton::bytes,
        solve: Some(|problem, settings, _, control| newton::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::PrimalNewton,
        purpose: "any size: all weights at once, all cores, to any gap",
        domains: &[Domain { tasks: &[TaskKind::Classification, TaskKind::Regression, TaskKind::OneClass], ..LINEAR }],
        beginnings: Beginnings { alpha: true, weights: true, ..SCRATCH },
        stops_at_gap: true,
        bytes: primal_newton::bytes,
        solve: Some(|problem, settings, start, control| primal_newton::solve(problem, settings, start, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::KernelNewton,
        purpose: "squared loss in the coefficients of a kernel, for few rows",
        domains: &[Domain { any_kernel: true, losses: &[Loss::Squared], ..LINEAR }],
        own_loss: Some(Loss::Squared),
        bytes: kernel_newton::bytes,
        solve: Some(|problem, settings, _, control| kernel_newton::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Sgd,
        purpose: "a few rows a step, with a certified gap",
        domains: &[Domain { losses: &[Loss::Hinge], ..LINEAR }],
        aim: Aim::NearMinimum,
        solve: Some(|problem, settings, _, control| sgd::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Perceptron,
        purpose: "a baseline for classes that can be separated",
        domains: &[Domain { penalties: &[PenaltyKind::Soft, PenaltyKind::None], ..LINEAR }],
        aim: Aim::NoMinimum,
        solve: Some(|problem, settings, _, control| perceptron::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::KernelPerceptron,
        purpose: "the perceptron with a kernel",
        domains: &[Domain { any_kernel: true, penalties: &[PenaltyKind::Soft, PenaltyKind::None], ..LINEAR }],
        aim: Aim::NoMinimum,
        solve: Some(|problem, settings, _, control| kernel_perceptron::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Lda,
        purpose: "Fisher's discriminant: Gaussian classes with one scatter matrix",
        domains: &[Domain { penalties: &[PenaltyKind::Soft, PenaltyKind::None], ..LINEAR }],
        together: EVERY_LOSS,
        is_joint: true,
        aim: Aim::NoMinimum,
        bytes: lda::bytes,
        solve: Some(|problem, settings, _, control| lda::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Logistic,
        purpose: "logistic regression, with or without a penalty; softmax for several classes",
        domains: &[Domain { losses: &[Loss::Logistic], penalties: &[PenaltyKind::Soft, PenaltyKind::None], ..LINEAR }],
        together: &[Loss::Logistic],
        own_loss: Some(Loss::Logistic),
        bytes: logistic::bytes,
        solve: Some(|problem, settings, _, control| logistic::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::L1Newton,
        purpose: "the L1 norm: only the columns that matter, to any gap",
        domains: &[Domain { losses: &[Loss::Squared, Loss::Logistic], norm: Norm::L1, ..LINEAR }],
        own_loss: Some(Loss::Squared),
        beginnings: Beginnings { weights: true, ..SCRATCH },
        stops_at_gap: true,
        bytes: l1::bytes,
        solve: Some(|problem, settings, start, control| l1::solve(problem, settings, start, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Rvm,
        purpose: "the relevance vector machine: probabilities, very few vectors",
        domains: &[Domain { any_kernel: true, losses: &[Loss::Logistic], ..LINEAR }],
        own_loss: Some(Loss::Logistic),
        aim: Aim::NotConvex(rvm::NOT_CONVEX),
        bytes: rvm::bytes,
        solve: Some(|problem, settings, _, control| rvm::solve(problem, settings, control)),
        ..USUAL
    },
    SolverFacts {
        kind: SolverKind::Mlp,
        purpose: "networks: one or more hidden layers before a linear machine",
        domains: &[Domain { losses: &[Loss::Logistic], biases: &[Bias::Explicit], ..LINEAR }],
        together: &[Loss::Logistic],
        is_joint: true,
        own_loss: Some(Loss::Logistic),
        aim: Aim::NotConvex(mlp::NOT_CONVEX),
        ..USUAL
    },
];

impl SolverKind {
    /// What it is for, and what it goes with.
    pub fn facts(self) -> &'static SolverFacts {
        &TABLE[self as usize]
    }

    /// Why its models have no certificate, where that is no matter of the problem.
    pub(crate) fn why_uncertified(self) -> Option<&'static str> {
        if let Aim::NotConvex(why) = self.facts().aim { Some(why) } else { None }
    }

    /// Whether the solver begins at [`Start::Weights`] rather than at [`Start::Alpha`], where it has the choice.
    pub(crate) fn prefers_weights(self, problem: &MarginProblem<'_>) -> bool {
        let is_at_hand = self.facts().beginnings.weights && problem.row_loss().is_smooth();
        problem.norm() == Norm::L1 || is_at_hand
    }

    /// Whether the solver begins at a [`Start::Alpha`]; the others begin from scratch.
    pub fn takes_alpha(self) -> bool {
        self.facts().beginnings.alpha
    }

    /// Whether the solver goes for the minimum itself: the others stop elsewhere, on purpose.
    pub fn finds_minimum(self) -> bool {
        self.facts().aim == Aim::Minimum
    }
}

impl TaskKind {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            TaskKind::Classification => "classification",
            TaskKind::Regression => "regression",
            TaskKind::OneClass => "one-class",
            TaskKind::Svdd => "svdd",
        }
    }
}

impl From<Task> for TaskKind {
    fn from(task: Task) -> Self {
        match task {
            Task::Classification => TaskKind::Classification,
            Task::Regression { .. } | Task::NuRegression { .. } => TaskKind::Regression,
            Task::OneClass { .. } => TaskKind::OneClass,
            Task::Svdd { .. } => TaskKind::Svdd,
        }
    }
}

/// What is asked of a solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The name of the kernel, unless it is linear.
    kernel: Option<&'static str>,
    loss: Loss,
    bias: Bias,
    task: TaskKind,
    norm: Norm,
    penalty: PenaltyKind,
    gap: bool,
}

/// One thing that is asked, in the order in which refusals speak of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Aspect {
    Task,
    Penalty,
    Norm,
    Kernel,
    Loss,
    Bias,
}

impl Asked {
    /// What a problem asks.
    pub(super) fn of(problem: &MarginProblem<'_>, settings: &Settings) -> Self {
        let penalty = if problem.nu().is_some() {
            PenaltyKind::Nu
        } else if problem.hard() {
            PenaltyKind::Hard
        } else if problem.penalised() {
            PenaltyKind::Soft
        } else {
            PenaltyKind::None
        };
        let kernel = problem.kernel();
        Asked {
            kernel: (!kernel.is_linear()).then(|| kernel.name()),
            loss: problem.loss(),
            bias: problem.bias(),
            task: problem.task().into(),
            norm: problem.norm(),
            penalty,
            gap: settings.gap.is_some(),
        }
    }

    /// What does not lie in a domain.
    fn misfits(&self, domain: &Domain) -> Vec<Aspect> {
        [
            (Aspect::Task, domain.tasks.contains(&self.task)),
            (Aspect::Penalty, domain.penalties.contains(&self.penalty)),
            (Aspect::Norm, domain.norm == self.norm),
            (Aspect::Kernel, domain.any_kernel || self.kernel.is_none()),
            (Aspect::Loss, domain.losses.contains(&self.loss)),
            (Aspect::Bias, domain.biases.contains(&self.bias)),
        ]
        .into_iter()
        .filter_map(|(aspect, fits)| (!fits).then_some(aspect))
        .collect()
    }
}

impl SolverFacts {
    /// Whether it has a gap to stop at.
    fn has_gap(&self, asked: &Asked) -> bool {
        matches!(self.aim, Aim::Minimum | Aim::NearMinimum) && asked.penalty != PenaltyKind::None
    }

    /// Whether it goes with all that is asked.
    fn goes_with(&self, asked: &Asked) -> bool {
        self.domains.iter().any(|domain| asked.misfits(domain).is_empty()) && (!asked.gap || self.has_gap(asked))
    }

    /// Checks that it goes with what is asked.
    ///
    /// # Errors
    /// When it does not: what was asked, what goes, and the way out.
    pub(super) fn check(&self, asked: &Asked) -> Result<(), Error> {
        if self.goes_with(asked) {
            return Ok(());
        }
        // The domain in which the least is amiss. Of two, the one that goes with more of what comes first.
        let of_domain = |domain: &'static Domain| (asked.misfits(domain), domain);
        let nearest = self
            .domains
            .iter()
            .map(of_domain)
            .min_by_key(|(misfits, _)| (misfits.len(), std::cmp::Reverse(misfits.first().copied())));
        let (what, choice) = match nearest {
            Some((misfits, domain)) if !misfits.is_empty() => self.misfit(misfits[0], domain, asked),
            _ => ("has no gap to stop at".into(), "leave out the gap".into()),
        };
        let usual =
            |facts: &&SolverFacts| facts.solve.is_some() && matches!(facts.aim, Aim::Minimum | Aim::NearMinimum);
        let others: Vec<&str> =
            TABLE.iter().filter(usual).filter(|facts| facts.goes_with(asked)).map(|facts| facts.kind.name()).collect();
        let help = if others.is_empty() { choice } else { format!("{choice}, or the solver {}", either(&others)) };
        Err(Error::Combination { what: format!("the solver {} {what}", self.kind.name()), help })
    }

    /// What is amiss, and what to choose instead.
    fn misfit(&self, aspect: Aspect, domain: &Domain, asked: &Asked) -> (String, String) {
        match aspect {
            Aspect::Task if domain.tasks == CLASSES => {
                (format!("tells classes apart: it does no {}", asked.task.name()), "choose task classification".into())
            }
            Aspect::Task => (format!("does no {}", asked.task.name()), {
                let tasks: Vec<&str> = domain.tasks.iter().map(|task| task.name()).collect();
                format!("choose task {}", either(&tasks))
            }),
            Aspect::Penalty => match asked.penalty {
                PenaltyKind::Nu => ("has no way to meet a nu".into(), "choose C in the place of nu".into()),
                PenaltyKind::Hard => ("has no hard margin".into(), "leave out hard".into()),
                PenaltyKind::None => ("needs a penalty on the weights".into(), "choose C, or lambda above 0".into()),
                PenaltyKind::Soft => ("has no use for a penalty".into(), "leave out C".into()),
            },
            Aspect::Norm => match asked.norm {
                Norm::L1 => ("does not minimise the L1 norm".into(), "choose norm l2".into()),
                Norm::L2 => ("is for the L1 norm".into(), "choose norm l1".into()),
            },
            Aspect::Kernel => {
                let kernel = asked.kernel.unwrap_or("linear");
                let does = if self.domains.iter().any(|other| other.any_kernel) {
                    format!("does {}", asked.task.name())
                } else {
                    "works".into()
                };
                (format!("{does} with the linear kernel only, not {kernel}"), "choose kernel linear".into())
            }
            Aspect::Loss => {
                let losses: Vec<&str> = domain.losses.iter().map(|loss| loss.name()).collect();
                let losses = either(&losses);
                (format!("minimises {losses} loss, not {}", asked.loss.name()), format!("choose loss {losses}"))
            }
            Aspect::Bias => {
                let biases: Vec<&str> = domain.biases.iter().map(|bias| bias.name()).collect();
                let biases = either(&biases);
                (format!("goes with bias {biases} here, not {}", asked.bias.name()), format!("choose bias {biases}"))
            }
        }
    }
}

/// Names with commas between, and "or" before the last.
pub(super) fn either(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).into(),
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
    }
}

/// Checks that a solver minimises a norm.
///
/// # Errors
/// When it does not, with the way out.
pub fn supports_norm(kind: SolverKind, norm: Norm) -> Result<(), Error> {
    let of_norm = |facts: &&SolverFacts| facts.domains.iter().any(|domain| domain.norm == norm);
    if of_norm(&kind.facts()) {
        return Ok(());
    }
    let (what, other) = match norm {
        Norm::L1 => ("does not minimise the L1 norm", Norm::L2),
        Norm::L2 => ("is for the L1 norm", Norm::L1),
    };
    let others: Vec<&str> = TABLE.iter().filter(of_norm).map(|facts| facts.kind.name()).collect();
    let way = if others.len() > 3 { "another solver".into() } else { format!("the solver {}", either(&others)) };
    Err(Error::Combination {
        what: format!("the solver {} {what}", kind.name()),
        help: format!("choose norm {}, or {way}", other.name()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_solver_is_at_its_place_under_the_name_of_its_files() {
        for (kind, facts) in SolverKind::ALL.into_iter().zip(&TABLE) {
            assert_eq!(kind, facts.kind);
            assert_eq!(SolverKind::from_name(facts.kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), facts.kind.name());
            assert!(!facts.domains.is_empty() && !facts.purpose.is_empty(), "{}", facts.kind.name());
        }
        assert_eq!(SolverKind::from_name("simplex"), None);
    }

    #[test]
    fn a_refusal_says_what_was_asked_what_goes_and_who_does_it() {
        let asked = Asked {
            kernel: None,
            loss: Loss::Hinge,
            bias: Bias::Explicit,
            task: TaskKind::Classification,
            norm: Norm::L2,
            penalty: PenaltyKind::Soft,
            gap: false,
        };
        let told = |kind: SolverKind, asked: Asked| {
            let error = kind.facts().check(&asked).unwrap_err();
            format!("{error}; {}", error.help())
        };
        assert_eq!(
            told(SolverKind::Newton, asked),
            "the solver newton minimises squared loss, not hinge; choose loss squared, \
             or the solver smo, block-smo, dual-ascent, interior-point, primal-newton or sgd"
        );
        let rbf = Asked { kernel: Some("rbf"), ..asked };
        assert_eq!(
            told(SolverKind::DualAscent, rbf),
            "the solver dual-ascent goes with bias folded or none here, not explicit; choose bias folded or none, \
             or the solver smo, block-smo or interior-point"
        );
        let regression = Asked { task: TaskKind::Regression, ..rbf };
        assert_eq!(
            told(SolverKind::DualAscent, regression),
            "the solver dual-ascent does regression with the linear kernel only, not rbf; choose kernel linear, \
             or the solver smo or block-smo"
        );
        let gap = Asked { gap: true, ..asked };
        assert!(
            told(SolverKind::Perceptron, gap).starts_with("the solver perceptron has no gap to stop at; leave out")
        );
        for facts in &TABLE {
            assert!(facts.goes_with(&asked) == facts.check(&asked).is_ok(), "{}", facts.kind.name());
        }
    }
}
