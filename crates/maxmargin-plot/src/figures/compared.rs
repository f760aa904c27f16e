//! Several models side by side: E4, E5, E7, E8, E9, E10.

use maxmargin::data::generate::{blobs, generate};
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::SolverKind;
use maxmargin::training::{Penalty, TrainingParams};

use super::{Desk, View, certified, place, ranges};
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::legend::{self, Entry, Sample};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text::counted;
use crate::error::Error;
use crate::kinds::hulls::{coefficients, ends, plane_line};
use crate::kinds::regions::{pens, points};
use crate::numbers::Numbers;
use crate::rows::Mark;

/// Iris by its sepals with C = 10 and C = 1000.
pub(super) fn iris(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E4")?;
    let (mut scene, body) = desk.begin(
        "Iris by its sepals: setosa against the rest, with cheap and with dear slack",
        "a small C widens the margin at the price of slack, a large one allows next to none",
        &["linear kernel, hinge loss, folded bias; dashed: margins; ringed: support vectors"],
    );
    let mut used = body.top;
    let mut numbers = Numbers::new(&["C", "w1", "w2", "b", "margin", "training_errors"]);
    for (cell, cost) in body.cells(2, 1, (26.0, 0.0)).into_iter().zip([10.0, 1000.0]) {
        let model = desk.fit(&data, TrainingParams { penalty: Penalty::C(cost), ..params.clone() })?;
        let (_, margin) = certified(&model);
        let errors = model.machines()[0].training_errors;
        let heading = format!("C = {cost}: margin {}, {}", short(margin), counted(errors, "error"));
        used = used.max(desk.panel(&mut scene, cell, Some(&heading), &View::new(&model, &data))?.bottom());
        let line = plane_line(&model).unwrap_or_default();
        numbers.push([cost.into(), line[0].into(), line[1].into(), line[2].into(), margin.into(), errors.into()]);
    }
    scene.trim(body.bottom, used);
    Ok((scene, numbers))
}

/// The same line, found in the weights and in the coefficients of the rows.
pub(super) fn primal_dual(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E5")?;
    let primal = desk.fit(&data, TrainingParams { solver: Some(SolverKind::PrimalNewton), ..params.clone() })?;
    let dual = desk.fit(&data, TrainingParams { solver: Some(SolverKind::DualAscent), ..params })?;
    let objective = |model: &maxmargin::Model, dual: bool| {
        let found = model.machines()[0].evidence.certificate();
        found.map_or(f64::NAN, |found| if dual { found.dual } else { found.primal })
    };
    let (above, below) = (objective(&primal, false), objective(&dual, true));
    let (mut scene, body) = desk.begin(
        "Primal and dual: one line, found from two sides",
        &format!("primal objective {above:.6} · dual objective {below:.6}"),
        &["iris by its sepals, squared loss, C = 1000; right: the area of a disc is the coefficient α of its row"],
    );
    let mut cells = body.cells(2, 1, (26.0, 0.0)).into_iter();
    let (left, right) = (cells.next().unwrap_or(body), cells.next().unwrap_or(body));
    let view = View { rings: false, ..View::new(&primal, &data) };
    let steps = primal.iterations();
    let heading = format!("primal, in w and b: {steps} Newton steps");
    let panel = desk.panel(&mut scene, left, Some(&heading), &view)?;
    let line = plane_line(&primal).unwrap_or_default();
    let theme = scene.theme;
    // The direction of w, from the middle of the boundary.
    if let Some([a, b]) = ends(line, 0.0, &panel) {
        let norm = line[0].hypot(line[1]);
        let start = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
        let tip = (start.0 + 0.8 * line[0] / norm, start.1 + 0.8 * line[1] / norm);
        scene.arrow(panel.at(start.0, start.1), panel.at(tip.0, tip.1), Pen::new(theme.ink(), 2.2));
        scene.note("w", panel.at(tip.0, tip.1), theme.ink(), &panel.frame);
    }
    let first = panel.bottom();
    let alpha = coefficients(&dual, data.rows());
    let support = alpha.iter().filter(|alpha| **alpha != 0.0).count();
    let (x, y) = ranges(&data);
    let heading = format!("dual, in α: {} of {} rows count", support, data.rows());
    let titles = (data.name(0), data.name(1));
    let panel =
        Panel::with_heading(right, Axis::new(&titles.0, x), Axis::new(&titles.1, y), Look::Frame, Some(&heading))
            .squared_lower();
    let marks: Vec<Mark> = dual
        .codes(&data)
        .into_iter()
        .enumerate()
        .map(|(row, class)| Mark { at: place(&data, row), class, ring: None })
        .collect();
    let largest = alpha.iter().fold(0.0, |most: f64, alpha| most.max(alpha.abs()));
    for (mark, alpha) in marks.iter().zip(&alpha) {
        let centre = panel.at(mark.at.0, mark.at.1);
        if *alpha == 0.0 {
            scene.disc(centre, 1.8, theme.rule());
        }
    }
    for (mark, alpha) in marks.iter().zip(&alpha).filter(|(_, alpha)| **alpha != 0.0) {
        let radius = (15.0 * (alpha.abs() / largest).sqrt()).max(1.5);
        let centre = panel.at(mark.at.0, mark.at.1);
        scene.disc(centre, radius, theme.class(mark.class));
    }
    let line = plane_line(&dual).unwrap_or_default();
    for (level, pen) in [(0.0, pens(theme).0), (-1.0, pens(theme).1), (1.0, pens(theme).1)] {
        if let Some(line) = ends(line, level, &panel) {
            panel.curve(&mut scene, line, pen);
        }
    }
    panel.finish(&mut scene);
    scene.trim(body.bottom, first.max(panel.bottom()));
    let mut numbers = Numbers::new(&["row", "alpha"]);
    for (row, alpha) in alpha.iter().enumerate() {
        numbers.push([(row + 1).into(), alpha.abs().into()]);
    }
    Ok((scene, numbers))
}

