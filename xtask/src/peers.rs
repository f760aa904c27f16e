//! The comparisons with LIBSVM, LIBLINEAR and onnxruntime themselves: Python of `tests/peers/`.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::command::{program, root, run, target, text_of};
use crate::failure::Failure;
use crate::python::{environment, pip};

/// LIBSVM's own scripts and what they stand on, as Debian packs them.
const TOOLS: [&str; 2] = ["libsvm-tools", "libsvm3"];

/// Sets up the peers beside what was built, and runs every comparison.
pub(crate) fn test() -> Result<(), Failure> {
    let folder = root()?.join("tests/peers");
    let requirements = folder.join("requirements.txt");
    let wanted = text_of(&requirements)?;
    let python = environment(&target()?.join("peers"), &wanted, |python| {
        pip(python, "install", |command| command.arg("--requirement").arg(&requirements))
    })?;
    let tools = target()?.join("peers-tools");
    if let Err(failure) = fetch_tools(&tools) {
        println!("LIBSVM's own scripts cannot be had here, and are not run: {failure}");
    }
    let mut command = Command::new(python);
    command.current_dir(&folder).args(["-m", "unittest", "discover"]);
    command.env("MAXMARGIN", program("debug")?).env("LIBSVM_TOOLS", tools);
    run(&mut command, "see the messages above")
}

/// Fetches LIBSVM's scripts into a folder; nothing is installed.
fn fetch_tools(folder: &Path) -> Result<(), Failure> {
    if folder.join("usr/bin/svm-grid").is_file() || env::consts::OS != "linux" {
        return Ok(());
    }
    let help = "they are in the package libsvm-tools of Debian";
    std::fs::create_dir_all(folder).map_err(|error| Failure::new(error.to_string(), "look at the disk"))?;
    run(Command::new("apt-get").args(["-qq", "download"]).args(TOOLS).current_dir(folder), help)?;
    let files = std::fs::read_dir(folder).map_err(|error| Failure::new(error.to_string(), "look at the disk"))?;
    let packages =
        files.flatten().map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "deb"));
    for package in packages {
        run(Command::new("dpkg").arg("--extract").arg(package).arg(folder), help)?;
    }
    Ok(())
}
