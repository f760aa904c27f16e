//! `generate`: data from a seed, or an embedded set, as a file.

use maxmargin::data::{Dataset, embedded, generate};
use maxmargin::error::quoted;
use maxmargin_io::{Format, write_csv, write_libsvm};

use crate::arguments::Generate;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::GENERATED_ROWS;
use crate::output::{self, Target};
use crate::report::counted;

/// Makes the data, and writes it.
pub(super) fn run(arguments: &Generate) -> Result<ExitCode, Failure> {
    let format = format(arguments)?;
    let to_stdout = arguments.output.as_deref().is_none_or(|path| path.as_os_str() == "-");
    let target = match &arguments.output {
        Some(path) if !to_stdout => Some(Target::new(path, &[])?),
        _ => None,
    };
    let data = make(arguments)?;
    let mut bytes = Vec::new();
    match format {
        Format::Libsvm => write_libsvm(&data, &mut bytes)?,
        _ => write_csv(&data, &mut bytes)?,
    }
    match target {
        None => {
            use std::io::Write;
            let mut out = std::io::stdout().lock();
            out.write_all(&bytes)?;
            out.flush()?;
        }
        Some(target) => {
            target.save(&bytes)?;
            output::say(&format!("wrote {} to {}", counted(data.rows(), "row"), target.shown()));
        }
    }
    Ok(ExitCode::Done)
}

fn make(arguments: &Generate) -> Result<Dataset, Failure> {
    let name = arguments.name.as_str();
    if let Some(data) = embedded(name) {
        if arguments.rows.is_some() || arguments.seed.is_some() || arguments.noise.is_some() {
            return Err(Failure::new(
                format!("{name} is a fixed set of {}", counted(data.rows(), "row")),
                "leave out --rows, --seed and --noise",
            ));
        }
        return Ok(data);
    }
    if !generate::NAMES.contains(&name) {
        return Err(Failure::new(
            format!("there is no data set {}", quoted(name)),
            format!("the names are {}, {}", generate::NAMES.join(", "), embedded::NAMES.join(", ")),
        ));
    }
    let (rows, seed) = (arguments.rows.unwrap_or(GENERATED_ROWS), arguments.seed.unwrap_or(0));
    Ok(match (name, arguments.noise) {
        (_, None) => generate(name, rows, seed)?,
        ("blobs", Some(noise)) => generate::blobs(rows, noise, seed)?,
        ("moons", Some(noise)) => generate::moons(rows, noise, seed)?,
        ("far-blob", Some(noise)) => generate::far_blob(rows, noise, seed)?,
        (_, Some(_)) => {
            return Err(Failure::new(
                format!("{name} has no noise"),
                "leave out --noise, or choose blobs, moons or far-blob",
            ));
        }
    })
}

/// The format asked for, or the one that the file's name says.
fn format(arguments: &Generate) -> Result<Format, Failure> {
    if let Some(format) = arguments.format {
        return Ok(format);
    }
    let Some(path) = arguments.output.as_deref().filter(|path| path.as_os_str() != "-") else {
        return Ok(Format::Csv);
    };
    match path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
        Some("csv") => Ok(Format::Csv),
        Some("libsvm" | "svm" | "txt") => Ok(Format::Libsvm),
        _ => Err(Failure::new(
            format!("the name {} does not say the format", quoted(&path.to_string_lossy())),
            "end it in .csv, .libsvm, .svm or .txt, or name the format: --format csv, --format libsvm",
        )),
    }
}
