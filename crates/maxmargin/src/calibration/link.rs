//! The fit of a calibration to decision values of rows that were left out.

use crate::certificate::joint::softmax;
use crate::model::{Calibration, MARKS, sigmoid};
use crate::problem::Loss;

/// A row that was left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) value: f64,
    pub(super) positive: bool,
    pub(super) weight: f64,
}

/// The targets that keep probabilities off 0 and 1
///
/// ```text
/// t₊ = (N₊ + 1)/(N₊ + 2),   t₋ = 1/(N₋ + 2)                                             (PR.6)
/// ```
fn targets(rows: &[Row]) -> [f64; 2] {
    let count =
        |positive: bool| -> f64 { rows.iter().filter(|row| row.positive == positive).map(|row| row.weight).sum() };
    let (above, below) = (count(true), count(false));
    [1.0 / (below + 2.0), (above + 1.0) / (above + 2.0)]
}

/// The slopes of (PR.1) by maximal likelihood, with targets of (PR.6)
///
/// ```text
/// min over s ≥ 0 of Σ w_i [log(1 + exp z_i) − t_i z_i] + ½ (s₁ − s₂)² + ½ (s₃ − s₄)²              (PR.7)
/// ```
///
/// The last terms hold a slope to its neighbour where no rows say otherwise. Rows above 0 and rows below do not know of each other: two
/// problems of two variables, each convex, by Newton's method within the bounds. A side without rows has the slopes of the other.
pub(super) fn slopes(rows: &[Row]) -> Calibration {
    let targets = targets(rows);
    let side = |sign: f64| {
        let own = rows.iter().filter(|row| sign * row.value > 0.0);
        // Turned to the positive side: z → −z, t → 1 − t.
        let turned = |row: &Row| {
            let size = row.value.abs();
            let target = targets[usize::from(row.positive)];
            let target = if sign > 0.0 { target } else { 1.0 - target };
            Sided { near: size.min(1.0), far: (size - 1.0).max(0.0), target, weight: row.weight }
        };
        let own: Vec<Sided> = own.map(turned).collect();
        (!own.is_empty()).then(|| two_slopes(&own))
    };
    let (above, below) = (side(1.0), side(-1.0));
    let [near, far] = above.or(below).unwrap_or([1.0, 1.0]);
    let [near_below, far_below] = below.unwrap_or([near, far]);
    Calibration::Slopes([far_below, near_below, near, far])
}

/// A row of one side: z = near · s_near + far · s_far.
struct Sided {
    near: f64,
    far: f64,
    target: f64,
    weight: f64,
}

/// Most steps of a Newton method here; it needs about ten.
const STEPS: usize = 200;

/// The slopes of one side, near and far.
fn two_slopes(rows: &[Sided]) -> [f64; 2] {
    let objective = |s: [f64; 2]| -> f64 {
        let of_row = |row: &Sided| {
            let z = row.near * s[0] + row.far * s[1];
            row.weight * (Loss::Logistic.value(-z) - row.target * z) // (PR.7)
        };
        rows.iter().map(of_row).sum::<f64>() + 0.5 * (s[0] - s[1]) * (s[0] - s[1])
    };
    let mut s = [1.0, 1.0];
    for _ in 0..STEPS {
        let difference = s[0] - s[1];
        let mut gradient = [difference, -difference];
        let mut hessian = [1.0, -1.0, 1.0];
        for row in rows {
            let p = sigmoid(row.near * s[0] + row.far * s[1]);
            let (slope, curvature) = (row.weight * (p - row.target), row.weight * p * (1.0 - p));
            gradient[0] += slope * row.near;
            gradient[1] += slope * row.far;
            hessian[0] += curvature * row.near * row.near;
            hessian[1] += curvature * row.near * row.far;
            hessian[2] += curvature * row.far * row.far;
        }
        let free = [0, 1].map(|k| s[k] > 0.0 || gradient[k] < 0.0);
        let [a, b, c] = hessian;
        let determinant = a * c - b * b;
        let step = match free {
            [true, true] if determinant > 1e-12 * a * c => {
                [(b * gradient[1] - c * gradient[0]) / determinant, (b * gradient[0] - a * gradient[1]) / determinant]
            }
            [first, second] => [
                if first { -gradient[0] / a.max(1e-12) } else { 0.0 },
                if second { -gradient[1] / c.max(1e-12) } else { 0.0 },
            ],
        };
        let start = objective(s);
        let tried = |t: f64| [0, 1].map(|k| (s[k] + t * step[k]).max(0.0));
        let lower = |t: &f64| objective(tried(*t)) <= start;
        let Some(t) = std::iter::successors(Some(1.0), |t| Some(0.5 * t)).take(50).find(lower) else { break };
        let next = tried(t);
        let moved = (next[0] - s[0]).abs().max((next[1] - s[1]).abs());
        s = next;
        if moved <= 1e-10 * (1.0 + s[0].max(s[1])) {
            break;
        }
    }
    s
}

