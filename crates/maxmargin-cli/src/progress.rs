//! The command line's [`Control`], of fitting and of reading: a line of progress, the time limit, and Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::error::bytes as shown_bytes;
use maxmargin::{Checkpoint, CheckpointControl, Control, Progress, Step, Stop};
use maxmargin_io::{ReadControl, ReadProgress};

use crate::checkpoint_file::Keeper;
use crate::interrupt;
use crate::output::short;
use crate::report::brief;
use crate::time_left::{Pace, about};
use crate::trace::Trace;

/// How often the line is drawn.
pub(crate) const REDRAW: Duration = Duration::from_millis(100);

/// How long an interrupted solver may take to certify what it has.
const PATIENCE: Duration = Duration::from_millis(120);

/// What to say when an interrupted solver does not come back soon, or need not: from its last progress, the time, and whether
/// a checkpoint was written.
type LastWords = Box<dyn FnOnce(Progress, Duration, bool) + Send>;

/// Watches a solver.
pub(crate) struct Watch {
    bar: ProgressBar,
    started: Instant,
    limit: Option<Duration>,
    /// When it was last polled, and what was said.
    polled: (Instant, Progress),
    drawn: Instant,
    pace: Option<Pace>,
    keeper: Option<Keeper>,
    broke: Broke,
    /// Said once, by whoever ends the program.
    last_words: Arc<Mutex<Option<LastWords>>>,
    impatient: bool,
    trace: Option<Trace>,
    /// What is counted in the place of machines.
    counts: Option<&'static str>,
}

/// A line that says how much of a file has been read, and how long the rest may take. Ctrl-C ends the program at once
/// meanwhile, because nothing is half-done.
pub(crate) struct ReadingLine {
    bar: ProgressBar,
    name: String,
    started: Instant,
    /// When it was last drawn.
    drawn: Mutex<Instant>,
}

impl ReadingLine {
    /// Starts the clock. The line is shown when standard error is a terminal and `quiet` is not asked for, and goes when it
    /// is dropped.
    pub(crate) fn new(origin: &str, quiet: bool) -> Self {
        let started = Instant::now();
        ReadingLine { bar: line(quiet), name: short(origin), started, drawn: Mutex::new(started) }
    }

    fn text(&self, progress: ReadProgress, elapsed: Duration) -> String {
        let (done, seconds) = (progress.bytes, elapsed.as_secs_f64());
        let mut text = format!("reading {}  {}", self.name, shown_bytes(done));
        if let Some(total) = progress.total {
            text.push_str(&format!(" of {}", shown_bytes(total)));
        }
        text.push_str(&format!("  {seconds:.1} s"));
        if let Some(total) = progress.total.filter(|_| done > 0) {
            text.push_str(&format!(", {}", about(seconds * total.saturating_sub(done) as f64 / done as f64)));
        }
        text
    }
}

impl ReadControl for ReadingLine {
    fn poll(&self, progress: ReadProgress) -> ControlFlow<()> {
        if !self.bar.is_hidden()
            && let Ok(mut drawn) = self.drawn.try_lock()
        {
            let now = Instant::now();
            if now - *drawn >= REDRAW {
                *drawn = now;
                self.bar.set_message(self.text(progress, now - self.started));
                self.bar.tick();
            }
        }
        ControlFlow::Continue(())
    }
}

impl Drop for ReadingLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line on standard error, unless it is not a terminal or `quiet` is asked for.
pub(crate) fn line(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

/// Whether the solver has been told to stop, and what of it has been kept since.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Broke {
    No,
    NothingKept,
    Kept,
}

impl Watch {
    /// Starts the clock. The line is shown when standard error is a terminal and `quiet` is not asked for.
    pub(crate) fn new(limit: Option<Duration>, quiet: bool) -> Self {
        let started = Instant::now();
        Watch {
            bar: line(quiet),
            started,
            limit,
            polled: (started, Progress::default()),
            drawn: started,
            pace: None,
            keeper: None,
            broke: Broke::No,
            last_words: Arc::default(),
            impatient: false,
            trace: None,
            counts: None,
        }
    }

