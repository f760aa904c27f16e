//! Rows to train on and rows to test with, each class in its share.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::Labels;
use crate::error::Error;

/// Splits the rows into those to train on and those to test with, class by class:
///
/// ```text
/// rows of class k in the test = round(fraction · n_k),   at least 1 and at most n_k − 1    (SP.1)
/// ```
///
/// `fraction` is the share of the test. A class of one row stays in the training rows. Both lists increase, together
/// they hold each row once, and the same seed gives the same lists. Cost: O(rows).
///
/// # Errors
/// When `fraction` is not above 0 and below 1, or no class has two rows, so that one side would be empty.
///
/// # Examples
/// ```
/// use maxmargin::data::{embedded, stratified_split};
///
/// let iris = embedded("iris").expect("it is one of the names");
/// let (train, test) = stratified_split(iris.labels()?, 0.2, 42)?;
/// assert_eq!((train.len(), test.len()), (120, 30));
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn stratified_split(labels: &Labels, fraction: f64, seed: u64) -> Result<(Vec<usize>, Vec<usize>), Error> {
    let mut members = vec![Vec::new(); labels.classes().len()];
    labels.codes().iter().enumerate().for_each(|(row, &code)| members[code as usize].push(row));
    split(members, fraction, seed)?.ok_or_else(|| Error::Data {
        what: format!("{} rows cannot be split: no label occurs twice", labels.len()),
        help: "give at least two rows of one label".into(),
    })
}

/// [`stratified_split`] of rows that have no labels: all of them as one class.
///
/// # Errors
/// When `fraction` is not above 0 and below 1, or there are fewer than two rows.
///
/// # Examples
/// ```
/// let (train, test) = maxmargin::data::plain_split(10, 0.3, 42)?;
/// assert_eq!((train.len(), test.len()), (7, 3));
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn plain_split(rows: usize, fraction: f64, seed: u64) -> Result<(Vec<usize>, Vec<usize>), Error> {
    split(vec![(0..rows).collect()], fraction, seed)?.ok_or_else(|| Error::Data {
        what: format!("rows to split are too few: {rows}"),
        help: "give at least two rows".into(),
    })
}

/// Rows to train on and to test with.
type Split = (Vec<usize>, Vec<usize>);

/// Splits the rows of each class by (T.1); `None` when no class has two rows.
fn split(members: Vec<Vec<usize>>, fraction: f64, seed: u64) -> Result<Option<Split>, Error> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Error::parameter("fraction", fraction, "above 0 and below 1"));
    }
    let mut generator = Pcg64::seed_from_u64(seed);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for mut rows in members {
        rows.shuffle(&mut generator);
        // (SP.1)
        let share = (fraction * rows.len() as f64).round() as usize;
        let share = if rows.len() >= 2 { share.clamp(1, rows.len() - 1) } else { 0 };
        test.extend_from_slice(&rows[..share]);
        train.extend_from_slice(&rows[share..]);
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok((!test.is_empty()).then_some((train, test)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::Label;

    fn labels(codes: &[u8]) -> Labels {
        Labels::new(codes.iter().map(|code| Label::new(code.to_string())))
    }

    #[test]
    fn a_fraction_outside_of_0_to_1_is_refused() {
        for fraction in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
            let error = stratified_split(&labels(&[0, 0, 1, 1]), fraction, 1).unwrap_err();
            let expected = format!("fraction is {fraction}, but it must be above 0 and below 1");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn rows_that_cannot_be_on_both_sides_are_refused() {
        for codes in [&[][..], &[0], &[0, 1]] {
            let error = stratified_split(&labels(codes), 0.5, 1).unwrap_err();
            assert_eq!(error.to_string(), format!("{} rows cannot be split: no label occurs twice", codes.len()));
        }
        for rows in [0, 1] {
            let error = plain_split(rows, 0.5, 1).unwrap_err();
            assert_eq!(error.to_string(), format!("rows to split are too few: {rows}"));
        }
        assert_eq!(stratified_split(&labels(&[0, 1, 1]), 0.01, 1).unwrap().1.len(), 1);
    }

    #[test]
    fn rows_without_labels_are_split_as_those_of_one_class() {
        assert_eq!(plain_split(57, 0.3, 9).unwrap(), stratified_split(&labels(&[4; 57]), 0.3, 9).unwrap());
    }

    proptest! {
        #[test]
        fn each_class_keeps_its_share_on_both_sides(
            codes in prop::collection::vec(0u8..4, 5..200), fraction in 0.01..0.99f64, seed in any::<u64>()
        ) {
            let labels = labels(&codes);
            let (train, test) = stratified_split(&labels, fraction, seed).unwrap();
            prop_assert_eq!(&(train.clone(), test.clone()), &stratified_split(&labels, fraction, seed).unwrap());
            prop_assert!(train.is_sorted_by(|a, b| a < b) && test.is_sorted_by(|a, b| a < b));
            let mut all = [train, test.clone()].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..codes.len()).collect::<Vec<_>>());
            for class in 0..labels.classes().len() as u32 {
                let size = labels.codes().iter().filter(|&&code| code == class).count();
                let tested = test.iter().filter(|&&row| labels.codes()[row] == class).count();
                if size >= 2 {
                    prop_assert!(tested >= 1 && tested < size);
                    prop_assert!((tested as f64 - fraction * size as f64).abs() <= 1.0);
                } else {
                    prop_assert_eq!(tested, 0);
                }
            }
        }
    }
}
