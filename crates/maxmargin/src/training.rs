//! From data to a model: parameters checked once, then a loop over binary problems.

use serde::{Deserialize, Serialize};

use crate::certificate::{Evidence, MERCER_ROWS, certify, decision_values, expansion};
use crate::control::{Control, OfMachine};
use crate::data::{Dataset, Label, Scaling, ScalingKind};
use crate::error::Error;
use crate::geometry::check_separable;
use crate::kernel::{Kernel, KernelFunction, KernelParams, Points};
use crate::model::{Machine, Model, ModelParts, Multiclass, Pairing};
use crate::problem::{Bias, Loss, MarginParts, MarginProblem};
use crate::solver::{self, Decision, Settings, Solution, SolverKind};
use crate::workers::Workers;

/// How strong the penalty on w is, in one of the three ways to say it.
///
/// ```text
/// C:       ½‖w‖² + C Σ ξ_i
/// C/n:     ½‖w‖² + (C′/n) Σ ξ_i        C = C′/n
/// lambda:  λ‖w‖² + (1/n) Σ ξ_i         C = 1/(2nλ)                     (T.1)
/// ```
///
/// n is the number of rows of the binary problem, each counted by its weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// C
    C(f64),
    /// C′
    COverN(f64),
    /// λ
    Lambda(f64),
    /// No slack at all: C = ∞.
    Hard,
    /// No penalty on w (logistic regression only).
    None,
}

impl Penalty {
    /// The C of `½‖w‖² + C Σ ξ_i` for rows of this total weight; 1 without a penalty.
    pub fn cost(self, total_weight: f64) -> f64 {
        match self {
            Penalty::C(c) => c,
            Penalty::COverN(c) => c / total_weight,
            Penalty::Lambda(lambda) => 1.0 / (2.0 * total_weight * lambda), // (T.1)
            Penalty::Hard => f64::INFINITY,
            Penalty::None => 1.0,
        }
    }

    fn check(self) -> Result<(), Error> {
        let (name, value) = match self {
            Penalty::C(value) => ("C", value),
            Penalty::COverN(value) => ("c-over-n", value),
            Penalty::Lambda(value) => ("lambda", value),
            Penalty::Hard | Penalty::None => return Ok(()),
        };
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Error::parameter(name, value, "a finite number above 0"))
    }
}

/// What to train, not yet checked. Plain, public, `Default`.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::training::{Penalty, TrainingParams};
/// use maxmargin::{Unattended, Workers};
///
/// let data = embedded("e2").unwrap();
/// let training = TrainingParams { penalty: Penalty::C(1.0), ..TrainingParams::default() }.check()?;
/// let model = training.fit(&data, &Workers::none(), &mut Unattended)?;
/// let certificate = model.machines()[0].evidence.certificate().unwrap();
/// assert!((certificate.primal - 6.0694444).abs() < 1e-3);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainingParams {
    /// The kernel.
    pub kernel: KernelParams,
    /// The penalty.
    pub penalty: Penalty,
    /// The loss; `None` is the solver's own, else hinge.
    pub loss: Option<Loss>,
    /// How b is treated.
    pub bias: Bias,
    /// The solver; `None` lets the problem decide.
    pub solver: Option<SolverKind>,
    /// How several classes are told apart.
    pub multiclass: Multiclass,
    /// What is done to the columns first.
    pub scaling: ScalingKind,
    /// This label against all others.
    pub positive: Option<Label>,
    /// Settings for the solver.
    pub settings: Settings,
}

impl Default for TrainingParams {
    fn default() -> Self {
        TrainingParams {
            kernel: KernelParams::default(),
            penalty: Penalty::C(1.0),
            loss: None,
            bias: Bias::default(),
            solver: None,
            multiclass: Multiclass::default(),
            scaling: ScalingKind::None,
            positive: None,
            settings: Settings::default(),
        }
    }
}

