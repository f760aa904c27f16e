//! Probabilities of a model that has none of its own: how often decision values of rows that it has not seen are right.
//!
//! ```text
//! Model --values of rows left out--> decision values --fit--> Calibration --> Model::probabilities
//! ```
//!
//! A machine's decision values of its own rows are too good, so these are estimated as if each row had been left out:
//! [`Held::LeaveOneOut`] from the one fit that there is, [`Held::Folds`] by fits that leave out some rows each. No rows are drawn, so
//! no seed changes a probability.

mod copies;
mod folds;
mod leave_one_out;
mod link;

use std::ops::ControlFlow;

use crate::control::{Control, Progress, Stop};
use crate::data::Dataset;
use crate::error::Error;
use crate::kernel::Points;
pub use crate::model::{Calibration, sigmoid};
use crate::model::{MARKS, Machine, Model};
use crate::problem::{Loss, MarginProblem, Task};
use crate::provenance::SolverKind;
use crate::recipe::{RowAnswers, row_weights};
use crate::training::Training;
use crate::workers::Workers;
use copies::Copies;
pub use link::NOISE_OUTLIERS;

/// Where the decision values come from that a calibration is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Each row left out in turn, by a formula
    ///
    /// ```text
    /// f₋ᵢ(x_i) = f(x_i) − c_i S_i²                                                                              (PR.3)
    /// ```
    ///
    /// with S_i the distance of φ(x_i) from the plane of the other free support vectors: exact where leaving the row out changes
    /// neither which vectors are free nor which are at their bound. Rows that are no support vectors keep their value exactly.
    LeaveOneOut,
    /// Every so many-th row of each class left out at a time, and a model trained without them.
    Folds(usize),
}

/// How probabilities are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalibrationParams {
    /// Where the decision values come from; `None`: each row left out by formula where that costs less than training anew, else five folds.
    pub held: Option<Held>,
    /// Platt's sigmoid (PR.2) instead of (PR.1).
    pub platt: bool,
}

/// Folds where nothing else is asked for.
pub(crate) const FOLDS: usize = 5;

impl Training {
    /// Gives a model that was trained on `data` its probabilities, or, a regression, its noise; breaks off when the control does.
    ///
    /// A model that has probabilities of its own (logistic loss, `lda` of several classes together) stays as it is.
    ///
    /// # Errors
    /// When the data is not the model's, leaving rows out by formula does not go with the model, or as [`Training::fit`].
    ///
    /// # Examples
    /// ```
    /// use maxmargin::calibration::CalibrationParams;
    /// use maxmargin::data::embedded;
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let (iris, workers) = (embedded("iris").unwrap(), Workers::none());
    /// let training = TrainingParams::default().check()?;
    /// let model = training.fit(&iris, &workers, &mut Unattended)?;
    /// let how = CalibrationParams::default();
    /// let model = training.calibrate(&model, &iris, how, &workers, &mut Unattended)?.continue_value().unwrap();
    /// let predictions = model.predict(&iris, &workers)?;
    /// let probabilities = model.probabilities(&predictions)?;
    /// assert!(probabilities[predictions.codes()[0] as usize] > 0.9);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn calibrate(
        &self,
        model: &Model,
        data: &Dataset,
        how: CalibrationParams,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, Model>, Error> {
        let parts = model.parts();
        if !model.is_training_data(data, workers) {
            return Err(Error::Data {
                what: "the model was trained on other data than that to calibrate it with".into(),
                help: "give the data that the model was trained on".into(),
            });
        }
        if parts.recipe.loss == Loss::Logistic && parts.recipe.task.is_classification()
            || parts.provenance.solver() == Some(SolverKind::Lda) && parts.joint.is_some()
        {
            return Ok(ControlFlow::Continue(model.clone()));
        }
        let points = model.align(data)?.points;
        let mut values = model.decision_values(&points, workers);
        if matches!(parts.recipe.task, Task::OneClass { .. } | Task::Svdd { .. }) {
            let marks = link::marks(&mut values).ok_or_else(|| Error::Data {
                what: format!("fewer than {} rows lie on one side of the boundary, too few for marks", MARKS / 2),
                help: "choose a larger nu, or give more rows".into(),
            })?;
            return with(model, vec![Calibration::Marks(marks)]).map(ControlFlow::Continue);
        }
        let codes: Vec<u32> = if parts.recipe.task.is_regression() {
            vec![0; data.rows()]
        } else {
            model.codes(data).into_iter().map(|code| code.unwrap_or(0)).collect()
        };
        let targets = parts.recipe.task.is_regression().then(|| data.numbers()).transpose()?;
        let weights = row_weights(data.weights(), &codes, parts.recipe.class_weights.as_deref());
        let mut answers = RowAnswers {
            classes: parts.classes.len(),
            codes: &codes,
            targets: targets.as_deref(),
            weights: weights.as_deref(),
            of_class: None,
        };
        // A row of weight k and k copies of it are the same, and a row is not left out as long as a copy of it stays.
        let copies = Copies::find(data.matrix(), answers);
        if let Some(copies) = &copies {
            answers.weights = Some(&copies.weights);
        }
        let of_class = parts.recipe.rows_of_classes(answers);
        answers.of_class = of_class.as_ref();
        let seen = Seen { model, data, points: &points, values: &values, answers, copies: copies.as_ref(), workers };
        let held = match self.held_out(&seen, how.held, control)? {
            ControlFlow::Continue(held) => held,
            ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
        };
        let calibrations = match (&targets, &parts.joint) {
            (Some(targets), _) => vec![Calibration::Noise { scale: seen.noise(targets, &held) }],
            (None, Some(_)) => {
                let slope = seen.temperature(&held);
                vec![Calibration::Sigmoid { slope, offset: 0.0 }; model.machines().len()]
            }
            (None, None) => {
                let rows = (0..model.machines().len()).map(|number| seen.rows_of_machine(number, &held));
                rows.map(|rows| if how.platt { link::platt(&rows) } else { link::slopes(&rows) }).collect()
            }
        };
        with(model, calibrations).map(ControlFlow::Continue)
    }

