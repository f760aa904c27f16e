//! The small problem inside: a block of variables whose kernel values are all at hand.

use pulp::{Simd, WithSimd};

use super::rows::add_rows;
use crate::problem::Coupling;
use crate::simd::Real;

/// Curvatures below this are taken for this.
const TINY: f64 = 1e-12;

/// Steps from which on a segment is taken to have no end: with them v would soon be no number.
const HUGE: f64 = 1e100;

/// Variables whose maxima are found side by side, so that none waits for the other.
const LANES: usize = 16;

/// Variables among which the best partner is known to be before it is looked for. Rows are padded to a multiple.
const SPAN: usize = 64;

/// A block of variables of (D.1), the others held fixed.
///
/// Its state is `v_k = −s_k ∇_k`: variables that can move up along `s` want a large one, those that can move down a small
/// one.
pub(super) struct Block<T> {
    size: usize,
    stride: usize,
    /// `K[k][l]`, rows of `stride`.
    pub(super) kernel: Vec<T>,
    pub(super) value: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) sign: Vec<f64>,
    pub(super) ridge: Vec<f64>,
    /// `K_kk + ridge_k`, in the precision of the kernel values.
    diagonal: Vec<f32>,
    /// 0 where the variable can move up along `s`, −∞ where not; and for down.
    up: Vec<f64>,
    down: Vec<f64>,
}

/// What became of a block.
pub(super) struct Outcome {
    pub(super) steps: u64,
    /// A step had no end.
    pub(super) unbounded: bool,
}

/// Where a maximum is.
#[derive(Clone, Copy)]
struct Found {
    place: usize,
    value: f64,
}

/// [`Block::solve`], with the instructions of the machine.
struct Solve<'a, T> {
    block: &'a mut Block<T>,
    coupling: Coupling,
    tolerance: f64,
    most: u64,
}

impl<T: Real> WithSimd for Solve<'_, T> {
    type Output = Outcome;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Outcome {
        let Solve { block, coupling, tolerance, most } = self;
        match coupling {
            Coupling::All => block.solve_coupled(simd, tolerance, most),
            Coupling::BySign => block.solve_by_sign(simd, tolerance, most),
            Coupling::None => block.solve_free(tolerance, most),
        }
    }
}

impl<T: Real> Block<T> {
    pub(super) fn new() -> Self {
        Block {
            size: 0,
            stride: 0,
            kernel: Vec::new(),
            value: Vec::new(),
            alpha: Vec::new(),
            upper: Vec::new(),
            sign: Vec::new(),
            ridge: Vec::new(),
            diagonal: Vec::new(),
            up: Vec::new(),
            down: Vec::new(),
        }
    }

    /// How long a row of the block's kernel values is, for a block of this size.
    pub(super) fn stride(size: usize) -> usize {
        size.next_multiple_of(SPAN)
    }

    /// Makes room for a block of this size; the caller then fills in all that is open.
    pub(super) fn resize(&mut self, size: usize) {
        (self.size, self.stride) = (size, Self::stride(size));
        let stride = self.stride;
        self.kernel.resize(size * stride, T::default());
        for vector in [&mut self.value, &mut self.alpha, &mut self.upper, &mut self.ridge] {
            vector.clear();
            vector.resize(stride, 0.0);
        }
        self.sign.clear();
        self.sign.resize(stride, 1.0);
    }

    /// Fills in what lies below the diagonal from what lies above, group of rows by group.
    pub(super) fn mirror(&mut self, group: usize) {
        let stride = self.stride;
        for first in (group..self.size).step_by(group) {
            let (above, below) = self.kernel.split_at_mut(first * stride);
            for start in (0..first).step_by(group) {
                for row in first..(first + group).min(self.size) {
                    let target = &mut below[(row - first) * stride + start..][..group];
                    for (k, value) in target.iter_mut().enumerate() {
                        *value = above[(start + k) * stride + row];
                    }
                }
            }
        }
    }

