//! The arguments of `verify`.

use std::path::PathBuf;

use clap::Args;

use super::review::Review;

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
    #[command(flatten)]
    pub(crate) review: Review,
    /// The share of rows that training kept out, with the same --seed
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) holdout: Option<f64>,
    /// Draw the margins that the certificate is about, or the residuals of a regression, to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}
