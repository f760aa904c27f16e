//! `train` of data that is larger than memory: a cache of it is read block by block, to the same optimum.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::data::{Dataset, Label};
use maxmargin::error::{bytes, quoted};
use maxmargin::out_of_core::{BlockError, BlockSource, FittedBlocks, supports_blocks};
use maxmargin::solver::Settings;
use maxmargin::{Control, Model, Progress, Stop, Training, Workers};
use maxmargin_io::{CacheFile, CacheWriter, is_cache};
use serde_json::json;

use super::train::{self, find_reason, not_converged, params, seconds, with_extension};
use crate::arguments::Train;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::feed::{Feed, Next};
use crate::input::Origin;
use crate::interrupt::{self, Phase};
use crate::output::{self, Target, Words};
use crate::report::training::{Score, Trained, reached};
use crate::report::{self, counted, number};
use crate::time_left::{Pace, about};
use crate::{model_file, size};

/// How often the line of progress is drawn.
const REDRAW: Duration = Duration::from_millis(100);

/// Why a training goes out of core.
pub(super) struct Reason(String);

/// Whether a training is to go out of core: because it was asked to, or because the data is too large.
///
/// # Errors
/// When it was asked to, and cannot.
pub(super) fn wanted(arguments: &Train) -> Result<Option<Reason>, Failure> {
    if arguments.out_of_core || arguments.cache.is_some() {
        refuse_what_needs_memory(arguments)?;
        return Ok(Some(Reason("as asked".into())));
    }
    let path = &arguments.data;
    let Some(whole) = estimated_bytes(path) else { return Ok(None) };
    let memory = arguments.memory.as_deref().map_or_else(|| Ok(size::default_memory()), str::parse)?.0;
    if whole <= memory {
        return Ok(None);
    }
    let reason = format!("the data takes about {}, and the memory is {}", bytes(whole), bytes(memory));
    match refuse_what_needs_memory(arguments) {
        Ok(()) => Ok(Some(Reason(reason))),
        Err(Failure::Input { what, .. }) => {
            let words = Words { quiet: arguments.quiet };
            words.warning(
                &format!("{reason}, but it is read as a whole: {what}"),
                "grant more memory with --memory, or train a linear machine out of core",
            );
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// What a file takes in memory, as far as it can be told without reading it; `None` for what is no file, or not there.
fn estimated_bytes(path: &Path) -> Option<u64> {
    let length = std::fs::metadata(path).ok().filter(|file| file.is_file())?.len();
    if is_cache(path) {
        let file = CacheFile::open(path).ok()?;
        return Some((0..file.blocks()).map(|block| file.block_bytes(block)).sum());
    }
    let name = path.to_string_lossy();
    let compressed = maxmargin_io::without_compression(&name).len() < name.len();
    // Text of numbers is about as long as they are in memory, and packs to a third.
    Some(length.saturating_mul(if compressed { 3 } else { 1 }))
}

/// Everything that takes the whole data is refused, not ignored.
fn refuse_what_needs_memory(arguments: &Train) -> Result<(), Failure> {
    // Two classes, because the number is not known yet: more are looked at again.
    supports_blocks(&params(arguments)?, 2)?;
    let flags = [
        ("--holdout", arguments.holdout.is_some(), "keep test rows in a file of their own"),
        ("--test", arguments.test.is_some(), "predict the test with the model, by maxmargin predict"),
        ("--plot", arguments.plot.is_some(), "draw the model, by maxmargin plot"),
        ("--checkpoint", arguments.checkpoint.is_some(), "use --save-partial, and go on with --warm-start"),
        ("--resume", arguments.resume.is_some(), "use --save-partial, and go on with --warm-start"),
        ("--probabilities", arguments.probabilities.is_some(), "choose --loss logistic, which has them of itself"),
        ("--alphas", arguments.alphas, "leave it out: the model holds them"),
        ("--categorical", arguments.reading.categorical, "make columns of words with convert first"),
    ];
    match flags.into_iter().find(|(_, given, _)| *given) {
        Some((flag, _, help)) => Err(Failure::new(format!("{flag} does not go with a training out of core"), help)),
        None => Ok(()),
    }
}

/// The arguments, checked, before anything is read.
struct Plan {
    origin: Origin,
    training: Training,
    limit: Option<Duration>,
    workers: Workers,
    model: Target,
    /// Where a cache of the data is kept.
    cache: Option<Target>,
    warm_start: Option<Model>,
    words: Words,
}

impl Plan {
    fn new(arguments: &Train) -> Result<Self, Failure> {
        let words = Words { quiet: arguments.quiet };
        let origin = Origin::new(&arguments.data, words)?;
        let training = params(arguments)?.check()?;
        let limit = arguments.max_time.map(|value| seconds("max-time", value)).transpose()?;
        let workers = Workers::new(arguments.threads)?;
        let mut read: Vec<&Path> = origin.file().into_iter().collect();
        read.extend(arguments.warm_start.as_deref());
        let model = arguments.output.clone().unwrap_or_else(|| with_extension(&origin.stem(), "mm"));
        let model = Target::new(&model, &read)?;
        let cache = match &arguments.cache {
            Some(path) if path.exists() && !is_cache(path) => {
                return Err(Failure::new(
                    format!("{} is there, and is no cache", quoted(&path.to_string_lossy())),
                    "choose another name with --cache",
                ));
            }
            Some(path) if path == model.path() => {
                return Err(Failure::new(
                    format!("{} would be both the model and the cache", model.shown()),
                    "give them different names with -o and --cache",
                ));
            }
            Some(path) => Some(Target::new(path, &read)?),
            None => None,
        };
        let warm_start = arguments.warm_start.as_deref().map(model_file::load).transpose()?;
        Ok(Plan { origin, training, limit, workers, model, cache, warm_start, words })
    }
}

/// Trains a model out of core.
pub(super) fn run(arguments: &Train, reason: &Reason) -> Result<ExitCode, Failure> {
    let plan = Plan::new(arguments)?;
    let words = plan.words;
    words.note(&format!("training out of core, block by block: {}", reason.0));
    let started = Instant::now();
    let Some(file) = interrupt::during(Phase::Solving, || cache_of(arguments, &plan))? else {
        output::say("interrupted while the cache was made; no model was written, and the cache was removed");
        return Ok(ExitCode::Interrupted);
    };
    let read_seconds = started.elapsed().as_secs_f64();
    let (rows, columns) = (usize::try_from(file.rows()).unwrap_or(usize::MAX), file.columns());
    supports_blocks(plan.training.params(), file.classes().len())?;
    let source = Counted::new(file);
    let mut watch = Watch::new(&plan, &source, arguments);
    let fitted = interrupt::during(Phase::Solving, || {
        if !words.quiet {
            let size = (counted(rows, "row"), counted(columns, "column"));
            output::say(&format!("training on {} of {} ...", size.0, size.1));
        }
        plan.training.fit_blocks(&source, plan.warm_start.as_ref(), &plan.workers, &mut watch)
    });
    watch.bar.finish_and_clear();
    let train_seconds = watch.started.elapsed().as_secs_f64();
    let FittedBlocks { model, class_rows, training_errors, passes } = match fitted {
        Ok(fitted) => fitted,
        Err(BlockError::Training(_)) if interrupt::asked() => {
            output::say(&format!("interrupted; {NOTHING_KEPT}"));
            return Ok(ExitCode::Interrupted);
        }
        Err(BlockError::Read(error)) => return Err(error.into()),
        Err(BlockError::Training(error)) => return Err(with_flags(&error)),
    };
    let interrupted = model.stop() == Stop::Interrupted;
    let keep = !interrupted || arguments.save_partial;
    let saving = Instant::now();
    if keep {
        model_file::save(&plan.model, &model)?;
    }
    if interrupted {
        output::say(&reached(&model, train_seconds));
        output::say(&match keep {
            true => format!("what was reached is in {0}; to go on: --warm-start {0}", plan.model.shown()),
            false => NOTHING_KEPT.into(),
        });
        return Ok(ExitCode::Interrupted);
    }
    let mut warnings = Vec::new();
    if let Some((what, help)) = not_converged(&model) {
        words.warning(&what, help);
        warnings.push(format!("{what}; {help}"));
    }
    let mut notes: Vec<String> = model.machines().iter().flat_map(|machine| machine.notes.iter().cloned()).collect();
    notes.sort();
    notes.dedup();
    let bytes_read = source.read.load(Ordering::Relaxed);
    let trained = Trained {
        origin: plan.origin.shown(),
        data: None,
        rows,
        columns,
        class_rows,
        model: &model,
        read_seconds,
        train_seconds,
        save_seconds: saving.elapsed().as_secs_f64(),
        training: Score::Classes { rows, errors: training_errors.unwrap_or(0) },
        test: None,
        notes,
        warnings,
        reason: find_reason(&model).or_else(|| Some(format!("out of core: {}", reason.0))),
        model_file: Some(plan.model.shown()),
        picture: None,
        alphas: false,
        seed: arguments.reading.seed,
        goal: report::training::goal(&model, &plan.training.params().settings),
    };
    if arguments.json {
        let mut object = report::training::json(&trained);
        object["out_of_core"] = json!({
            "reason": reason.0, "passes": passes, "bytes_read": bytes_read,
            "cache": plan.cache.as_ref().map(Target::shown),
        });
        output::print(&report::json_line(&object))?;
    } else if !arguments.quiet {
        output::print(&report::training::words(&trained))?;
        output::print(&train::next_step(arguments, &plan.origin, &plan.model))?;
    }
    Ok(if arguments.strict && model.stop() != Stop::Converged { ExitCode::NotAsAsked } else { ExitCode::Done })
}

/// What is said when an interrupt leaves no model behind.
const NOTHING_KEPT: &str =
    "no model was written; --save-partial keeps what was reached, to go on from with --warm-start";

/// The library's error, with the flags that it speaks of.
fn with_flags(error: &maxmargin::Error) -> Failure {
    let help = error.help().replace("by sgd, which keeps", "by sgd (--stream --lambda NUMBER), which keeps");
    Failure::new(error.to_string(), help.replace("grant ", "grant with --memory "))
}

/// A cache of the data: the file itself where it is one and all of it is wanted, else one that is written now. `None` when the
/// user interrupted.
fn cache_of(arguments: &Train, plan: &Plan) -> Result<Option<CacheFile>, Failure> {
    let reading = &arguments.reading;
    if let Some(path) = plan.origin.file().filter(|path| is_cache(path))
        && arguments.columns.is_none()
        && reading.label.is_none()
        && plan.cache.is_none()
    {
        return Ok(Some(CacheFile::open(path)?));
    }
    let folder = match plan.model.path().parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let options = reading.options(arguments.columns.as_deref());
    let started = Instant::now();
    let bar = line(arguments.quiet);
    let mut feed = Feed::new(&plan.origin, &options, reading.seed, false)?;
    let block = block_bytes(plan.training.params().settings.memory);
    let mut writer = match &plan.cache {
        Some(target) => CacheWriter::with_blocks_of(target.path(), block)?,
        // However the program ends, nothing is left behind of a file without a name.
        None => CacheWriter::nameless_in(folder, block).map_err(|error| {
            Failure::new(
                format!("no cache of the data can be made beside the model: {error}"),
                "name a place for it with --cache FILE",
            )
        })?,
    };
    let mut rows = 0u64;
    loop {
        match feed.next(|| !interrupt::asked())? {
            Next::Stopped => return Ok(None),
            Next::End => break,
            Next::Block(block) => {
                writer.push(&block)?;
                rows += block.rows() as u64;
                let all = feed.begun().rows.map_or_else(String::new, |all| format!(" of {all}"));
                let seconds = started.elapsed().as_secs_f64();
                bar.set_message(format!("making a cache  {rows}{all} rows  {seconds:.1} s"));
                bar.tick();
            }
        }
    }
    bar.finish_and_clear();
    if rows == 0 {
        return Err(Failure::new(format!("{}: found no rows", plan.origin.shown()), "give at least one row"));
    }
    let file = match &plan.cache {
        None => writer.finish_nameless()?,
        Some(target) => {
            interrupt::during(Phase::Saving, || writer.finish())?;
            plan.words.note(&format!("the cache is in {0}; train on it to save this pass", target.shown()));
            CacheFile::open(target.path())?
        }
    };
    Ok(Some(file))
}

/// How large a block is: small, since the rows of many, other ones in each pass, are to be mixed.
fn block_bytes(memory: u64) -> usize {
    (memory / 1024).clamp(1 << 12, 256 << 10) as usize
}

/// A cache file, and how many bytes have been read of it.
struct Counted {
    file: CacheFile,
    read: AtomicU64,
    /// All of its bytes.
    whole: u64,
}

impl Counted {
    fn new(file: CacheFile) -> Self {
        let whole = (0..file.blocks()).map(|block| file.block_bytes(block)).sum();
        Counted { file, read: AtomicU64::new(0), whole }
    }
}

impl BlockSource for Counted {
    type Error = maxmargin_io::Error;

    fn blocks(&self) -> usize {
        self.file.blocks()
    }

    fn block_rows(&self, block: usize) -> usize {
        self.file.block_rows(block)
    }

    fn columns(&self) -> usize {
        self.file.columns()
    }

    fn classes(&self) -> &[Label] {
        self.file.classes()
    }

    fn names(&self) -> Option<&[String]> {
        self.file.names()
    }

    fn has_weights(&self) -> bool {
        self.file.has_weights()
    }

    fn working_bytes(&self) -> u64 {
        self.file.working_bytes(2)
    }

    fn read(&self, block: usize) -> Result<Dataset, Self::Error> {
        let data = self.file.read_block(block)?;
        self.read.fetch_add(self.file.block_bytes(block), Ordering::Relaxed);
        Ok(data)
    }
}

fn line(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

/// Looks at the clock and for Ctrl-C, and draws the line of progress.
struct Watch<'a> {
    bar: ProgressBar,
    started: Instant,
    limit: Option<Duration>,
    drawn: Instant,
    source: &'a Counted,
    target: f64,
    pace: Pace,
}

impl<'a> Watch<'a> {
    fn new(plan: &Plan, source: &'a Counted, arguments: &Train) -> Self {
        let started = Instant::now();
        let target = arguments.gap.or(arguments.tolerance).unwrap_or(Settings::GAP);
        Watch {
            bar: line(arguments.quiet),
            started,
            limit: plan.limit,
            drawn: started,
            source,
            target,
            pace: Pace::new(target),
        }
    }

    fn text(&self, progress: &Progress, elapsed: Duration) -> String {
        let read = self.source.read.load(Ordering::Relaxed);
        let within = read % self.source.whole.max(1);
        let percent = 100.0 * within as f64 / self.source.whole.max(1) as f64;
        let mut text = format!("pass {}, {percent:.0} % of it", progress.iteration);
        if let Some(gap) = progress.gap {
            text.push_str(&format!("  gap {} (to {})", number(gap, 3), number(self.target, 3)));
        }
        text.push_str(&format!("  {} read  {:.1} s", bytes(read), elapsed.as_secs_f64()));
        if let Some(left) = self.pace.left(1, elapsed) {
            text.push_str(&format!(", {}", about(left)));
        }
        text
    }
}

impl Control for Watch<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let now = Instant::now();
        if interrupt::asked() {
            return ControlFlow::Break(Stop::Interrupted);
        }
        let elapsed = now - self.started;
        // A limit leaves at least the pass that counts the rows.
        if progress.iteration > 1 && self.limit.is_some_and(|limit| elapsed >= limit) {
            return ControlFlow::Break(Stop::TimeLimit);
        }
        if now - self.drawn >= REDRAW {
            self.drawn = now;
            if !self.bar.is_hidden() {
                self.pace.observe(&Progress { violation: progress.gap, ..progress }, elapsed);
                self.bar.set_message(self.text(&progress, elapsed));
                self.bar.tick();
            }
        }
        ControlFlow::Continue(())
    }
}
