//! From a decision value to a probability.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// From a decision value to a probability; of a regression, how far targets lie from it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Calibration {
    /// The logit of the positive class is a line in each of four parts of the decision values, 0 at f = 0
    ///
    /// ```text
    /// p = σ(z(f)),   z′(f) = s₁ for f < −1,  s₂ for −1 < f < 0,  s₃ for 0 < f < 1,  s₄ for f > 1,   all s ≥ 0     (PR.1)
    /// ```
    ///
    /// so it rises with f, and is above ½ just where the positive class is predicted.
    Slopes([f64; 4]),
    /// Platt's sigmoid, which may say that the class that is not predicted is the likelier one; of classes trained together the factor a on all
    /// of their values, with b = 0, which may not
    ///
    /// ```text
    /// p = σ(a f + b)                                                                                            (PR.2)
    /// ```
    Sigmoid {
        /// a
        slope: f64,
        /// b
        offset: f64,
    },
    /// The targets of a regression lie about the prediction with the density `exp(−|z|/scale) / (2 scale)`.
    Noise {
        /// The mean of |z|.
        scale: f64,
    },
    /// Of one class: how much of the training data lies below a decision value, in tenths; ten marks, increasing.
    Marks(Vec<f64>),
}

impl Calibration {
    /// What is wrong with the numbers, if anything is.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let right = match self {
            Calibration::Slopes(slopes) => slopes.iter().all(|slope| *slope >= 0.0 && slope.is_finite()),
            Calibration::Sigmoid { slope, offset } => slope.is_finite() && offset.is_finite(),
            Calibration::Noise { scale } => *scale >= 0.0 && scale.is_finite(),
            Calibration::Marks(marks) => {
                marks.len() == MARKS && marks.iter().all(|mark| mark.is_finite()) && marks.is_sorted()
            }
        };
        (!right).then_some("a calibration out of its range")
    }

    /// The logit of the positive class at a decision value; `None` for a calibration of another kind.
    pub(crate) fn logit(&self, value: f64) -> Option<f64> {
        match self {
            // (PR.1)
            Calibration::Slopes(slopes) => {
                let [far, near] = if value > 0.0 { [slopes[3], slopes[2]] } else { [slopes[0], slopes[1]] };
                let size = value.abs();
                Some((near * size.min(1.0) + far * (size - 1.0).max(0.0)).copysign(value))
            }
            Calibration::Sigmoid { slope, offset } => Some(slope * value + offset), // (PR.2)
            Calibration::Noise { .. } | Calibration::Marks(_) => None,
        }
    }
}

/// Marks of one class.
pub(crate) const MARKS: usize = 10;

/// σ(z)
pub fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}
