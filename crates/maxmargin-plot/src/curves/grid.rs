//! A number over a grid of two parameters: cells coloured by cividis, a panel for each kernel.

use super::nothing;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Anchor, Pen, Rect, SMALL, Scene};
use crate::drawing::text;
use crate::drawing::theme::{Colour, contrast};
use crate::error::Error;
use crate::numbers::Numbers;
use crate::{Picture, PlotOptions};

/// Room of the scale of colours and its numbers, at the right.
const SCALE: f64 = 74.0;

/// The least height of a panel with its names.
const PANEL: u32 = 150;

/// The width of the scale itself.
const SCALE_WIDTH: f64 = 12.0;

/// Units between two lines of a hatching.
const HATCH: f64 = 7.0;

/// How many times as far below the best as the median cell the scale reaches: cells that are farther away have its last colour.
const DEPTH: f64 = 3.0;

/// How a cell came to its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// It was computed.
    #[default]
    None,
    /// It is that of a smaller C, whose solution is the same: a dot.
    Copy,
    /// It was abandoned: hatched.
    Abandoned,
}

/// A place that was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridCell {
    /// The values of the parameters across and up.
    pub at: (f64, f64),
    /// The number; `None` where it was given up.
    pub score: Option<f64>,
    /// How it came about.
    pub mark: Mark,
    /// Whether it is within one standard error of the best.
    pub is_near: bool,
}

/// The cells of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridPanel {
    /// What these cells have in common; empty where there is one panel.
    pub heading: String,
    /// The names of the parameters across and up; an empty name where there is one parameter alone.
    pub parameters: (String, String),
    /// The places that were tried.
    pub cells: Vec<GridCell>,
}

/// Numbers over two parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What is searched, in a few words: the picture's title.
    pub title: String,
    /// A line below the title.
    pub below: String,
    /// What a number is, such as `accuracy`.
    pub score: String,
    /// A panel for each kernel.
    pub panels: Vec<GridPanel>,
    /// The best cell, by its panel and its place in it: framed.
    pub best: Option<(usize, usize)>,
    /// Whether the smallest number is the best one.
    pub smaller_is_better: bool,
    /// Whether colours follow the logarithm, for numbers of many sizes.
    pub by_powers: bool,
    /// What the reader must know beside the marks.
    pub caption: Vec<String>,
}

/// From which number to which the colours go.
struct Colours {
    low: f64,
    high: f64,
    by_powers: bool,
    is_loss: bool,
}

impl Colours {
    /// `None` where no cell has a number.
    fn of(found: &Grid) -> Option<Self> {
        let known = |score: f64| score.is_finite() && (!found.by_powers || score > 0.0);
        let mut scores: Vec<f64> = found
            .panels
            .iter()
            .flat_map(|panel| &panel.cells)
            .filter_map(|cell| cell.score)
            .filter(|&s| known(s))
            .collect();
        scores.sort_unstable_by(f64::total_cmp);
        let (&low, &high) = (scores.first()?, scores.last()?);
        let middle = scores[scores.len() / 2];
        let is_loss = found.smaller_is_better;
        let (low, high) = match (found.by_powers, is_loss) {
            (true, _) => (low, high),
            (false, false) if middle < high => (low.max(high - DEPTH * (high - middle)), high),
            (false, true) if middle > low => (low, high.min(low + DEPTH * (middle - low))),
            // Half of the cells are as good as the best.
            (false, _) => (low, high),
        };
        Some(Colours { low, high, by_powers: found.by_powers, is_loss })
    }

    /// How much of the scale a number takes, from 0 to 1; the best one takes all.
    fn share(&self, score: f64) -> f64 {
        let of = |number: f64| if self.by_powers { number.max(f64::MIN_POSITIVE).log10() } else { number };
        let share =
            if self.high > self.low { (of(score) - of(self.low)) / (of(self.high) - of(self.low)) } else { 1.0 };
        let share = share.clamp(0.0, 1.0);
        if self.is_loss { 1.0 - share } else { share }
    }

    /// The scale, with its ends as numbers.
    fn draw(&self, scene: &mut Scene, room: Rect) {
        let steps = 40;
        let height = room.height() / f64::from(steps);
        for step in 0..steps {
            let share = 1.0 - (f64::from(step) + 0.5) / f64::from(steps);
            let top = room.top + f64::from(step) * height;
            // Half a unit more, so that no paper shines through between two steps.
            let bottom = (top + height + 0.5).min(room.bottom);
            let bar = Rect { left: room.left, top, right: room.left + SCALE_WIDTH, bottom };
            scene.bar(bar, scene.theme.amount(share));
        }
        let (top, bottom) = if self.is_loss { (self.low, self.high) } else { (self.high, self.low) };
        let colour = scene.theme.muted();
        for (number, y) in [(top, room.top + SMALL / 2.0), (bottom, room.bottom - SMALL / 2.0)] {
            let words = text::fit(&short(number), SMALL, room.right - room.left - SCALE_WIDTH - 5.0);
            scene.text(words, (room.left + SCALE_WIDTH + 5.0, y), SMALL, Anchor::Left, colour);
        }
    }
}

