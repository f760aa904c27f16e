//! `fit` and `calibrate`: the two calls that may take long.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use maxmargin::calibration::{CalibrationParams, Held};
use maxmargin::data::Dataset;
use maxmargin::kernel::KernelParams;
use maxmargin::model::Multiclass;
use maxmargin::problem::{Loss, Norm, Task};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::{Beginning, Stop, Training, TrainingParams, Workers};
use pyo3::prelude::*;

use crate::control::{Attended, Entry};
use crate::data::{Data, workers};
use crate::door::{self, Watch};
use crate::errors::{Fault, InputError};
use crate::model::Model;
use crate::params::{Answers, Params};

/// Multiplications of a small fit, which is done before a team of threads has come. The bits are the same either way.
const SMALL_FIT: usize = 16_000_000;

/// Rows up to which an answer is polished: as good as the arithmetic allows, whatever the tolerance.
const POLISHED_ROWS: usize = 500;
/// Products of a Newton step up to which the library takes one more for the last digits.
const FEW_PRODUCTS: f64 = 4e5;
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
    let (rows, columns) = (dataset.rows(), dataset.columns());
    let is_small = rows.saturating_mul(rows.max(columns)).saturating_mul(columns.saturating_add(8)) < SMALL_FIT;
    let work = move |line: &Arc<door::Line>| {
        let workers = workers(threads, if is_small { 0 } else { usize::MAX })?;
        let beginning = match (&start, &checkpoint) {
            (_, Some(path)) if path.exists() => Beginning::Checkpoint(maxmargin_io::load_checkpoint(path)?),
            // A model of other data is no place to begin at.
            (Some(model), _) if model.parts().fingerprint == dataset.fingerprint() => Beginning::Model(model),
            _ => Beginning::Scratch,
        };
        let mut control = Attended::new(line, limit, checkpoint.clone());
        let (kernel, task) = (&training.params().kernel, training.params().task);
        let may_polish = (matches!(kernel, KernelParams::Linear | KernelParams::Precomputed)
            || matches!(task, Task::NuRegression { .. }))
            && training.params().settings.max_iterations.is_none_or(|most| most > 1)
            && polish
            && !has_last_digits(&training, &dataset)
            && dataset.rows() <= POLISHED_ROWS
            && matches!(beginning, Beginning::Scratch)
            && checkpoint.is_none();
        let model = if may_polish {
            polished(&training, &dataset, &workers, &mut control)?
        } else {
            training.fit_from(&dataset, beginning, &workers, &mut control)?
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
    let run = if is_small { door::run_here } else { door::run };
    let (model, history, failure) = run(py, Watch(progress), work)?;
    Ok((Model::from(model), history, failure))
}

/// Whether Newton's method finds the last digits by itself: of a squared loss that stops at a gap, with few columns.
fn has_last_digits(training: &Training, data: &Dataset) -> bool {
    let params = training.params();
    let is_small = (data.rows() as f64) * (data.columns() as f64).powi(2) <= FEW_PRODUCTS;
    let is_squared = params.loss == Some(Loss::Squared) && params.norm == Norm::L2;
    let is_apart = matches!(params.way(), Multiclass::OneVsOne | Multiclass::OneVsRest);
    is_small && is_squared && is_apart && params.settings.gap.is_some()
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
    settings.tolerance = Some((settings.tolerance() * POLISH).max(FINEST));
    // A gap is a difference of large numbers that are nearly the same, and goes with the square of the distance from the optimum: the
    // last digits are a matter of the violation, which Newton's method finds soon, but for corners in a space of many columns.
    let mut solver = asked.solver;
    let soon = asked.loss.is_some_and(|loss| loss != Loss::Hinge) || data.columns() <= data.rows();
    let together = !matches!(asked.way(), Multiclass::OneVsOne | Multiclass::OneVsRest);
    settings.gap = settings.gap.map(|gap| (gap * POLISH).max(f64::EPSILON)).filter(|_| !(soon || together));
    if asked.settings.gap.is_some() && soon && !together {
        let newton = if asked.norm == Norm::L1 { SolverKind::L1Newton } else { SolverKind::PrimalNewton };
        solver = solver.or(Some(newton));
    }
    if asked.settings.gap.is_none() && !together && asked.loss.is_none_or(|loss| loss == Loss::Hinge) {
        // Its coefficients are asked for as well, not only its weights.
        solver = solver.or(Some(SolverKind::BlockSmo));
    }
    settings.max_iterations = settings.max_iterations.or(Some(POLISHING_STEPS));
    let finer = TrainingParams { settings, solver, ..asked.clone() }.check()?;
    let model = finer.fit(data, workers, control)?;
    if matches!(model.stop(), Stop::Interrupted | Stop::TimeLimit | Stop::Diverged) {
        return Ok(model);
    }
    match as_asked(&model, asked, data, workers)? {
        Some(model) => Ok(model),
        None if asked.settings.max_iterations.is_some() => Ok(model),
        None => Ok(training.fit(data, workers, control)?),
    }
}

/// The model as one of the tolerance that was asked for, if it is.
fn as_asked(
    model: &maxmargin::Model,
    asked: &TrainingParams,
    data: &Dataset,
    workers: &Workers,
) -> Result<Option<maxmargin::Model>, Fault> {
    let mut parts = model.parts().clone();
    let settings = &asked.settings;
    // Relative gap and violation; machines that were trained together have one certificate.
    let of_all = parts.joint.as_ref().and_then(|evidence| evidence.certificate());
    let of_all = of_all.map(|certificate| (certificate.relative_gap, certificate.violation));
    for machine in &mut parts.machines {
        let own = machine.evidence.certificate().map(|certificate| (certificate.relative_gap, certificate.violation));
        let reached = match (machine.stop, own.or(of_all), settings.gap) {
            (Stop::Converged, ..) => true,
            (_, Some((relative_gap, _)), Some(gap)) => relative_gap <= gap,
            // What the last digits of a regression are in the units of its targets is the library's to say.
            (_, Some((relative_gap, violation)), None) => {
                !asked.task.is_regression() && relative_gap <= Settings::KERNEL_GAP && violation <= settings.tolerance()
            }
            (_, None, _) => false,
        };
        if !reached {
            return Ok(None);
        }
        machine.stop = Stop::Converged;
    }
    parts.tolerance = settings.tolerance();
    // Which rows lie on the margin is a matter of the tolerance: they are counted again by this one.
    let found = maxmargin::Model::new(parts.clone())?.verify(data, workers)?;
    parts.machines.iter_mut().zip(found.evidence).for_each(|(machine, evidence)| machine.evidence = evidence);
    parts.joint = found.joint.or(parts.joint);
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
