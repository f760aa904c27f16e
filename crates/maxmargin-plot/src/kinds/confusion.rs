//! Which classes are taken for which: a table of counts, coloured by the share of each true class.

use maxmargin::metrics::{ClassReport, MOST_PAIRED_CLASSES};

use super::Subject;
use crate::Kind;
use crate::drawing::axis::{Axis, Range};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Anchor, NORMAL, Rect, SMALL, Scene};
use crate::drawing::text;
use crate::drawing::theme::contrast;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::plane::percent;
use crate::words;

/// Draws the table.
///
/// # Errors
/// When there is no data with classes, or there are too many of them.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let model = subject.model;
    let rows = subject.classified(Kind::Confusion)?;
    let classes = model.classes().len();
    let report = ClassReport::new(&rows.classes, &rows.predicted, classes);
    let table: Option<Vec<Vec<usize>>> =
        report.as_ref().and_then(|report| Some(report.confusion()?.map(<[usize]>::to_vec).collect()));
    let (Some(report), Some(table)) = (report, table) else {
        return Err(Error::Unsuited {
            what: format!("a table of {classes} classes is too large to be seen: {MOST_PAIRED_CLASSES} are the most"),
            help: "choose the kind margins, or rows of fewer classes".into(),
        });
    };
    let right = report.rows() - report.errors();
    let mut caption =
        vec!["the more a cell stands out from the paper, the larger its share of the true class".to_string()];
    if report.unknown() > 0 {
        caption.push(format!(
            "{} with labels that the model does not know are left out",
            text::counted(report.unknown(), "row")
        ));
    }
    let words = Words {
        title: format!("Confusion: {}", words::what(model)),
        below: format!(
            "{right} of {} rows right ({}) · balanced accuracy {}",
            report.rows(),
            percent(report.accuracy()),
            percent(report.balanced_accuracy())
        ),
        caption,
        description: format!(
            "A table of true against predicted classes, over {}.",
            text::counted(report.rows(), "row")
        ),
    };
    let (mut scene, body) = page::begin(subject.options, &words);
    let theme = scene.theme;
    let names: Vec<String> = model.classes().iter().map(text::label).collect();
    let count = classes as f64;
    // About 92 units a class are enough; more would only spread the numbers.
    let wanted = (count * 92.0).max(260.0);
    let place = Rect {
        right: body.right.min(body.left + wanted + 160.0),
        bottom: body.bottom.min(body.top + wanted * 0.8 + 70.0),
        ..body
    };
    // A name below is no wider than its cell, or the last one would leave the sheet. Names of true classes leave most of the room to cells.
    let cell = 0.6 * place.width() / count;
    let most = if classes <= 12 { cell } else { 60.0 };
    let named = |most: f64, at: &dyn Fn(usize) -> f64| -> Vec<(f64, String)> {
        names.iter().enumerate().map(|(k, name)| (at(k), text::fit(name, SMALL, most))).collect()
    };
    let across = named(most.min(120.0), &|k| k as f64 + 0.5);
    let down = named(150.0, &|k| count - k as f64 - 0.5);
    let range = Range::exactly(0.0, count);
    let panel =
        Panel::new(place, Axis::named("predicted", range, across), Axis::named("true class", range, down), Look::Bare);
    let mut numbers = Numbers::new(&["true", "predicted", "rows", "share"]);
    for (truth, counts) in table.iter().enumerate() {
        let total = counts.iter().sum::<usize>();
        for (said, &found) in counts.iter().enumerate() {
            let share = if total > 0 { found as f64 / total as f64 } else { 0.0 };
            let a = panel.at(said as f64, count - truth as f64);
            let b = panel.at(said as f64 + 1.0, count - truth as f64 - 1.0);
            let gap = if b.0 - a.0 > 12.0 { 1.0 } else { 0.0 };
            let fill = if found == 0 { theme.faint() } else { theme.amount(share) };
            let cell = Rect { left: a.0 + gap, top: a.1 + gap, right: b.0 - gap, bottom: b.1 - gap };
            scene.bar(cell, fill);
            let words = found.to_string();
            if cell.height() > 15.0 && text::width(&words, NORMAL) < cell.width() - 4.0 {
                let (dark, light) = ((20, 24, 29), (255, 255, 255));
                let colour = if found == 0 {
                    theme.muted()
                } else if contrast(fill, dark) > contrast(fill, light) {
                    dark
                } else {
                    light
                };
                let at = (f64::midpoint(cell.left, cell.right), f64::midpoint(cell.top, cell.bottom));
                scene.text(words, at, NORMAL, Anchor::Middle, colour);
            }
            let class = |k: usize| model.classes()[k].text();
            numbers.push([class(truth).into(), class(said).into(), found.into(), share.into()]);
        }
    }
    panel.finish(&mut scene);
    scene.trim(body.bottom, place.bottom);
    Ok((scene, numbers))
}
