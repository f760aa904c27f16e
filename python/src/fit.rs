//! `fit` and `calibrate`: the two calls that may take long.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use maxmargin::calibration::{CalibrationParams, Held};
use maxmargin::data::Dataset;
use maxmargin::{Beginning, Stop, Training, TrainingParams, Workers};
use pyo3::prelude::*;

use crate::control::{Attended, Entry};
use crate::data::{Data, workers};
use crate::door::{self, Watch};
use crate::errors::{Fault, InputError};
use crate::model::Model;
use crate::params::{Answers, Params};

/// Rows up to which an answer is polished: as good as the arithmetic allows, whatever the tolerance.
const POLISHED_ROWS: usize = 500;
/// How much smaller the tolerance is for it, and how small at least.
const POLISH: f64 = 1e-7;
const FINEST: f64 = 1e-12;
/// Steps that a polished answer may take.
const POLISHING_STEPS: u64 = 200_000;

/// Trains a model. Returns it with the history of the steps, and a word of warning if there is one.
#[pyfunction]
#[pyo3(signature = (data, answers, params, threads, max_time=None, start=None, checkpoint=None, progress=None, polish=false))]
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
    polish: bool,
) -> PyResult<(Model, Vec<Entry>, Option<String>)> {
    let dataset = answers.dataset(&data.matrix)?;
    let training = params.training(dataset.labels().classes())?;
    let limit = max_time.map(seconds).transpose()?;
    let start = start.map(|model| Arc::clone(&model.inner));
    let work = move |line: &Arc<door::Line>| {
        let workers = workers(threads, usize::MAX)?;
        let beginning = match (&start, &checkpoint) {
            (_, Some(path)) if path.exists() => Beginning::Checkpoint(maxmargin_io::load_checkpoint(path)?),
            (Some(model), _) => Beginning::Model(model),
            _ => Beginning::Scratch,
        };
        let mut control = Attended::new(line, limit, checkpoint.clone());
        let may_polish = polish
            && dataset.rows() <= POLISHED_ROWS
            && matches!(beginning, Beginning::Scratch)
            && checkpoint.is_none();
        let model = match may_polish {
            true => polished(&training, &dataset, &workers, &mut control)?,
            false => training.fit_from(&dataset, beginning, &workers, &mut control)?,
        };
        if model.stop() == Stop::Interrupted {
            return Err(Fault::Interrupted);
        }
        let (history, failure) = control.end();
        if let Some(path) = checkpoint.filter(|_| model.stop() == Stop::Converged) {
            maxmargin_io::remove_checkpoint(&path)?;
        }
        Ok((model, history, failure))
    };
    let (model, history, failure) = door::run(py, Watch(progress), work)?;
    Ok((Model::from(model), history, failure))
}

/// A model to the last digits where that takes few steps, and to the tolerance where it does not.
fn polished(
    training: &Training,
    data: &Dataset,
    workers: &Workers,
    control: &mut Attended,
) -> Result<maxmargin::Model, Fault> {
    let asked = training.params();
    let mut settings = asked.settings.clone();
    settings.tolerance = (settings.tolerance * POLISH).max(FINEST);
    settings.gap = settings.gap.map(|gap| (gap * POLISH).max(f64::EPSILON));
    settings.max_iterations = settings.max_iterations.or(Some(POLISHING_STEPS));
    let finer = TrainingParams { settings, ..asked.clone() }.check()?;
    let model = finer.fit(data, workers, control)?;
    if matches!(model.stop(), Stop::Interrupted | Stop::TimeLimit | Stop::Diverged) {
        return Ok(model);
    }
    match as_asked(&model, asked)? {
        Some(model) => Ok(model),
        None if asked.settings.max_iterations.is_some() => Ok(model),
        None => Ok(training.fit(data, workers, control)?),
    }
}

/// The model as one of the tolerance that was asked for, if it is.
fn as_asked(model: &maxmargin::Model, asked: &TrainingParams) -> Result<Option<maxmargin::Model>, Fault> {
    let mut parts = model.parts().clone();
    let settings = &asked.settings;
    for machine in &mut parts.machines {
        let reached = match (machine.stop, machine.evidence.certificate(), settings.gap) {
            (Stop::Converged, ..) => true,
            (_, Some(certificate), Some(gap)) => certificate.relative_gap <= gap,
            (_, Some(certificate), None) => certificate.violation <= settings.tolerance,
            (_, None, _) => false,
        };
        if !reached {
            return Ok(None);
        }
        machine.stop = Stop::Converged;
    }
    parts.tolerance = settings.tolerance;
    Ok(Some(maxmargin::Model::new(parts)?))
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
    let training = params.training(dataset.labels().classes())?;
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

fn seconds(value: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(InputError::new_err(format!("max_time is {value}, but it must be a number of seconds above 0"))),
    }
}