impl TrainingParams {
    /// The only way to a [`Training`], and so the only place where ranges are tested.
    ///
    /// # Errors
    /// When a parameter is out of range, or two do not go together.
    pub fn check(self) -> Result<Training, Error> {
        self.penalty.check()?;
        let settings = &self.settings;
        if !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", settings.tolerance, "a finite number above 0"));
        }
        if settings.max_iterations == Some(0) {
            return Err(Error::parameter("max-iterations", 0, "1 or more"));
        }
        if settings.batch == 0 {
            return Err(Error::parameter("batch", 0, "1 or more"));
        }
        if !(settings.shrinkage >= 0.0 && settings.shrinkage <= 1.0) {
            return Err(Error::parameter("shrinkage", settings.shrinkage, "from 0 to 1"));
        }
        let loss = self.loss.unwrap_or(match self.solver {
            Some(SolverKind::Newton | SolverKind::KernelNewton) => Loss::Squared,
            Some(SolverKind::Logistic) => Loss::Logistic,
            _ => Loss::Hinge,
        });
        if self.penalty == Penalty::None && loss != Loss::Logistic {
            return Err(Error::Combination {
                what: format!("{} loss without a penalty has no single best model", loss.name()),
                help: "choose lambda above 0, or the solver logistic".into(),
            });
        }
        if self.penalty == Penalty::Hard && loss != Loss::Hinge {
            return Err(Error::Combination {
                what: format!("a hard margin allows no slack, so {} loss has nothing to do", loss.name()),
                help: "leave out the loss, or choose C instead of a hard margin".into(),
            });
        }
        Ok(Training { params: self, loss })
    }
}

/// Checked parameters.
#[derive(Clone, Debug)]
pub struct Training {
    params: TrainingParams,
    loss: Loss,
}

impl Training {
    /// The parameters, as they were given.
    pub fn params(&self) -> &TrainingParams {
        &self.params
    }

    /// Trains a model: scaling, kernel, then a binary problem for each machine.
    ///
    /// A control that breaks makes the solver return what it has; the model says so in [`Machine::stop`].
    ///
    /// # Errors
    /// When no problem can be made of the data, a solver cannot solve it or lacks memory, or a hard margin does not exist.
    pub fn fit(&self, data: &Dataset, workers: &Workers, control: &mut dyn Control) -> Result<Model, Error> {
        let params = &self.params;
        let labels = match &params.positive {
            None => data.labels().clone(),
            Some(positive) => match data.labels().one_against_rest(positive) {
                Some(labels) => labels,
                None => return Err(data.find_label(positive.text()).err().unwrap_or_else(no_rows)),
            },
        };
        if data.rows() == 0 {
            return Err(no_rows());
        }
        if labels.classes().len() < 2 {
            return Err(Error::Data {
                what: format!("all {} rows have the label {}", data.rows(), crate::error::quoted(labels.get(0).text())),
                help: "give rows of at least two classes".into(),
            });
        }
        let scaling = (params.scaling != ScalingKind::None).then(|| Scaling::learn(params.scaling, data.matrix()));
        let matrix = match &scaling {
            Some(scaling) => scaling.apply(data.matrix())?,
            None => data.matrix().clone(),
        };
        let kernel = params.kernel.check(&matrix)?;
        if kernel.is_precomputed() && (params.bias == Bias::Folded || scaling.is_some()) {
            return Err(Error::Combination {
                what: "a precomputed kernel has no columns to scale or to fold a bias into".into(),
                help: "choose bias explicit or none, and no scaling".into(),
            });
        }
        let points = Points::new(matrix, params.bias == Bias::Folded);
        let mut parts = ModelParts {
            kernel: kernel.clone(),
            bias: params.bias,
            loss: self.loss,
            penalty: params.penalty,
            solver: String::new(),
            tolerance: params.settings.tolerance,
            multiclass: params.multiclass,
            classes: labels.classes().to_vec(),
            one_against_rest: params.positive.is_some() && data.labels().classes().len() > 2,
            columns: data.columns(),
            names: data.names().map(<[String]>::to_vec),
            scaling,
            training_rows: data.rows(),
            fingerprint: data.fingerprint(),
            machines: Vec::new(),
            support_rows: Vec::new(),
            vectors: None,
        };
        let pairings = params.multiclass.pairings(labels.classes().len());
        let mut expansions = Vec::new();
        for (number, &pairing) in pairings.iter().enumerate() {
            let mut control = OfMachine { inner: control, machine: (number, pairings.len()) };
            let (problem, cost) =
                machine_problem(&kernel, &points, workers, labels.codes(), data.weights(), pairing, &parts)?;
            let (kind, reason) = match params.solver {
                Some(kind) => (kind, None),
                None => solver::choose(&problem),
            };
            // Before the search for a separator, which is dear: what this solver cannot do it says at once.
            solver::supports(kind, &problem, &params.settings)?;
            if problem.hard() {
                let name = |class: usize| labels.classes()[class].text().to_string();
                let negative = pairing.negative.map_or_else(|| "rest".to_string(), name);
                check_separable(&problem, (negative, name(pairing.positive)), &params.settings, &mut control)?;
            }
            parts.solver = kind.name().into();
            let mut solution = solver::solve(kind, &problem, &params.settings, &mut control)?;
            if number == 0 {
                solution.notes.extend(reason.map(|reason| format!("solver {}: {reason}", kind.name())));
            }
            let (machine, expansion) = self.finish(&problem, solution, pairing, cost);
            parts.machines.push(machine);
            expansions.push(expansion);
        }
        pool_support_vectors(&mut parts, expansions, &points);
        Model::new(parts)
    }

