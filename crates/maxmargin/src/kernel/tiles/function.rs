//! Kernels that are functions of dot products, computed many values at a time.

use crate::double_double::DoubleDouble;
use crate::kernel::Exponential;
use crate::kernel::pairs::{is_cancelled, may_cancel};
use crate::simd::Real;

/// A kernel that is a function of the dot product (and of the squared norms).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DotFunction {
    /// (K.1)
    Linear,
    /// (K.2)
    Polynomial {
        /// γ
        gamma: f64,
        /// c
        coef0: f64,
        /// q
        degree: u32,
    },
    /// (K.3)
    Rbf {
        /// γ
        gamma: f64,
    },
    /// (K.4)
    Sigmoid {
        /// γ
        gamma: f64,
        /// c
        coef0: f64,
    },
}

impl DotFunction {
    /// A kernel value with about 30 digits, from the dot product and the squared norms of its rows. `exponential` says how many digits the
    /// exponential of a Gaussian has.
    pub(in crate::kernel) fn precise(
        self,
        exponential: Exponential,
        dot: DoubleDouble,
        left_square: DoubleDouble,
        right_square: DoubleDouble,
    ) -> DoubleDouble {
        match self {
            DotFunction::Linear => dot, // (K.1)
            DotFunction::Polynomial { gamma, coef0, degree } => (dot * gamma + coef0).power(degree), // (K.2)
            DotFunction::Rbf { gamma } => {
                let exponent = (left_square + right_square - dot * 2.0).or_zero() * -gamma;
                match exponential {
                    Exponential::Precise => exponent.exp(), // (K.3)
                    Exponential::Plain => exponent.value().exp().into(),
                }
            }
            DotFunction::Sigmoid { gamma, coef0 } => (dot * gamma + coef0).tanh(), // (K.4)
        }
    }

    /// Whether rows with this sum of squared norms are far enough out for their value to lose digits.
    #[inline]
    pub(super) fn may_cancel<T: Real>(self, norms: T) -> bool {
        matches!(self, DotFunction::Rbf { gamma } if may_cancel(gamma, norms.into()))
    }

    /// The value of two rows whose distance has lost digits by cancellation; `None` where it has not. `norms` is the sum of their squared
    /// norms, and `squared_distance` computes their distance from differences.
    pub(super) fn mended<T: Real>(self, norms: T, dot: T, squared_distance: impl FnOnce() -> f64) -> Option<T> {
        let DotFunction::Rbf { gamma } = self else { return None };
        let is_lost = is_cancelled(gamma, norms.into(), dot.into());
        is_lost.then(|| T::of(-gamma * squared_distance()).exp()) // (K.3)
    }

    /// Kernel values from dot products, lane by lane. `norm` and `norms` are squared norms.
    #[inline(always)]
    pub(super) fn apply<T: Real, const L: usize>(
        self,
        dots: &[T; L],
        constant: T,
        norm: T,
        norms: &[T; L],
        out: &mut [T; L],
    ) {
        match self {
            DotFunction::Linear => {
                for lane in 0..L {
                    out[lane] = dots[lane].plus(constant);
                }
            }
            DotFunction::Rbf { gamma } => {
                let (gamma, zero) = (T::of(-gamma), T::default());
                for lane in 0..L {
                    let distance = T::of(-2.0).fused(dots[lane], norm.plus(norms[lane])).larger(zero);
                    out[lane] = gamma.times(distance).exp(); // (K.3)
                }
            }
            DotFunction::Polynomial { gamma, coef0, degree } => {
                let (gamma, coef0) = (T::of(gamma), T::of(coef0));
                let mut square = [T::default(); L];
                for lane in 0..L {
                    square[lane] = gamma.fused(dots[lane].plus(constant), coef0);
                    out[lane] = T::of(1.0);
                }
                let mut rest = degree;
                while rest > 0 {
                    if rest % 2 == 1 {
                        for lane in 0..L {
                            out[lane] = out[lane].times(square[lane]); // (K.2)
                        }
                    }
                    for value in &mut square {
                        *value = value.times(*value);
                    }
                    rest /= 2;
                }
            }
            DotFunction::Sigmoid { gamma, coef0 } => {
                let (gamma, coef0, one) = (T::of(gamma), T::of(coef0), T::of(1.0));
                for lane in 0..L {
                    let z = gamma.fused(dots[lane].plus(constant), coef0);
                    let minus = z.times(T::of(-1.0));
                    // (K.4): tanh |z| = (1 − e^(−2|z|)) / (1 + e^(−2|z|))
                    let decay = z.larger(minus).times(T::of(-2.0)).exp();
                    let value = one.plus(decay.times(T::of(-1.0))).over(one.plus(decay));
                    out[lane] = if z < minus { value.times(T::of(-1.0)) } else { value };
                }
            }
        }
    }
}
