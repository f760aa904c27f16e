//! `block-smo`: sequential minimal optimisation in blocks, for kernels and many rows.
//!
//! **Problem.** The general dual (D.1), as for `smo`: box, ridge, linear term, one sum held fixed, one a sign, or none.
//!
//! **Optimality.** The violation (D.2) is 0.
//!
//! **Step.** The variables that violate most, and half of the block before, make a block. Its kernel values are computed at once and stay
//! in the cache. Pairs in it move as in `smo` until its violation is a tenth of the whole's (`block.rs`). Then
//!
//! ```text
//! u_k += Σ_j s_j Δα_j K_jk   for all k,   v_k = −s_k ∇_k = −(u_k + s_k (ridge_k α_k + p_k))            (B.1)
//! ```
//!
//! with kernel rows in single precision, many at a time, and sums in double precision (`rows.rs`). The two variables of a regression's
//! row share its u (`twins.rs`). Variables that stay at a bound, far from moving, are set aside with their columns of the kernel rows
//! (shrinking).
//!
//! **Stopping.** At violation ≤ tolerance over all variables, including those set aside. Before that is claimed, u is computed once more
//! in double precision for every row that the certificate depends on (α > 0, or close to the margin). If the violation is then above
//! the tolerance, the search goes on from the better u: single precision limits the speed, not the result. When that does not help, or
//! blocks no longer gain, `smo` goes on from here in double precision.
//!
//! A problem of one class begins at a point found from a sample of its rows (`sample.rs`).
//!
//! A problem that fits into one block is kept in double precision from the start (`whole.rs`). Kernel values within a class then come
//! from the pool that all machines share (`values.rs`).
//!
//! **Cost.** One kernel row for each variable that moves in a block, unless the row is still kept: for most problems one to four times the
//! number of support vectors. Memory: the rows kept, within the budget; never n².
//!
//! **When to use.** Every kernel and bias, from some hundred rows on.
//!
//! **References.** Fan, Chen, Lin 2005 (pairs); Joachims 1999 (blocks, shrinking); Wen et al. 2018 (keeping half of a block).

mod aside;
mod block;
mod chain;
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
use super::start::{SnapshotControl, Start, feasible, poll_keeping};
use super::{Precision, Settings, Solution};
use crate::control::{Control, Progress, Stop, Work};
use crate::data::Matrix;
use crate::kernel::{ClassValues, Packable, Packed, Tiles};
use crate::problem::{DualProblem, MarginProblem};
use crate::simd::Real;
use aside::PastAlpha;
use block::Block;
pub(crate) use chain::{Chain, ChainProblem};
use choice::{Levels, View};
use exact::PreciseSums;
use rows::{KernelRows, Move};
use twins::Twins;

/// Variables of the first block and of the largest. The size doubles when most of a block's variables move, and halves when few do.
const BLOCK: (u64, u64) = (1024, 2048);

/// [`BLOCK`] for kernel values of [`DEAR`] or more arithmetic: smaller, so that polls are not far apart.
const DEAR_BLOCK: (u64, u64) = (256, 1024);

/// [`BLOCK`] for kernels that compute values one by one.
const SLOW_BLOCK: (u64, u64) = (256, 512);

/// The most rows of a problem that is solved as one block in double precision: 13 MB of kernel values, so that those of two machines fit into
/// the last cache.
pub(crate) const WHOLE_ROWS: usize = 1280;

/// The violation at which a block ends, as a part of the whole's.
const INNER: f64 = 0.1;

/// The violation at which a block of all active variables ends, as a part of the tolerance.
const ALL_ACTIVE: f64 = 0.5;

/// The most steps within a block, for each of its variables.
const STEPS_A_VARIABLE: u64 = 8;

/// Blocks between two looks at which variables can be set aside.
const LOOK_EVERY: u64 = 4;

/// Looks in a row at which a variable must look settled to be set aside.
const PATIENCE: u64 = 2;

