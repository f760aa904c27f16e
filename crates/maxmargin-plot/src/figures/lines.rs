//! Figures of straight boundaries: E1 and E2.

use maxmargin::Workers;
use maxmargin::problem::Bias;
use maxmargin::solver::SolverKind;
use maxmargin::training::{Penalty, TrainingParams};

use super::{Desk, View, certified, place, ranges};
use crate::Kind;
use crate::drawing::axis::{Axis, short};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Scene};
use crate::drawing::text::counted;
use crate::error::Error;
use crate::kinds::hulls::{ends, plane_line};
use crate::kinds::regions::{pens, points};
use crate::kinds::{self};
use crate::numbers::Numbers;
use crate::rows::Mark;

/// A plane: where its vector points, how far the origin and a point are, and its canonical form.
pub(super) fn plane(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E1")?;
    let model = desk.fit(&data, params)?;
    let line = plane_line(&model).unwrap_or_default();
    let norm = line[0].hypot(line[1]);
    let from_origin = line[2].abs() / norm;
    let (mut scene, body) = desk.begin(
        "A plane and its numbers",
        &format!("f(x) = w·x + b · ‖w‖ = {} · the origin is |b|/‖w‖ = {} away", short(norm), short(from_origin)),
        &["canonical form: scaled so that the rows nearest to the plane have |f| = 1, which makes their distance 1/‖w‖"],
    );
    let (mut x, mut y) = ranges(&data);
    (x.low, y.low) = (x.low.min(-0.6), y.low.min(-0.6));
    let panel = Panel::new(body, Axis::new("x1", x), Axis::new("x2", y), Look::Frame).squared();
    let theme = scene.theme;
    let axis = Pen::new(theme.faint(), 1.0);
    panel.curve(&mut scene, [(panel.x.range.low, 0.0), (panel.x.range.high, 0.0)], axis);
    panel.curve(&mut scene, [(0.0, panel.y.range.low), (0.0, panel.y.range.high)], axis);
    for (level, pen) in [(0.0, pens(theme).0), (-1.0, pens(theme).1), (1.0, pens(theme).1)] {
        if let Some(line) = ends(line, level, &panel) {
            panel.curve(&mut scene, line, pen);
        }
    }
    let marks: Vec<Mark> = model
        .codes(&data)
        .into_iter()
        .enumerate()
        .map(|(row, class)| Mark { at: place(&data, row), class, ring: None })
        .collect();
    points(&mut scene, &panel, &marks);
    let value = |(x, y): (f64, f64)| line[0] * x + line[1] * y + line[2];
    let foot = |(x, y): (f64, f64)| {
        let along = value((x, y)) / (norm * norm);
        (x - along * line[0], y - along * line[1])
    };
    let accent = Pen::new(theme.class(Some(2)), 2.0);
    let at = |(x, y): (f64, f64)| panel.at(x, y);
    let half = |a: (f64, f64), b: (f64, f64)| at((f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1)));
    let origin = (0.0, 0.0);
    scene.line(vec![at(origin), at(foot(origin))], accent);
    scene.disc(at(origin), 4.0, theme.ink());
    let far =
        (0..data.rows()).map(|row| place(&data, row)).max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(origin);
    scene.line(vec![at(far), at(foot(far))], Pen::new(theme.class(Some(3)), 2.0));
    // w, drawn from a place on the plane.
    let start = foot((x.at(0.36), y.at(0.9)));
    let tip = (start.0 + line[0], start.1 + line[1]);
    scene.arrow(at(start), at(tip), Pen::new(theme.ink(), 2.0));
    let frame = panel.frame;
    scene.note("w", at(tip), theme.ink(), &frame);
    scene.note("origin", at(origin), theme.ink(), &frame);
    scene.note(&format!("|b|/‖w‖ = {}", short(from_origin)), half(origin, foot(origin)), theme.ink(), &frame);
    scene.note(&format!("f(x)/‖w‖ = {}", short(value(far) / norm)), half(far, foot(far)), theme.ink(), &frame);
    for (level, name) in [(1.0, "f = +1"), (0.0, "f = 0"), (-1.0, "f = −1")] {
        // The names stand where the lines leave the panel at the top.
        let y = panel.y.range.at(0.95);
        let x = (level - line[2] - line[1] * y) / line[0];
        scene.note(name, at((x, y)), theme.ink(), &frame);
    }
    panel.finish(&mut scene);
    let mut numbers = Numbers::new(&["what", "value"]);
    for (what, number) in [("w1", line[0]), ("w2", line[1]), ("b", line[2]), ("norm", norm), ("origin", from_origin)] {
        numbers.push([what.into(), number.into()]);
    }
    Ok((scene, numbers))
}

