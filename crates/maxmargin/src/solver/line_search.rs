//! How far to go along a direction.

/// The minimiser t > 0 of the squared loss along a line, exactly
///
/// ```text
/// φ(t)  = t⟨w, d⟩ + t²/2 ⟨d, d⟩ + Σ_i C_i max(0, 1 − z_i − t δ_i)²
/// φ′(t) = ⟨w, d⟩ + t⟨d, d⟩ − 2 Σ_i C_i δ_i max(0, 1 − z_i − t δ_i)              (LN.1)
/// ```
///
/// with the margins `z_i = y_i f(x_i)` and their change `δ_i` for a step of 1. φ′ rises and is linear between the points
/// where a row's slack appears or vanishes: the two such points that φ′ changes sign between are found by bisection.
///
/// 1 when no row crosses its margin within a step of 1, as the direction is Newton's.
///
/// Cost: O(n log n).
pub(super) fn exact_step(along: f64, curvature: f64, margins: &[f64], changes: &[f64], costs: &[f64]) -> f64 {
    let rows = || margins.iter().zip(changes).zip(costs).map(|((&z, &change), &cost)| (z, change, cost));
    if rows().all(|(z, change, _)| (z < 1.0) == (z + change < 1.0)) {
        return 1.0;
    }
    let slope = |t: f64| {
        let rows: f64 = rows().map(|(z, change, cost)| 2.0 * cost * change * (1.0 - z - t * change).max(0.0)).sum();
        along + t * curvature - rows // (LN.1)
    };
    let mut corners: Vec<f64> =
        rows().map(|(z, change, _)| (1.0 - z) / change).filter(|&t| t > 0.0 && t.is_finite()).collect();
    corners.sort_unstable_by(f64::total_cmp);
    let place = corners.partition_point(|&t| slope(t) < 0.0);
    let low = if place == 0 { 0.0 } else { corners[place - 1] };
    let high = corners.get(place).copied();
    // Between two corners the set of rows with slack is that of the middle.
    let middle = high.map_or(2.0 * low + 1.0, |high| 0.5 * (low + high));
    let (mut constant, mut factor) = (along, curvature);
    for (z, change, cost) in rows().filter(|&(z, change, _)| z + middle * change < 1.0) {
        constant -= 2.0 * cost * change * (1.0 - z);
        factor += 2.0 * cost * change * change;
    }
    let root = -constant / factor;
    let step = root.clamp(low, high.unwrap_or(f64::MAX));
    if step > 0.0 && step.is_finite() {
        step
    } else if low > 0.0 {
        low
    } else {
        1.0
    }
}

/// A step t in (0, 1] at which a convex function φ is lower than at 0 and rises less steeply than it fell
///
/// ```text
/// φ′(t) ≤ 0,   or   φ′(t) ≤ ½ |φ′(0)|  and  φ(t) ≤ φ(0)                      (LN.2)
/// ```
///
/// found by halving from t = 1. `at(t)` is φ(t) and φ′(t). Slopes keep their digits near the minimum, where values have
/// none left: values may be off by 1e-13 of their size.
///
/// `None` when 60 halvings do not find one.
pub(super) fn slope_step(start: (f64, f64), mut at: impl FnMut(f64) -> (f64, f64)) -> Option<f64> {
    let (value_at_zero, slope_at_zero) = start;
    let enough = |(value, slope): (f64, f64)| {
        slope <= 0.0 || (slope <= 0.5 * slope_at_zero.abs() && value <= value_at_zero + 1e-13 * value_at_zero.abs())
    };
    (0..60).map(|halvings| 0.5f64.powi(halvings)).find(|&step| enough(at(step))) // (LN.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_step_has_no_slope_left() {
        let (margins, changes) = ([0.2, 0.9, 1.5, -0.3], [0.5, 3.0, -1.0, 2.0]);
        let costs = [1.0, 2.0, 0.5, 1.0];
        for (along, curvature) in [(-1.0, 0.5), (3.0, 4.0), (0.0, 0.01)] {
            let step = exact_step(along, curvature, &margins, &changes, &costs);
            let slope = |t: f64| {
                let part = |i: usize| 2.0 * costs[i] * changes[i] * (1.0 - margins[i] - t * changes[i]).max(0.0);
                along + t * curvature - (0..4).map(part).sum::<f64>()
            };
            assert!(step > 0.0 && slope(step).abs() < 1e-12, "{step} {}", slope(step));
        }
    }

    #[test]
    fn newtons_step_is_1_when_no_row_crosses_its_margin() {
        assert_eq!(exact_step(-3.0, 1.0, &[0.0, 2.0], &[0.5, 0.5], &[1.0, 1.0]), 1.0);
    }

    #[test]
    fn a_step_that_overshoots_is_halved() {
        // φ(t) = (t − 0.1)² has its minimum at 0.1
        let at = |t: f64| ((t - 0.1) * (t - 0.1), 2.0 * (t - 0.1));
        let step = slope_step(at(0.0), at).unwrap();
        assert!(at(step).0 <= at(0.0).0 && step < 0.2);
        assert_eq!(slope_step((0.0, -1.0), |_| (f64::NAN, f64::NAN)), None);
    }
}
