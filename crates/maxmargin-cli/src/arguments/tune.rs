//! The arguments of `tune`.

use std::path::PathBuf;

use clap::Args;
use maxmargin::data::ScalingKind;
use maxmargin::problem::{Bias, Loss};
use maxmargin::tuning::{Choose, Metric};

use super::reading::Reading;
use super::train::Train;
use super::values::{OrAuto, SCALINGS, TASKS, TaskKind, one_of, one_of_or_auto};

/// How much of a grid is computed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// What the choice depends on, sharing what can be shared.
    Auto,
    /// All of it, sharing what can be shared.
    Grid,
    /// What is likely to win after some folds.
    Race,
    /// What is likely to win on a sample of the rows.
    Screen,
    /// All of it, by ordinary fits.
    Separate,
}

/// Find C, gamma and the rest by cross validation, say what the choice is worth, and train with it
#[derive(Args, Debug)]
#[command(after_help = "\
Every combination of the parameters is a cell; all cells see the same folds. Without --grid the data suggests the ranges. Columns are scaled within \
each fold, so that nothing of the held-out rows leaks. The report has the mean score of each cell, the best cell, the one-SE choice (fewest support \
vectors among cells that are behind by one standard error of the paired difference at most), and the honest estimate: what the model that such a search chooses is \
worth on new rows. The best of many scores is too good, because it was chosen for being good.

Cells that can neither win nor be chosen any more are left; --strategy grid finishes them. The choice is the same.

Examples:
  maxmargin tune iris
  maxmargin tune mine.csv -o mine.mm
  maxmargin tune mine.csv --kernel rbf --grid C=0.01:1000:10,gamma=0.0001:10:10
  maxmargin tune mine.csv --kernel rbf,linear --grid C=0.1,1,10 --metric auc
  maxmargin tune mine.csv --groups patient --choose one-se
  maxmargin tune prices.csv --task regression --grid C=1:1000:4,epsilon=0.01,0.1
  maxmargin tune mine.csv --plot pictures
  maxmargin tune mine.csv --nested --prove
  maxmargin tune large.svm --checkpoint large.search
  maxmargin tune large.svm --resume large.search --checkpoint large.search")]
pub(crate) struct Tune {
    /// A file (LIBSVM text, CSV, Parquet, Arrow, npy or npz), - for standard input, or a name: iris, e1, e2, e3, blobs, xor, rings, moons, far-blob
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Train with what was chosen, on all rows, and write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,

