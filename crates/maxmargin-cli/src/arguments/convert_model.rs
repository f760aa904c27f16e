//! The arguments of `convert-model`.

use std::path::PathBuf;

use clap::Args;

use super::values::one_of;

/// Convert a model between our file and those of LIBSVM and LIBLINEAR, or write it for ONNX
#[derive(Args, Debug)]
#[command(after_help = "\
Models of LIBSVM and LIBLINEAR are also read where they are: predict, inspect and plot take them as they take ours. They \
have no certificate, because their files say nothing of their training. What a file has no place for is refused, with \
the way out.

An ONNX file computes the model in any runtime of ONNX, scaling included: from X, the rows, it makes label (or value, for a \
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
