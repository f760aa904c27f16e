//! Whether a checkpoint was made with the parameters of a training.

use super::TrainingParams;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, quoted};
use crate::problem::{Penalty, Task};
use crate::solver::Shrinkage;

impl Checkpoint {
    /// Checks that a training with these parameters may go on from here. The data is looked at later, by
    /// [`Training::fit_from`](crate::Training::fit_from); this can be asked before any data is read.
    ///
    /// # Errors
    /// When a parameter differs; the message names it, and both values.
    pub fn check_parameters(&self, params: &TrainingParams) -> Result<(), Error> {
        let now = parameters(params);
        let value = |list: &[(String, String)], name: &str| {
            list.iter().find(|(other, _)| other == name).map_or_else(|| "unknown".into(), |(_, value)| value.clone())
        };
        let names = now.iter().chain(&self.parameters).map(|(name, _)| name.as_str());
        let Some(name) = names.into_iter().find(|name| value(&now, name) != value(&self.parameters, name)) else {
            return Ok(());
        };
        let (then, now) = (value(&self.parameters, name), value(&now, name));
        Err(Error::Combination {
            what: format!(
                "the checkpoint was made with the {} {}, but now it is {}",
                escaped(name),
                escaped(&then),
                escaped(&now)
            ),
            help: "give the parameters that the checkpoint was made with, or begin from scratch".into(),
        })
    }
}

/// Every parameter that the bits of a model depend on, by name, in words.
pub(super) fn parameters(params: &TrainingParams) -> Vec<(String, String)> {
    let settings = &params.settings;
    let penalty = match params.penalty {
        Penalty::C(value) => format!("C {value:?}"),
        Penalty::COverN(value) => format!("c-over-n {value:?}"),
        Penalty::Lambda(value) => format!("lambda {value:?}"),
        Penalty::Nu(value) => format!("nu {value:?}"),
        Penalty::Hard => "hard".into(),
        Penalty::None => "none".into(),
    };
    let or_own = |text: Option<String>| text.unwrap_or_else(|| "default".into());
    let task = match params.task {
        Task::Classification => "classification".into(),
        Task::Regression { epsilon } => format!("regression {epsilon:?}"),
        Task::NuRegression { nu } => format!("regression nu {nu:?}"),
        Task::OneClass { nu } => format!("one-class {nu:?}"),
        Task::Svdd { nu } => format!("svdd {nu:?}"),
    };
    let landmarks = params.landmarks.map(|landmarks| ("landmarks".to_string(), format!("{landmarks:?}")));
    [
        ("task", task),
        ("kernel", format!("{:?}", params.kernel)),
        ("penalty", penalty),
        ("norm", params.norm.name().into()),
        ("loss", or_own(params.loss.map(|loss| loss.name().into()))),
        ("bias", params.bias.name().into()),
        ("solver", or_own(params.solver.map(|solver| solver.name().into()))),
        ("multiclass", params.way().name().into()),
        ("scaling", params.scaling.name().into()),
        ("positive label", params.positive.as_ref().map_or_else(|| "none".into(), |label| quoted(label.text()))),
        ("class weights", params.class_weights.text()),
        ("tolerance", or_own(settings.tolerance.map(|tolerance| format!("{tolerance:?}")))),
        ("gap", or_own(settings.gap.map(|gap| format!("{gap:?}")))),
        ("max-iterations", or_own(settings.max_iterations.map(|most| most.to_string()))),
        ("seed", settings.seed.to_string()),
        ("precision", format!("{:?}", settings.precision).to_lowercase()),
        ("batch", settings.batch.to_string()),
        ("averaged", settings.averaged.to_string()),
        (
            "shrinkage",
            match settings.shrinkage {
                Shrinkage::Part(part) => format!("{part:?}"),
                Shrinkage::Auto => "auto".into(),
            },
        ),
        ("threshold", format!("{:?}", settings.threshold)),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into_iter()
    // Checkpoints of trainings without landmarks do not mention them.
    .chain(landmarks)
    .collect()
}

/// Text that came from a file, without what moves a cursor, cut where it is long.
fn escaped(text: &str) -> String {
    quoted(text).trim_matches('"').to_string()
}
