//! (ML.1) and its gradient, in parts of rows that are summed in their order.

use std::ops::{ControlFlow, Range};

use super::super::Settings;
use crate::certificate::joint::softmax;
use crate::control::Stop;
use crate::network::{Activation, add_scaled};
use crate::problem::{JointProblem, Loss};
use crate::workers::Workers;

/// Parts of the rows that are summed between two polls; each has a gradient of its own.
pub(super) const CHUNKS_A_ROUND: usize = 16;
/// Weights times rows of a part, about.
const WORK_A_CHUNK: usize = 1 << 18;
/// Rows of a part, at least and at most.
const ROWS_A_CHUNK: Range<usize> = 16..1024;
/// Weights times rows from which on threads are woken.
const WORTH_A_THREAD: usize = 1 << 16;

/// (ML.1) as a function of all weights and biases, one after the other: those of a layer, then its biases.
pub(super) struct Objective<'a> {
    problem: &'a JointProblem<'a>,
    activation: Activation,
    /// Inputs and outputs of each layer, that of the functions last.
    shape: Vec<(usize, usize)>,
}

impl<'a> Objective<'a> {
    pub(super) fn new(problem: &'a JointProblem<'a>, settings: &Settings) -> Self {
        let functions = if problem.classes() == 2 { 1 } else { problem.classes() };
        let mut widths = vec![problem.points().matrix().columns()];
        widths.extend(&settings.hidden);
        widths.push(functions);
        let shape = widths.windows(2).map(|pair| (pair[0], pair[1])).collect();
        Objective { problem, activation: settings.activation, shape }
    }

    pub(super) fn shape(&self) -> &[(usize, usize)] {
        &self.shape
    }

    pub(super) fn activation(&self) -> Activation {
        self.activation
    }

    /// How many weights and biases there are.
    pub(super) fn size(&self) -> usize {
        let of_layer = |&(inputs, outputs): &(usize, usize)| inputs.saturating_add(1).saturating_mul(outputs);
        self.shape.iter().map(of_layer).fold(0, usize::saturating_add)
    }

    /// F and its gradient.
    pub(super) fn value_and_gradient(
        &self,
        point: &[f64],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, (f64, Vec<f64>)> {
        let (size, rows) = (self.size(), self.problem.len());
        let (mut value, mut gradient) = (0.0, vec![0.0; size]);
        let mut start = 0;
        for &(inputs, outputs) in &self.shape {
            let weights = start..start + inputs * outputs;
            gradient[weights.clone()].copy_from_slice(&point[weights.clone()]);
            value += 0.5 * point[weights.clone()].iter().map(|weight| weight * weight).sum::<f64>();
            start = weights.end + outputs;
        }
        let chunk = (WORK_A_CHUNK / size.max(1)).clamp(ROWS_A_CHUNK.start, ROWS_A_CHUNK.end);
        let alone = Workers::none();
        let workers = if rows.saturating_mul(size) > WORTH_A_THREAD { self.problem.workers() } else { &alone };
        for first in (0..rows).step_by(CHUNKS_A_ROUND * chunk) {
            poll()?;
            let round = (rows - first).min(CHUNKS_A_ROUND * chunk);
            let parts =
                workers.map_chunks(round, chunk, |range| self.part(point, first + range.start..first + range.end));
            for (loss, part) in parts {
                value += loss;
                gradient.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
            }
        }
        ControlFlow::Continue((value, gradient))
    }

    /// The losses of some rows, and the gradient of their sum.
    fn part(&self, point: &[f64], rows: Range<usize>) -> (f64, Vec<f64>) {
        let (matrix, problem) = (self.problem.points().matrix(), self.problem);
        let mut gradient = vec![0.0; point.len()];
        let mut losses = 0.0;
        let mut outputs: Vec<Vec<f64>> = self.shape.iter().map(|&(_, outputs)| vec![0.0; outputs]).collect();
        let mut errors = outputs.clone();
        let starts: Vec<usize> = self
            .shape
            .iter()
            .scan(0, |end, &(inputs, outputs)| Some(std::mem::replace(end, *end + (inputs + 1) * outputs)))
            .collect();
        let last = self.shape.len() - 1;
        for i in rows {
            let row = problem.rows()[i];
            for (l, &(inputs, width)) in self.shape.iter().enumerate() {
                let weights = &point[starts[l]..starts[l] + inputs * width];
                let (before, here) = outputs.split_at_mut(l);
                let here = &mut here[0][..];
                here.copy_from_slice(&point[starts[l] + inputs * width..starts[l] + (inputs + 1) * width]);
                let mut add = |input: usize, value: f64| {
                    add_scaled(here, value, &weights[input * width..(input + 1) * width]);
                };
                match before.last() {
                    None => matrix.visit(row, add),
                    Some(before) => before.iter().enumerate().for_each(|(input, &value)| add(input, value)),
                }
                if l < last {
                    here.iter_mut().for_each(|sum| *sum = self.activation.value(*sum)); // (M.9)
                }
            }
            losses += self.loss(i, &outputs[last], &mut errors[last]);
            for l in (0..=last).rev() {
                let (inputs, width) = self.shape[l];
                let (before, here) = errors.split_at_mut(l);
                let here = &here[0][..];
                // (ML.2)
                let (of_weights, of_biases) =
                    gradient[starts[l]..starts[l] + (inputs + 1) * width].split_at_mut(inputs * width);
                add_scaled(of_biases, 1.0, here);
                let mut add = |input: usize, value: f64| {
                    add_scaled(&mut of_weights[input * width..(input + 1) * width], value, here);
                };
                match before.last_mut() {
                    None => matrix.visit(row, add),
                    Some(before) => {
                        let weights = &point[starts[l]..starts[l] + inputs * width];
                        for (input, (error, &value)) in before.iter_mut().zip(&outputs[l - 1]).enumerate() {
                            add(input, value);
                            let line = &weights[input * width..(input + 1) * width];
                            *error = self.activation.slope(value) * super::super::dot(line, here);
                        }
                    }
                }
            }
        }
        (losses, gradient)
    }

    /// `C_i ℓ(y_i, f)`, and its slopes in f.
    fn loss(&self, i: usize, values: &[f64], slopes: &mut [f64]) -> f64 {
        let (cost, code) = (self.problem.costs()[i], self.problem.codes()[i] as usize);
        if let [value] = values {
            let sign = if code == 1 { 1.0 } else { -1.0 };
            slopes[0] = -sign * Loss::Logistic.dual_of_margin(sign * value, cost);
            return cost * Loss::Logistic.value(sign * value);
        }
        slopes.copy_from_slice(values);
        let classes = slopes.len();
        let logarithm = softmax(slopes, classes);
        slopes[code] -= 1.0;
        slopes.iter_mut().for_each(|slope| *slope *= cost);
        cost * (logarithm - values[code])
    }
}
