//! What one precision does to the likelihood, all others held.

/// s and q of (RV.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factors {
    /// s: how much the function overlaps with what the model cannot tell from noise.
    pub(super) spread: f64,
    /// q: how well it fits what the model without it leaves over.
    pub(super) fit: f64,
}

impl Factors {
    /// Those of a function in the model, from its precision, its coefficient at the mode and its variance Σ_ii.
    pub(super) fn within(precision: f64, weight: f64, variance: f64) -> Self {
        // 0 ≤ a Σ_ii ≤ 1, but for rounding.
        let spread = (1.0 - precision * variance).max(0.0) / variance;
        Factors { spread, fit: weight / variance }
    }

    /// The precision at which (RV.3) is largest; `None` for ∞.
    pub(super) fn best(&self) -> Option<f64> {
        let excess = self.fit * self.fit - self.spread;
        let best = self.spread * self.spread / excess;
        (self.spread > 0.0 && excess > 0.0 && best > 0.0 && best.is_finite()).then_some(best)
    }

    /// ℓ of (RV.3)
    pub(super) fn value(&self, precision: f64) -> f64 {
        0.5 * (self.fit * self.fit / (precision + self.spread) - (self.spread / precision).ln_1p())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_precision_is_better_than_the_best() {
        for (spread, fit) in [(0.1, 1.0), (1.0, 1.1), (3.0, 20.0), (1e-8, 1e-3)] {
            let factors = Factors { spread, fit };
            let best = factors.best().unwrap();
            for factor in [1e-6, 0.5, 0.99, 1.01, 2.0, 1e6] {
                assert!(factors.value(best * factor) < factors.value(best), "{spread} {fit} {factor}");
            }
            assert!(factors.value(best) > 0.0);
        }
        assert_eq!(Factors { spread: 1.0, fit: 0.9 }.best(), None);
        assert_eq!(Factors { spread: 0.0, fit: 1.0 }.best(), None);
        assert_eq!(Factors { spread: f64::NAN, fit: 1.0 }.best(), None);
    }
}
