//! `train`: data to model, with its certificate.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use maxmargin::checkpoint::MachineState;
use maxmargin::data::{Dataset, Label, Labels, ScalingKind, range_ratio, stratified_split};
use maxmargin::diagnosis::MOST_RANGE_RATIO;
use maxmargin::error::quoted;
use maxmargin::kernel::KernelParams;
use maxmargin::model::{Machine, Multiclass};
use maxmargin::problem::Task;
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::Penalty;
use maxmargin::{Beginning, Checkpoint, Model, Stop, Training, TrainingParams, Workers};
use maxmargin_io::{ReadOptions, previous_checkpoint};

use super::predict;
use crate::arguments::{TaskKind, Train};
use crate::checkpoint_file::{self, Keeper};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::output::{self, Target, Words};
use crate::picture::{self, Sketch};
use crate::progress::Watch;
use crate::report::training::{Picture, Score, Trained, json_last, reached, reached_last};
use crate::report::{self, counted, number};
use crate::{model_file, size};

/// What is said when an interrupt leaves no model behind.
const NOTHING_KEPT: &str =
    "no model was written; --save-partial keeps what was reached, and --checkpoint makes it possible to go on";
const NO_CHECKPOINT_YET: &str =
    "no model was written, and there was nothing to keep in a checkpoint yet; --save-partial keeps what was reached";

/// ε and ν where none is given.
const DEFAULT_EPSILON: f64 = 0.1;
const DEFAULT_NU: f64 = 0.5;

/// Seconds between two checkpoints.
pub(super) const CHECKPOINT_EVERY: f64 = 30.0;

/// The arguments, checked, before anything is read.
struct Plan {
    origin: Origin,
    test: Option<Origin>,
    training: Training,
    limit: Option<Duration>,
    workers: Workers,
    model: Target,
    picture: Option<Drawing>,
    keeper: Option<Keeper>,
    resume: Option<Checkpoint>,
    warm_start: Option<Model>,
    words: Words,
}

/// A picture to be made.
struct Drawing {
    sketch: Sketch,
    /// Whether the user asked for it; one that comes by itself may fail.
    asked: bool,
}

impl Plan {
    fn new(arguments: &Train) -> Result<Self, Failure> {
        let words = Words { quiet: arguments.quiet };
        let origin = Origin::new(&arguments.data, words)?;
        let test = arguments.test.as_deref().map(|test| Origin::new(test, words)).transpose()?;
        if origin == Origin::Stdin && test == Some(Origin::Stdin) {
            return Err(Failure::new(
                "standard input cannot be both the data and the test",
                "give one of them as a file, or use --holdout",
            ));
        }
        let training = params(arguments)?.check()?;
        refuse_what_a_network_has_not(arguments)?;
        if arguments.holdout.is_some() && matches!(training.params().kernel, KernelParams::Precomputed) {
            return Err(Failure::new(
                "a table of kernel values cannot be split by --holdout: its columns belong to its rows",
                "give the test rows as a table of their own, with --test",
            ));
        }
        arguments.holdout.map_or(Ok(()), check_share)?;
        let limit = arguments.max_time.map(|value| seconds("max-time", value)).transpose()?;
        let workers = Workers::new(arguments.threads)?;
        let mut read: Vec<&Path> =
            [&origin].into_iter().chain(test.as_ref()).filter_map(|origin| origin.file()).collect();
        let keeper = Plan::keeper(arguments, &read, words)?;
        read.extend(arguments.resume.as_deref());
        let model = arguments.output.clone().unwrap_or_else(|| with_extension(&origin.stem(), "mm"));
        let model = Target::new(&model, &read)?;
        let picture = Plan::picture(arguments, &origin, &read)?;
        if let Some(picture) = &picture
            && picture.sketch.target.path() == model.path()
        {
            return Err(Failure::new(
                format!("{} would be both the model and the picture", quoted(&model.path().to_string_lossy())),
                "give them different names with -o and --plot",
            ));
        }
        for target in [Some(&model), picture.as_ref().map(|drawing| &drawing.sketch.target)].into_iter().flatten() {
            let kept = keeper.as_ref().map(|keeper| keeper.target().path());
            if kept.is_some_and(|kept| target.path() == kept || target.path() == previous_checkpoint(kept)) {
                return Err(Failure::new(
                    format!("{} would be a checkpoint, too", quoted(&target.path().to_string_lossy())),
                    "give them different names with -o, --plot and --checkpoint",
                ));
            }
        }
        let resume = arguments.resume.as_deref().map(|path| Plan::resume(path, &training, words)).transpose()?;
        let warm_start = arguments.warm_start.as_deref().map(model_file::load).transpose()?;
        Ok(Plan { origin, test, training, limit, workers, model, picture, keeper, resume, warm_start, words })
    }

