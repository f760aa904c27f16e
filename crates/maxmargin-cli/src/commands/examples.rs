//! `examples`: the worked examples, expected beside obtained.

use std::path::Path;

use maxmargin::worked::{self, Example};
use maxmargin::{Unattended, Workers};
use maxmargin_plot::{FIGURES, Figure};
use serde_json::json;

use crate::arguments::Examples;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::output;
use crate::picture::{self, Sketch};
use crate::report::{Page, json_line};

/// Runs the examples asked for, each reported as soon as it is done.
pub(super) fn run(arguments: &Examples) -> Result<ExitCode, Failure> {
    let ids = ids(&arguments.ids)?;
    let workers = Workers::new(arguments.threads)?;
    let drawings = match &arguments.plot {
        Some(folder) => drawings(folder, &ids, &arguments.theme)?,
        None => Vec::new(),
    };
    let mut done: Vec<Example> = Vec::new();
    for id in &ids {
        let example = worked::run(id, &workers, &mut Unattended)?;
        if !arguments.json {
            output::print(&page(&example))?;
        }
        done.push(example);
        for drawing in drawings.iter().filter(|drawing| drawing.figure.example == *id) {
            draw(drawing, &workers)?;
        }
    }
    let all = done.iter().all(Example::holds);
    let checks: usize = done.iter().map(|example| example.checks.len()).sum();
    let wrong = done.iter().flat_map(|example| &example.checks).filter(|check| !check.holds()).count();
    if arguments.json {
        output::print(&json_line(&json!({ "holds": all, "checks": checks, "wrong": wrong, "examples": done })))?;
    } else {
        output::print(&match wrong {
            0 => format!("all {checks} numbers of {} examples match\n", done.len()),
            _ => format!("{wrong} of {checks} numbers do not match\n"),
        })?;
    }
    Ok(if all { ExitCode::Done } else { ExitCode::NotAsAsked })
}

/// The examples asked for, all when none is.
fn ids(asked: &[String]) -> Result<Vec<&'static str>, Failure> {
    if asked.is_empty() {
        return Ok(worked::ids().to_vec());
    }
    asked
        .iter()
        .map(|id| {
            worked::ids().into_iter().find(|known| known.eq_ignore_ascii_case(id)).ok_or_else(|| {
                Failure::new(
                    format!("there is no example {}", maxmargin::error::quoted(id)),
                    format!("the examples are {}", worked::ids().join(", ")),
                )
            })
        })
        .collect()
}

/// A figure of an example, and where it goes.
struct Drawing {
    figure: Figure,
    sketch: Sketch,
}

/// Where the figures of the examples go, found to be writable before the work starts.
fn drawings(folder: &Path, ids: &[&str], theme: &str) -> Result<Vec<Drawing>, Failure> {
    picture::make_folder(folder)?;
    let figures = FIGURES.iter().filter(|figure| ids.contains(&figure.example));
    figures
        .map(|&figure| {
            let mut sketch = Sketch::new(&folder.join(format!("{}.svg", figure.name)), &[], None)?;
            sketch.options.theme = picture::theme(theme);
            Ok(Drawing { figure, sketch })
        })
        .collect()
}

fn draw(Drawing { figure, sketch }: &Drawing, workers: &Workers) -> Result<(), Failure> {
    sketch.save(&figure.draw(&sketch.options, workers)?)?;
    output::say(&format!("wrote {}", sketch.target.shown()));
    Ok(())
}

fn page(example: &Example) -> String {
    let mut page = Page::new();
    page.text(&format!("{}  {}", example.id, example.title));
    page.paragraph(example.shows);
    page.text("");
    let mut rows = vec![["what", "solver", "expected", "obtained", "match"].map(String::from).to_vec()];
    for check in &example.checks {
        let solver = check.solver.map_or_else(|| "-".into(), String::from);
        let verdict = if check.holds() { "yes" } else { "NO" };
        rows.push(vec![check.what.clone(), solver, check.expected(), check.obtained(), verdict.into()]);
    }
    page.table(&rows);
    page.text("");
    page.finish()
}
