//! `Model`: predictions, and everything that scikit-learn's attributes are made of.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use maxmargin::certificate::Evidence;
use maxmargin::data::{Label, Matrix};
use maxmargin::provenance::Note;
use maxmargin::view::VerificationView;
use maxmargin_io::{LiblinearLayout, LibsvmLayout};
use maxmargin_plot::{Format, Kind, PlotOptions, Theme};
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::data::{Data, arrays_of, workers};
use crate::door::{self, Watch};
use crate::errors::Fault;
use crate::params::Answers;
use crate::review::in_json;

/// A trained model. It never changes, so any number of threads may use it.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Model {
    pub(crate) inner: Arc<maxmargin::Model>,
}

impl From<maxmargin::Model> for Model {
    fn from(model: maxmargin::Model) -> Self {
        Model { inner: Arc::new(model) }
    }
}

/// Places among the support vectors, and the coefficients there.
type Expansion<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// For each coefficient of all machines its machine, its place among the support vectors, and itself.
type Expansions<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// The system's number of the error of a file that is not there (ENOENT).
const NO_SUCH_FILE: i32 = 2;

/// The theme of a name.
pub(crate) fn theme_of(name: &str) -> Result<Theme, Fault> {
    Theme::named(name).ok_or_else(|| Fault::Input {
        what: format!("there is no theme {}", maxmargin::error::quoted(name)),
        help: "the themes are light and dark".into(),
    })
}

/// A picture as `svg` or `png`, or else its numbers as CSV.
pub(crate) fn bytes_of(picture: &maxmargin_plot::Picture, format: &str) -> Result<Vec<u8>, Fault> {
    Ok(match format {
        "svg" => picture.bytes(Format::Svg)?,
        "png" => picture.bytes(Format::Png)?,
        _ => picture.numbers().csv().into_bytes(),
    })
}

/// Multiplications that are done on the calling thread: about as long as it takes to start another.
const BRIEF: usize = 2_000_000;

impl Model {
    /// About how many multiplications the decision values of some rows take.
    fn work(&self, matrix: &Matrix) -> usize {
        let vectors = self.inner.support_vectors().len().max(self.inner.machines().len());
        matrix.entries().max(matrix.rows()).saturating_mul(vectors)
    }

    /// What the model says of rows: with the decision values, or the classes alone.
    fn predictions(
        &self,
        py: Python<'_>,
        data: &Data,
        threads: usize,
        values: bool,
    ) -> PyResult<maxmargin::model::Predictions> {
        let (model, matrix, work) = (Arc::clone(&self.inner), data.matrix.clone(), self.work(&data.matrix));
        let predict = move || -> Result<_, Fault> {
            let workers = workers(threads, work)?;
            let aligned = model.align_by(&matrix, &workers)?;
            Ok(if values { model.predict_aligned(aligned, &workers) } else { model.predict_classes(aligned, &workers) })
        };
        match work <= BRIEF {
            true => door::brief(py, predict),
            false => door::run(py, Watch::default(), move |_| predict()),
        }
    }
}

