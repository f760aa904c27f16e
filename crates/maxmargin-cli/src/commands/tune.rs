//! `tune`: parameters by cross validation, what the choice is worth, and the model.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use maxmargin::data::{Dataset, Folds, Label, Reading, Scaling, ScalingKind};
use maxmargin::diagnosis::look_like_amounts;
use maxmargin::error::{Error, Parameter, quoted};
use maxmargin::kernel::KernelParams;
use maxmargin::problem::Task;
use maxmargin::training::choose_kernel;
use maxmargin::tuning::{self, Axis, Grid, GridPart, Knob, Results, Search, SearchParams, Splits, Tuned, kernel_name};
use maxmargin::view::TunedView;
use maxmargin::{Stop, TrainingParams, Workers};
use maxmargin_io::{ReadData, ReadOptions};

use crate::arguments::{OrAuto, Strategy, TaskKind, Tune};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::output::{self, Target, Words};
use crate::progress::Watch;
use crate::report::{counted, json_line, number, tuning as report};
use crate::{model_file, size};

/// ε and ν where none are tried.
const EPSILON: f64 = 0.1;
const NU: f64 = 0.5;

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// Searches.
pub(super) fn run(arguments: &Tune) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.quiet };
    let origin = Origin::new(&arguments.data, words)?;
    let workers = Workers::new(arguments.threads)?;
    let limit = arguments.max_time.map(seconds).transpose()?;
    let mut params = params(arguments)?;
    let grid = grid(arguments)?;
    let read: Vec<&Path> = origin.file().into_iter().collect();
    let model = arguments.output.as_deref().map(|path| Target::new(path, &read)).transpose()?;
    let checkpoint =
        arguments.checkpoint.as_deref().map(|path| checkpoint_target(path, arguments, &read)).transpose()?;
    if let (Some(model), Some(checkpoint)) = (&model, &checkpoint)
        && model.path() == checkpoint.path()
    {
        return Err(Failure::new("the model and the checkpoint would be one file", "give them different names"));
    }
    let from = arguments.resume.as_deref().map(load).transpose()?.unwrap_or_default();

    let options = ReadOptions { answers: input::answers_of(params.task), ..arguments.reading.options(None) };
    let options = match params.task.usual() {
        Some(_) => ReadOptions { answers: maxmargin::data::AnswerKind::Classes, ..options },
        None => options,
    };
    let ReadData { data, recipe, .. } = origin.fetch(arguments.reading.seed(), &workers, words)?.read_once(&options)?;
    let (data, numbers) = take_column(data, arguments.groups.as_deref().or(arguments.fold_column.as_deref()))?;
    check_labels(arguments, &data)?;
    params.scaling = match arguments.scale {
        OrAuto::Named(kind) => kind,
        OrAuto::Auto => choose_kernel(&params, data.matrix(), recipe.is_some()).scaling,
    };
    let (splits, drawn) = splits(arguments, &data, numbers.as_deref()).map_err(told)?;
    let columns = match params.scaling {
        ScalingKind::None => Cow::Borrowed(data.matrix()),
        kind => Cow::Owned(Scaling::learn_by(kind, data.matrix(), &workers).apply_by(data.matrix(), &workers)?),
    };
    let named = grid;
    let grid = named.clone().filled(&params, &columns, &workers)?;
    let free = grid.suggested(&named);
    let search = SearchParams {
        training: params,
        grid,
        splits,
        metric: arguments.metric(),
        abandon: !matches!(arguments.strategy, Strategy::Grid | Strategy::Separate),
        tables: arguments.strategy != Strategy::Separate,
        seed: arguments.reading.seed(),
    }
    .check()
    .map_err(told)?;
    let search = match arguments.strategy {
        Strategy::Race => search.by(tuning::Strategy::Race).map_err(told)?,
        Strategy::Screen => search.by(tuning::Strategy::Screen).map_err(told)?,
        Strategy::Auto if search.lacks_memory(&data) => search.clone().by(tuning::Strategy::Screen).unwrap_or(search),
        Strategy::Auto | Strategy::Grid | Strategy::Separate => search,
    };
    let what = what(&search, &data, &drawn);
    if !arguments.quiet {
        output::say(&format!("searching {}: {} ...", origin.shown(), counted(search.settings().len(), "cell")));
    }
    let mut watch = Watch::new(limit, arguments.quiet).counting("chain");
    let mut kept = Kept { target: checkpoint, last: Instant::now(), written: false, failed: None };
    let found = interrupt::during(Phase::Solving, || {
        let mut keep = |results: &Results, is_last: bool| kept.keep(results, is_last);
        search.run_extending(&data, &free, from, &workers, &mut watch, &mut keep)
    });
    let spent = watch.elapsed().as_secs_f64();
    watch.finish();
    let (search, tuned) = found?;
    if let Some(failure) = kept.failed {
        return Err(failure);
    }
    for warning in &tuned.warnings {
        words.warning(&warning.to_string(), warning.help());
    }
    let is_cut = tuned.stop != Stop::Converged;
    let mut file = None;
    if let Some(target) = model.as_ref().filter(|_| !interrupt::asked()) {
        let reading = Reading {
            table: recipe,
            unlabelled: false,
            zero_based: arguments.reading.zero_based,
            holdout: None,
            seed: arguments.reading.seed(),
            support_rows: Vec::new(),
        };
        file = fit(arguments, &search, &tuned, &data, reading, target, &workers)?;
    }
    output::print(&if arguments.json {
        json_line(&TunedView::new(&tuned, arguments.choose, arguments.held_out))
    } else if arguments.quiet {
        String::new()
    } else {
        report::words(&tuned, arguments.choose, &what, spent, file.as_deref())
    })?;
    if is_cut {
        let why = if interrupt::asked() { "interrupted" } else { "the time is over" };
        let go_on = match &kept.target {
            Some(target) if kept.written => format!("; to go on: --resume {}", target.shown()),
            _ => "; --checkpoint makes it possible to go on".into(),
        };
        output::say(&format!("{why}: the best so far is shown{go_on}"));
    } else if let Some(target) = kept.target.filter(|target| target.path().is_file()) {
        // What was kept has done its work. A file that was there before was that of this search, which went on.
        let _ = std::fs::remove_file(target.path());
    }
    Ok(if interrupt::asked() { ExitCode::Interrupted } else { ExitCode::Done })
}