/// How many separators the perceptron is asked for.
const SEPARATORS: u64 = 12;

/// Many lines separate one set; one of them is farthest from both classes.
pub(super) fn separators(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E1")?;
    let widest = desk.fit(&data, params.clone())?;
    let perceptron = TrainingParams {
        solver: Some(SolverKind::Perceptron),
        loss: None,
        penalty: Penalty::C(1.0),
        bias: Bias::Explicit,
        ..params
    };
    let rows = data.rows();
    let mut lines = Vec::new();
    for turn in 0..SEPARATORS as usize {
        // Each begins at another row, so that it makes other mistakes.
        let order: Vec<usize> = (0..rows).map(|k| (turn * 5 + k * (2 * (turn % 3) + 1)) % rows).collect();
        let mut seen = order.clone();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() < rows {
            continue;
        }
        let model = desk.fit(&data.select_rows(&order), perceptron.clone())?;
        if model.machines()[0].training_errors == 0 {
            lines.extend(plane_line(&model));
        }
    }
    let (mut scene, body) = desk.begin(
        "Many lines separate two classes; one has the widest margin",
        &format!("{} that the perceptron found · thick: the support vector machine's", counted(lines.len(), "line")),
        &["the perceptron stops at the first line without a mistake, which depends on the order of the rows"],
    );
    let (x, y) = ranges(&data);
    let panel = Panel::new(body, Axis::new("x1", x), Axis::new("x2", y), Look::Frame).squared();
    let theme = scene.theme;
    let mut numbers = Numbers::new(&["line", "w1", "w2", "b"]);
    for (k, line) in lines.iter().enumerate() {
        if let Some(line) = ends(*line, 0.0, &panel) {
            panel.curve(&mut scene, line, Pen::new(theme.rule(), 1.2));
        }
        numbers.push([(k + 1).into(), line[0].into(), line[1].into(), line[2].into()]);
    }
    let line = plane_line(&widest).unwrap_or_default();
    for (level, pen) in [(0.0, Pen::new(theme.ink(), 2.6)), (-1.0, pens(theme).1), (1.0, pens(theme).1)] {
        if let Some(line) = ends(line, level, &panel) {
            panel.curve(&mut scene, line, pen);
        }
    }
    numbers.push(["widest".into(), line[0].into(), line[1].into(), line[2].into()]);
    let marks: Vec<Mark> = widest
        .codes(&data)
        .into_iter()
        .enumerate()
        .map(|(row, class)| Mark { at: place(&data, row), class, ring: None })
        .collect();
    points(&mut scene, &panel, &marks);
    panel.finish(&mut scene);
    Ok((scene, numbers))
}

