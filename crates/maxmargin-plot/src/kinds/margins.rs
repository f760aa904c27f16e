//! How far the rows are on the right side: a histogram of their margins, with 0 and 1 marked.
//!
//! ```text
//! one machine:                z = y f(x)
//! each against the rest, or
//! trained together:           z = f_k(x) − max_{l≠k} f_l(x),   k the class of the row                 (V.3)
//! pairs of classes:           z = min over the pairs of k of y f(x)
//! ```

use maxmargin::model::{Model, Multiclass};
use maxmargin::problem::Loss;

use super::Subject;
use crate::Kind;
use crate::drawing::axis::{Axis, Range};
use crate::drawing::legend::{self, Entry, Sample};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Anchor, Pen, Rect, SMALL, Scene};
use crate::drawing::text;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::plane::percent;
use crate::rows::Rows;
use crate::words;

/// Bars of the histogram, at most about.
const BARS: f64 = 44.0;

/// Classes that are told apart by colour; further ones share the last.
const MOST_CLASSES: usize = 8;

/// Draws the margins.
///
/// # Errors
/// When there is no data with classes.
pub(crate) fn draw(subject: &Subject<'_>) -> Result<(Scene, Numbers), Error> {
    let model = subject.model;
    let rows = subject.classified(Kind::Margins)?;
    let margins = margins(model, &rows);
    let known: Vec<f64> = margins.iter().filter_map(|(_, z)| *z).filter(|z| z.is_finite()).collect();
    let (low, high) = usual(&known);
    let step = ((high - low) / BARS).max(1e-9);
    // Whole bars end at 0, so that none is on both sides of the boundary.
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil().max(low / step + 1.0) as i64);
    let bars = (last - first).max(1) as usize;
    let classes = model.classes().len().min(MOST_CLASSES);
    let mut counts = vec![vec![0usize; bars]; classes];
    for (class, z) in &margins {
        let (Some(class), Some(z)) = (class, z) else { continue };
        let bar = ((z / step).floor() as i64 - first).clamp(0, bars as i64 - 1) as usize;
        counts[(*class as usize).min(classes - 1)][bar] += 1;
    }
    let beyond = known.iter().filter(|&&z| z < low || z > high).count();
    let words = words_of(model, &known, beyond);
    let (mut scene, body) = page::begin(subject.options, &words);
    let mirrored = classes == 2;
    let total = |bar: usize| counts.iter().map(|own| own[bar]).sum::<usize>();
    let most = |class: usize| counts[class].iter().max().copied().unwrap_or(0) as f64;
    let range = if mirrored {
        Range::exactly(-1.12 * most(0).max(1.0), 1.12 * most(1).max(1.0))
    } else {
        Range::exactly(0.0, 1.12 * (0..bars).map(total).max().unwrap_or(1).max(1) as f64)
    };
    let entries: Vec<Entry> = (0..classes)
        .rev()
        .map(|class| {
            let more = model.classes().len() - classes;
            let name = text::label(&model.classes()[class]);
            let name = if more > 0 && class + 1 == classes { format!("{name} and {more} more") } else { name };
            Entry::new(Sample::Square(subject.options.theme.class(Some(class as u32))), name)
        })
        .collect();
    let beside = legend::width(&entries, scene.width);
    let place = Rect { right: body.right - beside - 12.0, ..body };
    let x = Axis::new(
        if model.machines().len() == 1 { "margin y f(x)" } else { "margin of the row's class" },
        Range::exactly(first as f64 * step, last as f64 * step),
    );
    let ticks =
        range.ticks(7).into_iter().map(|(place, text)| (range.at(place), text.trim_start_matches('−').to_string()));
    let panel = Panel::new(
        place,
        x,
        Axis::named("rows", range, ticks.filter(|(_, text)| !text.contains('.')).collect()),
        Look::Lines,
    );
    panel.begin(&mut scene);
    for bar in 0..bars {
        let (left, right) = ((first + bar as i64) as f64 * step, (first + bar as i64 + 1) as f64 * step);
        let mut base = 0.0;
        for (class, own) in counts.iter().enumerate().filter(|(_, own)| own[bar] > 0) {
            let height = own[bar] as f64;
            let (from, to) = match (mirrored, class) {
                (true, 0) => (0.0, -height),
                (true, _) => (0.0, height),
                (false, _) => (base, base + height),
            };
            base += height;
            let (a, b) = (panel.at(left, from.max(to)), panel.at(right, from.min(to)));
            let gap = if b.0 - a.0 > 4.0 { 0.5 } else { 0.0 };
            let fill = scene.theme.class(Some(class as u32));
            scene.bar(Rect { left: a.0 + gap, top: a.1, right: b.0 - gap, bottom: b.1 }, fill);
        }
    }
    panel.finish(&mut scene);
    let (ink, rule) = (scene.theme.ink(), scene.theme.rule());
    if mirrored {
        scene.line(vec![panel.at(panel.x.range.low, 0.0), panel.at(panel.x.range.high, 0.0)], Pen::new(rule, 1.0));
    }
    let of_margin = model.recipe().loss != Loss::Logistic && model.machines().len() == 1;
    let marks = [(0.0, "boundary", Pen::new(ink, 1.6)), (1.0, "margin", Pen::new(ink, 1.3).dashed(6.0, 4.0))];
    let mut taken = f64::NEG_INFINITY;
    for (z, name, pen) in marks.into_iter().take(if of_margin { 2 } else { 1 }) {
        if !(panel.x.range.low..=panel.x.range.high).contains(&z) {
            continue;
        }
        let foot = panel.at(z, range.low);
        scene.line(vec![foot, (foot.0, panel.frame.top - 4.0)], pen);
        let half = text::width(name, SMALL) / 2.0;
        if foot.0 - half > taken + 6.0 && foot.0 - half > panel.frame.left + 30.0 {
            scene.text(name, (foot.0, panel.frame.top - 12.0), SMALL, Anchor::Middle, ink);
            taken = foot.0 + half;
        }
    }
    legend::draw(&mut scene, Rect { left: panel.frame.right + 18.0, right: body.right, ..panel.frame }, &entries);
    let mut numbers = Numbers::new(&["row", "class", "margin"]);
    for (row, (class, z)) in margins.iter().enumerate() {
        let class = class.and_then(|class| model.classes().get(class as usize)).map(|label| label.text());
        numbers.push([(row + 1).into(), class.into(), (*z).into()]);
    }
    Ok((scene, numbers))
}

