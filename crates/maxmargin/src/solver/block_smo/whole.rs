//! A problem whose whole kernel matrix is in memory: pair steps, and Newton's method on the free coefficients.
//!
//! Pair steps find out which coefficients are free; they are slow where C is large or the matrix nearly singular. Newton's method solves for
//! all free coefficients at once; it is costly where there are many. So rounds of pair steps and of Newton's method (`free.rs`) alternate:
//!
//! * Newton's method may have cost as much as the pair steps so far, which keeps the worst case within twice their cost.
//! * In rounds 1, 2, 4, 8, … it may have cost twice as much, so that its gain is measured even where it is costly.
//! * Where it lowers the objective by more for its cost than pair steps did, it leads: no budget, and few pair steps in between.
//!
//! At the tolerance one more round of Newton's method gives the last digits; it is kept if the violation becomes smaller. Then v is computed
//! from scratch before convergence is claimed.
//!
//! The two variables of a regression's row are one coefficient here, with a kink at 0 (B.6).

use std::ops::ControlFlow;

use super::block::Block;
use super::free::{free, least_work, newton};
use super::twins::Twins;
use super::values;
use crate::control::{Progress, Stop};
use crate::kernel::Tiles;
use crate::problem::{Coupling, DualProblem, is_rounding};
use crate::solver::Settings;
use crate::solver::smo::DualSolution;
use crate::solver::start::{Snapshot, SnapshotControl, Start, feasible, poll_keeping};

/// Pair steps of a round, for each coefficient.
const STEPS_A_COEFFICIENT: f64 = 1.0;
const LEAST_STEPS: u64 = 64;
/// Pair steps of a round in which Newton's method leads: enough to free the coefficients that it moves next.
const STEPS_BESIDE_NEWTON: u64 = 8;

/// The cost of a pair step, in multiplications, beside one multiplication for each coefficient.
const OF_STEP: f64 = 100.0;

/// The factor on the cost of a pair step where two sums are held fixed, as with ν: 1.2 ns for each coefficient were measured, and 0.2 ns for a
/// multiplication of Newton's method. Larger: Newton's method gets more of the time.
const OF_TWO_SUMS: f64 = 5.0;

/// The most free coefficients for which the last digits are computed outside of the budget.
const FEW_FREE: usize = 160;

/// How often Newton's method is tried for the last digits.
const MOST_FINISHES: usize = 4;

/// The violation at which the last digits are found, as a part of the tolerance.
const LAST_DIGITS: f64 = 1e-6;

/// Rounds without a gain above rounding after which the search ends.
const MOST_IDLE: u64 = 12;

/// Rounds before the first look at whether the search still makes progress; the next look comes after twice as many.
const FIRST_LOOK: u64 = 256;

/// The part by which the objective must have fallen between two looks, unless the violation has become smaller.
const LOWER: f64 = 1e-6;

/// The factor by which the violation must have become smaller between two looks, unless the objective has fallen.
const SMALLER: f64 = 0.9;

/// How often v is computed from scratch without a smaller violation before the search gives up.
const MOST_RENEWALS: u64 = 4;

/// The least margin in whose units a tolerance is counted, as a part of the largest decision value. Classes whose hulls meet have a margin of 0.
const LEAST_MARGIN: f64 = 1e-7;

/// Which coefficient belongs to which variables of the problem.
struct Order {
    /// For each coefficient its variable; the first of two that share a row.
    variables: Vec<usize>,
    /// The distance from the first variable of a row to the second, where both are one coefficient.
    twin: Option<usize>,
    /// How many coefficients have a negative sign. They come first. 0 where two variables are one coefficient.
    negative: usize,
}

impl Order {
    /// Puts negative signs first, so that the rows of each class lie side by side.
    fn of(problem: &DualProblem<'_>) -> Self {
        let twins = Twins::of(problem.rows());
        if twins.rows() < problem.len() && problem.coupling() != Coupling::BySign {
            return Order { variables: (0..twins.rows()).collect(), twin: Some(twins.rows()), negative: 0 };
        }
        let is_negative = |k: &usize| problem.signs()[*k] < 0.0;
        let mut variables = Vec::with_capacity(problem.len());
        variables.extend((0..problem.len()).filter(is_negative));
        let negative = variables.len();
        variables.extend((0..problem.len()).filter(|k| !is_negative(k)));
        Order { variables, twin: None, negative }
    }
}

