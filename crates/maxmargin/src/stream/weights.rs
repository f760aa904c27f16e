//! One machine's w and b, and their average. A step costs the entries of its row.
//!
//! ```text
//! w = s v                      a decay changes s alone
//! Σ_t a_t w_t = A v − u        A = Σ a_t s_t,  u = Σ A_before Δv        (ST.5)
//! ```
//!
//! u corrects A v for the steps that were counted before v reached its present value.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The least s. Below it v is multiplied by s, and s becomes 1 again.
const SMALLEST_SCALE: f64 = 1e-6;

/// w, b, and their sums. The vectors are not serialised here.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct Weights {
    /// s
    pub(super) scale: f64,
    /// A
    pub(super) total: f64,
    /// Σ a_t
    pub(super) counted: f64,
    pub(super) bias: f64,
    /// Σ a_t b_t
    pub(super) bias_sum: f64,
    /// Rows on the wrong side when they came.
    pub(super) errors: u64,
    /// v
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) direction: Vec<f64>,
    /// u
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) late: Vec<f64>,
}

impl Weights {
    pub(super) fn new(columns: usize) -> Self {
        Weights {
            scale: 1.0,
            total: 0.0,
            counted: 0.0,
            bias: 0.0,
            bias_sum: 0.0,
            errors: 0,
            direction: vec![0.0; columns],
            late: vec![0.0; columns],
        }
    }

    /// A copy without the vectors.
    pub(super) fn without_vectors(&self) -> Self {
        let &Weights { scale, total, counted, bias, bias_sum, errors, .. } = self;
        Weights { scale, total, counted, bias, bias_sum, errors, direction: Vec::new(), late: Vec::new() }
    }

    pub(super) fn grow(&mut self, columns: usize) {
        self.direction.resize(columns, 0.0);
        self.late.resize(columns, 0.0);
    }

    /// f(x) of the last w.
    pub(super) fn at(&self, entries: &[(u32, f64)]) -> f64 {
        self.scale * dot(&self.direction, entries) + self.bias
    }

    /// f(x) of the average; of the last w while there is none.
    pub(super) fn average_at(&self, entries: &[(u32, f64)]) -> f64 {
        if !(self.counted > 0.0) {
            return self.at(entries);
        }
        let sum = self.total * dot(&self.direction, entries) - dot(&self.late, entries); // (ST.5)
        (sum + self.bias_sum) / self.counted
    }

    /// w and b of the model: the average, or the last ones while there is none.
    pub(super) fn model(&self) -> (Vec<f64>, f64) {
        if !(self.counted > 0.0) {
            return (self.direction.iter().map(|v| self.scale * v).collect(), self.bias);
        }
        let mean = |(v, u): (&f64, &f64)| (self.total * v - u) / self.counted; // (ST.5)
        (self.direction.iter().zip(&self.late).map(mean).collect(), self.bias_sum / self.counted)
    }

    /// Multiplies w, and a folded b, by a factor.
    pub(super) fn decay(&mut self, factor: f64, with_bias: bool) {
        self.scale *= factor;
        if with_bias {
            self.bias *= factor;
        }
        if self.scale < SMALLEST_SCALE {
            for (v, u) in self.direction.iter_mut().zip(&mut self.late) {
                *u -= self.total * *v;
                *v *= self.scale;
            }
            (self.scale, self.total) = (1.0, 0.0);
        }
    }

    /// Adds a multiple of a row to w.
    pub(super) fn add(&mut self, indices: &[u32], values: &[f64], amount: f64) {
        let change = amount / self.scale;
        if self.total == 0.0 {
            for (&column, &value) in indices.iter().zip(values) {
                self.direction[column as usize] += change * value;
            }
            return;
        }
        let late = self.total * change;
        for (&column, &value) in indices.iter().zip(values) {
            self.direction[column as usize] += change * value;
            self.late[column as usize] += late * value;
        }
    }

    /// Counts w and b into the average with a weight.
    pub(super) fn count(&mut self, weight: f64) {
        self.total += weight * self.scale;
        self.counted += weight;
        self.bias_sum += weight * self.bias;
    }
}

fn dot(vector: &[f64], entries: &[(u32, f64)]) -> f64 {
    entries.iter().map(|&(column, value)| vector[column as usize] * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lazy_sums_are_those_of_the_vectors_written_out() {
        let mut lazy = Weights::new(3);
        let (mut w, mut b, mut sum, mut bias_sum, mut counted) = ([0.0; 3], 0.0, [0.0; 3], 0.0, 0.0);
        for t in 1..200u32 {
            // Strong enough that the scale is renewed several times.
            let factor = if t % 7 == 0 { 1e-3 } else { 0.9 };
            lazy.decay(factor, true);
            w = w.map(|x| x * factor);
            b *= factor;
            let (column, value, amount) = (t % 3, f64::from(t % 5) - 2.0, 0.1 * f64::from(t % 4));
            lazy.add(&[column], &[value], amount);
            w[column as usize] += amount * value;
            lazy.bias += amount;
            b += amount;
            if t > 20 {
                let weight = f64::from(t - 20);
                lazy.count(weight);
                (0..3).for_each(|j| sum[j] += weight * w[j]);
                bias_sum += weight * b;
                counted += weight;
            }
            let row = [(0, 1.0), (2, -2.0)];
            assert!((lazy.at(&row) - (w[0] - 2.0 * w[2] + b)).abs() < 1e-12);
        }
        let (mean, bias) = lazy.model();
        for j in 0..3 {
            assert!((mean[j] - sum[j] / counted).abs() < 1e-12, "{mean:?}");
        }
        assert!((bias - bias_sum / counted).abs() < 1e-12);
        assert!((lazy.average_at(&[(1, 2.0)]) - (2.0 * mean[1] + bias)).abs() < 1e-12);
    }
}
