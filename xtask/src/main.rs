//! Chores of the workspace: `cargo xtask test` is everything that must pass.

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "usage: cargo xtask test    format, lints, every test, documentation";

/// The steps of `test`: what is checked, the arguments of cargo, and what its environment needs.
const STEPS: [(&str, &[&str], Option<(&str, &str)>); 4] = [
    ("format", &["fmt", "--all", "--check"], None),
    ("lints", &["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "--deny", "warnings"], None),
    ("tests", &["test", "--workspace", "--locked"], None),
    (
        "documentation",
        &["doc", "--workspace", "--no-deps", "--locked", "--quiet"],
        Some(("RUSTDOCFLAGS", "--deny warnings")),
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test(),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs the steps in order and stops at the first that fails.
fn test() -> ExitCode {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    for (name, arguments, variable) in STEPS {
        println!("== {name}: cargo {}", arguments.join(" "));
        let started = Instant::now();
        let status = Command::new(&cargo).args(arguments).envs(variable).status();
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
    ExitCode::SUCCESS
}
