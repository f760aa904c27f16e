//! How well rows of a stream are predicted.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The rows, about, that count as recent.
pub const WINDOW_ROWS: u64 = 16 * BUCKET_ROWS;
/// Rows that are forgotten at a time.
const BUCKET_ROWS: u64 = 1024;
const BUCKETS: usize = 16;

/// Rows predicted: how many, how many of them wrongly, and the sum of their losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Estimate {
    /// Rows predicted.
    pub rows: u64,
    /// Rows predicted wrongly.
    pub errors: u64,
    /// The sum of their losses, of all machines together.
    pub loss: f64,
}

impl Estimate {
    /// The share of rows predicted wrongly; NaN without rows.
    pub fn error_rate(&self) -> f64 {
        self.errors as f64 / self.rows as f64
    }

    /// The mean loss of a row; NaN without rows.
    pub fn mean_loss(&self) -> f64 {
        self.loss / self.rows as f64
    }

    pub(super) fn add(&mut self, wrong: bool, loss: f64) {
        self.rows += 1;
        self.errors += u64::from(wrong);
        // Finite, so that it can be saved.
        self.loss = (self.loss + loss).min(f64::MAX);
    }

    fn plus(self, other: Estimate) -> Estimate {
        Estimate { rows: self.rows + other.rows, errors: self.errors + other.errors, loss: self.loss + other.loss }
    }
}

/// An estimate over all rows, and over the recent ones, which are kept in a few buckets.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct Window {
    all: Estimate,
    /// The oldest first; all but the last are full.
    heaps: Vec<Estimate>,
}

impl Window {
    pub(super) fn add(&mut self, wrong: bool, loss: f64) {
        self.all.add(wrong, loss);
        if self.heaps.last().is_none_or(|heap| heap.rows >= BUCKET_ROWS) {
            if self.heaps.len() > BUCKETS {
                self.heaps.remove(0);
            }
            self.heaps.push(Estimate::default());
        }
        if let Some(heap) = self.heaps.last_mut() {
            heap.add(wrong, loss);
        }
    }

    pub(super) fn all(&self) -> Estimate {
        self.all
    }

    pub(super) fn recent(&self) -> Estimate {
        self.heaps.iter().fold(Estimate::default(), |sum, &heap| sum.plus(heap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_forgets_what_is_old_and_all_does_not() {
        let mut window = Window::default();
        (0..50_000).for_each(|row| window.add(row < 30_000, 1.0));
        assert_eq!((window.all().rows, window.all().errors), (50_000, 30_000));
        let recent = window.recent();
        assert!((WINDOW_ROWS..=WINDOW_ROWS + BUCKET_ROWS).contains(&recent.rows), "{}", recent.rows);
        assert_eq!((recent.errors, recent.mean_loss()), (0, 1.0));
    }
}