/// The part by which kernel rows must become shorter for variables to be set aside.
const WORTH_IT: f64 = 0.2;

/// Arithmetic of a kernel value ([`Tiles::cost`]) below which rows are not kept, because computing a value is faster than touching new memory
/// for it.
const DEAR: f64 = 32.0;

/// Kernel values between two polls, times their arithmetic: some ten milliseconds.
const WORK_A_POLL: f64 = 2e8;

/// Steps without a gain above rounding after which `smo` takes over.
const STALL: u64 = 50_000;

/// The cost of a kernel value in the check and the certificate, in double precision, relative to one of the search. Too large: a limit on time
/// is not used up. Too small: it is overrun.
pub(crate) const OF_ENDING: f64 = 2.5;

/// The cost of adding a kernel value that is kept, in the unit of [`Tiles::cost`].
const OF_KEPT: f64 = 4.0;

/// Fewest variables of a block when a limit on time leaves no work for more. Smaller blocks make slow steps; larger ones need more time.
const LEAST_BLOCK: u64 = 16;

/// Blocks between two computations of the gap that the progress line shows.
const GAP_EVERY: u64 = 8;

/// Bytes needed when no kernel row is kept.
pub(super) fn bytes(problem: &MarginProblem<'_>, settings: &Settings) -> u64 {
    let matrix = problem.points().matrix();
    let in_classes = problem.gram().shared().map_or(0, ClassValues::bytes);
    shared_bytes(matrix, settings.precision) + in_classes + own_bytes(matrix, problem.variables(), settings.precision)
}

/// Bytes that all machines of a training share: the data, and its rows packed for products.
pub(crate) fn shared_bytes(matrix: &Matrix, precision: Precision) -> u64 {
    // The certificate needs double precision in any case.
    let packed = match precision {
        Precision::Single => Packed::<f32>::bytes(matrix) + Packed::<f64>::bytes(matrix),
        Precision::Double => Packed::<f64>::bytes(matrix),
    };
    matrix.bytes() + packed
}

/// Bytes that one machine of `rows` rows needs: vectors, a block, and panels.
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
    control: &mut dyn SnapshotControl,
) -> Solution {
    let memory = settings.memory.saturating_sub(bytes(problem, settings));
    let start = start.of_dual(problem);
    super::solve_by_dual(problem, |dual| solve_dual(dual, settings, memory, start, control))
}

/// Solves (D.1); `memory` is the budget of the kernel rows that are kept, in bytes.
fn solve_dual(
    problem: &DualProblem<'_>,
    settings: &Settings,
    memory: u64,
    start: Start,
    control: &mut dyn SnapshotControl,
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
            // The snapshots of `smo` have another form, so its control is a closure, which keeps none.
            let mut control =
                |progress: Progress| control.poll(Progress { iteration: progress.iteration + iterations, ..progress });
            let cap = settings.max_iterations.map(|cap| cap.saturating_sub(iterations).max(1));
            let settings = Settings { max_iterations: cap, ..settings.clone() };
            let solution = smo::solve_dual_from(problem, &settings, Start::Alpha(alpha), &mut control);
            DualSolution { iterations: iterations + solution.iterations, ..solution }
        }
    }
}

