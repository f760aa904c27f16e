//! What a decision function is for: to tell classes apart, to meet numbers, or to tell what is usual.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::error::Error;

/// What a model is to say of a row, and so what the slack ξ of a row is.
///
/// ```text
/// classification   ξ = max(0, 1 − y f(x))          y = ±1
/// regression       ξ = max(0, |f(x) − t| − ε)      t a number
/// one-class        ξ = max(0, −f(x))               f(x) = ⟨w, φ(x)⟩ − ρ                   (P.0)
/// ```
///
/// Hinge loss charges ξ itself, squared loss ξ²; only classification has logistic loss, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A class.
    #[default]
    Classification,
    /// A number.
    Regression {
        /// ε: differences up to this cost nothing.
        epsilon: f64,
    },
    /// Whether a row is like the others (`f > 0`).
    OneClass {
        /// ν: the share of rows that may lie on the other side, and that are support vectors at least.
        nu: f64,
    },
}

impl Task {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Task::Classification => "classification",
            Task::Regression { .. } => "regression",
            Task::OneClass { .. } => "one-class",
        }
    }

    /// Whether a row has a class.
    pub fn is_classification(self) -> bool {
        self == Task::Classification
    }

    /// Whether a row has a number.
    pub fn is_regression(self) -> bool {
        matches!(self, Task::Regression { .. })
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
                Err(Error::parameter("epsilon", epsilon, "a finite number of 0 or more"))
            }
            Task::OneClass { nu } if !(nu > 0.0 && nu <= 1.0) => {
                Err(Error::parameter("nu", nu, "above 0 and at most 1"))
            }
            Task::Regression { .. } if loss == Loss::Logistic => refuse("hinge or squared"),
            Task::OneClass { .. } if loss != Loss::Hinge => refuse("hinge"),
            _ => Ok(()),
        }
    }
}
