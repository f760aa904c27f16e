//! Arithmetic on many numbers at once, in single or double precision.
//!
//! The crate `pulp` finds the widest vector instructions of the machine at run time. Each lane is computed by itself and in one order, so
//! the bits depend neither on the width of the vectors nor on the other lanes.

use std::fmt::Debug;

use pulp::{Arch, Scalar, Simd, WithSimd};

use crate::data::{Buffer, Values};

/// The most lanes that a panel has in any precision.
pub(crate) const MOST_LANES: usize = 64;

/// A precision: `f32` or `f64`.
pub(crate) trait Real: Copy + Debug + Default + PartialOrd + Send + Sync + Into<f64> + bytemuck::Pod {
    /// How many rows lie side by side in a panel.
    const LANES: usize;
    /// How many rows lie side by side in a narrow panel, for few rows; and how many lanes a block of dense rows meets at
    /// a time.
    const NARROW: usize;
    /// The largest number that is still far from overflow when squared and summed.
    const SAFE: f64;
    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
    /// The nearest number of single precision.
    fn to_single(self) -> f32;
    /// `self · a + b`, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;
    /// `e^self` for numbers up to 0, to about one unit in the last place; 0 where that is below the least normal number.
    fn exp(self) -> Self;
    /// A small count.
    fn count(value: u8) -> Self;
    /// The numbers of a matrix as they are, when they have this precision.
    fn shared(values: &Values) -> Option<&Buffer<Self>>;
    /// `dots[k * stride + lane] = ⟨row k, lane⟩` for a panel `[slot][lane]` of L lanes.
    fn sparse_dots<const L: usize>(
        arch: Arch,
        rows: &[SparseRow<'_, Self>],
        slots: Option<&[u32]>,
        panel: &[Self],
        dots: &mut [Self],
        stride: usize,
    );
    /// [`Real::dots`] for dense rows, and at most [`Real::NARROW`] lanes.
    fn dense_dots<const L: usize>(arch: Arch, rows: &[&[Self]], panel: &[Self], dots: &mut [Self], stride: usize);
    /// `self + other` and friends, which std has no common trait for.
    fn plus(self, other: Self) -> Self;
    /// `self · other`
    fn times(self, other: Self) -> Self;
    /// The larger one.
    fn larger(self, other: Self) -> Self;
    /// `self / other`
    fn over(self, other: Self) -> Self;
}

/// The entries of a row, by their columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseRow<'a, T> {
    /// Increasing.
    pub(crate) columns: &'a [u32],
    /// As many as columns.
    pub(crate) values: &'a [T],
}

impl<T> Default for SparseRow<'_, T> {
    fn default() -> Self {
        SparseRow { columns: &[], values: &[] }
    }
}

/// Runs a closure with the instructions of `arch`. It must be `#[inline(always)]`, or it stays as it is.
#[inline(always)]
pub(crate) fn vectorised<R>(arch: Arch, work: impl FnOnce() -> R) -> R {
    struct Work<F>(F);
    impl<R, F: FnOnce() -> R> WithSimd for Work<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> R {
            (self.0)()
        }
    }
    arch.dispatch(Work(work))
}

