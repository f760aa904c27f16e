//! Linear problems in one form, and the passes over their rows that every method for them is made of.

use std::ops::Range;

use super::{Bias, ManyRows, MarginProblem, Pulls, RowLoss};
use crate::data::Matrix;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::workers::Workers;

/// A linear problem
///
/// ```text
/// min  ½‖w‖² + qb + Σ_i C_i ℓ(⟨w, x_i⟩ + b, t_i)                             (LP.1)
/// ```
///
/// with one of the losses of (R.1), over some rows of a matrix. A folded b is part of ‖w‖², an explicit one is not; q is 0 but
/// for one-class problems. The dual is
///
/// ```text
/// max  Σ_i −(C_iℓ)*(−c_i) − ½‖Σ c_i x_i‖²,   explicit b:  Σ c_i = q            (LP.2)
/// ```
#[derive(Clone, Debug)]
pub(crate) struct LinearProblem<'a> {
    pub(crate) matrix: &'a Matrix,
    /// The rows' places in the matrix.
    pub(crate) rows: &'a [usize],
    /// ‖x‖² of every row of the matrix, the constant of a folded bias included.
    pub(crate) squares: &'a [f64],
    /// t_i
    pub(crate) targets: &'a [f64],
    /// C_i, finite and above 0.
    pub(crate) costs: &'a [f64],
    pub(crate) loss: RowLoss,
    pub(crate) bias: Bias,
    /// q
    pub(crate) pull_on_bias: f64,
    pub(crate) workers: &'a Workers,
}

