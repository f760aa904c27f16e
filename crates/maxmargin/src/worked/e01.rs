//! E1: separable points and their widest margin.

use super::{Entry, Notebook, certificate, decision_values, embedded, line, params, signs};
use crate::data::Dataset;
use crate::error::Error;
use crate::geometry::nearest_points;
use crate::kernel::{KernelFunction, Linear, Points};
use crate::problem::{MarginParts, MarginProblem};
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E1",
    title: "separable points",
    shows: "The line with the widest margin between two classes. Five points touch the margin, which is half the \
            distance of the two classes' convex hulls.",
    figure,
    run,
};

/// The points that touch the margin.
const ON_MARGIN: [[f64; 2]; 5] = [[3.5, 4.25], [4.0, 3.0], [4.5, 1.75], [2.0, 2.0], [2.5, 0.75]];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    Ok((embedded("e1")?, TrainingParams { penalty: Penalty::Hard, ..params() }))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (data, params) = figure()?;
    for (kind, model) in notebook.fit_all(&data, &params)? {
        notebook.all_equal(&["w1", "w2", "b"], kind, &[5.0 / 6.0, 1.0 / 3.0, -10.0 / 3.0], &line(&model));
        let found = certificate(&model)?;
        notebook.equal("margin", Some(kind), 6.0 / 29f64.sqrt(), found.margin);
        notebook.equal("dual objective", Some(kind), 29.0 / 72.0, found.dual);
        notebook.equal("primal objective", Some(kind), 29.0 / 72.0, found.primal);
        let values = decision_values(&model, &data, notebook.workers)?;
        for (row, sign) in signs(&model, &data).into_iter().enumerate() {
            let x = data.matrix().row(row);
            let (what, margin) = (format!("y f(x) of ({}, {})", x[0], x[1]), sign * values[row]);
            if ON_MARGIN.iter().any(|point| *point == *x) {
                notebook.equal(what, Some(kind), 1.0, margin);
            } else {
                notebook.note(what, Some(kind), super::Claim::AtLeast { limit: 1.001, obtained: margin });
            }
        }
    }
    hulls(notebook, &data)
}

/// The nearest points of the two convex hulls: their distance, and that they are where the margin is.
fn hulls(notebook: &mut Notebook<'_>, data: &Dataset) -> Result<(), Error> {
    let kernel = KernelFunction::Linear(Linear {});
    let points = Points::new(data.matrix().clone(), false);
    let signs = data.labels()?.codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect();
    let rows = (0..data.rows()).collect();
    let problem = MarginProblem::new(MarginParts::new(&kernel, &points, notebook.workers, rows, signs))?;
    let nearest = nearest_points(&problem, 1.0, &params().settings, notebook.control)?;
    notebook.equal("distance of the convex hulls", None, 12.0 / 29f64.sqrt(), nearest.distance);
    notebook.equal("its bound from below", None, 12.0 / 29f64.sqrt(), nearest.at_least);
    Ok(())
}
