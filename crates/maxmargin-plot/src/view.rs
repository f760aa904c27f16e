//! What a picture shows: a plane of two columns, the model's classes on it, and rows as points.

use std::collections::HashMap;

use maxmargin::data::{Dataset, Matrix};
use maxmargin::error::{listed, quoted};
use maxmargin::model::{Model, Pairing};
use maxmargin::problem::Task;
use maxmargin::provenance::SolverKind;
use maxmargin::workers::Workers;

use crate::axis::Range;
use crate::contour::{self, NONE, Outline, Point};
use crate::error::Error;
use crate::scene::Ring;

/// Rows beyond this many are thinned out evenly, so that a picture stays small and readable.
pub(crate) const MOST_ROWS: usize = 3000;

/// Numbers in one batch of grid points.
const BATCH: usize = 1 << 20;

/// Halvings until a border between classes is found on an edge of the grid.
const HALVINGS: u32 = 8;

/// Slack of so many tolerances still counts as none, as in certificates.
const SLACK_A_TOLERANCE: f64 = 10.0;

/// A row in the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Its place, from 0 to 1 on both axes.
    pub(crate) at: Point,
    /// Its class; `None` when the model does not know its label.
    pub(crate) class: Option<u32>,
    /// The ring around it, if it is a support vector.
    pub(crate) ring: Option<Ring>,
}

/// The rows of a picture.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// Those that are drawn.
    pub(crate) marks: Vec<Mark>,
    /// The rings of all rows, drawn or not.
    pub(crate) rings: Vec<Ring>,
    /// How many rows there are in all.
    pub(crate) rows: usize,
    /// Rows that the model puts into another class than their own; `None` when the rows are support vectors alone.
    pub(crate) errors: Option<usize>,
    /// Whether the rows are those the model was trained on; `None` when they are support vectors alone.
    pub(crate) training: Option<bool>,
}

/// Two columns of a model as a plane, all other columns held.
pub(crate) struct View<'a> {
    model: &'a Model,
    workers: &'a Workers,
    pairings: Vec<Pairing>,
    /// The two columns.
    pub(crate) columns: (usize, usize),
    /// The value of every column, in the user's own units; those of the two columns do not count.
    pub(crate) held: Vec<f64>,
    /// The axes.
    pub(crate) ranges: (Range, Range),
    /// The rows.
    pub(crate) marks: Marks,
}

/// Rows in the user's own units, with what is to be known of each.
struct Rows {
    matrix: Matrix,
    classes: Vec<Option<u32>>,
    rings: Vec<Option<Ring>>,
    errors: Option<usize>,
    training: Option<bool>,
}

impl<'a> View<'a> {
    /// Finds columns, ranges and rows.
    ///
    /// # Errors
    /// When the model has no columns to draw, the two are not known, or nothing says how far the axes reach.
    pub(crate) fn new(
        model: &'a Model,
        data: Option<&Dataset>,
        columns: Option<&(String, String)>,
        workers: &'a Workers,
    ) -> Result<Self, Error> {
        if model.recipe().kernel.is_precomputed() {
            return Err(Error::Precomputed);
        }
        if model.task().is_regression() {
            return Err(Error::Columns {
                what: "a picture shows the regions of classes, and a regression has none".into(),
                help: "leave the picture out".into(),
            });
        }
        let columns = find_columns(model, columns)?;
        let pairings: Vec<Pairing> = model.machines().iter().map(|machine| machine.pairing).collect();
        let rows = match data {
            Some(data) => rows_of_data(model, data, &pairings, workers)?,
            None => rows_of_model(model, workers)?,
        };
        let count = rows.matrix.rows();
        let column = |column: usize| (0..count).map(move |row| (row, column));
        let value = |(row, column): (usize, usize)| value(model, &rows.matrix, row, column);
        let nothing = || Error::NoRange { what: "there are no rows that say how far the axes reach".into() };
        let x = Range::around(column(columns.0).map(value)).ok_or_else(nothing)?;
        let y = Range::around(column(columns.1).map(value)).ok_or_else(nothing)?;
        let held = means(model, &rows.matrix);
        let mark = |row: usize| {
            let at = (x.place(value((row, columns.0))), y.place(value((row, columns.1))));
            Mark { at, class: rows.classes[row], ring: rows.rings[row] }
        };
        let marks = Marks {
            marks: shown(&rows.rings).into_iter().map(mark).collect(),
            rings: rows.rings.iter().flatten().copied().collect(),
            rows: count,
            errors: rows.errors,
            training: rows.training,
        };
        Ok(View { model, workers, pairings, columns, held, ranges: (x, y), marks })
    }