/// Runs the engine from `start`, or from a point found by a sample where there is none.
fn run<T: Packable>(
    problem: &DualProblem<'_>,
    settings: &Settings,
    memory: u64,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> End {
    let found = match start {
        Start::Scratch => sample::start::<T>(problem, settings, memory, control),
        _ => None,
    };
    Engine::<T>::new(problem, memory, found.unwrap_or(start)).run(settings, control)
}

/// Whether all kernel values and squared norms lie well within the range of single precision.
fn fits_single(problem: &DualProblem<'_>) -> bool {
    let (points, safe) = (problem.gram().points(), f32::SAFE * f32::SAFE);
    let norms = problem.rows().iter().map(|&row| points.squared_norm(row));
    let largest = norms.chain(problem.gram().diagonal(problem.rows())).fold(0.0, f64::max);
    largest <= safe
}

/// Variables of the first block and of the largest.
fn sizes<T: Real>(tiles: &Tiles<'_, T>) -> (u64, u64) {
    if !tiles.is_fast() {
        SLOW_BLOCK
    } else if tiles.cost() >= DEAR {
        DEAR_BLOCK
    } else {
        BLOCK
    }
}

/// What the engine returns: a solution, or a point from which `smo` goes on.
enum End {
    Solution(DualSolution),
    HandedOver { alpha: Vec<f64>, iterations: u64 },
}

/// The state of the search between two blocks.
struct Engine<'a, T: Real> {
    problem: &'a DualProblem<'a>,
    tiles: Tiles<'a, T>,
    /// Which variables share a row.
    twins: Twins,
    /// The kernel rows that are kept, and u of the active rows.
    rows: KernelRows<'a, T>,
    block: Block<T>,
    alpha: Vec<f64>,
    /// v of (B.1). Up to date for active variables and their twins; for all variables after a check.
    value: Vec<f64>,
    /// For each row set aside, the α that its u was computed from.
    aside: PastAlpha,
    /// The u that are known in double precision.
    exact: PreciseSums,
    active: Vec<bool>,
    /// For each variable the number of looks in a row at which it looked settled.
    settled: Vec<u64>,
    /// The variables of the block before, the newest last.
    working: Vec<u32>,
    /// The variables whose kernel values the block holds.
    loaded: Vec<u32>,
    /// Variables of the first block and of the largest.
    sizes: (u64, u64),
    dear: bool,
    /// Moves that u does not contain yet, before the first block.
    pending: Vec<Move>,
    /// A lower bound on the objective of a convex problem. An objective below it shows that the kernel is not positive semidefinite.
    floor: f64,
    walk: Walk,
    /// Kernel values computed or added so far; only [`Progress::work`] depends on it.
    work: f64,
}

/// Counters that later blocks depend on, and that a snapshot therefore holds.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    steps: u64,
    blocks: u64,
    /// Variables of the next block.
    size: u64,
    renewals: u64,
    /// Steps since the objective last fell by more than rounding.
    idle_steps: u64,
    objective: f64,
}

impl<'a, T: Packable> Engine<'a, T> {
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
            aside: PastAlpha::new(twins.rows()),
            exact: PreciseSums::default(),
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
            Start::Snapshot(snapshot) => {
                if engine.restore(snapshot) {
                    return engine;
                } else {
                    problem.start().to_vec()
                }
            }
        };
        engine.alpha = alpha;
        engine.pending = engine.all_moves();
        engine
    }
}

