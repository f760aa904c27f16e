//! The Gaussian kernel.

use serde::{Deserialize, Serialize};

use super::{DotFunction, Kernel, Rows, pairs};

/// The Gaussian kernel
///
/// ```text
/// k(x, z) = exp(−γ ‖x − z‖²),   γ > 0;   by its bandwidth σ: γ = 1/σ²    (K.3)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rbf {
    /// γ, the inverse of the squared bandwidth.
    pub gamma: f64,
}

impl Kernel for Rbf {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::squared_distances(left, right, out);
        out.iter_mut().for_each(|value| *value = (-self.gamma * *value).exp()); // (K.3)
    }

    fn diagonal(&self, _: Rows<'_>, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn always_positive_semidefinite(&self) -> bool {
        true
    }

    fn of_dots(&self) -> Option<DotFunction> {
        Some(DotFunction::Rbf { gamma: self.gamma })
    }
}
