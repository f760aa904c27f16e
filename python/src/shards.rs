//! Training on shards of rows: what a worker holds of them, and who leads. The messages between the two are bytes, which Python carries.
//!
//! ```text
//! Leader.next --bytes--> Shard.answer --bytes--> Leader.hear ..  Leader.finish --> Model
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use maxmargin::certificate::Certificate;
use maxmargin::data::{AnswerKind, Dataset, Label, Labels};
use maxmargin::shards::{self, Answer, Heard, Moments, Proof, Request};
use maxmargin::{Stop, Workers};
use maxmargin_io::{ReadOptions, Reader};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::data::{Data, arrays_of};
use crate::door;
use crate::errors::Fault;
use crate::model::Model;
use crate::params::{Answers, Params, labels, labels_of_words};
use crate::review::in_json;

/// Threads that all shards of a process share.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Team {
    workers: Workers,
}

#[pymethods]
impl Team {
    /// A team of this many threads.
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        Ok(Team { workers: Workers::new(threads).map_err(Fault::from)? })
    }

    /// How many threads there are.
    #[getter]
    fn threads(&self) -> usize {
        self.workers.threads()
    }
}

/// Rows with answers, read from files by the engine.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Part {
    data: Dataset,
}

#[pymethods]
impl Part {
    /// The rows of a file: all of them, or from one byte of a text up to another, both at the beginning of a line.
    #[staticmethod]
    #[pyo3(signature = (path, label, numbers, bytes, team))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        label: Option<String>,
        numbers: bool,
        bytes: Option<(u64, u64)>,
        team: &Team,
    ) -> PyResult<Self> {
        let answers = if numbers { AnswerKind::Numbers } else { AnswerKind::Classes };
        let options = ReadOptions { label, answers, ..ReadOptions::default() };
        let workers = team.workers.clone();
        let data = door::brief(py, || {
            let reader = Reader::new(&options).on(&workers);
            Ok(match bytes {
                None => reader.read_path(&path)?,
                Some(range) => reader.read_bytes(&cut(&path, range)?, &path.to_string_lossy())?,
            })
        })?;
        Ok(Part { data })
    }

    /// The rows of some parts, one below the other, with the columns of the widest.
    #[staticmethod]
    fn joined(py: Python<'_>, parts: Vec<Py<Part>>) -> PyResult<Self> {
        let all: Vec<Dataset> = parts.iter().map(|part| part.get().data.clone()).collect();
        let data = door::brief(py, || {
            let columns = all.iter().map(Dataset::columns).max().unwrap_or(0);
            let widened = |data: Dataset| -> Result<Dataset, maxmargin_io::Error> {
                let fault = |error| maxmargin_io::Error::Data { path: "the files of a shard".into(), error };
                if data.columns() == columns {
                    return Ok(data);
                }
                let matrix = data.matrix().resized(columns);
                data.with_matrix(matrix).map_err(fault)
            };
            Ok(maxmargin_io::join(all.into_iter().map(widened), "the files of a shard")?)
        })?;
        Ok(Part { data })
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.data.rows(), self.data.columns())
    }

    /// The bytes that the rows take.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.data.matrix().bytes() + 8 * self.data.rows() as u64
    }

    /// The names of the columns, where they have some.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.data.names().map(<[String]>::to_vec)
    }

    /// The numbers of the rows in this many columns: an array, or the parts of a CSR matrix (numbers, columns, offsets).
    fn arrays<'py>(&self, py: Python<'py>, columns: usize) -> PyResult<Bound<'py, PyAny>> {
        let own = self.data.matrix();
        if own.columns() == columns { arrays_of(py, own) } else { arrays_of(py, &own.resized(columns)) }
    }

    /// The labels, each once, and the place of each row's label among them; None where the answers are numbers.
    fn labels<'py>(&self, py: Python<'py>) -> Option<(Vec<String>, Bound<'py, PyArray1<u32>>)> {
        let labels = self.data.answers().labels()?;
        let words = labels.classes().iter().map(|label| label.text().to_string()).collect();
        Some((words, labels.codes().to_vec().into_pyarray(py)))
    }

    /// The number of each row; None where the answers are labels.
    fn numbers<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.data.answers().numbers()?.to_vec().into_pyarray(py))
    }

    /// The weight of each row; None where each weighs 1.
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.data.weights()?.to_vec().into_pyarray(py))
    }

    /// The labels, each once, and the weight of the rows of each; empty where the answers are numbers.
    fn masses(&self, py: Python<'_>) -> (Vec<String>, Vec<f64>) {
        py.detach(|| {
            let Some(labels) = self.data.answers().labels() else { return (Vec::new(), Vec::new()) };
            let mut masses = vec![0.0; labels.classes().len()];
            for (row, &code) in labels.codes().iter().enumerate() {
                masses[code as usize] += self.data.weights().map_or(1.0, |weights| weights[row]);
            }
            (labels.classes().iter().map(|label| label.text().to_string()).collect(), masses)
        })
    }

    /// A shard of these rows with this many columns, more than they have where others have more. `classes` are the labels of all shards in
    /// their order, and `factors` what the weights of rows of each class are multiplied by.
    #[pyo3(signature = (number, columns, classes, factors, team))]
    fn shard(
        &self,
        py: Python<'_>,
        number: usize,
        columns: usize,
        classes: Vec<String>,
        factors: Option<Vec<f64>>,
        team: &Team,
    ) -> PyResult<Shard> {
        door::brief(py, || {
            let mut data = self.data.clone();
            if columns != data.columns() {
                let matrix = data.matrix().resized(columns);
                data = data.with_matrix(matrix)?;
            }
            if let Some(known) = self.data.answers().labels() {
                let own: Vec<Label> = classes.iter().map(Label::new).collect();
                let place = |label: &Label| own.iter().position(|other| other == label).map(|place| place as u32);
                let places: Option<Vec<u32>> = known.classes().iter().map(place).collect();
                let places = places.ok_or_else(|| Fault::Bug("a label that no survey has seen".into()))?;
                let codes: Vec<u32> = known.codes().iter().map(|&code| places[code as usize]).collect();
                if let Some(factors) = &factors {
                    let weight = |(row, &code): (usize, &u32)| {
                        factors[code as usize] * self.data.weights().map_or(1.0, |weights| weights[row])
                    };
                    let weights = codes.iter().enumerate().map(weight).collect();
                    data = data.with_weights(weights)?;
                }
                data = data.with_answers(labels(&classes, codes)?)?;
            }
            Ok(Shard::of(number, data, team))
        })
    }
}

