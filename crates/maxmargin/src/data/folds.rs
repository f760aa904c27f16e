//! Rows dealt to folds: the one place where cross validation gets its folds from.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::error::Error;

/// The fold of a row that is never held out.
const NEVER: u32 = u32::MAX;

/// Rows dealt to folds. Each fold is held out once, while the others are trained on.
///
/// # Examples
/// ```
/// use maxmargin::data::{Folds, embedded};
///
/// let iris = embedded("iris").unwrap();
/// let folds = Folds::stratified(iris.labels()?.codes(), 5, 0)?;
/// let (held_out, kept) = folds.each().next().unwrap();
/// assert_eq!((held_out.len(), kept.len()), (30, 120));
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// The fold of each row, or [`NEVER`].
    of_row: Vec<u32>,
    count: usize,
}

impl Folds {
    /// Deals the rows of each class to the folds in turn, after they were shuffled. The turn goes on from class to class, so that the folds
    /// differ by one row at most. Cost: O(rows).
    ///
    /// # Errors
    /// When there are fewer than two folds, or more than rows.
    pub fn stratified(codes: &[u32], folds: usize, seed: u64) -> Result<Self, Error> {
        check(folds, codes.len())?;
        let classes = codes.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members = vec![Vec::new(); classes];
        codes.iter().enumerate().for_each(|(row, &code)| members[code as usize].push(row));
        let mut generator = Pcg64::seed_from_u64(seed);
        let (mut of_row, mut turn) = (vec![NEVER; codes.len()], 0);
        for mut rows in members {
            rows.shuffle(&mut generator);
            for row in rows {
                of_row[row] = (turn % folds) as u32;
                turn += 1;
            }
        }
        Ok(Folds { of_row, count: folds })
    }

    /// Deals rows that have no classes, shuffled.
    ///
    /// # Errors
    /// As [`Folds::stratified`].
    pub fn plain(rows: usize, folds: usize, seed: u64) -> Result<Self, Error> {
        Folds::stratified(&vec![0; rows], folds, seed)
    }

    /// Deals whole groups: rows of one group are in one fold. The largest group comes first, and goes to the fold that it leaves the classes most
    /// evenly spread over
    ///
    /// ```text
    /// the fold f with the least Σ_k ((n_fk + g_k)/n_k)² − (n_fk/n_k)²                                  (TU.1)
    /// ```
    ///
    /// n_fk rows of class k in the fold so far, g_k in the group, n_k altogether. Groups of one size come in an order that is drawn.
    ///
    /// # Errors
    /// When there are fewer groups than folds, fewer than two folds, or not one group a row.
    pub fn grouped(groups: &[i64], codes: &[u32], folds: usize, seed: u64) -> Result<Self, Error> {
        if groups.len() != codes.len() {
            return Err(Error::Shape {
                operation: "folds of groups",
                left: format!("{} group numbers", groups.len()),
                right: format!("{} rows", codes.len()),
            });
        }
        check(folds, codes.len())?;
        let mut members: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        groups.iter().enumerate().for_each(|(row, &group)| members.entry(group).or_default().push(row));
        if members.len() < folds {
            return Err(Error::Data {
                what: format!("{} groups cannot be dealt to {folds} folds", members.len()),
                help: "choose fewer folds, as many as there are groups at most".into(),
            });
        }
        let classes = codes.iter().max().map_or(0, |&most| most as usize + 1);
        let mut sizes = vec![0.0; classes];
        codes.iter().for_each(|&code| sizes[code as usize] += 1.0);
        let mut waiting: Vec<Vec<usize>> = members.into_values().collect();
        waiting.shuffle(&mut Pcg64::seed_from_u64(seed));
        waiting.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
        let (mut of_row, mut counts) = (vec![NEVER; codes.len()], vec![vec![0.0; classes]; folds]);
        for (number, rows) in waiting.iter().enumerate() {
            let mut own = vec![0.0; classes];
            rows.iter().for_each(|&row| own[codes[row] as usize] += 1.0);
            let cost = |fold: usize| -> f64 {
                let term = |k: usize| own[k] * (2.0 * counts[fold][k] + own[k]) / (sizes[k] * sizes[k]); // (TU.1)
                (0..classes).filter(|&k| sizes[k] > 0.0).map(term).sum()
            };
            // The first groups fill one fold each, so that none stays empty.
            let best = if number < folds {
                number
            } else {
                (1..folds).fold(0, |best, fold| if cost(fold) < cost(best) { fold } else { best })
            };
            rows.iter().for_each(|&row| of_row[row] = best as u32);
            counts[best].iter_mut().zip(&own).for_each(|(count, own)| *count += own);
        }
        Ok(Folds { of_row, count: folds })
    }

