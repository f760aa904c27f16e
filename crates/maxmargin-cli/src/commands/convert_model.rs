//! `convert-model`: a model from one program's file to another's.

use maxmargin::Model;
use maxmargin::calibration::Calibration;
use maxmargin_io::{
    LiblinearLayout, LibsvmLayout, liblinear_model_to_text, libsvm_model_to_text, onnx_model_to_bytes, save_atomically,
    save_model,
};

use crate::arguments::{ConvertModel, ModelFormat};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::interrupt::{self, Phase};
use crate::model_file;
use crate::output::{self, Target, Words};

/// Converts.
pub(super) fn run(arguments: &ConvertModel) -> Result<ExitCode, Failure> {
    let format = match (arguments.to, arguments.output.extension().and_then(|name| name.to_str())) {
        (Some(format), _) => format,
        (None, Some("mm")) => ModelFormat::Own,
        (None, Some("onnx")) => ModelFormat::Onnx,
        (None, _) => {
            return Err(Failure::new(
                "a name without .mm or .onnx does not say whose file it is to be",
                "add --to libsvm, --to liblinear, --to onnx or --to maxmargin",
            ));
        }
    };
    let target = Target::new(&arguments.output, &[&arguments.model])?;
    let model = model_file::load(&arguments.model)?;
    if let Some(note) = left_out(&model, format) {
        Words { quiet: arguments.quiet }.note(note);
    }
    let bytes = match format {
        ModelFormat::Own => None,
        ModelFormat::Libsvm => Some(libsvm_model_to_text(&model, LibsvmLayout::default())?.into_bytes()),
        ModelFormat::Liblinear => Some(liblinear_model_to_text(&model, LiblinearLayout::default())?.into_bytes()),
        ModelFormat::Onnx => Some(onnx_model_to_bytes(&model)?),
    };
    interrupt::during(Phase::Saving, || match &bytes {
        Some(bytes) => save_atomically(target.path(), bytes),
        None => save_model(target.path(), &model),
    })?;
    if !arguments.quiet {
        output::print(&format!("wrote {}\n", target.shown()))?;
    }
    Ok(ExitCode::Done)
}

/// What the other program's file has no place for: probabilities of a form that it does not know.
fn left_out(model: &Model, format: ModelFormat) -> Option<&'static str> {
    let mut calibrations = model.machines().iter().filter_map(|machine| machine.calibration.as_ref());
    let ours = |found: &Calibration| matches!(found, Calibration::Slopes(_));
    match format {
        ModelFormat::Own => None,
        ModelFormat::Libsvm => calibrations.any(ours).then_some(
            "the model's probabilities are of a form that LIBSVM does not know, and are left out; train with --probabilities=platt to keep them",
        ),
        ModelFormat::Liblinear | ModelFormat::Onnx => {
            calibrations.next().map(|_| "the model's calibration has no place in this file, and is left out")
        }
    }
}
