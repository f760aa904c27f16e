//! `train` of data that is larger than memory: a cache of it is read block by block, to the same optimum.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use maxmargin::data::{Dataset, Label, Reading, TableRecipe};
use maxmargin::error::bytes;
use maxmargin::out_of_core::{BlockError, BlockSource, FittedBlocks, supports_blocks};
use maxmargin::provenance::{Choice, Note};
use maxmargin::solver::Settings;
use maxmargin::view::OutOfCoreView;
use maxmargin::{Control, Progress, Stop};
use maxmargin_io::{CacheFile, CacheWriter, is_cache};

use super::ending::{self, NOTHING_TO_WARM_START, Report, next_step};
use super::labels;
use super::memory::not_converged;
use super::plan::{Plan, params};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::feed::{Feed, Next};
use crate::interrupt::{self, Phase};
use crate::model_file;
use crate::output::{self, Target};
use crate::progress::{REDRAW, line};
use crate::report::score::Score;
use crate::report::training::{Trained, reached};
use crate::report::{self, counted, number};
use crate::time_left::{Pace, about};

/// Trains a model out of core, for this reason.
pub(super) fn run(plan: &mut Plan<'_>, reason: &str) -> Result<ExitCode, Failure> {
    let (plan, arguments, words) = (&*plan, plan.arguments, plan.words);
    let training = params(arguments)?.check()?;
    let warm_start = arguments.warm_start.as_deref().map(model_file::load).transpose()?;
    words.note(&format!("training out of core, block by block: {reason}"));
    let started = Instant::now();
    let Some((file, table)) = interrupt::during(Phase::Solving, || cache_of(plan))? else {
        output::say("interrupted while the cache was made; no model was written, and the cache was removed");
        return Ok(ExitCode::Interrupted);
    };
    let read_seconds = started.elapsed().as_secs_f64();
    let (rows, columns) = (usize::try_from(file.rows()).unwrap_or(usize::MAX), file.columns());
    if training.params().task.is_classification() {
        labels::check_classes(arguments, file.classes(), rows)?;
    }
    supports_blocks(training.params(), file.classes().len())?;
    let source = Counted::new(file);
    let mut watch = Watch::new(plan, &source);
    let fitted = interrupt::during(Phase::Solving, || {
        if !words.quiet {
            let size = (counted(rows, "row"), counted(columns, "column"));
            output::say(&format!("training on {} of {} ...", size.0, size.1));
        }
        training.fit_blocks(&source, warm_start.as_ref(), &plan.workers, &mut watch)
    });
    watch.bar.finish_and_clear();
    let train_seconds = watch.started.elapsed().as_secs_f64();
    let FittedBlocks { model, class_rows, training_errors, passes } = match fitted {
        Ok(fitted) => fitted,
        Err(BlockError::Training(_)) if interrupt::asked() => {
            output::say(&format!("interrupted; {NOTHING_TO_WARM_START}"));
            return Ok(ExitCode::Interrupted);
        }
        Err(BlockError::Read(error)) => return Err(error.into()),
        Err(BlockError::Training(error)) => return Err(with_flags(&error)),
    };
    let (zero_based, seed) = (arguments.reading.zero_based, arguments.reading.seed());
    let model = model.with_reading(Some(Reading { table, zero_based, seed, ..Reading::default() }));
    let saved = ending::save(plan, Some(&model))?;
    let mut warnings = Vec::new();
    if !interrupt::asked()
        && let Some((what, help)) = not_converged(&model)
    {
        words.warning(&what, help);
        warnings.push(format!("{what}; {help}"));
    }
    let notes = model.machines().iter().flat_map(|machine| &machine.notes);
    let mut notes: Vec<String> = notes.map(Note::to_string).collect();
    notes.sort();
    notes.dedup();
    let trained = Trained {
        origin: plan.origin.shown(),
        data: None,
        rows,
        columns,
        class_rows,
        model: &model,
        read_seconds,
        train_seconds,
        save_seconds: saved.seconds,
        training: Score::Counted { rows, errors: training_errors.unwrap_or(0) },
        test: None,
        notes,
        warnings,
        reason: model.choice().map(Choice::to_string).or_else(|| Some(format!("out of core: {reason}"))),
        choice: None,
        deviation: None,
        model_file: saved.file.clone(),
        picture: None,
        alphas: false,
        seed: arguments.reading.seed(),
        goal: report::training::goal(&model, &training.params().settings),
    };
    let bytes_read = source.read.load(Ordering::Relaxed);
    let report = InBlocks { plan, trained: &trained, reason, passes, bytes_read };
    let go_on = saved.file.as_ref().map(|file| format!("to go on: --warm-start {file}"));
    ending::tell(plan, &saved, &report, false, go_on.as_deref(), NOTHING_TO_WARM_START)
}

/// What a training out of core reports.
struct InBlocks<'a> {
    plan: &'a Plan<'a>,
    trained: &'a Trained<'a>,
    reason: &'a str,
    passes: u64,
    bytes_read: u64,
}

impl Report for InBlocks<'_> {
    fn reached(&self) -> String {
        reached(self.trained.model, self.trained.train_seconds)
    }

    fn print_json(&self) -> Result<(), Failure> {
        let (reason, passes, bytes_read) = (self.reason, self.passes, self.bytes_read);
        let cache = self.plan.cache.as_ref().map(Target::shown);
        let own = OutOfCoreView { reason, passes, bytes_read, cache: cache.as_deref() };
        output::print_json(&report::training::view(self.trained, Some(own)))
    }

    fn page(&self) -> String {
        report::training::words(self.trained) + &next_step(self.plan, self.trained.model)
    }

    fn is_as_asked(&self) -> bool {
        self.trained.model.stop() == Stop::Converged
    }
}

/// The library's error, with the flags that it speaks of.
fn with_flags(error: &maxmargin::Error) -> Failure {
    let help = error.help().replace("by sgd, which keeps", "by sgd (--stream --lambda NUMBER), which keeps");
    Failure::new(error.to_string(), help.replace("grant ", "grant with --memory "))
}

/// A cache of the data: the file itself where it is one and all of it is wanted, else one that is written now. `None` when the
/// user interrupted.
fn cache_of(plan: &Plan<'_>) -> Result<Option<(CacheFile, Option<TableRecipe>)>, Failure> {
    let (arguments, reading) = (plan.arguments, &plan.arguments.reading);
    if let Some(path) = plan.origin.file().filter(|path| is_cache(path))
        && arguments.columns.is_none()
        && reading.exclude.is_empty()
        && reading.label.is_none()
        && plan.cache.is_none()
    {
        return Ok(Some((CacheFile::open(path)?, None)));
    }
    let folder = match plan.model.path().parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let started = Instant::now();
    let bar = line(arguments.quiet);
    let mut feed = Feed::new(&plan.origin, &plan.options, reading.seed(), false)?;
    let block = block_bytes(plan.memory);
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
    let table = feed.begun().recipe.clone();
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
    Ok(Some((file, table)))
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
    fn new(plan: &Plan<'_>, source: &'a Counted) -> Self {
        let (started, arguments) = (Instant::now(), plan.arguments);
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