    /// Decision values as if each row had been left out, one a machine and row.
    fn held_out(
        &self,
        seen: &Seen<'_>,
        held: Option<Held>,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, Vec<f64>>, Error> {
        if let Some(Held::Folds(folds)) = held {
            return self.by_folds(seen, folds, control);
        }
        match seen.by_formula(held == Some(Held::LeaveOneOut), control)? {
            ControlFlow::Break(stop) => Ok(ControlFlow::Break(stop)),
            ControlFlow::Continue(Some(found)) => Ok(ControlFlow::Continue(found)),
            ControlFlow::Continue(None) if held == Some(Held::LeaveOneOut) => Err(Error::Combination {
                what: format!("rows of a model by {} cannot be left out by formula", seen.model.provenance().origin),
                help: "calibrate by folds".into(),
            }),
            ControlFlow::Continue(None) => self.by_folds(seen, FOLDS, control),
        }
    }
}

/// A model and the data it was trained on.
struct Seen<'a> {
    model: &'a Model,
    data: &'a Dataset,
    points: &'a Points,
    /// Its decision values of all rows, one a machine and row.
    values: &'a [f64],
    /// The weights are those of rows with all of their copies.
    answers: RowAnswers<'a>,
    copies: Option<&'a Copies>,
    workers: &'a Workers,
}

