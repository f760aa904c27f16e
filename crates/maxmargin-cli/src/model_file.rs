//! The door to model files.

use std::path::{Path, PathBuf};

use maxmargin::Model;
use maxmargin::data::ColumnRecipe;

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

/// The most models of one name with numbers behind it.
const MOST_NAMES: usize = 1000;

/// Another name for a model whose own is taken by a model of another recipe; `None` where the name was asked for, is free, or holds a model
/// of this recipe.
pub(crate) fn kept_apart(target: &Target, model: &Model, asked: bool) -> Option<Target> {
    let is_taken = |path: &Path| maxmargin_io::load_model(path).is_ok_and(|there| recipe(&there) != recipe(model));
    if asked || !target.path().is_file() || !is_taken(target.path()) {
        return None;
    }
    let stem = target.path().with_extension("");
    let name = |number: usize| {
        let mut name = stem.as_os_str().to_os_string();
        name.push(format!("-{number}.mm"));
        PathBuf::from(name)
    };
    let free = (2..MOST_NAMES).map(name).find(|path| !path.exists() || (path.is_file() && !is_taken(path)))?;
    Target::new(&free, &[]).ok()
}

/// What makes a model another one than its data does: what was asked for, and how the data was read. What the data decides
/// (weights, the numbers of a kernel, categories) is left out.
fn recipe(model: &Model) -> String {
    let (parts, recipe) = (model.parts(), model.recipe());
    // A gamma that follows the data is the data's.
    let kernel: String =
        recipe.kernel.to_string().chars().filter(|c| !c.is_ascii_digit() && !"-+.e".contains(*c)).collect();
    let table = model.reading().map(|reading| {
        let columns = reading.table.as_ref().map(|table| {
            let of = |column: &ColumnRecipe| (column.column.clone(), column.categories.is_some());
            (table.label.clone(), table.columns.iter().map(of).collect::<Vec<_>>(), table.missing)
        });
        (columns, reading.unlabelled, reading.zero_based, reading.holdout, reading.seed)
    });
    format!(
        "{:?}",
        (
            (recipe.task, kernel, recipe.bias, recipe.loss, recipe.penalty, recipe.norm, model.provenance().solver()),
            (model.provenance().tolerance.to_bits(), recipe.multiclass, recipe.class_weights.is_some()),
            (parts.scaling.as_ref().map(|scaling| scaling.kind()), parts.columns, table),
        )
    )
}
