//! `train` of data that is in memory as a whole.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use maxmargin::checkpoint::MachineState;
use maxmargin::data::{AnswerKind, Dataset, Reading, ScalingKind, range_ratio};
use maxmargin::diagnosis::MOST_RANGE_RATIO;
use maxmargin::error::quoted;
use maxmargin::kernel::KernelParams;
use maxmargin::model::{Machine, Multiclass};
use maxmargin::provenance::{Choice, Note};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::choose_kernel;
use maxmargin::view::InterruptedView;
use maxmargin::{Beginning, Checkpoint, Model, Stop, Training, TrainingParams};
use maxmargin_io::{ReadData, ReadOptions, Remarks};

use super::ending::{self, NO_CHECKPOINT_YET, NOTHING_KEPT, Report, is_certified, is_kept, next_step};
use super::labels;
use super::plan::{Drawing, Plan, params};
use crate::arguments::Train;
use crate::checkpoint_file;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::model_file;
use crate::output::{self, Words};
use crate::picture;
use crate::progress::Watch;
use crate::report::score::{Score, wants_values};
use crate::report::training::{Picture, Trained, reached, reached_last};
use crate::report::{self, counted, number};
use crate::tables;
use crate::trace::Trace;

/// What a training in memory has beside the plan.
struct Fit {
    params: TrainingParams,
    resume: Option<Checkpoint>,
    warm_start: Option<Model>,
}

impl Fit {
    fn new(arguments: &Train) -> Result<Self, Failure> {
        let params = params(arguments)?;
        refuse_what_a_network_has_not(arguments)?;
        if arguments.holdout.is_some() && matches!(params.kernel, KernelParams::Precomputed) {
            return Err(Failure::new(
                "a table of kernel values cannot be split by --holdout: its columns belong to its rows",
                "give the test rows as a table of their own, with --test",
            ));
        }
        let resume = arguments.resume.as_deref().map(checkpoint_file::load).transpose()?;
        let warm_start = arguments.warm_start.as_deref().map(model_file::load).transpose()?;
        Ok(Fit { params, resume, warm_start })
    }

    fn beginning(&mut self) -> Beginning<'_> {
        match (self.resume.take(), &self.warm_start) {
            (Some(checkpoint), _) => Beginning::Checkpoint(checkpoint),
            (None, Some(model)) => Beginning::Model(model),
            (None, None) => Beginning::Scratch,
        }
    }
}

/// What the data decides where nothing is named.
struct Decided {
    training: Training,
    /// Why the kernel, the scaling or both were chosen.
    choice: Option<String>,
    /// The unit that C and epsilon count in, where it is not that of the targets.
    deviation: Option<f64>,
}

fn decide(arguments: &Train, mut params: TrainingParams, data: &Dataset, is_table: bool) -> Result<Decided, Failure> {
    let (kernel, scaling) = (arguments.has_automatic_kernel(), arguments.has_automatic_scaling());
    let mut choice = None;
    if kernel || scaling {
        let found = choose_kernel(&params, data.matrix(), is_table);
        let what = match (kernel, scaling) {
            (true, true) => "kernel and scaling",
            (true, false) => "kernel",
            _ => "scaling",
        };
        choice = Some(format!("{what}: {} (name others with --kernel and --scale)", found.reason));
        params.kernel = if kernel { found.kernel } else { params.kernel };
        params.scaling = if scaling { found.scaling } else { params.scaling };
    }
    let mut deviation = None;
    if params.task.is_regression()
        && arguments.has_standard_targets()
        && let Ok(targets) = data.numbers()
    {
        let (changed, found) = params.in_deviations_of(&targets);
        (params, deviation) = (changed, Some(found));
    }
    Ok(Decided { training: params.check()?, choice, deviation })
}

