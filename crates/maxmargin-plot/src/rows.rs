//! The rows of a picture: their classes, what the model says of them, and which are support vectors.

use maxmargin::data::{Dataset, Matrix};
use maxmargin::model::{Model, Pairing};
use maxmargin::problem::Task;
use maxmargin::provenance::SolverKind;
use maxmargin::workers::Workers;

use crate::contour::Point;
use crate::drawing::marker::Ring;
use crate::error::Error;

/// Rows up to which each is drawn as a marker. Beyond, cells show how dense the rows lie, and markers are a sample.
pub(crate) const MOST_MARKERS: usize = 3000;

/// Markers of rows that are support vectors or wrong. More of them are thinned out evenly, so that the file stays below 1 MB.
const MOST_SPECIAL: usize = 3500;

/// Markers of other rows, where cells show the density.
const SAMPLE: usize = 1200;

/// Slack of so many tolerances still counts as none, as in certificates.
const SLACK_A_TOLERANCE: f64 = 10.0;

/// A row in the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Its place, in the units of the axes.
    pub(crate) at: Point,
    /// Its class; `None` when the model does not know its label.
    pub(crate) class: Option<u32>,
    /// The ring around it, if it is a support vector.
    pub(crate) ring: Option<Ring>,
}

/// Rows, as a model sees them.
pub(crate) struct Rows {
    /// Scaled, in the model's columns.
    pub(crate) matrix: Matrix,
    /// The class of each row's label; `None` when the model does not know it.
    pub(crate) classes: Vec<Option<u32>>,
    /// The class that the model gives each row.
    pub(crate) predicted: Vec<u32>,
    /// The machines' decision values, row after row.
    pub(crate) values: Vec<f64>,
    /// The ring of each row, if it is a support vector.
    pub(crate) rings: Vec<Option<Ring>>,
    /// Whether the rows are those the model was trained on; `None` when they are support vectors alone.
    pub(crate) training: Option<bool>,
}

impl Rows {
    /// The rows of some data; support vectors are known when it is the training data.
    ///
    /// # Errors
    /// When the data does not fit the model.
    pub(crate) fn of_data(model: &Model, data: &Dataset, workers: &Workers) -> Result<Self, Error> {
        let parts = model.parts();
        let points = model.align_by(data, workers)?.points;
        let values = model.decision_values(&points, workers);
        let pairings = pairings(model);
        let classes = match model.task() {
            // All rows are of the one class, whatever their labels are.
            Task::OneClass { .. } | Task::Svdd { .. } => vec![Some(1); data.rows()],
            _ => model.codes(data),
        };
        let predicted = predicted(model, &pairings, &values);
        let training = model.is_training_data(data, workers);
        let mut rings = vec![None; data.rows()];
        if training {
            for &row in &parts.support_rows {
                let row = row as usize;
                rings[row] =
                    Some(match (&pairings[..], classes[row].and_then(|class| pairings[0].sign(class as usize))) {
                        _ if has_relevance_vectors(model) || parts.landmarks.is_some() => Ring::Support,
                        ([_], Some(sign)) if model.task().is_classification() => {
                            ring(sign * values[row], parts.provenance.tolerance)
                        }
                        _ => Ring::Support,
                    });
            }
        }
        let matrix = points.matrix().clone();
        Ok(Rows { matrix, classes, predicted, values, rings, training: Some(training) })
    }

