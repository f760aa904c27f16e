//! Losses, and what they contribute to the dual.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// What a row costs whose margin is `z = y f(x)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Loss {
    /// `max(0, 1 − z)`
    #[default]
    Hinge,
    /// `max(0, 1 − z)²`
    Squared,
    /// `log(1 + exp(−z))`
    Logistic,
}

impl Loss {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Hinge => "hinge",
            Loss::Squared => "squared",
            Loss::Logistic => "logistic",
        }
    }

    /// The loss at margin `z`.
    pub fn value(self, z: f64) -> f64 {
        let slack = (1.0 - z).max(0.0);
        match self {
            Loss::Hinge => slack,
            Loss::Squared => slack * slack,
            // log(1 + e^(−z)) without overflow
            Loss::Logistic => (-z.abs()).exp().ln_1p() + (-z).max(0.0),
        }
    }

    /// A row's part in the dual objective: `−(C ℓ)*(−α)`
    ///
    /// ```text
    /// hinge:     α                       0 ≤ α ≤ C
    /// squared:   α − α²/(4C)             0 ≤ α
    /// logistic:  −α log(α/C) − (C − α) log(1 − α/C)    0 ≤ α ≤ C        (P.3)
    /// ```
    pub fn dual_term(self, alpha: f64, cost: f64) -> f64 {
        match self {
            Loss::Hinge => alpha,
            Loss::Squared => alpha - alpha * alpha / (4.0 * cost),
            Loss::Logistic => {
                let part = alpha / cost;
                let of_part = if part > 0.0 { -part * part.ln() } else { 0.0 };
                // log(1 − p) of a small p keeps its digits: a large C multiplies whatever is lost here.
                let of_rest = if part < 1.0 { -(1.0 - part) * (-part).ln_1p() } else { 0.0 };
                cost * (of_part + of_rest)
            }
        }
    }

    /// The largest α the dual allows a row of this cost.
    pub fn dual_bound(self, cost: f64) -> f64 {
        if self == Loss::Squared { f64::INFINITY } else { cost }
    }

    /// The α that belongs to a margin `z` at the optimum: `−C ℓ′(z)`. For the hinge at its corner, 0.
    pub fn dual_of_margin(self, z: f64, cost: f64) -> f64 {
        match self {
            Loss::Hinge => {
                if z < 1.0 {
                    cost
                } else {
                    0.0
                }
            }
            Loss::Squared => 2.0 * cost * (1.0 - z).max(0.0),
            Loss::Logistic => cost / (1.0 + z.exp()),
        }
    }
}
