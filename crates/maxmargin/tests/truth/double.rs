//! Numbers of about 32 digits: the unevaluated sum of two f64, so that what the oracle finds is no matter of rounding.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// `high + low`, with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Double {
    high: f64,
    low: f64,
}

/// a + b without an error: the rounded sum and what it lost (Knuth's TwoSum).
fn two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let part = high - a;
    Double { high, low: (a - (high - part)) + (b - part) }
}

/// The same where |a| is not below |b|.
fn quick_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

/// a · b without an error (TwoProduct). Dekker's way to halve the digits, since not every processor multiplies and adds at once.
fn two_product(a: f64, b: f64) -> Double {
    let halves = |x: f64| {
        // 2^27 + 1; numbers beyond 1e290 would overflow, and no case has any.
        let large = 134_217_729.0 * x;
        let high = large - (large - x);
        (high, x - high)
    };
    let high = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    Double { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Double {
    pub const ZERO: Double = Double { high: 0.0, low: 0.0 };

    /// The product of two f64, exactly.
    pub fn product(a: f64, b: f64) -> Self {
        two_product(a, b)
    }

    /// The nearest f64.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// The larger of this and 0.
    pub fn positive(self) -> Self {
        if self.high > 0.0 { self } else { Self::ZERO }
    }

    pub fn power(self, exponent: u32) -> Self {
        (0..exponent).fold(Self::from(1.0), |power, _| power * self)
    }

    /// `e^x`, with the relative error of one f64: the argument has all digits, the result those of f64.
    pub fn exp(self) -> Self {
        Self::from(self.high.exp()) * (Self::from(1.0) + self.low)
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Double { high, low: 0.0 }
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Double { high: -self.high, low: -self.low }
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (sum, rest) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let sum = quick_sum(sum.high, sum.low + rest.high);
        quick_sum(sum.high, sum.low + rest.low)
    }
}

impl Add<f64> for Double {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        let sum = two_sum(self.high, other);
        quick_sum(sum.high, sum.low + self.low)
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = two_product(self.high, other.high);
        quick_sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Mul<f64> for Double {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        let product = two_product(self.high, other);
        quick_sum(product.high, product.low + self.low * other)
    }
}

impl AddAssign for Double {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Double {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, |sum, number| sum + number)
    }
}

/// ⟨a, b⟩
pub fn dot(a: &[f64], b: &[f64]) -> Double {
    a.iter().zip(b).map(|(&a, &b)| Double::product(a, b)).sum()
}

#[test]
fn digits_that_f64_loses_are_kept() {
    let sum = Double::from(1e16) + 1.0 + 1e-8 - Double::from(1e16);
    assert_eq!(sum.value(), 1.0 + 1e-8);
    // (1 + 2^-40)² − 1 − 2^-39 is 2^-80, and 0 in f64.
    let tiny = 2f64.powi(-40);
    let square = Double::product(1.0 + tiny, 1.0 + tiny) - Double::from(1.0 + 2.0 * tiny);
    assert_eq!(square.value(), tiny * tiny);
    assert_eq!(((1.0 + tiny) * (1.0 + tiny) - (1.0 + 2.0 * tiny)).to_bits(), 0);
    assert_eq!((Double::from(-2.0).power(5) + Double::from(-2.0).abs().power(5)).value(), 0.0);
}