macro_rules! precision {
    (
        $real:ident, lanes $lanes:literal, narrow $narrow:literal, safe $safe:literal, variant $variant:ident,
        splat $splat:ident, mul_add $mul_add:ident, view $view:ident, view_mut $view_mut:ident,
        vector $vector:ident, width $width:ident, exp $exp:ident
    ) => {
        impl Real for $real {
            const LANES: usize = $lanes;
            const NARROW: usize = $narrow;
            const SAFE: f64 = $safe;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $real
            }

            #[inline(always)]
            fn to_single(self) -> f32 {
                self as f32
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

            fn shared(values: &Values) -> Option<&Buffer<Self>> {
                match values {
                    Values::$variant(values) => Some(values),
                    _ => None,
                }
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

            fn sparse_dots<const L: usize>(
                arch: Arch,
                rows: &[SparseRow<'_, Self>],
                slots: Option<&[u32]>,
                panel: &[Self],
                dots: &mut [Self],
                stride: usize,
            ) {
                struct Work<'a, const L: usize> {
                    rows: &'a [SparseRow<'a, $real>],
                    slots: Option<&'a [u32]>,
                    panel: &'a [$real],
                    dots: &'a mut [$real],
                    stride: usize,
                }
                impl<const L: usize> WithSimd for Work<'_, L> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) {
                        // Eight sums on their way hide what one takes: few lanes leave room for several rows.
                        match const { L / S::$width } {
                            0 => self.run::<Scalar, 1, 4>(Scalar::new()),
                            1 => self.run::<S, 1, 8>(simd),
                            2 => self.run::<S, 2, 4>(simd),
                            4 => self.run::<S, 4, 2>(simd),
                            8 => self.run::<S, 8, 1>(simd),
                            16 => self.run::<S, 16, 1>(simd),
                            32 => self.run::<S, 32, 1>(simd),
                            _ => self.run::<S, 64, 1>(simd),
                        }
                    }
                }
                impl<const L: usize> Work<'_, L> {
                    #[inline(always)]
                    fn run<S: Simd, const N: usize, const R: usize>(self, simd: S) {
                        let Work { rows, slots, panel, dots, stride } = self;
                        let panel = S::$view(panel).0.as_chunks::<N>().0;
                        let (groups, rest) = rows.as_chunks::<R>();
                        let (first, last) = dots.split_at_mut(dots.len().min(groups.len() * R * stride));
                        match slots {
                            None => {
                                let lanes = |column: u32| panel.get(column as usize);
                                for (rows, dots) in groups.iter().zip(first.chunks_mut(R * stride)) {
                                    several::<S, N, R>(simd, rows, lanes, dots, stride);
                                }
                                for (row, dots) in rest.iter().zip(last.chunks_mut(stride)) {
                                    several::<S, N, 1>(simd, &[*row], lanes, dots, stride);
                                }
                            }
                            Some(slots) => {
                                let lanes = |column: u32| panel.get(slots[column as usize] as usize);
                                for (rows, dots) in groups.iter().zip(first.chunks_mut(R * stride)) {
                                    several::<S, N, R>(simd, rows, lanes, dots, stride);
                                }
                                for (row, dots) in rest.iter().zip(last.chunks_mut(stride)) {
                                    several::<S, N, 1>(simd, &[*row], lanes, dots, stride);
                                }
                            }
                        }
                    }
                }
                /// The sums of R rows stay in N vector registers each while the rows' entries pass by.
                #[inline(always)]
                fn several<'p, S: Simd, const N: usize, const R: usize>(
                    simd: S,
                    rows: &[SparseRow<'_, $real>; R],
                    lanes: impl Fn(u32) -> Option<&'p [S::$vector; N]>,
                    dots: &mut [$real],
                    stride: usize,
                ) where
                    S::$vector: 'p,
                {
                    let mut sums = [[simd.$splat(0.0); N]; R];
                    let common = match R {
                        1 => 0,
                        _ => rows.iter().map(|row| row.columns.len()).min().unwrap_or(0),
                    };
                    let heads: [(&[u32], &[$real]); R] =
                        std::array::from_fn(|r| (&rows[r].columns[..common], &rows[r].values[..common]));
                    for entry in 0..common {
                        for r in 0..R {
                            step(simd, &mut sums[r], lanes(heads[r].0[entry]), heads[r].1[entry]);
                        }
                    }
                    for r in 0..R {
                        for (&column, &value) in rows[r].columns[common..].iter().zip(&rows[r].values[common..]) {
                            step(simd, &mut sums[r], lanes(column), value);
                        }
                    }
                    for r in 0..R {
                        let dots = &mut S::$view_mut(&mut dots[r * stride..][..N * S::$width]).0[..N];
                        for n in 0..N {
                            dots[n] = sums[r][n];
                        }
                    }
                }
                /// One entry meets all lanes of its column, if the panel has it.
                #[inline(always)]
                fn step<S: Simd, const N: usize>(
                    simd: S,
                    sums: &mut [S::$vector; N],
                    lanes: Option<&[S::$vector; N]>,
                    value: $real,
                ) {
                    if let Some(lanes) = lanes {
                        let value = simd.$splat(value);
                        for n in 0..N {
                            sums[n] = simd.$mul_add(value, lanes[n], sums[n]);
                        }
                    }
                }
                arch.dispatch(Work::<L> { rows, slots, panel, dots, stride });
            }

            fn dense_dots<const L: usize>(
                arch: Arch,
                rows: &[&[Self]],
                panel: &[Self],
                dots: &mut [Self],
                stride: usize,
            ) {
                struct Work<'a, const L: usize> {
                    rows: &'a [&'a [$real]],
                    panel: &'a [$real],
                    dots: &'a mut [$real],
                    stride: usize,
                }
                impl<const L: usize> WithSimd for Work<'_, L> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) {
                        match const { L / S::$width } {
                            0 => self.run::<Scalar, 1>(Scalar::new()),
                            1 => self.run::<S, 1>(simd),
                            2 => self.run::<S, 2>(simd),
                            4 => self.run::<S, 4>(simd),
                            _ => self.run::<S, $narrow>(simd),
                        }
                    }
                }
                impl<const L: usize> Work<'_, L> {
                    #[inline(always)]
                    fn run<S: Simd, const N: usize>(self, simd: S) {
                        let Work { rows, panel, dots, stride } = self;
                        let panel = S::$view(panel).0.as_chunks::<N>().0;
                        let (groups, rest) = rows.as_chunks::<DENSE_ROWS>();
                        let (first, last) = dots.split_at_mut(dots.len().min(groups.len() * DENSE_ROWS * stride));
                        for (rows, dots) in groups.iter().zip(first.chunks_mut(DENSE_ROWS * stride)) {
                            several::<S, N, DENSE_ROWS>(simd, rows, panel, dots, stride);
                        }
                        for (row, dots) in rest.iter().zip(last.chunks_mut(stride)) {
                            several::<S, N, 1>(simd, &[row], panel, dots, stride);
                        }
                    }
                }
                /// R rows times N vectors of lanes: their sums stay in registers.
                #[inline(always)]
                fn several<S: Simd, const N: usize, const R: usize>(
                    simd: S,
                    rows: &[&[$real]; R],
                    panel: &[[S::$vector; N]],
                    dots: &mut [$real],
                    stride: usize,
                ) {
                    let rows: [&[$real]; R] = std::array::from_fn(|r| &rows[r][..panel.len()]);
                    let mut sums = [[simd.$splat(0.0); N]; R];
                    for (column, lanes) in panel.iter().enumerate() {
                        for r in 0..R {
                            let value = simd.$splat(rows[r][column]);
                            for n in 0..N {
                                sums[r][n] = simd.$mul_add(value, lanes[n], sums[r][n]);
                            }
                        }
                    }
                    for r in 0..R {
                        let dots = &mut S::$view_mut(&mut dots[r * stride..][..N * S::$width]).0[..N];
                        for n in 0..N {
                            dots[n] = sums[r][n];
                        }
                    }
                }
                arch.dispatch(Work::<L> { rows, panel, dots, stride });
            }
        }
    };
}

