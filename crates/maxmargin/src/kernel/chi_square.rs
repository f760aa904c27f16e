//! The chi-square kernel, for histograms.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Kernel, Rows, pairs};

/// The exponential chi-square kernel, for rows of numbers that are 0 or more
///
/// ```text
/// k(x, z) = exp(−γ Σ_c (x_c − z_c)² / (x_c + z_c)),   γ > 0,   0/0 = 0   (K.6)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ChiSquare {
    /// γ, the factor of the distance.
    pub gamma: f64,
}

impl Kernel for ChiSquare {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::column_sums(left, right, out, |x, z| {
            let sum = x + z;
            if sum > 0.0 { (x - z) * ((x - z) / sum) } else { 0.0 }
        });
        out.iter_mut().for_each(|value| *value = (-self.gamma * *value).exp()); // (K.6)
    }

    fn diagonal(&self, _: Rows<'_>, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn always_positive_semidefinite(&self) -> bool {
        true
    }
}