    /// Solution to machine: certificate, errors, and the coefficients by training row.
    fn finish(
        &self,
        problem: &MarginProblem<'_>,
        mut solution: Solution,
        pairing: Pairing,
        cost: f64,
    ) -> (Machine, Vec<(u64, f64)>) {
        // The α of an expansion are what the model keeps of them, its coefficients.
        if let (Decision::Expansion { coefficients, .. }, Some(alpha)) = (&solution.decision, &mut solution.alpha) {
            *alpha = coefficients.iter().zip(problem.signs()).map(|(coefficient, sign)| coefficient * sign).collect();
        }
        // Where that is cheap, the values are the model's own, and not what the solver kept of them.
        if is_cheap(problem, &solution.decision) || solution.decision_values.is_none() {
            solution.decision_values = Some(decision_values(problem, &solution.decision));
        }
        let mut evidence = certify(problem, &solution, self.params.settings.tolerance);
        if !is_cheap(problem, &solution.decision) && !can_be_trusted(problem, &solution, &evidence) {
            solution.decision_values = Some(decision_values(problem, &solution.decision));
            evidence = certify(problem, &solution, self.params.settings.tolerance);
        }
        if evidence.certificate().is_some()
            && problem.len() > MERCER_ROWS
            && !problem.kernel().always_positive_semidefinite()
        {
            solution.notes.push(format!(
                "the kernel was found positive semidefinite on {MERCER_ROWS} of {} rows: on all of them it is an assumption of \
                 the certificate",
                problem.len()
            ));
        }
        let values = solution.decision_values.as_deref().unwrap_or_default();
        let training_errors = training_errors(problem, values);
        let (weights, bias, coefficients) = match (solution.decision, &solution.alpha) {
            (Decision::Linear { weights, bias }, alpha) => {
                let signed = alpha.iter().flatten().zip(problem.signs()).map(|(alpha, sign)| alpha * sign).collect();
                (Some(weights), bias, signed)
            }
            (Decision::Expansion { coefficients, bias }, _) => (None, bias, coefficients),
        };
        let expansion = problem
            .rows()
            .iter()
            .zip(&coefficients)
            .filter(|(_, coefficient): &(_, &f64)| **coefficient != 0.0)
            .map(|(&row, &coefficient)| (row as u64, coefficient))
            .collect();
        let machine = Machine {
            pairing,
            bias,
            stop: solution.stop,
            iterations: solution.iterations,
            training_errors,
            rows: problem.len(),
            cost: cost.is_finite().then_some(cost).filter(|_| problem.penalised()),
            evidence,
            notes: solution.notes,
            weights,
            support: Vec::new(),
            coefficients: Vec::new(),
        };
        (machine, expansion)
    }
}

/// Rows on the wrong side; a value of exactly 0 is on the negative one.
pub(crate) fn training_errors(problem: &MarginProblem<'_>, values: &[f64]) -> usize {
    let wrong = |(&value, &sign): (&f64, &f64)| (value > 0.0) != (sign > 0.0);
    values.iter().zip(problem.signs()).filter(|&pair| wrong(pair)).count()
}

/// Kernel values that cost little beside any training.
const FEW_VALUES: usize = 1 << 22;

/// Rows that decision values are checked at.
const SAMPLE: usize = 64;

/// Whether decision values from scratch cost a pass over the data, or a few million kernel values.
fn is_cheap(problem: &MarginProblem<'_>, decision: &Decision) -> bool {
    match decision {
        Decision::Linear { .. } => true,
        Decision::Expansion { coefficients, .. } => {
            let support = coefficients.iter().filter(|coefficient| **coefficient != 0.0).count();
            problem.len().saturating_mul(support) <= FEW_VALUES
        }
    }
}