impl<T: Real> Engine<'_, T> {
    /// The primal objective at this point, with the best bias. Unlike the dual objective it may rise from block to block.
    fn primal(&self, gradient: &[f64]) -> f64 {
        self.problem.least_gap(&self.alpha, gradient) - self.problem.objective(&self.alpha, gradient)
    }

    /// The work so far, and the work of an end: sums in double precision.
    fn work(&self) -> Work {
        let support = self.alpha.iter().filter(|&&alpha| alpha > 0.0).count() as f64;
        Work { done: self.work, to_end: OF_ENDING * support * self.twins.rows() as f64 }
    }

    /// The work of a step with this many variables, including the most that it adds to the work of an end.
    fn work_of_step(&self, variables: u64) -> f64 {
        variables as f64 * (self.rows.active() as f64 + OF_ENDING * self.twins.rows() as f64)
    }

    /// Variables of the next block, limited by the work that a limit on time leaves.
    fn size_within(&self, work_left: Option<f64>) -> u64 {
        let Some(left) = work_left else { return self.walk.size };
        let affordable = (left - self.work().to_end) / self.work_of_step(1);
        (affordable as u64).max(LEAST_BLOCK).min(self.walk.size)
    }

    /// Computes u at a start other than 0. A break leaves no snapshot, because there is nothing to go on from yet.
    fn begin(&mut self, control: &mut dyn Control) -> ControlFlow<Stop> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return ControlFlow::Continue(());
        }
        let at_once = ((WORK_A_POLL / (self.rows.active() as f64 * self.tiles.cost())) as usize).max(1);
        let values = |moves: usize| moves as f64 * self.rows.active() as f64;
        let (all, end) = (values(pending.len()), self.work().to_end);
        for part in pending.chunks(at_once) {
            // The work of an end includes the rest of this one: a start that cannot be finished in time is given up at once.
            let work = Work { done: self.work, to_end: end + all - self.work };
            control.poll(Progress { work, ..Progress::default() })?;
            self.rows.add_passing(part);
            self.work += part.len() as f64 * self.rows.active() as f64;
        }
        self.refresh();
        self.walk.objective = self.problem.objective(&self.alpha, &self.gradient());
        ControlFlow::Continue(())
    }

    fn run(mut self, settings: &Settings, control: &mut dyn SnapshotControl) -> End {
        let cap = settings.max_iterations.unwrap_or_else(|| 10_000_000.max(100 * self.problem.len() as u64));
        let mut gap = None;
        // The lowest primal objective so far with its α and gradient, for a limit on time that comes before the end.
        let (is_limited, mut best) = (control.spent().is_some(), None::<(f64, Vec<f64>, Vec<f64>)>);
        // Whether α has moved and u has not, because a step was broken off.
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
                // α = 0 is never the best point: its decision function says nothing. While variables are set aside, their gradients belong to an
                // older point.
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
                // Includes one more step, because a step that has begun is finished.
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

    /// Solves one block. Breaks with a reason to stop, or with `None` to hand over to `smo`.
    fn step(
        &mut self,
        levels: Levels,
        tolerance: f64,
        cap: u64,
        progress: Progress,
        control: &mut dyn SnapshotControl,
    ) -> ControlFlow<Option<Stop>> {
        let work = self.rows.active() as f64 * self.tiles.cost();
        let at_once = ((WORK_A_POLL / work) as usize).max(1);
        // Polls in the middle of the block need a snapshot from before it.
        let before = (self.walk.size as usize > at_once).then(|| self.snapshot());
        self.choose(levels, self.size_within(control.work_left()));
        self.load_block();
        // A block of all active variables is the whole problem, so it is solved to the tolerance.
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
            // Below the least objective of a convex problem: rounding in this precision has made the matrix indefinite.
            return ControlFlow::Break(None);
        }
        for (&variable, &coefficient) in self.working.iter().zip(&self.block.coefficient) {
            // `+ 0.0` turns −0 into 0.
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

    /// For each row the sum of `s_j α_j` over its variables, without zeros.
    fn all_moves(&self) -> Vec<Move> {
        let amount = |variable: usize| self.problem.signs()[variable] * self.alpha[variable];
        let moves = (0..self.alpha.len()).filter(|&variable| self.alpha[variable] != 0.0);
        self.twins.by_row(moves.map(|variable| (variable, amount(variable))), self.problem.rows())
    }

    /// The moves from an older α to the present one.
    fn moves_since(&self, before: &[f64]) -> Vec<Move> {
        let amount = |(k, before): (usize, &f64)| (k, self.problem.signs()[k] * (self.alpha[k] - before));
        let amounts = before.iter().enumerate().map(amount).filter(|(_, amount)| *amount != 0.0);
        self.twins.by_row(amounts, self.problem.rows())
    }

    /// Gives the twin of a variable, if it has one, the same u.
    fn match_twin(&mut self, k: usize) {
        if let Some(twin) = self.twins.other(k) {
            self.value[twin] = self.value_of(twin, self.sum_of(k));
        }
    }

    /// v of (B.1) from u, for one variable.
    fn value_of(&self, k: usize, sum: f64) -> f64 {
        let own = self.problem.ridge()[k] * self.alpha[k] + self.problem.linear()[k];
        -(sum + self.problem.signs()[k] * own)
    }

    /// u of (B.1) from v, for one variable.
    fn sum_of(&self, k: usize) -> f64 {
        let own = self.problem.ridge()[k] * self.alpha[k] + self.problem.linear()[k];
        -self.value[k] - self.problem.signs()[k] * own
    }

    /// u of all variables.
    fn sums(&self) -> Vec<f64> {
        (0..self.alpha.len()).map(|k| self.sum_of(k)).collect()
    }

    /// Computes v of the active variables from their u.
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
        // When a limit on time leaves no work for a whole block, the block does not take all variables either.
        let affords_all = size >= self.walk.size;
        self.working = if affords_all && self.active().count() as u64 <= self.sizes.1 {
            // Sorted by sign: the two classes of a pair lie side by side.
            let (negative, positive): (Vec<usize>, Vec<usize>) =
                self.active().partition(|&k| self.problem.signs()[k] < 0.0);
            negative.into_iter().chain(positive).map(|k| k as u32).collect()
        } else {
            let last = self.working.iter().copied().filter(|&k| self.active[k as usize]);
            self.view().choose(self.active(), &levels, last, size as usize)
        };
    }

    /// Fills the block with the kernel values, v, coefficients and bounds of its variables.
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
        // Values with much arithmetic are computed once for each pair and mirrored.
        values::fill(block, &self.tiles, gram, &rows, self.dear);
    }

    /// The moves within the block, and by how much they lower the objective: `½ Σ s_k Δα_k (v_k before + v_k after)`.
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

    /// Sets aside the variables that have looked settled [`PATIENCE`] times, if that makes kernel rows shorter by [`WORTH_IT`].
    fn set_aside(&mut self, levels: Levels) {
        for k in (0..self.alpha.len()).filter(|&k| self.active[k]) {
            let settled = self.view().is_settled(k, &levels);
            self.settled[k] = if settled { self.settled[k] + 1 } else { 0 };
        }
        // A row is set aside when all of its variables are.
        let stays = |k: usize| self.active[k] && self.settled[k] < PATIENCE;
        let staying = (0..self.twins.rows()).filter(|&row| self.twins.variables(row).any(stays)).count();
        let leaving = self.rows.active() - staying;
        if (leaving as f64) < WORTH_IT * self.rows.active() as f64 {
            return;
        }
        // The u of variables that leave is kept in their v.
        self.refresh();
        let had: Vec<usize> = (0..self.twins.rows()).filter(|&row| self.is_active(row)).collect();
        for k in 0..self.alpha.len() {
            self.active[k] &= self.settled[k] < PATIENCE;
        }
        let left: Vec<usize> = had.into_iter().filter(|&row| !self.is_active(row)).collect();
        self.aside.note(left.into_iter(), &self.alpha);
        self.reactivate_rows(&[]);
    }

    /// Makes exactly the rows with an active variable active. Rows that come back take their u from `sums`.
    fn reactivate_rows(&mut self, sums: &[f64]) {
        let Engine { active, twins, rows, problem, .. } = self;
        let keep = |row: u32| twins.variables(row as usize).any(|k| active[k]);
        let sum = |row: u32| sums.get(row as usize).copied().unwrap_or(0.0);
        rows.reactivate(&problem.rows()[..twins.rows()], keep, sum);
    }
}

/// A lower bound on the objective of a convex problem: `Σ_k min of ½ ridge_k d² + p_k d, 0 ≤ d ≤ u_k`, because K adds nothing negative.
fn floor(problem: &DualProblem<'_>) -> f64 {
    let least = |k: usize| {
        let (ridge, slope) = (problem.ridge()[k], problem.linear()[k]);
        // -slope/0 is an infinite step.
        let step = if slope < 0.0 { (-slope / ridge).min(problem.upper()[k]) } else { 0.0 };
        if step.is_finite() { (0.5 * ridge * step + slope) * step } else { f64::NEG_INFINITY }
    };
    (0..problem.len()).map(least).sum()
}
