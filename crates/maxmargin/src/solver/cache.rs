//! Kernel rows that were computed before, kept while the budget lasts.

use crate::problem::DualProblem;

const NONE: u32 = u32::MAX;

/// The most rows of a problem whose kernel values are all computed at once: one or two steps need that many anyway.
const WHOLE_ROWS: usize = 16;

/// Rows of a kernel matrix, the least recently used given up first.
///
/// It always has room for two rows, because a step needs two at once; [`RowCache::bytes`] says what that costs.
pub(super) struct RowCache {
    width: usize,
    /// Small problems: all rows, one after the other, computed when the first is asked for.
    whole: Option<Vec<f64>>,
    capacity: usize,
    /// The rows held; a slot keeps its memory when its row is replaced.
    slots: Vec<Slot>,
    /// For each row its slot, or `NONE`.
    slot_of: Vec<u32>,
    newest: u32,
    oldest: u32,
}

struct Slot {
    row: u32,
    newer: u32,
    older: u32,
    values: Box<[f64]>,
}

impl RowCache {
    /// Bytes of two rows of `width` values, the least that a solver needs.
    pub(super) fn bytes(width: usize) -> u64 {
        2 * 8 * width as u64 + 4 * width as u64
    }

    /// A cache for rows of `width` values that takes at most `memory` bytes, or as much as two rows need.
    pub(super) fn new(width: usize, memory: u64) -> Self {
        let fitting = memory / (8 * width.max(1) as u64);
        let capacity = (fitting.min(width as u64) as usize).clamp(2, NONE as usize - 1);
        let whole = (width <= WHOLE_ROWS && capacity >= width).then(Vec::new);
        let slot_of = if whole.is_some() { Vec::new() } else { vec![NONE; width] };
        RowCache { width, whole, capacity, slots: Vec::new(), slot_of, newest: NONE, oldest: NONE }
    }

    /// All rows, where the problem is so small that they are kept as a whole.
    fn whole(&mut self, problem: &DualProblem<'_>) -> Option<&[f64]> {
        let (width, whole) = (self.width, self.whole.as_mut()?);
        if whole.is_empty() {
            whole.resize(width * width, 0.0);
            whole.chunks_mut(width).enumerate().for_each(|(i, row)| problem.kernel_row(i, row));
        }
        Some(whole)
    }

    /// Kernel row `i`.
    pub(super) fn row(&mut self, problem: &DualProblem<'_>, i: usize) -> &[f64] {
        if self.whole.is_some() {
            let width = self.width;
            return &self.whole(problem).unwrap_or_default()[i * width..(i + 1) * width];
        }
        let slot = self.fetch(problem, i);
        &self.slots[slot].values
    }

    /// Kernel rows `i` and `j`.
    pub(super) fn pair(&mut self, problem: &DualProblem<'_>, i: usize, j: usize) -> (&[f64], &[f64]) {
        if self.whole.is_some() {
            let width = self.width;
            let all = self.whole(problem).unwrap_or_default();
            return (&all[i * width..(i + 1) * width], &all[j * width..(j + 1) * width]);
        }
        let first = self.fetch(problem, i);
        // The newest row is never the one given up, so `first` stays where it is.
        let second = self.fetch(problem, j);
        (&self.slots[first].values, &self.slots[second].values)
    }

    fn fetch(&mut self, problem: &DualProblem<'_>, i: usize) -> usize {
        let mut slot = self.slot_of[i];
        if slot == NONE {
            slot = self.free_slot();
            problem.kernel_row(i, &mut self.slots[slot as usize].values);
            self.slots[slot as usize].row = i as u32;
            self.slot_of[i] = slot;
        } else {
            self.unlink(slot);
        }
        self.link_newest(slot);
        slot as usize
    }

    /// A slot outside of the list: a new one while there is room, else the oldest.
    fn free_slot(&mut self) -> u32 {
        if self.slots.len() < self.capacity {
            let values = vec![0.0; self.width].into_boxed_slice();
            self.slots.push(Slot { row: NONE, newer: NONE, older: NONE, values });
            return self.slots.len() as u32 - 1;
        }
        let slot = self.oldest;
        self.unlink(slot);
        self.slot_of[self.slots[slot as usize].row as usize] = NONE;
        slot
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let before = self.newest;
        self.slots[slot as usize].newer = NONE;
        self.slots[slot as usize].older = before;
        match before {
            NONE => self.oldest = slot,
            before => self.slots[before as usize].newer = slot,
        }
        self.newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Gram, KernelFunction, Linear, Points};
    use crate::problem::{Coupling, DualParts};
    use crate::workers::Workers;

    #[test]
    fn rows_are_right_whatever_was_given_up_before() {
        let points = Points::new(Matrix::dense(5, 1, vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap(), false);
        let (kernel, workers) = (KernelFunction::Linear(Linear {}), Workers::none());
        let gram = Gram::new(&kernel, &points, &workers);
        let ones = vec![1.0; 5];
        let problem = DualProblem::new(DualParts {
            gram,
            rows: (0..5).collect(),
            signs: ones.clone(),
            linear: ones.clone(),
            upper: ones,
            ridge: vec![0.0; 5],
            coupling: Coupling::None,
            start: vec![0.0; 5],
        })
        .unwrap();
        let mut cache = RowCache::new(5, 0);
        assert_eq!(cache.capacity, 2);
        let mut whole = RowCache::new(5, 1 << 20);
        for (i, j) in [(0, 1), (1, 2), (4, 4), (2, 0), (3, 1), (1, 3), (0, 0)] {
            let expected = |row: usize| (1..=5).map(|z| (row as f64 + 1.0) * f64::from(z)).collect::<Vec<_>>();
            let (first, second) = cache.pair(&problem, i, j);
            assert_eq!((first, second), (&expected(i)[..], &expected(j)[..]), "rows {i} and {j}");
            assert_eq!(whole.pair(&problem, i, j), (&expected(i)[..], &expected(j)[..]), "rows {i} and {j}");
            assert_eq!(whole.row(&problem, j), &expected(j)[..]);
        }
        assert_eq!((cache.slots.len(), whole.slots.len()), (2, 0));
    }
}
