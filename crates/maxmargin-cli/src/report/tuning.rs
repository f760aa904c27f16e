//! What `tune` reports: the table of scores, the choices, and what they are worth.

use maxmargin::tuning::{
    Cell, Choose, Knob, LearningCurve, LearningPoint, Metric, Nested, Proof, Setting, State, Tuned, kernel_name,
};
use maxmargin::view::TunedView;

use super::{Page, counted, number};

/// Values of γ up to which a table of C and γ is shown.
const MOST_COLUMNS: usize = 16;

/// Cells that a list has, the best first.
const MOST_LISTED: usize = 12;

/// The page: `what` says what was searched.
pub(crate) fn words(
    tuned: &Tuned,
    view: &TunedView<'_>,
    choose: Choose,
    what: &str,
    seconds: f64,
    model: Option<&str>,
) -> String {
    let mut page = Page::new();
    page.paragraph(what);
    page.text("");
    for part in 0..tuned.grid.parts.len() {
        cells(&mut page, tuned, part);
    }
    if let Some(best) = tuned.chosen(Choose::Best) {
        page.line("best", &line(tuned, best));
    }
    if let Some(cell) = tuned.chosen(Choose::OneSe) {
        page.line("one-SE", &line(tuned, cell));
    }
    let taken = if choose == Choose::Best { "best" } else { "one-SE" };
    if let Some(file) = model {
        page.exact("model", &format!("{file}: {taken}, trained on all rows"));
    } else if tuned.best != tuned.one_se {
        page.line("taken", taken);
    }
    if let Some(found) = tuned.honest {
        let [score, low, high] = [found.score, found.interval.0, found.interval.1].map(|v| value(&tuned.metric, v, 1));
        let naive = tuned.chosen(Choose::Best).and_then(|cell| cell.mean).map_or_else(String::new, |mean| {
            let of = tuned.cells.iter().filter(|cell| cell.mean.is_some()).count();
            format!("; {} was the best of {of}, and is too good", shown(&tuned.metric, mean))
        });
        let unit = if is_share(&tuned.metric) { " %" } else { "" };
        page.line(
            "honest",
            &format!("{score}{unit} [{low}, {high}]: what the model that such a search chooses is worth{naive}"),
        );
    } else if tuned.chosen(Choose::Best).is_some_and(|best| best.mean.is_some()) {
        let name = tuned.metric.name();
        page.line("honest", &format!("not known: {name} is no mean over rows, and the best of many is too good"));
    }
    if let Some(found) = &view.nested {
        nested(&mut page, &tuned.metric, found);
    }
    if let Some(proof) = &view.proof {
        page.line("proved", &proved(&tuned.metric, proof));
    }
    if let Some(curve) = &view.learning {
        learning(&mut page, &tuned.metric, curve);
    }
    page.line("cells", &counts(tuned, seconds));
    if tuned.best.is_none() {
        page.line("best", "no cell was finished");
    }
    page.finish()
}

/// What the searches on the training rows of each fold are worth.
fn nested(page: &mut Page, metric: &Metric, found: &Nested) {
    let se = found.se.map_or_else(String::new, |se| format!(" +- {}", value(metric, se, 2)));
    let choices = counted(found.choices(), "different choice");
    let searches = counted(found.splits.len(), "search");
    let text = format!("{}{se}: {searches} without the rows that judge them, {choices}", shown(metric, found.mean));
    page.line("nested", &text);
}

/// What is proved of the cell that is taken.
fn proved(metric: &Metric, proof: &Proof) -> String {
    let (low, high) = proof.score;
    if proof.unproved == 0 {
        let rows = counted(proof.rows, "held-out label");
        return format!("{}: {rows}, each that of the exact optimum", shown(metric, low));
    }
    let unproved = counted(proof.unproved, "label");
    format!("{} to {}: {unproved} of {} not proved", value(metric, low, 2), shown(metric, high), proof.rows)
}

/// What half of the rows and all of them bring.
fn learning(page: &mut Page, metric: &Metric, curve: &LearningCurve) {
    let of = |point: &LearningPoint| {
        format!("{} of held-out rows with {}", shown(metric, point.held_out.mean), counted(point.rows, "training row"))
    };
    let words: Vec<String> = curve.points.iter().rev().step_by(2).map(of).collect();
    page.line("learning", &words.join(", "));
}

/// How the cells came to their numbers.
pub(crate) fn counts(tuned: &Tuned, seconds: f64) -> String {
    let counts = tuned.counts;
    let mut words = vec![format!("{} exact", counts.exact)];
    if counts.same > 0 {
        words.push(format!("{} the same as a smaller C", counts.same));
    }
    if counts.abandoned > 0 {
        words.push(format!("{} abandoned (they could not win)", counts.abandoned));
    }
    if counts.unfinished > 0 {
        words.push(format!("{} unfinished", counts.unfinished));
    }
    format!("{}; {} s", words.join(", "), number(seconds, 3))
}

/// Whether a score is a share, and told in percent.
fn is_share(metric: &Metric) -> bool {
    matches!(metric, Metric::Accuracy | Metric::BalancedAccuracy | Metric::F1)
}

/// A score with so many decimals of a percentage, or four digits.
fn value(metric: &Metric, score: f64, decimals: usize) -> String {
    if is_share(metric) { format!("{:.*}", decimals, 100.0 * score) } else { number(score, 4) }
}

