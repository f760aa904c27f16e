//! Ordinary fits, one for each cell and split: right for everything that a training can do. It is also the oracle of faster ways.
//!
//! Where work is shared, a cell begins at a neighbour of its chain: at the next larger ε with this C, else at the next smaller C.

use super::judge::Truth;
use super::scores::{HeldOut, Metric};
use super::search::{Job, Search};
use super::splits::Split;
use super::tasks::{self, Done};
use super::tuned::FoldResult;
use crate::calibration::{CalibrationParams, Held};
use crate::control::{Control, Progress, Stop, Unkept};
use crate::data::{Dataset, Label};
use crate::error::Error;
use crate::model::Model;
use crate::problem::Penalty;
use crate::provenance::SolverKind;
use crate::recipe::Multiclass;
use crate::training::{Beginning, TrainingParams};
use crate::workers::Workers;
use std::ops::ControlFlow;

/// Folds of the calibration that log loss needs.
const CALIBRATION_FOLDS: usize = 3;

/// What a job says: a result for each of its cells, in order, as far as it came.
pub(super) type JobResults = Vec<FoldResult>;

/// The rows of a split.
#[derive(Clone, Copy)]
struct Ground<'a> {
    /// All rows, as the split reads them.
    data: &'a Dataset,
    split: &'a Split,
    /// The rows to train on.
    part: &'a Dataset,
}

impl Search {
    /// Does the jobs, several at a time, and hands each result to `take`. The reason of a break, if there was one.
    ///
    /// # Errors
    /// As [`Training::fit`](crate::Training::fit), of the first job that fails.
    pub(super) fn fit_plainly(
        &self,
        shared: &Shared<'_>,
        jobs: &[Job],
        workers: &Workers,
        control: &mut dyn Control,
        take: &mut dyn FnMut(&Job, JobResults),
    ) -> Result<Option<Stop>, Error> {
        let mut failed: Option<(usize, Error)> = None;
        let work = |number: usize, control: &mut dyn Control| self.do_job(shared, &jobs[number], control);
        let done = Done { tasks_a_job: 1, ..shared.done };
        let broke = tasks::run(workers, jobs.len(), done, work, control, |number, result| match result {
            Ok((results, _)) => take(&jobs[number], results),
            Err(error) => {
                if failed.as_ref().is_none_or(|(other, _)| number < *other) {
                    failed = Some((number, error));
                }
            }
        });
        match failed {
            Some((_, error)) => Err(error),
            None => Ok(broke),
        }
    }

    /// The cells of a job, one after the other.
    fn do_job(
        &self,
        shared: &Shared<'_>,
        job: &Job,
        control: &mut dyn Control,
    ) -> Result<(JobResults, Option<Stop>), Error> {
        let mut results = Vec::with_capacity(job.cells.len());
        let Some(&first) = job.cells.first() else { return Ok((results, None)) };
        let (split, data) = (&self.params.splits.list()[job.split], self.data_of(job.split, shared.data));
        let part = self.trainings[first].part_of(data, &split.train)?;
        let ground = Ground { data, split, part: &part };
        let (mut models, mut larger): (Vec<Model>, Vec<Model>) = (Vec::new(), Vec::new());
        for (place, &cell) in job.cells.iter().enumerate() {
            if place > 0 && !self.differ_in_c_alone(job.cells[place - 1], cell) {
                larger = std::mem::take(&mut models);
            }
            let before = larger.get(models.len()).or(models.last()).filter(|_| self.can_begin_at_model(cell));
            match self.fit_cell(shared, cell, &ground, before, control)? {
                ControlFlow::Continue((result, model)) => {
                    results.push(result);
                    models.push(model);
                }
                ControlFlow::Break(stop) => return Ok((results, Some(stop))),
            }
        }
        Ok((results, None))
    }

    /// Whether the fit of a cell may begin at the model of a neighbour.
    fn can_begin_at_model(&self, cell: usize) -> bool {
        let TrainingParams { penalty, solver, multiclass, .. } = self.trainings[cell].params();
        let has_alpha = match solver {
            None => true,
            Some(solver) => matches!(
                solver,
                SolverKind::Smo
                    | SolverKind::BlockSmo
                    | SolverKind::DualAscent
                    | SolverKind::PrimalNewton
                    | SolverKind::L1Newton
            ),
        };
        let is_apart = matches!(multiclass, None | Some(Multiclass::OneVsOne | Multiclass::OneVsRest));
        self.params.tables && matches!(penalty, Penalty::C(_)) && has_alpha && is_apart
    }

