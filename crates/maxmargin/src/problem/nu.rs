//! ν, the share of rows that may lie on the wrong side of the margin, or outside of the tube.

use super::{Bias, Loss, MarginParts, Task};
use crate::error::{Error, Parameter};

/// Checks that there is a solution for ν: neither class may have to give more than all of its rows
///
/// ```text
/// ν ≤ 2 min(W₊, W₋) / (W₊ + W₋),   W what the rows of a class count                  (P.10)
/// ```
///
/// # Errors
/// When there is none, with the largest ν that has one; and when ν does not go with the other parts.
pub(super) fn check(parts: &MarginParts<'_>) -> Result<(), Error> {
    let refuse = |what: &str, help: &str| Err(Error::Combination { what: what.into(), help: help.into() });
    let given = parts.nu.is_some() || matches!(parts.task, Task::NuRegression { .. });
    if given && (parts.loss != Loss::Hinge || parts.bias != Bias::Explicit) {
        return refuse("nu goes with hinge loss and an explicit bias", "choose these, or C in the place of nu");
    }
    let Some(nu) = parts.nu else { return Ok(()) };
    if parts.task != Task::Classification {
        return refuse("nu in the place of C is for classes", "choose C, or task classification");
    }
    if !(nu > 0.0 && nu <= 1.0) {
        return Err(Error::parameter(Parameter::Nu, nu, "above 0 and at most 1"));
    }
    let of_sign = |sign: f64| parts.signs.iter().zip(&parts.costs).filter(|(s, _)| **s == sign).map(|(_, w)| w).sum();
    let (plus, minus): (f64, f64) = (of_sign(1.0), of_sign(-1.0));
    let most = 2.0 * plus.min(minus) / (plus + minus); // (P.10)
    if nu <= most * (1.0 + 1e-12) {
        return Ok(());
    }
    Err(Error::Data {
        what: format!(
            "nu is {nu}, but rows of {minus} in the one class and {plus} in the other allow {most:.6} at most"
        ),
        help: format!(
            "choose nu up to {most:.4}, give the rows weights that make the classes alike, or choose C instead"
        ),
    })
}
