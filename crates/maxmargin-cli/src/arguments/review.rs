//! What `explain`, `suspects` and `verify` share: a model and data to look at together.

use std::path::PathBuf;

use clap::Args;

use super::reading::Reading;

/// A model, data for it, and how to tell what was found.
#[derive(Args, Debug)]
pub(crate) struct Review {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The data: a file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// There is no label column
    #[arg(long, conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