/// Checks that a checkpoint is of these parameters, and says how far it is.
fn check_resume(path: &Path, checkpoint: &Checkpoint, training: &Training, words: Words) -> Result<(), Failure> {
    let shown = output::escaped(&path.to_string_lossy());
    checkpoint
        .check_parameters(training.params())
        .map_err(|error| Failure::new(format!("{shown}: {error}"), error.help()))?;
    let finished = |state: &&MachineState| matches!(state, MachineState::Finished(_));
    let done = checkpoint.machines.iter().filter(finished).count();
    let all = counted(checkpoint.machines.len(), "machine");
    words.note(&format!("going on from {shown}: {done} of {all} done"));
    Ok(())
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

/// Trains a model.
pub(super) fn run(plan: &mut Plan<'_>) -> Result<ExitCode, Failure> {
    let (arguments, words) = (plan.arguments, plan.words);
    let mut own = Fit::new(arguments)?;
    let started = Instant::now();
    let Rows { data, test, mut reading, remarks, places } = read(plan, &own.params)?;
    let read_seconds = started.elapsed().as_secs_f64();
    let mut warnings = Vec::new();
    if own.params.task.is_classification() {
        labels::check(arguments, data.labels()?, words, &mut warnings)?;
    }
    let Decided { training, choice, deviation } =
        decide(arguments, own.params.clone(), &data, reading.table.is_some())?;
    if let (Some(path), Some(checkpoint)) = (&arguments.resume, &own.resume) {
        check_resume(path, checkpoint, &training, words)?;
    }
    if let Some(drawing) = plan.picture.as_ref().filter(|drawing| drawing.asked) {
        drawing.sketch.check(&data)?;
    }
    let is_table = !plan.origin.is_built_in() && !matches!(own.params.kernel, KernelParams::Precomputed);
    let of_columns = if is_table {
        tables::warnings(&data, reading.table.as_ref(), &plan.options, own.params.task.is_classification())
    } else {
        Vec::new()
    };
    let of_targets = own_targets(arguments, training.params(), &data);
    for (what, help) in of_columns.into_iter().chain(ranges_differ(&data, &training, plan)).chain(of_targets) {
        words.warning(&what, &help);
        warnings.push(format!("{what}; {help}"));
    }
    let go_on = plan.go_on();
    let trace = plan.trace.as_ref().map(|target| Trace::create(target.path())).transpose()?;
    let mut watch = watch(plan, go_on.clone()).tracing(trace);
    let fit = interrupt::during(Phase::Solving, || {
        if !words.quiet {
            let size = (counted(data.rows(), "row"), counted(data.columns(), "column"));
            output::say(&format!("training on {} of {} ...", size.0, size.1));
        }
        training.fit_from(&data, own.beginning(), &plan.workers, &mut watch)
    });
    let train_seconds = watch.elapsed().as_secs_f64();
    watch.finish();
    let traced = watch.take_trace().map_or(Ok(()), Trace::finish);
    let model = calibrated(plan, &training, fit?, &data, &watch)?;
    let interrupted = interrupt::asked();
    if places.is_some() || !remarks.dropped.is_empty() {
        let place = |row: &u64| places.as_ref().map_or(*row, |places| places[*row as usize] as u64);
        reading.support_rows = model.parts().support_rows.iter().map(|row| remarks.file_row(place(row))).collect();
    }
    let model = model.with_reading(Some(reading));
    if let Some(name) = model_file::kept_apart(&plan.model, &model, arguments.output.is_some() || arguments.force) {
        words.note(&format!(
            "{} holds a model of another recipe and is kept; this one goes to {} (--force overwrites)",
            plan.model.shown(),
            name.shown()
        ));
        plan.model = name;
    }

    let saved = ending::save(plan, Some(&model))?;
    traced?;
    let was_cut = |machine: &Machine| matches!(machine.stop, Stop::Interrupted | Stop::TimeLimit);
    let cut = model.machines().iter().any(was_cut);
    let kept = is_kept(watch.keeper());
    if let Some(keeper) = watch.keeper().filter(|_| saved.file.is_some() && !cut) {
        keeper.remove();
    }
    let picture = match &plan.picture {
        Some(drawing) if !interrupted => draw(drawing, &model, &data, plan)?,
        _ => None,
    };
    let test = match test {
        Some(test) if !interrupted => score(&model, &test, plan)?,
        _ => None,
    };
    if !interrupted && let Some((what, help)) = not_converged(&model) {
        words.warning(&what, help);
        warnings.push(format!("{what}; {help}"));
    }
    let notes = model.machines().iter().flat_map(|machine| &machine.notes);
    let notes = notes.filter(|note| !matches!(note, Note::Chosen { .. }));
    let mut notes: Vec<String> = notes.map(Note::to_string).collect();
    notes.dedup();
    notes.extend(against_the_rest(arguments, &model));
    notes.extend(tables::notes(&remarks, plan.options.missing));
    let training_score = score_of_training(plan, &model, &data);
    let trained = Trained {
        origin: plan.origin.shown(),
        rows: data.rows(),
        columns: data.columns(),
        class_rows: class_rows(&model, &data),
        data: Some(&data),
        model: &model,
        read_seconds,
        train_seconds,
        save_seconds: saved.seconds,
        training: training_score,
        test,
        notes,
        warnings,
        reason: model.choice().map(Choice::to_string),
        choice,
        deviation,
        model_file: saved.file.clone(),
        picture,
        alphas: arguments.alphas,
        seed: arguments.reading.seed(),
        goal: report::training::goal(&model, &training.params().settings),
    };
    let report = Whole { plan, trained: &trained };
    let nothing = if watch.keeper().is_some() { NO_CHECKPOINT_YET } else { NOTHING_KEPT };
    ending::tell(plan, &saved, &report, cut, go_on.as_deref().filter(|_| kept), nothing)
}

/// What a training in memory reports.
struct Whole<'a> {
    plan: &'a Plan<'a>,
    trained: &'a Trained<'a>,
}

