//! A table of the user as columns to choose from.

use maxmargin::data::Matrix;
use maxmargin_io::{ReadOptions, read_bytes};
use maxmargin_plot::{DataPlane, data_planes};
use serde::Serialize;

use crate::error::Error;
use crate::request::{MOST_CLASSES, MOST_POINTS};

/// The most columns that are offered.
const MOST_COLUMNS: usize = 64;

/// What was read: columns of numbers, and a label for each row. Directions through more than two columns are columns too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Table {
    names: Vec<String>,
    /// How many of the columns are the table's own. Directions come after them.
    own: usize,
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
    let mut names: Vec<String> = (0..width)
        .map(|column| if data.names().is_some() { data.name(column) } else { format!("x{}", column + 1) })
        .collect();
    let mut columns: Vec<Vec<f64>> = (0..width).map(|column| rows.iter().map(|row| row[column]).collect()).collect();
    if width > 2 {
        for plane in planes(&columns, &labels.codes()[..kept])? {
            names.extend([plane.titles.0, plane.titles.1]);
            let (across, up) = plane.places.into_iter().unzip();
            columns.extend([across, up]);
        }
    }
    Ok(Table {
        names,
        own: width,
        columns,
        labels: labels.classes().iter().map(|label| label.text().to_string()).collect(),
        classes: labels.codes()[..kept].iter().map(|&code| code as u8).collect(),
        note,
    })
}

/// The principal and the discriminant plane of columns, each scaled to mean 0 and variance 1, so that units play no part.
fn planes(columns: &[Vec<f64>], classes: &[u32]) -> Result<Vec<DataPlane>, Error> {
    let scaled: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let count = column.len() as f64;
            let mean = column.iter().sum::<f64>() / count;
            let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            let scale = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
            column.iter().map(|value| scale * (value - mean)).collect()
        })
        .collect();
    let numbers: Vec<f64> = (0..classes.len()).flat_map(|row| scaled.iter().map(move |column| column[row])).collect();
    Ok(data_planes(&Matrix::dense(classes.len(), columns.len(), numbers)?, classes))
}
