//! The arguments that say how data is read.

use clap::Args;
use maxmargin::Model;
use maxmargin::data::{AnswerKind, Missing};
use maxmargin_io::{Categorical, Format, ReadOptions};

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
    /// Make of each of these columns one column for each of its values, named column=value; without names, of each column of words.
    /// The values are learnt in training, and the model remembers them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', num_args = 0..=1, default_missing_value = EACH_OF_WORDS)]
    pub(crate) categorical: Option<Vec<String>>,
    /// Leave these columns out, by name, number counted from 1, or range (3-7)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// What becomes of missing values (empty, NA, NaN, ?, null) of a table: drop leaves their rows out; mean and median are learnt in training, and
    /// the model remembers them [default: error]
    #[arg(long, value_name = "WAY", value_parser = one_of(&Missing::ALL))]
    pub(crate) missing: Option<Missing>,
    /// Where randomness starts: generated data, splits, and solvers that draw rows [default: 0, or the model's]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<u64>,
}

/// What stands for the names of all columns of words.
const EACH_OF_WORDS: &str = "*";

impl Reading {
    /// Where randomness starts.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Where randomness starts, of data that a model was trained on.
    pub(crate) fn seed_of(&self, model: &Model) -> u64 {
        self.seed.or_else(|| model.reading().map(|reading| reading.seed)).unwrap_or(0)
    }

    /// The columns of which one is made for each value.
    pub(crate) fn categories(&self) -> Categorical {
        match self.categorical.as_deref() {
            None => Categorical::None,
            Some([all]) if all == EACH_OF_WORDS => Categorical::Words,
            Some(names) => Categorical::Named(names.to_vec()),
        }
    }

    pub(crate) fn options(&self, columns: Option<&[String]>) -> ReadOptions {
        ReadOptions {
            format: self.format,
            zero_based: self.zero_based,
            label: self.label.clone(),
            answers: AnswerKind::Classes,
            header: if self.header { Some(true) } else { self.no_header.then_some(false) },
            categorical: self.categories(),
            columns: columns.map(<[String]>::to_vec),
            exclude: self.exclude.clone(),
            missing: self.missing.unwrap_or_default(),
            ..ReadOptions::default()
        }
    }
}