impl Report for Whole<'_> {
    fn reached(&self) -> String {
        reached(self.trained.model, self.trained.train_seconds)
    }

    fn print_json(&self) -> Result<(), Failure> {
        output::print_json(&report::training::view(self.trained, None))
    }

    fn page(&self) -> String {
        report::training::words(self.trained) + &next_step(self.plan, self.trained.model)
    }

    fn is_as_asked(&self) -> bool {
        self.trained.model.stop() == Stop::Converged
    }
}

/// What was read.
struct Rows {
    /// The rows to train on.
    data: Dataset,
    /// The rows to test on.
    test: Option<Dataset>,
    reading: Reading,
    remarks: Remarks,
    /// The places of the rows to train on, where others were held out.
    places: Option<Vec<usize>>,
}

/// Reads the rows to train on, and those to test on.
fn read(plan: &Plan<'_>, params: &TrainingParams) -> Result<Rows, Failure> {
    let arguments = plan.arguments;
    let kernel_values = input::training_table(&params.kernel);
    let answers = if arguments.unlabelled { AnswerKind::None } else { input::answers_of(params.task) };
    let options = ReadOptions { answers, kernel_values, ..plan.options.clone() };
    let seed = arguments.reading.seed();
    let source = plan.origin.fetch(seed, &plan.workers, plan.words)?;
    let mut read = source.read_once(&options)?;
    let split = arguments.holdout.map(|share| input::split_rows(&read.data, params.task, share, seed)).transpose()?;
    if let Some((train, _)) = split.as_ref().filter(|_| options.learns() && read.recipe.is_some()) {
        read = input::read_learning_from(&source, &options, (&read.remarks, read.data.rows()), train)?;
    }
    let ReadData { data: whole, recipe, remarks, .. } = read;
    let reading = Reading {
        table: recipe,
        unlabelled: arguments.unlabelled,
        zero_based: arguments.reading.zero_based,
        holdout: arguments.holdout,
        seed,
        support_rows: Vec::new(),
    };
    let (data, held_out, places) = match split {
        None => (whole, None, None),
        Some((train, test)) => (whole.select_rows(&train), Some(whole.select_rows(&test)), Some(train)),
    };
    let test = match &plan.test {
        Some(origin) => Some(read_test(origin, &data, &reading, &params.kernel, plan)?),
        None => held_out,
    };
    Ok(Rows { data, test, reading, remarks, places })
}

/// The fit of a model that is to have probabilities has one of this many parts of a limit on time. With fewer of them, the fits without some of
/// the rows have too little time.
const PARTS_WITH_PROBABILITIES: u32 = 2;

