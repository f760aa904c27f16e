//! `Search` and `Tuned`: parameters by cross validation, what the choice is worth, and the model.
//!
//! ```text
//! data, answers, params, plan --new--> Search --run--> Tuned;   Search --fit(cell)--> Model
//! ```

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use maxmargin::data::{Dataset, Matrix, Scaling, ScalingKind};
use maxmargin::kernel::KernelParams;
use maxmargin::training::{ClassWeights, choose_kernel};
use maxmargin::tuning::{
    Axis, Choose, FoldResult, Grid, GridPart, Knob, Metric, Results, SearchParams, Setting, Split, Splits, kernel_name,
};
use maxmargin::view::TunedView;
use maxmargin::{Control, Progress, Stop};
use maxmargin_plot::{PlotOptions, SearchKind};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::control::{Attended, Entry};
use crate::data::{Data, workers};
use crate::door::{self, Line, Watch};
use crate::errors::{Fault, InputError};
use crate::fit::seconds;
use crate::model::{Model, bytes_of, theme_of};
use crate::params::{Answers, Params, classes_of};
use crate::review::in_json;

/// How often a checkpoint is written.
const KEPT_EVERY: Duration = Duration::from_secs(5);
/// How often the calling thread is told how far the search is.
const TOLD_EVERY: Duration = Duration::from_millis(20);

/// A parameter by its name, and its values.
type Values = (String, Vec<f64>);

/// Row numbers.
type Rows<'py> = PyReadonlyArray1<'py, i64>;

/// What is tried, on which splits, and what is to be good: every item is there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Plan<'py> {
    /// Kernels in the words of the command line, and what each of them varies.
    parts: Vec<(String, Vec<Values>)>,
    /// Whether parameters that a kernel has and that have no values get those that the data suggests.
    fills: bool,
    /// `none`, `standard` or `minmax`; `None`: as suits the data.
    scaling: Option<String>,
    /// Whether all classes weigh the same in each fold.
    balanced: bool,
    /// Splits that are given: rows to train on, rows that are held out.
    splits: Option<Vec<(Rows<'py>, Rows<'py>)>>,
    /// Splits that are drawn: folds, and how often they are drawn anew.
    folds: usize,
    repeats: usize,
    /// The group of each row, whose rows stay together.
    groups: Option<Rows<'py>>,
    metric: String,
    /// Whether cells are left that can neither win nor be chosen any more.
    abandon: bool,
    seed: u64,
}

impl Plan<'_> {
    fn grid(&self) -> Result<Grid, Fault> {
        let axis = |(name, values): &Values| -> Result<Axis, Fault> {
            let knob = Knob::from_name(name).ok_or_else(|| Fault::Input {
                what: format!("the grid has values for {name:?}, which is no parameter that a search varies"),
                help: "C, gamma, degree, coef0, epsilon and nu are".into(),
            })?;
            Ok(Axis { knob, values: values.clone() })
        };
        let part = |(kernel, axes): &(String, Vec<Values>)| -> Result<GridPart, Fault> {
            Ok(GridPart {
                kernel: kernel.parse::<KernelParams>()?,
                axes: axes.iter().map(axis).collect::<Result<_, _>>()?,
            })
        };
        Ok(Grid { parts: self.parts.iter().map(part).collect::<Result<_, _>>()? })
    }

    fn splits(&self, data: &Dataset) -> Result<Splits, Fault> {
        if let Some(given) = &self.splits {
            // A negative number becomes one that is out of every range.
            let rows = |rows: &Rows<'_>| -> Vec<usize> {
                rows.as_array().iter().map(|&row| usize::try_from(row).unwrap_or(usize::MAX - 1)).collect()
            };
            let split = |(train, test): &(Rows<'_>, Rows<'_>)| Split { train: rows(train), test: rows(test) };
            return Ok(Splits::given(given.iter().map(split).collect(), data.rows())?);
        }
        Ok(match &self.groups {
            Some(groups) => {
                let groups: Vec<i64> = groups.as_array().iter().copied().collect();
                Splits::grouped(data, &groups, self.folds, self.repeats, self.seed)?
            }
            None => Splits::of_data(data, self.folds, self.repeats, self.seed)?,
        })
    }

    fn metric(&self) -> Result<Metric, Fault> {
        Metric::from_name(&self.metric).ok_or_else(|| Fault::Input {
            what: format!("{:?} is no metric of a search", self.metric),
            help: format!("{} are", Metric::ALL.map(|metric| metric.name().to_string()).join(", ")),
        })
    }

    fn scaling(&self) -> Result<Option<ScalingKind>, Fault> {
        let of = |name: &String| {
            ScalingKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| Fault::Input {
                what: format!("{name:?} is no way to scale columns"),
                help: "none, standard and minmax are".into(),
            })
        };
        self.scaling.as_ref().map(of).transpose()
    }
}

