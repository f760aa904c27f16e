//! Decision values as if each row had been left out, from the one fit that there is.
//!
//! ```text
//! free vectors F, K over them, D the ridge of squared losses, u = (K + D)⁻¹1, s = 1′u
//! free i:        f₋ᵢ(x_i) = f(x_i) − c_i (1/d_i − D_ii),   d_i = [(K + D)⁻¹]_ii − u_i²/s
//! at its bound:  f₋ᵢ(x_i) = f(x_i) − c_i S²,               S² = k_ii − k_i′(K + D)⁻¹k_i + (1 − u′k_i)²/s            (PR.9)
//! ```
//!
//! Without an explicit bias the terms with s are not there. These are (PR.3): what the optimum does when a row's coefficient goes to 0 while
//! free vectors stay free and bounded ones bounded. Where C is large they do not stay so, and the formula goes too far: no value is moved
//! beyond those of rows that are no support vectors, or, of a regression, beyond the targets.
//!
//! Cost: |F|³ for the factor and its inverse, |F|² for each row at its bound.
//!
//! # References
//! Opper, Winther 2000, Gaussian processes and SVM: mean field and leave-one-out; Vapnik, Chapelle 2000, Bounds on error expectation
//! for support vector machines.

use std::ops::ControlFlow;

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatMut, Par};

use crate::control::Stop;
use crate::problem::{Bias, MarginProblem};
use crate::solver::cholesky::{Factor, factor};

/// Multiplications up to which the formula costs less than fits without some rows.
const MOST_WORK: f64 = 1e11;
/// Free vectors beyond which their matrix takes too much memory.
const MOST_FREE: usize = 10_000;
/// Columns solved for at a time.
const COLUMNS: usize = 64;
/// The least pivot of a factor, relative to its diagonal: rows that are copies of others have none of their own.
const LEAST_PIVOT: f64 = 1e-10;
/// How near to its bound a coefficient is at it.
const AT_BOUND: f64 = 1e-8;

