//! What a search found.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tuning::{Cell, Choose, LearningCurve, Nested, Proof, State, Tuned, kernel_name};

/// One cell of the grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellView<'a> {
    /// The kernel.
    pub kernel: Cow<'a, str>,
    /// The value of each parameter that was tried, by its name.
    pub params: BTreeMap<Cow<'a, str>, f64>,
    /// exact, same, abandoned or unfinished.
    pub state: Cow<'a, str>,
    /// The place of the cell of a smaller C with the same solution.
    pub same_as: Option<usize>,
    /// The mean score.
    pub mean: Option<f64>,
    /// Its standard error over the splits.
    pub se_folds: Option<f64>,
    /// Its standard error over the rows.
    pub se_rows: Option<f64>,
    /// How far it is behind the best.
    pub behind: Option<f64>,
    /// The standard error of that.
    pub behind_se: Option<f64>,
    /// The score of each split; `None` where it was not done or is not defined.
    pub scores: Vec<Option<f64>>,
    /// The mean score of the training rows.
    pub training: Option<f64>,
    /// Support vectors, the mean over the splits.
    pub support_vectors: Option<f64>,
    /// Support vectors at their bound, the mean over the splits.
    pub bounded: Option<f64>,
    /// 1/‖w‖, the mean over the splits.
    pub margin: Option<f64>,
    /// The largest relative gap.
    pub gap: Option<f64>,
    /// Steps of the solver.
    pub steps: u64,
    /// What is predicted for the held-out rows of each split, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Vec<Option<Cow<'a, [f64]>>>>,
}

/// What the chosen model is worth on new rows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HonestView {
    /// The estimate.
    pub score: f64,
    /// The ends of the 95 % interval.
    pub interval: (f64, f64),
    /// How often rows were drawn.
    pub draws: usize,
}

/// What the user should know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WarningView<'a> {
    /// What was found.
    pub what: String,
    /// The way out.
    pub help: Cow<'a, str>,
}

/// What a search found. It can be read back from the JSON that it becomes, so that pictures of a search are drawn from either.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TunedView<'a> {
    /// What was to be good.
    pub metric: Cow<'a, str>,
    /// Whether less of it is better.
    pub less_is_better: bool,
    /// How many splits.
    pub splits: usize,
    /// How many rows.
    pub rows: usize,
    /// Why the search ended.
    pub stop: Cow<'a, str>,
    /// The place of the best cell.
    pub best: Option<usize>,
    /// The place of the one-SE choice.
    pub one_se: Option<usize>,
    /// The place of the cell that is taken.
    pub chosen: Option<usize>,
    /// Cells that are not told apart from the best.
    pub not_told_apart: Cow<'a, [usize]>,
    /// What the chosen model is worth on new rows.
    pub honest: Option<HonestView>,
    /// How many cells are exact, the same as one of a smaller C, abandoned and unfinished.
    pub counts: BTreeMap<Cow<'a, str>, usize>,
    /// What the user should know.
    pub warnings: Vec<WarningView<'a>>,
    /// All cells.
    pub cells: Vec<CellView<'a>>,
    /// What more rows would bring, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<LearningCurve>,
    /// What the search is worth by nested cross validation, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested: Option<Nested>,
    /// What is proved of the cell that is taken, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

impl<'a> TunedView<'a> {
    /// The view of a search; with what is predicted for the held-out rows, if that is wanted.
    pub fn new(tuned: &'a Tuned, choose: Choose, held_out: bool) -> Self {
        let Tuned { metric, cells, counts, .. } = tuned;
        let kernel = |part: usize| tuned.grid.parts.get(part).map_or("", |part| kernel_name(&part.kernel));
        let of_cell = |cell: &'a Cell| CellView {
            kernel: kernel(cell.setting.part).into(),
            params: cell.setting.values.iter().map(|(knob, value)| (knob.name().into(), *value)).collect(),
            state: cell.state.name().into(),
            same_as: if let State::SameAs(other) = cell.state { Some(other) } else { None },
            mean: cell.mean,
            se_folds: cell.se_folds,
            se_rows: cell.se_rows,
            behind: cell.behind.map(|(behind, _)| behind),
            behind_se: cell.behind.map(|(_, se)| se),
            scores: cell.folds.iter().map(|fold| fold.as_ref()?.score).collect(),
            training: cell.training(),
            support_vectors: cell.support(),
            bounded: cell.bounded(),
            margin: cell.margin(),
            gap: cell.gap(),
            steps: cell.steps(),
            held_out: held_out
                .then(|| cell.folds.iter().map(|fold| Some(Cow::Borrowed(&fold.as_ref()?.predicted[..]))).collect()),
        };
        TunedView {
            metric: metric.name().into(),
            less_is_better: metric.is_loss(),
            splits: tuned.splits,
            rows: tuned.rows,
            stop: tuned.stop.name().into(),
            best: tuned.best,
            one_se: tuned.one_se,
            chosen: tuned.place(choose),
            not_told_apart: Cow::Borrowed(&tuned.not_told_apart),
            honest: tuned.honest.map(|found| HonestView {
                score: found.score,
                interval: found.interval,
                draws: found.draws,
            }),
            counts: [
                ("exact".into(), counts.exact),
                ("same".into(), counts.same),
                ("abandoned".into(), counts.abandoned),
                ("unfinished".into(), counts.unfinished),
            ]
            .into(),
            warnings: tuned
                .warnings
                .iter()
                .map(|warning| WarningView { what: warning.to_string(), help: warning.help().into() })
                .collect(),
            cells: cells.iter().map(of_cell).collect(),
            learning: None,
            nested: None,
            proof: None,
        }
    }
}
