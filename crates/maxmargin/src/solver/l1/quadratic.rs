//! Newton's model of the objective in a few columns, minimised one weight at a time on the matrix of their products.
//!
//! ```text
//! min_d  ⟨g, d⟩ + ½ d′Gd + Σ_j p_j |w_j + d_j|,   G_jk = Σ_i h_i x_ij x_ik                        (L1.5)
//! ```
//!
//! p_j is 1 for what is penalised and 0 for an explicit bias. Where steps of one weight at a time are slow, since columns are
//! alike, all weights that are not 0 move at once, to the minimum of their face or to its border.

use std::ops::ControlFlow;

use faer::Mat;

use super::super::cholesky;
use crate::control::Stop;
use crate::workers::Workers;

/// The least curvature of a column, as a part of the largest; smaller ones are replaced by it.
const LEAST_CURVATURE: f64 = 1e-12;
/// Multiplications between two polls.
const WORK_A_POLL: f64 = 3e7;
/// The time of a multiplication in a step of one weight, in multiplications of Cholesky's method.
const DEARER: f64 = 4.0;
/// Sweeps before a face is tried.
const SWEEPS_BEFORE_FACE: u32 = 6;
/// The most sweeps: what is left then is for the next Newton step.
const MOST_SWEEPS: u32 = 2000;

/// The model (L1.5).
pub(super) struct Quadratic<'a> {
    /// G, both halves filled.
    pub(super) matrix: &'a Mat<f64>,
    /// g
    pub(super) gradient: &'a [f64],
    /// w
    pub(super) point: &'a [f64],
    /// p
    pub(super) penalties: &'a [f64],
    pub(super) workers: &'a Workers,
}

/// The minimiser of `½ h z² + (q − h z₀) z + p |z|`: one exact step of a weight at z₀ whose slope is q.
#[inline]
pub(super) fn one_step(at: f64, slope: f64, curvature: f64, penalty: f64) -> f64 {
    let free = curvature * at - slope;
    if free > penalty {
        (free - penalty) / curvature
    } else if free < -penalty {
        (free + penalty) / curvature
    } else {
        0.0
    }
}

/// The distance of 0 from the slopes at a weight: q plus the slopes of `p |z|`.
#[inline]
pub(super) fn violation(at: f64, slope: f64, penalty: f64) -> f64 {
    if at > 0.0 {
        (slope + penalty).abs()
    } else if at < 0.0 {
        (slope - penalty).abs()
    } else {
        (slope.abs() - penalty).max(0.0)
    }
}

/// A place in the model.
struct Place {
    /// w + d
    at: Vec<f64>,
    /// g + Gd
    slopes: Vec<f64>,
}

