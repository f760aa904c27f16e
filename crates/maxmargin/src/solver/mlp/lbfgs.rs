//! Descent with a memory of the last steps.
//!
//! The direction is `−Hg`, where H turns the last changes of the gradient into the steps that made them, by two loops over these:
//! ```text
//! ρ_k = 1/⟨y_k, s_k⟩,   H ← (I − ρ s y′) H (I − ρ y s′) + ρ s s′,   H_0 = ⟨s, y⟩/⟨y, y⟩ I           (ML.4)
//! ```
//! The step t is found by doubling and halving until F falls enough and its slope has risen
//! ```text
//! F(t) ≤ F(0) + 1e-4 t F′(0),   F′(t) ≥ 0.9 F′(0)                                                   (ML.5)
//! ```
//!
//! Reference: D. C. Liu and J. Nocedal, On the limited memory BFGS method for large scale optimization, Mathematical Programming 45,
//! 1989; A. S. Lewis and M. L. Overton, Nonsmooth optimization via quasi-Newton methods, Mathematical Programming 141, 2013.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::super::dot;
use crate::control::Stop;

/// Steps that are remembered.
pub(super) const HISTORY: usize = 10;
/// Tries to find a step.
const MOST_TRIES: u32 = 60;
/// Steps without a lower value before the search gives up.
const PATIENCE: u32 = 10;
/// What a value may be off by, relative to it.
const ROUNDING: f64 = 1e-14;

/// F and its gradient at a point. Also told: the steps so far, and the largest component of the gradient at the last one.
pub(super) type Evaluate<'a> = dyn FnMut(&[f64], u64, Option<f64>) -> Looked + 'a;

/// F and its gradient, unless the caller breaks.
pub(super) type Looked = ControlFlow<Stop, (f64, Vec<f64>)>;

/// Where a descent is.
#[derive(Clone, Debug)]
pub(super) struct Descent {
    pub(super) point: Vec<f64>,
    /// Infinite before the first look.
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) steps: u64,
}

impl Descent {
    pub(super) fn new(point: Vec<f64>) -> Self {
        Descent { point, value: f64::INFINITY, gradient: Vec::new(), steps: 0 }
    }

    /// The largest component of the gradient.
    pub(super) fn largest(&self) -> f64 {
        self.gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
    }
}

/// A step, the change of the gradient along it, and ρ of (ML.4).
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    rho: f64,
}

/// Descends until the gradient is small, relative to the value. What was reached is in `descent` also when the evaluation breaks.
pub(super) fn descend(
    descent: &mut Descent,
    limit: u64,
    tolerance: f64,
    evaluate: &mut Evaluate<'_>,
) -> ControlFlow<Stop, Stop> {
    (descent.value, descent.gradient) = evaluate(&descent.point, 0, None)?;
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    let mut idle = 0;
    loop {
        let largest = descent.largest();
        if !(descent.value.is_finite() && descent.gradient.iter().all(|value| value.is_finite())) {
            return ControlFlow::Continue(Stop::Stalled);
        }
        if largest <= tolerance * descent.value.max(1.0) {
            return ControlFlow::Continue(Stop::Converged);
        }
        if descent.steps >= limit {
            return ControlFlow::Continue(Stop::IterationLimit);
        }
        let mut direction = direction(&descent.gradient, &pairs);
        let mut slope = dot(&direction, &descent.gradient);
        if !(slope < 0.0 && slope.is_finite()) {
            pairs.clear();
            direction = descent.gradient.iter().map(|value| -value).collect();
            slope = dot(&direction, &descent.gradient);
        }
        // The first step has no memory of the scale: it is as long as 1 at most.
        let first = if pairs.is_empty() { 1.0 / (-slope).sqrt().max(1.0) } else { 1.0 };
        let mut look = |at: &[f64]| evaluate(at, descent.steps, Some(largest));
        let Some((point, value, gradient)) = search(descent, &direction, slope, first, &mut look)? else {
            if pairs.is_empty() {
                return ControlFlow::Continue(Stop::Stalled);
            }
            pairs.clear();
            continue;
        };
        let step: Vec<f64> = point.iter().zip(&descent.point).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = gradient.iter().zip(&descent.gradient).map(|(new, old)| new - old).collect();
        let product = dot(&step, &change);
        if product > 1e-12 * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if pairs.len() == HISTORY {
                pairs.pop_front();
            }
            pairs.push_back(Pair { rho: 1.0 / product, step, change });
        }
        idle = if value < descent.value { 0 } else { idle + 1 };
        (descent.point, descent.value, descent.gradient) = (point, value, gradient);
        descent.steps += 1;
        if idle >= PATIENCE {
            return ControlFlow::Continue(Stop::Stalled);
        }
    }
}

