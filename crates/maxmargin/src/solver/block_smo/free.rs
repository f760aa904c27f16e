//! Newton's method on the coefficients of a block that lie between their bounds, the others held fixed.
//!
//! Let F be the free coefficients and `e_k = v_k − kink_k sign(c_k)`. With the sums of (B.6) held fixed, the optimum over F is the step d with
//!
//! ```text
//! (K_FF + ridge) d + Σ_g λ_g 1_g = e,   1_g′d = 0 for each sum g                                      (B.7)
//! ```
//!
//! unless a coefficient meets a bound on the way. Then the step ends there, the coefficient leaves F, its row leaves the factor of the
//! matrix, and the rest goes on. After the part t of a step `e ← (1 − t) e + t λ`, so kernel rows are read only at the end.
//!
//! Cost: m³/3 multiplications for the factor of m coefficients, about 4m² for each that meets a bound, and m kernel rows at the end.

use faer::{Mat, Side};

use super::block::Block;
use crate::problem::Coupling;
use crate::simd::Real;

/// The ridge that is tried first, as a part of the largest diagonal entry times m.
const FIRST_RIDGE: f64 = 1e-15;

/// [`FIRST_RIDGE`] for kernel values in single precision, about a tenth of what they are rounded by. Smaller: a factorisation fails before one
/// succeeds.
const FIRST_RIDGE_OF_SINGLE: f64 = 1e-9;

/// The factor from one ridge to the next.
const NEXT_RIDGE: f64 = 100.0;

/// The largest ridge that is tried, as a part of the largest diagonal entry times m. Beyond it there is no direction.
const LAST_RIDGE: f64 = 1e-5;

/// The most rows of a matrix that is factored row by row here. For so few, preparing the library's factorisation takes longer.
const FEW: usize = 48;

/// The time of a multiplication in a factorisation (`OF_FACTOR`) and in solving or removing a row (`OF_SOLVE`), in the time of one in a pair
/// step.
const OF_FACTOR: f64 = 0.05;
const OF_SOLVE: f64 = 2.0;

/// The least cost of Newton's method on `free` coefficients of a block, in multiplications of a pair step.
pub(super) fn least_work(free: usize, size: usize) -> f64 {
    let m = free as f64;
    OF_FACTOR * m * m * m + 2.0 * OF_SOLVE * m * m + m * size as f64
}

/// The coefficients between their bounds.
pub(super) fn free<T: Real>(block: &Block<T>) -> Vec<usize> {
    let between = |&k: &usize| {
        let c = block.coefficient[k];
        block.low[k] < c && c < block.high[k] && !(block.kink[k] > 0.0 && c == 0.0)
    };
    (0..block.len()).filter(between).collect()
}

/// What Newton's method has done.
pub(super) struct Newton {
    /// Its cost, in multiplications of a pair step.
    pub(super) work: f64,
    /// Directions that were followed.
    pub(super) steps: u64,
    /// Whether any coefficient has moved.
    pub(super) moved: bool,
}

