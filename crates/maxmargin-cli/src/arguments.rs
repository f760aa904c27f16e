//! What the user typed, as types.

mod understanding;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use maxmargin::calibration::{CalibrationParams, Held};
use maxmargin::data::ScalingKind;
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::{Activation, Multiclass};
use maxmargin::problem::{Bias, Loss, Norm};
use maxmargin::solver::{Precision, SolverKind, Threshold};
use maxmargin_io::{Format, ReadOptions};

use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::output;
pub(crate) use understanding::{Doctor, Explain, Suspects};

/// Support vector machines and kernel classifiers: exact, certified, fast.
#[derive(Debug, Parser)]
#[command(
    name = "maxmargin",
    version,
    after_help = "\
Try it:
  maxmargin train iris                        train on an embedded data set, and draw it
  maxmargin train mine.csv --kernel rbf       train on your own file; the label is the last column
  maxmargin predict mine.mm new.csv           predict with the model
  maxmargin explain mine.mm new.csv --row 3   say why: the terms that decided, and how far the boundary is
  maxmargin verify mine.mm mine.csv           check the model's certificate from scratch
  maxmargin suspects mine.mm mine.csv         list the rows whose labels deserve a second look
  maxmargin doctor mine.csv                   say what may be wrong with the data, and the way out
  maxmargin examples                          the textbook's numbers, expected beside obtained

As svm-train, svm-predict, svm-scale, liblinear-train and liblinear-predict it takes the flags of LIBSVM and LIBLINEAR, too.

Exit codes: 0 done, 1 done but not as asked, 2 bad input or usage, 3 a bug of ours, 130 interrupted."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Reads the command line. Help goes to standard output, mistakes to standard error.
    pub(crate) fn read() -> Result<Self, ExitCode> {
        Arguments::try_parse().map_err(|error| {
            // The user's words are in the text: control characters in them must not reach the terminal.
            let lines: Vec<String> = error.render().to_string().trim_end().lines().map(output::escaped).collect();
            let text = lines.join("\n");
            if error.use_stderr() {
                output::say(&text);
                return ExitCode::BadInput;
            }
            match output::print(&format!("{text}\n")) {
                Ok(()) => ExitCode::Done,
                Err(failure) => failure.tell(),
            }
        })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Train(Box<Train>),
    Predict(Predict),
    Convert(Convert),
    ConvertModel(ConvertModel),
    Inspect(Inspect),
    Verify(Verify),
    Explain(Explain),
    Suspects(Suspects),
    Doctor(Doctor),
    Examples(Examples),
    KernelCheck(KernelCheck),
    Generate(Generate),
    Plot(Plot),
    Project(Project),
}

/// The formats by their names.
const FORMATS: [(&str, Format); 8] = [
    ("csv", Format::Csv),
    ("libsvm", Format::Libsvm),
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("arrow-stream", Format::ArrowStream),
    ("cache", Format::Cache),
];

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

/// Which kernel.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArguments {
    /// linear, polynomial, rbf, sigmoid, laplacian, chi-square, precomputed; or an expression of them, such as
    /// "rbf(gamma=0.5) + 2*linear" [default: linear]. With precomputed the data is the table of kernel values, in LIBSVM text with or without
    /// serial numbers: label 0:i 1:K(x, x_1) 2:K(x, x_2) ...
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// The factor gamma: a number, scale (1/(columns · variance)) or auto (1/columns) [default: scale]
    #[arg(long, value_name = "GAMMA", allow_hyphen_values = true, conflicts_with = "sigma")]
    pub(crate) gamma: Option<String>,
    /// The bandwidth of the rbf kernel: gamma = 1/sigma²
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    pub(crate) sigma: Option<f64>,
    /// The degree of the polynomial kernel [default: 3]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) degree: Option<u32>,
    /// The constant of the polynomial and sigmoid kernels [default: 0]
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) coef0: Option<f64>,
}

