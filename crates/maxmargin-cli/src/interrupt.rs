//! Ctrl-C: what it means depends on what is being done.
//!
//! | phase | the first Ctrl-C | the second |
//! | --- | --- | --- |
//! | free | ends the program at once: nothing is half-done | |
//! | solving | makes the solver stop and hand back what it has | ends the program at once |
//! | saving | is heard after the file is whole | ends the program at once |

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Does some work in a phase of its own.
pub(crate) fn during<T>(phase: Phase, work: impl FnOnce() -> T) -> T {
    let enter = |phase| std::mem::replace(&mut *PHASE.lock().unwrap_or_else(PoisonError::into_inner), phase);
    let before = enter(phase);
    let result = work();
    enter(before);
    result
}