    /// The checkpoint to go on from, once it has been found to be of these parameters.
    fn resume(path: &Path, training: &Training, words: Words) -> Result<Checkpoint, Failure> {
        let (checkpoint, shown) = (checkpoint_file::load(path)?, output::escaped(&path.to_string_lossy()));
        checkpoint
            .check_parameters(training.params())
            .map_err(|error| Failure::new(format!("{shown}: {error}"), error.help()))?;
        let finished = |state: &&MachineState| matches!(state, MachineState::Finished(_));
        let done = checkpoint.machines.iter().filter(finished).count();
        let all = counted(checkpoint.machines.len(), "machine");
        words.note(&format!("going on from {shown}: {done} of {all} done"));
        Ok(checkpoint)
    }

    /// Who keeps checkpoints, where they are asked for.
    fn keeper(arguments: &Train, read: &[&Path], words: Words) -> Result<Option<Keeper>, Failure> {
        let every = seconds("checkpoint-every", arguments.checkpoint_every.unwrap_or(CHECKPOINT_EVERY))?;
        let Some(path) = &arguments.checkpoint else { return Ok(None) };
        let mut read = read.to_vec();
        read.extend(arguments.warm_start.as_deref());
        Ok(Some(Keeper::new(path, every, &read, arguments.resume.is_some(), words)?))
    }