    /// How many nodes a side of the grid has: fewer where each costs much.
    pub(crate) fn side(&self) -> usize {
        let parts = self.model.parts();
        let pool = if parts.recipe.kernel.is_linear() { 1 } else { parts.support_rows.len().max(1) };
        match pool.saturating_mul(parts.columns) {
            0..=100_000 => 201,
            100_001..=1_000_000 => 101,
            _ => 61,
        }
    }

    /// The machines' decision values at some places, one a machine, place after place.
    ///
    /// # Errors
    /// When a place is too far out for the model's scaling.
    pub(crate) fn values(&self, places: &[Point]) -> Result<Vec<f64>, Error> {
        let columns = self.held.len();
        let mut values = Vec::with_capacity(places.len() * self.pairings.len());
        for batch in places.chunks((BATCH / columns).max(1)) {
            let mut numbers = Vec::with_capacity(batch.len() * columns);
            for &(u, v) in batch {
                let start = numbers.len();
                numbers.extend_from_slice(&self.held);
                numbers[start + self.columns.0] = self.ranges.0.at(u);
                numbers[start + self.columns.1] = self.ranges.1.at(v);
            }
            let points = self.model.prepare(Matrix::dense(batch.len(), columns, numbers)?)?;
            values.extend(self.model.decision_values(&points, self.workers));
        }
        Ok(values)
    }

    /// The class that each place's decision values speak for; [`NONE`] where one of them is no number.
    pub(crate) fn classes(&self, values: &[f64]) -> Vec<u32> {
        let (multiclass, count) = (self.model.recipe().multiclass, self.model.classes().len());
        let class = |values: &[f64]| match values.iter().any(|value| value.is_nan()) {
            true => NONE,
            false => multiclass.decide(&self.pairings, count, values),
        };
        values.chunks(self.pairings.len()).map(class).collect()
    }

    /// The outlines of the classes' regions, from the decision values of a grid.
    ///
    /// With two classes the outline is where f is 0, interpolated; with more it is found by halving, because votes jump.
    ///
    /// # Errors
    /// As [`View::values`].
    pub(crate) fn regions(&self, side: usize, values: &[f64]) -> Result<Vec<Outline>, Error> {
        let classes = self.classes(values);
        if self.pairings.len() == 1 {
            return Ok(contour::outlines((side, side), &classes, &|a, b| {
                contour::interpolate(values[a], values[b], 0.0)
            }));
        }
        let borders = self.borders(side, &classes)?;
        Ok(contour::outlines((side, side), &classes, &|a, b| borders.get(&(a, b)).copied().unwrap_or(0.5)))
    }

    /// Where on each edge of the grid the class changes.
    fn borders(&self, side: usize, classes: &[u32]) -> Result<HashMap<(usize, usize), f64>, Error> {
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for node in 0..classes.len() {
            edges.extend((node % side + 1 < side).then_some((node, node + 1)));
            edges.extend((node + side < classes.len()).then_some((node, node + side)));
        }
        edges.retain(|&(a, b)| classes[a] != classes[b] && classes[a] != NONE && classes[b] != NONE);
        let place = |node: usize| node_place(side, node);
        let mut spans = vec![(0.0, 1.0); edges.len()];
        for _ in 0..HALVINGS {
            let middle = |(&(a, b), &(low, high)): (&(usize, usize), &(f64, f64))| {
                let (p, q, t) = (place(a), place(b), (low + high) / 2.0);
                (p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1))
            };
            let middles: Vec<Point> = edges.iter().zip(&spans).map(middle).collect();
            let found = self.classes(&self.values(&middles)?);
            for ((&(a, _), span), class) in edges.iter().zip(&mut spans).zip(found) {
                let middle = (span.0 + span.1) / 2.0;
                *span = if class == classes[a] { (middle, span.1) } else { (span.0, middle) };
            }
        }
        Ok(edges.into_iter().zip(spans.into_iter().map(|(low, high)| (low + high) / 2.0)).collect())
    }

    /// What to call a column in the picture.
    pub(crate) fn title(&self, column: usize) -> String {
        let name = name(self.model, column);
        if self.model.parts().names.is_some() { name } else { format!("column {name}") }
    }
}

