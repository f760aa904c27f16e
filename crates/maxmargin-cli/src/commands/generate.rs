//! `generate`: data from a seed, or an embedded set, as a file.

use std::io::BufWriter;

use maxmargin::data::{Dataset, TextRows, embedded, generate};
use maxmargin::error::quoted;
use maxmargin_io::{DataWriter, Format, write_csv, write_libsvm};

use crate::arguments::Generate;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::GENERATED_ROWS;
use crate::interrupt::{self, Phase};
use crate::output::{self, Target};
use crate::report::counted;

/// The columns of text, where none are asked for.
const TEXT_COLUMNS: usize = 100_000;
/// Rows that are made at a time.
const TEXT_BLOCK: usize = 4096;

/// Makes the data, and writes it.
pub(super) fn run(arguments: &Generate) -> Result<ExitCode, Failure> {
    let to_stdout = arguments.output.as_deref().is_none_or(|path| path.as_os_str() == "-");
    let format = format(arguments)?;
    if to_stdout && !matches!(format, Format::Csv | Format::Libsvm) {
        return Err(Failure::new(
            format!("{} does not go to standard output", format.name()),
            "name a file with -o, or choose --format csv or libsvm",
        ));
    }
    let target = match &arguments.output {
        Some(path) if !to_stdout => Some(Target::new(path, &[])?),
        _ => None,
    };
    if arguments.name != "text" && arguments.columns.is_some() {
        return Err(Failure::new("only text has a number of columns to choose", "leave out --columns"));
    }
    let mut blocks: Box<dyn Iterator<Item = Dataset>> = match arguments.name.as_str() {
        "text" => {
            if arguments.noise.is_some() {
                return Err(no_noise("text"));
            }
            let (rows, columns) = (arguments.rows.unwrap_or(GENERATED_ROWS), arguments.columns.unwrap_or(TEXT_COLUMNS));
            let mut text = TextRows::new(rows as u64, columns, arguments.seed.unwrap_or(0))?;
            Box::new(std::iter::from_fn(move || text.next_block(TEXT_BLOCK)))
        }
        _ => Box::new(std::iter::once(make(arguments)?)),
    };
    match target {
        None => {
            let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            for data in blocks {
                match format {
                    Format::Libsvm => write_libsvm(&data, &mut out)?,
                    _ => write_csv(&data, &mut out)?,
                }
            }
            Ok(ExitCode::Done)
        }
        Some(target) => {
            let rows = interrupt::during(Phase::Solving, || {
                let mut writer = DataWriter::create(target.path(), format)?;
                for data in &mut blocks {
                    if interrupt::asked() {
                        return Ok(None);
                    }
                    writer.push(&data)?;
                }
                Ok::<_, Failure>(Some(interrupt::during(Phase::Saving, || writer.finish())?))
            });
            let Some(rows) = rows? else {
                output::say(&format!("interrupted; {} was not written", target.shown()));
                return Ok(ExitCode::Interrupted);
            };
            let rows = counted(usize::try_from(rows).unwrap_or(usize::MAX), "row");
            output::say(&format!("wrote {rows} to {}", target.shown()));
            Ok(ExitCode::Done)
        }
    }
}

fn no_noise(name: &str) -> Failure {
    Failure::new(format!("{name} has no noise"), "leave out --noise, or choose blobs, moons or far-blob")
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
            format!("the names are {}, text, {}", generate::NAMES.join(", "), embedded::NAMES.join(", ")),
        ));
    }
    let (rows, seed) = (arguments.rows.unwrap_or(GENERATED_ROWS), arguments.seed.unwrap_or(0));
    Ok(match (name, arguments.noise) {
        (_, None) => generate(name, rows, seed)?,
        ("blobs", Some(noise)) => generate::blobs(rows, noise, seed)?,
        ("moons", Some(noise)) => generate::moons(rows, noise, seed)?,
        ("far-blob", Some(noise)) => generate::far_blob(rows, noise, seed)?,
        (_, Some(_)) => return Err(no_noise(name)),
    })
}

/// The format asked for, or the one that the file's name says.
fn format(arguments: &Generate) -> Result<Format, Failure> {
    if let Some(format) = arguments.format {
        return Ok(format);
    }
    let Some(path) = arguments.output.as_deref().filter(|path| path.as_os_str() != "-") else {
        return Ok(if arguments.name == "text" { Format::Libsvm } else { Format::Csv });
    };
    Format::of_name(path).ok_or_else(|| {
        Failure::new(
            format!("the name {} does not say the format", quoted(&path.to_string_lossy())),
            "end it in .csv, .libsvm, .svm, .txt, .parquet, .arrow, .feather, .arrows, .npy, .npz or .mmc, or name the format: --format csv, --format libsvm",
        )
    })
}
