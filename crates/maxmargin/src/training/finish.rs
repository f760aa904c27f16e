//! From a solution to a machine: its certificate, its errors, and what the model keeps of it.

use super::verdict::Settled;
use crate::certificate::rounding::{Rounding, precise_values, rounding};
use crate::certificate::{
    Evidence, MERCER_ROWS, SLACK_A_TOLERANCE, certify, decision_values, expansion, training_errors,
};
use crate::checkpoint::ByRow;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::problem::{Bias, FromNu, MarginProblem, RowLoss};
use crate::provenance::{MoreDigits, Note};
use crate::recipe::Pairing;
use crate::solver::{Decision, Solution};

/// How good a solution is. Its decision values become the model's own on the way.
pub(super) fn evidence_of(problem: &MarginProblem<'_>, solution: &mut Solution, tolerance: f64) -> Evidence {
    // The α of an expansion are what the model keeps of them, its coefficients.
    if let (Decision::Expansion { coefficients, .. }, Some(alpha)) = (&solution.decision, &mut solution.alpha) {
        *alpha = coefficients.iter().zip(problem.signs()).map(|(coefficient, sign)| coefficient * sign).collect();
    }
    // Recompute the decision values if that is cheap and the solver's are not already the model's own.
    if is_cheap(problem, &solution.decision) && !are_own(problem, solution) || solution.decision_values.is_none() {
        solution.decision_values = Some(decision_values(problem, &solution.decision));
    }
    take_in_the_edge(problem, solution, tolerance);
    let evidence = certify(problem, solution, tolerance);
    if is_cheap(problem, &solution.decision) || can_be_trusted(problem, solution, &evidence) {
        return despite_rounding(problem, solution, evidence, tolerance);
    }
    solution.decision_values = Some(decision_values(problem, &solution.decision));
    take_in_the_edge(problem, solution, tolerance);
    let evidence = certify(problem, solution, tolerance);
    despite_rounding(problem, solution, evidence, tolerance)
}

/// The part of b that the edge of one class is moved by beyond its rows, so that rounding in a prediction leaves them inside.
const BEYOND_THE_EDGE: f64 = 1e-12;

/// One class: moves the edge so that all rows with α below the bound lie inside, if the tolerance allows it.
///
/// ```text
/// b ← b + max ξ_i  over rows with α_i < C_i                                                          (T.5)
/// ```
///
/// Rows on the edge have a decision value of 0 but for rounding and the tolerance, and count as inside everywhere. Those left outside have
/// `α_i = C_i`, so they are at most the part ν of all.
fn take_in_the_edge(problem: &MarginProblem<'_>, solution: &mut Solution, tolerance: f64) {
    let loss = problem.row_loss();
    if !matches!(loss, RowLoss::OneClass | RowLoss::Ball) || problem.bias() != Bias::Explicit {
        return;
    }
    let Solution { decision, alpha: Some(alpha), decision_values: Some(values), .. } = solution else { return };
    let (costs, targets) = (problem.costs(), problem.targets());
    let is_below = |i: &usize| alpha[*i] < loss.bound(costs[*i]) * (1.0 - BEYOND_THE_EDGE);
    let slack = (0..values.len()).filter(is_below).map(|i| loss.slack(targets[i], values[i])).fold(0.0, f64::max);
    // (T.5)
    let (Decision::Expansion { bias, .. } | Decision::Linear { bias, .. }) = decision;
    let shift = slack + BEYOND_THE_EDGE * bias.abs();
    let is_inside = (0..values.len()).filter(is_below).all(|i| values[i] > loss.side(targets[i]).1 + 0.5 * shift);
    if is_inside || slack > SLACK_A_TOLERANCE * tolerance {
        return;
    }
    *bias += shift;
    values.iter_mut().for_each(|value| *value += shift);
}

/// The evidence from decision values with more digits, where rounding hides something of the gap.
fn despite_rounding(
    problem: &MarginProblem<'_>,
    solution: &mut Solution,
    evidence: Evidence,
    tolerance: f64,
) -> Evidence {
    let values = solution.decision_values.as_deref().unwrap_or_default();
    let precise = |places: &[usize], exponential| precise_values(problem, &solution.decision, places, exponential);
    match rounding(problem, &solution.decision, values, &evidence, precise) {
        Rounding::Harmless => evidence,
        Rounding::Precise(values) => {
            solution.decision_values = Some(values);
            note_rounding(solution, MoreDigits::Twice);
            certify(problem, solution, tolerance)
        }
        Rounding::Hidden(hidden) => {
            note_rounding(solution, MoreDigits::Added(hidden));
            evidence.with_hidden(hidden)
        }
    }
}

/// Notes, once, that kernel values lack digits, what was done about it, and the way out.
fn note_rounding(solution: &mut Solution, done: MoreDigits) {
    if !solution.notes.iter().any(|note| matches!(note, Note::Rounding(_))) {
        solution.notes.push(Note::Rounding(done));
    }
}