    /// Folds that are given by a number for each row. Rows of one number are held out together, in the order of the numbers; rows of a negative
    /// number are never held out.
    ///
    /// # Errors
    /// When there is no fold, or one fold holds all rows.
    pub fn given(numbers: &[i64]) -> Result<Self, Error> {
        let mut known: Vec<i64> = numbers.iter().copied().filter(|&number| number >= 0).collect();
        known.sort_unstable();
        known.dedup();
        let place = |number: &i64| known.binary_search(number).map_or(NEVER, |place| place as u32);
        let folds = Folds { of_row: numbers.iter().map(place).collect(), count: known.len() };
        if folds.count == 0 || (0..folds.count as u32).any(|fold| folds.of_row.iter().all(|&own| own == fold)) {
            return Err(Error::Data {
                what: format!("{} of given rows leave no rows to train on, or none to hold out", folds.count),
                help: "give rows of at least two folds, or rows of one fold and others of the number -1".into(),
            });
        }
        Ok(folds)
    }

    /// Deals the rows of each class in turn, in their order. Row i is of class `class(i)`; rows of no class are never held out, nor is the only
    /// row of a class.
    pub(crate) fn in_turn(rows: usize, folds: usize, class: impl Fn(usize) -> Option<usize>) -> Self {
        let classes = (0..rows).filter_map(&class).max().map_or(0, |most| most + 1);
        let (mut sizes, mut next) = (vec![0usize; classes], vec![0usize; classes]);
        (0..rows).filter_map(&class).for_each(|class| sizes[class] += 1);
        let mut of_row = vec![NEVER; rows];
        for (row, own) in of_row.iter_mut().enumerate() {
            if let Some(class) = class(row).filter(|&class| sizes[class] > 1) {
                *own = (next[class] % folds) as u32;
                next[class] += 1;
            }
        }
        Folds { of_row, count: folds }
    }

    /// Folds that follow each other in a list of all rows; `ends` says where in the list each fold ends.
    ///
    /// # Panics
    /// When the list names a row that is not there, or an end lies outside of it.
    pub fn of_order(order: &[usize], ends: &[usize]) -> Self {
        let mut of_row = vec![NEVER; order.len()];
        let mut start = 0;
        for (fold, &end) in ends.iter().enumerate() {
            order[start..end].iter().for_each(|&row| of_row[row] = fold as u32);
            start = end;
        }
        Folds { of_row, count: ends.len() }
    }

    /// How many folds there are. Some of them may be empty, where rows are few.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many rows there are, with those that are never held out.
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// The fold of a row; `None` for a row that is never held out.
    pub fn of(&self, row: usize) -> Option<usize> {
        self.of_row.get(row).filter(|&&fold| fold != NEVER).map(|&fold| fold as usize)
    }

    /// For each fold the rows that are held out, and the others; both increasing.
    pub fn each(&self) -> impl Iterator<Item = (Vec<usize>, Vec<usize>)> {
        (0..self.count as u32).map(|fold| (0..self.rows()).partition(|&row| self.of_row[row] == fold))
    }
}

