//! The door to model files.

use std::path::Path;

use maxmargin::Model;

use crate::failure::Failure;
use crate::interrupt::{self, Phase};
use crate::output::Target;

/// Loads a model.
///
/// # Errors
/// When the file cannot be read, or is no model of a version that we know.
pub(crate) fn load(path: &Path) -> Result<Model, Failure> {
    Ok(maxmargin_io::load_model(path)?)
}

/// Saves a model, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn save(target: &Target, model: &Model) -> Result<(), Failure> {
    Ok(interrupt::during(Phase::Saving, || maxmargin_io::save_model(target.path(), model))?)
}
