//! The exact step of one coefficient while all others stay.

use crate::problem::RowLoss;

/// A step of one coefficient.
pub(crate) struct Step {
    /// The new coefficient.
    pub(crate) target: f64,
    /// The slope of the dual in c at the old coefficient.
    pub(crate) slope: f64,
    /// How far the slope points outward; `None` unless c stays at a bound or at the corner of the tube.
    pub(crate) outward: Option<f64>,
}

/// Where [`step`] would go if c had no bounds.
pub(super) fn free(loss: RowLoss, target: f64, cost: f64, f: f64, old: f64, square: f64) -> f64 {
    let curvature = square + loss.ridge(cost);
    match loss {
        RowLoss::Hinge | RowLoss::Squared | RowLoss::OneClass | RowLoss::Ball => {
            let (sign, margin) = loss.side(target);
            old - sign * (sign * f - margin + loss.ridge(cost) * sign * old) / curvature
        }
        RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
            let pull = target - f + square * old;
            pull.signum() * (pull.abs() - width).max(0.0) / curvature
        }
        RowLoss::Logistic => step(loss, target, cost, f, old, square).target,
    }
}

/// The exact maximiser of (LP.2) in one coefficient c
///
/// ```text
/// max over c of  −(Cℓ)*(−c) − f(c − c_old) − ½‖x‖²(c − c_old)²                 (DA.1)
/// ```
#[inline]
pub(crate) fn step(loss: RowLoss, target: f64, cost: f64, f: f64, old: f64, square: f64) -> Step {
    match loss {
        RowLoss::Hinge | RowLoss::Squared | RowLoss::OneClass | RowLoss::Ball => {
            let (ridge, upper) = (loss.ridge(cost), loss.bound(cost));
            let (sign, margin) = loss.side(target);
            let alpha = sign * old;
            let slope = sign * f - margin + ridge * alpha;
            let at_bound = alpha <= 0.0 && slope >= 0.0 || alpha >= upper && slope <= 0.0;
            let curvature = square + ridge;
            // A row of zeros has no curvature and goes to the end of its box.
            let free = if curvature > 0.0 { alpha - slope / curvature } else { -slope.signum() * f64::INFINITY };
            let outward = (at_bound || slope == 0.0).then_some(slope.abs());
            Step { target: sign * free.clamp(0.0, upper), slope, outward }
        }
        RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
            let (ridge, bound) = (loss.ridge(cost), loss.bound(cost));
            let curvature = square + ridge;
            // The step without the tube; the tube takes ε off its pull.
            let pull = target - f + square * old;
            let shrunk = pull.signum() * (pull.abs() - width).max(0.0);
            let free = if curvature > 0.0 { shrunk / curvature } else { shrunk.signum() * f64::INFINITY };
            let new = if shrunk == 0.0 { 0.0 } else { free.clamp(-bound, bound) };
            // Of the slopes at the corner c = 0, the one nearest to 0.
            let rise = target - f - ridge * old;
            let slope = match old {
                old if old > 0.0 => rise - width,
                old if old < 0.0 => rise + width,
                _ => rise.signum() * (rise.abs() - width).max(0.0),
            };
            let outward = match old {
                0.0 if slope == 0.0 => Some(width - rise.abs()),
                old if slope == 0.0 || old.abs() >= bound && slope * old >= 0.0 => Some(slope.abs()),
                _ => None,
            };
            Step { target: new, slope, outward }
        }
        RowLoss::Logistic => {
            let alpha = target * old;
            let odds = (alpha / (cost - alpha)).ln();
            let slope = target * f + odds;
            let free = logistic_step(cost, square, target * f - square * alpha, odds);
            Step { target: target * free, slope, outward: None }
        }
    }
}

/// The least odds z. Beyond ±700, α or C − α would be 0 in f64.
const LEAST_ODDS: f64 = -700.0;
const MOST_ODDS: f64 = 36.0;

