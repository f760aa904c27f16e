//! Columns brought to comparable ranges: learned on the training rows, applied to every row after.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Matrix;
use super::stored::{StoredRows, on_stored_rows};
use crate::error::Error;
use crate::workers::Workers;

/// The most numbers that scaling turns from sparse to dense: 8 GiB of them.
const MOST_DENSE_ENTRIES: usize = 1 << 30;

/// Ranges are found for parts of the rows: a part has so many entries a column at least, and there are so many parts at most.
const ENTRIES_A_COLUMN: usize = 64;
const MOST_PARTS: usize = 16;

/// Rows that a thread scales at a time.
const ROWS_A_CHUNK: usize = 256;

/// Fewest columns that a thread sums up: with fewer, threads share cache lines of the rows.
const COLUMNS_A_CHUNK: usize = 16;

/// How columns are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum ScalingKind {
    /// Not at all.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "none"))]
    None,
    /// To mean 0 and standard deviation 1.
    #[cfg_attr(feature = "serde", serde(rename = "standard"))]
    Standard,
    /// To the range from 0 to 1.
    #[cfg_attr(feature = "serde", serde(rename = "minmax"))]
    MinMax,
}

impl ScalingKind {
    /// Every kind.
    pub const ALL: [ScalingKind; 3] = [ScalingKind::None, ScalingKind::Standard, ScalingKind::MinMax];

    /// The word used in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            ScalingKind::None => "none",
            ScalingKind::Standard => "standard",
            ScalingKind::MinMax => "minmax",
        }
    }
}

/// An offset and a factor for each column:
///
/// ```text
/// x′ⱼ = (xⱼ − offsetⱼ) · factorⱼ                                        (S.1)
/// ```
///
/// | kind | offset | factor |
/// | --- | --- | --- |
/// | `none` | 0 | 1 |
/// | `standard` | mean μ | 1/σ, with σ² = 1/n Σ (xᵢ − μ)² |
/// | `minmax` | least value | 1/(largest − least) |
///
/// A column of one value has the offset of its kind and the factor 1, so it becomes 0. Sums are taken of numbers divided by
/// the largest among them, so columns near the limits of f64 do not overflow; a factor that would be infinite (a range
/// below 1e-308) is the largest finite number instead.
///
/// # Examples
/// ```
/// use maxmargin::data::{Matrix, Scaling, ScalingKind};
///
/// let matrix = Matrix::dense(3, 1, vec![10.0, 20.0, 30.0])?;
/// let scaling = Scaling::learn(ScalingKind::MinMax, &matrix);
/// let new = scaling.apply(&Matrix::dense(1, 1, vec![25.0])?)?;
/// assert_eq!(new.row(0), [0.75]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts"))]
pub struct Scaling {
    kind: ScalingKind,
    offsets: Vec<f64>,
    factors: Vec<f64>,
}

/// A scaling as it is written down, not yet checked.
#[cfg(feature = "serde")]
#[derive(Deserialize)]
struct Parts {
    kind: ScalingKind,
    offsets: Vec<f64>,
    factors: Vec<f64>,
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Scaling {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self, Error> {
        Scaling::from_parts(parts.kind, parts.offsets, parts.factors)
    }
}

impl Scaling {
    /// Learns offsets and factors. Dense and sparse matrices of the same numbers give the same bits.
    ///
    /// Cost: O(entries), twice for `standard`.
    pub fn learn(kind: ScalingKind, matrix: &Matrix) -> Self {
        Scaling::learn_by(kind, matrix, &Workers::none())
    }

    /// [`Scaling::learn`] on several threads, to the same bits.
    pub fn learn_by(kind: ScalingKind, matrix: &Matrix, workers: &Workers) -> Self {
        let ranges = ranges(matrix, workers);
        let mut offsets = vec![0.0; matrix.columns()];
        let mut factors = vec![1.0; matrix.columns()];
        match kind {
            ScalingKind::None => {}
            ScalingKind::MinMax => {
                for (column, range) in ranges.iter().enumerate() {
                    offsets[column] = range.least;
                    if range.varies() {
                        // Halves, because the range itself may overflow.
                        factors[column] = (0.5 / range.half()).min(f64::MAX);
                    }
                }
            }
            ScalingKind::Standard => {
                let (means, deviations) = moments(matrix, &ranges, workers);
                for (column, range) in ranges.iter().enumerate() {
                    offsets[column] = if range.varies() { means[column] } else { range.least };
                    if range.varies() && deviations[column] > 0.0 {
                        factors[column] = (1.0 / deviations[column]).min(f64::MAX);
                    }
                }
            }
        }
        Scaling { kind, offsets, factors }
    }

