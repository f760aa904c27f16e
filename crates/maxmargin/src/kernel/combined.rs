//! Kernels made of kernels: sums, products and multiples of kernels are kernels.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Kernel, KernelFunction, Rows};

/// ```text
/// k(x, z) = k₁(x, z) + k₂(x, z) + …                                     (K.8a)
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Sum {
    pub(crate) parts: Vec<KernelFunction>,
}

/// ```text
/// k(x, z) = k₁(x, z) · k₂(x, z) · …                                     (K.8b)
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Product {
    pub(crate) parts: Vec<KernelFunction>,
}

/// ```text
/// k(x, z) = s · k₁(x, z),   s > 0                                       (K.8c)
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Scaled {
    pub(crate) factor: f64,
    pub(crate) kernel: Box<KernelFunction>,
}

/// Computes the block of each part and joins them in `out` by a sum or a product.
fn fold(
    parts: &[KernelFunction],
    out: &mut [f64],
    fill: impl Fn(&KernelFunction, &mut [f64]),
    join: fn(f64, f64) -> f64,
) {
    let Some((first, others)) = parts.split_first() else {
        return out.fill(0.0);
    };
    fill(first, out);
    let mut part = vec![0.0; if others.is_empty() { 0 } else { out.len() }];
    for kernel in others {
        fill(kernel, &mut part);
        out.iter_mut().zip(&part).for_each(|(value, &other)| *value = join(*value, other));
    }
}

impl Sum {
    /// The kernels that it is made of.
    pub(crate) fn parts(&self) -> &[KernelFunction] {
        &self.parts
    }
}

impl Kernel for Sum {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        fold(&self.parts, out, |kernel, out| kernel.block(left, right, out), |a, b| a + b); // (K.8a)
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        fold(&self.parts, out, |kernel, out| kernel.diagonal(rows, out), |a, b| a + b);
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.parts.iter().all(Kernel::always_positive_semidefinite)
    }
}

impl Product {
    /// The kernels that it is made of.
    pub(crate) fn parts(&self) -> &[KernelFunction] {
        &self.parts
    }
}

impl Kernel for Product {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        fold(&self.parts, out, |kernel, out| kernel.block(left, right, out), |a, b| a * b); // (K.8b)
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        fold(&self.parts, out, |kernel, out| kernel.diagonal(rows, out), |a, b| a * b);
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.parts.iter().all(Kernel::always_positive_semidefinite)
    }
}

impl Scaled {
    /// The kernel that is multiplied.
    pub(crate) fn kernel(&self) -> &KernelFunction {
        &self.kernel
    }
}

impl Kernel for Scaled {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        self.kernel.block(left, right, out);
        out.iter_mut().for_each(|value| *value *= self.factor); // (K.8c)
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        self.kernel.diagonal(rows, out);
        out.iter_mut().for_each(|value| *value *= self.factor);
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.kernel.always_positive_semidefinite()
    }
}