/// Whether the decision values that a solver kept are the model's own, as far as it matters: their error, found at a sample
/// of rows, shows neither in the violation nor, times the costs, in the objective.
fn can_be_trusted(problem: &MarginProblem<'_>, solution: &Solution, evidence: &Evidence) -> bool {
    let (Decision::Expansion { coefficients, bias }, Some(values)) = (&solution.decision, &solution.decision_values)
    else {
        return true;
    };
    let size = evidence.certificate().map_or(1.0, |found| found.primal.abs().max(1.0));
    let places: Vec<usize> = (0..SAMPLE).map(|k| k * problem.len() / SAMPLE).collect();
    let own = expansion(problem, &places, coefficients);
    let error = places.iter().zip(own).map(|(&i, own)| (own + bias - values[i]).abs()).fold(0.0, f64::max);
    let slope = |((&value, &sign), &cost): ((&f64, &f64), &f64)| cost * (2.0 * (1.0 - sign * value)).max(1.0);
    let slopes = values.iter().zip(problem.signs()).zip(problem.costs()).map(slope).filter(|slope| slope.is_finite());
    error * slopes.sum::<f64>().max(1.0) <= 1e-7 * size
}

/// The binary problem of one machine: the rows of its classes, those of weight 0 left out. And its C.
///
/// # Errors
/// When no problem can be made of them.
pub(crate) fn machine_problem<'a>(
    kernel: &'a KernelFunction,
    points: &'a Points,
    workers: &'a Workers,
    codes: &[u32],
    weights: Option<&[f64]>,
    pairing: Pairing,
    parts: &ModelParts,
) -> Result<(MarginProblem<'a>, f64), Error> {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let (rows, signs): (Vec<usize>, Vec<f64>) = (0..codes.len())
        .filter(|&row| weight(row) > 0.0)
        .filter_map(|row| pairing.sign(codes[row] as usize).map(|sign| (row, sign)))
        .unzip();
    let total: f64 = rows.iter().map(|&row| weight(row)).sum();
    let cost = parts.penalty.cost(total);
    let costs = rows.iter().map(|&row| cost * weight(row)).collect();
    let parts = MarginParts {
        costs,
        loss: parts.loss,
        bias: parts.bias,
        penalised: parts.penalty != Penalty::None,
        ..MarginParts::new(kernel, points, workers, rows, signs)
    };
    Ok((MarginProblem::new(parts)?, cost))
}

/// Joins the machines' support vectors into one pool, each training row once.
fn pool_support_vectors(parts: &mut ModelParts, expansions: Vec<Vec<(u64, f64)>>, points: &Points) {
    let mut pool: Vec<u64> = expansions.iter().flatten().map(|&(row, _)| row).collect();
    pool.sort_unstable();
    pool.dedup();
    for (machine, expansion) in parts.machines.iter_mut().zip(expansions) {
        machine.support = expansion.iter().map(|(row, _)| pool.partition_point(|other| other < row) as u32).collect();
        machine.coefficients = expansion.into_iter().map(|(_, coefficient)| coefficient).collect();
    }
    if !(parts.kernel.is_linear() || parts.kernel.is_precomputed()) {
        let rows: Vec<usize> = pool.iter().map(|&row| row as usize).collect();
        parts.vectors = Some(points.matrix().select_rows(&rows));
    }
    parts.support_rows = pool;
}

