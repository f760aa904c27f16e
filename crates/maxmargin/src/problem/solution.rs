//! What a solver hands back of a problem.

use super::FromNu;
use crate::control::Stop;
use crate::provenance::Note;

/// The decision function that a solver found, over the rows of its problem.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// `f(x) = ⟨w, x⟩ + b`; a folded bias is in `b`.
    Linear {
        /// w, one a column.
        weights: Vec<f64>,
        /// b
        bias: f64,
    },
    /// `f(x) = Σ_i c_i k(x_i, x) + b`
    Expansion {
        /// c_i, one a row of the problem.
        coefficients: Vec<f64>,
        /// b
        bias: f64,
    },
}

impl Decision {
    /// b
    pub fn bias(&self) -> f64 {
        match self {
            Decision::Linear { bias, .. } | Decision::Expansion { bias, .. } => *bias,
        }
    }
}

/// What a solver hands back. Whether it is good is for the certificate to say.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The decision function.
    pub decision: Decision,
    /// The dual variables, one a row of the problem, where the solver has them.
    pub alpha: Option<Vec<f64>>,
    /// f(x_i) for each row of the problem, where the solver has them at hand (else they are computed).
    pub decision_values: Option<Vec<f64>>,
    /// What was found in the place of ν.
    pub from_nu: FromNu,
    /// Why it stopped.
    pub stop: Stop,
    /// Steps done.
    pub iterations: u64,
    /// What the user should know.
    pub notes: Vec<Note>,
}
