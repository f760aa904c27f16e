//! A panel: a rectangle with two axes, where numbers have a place.

use super::axis::{Axis, Tick};
use super::scene::{Anchor, NORMAL, Pen, Rect, SMALL, Scene, Shape};
use super::text;
use crate::contour::Point;

/// Room of a title of an axis.
const TITLE_LINE: f64 = 22.0;

/// Room of the ticks below.
const TICK_LINE: f64 = 24.0;

/// How much an axis may grow before a panel becomes lower instead.
const MOST_GROWTH: f64 = 1.15;

/// The part of its height that a panel keeps at least.
const LEAST_HEIGHT: f64 = 0.62;

/// What is drawn of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A frame: for planes, whose two axes are of one kind.
    Frame,
    /// Lines at the ticks of the upward axis, and a base line: for charts that are read across.
    Lines,
    /// Lines at the ticks of both axes.
    Grid,
    /// Names alone: for tables.
    Bare,
}

/// A rectangle with two axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Where the numbers are.
    pub(crate) frame: Rect,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    look: Look,
    heading: Option<String>,
    ticks: (Vec<Tick>, Vec<Tick>),
    outer: Rect,
}

impl Panel {
    /// A panel within a rectangle, which its names share.
    pub(crate) fn new(outer: Rect, x: Axis, y: Axis, look: Look) -> Self {
        Panel::with_heading(outer, x, y, look, None)
    }

    /// [`Panel::new`] with a heading: one of several panels.
    pub(crate) fn with_heading(outer: Rect, x: Axis, y: Axis, look: Look, heading: Option<&str>) -> Self {
        let above =
            if heading.is_some() { TITLE_LINE } else { 0.0 } + if y.title.is_empty() { 6.0 } else { TITLE_LINE };
        let below = TICK_LINE + if x.title.is_empty() { 0.0 } else { TITLE_LINE };
        let (top, bottom) = (outer.top + above, outer.bottom - below);
        let y_ticks = y.ticks((((bottom - top) / 55.0) as usize).clamp(2, 9));
        let widest = y_ticks.iter().map(|(_, text)| text::width(text, SMALL)).fold(0.0, f64::max);
        let left = (outer.left + widest.min(0.35 * outer.width()) + 9.0).min(outer.right - 10.0);
        // Half of the last tick's text stands over the end of the axis.
        let right = outer.right - 8.0;
        let x_ticks = x.ticks_across(right - left, SMALL);
        let frame = Rect { left, top, right, bottom };
        Panel { frame, x, y, look, heading: heading.map(text::safe), ticks: (x_ticks, y_ticks), outer }
    }

    /// The panel with one unit as long across as it is upwards: one of the ranges grows. Only then are distances and right angles true.
    pub(crate) fn squared(self) -> Self {
        let (across, up) = (self.x.range, self.y.range);
        let x_unit = self.frame.width() / (across.high - across.low);
        let y_unit = self.frame.height() / (up.high - up.low);
        let ratio = x_unit / y_unit;
        if !(ratio.is_finite() && ratio > 0.0) {
            return self;
        }
        let (mut x, mut y) = (self.x.clone(), self.y.clone());
        if ratio > 1.0 {
            x.range = across.widened(ratio);
        } else {
            y.range = up.widened(1.0 / ratio);
        }
        let squared = Panel::with_heading(self.outer, x, y, self.look, self.heading.as_deref());
        // Other ticks may leave another width: what remains is less than the eye sees, and is put right across.
        let y_unit = squared.frame.height() / (squared.y.range.high - squared.y.range.low);
        let x_unit = squared.frame.width() / (squared.x.range.high - squared.x.range.low);
        let x = squared.x.clone().over(squared.x.range.widened(x_unit / y_unit));
        let ticks = (x.ticks_across(squared.frame.width(), SMALL), squared.ticks.1.clone());
        Panel { x, ticks, ..squared }
    }

    /// [`Panel::squared`], for one of several panels: where the upward axis would grow much, the panel becomes lower instead.
    pub(crate) fn squared_lower(self) -> Self {
        let x_unit = self.frame.width() / (self.x.range.high - self.x.range.low);
        let y_unit = self.frame.height() / (self.y.range.high - self.y.range.low);
        let share = x_unit / y_unit * MOST_GROWTH;
        if share.is_finite() && share < 1.0 {
            let bottom = self.outer.bottom - self.frame.height() * (1.0 - share.max(LEAST_HEIGHT));
            let outer = Rect { bottom, ..self.outer };
            return Panel::with_heading(outer, self.x, self.y, self.look, self.heading.as_deref()).squared();
        }
        self.squared()
    }

