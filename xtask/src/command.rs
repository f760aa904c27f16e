//! Commands that are run to their end, and where they are run.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The folder of the workspace.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(Path::to_path_buf)
        .ok_or_else(|| Failure::new("the workspace has no folder", "run it from a clone"))
}

/// The target folder, wherever it was put: this program is in a folder of it, one for each profile.
pub(crate) fn target() -> Result<PathBuf, Failure> {
    let own = env::current_exe().map_err(|error| Failure::new(format!("own path unknown: {error}"), "try again"))?;
    own.ancestors()
        .nth(2)
        .map(Path::to_path_buf)
        .ok_or_else(|| Failure::new(format!("{} is in no target folder", own.display()), "start it as cargo xtask"))
}

/// A program of this workspace, built in a profile.
pub(crate) fn program(profile: &str) -> Result<PathBuf, Failure> {
    let program = target()?.join(profile).join(format!("maxmargin{}", env::consts::EXE_SUFFIX));
    if program.is_file() {
        Ok(program)
    } else {
        Err(Failure::new(
            format!("the program was built, but not as {}", program.display()),
            "start it as cargo xtask, with one target folder for everything",
        ))
    }
}

/// The text of a file of the repository.
pub(crate) fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("{} cannot be read: {error}", path.display()), "restore it with git checkout")
    })
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command, help: &str) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let shown: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let shown = format!("{name} {}", shown.join(" "));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("{shown}: {status}"), help)),
        Err(error) => Err(Failure::new(format!("{name} could not be started: {error}"), help)),
    }
}
