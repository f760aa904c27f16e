//! `convert`: data from one format to another, block by block.

use std::path::{Path, PathBuf};
use std::time::Instant;

use maxmargin::data::{Dataset, Label, Labels};
use maxmargin::error::{listed, quoted};
use maxmargin_io::{DataWriter, Format};

use crate::arguments::Convert;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::feed::{Feed, Next};
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::output::{self, Target, Words, escaped};
use crate::progress::line;
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
    let mut names = (format == Format::Libsvm && !arguments.keep_labels).then(Names::default);
    let started = Instant::now();
    let mut feed = Feed::new(&origin, &options, arguments.reading.seed(), fixed)?;
    let bar = line(arguments.quiet);
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
                    let block = match &mut names {
                        Some(names) => names.number(*block)?,
                        None => *block,
                    };
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
    if let Some(table) = names.as_ref().filter(|names| names.is_used).map(Names::table) {
        let is_file = target.path().is_file();
        if is_file {
            maxmargin_io::save_atomically(&with_extension(target.path()), table.as_bytes())?;
        }
        let kept = if is_file { format!(", as {}.labels says", target.shown()) } else { String::new() };
        let shown =
            listed(table.lines().map(|line| escaped(line).replacen(' ', " = ", 1)).collect::<Vec<_>>().into_iter(), 8);
        words.note(&format!("LIBSVM knows numbers as labels: {shown}{kept} (--keep-labels writes the words)"));
    }
    if !arguments.quiet {
        let rows = counted(usize::try_from(rows).unwrap_or(usize::MAX), "row");
        output::say(&format!("wrote {rows} to {} ({})", target.shown(), format.name()));
    }
    Ok(ExitCode::Done)
}

/// `OUT.labels`
fn with_extension(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".labels");
    name.into()
}

/// Words that become the numbers 1, 2, ... in the order in which they come, because LIBSVM and its friends read no words.
#[derive(Default)]
struct Names {
    known: Vec<Label>,
    /// Whether the first block had a word; numbers alone stay what they are.
    is_used: bool,
    has_begun: bool,
}

impl Names {
    /// The block with numbers for labels.
    fn number(&mut self, block: Dataset) -> Result<Dataset, Failure> {
        let labels = block.labels()?;
        if !self.has_begun {
            self.has_begun = true;
            self.is_used = labels.classes().iter().any(|label| label.number().is_none());
        }
        if !self.is_used {
            return Ok(block);
        }
        // The order of a block's classes is not that of its rows.
        let mut place = vec![None; labels.classes().len()];
        for row in 0..block.rows() {
            let code = labels.codes()[row] as usize;
            if place[code].is_none() {
                let label = &labels.classes()[code];
                let found = self.known.iter().position(|known| known == label);
                place[code] = Some(found.unwrap_or_else(|| {
                    self.known.push(label.clone());
                    self.known.len() - 1
                }));
            }
        }
        let number = |code: &u32| Label::new((place[*code as usize].unwrap_or(0) + 1).to_string());
        let numbered = Labels::new(labels.codes().iter().map(number));
        Ok(block.with_answers(numbered)?)
    }

    /// A number and its word a line.
    fn table(&self) -> String {
        self.known.iter().enumerate().map(|(place, label)| format!("{} {}\n", place + 1, label.text())).collect()
    }
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
