//! A scene as SVG.
//!
//! Neighbours that look alike share a group, so thousands of markers take few bytes each. All coordinates have one decimal. The same scene
//! makes the same bytes.

use std::fmt::Write;

use super::scene::{Anchor, BASELINE, Pen, Rect, Scene, Shape};
use super::text::FAMILY;
use super::theme::Colour;
use crate::contour::Point;

/// Writes a scene as SVG.
pub(crate) fn write(scene: &Scene) -> String {
    let mut out = Document { text: String::new(), group: String::new(), clips: 0 };
    let (width, height) = (short(scene.width), short(scene.height));
    let _ = write!(
        out.text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" font-family=\"{FAMILY}\" stroke-linejoin=\"round\">\n\
         <title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        escaped(&scene.title),
        escaped(&scene.description),
        hex(scene.theme.paper()),
    );
    for shape in &scene.shapes {
        out.add(shape);
    }
    out.end_group();
    out.text.push_str("</svg>\n");
    // A page may hold several pictures, and a name in one of them must not be found in another.
    let own = format!("m{:08x}", fingerprint(&out.text));
    out.text.replace(OWN, &own)
}

/// Stands for the beginning of every name in the picture until all of it is known. No text of a user holds it.
const OWN: &str = "\u{1}";

/// A number that differs between texts (Fowler, Noll and Vo).
fn fingerprint(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

struct Document {
    text: String,
    /// What the elements of the open group have in common; empty outside of groups.
    group: String,
    clips: usize,
}

impl Document {
    fn add(&mut self, shape: &Shape) {
        match shape {
            Shape::Area { points, fill, opacity, edge } => {
                let opacity = if *opacity < 1.0 { format!(" fill-opacity=\"{opacity:.2}\"") } else { String::new() };
                let edge = edge.map(stroke).unwrap_or_default();
                self.element(
                    &format!("fill=\"{}\"{opacity}{edge}", hex(*fill)),
                    &format!("<path d=\"{}z\"/>", path(points)),
                );
            }
            Shape::Line { points, pen } => {
                self.element(&format!("fill=\"none\"{}", stroke(*pen)), &format!("<path d=\"{}\"/>", path(points)));
            }
            Shape::Disc { centre, radius, fill, edge } => {
                let edge = edge.map(stroke).unwrap_or_default();
                self.element(&format!("fill=\"{}\"{edge}", hex(*fill)), &circle(*centre, *radius));
            }
            Shape::Circle { centre, radius, pen } => {
                self.element(&format!("fill=\"none\"{}", stroke(*pen)), &circle(*centre, *radius));
            }
            Shape::Squares { corners, side, fill } => {
                let side = short(*side);
                let square = |(x, y): &Point| format!("M{},{}h{side}v{side}h-{side}z", short(*x), short(*y));
                self.element(
                    &format!("fill=\"{}\"", hex(*fill)),
                    &format!("<path d=\"{}\"/>", corners.iter().map(square).collect::<String>()),
                );
            }
            Shape::Text { text, at, size, anchor, colour, halo } => {
                let anchor = match anchor {
                    Anchor::Left => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::Right => " text-anchor=\"end\"",
                };
                let halo =
                    halo.map(|colour| format!(" stroke=\"{}\" stroke-width=\"3\" paint-order=\"stroke\"", hex(colour)));
                let (x, y) = (short(at.0), short(at.1 + BASELINE * size));
                self.element(
                    &format!(
                        "fill=\"{}\"{} font-size=\"{}\"{anchor}",
                        hex(*colour),
                        halo.unwrap_or_default(),
                        short(*size)
                    ),
                    &format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(text)),
                );
            }
            Shape::Clip(rect) => {
                self.end_group();
                self.clips += 1;
                let Rect { left, top, .. } = rect;
                let _ = write!(
                    self.text,
                    "<clipPath id=\"{OWN}{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/></clipPath>\n<g clip-path=\"url(#{OWN}{0})\">\n",
                    self.clips,
                    short(*left),
                    short(*top),
                    short(rect.width()),
                    short(rect.height())
                );
            }
            Shape::Unclip => {
                self.end_group();
                self.text.push_str("</g>\n");
            }
        }
    }

    /// An element, in the group of those that look like it.
    fn element(&mut self, looks: &str, element: &str) {
        if self.group != looks {
            self.end_group();
            let _ = writeln!(self.text, "<g {looks}>");
            self.group = looks.to_string();
        }
        self.text.push_str(element);
        self.text.push('\n');
    }

    fn end_group(&mut self) {
        if !self.group.is_empty() {
            self.text.push_str("</g>\n");
            self.group.clear();
        }
    }
}

