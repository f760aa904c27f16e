//! The certificates of machines on landmarks, checked: that of the problem on the landmarks, and the proof against the exact one.

use std::ops::ControlFlow;

use super::verify::{AGREEMENT, Disagreement, Found};
use crate::certificate::{Evidence, certify};
use crate::control::Stop;
use crate::data::Matrix;
use crate::error::Error;
use crate::kernel::{Gram, Points};
use crate::landmarks::{Proof, Span, prove};
use crate::model::{Machine, Model};
use crate::problem::{Decision, FromNu, MarginProblem, Solution};
use crate::recipe::{Recipe, RowAnswers};
use crate::workers::Workers;

/// The features of some data on a model's landmarks, (LM.3).
pub(super) struct LiftedAgain {
    span: Span,
    recipe: Recipe,
    points: Points,
}

impl LiftedAgain {
    /// The linear problem of a machine.
    ///
    /// # Errors
    /// When no problem can be made of its rows.
    pub(super) fn problem<'a>(
        &'a self,
        answers: RowAnswers<'_>,
        machine: &Machine,
        workers: &'a Workers,
    ) -> Result<MarginProblem<'a>, Error> {
        Ok(self.recipe.machine_problem(&self.points, workers, answers, machine.pairing, machine.cost)?.0)
    }
}

impl Model {
    /// The features of the training data, from the landmarks among its rows.
    ///
    /// # Errors
    /// When a feature is not a finite number.
    pub(super) fn lift_again(&self, points: &Points, workers: &Workers) -> Result<LiftedAgain, Error> {
        let recipe = self.recipe();
        let gram = Gram::new(&recipe.kernel, points, workers);
        let landmarks: Vec<usize> = self.parts().support_rows.iter().map(|&row| row as usize).collect();
        let all: Vec<usize> = (0..points.len()).collect();
        // The landmarks of a model are independent: whatever a landmark adds is used.
        let made = Span::new(gram, &landmarks, 0.0, &mut go_on).map_continue(|span| {
            let features = span.features(gram, &all, &mut go_on);
            (span, features.continue_value().unwrap_or_default())
        });
        let (span, features) = made.continue_value().unwrap_or_else(|| (Span::empty(), Vec::new()));
        let matrix = match span.rows().len() {
            0 => Matrix::without_columns(points.len()),
            columns => Matrix::dense(points.len(), columns, features)?,
        };
        Ok(LiftedAgain { span, recipe: recipe.on_features(), points: Points::by(workers, matrix, false) })
    }

    /// The evidence for one machine on landmarks, and the proof, where the model has one.
    pub(super) fn certify_on_landmarks(
        &self,
        number: usize,
        problem: &MarginProblem<'_>,
        on_features: &MarginProblem<'_>,
        lifted: &LiftedAgain,
    ) -> (Found, Option<Proof>) {
        let machine = &self.machines()[number];
        // From the model's own landmarks, so that a changed one shows.
        let values = self.values_of(problem, machine);
        if lifted.span.rows().len() != machine.coefficients.len() {
            let evidence = Evidence::None("the landmarks are not independent on this data".into());
            return (Found { evidence, values }, None);
        }
        let mut coefficients = vec![0.0; problem.len()];
        for (row, coefficient) in self.dual_coefficients(number) {
            match problem.rows().binary_search(&row) {
                Ok(place) => coefficients[place] = coefficient,
                Err(_) => {
                    let evidence = Evidence::None(format!("training row {} is not of this machine's classes", row + 1));
                    return (Found { evidence, values }, None);
                }
            }
        }
        // The norm is that of the landmarks among the rows, so the function has to be theirs, too.
        let weights = lifted.span.weights(&machine.coefficients);
        let of_rows = on_features.decisions_of_weights(&weights, machine.bias);
        let size = values.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        if !values.iter().zip(&of_rows).all(|(own, other)| (own - other).abs() <= AGREEMENT * size) {
            let evidence = Evidence::None("the landmarks of the model are not the rows that it names".into());
            return (Found { evidence, values }, None);
        }
        let alpha = coefficients.iter().zip(problem.signs()).map(|(c, sign)| c * sign).collect();
        let solution = Solution {
            from_nu: FromNu::Nothing,
            decision: Decision::Linear { weights, bias: machine.bias },
            alpha: matches!(machine.evidence, Evidence::Certificate(_)).then_some(alpha),
            decision_values: Some(values.clone()),
            stop: machine.stop,
            iterations: 0,
            notes: Vec::new(),
        };
        let found = certify(on_features, &solution, self.provenance().tolerance);
        let evidence = match (&machine.evidence, found) {
            (Evidence::None(reason), Evidence::None(_)) => Evidence::None(reason.clone()),
            (_, found) => found,
        };
        let is_proved = self.parts().landmarks.as_ref().is_some_and(|points| points[number].proof.is_some());
        let proof = evidence
            .certificate()
            .filter(|_| is_proved)
            .and_then(|certificate| prove(problem, certificate.primal, &coefficients, &mut go_on).continue_value());
        (Found { evidence, values }, proof)
    }
}

/// Nobody watches a verification.
fn go_on() -> ControlFlow<Stop> {
    ControlFlow::Continue(())
}

/// Lists what differs between a stored proof and a computed one.
pub(super) fn compare_proofs(number: usize, stored: Option<Proof>, found: Option<Proof>, out: &mut Vec<Disagreement>) {
    let Some(stored) = stored else { return };
    let numbers = |proof: Proof| [proof.dual, proof.gap, proof.relative_gap];
    let found = found.map_or([f64::NAN; 3], numbers);
    let objective = AGREEMENT * (stored.dual + stored.gap).abs().max(f64::MIN_POSITIVE);
    let allowed = [objective, objective, AGREEMENT];
    let names = ["dual of the exact problem", "proved gap", "proved relative gap"];
    for (((name, stored), found), allowed) in names.into_iter().zip(numbers(stored)).zip(found).zip(allowed) {
        if stored != found && !((stored - found).abs() <= allowed) {
            out.push(Disagreement { machine: Some(number), name: name.into(), stored, found });
        }
    }
}
