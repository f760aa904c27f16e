//! The composition of a picture: title, plane, points, axes, legend and caption.

use maxmargin::certificate::Evidence;
use maxmargin::error::listed;
use maxmargin::kernel::{KernelFunction, Polynomial, Sigmoid};
use maxmargin::model::{Model, Network};
use maxmargin::problem::{Loss, Task};
use maxmargin::training::Penalty;

use crate::PlotOptions;
use crate::axis::{Range, short};
use crate::contour::{self, NONE, Point};
use crate::error::Error;
use crate::scene::{Anchor, GREY, INK, Ring, Scene, Shape, tint_of};
use crate::text;
use crate::view::{Marks, View, has_relevance_vectors, node_place};

/// Sizes of text, in pixels.
const TITLE: f64 = 18.0;
const NORMAL: f64 = 14.5;
const SMALL: f64 = 13.0;

/// The height of a line of the legend and of the caption.
const LEGEND_LINE: f64 = 22.0;
const CAPTION_LINE: f64 = 18.0;

/// Free space above a heading within the legend.
const HEADING_GAP: f64 = 8.0;

/// The room of a legend's sample, left of its text.
const SAMPLE: f64 = 34.0;

/// Free space at the edge of the picture, and between its parts.
const EDGE: f64 = 16.0;

/// Dash and gap of the lines f = ±1.
const DASH: (f64, f64) = (8.0, 5.0);

/// Draws a view.
///
/// # Errors
/// When the model cannot be evaluated on the plane.
pub(crate) fn draw(model: &Model, view: &View<'_>, options: &PlotOptions) -> Result<Scene, Error> {
    let side = view.side();
    let places: Vec<Point> = (0..side * side).map(|node| node_place(side, node)).collect();
    let values = view.values(&places)?;
    let mut regions = view.regions(side, &values)?;
    // A region within another is smaller than it: from large to small every region is seen.
    regions.sort_by(|a, b| b.area().total_cmp(&a.area()));
    let binary = model.machines().len() == 1;
    let borders = contour::boundaries(&regions);
    let margins: Vec<_> = if binary && model.task().is_classification() {
        [-1.0, 1.0].iter().flat_map(|&level| contour::level_lines((side, side), &values, level)).collect()
    } else {
        Vec::new()
    };

    let legend = legend(model, &view.marks, (!borders.is_empty(), !margins.is_empty()));
    let frame = Frame::new(view, options, &legend);
    let mut scene = Scene::new(options.width, options.height);
    for region in regions.iter().filter(|region| region.class != NONE && region.area() > 0.0) {
        scene.fill(region.points.iter().map(|&point| frame.place(point)).collect(), tint_of(region.class));
    }
    let on_sheet = |line: &Vec<Point>| -> Vec<Point> { line.iter().map(|&point| frame.place(point)).collect() };
    for line in &margins {
        scene.dashed(&on_sheet(line), DASH, 1.6, INK);
    }
    for line in &borders {
        scene.line(on_sheet(line), 2.2, INK);
    }
    axes(&mut scene, &frame, view);
    points(&mut scene, &frame, &view.marks);
    place_legend(&mut scene, &frame, &legend);
    heading(&mut scene, &frame, model, &view.marks, options);
    for (k, line) in frame.caption.iter().enumerate() {
        let y = frame.caption_top + (k as f64 + 0.5) * CAPTION_LINE;
        scene.text(line.as_str(), (frame.left, y), SMALL, Anchor::Left, GREY);
    }
    Ok(scene)
}

/// Where everything is, in pixels from the upper left.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Where the legend's text may reach to.
    sheet_right: f64,
    caption: Vec<String>,
    caption_top: f64,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
}

impl Frame {
    fn new(view: &View<'_>, options: &PlotOptions, legend: &[Entry]) -> Self {
        let (width, height) = (f64::from(options.width), f64::from(options.height));
        let y_ticks = view.ranges.1.ticks((height / 90.0) as usize);
        let tick_width = y_ticks.iter().map(|(_, text)| text::width(text, SMALL)).fold(0.0, f64::max);
        let left = EDGE + 20.0 + tick_width + 10.0;
        let wanted = legend.iter().map(|entry| SAMPLE + text::width(&entry.text, NORMAL)).fold(0.0, f64::max);
        let right = width - EDGE - wanted.min((width * 0.36).max(176.0)) - EDGE;
        let caption = wrap(&caption(view), width - EDGE - left, 3);
        let caption_top = height - EDGE / 2.0 - caption.len() as f64 * CAPTION_LINE;
        let heading = if options.title.is_some() { 26.0 } else { 48.0 };
        Frame {
            left,
            right,
            top: EDGE + heading,
            bottom: caption_top - 52.0,
            sheet_right: width - EDGE / 2.0,
            caption,
            caption_top,
            x_ticks: ticks_across(view.ranges.0, right - left),
            y_ticks,
        }
    }