/// Solution to machine: errors, and the coefficients by training row.
pub(super) fn finish(settled: Settled<'_>, pairing: Pairing, cost: f64) -> (Machine, ByRow) {
    let Settled { problem, mut solution, evidence, .. } = settled;
    let problem = &problem;
    if evidence.certificate().is_some()
        && problem.len() > MERCER_ROWS
        && !problem.kernel().always_positive_semidefinite()
    {
        solution.notes.push(Note::AssumedPositive { tried: MERCER_ROWS, rows: problem.len() });
    }
    let values = solution.decision_values.as_deref().unwrap_or_default();
    let training_errors = training_errors(problem, values);
    let workers = problem.workers();
    let (weights, bias, coefficients) = match (solution.decision, solution.alpha) {
        (Decision::Linear { weights, bias }, alpha) => {
            let mut signed = alpha.unwrap_or_default();
            workers.multiply(&mut signed, problem.signs());
            (Some(weights), bias, signed)
        }
        (Decision::Expansion { coefficients, bias }, _) => (None, bias, coefficients),
    };
    let row = |i: usize| problem.rows()[i] as u64;
    let expansion = match workers.find(&coefficients, |&coefficient| coefficient == 0.0) {
        None => ByRow { rows: workers.numbers(coefficients.len(), row), numbers: coefficients },
        Some(_) => {
            let pairs = coefficients.into_iter().enumerate().filter(|&(_, coefficient)| coefficient != 0.0);
            pairs.map(|(i, coefficient)| (row(i), coefficient)).collect()
        }
    };
    let machine = Machine {
        pairing,
        bias,
        stop: solution.stop,
        iterations: solution.iterations,
        training_errors,
        rows: problem.len(),
        cost: cost.is_finite().then_some(cost).filter(|_| problem.penalised()),
        epsilon: if let FromNu::Epsilon(epsilon) = solution.from_nu { Some(epsilon) } else { None },
        reach: problem.reach(),
        calibration: None,
        evidence,
        notes: solution.notes,
        weights,
        support: Vec::new(),
        coefficients: Vec::new(),
    };
    (machine, expansion)
}

/// Rows that a thread looks at at a time.
const ROWS_A_CHUNK: usize = 8192;

/// Kernel values that cost little beside any training.
const FEW_VALUES: usize = 1 << 16;

/// Rows that decision values are checked at.
const SAMPLE: usize = 64;

/// Whether the decision values that a linear solver kept are the model's own but for a rounding that does not matter, by a sample of rows.
fn are_own(problem: &MarginProblem<'_>, solution: &Solution) -> bool {
    let (Decision::Linear { weights, bias }, Some(values)) = (&solution.decision, &solution.decision_values) else {
        return false;
    };
    let sample = SAMPLE.min(problem.len());
    let places = (0..sample).map(|k| k * problem.len() / sample);
    let costs = problem.costs();
    let parts = problem.workers().map_chunks(costs.len(), ROWS_A_CHUNK, |range| costs[range].iter().sum::<f64>());
    let all: f64 = parts.iter().sum();
    let penalty: f64 = 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
    places.into_iter().all(|i| {
        let own = problem.decision_of_weights(i, weights, *bias);
        let length = problem.points().squared_norm(problem.rows()[i]).sqrt().max(1.0);
        own == values[i] || (own - values[i]).abs() * length * all <= NO_MATTER * penalty.min(1.0)
    })
}

/// An error of decision values that shows nowhere, once it is multiplied by all costs and the length of a row: it is then what the gradient of
/// the objective is off by at most. Where the weights are short, the objective may be next to nothing, and this is a part of its penalty.
const NO_MATTER: f64 = 1e-8;

/// Whether decision values from scratch cost a pass over the data, or a few thousand kernel values.
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
///
/// Rows that are no support vectors and have no loss have no part in either, and may be known to fewer digits.
fn can_be_trusted(problem: &MarginProblem<'_>, solution: &Solution, evidence: &Evidence) -> bool {
    let (Decision::Expansion { coefficients, bias }, Some(values)) = (&solution.decision, &solution.decision_values)
    else {
        return true;
    };
    let (targets, costs, loss) = (problem.targets(), problem.costs(), problem.row_loss());
    let matters = |&i: &usize| coefficients[i] != 0.0 || loss.value(targets[i], values[i]) > 0.0;
    let rows: Vec<usize> = (0..problem.len()).filter(matters).collect();
    let size = evidence.certificate().map_or(1.0, |found| found.primal.abs());
    let sample = SAMPLE.min(rows.len());
    let places: Vec<usize> = (0..sample).map(|k| rows[k * rows.len() / sample]).collect();
    let own = expansion(problem, &places, coefficients);
    let error = places.iter().zip(own).map(|(&i, own)| (own + bias - values[i]).abs()).fold(0.0, f64::max);
    let slope = |&i: &usize| costs[i] * (2.0 * loss.slack(targets[i], values[i])).max(1.0);
    let slopes: f64 = rows.iter().map(slope).filter(|slope| slope.is_finite()).sum();
    error * slopes.max(1.0) <= 1e-7 * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::generate;
    use crate::kernel::{Gamma, KernelParams, Points};
    use crate::problem::MarginParts;
    use crate::solver::{self, Settings, SolverKind};
    use crate::workers::Workers;

    #[test]
    fn kept_decision_values_are_trusted_only_when_they_are_the_models_own() {
        let data = generate("moons", 100, 1).unwrap();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(1.0) }.check(data.matrix()).unwrap();
        let (points, workers) = (Points::new(data.matrix().clone(), false), Workers::none());
        let signs = data.labels().unwrap().codes().iter().map(|&code| 2.0 * f64::from(code) - 1.0).collect();
        let rows = (0..100).collect();
        let problem = MarginProblem::new(MarginParts::new(&kernel, &points, &workers, rows, signs)).unwrap();
        let mut solution = solver::solve(SolverKind::Smo, &problem, &Settings::default(), &mut Unattended).unwrap();
        let evidence = certify(&problem, &solution, 1e-3);
        assert!(can_be_trusted(&problem, &solution, &evidence));
        solution.decision_values.iter_mut().flatten().for_each(|value| *value += 1e-6);
        assert!(!can_be_trusted(&problem, &solution, &evidence));
    }
}
