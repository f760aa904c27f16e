//! Machines of two classes with hinge loss, one after the other with rising C, on kernel values that are all in memory.
//!
//! **Problem.** C-SVC by (B.6): t = y = ±1, bounds `C w_i`, an explicit bias or none. One state c, v goes through all C.
//!
//! **Start.** The first C begins at the means of the classes, `c_i = C w_i y_i min(W₊, W₋)/W_{y_i}` with W the weight of a class. The next C′
//! begins at the best multiple of the solution for C, which needs no kernel values:
//!
//! ```text
//! a = clip(Σ|c_i| / c′Kc, 1, C′/C),   c ← a c,   u ← a u                                              (CH.1)
//! ```
//!
//! **Step.** A machine of few rows is one [`Block`]. A larger one is climbed block after block, as in `mod.rs`: a block of the variables that
//! violate most is solved, and each kernel row that moved is added to v of all columns of the table. Columns that are no rows of the machine
//! have the bound 0: they never move, and their u is known at the end. So held-out rows are predicted along the way. In a block, pair
//! steps alternate with Newton's method on the free coefficients (`free.rs`), which may cost as much as the pair steps did.
//!
//! **Stopping.** At the violation (D.2), or at a cap of steps. Where no coefficient is at its bound, the solution is that of every larger C.
//!
//! **Certificate.** With the slack `ξ_i = max(0, y_i (v_i − b))` and s the largest of them
//!
//! ```text
//! gap = min(½‖w‖² + C Σ w_i ξ_i,  ½‖w‖²/(1 − s)²) − (Σ|c_i| − ½‖w‖²),   ‖w‖² = Σ c_i u_i               (CH.2)
//! ```
//!
//! The second term is the objective of w/(1 − s), which has no slack; it keeps the gap of a saturated machine from growing with C.
//!
//! **Cost.** A pair step reads two kernel rows of the block; a block, two kernel rows of the table for each coefficient that moved.

use std::ops::ControlFlow;

use super::block::Block;
use super::choice::View;
use super::free::{free, least_work, newton};
use super::rows::add_rows;
use crate::control::Stop;
use crate::problem::Coupling;
use crate::simd::Real;

/// The most rows of a machine that is one block.
const WHOLE: usize = 1280;

/// The most variables of a block of a larger machine. More: fewer blocks, whose kernel values take longer to copy than the pair steps among them.
const MOST_IN_BLOCK: usize = 512;

/// The part of the violation that a block of a larger machine is solved to.
const WITHIN_BLOCK: f64 = 0.1;

/// The mean length of runs of neighbouring rows from which on kernel values are copied run by run.
const LEAST_RUN: usize = 8;

/// Pair steps of a round for each coefficient, and beside Newton's method where it leads.
const STEPS_A_COEFFICIENT: u64 = 1;
const LEAST_STEPS: u64 = 64;
const STEPS_BESIDE_NEWTON: u64 = 8;

/// Pair steps in a block of a larger machine, for each coefficient.
const STEPS_OF_BLOCK: u64 = 30;

/// The cost of a pair step, in multiplications, beside one multiplication for each coefficient.
const OF_STEP: f64 = 100.0;

/// The part of a bound up to which a coefficient is at the end of its range. Larger: coefficients that are free count as bounded.
const ROUNDING: f64 = 1e-12;

/// Pair steps end at this part of the tolerance, so that v computed anew does not exceed it.
const WITHIN: f64 = 0.9;

/// Rounds without a gain above rounding after which the search ends.
const MOST_IDLE: u32 = 12;

/// A machine: some rows of a table of kernel values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainProblem<'a, T> {
    /// Kernel values of all pairs of columns, row after row.
    pub(crate) table: &'a [T],
    /// How many rows and columns the table has.
    pub(crate) size: usize,
    /// The rows of the machine in the table.
    pub(crate) rows: &'a [usize],
    /// ±1 for each row of the machine.
    pub(crate) signs: &'a [f64],
    /// The factor on C for each row of the machine, above 0.
    pub(crate) weights: &'a [f64],
    /// Whether there is an explicit bias.
    pub(crate) has_bias: bool,
}