/// The α at which the slope `r + ‖x‖²α + log(α/(C − α))` is 0, found by its odds `z = log(α/(C − α))`:
///
/// ```text
/// h(z) = r + ‖x‖²C/(1 + exp(−z)) + z = 0,   −r − ‖x‖²C ≤ z ≤ −r               (DA.3)
/// ```
///
/// Because |h″| ≤ h′, Newton's step from an error e leaves about e²/2. A step that leaves the bracket, or is longer than half of the one
/// before, is replaced by a halving of the bracket.
fn logistic_step(cost: f64, square: f64, r: f64, start: f64) -> f64 {
    let height = square * cost;
    let (mut low, mut high) = (-r - height, -r);
    let mut odds = if start >= low && start <= high { start } else { 0.5 * (low + high) };
    let mut moved = height;
    for _ in 0..200 {
        let part = 1.0 / (1.0 + (-odds).exp());
        let (value, rise) = (r + height * part + odds, 1.0 + height * part * (1.0 - part));
        if value > 0.0 {
            high = odds;
        } else {
            low = odds;
        }
        let newton = odds - value / rise;
        let serves = newton >= low && newton <= high && (newton - odds).abs() <= 0.5 * moved;
        let next = if serves { newton } else { 0.5 * (low + high) };
        moved = (next - odds).abs();
        odds = next;
        if moved <= 1e-8 || !moved.is_finite() {
            break;
        }
    }
    cost / (1.0 + (-odds.clamp(LEAST_ODDS, MOST_ODDS)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_the_best_there_is_in_one_coefficient() {
        let of_numbers = [RowLoss::Epsilon(0.4), RowLoss::SquaredEpsilon(0.4)];
        for loss in
            [RowLoss::Hinge, RowLoss::Squared, RowLoss::Logistic, RowLoss::OneClass].into_iter().chain(of_numbers)
        {
            // One class has one sign.
            for target in [1.0, -1.0].into_iter().filter(|&target| loss != RowLoss::OneClass || target > 0.0) {
                for f in [-2.0, -0.3, 0.0, 0.8, 1.7] {
                    for part in [0.01, 0.4, 0.99] {
                        let (cost, square) = (1.3, 0.7);
                        let old = target * part * cost;
                        let value = |c: f64| {
                            loss.dual_term(c, target, cost) - f * (c - old) - 0.5 * square * (c - old) * (c - old)
                        };
                        let found = step(loss, target, cost, f, old, square).target;
                        for k in 0..=1000 {
                            let tried = loss.clipped(target * cost * f64::from(k - 500) / 250.0, target, cost);
                            assert!(value(tried) <= value(found) + 1e-12, "{loss:?} {target} {f} {part}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_step_of_logistic_loss_ends_where_the_slope_vanishes_however_steep_or_flat_it_is() {
        for square in [0.0, 1e-12, 1e-3, 1.0, 1e6, 1e12] {
            for cost in [1e-6, 1.0, 1e6] {
                for part in [1e-300, 1e-12, 0.5, 1.0 - 1e-12] {
                    for f in [-1e3, -20.0, 0.0, 3.0, 1e3] {
                        let found = step(RowLoss::Logistic, -1.0, cost, f, -part * cost, square).target.abs();
                        let what = format!("{square:e} {cost:e} {part:e} {f}: {found:e}");
                        assert!(found > 0.0 && found < cost, "{what}");
                        let slope = |alpha: f64| -f + square * (alpha - part * cost) + (alpha / (cost - alpha)).ln();
                        // The slope changes sign between neighbours of the root, unless it lies at an end or below the rounding of the slope.
                        let (below, above) = (found * (1.0 - 1e-6), found + (cost - found) * 1e-6);
                        let rounding = 1e-12 * square * cost;
                        assert!(slope(below) <= rounding || found < 1e-250 * cost, "{what}");
                        assert!(slope(above) >= -rounding || found > (1.0 - 1e-12) * cost, "{what}");
                    }
                }
            }
        }
    }
}
