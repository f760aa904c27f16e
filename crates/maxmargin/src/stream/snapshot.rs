//! The state of a stream: everything that the next step depends on.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::estimate::Window;
use super::weights::Weights;
use super::{Batch, Estimate, StreamParams, StreamingSgd};
use crate::data::Label;
use crate::error::Error;

/// The state of a stream. A learner made from it reaches the same bits as one that was never interrupted.
#[derive(Clone, Debug)]
pub struct StreamSnapshot {
    /// Everything but the long vectors.
    pub state: StreamState,
    /// Two vectors for each machine, with one number for each column.
    pub vectors: Vec<Vec<f64>>,
}

/// A learner without its long vectors: small, and made to be saved.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct StreamState {
    params: StreamParams,
    classes: Vec<Label>,
    names: Option<Vec<String>>,
    columns: usize,
    machines: Vec<Weights>,
    steps: u64,
    squares: f64,
    learnt: u64,
    weight: [f64; 2],
    passes: u64,
    rows: u64,
    seen: u64,
    longest: u64,
    window: Window,
    held_out: [Estimate; 2],
    trace: u64,
    last_pass: Option<(u64, u64)>,
    batch: Batch,
}

impl StreamState {
    /// What the stream is learnt with.
    pub fn params(&self) -> &StreamParams {
        &self.params
    }
}

impl StreamingSgd {
    /// The present state.
    pub fn snapshot(&self) -> StreamSnapshot {
        let vectors = self.machines.iter().flat_map(|machine| [machine.direction.clone(), machine.late.clone()]);
        StreamSnapshot {
            vectors: vectors.collect(),
            state: StreamState {
                params: self.params.clone(),
                classes: self.classes.clone(),
                names: self.names.clone(),
                columns: self.columns,
                machines: self.machines.iter().map(Weights::without_vectors).collect(),
                steps: self.steps,
                squares: self.squares,
                learnt: self.learnt,
                weight: self.weight,
                passes: self.passes,
                rows: self.rows,
                seen: self.seen,
                longest: self.longest,
                window: self.window.clone(),
                held_out: self.held_out,
                trace: self.trace,
                last_pass: self.last_pass,
                batch: self.batch.clone(),
            },
        }
    }

    /// A learner that goes on from a state.
    ///
    /// # Errors
    /// When the parts do not fit each other.
    pub fn from_snapshot(snapshot: StreamSnapshot) -> Result<Self, Error> {
        let StreamSnapshot { state, vectors } = snapshot;
        let unfit = |what: &str| {
            Err(Error::Data {
                what: format!("the checkpoint does not fit: {what}"),
                help: "begin from scratch, or from an older checkpoint".into(),
            })
        };
        let fresh = state.params.clone().check()?;
        let (classes, machines) = (state.classes.len(), state.machines.len());
        let expected = match classes {
            0 => 0,
            1 => return unfit("it has one class"),
            2 => 1,
            more => more,
        };
        if machines != expected || vectors.len() != 2 * machines {
            return unfit("its machines are not those of its classes");
        }
        if vectors.iter().any(|vector| vector.len() != state.columns) {
            return unfit("its vectors are not one number a column");
        }
        if vectors.iter().flatten().any(|value| !value.is_finite()) {
            return unfit("a weight is not finite");
        }
        let batch = &state.batch;
        let entries = batch.rows.iter().try_fold(0usize, |sum, row| sum.checked_add(row.entries));
        let fits = entries == Some(batch.indices.len())
            && batch.values.len() == batch.indices.len()
            && batch.rows.len() < state.params.batch
            && batch.indices.iter().all(|&column| (column as usize) < state.columns)
            && batch.decisions.len() == batch.rows.len() * machines
            && batch.rows.iter().all(|row| (row.class as usize) < classes);
        if !fits {
            return unfit("the rows that wait for a step do not fit");
        }
        if state.names.as_ref().is_some_and(|names| names.len() != state.columns) {
            return unfit("its names are not one a column");
        }
        let mut vectors = vectors.into_iter();
        let mut machines = state.machines;
        for machine in &mut machines {
            machine.direction = vectors.next().unwrap_or_default();
            machine.late = vectors.next().unwrap_or_default();
        }
        Ok(StreamingSgd {
            classes: state.classes,
            names: state.names,
            columns: state.columns,
            machines,
            steps: state.steps,
            squares: state.squares,
            learnt: state.learnt,
            weight: state.weight,
            passes: state.passes,
            rows: state.rows,
            seen: state.seen,
            longest: state.longest,
            window: state.window,
            held_out: state.held_out,
            trace: state.trace,
            last_pass: state.last_pass,
            batch: state.batch,
            ..fresh
        })
    }
}
