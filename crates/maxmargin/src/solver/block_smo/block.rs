//! The inner problem: a block of variables whose kernel values are all in memory.

use pulp::{Simd, WithSimd};

use super::rows::add_rows;
use crate::problem::{Coupling, pair_curvature};
use crate::simd::Real;

/// The least curvature of a step; smaller ones are replaced by it. Where all kernel values are below 1, it is this part of the largest.
const TINY: f64 = 1e-12;

/// The step from which on a segment counts as endless. Longer steps would soon make v infinite.
const HUGE: f64 = 1e100;

/// The largest violation whose slopes are squared in single precision as they are; the least is 1 over it.
const SAFE_SLOPE: f64 = 1e9;

/// Variables in a span. A search for a maximum first finds its span. Rows are padded to a multiple of it.
const SPAN: usize = 64;

/// The span of a block of at most this many variables: the numbers of the widest vector register in single precision.
pub(super) const FEW: usize = 16;

/// Rows and columns of the squares that are transposed at a time: the numbers of one cache line. A group of rows is a multiple of it.
const SQUARE: usize = 8;

/// A block of variables of (D.1), the others held fixed, as signed coefficients `c_k = s_k α_k`
///
/// ```text
/// min  ½ c′Kc + ½ Σ ridge_k c_k² − Σ t_k c_k + Σ kink_k |c_k|,   low_k ≤ c_k ≤ high_k                 (B.6)
/// ```
///
/// Its state is `v_k = t_k − u_k − ridge_k c_k`, minus the slope of the smooth part. Growing a coefficient with a large v and shrinking one
/// with a small v lowers the objective. A kink is the half width ε of a regression's tube, where both variables of a row are one
/// coefficient.
pub(super) struct Block<T> {
    size: usize,
    stride: usize,
    /// `K[k][l]` at `k * stride + l`.
    pub(super) kernel: Vec<T>,
    pub(super) value: Vec<f64>,
    pub(super) coefficient: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) kink: Vec<f64>,
    pub(super) ridge: Vec<f64>,
    /// Whether a variable belongs to the second of two sums held fixed.
    pub(super) second: Vec<bool>,
    /// `K_kk + ridge_k`, in the precision of the kernel values.
    diagonal: Vec<f32>,
    /// The least curvature of a step, by [`TINY`].
    least_curvature: f64,
    /// One for each sum held fixed; only the first is used where there is one sum or none.
    ways: [OpenDirections; 2],
    /// Whether there are two sums.
    by_sign: bool,
    /// Whether the diagonal is that of the kernel values, so that [`Block::solve`] need not read it again.
    is_measured: bool,
}

/// Where each coefficient of a sum can go. One that grows gains `v + up`, one that shrinks `down − v`: both contain its kink, and are −∞
/// where it cannot go or belongs to the other sum.
#[derive(Default)]
struct OpenDirections {
    up: Vec<f64>,
    down: Vec<f64>,
}

/// How the search within a block ended.
pub(super) struct Outcome {
    pub(super) steps: u64,
    /// Whether a step had no end, so that the objective has no lower bound.
    pub(super) unbounded: bool,
}

/// The variable with the largest v among those that can go up, its v, and minus the least v among those that can go down.
#[derive(Clone, Copy)]
struct Extremes {
    place: usize,
    top: f64,
    bottom: f64,
}

impl Extremes {
    fn violation(&self) -> f64 {
        self.top + self.bottom
    }
}

/// A pair that moves: the coefficient of `up` grows, that of `down` shrinks.
#[derive(Clone, Copy)]
struct Step {
    up: usize,
    down: usize,
    size: f64,
}

