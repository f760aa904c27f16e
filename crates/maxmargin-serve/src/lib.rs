//! The HTTP layer of our servers: it knows nothing of models, and a [`Site`] knows nothing of HTTP.
//!
//! ```text
//! connection --accept--> request --gate (host, origin, method, length)--> body --Site::answer(cancelled)--> answer
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `limits.rs` | how much of everything |
//! | `gate.rs` | who may ask: hosts, origins, methods, lengths |
//! | `server.rs` | connections, bodies, threads for the work, and cancelling |
//!
//! hyper alone, with an accept loop of our own, has every limit in one place: a framework above it hides some (its header timeout is off
//! without a timer, its body timeout begins anew at each frame) and would have to be undone.
#![warn(missing_docs)]

mod gate;
mod limits;
mod server;

use std::sync::atomic::AtomicBool;

pub use limits::Limits;
pub use server::{Server, StopHandle};

/// A request that has passed the gate.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The path, without what comes after `?`.
    pub path: &'a str,
    /// The body of a POST; none for GET and HEAD.
    pub body: Option<&'a [u8]>,
}

/// What a site says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The status of HTTP.
    pub status: u16,
    /// The media type.
    pub media_type: &'static str,
    /// The bytes.
    pub body: Vec<u8>,
}

/// Answers requests. It is called on a thread of its own for each request, and may take long.
pub trait Site: Send + Sync + 'static {
    /// Answers. `cancelled` becomes true when nobody waits for the answer any more, or its time is over: then any answer will do, soon.
    fn answer(&self, asked: Asked<'_>, cancelled: &AtomicBool) -> Said;

    /// Headers of every answer: what the site's pages may do.
    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[]
    }
}
