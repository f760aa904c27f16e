//! A plane through a model's columns, the model's classes on it, and rows as points.

use std::collections::HashMap;

use maxmargin::data::{Dataset, Matrix};
use maxmargin::error::{listed, quoted};
use maxmargin::model::{Model, Pairing};
use maxmargin::workers::Workers;

use crate::contour::{self, NONE, Outline, Point};
use crate::directions::{self, Directions};
use crate::drawing::axis::{Range, short};
use crate::drawing::text;
use crate::error::Error;
use crate::rows::{Mark, Rows};

/// Numbers in one batch of grid points.
const BATCH: usize = 1 << 20;

/// Halvings until a border between classes is found on an edge of the grid.
const HALVINGS: u32 = 8;

/// Rows that say how well a plane shows a model; of more, these many are taken at even distances.
const MOST_ROWS_COMPARED: usize = 20_000;

/// Which plane is shown.
enum Cut {
    /// Two columns; all others are held at their mean, in the user's own units.
    Columns { across: usize, up: usize, held: Vec<f64> },
    /// Two directions through the mean of the scaled rows.
    Directions(Directions),
}

/// A plane through a model's columns.
pub(crate) struct Plane<'a> {
    model: &'a Model,
    workers: &'a Workers,
    pairings: Vec<Pairing>,
    cut: Cut,
    /// The axes.
    pub(crate) ranges: (Range, Range),
    /// The rows.
    pub(crate) rows: Rows,
    /// The place of each row, in the units of the axes.
    pub(crate) places: Vec<Point>,
    /// On which share of the rows the plane agrees with the model, and of how many; `None` where it shows all columns.
    pub(crate) agreement: Option<(f64, usize)>,
}

