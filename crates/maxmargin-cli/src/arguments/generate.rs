//! The arguments of `generate`.

use std::path::PathBuf;

use clap::Args;
use maxmargin_io::Format;

use super::values::{FORMATS, one_of};

/// Write data made from a seed, or an embedded set, to a file
#[derive(Args, Debug)]
#[command(after_help = "\
blobs      two Gaussian classes                     xor    the quadrants of a square, by turns
rings      a disc and a ring around it              moons  two half circles that reach into each other
far-blob   blobs, and a second, far, positive blob
text       sparse rows like those of text, in any number: they are written as they are made

Examples:
  maxmargin generate moons --rows 1000 --seed 7 -o moons.csv
  maxmargin generate xor --rows 500 -o xor.libsvm
  maxmargin generate iris -o iris.csv
  maxmargin generate text --rows 20000000 --columns 1000000 -o huge.mmc
  maxmargin generate text --rows 1000000 | maxmargin train - --stream --validate 10")]
pub(crate) struct Generate {
    /// blobs, xor, rings, moons, far-blob, text; or an embedded set: iris, e1, e2, e3
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// How many rows [default: 200]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) rows: Option<usize>,
    /// Where randomness starts [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
    /// How many columns (text only) [default: 100000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) columns: Option<usize>,
    /// The standard deviation around each class (blobs, far-blob: 0.7, moons: 0.1)
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) noise: Option<f64>,
    /// The file: .csv, .libsvm, .svm, .txt, .parquet, .arrow, .feather, .arrows, .npy, .npz, .mmc [default: standard output, as CSV; text as LIBSVM text]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format, whatever the file is called
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&FORMATS))]
    pub(crate) format: Option<Format>,
}
