//! `fit` and `calibrate`: the two calls that may take long.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use maxmargin::calibration::{CalibrationParams, Held};
use maxmargin::{Beginning, Stop, Workers};
use pyo3::prelude::*;

use crate::control::{Attended, Entry};
use crate::data::{Data, workers};
use crate::door::{self, Watch};
use crate::errors::{Fault, InputError};
use crate::model::Model;
use crate::params::{Answers, Params, classes_of};
use crate::review::in_json;

/// Trains a model. Returns it with the history of the steps, and a word of warning if there is one.
#[pyfunction]
#[pyo3(signature = (data, answers, params, threads, max_time=None, start=None, checkpoint=None, progress=None))]
#[allow(clippy::too_many_arguments)] // they have names in Python
pub(crate) fn fit(
    py: Python<'_>,
    data: &Data,
    answers: Answers<'_>,
    params: Params,
    threads: usize,
    max_time: Option<f64>,
    start: Option<&Model>,
    checkpoint: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, Vec<Entry>, Option<String>)> {
    let dataset = answers.dataset(&data.matrix)?;
    let training = params.training(classes_of(&dataset))?;
    let limit = max_time.map(seconds).transpose()?;
    let start = start.map(|model| Arc::clone(&model.inner));
    let (rows, columns) = (dataset.rows(), dataset.columns());
    let multiplications = rows.saturating_mul(rows.max(columns)).saturating_mul(columns.saturating_add(8));
    let is_small = Workers::are_idle_for(multiplications);
    let work = move |line: &Arc<door::Line>| {
        let workers = workers(threads, if is_small { 0 } else { usize::MAX })?;
        let beginning = match (&start, &checkpoint) {
            (_, Some(path)) if path.exists() => Beginning::Checkpoint(maxmargin_io::load_checkpoint(path)?),
            // A model of other data is no place to begin at.
            (Some(model), _) if model.is_training_data(&dataset, &workers) => Beginning::Model(model),
            _ => Beginning::Scratch,
        };
        let mut control = Attended::new(line, limit, checkpoint.clone());
        let model = training.fit_from(&dataset, beginning, &workers, &mut control)?;
        if model.stop() == Stop::Interrupted {
            return Err(Fault::Interrupted);
        }
        let (history, failure) = control.end();
        if let Some(path) = checkpoint.filter(|_| model.stop() == Stop::Converged) {
            maxmargin_io::remove_checkpoint(&path)?;
        }
        Ok((model, history, failure))
    };
    let run = if is_small { door::run_here } else { door::run };
    let (model, history, failure) = run(py, Watch(progress), work)?;
    Ok((Model::from(model), history, failure))
}

/// The first steps of the solver, at most `most`, as JSON; none where the solver shows none.
#[pyfunction]
pub(crate) fn steps(
    py: Python<'_>,
    data: &Data,
    answers: Answers<'_>,
    params: Params,
    threads: usize,
    most: usize,
) -> PyResult<String> {
    let dataset = answers.dataset(&data.matrix)?;
    let training = params.training(classes_of(&dataset))?;
    door::run(py, Watch::default(), move |line| {
        let mut control = Attended::with_steps(line, most);
        training.fit(&dataset, &workers(threads, usize::MAX)?, &mut control)?;
        if line.interrupted() {
            return Err(Fault::Interrupted);
        }
        in_json(serde_json::to_string(&control.into_steps()))
    })
}

/// Gives a model its probabilities. `how`: `auto`, `leave-one-out`, `folds` or `platt`.
#[pyfunction]
pub(crate) fn calibrate(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    answers: Answers<'_>,
    params: Params,
    threads: usize,
    how: &str,
) -> PyResult<Model> {
    let dataset = answers.dataset(&data.matrix)?;
    let training = params.training(classes_of(&dataset))?;
    let how = match how {
        "auto" => CalibrationParams::default(),
        "leave-one-out" => CalibrationParams { held: Some(Held::LeaveOneOut), platt: false },
        "folds" => CalibrationParams { held: Some(Held::Folds(5)), platt: false },
        "platt" => CalibrationParams { held: Some(Held::Folds(5)), platt: true },
        other => {
            return Err(InputError::new_err(format!(
                "{other:?} is no way to calibrate\nhelp: auto, leave-one-out, folds and platt are"
            )));
        }
    };
    let inner = Arc::clone(&model.inner);
    let work = move |line: &Arc<door::Line>| {
        let workers = workers(threads, usize::MAX)?;
        let mut control = Attended::new(line, None, None);
        match training.calibrate(&inner, &dataset, how, &workers, &mut control)? {
            ControlFlow::Continue(model) => Ok(model),
            ControlFlow::Break(_) => Err(Fault::Interrupted),
        }
    };
    Ok(Model::from(door::run(py, Watch::default(), work)?))
}

/// Seconds of a limit on time.
pub(crate) fn seconds(value: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(InputError::new_err(format!("max_time is {value}, but it must be a number of seconds above 0"))),
    }
}
