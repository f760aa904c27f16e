//! The names of solvers.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// An algorithm by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum SolverKind {
    /// Sequential minimal optimisation, second-order selection.
    Smo,
    /// Sequential minimal optimisation in blocks: the engine for kernels and many rows.
    BlockSmo,
    /// Stochastic dual coordinate ascent.
    DualAscent,
    /// The dual as a general quadratic program.
    InteriorPoint,
    /// Newton's method on the primal, linear.
    Newton,
    /// Newton's method on the primal, linear, any loss and size.
    PrimalNewton,
    /// Newton's method on the primal, in the coefficients of a kernel expansion.
    KernelNewton,
    /// Stochastic subgradient descent.
    Sgd,
    /// Rosenblatt's perceptron.
    Perceptron,
    /// The perceptron with a kernel.
    KernelPerceptron,
    /// Fisher's linear discriminant.
    Lda,
    /// Logistic regression by iteratively reweighted least squares.
    Logistic,
    /// Newton's method on the primal with the L1 norm, linear.
    L1Newton,
    /// The relevance vector machine.
    Rvm,
    /// The multilayer perceptron.
    Mlp,
}

impl SolverKind {
    /// All of them.
    pub const ALL: [SolverKind; 15] = [
        SolverKind::Smo,
        SolverKind::BlockSmo,
        SolverKind::DualAscent,
        SolverKind::InteriorPoint,
        SolverKind::Newton,
        SolverKind::PrimalNewton,
        SolverKind::KernelNewton,
        SolverKind::Sgd,
        SolverKind::Perceptron,
        SolverKind::KernelPerceptron,
        SolverKind::Lda,
        SolverKind::Logistic,
        SolverKind::L1Newton,
        SolverKind::Rvm,
        SolverKind::Mlp,
    ];

    /// The name, as the user writes it.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Smo => "smo",
            SolverKind::BlockSmo => "block-smo",
            SolverKind::DualAscent => "dual-ascent",
            SolverKind::InteriorPoint => "interior-point",
            SolverKind::Newton => "newton",
            SolverKind::PrimalNewton => "primal-newton",
            SolverKind::KernelNewton => "kernel-newton",
            SolverKind::Sgd => "sgd",
            SolverKind::Perceptron => "perceptron",
            SolverKind::KernelPerceptron => "kernel-perceptron",
            SolverKind::Lda => "lda",
            SolverKind::Logistic => "logistic",
            SolverKind::L1Newton => "l1-newton",
            SolverKind::Rvm => "rvm",
            SolverKind::Mlp => "mlp",
        }
    }

    /// The solver of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        SolverKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