impl Quadratic<'_> {
    /// `w + d` at the minimum, to a violation of `tolerance`.
    pub(super) fn minimise(
        &self,
        tolerance: f64,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Vec<f64>> {
        let size = self.point.len();
        let largest = (0..size).map(|j| self.matrix[(j, j)]).fold(0.0, f64::max);
        let least = if largest > 0.0 { LEAST_CURVATURE * largest } else { 1.0 };
        let mut place = Place { at: self.point.to_vec(), slopes: self.gradient.to_vec() };
        let (mut work, mut since_poll) = (0.0, 0.0);
        for sweep in 1..=MOST_SWEEPS {
            let (mut worst, mut moves) = (0.0f64, 0);
            for j in 0..size {
                let (at, slope, penalty) = (place.at[j], place.slopes[j], self.penalties[j]);
                worst = worst.max(violation(at, slope, penalty));
                let next = one_step(at, slope, self.matrix[(j, j)] + least, penalty);
                if next != at {
                    place.at[j] = next;
                    add(&mut place.slopes, next - at, self.matrix.col_as_slice(j));
                    moves += 1;
                }
            }
            if worst <= tolerance {
                break;
            }
            let done = f64::from(moves) * size as f64 + size as f64;
            (work, since_poll) = (work + done, since_poll + done);
            if since_poll > WORK_A_POLL {
                poll()?;
                since_poll = 0.0;
            }
            let used = place.at.iter().filter(|at| **at != 0.0).count() as f64;
            if sweep >= SWEEPS_BEFORE_FACE && DEARER * work > used.powi(3) / 3.0 {
                self.cross_face(&mut place, poll)?;
                work = 0.0;
            }
        }
        ControlFlow::Continue(place.at)
    }

    /// Moves all weights that are not 0 at once, as far as none of them changes its sign.
    ///
    /// ```text
    /// G_SS e = −(q_S + p_S sign(z_S))                                                          (L1.4)
    /// ```
    fn cross_face(&self, place: &mut Place, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop> {
        let face: Vec<usize> =
            (0..self.point.len()).filter(|&j| place.at[j] != 0.0 || self.penalties[j] == 0.0).collect();
        let column = |k: usize, out: &mut [f64]| {
            let own = self.matrix.col_as_slice(face[k]);
            out.iter_mut().zip(&face[k..]).for_each(|(out, &row)| *out = own[row]);
        };
        let factor = cholesky::factor(face.len(), &column, 0.0, self.workers, poll)?;
        let Some(factor) = factor else { return ControlFlow::Continue(()) };
        let sign = |at: f64| if at == 0.0 { 0.0 } else { at.signum() };
        let mut step: Vec<f64> =
            face.iter().map(|&j| -(place.slopes[j] + self.penalties[j] * sign(place.at[j]))).collect();
        factor.solve(&mut step); // (L1.4)
        if !step.iter().all(|value| value.is_finite()) {
            return ControlFlow::Continue(());
        }
        let (mut length, mut border) = (1.0, None);
        for (&j, &change) in face.iter().zip(&step).filter(|(j, _)| self.penalties[**j] > 0.0) {
            let crossing = -place.at[j] / change;
            if crossing > 0.0 && crossing < length {
                (length, border) = (crossing, Some(j));
            }
        }
        for (&j, &change) in face.iter().zip(&step) {
            let next = if border == Some(j) { 0.0 } else { place.at[j] + length * change };
            add(&mut place.slopes, next - place.at[j], self.matrix.col_as_slice(j));
            place.at[j] = next;
        }
        ControlFlow::Continue(())
    }
}

/// `sum += scale · column`
#[inline]
fn add(sum: &mut [f64], scale: f64, column: &[f64]) {
    sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += scale * value);
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Random models, some of them with columns that repeat: no slope is left beyond the tolerance.
    #[test]
    fn the_minimum_has_no_slope_left() {
        for seed in 0..60 {
            let mut random = Pcg64::seed_from_u64(seed);
            let (size, rows) = (random.random_range(1..12), random.random_range(1..15));
            let mut number = || random.random_range(-1.0..1.0f64);
            let mut rows: Vec<Vec<f64>> = (0..rows).map(|_| (0..size).map(|_| number()).collect()).collect();
            if seed % 3 == 0 && size > 1 {
                rows.iter_mut().for_each(|row| row[size - 1] = row[0]);
            }
            let matrix = Mat::from_fn(size, size, |j, k| rows.iter().map(|row| row[j] * row[k]).sum::<f64>());
            // In the range of G, so that a minimum exists.
            let gradient: Vec<f64> = (0..size).map(|j| 3.0 * rows.iter().map(|row| row[j]).sum::<f64>()).collect();
            let point: Vec<f64> = (0..size).map(|j| if j % 2 == 0 { 0.0 } else { number() }).collect();
            let mut penalties = vec![1.0; size];
            penalties[0] = f64::from(u8::from(seed % 2 == 0));
            let workers = Workers::none();
            let model = Quadratic {
                matrix: &matrix,
                gradient: &gradient,
                point: &point,
                penalties: &penalties,
                workers: &workers,
            };
            let ControlFlow::Continue(found) = model.minimise(1e-10, &mut || ControlFlow::Continue(())) else {
                panic!("nobody broke")
            };
            for j in 0..size {
                let slope = gradient[j] + (0..size).map(|k| matrix[(j, k)] * (found[k] - point[k])).sum::<f64>();
                let left = violation(found[j], slope, penalties[j]);
                assert!(left <= 1e-8, "seed {seed}: {left:e} at {j}");
            }
        }
    }
}
