//! A regression with its tube: the curve over one column; with more columns, what is predicted against what is true.

use maxmargin::data::Matrix;
use maxmargin::metrics::Residuals;
use maxmargin::model::Model;
use maxmargin::problem::Task;

use super::Subject;
use crate::Kind;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::legend::{self, Entry, Sample};
use crate::drawing::marker::Ring;
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text;
use crate::drawing::theme::{Colour, mix};
use crate::error::Error;
use crate::numbers::Numbers;
use crate::plane::column_title;
use crate::words;

/// Places at which the curve is computed.
const PLACES: usize = 400;

/// Rows that are drawn; more are thinned out evenly.
const MOST_ROWS: usize = 3000;

/// Draws the curve, the tube and the rows.
///
/// # Errors
/// When the model predicts no numbers, or there is no data.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let Subject { model, options, workers, .. } = *subject;
    let pairs = subject.predicted_numbers(Kind::Tube)?;
    let data = subject.data(Kind::Tube)?;
    let epsilon = epsilon(model);
    let within = pairs.iter().filter(|(truth, predicted)| (truth - predicted).abs() <= epsilon * (1.0 + 1e-9)).count();
    let over_column = model.parts().columns == 1;
    let training = model.is_training_data(data, workers);
    let mut caption = vec!["shaded: the tube of ε around the prediction, within which a row costs nothing".to_string()];
    if !training {
        caption.push("not the training data, so support vectors are not marked".into());
    }
    if pairs.len() > MOST_ROWS {
        caption.push(format!("{MOST_ROWS} of {} rows shown", pairs.len()));
    }
    let words = Words {
        title: words::what(model),
        below: facts(&pairs, epsilon, within),
        caption,
        description: format!("A regression with its tube, and {}.", text::counted(pairs.len(), "row")),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let xs: Vec<f64> = if over_column {
        let matrix = model.align(data)?;
        let scaled = matrix.points.matrix();
        (0..scaled.rows()).map(|row| column_value(model, scaled, row)).collect()
    } else {
        pairs.iter().map(|pair| pair.1).collect()
    };
    let nothing = || Error::NoRange { what: "there are no numbers that say how far the axes reach".into() };
    let x = Range::around(xs.iter().copied()).ok_or_else(nothing)?;
    let places: Vec<f64> = (0..=PLACES).map(|k| x.at(k as f64 / PLACES as f64)).collect();
    let curve: Vec<f64> = if over_column {
        let points = model.prepare(Matrix::dense(places.len(), 1, places.clone())?)?;
        model.decision_values(&points, workers)
    } else {
        places.clone()
    };
    let edges = curve.iter().flat_map(|f| [f - epsilon, f + epsilon]);
    let ys = pairs.iter().map(|pair| pair.0).chain(edges.clone());
    let y = Range::around(ys).ok_or_else(nothing)?;
    let mut entries = vec![
        Entry::new(Sample::Disc(theme.class(Some(1))), "row"),
        Entry::new(
            Sample::Line(Pen::new(theme.ink(), 2.0)),
            if over_column { "prediction" } else { "true = predicted" },
        ),
        Entry::new(Sample::Square(tint(theme.paper(), theme.class(Some(0)))), format!("tube, ε = {}", short(epsilon))),
    ];
    let support: Vec<usize> =
        if training { model.parts().support_rows.iter().map(|&row| row as usize).collect() } else { Vec::new() };
    if !support.is_empty() {
        entries.push(Entry::new(Sample::Ring(Ring::Support), format!("support vector ({})", support.len())));
    }
    let width = legend::width(&entries, scene.width);
    let place = Rect { right: body.right - width - 16.0, ..body };
    let titles =
        if over_column { (column_title(model, 0), "target".to_string()) } else { ("predicted".into(), "true".into()) };
    let panel = Panel::new(place, Axis::new(&titles.0, x), Axis::new(&titles.1, y), Look::Lines);
    let at = |number: f64| {
        let place = (x.place(number) * PLACES as f64).clamp(0.0, PLACES as f64);
        let (below, above) = (curve[place as usize], curve[(place as usize + 1).min(PLACES)]);
        below + place.fract() * (above - below)
    };
    band(&mut scene, &panel, epsilon, at);
    panel.begin(&mut scene);
    panel.curve(&mut scene, places.iter().copied().zip(curve.iter().copied()), Pen::new(theme.ink(), 2.0));
    let points: Vec<(f64, f64)> = xs.iter().zip(&pairs).map(|(x, pair)| (*x, pair.0)).collect();
    let radius = scatter(&mut scene, &panel, points.iter().copied(), theme.class(Some(1)));
    for &row in support.iter().filter(|row| **row < points.len()).take(MOST_ROWS) {
        let (x, y) = points[row];
        scene.ring(Ring::Support, panel.at(x, y), radius);
    }
    panel.finish(&mut scene);
    legend::draw(&mut scene, Rect { left: panel.frame.right + 16.0, right: body.right, ..panel.frame }, &entries);
    let mut numbers = Numbers::new(&["row", "across", "true", "predicted"]);
    for (row, (x, (truth, predicted))) in xs.iter().zip(&pairs).enumerate() {
        numbers.push([(row + 1).into(), (*x).into(), (*truth).into(), (*predicted).into()]);
    }
    Ok((scene, numbers))
}

