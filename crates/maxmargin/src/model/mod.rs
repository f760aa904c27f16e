//! Models: all that prediction needs, and the evidence that comes with it.
//!
//! A [`Model`] is a list of binary [`Machine`]s over one pool of support vectors, with the [`Recipe`] that they are the answer to. It has never
//! heard of solvers: what it knows of its training is words and numbers for the report. What looks at a model from outside is in
//! [`review`](crate::review).

mod align;
mod calibration;
mod coupling;
mod network_errors;
mod predict;
mod probabilities;

use std::sync::OnceLock;

use crate::certificate::joint::JointEvidence;
use crate::certificate::{CertificateSummary, Evidence};
use crate::control::Stop;
use crate::data::{Dataset, Label, Matrix, Reading, Scaling};
use crate::error::Error;
use crate::kernel::{Centre, Expansion, Points};
use crate::landmarks::DualPoint;
use crate::problem::{Bias, Loss, Norm, Task};
use crate::provenance::{Choice, Note, Provenance};
use crate::recipe::Recipe;
use crate::workers::Workers;

pub use crate::network::{Activation, Layer, Network};
pub use crate::recipe::{Multiclass, Pairing};
pub use align::{Aligned, NewRows};
pub(crate) use calibration::MARKS;
pub use calibration::{Calibration, sigmoid};
pub(crate) use network_errors::network_errors;
pub use predict::Predictions;

/// One binary decision function: positive class against another, or against all others.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Which class is positive, and against which.
    pub pairing: Pairing,
    /// b; a folded bias of a linear model is in here too.
    pub bias: f64,
    /// Why the solver stopped.
    pub stop: Stop,
    /// The solver's steps.
    pub iterations: u64,
    /// Training rows on the wrong side; of classes that were trained together, rows of the positive class that another wins.
    pub training_errors: usize,
    /// How many rows the machine was trained on.
    pub rows: usize,
    /// The C that the penalty came to: `½‖w‖² + C Σ ξ_i`; `None` without a penalty or for a hard margin.
    pub cost: Option<f64>,
    /// The ε that a ν came to, for a regression.
    pub epsilon: Option<f64>,
    /// What k(x, x) is multiplied with and taken off the decision value, for a ball: (M.1).
    pub reach: Option<f64>,
    /// How decision values become probabilities, or how far targets lie from them; see [`Training::calibrate`](crate::Training::calibrate).
    pub calibration: Option<Calibration>,
    /// The certificate, or why there is none; of classes that were trained together see [`ModelParts::joint`].
    pub evidence: Evidence,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// w of a linear model, one a column; one a unit of the last layer of a network.
    pub weights: Option<Vec<f64>>,
    /// Places in the pool of support vectors, increasing.
    pub support: Vec<u32>,
    /// `c_i` for each of them: `α_i y_i` where there is a dual.
    pub coefficients: Vec<f64>,
}

impl Machine {
    /// (w, b) of a linear machine; w is empty for all others.
    pub(crate) fn plane(&self) -> (&[f64], f64) {
        (self.weights.as_deref().unwrap_or_default(), self.bias)
    }
}

/// Everything a model is made of, open to be filled in. [`Model::new`] checks it.
#[derive(Clone, Debug)]
pub struct ModelParts {
    /// What was solved.
    pub recipe: Recipe,
    /// How it came about.
    pub provenance: Provenance,
    /// The labels, sorted; of two classes the second is positive. None for a regression, -1 and 1 for one class.
    pub classes: Vec<Label>,
    /// Whether the first class stands for all labels other than the second.
    pub one_against_rest: bool,
    /// The number of columns.
    pub columns: usize,
    /// The columns' names, where the data had them.
    pub names: Option<Vec<String>>,
    /// What is done to each column before the kernel sees it.
    pub scaling: Option<Scaling>,
    /// Hidden layers before the machines, which are linear then.
    pub network: Option<Network>,
    /// The decision functions, in the order of [`Recipe::pairings`].
    pub machines: Vec<Machine>,
    /// The evidence for all machines, exactly when they were trained together.
    pub joint: Option<JointEvidence>,
    /// The training row (counted from 0) of each vector of the pool, increasing.
    pub support_rows: Vec<u64>,
    /// The pool of support vectors, scaled; `None` for linear models and precomputed kernels.
    pub vectors: Option<Matrix>,
    /// A dual point for each machine, where the support vectors are landmarks; `None` for all other models.
    pub landmarks: Option<Vec<DualPoint>>,
}

impl ModelParts {
    /// How many weights a linear machine has: one a column, or one a unit of a network's last layer.
    pub fn width(&self) -> usize {
        self.network.as_ref().map_or(self.columns, Network::outputs)
    }

