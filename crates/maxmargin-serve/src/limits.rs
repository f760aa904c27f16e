//! How much of everything.

use std::time::Duration;

/// The limits of a server. Each has a test that fails without it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the request line and the headers. hyper takes no fewer than 8 KiB.
    pub header_bytes: usize,
    /// Time from the first byte of a request to the end of its headers.
    pub header_time: Duration,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Time of a body from its first byte to its last: a deadline, not a pause.
    pub body_time: Duration,
    /// Letters of a path.
    pub path_bytes: usize,
    /// Connections at a time; more wait to be accepted.
    pub connections: usize,
    /// Requests that are worked on at a time; more wait.
    pub at_work: usize,
    /// Time of the work on a request, after which it is cancelled.
    pub work_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            header_bytes: 16 << 10,
            header_time: Duration::from_secs(10),
            body_bytes: 8 << 20,
            body_time: Duration::from_secs(10),
            path_bytes: 2 << 10,
            connections: 64,
            at_work: 4,
            work_time: Duration::from_secs(60),
        }
    }
}
