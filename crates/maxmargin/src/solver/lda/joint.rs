//! Several classes told apart by Fisher's discriminant: a function for each, one scatter matrix for all.
//!
//! ```text
//! f_k(x) = ⟨w_k, x − m⟩ − ½ ⟨w_k, m_k − m⟩ + log ω_k,   w_k = Σ⁻¹ (m_k − m)                     (FD.9)
//! ```
//!
//! with the mean m of all rows and the part ω_k of them that class k has. It is the logarithm of the density of class k, up to what
//! all classes share, when each is a Gaussian around m_k with the scatter Σ: `softmax f` are the classes' probabilities.

use std::ops::ControlFlow;

use super::pooled::{self, Pooled, Sample};
use super::{fewer_rows_note, normalised, ridge_note};
use crate::control::{Control, Progress, Stop};
use crate::error::Error;
use crate::problem::{Bias, JointProblem};
use crate::provenance::Note;
use crate::solver::{JointSolution, Settings, SolverKind, dot, within_memory};

pub(in crate::solver) fn supports(problem: &JointProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let columns = problem.points().matrix().columns();
    let need = pooled::bytes(problem.len(), columns, problem.classes());
    within_memory(SolverKind::Lda, need, settings.memory)
}

pub(in crate::solver) fn solve(
    problem: &JointProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
) -> JointSolution {
    let (columns, classes) = (problem.points().matrix().columns(), problem.classes());
    let mut notes = Vec::new();
    let found = functions(problem, settings, &mut notes, &mut || control.poll(Progress::default()));
    let finite = |(weights, biases): &(Vec<Vec<f64>>, Vec<f64>)| {
        weights.iter().flatten().chain(biases).all(|value| value.is_finite())
    };
    let (found, stop) = match found {
        ControlFlow::Continue(found) => match found.filter(finite) {
            Some(found) => (Some(found), Stop::Converged),
            None => (None, Stop::Stalled),
        },
        ControlFlow::Break(stop) => (None, stop),
    };
    let (weights, biases) = found.unwrap_or_else(|| (vec![vec![0.0; columns]; classes], vec![0.0; classes]));
    JointSolution { weights, biases, alpha: None, stop, iterations: u64::from(stop == Stop::Converged), notes }
}

/// (FD.9); `None` when Σ cannot be factored.
#[allow(clippy::type_complexity)]
fn functions(
    problem: &JointProblem<'_>,
    settings: &Settings,
    notes: &mut Vec<Note>,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<(Vec<Vec<f64>>, Vec<f64>)>> {
    poll()?;
    let weights = normalised(problem.costs());
    let groups: Vec<usize> = problem.codes().iter().map(|&code| code as usize).collect();
    let sample = Sample {
        matrix: problem.points().matrix(),
        rows: problem.rows(),
        weights: &weights,
        groups: &groups,
        classes: problem.classes(),
        workers: problem.workers(),
    };
    let Some(pooled) = Pooled::new(sample, settings.shrinkage, poll)? else {
        return ControlFlow::Continue(None);
    };
    if pooled.on_span_only() {
        notes.push(fewer_rows_note(&sample))
    } else {
        notes.extend(ridge_note(pooled.ridge))
    }
    let mean = pooled.mean();
    let apart: Vec<Vec<f64>> = pooled.means.iter().map(|own| pooled.difference(own, &mean)).collect();
    let mut functions = apart.clone();
    pooled.solve(&mut functions, poll)?;
    let bias = |k: usize| match problem.bias() {
        Bias::None => 0.0,
        _ => pooled.masses[k].ln() - dot(&functions[k], &mean) - 0.5 * dot(&functions[k], &apart[k]), // (FD.9)
    };
    let biases = (0..problem.classes()).map(bias).collect();
    ControlFlow::Continue(Some((functions, biases)))
}