impl<'a> LinearProblem<'a> {
    /// A problem with the linear kernel.
    pub(crate) fn of_margin(problem: &'a MarginProblem<'a>) -> Self {
        LinearProblem {
            matrix: problem.points().matrix(),
            rows: problem.rows(),
            squares: problem.points().squared_norms(),
            targets: problem.targets(),
            costs: problem.costs(),
            loss: problem.row_loss(),
            bias: problem.bias(),
            pull_on_bias: problem.pull_on_bias(),
            workers: problem.workers(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.matrix.columns()
    }

    /// f_i of one row.
    pub(crate) fn value(&self, i: usize, weights: &[f64], bias: f64) -> f64 {
        on_stored_rows!(self.matrix, rows => rows.dot(self.rows[i], weights)) + bias
    }

    /// f_i of every row.
    pub(crate) fn values(&self, weights: &[f64], bias: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        self.workers.fill_chunks(&mut values, 1024, |start, chunk| {
            on_stored_rows!(self.matrix, rows => for (k, value) in chunk.iter_mut().enumerate() {
                *value = rows.dot(self.rows[start + k], weights) + bias;
            });
        });
        values
    }

    /// ‖x_i‖², the constant of a folded bias included.
    #[inline]
    pub(crate) fn square(&self, i: usize) -> f64 {
        self.squares[self.rows[i]]
    }

    /// The largest ‖x_i‖.
    pub(crate) fn longest_row(&self) -> f64 {
        let larger = |one: f64, other: f64| if other > one { other } else { one };
        let longest = |range: Range<usize>| range.map(|i| self.square(i)).fold(0.0, larger);
        self.workers.map_chunks(self.len(), ROWS_A_CHUNK, longest).into_iter().fold(0.0, larger).sqrt()
    }

    /// How large decision values are: 1 where they tell classes apart, else as large as what they have to meet.
    pub(crate) fn scale(&self) -> f64 {
        let mean = |of: &dyn Fn(usize) -> f64| (0..self.len()).map(of).sum::<f64>() / self.len().max(1) as f64;
        let scale = match self.loss {
            RowLoss::Hinge | RowLoss::Squared | RowLoss::Logistic => 1.0,
            RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
                let centre = mean(&|i| self.targets[i]);
                mean(&|i| (self.targets[i] - centre).abs()).max(width)
            }
            RowLoss::OneClass | RowLoss::Ball => self.pull_on_bias * mean(&|i| self.square(i)),
        };
        if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
    }

    /// Changes coefficients until their sum is q, as an explicit bias asks: those between their bounds first, since those at
    /// a bound most likely belong there. The heavier sign is lowered; where the sum is to grow (one class), all are raised.
    pub(crate) fn balance(&self, coefficients: &mut [f64]) {
        self.balance_some(coefficients, &[false, true]);
    }

    /// [`LinearProblem::balance`] with coefficients between their bounds alone, as far as these suffice.
    pub(crate) fn balance_free(&self, coefficients: &mut [f64]) {
        self.balance_some(coefficients, &[false]);
    }

    fn balance_some(&self, coefficients: &mut [f64], kinds: &[bool]) {
        let excess = coefficients.iter().sum::<f64>() - self.pull_on_bias;
        let (heavier, mut excess, grows) = (excess.signum(), excess.abs(), excess < 0.0 && self.pull_on_bias > 0.0);
        let bound = |i: usize| self.loss.bound(self.costs[i]);
        let bounded = |i: usize, c: f64| if grows { c == 0.0 } else { c.abs() >= bound(i) };
        // What a row can give up or, where the sum grows, take in.
        let room = |i: usize, c: f64| if grows { bound(i) - c } else { (c * heavier).max(0.0) };
        for &at_bound in kinds {
            let chosen: Vec<usize> = (0..self.len()).filter(|&i| bounded(i, coefficients[i]) == at_bound).collect();
            let mass: f64 = chosen.iter().map(|&i| room(i, coefficients[i])).sum();
            if excess > 0.0 && mass > 0.0 {
                let part = (excess / mass).min(1.0);
                chosen.iter().for_each(|&i| coefficients[i] -= heavier * part * room(i, coefficients[i]));
                excess = (excess - mass).max(0.0);
            }
        }
    }

    /// What a single row of the mean cost curves when its loss is smoothed with this sharpness.
    pub(crate) fn least_curvature(&self, sharpness: f64) -> f64 {
        sharpness * self.costs.iter().sum::<f64>() / self.len().max(1) as f64
    }

    /// `Σ_i −(C_iℓ)*(−c_i)`, what the rows add to the dual.
    pub(crate) fn dual_terms(&self, coefficients: &[f64]) -> f64 {
        let terms = |range: Range<usize>| self.many(range.clone()).dual_terms(&coefficients[range]);
        self.workers.map_chunks(self.len(), ROWS_A_CHUNK, terms).iter().sum()
    }

    /// `Σ_i C_i ℓ(f_i, t_i)`
    pub(crate) fn losses(&self, values: &[f64]) -> f64 {
        let losses = |range: Range<usize>| self.many(range.clone()).losses(&values[range]);
        self.workers.map_chunks(self.len(), ROWS_A_CHUNK, losses).iter().sum()
    }

    /// Some of the rows.
    pub(crate) fn many(&self, range: Range<usize>) -> ManyRows<'a> {
        ManyRows { loss: self.loss, targets: &self.targets[range.clone()], costs: &self.costs[range] }
    }

    /// How many parts the rows are cut into: each part sums on its own, in a vector of one number a column. The number depends
    /// on the problem alone, so that the sums do, too.
    fn parts(&self) -> usize {
        let entries = self.matrix.entries() as u64 * self.len() as u64 / self.matrix.rows().max(1) as u64;
        (entries / (ENTRIES_A_COLUMN * self.columns() as u64 + LEAST_ENTRIES)).clamp(1, MOST_PARTS) as usize
    }

    /// The rows of a part.
    fn range(&self, part: usize, parts: usize) -> Range<usize> {
        let place = |k: usize| (self.len() as u128 * k as u128 / parts as u128) as usize;
        place(part)..place(part + 1)
    }
}

/// Rows that a thread sums the terms of at a time.
const ROWS_A_CHUNK: usize = 8192;
/// A part pays when it has so many entries for each number that it sums into, and so many at least.
const ENTRIES_A_COLUMN: u64 = 6;
const LEAST_ENTRIES: u64 = 20_000;
/// The most parts: what more than so many threads would gain, their sums would cost.
const MOST_PARTS: u64 = 16;

