//! The sheet: words above and below, and the room between them.

use super::scene::{Anchor, NORMAL, Rect, SMALL, Scene, TITLE};
use super::text;
use super::theme::Colour;
use crate::PlotOptions;

/// Free space at the edge of the picture.
pub(crate) const EDGE: f64 = 16.0;

/// The height of a line of the caption.
const CAPTION_LINE: f64 = 17.0;

/// Lines of the caption; what is longer is cut.
const MOST_CAPTION_LINES: usize = 4;

/// What title, numbers and caption take of a sheet at most.
const ROOM_OF_WORDS: u32 = 160;

/// The words of a picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    /// What the picture is of.
    pub(crate) title: String,
    /// What is to be seen, in numbers; may be empty.
    pub(crate) below: String,
    /// What the reader must know and cannot see, in pieces.
    pub(crate) caption: Vec<String>,
    /// For people who do not see the picture: what it shows.
    pub(crate) description: String,
}

/// The options with a sheet that is high enough for rows of panels, each of which needs some height. A lower one could not be read.
pub(crate) fn high_enough(options: &PlotOptions, rows: usize, each: u32) -> PlotOptions {
    let least = ROOM_OF_WORDS + each.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX));
    PlotOptions { height: options.height.max(least), ..options.clone() }
}

/// Begins a picture. Returns the sheet with its words, and the room for the rest. A title of the user's takes the place of both lines.
pub(crate) fn begin(options: &PlotOptions, words: &Words) -> (Scene, Rect) {
    let size = (f64::from(options.width), f64::from(options.height));
    let mut scene = Scene::new(size, options.theme);
    let (left, right) = (EDGE, scene.width - EDGE);
    let (title, below) = match &options.title {
        Some(title) => (text::safe(title), ""),
        None => (words.title.clone(), words.below.as_str()),
    };
    let room = right - left;
    let (ink, muted) = (scene.theme.ink(), scene.theme.muted());
    scene.text(text::fit(&title, TITLE, room), (left, EDGE + 8.0), TITLE, Anchor::Left, ink);
    let mut top = EDGE + 26.0;
    for line in text::wrap(below, NORMAL, room, 2) {
        scene.text(line, (left, top + 5.0), NORMAL, Anchor::Left, muted);
        top += 18.0;
    }
    let caption = text::wrap(&words.caption.join("; "), SMALL, room, MOST_CAPTION_LINES);
    let mut bottom = scene.height - EDGE * 0.75 - caption.len() as f64 * CAPTION_LINE;
    let body = Rect { left, top: top + 10.0, right, bottom: if caption.is_empty() { bottom } else { bottom - 8.0 } };
    for line in caption {
        scene.text(line, (left, bottom + CAPTION_LINE / 2.0), SMALL, Anchor::Left, muted);
        bottom += CAPTION_LINE;
    }
    scene.title = if options.title.is_some() || words.below.is_empty() { title } else { format!("{title}. {below}") };
    scene.description = words.description.clone();
    (scene, body)
}

/// The names of curves beside their right ends, moved apart where they would hide each other, and none below the panel. `room` is how wide
/// they may be.
pub(crate) fn end_labels(
    scene: &mut Scene,
    (left, lowest): (f64, f64),
    room: f64,
    names: &[(&str, (f64, f64), Colour)],
) {
    let mut order: Vec<&(&str, (f64, f64), Colour)> = names.iter().collect();
    order.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
    let mut places: Vec<f64> = order.iter().map(|(_, at, _)| at.1).collect();
    for k in 1..places.len() {
        places[k] = places[k].max(places[k - 1] + SMALL + 3.0);
    }
    // What was pushed over the lower end comes back, and pushes those above.
    for k in (0..places.len()).rev() {
        let most = if k + 1 < places.len() { places[k + 1] - SMALL - 3.0 } else { lowest };
        places[k] = places[k].min(most);
    }
    for ((name, _, colour), y) in order.into_iter().zip(places) {
        let colour = scene.theme.word(*colour);
        scene.text(text::fit(name, SMALL, room), (left, y), SMALL, Anchor::Left, colour);
    }
}
