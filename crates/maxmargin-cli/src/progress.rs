//! The command line's [`Control`]: a line of progress, the time limit, and Ctrl-C.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::{Control, Progress, Stop};

use crate::interrupt;
use crate::report::brief;

/// How often the line is drawn.
const REDRAW: Duration = Duration::from_millis(100);

/// Watches a solver.
pub(crate) struct Watch {
    bar: ProgressBar,
    started: Instant,
    limit: Option<Duration>,
    drawn: Instant,
}

impl Watch {
    /// Starts the clock. The line is shown when standard error is a terminal and `quiet` is not asked for.
    pub(crate) fn new(limit: Option<Duration>, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        let started = Instant::now();
        Watch { bar, started, limit, drawn: started }
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
        self.bar.set_message(text);
        self.bar.tick();
    }
}

impl Control for Watch {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if interrupt::asked() {
            return ControlFlow::Break(Stop::Interrupted);
        }
        let now = Instant::now();
        let elapsed = now - self.started;
        if self.limit.is_some_and(|limit| elapsed >= limit) {
            return ControlFlow::Break(Stop::TimeLimit);
        }
        if now - self.drawn >= REDRAW {
            self.drawn = now;
            if !self.bar.is_hidden() {
                self.draw(&progress, elapsed);
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_of_nothing_stops_at_once() {
        let mut watch = Watch::new(Some(Duration::ZERO), true);
        assert_eq!(watch.poll(Progress::default()), ControlFlow::Break(Stop::TimeLimit));
        let mut watch = Watch::new(None, true);
        assert_eq!(watch.poll(Progress::default()), ControlFlow::Continue(()));
    }
}