/// A score with its unit.
fn shown(metric: &Metric, score: f64) -> String {
    value(metric, score, 2) + if is_share(metric) { " %" } else { "" }
}

/// The parameters of a cell.
pub(crate) fn setting(tuned: &Tuned, setting: &Setting) -> String {
    let mut words: Vec<String> = Vec::new();
    if tuned.grid.parts.len() > 1 {
        words.extend(tuned.grid.parts.get(setting.part).map(|part| kernel_name(&part.kernel).into()));
    }
    words.extend(setting.values.iter().rev().map(|(knob, value)| format!("{} {}", knob.name(), number(*value, 3))));
    words.join("  ")
}

/// The parameters, the score and the support vectors of a cell.
fn line(tuned: &Tuned, cell: &Cell) -> String {
    let mut text = setting(tuned, &cell.setting);
    let scores: Vec<f64> = cell.folds.iter().flatten().filter_map(|fold| fold.score).collect();
    if let Some(mean) = cell.mean {
        text.push_str(&format!("   {}", shown(&tuned.metric, mean)));
    } else if !scores.is_empty() {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        text.push_str(&format!(
            "   {} so far, in {} of {}",
            shown(&tuned.metric, mean),
            scores.len(),
            counted(tuned.splits, "split")
        ));
    }
    if let Some(se) = cell.se_rows.or(cell.se_folds) {
        text.push_str(&format!(" +- {}", value(&tuned.metric, se, 2)));
    }
    if let Some(support) = cell.support().filter(|support| *support > 0.0) {
        text.push_str(&format!("   {support:.0} support vectors"));
        if let Some(bounded) = cell.bounded() {
            text.push_str(&format!(", {bounded:.0} at the bound"));
        }
    }
    text
}

/// The cells of a part: a table of C and γ, or a list.
fn cells(page: &mut Page, tuned: &Tuned, part: usize) {
    let own: Vec<usize> = (0..tuned.cells.len()).filter(|&place| tuned.cells[place].setting.part == part).collect();
    let (costs, gammas) = (tuned.values(part, Knob::C), tuned.values(part, Knob::Gamma));
    let is_table = !costs.is_empty()
        && gammas.len() <= MOST_COLUMNS
        && own.iter().all(|&place| tuned.cells[place].setting.values.len() == 1 + usize::from(!gammas.is_empty()));
    let kernel = tuned.grid.parts.get(part).map_or("", |part| kernel_name(&part.kernel));
    let marks = ". not told apart from the best, = as the C before, < abandoned: at most this";
    if is_table {
        page.paragraph(&format!(
            "{kernel}: {}, the mean of {}; {marks}",
            tuned.metric.name(),
            counted(tuned.splits, "split")
        ));
        let columns: Vec<Option<f64>> =
            if gammas.is_empty() { vec![None] } else { gammas.iter().map(|&gamma| Some(gamma)).collect() };
        let mut rows = vec![vec![if gammas.is_empty() { "C".into() } else { "C \\ gamma".to_string() }]];
        rows[0].extend(columns.iter().map(|gamma| gamma.map_or_else(|| "score".into(), |gamma| number(gamma, 2))));
        for &cost in &costs {
            let mut row = vec![number(cost, 3)];
            for gamma in &columns {
                let is_it = |place: &&usize| {
                    let setting = &tuned.cells[**place].setting;
                    setting.value(Knob::C) == Some(cost) && setting.value(Knob::Gamma) == *gamma
                };
                row.push(own.iter().find(is_it).map_or_else(String::new, |&place| short(tuned, place)));
            }
            rows.push(row);
        }
        page.table(&rows);
        page.text("");
        return;
    }
    let mut listed: Vec<usize> = own.into_iter().filter(|&place| tuned.cells[place].mean.is_some()).collect();
    let sign = if tuned.metric.is_loss() { 1.0 } else { -1.0 };
    let key = |place: &usize| sign * tuned.cells[*place].mean.unwrap_or(f64::NAN);
    listed.sort_by(|a, b| key(a).total_cmp(&key(b)));
    page.paragraph(&format!(
        "{kernel}: {}, the mean of {}, the best first",
        tuned.metric.name(),
        counted(tuned.splits, "split")
    ));
    for &place in listed.iter().take(MOST_LISTED) {
        page.text(&format!("  {}", line(tuned, &tuned.cells[place])));
    }
    if listed.len() > MOST_LISTED {
        page.text(&format!("  and {} more", listed.len() - MOST_LISTED));
    }
    page.text("");
}

/// A score in a table, with its mark.
fn short(tuned: &Tuned, place: usize) -> String {
    let cell = &tuned.cells[place];
    match (cell.mean, cell.state) {
        (Some(mean), state) => {
            let mark = if tuned.not_told_apart.contains(&place) {
                "."
            } else if matches!(state, State::SameAs(_)) {
                "="
            } else {
                ""
            };
            format!("{}{mark:<1}", value(&tuned.metric, mean, 1))
        }
        (None, State::Abandoned) => {
            let lost: f64 = cell.folds.iter().flatten().filter_map(|fold| fold.score).map(|score| 1.0 - score).sum();
            format!("<{} ", value(&tuned.metric, 1.0 - lost / tuned.splits.max(1) as f64, 0))
        }
        (None, _) => "- ".into(),
    }
}
