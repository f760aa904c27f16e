//! Worked examples: small problems whose answers are known, computed by every solver that can, and compared.
//!
//! | example | what |
//! | --- | --- |
//! | `e01.rs` | separable points, hard margin, nearest points of the hulls |
//! | `e02.rs` | points that no line separates, hinge loss |
//! | `e03.rs` | a quadratic kernel, its weights in the lifted space, and the ellipse it draws |
//! | `e04.rs` | iris, sepals, folded and explicit bias |
//! | `e05.rs` | iris, sepals, squared loss: primal and dual meet |
//! | `e06.rs` | iris, principal components, a line and a conic |
//! | `e07.rs` | the same conic with squared loss |
//! | `e08.rs` | xor and rings: what lifting does |
//! | `e09.rs` | a far blob: which methods it turns |
//! | `e10.rs` | a sweep of C |
//!
//! An example is a list of [`Check`]s: a claim with the number that was expected and the number that came out. Whether it
//! holds is computed from the two, never stored.

mod e01;
mod e02;
mod e03;
mod e04;
mod e05;
mod e06;
mod e07;
mod e08;
mod e09;
mod e10;

#[cfg(feature = "serde")]
use serde::Serialize;

use crate::certificate::Certificate;
use crate::control::Control;
use crate::data::{self, Dataset, Label};
use crate::error::{Error, quoted};
use crate::model::{Machine, Model};
use crate::problem::Loss;
use crate::solver::{Settings, SolverKind};
use crate::training::TrainingParams;
use crate::workers::Workers;

/// The tolerance that solvers are asked for.
const SOLVER_TOLERANCE: f64 = 1e-6;

/// How far a number may lie from the one expected, relative to it; absolute where 0 is expected.
const AGREEMENT: f64 = 1e-4;

/// An example, computed.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Example {
    /// `E1` to `E10`.
    pub id: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What it shows, in plain sentences.
    pub shows: &'static str,
    /// What was expected, and what came out.
    pub checks: Vec<Check>,
}

impl Example {
    /// Whether every check holds, and there is one.
    pub fn holds(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(Check::holds)
    }
}

/// One claim of an example.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[cfg_attr(feature = "serde", serde(into = "Reported"))]
pub struct Check {
    /// What the number is.
    pub what: String,
    /// The solver that it comes from, by name; `None` when it is of no solver.
    pub solver: Option<&'static str>,
    /// What is claimed of it.
    pub claim: Claim,
}

/// What is claimed of a number.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "claim", rename_all = "kebab-case"))]
pub enum Claim {
    /// It is this number, up to `tolerance` (absolute).
    Equal {
        /// The number in the books.
        expected: f64,
        /// The number that came out.
        obtained: f64,
        /// How far apart they may be.
        tolerance: f64,
    },
    /// It is no larger than the limit.
    AtMost {
        /// The limit.
        limit: f64,
        /// The number that came out.
        obtained: f64,
    },
    /// It is no smaller than the limit.
    AtLeast {
        /// The limit.
        limit: f64,
        /// The number that came out.
        obtained: f64,
    },
    /// Each number is smaller than the one before.
    Falling {
        /// The numbers that came out, two or more.
        obtained: Vec<f64>,
    },
}

impl Check {
    /// Whether the claim is true of the numbers. Nothing is true of NaN.
    pub fn holds(&self) -> bool {
        match &self.claim {
            Claim::Equal { expected, obtained, tolerance } => (obtained - expected).abs() <= *tolerance,
            Claim::AtMost { limit, obtained } => obtained <= limit,
            Claim::AtLeast { limit, obtained } => obtained >= limit,
            Claim::Falling { obtained } => obtained.len() >= 2 && obtained.is_sorted_by(|before, after| before > after),
        }
    }

    /// What was expected, in words.
    pub fn expected(&self) -> String {
        match &self.claim {
            Claim::Equal { expected, .. } => number(*expected),
            Claim::AtMost { limit, .. } => format!("at most {}", number(*limit)),
            Claim::AtLeast { limit, .. } => format!("at least {}", number(*limit)),
            Claim::Falling { .. } => "falling".into(),
        }
    }

    /// What came out, in words.
    pub fn obtained(&self) -> String {
        match &self.claim {
            Claim::Equal { obtained, .. } | Claim::AtMost { obtained, .. } | Claim::AtLeast { obtained, .. } => {
                number(*obtained)
            }
            Claim::Falling { obtained } => obtained.iter().map(|&value| number(value)).collect::<Vec<_>>().join(", "),
        }
    }
}