    /// Bytes that [`Scaling::learn`] takes for data of this many columns, at most: ranges with their counts twice, four numbers for the
    /// moments, an offset and a factor.
    pub fn bytes_to_learn(columns: usize) -> u64 {
        96 * columns as u64
    }

    /// A scaling from its parts, as a model file holds them.
    ///
    /// # Errors
    /// When offsets and factors are not equally many, an offset is not finite, a factor is not positive and finite, or
    /// the kind is `none` and a column would change.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::{Scaling, ScalingKind};
    ///
    /// assert!(Scaling::from_parts(ScalingKind::Standard, vec![5.0], vec![0.5]).is_ok());
    /// assert!(Scaling::from_parts(ScalingKind::Standard, vec![5.0], vec![0.0]).is_err());
    /// ```
    pub fn from_parts(kind: ScalingKind, offsets: Vec<f64>, factors: Vec<f64>) -> Result<Self, Error> {
        if offsets.len() != factors.len() {
            return Err(Error::Shape {
                operation: "scaling",
                left: format!("{} offsets", offsets.len()),
                right: format!("{} factors", factors.len()),
            });
        }
        for (column, (&offset, &factor)) in offsets.iter().zip(&factors).enumerate() {
            let sound = offset.is_finite() && factor > 0.0 && factor.is_finite();
            let unchanged = offset == 0.0 && factor == 1.0;
            if !(sound && (unchanged || kind != ScalingKind::None)) {
                return Err(Error::Data {
                    what: format!(
                        "the scaling {} has offset {offset} and factor {factor} in column {}",
                        kind.name(),
                        column + 1
                    ),
                    help: match kind {
                        ScalingKind::None => "the scaling none has offset 0 and factor 1 in each column".into(),
                        _ => "offsets are finite, factors finite and above 0".into(),
                    },
                });
            }
        }
        Ok(Scaling { kind, offsets, factors })
    }

    /// Scales each column of a matrix (S.1). The result is in f64; with the kind `none` it is the matrix itself.
    ///
    /// A sparse matrix stays sparse as long as every zero that it leaves out stays zero, that is, when the offset of
    /// each such column is 0; otherwise the result is dense. So `minmax` keeps data sparse whose numbers are not
    /// negative, and `standard` seldom does.
    ///
    /// Cost: O(entries); when a sparse matrix becomes dense, O(rows × columns).
    ///
    /// # Errors
    /// When the matrix has another number of columns, a scaled number is too large for f64, or the dense result would
    /// have more than 2³⁰ numbers.
    pub fn apply(&self, matrix: &Matrix) -> Result<Matrix, Error> {
        self.apply_by(matrix, &Workers::none())
    }

    /// [`Scaling::apply`] on several threads.
    ///
    /// # Errors
    /// As [`Scaling::apply`].
    pub fn apply_by(&self, matrix: &Matrix, workers: &Workers) -> Result<Matrix, Error> {
        if matrix.columns() != self.offsets.len() {
            return Err(Error::Shape {
                operation: "scaling",
                left: format!("data of {} columns", matrix.columns()),
                right: format!("a scaling of {} columns", self.offsets.len()),
            });
        }
        if self.kind == ScalingKind::None {
            return Ok(matrix.clone());
        }
        match matrix {
            Matrix::Sparse(csr) if self.keeps_zeros(matrix) => {
                let mut values = Vec::with_capacity(matrix.entries());
                for row in 0..matrix.rows() {
                    matrix.visit(row, |column, value| values.push(self.scaled(column, value)));
                }
                let (offsets, indices) = (csr.offsets().to_vec(), csr.indices().to_vec());
                Matrix::sparse(matrix.rows(), matrix.columns(), offsets, indices, values)
            }
            _ => self.apply_dense(matrix, workers),
        }
        .map_err(|error| match error {
            Error::Data { .. } | Error::NotFinite { .. } => Error::Data {
                what: format!("scaled with {}: {error}", self.kind.name()),
                help: "learn the scaling on data of the same range, or leave the row out".into(),
            },
            other => other,
        })
    }