#[pymethods]
impl Model {
    /// The decision values of rows: one column a machine.
    fn values<'py>(&self, py: Python<'py>, data: &Data, threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let predictions = self.predictions(py, data, threads, true)?;
        let (rows, machines) = (data.matrix.rows(), self.inner.machines().len());
        let values: Vec<f64> = (0..rows).flat_map(|row| predictions.decision_values(row)).copied().collect();
        values.into_pyarray(py).reshape([rows, machines])
    }

    /// For each row the place of its class.
    fn codes<'py>(&self, py: Python<'py>, data: &Data, threads: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(self.predictions(py, data, threads, false)?.codes().to_vec().into_pyarray(py))
    }

    /// The probability of each class for each row.
    fn probabilities<'py>(&self, py: Python<'py>, data: &Data, threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let predictions = self.predictions(py, data, threads, true)?;
        let probabilities = self.inner.probabilities(&predictions).map_err(Fault::from)?;
        probabilities.into_pyarray(py).reshape([data.matrix.rows(), self.inner.classes().len()])
    }

    /// Everything but vectors, weights and coefficients, as JSON.
    fn describe(&self) -> PyResult<String> {
        maxmargin_io::model_to_json(&self.inner, true).map_err(|error| Fault::Bug(error).into())
    }

    /// What `describe` says but for the machines, of which there may be millions.
    fn outline(&self) -> PyResult<String> {
        maxmargin_io::model_to_json(&self.inner, false).map_err(|error| Fault::Bug(error).into())
    }

    /// How many machines there are.
    #[getter]
    fn machines(&self) -> usize {
        self.inner.machines().len()
    }

    /// The bias of each machine.
    fn biases<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.machines().iter().map(|machine| machine.bias).collect::<Vec<f64>>().into_pyarray(py)
    }

    /// The steps of each machine.
    fn iterations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.inner.machines().iter().map(|machine| machine.iterations).collect::<Vec<u64>>().into_pyarray(py)
    }

    /// The positive and the negative class of each machine; the latter is -1 where it is all other classes.
    fn pairings<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>) {
        let pairings = || self.inner.machines().iter().map(|machine| machine.pairing);
        let positive: Vec<i64> = pairings().map(|pairing| pairing.positive as i64).collect();
        let negative: Vec<i64> = pairings().map(|pairing| pairing.negative.map_or(-1, |class| class as i64)).collect();
        (positive.into_pyarray(py), negative.into_pyarray(py))
    }

    /// The largest relative gap to the exact machine that is proved; `None` unless all machines are on landmarks and have a proof.
    fn proved_gap(&self) -> Option<f64> {
        self.inner.proved_gap()
    }

    /// The expansions of all machines, one after the other: the machine of each coefficient, its place among the support vectors, and itself.
    fn expansions<'py>(&self, py: Python<'py>) -> Expansions<'py> {
        let machines = self.inner.machines();
        let owners =
            machines.iter().enumerate().flat_map(|(k, machine)| std::iter::repeat_n(k as u32, machine.support.len()));
        let places = machines.iter().flat_map(|machine| machine.support.iter().copied());
        let coefficients = machines.iter().flat_map(|machine| machine.coefficients.iter().copied());
        (
            owners.collect::<Vec<u32>>().into_pyarray(py),
            places.collect::<Vec<u32>>().into_pyarray(py),
            coefficients.collect::<Vec<f64>>().into_pyarray(py),
        )
    }

    /// What the user should know, each sentence once: the notes of the machines, and why they have no certificate.
    fn notes(&self) -> Vec<String> {
        let machines = self.inner.machines();
        let notes = machines.iter().flat_map(|machine| &machine.notes).map(Note::to_string);
        let joint = self.inner.parts().joint.is_some();
        let reasons = machines.iter().filter(|_| !joint).filter_map(|machine| match &machine.evidence {
            Evidence::None(reason) => Some(reason.clone()),
            _ => None,
        });
        let mut seen = HashSet::new();
        notes.chain(reasons).filter(|note| seen.insert(note.clone())).collect()
    }

    /// The certificates of all machines in one: the sums of primal, dual and gap, and the largest violation and infeasibility. `None` when a
    /// machine has none.
    fn certificate_sums(&self) -> Option<(f64, f64, f64, f64, f64)> {
        let all = self.inner.certificate()?;
        Some((all.primal, all.dual, all.gap, all.violation, all.infeasibility))
    }

    /// The worst reason to stop among the machines.
    #[getter]
    fn stop(&self) -> &'static str {
        self.inner.stop().name()
    }

    /// Whether it has probabilities, of its own or by calibration.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.inner.has_probabilities()
    }

    /// The training row of each support vector, increasing.
    #[getter]
    fn support_rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.inner.parts().support_rows.clone().into_pyarray(py)
    }

    /// Of one machine: the places of its support vectors among all, and their coefficients.
    fn expansion<'py>(&self, py: Python<'py>, machine: usize) -> PyResult<Expansion<'py>> {
        let machine = self.machine(machine)?;
        Ok((machine.support.clone().into_pyarray(py), machine.coefficients.clone().into_pyarray(py)))
    }

    /// The weights of one machine of a linear model.
    fn weights<'py>(&self, py: Python<'py>, machine: usize) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.machine(machine)?.weights.clone().map(|weights| weights.into_pyarray(py)))
    }

    /// Whether these are the weights of the machines, a line of `coef` each, and these their biases; in single precision where they are given
    /// in it.
    fn has_weights(&self, coef: &Bound<'_, PyAny>, intercept: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(coef) = coef.extract::<PyReadonlyArray2<'_, f32>>() {
            let intercept = intercept.extract::<PyReadonlyArray1<'_, f32>>()?;
            return Ok(self.agrees(coef.as_array(), intercept.as_array(), |value| value as f32));
        }
        let Ok(coef) = coef.extract::<PyReadonlyArray2<'_, f64>>() else { return Ok(false) };
        let intercept = intercept.extract::<PyReadonlyArray1<'_, f64>>()?;
        Ok(self.agrees(coef.as_array(), intercept.as_array(), |value| value))
    }

    /// The support vectors: an array, or the parts of a CSR matrix; `None` for a linear or precomputed kernel.
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner.parts().vectors.as_ref().map(|matrix| arrays_of(py, matrix)).transpose()
    }

    /// The same model with other words for its classes.
    fn relabelled(&self, classes: Vec<String>) -> PyResult<Self> {
        let mut parts = self.inner.parts().clone();
        parts.classes = classes.into_iter().map(Label::new).collect();
        Ok(maxmargin::Model::new(parts).map_err(Fault::from)?.into())
    }

    /// Our file, as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &maxmargin_io::model_to_bytes(&self.inner).map_err(not_saved)?))
    }

    /// From the bytes of our file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(maxmargin_io::model_from_bytes(bytes, "bytes").map_err(Fault::from)?.into())
    }

    /// Writes our file: whole, or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        door::brief(py, || Ok(maxmargin_io::save_model(&path, &self.inner)?))
    }

    /// Reads our file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        if std::fs::metadata(&path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            // What Python's own `open` raises, with the numbers and texts of the system.
            let system = std::io::Error::from_raw_os_error(NO_SUCH_FILE);
            let text = system.to_string().split(" (os error").next().unwrap_or_default().to_string();
            return Err(PyFileNotFoundError::new_err((NO_SUCH_FILE, text, path.into_os_string())));
        }
        door::brief(py, || Ok(maxmargin_io::load_model(&path)?)).map(Model::from)
    }

    /// The text of LIBSVM's model file; a linear model has its support vectors when its rows are given.
    #[pyo3(signature = (data=None))]
    fn to_libsvm(&self, data: Option<&Data>) -> PyResult<String> {
        let layout = LibsvmLayout { rows: data.map(|data| &data.matrix), ..LibsvmLayout::default() };
        Ok(maxmargin_io::libsvm_model_to_text(&self.inner, layout).map_err(Fault::from)?)
    }

    /// The text of LIBLINEAR's model file.
    fn to_liblinear(&self) -> PyResult<String> {
        Ok(maxmargin_io::liblinear_model_to_text(&self.inner, LiblinearLayout::default()).map_err(Fault::from)?)
    }

    /// The bytes of an ONNX model.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &maxmargin_io::onnx_model_to_bytes(&self.inner).map_err(Fault::from)?))
    }

    /// Computes every certificate anew, trusting only the coefficients; what was found, as JSON.
    fn verify(&self, py: Python<'_>, data: &Data, answers: Answers<'_>, threads: usize) -> PyResult<String> {
        let dataset = answers.dataset(&data.matrix)?;
        let model = Arc::clone(&self.inner);
        door::run(py, Watch::default(), move |_| {
            let found = model.verify(&dataset, &workers(threads, usize::MAX)?)?;
            in_json(serde_json::to_string(&VerificationView::new(&model, &found)))
        })
    }

    /// A picture of the model, as the bytes of an SVG or PNG file, or the table of its numbers as CSV.
    #[pyo3(signature = (data, answers, kind, columns, title, width, height, theme, row, format, threads))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn picture<'py>(
        &self,
        py: Python<'py>,
        data: Option<&Data>,
        answers: Option<Answers<'_>>,
        kind: Option<&str>,
        columns: Option<(String, String)>,
        title: Option<String>,
        width: u32,
        height: u32,
        theme: &str,
        row: usize,
        format: &str,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let dataset = match (data, answers) {
            (Some(data), Some(answers)) => Some(answers.dataset(&data.matrix)?),
            _ => None,
        };
        let model = Arc::clone(&self.inner);
        let kind = match kind {
            None => Kind::usual(model.task()),
            Some(name) => Kind::named(name).ok_or_else(|| Fault::Input {
                what: format!("there is no kind of picture {}", maxmargin::error::quoted(name)),
                help: format!("the kinds are {}", Kind::ALL.map(Kind::name).join(", ")),
            })?,
        };
        let options = PlotOptions { width, height, columns, title, theme: theme_of(theme)?, row };
        let format = format.to_string();
        let bytes = door::run(py, Watch::default(), move |_| {
            let workers = workers(threads, usize::MAX)?;
            let picture = maxmargin_plot::plot(kind, &model, dataset.as_ref(), &options, &workers)?;
            bytes_of(&picture, &format)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Model {
    /// Whether the weights and biases of the machines are these numbers, once `rounded`.
    fn agrees<T: Copy + PartialEq>(
        &self,
        coef: ArrayView2<'_, T>,
        intercept: ArrayView1<'_, T>,
        rounded: impl Fn(f64) -> T,
    ) -> bool {
        let machines = self.inner.machines();
        // Scaled columns are not those that the weights of a user are for.
        if coef.nrows() != machines.len() || intercept.len() != machines.len() || self.inner.parts().scaling.is_some() {
            return false;
        }
        machines.iter().zip(coef.rows()).zip(&intercept).all(|((machine, line), &bias)| {
            let Some(weights) = &machine.weights else { return false };
            weights.len() == line.len()
                && rounded(machine.bias) == bias
                && weights.iter().zip(&line).all(|(&weight, &own)| rounded(weight) == own)
        })
    }

    fn machine(&self, number: usize) -> PyResult<&maxmargin::model::Machine> {
        let none = || Fault::Input { what: format!("there is no machine {number}"), help: String::new() };
        self.inner.machines().get(number).ok_or_else(|| none().into())
    }
}

fn not_saved(what: String) -> Fault {
    Fault::Input { what, help: "choose a kernel that has a name".into() }
}