    /// Where the panel with its words ends.
    pub(crate) fn bottom(&self) -> f64 {
        self.outer.bottom
    }

    /// The panel with its left end farther right, where that of another panel is.
    pub(crate) fn with_left(self, left: f64) -> Self {
        let frame = Rect { left: left.max(self.frame.left), ..self.frame };
        let ticks = (self.x.ticks_across(frame.width(), SMALL), self.ticks.1.clone());
        Panel { frame, ticks, ..self }
    }

    /// The place of two numbers on the sheet.
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        self.unit((self.x.place(x), self.y.place(y)))
    }

    /// The place on the sheet of a point of the unit square.
    pub(crate) fn unit(&self, (u, v): Point) -> Point {
        let Rect { left, right, top, bottom } = self.frame;
        (left + u * (right - left), bottom - v * (bottom - top))
    }

    /// Draws what lies behind the data. What belongs in front of it is drawn by [`Panel::finish`].
    pub(crate) fn begin(&self, scene: &mut Scene) {
        let faint = Pen::new(scene.theme.faint(), 1.0);
        if matches!(self.look, Look::Lines | Look::Grid) {
            for (place, _) in &self.ticks.1 {
                scene.line(vec![self.unit((0.0, *place)), self.unit((1.0, *place))], faint);
            }
        }
        if self.look == Look::Grid {
            for (place, _) in &self.ticks.0 {
                scene.line(vec![self.unit((*place, 0.0)), self.unit((*place, 1.0))], faint);
            }
        }
    }

    /// Draws frame, ticks and names.
    pub(crate) fn finish(&self, scene: &mut Scene) {
        let theme = scene.theme;
        let rule = Pen::new(theme.rule(), 1.0);
        match self.look {
            Look::Frame => scene.frame(self.frame, rule),
            Look::Lines | Look::Grid => scene.line(vec![self.unit((0.0, 0.0)), self.unit((1.0, 0.0))], rule),
            Look::Bare => {}
        }
        for (place, text) in &self.ticks.0 {
            let (x, y) = self.unit((*place, 0.0));
            if self.look != Look::Bare {
                scene.line(vec![(x, y), (x, y + 4.0)], rule);
            }
            scene.text(text.as_str(), (x, y + 14.0), SMALL, Anchor::Middle, theme.muted());
        }
        let room = self.frame.left - self.outer.left - 7.0;
        let mut last = f64::INFINITY;
        for (place, text) in &self.ticks.1 {
            let (x, y) = self.unit((0.0, *place));
            if self.look == Look::Frame {
                scene.line(vec![(x - 4.0, y), (x, y)], rule);
            }
            if (last - y).abs() >= SMALL {
                scene.text(text::fit(text, SMALL, room), (x - 7.0, y), SMALL, Anchor::Right, theme.muted());
                last = y;
            }
        }
        let ink = theme.ink();
        let width = self.outer.right - self.outer.left;
        if let Some(heading) = &self.heading {
            let at = (self.outer.left, self.outer.top + TITLE_LINE / 2.0 - 2.0);
            scene.text(text::fit(heading, NORMAL, width), at, NORMAL, Anchor::Left, ink);
        }
        if !self.y.title.is_empty() {
            let at = (self.outer.left, self.frame.top - TITLE_LINE / 2.0 - 3.0);
            scene.text(text::fit(&self.y.title, SMALL, width), at, SMALL, Anchor::Left, ink);
        }
        if !self.x.title.is_empty() {
            let middle = f64::midpoint(self.frame.left, self.frame.right);
            let at = (middle, self.outer.bottom - TITLE_LINE / 2.0 + 2.0);
            scene.text(text::fit(&self.x.title, SMALL, self.frame.width()), at, SMALL, Anchor::Middle, ink);
        }
    }

    /// Draws something that is cut to the frame.
    pub(crate) fn within(&self, scene: &mut Scene, draw: impl FnOnce(&mut Scene)) {
        scene.shapes.push(Shape::Clip(self.frame));
        draw(scene);
        scene.shapes.push(Shape::Unclip);
    }

    /// A line through numbers, cut to the frame.
    pub(crate) fn curve(&self, scene: &mut Scene, points: impl IntoIterator<Item = (f64, f64)>, pen: Pen) {
        let points: Vec<Point> = points.into_iter().map(|(x, y)| self.at(x, y)).collect();
        self.within(scene, |scene| scene.line(points, pen));
    }
}
