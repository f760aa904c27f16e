//! Placeholder.

use super::{Decision, Settings, Solution, requirements};
use crate::control::{Control, Stop};
use crate::error::Error;
use crate::problem::MarginProblem;

pub(super) fn supports(problem: &MarginProblem<'_>, _: &Settings) -> Result<(), Error> {
    requirements::soft_margin(super::SolverKind::Newton, problem)
}

pub(super) fn solve(_: &MarginProblem<'_>, _: &Settings, _: &mut dyn Control) -> Solution {
    Solution {
        decision: Decision::Linear { weights: vec![], bias: 0.0 },
        alpha: None,
        decision_values: None,
        stop: Stop::Stalled,
        iterations: 0,
        notes: vec![],
    }
}
