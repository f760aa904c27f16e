//! Pictures of a search, from its view: what the command line and Python print as JSON, or read back from it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use maxmargin::tuning::Spread;
use maxmargin::view::{CellView, TunedView};

use super::grid::{Grid, GridCell, GridPanel, Mark, grid};
use super::learning::{Learning, learning};
use super::nothing;
use super::path::{Path, PathCurve, Quantity, path};
use crate::drawing::axis::short;
use crate::drawing::text::counted;
use crate::error::Error;
use crate::{Picture, PlotOptions};

/// Panels of a grid at most; those with the best cells are shown.
const MOST_PANELS: usize = 6;

/// The parameter that chains go along.
const COST: &str = "C";

/// A picture of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchKind {
    /// The score of each cell over two parameters, with the best, those within one standard error, copies and abandoned cells.
    Grid,
    /// Scores, support vectors and margin over C, with the other parameters of the best cell.
    Path,
    /// Scores over the number of training rows, where the search has computed them.
    Learning,
    /// The solver's steps in each cell: where the time went.
    Work,
}

impl SearchKind {
    /// All of them.
    pub const ALL: [SearchKind; 4] = [SearchKind::Grid, SearchKind::Path, SearchKind::Learning, SearchKind::Work];

    /// The kind's name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            SearchKind::Grid => "grid",
            SearchKind::Path => "path",
            SearchKind::Learning => "learning",
            SearchKind::Work => "work",
        }
    }

    /// The kind of a name; `None` for any other word.
    pub fn named(name: &str) -> Option<Self> {
        SearchKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether a search has the numbers that this picture shows.
    pub fn suits(self, found: &TunedView<'_>) -> bool {
        match self {
            SearchKind::Grid => found.cells.iter().any(|cell| cell.mean.is_some()),
            SearchKind::Path => followed(found).is_some_and(|(_, cells)| cells.len() > 1),
            SearchKind::Learning => found.learning.is_some(),
            SearchKind::Work => found.cells.iter().any(|cell| cell.steps > 0),
        }
    }
}

/// Draws a search.
///
/// # Errors
/// When an option is out of range, or the search does not have the numbers of this picture.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::kernel::{Gamma, KernelParams};
/// use maxmargin::tuning::{Axis, Choose, Grid, Metric, SearchParams, Splits};
/// use maxmargin::view::TunedView;
/// use maxmargin::{TrainingParams, Unattended, Workers};
/// use maxmargin_plot::{Format, PlotOptions, SearchKind, plot_search};
///
/// let iris = embedded("iris").unwrap();
/// let search = SearchParams {
///     training: TrainingParams::default(),
///     grid: Grid::of(KernelParams::Rbf { gamma: Gamma::Scale }, Axis::read_all("C=0.1:100:4,gamma=0.01:1:3")?),
///     splits: Splits::of_data(&iris, 5, 1, 0)?,
///     metric: Metric::Accuracy,
///     abandon: true,
///     tables: true,
///     seed: 0,
/// };
/// let tuned = search.check()?.run(&iris, &Workers::none(), &mut Unattended)?;
/// let view = TunedView::new(&tuned, Choose::Best, false);
/// let picture = plot_search(SearchKind::Grid, &view, &PlotOptions::default())?;
/// assert!(picture.bytes(Format::Svg)?.starts_with(b"<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plot_search(kind: SearchKind, found: &TunedView<'_>, options: &PlotOptions) -> Result<Picture, Error> {
    if !kind.suits(found) {
        return Err(unsuited(kind));
    }
    match kind {
        SearchKind::Grid => grid(&scores(found), options),
        SearchKind::Path => path(&along_cost(found).ok_or_else(nothing)?, options),
        SearchKind::Learning => learning(&learnt(found).ok_or_else(nothing)?, options),
        SearchKind::Work => grid(&steps(found), options),
    }
}

