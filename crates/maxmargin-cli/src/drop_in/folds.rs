//! Their folds: the same rows in the same folds, so that `-v` prints the same rate.

use super::order::order_of;
use maxmargin::data::{Folds, Labels};

/// The numbers that C's `rand()` gives on Linux when nobody has called `srand`: an additive generator over the last 31 of them.
///
/// ```text
/// r_0 = 1,  r_i = 16807 r_{i−1} mod 2³¹−1 (i < 31),  r_i = r_{i−31} (i < 34),  then r_i = r_{i−3} + r_{i−31} mod 2³²;   out = r_i / 2     (DR.1)
/// ```
///
/// The first 310 of the sums are dropped.
#[derive(Clone, Debug)]
pub(super) struct Random {
    last: [u32; 31],
    place: usize,
}

impl Random {
    pub(super) fn new() -> Self {
        let mut last = [0u32; 31];
        let mut number = 1u64;
        for slot in &mut last {
            *slot = number as u32;
            number = number * 16807 % 2_147_483_647;
        }
        // r_{i−31} and r_{i−3} of i = 34 are the fourth and the first of the 31: r_31 .. r_33 repeat r_0 .. r_2.
        let mut random = Random { last, place: 3 };
        for _ in 0..310 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> usize {
        let three_before = self.last[(self.place + 28) % 31];
        let sum = self.last[self.place].wrapping_add(three_before); // (DR.1)
        self.last[self.place] = sum;
        self.place = (self.place + 1) % 31;
        (sum >> 1) as usize
    }

    /// Exchanges each place with one of those from it on.
    pub(super) fn shuffle(&mut self, list: &mut [usize]) {
        let count = list.len();
        for place in 0..count {
            list.swap(place, place + self.next() % (count - place));
        }
    }
}

/// Folds of all rows, shuffled.
pub(super) fn plain(rows: usize, folds: usize, random: &mut Random) -> Folds {
    let mut list: Vec<usize> = (0..rows).collect();
    random.shuffle(&mut list);
    Folds::of_order(&list, &(1..=folds).map(|fold| fold * rows / folds).collect::<Vec<_>>())
}

/// Folds that have as many rows of each class, as near as can be.
pub(super) fn by_class(labels: &Labels, folds: usize, random: &mut Random) -> Folds {
    let order = order_of(labels);
    let mut of_class: Vec<Vec<usize>> = order
        .iter()
        .map(|&class| (0..labels.codes().len()).filter(|&row| labels.codes()[row] as usize == class).collect())
        .collect();
    of_class.iter_mut().for_each(|rows| random.shuffle(rows));
    let (mut rows, mut ends) = (Vec::with_capacity(labels.codes().len()), Vec::new());
    for fold in 0..folds {
        for class in &of_class {
            let share = |fold: usize| fold * class.len() / folds;
            rows.extend_from_slice(&class[share(fold)..share(fold + 1)]);
        }
        ends.push(rows.len());
    }
    Folds::of_order(&rows, &ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::data::Label;

    #[test]
    fn the_numbers_are_those_of_the_c_library() {
        let mut random = Random::new();
        let found: Vec<usize> = (0..5).map(|_| random.next()).collect();
        assert_eq!(found, [1804289383, 846930886, 1681692777, 1714636915, 1957747793]);
    }

    #[test]
    fn every_row_is_left_out_once() {
        let labels =
            Labels::new((0..23).map(|row| Label::new(if row % 3 == 0 { "2" } else { "7" })).collect::<Vec<_>>());
        let mut random = Random::new();
        for folds in [plain(23, 5, &mut random), by_class(&labels, 5, &mut random)] {
            let mut seen = [0; 23];
            for (out, kept) in folds.each() {
                assert_eq!(out.len() + kept.len(), 23);
                out.iter().for_each(|&row| seen[row] += 1);
            }
            assert_eq!(seen, [1; 23]);
        }
    }
}
