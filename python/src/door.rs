//! The one way out of the interpreter and back.
//!
//! Work is done on a thread of its own, with the interpreter's lock released. The calling thread waits, looks every few milliseconds
//! whether somebody pressed Ctrl-C, and shows progress. It does not wait long for work that it has given up: whatever that
//! still does, it does on data that it keeps alive itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use maxmargin::Progress;
use pyo3::prelude::*;

use crate::errors::Fault;

/// How often the calling thread looks up.
const TICK: Duration = Duration::from_millis(20);
/// How often progress is shown.
const SHOWN_EVERY: Duration = Duration::from_millis(100);
/// How long work that was interrupted has to come to an end by itself, and to keep a checkpoint.
const PATIENCE: Duration = Duration::from_millis(120);
/// Solvers recurse little, but the stack of a main thread is what they were tested with.
const STACK: usize = 8 << 20;

/// What the calling thread and the work tell each other.
#[derive(Default)]
pub(crate) struct Line {
    interrupted: AtomicBool,
    latest: Mutex<Option<Progress>>,
    /// Set where the work is done on the calling thread, which then has to look up by itself.
    own: Option<OwnThread>,
}

/// What work on the calling thread looks up with: who sees progress, when they last did, and what Python had to say.
struct OwnThread {
    watch: Watch,
    shown: Mutex<Instant>,
    raised: Mutex<Option<PyErr>>,
}

impl Line {
    /// Whether the work is no longer wanted.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Says how far the work is. On the calling thread this is the moment to look for Ctrl-C.
    pub(crate) fn say(&self, progress: Progress) {
        let Some(own) = &self.own else {
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
            return;
        };
        let answer = Python::attach(|py| {
            py.check_signals()?;
            let mut shown = own.shown.lock().unwrap_or_else(PoisonError::into_inner);
            if shown.elapsed() < SHOWN_EVERY {
                return Ok(());
            }
            *shown = Instant::now();
            own.watch.show(py, progress)
        });
        if let Err(error) = answer {
            *own.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.interrupted.store(true, Ordering::Relaxed);
        }
    }

    fn hear(&self) -> Option<Progress> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Who wants to see progress: a function of (machine, machines, iteration, violation, gap).
#[derive(Default)]
pub(crate) struct Watch(pub(crate) Option<Py<PyAny>>);

impl Watch {
    fn show(&self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        let Some(watcher) = &self.0 else { return Ok(()) };
        let (machine, machines) = progress.machine;
        watcher.call1(py, (machine, machines, progress.iteration, progress.violation, progress.gap)).map(drop)
    }
}

/// Does `work` on a thread of its own, to its end or until it is interrupted.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    watch: Watch,
    work: impl FnOnce(&Arc<Line>) -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let line = Arc::new(Line::default());
    let (sender, mut receiver) = sync_channel(1);
    let own = Arc::clone(&line);
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&own)));
        // Nobody listens any more when the work was given up.
        let _ = sender.send(result.unwrap_or_else(|panic| Err(Fault::Bug(words(&*panic)))));
    };
    let thread = std::thread::Builder::new().name("maxmargin".into()).stack_size(STACK).spawn(body);
    if let Err(error) = thread {
        return Err(Fault::Input {
            what: format!("no thread could be started: {error}"),
            help: "ask for fewer threads".into(),
        }
        .into());
    }
    let mut shown = Instant::now();
    loop {
        let heard;
        (heard, receiver) = wait(py, receiver, TICK);
        match heard {
            Ok(result) => return Ok(result?),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Fault::Bug("the work ended without a word".into()).into());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let mut answer = py.check_signals();
        if answer.is_ok() && shown.elapsed() >= SHOWN_EVERY {
            shown = Instant::now();
            answer = line.hear().map_or(Ok(()), |progress| watch.show(py, progress));
        }
        if let Err(error) = answer {
            line.interrupted.store(true, Ordering::Relaxed);
            let _ = wait(py, receiver, PATIENCE);
            return Err(error);
        }
    }
}

/// Does work that is likely to be short on the calling thread, where no other has to be started and woken. Its control says how far it is
/// every few milliseconds, which is when Ctrl-C is heard.
pub(crate) fn run_here<T: Send>(
    py: Python<'_>,
    watch: Watch,
    work: impl FnOnce(&Arc<Line>) -> Result<T, Fault> + Send,
) -> PyResult<T> {
    let own = OwnThread { watch, shown: Mutex::new(Instant::now()), raised: Mutex::new(None) };
    let line = Arc::new(Line { own: Some(own), ..Line::default() });
    let result = brief(py, || work(&line));
    let raised = line.own.as_ref().and_then(|own| own.raised.lock().unwrap_or_else(PoisonError::into_inner).take());
    match raised {
        Some(error) => Err(error),
        None => result,
    }
}

type Heard<T> = Result<Result<T, Fault>, RecvTimeoutError>;

/// Waits for a result with the interpreter's lock released.
fn wait<T: Send>(
    py: Python<'_>,
    receiver: Receiver<Result<T, Fault>>,
    time: Duration,
) -> (Heard<T>, Receiver<Result<T, Fault>>) {
    py.detach(move || (receiver.recv_timeout(time), receiver))
}

/// Does work that is soon done on the calling thread, with the interpreter's lock released.
pub(crate) fn brief<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Fault> + Send) -> PyResult<T> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    Ok(result.unwrap_or_else(|panic| Err(Fault::Bug(words(&*panic))))?)
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a word".into())
}
