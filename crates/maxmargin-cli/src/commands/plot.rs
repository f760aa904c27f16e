//! `plot`: a picture of a model.

use maxmargin::Workers;

use crate::arguments::Plot;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::picture::{self, Sketch};

/// Draws.
pub(super) fn run(arguments: &Plot) -> Result<ExitCode, Failure> {
    let words = Words { quiet: false };
    let origin = arguments.data.as_deref().map(|data| Origin::new(data, words)).transpose()?;
    let mut read = vec![arguments.model.as_path()];
    read.extend(origin.as_ref().and_then(Origin::file));
    let mut sketch = Sketch::new(&arguments.output, &read, arguments.columns.clone())?;
    sketch.options.width = arguments.width;
    sketch.options.height = arguments.height;
    sketch.options.title = arguments.title.clone();
    let workers = Workers::new(arguments.threads)?;
    let model = crate::model_file::load(&arguments.model)?;
    let data = match &origin {
        Some(origin) => {
            let source = origin.fetch(arguments.reading.seed_of(&model), &workers, words)?;
            let found = input::read_for_model(&source, &model, &arguments.reading, false, words)?;
            if !found.labelled() {
                words.note("the data has no labels, so all points are drawn as of one class");
            }
            Some(input::training_part(&model, found.data, arguments.reading.seed_of(&model), &workers)?.0)
        }
        None => None,
    };
    let of = picture::draw(&sketch, &model, data.as_ref(), &workers)?;
    output::say(&format!("wrote {} ({of})", sketch.target.shown()));
    Ok(ExitCode::Done)
}
