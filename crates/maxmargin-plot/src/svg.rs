//! A scene as SVG.

use plotters::prelude::{DrawingBackend, RGBColor, SVGBackend, ShapeStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, TextStyle};

use crate::contour::Point;
use crate::error::Error;
use crate::scene::{Anchor, Colour, Scene, Shape};
use crate::text;

/// The drawing library counts in whole pixels; so many of them are one pixel of the scene.
const FINE: f64 = 10.0;

/// Writes a scene as SVG. User text is escaped by the drawing library.
///
/// # Errors
/// When the drawing library fails.
pub(crate) fn write(scene: &Scene) -> Result<Vec<u8>, Error> {
    let mut document = String::new();
    let size = (scene.width * FINE as u32, scene.height * FINE as u32);
    {
        let mut backend = SVGBackend::with_string(&mut document, size);
        for shape in &scene.shapes {
            draw(&mut backend, shape)?;
        }
        backend.present().map_err(|error| Error::Drawing(error.to_string()))?;
    }
    // The coordinates stay fine, the picture is shown in the size asked for.
    let fine = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    let asked = format!("width=\"{}\" height=\"{}\"", scene.width, scene.height);
    Ok(document.replacen(&fine, &asked, 1).into_bytes())
}

fn draw(backend: &mut SVGBackend<'_>, shape: &Shape) -> Result<(), Error> {
    let drawn = match shape {
        Shape::Fill { points, colour } => backend.fill_polygon(points.iter().map(fine), &style(*colour, 0.0)),
        Shape::Line { points, width, colour } => backend.draw_path(points.iter().map(fine), &style(*colour, *width)),
        Shape::Disc { centre, radius, colour } => {
            backend.draw_circle(fine(centre), (radius * FINE) as u32, &style(*colour, 0.0), true)
        }
        Shape::Ring { centre, radius, width, colour } => {
            backend.draw_circle(fine(centre), (radius * FINE) as u32, &style(*colour, *width), false)
        }
        Shape::Text { text, at, size, anchor, upwards, colour } => {
            let style = text_style(size * FINE, *anchor, *upwards, *colour);
            backend.draw_text(text, &style, fine(at))
        }
    };
    drawn.map_err(|error| Error::Drawing(error.to_string()))
}

/// Text in the scene's font.
pub(crate) fn text_style(size: f64, anchor: Anchor, upwards: bool, colour: Colour) -> TextStyle<'static> {
    let across = match anchor {
        Anchor::Left => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::Right => HPos::Right,
    };
    let turn = if upwards { FontTransform::Rotate270 } else { FontTransform::None };
    let color = RGBColor(colour.0, colour.1, colour.2).to_backend_color();
    TextStyle { font: text::font(size).transform(turn), color, pos: Pos::new(across, VPos::Center) }
}

fn style(colour: Colour, width: f64) -> ShapeStyle {
    let colour = RGBColor(colour.0, colour.1, colour.2);
    ShapeStyle { color: colour.into(), filled: false, stroke_width: (width * FINE).round() as u32 }
}

fn fine(point: &Point) -> (i32, i32) {
    ((point.0 * FINE).round() as i32, (point.1 * FINE).round() as i32)
}