/// Moves the free coefficients of a block towards their optimum, until `budget` is used up. A step that does not lower the objective is undone.
pub(super) fn newton<T: Real>(block: &mut Block<T>, coupling: Coupling, places: Vec<usize>, budget: f64) -> Newton {
    let mut work = least_work(places.len(), block.len());
    let nothing = |work: f64| Newton { work, steps: 0, moved: false };
    let Some(mut factor) = Factor::of(block, &places) else { return nothing(work) };
    let slope = |block: &Block<T>, k: usize| {
        let kink = if block.coefficient[k] < 0.0 { -block.kink[k] } else { block.kink[k] };
        block.value[k] - kink
    };
    let before: Vec<(usize, f64, f64)> = places.iter().map(|&k| (k, block.coefficient[k], slope(block, k))).collect();
    let mut slopes: Vec<f64> = before.iter().map(|&(_, _, slope)| slope).collect();
    let (mut places, mut steps) = (places, 0);
    while !places.is_empty() {
        let Some((direction, levels)) = direction(&factor, block, coupling, &places, &slopes) else { break };
        steps += 1;
        let (mut part, mut met) = (1.0, None);
        for (place, (&k, &change)) in places.iter().zip(&direction).enumerate() {
            let end = if change > 0.0 { block.end_above(k) } else { block.end_below(k) };
            let room = (end - block.coefficient[k]) / change;
            if change != 0.0 && room < part {
                (part, met) = (room.max(0.0), Some((place, end)));
            }
        }
        for (&k, &change) in places.iter().zip(&direction) {
            let (low, high) = (block.end_below(k), block.end_above(k));
            block.coefficient[k] = (block.coefficient[k] + part * change).clamp(low, high);
        }
        for (slope, &k) in slopes.iter_mut().zip(&places) {
            *slope = (1.0 - part) * *slope + part * levels[usize::from(block.second[k])];
        }
        let Some((place, end)) = met else { break };
        block.coefficient[places[place]] = end;
        work += OF_SOLVE * 2.0 * (places.len() * places.len()) as f64;
        if work > budget {
            break;
        }
        factor.remove(place);
        places.remove(place);
        slopes.remove(place);
    }
    let moves: Vec<(usize, f64)> = before
        .iter()
        .map(|&(k, coefficient, _)| (k, block.coefficient[k] - coefficient))
        .filter(|&(_, change)| change != 0.0)
        .collect();
    if moves.is_empty() {
        return nothing(work);
    }
    block.move_by(&moves);
    // The objective falls by ½ Σ Δc (e before + e after). A coefficient that met its kink has the slope of the side it came from.
    let gain: f64 = before
        .iter()
        .map(|&(k, coefficient, slope)| {
            let kink = if coefficient < 0.0 { -block.kink[k] } else { block.kink[k] };
            0.5 * (block.coefficient[k] - coefficient) * (slope + block.value[k] - kink)
        })
        .sum();
    if !(gain > 0.0) {
        let back: Vec<(usize, f64)> = moves.iter().map(|&(k, change)| (k, -change)).collect();
        block.move_by(&back);
        before.iter().for_each(|&(k, coefficient, _)| block.coefficient[k] = coefficient);
        return nothing(work);
    }
    Newton { work, steps, moved: true }
}

/// The direction d of (B.7), and λ of each sum. `None` where d is not finite.
fn direction<T: Real>(
    factor: &Factor,
    block: &Block<T>,
    coupling: Coupling,
    places: &[usize],
    slopes: &[f64],
) -> Option<(Vec<f64>, [f64; 2])> {
    let mut direction = factor.solve(slopes.to_vec());
    let mut levels = [0.0; 2];
    if coupling != Coupling::None {
        let by_sign = coupling == Coupling::BySign;
        let second = |k: usize| by_sign && block.second[k];
        let indicator = |wanted: bool| -> Vec<f64> {
            places.iter().map(|&k| if second(k) == wanted { 1.0 } else { 0.0 }).collect()
        };
        let groups: &[bool] = if by_sign { &[false, true] } else { &[false] };
        let sums: Vec<Vec<f64>> =
            groups.iter().map(|&group| indicator(group)).filter(|sum| sum.contains(&1.0)).collect();
        let solved: Vec<Vec<f64>> = sums.iter().map(|sum| factor.solve(sum.clone())).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let lambdas: [f64; 2] = match sums.as_slice() {
            [sum] => [product(sum, &direction) / product(sum, &solved[0]), 0.0],
            [one, other] => {
                let (a, b, d) = (product(one, &solved[0]), product(one, &solved[1]), product(other, &solved[1]));
                let (p, q) = (product(one, &direction), product(other, &direction));
                let determinant = a * d - b * b;
                [(d * p - b * q) / determinant, (a * q - b * p) / determinant]
            }
            _ => return None,
        };
        for ((lambda, solved), sum) in lambdas.iter().zip(&solved).zip(&sums) {
            direction.iter_mut().zip(solved).for_each(|(d, z)| *d -= lambda * z);
            let first = sum.iter().position(|&one| one == 1.0)?;
            levels[usize::from(block.second[places[first]])] = *lambda;
        }
        if !by_sign {
            levels = [lambdas[0]; 2];
        }
        // Takes the rounding error of the sums off d, so that the sums stay fixed.
        for sum in &sums {
            let left = product(sum, &direction) / product(sum, sum);
            direction.iter_mut().zip(sum).for_each(|(d, one)| *d -= left * one);
        }
    }
    direction.iter().all(|d| d.is_finite()).then_some((direction, levels))
}

/// L of `L L′ = K_FF + ridge`, from which rows can be removed.
struct Factor {
    size: usize,
    /// The rows up to the diagonal, one after the other. Row i begins at `row_start(i)`.
    lower: Vec<f64>,
}

