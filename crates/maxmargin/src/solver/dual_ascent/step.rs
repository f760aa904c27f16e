//! One coefficient at a time: the best that it can be while all others stay.

use crate::problem::RowLoss;

/// A step of one coefficient.
pub(crate) struct Step {
    /// Where it leads.
    pub(crate) target: f64,
    /// The slope of the dual in c at the old one, of either sign.
    pub(crate) slope: f64,
    /// How far the slope points outward, where it does and so c stays at its bound, or at the corner of its tube.
    pub(crate) outward: Option<f64>,
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
            let (sign, margin) = match loss {
                RowLoss::OneClass => (1.0, 0.0),
                RowLoss::Ball => (1.0, target),
                _ => (target, 1.0),
            };
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
            // Where c would go without the tube, and how steep the dual is there; the tube takes ε of that.
            let pull = target - f + square * old;
            let shrunk = pull.signum() * (pull.abs() - width).max(0.0);
            let free = if curvature > 0.0 { shrunk / curvature } else { shrunk.signum() * f64::INFINITY };
            let new = if shrunk == 0.0 { 0.0 } else { free.clamp(-bound, bound) };
            // The slope that is nearest to 0 of those that the corner at 0 allows.
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
            let slope_at = |a: f64| target * f + square * (a - alpha) + (a / (cost - a)).ln();
            let slope = slope_at(alpha);
            let target_alpha = logistic_step(cost, square, alpha, slope_at);
            Step { target: target * target_alpha, slope, outward: None }
        }
    }
}

/// The root of a slope that rises from −∞ at 0 to ∞ at C, by Newton's steps that stay between the bounds.
fn logistic_step(cost: f64, square: f64, start: f64, slope_at: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, cost);
    let mut alpha = start.clamp(f64::MIN_POSITIVE, cost * (1.0 - 1e-15));
    for _ in 0..100 {
        let slope = slope_at(alpha);
        if slope > 0.0 {
            high = alpha;
        } else {
            low = alpha;
        }
        let curvature = square + cost / (alpha * (cost - alpha));
        let newton = alpha - slope / curvature;
        let next = if newton > low && newton < high {
            newton
        } else if newton <= low {
            // The root may be many powers of ten nearer to the end.
            if low > 0.0 { 0.5 * (low + alpha) } else { 0.1 * alpha }
        } else if high < cost {
            0.5 * (high + alpha)
        } else {
            cost - 0.1 * (cost - alpha)
        };
        if (next - alpha).abs() <= 1e-12 * alpha.min(cost - alpha) || next <= 0.0 || next >= cost {
            return alpha;
        }
        alpha = next;
    }
    alpha
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
}