/// The values f₋ᵢ(x_i), given the coefficients c_i and the values f(x_i) of a problem's rows. `None` where that costs too much, unless any
/// cost will do, or where the matrix cannot be factored.
pub(super) fn values(
    problem: &MarginProblem<'_>,
    coefficients: &[f64],
    mut values: Vec<f64>,
    any_cost: bool,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Vec<f64>>> {
    let loss = problem.row_loss();
    let cost = |i: usize| problem.costs()[i];
    let is_free = |i: usize| coefficients[i].abs() < loss.bound(cost(i)) * (1.0 - AT_BOUND);
    let support = || (0..problem.len()).filter(|&i| coefficients[i] != 0.0);
    let (free, bounded): (Vec<usize>, Vec<usize>) = support().partition(|&i| is_free(i));
    let size = free.len() as f64;
    if free.len() > MOST_FREE || !any_cost && size * size * (size + bounded.len() as f64) > MOST_WORK {
        return ControlFlow::Continue(None);
    }
    let gram = problem.gram();
    let rows_of = |list: &[usize]| -> Vec<usize> { list.iter().map(|&i| problem.rows()[i]).collect() };
    let (free_rows, bounded_rows) = (rows_of(&free), rows_of(&bounded));
    let ridge: Vec<f64> = free.iter().map(|&i| loss.ridge(cost(i))).collect();
    let Some(plane) = Plane::new(problem, &free_rows, &ridge, poll)? else {
        return ControlFlow::Continue(None);
    };
    let diagonals = gram.diagonal(problem.rows());
    let farthest = 4.0 * diagonals.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    // Where rows that are no support vectors lie, those that are would lie at the farthest, if they were none.
    let (lowest, highest) = if problem.task().is_regression() {
        let ends = problem.targets().iter().fold((f64::MAX, f64::MIN), |(low, high), &t| (low.min(t), high.max(t)));
        (ends.0, ends.1)
    } else {
        let others = (0..problem.len()).filter(|&i| coefficients[i] == 0.0);
        let most = others.fold(1.0, |most: f64, i| most.max(values[i].abs()));
        (-most, most)
    };
    let mut shift = |i: usize, distance: f64| {
        let moved = values[i] - coefficients[i] * distance.clamp(0.0, farthest); // (PR.3)
        values[i] = moved.clamp(values[i].min(lowest), values[i].max(highest));
    };
    for (k, &i) in free.iter().enumerate() {
        let own = plane.inverse_diagonal[k];
        let distance = if own > 0.0 { 1.0 / own - ridge[k] } else { farthest };
        shift(i, distance); // (PR.9)
    }
    let mut block = vec![0.0; COLUMNS * free.len()];
    for (list, rows) in bounded.chunks(COLUMNS).zip(bounded_rows.chunks(COLUMNS)) {
        poll()?;
        let block = &mut block[..list.len() * free.len()];
        gram.block(rows, &free_rows, block);
        let distances = plane.distances(block, &rows_of_diagonal(&diagonals, list));
        list.iter().zip(distances).for_each(|(&i, distance)| shift(i, distance));
    }
    ControlFlow::Continue(Some(values))
}

/// The diagonal at some places.
fn rows_of_diagonal(diagonals: &[f64], list: &[usize]) -> Vec<f64> {
    list.iter().map(|&i| diagonals[i]).collect()
}

/// The plane through the free vectors.
struct Plane {
    factor: Factor,
    /// d of (PR.9)
    inverse_diagonal: Vec<f64>,
    /// u and s, with an explicit bias and a free vector.
    border: Option<(Vec<f64>, f64)>,
}

impl Plane {
    /// Factors the matrix of the free vectors; `None` where that cannot be done.
    fn new(
        problem: &MarginProblem<'_>,
        rows: &[usize],
        ridge: &[f64],
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Option<Self>> {
        let size = rows.len();
        let mut matrix = vec![0.0; size * size];
        problem.gram().block(rows, rows, &mut matrix);
        let column = |j: usize, out: &mut [f64]| {
            // Symmetric: a row of what lies there is a column.
            out.copy_from_slice(&matrix[j * size + j..(j + 1) * size]);
            out[0] += ridge[j];
        };
        let Some(factor) = factor(size, &column, LEAST_PIVOT, problem.workers(), poll)? else {
            return ControlFlow::Continue(None);
        };
        drop(matrix);
        let mut inverse_diagonal = vec![0.0; size];
        // [(LL′)⁻¹]_ii = ‖L⁻¹e_i‖²
        for (chunk, start) in inverse_diagonal.chunks_mut(COLUMNS).zip((0..).step_by(COLUMNS)) {
            poll()?;
            // Above its own place a column of L⁻¹ is 0.
            let mut columns = Mat::from_fn(size - start, chunk.len(), |i, j| f64::from(u8::from(i == j)));
            let rest = factor.lower().as_ref().submatrix(start, start, size - start, size - start);
            solve_lower_triangular_in_place(rest, columns.as_mut(), Par::Seq);
            for (j, own) in chunk.iter_mut().enumerate() {
                *own = columns.col_as_slice(j).iter().map(|value| value * value).sum();
            }
        }
        let border = (problem.bias() == Bias::Explicit && size > 0).then(|| {
            let mut u = vec![1.0; size];
            factor.solve(&mut u);
            let sum: f64 = u.iter().sum();
            (u, sum)
        });
        if let Some((u, sum)) = border.as_ref().filter(|(_, sum)| *sum > 0.0) {
            inverse_diagonal.iter_mut().zip(u).for_each(|(own, u)| *own -= u * u / sum); // (PR.9)
        }
        ControlFlow::Continue(Some(Plane { factor, inverse_diagonal, border }))
    }

    /// S² of (PR.9) for some vectors: their kernel values with the free ones, a row each, are overwritten.
    fn distances(&self, block: &mut [f64], diagonals: &[f64]) -> Vec<f64> {
        let size = self.inverse_diagonal.len();
        if size == 0 {
            return diagonals.to_vec();
        }
        let of_border = |row: &[f64]| match &self.border {
            Some((u, sum)) if *sum > 0.0 => {
                let lacks = 1.0 - u.iter().zip(row).map(|(u, k)| u * k).sum::<f64>();
                lacks * lacks / sum
            }
            _ => 0.0,
        };
        let borders: Vec<f64> = block.chunks(size).map(of_border).collect();
        let columns = MatMut::from_column_major_slice_mut(block, size, diagonals.len());
        solve_lower_triangular_in_place(self.factor.lower().as_ref(), columns, Par::Seq);
        let squares = block.chunks(size).map(|column| column.iter().map(|value| value * value).sum::<f64>());
        diagonals.iter().zip(squares).zip(borders).map(|((own, square), border)| own - square + border).collect()
    }
}
