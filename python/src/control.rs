//! What happens while a solver runs: limits, interrupts, a history of the steps, checkpoints.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use maxmargin::{Checkpoint, CheckpointControl, Control, Progress, Step, Stop};

use crate::door::Line;

/// How often the calling thread is told how far the work is.
const TOLD_EVERY: Duration = Duration::from_millis(20);
/// The most entries of a history: beyond them every second one is dropped.
const MOST_ENTRIES: usize = 512;
/// How often a checkpoint is written.
const KEPT_EVERY: Duration = Duration::from_secs(30);

/// One line of a history: seconds, machine, iteration, violation, gap.
pub(crate) type Entry = (f64, usize, u64, Option<f64>, Option<f64>);

/// The control of a training that Python asked for.
pub(crate) struct Attended {
    line: Arc<Line>,
    started: Instant,
    told: Instant,
    limit: Option<Duration>,
    polls: u64,
    stride: u64,
    history: Vec<Entry>,
    keeper: Option<Keeper>,
    broke: bool,
    steps: Option<Steps>,
}

/// The first steps of a fit.
struct Steps {
    most: usize,
    taken: Vec<Step>,
}

/// Writes checkpoints.
struct Keeper {
    path: PathBuf,
    last: Instant,
    kept_at_the_end: bool,
    failure: Option<String>,
}

impl Attended {
    pub(crate) fn new(line: &Arc<Line>, limit: Option<Duration>, checkpoint: Option<PathBuf>) -> Self {
        let now = Instant::now();
        Attended {
            line: Arc::clone(line),
            started: now,
            told: now,
            limit,
            polls: 0,
            stride: 1,
            history: Vec::new(),
            keeper: checkpoint.map(|path| Keeper { path, last: now, kept_at_the_end: false, failure: None }),
            broke: false,
            steps: None,
        }
    }

    /// A control that keeps the first steps that the solver takes, at most this number, and then breaks.
    pub(crate) fn with_steps(line: &Arc<Line>, most: usize) -> Self {
        Attended { steps: Some(Steps { most, taken: Vec::new() }), ..Attended::new(line, None, None) }
    }

    /// The steps that were kept.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps.map_or_else(Vec::new, |steps| steps.taken)
    }

    /// The history, and why no checkpoint could be written, if one could not.
    pub(crate) fn end(self) -> (Vec<Entry>, Option<String>) {
        (self.history, self.keeper.and_then(|keeper| keeper.failure))
    }

    fn record(&mut self, progress: &Progress, elapsed: Duration) {
        if self.polls.is_multiple_of(self.stride) {
            let Progress { machine, iteration, violation, gap, .. } = *progress;
            self.history.push((elapsed.as_secs_f64(), machine.0, iteration, violation, gap));
        }
        self.polls += 1;
        if self.history.len() > MOST_ENTRIES {
            self.stride *= 2;
            let mut number = 0;
            self.history.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    fn stop(&mut self, stop: Stop) -> ControlFlow<Stop> {
        self.broke = true;
        ControlFlow::Break(stop)
    }
}

impl Control for Attended {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let now = Instant::now();
        let elapsed = now - self.started;
        self.record(&progress, elapsed);
        if self.line.interrupted() {
            return self.stop(Stop::Interrupted);
        }
        if self.steps.as_ref().is_some_and(|steps| steps.taken.len() >= steps.most) {
            return self.stop(Stop::IterationLimit);
        }
        if self.spent().is_some_and(|spent| progress.is_over(spent)) {
            // One machine that has used its part of the time is not the end.
            let is_last = progress.reserved == 0.0;
            return if is_last { self.stop(Stop::TimeLimit) } else { ControlFlow::Break(Stop::TimeLimit) };
        }
        if now - self.told >= TOLD_EVERY {
            self.told = now;
            self.line.say(progress);
        }
        ControlFlow::Continue(())
    }

    fn spent(&self) -> Option<f64> {
        let part = |limit| self.started.elapsed().div_duration_f64(limit);
        self.limit.map(|limit| if limit.is_zero() { f64::INFINITY } else { part(limit) })
    }

    fn wants_steps(&self) -> bool {
        self.steps.is_some()
    }

    fn step(&mut self, step: Step) {
        if let Some(steps) = self.steps.as_mut().filter(|steps| steps.taken.len() < steps.most) {
            steps.taken.push(step);
        }
    }
}

impl CheckpointControl for Attended {
    fn keeps_checkpoints(&self) -> bool {
        self.keeper.is_some()
    }

    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        let Some(keeper) = &self.keeper else { return false };
        if self.broke {
            // What has not begun has nothing to keep once something is kept.
            !keeper.kept_at_the_end || progress.iteration > 0
        } else {
            keeper.last.elapsed() >= KEPT_EVERY
        }
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        let Some(keeper) = &mut self.keeper else { return };
        if let Err(error) = maxmargin_io::save_checkpoint(&keeper.path, checkpoint) {
            keeper.failure = Some(format!("no checkpoint was written: {error}; {}", error.help()));
        }
        keeper.last = Instant::now();
        keeper.kept_at_the_end = self.broke;
    }
}
