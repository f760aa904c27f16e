//! The fit of a request, and the steps that the solver took.

use std::ops::ControlFlow;

use maxmargin::{Control, Dataset, Model, Progress, Step, Stop, Workers};
use serde::Serialize;

use crate::error::Error;
use crate::points;
use crate::problem;
use crate::request::{ModelRequest, PointsRequest, Request, Wanted};

/// The most steps that are kept: more than anybody goes through by hand.
pub(crate) const MOST_STEPS: usize = 4000;

/// The points of a request with the model that was trained on them. What is to be seen of it costs no further fit.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub(crate) points: PointsRequest,
    pub(crate) asked: ModelRequest,
    pub(crate) data: Dataset,
    pub(crate) model: Model,
    /// The steps, where they were wanted.
    pub(crate) steps: Option<Steps>,
}

/// What a solver did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps {
    /// The first of them, in order.
    pub list: Vec<Step>,
    /// How many there were in all.
    pub count: usize,
}

impl Fitted {
    /// Trains the model of a request.
    ///
    /// A control that breaks makes the solver return what it has; the answer says so.
    ///
    /// # Errors
    /// When something is out of its range, or the model cannot be trained on these points.
    pub fn new(request: &Request, workers: &Workers, control: &mut dyn Control) -> Result<Self, Error> {
        request.check()?;
        let data = points::dataset(&request.points)?;
        points::check_classes(&data)?;
        let training = problem::params(&request.model)?.check()?;
        let steps = request.want.contains(&Wanted::Steps).then(|| Steps { list: Vec::new(), count: 0 });
        let mut watched = Watched { inner: control, steps };
        let model = training.fit(&data, workers, &mut watched)?;
        let steps = watched.steps;
        Ok(Fitted { points: request.points.clone(), asked: request.model.clone(), data, model, steps })
    }

    /// Whether this is the fit that a request asks for.
    pub fn is_of(&self, request: &Request) -> bool {
        let has_steps = self.steps.is_some() || !request.want.contains(&Wanted::Steps);
        self.points == request.points && self.asked == request.model && has_steps
    }

    /// Why the solver stopped.
    pub fn stop(&self) -> Stop {
        self.model.stop()
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The points that it was trained on.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The only machine of a model that tells two classes apart.
    pub(crate) fn only_machine(&self) -> Option<&maxmargin::Machine> {
        match self.model.machines() {
            [machine] => Some(machine),
            _ => None,
        }
    }

    /// +1 for the points of the model's second class, −1 for the others.
    pub(crate) fn signs(&self) -> Vec<f64> {
        self.model.codes(&self.data).iter().map(|&code| if code == Some(1) { 1.0 } else { -1.0 }).collect()
    }

    /// The coefficient of each point in the only machine; of several machines the largest in size.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        let mut all = vec![0.0f64; self.data.rows()];
        for machine in self.model.machines() {
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                let own = &mut all[self.model.parts().support_rows[place as usize] as usize];
                if coefficient.abs() > own.abs() {
                    *own = coefficient;
                }
            }
        }
        all
    }
}

/// A control that keeps the steps, and asks another one whether to go on.
struct Watched<'a> {
    inner: &'a mut dyn Control,
    steps: Option<Steps>,
}

impl Control for Watched<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        self.inner.poll(progress)
    }

    fn spent(&self) -> Option<f64> {
        self.inner.spent()
    }

    fn work_left(&self) -> Option<f64> {
        self.inner.work_left()
    }

    fn wants_steps(&self) -> bool {
        self.steps.is_some()
    }

    fn step(&mut self, step: Step) {
        if let Some(steps) = &mut self.steps {
            steps.count += 1;
            if steps.list.len() < MOST_STEPS {
                steps.list.push(step);
            }
        }
    }
}
