//! Kernels: functions k(x, z) that are dot products of lifted points, computed a block at a time.
//!
//! | file | kernel |
//! | --- | --- |
//! | `linear.rs` | `⟨x, z⟩` (K.1) |
//! | `polynomial.rs` | `(γ⟨x, z⟩ + c)^q` (K.2) |
//! | `rbf.rs` | `exp(−γ‖x − z‖²)` (K.3) |
//! | `sigmoid.rs` | `tanh(γ⟨x, z⟩ + c)` (K.4) |
//! | `laplacian.rs` | `exp(−γ‖x − z‖₁)` (K.5) |
//! | `chi_square.rs` | `exp(−γ Σ (x − z)²/(x + z))` (K.6) |
//! | `precomputed.rs` | looked up in a table (K.7) |
//! | `combined.rs` | sums, products and multiples of kernels (K.8) |
//! | `custom.rs` | written by the user |
//!
//! What the user asks for is a [`KernelParams`]; checked against the data it becomes a [`KernelFunction`].
//! A solver meets neither: it asks a [`Gram`] for blocks of values.

mod chi_square;
mod combined;
mod custom;
mod gram;
mod laplacian;
mod linear;
mod mercer;
mod pairs;
mod params;
mod parse;
mod points;
mod polynomial;
mod precomputed;
mod rbf;
mod sigmoid;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

pub use chi_square::ChiSquare;
pub use combined::{Product, Scaled, Sum};
pub use custom::Custom;
pub use gram::Gram;
pub use laplacian::Laplacian;
pub use linear::Linear;
pub use mercer::{MercerReport, mercer_check};
pub use params::{Gamma, KernelParams};
pub use points::{Points, Rows};
pub use polynomial::Polynomial;
pub use precomputed::Precomputed;
pub use rbf::Rbf;
pub use sigmoid::Sigmoid;

/// A kernel: block evaluation is the primitive.
///
/// The value of a pair must depend on that pair alone, never on the block it is computed in: this is what makes
/// results the same for any number of threads and any batch size.
pub trait Kernel: Debug + Send + Sync {
    /// All values of a block: `out[i * right.len() + j] = k(left i, right j)`.
    ///
    /// # Panics
    /// When `out` is not of size `left.len() * right.len()`, or the two sides differ in columns.
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]);

    /// k(x, x) for each row.
    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        for (k, value) in out.iter_mut().enumerate() {
            let one = rows.slice(k..k + 1);
            self.block(one, one, std::slice::from_mut(value));
        }
    }

    /// Whether the kernel is known to be positive semidefinite on any data it accepts.
    fn always_positive_semidefinite(&self) -> bool;
}

/// A kernel with its parameters checked: the kind that models carry and files hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KernelFunction {
    /// `⟨x, z⟩`
    Linear(Linear),
    /// `(γ⟨x, z⟩ + c)^q`
    Polynomial(Polynomial),
    /// `exp(−γ‖x − z‖²)`
    Rbf(Rbf),
    /// `tanh(γ⟨x, z⟩ + c)`
    Sigmoid(Sigmoid),
    /// `exp(−γ‖x − z‖₁)`
    Laplacian(Laplacian),
    /// `exp(−γ Σ (x − z)²/(x + z))`
    ChiSquare(ChiSquare),
    /// Looked up in a table.
    Precomputed(Precomputed),
    /// A sum of kernels.
    Sum(Sum),
    /// A product of kernels.
    Product(Product),
    /// A multiple of a kernel.
    Scaled(Scaled),
    /// Written by the user; it cannot be saved.
    #[serde(skip)]
    Custom(Custom),
}

impl KernelFunction {
    fn inner(&self) -> &dyn Kernel {
        match self {
            KernelFunction::Linear(kernel) => kernel,
            KernelFunction::Polynomial(kernel) => kernel,
            KernelFunction::Rbf(kernel) => kernel,
            KernelFunction::Sigmoid(kernel) => kernel,
            KernelFunction::Laplacian(kernel) => kernel,
            KernelFunction::ChiSquare(kernel) => kernel,
            KernelFunction::Precomputed(kernel) => kernel,
            KernelFunction::Sum(kernel) => kernel,
            KernelFunction::Product(kernel) => kernel,
            KernelFunction::Scaled(kernel) => kernel,
            KernelFunction::Custom(kernel) => kernel,
        }
    }

    /// The kernel's name, as the user writes it.
    pub fn name(&self) -> &'static str {
        match self {
            KernelFunction::Linear(_) => "linear",
            KernelFunction::Polynomial(_) => "polynomial",
            KernelFunction::Rbf(_) => "rbf",
            KernelFunction::Sigmoid(_) => "sigmoid",
            KernelFunction::Laplacian(_) => "laplacian",
            KernelFunction::ChiSquare(_) => "chi-square",
            KernelFunction::Precomputed(_) => "precomputed",
            KernelFunction::Sum(_) => "sum",
            KernelFunction::Product(_) => "product",
            KernelFunction::Scaled(_) => "scaled",
            KernelFunction::Custom(_) => "custom",
        }
    }

    /// Whether this is the linear kernel, so that the model is a vector of weights.
    pub fn is_linear(&self) -> bool {
        matches!(self, KernelFunction::Linear(_))
    }

    /// Whether values are looked up in a table by row number.
    pub fn is_precomputed(&self) -> bool {
        match self {
            KernelFunction::Precomputed(_) => true,
            KernelFunction::Sum(Sum { parts }) | KernelFunction::Product(Product { parts }) => {
                parts.iter().any(KernelFunction::is_precomputed)
            }
            KernelFunction::Scaled(scaled) => scaled.kernel.is_precomputed(),
            _ => false,
        }
    }
}

impl Kernel for KernelFunction {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        self.inner().block(left, right, out);
    }

    fn diagonal(&self, rows: Rows<'_>, out: &mut [f64]) {
        self.inner().diagonal(rows, out);
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.inner().always_positive_semidefinite()
    }
}

impl std::fmt::Display for KernelFunction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let join = |parts: &[KernelFunction], by: &str| {
            parts.iter().map(|part| format!("{part}")).collect::<Vec<_>>().join(by)
        };
        match self {
            KernelFunction::Polynomial(Polynomial { gamma, coef0, degree }) => {
                write!(formatter, "polynomial(gamma={gamma}, coef0={coef0}, degree={degree})")
            }
            KernelFunction::Rbf(Rbf { gamma }) => write!(formatter, "rbf(gamma={gamma})"),
            KernelFunction::Sigmoid(Sigmoid { gamma, coef0 }) => {
                write!(formatter, "sigmoid(gamma={gamma}, coef0={coef0})")
            }
            KernelFunction::Laplacian(Laplacian { gamma }) => write!(formatter, "laplacian(gamma={gamma})"),
            KernelFunction::ChiSquare(ChiSquare { gamma }) => write!(formatter, "chi-square(gamma={gamma})"),
            KernelFunction::Sum(Sum { parts }) => write!(formatter, "({})", join(parts, " + ")),
            KernelFunction::Product(Product { parts }) => formatter.write_str(&join(parts, " * ")),
            KernelFunction::Scaled(Scaled { factor, kernel }) => write!(formatter, "{factor} * {kernel}"),
            KernelFunction::Custom(kernel) => write!(formatter, "custom({})", kernel.name()),
            KernelFunction::Linear(_) | KernelFunction::Precomputed(_) => formatter.write_str(self.name()),
        }
    }
}
