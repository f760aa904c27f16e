//! The tests of the playground's page: modules of `tests/browser/`, run by Node in Debian's Chromium, and the types of the page.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{program, root, run, target};
use crate::failure::Failure;
use crate::python::interpreter;

/// Where Debian puts the browser.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Builds the program, sets up the browser, and runs every test. Where the Python package was tested before, exported programs run on it, too.
pub(crate) fn test(cargo: &str, has_package: bool) -> Result<(), Failure> {
    let root = root()?;
    let mut build = Command::new(cargo);
    build.current_dir(&root).args(["build", "--workspace", "--bins", "--locked", "--quiet"]);
    run(&mut build, "see the messages above")?;
    let folder = root.join("tests/browser");
    let chromium = browser()?;
    packages(&folder)?;
    let tsc = folder.join("node_modules/typescript/bin/tsc");
    run(Command::new("node").current_dir(&folder).arg(tsc), "the page's types are wrong: see above")?;
    let mut command = Command::new("node");
    command.current_dir(&folder).args(["--test", "--test-timeout=120000", "--test-reporter=spec", "tests/"]);
    command.env("MAXMARGIN", program("debug")?).env("CHROMIUM", chromium);
    if has_package {
        command.env("MAXMARGIN_PYTHON", interpreter(&target()?.join("python")));
    }
    run(&mut command, "see the messages above")
}

/// The browser: the one that the variable names, or Debian's, installed where it is missing.
pub(crate) fn browser() -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    if !Path::new(CHROMIUM).is_file() {
        println!("== installing Chromium");
        let help = "install Chromium, or name it in the variable CHROMIUM";
        let mut command = Command::new("apt-get");
        command.args(["-qq", "-y", "--no-install-recommends", "install", "chromium"]);
        run(command.env("DEBIAN_FRONTEND", "noninteractive"), help)?;
    }
    Ok(CHROMIUM.into())
}

/// Installs the packages of the lock file, unless they are there.
pub(crate) fn packages(folder: &Path) -> Result<(), Failure> {
    let same = |a: &Path, b: &Path| {
        let time = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        time(a).zip(time(b)).is_some_and(|(a, b)| a >= b)
    };
    if same(&folder.join("node_modules/.package-lock.json"), &folder.join("package-lock.json")) {
        return Ok(());
    }
    let mut command = Command::new("npm");
    command.current_dir(folder).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    command.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    run(&mut command, "install Node 20 or later with npm (Debian: nodejs, npm)")
}
