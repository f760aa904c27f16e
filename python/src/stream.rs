//! `Stream`: a linear classifier that learns from rows as they come.

use std::sync::{Mutex, MutexGuard, PoisonError};

use maxmargin::Stop;
use maxmargin::data::Label;
use maxmargin::problem::{Bias, Loss};
use maxmargin::stream::{Before, StreamParams, StreamingSgd};
use maxmargin_io::{stream_checkpoint_from_bytes, stream_checkpoint_to_bytes};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::data::Data;
use crate::door;
use crate::errors::{Fault, InputError};
use crate::model::Model;

/// Stochastic gradient descent, one block of rows after the other.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Stream {
    learner: Mutex<StreamingSgd>,
}

#[pymethods]
impl Stream {
    /// A learner that has seen nothing; the classes are known by their codes, 0 to `classes` − 1.
    #[new]
    fn new(
        classes: usize,
        loss: &str,
        intercept: bool,
        lambda: f64,
        batch: usize,
        average_from: Option<u64>,
    ) -> PyResult<Self> {
        let losses = [Loss::Hinge, Loss::Squared, Loss::Logistic];
        let loss = losses
            .into_iter()
            .find(|known| known.name() == loss)
            .ok_or_else(|| InputError::new_err(format!("no loss is called {loss:?}")))?;
        let params = StreamParams {
            classes: (0..classes).map(|code| Label::new(code.to_string())).collect(),
            loss,
            bias: if intercept { Bias::Explicit } else { Bias::None },
            lambda,
            batch,
            average_from,
            hold_out: None,
        };
        Ok(Stream { learner: Mutex::new(params.check().map_err(Fault::from)?) })
    }

    /// Learns from some rows.
    #[pyo3(signature = (data, codes, weights=None))]
    fn learn(
        &self,
        py: Python<'_>,
        data: &Data,
        codes: PyReadonlyArray1<'_, u32>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let codes: Vec<u32> = codes.as_array().iter().copied().collect();
        let weights: Option<Vec<f64>> = weights.map(|weights| weights.as_array().iter().copied().collect());
        door::brief(py, || Ok(self.lock().partial_fit(&data.matrix, &codes, weights.as_deref())?))
    }

    /// Begins at a model of rows that were learnt elsewhere: one line of weights and one bias a machine.
    fn begin_at(
        &self,
        py: Python<'_>,
        weights: PyReadonlyArray2<'_, f64>,
        biases: PyReadonlyArray1<'_, f64>,
        rows: u64,
        squares: f64,
    ) -> PyResult<()> {
        let weights: Vec<Vec<f64>> = weights.as_array().outer_iter().map(|line| line.to_vec()).collect();
        let biases: Vec<f64> = biases.as_array().to_vec();
        door::brief(py, || Ok(self.lock().begin_at(&weights, &biases, Before { rows, squares })?))
    }

    /// Rows learnt so far.
    #[getter]
    fn learnt(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().learnt())
    }

    /// How often rows were predicted wrongly just before they were learnt.
    #[getter]
    fn error_rate(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.lock().progressive().error_rate())
    }

    /// The model as it is now.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        door::brief(py, || Ok(self.lock().model(Stop::IterationLimit)?)).map(Model::from)
    }

    /// Where the learner is, to go on from exactly.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = py.detach(|| self.lock().snapshot());
        Ok(PyBytes::new(py, &stream_checkpoint_to_bytes(&snapshot).map_err(Fault::Bug)?))
    }

    /// From where a learner was.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let snapshot = stream_checkpoint_from_bytes(bytes, "bytes").map_err(Fault::from)?;
        Ok(Stream { learner: Mutex::new(StreamingSgd::from_snapshot(snapshot).map_err(Fault::from)?) })
    }
}

impl Stream {
    fn lock(&self) -> MutexGuard<'_, StreamingSgd> {
        self.learner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
