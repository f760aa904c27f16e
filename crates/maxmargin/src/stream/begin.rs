//! A stream that goes on from a model of rows that it has not seen itself.

use super::StreamingSgd;
use crate::error::Error;

/// The rows that another training made a model of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Before {
    /// How many they were.
    pub rows: u64,
    /// Σ ‖x‖² over them.
    pub squares: f64,
}

impl StreamingSgd {
    /// Begins at a model instead of at 0, as if its rows had been learnt and had led to these weights: steps are as short as after that many rows,
    /// and the average, if there is one, is the model. Takes one list of weights and one bias for each machine.
    ///
    /// # Errors
    /// When rows have been learnt, no classes were declared, lengths differ, or a number is not finite.
    pub fn begin_at(&mut self, weights: &[Vec<f64>], biases: &[f64], before: Before) -> Result<(), Error> {
        let refuse = |what: String, help: &str| Err(Error::Data { what, help: help.into() });
        if self.learnt > 0 || self.machines.is_empty() {
            return refuse(
                format!("a stream of {} classes that has learnt {} rows has begun", self.classes.len(), self.learnt),
                "begin at a model before the first row, and declare the labels",
            );
        }
        let machines = self.machines.len();
        let columns = weights.first().map_or(0, Vec::len);
        if weights.len() != machines || biases.len() != machines || weights.iter().any(|line| line.len() != columns) {
            return Err(Error::Shape {
                operation: "begin at",
                left: format!("{} lists of weights and {} biases", weights.len(), biases.len()),
                right: format!("{machines} machines"),
            });
        }
        let numbers = || weights.iter().flatten().chain(biases).chain([&before.squares]);
        if before.rows == 0 || before.squares < 0.0 || numbers().any(|value| !value.is_finite()) {
            return refuse(
                "a model to begin at has a number that is not finite, or no rows".into(),
                "begin from scratch",
            );
        }
        self.columns = columns;
        (self.steps, self.learnt, self.squares) = (before.rows, before.rows, before.squares);
        let time = before.rows as f64;
        // Σ (t − t₀) of (ST.4), over the steps so far.
        let counted =
            self.params.average_from.map(|from| (time - from as f64).max(0.0)).map_or(0.0, |k| 0.5 * k * (k + 1.0));
        for ((machine, line), &bias) in self.machines.iter_mut().zip(weights).zip(biases) {
            machine.grow(columns);
            machine.direction.copy_from_slice(line);
            machine.bias = bias;
            if counted > 0.0 {
                machine.count(counted);
            }
        }
        Ok(())
    }
}
