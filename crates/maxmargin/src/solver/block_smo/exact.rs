//! u in double precision, as far as it was computed, and the α that it is of.
//!
//! Between two checks few variables move, so that the second check costs their kernel rows (B.3) instead of those of all support
//! vectors.

/// By row. Nothing is known before the first check.
#[derive(Clone, Debug, Default)]
pub(super) struct Exact {
    /// α that the sums are of, by variable; empty when nothing is known.
    alpha: Vec<f64>,
    sums: Vec<Option<f64>>,
}

impl Exact {
    pub(super) fn is_known(&self, row: usize) -> bool {
        self.sum(row).is_some()
    }

    pub(super) fn sum(&self, row: usize) -> Option<f64> {
        self.sums.get(row).copied().flatten()
    }

    /// The rows that are known, increasing.
    pub(super) fn known(&self) -> Vec<usize> {
        (0..self.sums.len()).filter(|&row| self.is_known(row)).collect()
    }

    pub(super) fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Notes u of some rows, of the α of [`Exact::begin_at`].
    pub(super) fn note(&mut self, sums: impl Iterator<Item = (usize, f64)>) {
        sums.for_each(|(row, sum)| self.sums[row] = Some(sum));
    }

    /// Adds to u of all known rows: what (B.3) says, in the order of [`Exact::known`].
    pub(super) fn add(&mut self, amounts: impl Iterator<Item = f64>) {
        self.sums.iter_mut().flatten().zip(amounts).for_each(|(sum, amount)| *sum += amount);
    }

    /// What is noted from now on is of this α, and so is what is known.
    pub(super) fn begin_at(&mut self, alpha: &[f64], rows: usize) {
        self.alpha = alpha.to_vec();
        self.sums.resize(rows, None);
    }

    pub(super) fn forget(&mut self) {
        self.sums.clear();
    }
}
