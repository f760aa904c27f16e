//! `block-smo`: sequential minimal optimisation in blocks, for kernels and many rows.
//!
//! **Problem.** The general dual (D.1), as for `smo`: box, ridge, linear term, one sum held fixed, one a sign, or none.
//!
//! **Optimality.** The violation (D.2) is 0.
//!
//! **Step.** The variables that violate most, and half of those of the step before, make a block whose kernel values are
//! computed at once and stay in the cache, where pairs move as in `smo` until the block is optimal to a tenth of the whole's
//! violation (`block.rs`). Then
//!
//! ```text
//! u_k += Σ_j s_j Δα_j K_jk   for all k,   v_k = −s_k ∇_k = −(u_k + s_k (ridge_k α_k + p_k))            (B.1)
//! ```
//!
//! with kernel rows in single precision, many at a time, and sums in double precision (`rows.rs`); the two variables of a row of a
//! regression share its u (`twins.rs`). Variables that stay at a bound and far from moving are set aside, and their part of the rows with them (shrinking).
//!
//! **Stopping.** At violation ≤ tolerance, all variables considered: those set aside are looked at again, and u is computed
//! anew in double precision wherever a row has a part in the certificate (α > 0, or close to the margin). If the violation is
//! then above the tolerance, the search goes on from the better u, so that single precision limits the speed and not the
//! result. When that does not help, or blocks no longer gain, `smo` goes on from here in double precision.
//!
//! A problem of one class begins at what a sample of its rows points to (`sample.rs`).
//!
//! A problem that one block can hold is held in double precision from the start, with the values within a class from the pool
//! that all machines share (`values.rs`): then there is nothing to look at again.
//!
//! **Cost.** A kernel row for each variable that moves, in each block that it moves in, unless it is still kept: for most
//! problems one to four times the number of support vectors. Memory: the rows kept, within the budget; never n².
//!
//! **When to use.** Every kernel and bias, from some hundred rows on.
//!
//! **References.** Fan, Chen, Lin 2005 (pairs); Joachims 1999 (blocks, shrinking); Wen et al. 2018 (keeping half of a block).

mod aside;
mod block;
mod check;
mod choice;
mod exact;
mod free;
mod rows;
mod sample;
mod slab;
mod slots;
mod snapshot;
mod twins;
mod values;
mod whole;

use std::ops::ControlFlow;

use super::smo::{self, DualSolution};
use super::start::{Start, feasible};
use super::{Precision, Settings, Solution, SolverKind, requirements};
use crate::control::{Control, Progress, Stop, Work, poll_keeping};
use crate::data::Matrix;
use crate::error::Error;
use crate::kernel::{ClassValues, Packed, Tiles};
use crate::problem::{DualProblem, Loss, MarginProblem};
use crate::simd::Real;
use aside::Aside;
use block::Block;
use choice::{Levels, View};
use exact::Exact;
use rows::{KernelRows, Move};
use twins::Twins;

/// The first block, and the largest. It doubles when most of its variables move, and halves when few do.
const BLOCK: (u64, u64) = (1024, 2048);

/// The same for kernel values that are dear, and for those that come one by one, so that polls are not far between.
const DEAR_BLOCK: (u64, u64) = (256, 1024);
const SLOW_BLOCK: (u64, u64) = (256, 512);

/// Rows of a problem that is one block in double precision: then the values of two fit next to the processor.
pub(crate) const WHOLE_ROWS: usize = 1280;

/// The block is solved to this part of the whole's violation.
const INNER: f64 = 0.1;

/// A block of all variables that are active is solved to this part of the tolerance.
const ALL_ACTIVE: f64 = 0.5;

/// Steps within a block, for each of its variables, at most.
const STEPS_A_VARIABLE: u64 = 8;

/// Blocks between two looks at which variables can be set aside, and how often a variable must look settled.
const LOOK_EVERY: u64 = 4;
const PATIENCE: u64 = 2;

/// Variables are set aside when that makes rows shorter by this part.
const WORTH_IT: f64 = 0.2;

/// Kernel values with less arithmetic than this are computed in less time than memory takes that was never touched: rows of
/// them are not kept.
const DEAR: f64 = 32.0;

