//! What serves as a column of numbers, and what serves as rows with their answers.

use super::{Classes, Numbers, ToLabels, ToRows, Usual};
use crate::data::Dataset;
use crate::error::Error;

/// A column of numbers: a slice, `Vec` or array of what `f64` holds exactly, or an `ndarray::Array1` of such.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known as a column of numbers",
    note = "give a reference to a slice, array or `Vec` of `f64`, or to an `ndarray::Array1` of such (feature `ndarray`)"
)]
pub trait ToNumbers {
    /// The number of each row.
    fn to_numbers(&self) -> Vec<f64>;
}

impl<T: ToNumbers + ?Sized> ToNumbers for &T {
    fn to_numbers(&self) -> Vec<f64> {
        (**self).to_numbers()
    }
}

impl<T: Into<f64> + Copy> ToNumbers for [T] {
    fn to_numbers(&self) -> Vec<f64> {
        self.iter().map(|&number| number.into()).collect()
    }
}

impl<T: Into<f64> + Copy> ToNumbers for Vec<T> {
    fn to_numbers(&self) -> Vec<f64> {
        self.as_slice().to_numbers()
    }
}

impl<T: Into<f64> + Copy, const N: usize> ToNumbers for [T; N] {
    fn to_numbers(&self) -> Vec<f64> {
        self.as_slice().to_numbers()
    }
}

#[cfg(feature = "ndarray")]
impl<T: Into<f64> + Copy, S: ndarray::Data<Elem = T>> ToNumbers for ndarray::ArrayBase<S, ndarray::Ix1> {
    fn to_numbers(&self) -> Vec<f64> {
        self.iter().map(|&number| number.into()).collect()
    }
}

/// Rows with what a model is to say of them: what `fit` takes.
///
/// | for | type |
/// | --- | --- |
/// | classes | `(x, y)` or `(x, y, weights)`, where y is [`ToLabels`]; a [`Dataset`] with labels |
/// | numbers | `(x, y)` or `(x, y, weights)`, where y is [`ToNumbers`]; a [`Dataset`] with numbers |
/// | what is usual | x; a [`Dataset`] |
///
/// x is [`ToRows`], weights are [`ToNumbers`]: weight 2 means that the row counts as two copies, 0 that it is absent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rows with {A}",
    note = "give `(&x, &y)` with an answer for each row, `(&x, &y, &weights)` or `&dataset`; for one class `&x` alone"
)]
pub trait TrainingData<A> {
    /// The rows and their answers.
    ///
    /// # Errors
    /// When a number is not finite, or there is not one answer and one weight for each row.
    fn to_dataset(&self) -> Result<Dataset, Error>;
}

impl<X: ToRows, Y: ToLabels> TrainingData<Classes<Y::Class>> for (X, Y) {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        self.0.to_rows()?.with_answers(self.1.to_labels())
    }
}

impl<X: ToRows, Y: ToLabels, W: ToNumbers> TrainingData<Classes<Y::Class>> for (X, Y, W) {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        self.0.to_rows()?.with_answers(self.1.to_labels())?.with_weights(self.2.to_numbers())
    }
}

impl<X: ToRows, Y: ToNumbers> TrainingData<Numbers> for (X, Y) {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        self.0.to_rows()?.with_answers(self.1.to_numbers())
    }
}

impl<X: ToRows, Y: ToNumbers, W: ToNumbers> TrainingData<Numbers> for (X, Y, W) {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        self.0.to_rows()?.with_answers(self.1.to_numbers())?.with_weights(self.2.to_numbers())
    }
}

impl TrainingData<Classes<String>> for &Dataset {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        Ok((*self).clone())
    }
}

impl TrainingData<Numbers> for &Dataset {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        Ok((*self).clone())
    }
}

impl<X: ToRows> TrainingData<Usual> for X {
    fn to_dataset(&self) -> Result<Dataset, Error> {
        self.to_rows()
    }
}
