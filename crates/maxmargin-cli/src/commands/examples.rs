//! `examples`: the worked examples, expected beside obtained.

use std::fs;
use std::path::Path;

use maxmargin::worked::{self, Example};
use maxmargin::{Unattended, Workers};
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
    let sketches = arguments.plot.as_deref().map(|folder| sketches(folder, &ids)).transpose()?;
    let mut done: Vec<Example> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let example = worked::run(id, &workers, &mut Unattended)?;
        if !arguments.json {
            output::print(&page(&example))?;
        }
        done.push(example);
        if let Some(sketch) = sketches.as_ref().and_then(|sketches| sketches.get(place)) {
            draw(id, sketch, &workers)?;
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

/// Where the pictures go, found to be writable before the work starts.
fn sketches(folder: &Path, ids: &[&str]) -> Result<Vec<Sketch>, Failure> {
    if !folder.exists() {
        fs::create_dir(folder).map_err(|error| {
            let folder = maxmargin::error::quoted(&folder.to_string_lossy());
            Failure::new(
                format!("cannot make the folder {folder}: {}", output::reason(&error)),
                "make it first, or choose another one",
            )
        })?;
    }
    ids.iter().map(|id| Sketch::new(&folder.join(format!("{}.svg", id.to_lowercase())), &[], None)).collect()
}

fn draw(id: &str, sketch: &Sketch, workers: &Workers) -> Result<(), Failure> {
    let Some((data, params)) = worked::figure(id) else { return Ok(()) };
    let model = params.check()?.fit(&data, workers, &mut Unattended)?;
    picture::draw(sketch, &model, Some(&data), workers)?;
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