/// Draws a grid.
///
/// # Errors
/// When no place has a number, or an option is out of range.
pub fn grid(found: &Grid, options: &PlotOptions) -> Result<Picture, Error> {
    options.check()?;
    let colours = Colours::of(found).ok_or_else(nothing)?;
    let words = Words {
        title: text::safe(&found.title),
        below: text::safe(&found.below),
        caption: caption(found),
        description: format!(
            "{} of {} in {}.",
            text::safe(&found.score),
            text::counted(found.panels.iter().map(|panel| panel.cells.len()).sum(), "cell"),
            text::counted(found.panels.len(), "panel")
        ),
    };
    let columns = match found.panels.len() {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let rows = found.panels.len().div_ceil(columns);
    let (mut scene, body) = page::begin(&page::high_enough(options, rows, PANEL), &words);
    let room = Rect { right: body.right - SCALE, ..body };
    for (number, (own, place)) in found.panels.iter().zip(room.cells(columns, rows, (18.0, 10.0))).enumerate() {
        let best = found.best.and_then(|(panel, cell)| own.cells.get(cell).filter(|_| panel == number));
        Sheet::new(own, place).draw(&mut scene, &colours, best);
    }
    let scale = Rect { left: body.right - SCALE + 16.0, right: body.right, top: body.top + 24.0, bottom: body.bottom };
    colours.draw(&mut scene, Rect { bottom: scale.bottom.min(scale.top + 220.0), ..scale });
    let mut numbers = Numbers::new(&["panel", "across", "up", "score", "mark", "within_one_se"]);
    for panel in &found.panels {
        for cell in &panel.cells {
            let mark = match cell.mark {
                Mark::None => "",
                Mark::Copy => "copy",
                Mark::Abandoned => "abandoned",
            };
            let near = if cell.is_near { "yes" } else { "no" };
            let heading = panel.heading.as_str();
            numbers.push([
                heading.into(),
                cell.at.0.into(),
                cell.at.1.into(),
                cell.score.into(),
                mark.into(),
                near.into(),
            ]);
        }
    }
    Ok(Picture { scene, numbers })
}

/// What the marks that occur mean.
fn caption(found: &Grid) -> Vec<String> {
    let has = |of: &dyn Fn(&GridCell) -> bool| found.panels.iter().flat_map(|panel| &panel.cells).any(of);
    let mut caption = Vec::new();
    if found.best.is_some() {
        caption.push("framed: the best".to_string());
    }
    if has(&|cell| cell.is_near) {
        caption.push("line: around the cells within one standard error of it".into());
    }
    if has(&|cell| cell.mark == Mark::Copy) {
        caption.push("dot: the same solution as for a smaller C".into());
    }
    if has(&|cell| cell.mark == Mark::Abandoned) {
        caption.push("hatched: abandoned, it could not win".into());
    }
    caption.extend(found.caption.iter().map(|piece| text::safe(piece)));
    caption
}

/// A panel with the places of its cells.
struct Sheet<'a> {
    own: &'a GridPanel,
    across: Vec<f64>,
    up: Vec<f64>,
    panel: Panel,
}

impl<'a> Sheet<'a> {
    fn new(own: &'a GridPanel, place: Rect) -> Self {
        let distinct = |of: fn(&GridCell) -> f64| -> Vec<f64> {
            let mut values: Vec<f64> = own.cells.iter().map(of).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            values
        };
        let (across, up) = (distinct(|cell| cell.at.0), distinct(|cell| cell.at.1));
        let axis = |title: &str, values: &[f64]| {
            // A parameter that is not there has no value to name.
            let name = |value: f64| if title.is_empty() { String::new() } else { short(value) };
            let names = values.iter().enumerate().map(|(k, &value)| (k as f64 + 0.5, name(value))).collect();
            Axis::named(title, Range::exactly(0.0, values.len() as f64), names)
        };
        // Few cells need not fill the sheet.
        let right = place.right.min(place.left + 90.0 + 110.0 * across.len() as f64);
        let bottom = place.bottom.min(place.top + 80.0 + 90.0 * up.len() as f64);
        let heading = Some(own.heading.as_str()).filter(|heading| !heading.is_empty());
        let (x, y) = (axis(&own.parameters.0, &across), axis(&own.parameters.1, &up));
        let panel = Panel::with_heading(Rect { right, bottom, ..place }, x, y, Look::Bare, heading);
        Sheet { own, across, up, panel }
    }

