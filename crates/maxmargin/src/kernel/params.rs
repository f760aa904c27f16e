//! What a user asks of a kernel, before the data has been seen.

use std::ops::Range;

use super::precomputed::asymmetry;
use super::{
    ChiSquare, Custom, Kernel, KernelFunction, Laplacian, Linear, Points, Polynomial, Precomputed, Product, Rbf,
    Scaled, Sigmoid, Sum,
};
use crate::data::{Matrix, Values};
use crate::error::{Error, Parameter};
use crate::workers::Workers;

/// The factor γ, or the rule to find it by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Gamma {
    /// `1 / (columns · variance of all values)`; 1 when the variance is 0.
    #[default]
    Scale,
    /// `1 / columns`.
    Auto,
    /// This number.
    Value(f64),
    /// By bandwidth: `γ = 1/σ²`.
    Sigma(f64),
}

impl From<f64> for Gamma {
    fn from(gamma: f64) -> Self {
        Gamma::Value(gamma)
    }
}

impl Gamma {
    /// γ as a number, for this training data. A row of weight k counts as k rows.
    ///
    /// # Errors
    /// When it is not a positive finite number.
    pub fn resolve(self, matrix: &Matrix, weights: Option<&[f64]>) -> Result<f64, Error> {
        let columns = matrix.columns().max(1) as f64;
        let gamma = match self {
            Gamma::Value(gamma) => gamma,
            Gamma::Sigma(sigma) => 1.0 / check_positive("sigma", sigma)? / sigma,
            Gamma::Auto => 1.0 / columns,
            Gamma::Scale => {
                let variance = variance(matrix, weights);
                if !variance.is_finite() {
                    return Err(Error::Data {
                        what: "the values are so large that their variance is not finite".into(),
                        help: "scale the columns (standard or minmax), or give gamma as a number".into(),
                    });
                }
                if variance > 0.0 { 1.0 / columns / variance } else { 1.0 }
            }
        };
        check_positive(Parameter::Gamma, gamma)
    }
}

/// The variance of all values of a matrix, zeros included, each weighted by its row. Takes two passes.
fn variance(matrix: &Matrix, weights: Option<&[f64]>) -> f64 {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let rows = weights.map_or(matrix.rows() as f64, |weights| weights.iter().sum());
    let cells = rows * matrix.columns() as f64;
    let (mut sum, mut stored) = (0.0, 0.0);
    (0..matrix.rows()).for_each(|row| matrix.visit(row, |_, value| sum += weight(row) * value / cells));
    let mut squares = 0.0;
    (0..matrix.rows()).for_each(|row| {
        matrix.visit(row, |_, value| {
            stored += weight(row);
            squares += weight(row) * (value - sum) * ((value - sum) / cells);
        });
    });
    squares + sum * sum * ((cells - stored) / cells)
}

/// A kernel as the user asks for it, not yet checked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum KernelParams {
    /// `⟨x, z⟩`
    #[default]
    Linear,
    /// `(γ⟨x, z⟩ + c)^q`
    Polynomial {
        /// γ
        gamma: Gamma,
        /// c
        coef0: f64,
        /// q, from 1 to 100
        degree: u32,
    },
    /// `exp(−γ‖x − z‖²)`
    Rbf {
        /// γ
        gamma: Gamma,
    },
    /// `tanh(γ⟨x, z⟩ + c)`
    Sigmoid {
        /// γ
        gamma: Gamma,
        /// c
        coef0: f64,
    },
    /// `exp(−γ‖x − z‖₁)`
    Laplacian {
        /// γ
        gamma: Gamma,
    },
    /// `exp(−γ Σ (x − z)²/(x + z))`
    ChiSquare {
        /// γ
        gamma: Gamma,
    },
    /// The data is a square table of kernel values.
    Precomputed,
    /// The sum of at least one kernel.
    Sum(Vec<KernelParams>),
    /// The product of at least one kernel.
    Product(Vec<KernelParams>),
    /// A positive multiple of a kernel.
    Scaled(f64, Box<KernelParams>),
    /// Written by the user.
    Custom(Custom),
}

/// The names of the kernels that users can write.
pub(super) const NAMES: &str = "linear, polynomial, rbf, sigmoid, laplacian, chi-square, precomputed";

/// The degree of a polynomial kernel that is not given.
const DEGREE: u32 = 3;

