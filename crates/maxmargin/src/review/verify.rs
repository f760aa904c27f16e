//! A model's certificate, checked against the data by anyone who doubts it.

#[cfg(feature = "serde")]
use serde::Serialize;

use crate::certificate::joint::JointEvidence;
use crate::certificate::rounding::{Rounding, rounding};
use crate::certificate::{Evidence, Quantity, borderline, certify, decision_values, dual_point, training_errors};
use crate::control::Stop;
use crate::data::Dataset;
use crate::error::{Error, quoted};
use crate::kernel::{Exponential, Points, expand, precise_sums};
use crate::landmarks::Proof;
use crate::model::{Machine, Model, Network, network_errors};
use crate::problem::{Decision, FromNu, MarginProblem, Solution, Task};
use crate::recipe::{RowAnswers, row_weights};
use crate::solver::Settings;
use crate::workers::Workers;

use super::verify_landmarks::compare_proofs;

/// How far two numbers may lie apart, relative to what they are made of, and still be the same.
pub(super) const AGREEMENT: f64 = 1e-6;

/// What was found when a model's certificates were computed anew.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[non_exhaustive]
pub struct Verification {
    /// Whether the data is the training data, by its hash; `None` when the model keeps none, because it learnt from a stream.
    pub same_data: Option<bool>,
    /// The evidence computed anew, one a machine; none for classes that were trained together. For a model from a stream it is computed
    /// for the first time, from the weights and these rows.
    pub evidence: Vec<Evidence>,
    /// The evidence computed anew for classes that were trained together.
    pub joint: Option<JointEvidence>,
    /// The proofs of (LM.1) computed anew, one a machine, where the support vectors are landmarks and the model has proofs.
    pub proofs: Vec<Option<Proof>>,
    /// Where the stored certificate says something else.
    pub disagreements: Vec<Disagreement>,
}

impl Verification {
    /// Whether the stored certificates are true of this data.
    pub fn holds(&self) -> bool {
        self.same_data != Some(false) && self.disagreements.is_empty()
    }
}

/// A number of a stored certificate that is not true.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Disagreement {
    /// Which machine; `None` for what all of them have in common.
    pub machine: Option<usize>,
    /// Which number.
    pub name: String,
    /// What the model file says.
    pub stored: f64,
    /// What came out.
    pub found: f64,
}

impl Model {
    /// Computes every certificate anew in f64, trusting nothing in the model but its coefficients.
    ///
    /// # Errors
    /// When the data does not fit the model: columns, rows or labels.
    pub fn verify(&self, data: &Dataset, workers: &Workers) -> Result<Verification, Error> {
        let parts = self.parts();
        if data.rows() != parts.provenance.rows {
            return Err(Error::Shape {
                operation: "verify",
                left: format!("{} rows of data", data.rows()),
                right: format!("{} rows that the model was trained on", parts.provenance.rows),
            });
        }
        let points = self.align(data)?.points;
        let codes = self.true_codes(data)?;
        let targets = parts.recipe.task.is_regression().then(|| data.numbers()).transpose()?;
        let mut verification = Verification {
            same_data: (!self.is_from_stream()).then(|| self.is_training_data(data, workers)),
            evidence: Vec::new(),
            joint: None,
            proofs: Vec::new(),
            disagreements: Vec::new(),
        };
        let weights = row_weights(data.weights(), &codes, parts.recipe.class_weights.as_deref());
        let mut answers = RowAnswers {
            classes: parts.classes.len(),
            codes: &codes,
            targets: targets.as_deref(),
            weights: weights.as_deref(),
            of_class: None,
        };
        if let Some(network) = &parts.network {
            self.verify_network(network, &points, answers, workers, &mut verification)?;
            return Ok(verification);
        }
        if let Some(stored) = &parts.joint {
            let (found, disagreements) = self.verify_together(stored, &points, answers, workers)?;
            (verification.joint, verification.disagreements) = (Some(found), disagreements);
            return Ok(verification);
        }
        let of_class = parts.recipe.rows_of_classes(answers);
        answers.of_class = of_class.as_ref();
        let lifted = parts.landmarks.as_ref().map(|_| self.lift_again(&points, workers)).transpose()?;
        for (number, machine) in self.machines().iter().enumerate() {
            let (problem, _) =
                parts.recipe.machine_problem(&points, workers, answers, machine.pairing, machine.cost)?;
            let Found { evidence, values } = match &lifted {
                None => self.certify_again(&problem, machine),
                Some(lifted) => {
                    let on_features = lifted.problem(answers, machine, workers)?;
                    let (found, proof) = self.certify_on_landmarks(number, &problem, &on_features, lifted);
                    let stored = parts.landmarks.as_ref().and_then(|points| points[number].proof);
                    compare_proofs(number, stored, proof, &mut verification.disagreements);
                    verification.proofs.push(proof);
                    found
                }
            };
            if self.is_from_stream() {
                // What it says of itself is of rows before they were learnt.
                verification.evidence.push(evidence);
                continue;
            }
            let size = Size::new(&problem, &values, parts.provenance.tolerance);
            compare(number, machine, &evidence, &size, &mut verification.disagreements);
            let errors = training_errors(&problem, &values);
            // A value of 0 by rounding may fall to either side.
            let unsure = (0..values.len()).filter(|&i| problem.side(i, values[i]).abs() <= size.of_values).count();
            if errors.abs_diff(machine.training_errors) > unsure {
                let (stored, found) = (machine.training_errors as f64, errors as f64);
                let name = "training errors".into();
                verification.disagreements.push(Disagreement { machine: Some(number), name, stored, found });
            }
            verification.evidence.push(evidence);
        }
        Ok(verification)
    }

