//! What the machines over a network get wrong.

use super::{Machine, Multiclass, Network};
use crate::problem::JointProblem;
use crate::workers::Workers;

/// The rows that the machines over a network get wrong: all of them for two classes, else those of each class.
pub(crate) fn network_errors(
    network: &Network,
    machines: &[Machine],
    problem: &JointProblem<'_>,
    workers: &Workers,
) -> Vec<usize> {
    let planes: Vec<_> = machines.iter().map(Machine::plane).collect();
    let values = network.values(problem.points().matrix(), problem.rows(), &planes, workers);
    let pairings: Vec<_> = machines.iter().map(|machine| machine.pairing).collect();
    let mut errors = vec![0; machines.len()];
    for (values, &code) in values.chunks(machines.len().max(1)).zip(problem.codes()) {
        let wrong = Multiclass::Joint.decide(&pairings, problem.classes(), values) != code;
        errors[if machines.len() == 1 { 0 } else { code as usize }] += usize::from(wrong);
    }
    errors
}
