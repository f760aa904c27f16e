//! The figures of the textbooks, each computed and drawn from the worked examples.
//!
//! | file | figures |
//! | --- | --- |
//! | `lines.rs` | a plane and its numbers, the widest of many separators, slack |
//! | `conics.rs` | an ellipse with its axes, iris on its principal components |
//! | `compared.rs` | several models side by side |
//! | `fisher.rs` | a projection, and Fisher's criterion over its angle |
//! | `lifted.rs` | xor and rings, and the space where a plane separates them |

mod compared;
mod conics;
mod fisher;
mod lifted;
mod lines;

use maxmargin::data::Dataset;
use maxmargin::model::Model;
use maxmargin::training::TrainingParams;
use maxmargin::worked;
use maxmargin::{Unattended, Workers};

use crate::drawing::axis::{Axis, Range};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Rect, Scene};
use crate::error::Error;
use crate::kinds::regions::{Ground, points};
use crate::numbers::Numbers;
use crate::plane::Plane;
use crate::{Picture, PlotOptions};

/// A figure of the textbooks.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name: that of its file, without the ending.
    pub name: &'static str,
    /// The worked example that it belongs to, `E1` to `E10`.
    pub example: &'static str,
    draw: fn(&Desk<'_>) -> Result<(Scene, Numbers), Error>,
}

/// All figures, in the order of their examples.
pub const FIGURES: [Figure; 16] = [
    Figure { name: "e1-plane", example: "E1", draw: lines::plane },
    Figure { name: "e1-separators", example: "E1", draw: lines::separators },
    Figure { name: "e1-margin", example: "E1", draw: lines::margin },
    Figure { name: "e1-hulls", example: "E1", draw: lines::hulls },
    Figure { name: "e2-slack", example: "E2", draw: lines::slack },
    Figure { name: "e3-ellipse", example: "E3", draw: conics::ellipse },
    Figure { name: "e4-iris", example: "E4", draw: compared::iris },
    Figure { name: "e5-primal-dual", example: "E5", draw: compared::primal_dual },
    Figure { name: "e6-components", example: "E6", draw: conics::components },
    Figure { name: "e7-losses", example: "E7", draw: compared::losses },
    Figure { name: "e8-xor", example: "E8", draw: lifted::xor },
    Figure { name: "e8-rings", example: "E8", draw: lifted::rings },
    Figure { name: "e8-two-ways", example: "E8", draw: compared::two_ways },
    Figure { name: "e9-far-blob", example: "E9", draw: compared::far_blob },
    Figure { name: "e9-fisher", example: "E9", draw: fisher::criterion },
    Figure { name: "e10-sweep", example: "E10", draw: compared::sweep },
];

impl Figure {
    /// Computes and draws the figure.
    ///
    /// # Errors
    /// When an option is out of range.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::Workers;
    /// use maxmargin_plot::{FIGURES, Format, PlotOptions};
    ///
    /// let figure = FIGURES.iter().find(|figure| figure.name == "e1-margin").unwrap();
    /// let picture = figure.draw(&PlotOptions::default(), &Workers::none())?;
    /// assert!(picture.bytes(Format::Svg)?.starts_with(b"<svg"));
    /// # Ok::<(), maxmargin_plot::Error>(())
    /// ```
    pub fn draw(&self, options: &PlotOptions, workers: &Workers) -> Result<Picture, Error> {
        options.check()?;
        let (scene, numbers) = (self.draw)(&Desk { options, workers })?;
        Ok(Picture { scene, numbers })
    }
}

/// What every figure is drawn with.
pub(crate) struct Desk<'a> {
    pub(crate) options: &'a PlotOptions,
    pub(crate) workers: &'a Workers,
}

impl Desk<'_> {
    /// The data and parameters of a worked example.
    fn example(&self, id: &str) -> Result<(Dataset, TrainingParams), Error> {
        worked::figure(id).ok_or_else(|| Error::Drawing(format!("there is no worked example {id}")))
    }

    fn fit(&self, data: &Dataset, params: TrainingParams) -> Result<Model, Error> {
        Ok(params.check()?.fit(data, self.workers, &mut Unattended)?)
    }

    /// Begins a sheet of the figure's own words.
    fn begin(&self, title: &str, below: &str, caption: &[&str]) -> (Scene, Rect) {
        let caption = caption.iter().map(|piece| (*piece).to_string()).collect();
        let words =
            Words { title: title.into(), below: below.into(), caption, description: format!("{title}. {below}") };
        page::begin(self.options, &words)
    }

    /// A panel of a model over its two columns, with everything but lines that the caller adds. `ranges` are those that several panels
    /// share; else the data's own.
    fn panel(&self, scene: &mut Scene, place: Rect, heading: Option<&str>, view: &View<'_>) -> Result<Panel, Error> {
        let mut plane = Plane::new(view.model, Some(view.data), None, self.workers)?;
        let titles = plane.titles();
        let (x, y) = view.ranges.unwrap_or(plane.ranges);
        let panel = Panel::with_heading(place, Axis::new(&titles.0, x), Axis::new(&titles.1, y), Look::Frame, heading)
            .squared_lower();
        plane.ranges = (panel.x.range, panel.y.range);
        let ground = Ground::of(view.model, &plane)?;
        ground.draw_regions(scene, &panel);
        panel.within(scene, |scene| {
            ground.draw_lines(scene, &panel);
        });
        let mut marks = plane.marks();
        if !view.rings {
            marks.iter_mut().for_each(|mark| mark.ring = None);
        }
        panel.within(scene, |scene| points(scene, &panel, &marks));
        panel.finish(scene);
        Ok(panel)
    }
}

/// A model on its data, in one of several panels.
struct View<'a> {
    model: &'a Model,
    data: &'a Dataset,
    ranges: Option<(Range, Range)>,
    rings: bool,
}

impl<'a> View<'a> {
    fn new(model: &'a Model, data: &'a Dataset) -> Self {
        View { model, data, ranges: None, rings: true }
    }
}

/// The number of support vectors and the margin of a model of two classes.
fn certified(model: &Model) -> (usize, f64) {
    let certificate = model.machines().first().and_then(|machine| machine.evidence.certificate());
    certificate.map_or((0, f64::NAN), |found| (found.counts.support, found.margin))
}

/// A row's place: its two columns.
fn place(data: &Dataset, row: usize) -> (f64, f64) {
    let numbers = data.matrix().row(row);
    (numbers[0], numbers[1])
}

/// The ranges of two columns, with air around.
fn ranges(data: &Dataset) -> (Range, Range) {
    let unit = Range::exactly(0.0, 1.0);
    let of = |column: usize| Range::around((0..data.rows()).map(|row| data.matrix().row(row)[column])).unwrap_or(unit);
    (of(0), of(1))
}