/// [`Block::solve`], compiled for the vector instructions of the machine.
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
            Coupling::All if block.stride == FEW => block.solve_coupled::<S, 1, FEW>(simd, tolerance, most),
            Coupling::All => block.solve_coupled::<S, 1, SPAN>(simd, tolerance, most),
            Coupling::BySign if block.stride == FEW => block.solve_coupled::<S, 2, FEW>(simd, tolerance, most),
            Coupling::BySign => block.solve_coupled::<S, 2, SPAN>(simd, tolerance, most),
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
            coefficient: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
            kink: Vec::new(),
            ridge: Vec::new(),
            second: Vec::new(),
            diagonal: Vec::new(),
            least_curvature: TINY,
            ways: Default::default(),
            by_sign: false,
            is_measured: false,
        }
    }

    /// The numbers of a row of kernel values in a block of this size, padding included.
    pub(super) fn stride(size: usize) -> usize {
        size.next_multiple_of(SPAN)
    }

    /// Makes room for a block of this size. The caller then fills in all public fields.
    pub(super) fn resize(&mut self, size: usize) {
        self.resize_to(size, Self::stride(size));
    }

    /// [`Block::resize`] for at most [`FEW`] variables, with rows too short for panels of kernel values.
    pub(super) fn resize_to_few(&mut self, size: usize) {
        self.resize_to(size, FEW);
    }

    fn resize_to(&mut self, size: usize, stride: usize) {
        (self.size, self.stride) = (size, stride);
        self.is_measured = false;
        self.kernel.resize(size * stride, T::default());
        let Block { value, coefficient, low, high, kink, ridge, .. } = self;
        for vector in [value, coefficient, low, high, kink, ridge] {
            vector.clear();
            vector.resize(stride, 0.0);
        }
        self.second.clear();
        self.second.resize(stride, false);
    }

    /// How many variables it has.
    pub(super) fn len(&self) -> usize {
        self.size
    }

    /// Copies the kernel values above the diagonal to their places below it, one group of rows at a time.
    pub(super) fn mirror(&mut self, group: usize) {
        let stride = self.stride;
        for first in (group..self.size).step_by(group) {
            let (above, below) = self.kernel.split_at_mut(first * stride);
            for start in (0..first).step_by(group) {
                // Small squares, because with a stride of a power of two the rows of a column share a few places of the cache.
                for row in (first..(first + group).min(self.size)).step_by(SQUARE) {
                    let rows = SQUARE.min(self.size - row);
                    for column in (start..start + group).step_by(SQUARE) {
                        for k in 0..rows {
                            let target = &mut below[(row + k - first) * stride + column..][..SQUARE];
                            for (l, value) in target.iter_mut().enumerate() {
                                *value = above[(column + l) * stride + row + k];
                            }
                        }
                    }
                }
            }
        }
    }

    /// `sums[k] = Σ_l c_l K[l][k]` for each variable k; arbitrary numbers in the padding.
    pub(super) fn products(&self, sums: &mut [f64]) {
        sums.fill(0.0);
        let coefficients = self.coefficient[..self.size].iter().enumerate().filter(|(_, c)| **c != 0.0);
        add_terms(sums, coefficients.map(|(l, &coefficient)| (coefficient, self.row(l))));
    }

    /// `v −= K Δc + ridge Δc` for coefficients that have moved by these amounts.
    pub(super) fn move_by(&mut self, moves: &[(usize, f64)]) {
        let Block { stride, kernel, value, ridge, .. } = self;
        let stride = *stride;
        let terms = moves.iter().map(|&(k, change)| (-change, &kernel[k * stride..(k + 1) * stride]));
        add_terms(&mut value[..stride], terms);
        moves.iter().for_each(|&(k, change)| value[k] -= ridge[k] * change);
    }

    pub(super) fn row(&self, k: usize) -> &[T] {
        &self.kernel[k * self.stride..(k + 1) * self.stride]
    }

    /// Reads the diagonal, once for all calls of [`Block::solve`]: kernel values and ridges must not change until the next
    /// [`Block::resize`].
    pub(super) fn measure(&mut self) {
        let mut diagonal = std::mem::take(&mut self.diagonal);
        let own = |k: usize| (Into::<f64>::into(self.row(k)[k]) + self.ridge[k]) as f32;
        diagonal.clear();
        diagonal.extend((0..self.stride).map(|k| if k < self.size { own(k) } else { 1.0 }));
        let largest = diagonal[..self.size].iter().fold(0.0, |most: f32, &own| most.max(own));
        self.least_curvature = TINY * f64::from(largest).clamp(f64::from(f32::MIN_POSITIVE), 1.0);
        self.diagonal = diagonal;
        self.is_measured = true;
    }

    /// Moves pairs (or, without a coupled sum, single variables) until the violation within the block is at most
    /// `tolerance`, or `most` steps are done.
    pub(super) fn solve(&mut self, coupling: Coupling, tolerance: f64, most: u64) -> Outcome {
        if !self.is_measured {
            self.measure();
            self.is_measured = false;
        }
        self.find_ways(coupling);
        pulp::Arch::new().dispatch(Solve { block: self, coupling, tolerance, most })
    }

    /// The violation (D.2) within the block.
    pub(super) fn violation(&mut self, coupling: Coupling) -> f64 {
        self.find_ways(coupling);
        let ([first, second], value) = (&self.ways, &self.value);
        let most = |ways: &OpenDirections| {
            let top = |most: f64, k: usize| most.max(value[k] + ways.up[k]);
            let bottom = |most: f64, k: usize| most.max(ways.down[k] - value[k]);
            ((0..self.size).fold(f64::NEG_INFINITY, top), (0..self.size).fold(f64::NEG_INFINITY, bottom))
        };
        let (top, bottom) = most(first);
        match coupling {
            Coupling::None => top.max(bottom),
            Coupling::All => top + bottom,
            Coupling::BySign => {
                let (other_top, other_bottom) = most(second);
                (top + bottom).max(other_top + other_bottom)
            }
        }
    }

    /// m of (P.9): half of how far the two sums' levels of v are apart, from where coefficients can go as of the last [`Block::violation`].
    pub(super) fn margin(&self) -> f64 {
        let level = |ways: &OpenDirections| {
            let top = (0..self.size).fold(f64::NEG_INFINITY, |most, k| most.max(self.value[k] + ways.up[k]));
            let bottom = (0..self.size).fold(f64::NEG_INFINITY, |most, k| most.max(ways.down[k] - self.value[k]));
            0.5 * (top - bottom)
        };
        0.5 * (level(&self.ways[0]) - level(&self.ways[1]))
    }

    /// Computes the [`OpenDirections`] of all coefficients.
    fn find_ways(&mut self, coupling: Coupling) {
        self.by_sign = coupling == Coupling::BySign;
        let sums = if self.by_sign { 2 } else { 1 };
        for ways in &mut self.ways[..sums] {
            for way in [&mut ways.up, &mut ways.down] {
                way.clear();
                way.resize(self.stride, f64::NEG_INFINITY);
            }
        }
        (0..self.size).for_each(|k| self.note_bounds(k));
    }

    #[inline(always)]
    fn note_bounds(&mut self, k: usize) {
        let (coefficient, kink) = (self.coefficient[k], self.kink[k]);
        let ways = &mut self.ways[usize::from(self.by_sign && self.second[k])];
        // A kink adds to the gain of a move towards 0 and takes from that of a move away from 0.
        let up = if coefficient < 0.0 { kink } else { -kink };
        let down = if coefficient > 0.0 { kink } else { -kink };
        ways.up[k] = if coefficient < self.high[k] { up } else { f64::NEG_INFINITY };
        ways.down[k] = if coefficient > self.low[k] { down } else { f64::NEG_INFINITY };
    }

    /// Where a growing coefficient ends: at its bound, or at its kink.
    #[inline(always)]
    pub(super) fn end_above(&self, k: usize) -> f64 {
        if self.kink[k] > 0.0 && self.coefficient[k] < 0.0 { 0.0 } else { self.high[k] }
    }

    /// Where a shrinking coefficient ends: at its bound, or at its kink.
    #[inline(always)]
    pub(super) fn end_below(&self, k: usize) -> f64 {
        if self.kink[k] > 0.0 && self.coefficient[k] > 0.0 { 0.0 } else { self.low[k] }
    }

    /// Steps of pairs. Of two sums, each step moves a pair of the one that violates more.
    #[inline(always)]
    fn solve_coupled<S: Simd, const SUMS: usize, const SPAN: usize>(
        &mut self,
        simd: S,
        tolerance: f64,
        most: u64,
    ) -> Outcome {
        let mut steps = 0;
        let mut found = self.advance::<S, SUMS, SPAN>(simd, None);
        while steps < most {
            let mut sum = 0;
            for other in 1..SUMS {
                sum = if found[other].violation() > found[sum].violation() { other } else { sum };
            }
            if !(found[sum].violation() > tolerance) {
                break;
            }
            let up = found[sum].place;
            let Some(down) = self.partner::<S, SPAN>(simd, sum, found[sum]) else { break };
            steps += 1;
            let Some(size) = self.move_pair(up, down, sum) else { return Outcome { steps, unbounded: true } };
            if size == 0.0 {
                break;
            }
            found = self.advance::<S, SUMS, SPAN>(simd, Some(Step { up, down, size }));
        }
        Outcome { steps, unbounded: false }
    }

    /// `v −= size (K_up − K_down)`, and the extremes of the new v. One pass, because reading memory takes most of the time.
    #[inline(always)]
    fn advance<S: Simd, const SUMS: usize, const SPAN: usize>(
        &mut self,
        simd: S,
        step: Option<Step>,
    ) -> [Extremes; SUMS] {
        let Block { stride, ref kernel, ref mut value, ref ridge, ref ways, .. } = *self;
        let rows = step.map(|Step { up, down, size }| {
            // (D.4): the ridge belongs to the two that moved.
            value[up] -= size * ridge[up];
            value[down] += size * ridge[down];
            (size, &kernel[up * stride..][..stride], &kernel[down * stride..][..stride])
        });
        let lowest = simd.splat_f64s(f64::NEG_INFINITY);
        let mut bottoms = [lowest; SUMS];
        let mut found = [Extremes { place: 0, top: f64::NEG_INFINITY, bottom: f64::NEG_INFINITY }; SUMS];
        for (number, span) in value[..stride].as_chunks_mut::<SPAN>().0.iter_mut().enumerate() {
            let start = number * SPAN;
            if let Some((size, up, down)) = rows {
                let (up, down) = (&up[start..start + SPAN], &down[start..start + SPAN]);
                for k in 0..SPAN {
                    let difference: f64 = up[k].into() - down[k].into();
                    span[k] -= size * difference;
                }
            }
            let values = S::as_simd_f64s(span).0;
            for sum in 0..SUMS {
                let ups = S::as_simd_f64s(&ways[sum].up[start..start + SPAN]).0;
                let downs = S::as_simd_f64s(&ways[sum].down[start..start + SPAN]).0;
                let mut top = lowest;
                for ((&value, &up), &down) in values.iter().zip(ups).zip(downs) {
                    top = simd.max_f64s(simd.add_f64s(value, up), top);
                    bottoms[sum] = simd.max_f64s(simd.sub_f64s(down, value), bottoms[sum]);
                }
                let top = simd.reduce_max_f64s(top);
                if top > found[sum].top {
                    (found[sum].place, found[sum].top) = (start, top);
                }
            }
        }
        for sum in 0..SUMS {
            found[sum].bottom = simd.reduce_max_f64s(bottoms[sum]);
            let Extremes { place: start, top, .. } = found[sum];
            // Without a variable that can go up there is no span to search.
            let mut span = if top > f64::NEG_INFINITY { start..start + SPAN } else { 0..0 };
            found[sum].place = span.find(|&k| value[k] + ways[sum].up[k] == top).unwrap_or(start);
        }
        found
    }

    /// The partner k of the variable i that goes up, with the largest gain `(v_i − v_k)² / (Q_ii + Q_kk − 2 K_ik)`.
    ///
    /// Squares of slopes may leave the range of single precision. Then all slopes are multiplied by one power of two.
    #[inline(always)]
    fn partner<S: Simd, const SPAN: usize>(&self, simd: S, sum: usize, first: Extremes) -> Option<usize> {
        let largest = first.violation();
        if (1.0 / SAFE_SLOPE..SAFE_SLOPE).contains(&largest) {
            return self.partner_by::<S, SPAN, _>(simd, sum, first, |slope: f64| slope as f32);
        }
        let factor = f64::powi(2.0, -largest.log2().clamp(-1000.0, 1000.0) as i32);
        self.partner_by::<S, SPAN, _>(simd, sum, first, |slope: f64| (slope * factor) as f32)
    }

    /// [`Block::partner`] with the slopes in single precision.
    #[inline(always)]
    fn partner_by<S: Simd, const SPAN: usize, F: Fn(f64) -> f32>(
        &self,
        simd: S,
        sum: usize,
        Extremes { place: first, top, .. }: Extremes,
        single: F,
    ) -> Option<usize> {
        let stride = self.stride;
        let row = &self.kernel[first * stride..][..stride];
        let (own, down) = (self.diagonal[first], &self.ways[sum].down);
        let least = (self.least_curvature as f32).max(f32::MIN_POSITIVE);
        let gain = |value: f64, down: f64, diagonal: f32, kernel: T| {
            // −∞ where the variable cannot go down.
            let slope = single(top - value + down);
            let slope = if slope > 0.0 { slope } else { 0.0 };
            let curvature = own + diagonal - 2.0 * kernel.to_single();
            slope * slope / if curvature > least { curvature } else { least }
        };
        let (mut best, mut place) = (0.0, None);
        let spans = self.value.as_chunks::<SPAN>().0.iter().zip(down.as_chunks::<SPAN>().0);
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
        (start..start + SPAN).find(|&k| gain(self.value[k], down[k], self.diagonal[k], row[k]) == best)
    }

    /// (D.4): the exact step along the segment, clipped to its end; `None` when it has no end.
    #[inline(always)]
    fn move_pair(&mut self, i: usize, j: usize, sum: usize) -> Option<f64> {
        let own = |k: usize| -> f64 { Into::<f64>::into(self.row(k)[k]) + self.ridge[k] };
        let cross: f64 = self.row(i)[j].into();
        let curvature = pair_curvature([own(i), own(j)], cross, self.ridge[i] + self.ridge[j]);
        let slope = self.value[i] + self.ways[sum].up[i] - (self.value[j] - self.ways[sum].down[j]);
        let (end_i, end_j) = (self.end_above(i), self.end_below(j));
        let (before_i, before_j) = (self.coefficient[i], self.coefficient[j]);
        let (room_i, room_j) = (end_i - before_i, before_j - end_j);
        let room = room_i.min(room_j);
        let wanted = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
        let size = 1.0 + own(i).abs() + own(j).abs();
        if !(wanted.min(room) * size < HUGE) {
            return None;
        }
        let step = wanted.min(room);
        // At the end of the segment the coefficient becomes the bound itself, without the rounding of a sum.
        let ends = |room: f64| wanted >= room && room <= step;
        let after_i = if ends(room_i) { end_i } else { (before_i + step).min(end_i) };
        let after_j = if ends(room_j) { end_j } else { (before_j - step).max(end_j) };
        (self.coefficient[i], self.coefficient[j]) = (after_i, after_j);
        self.note_bounds(i);
        self.note_bounds(j);
        Some(after_i - before_i)
    }

    /// Steps without a coupled sum: the variable with the largest gain moves to its own minimum.
    #[inline(always)]
    fn solve_free(&mut self, tolerance: f64, most: u64) -> Outcome {
        let mut steps = 0;
        while steps < most {
            let (mut best, mut place, mut violation) = (0.0, usize::MAX, 0.0f64);
            for k in 0..self.size {
                let pull = (self.value[k] + self.ways[0].up[k]).max(self.ways[0].down[k] - self.value[k]).max(0.0);
                violation = violation.max(pull);
                let gain = pull * pull / f64::from(self.diagonal[k]).max(self.least_curvature);
                if gain > best {
                    (best, place) = (gain, k);
                }
            }
            if place == usize::MAX || violation <= tolerance {
                break;
            }
            steps += 1;
            let own: f64 = Into::<f64>::into(self.row(place)[place]) + self.ridge[place];
            let before = self.coefficient[place];
            let (up, down) = (self.value[place] + self.ways[0].up[place], self.ways[0].down[place] - self.value[place]);
            let wanted = |pull: f64| if own > 0.0 { pull / own } else { f64::INFINITY };
            let after = if up > down {
                (before + wanted(up)).min(self.end_above(place))
            } else {
                (before - wanted(down)).max(self.end_below(place))
            };
            if !(after.abs() * (1.0 + own.abs()) < HUGE) {
                return Outcome { steps, unbounded: true };
            }
            let step = after - before;
            if step == 0.0 {
                break;
            }
            self.coefficient[place] = after;
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

/// [`add_rows`] for an iterator of terms, at most one for each sum. Few terms need no list in memory.
fn add_terms<'t, T: Real>(sums: &mut [f64], mut terms: impl Iterator<Item = (f64, &'t [T])>) {
    if sums.len() > FEW {
        return add_rows(sums, &terms.collect::<Vec<_>>());
    }
    let mut few: [(f64, &[T]); FEW] = [(0.0, &[]); FEW];
    let mut count = 0;
    for (place, term) in few.iter_mut().zip(terms.by_ref()) {
        *place = term;
        count += 1;
    }
    add_rows(sums, &few[..count]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More variables than a span has, K the unit matrix, all α in the middle.
    fn unit_block(size: usize) -> Block<f64> {
        let mut block = Block::new();
        block.resize(size);
        for k in 0..size {
            block.kernel[k * Block::<f64>::stride(size) + k] = 1.0;
            block.value[k] = ((k * 37 % 101) as f64 - 50.0) / 40.0;
            block.second[k] = k % 3 != 0;
            (block.coefficient[k], block.low[k], block.high[k]) = (0.5, 0.0, 1.0);
        }
        block
    }

    #[test]
    fn a_block_is_solved_and_its_sums_stay() {
        for coupling in [Coupling::All, Coupling::BySign] {
            let (before, mut block) = (unit_block(150), unit_block(150));
            let outcome = block.solve(coupling, 1e-9, 100_000);
            assert!(outcome.steps > 0 && !outcome.unbounded);
            let groups: &[&[bool]] = if coupling == Coupling::All { &[&[false, true]] } else { &[&[false], &[true]] };
            for group in groups {
                let own: Vec<usize> = (0..150).filter(|&k| group.contains(&block.second[k])).collect();
                let moved: f64 = own.iter().map(|&k| block.coefficient[k] - 0.5).sum();
                assert!(moved.abs() < 1e-12, "{coupling:?}: the sum moved by {moved}");
                let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
                for k in own {
                    let value = before.value[k] - (block.coefficient[k] - 0.5);
                    assert!((value - block.value[k]).abs() < 1e-12, "{coupling:?}: v of {k}");
                    most = if block.coefficient[k] < 1.0 { most.max(value) } else { most };
                    least = if block.coefficient[k] > 0.0 { least.min(value) } else { least };
                }
                assert!(most - least <= 1e-9, "{coupling:?}: {most} above {least}");
            }
            assert!(block.violation(coupling) <= 1e-9);
        }
    }

    #[test]
    fn a_kink_holds_coefficients_at_zero_that_pull_less_than_its_width() {
        for coupling in [Coupling::All, Coupling::None] {
            let (before, mut block) = (unit_block(150), unit_block(150));
            block.low.fill(-1.0);
            block.kink[..150].fill(0.3);
            block.coefficient.fill(0.0);
            block.solve(coupling, 1e-10, 100_000);
            assert!(block.violation(coupling) <= 1e-10);
            assert!(block.coefficient.iter().filter(|c| **c == 0.0).count() > 30);
            // With K the unit matrix each coefficient is the soft threshold of v less the level b, within its bounds.
            let level = if coupling == Coupling::None {
                0.0
            } else {
                let inside =
                    (0..150).find(|&k| block.coefficient[k].abs() > 0.0 && block.coefficient[k].abs() < 1.0).unwrap();
                before.value[inside] - block.coefficient[inside] - 0.3 * block.coefficient[inside].signum()
            };
            for k in 0..150 {
                let pull = before.value[k] - level;
                let expected = (pull.signum() * (pull.abs() - 0.3).max(0.0)).clamp(-1.0, 1.0);
                assert!((block.coefficient[k] - expected).abs() < 1e-9, "{coupling:?} {k}");
            }
        }
    }

    #[test]
    fn where_nothing_can_move_there_are_no_steps() {
        for coupling in [Coupling::All, Coupling::BySign, Coupling::None] {
            assert_eq!(unit_block(0).solve(coupling, 1e-9, 100).steps, 0);
            let mut fixed = unit_block(70);
            fixed.coefficient.fill(0.0);
            fixed.high.fill(0.0);
            assert_eq!(fixed.solve(coupling, 1e-9, 100).steps, 0);
        }
    }
}
