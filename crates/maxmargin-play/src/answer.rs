//! One question, one answer.

use maxmargin::{Control, Workers};
use serde::Serialize;

use crate::conic::{self, ConicNumbers};
use crate::error::Error;
use crate::fit::{Fitted, Steps};
use crate::grid::{self, Grid, Line, View};
use crate::hulls::{self, Hulls};
use crate::machine::{self, ModelNumbers};
use crate::mistakes::{self, MistakeBound};
use crate::packet::Parts;
use crate::request::{PointsRequest, Request, Wanted};
use crate::rows::{self, RowNumbers};
use crate::sweep::{self, SweepEntry};

/// Everything that the page draws of a request.
#[derive(Clone, Debug)]
pub struct Answer {
    head: Head,
    rows: RowNumbers,
    /// Coordinates and classes, of a named set: the page has those that it gave.
    points: Option<(Vec<f64>, Vec<u8>)>,
    grid: Option<Grid>,
}

/// What is not a long list of numbers.
#[derive(Clone, Debug, Serialize)]
struct Head {
    view: View,
    names: Vec<String>,
    /// The labels of the data; the model's own may be fewer, one against the rest.
    labels: Vec<String>,
    model: ModelNumbers,
    grid: Option<GridHead>,
    conic: Option<ConicNumbers>,
    hulls: Option<Hulls>,
    mistakes: Option<MistakeBound>,
    steps: Option<Steps>,
    sweep: Option<Vec<SweepEntry>>,
}

#[derive(Clone, Debug, Serialize)]
struct GridHead {
    columns: usize,
    rows: usize,
    lines: Vec<Line>,
}

/// Trains the model of a request, and computes what is to be seen of it.
///
/// It is pure: the same request has the same answer, to the bit, and so has any number of threads. A control that breaks makes the solver
/// return what it has, and the answer says so.
///
/// # Errors
/// When something is out of its range, or the model cannot be trained on these points.
///
/// # Examples
/// ```
/// use maxmargin::{Unattended, Workers};
/// use maxmargin_play::{Request, answer};
///
/// let text = r#"{"points": {"named": {"name": "e2"}}, "model": {"method": "svm", "c": 1}, "view": {}}"#;
/// let request: Request = serde_json::from_str(text).unwrap();
/// let answer = answer(&request, &Workers::none(), &mut Unattended)?;
/// assert_eq!(answer.alpha().iter().filter(|alpha| **alpha == 1.0).count(), 4);
/// # Ok::<(), maxmargin_play::Error>(())
/// ```
pub fn answer(request: &Request, workers: &Workers, control: &mut dyn Control) -> Result<Answer, Error> {
    Fitted::new(request, workers, control)?.look(request, workers, control)
}

impl Fitted {
    /// What a request wants to see of its fit.
    ///
    /// # Errors
    /// When something is out of its range.
    pub fn look(&self, request: &Request, workers: &Workers, control: &mut dyn Control) -> Result<Answer, Error> {
        request.check()?;
        let view = grid::view(request, &self.data);
        let wants = |wanted: Wanted| request.want.contains(&wanted);
        // Who asks for the frame of a step has the steps.
        let shows_steps = wants(Wanted::Steps) && request.frame.is_none();
        let grid = match request.grid {
            Some(size) => Some(grid::grid(self, view, size, request.frame.as_ref(), workers, control)?),
            None => None,
        };
        let labels = self.data.labels()?;
        let is_named = matches!(request.points, PointsRequest::Named { .. });
        let points = is_named.then(|| {
            let xy = (0..self.data.rows()).flat_map(|row| self.data.matrix().row(row)).collect();
            (xy, labels.codes().iter().map(|&code| code as u8).collect())
        });
        let labels = match &request.points {
            PointsRequest::Given { labels, .. } => labels.clone(),
            PointsRequest::Named { .. } => labels.classes().iter().map(|label| label.text().to_string()).collect(),
        };
        let rows = rows::numbers(self, workers)?;
        let training_errors = rows.wrong.iter().filter(|wrong| **wrong != 0).count();
        let rows = match &request.frame {
            Some(frame) if self.only_machine().is_some() => rows::of_frame(self, frame, control)?,
            _ => rows,
        };
        Ok(Answer {
            head: Head {
                view,
                names: (0..2).map(|column| self.data.name(column)).collect(),
                labels,
                model: machine::numbers(self, training_errors),
                grid: grid.as_ref().map(|grid| GridHead {
                    columns: grid.columns,
                    rows: grid.rows,
                    lines: grid.lines.clone(),
                }),
                conic: conic::conic(self),
                hulls: if wants(Wanted::Hulls) { hulls::hulls(self, control)? } else { None },
                mistakes: if shows_steps { mistakes::bound(self, workers, control)? } else { None },
                steps: self.steps.clone().filter(|_| shows_steps),
                sweep: if wants(Wanted::Sweep) {
                    Some(sweep::sweep(self, &request.costs, view, workers, control)?)
                } else {
                    None
                },
            },
            rows,
            points,
            grid,
        })
    }
}

impl Answer {
    /// α of each point.
    pub fn alpha(&self) -> &[f64] {
        &self.rows.alpha
    }

    /// The kind of each point: 0 not a support vector, 1 on the margin, 2 inside of it, 3 misclassified.
    pub fn kinds(&self) -> &[u8] {
        &self.rows.kind
    }

    /// The decision value of each point, of a model of two classes.
    pub fn decision_values(&self) -> &[f64] {
        &self.rows.f
    }

    /// The slack of each point, of a model of two classes.
    pub fn slack(&self) -> &[f64] {
        &self.rows.slack
    }

    /// The steps of the solver, where they were wanted.
    pub fn steps(&self) -> Option<&Steps> {
        self.head.steps.as_ref()
    }

    /// The answer as JSON, without the long lists.
    ///
    /// # Errors
    /// When it cannot be written, which does not happen.
    pub fn head(&self) -> Result<serde_json::Value, Error> {
        serde_json::to_value(&self.head).map_err(unwritten)
    }

    /// The answer as the page reads it: a JSON header, then lists of numbers as bytes.
    ///
    /// # Errors
    /// When it cannot be written, which does not happen.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut parts = Parts::default();
        if let Some((xy, classes)) = &self.points {
            parts.f64("xy", xy);
            parts.u8("classes", classes);
        }
        parts.f64("alpha", &self.rows.alpha);
        parts.f64("f", &self.rows.f);
        parts.f64("slack", &self.rows.slack);
        parts.u8("kind", &self.rows.kind);
        parts.u8("predicted", &self.rows.predicted);
        parts.u8("wrong", &self.rows.wrong);
        if let Some(grid) = &self.grid {
            parts.f32("values", &grid.values);
            parts.u8("regions", &grid.classes);
        }
        parts.packet(&self.head).map_err(unwritten)
    }
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::new(format!("the answer cannot be written: {error}"), "report it, with the link")
}
