//! The work of all machines of a training, and how they share a limit on time.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::checkpoint::FinishedMachine;
use crate::control::{Control, Progress, Step, Stop, Work};
use crate::kernel::Gram;
use crate::relay::MachineControl;
use crate::solver::{self, Snapshot, SnapshotControl, SolverKind};

/// The part of a limit on time that machines share, where a training goes on from a checkpoint. The first machine has the rest beside its
/// share, so that a training that is resumed often gets on. A larger part is fairer; with a smaller one machines to come have less time.
const SHARED_ON_RESUME: f64 = 0.5;

/// Rows whose kernel values are computed to see how long that takes: all of the first with all of the second. With more of them the time is
/// known better, and more of it is gone.
const MEASURED: (usize, usize) = (2_048, 512);
/// Before, the first are taken with one in this many of the second.
const PART_FIRST: usize = 4;

/// The least part of a limit on time that machines go on with. Below it, going on costs more in second
/// certificates than it gains.
const LEAST_LEFT: f64 = 0.15;

/// What a kernel value takes in double precision, beside one in single precision.
const OF_DOUBLE: f64 = 2.0;

/// The work that all machines of a training have done.
pub(super) struct Ledger {
    done: Mutex<f64>,
    /// The part of a limit on time that a unit of work takes at the end; 0 where that is not known.
    price: f64,
    /// The part of a limit on time that machines share by their rows.
    shared: f64,
    /// Whether a limit on time may change the way that searches take.
    is_free: bool,
}

impl Ledger {
    /// Nothing is done yet.
    pub(super) fn new(is_resumed: bool, is_free: bool) -> Self {
        let shared = if is_resumed { SHARED_ON_RESUME } else { 1.0 };
        Ledger { done: Mutex::new(0.0), price: 0.0, shared, is_free }
    }

    /// Whether a limit on time may change the way that searches take: no checkpoint is kept that they could be resumed from.
    pub(super) fn is_free(&self) -> bool {
        self.is_free
    }

    /// Sees what work costs, under a limit on time: computes some kernel values as a certificate does, and then more of them. What both take
    /// alike, to lay out rows and to wake threads, is no part of the price.
    pub(super) fn measure(&mut self, gram: Gram<'_>, rows: usize, control: &mut dyn Control) {
        let places = |few: usize| -> Vec<usize> { (0..few.min(rows)).map(|k| k * rows / few.min(rows)).collect() };
        let (left, right) = (places(MEASURED.0), places(MEASURED.1));
        let mut time_of = |left: &[usize], right: &[usize]| -> Option<(f64, f64)> {
            let before = control.spent()?;
            gram.product(left, right, &vec![1.0; right.len()]);
            let work = OF_DOUBLE * (left.len() * right.len()) as f64;
            let work_done = Work { done: self.add(work), to_end: 0.0 };
            // Whoever wants to break can do so at the next poll.
            let never = Progress { work: work_done, reserved: f64::NEG_INFINITY, ..Progress::default() };
            let _ = control.poll(never);
            Some((control.spent()? - before, work))
        };
        // The first product lays out all data, and counts as none.
        let _ = time_of(&left[..1], &right);
        let (less, more) = (time_of(&left, &right[..right.len().div_ceil(PART_FIRST)]), time_of(&left, &right));
        let Some(((less, few), (more, many))) = less.zip(more) else { return };
        let price = if more > less && many > few { (more - less) / (many - few) } else { more / many };
        self.price = if price.is_finite() { price.max(0.0) } else { 0.0 };
    }

    /// For each machine, in the order in which they begin, the part of a limit on time that belongs to those after it. What is left is
    /// shared by rows; a machine that needs less than its part leaves the rest to the next.
    pub(super) fn reserved(&self, spent: Option<f64>, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let shared = self.shared * (1.0 - spent.unwrap_or(0.0)).max(0.0);
        let mut reserved: Vec<f64> = rows.map(|rows| rows as f64).collect();
        let all: f64 = reserved.iter().sum();
        let mut after = 0.0;
        for part in reserved.iter_mut().rev() {
            (*part, after) = (shared * after / all.max(1.0), after + *part);
        }
        reserved
    }

    /// Whether the time that is left is worth going on with machines that were broken off: it is more than twice what their ends take.
    pub(super) fn has_time_for<'a>(&self, spent: f64, broken: impl Iterator<Item = &'a FinishedMachine>) -> bool {
        let values = |finished: &FinishedMachine| (finished.expansion.rows.len() * finished.machine.rows) as f64;
        let ends = self.price * solver::OF_ENDING * broken.map(values).sum::<f64>();
        1.0 - spent > (2.0 * ends).max(LEAST_LEFT)
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
        self.own = Work { done: if own.done > 0.0 { own.done } else { self.own.done }, to_end: own.to_end };
        Work { done, to_end: own.to_end }
    }

    /// The part of a limit on time that this work takes; `None` where that is not known.
    pub(super) fn time_of(&self, work: f64) -> Option<f64> {
        let price = self.ledger.price;
        (price > 0.0 && self.ledger.is_free && self.inner.spent().is_some()).then_some(price * work)
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
        self.inner.poll(Progress { work, price: self.ledger.price, reserved: self.reserved, ..progress })
    }

    fn spent(&self) -> Option<f64> {
        self.inner.spent()
    }

    fn work_left(&self) -> Option<f64> {
        let (spent, price) = (self.inner.spent()?, self.ledger.price);
        (price > 0.0 && self.ledger.is_free).then(|| ((1.0 - self.reserved - spent) / price).max(0.0))
    }

    fn wants_steps(&self) -> bool {
        self.inner.wants_steps()
    }

    fn step(&mut self, step: Step) {
        self.inner.step(step);
    }
}

impl SnapshotControl for Booked<'_> {
    fn wants_snapshot(&mut self, progress: &Progress) -> bool {
        self.inner.wants_snapshot(progress)
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