/// Values of parameters as people write them: `C=0.01:1000:10,gamma=0.1,1`.
#[pyfunction]
pub(crate) fn read_grid(text: &str) -> PyResult<Vec<Values>> {
    let axes = Axis::read_all(text).map_err(Fault::from)?;
    Ok(axes.into_iter().map(|axis| (axis.knob.name().to_string(), axis.values)).collect())
}

/// A search whose cells are checked, and its data.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Search {
    inner: Arc<maxmargin::tuning::Search>,
    data: Arc<Dataset>,
}

#[pymethods]
impl Search {
    #[new]
    fn new(
        py: Python<'_>,
        data: &Data,
        answers: Answers<'_>,
        params: Params,
        plan: Plan<'_>,
        threads: usize,
    ) -> PyResult<Self> {
        let dataset = answers.dataset(&data.matrix)?;
        let mut training = params.unchecked(classes_of(&dataset))?;
        if plan.balanced {
            training.class_weights = ClassWeights::Balanced;
        }
        training.scaling = match plan.scaling()? {
            Some(kind) => kind,
            None => choose_kernel(&training, &data.matrix, matches!(data.matrix, Matrix::Dense(_))).scaling,
        };
        let (grid, splits, metric) = (plan.grid()?, plan.splits(&dataset)?, plan.metric()?);
        let (fills, abandon, seed) = (plan.fills, plan.abandon, plan.seed);
        door::brief(py, || {
            let mut grid = grid;
            if fills {
                let workers = workers(threads, usize::MAX)?;
                grid = match training.scaling {
                    ScalingKind::None => grid.filled(&training, dataset.matrix(), &workers)?,
                    kind => {
                        let scaling = Scaling::learn_by(kind, dataset.matrix(), &workers);
                        grid.filled(&training, &scaling.apply_by(dataset.matrix(), &workers)?, &workers)?
                    }
                };
            }
            let params = SearchParams { training, grid, splits, metric, abandon, tables: true, seed };
            Ok(Search { inner: Arc::new(params.check()?), data: Arc::new(dataset) })
        })
    }

    /// What is done to the columns: none, standard or minmax.
    #[getter]
    fn scaling(&self) -> &'static str {
        self.inner.params().training.scaling.name()
    }

    /// The kernels that are tried, and the values that each varies, in the order of the parts.
    fn axes(&self) -> Vec<(&'static str, Vec<Values>)> {
        let of_axis = |axis: &Axis| (axis.knob.name().to_string(), axis.values.clone());
        let of_part = |part: &GridPart| (kernel_name(&part.kernel), part.axes.iter().map(of_axis).collect());
        self.inner.grid().parts.iter().map(of_part).collect()
    }

    /// The part of the grid that each cell is of, and its values, C last.
    fn settings(&self) -> Vec<(usize, Vec<(&'static str, f64)>)> {
        let values = |setting: &Setting| setting.values.iter().map(|&(knob, value)| (knob.name(), value)).collect();
        self.inner.settings().iter().map(|setting| (setting.part, values(setting))).collect()
    }

    /// The held-out rows of each split, ascending.
    fn held_out_rows<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<i64>>> {
        let rows = |split: &Split| split.test.iter().map(|&row| row as i64).collect::<Vec<_>>().into_pyarray(py);
        self.inner.params().splits.list().iter().map(rows).collect()
    }

    /// Searches, and returns what was found with why no checkpoint could be written, if one could not. A checkpoint that is there is where it
    /// begins; it is removed at the end.
    #[pyo3(signature = (threads, max_time=None, checkpoint=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        max_time: Option<f64>,
        checkpoint: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Tuned, Option<String>)> {
        let limit = max_time.map(seconds).transpose()?;
        let (search, data) = (Arc::clone(&self.inner), Arc::clone(&self.data));
        let work = move |line: &Arc<Line>| {
            let from = match &checkpoint {
                Some(path) if path.exists() => load(path)?,
                _ => Results::default(),
            };
            let workers = workers(threads, usize::MAX)?;
            let mut control = Searching::new(line, limit);
            let mut kept = Kept { path: checkpoint, last: Instant::now(), failure: None };
            let found =
                search.run_from(&data, from, &workers, &mut control, &mut |results, last| kept.keep(results, last))?;
            if found.stop == Stop::Interrupted {
                return Err(Fault::Interrupted);
            }
            if let Some(path) = kept.path.filter(|_| found.stop == Stop::Converged) {
                // What was kept has done its work; a file that is not there was never written.
                let _ = std::fs::remove_file(path);
            }
            Ok((Tuned { inner: found }, kept.failure))
        };
        door::run(py, Watch(progress), work)
    }

    /// Trains on all rows with the parameters of a cell. Returns the model with the history of the steps.
    #[pyo3(signature = (cell, threads, max_time=None, progress=None))]
    fn fit(
        &self,
        py: Python<'_>,
        cell: usize,
        threads: usize,
        max_time: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Model, Vec<Entry>)> {
        let limit = max_time.map(seconds).transpose()?;
        let (search, data) = (Arc::clone(&self.inner), Arc::clone(&self.data));
        let work = move |line: &Arc<Line>| {
            let training = search.training(cell).ok_or_else(|| Fault::Bug(format!("there is no cell {cell}")))?;
            let mut control = Attended::new(line, limit, None);
            let model = training.fit(&data, &workers(threads, usize::MAX)?, &mut control)?;
            if model.stop() == Stop::Interrupted {
                return Err(Fault::Interrupted);
            }
            Ok((model, control.end().0))
        };
        let (model, history) = door::run(py, Watch(progress), work)?;
        Ok((Model::from(model), history))
    }
}