/// Terms of one sum: rows of a block of values, and what each is multiplied with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// Which sum.
    pub(crate) target: usize,
    /// Which rows of the block, in the order of summation.
    pub(crate) rows: &'a [u16],
    /// As many as rows.
    pub(crate) coefficients: &'a [f64],
}

/// `sums[target] += Σ_k coefficients[k] · values[rows[k]]` for each run, lane by lane, each term fused: values and sums have
/// L lanes.
pub(crate) fn add_runs<'a, const L: usize>(
    arch: Arch,
    runs: impl Iterator<Item = Run<'a>>,
    values: &[f64],
    sums: &mut [f64],
) {
    struct Work<'w, I, const L: usize> {
        runs: I,
        values: &'w [f64],
        sums: &'w mut [f64],
    }
    impl<'a, I: Iterator<Item = Run<'a>>, const L: usize> WithSimd for Work<'_, I, L> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            match L / S::F64_LANES {
                0 => self.run::<Scalar, 1>(Scalar::new()),
                1 => self.run::<S, 1>(simd),
                2 => self.run::<S, 2>(simd),
                4 => self.run::<S, 4>(simd),
                8 => self.run::<S, 8>(simd),
                16 => self.run::<S, 16>(simd),
                _ => self.run::<S, 32>(simd),
            }
        }
    }
    impl<'a, I: Iterator<Item = Run<'a>>, const L: usize> Work<'_, I, L> {
        #[inline(always)]
        fn run<S: Simd, const N: usize>(self, simd: S) {
            let values = S::as_simd_f64s(self.values).0.as_chunks::<N>().0;
            let sums = S::as_mut_simd_f64s(self.sums).0.as_chunks_mut::<N>().0;
            for run in self.runs {
                let mut sum = sums[run.target];
                for (&row, &coefficient) in run.rows.iter().zip(run.coefficients) {
                    let (value, coefficient) = (&values[row as usize], simd.splat_f64s(coefficient));
                    for n in 0..N {
                        sum[n] = simd.mul_add_f64s(coefficient, value[n], sum[n]);
                    }
                }
                sums[run.target] = sum;
            }
        }
    }
    arch.dispatch(Work::<_, L> { runs, values, sums });
}

/// Rows that are multiplied at a time where they have no gaps: with two vectors of lanes their sums fill the registers.
const DENSE_ROWS: usize = 6;

