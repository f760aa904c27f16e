//! What is searched, from the arguments and the data.

use std::borrow::Cow;
use std::time::Duration;

use maxmargin::data::{Dataset, Folds, Label, Scaling, ScalingKind};
use maxmargin::diagnosis::look_like_amounts;
use maxmargin::error::{Error, Parameter, quoted};
use maxmargin::kernel::KernelParams;
use maxmargin::problem::Task;
use maxmargin::tuning::{Axis, Grid, GridPart, Knob, Search, Splits, kernel_name};
use maxmargin::{TrainingParams, Workers};

use crate::arguments::{TaskKind, Tune};
use crate::failure::Failure;
use crate::report::{counted, number};
use crate::size;

/// ε and ν where none are tried.
const EPSILON: f64 = 0.1;
const NU: f64 = 0.5;

/// Seconds of a limit on time.
pub(super) fn seconds(value: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(value) {
        Ok(limit) if value > 0.0 => Ok(limit),
        _ => Err(maxmargin::Error::parameter("max-time", value, "a number of seconds above 0").into()),
    }
}

/// What all cells have in common.
pub(super) fn params(arguments: &Tune) -> Result<TrainingParams, Failure> {
    let mut params = TrainingParams {
        task: match arguments.task() {
            TaskKind::Classification => Task::Classification,
            TaskKind::Regression => Task::Regression { epsilon: EPSILON },
            TaskKind::OneClass => Task::OneClass { nu: NU },
            TaskKind::Svdd => Task::Svdd { nu: NU },
        },
        loss: arguments.loss,
        bias: arguments.bias,
        positive: arguments.positive.as_deref().map(Label::new),
        class_weights: arguments.class_weights.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        ..TrainingParams::default()
    };
    params.settings.tolerance = arguments.tolerance;
    params.settings.memory = size::asked(arguments.memory.as_deref())?;
    params.settings.seed = arguments.reading.seed();
    Ok(params)
}

/// The kernels, each with the parameters that it has.
pub(super) fn grid(arguments: &Tune) -> Result<Grid, Failure> {
    let axes = arguments.grid.as_deref().map(Axis::read_all).transpose()?.unwrap_or_default();
    let mut parts = Vec::new();
    for name in &arguments.kernel {
        let mut kernel: KernelParams = name.trim().to_ascii_lowercase().parse()?;
        if matches!(kernel, KernelParams::Precomputed) {
            return Err(Failure::new("a table of kernel values has no parameters to search", "choose another kernel"));
        }
        let has = |axis: &&Axis| match axis.knob {
            Knob::Gamma => kernel.clone().gamma_mut().is_some(),
            Knob::Degree => kernel.clone().degree_mut().is_some(),
            Knob::Coef0 => kernel.clone().coef0_mut().is_some(),
            Knob::C | Knob::Epsilon | Knob::Nu => true,
        };
        let own: Vec<Axis> = axes.iter().filter(has).cloned().collect();
        // The constant 0 makes even powers of opposite rows the same.
        if let Some(coef0) = kernel.coef0_mut().filter(|coef0| **coef0 == 0.0) {
            *coef0 = 1.0;
        }
        parts.push(GridPart { kernel, axes: own });
    }
    if let Some(axis) =
        axes.iter().find(|axis| parts.iter().all(|part| part.axes.iter().all(|own| own.knob != axis.knob)))
    {
        return Err(Failure::new(
            format!("none of the kernels {} has a {}", arguments.kernel.join(", "), axis.knob.name()),
            "leave it out of --grid, or choose another --kernel",
        ));
    }
    Ok(Grid { parts })
}

/// The grid with the values that the data suggests, where none are named.
pub(super) fn filled(grid: &Grid, params: &TrainingParams, data: &Dataset, workers: &Workers) -> Result<Grid, Error> {
    let columns = match params.scaling {
        ScalingKind::None => Cow::Borrowed(data.matrix()),
        kind => Cow::Owned(Scaling::learn_by(kind, data.matrix(), workers).apply_by(data.matrix(), workers)?),
    };
    grid.clone().filled(params, &columns, workers)
}

