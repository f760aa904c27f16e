//! How far predictions are off: the residual of each row over what was predicted, with the tube that costs nothing.

use super::{Subject, tube};
use crate::Kind;
use crate::drawing::axis::{Axis, Range};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::words;

/// Bars of the histogram at the side.
const BARS: usize = 30;

/// Draws the residuals, and their histogram beside them.
///
/// # Errors
/// When the model predicts no numbers, or there is no data.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let model = subject.model;
    let pairs = subject.predicted_numbers(Kind::Residuals)?;
    let epsilon = tube::epsilon(model);
    let off: Vec<f64> = pairs.iter().map(|(truth, predicted)| truth - predicted).collect();
    let within = off.iter().filter(|off| off.abs() <= epsilon * (1.0 + 1e-9)).count();
    let words = Words {
        title: format!("Residuals: {}", words::what(model)),
        below: tube::facts(&pairs, epsilon, within),
        caption: vec![
            "true number less the predicted one".into(),
            "shaded: within ε, where a row costs nothing".into(),
        ],
        description: format!("Residuals of {} over their predictions.", text::counted(pairs.len(), "row")),
    };
    let (mut scene, body) = page::begin(subject.options, &words);
    let theme = scene.theme;
    let nothing = || Error::NoRange { what: "there are no numbers that say how far the axes reach".into() };
    let y = Range::around(off.iter().copied().chain([-epsilon, epsilon])).ok_or_else(nothing)?;
    let x = Range::around(pairs.iter().map(|pair| pair.1)).ok_or_else(nothing)?;
    let place = Rect { right: body.right - 110.0, ..body };
    let panel = Panel::new(place, Axis::new("predicted", x), Axis::new("residual", y), Look::Lines);
    tube::band(&mut scene, &panel, epsilon, |_| 0.0);
    panel.begin(&mut scene);
    let colour = theme.class(Some(1));
    scene.line(vec![panel.at(x.low, 0.0), panel.at(x.high, 0.0)], Pen::new(theme.ink(), 1.6));
    tube::scatter(&mut scene, &panel, pairs.iter().zip(&off).map(|(pair, off)| (pair.1, *off)), colour);
    panel.finish(&mut scene);
    let mut counts = [0usize; BARS];
    for off in off.iter().filter(|off| off.is_finite()) {
        counts[((y.place(*off) * BARS as f64) as usize).min(BARS - 1)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(1).max(1) as f64;
    let (left, length) = (panel.frame.right + 14.0, body.right - panel.frame.right - 16.0);
    for (k, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (top, bottom) =
            (panel.unit((0.0, (k + 1) as f64 / BARS as f64)).1, panel.unit((0.0, k as f64 / BARS as f64)).1);
        scene.bar(
            Rect { left, top: top + 0.5, right: left + length * count as f64 / most, bottom: bottom - 0.5 },
            colour,
        );
    }
    let mut numbers = Numbers::new(&["row", "true", "predicted", "residual"]);
    for (row, ((truth, predicted), off)) in pairs.iter().zip(&off).enumerate() {
        numbers.push([(row + 1).into(), (*truth).into(), (*predicted).into(), (*off).into()]);
    }
    Ok((scene, numbers))
}
