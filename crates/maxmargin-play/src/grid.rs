//! Decision values over the plane, and the lines through them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use maxmargin::data::Matrix;
use maxmargin::kernel::{Kernel, Points};
use maxmargin::problem::Bias;
use maxmargin::{Control, Dataset, Progress, Stop, Workers};
use maxmargin_plot::contour::{NONE, boundaries, level_lines, outlines};
use serde::Serialize;

use crate::error::Error;
use crate::fit::Fitted;
use crate::request::{FrameRequest, GridRequest, Request};

/// How far the view goes beyond the points, as a part of their range.
const EDGE: f64 = 0.12;
/// How often a border between two nodes is halved: a hundredth of a cell is finer than a pixel.
const HALVINGS: usize = 7;
/// How much wider than its points a view may become for equal units.
const MOST_WIDENED: f64 = 4.0;
/// Nodes whose decision values are computed between two looks at whether somebody still waits. A tenth of a second at 5,000 support vectors.
const NODES_AT_A_TIME: usize = 1 << 13;
/// Kernel values of a frame that are held at a time.
const VALUES_AT_A_TIME: usize = 1 << 18;

/// The part of the plane that is seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct View {
    /// From left to right.
    pub(crate) x: [f64; 2],
    /// From bottom to top.
    pub(crate) y: [f64; 2],
}

/// A line of the picture, in the units of the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    /// The decision value on it; 0 also between two of several classes.
    pub(crate) level: f64,
    /// Its corners.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Decision values at nodes, row after row from the bottom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// f of two classes.
    pub(crate) values: Vec<f32>,
    /// The predicted class, as a place among the model's labels.
    pub(crate) classes: Vec<u8>,
    pub(crate) lines: Vec<Line>,
}

/// The view that a request asks for, or the one that shows all points.
pub(crate) fn view(request: &Request, data: &Dataset) -> View {
    let range = |column: usize| {
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        for row in 0..data.rows() {
            let value = data.matrix().row(row)[column];
            range = [range[0].min(value), range[1].max(value)];
        }
        let wide = range[1] - range[0];
        let edge = if wide > 1e-9 { EDGE * wide } else { 1.0 };
        [range[0] - edge, range[1] + edge]
    };
    let (mut x, mut y) = (request.view.x.unwrap_or_else(|| range(0)), request.view.y.unwrap_or_else(|| range(1)));
    if let (Some(aspect), None, None) = (request.view.aspect, request.view.x, request.view.y) {
        let (wide, high) = (x[1] - x[0], aspect * (y[1] - y[0]));
        let widened = |side: [f64; 2], factor: f64| {
            let (middle, half) = ((side[0] + side[1]) / 2.0, factor * (side[1] - side[0]) / 2.0);
            [middle - half, middle + half]
        };
        if (1.0..MOST_WIDENED).contains(&(high / wide)) {
            x = widened(x, high / wide);
        } else if (1.0..MOST_WIDENED).contains(&(wide / high)) {
            y = widened(y, wide / high);
        }
    }
    View { x, y }
}

/// The nodes of a grid as rows of data.
fn nodes(view: View, GridRequest { columns, rows }: GridRequest) -> Result<Matrix, Error> {
    let place = |[low, high]: [f64; 2], k: usize, count: usize| low + (high - low) * (k as f64 / (count - 1) as f64);
    let values: Vec<f64> = (0..columns * rows)
        .flat_map(|node| [place(view.x, node % columns, columns), place(view.y, node / columns, rows)])
        .collect();
    Ok(Matrix::dense(columns * rows, 2, values)?)
}

/// The decision values of a fit over a grid, or those of a frame.
pub(crate) fn grid(
    fitted: &Fitted,
    view: View,
    size: GridRequest,
    frame: Option<&FrameRequest>,
    workers: &Workers,
    control: &mut dyn Control,
) -> Result<Grid, Error> {
    let matrix = nodes(view, size)?;
    let shape = (size.columns, size.rows);
    let in_data = |line: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        let place = |[low, high]: [f64; 2], part: f64| low + part * (high - low);
        line.into_iter().map(|(x, y)| (place(view.x, x), place(view.y, y))).collect()
    };
    let (values, classes) = match (frame, fitted.only_machine()) {
        (Some(frame), Some(_)) => {
            let values = frame_values(fitted, frame, &matrix, control)?;
            let classes = values.iter().map(|&value| u8::from(value > 0.0)).collect();
            (values, classes)
        }
        (Some(_), None) => {
            return Err(Error::new("several machines have no common steps", "step through two classes"));
        }
        (None, only) => {
            let (mut values, mut classes) = (Vec::new(), Vec::new());
            let all: Vec<usize> = (0..matrix.rows()).collect();
            for some in all.chunks(NODES_AT_A_TIME) {
                check_wanted(control)?;
                let predictions = fitted.model.predict(&matrix.select_rows(some), workers)?;
                classes.extend(predictions.codes().iter().map(|&code| code as u8));
                let count = if only.is_some() { some.len() } else { 0 };
                values.extend((0..count).map(|node| predictions.decision_values(node)[0]));
            }
            (values, classes)
        }
    };
    let mut lines = Vec::new();
    if values.is_empty() {
        let codes: Vec<u32> = classes.iter().map(|&class| if class == u8::MAX { NONE } else { class.into() }).collect();
        let cuts = borders(fitted, &matrix, size.columns, &codes, workers)?;
        let found = boundaries(&outlines(shape, &codes, &|a, b| match cuts.get(&(a.min(b), a.max(b))) {
            Some(&part) if a < b => part,
            Some(&part) => 1.0 - part,
            None => 0.5,
        }));
        lines.extend(found.into_iter().map(|line| Line { level: 0.0, points: in_data(line) }));
    } else {
        for level in [0.0, 1.0, -1.0] {
            let found = level_lines(shape, &values, level);
            lines.extend(found.into_iter().map(|line| Line { level, points: in_data(line) }));
        }
    }
    let values = values.into_iter().map(|value| value as f32).collect();
    Ok(Grid { columns: size.columns, rows: size.rows, values, classes, lines })
}

