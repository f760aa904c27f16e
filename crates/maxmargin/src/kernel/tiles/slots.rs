//! Slots of columns whose numbers are too large for a table of all columns.

/// A hash table that gives each inserted column a slot, in the order of insertion.
///
/// Memory: at most 16 bytes for each column, however large the columns' numbers are.
#[derive(Clone, Debug)]
pub(super) struct ColumnSlots {
    /// `(column, slot)`; the slot `u32::MAX` marks an empty place. The number of places is a power of two.
    places: Vec<(u32, u32)>,
    count: usize,
}

impl Default for ColumnSlots {
    fn default() -> Self {
        ColumnSlots { places: vec![EMPTY; 64], count: 0 }
    }
}

const EMPTY: (u32, u32) = (0, u32::MAX);

impl ColumnSlots {
    /// Removes all columns.
    pub(super) fn clear(&mut self) {
        self.places.fill(EMPTY);
        self.count = 0;
    }

    /// The slot of a column; `u32::MAX` if it was not inserted.
    #[inline]
    pub(super) fn get(&self, column: u32) -> u32 {
        self.places[self.place(column)].1
    }

    /// The slot of a column; a new slot if it has none yet.
    pub(super) fn insert(&mut self, column: u32) -> usize {
        let place = self.place(column);
        if self.places[place].1 != u32::MAX {
            return self.places[place].1 as usize;
        }
        let slot = self.count;
        self.places[place] = (column, slot as u32);
        self.count += 1;
        if 2 * self.count > self.places.len() {
            self.grow();
        }
        slot
    }

    /// The place of a column, or the empty place it would take. At least half of the places are empty, so the search is short.
    #[inline]
    fn place(&self, column: u32) -> usize {
        let mask = self.places.len() - 1;
        // The upper bits of the product depend on all bits of the column.
        let mut place = (u64::from(column).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.places[place].1 != u32::MAX && self.places[place].0 != column {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.places);
        self.places = vec![EMPTY; 2 * old.len()];
        for entry in old.into_iter().filter(|entry| entry.1 != u32::MAX) {
            let place = self.place(entry.0);
            self.places[place] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_slots_in_the_order_of_their_coming_and_keep_them() {
        let mut slots = ColumnSlots::default();
        let column = |k: u32| k.wrapping_mul(2_654_435_761) % 2_147_483_647;
        for round in 0..2 {
            for k in 0..1000 {
                assert_eq!(slots.get(column(k)), u32::MAX, "round {round}");
                assert_eq!(slots.insert(column(k)), k as usize);
                assert_eq!(slots.insert(column(k)), k as usize);
            }
            assert!((0..1000).all(|k| slots.get(column(k)) == k));
            slots.clear();
        }
    }
}
