//! `convert`: data from one format to another, block by block.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::error::quoted;
use maxmargin_io::{DataWriter, Format};

use crate::arguments::Convert;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::feed::{Feed, Next};
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::output::{self, Target, Words};
use crate::report::counted;

/// Converts.
pub(super) fn run(arguments: &Convert) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.quiet };
    let origin = Origin::new(&arguments.data, words)?;
    let read: Vec<_> = origin.file().into_iter().collect();
    let format = format(arguments)?;
    let target = Target::new(&arguments.output, &read)?;
    let options = arguments.reading.options(arguments.columns.as_deref());
    // These tell the number of columns before the first row.
    let fixed = !matches!(format, Format::Libsvm | Format::Cache);
    let started = Instant::now();
    let mut feed = Feed::new(&origin, &options, arguments.reading.seed, fixed)?;
    let bar = progress(arguments.quiet);
    let converted = interrupt::during(Phase::Solving, || {
        let mut writer = DataWriter::create(target.path(), format)?;
        let mut rows = 0u64;
        loop {
            match feed.next(|| !interrupt::asked())? {
                Next::Stopped => return Ok(None),
                Next::End => break,
                Next::Block(block) => {
                    if fixed {
                        input::check_columns(block.columns(), format.name())?;
                    }
                    writer.push(&block)?;
                    rows += block.rows() as u64;
                    let all = feed.begun().rows.map_or_else(String::new, |all| format!(" of {all}"));
                    bar.set_message(format!("{rows}{all} rows  {:.1} s", started.elapsed().as_secs_f64()));
                    bar.tick();
                }
            }
        }
        let lost = writer.lost().to_vec();
        let rows = interrupt::during(Phase::Saving, || writer.finish())?;
        Ok::<_, Failure>(Some((rows, lost)))
    });
    bar.finish_and_clear();
    let Some((rows, lost)) = converted? else {
        output::say(&format!("interrupted; {} was not written", target.shown()));
        return Ok(ExitCode::Interrupted);
    };
    for what in lost {
        words.note(&format!("{} has no place for {what}: left out", format.name()));
    }
    if !arguments.quiet {
        let rows = counted(usize::try_from(rows).unwrap_or(usize::MAX), "row");
        output::say(&format!("wrote {rows} to {} ({})", target.shown(), format.name()));
    }
    Ok(ExitCode::Done)
}

/// A line that tells how far it is, where standard error is a terminal.
fn progress(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

/// The format asked for, or the one that the file's name says.
fn format(arguments: &Convert) -> Result<Format, Failure> {
    arguments.to.or_else(|| Format::of_name(&arguments.output)).ok_or_else(|| {
        Failure::new(
            format!("the name {} does not say the format", quoted(&arguments.output.to_string_lossy())),
            "end it in .libsvm, .svm, .txt, .csv, .parquet, .arrow, .feather, .arrows, .npy, .npz or .mmc, or name the format: --to \
             libsvm, csv, parquet, arrow, arrow-stream, npy, npz, cache",
        )
    })
}
