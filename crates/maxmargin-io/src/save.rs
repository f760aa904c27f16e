//! Saving as a method of models.

use std::path::Path;

use maxmargin::Model;

use crate::error::Error;
use crate::model_file::save_model;

/// Saves a model, be it a [`Model`] or one that knows the type of its answers. [`load_model`](crate::load_model) reads it.
///
/// # Examples
/// ```
/// use maxmargin::{Classes, Fitted, Svc};
/// use maxmargin_io::{Save, load_model};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.mm");
/// Svc::linear().fit((&[[0.0], [1.0]], &[-1, 1]))?.save(&path)?;
///
/// let model: Fitted<Classes<i32>> = load_model(&path)?.try_into()?;
/// assert_eq!(model.predict(&[[0.9]])?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Save {
    /// Writes the model file (`.mm`): it is either whole or untouched.
    ///
    /// # Errors
    /// When the file cannot be written, or the model has a kernel of the user's own.
    fn save(&self, path: impl AsRef<Path>) -> Result<(), Error>;
}

impl<M: AsRef<Model>> Save for M {
    fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        save_model(path.as_ref(), self.as_ref())
    }
}
