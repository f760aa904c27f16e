//! The door to pictures.

use std::path::{Path, PathBuf};

use maxmargin::data::Dataset;
use maxmargin::error::quoted;
use maxmargin::{Model, Workers};
use maxmargin_plot::{Format, Kind, Picture, PlotOptions, Theme, plot};

use crate::failure::Failure;
use crate::input::by_name;
use crate::output::{Target, escaped, reason};

/// A picture to be drawn: where, of which kind and columns, in which format.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) target: Target,
    /// Where the numbers of the picture go, if they are asked for.
    pub(crate) numbers: Option<Target>,
    /// The kind; `None` for the one that shows a model as a whole.
    pub(crate) kind: Option<Kind>,
    pub(crate) options: PlotOptions,
    pub(crate) format: Format,
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
        let options = PlotOptions { columns, ..PlotOptions::default() };
        Ok(Sketch { target, numbers: None, kind: None, options, format })
    }

    /// [`Sketch::new`] for a command whose picture is not its main work; `None` without a file.
    ///
    /// # Errors
    /// As [`Sketch::new`].
    pub(crate) fn of(path: Option<&PathBuf>, read: &[&Path]) -> Result<Option<Self>, Failure> {
        path.map(|path| Sketch::new(path, read, None)).transpose()
    }

    /// Checks that data has the columns to draw, before a model is trained on it.
    ///
    /// # Errors
    /// When a column is unknown.
    pub(crate) fn check(&self, data: &Dataset) -> Result<(), Failure> {
        if let Some((across, up)) = &self.options.columns {
            for column in by_name(&[across.clone(), up.clone()], data.names()) {
                data.find_column(&column)?;
            }
        }
        Ok(())
    }

    /// Writes a picture, and its numbers where they are asked for.
    ///
    /// # Errors
    /// When it cannot be rasterised, or a file not be written.
    pub(crate) fn save(&self, picture: &Picture) -> Result<(), Failure> {
        self.target.save(&picture.bytes(self.format)?)?;
        self.numbers.as_ref().map_or(Ok(()), |target| target.save(picture.numbers().csv().as_bytes()))
    }
}

/// Makes a folder for pictures, unless it is there.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(folder).map_err(|error| {
        let folder = quoted(&folder.to_string_lossy());
        Failure::new(
            format!("cannot make the folder {folder}: {}", reason(&error)),
            "make it first, or choose another one",
        )
    })
}

/// The theme of a flag that knows no other names.
pub(crate) fn theme(name: &str) -> Theme {
    Theme::named(name).unwrap_or_default()
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
    let kind = sketch.kind.unwrap_or(Kind::usual(model.task()));
    sketch.save(&plot(kind, model, data, &options, workers)?)?;
    if !matches!(kind, Kind::Regions | Kind::Hulls) {
        return Ok(kind.name().into());
    }
    let columns = match (&options.columns, &model.parts().names) {
        (Some((across, up)), _) => format!("{} and {}", escaped(across), escaped(up)),
        (None, _) if model.parts().columns > 2 => return Ok("the plane that shows most of all columns".into()),
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
