//! Tables of kernel values in LIBSVM text, whose rows begin with a serial number.
//!
//! ```text
//! label 0:i 1:K(x, x_1) 2:K(x, x_2) ...
//! ```
//!
//! i is the number of the row, counted from 1, by which other rows know it: column i is the kernel value with it. Training rows may come in
//! any order, and may be some of those that the columns are of. They are sorted by their numbers, and only their own columns are kept,
//! named by these numbers, so that new rows, with all columns, are read by them. Of new rows the number means nothing.

use maxmargin::Workers;
use maxmargin::data::{Dataset, Matrix};

use crate::error::Error;
use crate::gather::sparse_matrix;
use crate::read::{KernelValues, data_error};

/// The largest serial number: columns are numbered in 32 bits.
const LARGEST: f64 = 4_294_967_293.0;

/// Takes the serial numbers, which were read as the first column, out of some data.
///
/// # Errors
/// When training rows have a number that is none, the same one twice, or some have none.
pub(crate) fn without_serials(data: Dataset, what: KernelValues, origin: &str) -> Result<Dataset, Error> {
    let width = data.columns().max(1);
    let shifted = |data: &Dataset| {
        let matrix = moved(data.matrix(), width - 1, |column| column.checked_sub(1));
        matrix.and_then(|matrix| with_matrix(data, matrix)).map_err(|error| data_error(origin, error))
    };
    let serials = match what {
        KernelValues::New => return shifted(&data),
        KernelValues::Training => serials(data.matrix()),
    };
    // A table without numbers has its rows in their order.
    if serials.iter().all(Option::is_none) {
        return shifted(&data);
    }
    let mut numbered = Vec::with_capacity(serials.len());
    for (row, serial) in serials.into_iter().enumerate() {
        let place = row + 1;
        numbered.push(match serial {
            Some(serial) if (1.0..=LARGEST).contains(&serial) && serial.fract() == 0.0 => (serial as usize, row),
            Some(serial) => return Err(fault(origin, format!("row {place} has the serial number {serial}"))),
            None => return Err(fault(origin, format!("row {place} has no serial number, unlike others"))),
        });
    }
    numbered.sort_unstable();
    if let Some(pair) = numbered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let (serial, one, other) = (pair[0].0, pair[0].1 + 1, pair[1].1 + 1);
        return Err(fault(origin, format!("rows {one} and {other} both have the serial number {serial}")));
    }
    let order: Vec<usize> = numbered.iter().map(|&(_, row)| row).collect();
    let data = if order.is_sorted() { data } else { data.select_rows(&order) };
    let is_whole = width <= order.len() + 1 && numbered.last().is_some_and(|&(last, _)| last == order.len());
    let place = |column: usize| numbered.binary_search_by_key(&column, |&(serial, _)| serial).ok();
    let matrix = moved(data.matrix(), order.len(), place).and_then(|matrix| with_matrix(&data, matrix));
    let data = matrix.and_then(|data| {
        if is_whole {
            Ok(data)
        } else {
            data.with_names(numbered.iter().map(|(serial, _)| serial.to_string()).collect())
        }
    });
    data.map_err(|error| data_error(origin, error))
}

/// The entry of the first column of each row, where there is one.
fn serials(matrix: &Matrix) -> Vec<Option<f64>> {
    let serial = |row: usize| {
        let mut found = None;
        matrix.visit(row, |column, value| {
            if column == 0 && value != 0.0 {
                found = Some(value);
            }
        });
        found
    };
    (0..matrix.rows()).map(serial).collect()
}

/// A matrix whose columns have been moved to other places, in the same order; without a place they are left out.
///
/// Costs a step for each entry, and none for a column that no row has: how many columns there are is a claim of the file.
fn moved(matrix: &Matrix, columns: usize, place: impl Fn(usize) -> Option<usize>) -> Result<Matrix, maxmargin::Error> {
    let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for row in 0..matrix.rows() {
        matrix.visit(row, |column, value| {
            if let Some(place) = place(column).filter(|_| value != 0.0) {
                indices.push(place as u32);
                values.push(value);
            }
        });
        offsets.push(values.len() as u64);
    }
    sparse_matrix(columns, offsets, indices, values, &Workers::none())
}

/// A data set of this matrix, with the labels and groups of `data`.
fn with_matrix(data: &Dataset, matrix: Matrix) -> Result<Dataset, maxmargin::Error> {
    let made = Dataset::new(matrix, data.answers().clone())?.with_open_columns();
    match data.groups() {
        Some(groups) => made.with_groups(groups.to_vec()),
        None => Ok(made),
    }
}

fn fault(origin: &str, what: String) -> Error {
    let help = "begin each training row with 0:i, where i is the number of its own column, counted from 1, and each comes once";
    data_error(origin, maxmargin::Error::Data { what, help: help.into() })
}
