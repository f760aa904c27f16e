//! Sums of kernel values with twice the digits of f64, for certificates whose terms cancel.

use pulp::Arch;

use super::{Kernel, KernelFunction, Rows};
use crate::data::Matrix;
use crate::double_double::DoubleDouble;
use crate::simd::vectorised;
use crate::workers::Workers;

/// Left rows that a thread takes at a time.
const ROWS_A_CHUNK: usize = 8;

/// The most numbers of a dense copy of all right rows: 8 MB. With a copy, dot products are vector instructions; without one, each entry is
/// looked up.
const MOST_SPREAD: usize = 1 << 20;

/// The most numbers of a dense copy for each entry. A matrix with more zeros than this is not copied.
const NUMBERS_AN_ENTRY: usize = 8;

/// Lanes of [`compensated_dot`].
const LANES: usize = 8;

/// How many digits the exponential of a Gaussian kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exponential {
    /// About 30 digits, for about 500 operations.
    Precise,
    /// The digits of f64, for about 20 operations. Enough to measure an error with: only the distance cancels, and it has all its digits.
    Plain,
}

/// `f_i = b + Σ_j coefficients[j] · k(left i, right j)`, each rounded once, at the end.
///
/// Kernels of dot products, and their sums, products and multiples, are computed with about 30 digits; `exponential` says how many digits
/// their exponential has. Values of other kernels have the digits of f64; their sum has about 30.
///
/// Cost: about 30 operations for each pair of rows and each entry of a right row, in vector instructions where right rows have a dense
/// copy, and one exponential for each pair.
pub(crate) fn precise_sums(
    kernel: &KernelFunction,
    exponential: Exponential,
    left: Rows<'_>,
    right: Rows<'_>,
    coefficients: &[f64],
    bias: f64,
    workers: &Workers,
) -> Vec<f64> {
    let squares: Vec<DoubleDouble> = workers.numbers(right.len(), |j| square(right, j));
    let columns = right.points().matrix().columns();
    let spread = spread_out(right);
    let mut sums = vec![0.0; left.len()];
    workers.fill_chunks(&mut sums, ROWS_A_CHUNK, |start, sums| {
        let mut entries = Vec::new();
        for (i, sum) in (start..).zip(sums) {
            entries.clear();
            left.points().matrix().visit(left.list()[i], |column, value| entries.push((column, value)));
            let left_square = square(left, i);
            let row = spread.as_ref().map(|_| left.points().matrix().row(left.list()[i]));
            let term = |j: usize| {
                let numbers = row.as_deref().zip(spread.as_deref());
                let pair = Pair {
                    entries: &entries,
                    spread: numbers.map(|(row, spread)| (row, &spread[j * columns..(j + 1) * columns])),
                    left_square,
                    right_square: squares[j],
                    left: left.slice(i..i + 1),
                    right: right.slice(j..j + 1),
                };
                kernel.precise(exponential, &pair) * coefficients[j]
            };
            *sum = (0..right.len()).map(term).fold(DoubleDouble::from(bias), |sum, term| sum + term).value();
        }
    });
    sums
}

/// A dense copy of some rows, row after row. `None` where it would be too large, or mostly zeros.
fn spread_out(rows: Rows<'_>) -> Option<Vec<f64>> {
    let matrix = rows.points().matrix();
    let is_full = matrix.entries().saturating_mul(NUMBERS_AN_ENTRY) >= matrix.rows().saturating_mul(matrix.columns());
    let is_small = rows.len().saturating_mul(matrix.columns()) <= MOST_SPREAD;
    (is_full && is_small).then(|| rows.list().iter().flat_map(|&row| matrix.row(row)).collect())
}

/// Two rows of which a kernel value is computed: the entries of the left one, and both squared norms.
struct Pair<'a> {
    entries: &'a [(usize, f64)],
    /// Dense copies of the two rows, if there are any.
    spread: Option<(&'a [f64], &'a [f64])>,
    left_square: DoubleDouble,
    right_square: DoubleDouble,
    left: Rows<'a>,
    right: Rows<'a>,
}

impl Pair<'_> {
    /// `⟨x′, z′⟩`
    fn dot(&self) -> DoubleDouble {
        let mut sum = DoubleDouble::from(constant(self.right));
        if let Some((x, z)) = self.spread {
            let dot = vectorised(
                Arch::new(),
                #[inline(always)]
                || compensated_dot(x, z),
            );
            return sum + dot;
        }
        visit_shared(self.entries, self.right.points().matrix(), self.right.list()[0], |x, z| {
            sum = sum + DoubleDouble::product_of(x, z);
        });
        sum
    }
}

