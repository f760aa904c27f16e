//! The hard and the soft margin seen from the other side: the (reduced) convex hulls of both classes, their nearest points, and the
//! boundary that halves the way between them.
//!
//! ```text
//! a_i = α_i / A,   A = Σ_{y_i=+1} α_i = Σ_{y_i=−1} α_i
//! p = Σ_{+} a_i x_i,   q = Σ_{−} a_i x_i,   p − q = w/A,   a_i ≤ μ = C/A                                (V.6)
//! ```
//!
//! A point of a reduced hull's border, in a direction d, is the mean of the rows farthest along d, each of weight μ as far as 1 is reached.
//!
//! # References
//! K. P. Bennett, E. J. Bredensteiner, Duality and geometry in SVM classifiers, ICML 2000.

use std::f64::consts::TAU;

use maxmargin::model::Model;

use super::Subject;
use super::regions::{pens, points};
use crate::Kind;
use crate::contour::Point;
use crate::drawing::axis::{Axis, short};
use crate::drawing::legend::{self, Entry, Sample};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::plane::Plane;
use crate::words;

/// Directions in which the border of a reduced hull is looked for.
const DIRECTIONS: usize = 720;

/// Draws the hulls.
///
/// # Errors
/// When the model is not a linear one of two classes and two columns with coefficients and an explicit bias, or the data is not its
/// training data.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let Subject { model, options, workers, .. } = *subject;
    let data = subject.data(Kind::Hulls)?;
    let refuse = |what: &str, help: &str| Err(Error::Unsuited { what: what.into(), help: help.into() });
    if model.machines().len() != 1 || !model.recipe().kernel.is_linear() || model.parts().columns != 2 {
        return refuse("hulls are drawn of two classes, two columns and a linear kernel", "choose the kind regions");
    }
    let plane = Plane::new(model, Some(data), options.columns.as_ref(), workers)?;
    if plane.rows.training != Some(true) {
        return refuse(
            "hulls are made of the rows that the model was trained on, and this is other data",
            "give the training data",
        );
    }
    let weights = coefficients(model, plane.places.len());
    let sum = |sign: f64| weights.iter().map(|c| (sign * c).max(0.0)).sum::<f64>();
    let (above, below) = (sum(1.0), sum(-1.0));
    if !(above > 0.0 && (above - below).abs() < 1e-2 * above) {
        return refuse(
            "the coefficients of the two classes do not balance, as they do with an explicit bias and a solver of the dual",
            "train with the bias explicit and the solver smo",
        );
    }
    let mean = |sign: f64, total: f64| {
        let part = |(c, (x, y)): (&f64, &Point)| ((sign * c).max(0.0) / total * x, (sign * c).max(0.0) / total * y);
        weights.iter().zip(&plane.places).map(part).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let (p, q) = (mean(1.0, above), mean(-1.0, below)); // (V.6)
    let most = model.machines()[0].cost.map_or(1.0, |cost| (cost / above).min(1.0));
    let reduced = most < 1.0;
    let of = |class: u32| -> Vec<Point> {
        let own = plane.places.iter().zip(&plane.rows.classes).filter(|(_, own)| **own == Some(class));
        own.map(|(place, _)| *place).collect()
    };
    let hulls = [hull(&of(0), 1.0), hull(&of(1), 1.0)];
    let shrunk = [hull(&of(0), most), hull(&of(1), most)];
    let distance = (p.0 - q.0).hypot(p.1 - q.1);
    let words = Words {
        title: format!("Hulls: {}", words::what(model)),
        below: format!("nearest points {} apart · {}", short(distance), words::how_good(model, &plane.rows)),
        caption: if reduced {
            vec![format!(
                "dark: the reduced hulls, in which no row weighs more than μ = {}; pale: the convex hulls",
                short(most)
            )]
        } else {
            Vec::new()
        },
        description: "The convex hulls of two classes, their nearest points, and the boundary half-way between.".into(),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let joint = Pen::new(theme.ink(), 1.4);
    let mut entries: Vec<Entry> = (0..2u32)
        .map(|class| Entry::new(Sample::Class(Some(class)), text::label(&model.classes()[class as usize])))
        .collect();
    entries.push(Entry::new(Sample::Disc(theme.ink()), "nearest points"));
    entries.push(Entry::new(Sample::Line(joint), "shortest way, along w"));
    entries.push(Entry::new(Sample::Line(pens(theme).0), "boundary, f = 0"));
    entries.push(Entry::new(Sample::Line(pens(theme).1), "margins, f = ±1"));
    let width = legend::width(&entries, scene.width);
    let titles = plane.titles();
    let place = Rect { right: body.right - width - 16.0, ..body };
    let panel =
        Panel::new(place, Axis::new(&titles.0, plane.ranges.0), Axis::new(&titles.1, plane.ranges.1), Look::Frame);
    let panel = panel.squared();
    for (class, (hull, shrunk)) in hulls.iter().zip(&shrunk).enumerate() {
        let colour = theme.class(Some(class as u32));
        let place = |points: &[Point]| -> Vec<Point> { points.iter().map(|&(x, y)| panel.at(x, y)).collect() };
        scene.glaze(place(hull), colour, if reduced { 0.1 } else { 0.24 });
        let mut outline = place(hull);
        outline.extend(outline.first().copied());
        scene.line(outline, Pen::new(colour, 1.3));
        if reduced {
            scene.glaze(place(shrunk), colour, 0.3);
            let mut outline = place(shrunk);
            outline.extend(outline.first().copied());
            scene.line(outline, Pen::new(colour, 1.3));
        }
    }
    let line = plane_line(model);
    for (level, pen) in [(0.0, pens(theme).0), (-1.0, pens(theme).1), (1.0, pens(theme).1)] {
        if let Some([a, b]) = line.and_then(|line| ends(line, level, &panel)) {
            panel.curve(&mut scene, [a, b], pen);
        }
    }
    scene.arrow(panel.at(q.0, q.1), panel.at(p.0, p.1), joint);
    points(&mut scene, &panel, &plane.marks());
    for (name, point) in [("p", p), ("q", q)] {
        let centre = panel.at(point.0, point.1);
        scene.disc(centre, 5.0, theme.ink());
        scene.note(name, centre, theme.ink(), &panel.frame);
    }
    panel.finish(&mut scene);
    legend::draw(&mut scene, Rect { left: panel.frame.right + 16.0, right: body.right, ..panel.frame }, &entries);
    let mut numbers = Numbers::new(&["what", "across", "up", "weight"]);
    numbers.push(["p".into(), p.0.into(), p.1.into(), 1.0.into()]);
    numbers.push(["q".into(), q.0.into(), q.1.into(), 1.0.into()]);
    for (row, (place, weight)) in
        plane.places.iter().zip(&weights).enumerate().filter(|(_, (_, weight))| **weight != 0.0)
    {
        let name = format!("row {}", row + 1);
        numbers.push([name.as_str().into(), place.0.into(), place.1.into(), (weight.abs() / above).into()]);
    }
    Ok((scene, numbers))
}

/// The coefficient of each training row.
pub(crate) fn coefficients(model: &Model, rows: usize) -> Vec<f64> {
    let mut all = vec![0.0; rows];
    let machine = &model.machines()[0];
    for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
        let row = model.parts().support_rows.get(place as usize).map_or(usize::MAX, |&row| row as usize);
        if let Some(own) = all.get_mut(row) {
            *own = coefficient;
        }
    }
    all
}

