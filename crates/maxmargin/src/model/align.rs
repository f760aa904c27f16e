//! New data in the columns of the model.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::Model;
use crate::data::{Dataset, Matrix};
use crate::error::{Error, quoted};
use crate::kernel::Points;
use crate::problem::Bias;
use crate::workers::Workers;

/// Data in the model's columns, scaled as in training, and what the user should know of it.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// The rows, ready for the kernel.
    pub points: Points,
    /// What was ignored, if anything.
    pub note: Option<String>,
}

/// Rows that a model has not seen.
#[derive(Clone, Copy, Debug)]
pub enum NewRows<'a> {
    /// A data set, whose columns are known by name where both sides have names. Its answers do not matter.
    Data(&'a Dataset),
    /// A matrix in the model's own columns.
    Matrix(&'a Matrix),
}

impl<'a> From<&'a Dataset> for NewRows<'a> {
    fn from(data: &'a Dataset) -> Self {
        NewRows::Data(data)
    }
}

impl<'a> From<&'a Matrix> for NewRows<'a> {
    fn from(matrix: &'a Matrix) -> Self {
        NewRows::Matrix(matrix)
    }
}

/// Where the columns of a model are in some data.
enum Places {
    /// In the same places. Data may have more, which are left out, or fewer, where zeros stand for the others.
    First,
    /// The place of each column; `None` for one that the data does not have.
    Listed(Vec<Option<usize>>),
}

impl Model {
    /// Brings data into the model's columns: by name where both have names, else by place.
    ///
    /// Columns the model does not know are left out. A source with open columns (LIBSVM text) may lack some at the end:
    /// they are zeros.
    ///
    /// # Errors
    /// When a column is missing, or columns without names differ in number.
    pub fn align<'a>(&self, rows: impl Into<NewRows<'a>>) -> Result<Aligned, Error> {
        self.align_by(rows, &Workers::none())
    }

    /// [`Model::align`] on several threads.
    ///
    /// # Errors
    /// As [`Model::align`].
    pub fn align_by<'a>(&self, rows: impl Into<NewRows<'a>>, workers: &Workers) -> Result<Aligned, Error> {
        let data = match rows.into() {
            NewRows::Data(data) => data,
            NewRows::Matrix(matrix) => {
                return Ok(Aligned { points: self.prepare_by(matrix.clone(), workers)?, note: None });
            }
        };
        let (places, note) = self.places(data)?;
        let matrix = match places {
            Places::First => data.matrix().resized(self.parts.columns),
            Places::Listed(places) => {
                let same =
                    places.len() == data.columns() && places.iter().enumerate().all(|(i, place)| *place == Some(i));
                if same { data.matrix().clone() } else { data.matrix().select_columns(&places) }
            }
        };
        let points = self.prepare_by(matrix, workers)?;
        Ok(Aligned { points, note })
    }

    /// A matrix in the model's columns, not yet scaled, made ready for the kernel.
    ///
    /// # Errors
    /// When it has another number of columns, or scaling overflows.
    pub fn prepare(&self, matrix: Matrix) -> Result<Points, Error> {
        self.prepare_by(matrix, &Workers::none())
    }

    /// [`Model::prepare`] on several threads.
    fn prepare_by(&self, matrix: Matrix, workers: &Workers) -> Result<Points, Error> {
        if matrix.columns() != self.parts.columns {
            return Err(Error::Shape {
                operation: "predict",
                left: format!("{} columns of data", matrix.columns()),
                right: format!("{} columns of the model", self.parts.columns),
            });
        }
        let matrix = match &self.parts.scaling {
            Some(scaling) => scaling.apply_by(&matrix, workers)?,
            None => matrix,
        };
        let centre = self.points.centre().cloned();
        let points = Points::unmeasured(matrix, self.parts.recipe.bias == Bias::Folded, centre);
        if !self.parts.recipe.kernel.is_linear() {
            points.measure(workers);
        }
        Ok(points)
    }

    /// For each column of the model its place in the data.
    fn places(&self, data: &Dataset) -> Result<(Places, Option<String>), Error> {
        let wanted = self.parts.columns;
        let found = data.columns();
        match (&self.parts.names, data.names()) {
            (Some(names), Some(found)) if names.as_slice() == found => Ok((Places::First, None)),
            (Some(names), Some(found)) => {
                let known: HashMap<&str, usize> = found.iter().map(String::as_str).zip(0..).collect();
                let one_hot = OnceCell::new();
                let place = |name: &String| match known.get(name.as_str()) {
                    Some(&place) => Ok(Some(place)),
                    // A value of a one-hot column that does not occur in this data.
                    None if is_one_hot_of(name, one_hot.get_or_init(|| one_hot_columns(found))) => Ok(None),
                    None => Err(Error::Data {
                        what: format!("the model needs a column {}, which the data does not have", quoted(name)),
                        help: data.find_column(name).err().map_or_else(String::new, |error| error.help()),
                    }),
                };
                Ok((Places::Listed(names.iter().map(place).collect::<Result<_, _>>()?), None))
            }
            // Columns chosen by number keep their numbers as names.
            (Some(names), None) if names.iter().all(|name| name.parse::<usize>().is_ok_and(|number| number > 0)) => {
                let place = |name: &String| match data.find_column(name) {
                    Ok(place) => Ok(Some(place)),
                    Err(_) if data.has_open_columns() => Ok(None),
                    Err(error) => Err(error),
                };
                Ok((Places::Listed(names.iter().map(place).collect::<Result<_, _>>()?), None))
            }
            _ if found == wanted => Ok((Places::First, None)),
            _ if data.has_open_columns() => {
                let note = (found > wanted).then(|| {
                    format!(
                        "the data has columns {} to {found}, which the model has never seen: they are ignored",
                        wanted + 1
                    )
                });
                Ok((Places::First, note))
            }
            _ => Err(Error::Shape {
                operation: "predict",
                left: format!("{found} columns of data"),
                right: format!("{wanted} columns of the model"),
            }),
        }
    }
}

