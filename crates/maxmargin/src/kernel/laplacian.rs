//! The Laplacian kernel.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Kernel, Rows, pairs};

/// The Laplacian kernel
///
/// ```text
/// k(x, z) = exp(−γ ‖x − z‖₁),   γ > 0                                   (K.5)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Laplacian {
    /// γ, the inverse of the bandwidth.
    pub gamma: f64,
}

impl Kernel for Laplacian {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::column_sums(left, right, out, |x, z| (x - z).abs());
        out.iter_mut().for_each(|value| *value = (-self.gamma * *value).exp()); // (K.5)
    }

    fn diagonal(&self, _: Rows<'_>, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn always_positive_semidefinite(&self) -> bool {
        true
    }
}
