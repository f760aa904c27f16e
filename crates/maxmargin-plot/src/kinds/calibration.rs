//! Whether probabilities are true: what was predicted in each tenth, beside how often it came true.
//!
//! ```text
//! in each bin:   mean of p   against   share of rows that are of the class, with Wilson's interval
//! (s + z²/2 ± z √(s (n − s)/n + z²/4)) / (n + z²),   s of n rows, z = 1.96                              (V.5)
//! ```
//!
//! # References
//! E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American Statistical Association 22, 1927.

use super::Subject;
use crate::Kind;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::words;

/// How many bins there are.
const BINS: usize = 10;

/// Two-sided 95% of the normal distribution.
const Z: f64 = 1.96;

/// One bin: rows, the mean of what was predicted, and how many rows came true.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    rows: f64,
    sum: f64,
    true_rows: f64,
}

impl Bin {
    /// The interval that holds the true share in 95 of 100 cases, (V.5).
    fn interval(self) -> (f64, f64) {
        let (n, s) = (self.rows, self.true_rows);
        let middle = s + Z * Z / 2.0;
        let half = Z * (s * (n - s) / n + Z * Z / 4.0).sqrt();
        ((middle - half) / (n + Z * Z), (middle + half) / (n + Z * Z))
    }
}

/// Draws the calibration.
///
/// # Errors
/// When the model has no probabilities, or there is no data with classes.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let (model, workers) = (subject.model, subject.workers);
    let rows = subject.classified(Kind::Calibration)?;
    let predictions = model.predict(subject.data(Kind::Calibration)?, workers)?;
    let probabilities = model.probabilities(&predictions)?;
    let classes = model.classes().len();
    let binary = classes == 2;
    // Of two classes the second one's probability; of more, that of the class that is predicted.
    let pairs: Vec<(f64, bool)> = probabilities
        .chunks(classes)
        .zip(rows.classes.iter().zip(&rows.predicted))
        .filter_map(|(p, (class, predicted))| {
            let of = if binary { 1 } else { *predicted };
            class.map(|class| (p[of as usize], class == of))
        })
        .collect();
    let mut bins = [Bin::default(); BINS];
    let mut brier = 0.0;
    for &(p, came_true) in &pairs {
        let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
        let one = if came_true { 1.0 } else { 0.0 };
        *bin = Bin { rows: bin.rows + 1.0, sum: bin.sum + p, true_rows: bin.true_rows + one };
        brier += (p - one) * (p - one) / pairs.len() as f64;
    }
    let off = bins.iter().map(|bin| (bin.sum - bin.true_rows).abs()).sum::<f64>() / pairs.len() as f64;
    let of = if binary { text::label(&model.classes()[1]) } else { "the class that is predicted".into() };
    let mut caption = vec![
        "on the dashed line, probabilities are true".to_string(),
        "bars: where the true share lies in 95 of 100 cases, by the number of rows".to_string(),
    ];
    if rows.training == Some(true) {
        caption.push("these are the training rows, which flatter a model: draw rows that it has not seen".into());
    }
    let words = Words {
        title: format!("Calibration: {}", words::what(model)),
        below: format!("mean distance from the truth {} · Brier score {}", short(off), short(brier)),
        caption,
        description: format!(
            "Predicted probabilities against shares that came true, over {}.",
            text::counted(pairs.len(), "row")
        ),
    };
    let (mut scene, body) = page::begin(subject.options, &words);
    let theme = scene.theme;
    // On a low sheet there is no room for the numbers of rows below the curve.
    let has_room = body.height() > 300.0;
    let main = if has_room { Rect { bottom: body.bottom - 0.27 * body.height(), ..body } } else { body };
    let unit = || Range::exactly(0.0, 1.0);
    let (up, across) = (format!("share of rows that are {of}"), format!("predicted probability of {of}"));
    let axis = Axis::new(if has_room { "" } else { &across }, unit());
    let panel = Panel::new(main, axis, Axis::new(&up, unit()), Look::Grid);
    let most = bins.iter().map(|bin| bin.rows).fold(1.0, f64::max);
    let lower = Rect { top: main.bottom + 6.0, bottom: body.bottom.max(main.bottom + 100.0), ..body };
    let rows_axis = Axis::new("rows", Range::exactly(0.0, most * 1.05));
    let counts = Panel::new(lower, Axis::new(&across, unit()), rows_axis, Look::Lines);
    // Both panels share their axis, so they share their left end.
    let (panel, counts) = (panel.clone().with_left(counts.frame.left), counts.with_left(panel.frame.left));
    panel.begin(&mut scene);
    let dashed = Pen::new(theme.rule(), 1.2).dashed(4.0, 4.0);
    scene.line(vec![panel.at(0.0, 0.0), panel.at(1.0, 1.0)], dashed);
    let colour = theme.class(Some(1));
    let filled: Vec<&Bin> = bins.iter().filter(|bin| bin.rows > 0.0).collect();
    let middle = |bin: &Bin| (bin.sum / bin.rows, bin.true_rows / bin.rows);
    scene.line(filled.iter().map(|bin| panel.at(middle(bin).0, middle(bin).1)).collect(), Pen::new(colour, 1.6));
    for bin in &filled {
        let ((x, y), (low, high)) = (middle(bin), bin.interval());
        scene.line(vec![panel.at(x, low), panel.at(x, high)], Pen::new(colour, 1.4));
        let centre = panel.at(x, y);
        scene.disc(centre, 4.5, colour);
    }
    panel.finish(&mut scene);
    if has_room {
        histogram(&mut scene, &counts, &bins);
    }
    let mut numbers = Numbers::new(&["from", "to", "rows", "predicted", "came_true", "low", "high"]);
    for (k, bin) in bins.iter().enumerate() {
        let known = bin.rows > 0.0;
        let (low, high) = bin.interval();
        numbers.push([
            (k as f64 / BINS as f64).into(),
            ((k + 1) as f64 / BINS as f64).into(),
            bin.rows.into(),
            known.then(|| middle(bin).0).into(),
            known.then(|| middle(bin).1).into(),
            known.then_some(low).into(),
            known.then_some(high).into(),
        ]);
    }
    Ok((scene, numbers))
}

/// How many rows each bin has.
fn histogram(scene: &mut Scene, counts: &Panel, bins: &[Bin]) {
    counts.begin(scene);
    let fill = scene.theme.rule();
    for (k, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.rows > 0.0) {
        let (a, b) = (counts.at(k as f64 / BINS as f64, bin.rows), counts.at((k + 1) as f64 / BINS as f64, 0.0));
        scene.bar(Rect { left: a.0 + 1.0, top: a.1, right: b.0 - 1.0, bottom: b.1 }, fill);
    }
    counts.finish(scene);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // 8 of 10: 0.490 to 0.943, as tables have it.
        let (low, high) = Bin { rows: 10.0, sum: 0.0, true_rows: 8.0 }.interval();
        assert!((low - 0.4902).abs() < 1e-3 && (high - 0.9433).abs() < 1e-3, "{low} {high}");
        let (low, high) = Bin { rows: 5.0, sum: 0.0, true_rows: 0.0 }.interval();
        assert!(low.abs() < 1e-12 && high < 0.44, "{low} {high}");
    }
}