/// What is known of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChainSolution {
    /// b
    pub(crate) bias: f64,
    /// `‖w‖²`
    pub(crate) square: f64,
    /// Σ|c_i|
    pub(crate) sum: f64,
    /// The gap over the primal objective, (CH.2).
    pub(crate) gap: f64,
    /// Rows whose coefficient is not 0, and those at their bound.
    pub(crate) support: usize,
    pub(crate) bounded: usize,
    /// Steps for this C.
    pub(crate) steps: u64,
    /// Why it ended.
    pub(crate) stop: Stop,
    /// Whether it is the solution of the C before, which no coefficient at its bound kept from being the solution of every larger C.
    pub(crate) is_copy: bool,
}

/// A machine on its way through the C.
pub(crate) struct Chain<'a, T> {
    problem: ChainProblem<'a, T>,
    coupling: Coupling,
    cost: f64,
    /// c, and v, of the machine's rows; of a larger machine, v of all columns of the table.
    coefficients: Vec<f64>,
    values: Vec<f64>,
    /// The block of a small machine, or room for one.
    block: Block<T>,
    is_whole: bool,
    /// The rows of the last block of a larger machine.
    last: Vec<u32>,
    solved: Option<ChainSolution>,
}

impl<'a, T: Real> Chain<'a, T> {
    /// A machine before its first C.
    pub(crate) fn new(problem: ChainProblem<'a, T>) -> Self {
        let count = problem.rows.len();
        let is_whole = count <= WHOLE;
        let mut block = Block::new();
        if is_whole {
            load(&mut block, &problem, problem.rows);
        }
        Chain {
            problem,
            coupling: if problem.has_bias { Coupling::All } else { Coupling::None },
            cost: 0.0,
            coefficients: vec![0.0; count],
            values: vec![0.0; if is_whole { count } else { problem.size }],
            block,
            is_whole,
            last: Vec::new(),
            solved: None,
        }
    }

    /// Signed coefficients of the machine's rows.
    pub(crate) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// u of each row of the machine.
    pub(crate) fn sums(&self) -> impl Iterator<Item = f64> {
        let ChainProblem { rows, signs, .. } = self.problem;
        let value = |k: usize| self.values[if self.is_whole { k } else { rows[k] }];
        (0..rows.len()).map(move |k| signs[k] - value(k))
    }

    /// `Σ_j c_j K_ij` for these columns of the table, which may be rows of the machine or not.
    pub(crate) fn sums_at(&self, columns: &[usize]) -> Vec<f64> {
        let ChainProblem { table, size, rows, .. } = self.problem;
        if !self.is_whole && columns.iter().all(|column| rows.binary_search(column).is_err()) {
            return columns.iter().map(|&column| -self.values[column]).collect();
        }
        let moved = rows.iter().zip(&self.coefficients).filter(|(_, c)| **c != 0.0);
        let (Some(&first), Some(&last)) = (columns.iter().min(), columns.iter().max()) else { return Vec::new() };
        // Columns side by side, in whatever order, are read as one piece of each row.
        if last - first < 2 * columns.len() {
            let mut sums = vec![0.0; last - first + 1];
            let terms: Vec<(f64, &[T])> =
                moved.map(|(&row, &c)| (c, &table[row * size + first..=row * size + last])).collect();
            add_rows(&mut sums, &terms);
            return columns.iter().map(|&column| sums[column - first]).collect();
        }
        let mut sums = vec![0.0; columns.len()];
        for (&row, &c) in moved {
            let row = &table[row * size..][..size];
            sums.iter_mut().zip(columns).for_each(|(sum, &column)| *sum += c * Into::<f64>::into(row[column]));
        }
        sums
    }