/// Checks that there are at least two folds, and no more than rows.
fn check(folds: usize, rows: usize) -> Result<(), Error> {
    if (2..=rows.min(NEVER as usize - 1)).contains(&folds) {
        return Ok(());
    }
    Err(Error::parameter("folds", folds, "from 2 to the number of rows"))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    /// Every row is held out once, and kept in all other folds.
    fn check_partition(folds: &Folds, what: &str) {
        let mut held = vec![0; folds.rows()];
        for (out, kept) in folds.each() {
            assert_eq!(out.len() + kept.len(), folds.rows(), "{what}");
            assert!(out.is_sorted() && kept.is_sorted() && !kept.is_empty(), "{what}");
            out.iter().for_each(|&row| held[row] += 1);
        }
        assert!(held.iter().all(|&count| count == 1), "{what}: {held:?}");
    }

    #[test]
    fn every_row_is_held_out_once_and_classes_keep_their_share() {
        for seed in 0..50 {
            let mut random = Pcg64::seed_from_u64(seed);
            let (rows, folds) = (random.random_range(10..200), random.random_range(2..8));
            let codes: Vec<u32> = (0..rows).map(|_| random.random_range(0..4)).collect();
            let found = Folds::stratified(&codes, folds, seed).unwrap();
            check_partition(&found, &format!("seed {seed}"));
            assert_eq!(found, Folds::stratified(&codes, folds, seed).unwrap());
            for class in 0..4 {
                let size = |fold: usize| (0..rows).filter(|&r| codes[r] == class && found.of(r) == Some(fold)).count();
                let sizes: Vec<usize> = (0..folds).map(size).collect();
                let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert!(most - least <= 1, "seed {seed}, class {class}: {sizes:?}");
            }
        }
    }

    #[test]
    fn groups_stay_whole_and_no_fold_is_empty() {
        for seed in 0..50 {
            let mut random = Pcg64::seed_from_u64(seed);
            let rows = random.random_range(40..200);
            let groups: Vec<i64> = (0..rows).map(|_| random.random_range(0..20)).collect();
            let codes: Vec<u32> = (0..rows).map(|_| random.random_range(0..3)).collect();
            let found = Folds::grouped(&groups, &codes, 4, seed).unwrap();
            check_partition(&found, &format!("seed {seed}"));
            for (row, other) in (0..rows).zip(1..rows).filter(|&(row, other)| groups[row] == groups[other]) {
                assert_eq!(found.of(row), found.of(other), "seed {seed}");
            }
            assert!(found.each().all(|(out, _)| !out.is_empty()), "seed {seed}");
        }
        let error = Folds::grouped(&[1, 1, 2], &[0, 1, 0], 3, 0).unwrap_err();
        assert_eq!(error.to_string(), "2 groups cannot be dealt to 3 folds");
    }

    #[test]
    fn given_folds_are_taken_in_the_order_of_their_numbers() {
        let folds = Folds::given(&[7, -1, 3, 7]).unwrap();
        let found: Vec<_> = folds.each().collect();
        assert_eq!(found, [(vec![2], vec![0, 1, 3]), (vec![0, 3], vec![1, 2])]);
        assert_eq!((folds.of(1), folds.of(9)), (None, None));
        assert!(Folds::given(&[-1, -1]).is_err() && Folds::given(&[2, 2]).is_err());
    }

    #[test]
    fn folds_out_of_range_are_refused() {
        for folds in [0, 1, 4] {
            let error = Folds::plain(3, folds, 0).unwrap_err();
            assert_eq!(error.to_string(), format!("folds is {folds}, but it must be from 2 to the number of rows"));
        }
    }

    #[test]
    fn in_turn_leaves_the_only_row_of_a_class_in() {
        let codes = [0, 1, 0, 2, 1, 0];
        let folds = Folds::in_turn(6, 2, |row| (row != 5).then_some(codes[row]));
        let found: Vec<_> = (0..6).map(|row| folds.of(row)).collect();
        assert_eq!(found, [Some(0), Some(0), Some(1), None, Some(1), None]);
    }

    #[test]
    fn an_order_with_its_ends_is_as_many_folds() {
        let folds = Folds::of_order(&[3, 0, 2, 1], &[1, 4]);
        assert_eq!(folds.each().collect::<Vec<_>>(), [(vec![3], vec![0, 1, 2]), (vec![0, 1, 2], vec![3])]);
        check_partition(&folds, "order");
    }
}