impl KernelArguments {
    /// The kernel asked for.
    ///
    /// # Errors
    /// When the expression does not read, or a flag does not belong to the kernel.
    pub(crate) fn params(&self) -> Result<KernelParams, Failure> {
        let text = self.kernel.as_deref().unwrap_or("linear");
        let mut kernel: KernelParams = text.parse()?;
        let gamma = match (&self.gamma, self.sigma) {
            (Some(gamma), _) => Some(("gamma", gamma.parse()?)),
            (None, Some(sigma)) => Some(("sigma", Gamma::Sigma(sigma))),
            (None, None) => None,
        };
        if text.contains(['(', '+', '*'])
            && let Some(flag) = self.flag()
        {
            return Err(Failure::new(
                format!("--{flag} goes with a kernel named alone, not with the expression {}", quoted(text)),
                "write the parameters into the expression, as in rbf(gamma=0.5)",
            ));
        }
        if let Some((flag, asked)) = gamma {
            match &mut kernel {
                KernelParams::Rbf { gamma } => *gamma = asked,
                KernelParams::Polynomial { gamma, .. }
                | KernelParams::Sigmoid { gamma, .. }
                | KernelParams::Laplacian { gamma }
                | KernelParams::ChiSquare { gamma }
                    if flag == "gamma" =>
                {
                    *gamma = asked;
                }
                _ if flag == "sigma" => return Err(not_of(text, flag, "rbf")),
                _ => return Err(not_of(text, flag, "polynomial, rbf, sigmoid, laplacian and chi-square")),
            }
        }
        if let Some(asked) = self.degree {
            match &mut kernel {
                KernelParams::Polynomial { degree, .. } => *degree = asked,
                _ => return Err(not_of(text, "degree", "polynomial")),
            }
        }
        if let Some(asked) = self.coef0 {
            match &mut kernel {
                KernelParams::Polynomial { coef0, .. } | KernelParams::Sigmoid { coef0, .. } => *coef0 = asked,
                _ => return Err(not_of(text, "coef0", "polynomial and sigmoid")),
            }
        }
        Ok(kernel)
    }

    /// A flag that was given.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        [
            ("gamma", self.gamma.is_some()),
            ("sigma", self.sigma.is_some()),
            ("degree", self.degree.is_some()),
            ("coef0", self.coef0.is_some()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }
}

fn quoted(text: &str) -> String {
    maxmargin::error::quoted(text)
}

fn not_of(kernel: &str, flag: &str, others: &str) -> Failure {
    Failure::new(
        format!("the kernel {} has no {flag}", quoted(kernel)),
        format!("leave out --{flag}, or name a kernel that has it with --kernel: {others}"),
    )
}

/// The ways to calibrate, by their names.
const CALIBRATIONS: [(&str, CalibrationParams); 4] = [
    ("auto", CalibrationParams { held: None, platt: false }),
    ("leave-one-out", CalibrationParams { held: Some(Held::LeaveOneOut), platt: false }),
    ("folds", CalibrationParams { held: Some(Held::Folds(5)), platt: false }),
    ("platt", CalibrationParams { held: Some(Held::Folds(5)), platt: true }),
];

/// What to find, without its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskKind {
    Classification,
    Regression,
    OneClass,
    Svdd,
}

/// Train a model, and certify it
#[derive(Args, Debug)]
#[command(after_help = "\
Without -C, --c-over-n, --lambda, --hard or --no-penalty, C is 1. The report states the penalty in all three forms.
A built-in set also gets a picture, NAME.svg, unless -o, --json or --quiet is given.

