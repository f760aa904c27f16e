//! Environments of Python with packages in pinned versions, set up when they are missing or out of date.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::run;
use crate::failure::Failure;

/// Where the interpreter of an environment is.
pub(crate) fn interpreter(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// The Python of an environment in `folder`, set up by `install` unless what it holds is `wanted` already.
pub(crate) fn environment(
    folder: &Path,
    wanted: &str,
    install: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<PathBuf, Failure> {
    let python = interpreter(folder);
    // Written last: an environment without it is unfinished.
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    println!("== setting up Python packages in {}", folder.display());
    let creator = env::var_os("PYTHON").unwrap_or_else(|| if cfg!(windows) { "python" } else { "python3" }.into());
    let mut command = Command::new(creator);
    command.args(["-m", "venv", "--clear"]).arg(folder);
    run(&mut command, "install Python 3.11 or later (Debian: python3-venv), or name it in the variable PYTHON")?;
    install(&python)?;
    fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", stamp.display()), "look at the disk"))?;
    Ok(python)
}

/// Runs a subcommand of pip with more arguments.
pub(crate) fn pip(
    python: &Path,
    subcommand: &str,
    more: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<(), Failure> {
    let mut command = Command::new(python);
    command.args(["-m", "pip", subcommand, "--quiet", "--disable-pip-version-check"]);
    run(more(&mut command), "Python 3.11 or later, a C++ compiler and a package index are needed")
}