    fn apply_dense(&self, matrix: &Matrix, workers: &Workers) -> Result<Matrix, Error> {
        let columns = matrix.columns();
        let size = matrix.rows().saturating_mul(columns);
        if matches!(matrix, Matrix::Sparse(_)) && size > MOST_DENSE_ENTRIES {
            return Err(Error::Combination {
                what: format!(
                    "the scaling {} would turn {} sparse rows x {columns} columns dense, which are more than {MOST_DENSE_ENTRIES} numbers",
                    self.kind.name(),
                    matrix.rows()
                ),
                help: "use the scaling none, or minmax on columns without negative numbers".into(),
            });
        }
        let zeros: Vec<f64> = (0..columns).map(|column| self.scaled(column, 0.0)).collect();
        let mut values = vec![0.0; size];
        let width = columns.max(1);
        workers.fill_chunks(&mut values, ROWS_A_CHUNK * width, |start, chunk| {
            on_stored_rows!(matrix, stored => for (k, scaled) in chunk.chunks_exact_mut(width).enumerate() {
                scaled.copy_from_slice(&zeros);
                stored.visit(start / width + k, |column, value| scaled[column] = self.scaled(column, value));
            });
        });
        Matrix::dense_with(matrix.rows(), columns, values, workers)
    }

    /// (S.1), also when the difference overflows and the result does not.
    fn scaled(&self, column: usize, value: f64) -> f64 {
        let (offset, factor) = (self.offsets[column], self.factors[column]);
        let difference = value - offset;
        if difference.is_finite() { difference * factor } else { value * factor - offset * factor }
    }

    /// Whether every zero that the matrix leaves out stays zero.
    fn keeps_zeros(&self, matrix: &Matrix) -> bool {
        if self.offsets.iter().all(|&offset| offset == 0.0) {
            return true;
        }
        let mut stored = vec![0; matrix.columns()];
        (0..matrix.rows()).for_each(|row| matrix.visit(row, |column, _| stored[column] += 1));
        self.offsets.iter().zip(&stored).all(|(&offset, &stored)| offset == 0.0 || stored == matrix.rows())
    }

    /// The number of columns it was learnt from.
    pub fn columns(&self) -> usize {
        self.offsets.len()
    }

    /// The kind.
    pub fn kind(&self) -> ScalingKind {
        self.kind
    }

    /// What is taken from each column.
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// What each column is then multiplied by.
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }
}

/// The widest and the narrowest of the columns that vary, and how many times the one's range holds the other's.
///
/// `None` when fewer than two columns vary. The ratio is infinite where f64 ends. A kernel of distances or dot
/// products hardly sees the narrow column when the ratio is over 100, so callers warn then. Of equal columns the first is
/// named. Cost: O(entries).
///
/// # Examples
/// ```
/// use maxmargin::Workers;
/// use maxmargin::data::{Matrix, range_ratio};
///
/// let matrix = Matrix::dense(2, 3, vec![0.0, 7.0, 5.0, 1000.0, 7.0, 6.0])?;
/// assert_eq!(range_ratio(&matrix, &Workers::none()), Some((0, 2, 1000.0)));
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn range_ratio(matrix: &Matrix, workers: &Workers) -> Option<(usize, usize, f64)> {
    if let Some(columns) = matrix.few_occupied_columns() {
        // The others do not vary.
        let (wide, narrow, ratio) = range_ratio(&matrix.narrowed(&columns), workers)?;
        return Some((columns[wide] as usize, columns[narrow] as usize, ratio));
    }
    let (mut widest, mut narrowest) = (None::<(usize, f64)>, None::<(usize, f64)>);
    let mut varying = 0;
    for (column, range) in ranges(matrix, workers).iter().enumerate().filter(|(_, range)| range.varies()) {
        varying += 1;
        if widest.is_none_or(|(_, half)| range.half() > half) {
            widest = Some((column, range.half()));
        }
        if narrowest.is_none_or(|(_, half)| range.half() < half) {
            narrowest = Some((column, range.half()));
        }
    }
    let ((wide, most), (narrow, least)) = (widest?, narrowest?);
    (varying >= 2).then_some((wide, narrow, most / least))
}

