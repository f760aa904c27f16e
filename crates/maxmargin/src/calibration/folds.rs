//! Decision values of rows that a model has not seen, by models trained without them.

use std::ops::ControlFlow;

use super::Seen;
use crate::control::{Control, Portion, Stop, Unkept};
use crate::data::{Dataset, Folds};
use crate::error::Error;
use crate::model::{Machine, Model};
use crate::training::{Beginning, Training};

impl Training {
    /// The decision values of each row by a model trained without its fold, which begins at the whole model's α.
    ///
    /// The rows of a class are dealt to the folds in turn. A class of fewer rows than folds may be missing from a fold, and the only
    /// row of a class is never left out: its values are the whole model's. Under a limit on time the folds share what is left of it, and a
    /// model that was broken off near its optimum is taken as it is.
    pub(super) fn by_folds(
        &self,
        seen: &Seen<'_>,
        folds: usize,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, Vec<f64>>, Error> {
        let Seen { model, data, values, workers, .. } = *seen;
        if folds < 2 || folds > data.rows() {
            return Err(Error::Parameter {
                parameter: "folds".into(),
                found: folds.to_string(),
                allowed: "from 2 to the number of rows",
            });
        }
        let (mut all, machines) = (values.to_vec(), model.machines().len());
        let folds: Vec<_> = deal(model, data, folds).each().filter(|(out, _)| !out.is_empty()).collect();
        let count = folds.len();
        for (number, (out, kept)) in folds.into_iter().enumerate() {
            let part = self.part_of(data, &kept)?;
            let beginning = Beginning::Part { model, rows: &kept };
            let mut portion = Portion::of_left(control, count - number);
            let trained = self.fit_from(&part, beginning, workers, &mut Unkept(&mut portion))?;
            if trained.stop() == Stop::Interrupted
                || trained.stop() == Stop::TimeLimit && !is_near_its_optimum(&trained)
            {
                return Ok(ControlFlow::Break(trained.stop()));
            }
            let found = trained.decision_values(&trained.align(&data.select_rows(&out))?.points, workers);
            for (row, values) in out.iter().zip(found.chunks(trained.machines().len())) {
                all[row * machines..(row + 1) * machines].copy_from_slice(values);
            }
        }
        Ok(ControlFlow::Continue(all))
    }
}

/// The largest relative gap of a model that a limit on time broke off and that still tells what rows look like that it has not seen. It begins
/// at the α of all rows, so with a larger gap it would know too much of those that were left out.
const MOST_GAP: f64 = 0.02;

/// Whether all machines of a model are so near their optimum that they hardly differ from it.
fn is_near_its_optimum(model: &Model) -> bool {
    let is_near =
        |machine: &Machine| machine.evidence.certificate().is_some_and(|found| found.relative_gap <= MOST_GAP);
    model.machines().iter().all(is_near)
}

/// The folds of the rows, dealt class by class in turn. A row of weight 0 is in no model, and so is left out by each.
fn deal(model: &Model, data: &Dataset, folds: usize) -> Folds {
    let codes = match model.task().is_regression() {
        true => vec![Some(0); data.rows()],
        false => model.codes(data),
    };
    let counts = |row: usize| data.weights().is_none_or(|weights| weights[row] > 0.0);
    Folds::in_turn(data.rows(), folds, |row| codes[row].filter(|_| counts(row)).map(|code| code as usize))
}
