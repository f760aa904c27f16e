//! Models that know the type of their answers.

use std::fmt::{self, Debug};

use super::plan::team_for_prediction;
use super::{ClassLabel, Table, ToLabels, ToNumbers, ToRows, TrainingData};
use crate::certificate::CertificateSummary;
use crate::control::Stop;
use crate::data::{Dataset, Label, Labels};
use crate::error::{Error, quoted};
use crate::metrics::{Residuals, accuracy};
use crate::model::{Model, Predictions};
use crate::provenance::Note;
use crate::review::Verification;
use crate::workers::Workers;

/// A trained model that answers in a type of its own: labels, numbers, or whether a row is a usual one.
///
/// | model | of | `predict` |
/// | --- | --- | --- |
/// | `Fitted<Classes<L>>` | `Svc`, `NuSvc`, `LinearSvc`, `Logistic`, `Lda`, `Rvm`, `Perceptron` | `Vec<L>`, L as the labels that it was fitted to |
/// | `Fitted<Numbers>` | `Svr`, `NuSvr`, `LinearSvr` | `Vec<f64>` |
/// | `Fitted<Usual>` | `OneClass`, `Svdd` | `Vec<bool>` |
///
/// Predictions of many rows use all cores, those of few the calling thread; the bits are the same. The methods whose names end in `_with`
/// take the threads as an argument.
///
/// A model from a file becomes one by `try_into()`. The crate `maxmargin-io` reads such files, and writes any model by `model.save(path)`.
#[derive(Clone)]
pub struct Fitted<A> {
    model: Model,
    answers: A,
}

/// Answers are classes: those of the model, sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes<L>(Vec<L>);

/// Answers are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Numbers;

/// Answers say whether a row is like those that the model was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usual;

/// A model that is to give answers of a kind that it has none of.
fn other_kind(model: &Model, wanted: &str) -> Error {
    Error::Combination {
        what: format!("a model for the task {} has no {wanted}", model.task().name()),
        help: "choose Fitted<Classes<String>> for classification, Fitted<Numbers> for regression, Fitted<Usual> for one class"
            .into(),
    }
}

impl<L: ClassLabel<Class = L>> TryFrom<&Model> for Classes<L> {
    type Error = Error;

    /// # Errors
    /// When the model does not tell classes apart, or a class is not of this type.
    fn try_from(model: &Model) -> Result<Self, Error> {
        if !model.task().is_classification() {
            return Err(other_kind(model, "classes"));
        }
        let class = |label: &Label| {
            L::class(label.text()).ok_or_else(|| Error::Data {
                what: format!("the class {} of the model is no {}", quoted(label.text()), std::any::type_name::<L>()),
                help: "choose Fitted<Classes<String>>, which takes every class".into(),
            })
        };
        model.classes().iter().map(class).collect::<Result<_, _>>().map(Classes)
    }
}

impl TryFrom<&Model> for Numbers {
    type Error = Error;

    /// # Errors
    /// When the model predicts no numbers.
    fn try_from(model: &Model) -> Result<Self, Error> {
        if model.task().is_regression() { Ok(Numbers) } else { Err(other_kind(model, "numbers")) }
    }
}

impl TryFrom<&Model> for Usual {
    type Error = Error;

    /// # Errors
    /// When the model does not know what is usual.
    fn try_from(model: &Model) -> Result<Self, Error> {
        if model.task().usual().is_some() { Ok(Usual) } else { Err(other_kind(model, "notion of usual rows")) }
    }
}

impl<A: for<'m> TryFrom<&'m Model, Error = Error>> TryFrom<Model> for Fitted<A> {
    type Error = Error;

    /// # Errors
    /// When the model has other answers than A.
    fn try_from(model: Model) -> Result<Self, Error> {
        Ok(Fitted { answers: A::try_from(&model)?, model })
    }
}

impl<A> AsRef<Model> for Fitted<A> {
    fn as_ref(&self) -> &Model {
        &self.model
    }
}

impl<A: Debug> Debug for Fitted<A> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Fitted");
        shown.field("answers", &self.answers).field("stop", &self.stop()).field("certificate", &self.certificate());
        shown.finish_non_exhaustive()
    }
}

impl<A> Fitted<A> {
    /// The model behind it: machines, support vectors, certificates of each machine.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Gives up the type of the answers.
    pub fn into_model(self) -> Model {
        self.model
    }

    /// How good the model is; `None` where there is no certificate for every machine (perceptrons, `Lda`, `Rvm`).
    pub fn certificate(&self) -> Option<CertificateSummary> {
        self.model.certificate()
    }

    /// Why training ended. Only [`Stop::Converged`] promises the tolerance.
    pub fn stop(&self) -> Stop {
        self.model.stop()
    }

