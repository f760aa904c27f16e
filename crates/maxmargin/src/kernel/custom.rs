//! Kernels that the user writes.

use std::fmt;
use std::sync::Arc;

use super::{Kernel, KernelParams, Rows};

/// A kernel written by the user: a function of two rows, or a [`Kernel`] that computes blocks in its own way.
///
/// # Examples
/// ```
/// use maxmargin::kernel::{Custom, KernelParams};
///
/// let histogram = Custom::new("histogram", |x, z| x.iter().zip(z).map(|(a, b)| f64::min(*a, *b)).sum());
/// let params = KernelParams::Custom(histogram);
/// # let _ = params;
/// ```
#[derive(Clone)]
pub struct Custom {
    name: String,
    kernel: Arc<dyn Kernel>,
}

impl Custom {
    /// Names a function of two rows (zeros included, and the constant 1 last when the bias is folded) as a kernel.
    ///
    /// It must be symmetric; a Mercer check tells whether it is positive semidefinite.
    pub fn new(name: impl Into<String>, function: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Custom::of_kernel(name, OfPairs(function))
    }

    /// Names a kernel that computes blocks in its own way.
    pub fn of_kernel(name: impl Into<String>, kernel: impl Kernel + 'static) -> Self {
        Custom { name: name.into(), kernel: Arc::new(kernel) }
    }

    /// The name that the user gave.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl From<Custom> for KernelParams {
    fn from(kernel: Custom) -> Self {
        KernelParams::Custom(kernel)
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Custom({})", self.name)
    }
}

impl Kernel for Custom {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        self.kernel.block(left, right, out);
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        self.kernel.diagonal(rows, out);
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.kernel.always_positive_semidefinite()
    }
}

/// A kernel that computes a block pair by pair.
struct OfPairs<F>(F);

impl<F> fmt::Debug for OfPairs<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OfPairs")
    }
}

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync> Kernel for OfPairs<F> {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        let full = |rows: Rows<'_>, row: usize| {
            let mut x = rows.points().matrix().row(row);
            x.extend(rows.points().folded().then_some(1.0));
            x
        };
        let right_rows: Vec<Vec<f64>> = right.list().iter().map(|&j| full(right, j)).collect();
        for (&i, values) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
            let x = full(left, i);
            for (z, value) in right_rows.iter().zip(values) {
                *value = (self.0)(&x, z);
            }
        }
    }

    fn always_positive_semidefinite(&self) -> bool {
        false
    }
}
