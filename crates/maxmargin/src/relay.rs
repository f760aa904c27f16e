//! Machines side by side under one control: they work on the threads of a team, and the control is polled on the calling thread.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::control::{Control, Progress, Stop};
use crate::solver::{SnapshotControl, SolverKind};
use crate::workers::Workers;

/// The control of one machine in a training.
pub(crate) trait MachineControl: SnapshotControl {
    /// The machine's solver is known.
    fn begin(&mut self, kind: SolverKind);
    /// The solver is done; the certificate follows.
    fn end(&mut self);
}

/// A message to the calling thread.
pub(crate) enum Event<R> {
    /// The control broke: machines under way will stop.
    Broke,
    /// What became of the machines of a task.
    Done(R),
}

enum Message<R> {
    Progress { number: usize, progress: Progress },
    Done { number: usize, result: R },
}

/// The control of a machine: it sends the machine's progress to the calling thread, and says whether to stop.
struct Relay<'a, R> {
    number: usize,
    sender: Sender<Message<R>>,
    heard: &'a AtomicBool,
    /// Why all tasks are to stop, and why this one is.
    stop: [&'a OnceLock<Stop>; 2],
    spent: &'a Spent,
}

/// The part of a limit on time that had passed at the last message.
struct Spent {
    is_limited: bool,
    bits: AtomicU64,
}

impl Spent {
    fn of(control: &(impl Control + ?Sized)) -> Self {
        let spent = control.spent();
        Spent { is_limited: spent.is_some(), bits: AtomicU64::new(spent.unwrap_or(0.0).to_bits()) }
    }

    fn update(&self, control: &(impl Control + ?Sized)) {
        self.bits.store(control.spent().unwrap_or(0.0).to_bits(), Ordering::Relaxed);
    }

    fn get(&self) -> Option<f64> {
        self.is_limited.then(|| f64::from_bits(self.bits.load(Ordering::Relaxed)))
    }
}

impl<R: Send> Control for Relay<'_, R> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if let Some(&stop) = self.stop.into_iter().find_map(OnceLock::get) {
            return ControlFlow::Break(stop);
        }
        // One message at a time, so that a slow control is not flooded.
        if self.heard.swap(false, Ordering::Relaxed) {
            let _ = self.sender.send(Message::Progress { number: self.number, progress });
        }
        ControlFlow::Continue(())
    }

    fn spent(&self) -> Option<f64> {
        self.spent.get()
    }
}

impl<R: Send> SnapshotControl for Relay<'_, R> {}

impl<R: Send> MachineControl for Relay<'_, R> {
    fn begin(&mut self, _: SolverKind) {}

    fn end(&mut self) {}
}

/// Calls `work` for each task, in this order, as many at a time as there are threads; `hear` is called on this thread.
/// A task has as many machines as `sizes` says, and progress counts the machines that are done.
pub(crate) fn run<R: Send, C: Control + ?Sized>(
    workers: &Workers,
    sizes: &[usize],
    work: impl Fn(usize, &mut dyn MachineControl) -> R + Sync,
    control: &mut C,
    mut hear: impl FnMut(Event<R>, &mut C),
) {
    let (heard, stop) = (AtomicBool::new(true), OnceLock::new());
    let (sender, receiver) = channel();
    let stops: Vec<OnceLock<Stop>> = sizes.iter().map(|_| OnceLock::new()).collect();
    let spent = Spent::of(control);
    let (heard, stop, work, spent) = (&heard, &stop, &work, &spent);
    let count = sizes.iter().sum::<usize>();
    // A limit on time that is over already is heard before small machines could be done.
    if spent.is_limited
        && let ControlFlow::Break(reason) = control.poll(Progress { machine: (0, count), ..Progress::default() })
        && stop.set(reason).is_ok()
    {
        hear(Event::Broke, control);
    }
    workers.in_scope(|scope| {
        for (number, own) in stops.iter().enumerate() {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let mut relay = Relay { number, sender, heard, stop: [stop, own], spent };
                let result = work(number, &mut relay);
                let _ = relay.sender.send(Message::Done { number, result });
            });
        }
        drop(sender);
        let mut finished = 0;
        for message in receiver {
            match message {
                Message::Progress { number, progress } => {
                    let machine = (finished.min(count - 1), count);
                    if let ControlFlow::Break(reason) = control.poll(Progress { machine, ..progress }) {
                        // A task that has used its part of the time ends alone, unless all of the time is over.
                        let has_time = control.spent().is_some_and(|spent| spent < 1.0);
                        let ends_alone = reason == Stop::TimeLimit && progress.reserved > 0.0 && has_time;
                        let is_new = if ends_alone { &stops[number] } else { stop }.set(reason).is_ok();
                        if is_new && !ends_alone {
                            hear(Event::Broke, control);
                        }
                    }
                    spent.update(control);
                    heard.store(true, Ordering::Relaxed);
                }
                Message::Done { number, result } => {
                    finished += sizes[number];
                    hear(Event::Done(result), control);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the time is over, and none of it belongs to the first task.
    struct HalfTime;

    impl Control for HalfTime {
        fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
            let is_first = progress.reserved == 1.0;
            if is_first { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
        }

        fn spent(&self) -> Option<f64> {
            Some(0.5)
        }
    }

    #[test]
    fn a_task_that_has_used_its_part_of_the_time_ends_alone() {
        let workers = Workers::new(2).unwrap();
        let is_done = AtomicBool::new(false);
        // The first task works until it is told to stop; the second until the first is done, and asks once more.
        let work = |task: usize, control: &mut dyn MachineControl| loop {
            let was_done = is_done.load(Ordering::Acquire);
            let reserved = if task == 0 { 1.0 } else { 0.5 };
            let answer = control.poll(Progress { reserved, ..Progress::default() });
            if answer.is_break() || task == 1 && was_done {
                is_done.store(true, Ordering::Release);
                return (task, answer, control.spent());
            }
        };
        let mut heard = Vec::new();
        run(&workers, &[1, 1], work, &mut HalfTime, |event, _| match event {
            Event::Broke => panic!("the others go on"),
            Event::Done(result) => heard.push(result),
        });
        heard.sort_unstable_by_key(|(task, _, _)| *task);
        assert_eq!(heard[0], (0, ControlFlow::Break(Stop::TimeLimit), Some(0.5)));
        assert_eq!(heard[1], (1, ControlFlow::Continue(()), Some(0.5)));
    }

    #[test]
    fn a_break_is_heard_before_the_machines_that_it_ends() {
        let workers = Workers::new(2).unwrap();
        // Each machine works until it is told to stop.
        let work = |task: usize, control: &mut dyn MachineControl| loop {
            if let ControlFlow::Break(reason) = control.poll(Progress::default()) {
                return (task, reason);
            }
        };
        let mut heard = Vec::new();
        let mut control = |_: Progress| ControlFlow::Break(Stop::Interrupted);
        run(&workers, &[1, 1, 1], work, &mut control, |event, _| match event {
            Event::Broke => heard.push(None),
            Event::Done((task, reason)) => {
                assert_eq!(reason, Stop::Interrupted);
                heard.push(Some(task));
            }
        });
        assert_eq!(heard[0], None);
        heard.sort_unstable();
        assert_eq!(heard, [None, Some(0), Some(1), Some(2)]);
    }
}