/// The conic of E6 with hinge loss beside the one with squared loss.
pub(super) fn losses(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, hinge) = desk.example("E6")?;
    let (_, squared) = desk.example("E7")?;
    let (mut scene, body) = desk.begin(
        "Hinge and squared loss draw nearly the same conic",
        "squared loss makes every row within the margin a support vector, and spares those just inside it",
        &["iris on its principal components, quadratic kernel, C = 10; dashed: f = ±1; ringed: support vectors"],
    );
    let mut used = body.top;
    let mut numbers = Numbers::new(&["loss", "objective", "support_vectors"]);
    for (cell, (name, params)) in
        body.cells(2, 1, (26.0, 0.0)).into_iter().zip([("hinge", hinge), ("squared", squared)])
    {
        let model = desk.fit(&data, params)?;
        let (support, _) = certified(&model);
        let heading = format!("{name} loss: {}", counted(support, "support vector"));
        used = used.max(desk.panel(&mut scene, cell, Some(&heading), &View::new(&model, &data))?.bottom());
        let objective = model.machines()[0].evidence.certificate().map(|found| found.primal);
        numbers.push([name.into(), objective.into(), support.into()]);
    }
    scene.trim(body.bottom, used);
    Ok((scene, numbers))
}

/// Two ways past linear separability: a kernel, and a network.
pub(super) fn two_ways(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (_, kernel) = desk.example("E8")?;
    let data = generate("xor", 60, 8)?;
    let network = TrainingParams {
        solver: Some(SolverKind::Mlp),
        loss: Some(Loss::Logistic),
        penalty: Penalty::C(100.0),
        ..TrainingParams::default()
    };
    let network =
        TrainingParams { settings: maxmargin::Settings { hidden: vec![4], ..network.settings.clone() }, ..network };
    let (mut scene, body) = desk.begin(
        "Two ways past linear separability",
        "a kernel lifts the rows by a map that is given; a network learns its map, a layer of units",
        &["xor, 60 rows; dashed: f = ±1; ringed: support vectors, which a network has none of"],
    );
    let mut used = body.top;
    let mut numbers = Numbers::new(&["way", "training_errors"]);
    for (cell, (name, params)) in
        body.cells(2, 1, (26.0, 0.0)).into_iter().zip([("quadratic kernel", kernel), ("four hidden units", network)])
    {
        let model = desk.fit(&data, params)?;
        let errors = model.machines()[0].training_errors;
        let heading = format!("{name}: {}", counted(errors, "error"));
        used = used.max(desk.panel(&mut scene, cell, Some(&heading), &View::new(&model, &data))?.bottom());
        numbers.push([name.into(), errors.into()]);
    }
    scene.trim(body.bottom, used);
    Ok((scene, numbers))
}