/// Watches the fit. Where no model is made of what was reached, an interrupt is answered soon, with the last that the solver said.
fn watch(plan: &mut Plan<'_>, go_on: Option<String>) -> Watch {
    let arguments = plan.arguments;
    // Probabilities come after the fit, in the time that it leaves.
    let parts = if arguments.probabilities.is_some() { PARTS_WITH_PROBABILITIES } else { 1 };
    let watch = Watch::new(plan.limit.map(|limit| limit / parts), arguments.quiet)
        .towards(arguments.tolerance.unwrap_or(Settings::TOLERANCE))
        .keeping(plan.keeper.take());
    if arguments.save_partial {
        return watch;
    }
    let json = arguments.json;
    watch.impatient(move |progress, elapsed, kept| {
        let seconds = elapsed.as_secs_f64();
        if json {
            // Nobody who reads may be left, which is no fault.
            let _ = output::print(&report::json_line(&InterruptedView::new(&progress, seconds)));
        }
        let nothing = if go_on.is_some() { NO_CHECKPOINT_YET } else { NOTHING_KEPT };
        let left_behind = go_on.as_deref().filter(|_| kept).unwrap_or(nothing);
        output::say(&format!("{}\n{left_behind}", reached_last(&progress, seconds)));
    })
}

/// The model with its probabilities, where they are asked for and there is time left to find them.
fn calibrated(
    plan: &Plan<'_>,
    training: &Training,
    model: Model,
    data: &Dataset,
    fit: &Watch,
) -> Result<Model, Failure> {
    let arguments = plan.arguments;
    let Some(how) = arguments.probabilities.filter(|_| !interrupt::asked()) else { return Ok(model) };
    // Its fits are not the training's, so they leave no checkpoints; the time that is left is theirs.
    let left = plan.limit.map(|limit| limit.saturating_sub(fit.elapsed()));
    let mut watch = Watch::new(left, arguments.quiet);
    if !arguments.save_partial {
        watch = watch.impatient(|_, _, _| output::say("interrupted while it was calibrated: no model was written"));
    }
    let found = interrupt::during(Phase::Solving, || training.calibrate(&model, data, how, &plan.workers, &mut watch));
    watch.finish();
    match found? {
        ControlFlow::Continue(calibrated) => return Ok(calibrated),
        ControlFlow::Break(_) if interrupt::asked() => {}
        ControlFlow::Break(_) => plan.words.warning(
            "there was no time left to calibrate the model, so it has no probabilities",
            "raise --max-time, or choose --probabilities=leave-one-out",
        ),
    }
    Ok(model)
}

/// Reads the test before the work starts, in the columns of the training data.
fn read_test(
    origin: &Origin,
    data: &Dataset,
    read: &Reading,
    kernel: &KernelParams,
    plan: &Plan<'_>,
) -> Result<Dataset, Failure> {
    let reading = &plan.arguments.reading;
    let source = origin.fetch(reading.seed(), &plan.workers, plan.words)?;
    let found = input::read_for_model(&source, (data, read, kernel), reading, false, plan.words)?;
    if found.labelled() {
        return Ok(found.data);
    }
    Err(Failure::new(
        format!("{}: the test has no label column to compare with", origin.shown()),
        "give the test in the columns of the training data, with its labels",
    ))
}