    /// The machine that tells two classes apart, or one from the rest; `None` where there is none.
    pub fn machine_of(&self, pairing: Pairing) -> Option<&Machine> {
        let place = self.recipe.place(self.classes.len(), pairing)?;
        self.machines.get(place).filter(|machine| machine.pairing == pairing)
    }
}

/// A trained model, valid by construction.
#[derive(Clone, Debug)]
pub struct Model {
    parts: ModelParts,
    /// The pool as kernels want it.
    points: Points,
    /// The machines' coefficients by support vector, from the first prediction on.
    expansion: OnceLock<Expansion>,
    /// How the training data was read, where that is known.
    reading: Option<Reading>,
}

impl Model {
    /// Checks that all parts fit each other.
    ///
    /// # Errors
    /// When they do not; the message says which.
    pub fn new(parts: ModelParts) -> Result<Self, Error> {
        check(&parts).map_err(|what| Error::Data { what, help: "train the model again".into() })?;
        let matrix = match &parts.vectors {
            Some(vectors) => vectors.clone(),
            None => Matrix::without_columns(parts.support_rows.len()),
        };
        let centre = Centre::of(&parts.recipe.kernel, &matrix);
        let mut points = Points::around(&Workers::none(), matrix, parts.recipe.bias == Bias::Folded, centre);
        if parts.recipe.kernel.is_precomputed() {
            points = points.with_numbers(parts.support_rows.iter().map(|&row| row as usize).collect())?;
        }
        Ok(Model { parts, points, expansion: OnceLock::new(), reading: None })
    }

    /// Remembers how the training data was read. It changes nothing that the model computes.
    pub fn with_reading(self, reading: Option<Reading>) -> Self {
        Model { reading, ..self }
    }

    /// How the training data was read, where that is known.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// Everything the model is made of.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// What was solved.
    pub fn recipe(&self) -> &Recipe {
        &self.parts.recipe
    }

    /// How the model came about.
    pub fn provenance(&self) -> &Provenance {
        &self.parts.provenance
    }

    /// Why the solver was chosen, where nobody named it.
    pub fn choice(&self) -> Option<&Choice> {
        let own = self.provenance().solver()?;
        self.machines().first()?.notes.iter().find_map(|note| match note {
            Note::Chosen { solver, why } if *solver == own => Some(why),
            _ => None,
        })
    }

    /// Takes the model apart.
    pub fn into_parts(self) -> ModelParts {
        self.parts
    }

    /// The labels, sorted; of two classes the second is positive.
    pub fn classes(&self) -> &[Label] {
        &self.parts.classes
    }

    /// The decision functions.
    pub fn machines(&self) -> &[Machine] {
        &self.parts.machines
    }

    /// The pool of support vectors.
    pub fn support_vectors(&self) -> &Points {
        &self.points
    }

    /// How good the model is as a whole; `None` where there is no certificate for every machine.
    pub fn certificate(&self) -> Option<CertificateSummary> {
        if let Some(joint) = &self.parts.joint {
            return joint.certificate().map(CertificateSummary::from);
        }
        let all = self.machines().iter().map(|machine| machine.evidence.certificate()).collect::<Option<Vec<_>>>()?;
        Some(CertificateSummary::of(all))
    }

    /// The worst reason to stop among the machines: `Converged` only when all are.
    pub fn stop(&self) -> Stop {
        let stops = self.machines().iter().map(|machine| machine.stop);
        stops
            .clone()
            .find(|&stop| stop == Stop::Interrupted)
            .unwrap_or_else(|| stops.clone().find(|&stop| stop != Stop::Converged).unwrap_or(Stop::Converged))
    }

    /// The solvers' steps, of all machines.
    pub fn iterations(&self) -> u64 {
        match (&self.parts.joint, self.machines()) {
            (Some(_), machines) => machines.first().map_or(0, |machine| machine.iterations),
            (None, machines) => machines.iter().map(|machine| machine.iterations).sum(),
        }
    }

    /// What the model is to find.
    pub fn task(&self) -> Task {
        self.parts.recipe.task
    }

    /// Whether data is what the model was trained on, by its hash; columns that the model does not know are left aside.
    ///
    /// Cost: O(entries).
    pub fn is_training_data(&self, data: &Dataset, workers: &Workers) -> bool {
        let Provenance { rows, fingerprint, .. } = self.provenance();
        let selected = || self.parts.names.as_ref().and_then(|names| data.select_columns(names).ok());
        data.rows() == *rows
            && (data.has_fingerprint(fingerprint, workers)
                || selected().is_some_and(|data| data.has_fingerprint(fingerprint, workers)))
    }

