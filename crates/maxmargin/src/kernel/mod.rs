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
//! | `combined.rs` | sums, products and multiples of kernels (K.8a), (K.8b), (K.8c) |
//! | `custom.rs` | written by the user |
//!
//! What the user asks for is a [`KernelParams`]; checked against the data it becomes a [`KernelFunction`].
//! A solver meets neither: it asks a [`Gram`] for blocks of values.

/// The most columns for which a dense copy of a row or a table of all columns is made: 4 million, 16 to 32 MB. Wider data, such as hashed
/// features with 2³¹ columns, takes memory for its entries alone.
pub(crate) const MOST_SPREAD_COLUMNS: usize = 1 << 22;

mod chi_square;
mod class_values;
mod combined;
mod custom;
mod distances;
mod expansion;
mod gram;
mod laplacian;
mod linear;
mod mercer;
mod pairs;
mod params;
mod parse;
mod points;
mod polynomial;
mod precise;
mod precomputed;
mod rbf;
mod sigmoid;
mod symmetric;
mod tiles;

use std::fmt::Debug;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use chi_square::ChiSquare;
pub use class_values::ClassValues;
pub use combined::{Product, Scaled, Sum};
pub use custom::Custom;
pub(crate) use distances::Base;
pub(crate) use expansion::{Expansion, SumVisitor, VISIT_LANES, expand};
pub use gram::Gram;
pub use laplacian::Laplacian;
pub use linear::Linear;
pub use mercer::{MercerReport, mercer_check};
pub(crate) use pairs::FAR_OUT;
pub use params::{Gamma, KernelParams};
pub(crate) use points::Centre;
pub use points::{Points, Rows};
pub use polynomial::Polynomial;
pub(crate) use precise::{Exponential, precise_sums};
pub use precomputed::Precomputed;
pub use rbf::Rbf;
pub use sigmoid::Sigmoid;
pub use tiles::DotFunction;
pub(crate) use tiles::{Packable, Packed, Panel, Tiles};

/// A kernel, which computes values in blocks.
///
/// The value of a pair must depend on that pair alone and never on its block. Results are then the same for any number of threads and any
/// batch size.
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

    /// The kernel as a function of dot products, if it is one. Only then many values are computed at a time.
    fn of_dots(&self) -> Option<DotFunction> {
        None
    }
}

