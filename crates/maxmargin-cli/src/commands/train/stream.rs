//! `train --stream`: a model of rows that are never in memory as a whole.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use maxmargin::data::{Dataset, Label, Reading, TableRecipe};
use maxmargin::error::{bytes, quoted};
use maxmargin::stream::{Estimate, RowTrace, StreamParams, StreamingSgd};
use maxmargin::view::StreamView;
use maxmargin::{Model, Stop};
use maxmargin_io::{load_stream_checkpoint, previous_checkpoint, save_stream_checkpoint};

use super::ending::{self, NOTHING_KEPT, Report, is_kept};
use super::plan::Plan;
use crate::arguments::Train;
use crate::checkpoint_file::Keeper;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::feed::{Feed, Next};
use crate::input::Origin;
use crate::interrupt::{self, Phase};
use crate::output::{self, Words};
use crate::progress::{REDRAW, line};
use crate::report::{Page, counted, number};

/// Entries times machines that are learnt between two looks around: a few hundredths of a second.
const ENTRIES_A_POLL: usize = 1 << 21;

/// What to learn, not knowing the classes yet where they are not named.
fn params(arguments: &Train) -> Result<StreamParams, Failure> {
    let lambda = match (arguments.lambda, arguments.c_over_n) {
        (Some(lambda), _) => lambda,
        // (T.1)
        (None, Some(c)) => 1.0 / (2.0 * c),
        (None, None) => StreamParams::default().lambda,
    };
    let params = StreamParams {
        classes: arguments.classes.iter().map(|label| Label::new(label.as_str())).collect(),
        loss: arguments.loss.unwrap_or_default(),
        bias: arguments.bias,
        lambda,
        batch: arguments.batch,
        hold_out: arguments.validate,
        ..StreamParams::default()
    };
    Ok(params.check()?.params().clone())
}

/// The learner to go on with, once it has been found to be of these parameters.
fn resume(path: &Path, params: &StreamParams, words: Words) -> Result<StreamingSgd, Failure> {
    let shown = output::escaped(&path.to_string_lossy());
    let previous = previous_checkpoint(path);
    let snapshot = load_stream_checkpoint(path).map_err(|error| match previous.is_file() {
        true => {
            let help = format!("go on from {}, which was saved before it", quoted(&previous.to_string_lossy()));
            Failure::new(error.to_string(), help)
        }
        false => error.into(),
    })?;
    let then = snapshot.state.params();
    let texts = |params: &StreamParams| {
        [
            ("loss", params.loss.name().to_string()),
            ("bias", params.bias.name().to_string()),
            ("lambda", format!("{:?}", params.lambda)),
            ("batch", params.batch.to_string()),
            ("validate", params.hold_out.map_or_else(|| "none".into(), |every| every.to_string())),
            ("classes", params.classes.iter().map(|label| quoted(label.text())).collect::<Vec<_>>().join(", ")),
        ]
    };
    // Labels that the file told are not typed again.
    let differs = texts(then)
        .into_iter()
        .zip(texts(params))
        .find(|((name, then), (_, now))| then != now && !(*name == "classes" && now.is_empty()));
    if let Some(((name, then), (_, now))) = differs {
        return Err(Failure::new(
            format!("{shown}: the checkpoint was made with the {name} {then}, but now it is {now}"),
            "give the parameters that the checkpoint was made with, or begin from scratch",
        ));
    }
    let learner = StreamingSgd::from_snapshot(snapshot)
        .map_err(|error| Failure::new(format!("{shown}: {error}"), error.help()))?;
    words.note(&format!("going on from {shown}: pass {}, row {}", learner.passes() + 1, learner.rows() + 1));
    Ok(learner)
}

