//! Pictures of maxmargin models as SVG and PNG.
//!
//! ```text
//! Model, Dataset --View--> plane, classes, points --chart--> Scene --svg or png--> bytes
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `view.rs` | which columns, how far, which rows, and what the model says there |
//! | `contour.rs` | regions and level lines by marching squares |
//! | `axis.rs` | ranges, ticks, short numbers |
//! | `chart.rs` | the composition: title, plane, legend, caption |
//! | `scene.rs` | shapes, colours, markers and rings |
//! | `svg.rs`, `png.rs` | shapes to bytes |
//! | `text.rs` | the font, and text of the user made safe |
//!
//! Files are written by others: everything here ends in a `Vec<u8>`, the same bytes for the same model and data.

mod axis;
mod chart;
pub mod contour;
mod error;
mod png;
mod scene;
mod svg;
mod text;
mod view;

use std::path::Path;

use maxmargin::data::Dataset;
use maxmargin::model::Model;
use maxmargin::workers::Workers;

pub use error::Error;

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines and text, sharp in any size.
    Svg,
    /// Pixels.
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

/// What a picture looks like, not yet checked. Plain, public, `Default`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotOptions {
    /// Pixels across, from 400 to 4000.
    pub width: u32,
    /// Pixels down, from 300 to 4000.
    pub height: u32,
    /// The columns across and up, by name or by number counted from 1 where the model has no names; `None` for the two
    /// columns of a model that has no more.
    pub columns: Option<(String, String)>,
    /// The title; `None` for kernel, penalty, loss, support vectors, training errors and gap.
    pub title: Option<String>,
}

impl Default for PlotOptions {
    fn default() -> Self {
        PlotOptions { width: 900, height: 700, columns: None, title: None }
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

/// Draws what a model decides over a plane of two of its columns.
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
    options.check()?;
    text::register()?;
    let view = view::View::new(model, data, options.columns.as_ref(), workers)?;
    let scene = chart::draw(model, &view, options)?;
    match format {
        Format::Svg => svg::write(&scene),
        Format::Png => png::write(&scene),
    }
}
