//! The polynomial kernel.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{DotFunction, Kernel, Rows, pairs};

/// The polynomial kernel; homogeneous when c = 0
///
/// ```text
/// k(x, z) = (γ⟨x, z⟩ + c)^q,   γ > 0,   q = 1, 2, …                     (K.2)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Polynomial {
    /// γ, the factor of the dot product.
    pub gamma: f64,
    /// c, the constant; positive semidefinite for c ≥ 0.
    pub coef0: f64,
    /// q, the degree.
    pub degree: u32,
}

impl Polynomial {
    fn value(&self, dot: f64) -> f64 {
        (self.gamma * dot + self.coef0).powi(self.degree as i32) // (K.2)
    }
}

impl Kernel for Polynomial {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::dots(left, right, out);
        out.iter_mut().for_each(|value| *value = self.value(*value));
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        for (&row, value) in rows.list().iter().zip(out) {
            *value = self.value(rows.points().squared_norm(row));
        }
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.coef0 >= 0.0
    }

    fn of_dots(&self) -> Option<DotFunction> {
        Some(DotFunction::Polynomial { gamma: self.gamma, coef0: self.coef0, degree: self.degree })
    }
}