    /// Ends the program soon after an interrupt, with these words, where no model is made of what was reached.
    pub(crate) fn impatient(mut self, last_words: impl FnOnce(Progress, Duration, bool) + Send + 'static) -> Self {
        self.last_words = Arc::new(Mutex::new(Some(Box::new(last_words))));
        self.impatient = true;
        self
    }

    /// Tells the time left until this tolerance is reached.
    pub(crate) fn towards(mut self, tolerance: f64) -> Self {
        self.pace = Some(Pace::new(tolerance));
        self
    }

    /// Says how many of what are done, in the place of machines and their iterations.
    pub(crate) fn counting(mut self, what: &'static str) -> Self {
        self.counts = Some(what);
        self
    }

    /// Writes the steps down, where there is somebody to write them.
    pub(crate) fn tracing(mut self, trace: Option<Trace>) -> Self {
        self.trace = trace;
        self
    }

    /// Who writes the steps down, if there is somebody.
    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    /// Keeps checkpoints, where there is somebody to keep them.
    pub(crate) fn keeping(mut self, keeper: Option<Keeper>) -> Self {
        self.keeper = keeper;
        self
    }

    /// Who keeps checkpoints, if there is somebody.
    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Takes the line off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn draw(&self, progress: &Progress, elapsed: Duration) {
        let (machine, machines) = progress.machine;
        let mut text = String::new();
        if let Some(what) = self.counts {
            let seconds = elapsed.as_secs_f64();
            text.push_str(&format!("{what} {} of {machines}  {seconds:.1} s", machine + 1));
            if machine > 0 {
                text.push_str(&format!(", {}", about(seconds * (machines - machine) as f64 / machine as f64)));
            }
            self.bar.set_message(text);
            self.bar.tick();
            return;
        }
        if machines > 1 {
            text.push_str(&format!("machine {} of {machines}  ", machine + 1));
        }
        text.push_str(&format!("iteration {}", progress.iteration));
        for (name, value) in [("violation", progress.violation), ("gap", progress.gap)] {
            if let Some(value) = value {
                text.push_str(&format!("  {name} {}", brief(value)));
            }
        }
        text.push_str(&format!("  {:.1} s", elapsed.as_secs_f64()));
        if let Some(left) = self.pace.as_ref().and_then(|pace| pace.left(machines, elapsed)) {
            text.push_str(&format!(", {}", about(left)));
        }
        self.bar.set_message(text);
        self.bar.tick();
    }
}

/// Says the last words, unless somebody has.
fn say_last(last_words: &Mutex<Option<LastWords>>, progress: Progress, elapsed: Duration, kept: bool) {
    let words = last_words.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(words) = words {
        words(progress, elapsed, kept);
    }
}

impl Watch {
    /// Breaks. The first time, what the solver has is wanted.
    fn stop(&mut self, stop: Stop) -> ControlFlow<Stop> {
        if self.broke == Broke::No {
            // The program may end before the solver hands back what it has.
            if let Some(trace) = &mut self.trace {
                trace.close();
            }
            self.broke = Broke::NothingKept;
            if stop == Stop::Interrupted && self.impatient {
                let (bar, last_words) = (self.bar.clone(), Arc::clone(&self.last_words));
                let written: Arc<AtomicBool> = self.keeper.as_ref().map(Keeper::written).unwrap_or_default();
                let (progress, elapsed) = (self.polled.1, self.started.elapsed());
                interrupt::give_up_after(PATIENCE, move || {
                    bar.finish_and_clear();
                    say_last(&last_words, progress, elapsed, written.load(Ordering::Relaxed));
                });
            }
        }
        ControlFlow::Break(stop)
    }
}

