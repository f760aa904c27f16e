//! The arguments of `train`.

use std::path::PathBuf;

use clap::Args;
use maxmargin::calibration::{CalibrationParams, Held};
use maxmargin::data::ScalingKind;
use maxmargin::model::{Activation, Multiclass};
use maxmargin::problem::{Bias, Loss, Norm};
use maxmargin::solver::{Precision, Threshold};
use maxmargin::training::Landmarks;

use super::kernel::KernelArguments;
use super::reading::Reading;
use super::values::{
    OrAuto, SCALINGS, Solver, TARGET_UNITS, TASKS, TargetUnits, TaskKind, one_of, one_of_or_auto, solver, solver_list,
    solver_names,
};

/// The ways to calibrate, by their names.
const CALIBRATIONS: [(&str, CalibrationParams); 4] = [
    ("auto", CalibrationParams { held: None, platt: false }),
    ("leave-one-out", CalibrationParams { held: Some(Held::LeaveOneOut), platt: false }),
    ("folds", CalibrationParams { held: Some(Held::Folds(5)), platt: false }),
    ("platt", CalibrationParams { held: Some(Held::Folds(5)), platt: true }),
];

/// The proved relative gap that `--landmarks auto` goes on to.
const PROVED_GAP: f64 = 0.1;

/// Train a model, and certify it
#[derive(Args, Debug)]
#[command(after_help = "\
Without --kernel and --scale the data decides: a table of full columns is standardised and gets a Gaussian kernel (rbf, gamma = scale) up to \
50,000 rows and a linear one beyond; sparse rows, or rows of more columns than there are rows, get a linear kernel and stay as they are. The report says \
what was chosen and why. Where --kernel or --scale is named, the other one is linear or none unless it is named, too.

Without -C, --c-over-n, --lambda, --hard or --no-penalty, C is 1. The report states the penalty in all three forms. \
A built-in set also gets a picture, NAME.svg, unless -o, --json or --quiet is given.

Examples:
  maxmargin train iris
  maxmargin train mine.csv --holdout 0.2
  maxmargin train mine.csv --kernel rbf --gamma scale -C 10 --scale standard --holdout 0.2
  maxmargin train mine.csv --label species --columns width,height --plot mine.svg
  maxmargin train heart_scale --kernel \"rbf(gamma=0.1) + 0.5*linear\" --json
  maxmargin train e1 --hard --tolerance 1e-6
  maxmargin train iris --positive setosa --loss squared --bias folded --solver newton
  maxmargin train iris --solver logistic --multiclass joint
  maxmargin train mine.csv --probabilities
  maxmargin train rings --solver rvm --kernel rbf
  maxmargin train xor --solver mlp --hidden 4
  maxmargin train prices.csv --task regression --holdout 0.2
  maxmargin train usual.csv --task one-class --nu 0.05 --unlabelled
  maxmargin train large.svm --kernel rbf --landmarks 2000 --prove
  maxmargin train large.svm --kernel rbf --checkpoint large.checkpoint
  maxmargin train large.svm --kernel rbf --checkpoint large.checkpoint --resume large.checkpoint
  maxmargin train large.svm --kernel rbf -C 3 --warm-start large.mm -o larger.mm
  maxmargin generate moons --rows 500 | maxmargin train - --kernel rbf
  maxmargin train huge.svm --memory 1G --cache huge.mmc
  maxmargin train huge.mmc --stream --solver sgd --lambda 1e-6 --passes 3 --validate 20")]