/// How many coefficients a problem has: one for each row, or two in a ν-regression.
pub(super) fn size(problem: &DualProblem<'_>) -> usize {
    let twins = Twins::of(problem.rows());
    if problem.coupling() == Coupling::BySign { problem.len() } else { twins.rows() }
}

/// The search over all coefficients.
struct Whole<'a> {
    problem: &'a DualProblem<'a>,
    order: Order,
    /// Whether this is nu-classification, whose margin is part of the solution.
    has_margin: bool,
    block: Block<f64>,
    walk: Walk,
}

/// The state of the search beside c and v.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Walk {
    steps: u64,
    /// The cost of pair steps, and of Newton's method, so far.
    pairs: f64,
    newton: f64,
    /// Rounds in a row without a gain.
    idle: u64,
    renewals: u64,
    /// Rounds of pair steps after which there were free coefficients for Newton's method.
    rounds: u64,
    /// Whether Newton's method gained more for its cost than pair steps did in the last round.
    newton_leads: bool,
    /// The least violation of a v computed from scratch.
    least: f64,
    /// The violation before the last round.
    last: f64,
    /// The lowest objective and the smallest violation so far, and (`_before`) at the last look.
    lowest: f64,
    smallest: f64,
    lowest_before: f64,
    smallest_before: f64,
}

impl Walk {
    fn new() -> Self {
        let none = f64::MAX;
        Walk {
            least: none,
            last: none,
            lowest: none,
            smallest: none,
            lowest_before: none,
            smallest_before: none,
            ..Walk::default()
        }
    }

    /// Records a round that began at this violation and ended at this objective. Returns whether the search still makes progress: where
    /// coefficients move by less than the rounding of v, pair steps go in circles although the objective seems to fall. `rounding` is
    /// the rounding of the objective.
    fn goes_on(&mut self, violation: f64, objective: f64, rounding: f64) -> bool {
        (self.lowest, self.smallest) = (self.lowest.min(objective), self.smallest.min(violation));
        if self.rounds < FIRST_LOOK || !self.rounds.is_power_of_two() {
            return true;
        }
        let is_lower = self.lowest_before - self.lowest > (LOWER * self.lowest.abs()).max(rounding);
        let is_smaller = self.smallest < SMALLER * self.smallest_before;
        (self.lowest_before, self.smallest_before) = (self.lowest, self.smallest);
        is_lower || is_smaller
    }
}

/// Solves (D.1) with its whole kernel matrix in memory. Where the kernel is not positive semidefinite and a step has no end, `smo` goes on from
/// the α and the steps that are returned.
pub(super) fn solve(
    problem: &DualProblem<'_>,
    tiles: &Tiles<'_, f64>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> Result<DualSolution, (Vec<f64>, u64)> {
    if start == Start::Scratch && is_optimal_at_zero(problem, settings.tolerance()) {
        let (alpha, gradient) = (problem.start().to_vec(), problem.linear().to_vec());
        return Ok(DualSolution { alpha, gradient, stop: Stop::Converged, iterations: 0 });
    }
    let mut whole = Whole::new(problem, tiles);
    let alpha = match start {
        Start::Scratch | Start::Weights { .. } => problem.start().to_vec(),
        Start::Alpha(alpha) => feasible(problem, &alpha),
        Start::Snapshot(snapshot) => {
            if whole.restore(snapshot) {
                return whole.run(settings, control);
            } else {
                problem.start().to_vec()
            }
        }
    };
    whole.begin_at(&alpha);
    whole.run(settings, control)
}

/// Whether α = 0 is optimal, as in a regression whose targets all lie within the tube. Needs no kernel value.
fn is_optimal_at_zero(problem: &DualProblem<'_>, tolerance: f64) -> bool {
    let is_zero = problem.start().iter().all(|&alpha| alpha == 0.0);
    is_zero && problem.violation(problem.start(), problem.linear()) <= tolerance
}

