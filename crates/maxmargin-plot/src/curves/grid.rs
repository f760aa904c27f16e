//! A score over a grid of two parameters: cells coloured by cividis, the best one marked.

use super::nothing;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Anchor, Pen, Rect, SMALL};
use crate::drawing::text;
use crate::drawing::theme::contrast;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::{Picture, PlotOptions};

/// Scores over two parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What is searched, in a few words: the picture's title.
    pub title: String,
    /// What a score is, such as `accuracy`.
    pub score: String,
    /// The names of the parameters across and up.
    pub parameters: (String, String),
    /// Across, up and score of each place that was tried; `None` where it was given up.
    pub points: Vec<(f64, f64, Option<f64>)>,
    /// Whether the smallest score is the best one.
    pub smaller_is_better: bool,
}

/// Draws a grid.
///
/// # Errors
/// When no place has a score, or an option is out of range.
pub fn grid(found: &Grid, options: &PlotOptions) -> Result<Picture, Error> {
    options.check()?;
    let distinct = |of: fn(&(f64, f64, Option<f64>)) -> f64| -> Vec<f64> {
        let mut values: Vec<f64> = found.points.iter().map(of).filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        values
    };
    let (xs, ys) = (distinct(|point| point.0), distinct(|point| point.1));
    let better = |a: f64, b: f64| if found.smaller_is_better { a < b } else { a > b };
    let scored =
        || found.points.iter().filter_map(|&(x, y, score)| Some((x, y, score.filter(|score| score.is_finite())?)));
    let best = scored().reduce(|best, point| if better(point.2, best.2) { point } else { best }).ok_or_else(nothing)?;
    let (low, high) = scored().fold((f64::MAX, f64::MIN), |(low, high), point| (low.min(point.2), high.max(point.2)));
    let (across, up) = (text::safe(&found.parameters.0), text::safe(&found.parameters.1));
    let score = text::safe(&found.score);
    let words = Words {
        title: text::safe(&found.title),
        below: format!("best {score} {} at {across} = {}, {up} = {}", short(best.2), short(best.0), short(best.1)),
        caption: vec![format!(
            "from {} to {}: the more a cell stands out from the paper, the better; framed: the best",
            short(low),
            short(high)
        )],
        description: format!("{score} over {across} and {up}, {}.", text::counted(found.points.len(), "place")),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let named = |values: &[f64]| values.iter().enumerate().map(|(k, value)| (k as f64 + 0.5, short(*value))).collect();
    let range = |values: &[f64]| Range::exactly(0.0, values.len() as f64);
    // Few cells need not fill the sheet.
    let right = body.right.min(body.left + 90.0 + 110.0 * xs.len() as f64);
    let bottom = body.bottom.min(body.top + 80.0 + 90.0 * ys.len() as f64);
    let place = Rect { right, bottom, ..body };
    let panel = Panel::new(
        place,
        Axis::named(&across, range(&xs), named(&xs)),
        Axis::named(&up, range(&ys), named(&ys)),
        Look::Bare,
    );
    let cell = |x: f64, y: f64| {
        let find = |values: &[f64], value: f64| values.iter().position(|other| *other == value);
        let (i, j) = (find(&xs, x)? as f64, find(&ys, y)? as f64);
        let (a, b) = (panel.at(i, j + 1.0), panel.at(i + 1.0, j));
        let gap = if b.0 - a.0 > 12.0 { 1.0 } else { 0.0 };
        Some(Rect { left: a.0 + gap, top: a.1 + gap, right: b.0 - gap, bottom: b.1 - gap })
    };
    for &(x, y, score) in &found.points {
        let Some(cell) = cell(x, y) else { continue };
        let Some(score) = score.filter(|score| score.is_finite()) else {
            scene.bar(cell, theme.faint());
            continue;
        };
        let share = if high > low { (score - low) / (high - low) } else { 1.0 };
        let fill = theme.amount(if found.smaller_is_better { 1.0 - share } else { share });
        scene.bar(cell, fill);
        let words = short(score);
        if cell.height() > 17.0 && text::width(&words, SMALL) < cell.width() - 6.0 {
            let (dark, light) = ((20, 24, 29), (255, 255, 255));
            let colour = if contrast(fill, dark) > contrast(fill, light) { dark } else { light };
            let at = (f64::midpoint(cell.left, cell.right), f64::midpoint(cell.top, cell.bottom));
            scene.text(words, at, SMALL, Anchor::Middle, colour);
        }
    }
    if let Some(cell) = cell(best.0, best.1) {
        scene.frame(cell, Pen::new(theme.class(Some(0)), 3.0));
    }
    panel.finish(&mut scene);
    let mut numbers = Numbers::new(&["across", "up", "score"]);
    for &(x, y, score) in &found.points {
        numbers.push([x.into(), y.into(), score.into()]);
    }
    Ok(Picture { scene, numbers })
}
