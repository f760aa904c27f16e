//! The sigmoid kernel.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{DotFunction, Kernel, Rows, pairs};

/// The sigmoid kernel; not always positive semidefinite
///
/// ```text
/// k(x, z) = tanh(γ⟨x, z⟩ + c)                                           (K.4)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Sigmoid {
    /// γ, the factor of the dot product.
    pub gamma: f64,
    /// c, the constant.
    pub coef0: f64,
}

impl Kernel for Sigmoid {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::dots(left, right, out);
        out.iter_mut().for_each(|value| *value = (self.gamma * *value + self.coef0).tanh()); // (K.4)
    }

    fn always_positive_semidefinite(&self) -> bool {
        false
    }

    fn of_dots(&self) -> Option<DotFunction> {
        Some(DotFunction::Sigmoid { gamma: self.gamma, coef0: self.coef0 })
    }
}
