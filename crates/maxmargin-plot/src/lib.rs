//! Pictures of maxmargin models as SVG and PNG.
//!
//! ```text
//! Model, Dataset --kinds--> Scene, Numbers --svg--> bytes --png--> pixels
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `kinds/` | a file for each kind of picture of a model |
//! | `curves/` | a file for each picture of plain numbers: a search, a path, a training |
//! | `figures/` | the figures of the textbooks |
//! | `plane.rs`, `directions.rs` | a plane through the columns, and what the model says on it |
//! | `rows.rs` | which rows are drawn, and what is known of each |
//! | `contour.rs` | regions and level lines by marching squares |
//! | `words.rs` | a model in words |
//! | `numbers.rs` | what a picture is drawn from, as a table |
//! | `drawing/` | shapes, colours, text, axes and formats, without a notion of models |
//!
//! Files are written by others: everything here ends in bytes, the same for the same model and data.
//!
//! # Why the SVG is our own
//!
//! We write SVG ourselves, and a PNG is that very SVG, rasterised by `resvg` with the one font that comes with this crate. So both formats
//! show the same picture by construction. Text is measured with that font, so a test can prove that no two words overlap. Measured beside
//! `plotters`, which was here before: it needs 26 crates and 21 s of one core to compile, `resvg` 51 crates and 62 s. Its SVG counts in whole
//! pixels, its filling bleeds at corners, and it measures text in whole pixels. We worked around each of these, and would have needed more:
//! it knows no dashes, no clipping, no `<title>`.

pub mod contour;
mod curves;
mod directions;
mod drawing;
mod error;
mod figures;
mod kinds;
mod numbers;
mod plane;
mod rows;
mod words;

use std::path::Path;

use maxmargin::data::Dataset;
use maxmargin::model::Model;
use maxmargin::problem::Task;
use maxmargin::workers::Workers;

pub use curves::{
    Convergence, Grid, GridCell, GridPanel, Learning, Mark, Path as ParameterPath, PathCurve, Quantity, SearchKind,
    convergence, grid, learning, path, plot_search,
};
pub use directions::{DataPlane, data_planes};
pub use drawing::theme::Theme;
pub use error::Error;
pub use figures::{FIGURES, Figure};
pub use numbers::Numbers;

use drawing::scene::Scene;
use drawing::{png, svg};
use kinds::Subject;

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines and text, sharp in any size.
    Svg,
    /// Pixels, two for each unit of the picture.
    Png,
}

impl Format {
    /// The format that a file's name asks for by its ending, in small or large letters.
    ///
    /// # Errors
    /// When it ends neither in `.svg` nor in `.png`.
    ///
    /// # Examples
    /// ```
    /// use maxmargin_plot::Format;
    ///
    /// assert_eq!(Format::from_path("plane.svg"), Ok(Format::Svg));
    /// assert_eq!(
    ///     Format::from_path("plane.gif").unwrap_err().to_string(),
    ///     "the picture's name \"plane.gif\" ends neither in .svg nor in .png"
    /// );
    /// ```
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(Error::Format { path: path.to_string_lossy().into_owned() }),
        }
    }
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The regions of the classes on a plane, with margins, rows and support vectors.
    Regions,
    /// A histogram of how far the rows are on the right side, with 0 and 1 marked.
    Margins,
    /// ROC and precision-recall curves.
    Roc,
    /// Predicted probabilities beside how often they came true.
    Calibration,
    /// Which classes are taken for which.
    Confusion,
    /// The convex hulls of two classes, their nearest points, and the boundary between them.
    Hulls,
    /// A regression with the tube around it.
    Tube,
    /// The residuals of a regression.
    Residuals,
    /// Why the model says of a row what it says, term by term.
    Why,
}

impl Kind {
    /// All kinds of pictures of models.
    pub const ALL: [Kind; 9] = [
        Kind::Regions,
        Kind::Margins,
        Kind::Roc,
        Kind::Calibration,
        Kind::Confusion,
        Kind::Hulls,
        Kind::Tube,
        Kind::Residuals,
        Kind::Why,
    ];

    /// The kind's name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Regions => "regions",
            Kind::Margins => "margins",
            Kind::Roc => "roc",
            Kind::Calibration => "calibration",
            Kind::Confusion => "confusion",
            Kind::Hulls => "hulls",
            Kind::Tube => "tube",
            Kind::Residuals => "residuals",
            Kind::Why => "why",
        }
    }

    /// The kind of a name; `None` for any other word.
    pub fn named(name: &str) -> Option<Self> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind that shows a model of some task as a whole.
    pub fn usual(task: Task) -> Self {
        if task.is_regression() { Kind::Tube } else { Kind::Regions }
    }

    /// Whether models of a task can be drawn so.
    pub fn suits(self, task: Task) -> bool {
        match self {
            Kind::Why => true,
            Kind::Tube | Kind::Residuals => task.is_regression(),
            Kind::Regions => !task.is_regression(),
            _ => task.is_classification(),
        }
    }
}

/// What a picture looks like, not yet checked. Plain, public, `Default`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotOptions {
    /// Units across, from 400 to 4000; a PNG has two pixels for each.
    pub width: u32,
    /// Units down, from 300 to 4000.
    pub height: u32,
    /// The columns across and up, by name or by number counted from 1 where the model has no names; `None` for both columns of a model of
    /// two, and for the plane that shows most where there are more.
    pub columns: Option<(String, String)>,
    /// The title; `None` for what the picture is of.
    pub title: Option<String>,
    /// Light or dark.
    pub theme: Theme,
    /// The row that [`Kind::Why`] explains, counted from 0.
    pub row: usize,
}