/// Labels in words, each once and in the engine's order (numbers by value, then text), and the place of each of the given words among them.
#[pyfunction]
pub(crate) fn sorted_labels(words: Vec<String>) -> (Vec<String>, Vec<u32>) {
    let labels = Labels::new(words.into_iter().map(Label::new));
    (labels.classes().iter().map(|label| label.text().to_string()).collect(), labels.codes().to_vec())
}

/// The bytes of a file from one place to another.
fn cut(path: &Path, (start, end): (u64, u64)) -> Result<Vec<u8>, Fault> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(end.saturating_sub(start)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| Fault::Input {
        what: format!("{} cannot be read: {error}", path.display()),
        help: "name files that every worker can read".into(),
    })
}

/// Rows that a worker holds, and what it remembers of the last request.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Shard {
    inner: Mutex<shards::Shard>,
    rows: usize,
    bytes: u64,
}

impl Shard {
    fn of(number: usize, data: Dataset, team: &Team) -> Self {
        let inner = shards::Shard::new(number, data, &team.workers);
        Shard { rows: inner.rows(), bytes: inner.bytes(), inner: Mutex::new(inner) }
    }
}

#[pymethods]
impl Shard {
    /// A shard of these rows; its number says where it stands among the others.
    #[new]
    fn new(py: Python<'_>, number: usize, data: &Data, answers: Answers<'_>, team: &Team) -> PyResult<Self> {
        let dataset = answers.dataset(&data.matrix)?;
        door::brief(py, || Ok(Shard::of(number, dataset, team)))
    }

