//! The arguments of `convert`.

use std::path::PathBuf;

use clap::Args;
use maxmargin_io::Format;

use super::reading::Reading;
use super::values::{FORMATS, one_of};

/// Convert data between LIBSVM text, CSV, Parquet, Arrow, npy, npz and our binary cache
#[derive(Args, Debug)]
#[command(after_help = "\
LIBSVM reads no words, so words become the numbers 1, 2, ... in LIBSVM text, and OUT.labels says which is which; --keep-labels writes the words, which \
all commands of ours read.

The cache (.mmc) holds all that a data set has, and is read at the speed of the disk: make one of any file that is used \
more than once. What another format has no place for is said: column names and weights (LIBSVM text), weights and group numbers \
(CSV, Parquet, Arrow), all of them (npz), and the spelling of labels, too (npy). An npz file holds X and y, as numpy.savez or \
scipy.sparse.save_npz write them; .arrow and .feather are Arrow's file, .arrows is its stream.

Examples:
  maxmargin convert rcv1.svm rcv1.mmc
  maxmargin convert mine.parquet mine.svm --label kind
  maxmargin convert array.npy table.csv
  maxmargin convert mine.mmc /dev/stdout --to csv | head")]
pub(crate) struct Convert {
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "IN")]
    pub(crate) data: PathBuf,
    /// The file to write: .libsvm, .svm, .txt, .csv, .parquet, .arrow, .feather, .arrows, .npy, .npz, .mmc
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write, whatever the file is called
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    pub(crate) to: Option<Format>,
    /// The columns to keep, by name, number counted from 1, or range (1-5)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// LIBSVM text: write labels that are words as they are, not as numbers
    #[arg(long)]
    pub(crate) keep_labels: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