fn words_of(model: &Model, known: &[f64], beyond: usize) -> Words {
    let share = |of: &dyn Fn(f64) -> bool| {
        let count = known.iter().filter(|z| of(**z)).count();
        (count, percent(count as f64 / known.len().max(1) as f64))
    };
    let (wrong, inside, free) =
        (share(&|z| z <= 0.0), share(&|z| z > 0.0 && z < 1.0 - 1e-9), share(&|z| z >= 1.0 - 1e-9));
    let mut facts = vec![format!("{} on the wrong side ({})", text::counted(wrong.0, "row"), wrong.1)];
    if model.recipe().loss != Loss::Logistic && model.machines().len() == 1 {
        facts.push(format!("{} within the margin ({})", inside.0, inside.1));
        facts.push(format!("{} beyond it ({})", free.0, free.1));
    }
    let mut caption = Vec::new();
    if beyond > 0 {
        caption.push(format!("{} farther out, counted in the last bars", text::counted(beyond, "row")));
    }
    match (model.machines().len(), model.recipe().multiclass) {
        (1, _) => {}
        (_, Multiclass::OneVsOne) => {
            caption.push("the margin of a row is the least of all pairs of its class with another".into())
        }
        _ => caption.push("the margin of a row is the decision value of its class less the largest other one".into()),
    }
    Words {
        title: format!("Margins: {}", words::what(model)),
        below: facts.join(" · "),
        description: format!("A histogram of the margins of {}, by class.", text::counted(known.len(), "row")),
        caption,
    }
}

/// The range that holds nearly all margins, and 0 and 1: far ones would make all others one bar.
fn usual(known: &[f64]) -> (f64, f64) {
    let mut sorted = known.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get(((sorted.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(0.0);
    let (low, high, quarter) = (at(0.0), at(1.0), at(0.75) - at(0.25));
    let (low, high) = if high - low > 12.0 * quarter && quarter > 0.0 { (at(0.005), at(0.995)) } else { (low, high) };
    (low.min(-0.1), high.max(1.1))
}

/// The class of each row, and its margin (V.3).
pub(crate) fn margins(model: &Model, rows: &Rows) -> Vec<(Option<u32>, Option<f64>)> {
    let machines = model.machines();
    let margin = |values: &[f64], class: u32| -> Option<f64> {
        if machines.len() == 1 {
            return machines[0].pairing.sign(class as usize).map(|sign| sign * values[0]);
        }
        let own = |place: usize| machines[place].pairing.positive == class as usize;
        match model.recipe().multiclass {
            Multiclass::OneVsOne => {
                let signed = machines
                    .iter()
                    .zip(values)
                    .filter_map(|(machine, value)| machine.pairing.sign(class as usize).map(|sign| sign * value));
                signed.reduce(f64::min)
            }
            _ => {
                let value = (0..machines.len()).find(|&place| own(place)).map(|place| values[place])?;
                let others = (0..machines.len()).filter(|&place| !own(place)).map(|place| values[place]);
                others.reduce(f64::max).map(|other| value - other)
            }
        }
    };
    let values = rows.values.chunks(machines.len().max(1));
    rows.classes
        .iter()
        .zip(values)
        .map(|(class, values)| (*class, class.and_then(|class| margin(values, class))))
        .collect()
}