    /// Solves for the next C, which must be larger than the one before. `poll` is asked between rounds; `None` when it breaks.
    pub(crate) fn solve(
        &mut self,
        cost: f64,
        tolerance: f64,
        most_steps: u64,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<ChainSolution> {
        if let Some(solved) = self.solved.filter(|solved| solved.bounded == 0 && solved.support > 0) {
            // Every larger C has this solution; what is left of its gap does not grow with C.
            self.cost = cost;
            let gap = self.judge(0, solved.stop).gap;
            return Some(ChainSolution { steps: 0, gap, is_copy: true, ..solved });
        }
        self.begin(cost);
        let (steps, stop) = if self.is_whole {
            self.climb_whole(tolerance, most_steps, poll)?
        } else {
            self.climb_blocks(tolerance, most_steps, poll)?
        };
        let solved = self.judge(steps, stop);
        self.solved = Some(solved);
        Some(solved)
    }

    /// The bound of a row.
    fn bound(&self, k: usize) -> f64 {
        self.cost * self.problem.weights[k]
    }

    /// Moves to the start for this C.
    fn begin(&mut self, cost: f64) {
        let ChainProblem { table, size, rows, signs, weights, has_bias } = self.problem;
        let before = std::mem::replace(&mut self.cost, cost);
        match self.solved {
            Some(solved) => {
                let most = cost / before;
                let wanted = solved.sum / solved.square;
                let factor = if wanted > 1.0 { wanted.min(most) } else { 1.0 }; // (CH.1); not a number where w is 0
                let is_full = factor == most;
                for k in 0..rows.len() {
                    let was_bounded = self.coefficients[k].abs() >= before * weights[k];
                    let scaled = factor * self.coefficients[k];
                    let bound = self.bound(k);
                    self.coefficients[k] =
                        if is_full && was_bounded { signs[k] * bound } else { scaled.clamp(-bound, bound) };
                }
                let places = if self.is_whole { rows.len() } else { size };
                let mut targets = vec![0.0; places];
                rows.iter().enumerate().for_each(|(k, &row)| targets[if self.is_whole { k } else { row }] = signs[k]);
                for (value, target) in self.values.iter_mut().zip(&targets) {
                    *value = target - factor * (target - *value);
                }
            }
            None => {
                let mut of_class = [0.0; 2];
                (0..rows.len()).for_each(|k| of_class[usize::from(signs[k] > 0.0)] += weights[k]);
                let least = of_class[0].min(of_class[1]);
                for k in 0..rows.len() {
                    let share = if has_bias { least / of_class[usize::from(signs[k] > 0.0)] } else { 1.0 };
                    self.coefficients[k] = signs[k] * (self.bound(k) * share).min(self.bound(k));
                }
                self.values.fill(0.0);
                if self.is_whole {
                    self.values.copy_from_slice(signs);
                    self.block.coefficient[..rows.len()].copy_from_slice(&self.coefficients);
                    let mut sums = vec![0.0; self.block.value.len()];
                    self.block.products(&mut sums);
                    self.values.iter_mut().zip(&sums).for_each(|(value, sum)| *value -= sum);
                } else {
                    rows.iter().zip(signs).for_each(|(&row, &sign)| self.values[row] = sign);
                    let terms: Vec<(f64, &[T])> = rows
                        .iter()
                        .zip(&self.coefficients)
                        .map(|(&row, &c)| (-c, &table[row * size..][..size]))
                        .collect();
                    add_rows(&mut self.values, &terms);
                }
            }
        }
    }

    /// Solves a machine that is one block.
    fn climb_whole(
        &mut self,
        tolerance: f64,
        most: u64,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<(u64, Stop)> {
        let count = self.problem.rows.len();
        for k in 0..count {
            let bound = self.bound(k);
            set(&mut self.block, k, self.problem.signs[k], self.values[k], self.coefficients[k], bound);
        }
        let found = climb(&mut self.block, self.coupling, tolerance, most, poll)?;
        self.coefficients.copy_from_slice(&self.block.coefficient[..count]);
        self.values.copy_from_slice(&self.block.value[..count]);
        Some(found)
    }

    /// Solves a larger machine, block after block.
    fn climb_blocks(
        &mut self,
        tolerance: f64,
        most: u64,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<(u64, Stop)> {
        let ChainProblem { table, size, rows, signs, .. } = self.problem;
        let count = rows.len();
        let upper: Vec<f64> = (0..count).map(|k| self.bound(k)).collect();
        let mut alpha: Vec<f64> = self.coefficients.iter().map(|c| c.abs()).collect();
        let mut own: Vec<f64> = rows.iter().map(|&row| self.values[row]).collect();
        let (mut steps, mut idle) = (0, 0);
        let stop = loop {
            let view = View { coupling: self.coupling, alpha: &alpha, upper: &upper, sign: signs, value: &own };
            let levels = view.levels(0..count);
            if !(levels.violation > tolerance) {
                break Stop::Converged;
            }
            if steps >= most {
                break Stop::IterationLimit;
            }
            if idle >= MOST_IDLE {
                break Stop::Stalled;
            }
            poll().continue_value()?;
            let chosen = view.choose(0..count, &levels, self.last.iter().copied(), MOST_IN_BLOCK.min(count));
            // In the order of the table, because neighbours there are neighbours in memory.
            let mut places: Vec<usize> = chosen.iter().map(|&k| k as usize).collect();
            places.sort_unstable();
            load(&mut self.block, &self.problem, &places.iter().map(|&k| rows[k]).collect::<Vec<_>>());
            for (place, &k) in places.iter().enumerate() {
                set(&mut self.block, place, signs[k], own[k], self.coefficients[k], upper[k]);
            }
            let goal = (WITHIN_BLOCK * levels.violation).max(WITHIN * tolerance);
            let limit = (STEPS_OF_BLOCK * chosen.len() as u64).min(most - steps);
            let (done, _) = climb(&mut self.block, self.coupling, goal, limit, poll)?;
            steps += done.max(1);
            let mut terms: Vec<(f64, &[T])> = Vec::new();
            for (place, &k) in places.iter().enumerate() {
                let change = self.block.coefficient[place] - self.coefficients[k];
                if change != 0.0 {
                    self.coefficients[k] = self.block.coefficient[place];
                    alpha[k] = self.coefficients[k].abs();
                    terms.push((-change, &table[rows[k] * size..][..size]));
                }
            }
            idle = if terms.is_empty() { idle + 1 } else { 0 };
            add_rows(&mut self.values, &terms);
            rows.iter().zip(&mut own).for_each(|(&row, own)| *own = self.values[row]);
            self.last = chosen;
        };
        Some((steps, stop))
    }

    /// What is known of the solution.
    fn judge(&self, steps: u64, stop: Stop) -> ChainSolution {
        let ChainProblem { rows, signs, weights, has_bias, .. } = self.problem;
        let value = |k: usize| self.values[if self.is_whole { k } else { rows[k] }];
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut sum, mut square, mut support, mut bounded) = (0.0, 0.0, 0, 0);
        let (mut of_free, mut free) = (0.0, 0.0);
        for k in 0..rows.len() {
            let (c, v, bound) = (self.coefficients[k], value(k), self.bound(k));
            // What rounding leaves of a coefficient at the end of its range is not free: b would be its v alone.
            let (is_bounded, is_zero) = (c.abs() >= bound * (1.0 - ROUNDING), c.abs() <= bound * ROUNDING);
            let is_positive = signs[k] > 0.0;
            if if is_positive { !is_bounded } else { !is_zero } {
                top = top.max(v);
            }
            if if is_positive { !is_zero } else { !is_bounded } {
                bottom = bottom.min(v);
            }
            if !is_zero && !is_bounded {
                (of_free, free) = (of_free + v, free + 1.0);
            }
            sum += c.abs();
            square += c * (signs[k] - v);
            support += usize::from(!is_zero);
            bounded += usize::from(is_bounded);
        }
        // As (D.3): the mean over the free coefficients, else the middle of what the others allow.
        let bias = match (has_bias, top.is_finite(), bottom.is_finite()) {
            (false, ..) | (true, false, false) => 0.0,
            _ if free > 0.0 => of_free / free,
            (true, true, true) => 0.5 * (top + bottom),
            (true, true, false) => top,
            (true, false, true) => bottom,
        };
        let (mut slack, mut most) = (0.0, 0.0f64);
        for k in 0..rows.len() {
            let own = signs[k] * (value(k) - bias);
            slack += weights[k] * own.max(0.0);
            most = most.max(own);
        }
        let mut primal = 0.5 * square + self.cost * slack;
        if most < 1.0 {
            primal = primal.min(0.5 * square / ((1.0 - most) * (1.0 - most)));
        }
        let gap = (primal - (sum - 0.5 * square)).max(0.0); // (CH.2)
        let gap = if primal > 0.0 { gap / primal } else { 0.0 };
        ChainSolution { bias, square, sum, gap, support, bounded, steps, stop, is_copy: false }
    }
}

/// Fills a block with the kernel values of some rows of the table.
fn load<T: Real>(block: &mut Block<T>, problem: &ChainProblem<'_, T>, rows: &[usize]) {
    block.resize(rows.len());
    let stride = Block::<T>::stride(rows.len());
    let runs: Vec<&[usize]> = rows.chunk_by(|one, next| *next == one + 1).collect();
    let has_runs = runs.len() * LEAST_RUN <= rows.len();
    for (&row, out) in rows.iter().zip(block.kernel.chunks_mut(stride.max(1))) {
        let own = &problem.table[row * problem.size..][..problem.size];
        if has_runs {
            let mut place = 0;
            for run in &runs {
                out[place..place + run.len()].copy_from_slice(&own[run[0]..][..run.len()]);
                place += run.len();
            }
        } else {
            out.iter_mut().zip(rows).for_each(|(out, &column)| *out = own[column]);
        }
    }
    block.measure();
}

/// Sets a variable of a block.
fn set<T: Real>(block: &mut Block<T>, place: usize, sign: f64, value: f64, coefficient: f64, bound: f64) {
    (block.low[place], block.high[place]) = if sign > 0.0 { (0.0, bound) } else { (-bound, 0.0) };
    (block.value[place], block.coefficient[place]) = (value, coefficient + 0.0);
}

/// Rounds of pair steps and of Newton's method until the violation within the block is at most `goal`. `None` when `poll` breaks.
fn climb<T: Real>(
    block: &mut Block<T>,
    coupling: Coupling,
    goal: f64,
    most: u64,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<(u64, Stop)> {
    let size = block.len();
    let round = (STEPS_A_COEFFICIENT * size as u64).max(LEAST_STEPS);
    let (mut steps, mut of_pairs, mut of_newton) = (0u64, 0.0, 0.0);
    let (mut rounds, mut leads, mut idle) = (0u64, false, 0);
    let is_met = |block: &mut Block<T>, otherwise: Stop| {
        if block.violation(coupling) <= goal { Stop::Converged } else { otherwise }
    };
    let mut past = Past::default();
    loop {
        poll().continue_value()?;
        if steps >= most {
            return Some((steps, is_met(block, Stop::IterationLimit)));
        }
        past.keep(block);
        let limit = if leads { STEPS_BESIDE_NEWTON } else { round }.min(most - steps);
        let outcome = block.solve(coupling, WITHIN * goal, limit);
        steps += outcome.steps;
        if outcome.unbounded {
            return Some((steps, Stop::Stalled));
        }
        if outcome.steps < limit && is_met(block, Stop::Stalled) == Stop::Converged {
            return Some((steps, Stop::Converged));
        }
        let work = outcome.steps as f64 * (size as f64 + OF_STEP);
        let by_pairs = past.gain(block);
        of_pairs += work;
        rounds += 1;
        let spare = if rounds.is_power_of_two() { of_pairs } else { 0.0 };
        let left = if leads { f64::INFINITY } else { of_pairs + spare - of_newton };
        let places = free(block);
        let (mut own, mut by_newton) = (0.0, 0.0);
        if places.len() >= 2 && least_work(places.len(), size) <= left {
            past.keep(block);
            let found = newton(block, coupling, places, left);
            (own, of_newton) = (found.work, of_newton + found.work);
            steps += found.steps;
            by_newton = past.gain(block);
        }
        leads = own > 0.0 && by_newton * work > by_pairs * own;
        let size_of_sum: f64 = block.coefficient[..size].iter().map(|c| c.abs()).sum();
        idle = if by_pairs + by_newton > f64::EPSILON * size_of_sum { 0 } else { idle + 1 };
        if idle >= MOST_IDLE {
            return Some((steps, is_met(block, Stop::Stalled)));
        }
    }
}

/// A state of a block, to measure what later steps gain.
#[derive(Default)]
struct Past {
    coefficients: Vec<f64>,
    values: Vec<f64>,
}

impl Past {
    fn keep<T: Real>(&mut self, block: &Block<T>) {
        self.coefficients.clone_from(&block.coefficient);
        self.values.clone_from(&block.value);
    }

    /// By how much the objective has fallen since: `½ Σ Δc (v before + v now)`, because v is minus its slope, which is linear.
    fn gain<T: Real>(&self, block: &Block<T>) -> f64 {
        let term = |k: usize| 0.5 * (block.coefficient[k] - self.coefficients[k]) * (self.values[k] + block.value[k]);
        (0..block.len()).map(term).sum()
    }
}
