//! A model's certificate, checked against the data by anyone who doubts it.

use serde::Serialize;

use super::{Machine, Model};
use crate::certificate::{Certificate, Evidence, certify};
use crate::control::Stop;
use crate::data::Dataset;
use crate::error::{Error, quoted};
use crate::kernel::Kernel;
use crate::problem::MarginProblem;
use crate::solver::{Decision, Solution};
use crate::training::machine_problem;
use crate::workers::Workers;

/// How far two numbers may lie apart, relative to the size of the objective, and still be the same.
const AGREEMENT: f64 = 1e-6;

/// What was found when a model's certificates were computed anew.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// Whether the data is the training data, by its hash.
    pub same_data: bool,
    /// The evidence computed anew, one a machine.
    pub evidence: Vec<Evidence>,
    /// Where the stored certificate says something else.
    pub disagreements: Vec<Disagreement>,
}

impl Verification {
    /// Whether the stored certificates are true of this data.
    pub fn holds(&self) -> bool {
        self.same_data && self.disagreements.is_empty()
    }
}

/// A number of a stored certificate that is not true.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disagreement {
    /// Which machine.
    pub machine: usize,
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
        if data.rows() != parts.training_rows {
            return Err(Error::Shape {
                operation: "verify",
                left: format!("{} rows of data", data.rows()),
                right: format!("{} rows that the model was trained on", parts.training_rows),
            });
        }
        let selected = match &parts.names {
            Some(names) => data.select_columns(names).unwrap_or_else(|_| data.clone()),
            None => data.clone(),
        };
        let points = self.align(data)?.points;
        let codes = self.codes(data.labels());
        if let Some(row) = codes.iter().position(Option::is_none) {
            return Err(Error::Data {
                what: format!(
                    "the model does not know the label {} of row {}",
                    quoted(data.labels().get(row).text()),
                    row + 1
                ),
                help: "verify with the data that the model was trained on".into(),
            });
        }
        let codes: Vec<u32> = codes.into_iter().flatten().collect();
        let mut verification = Verification {
            same_data: [data, &selected].iter().any(|data| data.fingerprint() == parts.fingerprint),
            evidence: Vec::new(),
            disagreements: Vec::new(),
        };
        for (number, machine) in self.machines().iter().enumerate() {
            let (problem, _) =
                machine_problem(&parts.kernel, &points, workers, &codes, data.weights(), machine.pairing, parts)?;
            let evidence = self.evidence(&problem, machine);
            compare(number, &machine.evidence, &evidence, &mut verification.disagreements);
            verification.evidence.push(evidence);
        }
        Ok(verification)
    }

    /// The evidence for one machine, from its coefficients and the data.
    fn evidence(&self, problem: &MarginProblem<'_>, machine: &Machine) -> Evidence {
        // The pool's training rows, as places in the problem.
        let mut coefficients = vec![0.0; problem.len()];
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            let row = self.parts().support_rows[place as usize] as usize;
            match problem.rows().binary_search(&row) {
                Ok(i) => coefficients[i] = coefficient,
                Err(_) => return Evidence::None(format!("training row {} is not of this machine's classes", row + 1)),
            }
        }
        let alpha = matches!(machine.evidence, Evidence::Certificate(_))
            .then(|| coefficients.iter().zip(problem.signs()).map(|(c, sign)| c * sign).collect());
        let decision = match &machine.weights {
            Some(weights) => Decision::Linear { weights: weights.clone(), bias: machine.bias },
            None => Decision::Expansion { coefficients, bias: machine.bias },
        };
        // The decision values are the model's own, from its stored support vectors, so that a changed vector shows.
        let decision_values = machine.weights.is_none().then(|| self.values_of(problem, machine));
        let (stop, iterations, notes) = (Stop::Converged, 0, Vec::new());
        let solution = Solution { decision, alpha, decision_values, stop, iterations, notes };
        match (&machine.evidence, certify(problem, &solution, self.parts().tolerance)) {
            (Evidence::None(reason), Evidence::None(_)) => Evidence::None(reason.clone()),
            (_, evidence) => evidence,
        }
    }

    fn values_of(&self, problem: &MarginProblem<'_>, machine: &Machine) -> Vec<f64> {
        let pool: Vec<usize> = machine.support.iter().map(|&place| place as usize).collect();
        let mut out = vec![0.0; problem.len()];
        problem.workers().fill_chunks(&mut out, 16, |start, chunk| {
            let mut values = vec![0.0; pool.len()];
            for (k, sum) in chunk.iter_mut().enumerate() {
                let row = [problem.rows()[start + k]];
                self.parts().kernel.block(problem.points().rows(&row), self.support_vectors().rows(&pool), &mut values);
                *sum = values.iter().zip(&machine.coefficients).map(|(value, c)| value * c).sum::<f64>() + machine.bias;
            }
        });
        out
    }
}

/// Lists what differs between a stored and a computed certificate.
fn compare(machine: usize, stored: &Evidence, found: &Evidence, out: &mut Vec<Disagreement>) {
    let (stored, found) = match (stored, found) {
        (Evidence::Certificate(stored), Evidence::Certificate(found)) => (stored, found),
        (Evidence::None(_), Evidence::None(_)) => return,
        _ => {
            let name = "certificate present (1) or not (0)".to_string();
            let present = |evidence: &Evidence| f64::from(u8::from(evidence.certificate().is_some()));
            return out.push(Disagreement { machine, name, stored: present(stored), found: present(found) });
        }
    };
    let scale = found.primal.abs().max(found.dual.abs()).clamp(1.0, f64::MAX);
    for ((name, stored), (_, found)) in numbers(stored).into_iter().zip(numbers(found)) {
        // A margin 1/‖w‖ is compared as what it adds to the objective: where w is nearly 0 it has no digits of its own.
        let size = |value: f64| if name == "margin" { 1.0 / (value * value) } else { value };
        let same = stored == found || (size(stored) - size(found)).abs() <= AGREEMENT * scale;
        if !same {
            out.push(Disagreement { machine, name: name.into(), stored, found });
        }
    }
    let (a, b) = (&stored.counts, &found.counts);
    for (name, stored, found) in [
        ("rows that are not support vectors", a.not_support, b.not_support),
        ("support vectors", a.support, b.support),
        ("bounded support vectors", a.bounded, b.bounded),
    ] {
        if stored != found {
            out.push(Disagreement { machine, name: name.into(), stored: stored as f64, found: found as f64 });
        }
    }
}

fn numbers(certificate: &Certificate) -> [(&'static str, f64); 7] {
    [
        ("primal", certificate.primal),
        ("dual", certificate.dual),
        ("gap", certificate.gap),
        ("relative gap", certificate.relative_gap),
        ("violation", certificate.violation),
        ("margin", certificate.margin),
        ("sum of slacks", certificate.slack_sum),
    ]
}
