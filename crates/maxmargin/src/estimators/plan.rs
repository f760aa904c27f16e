//! What every builder holds, and the one way from it to a model.

use crate::calibration::CalibrationParams;
use crate::checkpoint::CheckpointControl;
use crate::control::Control;
use crate::data::Dataset;
use crate::error::Error;
use crate::kernel::{Gamma, KernelParams};
use crate::model::Model;
use crate::training::{Beginning, Training, TrainingParams};
use crate::workers::Workers;

/// A builder's settings.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) params: TrainingParams,
    /// How a model that has no probabilities of its own gets them; `None` where nobody asked.
    pub(super) calibration: Option<CalibrationParams>,
    /// The first thing that was asked for and cannot be; `fit` says so.
    pub(super) fault: Option<Error>,
}

impl Plan {
    pub(super) fn new(params: TrainingParams) -> Self {
        Plan { params, calibration: None, fault: None }
    }

    /// A plan with a kernel, or with the fault of what was to be one.
    pub(super) fn with_kernel<K: TryInto<KernelParams, Error: Into<Error>>>(mut self, kernel: K) -> Self {
        match kernel.try_into() {
            Ok(kernel) => self.params.kernel = kernel,
            Err(error) => self.fail(error.into()),
        }
        self
    }

    pub(super) fn set_gamma(&mut self, new: Gamma) {
        match self.params.kernel.gamma_mut() {
            Some(gamma) => *gamma = new,
            None => self.fail(has_no("gamma", "rbf, poly or another kernel that has one")),
        }
    }

    pub(super) fn set_coef0(&mut self, new: f64) {
        match self.params.kernel.coef0_mut() {
            Some(coef0) => *coef0 = new,
            None => self.fail(has_no("coef0", "poly or sigmoid")),
        }
    }

    fn fail(&mut self, error: Error) {
        self.fault.get_or_insert(error);
    }

    /// Trains, and calibrates where probabilities are asked for. A control that breaks in between leaves the model without probabilities.
    pub(super) fn fit(&self, data: &Dataset, workers: &Workers, control: &mut dyn Control) -> Result<Model, Error> {
        let training = self.training()?;
        let model = training.fit(data, workers, control)?;
        self.calibrated(&training, model, data, workers, control)
    }

    /// [`Plan::fit`] from where another training was, with a control that may keep where this one is.
    pub(super) fn fit_from(
        &self,
        data: &Dataset,
        beginning: Beginning<'_>,
        workers: &Workers,
        control: &mut dyn CheckpointControl,
    ) -> Result<Model, Error> {
        let training = self.training()?;
        let model = training.fit_from(data, beginning, workers, control)?;
        self.calibrated(&training, model, data, workers, control)
    }

    fn training(&self) -> Result<Training, Error> {
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => self.params.clone().check(),
        }
    }

    fn calibrated(
        &self,
        training: &Training,
        model: Model,
        data: &Dataset,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<Model, Error> {
        let Some(how) = self.calibration else { return Ok(model) };
        let calibrated = training.calibrate(&model, data, how, workers, control)?;
        Ok(calibrated.continue_value().unwrap_or(model))
    }
}

fn has_no(what: &str, kernels: &str) -> Error {
    Error::Combination {
        what: format!("{what} was given, but the kernel has none"),
        help: format!("leave {what} out, or begin with {kernels}; sums and products have it in their text"),
    }
}

/// The team for a fit: all cores, or this thread alone for little data.
pub(super) fn team_for_fit(data: &Dataset) -> Result<Workers, Error> {
    let (rows, columns) = (data.rows(), data.columns());
    team_for(rows.saturating_mul(rows.max(columns)).saturating_mul(columns.saturating_add(8)))
}

/// The team for a prediction: all cores, or this thread alone for few rows.
pub(super) fn team_for_prediction(model: &Model, data: &Dataset) -> Result<Workers, Error> {
    let vectors = model.support_vectors().len().max(model.machines().len());
    team_for(data.matrix().entries().saturating_add(8 * data.rows()).saturating_mul(vectors))
}

fn team_for(multiplications: usize) -> Result<Workers, Error> {
    if Workers::are_idle_for(multiplications) { Ok(Workers::none()) } else { Workers::new(0) }
}
