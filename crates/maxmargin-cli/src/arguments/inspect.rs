//! The arguments of `inspect`.

use std::path::PathBuf;

use clap::Args;

use super::reading::Reading;

/// Show what a model is made of: parameters, machines, certificates and geometry
#[derive(Args, Debug)]
#[command(after_help = "\
With DATA, the geometry that needs points is shown too: the canonical form and margin of each hyperplane, the nearest \
points of the classes' convex hulls, and the risk bound.

Examples:
  maxmargin inspect iris.mm
  maxmargin inspect e1.mm e1
  maxmargin inspect e2.mm e2 --mu 0.2
  maxmargin inspect mine.mm --json")]
pub(crate) struct Inspect {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The training data, or other data with its columns and labels
    #[arg(value_name = "DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Reduce the convex hulls: no point weighs more than this, from 1/rows of a class to 1
    #[arg(long, value_name = "MU", default_value_t = 1.0, requires = "data", allow_hyphen_values = true)]
    pub(crate) mu: f64,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