/// The rows to draw: all, or so many that support vectors come first and each kind is thinned evenly.
fn shown(rings: &[Option<Ring>]) -> Vec<usize> {
    let (support, others): (Vec<usize>, Vec<usize>) = (0..rings.len()).partition(|&row| rings[row].is_some());
    let thinned = |rows: &[usize], most: usize| -> Vec<usize> {
        let count = rows.len().min(most);
        (0..count).map(|k| rows[k * rows.len() / count]).collect()
    };
    let mut rows = thinned(&support, MOST_ROWS - others.len().min(MOST_ROWS / 2));
    rows.extend(thinned(&others, MOST_ROWS - rows.len()));
    rows.sort_unstable();
    rows
}

/// The place of a node of a square grid.
pub(crate) fn node_place(side: usize, node: usize) -> Point {
    let unit = |k: usize| k as f64 / (side - 1) as f64;
    (unit(node % side), unit(node / side))
}

/// The name of a column as the user gives it: its own, or its number counted from 1.
fn name(model: &Model, column: usize) -> String {
    model.parts().names.as_ref().map_or_else(|| (column + 1).to_string(), |names| names[column].clone())
}

/// The places of the two columns to draw.
fn find_columns(model: &Model, wanted: Option<&(String, String)>) -> Result<(usize, usize), Error> {
    let count = model.parts().columns;
    if count < 2 {
        let what = format!("a picture needs two columns, but the model has {count}");
        return Err(Error::Columns { what, help: "train on two columns or more".into() });
    }
    let Some((first, second)) = wanted else {
        if count == 2 {
            return Ok((0, 1));
        }
        let what = format!("a picture shows two columns, but the model has {count}");
        return Err(Error::Columns { what, help: format!("choose two of the columns: {}", columns_of(model)) });
    };
    let find = |wanted: &String| {
        let place = (0..count).find(|&column| name(model, column) == *wanted);
        place.ok_or_else(|| Error::Columns {
            what: format!("the model has no column {}", quoted(wanted)),
            help: format!("choose two of the columns: {}", columns_of(model)),
        })
    };
    let columns = (find(first)?, find(second)?);
    if columns.0 == columns.1 {
        return Err(Error::Columns {
            what: format!("both axes show the column {}", quoted(first)),
            help: format!("choose two of the columns: {}", columns_of(model)),
        });
    }
    Ok(columns)
}

/// At most twelve names, quoted.
fn columns_of(model: &Model) -> String {
    listed((0..model.parts().columns).map(|column| quoted(&name(model, column))), 12)
}

/// A number in the user's own units, (S.1) undone.
fn value(model: &Model, scaled: &Matrix, row: usize, column: usize) -> f64 {
    let mut number = 0.0;
    scaled.visit(row, |other, value| {
        if other == column {
            number = value;
        }
    });
    unscaled(model, column, number)
}

fn unscaled(model: &Model, column: usize, number: f64) -> f64 {
    match &model.parts().scaling {
        Some(scaling) => {
            let number = number / scaling.factors()[column] + scaling.offsets()[column];
            number.clamp(-f64::MAX, f64::MAX)
        }
        None => number,
    }
}

/// The mean of each column, in the user's own units.
fn means(model: &Model, scaled: &Matrix) -> Vec<f64> {
    let mut means = vec![0.0; model.parts().columns];
    let share = 1.0 / scaled.rows().max(1) as f64;
    (0..scaled.rows()).for_each(|row| scaled.add_scaled(row, share, &mut means));
    means.iter().enumerate().map(|(column, &mean)| unscaled(model, column, mean)).collect()
}

