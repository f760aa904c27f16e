//! The arguments of `verify`.

use std::path::PathBuf;

use clap::Args;

use super::reading::Reading;

/// Check a model's certificate against its training data, from scratch
#[derive(Args, Debug)]
#[command(after_help = "\
Every number of the certificate is computed anew in double precision; nothing in the model is trusted but its coefficients. \
Exit code 0 when the certificate is true, 1 when it is not. The model remembers how its data was read, and which \
rows were held out; flags are needed only for models that do not.

Examples:
  maxmargin verify iris.mm iris
  maxmargin verify mine.mm mine.csv --json")]
pub(crate) struct Verify {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The data that it was trained on
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The share of rows that training kept out, with the same --seed
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) holdout: Option<f64>,
    /// There is no label column (one-class)
    #[arg(long, conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw the margins that the certificate is about, or the residuals of a regression, to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
