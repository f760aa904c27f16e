//! Decision values of rows that a model has not seen, by models trained without them.

use std::ops::ControlFlow;

use super::Seen;
use crate::control::{Control, Stop, Unkept};
use crate::data::Dataset;
use crate::error::Error;
use crate::model::Model;
use crate::training::{Beginning, Training};

impl Training {
    /// The decision values of each row by a model trained without its fold, which begins at the whole model's α.
    ///
    /// The rows of a class are dealt to the folds in turn. A class of fewer rows than folds may be missing from a fold, and the only
    /// row of a class is never left out: its values are the whole model's.
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
        let fold = deal(model, data, folds);
        let (mut all, machines) = (values.to_vec(), model.machines().len());
        for number in 0..folds {
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..data.rows()).partition(|&row| fold[row] == Some(number));
            if out.is_empty() {
                continue;
            }
            let part = self.part_of(data, &kept)?;
            let beginning = Beginning::Part { model, rows: &kept };
            let trained = self.fit_from(&part, beginning, workers, &mut Unkept(control))?;
            if matches!(trained.stop(), Stop::Interrupted | Stop::TimeLimit) {
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

/// The fold of each row; `None` for rows that are never left out.
fn deal(model: &Model, data: &Dataset, folds: usize) -> Vec<Option<usize>> {
    let codes = match model.task().is_regression() {
        true => vec![Some(0); data.rows()],
        false => model.codes(data),
    };
    let classes = codes.iter().flatten().max().map_or(0, |&most| most as usize + 1);
    // A row of weight 0 is in no model, and so is left out by each.
    let counts = |row: usize| data.weights().is_none_or(|weights| weights[row] > 0.0);
    let mut sizes = vec![0usize; classes];
    codes
        .iter()
        .enumerate()
        .filter(|&(row, _)| counts(row))
        .filter_map(|(_, &code)| code)
        .for_each(|code| sizes[code as usize] += 1);
    let mut next = vec![0usize; classes];
    let turn = |(row, code): (usize, &Option<u32>)| {
        let class = (*code)? as usize;
        if !counts(row) || sizes[class] < 2 {
            return None;
        }
        next[class] += 1;
        Some((next[class] - 1) % folds)
    };
    codes.iter().enumerate().map(turn).collect()
}