Examples:
  maxmargin train iris
  maxmargin train mine.csv --kernel rbf --gamma scale -C 10 --scale standard --holdout 0.2
  maxmargin train mine.csv --label species --columns width,height --plot mine.svg
  maxmargin train heart_scale --kernel \"rbf(gamma=0.1) + 0.5*linear\" --json
  maxmargin train e1 --hard --tolerance 1e-6
  maxmargin train iris --positive setosa --loss squared --bias folded --solver newton
  maxmargin train iris --solver logistic --multiclass joint
  maxmargin train mine.csv --kernel rbf --probabilities
  maxmargin train rings --solver rvm --kernel rbf
  maxmargin train xor --solver mlp --hidden 4
  maxmargin train prices.csv --task regression --epsilon 0.5 --scale standard
  maxmargin train usual.csv --task one-class --nu 0.05 --unlabelled
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

    /// What to find: classes, numbers (regression), or whether a row is like the others (one-class, or svdd: within a
    /// ball)
    #[arg(long, value_name = "TASK", help_heading = "Problem", default_value = "classification", value_parser = one_of(&[
        ("classification", TaskKind::Classification), ("regression", TaskKind::Regression),
        ("one-class", TaskKind::OneClass), ("svdd", TaskKind::Svdd)]))]
    pub(crate) task: TaskKind,
    /// Regression: differences up to this cost nothing [default: 0.1]
    #[arg(long, value_name = "NUMBER", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,
    /// The share of rows that may lie outside, above 0 and at most 1: of one class or a ball [default: 0.5], of the tube of a regression (in the place
    /// of --epsilon), or on the wrong side of the margin of two classes (in the place of -C)
    #[arg(long, value_name = "SHARE", help_heading = "Problem", allow_hyphen_values = true)]
    pub(crate) nu: Option<f64>,
    /// The penalty C of ½‖w‖² + C Σ slack [default: 1]
    #[arg(short = 'C', value_name = "C", help_heading = "Problem", allow_hyphen_values = true,
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

    /// block-smo, smo, dual-ascent, interior-point, primal-newton, newton, kernel-newton, sgd, perceptron, kernel-perceptron, lda, logistic, l1-newton,
    /// rvm (few vectors, probabilities), mlp (a network);
    /// auto chooses, and says why
    #[arg(long, value_name = "NAME", help_heading = "Solver", default_value = "auto", hide_possible_values = true,
          value_parser = solver())]
    pub(crate) solver: Solver,
    /// The largest violation of the optimality conditions to stop at [default: 1e-3 for kernels, none for linear machines]
    #[arg(long, value_name = "NUMBER", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// The relative duality gap to stop at [default: 1e-4 for linear machines, 5e-3 beside the tolerance for kernels]
    #[arg(long, value_name = "NUMBER", help_heading = "Solver", allow_hyphen_values = true)]
    pub(crate) gap: Option<f64>,
    /// Stop after so many steps [default: a finite cap of the solver's own]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Solver")]
    pub(crate) max_iterations: Option<u64>,
    /// Stop after so many seconds
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

    /// The columns to train on, by name or number counted from 1
    #[arg(long, value_name = "COLUMNS", help_heading = "Reading", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// There is no label column (one-class)
    #[arg(long, help_heading = "Reading", conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Scale the columns; learnt here, stored in the model, applied in prediction
    #[arg(long, value_name = "WAY", help_heading = "Reading", default_value = "none", value_parser = scaling())]
    pub(crate) scale: ScalingKind,
    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Predict this data with the model, and report the accuracy
    #[arg(long, value_name = "DATA", help_heading = "Report", conflicts_with = "holdout")]
    pub(crate) test: Option<PathBuf>,
    /// Keep this share of each class's rows (of all rows, where there are no classes) out of training, and report on them
    #[arg(long, value_name = "SHARE", help_heading = "Report", allow_hyphen_values = true)]
    pub(crate) holdout: Option<f64>,
    /// Draw the decision regions, margins and points to a .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) plot: Option<PathBuf>,
    /// The two columns to draw, by name or number; the others are held at their means
    #[arg(long, value_name = "COLUMNS", help_heading = "Report", value_delimiter = ',')]
    pub(crate) plot_columns: Option<Vec<String>>,
    /// Print one JSON object on standard output
    #[arg(long, help_heading = "Report")]
    pub(crate) json: bool,
    /// With --json: the dual variables, one a training row
    #[arg(long, help_heading = "Report", requires = "json")]
    pub(crate) alphas: bool,
    /// Say nothing but errors
    #[arg(short, long, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// Exit with 1 when the solver did not converge
    #[arg(long, help_heading = "Report")]
    pub(crate) strict: bool,
}

/// Predict labels with a model
#[derive(Args, Debug)]
#[command(after_help = "\
Prints a label a line, as it was written in the training data; a number for a regression, 1 or -1 for one class. With
--decision-values a tab and the decision value of each machine follow, in the order that `maxmargin inspect` lists the
machines; with --probabilities those of the classes, in the order that it lists the classes.

Columns are found by name where the model and the data have names, else by place. The label column of a CSV file may be
missing: when the file has all columns that the model needs and the last one is among them, it has no labels. When the data has
labels that the model knows, the accuracy is said on standard error.

Examples:
  maxmargin predict iris.mm iris
  maxmargin predict mine.mm new.csv -o labels.txt
  maxmargin predict mine.mm new.csv --decision-values | head
  maxmargin predict mine.mm new.csv --probabilities --json")]
