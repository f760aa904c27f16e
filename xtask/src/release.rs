//! What is published: the crates, a wheel and a source distribution, built and looked at, but sent nowhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{root, run, target, text_of};
use crate::failure::Failure;
use crate::package;

/// The crates that are published, each after those that it needs.
const CRATES: [&str; 7] = [
    "maxmargin",
    "maxmargin-pages",
    "maxmargin-io",
    "maxmargin-plot",
    "maxmargin-play",
    "maxmargin-serve",
    "maxmargin-cli",
];

/// Files that each crate has to have, beside its code.
const NEEDED: [&str; 5] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/"];

/// Builds and checks everything. With `--no-verify` crates are packed and not compiled from their packages.
pub(crate) fn release(cargo: &str, arguments: &[String]) -> Result<(), Failure> {
    let verify = match arguments {
        [] => true,
        [flag] if flag == "--no-verify" => false,
        _ => return Err(Failure::new(format!("unknown arguments {arguments:?}"), "cargo xtask release [--no-verify]")),
    };
    let (folder, target) = (root()?, target()?);
    let version = version_of(&folder)?;
    let mut files: Vec<PathBuf> = Vec::new();
    println!("== crates: {}", CRATES.join(", "));
    let mut command = Command::new(cargo);
    command.current_dir(&folder).env("CARGO_TARGET_DIR", &target).args(["package", "--locked", "--quiet"]);
    command.args(CRATES.iter().flat_map(|name| ["--package", name]));
    command.args((!verify).then_some("--no-verify"));
    run(&mut command, "commit all changes first, and see the messages above")?;
    for name in CRATES {
        let file = target.join("package").join(format!("{name}-{version}.crate"));
        check_crate(&file, &format!("{name}-{version}"))?;
        files.push(file);
    }
    println!("== Python: a wheel and a source distribution");
    let (wheel, sdist) = package::release(&folder.join("python"), &target, &version)?;
    files.extend([wheel, sdist]);
    println!("== ready to be published, and sent nowhere:");
    for file in &files {
        let size = fs::metadata(file).map_or(0, |found| found.len());
        println!("{:>9} KB  {}", size.div_ceil(1000), file.display());
    }
    Ok(())
}

/// The version of the workspace, which is that of every crate.
fn version_of(folder: &Path) -> Result<String, Failure> {
    let manifest = text_of(&folder.join("Cargo.toml"))?;
    let known = |line: &str| Some(line.strip_prefix("version = \"")?.strip_suffix('"')?.to_string());
    let version = manifest.lines().find_map(known);
    let version = version.ok_or_else(|| Failure::new("Cargo.toml has no line `version = \"...\"`", "add it"))?;
    for name in CRATES.iter().filter(|name| **name != "maxmargin-cli") {
        let wanted = format!("{name} = {{ path = \"crates/{name}\", version = \"{version}\"");
        if !manifest.lines().any(|line| line.starts_with(&wanted)) {
            let what = format!("Cargo.toml does not ask for {name} in version {version}");
            return Err(Failure::new(
                what,
                "write the new version in [workspace.package] and in [workspace.dependencies]",
            ));
        }
    }
    if !text_of(&folder.join("CHANGELOG.md"))?.contains(&format!("## {version}")) {
        println!("note: CHANGELOG.md has no section for version {version} yet");
    }
    Ok(version)
}

/// Checks that a packed crate has what a stranger needs: a licence in words, a readme, code.
fn check_crate(file: &Path, folder: &str) -> Result<(), Failure> {
    let listed = Command::new("tar").arg("-tzf").arg(file).output();
    let listed = listed.map_err(|error| Failure::new(format!("tar could not be started: {error}"), "install tar"))?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for needed in NEEDED {
        if !listed.lines().any(|line| line.starts_with(&format!("{folder}/{needed}"))) {
            let what = format!("{} has no {needed}", file.display());
            return Err(Failure::new(what, "look at `include` in the crate's Cargo.toml"));
        }
    }
    Ok(())
}