/// A number as the tables print it: whole, with six digits after the point, or with an exponent where that shows nothing.
fn number(value: f64) -> String {
    match value.abs() {
        size if value.fract() == 0.0 && size < 1e6 => format!("{value}"),
        size if size < 1e-3 => format!("{value:.3e}"),
        _ => format!("{value:.6}"),
    }
}

/// A check as it is reported: with the verdict.
#[cfg(feature = "serde")]
#[derive(Serialize)]
struct Reported {
    what: String,
    solver: Option<&'static str>,
    #[cfg_attr(feature = "serde", serde(flatten))]
    claim: Claim,
    holds: bool,
}

#[cfg(feature = "serde")]
impl From<Check> for Reported {
    fn from(check: Check) -> Self {
        let holds = check.holds();
        Reported { what: check.what, solver: check.solver, claim: check.claim, holds }
    }
}

/// One file of this folder.
struct Entry {
    id: &'static str,
    title: &'static str,
    shows: &'static str,
    figure: fn() -> Result<(Dataset, TrainingParams), Error>,
    run: fn(&mut Notebook<'_>) -> Result<(), Error>,
}

const ENTRIES: [Entry; 10] = [
    e01::ENTRY,
    e02::ENTRY,
    e03::ENTRY,
    e04::ENTRY,
    e05::ENTRY,
    e06::ENTRY,
    e07::ENTRY,
    e08::ENTRY,
    e09::ENTRY,
    e10::ENTRY,
];

/// The examples' names, in order.
pub fn ids() -> [&'static str; 10] {
    ENTRIES.map(|entry| entry.id)
}

fn find(id: &str) -> Option<Entry> {
    ENTRIES.into_iter().find(|entry| entry.id.eq_ignore_ascii_case(id))
}

/// Computes an example, `E1` to `E10`.
///
/// A control that breaks makes the solvers return what they have: the checks then say how far that is from the answer.
///
/// # Errors
/// When there is no such example, or the numbers cannot be computed at all.
///
/// # Examples
/// ```
/// use maxmargin::{Unattended, Workers, worked};
///
/// let example = worked::run("E1", &Workers::none(), &mut Unattended)?;
/// assert!(example.holds());
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn run(id: &str, workers: &Workers, control: &mut dyn Control) -> Result<Example, Error> {
    let Some(entry) = find(id) else {
        return Err(Error::Data {
            what: format!("there is no example {}", quoted(id)),
            help: format!("the examples are {}", ids().join(", ")),
        });
    };
    let mut notebook = Notebook { workers, control, checks: Vec::new() };
    (entry.run)(&mut notebook)?;
    Ok(Example { id: entry.id, title: entry.title, shows: entry.shows, checks: notebook.checks })
}

/// The data of an example and the parameters of the model to draw with it, two columns each; `None` when there is no such
/// example.
pub fn figure(id: &str) -> Option<(Dataset, TrainingParams)> {
    find(id).and_then(|entry| (entry.figure)().ok())
}

/// Where an example writes its checks, with what it needs to compute them.
struct Notebook<'a> {
    workers: &'a Workers,
    control: &'a mut dyn Control,
    checks: Vec<Check>,
}