impl<'a> Plane<'a> {
    /// Finds the plane and the rows on it.
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
                help: "leave the picture out, or choose one of the kinds tube, residuals and why".into(),
            });
        }
        let chosen = find_columns(model, columns)?;
        let rows = match data {
            Some(data) => Rows::of_data(model, data, workers)?,
            None => Rows::of_model(model, workers)?,
        };
        let unknown = Range::exactly(0.0, 1.0);
        let pairings = model.machines().iter().map(|machine| machine.pairing).collect();
        let cut = Cut::Columns { across: 0, up: 0, held: Vec::new() };
        let (ranges, places) = ((unknown, unknown), Vec::new());
        let mut plane = Plane { model, workers, pairings, cut, ranges, rows, places, agreement: None };
        match chosen {
            Some((across, up)) => {
                plane.cut_along(Cut::Columns { across, up, held: means(model, &plane.rows.matrix) })?
            }
            None => plane.cut_best()?,
        }
        Ok(plane)
    }

    /// Takes, of the discriminant and the principal plane, the one that agrees with the model on more rows.
    fn cut_best(&mut self) -> Result<(), Error> {
        let mut best: Option<(f64, Directions)> = None;
        for found in directions::candidates(self.model, &self.rows) {
            self.cut_along(Cut::Directions(found.clone()))?;
            let share = self.agreement.map_or(0.0, |(share, _)| share);
            if best.as_ref().is_none_or(|(least, _)| share > *least) {
                best = Some((share, found));
            }
        }
        let (_, found) = best.ok_or_else(nothing)?;
        self.cut_along(Cut::Directions(found))
    }

    fn cut_along(&mut self, cut: Cut) -> Result<(), Error> {
        let (model, matrix) = (self.model, &self.rows.matrix);
        self.places = match &cut {
            Cut::Columns { across, up, .. } => {
                let place = |row| (value(model, matrix, row, *across), value(model, matrix, row, *up));
                (0..matrix.rows()).map(place).collect()
            }
            Cut::Directions(directions) => (0..matrix.rows()).map(|row| directions.place(matrix, row)).collect(),
        };
        self.cut = cut;
        let x = Range::around(self.places.iter().map(|place| place.0)).ok_or_else(nothing)?;
        let y = Range::around(self.places.iter().map(|place| place.1)).ok_or_else(nothing)?;
        self.ranges = (x, y);
        self.agreement = if self.model.parts().columns > 2 { Some(self.compare()?) } else { None };
        Ok(())
    }

    /// On which share of the rows the class of their place on the plane is the class that the model gives them.
    fn compare(&self) -> Result<(f64, usize), Error> {
        let rows = self.places.len();
        let count = rows.min(MOST_ROWS_COMPARED);
        let chosen: Vec<usize> = (0..count).map(|k| k * rows / count).collect();
        let places: Vec<Point> = chosen.iter().map(|&row| self.places[row]).collect();
        let found = self.classes(&self.values_of(&places)?);
        let same = chosen.iter().zip(found).filter(|(row, class)| self.rows.predicted[**row] == *class).count();
        Ok((same as f64 / count.max(1) as f64, count))
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

    /// The machines' decision values at places of the unit square, one a machine, place after place.
    ///
    /// # Errors
    /// When a place is too far out for the model's scaling.
    pub(crate) fn values(&self, places: &[Point]) -> Result<Vec<f64>, Error> {
        let at = |&(u, v): &Point| (self.ranges.0.at(u), self.ranges.1.at(v));
        self.values_of(&places.iter().map(at).collect::<Vec<_>>())
    }

    /// [`Plane::values`] at places in the units of the axes.
    fn values_of(&self, places: &[Point]) -> Result<Vec<f64>, Error> {
        let columns = self.model.parts().columns;
        let mut values = Vec::with_capacity(places.len() * self.pairings.len());
        for batch in places.chunks((BATCH / columns).max(1)) {
            let mut numbers = Vec::with_capacity(batch.len() * columns);
            for &(x, y) in batch {
                match &self.cut {
                    Cut::Columns { across, up, held } => {
                        let start = numbers.len();
                        numbers.extend_from_slice(held);
                        numbers[start + across] = x;
                        numbers[start + up] = y;
                    }
                    Cut::Directions(directions) => {
                        let scaled = directions.point((x, y));
                        numbers.extend(scaled.enumerate().map(|(column, value)| unscaled(self.model, column, value)));
                    }
                }
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
    /// As [`Plane::values`].
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

    /// The rows as they are drawn.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let shown = self.rows.shown();
        let mark =
            |&row: &usize| Mark { at: self.places[row], class: self.rows.classes[row], ring: self.rows.rings[row] };
        shown.iter().map(mark).collect()
    }

    /// What the two axes are called.
    pub(crate) fn titles(&self) -> (String, String) {
        match &self.cut {
            Cut::Columns { across, up, .. } => (column_title(self.model, *across), column_title(self.model, *up)),
            Cut::Directions(directions) => directions.titles(),
        }
    }

    /// What the reader must know of the plane and cannot see.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let of = if self.rows.training.is_none() { "support vectors" } else { "rows" };
        let mut remarks = Vec::new();
        if let Cut::Columns { across, up, held } = &self.cut {
            let others: Vec<usize> = (0..held.len()).filter(|column| column != across && column != up).collect();
            let value = |&column: &usize| {
                let name: String = text::safe(&column_title(self.model, column)).chars().take(40).collect();
                format!("{name} = {}", short(held[column]))
            };
            if !others.is_empty() {
                let values = listed(others.iter().map(value), 6);
                remarks.push(format!("other columns held at the mean of the {of}: {values}"));
            }
        } else if let Cut::Directions(directions) = &self.cut {
            remarks.push(directions.what().to_string());
        }
        if let Some((share, count)) = self.agreement {
            let all = if count < self.places.len() { format!("{count} {of} compared") } else { of.to_string() };
            remarks.push(format!("on {} of the {all} this plane decides as the model does", percent(share)));
        }
        remarks
    }
}

fn nothing() -> Error {
    Error::NoRange { what: "there are no rows that say how far the axes reach".into() }
}

/// A share in per cent, never rounded to all or nothing.
pub(crate) fn percent(share: f64) -> String {
    let digits = if share > 0.0 && share < 1.0 { (100.0 * share).clamp(0.1, 99.9) } else { 100.0 * share };
    if digits.fract() == 0.0 { format!("{digits}%") } else { format!("{digits:.1}%") }
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

/// What to call a column in a picture.
pub(crate) fn column_title(model: &Model, column: usize) -> String {
    let name = name(model, column);
    if model.parts().names.is_some() { name } else { format!("column {name}") }
}

/// The places of the two columns to draw; `None` where there are more than two and none was asked for.
fn find_columns(model: &Model, wanted: Option<&(String, String)>) -> Result<Option<(usize, usize)>, Error> {
    let count = model.parts().columns;
    if count < 2 {
        let what = format!("a picture of regions needs two columns, but the model has {count}");
        return Err(Error::Columns { what, help: "train on two columns or more, or draw the kind margins".into() });
    }
    let Some((first, second)) = wanted else {
        return Ok((count == 2).then_some((0, 1)));
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
    Ok(Some(columns))
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

pub(crate) fn unscaled(model: &Model, column: usize, number: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_to_all_or_nothing() {
        assert_eq!(
            [0.0, 0.00001, 0.5, 0.987, 0.99999, 1.0].map(percent),
            ["0%", "0.1%", "50%", "98.7%", "99.9%", "100%"]
        );
    }
}
