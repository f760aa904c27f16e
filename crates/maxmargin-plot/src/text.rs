//! The font of all pictures, the room that text takes, and text of the user made safe.

use maxmargin::data::Label;
use plotters::style::{FontDesc, FontFamily, FontStyle, IntoFont, register_font};

use crate::error::Error;

/// A subset of DejaVu Sans; its licence is beside it.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

/// Text is measured this many times larger than drawn, because the drawing library measures in whole pixels.
const FINE: f64 = 32.0;

/// Makes the font known to the drawing library. Doing so again changes nothing.
///
/// # Errors
/// When the font cannot be read.
pub(crate) fn register() -> Result<(), Error> {
    register_font(FontFamily::SansSerif.as_str(), FontStyle::Normal, FONT)
        .map_err(|_| Error::Drawing("the font that comes with the program cannot be read".into()))
}

/// The font in a size.
pub(crate) fn font(size: f64) -> FontDesc<'static> {
    (FontFamily::SansSerif, size).into_font()
}

/// How wide a text is; the font must be registered.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    font(size * FINE).layout_box(text).map_or(0.0, |(_, (width, _))| f64::from(width) / FINE)
}

/// The text, cut with an ellipsis where it would be wider than `most`.
pub(crate) fn fit(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_string();
    }
    let mut kept = text.to_string();
    while kept.pop().is_some() {
        let cut = format!("{}…", kept.trim_end());
        if width(&cut, size) <= most {
            return cut;
        }
    }
    String::new()
}

/// Text of the user without characters that a picture must not hold, cut after 200.
///
/// Markup is escaped when it is written; control characters have no place in XML at all, and neither have the marks that
/// turn the direction of what follows.
pub(crate) fn safe(text: &str) -> String {
    let forbidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    let mut shown: String = text.chars().take(200).map(|c| if forbidden(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(200).is_some() {
        shown.push('…');
    }
    shown
}

/// A label as a legend shows it: numbers with the sign that printers use.
pub(crate) fn label(label: &Label) -> String {
    let text = safe(label.text());
    match (label.number(), text.strip_prefix('-')) {
        (Some(_), Some(rest)) => format!("−{rest}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_the_room_there_is() {
        register().ok().unwrap();
        assert_eq!(fit("short", 12.0, 100.0), "short");
        let cut = fit("a text that is far too long for its place", 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
        assert_eq!(fit("anything", 12.0, 1.0), "");
    }

    #[test]
    fn control_characters_and_marks_of_direction_are_replaced() {
        assert_eq!(safe("a\u{0}b\u{1b}[31m\u{202e}\n"), "a\u{fffd}b\u{fffd}[31m\u{fffd}\u{fffd}");
        assert_eq!(safe(&"x".repeat(1000)).chars().count(), 201);
    }
}
