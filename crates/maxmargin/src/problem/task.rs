//! What a decision function is for: to tell classes apart, to meet numbers, or to tell what is usual.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Loss;
use crate::error::{Error, Parameter};

/// What a model is to say of a row, and so what the slack ξ of a row is.
///
/// ```text
/// classification   ξ = max(0, 1 − y f(x))          y = ±1
/// regression       ξ = max(0, |f(x) − t| − ε)      t a number
/// one-class        ξ = max(0, −f(x))               f(x) = ⟨w, φ(x)⟩ − ρ
/// svdd             ξ = max(0, t − f(x))            t = (q/2) k(x, x), f as above             (P.0)
/// ```
///
/// Hinge loss charges ξ itself, squared loss ξ²; only classification has logistic loss, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Task {
    /// A class.
    #[default]
    Classification,
    /// A number.
    Regression {
        /// ε: differences up to this cost nothing.
        epsilon: f64,
    },
    /// A number, with ε such that at most the share ν of the rows lies outside of the tube. What is found is a [`Task::Regression`] with
    /// that ε.
    NuRegression {
        /// ν: the share of rows that may lie outside of the tube, and that are support vectors at least.
        nu: f64,
    },
    /// Whether a row is like the others (`f > 0`).
    OneClass {
        /// ν: the share of rows that may lie on the other side, and that are support vectors at least.
        nu: f64,
    },
    /// One class, as the smallest ball around the images of the rows (support vector data description)
    ///
    /// ```text
    /// min R² + 1/(νn) Σ ξ_i,   ‖φ(x_i) − a‖² ≤ R² + ξ_i                                        (P.11)
    /// ```
    ///
    /// With `w = qa`, q of (P.1) and `b = q (R² − ‖a‖²)/2`, and times q²/2, it is one class whose rows have to reach `t = (q/2) k(x, x)`. Where
    /// k(x, x) is the same for all x the two are one.
    Svdd {
        /// ν: the share of rows that may lie outside of the ball, and that are support vectors at least.
        nu: f64,
    },
}

impl Task {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Task::Classification => "classification",
            Task::Regression { .. } | Task::NuRegression { .. } => "regression",
            Task::OneClass { .. } => "one-class",
            Task::Svdd { .. } => "svdd",
        }
    }

    /// Whether a row has a class.
    pub fn is_classification(self) -> bool {
        self == Task::Classification
    }

    /// Whether a row is one of the usual ones, or not: the share of those that may not be.
    pub fn usual(self) -> Option<f64> {
        match self {
            Task::OneClass { nu } | Task::Svdd { nu } => Some(nu),
            _ => None,
        }
    }

    /// Whether a row has a number.
    pub fn is_regression(self) -> bool {
        matches!(self, Task::Regression { .. } | Task::NuRegression { .. })
    }

    /// Checks ε or ν, and that the loss is one of the task's.
    ///
    /// # Errors
    /// When they are not.
    pub fn check(self, loss: Loss) -> Result<(), Error> {
        let refuse = |losses: &str| {
            Err(Error::Combination {
                what: format!("{} has no {} loss", self.name(), loss.name()),
                help: format!("choose loss {losses}"),
            })
        };
        match self {
            Task::Classification => Ok(()),
            Task::Regression { epsilon } if !(epsilon >= 0.0 && epsilon.is_finite()) => {
                Err(Error::parameter(Parameter::Epsilon, epsilon, "a finite number of 0 or more"))
            }
            Task::OneClass { nu } | Task::Svdd { nu } | Task::NuRegression { nu } if !(nu > 0.0 && nu <= 1.0) => {
                Err(Error::parameter(Parameter::Nu, nu, "above 0 and at most 1"))
            }
            Task::Regression { .. } if loss == Loss::Logistic => refuse("hinge or squared"),
            Task::OneClass { .. } | Task::Svdd { .. } | Task::NuRegression { .. } if loss != Loss::Hinge => {
                refuse("hinge")
            }
            _ => Ok(()),
        }
    }
}
