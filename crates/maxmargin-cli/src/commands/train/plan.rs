//! The arguments of `train`, checked before anything is read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use maxmargin::data::Label;
use maxmargin::error::quoted;
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::problem::Task;
use maxmargin::solver::Settings;
use maxmargin::training::Penalty;
use maxmargin::{TrainingParams, Workers};
use maxmargin_io::{ReadOptions, is_cache, previous_checkpoint};

use super::mode::Mode;
use crate::arguments::{TaskKind, Train};
use crate::checkpoint_file::{Keeper, resume_command};
use crate::failure::Failure;
use crate::input::Origin;
use crate::output::{Target, Words};
use crate::picture::Sketch;
use crate::size;

/// ε and ν where none is given.
const DEFAULT_EPSILON: f64 = 0.1;
const DEFAULT_NU: f64 = 0.5;

/// Seconds between two checkpoints.
const CHECKPOINT_EVERY: f64 = 30.0;

/// What every mode of a training needs.
pub(super) struct Plan<'a> {
    pub(super) arguments: &'a Train,
    pub(super) words: Words,
    pub(super) origin: Origin,
    /// The data of `--test`.
    pub(super) test: Option<Origin>,
    pub(super) options: ReadOptions,
    pub(super) limit: Option<Duration>,
    pub(super) workers: Workers,
    /// Bytes that caches and matrices may take.
    pub(super) memory: u64,
    pub(super) model: Target,
    pub(super) picture: Option<Drawing>,
    /// Where the steps are written to.
    pub(super) trace: Option<Target>,
    /// Where a cache of the data is kept.
    pub(super) cache: Option<Target>,
    /// Who keeps checkpoints; a mode takes it while it learns.
    pub(super) keeper: Option<Keeper>,
}

/// A picture to be made.
pub(super) struct Drawing {
    pub(super) sketch: Sketch,
    /// Whether the user asked for it; one that comes by itself may fail.
    pub(super) asked: bool,
}

impl<'a> Plan<'a> {
    /// Checks what can be checked without the data.
    ///
    /// # Errors
    /// When a value is out of its range, or a file cannot be written.
    pub(super) fn new(arguments: &'a Train, mode: &Mode) -> Result<Self, Failure> {
        let words = Words { quiet: arguments.quiet };
        let origin = Origin::new(&arguments.data, words)?;
        let test = arguments.test.as_deref().map(|test| Origin::new(test, words)).transpose()?;
        if origin == Origin::Stdin && test == Some(Origin::Stdin) {
            return Err(Failure::new(
                "standard input cannot be both the data and the test",
                "give one of them as a file, or use --holdout",
            ));
        }
        // Ranges are checked before files are touched.
        if !matches!(mode, Mode::Stream) {
            params(arguments)?.check()?;
        }
        arguments.holdout.map_or(Ok(()), check_share)?;
        let limit = arguments.max_time.map(|value| seconds("max-time", value)).transpose()?;
        let workers = Workers::new(arguments.threads)?;
        let memory = size::asked(arguments.memory.as_deref())?;
        let mut read: Vec<&Path> = [&origin].into_iter().chain(&test).filter_map(|origin| origin.file()).collect();
        // A checkpoint is written while the model to start from may be needed again, a model in memory when it is not.
        let mut kept_apart = read.clone();
        kept_apart.extend(arguments.warm_start.as_deref());
        let keeper = keeper(arguments, &kept_apart, words)?;
        if matches!(mode, Mode::OutOfCore(_)) {
            read = kept_apart;
        }
        read.extend(arguments.resume.as_deref());
        let model = arguments.output.clone().unwrap_or_else(|| model_of(&origin));
        let model = Target::new(&model, &read)?;
        let picture = if matches!(mode, Mode::Memory) { picture(arguments, &origin, &read)? } else { None };
        let trace = arguments.trace.as_deref().map(|path| Target::new(path, &read)).transpose()?;
        let cache = if matches!(mode, Mode::OutOfCore(_)) { cache(arguments, &read)? } else { None };
        let plan = Plan {
            options: arguments.reading.options(arguments.columns.as_deref()),
            arguments,
            words,
            origin,
            test,
            limit,
            workers,
            memory,
            model,
            picture,
            trace,
            cache,
            keeper,
        };
        plan.check_that_files_differ()?;
        Ok(plan)
    }

