//! `cargo xtask bench`: builds the program, sets up the peers, and hands over to the Python of `bench/`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The benchmarks: a script of `bench/` each.
const BENCHMARKS: [&str; 3] = ["kernel", "growth", "memory"];

/// Comes as source and is compiled here, so that it is as fast as on the machine of one who cares.
const COMPILED: &str = "libsvm-official";
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
    let wanted = fs::read_to_string(&requirements).map_err(|error| {
        Failure::new(format!("{} cannot be read: {error}", requirements.display()), "restore it with git checkout")
    })?;
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

    let mut command = Command::new(&python);
    command
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arg(&requirements);
    // A package compiled earlier with other flags must not come out of pip's cache.
    command
        .args(["--no-binary", COMPILED, "--no-cache-dir"])
        .env("CFLAGS", COMPILER_FLAGS)
        .env("CXXFLAGS", COMPILER_FLAGS);
    run(&mut command, "the peers need Python 3.11 or later, a C++ compiler and a package index")?;
    fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", stamp.display()), "look at the disk"))?;
    Ok(python)
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
