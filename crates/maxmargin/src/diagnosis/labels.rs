//! What may be wrong with classes.

use super::Finding;
use crate::data::{Label, Labels};

/// The largest class has so many times the rows of the smallest, before it drowns it.
const MOST_RATIO: f64 = 10.0;

/// Classes below this are rare: folds of a cross-validation lack them.
const RARE: usize = 5;

/// Numeric labels of more different values than this, which a tenth of the rows or more differ in, are hardly classes.
const MANY_NUMBERS: usize = 20;

/// Numeric labels of more different values than this, fractions among them, are hardly classes.
const MANY_FRACTIONS: usize = 5;

/// What may be wrong with the classes of some rows.
pub fn of_labels(labels: &Labels) -> Vec<Finding> {
    let classes = labels.classes();
    let mut sizes = vec![0usize; classes.len()];
    labels.codes().iter().for_each(|&code| sizes[code as usize] += 1);
    if classes.len() == 1 {
        return vec![Finding::SingleClass];
    }
    if look_like_amounts(classes, labels.len()) {
        return vec![Finding::NumericLabels { classes: classes.len(), rows: labels.len() }];
    }
    let mut findings = Vec::new();
    if let Some(class) = sizes.iter().position(|&rows| rows == 1) {
        findings.push(Finding::SingleRows { count: sizes.iter().filter(|&&rows| rows == 1).count(), class });
    }
    let rare = || sizes.iter().enumerate().filter(|(_, rows)| (2..RARE).contains(*rows));
    if let Some((class, &rows)) = rare().min_by_key(|(_, rows)| **rows) {
        findings.push(Finding::RareClasses { count: rare().count(), class, rows });
    }
    let last_of_largest = sizes.iter().enumerate().rev().max_by_key(|(_, rows)| **rows);
    if let (Some((largest, &most)), Some((smallest, &least))) =
        (last_of_largest, sizes.iter().enumerate().min_by_key(|(_, rows)| **rows))
    {
        let ratio = most as f64 / least.max(1) as f64;
        if ratio >= MOST_RATIO {
            findings.push(Finding::Imbalance { largest, smallest, ratio });
        }
    }
    findings
}

/// Whether the labels of some rows look like the numbers of a regression: all are numbers, and they are many, or fractions among more than two.
pub fn look_like_amounts(classes: &[Label], rows: usize) -> bool {
    let numbers: Option<Vec<f64>> = classes.iter().map(Label::number).collect();
    numbers.is_some_and(|numbers| {
        let many = numbers.len() > MANY_NUMBERS && 10 * numbers.len() >= rows;
        let fractions = numbers.iter().any(|number| number.fract() != 0.0);
        let few_rows_each = numbers.len() > 2 && 2 * numbers.len() > rows;
        many || fractions && (few_rows_each || numbers.len() > MANY_FRACTIONS)
    })
}
