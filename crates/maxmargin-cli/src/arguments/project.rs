//! The arguments of `project`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use maxmargin::data::ScalingKind;

use super::reading::Reading;
use super::values::scaling;

/// Project rows onto the directions that tell their classes apart (Fisher's discriminant), as CSV
#[derive(Args, Debug)]
#[command(after_help = "\
K classes span K - 1 dimensions at most. The columns are called ld1, ld2, ..., the most telling one first; the label is the last. \
With fewer rows than columns choose a --shrinkage, or auto.

Examples:
  maxmargin project iris --onto 2 -o flat.csv
  maxmargin project genes.csv --shrinkage auto -o flat.csv
  maxmargin project mine.csv --apply new.csv -o new-flat.csv")]
pub(crate) struct Project {
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// How many dimensions [default: one fewer than there are classes]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub(crate) onto: Option<usize>,
    /// Where to write the rows [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the rows of this data instead, projected as those of DATA ask for
    #[arg(long, value_name = "DATA")]
    pub(crate) apply: Option<PathBuf>,
    /// What is added to the scatter matrix: from 0 (nothing) to 1 (a multiple of the identity), or auto (Ledoit and Wolf)
    #[arg(long, value_name = "NUMBER", default_value = "0", allow_hyphen_values = true)]
    pub(crate) shrinkage: String,
    /// The columns to look at, by name, number counted from 1, or range (1-5)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Scale the columns first
    #[arg(long, value_name = "WAY", default_value = "none", value_parser = scaling())]
    pub(crate) scale: ScalingKind,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
