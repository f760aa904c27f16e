//! A picture as a list of shapes, before anybody knows in which format it is written.

use super::text;
use super::theme::{Colour, Theme};
use crate::contour::Point;

/// Sizes of text, in units of the picture: still read when it is shown at 600 of its 760 units.
pub(crate) const TITLE: f64 = 17.0;
/// Names of axes and of classes.
pub(crate) const NORMAL: f64 = 13.5;
/// Ticks and captions.
pub(crate) const SMALL: f64 = 12.5;

/// A rectangle: left, top, right and bottom, from the upper left of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Whether two rectangles share more than a border.
    pub(crate) fn meets(&self, other: &Rect) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    /// Whether another rectangle lies within this one.
    pub(crate) fn holds(&self, other: &Rect) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }

    /// Cut into equal cells, row after row, with a gap between them.
    pub(crate) fn cells(&self, columns: usize, rows: usize, gap: (f64, f64)) -> Vec<Rect> {
        let width = (self.width() - gap.0 * (columns - 1) as f64) / columns as f64;
        let height = (self.height() - gap.1 * (rows - 1) as f64) / rows as f64;
        let cell = |k: usize| {
            let left = self.left + (k % columns) as f64 * (width + gap.0);
            let top = self.top + (k / columns) as f64 * (height + gap.1);
            Rect { left, top, right: left + width, bottom: top + height }
        };
        (0..columns * rows).map(cell).collect()
    }

    fn corners(&self) -> Vec<Point> {
        vec![(self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)]
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pen {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    /// Lengths of dash and gap; `None` for a solid line.
    pub(crate) dash: Option<(f64, f64)>,
}

impl Pen {
    pub(crate) fn new(colour: Colour, width: f64) -> Self {
        Pen { colour, width, dash: None }
    }

    pub(crate) fn dashed(self, dash: f64, gap: f64) -> Self {
        Pen { dash: Some((dash, gap)), ..self }
    }
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A filled polygon, perhaps with an edge.
    Area { points: Vec<Point>, fill: Colour, opacity: f64, edge: Option<Pen> },
    /// A line through points.
    Line { points: Vec<Point>, pen: Pen },
    /// A disc, perhaps with an edge.
    Disc { centre: Point, radius: f64, fill: Colour, edge: Option<Pen> },
    /// A circle.
    Circle { centre: Point, radius: f64, pen: Pen },
    /// Squares of one colour, by their upper left corners.
    Squares { corners: Vec<Point>, side: f64, fill: Colour },
    /// One line of text.
    Text { text: String, at: Point, size: f64, anchor: Anchor, colour: Colour, halo: Option<Colour> },
    /// What follows is cut to a rectangle, until [`Shape::Unclip`].
    Clip(Rect),
    /// Ends a [`Shape::Clip`].
    Unclip,
}

/// Which part of a text its place is. Vertically it is always the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// A picture: its size, what it is called and shows, and its shapes from back to front.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) theme: Theme,
    /// Read aloud in place of the picture, and shown by browsers when the pointer rests on it.
    pub(crate) title: String,
    /// What is to be seen, in a sentence or two.
    pub(crate) description: String,
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    /// An empty sheet.
    pub(crate) fn new((width, height): (f64, f64), theme: Theme) -> Self {
        Scene { width, height, theme, title: String::new(), description: String::new(), shapes: Vec::new() }
    }

    /// All of the sheet.
    pub(crate) fn sheet(&self) -> Rect {
        Rect { left: 0.0, top: 0.0, right: self.width, bottom: self.height }
    }

    /// A filled polygon.
    pub(crate) fn fill(&mut self, points: Vec<Point>, fill: Colour) {
        self.shapes.push(Shape::Area { points, fill, opacity: 1.0, edge: None });
    }

    /// A filled polygon that lets through what is behind it.
    pub(crate) fn glaze(&mut self, points: Vec<Point>, fill: Colour, opacity: f64) {
        self.shapes.push(Shape::Area { points, fill, opacity, edge: None });
    }

    /// A filled rectangle.
    pub(crate) fn bar(&mut self, rect: Rect, fill: Colour) {
        self.fill(rect.corners(), fill);
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: Vec<Point>, pen: Pen) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line { points, pen });
        }
    }

    /// A disc with an edge of the paper's colour, so that discs that overlap stay apart.
    pub(crate) fn disc(&mut self, centre: Point, radius: f64, fill: Colour) {
        let edge = Some(Pen::new(self.theme.paper(), 1.0));
        self.shapes.push(Shape::Disc { centre, radius, fill, edge });
    }

    /// An outline of a rectangle.
    pub(crate) fn frame(&mut self, rect: Rect, pen: Pen) {
        let mut corners = rect.corners();
        corners.push(corners[0]);
        self.line(corners, pen);
    }

    /// Text beginning at, ending at or centred on a point.
    pub(crate) fn text(&mut self, text: impl Into<String>, at: Point, size: f64, anchor: Anchor, colour: Colour) {
        self.shapes.push(Shape::Text { text: text.into(), at, size, anchor, colour, halo: None });
    }

    /// An arrow: a line with a head at its end.
    pub(crate) fn arrow(&mut self, from: Point, to: Point, pen: Pen) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        if length < 1e-6 {
            return;
        }
        let (x, y) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
        let head = (5.0 + 2.0 * pen.width).min(length);
        let neck = (to.0 - head * x, to.1 - head * y);
        self.line(vec![from, neck], pen);
        let half = head * 0.42;
        let (a, b) = ((neck.0 - half * y, neck.1 + half * x), (neck.0 + half * y, neck.1 - half * x));
        self.fill(vec![to, a, b], pen.colour);
    }

    /// Takes away the room between what was used and where the words below begin.
    pub(crate) fn trim(&mut self, end_of_room: f64, used: f64) {
        let surplus = (end_of_room - used).max(0.0);
        for shape in &mut self.shapes {
            if let Shape::Text { at, .. } = shape
                && at.1 > end_of_room
            {
                at.1 -= surplus;
            }
        }
        self.height = (self.height - surplus).round();
    }

    /// A word beside a point, within `room`, where it hides no other text and as few lines and markers as possible. Says whether there was
    /// such a place; without one nothing is drawn.
    pub(crate) fn note(&mut self, text: &str, beside: Point, colour: Colour, room: &Rect) -> bool {
        let taken: Vec<Rect> = self.text_boxes().into_iter().map(|(_, taken)| taken).collect();
        let obstacles = self.obstacles();
        let mut best: Option<(usize, Point, Anchor)> = None;
        for distance in [9.0, 14.0, 20.0, 28.0] {
            let slant = distance * 0.75;
            for (x, y, anchor) in [
                (slant, -slant, Anchor::Left),
                (slant, slant, Anchor::Left),
                (-slant, -slant, Anchor::Right),
                (-slant, slant, Anchor::Right),
                (0.0, -distance - 3.0, Anchor::Middle),
                (0.0, distance + 3.0, Anchor::Middle),
                (distance, 0.0, Anchor::Left),
                (-distance, 0.0, Anchor::Right),
            ] {
                let at = (beside.0 + x, beside.1 + y);
                let own = text_box(text, at, SMALL, anchor);
                let apart = Rect { left: own.left - 6.0, right: own.right + 6.0, ..own };
                if !room.holds(&own) || taken.iter().any(|other| other.meets(&apart)) {
                    continue;
                }
                let is_hidden = |(x, y): &&Point| own.left < *x && *x < own.right && own.top < *y && *y < own.bottom;
                let hidden = obstacles.iter().filter(is_hidden).count();
                if best.is_none_or(|(least, ..)| hidden < least) {
                    best = Some((hidden, at, anchor));
                }
            }
        }
        let Some((_, at, anchor)) = best else { return false };
        let halo = Some(self.theme.paper());
        self.shapes.push(Shape::Text { text: text.into(), at, size: SMALL, anchor, colour, halo });
        true
    }

    /// Points on all lines and markers, a few units apart.
    fn obstacles(&self) -> Vec<Point> {
        let mut found = Vec::new();
        for shape in &self.shapes {
            match shape {
                Shape::Line { points, .. } => {
                    for pair in points.windows(2) {
                        let (a, b) = (pair[0], pair[1]);
                        let steps = ((b.0 - a.0).hypot(b.1 - a.1) / 4.0).clamp(1.0, 400.0) as usize;
                        let at = |k: usize| {
                            let t = k as f64 / steps as f64;
                            (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1))
                        };
                        found.extend((0..=steps).map(at));
                    }
                }
                Shape::Disc { centre, radius, .. } | Shape::Circle { centre, radius, .. } => {
                    // Markers weigh more than lines.
                    let (x, y) = *centre;
                    found.extend([*centre; 4]);
                    found.extend([(x - radius, y), (x + radius, y), (x, y - radius), (x, y + radius)]);
                }
                Shape::Area { points, edge: Some(_), .. } => found.extend(points.iter().flat_map(|&point| [point; 2])),
                _ => {}
            }
        }
        found
    }

    /// Each text with the room that it takes.
    pub(crate) fn text_boxes(&self) -> Vec<(&str, Rect)> {
        let text = |shape: &'_ Shape| match shape {
            Shape::Text { text, at, size, anchor, .. } => Some(text_box(text, *at, *size, *anchor)),
            _ => None,
        };
        let words = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        words.zip(self.shapes.iter().filter_map(text)).collect()
    }
}