pub(crate) struct Predict {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Where to write the labels [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Print the decision values too
    #[arg(long)]
    pub(crate) decision_values: bool,
    /// Print the probability of each class too (models trained with --probabilities or logistic loss, and of lda over several classes)
    #[arg(long, conflicts_with = "decision_values")]
    pub(crate) probabilities: bool,
    /// Print one JSON object on standard output: rows, labels (unless they go to a file), accuracy and time
    #[arg(long)]
    pub(crate) json: bool,
    /// A CSV file without a label column
    #[arg(long, conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Convert data between LIBSVM text, CSV, Parquet, Arrow, npy, npz and our binary cache
#[derive(Args, Debug)]
#[command(after_help = "\
The cache (.mmc) holds all that a data set has, and is read at the speed of the disk: make one of any file that is used
more than once. What another format has no place for is said: column names and weights (LIBSVM text), weights and group numbers
(CSV, Parquet, Arrow), all of them (npz), and the spelling of labels, too (npy). An npz file holds X and y, as numpy.savez or
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
    /// The columns to keep, by name or number counted from 1
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Convert a model between our file and those of LIBSVM and LIBLINEAR, or write it for ONNX
#[derive(Args, Debug)]
#[command(after_help = "\
Models of LIBSVM and LIBLINEAR are also read where they are: predict, inspect and plot take them as they take ours. They
have no certificate, because their files say nothing of their training. What a file has no place for is refused, with
the way out.

An ONNX file computes the model in any runtime of ONNX, scaling included: from X, the rows, it makes label (or value, for a
regression), scores (as predict --decision-values) and, for logistic loss, probabilities. It is not read back.

Examples:
  maxmargin convert-model heart.model heart.mm
  maxmargin convert-model mine.mm mine.onnx
  maxmargin convert-model mine.mm mine.model --to libsvm")]
pub(crate) struct ConvertModel {
    /// A model of ours, of LIBSVM or of LIBLINEAR
    #[arg(value_name = "IN")]
    pub(crate) model: PathBuf,
    /// The file to write; .mm is ours, .onnx is ONNX
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The program to write for, whatever the file is called
    #[arg(long, value_name = "PROGRAM", value_parser = one_of(&[("maxmargin", ModelFormat::Own),
        ("libsvm", ModelFormat::Libsvm), ("liblinear", ModelFormat::Liblinear), ("onnx", ModelFormat::Onnx)]))]
    pub(crate) to: Option<ModelFormat>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Whose model file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelFormat {
    Own,
    Libsvm,
    Liblinear,
    Onnx,
}

/// Show what a model is made of: parameters, machines, certificates and geometry
#[derive(Args, Debug)]
#[command(after_help = "\
With DATA, the geometry that needs points is shown too: the canonical form and margin of each hyperplane, the nearest
points of the classes' convex hulls, and the risk bound.

Examples:
  maxmargin inspect iris.mm
  maxmargin inspect e1.mm e1
  maxmargin inspect e2.mm e2 --mu 0.2
  maxmargin inspect mine.mm --json")]
pub(crate) struct Inspect {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The training data, or other data with its columns and labels
    #[arg(value_name = "DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Reduce the convex hulls: no point weighs more than this, from 1/rows of a class to 1
    #[arg(long, value_name = "MU", default_value_t = 1.0, requires = "data", allow_hyphen_values = true)]
    pub(crate) mu: f64,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Check a model's certificate against its training data, from scratch
#[derive(Args, Debug)]
#[command(after_help = "\
Every number of the certificate is computed anew in double precision; nothing in the model is trusted but its coefficients.
Exit code 0 when the certificate is true, 1 when it is not. Read the data as in training: pass --label, --holdout
and the like again.

Examples:
  maxmargin verify iris.mm iris
  maxmargin verify mine.mm mine.csv --json")]
pub(crate) struct Verify {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The data that it was trained on
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The share of rows that training kept out, with the same --seed
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) holdout: Option<f64>,
    /// There is no label column (one-class)
    #[arg(long, conflicts_with = "label")]
    pub(crate) unlabelled: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

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
    /// Draw those with a figure to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plot: Option<PathBuf>,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
}

/// Ask whether a function is a kernel on some data (Mercer's condition)
#[derive(Args, Debug)]
#[command(after_help = "\
Forms the table of kernel values of at most --rows rows, and looks at its eigenvalues. A function is a kernel only when none is
negative; a model trained with one that is not has no certificate.

