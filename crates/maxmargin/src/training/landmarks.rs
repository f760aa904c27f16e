//! Training on landmarks: the machines are linear ones over features, and become sums over the landmarks at the end.
//!
//! ```text
//! points --Span::features--> linear points --machines, as ever--> w, α --b = L'⁻¹ w--> sums over landmarks --(LM.1)--> proof
//! ```
//!
//! Groups, checkpoints, limits on time and certificates are those of linear machines. The landmarks are the same for all machines of a model.

use std::ops::ControlFlow;

use super::assembly::Trained;
use super::machines::Shared;
use super::{Beginning, Training, TrainingParams};
use crate::checkpoint::CheckpointControl;
use crate::control::{Control, Progress, Stop, Unkept};
use crate::data::{Dataset, Matrix};
use crate::error::{Error, Parameter};
use crate::kernel::{Gram, Kernel, KernelParams, Points};
use crate::landmarks::{DualPoint, LEAST_PIVOT, Span, draw, prove};
use crate::model::{Model, Multiclass};
use crate::problem::{Penalty, Task};
use crate::provenance::Note;
use crate::recipe::Recipe;
use crate::room::check_room;
use crate::solver::Aim;
use crate::workers::Workers;

/// How many landmarks a training takes, and what it proves of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landmarks {
    /// How many rows are drawn; the first number, where `until` doubles it.
    pub count: usize,
    /// Whether the distance to the exact machine is proved, (LM.1).
    pub prove: bool,
    /// Doubles the number until the proved relative gap of every machine is at most this.
    pub until: Option<f64>,
}

impl Landmarks {
    /// The first number of landmarks where nobody names one.
    pub const FIRST: usize = 500;
}

/// The features of all rows, and the machines' recipe over them.
pub(super) struct Lifted {
    span: Span,
    pub(super) recipe: Recipe,
    pub(super) points: Points,
    /// Why there are no features, where the control broke before they were made.
    broken: Option<Stop>,
}

impl TrainingParams {
    /// Landmarks go with kernels and with a penalty, for classes and for numbers.
    pub(super) fn check_landmarks(&self) -> Result<(), Error> {
        let Some(Landmarks { count, until, .. }) = self.landmarks else { return Ok(()) };
        if count == 0 {
            return Err(Error::parameter(Parameter::Landmarks, count, "1 or more"));
        }
        if let Some(gap) = until
            && !(gap > 0.0 && gap.is_finite())
        {
            return Err(Error::parameter(Parameter::ProvedGap, gap, "a finite number above 0"));
        }
        let refuse = |what: String, help: &str| Err(Error::Combination { what, help: help.into() });
        match self.kernel {
            KernelParams::Linear => {
                let what = "landmarks stand in for the rows of a kernel, and the linear kernel has weights instead";
                return refuse(what.into(), "choose another kernel, such as rbf, or leave out landmarks");
            }
            KernelParams::Precomputed => {
                let what = "a precomputed kernel has no rows to draw landmarks from";
                return refuse(what.into(), "choose another kernel, such as rbf, or leave out landmarks");
            }
            _ => {}
        }
        if !matches!(self.task, Task::Classification | Task::Regression { .. }) {
            let what = format!("landmarks are for classification and regression, not for {}", self.task.name());
            return refuse(what, "leave out landmarks (and nu of a regression)");
        }
        if matches!(self.penalty, Penalty::Hard | Penalty::None | Penalty::Nu(_)) {
            let what = "landmarks go with a finite C: they have no hard margin, no nu, and are not without a penalty";
            return refuse(what.into(), "choose C, or leave out landmarks");
        }
        if !matches!(self.way(), Multiclass::OneVsOne | Multiclass::OneVsRest) {
            return refuse(
                "classes that are trained together have no landmarks".into(),
                "choose multiclass ovo or ovr, or leave out landmarks",
            );
        }
        if let Some(kind) = self.solver.filter(|kind| kind.facts().is_joint || kind.facts().aim != Aim::Minimum) {
            let what = format!("the solver {} does not minimise the objective that landmarks are for", kind.name());
            return refuse(what, "leave the solver out, or choose primal-newton");
        }
        Ok(())
    }
}

