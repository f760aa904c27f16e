//! `path`: a certified model for each of many C.

use maxmargin::problem::Task;
use maxmargin::training::Penalty;
use maxmargin::tuning::Axis;
use maxmargin::{Model, TrainingParams, Workers};
use serde::Serialize;

use crate::arguments::{PathOfC, TaskKind};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::output::{self, Words};
use crate::progress::Watch;
use crate::report::{Page, counted, json_line, number};
use crate::size;

/// ε of a regression.
const EPSILON: f64 = 0.1;

/// What becomes of a model at one C.
#[derive(Debug, Serialize)]
struct Point {
    c: f64,
    stop: &'static str,
    relative_gap: Option<f64>,
    margin: Option<f64>,
    support_vectors: usize,
    bounded: usize,
    training_errors: Option<usize>,
    iterations: u64,
}

/// All of them, as a program is told.
#[derive(Debug, Serialize)]
struct Points {
    data: String,
    rows: usize,
    kernel: String,
    points: Vec<Point>,
}

/// Trains them.
pub(super) fn run(arguments: &PathOfC) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.json };
    let origin = Origin::new(&arguments.data, words)?;
    let workers = Workers::new(arguments.threads)?;
    let costs = costs(&arguments.costs)?;
    let task = match arguments.task.unwrap_or(TaskKind::Classification) {
        TaskKind::Classification => Task::Classification,
        TaskKind::Regression => Task::Regression { epsilon: EPSILON },
        TaskKind::OneClass | TaskKind::Svdd => {
            return Err(Failure::new("one class has no C", "choose task classification or regression"));
        }
    };
    let mut params = TrainingParams {
        task,
        kernel: arguments.kernel.params()?,
        loss: arguments.loss,
        bias: arguments.bias,
        scaling: arguments.scale,
        ..TrainingParams::default()
    };
    params.settings.tolerance = arguments.tolerance;
    params.settings.memory = size::asked(None)?;
    params.settings.seed = arguments.reading.seed();
    let kernel_values = input::training_table(&params.kernel);
    let training = params.check()?;
    let options = maxmargin_io::ReadOptions {
        answers: input::answers_of(task),
        kernel_values,
        ..arguments.reading.options(None)
    };
    let data = origin.fetch(arguments.reading.seed(), &workers, words)?.read_once(&options)?.data;
    let penalties: Vec<Penalty> = costs.iter().map(|&cost| Penalty::C(cost)).collect();
    let mut watch = Watch::new(None, arguments.json);
    let models = interrupt::during(Phase::Solving, || training.fit_path(&data, &penalties, &workers, &mut watch));
    watch.finish();
    let points: Vec<Point> = models?.iter().zip(&costs).map(|(model, &c)| point(model, c, task)).collect();
    let kernel = training.params().kernel.clone();
    let name = maxmargin::tuning::kernel_name(&kernel).to_string();
    output::print(&if arguments.json {
        json_line(&Points { data: origin.shown(), rows: data.rows(), kernel: name, points })
    } else {
        page(&format!("{}: {}, {name}", origin.shown(), counted(data.rows(), "row")), &points)
    })?;
    Ok(if interrupt::asked() { ExitCode::Interrupted } else { ExitCode::Done })
}

/// The values of C, ascending.
fn costs(text: &str) -> Result<Vec<f64>, Failure> {
    let refuse = |error: maxmargin::Error| {
        Failure::new(format!("--costs: {error}"), "give FROM:TO:COUNT or V1,V2,..., as in 0.01:1000:11")
    };
    let axes = Axis::read_all(&format!("C={text}")).map_err(refuse)?;
    let mut values = axes.into_iter().next().map(|axis| axis.values).unwrap_or_default();
    values.sort_by(f64::total_cmp);
    Ok(values)
}

fn point(model: &Model, c: f64, task: Task) -> Point {
    let certificates = || model.machines().iter().filter_map(|machine| machine.evidence.certificate());
    let pooled = model.parts().support_rows.len();
    let most = certificates().map(|certificate| certificate.counts.support).max().unwrap_or(0);
    Point {
        c,
        stop: model.stop().name(),
        relative_gap: model.certificate().map(|summary| summary.relative_gap),
        margin: certificates().map(|certificate| certificate.margin).reduce(f64::min),
        support_vectors: if pooled > 0 { pooled } else { most },
        bounded: certificates().map(|certificate| certificate.counts.bounded).sum(),
        training_errors: (task.is_classification() && model.machines().len() == 1)
            .then(|| model.machines().iter().map(|machine| machine.training_errors).sum()),
        iterations: model.iterations(),
    }
}

fn page(what: &str, points: &[Point]) -> String {
    let mut page = Page::new();
    page.paragraph(what);
    page.text("");
    let head = ["C", "stopped", "gap", "margin", "support", "bounded", "errors", "iterations"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let told = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| number(value, 3));
    for point in points {
        rows.push(vec![
            number(point.c, 3),
            point.stop.into(),
            told(point.relative_gap),
            told(point.margin),
            point.support_vectors.to_string(),
            point.bounded.to_string(),
            point.training_errors.map_or_else(|| "-".into(), |errors| errors.to_string()),
            point.iterations.to_string(),
        ]);
    }
    page.table(&rows);
    page.finish()
}
