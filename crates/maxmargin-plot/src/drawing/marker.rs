//! Markers of classes, and rings around support vectors. Colour and shape both tell a class, so neither is needed alone.

use std::f64::consts::TAU;

use super::scene::{Pen, Scene, Shape};
use crate::contour::Point;

/// How many colours there are before shapes move on.
const COLOURS: usize = 8;

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

impl Scene {
    /// The marker of a class, with a thin edge of paper so that markers that overlap stay apart.
    pub(crate) fn marker(&mut self, class: Option<u32>, centre: Point, radius: f64) {
        let fill = self.theme.class(class);
        let Some(corners) = corners_of(class) else { return self.disc(centre, radius, fill) };
        let place = |(x, y): &Point| (centre.0 + x * radius, centre.1 + y * radius);
        let points = corners.iter().map(place).collect();
        let edge = Some(Pen::new(self.theme.paper(), 1.0));
        self.shapes.push(Shape::Area { points, fill, opacity: 1.0, edge });
    }

    /// A ring of some kind around a marker of some radius.
    pub(crate) fn ring(&mut self, kind: Ring, centre: Point, radius: f64) {
        let pen = Pen::new(self.theme.ink(), 1.3);
        let mut circle = |radius: f64, pen: Pen| self.shapes.push(Shape::Circle { centre, radius, pen });
        match kind {
            Ring::OnMargin | Ring::Support => circle(radius + 3.6, pen),
            Ring::Misclassified => {
                circle(radius + 3.0, pen);
                circle(radius + 5.8, pen);
            }
            Ring::Inside => {
                // Five dashes of three quarters of their share of the circle.
                let share = TAU * (radius + 3.6) / 5.0;
                circle(radius + 3.6, pen.dashed(0.72 * share, 0.28 * share));
            }
        }
    }
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
    match (class + class / COLOURS) % 8 {
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