    /// One fit of one cell on the training rows of a split, begun at a model of these rows where there is one.
    fn fit_cell(
        &self,
        shared: &Shared<'_>,
        cell: usize,
        ground: &Ground<'_>,
        before: Option<&Model>,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, (FoldResult, Model)>, Error> {
        let (training, alone) = (&self.trainings[cell], Workers::none());
        let Ground { data, split, part } = *ground;
        let beginning = before.map_or(Beginning::Scratch, Beginning::Model);
        let mut broke = None;
        let mut watch = |progress: Progress| {
            let answer = control.poll(progress);
            if let ControlFlow::Break(stop) = answer {
                broke = Some(stop);
            }
            answer
        };
        let mut fitted = training.fit_from(part, beginning, &alone, &mut Unkept(&mut watch))?;
        // From a neighbour a search may come to a halt that it does not meet from scratch.
        if before.is_some() && matches!(fitted.stop(), Stop::Stalled | Stop::IterationLimit) {
            fitted = training.fit(part, &alone, &mut watch)?;
        }
        if let Some(stop) = broke {
            return Ok(ControlFlow::Break(stop));
        }
        let mut calibrated = None;
        if matches!(self.params.metric, Metric::LogLoss) && !fitted.has_probabilities() {
            let how = CalibrationParams { held: Some(Held::Folds(CALIBRATION_FOLDS)), platt: false };
            match training.calibrate(&fitted, part, how, &alone, control)? {
                ControlFlow::Continue(found) => calibrated = Some(found),
                ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
            }
        }
        let model = calibrated.as_ref().unwrap_or(&fitted);
        let held = self.predict(shared, data, model, &split.test)?;
        let training_score = self.predict(shared, data, model, &split.train)?.score;
        let certificates: Option<Vec<_>> =
            model.machines().iter().map(|machine| machine.evidence.certificate()).collect();
        let of_machines = |of: &dyn Fn(&crate::certificate::Certificate) -> usize| -> Vec<usize> {
            certificates.iter().flatten().map(|certificate| of(certificate)).collect()
        };
        let pooled = model.parts().support_rows.len();
        let most = of_machines(&|certificate| certificate.counts.support).into_iter().max().unwrap_or(0);
        let margins = certificates.iter().flatten().map(|certificate| certificate.margin);
        let result = FoldResult {
            score: held.score,
            training: training_score,
            support: if pooled > 0 { pooled } else { most },
            bounded: of_machines(&|certificate| certificate.counts.bounded).into_iter().sum(),
            margin: margins.reduce(f64::min).filter(|margin| margin.is_finite()),
            gap: model.certificate().map(|summary| summary.relative_gap),
            steps: model.iterations(),
            stop: model.stop(),
            predicted: held.predicted,
            values: held.values,
        };
        Ok(ControlFlow::Continue((result, fitted)))
    }

    /// What a model says of some rows.
    fn predict(&self, shared: &Shared<'_>, data: &Dataset, model: &Model, rows: &[usize]) -> Result<Predicted, Error> {
        let alone = Workers::none();
        let metric = &self.params.metric;
        let aligned = model.align(&data.select_rows(rows))?;
        let predictions = model.predict_aligned(aligned, &alone);
        if let Truth::Numbers(numbers) = &shared.truth {
            let truth: Vec<f64> = rows.iter().map(|&row| numbers[row]).collect();
            let predicted: Vec<f64> = predictions.numbers().collect();
            let score = metric.score(&HeldOut::Numbers { truth: &truth, predicted: &predicted });
            return Ok(Predicted { score, values: Vec::new(), predicted });
        }
        let Truth::Classes(codes, classes) = &shared.truth else { return Err(Error::parameter("truth", 0, "there")) };
        let places: Vec<u32> = model.classes().iter().map(|class| shared.place(class)).collect();
        let truth: Vec<Option<u32>> = rows.iter().map(|&row| codes[row]).collect();
        let predicted: Vec<u32> = predictions.codes().iter().map(|&code| places[code as usize]).collect();
        let values: Vec<f64> = (0..rows.len()).flat_map(|row| predictions.decision_values(row).to_vec()).collect();
        let machines: Vec<_> = model
            .machines()
            .iter()
            .map(|machine| {
                let negative = machine.pairing.negative.map(|negative| places[negative] as usize);
                (places[machine.pairing.positive] as usize, negative)
            })
            .collect();
        let mut probabilities = Vec::new();
        if matches!(metric, Metric::LogLoss | Metric::Own(..)) && model.has_probabilities() {
            probabilities = vec![0.0; rows.len() * classes];
            let found = model.probabilities(&predictions)?;
            for (row, found) in found.chunks(places.len()).enumerate() {
                found.iter().zip(&places).for_each(|(p, &place)| probabilities[row * classes + place as usize] = *p);
            }
        }
        let score = metric.score(&HeldOut::Classes {
            truth: &truth,
            predicted: &predicted,
            classes: *classes,
            values: &values,
            machines: &machines,
            probabilities: &probabilities,
        });
        let values = if machines.len() == 1 { values } else { Vec::new() };
        Ok(Predicted { score, values, predicted: predicted.into_iter().map(f64::from).collect() })
    }
}

/// What a model says of some rows.
struct Predicted {
    score: Option<f64>,
    predicted: Vec<f64>,
    values: Vec<f64>,
}

/// What all jobs of a round share.
pub(super) struct Shared<'a> {
    pub(super) data: &'a Dataset,
    pub(super) truth: Truth,
    /// The classes, where there are some.
    pub(super) classes: Vec<Label>,
    pub(super) done: Done,
}

impl Shared<'_> {
    /// The class of a row, where it has one.
    pub(super) fn class_of(&self, row: usize) -> Option<u32> {
        match &self.truth {
            Truth::Classes(codes, _) => codes[row],
            Truth::Numbers(_) => None,
        }
    }

    /// The place of a class among all.
    pub(super) fn place(&self, class: &Label) -> u32 {
        self.classes.iter().position(|own| own == class).unwrap_or(self.classes.len().saturating_sub(1)) as u32
    }
}
