//! `svm-scale`: LIBSVM's scaling program.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;

use maxmargin::Workers;
use maxmargin::data::AnswerKind;

use super::data::{numbers, read};
use super::ending::Ending;
use super::general::{g, g17, general};
use super::options::Options;
use crate::output::{self, Target};

const USAGE: &str = "\
Usage: svm-scale [options] data_filename
options:
-l lower : the lower limit of x (default -1)
-u upper : the upper limit of x (default +1)
-y y_lower y_upper : limits of y (default: y stays as it is)
-s save_filename : keep the ranges in save_filename
-r restore_filename : take the ranges from restore_filename
";

/// The range of a column, or of the targets, and the one it is brought to.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: f64,
    most: f64,
}

/// What is brought to what.
struct Scale {
    to: Range,
    /// By column; `None` for columns that the ranges do not name.
    columns: Vec<Option<Range>>,
    targets: Option<(Range, Range)>,
}

impl Range {
    /// The ends are met exactly.
    fn brought_to(self, to: Range, value: f64) -> f64 {
        if value == self.least {
            to.least
        } else if value == self.most {
            to.most
        } else {
            to.least + (to.most - to.least) * (value - self.least) / (self.most - self.least)
        }
    }
}

/// Scales.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    // The one option with two values is put into one word.
    let mut words: Vec<String> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        words.push(word.clone());
        if word.starts_with("-y") {
            let (Some(low), Some(high)) = (rest.next(), rest.next()) else { return Err(Ending::Usage(None, USAGE)) };
            words.push(format!("{low} {high}"));
        }
    }
    let options = Options::new(&words, "luysr", "", USAGE)?;
    let (least, most): (f64, f64) = (options.value('l', -1.0)?, options.value('u', 1.0)?);
    let limits: String = options.value('y', String::new())?;
    let limits: Vec<f64> = limits.split_whitespace().map(|text| options.read('y', text)).collect::<Result<_, _>>()?;
    if !(most > least) || matches!(limits[..], [low, high] if !(high > low)) {
        return Err(Ending::Refused("inconsistent lower/upper specification".into()));
    }
    let (save, restore): (String, String) = (options.value('s', String::new())?, options.value('r', String::new())?);
    if options.has('s') && options.has('r') {
        return Err(Ending::Refused("cannot use -r and -s simultaneously".into()));
    }
    let file = options.file(0)?;
    if options.files.len() > 1 {
        return Err(Ending::Usage(None, USAGE));
    }
    let target = if options.has('s') { Some(Target::new(Path::new(&save), &[Path::new(file)])?) } else { None };
    let workers = Workers::new(0)?;
    let data = read(file, &workers, true, AnswerKind::Classes, None)?;
    let (matrix, targets) = (data.matrix(), numbers(&data)?);
    let mut scale = Scale { to: Range { least, most }, columns: ranges(matrix), targets: None };
    if let [low, high] = limits[..] {
        let ends = targets.iter().fold((f64::MAX, f64::MIN), |(low, high), &y| (low.min(y), high.max(y)));
        scale.targets = Some((Range { least: ends.0, most: ends.1 }, Range { least: low, most: high }));
    }
    if options.has('r') {
        scale.restore(&restore)?;
    }
    if let Some(target) = target {
        target.save(scale.text().as_bytes())?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut before, mut after) = (0usize, 0usize);
    let mut row_values = vec![0.0; scale.columns.len()];
    for (row, &y) in targets.iter().enumerate() {
        let y = scale.targets.map_or(y, |(from, to)| from.brought_to(to, y));
        write!(out, "{} ", g17(y))?;
        row_values.fill(0.0);
        matrix.visit(row, |column, value| {
            row_values[column] = value;
            before += usize::from(value != 0.0);
        });
        for (column, (&value, range)) in row_values.iter().zip(&scale.columns).enumerate() {
            // A column of one value says nothing.
            let Some(range) = range.filter(|range| range.least != range.most) else { continue };
            let value = range.brought_to(scale.to, value);
            if value != 0.0 {
                write!(out, "{}:{} ", column + 1, g(value))?;
                after += 1;
            }
        }
        writeln!(out)?;
    }
    out.flush()?;
    if after > before {
        output::say(&format!(
            "WARNING: original #nonzeros {before}\n       > new      #nonzeros {after}\nIf feature values are non-negative and sparse, use -l 0 \
             rather than the default -l -1"
        ));
    }
    Ok(())
}

