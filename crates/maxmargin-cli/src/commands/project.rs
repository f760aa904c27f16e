//! `project`: rows of several classes in a few dimensions, ready to be drawn.

use std::io::Write;
use std::ops::ControlFlow;

use maxmargin::data::{Dataset, Matrix, Scaling, ScalingKind};
use maxmargin::solver::Projection;
use maxmargin::{Stop, Workers};
use maxmargin_io::write_csv;

use crate::arguments::Project;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Target, Words};
use crate::progress::Watch;
use crate::report::{counted, number};

/// Learns a projection, and writes the projected rows.
pub(super) fn run(arguments: &Project) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.quiet };
    let origin = Origin::new(&arguments.data, words)?;
    let other = arguments.apply.as_deref().map(|path| Origin::new(path, words)).transpose()?;
    let mut read: Vec<_> = origin.file().into_iter().collect();
    read.extend(other.as_ref().and_then(Origin::file));
    let target = arguments.output.as_deref().map(|path| Target::new(path, &read)).transpose()?;
    let shrinkage = arguments.shrinkage.parse()?;
    let workers = Workers::new(arguments.threads)?;
    let options = arguments.reading.options(arguments.columns.as_deref());
    let data = origin.fetch(arguments.reading.seed(), &workers, words)?.read_once(&options)?.data;
    input::check_columns(data.columns(), "project")?;
    let scaling = (arguments.scale != ScalingKind::None).then(|| Scaling::learn(arguments.scale, data.matrix()));
    let scaled = |matrix: &Matrix| match &scaling {
        Some(scaling) => scaling.apply(matrix),
        None => Ok(matrix.clone()),
    };
    let matrix = scaled(data.matrix())?;
    let mut watch = Watch::new(None, arguments.quiet);
    let learnt = Projection::learn(&data.clone().with_matrix(matrix.clone())?, shrinkage, &workers, &mut watch);
    watch.finish();
    let projection = match learnt? {
        ControlFlow::Continue(projection) => projection,
        ControlFlow::Break(Stop::Interrupted) => return Ok(ExitCode::Interrupted),
        ControlFlow::Break(_) => return Ok(ExitCode::NotAsAsked),
    };
    let found = projection.directions.len();
    let onto = arguments.onto.unwrap_or(found).min(found);
    if arguments.onto.is_some_and(|asked| asked > found) {
        let classes = counted(data.labels()?.classes().len(), "class");
        words.note(&format!("{classes} in {} span {} only", counted(data.columns(), "column"), dimensions(found)));
    }
    let (rows, points) = match &other {
        None => (data, matrix),
        Some(other) => {
            let source = other.fetch(arguments.reading.seed(), &workers, words)?;
            let found = input::read_for_model(&source, &data, &arguments.reading, false, words)?;
            let matrix = in_columns_of(&data, &found.data)?;
            let scaled = scaled(&matrix)?;
            (found.data, scaled)
        }
    };
    let values: Vec<f64> = (0..points.rows())
        .flat_map(|row| projection.project(&points, row).into_iter().take(onto).collect::<Vec<_>>())
        .collect();
    let names = (1..=onto).map(|k| format!("ld{k}")).collect();
    let projected = Dataset::new(Matrix::dense(points.rows(), onto, values)?, rows.answers().clone())?;
    let mut bytes = Vec::new();
    write_csv(&projected.with_names(names)?, &mut bytes)?;
    match target {
        Some(target) => {
            target.save(&bytes)?;
            if !arguments.quiet {
                output::say(&said(&projection, onto, points.rows(), &target.shown()));
            }
        }
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(&bytes)?;
            out.flush()?;
        }
    }
    Ok(ExitCode::Done)
}

/// The rows of `other` in the columns of `data`.
fn in_columns_of(data: &Dataset, other: &Dataset) -> Result<Matrix, Failure> {
    if let (Some(names), Some(_)) = (data.names(), other.names()) {
        return Ok(other.select_columns(names)?.matrix().clone());
    }
    let (wanted, found) = (data.columns(), other.columns());
    if found != wanted && !other.has_open_columns() {
        return Err(Failure::new(
            format!("found {}, but the projection needs {wanted}", counted(found, "column")),
            "give the columns that the projection was learnt from, in their order",
        ));
    }
    let places: Vec<Option<usize>> = (0..wanted).map(|column| (column < found).then_some(column)).collect();
    Ok(other.matrix().select_columns(&places))
}

fn dimensions(count: usize) -> String {
    counted(count, "dimension")
}

/// What was written, and how much of the classes' distances it shows.
fn said(projection: &Projection, onto: usize, rows: usize, file: &str) -> String {
    let all: f64 = projection.eigenvalues.iter().sum();
    let shown: f64 = projection.eigenvalues[..onto].iter().sum();
    let values: Vec<String> = projection.eigenvalues[..onto].iter().map(|&value| number(value, 4)).collect();
    format!(
        "wrote {} in {} to {file}: eigenvalues {}, {} % of what tells the classes apart",
        counted(rows, "row"),
        dimensions(onto),
        values.join(", "),
        number(100.0 * shown / all, 3)
    )
}
