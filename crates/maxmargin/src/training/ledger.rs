//! The work of all machines of a training, and how they share a limit on time.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::control::{Control, Progress, Stop, Work};
use crate::relay::MachineControl;
use crate::solver::{Snapshot, SolverKind};

/// The part of a limit on time that machines share, where a training goes on from a checkpoint. The first machine has the rest beside its
/// share, so that a training that is resumed often gets on. A larger part is fairer; with a smaller one machines to come have less time.
const SHARED_ON_RESUME: f64 = 0.5;

/// The work that all machines of a training have done.
pub(super) struct Ledger {
    done: Mutex<f64>,
    /// Machines that work at the same time.
    at_once: f64,
    /// The part of a limit on time that machines share by their rows.
    shared: f64,
}

impl Ledger {
    /// Nothing is done yet, and machines follow each other.
    pub(super) fn new(is_resumed: bool) -> Self {
        let shared = if is_resumed { SHARED_ON_RESUME } else { 1.0 };
        Ledger { done: Mutex::new(0.0), at_once: 1.0, shared }
    }

    /// Nothing is done yet, and this many machines work at the same time.
    pub(super) fn side_by_side(&self, threads: usize) -> Self {
        Ledger { done: Mutex::new(0.0), at_once: threads as f64, shared: self.shared }
    }

    /// For each machine, in the order in which they begin, the part of a limit on time that belongs to those after it. The parts are
    /// as the rows; a machine that needs less than its part leaves the rest to the next.
    pub(super) fn reserved(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut reserved: Vec<f64> = rows.map(|rows| rows as f64).collect();
        let all: f64 = reserved.iter().sum();
        let mut after = 0.0;
        for part in reserved.iter_mut().rev() {
            (*part, after) = (self.shared * after / all.max(1.0), after + *part);
        }
        reserved
    }

    fn add(&self, work: f64) -> f64 {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += work;
        *done
    }
}

/// The control of one machine, or of a group, whose work is booked in the ledger of the training.
pub(super) struct Booked<'a> {
    inner: &'a mut dyn MachineControl,
    ledger: &'a Ledger,
    reserved: f64,
    /// What the search under way said last.
    own: Work,
    /// Why the machine ends where it is.
    stop: Option<Stop>,
}

impl<'a> Booked<'a> {
    pub(super) fn new(inner: &'a mut dyn MachineControl, ledger: &'a Ledger, reserved: f64) -> Self {
        Booked { inner, ledger, reserved, own: Work::default(), stop: None }
    }

    /// Adds the work since the last word, and hands back that of the training. A search that begins anew counts from 0.
    fn book(&mut self, own: Work) -> Work {
        let new = if own.done < self.own.done { own.done } else { own.done - self.own.done };
        // Who does not count says 0, which is no new search.
        let done = self.ledger.add(if own.done > 0.0 { new } else { 0.0 });
        if own.done > 0.0 {
            self.own = own;
        }
        // The end is the machine's own. Others that work at the same time slow it down, in the unit of all work.
        Work { done, to_end: own.to_end * self.ledger.at_once }
    }

    /// Books work that no solver has counted.
    pub(super) fn add(&self, work: f64) {
        self.ledger.add(work);
    }

    /// Whether nothing was booked yet by any machine, so that nobody knows how long work takes.
    pub(super) fn is_new(&self) -> bool {
        self.ledger.add(0.0) == 0.0
    }

    /// Every poll from now on breaks for this reason.
    pub(super) fn stop_at(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// The machine is finished: its end is work that was done.
    pub(super) fn close(&self) {
        self.ledger.add(self.own.to_end);
    }
}

impl Control for Booked<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if let Some(stop) = self.stop {
            return ControlFlow::Break(stop);
        }
        let work = self.book(progress.work);
        self.inner.poll(Progress { work, reserved: self.reserved, ..progress })
    }

    fn wants_snapshot(&mut self, progress: &Progress) -> bool {
        self.inner.wants_snapshot(progress)
    }

    fn spent(&self) -> Option<f64> {
        self.inner.spent()
    }

    fn work_left(&self) -> Option<f64> {
        let (spent, done) = (self.inner.spent()?, self.ledger.add(0.0));
        let left = done * ((1.0 - self.reserved) / spent - 1.0) / self.ledger.at_once;
        (spent > 0.0 && done > 0.0).then_some(left.max(0.0))
    }

    fn keep_snapshot(&mut self, snapshot: Snapshot) {
        self.inner.keep_snapshot(snapshot);
    }
}

impl MachineControl for Booked<'_> {
    fn begin(&mut self, kind: SolverKind) {
        self.inner.begin(kind);
    }

    fn end(&mut self) {
        self.inner.end();
    }
}