impl KernelFunction {
    /// The value of a pair, with about 30 digits where the kernel is a function of dot products.
    fn precise(&self, exponential: Exponential, pair: &Pair<'_>) -> DoubleDouble {
        let of_part = |part: &KernelFunction| part.precise(exponential, pair);
        match self {
            KernelFunction::Sum(sum) => {
                sum.parts.iter().fold(DoubleDouble::ZERO, |sum, part| sum + of_part(part)) // (K.8a)
            }
            KernelFunction::Product(product) => {
                product.parts.iter().fold(DoubleDouble::from(1.0), |product, part| product * of_part(part)) // (K.8b)
            }
            KernelFunction::Scaled(scaled) => of_part(&scaled.kernel) * scaled.factor, // (K.8c)
            _ => match self.of_dots() {
                Some(function) => function.precise(exponential, pair.dot(), pair.left_square, pair.right_square),
                None => {
                    let mut value = [0.0];
                    self.block(pair.left, pair.right, &mut value);
                    DoubleDouble::from(value[0])
                }
            },
        }
    }
}

/// `⟨x, z⟩` with about 30 digits: each lane keeps a sum of products, and a second sum of the rounding errors of products and additions.
///
/// # References
/// T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product", SIAM Journal on Scientific Computing 26, 2005, algorithm 5.3 (Dot2).
#[inline(always)]
fn compensated_dot(x: &[f64], z: &[f64]) -> DoubleDouble {
    let (mut sums, mut rests) = ([0.0; LANES], [0.0; LANES]);
    let (x_chunks, z_chunks) = (x.as_chunks::<LANES>(), z.as_chunks::<LANES>());
    for (x, z) in x_chunks.0.iter().zip(z_chunks.0) {
        for lane in 0..LANES {
            add_product(&mut sums[lane], &mut rests[lane], x[lane], z[lane]);
        }
    }
    for (lane, (&x, &z)) in x_chunks.1.iter().zip(z_chunks.1).enumerate() {
        add_product(&mut sums[lane], &mut rests[lane], x, z);
    }
    let lanes = sums.into_iter().zip(rests);
    lanes.fold(DoubleDouble::ZERO, |sum, (high, low)| sum + DoubleDouble::sum_of(high, low))
}

/// Adds a product to a sum, and the rounding errors of the product and the addition to the rest.
#[inline(always)]
fn add_product(sum: &mut f64, rest: &mut f64, x: f64, z: f64) {
    let product = x * z;
    let next = *sum + product;
    let part = next - *sum;
    *rest += (*sum - (next - part)) + (product - part) + x.mul_add(z, -product);
    *sum = next;
}

/// The constant that a folded bias appends to each row, squared.
fn constant(rows: Rows<'_>) -> f64 {
    if rows.points().folded() { 1.0 } else { 0.0 }
}

/// `⟨x′, x′⟩` of a row.
fn square(rows: Rows<'_>, place: usize) -> DoubleDouble {
    let mut sum = DoubleDouble::from(constant(rows));
    rows.points().matrix().visit(rows.list()[place], |_, value| sum = sum + DoubleDouble::product_of(value, value));
    sum
}

