//! A scene as PNG: its SVG, rasterised. So the two formats show the same picture by construction.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::text::FONT;
use crate::error::Error;

/// Pixels for each unit of the picture, so that a PNG is sharp on screens and in print.
const FINE: f32 = 2.0;

/// The one font. It is loaded by hand: what is drawn must not depend on the fonts of a machine, and a font that is not found draws nothing.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    fonts.set_sans_serif_family(family.unwrap_or_default());
    Arc::new(fonts)
});

/// Rasterises an SVG of ours.
///
/// # Errors
/// When the rasteriser or the encoder fails.
pub(crate) fn write(svg: &str) -> Result<Vec<u8>, Error> {
    let failed = |what: &dyn std::fmt::Display| Error::Drawing(what.to_string());
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "sans-serif".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size();
    let (width, height) = ((size.width() * FINE).round() as u32, (size.height() * FINE).round() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| failed(&"it has no size"))?;
    resvg::render(&tree, Transform::from_scale(FINE, FINE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::*;
    use crate::drawing::scene::{Anchor, Scene};
    use crate::drawing::svg;
    use crate::drawing::theme::Theme;

    /// The pixels that are not of the paper's colour.
    fn ink(scene: &Scene) -> usize {
        let pixels = Pixmap::decode_png(&write(&svg::write(scene)).unwrap()).unwrap();
        let paper = pixels.pixels()[0];
        pixels.pixels().iter().filter(|&&pixel| pixel != paper).count()
    }

    #[test]
    fn every_letter_of_the_font_leaves_ink() {
        for letter in ['A', 'g', '0', 'ä', 'α', 'ξ', '‖', '−', '≤', '²', '√', '…', '\u{fffd}'] {
            let mut scene = Scene::new((60.0, 60.0), Theme::Light);
            assert_eq!(ink(&scene), 0);
            scene.text(letter.to_string(), (30.0, 30.0), 40.0, Anchor::Middle, (0, 0, 0));
            assert!(ink(&scene) > 30, "{letter} is not drawn");
        }
    }

    #[test]
    fn the_measured_width_is_the_width_that_is_drawn() {
        let text = "Wide iil, 0.25 αβ";
        let mut scene = Scene::new((300.0, 40.0), Theme::Light);
        scene.text(text, (10.0, 20.0), 20.0, Anchor::Left, (0, 0, 0));
        let pixels = Pixmap::decode_png(&write(&svg::write(&scene)).unwrap()).unwrap();
        let paper = pixels.pixels()[0];
        let columns: Vec<u32> =
            (0..pixels.width()).filter(|&x| (0..80).any(|y| pixels.pixel(x, y) != Some(paper))).collect();
        let drawn = f64::from(columns[columns.len() - 1] - columns[0]) / f64::from(FINE);
        let measured = crate::drawing::text::width(text, 20.0);
        assert!((measured - drawn).abs() < 5.0, "{measured} measured, {drawn} drawn");
    }
}
