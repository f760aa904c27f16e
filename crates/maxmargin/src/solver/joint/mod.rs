//! Solvers that find the functions of several classes together.
//!
//! | solver | problem | file |
//! | --- | --- | --- |
//! | `logistic` | softmax: logistic loss over all classes | `softmax.rs` |
//! | `dual-ascent` | hinge loss over all classes, after Crammer and Singer | `crammer_singer.rs` |
//! | `lda` | Gaussian classes with one scatter matrix | `../lda/joint.rs` |
//!
//! Like the solvers of two classes they ask their [`Control`] between steps, end at `max_iterations`, and use no clock.

mod crammer_singer;
mod softmax;

use super::{Settings, SolverKind, either, lda};
use crate::certificate::joint::ClassAlpha;
use crate::control::{Control, Stop};
use crate::error::Error;
use crate::problem::JointProblem;
use crate::provenance::Note;

/// What a solver of several classes hands back. Whether it is good is for the certificate to say.
#[derive(Clone, Debug)]
pub struct JointSolution {
    /// w_k, one vector a class.
    pub weights: Vec<Vec<f64>>,
    /// b_k; a folded bias is in here too.
    pub biases: Vec<f64>,
    /// The dual variables of each class, where the model needs them to be certified.
    pub alpha: Option<Vec<ClassAlpha>>,
    /// Why it stopped.
    pub stop: Stop,
    /// Steps done.
    pub iterations: u64,
    /// What the user should know, in whole sentences without a full stop.
    pub notes: Vec<Note>,
}

/// Where a solver of several classes begins.
#[derive(Clone, Debug)]
pub enum JointStart {
    /// As if the data had never been seen.
    Scratch,
    /// At a model of the same classes.
    Model {
        /// w_k
        weights: Vec<Vec<f64>>,
        /// b_k
        biases: Vec<f64>,
        /// α, scaled to the new C; empty lists where the model has none.
        alpha: Vec<ClassAlpha>,
    },
}

/// Checks that a solver can solve a problem of several classes, within its memory.
///
/// # Errors
/// When it cannot, with the way out.
pub fn supports_joint(kind: SolverKind, problem: &JointProblem<'_>, settings: &Settings) -> Result<(), Error> {
    if settings.gap.is_some() && kind != SolverKind::Logistic {
        return Err(Error::Combination {
            what: format!("the solver {} over several classes stops at no gap", kind.name()),
            help: "leave out the gap, or choose the solver logistic".into(),
        });
    }
    match kind {
        SolverKind::Lda => lda::supports_joint(problem, settings),
        SolverKind::Logistic => softmax::supports(problem, settings),
        SolverKind::DualAscent => crammer_singer::supports(problem, settings),
        _ => {
            let knows = |kind: &SolverKind| !kind.facts().together.is_empty() && *kind != SolverKind::Mlp;
            let names: Vec<&str> = SolverKind::ALL.iter().filter(|kind| knows(kind)).map(|kind| kind.name()).collect();
            Err(Error::Combination {
                what: format!("the solver {} knows of two classes only", kind.name()),
                help: format!("choose the solver {}, or multiclass ovo or ovr", either(&names)),
            })
        }
    }
}

/// Solves a problem of several classes by the algorithm named.
///
/// # Errors
/// As [`supports_joint`]. Not converging is no error: see [`JointSolution::stop`].
pub fn solve_joint(
    kind: SolverKind,
    problem: &JointProblem<'_>,
    settings: &Settings,
    start: JointStart,
    control: &mut dyn Control,
) -> Result<JointSolution, Error> {
    supports_joint(kind, problem, settings)?;
    Ok(match kind {
        SolverKind::Logistic => softmax::solve(problem, settings, start, control),
        SolverKind::DualAscent => crammer_singer::solve(problem, settings, start, control),
        _ => {
            let mut solution = lda::solve_joint(problem, settings, control);
            if matches!(start, JointStart::Model { .. }) {
                solution.notes.push(Note::NoWarmStart { solver: SolverKind::Lda });
            }
            solution
        }
    })
}