impl Default for PlotOptions {
    fn default() -> Self {
        PlotOptions { width: 760, height: 560, columns: None, title: None, theme: Theme::Light, row: 0 }
    }
}

impl PlotOptions {
    fn check(&self) -> Result<(), Error> {
        if !(400..=4000).contains(&self.width) {
            let found = self.width.to_string();
            return Err(Error::Parameter { name: "width", found, allowed: "from 400 to 4000" });
        }
        if !(300..=4000).contains(&self.height) {
            let found = self.height.to_string();
            return Err(Error::Parameter { name: "height", found, allowed: "from 300 to 4000" });
        }
        Ok(())
    }
}

/// A picture, and the numbers that it shows.
#[derive(Clone, Debug)]
pub struct Picture {
    scene: Scene,
    numbers: Numbers,
}

impl Picture {
    /// The picture in a format.
    ///
    /// # Errors
    /// When it cannot be rasterised.
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>, Error> {
        match format {
            Format::Svg => Ok(svg::write(&self.scene).into_bytes()),
            Format::Png => png::write(&svg::write(&self.scene)),
        }
    }

    /// The numbers that it is drawn from.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Its title: what it is of, in one line.
    pub fn title(&self) -> &str {
        &self.scene.title
    }

    /// Texts that hide each other or leave the sheet, computed from the room that each takes; none in a good picture.
    pub fn clashes(&self) -> Vec<String> {
        let boxes = self.scene.text_boxes();
        let sheet = self.scene.sheet();
        let mut found = Vec::new();
        for (k, (text, own)) in boxes.iter().enumerate() {
            if !sheet.holds(own) {
                found.push(format!("{text:?} leaves the sheet"));
            }
            for (other, _) in boxes[..k].iter().filter(|(_, room)| room.meets(own)) {
                found.push(format!("{other:?} and {text:?} overlap"));
            }
        }
        found
    }
}

/// Draws a model.
///
/// # Errors
/// When an option is out of range, the model or the data is not of a kind that the picture shows, or the data does not fit the model.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::{TrainingParams, Unattended, Workers};
/// use maxmargin_plot::{Format, Kind, PlotOptions, plot};
///
/// let data = embedded("e2").unwrap();
/// let model = TrainingParams::default().check()?.fit(&data, &Workers::none(), &mut Unattended)?;
/// let picture = plot(Kind::Regions, &model, Some(&data), &PlotOptions::default(), &Workers::none())?;
/// assert!(picture.bytes(Format::Svg)?.starts_with(b"<svg"));
/// assert!(picture.clashes().is_empty());
/// assert_eq!(picture.numbers().rows(), data.rows());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plot(
    kind: Kind,
    model: &Model,
    data: Option<&Dataset>,
    options: &PlotOptions,
    workers: &Workers,
) -> Result<Picture, Error> {
    options.check()?;
    let (scene, numbers) = kinds::draw(kind, &Subject { model, data, options, workers })?;
    Ok(Picture { scene, numbers })
}

/// Draws what a model decides over a plane of two of its columns: [`plot`] of [`Kind::Regions`], as bytes.
///
/// Regions are tinted by class. With two classes the boundary f = 0 is a solid line and the margins f = ±1 are dashed; with
/// more, lines divide the regions. Rows are marked by colour and shape of their class. When the data is what the model was
/// trained on, support vectors are ringed: a plain ring on the margin, a broken one inside of it, a double one for the
/// misclassified. Columns other than the two are held at their mean, and the caption says so.
///
/// Without data a kernel model is drawn over the range of its own support vectors.
///
/// Cost: the decision values of about 200 × 200 points; fewer where a point costs much.
///
/// # Errors
/// When an option is out of range, the columns are not known, the kernel is precomputed, a linear model comes without data,
/// or the data does not fit the model.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::{TrainingParams, Unattended, Workers};
/// use maxmargin_plot::{Format, PlotOptions, decision_plot};
///
/// let data = embedded("e2").unwrap();
/// let model = TrainingParams::default().check()?.fit(&data, &Workers::none(), &mut Unattended)?;
/// let picture = decision_plot(&model, Some(&data), &PlotOptions::default(), Format::Svg, &Workers::none())?;
/// assert!(picture.starts_with(b"<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decision_plot(
    model: &Model,
    data: Option<&Dataset>,
    options: &PlotOptions,
    format: Format,
    workers: &Workers,
) -> Result<Vec<u8>, Error> {
    plot(Kind::Regions, model, data, options, workers)?.bytes(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::scene::Anchor;

    #[test]
    fn words_that_hide_each_other_or_leave_the_sheet_are_found() {
        let clashes = |places: &[(f64, f64)]| {
            let mut scene = Scene::new((200.0, 100.0), Theme::Light);
            for &at in places {
                scene.text("words", at, 12.0, Anchor::Middle, (0, 0, 0));
            }
            Picture { scene, numbers: Numbers::default() }.clashes()
        };
        assert!(clashes(&[(50.0, 50.0), (50.0, 64.0), (120.0, 50.0)]).is_empty());
        assert_eq!(clashes(&[(50.0, 50.0), (60.0, 55.0)]), ["\"words\" and \"words\" overlap"]);
        assert_eq!(clashes(&[(195.0, 50.0)]), ["\"words\" leaves the sheet"]);
    }
}
