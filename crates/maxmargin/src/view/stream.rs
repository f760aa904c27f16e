//! What a training on a stream reports.

use serde::Serialize;

use crate::control::Stop;
use crate::data::Label;
use crate::stream::{Estimate, StreamingSgd};

/// An estimate of how well rows are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateView {
    /// How many rows were predicted.
    pub rows: u64,
    /// How many of them wrongly.
    pub errors: u64,
    /// Their share; `None` where no row was predicted.
    pub error_rate: Option<f64>,
    /// The mean of what each row costs; `None` where no row was predicted.
    pub mean_loss: Option<f64>,
}

impl From<Estimate> for EstimateView {
    fn from(estimate: Estimate) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        EstimateView {
            rows: estimate.rows,
            errors: estimate.errors,
            error_rate: finite(estimate.error_rate()),
            mean_loss: finite(estimate.mean_loss()),
        }
    }
}

/// What a training on a stream reports.
#[derive(Clone, Debug, Serialize)]
pub struct StreamView<'a> {
    data: &'a str,
    solver: &'static str,
    stop: &'static str,
    loss: &'static str,
    bias: &'static str,
    lambda: f64,
    batch: usize,
    classes: Vec<&'a str>,
    columns: usize,
    passes: u64,
    rows_learnt: u64,
    rows_per_second: f64,
    progressive: EstimateView,
    recent: EstimateView,
    held_out: Option<EstimateView>,
    seconds: TrainSeconds,
    model: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct TrainSeconds {
    train: f64,
}

impl<'a> StreamView<'a> {
    /// The view of a learner that has learnt `learnt` rows of `data` in some seconds, and whose model is in a file.
    pub fn new(
        learner: &'a StreamingSgd,
        data: &'a str,
        stop: Stop,
        (learnt, seconds): (u64, f64),
        model: Option<&'a str>,
    ) -> Self {
        let params = learner.params();
        StreamView {
            data,
            solver: "sgd",
            stop: stop.name(),
            loss: params.loss.name(),
            bias: params.bias.name(),
            lambda: params.lambda,
            batch: params.batch,
            classes: learner.classes().iter().map(Label::text).collect(),
            columns: learner.columns(),
            passes: learner.passes(),
            rows_learnt: learner.learnt(),
            rows_per_second: learnt as f64 / seconds.max(1e-9),
            progressive: learner.progressive().into(),
            recent: learner.recent().into(),
            held_out: (learner.held_out().rows > 0).then(|| learner.held_out().into()),
            seconds: TrainSeconds { train: seconds },
            model,
        }
    }
}