/// The least and the largest value of a column.
#[derive(Clone, Copy)]
struct Range {
    least: f64,
    largest: f64,
}

impl Range {
    fn varies(self) -> bool {
        self.largest > self.least
    }

    /// Half of the width, which is finite where the width is not.
    fn half(self) -> f64 {
        let half = 0.5 * self.largest - 0.5 * self.least;
        // Halves of the smallest numbers of all may vanish.
        if half > 0.0 { half } else { self.largest - self.least }
    }
}

/// The range of each column, zeros that are left out included; 0 to 0 when there are no rows.
fn ranges(matrix: &Matrix, workers: &Workers) -> Vec<Range> {
    let nothing = (Range { least: f64::INFINITY, largest: f64::NEG_INFINITY }, 0);
    let parts = (matrix.entries() / (ENTRIES_A_COLUMN * matrix.columns()).max(1)).clamp(1, MOST_PARTS);
    let found = workers.map_chunks(matrix.rows(), matrix.rows().div_ceil(parts), |rows| {
        let mut part = vec![nothing; matrix.columns()];
        on_stored_rows!(matrix, stored => for row in rows {
            stored.visit(row, |column, value| {
                if value != 0.0 {
                    let (range, count) = &mut part[column];
                    range.least = if value < range.least { value } else { range.least };
                    range.largest = if value > range.largest { value } else { range.largest };
                    *count += 1;
                }
            });
        });
        part
    });
    let mut ranges = vec![nothing; matrix.columns()];
    for part in found {
        for ((range, count), (other, more)) in ranges.iter_mut().zip(part) {
            *range = Range { least: range.least.min(other.least), largest: range.largest.max(other.largest) };
            *count += more;
        }
    }
    let whole = |(range, count): (Range, usize)| match count {
        0 => Range { least: 0.0, largest: 0.0 },
        _ if count < matrix.rows() => Range { least: range.least.min(0.0), largest: range.largest.max(0.0) },
        _ => range,
    };
    ranges.into_iter().map(whole).collect()
}

/// Sums over the non-zeros of each column, in the order of the rows. Threads share the columns of full rows, so they change no bits.
fn column_sums<const K: usize>(
    matrix: &Matrix,
    workers: &Workers,
    terms: impl Fn(usize, f64) -> [f64; K] + Sync,
) -> Vec<[f64; K]> {
    let mut sums = vec![[0.0; K]; matrix.columns()];
    let columns_a_thread = match matrix {
        Matrix::Dense(_) => matrix.columns().div_ceil(workers.threads()).max(COLUMNS_A_CHUNK),
        Matrix::Sparse(_) => matrix.columns(),
    };
    on_stored_rows!(matrix, stored => workers.fill_chunks(&mut sums, columns_a_thread, |first, sums| {
        (0..matrix.rows()).for_each(|row| add_terms(&stored, row, first, sums, &terms));
    }));
    sums
}

/// Adds the terms of a row's entries to the sums of the columns from `first` on. A sparse row has all of its columns among them.
fn add_terms<R: StoredRows, const K: usize>(
    rows: &R,
    row: usize,
    first: usize,
    sums: &mut [[f64; K]],
    terms: &impl Fn(usize, f64) -> [f64; K],
) {
    let add = |sum: &mut [f64; K], column: usize, value: f64| {
        if value != 0.0 {
            sum.iter_mut().zip(terms(column, value)).for_each(|(sum, term)| *sum += term);
        }
    };
    match rows.span(row..row + 1) {
        (None, values) => {
            let of_columns = sums.iter_mut().zip(&values[first..]).enumerate();
            of_columns.for_each(|(k, (sum, &value))| add(sum, first + k, value.into()));
        }
        (Some(columns), values) => {
            let entries = columns.iter().zip(values);
            entries.for_each(|(&column, &value)| add(&mut sums[column as usize], column as usize, value.into()));
        }
    }
}

