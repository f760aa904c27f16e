//! The arguments of `kernel-check`.

use std::path::PathBuf;

use clap::Args;
use maxmargin::data::ScalingKind;

use super::kernel::KernelArguments;
use super::reading::Reading;
use super::values::scaling;

/// Ask whether a function is a kernel on some data (Mercer's condition)
#[derive(Args, Debug)]
#[command(after_help = "\
Forms the table of kernel values of at most --rows rows, and looks at its eigenvalues. A function is a kernel only when none is \
negative; a model trained with one that is not has no certificate.

Examples:
  maxmargin kernel-check --kernel rbf iris
  maxmargin kernel-check --kernel sigmoid --gamma 0.1 --coef0 -1 blobs
  maxmargin kernel-check --kernel \"rbf * (linear + 1*polynomial(degree=2))\" mine.csv --strict")]
pub(crate) struct KernelCheck {
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// How many rows to look at, spread evenly over the data
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=5000))]
    pub(crate) rows: u64,
    /// The columns to look at, by name, number counted from 1, or range (1-5)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Scale the columns first
    #[arg(long, value_name = "WAY", default_value = "none", value_parser = scaling())]
    pub(crate) scale: ScalingKind,
    /// Exit with 1 when it is no kernel
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