/// How far below its middle a line of text has its baseline, in parts of its size.
pub(crate) const BASELINE: f64 = 0.36;

/// The room of a line of text: from the top of its capitals to the end of its descenders.
fn text_box(text: &str, at: Point, size: f64, anchor: Anchor) -> Rect {
    let width = text::width(text, size);
    let left = match anchor {
        Anchor::Left => at.0,
        Anchor::Middle => at.0 - width / 2.0,
        Anchor::Right => at.0 - width,
    };
    let baseline = at.1 + BASELINE * size;
    Rect { left, top: baseline - 0.76 * size, right: left + width, bottom: baseline + 0.24 * size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_finds_a_place_where_it_hides_nothing_or_is_left_out() {
        let mut scene = Scene::new((100.0, 60.0), Theme::Light);
        let sheet = scene.sheet();
        let drawn = (0..40).filter(|_| scene.note("label", (50.0, 30.0), (0, 0, 0), &sheet)).count();
        assert!((2..40).contains(&drawn), "{drawn}");
        let boxes = scene.text_boxes();
        for (k, (_, one)) in boxes.iter().enumerate() {
            assert!(sheet.holds(one) && boxes[..k].iter().all(|(_, other)| !one.meets(other)));
        }
    }

    #[test]
    fn cells_tile_a_rectangle() {
        let cells = Rect { left: 0.0, top: 0.0, right: 110.0, bottom: 50.0 }.cells(2, 2, (10.0, 10.0));
        assert_eq!(cells[3], Rect { left: 60.0, top: 30.0, right: 110.0, bottom: 50.0 });
    }
}