    /// The model's own support vectors. Their classes are those that their coefficients pull towards.
    ///
    /// # Errors
    /// When the model keeps none.
    pub(crate) fn of_model(model: &Model, workers: &Workers) -> Result<Self, Error> {
        let parts = model.parts();
        let Some(vectors) = &parts.vectors else {
            return Err(Error::NoRange {
                what: "a linear model keeps no support vectors, so nothing says how far the axes reach".into(),
            });
        };
        let mut classes = vec![None; vectors.rows()];
        // The sign of a landmark's coefficient does not tell its class.
        let is_landmarks = parts.landmarks.is_some();
        for machine in model.machines().iter().filter(|_| !is_landmarks) {
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                let class = if coefficient > 0.0 { Some(machine.pairing.positive) } else { machine.pairing.negative };
                if let Some(class) = class {
                    classes[place as usize] = Some(class as u32);
                }
            }
        }
        let values = model.decision_values(model.support_vectors(), workers);
        let mut rings = vec![Some(Ring::Support); vectors.rows()];
        if let [machine] = model.machines()
            && !has_relevance_vectors(model)
            && !is_landmarks
        {
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                let place = place as usize;
                rings[place] = Some(ring(coefficient.signum() * values[place], parts.provenance.tolerance));
            }
        }
        let predicted = predicted(model, &pairings(model), &values);
        Ok(Rows { matrix: vectors.clone(), classes, predicted, values, rings, training: None })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Rows that the model puts into another class than their own.
    pub(crate) fn errors(&self) -> usize {
        self.classes.iter().zip(&self.predicted).filter(|(class, predicted)| **class != Some(**predicted)).count()
    }

    /// The rows that are drawn as markers, in order.
    pub(crate) fn shown(&self) -> Vec<usize> {
        let wrong = |row: usize| self.training.is_some() && self.classes[row] != Some(self.predicted[row]);
        let special: Vec<bool> = (0..self.len()).map(|row| self.rings[row].is_some() || wrong(row)).collect();
        shown(&special)
    }
}

/// The rows to draw as markers: all, or the special ones and a sample of the others.
fn shown(special: &[bool]) -> Vec<usize> {
    if special.len() <= MOST_MARKERS {
        return (0..special.len()).collect();
    }
    let (first, others): (Vec<usize>, Vec<usize>) = (0..special.len()).partition(|&row| special[row]);
    let thinned = |rows: &[usize], most: usize| -> Vec<usize> {
        let count = rows.len().min(most);
        (0..count).map(|k| rows[k * rows.len() / count]).collect()
    };
    let mut rows = thinned(&first, MOST_SPECIAL);
    rows.extend(thinned(&others, SAMPLE));
    rows.sort_unstable();
    rows
}

fn pairings(model: &Model) -> Vec<Pairing> {
    model.machines().iter().map(|machine| machine.pairing).collect()
}

fn predicted(model: &Model, pairings: &[Pairing], values: &[f64]) -> Vec<u32> {
    let (multiclass, count) = (model.recipe().multiclass, model.classes().len());
    values.chunks(pairings.len().max(1)).map(|values| multiclass.decide(pairings, count, values)).collect()
}

/// Whether the vectors of a model are of no margin.
pub(crate) fn has_relevance_vectors(model: &Model) -> bool {
    model.provenance().solver() == Some(SolverKind::Rvm)
}

/// The ring of a support vector by `z = y f(x)`; its slack is 1 − z.
fn ring(z: f64, tolerance: f64) -> Ring {
    match 1.0 - z {
        slack if slack > 1.0 => Ring::Misclassified,
        slack if slack > SLACK_A_TOLERANCE * tolerance => Ring::Inside,
        _ => Ring::OnMargin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_vectors_and_wrong_rows_are_drawn_before_others() {
        let drawn = |special: usize, others: usize| {
            let rows = shown(&(0..special + others).map(|row| row < special).collect::<Vec<_>>());
            assert!(rows.is_sorted_by(|a, b| a < b));
            let first = rows.iter().filter(|&&row| row < special).count();
            (first, rows.len() - first)
        };
        assert_eq!(drawn(0, 0), (0, 0));
        assert_eq!(drawn(10, 20), (10, 20));
        assert_eq!(drawn(2900, 100), (2900, 100));
        assert_eq!(drawn(100, 100_000), (100, SAMPLE));
        assert_eq!(drawn(100_000, 100), (MOST_SPECIAL, 100));
    }

    #[test]
    fn the_ring_says_how_much_slack_there_is() {
        assert_eq!(
            [1.5, 1.0, 0.995, 0.5, 0.0, -0.1].map(|z| ring(z, 1e-3)),
            [Ring::OnMargin, Ring::OnMargin, Ring::OnMargin, Ring::Inside, Ring::Inside, Ring::Misclassified]
        );
    }
}
