//! What changes along a path of one parameter, such as C: a small panel for each quantity, all over one axis.

use super::{axis_of, nothing};
use crate::drawing::axis::short;
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::Pen;
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::{Picture, PlotOptions};

/// Quantities that have a panel; further ones are left out.
const MOST_PANELS: usize = 6;

/// Quantities along a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// What is followed, in a few words: the picture's title.
    pub title: String,
    /// The name of the parameter.
    pub parameter: String,
    /// Its values.
    pub at: Vec<f64>,
    /// The name of each quantity, and its number at each value.
    pub quantities: Vec<(String, Vec<f64>)>,
    /// The value to mark, such as the one that was chosen.
    pub chosen: Option<f64>,
}

/// Draws a path.
///
/// # Errors
/// When there are no numbers, or an option is out of range.
pub fn path(found: &Path, options: &PlotOptions) -> Result<Picture, Error> {
    options.check()?;
    let shown = &found.quantities[..found.quantities.len().min(MOST_PANELS)];
    if shown.is_empty() || found.at.is_empty() {
        return Err(nothing());
    }
    let parameter = text::safe(&found.parameter);
    let chosen = found.chosen.map(|chosen| format!("line: {parameter} = {}", short(chosen)));
    let words = Words {
        title: text::safe(&found.title),
        below: format!("{} of {parameter}", text::counted(found.at.len(), "value")),
        caption: chosen.into_iter().collect(),
        description: format!("{} quantities over {parameter}.", shown.len()),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let columns = if shown.len() > 3 { 2 } else { 1 };
    let rows = shown.len().div_ceil(columns);
    for (k, ((name, values), place)) in shown.iter().zip(body.cells(columns, rows, (28.0, 8.0))).enumerate() {
        let is_last = k + columns >= shown.len();
        let x = axis_of(if is_last { &parameter } else { "" }, &found.at)?;
        let panel = Panel::new(place, x, axis_of(name, values)?, Look::Lines);
        panel.begin(&mut scene);
        if let Some(chosen) = found.chosen {
            let x = panel.at(chosen, 0.0).0;
            scene
                .line(vec![(x, panel.frame.top), (x, panel.frame.bottom)], Pen::new(theme.ink(), 1.2).dashed(5.0, 4.0));
        }
        let points: Vec<(f64, f64)> =
            found.at.iter().copied().zip(values.iter().copied()).filter(|(_, y)| y.is_finite()).collect();
        let colour = theme.class(Some(1));
        panel.curve(&mut scene, points.iter().copied(), Pen::new(colour, 1.8));
        if points.len() <= 40 {
            for (x, y) in points {
                let centre = panel.at(x, y);
                scene.disc(centre, 3.2, colour);
            }
        }
        panel.finish(&mut scene);
    }
    let mut numbers = Numbers::new(&["at", "quantity", "value"]);
    for (name, values) in &found.quantities {
        for (at, value) in found.at.iter().zip(values) {
            numbers.push([(*at).into(), name.as_str().into(), (*value).into()]);
        }
    }
    Ok(Picture { scene, numbers })
}
