//! Every formula of the code stands once in `docs/mathematics.md`, under a number that means nothing else.
#![allow(clippy::unwrap_used)] // all of this file is tests

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const BOOK: &str = "docs/mathematics.md";

/// Where numbers of formulas are defined and used.
const PLACES: [&str; 10] = [
    "crates",
    "python",
    "xtask",
    "bench",
    "docs",
    "tests",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "CHANGELOG.md",
];

/// A file of the workspace: its path from the root, and its text.
struct Source {
    path: String,
    text: String,
}

/// A formula: its text, and the files that define it.
#[derive(Debug, Default)]
struct Formula {
    text: String,
    files: Vec<String>,
}

type Formulas = BTreeMap<String, Formula>;

/// The number at the end of a line, such as `D.4` of `α ← α + t     (D.4)`, and what stands before it.
fn number_at_end(line: &str) -> Option<(&str, &str)> {
    let (before, number) = line.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let apart = before.is_empty() || before.ends_with("  ");
    (apart && is_number(number)).then_some((before, number))
}

/// Whether a word is a number of a formula: one to three capitals or digits, a point, digits, perhaps a letter.
fn is_number(word: &str) -> bool {
    let Some((family, place)) = word.split_once('.') else { return false };
    let digits = place.trim_end_matches(|c: char| c.is_ascii_lowercase());
    family.len() <= 3
        && family.starts_with(|c: char| c.is_ascii_uppercase())
        && family.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && place.len() <= digits.len() + 1
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit())
}

/// All numbers in brackets: the formulas that a text refers to, and those that it defines.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split('(').skip(1).filter_map(|rest| rest.split_once(')')).map(|(word, _)| word).filter(|word| is_number(word))
}

/// A line of a source as a line of its documentation; `None` where it is code. A page of the book is documentation throughout.
fn documentation<'a>(line: &'a str, path: &str) -> Option<&'a str> {
    if path.ends_with(".md") {
        return Some(line);
    }
    let line = line.trim_start();
    line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))
}

/// The formulas of a source: in each block of text, the lines up to one that ends with a number; the last takes what follows it.
fn add_definitions(source: &Source, formulas: &mut Formulas) {
    let mut block: Option<Vec<&str>> = None;
    for line in source.text.lines() {
        let said = documentation(line, &source.path);
        match (said.map(str::trim), block.as_mut()) {
            (Some("```text"), None) => block = Some(Vec::new()),
            (Some("```"), Some(_)) | (None, Some(_)) => {
                add_block(&block.take().unwrap_or_default(), &source.path, formulas);
            }
            (Some(_), Some(lines)) => lines.extend(said),
            _ => {}
        }
    }
}

fn add_block(lines: &[&str], path: &str, formulas: &mut Formulas) {
    let mut text = String::new();
    let mut last = None;
    for line in lines {
        let Some((before, number)) = number_at_end(line) else {
            push_words(&mut text, line);
            continue;
        };
        push_words(&mut text, before);
        let formula = formulas.entry(number.into()).or_default();
        formula.text = std::mem::take(&mut text);
        formula.files.push(path.into());
        last = Some(number);
    }
    if let Some(formula) = last.and_then(|number| formulas.get_mut(number)) {
        push_words(&mut formula.text, &text);
    }
}