    /// `Σ_l coefficients[l] K[l][k]` for each k.
    pub(super) fn products(&self, coefficients: &[f64]) -> Vec<f64> {
        let terms = coefficients.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
        let terms: Vec<(f64, &[T])> = terms.map(|(l, &coefficient)| (coefficient, self.row(l))).collect();
        let mut sums = vec![0.0; self.stride];
        add_rows(&mut sums, &terms);
        sums.truncate(self.size);
        sums
    }

    fn row(&self, k: usize) -> &[T] {
        &self.kernel[k * self.stride..(k + 1) * self.stride]
    }

    /// Moves pairs (or, without a coupled sum, single variables) until the violation within the block is at most
    /// `tolerance`, or `most` steps are done.
    pub(super) fn solve(&mut self, coupling: Coupling, tolerance: f64, most: u64) -> Outcome {
        let own = |k: usize| (Into::<f64>::into(self.row(k)[k]) + self.ridge[k]) as f32;
        self.diagonal = (0..self.stride).map(|k| if k < self.size { own(k) } else { 1.0 }).collect();
        (self.up, self.down) = (vec![f64::NEG_INFINITY; self.stride], vec![f64::NEG_INFINITY; self.stride]);
        (0..self.size).for_each(|k| self.note_bounds(k));
        pulp::Arch::new().dispatch(Solve { block: self, coupling, tolerance, most })
    }

    #[inline(always)]
    fn note_bounds(&mut self, k: usize) {
        let (grow, shrink) = (self.alpha[k] < self.upper[k], self.alpha[k] > 0.0);
        let (up, down) = if self.sign[k] > 0.0 { (grow, shrink) } else { (shrink, grow) };
        self.up[k] = if up { 0.0 } else { f64::NEG_INFINITY };
        self.down[k] = if down { 0.0 } else { f64::NEG_INFINITY };
    }

    #[inline(always)]
    fn solve_coupled<S: Simd>(&mut self, simd: S, tolerance: f64, most: u64) -> Outcome {
        let mut steps = 0;
        let (mut top, mut bottom) = self.extremes(simd);
        while top.value + bottom > tolerance && steps < most {
            let Some(partner) = self.partner(simd, top) else { break };
            steps += 1;
            let Some(step) = self.move_pair(top.place, partner) else { return Outcome { steps, unbounded: true } };
            if step == 0.0 {
                break;
            }
            self.shift(top.place, partner, step);
            (top, bottom) = self.extremes(simd);
        }
        Outcome { steps, unbounded: false }
    }

    /// Each sign by itself: a step is one of the sign that violates more, while the other's variables are out of the way.
    #[inline(always)]
    fn solve_by_sign<S: Simd>(&mut self, simd: S, tolerance: f64, most: u64) -> Outcome {
        let mut steps = 0;
        let of = |list: &[f64], sign: f64| -> Vec<f64> {
            let own = |(&bound, &own): (&f64, &f64)| if own == sign { bound } else { f64::NEG_INFINITY };
            list.iter().zip(&self.sign).map(own).collect()
        };
        let mut groups = [-1.0, 1.0].map(|sign| (of(&self.up, sign), of(&self.down, sign)));
        // What is to be looked at is put in the place of all; it is handed back so.
        let exchange = |block: &mut Self, group: &mut (Vec<f64>, Vec<f64>)| {
            std::mem::swap(&mut block.up, &mut group.0);
            std::mem::swap(&mut block.down, &mut group.1);
        };
        while steps < most {
            let mut found = [(Found { place: 0, value: f64::NEG_INFINITY }, f64::NEG_INFINITY); 2];
            for (group, found) in groups.iter_mut().zip(&mut found) {
                exchange(self, group);
                *found = self.extremes(simd);
                exchange(self, group);
            }
            let violations = found.map(|(top, bottom)| top.value + bottom);
            let chosen = usize::from(violations[1] > violations[0]);
            if !(violations[chosen] > tolerance) {
                break;
            }
            let top = found[chosen].0;
            exchange(self, &mut groups[chosen]);
            let partner = self.partner(simd, top);
            let step = partner.map(|partner| self.move_pair(top.place, partner));
            exchange(self, &mut groups[chosen]);
            let (Some(partner), Some(step)) = (partner, step) else { break };
            steps += 1;
            let Some(step) = step else { return Outcome { steps, unbounded: true } };
            if step == 0.0 {
                break;
            }
            self.shift(top.place, partner, step);
        }
        Outcome { steps, unbounded: false }
    }