    /// The column and the row of a cell, counted from the lower left.
    fn place(&self, cell: &GridCell) -> Option<(usize, usize)> {
        let find = |values: &[f64], value: f64| values.iter().position(|other| other.total_cmp(&value).is_eq());
        Some((find(&self.across, cell.at.0)?, find(&self.up, cell.at.1)?))
    }

    /// The rectangle of a place, with a gap to its neighbours where there is room for one.
    fn rect(&self, (column, row): (usize, usize), gap: f64) -> Rect {
        let (a, b) = (self.panel.at(column as f64, row as f64 + 1.0), self.panel.at(column as f64 + 1.0, row as f64));
        let gap = if b.0 - a.0 > 12.0 { gap } else { 0.0 };
        Rect { left: a.0 + gap, top: a.1 + gap, right: b.0 - gap, bottom: b.1 - gap }
    }

    fn draw(&self, scene: &mut Scene, colours: &Colours, best: Option<&GridCell>) {
        let theme = scene.theme;
        for cell in &self.own.cells {
            let Some(place) = self.place(cell) else { continue };
            let rect = self.rect(place, 1.0);
            let score = cell.score.filter(|score| score.is_finite());
            let fill = score.map_or(theme.faint(), |score| theme.amount(colours.share(score)));
            scene.bar(rect, fill);
            let ink = ink_on(fill);
            match cell.mark {
                Mark::Abandoned => hatch(scene, rect, Pen::new(theme.rule(), 1.0)),
                Mark::Copy if rect.width() > 14.0 && rect.height() > 12.0 => {
                    scene.disc((rect.right - 6.0, rect.top + 6.0), 2.2, ink);
                }
                _ => {}
            }
            let words = score.map_or_else(String::new, short);
            if !words.is_empty() && rect.height() > 17.0 && text::width(&words, SMALL) < rect.width() - 6.0 {
                let at = (f64::midpoint(rect.left, rect.right), f64::midpoint(rect.top, rect.bottom));
                scene.text(words, at, SMALL, Anchor::Middle, ink);
            }
        }
        self.outline(scene);
        if let Some(place) = best.and_then(|best| self.place(best)) {
            scene.frame(self.rect(place, 1.0), Pen::new(theme.class(Some(0)), 3.0));
        }
        self.panel.finish(scene);
    }

    /// A line around the cells that are within one standard error of the best.
    fn outline(&self, scene: &mut Scene) {
        let (columns, rows) = (self.across.len(), self.up.len());
        let mut near = vec![false; columns * rows];
        for cell in self.own.cells.iter().filter(|cell| cell.is_near) {
            if let Some((column, row)) = self.place(cell) {
                near[row * columns + column] = true;
            }
        }
        let is_near = |column: usize, row: usize| column < columns && row < rows && near[row * columns + column];
        // Two lines of different lightness are seen on every colour.
        for pen in [Pen::new(scene.theme.paper(), 4.0), Pen::new(scene.theme.ink(), 1.8)] {
            for column in 0..=columns {
                for row in 0..rows {
                    if is_near(column, row) != (column > 0 && is_near(column - 1, row)) {
                        let side = [row, row + 1].map(|y| self.panel.at(column as f64, y as f64));
                        scene.line(side.to_vec(), pen);
                    }
                }
            }
            for row in 0..=rows {
                for column in 0..columns {
                    if is_near(column, row) != (row > 0 && is_near(column, row - 1)) {
                        let side = [column, column + 1].map(|x| self.panel.at(x as f64, row as f64));
                        scene.line(side.to_vec(), pen);
                    }
                }
            }
        }
    }
}

/// The colour of words on a colour.
fn ink_on(fill: Colour) -> Colour {
    let (dark, light) = ((20, 24, 29), (255, 255, 255));
    if contrast(fill, dark) > contrast(fill, light) { dark } else { light }
}

/// Lines from the lower left to the upper right, within a rectangle.
fn hatch(scene: &mut Scene, rect: Rect, pen: Pen) {
    let (width, height) = (rect.width(), rect.height());
    let count = ((width + height) / HATCH) as usize;
    for k in 1..=count {
        // The line x + y = t, from the lower left of the rectangle.
        let t = k as f64 * HATCH;
        let (from, to) = ((t.min(width), (t - width).max(0.0)), ((t - height).max(0.0), t.min(height)));
        let at = |(x, y): (f64, f64)| (rect.left + x, rect.top + y);
        scene.line(vec![at(from), at(to)], pen);
    }
}
