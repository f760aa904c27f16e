//! The arguments of `plot`.

use std::path::PathBuf;

use clap::Args;

use super::reading::Reading;

/// Draw a model: decision regions, margins, points, and support vectors by kind
#[derive(Args, Debug)]
#[command(after_help = "\
A model of more than two columns is cut along two of them (--columns), with the others held at their means.

Examples:
  maxmargin plot e2.mm e2 -o e2.svg
  maxmargin plot iris.mm iris --columns petal_length,petal_width -o iris.png")]
pub(crate) struct Plot {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The data to draw as points, the training data for support vectors to be marked
    #[arg(value_name = "DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The picture: .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The two columns to draw, by name or number counted from 1
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Width in pixels
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 900, value_parser = clap::value_parser!(u32).range(400..=4000))]
    pub(crate) width: u32,
    /// Height in pixels
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 700, value_parser = clap::value_parser!(u32).range(300..=4000))]
    pub(crate) height: u32,
    /// The words above the picture [default: the kernel and the penalty]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