/// Trains with what was chosen, on all rows, and saves the model.
fn fit(
    arguments: &Tune,
    search: &Search,
    tuned: &Tuned,
    data: &Dataset,
    reading: Reading,
    target: &Target,
    workers: &Workers,
) -> Result<Option<String>, Failure> {
    let place = match arguments.choose {
        maxmargin::tuning::Choose::Best => tuned.best,
        maxmargin::tuning::Choose::OneSe => tuned.one_se,
    };
    let is_done = |place: &usize| tuned.cells[*place].mean.is_some();
    let Some(training) = place.filter(is_done).and_then(|place| search.training(place)) else { return Ok(None) };
    let mut watch = Watch::new(None, arguments.quiet);
    let model = interrupt::during(Phase::Solving, || training.fit(data, workers, &mut watch));
    watch.finish();
    let model = model?;
    if interrupt::asked() {
        return Ok(None);
    }
    let model = model.with_reading(Some(reading));
    let other = model_file::kept_apart(target, &model, !arguments.keeps_others);
    let target = other.as_ref().unwrap_or(target);
    model_file::save(target, &model)?;
    Ok(Some(target.shown()))
}

/// Seconds of a limit on time.
fn seconds(value: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(value) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(maxmargin::Error::parameter("max-time", value, "a number of seconds above 0").into()),
    }
}

/// What all cells have in common.
fn params(arguments: &Tune) -> Result<TrainingParams, Failure> {
    let mut params = TrainingParams {
        task: match arguments.task() {
            TaskKind::Classification => Task::Classification,
            TaskKind::Regression => Task::Regression { epsilon: EPSILON },
            TaskKind::OneClass => Task::OneClass { nu: NU },
            TaskKind::Svdd => Task::Svdd { nu: NU },
        },
        loss: arguments.loss,
        bias: arguments.bias,
        positive: arguments.positive.as_deref().map(Label::new),
        class_weights: arguments.class_weights.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        ..TrainingParams::default()
    };
    params.settings.tolerance = arguments.tolerance;
    params.settings.memory = size::asked(arguments.memory.as_deref())?;
    params.settings.seed = arguments.reading.seed();
    Ok(params)
}

