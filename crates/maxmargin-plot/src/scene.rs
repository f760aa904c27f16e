//! A picture as a list of shapes in pixels, before anybody knows in which format it is written.

use std::f64::consts::TAU;

use crate::contour::Point;

/// Red, green and blue.
pub(crate) type Colour = (u8, u8, u8);

/// White paper.
pub(crate) const PAPER: Colour = (255, 255, 255);
/// Lines and most text.
pub(crate) const INK: Colour = (34, 34, 34);
/// Text that stays in the background.
pub(crate) const GREY: Colour = (90, 90, 90);

/// The palette of Okabe and Ito, which people see apart whatever their colour vision; its black is grey here.
///
/// # References
/// M. Okabe, K. Ito, Color universal design, 2008.
const PALETTE: [Colour; 8] = [
    (213, 94, 0),
    (0, 114, 178),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (150, 140, 20), // their yellow, darker, to be seen on white
    (110, 110, 110),
];

/// What is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A filled polygon.
    Fill { points: Vec<Point>, colour: Colour },
    /// A filled disc.
    Disc { centre: Point, radius: f64, colour: Colour },
    /// A line through points.
    Line { points: Vec<Point>, width: f64, colour: Colour },
    /// A circle.
    Ring { centre: Point, radius: f64, width: f64, colour: Colour },
    /// One line of text; `upwards` turns it by a quarter to the left.
    Text { text: String, at: Point, size: f64, anchor: Anchor, upwards: bool, colour: Colour },
}

/// Which part of a text its place is. Vertically it is always the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// A picture: its size, and its shapes from back to front.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    /// An empty sheet.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let mut scene = Scene { width, height, shapes: Vec::new() };
        let (right, bottom) = (f64::from(width), f64::from(height));
        scene.fill(vec![(0.0, 0.0), (right, 0.0), (right, bottom), (0.0, bottom)], PAPER);
        scene
    }

    /// A filled polygon.
    pub(crate) fn fill(&mut self, points: Vec<Point>, colour: Colour) {
        self.shapes.push(Shape::Fill { points, colour });
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: Vec<Point>, width: f64, colour: Colour) {
        self.shapes.push(Shape::Line { points, width, colour });
    }

    /// Text beginning at, ending at or centred on a point.
    pub(crate) fn text(&mut self, text: impl Into<String>, at: Point, size: f64, anchor: Anchor, colour: Colour) {
        self.shapes.push(Shape::Text { text: text.into(), at, size, anchor, upwards: false, colour });
    }

    /// Text that runs upwards, centred on a point.
    pub(crate) fn text_upwards(&mut self, text: impl Into<String>, at: Point, size: f64, colour: Colour) {
        let anchor = Anchor::Middle;
        self.shapes.push(Shape::Text { text: text.into(), at, size, anchor, upwards: true, colour });
    }

    /// A line of dashes, `dash` long and `gap` apart.
    pub(crate) fn dashed(&mut self, points: &[Point], (dash, gap): (f64, f64), width: f64, colour: Colour) {
        for points in dashes(points, dash, gap) {
            self.line(points, width, colour);
        }
    }

    /// The marker of a class, with a thin white edge so that markers that overlap stay apart.
    pub(crate) fn marker(&mut self, class: Option<u32>, centre: Point, radius: f64) {
        for (radius, colour) in [(radius + 1.0, PAPER), (radius, colour_of(class))] {
            match corners_of(class) {
                None => self.shapes.push(Shape::Disc { centre, radius, colour }),
                Some(corners) => {
                    let place = |(x, y): &Point| (centre.0 + x * radius, centre.1 + y * radius);
                    self.fill(corners.iter().map(place).collect(), colour);
                }
            }
        }
    }

    /// A ring of some kind around a marker of some radius.
    pub(crate) fn ring(&mut self, kind: Ring, centre: Point, radius: f64) {
        let (width, colour) = (1.4, INK);
        let circle = |radius: f64| Shape::Ring { centre, radius, width, colour };
        match kind {
            Ring::OnMargin | Ring::Support => self.shapes.push(circle(radius + 3.8)),
            Ring::Misclassified => self.shapes.extend([circle(radius + 3.2), circle(radius + 6.0)]),
            Ring::Inside => {
                let radius = radius + 3.8;
                for arc in 0..5 {
                    let point = |k: u32| {
                        let angle = TAU * (f64::from(arc) + f64::from(k) * 0.15) / 5.0;
                        (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
                    };
                    self.line((0..=4).map(point).collect(), width, colour);
                }
            }
        }
    }
}