    /// From the unit square to the sheet.
    fn place(&self, (u, v): Point) -> Point {
        (self.left + u * (self.right - self.left), self.bottom - v * (self.bottom - self.top))
    }
}

/// The most ticks whose texts keep apart.
fn ticks_across(range: Range, room: f64) -> Vec<(f64, String)> {
    let apart = |ticks: &Vec<(f64, String)>| {
        let widest = ticks.iter().map(|(_, text)| text::width(text, SMALL)).fold(0.0, f64::max);
        ticks.windows(2).all(|pair| (pair[1].0 - pair[0].0) * room > widest + 12.0)
    };
    let most = (room / 75.0) as usize;
    (1..=most).rev().map(|most| range.ticks(most)).find(apart).unwrap_or_default()
}

/// The frame, ticks, and the names of the two columns.
fn axes(scene: &mut Scene, frame: &Frame, view: &View<'_>) {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|point| frame.place(point));
    let closed = [&corners[..], &corners[..2]].concat();
    scene.line(closed, 1.2, INK);
    for (place, text) in &frame.x_ticks {
        let (x, y) = frame.place((*place, 0.0));
        scene.line(vec![(x, y), (x, y + 5.0)], 1.2, INK);
        scene.text(text.as_str(), (x, y + 15.0), SMALL, Anchor::Middle, INK);
    }
    for (place, text) in &frame.y_ticks {
        let (x, y) = frame.place((0.0, *place));
        scene.line(vec![(x - 5.0, y), (x, y)], 1.2, INK);
        scene.text(text.as_str(), (x - 9.0, y), SMALL, Anchor::Right, INK);
    }
    let name = |column: usize, room: f64| text::fit(&text::safe(&view.title(column)), NORMAL, room);
    let (across, upwards) = (frame.right - frame.left, frame.bottom - frame.top);
    let middle = frame.place((0.5, 0.5));
    scene.text(name(view.columns.0, across), (middle.0, frame.bottom + 36.0), NORMAL, Anchor::Middle, INK);
    scene.text_upwards(name(view.columns.1, upwards), (EDGE + 6.0, middle.1), NORMAL, INK);
}

/// The markers, then the rings, so that no marker hides a ring.
fn points(scene: &mut Scene, frame: &Frame, marks: &Marks) {
    let radius = radius(marks);
    for mark in &marks.marks {
        scene.marker(mark.class, frame.place(mark.at), radius);
    }
    for mark in &marks.marks {
        if let Some(kind) = mark.ring {
            scene.ring(kind, frame.place(mark.at), radius);
        }
    }
}

/// Markers are smaller where there are many.
fn radius(marks: &Marks) -> f64 {
    match marks.marks.len() {
        0..=60 => 5.0,
        61..=250 => 4.2,
        251..=1000 => 3.2,
        _ => 2.4,
    }
}

/// A line of the legend.
struct Entry {
    sample: Sample,
    text: String,
}

enum Sample {
    Heading,
    Marker(Option<u32>),
    Border,
    Margin,
    Ring(Ring),
}

/// What the picture holds, and nothing else.
fn legend(model: &Model, marks: &Marks, (borders, margins): (bool, bool)) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |sample: Sample, text: String| entries.push(Entry { sample, text });
    add(Sample::Heading, "classes".into());
    for (class, label) in model.classes().iter().enumerate() {
        add(Sample::Marker(Some(class as u32)), text::label(label));
    }
    if marks.marks.iter().any(|mark| mark.class.is_none()) {
        add(Sample::Marker(None), if marks.training.is_none() { "not known" } else { "other labels" }.into());
    }
    if borders || margins {
        add(Sample::Heading, "decision function".into());
    }
    if borders {
        let binary = model.machines().len() == 1;
        add(Sample::Border, if binary { "boundary, f = 0" } else { "boundaries" }.into());
    }
    if margins {
        let of_margin = model.recipe().loss != Loss::Logistic;
        add(Sample::Margin, if of_margin { "margins, f = ±1" } else { "f = ±1" }.into());
    }
    let kinds = [
        (Ring::OnMargin, "on the margin"),
        (Ring::Inside, "inside the margin"),
        (Ring::Misclassified, "misclassified"),
        (Ring::Support, if has_relevance_vectors(model) { "rows of the model" } else { "of all kinds" }),
    ];
    let count = |kind: Ring| marks.rings.iter().filter(|ring| **ring == kind).count();
    let present: Vec<_> = kinds.into_iter().map(|(kind, text)| (kind, text, count(kind))).filter(|k| k.2 > 0).collect();
    if !present.is_empty() {
        let heading = if has_relevance_vectors(model) { "relevance vectors" } else { "support vectors" };
        add(Sample::Heading, heading.into());
    }
    for (kind, text, count) in present {
        add(Sample::Ring(kind), format!("{text} ({count})"));
    }
    entries
}

