//! A scene as PNG.
//!
//! Everything is drawn several times larger and then averaged, so that all edges are smooth. Polygons are filled here and
//! not by the drawing library, whose own filling bleeds at the corners of polygons as large as a decision region.

use std::f64::consts::TAU;

use plotters::prelude::{BitMapBackend, DrawingBackend};

use crate::contour::Point;
use crate::error::Error;
use crate::scene::{Colour, Scene, Shape};
use crate::svg::text_style;

/// Pictures of more pixels than this are drawn only twice as large, to save memory.
const MOST_PIXELS_DRAWN_FINELY: u32 = 2_000_000;

/// How far down text goes, by its size, for its small letters to be centred where they are in SVG.
const LOWER: f64 = 0.13;

/// Writes a scene as PNG.
///
/// # Errors
/// When the drawing library or the encoder fails.
pub(crate) fn write(scene: &Scene) -> Result<Vec<u8>, Error> {
    let fine = if scene.width * scene.height <= MOST_PIXELS_DRAWN_FINELY { 4 } else { 2 };
    let mut sheet = Sheet::new(scene.width * fine, scene.height * fine, f64::from(fine));
    for shape in &scene.shapes {
        sheet.draw(shape)?;
    }
    encode(scene.width, scene.height, &sheet.averaged(fine as usize)).map_err(|error| Error::Drawing(error.to_string()))
}

fn encode(width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// Pixels, row after row from the top.
struct Sheet {
    width: u32,
    height: u32,
    fine: f64,
    pixels: Vec<u8>,
}

impl Sheet {
    fn new(width: u32, height: u32, fine: f64) -> Self {
        Sheet { width, height, fine, pixels: vec![255; width as usize * height as usize * 3] }
    }

    fn draw(&mut self, shape: &Shape) -> Result<(), Error> {
        match shape {
            Shape::Fill { points, colour } => self.fill(points, *colour),
            Shape::Disc { centre, radius, colour } => self.fill(&circle(*centre, *radius), *colour),
            Shape::Line { points, width, colour } => self.stroke(points, *width, *colour),
            Shape::Ring { centre, radius, width, colour } => {
                let mut points = circle(*centre, *radius);
                points.push(points[0]);
                self.stroke(&points, *width, *colour);
            }
            Shape::Text { text, at, size, anchor, upwards, colour } => {
                let style = text_style(size * self.fine, *anchor, *upwards, *colour);
                // The drawing library centres the whole line; SVG, and the eye, the small letters.
                let lower = LOWER * size;
                let (x, y) = if *upwards { (at.0 + lower, at.1) } else { (at.0, at.1 + lower) };
                let at = ((x * self.fine).round() as i32, (y * self.fine).round() as i32);
                BitMapBackend::with_buffer(&mut self.pixels, (self.width, self.height))
                    .draw_text(text, &style, at)
                    .map_err(|error| Error::Drawing(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// A line: a bar for each part, and a disc at each joint.
    fn stroke(&mut self, points: &[Point], width: f64, colour: Colour) {
        let half = width / 2.0;
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let length = (b.0 - a.0).hypot(b.1 - a.1);
            if length > 0.0 {
                let (x, y) = (-(b.1 - a.1) / length * half, (b.0 - a.0) / length * half);
                self.fill(&[(a.0 + x, a.1 + y), (b.0 + x, b.1 + y), (b.0 - x, b.1 - y), (a.0 - x, a.1 - y)], colour);
            }
        }
        for &joint in points.iter().take(points.len().saturating_sub(1)).skip(1) {
            self.fill(&circle(joint, half), colour);
        }
    }

    /// Fills the pixels whose centre is inside of a polygon, by the even-odd rule.
    fn fill(&mut self, points: &[Point], colour: Colour) {
        let scaled: Vec<Point> = points.iter().map(|(x, y)| (x * self.fine, y * self.fine)).collect();
        // For each row of pixels where the outline crosses its middle.
        let mut crossings: Vec<(usize, f64)> = Vec::new();
        for (a, b) in scaled.iter().zip(scaled.iter().cycle().skip(1)) {
            let (upper, lower) = if a.1 < b.1 { (a, b) } else { (b, a) };
            let first = (upper.1 - 0.5).ceil().clamp(0.0, f64::from(self.height)) as usize;
            let end = (lower.1 - 0.5).ceil().clamp(0.0, f64::from(self.height)) as usize;
            for row in first..end {
                let t = (row as f64 + 0.5 - upper.1) / (lower.1 - upper.1);
                crossings.push((row, upper.0 + t * (lower.0 - upper.0)));
            }
        }
        crossings.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let column = |x: f64| (x - 0.5).ceil().clamp(0.0, f64::from(self.width)) as usize;
        for pair in crossings.chunks_exact(2) {
            let start = pair[0].0 * self.width as usize;
            for pixel in start + column(pair[0].1)..start + column(pair[1].1) {
                self.pixels[3 * pixel..3 * pixel + 3].copy_from_slice(&[colour.0, colour.1, colour.2]);
            }
        }
    }

    /// The sheet made smaller: each pixel the mean of `fine × fine`.
    fn averaged(&self, fine: usize) -> Vec<u8> {
        let width = self.width as usize;
        let (columns, rows) = (width / fine, self.height as usize / fine);
        let mut out = Vec::with_capacity(columns * rows * 3);
        for row in 0..rows {
            for column in 0..columns {
                let mut sums = [0u32; 3];
                for y in row * fine..(row + 1) * fine {
                    let start = 3 * (y * width + column * fine);
                    for pixel in self.pixels[start..start + 3 * fine].chunks_exact(3) {
                        sums.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += u32::from(*part));
                    }
                }
                let count = (fine * fine) as u32;
                out.extend(sums.map(|sum| ((sum + count / 2) / count) as u8));
            }
        }
        out
    }
}

fn circle(centre: Point, radius: f64) -> Vec<Point> {
    let corners = (radius * 6.0).clamp(8.0, 64.0) as u32;
    let point = |k: u32| {
        let angle = TAU * f64::from(k) / f64::from(corners);
        (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
    };
    (0..corners).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_covers_its_pixels_and_no_other() {
        let mut sheet = Sheet::new(4, 4, 1.0);
        sheet.fill(&[(1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0)], (0, 0, 0));
        let dark: Vec<usize> = (0..16).filter(|pixel| sheet.pixels[3 * pixel] == 0).collect();
        assert_eq!(dark, [5, 6, 9, 10]);
        assert_eq!(sheet.averaged(2), vec![191; 12], "a quarter of each block is dark");
    }

    #[test]
    fn shapes_beyond_the_sheet_are_cut() {
        let mut sheet = Sheet::new(3, 2, 1.0);
        sheet.fill(&[(-1e9, -1e9), (1e9, -1e9), (1e9, 1e9), (-1e9, 1e9)], (1, 2, 3));
        assert!(sheet.pixels.chunks(3).all(|pixel| pixel == [1, 2, 3]));
        sheet.stroke(&[(0.0, 0.0), (0.0, 0.0)], 1.0, (0, 0, 0));
    }
}
