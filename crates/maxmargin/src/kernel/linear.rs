//! The linear kernel.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{DotFunction, Kernel, Rows, pairs};

/// The linear kernel
///
/// ```text
/// k(x, z) = ⟨x, z⟩                                                      (K.1)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Linear {}

impl Kernel for Linear {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::dots(left, right, out); // (K.1)
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        for (&row, value) in rows.list().iter().zip(out) {
            *value = rows.points().squared_norm(row);
        }
    }

    fn always_positive_semidefinite(&self) -> bool {
        true
    }

    fn of_dots(&self) -> Option<DotFunction> {
        Some(DotFunction::Linear)
    }
}