/// The widest margin, its width, and the rows that hold it.
pub(super) fn margin(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E1")?;
    let model = desk.fit(&data, params)?;
    let line = plane_line(&model).unwrap_or_default();
    let norm = line[0].hypot(line[1]);
    let (support, _) = certified(&model);
    let touching = (0..data.rows())
        .filter(|&row| {
            let (x, y) = place(&data, row);
            ((line[0] * x + line[1] * y + line[2]).abs() - 1.0).abs() < 1e-3
        })
        .count();
    let (mut scene, body) = desk.begin(
        "The widest margin",
        &format!("margin 1/‖w‖ = {} to each side · {} touch it", short(1.0 / norm), counted(touching, "row")),
        &[&format!(
            "ringed: the {} with a coefficient above 0; without all other rows the line would be the same",
            counted(support, "support vector")
        )],
    );
    let panel = desk.panel(&mut scene, body, None, &View::new(&model, &data))?;
    let theme = scene.theme;
    // The width, measured across the street.
    let middle = (panel.x.range.at(0.5), panel.y.range.at(0.9));
    let value = line[0] * middle.0 + line[1] * middle.1 + line[2];
    let at = |level: f64| {
        let along = (level - value) / (norm * norm);
        panel.at(middle.0 + along * line[0], middle.1 + along * line[1])
    };
    let pen = Pen::new(theme.class(Some(2)), 2.0);
    scene.arrow(at(0.0), at(1.0), pen);
    scene.arrow(at(0.0), at(-1.0), pen);
    let centre = |level: f64| (f64::midpoint(at(0.0).0, at(level).0), f64::midpoint(at(0.0).1, at(level).1));
    scene.note("1/‖w‖", centre(1.0), theme.ink(), &panel.frame);
    scene.note("1/‖w‖", centre(-1.0), theme.ink(), &panel.frame);
    let mut numbers = Numbers::new(&["row", "x1", "x2", "value"]);
    for row in 0..data.rows() {
        let (x, y) = place(&data, row);
        numbers.push([(row + 1).into(), x.into(), y.into(), (line[0] * x + line[1] * y + line[2]).into()]);
    }
    Ok((scene, numbers))
}

/// The hulls of E1.
pub(super) fn hulls(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E1")?;
    // Of the solvers that find this line, one that has coefficients for the rows.
    let model = desk.fit(&data, TrainingParams { solver: Some(SolverKind::Smo), ..params })?;
    let options = crate::PlotOptions {
        title: desk
            .options
            .title
            .clone()
            .or(Some("The nearest points of two hulls; the boundary halves the way".into())),
        ..desk.options.clone()
    };
    let workers: &Workers = desk.workers;
    kinds::draw(Kind::Hulls, &kinds::Subject { model: &model, data: Some(&data), options: &options, workers })
}

/// Slack: how far rows are from where they should be.
pub(super) fn slack(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E2")?;
    let model = desk.fit(&data, params)?;
    let line = plane_line(&model).unwrap_or_default();
    let norm = line[0].hypot(line[1]);
    let signs: Vec<f64> = model.codes(&data).iter().map(|code| if *code == Some(1) { 1.0 } else { -1.0 }).collect();
    let value = |(x, y): (f64, f64)| line[0] * x + line[1] * y + line[2];
    let slacks: Vec<f64> = (0..data.rows()).map(|row| (1.0 - signs[row] * value(place(&data, row))).max(0.0)).collect();
    let sum = slacks.iter().sum::<f64>();
    let (mut scene, body) = desk.begin(
        "Slack: what a row lacks to the margin of its class",
        &format!("arrows of length ξ/‖w‖ · the sum of all ξ is {}, which C multiplies", short(sum)),
        &["ringed: support vectors; plain on the margin, broken within it, double on the wrong side of the boundary"],
    );
    let panel = desk.panel(&mut scene, body, None, &View::new(&model, &data))?;
    let theme = scene.theme;
    let mut numbers = Numbers::new(&["row", "x1", "x2", "slack"]);
    for (row, &slack) in slacks.iter().enumerate() {
        let (x, y) = place(&data, row);
        numbers.push([(row + 1).into(), x.into(), y.into(), slack.into()]);
        if slack < 1e-2 {
            continue;
        }
        let along = signs[row] * slack / (norm * norm);
        let (from, to) = (panel.at(x, y), panel.at(x + along * line[0], y + along * line[1]));
        scene.arrow(from, to, Pen::new(theme.class(Some(2)), 2.0));
        scene.note(
            &format!("ξ = {}", short((slack * 100.0).round() / 100.0)),
            (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1)),
            theme.ink(),
            &panel.frame,
        );
    }
    Ok((scene, numbers))
}