    /// A network has no certificate; what it says of its training errors is counted again.
    fn verify_network(
        &self,
        network: &Network,
        points: &Points,
        answers: RowAnswers<'_>,
        workers: &Workers,
        verification: &mut Verification,
    ) -> Result<(), Error> {
        let (parts, machines) = (self.parts(), self.machines());
        let (problem, _) = parts.recipe.joint_problem(points, workers, answers)?;
        for (number, found) in network_errors(network, machines, &problem, workers).into_iter().enumerate() {
            if found != machines[number].training_errors {
                let (stored, found) = (machines[number].training_errors as f64, found as f64);
                let name = "training errors".into();
                verification.disagreements.push(Disagreement { machine: Some(number), name, stored, found });
            }
        }
        verification.joint = parts.joint.clone();
        if parts.joint.is_none() {
            verification.evidence = machines.iter().map(|machine| machine.evidence.clone()).collect();
        }
        Ok(())
    }

    /// Whether the rows streamed by, and left neither a hash nor dual variables. Such a model claims nothing that could be false.
    fn is_from_stream(&self) -> bool {
        let claims = self.machines().iter().any(|machine| machine.evidence.certificate().is_some());
        self.provenance().is_from_stream() && !claims
    }

    /// The class of each row, as training saw it.
    fn true_codes(&self, data: &Dataset) -> Result<Vec<u32>, Error> {
        match self.task() {
            Task::Classification => {}
            Task::Regression { .. } | Task::NuRegression { .. } => return Ok(vec![0; data.rows()]),
            Task::OneClass { .. } | Task::Svdd { .. } => return Ok(vec![1; data.rows()]),
        }
        let labels = data.labels()?;
        let codes = self.codes(data);
        if let Some(row) = codes.iter().position(Option::is_none) {
            return Err(Error::Data {
                what: format!(
                    "the model does not know the label {} of row {}",
                    quoted(labels.get(row).text()),
                    row + 1
                ),
                help: "verify with the data that the model was trained on".into(),
            });
        }
        Ok(codes.into_iter().flatten().collect())
    }

    /// The evidence for one machine, from its coefficients and the data.
    fn certify_again(&self, problem: &MarginProblem<'_>, machine: &Machine) -> Found {
        let coefficients = self.coefficients_at(machine, problem.rows());
        let row_of = |&place: &u32| self.parts().support_rows[place as usize] as usize;
        let stranger = machine.support.iter().map(row_of).find(|row| problem.rows().binary_search(row).is_err());
        let alpha = matches!(machine.evidence, Evidence::Certificate(_))
            .then(|| coefficients.iter().zip(problem.signs()).map(|(c, sign)| c * sign).collect());
        let (decision, mut values) = match &machine.weights {
            Some(weights) => {
                let decision = Decision::Linear { weights: weights.clone(), bias: machine.bias };
                let values = decision_values(problem, &decision);
                (decision, values)
            }
            // From the model's own support vectors, so that a changed vector shows.
            None => (Decision::Expansion { coefficients, bias: machine.bias }, self.values_of(problem, machine)),
        };
        if let Some(row) = stranger {
            let evidence = Evidence::None(format!("training row {} is not of this machine's classes", row + 1));
            return Found { evidence, values };
        }
        let alpha = if self.is_from_stream() { dual_point(problem, &values) } else { alpha };
        let (stop, iterations, notes) = (Stop::Converged, 0, Vec::new());
        let mut solution = Solution {
            from_nu: FromNu::Nothing,
            decision,
            alpha,
            decision_values: Some(values.clone()),
            stop,
            iterations,
            notes,
        };
        // A stream promises no tolerance, but rows are counted with one.
        let tolerance = if self.is_from_stream() { Settings::TOLERANCE } else { self.provenance().tolerance };
        let plain = certify(problem, &solution, tolerance);
        let precise = |places: &[usize], exponential| self.precise_values_of(problem, machine, places, exponential);
        let found = match rounding(problem, &solution.decision, &values, &plain, precise) {
            Rounding::Harmless => plain,
            Rounding::Precise(precise) => {
                solution.decision_values = Some(precise.clone());
                values = precise;
                certify(problem, &solution, tolerance)
            }
            Rounding::Hidden(hidden) => plain.with_hidden(hidden),
        };
        let evidence = match (&machine.evidence, found) {
            (Evidence::None(reason), Evidence::None(_)) => Evidence::None(reason.clone()),
            (_, evidence) => evidence,
        };
        Found { evidence, values }
    }