impl Seen<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.answers.weights.map_or(1.0, |weights| weights[row])
    }

    /// Decision values with each row left out by (PR.3); `None` where the model has no coefficients to go by, or it costs too much.
    fn by_formula(
        &self,
        any_cost: bool,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, Option<Vec<f64>>>, Error> {
        let parts = self.model.parts();
        let expanded = parts.machines.iter().all(|machine| !machine.support.is_empty());
        // (PR.3) needs the coefficients of all rows, of which landmarks are some.
        let expanded = expanded && parts.landmarks.is_none();
        if parts.joint.is_some() || !parts.recipe.norm.is_l2() || parts.recipe.loss == Loss::Logistic || !expanded {
            return Ok(ControlFlow::Continue(None));
        }
        let (mut all, count) = (self.values.to_vec(), parts.machines.len());
        for (number, machine) in parts.machines.iter().enumerate() {
            let (problem, _) =
                parts.recipe.machine_problem(self.points, self.workers, self.answers, machine.pairing, machine.cost)?;
            let values: Vec<f64> = problem.rows().iter().map(|&row| self.values[row * count + number]).collect();
            let coefficients = self.coefficients(machine, &problem);
            let mut poll = || control.poll(Progress { machine: (number, count), ..Progress::default() });
            match leave_one_out::values(&problem, &coefficients, values, any_cost, &mut poll) {
                ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
                ControlFlow::Continue(None) => return Ok(ControlFlow::Continue(None)),
                ControlFlow::Continue(Some(found)) => {
                    problem.rows().iter().zip(found).for_each(|(&row, value)| all[row * count + number] = value);
                }
            }
        }
        if let Some(copies) = self.copies {
            for (row, &first) in copies.first.iter().enumerate().filter(|(row, first)| row != *first) {
                all.copy_within(first * count..(first + 1) * count, row * count);
            }
        }
        Ok(ControlFlow::Continue(Some(all)))
    }

    /// The coefficient of each row of a machine's problem: those of its copies added to its own.
    fn coefficients(&self, machine: &Machine, problem: &MarginProblem<'_>) -> Vec<f64> {
        let Some(copies) = self.copies else { return self.model.coefficients_at(machine, problem.rows()) };
        let mut coefficients = vec![0.0; problem.len()];
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            let row = copies.first[self.model.parts().support_rows[place as usize] as usize];
            if let Ok(i) = problem.rows().binary_search(&row) {
                coefficients[i] += coefficient;
            }
        }
        coefficients
    }

    /// The rows of a machine's classes.
    fn rows_of_machine(&self, number: usize, held: &[f64]) -> Vec<link::Row> {
        let (machines, pairing) = (self.model.machines().len(), self.model.machines()[number].pairing);
        let row = |(row, &code): (usize, &u32)| {
            let (sign, weight) = (pairing.sign(code as usize)?, self.weight(row));
            let value = held[row * machines + number];
            (weight > 0.0).then_some(link::Row { value, positive: sign > 0.0, weight })
        };
        self.answers.codes.iter().enumerate().filter_map(row).collect()
    }

    /// The factor on the decision values of classes that were trained together.
    fn temperature(&self, held: &[f64]) -> f64 {
        let rows = held.chunks(self.model.machines().len()).zip(self.answers.codes).enumerate();
        let rows: Vec<_> = rows.map(|(row, (values, &code))| (values, code as usize, self.weight(row))).collect();
        link::temperature(&rows)
    }

    /// How far targets lie from the values.
    fn noise(&self, targets: &[f64], held: &[f64]) -> f64 {
        let residual = |(row, (target, value)): (usize, (&f64, &f64))| (target - value, self.weight(row));
        let residuals: Vec<(f64, f64)> = targets.iter().zip(held).enumerate().map(residual).collect();
        link::noise(&residuals)
    }
}

/// Platt's sigmoid for decision values of rows that a model has not seen, and whether each row is of the positive class.
///
/// # Errors
/// When the lists are not equally long.
pub fn platt(values: &[f64], positive: &[bool]) -> Result<Calibration, Error> {
    if values.len() != positive.len() {
        let (left, right) = (format!("{} values", values.len()), format!("{} rows", positive.len()));
        return Err(Error::Shape { operation: "platt", left, right });
    }
    let row = |(&value, &positive): (&f64, &bool)| link::Row { value, positive, weight: 1.0 };
    Ok(link::platt(&values.iter().zip(positive).map(row).collect::<Vec<_>>()))
}

/// The noise of a regression, from the residuals of rows that it has not seen: (PR.8).
pub fn noise(residuals: &[f64]) -> Calibration {
    let weighed: Vec<(f64, f64)> = residuals.iter().map(|&residual| (residual, 1.0)).collect();
    Calibration::Noise { scale: link::noise(&weighed) }
}

/// The model with a calibration for each machine.
fn with(model: &Model, calibrations: Vec<Calibration>) -> Result<Model, Error> {
    let mut parts = model.parts().clone();
    parts.machines.iter_mut().zip(calibrations).for_each(|(machine, found)| machine.calibration = Some(found));
    Model::new(parts)
}

#[cfg(test)]
mod tests;