impl<'a> Whole<'a> {
    /// Computes all kernel values and begins at c = 0.
    fn new(problem: &'a DualProblem<'a>, tiles: &Tiles<'_, f64>) -> Self {
        let order = Order::of(problem);
        let mut block = Block::new();
        let rows: Vec<usize> = order.variables.iter().map(|&k| problem.rows()[k]).collect();
        let gram = problem.gram();
        if !values::fill_few(&mut block, tiles, gram, &rows, order.negative) {
            block.resize(rows.len());
            let taken = gram.shared().is_some_and(|shared| values::fill_from(&mut block, shared, tiles, gram, &rows));
            if !taken {
                values::fill(&mut block, tiles, gram, &rows, true);
            }
        }
        for (place, &k) in order.variables.iter().enumerate() {
            let (sign, upper) = (problem.signs()[k], problem.upper()[k]);
            (block.low[place], block.high[place]) = match order.twin {
                Some(twin) => (-problem.upper()[k + twin], upper),
                None if sign > 0.0 => (0.0, upper),
                None => (-upper, 0.0),
            };
            block.kink[place] = order.twin.map_or(0.0, |twin| 0.5 * (problem.linear()[k] + problem.linear()[k + twin]));
            block.ridge[place] = problem.ridge()[k];
            block.second[place] = sign > 0.0;
        }
        let has_margin = Twins::of(problem.rows()).rows() == problem.len() && problem.coupling() == Coupling::BySign;
        Whole { problem, order, has_margin, block, walk: Walk::new() }
    }

    /// t of (B.6): v of a row at c = 0, half way between the edges of its tube.
    fn target(&self, place: usize) -> f64 {
        let (k, linear) = (self.order.variables[place], self.problem.linear());
        match self.order.twin {
            Some(twin) => 0.5 * (linear[k + twin] - linear[k]),
            None => -self.problem.signs()[k] * linear[k],
        }
    }

    fn begin_at(&mut self, alpha: &[f64]) {
        let signs = self.problem.signs();
        for (place, &k) in self.order.variables.iter().enumerate() {
            // `+ 0.0` turns −0 into 0.
            let second = self.order.twin.map_or(0.0, |twin| alpha[k + twin]);
            self.block.coefficient[place] = signs[k] * alpha[k] - second + 0.0;
        }
        self.renew();
    }

    /// Computes v from scratch.
    fn renew(&mut self) {
        let mut sums = std::mem::take(&mut self.block.value);
        self.block.products(&mut sums);
        for (place, sum) in sums[..self.block.len()].iter_mut().enumerate() {
            let ridge = self.block.ridge[place] * self.block.coefficient[place];
            *sum = self.target(place) - *sum - ridge;
        }
        sums[self.block.len()..].fill(0.0);
        self.block.value = sums;
    }

    fn run(mut self, settings: &Settings, control: &mut dyn SnapshotControl) -> Result<DualSolution, (Vec<f64>, u64)> {
        let (coupling, size) = (self.problem.coupling(), self.block.len());
        let cap = settings.max_iterations.unwrap_or_else(|| 10_000_000.max(100 * size as u64));
        let round = ((STEPS_A_COEFFICIENT * size as f64) as u64).max(LEAST_STEPS);
        let stop = loop {
            let violation = self.block.violation(coupling);
            let progress =
                Progress { iteration: self.walk.steps, violation: Some(violation.max(0.0)), ..Progress::default() };
            if let ControlFlow::Break(stop) = poll_keeping(control, progress, || self.snapshot()) {
                break stop;
            }
            let tolerance = self.goal(settings.tolerance());
            if !(violation > tolerance) {
                self.finish(violation, tolerance);
                self.renew();
                let violation = self.block.violation(coupling);
                if !(violation > self.goal(settings.tolerance())) {
                    break Stop::Converged;
                }
                self.walk.renewals = if violation < 0.5 * self.walk.least { 0 } else { self.walk.renewals + 1 };
                self.walk.least = self.walk.least.min(violation);
                if self.walk.renewals >= MOST_RENEWALS {
                    break Stop::Stalled;
                }
            }
            if self.walk.steps >= cap {
                break Stop::IterationLimit;
            }
            let before = self.objective();
            let most = if self.walk.newton_leads { STEPS_BESIDE_NEWTON } else { round }.min(cap - self.walk.steps);
            let outcome = self.block.solve(coupling, WITHIN * tolerance, most);
            let work = self.work_of_pairs(outcome.steps);
            self.walk.steps += outcome.steps;
            self.walk.pairs += work;
            if outcome.unbounded {
                return Err((self.alpha(), self.walk.steps));
            }
            let between = self.objective();
            let is_cut = outcome.steps == most && self.walk.steps < cap;
            let of_newton = if is_cut { self.newton() } else { 0.0 };
            let after = self.objective();
            if self.has_margin && self.has_no_margin(after) {
                break Stop::Stalled;
            }
            self.walk.newton_leads = of_newton > 0.0 && (between - after) * work > (before - between) * of_newton;
            // A violation with the same bits as before shows that nothing has moved.
            let gained = before - after > 4.0 * f64::EPSILON * after.abs() && violation != self.walk.last;
            self.walk.last = violation;
            self.walk.idle = if gained { 0 } else { self.walk.idle + 1 };
            let goes_on = !is_cut || self.walk.goes_on(violation, after, self.rounding());
            if self.walk.idle >= MOST_IDLE || !goes_on {
                self.renew();
                break if self.block.violation(coupling) <= self.goal(settings.tolerance()) {
                    Stop::Converged
                } else {
                    Stop::Stalled
                };
            }
        };
        Ok(self.solution(stop))
    }