impl Control for Watch {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let now = Instant::now();
        self.polled = (now, progress);
        if let Some(trace) = &mut self.trace {
            trace.observe(&progress);
        }
        if interrupt::asked() {
            return self.stop(Stop::Interrupted);
        }
        let elapsed = now - self.started;
        if self.spent().is_some_and(|spent| progress.is_over(spent)) {
            // One machine that has used its part of the time is not the end.
            let is_last = progress.reserved == 0.0;
            return if is_last { self.stop(Stop::TimeLimit) } else { ControlFlow::Break(Stop::TimeLimit) };
        }
        if now - self.drawn >= REDRAW {
            self.drawn = now;
            if !self.bar.is_hidden() {
                if let Some(pace) = &mut self.pace {
                    pace.observe(&progress, elapsed);
                }
                self.draw(&progress, elapsed);
            }
        }
        ControlFlow::Continue(())
    }

    fn spent(&self) -> Option<f64> {
        let part = |limit| self.started.elapsed().div_duration_f64(limit);
        self.limit.map(|limit| if limit.is_zero() { f64::INFINITY } else { part(limit) })
    }

    fn wants_steps(&self) -> bool {
        self.trace.is_some()
    }

    fn step(&mut self, step: Step) {
        if let Some(trace) = &mut self.trace {
            trace.add(&step);
        }
    }
}

impl CheckpointControl for Watch {
    fn keeps_checkpoints(&self) -> bool {
        self.keeper.is_some()
    }

    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        let Some(keeper) = &self.keeper else { return false };
        match self.broke {
            Broke::No => keeper.is_due(self.polled.0),
            Broke::NothingKept => true,
            // What has not begun has nothing to keep.
            Broke::Kept => progress.iteration > 0,
        }
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        let Some(keeper) = &mut self.keeper else { return };
        self.bar.suspend(|| keeper.keep(checkpoint));
        if self.broke == Broke::No {
            return;
        }
        self.broke = Broke::Kept;
        let written = keeper.written().load(Ordering::Relaxed);
        if interrupt::asked() && self.impatient {
            // Nothing else is to be kept, and the user does not wait for a certificate.
            self.bar.finish_and_clear();
            let (progress, elapsed) = (self.polled.1, self.started.elapsed());
            interrupt::end(|| say_last(&self.last_words, progress, elapsed, written));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Words;

    #[test]
    fn a_line_of_reading_says_how_much_is_done_and_left() {
        let line = ReadingLine::new("d.svm", true);
        let progress = ReadProgress { bytes: 3 << 20, total: Some(12 << 20) };
        let text = line.text(progress, Duration::from_secs(2));
        assert_eq!(text, "reading d.svm  3.0 MiB of 12.0 MiB  2.0 s, about 6 s left");
        let text = line.text(ReadProgress { bytes: 1 << 10, total: None }, Duration::from_secs(2));
        assert_eq!(text, "reading d.svm  1.0 KiB  2.0 s");
        assert!(line.poll(progress).is_continue());
    }

    #[test]
    fn a_time_limit_of_nothing_stops_at_once() {
        let mut watch = Watch::new(Some(Duration::ZERO), true);
        assert_eq!(watch.poll(Progress::default()), ControlFlow::Break(Stop::TimeLimit));
        let mut watch = Watch::new(None, true);
        assert_eq!(watch.poll(Progress::default()), ControlFlow::Continue(()));
        assert!(!watch.wants_checkpoint(&Progress::default()), "nobody keeps it");
    }

    #[test]
    fn what_a_time_limit_stops_is_wanted_once_and_then_only_of_what_has_begun() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let keeper = Keeper::new(&path, Duration::from_secs(3600), &[], false, Words { quiet: true }).unwrap();
        let mut watch = Watch::new(Some(Duration::ZERO), true).keeping(Some(keeper));
        let (new, begun) = (Progress::default(), Progress { iteration: 7, ..Progress::default() });
        assert!(!watch.wants_checkpoint(&begun), "the hour is not over");
        assert!(watch.poll(new).is_break() && watch.wants_checkpoint(&new));
        let checkpoint = Checkpoint { fingerprint: String::new(), parameters: Vec::new(), machines: Vec::new() };
        watch.keep_checkpoint(&checkpoint);
        assert!(path.is_file() && watch.wants_checkpoint(&begun) && !watch.wants_checkpoint(&new));
    }
}
