//! What goes wrong, said with the way out.

use std::fmt;

/// An error text and a line of help.
pub(crate) struct Failure {
    what: String,
    help: String,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { what: what.into(), help: help.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\nhelp: {}", self.what, self.help)
    }
}