    /// The coefficients of a machine for some training rows, increasing.
    pub(crate) fn coefficients_at(&self, machine: &Machine, rows: &[usize]) -> Vec<f64> {
        let mut coefficients = vec![0.0; rows.len()];
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            let row = self.parts.support_rows[place as usize] as usize;
            if let Ok(i) = rows.binary_search(&row) {
                coefficients[i] = coefficient;
            }
        }
        coefficients
    }

    /// The largest relative gap to the exact machine that is proved, (LM.1); `None` unless all machines are on landmarks and have a proof.
    pub fn proved_gap(&self) -> Option<f64> {
        let proofs = self.parts.landmarks.as_ref()?.iter().map(|point| point.proof.map(|proof| proof.relative_gap));
        proofs.collect::<Option<Vec<f64>>>().map(|gaps| gaps.into_iter().fold(0.0, f64::max))
    }

    /// The coefficients `c_i` of a machine's dual point, by training row: those of its support vectors, unless they are landmarks.
    pub fn dual_coefficients(&self, number: usize) -> impl Iterator<Item = (usize, f64)> {
        let of_landmarks = self.parts.landmarks.as_ref().and_then(|all| all.get(number));
        let machine = self.parts.machines.get(number).filter(|_| self.parts.landmarks.is_none());
        let on_landmarks = of_landmarks
            .into_iter()
            .flat_map(|own| own.rows.iter().zip(&own.coefficients).map(|(&row, &c)| (row as usize, c)));
        let row = |place: u32| self.parts.support_rows[place as usize] as usize;
        let expanded = machine.into_iter().flat_map(move |machine| {
            machine.support.iter().zip(&machine.coefficients).map(move |(&place, &c)| (row(place), c))
        });
        on_landmarks.chain(expanded)
    }

    /// For each row the place of its class in this model; `None` for rows without a label, and for labels that the model does not know.
    pub fn codes(&self, data: &Dataset) -> Vec<Option<u32>> {
        let Some(labels) = data.answers().labels() else { return vec![None; data.rows()] };
        let place = |label: &Label| {
            let found = self.classes().iter().position(|class| class == label).map(|place| place as u32);
            if self.parts.one_against_rest { Some(u32::from(found == Some(1))) } else { found }
        };
        let places: Vec<Option<u32>> = labels.classes().iter().map(place).collect();
        labels.codes().iter().map(|&code| places[code as usize]).collect()
    }
}

impl AsRef<Model> for Model {
    fn as_ref(&self) -> &Model {
        self
    }
}

