//! The one certificate of classes that were trained together, computed anew.

use super::verify::{AGREEMENT, Disagreement};
use crate::certificate::Quantity;
use crate::certificate::joint::{ClassAlpha, JointEvidence, certify_joint, errors_by_class};
use crate::error::Error;
use crate::kernel::Points;
use crate::model::{Machine, Model};
use crate::problem::JointProblem;
use crate::recipe::{Multiclass, RowAnswers};
use crate::workers::Workers;

impl Model {
    /// The evidence for all classes, from the model and the data alone; and where the model says something else.
    pub(super) fn verify_together(
        &self,
        stored: &JointEvidence,
        points: &Points,
        answers: RowAnswers<'_>,
        workers: &Workers,
    ) -> Result<(JointEvidence, Vec<Disagreement>), Error> {
        let (problem, _) = self.recipe().joint_problem(points, workers, answers)?;
        let machines = self.machines();
        let own: Vec<Vec<f64>> = machines.iter().map(|machine| machine.weights.clone().unwrap_or_default()).collect();
        let biases: Vec<f64> = machines.iter().map(|machine| machine.bias).collect();
        let alpha: Option<Vec<ClassAlpha>> = (self.recipe().multiclass == Multiclass::CrammerSinger)
            .then(|| machines.iter().map(|machine| self.alpha_of(&problem, machine)).collect());
        let found = match (stored, certify_joint(&problem, &own, &biases, alpha.as_deref())) {
            // A model that claims nothing claims nothing false.
            (JointEvidence::None(reason), _) => JointEvidence::None(reason.clone()),
            (_, found) => found,
        };
        let mut out = Vec::new();
        compare(stored, &found, &problem, &mut out);
        let errors = errors_by_class(&problem, &own, &biases);
        let unsure = unsure_rows(&self.decision_values(points, workers), machines.len());
        for (number, (machine, found)) in machines.iter().zip(errors).enumerate() {
            if found.abs_diff(machine.training_errors) > unsure {
                let (stored, found) = (machine.training_errors as f64, found as f64);
                let name = "training errors".into();
                out.push(Disagreement { machine: Some(number), name, stored, found });
            }
        }
        Ok((found, out))
    }

    /// The α of a class by their places in the problem.
    fn alpha_of(&self, problem: &JointProblem<'_>, machine: &Machine) -> ClassAlpha {
        let place = |row: u64| problem.rows().binary_search(&(row as usize)).ok();
        let pairs = machine.support.iter().zip(&machine.coefficients);
        pairs.filter_map(|(&at, &alpha)| Some((place(self.parts().support_rows[at as usize])?, alpha))).collect()
    }
}

/// Rows whose two largest values are the same up to rounding: either class may win them.
fn unsure_rows(values: &[f64], classes: usize) -> usize {
    let unsure = |row: &&[f64]| {
        let size = row.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        let mut sorted = row.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted.len() > 1 && sorted[0] - sorted[1] <= 1e-9 * size
    };
    values.chunks(classes).filter(unsure).count()
}

/// Lists what differs between a stored and a computed certificate. Every number is compared.
fn compare(stored: &JointEvidence, found: &JointEvidence, problem: &JointProblem<'_>, out: &mut Vec<Disagreement>) {
    let (stored, found) = match (stored, found) {
        (JointEvidence::Certificate(stored), JointEvidence::Certificate(found)) => (stored, found),
        (JointEvidence::None(_), JointEvidence::None(_)) => return,
        (stored, found) => {
            let name = "certificate present (1) or not (0)".to_string();
            let present = |evidence: &JointEvidence| f64::from(u8::from(evidence.certificate().is_some()));
            let (stored, found) = (present(stored), present(found));
            return out.push(Disagreement { machine: None, name, stored, found });
        }
    };
    let primal = found.primal;
    let objective = AGREEMENT * primal.abs().max(found.dual.abs()).clamp(1.0, f64::MAX);
    // A component of the gradient is a sum over rows, each of which may add its C times its largest number.
    let reach = problem.rows().iter().map(|&row| problem.points().squared_norm(row)).fold(1.0, f64::max).sqrt();
    let mass: f64 = problem.costs().iter().sum();
    for ((quantity, stored), (_, found)) in stored.numbers().into_iter().zip(found.numbers()) {
        let allowed = match quantity {
            Quantity::Primal | Quantity::Dual => objective,
            Quantity::Gap => 0.1 * objective,
            Quantity::RelativeGap => 0.1 * objective / primal.abs(),
            Quantity::Violation | Quantity::Infeasibility => 1e-9 * (reach * mass).max(1.0),
            _ => 0.0,
        };
        if stored != found && !((stored - found).abs() <= allowed) {
            out.push(Disagreement { machine: None, name: quantity.name().into(), stored, found });
        }
    }
}