pub(crate) struct Train {
    /// A file (LIBSVM text, CSV, Parquet, Arrow, npy, npz or a cache), - for standard input, or a name: iris, e1, e2, e3, blobs, xor, rings, moons, far-blob
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Where to write the model [default: the data's name with .mm, in the current folder]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// Find C, gamma and the rest by cross validation first, as tune does with its usual grid, and train with the best. What tune has no use for is
    /// refused; tune DATA -o MODEL has more to choose
    #[arg(long, conflicts_with_all = [
        "c", "c_over_n", "lambda", "hard", "no_penalty", "nu", "epsilon", "gamma", "sigma", "degree", "coef0", "norm", "multiclass",
        "probabilities", "solver", "gap", "max_iterations", "batch", "averaged", "precision", "shrinkage", "threshold", "hidden",
        "activation", "starts", "landmarks", "prove", "proved_gap", "stream", "out_of_core", "cache", "checkpoint", "checkpoint_every", "resume", "warm_start",
        "save_partial", "columns", "unlabelled", "test", "holdout", "targets", "plot_columns", "trace", "alphas", "strict"])]
    pub(crate) tune: bool,

    /// What to find: classes, numbers (regression), or whether a row is like the others (one-class, or svdd: within a
    /// ball) [default: classification, unless the labels look like amounts]
    #[arg(long, value_name = "TASK", help_heading = "Problem", value_parser = one_of(&TASKS))]
    pub(crate) task: Option<TaskKind>,
    /// Regression: differences up to this cost nothing [default: 0.1]
    #[arg(long, value_name = "NUMBER", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,
    /// The share of rows that may lie outside, above 0 and at most 1: of one class or a ball [default: 0.5], of the tube of a regression (in the place
    /// of --epsilon), or on the wrong side of the margin of two classes (in the place of -C)
    #[arg(long, value_name = "SHARE", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) nu: Option<f64>,
    /// The penalty C of ½‖w‖² + C Σ slack [default: 1]
    #[arg(short = 'C', alias = "C", value_name = "C", help_heading = "Problem", allow_hyphen_values = true,
          conflicts_with_all = ["c_over_n", "lambda", "hard", "no_penalty"])]
    pub(crate) c: Option<f64>,
    /// The penalty C′ of ½‖w‖² + (C′/n) Σ slack
    #[arg(long, value_name = "C", help_heading = "Problem", allow_hyphen_values = true,
          conflicts_with_all = ["lambda", "hard", "no_penalty"])]
    pub(crate) c_over_n: Option<f64>,
    /// The penalty λ of λ‖w‖² + (1/n) Σ slack [default with --stream: 1e-6]
    #[arg(long, value_name = "LAMBDA", help_heading = "Problem", allow_hyphen_values = true,
          conflicts_with_all = ["hard", "no_penalty"])]
    pub(crate) lambda: Option<f64>,
    /// A hard margin: no slack at all. Data that cannot be separated is refused, with the rows
    #[arg(long, help_heading = "Problem", conflicts_with = "no_penalty")]
    pub(crate) hard: bool,
    /// No penalty on w (logistic regression only)
    #[arg(long, help_heading = "Problem")]
    pub(crate) no_penalty: bool,
    /// How the weights are measured: l2 (½‖w‖²), or l1 (‖w‖₁, which leaves columns out that help little; linear kernel only)
    #[arg(long, value_name = "NORM", help_heading = "Problem", default_value = "l2", value_parser = one_of(&[
        ("l2", Norm::L2), ("l1", Norm::L1)]))]
    pub(crate) norm: Norm,
    /// What slack costs: itself (hinge), or its square; logistic for classes only [default: the solver's own, else hinge; squared with norm l1]
    #[arg(long, value_name = "LOSS", help_heading = "Problem", value_parser = one_of(&[
        ("hinge", Loss::Hinge), ("squared", Loss::Squared), ("logistic", Loss::Logistic)]))]
    pub(crate) loss: Option<Loss>,
    /// The offset b: free (explicit), penalised with w (folded), or none
    #[arg(long, value_name = "BIAS", help_heading = "Problem", default_value = "explicit", value_parser = one_of(&[
        ("explicit", Bias::Explicit), ("folded", Bias::Folded), ("none", Bias::None)]))]
    pub(crate) bias: Bias,
    /// Several classes: a machine for each pair (ovo), for each class against the rest (ovr), or a function for each class, all
    /// found together (joint: logistic, lda, mlp; crammer-singer: hinge loss) [default: joint for lda and mlp, ovr for a linear kernel
    /// whose pairs would have more than 4 million weights, else ovo]
    #[arg(long, value_name = "WAY", help_heading = "Problem", hide_possible_values = true, value_parser = one_of(&[
        ("ovo", Multiclass::OneVsOne), ("ovr", Multiclass::OneVsRest), ("joint", Multiclass::Joint),
        ("crammer-singer", Multiclass::CrammerSinger)]))]
    pub(crate) multiclass: Option<Multiclass>,
    /// What the rows of a class count: balanced (all classes weigh the same), or label=weight with commas between
    #[arg(long, value_name = "WEIGHTS", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) class_weights: Option<String>,
    /// This label against all others
    #[arg(long, value_name = "LABEL", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,

    /// Calibrate the model: probabilities of classes that agree with the prediction, the noise of a regression, marks of one class. From
    /// the fit itself with each row left out by formula (leave-one-out), by training five times without some rows (folds), or by
    /// Platt's sigmoid on such folds, which may differ from the prediction (platt); auto is the first where it costs little
    #[arg(long, value_name = "WAY", help_heading = "Problem", num_args = 0..=1, require_equals = true, default_missing_value = "auto",
          value_parser = one_of(&CALIBRATIONS))]
    pub(crate) probabilities: Option<CalibrationParams>,

    #[arg(long, value_name = "NAME", help_heading = "Solver", default_value = "auto", hide_possible_values = true,
          value_parser = solver(), help = solver_names(), long_help = solver_list())]
    pub(crate) solver: Solver,
    /// The largest violation of the optimality conditions to stop at [default: 1e-3 for kernels, none for linear machines]
    #[arg(long, value_name = "NUMBER", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// The relative duality gap to stop at [default: 1e-4 for linear machines, 5e-3 beside the tolerance for kernels]
    #[arg(long, value_name = "NUMBER", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) gap: Option<f64>,
    /// The most steps; after them the solver stops where it is [default: a finite cap of the solver's own]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Solver")]
    pub(crate) max_iterations: Option<u64>,
    /// The most seconds to train; after them the best model so far is taken
    #[arg(long, value_name = "SECONDS", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) max_time: Option<f64>,
    /// How many threads work; 0 is one for each core. The result is the same for any number
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Solver", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Memory for caches and matrices, such as 512M or 2G [default: half of what is free]
    #[arg(long, value_name = "SIZE", help_heading = "Solver")]
    pub(crate) memory: Option<String>,
    /// Rows that a step of sgd looks at
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Solver", default_value_t = 1)]
    pub(crate) batch: usize,
    /// Let sgd and the perceptrons return the average of their steps
    #[arg(long, help_heading = "Solver")]
    pub(crate) averaged: bool,
    /// The precision of block-smo's kernel values, single or double; the certificate is in double precision either way
    #[arg(long, value_name = "WHICH", help_heading = "Solver", default_value = "single", value_parser = one_of(&[
        ("single", Precision::Single), ("double", Precision::Double)]))]
    pub(crate) precision: Precision,
    /// What lda adds to the scatter matrix: from 0 (nothing) to 1 (a multiple of the identity), or auto (Ledoit and Wolf)
    #[arg(long, value_name = "NUMBER", help_heading = "Solver", default_value = "0", allow_hyphen_values = true)]
    pub(crate) shrinkage: String,
    /// How lda places its threshold: least-error, least-squares or equal-odds
    #[arg(long, value_name = "WAY", help_heading = "Solver", default_value = "least-error", value_parser = one_of(&[
        ("least-error", Threshold::LeastError), ("least-squares", Threshold::LeastSquares), ("equal-odds", Threshold::EqualOdds)]))]
    pub(crate) threshold: Threshold,
    /// The units of each hidden layer of mlp, such as 8 or 16,8
    #[arg(long, value_name = "UNITS", help_heading = "Solver", default_value = "8", value_delimiter = ',')]
    pub(crate) hidden: Vec<usize>,
    /// What a hidden unit of mlp makes of its sum: tanh, sigmoid or relu
    #[arg(long, value_name = "WHICH", help_heading = "Solver", default_value = "tanh", value_parser = one_of(&[
        ("tanh", Activation::Tanh), ("sigmoid", Activation::Sigmoid), ("relu", Activation::Relu)]))]
    pub(crate) activation: Activation,
    /// How often mlp begins anew, to take the best end
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Solver", default_value_t = 4)]
    pub(crate) starts: usize,

    /// A kernel machine that is a sum over N rows, drawn at random (--seed): for rows by the hundred thousand. auto adds landmarks until
    /// the proved gap is small enough (--proved-gap). Without --kernel it is rbf
    #[arg(long, value_name = "N", help_heading = "Landmarks", value_parser = landmarks, conflicts_with_all = ["stream", "out_of_core"])]
    pub(crate) landmarks: Option<OrAuto<usize>>,
    /// Prove how far the machine on landmarks is from the exact one: the certificate gets the gap to the exact problem's dual. It costs a
    /// kernel value for each pair of support vectors
    #[arg(long, help_heading = "Landmarks", requires = "landmarks")]
    pub(crate) prove: bool,
    /// Double the number of landmarks until the proved relative gap is at most this [default with --landmarks auto: 0.1]
    #[arg(long, value_name = "NUMBER", help_heading = "Landmarks", requires = "landmarks", allow_hyphen_values = true)]
    pub(crate) proved_gap: Option<f64>,

    /// Learn from rows as they come, by sgd: data that is never in memory as a whole, from a file or a pipe
    #[arg(long, help_heading = "Stream")]
    pub(crate) stream: bool,
    /// How often to go through the data
    #[arg(
        long,
        value_name = "N",
        help_heading = "Stream",
        requires = "stream",
        allow_hyphen_values = true,
        default_value_t = 1
    )]
    pub(crate) passes: u64,
    /// Hold out every K-th row: never learnt, but predicted
    #[arg(long, value_name = "K", help_heading = "Stream", requires = "stream", allow_hyphen_values = true)]
    pub(crate) validate: Option<u64>,
    /// All labels [default: those that the file tells, or the first block of rows has]
    #[arg(
        long,
        value_name = "LABELS",
        help_heading = "Stream",
        requires = "stream",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) classes: Vec<String>,

    /// Train a linear machine block by block, in little memory, to the same optimum; by itself where the data is larger than --memory.
    /// Without --gap it stops at a relative gap of --tolerance
    #[arg(long, help_heading = "Out of core", conflicts_with = "stream")]
    pub(crate) out_of_core: bool,
    /// Keep the cache that a training out of core makes of its data, to train on it again [default: beside the model, removed at
    /// the end]
    #[arg(long, value_name = "FILE", help_heading = "Out of core", conflicts_with = "stream")]
    pub(crate) cache: Option<PathBuf>,

    /// Keep where the training is in this file and FILE.previous, also at Ctrl-C and --max-time; both are removed once the
    /// model is written
    #[arg(long, value_name = "FILE", help_heading = "Interrupts")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints [default: 30]
    #[arg(
        long,
        value_name = "SECONDS",
        help_heading = "Interrupts",
        requires = "checkpoint",
        allow_hyphen_values = true
    )]
    pub(crate) checkpoint_every: Option<f64>,
    /// Go on from a checkpoint of the same data and parameters: the model is what it would have been without the interrupt
    #[arg(long, value_name = "FILE", help_heading = "Interrupts", conflicts_with = "warm_start")]
    pub(crate) resume: Option<PathBuf>,
    /// Begin at a model of the same data, trained with another penalty, kernel or tolerance
    #[arg(long, value_name = "MODEL", help_heading = "Interrupts")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Write the model also when Ctrl-C stops the solver; to certify it may take a moment
    #[arg(long, help_heading = "Interrupts")]
    pub(crate) save_partial: bool,

    /// The columns to train on, by name, number counted from 1, or range (1-5)
    #[arg(long, value_name = "COLUMNS", help_heading = "Reading", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// There is no label column (one-class)
    #[arg(long, help_heading = "Reading", conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Scale the columns: auto (standard for tables of full columns), none, standard or minmax; learnt here, stored in the model, applied in
    /// prediction [default: auto, or none where --kernel is named]
    #[arg(long, value_name = "WAY", help_heading = "Reading", hide_possible_values = true,
          value_parser = one_of_or_auto(&SCALINGS))]
    pub(crate) scale: Option<OrAuto<ScalingKind>>,
    /// Regression: C and epsilon count in standard deviations of the targets (standard), or in the targets' own units (own) [default:
    /// standard, or own where --kernel or --scale is named]
    #[arg(long, value_name = "UNITS", help_heading = "Problem", hide_possible_values = true,
          value_parser = one_of(&TARGET_UNITS))]
    pub(crate) targets: Option<TargetUnits>,
    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Predict this data with the model, and report the accuracy
    #[arg(long, value_name = "DATA", help_heading = "Report", conflicts_with = "holdout")]
    pub(crate) test: Option<PathBuf>,
    /// Keep this share of each class's rows (of all rows, where there are no classes) out of training, and report on them
    #[arg(long, value_name = "SHARE", help_heading = "Report", allow_hyphen_values = true)]
    pub(crate) holdout: Option<f64>,
    /// Draw the decision regions, margins and points, or the tube of a regression, to a .svg or .png file; with --tune the search, to a folder
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// Write what the solver does, step by step, to this file: one JSON object a line (to be drawn by plot convergence)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) trace: Option<PathBuf>,
    /// The two columns to draw, by name or number; the others are held at their means
    #[arg(long, value_name = "COLUMNS", help_heading = "Report", value_delimiter = ',')]
    pub(crate) plot_columns: Option<Vec<String>>,
    /// Print one JSON object on standard output
    #[arg(long, help_heading = "Report")]
    pub(crate) json: bool,
    /// With --json: the dual variables, one a training row
    #[arg(long, help_heading = "Report", requires = "json")]
    pub(crate) alphas: bool,
    /// Overwrite the model of another recipe, where -o names none
    #[arg(long, help_heading = "Report")]
    pub(crate) force: bool,
    /// Say nothing but errors
    #[arg(short, long, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// Exit with 1 when the solver did not converge
    #[arg(long, help_heading = "Report")]
    pub(crate) strict: bool,
}