/// Mean and standard deviation of each column, with m = ⌊max |xᵢ|⌋₂ so that nothing overflows:
///
/// ```text
/// tᵢ = xᵢ/m,   t̄ = 1/n Σ tᵢ,   dᵢ = (tᵢ − t̄)/D,  D = ⌊max |tᵢ − t̄|⌋₂    (S.2)
/// μ = m (t̄ + D/n Σ dᵢ),   σ = m D √(1/n Σ dᵢ² − (1/n Σ dᵢ)²)            (S.3)
/// ```
///
/// ⌊·⌋₂ is the power of two below, because dividing by it does not round. The sum of dᵢ would be 0 in exact arithmetic; it takes the rounding out of the mean. Zeros are counted and not
/// visited, so dense and sparse agree in every bit.
fn moments(matrix: &Matrix, ranges: &[Range], workers: &Workers) -> (Vec<f64>, Vec<f64>) {
    let (rows, columns) = (matrix.rows() as f64, matrix.columns());
    let largest: Vec<f64> =
        ranges.iter().map(|range| power_of_two(range.largest.abs().max(range.least.abs()))).collect();
    // (S.2)
    let sums = column_sums(matrix, workers, |column, value| [value / largest[column], 1.0]);
    let means: Vec<f64> = sums.iter().map(|[sum, _]| sum / rows).collect();
    let zeros: Vec<f64> = sums.iter().map(|[_, count]| rows - count).collect();
    let spreads: Vec<f64> = (0..columns)
        .map(|column| {
            let far = |value: f64| (value / largest[column] - means[column]).abs();
            power_of_two(far(ranges[column].least).max(far(ranges[column].largest)))
        })
        .collect();
    let deviations = column_sums(matrix, workers, |column, value| {
        let deviation = (value / largest[column] - means[column]) / spreads[column];
        [deviation, deviation * deviation]
    });
    // (S.3)
    (0..columns)
        .map(|column| {
            if !ranges[column].varies() {
                return (ranges[column].least, 0.0);
            }
            let of_zero = -means[column] / spreads[column];
            let [first, second] = deviations[column];
            let first = (first + zeros[column] * of_zero) / rows;
            let second = (second + zeros[column] * of_zero * of_zero) / rows;
            let mean = largest[column] * (means[column] + spreads[column] * first);
            (mean, largest[column] * spreads[column] * (second - first * first).max(0.0).sqrt())
        })
        .unzip()
}