impl KernelParams {
    /// The kernel of this name with its default parameters, and the keys that it takes in words.
    pub(super) fn named(name: &str) -> Option<(Self, &'static str)> {
        let gamma = Gamma::Scale;
        Some(match name {
            "linear" => (KernelParams::Linear, ""),
            "polynomial" | "poly" => {
                (KernelParams::Polynomial { gamma, coef0: 0.0, degree: DEGREE }, "gamma, coef0 or degree")
            }
            "rbf" | "gaussian" => (KernelParams::Rbf { gamma }, "gamma or sigma"),
            "sigmoid" => (KernelParams::Sigmoid { gamma, coef0: 0.0 }, "gamma or coef0"),
            "laplacian" => (KernelParams::Laplacian { gamma }, "gamma"),
            "chi-square" | "chi2" => (KernelParams::ChiSquare { gamma }, "gamma"),
            "precomputed" => (KernelParams::Precomputed, ""),
            _ => return None,
        })
    }

    /// γ, if the kernel has one.
    pub fn gamma_mut(&mut self) -> Option<&mut Gamma> {
        match self {
            KernelParams::Polynomial { gamma, .. }
            | KernelParams::Rbf { gamma }
            | KernelParams::Sigmoid { gamma, .. }
            | KernelParams::Laplacian { gamma }
            | KernelParams::ChiSquare { gamma } => Some(gamma),
            _ => None,
        }
    }

    /// The constant c, if the kernel has one.
    pub fn coef0_mut(&mut self) -> Option<&mut f64> {
        match self {
            KernelParams::Polynomial { coef0, .. } | KernelParams::Sigmoid { coef0, .. } => Some(coef0),
            _ => None,
        }
    }

    /// The degree q, if the kernel has one.
    pub fn degree_mut(&mut self) -> Option<&mut u32> {
        match self {
            KernelParams::Polynomial { degree, .. } => Some(degree),
            _ => None,
        }
    }

    /// Checks the parameters, and finds γ from the training data where a rule was given.
    ///
    /// # Errors
    /// When a parameter is out of range, or the kernel cannot take the data: negative values (chi-square), a table
    /// that is not square or not symmetric (precomputed).
    pub fn check(&self, matrix: &Matrix) -> Result<KernelFunction, Error> {
        self.check_weighted(matrix, None)
    }

    /// [`KernelParams::check`] for rows that count by their weights.
    ///
    /// # Errors
    /// As [`KernelParams::check`].
    pub fn check_weighted(&self, matrix: &Matrix, weights: Option<&[f64]>) -> Result<KernelFunction, Error> {
        let all = |parts: &[KernelParams]| {
            parts.iter().map(|part| part.check_weighted(matrix, weights)).collect::<Result<Vec<_>, Error>>()
        };
        let function = match self {
            KernelParams::Linear => KernelFunction::Linear(Linear {}),
            &KernelParams::Polynomial { gamma, coef0, degree } => {
                KernelFunction::Polynomial(Polynomial { gamma: gamma.resolve(matrix, weights)?, coef0, degree })
            }
            KernelParams::Rbf { gamma } => KernelFunction::Rbf(Rbf { gamma: gamma.resolve(matrix, weights)? }),
            &KernelParams::Sigmoid { gamma, coef0 } => {
                KernelFunction::Sigmoid(Sigmoid { gamma: gamma.resolve(matrix, weights)?, coef0 })
            }
            KernelParams::Laplacian { gamma } => {
                KernelFunction::Laplacian(Laplacian { gamma: gamma.resolve(matrix, weights)? })
            }
            KernelParams::ChiSquare { gamma } => {
                check_not_negative(matrix)?;
                KernelFunction::ChiSquare(ChiSquare { gamma: gamma.resolve(matrix, weights)? })
            }
            KernelParams::Precomputed => {
                check_table(matrix)?;
                KernelFunction::Precomputed(Precomputed {})
            }
            KernelParams::Sum(parts) => KernelFunction::Sum(Sum { parts: all(parts)? }),
            KernelParams::Product(parts) => KernelFunction::Product(Product { parts: all(parts)? }),
            KernelParams::Scaled(factor, kernel) => KernelFunction::Scaled(Scaled {
                factor: *factor,
                kernel: Box::new(kernel.check_weighted(matrix, weights)?),
            }),
            KernelParams::Custom(kernel) => KernelFunction::Custom(kernel.clone()),
        };
        function.check_parameters()?;
        Ok(function)
    }
}

fn check_positive(parameter: impl Into<Parameter>, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::parameter(parameter, value, "a finite number above 0"))
}

