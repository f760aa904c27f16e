//! Labels that can hardly be classes.

use maxmargin::data::{Label, Labels};
use maxmargin::diagnosis::{Finding, look_like_amounts, of_labels};
use maxmargin::error::quoted;

use crate::arguments::Train;
use crate::failure::Failure;
use crate::output::Words;
use crate::report::counted;

/// Classes up to which a class of a single row is only warned of.
const MOST_SINGLES: usize = 20;

/// Rows below which a class of a single row is no news.
const FEWEST_ROWS: usize = 10;

/// Refuses labels that look like amounts, or of which most rows have one of their own, unless it was said that they are classes. Warns of what
/// is trained all the same.
///
/// # Errors
/// With the ways out.
pub(super) fn check(
    arguments: &Train,
    labels: &Labels,
    words: Words,
    warnings: &mut Vec<String>,
) -> Result<(), Failure> {
    let (classes, rows) = (labels.classes().len(), labels.len());
    let findings = of_labels(labels);
    if are_classes(arguments) {
        if findings.iter().any(|finding| matches!(finding, Finding::NumericLabels { .. })) {
            let what = format!("{classes} different numbers in {} are learnt as classes", counted(rows, "row"));
            warn(what, "learn them as amounts: --task regression", words, warnings);
        }
    } else if let Some((what, help)) = refusal(labels, &findings) {
        return Err(Failure::new(what, help));
    }
    if let Some((count, class)) = singles(&findings).filter(|_| rows >= FEWEST_ROWS) {
        let first = quoted(labels.classes()[class].text());
        let what = match count {
            1 => format!("the class {first} has one row"),
            _ => format!("{count} classes have one row each, the first is {first}"),
        };
        warn(what, "give more rows of it, or leave it out: nothing can be learnt of it and tested on", words, warnings);
    }
    Ok(())
}

/// Why labels of which nothing else was said are not trained on, if they are not; and the ways out.
pub(in crate::commands) fn refusal(labels: &Labels, findings: &[Finding]) -> Option<(String, String)> {
    let classes = labels.classes().len();
    if look_like_amounts(labels.classes(), labels.len()) {
        return Some(are_amounts(classes, labels.len()));
    }
    let (count, _) = singles(findings).filter(|(count, _)| classes > MOST_SINGLES && 2 * count >= classes)?;
    let what = format!("{count} of the {classes} labels have one row each, and no class can be learnt of one row");
    Some((what, ways_out("if they are classes all the same: --task classification")))
}

/// How many classes have one row, and the first of them.
fn singles(findings: &[Finding]) -> Option<(usize, usize)> {
    findings.iter().find_map(|finding| match *finding {
        Finding::SingleRows { count, class } => Some((count, class)),
        _ => None,
    })
}

/// Refuses labels that look like amounts, unless it was said that they are classes.
///
/// # Errors
/// With the ways out.
pub(super) fn check_classes(arguments: &Train, classes: &[Label], rows: usize) -> Result<(), Failure> {
    if are_classes(arguments) || !look_like_amounts(classes, rows) {
        return Ok(());
    }
    let (what, help) = are_amounts(classes.len(), rows);
    Err(Failure::new(what, help))
}

fn are_amounts(classes: usize, rows: usize) -> (String, String) {
    let what =
        format!("the labels are {classes} different numbers in {}: amounts rather than classes", counted(rows, "row"));
    (what, ways_out("to learn amounts: --task regression; if they are classes: --task classification"))
}

/// Whether it was said that the labels are classes.
fn are_classes(arguments: &Train) -> bool {
    arguments.task.is_some() || arguments.positive.is_some()
}

fn ways_out(first: &str) -> String {
    format!("{first}; if the label is another column: --label COLUMN")
}

fn warn(what: String, help: &str, words: Words, warnings: &mut Vec<String>) {
    words.warning(&what, help);
    warnings.push(format!("{what}; {help}"));
}