/// ε of a regression; 0 where there is none.
pub(crate) fn epsilon(model: &Model) -> f64 {
    let own = model.machines().first().and_then(|machine| machine.epsilon);
    own.unwrap_or(match model.task() {
        Task::Regression { epsilon } => epsilon,
        _ => 0.0,
    })
}

/// How good a regression is, in a line.
pub(crate) fn facts(pairs: &[(f64, f64)], epsilon: f64, within: usize) -> String {
    let truth: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    let mut facts = vec![format!("{within} of {} within ε = {}", text::counted(pairs.len(), "row"), short(epsilon))];
    if let Some(found) = Residuals::new(&truth, pairs.iter().map(|pair| pair.1)) {
        facts.push(format!("mean absolute error {}", short(found.mean_absolute_error)));
        facts.extend(found.r_squared.map(|r_squared| format!("R² {}", short(r_squared))));
    }
    facts.join(" · ")
}

fn tint(paper: Colour, colour: Colour) -> Colour {
    mix(paper, colour, 0.2)
}

/// The tube around a curve.
pub(crate) fn band(scene: &mut Scene, panel: &Panel, epsilon: f64, curve: impl Fn(f64) -> f64) {
    let range = panel.x.range;
    let places: Vec<f64> = (0..=PLACES).map(|k| range.at(k as f64 / PLACES as f64)).collect();
    let upper = places.iter().map(|&x| panel.at(x, curve(x) + epsilon));
    let lower = places.iter().rev().map(|&x| panel.at(x, curve(x) - epsilon));
    let outline = upper.chain(lower).collect();
    let fill = tint(scene.theme.paper(), scene.theme.class(Some(0)));
    panel.within(scene, |scene| scene.fill(outline, fill));
}

/// Rows as dots, thinned out where there are too many. Returns their radius.
pub(crate) fn scatter(
    scene: &mut Scene,
    panel: &Panel,
    points: impl ExactSizeIterator<Item = (f64, f64)>,
    colour: Colour,
) -> f64 {
    let count = points.len();
    let radius = if count <= 100 {
        4.2
    } else if count <= 600 {
        3.2
    } else {
        2.2
    };
    let every = count.div_ceil(MOST_ROWS).max(1);
    for (x, y) in points.step_by(every).filter(|(x, y)| x.is_finite() && y.is_finite()) {
        scene.disc(panel.at(x, y), radius, colour);
    }
    radius
}

/// The number of the only column, in the user's own units.
fn column_value(model: &Model, scaled: &Matrix, row: usize) -> f64 {
    let mut number = 0.0;
    scaled.visit(row, |_, value| number = value);
    crate::plane::unscaled(model, 0, number)
}
