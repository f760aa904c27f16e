//! Machines side by side under one control: they work on the threads of a team, and are heard on the calling thread.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::control::{Control, Progress, Stop};
use crate::solver::SolverKind;
use crate::workers::Workers;

/// The control of one machine in a training.
pub(crate) trait MachineControl: Control {
    /// The machine's solver is known.
    fn begin(&mut self, kind: SolverKind);
    /// The solver is done; the certificate follows.
    fn end(&mut self);
}

enum Message<R> {
    Progress(Progress),
    Done { number: usize, result: R, broke: bool },
}

/// What a machine sees of the control: it says how far it is when somebody listens, and learns whether to stop.
struct Relay<'a, R> {
    sender: Sender<Message<R>>,
    heard: &'a AtomicBool,
    stop: &'a OnceLock<Stop>,
    broke: bool,
}

impl<R> Control for Relay<'_, R> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if let Some(&stop) = self.stop.get() {
            self.broke = true;
            return ControlFlow::Break(stop);
        }
        // One word at a time, so that a slow listener is not talked over.
        if self.heard.swap(false, Ordering::Relaxed) {
            let _ = self.sender.send(Message::Progress(progress));
        }
        ControlFlow::Continue(())
    }
}

impl<R> MachineControl for Relay<'_, R> {
    fn begin(&mut self, _: SolverKind) {}

    fn end(&mut self) {}
}

/// Calls `work` for each machine that waits, in this order, as many at a time as there are threads; `done(machine, result,
/// whether the control broke it)` is called on this thread. Progress counts the machines that are done, of `count`.
pub(crate) fn run<R: Send>(
    workers: &Workers,
    waiting: &[usize],
    count: usize,
    work: impl Fn(usize, &mut dyn MachineControl) -> R + Sync,
    control: &mut dyn Control,
    mut done: impl FnMut(usize, R, bool, &mut dyn Control),
) {
    let (heard, stop) = (AtomicBool::new(true), OnceLock::new());
    let (sender, receiver) = channel();
    let (heard, stop, work) = (&heard, &stop, &work);
    workers.in_scope(|scope| {
        for &number in waiting {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let mut relay = Relay { sender, heard, stop, broke: false };
                let result = work(number, &mut relay);
                let Relay { sender, broke, .. } = relay;
                let _ = sender.send(Message::Done { number, result, broke });
            });
        }
        drop(sender);
        let mut finished = count - waiting.len();
        for message in receiver {
            match message {
                Message::Progress(progress) => {
                    let machine = (finished.min(count - 1), count);
                    if let ControlFlow::Break(reason) = control.poll(Progress { machine, ..progress }) {
                        let _ = stop.set(reason);
                    }
                    heard.store(true, Ordering::Relaxed);
                }
                Message::Done { number, result, broke } => {
                    finished += 1;
                    done(number, result, broke, control);
                }
            }
        }
    });
}
