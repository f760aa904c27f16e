//! How well the decision values sort the rows: found against falsely found, and found against what is right of it.
//!
//! ```text
//! recall = TP / (TP + FN),   false alarms = FP / (FP + TN),   precision = TP / (TP + FP)               (V.4)
//! ```
//!
//! for every threshold. Between two points of a ROC curve lies a straight line, whose area is (ME.5). Between two of a precision-recall
//! curve lies none, so that one is drawn in steps.
//!
//! # References
//! J. Davis and M. Goadrich, The relationship between precision-recall and ROC curves, ICML 2006.

use maxmargin::metrics::area_under_curve;
use maxmargin::model::{Model, Multiclass};

use super::Subject;
use crate::Kind;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::legend::{self, Entry, Sample};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene, Shape};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::rows::Rows;
use crate::words;

/// Classes with a curve each; of more, the first ones.
const MOST_CLASSES: usize = 8;

/// A curve of one class against all others.
struct Curve {
    class: u32,
    /// Threshold, false alarms, recall, precision; from the highest threshold down.
    points: Vec<[f64; 4]>,
    area: f64,
    /// Average precision: the area under the steps.
    average: f64,
    /// Which share of the rows is of the class.
    share: f64,
}

/// Draws both curves.
///
/// # Errors
/// When there is no data with rows of two classes.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let model = subject.model;
    let rows = subject.classified(Kind::Roc)?;
    let classes: Vec<u32> = if model.classes().len() == 2 {
        vec![1]
    } else {
        (0..model.classes().len().min(MOST_CLASSES) as u32).collect()
    };
    let curves: Vec<Curve> = classes.into_iter().filter_map(|class| curve(model, &rows, class)).collect();
    if curves.is_empty() {
        return Err(Error::Unsuited {
            what: "all rows are of one class, so there is nothing to sort".into(),
            help: "give data with rows of two classes or more".into(),
        });
    }
    let theme = subject.options.theme;
    let label = |curve: &Curve| text::label(&model.classes()[curve.class as usize]);
    let below = match &curves[..] {
        [one] => format!(
            "{} found: area under the ROC curve {} · average precision {}",
            label(one),
            short(one.area),
            short(one.average)
        ),
        _ => "each class against all others".into(),
    };
    let left_out = model.classes().len().saturating_sub(MOST_CLASSES);
    let mut caption = vec!["dashed: what guessing achieves".to_string()];
    if let [_] = curves[..] {
        caption.push("circle: where the model decides, f = 0".into());
    }
    if left_out > 0 {
        caption.push(format!("{left_out} more classes are left out"));
    }
    let words = Words {
        title: format!("Sorting: {}", words::what(model)),
        below,
        caption,
        description: format!("ROC and precision-recall curves over {}.", text::counted(rows.len(), "row")),
    };
    let (mut scene, mut body) = page::begin(subject.options, &words);
    if curves.len() > 1 {
        let entries: Vec<Entry> = curves
            .iter()
            .map(|curve| {
                let pen = Pen::new(theme.class(Some(curve.class)), 2.2);
                Entry::new(
                    Sample::Line(pen),
                    format!("{} ({}, {})", label(curve), short(curve.area), short(curve.average)),
                )
            })
            .collect();
        let heading = Entry::new(Sample::Heading, "areas under the curves");
        let entries: Vec<Entry> = [heading].into_iter().chain(entries).collect();
        let width = legend::width(&entries, scene.width);
        legend::draw(&mut scene, Rect { left: body.right - width, top: body.top + 22.0, ..body }, &entries);
        body.right -= width + 14.0;
    }
    let size = ((body.width() - 24.0) / 2.0 + 24.0).min(body.height());
    let bottom = body.bottom;
    let body = Rect { bottom: (body.top + size.max(200.0)).min(bottom), ..body };
    let unit = || Range::exactly(0.0, 1.0);
    let panels: Vec<Panel> = body
        .cells(2, 1, (24.0, 0.0))
        .into_iter()
        .zip([("false alarms", "found (recall)"), ("found (recall)", "right of what is found (precision)")])
        .map(|(place, (x, y))| Panel::new(place, Axis::new(x, unit()), Axis::new(y, unit()), Look::Grid))
        .collect();
    let chance = Pen::new(theme.rule(), 1.2).dashed(4.0, 4.0);
    for panel in &panels {
        panel.begin(&mut scene);
    }
    scene.line(vec![panels[0].at(0.0, 0.0), panels[0].at(1.0, 1.0)], chance);
    for curve in &curves {
        let pen = Pen::new(theme.class(Some(curve.class)), 2.2);
        let level = if curves.len() == 1 { chance } else { Pen { colour: pen.colour, ..chance } };
        scene.line(vec![panels[1].at(0.0, curve.share), panels[1].at(1.0, curve.share)], level);
        let start = [(0.0, 0.0)];
        let roc = curve.points.iter().map(|point| (point[1], point[2]));
        scene.line(start.into_iter().chain(roc).map(|(x, y)| panels[0].at(x, y)).collect(), pen);
        let mut steps = Vec::new();
        let mut last = 0.0;
        for [_, _, recall, precision] in &curve.points {
            // Only where more is found does a threshold add to the area.
            if *recall > last || steps.is_empty() {
                steps.extend([panels[1].at(last, *precision), panels[1].at(*recall, *precision)]);
            }
            last = *recall;
        }
        scene.line(steps, pen);
    }
    if let [curve] = &curves[..]
        && let Some(at) = curve.points.iter().rfind(|point| point[0] >= 0.0)
    {
        let pen = Pen::new(theme.ink(), 1.5);
        for centre in [panels[0].at(at[1], at[2]), panels[1].at(at[2], at[3])] {
            scene.shapes.push(Shape::Disc { centre, radius: 5.0, fill: theme.paper(), edge: Some(pen) });
        }
    }
    for panel in &panels {
        panel.finish(&mut scene);
    }
    scene.trim(bottom, body.bottom);
    let mut numbers = Numbers::new(&["class", "threshold", "false_alarms", "recall", "precision"]);
    for curve in &curves {
        for point in &curve.points {
            let [threshold, alarms, recall, precision] = *point;
            let class = model.classes()[curve.class as usize].text();
            numbers.push([class.into(), threshold.into(), alarms.into(), recall.into(), precision.into()]);
        }
    }
    Ok((scene, numbers))
}

