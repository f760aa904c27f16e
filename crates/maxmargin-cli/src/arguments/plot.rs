//! The arguments of `plot`.

use std::path::PathBuf;

use clap::Args;

use super::reading::Reading;

/// Draw a model, how a solver came to it, or a search
#[derive(Args, Debug)]
#[command(after_help = "\
Kinds:
  regions      regions of the classes, margins, rows, support vectors by kind
  margins      how far the rows are on the right side, 0 and 1 marked
  roc          ROC and precision-recall curves
  calibration  predicted probabilities beside how often they came true
  confusion    which classes are taken for which
  hulls        convex hulls of two classes, their nearest points, the boundary
  tube         a regression and the tube around it
  residuals    how far predictions are off
  why          why the model says of a row (--row) what it says, term by term
  convergence  primal, dual, gap: of the file that train --trace wrote
  grid         a score for each cell of a search: of what tune --json printed
  path         scores, support vectors and margin over C at the best cell
  learning     what more rows would bring (tune --learning --json)
  work         the solver's steps in each cell: where the time went

Without a kind: regions, or tube for a regression. A model of more than two columns is shown on the plane, of the discriminant \
and the principal one, that agrees with it on more rows; or along two columns (--columns), with the others held at their means. \
The caption says on how many rows the plane decides as the model does.

Examples:
  maxmargin plot e2.mm e2 -o e2.svg
  maxmargin plot iris.mm iris --columns petal_length,petal_width -o iris.png
  maxmargin plot roc mine.mm new.csv -o roc.svg --theme dark --numbers roc.csv
  maxmargin plot why mine.mm new.csv --row 3 -o why.svg
  maxmargin plot convergence trace.jsonl -o convergence.svg
  maxmargin plot grid search.json -o grid.svg")]
pub(crate) struct Plot {
    /// The kind, the model (for convergence a trace, for grid, path, learning and work a search), and the data to draw: the training data for support vectors to be marked
    #[arg(value_name = "[KIND] MODEL [DATA]", required = true, num_args = 1..=3)]
    pub(crate) words: Vec<PathBuf>,
    /// The picture: .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Write the numbers that the picture shows to this CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) numbers: Option<PathBuf>,
    /// On light or on dark paper
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = ["light", "dark"])]
    pub(crate) theme: String,
    /// The two columns to draw, by name or number counted from 1
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// The row that why explains, counted from 1
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) row: u64,
    /// Width in units of the picture, of which a PNG shows each with two pixels
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 760, value_parser = clap::value_parser!(u32).range(400..=4000))]
    pub(crate) width: u32,
    /// Height in the same units
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 560, value_parser = clap::value_parser!(u32).range(300..=4000))]
    pub(crate) height: u32,
    /// The words above the picture [default: what it is of]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
