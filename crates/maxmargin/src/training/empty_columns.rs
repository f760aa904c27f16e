//! Linear machines over many columns of which few have an entry: hashed features, or a file whose columns are numbered with gaps.
//!
//! The weight of a column without an entry is 0, whatever is minimised. Solvers keep several vectors of one number a column, and 10⁸ columns
//! would take gigabytes for two rows. So a training sees the columns that have an entry, in their order, and memory follows the entries.

use super::{Beginning, Training};
use crate::checkpoint::CheckpointControl;
use crate::data::{Dataset, Scaling};
use crate::error::Error;
use crate::kernel::KernelParams;
use crate::model::{Model, ModelParts};
use crate::problem::Task;
use crate::provenance::Note;
use crate::solver::SolverKind;
use crate::workers::Workers;

impl Training {
    /// The columns to train on, where most columns of the data have no entry and do not matter.
    pub(super) fn occupied_columns(&self, data: &Dataset) -> Option<Vec<u32>> {
        let params = &self.params;
        // A ball measures the length of rows, `lda` the scatter of all columns, and the weights of a network are of its layers.
        let by_column = matches!(params.kernel, KernelParams::Linear)
            && !matches!(params.task, Task::Svdd { .. })
            && !matches!(params.solver, Some(SolverKind::Lda | SolverKind::Mlp));
        if by_column { data.matrix().few_occupied_columns() } else { None }
    }

    /// Trains on these columns alone.
    ///
    /// Where the source numbers its columns and leaves out those of zeros, the model knows its columns by their numbers. Elsewhere it has a weight
    /// for each column of the data.
    ///
    /// # Errors
    /// As [`Training::fit_from`], and when there is no memory for a weight a column.
    pub(super) fn fit_occupied(
        &self,
        data: &Dataset,
        columns: &[u32],
        beginning: Beginning<'_>,
        workers: &Workers,
        control: &mut dyn CheckpointControl,
    ) -> Result<Model, Error> {
        let (narrow, fingerprint) = (data.narrowed(columns)?, data.fingerprint_by(workers));
        let as_narrow = |model: &Model| {
            let mut parts = narrowed(model.parts(), columns, &narrow)?;
            if data.has_fingerprint(&parts.provenance.fingerprint, workers) {
                parts.provenance.fingerprint = narrow.fingerprint_by(workers);
            }
            Model::new(parts)
        };
        let model = match beginning {
            Beginning::Model(model) => {
                let model = as_narrow(model)?;
                self.fit_columns(&narrow, Beginning::Model(&model), workers, control)?
            }
            Beginning::Part { model, rows } => {
                let model = as_narrow(model)?;
                self.fit_columns(&narrow, Beginning::Part { model: &model, rows }, workers, control)?
            }
            Beginning::Scratch | Beginning::Checkpoint(_) => self.fit_columns(&narrow, beginning, workers, control)?,
        };
        let mut parts = model.into_parts();
        if data.has_open_columns() && data.names().is_none() {
            if let Some(first) = parts.machines.first_mut() {
                first.notes.push(Note::FewColumns { used: columns.len(), columns: data.columns() });
            }
            return Model::new(parts);
        }
        parts.provenance.fingerprint = fingerprint;
        widen(&mut parts, columns, data, self.params.settings.memory)?;
        Model::new(parts)
    }
}

/// A model over some columns of the data, to begin at. Of columns that it does not have the weight is 0.
fn narrowed(old: &ModelParts, columns: &[u32], narrow: &Dataset) -> Result<ModelParts, Error> {
    // The number of each weight's column, where the model has not got all of them.
    let number = |name: &String| name.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
    let listed: Option<Vec<u32>> = old.names.as_ref().and_then(|names| names.iter().map(number).collect());
    let listed = listed.filter(|listed| listed.is_sorted_by(|a, b| a < b));
    let place = |column: &u32| match &listed {
        Some(listed) => listed.binary_search(column).ok(),
        None => Some(*column as usize),
    };
    let places: Vec<Option<usize>> = columns.iter().map(place).collect();
    let mut parts = old.clone();
    for weights in parts.machines.iter_mut().flat_map(|machine| &mut machine.weights) {
        let weight = |place: &Option<usize>| place.and_then(|place| weights.get(place)).copied().unwrap_or(0.0);
        *weights = places.iter().map(weight).collect();
    }
    parts.columns = columns.len();
    parts.names = narrow.names().map(<[String]>::to_vec);
    // A start has no use for it.
    parts.scaling = None;
    Ok(parts)
}