/// Rows whose numbers are looked at before they are added up: they stay in the nearest cache.
const ROWS_AT_ONCE: usize = 128;

/// A vector of the size of w, and the number that belongs to b.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Direction {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

impl Direction {
    pub(crate) fn zero(columns: usize) -> Self {
        Direction { weights: vec![0.0; columns], bias: 0.0 }
    }

    /// `self += scale · other`
    pub(crate) fn add(&mut self, scale: f64, other: &Direction) {
        self.weights.iter_mut().zip(&other.weights).for_each(|(own, other)| *own += scale * other);
        self.bias += scale * other.bias;
    }

    /// The dot product, b included.
    pub(crate) fn dot(&self, other: &Direction) -> f64 {
        dot(&self.weights, &other.weights) + self.bias * other.bias
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.bias.is_finite() && self.weights.iter().all(|weight| weight.is_finite())
    }
}

/// A dot product of eight sums side by side.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (blocks, rest) = left.as_chunks::<8>();
    let (others, end) = right.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (block, other) in blocks.iter().zip(others) {
        (0..8).for_each(|lane| sums[lane] += block[lane] * other[lane]);
    }
    sums.iter().sum::<f64>() + rest.iter().zip(end).map(|(a, b)| a * b).sum::<f64>()
}

/// What a row adds to the sums of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowSums {
    /// Σ C_i ℓ
    pub(crate) losses: f64,
    /// Σ −(C_iℓ)*(−c_i)
    pub(crate) dual_terms: f64,
    /// Σ c_i δ_i, the slope of the losses along the last step, and Σ h_i δ_i², their curvature.
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
    /// Σ h_i
    pub(crate) curvatures: f64,
    /// The largest |c_i − c′_i|/(C_i σ) of a row that is not at a bound.
    pub(crate) largest_shift: f64,
}

impl RowSums {
    fn join(&mut self, other: &RowSums) {
        self.losses += other.losses;
        self.dual_terms += other.dual_terms;
        self.slope += other.slope;
        self.curvature += other.curvature;
        self.curvatures += other.curvatures;
        self.largest_shift = self.largest_shift.max(other.largest_shift);
    }
}

/// A number of each row.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowState {
    /// f_i
    pub(crate) values: Vec<f64>,
    /// c_i
    pub(crate) coefficients: Vec<f64>,
    /// h_i
    pub(crate) curvatures: Vec<f64>,
    /// How f_i changed with the last step of length 1.
    pub(crate) changes: Vec<f64>,
    /// c′_i of (R.3); empty for losses that are smooth.
    pub(crate) centres: Vec<f64>,
    /// What the last step of length 1 should have made of c_i, (LP.3); empty where nobody wants to know.
    pub(crate) foreseen: Vec<f64>,
    /// σ of (R.3)
    pub(crate) sharpness: f64,
}

/// What a pass along a direction found.
pub(crate) struct Advanced {
    /// `Σ c_i x_i` and `Σ c_i`
    pub(crate) combined: Direction,
    /// `Σ c_i x_i` of the coefficients of (LP.3), where they were asked for and need no balance because b is not explicit.
    pub(crate) foreseen: Option<Direction>,
    pub(crate) sums: RowSums,
}

/// The passes over a problem's rows, with the memory that they reuse.
pub(crate) struct Passes<'p, 'a> {
    problem: &'p LinearProblem<'a>,
    sums: Vec<Direction>,
}

/// A part of the rows, and what a pass writes for them.
struct Part<'s> {
    range: Range<usize>,
    sum: &'s mut Direction,
    values: &'s mut [f64],
    coefficients: &'s mut [f64],
    curvatures: &'s mut [f64],
    changes: &'s mut [f64],
    /// Empty, or one a row.
    foreseen: &'s mut [f64],
    /// The sums of c and of what was foreseen of it side by side; empty where the latter is not summed.
    both: Vec<[f64; 2]>,
    /// `Σ` of what was foreseen of c
    foreseen_bias: f64,
}

