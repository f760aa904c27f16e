//! The arguments of `explain`.

use clap::Args;

use super::review::Review;

/// Say why a model predicts what it does of some rows: the terms that decided, and how far the boundary is
#[derive(Args, Debug)]
#[command(after_help = "\
A decision value is a sum: of a coefficient times a kernel value for each support vector, or of a weight times a value for each \
column of a linear model, and of the bias. The largest terms are shown with their share of the sum of all |terms|. The \
distance to the boundary is one in the columns (scaled, where the model scales them) of a linear model, else one in the kernel's space. \
Of several classes, the machines of the class that won are shown.

Examples:
  maxmargin explain iris.mm iris --row 71
  maxmargin explain mine.mm new.csv --row 3 --row 7 --top 5
  maxmargin explain mine.mm new.csv --row 3 --all --json")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) review: Review,
    /// Which row, counted from 1; may be given several times
    #[arg(long = "row", value_name = "N", required = true, allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: Vec<u64>,
    /// How many terms of each machine to show, the largest first
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 10)]
    pub(crate) top: usize,
    /// Show all machines, and not those of the class that won alone
    #[arg(long)]
    pub(crate) all: bool,
}