/// The kernels, each with the parameters that it has.
fn grid(arguments: &Tune) -> Result<Grid, Failure> {
    let axes = arguments.grid.as_deref().map(Axis::read_all).transpose()?.unwrap_or_default();
    let mut parts = Vec::new();
    for name in &arguments.kernel {
        let mut kernel: KernelParams = name.trim().to_ascii_lowercase().parse()?;
        if matches!(kernel, KernelParams::Precomputed) {
            return Err(Failure::new("a table of kernel values has no parameters to search", "choose another kernel"));
        }
        let has = |axis: &&Axis| match axis.knob {
            Knob::Gamma => kernel.clone().gamma_mut().is_some(),
            Knob::Degree => kernel.clone().degree_mut().is_some(),
            Knob::Coef0 => kernel.clone().coef0_mut().is_some(),
            Knob::C | Knob::Epsilon | Knob::Nu => true,
        };
        let own: Vec<Axis> = axes.iter().filter(has).cloned().collect();
        // The constant 0 makes even powers of opposite rows the same.
        if let Some(coef0) = kernel.coef0_mut().filter(|coef0| **coef0 == 0.0) {
            *coef0 = 1.0;
        }
        parts.push(GridPart { kernel, axes: own });
    }
    if let Some(axis) =
        axes.iter().find(|axis| parts.iter().all(|part| part.axes.iter().all(|own| own.knob != axis.knob)))
    {
        return Err(Failure::new(
            format!("none of the kernels {} has a {}", arguments.kernel.join(", "), axis.knob.name()),
            "leave it out of --grid, or choose another --kernel",
        ));
    }
    Ok(Grid { parts })
}

/// An error in the words of this command: parameters of the grid by their names, others as flags.
fn told(error: Error) -> Failure {
    let name = |parameter: Parameter| match parameter {
        Parameter::Argument("folds" | "repeats") | Parameter::Tolerance => format!("--{}", parameter.name()),
        _ => parameter.name().into(),
    };
    Failure::new(error.text_by(name), error.help_by(name))
}

/// Takes a column of whole numbers out of the data.
fn take_column(data: Dataset, name: Option<&str>) -> Result<(Dataset, Option<Vec<i64>>), Failure> {
    let Some(name) = name else { return Ok((data, None)) };
    let column = data.find_column(name)?;
    let mut numbers = Vec::with_capacity(data.rows());
    for row in 0..data.rows() {
        let mut value = 0.0;
        data.matrix().visit(row, |own, entry| value = if own == column { entry } else { value });
        if value.fract() != 0.0 || value.abs() >= 9e15 {
            let place = format!("row {} of column {} is {value}", row + 1, quoted(name));
            return Err(Failure::new(
                format!("{place}, and no whole number"),
                "give each group or fold a whole number",
            ));
        }
        numbers.push(value as i64);
    }
    let others: Vec<String> = (0..data.columns()).filter(|&own| own != column).map(|own| data.name(own)).collect();
    Ok((data.select_columns(&others)?, Some(numbers)))
}

/// Refuses labels that look like amounts, unless it was said that they are classes.
fn check_labels(arguments: &Tune, data: &Dataset) -> Result<(), Failure> {
    if arguments.task.is_some() || arguments.positive.is_some() {
        return Ok(());
    }
    let classes = data.labels()?.classes();
    if look_like_amounts(classes, data.rows()) {
        return Err(Failure::new(
            format!(
                "the labels are {} different numbers in {}: amounts rather than classes",
                classes.len(),
                counted(data.rows(), "row")
            ),
            "to learn amounts: --task regression; if they are classes: --task classification",
        ));
    }
    Ok(())
}

