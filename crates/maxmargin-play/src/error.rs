//! What can be wrong with a request, with the way out.

use serde::Serialize;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Error {
    /// What was found, and what is allowed.
    pub error: String,
    /// The way out.
    pub help: String,
}

impl Error {
    pub(crate) fn new(error: impl Into<String>, help: impl Into<String>) -> Self {
        Error { error: error.into(), help: help.into() }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.error)
    }
}

impl std::error::Error for Error {}

impl From<maxmargin::Error> for Error {
    fn from(error: maxmargin::Error) -> Self {
        Error::new(error.to_string(), error.help())
    }
}

impl From<maxmargin_io::Error> for Error {
    fn from(error: maxmargin_io::Error) -> Self {
        Error::new(error.to_string(), error.help())
    }
}

impl From<maxmargin_plot::Error> for Error {
    fn from(error: maxmargin_plot::Error) -> Self {
        Error::new(error.to_string(), error.help())
    }
}
