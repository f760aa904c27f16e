//! A bound on the rounding error of a gradient that is updated many times.

/// Updates between two looks at the gradient's true size.
const LOOK_EVERY: u64 = 64;

/// A bound on the rounding error that updates `g_k += d K_ik` may have left in each component of a gradient.
///
/// ```text
/// |error| ≤ ε Σ_updates (|d| √(K_ii max_k K_kk) + max_k |g_k|)                     (D.7)
/// ```
///
/// because each addition rounds by half a unit in the last place of what it adds and of the sum, at most, and
/// `|K_ik| ≤ √(K_ii K_kk)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift {
    error: f64,
    /// At least the largest |g_k|.
    size: f64,
    updates: u64,
    /// √ of the largest diagonal entry.
    reach: f64,
}

impl Drift {
    /// No error yet. `diagonal` is that of Q.
    pub(super) fn new(diagonal: &[f64], gradient: &[f64]) -> Self {
        let reach = diagonal.iter().copied().fold(0.0, f64::max).sqrt();
        Drift { error: 0.0, size: largest(gradient), updates: 0, reach }
    }

    /// The gradient has been computed anew.
    pub(super) fn renew(&mut self, gradient: &[f64]) {
        (self.error, self.size, self.updates) = (0.0, largest(gradient), 0);
    }

    /// The most that a move by `delta` of a variable with this diagonal entry adds to a component of the gradient.
    pub(super) fn change(&self, delta: f64, diagonal: f64) -> f64 {
        delta.abs() * diagonal.max(0.0).sqrt() * self.reach
    }

    /// A variable with this diagonal entry has moved by `delta`, and the gradient with it.
    pub(super) fn add(&mut self, delta: f64, diagonal: f64, gradient: &[f64]) {
        let added = self.change(delta, diagonal);
        self.updates = self.updates.saturating_add(1);
        self.size = if self.updates.is_multiple_of(LOOK_EVERY) { largest(gradient) } else { self.size + added };
        self.error += f64::EPSILON * (added + self.size); // (D.7)
    }

    /// The error, the size and the number of updates since the gradient was computed from scratch.
    pub(super) fn gathered(&self) -> (f64, f64, u64) {
        (self.error, self.size, self.updates)
    }

    /// Puts back the numbers of a snapshot. Numbers that are no bound come from a foreign file; then the error counts as unknown, and the
    /// gradient is computed from scratch.
    pub(super) fn restore(&mut self, (error, size, updates): (f64, f64, u64)) {
        let bound = |number: f64| if number >= 0.0 { number } else { f64::INFINITY };
        (self.error, self.size, self.updates) = (bound(error), bound(size), updates);
    }

    /// The bound (D.7).
    pub(super) fn error(&self) -> f64 {
        self.error
    }
}

fn largest(gradient: &[f64]) -> f64 {
    gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_checkpoint_overflows_no_count_and_hides_no_error() {
        for updates in [u64::MAX, u64::MAX - 1, u64::from(u32::MAX), 1 << 32] {
            let mut drift = Drift::new(&[1.0], &[1.0]);
            drift.restore((0.5, 2.0, updates));
            (0..3).for_each(|_| drift.add(0.1, 1.0, &[1.0]));
            assert_eq!(drift.gathered().2, updates.saturating_add(3));
            assert!(drift.error() >= 0.5);
        }
        for forged in [-1.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY] {
            let mut drift = Drift::new(&[1.0], &[1.0]);
            drift.restore((forged, forged, 0));
            drift.add(0.1, 1.0, &[1.0]);
            assert_eq!(drift.error(), f64::INFINITY, "{forged}");
        }
    }

    #[test]
    fn the_bound_covers_rows_that_are_larger_than_those_that_move() {
        // Row 0 is small and moves, row 1 is large: its component rounds in units of 1e16 · 2⁻⁵².
        let (diagonal, off) = ([1.0, 1e32], 1e16);
        let mut gradient = [-1.0, -1.0];
        let mut drift = Drift::new(&diagonal, &gradient);
        for _ in 0..200 {
            for step in [0.1, -0.1] {
                gradient[0] += step * diagonal[0];
                gradient[1] += step * off;
                drift.add(step, diagonal[0], &gradient);
            }
        }
        assert!((gradient[1] + 1.0).abs() <= drift.error(), "{} {}", gradient[1], drift.error());
        assert!(drift.error() > 1.0, "{}", drift.error());
        drift.renew(&[-1.0, -1.0]);
        assert_eq!(drift.error(), 0.0);
    }
}