    /// Checks that no file is to be written twice.
    fn check_that_files_differ(&self) -> Result<(), Failure> {
        let others = [
            ("picture", "--plot", self.picture.as_ref().map(|drawing| drawing.sketch.target.path())),
            ("trace", "--trace", self.trace.as_ref().map(Target::path)),
            ("cache", "--cache", self.cache.as_ref().map(Target::path)),
        ];
        for (what, flag, path) in others {
            if path == Some(self.model.path()) {
                return Err(Failure::new(
                    format!("{} would be both the model and the {what}", quoted(&self.model.path().to_string_lossy())),
                    format!("give them different names with -o and {flag}"),
                ));
            }
        }
        let Some(kept) = self.keeper.as_ref().map(|keeper| keeper.target().path()) else { return Ok(()) };
        for path in others.into_iter().filter_map(|(.., path)| path).chain([self.model.path()]) {
            if path == kept || path == previous_checkpoint(kept) {
                return Err(Failure::new(
                    format!("{} would be a checkpoint, too", quoted(&path.to_string_lossy())),
                    "give them different names with -o, --plot and --checkpoint",
                ));
            }
        }
        Ok(())
    }

    /// How to go on from the checkpoints, where any are kept.
    pub(super) fn go_on(&self) -> Option<String> {
        let target = self.keeper.as_ref()?.target();
        let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let command = resume_command(typed, target.path());
        Some(format!("where the training was is in {}; to go on:\n  {command}", target.shown()))
    }
}

/// Who keeps checkpoints, where they are asked for.
fn keeper(arguments: &Train, read: &[&Path], words: Words) -> Result<Option<Keeper>, Failure> {
    let every = seconds("checkpoint-every", arguments.checkpoint_every.unwrap_or(CHECKPOINT_EVERY))?;
    let Some(path) = &arguments.checkpoint else { return Ok(None) };
    Ok(Some(Keeper::new(path, every, read, arguments.resume.is_some(), words)?))
}

/// The picture asked for; for built-in sets there is one without asking, unless the output is for a program.
fn picture(arguments: &Train, origin: &Origin, read: &[&Path]) -> Result<Option<Drawing>, Failure> {
    let by_itself = origin.is_built_in() && arguments.output.is_none() && !arguments.json && !arguments.quiet;
    let (path, asked) = match &arguments.plot {
        Some(path) => (path.clone(), true),
        None if by_itself && arguments.task() != TaskKind::Regression => (with_extension(&origin.stem(), "svg"), false),
        None if arguments.plot_columns.is_some() => {
            return Err(Failure::new(
                "--plot-columns is of no use without a picture",
                "name the picture with --plot FILE",
            ));
        }
        None => return Ok(None),
    };
    let columns = match (&arguments.plot_columns, origin, &arguments.columns) {
        (None, Origin::Embedded("iris"), None) => Some(vec!["petal_length".into(), "petal_width".into()]),
        (columns, ..) => columns.clone(),
    };
    let sketch = Sketch::new(&path, read, columns)?;
    Ok(Some(Drawing { sketch, asked }))
}

/// Where a cache of the data is kept, which may be one that is there.
fn cache(arguments: &Train, read: &[&Path]) -> Result<Option<Target>, Failure> {
    let Some(path) = &arguments.cache else { return Ok(None) };
    if path.exists() && !is_cache(path) {
        return Err(Failure::new(
            format!("{} is there, and is no cache", quoted(&path.to_string_lossy())),
            "choose another name with --cache",
        ));
    }
    Ok(Some(Target::new(path, read)?))
}

