//! Why the model says of a row what it says: its decision value as a sum, term by term, from b to f(x).

use maxmargin::model::Model;
use maxmargin::review::{Detail, Reason, TermSource};

use super::Subject;
use crate::Kind;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Anchor, Pen, Rect, SMALL, Scene};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::plane::column_title;
use crate::words;

/// Terms that have a bar of their own; all others share one.
const MOST_TERMS: usize = 12;

/// A bar of the waterfall.
struct Bar {
    name: String,
    term: f64,
}

/// Draws the terms of a row.
///
/// # Errors
/// When there is no such row, or the model cannot be taken apart.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let Subject { model, options, workers, .. } = *subject;
    let data = subject.data(Kind::Why)?;
    // A bar takes 20 units, and the words around the bars 250.
    let terms = (options.height.saturating_sub(250) as usize / 20).clamp(1, MOST_TERMS);
    let detail = Detail { terms, ..Detail::default() };
    let found = model.explain(data, options.row, detail, workers)?;
    let Some(reason) = found.reasons.iter().max_by(|a, b| a.value.abs().total_cmp(&b.value.abs())) else {
        return Err(Error::Unsuited {
            what: "the model has no machine to explain".into(),
            help: "choose the kind regions".into(),
        });
    };
    let bars = bars(model, reason);
    let mut caption = Vec::new();
    if model.machines().len() > 1 {
        caption.push(format!(
            "the machine that speaks loudest of {}: {}",
            model.machines().len(),
            machine_name(model, reason.machine)
        ));
    }
    if reason.count > reason.terms.len() {
        caption.push(format!("the {} largest of {} terms have a bar of their own", reason.terms.len(), reason.count));
    }
    let said = match found.code.and_then(|code| model.classes().get(code as usize)) {
        Some(label) => format!("predicted {}", text::label(label)),
        None => format!("predicted {}", short(reason.value)),
    };
    let far = reason.distance.map(|distance| format!(" · {} from the boundary", short(distance)));
    let words = Words {
        title: format!("Why row {}: {said}", options.row + 1),
        below: format!("f(x) = {}{} · {}", short(reason.value), far.unwrap_or_default(), words::what(model)),
        caption,
        description: format!("The decision value of row {} as a sum of {} terms.", options.row + 1, reason.count),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let mut sums = vec![0.0];
    for bar in &bars {
        sums.push(sums[sums.len() - 1] + bar.term);
    }
    let range = Range::around(sums.iter().copied()).unwrap_or(Range::exactly(-1.0, 1.0));
    // Room for the numbers at both ends.
    let range = range.widened(1.0 / (1.0 - 124.0 / (0.62 * body.width())).max(0.4));
    let lines = bars.len() + 1;
    let names = bars.iter().map(|bar| bar.name.clone()).chain(["f(x)".into()]);
    let ticks = names
        .enumerate()
        .map(|(k, name)| ((lines - k) as f64 - 0.5, text::fit(&name, SMALL, 0.33 * body.width())))
        .collect();
    let place = Rect { bottom: body.bottom.min(body.top + 60.0 + 34.0 * lines as f64), ..body };
    let axis = Axis::new("decision value", range);
    let panel = Panel::new(place, axis, Axis::named("", Range::exactly(0.0, lines as f64), ticks), Look::Bare);
    let half = (0.32 * panel.frame.height() / lines as f64).min(11.0);
    let zero = panel.at(0.0, 0.0).0;
    scene.line(vec![(zero, panel.frame.top), (zero, panel.frame.bottom)], Pen::new(theme.rule(), 1.0));
    let mut numbers = Numbers::new(&["what", "term", "sum"]);
    for k in 0..lines {
        let (from, to) = if k < bars.len() { (sums[k], sums[k + 1]) } else { (0.0, sums[bars.len()]) };
        let y = panel.at(0.0, (lines - k) as f64 - 0.5).1;
        let (a, b) = (panel.at(from, 0.0).0, panel.at(to, 0.0).0);
        let colour = theme.class(Some(u32::from(to >= from)));
        let fill = if k < bars.len() { colour } else { theme.ink() };
        // A bar is seen even where its term is nearly 0.
        let (left, right) = if (b - a).abs() < 1.5 { (a.min(b) - 0.75, a.min(b) + 0.75) } else { (a.min(b), a.max(b)) };
        scene.bar(Rect { left, top: y - half, right, bottom: y + half }, fill);
        if k + 1 < lines {
            let next = panel.at(0.0, (lines - k) as f64 - 1.5).1;
            scene.line(vec![(b, y + half), (b, next - half)], Pen::new(theme.rule(), 1.0));
        }
        let (number, anchor, at) = (
            signed(to - from, k < bars.len()),
            if b >= a { Anchor::Left } else { Anchor::Right },
            if b >= a { right + 6.0 } else { left - 6.0 },
        );
        scene.text(number, (at, y), SMALL, anchor, theme.ink());
        let name = if k < bars.len() { bars[k].name.as_str() } else { "f(x)" };
        numbers.push([name.into(), (to - from).into(), to.into()]);
    }
    panel.finish(&mut scene);
    Ok((scene, numbers))
}

/// The terms in the order of their size, b first and all others last.
fn bars(model: &Model, reason: &Reason) -> Vec<Bar> {
    let mut bars = vec![Bar { name: "b".into(), term: reason.bias }];
    bars.extend(reason.own.map(|own| Bar { name: "own kernel value".into(), term: own }));
    for term in &reason.terms {
        let name = match term.source {
            TermSource::TrainingRow(row) => {
                format!("row {}: {} · {}", row + 1, short(term.coefficient), short(term.value))
            }
            TermSource::Column(column) => {
                let name: String = text::safe(&column_title(model, column)).chars().take(40).collect();
                format!("{name}: {} · {}", short(term.coefficient), short(term.value))
            }
        };
        bars.push(Bar { name, term: term.term });
    }
    if reason.count > reason.terms.len() {
        let rest = reason.sum - reason.terms.iter().map(|term| term.term).sum::<f64>();
        bars.push(Bar { name: format!("{} others", reason.count - reason.terms.len()), term: rest });
    }
    bars
}

fn machine_name(model: &Model, machine: usize) -> String {
    let pairing = model.machines()[machine].pairing;
    let name = |class: usize| model.classes().get(class).map_or_else(String::new, text::label);
    match pairing.negative {
        Some(negative) => format!("{} against {}", name(pairing.positive), name(negative)),
        None => format!("{} against the rest", name(pairing.positive)),
    }
}

/// A number with its sign, where it is a term.
fn signed(number: f64, is_term: bool) -> String {
    let text = short(number);
    if is_term && number > 0.0 { format!("+{text}") } else { text }
}
