//! Tasks side by side: on the threads of a team where there is one, each on one thread; the control is asked on the calling thread.

use std::ops::ControlFlow;

use crate::control::{Control, Progress, Stop};
use crate::relay::{self, Event};
use crate::workers::Workers;

/// How much of a search is done, in jobs of one chain and one split.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    /// Jobs that are done.
    pub(super) jobs: usize,
    /// All jobs, as far as is known.
    pub(super) of: usize,
    /// Tasks that a job is cut into.
    pub(super) tasks_a_job: usize,
}

/// A control that counts jobs in the place of machines, and remembers why it broke.
struct Counted<'a> {
    inner: &'a mut dyn Control,
    done: Done,
    broke: Option<Stop>,
}

impl Control for Counted<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let jobs = self.done.jobs + progress.machine.0 / self.done.tasks_a_job.max(1);
        let answer = self.inner.poll(Progress { machine: (jobs, self.done.of.max(jobs + 1)), ..progress });
        if let ControlFlow::Break(stop) = answer {
            self.broke = Some(stop);
        }
        answer
    }
}

/// Calls `work` for each task below `count`, and `hear` on this thread for each result. The reason of a break, if there was one.
pub(super) fn run<R: Send>(
    workers: &Workers,
    count: usize,
    done: Done,
    work: impl Fn(usize, &mut dyn Control) -> R + Sync,
    control: &mut dyn Control,
    mut hear: impl FnMut(usize, R),
) -> Option<Stop> {
    let mut counted = Counted { inner: control, done, broke: None };
    if count == 0 {
        return None;
    }
    if workers.threads() == 1 {
        for task in 0..count {
            let mut ask = |progress: Progress| counted.poll(Progress { machine: (task, count), ..progress });
            let result = work(task, &mut ask);
            hear(task, result);
            if counted.broke.is_some() {
                break;
            }
        }
        return counted.broke;
    }
    let work = |task: usize, control: &mut dyn relay::MachineControl| {
        let mut ask = |progress: Progress| control.poll(progress);
        (task, work(task, &mut ask))
    };
    relay::run(workers, &vec![1; count], work, &mut counted, |event, _| {
        if let Event::Done((task, result)) = event {
            hear(task, result);
        }
    });
    counted.broke
}
