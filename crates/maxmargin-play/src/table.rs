//! A table of the user as columns to choose from.

use maxmargin_io::{ReadOptions, read_bytes};
use serde::Serialize;

use crate::error::Error;
use crate::request::{MOST_CLASSES, MOST_POINTS};

/// The most columns that are offered.
const MOST_COLUMNS: usize = 64;

/// What was read: columns of numbers, and a label for each row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Table {
    names: Vec<String>,
    /// The values of each column.
    columns: Vec<Vec<f64>>,
    labels: Vec<String>,
    classes: Vec<u8>,
    /// What was left out, in a sentence.
    note: Option<String>,
}

/// Reads a table in any of the formats that files have; its label is the last column, unless it is named.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Table, Error> {
    let data = read_bytes(bytes, name, &ReadOptions::default())?;
    let labels = data.labels()?;
    if labels.classes().len() > MOST_CLASSES {
        let what = format!("the last column has {} different labels", labels.classes().len());
        return Err(Error::new(what, format!("give a table whose last column has 2 to {MOST_CLASSES} labels")));
    }
    if data.columns() < 2 {
        let what = format!("the table has {} columns of numbers", data.columns());
        return Err(Error::new(what, "give two or more, and then the label"));
    }
    let kept = data.rows().min(MOST_POINTS);
    let width = data.columns().min(MOST_COLUMNS);
    let note = (kept < data.rows() || width < data.columns())
        .then(|| format!("{kept} of {} rows and {width} of {} columns are shown", data.rows(), data.columns()));
    let rows: Vec<Vec<f64>> = (0..kept).map(|row| data.matrix().row(row)).collect();
    Ok(Table {
        names: (0..width)
            .map(|column| if data.names().is_some() { data.name(column) } else { format!("x{}", column + 1) })
            .collect(),
        columns: (0..width).map(|column| rows.iter().map(|row| row[column]).collect()).collect(),
        labels: labels.classes().iter().map(|label| label.text().to_string()).collect(),
        classes: labels.codes()[..kept].iter().map(|&code| code as u8).collect(),
        note,
    })
}
