//! The regions of a model's classes on a plane, with its margins, the rows, and why they are support vectors.

use maxmargin::model::Model;
use maxmargin::problem::Loss;

use super::Subject;
use crate::contour::{self, NONE, Outline, Point};
use crate::drawing::axis::Axis;
use crate::drawing::legend::{self, Entry, Sample};
use crate::drawing::marker::Ring;
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene, Shape};
use crate::drawing::text;
use crate::drawing::theme::{Theme, mix};
use crate::error::Error;
use crate::numbers::Numbers;
use crate::plane::{Plane, node_place};
use crate::rows::{MOST_MARKERS, Mark, has_relevance_vectors};
use crate::words;

/// Free space between the plane and the legend.
const GAP: f64 = 16.0;

/// Axes whose units differ by no more than this factor are drawn to one scale, so that distances and right angles are true.
const NEARLY_ONE_SCALE: f64 = 3.0;

/// The side of a cell of density, in units of the picture.
const CELL: f64 = 6.0;

/// Steps of density.
const LEVELS: u32 = 5;

/// Draws the regions.
///
/// # Errors
/// When there is no plane to draw, or the model cannot be evaluated on it.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let Subject { model, data, options, workers } = *subject;
    let mut plane = Plane::new(model, data, options.columns.as_ref(), workers)?;
    let marks = plane.marks();
    let words = Words {
        title: words::what(model),
        below: words::how_good(model, &plane.rows),
        caption: caption(&plane, marks.len()),
        description: description(model, &plane),
    };
    let (mut scene, body) = page::begin(options, &words);
    // The legend's width depends on what is there, and that on the plane, whose shape depends on the legend: so all entries take part.
    let widest = legend::width(&legend(scene.theme, model, &plane, (true, true)), scene.width);
    let place = Rect { right: body.right - widest - GAP, ..body };
    let titles = plane.titles();
    let panel =
        Panel::new(place, Axis::new(&titles.0, plane.ranges.0), Axis::new(&titles.1, plane.ranges.1), Look::Frame);
    let panel = if is_nearly_square(&panel) { panel.squared() } else { panel };
    plane.ranges = (panel.x.range, panel.y.range);

    let ground = Ground::of(model, &plane)?;
    ground.draw_regions(&mut scene, &panel);
    if plane.rows.len() > MOST_MARKERS {
        density(&mut scene, &panel, &plane);
    }
    ground.draw_lines(&mut scene, &panel);
    panel.finish(&mut scene);
    points(&mut scene, &panel, &marks);
    let entries = legend(scene.theme, model, &plane, (!ground.borders.is_empty(), !ground.margins.is_empty()));
    let beside = Rect { left: panel.frame.right + GAP, right: body.right, ..panel.frame };
    legend::draw(&mut scene, beside, &entries);
    Ok((scene, numbers(model, &plane)))
}

/// Whether both axes may have one scale.
fn is_nearly_square(panel: &Panel) -> bool {
    let across = panel.frame.width() / (panel.x.range.high - panel.x.range.low);
    let up = panel.frame.height() / (panel.y.range.high - panel.y.range.low);
    let ratio = across / up;
    ratio.is_finite() && (1.0 / NEARLY_ONE_SCALE..=NEARLY_ONE_SCALE).contains(&ratio)
}

/// What lies behind the rows: regions, and the lines between them.
pub(crate) struct Ground {
    regions: Vec<Outline>,
    pub(crate) borders: Vec<Vec<Point>>,
    pub(crate) margins: Vec<Vec<Point>>,
}

impl Ground {
    /// Computes the regions of a plane.
    ///
    /// # Errors
    /// When the model cannot be evaluated on it.
    pub(crate) fn of(model: &Model, plane: &Plane<'_>) -> Result<Self, Error> {
        let side = plane.side();
        let places: Vec<Point> = (0..side * side).map(|node| node_place(side, node)).collect();
        let values = plane.values(&places)?;
        let mut regions = plane.regions(side, &values)?;
        // A region within another is smaller than it: from large to small every region is seen.
        regions.sort_by(|a, b| b.area().total_cmp(&a.area()));
        let borders = contour::boundaries(&regions);
        let has_margins = model.machines().len() == 1 && model.task().is_classification();
        let levels: &[f64] = if has_margins { &[-1.0, 1.0] } else { &[] };
        let margins = levels.iter().flat_map(|&level| contour::level_lines((side, side), &values, level)).collect();
        Ok(Ground { regions, borders, margins })
    }