/// Trains a model of a stream.
pub(super) fn run(plan: &mut Plan<'_>) -> Result<ExitCode, Failure> {
    let (arguments, words) = (plan.arguments, plan.words);
    if arguments.passes == 0 {
        return Err(maxmargin::Error::parameter("passes", 0, "1 or more").into());
    }
    if plan.origin == Origin::Stdin && arguments.passes > 1 {
        return Err(Failure::new("standard input can be read only once", "name a file, or leave out --passes"));
    }
    let params = params(arguments)?;
    let mut learner = arguments.resume.as_deref().map(|path| resume(path, &params, words)).transpose()?;
    let go_on = plan.go_on();
    let mut watch = Watch::new(plan);
    let trained = interrupt::during(Phase::Solving, || {
        if !words.quiet {
            output::say(&format!("training on the rows of {} as they come ...", plan.origin.shown()));
        }
        learn(plan, &params, &mut watch, &mut learner)
    });
    watch.bar.finish_and_clear();
    let stop = trained?;
    let seconds = watch.started.elapsed().as_secs_f64();
    let Some(learner) = learner else {
        output::say("interrupted before the first row was read; no model was written");
        return Ok(ExitCode::Interrupted);
    };
    let cut = matches!(stop, Stop::Interrupted | Stop::TimeLimit);
    if cut && let Some(keeper) = &mut watch.keeper {
        keeper.keep_by(|path| save_stream_checkpoint(path, &learner.snapshot()));
    }
    let kept = is_kept(watch.keeper.as_ref());
    let is_lost = stop == Stop::Interrupted && (!arguments.save_partial || learner.learnt() == 0);
    let (table, zero_based) = (watch.table.take(), arguments.reading.zero_based);
    let reading = Reading { table, zero_based, seed: arguments.reading.seed(), ..Reading::default() };
    let model = if is_lost { None } else { Some(learner.model(stop)?.with_reading(Some(reading))) };
    let saved = ending::save(plan, model.as_ref())?;
    if let Some(keeper) = watch.keeper.as_ref().filter(|_| saved.file.is_some() && !cut) {
        keeper.remove();
    }
    let (file, learnt) = (saved.file.clone(), watch.learnt);
    let report = Streamed { plan, learner: &learner, model: model.as_ref(), file, stop, seconds, learnt };
    ending::tell(plan, &saved, &report, cut, go_on.as_deref().filter(|_| kept), NOTHING_KEPT)
}

/// Goes through the data as often as asked, or until it is told to stop.
fn learn(
    plan: &Plan<'_>,
    params: &StreamParams,
    watch: &mut Watch,
    learner: &mut Option<StreamingSgd>,
) -> Result<Stop, Failure> {
    while learner.as_ref().is_none_or(|learner| learner.passes() < plan.arguments.passes) {
        let mut feed = Feed::new(&plan.origin, &plan.options, 0, false)?;
        // Rows that were learnt before an interrupt, and are skipped.
        let mut skip = learner.as_ref().map_or(0, StreamingSgd::rows);
        let mut trace = RowTrace::default();
        loop {
            let block = match feed.next(|| watch.goes_on(learner.as_ref()))? {
                Next::Block(block) => block,
                Next::End => break,
                Next::Stopped => return Ok(watch.stop()),
            };
            let now = match learner {
                Some(learner) => learner,
                None => {
                    let mut params = params.clone();
                    if params.classes.is_empty() {
                        params.classes = feed.begun().classes.clone().unwrap_or_default();
                    }
                    learner.insert(params.check().map_err(with_flag)?)
                }
            };
            let first = usize::try_from(skip).unwrap_or(usize::MAX).min(block.rows());
            if first > 0 {
                trace.add(now, &block, first).map_err(with_flag)?;
                skip -= first as u64;
                if skip == 0 && trace.value != now.trace() {
                    return Err(other_data());
                }
            }
            check_memory(plan, now, &block)?;
            watch.all_rows = feed.begun().rows;
            watch.table = feed.begun().recipe.clone();
            match learn_block(now, &block, first, watch) {
                Ok(true) => {}
                Ok(false) => return Ok(watch.stop()),
                // The rows before a fault of the file are a block, too: that there are so few of them is the fault's.
                Err(refused) => return Err(feed.next(|| !interrupt::asked()).err().unwrap_or(refused)),
            }
        }
        if skip > 0 {
            return Err(other_data());
        }
        match learner {
            Some(learner) if !learner.is_same_pass() => {
                return Err(Failure::new(
                    format!("{}: the rows of this pass are not those of the pass before", plan.origin.shown()),
                    "keep the file as it is until all passes are over; a checkpoint belongs to its data",
                ));
            }
            Some(learner) => learner.end_pass(),
            None => {
                return Err(Failure::new(format!("{}: found no rows", plan.origin.shown()), "give at least one row"));
            }
        }
    }
    Ok(Stop::IterationLimit)
}

