//! Code of others that panics when a file is damaged.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread reads a file by code that panics when the file is damaged: such a panic becomes an error, and a hook
/// that ends the program should let it pass.
pub fn reads_guarded() -> bool {
    GUARDED.get()
}

/// Does some work with a file that may be damaged; `None` when it panics.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.ok()
}
