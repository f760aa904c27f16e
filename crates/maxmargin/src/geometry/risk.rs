//! How far the expected risk of a soft margin machine can be above the least one.

use crate::error::Error;

/// The risk bound of the soft margin learner. With ‖x‖ ≤ ρ for every x that can occur, the best machine among those with
/// ‖(w, b)‖ ≤ B, and m rows to learn from, minimising λ‖w‖² + 1/m Σ hinge gives
///
/// ```text
/// expected hinge risk ≤ least hinge risk + λ B² + 2ρ²/(λ m)             (RB.1)
/// λ* = √(2ρ²/(B² m)),   excess at λ* = √(8ρ²B²/m)                       (RB.2)
/// ```
///
/// The expectation is over the rows drawn. The 0-1 risk, the share of errors, lies below the hinge risk.
///
/// # Examples
/// ```
/// use maxmargin::geometry::RiskBound;
///
/// let bound = RiskBound::new(1.0, 2.0, 3200, 0.0125)?;
/// assert!((bound.best_lambda() - 0.0125).abs() < 1e-15);
/// assert!((bound.excess() - 0.1).abs() < 1e-15);
/// assert!((bound.best_excess() - 0.1).abs() < 1e-15);
/// # Ok::<(), maxmargin::Error>(())
/// ```
///
/// # References
/// S. Shalev-Shwartz, S. Ben-David, Understanding Machine Learning, 2014, corollary 15.7.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiskBound {
    rho: f64,
    weight_bound: f64,
    rows: usize,
    lambda: f64,
}

impl RiskBound {
    /// A bound from ρ, B, m and λ.
    ///
    /// # Errors
    /// When one of them is not positive and finite.
    pub fn new(rho: f64, weight_bound: f64, rows: usize, lambda: f64) -> Result<Self, Error> {
        for (name, value) in [("rho", rho), ("weight-bound", weight_bound), ("lambda", lambda)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "above 0 and finite"));
            }
        }
        if rows == 0 {
            return Err(Error::parameter("rows", rows, "1 or more"));
        }
        Ok(RiskBound { rho, weight_bound, rows, lambda })
    }

    /// The bound on the excess over the least hinge risk at the λ given (RB.1).
    pub fn excess(&self) -> f64 {
        let (rows, ratio) = (self.rows as f64, self.rho / self.lambda);
        self.lambda * self.weight_bound * self.weight_bound + 2.0 * self.rho * ratio / rows
    }

    /// The λ at which the bound is least (RB.2).
    pub fn best_lambda(&self) -> f64 {
        (2.0 / self.rows as f64).sqrt() * (self.rho / self.weight_bound)
    }

    /// The bound on the excess at the best λ (RB.2).
    pub fn best_excess(&self) -> f64 {
        (8.0 / self.rows as f64).sqrt() * self.rho * self.weight_bound
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_positive_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(RiskBound::new(bad, 1.0, 1, 1.0).is_err(), "{bad}");
            assert!(RiskBound::new(1.0, bad, 1, 1.0).is_err(), "{bad}");
            assert!(RiskBound::new(1.0, 1.0, 1, bad).is_err(), "{bad}");
        }
        let error = RiskBound::new(1.0, 1.0, 0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "rows is 0, but it must be 1 or more");
    }

    #[test]
    fn one_row_and_unit_sizes_give_the_numbers_of_the_formula() {
        let bound = RiskBound::new(1.0, 1.0, 1, 1.0).unwrap();
        assert_eq!((bound.excess(), bound.best_lambda(), bound.best_excess()), (3.0, 2f64.sqrt(), 8f64.sqrt()));
    }

    proptest! {
        #[test]
        fn no_lambda_beats_the_best_one(
            rho in 0.01..100.0f64, weight_bound in 0.01..100.0f64, rows in 1usize..1_000_000, factor in 0.01..100.0f64
        ) {
            let any = RiskBound::new(rho, weight_bound, rows, 1.0).unwrap();
            let at = |lambda: f64| RiskBound::new(rho, weight_bound, rows, lambda).unwrap().excess();
            let best = any.best_excess();
            prop_assert!((at(any.best_lambda()) - best).abs() <= 1e-12 * best);
            prop_assert!(at(factor * any.best_lambda()) >= best * (1.0 - 1e-12));
        }
    }
}
