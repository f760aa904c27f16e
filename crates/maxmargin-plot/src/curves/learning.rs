//! What more rows would bring: the score on the rows that were learnt and on others, over the number of rows.

use super::{axis_of, nothing};
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::{Picture, PlotOptions};

/// Scores over the number of training rows. Each score is a mean with its standard deviation over the folds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learning {
    /// What was learnt, in a few words: the picture's title.
    pub title: String,
    /// What a score is, such as `accuracy`.
    pub score: String,
    /// How many rows each training had.
    pub rows: Vec<usize>,
    /// The scores on these rows.
    pub training: Vec<(f64, f64)>,
    /// The scores on rows that were left out.
    pub validation: Vec<(f64, f64)>,
}

/// Draws a learning curve.
///
/// # Errors
/// When there are no numbers, or an option is out of range.
pub fn learning(found: &Learning, options: &PlotOptions) -> Result<Picture, Error> {
    options.check()?;
    let both = || found.training.iter().chain(&found.validation);
    let bounds = both().flat_map(|(mean, deviation)| [mean - deviation, mean + deviation]);
    let range = Range::around(bounds).ok_or_else(nothing)?;
    let rows: Vec<f64> = found.rows.iter().map(|&rows| rows as f64).collect();
    let score = text::safe(&found.score);
    let ends = (found.training.last(), found.validation.last(), found.rows.last());
    let below = match ends {
        (Some(training), Some(validation), Some(rows)) => {
            format!("{score} with {rows} rows: {} learnt, {} left out", short(training.0), short(validation.0))
        }
        _ => return Err(nothing()),
    };
    let words = Words {
        title: text::safe(&found.title),
        below,
        caption: vec!["bands: one standard deviation over the folds".into()],
        description: format!("{score} on training rows and on others, over the number of training rows."),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let place = Rect { right: body.right - 92.0, ..body };
    let panel = Panel::new(place, axis_of("training rows", &rows)?, Axis::new(&score, range), Look::Lines);
    panel.begin(&mut scene);
    let curves =
        [("training", &found.training, theme.class(Some(0))), ("left out", &found.validation, theme.class(Some(1)))];
    for (_, scores, colour) in &curves {
        let upper = rows.iter().zip(scores.iter()).map(|(&x, (mean, off))| panel.at(x, mean + off));
        let lower: Vec<_> = rows.iter().zip(scores.iter()).map(|(&x, (mean, off))| panel.at(x, mean - off)).collect();
        scene.glaze(upper.chain(lower.into_iter().rev()).collect(), *colour, 0.18);
    }
    let mut names = Vec::new();
    for (name, scores, colour) in &curves {
        let points: Vec<(f64, f64)> = rows.iter().zip(scores.iter()).map(|(&x, score)| (x, score.0)).collect();
        panel.curve(&mut scene, points.iter().copied(), Pen::new(*colour, 1.8));
        for (x, y) in &points {
            let centre = panel.at(*x, *y);
            scene.disc(centre, 3.2, *colour);
        }
        names.extend(points.last().map(|&(x, y)| (*name, panel.at(x, y), *colour)));
    }
    panel.finish(&mut scene);
    let left = panel.frame.right + 8.0;
    let room = scene.width - page::EDGE / 2.0 - left;
    page::end_labels(&mut scene, (left, panel.frame.bottom), room, &names);
    let mut numbers = Numbers::new(&["rows", "training", "training_deviation", "left_out", "left_out_deviation"]);
    for ((rows, training), validation) in rows.iter().zip(&found.training).zip(&found.validation) {
        numbers.push([(*rows).into(), training.0.into(), training.1.into(), validation.0.into(), validation.1.into()]);
    }
    Ok(Picture { scene, numbers })
}
