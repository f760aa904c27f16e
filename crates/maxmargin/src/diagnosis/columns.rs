//! What may be wrong with columns.

use std::collections::HashMap;

use super::{Finding, MOST_RANGE_RATIO};
use crate::data::{Matrix, range_ratio};
use crate::workers::Workers;

/// |values| above this are huge.
const HUGE: f64 = 1e8;

/// A range below this part of the largest |value| is tiny: half of the digits are the same in every row.
const TINY: f64 = 1e-8;

/// Rows from which on a column that is not 0 in one of them is lonely.
const ROWS_FOR_LONELY: usize = 20;

/// The share of zeros, and how many numbers there must be, for sparse storage to be worth a word.
const ZEROS: f64 = 0.9;
const NUMBERS_FOR_ZEROS: usize = 10_000;

/// What one pass tells of a column.
#[derive(Clone, Copy)]
struct Column {
    least: f64,
    largest: f64,
    nonzeros: usize,
    /// A sum over the column's entries, so that columns can be summed row by row. Equal columns have equal sums; unequal ones may.
    sum: [u64; 2],
}

const EMPTY: Column = Column { least: f64::INFINITY, largest: f64::NEG_INFINITY, nonzeros: 0, sum: [0; 2] };

pub(super) fn look(matrix: &Matrix, workers: &Workers) -> Vec<Finding> {
    let (rows, count) = (matrix.rows(), matrix.columns());
    let mut columns = vec![EMPTY; count];
    let mut huge: Option<(usize, usize, usize, f64)> = None;
    for row in 0..rows {
        matrix.visit(row, |place, value| {
            if value == 0.0 {
                return;
            }
            let column = &mut columns[place];
            column.least = column.least.min(value);
            column.largest = column.largest.max(value);
            column.nonzeros += 1;
            let mixed = mix(value.to_bits() ^ mix(row as u64));
            column.sum = [column.sum[0].wrapping_add(mixed), column.sum[1].wrapping_add(mix(mixed))];
            if value.abs() > HUGE {
                let (count, row, place, value) = huge.unwrap_or((0, row, place, value));
                huge = Some((count + 1, row, place, value));
            }
        });
    }
    for column in columns.iter_mut().filter(|column| column.nonzeros < rows) {
        (column.least, column.largest) = (column.least.min(0.0), column.largest.max(0.0));
    }
    let mut findings = Vec::new();
    if let Some((wide, narrow, ratio)) = range_ratio(matrix, workers).filter(|&(_, _, ratio)| ratio > MOST_RANGE_RATIO)
    {
        findings.push(Finding::UnscaledColumns { wide, narrow, ratio });
    }
    findings.extend(huge.map(|(count, row, column, value)| Finding::HugeValues { count, row, column, value }));
    findings.extend(tiny(&columns));
    let chosen = |is: &dyn Fn(&Column) -> bool| {
        let first = columns.iter().position(is)?;
        Some((columns.iter().filter(|&column| is(column)).count(), first))
    };
    let constant = |column: &Column| column.largest <= column.least;
    if let Some((some, first)) = chosen(&constant).filter(|_| rows > 1) {
        findings.push(Finding::ConstantColumns { count: some, columns: count, first });
    }
    findings.extend(copies(matrix, &columns, constant));
    if let Some((some, first)) = chosen(&|column| column.nonzeros == 1).filter(|_| rows >= ROWS_FOR_LONELY) {
        findings.push(Finding::LonelyColumns { count: some, columns: count, first });
    }
    let nonzeros: usize = columns.iter().map(|column| column.nonzeros).sum();
    let numbers = matrix.entries();
    let share = 1.0 - nonzeros as f64 / numbers.max(1) as f64;
    if matches!(matrix, Matrix::Dense(_)) && numbers >= NUMBERS_FOR_ZEROS && share > ZEROS {
        findings.push(Finding::MostlyZeros { share });
    }
    if rows < count {
        findings.push(Finding::FewRows { rows, columns: count });
    }
    findings
}

/// Columns whose values differ in their last digits only.
fn tiny(columns: &[Column]) -> Option<Finding> {
    let size = |column: &Column| column.least.abs().max(column.largest.abs());
    let is_tiny = |column: &Column| {
        // Halves, because a width may be infinite where its half is not.
        let half = 0.5 * column.largest - 0.5 * column.least;
        half > 0.0 && half < 0.5 * TINY * size(column)
    };
    let place = columns.iter().position(is_tiny)?;
    let found = columns[place];
    Some(Finding::TinyRanges {
        count: columns.iter().filter(|&column| is_tiny(column)).count(),
        column: place,
        range: found.largest - found.least,
        size: size(&found),
    })
}

/// Columns that are the same as one before. Constant ones are left to their own finding.
fn copies(matrix: &Matrix, columns: &[Column], constant: impl Fn(&Column) -> bool) -> Option<Finding> {
    let mut first_with = HashMap::new();
    // For each column the one that it may be a copy of.
    let mut original: Vec<Option<usize>> = vec![None; columns.len()];
    for (place, column) in columns.iter().enumerate().filter(|(_, column)| !constant(column)) {
        let key = (column.sum, column.nonzeros);
        let first = *first_with.entry(key).or_insert(place);
        original[place] = (first != place).then_some(first);
    }
    if original.iter().all(Option::is_none) {
        return None;
    }
    // Equal sums may be chance, or made on purpose: each entry is compared. Since the two have as many entries that are not 0, no
    // entry of the original is left over.
    let mut values = vec![0.0; columns.len()];
    for row in 0..matrix.rows() {
        matrix.visit(row, |column, value| values[column] = value);
        matrix.visit(row, |column, value| {
            if value != 0.0 && original[column].is_some_and(|first| values[first] != value) {
                original[column] = None;
            }
        });
        matrix.visit(row, |column, _| values[column] = 0.0);
    }
    let copy = original.iter().position(Option::is_some)?;
    let count = original.iter().flatten().count();
    Some(Finding::CopiedColumns { count, first: [original[copy]?, copy] })
}

/// Spreads the bits of a number (the finisher of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