    /// The violation to stop at, for the state of the last [`Block::violation`]. In nu-classification the tolerance is in units of the margin m
    /// (P.9), which changes during the search.
    fn goal(&self, tolerance: f64) -> f64 {
        if !self.has_margin {
            return tolerance;
        }
        let size = self.block.value[..self.block.len()].iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        tolerance * self.block.margin().max(LEAST_MARGIN * size).min(1.0)
    }

    /// What the objective is rounded by: `ε Σ c_i² K_ii`, for the errors of sums have either sign. Where the c_i are large and cancel out, that is
    /// more than the objective.
    fn rounding(&self) -> f64 {
        let term = |k: usize| self.block.coefficient[k].powi(2) * self.block.row(k)[k].max(0.0);
        f64::EPSILON * (0..self.block.len()).map(term).sum::<f64>()
    }

    /// Whether the hulls of two classes meet as far as f64 can tell, (P.12), so that there is no C to be found.
    fn has_no_margin(&self, objective: f64) -> bool {
        let own: Vec<f64> = (0..self.block.len()).map(|place| self.block.row(place)[place]).collect();
        is_rounding(2.0 * objective, &self.block.coefficient[..own.len()], &own)
    }

    /// The cost of a number of pair steps, in multiplications of Newton's method.
    fn work_of_pairs(&self, steps: u64) -> f64 {
        let of_sums = if self.problem.coupling() == Coupling::BySign { OF_TWO_SUMS } else { 1.0 };
        of_sums * steps as f64 * (self.block.len() as f64 + OF_STEP)
    }

    /// One round of Newton's method, if the budget allows it. Returns its cost.
    fn newton(&mut self) -> f64 {
        self.walk.rounds += 1;
        let spare = if self.walk.rounds.is_power_of_two() { self.walk.pairs } else { 0.0 };
        let left = if self.walk.newton_leads { f64::INFINITY } else { self.walk.pairs + spare - self.walk.newton };
        let free = free(&self.block);
        if free.len() < 2 || least_work(free.len(), self.block.len()) > left {
            return 0.0;
        }
        let found = newton(&mut self.block, self.problem.coupling(), free, left);
        self.walk.newton += found.work;
        self.walk.steps += found.steps;
        found.work
    }

    /// Finds the last digits: Newton's method, then pair steps for coefficients that it made violate. Kept if the violation becomes smaller.
    fn finish(&mut self, violation: f64, tolerance: f64) {
        let coupling = self.problem.coupling();
        let mut before = None;
        let mut least = violation;
        for _ in 0..MOST_FINISHES {
            let (free, left) = (free(&self.block), self.walk.pairs - self.walk.newton);
            if free.is_empty() || free.len() > FEW_FREE && least_work(free.len(), self.block.len()) > left {
                break;
            }
            before = before.or_else(|| Some((self.block.coefficient.clone(), self.block.value.clone())));
            let found = newton(&mut self.block, coupling, free, f64::INFINITY);
            self.walk.newton += found.work;
            self.walk.steps += found.steps;
            least = self.block.violation(coupling);
            if least <= LAST_DIGITS * tolerance {
                break;
            }
            let outcome = self.block.solve(coupling, LAST_DIGITS * tolerance, self.block.len() as u64);
            if !found.moved && outcome.steps == 0 {
                break;
            }
            self.walk.steps += outcome.steps;
            self.walk.pairs += self.work_of_pairs(outcome.steps);
            least = self.block.violation(coupling);
        }
        if let Some(before) = before
            && !(least <= violation)
        {
            (self.block.coefficient, self.block.value) = before;
        }
    }

