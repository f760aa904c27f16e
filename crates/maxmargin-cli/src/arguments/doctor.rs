//! The arguments of `doctor`.

use std::path::PathBuf;

use clap::Args;
use maxmargin::data::ScalingKind;

use super::kernel::KernelArguments;
use super::reading::Reading;
use super::values::{TASKS, TaskKind, one_of, scaling};

/// Say what may be wrong with data, with a kernel and a penalty for it, or with a fit, and what to do about it
#[derive(Args, Debug)]
#[command(after_help = "\
Looks at columns (ranges, constants, copies, zeros, sizes), rows (repeated, contradictory), labels (rare, imbalanced, numeric), and with \
--kernel or MODEL at kernel values and C beside them. With MODEL also at the fit: whether it converged, why it was slow, \
whether it is better than the most frequent class. Exit code 0, or 1 with --strict when there is a warning.

Examples:
  maxmargin doctor mine.csv
  maxmargin doctor mine.csv --kernel rbf --gamma 0.1 -C 1000 --scale standard
  maxmargin doctor mine.csv mine.mm --strict")]
pub(crate) struct Doctor {
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// A model, trained on the data or on other data with its columns
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The penalty C to judge beside the kernel
    #[arg(
        short = 'C',
        long = "C",
        value_name = "C",
        help_heading = "Kernel",
        allow_hyphen_values = true,
        conflicts_with = "model"
    )]
    pub(crate) c: Option<f64>,
    /// Judge the kernel on columns scaled so
    #[arg(long, value_name = "WAY", default_value = "none", conflicts_with = "model", value_parser = scaling())]
    pub(crate) scale: ScalingKind,
    /// What the labels are for [default: classification, or the model's]
    #[arg(long, value_name = "TASK", conflicts_with = "model", value_parser = one_of(&TASKS))]
    pub(crate) task: Option<TaskKind>,
    /// The columns to look at, by name, number counted from 1, or range (1-5)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with = "model")]
    pub(crate) columns: Option<Vec<String>>,
    /// There is no label column
    #[arg(long, conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Exit with 1 when there is a warning
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
