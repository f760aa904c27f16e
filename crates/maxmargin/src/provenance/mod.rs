//! How a model came about: who made it, of which data, what was asked for, and what there is to know of it.
//!
//! These are names and numbers alone. Solvers and trainings set them down, models keep them, and front ends find words for them.

mod choice;
mod note;
mod solver_kind;

use std::fmt;

pub use choice::Choice;
pub use note::{MoreDigits, Note};
pub use solver_kind::SolverKind;

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Trained here, by this solver.
    Trained(SolverKind),
    /// A file of LIBSVM.
    Libsvm,
    /// A file of LIBLINEAR.
    Liblinear,
    /// Trained by a solver that this version does not know.
    Unknown(String),
}

impl Origin {
    /// What has this name in a model file.
    pub fn of_name(name: &str) -> Self {
        match name {
            "libsvm" => Origin::Libsvm,
            "liblinear" => Origin::Liblinear,
            name => SolverKind::from_name(name).map_or_else(|| Origin::Unknown(name.into()), Origin::Trained),
        }
    }

    /// The word used in reports and files: the solver's, or the program's.
    pub fn name(&self) -> &str {
        match self {
            Origin::Trained(kind) => kind.name(),
            Origin::Libsvm => "libsvm",
            Origin::Liblinear => "liblinear",
            Origin::Unknown(name) => name,
        }
    }

    /// The solver, where it is one of ours.
    pub fn solver(&self) -> Option<SolverKind> {
        if let Origin::Trained(kind) = self { Some(*kind) } else { None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who made a model, of which data, and what was asked for. Why the solver was chosen is a note of the first machine, see
/// [`Model::choice`](crate::Model::choice).
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// Where it comes from.
    pub origin: Origin,
    /// How many rows the training data had.
    pub rows: usize,
    /// The hash of the training data; empty where rows streamed by, or another program has trained the model.
    pub fingerprint: String,
    /// The tolerance asked for; as large as can be where none was, and nothing is promised.
    pub tolerance: f64,
    /// The relative gap asked for.
    pub gap: Option<f64>,
}

impl Provenance {
    /// The solver, where it is one of ours.
    pub fn solver(&self) -> Option<SolverKind> {
        self.origin.solver()
    }

    /// Whether the rows streamed by, and left neither a hash nor dual variables.
    pub fn is_from_stream(&self) -> bool {
        self.solver() == Some(SolverKind::Sgd) && self.fingerprint.is_empty()
    }
}