    /// The regions, in the tints of their classes.
    pub(crate) fn draw_regions(&self, scene: &mut Scene, panel: &Panel) {
        for region in self.regions.iter().filter(|region| region.class != NONE && region.area() > 0.0) {
            let tint = scene.theme.tint(region.class);
            scene.fill(region.points.iter().map(|&point| panel.unit(point)).collect(), tint);
        }
    }

    /// Boundary and margins.
    pub(crate) fn draw_lines(&self, scene: &mut Scene, panel: &Panel) {
        let (border, margin) = pens(scene.theme);
        for (lines, pen) in [(&self.margins, margin), (&self.borders, border)] {
            for line in lines {
                scene.line(line.iter().map(|&point| panel.unit(point)).collect(), pen);
            }
        }
    }
}

/// The pens of the boundary and of the margins.
pub(crate) fn pens(theme: Theme) -> (Pen, Pen) {
    let ink = theme.ink();
    (Pen::new(ink, 2.0), Pen::new(ink, 1.3).dashed(6.0, 4.0))
}

/// The markers, then the rings, so that no marker hides a ring.
pub(crate) fn points(scene: &mut Scene, panel: &Panel, marks: &[Mark]) {
    let radius = match marks.len() {
        0..=60 => 4.8,
        61..=250 => 4.0,
        251..=1000 => 3.1,
        _ => 2.3,
    };
    // Class by class, so that neighbours in the file look alike and share what they are drawn with.
    let mut order: Vec<&Mark> = marks.iter().collect();
    order.sort_by_key(|mark| mark.class);
    for mark in &order {
        scene.marker(mark.class, panel.at(mark.at.0, mark.at.1), radius);
    }
    order.sort_by_key(|mark| mark.ring.map(|ring| ring as u8));
    for mark in &order {
        if let Some(kind) = mark.ring {
            scene.ring(kind, panel.at(mark.at.0, mark.at.1), radius);
        }
    }
}

/// Cells that are the darker the more rows lie in them, in the colour of the class that most of them are of.
fn density(scene: &mut Scene, panel: &Panel, plane: &Plane<'_>) {
    let frame = panel.frame;
    let (columns, rows) = ((frame.width() / CELL).ceil() as usize, (frame.height() / CELL).ceil() as usize);
    let classes = plane.rows.classes.iter().flatten().max().map_or(1, |most| *most as usize + 1).min(64);
    let mut counts = vec![0u32; columns * rows * classes];
    for (&(x, y), class) in plane.places.iter().zip(&plane.rows.classes) {
        let (u, v) = panel.at(x, y);
        let (column, row) = (((u - frame.left) / CELL) as usize, ((v - frame.top) / CELL) as usize);
        let class = class.map_or(classes, |class| class as usize);
        if column < columns && row < rows && class < classes {
            counts[(row * columns + column) * classes + class] += 1;
        }
    }
    let total = |cell: usize| counts[cell * classes..(cell + 1) * classes].iter().sum::<u32>();
    let most = (0..columns * rows).map(total).max().unwrap_or(0);
    let mut squares = vec![Vec::new(); classes * LEVELS as usize];
    for cell in (0..columns * rows).filter(|&cell| total(cell) > 0) {
        let own = &counts[cell * classes..(cell + 1) * classes];
        let class = (0..classes).max_by_key(|&class| (own[class], classes - class)).unwrap_or(0);
        // Logarithms, because a few cells hold most of the rows.
        let share = f64::from(total(cell)).ln_1p() / f64::from(most).ln_1p();
        let level = ((share * f64::from(LEVELS)).ceil() as usize).clamp(1, LEVELS as usize) - 1;
        let corner = (frame.left + (cell % columns) as f64 * CELL, frame.top + (cell / columns) as f64 * CELL);
        squares[class * LEVELS as usize + level].push(corner);
    }
    panel.within(scene, |scene| {
        for (k, corners) in squares.into_iter().enumerate().filter(|(_, corners)| !corners.is_empty()) {
            let (class, level) = ((k / LEVELS as usize) as u32, k % LEVELS as usize);
            let theme = scene.theme;
            let share = 0.14 + 0.13 * level as f64;
            let fill = mix(theme.tint(class), theme.class(Some(class)), share);
            scene.shapes.push(Shape::Squares { corners, side: CELL, fill });
        }
    });
}

