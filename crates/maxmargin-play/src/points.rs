//! The points of a request as data.

use maxmargin::data::{Label, Labels, Matrix, generate};
use maxmargin::{Dataset, embedded, worked};

use crate::error::Error;
use crate::request::{MOST_CLASSES, MOST_POINTS, PointsRequest};

/// Rows of a generator that are not counted.
const ROWS: usize = 120;

/// Data of two columns.
pub(crate) fn dataset(points: &PointsRequest) -> Result<Dataset, Error> {
    match points {
        PointsRequest::Named { name, rows, seed, noise, columns } => {
            let data = named(name, rows.unwrap_or(ROWS), *seed, *noise)?;
            let data = in_the_plane(name, data, columns.as_ref())?;
            debug_assert!(data.rows() <= MOST_POINTS);
            Ok(data)
        }
        PointsRequest::Given { xy, classes, labels, names } => {
            if xy.is_empty() {
                return Err(Error::new("there are no points", "draw some of two classes: press 1 or 2, and click"));
            }
            let matrix = Matrix::dense(xy.len(), 2, xy.concat())?;
            let labels = Labels::new(classes.iter().map(|&class| Label::new(&*labels[usize::from(class)])));
            let names = names.clone().unwrap_or_else(|| ["x1".into(), "x2".into()]);
            if names[0] == names[1] {
                return Err(Error::new("both axes have one name", "give each its own"));
            }
            Ok(Dataset::new(matrix, labels)?.with_names(names.into())?)
        }
    }
}

/// A set by its name, with all of its columns.
fn named(name: &str, rows: usize, seed: u64, noise: Option<f64>) -> Result<Dataset, Error> {
    if let Some((data, _)) = worked::figure(name) {
        return Ok(data);
    }
    if let Some(data) = embedded(name) {
        return Ok(data);
    }
    Ok(match (name, noise) {
        ("blobs", Some(noise)) => generate::blobs(rows, noise, seed)?,
        ("moons", Some(noise)) => generate::moons(rows, noise, seed)?,
        ("far-blob", Some(noise)) => generate::far_blob(rows, noise, seed)?,
        _ if generate::NAMES.contains(&name) => generate::generate(name, rows, seed)?,
        _ => {
            let known = format!("e1 to e10, iris, {}", generate::NAMES.join(", "));
            let what = format!("there is no set {}", maxmargin::error::quoted(name));
            return Err(Error::new(what, format!("the sets are {known}")));
        }
    })
}

/// Two columns of data, chosen by name where it has more.
fn in_the_plane(name: &str, data: Dataset, columns: Option<&[String; 2]>) -> Result<Dataset, Error> {
    let usual = ["petal_length".to_string(), "petal_width".to_string()];
    let wanted = match columns {
        Some(columns) => columns,
        None if data.columns() == 2 => return Ok(data),
        None if name == "iris" => &usual,
        None => return Err(Error::new(format!("{name} has {} columns", data.columns()), "choose two of them")),
    };
    if wanted[0] == wanted[1] {
        return Err(Error::new("both axes show one column", "choose two columns"));
    }
    let data = data.select_columns(wanted)?;
    for (place, column) in wanted.iter().enumerate() {
        if data.names().is_none_or(|names| names[place] != *column) {
            return Err(Error::new(
                format!("{name} has no column {}", maxmargin::error::quoted(column)),
                "choose another",
            ));
        }
    }
    Ok(data)
}

/// The class of each row, and the labels: of a set with more classes than can be told apart by eye there is no picture.
pub(crate) fn check_classes(data: &Dataset) -> Result<(), Error> {
    let count = data.labels()?.classes().len();
    if count > MOST_CLASSES {
        let what = format!("{count} classes");
        return Err(Error::new(what, format!("the playground shows at most {MOST_CLASSES}")));
    }
    Ok(())
}