impl<'p, 'a> Passes<'p, 'a> {
    pub(crate) fn new(problem: &'p LinearProblem<'a>) -> Self {
        let sums = vec![Direction::zero(problem.columns()); problem.parts()];
        Passes { problem, sums }
    }

    /// Goes along a direction, by all of it: f, c and h of every row are those after it, and `Σ c_i x_i` is found.
    ///
    /// Without a direction f stays as it is. With one, and room for it, the rows keep what it should have made of c, were the slopes of
    /// the losses straight lines, as near to that as (R.1) allows:
    ///
    /// ```text
    /// c_i − h_i δ_i,   δ_i the change of f_i                                      (LP.3)
    /// ```
    pub(crate) fn advance(&mut self, state: &mut RowState, direction: Option<&Direction>) -> Advanced {
        let (problem, count) = (self.problem, self.sums.len());
        let (centres, sharpness) = (&state.centres, state.sharpness);
        let mut parts = Vec::with_capacity(count);
        let mut rest =
            (&mut state.values[..], &mut state.coefficients[..], &mut state.curvatures[..], &mut state.changes[..]);
        let mut foreseen_left = &mut state.foreseen[..];
        let sums_both = direction.is_some() && !foreseen_left.is_empty() && problem.bias != Bias::Explicit;
        for (k, sum) in self.sums.iter_mut().enumerate() {
            let range = problem.range(k, count);
            let length = range.len();
            let (values, values_left) = rest.0.split_at_mut(length);
            let (coefficients, coefficients_left) = rest.1.split_at_mut(length);
            let (curvatures, curvatures_left) = rest.2.split_at_mut(length);
            let (changes, changes_left) = rest.3.split_at_mut(length);
            rest = (values_left, coefficients_left, curvatures_left, changes_left);
            let (foreseen, others) = foreseen_left.split_at_mut(length.min(foreseen_left.len()));
            foreseen_left = others;
            let both = vec![[0.0; 2]; if sums_both { problem.columns() } else { 0 }];
            parts.push(Part {
                range,
                sum,
                values,
                coefficients,
                curvatures,
                changes,
                foreseen,
                both,
                foreseen_bias: 0.0,
            });
        }
        let found = problem.workers.map_parts(&mut parts, |part| {
            let centres = if centres.is_empty() { &[][..] } else { &centres[part.range.clone()] };
            on_stored_rows!(problem.matrix, rows => advance(problem, &rows, part, direction, centres, sharpness))
        });
        let foreseen = sums_both.then(|| {
            let mut total = Direction::zero(problem.columns());
            for part in &parts {
                total.weights.iter_mut().zip(&part.both).for_each(|(total, both)| *total += both[1]);
                total.bias += part.foreseen_bias;
            }
            total
        });
        drop(parts);
        let mut sums = RowSums::default();
        found.iter().for_each(|part| sums.join(part));
        Advanced { combined: self.folded(), foreseen, sums }
    }

    /// `Σ_i c_i x_i` and `Σ c_i`.
    pub(crate) fn combine(&mut self, coefficients: &[f64]) -> Direction {
        let (problem, count) = (self.problem, self.sums.len());
        let mut parts: Vec<(usize, &mut Direction)> = self.sums.iter_mut().enumerate().collect();
        problem.workers.map_parts(&mut parts, |(k, sum)| {
            clear(sum);
            on_stored_rows!(problem.matrix, rows => for i in problem.range(*k, count) {
                if coefficients[i] != 0.0 {
                    rows.add_scaled(problem.rows[i], coefficients[i], &mut sum.weights);
                    sum.bias += coefficients[i];
                }
            });
        });
        self.folded()
    }

