//! The legend: a column of samples with their names, beside the picture, where it hides nothing.

use super::marker::Ring;
use super::scene::{Anchor, NORMAL, Pen, Rect, SMALL, Scene, Shape};
use super::text;
use super::theme::Colour;

/// The height of a line.
const LINE: f64 = 21.0;

/// Free space above a heading.
const HEADING_GAP: f64 = 8.0;

/// The room of a sample, left of its text.
const SAMPLE: f64 = 32.0;

/// A line of the legend.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) sample: Sample,
    pub(crate) text: String,
}

impl Entry {
    pub(crate) fn new(sample: Sample, text: impl Into<String>) -> Self {
        Entry { sample, text: text.into() }
    }
}

/// What stands left of a name.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    /// Nothing: the name is a heading.
    Heading,
    /// A class's marker on its region.
    Class(Option<u32>),
    /// A line.
    Line(Pen),
    /// A square of a colour.
    Square(Colour),
    /// A disc of a colour.
    Disc(Colour),
    /// A ring around a small disc.
    Ring(Ring),
}

/// How wide a legend is, at most a part of the sheet.
pub(crate) fn width(entries: &[Entry], sheet: f64) -> f64 {
    let wanted = entries.iter().map(|entry| match entry.sample {
        Sample::Heading => text::width(&entry.text, SMALL),
        _ => SAMPLE + text::width(&entry.text, NORMAL),
    });
    wanted.fold(0.0, f64::max).min((sheet * 0.36).max(150.0))
}

/// Draws a legend. Where there are more classes than lines, the last ones of them give way; what still finds no room is left out.
pub(crate) fn draw(scene: &mut Scene, room: Rect, entries: &[Entry]) {
    let theme = scene.theme;
    let headings = entries.iter().filter(|entry| matches!(entry.sample, Sample::Heading)).count();
    let lines = ((room.height() - headings as f64 * HEADING_GAP) / LINE) as usize;
    let surplus = entries.len().saturating_sub(lines.max(1));
    let classes = entries.iter().filter(|entry| matches!(entry.sample, Sample::Class(_))).count();
    let hidden = if surplus == 0 { 0 } else { (surplus + 1).min(classes) };
    let (mut y, mut class) = (room.top + LINE / 2.0, 0);
    let left = room.left;
    for entry in entries {
        if y + LINE / 2.0 > room.bottom + 6.0 {
            break;
        }
        let middle = (left + SAMPLE / 2.0 - 4.0, y);
        if let Sample::Class(_) = entry.sample {
            class += 1;
            if class > classes - hidden {
                if class == classes {
                    scene.text(format!("and {hidden} more"), (left, y), NORMAL, Anchor::Left, theme.muted());
                    y += LINE;
                }
                continue;
            }
        }
        match &entry.sample {
            Sample::Heading => {
                y += if y > room.top + LINE { HEADING_GAP } else { 0.0 };
                let heading = text::fit(&entry.text, SMALL, room.width());
                scene.text(heading, (left, y), SMALL, Anchor::Left, theme.muted());
                y += LINE;
                continue;
            }
            Sample::Class(class) => {
                if let Some(class) = class {
                    let tint = theme.tint(*class);
                    let (x, y) = middle;
                    scene.bar(Rect { left: x - 12.0, top: y - 8.5, right: x + 12.0, bottom: y + 8.5 }, tint);
                }
                scene.marker(*class, middle, 4.6);
            }
            Sample::Line(pen) => scene.line(vec![(left, y), (left + SAMPLE - 9.0, y)], *pen),
            Sample::Square(colour) => {
                let (x, y) = middle;
                scene.bar(Rect { left: x - 7.0, top: y - 7.0, right: x + 7.0, bottom: y + 7.0 }, *colour);
            }
            Sample::Disc(colour) => scene.disc(middle, 4.6, *colour),
            Sample::Ring(kind) => {
                scene.shapes.push(Shape::Disc { centre: middle, radius: 2.4, fill: theme.muted(), edge: None });
                scene.ring(*kind, middle, 2.8);
            }
        }
        let text = text::fit(&entry.text, NORMAL, room.width() - SAMPLE);
        scene.text(text, (left + SAMPLE, y), NORMAL, Anchor::Left, theme.ink());
        y += LINE;
    }
}
