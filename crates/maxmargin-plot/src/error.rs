//! What can go wrong, said so that the reader knows what was found, what is allowed, and the way out.

use maxmargin::error::quoted;
use thiserror::Error as ThisError;

/// An error of the picture maker. Its text is one line, lower case, without a full stop; [`Error::help`] is the way out.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An option outside of its range.
    #[error("{name} is {found}, but it must be {allowed}")]
    Parameter {
        /// The option's name, as the user writes it.
        name: &'static str,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A file name that does not say which format is wanted.
    #[error("the picture's name {} ends neither in .svg nor in .png", quoted(.path))]
    Format {
        /// The name.
        path: String,
    },
    /// The two columns of the picture cannot be found in the model.
    #[error("{what}")]
    Columns {
        /// What was found.
        what: String,
        /// The way out.
        help: String,
    },
    /// The kernel knows rows by their numbers alone.
    #[error("a model with a precomputed kernel has no columns, so there is no plane to draw")]
    Precomputed,
    /// Nothing says how far the axes reach.
    #[error("{what}")]
    NoRange {
        /// What is missing.
        what: String,
    },
    /// A kind of picture that is made of rows.
    #[error("the kind {kind} is drawn from rows, and there are none")]
    NoData {
        /// The kind's name.
        kind: &'static str,
    },
    /// A kind of picture that does not show what this model is.
    #[error("{what}")]
    Unsuited {
        /// What was found.
        what: String,
        /// The way out.
        help: String,
    },
    /// The model refused the data or the grid of the picture.
    #[error(transparent)]
    Model(#[from] maxmargin::Error),
    /// The drawing library failed.
    #[error("the picture could not be drawn: {0}")]
    Drawing(String),
}

impl Error {
    /// The way out: one sentence that says what to do.
    pub fn help(&self) -> String {
        match self {
            Error::Parameter { name, allowed, .. } => format!("choose {name} {allowed}"),
            Error::Format { .. } => "end the name in .svg (lines and text) or .png (pixels)".into(),
            Error::Columns { help, .. } | Error::Unsuited { help, .. } => help.clone(),
            Error::Precomputed => "train with another kernel, such as rbf or polynomial".into(),
            Error::NoRange { .. } => "give the data that the model was trained on".into(),
            Error::NoData { .. } => "give the data that the model was trained on, or new rows with labels".into(),
            Error::Model(error) => error.help(),
            Error::Drawing(_) => "choose the other format, or another size".into(),
        }
    }
}
