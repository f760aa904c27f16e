//! Which rows are trained on and which are held out, split after split.

use crate::data::{Dataset, Folds};
use crate::error::Error;

/// Rows to train on, and rows that the model has not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The rows to train on.
    pub train: Vec<usize>,
    /// The rows that are held out.
    pub test: Vec<usize>,
}

/// The splits of a search, the same for each of its cells.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::tuning::Splits;
///
/// let iris = embedded("iris").unwrap();
/// let splits = Splits::of_data(&iris, 5, 2, 0)?; // five folds, twice
/// assert_eq!(splits.list().len(), 10);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splits {
    list: Vec<Split>,
    rows: usize,
    held_once: bool,
}

impl Splits {
    /// Folds of the data, drawn anew for each of the repeats: stratified where rows have classes, else plain. Data with group numbers is not
    /// treated differently, see [`Splits::grouped`].
    ///
    /// # Errors
    /// When there are fewer than two folds or more than rows, or no repeats.
    pub fn of_data(data: &Dataset, folds: usize, repeats: usize, seed: u64) -> Result<Self, Error> {
        let codes = codes(data);
        Splits::repeated(repeats, |repeat| Folds::stratified(&codes, folds, seed.wrapping_add(repeat)))
    }

    /// Folds that keep rows of one group together, drawn anew for each of the repeats.
    ///
    /// # Errors
    /// When there are fewer groups than folds, fewer than two folds, no repeats, or not one group a row.
    pub fn grouped(data: &Dataset, groups: &[i64], folds: usize, repeats: usize, seed: u64) -> Result<Self, Error> {
        let codes = codes(data);
        Splits::repeated(repeats, |repeat| Folds::grouped(groups, &codes, folds, seed.wrapping_add(repeat)))
    }

    /// The folds of each repeat.
    fn repeated(repeats: usize, of: impl Fn(u64) -> Result<Folds, Error>) -> Result<Self, Error> {
        if !(1..=1000).contains(&repeats) {
            return Err(Error::parameter("repeats", repeats, "from 1 to 1000"));
        }
        let all = (0..repeats as u64).map(of).collect::<Result<Vec<Folds>, Error>>()?;
        let rows = all[0].rows();
        let split = |(test, train)| Split { train, test };
        Splits::given(all.iter().flat_map(|folds| folds.each().map(split)).collect(), rows)
    }

    /// One split for each fold.
    ///
    /// # Errors
    /// When a fold is empty, or holds all rows.
    pub fn of_folds(folds: &Folds) -> Result<Self, Error> {
        Splits::given(folds.each().map(|(test, train)| Split { train, test }).collect(), folds.rows())
    }

    /// Any splits of `rows` rows. A row may be in no list, or be held out several times, but not be trained on and held out in one split.
    ///
    /// # Errors
    /// When there is no split, a side of one is empty, a row is not there, or a row is on both sides.
    pub fn given(mut list: Vec<Split>, rows: usize) -> Result<Self, Error> {
        let refuse = |number: usize, what: &str, help: &str| Error::Data {
            what: format!("split {} {what}", number + 1),
            help: help.into(),
        };
        if list.is_empty() {
            return Err(Error::parameter("splits", 0, "1 or more"));
        }
        let mut held = vec![0u32; rows];
        for (number, split) in list.iter_mut().enumerate() {
            for rows in [&mut split.train, &mut split.test] {
                rows.sort_unstable();
                if rows.is_empty() {
                    return Err(refuse(number, "has an empty side", "choose fewer folds, or give more rows"));
                }
                if rows.windows(2).any(|pair| pair[0] == pair[1]) {
                    return Err(refuse(number, "names a row twice", "name each row of a side once"));
                }
            }
            if let Some(row) = split.train.iter().chain(&split.test).find(|&&row| row >= rows) {
                let what = format!("names row {}, but there are {rows}", row + 1);
                return Err(refuse(number, &what, "number the rows from 0"));
            }
            if let Some(row) = split.test.iter().find(|row| split.train.binary_search(row).is_ok()) {
                let what = format!("trains on row {} and holds it out", row + 1);
                return Err(refuse(number, &what, "put each row on one side"));
            }
            split.test.iter().for_each(|&row| held[row] += 1);
        }
        Ok(Splits { held_once: held.iter().all(|&count| count <= 1), list, rows })
    }

    /// The splits.
    pub fn list(&self) -> &[Split] {
        &self.list
    }

    /// How many rows the data must have.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether no row is held out more than once.
    pub fn is_once(&self) -> bool {
        self.held_once
    }
}

/// The class of each row; one class for rows that have none.
fn codes(data: &Dataset) -> Vec<u32> {
    data.answers().labels().map_or_else(|| vec![0; data.rows()], |labels| labels.codes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(train: &[usize], test: &[usize]) -> Split {
        Split { train: train.to_vec(), test: test.to_vec() }
    }

    #[test]
    fn splits_that_leak_or_are_empty_are_refused() {
        let refused = |list: Vec<Split>| Splits::given(list, 4).unwrap_err().to_string();
        assert_eq!(refused(vec![]), "splits is 0, but it must be 1 or more");
        assert_eq!(refused(vec![split(&[0, 1], &[])]), "split 1 has an empty side");
        assert_eq!(
            refused(vec![split(&[0, 1], &[2]), split(&[0, 1], &[3, 1])]),
            "split 2 trains on row 2 and holds it out"
        );
        assert_eq!(refused(vec![split(&[0, 4], &[1])]), "split 1 names row 5, but there are 4");
        assert_eq!(refused(vec![split(&[0, 0], &[1])]), "split 1 names a row twice");
    }

    #[test]
    fn repeats_hold_each_row_out_as_often() {
        let data = crate::data::embedded("iris").unwrap();
        let splits = Splits::of_data(&data, 3, 2, 7).unwrap();
        let mut held = [0; 150];
        splits.list().iter().flat_map(|split| &split.test).for_each(|&row| held[row] += 1);
        assert!(held.iter().all(|&count| count == 2) && !splits.is_once());
        assert!(Splits::of_data(&data, 3, 1, 7).unwrap().is_once());
        assert_ne!(splits.list()[0], splits.list()[3]);
        assert!(Splits::of_data(&data, 3, 0, 7).is_err());
    }
}