/// The range of each column, zeros included.
fn ranges(matrix: &maxmargin::data::Matrix) -> Vec<Option<Range>> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let mut found = vec![Range { least: f64::MAX, most: f64::MIN }; columns];
    let mut counts = vec![0usize; columns];
    for row in 0..rows {
        matrix.visit(row, |column, value| {
            let range = &mut found[column];
            (range.least, range.most) = (range.least.min(value), range.most.max(value));
            counts[column] += 1;
        });
    }
    // What is left out is 0.
    for (range, &count) in found.iter_mut().zip(&counts) {
        if count < rows {
            (range.least, range.most) = (range.least.min(0.0), range.most.max(0.0));
        }
    }
    found.into_iter().map(Some).collect()
}

impl Scale {
    /// The text of a file of ranges.
    fn text(&self) -> String {
        let pair = |range: Range| format!("{} {}", general(range.least, 17), general(range.most, 17));
        let mut text = String::new();
        if let Some((from, to)) = self.targets {
            let _ = writeln!(text, "y\n{}\n{}", pair(to), pair(from));
        }
        let _ = writeln!(text, "x\n{}", pair(self.to));
        for (column, range) in self.columns.iter().enumerate() {
            if let Some(range) = range.filter(|range| range.least != range.most) {
                let _ = writeln!(text, "{} {}", column + 1, pair(range));
            }
        }
        text
    }

    /// Takes the ranges of a file in the place of the data's.
    fn restore(&mut self, file: &str) -> Result<(), Ending> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            Ending::Refused(format!("can't open file {}\n  {}", output::escaped(file), output::reason(&error)))
        })?;
        let fault = |line: usize| {
            Ending::Refused(format!(
                "Wrong format of scaling factors at line {line} of {}\n  help: give a file that svm-scale -s has written",
                output::escaped(file)
            ))
        };
        let mut lines = text.lines().enumerate().map(|(place, line)| (place + 1, line)).peekable();
        let two = |(number, line): (usize, &str)| -> Result<Range, Ending> {
            let numbers: Vec<f64> = line
                .split_whitespace()
                .map(|word| word.parse().map_err(|_| fault(number)))
                .collect::<Result<_, _>>()?;
            match numbers[..] {
                [least, most] if least.is_finite() && most.is_finite() => Ok(Range { least, most }),
                _ => Err(fault(number)),
            }
        };
        if lines.next_if(|(_, line)| line.trim() == "y").is_some() {
            let (to, from) = (lines.next().ok_or_else(|| fault(2))?, lines.next().ok_or_else(|| fault(3))?);
            self.targets = Some((two(from)?, two(to)?));
        }
        match lines.next() {
            Some((_, "x")) => {}
            other => return Err(fault(other.map_or(1, |(number, _)| number))),
        }
        self.to = two(lines.next().ok_or_else(|| fault(2))?)?;
        let mut named: Vec<Option<Range>> = vec![None; self.columns.len()];
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let (column, rest) = line.trim().split_once(' ').ok_or_else(|| fault(number))?;
            let column: usize = column.parse().ok().filter(|&column| column > 0).ok_or_else(|| fault(number))?;
            let range = two((number, rest))?;
            if column > MOST_COLUMNS {
                return Err(fault(number));
            }
            if column > named.len() {
                named.resize(column, None);
            }
            named[column - 1] = Some(range);
        }
        for (column, range) in self.columns.iter().enumerate() {
            let used = range.is_some_and(|range| range.least != 0.0 || range.most != 0.0);
            if used && named[column].is_none() {
                output::say(&format!(
                    "WARNING: feature index {} was not seen in the scaling factor file {}. The feature is scaled to 0.",
                    column + 1,
                    output::escaped(file)
                ));
            }
        }
        self.columns = named;
        Ok(())
    }
}

/// The most columns that a file of ranges may name.
const MOST_COLUMNS: usize = 100_000_000;