/// Where row i of a lower triangle begins, stored row after row.
fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

impl Factor {
    /// Factors the matrix of these coefficients with the smallest ridge that makes it positive; `None` if none does.
    fn of<T: Real>(block: &Block<T>, places: &[usize]) -> Option<Self> {
        let size = places.len();
        let entry = |i: usize, j: usize| -> f64 { block.row(places[i])[places[j]].into() };
        let largest = (0..size).map(|i| entry(i, i) + block.ridge[places[i]]).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        // Kernel values in single precision are rounded by more than the ridge of double precision.
        let mut part = if size_of::<T>() == size_of::<f64>() { FIRST_RIDGE } else { FIRST_RIDGE_OF_SINGLE };
        while part <= LAST_RIDGE {
            let ridge = part * largest * size as f64;
            let ridged = |i: usize, j: usize| {
                let own = if i == j { block.ridge[places[i]] + ridge } else { 0.0 };
                entry(i, j) + own
            };
            let lower = if size <= FEW { lower_of_few(size, ridged) } else { lower_of_many(size, ridged) };
            if let Some(lower) = lower {
                return Some(Factor { size, lower });
            }
            part *= NEXT_RIDGE;
        }
        None
    }

    /// Row i, up to its entry on the diagonal.
    fn row(&self, i: usize) -> &[f64] {
        &self.lower[row_start(i)..row_start(i + 1)]
    }

    /// Solves `L L′ x = rhs`.
    fn solve(&self, mut x: Vec<f64>) -> Vec<f64> {
        for i in 0..self.size {
            let row = self.row(i);
            let sum = dot(&row[..i], &x[..i]);
            x[i] = (x[i] - sum) / row[i];
        }
        for i in (0..self.size).rev() {
            let row = self.row(i);
            let (before, own) = x.split_at_mut(i);
            own[0] /= row[i];
            before.iter_mut().zip(row).for_each(|(x, value)| *x -= own[0] * value);
        }
        x
    }

    /// Removes row and column `place` from the matrix. Rotations move the entries of its column into the rows below.
    fn remove(&mut self, place: usize) {
        self.size -= 1;
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(self.size - place);
        for i in place..self.size {
            // Row i + 1 becomes row i, without its entry in the column.
            let from = row_start(i + 1);
            let mut extra = self.lower[from + place];
            self.lower.copy_within(from..from + place, row_start(i));
            self.lower.copy_within(from + place + 1..row_start(i + 2), row_start(i) + place);
            let row = &mut self.lower[row_start(i)..row_start(i + 1)];
            for (value, &(cosine, sine)) in row[place..].iter_mut().zip(&rotations) {
                (*value, extra) = (cosine * *value + sine * extra, cosine * extra - sine * *value);
            }
            let own = row[i];
            let length = own.hypot(extra);
            rotations.push((own / length, extra / length));
            row[i] = length;
        }
        self.lower.truncate(row_start(self.size));
    }
}

/// The rows of L of a small matrix; `None` where it is not positive.
fn lower_of_few(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Vec<f64>> {
    let mut lower: Vec<f64> = Vec::with_capacity(row_start(size));
    for i in 0..size {
        let start = row_start(i);
        for j in 0..i {
            let (row, before) = (&lower[start..], &lower[row_start(j)..row_start(j + 1)]);
            let value = (entry(i, j) - dot(row, &before[..j])) / before[j];
            lower.push(value);
        }
        let row = &lower[start..];
        let square = entry(i, i) - dot(row, row);
        if !(square > 0.0) {
            return None;
        }
        lower.push(square.sqrt());
    }
    Some(lower)
}

/// The rows of L of a larger matrix; `None` where it is not positive.
fn lower_of_many(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Vec<f64>> {
    let found = Mat::from_fn(size, size, entry).llt(Side::Lower).ok()?;
    let lower = found.L();
    Some((0..size).flat_map(|i| (0..=i).map(move |j| lower[(i, j)])).collect())
}

/// ⟨a, b⟩ with eight running sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (first, last) = a.as_chunks::<8>();
    let (other, rest) = b.as_chunks::<8>();
    for (a, b) in first.iter().zip(other) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + last.iter().zip(rest).map(|(a, b)| a * b).sum::<f64>()
}