/// The legend, right of the plane, where it hides nothing.
fn place_legend(scene: &mut Scene, frame: &Frame, legend: &[Entry]) {
    let left = frame.right + EDGE;
    let gaps = 2.0 * HEADING_GAP;
    let room = ((frame.caption_top - frame.top - gaps) / LEGEND_LINE) as usize;
    // Where there are more classes than lines, the last ones of them give way.
    let surplus = legend.len().saturating_sub(room.max(1));
    let classes = legend.iter().filter(|entry| matches!(entry.sample, Sample::Marker(_))).count();
    let hidden = if surplus == 0 { 0 } else { (surplus + 1).min(classes) };
    let (mut y, mut class) = (frame.top + LEGEND_LINE / 2.0, 0);
    for entry in legend {
        let middle = (left + SAMPLE / 2.0 - 5.0, y);
        let (start, end) = ((left, y), (left + SAMPLE - 10.0, y));
        if let Sample::Marker(_) = entry.sample {
            class += 1;
            if class > classes - hidden {
                if class == classes {
                    scene.text(format!("and {hidden} more"), (left, y), NORMAL, Anchor::Left, GREY);
                    y += LEGEND_LINE;
                }
                continue;
            }
        }
        match &entry.sample {
            Sample::Heading => {
                y += if y > frame.top + LEGEND_LINE { HEADING_GAP } else { 0.0 };
                scene.text(entry.text.as_str(), (left, y), SMALL, Anchor::Left, GREY);
                y += LEGEND_LINE;
                continue;
            }
            Sample::Marker(class) => {
                if let Some(class) = class {
                    let (x, half) = (middle.0, 9.0);
                    let corners =
                        [(x - 12.0, y - half), (x + 12.0, y - half), (x + 12.0, y + half), (x - 12.0, y + half)];
                    scene.fill(corners.to_vec(), tint_of(*class));
                }
                scene.marker(*class, middle, 5.0);
            }
            Sample::Border => scene.line(vec![start, end], 2.2, INK),
            Sample::Margin => scene.dashed(&[start, end], DASH, 1.6, INK),
            Sample::Ring(kind) => {
                scene.shapes.push(Shape::Disc { centre: middle, radius: 2.5, colour: GREY });
                scene.ring(*kind, middle, 3.0);
            }
        }
        let room = frame.sheet_right - left - SAMPLE;
        scene.text(text::fit(&entry.text, NORMAL, room), (left + SAMPLE, y), NORMAL, Anchor::Left, INK);
        y += LEGEND_LINE;
    }
}

/// The user's title; else the model in one line, and how good it is in another.
fn heading(scene: &mut Scene, frame: &Frame, model: &Model, marks: &Marks, options: &PlotOptions) {
    let room = frame.sheet_right - frame.left;
    let (title, below) = match &options.title {
        Some(title) => (text::safe(title), None),
        None => (what(model), Some(how_good(model, marks))),
    };
    scene.text(text::fit(&title, TITLE, room), (frame.left, EDGE + 6.0), TITLE, Anchor::Left, INK);
    if let Some(below) = below {
        scene.text(text::fit(&below, NORMAL, room), (frame.left, EDGE + 30.0), NORMAL, Anchor::Left, GREY);
    }
}

/// Kernel, penalty and loss.
fn what(model: &Model) -> String {
    let parts = model.parts();
    if let Some(nu) = parts.recipe.task.usual() {
        let what = if let Task::Svdd { .. } = parts.recipe.task { "a ball" } else { "one class" };
        return format!("{}, {what}, ν = {}", kernel(&parts.recipe.kernel), short(nu));
    }
    let penalty = match parts.recipe.penalty {
        Penalty::C(c) => format!("C = {}", short(c)),
        Penalty::COverN(c) => format!("C = {}/n", short(c)),
        Penalty::Lambda(lambda) => format!("λ = {}", short(lambda)),
        Penalty::Nu(nu) => format!("ν = {}", short(nu)),
        Penalty::Hard => "hard margin".into(),
        Penalty::None => "no penalty".into(),
    };
    let features = parts.network.as_ref().map_or_else(|| kernel(&parts.recipe.kernel), network);
    if has_relevance_vectors(model) {
        return format!("{features}, relevance vector machine");
    }
    format!("{features}, {penalty}, {} loss", parts.recipe.loss.name())
}