precision!(
    f32, lanes 64, narrow 16, safe 1e15, variant F32, splat splat_f32s, mul_add mul_add_f32s,
    view as_simd_f32s, view_mut as_mut_simd_f32s, vector f32s, width F32_LANES, exp exp_single
);
precision!(
    f64, lanes 32, narrow 8, safe 1e150, variant F64, splat splat_f64s, mul_add mul_add_f64s,
    view as_simd_f64s, view_mut as_mut_simd_f64s, vector f64s, width F64_LANES, exp exp_double
);

/// ```text
/// e^x = 2^n e^r,   n = round(x / ln 2),   r = x − n ln 2 in two pieces,   e^r by a polynomial           (EL.1)
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

/// (EL.1) in double precision: the polynomial of degree 11 through Chebyshev's points is within 2e-17 of e^r.
#[inline(always)]
pub(crate) fn exp_double(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const TERMS: [f64; 9] = [
        2.762_008_844_540_974_6e-7,
        2.755_726_845_999_706_4e-6,
        2.480_152_129_595_437_6e-5,
        1.984_126_986_305_361_8e-4,
        1.388_888_891_721_371_7e-3,
        8.333_333_333_330_062e-3,
        4.166_666_666_662_413e-2,
        1.666_666_666_666_666_9e-1,
        0.500_000_000_000_000_1,
    ];
    let clamped = if x > -708.0 { x } else { -708.0 };
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-1.908_214_929_270_587_7e-10, n.mul_add(-0.693_147_180_369_123_8, clamped));
    let mut p = 2.510_038_549_551_032e-8;
    for term in TERMS {
        p = f64::mul_add(p, r, term);
    }
    let power = p.mul_add(r * r, r) + 1.0;
    let result = f64::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x > -708.0 { result } else { 0.0 }
}

/// `log((1 + s)/(1 − s)) = 2s (1 + s²/3 + s⁴/5 + …)`, so many terms of it.
#[inline(always)]
fn twice_artanh<const TERMS: usize>(s: f64) -> f64 {
    let square = s * s;
    let mut sum = 0.0;
    for k in 1..TERMS {
        sum = f64::mul_add(sum, square, 1.0 / (2 * (TERMS - k) + 1) as f64);
    }
    2.0 * f64::mul_add(s * square, sum, s)
}

/// `log(1 + x)` for −½ ≤ x ≤ 1, to a few units in the last place: `2 artanh s` with s = x/(2 + x), which is at most ⅓.
#[inline(always)]
pub(crate) fn ln_one_plus(x: f64) -> f64 {
    twice_artanh::<18>(x / (2.0 + x))
}

/// `log x` for 0 < x ≤ ½, to a few units in the last place; some finite number where x is 0 or subnormal
///
/// ```text
/// x = m 2ⁿ,  √½ ≤ m < √2:   log x = n log 2 + 2 artanh((m − 1)/(m + 1))                              (EL.2)
/// ```
#[inline(always)]
pub(crate) fn ln_up_to_half(x: f64) -> f64 {
    const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const FRACTION: u64 = (1 << 52) - 1;
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let above = x.to_bits().wrapping_sub(ROOT);
    let m = f64::from_bits((above & FRACTION).wrapping_add(ROOT));
    // n is the part before the fraction, of two's complement: at most 0. Its 12 bits are brought to the low end of a double.
    let n = f64::from_bits((above >> 52 | 0xffff_ffff_ffff_f000).wrapping_add(ROUND.to_bits())) - ROUND;
    n.mul_add(std::f64::consts::LN_2, twice_artanh::<12>((m - 1.0) / (m + 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_within_a_few_units_in_the_last_place() {
        let near = |found: f64, exact: f64, x: f64| {
            assert!((found - exact).abs() <= 4.0 * f64::EPSILON * exact.abs(), "log of {x}: {found} {exact}")
        };
        for i in 0..=200_000 {
            let x = f64::from(i) / 2e5;
            near(ln_one_plus(x), x.ln_1p(), x);
            near(ln_one_plus(-0.5 * x), (-0.5 * x).ln_1p(), x);
            let tiny = x * 10.0f64.powi(-(i % 300));
            near(ln_one_plus(tiny), tiny.ln_1p(), tiny);
            if i > 0 {
                near(ln_up_to_half(0.5 * x), (0.5 * x).ln(), x);
                near(ln_up_to_half(0.5 * tiny), (0.5 * tiny).ln(), tiny);
            }
        }
        assert!(ln_up_to_half(0.0).is_finite() && ln_up_to_half(f64::MIN_POSITIVE / 8.0).is_finite());
    }

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