/// The largest power of two that is not above `number`, which is not negative; at least 2⁻¹⁰²².
fn power_of_two(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(values: &[f64]) -> Matrix {
        Matrix::dense(values.len(), 1, values.to_vec()).unwrap()
    }

    fn numbers(matrix: &Matrix) -> Vec<f64> {
        (0..matrix.rows()).flat_map(|row| matrix.row(row)).collect()
    }

    /// The numbers of one column, scaled by what was learned from them.
    fn scaled(kind: ScalingKind, values: &[f64]) -> Vec<f64> {
        let matrix = column(values);
        numbers(&Scaling::learn(kind, &matrix).apply(&matrix).unwrap())
    }

    #[test]
    fn threads_learn_and_apply_the_same_bits() {
        let value = |k: usize| if k.is_multiple_of(5) { 0.0 } else { ((k * 7919) % 1013) as f64 * 0.37 - 101.0 };
        let dense = Matrix::dense(700, 41, (0..700 * 41).map(value).collect::<Vec<f64>>()).unwrap();
        for matrix in [dense.to_sparse(), dense] {
            for kind in ScalingKind::ALL {
                let alone = Scaling::learn(kind, &matrix);
                let scaled = alone.apply(&matrix).unwrap();
                for threads in [2, 3] {
                    let workers = Workers::new(threads).unwrap();
                    assert_eq!(Scaling::learn_by(kind, &matrix, &workers), alone);
                    let found = alone.apply_by(&matrix, &workers).unwrap();
                    (0..700).for_each(|row| assert_eq!(found.row(row), scaled.row(row)));
                }
            }
        }
    }

    #[test]
    fn tiny_columns_come_out_exactly() {
        assert_eq!(scaled(ScalingKind::Standard, &[1.0, 3.0]), [-1.0, 1.0]);
        assert_eq!(scaled(ScalingKind::MinMax, &[2.0, 4.0, 3.0]), [0.0, 1.0, 0.5]);
        assert_eq!(scaled(ScalingKind::None, &[2.0, 4.0, 3.0]), [2.0, 4.0, 3.0]);
        for kind in ScalingKind::ALL {
            assert_eq!(Scaling::learn(kind, &column(&[])).factors(), [1.0]);
            assert!(Scaling::learn(kind, &Matrix::without_columns(3)).factors().is_empty());
        }
    }

    #[test]
    fn constant_columns_become_zero() {
        for kind in [ScalingKind::Standard, ScalingKind::MinMax] {
            for value in [0.1, -7.3, 1e150, 0.0, 5e-324] {
                assert_eq!(scaled(kind, &[value; 7]), [0.0; 7], "{} of {value}", kind.name());
            }
        }
    }

    #[test]
    fn columns_near_the_limits_of_f64_do_not_overflow() {
        for size in [1e150, 1e300, f64::MAX, 1e-150, 1e-300] {
            let standard = scaled(ScalingKind::Standard, &[-size, size, -size, size]);
            let expected = [-1.0, 1.0, -1.0, 1.0];
            assert!(standard.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{size}: {standard:?}");
            let minmax = scaled(ScalingKind::MinMax, &[-size, size, 0.0]);
            assert!(minmax.iter().zip([0.0, 1.0, 0.5]).all(|(a, b)| (a - b).abs() < 1e-12), "{size}: {minmax:?}");
        }
        for kind in [ScalingKind::Standard, ScalingKind::MinMax] {
            assert!(scaled(kind, &[0.0, 5e-324, 1e-320]).iter().all(|value| value.is_finite()));
        }
    }

    #[test]
    fn a_small_spread_on_a_large_mean_is_kept() {
        let values = scaled(ScalingKind::Standard, &[1e15, 1e15 + 0.5, 1e15 + 1.0]);
        assert!((values[2] - 1.5f64.sqrt()).abs() < 1e-6 && (values[0] + 1.5f64.sqrt()).abs() < 1e-6, "{values:?}");
    }

    #[test]
    fn sparse_stays_sparse_while_its_zeros_stay_zero() {
        let kept = Matrix::sparse(3, 2, vec![0, 1, 3, 4], vec![0, 0, 1, 0], vec![4.0, 2.0, 8.0, 3.0]).unwrap();
        // Column 1 is stored in each row, so its offset of 2 moves no zero that is left out.
        let out = Scaling::learn(ScalingKind::MinMax, &kept).apply(&kept).unwrap();
        assert!(matches!(out, Matrix::Sparse(_)));
        assert_eq!(numbers(&out), [1.0, 0.0, 0.0, 1.0, 0.5, 0.0]);
        let out = Scaling::learn(ScalingKind::Standard, &kept).apply(&kept).unwrap();
        assert!(matches!(out, Matrix::Dense(_)));
        let moved = Matrix::sparse(2, 1, vec![0, 1, 1], vec![0], vec![-4.0]).unwrap();
        let out = Scaling::learn(ScalingKind::MinMax, &moved).apply(&moved).unwrap();
        assert!(matches!(out, Matrix::Dense(_)));
        assert_eq!(numbers(&out), [0.0, 1.0]);
    }

    #[test]
    fn a_sparse_matrix_too_large_to_be_dense_is_refused() {
        let rows = 1usize << 20;
        let mut offsets = vec![1u64; rows + 1];
        offsets[0] = 0;
        let matrix = Matrix::sparse(rows, 1 << 11, offsets, vec![0], vec![-1.0]).unwrap();
        let error = Scaling::learn(ScalingKind::MinMax, &matrix).apply(&matrix).unwrap_err();
        assert!(
            error.to_string().starts_with("the scaling minmax would turn 1048576 sparse rows x 2048 columns dense")
        );
        assert!(error.help().contains("none"));
    }

    #[test]
    fn another_number_of_columns_and_an_overflow_are_errors_with_a_way_out() {
        let scaling = Scaling::learn(ScalingKind::MinMax, &column(&[0.0, 1e-300]));
        let error = scaling.apply(&Matrix::without_columns(2)).unwrap_err();
        assert_eq!(error.to_string(), "scaling: data of 0 columns does not fit a scaling of 1 columns");
        let error = scaling.apply(&column(&[0.0, 1e300])).unwrap_err();
        assert_eq!(error.to_string(), "scaled with minmax: the value in row 2, column 1 is inf");
        assert_eq!(error.help(), "learn the scaling on data of the same range, or leave the row out");
    }

    #[test]
    fn parts_are_checked_and_survive_json() {
        let scaling = Scaling::learn(ScalingKind::Standard, &column(&[0.1, 0.2, 0.7]));
        let text = serde_json::to_string(&scaling).unwrap();
        assert!(text.starts_with(r#"{"kind":"standard","#), "{text}");
        assert_eq!(serde_json::from_str::<Scaling>(&text).unwrap(), scaling);
        for (kind, offset, factor) in [
            (ScalingKind::Standard, f64::NAN, 1.0),
            (ScalingKind::Standard, 0.0, 0.0),
            (ScalingKind::MinMax, 0.0, f64::INFINITY),
            (ScalingKind::MinMax, 0.0, -1.0),
            (ScalingKind::None, 1.0, 1.0),
            (ScalingKind::None, 0.0, 2.0),
        ] {
            assert!(Scaling::from_parts(kind, vec![offset], vec![factor]).is_err(), "{offset} {factor}");
        }
        assert!(Scaling::from_parts(ScalingKind::None, vec![0.0], vec![]).is_err());
        let bad = r#"{"kind":"minmax","offsets":[1.0],"factors":[0.0]}"#;
        let message = serde_json::from_str::<Scaling>(bad).unwrap_err().to_string();
        assert!(message.contains("the scaling minmax has offset 1 and factor 0 in column 1"), "{message}");
    }

    #[test]
    fn kinds_are_spelled_in_json_as_their_names() {
        for kind in ScalingKind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn the_ratio_of_ranges_needs_two_columns_that_vary() {
        assert_eq!(range_ratio(&column(&[1.0, 2.0]), &Workers::none()), None);
        let matrix = Matrix::dense(2, 3, vec![0.0, 3.0, -f64::MAX, 1.0, 3.0, f64::MAX]).unwrap();
        assert_eq!(range_ratio(&matrix, &Workers::none()), Some((2, 0, f64::INFINITY)));
        let equal = Matrix::dense(2, 2, vec![0.0, 3.0, 1.0, 4.0]).unwrap();
        assert_eq!(range_ratio(&equal, &Workers::none()), Some((0, 0, 1.0)));
        let sparse = Matrix::sparse(2, 2, vec![0, 2, 2], vec![0, 1], vec![8.0, 2.0]).unwrap();
        assert_eq!(range_ratio(&sparse, &Workers::none()), Some((0, 1, 4.0)));
    }

    proptest! {
        #[test]
        fn scaled_columns_have_the_moments_and_ranges_asked_for(
            values in prop::collection::vec(prop_oneof![Just(0.0), -1e3..1e3f64], 2..40), power in -140..140i32
        ) {
            let values: Vec<f64> = values.iter().map(|value| value * 10f64.powi(power)).collect();
            prop_assume!(values.iter().any(|value| *value != values[0]));
            let (standard, minmax) = (scaled(ScalingKind::Standard, &values), scaled(ScalingKind::MinMax, &values));
            let rows = values.len() as f64;
            prop_assert!((standard.iter().sum::<f64>() / rows).abs() < 1e-9);
            prop_assert!((standard.iter().map(|value| value * value).sum::<f64>() / rows - 1.0).abs() < 1e-9);
            prop_assert!(minmax.iter().all(|value| (0.0..=1.0 + 1e-12).contains(value)));
            prop_assert!(minmax.contains(&0.0) && minmax.iter().any(|value| (value - 1.0).abs() < 1e-12));
        }

        #[test]
        fn dense_and_sparse_agree_in_every_bit(
            values in prop::collection::vec(prop_oneof![Just(0.0), -1e3..1e3f64], 20)
        ) {
            let dense = Matrix::dense(5, 4, values).unwrap();
            let sparse = dense.to_sparse();
            for kind in ScalingKind::ALL {
                let scaling = Scaling::learn(kind, &dense);
                prop_assert_eq!(&scaling, &Scaling::learn(kind, &sparse));
                prop_assert_eq!(numbers(&scaling.apply(&dense).unwrap()), numbers(&scaling.apply(&sparse).unwrap()));
            }
        }
    }
}
