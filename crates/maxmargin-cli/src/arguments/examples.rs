//! The arguments of `examples`.

use std::path::PathBuf;

use clap::Args;

/// Run the worked examples: what each shows, expected beside obtained
#[derive(Args, Debug)]
#[command(after_help = "\
Exit code 0 when every number matches, else 1.

Examples:
  maxmargin examples
  maxmargin examples E1 E4
  maxmargin examples --plot pictures")]
pub(crate) struct Examples {
    /// Which ones, from E1 to E10 [default: all]
    #[arg(value_name = "EXAMPLE")]
    pub(crate) ids: Vec<String>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw their figures to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw on light or on dark paper
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = ["light", "dark"])]
    pub(crate) theme: String,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
}