/// The warning when columns hardly see each other.
fn ranges_differ(data: &Dataset, training: &Training, plan: &Plan<'_>) -> Option<(String, String)> {
    let params = training.params();
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

/// The warning where C and epsilon of a regression count in the targets' own units because a kernel or a scaling was named, and the targets
/// are far from 1.
fn own_targets(arguments: &Train, params: &TrainingParams, data: &Dataset) -> Option<(String, String)> {
    const FAR: f64 = 10.0;
    if !params.task.is_regression() || arguments.targets.is_some() || arguments.has_standard_targets() {
        return None;
    }
    let (_, deviation) = params.clone().in_deviations_of(&data.numbers().ok()?);
    // A deviation that is not a number is refused elsewhere; it is not far.
    let is_far = deviation > FAR || 1.0 / deviation > FAR;
    is_far.then(|| {
        let unit = number(deviation, 3);
        (
            format!("C and epsilon count in the targets' own units, and their standard deviation is {unit}"),
            "count in standard deviations with --targets standard, or say --targets own to mean it".into(),
        )
    })
}

/// What to say of a solver that stopped before its tolerance.
pub(super) fn not_converged(model: &Model) -> Option<(String, &'static str)> {
    let gave_up = |machine: &Machine| machine.stop == Stop::Stalled;
    if let Some(gap) = model.proved_gap().filter(|_| model.machines().iter().all(gave_up)) {
        let what =
            format!("landmarks were added until no more could be: the proved relative gap is {}", number(gap, 3));
        return Some((what, "grant more --memory, or name a larger --proved-gap"));
    }
    let help = match model.stop() {
        Stop::Converged => return None,
        Stop::IterationLimit => "raise --max-iterations, scale the columns (--scale standard), or choose a smaller C",
        Stop::TimeLimit => "raise --max-time, scale the columns (--scale standard), or choose a smaller C",
        Stop::Diverged => "choose a penalty, such as -C 1",
        _ => "scale the columns (--scale standard), choose a larger --tolerance, or a smaller C",
    };
    let where_to_look = if is_certified(model) { ": the certificate says how far it came" } else { "" };
    Some((format!("the solver did not converge ({}){where_to_look}", model.stop().name()), help))
}

/// How many rows each class has.
fn class_rows(model: &Model, data: &Dataset) -> Vec<usize> {
    let mut counts = vec![0; model.classes().len()];
    model.codes(data).into_iter().flatten().for_each(|code| counts[code as usize] += 1);
    counts
}

/// Why each class has one machine against the rest, where no way was named and pairs are the usual one.
fn against_the_rest(arguments: &Train, model: &Model) -> Option<String> {
    let parts = model.parts();
    let classes = parts.classes.len();
    let is_chosen = arguments.multiclass.is_none() && classes > 2 && parts.recipe.multiclass == Multiclass::OneVsRest;
    is_chosen.then(|| {
        let pairs = classes * (classes - 1) / 2;
        let columns = parts.columns;
        format!("each of {classes} classes against the rest: {pairs} pairs would have {columns} weights each (--multiclass ovo)")
    })
}

/// Kernel values that are computed at most to tell how well the training rows are predicted, which nobody wants to wait for: half a second of two
/// cores, where there are some hundred columns.
const MOST_VALUES: usize = 1 << 26;

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

/// How well a model predicts some rows.
fn score(model: &Model, data: &Dataset, plan: &Plan<'_>) -> Result<Option<Score>, Failure> {
    let aligned = model.align(data)?;
    let has_values = wants_values(model, data.rows());
    let predictions = if has_values {
        model.predict_aligned(aligned, &plan.workers)
    } else {
        model.predict_classes(aligned, &plan.workers)
    };
    if let Some(note) = predictions.note() {
        plan.words.note(note);
    }
    Ok(Score::new(model, data, &predictions, has_values))
}

/// How well the training rows are met: by predicting them, or as the training counted them where that is enough.
fn score_of_training(plan: &Plan<'_>, model: &Model, data: &Dataset) -> Score {
    let errors = model.machines().iter().map(|machine| machine.training_errors).sum();
    let counted = Score::Counted { rows: data.rows(), errors };
    let is_told = plan.arguments.json || !plan.arguments.quiet;
    if !is_told || model.task().usual().is_some() || interrupt::asked() && !model.task().is_regression() {
        return counted;
    }
    // A fit that is done is not lost because its rows cannot be predicted again.
    score(model, &few_enough(model, data), plan).ok().flatten().unwrap_or(counted)
}

fn draw(drawing: &Drawing, model: &Model, data: &Dataset, plan: &Plan<'_>) -> Result<Option<Picture>, Failure> {
    match picture::draw(&drawing.sketch, model, Some(data), &plan.workers) {
        Ok(of) => Ok(Some(Picture { file: drawing.sketch.target.shown(), of })),
        Err(Failure::Input { what, .. }) if !drawing.asked => {
            plan.words.note(&format!("no picture was drawn: {what}"));
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
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
