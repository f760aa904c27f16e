//! `path`: a certified model for each of many C.

use std::path::Path;

use maxmargin::data::Dataset;
use maxmargin::problem::Task;
use maxmargin::training::{PathStep, Penalty};
use maxmargin::tuning::Axis;
use maxmargin::{Model, Stop, Training, TrainingParams, Workers};
use maxmargin_plot::{ParameterPath, PathCurve, Quantity, path};
use serde::Serialize;

use crate::arguments::{PathOfC, TaskKind};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::output::{self, Words};
use crate::picture::Sketch;
use crate::progress::Watch;
use crate::report::{Page, counted, json_line, number};
use crate::size;

/// ε of a regression.
const EPSILON: f64 = 0.1;

/// What becomes of a model at one C.
#[derive(Debug, Serialize)]
struct Point {
    c: f64,
    /// The C up to which the model is proved to be as accurate as was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    proved_to: Option<f64>,
    stop: &'static str,
    relative_gap: Option<f64>,
    margin: Option<f64>,
    /// The support vectors of all machines, and those of them at their bounds. A row that supports two machines counts twice.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    /// Why the path ended.
    stop: &'static str,
    points: Vec<Point>,
}

/// Trains them.
pub(super) fn run(arguments: &PathOfC) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.json };
    let origin = Origin::new(&arguments.data, words)?;
    let workers = Workers::new(arguments.threads)?;
    let costs = costs(&arguments.costs)?;
    let read: Vec<&Path> = origin.file().into_iter().collect();
    let picture = Sketch::of(arguments.plot.as_ref(), &read)?;
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
    let mut watch = Watch::new(None, arguments.json);
    let found = interrupt::during(Phase::Solving, || follow(arguments, &training, &data, &costs, &workers, &mut watch));
    watch.finish();
    let (points, stop) = found?;
    let name = maxmargin::tuning::kernel_name(&training.params().kernel);
    let what = format!("{}: {}, {name}", origin.shown(), counted(data.rows(), "row"));
    if let Some(sketch) = &picture {
        sketch.save(&path(&drawn(&what, &points), &sketch.options)?)?;
    }
    output::print(&if arguments.json {
        let (data, rows, kernel) = (origin.shown(), data.rows(), name.into());
        json_line(&Points { data, rows, kernel, accuracy: arguments.accuracy, stop: stop.name(), points })
    } else {
        page(&what, arguments.accuracy, stop, &points)
    })?;
    if let Some(sketch) = picture.filter(|_| !arguments.json) {
        output::say(&format!("wrote {}", sketch.target.shown()));
    }
    Ok(if interrupt::asked() { ExitCode::Interrupted } else { ExitCode::Done })
}

/// Trains along the path, and says why it ended.
fn follow(
    arguments: &PathOfC,
    training: &Training,
    data: &Dataset,
    costs: &[f64],
    workers: &Workers,
    watch: &mut Watch,
) -> Result<(Vec<Point>, Stop), maxmargin::Error> {
    let task = training.params().task;
    if let (Some(accuracy), Some(&from), Some(&to)) = (arguments.accuracy, costs.first(), costs.last()) {
        let mut points = Vec::new();
        let mut visit = |step: PathStep<'_>| {
            points.push(Point { proved_to: Some(step.until.min(to)), ..point(step.model, step.c, task) });
        };
        let stop = training.fit_path_to(data, accuracy, (from, to), workers, watch, &mut visit)?;
        return Ok((points, stop));
    }
    let penalties: Vec<Penalty> = costs.iter().map(|&cost| Penalty::C(cost)).collect();
    let models = training.fit_path(data, &penalties, workers, watch)?;
    let broke = models.last().map(Model::stop).filter(|stop| matches!(stop, Stop::Interrupted | Stop::TimeLimit));
    let points = models.iter().zip(costs).map(|(model, &c)| point(model, c, task)).collect();
    Ok((points, broke.unwrap_or(Stop::Converged)))
}

/// The path as a picture shows it.
fn drawn(what: &str, points: &[Point]) -> ParameterPath {
    let all = |of: &dyn Fn(&Point) -> Option<f64>| -> Vec<f64> {
        points.iter().map(|point| of(point).unwrap_or(f64::NAN)).collect()
    };
    let curve = |name: &str, values: Vec<f64>| PathCurve { name: name.into(), values, bands: Vec::new() };
    let support = vec![
        curve("all", all(&|point| Some(point.support_vectors as f64))),
        curve("at the bound", all(&|point| Some(point.bounded as f64))),
    ];
    ParameterPath {
        title: format!("A path along C: {what}"),
        parameter: "C".into(),
        at: points.iter().map(|point| point.c).collect(),
        quantities: vec![
            Quantity { name: "support vectors".into(), curves: support },
            Quantity::of("margin", all(&|point| point.margin)),
            Quantity::of("relative gap", all(&|point| point.relative_gap)),
            Quantity::of("training errors", all(&|point| point.training_errors.map(|errors| errors as f64))),
        ],
        ..ParameterPath::default()
    }
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
    Point {
        c,
        proved_to: None,
        stop: model.stop().name(),
        relative_gap: model.certificate().map(|summary| summary.relative_gap),
        margin: certificates().map(|certificate| certificate.margin).reduce(f64::min),
        support_vectors: certificates().map(|certificate| certificate.counts.support).sum(),
        bounded: certificates().map(|certificate| certificate.counts.bounded).sum(),
        training_errors: (task.is_classification() && model.machines().len() == 1)
            .then(|| model.machines().iter().map(|machine| machine.training_errors).sum()),
        iterations: model.iterations(),
    }
}

fn page(what: &str, accuracy: Option<f64>, stop: Stop, points: &[Point]) -> String {
    let mut page = Page::new();
    page.paragraph(what);
    if let Some(accuracy) = accuracy {
        let share = format!("{} %", number(100.0 * accuracy, 3));
        let end = points.last().and_then(|point| point.proved_to).map_or_else(String::new, |end| number(end, 3));
        page.paragraph(&if stop == Stop::Converged {
            format!("for every C up to {end} a model is proved to be within {share} of the optimum")
        } else {
            format!("the path ended ({}); up to C {end} a model is proved to be within {share}", stop.name())
        });
    }
    page.text("");
    let head = ["C", "proved to", "stopped", "gap", "margin", "support", "bounded", "errors", "iterations"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let told = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| number(value, 3));
    for point in points {
        rows.push(vec![
            number(point.c, 3),
            told(point.proved_to),
            point.stop.into(),
            told(point.relative_gap),
            told(point.margin),
            point.support_vectors.to_string(),
            point.bounded.to_string(),
            point.training_errors.map_or_else(|| "-".into(), |errors| errors.to_string()),
            point.iterations.to_string(),
        ]);
    }
    if accuracy.is_none() {
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    page.table(&rows);
    page.finish()
}