/// A network by its hidden units.
fn network(network: &Network) -> String {
    let units: Vec<String> = network.layers.iter().map(|layer| layer.outputs.to_string()).collect();
    format!("network of {} {} units", units.join(" and "), network.activation.name())
}

/// A kernel with its parameters in few digits.
fn kernel(kernel: &KernelFunction) -> String {
    let name = kernel.name();
    match kernel {
        KernelFunction::Polynomial(Polynomial { gamma, coef0, degree }) => {
            format!("{name} kernel of degree {degree} (γ = {}, c = {})", short(*gamma), short(*coef0))
        }
        KernelFunction::Sigmoid(Sigmoid { gamma, coef0 }) => {
            format!("{name} kernel (γ = {}, c = {})", short(*gamma), short(*coef0))
        }
        KernelFunction::Custom(_) => text::safe(&kernel.to_string()),
        _ => kernel.decay().map_or(format!("{name} kernel"), |gamma| format!("{name} kernel (γ = {})", short(gamma))),
    }
}

/// Support vectors, errors and gap.
fn how_good(model: &Model, marks: &Marks) -> String {
    let parts = model.parts();
    let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut facts = Vec::new();
    if !parts.support_rows.is_empty() {
        facts.push(match has_relevance_vectors(model) {
            true => counted(parts.support_rows.len(), "relevance vector", "relevance vectors"),
            false => counted(parts.support_rows.len(), "support vector", "support vectors"),
        });
    }
    match (marks.errors, marks.training, model.machines()) {
        (Some(outside), _, _) if !model.task().is_classification() => {
            facts.push(format!("{outside} of {} rows outside", marks.rows));
        }
        (Some(errors), Some(true), _) => facts.push(counted(errors, "training error", "training errors")),
        (Some(errors), _, _) => {
            facts.push(format!("{} on these {} rows", counted(errors, "error", "errors"), marks.rows));
        }
        (None, _, [machine]) => facts.push(counted(machine.training_errors, "training error", "training errors")),
        _ => {}
    }
    let gaps: Option<Vec<f64>> =
        model.machines().iter().map(|machine| machine.evidence.certificate().map(|found| found.gap)).collect();
    if let Some(evidence) = &parts.joint {
        facts.push(match evidence.certificate() {
            Some(found) => format!("duality gap {}", short(found.gap)),
            None => "no certificate".into(),
        });
        return facts.join(" · ");
    }
    facts.push(match (gaps, model.machines()) {
        (Some(gaps), [_]) => format!("duality gap {}", short(gaps[0])),
        (Some(gaps), _) => format!("duality gaps up to {}", short(gaps.into_iter().fold(0.0, f64::max))),
        (None, machines) => {
            let none = machines.iter().filter(|machine| matches!(machine.evidence, Evidence::None(_))).count();
            if none == machines.len() {
                "no certificate".into()
            } else {
                format!("{none} machines without certificate")
            }
        }
    });
    facts.join(" · ")
}

/// What the reader must know and cannot see, in pieces.
fn caption(view: &View<'_>) -> Vec<String> {
    let mut pieces = Vec::new();
    let others: Vec<usize> =
        (0..view.held.len()).filter(|&column| column != view.columns.0 && column != view.columns.1).collect();
    if !others.is_empty() {
        let of = if view.marks.training.is_none() { "support vectors" } else { "rows" };
        let value = |&column: &usize| {
            let name: String = text::safe(&view.title(column)).chars().take(40).collect();
            format!("{name} = {}", short(view.held[column]))
        };
        pieces.push(format!("other columns held at the mean of the {of}: {}", listed(others.iter().map(value), 6)));
    }
    let marks = &view.marks;
    if marks.marks.len() < marks.rows {
        pieces.push(format!("{} of {} rows shown", marks.marks.len(), marks.rows));
    }
    match marks.training {
        None => pieces.push("support vectors only, as no data was given".into()),
        Some(false) => pieces.push("not the training data, so support vectors are not marked".into()),
        Some(true) => {}
    }
    pieces
}

/// Pieces joined by semicolons and broken between words into at most `most` lines.
fn wrap(pieces: &[String], room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in pieces.join("; ").split_whitespace() {
        match lines.last_mut() {
            Some(line) if text::width(&format!("{line} {word}"), SMALL) <= room => {
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
    lines.into_iter().map(|line| text::fit(&line, SMALL, room)).collect()
}
