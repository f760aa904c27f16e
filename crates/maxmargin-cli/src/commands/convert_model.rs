//! `convert-model`: a model from one program's file to another's.

use maxmargin_io::{
    LiblinearLayout, LibsvmLayout, liblinear_model_to_text, libsvm_model_to_text, onnx_model_to_bytes, save_atomically,
    save_model,
};

use crate::arguments::{ConvertModel, ModelFormat};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::interrupt::{self, Phase};
use crate::model_file;
use crate::output::{self, Target};

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