/// A number of landmarks, or auto.
fn landmarks(text: &str) -> Result<OrAuto<usize>, String> {
    match text {
        "auto" => Ok(OrAuto::Auto),
        _ => text.parse().map(OrAuto::Named).map_err(|_| "give a whole number, or auto".into()),
    }
}

impl Train {
    /// The landmarks that are asked for.
    pub(crate) fn landmarks(&self) -> Option<Landmarks> {
        let until = match self.landmarks? {
            OrAuto::Auto => Some(self.proved_gap.unwrap_or(PROVED_GAP)),
            OrAuto::Named(_) => self.proved_gap,
        };
        let count = if let Some(OrAuto::Named(count)) = self.landmarks { count } else { Landmarks::FIRST };
        Some(Landmarks { count, prove: self.prove || until.is_some(), until })
    }

    /// What is to be found.
    pub(crate) fn task(&self) -> TaskKind {
        self.task.unwrap_or(TaskKind::Classification)
    }

    /// Whether the data decides on the kernel: nothing is named, or auto is.
    pub(crate) fn has_automatic_kernel(&self) -> bool {
        let is_named = self.kernel.kernel.is_some() || self.kernel.flag().is_some();
        self.kernel.is_auto() || !is_named && !matches!(self.scale, Some(OrAuto::Named(_)))
    }

    /// Whether the data decides on the scaling.
    pub(crate) fn has_automatic_scaling(&self) -> bool {
        match self.scale {
            Some(scale) => scale == OrAuto::Auto,
            None => self.has_automatic_kernel(),
        }
    }

    /// The scaling that is named, or none.
    pub(crate) fn named_scaling(&self) -> ScalingKind {
        match self.scale {
            Some(OrAuto::Named(kind)) => kind,
            _ => ScalingKind::None,
        }
    }

    /// Whether C and epsilon of a regression count in standard deviations of the targets.
    pub(crate) fn has_standard_targets(&self) -> bool {
        let is_automatic = self.has_automatic_kernel() && self.has_automatic_scaling();
        self.targets.map_or(is_automatic, |units| units == TargetUnits::Deviations)
    }
}
