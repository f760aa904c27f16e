//! Ctrl-C: what it means depends on what is being done.
//!
//! | phase | the first Ctrl-C | the second |
//! | --- | --- | --- |
//! | free | ends the program at once: nothing is half-done | |
//! | solving | makes the solver stop and hand back what it has; see [`give_up_after`] and [`end`] | ends the program at once |
//! | saving | is heard after the file is whole | ends the program at once |

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::exit::ExitCode;
use crate::output;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Free,
    Solving,
    Saving,
}

static ASKED: AtomicBool = AtomicBool::new(false);
static PHASE: Mutex<Phase> = Mutex::new(Phase::Free);

/// Starts to listen for Ctrl-C and requests to terminate.
pub(crate) fn listen() {
    // Where the system refuses, Ctrl-C ends the program as it would any other.
    let _ = ctrlc::set_handler(|| {
        // Held until the program has ended, so that no file is begun meanwhile.
        let phase = PHASE.lock().unwrap_or_else(PoisonError::into_inner);
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || *phase == Phase::Free {
            output::say("interrupted");
            std::process::exit(ExitCode::Interrupted as i32);
        }
    });
}

/// Whether the user has asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Ends the program at once, with these words: what is to be kept has been kept.
pub(crate) fn end(last_words: impl FnOnce()) -> ! {
    // Held until the program has ended, so that nobody else speaks.
    let _phase = PHASE.lock().unwrap_or_else(PoisonError::into_inner);
    last_words();
    std::process::exit(ExitCode::Interrupted as i32)
}

/// Ends the program after a while, unless the solver has come back by then: to certify what it has may take long, and the
/// user does not wait. `last_words` are said first.
pub(crate) fn give_up_after(patience: Duration, last_words: impl FnOnce() + Send + 'static) {
    let watch = move || {
        std::thread::sleep(patience);
        // Held until the program has ended, so that nobody else speaks.
        let phase = PHASE.lock().unwrap_or_else(PoisonError::into_inner);
        if *phase == Phase::Solving {
            last_words();
            std::process::exit(ExitCode::Interrupted as i32);
        }
    };
    // Without a thread the user waits for the certificate.
    let _ = std::thread::Builder::new().spawn(watch);
}

/// Does some work in a phase of its own.
pub(crate) fn during<T>(phase: Phase, work: impl FnOnce() -> T) -> T {
    let enter = |phase| std::mem::replace(&mut *PHASE.lock().unwrap_or_else(PoisonError::into_inner), phase);
    let before = enter(phase);
    let result = work();
    enter(before);
    result
}
