//! The arguments of `path`.

use std::path::PathBuf;

use clap::Args;
use maxmargin::data::ScalingKind;
use maxmargin::problem::{Bias, Loss};

use super::kernel::KernelArguments;
use super::reading::Reading;
use super::values::{SCALINGS, TASKS, TaskKind, one_of};

/// Train a model for each of many C, each from the one before, and list what becomes of them
#[derive(Args, Debug)]
#[command(after_help = "\
Each line is a certified model: the relative gap says how far it is from the best one for its C. No model is written; train one with train, or choose by cross \
validation with tune.

With --accuracy the path itself chooses its C, so that for every C between the ends one of its models is proved to be that near to the optimum: the column \
proved to says up to which C each is.

Examples:
  maxmargin path iris --kernel rbf --gamma 0.5
  maxmargin path iris --kernel rbf --gamma 0.5 --plot path.svg
  maxmargin path moons --costs 0.1:100:2 --accuracy 0.1
  maxmargin path mine.csv --scale standard --costs 0.001:1000:13 --json")]
pub(crate) struct PathOfC {
    /// A file, - for standard input, or a name such as iris
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The values of C: FROM:TO:COUNT (at equal ratios), or V1,V2,...
    #[arg(long, value_name = "VALUES", default_value = "0.01:1000:11", allow_hyphen_values = true)]
    pub(crate) costs: String,
    /// Choose the values of C between the smallest and the largest of --costs so that for every C between them a model is proved to be this near to the
    /// optimum, as a part of its objective (0.05 is 5 %)
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) accuracy: Option<f64>,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// What to find: classes, or numbers (regression)
    #[arg(long, value_name = "TASK", value_parser = one_of(&TASKS))]
    pub(crate) task: Option<TaskKind>,
    /// What slack costs: itself (hinge), its square, or logistic
    #[arg(long, value_name = "LOSS", value_parser = one_of(&[
        ("hinge", Loss::Hinge), ("squared", Loss::Squared), ("logistic", Loss::Logistic)]))]
    pub(crate) loss: Option<Loss>,
    /// The offset b: free (explicit), penalised with w (folded), or none
    #[arg(long, value_name = "BIAS", default_value = "explicit", value_parser = one_of(&[
        ("explicit", Bias::Explicit), ("folded", Bias::Folded), ("none", Bias::None)]))]
    pub(crate) bias: Bias,
    /// Scale the columns first: none, standard or minmax
    #[arg(long, value_name = "WAY", default_value = "none", value_parser = one_of(&SCALINGS))]
    pub(crate) scale: ScalingKind,
    /// The largest violation of the optimality conditions to stop at
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Draw margin, support vectors, gap and errors over C to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
