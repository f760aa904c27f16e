//! The u that have been computed in double precision, and the α they were computed from.
//!
//! Between two checks few variables move, so the second check needs the kernel rows of these alone (B.3).

/// u in double precision for some rows. Empty before the first check.
#[derive(Clone, Debug, Default)]
pub(super) struct PreciseSums {
    /// The α that the sums were computed from; empty when no sum is known.
    alpha: Vec<f64>,
    sums: Vec<Option<f64>>,
}

impl PreciseSums {
    pub(super) fn is_known(&self, row: usize) -> bool {
        self.sum(row).is_some()
    }

    pub(super) fn sum(&self, row: usize) -> Option<f64> {
        self.sums.get(row).copied().flatten()
    }

    /// The rows whose u is known, increasing.
    pub(super) fn known(&self) -> Vec<usize> {
        (0..self.sums.len()).filter(|&row| self.is_known(row)).collect()
    }

    pub(super) fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Stores u of some rows, computed from the α of [`PreciseSums::begin_at`].
    pub(super) fn note(&mut self, sums: impl Iterator<Item = (usize, f64)>) {
        sums.for_each(|(row, sum)| self.sums[row] = Some(sum));
    }

    /// Adds an amount of (B.3) to u of each known row, in the order of [`PreciseSums::known`].
    pub(super) fn add(&mut self, amounts: impl Iterator<Item = f64>) {
        self.sums.iter_mut().flatten().zip(amounts).for_each(|(sum, amount)| *sum += amount);
    }

    /// Says that all known sums, and those stored from now on, are those of this α.
    pub(super) fn begin_at(&mut self, alpha: &[f64], rows: usize) {
        self.alpha = alpha.to_vec();
        self.sums.resize(rows, None);
    }

    pub(super) fn forget(&mut self) {
        self.sums.clear();
    }
}