/// Learns a block from a row on, with a look around now and then. `false` when it was told to stop.
fn learn_block(learner: &mut StreamingSgd, block: &Dataset, first: usize, watch: &mut Watch) -> Result<bool, Failure> {
    let a_row = block.matrix().entries() / block.rows().max(1) + 1;
    let rows = (ENTRIES_A_POLL / a_row / learner.classes().len().max(1)).max(1);
    for start in (first..block.rows()).step_by(rows) {
        let before = learner.learnt();
        if !watch.goes_on(Some(learner)) {
            return Ok(false);
        }
        learner.learn_rows(block, start..block.rows().min(start + rows)).map_err(with_flag)?;
        watch.learnt += learner.learnt() - before;
    }
    Ok(true)
}

/// The library's error, with the flag that it speaks of.
fn with_flag(error: maxmargin::Error) -> Failure {
    let help = error.help();
    let help = match help.contains("declare") {
        true => format!("{help} (--classes a,b,c; or convert the data to a cache, which knows its labels)"),
        false => help,
    };
    Failure::new(error.to_string(), help)
}

fn other_data() -> Failure {
    Failure::new(
        "the checkpoint was made from other data",
        "give the data that the checkpoint was made from, from its first row on, or begin from scratch",
    )
}

/// Checks that what is held fits: two vectors a machine, one more when the model is made and one when it is saved, and
/// the blocks that are worked on, waiting and being read.
fn check_memory(plan: &Plan<'_>, learner: &StreamingSgd, block: &Dataset) -> Result<(), Failure> {
    let machines = if learner.classes().len() > 2 { learner.classes().len() } else { 1 };
    let columns = learner.columns().max(block.columns());
    let need = 2 * StreamingSgd::bytes(columns, machines) + 4 * block.matrix().bytes();
    if need <= plan.memory {
        return Ok(());
    }
    let error = maxmargin::Error::Memory {
        what: format!("learning {columns} columns by {}", counted(machines, "machine")),
        need,
        budget: plan.memory,
    };
    Err(Failure::new(error.to_string(), format!("grant {} or more with --memory", bytes(need))))
}

/// Looks at the clock and for Ctrl-C, draws the line of progress, and keeps checkpoints.
struct Watch {
    bar: ProgressBar,
    started: Instant,
    limit: Option<Duration>,
    drawn: Instant,
    keeper: Option<Keeper>,
    passes: u64,
    all_rows: Option<u64>,
    /// How the columns of the data become numbers.
    table: Option<TableRecipe>,
    /// Rows learnt by this run.
    learnt: u64,
}

impl Watch {
    fn new(plan: &mut Plan<'_>) -> Self {
        let (started, limit, passes) = (Instant::now(), plan.limit, plan.arguments.passes);
        let (bar, keeper) = (line(plan.arguments.quiet), plan.keeper.take());
        Watch { bar, started, limit, drawn: started, keeper, passes, all_rows: None, table: None, learnt: 0 }
    }

    /// Why it stopped.
    fn stop(&self) -> Stop {
        if interrupt::asked() { Stop::Interrupted } else { Stop::TimeLimit }
    }

    /// Whether to go on; asked every few hundredths of a second.
    fn goes_on(&mut self, learner: Option<&StreamingSgd>) -> bool {
        let now = Instant::now();
        if interrupt::asked() {
            return false;
        }
        // A limit leaves at least something to make a model of.
        let has_learnt = learner.is_some_and(|learner| learner.learnt() > 0);
        if has_learnt && self.limit.is_some_and(|limit| now - self.started >= limit) {
            return false;
        }
        if let (Some(keeper), Some(learner)) = (&mut self.keeper, learner)
            && keeper.is_due(now)
        {
            self.bar.suspend(|| keeper.keep_by(|path| save_stream_checkpoint(path, &learner.snapshot())));
        }
        if now - self.drawn >= REDRAW {
            self.drawn = now;
            if let Some(learner) = learner.filter(|_| !self.bar.is_hidden()) {
                self.draw(learner, now - self.started);
            }
        }
        true
    }