/// What to find, with its number.
fn task(arguments: &Train) -> Result<Task, Failure> {
    let stray = |flag: &str, task: &str| {
        Err(Failure::new(format!("--{flag} goes with --task {task}"), format!("leave it out, or choose --task {task}")))
    };
    match arguments.task() {
        TaskKind::Classification | TaskKind::OneClass | TaskKind::Svdd if arguments.epsilon.is_some() => {
            stray("epsilon", "regression")
        }
        TaskKind::Classification | TaskKind::Regression if arguments.unlabelled => stray("unlabelled", "one-class"),
        TaskKind::Classification => Ok(Task::Classification),
        TaskKind::Regression if arguments.epsilon.is_some() && arguments.nu.is_some() => {
            Err(Failure::new("--nu finds the epsilon that --epsilon gives", "leave out one of the two"))
        }
        TaskKind::Regression => Ok(match arguments.nu {
            Some(nu) => Task::NuRegression { nu },
            None => Task::Regression { epsilon: arguments.epsilon.unwrap_or(DEFAULT_EPSILON) },
        }),
        TaskKind::OneClass => Ok(Task::OneClass { nu: arguments.nu.unwrap_or(DEFAULT_NU) }),
        TaskKind::Svdd => Ok(Task::Svdd { nu: arguments.nu.unwrap_or(DEFAULT_NU) }),
    }
}

/// What to train, not yet checked.
pub(super) fn params(arguments: &Train) -> Result<TrainingParams, Failure> {
    let nu = arguments.nu.filter(|_| arguments.task() == TaskKind::Classification);
    let given = [arguments.c, arguments.c_over_n, arguments.lambda].iter().any(Option::is_some);
    if nu.is_some() && (given || arguments.hard || arguments.no_penalty) {
        return Err(Failure::new("--nu finds the penalty, which was given, too", "leave out one of the two"));
    }
    let penalty = match (nu, arguments.c, arguments.c_over_n, arguments.lambda) {
        (Some(nu), ..) => Penalty::Nu(nu),
        _ if arguments.hard => Penalty::Hard,
        _ if arguments.no_penalty => Penalty::None,
        (_, Some(c), ..) => Penalty::C(c),
        (_, _, Some(c), _) => Penalty::COverN(c),
        (.., Some(lambda)) => Penalty::Lambda(lambda),
        _ => Penalty::C(1.0),
    };
    Ok(TrainingParams {
        task: task(arguments)?,
        kernel: match arguments.landmarks {
            // The data decides later, and never on a linear kernel.
            Some(_) if arguments.has_automatic_kernel() => KernelParams::Rbf { gamma: Gamma::Scale },
            _ => arguments.kernel.params()?,
        },
        landmarks: arguments.landmarks(),
        penalty,
        norm: arguments.norm,
        loss: arguments.loss,
        bias: arguments.bias,
        solver: arguments.solver.0,
        multiclass: arguments.multiclass,
        scaling: arguments.named_scaling(),
        positive: arguments.positive.as_deref().map(Label::new),
        class_weights: arguments.class_weights.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        settings: Settings {
            tolerance: arguments.tolerance,
            gap: arguments.gap,
            max_iterations: arguments.max_iterations,
            memory: size::asked(arguments.memory.as_deref())?,
            seed: arguments.reading.seed(),
            batch: arguments.batch,
            averaged: arguments.averaged,
            shrinkage: arguments.shrinkage.parse()?,
            threshold: arguments.threshold,
            precision: arguments.precision,
            hidden: arguments.hidden.clone(),
            activation: arguments.activation,
            starts: arguments.starts,
        },
    })
}

/// Checks the share of rows that are held out.
pub(in crate::commands) fn check_share(share: f64) -> Result<(), Failure> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    let error = maxmargin::Error::parameter("holdout", share, "above 0 and below 1");
    let is_percentage = (1.0..100.0).contains(&share);
    let in_parts = if is_percentage { format!("; for {share} % write {}", share / 100.0) } else { String::new() };
    Err(Failure::new(error.to_string(), error.help() + &in_parts))
}

/// Seconds that are as good as no limit: thirty years. More of them may have no place in a date.
const MOST_SECONDS: f64 = 1e9;

fn seconds(name: &'static str, value: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(value.min(MOST_SECONDS)) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(maxmargin::Error::parameter(name, value, "a number of seconds above 0").into()),
    }
}

/// The model of data, where no name is given.
pub(super) fn model_of(origin: &Origin) -> PathBuf {
    with_extension(&origin.stem(), "mm")
}

/// `stem.mm`, whatever points the stem holds.
fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_os_string();
    name.push(".");
    name.push(extension);
    name.into()
}