    /// [`Passes::combine`] for two coefficients of each row, in one pass.
    pub(crate) fn combine_two(&self, coefficients: impl Fn(usize) -> [f64; 2] + Sync) -> [Direction; 2] {
        let (problem, count) = (self.problem, self.sums.len());
        let mut sums = vec![(vec![[0.0; 2]; problem.columns()], [0.0; 2]); count];
        let mut parts: Vec<(usize, _)> = sums.iter_mut().enumerate().collect();
        problem.workers.map_parts(&mut parts, |(k, (weights, biases))| {
            on_stored_rows!(problem.matrix, rows => for i in problem.range(*k, count) {
                let scales = coefficients(i);
                rows.add_lanes(problem.rows[i], &scales, weights);
                (0..2).for_each(|lane| biases[lane] += scales[lane]);
            });
        });
        std::array::from_fn(|lane| {
            let mut total = Direction::zero(problem.columns());
            for (weights, biases) in &sums {
                total.weights.iter_mut().zip(weights).for_each(|(total, part)| *total += part[lane]);
                total.bias += biases[lane];
            }
            total
        })
    }

    /// `Σ_i h_i (⟨p, x_i⟩ + p_b)(x_i, 1)`, the product of the losses' Hessian with p.
    pub(crate) fn curved(&mut self, curvatures: &[f64], along: &Direction) -> Direction {
        let (problem, count) = (self.problem, self.sums.len());
        let mut parts: Vec<(usize, &mut Direction)> = self.sums.iter_mut().enumerate().collect();
        problem.workers.map_parts(&mut parts, |(k, sum)| {
            clear(sum);
            on_stored_rows!(problem.matrix, rows => for i in problem.range(*k, count) {
                if curvatures[i] != 0.0 {
                    let row = problem.rows[i];
                    let scale = curvatures[i] * (rows.dot(row, &along.weights) + along.bias);
                    rows.add_scaled(row, scale, &mut sum.weights);
                    sum.bias += scale;
                }
            });
        });
        self.folded()
    }