/// What a search found.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Tuned {
    inner: maxmargin::tuning::Tuned,
}

impl Tuned {
    fn of_split(&self, cell: usize, split: usize) -> PyResult<Option<&FoldResult>> {
        let folds = self.inner.cells.get(cell).and_then(|cell| cell.folds.get(split));
        Ok(folds.ok_or_else(|| InputError::new_err(format!("there is no cell {cell} with a split {split}")))?.as_ref())
    }
}

#[pymethods]
impl Tuned {
    /// Everything but what is predicted, as JSON.
    fn view(&self, one_se: bool) -> PyResult<String> {
        let choose = if one_se { Choose::OneSe } else { Choose::Best };
        in_json(serde_json::to_string(&TunedView::new(&self.inner, choose, false))).map_err(PyErr::from)
    }

    /// What a cell predicts for the held-out rows of a split: numbers, or the places of classes; `None` where it was not done.
    fn predicted<'py>(
        &self,
        py: Python<'py>,
        cell: usize,
        split: usize,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.of_split(cell, split)?.map(|found| found.predicted.clone().into_pyarray(py)))
    }

    /// A picture of the search as `svg` or `png`, or else its numbers as CSV.
    #[pyo3(signature = (kind, one_se, title, width, height, theme, format))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn picture<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        one_se: bool,
        title: Option<String>,
        width: u32,
        height: u32,
        theme: &str,
        format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let kind = SearchKind::named(kind).ok_or_else(|| Fault::Input {
            what: format!("there is no kind of picture {}", maxmargin::error::quoted(kind)),
            help: format!("the kinds are {}", SearchKind::ALL.map(SearchKind::name).join(", ")),
        })?;
        let options = PlotOptions { title, width, height, theme: theme_of(theme)?, ..PlotOptions::default() };
        let choose = if one_se { Choose::OneSe } else { Choose::Best };
        let bytes = door::brief(py, || {
            let view = TunedView::new(&self.inner, choose, false);
            bytes_of(&maxmargin_plot::plot_search(kind, &view, &options)?, format)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The decision values of those rows, where a model is one machine; else empty.
    fn values<'py>(&self, py: Python<'py>, cell: usize, split: usize) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.of_split(cell, split)?.map(|found| found.values.clone().into_pyarray(py)))
    }
}

/// The control of a search.
struct Searching {
    line: Arc<Line>,
    started: Instant,
    told: Instant,
    limit: Option<Duration>,
}

impl Searching {
    fn new(line: &Arc<Line>, limit: Option<Duration>) -> Self {
        let now = Instant::now();
        Searching { line: Arc::clone(line), started: now, told: now, limit }
    }
}

impl Control for Searching {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        let now = Instant::now();
        if self.line.interrupted() {
            return ControlFlow::Break(Stop::Interrupted);
        }
        if self.limit.is_some_and(|limit| now - self.started >= limit) {
            return ControlFlow::Break(Stop::TimeLimit);
        }
        if now - self.told >= TOLD_EVERY {
            self.told = now;
            self.line.say(progress);
        }
        ControlFlow::Continue(())
    }
}

/// Keeps where a search is.
struct Kept {
    path: Option<PathBuf>,
    last: Instant,
    failure: Option<String>,
}

impl Kept {
    fn keep(&mut self, results: &Results, is_last: bool) {
        let Some(path) = &self.path else { return };
        if !is_last && self.last.elapsed() < KEPT_EVERY {
            return;
        }
        let written = match serde_json::to_vec(results) {
            Ok(bytes) => {
                maxmargin_io::save_atomically(path, &bytes).map_err(|error| format!("{error}; {}", error.help()))
            }
            Err(error) => Err(error.to_string()),
        };
        self.failure = written.err().map(|why| format!("no checkpoint was written: {why}"));
        self.last = Instant::now();
    }
}

/// Reads a checkpoint.
fn load(path: &std::path::Path) -> Result<Results, Fault> {
    let refuse = |what: String| Fault::Input { what, help: "name another file, or remove this one".into() };
    let bytes = std::fs::read(path)
        .map_err(|error| refuse(format!("checkpoint {} cannot be read: {error}", path.display())))?;
    let found = serde_json::from_slice::<Results>(&bytes).ok().filter(|results| *results != Results::default());
    found.ok_or_else(|| refuse(format!("{} is no checkpoint of a search, or not a whole one", path.display())))
}