    /// The answer to a request, both as bytes.
    fn answer<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = door::brief(py, || {
            let request = Request::from_bytes(request)?;
            Ok(lock(&self.inner).answer(&request).to_bytes())
        })?;
        Ok(PyBytes::new(py, &answer))
    }

    /// The moments of the rows, whose labels are among `classes`, as bytes.
    fn moments<'py>(&self, py: Python<'py>, classes: Vec<String>) -> PyResult<Bound<'py, PyBytes>> {
        let found = door::brief(py, || Ok(lock(&self.inner).moments(&labels_of_words(&classes))?.to_bytes()))?;
        Ok(PyBytes::new(py, &found))
    }

    #[getter]
    fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes that it takes, but for what it remembers of a training.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.bytes
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a training on shards has found: the model, the certificates as JSON, the proof, and the kinds of processors that answered.
type Finished<'py> = (Model, String, Bound<'py, PyBytes>, Vec<String>);

/// Leads a training on shards: says what to ask, and hears the answers in any order.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Leader {
    inner: Mutex<shards::Leader>,
}

impl Leader {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut shards::Leader) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        door::brief(py, || work(&mut lock(&self.inner)))
    }
}

impl From<shards::Leader> for Leader {
    fn from(leader: shards::Leader) -> Self {
        Leader { inner: Mutex::new(leader) }
    }
}

#[pymethods]
impl Leader {
    /// A training on this many shards. `number` tells it from other trainings on the same workers.
    #[new]
    fn new(params: Params, classes: Vec<String>, shards: usize, number: u64) -> PyResult<Self> {
        let training = params.training(&labels_of_words(&classes))?;
        Ok(shards::Leader::new(training, shards, number).map_err(Fault::from)?.into())
    }

    /// Certifies what another training has found, without a search.
    #[staticmethod]
    fn verifying(params: Params, classes: Vec<String>, shards: usize, number: u64, proof: &[u8]) -> PyResult<Self> {
        let training = params.training(&labels_of_words(&classes))?;
        let proof = Proof::from_bytes(proof).map_err(Fault::from)?;
        Ok(shards::Leader::verifying(training, shards, number, proof).map_err(Fault::from)?.into())
    }

    /// Goes on from a snapshot. `number` must be another one than before.
    #[staticmethod]
    fn from_snapshot(params: Params, classes: Vec<String>, shards: usize, number: u64, bytes: &[u8]) -> PyResult<Self> {
        let training = params.training(&labels_of_words(&classes))?;
        Ok(shards::Leader::restore(training, shards, number, bytes).map_err(Fault::from)?.into())
    }