impl Training {
    /// The features of all rows; `None` where no landmarks are asked for.
    ///
    /// # Errors
    /// When there are fewer rows than landmarks, the kernel may not be positive semidefinite, or there is no memory.
    pub(super) fn lift(
        &self,
        recipe: &Recipe,
        points: &Points,
        weights: Option<&[f64]>,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<Option<Lifted>, Error> {
        let Some(Landmarks { count, .. }) = self.params.landmarks else { return Ok(None) };
        let kernel = &recipe.kernel;
        if !kernel.always_positive_semidefinite() {
            return Err(Error::Combination {
                what: format!("landmarks need a kernel that is positive semidefinite, which {kernel} may not be"),
                help: "choose another kernel, such as rbf, or leave out landmarks".into(),
            });
        }
        let rows: Vec<usize> =
            (0..points.len()).filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0)).collect();
        if count > rows.len() {
            return Err(Error::Combination {
                what: format!("{count} landmarks cannot be drawn from {} rows of a weight above 0", rows.len()),
                help: format!("give at most {} landmarks, or leave them out to train exactly", rows.len()),
            });
        }
        let all: Vec<usize> = (0..points.len()).collect();
        kernel.check_range(points, &all, workers)?;
        let need = bytes(points.len(), count);
        let most = most_landmarks(points.len(), self.params.settings.memory);
        let help = format!("give at most {most} landmarks, fewer rows, or more memory");
        if need > self.params.settings.memory {
            let what = format!("the features of {} rows on {count} landmarks", points.len());
            return Err(Error::Budget { what, need, budget: self.params.settings.memory, help });
        }
        check_room(|| format!("the features of {} rows on {count} landmarks", points.len()), need, u64::MAX, &help)?;
        let gram = Gram::new(kernel, points, workers);
        let drawn = draw(rows, count, self.params.settings.seed);
        let mut poll = || control.poll(Progress::default());
        let mut make = || -> ControlFlow<Stop, (Span, Vec<f64>)> {
            let span = Span::new(gram, &drawn, LEAST_PIVOT, &mut poll)?;
            let features = span.features(gram, &all, &mut poll)?;
            ControlFlow::Continue((span, features))
        };
        let (span, features, broken) = match make() {
            ControlFlow::Continue((span, features)) => (span, features, None),
            // Machines on no landmarks are constants; the control breaks them as soon as they begin.
            ControlFlow::Break(stop) => (Span::empty(), Vec::new(), Some(stop)),
        };
        let matrix = match span.rows().len() {
            0 => Matrix::without_columns(points.len()),
            columns => Matrix::dense(points.len(), columns, features)?,
        };
        let points = Points::by(workers, matrix, false);
        Ok(Some(Lifted { span, recipe: recipe.on_features(), points, broken }))
    }

    /// Makes sums over the landmarks of machines over features, and proves what was asked for. `shared` is that of the exact problem.
    ///
    /// # Errors
    /// When no exact problem can be made of a machine's rows.
    pub(super) fn land(
        &self,
        lifted: &Lifted,
        shared: &Shared<'_>,
        mut trained: Trained,
        control: &mut dyn Control,
    ) -> Result<Trained, Error> {
        let Lifted { span, broken, .. } = lifted;
        let asked = self.params.landmarks.map_or(0, |landmarks| landmarks.count);
        let is_proved = self.params.landmarks.is_some_and(|landmarks| landmarks.prove);
        let count = trained.machines.len();
        let mut points = Vec::with_capacity(count);
        for (number, machine) in trained.machines.iter_mut().enumerate() {
            let rows = machine.support.iter().map(|&place| trained.support_rows[place as usize]).collect();
            let mut point = DualPoint { rows, coefficients: std::mem::take(&mut machine.coefficients), proof: None };
            let weights = machine.weights.take().unwrap_or_default();
            machine.coefficients = span.coefficients(&weights);
            machine.support = (0..span.rows().len() as u32).collect();
            let mut stop = *broken;
            if let (true, None, Some(certificate)) = (is_proved, stop, machine.evidence.certificate()) {
                let (problem, _) = shared.problem(number)?;
                let mut own = vec![0.0; problem.len()];
                for (&row, &coefficient) in point.rows.iter().zip(&point.coefficients) {
                    if let Ok(place) = problem.rows().binary_search(&(row as usize)) {
                        own[place] = coefficient;
                    }
                }
                let iteration = machine.iterations;
                let progress = Progress { machine: (number, count), iteration, ..Progress::default() };
                match prove(&problem, certificate.primal, &own, &mut || control.poll(progress)) {
                    ControlFlow::Continue(proof) => point.proof = Some(proof),
                    ControlFlow::Break(reason) => stop = Some(reason),
                }
            }
            if let Some(stop) = stop.filter(|_| machine.stop == Stop::Converged) {
                machine.stop = stop;
            }
            if number == 0 && broken.is_none() {
                machine.notes.push(Note::OnLandmarks {
                    landmarks: span.rows().len(),
                    asked,
                    rows: shared.points.len(),
                });
            }
            points.push(point);
        }
        trained.support_rows = span.rows().iter().map(|&row| row as u64).collect();
        trained.vectors = Some(shared.points.matrix().select_rows(span.rows()));
        trained.landmarks = Some(points);
        Ok(trained)
    }

    /// Trains on more and more landmarks, until the proved relative gap is small enough.
    ///
    /// A limit that comes before that, on time or on memory, leaves the last model that has a proof, with the reason as its stop.
    ///
    /// # Errors
    /// As [`Training::fit_from`].
    pub(super) fn fit_until(
        &self,
        wanted: f64,
        data: &Dataset,
        beginning: Beginning<'_>,
        workers: &Workers,
        control: &mut dyn CheckpointControl,
    ) -> Result<Model, Error> {
        if let Beginning::Checkpoint(_) = beginning {
            return Err(Error::Combination {
                what: "a training that adds landmarks keeps no checkpoints, and goes on from none".into(),
                help: "give the number of landmarks, or begin from scratch".into(),
            });
        }
        let rows = data.weights().map_or(data.rows(), |weights| weights.iter().filter(|weight| **weight > 0.0).count());
        let mut count = self.params.landmarks.map_or(Landmarks::FIRST, |landmarks| landmarks.count).min(rows);
        let mut before: Option<Model> = None;
        loop {
            let landmarks = Some(Landmarks { count, prove: true, until: None });
            let training = Training { params: TrainingParams { landmarks, ..self.params.clone() }, loss: self.loss };
            let found = training.fit_from(data, beginning.clone(), workers, &mut Unkept(control));
            let model = match (found, before.take()) {
                // What does not fit leaves what does.
                (Err(Error::Budget { .. } | Error::Memory { .. } | Error::Refused { .. }), Some(before)) => {
                    return stopped(before, Stop::Stalled);
                }
                (found, None) => found?,
                (found, Some(before)) => {
                    let model = found?;
                    if matches!(model.stop(), Stop::TimeLimit | Stop::Interrupted) {
                        return stopped(before, model.stop());
                    }
                    model
                }
            };
            let is_proved = model.proved_gap().is_some_and(|gap| gap <= wanted);
            if is_proved || model.stop() != Stop::Converged {
                return Ok(model);
            }
            if count >= rows {
                return stopped(model, Stop::Stalled);
            }
            count = count.saturating_mul(2).min(rows);
            before = Some(model);
        }
    }
}

/// A model whose training did not reach what was asked for, for this reason.
fn stopped(model: Model, stop: Stop) -> Result<Model, Error> {
    let mut parts = model.into_parts();
    parts.machines.iter_mut().for_each(|machine| machine.stop = stop);
    Model::new(parts)
}

/// Bytes of the features, and of the landmarks' kernel matrix with its factor.
fn bytes(rows: usize, landmarks: usize) -> u64 {
    let (rows, landmarks) = (rows as u64, landmarks as u64);
    8 * landmarks.saturating_mul(rows.saturating_add(2 * landmarks))
}

/// The most landmarks whose features are within this many bytes.
fn most_landmarks(rows: usize, memory: u64) -> usize {
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if bytes(rows, middle) <= memory { low = middle } else { high = middle - 1 }
    }
    low
}
