//! Arithmetic on many numbers at once, in single or double precision.
//!
//! The widest vector instructions of the machine are found at run time (by the crate `pulp`); everything is written so
//! that each lane is computed by itself and in one order: the bits do not depend on the width of the vectors, nor on
//! what is computed beside.

use std::fmt::Debug;
use std::sync::OnceLock;

use pulp::{Arch, Simd, WithSimd};

use crate::kernel::{Packed, Points};

/// The most lanes that a panel has in any precision.
pub(crate) const MOST_LANES: usize = 64;

/// A precision: `f32` or `f64`.
pub(crate) trait Real: Copy + Debug + Default + PartialOrd + Send + Sync + Into<f64> + bytemuck::Pod {
    /// How many rows lie side by side in a panel.
    const LANES: usize;
    /// The largest number that is still far from overflow when squared and summed.
    const SAFE: f64;
    /// Half a unit in the last place of 1.
    const ROUNDING: f64;
    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
    /// `self · a + b`, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;
    /// `e^self` for numbers up to 0, to about one unit in the last place; 0 where that is below the least normal number.
    fn exp(self) -> Self;
    /// A small count.
    fn count(value: u8) -> Self;
    /// Where points keep their rows packed in this precision.
    fn packed(points: &Points) -> &OnceLock<Packed<Self>>;
    /// `out[targets[k] + lane] = ⟨row places[k], lane of the panel⟩` for rows of numbers at places.
    fn sparse_dots(rows: SparseRows<'_, Self>, panel: &[Self], each: impl EachRow<Self>);
    /// The same for rows without gaps.
    fn dense_dots(rows: DenseRows<'_, Self>, panel: &[Self], each: impl EachRow<Self>);
    /// `self + other` and friends, which std has no common trait for.
    fn plus(self, other: Self) -> Self;
    /// `self · other`
    fn times(self, other: Self) -> Self;
    /// The larger one.
    fn larger(self, other: Self) -> Self;
    /// `self / other`
    fn over(self, other: Self) -> Self;
}

/// Some rows of a sparse matrix.
pub(crate) struct SparseRows<'a, T> {
    pub(crate) offsets: &'a [usize],
    pub(crate) indices: &'a [u32],
    pub(crate) values: &'a [T],
    pub(crate) places: &'a [u32],
    /// The panel's own place of each column, `u32::MAX` where it has none; `None` when all columns have theirs.
    pub(crate) slots: Option<&'a [u32]>,
}

/// Some rows of a dense matrix.
pub(crate) struct DenseRows<'a, T> {
    pub(crate) columns: usize,
    pub(crate) values: &'a [T],
    pub(crate) places: &'a [u32],
}

/// What happens to the dot products of a row, one a lane, while they are still at hand.
pub(crate) trait EachRow<T> {
    /// Takes the dot products of the k-th row.
    fn take(&mut self, k: usize, dots: &[T]);
}

/// Runs a closure with the widest instructions there are. It must be `#[inline(always)]`, or it stays as it is.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    struct Work<F>(F);
    impl<R, F: FnOnce() -> R> WithSimd for Work<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> R {
            (self.0)()
        }
    }
    Arch::new().dispatch(Work(work))
}