    /// What the user should know of the training. As text each is a sentence without a full stop.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.model.machines().iter().flat_map(|machine| &machine.notes)
    }

    /// All that the model says of some rows.
    ///
    /// # Errors
    /// When the rows do not have the columns of the model, or a number is not finite.
    pub fn predictions(&self, x: impl ToRows) -> Result<Predictions, Error> {
        let data = x.to_rows()?;
        self.model.predict(&data, &team_for_prediction(&self.model, &data)?)
    }

    /// The decision values of each row, one for each machine.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn decision_values(&self, x: impl ToRows) -> Result<Table, Error> {
        let data = x.to_rows()?;
        let points = self.model.align(&data)?.points;
        let values = self.model.decision_values(&points, &team_for_prediction(&self.model, &data)?);
        Ok(Table::new(self.model.machines().len(), values))
    }

    /// Computes the certificate anew from the data and the model's coefficients alone.
    ///
    /// # Errors
    /// When the data does not fit the model: rows, columns or answers.
    pub fn verify(&self, data: impl TrainingData<A>) -> Result<Verification, Error> {
        let data = data.to_dataset()?;
        self.model.verify(&data, &team_for_prediction(&self.model, &data)?)
    }
}

impl<L: ClassLabel<Class = L> + Clone + Debug + PartialEq> Fitted<Classes<L>> {
    /// The classes, sorted: numbers by value, then texts. Of two classes the second is positive.
    pub fn classes(&self) -> &[L] {
        &self.answers.0
    }

    /// The class of each row.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn predict(&self, x: impl ToRows) -> Result<Vec<L>, Error> {
        let data = x.to_rows()?;
        self.predict_with(&data, &team_for_prediction(&self.model, &data)?)
    }

    /// The class of each row, found by these threads.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn predict_with(&self, x: impl ToRows, workers: &Workers) -> Result<Vec<L>, Error> {
        let codes = self.codes(&x.to_rows()?, workers)?;
        Ok(codes.into_iter().map(|code| self.answers.0[code as usize].clone()).collect())
    }

    /// The probability of each class for each row, in the order of [`Fitted::classes`].
    ///
    /// # Errors
    /// As [`Fitted::predictions`]; and when the model has no probabilities, because nobody asked for them before it was fitted.
    pub fn probabilities(&self, x: impl ToRows) -> Result<Table, Error> {
        let predictions = self.predictions(x)?;
        Ok(Table::new(self.answers.0.len(), self.model.probabilities(&predictions)?))
    }

    /// The share of rows whose class is predicted rightly.
    ///
    /// # Errors
    /// As [`Fitted::predictions`]; and when there are no rows, or not one label for each.
    pub fn score(&self, x: impl ToRows, y: impl ToLabels) -> Result<f64, Error> {
        let data = x.to_rows()?;
        let codes = self.codes(&data, &team_for_prediction(&self.model, &data)?)?;
        accuracy(&y.to_labels(), &Labels::from_spellings(self.model.classes().iter().cloned(), codes))
    }

    /// For each row the place of its class.
    fn codes(&self, data: &Dataset, workers: &Workers) -> Result<Vec<u32>, Error> {
        Ok(self.model.predict_classes(self.model.align(data)?, workers).codes().to_vec())
    }
}

impl Fitted<Numbers> {
    /// The number of each row.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn predict(&self, x: impl ToRows) -> Result<Vec<f64>, Error> {
        self.decision_values(x).map(Table::into_values)
    }

    /// The number of each row, found by these threads.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn predict_with(&self, x: impl ToRows, workers: &Workers) -> Result<Vec<f64>, Error> {
        let points = self.model.align(&x.to_rows()?)?.points;
        Ok(self.model.decision_values(&points, workers))
    }

    /// R² of the predictions: 1 where all are right, 0 where they are no better than the mean of y.
    ///
    /// # Errors
    /// As [`Fitted::predictions`]; and when there is not one number for each row, or all of them are the same.
    pub fn score(&self, x: impl ToRows, y: impl ToNumbers) -> Result<f64, Error> {
        let (truth, found) = (y.to_numbers(), self.predict(x)?);
        if truth.len() != found.len() {
            let (left, right) = (format!("{} numbers", truth.len()), format!("{} predictions", found.len()));
            return Err(Error::Shape { operation: "scoring", left, right });
        }
        Residuals::new(&truth, found).and_then(|residuals| residuals.r_squared).ok_or_else(|| Error::Data {
            what: "R² is not defined for numbers that are all the same".into(),
            help: "score rows with different numbers".into(),
        })
    }
}

impl Fitted<Usual> {
    /// For each row whether it is like the rows that the model was fitted to.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn predict(&self, x: impl ToRows) -> Result<Vec<bool>, Error> {
        let data = x.to_rows()?;
        self.predict_with(&data, &team_for_prediction(&self.model, &data)?)
    }

    /// For each row whether it is a usual one, found by these threads.
    ///
    /// # Errors
    /// As [`Fitted::predictions`].
    pub fn predict_with(&self, x: impl ToRows, workers: &Workers) -> Result<Vec<bool>, Error> {
        Ok(self.model.predict(&x.to_rows()?, workers)?.codes().iter().map(|&code| code == 1).collect())
    }
}