fn check(parts: &ModelParts) -> Result<(), String> {
    let fail = |what: String| Err(format!("the model's parts do not fit: {what}"));
    let classes = parts.classes.len();
    let right = match parts.recipe.task {
        Task::Classification => classes >= 2,
        Task::Regression { .. } | Task::NuRegression { .. } => classes == 0,
        Task::OneClass { .. } | Task::Svdd { .. } => classes == 2,
    };
    if !right {
        return fail(format!("{classes} classes"));
    }
    if let Err(error) = parts.recipe.task.check(parts.recipe.loss) {
        return fail(error.to_string());
    }
    if parts.recipe.class_weights.as_ref().is_some_and(|weights| {
        weights.len() != classes || !weights.iter().all(|weight| *weight > 0.0 && weight.is_finite())
    }) {
        return fail(format!("not {classes} weights of classes"));
    }
    if let Err(error) =
        parts.recipe.kernel.check_parameters().and_then(|()| parts.recipe.norm.check_kernel(&parts.recipe.kernel))
    {
        return fail(error.to_string());
    }
    let pool = parts.support_rows.len();
    if !parts.support_rows.is_sorted_by(|a, b| a < b)
        || parts.support_rows.last().is_some_and(|&last| last >= parts.provenance.rows as u64)
    {
        return fail(format!("the support vectors' rows do not increase below {}", parts.provenance.rows));
    }
    let linear = parts.recipe.kernel.is_linear();
    match &parts.vectors {
        Some(_) if linear || parts.recipe.kernel.is_precomputed() => {
            return fail("support vectors without need".into());
        }
        Some(vectors) if vectors.rows() != pool || vectors.columns() != parts.columns => {
            let found = format!("{} x {}", vectors.rows(), vectors.columns());
            return fail(format!("support vectors of {found} for {pool} rows of {} columns", parts.columns));
        }
        None if !linear && !parts.recipe.kernel.is_precomputed() => return fail("no support vectors".into()),
        _ => {}
    }
    if parts.recipe.kernel.is_precomputed() && parts.columns != parts.provenance.rows {
        return fail(format!("{} columns of a table for {} rows", parts.columns, parts.provenance.rows));
    }
    if parts.names.as_ref().is_some_and(|names| names.len() != parts.columns) {
        return fail(format!("not {} column names", parts.columns));
    }
    if parts.scaling.as_ref().is_some_and(|scaling| scaling.columns() != parts.columns) {
        return fail(format!("scaling of not {} columns", parts.columns));
    }
    // Counted before it is made: a claim of many classes must not cost memory.
    let expected = if parts.recipe.task.is_regression() { Some(1) } else { parts.recipe.multiclass.machines(classes) };
    if expected != Some(parts.machines.len()) {
        return fail(format!("{} machines for {classes} classes", parts.machines.len()));
    }
    let pairings = parts.recipe.pairings(classes);
    if !parts.machines.iter().map(|machine| machine.pairing).eq(pairings.iter().copied()) {
        return fail("the machines are not in the order of their classes".into());
    }
    if parts.joint.is_some() != parts.recipe.multiclass.is_joint(classes) {
        return fail("evidence for all classes belongs to classes trained together, and to these only".into());
    }
    if parts.joint.is_some() && !linear {
        return fail("classes trained together have a linear kernel".into());
    }
    if let Some(network) = &parts.network {
        if let Err(what) = network.check(parts.columns) {
            return fail(what);
        }
        let plain = linear
            && parts.recipe.bias == Bias::Explicit
            && parts.recipe.norm == Norm::L2
            && parts.recipe.loss == Loss::Logistic;
        let way = classes == 2 || parts.recipe.multiclass == Multiclass::Joint;
        if !(plain && way && parts.recipe.task.is_classification()) || pool > 0 {
            return fail(
                "a network goes with the linear kernel, logistic loss, an explicit bias and no vectors".into(),
            );
        }
        if let Some(JointEvidence::Certificate(_)) = &parts.joint {
            return fail("a network has no certificate".into());
        }
    }
    if let Some(points) = &parts.landmarks {
        check_landmarks(parts, points)?;
    }
    let width = parts.width();
    for machine in &parts.machines {
        if parts.network.is_some() && machine.evidence.certificate().is_some() {
            return fail("a network has no certificate".into());
        }
        if linear != machine.weights.is_some() {
            return fail("weights belong to linear models, and to these only".into());
        }
        if machine.weights.as_ref().is_some_and(|weights| weights.len() != width) {
            return fail(format!("not {width} weights"));
        }
        if machine.support.len() != machine.coefficients.len() {
            let (left, right) = (machine.support.len(), machine.coefficients.len());
            return fail(format!("{left} support vectors with {right} coefficients"));
        }
        if !machine.support.is_sorted_by(|a, b| a < b)
            || machine.support.last().is_some_and(|&last| last as usize >= pool)
        {
            return fail(format!("a machine's support vectors do not increase below {pool}"));
        }
        let mut numbers = machine.coefficients.iter().chain(machine.weights.iter().flatten());
        if machine.reach.is_some() != matches!(parts.recipe.task, Task::Svdd { .. }) {
            return fail("a reach belongs to a ball, and to that only".into());
        }
        let of_kind = match (&machine.calibration, parts.recipe.task) {
            (None, _) | (Some(Calibration::Slopes(_) | Calibration::Sigmoid { .. }), Task::Classification) => true,
            (Some(Calibration::Noise { .. }), task) => task.is_regression(),
            (Some(Calibration::Marks(_)), task) => matches!(task, Task::OneClass { .. } | Task::Svdd { .. }),
            (Some(_), _) => false,
        };
        if let Some(fault) = machine.calibration.as_ref().and_then(Calibration::fault).filter(|_| of_kind) {
            return fail(fault.into());
        }
        if !of_kind {
            return fail("a calibration of another task".into());
        }
        if !(machine.bias.is_finite()
            && machine.reach.unwrap_or(0.0).is_finite()
            && numbers.all(|number| number.is_finite()))
        {
            return fail("a coefficient is not finite".into());
        }
    }
    Ok(())
}

/// Checks that all machines are sums over all landmarks, and that their dual points are points.
fn check_landmarks(parts: &ModelParts, points: &[DualPoint]) -> Result<(), String> {
    let fail = |what: &str| Err(format!("the model's parts do not fit: {what}"));
    if parts.vectors.is_none() || parts.joint.is_some() {
        return fail("landmarks belong to kernels, and to machines one by one");
    }
    if points.len() != parts.machines.len() {
        return fail("not one dual point for each machine");
    }
    let pool = parts.support_rows.len();
    if parts.machines.iter().any(|machine| machine.support.len() != pool) {
        return fail("a machine that is no sum over all landmarks");
    }
    for point in points {
        let is_increasing = point.rows.is_sorted_by(|a, b| a < b);
        if !is_increasing || point.rows.last().is_some_and(|&last| last >= parts.provenance.rows as u64) {
            return fail(&format!("the rows of a dual point do not increase below {}", parts.provenance.rows));
        }
        if point.rows.len() != point.coefficients.len() || !point.coefficients.iter().all(|c| c.is_finite()) {
            return fail("a dual point without a finite coefficient for each of its rows");
        }
    }
    Ok(())
}