/// What a far blob of rows on the right side does to three boundaries.
pub(super) fn far_blob(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (far, params) = desk.example("E9")?;
    // The same rows, without the far ones.
    let near = blobs(200, 0.7, 9)?;
    let methods = [
        ("Fisher's discriminant", SolverKind::Lda, Loss::Hinge, 3u32),
        ("logistic regression", SolverKind::Logistic, Loss::Logistic, 4),
        ("support vector machine", SolverKind::Smo, Loss::Hinge, 2),
    ];
    let mut lines = Vec::new();
    for (_, solver, loss, _) in methods {
        let params = TrainingParams {
            solver: Some(solver),
            loss: Some(loss),
            penalty: Penalty::C(1.0),
            bias: Bias::Explicit,
            ..params.clone()
        };
        let [before, after] = [&near, &far].map(|data| desk.fit(data, params.clone()));
        lines.push([plane_line(&before?).unwrap_or_default(), plane_line(&after?).unwrap_or_default()]);
    }
    let angle = |[a, b]: &[[f64; 3]; 2]| {
        let cosine = (a[0] * b[0] + a[1] * b[1]) / (a[0].hypot(a[1]) * b[0].hypot(b[1]));
        cosine.clamp(-1.0, 1.0).acos().to_degrees()
    };
    let (mut scene, body) = desk.begin(
        "A far blob turns Fisher's discriminant, and nothing else",
        "the far rows lie on the right side, so they say nothing of where the classes meet",
        &["beside each method: by how much the far rows turn its boundary"],
    );
    let theme = scene.theme;
    let entries: Vec<Entry> = methods
        .iter()
        .zip(&lines)
        .map(|((name, _, _, class), lines)| {
            let pen = Pen::new(theme.class(Some(*class)), 2.2);
            Entry::new(Sample::Line(pen), format!("{name}, {:.1}°", angle(lines)))
        })
        .collect();
    let width = legend::width(&entries, scene.width);
    let (x, y) = ranges(&far);
    let panels = Rect { right: body.right - width - 14.0, ..body };
    let mut frame = body;
    for (k, (cell, (heading, data))) in
        panels.cells(1, 2, (0.0, 6.0)).into_iter().zip([("before", &near), ("after", &far)]).enumerate()
    {
        let panel = Panel::with_heading(cell, Axis::new("", x), Axis::new("", y), Look::Frame, Some(heading)).squared();
        let codes = sides(data);
        let marks: Vec<Mark> = codes
            .into_iter()
            .enumerate()
            .map(|(row, class)| Mark { at: place(data, row), class, ring: None })
            .collect();
        points(&mut scene, &panel, &marks);
        for ((_, _, _, class), lines) in methods.iter().zip(&lines) {
            if let Some(line) = ends(lines[k], 0.0, &panel) {
                panel.curve(&mut scene, line, Pen::new(theme.class(Some(*class)), 2.2));
            }
        }
        panel.finish(&mut scene);
        if k == 0 {
            frame = panel.frame;
        }
    }
    legend::draw(&mut scene, Rect { left: panels.right + 14.0, top: frame.top, ..body }, &entries);
    let mut numbers = Numbers::new(&["method", "degrees"]);
    for ((name, ..), lines) in methods.iter().zip(&lines) {
        numbers.push([(*name).into(), angle(lines).into()]);
    }
    Ok((scene, numbers))
}

/// The place of each row's label among the labels in order.
fn sides(data: &maxmargin::Dataset) -> Vec<Option<u32>> {
    data.labels().map_or_else(
        |_| vec![None; data.rows()],
        |labels| (0..data.rows()).map(|row| Some(u32::from(labels.get(row).number() > Some(0.0)))).collect(),
    )
}

/// The dearer the slack, the narrower the margin: C over four powers of ten.
pub(super) fn sweep(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E10")?;
    let (mut scene, body) = desk.begin(
        "A sweep of C",
        "the dearer the slack, the less of it, and the narrower the margin",
        &["Gaussian kernel, γ = 0.02; dashed: margins; ringed: support vectors"],
    );
    let mut used = body.top;
    let mut numbers = Numbers::new(&["C", "margin", "slack", "support_vectors"]);
    let shared: (Range, Range) = ranges(&data);
    for (cell, cost) in body.cells(2, 2, (22.0, 8.0)).into_iter().zip([10.0, 100.0, 1000.0, 10000.0]) {
        let model = desk.fit(&data, TrainingParams { penalty: Penalty::C(cost), ..params.clone() })?;
        let found = model.machines()[0].evidence.certificate();
        let (margin, slack) = found.map_or((f64::NAN, f64::NAN), |found| (found.margin, found.slack_sum));
        let heading = format!("C = {cost}: margin {}, slack {}", short(margin), short(slack));
        let view = View { ranges: Some(shared), ..View::new(&model, &data) };
        used = used.max(desk.panel(&mut scene, cell, Some(&heading), &view)?.bottom());
        numbers.push([cost.into(), margin.into(), slack.into(), model.parts().support_rows.len().into()]);
    }
    scene.trim(body.bottom, used);
    Ok((scene, numbers))
}
