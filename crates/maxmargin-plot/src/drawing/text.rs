//! The font of all pictures, the room that text takes, and text of the user made safe.

use std::sync::LazyLock;

use maxmargin::data::Label;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// A subset of DejaVu Sans; its licence is beside it.
pub(crate) const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// The fonts that programs look for, the first one first. Verdana has nearly the same widths as DejaVu Sans, so what fits in one fits in both.
pub(crate) const FAMILY: &str = "DejaVu Sans,Verdana,sans-serif";

/// The width of a letter that the font does not have, in parts of the size: another font may draw it.
const UNKNOWN: f64 = 1.0;

/// The widths of the letters up to U+2FFF in parts of the size; NaN where the font has no such letter.
static WIDTHS: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let Ok(font) = FontRef::new(FONT) else { return Vec::new() };
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let letters = font.charmap();
    let width = |code: u32| {
        let glyph = char::from_u32(code).and_then(|letter| letters.map(letter));
        glyph.and_then(|glyph| metrics.advance_width(glyph)).unwrap_or(f32::NAN)
    };
    (0..0x3000).map(width).collect()
});

/// How wide a text is.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let width = |letter: char| {
        let known = WIDTHS.get(letter as usize).copied().map_or(f64::NAN, f64::from);
        if known.is_nan() { UNKNOWN } else { known }
    };
    text.chars().map(width).sum::<f64>() * size
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

/// Breaks a text between words into at most `most` lines; the last one is cut.
pub(crate) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(rest);
    }
    lines.into_iter().map(|line| fit(&line, size, room)).collect()
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

/// A number of things: `1 row`, `2 rows`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_the_room_there_is() {
        assert_eq!(fit("short", 12.0, 100.0), "short");
        let cut = fit("a text that is far too long for its place", 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
        assert_eq!(fit("anything", 12.0, 1.0), "");
    }

    #[test]
    fn widths_are_those_of_the_font() {
        // DejaVu Sans has 2048 units: a space takes 651 of them, an m 1995.
        assert!((width(" ", 2048.0) - 651.0).abs() < 0.1 && (width("m", 2048.0) - 1995.0).abs() < 0.1);
        assert_eq!(width("漢", 10.0), 10.0);
        assert!("αγξρλνσ‖−≤≥·²√…′".chars().all(|letter| WIDTHS[letter as usize] > 0.0), "the font lacks a sign");
    }

    #[test]
    fn words_are_broken_into_lines_and_none_is_lost_where_there_is_room() {
        let lines = wrap("one two three four five six", 10.0, 70.0, 9);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 10.0) <= 70.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six");
        assert!(wrap("one two three four five six", 10.0, 40.0, 2)[1].ends_with('…'));
    }

    #[test]
    fn control_characters_and_marks_of_direction_are_replaced() {
        assert_eq!(safe("a\u{0}b\u{1b}[31m\u{202e}\n"), "a\u{fffd}b\u{fffd}[31m\u{fffd}\u{fffd}");
        assert_eq!(safe(&"x".repeat(1000)).chars().count(), 201);
    }
}