/// Adds words with one blank between them, so that only the words of two texts are compared.
fn push_words(text: &mut String, line: &str) {
    for word in line.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// For each number of the book the file that it says computes the formula: ``Code: `path`.`` after the block.
fn said_files(book: &str) -> BTreeMap<String, String> {
    let mut waiting: Vec<String> = Vec::new();
    let mut found = BTreeMap::new();
    for line in book.lines() {
        waiting.extend(number_at_end(line).map(|(_, number)| number.to_string()));
        let Some((_, rest)) = line.split_once("Code: `") else { continue };
        let path = rest.split_once('`').map_or(rest, |(path, _)| path);
        let path = if path.starts_with("crates/") { path.into() } else { format!("crates/maxmargin/src/{path}") };
        found.extend(waiting.drain(..).map(|number| (number, path.clone())));
    }
    found
}

/// What is wrong between the book and the code; empty when nothing is.
fn faults(book: &Source, code: &[Source]) -> Vec<String> {
    let (mut told, mut computed) = (Formulas::new(), Formulas::new());
    add_definitions(book, &mut told);
    code.iter().for_each(|source| add_definitions(source, &mut computed));
    let files = said_files(&book.text);
    let mut faults = Vec::new();
    for (number, formula) in told.iter().chain(&computed) {
        if formula.files.len() > 1 {
            faults.push(format!("({number}) is defined {} times: {}", formula.files.len(), formula.files.join(", ")));
        }
    }
    for (number, formula) in &computed {
        let file = formula.files.first().map_or("", String::as_str);
        match told.get(number) {
            None => faults.push(format!("({number}) of {file} is not in {BOOK}")),
            Some(other) if other.text != formula.text => {
                faults.push(format!("({number}) is `{}` in {file} and `{}` in {BOOK}", formula.text, other.text));
            }
            Some(_) if files.get(number).is_none_or(|said| said != file) => {
                faults.push(format!("({number}) is computed in {file}, which {BOOK} does not say"));
            }
            Some(_) => {}
        }
    }
    let left = told.keys().filter(|&number| !computed.contains_key(number));
    faults.extend(left.map(|number| format!("({number}) of {BOOK} is computed nowhere")));
    for source in code.iter().chain([book]) {
        let unknown: BTreeSet<&str> = numbers(&source.text).filter(|&number| !told.contains_key(number)).collect();
        faults.extend(unknown.iter().map(|number| format!("{} refers to ({number}), which {BOOK} lacks", source.path)));
    }
    faults
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn add_sources(path: &Path, found: &mut Vec<Source>) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if path.is_dir() {
        if matches!(name, "target" | "node_modules" | ".venv") {
            return;
        }
        let mut entries: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| add_sources(entry, found));
    } else if [".rs", ".py", ".md"].iter().any(|end| name.ends_with(end)) && !path.ends_with("xtask/tests/formulas.rs")
    {
        let shown = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        found.push(Source { path: shown, text: fs::read_to_string(path).unwrap() });
    }
}

/// The book, and everything else that may define or use a formula.
fn workspace() -> (Source, Vec<Source>) {
    let mut sources = Vec::new();
    PLACES
        .iter()
        .map(|place| root().join(place))
        .filter(|path| path.exists())
        .for_each(|path| add_sources(&path, &mut sources));
    let place = sources.iter().position(|source| source.path == BOOK).expect("the book of formulas");
    let book = sources.remove(place);
    (book, sources)
}

#[test]
fn every_formula_of_the_code_stands_once_in_the_book_and_every_reference_resolves() {
    let (book, code) = workspace();
    assert!(numbers(&book.text).count() > 150, "the book has lost its formulas");
    let faults = faults(&book, &code);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

const PAGE: &str =
    "```text\na = b   (A.1)\n```\n\nCode: `one.rs`.\n\n```text\nc = d\n+ e     (A.2)\n```\n\nCode: `one.rs`.\n";
const CODE: &str = "//! ```text\n//! a = b        (A.1)\n//! c = d\n//! + e  (A.2)\n//! ```\nfn f() {} // (A.1)\n";

fn faults_of(page: &str, code: &[(&str, &str)]) -> Vec<String> {
    let source = |&(path, text): &(&str, &str)| Source { path: path.into(), text: text.into() };
    let code: Vec<Source> = code.iter().map(source).collect();
    faults(&source(&(BOOK, page)), &code)
}

#[test]
fn a_page_that_agrees_with_its_code_has_no_fault() {
    assert_eq!(faults_of(PAGE, &[("crates/maxmargin/src/one.rs", CODE)]), [""; 0]);
}

#[test]
fn each_kind_of_fault_is_found() {
    let one = "crates/maxmargin/src/one.rs";
    type Case = (&'static str, String, Vec<(&'static str, String)>);
    let cases: [Case; 7] = [
        ("is defined 2 times", PAGE.into(), vec![(one, CODE.into()), ("crates/two.rs", CODE.replace("c = d", ""))]),
        ("is defined 2 times", format!("{PAGE}{PAGE}"), vec![(one, CODE.into())]),
        ("is `a = b` in", PAGE.replace("a = b", "a = b + 1"), vec![(one, CODE.into())]),
        ("is not in", PAGE.replace("(A.2)", ""), vec![(one, CODE.into())]),
        ("is computed nowhere", PAGE.into(), vec![(one, CODE.replace("  (A.2)", ""))]),
        ("refers to (A.3)", PAGE.into(), vec![(one, CODE.replace("// (A.1)", "// (A.3)"))]),
        ("does not say", PAGE.replace("`one.rs`", "`two.rs`"), vec![(one, CODE.into())]),
    ];
    for (expected, page, code) in cases {
        let code: Vec<(&str, &str)> = code.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let found = faults_of(&page, &code);
        assert!(found.iter().any(|fault| fault.contains(expected)), "{expected}: {found:?}");
    }
}
