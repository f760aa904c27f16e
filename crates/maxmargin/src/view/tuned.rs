//! What a search found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::tuning::{Cell, Choose, State, Tuned, kernel_name};

/// One cell of the grid.
#[derive(Clone, Debug, Serialize)]
pub struct CellView<'a> {
    /// The kernel.
    pub kernel: &'static str,
    /// The value of each parameter that was tried, by its name.
    pub params: BTreeMap<&'static str, f64>,
    /// exact, same, abandoned or unfinished.
    pub state: &'static str,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Vec<Option<&'a [f64]>>>,
}

/// What the chosen model is worth on new rows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HonestView {
    /// The estimate.
    pub score: f64,
    /// The ends of the 95 % interval.
    pub interval: (f64, f64),
    /// How often rows were drawn.
    pub draws: usize,
}

/// What the user should know.
#[derive(Clone, Debug, Serialize)]
pub struct WarningView {
    /// What was found.
    pub what: String,
    /// The way out.
    pub help: &'static str,
}

/// What a search found.
#[derive(Clone, Debug, Serialize)]
pub struct TunedView<'a> {
    /// What was to be good.
    pub metric: &'static str,
    /// Whether less of it is better.
    pub less_is_better: bool,
    /// How many splits.
    pub splits: usize,
    /// How many rows.
    pub rows: usize,
    /// Why the search ended.
    pub stop: &'static str,
    /// The place of the best cell.
    pub best: Option<usize>,
    /// The place of the one-SE choice.
    pub one_se: Option<usize>,
    /// The place of the cell that is taken.
    pub chosen: Option<usize>,
    /// Cells that are not told apart from the best.
    pub not_told_apart: &'a [usize],
    /// What the chosen model is worth on new rows.
    pub honest: Option<HonestView>,
    /// How many cells are exact, the same as one of a smaller C, abandoned and unfinished.
    pub counts: BTreeMap<&'static str, usize>,
    /// What the user should know.
    pub warnings: Vec<WarningView>,
    /// All cells.
    pub cells: Vec<CellView<'a>>,
}

impl<'a> TunedView<'a> {
    /// The view of a search; with what is predicted for the held-out rows, if that is wanted.
    pub fn new(tuned: &'a Tuned, choose: Choose, held_out: bool) -> Self {
        let Tuned { metric, cells, counts, .. } = tuned;
        let kernel = |part: usize| tuned.grid.parts.get(part).map_or("", |part| kernel_name(&part.kernel));
        let of_cell = |cell: &'a Cell| CellView {
            kernel: kernel(cell.setting.part),
            params: cell.setting.values.iter().map(|(knob, value)| (knob.name(), *value)).collect(),
            state: cell.state.name(),
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
            held_out: held_out.then(|| cell.folds.iter().map(|fold| Some(&fold.as_ref()?.predicted[..])).collect()),
        };
        TunedView {
            metric: metric.name(),
            less_is_better: metric.is_loss(),
            splits: tuned.splits,
            rows: tuned.rows,
            stop: tuned.stop.name(),
            best: tuned.best,
            one_se: tuned.one_se,
            chosen: if choose == Choose::Best { tuned.best } else { tuned.one_se },
            not_told_apart: &tuned.not_told_apart,
            honest: tuned.honest.map(|found| HonestView {
                score: found.score,
                interval: found.interval,
                draws: found.draws,
            }),
            counts: [
                ("exact", counts.exact),
                ("same", counts.same),
                ("abandoned", counts.abandoned),
                ("unfinished", counts.unfinished),
            ]
            .into(),
            warnings: tuned
                .warnings
                .iter()
                .map(|warning| WarningView { what: warning.to_string(), help: warning.help() })
                .collect(),
            cells: cells.iter().map(of_cell).collect(),
        }
    }
}
