//! Numbers of about 31 digits: the unevaluated sum of two f64.
//!
//! They are for sums whose terms cancel, where f64 would keep no digit of the result. An operation costs 10 to 30 of f64, so they serve to
//! check answers ([`crate::certificate`]), not to find them.
//!
//! # References
//! T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18, 1971. T. Ogita, S. M. Rump
//! and S. Oishi, "Accurate sum and dot product", SIAM Journal on Scientific Computing 26, 2005.

use std::ops::{Add, Mul, Neg, Sub};

/// `high + low`, with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DoubleDouble {
    high: f64,
    low: f64,
}

/// ln 2 in two parts.
const LN_2: DoubleDouble = DoubleDouble { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

/// Below this exponent `e^x` counts as 0: it is less than 1e-304, and its low part would be subnormal.
const LEAST_EXPONENT: f64 = -700.0;

/// `e^x − 1` is summed up at `x / 2^HALVINGS`, by nine terms of its series: the first one left out is below 1e-29 of the sum, and so is what
/// the last five lose in f64.
const HALVINGS: i32 = 8;
const TERMS: i32 = 9;
const TERMS_WITH_ALL_DIGITS: i32 = 4;

impl DoubleDouble {
    /// 0
    pub(crate) const ZERO: Self = DoubleDouble { high: 0.0, low: 0.0 };

    /// a + b without an error (Knuth's TwoSum).
    #[inline]
    pub(crate) fn sum_of(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        DoubleDouble { high, low: (a - (high - part)) + (b - part) }
    }

    /// a · b without an error (Dekker's product, which needs no fused multiply-add).
    ///
    /// Numbers beyond 1e290 overflow to infinity or NaN.
    #[inline]
    pub(crate) fn product_of(a: f64, b: f64) -> Self {
        let halves = |x: f64| {
            let large = 134_217_729.0 * x; // 2^27 + 1
            let high = large - (large - x);
            (high, x - high)
        };
        let high = a * b;
        let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
        DoubleDouble { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
    }

    /// a + b where |a| ≥ |b|.
    #[inline]
    fn ordered_sum_of(a: f64, b: f64) -> Self {
        let high = a + b;
        DoubleDouble { high, low: b - (high - a) }
    }

    /// The nearest f64.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }

    /// The number to a whole power.
    pub(crate) fn power(self, exponent: u32) -> Self {
        (0..exponent).fold(Self::from(1.0), |power, _| power * self)
    }

    /// The larger of this and 0.
    pub(crate) fn or_zero(self) -> Self {
        if self.high > 0.0 { self } else { Self::ZERO }
    }

    /// `e^x`, for x ≤ 0.
    pub(crate) fn exp(self) -> Self {
        if !(self.high > LEAST_EXPONENT) {
            return if self.high.is_nan() { self } else { Self::ZERO };
        }
        // e^x = 2^k e^r with |r| ≤ ln 2 / 2
        let k = (self.high / LN_2.high).round();
        let r = (self - LN_2 * k).scaled(-HALVINGS);
        // r/term · (1 + series): Horner's scheme for e^r − 1
        let plain = (TERMS_WITH_ALL_DIGITS + 1..=TERMS).rev();
        let mut series = Self::from(plain.fold(0.0, |series, term| r.high / f64::from(term) * (series + 1.0)));
        for term in (1..=TERMS_WITH_ALL_DIGITS).rev() {
            series = r * (series + 1.0) * Self::from(f64::from(term)).inverse();
        }
        for _ in 0..HALVINGS {
            series = series.scaled(1) + series * series; // (1 + s)² − 1
        }
        (series + 1.0).scaled(k as i32)
    }

    /// `tanh x`
    pub(crate) fn tanh(self) -> Self {
        let size = if self.high < 0.0 { -self } else { self };
        let decay = (-size.scaled(1)).exp();
        let value = (Self::from(1.0) - decay) * (decay + 1.0).inverse();
        if self.high < 0.0 { -value } else { value }
    }

    /// `1 / x`
    fn inverse(self) -> Self {
        let first = 1.0 / self.high;
        let rest = (Self::from(1.0) - self * first).value();
        Self::ordered_sum_of(first, rest * first)
    }

    /// `x · 2^exponent`, exactly unless it leaves the range of f64.
    fn scaled(self, exponent: i32) -> Self {
        let factor = 2f64.powi(exponent);
        DoubleDouble { high: self.high * factor, low: self.low * factor }
    }
}

impl From<f64> for DoubleDouble {
    #[inline]
    fn from(high: f64) -> Self {
        DoubleDouble { high, low: 0.0 }
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        DoubleDouble { high: -self.high, low: -self.low }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum_of(self.high, other.high), Self::sum_of(self.low, other.low));
        let sum = Self::ordered_sum_of(high.high, high.low + low.high);
        Self::ordered_sum_of(sum.high, sum.low + low.low)
    }
}

impl Add<f64> for DoubleDouble {
    type Output = Self;

    #[inline]
    fn add(self, other: f64) -> Self {
        let sum = Self::sum_of(self.high, other);
        Self::ordered_sum_of(sum.high, sum.low + self.low)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let product = Self::product_of(self.high, other.high);
        Self::ordered_sum_of(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Mul<f64> for DoubleDouble {
    type Output = Self;

    #[inline]
    fn mul(self, other: f64) -> Self {
        let product = Self::product_of(self.high, other);
        Self::ordered_sum_of(product.high, product.low + self.low * other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_f64_loses_are_kept() {
        let sum = DoubleDouble::from(1e16) + 1.0 + 1e-8 - DoubleDouble::from(1e16);
        assert_eq!(sum.value(), 1.0 + 1e-8);
        // (1 + 2^-40)² − 1 − 2^-39 is 2^-80, and 0 in f64.
        let tiny = 2f64.powi(-40);
        let square = DoubleDouble::product_of(1.0 + tiny, 1.0 + tiny) - DoubleDouble::from(1.0 + 2.0 * tiny);
        assert_eq!(square.value(), tiny * tiny);
        assert_eq!((1.0 + tiny) * (1.0 + tiny) - (1.0 + 2.0 * tiny), 0.0);
    }

    #[test]
    fn exponentials_multiply_as_they_should_far_beyond_the_digits_of_f64() {
        for (x, y) in [(-0.3, -0.4), (-1.0, -1e-3), (-20.0, -17.5), (-300.0, -250.0), (-1e-9, -1e-12)] {
            let [x, y] = [DoubleDouble::from(x), DoubleDouble::from(y)];
            let (together, apart) = ((x + y).exp(), x.exp() * y.exp());
            assert!(((together - apart).value() / together.value()).abs() < 1e-28, "{x:?} {y:?}");
            assert!((x.exp().value() / x.value().exp() - 1.0).abs() < 1e-15);
        }
        // e^(−1/2), from 40 digits by hand.
        let off =
            DoubleDouble::from(-0.5).exp() - DoubleDouble::sum_of(0.606_530_659_712_633_4, -6.593_178_415_491_414e-19);
        assert!(off.value().abs() < 1e-30, "{off:?}");
        assert_eq!(DoubleDouble::from(-800.0).exp(), DoubleDouble::ZERO);
        assert_eq!(DoubleDouble::ZERO.exp().value(), 1.0);
    }

    #[test]
    fn powers_and_hyperbolic_tangents_are_those_of_f64_and_more() {
        assert_eq!(DoubleDouble::from(-2.0).power(5).value(), -32.0);
        assert_eq!(DoubleDouble::from(7.0).power(0).value(), 1.0);
        for z in [-3.0, -0.1, 0.0, 1e-4, 2.0] {
            assert!((DoubleDouble::from(z).tanh().value() - f64::tanh(z)).abs() < 1e-15, "{z}");
        }
    }
}