/// `w₁, w₂, b` of a linear model of two columns, in the user's own units.
pub(crate) fn plane_line(model: &Model) -> Option<[f64; 3]> {
    let machine = model.machines().first()?;
    let weights = machine.weights.as_deref().filter(|weights| weights.len() == 2)?;
    let (mut line, scaling) = ([weights[0], weights[1], machine.bias], model.parts().scaling.as_ref());
    if let Some(scaling) = scaling {
        for column in 0..2 {
            line[column] *= scaling.factors()[column];
            line[2] -= line[column] * scaling.offsets()[column];
        }
    }
    Some(line)
}

/// Two points of the line f = level, far enough apart to cross a panel.
pub(crate) fn ends([a, b, c]: [f64; 3], level: f64, panel: &Panel) -> Option<[Point; 2]> {
    let (x, y) = (panel.x.range, panel.y.range);
    let norm = a * a + b * b;
    if !(norm > 0.0 && norm.is_finite()) {
        return None;
    }
    let middle = (x.at(0.5), y.at(0.5));
    let off = (a * middle.0 + b * middle.1 + c - level) / norm;
    let foot = (middle.0 - off * a, middle.1 - off * b);
    let reach = ((x.high - x.low).hypot(y.high - y.low) + off.abs() * norm.sqrt()) / norm.sqrt();
    Some([(foot.0 - reach * b, foot.1 + reach * a), (foot.0 + reach * b, foot.1 - reach * a)])
}

/// The border of the hull of some points in which no point weighs more than `most`.
pub(crate) fn hull(points: &[Point], most: f64) -> Vec<Point> {
    // No hull is smaller than the mean of the points.
    let most = most.clamp(1.0 / points.len().max(1) as f64, 1.0);
    let mut border: Vec<Point> = Vec::new();
    let scale = |of: fn(&Point) -> f64| {
        let (low, high) = points.iter().map(of).fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        if high > low { high - low } else { 1.0 }
    };
    // Directions are spread evenly in units of the points' own spread.
    let (across, up) = (scale(|point| point.0), scale(|point| point.1));
    for k in 0..DIRECTIONS {
        let angle = TAU * k as f64 / DIRECTIONS as f64;
        let direction = (angle.cos() / across, angle.sin() / up);
        let mut order: Vec<&Point> = points.iter().collect();
        let along = |point: &Point| direction.0 * point.0 + direction.1 * point.1;
        order.sort_by(|a, b| along(b).total_cmp(&along(a)));
        let (mut left, mut sum) = (1.0, (0.0, 0.0));
        for point in order {
            let weight = most.min(left);
            sum = (sum.0 + weight * point.0, sum.1 + weight * point.1);
            left -= weight;
            if left <= 1e-12 {
                break;
            }
        }
        let is_new = border
            .last()
            .is_none_or(|last: &Point| (last.0 - sum.0).abs() > 1e-9 * across || (last.1 - sum.1).abs() > 1e-9 * up);
        if is_new {
            border.push(sum);
        }
    }
    border
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduced_hull_shrinks_from_the_hull_to_the_mean() {
        let square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (1.0, 1.0)];
        let whole = hull(&square, 1.0);
        assert_eq!(whole.len(), 4 + usize::from(whole[0] == whole[whole.len() - 1]), "{whole:?}");
        // With μ = 1/2 the corners are the middles of pairs: the hull reaches 2 at no corner.
        let half = hull(&square, 0.5);
        assert!(half.iter().all(|(x, y)| (x - 1.0).abs() + (y - 1.0).abs() <= 1.0 + 1e-9), "{half:?}");
        let mean = hull(&square, 0.2);
        assert!(mean.len() == 1 && (mean[0].0 - 1.0).abs() < 1e-12, "{mean:?}");
    }
}