fn stroke(pen: Pen) -> String {
    let dash = pen.dash.map(|(dash, gap)| format!(" stroke-dasharray=\"{} {}\"", short(dash), short(gap)));
    format!(" stroke=\"{}\" stroke-width=\"{}\"{}", hex(pen.colour), short(pen.width), dash.unwrap_or_default())
}

fn circle(centre: Point, radius: f64) -> String {
    format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", short(centre.0), short(centre.1), short(radius))
}

/// Moves and lines through points; points that the line hardly leaves are left out.
fn path(points: &[Point]) -> String {
    let mut text = String::new();
    for (k, point) in thinned(points).into_iter().enumerate() {
        let _ = write!(text, "{}{},{}", if k == 0 { 'M' } else { 'L' }, short(point.0), short(point.1));
    }
    text
}

/// How far a line may pass a point that is left out, in units of the picture: less than the eye sees.
const SEEN: f64 = 0.06;

/// The points that a line needs (the method of Ramer, Douglas and Peucker).
fn thinned(points: &[Point]) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut kept = vec![false; points.len()];
    (kept[0], kept[points.len() - 1]) = (true, true);
    let mut parts = vec![(0, points.len() - 1)];
    while let Some((first, last)) = parts.pop() {
        let farthest = (first + 1..last)
            .map(|k| (distance(points[k], points[first], points[last]), k))
            .fold((SEEN, None), |best, (distance, k)| if distance > best.0 { (distance, Some(k)) } else { best });
        if let Some(k) = farthest.1 {
            kept[k] = true;
            parts.extend([(first, k), (k, last)]);
        }
    }
    points.iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// The distance of a point from the segment between two others.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let length = x * x + y * y;
    let t = if length > 0.0 { ((point.0 - from.0) * x + (point.1 - from.1) * y) / length } else { 0.0 };
    let t = t.clamp(0.0, 1.0);
    (point.0 - from.0 - t * x).hypot(point.1 - from.1 - t * y)
}

/// A coordinate with one decimal, and with none where it is 0. Nothing is farther out than 100,000 units, and what is no number is 0.
fn short(number: f64) -> String {
    let number = if number.is_nan() { 0.0 } else { number.clamp(-1e5, 1e5) };
    let text = format!("{number:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}

fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text with the signs of markup escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_left_out_and_corners_are_kept() {
        let line: Vec<Point> = (0..=10).map(|k| (f64::from(k), 0.0)).chain([(10.0, 5.0)]).collect();
        assert_eq!(thinned(&line), [(0.0, 0.0), (10.0, 0.0), (10.0, 5.0)]);
        let square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0)];
        assert_eq!(thinned(&square), square, "a closed line keeps its corners");
    }

    #[test]
    fn names_within_a_picture_are_its_own() {
        let picture = |right: f64| {
            let mut scene = Scene::new((50.0, 50.0), crate::Theme::Light);
            scene.shapes.extend([Shape::Clip(Rect { left: 0.0, top: 0.0, right, bottom: 9.0 }), Shape::Unclip]);
            write(&scene)
        };
        let name = |svg: &str| svg.split("clipPath id=\"").nth(1).unwrap().split('"').next().unwrap().to_string();
        let (one, other) = (picture(10.0), picture(11.0));
        assert!(one.contains(&format!("url(#{})", name(&one))) && !one.contains(OWN));
        assert_ne!(name(&one), name(&other));
        assert_eq!(one, picture(10.0));
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        let shown = [1.0, -0.01, 2.25, f64::NAN, f64::INFINITY].map(short);
        assert_eq!(shown, ["1", "0", "2.2", "0", "100000"]);
    }
}