/// What the picture holds, and nothing else.
fn legend(theme: Theme, model: &Model, plane: &Plane<'_>, (borders, margins): (bool, bool)) -> Vec<Entry> {
    let rows = &plane.rows;
    let mut entries = vec![Entry::new(Sample::Heading, "classes")];
    for (class, label) in model.classes().iter().enumerate() {
        entries.push(Entry::new(Sample::Class(Some(class as u32)), text::label(label)));
    }
    if rows.classes.iter().any(Option::is_none) {
        let what = if rows.training.is_none() { "not known" } else { "other labels" };
        entries.push(Entry::new(Sample::Class(None), what));
    }
    let (border, margin) = pens(theme);
    if borders || margins {
        entries.push(Entry::new(Sample::Heading, "decision function"));
    }
    let binary = model.machines().len() == 1;
    if borders {
        entries.push(Entry::new(Sample::Line(border), if binary { "boundary, f = 0" } else { "boundaries" }));
    }
    if margins && binary && model.task().is_classification() {
        let of_margin = model.recipe().loss != Loss::Logistic;
        entries.push(Entry::new(Sample::Line(margin), if of_margin { "margins, f = ±1" } else { "f = ±1" }));
    }
    let of_all_kinds = if has_relevance_vectors(model) { "rows of the model" } else { "of all kinds" };
    let kinds = [
        (Ring::OnMargin, "on the margin"),
        (Ring::Inside, "inside the margin"),
        (Ring::Misclassified, "misclassified"),
        (Ring::Support, of_all_kinds),
    ];
    let count = |kind: Ring| rows.rings.iter().filter(|ring| **ring == Some(kind)).count();
    if rows.rings.iter().any(Option::is_some) {
        let heading = if has_relevance_vectors(model) { "relevance vectors" } else { "support vectors" };
        entries.push(Entry::new(Sample::Heading, heading));
    }
    for (kind, text) in kinds {
        let count = count(kind);
        if count > 0 {
            entries.push(Entry::new(Sample::Ring(kind), format!("{text} ({count})")));
        }
    }
    entries
}

/// What the reader must know and cannot see.
fn caption(plane: &Plane<'_>, drawn: usize) -> Vec<String> {
    let mut pieces = plane.remarks();
    let rows = plane.rows.len();
    if drawn < rows {
        pieces.push(format!(
            "{drawn} of {rows} rows shown as markers, support vectors and errors first; the shade of a cell says how many rows lie in it"
        ));
    }
    match plane.rows.training {
        None => pieces.push("support vectors only, as no data was given".into()),
        Some(false) => pieces.push("not the training data, so support vectors are not marked".into()),
        Some(true) => {}
    }
    pieces
}

/// The picture for people who do not see it.
fn description(model: &Model, plane: &Plane<'_>) -> String {
    let (across, up) = plane.titles();
    let labels: Vec<String> = model.classes().iter().take(12).map(text::label).collect();
    format!(
        "The regions of the classes {} over {} (across) and {} (upwards), with {}.",
        labels.join(", "),
        text::safe(&across),
        text::safe(&up),
        text::counted(plane.rows.len(), "row"),
    )
}

/// Each row: its place, its label, the class that the model gives it, its decision value and its ring.
fn numbers(model: &Model, plane: &Plane<'_>) -> Numbers {
    let mut numbers = Numbers::new(&["row", "across", "up", "class", "predicted", "value", "support"]);
    let name = |class: u32| model.classes().get(class as usize).map(|label| label.text());
    let machines = model.machines().len().max(1);
    for (row, &(x, y)) in plane.places.iter().enumerate() {
        let ring = plane.rows.rings[row].map(|ring| match ring {
            Ring::OnMargin => "on-margin",
            Ring::Inside => "inside",
            Ring::Misclassified => "misclassified",
            Ring::Support => "support",
        });
        numbers.push([
            (row + 1).into(),
            x.into(),
            y.into(),
            plane.rows.classes[row].and_then(name).into(),
            name(plane.rows.predicted[row]).into(),
            (machines == 1).then(|| plane.rows.values[row]).into(),
            ring.into(),
        ]);
    }
    numbers
}