    /// What to ask every shard now, as bytes; None when the training is done. `full`: for a shard that remembers nothing.
    #[pyo3(signature = (full=false))]
    fn next<'py>(&self, py: Python<'py>, full: bool) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = self.with(py, |leader| {
            let request = if full { leader.request_in_full() } else { leader.request() };
            Ok(request.map(|request| request.to_bytes()))
        })?;
        Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The shards whose answers are missing in this round.
    fn missing(&self) -> Vec<usize> {
        lock(&self.inner).missing()
    }

    /// Takes the answer of a shard: `taken`, `round-done`, `known`, `behind` or `wrong`, and the reason of the last.
    fn hear(&self, py: Python<'_>, shard: usize, answer: &[u8]) -> PyResult<(&'static str, Option<String>)> {
        self.with(py, |leader| {
            // Bytes that are no answer are a wrong one.
            let Ok(answer) = Answer::from_bytes(answer) else {
                return Ok(("wrong", Some("the bytes are no answer of this version".to_string())));
            };
            if answer.shard() != shard {
                return Ok(("wrong", Some(format!("it is the answer of shard {}", answer.shard()))));
            }
            Ok(match leader.hear(&answer)? {
                Heard::Taken => ("taken", None),
                Heard::RoundDone => ("round-done", None),
                Heard::Known => ("known", None),
                Heard::Behind => ("behind", None),
                Heard::Wrong(reason) => ("wrong", Some(reason)),
            })
        })
    }

    /// Whether a snapshot is of any use yet.
    fn has_begun(&self) -> bool {
        lock(&self.inner).has_begun()
    }

    /// Where the training is, as bytes.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |leader| Ok(leader.snapshot()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// How far it is: machine, machines, round, violation and gap.
    fn progress(&self) -> (usize, usize, u64, Option<f64>, Option<f64>) {
        let found = lock(&self.inner).progress();
        (found.machine.0, found.machine.1, found.iteration, found.violation, found.gap)
    }

    /// Ends the search where it is, because its time is over; the certificates are still asked for.
    fn give_up(&self) {
        lock(&self.inner).give_up(Stop::TimeLimit);
    }

    /// Whether the rows are those that the proof was made from; None without a proof.
    fn is_training_data(&self) -> Option<bool> {
        lock(&self.inner).is_training_data()
    }

    /// What was found, once there is nothing to ask any more.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Finished<'py>> {
        let (fitted, certificates) = self.with(py, |leader| {
            let fitted = leader.finish()?;
            let certificates: Vec<Option<Certificate>> = fitted.certificates.clone();
            let text = in_json(serde_json::to_string(&certificates))?;
            Ok((fitted, text))
        })?;
        let proof = PyBytes::new(py, &fitted.proof.to_bytes());
        Ok((Model::from(fitted.model), certificates, proof, fitted.processors))
    }
}

/// What is wrong with the moments of a shard, given the weight of its rows of each class; None where nothing is.
#[pyfunction]
pub(crate) fn check_moments(
    py: Python<'_>,
    bytes: &[u8],
    shard: usize,
    columns: usize,
    masses: Vec<f64>,
) -> PyResult<Option<String>> {
    door::brief(py, || {
        let Some(found) = Moments::from_bytes(bytes) else {
            return Ok(Some("the bytes are no moments of this version".into()));
        };
        if found.shard() != shard {
            return Ok(Some(format!("they are the moments of shard {}", found.shard())));
        }
        Ok(found.check(columns, &masses).err())
    })
}

/// The weight and the mean of each class, and the scatter within the classes.
type Joined<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// The moments of all shards together, given in the order of their numbers.
#[pyfunction]
pub(crate) fn fold_moments<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Joined<'py>> {
    let fault = || Fault::Input { what: "there are no moments to be joined".into(), help: String::new() };
    let all = door::brief(py, || {
        let parts: Option<Vec<Moments>> = parts.iter().map(|bytes| Moments::from_bytes(bytes)).collect();
        parts.and_then(Moments::fold).ok_or_else(fault)
    })?;
    let (classes, columns) = (all.masses().len(), all.means().first().map_or(0, Vec::len));
    let (mut scatter, mut place) = (vec![0.0; columns * columns], 0);
    for j in 0..columns {
        for k in j..columns {
            (scatter[j * columns + k], scatter[k * columns + j]) = (all.lower()[place], all.lower()[place]);
            place += 1;
        }
    }
    Ok((
        all.masses().to_vec().into_pyarray(py),
        all.means().concat().into_pyarray(py).reshape([classes, columns])?,
        scatter.into_pyarray(py).reshape([columns, columns])?,
    ))
}

/// Checks that a training can be done on shards, before any row is read.
#[pyfunction]
pub(crate) fn supports_shards(params: Params, classes: Vec<String>) -> PyResult<()> {
    let training = params.training(&labels_of_words(&classes))?;
    Ok(shards::supports_shards(training.params()).map_err(Fault::from)?)
}
