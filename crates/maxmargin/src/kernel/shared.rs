//! Kernel values that several machines of a training need, computed once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Kernel, Points, Tiles};
use crate::simd::Real;

/// Arithmetic from which on a value is cheaper to look up than to compute.
const DEAR: f64 = 32.0;

/// For each row its kernel values with all rows of its group, once some machine has computed them.
///
/// With one machine a pair of classes, a row meets its own class in all machines of that class: the classes are the groups.
/// With one machine a class, all machines have all rows: there is one group. What does not fit into the budget is computed
/// by each machine for itself. A value is the same either way, so nobody can tell.
#[derive(Debug)]
pub struct SharedRows {
    /// The group of each row, and its place among the group's members.
    group: Vec<u32>,
    position: Vec<u32>,
    members: Vec<Vec<u32>>,
    single: Segments<f32>,
    double: Segments<f64>,
    /// Bytes left.
    left: AtomicU64,
}

/// Values of one precision, by row.
#[derive(Debug)]
pub(crate) struct Segments<T> {
    rows: Vec<OnceLock<Box<[T]>>>,
}

impl SharedRows {
    /// Nothing computed yet; `groups` has the group of each row, from 0 on.
    pub fn new(groups: &[u32], budget: u64) -> Self {
        let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members = vec![Vec::new(); count];
        let mut position = Vec::with_capacity(groups.len());
        for (row, &group) in groups.iter().enumerate() {
            position.push(members[group as usize].len() as u32);
            members[group as usize].push(row as u32);
        }
        let (single, double) = (Segments::new(groups.len()), Segments::new(groups.len()));
        SharedRows { group: groups.to_vec(), position, members, single, double, left: AtomicU64::new(budget) }
    }

    /// Whether values of this kernel are dear enough to be kept for others.
    pub fn pays(kernel: &dyn Kernel, points: &Points) -> bool {
        Tiles::<f32>::new(kernel, points).cost() >= DEAR
    }

    /// The group of a row.
    pub(crate) fn group(&self, row: usize) -> u32 {
        self.group[row]
    }

    /// Where a row is among its group's members.
    pub(crate) fn position(&self, row: usize) -> u32 {
        self.position[row]
    }

    /// How many rows a row's group has.
    pub(crate) fn size(&self, row: usize) -> usize {
        self.members[self.group[row] as usize].len()
    }

    /// A row's values with its group's members, if they are there.
    pub(crate) fn segment<T: Real>(&self, row: usize) -> Option<&[T]> {
        T::segments(self).rows[row].get().map(|values| &values[..])
    }

    /// Takes the values of a row with its group's members from a machine that has computed them, while the budget lasts.
    /// `fill` writes them in the order of the members.
    pub(crate) fn offer<T: Real>(&self, row: usize, fill: impl FnOnce(&mut [T])) {
        let (place, count) = (&T::segments(self).rows[row], self.size(row));
        let bytes = (count * size_of::<T>()) as u64;
        let reserve = |left: u64| left.checked_sub(bytes);
        if place.get().is_some() || self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve).is_err() {
            return;
        }
        let mut values = vec![T::default(); count].into_boxed_slice();
        fill(&mut values);
        // Another machine may have been first, with the same values.
        if place.set(values).is_err() {
            self.left.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn single(&self) -> &Segments<f32> {
        &self.single
    }

    pub(crate) fn double(&self) -> &Segments<f64> {
        &self.double
    }
}

impl<T> Segments<T> {
    fn new(rows: usize) -> Self {
        Segments { rows: (0..rows).map(|_| OnceLock::new()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_while_the_budget_lasts_and_the_first_to_offer_them_wins() {
        let groups: Vec<u32> = (0..30).map(|row| u32::from(row % 3 == 0)).collect();
        let shared = SharedRows::new(&groups, 8 * (2 * 10 + 20));
        assert_eq!((shared.size(0), shared.size(1), shared.position(6), shared.position(4)), (10, 20, 2, 2));
        for (row, value) in [(0, 1.0), (1, 2.0), (3, 3.0), (0, 4.0), (6, 5.0)] {
            shared.offer::<f64>(row, |values| values.fill(value));
        }
        let first = |row: usize| shared.segment::<f64>(row).map(|values| (values.len(), values[0]));
        assert_eq!([0, 1, 3, 6].map(first), [Some((10, 1.0)), Some((20, 2.0)), Some((10, 3.0)), None]);
        assert_eq!(shared.segment::<f32>(0), None, "precisions are kept apart");
    }
}