/// Kernel values between two polls, each counted by its arithmetic: some ten milliseconds.
const WORK_A_POLL: f64 = 2e8;

/// Steps without a gain that is more than rounding, after which `smo` takes over.
const STALL: u64 = 50_000;

/// What a kernel value costs in double precision at the end, beside one in single precision on the way, the certificate included. If it is
/// larger than in truth, a limit on time is not used up; if it is smaller, the limit is overrun.
pub(crate) const OF_ENDING: f64 = 2.5;

/// What it takes to add a kernel value that is kept, beside the arithmetic of [`Tiles::cost`].
const OF_KEPT: f64 = 4.0;

/// Fewest variables of a block, where a limit on time leaves no work for more. Fewer of them make slow steps; more of them ask for more time.
const LEAST_BLOCK: u64 = 16;

/// Blocks between two computations of the gap, which is for show.
const GAP_EVERY: u64 = 8;

pub(super) fn supports(problem: &MarginProblem<'_>, settings: &Settings) -> Result<(), Error> {
    requirements::loss(SolverKind::BlockSmo, problem, &[Loss::Hinge, Loss::Squared])?;
    requirements::memory(SolverKind::BlockSmo, need(problem, settings), settings.memory)
}

/// Bytes that are needed without any row being kept.
fn need(problem: &MarginProblem<'_>, settings: &Settings) -> u64 {
    let matrix = problem.points().matrix();
    let in_classes = problem.gram().shared().map_or(0, ClassValues::bytes);
    shared_bytes(matrix, settings.precision) + in_classes + own_bytes(matrix, problem.variables(), settings.precision)
}

/// Bytes that all machines of a training share: the data, and its rows laid out for products.
pub(crate) fn shared_bytes(matrix: &Matrix, precision: Precision) -> u64 {
    // The certificate is in double precision either way.
    let packed = match precision {
        Precision::Single => Packed::<f32>::bytes(matrix) + Packed::<f64>::bytes(matrix),
        Precision::Double => Packed::<f64>::bytes(matrix),
    };
    matrix.bytes() + packed
}

/// Bytes that a machine of so many rows needs for itself: vectors, a block, and panels.
pub(crate) fn own_bytes(matrix: &Matrix, rows: usize, precision: Precision) -> u64 {
    let (rows, block) = (rows as u64, BLOCK.1.min(rows as u64));
    let size = if precision == Precision::Double || rows <= WHOLE_ROWS as u64 { 8 } else { 4 };
    let row_entries = matrix.entries() as u64 / matrix.rows().max(1) as u64;
    let slots = (matrix.columns() as u64).min(row_entries.saturating_mul(f32::LANES as u64));
    28 * 8 * rows + block * block * size + rows * slots * size
}

pub(super) fn solve(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn Control,
) -> Solution {
    let memory = settings.memory.saturating_sub(need(problem, settings));
    let start = start.of_dual(problem);
    super::solve_by_dual(problem, |dual| solve_dual(dual, settings, memory, start, control))
}

/// Solves (D.1); `memory` is for the rows that are kept.
fn solve_dual(
    problem: &DualProblem<'_>,
    settings: &Settings,
    memory: u64,
    start: Start,
    control: &mut dyn Control,
) -> DualSolution {
    let tiles = Tiles::<f64>::new(problem.gram().kernel(), problem.gram().points());
    let end = if whole::size(problem) <= WHOLE_ROWS.min(sizes(&tiles).1 as usize) {
        match whole::solve(problem, &tiles, settings, start, control) {
            Ok(solution) => End::Solution(solution),
            Err((alpha, iterations)) => End::HandedOver { alpha, iterations },
        }
    } else if settings.precision == Precision::Double || !fits_single(problem) {
        run::<f64>(problem, settings, memory, start, control)
    } else {
        run::<f32>(problem, settings, memory, start, control)
    };
    match end {
        End::Solution(solution) => solution,
        End::HandedOver { alpha, iterations } => {
            // A closure keeps no snapshots: those of `smo` are not ours.
            let mut control =
                |progress: Progress| control.poll(Progress { iteration: progress.iteration + iterations, ..progress });
            let cap = settings.max_iterations.map(|cap| cap.saturating_sub(iterations).max(1));
            let settings = Settings { max_iterations: cap, ..settings.clone() };
            let solution = smo::solve_dual_from(problem, &settings, Start::Alpha(alpha), &mut control);
            DualSolution { iterations: iterations + solution.iterations, ..solution }
        }
    }
}

