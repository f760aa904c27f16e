//! Chores of the workspace: `cargo xtask test` is everything that must pass, `cargo xtask bench` runs us beside the peers.

mod bench;
mod command;
mod failure;
mod peers;
mod python;

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "\
usage: cargo xtask test                                      format, lints, every test, documentation, the peers
       cargo xtask bench kernel|formulations|linear|reading|growth|memory|out-of-core [OPTIONS]   beside the peers; see bench/README.md";

/// One thing that must pass.
struct Step {
    name: &'static str,
    /// The arguments of cargo.
    arguments: &'static [&'static str],
    /// A variable that cargo needs for it.
    variable: Option<(&'static str, &'static str)>,
}

const STEPS: [Step; 4] = [
    Step { name: "format", arguments: &["fmt", "--all", "--check"], variable: None },
    Step {
        name: "lints",
        arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "--deny", "warnings"],
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
        Some((chore, [])) if chore == "test" => test(&cargo),
        Some((chore, rest)) if chore == "bench" => match bench::bench(&cargo, rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("{failure}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs the steps in order and stops at the first that fails.
fn test(cargo: &str) -> ExitCode {
    for Step { name, arguments, variable } in STEPS {
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
    println!("== peers: tests/peers beside LIBSVM, LIBLINEAR and onnxruntime");
    let started = Instant::now();
    match peers::test() {
        Ok(()) => println!("== peers: passed in {:.0} s", started.elapsed().as_secs_f64()),
        Err(failure) => {
            println!("== peers: failed\n{failure}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
