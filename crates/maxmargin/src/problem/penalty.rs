//! How strong the penalty on the weights is.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Norm;
use crate::error::{Error, Parameter};

/// How strong the penalty on w is, in one of the three ways to say it.
///
/// ```text
/// C:       ½‖w‖² + C Σ ξ_i
/// C/n:     ½‖w‖² + (C′/n) Σ ξ_i        C = C′/n
/// lambda:  λ‖w‖² + (1/n) Σ ξ_i         C = 1/(2nλ)                     (T.1)
/// ```
///
/// n is the number of rows of the binary problem, each counted by its weight. With the L1 norm `½‖w‖²` and `λ‖w‖²` are `‖w‖₁` and
/// `λ‖w‖₁`, and lambda is `C = 1/(nλ)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Penalty {
    /// C
    C(f64),
    /// C′
    COverN(f64),
    /// λ
    Lambda(f64),
    /// ν: the C at which the share ν of the rows are support vectors at least, and lie on the wrong side of the margin at most.
    /// Weights of classes multiply that C, and have no part in the share.
    Nu(f64),
    /// No slack at all: C = ∞.
    Hard,
    /// No penalty on w (logistic regression only).
    None,
}

impl Penalty {
    /// The C of `½‖w‖² + C Σ ξ_i` for rows of this total weight; 1 without a penalty.
    pub fn cost(self, total_weight: f64) -> f64 {
        match self {
            Penalty::C(c) => c,
            Penalty::COverN(c) => c / total_weight,
            Penalty::Lambda(lambda) => 1.0 / (2.0 * total_weight * lambda), // (T.1)
            Penalty::Hard => f64::INFINITY,
            // C is found, see [`FromNu`](super::FromNu).
            Penalty::Nu(_) | Penalty::None => 1.0,
        }
    }

    /// The C of `‖w‖₁ + C Σ ξ_i` with the L1 norm, where λ is that of `λ‖w‖₁ + (1/n) Σ ξ_i`; else [`Penalty::cost`].
    pub fn cost_with(self, norm: Norm, total_weight: f64) -> f64 {
        match (norm, self) {
            (Norm::L1, Penalty::Lambda(lambda)) => 1.0 / (total_weight * lambda),
            _ => self.cost(total_weight),
        }
    }

    /// Checks that its number is in its range.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn check(self) -> Result<(), Error> {
        let (name, value) = match self {
            Penalty::C(value) => (Parameter::C, value),
            Penalty::COverN(value) => (Parameter::COverN, value),
            Penalty::Lambda(value) => (Parameter::Lambda, value),
            Penalty::Nu(nu) if !(nu <= 1.0) => {
                return Err(Error::parameter(Parameter::Nu, nu, "above 0 and at most 1"));
            }
            Penalty::Nu(value) => (Parameter::Nu, value),
            Penalty::Hard | Penalty::None => return Ok(()),
        };
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Error::parameter(name, value, "a finite number above 0"))
    }
}
