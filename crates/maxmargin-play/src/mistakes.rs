//! How many mistakes a perceptron may make before it comes to rest.
//!
//! b is the weight of a constant 1, so the perceptron works in the space of the kernel `k + 1`. There, with R the length of the longest row and
//! ρ the widest margin of a plane through the origin, it makes at most (R/ρ)² mistakes. The hard-margin machine without an own bias in that
//! space has the widest margin, ρ = 1/‖w‖.
//!
//! # References
//! A. B. J. Novikoff, On convergence proofs on perceptrons, 1962.

use maxmargin::data::Matrix;
use maxmargin::kernel::{Kernel, KernelParams, Points};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Bias, Control, Dataset, Stop, Workers};
use serde::Serialize;

use crate::error::Error;
use crate::fit::Fitted;
use crate::problem;
use crate::request::Method;

/// Steps of the machine that finds the margin. Where they do not suffice, no bound is given.
const MOST_STEPS: u64 = 1_000_000;
/// The most points that a bound is computed for: it needs all of their kernel values.
const MOST_POINTS: usize = 1000;

/// Novikoff's bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct MistakeBound {
    /// R: the length of the longest row, with its constant 1.
    radius: f64,
    /// ρ: the widest margin there is.
    margin: f64,
    /// (R/ρ)², rounded down: mistakes are whole.
    most: f64,
}

/// The bound of a perceptron that has come to rest; none for other methods, and where classes are not separated.
pub(crate) fn bound(
    fitted: &Fitted,
    workers: &Workers,
    control: &mut dyn Control,
) -> Result<Option<MistakeBound>, Error> {
    let is_perceptron = matches!(fitted.asked.method, Method::Perceptron | Method::KernelPerceptron);
    let is_at_rest = fitted.only_machine().is_some() && fitted.stop() == Stop::Converged;
    if !is_perceptron || !is_at_rest || fitted.data.rows() > MOST_POINTS {
        return Ok(None);
    }
    let count = fitted.data.rows();
    let points = Points::new(fitted.data.matrix().clone(), false);
    let all: Vec<usize> = (0..count).collect();
    let mut gram = vec![0.0; count * count];
    fitted.model.recipe().kernel.block(points.rows(&all), points.rows(&all), &mut gram);
    gram.iter_mut().for_each(|value| *value += 1.0);
    let square = (0..count).map(|row| gram[row * count + row]).fold(0.0, f64::max);
    let data = Dataset::new(Matrix::dense(count, count, gram)?, fitted.data.labels()?.clone())?;
    let asked = problem::params(&fitted.asked)?;
    let widest = TrainingParams {
        kernel: KernelParams::Precomputed,
        penalty: Penalty::Hard,
        bias: Bias::None,
        solver: Some(SolverKind::Smo),
        settings: Settings { tolerance: Some(1e-6), max_iterations: Some(MOST_STEPS), ..asked.settings },
        ..asked
    };
    let Ok(model) = widest.check()?.fit(&data, workers, control) else { return Ok(None) };
    let [machine] = model.machines() else { return Ok(None) };
    let Some(certificate) = machine.evidence.certificate().filter(|_| model.stop() == Stop::Converged) else {
        return Ok(None);
    };
    let margin = certificate.margin;
    // A margin of 1e-6 too much must not take away the last mistake.
    let most = ((1.0 + 1e-5) * square / (margin * margin)).floor();
    Ok(Some(MistakeBound { radius: square.sqrt(), margin, most }))
}
