//! The door to pictures.

use std::path::Path;

use maxmargin::data::Dataset;
use maxmargin::{Model, Workers};
use maxmargin_plot::{Format, PlotOptions, decision_plot};

use crate::failure::Failure;
use crate::input::by_name;
use crate::output::{Target, escaped};

/// A picture to be drawn: where, of which columns, in which format.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) target: Target,
    pub(crate) options: PlotOptions,
    format: Format,
}

impl Sketch {
    /// Checks what can be checked before there is a model.
    ///
    /// # Errors
    /// When the file cannot be written, is of no known format, or not two columns are named.
    pub(crate) fn new(path: &Path, read: &[&Path], columns: Option<Vec<String>>) -> Result<Self, Failure> {
        let format = Format::from_path(path)?;
        let target = Target::new(path, read)?;
        let columns = match columns.as_deref() {
            None => None,
            Some([across, up]) => Some((across.clone(), up.clone())),
            Some(names) => {
                return Err(Failure::new(
                    format!("a picture has two columns, but {} are named", names.len()),
                    "name two, as in petal_length,petal_width",
                ));
            }
        };
        Ok(Sketch { target, options: PlotOptions { columns, ..PlotOptions::default() }, format })
    }

    /// Checks that data has the columns to draw, before a model is trained on it.
    ///
    /// # Errors
    /// When a column is unknown, or it is not clear which two to draw.
    pub(crate) fn check(&self, data: &Dataset) -> Result<(), Failure> {
        match &self.options.columns {
            Some((across, up)) => {
                for column in by_name(&[across.clone(), up.clone()], data.names()) {
                    data.find_column(&column)?;
                }
                Ok(())
            }
            None if data.columns() == 2 => Ok(()),
            None => Err(Failure::new(
                format!("a picture shows two columns, but the data has {}", data.columns()),
                "name two of them with --plot-columns, or train on two with --columns",
            )),
        }
    }
}

/// Draws a model and writes the picture. Returns what it shows, in words.
///
/// # Errors
/// When the model cannot be drawn, or the file not written.
pub(crate) fn draw(
    sketch: &Sketch,
    model: &Model,
    data: Option<&Dataset>,
    workers: &Workers,
) -> Result<String, Failure> {
    let mut options = sketch.options.clone();
    if let Some((across, up)) = &mut options.columns {
        let names = by_name(&[across.clone(), up.clone()], model.parts().names.as_deref());
        [*across, *up] = names.try_into().unwrap_or_default();
    }
    let bytes = decision_plot(model, data, &options, sketch.format, workers)?;
    sketch.target.save(&bytes)?;
    let columns = match (&options.columns, &model.parts().names) {
        (Some((across, up)), _) => format!("{} and {}", escaped(across), escaped(up)),
        (None, Some(names)) => names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(" and "),
        (None, None) => "both columns".into(),
    };
    Ok(match model.parts().columns {
        0..=2 => columns,
        _ => format!("{columns}; the other columns at their means"),
    })
}

impl From<maxmargin_plot::Error> for Failure {
    fn from(error: maxmargin_plot::Error) -> Self {
        Failure::new(error.to_string(), error.help())
    }
}