/// The engine, from a start that a sample may have found.
fn run<T: Real>(
    problem: &DualProblem<'_>,
    settings: &Settings,
    memory: u64,
    start: Start,
    control: &mut dyn Control,
) -> End {
    let found = match start {
        Start::Scratch => sample::start::<T>(problem, settings, memory, control),
        _ => None,
    };
    Engine::<T>::new(problem, memory, found.unwrap_or(start)).run(settings, control)
}

/// Whether all numbers stay far from where single precision ends.
fn fits_single(problem: &DualProblem<'_>) -> bool {
    let (points, safe) = (problem.gram().points(), f32::SAFE * f32::SAFE);
    let norms = problem.rows().iter().map(|&row| points.squared_norm(row));
    let largest = norms.chain(problem.gram().diagonal(problem.rows())).fold(0.0, f64::max);
    largest <= safe
}

/// The first block and the largest.
fn sizes<T: Real>(tiles: &Tiles<'_, T>) -> (u64, u64) {
    if !tiles.is_fast() {
        SLOW_BLOCK
    } else if tiles.cost() >= DEAR {
        DEAR_BLOCK
    } else {
        BLOCK
    }
}

/// How the engine ends.
enum End {
    Solution(DualSolution),
    HandedOver { alpha: Vec<f64>, iterations: u64 },
}

/// The search between two blocks.
struct Engine<'a, T: Real> {
    problem: &'a DualProblem<'a>,
    tiles: Tiles<'a, T>,
    /// Which variables share a row.
    twins: Twins,
    /// By row.
    rows: KernelRows<'a, T>,
    block: Block<T>,
    alpha: Vec<f64>,
    /// (B.1): up to date for active variables, and for all once they were looked at again. Where one of two twins is up to date, both are.
    value: Vec<f64>,
    /// Of which α the u of rows is that were set aside.
    aside: Aside,
    /// What of u is known in double precision.
    exact: Exact,
    active: Vec<bool>,
    /// How often a variable looked settled, one look after the other.
    settled: Vec<u64>,
    /// The block of the step before, the newest last.
    working: Vec<u32>,
    /// Whose kernel values the block holds.
    loaded: Vec<u32>,
    /// The first block and the largest.
    sizes: (u64, u64),
    dear: bool,
    /// What u still lacks before the first block.
    pending: Vec<Move>,
    /// No point of a convex problem has a lower objective.
    floor: f64,
    walk: Walk,
    /// Kernel values that were computed or added so far, for [`Progress::work`] alone.
    work: f64,
}

/// Counters that the way depends on.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    steps: u64,
    blocks: u64,
    /// How many variables make the next block.
    size: u64,
    renewals: u64,
    /// Steps since the objective last fell by more than rounding.
    idle_steps: u64,
    objective: f64,
}

impl<'a, T: Real> Engine<'a, T> {
    fn new(problem: &'a DualProblem<'a>, memory: u64, start: Start) -> Self {
        let (variables, gram) = (problem.len(), problem.gram());
        let tiles = Tiles::new(gram.kernel(), gram.points());
        let dear = tiles.cost() >= DEAR;
        let memory = if dear { memory } else { 0 };
        let twins = Twins::of(problem.rows());
        let rows = KernelRows::new(tiles, &problem.rows()[..twins.rows()], gram.workers(), memory);
        let mut engine = Engine {
            problem,
            tiles,
            twins,
            rows,
            block: Block::new(),
            alpha: vec![0.0; variables],
            value: vec![0.0; variables],
            aside: Aside::new(twins.rows()),
            exact: Exact::default(),
            active: vec![true; variables],
            settled: vec![0; variables],
            working: Vec::new(),
            loaded: Vec::new(),
            sizes: sizes(&tiles),
            dear,
            pending: Vec::new(),
            floor: floor(problem),
            walk: Walk::default(),
            work: 0.0,
        };
        engine.walk.size = engine.sizes.0;
        let alpha = match start {
            Start::Scratch | Start::Weights { .. } => problem.start().to_vec(),
            Start::Alpha(alpha) => feasible(problem, &alpha),
            Start::Snapshot(snapshot) => match engine.restore(snapshot) {
                true => return engine,
                false => problem.start().to_vec(),
            },
        };
        engine.alpha = alpha;
        engine.pending = engine.all_moves();
        engine
    }

