//! What changes along a path of one parameter, such as C: a small panel for each quantity, all over one axis.

use super::{axis_of, nothing};
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::{Picture, PlotOptions};

/// Panels at most; further quantities are left out.
const MOST_PANELS: usize = 6;

/// Values along a parameter up to which each has a dot.
const MOST_DOTS: usize = 40;

/// The least height of a panel with its names.
const PANEL: u32 = 100;

/// Room for the curves' names at their right ends.
const NAMES: f64 = 92.0;

/// A number at each value of the parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathCurve {
    /// What it is, in a word or two; not shown where it is alone in its panel.
    pub name: String,
    /// The numbers; NaN where there is none.
    pub values: Vec<f64>,
    /// Half of the width of a band around each number; empty for none.
    pub bands: Vec<f64>,
}

/// Curves that share a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantity {
    /// What is measured.
    pub name: String,
    /// One curve or more.
    pub curves: Vec<PathCurve>,
}

impl Quantity {
    /// A quantity of one curve without a band.
    pub fn of(name: &str, values: Vec<f64>) -> Self {
        let curve = PathCurve { name: name.into(), values, bands: Vec::new() };
        Quantity { name: name.into(), curves: vec![curve] }
    }
}

/// Quantities along a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// What is followed, in a few words: the picture's title.
    pub title: String,
    /// A line below the title; empty for how many values the parameter has.
    pub below: String,
    /// The name of the parameter.
    pub parameter: String,
    /// Its values.
    pub at: Vec<f64>,
    /// A panel for each quantity.
    pub quantities: Vec<Quantity>,
    /// The value to mark, such as the one that was chosen.
    pub chosen: Option<f64>,
    /// What the reader must know and cannot see.
    pub caption: Vec<String>,
}

/// Draws a path.
///
/// # Errors
/// When there are no numbers, or an option is out of range.
pub fn path(found: &Path, options: &PlotOptions) -> Result<Picture, Error> {
    options.check()?;
    let is_known =
        |quantity: &&Quantity| quantity.curves.iter().flat_map(|curve| &curve.values).any(|value| value.is_finite());
    let shown: Vec<&Quantity> = found.quantities.iter().filter(is_known).take(MOST_PANELS).collect();
    if shown.is_empty() || found.at.is_empty() {
        return Err(nothing());
    }
    let parameter = text::safe(&found.parameter);
    let count = || format!("{} of {parameter}", text::counted(found.at.len(), "value"));
    let mut caption: Vec<String> = found.caption.iter().map(|piece| text::safe(piece)).collect();
    caption.extend(found.chosen.map(|chosen| format!("dashed: {parameter} = {}", short(chosen))));
    let words = Words {
        title: text::safe(&found.title),
        below: if found.below.is_empty() { count() } else { text::safe(&found.below) },
        caption,
        description: format!("{} over {parameter}.", text::counted(shown.len(), "panel")),
    };
    let columns = if shown.len() > 3 { 2 } else { 1 };
    let rows = shown.len().div_ceil(columns);
    let (mut scene, body) = page::begin(&page::high_enough(options, rows, PANEL), &words);
    for (k, (quantity, place)) in shown.iter().zip(body.cells(columns, rows, (28.0, 8.0))).enumerate() {
        let is_last = k + columns >= shown.len();
        draw(&mut scene, found, quantity, place, if is_last { &parameter } else { "" })?;
    }
    let mut numbers = Numbers::new(&["at", "quantity", "curve", "value", "band"]);
    for quantity in &found.quantities {
        for curve in &quantity.curves {
            for (k, (at, value)) in found.at.iter().zip(&curve.values).enumerate() {
                let band = curve.bands.get(k).copied();
                let names = (quantity.name.as_str(), curve.name.as_str());
                numbers.push([(*at).into(), names.0.into(), names.1.into(), (*value).into(), band.into()]);
            }
        }
    }
    Ok(Picture { scene, numbers })
}

/// The panel of a quantity.
fn draw(scene: &mut Scene, found: &Path, quantity: &Quantity, place: Rect, parameter: &str) -> Result<(), Error> {
    let theme = scene.theme;
    let has_names = quantity.curves.len() > 1;
    let place = if has_names { Rect { right: place.right - NAMES, ..place } } else { place };
    let band = |curve: &PathCurve, k: usize| curve.bands.get(k).copied().filter(|band| band.is_finite()).unwrap_or(0.0);
    let reach: Vec<f64> = quantity
        .curves
        .iter()
        .flat_map(|curve| {
            let ends = |(k, &value): (usize, &f64)| [value - band(curve, k), value + band(curve, k)];
            curve.values.iter().enumerate().flat_map(ends).collect::<Vec<_>>()
        })
        .collect();
    let has_bands = quantity.curves.iter().any(|curve| !curve.bands.is_empty());
    let name = text::safe(&quantity.name);
    // A band may reach below 0, where powers of ten have no place.
    let y = if has_bands {
        Axis::new(&name, Range::around(reach.iter().copied()).ok_or_else(nothing)?)
    } else {
        axis_of(&name, &reach)?
    };
    let panel = Panel::new(place, axis_of(parameter, &found.at)?, y, Look::Lines);
    panel.begin(scene);
    if let Some(chosen) = found.chosen {
        let x = panel.at(chosen, 1.0).0;
        scene.line(vec![(x, panel.frame.top), (x, panel.frame.bottom)], Pen::new(theme.ink(), 1.2).dashed(5.0, 4.0));
    }
    let colour = |k: usize| theme.class(Some([1, 0, 2][k % 3]));
    for (number, curve) in quantity.curves.iter().enumerate().filter(|(_, curve)| !curve.bands.is_empty()) {
        let known: Vec<(usize, f64)> =
            curve.values.iter().copied().enumerate().filter(|(_, value)| value.is_finite()).collect();
        let side = |sign: f64| known.iter().map(move |&(k, value)| (found.at[k], value + sign * band(curve, k)));
        let upper = side(1.0).map(|(x, y)| panel.at(x, y));
        let lower: Vec<_> = side(-1.0).map(|(x, y)| panel.at(x, y)).collect();
        scene.glaze(upper.chain(lower.into_iter().rev()).collect(), colour(number), 0.18);
    }
    let mut names = Vec::new();
    for (number, curve) in quantity.curves.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            found.at.iter().copied().zip(curve.values.iter().copied()).filter(|(_, y)| y.is_finite()).collect();
        panel.curve(scene, points.iter().copied(), Pen::new(colour(number), 1.8));
        if points.len() <= MOST_DOTS {
            points.iter().for_each(|&(x, y)| scene.disc(panel.at(x, y), 3.2, colour(number)));
        }
        names.extend(points.last().map(|&(x, y)| (text::safe(&curve.name), panel.at(x, y), colour(number))));
    }
    panel.finish(scene);
    if has_names {
        let names: Vec<_> = names.iter().map(|(name, at, colour)| (name.as_str(), *at, *colour)).collect();
        page::end_labels(scene, (panel.frame.right + 8.0, panel.frame.bottom), NAMES - 4.0, &names);
    }
    Ok(())
}