    /// f(x_i) of a kernel expansion for each row of a problem.
    pub(super) fn values_of(&self, problem: &MarginProblem<'_>, machine: &Machine) -> Vec<f64> {
        let pool: Vec<usize> = machine.support.iter().map(|&place| place as usize).collect();
        let (left, right) = (problem.points().rows(problem.rows()), self.support_vectors().rows(&pool));
        let mut values = expand(&self.recipe().kernel, left, right, &machine.coefficients, problem.workers());
        values.iter_mut().for_each(|value| *value += machine.bias);
        values
    }

    /// [`Model::values_of`] for some rows of a problem, with twice the digits.
    fn precise_values_of(
        &self,
        problem: &MarginProblem<'_>,
        machine: &Machine,
        places: &[usize],
        exponential: Exponential,
    ) -> Vec<f64> {
        let pool: Vec<usize> = machine.support.iter().map(|&place| place as usize).collect();
        let rows: Vec<usize> = places.iter().map(|&i| problem.rows()[i]).collect();
        let (left, right) = (problem.points().rows(&rows), self.support_vectors().rows(&pool));
        let (kernel, workers) = (&self.recipe().kernel, problem.workers());
        precise_sums(kernel, exponential, left, right, &machine.coefficients, machine.bias, workers)
    }
}

/// What was computed anew for one machine.
pub(super) struct Found {
    pub(super) evidence: Evidence,
    /// f(x_i) for each row of the problem.
    pub(super) values: Vec<f64>,
}

/// How large the things are that a certificate's numbers are made of, and so how well they can be known.
struct Size {
    /// The error of a decision value.
    of_values: f64,
    /// Rows that rounding may count to one kind or another.
    unsure_rows: usize,
}

impl Size {
    fn new(problem: &MarginProblem<'_>, values: &[f64], tolerance: f64) -> Self {
        let of_values = AGREEMENT * values.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        Size { of_values, unsure_rows: borderline(problem, values, tolerance, of_values) }
    }
}