/// What stands before the first `=` of the names that have one: `column=value` is a one-hot column.
fn one_hot_columns(names: &[String]) -> HashSet<&str> {
    names.iter().filter_map(|name| Some(name.split_once('=')?.0)).collect()
}

/// Whether `name` is a one-hot column, `column=value`, of one of these columns.
fn is_one_hot_of(name: &str, columns: &HashSet<&str>) -> bool {
    name.split_once('=').is_some_and(|(column, _)| columns.contains(column))
}

impl Model {
    /// The same model over more columns, of which its own are the first: for models whose files leave out columns in which no vector has an
    /// entry, though a row's entry in them counts in distances. As it is, when it has as many already, or its columns are known by name
    /// or are those of a table.
    ///
    /// # Errors
    /// None that could come up: the parts fit each other as they did before.
    pub fn widened(self, columns: usize) -> Result<Model, Error> {
        let parts = self.parts();
        if columns <= parts.columns
            || parts.network.is_some()
            || parts.names.is_some()
            || parts.scaling.is_some()
            || parts.recipe.kernel.is_precomputed()
        {
            return Ok(self);
        }
        let mut parts = self.into_parts();
        parts.vectors = parts.vectors.map(|vectors| vectors.resized(columns));
        parts
            .machines
            .iter_mut()
            .flat_map(|machine| &mut machine.weights)
            .for_each(|weights| weights.resize(columns, 0.0));
        parts.columns = columns;
        Model::new(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Label, Labels};
    use crate::training::TrainingParams;

    fn data(columns: usize, values: Vec<f64>, names: Option<&[&str]>) -> Dataset {
        let rows = values.len() / columns;
        let labels = Labels::new((0..rows).map(|row| Label::new(if row % 2 == 0 { "no" } else { "yes" })));
        let data = Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap();
        match names {
            Some(names) => data.with_names(names.iter().map(ToString::to_string).collect()).unwrap(),
            None => data,
        }
    }

    fn trained(data: &Dataset) -> Model {
        TrainingParams::default().check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
    }

    fn aligned(model: &Model, data: &Dataset) -> Vec<f64> {
        model.align(data).unwrap().points.matrix().row(0)
    }

    #[test]
    fn columns_are_found_by_name_wherever_they_stand() {
        let model = trained(&data(2, vec![0.0, 1.0, 5.0, 2.0], Some(&["a", "b"])));
        assert_eq!(aligned(&model, &data(3, vec![7.0, 8.0, 9.0], Some(&["b", "c", "a"]))), [9.0, 7.0]);
        let error = model.align(&data(2, vec![7.0, 8.0], Some(&["b", "c"]))).unwrap_err();
        assert_eq!(error.to_string(), "the model needs a column \"a\", which the data does not have");
        assert_eq!(error.help(), "the columns are \"b\", \"c\"");
    }

    #[test]
    fn columns_without_names_must_be_equally_many_unless_the_source_leaves_zeros_out() {
        let model = trained(&data(2, vec![0.0, 1.0, 5.0, 2.0], None));
        let narrow = data(1, vec![7.0], None);
        let wide = data(3, vec![7.0, 8.0, 9.0], None);
        assert!(model.align(&narrow).is_err() && model.align(&wide).is_err());
        assert_eq!(aligned(&model, &narrow.with_open_columns()), [7.0, 0.0]);
        let wide = wide.with_open_columns();
        assert_eq!(aligned(&model, &wide), [7.0, 8.0]);
        assert!(model.align(&wide).unwrap().note.unwrap().contains("columns 3 to 3"));
    }

    #[test]
    fn columns_chosen_by_number_are_found_by_number() {
        let whole = data(3, vec![0.0, 1.0, 2.0, 5.0, 6.0, 7.0], None);
        let model = trained(&whole.select_columns(&["3".into(), "1".into()]).unwrap());
        assert_eq!(aligned(&model, &whole), [2.0, 0.0]);
    }

    #[test]
    fn a_value_of_a_one_hot_column_that_does_not_occur_is_zero() {
        let model = trained(&data(2, vec![0.0, 1.0, 1.0, 0.0], Some(&["hue=blue", "hue=red"])));
        assert_eq!(aligned(&model, &data(1, vec![1.0], Some(&["hue=red"]))), [0.0, 1.0]);
        assert!(model.align(&data(1, vec![1.0], Some(&["huge=red"]))).is_err());
    }
}