/// Why a picture cannot be drawn of a search.
fn unsuited(kind: SearchKind) -> Error {
    let (what, help) = match kind {
        SearchKind::Grid => ("no cell of the search was finished", "give the search more time"),
        SearchKind::Path => (
            "the best cell of the search has no neighbours of another C",
            "search several values of C, as in --grid C=0.1:1000:9",
        ),
        SearchKind::Learning => ("the search has no learning curve", "search with tune --learning"),
        SearchKind::Work => ("the search has counted no steps", "choose another kind of picture, such as grid"),
    };
    Error::Unsuited { what: what.into(), help: help.into() }
}

/// The best cell, the number of the picture's title.
fn best<'v>(found: &'v TunedView<'_>) -> Option<&'v CellView<'v>> {
    found.cells.get(found.best?)
}

/// Cells within one standard error of the best, which is one of them.
fn is_near(found: &TunedView<'_>, place: usize) -> bool {
    let cell = &found.cells[place];
    found.best == Some(place) || cell.behind.zip(cell.behind_se).is_some_and(|(behind, se)| behind <= se)
}

/// The parameters of a cell in words, C first.
fn setting(cell: &CellView<'_>) -> String {
    let words: Vec<String> = cell.params.iter().map(|(name, value)| format!("{name} = {}", short(*value))).collect();
    words.join(", ")
}

/// The parameters across and up of the panels of each kernel.
type AxesOfKernels<'v> = BTreeMap<&'v str, (&'v str, &'v str)>;

/// The two parameters of each kernel that have the most values, C up: an empty name where there is one alone.
fn axes<'v>(found: &'v TunedView<'_>) -> AxesOfKernels<'v> {
    let mut values: BTreeMap<&str, BTreeMap<&str, BTreeSet<u64>>> = BTreeMap::new();
    for cell in &found.cells {
        let of_kernel = values.entry(&cell.kernel).or_default();
        for (name, value) in &cell.params {
            of_kernel.entry(name).or_default().insert(value.to_bits());
        }
    }
    let axes = |of_kernel: BTreeMap<&'v str, BTreeSet<u64>>| {
        let mut names: Vec<(&str, usize)> = of_kernel.into_iter().map(|(name, values)| (name, values.len())).collect();
        names.sort_by_key(|(name, count)| (Reverse(*count), *name));
        let mut names: Vec<&str> = names.into_iter().map(|(name, _)| name).take(2).collect();
        // C goes up, as in the table of the report.
        names.sort_by_key(|name| *name == COST);
        match names[..] {
            [across, up] => (across, up),
            [up] => ("", up),
            _ => ("", ""),
        }
    };
    values.into_iter().map(|(kernel, of_kernel)| (kernel, axes(of_kernel))).collect()
}