/// An error in the words of this command: parameters of the grid by their names, others as flags.
pub(super) fn told(error: Error) -> Failure {
    let name = |parameter: Parameter| match parameter {
        Parameter::Argument("folds" | "repeats") | Parameter::Tolerance => format!("--{}", parameter.name()),
        _ => parameter.name().into(),
    };
    Failure::new(error.text_by(name), error.help_by(name))
}

/// Takes a column of whole numbers out of the data.
pub(super) fn take_column(data: Dataset, name: Option<&str>) -> Result<(Dataset, Option<Vec<i64>>), Failure> {
    let Some(name) = name else { return Ok((data, None)) };
    let column = data.find_column(name)?;
    let mut numbers = Vec::with_capacity(data.rows());
    for row in 0..data.rows() {
        let mut value = 0.0;
        data.matrix().visit(row, |own, entry| value = if own == column { entry } else { value });
        if value.fract() != 0.0 || value.abs() >= 9e15 {
            let place = format!("row {} of column {} is {value}", row + 1, quoted(name));
            return Err(Failure::new(
                format!("{place}, and no whole number"),
                "give each group or fold a whole number",
            ));
        }
        numbers.push(value as i64);
    }
    let others: Vec<String> = (0..data.columns()).filter(|&own| own != column).map(|own| data.name(own)).collect();
    Ok((data.select_columns(&others)?, Some(numbers)))
}

/// Refuses labels that look like amounts, unless it was said that they are classes.
pub(super) fn check_labels(arguments: &Tune, data: &Dataset) -> Result<(), Failure> {
    if arguments.task.is_some() || arguments.positive.is_some() {
        return Ok(());
    }
    let classes = data.labels()?.classes();
    if look_like_amounts(classes, data.rows()) {
        return Err(Failure::new(
            format!(
                "the labels are {} different numbers in {}: amounts rather than classes",
                classes.len(),
                counted(data.rows(), "row")
            ),
            "to learn amounts: --task regression; if they are classes: --task classification",
        ));
    }
    Ok(())
}

/// The splits, and how they were drawn, in words.
pub(super) fn splits(arguments: &Tune, data: &Dataset, numbers: Option<&[i64]>) -> Result<(Splits, String), Error> {
    let (folds, repeats, seed) = (arguments.folds, arguments.repeats, arguments.reading.seed());
    let times = if repeats > 1 { format!(", {repeats} times") } else { String::new() };
    if let (Some(column), Some(numbers)) = (&arguments.fold_column, numbers) {
        let splits = Splits::of_folds(&Folds::given(numbers)?)?;
        let words = format!("{} as column {} says", counted(splits.list().len(), "fold"), quoted(column));
        return Ok((splits, words));
    }
    if let (Some(column), Some(numbers)) = (&arguments.groups, numbers) {
        let splits = Splits::grouped(data, numbers, folds, repeats, seed)?;
        return Ok((
            splits,
            format!("{folds} folds{times} that keep groups of column {} whole, seed {seed}", quoted(column)),
        ));
    }
    let way = if arguments.task() == TaskKind::Regression { "drawn" } else { "stratified" };
    Ok((Splits::of_data(data, folds, repeats, seed)?, format!("{folds} folds{times}, {way}, seed {seed}")))
}

/// What is searched, in words.
pub(super) fn what(search: &Search, data: &Dataset, drawn: &str) -> String {
    let scaled = match search.params().training.scaling {
        ScalingKind::None => "columns as they are",
        ScalingKind::MinMax => "columns scaled to one range within each fold",
        _ => "columns standardised within each fold",
    };
    let of_part = |part: &GridPart| {
        let axis = |axis: &Axis| {
            let values: Vec<f64> = axis.values.clone();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!("{} {} .. {} ({})", axis.knob.name(), number(least, 2), number(most, 2), values.len())
        };
        let axes: Vec<String> = part.axes.iter().map(axis).collect();
        format!("{}, {}", kernel_name(&part.kernel), axes.join(", "))
    };
    let parts: Vec<String> = search.grid().parts.iter().map(of_part).collect();
    let size = format!("{}, {}", counted(data.rows(), "row"), counted(data.columns(), "column"));
    format!("{size}; {drawn}; {scaled}; {}", parts.join("; "))
}
