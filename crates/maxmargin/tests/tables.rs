//! The tables of solvers in docs/manual.md and in rustdoc say what the library's own table says.
//!
//! After a change of it, `WRITE_TABLES=1 cargo test -p maxmargin --test tables` writes them anew.

use std::fs;
use std::path::PathBuf;

use maxmargin::problem::{Bias, Loss, Norm};
use maxmargin::solver::{Aim, Domain, PenaltyKind, SolverFacts, SolverKind};

/// Where the table stands: the file, and what each of its lines begins with.
const PLACES: [(&str, &str); 2] = [("../../docs/manual.md", ""), ("src/solver/mod.rs", "//! ")];

/// The lines of the table.
fn table() -> Vec<String> {
    let mut lines = vec![
        "| name | for | goes with | classes together | a checkpoint may lie | certificate |".to_string(),
        "| --- | --- | --- | --- | --- | --- |".to_string(),
    ];
    lines.extend(SolverKind::ALL.iter().map(|kind| row(kind.facts())));
    lines
}

fn row(facts: &SolverFacts) -> String {
    let domains: Vec<String> = facts.domains.iter().map(words).collect();
    let together = match facts.together {
        [] => "no".into(),
        losses if losses.len() == ALL_LOSSES.len() => "yes".into(),
        losses => format!("{} loss", listed(losses.iter().map(|loss| loss.name()))),
    };
    let checkpoint = if facts.beginnings.snapshot { "in a machine" } else { "between machines" };
    let certificate = match facts.aim {
        Aim::Minimum | Aim::NearMinimum => "yes",
        Aim::NoMinimum => "no objective",
        Aim::NotConvex(_) => "not convex",
    };
    let (name, purpose) = (facts.kind.name(), facts.purpose);
    format!("| `{name}` | {purpose} | {} | {together} | {checkpoint} | {certificate} |", domains.join("; "))
}

const ALL_LOSSES: [Loss; 3] = [Loss::Hinge, Loss::Squared, Loss::Logistic];
const ALL_BIASES: [Bias; 3] = [Bias::Explicit, Bias::Folded, Bias::None];

/// A domain in words.
fn words(domain: &Domain) -> String {
    let losses = if domain.losses.len() == ALL_LOSSES.len() {
        "any loss".into()
    } else {
        format!("{} loss", listed(domain.losses.iter().map(|loss| loss.name())))
    };
    let biases = if domain.biases.len() == ALL_BIASES.len() {
        "any bias".into()
    } else {
        format!("bias {}", listed(domain.biases.iter().map(|bias| bias.name())))
    };
    let mut parts = vec![
        if domain.any_kernel { "any kernel" } else { "linear" }.to_string(),
        losses,
        biases,
        listed(domain.tasks.iter().map(|task| task.name())),
    ];
    parts.extend((domain.norm == Norm::L1).then(|| "norm l1".to_string()));
    for (penalty, words) in
        [(PenaltyKind::Nu, "ν"), (PenaltyKind::Hard, "hard margin"), (PenaltyKind::None, "no penalty")]
    {
        parts.extend(domain.penalties.contains(&penalty).then(|| words.to_string()));
    }
    parts.join(", ")
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [names @ .., last] if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        names => names.join(""),
    }
}

/// The text with these lines between its two marks; `None` where it lacks one.
fn with_table(text: &str, prefix: &str, table: &[String]) -> Option<String> {
    let (begin, end) = (format!("{prefix}<!-- solvers -->\n"), format!("{prefix}<!-- /solvers -->\n"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    let lines: String = table.iter().map(|line| format!("{prefix}{line}\n")).collect();
    Some(format!("{before}{begin}{lines}{end}{after}"))
}

#[test]
fn readme_and_rustdoc_have_the_table_of_solvers() {
    for (name, prefix) in PLACES {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
        let text = fs::read_to_string(&path).unwrap();
        let wanted = with_table(&text, prefix, &table()).unwrap_or_else(|| panic!("{name} has no marks"));
        if std::env::var_os("WRITE_TABLES").is_some() {
            fs::write(&path, &wanted).unwrap();
        } else {
            let lines = table().join("\n");
            assert!(text == wanted, "the table in {name} is old; WRITE_TABLES=1 writes this one:\n{lines}");
        }
    }
}

#[test]
fn a_table_that_was_changed_by_hand_is_found() {
    let table = table();
    let text = with_table("a\n<!-- solvers -->\n<!-- /solvers -->\nb\n", "", &table).unwrap();
    assert_eq!(with_table(&text, "", &table).as_ref(), Some(&text));
    assert_ne!(with_table(&text.replace("`smo`", "`sum`"), "", &table).unwrap(), text.replace("`smo`", "`sum`"));
    assert_eq!(with_table("no marks", "", &table), None);
}
