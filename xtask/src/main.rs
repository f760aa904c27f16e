//! Chores of the workspace: `cargo xtask test` is everything that must pass, `cargo xtask truth` judges random problems by an oracle,
//! `cargo xtask bench` runs us beside the peers, `cargo xtask release` builds what is published.

mod bench;
mod browser;
mod command;
mod failure;
mod faults;
mod package;
mod peers;
mod python;
mod release;
mod truth;

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::failure::Failure;

const USAGE: &str = "\
usage: cargo xtask test [STEP...]                            format, lints, every test, documentation, the Python package, the peers
       cargo xtask truth [--seeds FROM..TO]                  is `converged` true? 2,000 random problems, judged by an oracle
       cargo xtask faults [--schedules N] [OPTIONS]          clusters that lose workers, schedulers and drivers; --help lists the options
       cargo xtask bench NAME [OPTIONS]                      beside the peers; the names are in bench/README.md
       cargo xtask release [--no-verify]                     builds and checks crates, wheel and source distribution; publishes nothing";

/// One thing that must pass.
struct Step {
    name: &'static str,
    /// The arguments of cargo.
    arguments: &'static [&'static str],
    /// A variable that cargo needs for it.
    variable: Option<(&'static str, &'static str)>,
}

const STEPS: [Step; 5] = [
    Step { name: "format", arguments: &["fmt", "--all", "--check"], variable: None },
    Step {
        name: "lints",
        arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "--deny", "warnings"],
        variable: None,
    },
    // The library of those who leave out threads, the interior-point solver and serde.
    Step {
        name: "features",
        arguments: &["check", "--package", "maxmargin", "--no-default-features", "--locked", "--quiet"],
        variable: None,
    },
    Step { name: "tests", arguments: &["test", "--workspace", "--locked"], variable: None },
    Step {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps", "--locked", "--quiet"],
        variable: Some(("RUSTDOCFLAGS", "--deny warnings")),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    match arguments.split_first() {
        Some((chore, names)) if chore == "test" && names.iter().all(|name| is_step(name)) => test(&cargo, names),
        Some((chore, rest)) if chore == "truth" => said(truth::truth(&cargo, rest)),
        Some((chore, rest)) if chore == "faults" => said(faults::faults(&cargo, rest)),
        Some((chore, rest)) if chore == "bench" => said(bench::bench(&cargo, rest)),
        Some((chore, rest)) if chore == "release" => said(release::release(&cargo, rest)),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Says what went wrong, if anything.
fn said(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The steps that are no single call of cargo.
const LARGER_STEPS: [&str; 3] = ["python", "peers", "browser"];

fn is_step(name: &str) -> bool {
    LARGER_STEPS.contains(&name) || STEPS.iter().any(|step| step.name == name)
}

/// Runs the steps in order, all of them or those that are named, and stops at the first that fails.
fn test(cargo: &str, names: &[String]) -> ExitCode {
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    for Step { name, arguments, variable } in STEPS.into_iter().filter(|step| wanted(step.name)) {
        println!("== {name}: cargo {}", arguments.join(" "));
        let started = Instant::now();
        let status = Command::new(cargo).args(arguments).envs(variable).status();
        match status {
            Ok(status) if status.success() => println!("== {name}: passed in {:.0} s", started.elapsed().as_secs_f64()),
            Ok(status) => {
                println!("== {name}: failed ({status})");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                println!("== {name}: cargo could not be started: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let python = || timed("python", "a wheel, a source distribution, and python/tests", || package::test(cargo));
    let peers = || timed("peers", "tests/peers beside LIBSVM, LIBLINEAR and onnxruntime", peers::test);
    let browser = || {
        timed("browser", "tests/browser: the page of the playground in Chromium", || {
            browser::test(cargo, wanted("python"))
        })
    };
    let passed = (!wanted("python") || python()) && (!wanted("peers") || peers()) && (!wanted("browser") || browser());
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a step that is no call of cargo, and says how it went.
fn timed(name: &str, what: &str, step: impl FnOnce() -> Result<(), Failure>) -> bool {
    println!("== {name}: {what}");
    let started = Instant::now();
    let result = step();
    match &result {
        Ok(()) => println!("== {name}: passed in {:.0} s", started.elapsed().as_secs_f64()),
        Err(failure) => println!("== {name}: failed\n{failure}"),
    }
    result.is_ok()
}