/// Why a row is a support vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    /// No slack: a plain ring.
    OnMargin,
    /// Within the margin, on the right side: a broken ring.
    Inside,
    /// On the wrong side: a double ring.
    Misclassified,
    /// One of several machines' support vectors: a plain ring.
    Support,
}

/// The colour of a class's markers; grey for labels that the model does not know.
pub(crate) fn colour_of(class: Option<u32>) -> Colour {
    class.map_or(GREY, |class| PALETTE[class as usize % PALETTE.len()])
}

/// The colour of a class's region.
pub(crate) fn tint_of(class: u32) -> Colour {
    let soft = |part: u8| 255 - ((255 - u16::from(part)) * 20 / 100) as u8;
    let (red, green, blue) = colour_of(Some(class));
    (soft(red), soft(green), soft(blue))
}

/// The corners of a class's marker of radius 1; `None` is a disc.
///
/// After all colours are used once, shapes move on by one, so that colour and shape together name up to 64 classes.
fn corners_of(class: Option<u32>) -> Option<Vec<Point>> {
    let class = class? as usize;
    let regular = |count: u32, turn: f64, radius: f64| {
        let point = |k: u32| {
            let angle = TAU * (f64::from(k) / f64::from(count) + turn);
            (radius * angle.sin(), -radius * angle.cos())
        };
        Some((0..count).map(point).collect())
    };
    let star = |turn: f64| {
        let arm = 0.38;
        let plus = [(-arm, -1.0), (arm, -1.0), (arm, -arm), (1.0, -arm), (1.0, arm), (arm, arm)];
        let (sin, cos) = (TAU * turn).sin_cos();
        let half =
            |sign: f64| plus.map(|(x, y)| (1.15 * sign * (x * cos - y * sin), 1.15 * sign * (x * sin + y * cos)));
        Some([half(1.0), half(-1.0)].concat())
    };
    match (class + class / PALETTE.len()) % 8 {
        0 => None,
        1 => regular(4, 0.125, 1.25),
        2 => regular(3, 0.0, 1.35),
        3 => regular(4, 0.0, 1.3),
        4 => regular(3, 0.5, 1.35),
        5 => star(0.0),
        6 => star(0.125),
        _ => regular(5, 0.0, 1.2),
    }
}

/// Cuts a line into dashes, measured along it.
fn dashes(points: &[Point], dash: f64, gap: f64) -> Vec<Vec<Point>> {
    let mut found = Vec::new();
    let mut current: Vec<Point> = points.first().copied().into_iter().collect();
    let (mut drawing, mut left) = (true, dash);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let t = left / length;
            from = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            length -= left;
            if drawing {
                current.push(from);
                found.push(std::mem::take(&mut current));
            } else {
                current = vec![from];
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
        }
        left -= length;
        if drawing {
            current.push(to);
        }
    }
    if current.len() > 1 {
        found.push(current);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_are_as_long_as_asked_and_go_round_corners() {
        let found = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 7.0)], 4.0, 2.0);
        assert_eq!(found, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 3.0), (3.0, 7.0)]]);
        assert!(dashes(&[], 4.0, 2.0).is_empty());
    }

    #[test]
    fn sixty_four_classes_differ_in_colour_or_shape() {
        let looks: Vec<_> = (0..64).map(|class| (colour_of(Some(class)), corners_of(Some(class)))).collect();
        for (k, look) in looks.iter().enumerate() {
            assert!(!looks[..k].contains(look), "class {k}");
        }
    }
}
