//! The arguments that say how data is read.

use clap::Args;
use maxmargin_io::{Format, ReadOptions};

use super::values::{FORMATS, one_of};

/// How data is read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// The format of a file [default: found by name and content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    pub(crate) format: Option<Format>,
    /// The label column of a CSV, Parquet, Arrow or npy file, by name or number counted from 1 [default: the last]; the array of labels of an
    /// npz file [default: y, labels or target]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// The first line of a CSV file names the columns [default: found by content]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line of a CSV file is a row
    #[arg(long)]
    pub(crate) no_header: bool,
    /// LIBSVM text counts columns from 0, not from 1
    #[arg(long)]
    pub(crate) zero_based: bool,
    /// Make of each CSV column of words one column for each word, named column=word
    #[arg(long)]
    pub(crate) categorical: bool,
    /// Where randomness starts: generated data, splits, and solvers that draw rows
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) seed: u64,
}

impl Reading {
    pub(crate) fn options(&self, columns: Option<&[String]>) -> ReadOptions {
        ReadOptions {
            format: self.format,
            zero_based: self.zero_based,
            label: self.label.clone(),
            unlabelled: false,
            header: if self.header { Some(true) } else { self.no_header.then_some(false) },
            categorical: self.categorical,
            columns: columns.map(<[String]>::to_vec),
            max_bytes: None,
            kernel_values: None,
        }
    }
}