/// The cells by what they have in common beside the two parameters of a panel. `number` is what is shown of a cell, and whether it is within one
/// standard error of the best.
fn panels(
    found: &TunedView<'_>,
    number: impl Fn(usize, &CellView<'_>) -> (Option<f64>, bool),
) -> (Vec<GridPanel>, Vec<Vec<usize>>) {
    let axes = axes(found);
    let mut panels: Vec<GridPanel> = Vec::new();
    let mut places: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (place, cell) in found.cells.iter().enumerate() {
        let (across, up) = axes.get(&*cell.kernel).copied().unwrap_or_default();
        let of_kernel = (axes.len() > 1).then(|| cell.kernel.to_string());
        let others = cell.params.iter().filter(|(name, _)| **name != *across && **name != *up);
        let shared: Vec<String> =
            of_kernel.into_iter().chain(others.map(|(name, value)| format!("{name} = {}", short(*value)))).collect();
        let heading = shared.join(", ");
        let panel = *known.entry(heading.clone()).or_insert_with(|| {
            panels.push(GridPanel { heading, parameters: (across.into(), up.into()), cells: Vec::new() });
            places.push(Vec::new());
            panels.len() - 1
        });
        let value = |name: &str| cell.params.get(name).copied().unwrap_or(0.0);
        let mark = match &*cell.state {
            "same" => Mark::Copy,
            "abandoned" => Mark::Abandoned,
            _ => Mark::None,
        };
        let (score, is_near) = number(place, cell);
        panels[panel].cells.push(GridCell { at: (value(across), value(up)), score, mark, is_near });
        places[panel].push(place);
    }
    (panels, places)
}

/// The panels that find room: those with the best cells, in their order.
fn with_room(mut panels: Vec<GridPanel>, mut places: Vec<Vec<usize>>, key: impl Fn(&GridPanel) -> f64) -> Shown {
    let mut order: Vec<usize> = (0..panels.len()).collect();
    order.sort_by(|&a, &b| key(&panels[b]).total_cmp(&key(&panels[a])));
    let mut kept: Vec<usize> = order.into_iter().take(MOST_PANELS).collect();
    kept.sort_unstable();
    let left_out = panels.len() - kept.len();
    let (panels, places) =
        kept.iter().map(|&k| (std::mem::take(&mut panels[k]), std::mem::take(&mut places[k]))).unzip();
    Shown { panels, places, left_out }
}

/// Panels of a grid, the places of their cells among those of the search, and how many panels found no room.
struct Shown {
    panels: Vec<GridPanel>,
    places: Vec<Vec<usize>>,
    left_out: usize,
}

impl Shown {
    fn caption(&self) -> Vec<String> {
        let words = || format!("{} without room left out", counted(self.left_out, "panel"));
        (self.left_out > 0).then(words).into_iter().collect()
    }
}

/// The heat map of scores.
fn scores(found: &TunedView<'_>) -> Grid {
    let sign = if found.less_is_better { -1.0 } else { 1.0 };
    let (panels, places) = panels(found, |place, cell| (cell.mean, cell.mean.is_some() && is_near(found, place)));
    let key = |panel: &GridPanel| {
        panel.cells.iter().filter_map(|cell| cell.score).map(|score| sign * score).fold(f64::NEG_INFINITY, f64::max)
    };
    let shown = with_room(panels, places, key);
    let find = |best: usize| {
        let of_panel = |places: &Vec<usize>| places.iter().position(|&place| place == best);
        shown.places.iter().enumerate().find_map(|(panel, places)| Some((panel, of_panel(places)?)))
    };
    let mut below = Vec::new();
    if let Some((mean, cell)) = best(found).and_then(|cell| Some((cell.mean?, cell))) {
        below.push(format!("best {} at {}", short(mean), setting(cell)));
    }
    if let Some(honest) = found.honest {
        let [score, low, high] = [honest.score, honest.interval.0, honest.interval.1].map(short);
        below.push(format!("honest {score} [{low}, {high}]"));
    }
    Grid {
        title: format!("{} of {}, {}", capital(&found.metric), counted(found.cells.len(), "cell"), splits(found)),
        below: below.join(" · "),
        score: found.metric.to_string(),
        best: found.best.and_then(find),
        caption: shown.caption(),
        panels: shown.panels,
        smaller_is_better: found.less_is_better,
        by_powers: false,
    }
}

/// How many splits there are, in words.
fn splits(found: &TunedView<'_>) -> String {
    format!("mean of {}", counted(found.splits, "split"))
}

/// A word at the beginning of a title.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The heat map of steps.
fn steps(found: &TunedView<'_>) -> Grid {
    let (panels, places) = panels(found, |_, cell| ((cell.steps > 0).then_some(cell.steps as f64), false));
    let key = |panel: &GridPanel| panel.cells.iter().filter_map(|cell| cell.score).sum::<f64>();
    let shown = with_room(panels, places, key);
    let all: u64 = found.cells.iter().map(|cell| cell.steps).sum();
    let largest =
        found.cells.iter().filter_map(|cell| cell.params.get(COST)).copied().fold(f64::NEG_INFINITY, f64::max);
    let of_largest: u64 =
        found.cells.iter().filter(|cell| cell.params.get(COST) == Some(&largest)).map(|cell| cell.steps).sum();
    let mut below = format!("{} in all", counted(all as usize, "step"));
    if largest > 0.0 && all > 0 {
        let share = 100.0 * of_largest as f64 / all as f64;
        below.push_str(&format!(", {share:.0} % of them at {COST} = {}", short(largest)));
    }
    Grid {
        title: "Where the solver's steps went".into(),
        below,
        score: "steps".into(),
        best: None,
        caption: shown.caption(),
        panels: shown.panels,
        smaller_is_better: false,
        by_powers: true,
    }
}

/// The best cell and those that differ from it in C alone, ascending.
fn followed<'v>(found: &'v TunedView<'_>) -> Option<(&'v CellView<'v>, Vec<&'v CellView<'v>>)> {
    let best = best(found)?;
    best.params.get(COST)?;
    let others = |cell: &CellView<'_>| -> Vec<(String, u64)> {
        let others = cell.params.iter().filter(|(name, _)| **name != *COST);
        others.map(|(name, value)| (name.to_string(), value.to_bits())).collect()
    };
    let mut cells: Vec<&CellView<'_>> = found
        .cells
        .iter()
        .filter(|cell| cell.kernel == best.kernel && others(cell) == others(best) && cell.mean.is_some())
        .collect();
    cells.sort_by(|a, b| a.params[COST].total_cmp(&b.params[COST]));
    Some((best, cells))
}