/// The curves of a class; `None` where all rows are of it, or none.
fn curve(model: &Model, rows: &Rows, class: u32) -> Option<Curve> {
    let machines = model.machines();
    let score = |values: &[f64]| -> f64 {
        if machines.len() == 1 {
            return machines[0].pairing.sign(class as usize).unwrap_or(1.0) * values[0];
        }
        let signed = machines.iter().zip(values);
        match model.recipe().multiclass {
            Multiclass::OneVsOne => signed
                .filter_map(|(machine, value)| machine.pairing.sign(class as usize).map(|sign| sign * value))
                .sum(),
            _ => {
                let (mut own, mut other) = (0.0, f64::NEG_INFINITY);
                for (machine, &value) in signed {
                    if machine.pairing.positive == class as usize { own = value } else { other = other.max(value) }
                }
                own - other
            }
        }
    };
    let mut sorted: Vec<(f64, bool)> = rows
        .values
        .chunks(machines.len().max(1))
        .zip(&rows.classes)
        .filter_map(|(values, own)| own.map(|own| (score(values), own == class)))
        .collect();
    let area = area_under_curve(sorted.iter().copied())?;
    sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let positive = sorted.iter().filter(|(_, positive)| *positive).count() as f64;
    let negative = sorted.len() as f64 - positive;
    let (mut found, mut alarms, mut points, mut average) = (0.0, 0.0, Vec::new(), 0.0);
    // Rows that tie are passed together.
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let right = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        found += right;
        alarms += tied.len() as f64 - right;
        let precision = found / (found + alarms); // (V.4)
        average += right / positive * precision;
        points.push([tied[0].0, alarms / negative, found / positive, precision]);
    }
    Some(Curve { class, points, area, average, share: positive / sorted.len() as f64 })
}
