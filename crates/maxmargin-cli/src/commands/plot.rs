//! `plot`: a picture of a model, of a search, or of a trace.

use std::fs;
use std::path::{Path, PathBuf};

use maxmargin::Workers;
use maxmargin::error::quoted;
use maxmargin::view::TunedView;
use maxmargin_plot::{Convergence, Kind, SearchKind, convergence, plot_search};
use serde::Deserialize;

use crate::arguments::Plot;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Target, Words};
use crate::picture::{self, Sketch};

/// The word for a picture of a trace. All other kinds are of models or of searches.
const CONVERGENCE: &str = "convergence";

/// Draws.
pub(super) fn run(arguments: &Plot) -> Result<ExitCode, Failure> {
    let (kind, model, data) = words_of(&arguments.words)?;
    let words = Words { quiet: false };
    let origin = data.map(|data| Origin::new(data, words)).transpose()?;
    let mut read = vec![model];
    read.extend(origin.as_ref().and_then(Origin::file));
    let mut sketch = Sketch::new(&arguments.output, &read, arguments.columns.clone())?;
    sketch.numbers = arguments.numbers.as_deref().map(|path| Target::new(path, &read)).transpose()?;
    if sketch.numbers.as_ref().is_some_and(|numbers| numbers.path() == sketch.target.path()) {
        return Err(Failure::new("the picture and its numbers would be one file", "give them different names"));
    }
    sketch.options.width = arguments.width;
    sketch.options.height = arguments.height;
    sketch.options.title = arguments.title.clone();
    sketch.options.theme = picture::theme(&arguments.theme);
    sketch.options.row = usize::try_from(arguments.row - 1).unwrap_or(usize::MAX);
    if kind == Some(CONVERGENCE) {
        return draw_trace(model, data, &sketch);
    }
    if let Some(kind) = kind.and_then(SearchKind::named) {
        return draw_search(kind, model, data, &sketch);
    }
    sketch.kind = kind.and_then(Kind::named);
    let workers = Workers::new(arguments.threads)?;
    let model = crate::model_file::load(model)?;
    let data = match &origin {
        Some(origin) => {
            let source = origin.fetch(arguments.reading.seed_of(&model), &workers, words)?;
            let found = input::read_for_model(&source, &model, &arguments.reading, false, words)?;
            if !found.labelled() {
                words.note("the data has no labels, so all points are drawn as of one class");
            }
            Some(input::training_part(&model, found.data, arguments.reading.seed_of(&model), &workers)?.0)
        }
        None => None,
    };
    let of = picture::draw(&sketch, &model, data.as_ref(), &workers)?;
    tell(&sketch, &of);
    Ok(ExitCode::Done)
}

fn tell(sketch: &Sketch, of: &str) {
    output::say(&format!("wrote {} ({of})", sketch.target.shown()));
    if let Some(numbers) = &sketch.numbers {
        output::say(&format!("wrote {} (its numbers)", numbers.shown()));
    }
}

/// The kind, if the first word is one and another follows; then the model and the data.
fn words_of(words: &[PathBuf]) -> Result<(Option<&'static str>, &Path, Option<&Path>), Failure> {
    let of_searches = SearchKind::ALL.map(SearchKind::name);
    let kinds = || Kind::ALL.into_iter().map(Kind::name).chain(of_searches).chain([CONVERGENCE]);
    let path = |place: usize| words.get(place).map(PathBuf::as_path);
    let kind =
        words.first().filter(|_| words.len() > 1).and_then(|first| kinds().find(|kind| first.as_os_str() == *kind));
    match (kind, words) {
        (Some(kind), [_, model, ..]) => Ok((Some(kind), model, path(2))),
        (None, [model] | [model, _]) => Ok((None, model, path(1))),
        _ => Err(Failure::new(
            format!("there is no kind of picture {}", quoted(&words[0].to_string_lossy())),
            format!("the kinds are {}", kinds().collect::<Vec<_>>().join(", ")),
        )),
    }
}

/// Draws what `tune --json` has printed.
fn draw_search(kind: SearchKind, path: &Path, data: Option<&Path>, sketch: &Sketch) -> Result<ExitCode, Failure> {
    let shown = quoted(&path.to_string_lossy());
    if data.is_some() {
        return Err(Failure::new(
            format!("the kind {} is drawn from a search alone", kind.name()),
            "leave out the data",
        ));
    }
    let way_out = "write one with maxmargin tune DATA --json";
    let bytes = fs::read(path).map_err(|error| {
        Failure::new(format!("cannot read the search {shown}: {}", output::reason(&error)), way_out)
    })?;
    let found: TunedView<'_> = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(format!("{shown} is no search: {}", output::escaped(&error.to_string())), way_out)
    })?;
    sketch.save(&plot_search(kind, &found, &sketch.options)?)?;
    tell(sketch, kind.name());
    Ok(ExitCode::Done)
}

/// What matters of a line of a trace.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    step: Option<String>,
    #[serde(default)]
    machine: usize,
    iteration: u64,
    #[serde(default)]
    primal: Option<f64>,
    #[serde(default)]
    dual: Option<f64>,
    #[serde(default)]
    gap: Option<f64>,
    #[serde(default)]
    violation: Option<f64>,
}

/// Draws the first machine of a trace.
fn draw_trace(path: &Path, data: Option<&Path>, sketch: &Sketch) -> Result<ExitCode, Failure> {
    let shown = quoted(&path.to_string_lossy());
    if data.is_some() {
        return Err(Failure::new("the kind convergence is drawn from a trace alone", "leave out the data"));
    }
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(
            format!("cannot read the trace {shown}: {}", output::reason(&error)),
            "write one with maxmargin train DATA --trace FILE",
        )
    })?;
    let (mut steps, mut progress) = (Vec::new(), Vec::new());
    let mut first = None;
    for (number, line) in text.lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|error| {
            Failure::new(
                format!("{shown}, line {}: {}", number + 1, output::escaped(&error.to_string())),
                "give a file that maxmargin train DATA --trace FILE has written",
            )
        })?;
        if line.machine != *first.get_or_insert(line.machine) {
            continue;
        }
        // The certificate's own sum: the primal objective is the dual one and the gap.
        let primal = line.primal.or(line.dual.zip(line.gap).map(|(dual, gap)| dual + gap));
        let Line { iteration, dual, gap, violation, .. } = line;
        let list = if line.step.as_deref() == Some("progress") { &mut progress } else { &mut steps };
        list.push(Convergence { iteration, primal, dual, gap, violation });
    }
    // What a solver says between two steps it knows better after each.
    let steps = if steps.is_empty() { progress } else { steps };
    let picture = convergence(&steps, "Convergence", &sketch.options).map_err(|error| match error {
        maxmargin_plot::Error::NoRange { .. } => Failure::new(
            format!("{shown} says nothing of objectives, gaps or violations"),
            "trace a training with a solver that does, such as smo",
        ),
        error => error.into(),
    })?;
    sketch.save(&picture)?;
    tell(sketch, &format!("{} steps", steps.len()));
    Ok(ExitCode::Done)
}