/// A kernel with checked parameters, as models and files hold it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "name", rename_all = "kebab-case"))]
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
    #[cfg_attr(feature = "serde", serde(skip))]
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

    /// γ of a kernel `exp(−γ d)`, where d is a distance of the rows.
    pub fn decay(&self) -> Option<f64> {
        match self {
            KernelFunction::Rbf(Rbf { gamma })
            | KernelFunction::Laplacian(Laplacian { gamma })
            | KernelFunction::ChiSquare(ChiSquare { gamma }) => Some(*gamma),
            _ => None,
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

    fn of_dots(&self) -> Option<DotFunction> {
        self.inner().of_dots()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::workers::Workers;

    const X: [[f64; 3]; 5] = [[0.5, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 3.0, 0.25], [0.0, 1.5, 0.0], [0.5, 0.0, 2.0]];

    /// A kernel as a user asks for it, and a plain function that computes it.
    type Case = (KernelParams, fn(&[f64], &[f64]) -> f64);

    fn dot(x: &[f64], z: &[f64]) -> f64 {
        x.iter().zip(z).map(|(a, b)| a * b).sum()
    }

    fn cases() -> Vec<Case> {
        let gamma = Gamma::Value(0.3);
        let rbf = || KernelParams::Rbf { gamma: Gamma::Value(0.3) };
        vec![
            (KernelParams::Linear, dot),
            (KernelParams::Polynomial { gamma, coef0: 1.5, degree: 3 }, |x, z| (0.3 * dot(x, z) + 1.5).powi(3)),
            (rbf(), |x, z| (-0.3 * x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp()),
            (KernelParams::Rbf { gamma: Gamma::Sigma(2.0) }, |x, z| {
                (-x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / 4.0).exp()
            }),
            (KernelParams::Sigmoid { gamma, coef0: -0.5 }, |x, z| (0.3 * dot(x, z) - 0.5).tanh()),
            (KernelParams::Laplacian { gamma }, |x, z| {
                (-0.3 * x.iter().zip(z).map(|(a, b)| (a - b).abs()).sum::<f64>()).exp()
            }),
            (KernelParams::ChiSquare { gamma }, |x, z| {
                let term = |a: f64, b: f64| if a + b > 0.0 { (a - b) * (a - b) / (a + b) } else { 0.0 };
                (-0.3 * x.iter().zip(z).map(|(a, b)| term(*a, *b)).sum::<f64>()).exp()
            }),
            (KernelParams::Sum(vec![KernelParams::Scaled(2.0, Box::new(KernelParams::Linear)), rbf()]), |x, z| {
                2.0 * dot(x, z) + (-0.3 * x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp()
            }),
            (KernelParams::Product(vec![KernelParams::Linear, KernelParams::Linear]), |x, z| dot(x, z) * dot(x, z)),
            (
                KernelParams::Custom(Custom::new("least", |x, z| x.iter().zip(z).map(|(a, b)| a.min(*b)).sum())),
                |x, z| x.iter().zip(z).map(|(a, b)| a.min(*b)).sum(),
            ),
        ]
    }

    fn matrices() -> [Matrix; 4] {
        let dense = Matrix::dense(5, 3, X.concat()).unwrap();
        let single = Matrix::dense(5, 3, X.concat().iter().map(|&value| value as f32).collect::<Vec<f32>>()).unwrap();
        [dense.clone(), dense.to_sparse(), single.clone(), single.to_sparse()]
    }

    #[test]
    fn every_kernel_has_the_value_of_its_formula_in_every_storage() {
        let all: Vec<usize> = (0..5).collect();
        for (params, formula) in cases() {
            for folded in [false, true] {
                for (left, right) in matrices().iter().zip(matrices().iter().rev()) {
                    let kernel = params.check(left).unwrap();
                    let [left, right] = [left, right].map(|matrix| Points::new(matrix.clone(), folded));
                    let mut block = vec![f64::NAN; 25];
                    kernel.block(left.rows(&all), right.rows(&all), &mut block);
                    let mut diagonal = vec![f64::NAN; 5];
                    kernel.diagonal(left.rows(&all), &mut diagonal);
                    let full = |row: usize| [&X[row][..], if folded { &[1.0] } else { &[] }].concat();
                    for i in 0..5 {
                        for j in 0..5 {
                            let expected = formula(&full(i), &full(j));
                            let found = block[i * 5 + j];
                            assert!((found - expected).abs() < 1e-12, "{kernel} ({i}, {j}): {found}, not {expected}");
                        }
                        assert!((diagonal[i] - formula(&full(i), &full(i))).abs() < 1e-12, "{kernel} ({i}, {i})");
                    }
                }
            }
        }
    }

    #[test]
    fn a_value_depends_on_its_pair_alone() {
        let all: Vec<usize> = (0..5).collect();
        for matrix in matrices() {
            let points = Points::new(matrix, true);
            for (params, _) in cases() {
                let kernel = params.check(points.matrix()).unwrap();
                let mut block = vec![0.0; 25];
                kernel.block(points.rows(&all), points.rows(&all), &mut block);
                let mut one = [0.0];
                for (place, value) in block.iter().enumerate() {
                    kernel.block(points.rows(&[place / 5]), points.rows(&[place % 5]), &mut one);
                    assert_eq!(one[0].to_bits(), value.to_bits(), "{kernel}");
                }
            }
        }
    }

    #[test]
    fn a_kernel_of_the_users_own_make_takes_the_place_of_ours() {
        let points = Points::new(matrices()[0].clone(), true);
        let all: Vec<usize> = (0..5).collect();
        let block = |kernel: &dyn Kernel| {
            let mut out = vec![0.0; 25];
            kernel.block(points.rows(&all), points.rows(&all), &mut out);
            out
        };
        let own = KernelParams::Custom(Custom::of_kernel("mine", Rbf { gamma: 0.3 })).check(points.matrix()).unwrap();
        assert_eq!(block(&own), block(&Rbf { gamma: 0.3 }));
        assert!(own.always_positive_semidefinite());
    }

    #[test]
    fn equal_rows_are_at_distance_zero_exactly() {
        for matrix in matrices() {
            let points = Points::new(matrix, false);
            let kernel = Rbf { gamma: 1e6 };
            let mut value = [0.0];
            kernel.block(points.rows(&[0]), points.rows(&[4]), &mut value);
            assert_eq!(value[0], 1.0);
        }
    }

    #[test]
    fn threads_do_not_change_a_block() {
        let values: Vec<f64> = (0..3000).map(|k| (f64::from(k) * 0.37).sin()).collect();
        let points = Points::new(Matrix::dense(1500, 2, values).unwrap(), false);
        let all: Vec<usize> = (0..1500).collect();
        let kernel = Rbf { gamma: 1.0 };
        let row = |workers: &Workers| {
            let mut out = vec![0.0; 3 * 1500];
            Gram::new(&kernel, &points, workers).block(&[3], &all, &mut out[..1500]);
            Gram::new(&kernel, &points, workers).block(&[7, 9], &all, &mut out[1500..]);
            out
        };
        let alone = row(&Workers::none());
        assert!((2..5).all(|threads| row(&Workers::new(threads).unwrap()) == alone));
    }

    #[test]
    fn gamma_scale_counts_the_zeros_that_sparse_rows_leave_out() {
        let [dense, sparse, ..] = matrices();
        let mean = X.concat().iter().sum::<f64>() / 15.0;
        let variance = X.concat().iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 15.0;
        for matrix in [dense, sparse] {
            assert!((Gamma::Scale.resolve(&matrix, None).unwrap() - 1.0 / (3.0 * variance)).abs() < 1e-14);
            assert_eq!(Gamma::Auto.resolve(&matrix, None).unwrap(), 1.0 / 3.0);
        }
        let constant = Matrix::dense(2, 1, vec![7.0, 7.0]).unwrap();
        assert_eq!(Gamma::Scale.resolve(&constant, None).unwrap(), 1.0);
    }

    #[test]
    fn gamma_scale_counts_a_row_of_weight_k_as_k_rows() {
        let [dense, sparse, ..] = matrices();
        let copies = dense.select_rows(&[0, 0, 0, 2, 4, 4]);
        let expected = Gamma::Scale.resolve(&copies, None).unwrap();
        for matrix in [dense, sparse] {
            let found = Gamma::Scale.resolve(&matrix, Some(&[3.0, 0.0, 1.0, 0.0, 2.0])).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-14, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_kernel_passes_the_mercer_check_and_a_function_that_is_none_fails_it() {
        let points = Points::new(matrices()[0].clone(), false);
        let rows: Vec<usize> = (0..5).collect();
        let report = mercer_check(&Rbf { gamma: 0.5 }, &points, &rows, 100).unwrap();
        assert!(report.is_kernel && report.smallest_eigenvalue > -1e-12, "{report:?}");
        let negative = Custom::new("negative", |x, z| -dot(x, z));
        assert!(!mercer_check(&negative, &points, &rows, 100).unwrap().is_kernel);
        let lopsided = Custom::new("lopsided", |x, z| dot(x, z) + x[0] - z[0]);
        let report = mercer_check(&lopsided, &points, &rows, 100).unwrap();
        assert!(!report.is_kernel && report.asymmetry == 2.0, "{report:?}");
        assert_eq!(mercer_check(&Linear {}, &points, &rows, 2).unwrap().rows, 2);
    }

    #[test]
    fn parameters_out_of_range_are_refused_nan_among_them() {
        let matrix = &matrices()[0];
        for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(KernelParams::Rbf { gamma: Gamma::Value(gamma) }.check(matrix).is_err(), "{gamma}");
            assert!(KernelParams::Rbf { gamma: Gamma::Sigma(gamma) }.check(matrix).is_err(), "{gamma}");
            assert!(KernelParams::Scaled(gamma, Box::new(KernelParams::Linear)).check(matrix).is_err(), "{gamma}");
        }
        let polynomial = |coef0, degree| KernelParams::Polynomial { gamma: Gamma::Auto, coef0, degree };
        assert!(polynomial(f64::NAN, 2).check(matrix).is_err());
        assert!(polynomial(0.0, 0).check(matrix).is_err() && polynomial(0.0, 101).check(matrix).is_err());
        assert!(KernelParams::Sum(vec![]).check(matrix).is_err());
        assert!(KernelParams::Precomputed.check(matrix).is_err(), "not square");
        let lopsided = Matrix::dense(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!(KernelParams::Precomputed.check(&lopsided).is_err(), "not symmetric");
        let negative = Matrix::dense(1, 2, vec![1.0, -2.0]).unwrap();
        let error = KernelParams::ChiSquare { gamma: Gamma::Auto }.check(&negative).unwrap_err();
        assert_eq!(error.to_string(), "the chi-square kernel takes no negative numbers, but row 1, column 2 is -2");
    }

    #[test]
    fn values_that_overflow_are_refused_with_their_row() {
        let points = Points::new(Matrix::dense(2, 1, vec![1.0, 1e160]).unwrap(), false);
        let kernel = KernelFunction::Linear(Linear {});
        let error = kernel.check_range(&points, &[0, 1], &crate::Workers::none()).unwrap_err();
        assert_eq!(error.to_string(), "the kernel value of row 2 with itself is inf");
    }
}