    /// The primal objective at this point, with the best bias. It does not fall with every block, as the dual's does.
    fn primal(&self, gradient: &[f64]) -> f64 {
        self.problem.least_gap(&self.alpha, gradient) - self.problem.objective(&self.alpha, gradient)
    }

    /// The work so far, and that of the sums in double precision which every end needs.
    fn work(&self) -> Work {
        let support = self.alpha.iter().filter(|&&alpha| alpha > 0.0).count() as f64;
        Work { done: self.work, to_end: OF_ENDING * support * self.twins.rows() as f64 }
    }

    /// The work of a step with `variables` variables, with the most that it adds to the work of an end.
    fn work_of_step(&self, variables: u64) -> f64 {
        variables as f64 * (self.rows.active() as f64 + OF_ENDING * self.twins.rows() as f64)
    }

    /// Variables of the next block: fewer where a limit on time leaves no work for all of them.
    fn size_within(&self, work_left: Option<f64>) -> u64 {
        let Some(left) = work_left else { return self.walk.size };
        let affordable = (left - self.work().to_end) / self.work_of_step(1);
        (affordable as u64).max(LEAST_BLOCK).min(self.walk.size)
    }

    /// Brings u to the start, where that is not 0. A break leaves no snapshot: there is nothing to go on from yet.
    fn begin(&mut self, control: &mut dyn Control) -> ControlFlow<Stop> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return ControlFlow::Continue(());
        }
        let at_once = ((WORK_A_POLL / (self.rows.active() as f64 * self.tiles.cost())) as usize).max(1);
        let values = |moves: usize| moves as f64 * self.rows.active() as f64;
        let (all, end) = (values(pending.len()), self.work().to_end);
        for part in pending.chunks(at_once) {
            // What cannot be brought to its end need not go on.
            let work = Work { done: self.work, to_end: end + all - self.work };
            control.poll(Progress { work, ..Progress::default() })?;
            self.rows.add_passing(part);
            self.work += part.len() as f64 * self.rows.active() as f64;
        }
        self.refresh();
        self.walk.objective = self.problem.objective(&self.alpha, &self.gradient());
        ControlFlow::Continue(())
    }

    fn run(mut self, settings: &Settings, control: &mut dyn Control) -> End {
        let cap = settings.max_iterations.unwrap_or_else(|| 10_000_000.max(100 * self.problem.len() as u64));
        let mut gap = None;
        // The least primal objective so far, its α and its gradient: wanted where a limit on time may come before the end.
        let (is_limited, mut best) = (control.spent().is_some(), None::<(f64, Vec<f64>, Vec<f64>)>);
        // Whether α is ahead of u, because a step was broken off.
        let mut is_torn = false;
        let begun = self.begin(control);
        let stop = loop {
            if let ControlFlow::Break(stop) = begun {
                break stop;
            }
            self.refresh();
            let levels = self.view().levels(self.active());
            if self.walk.blocks.is_multiple_of(GAP_EVERY) {
                let gradient = self.gradient();
                gap = Some(self.problem.gap(&self.alpha, &gradient)).filter(|gap| gap.is_finite());
                // A decision function that is 0 everywhere is of no use, whatever its objective. What is set aside has a gradient of the past,
                // which says nothing of this point.
                let is_whole = self.active().count() == self.problem.len();
                if is_limited && is_whole && self.alpha.iter().any(|&alpha| alpha > 0.0) {
                    let primal = self.primal(&gradient);
                    if primal.is_finite() && best.as_ref().is_none_or(|(least, ..)| primal < *least) {
                        best = Some((primal, self.alpha.clone(), gradient));
                    }
                }
            }
            let Work { done, to_end } = self.work();
            let progress = Progress {
                iteration: self.walk.steps,
                violation: Some(levels.violation.max(0.0)),
                gap,
                // A step that is begun has to be paid as well.
                work: Work { done, to_end: to_end + self.work_of_step(LEAST_BLOCK) },
                ..Progress::default()
            };
            if let ControlFlow::Break(stop) = poll_keeping(control, progress, || self.snapshot()) {
                break stop;
            }
            let step = if levels.violation <= settings.tolerance() {
                self.check(levels, settings.tolerance(), progress, control)
            } else if self.walk.steps >= cap {
                break Stop::IterationLimit;
            } else {
                self.step(levels, settings.tolerance(), cap, progress, control)
            };
            match step {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Some(Stop::Converged)) => {
                    let gradient = self.gradient();
                    let Engine { alpha, walk, .. } = self;
                    let (stop, iterations) = (Stop::Converged, walk.steps);
                    return End::Solution(DualSolution { alpha, gradient, stop, iterations });
                }
                ControlFlow::Break(Some(stop)) => {
                    is_torn = true;
                    break stop;
                }
                ControlFlow::Break(None) => {
                    return End::HandedOver { alpha: self.alpha, iterations: self.walk.steps };
                }
            }
        };
        let mut best = best.filter(|_| stop == Stop::TimeLimit);
        if is_torn && let Some((_, alpha, _)) = best.take() {
            self.alpha = alpha;
        }
        let mut gradient = self.problem.gradient(&self.alpha);
        if let Some((least, alpha, its_gradient)) = best
            && !(self.primal(&gradient) < least)
        {
            (self.alpha, gradient) = (alpha, its_gradient);
        }
        End::Solution(DualSolution { alpha: self.alpha, gradient, stop, iterations: self.walk.steps })
    }

    /// One block. Breaks with a reason to stop, or with `None` to hand over.
    fn step(
        &mut self,
        levels: Levels,
        tolerance: f64,
        cap: u64,
        progress: Progress,
        control: &mut dyn Control,
    ) -> ControlFlow<Option<Stop>> {
        let work = self.rows.active() as f64 * self.tiles.cost();
        let at_once = ((WORK_A_POLL / work) as usize).max(1);
        // Where there are polls in the middle of the block, one can only go on from before it.
        let before = (self.walk.size as usize > at_once).then(|| self.snapshot());
        self.choose(levels, self.size_within(control.work_left()));
        self.load_block();
        // Nothing but the block moves: then its optimum is the problem's.
        let all_active = self.working.len() == self.active().count();
        let target =
            if all_active { ALL_ACTIVE * tolerance } else { (INNER * levels.violation).max(INNER * tolerance) };
        let most = (STEPS_A_VARIABLE * self.working.len() as u64).min(cap - self.walk.steps);
        let outcome = self.block.solve(self.problem.coupling(), target, most);
        self.walk.steps += outcome.steps;
        self.walk.blocks += 1;
        if outcome.unbounded {
            return ControlFlow::Break(None);
        }
        let (moves, gain) = self.moves();
        self.work += (self.working.len() * self.working.len()) as f64;
        self.walk.objective -= gain;
        if moves.is_empty() || !(gain.is_finite() && self.walk.objective >= 2.0 * self.floor) {
            // In this precision the kernel is none: what was gained is not there.
            return ControlFlow::Break(None);
        }
        for (&variable, &coefficient) in self.working.iter().zip(&self.block.coefficient) {
            // Never −0.
            self.alpha[variable as usize] = self.problem.signs()[variable as usize] * coefficient + 0.0;
        }
        self.walk.idle_steps = if gain > 4.0 * f64::EPSILON * self.walk.objective.abs() {
            0
        } else {
            self.walk.idle_steps + outcome.steps
        };
        if self.walk.idle_steps > STALL {
            return ControlFlow::Break(None);
        }
        if all_active {
            for k in 0..self.working.len() {
                let variable = self.working[k] as usize;
                self.value[variable] = self.block.value[k];
                self.match_twin(variable);
            }
            let sums = self.sums();
            self.rows.replace(|row, _| sums[row as usize]);
            return ControlFlow::Continue(());
        }
        self.walk.size = match moves.len() * 8 / self.working.len() {
            0 => (self.walk.size / 2).max(self.sizes.0),
            4.. => (self.walk.size * 2).min(self.sizes.1),
            _ => self.walk.size,
        };
        for (number, part) in moves.chunks(at_once).enumerate() {
            if number > 0
                && let Some(before) = &before
                && let progress = (Progress { work: self.work(), ..progress })
                && let ControlFlow::Break(stop) = poll_keeping(control, progress, || before.clone())
            {
                return ControlFlow::Break(Some(stop));
            }
            let fresh = self.rows.add(part) as f64;
            let kept = (part.len() as f64 - fresh) * (OF_KEPT / self.tiles.cost()).min(1.0);
            self.work += (fresh + kept) * self.rows.active() as f64;
        }
        if self.walk.blocks.is_multiple_of(LOOK_EVERY) {
            self.set_aside(levels);
        }
        ControlFlow::Continue(())
    }

    /// Every `s_j α_j` that is not 0, summed over the variables of a row.
    fn all_moves(&self) -> Vec<Move> {
        let amount = |variable: usize| self.problem.signs()[variable] * self.alpha[variable];
        let moves = (0..self.alpha.len()).filter(|&variable| self.alpha[variable] != 0.0);
        self.twins.by_row(moves.map(|variable| (variable, amount(variable))), self.problem.rows())
    }

    /// What has moved since α was this.
    fn moves_since(&self, before: &[f64]) -> Vec<Move> {
        let amount = |(k, before): (usize, &f64)| (k, self.problem.signs()[k] * (self.alpha[k] - before));
        let amounts = before.iter().enumerate().map(amount).filter(|(_, amount)| *amount != 0.0);
        self.twins.by_row(amounts, self.problem.rows())
    }

    /// Gives the other variable of a row the same u.
    fn match_twin(&mut self, k: usize) {
        if let Some(twin) = self.twins.other(k) {
            self.value[twin] = self.value_of(twin, self.sum_of(k));
        }
    }

    /// (B.1) for one variable.
    fn value_of(&self, k: usize, sum: f64) -> f64 {
        let own = self.problem.ridge()[k] * self.alpha[k] + self.problem.linear()[k];
        -(sum + self.problem.signs()[k] * own)
    }

    /// u back from v.
    fn sum_of(&self, k: usize) -> f64 {
        let own = self.problem.ridge()[k] * self.alpha[k] + self.problem.linear()[k];
        -self.value[k] - self.problem.signs()[k] * own
    }

    /// u of all variables.
    fn sums(&self) -> Vec<f64> {
        (0..self.alpha.len()).map(|k| self.sum_of(k)).collect()
    }

    /// Brings v of the active variables up to date.
    fn refresh(&mut self) {
        let mut value = std::mem::take(&mut self.value);
        self.rows.visit(|row, sum| {
            self.twins.variables(row as usize).for_each(|k| value[k] = self.value_of(k, sum));
        });
        self.value = value;
    }

    fn gradient(&self) -> Vec<f64> {
        self.value.iter().zip(self.problem.signs()).map(|(value, sign)| -sign * value).collect()
    }

    fn view(&self) -> View<'_> {
        View {
            coupling: self.problem.coupling(),
            alpha: &self.alpha,
            upper: self.problem.upper(),
            sign: self.problem.signs(),
            value: &self.value,
        }
    }

    /// The variables that are not set aside.
    fn active(&self) -> impl Iterator<Item = usize> {
        (0..self.alpha.len()).filter(|&k| self.active[k])
    }

    /// Whether a row has a variable that is not set aside.
    fn is_active(&self, row: usize) -> bool {
        self.twins.variables(row).any(|k| self.active[k])
    }

    fn choose(&mut self, levels: Levels, size: u64) {
        // A limit on time that leaves no work for a whole block leaves none for all variables.
        let affords_all = size >= self.walk.size;
        self.working = if affords_all && self.active().count() as u64 <= self.sizes.1 {
            // Each sign by itself: these are the classes of a pair.
            let (negative, positive): (Vec<usize>, Vec<usize>) =
                self.active().partition(|&k| self.problem.signs()[k] < 0.0);
            negative.into_iter().chain(positive).map(|k| k as u32).collect()
        } else {
            let last = self.working.iter().copied().filter(|&k| self.active[k as usize]);
            self.view().choose(self.active(), &levels, last, size as usize)
        };
    }

    /// Kernel values, v, α and bounds of the block.
    fn load_block(&mut self) {
        let size = self.working.len();
        self.block.resize(size);
        if self.loaded != self.working {
            self.load_kernel();
            self.loaded.clone_from(&self.working);
        }
        let problem = self.problem;
        for (k, &variable) in self.working.iter().enumerate() {
            let variable = variable as usize;
            let (sign, upper) = (problem.signs()[variable], problem.upper()[variable]);
            self.block.value[k] = self.value[variable];
            self.block.coefficient[k] = sign * self.alpha[variable];
            (self.block.low[k], self.block.high[k]) = if sign > 0.0 { (0.0, upper) } else { (-upper, 0.0) };
            self.block.second[k] = sign > 0.0;
            self.block.ridge[k] = problem.ridge()[variable];
        }
    }

    fn load_kernel(&mut self) {
        let (gram, block) = (self.problem.gram(), &mut self.block);
        let rows: Vec<usize> = self.working.iter().map(|&k| self.problem.rows()[k as usize]).collect();
        // Half of the values may be dearer than a look at the other half.
        values::fill(block, &self.tiles, gram, &rows, self.dear);
    }

    /// What moved in the block, and by how much that lowers the objective: `½ Σ s_k Δα_k (v_k before + v_k after)`.
    fn moves(&self) -> (Vec<Move>, f64) {
        let (mut amounts, mut gain) = (Vec::new(), 0.0);
        for (k, &variable) in self.working.iter().enumerate() {
            let variable = variable as usize;
            let amount = self.block.coefficient[k] - self.problem.signs()[variable] * self.alpha[variable];
            if amount != 0.0 {
                gain += 0.5 * amount * (self.value[variable] + self.block.value[k]);
                amounts.push((variable, amount));
            }
        }
        (self.twins.by_row(amounts.into_iter(), self.problem.rows()), gain)
    }

    /// Sets aside variables that have looked settled for long enough, when there are many.
    fn set_aside(&mut self, levels: Levels) {
        for k in (0..self.alpha.len()).filter(|&k| self.active[k]) {
            let settled = self.view().is_settled(k, &levels);
            self.settled[k] = if settled { self.settled[k] + 1 } else { 0 };
        }
        // A row is left out when all of its variables are.
        let stays = |k: usize| self.active[k] && self.settled[k] < PATIENCE;
        let staying = (0..self.twins.rows()).filter(|&row| self.twins.variables(row).any(stays)).count();
        let leaving = self.rows.active() - staying;
        if (leaving as f64) < WORTH_IT * self.rows.active() as f64 {
            return;
        }
        // What leaves takes its u along.
        self.refresh();
        let had: Vec<usize> = (0..self.twins.rows()).filter(|&row| self.is_active(row)).collect();
        for k in 0..self.alpha.len() {
            self.active[k] &= self.settled[k] < PATIENCE;
        }
        let left: Vec<usize> = had.into_iter().filter(|&row| !self.is_active(row)).collect();
        self.aside.note(left.into_iter(), &self.alpha);
        self.reactivate_rows(&[]);
    }

    /// Makes those rows active that have an active variable; those that come back get their u from `sums`.
    fn reactivate_rows(&mut self, sums: &[f64]) {
        let Engine { active, twins, rows, problem, .. } = self;
        let keep = |row: u32| twins.variables(row as usize).any(|k| active[k]);
        let sum = |row: u32| sums.get(row as usize).copied().unwrap_or(0.0);
        rows.reactivate(&problem.rows()[..twins.rows()], keep, sum);
    }
}

/// Where a convex problem cannot go below: `Σ_k min of ½ ridge_k d² + p_k d, 0 ≤ d ≤ u_k`, since K adds nothing negative.
fn floor(problem: &DualProblem<'_>) -> f64 {
    let least = |k: usize| {
        let (ridge, slope) = (problem.ridge()[k], problem.linear()[k]);
        // -slope/0 is an infinite step.
        let step = if slope < 0.0 { (-slope / ridge).min(problem.upper()[k]) } else { 0.0 };
        if step.is_finite() { (0.5 * ridge * step + slope) * step } else { f64::NEG_INFINITY }
    };
    (0..problem.len()).map(least).sum()
}