impl KernelFunction {
    /// Checks the range of every parameter, both for what a user asks and for what a file says.
    ///
    /// # Errors
    /// When one is out of range.
    pub(crate) fn check_parameters(&self) -> Result<(), Error> {
        let finite = |coef0: f64| {
            if coef0.is_finite() { Ok(()) } else { Err(Error::parameter(Parameter::Coef0, coef0, "a finite number")) }
        };
        match self {
            KernelFunction::Linear(_) | KernelFunction::Precomputed(_) | KernelFunction::Custom(_) => Ok(()),
            &KernelFunction::Polynomial(Polynomial { gamma, coef0, degree }) => {
                if !(1..=100).contains(&degree) {
                    return Err(Error::parameter(Parameter::Degree, degree, "from 1 to 100"));
                }
                check_positive(Parameter::Gamma, gamma)?;
                finite(coef0)
            }
            &KernelFunction::Sigmoid(Sigmoid { gamma, coef0 }) => {
                check_positive(Parameter::Gamma, gamma)?;
                finite(coef0)
            }
            &KernelFunction::Rbf(Rbf { gamma })
            | &KernelFunction::Laplacian(Laplacian { gamma })
            | &KernelFunction::ChiSquare(ChiSquare { gamma }) => check_positive(Parameter::Gamma, gamma).map(drop),
            KernelFunction::Sum(Sum { parts }) | KernelFunction::Product(Product { parts }) => {
                if parts.is_empty() {
                    return Err(Error::Combination {
                        what: "a sum or product of no kernels is no kernel".into(),
                        help: "name at least one kernel".into(),
                    });
                }
                parts.iter().try_for_each(KernelFunction::check_parameters)
            }
            KernelFunction::Scaled(Scaled { factor, kernel }) => {
                check_positive("kernel factor", *factor)?;
                kernel.check_parameters()
            }
        }
    }

    /// Checks that every k(x, x) is a finite number, so that no value of a positive semidefinite kernel overflows.
    ///
    /// # Errors
    /// When one is not; the message names the row.
    pub(crate) fn check_range(&self, points: &Points, rows: &[usize], workers: &Workers) -> Result<(), Error> {
        let out_of_range = |value: &f64| !(value.abs() < 1e300);
        let look = |some: &[usize], diagonal: &mut [f64]| {
            self.diagonal(points.rows(some), diagonal);
            diagonal.iter().position(out_of_range).map(|place| (some[place], diagonal[place]))
        };
        let found = if rows.len() <= FEW_ROWS {
            look(rows, &mut [0.0; FEW_ROWS][..rows.len()])
        } else {
            let chunk = |range: Range<usize>| look(&rows[range.clone()], &mut vec![0.0; range.len()]);
            workers.map_chunks(rows.len(), ROWS_AT_A_TIME, chunk).into_iter().flatten().next()
        };
        match found {
            Some((row, value)) => Err(Error::Data {
                what: format!("the kernel value of row {} with itself is {value:e}", row + 1),
                help: "scale the columns (standard or minmax), or choose a smaller gamma or degree".into(),
            }),
            None => Ok(()),
        }
    }
}

/// Rows whose kernel value is checked at a time.
const ROWS_AT_A_TIME: usize = 8192;

/// The most rows whose kernel values fit into an array on the stack.
const FEW_ROWS: usize = 16;

fn check_not_negative(matrix: &Matrix) -> Result<(), Error> {
    for row in 0..matrix.rows() {
        let mut negative = None;
        matrix.visit(row, |column, value| {
            if value < 0.0 {
                negative = negative.or(Some((column, value)));
            }
        });
        if let Some((column, value)) = negative {
            return Err(Error::Data {
                what: format!(
                    "the chi-square kernel takes no negative numbers, but row {}, column {} is {value}",
                    row + 1,
                    column + 1
                ),
                help: "scale the columns to 0..1 (minmax), or choose another kernel".into(),
            });
        }
    }
    Ok(())
}

fn check_table(matrix: &Matrix) -> Result<(), Error> {
    if matrix.rows() != matrix.columns() {
        return Err(Error::Shape {
            operation: "precomputed kernel",
            left: format!("{} columns", matrix.columns()),
            right: format!("{} rows: the table must be square", matrix.rows()),
        });
    }
    let (worst, largest) = asymmetry(matrix);
    let single = matches!(matrix, Matrix::Dense(dense) if matches!(dense.values(), Values::F32(_)));
    let rounding = if single { 1e-5 } else { 1e-10 };
    if worst <= rounding * largest {
        return Ok(());
    }
    Err(Error::Data {
        what: format!("the table of kernel values is not symmetric: two values differ by {worst:e}"),
        help: "average the table with its transpose".into(),
    })
}