    /// `v −= step (K_i − K_j)`
    #[inline(always)]
    fn shift(&mut self, i: usize, j: usize, step: f64) {
        let stride = self.stride;
        let (first, second) = (&self.kernel[i * stride..][..stride], &self.kernel[j * stride..][..stride]);
        // (D.4): the ridge belongs to the two that moved.
        self.value[i] -= step * self.ridge[i];
        self.value[j] += step * self.ridge[j];
        let value = &mut self.value[..stride];
        for k in 0..stride {
            let difference: f64 = first[k].into() - second[k].into();
            value[k] -= step * difference;
        }
    }

    /// The variable with the largest v that can go up, and minus the least v that can go down.
    #[inline(always)]
    fn extremes<S: Simd>(&self, simd: S) -> (Found, f64) {
        let lowest = simd.splat_f64s(f64::NEG_INFINITY);
        let (mut most, mut least) = ([lowest; LANES], [lowest; LANES]);
        let lanes = self.value.as_chunks::<LANES>().0.iter().zip(self.up.as_chunks::<LANES>().0);
        for ((value, up), down) in lanes.zip(self.down.as_chunks::<LANES>().0) {
            let (value, up, down) = (S::as_simd_f64s(value).0, S::as_simd_f64s(up).0, S::as_simd_f64s(down).0);
            for n in 0..LANES / S::F64_LANES {
                most[n] = simd.max_f64s(simd.add_f64s(value[n], up[n]), most[n]);
                least[n] = simd.max_f64s(simd.sub_f64s(down[n], value[n]), least[n]);
            }
        }
        let (mut top, mut bottom) = (lowest, lowest);
        for n in 0..LANES / S::F64_LANES {
            (top, bottom) = (simd.max_f64s(top, most[n]), simd.max_f64s(bottom, least[n]));
        }
        let (best, bottom) = (simd.reduce_max_f64s(top), simd.reduce_max_f64s(bottom));
        let lanes = self.value.as_chunks::<LANES>().0.iter().zip(self.up.as_chunks::<LANES>().0);
        let mut place = 0;
        for (number, (value, up)) in lanes.enumerate() {
            let mut found = false;
            for k in 0..LANES {
                found |= value[k] + up[k] == best;
            }
            if found {
                let within = number * LANES..(number + 1) * LANES;
                place = within.clone().find(|&k| self.value[k] + self.up[k] == best).unwrap_or(within.start);
                break;
            }
        }
        (Found { place, value: best }, bottom)
    }

    /// The variable that gains most together with `top`: `(v_i − v_k)² / (Q_ii + Q_kk − 2 K_ik)`, largest.
    #[inline(always)]
    fn partner<S: Simd>(&self, simd: S, top: Found) -> Option<usize> {
        let stride = self.stride;
        let row = &self.kernel[top.place * stride..][..stride];
        let own = self.diagonal[top.place];
        let gain = |value: f64, down: f64, diagonal: f32, kernel: T| {
            // −∞ where the variable cannot go down.
            let slope = (top.value - value + down) as f32;
            let slope = if slope > 0.0 { slope } else { 0.0 };
            let curvature = own + diagonal - 2.0 * kernel.to_single();
            slope * slope / if curvature > TINY as f32 { curvature } else { TINY as f32 }
        };
        let (mut best, mut place) = (0.0, None);
        let spans = self.value.as_chunks::<SPAN>().0.iter().zip(self.down.as_chunks::<SPAN>().0);
        let spans = spans.zip(self.diagonal.as_chunks::<SPAN>().0).zip(row.as_chunks::<SPAN>().0);
        for (number, (((value, down), diagonal), row)) in spans.enumerate() {
            let mut gains = [0.0f32; SPAN];
            for k in 0..SPAN {
                gains[k] = gain(value[k], down[k], diagonal[k], row[k]);
            }
            let mut most = simd.splat_f32s(0.0);
            for &gains in S::as_simd_f32s(&gains).0 {
                most = simd.max_f32s(gains, most);
            }
            let most = simd.reduce_max_f32s(most);
            if most > best {
                (best, place) = (most, Some(number * SPAN));
            }
        }
        let start = place?;
        (start..start + SPAN).find(|&k| gain(self.value[k], self.down[k], self.diagonal[k], row[k]) == best)
    }