    fn draw(&self, learner: &StreamingSgd, elapsed: Duration) {
        let mut text = String::new();
        if self.passes > 1 {
            text.push_str(&format!("pass {} of {}  ", learner.passes() + 1, self.passes));
        }
        let all = self.all_rows.map_or_else(String::new, |all| format!(" of {all}"));
        let speed = self.learnt as f64 / elapsed.as_secs_f64();
        text.push_str(&format!("row {}{all}  {} rows/s  {}", learner.rows(), number(speed, 3), estimates(learner)));
        text.push_str(&format!("  {:.1} s", elapsed.as_secs_f64()));
        self.bar.set_message(text);
        self.bar.tick();
    }
}

/// The estimates in a few words.
fn estimates(learner: &StreamingSgd) -> String {
    let percent = |estimate: Estimate| format!("{} %", number(100.0 * estimate.error_rate(), 3));
    let mut text = format!("{} wrong before learnt", percent(learner.progressive()));
    if learner.recent().rows < learner.progressive().rows {
        text.push_str(&format!(" ({} lately)", percent(learner.recent())));
    }
    if learner.held_out().rows > 0 {
        text.push_str(&format!(", {} of those held out", percent(learner.held_out())));
    }
    text
}

/// What there is to say at the end.
struct Streamed<'a> {
    plan: &'a Plan<'a>,
    learner: &'a StreamingSgd,
    model: Option<&'a Model>,
    file: Option<String>,
    stop: Stop,
    seconds: f64,
    /// Rows learnt by this run.
    learnt: u64,
}

impl Report for Streamed<'_> {
    fn reached(&self) -> String {
        let (rows, seconds) = (self.learner.learnt(), self.seconds);
        format!("interrupted after {rows} rows in {seconds:.1} s: {}", estimates(self.learner))
    }

    fn is_as_asked(&self) -> bool {
        true
    }

    fn print_json(&self) -> Result<(), Failure> {
        let (learner, data) = (self.learner, self.plan.origin.shown());
        let pace = (self.learnt, self.seconds);
        output::print_json(&StreamView::new(learner, &data, self.stop, pace, self.file.as_deref()))
    }

    fn page(&self) -> String {
        let (learner, mut page) = (self.learner, Page::new());
        page.line(
            "data",
            &format!(
                "{}: {} columns, {} classes",
                self.plan.origin.shown(),
                learner.columns(),
                learner.classes().len()
            ),
        );
        let params = learner.params();
        page.line(
            "problem",
            &format!("{} loss, {} bias, lambda {}", params.loss.name(), params.bias.name(), number(params.lambda, 6)),
        );
        page.line(
            "sgd",
            &format!(
                "{} rows learnt in {}, {:.2} s ({} rows/s)",
                learner.learnt(),
                counted(learner.passes() as usize, "pass"),
                self.seconds,
                number(self.learnt as f64 / self.seconds.max(1e-9), 3)
            ),
        );
        let share = |estimate: Estimate| {
            format!(
                "{} % wrong ({} of {}), mean loss {}",
                number(100.0 * estimate.error_rate(), 4),
                estimate.errors,
                estimate.rows,
                number(estimate.mean_loss(), 4)
            )
        };
        page.line("validation", &format!("{}, each row before it was learnt", share(learner.progressive())));
        if learner.recent().rows < learner.progressive().rows {
            page.line("", &format!("{}, lately", share(learner.recent())));
        }
        if learner.held_out().rows > 0 {
            page.line("held out", &share(learner.held_out()));
        }
        if let Some(maxmargin::certificate::Evidence::None(why)) =
            self.model.and_then(|model| model.machines().first()).map(|machine| &machine.evidence)
        {
            page.line("certificate", &format!("none: {why}"));
        }
        if let Some(file) = &self.file {
            page.exact("model", file);
        }
        let next =
            self.file.as_ref().map_or_else(String::new, |file| format!("\nnext: maxmargin predict {file} NEW-DATA\n"));
        page.finish() + &next
    }
}