/// Visits the columns that have an entry both in a row given by its entries and in a row of a matrix.
fn visit_shared(entries: &[(usize, f64)], matrix: &Matrix, row: usize, mut visit: impl FnMut(f64, f64)) {
    let mut rest = entries;
    matrix.visit(row, |column, z| {
        while let [(c, x), tail @ ..] = rest
            && *c <= column
        {
            if *c == column {
                visit(*x, z);
            }
            rest = tail;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;
    use crate::kernel::{Gamma, KernelParams, Points, expand};

    /// Rows of two moons, moved away from the origin.
    fn moons(offset: f64) -> Points {
        let data = generate("moons", 40, 3).unwrap();
        let moved = data.matrix().rebuild(2, |_, entries, out| {
            out.extend(entries.iter().map(|&(column, value)| (column, ((value * 64.0).round()) / 64.0 + offset)));
        });
        Points::new(moved, false)
    }

    fn kernels() -> Vec<KernelParams> {
        let gamma = Gamma::Value(0.5);
        vec![
            KernelParams::Linear,
            KernelParams::Polynomial { gamma, coef0: 1.0, degree: 3 },
            KernelParams::Rbf { gamma },
            KernelParams::Sigmoid { gamma, coef0: -0.5 },
            KernelParams::Laplacian { gamma },
            "0.5*rbf(gamma=0.5) + poly(gamma=0.5, coef0=1, degree=2) * linear".parse().unwrap(),
        ]
    }

    #[test]
    fn sums_are_those_of_f64_where_nothing_cancels() {
        let points = moons(0.0);
        let rows: Vec<usize> = (0..40).collect();
        let coefficients: Vec<f64> = (0..40).map(|k| f64::from(k % 7) - 2.5).collect();
        for params in kernels() {
            let kernel = params.check(points.matrix()).unwrap();
            let workers = Workers::none();
            let plain = expand(&kernel, points.rows(&rows), points.rows(&rows), &coefficients, &workers);
            let precise = precise_sums(
                &kernel,
                Exponential::Precise,
                points.rows(&rows),
                points.rows(&rows),
                &coefficients,
                0.25,
                &workers,
            );
            for (plain, precise) in plain.iter().zip(&precise) {
                assert!((plain + 0.25 - precise).abs() < 1e-11, "{kernel}: {plain} {precise}");
            }
        }
    }

    #[test]
    fn a_plain_exponential_leaves_the_digits_of_f64_also_of_rows_far_from_the_origin() {
        let points = moons(f64::from(1 << 26));
        let rows: Vec<usize> = (0..40).collect();
        let coefficients: Vec<f64> = (0..40).map(|k| f64::from(k % 7) - 2.5).collect();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) }.check(points.matrix()).unwrap();
        let sums = |exponential: Exponential| {
            let rows = points.rows(&rows);
            precise_sums(&kernel, exponential, rows, rows, &coefficients, 0.0, &Workers::none())
        };
        let (plain, precise) = (sums(Exponential::Plain), sums(Exponential::Precise));
        assert!(
            plain.iter().zip(&precise).all(|(plain, precise)| (plain - precise).abs() < 1e-14),
            "{plain:?} {precise:?}"
        );
        assert_ne!(plain, precise, "twice the digits show in the last one");
    }

    #[test]
    fn rows_that_are_spread_out_have_the_dot_products_of_their_entries() {
        for columns in [0, 1, 7, 8, 9, 40] {
            // Large terms of both signs that nearly cancel.
            let number = |k: usize| ((k * k + 3) as f64 * 0.7).sin() * 10f64.powi((k % 9) as i32 * 2 - 8);
            let x: Vec<f64> = (0..columns).map(number).collect();
            let z: Vec<f64> =
                (0..columns).map(|k| number(columns + 2 - k) * if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let terms = || x.iter().zip(&z).map(|(&x, &z)| DoubleDouble::product_of(x, z));
            let expected = terms().fold(DoubleDouble::ZERO, |sum, term| sum + term);
            let size: f64 = terms().map(|term| term.value().abs()).sum();
            let error = (compensated_dot(&x, &z) - expected).value().abs();
            assert!(error <= 1e-29 * size, "{columns} columns: {error:e} of {size:e}");
        }
    }

    #[test]
    fn sums_are_the_same_of_rows_that_are_spread_out_and_of_their_entries() {
        // One number in twenty is not 0.
        let number = |k: usize| if k % 20 == 3 { 1e6 + (k as f64 * 0.37).sin() } else { 0.0 };
        let matrix = Matrix::dense(30, 40, (0..1200).map(number).collect::<Vec<f64>>()).unwrap();
        let (full, sparse) = (Points::new(matrix.clone(), true), Points::new(matrix.to_sparse(), true));
        let rows: Vec<usize> = (0..30).collect();
        assert!(spread_out(full.rows(&rows)).is_some() && spread_out(sparse.rows(&rows)).is_none());
        let coefficients: Vec<f64> = (0..30).map(|k| f64::from(k % 7) - 2.5).collect();
        let workers = Workers::none();
        for params in kernels() {
            let kernel = params.check(full.matrix()).unwrap();
            let sums = |points: &Points| {
                precise_sums(
                    &kernel,
                    Exponential::Precise,
                    points.rows(&rows),
                    points.rows(&rows),
                    &coefficients,
                    0.25,
                    &workers,
                )
            };
            for (full, sparse) in sums(&full).iter().zip(sums(&sparse)) {
                assert!((full - sparse).abs() <= 1e-15 * full.abs(), "{kernel}: {full} {sparse}");
            }
        }
    }

    #[test]
    fn distances_of_rows_far_from_the_origin_keep_their_digits() {
        // The offset is a power of two, so that the rows moved are exactly the rows and the offset.
        let (near, far) = (moons(0.0), moons(f64::from(1 << 26)));
        let rows: Vec<usize> = (0..40).collect();
        let coefficients = vec![1.0; 40];
        let workers = Workers::none();
        let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) }.check(near.matrix()).unwrap();
        let sums = |points: &Points| {
            precise_sums(
                &kernel,
                Exponential::Precise,
                points.rows(&rows),
                points.rows(&rows),
                &coefficients,
                0.0,
                &workers,
            )
        };
        assert_eq!(sums(&near), sums(&far));
        // In f64, norms and dot products leave no digit of a distance.
        let naive = |j: usize| {
            let dot = |i: usize, j: usize| far.matrix().dot(i, &far.matrix().row(j));
            (-0.5 * (dot(0, 0) + dot(j, j) - 2.0 * dot(0, j)).max(0.0)).exp()
        };
        let naive: f64 = rows.iter().map(|&j| naive(j)).sum();
        assert!((naive - sums(&near)[0]).abs() > 0.1);
    }
}
