//! The arguments of the commands that say why: of a prediction, of a label, of data and of a fit.

use std::path::PathBuf;

use clap::Args;
use maxmargin::data::ScalingKind;

use super::{KernelArguments, Reading, TaskKind, one_of, scaling};

/// Say why a model predicts what it does of some rows: the terms that decided, and how far the boundary is
#[derive(Args, Debug)]
#[command(after_help = "\
A decision value is a sum: of a coefficient times a kernel value for each support vector, or of a weight times a value for each
column of a linear model, and of the bias. The largest terms are shown with their share of the sum of all |terms|. The
distance to the boundary is one in the columns (scaled, where the model scales them) of a linear model, else one in the kernel's space.
Of several classes, the machines of the class that won are shown.

Examples:
  maxmargin explain iris.mm iris --row 71
  maxmargin explain mine.mm new.csv --row 3 --row 7 --top 5
  maxmargin explain mine.mm new.csv --row 3 --all --json")]
pub(crate) struct Explain {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The data: a file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Which row, counted from 1; may be given several times
    #[arg(long = "row", value_name = "N", required = true, allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: Vec<u64>,
    /// How many terms of each machine to show, the largest first
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 10)]
    pub(crate) top: usize,
    /// Show all machines, and not those of the class that won alone
    #[arg(long)]
    pub(crate) all: bool,
    /// A CSV file without a label column
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

/// List the rows that a model had to give up on: likely wrong labels, largest residuals, outliers
#[derive(Args, Debug)]
#[command(after_help = "\
A row is listed by its slack: what it lacks of lying on its own side of the margin, the largest over its machines. Above 1 the row is
on the wrong side, above 2 beyond the other class's margin. For a regression it is the residual beyond epsilon, for one class
how far outside the row lies. With the training data, alpha is told as a part of its bound. Read the data as in training.

Examples:
  maxmargin suspects iris.mm iris
  maxmargin suspects mine.mm mine.csv --top 50 --json")]
pub(crate) struct Suspects {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The data that it was trained on, or other data with labels
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// How many rows to list, the worst first
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 20)]
    pub(crate) top: usize,
    /// There is no label column (one-class)
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

/// Say what may be wrong with data, with a kernel and a penalty for it, or with a fit, and what to do about it
#[derive(Args, Debug)]
#[command(after_help = "\
Looks at columns (ranges, constants, copies, zeros, sizes), rows (repeated, contradictory), labels (rare, imbalanced, numeric), and with
--kernel or MODEL at kernel values and C beside them. With MODEL also at the fit: whether it converged, why it was slow,
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
    #[arg(long, value_name = "TASK", conflicts_with = "model", value_parser = one_of(&[
        ("classification", TaskKind::Classification), ("regression", TaskKind::Regression),
        ("one-class", TaskKind::OneClass), ("svdd", TaskKind::Svdd)]))]
    pub(crate) task: Option<TaskKind>,
    /// The columns to look at, by name or number counted from 1
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