    /// The picture asked for; for built-in sets there is one without asking, unless the output is for a program.
    fn picture(arguments: &Train, origin: &Origin, read: &[&Path]) -> Result<Option<Drawing>, Failure> {
        let by_itself = origin.is_built_in() && arguments.output.is_none() && !arguments.json && !arguments.quiet;
        let (path, asked) = match &arguments.plot {
            Some(_) if arguments.task == TaskKind::Regression => {
                return Err(Failure::new(
                    "a picture shows the regions of classes, and a regression has none",
                    "leave out --plot",
                ));
            }
            Some(path) => (path.clone(), true),
            None if by_itself && arguments.task != TaskKind::Regression => {
                (with_extension(&origin.stem(), "svg"), false)
            }
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
}

/// What to find, with its number.
fn task(arguments: &Train) -> Result<Task, Failure> {
    let stray = |flag: &str, task: &str| {
        Err(Failure::new(format!("--{flag} goes with --task {task}"), format!("leave it out, or choose --task {task}")))
    };
    match arguments.task {
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

/// The rows to train on and those held out: by class, where there are classes.
pub(super) fn split(data: &Dataset, task: Task, share: f64, seed: u64) -> Result<(Dataset, Dataset), Failure> {
    let alike = Labels::from_spellings([Label::new("")], vec![0; data.rows()]);
    let labels = if task.is_classification() { data.labels() } else { &alike };
    let (train, test) = stratified_split(labels, share, seed)?;
    Ok((data.select_rows(&train), data.select_rows(&test)))
}

pub(super) fn params(arguments: &Train) -> Result<TrainingParams, Failure> {
    let nu = arguments.nu.filter(|_| arguments.task == TaskKind::Classification);
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
    let memory = arguments.memory.as_deref().map_or_else(|| Ok(size::default_memory()), str::parse)?;
    Ok(TrainingParams {
        task: task(arguments)?,
        kernel: arguments.kernel.params()?,
        penalty,
        norm: arguments.norm,
        loss: arguments.loss,
        bias: arguments.bias,
        solver: arguments.solver.0,
        multiclass: arguments.multiclass,
        scaling: arguments.scale,
        positive: arguments.positive.as_deref().map(Label::new),
        class_weights: arguments.class_weights.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        settings: Settings {
            tolerance: arguments.tolerance,
            gap: arguments.gap,
            max_iterations: arguments.max_iterations,
            memory: memory.0,
            seed: arguments.reading.seed,
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

/// A network keeps nothing on its way, and begins at no other model.
fn refuse_what_a_network_has_not(arguments: &Train) -> Result<(), Failure> {
    let flags = [
        ("--checkpoint", arguments.checkpoint.is_some()),
        ("--resume", arguments.resume.is_some()),
        ("--warm-start", arguments.warm_start.is_some()),
    ];
    match flags.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) if arguments.solver.0 == Some(SolverKind::Mlp) => {
            Err(Failure::new(format!("{flag} does not go with the solver mlp"), "leave it out: a network begins anew"))
        }
        _ => Ok(()),
    }
}

/// Checks the share of rows that are held out.
pub(super) fn check_share(share: f64) -> Result<(), Failure> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    Err(maxmargin::Error::parameter("holdout", share, "above 0 and below 1").into())
}

pub(super) fn seconds(name: &'static str, value: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(value) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(maxmargin::Error::parameter(name, value, "a number of seconds above 0").into()),
    }
}

/// `stem.mm`, whatever points the stem holds.
pub(super) fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_os_string();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Trains a model.
pub(super) fn run(arguments: &Train) -> Result<ExitCode, Failure> {
    if arguments.stream {
        return super::stream::run(arguments);
    }
    if let Some(reason) = super::out_of_core::wanted(arguments)? {
        return super::out_of_core::run(arguments, &reason);
    }
    let mut plan = Plan::new(arguments)?;
    let words = plan.words;
    let started = Instant::now();
    let options = arguments.reading.options(arguments.columns.as_deref());
    let kernel_values = input::training_table(&plan.training.params().kernel);
    let options = ReadOptions { unlabelled: arguments.unlabelled, kernel_values, ..options };
    let whole = plan.origin.fetch(arguments.reading.seed, &plan.workers, words)?.read_once(&options)?;
    let (data, held_out) = match arguments.holdout {
        None => (whole, None),
        Some(share) => {
            let (train, test) = split(&whole, plan.training.params().task, share, arguments.reading.seed)?;
            (train, Some(test))
        }
    };
    let test = match &plan.test {
        Some(origin) => Some(read_test(origin, &data, arguments, &plan)?),
        None => held_out,
    };
    let read_seconds = started.elapsed().as_secs_f64();

    if let Some(drawing) = plan.picture.as_ref().filter(|drawing| drawing.asked) {
        drawing.sketch.check(&data)?;
    }

    let mut warnings = Vec::new();
    if let Some((what, help)) = ranges_differ(&data, &plan) {
        words.warning(&what, &help);
        warnings.push(format!("{what}; {help}"));
    }
    let go_on = plan.keeper.as_ref().map_or_else(String::new, |keeper| {
        let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let command = checkpoint_file::resume_command(typed, keeper.target().path());
        format!("where the training was is in {}; to go on:\n  {command}", keeper.target().shown())
    });
    let nothing_kept = if plan.keeper.is_some() { NO_CHECKPOINT_YET } else { NOTHING_KEPT };
    let mut watch = Watch::new(plan.limit, arguments.quiet)
        .towards(arguments.tolerance.unwrap_or(Settings::TOLERANCE))
        .keeping(plan.keeper.take());
    if !arguments.save_partial {
        let (json, go_on) = (arguments.json, go_on.clone());
        watch = watch.impatient(move |progress, elapsed, kept| {
            let seconds = elapsed.as_secs_f64();
            if json {
                // Nobody who reads may be left, which is no fault.
                let _ = output::print(&report::json_line(&json_last(&progress, seconds)));
            }
            let left_behind = if kept { &go_on } else { nothing_kept };
            output::say(&format!("{}\n{left_behind}", reached_last(&progress, seconds)));
        });
    }
    let beginning = match (plan.resume.take(), &plan.warm_start) {
        (Some(checkpoint), _) => Beginning::Checkpoint(checkpoint),
        (None, Some(model)) => Beginning::Model(model),
        (None, None) => Beginning::Scratch,
    };
    let fit = interrupt::during(Phase::Solving, || {
        if !words.quiet {
            let size = (counted(data.rows(), "row"), counted(data.columns(), "column"));
            output::say(&format!("training on {} of {} ...", size.0, size.1));
        }
        plan.training.fit_from(&data, beginning, &plan.workers, &mut watch)
    });
    let train_seconds = watch.elapsed().as_secs_f64();
    watch.finish();
    let mut model = fit?;
    if let Some(how) = arguments.probabilities.filter(|_| !interrupt::asked()) {
        // Its fits are not the training's, so they leave no checkpoints; the time that is left is theirs.
        let left = plan.limit.map(|limit| limit.saturating_sub(watch.elapsed()));
        let mut watch = Watch::new(left, arguments.quiet);
        if !arguments.save_partial {
            watch = watch.impatient(|_, _, _| output::say("interrupted while it was calibrated: no model was written"));
        }
        let found = interrupt::during(Phase::Solving, || {
            plan.training.calibrate(&model, &data, how, &plan.workers, &mut watch)
        });
        watch.finish();
        match found? {
            ControlFlow::Continue(calibrated) => model = calibrated,
            ControlFlow::Break(_) if interrupt::asked() => {}
            ControlFlow::Break(_) => words.warning(
                "there was no time left to calibrate the model, so it has no probabilities",
                "raise --max-time, or choose --probabilities=leave-one-out",
            ),
        }
    }
    let interrupted = interrupt::asked();

    let keep = !interrupted || arguments.save_partial;
    let saving = Instant::now();
    if keep {
        model_file::save(&plan.model, &model)?;
    }
    let save_seconds = saving.elapsed().as_secs_f64();
    let cut = |machine: &Machine| matches!(machine.stop, Stop::Interrupted | Stop::TimeLimit);
    let cut = model.machines().iter().any(cut);
    let kept = watch.keeper().is_some_and(|keeper| keeper.written().load(Ordering::Relaxed));
    if let Some(keeper) = watch.keeper().filter(|_| keep && !cut) {
        keeper.remove();
    }
    let picture = match &plan.picture {
        Some(drawing) if !interrupted => draw(drawing, &model, &data, &plan)?,
        _ => None,
    };
    let test = match test {
        Some(test) if !interrupted => score(&model, &test, &plan)?,
        _ => None,
    };
    let reason = find_reason(&model);
    if !interrupted && let Some((what, help)) = not_converged(&model) {
        words.warning(&what, help);
        warnings.push(format!("{what}; {help}"));
    }
    let mut notes: Vec<String> = model.machines().iter().flat_map(|machine| machine.notes.iter().cloned()).collect();
    notes.retain(|note| !note.starts_with("solver "));
    notes.dedup();
    notes.extend(against_the_rest(arguments, &model));
    let counted = Score::Classes {
        rows: data.rows(),
        errors: model.machines().iter().map(|machine| machine.training_errors).sum(),
    };
    let told = arguments.json || !arguments.quiet;
    let by_prediction = told && (model.machines().len() > 1 && !interrupted || model.task().is_regression());
    let training = match by_prediction {
        true => score(&model, &few_enough(&model, &data), &plan)?,
        false => None,
    };
    let training = training.unwrap_or(counted);
    let trained = Trained {
        origin: plan.origin.shown(),
        rows: data.rows(),
        columns: data.columns(),
        class_rows: class_rows(&model, &data),
        data: Some(&data),
        model: &model,
        read_seconds,
        train_seconds,
        save_seconds,
        training,
        test,
        notes,
        warnings,
        reason,
        model_file: keep.then(|| plan.model.shown()),
        picture,
        alphas: arguments.alphas,
        seed: arguments.reading.seed,
        goal: report::training::goal(&model, &plan.training.params().settings),
    };
    if arguments.json {
        output::print(&report::json_line(&report::training::json(&trained)))?;
    }
    if interrupted {
        output::say(&reached(&model, train_seconds));
        output::say(&match keep {
            true => format!("what was reached is in {}", plan.model.shown()),
            false if kept => go_on.clone(),
            false => nothing_kept.into(),
        });
        if keep && kept {
            output::say(&go_on);
        }
        return Ok(ExitCode::Interrupted);
    }
    if cut && kept {
        words.note(&go_on);
    }
    if !arguments.json && !arguments.quiet {
        output::print(&report::training::words(&trained))?;
        output::print(&next_step(arguments, &plan.origin, &plan.model))?;
    }
    Ok(if arguments.strict && model.stop() != Stop::Converged { ExitCode::NotAsAsked } else { ExitCode::Done })
}

/// Reads the test before the work starts, in the columns of the training data.
fn read_test(origin: &Origin, data: &Dataset, arguments: &Train, plan: &Plan) -> Result<Dataset, Failure> {
    let source = origin.fetch(arguments.reading.seed, &plan.workers, plan.words)?;
    let wanted = (data, &plan.training.params().kernel);
    let found = input::read_for_model(&source, wanted, &arguments.reading, false, plan.words)?;
    if found.labelled {
        return Ok(found.data);
    }
    Err(Failure::new(
        format!("{}: the test has no label column to compare with", origin.shown()),
        "give the test in the columns of the training data, with its labels",
    ))
}

/// The warning when columns hardly see each other.
fn ranges_differ(data: &Dataset, plan: &Plan) -> Option<(String, String)> {
    let params = plan.training.params();
    if params.scaling != ScalingKind::None || matches!(params.kernel, KernelParams::Precomputed) {
        return None;
    }
    let (wide, narrow, ratio) = range_ratio(data.matrix(), &plan.workers)?;
    (ratio > MOST_RANGE_RATIO).then(|| {
        (
            format!(
                "column {} ranges {} times as far as column {}, which will hardly count",
                quoted(&data.name(wide)),
                number(ratio, 3),
                quoted(&data.name(narrow))
            ),
            "scale the columns with --scale standard".into(),
        )
    })
}

/// What to say of a solver that stopped before its tolerance.
pub(super) fn not_converged(model: &Model) -> Option<(String, &'static str)> {
    let help = match model.stop() {
        Stop::Converged => return None,
        Stop::IterationLimit => "raise --max-iterations, scale the columns (--scale standard), or choose a smaller C",
        Stop::TimeLimit => "raise --max-time, scale the columns (--scale standard), or choose a smaller C",
        Stop::Diverged => "choose a penalty, such as -C 1",
        _ => "scale the columns (--scale standard), choose a larger --tolerance, or a smaller C",
    };
    let certified = model.machines().iter().any(|machine| machine.evidence.certificate().is_some())
        || model.parts().joint.as_ref().is_some_and(|evidence| evidence.certificate().is_some());
    let where_to_look = if certified { ": the certificate says how far it came" } else { "" };
    Some((format!("the solver did not converge ({}){where_to_look}", model.stop().name()), help))
}

/// How many rows each class has.
fn class_rows(model: &Model, data: &Dataset) -> Vec<usize> {
    let mut counts = vec![0; model.classes().len()];
    model.codes(data.labels()).into_iter().flatten().for_each(|code| counts[code as usize] += 1);
    counts
}

/// Why each class has one machine against the rest, where no way was named and pairs are the usual one.
fn against_the_rest(arguments: &Train, model: &Model) -> Option<String> {
    let parts = model.parts();
    let classes = parts.classes.len();
    let is_chosen = arguments.multiclass.is_none() && classes > 2 && parts.multiclass == Multiclass::OneVsRest;
    is_chosen.then(|| {
        let pairs = classes * (classes - 1) / 2;
        let columns = parts.columns;
        format!("each of {classes} classes against the rest: {pairs} pairs would have {columns} weights each (--multiclass ovo)")
    })
}

/// Why the solver was chosen, which is a note of the first machine.
pub(super) fn find_reason(model: &Model) -> Option<String> {
    let prefix = format!("solver {}: ", model.parts().solver);
    model.machines().first()?.notes.iter().find_map(|note| note.strip_prefix(&prefix)).map(String::from)
}

/// Kernel values that are computed at most to tell how well the training rows are predicted, which nobody wants to wait for: a second of two
/// cores, where there are some hundred columns.
const MOST_VALUES: usize = 1 << 27;

/// The training rows or, where all of them would take more, some. Without kernels a prediction is a pass over the rows.
fn few_enough<'d>(model: &Model, data: &'d Dataset) -> Cow<'d, Dataset> {
    let by_weights = model.machines().iter().all(|machine| machine.weights.is_some());
    let vectors = if by_weights { 0 } else { model.support_vectors().len() };
    match spread(data.rows(), MOST_VALUES / vectors.max(1)) {
        Some(rows) => Cow::Owned(data.select_rows(&rows)),
        None => Cow::Borrowed(data),
    }
}

/// So many rows at most, spread evenly over all; `None` where all are few enough.
fn spread(rows: usize, most: usize) -> Option<Vec<usize>> {
    (rows > most).then(|| (0..most.max(1)).map(|k| k * rows / most.max(1)).collect())
}

fn score(model: &Model, data: &Dataset, plan: &Plan) -> Result<Option<Score>, Failure> {
    let predictions = model.predict_classes(model.align(data)?, &plan.workers);
    if let Some(note) = predictions.note() {
        plan.words.note(note);
    }
    Ok(predict::score(model, data, &predictions))
}

fn draw(drawing: &Drawing, model: &Model, data: &Dataset, plan: &Plan) -> Result<Option<Picture>, Failure> {
    match picture::draw(&drawing.sketch, model, Some(data), &plan.workers) {
        Ok(of) => Ok(Some(Picture { file: drawing.sketch.target.shown(), of })),
        Err(Failure::Input { what, .. }) if !drawing.asked => {
            plan.words.note(&format!("no picture was drawn: {what}"));
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// One thing to try next.
pub(super) fn next_step(arguments: &Train, origin: &Origin, model: &Target) -> String {
    let data = match origin {
        Origin::Stdin => return format!("\nnext: maxmargin inspect {}\n", model.shown()),
        Origin::File(_) => output::escaped(&arguments.data.to_string_lossy()),
        Origin::Embedded(name) | Origin::Generated(name) => (*name).into(),
    };
    let mut flags = String::new();
    if let Some(share) = arguments.holdout {
        flags.push_str(&format!(" --holdout {share}"));
    }
    if arguments.reading.seed != 0 && (arguments.holdout.is_some() || matches!(origin, Origin::Generated(_))) {
        flags.push_str(&format!(" --seed {}", arguments.reading.seed));
    }
    if arguments.unlabelled {
        flags.push_str(" --unlabelled");
    }
    if let Some(label) = &arguments.reading.label {
        flags.push_str(&format!(" --label {}", output::escaped(label)));
    }
    format!("\nnext: maxmargin verify {} {data}{flags}\n", model.shown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_scored_are_spread_over_all_and_none_is_taken_twice() {
        assert_eq!(spread(10, 10), None);
        assert_eq!(spread(3, 0), Some(vec![0]));
        for (rows, most) in [(11, 10), (60_000, 10_032), (464_810, 1)] {
            let found = spread(rows, most).unwrap();
            assert_eq!(found.len(), most);
            assert!(found.is_sorted_by(|one, next| one < next) && found[most - 1] < rows, "{rows} {most}");
            let step = rows.div_ceil(most);
            assert!(found.windows(2).all(|pair| pair[1] - pair[0] <= step), "{rows} {most}");
        }
    }
}