impl Notebook<'_> {
    fn note(&mut self, what: impl Into<String>, solver: Option<SolverKind>, claim: Claim) {
        self.checks.push(Check { what: what.into(), solver: solver.map(SolverKind::name), claim });
    }

    /// Expects a number, up to [`AGREEMENT`].
    fn equal(&mut self, what: impl Into<String>, solver: Option<SolverKind>, expected: f64, obtained: f64) {
        let tolerance = AGREEMENT * if expected == 0.0 { 1.0 } else { expected.abs() };
        self.note(what, solver, Claim::Equal { expected, obtained, tolerance });
    }

    /// Expects a whole number, exactly.
    fn count(&mut self, what: impl Into<String>, solver: Option<SolverKind>, expected: usize, obtained: usize) {
        let (expected, obtained) = (expected as f64, obtained as f64);
        self.note(what, solver, Claim::Equal { expected, obtained, tolerance: 0.0 });
    }

    /// Expects a list of numbers, each under its own name.
    fn all_equal(&mut self, names: &[&str], solver: SolverKind, expected: &[f64], obtained: &[f64]) {
        for ((name, &expected), k) in names.iter().zip(expected).zip(0..) {
            self.equal(*name, Some(solver), expected, obtained.get(k).copied().unwrap_or(f64::NAN));
        }
    }

    fn fit(&mut self, data: &Dataset, params: TrainingParams) -> Result<Model, Error> {
        params.check()?.fit(data, self.workers, self.control)
    }

    /// Trains by every solver that minimises exactly this objective to the tolerance asked for.
    fn fit_all(&mut self, data: &Dataset, params: &TrainingParams) -> Result<Vec<(SolverKind, Model)>, Error> {
        let mut models = Vec::new();
        for kind in SolverKind::ALL.into_iter().filter(|kind| kind.finds_minimum()) {
            match self.fit(data, TrainingParams { solver: Some(kind), ..params.clone() }) {
                Ok(model) => models.push((kind, model)),
                Err(Error::Combination { .. }) => {} // not a problem for this solver
                Err(error) => return Err(error),
            }
        }
        Ok(models)
    }

    /// Stochastic descent is not after digits: what it reached must lie above the optimum by no more than it certifies.
    fn descend(&mut self, data: &Dataset, params: &TrainingParams, what: &str, optimum: f64) -> Result<(), Error> {
        let settings = Settings { tolerance: Some(1e-3), ..params.settings.clone() };
        let kind = SolverKind::Sgd;
        let model = self.fit(data, TrainingParams { solver: Some(kind), settings, ..params.clone() })?;
        let certificate = certificate(&model)?;
        // The optimum is known to six digits after the point.
        let limit = certificate.gap + 1e-6;
        let what = format!("{what}objective above the optimum, against its certified gap");
        self.note(what, Some(kind), Claim::AtMost { limit, obtained: certificate.primal - optimum });
        Ok(())
    }
}

/// The parameters that the examples start from. The loss is named, or else each solver would take its own.
fn params() -> TrainingParams {
    let settings = Settings { tolerance: Some(SOLVER_TOLERANCE), ..Settings::default() };
    TrainingParams { loss: Some(Loss::Hinge), settings, ..TrainingParams::default() }
}

fn embedded(name: &str) -> Result<Dataset, Error> {
    data::embedded(name).ok_or_else(|| Error::Data {
        what: format!("there is no data set {}", quoted(name)),
        help: format!("the data sets are {}", data::embedded::NAMES.join(", ")),
    })
}

/// The sepals of iris, setosa to be told from the rest.
fn sepals() -> Result<(Dataset, Label), Error> {
    let data = embedded("iris")?.select_columns(&["sepal_length".into(), "sepal_width".into()])?;
    Ok((data, Label::new("setosa")))
}

/// The only machine of a model of two classes.
fn machine(model: &Model) -> &Machine {
    &model.machines()[0]
}

fn certificate(model: &Model) -> Result<&Certificate, Error> {
    machine(model).evidence.certificate().ok_or_else(|| Error::Data {
        what: format!("the model of the solver {} has no certificate", model.provenance().origin),
        help: "choose a solver that minimises an objective".into(),
    })
}

/// w of a linear model, then b.
fn line(model: &Model) -> Vec<f64> {
    let machine = machine(model);
    machine.weights.iter().flatten().copied().chain([machine.bias]).collect()
}

/// The coefficient `α_i y_i` of each training row.
fn coefficients(model: &Model) -> Vec<f64> {
    let mut all = vec![0.0; model.provenance().rows];
    for (&place, &coefficient) in machine(model).support.iter().zip(&machine(model).coefficients) {
        all[model.parts().support_rows[place as usize] as usize] = coefficient;
    }
    all
}

/// The decision value of each row.
fn decision_values(model: &Model, data: &Dataset, workers: &Workers) -> Result<Vec<f64>, Error> {
    let predictions = model.predict(data, workers)?;
    Ok((0..data.rows()).map(|row| predictions.decision_values(row)[0]).collect())
}

/// +1 for the rows of the model's second class, −1 for the others.
fn signs(model: &Model, data: &Dataset) -> Vec<f64> {
    model.codes(data).iter().map(|&code| if code == Some(1) { 1.0 } else { -1.0 }).collect()
}

#[cfg(test)]
mod tests;