/// −Hg of (ML.4)
fn direction(gradient: &[f64], pairs: &VecDeque<Pair>) -> Vec<f64> {
    let mut vector: Vec<f64> = gradient.iter().map(|value| -value).collect();
    let add = |vector: &mut [f64], scale: f64, other: &[f64]| {
        vector.iter_mut().zip(other).for_each(|(value, other)| *value += scale * other);
    };
    let mut factors = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let factor = pair.rho * dot(&pair.step, &vector);
        add(&mut vector, -factor, &pair.change);
        factors.push(factor);
    }
    if let Some(last) = pairs.back() {
        let scale = 1.0 / (last.rho * dot(&last.change, &last.change));
        vector.iter_mut().for_each(|value| *value *= scale);
    }
    for (pair, factor) in pairs.iter().zip(factors.into_iter().rev()) {
        let back = pair.rho * dot(&pair.change, &vector);
        add(&mut vector, factor - back, &pair.step);
    }
    vector
}

/// A point, its value and its gradient.
type Place = (Vec<f64>, f64, Vec<f64>);

/// A step of (ML.5); the longest that falls enough where none has risen; `None` where none falls.
fn search(
    from: &Descent,
    direction: &[f64],
    slope: f64,
    first: f64,
    look: &mut dyn FnMut(&[f64]) -> Looked,
) -> ControlFlow<Stop, Option<Place>> {
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, first);
    let mut fallen: Option<Place> = None;
    for _ in 0..MOST_TRIES {
        let point: Vec<f64> = from.point.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        let (value, gradient) = look(&point)?;
        let rise = dot(&gradient, direction);
        // Written so that what is not a number has not fallen.
        let falls = value <= from.value + 1e-4 * step * slope + ROUNDING * from.value.abs();
        if !(falls && rise.is_finite()) {
            high = step;
        } else {
            let enough = rise >= 0.9 * slope; // (ML.5)
            fallen = Some((point, value, gradient));
            if enough {
                break;
            }
            low = step;
        }
        step = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low };
        if !(step.is_finite() && step > low && step < high) {
            break;
        }
    }
    ControlFlow::Continue(fallen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley in pairs of variables, its minimum at (1, 1, …).
    fn valley(x: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; x.len()];
        let mut value = 0.0;
        for k in (0..x.len()).step_by(2) {
            let (a, b) = (1.0 - x[k], x[k + 1] - x[k] * x[k]);
            value += a * a + 100.0 * b * b;
            gradient[k] = -2.0 * a - 400.0 * b * x[k];
            gradient[k + 1] = 200.0 * b;
        }
        (value, gradient)
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        let mut descent = Descent::new([-1.2, 1.0].repeat(5));
        let found = descend(&mut descent, 500, 1e-9, &mut |at, _, _| ControlFlow::Continue(valley(at)));
        assert_eq!(found, ControlFlow::Continue(Stop::Converged));
        assert!(descent.point.iter().all(|x| (x - 1.0).abs() < 1e-7), "{:?}", descent.point);
        assert!(descent.steps < 200, "{}", descent.steps);
    }

    #[test]
    fn values_never_rise_and_a_break_leaves_the_last_of_them() {
        let mut descent = Descent::new(vec![-1.2, 1.0]);
        let mut looks = 0;
        let found = descend(&mut descent, 500, 1e-9, &mut |at, _, _| {
            looks += 1;
            if looks > 15 { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(valley(at)) }
        });
        assert_eq!(found, ControlFlow::Break(Stop::Interrupted));
        assert!(descent.value < valley(&[-1.2, 1.0]).0 && descent.value == valley(&descent.point).0);
    }

    #[test]
    fn what_has_no_minimum_or_is_not_a_number_ends() {
        let mut descent = Descent::new(vec![1.0]);
        let found = descend(&mut descent, 50, 1e-9, &mut |at, _, _| ControlFlow::Continue((-at[0], vec![-1.0])));
        assert!(found.is_continue() && descent.point[0].is_finite());
        let mut descent = Descent::new(vec![1.0]);
        let found = descend(&mut descent, 50, 1e-9, &mut |_, _, _| ControlFlow::Continue((f64::NAN, vec![f64::NAN])));
        assert_eq!(found, ControlFlow::Continue(Stop::Stalled));
    }
}
