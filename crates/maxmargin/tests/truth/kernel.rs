//! Kernels from their formulas, and how far a value in f64 may be from them.

use maxmargin::kernel::{Gamma, KernelParams};

use super::double::{Double, dot};

/// A kernel written down a second time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formula {
    /// ⟨x, z⟩
    Linear,
    /// (γ⟨x, z⟩ + c)^q, with γ, c and q.
    Polynomial(f64, f64, u32),
    /// exp(−γ‖x − z‖²)
    Rbf(f64),
    /// exp(−γ‖x − z‖₁)
    Laplacian(f64),
    /// tanh(γ⟨x, z⟩ + c), which is no kernel on most data.
    Sigmoid(f64, f64),
}

/// A kernel value, and what f64 may lose of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Value {
    pub exact: Double,
    pub error: f64,
}

impl Formula {
    pub fn is_linear(self) -> bool {
        self == Formula::Linear
    }

    /// k(x, z) for rows as the kernel sees them: with the constant 1 of a folded bias.
    pub fn value(self, x: &[f64], z: &[f64]) -> Value {
        let lost = (x.len() as f64 + 6.0) * f64::EPSILON;
        let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let of_dot = || lost * x.iter().zip(z).map(|(x, z)| (x * z).abs()).sum::<f64>();
        match self {
            Formula::Linear => Value { exact: dot(x, z), error: of_dot() },
            Formula::Polynomial(gamma, constant, degree) => {
                let base = dot(x, z) * gamma + constant;
                let exact = base.power(degree);
                let slope = f64::from(degree) * base.value().abs().powi(degree as i32 - 1);
                let error = slope * (gamma * of_dot() + 2.0 * f64::EPSILON * base.value().abs());
                Value { exact, error: error + 8.0 * f64::EPSILON * exact.value().abs() }
            }
            Formula::Rbf(gamma) => {
                let difference = |(&x, &z): (&f64, &f64)| Double::from(x) + -z;
                let distance: Double = x.iter().zip(z).map(difference).map(|d| d * d).sum();
                let exact = (distance * -gamma).exp();
                // The library may take the distance from two norms and a product, which lose what they have in common.
                let off = gamma * 4.0 * lost * (size(x) + size(z)) + 4.0 * f64::EPSILON * gamma * distance.value();
                Value { exact, error: exact.value() * off.min(40.0).exp_m1().min(1.0 + off) + 4e-16 * exact.value() }
            }
            Formula::Laplacian(gamma) => {
                let distance: Double = x.iter().zip(z).map(|(&x, &z)| (Double::from(x) + -z).abs()).sum();
                let exact = (distance * -gamma).exp();
                Value { exact, error: exact.value() * (lost * (1.0 + gamma * distance.value())) }
            }
            Formula::Sigmoid(gamma, constant) => {
                let exact = (dot(x, z) * gamma + constant).value().tanh();
                Value { exact: exact.into(), error: gamma * of_dot() + 4.0 * f64::EPSILON }
            }
        }
    }

    pub fn params(self) -> KernelParams {
        match self {
            Formula::Linear => KernelParams::Linear,
            Formula::Polynomial(gamma, coef0, degree) => {
                KernelParams::Polynomial { gamma: Gamma::Value(gamma), coef0, degree }
            }
            Formula::Rbf(gamma) => KernelParams::Rbf { gamma: Gamma::Value(gamma) },
            Formula::Laplacian(gamma) => KernelParams::Laplacian { gamma: Gamma::Value(gamma) },
            Formula::Sigmoid(gamma, coef0) => KernelParams::Sigmoid { gamma: Gamma::Value(gamma), coef0 },
        }
    }
}

#[test]
fn kernels_are_those_of_the_formulas_worked_by_hand() {
    let (x, z) = ([1.0, 2.0], [3.0, -1.0]);
    let value = |formula: Formula| formula.value(&x, &z).exact.value();
    assert_eq!(value(Formula::Linear), 1.0);
    assert_eq!(value(Formula::Polynomial(2.0, 1.0, 3)), 27.0);
    assert!((value(Formula::Rbf(0.1)) - (-1.3f64).exp()).abs() < 1e-15);
    assert!((value(Formula::Laplacian(0.2)) - (-1f64).exp()).abs() < 1e-15);
    assert!((value(Formula::Sigmoid(0.5, 0.25)) - 0.75f64.tanh()).abs() < 1e-15);
}