/// Whether the vectors of a model are of no margin.
pub(crate) fn has_relevance_vectors(model: &Model) -> bool {
    model.provenance().solver() == Some(SolverKind::Rvm)
}

/// The rows of some data; support vectors are known when it is the training data.
fn rows_of_data(model: &Model, data: &Dataset, pairings: &[Pairing], workers: &Workers) -> Result<Rows, Error> {
    let parts = model.parts();
    let points = model.align(data)?.points;
    let values = model.decision_values(&points, workers);
    let classes = match model.task() {
        // All rows are of the one class, whatever their labels are.
        Task::OneClass { .. } | Task::Svdd { .. } => vec![Some(1); data.rows()],
        _ => model.codes(data),
    };
    let predicted = values
        .chunks(pairings.len())
        .map(|values| parts.recipe.multiclass.decide(pairings, parts.classes.len(), values));
    let errors = predicted.zip(&classes).filter(|(predicted, class)| **class != Some(*predicted)).count();
    let training = model.is_training_data(data, workers);
    let mut rings = vec![None; data.rows()];
    if training {
        for &row in &parts.support_rows {
            let row = row as usize;
            rings[row] = Some(match (pairings, classes[row].and_then(|class| pairings[0].sign(class as usize))) {
                _ if has_relevance_vectors(model) => Ring::Support,
                ([_], Some(sign)) if model.task().is_classification() => {
                    ring(sign * values[row], parts.provenance.tolerance)
                }
                _ => Ring::Support,
            });
        }
    }
    Ok(Rows { matrix: points.matrix().clone(), classes, rings, errors: Some(errors), training: Some(training) })
}

/// The model's own support vectors. Their classes are those that their coefficients pull towards.
fn rows_of_model(model: &Model, workers: &Workers) -> Result<Rows, Error> {
    let parts = model.parts();
    let Some(vectors) = &parts.vectors else {
        return Err(Error::NoRange {
            what: "a linear model keeps no support vectors, so nothing says how far the axes reach".into(),
        });
    };
    let mut classes = vec![None; vectors.rows()];
    for machine in model.machines() {
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            let class = if coefficient > 0.0 { Some(machine.pairing.positive) } else { machine.pairing.negative };
            if let Some(class) = class {
                classes[place as usize] = Some(class as u32);
            }
        }
    }
    let mut rings = vec![Some(Ring::Support); vectors.rows()];
    if let [machine] = model.machines()
        && !has_relevance_vectors(model)
    {
        let values = model.decision_values(model.support_vectors(), workers);
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            let place = place as usize;
            rings[place] = Some(ring(coefficient.signum() * values[place], parts.provenance.tolerance));
        }
    }
    Ok(Rows { matrix: vectors.clone(), classes, rings, errors: None, training: None })
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
    fn all_support_vectors_are_drawn_where_there_is_room_for_them() {
        let rings = |support: usize, others: usize| -> Vec<Option<Ring>> {
            (0..support + others).map(|row| (row < support).then_some(Ring::Support)).collect()
        };
        let drawn = |support: usize, others: usize| {
            let rows = shown(&rings(support, others));
            assert!(rows.is_sorted_by(|a, b| a < b));
            let ringed = rows.iter().filter(|&&row| row < support).count();
            (ringed, rows.len() - ringed)
        };
        assert_eq!(drawn(0, 0), (0, 0));
        assert_eq!(drawn(10, 20), (10, 20));
        assert_eq!(drawn(100, 100_000), (100, 2900));
        assert_eq!(drawn(100_000, 100), (2900, 100));
        assert_eq!(drawn(100_000, 100_000), (1500, 1500));
    }

    #[test]
    fn the_ring_says_how_much_slack_there_is() {
        assert_eq!(
            [1.5, 1.0, 0.995, 0.5, 0.0, -0.1].map(|z| ring(z, 1e-3)),
            [Ring::OnMargin, Ring::OnMargin, Ring::OnMargin, Ring::Inside, Ring::Inside, Ring::Misclassified]
        );
    }
}