    /// The kernels, with commas between: linear, polynomial, rbf, sigmoid, laplacian, chi-square
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', default_value = "rbf", help_heading = "Search")]
    pub(crate) kernel: Vec<String>,
    /// The values: NAME=FROM:TO:COUNT (at equal ratios) or NAME=V1,V2,... with commas between; names are C, gamma, degree, coef0, epsilon and nu. A kernel takes
    /// the ones it has [default: gamma around the distances of the rows, C from 0.03 to 300, nine values each]
    #[arg(long, value_name = "GRID", help_heading = "Search", allow_hyphen_values = true)]
    pub(crate) grid: Option<String>,
    /// How many folds
    #[arg(long, value_name = "K", default_value_t = 5, allow_hyphen_values = true, help_heading = "Search")]
    pub(crate) folds: usize,
    /// How often the folds are drawn anew
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true, help_heading = "Search")]
    pub(crate) repeats: usize,
    /// A column of whole numbers: rows of one number stay together, in the training rows or held out. It is not trained on
    #[arg(long, value_name = "COLUMN", help_heading = "Search", conflicts_with = "fold_column")]
    pub(crate) groups: Option<String>,
    /// A column of whole numbers: rows of one number are held out together, rows of a negative number never. It is not trained on
    #[arg(long, value_name = "COLUMN", help_heading = "Search", conflicts_with_all = ["folds", "repeats"])]
    pub(crate) fold_column: Option<String>,
    /// What is to be good [default: accuracy, or r2 of a regression]
    #[arg(long, value_name = "NAME", help_heading = "Search", value_parser = one_of(&[
        ("accuracy", "accuracy"), ("balanced-accuracy", "balanced-accuracy"), ("f1", "f1"), ("auc", "auc"),
        ("log-loss", "log-loss"), ("mse", "mse"), ("mae", "mae"), ("r2", "r2")]))]
    pub(crate) metric: Option<&'static str>,
    /// Which cell is taken: the best, or the one-SE choice
    #[arg(long, value_name = "WHICH", default_value = "best", help_heading = "Search", value_parser = one_of(&[
        ("best", Choose::Best), ("one-se", Choose::OneSe)]))]
    pub(crate) choose: Choose,
    /// Whether cells are left that can neither win nor be chosen (auto; screen where tables of kernel values do not fit into memory), those that are likely
    /// worse after some folds (race) or on a sample of the rows (screen), all are finished (grid), or all are finished by ordinary fits that share nothing (separate)
    #[arg(long, value_name = "WAY", default_value = "auto", help_heading = "Search", value_parser = one_of(&[
        ("auto", Strategy::Auto), ("grid", Strategy::Grid), ("race", Strategy::Race), ("screen", Strategy::Screen),
        ("separate", Strategy::Separate)]))]
    pub(crate) strategy: Strategy,
    /// Search anew on the training rows of each fold, and score the choice on the rows held out: what such a search is worth, for the price of a
    /// search a fold
    #[arg(long, help_heading = "Search")]
    pub(crate) nested: bool,
    /// Solve the cell that is taken until its held-out labels are proved to be those of the exact optimum; the score has the interval that others leave
    #[arg(long, help_heading = "Search")]
    pub(crate) prove: bool,

    /// What to find: classes, or numbers (regression)
    #[arg(long, value_name = "TASK", help_heading = "Problem", value_parser = one_of(&TASKS))]
    pub(crate) task: Option<TaskKind>,
    /// What slack costs: itself (hinge), its square, or logistic
    #[arg(long, value_name = "LOSS", help_heading = "Problem", value_parser = one_of(&[
        ("hinge", Loss::Hinge), ("squared", Loss::Squared), ("logistic", Loss::Logistic)]))]
    pub(crate) loss: Option<Loss>,
    /// The offset b: free (explicit), penalised with w (folded), or none
    #[arg(long, value_name = "BIAS", help_heading = "Problem", default_value = "explicit", value_parser = one_of(&[
        ("explicit", Bias::Explicit), ("folded", Bias::Folded), ("none", Bias::None)]))]
    pub(crate) bias: Bias,
    /// What the rows of a class count: balanced (all classes weigh the same), or label=weight with commas between
    #[arg(long, value_name = "WEIGHTS", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) class_weights: Option<String>,
    /// This label against all others
    #[arg(long, value_name = "LABEL", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// Scale the columns, as the training rows of each fold say: auto (standard for tables of full columns), none, standard or minmax
    #[arg(long, value_name = "WAY", help_heading = "Problem", default_value = "auto", hide_possible_values = true,
          value_parser = one_of_or_auto(&SCALINGS))]
    pub(crate) scale: OrAuto<ScalingKind>,

    /// The largest violation of the optimality conditions to stop at [default: 1e-3 for kernels]
    #[arg(long, value_name = "NUMBER", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Stop after so many seconds, with the best so far
    #[arg(long, value_name = "SECONDS", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) max_time: Option<f64>,
    /// How many threads work; 0 is one for each core. The result is the same for any number
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Solver", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Memory for tables of kernel values, such as 512M or 4G [default: half of what is free]
    #[arg(long, value_name = "SIZE", help_heading = "Solver")]
    pub(crate) memory: Option<String>,

    /// Keep where the search is in this file, after each fold of a chain of C; it is removed at the end
    #[arg(long, value_name = "FILE", help_heading = "Interrupts")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Go on from a checkpoint of the same data and search: the result is what it would have been without the interrupt
    #[arg(long, value_name = "FILE", help_heading = "Interrupts")]
    pub(crate) resume: Option<PathBuf>,

    /// Print one JSON object on standard output
    #[arg(long, help_heading = "Report")]
    pub(crate) json: bool,
    /// With --json: what each cell predicts for the held-out rows of each split
    #[arg(long, help_heading = "Report", requires = "json")]
    pub(crate) held_out: bool,
    /// Say what more rows would bring: the scores of the cell that is taken, trained on parts of the rows
    #[arg(long, help_heading = "Report")]
    pub(crate) learning: bool,
    /// Draw the search to this folder: grid.svg, path.svg (over C), learning.svg and work.svg (where the time went)
    #[arg(long, value_name = "FOLDER", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// Whether the name of the model was made up, so that a model of another recipe is kept.
    #[arg(skip)]
    pub(crate) keeps_others: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Tune {
    /// The search that comes before a training, with the usual grid; `output` is the model.
    pub(crate) fn before(train: &Train, output: PathBuf) -> Self {
        let named = train.kernel.kernel.clone().filter(|_| !train.kernel.is_auto());
        Tune {
            data: train.data.clone(),
            output: Some(output),
            kernel: vec![named.unwrap_or_else(|| "rbf".into())],
            grid: None,
            folds: 5,
            repeats: 1,
            groups: None,
            fold_column: None,
            metric: None,
            choose: Choose::Best,
            strategy: Strategy::Auto,
            nested: false,
            prove: false,
            task: train.task,
            loss: train.loss,
            bias: train.bias,
            class_weights: train.class_weights.clone(),
            positive: train.positive.clone(),
            scale: train.scale.unwrap_or(OrAuto::Auto),
            tolerance: train.tolerance,
            max_time: train.max_time,
            threads: train.threads,
            memory: train.memory.clone(),
            checkpoint: None,
            resume: None,
            json: train.json,
            held_out: false,
            learning: false,
            plot: train.plot.clone(),
            quiet: train.quiet,
            keeps_others: train.output.is_none() && !train.force,
            reading: train.reading.clone(),
        }
    }

    /// What is to be found.
    pub(crate) fn task(&self) -> TaskKind {
        self.task.unwrap_or(TaskKind::Classification)
    }

    /// What is to be good.
    pub(crate) fn metric(&self) -> Metric {
        let usual = Metric::usual(self.task() == TaskKind::Regression);
        self.metric.and_then(Metric::from_name).unwrap_or(usual)
    }
}
