//! The kinds of picture: a file for each. All of them are drawn on one sheet, with the same words around it.

mod calibration;
mod confusion;
pub(crate) mod hulls;
mod margins;
pub(crate) mod regions;
mod residuals;
mod roc;
mod tube;
mod why;

use maxmargin::data::Dataset;
use maxmargin::model::Model;
use maxmargin::workers::Workers;

use crate::drawing::scene::Scene;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::rows::Rows;
use crate::{Kind, PlotOptions};

/// What a picture is made of.
pub(crate) struct Subject<'a> {
    pub(crate) model: &'a Model,
    pub(crate) data: Option<&'a Dataset>,
    pub(crate) options: &'a PlotOptions,
    pub(crate) workers: &'a Workers,
}

impl<'a> Subject<'a> {
    /// The data, which this kind of picture needs.
    fn data(&self, kind: Kind) -> Result<&'a Dataset, Error> {
        match self.data {
            Some(data) if data.rows() > 0 => Ok(data),
            _ => Err(Error::NoData { kind: kind.name() }),
        }
    }

    /// The rows of the data, some of which have to be of a class that the model knows.
    fn classified(&self, kind: Kind) -> Result<Rows, Error> {
        let data = self.data(kind)?;
        if !self.model.task().is_classification() {
            return Err(self.unsuited(kind, "classes"));
        }
        let rows = Rows::of_data(self.model, data, self.workers)?;
        if rows.classes.iter().all(Option::is_none) {
            return Err(Error::Unsuited {
                what: format!("no row has a label that the model knows, so there is no {} to draw", kind.name()),
                help: "give data with the labels that the model was trained on".into(),
            });
        }
        Ok(rows)
    }

    /// The numbers of the data beside those that the model predicts.
    fn predicted_numbers(&self, kind: Kind) -> Result<Vec<(f64, f64)>, Error> {
        let data = self.data(kind)?;
        if !self.model.task().is_regression() {
            return Err(self.unsuited(kind, "numbers"));
        }
        let truth = data.numbers()?;
        let predictions = self.model.predict(data, self.workers)?;
        Ok(truth.iter().copied().zip(predictions.numbers()).collect())
    }

    fn unsuited(&self, kind: Kind, of: &str) -> Error {
        let kinds = Kind::ALL.into_iter().filter(|kind| kind.suits(self.model.task())).map(Kind::name);
        Error::Unsuited {
            what: format!(
                "the kind {} shows models that predict {of}, and this one does {}",
                kind.name(),
                self.model.task().name()
            ),
            help: format!("choose one of the kinds {}", kinds.collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Draws a picture of some kind.
///
/// # Errors
/// When the model or the data is not of a kind that it shows.
pub(crate) fn draw(kind: Kind, subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    match kind {
        Kind::Regions => regions::draw(subject),
        Kind::Margins => margins::draw(subject),
        Kind::Roc => roc::draw(subject),
        Kind::Calibration => calibration::draw(subject),
        Kind::Confusion => confusion::draw(subject),
        Kind::Hulls => hulls::draw(subject),
        Kind::Tube => tube::draw(subject),
        Kind::Residuals => residuals::draw(subject),
        Kind::Why => why::draw(subject),
    }
}