/// Platt's sigmoid (PR.2) by maximal likelihood, with targets of (PR.6): Newton's method with halved steps.
///
/// # References
/// Platt 1999; Lin, Lin, Weng 2007, A note on Platt's probabilistic outputs for support vector machines.
pub(super) fn platt(rows: &[Row]) -> Calibration {
    let targets = targets(rows);
    let target = |row: &Row| targets[usize::from(row.positive)];
    let objective = |[a, b]: [f64; 2]| -> f64 {
        let of_row = |row: &Row| {
            let z = a * row.value + b;
            row.weight * (Loss::Logistic.value(-z) - target(row) * z)
        };
        rows.iter().map(of_row).sum()
    };
    // It begins at the share of each class, whatever the decision value.
    let count =
        |positive: bool| -> f64 { rows.iter().filter(|row| row.positive == positive).map(|row| row.weight).sum() };
    let mut point = [0.0, ((count(true) + 1.0) / (count(false) + 1.0)).ln()];
    let mut value = objective(point);
    for _ in 0..STEPS {
        let mut gradient = [0.0, 0.0];
        let mut hessian = [1e-12, 0.0, 1e-12];
        for row in rows {
            let p = sigmoid(point[0] * row.value + point[1]);
            let (slope, curvature) = (row.weight * (p - target(row)), row.weight * p * (1.0 - p));
            gradient[0] += slope * row.value;
            gradient[1] += slope;
            hessian[0] += curvature * row.value * row.value;
            hessian[1] += curvature * row.value;
            hessian[2] += curvature;
        }
        if gradient[0].abs() < 1e-5 && gradient[1].abs() < 1e-5 {
            break;
        }
        let [a, b, c] = hessian;
        let determinant = a * c - b * b;
        let step =
            [(b * gradient[1] - c * gradient[0]) / determinant, (b * gradient[0] - a * gradient[1]) / determinant];
        let along = gradient[0] * step[0] + gradient[1] * step[1];
        let tried = |t: f64| [point[0] + t * step[0], point[1] + t * step[1]];
        let enough = |t: &f64| objective(tried(*t)) < value + 1e-4 * t * along;
        let Some(t) = std::iter::successors(Some(1.0), |t| Some(0.5 * t)).take_while(|&t| t >= 1e-10).find(enough)
        else {
            break;
        };
        point = tried(t);
        value = objective(point);
    }
    let [slope, offset] = point.map(|number| if number.is_finite() { number } else { 0.0 });
    Calibration::Sigmoid { slope, offset }
}

/// The factor a on all decision values with which classes trained together are likeliest: `p_k = exp(a f_k) / Σ_l exp(a f_l)`.
pub(super) fn temperature(rows: &[(&[f64], usize, f64)]) -> f64 {
    let mut p = Vec::new();
    let mut slope = 1.0;
    // −log p is convex in a; its slope is Σ w (E[f] − f_own), its curvature Σ w Var[f].
    let mut at = |a: f64| {
        let (mut gradient, mut curvature) = (1e-3 * a, 1e-3);
        for &(values, own, weight) in rows {
            p.clear();
            p.extend(values.iter().map(|value| a * value));
            softmax(&mut p, values.len());
            let mean: f64 = p.iter().zip(values).map(|(p, value)| p * value).sum();
            let square: f64 = p.iter().zip(values).map(|(p, value)| p * (value - mean) * (value - mean)).sum();
            gradient += weight * (mean - values[own]);
            curvature += weight * square;
        }
        (gradient, curvature)
    };
    // Newton's steps, kept between the points that the slope has been seen to fall and to rise at.
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..STEPS {
        let (gradient, curvature) = at(slope);
        if gradient > 0.0 {
            high = slope
        } else {
            low = slope
        }
        let newton = slope - gradient / curvature;
        let middle = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * slope };
        let next = if newton > low && newton < high { newton } else { middle };
        if (next - slope).abs() <= 1e-10 * slope {
            break;
        }
        slope = next;
    }
    slope
}

/// Residuals so many standard deviations off do not count for the noise.
pub const NOISE_OUTLIERS: f64 = 5.0;

/// The mean size of residuals with their weights, without those that lie too far off
///
/// ```text
/// m = mean |z|,   scale = mean of those |z| ≤ 5 · √2 m                                                     (PR.8)
/// ```
pub(super) fn noise(residuals: &[(f64, f64)]) -> f64 {
    let mean = |most: f64| {
        let kept = residuals.iter().filter(|(z, _)| z.abs() <= most);
        let (sum, count) = kept.fold((0.0, 0.0), |(sum, count), (z, weight)| (sum + weight * z.abs(), count + weight));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    let all = mean(f64::INFINITY);
    mean(NOISE_OUTLIERS * std::f64::consts::SQRT_2 * all)
}

/// Ten marks of the decision values of one class: five parts of equal size of those below 0, five of the others, each marked at the middle
/// of its ends. `None` where one side has fewer than five rows.
pub(super) fn marks(values: &mut [f64]) -> Option<Vec<f64>> {
    values.sort_unstable_by(f64::total_cmp);
    let below = values.partition_point(|&value| value < 0.0);
    let (half, above) = (MARKS / 2, values.len() - below);
    if below < half || above < half {
        return None;
    }
    let end = |i: usize| match i {
        i if i < half => values[i * below / half],
        i if i == half => 0.0,
        i => values[below + (i - half) * above / half - 1],
    };
    Some((0..MARKS).map(|i| 0.5 * (end(i) + end(i + 1))).collect())
}