/// Gives a model all columns of the data: 0 for those that it was not trained on.
fn widen(parts: &mut ModelParts, columns: &[u32], data: &Dataset, budget: u64) -> Result<(), Error> {
    let machines = parts.machines.len() as u64;
    let lack = |_| Error::Memory {
        what: format!("a weight for each of {} columns", data.columns()),
        need: machines.saturating_mul(8 * data.columns() as u64),
        budget,
    };
    let spread = |values: &[f64], empty: f64| -> Result<Vec<f64>, Error> {
        let mut all = Vec::new();
        all.try_reserve_exact(data.columns()).map_err(lack)?;
        all.resize(data.columns(), empty);
        columns.iter().zip(values).for_each(|(&column, &value)| all[column as usize] = value);
        Ok(all)
    };
    for weights in parts.machines.iter_mut().flat_map(|machine| &mut machine.weights) {
        *weights = spread(weights, 0.0)?;
    }
    if let Some(scaling) = &parts.scaling {
        // A column of zeros has the offset 0 and the factor 1.
        let (offsets, factors) = (spread(scaling.offsets(), 0.0)?, spread(scaling.factors(), 1.0)?);
        parts.scaling = Some(Scaling::from_parts(scaling.kind(), offsets, factors)?);
    }
    parts.columns = data.columns();
    parts.names = data.names().map(<[String]>::to_vec);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Label, Labels, Matrix, ScalingKind};
    use crate::problem::{Loss, Norm};
    use crate::training::{Penalty, TrainingParams};

    const WIDE: usize = 2_147_483_647;

    /// Rows of a few entries, in columns that are spread over `columns`; the data has the first, or the gaps closed.
    fn rows(columns: usize) -> Dataset {
        let (mut offsets, mut indices, mut values, mut labels) = (vec![0u64], Vec::new(), Vec::new(), Vec::new());
        for row in 0..30usize {
            for k in 0..4usize {
                let column = 10 * k + row * (k + 3) % 10;
                let wide = (column as u64 * (columns as u64 - 1) / 39) as u32;
                indices.push(if columns == 40 { column as u32 } else { wide });
                values.push(1.0 + ((row * 7 + k * 5) % 11) as f64);
            }
            offsets.push(indices.len() as u64);
            labels.push(Label::new(["a", "b", "c"][row * row % 3]));
        }
        let matrix = Matrix::sparse(30, columns, offsets, indices, values).unwrap();
        Dataset::new(matrix, Labels::new(labels)).unwrap()
    }

    fn params(norm: Norm) -> TrainingParams {
        let loss = Some(if norm == Norm::L1 { Loss::Squared } else { Loss::Hinge });
        TrainingParams { norm, loss, penalty: Penalty::C(0.5), ..TrainingParams::default() }
    }

    #[test]
    fn two_thousand_million_columns_cost_what_their_entries_do_and_give_the_same_weights() {
        for (norm, scaling) in
            [(Norm::L2, ScalingKind::None), (Norm::L2, ScalingKind::MinMax), (Norm::L1, ScalingKind::None)]
        {
            let training = TrainingParams { scaling, ..params(norm) }.check().unwrap();
            let (close, wide) = (rows(40), rows(WIDE).with_open_columns());
            let fit = |data: &Dataset| training.fit(data, &Workers::none(), &mut Unattended).unwrap();
            let (expected, found) = (fit(&close), fit(&wide));
            for (one, other) in expected.machines().iter().zip(found.machines()) {
                let all = one.weights.as_ref().unwrap();
                let own: Vec<f64> = all.iter().copied().filter(|weight| *weight != 0.0).collect();
                let other: Vec<f64> = other.weights.iter().flatten().copied().filter(|weight| *weight != 0.0).collect();
                assert_eq!(own.len(), other.len(), "{norm:?}");
                assert!(own.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-9), "{norm:?}");
            }
            assert!(found.parts().columns <= 40);
            let predict = |model: &Model, data: &Dataset| model.predict(data, &Workers::none()).unwrap();
            assert_eq!(predict(&expected, &close).codes(), predict(&found, &wide).codes());
            let verified = found.verify(&wide, &Workers::none()).unwrap();
            assert!(verified.disagreements.is_empty() && verified.same_data == Some(true));
            // From where it is, it has nowhere to go.
            let again = training.fit_from(&wide, Beginning::Model(&found), &Workers::none(), &mut Unattended).unwrap();
            assert_eq!(predict(&again, &wide).codes(), predict(&found, &wide).codes());
        }
    }

    #[test]
    fn columns_of_an_array_keep_their_places() {
        let columns = 3 << 20;
        let training = params(Norm::L2).check().unwrap();
        let (close, wide) = (rows(40), rows(columns));
        let fit = |data: &Dataset| training.fit(data, &Workers::none(), &mut Unattended).unwrap();
        let (expected, found) = (fit(&close), fit(&wide));
        assert_eq!(found.parts().columns, columns);
        for (one, other) in expected.machines().iter().zip(found.machines()) {
            let (one, other) = (one.weights.as_ref().unwrap(), other.weights.as_ref().unwrap());
            for (column, weight) in one.iter().enumerate() {
                let found = other[(column as u64 * (columns as u64 - 1) / 39) as usize];
                assert!((found - weight).abs() < 1e-9, "{column}: {found} {weight}");
            }
        }
        assert_eq!(found.provenance().fingerprint, wide.fingerprint());
    }
}