fn no_rows() -> Error {
    Error::Data { what: "the data has no rows".into(), help: "give at least one row of each of two classes".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Labels, Matrix, embedded, generate};
    use crate::kernel::Gamma;

    fn fit(data: &Dataset, params: TrainingParams) -> Result<Model, Error> {
        params.check()?.fit(data, &Workers::none(), &mut Unattended)
    }

    #[test]
    fn parameters_out_of_range_are_refused_nan_among_them() {
        let settings = |edit: fn(&mut Settings)| {
            let mut params = TrainingParams::default();
            edit(&mut params.settings);
            params
        };
        let penalty = |penalty: Penalty| TrainingParams { penalty, ..TrainingParams::default() };
        for (params, message) in [
            (penalty(Penalty::C(0.0)), "C is 0, but it must be a finite number above 0"),
            (penalty(Penalty::C(f64::NAN)), "C is NaN, but it must be a finite number above 0"),
            (penalty(Penalty::COverN(-1.0)), "c-over-n is -1, but it must be a finite number above 0"),
            (penalty(Penalty::Lambda(f64::INFINITY)), "lambda is inf, but it must be a finite number above 0"),
            (settings(|s| s.tolerance = f64::NAN), "tolerance is NaN, but it must be a finite number above 0"),
            (settings(|s| s.max_iterations = Some(0)), "max-iterations is 0, but it must be 1 or more"),
            (settings(|s| s.batch = 0), "batch is 0, but it must be 1 or more"),
            (settings(|s| s.shrinkage = f64::NAN), "shrinkage is NaN, but it must be from 0 to 1"),
            (penalty(Penalty::None), "hinge loss without a penalty has no single best model"),
            (
                TrainingParams { loss: Some(Loss::Squared), ..penalty(Penalty::Hard) },
                "a hard margin allows no slack, so squared loss has nothing to do",
            ),
        ] {
            assert_eq!(params.check().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn data_that_make_no_problem_are_refused_with_the_reason() {
        let e1 = embedded("e1").unwrap();
        let one_class = e1.select_rows(&[0, 1]);
        let error = fit(&one_class, TrainingParams::default()).unwrap_err();
        assert_eq!(error.to_string(), "all 2 rows have the label \"+1\"");
        let none = Dataset::new(Matrix::without_columns(0), Labels::new([])).unwrap();
        assert_eq!(fit(&none, TrainingParams::default()).unwrap_err().to_string(), "the data has no rows");
        let positive = TrainingParams { positive: Some(Label::new("7")), ..TrainingParams::default() };
        let error = fit(&e1, positive).unwrap_err();
        assert_eq!(error.to_string(), "no row has the label \"7\"");
        assert_eq!(error.help(), "the labels are \"-1\", \"+1\"");
        let weightless = e1.clone().with_weights(vec![0.0; 14]).unwrap();
        assert!(fit(&weightless, TrainingParams::default()).is_err());
    }

    #[test]
    fn a_hard_margin_that_does_not_exist_names_the_classes_and_the_rows() {
        let hard = TrainingParams { penalty: Penalty::Hard, ..TrainingParams::default() };
        let error = fit(&embedded("e2").unwrap(), hard).unwrap_err();
        let Error::NotSeparable { classes, rows, .. } = &error else { panic!("{error}") };
        assert_eq!((classes.0.as_str(), classes.1.as_str()), ("-1", "+1"));
        assert!(rows.iter().all(|row| (1..=18).contains(row)) && !rows.is_empty());
    }

    #[test]
    fn three_classes_are_three_machines_over_one_pool() {
        let iris = embedded("iris").unwrap();
        for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
            let model = fit(&iris, TrainingParams { multiclass, ..TrainingParams::default() }).unwrap();
            assert_eq!(model.machines().len(), 3);
            assert!(model.parts().support_rows.is_sorted_by(|a, b| a < b));
            let predictions = model.predict(&iris, &Workers::none()).unwrap();
            let errors = predictions.codes().iter().zip(iris.labels().codes()).filter(|(a, b)| a != b).count();
            assert!(errors <= 10, "{multiclass:?}: {errors} errors");
        }
    }

    #[test]
    fn the_three_ways_to_say_the_penalty_are_one() {
        assert_eq!(Penalty::C(3.0).cost(10.0), 3.0);
        assert_eq!(Penalty::COverN(30.0).cost(10.0), 3.0);
        assert_eq!(Penalty::Lambda(1.0 / 60.0).cost(10.0), 3.0);
    }

    #[test]
    fn kept_decision_values_are_trusted_only_when_they_are_the_models_own() {
        let data = generate("moons", 100, 1).unwrap();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(1.0) }.check(data.matrix()).unwrap();
        let (points, workers) = (Points::new(data.matrix().clone(), false), Workers::none());
        let signs = data.labels().codes().iter().map(|&code| 2.0 * f64::from(code) - 1.0).collect();
        let rows = (0..100).collect();
        let problem = MarginProblem::new(MarginParts::new(&kernel, &points, &workers, rows, signs)).unwrap();
        let mut solution = solver::solve(SolverKind::Smo, &problem, &Settings::default(), &mut Unattended).unwrap();
        let evidence = certify(&problem, &solution, 1e-3);
        assert!(can_be_trusted(&problem, &solution, &evidence));
        solution.decision_values.iter_mut().flatten().for_each(|value| *value += 1e-6);
        assert!(!can_be_trusted(&problem, &solution, &evidence));
    }

    #[test]
    fn a_solver_says_what_it_cannot_do_before_a_separator_is_searched_for() {
        let data = generate("xor", 40, 1).unwrap();
        let fit = |solver| {
            let params = TrainingParams {
                penalty: Penalty::Hard,
                solver: Some(solver),
                loss: Some(Loss::Hinge),
                ..TrainingParams::default()
            };
            params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap_err()
        };
        assert!(matches!(fit(SolverKind::Smo), Error::NotSeparable { .. }));
        assert!(matches!(fit(SolverKind::Sgd), Error::Combination { .. }));
    }
}