macro_rules! precision {
    (
        $real:ident, lanes $lanes:literal, safe $safe:literal, field $field:ident, splat $splat:ident, mul_add $mul_add:ident,
        view $view:ident, view_mut $view_mut:ident, width $width:ident, exp $exp:ident
    ) => {
        impl Real for $real {
            const LANES: usize = $lanes;
            const SAFE: f64 = $safe;
            const ROUNDING: f64 = $real::EPSILON as f64 / 2.0;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $real
            }

            #[inline(always)]
            fn fused(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }

            #[inline(always)]
            fn count(value: u8) -> Self {
                $real::from(value)
            }

            fn packed(points: &Points) -> &OnceLock<Packed<Self>> {
                points.$field()
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                if self > other { self } else { other }
            }

            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }

            fn sparse_dots(rows: SparseRows<'_, Self>, panel: &[Self], each: impl EachRow<Self>) {
                struct Work<'a, E>(SparseRows<'a, $real>, &'a [$real], E);
                impl<E: EachRow<$real>> WithSimd for Work<'_, E> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) {
                        match $lanes / S::$width {
                            4 => self.run::<S, 4>(simd),
                            8 => self.run::<S, 8>(simd),
                            16 => self.run::<S, 16>(simd),
                            _ => self.run::<S, $lanes>(simd),
                        }
                    }
                }
                impl<E: EachRow<$real>> Work<'_, E> {
                    /// The sums of all lanes stay in N vector registers while the row's entries pass by.
                    #[inline(always)]
                    fn run<S: Simd, const N: usize>(self, simd: S) {
                        let Work(rows, panel, mut each) = self;
                        let mut dots = [0.0; $lanes];
                        for (k, &place) in rows.places.iter().enumerate() {
                            let span = rows.offsets[place as usize]..rows.offsets[place as usize + 1];
                            let mut sums = [simd.$splat(0.0); N];
                            let entries = rows.indices[span.clone()].iter().zip(&rows.values[span]);
                            for (&column, &value) in entries {
                                let slot = match rows.slots {
                                    None => column,
                                    Some(slots) => slots[column as usize],
                                };
                                if slot == u32::MAX {
                                    continue;
                                }
                                let start = slot as usize * $lanes;
                                let lanes = S::$view(&panel[start..start + $lanes]).0;
                                let value = simd.$splat(value);
                                for n in 0..N {
                                    sums[n] = simd.$mul_add(value, lanes[n], sums[n]);
                                }
                            }
                            S::$view_mut(&mut dots).0.copy_from_slice(&sums);
                            each.take(k, &dots);
                        }
                    }
                }
                Arch::new().dispatch(Work(rows, panel, each));
            }

            fn dense_dots(rows: DenseRows<'_, Self>, panel: &[Self], each: impl EachRow<Self>) {
                struct Work<'a, E>(DenseRows<'a, $real>, &'a [$real], E);
                impl<E: EachRow<$real>> WithSimd for Work<'_, E> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(mut self, simd: S) {
                        let whole = self.0.places.len() / 4 * 4;
                        for k in (0..whole).step_by(4) {
                            self.run::<S, 4>(simd, k);
                        }
                        for k in whole..self.0.places.len() {
                            self.run::<S, 1>(simd, k);
                        }
                    }
                }
                impl<E: EachRow<$real>> Work<'_, E> {
                    /// R rows times two vectors of lanes at a time: their sums stay in registers.
                    #[inline(always)]
                    fn run<S: Simd, const R: usize>(&mut self, simd: S, k: usize) {
                        let Work(rows, panel, each) = self;
                        let mut dots = [[0.0; $lanes]; R];
                        let entries: [&[$real]; R] = std::array::from_fn(|r| {
                            let start = rows.places[k + r] as usize * rows.columns;
                            &rows.values[start..start + rows.columns]
                        });
                        for lane in (0..$lanes).step_by(2 * S::$width) {
                            let mut sums = [[simd.$splat(0.0); 2]; R];
                            for column in 0..rows.columns {
                                let start = column * $lanes + lane;
                                let lanes = S::$view(&panel[start..start + 2 * S::$width]).0;
                                for r in 0..R {
                                    let value = simd.$splat(entries[r][column]);
                                    sums[r][0] = simd.$mul_add(value, lanes[0], sums[r][0]);
                                    sums[r][1] = simd.$mul_add(value, lanes[1], sums[r][1]);
                                }
                            }
                            for r in 0..R {
                                let part = &mut dots[r][lane..lane + 2 * S::$width];
                                S::$view_mut(part).0.copy_from_slice(&sums[r]);
                            }
                        }
                        for (r, dots) in dots.iter().enumerate() {
                            each.take(k + r, dots);
                        }
                    }
                }
                Arch::new().dispatch(Work(rows, panel, each));
            }
        }
    };
}

precision!(
    f32, lanes 64, safe 1e15, field single, splat splat_f32s, mul_add mul_add_f32s,
    view as_simd_f32s, view_mut as_mut_simd_f32s, width F32_LANES, exp exp_single
);
precision!(
    f64, lanes 32, safe 1e150, field double, splat splat_f64s, mul_add mul_add_f64s,
    view as_simd_f64s, view_mut as_mut_simd_f64s, width F64_LANES, exp exp_double
);

/// ```text
/// e^x = 2^n e^r,   n = round(x / ln 2),   r = x − n ln 2 in two pieces,   e^r by a polynomial           (S.1)
/// ```
///
/// Adding 1.5 · 2^(bits of the fraction) rounds to a whole number and leaves it in the low bits.
#[inline(always)]
fn exp_single(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let clamped = if x > -87.0 { x } else { -87.0 };
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(2.121_944_4e-4, n.mul_add(-0.693_359_4, clamped));
    // e^r = 1 + r + r² p(r), |r| ≤ ½ ln 2
    let mut p = 1.987_569_1e-4f32;
    for coefficient in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p.mul_add(r, coefficient);
    }
    let power = p.mul_add(r * r, r) + 1.0;
    let result = f32::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x > -87.0 { result } else { 0.0 }
}

/// (S.1) in double precision: the Taylor polynomial to degree 13 is within 5e-18 of e^r.
#[inline(always)]
fn exp_double(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let clamped = if x > -708.0 { x } else { -708.0 };
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-1.908_214_929_270_587_7e-10, n.mul_add(-0.693_147_180_369_123_8, clamped));
    let mut p = 1.0 / 6_227_020_800.0;
    for factorial in [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0] {
        p = f64::mul_add(p, r, 1.0 / factorial);
    }
    p = p.mul_add(r, 0.5);
    let power = p.mul_add(r * r, r) + 1.0;
    let result = f64::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x > -708.0 { result } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_within_two_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 4.3e-4;
            let single = f64::from(Real::exp(x as f32));
            let exact = f64::from(x as f32).exp();
            assert!((single - exact).abs() <= 2.0 * f64::from(f32::EPSILON) * exact, "e^{x}: {single} {exact}");
            let x = -f64::from(i) * 3.5e-3;
            let (double, exact) = (Real::exp(x), x.exp());
            assert!((double - exact).abs() <= 2.0 * f64::EPSILON * exact, "e^{x}: {double} {exact}");
        }
        assert_eq!((Real::exp(0.0f32), Real::exp(0.0f64)), (1.0, 1.0));
        assert_eq!((Real::exp(-1e30f32), Real::exp(f64::NEG_INFINITY)), (0.0, 0.0));
    }
}