/// Ends a picture that nobody waits for any more. One whose time is over is drawn all the same: the fit has kept to that time.
fn check_wanted(control: &mut dyn Control) -> Result<(), Error> {
    match control.poll(Progress::default()) {
        ControlFlow::Break(Stop::Interrupted) => Err(Error::new("the picture was left", "ask again")),
        _ => Ok(()),
    }
}

/// Where between two neighbours of different classes the prediction changes, as a part of the way from the first.
fn borders(
    fitted: &Fitted,
    matrix: &Matrix,
    columns: usize,
    codes: &[u32],
    workers: &Workers,
) -> Result<HashMap<(usize, usize), f64>, Error> {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for node in 0..codes.len() {
        edges.extend((node % columns + 1 < columns).then_some((node, node + 1)));
        edges.extend((node + columns < codes.len()).then_some((node, node + columns)));
    }
    edges.retain(|&(a, b)| codes[a] != codes[b]);
    let mut spans = vec![(0.0, 1.0); edges.len()];
    for _ in 0..HALVINGS {
        let middle = |(&(a, b), &(low, high)): (&(usize, usize), &(f64, f64))| {
            let (p, q, part) = (matrix.row(a), matrix.row(b), (low + high) / 2.0);
            [p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])]
        };
        let middles: Vec<f64> = edges.iter().zip(&spans).flat_map(middle).collect();
        let found = fitted.model.predict(&Matrix::dense(edges.len(), 2, middles)?, workers)?;
        for ((&(a, _), span), &class) in edges.iter().zip(&mut spans).zip(found.codes()) {
            let middle = (span.0 + span.1) / 2.0;
            *span = if class == codes[a] { (middle, span.1) } else { (span.0, middle) };
        }
    }
    Ok(edges.into_iter().zip(spans.into_iter().map(|(low, high)| (low + high) / 2.0)).collect())
}

/// f of a frame at some places: `Σ c_i k(x_i, x) + ⟨w, x⟩ + b`.
pub(crate) fn frame_values(
    fitted: &Fitted,
    frame: &FrameRequest,
    matrix: &Matrix,
    control: &mut dyn Control,
) -> Result<Vec<f64>, Error> {
    let rows = fitted.data.rows();
    let known = frame.coefficients.iter().all(|&(row, coefficient)| row < rows && coefficient.is_finite());
    let weights = frame.weights.unwrap_or([0.0; 2]);
    if !(known && frame.bias.is_finite() && weights.iter().all(|weight| weight.is_finite())) {
        return Err(Error::new("a step of other points", "ask for the steps again"));
    }
    let folded = fitted.model.recipe().bias == Bias::Folded;
    let (list, coefficients): (Vec<usize>, Vec<f64>) = frame.coefficients.iter().copied().unzip();
    let vectors = Points::new(fitted.data.matrix().clone(), folded);
    let places = Points::new(matrix.clone(), folded);
    let all: Vec<usize> = (0..matrix.rows()).collect();
    let mut values = Vec::with_capacity(all.len());
    let at_a_time = (VALUES_AT_A_TIME / list.len().max(1)).max(1);
    let mut block = Vec::new();
    for some in all.chunks(at_a_time) {
        check_wanted(control)?;
        block.resize(some.len() * list.len(), 0.0);
        if !list.is_empty() {
            fitted.model.recipe().kernel.block(places.rows(some), vectors.rows(&list), &mut block);
        }
        for (k, &node) in some.iter().enumerate() {
            let own = &block[k * list.len()..(k + 1) * list.len()];
            let sum: f64 = own.iter().zip(&coefficients).map(|(value, coefficient)| value * coefficient).sum();
            let x = matrix.row(node);
            values.push(sum + weights[0] * x[0] + weights[1] * x[1] + frame.bias);
        }
    }
    Ok(values)
}