Examples:
  maxmargin kernel-check --kernel rbf iris
  maxmargin kernel-check --kernel sigmoid --gamma 0.1 --coef0 -1 blobs
  maxmargin kernel-check --kernel \"rbf * (linear + 1*polynomial(degree=2))\" mine.csv --strict")]
pub(crate) struct KernelCheck {
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// How many rows to look at, spread evenly over the data
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=5000))]
    pub(crate) rows: u64,
    /// The columns to look at, by name or number counted from 1
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Scale the columns first
    #[arg(long, value_name = "WAY", default_value = "none", value_parser = scaling())]
    pub(crate) scale: ScalingKind,
    /// Exit with 1 when it is no kernel
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

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

/// Project rows onto the directions that tell their classes apart (Fisher's discriminant), as CSV
#[derive(Args, Debug)]
#[command(after_help = "\
K classes span K - 1 dimensions at most. The columns are called ld1, ld2, ..., the most telling one first; the label is the last.
With fewer rows than columns choose a --shrinkage, or auto.

Examples:
  maxmargin project iris --onto 2 -o flat.csv
  maxmargin project genes.csv --shrinkage auto -o flat.csv
  maxmargin project mine.csv --apply new.csv -o new-flat.csv")]
pub(crate) struct Project {
    /// A file, - for standard input, or the name of an embedded or generated set
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// How many dimensions [default: one fewer than there are classes]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub(crate) onto: Option<usize>,
    /// Where to write the rows [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the rows of this data instead, projected as those of DATA ask for
    #[arg(long, value_name = "DATA")]
    pub(crate) apply: Option<PathBuf>,
    /// What is added to the scatter matrix: from 0 (nothing) to 1 (a multiple of the identity), or auto (Ledoit and Wolf)
    #[arg(long, value_name = "NUMBER", default_value = "0", allow_hyphen_values = true)]
    pub(crate) shrinkage: String,
    /// The columns to look at, by name or number counted from 1
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Scale the columns first
    #[arg(long, value_name = "WAY", default_value = "none", value_parser = scaling())]
    pub(crate) scale: ScalingKind,
    /// How many threads work; 0 is one for each core
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// A solver by name, or the one that fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solver(pub(crate) Option<SolverKind>);

fn solver() -> impl TypedValueParser<Value = Solver> {
    let names = SolverKind::ALL.map(SolverKind::name);
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
        .map(|text: String| Solver(SolverKind::ALL.into_iter().find(|kind| kind.name() == text)))
}

fn scaling() -> impl TypedValueParser<Value = ScalingKind> {
    one_of(&[("none", ScalingKind::None), ("standard", ScalingKind::Standard), ("minmax", ScalingKind::MinMax)])
}

/// One of a few words, each of which stands for a value.
fn one_of<T: Copy + Send + Sync>(words: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word))
        .map(|text: String| words.iter().find(|(word, _)| *word == text).map_or(words[0].1, |(_, value)| *value))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_solver_has_its_name() {
        for kind in SolverKind::ALL {
            let arguments = Arguments::try_parse_from(["maxmargin", "train", "iris", "--solver", kind.name()]).unwrap();
            assert!(matches!(arguments.command, Command::Train(train) if train.solver.0 == Some(kind)));
        }
    }

    #[test]
    fn flags_that_a_kernel_does_not_have_are_refused() {
        let params = |line: &str| {
            let words = ["maxmargin", "train", "iris"].into_iter().chain(line.split_whitespace());
            match Arguments::try_parse_from(words).unwrap().command {
                Command::Train(train) => train.kernel.params(),
                _ => unreachable!(),
            }
        };
        assert!(params("--kernel rbf --gamma 2").is_ok());
        assert!(params("--kernel poly --degree 2 --coef0 -1 --gamma auto").is_ok());
        for wrong in [
            "--kernel rbf --degree 2",
            "--gamma 1",
            "--kernel linear --coef0 1",
            "--kernel poly --sigma 1",
            "--kernel rbf(gamma=1) --gamma 1",
            "--kernel rbf+linear --degree 1",
            "--kernel rbf --gamma much",
        ] {
            assert!(matches!(params(wrong), Err(Failure::Input { .. })), "{wrong}");
        }
    }
}
