//! New data in the columns of the model.

use super::Model;
use crate::data::{Dataset, Matrix};
use crate::error::{Error, quoted};
use crate::kernel::Points;
use crate::problem::Bias;

/// Data in the model's columns, scaled as in training, and what the user should know of it.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// The rows, ready for the kernel.
    pub points: Points,
    /// What was ignored, if anything.
    pub note: Option<String>,
}

impl Model {
    /// Brings data into the model's columns: by name where both have names, else by place.
    ///
    /// Columns the model does not know are left out. A source with open columns (LIBSVM text) may lack some at the end:
    /// they are zeros.
    ///
    /// # Errors
    /// When a column is missing, or columns without names differ in number.
    pub fn align(&self, data: &Dataset) -> Result<Aligned, Error> {
        let (places, note) = self.places(data)?;
        let same = places.len() == data.columns() && places.iter().enumerate().all(|(i, place)| *place == Some(i));
        let matrix = if same { data.matrix().clone() } else { data.matrix().select_columns(&places) };
        let points = self.prepare(matrix)?;
        Ok(Aligned { points, note })
    }

    /// A matrix in the model's columns, not yet scaled, made ready for the kernel.
    ///
    /// # Errors
    /// When it has another number of columns, or scaling overflows.
    pub fn prepare(&self, matrix: Matrix) -> Result<Points, Error> {
        if matrix.columns() != self.parts.columns {
            return Err(Error::Shape {
                operation: "predict",
                left: format!("{} columns of data", matrix.columns()),
                right: format!("{} columns of the model", self.parts.columns),
            });
        }
        let matrix = match &self.parts.scaling {
            Some(scaling) => scaling.apply(&matrix)?,
            None => matrix,
        };
        Ok(Points::new(matrix, self.parts.bias == Bias::Folded))
    }

    /// For each column of the model its place in the data.
    fn places(&self, data: &Dataset) -> Result<(Vec<Option<usize>>, Option<String>), Error> {
        let wanted = self.parts.columns;
        let found = data.columns();
        match (&self.parts.names, data.names()) {
            (Some(names), Some(found)) => {
                let place = |name: &String| match data.find_column(name) {
                    Ok(place) => Ok(Some(place)),
                    // A value of a one-hot column that does not occur in this data.
                    Err(_) if one_hot_elsewhere(name, found) => Ok(None),
                    Err(error) => Err(Error::Data {
                        what: format!("the model needs a column {}, which the data does not have", quoted(name)),
                        help: error.help(),
                    }),
                };
                Ok((names.iter().map(place).collect::<Result<_, _>>()?, None))
            }
            // Columns chosen by number keep their numbers as names.
            (Some(names), None) if names.iter().all(|name| name.parse::<usize>().is_ok_and(|number| number > 0)) => {
                let place = |name: &String| match data.find_column(name) {
                    Ok(place) => Ok(Some(place)),
                    Err(_) if data.has_open_columns() => Ok(None),
                    Err(error) => Err(error),
                };
                Ok((names.iter().map(place).collect::<Result<_, _>>()?, None))
            }
            _ if found == wanted => Ok(((0..wanted).map(Some).collect(), None)),
            _ if data.has_open_columns() => {
                let places = (0..wanted).map(|column| (column < found).then_some(column)).collect();
                let note = (found > wanted).then(|| {
                    format!(
                        "the data has columns {} to {found}, which the model has never seen: they are ignored",
                        wanted + 1
                    )
                });
                Ok((places, note))
            }
            _ => Err(Error::Shape {
                operation: "predict",
                left: format!("{found} columns of data"),
                right: format!("{wanted} columns of the model"),
            }),
        }
    }
}

/// Whether `name` is a one-hot column, `column=value`, and the data has that column with other values.
fn one_hot_elsewhere(name: &str, found: &[String]) -> bool {
    name.split_once('=').is_some_and(|(column, _)| {
        found.iter().any(|other| other.strip_prefix(column).is_some_and(|rest| rest.starts_with('=')))
    })
}
