//! The arguments of `predict`.

use std::path::PathBuf;

use clap::Args;

use super::reading::Reading;

/// Predict labels with a model
#[derive(Args, Debug)]
#[command(after_help = "\
Prints a label a line, as it was written in the training data; a number for a regression, 1 or -1 for one class. With \
--decision-values a tab and the decision value of each machine follow, in the order that `maxmargin inspect` lists the \
machines; with --probabilities those of the classes, in the order that it lists the classes, or for a regression trained with \
--probabilities the ends of the interval that holds nine of ten targets. With --csv a header says which column is which.

Columns are found by name where the model and the data have names, else by place. The label column of a CSV file may be \
missing: when the file has all columns that the model needs and the last one is among them, it has no labels. When the data has \
labels that the model knows, how well they are met is said on standard error.

Examples:
  maxmargin predict iris.mm iris
  maxmargin predict mine.mm new.csv -o labels.txt
  maxmargin predict mine.mm new.csv --decision-values | head
  maxmargin predict mine.mm new.csv --csv --decision-values --probabilities -o predicted.csv
  maxmargin predict mine.mm new.csv --probabilities --json")]
pub(crate) struct Predict {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Where to write the labels [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Print the decision values too
    #[arg(long)]
    pub(crate) decision_values: bool,
    /// Print the probability of each class too (models trained with --probabilities or logistic loss, and of lda over several classes)
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Write a CSV file with a header and the classes by name
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print one JSON object on standard output: rows, labels (unless they go to a file), accuracy and time
    #[arg(long)]
    pub(crate) json: bool,
    /// A CSV file without a label column
    #[arg(long, conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Draw what was predicted: which classes are taken for which, or predictions beside true numbers, to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