    /// (D.4): the exact step along the segment, clipped; `None` when it has no end.
    #[inline(always)]
    fn move_pair(&mut self, i: usize, j: usize) -> Option<f64> {
        let own = |k: usize| -> f64 { Into::<f64>::into(self.row(k)[k]) + self.ridge[k] };
        let cross: f64 = self.row(i)[j].into();
        let curvature = own(i) + own(j) - 2.0 * cross;
        let slope = self.value[i] - self.value[j];
        let room = |k: usize, direction: f64| {
            if direction > 0.0 { self.upper[k] - self.alpha[k] } else { self.alpha[k] }
        };
        let (room_i, room_j) = (room(i, self.sign[i]), room(j, -self.sign[j]));
        let room = room_i.min(room_j);
        let wanted = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
        let size = 1.0 + own(i).abs() + own(j).abs();
        if !(wanted.min(room) * size < HUGE) {
            return None;
        }
        let target = |k: usize, room_k: f64, direction: f64| {
            // At the end of the segment the bound itself, not a sum that rounds next to it.
            if wanted >= room && room_k <= room {
                if direction > 0.0 { self.upper[k] } else { 0.0 }
            } else {
                (self.alpha[k] + direction * wanted.min(room)).clamp(0.0, self.upper[k])
            }
        };
        let (alpha_i, alpha_j) = (target(i, room_i, self.sign[i]), target(j, room_j, -self.sign[j]));
        let step = self.sign[i] * (alpha_i - self.alpha[i]);
        (self.alpha[i], self.alpha[j]) = (alpha_i, alpha_j);
        self.note_bounds(i);
        self.note_bounds(j);
        Some(step)
    }

    /// Without a coupled sum: the variable that gains most by itself, to its own minimum.
    #[inline(always)]
    fn solve_free(&mut self, tolerance: f64, most: u64) -> Outcome {
        let mut steps = 0;
        while steps < most {
            let (mut best, mut place, mut violation) = (0.0, usize::MAX, 0.0f64);
            for k in 0..self.size {
                // Up along s raises v's variable when v > 0, down when v < 0.
                let value = self.value[k];
                let bound = if value > 0.0 { self.up[k] } else { self.down[k] };
                let pull = if bound == 0.0 { value.abs() } else { 0.0 };
                violation = violation.max(pull);
                let gain = pull * pull / f64::from(self.diagonal[k]).max(TINY);
                if gain > best {
                    (best, place) = (gain, k);
                }
            }
            if place == usize::MAX || violation <= tolerance {
                break;
            }
            steps += 1;
            let own: f64 = Into::<f64>::into(self.row(place)[place]) + self.ridge[place];
            let descent = self.sign[place] * self.value[place];
            let wanted = if own > 0.0 { descent / own } else { descent.signum() * f64::INFINITY };
            let alpha = (self.alpha[place] + wanted).clamp(0.0, self.upper[place]);
            if !(alpha * (1.0 + own.abs()) < HUGE) {
                return Outcome { steps, unbounded: true };
            }
            let step = self.sign[place] * (alpha - self.alpha[place]);
            if step == 0.0 {
                break;
            }
            self.alpha[place] = alpha;
            self.note_bounds(place);
            let stride = self.stride;
            let (row, value) = (&self.kernel[place * stride..][..stride], &mut self.value[..stride]);
            for k in 0..stride {
                value[k] -= step * Into::<f64>::into(row[k]);
            }
            value[place] -= step * self.ridge[place];
        }
        Outcome { steps, unbounded: false }
    }
}