/// The splits, and how they were drawn, in words.
fn splits(arguments: &Tune, data: &Dataset, numbers: Option<&[i64]>) -> Result<(Splits, String), Error> {
    let (folds, repeats, seed) = (arguments.folds, arguments.repeats, arguments.reading.seed());
    let times = if repeats > 1 { format!(", {repeats} times") } else { String::new() };
    if let (Some(column), Some(numbers)) = (&arguments.fold_column, numbers) {
        let splits = Splits::of_folds(&Folds::given(numbers)?)?;
        let words = format!("{} as column {} says", counted(splits.list().len(), "fold"), quoted(column));
        return Ok((splits, words));
    }
    if let (Some(column), Some(numbers)) = (&arguments.groups, numbers) {
        let splits = Splits::grouped(data, numbers, folds, repeats, seed)?;
        return Ok((
            splits,
            format!("{folds} folds{times} that keep groups of column {} whole, seed {seed}", quoted(column)),
        ));
    }
    let way = if arguments.task() == TaskKind::Regression { "drawn" } else { "stratified" };
    Ok((Splits::of_data(data, folds, repeats, seed)?, format!("{folds} folds{times}, {way}, seed {seed}")))
}

/// What is searched, in words.
fn what(search: &Search, data: &Dataset, drawn: &str) -> String {
    let scaled = match search.params().training.scaling {
        ScalingKind::None => "columns as they are",
        ScalingKind::MinMax => "columns scaled to one range within each fold",
        _ => "columns standardised within each fold",
    };
    let of_part = |part: &GridPart| {
        let axis = |axis: &Axis| {
            let values: Vec<f64> = axis.values.clone();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!("{} {} .. {} ({})", axis.knob.name(), number(least, 2), number(most, 2), values.len())
        };
        let axes: Vec<String> = part.axes.iter().map(axis).collect();
        format!("{}, {}", kernel_name(&part.kernel), axes.join(", "))
    };
    let parts: Vec<String> = search.grid().parts.iter().map(of_part).collect();
    let size = format!("{}, {}", counted(data.rows(), "row"), counted(data.columns(), "column"));
    format!("{size}; {drawn}; {scaled}; {}", parts.join("; "))
}

/// Where a checkpoint goes: a file that is there is replaced only by a search that goes on.
fn checkpoint_target(path: &Path, arguments: &Tune, read: &[&Path]) -> Result<Target, Failure> {
    let target = Target::new(path, read)?;
    if path.exists() && arguments.resume.is_none() {
        let shown = output::escaped(&path.to_string_lossy());
        return Err(Failure::new(
            format!("there is a file {} already", quoted(&path.to_string_lossy())),
            format!("go on from it with --resume {shown}, or remove it"),
        ));
    }
    Ok(target)
}

/// Reads a checkpoint.
fn load(path: &Path) -> Result<Results, Failure> {
    let shown = quoted(&path.to_string_lossy());
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::new(format!("cannot read {shown}: {}", output::reason(&error)), "name a checkpoint of tune")
    })?;
    serde_json::from_slice::<Results>(&bytes).ok().filter(|results| *results != Results::default()).ok_or_else(|| {
        Failure::new(
            format!("{shown} is no checkpoint of tune, or not a whole one"),
            "name another file, or begin anew",
        )
    })
}

/// Keeps where the search is.
struct Kept {
    target: Option<Target>,
    last: Instant,
    written: bool,
    failed: Option<Failure>,
}

impl Kept {
    fn keep(&mut self, results: &Results, is_last: bool) {
        let Some(target) = &self.target else { return };
        if self.failed.is_some() || !is_last && self.last.elapsed() < CHECKPOINT_EVERY {
            return;
        }
        match serde_json::to_vec(results) {
            Ok(bytes) => match maxmargin_io::save_atomically(target.path(), &bytes) {
                Ok(()) => self.written = true,
                Err(error) => self.failed = Some(error.into()),
            },
            Err(_) => self.failed = Some(Failure::new("the checkpoint cannot be written", "leave out --checkpoint")),
        }
        self.last = Instant::now();
    }
}