    /// The objective (B.6), as `−½ Σ c (t + v) + Σ kink |c|`.
    fn objective(&self) -> f64 {
        let term = |place: usize| {
            let (c, v) = (self.block.coefficient[place], self.block.value[place]);
            self.block.kink[place] * c.abs() - 0.5 * c * (self.target(place) + v)
        };
        (0..self.block.len()).map(term).sum()
    }

    /// α of the problem's variables.
    fn alpha(&self) -> Vec<f64> {
        let mut alpha = vec![0.0; self.problem.len()];
        for (place, &k) in self.order.variables.iter().enumerate() {
            let c = self.block.coefficient[place];
            match self.order.twin {
                Some(twin) => (alpha[k], alpha[k + twin]) = (c.max(0.0), (-c).max(0.0)),
                None => alpha[k] = c.abs(),
            }
        }
        alpha
    }

    /// The solution of (D.1), whose gradient follows from `u = t − v − ridge c`.
    fn solution(self, stop: Stop) -> DualSolution {
        let (alpha, problem) = (self.alpha(), self.problem);
        let mut gradient = vec![0.0; problem.len()];
        for (place, &k) in self.order.variables.iter().enumerate() {
            let own = self.block.ridge[place] * self.block.coefficient[place];
            let sum = self.target(place) - self.block.value[place] - own;
            let slope = |k: usize| problem.signs()[k] * sum + problem.ridge()[k] * alpha[k] + problem.linear()[k];
            gradient[k] = slope(k);
            if let Some(twin) = self.order.twin {
                gradient[k + twin] = slope(k + twin);
            }
        }
        DualSolution { alpha, gradient, stop, iterations: self.walk.steps }
    }

    /// Everything that later rounds depend on. The gradient is v of each coefficient, and 0 for variables that share one.
    fn snapshot(&self) -> Snapshot {
        let Walk { steps, pairs, newton, idle, renewals, rounds, newton_leads, .. } = self.walk;
        let Walk { least, last, lowest, smallest, lowest_before, smallest_before, .. } = self.walk;
        let mut gradient = self.block.value[..self.block.len()].to_vec();
        gradient.resize(self.problem.len(), 0.0);
        Snapshot {
            iterations: steps,
            alpha: self.alpha(),
            gradient,
            lists: vec![vec![idle, renewals, rounds, u64::from(newton_leads)]],
            numbers: vec![pairs, newton, least, last, lowest, smallest, lowest_before, smallest_before],
        }
    }

    /// Puts a snapshot back; `false` when it does not fit this problem.
    fn restore(&mut self, snapshot: Snapshot) -> bool {
        let &[pairs, newton, least, last, lowest, smallest, lowest_before, smallest_before] =
            snapshot.numbers.as_slice()
        else {
            return false;
        };
        let [counters] = snapshot.lists.as_slice() else { return false };
        let &[idle, renewals, rounds, leads] = counters.as_slice() else { return false };
        let finite = snapshot.numbers.iter().all(|number| number.is_finite());
        if !(snapshot.fits(self.problem)
            && finite
            && snapshot.iterations < 1 << 60
            && counters.iter().all(|&count| count < 1 << 60))
        {
            return false;
        }
        self.begin_at(&snapshot.alpha);
        let size = self.block.len();
        self.block.value[..size].copy_from_slice(&snapshot.gradient[..size]);
        self.walk = Walk {
            steps: snapshot.iterations,
            pairs,
            newton,
            idle,
            renewals,
            rounds,
            newton_leads: leads == 1,
            least,
            last,
            lowest,
            smallest,
            lowest_before,
            smallest_before,
        };
        true
    }
}

/// Pair steps end at this part of the tolerance, so that rounding in v computed from scratch does not exceed it.
const WITHIN: f64 = 0.9;
