//! The arguments of `suspects`.

use clap::Args;

use super::review::Review;

/// List the rows that a model had to give up on: likely wrong labels, largest residuals, outliers
#[derive(Args, Debug)]
#[command(after_help = "\
A row is listed by its slack: what it lacks of lying on its own side of the margin, the largest over its machines. Above 1 the row is \
on the wrong side, above 2 beyond the other class's margin. For a regression it is the residual beyond epsilon, for one class \
how far outside the row lies. With the training data, alpha is told as a part of its bound. Read the data as in training.

Examples:
  maxmargin suspects iris.mm iris
  maxmargin suspects mine.mm mine.csv --top 50 --json")]
pub(crate) struct Suspects {
    #[command(flatten)]
    pub(crate) review: Review,
    /// How many rows to list, the worst first
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 20)]
    pub(crate) top: usize,
}
