//! `cargo xtask bench`: builds the program, sets up the peers, and hands over to the Python of `bench/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser;
use crate::command::{program, root, run, target, text_of};
use crate::failure::Failure;
use crate::python::{environment, pip};

/// The benchmarks: a script of `bench/` each.
const BENCHMARKS: &[&str] = &[
    "ablation",
    "kernel",
    "formulations",
    "linear",
    "commands",
    "python",
    "small",
    "reading",
    "growth",
    "landmarks",
    "memory",
    "out-of-core",
    "tuning",
    "cluster",
];
/// Those that measure the Python package.
const OF_THE_PACKAGE: [&str; 3] = ["python", "small", "cluster"];

/// Come as source and are compiled here, so that they are as fast as on the machine of one who cares.
const COMPILED: &str = "libsvm-official,liblinear-official,liblinear-multicore";
/// Their sources are kept as well: programs of the benchmarks are compiled with them (`bench/programs.py`).
const SOURCES_KEPT: &str = "liblinear";
const COMPILER_FLAGS: &str = "-O3 -march=native";

/// Runs the benchmark that the first argument names with the other arguments.
pub(crate) fn bench(cargo: &str, arguments: &[String]) -> Result<(), Failure> {
    if arguments.first().is_some_and(|name| name == "play") {
        return play(cargo);
    }
    let Some((name, options)) = arguments.split_first().filter(|(name, _)| BENCHMARKS.contains(&name.as_str())) else {
        return Err(Failure::new(
            "no benchmark is named",
            format!("name one of {}, play; --help after it lists its options", BENCHMARKS.join(", ")),
        ));
    };
    let root = root()?;
    let folder = root.join("bench");
    let program = build(cargo, &root)?;
    let python = peers(&folder)?;
    if OF_THE_PACKAGE.contains(&name.as_str()) {
        package(&python, &root)?;
    }
    let mut command = Command::new(python);
    command.arg(folder.join(format!("{name}.py"))).arg("--maxmargin").arg(program).args(options);
    run(&mut command, "see the message above; --help after the benchmark's name lists its options")
}

/// Measures the playground in the browser that its tests use.
fn play(cargo: &str) -> Result<(), Failure> {
    let root = root()?;
    let program = build(cargo, &root)?;
    let chromium = browser::browser()?;
    browser::packages(&root.join("tests/browser"))?;
    let mut command = Command::new("node");
    command.arg(root.join("bench/play.mjs")).env("MAXMARGIN", program).env("CHROMIUM", chromium);
    run(&mut command, "see the message above")
}

/// Installs our package beside the peers, built with optimisation.
fn package(python: &Path, root: &Path) -> Result<(), Failure> {
    let target = target()?;
    pip(python, "install", |command| {
        command.args(["--no-deps", "--force-reinstall"]).arg(root.join("python")).env("CARGO_TARGET_DIR", target)
    })
}

/// Builds the program with optimisation and says where it is.
fn build(cargo: &str, root: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--release", "--locked", "--package", "maxmargin-cli"]);
    run(&mut command, "see the messages above")?;
    program("release")
}

/// The Python of an environment with the peers in their pinned versions, set up when it is missing or out of date.
fn peers(folder: &Path) -> Result<PathBuf, Failure> {
    let own = folder.join(".venv");
    let requirements = folder.join("requirements.txt");
    // A package of the same name as one of the others: it gets a folder of its own.
    let multicore = folder.join("requirements-multicore.txt");
    let wanted = text_of(&requirements)? + &text_of(&multicore)?;
    environment(&own, &wanted, |python| {
        compiled(python, "install", |command| command.arg("--requirement").arg(&requirements))?;
        compiled(python, "install", |command| {
            command.arg("--no-deps").arg("--target").arg(own.join("multicore")).arg("--requirement").arg(&multicore)
        })?;
        let sources = wanted.lines().filter(|line| line.starts_with(SOURCES_KEPT));
        compiled(python, "download", |command| {
            command.arg("--no-deps").arg("--dest").arg(own.join("sources")).args(sources)
        })
    })
}

/// Runs a subcommand of pip; what is compiled is compiled with optimisation.
fn compiled(python: &Path, subcommand: &str, more: impl FnOnce(&mut Command) -> &mut Command) -> Result<(), Failure> {
    pip(python, subcommand, |command| {
        // A package compiled earlier with other flags must not come out of pip's cache.
        more(command)
            .args(["--no-binary", COMPILED, "--no-cache-dir"])
            .env("CFLAGS", COMPILER_FLAGS)
            .env("CXXFLAGS", COMPILER_FLAGS)
    })
}
