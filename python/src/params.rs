//! Dictionaries from Python to checked parameters and data.

use maxmargin::data::{Answers as Known, Dataset, Label, Labels, Matrix, ScalingKind};
use maxmargin::kernel::KernelParams;
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::solver::{Settings, SolverKind, Threshold};
use maxmargin::training::{ClassWeights, Landmarks, Penalty};
use maxmargin::{Training, TrainingParams};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::Fault;

/// What to train, in words and numbers: every item is there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Params {
    /// `classification`, `regression`, `nu-regression`, `one-class` or `svdd`.
    task: String,
    /// ε or ν of the task.
    task_number: f64,
    /// As on the command line: `rbf(gamma=scale)`, `linear + polynomial(degree=2)`.
    kernel: String,
    /// `c`, `lambda`, `nu`, `hard` or `none`.
    penalty: String,
    penalty_number: f64,
    norm: String,
    loss: Option<String>,
    bias: String,
    solver: Option<String>,
    multiclass: Option<String>,
    /// `None` is the engine's own.
    tolerance: Option<f64>,
    gap: Option<f64>,
    max_iterations: Option<u64>,
    memory: u64,
    seed: u64,
    averaged: bool,
    shrinkage: String,
    threshold: String,
    /// What each class counts, by its code.
    class_weights: Option<Vec<f64>>,
    /// How many landmarks; `None` trains exactly. Models that were pickled before there were landmarks have none of the three items.
    #[pyo3(default)]
    landmarks: Option<usize>,
    #[pyo3(default)]
    prove: bool,
    /// The proved relative gap at which no more landmarks are added.
    #[pyo3(default)]
    proved_gap: Option<f64>,
    /// What is done to the columns first: `none`, `standard` or `minmax`. Models that were pickled before there was a choice have no such item.
    #[pyo3(default = "none".to_string())]
    scaling: String,
}

/// One of some words.
fn word<T: Copy>(name: &'static str, found: &str, words: &[(&str, T)]) -> Result<T, Fault> {
    words.iter().find(|(word, _)| *word == found).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
        Fault::Input {
            what: format!("{name} is {found:?}, but it must be one of {}", known.join(", ")),
            help: String::new(),
        }
    })
}

impl Params {
    /// The parameters, checked. Classes are known by their labels.
    pub(crate) fn training(&self, classes: &[Label]) -> Result<Training, Fault> {
        Ok(self.unchecked(classes)?.check()?)
    }

    /// The parameters, not yet checked.
    pub(crate) fn unchecked(&self, classes: &[Label]) -> Result<TrainingParams, Fault> {
        let number = self.task_number;
        let task = word(
            "task",
            &self.task,
            &[
                ("classification", Task::Classification),
                ("regression", Task::Regression { epsilon: number }),
                ("nu-regression", Task::NuRegression { nu: number }),
                ("one-class", Task::OneClass { nu: number }),
                ("svdd", Task::Svdd { nu: number }),
            ],
        )?;
        let size = self.penalty_number;
        let penalty = word(
            "penalty",
            &self.penalty,
            &[
                ("c", Penalty::C(size)),
                ("lambda", Penalty::Lambda(size)),
                ("nu", Penalty::Nu(size)),
                ("hard", Penalty::Hard),
                ("none", Penalty::None),
            ],
        )?;
        let losses = [Loss::Hinge, Loss::Squared, Loss::Logistic].map(|loss| (loss.name(), loss));
        let biases = [Bias::Explicit, Bias::Folded, Bias::None].map(|bias| (bias.name(), bias));
        let norms = [Norm::L1, Norm::L2].map(|norm| (norm.name(), norm));
        let ways = [Multiclass::OneVsOne, Multiclass::OneVsRest, Multiclass::Joint, Multiclass::CrammerSinger]
            .map(|way| (way.name(), way));
        let solvers = SolverKind::ALL.map(|kind| (kind.name(), kind));
        let thresholds = [
            ("least-error", Threshold::LeastError),
            ("least-squares", Threshold::LeastSquares),
            ("equal-odds", Threshold::EqualOdds),
        ];
        let class_weights = match &self.class_weights {
            Some(weights) => ClassWeights::Given(classes.iter().cloned().zip(weights.iter().copied()).collect()),
            None => ClassWeights::Equal,
        };
        Ok(TrainingParams {
            task,
            kernel: self.kernel.parse::<KernelParams>()?,
            penalty,
            norm: word("norm", &self.norm, &norms)?,
            loss: self.loss.as_deref().map(|loss| word("loss", loss, &losses)).transpose()?,
            bias: word("bias", &self.bias, &biases)?,
            solver: self.solver.as_deref().map(|solver| word("solver", solver, &solvers)).transpose()?,
            multiclass: self.multiclass.as_deref().map(|way| word("multiclass", way, &ways)).transpose()?,
            class_weights,
            landmarks: self.landmarks.map(|count| Landmarks { count, prove: self.prove, until: self.proved_gap }),
            scaling: word("scaling", &self.scaling, &ScalingKind::ALL.map(|kind| (kind.name(), kind)))?,
            settings: Settings {
                tolerance: self.tolerance,
                gap: self.gap,
                max_iterations: self.max_iterations,
                memory: self.memory,
                seed: self.seed,
                averaged: self.averaged,
                shrinkage: self.shrinkage.parse()?,
                threshold: word("threshold", &self.threshold, &thresholds)?,
                ..Settings::default()
            },
            ..TrainingParams::default()
        })
    }
}

/// What is known of the rows of a matrix beside its numbers: every item is there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Answers<'py> {
    /// The labels in words, in the order of their codes; empty where there are no classes.
    classes: Vec<String>,
    /// The class of each row.
    codes: Option<PyReadonlyArray1<'py, u32>>,
    /// The number of each row.
    targets: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
}

impl Answers<'_> {
    /// A data set of these rows.
    pub(crate) fn dataset(&self, matrix: &Matrix) -> Result<Dataset, Fault> {
        let known = match (&self.codes, &self.targets) {
            (Some(codes), _) => labels(&self.classes, codes.as_array().iter().copied().collect())?.into(),
            (None, Some(targets)) => Known::Numbers(targets.as_array().iter().copied().collect()),
            (None, None) => Known::None,
        };
        let mut data = Dataset::new(matrix.clone(), known)?;
        if let Some(weights) = &self.weights {
            let mut all = Vec::with_capacity(weights.len());
            all.extend(weights.as_array().iter().copied());
            data = data.with_weights(all)?;
        }
        if let Some(names) = &self.names {
            data = data.with_names(names.clone())?;
        }
        Ok(data)
    }
}

/// The labels of the classes of some data, where there are classes.
pub(crate) fn classes_of(data: &Dataset) -> &[Label] {
    data.answers().labels().map_or(&[], Labels::classes)
}

/// The labels of rows by code, see [`labels_of_words`].
pub(crate) fn labels(classes: &[String], codes: Vec<u32>) -> Result<Labels, Fault> {
    Labels::from_codes(&labels_of_words(classes), &codes).ok_or_else(|| Fault::Input {
        what: "a code without a class".into(),
        help: "give the classes of all codes".into(),
    })
}

/// The label of each code: in the user's words where these keep the order of the codes, else the codes themselves.
pub(crate) fn labels_of_words(classes: &[String]) -> Vec<Label> {
    let of_words: Vec<Label> = classes.iter().map(Label::new).collect();
    let of_codes = || (0..classes.len()).map(|code| Label::new(code.to_string())).collect();
    if of_words.is_sorted_by(|a, b| a < b) { of_words } else { of_codes() }
}