/// Lists what differs between a stored and a computed certificate. Every number is compared.
fn compare(number: usize, stored: &Machine, found: &Evidence, size: &Size, out: &mut Vec<Disagreement>) {
    let machine = Some(number);
    let (stored, found) = match (&stored.evidence, found) {
        (Evidence::Certificate(stored), Evidence::Certificate(found)) => (stored, found),
        (Evidence::None(_), Evidence::None(_)) => return,
        (stored, found) => {
            let name = "certificate present (1) or not (0)".to_string();
            let present = |evidence: &Evidence| f64::from(u8::from(evidence.certificate().is_some()));
            return out.push(Disagreement { machine, name, stored: present(stored), found: present(found) });
        }
    };
    let objective = AGREEMENT * found.primal.abs().max(found.dual.abs()).clamp(1.0, f64::MAX);
    let (stored_primal, stored_gap, found_primal) = (stored.primal, stored.gap, found.primal);
    let (stored, found_numbers) = (stored.numbers(), found.numbers());
    for place in 0..stored.len().max(found_numbers.len()) {
        // A number that only one of them has is not the same in both.
        let of = |numbers: &[(Quantity, f64)]| numbers.get(place).map_or(f64::NAN, |&(_, value)| value);
        let Some(&(quantity, _)) = found_numbers.get(place).or(stored.get(place)) else { continue };
        let (stored, found) = (of(&stored), of(&found_numbers));
        let allowed = match quantity {
            Quantity::Primal | Quantity::Dual => objective,
            // Differences of two objectives, and sums of α, which are no larger: nearer than these are known.
            Quantity::Gap | Quantity::Infeasibility => 0.1 * objective,
            // Models of before have the gap over the larger of |primal| and 1.
            Quantity::RelativeGap
                if (stored * stored_primal.abs().max(1.0) - stored_gap).abs() <= AGREEMENT * stored_gap =>
            {
                continue;
            }
            Quantity::RelativeGap => 0.1 * objective / found_primal.abs(),
            Quantity::Violation => size.of_values,
            Quantity::SlackSum => size.of_values.max(AGREEMENT * found),
            // A margin 1/‖w‖ is compared as what it adds to the objective: where w is nearly 0 it has no digits of its own.
            Quantity::Margin => objective,
            Quantity::OnMargin | Quantity::Inside | Quantity::Misclassified => size.unsure_rows as f64,
            _ => 0.0,
        };
        let is_margin = quantity == Quantity::Margin;
        let measure = |value: f64| if is_margin { 1.0 / (value * value) } else { value };
        if stored != found && !((measure(stored) - measure(found)).abs() <= allowed) {
            out.push(Disagreement { machine, name: quantity.name().into(), stored, found });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Certificate;
    use crate::control::Unattended;
    use crate::data::embedded;
    use crate::kernel::{Gamma, KernelParams};
    use crate::provenance::{Origin, SolverKind};
    use crate::training::TrainingParams;

    /// Edits one number of a certificate.
    type Forgery = (&'static str, fn(&mut Certificate));

    /// Every number, made a little better than it is.
    const FORGERIES: [Forgery; 14] = [
        ("primal", |c| c.primal *= 1.0 - 1e-5),
        ("dual", |c| c.dual *= 1.0 + 1e-5),
        ("gap", |c| c.gap = -1e-5),
        ("relative gap", |c| c.relative_gap += 1e-5),
        ("violation", |c| c.violation += 1e-4),
        ("infeasibility", |c| c.infeasibility += 1e-3),
        ("margin", |c| c.margin *= 1.01),
        ("sum of slacks", |c| c.slack_sum += 1e-3),
        ("rows that are not support vectors", |c| c.counts.not_support += 1),
        ("rows on the margin", |c| c.counts.on_margin += 1),
        ("rows inside the margin", |c| c.counts.inside += 1),
        ("misclassified rows", |c| c.counts.misclassified -= 1),
        ("support vectors", |c| c.counts.support += 1),
        ("support vectors at the bound", |c| c.counts.bounded += 1),
    ];

    fn trained(kernel: KernelParams) -> (Dataset, Model) {
        let data = embedded("e2").unwrap();
        let training = TrainingParams { kernel, ..TrainingParams::default() }.check().unwrap();
        let model = training.fit(&data, &Workers::none(), &mut Unattended).unwrap();
        (data, model)
    }

    fn verify(model: &Model, data: &Dataset) -> Verification {
        model.verify(data, &Workers::none()).unwrap()
    }

    #[test]
    fn no_number_of_a_certificate_can_be_forged() {
        for kernel in [KernelParams::Linear, KernelParams::Rbf { gamma: Gamma::Value(0.3) }] {
            let (data, model) = trained(kernel);
            assert!(verify(&model, &data).holds());
            for (name, forge) in FORGERIES {
                let mut parts = model.parts().clone();
                let Evidence::Certificate(certificate) = &mut parts.machines[0].evidence else {
                    panic!("no certificate")
                };
                forge(certificate);
                let verification = verify(&Model::new(parts).unwrap(), &data);
                assert!(!verification.holds(), "{name}");
                assert_eq!(verification.disagreements[0].name, name);
            }
            let mut parts = model.parts().clone();
            parts.machines[0].training_errors -= 1;
            assert_eq!(verify(&Model::new(parts).unwrap(), &data).disagreements[0].name, "training errors");
        }
    }

    #[test]
    fn a_certificate_is_checked_also_where_the_model_says_that_it_learnt_from_a_stream() {
        let (data, model) = trained(KernelParams::Linear);
        let mut parts = model.parts().clone();
        (parts.provenance.origin, parts.provenance.fingerprint) = (Origin::Trained(SolverKind::Sgd), String::new());
        assert!(!verify(&Model::new(parts).unwrap(), &data).holds());
    }

    #[test]
    fn a_changed_coefficient_or_support_vector_shows() {
        let (data, model) = trained(KernelParams::Rbf { gamma: Gamma::Value(0.3) });
        let mut parts = model.parts().clone();
        parts.machines[0].coefficients[0] *= 0.99;
        assert!(!verify(&Model::new(parts).unwrap(), &data).holds());
        let mut parts = model.parts().clone();
        parts.vectors = parts.vectors.map(|vectors| {
            vectors.rebuild(2, |row, entries, out| {
                out.extend(entries.iter().map(|&(column, value)| (column, if row == 0 { value + 0.1 } else { value })));
            })
        });
        assert!(!verify(&Model::new(parts).unwrap(), &data).holds());
    }
}
