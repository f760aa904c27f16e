//! The Python package: a wheel and a source distribution are built, installed into an environment that has neither Rust nor anything but
//! numpy, and tested as they are installed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{program, root, run, target, text_of};
use crate::failure::Failure;
use crate::python::{environment, pip};

/// Builds, installs and tests the package.
pub(crate) fn test(cargo: &str) -> Result<(), Failure> {
    let (folder, target) = (root()?.join("python"), target()?);
    let (python, wanted) = tools(&folder, &target)?;
    lint(&python, &folder)?;
    // In the profile of the tests, so that what they have compiled is used again.
    let (wheel, sdist) = build(&python, &folder, &target, "dev")?;
    alone(&wanted, &folder, &target, &wheel)?;
    install(&python, &wheel)?;
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(folder.join("tests"));
    // What is installed is tested, not what lies in the source tree.
    command.current_dir(&target).env_remove("PYTHONPATH");
    command.env("MAXMARGIN_WHEEL", &wheel).env("MAXMARGIN_SDIST", &sdist).env("MAXMARGIN", program("debug")?);
    command.env("CARGO", cargo).env("CARGO_TARGET_DIR", &target);
    run(&mut command, "see the messages above")
}

/// Builds the wheel and the source distribution that are published, and tries the wheel beside numpy and nothing else.
pub(crate) fn release(folder: &Path, target: &Path, version: &str) -> Result<(PathBuf, PathBuf), Failure> {
    let (python, wanted) = tools(folder, target)?;
    let (wheel, sdist) = build(&python, folder, target, "release")?;
    for file in [&wheel, &sdist] {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with(&format!("maxmargin-{version}")) {
            return Err(Failure::new(
                format!("{name} is not of version {version}"),
                "the version is that of the workspace",
            ));
        }
    }
    alone(&wanted, folder, target, &wheel)?;
    Ok((wheel, sdist))
}

/// A Python with the package and everything that its tests need, and the target folder.
pub(crate) fn installed() -> Result<(PathBuf, PathBuf), Failure> {
    let (folder, target) = (root()?.join("python"), target()?);
    let (python, _) = tools(&folder, &target)?;
    let (wheel, _) = build(&python, &folder, &target, "dev")?;
    install(&python, &wheel)?;
    Ok((python, target))
}

/// A Python with everything that builds and tests the package, and what that is.
fn tools(folder: &Path, target: &Path) -> Result<(PathBuf, String), Failure> {
    let requirements = folder.join("tests/requirements.txt");
    let wanted = text_of(&requirements)?;
    let python = environment(&target.join("python"), &wanted, |python| {
        pip(python, "install", |command| command.arg("--requirement").arg(&requirements))
    })?;
    Ok((python, wanted))
}

/// Checks the layout of the Python, and what can be found without running it.
fn lint(python: &Path, folder: &Path) -> Result<(), Failure> {
    for check in [&["format", "--check"][..], &["check"]] {
        let mut command = Command::new(python);
        command.args(["-m", "ruff"]).args(check).args(["--quiet", "--no-cache"]).arg(folder);
        run(&mut command, "`ruff format python` and `ruff check --fix python` mend most of it")?;
    }
    Ok(())
}

/// A wheel and a source distribution.
fn build(python: &Path, folder: &Path, target: &Path, profile: &str) -> Result<(PathBuf, PathBuf), Failure> {
    let out = target.join("wheels");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| Failure::new(error.to_string(), "look at the disk"))?;
    }
    let maturin = |arguments: &[&str]| {
        let mut command = Command::new(python);
        command.args(["-m", "maturin"]).args(arguments).arg("--out").arg(&out);
        command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
        command.env("CARGO_TARGET_DIR", target).env_remove("PYTHONPATH");
        run(&mut command, "see the messages above")
    };
    maturin(&["build", "--profile", profile, "--locked", "--quiet", "--interpreter", &python.to_string_lossy()])?;
    maturin(&["sdist"])?;
    Ok((ending_in(&out, "whl")?, ending_in(&out, "gz")?))
}

/// The file of a folder that ends so.
fn ending_in(folder: &Path, ending: &str) -> Result<PathBuf, Failure> {
    let files = fs::read_dir(folder).map_err(|error| Failure::new(error.to_string(), "look at the disk"))?;
    let found = files.flatten().map(|file| file.path()).find(|path| path.extension() == Some(OsStr::new(ending)));
    found.ok_or_else(|| Failure::new(format!("{} has no .{ending}", folder.display()), "see what maturin said above"))
}

/// Installs the wheel beside numpy and nothing else, and works with it where there is no Rust.
fn alone(wanted: &str, folder: &Path, target: &Path, wheel: &Path) -> Result<(), Failure> {
    let numpy = wanted.lines().find(|line| line.starts_with("numpy==")).unwrap_or("numpy");
    let python = environment(&target.join("python-alone"), numpy, |python| {
        pip(python, "install", |command| command.arg(numpy))
    })?;
    install(&python, wheel)?;
    let mut command = Command::new(&python);
    command.arg(folder.join("tests/alone.py")).current_dir(target);
    command.env("PATH", python.parent().unwrap_or(target)).env_remove("PYTHONPATH");
    run(&mut command, "the wheel does not work in an environment of its own: see the message above")
}

/// Installs a wheel, in the place of one of the same version, and nothing else.
fn install(python: &Path, wheel: &Path) -> Result<(), Failure> {
    pip(python, "install", |command| command.args(["--no-deps", "--no-index", "--force-reinstall"]).arg(wheel))
}
