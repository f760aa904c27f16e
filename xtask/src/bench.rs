//! `cargo xtask bench`: builds the program, sets up the peers, and hands over to the Python of `bench/`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The benchmarks: a script of `bench/` each.
const BENCHMARKS: [&str; 6] = ["kernel", "linear", "reading", "growth", "memory", "out-of-core"];

/// Come as source and are compiled here, so that they are as fast as on the machine of one who cares.
const COMPILED: &str = "libsvm-official,liblinear-official,liblinear-multicore";
/// Their sources are kept as well: programs of the benchmarks are compiled with them (`bench/programs.py`).
const SOURCES_KEPT: &str = "liblinear";
const COMPILER_FLAGS: &str = "-O3 -march=native";

/// Runs the benchmark that the first argument names with the other arguments.
pub(crate) fn bench(cargo: &str, arguments: &[String]) -> Result<(), Failure> {
    let Some((name, options)) = arguments.split_first().filter(|(name, _)| BENCHMARKS.contains(&name.as_str())) else {
        return Err(Failure::new(
            "no benchmark is named",
            format!("name one of {}; --help after it lists its options", BENCHMARKS.join(", ")),
        ));
    };
    let root = root()?;
    let folder = root.join("bench");
    let program = build(cargo, &root)?;
    let python = peers(&folder)?;
    let mut command = Command::new(python);
    command.arg(folder.join(format!("{name}.py"))).arg("--maxmargin").arg(program).args(options);
    run(&mut command, "see the message above; --help after the benchmark's name lists its options")
}

/// The folder of the workspace.
fn root() -> Result<PathBuf, Failure> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(Path::to_path_buf)
        .ok_or_else(|| Failure::new("the workspace has no folder", "run it from a clone"))
}

/// Builds the program with optimisation and says where it is.
fn build(cargo: &str, root: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--release", "--locked", "--package", "maxmargin-cli"]);
    run(&mut command, "see the messages above")?;
    // This program is in <target>/<profile>, wherever the target folder was put.
    let own = env::current_exe().map_err(|error| Failure::new(format!("own path unknown: {error}"), "try again"))?;
    let program =
        own.ancestors().nth(2).map(|target| target.join(format!("release/maxmargin{}", env::consts::EXE_SUFFIX)));
    program.filter(|program| program.is_file()).ok_or_else(|| {
        Failure::new(
            format!("the program was built, but not beside {}", own.display()),
            "start it as cargo xtask bench, with one target folder for everything",
        )
    })
}

/// The Python of an environment with the peers in their pinned versions, set up when it is missing or out of date.
fn peers(folder: &Path) -> Result<PathBuf, Failure> {
    let environment = folder.join(".venv");
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let requirements = folder.join("requirements.txt");
    // A package of the same name as one of the others: it gets a folder of its own.
    let multicore = folder.join("requirements-multicore.txt");
    let wanted = text_of(&requirements)? + &text_of(&multicore)?;
    // Written last: an environment without it is unfinished.
    let stamp = environment.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }

    println!("== setting up the peers in {}", environment.display());
    let creator = env::var_os("PYTHON").unwrap_or_else(|| if cfg!(windows) { "python" } else { "python3" }.into());
    let mut command = Command::new(creator);
    command.args(["-m", "venv", "--clear"]).arg(&environment);
    run(&mut command, "install Python 3.11 or later, or name it in the variable PYTHON")?;

    pip(&python, "install", |command| command.arg("--requirement").arg(&requirements))?;
    pip(&python, "install", |command| {
        command.arg("--no-deps").arg("--target").arg(environment.join("multicore")).arg("--requirement").arg(&multicore)
    })?;
    let sources = wanted.lines().filter(|line| line.starts_with(SOURCES_KEPT));
    pip(&python, "download", |command| {
        command.arg("--no-deps").arg("--dest").arg(environment.join("sources")).args(sources)
    })?;
    fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", stamp.display()), "look at the disk"))?;
    Ok(python)
}

/// The text of a file of the repository.
fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("{} cannot be read: {error}", path.display()), "restore it with git checkout")
    })
}

/// Runs a subcommand of pip with more arguments; what is compiled is compiled with optimisation.
fn pip(python: &Path, subcommand: &str, more: impl FnOnce(&mut Command) -> &mut Command) -> Result<(), Failure> {
    let mut command = Command::new(python);
    command.args(["-m", "pip", subcommand, "--quiet", "--disable-pip-version-check"]);
    // A package compiled earlier with other flags must not come out of pip's cache.
    command
        .args(["--no-binary", COMPILED, "--no-cache-dir"])
        .env("CFLAGS", COMPILER_FLAGS)
        .env("CXXFLAGS", COMPILER_FLAGS);
    run(more(&mut command), "the peers need Python 3.11 or later, a C++ compiler and a package index")
}

/// Runs a command to its end.
fn run(command: &mut Command, help: &str) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let shown: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let shown = format!("{name} {}", shown.join(" "));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("{shown}: {status}"), help)),
        Err(error) => Err(Failure::new(format!("{name} could not be started: {error}"), help)),
    }
}
