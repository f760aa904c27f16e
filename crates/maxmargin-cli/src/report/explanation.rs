//! What `explain` reports, as words and as JSON.

use maxmargin::Model;
use maxmargin::review::{Explanation, Reason, TermSource};
use maxmargin::view::{ExplainedRow, ExplanationView};

use super::machines::title;
use super::{Page, counted, number};
use crate::output::short;

/// A row, explained.
#[derive(Debug)]
pub(crate) struct Explained {
    /// The row, counted from 1.
    pub(crate) number: u64,
    /// What the data says of it.
    pub(crate) label: Option<String>,
    pub(crate) found: Explanation,
}

/// The page.
pub(crate) fn words(model: &Model, explained: &[Explained]) -> String {
    let mut page = Page::new();
    for (place, one) in explained.iter().enumerate() {
        if place > 0 {
            page.text("");
        }
        row_words(&mut page, model, one);
    }
    page.finish()
}

fn row_words(page: &mut Page, model: &Model, Explained { number: row, label, found }: &Explained) {
    let label = label.as_ref().map_or_else(String::new, |label| format!(", label {}", short(label)));
    page.line("row", &format!("{row}{label}"));
    let Explanation { code, values, votes, lead, reasons, .. } = found;
    let class = |code: u32| short(model.label(code).text());
    page.line("predicted", &code.map_or_else(|| number(values.first().copied().unwrap_or(f64::NAN), 8), class));
    if let Some(votes) = votes {
        let mut all: Vec<(usize, usize)> = votes.iter().copied().enumerate().filter(|(_, votes)| *votes > 0).collect();
        all.sort_by_key(|&(_, votes)| std::cmp::Reverse(votes));
        let all = all.into_iter().map(|(code, votes)| format!("{} {votes}", class(code as u32)));
        page.line("votes", &maxmargin::error::listed(all.collect::<Vec<_>>().into_iter(), 8));
    }
    if let Some(lead) = lead {
        let distance = lead.distance.map_or_else(String::new, |distance| {
            format!("; the boundary between the two is {} away, {}", number(distance, 6), ExplanationView::space(model))
        });
        page.line("lead", &format!("{} over {}{distance}", number(lead.value, 6), class(lead.rival)));
    }
    for reason in reasons {
        page.text("");
        reason_words(page, model, reason);
    }
    if reasons.len() < values.len() {
        page.text("");
        page.text(&format!("{} more: see --all", counted(values.len() - reasons.len(), "machine")));
    }
}

fn reason_words(page: &mut Page, model: &Model, reason: &Reason) {
    let machine = &model.machines()[reason.machine];
    page.text(&title(model, machine));
    page.line("  value", &format!("{} = {} terms + bias", number(reason.value, 8), reason.count));
    page.line("  bias", &number(reason.bias, 6));
    if let Some(own) = reason.own {
        page.line("  ball", &format!("{}: the row's own kernel value, taken off", number(own, 6)));
    }
    if let Some(distance) = reason.distance {
        page.line("  distance", &format!("{} to the boundary, {}", number(distance, 6), ExplanationView::space(model)));
    }
    let linear = model.recipe().kernel.is_linear();
    let head = match linear {
        true => ["  column", "weight", "value", "term", "share"],
        false => ["  training row", "coefficient", "kernel value", "term", "share"],
    };
    let mut rows = vec![head.map(String::from).to_vec()];
    for term in &reason.terms {
        let name = match term.source {
            TermSource::Column(column) => short(&column_name(model, column)),
            TermSource::TrainingRow(row) => (row + 1).to_string(),
        };
        rows.push(vec![
            format!("  {name}"),
            number(term.coefficient, 6),
            number(term.value, 6),
            number(term.term, 6),
            format!("{:.1} %", 100.0 * term.share),
        ]);
    }
    if reason.count > reason.terms.len() {
        let (shown, share) =
            reason.terms.iter().fold((0.0, 0.0), |(sum, share), term| (sum + term.term, share + term.share));
        rows.push(vec![
            format!("  {} more", reason.count - reason.terms.len()),
            String::new(),
            String::new(),
            number(reason.sum - shown, 6),
            format!("{:.1} %", 100.0 * (1.0 - share).max(0.0)),
        ]);
    }
    if rows.len() > 1 {
        page.table(&rows);
    }
}

/// The name of a column, or its number counted from 1.
fn column_name(model: &Model, column: usize) -> String {
    let names = model.parts().names.as_ref();
    names.and_then(|names| names.get(column).cloned()).unwrap_or_else(|| (column + 1).to_string())
}

/// What `explain --json` prints.
pub(crate) fn view<'a>(model: &'a Model, explained: &'a [Explained]) -> ExplanationView<'a> {
    let row = |one: &'a Explained| ExplainedRow::new(model, one.number, one.label.as_deref(), &one.found);
    ExplanationView::new(model, explained.iter().map(row).collect())
}
