//! Which row is kept in which slot. The least recently used row gives up its slot.

const NONE: u32 = u32::MAX;

/// Slots for rows. Each slot has at most one owner, which is a row.
pub(super) struct Slots {
    /// For each owner its slot.
    slot_of: Vec<u32>,
    /// For each slot its owner, and in `used` when it was last asked for.
    owner: Vec<u32>,
    used: Vec<u64>,
    now: u64,
}

impl Slots {
    /// No slots yet, for this many owners.
    pub(super) fn new(owners: usize) -> Self {
        Slots { slot_of: vec![NONE; owners], owner: Vec::new(), used: Vec::new(), now: 0 }
    }

    /// How many owners there are.
    pub(super) fn owners(&self) -> usize {
        self.slot_of.len()
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.owner.len()
    }

    /// Adds slots, up to `count`.
    pub(super) fn grow(&mut self, count: usize) {
        self.owner.resize(count.max(self.owner.len()), NONE);
        self.used.resize(self.owner.len(), 0);
    }

    /// The slots in use and their owners.
    pub(super) fn kept(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let taken = self.owner.iter().enumerate().filter(|(_, owner)| **owner != NONE);
        taken.map(|(slot, &owner)| (slot as u32, owner as usize))
    }

    /// For each owner its slot, and whether it is new there. Owners must differ. `None` when there are too few slots.
    pub(super) fn take(&mut self, owners: &[usize]) -> Vec<(Option<u32>, bool)> {
        self.now += 1;
        let mut missing = 0;
        for &owner in owners {
            match self.slot_of[owner] {
                NONE => missing += 1,
                slot => self.used[slot as usize] = self.now,
            }
        }
        let mut free = self.give_up(missing).into_iter();
        owners
            .iter()
            .map(|&owner| {
                if self.slot_of[owner] != NONE {
                    return (Some(self.slot_of[owner]), false);
                }
                let slot = free.next();
                if let Some(slot) = slot {
                    self.slot_of[owner] = slot;
                    self.owner[slot as usize] = owner as u32;
                    self.used[slot as usize] = self.now;
                }
                (slot, true)
            })
            .collect()
    }

    /// Frees up to `count` slots, the least recently used first.
    fn give_up(&mut self, count: usize) -> Vec<u32> {
        if count == 0 {
            return Vec::new();
        }
        let mut order: Vec<u32> = (0..self.len() as u32).filter(|&slot| self.used[slot as usize] < self.now).collect();
        let age = |slot: &u32| (self.used[*slot as usize], *slot);
        if count < order.len() {
            order.select_nth_unstable_by_key(count, age);
            order.truncate(count);
        }
        order.sort_unstable_by_key(age);
        for &slot in &order {
            let owner = std::mem::replace(&mut self.owner[slot as usize], NONE);
            if owner != NONE {
                self.slot_of[owner as usize] = NONE;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_gives_its_place_up() {
        let mut slots = Slots::new(10);
        assert_eq!(slots.take(&[3]), [(None, true)]);
        slots.grow(3);
        assert_eq!(slots.take(&[3, 5]), [(Some(0), true), (Some(1), true)]);
        assert_eq!(slots.take(&[5, 7]), [(Some(1), false), (Some(2), true)]);
        assert_eq!(slots.take(&[1]), [(Some(0), true)], "3 was used longest ago");
        assert_eq!(slots.take(&[3, 5, 7, 1]), [(None, true), (Some(1), false), (Some(2), false), (Some(0), false)]);
        assert_eq!(slots.kept().collect::<Vec<_>>(), [(0, 1), (1, 5), (2, 7)]);
    }
}
