//! Layers of units before a linear machine: features that were learnt.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::workers::Workers;

/// Rows that one thread takes through the layers at a time.
const ROWS_A_CHUNK: usize = 64;
/// Rows times weights from which on threads are woken.
const WORTH_A_THREAD: usize = 100_000;

/// What a hidden unit makes of its sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Activation {
    /// tanh z, between −1 and 1.
    #[default]
    Tanh,
    /// `1/(1 + exp(−z))`, between 0 and 1.
    Sigmoid,
    /// max(0, z)
    Relu,
}

impl Activation {
    /// All of them.
    pub const ALL: [Activation; 3] = [Activation::Tanh, Activation::Sigmoid, Activation::Relu];

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Tanh => "tanh",
            Activation::Sigmoid => "sigmoid",
            Activation::Relu => "relu",
        }
    }

    /// g(z)
    pub(crate) fn value(self, z: f64) -> f64 {
        match self {
            Activation::Tanh => z.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
            Activation::Relu => z.max(0.0),
        }
    }

    /// g′(z), given g(z).
    pub(crate) fn slope(self, value: f64) -> f64 {
        match self {
            Activation::Tanh => 1.0 - value * value,
            Activation::Sigmoid => value * (1.0 - value),
            Activation::Relu => f64::from(u8::from(value > 0.0)),
        }
    }
}

/// A layer of hidden units: each sums all inputs, with weights of its own.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Layer {
    /// Numbers that come in.
    pub inputs: usize,
    /// Units, and so numbers that go out.
    pub outputs: usize,
    /// `W[input][unit]`, the weights of an input one after the other.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub weights: Vec<f64>,
    /// b, one a unit.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub biases: Vec<f64>,
}

/// Layers of hidden units, one after the other. The machines of a model that has one are linear in what the last of them says
///
/// ```text
/// h_0 = x,   h_l = g(W_l′ h_{l−1} + b_l),   f(x) = ⟨w, h_L⟩ + b                        (M.9)
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Network {
    /// g
    pub activation: Activation,
    /// From the columns to the machines; one or more.
    pub layers: Vec<Layer>,
}

impl Network {
    /// How many numbers the last layer says.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// Checks that the layers follow each other, from this number of columns on.
    pub(crate) fn check(&self, columns: usize) -> Result<(), String> {
        if self.layers.is_empty() {
            return Err("a network without layers".into());
        }
        let mut width = columns;
        for (number, layer) in (1..).zip(&self.layers) {
            let Layer { inputs, outputs, weights, biases } = layer;
            if *inputs != width || *outputs == 0 {
                return Err(format!("layer {number} takes {inputs} numbers to {outputs}, after {width}"));
            }
            if inputs.checked_mul(*outputs) != Some(weights.len()) || biases.len() != *outputs {
                return Err(format!("layer {number} has {} weights and {} biases", weights.len(), biases.len()));
            }
            if !weights.iter().chain(biases).all(|number| number.is_finite()) {
                return Err(format!("a weight of layer {number} is not finite"));
            }
            width = *outputs;
        }
        Ok(())
    }

    /// (M.9) of several planes (w, b) over the last layer, row after row. A value depends on its row alone.
    pub(crate) fn values(
        &self,
        matrix: &Matrix,
        rows: &[usize],
        planes: &[(&[f64], f64)],
        workers: &Workers,
    ) -> Vec<f64> {
        let mut values = vec![0.0; rows.len() * planes.len()];
        let weights: usize = self.layers.iter().map(|layer| layer.weights.len()).sum();
        let alone = Workers::none();
        let workers = if rows.len().saturating_mul(weights) > WORTH_A_THREAD { workers } else { &alone };
        let lists = || [Vec::new(), Vec::new()];
        workers.fill_chunks_with(&mut values, ROWS_A_CHUNK * planes.len(), lists, |lists, start, chunk| {
            for (k, out) in chunk.chunks_mut(planes.len()).enumerate() {
                let features = self.features(matrix, rows[start / planes.len() + k], lists);
                for (value, (weights, bias)) in out.iter_mut().zip(planes) {
                    let own = weights.iter().zip(features);
                    *value = own.map(|(weight, feature)| weight * feature).sum::<f64>() + bias; // (M.9)
                }
            }
        });
        values
    }

    /// h_L of a row, in the first of two lists that are used again.
    fn features<'a>(&self, matrix: &Matrix, row: usize, lists: &'a mut [Vec<f64>; 2]) -> &'a [f64] {
        let [now, next] = lists;
        for (number, layer) in self.layers.iter().enumerate() {
            next.clear();
            next.extend_from_slice(&layer.biases);
            let mut add = |input: usize, value: f64| add_scaled(&mut next[..], value, layer.line(input));
            match number {
                0 => matrix.visit(row, &mut add),
                _ => now.iter().enumerate().for_each(|(input, &value)| add(input, value)),
            }
            next.iter_mut().for_each(|sum| *sum = self.activation.value(*sum)); // (M.9)
            std::mem::swap(now, next);
        }
        now
    }
}

impl Layer {
    /// The weights of an input.
    fn line(&self, input: usize) -> &[f64] {
        &self.weights[input * self.outputs..(input + 1) * self.outputs]
    }
}

/// `sums += scale · line`
pub(crate) fn add_scaled(sums: &mut [f64], scale: f64, line: &[f64]) {
    if scale != 0.0 {
        sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += scale * value);
    }
}
