//! The multilayer perceptron: layers of units before a linear machine, all weights found together.
//!
//! # Problem
//! ```text
//! min  F = ½ Σ_l ‖W_l‖² + Σ_i C_i ℓ(y_i, f(x_i))                                          (ML.1)
//! ```
//! with f as in (M.9). Two classes have one f and logistic loss, several have one each and the softmax of (J.2). No bias is penalised.
//!
//! # Optimality
//! The gradient vanishes. That of a row's loss is handed back layer by layer: with `δ_f = C_i ∂ℓ/∂f` at the end,
//! ```text
//! ∂F/∂W_l = W_l + Σ_i h_{l−1} δ_l′,   ∂F/∂b_l = Σ_i δ_l,   δ_{l−1} = g′ ∘ (W_l δ_l)        (ML.2)
//! ```
//! The problem is not convex: such a point need not be the lowest. Several starts are made, and the lowest end is taken.
//!
//! # Step
//! Of limited memory, after Broyden, Fletcher, Goldfarb and Shanno: `lbfgs.rs`. A start draws the weights of each layer from
//! ```text
//! W_l, b_l ~ uniform(−r, r),   r = √(6/(inputs + outputs))                                  (ML.3)
//! ```
//!
//! # Stopping
//! When no component of the gradient is larger than the tolerance times F, or the tolerance where F is below 1. The limit on steps
//! is shared by the starts.
//!
//! # Cost
//! A step costs a pass or two over the data, of 6 multiplications for each weight and row; where rows are sparse, for each entry and
//! unit in the first layer. Memory 44 numbers for each weight.
//!
//! # When to use
//! As a baseline, and to see what learnt features do. Scale the columns first.
//!
//! # Reference
//! D. E. Rumelhart, G. E. Hinton and R. J. Williams, Learning representations by back-propagating errors, Nature 323, 1986; X. Glorot and
//! Y. Bengio, Understanding the difficulty of training deep feedforward neural networks, AISTATS, 2010.

mod lbfgs;
mod objective;

use std::ops::ControlFlow;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Settings, SolverKind, within_memory};
use crate::control::{Control, Progress, Stop};
use crate::error::Error;
use crate::network::{Layer, Network};
use crate::problem::JointProblem;
use crate::provenance::Note;
use lbfgs::{Descent, descend};
use objective::{CHUNKS_A_ROUND, Objective};

/// Why a model has no certificate.
pub(crate) const NOT_CONVEX: &str = "the objective of a network is not convex: another network may be better";

/// The most steps of a start unless the settings say otherwise.
const MAX_STEPS: u64 = 2000;

/// A network and the functions over its last layer.
#[derive(Clone, Debug)]
pub(crate) struct NetworkSolution {
    pub(crate) network: Network,
    /// w, one vector for two classes, else one for each.
    pub(crate) weights: Vec<Vec<f64>>,
    /// b
    pub(crate) biases: Vec<f64>,
    /// Why the start that was taken stopped.
    pub(crate) stop: Stop,
    /// Steps done, in all starts.
    pub(crate) iterations: u64,
    pub(crate) notes: Vec<Note>,
}

/// Checks that there is memory.
///
/// # Errors
/// When there is not.
pub(crate) fn supports_network(problem: &JointProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let size = Objective::new(problem, settings).size() as u64;
    let vectors = (CHUNKS_A_ROUND + 2 * lbfgs::HISTORY + 8) as u64;
    within_memory(SolverKind::Mlp, size.saturating_mul(8).saturating_mul(vectors), settings.memory)
}

/// Finds a network.
///
/// # Errors
/// As [`supports_network`]. Not converging is no error.
pub(crate) fn solve_network(
    problem: &JointProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<NetworkSolution, Error> {
    supports_network(problem, settings)?;
    let objective = Objective::new(problem, settings);
    let mut random = Pcg64::seed_from_u64(settings.seed);
    let starts = settings.starts.max(1);
    let limit = settings.max_iterations.map_or(MAX_STEPS, |most| (most / starts as u64).max(1));
    let mut best: Option<(Descent, Stop, usize)> = None;
    let mut iterations = 0;
    for start in 0..starts {
        let mut descent = Descent::new(objective.draw(&mut random));
        let done = iterations;
        let found = descend(&mut descent, limit, settings.tolerance(), &mut |at, steps, largest| {
            let progress = Progress { iteration: done + steps, violation: largest, ..Progress::default() };
            objective.value_and_gradient(at, &mut || control.poll(progress))
        });
        iterations += descent.steps;
        let (ControlFlow::Continue(stop) | ControlFlow::Break(stop)) = found;
        // Written so that what is not a number is not lower.
        let lower = best.as_ref().is_none_or(|(other, ..)| descent.value < other.value);
        let broken = found.is_break();
        if lower {
            best = Some((descent, stop, start));
        }
        if broken {
            if let Some((_, reason, _)) = &mut best {
                *reason = stop;
            }
            break;
        }
    }
    let Some((descent, stop, start)) = best else { unreachable!("there is a start") };
    let (network, weights, biases) = objective.apart(&descent.point);
    let (objective, gradient) = (descent.value, descent.largest());
    let notes = vec![Note::LowestStart { start: (start + 1, starts), objective, gradient }];
    Ok(NetworkSolution { network, weights, biases, stop, iterations, notes })
}

impl Objective<'_> {
    /// (ML.3)
    fn draw(&self, random: &mut Pcg64) -> Vec<f64> {
        let mut point = Vec::with_capacity(self.size());
        for &(inputs, outputs) in self.shape() {
            let reach = (6.0 / (inputs + outputs) as f64).sqrt();
            point.extend((0..inputs * outputs + outputs).map(|_| random.random_range(-reach..reach)));
        }
        point
    }

    /// The hidden layers, and the weights and biases of the last one by function.
    fn apart(&self, point: &[f64]) -> (Network, Vec<Vec<f64>>, Vec<f64>) {
        let mut layers = Vec::new();
        let mut rest = point;
        for &(inputs, outputs) in self.shape() {
            let (weights, others) = rest.split_at(inputs * outputs);
            let (biases, others) = others.split_at(outputs);
            layers.push(Layer { inputs, outputs, weights: weights.to_vec(), biases: biases.to_vec() });
            rest = others;
        }
        let Some(last) = layers.pop() else { unreachable!("there is a last layer") };
        let weights = (0..last.outputs)
            .map(|k| (0..last.inputs).map(|input| last.weights[input * last.outputs + k]).collect())
            .collect();
        (Network { activation: self.activation(), layers }, weights, last.biases)
    }
}

#[cfg(test)]
mod tests;