    /// [`Passes::curved`], and sums of what `see` makes of each row's place, its `h_i (⟨p, x_i⟩ + p_b)` and its `⟨p, x_i⟩ + p_b`.
    pub(crate) fn curved_and_sums<const N: usize>(
        &mut self,
        curvatures: &[f64],
        along: &Direction,
        see: impl Fn(usize, f64, f64) -> [f64; N] + Sync,
    ) -> (Direction, [f64; N]) {
        let (problem, count) = (self.problem, self.sums.len());
        let mut parts: Vec<(usize, &mut Direction)> = self.sums.iter_mut().enumerate().collect();
        let found = problem.workers.map_parts(&mut parts, |(k, sum)| {
            clear(sum);
            let mut seen = [0.0; N];
            on_stored_rows!(problem.matrix, rows => for i in problem.range(*k, count) {
                if curvatures[i] != 0.0 {
                    let row = problem.rows[i];
                    let product = rows.dot(row, &along.weights) + along.bias;
                    let scale = curvatures[i] * product;
                    rows.add_scaled(row, scale, &mut sum.weights);
                    sum.bias += scale;
                    seen.iter_mut().zip(see(i, scale, product)).for_each(|(sum, term)| *sum += term);
                }
            });
            seen
        });
        let mut seen = [0.0; N];
        found.iter().for_each(|part| seen.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        (self.folded(), seen)
    }

    /// `Σ_i h_i x_ij²` for every column j, and `Σ h_i`: the diagonal of the losses' Hessian.
    pub(crate) fn diagonal(&mut self, curvatures: &[f64]) -> Direction {
        let (problem, count) = (self.problem, self.sums.len());
        let mut parts: Vec<(usize, &mut Direction)> = self.sums.iter_mut().enumerate().collect();
        problem.workers.map_parts(&mut parts, |(k, sum)| {
            clear(sum);
            on_stored_rows!(problem.matrix, rows => for i in problem.range(*k, count) {
                let curvature = curvatures[i];
                if curvature != 0.0 {
                    let weights = &mut sum.weights;
                    rows.visit(problem.rows[i], |column, value| weights[column] += curvature * value * value);
                    sum.bias += curvature;
                }
            });
        });
        self.folded()
    }

    /// The parts' sums in their order.
    fn folded(&self) -> Direction {
        let (first, others) = match self.sums.split_first() {
            Some(split) => split,
            None => return Direction::zero(self.problem.columns()),
        };
        let mut total = first.clone();
        others.iter().for_each(|part| total.add(1.0, part));
        total
    }
}

fn clear(sum: &mut Direction) {
    sum.weights.fill(0.0);
    sum.bias = 0.0;
}

/// (LP.3) for some rows of a part.
fn foresee(problem: &LinearProblem<'_>, part: &mut Part<'_>, block: Range<usize>) {
    let own = part.range.start + block.start..part.range.start + block.end;
    let (targets, costs) = (&problem.targets[own.clone()], &problem.costs[own]);
    let (foreseen, changes) = (&mut part.foreseen[block.clone()], &part.changes[block.clone()]);
    let (coefficients, curvatures) = (&part.coefficients[block.clone()], &part.curvatures[block]);
    for k in 0..foreseen.len() {
        let straight = coefficients[k] - curvatures[k] * changes[k];
        foreseen[k] = problem.loss.clipped(straight, targets[k], costs[k]);
    }
}

/// One part of [`Passes::advance`].
fn advance(
    problem: &LinearProblem<'_>,
    rows: &impl StoredRows,
    part: &mut Part<'_>,
    direction: Option<&Direction>,
    centres: &[f64],
    sharpness: f64,
) -> RowSums {
    let mut sums = RowSums::default();
    clear(part.sum);
    let length = part.range.len();
    for start in (0..length).step_by(ROWS_AT_ONCE) {
        let block = start..(start + ROWS_AT_ONCE).min(length);
        let first = part.range.start;
        let row = |k: usize| problem.rows[first + k];
        if let Some(direction) = direction {
            for k in block.clone() {
                let change = rows.dot(row(k), &direction.weights) + direction.bias;
                part.changes[k] = change;
                part.values[k] += change;
            }
            if !part.foreseen.is_empty() {
                foresee(problem, part, block.clone());
            }
        }
        let many = problem.many(part.range.start + block.start..part.range.start + block.end);
        let own_centres = centres.get(block.clone()).unwrap_or_default();
        let pulls = Pulls {
            coefficients: &mut part.coefficients[block.clone()],
            curvatures: &mut part.curvatures[block.clone()],
        };
        let (losses, dual_terms) = many.pulls(&part.values[block.clone()], own_centres, sharpness, pulls);
        sums.losses += losses;
        sums.dual_terms += dual_terms;
        for k in block {
            let (coefficient, curvature, change) = (part.coefficients[k], part.curvatures[k], part.changes[k]);
            if !part.both.is_empty() {
                let foreseen = part.foreseen[k];
                rows.add_lanes(row(k), &[coefficient, foreseen], &mut part.both);
                part.sum.bias += coefficient;
                part.foreseen_bias += foreseen;
            } else if coefficient != 0.0 {
                rows.add_scaled(row(k), coefficient, &mut part.sum.weights);
                part.sum.bias += coefficient;
            }
            sums.slope += coefficient * change;
            sums.curvature += curvature * change * change;
            sums.curvatures += curvature;
            // Also at the corner of a tube c was pulled by its centre.
            let moves = curvature != 0.0 || coefficient == 0.0 && matches!(problem.loss, RowLoss::Epsilon(_));
            if let (true, Some(centre)) = (moves, centres.get(k)) {
                let cost = problem.costs[part.range.start + k];
                sums.largest_shift = sums.largest_shift.max((coefficient - centre).abs() / (cost * sharpness));
            }
        }
    }
    part.sum.weights.iter_mut().zip(&part.both).for_each(|(sum, both)| *sum = both[0]);
    sums
}