/// Curves over C.
fn along_cost(found: &TunedView<'_>) -> Option<Path> {
    let (best, cells) = followed(found)?;
    let all = |of: &dyn Fn(&CellView<'_>) -> Option<f64>| -> Vec<f64> {
        cells.iter().map(|cell| of(cell).unwrap_or(f64::NAN)).collect()
    };
    let curve = |name: &str, values: Vec<f64>| PathCurve { name: name.into(), values, bands: Vec::new() };
    let validation =
        PathCurve { bands: all(&|cell| cell.se_rows.or(cell.se_folds)), ..curve("held out", all(&|cell| cell.mean)) };
    let mut scores = vec![validation];
    let training = all(&|cell| cell.training);
    if training.iter().any(|score| score.is_finite()) {
        scores.push(curve("training", training));
    }
    let support =
        vec![curve("all", all(&|cell| cell.support_vectors)), curve("at the bound", all(&|cell| cell.bounded))];
    let others: Vec<String> = best
        .params
        .iter()
        .filter(|(name, _)| **name != *COST)
        .map(|(name, value)| format!("{name} = {}", short(*value)))
        .collect();
    let with = if others.is_empty() { String::new() } else { format!(", {}", others.join(", ")) };
    Some(Path {
        title: format!("{} over C: {}{with}", capital(&found.metric), best.kernel),
        below: format!("best {} at C = {}", best.mean.map_or_else(|| "-".into(), short), short(best.params[COST])),
        parameter: COST.into(),
        at: cells.iter().map(|cell| cell.params[COST]).collect(),
        quantities: vec![
            Quantity { name: found.metric.to_string(), curves: scores },
            Quantity { name: "support vectors".into(), curves: support },
            Quantity::of("margin", all(&|cell| cell.margin)),
        ],
        chosen: Some(best.params[COST]),
        caption: vec!["band: one standard error of the mean".into()],
    })
}

/// The learning curve.
fn learnt(found: &TunedView<'_>) -> Option<Learning> {
    let curve = found.learning.as_ref()?;
    let cell = found.cells.get(curve.cell)?;
    let spread = |spread: Spread| (spread.mean, spread.deviation);
    Some(Learning {
        title: format!("Learning curve: {}, {}", cell.kernel, setting(cell)),
        score: found.metric.to_string(),
        rows: curve.points.iter().map(|point| point.rows).collect(),
        training: curve.points.iter().map(|point| spread(point.training)).collect(),
        validation: curve.points.iter().map(|point| spread(point.held_out)).collect(),
    })
}
