//! `smo`: sequential minimal optimisation, two variables at a time.
//!
//! **Problem.** The general dual (D.1): box, ridge, linear term, one sum held fixed, one a sign, or none.
//!
//! **Optimality.** The violation (D.2) is 0: no pair of variables of one group can move along the fixed sum and gain.
//!
//! **Step.** With coupled sums, `i` is the variable that violates most, `j` the one whose exact step with `i` gains most
//! (second order):
//!
//! ```text
//! g = s_j ∇_j − s_i ∇_i > 0,   η = K_ii + K_jj − 2 K_ij + ridges,   t = g/η,   gain = g²/(2η)
//! α_i += s_i t,  α_j −= s_j t,  t clipped so that both stay in their bounds                 (D.4)
//! ```
//!
//! When `η ≤ 0` the objective falls along the whole segment, and the step goes to its end. Without a coupled sum
//! the pair minimises a quadratic over a rectangle (D.5), which is solved exactly.
//!
//! **Stopping.** At violation ≤ tolerance, on a gradient whose rounding error is accounted for: when the error that the
//! updates may have gathered is not small beside the tolerance, the gradient is computed anew before the claim is made.
//! Once there, a tenth more steps (and 500) go on to a thousandth of the tolerance: on small problems the digits are free.
//! `Stalled` when a step changes nothing, or 20,000 steps lower the objective by no more than rounding. `Diverged` when the
//! segment has no end (a hard margin that does not exist), or none within reach of f64 (squared loss and a kernel that is not
//! positive semidefinite).
//!
//! **Start.** Any α, made feasible; its gradient costs a kernel row for each α that is not 0. A snapshot is taken between two
//! steps and holds all that the next ones depend on.
//!
//! **Cost.** O(n) a step and up to two kernel rows of O(non-zeros). Memory: the row cache, within the budget; never n².
//!
//! **When to use.** Every kernel, every bias; the reference that larger engines are checked against.
//!
//! **References.** Platt 1998; Fan, Chen, Lin 2005 (second-order selection); Steinwart, Hush, Scovel 2011 (no offset).

use std::ops::ControlFlow;

use super::cache::RowCache;
use super::drift::Drift;
use super::start::{Snapshot, SnapshotControl, Start, feasible, poll_keeping};
use super::{OF_ENDING, Settings, Solution};
use crate::control::{Control, Progress, Step, Stop, Unkept, Work};
use crate::problem::{Coupling, DualProblem, MarginProblem, pair_curvature};

/// Bytes that it needs without any row being kept.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    RowCache::bytes(problem.variables()) + 10 * 8 * problem.variables() as u64
}

pub(super) fn solve(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> Solution {
    let start = start.of_dual(problem);
    super::solve_by_dual(problem, |dual| solve_dual_from(dual, settings, start, control))
}

/// A point of the dual and how it was reached.
pub(crate) struct DualSolution {
    pub(crate) alpha: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    pub(crate) stop: Stop,
    pub(crate) iterations: u64,
}

/// Solves (D.1) from the problem's own start.
pub(crate) fn solve_dual(problem: &DualProblem<'_>, settings: &Settings, control: &mut dyn Control) -> DualSolution {
    solve_dual_from(problem, settings, Start::Scratch, &mut Unkept(control))
}

pub(super) fn solve_dual_from(
    problem: &DualProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> DualSolution {
    let cap = settings.max_iterations.unwrap_or_else(|| 10_000_000.max(100 * problem.len() as u64));
    let mut state = State::new(problem, settings.memory);
    let mut walk = Walk::default();
    match start {
        Start::Scratch | Start::Weights { .. } => {}
        Start::Alpha(alpha) => {
            let alpha = feasible(problem, &alpha);
            if let ControlFlow::Break(stop) = state.move_to(&alpha, control) {
                let gradient = problem.gradient(&alpha);
                return DualSolution { alpha, gradient, stop, iterations: 0 };
            }
        }
        Start::Snapshot(snapshot) => walk = state.restore(snapshot).unwrap_or_default(),
    }
    let Walk { mut iterations, mut polish_until, mut gained } = walk;
    let is_watched = control.wants_steps();
    let (mut gap, mut support) = (None, 0.0);
    let stop = loop {
        let choice = state.select();
        let violation = choice.as_ref().map_or(0.0, |choice| choice.violation);
        if iterations.is_multiple_of(GAP_EVERY) {
            gap = Some(problem.gap(&state.alpha, &state.gradient)).filter(|gap| gap.is_finite());
            support = state.alpha.iter().filter(|&&alpha| alpha > 0.0).count() as f64;
        }
        let rows = problem.len() as f64;
        // What a step adds to the support vectors is in the end to come.
        let to_end = OF_ENDING * (support + (2 * iterations.min(GAP_EVERY)) as f64).min(rows) * rows;
        let work = Work { done: iterations as f64 * rows, to_end };
        let progress = Progress { iteration: iterations, violation: Some(violation), gap, work, ..Progress::default() };
        let snapshot = || state.snapshot(Walk { iterations, polish_until, gained });
        if let ControlFlow::Break(stop) = poll_keeping(control, progress, snapshot) {
            break stop;
        }
        if violation <= settings.tolerance() {
            polish_until.get_or_insert(iterations + iterations / 10 + 500);
        }
        let good_enough = match polish_until {
            Some(end) if iterations < end => 1e-3 * settings.tolerance(),
            _ => settings.tolerance(),
        };
        let chosen = match choice {
            Some(choice) if choice.violation > good_enough && iterations < cap => choice,
            Some(choice) if choice.violation > settings.tolerance() => break Stop::IterationLimit,
            // A point that looks optimal is checked on a gradient without drift.
            _ if state.drift.error() > 0.01 * settings.tolerance() => {
                state.renew_gradient();
                continue;
            }
            _ => break Stop::Converged,
        };
        iterations += 1;
        let ahead = if is_watched { Some(state.look_ahead(&chosen)) } else { None };
        match state.step(chosen) {
            Outcome::Moved { gain } => {
                state.objective -= gain;
                gained += gain;
                if let Some(ahead) = ahead {
                    control.step(state.taken(&ahead, iterations, gain, violation));
                }
            }
            Outcome::Unbounded => break Stop::Diverged,
            Outcome::Nothing if state.drift.error() > 0.0 => state.renew_gradient(),
            Outcome::Nothing if violation <= settings.tolerance() => break Stop::Converged,
            Outcome::Nothing => break Stop::Stalled,
        }
        if iterations.is_multiple_of(STALL_WINDOW) {
            if gained <= 4.0 * f64::EPSILON * state.objective.abs() {
                state.renew_gradient();
                let violation = problem.violation(&state.alpha, &state.gradient);
                break if violation <= settings.tolerance() { Stop::Converged } else { Stop::Stalled };
            }
            gained = 0.0;
        }
    };
    if problem.is_noisy(&state.alpha, &state.gradient, state.drift.error()) {
        state.renew_gradient();
    }
    DualSolution { alpha: state.alpha, gradient: state.gradient, stop, iterations }
}

/// The state of the loop beside the point.
#[derive(Clone, Copy, Default)]
struct Walk {
    iterations: u64,
    polish_until: Option<u64>,
    gained: f64,
}

struct State<'a> {
    problem: &'a DualProblem<'a>,
    cache: RowCache,
    diagonal: Vec<f64>,
    /// The curvature that a smaller one is taken for.
    least_curvature: f64,
    alpha: Vec<f64>,
    gradient: Vec<f64>,
    objective: f64,
    drift: Drift,
}

/// The pair to move, and the largest violation seen while choosing.
struct Choice {
    i: usize,
    j: usize,
    violation: f64,
}

/// A step before it is taken.
struct Ahead {
    i: usize,
    j: usize,
    before: [f64; 2],
    /// The segment that `α_j` may move on, and where it would go without its ends.
    low: f64,
    high: f64,
    wanted: f64,
}

enum Outcome {
    Moved { gain: f64 },
    Nothing,
    Unbounded,
}

impl<'a> State<'a> {
    fn new(problem: &'a DualProblem<'a>, memory: u64) -> Self {
        let alpha = problem.start().to_vec();
        let gradient = problem.gradient(&alpha);
        let vectors = 10 * 8 * problem.len() as u64;
        let cache = RowCache::new(problem.len(), memory.saturating_sub(vectors));
        let objective = problem.objective(&alpha, &gradient);
        let diagonal = problem.diagonal();
        let drift = Drift::new(&diagonal, &gradient);
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        let least_curvature = TINY * largest.clamp(f64::MIN_POSITIVE, 1.0);
        State { problem, cache, diagonal, least_curvature, alpha, gradient, objective, drift }
    }

    /// Moves from the problem's start to another point, with one kernel row for each α that differs.
    fn move_to(&mut self, alpha: &[f64], control: &mut dyn Control) -> ControlFlow<Stop> {
        let support = alpha.iter().filter(|&&alpha| alpha > 0.0).count() as f64;
        let (rows, mut moved) = (alpha.len() as f64, 0.0);
        for i in 0..alpha.len() {
            let delta = alpha[i] - self.alpha[i];
            if delta != 0.0 {
                moved += 1.0;
                let work = Work { done: moved * rows, to_end: OF_ENDING * support * rows };
                control.poll(Progress { work, ..Progress::default() })?;
                self.alpha[i] = alpha[i];
                self.update_gradient(i, delta, i, 0.0);
            }
        }
        self.objective = self.problem.objective(&self.alpha, &self.gradient);
        ControlFlow::Continue(())
    }

    /// Everything that later steps depend on. Numbers: objective, gained, and the drift's error and size. Lists: the drift's updates, and the
    /// end of polishing if it has begun.
    fn snapshot(&self, walk: Walk) -> Snapshot {
        let (error, size, updates) = self.drift.gathered();
        Snapshot {
            iterations: walk.iterations,
            alpha: self.alpha.clone(),
            gradient: self.gradient.clone(),
            lists: vec![vec![updates], walk.polish_until.into_iter().collect()],
            numbers: vec![self.objective, walk.gained, error, size],
        }
    }

    /// Puts a snapshot back; `None`, and nothing has changed, when it does not fit this problem.
    fn restore(&mut self, snapshot: Snapshot) -> Option<Walk> {
        if !snapshot.fits(self.problem) {
            return None;
        }
        let &[objective, gained, error, size] = snapshot.numbers.as_slice() else { return None };
        let [updates, polish_until] = snapshot.lists.as_slice() else { return None };
        let (&[updates], &([] | [_])) = (updates.as_slice(), &polish_until.as_slice()) else { return None };
        let walk = Walk { iterations: snapshot.iterations, polish_until: polish_until.first().copied(), gained };
        self.drift.restore((error, size, updates));
        self.objective = objective;
        (self.alpha, self.gradient) = (snapshot.alpha, snapshot.gradient);
        Some(walk)
    }

    fn renew_gradient(&mut self) {
        self.gradient = self.problem.gradient(&self.alpha);
        self.drift.renew(&self.gradient);
    }

    fn select(&mut self) -> Option<Choice> {
        match self.problem.coupling() {
            Coupling::None => self.select_free(),
            Coupling::All => self.select_coupled(None).map(|(choice, _)| choice),
            Coupling::BySign => {
                let [plus, minus] = [1.0, -1.0].map(|sign| self.select_coupled(Some(sign)));
                let violation =
                    [&plus, &minus].iter().filter_map(|c| c.as_ref()).map(|c| c.0.violation).fold(0.0, f64::max);
                let better = match (plus, minus) {
                    (Some(plus), Some(minus)) => Some(if plus.1 >= minus.1 { plus } else { minus }),
                    (plus, minus) => plus.or(minus),
                };
                better.map(|(choice, _)| Choice { violation, ..choice })
            }
        }
    }

    /// The pair that (D.4) gains most with, within one group, and that gain. `None` when nothing violates.
    fn select_coupled(&mut self, group: Option<f64>) -> Option<(Choice, f64)> {
        let signs = self.problem.signs();
        let within = |i: usize| group.is_none_or(|group| signs[i] == group);
        let (mut i, mut most) = (usize::MAX, f64::NEG_INFINITY);
        for (k, &sign) in signs.iter().enumerate() {
            let value = -sign * self.gradient[k];
            let alpha = self.alpha[k];
            let up = if sign > 0.0 { alpha < self.problem.upper()[k] } else { alpha > 0.0 };
            if up && within(k) && value > most {
                (i, most) = (k, value);
            }
        }
        if i == usize::MAX {
            return None;
        }
        let row = self.cache.row(self.problem, i);
        let (mut j, mut best, mut least) = (usize::MAX, f64::NEG_INFINITY, f64::INFINITY);
        for k in 0..signs.len() {
            let alpha = self.alpha[k];
            let down = if signs[k] > 0.0 { alpha > 0.0 } else { alpha < self.problem.upper()[k] };
            if !down || !within(k) {
                continue;
            }
            let value = -signs[k] * self.gradient[k];
            least = least.min(value);
            let slope = most - value;
            if slope > 0.0 {
                let curvature = self.diagonal[i] + self.diagonal[k] - 2.0 * row[k];
                let gain = slope * slope / curvature.max(self.least_curvature);
                if gain > best {
                    (j, best) = (k, gain);
                }
            }
        }
        (j != usize::MAX).then_some((Choice { i, j, violation: most - least }, best))
    }

    /// Without a coupled sum: the variable that gains most by itself, and the partner that gains most with it.
    fn select_free(&mut self) -> Option<Choice> {
        let (alpha, gradient, diagonal) = (&self.alpha, &self.gradient, &self.diagonal);
        let (signs, upper) = (self.problem.signs(), self.problem.upper());
        // The projected gradient: the part of −∇ along which the variable can move.
        let pull = |k: usize| {
            let descent = -gradient[k];
            let free = if descent > 0.0 { alpha[k] < upper[k] } else { alpha[k] > 0.0 };
            if free { descent } else { 0.0 }
        };
        let (mut i, mut best, mut violation) = (usize::MAX, 0.0, 0.0f64);
        for (k, curvature) in diagonal.iter().enumerate() {
            let pull = pull(k);
            violation = violation.max(pull.abs());
            let gain = pull * pull / curvature.max(self.least_curvature);
            if gain > best {
                (i, best) = (k, gain);
            }
        }
        if i == usize::MAX {
            return None;
        }
        let row = self.cache.row(self.problem, i);
        let (pull_i, a) = (pull(i), diagonal[i]);
        let (mut j, mut best) = (i, f64::NEG_INFINITY);
        for k in (0..alpha.len()).filter(|&k| k != i) {
            let pull_k = pull(k);
            if pull_k == 0.0 {
                continue;
            }
            let (b, c) = (diagonal[k], signs[i] * signs[k] * row[k]);
            let determinant = (a * b - c * c).max(TINY * a * b);
            let gain = (b * pull_i * pull_i - 2.0 * c * pull_i * pull_k + a * pull_k * pull_k) / determinant;
            if gain > best {
                (j, best) = (k, gain);
            }
        }
        Some(Choice { i, j, violation })
    }

    fn step(&mut self, Choice { i, j, .. }: Choice) -> Outcome {
        let before = (self.alpha[i], self.alpha[j]);
        let moved = match self.problem.coupling() {
            Coupling::None => self.minimise_rectangle(i, j),
            _ => self.minimise_segment(i, j),
        };
        let Some((alpha_i, alpha_j)) = moved else { return Outcome::Unbounded };
        let (delta_i, delta_j) = (alpha_i - before.0, if i == j { 0.0 } else { alpha_j - before.1 });
        if delta_i == 0.0 && delta_j == 0.0 || !(delta_i.is_finite() && delta_j.is_finite()) {
            return Outcome::Nothing;
        }
        let change = self.drift.change(delta_i, self.diagonal[i]) + self.drift.change(delta_j, self.diagonal[j]);
        if change.is_nan() || change >= HUGE {
            return Outcome::Unbounded;
        }
        let gain = self.gain(i, delta_i, j, delta_j);
        self.alpha[j] = alpha_j;
        self.alpha[i] = alpha_i;
        self.update_gradient(i, delta_i, j, delta_j);
        Outcome::Moved { gain }
    }

    /// Where `α_j` may go, and where it would go without bounds: for those who watch.
    fn look_ahead(&mut self, &Choice { i, j, .. }: &Choice) -> Ahead {
        let (signs, upper) = (self.problem.signs(), self.problem.upper());
        let before = [self.alpha[i], self.alpha[j]];
        let (kernel, gradient) = (self.cache.row(self.problem, i)[j], [self.gradient[i], self.gradient[j]]);
        let own = [self.diagonal[i], self.diagonal[j]];
        let (low, high, change) = if self.problem.coupling() == Coupling::None {
            let cross = signs[i] * signs[j] * kernel;
            let determinant = own[0] * own[1] - cross * cross;
            let change = if i == j || determinant <= 0.0 {
                -gradient[1] / own[1]
            } else {
                (cross * gradient[0] - own[0] * gradient[1]) / determinant
            };
            (0.0, upper[j], change)
        } else {
            let slope = signs[j] * gradient[1] - signs[i] * gradient[0];
            let curvature = pair_curvature(own, kernel, self.problem.ridge()[i] + self.problem.ridge()[j]);
            // How far t of (D.4) can go in both directions until α_i meets a bound, as changes of α_j.
            let [down, up] = if signs[i] == signs[j] {
                [upper[i] - before[0], before[0]]
            } else {
                [before[0], upper[i] - before[0]]
            };
            let t = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
            ((before[1] - down).max(0.0), (before[1] + up).min(upper[j]), -signs[j] * t)
        };
        Ahead { i, j, before, low, high, wanted: before[1] + change }
    }

    /// The step that was looked at, now that it is taken.
    fn taken(&self, ahead: &Ahead, iteration: u64, gain: f64, violation: f64) -> Step {
        let (problem, &Ahead { i, j, before, low, high, wanted }) = (self.problem, ahead);
        let pair = |values: &[f64]| [values[i], values[j]];
        let bias = || -problem.multiplier(&self.alpha, &self.gradient, None);
        Step::Pair {
            machine: 0,
            iteration,
            i: problem.rows()[i],
            j: problem.rows()[j],
            signs: pair(problem.signs()),
            upper: pair(problem.upper()),
            before,
            after: pair(&self.alpha),
            low,
            high,
            wanted,
            taken: self.alpha[j],
            gain,
            dual: -problem.objective(&self.alpha, &self.gradient),
            gap: problem.gap(&self.alpha, &self.gradient),
            violation,
            bias: (problem.coupling() == Coupling::All).then(bias),
        }
    }

    /// By how much a move lowers the objective: minus (D.5).
    fn gain(&mut self, i: usize, delta_i: f64, j: usize, delta_j: f64) -> f64 {
        let cross = self.problem.signs()[i] * self.problem.signs()[j] * self.cache.row(self.problem, i)[j];
        -(self.gradient[i] + 0.5 * self.diagonal[i] * delta_i) * delta_i
            - (self.gradient[j] + 0.5 * self.diagonal[j] * delta_j) * delta_j
            - cross * delta_i * delta_j
    }

    /// (D.4): the exact step along the segment; `None` when it has no end.
    fn minimise_segment(&mut self, i: usize, j: usize) -> Option<(f64, f64)> {
        let (signs, upper) = (self.problem.signs(), self.problem.upper());
        let slope = signs[j] * self.gradient[j] - signs[i] * self.gradient[i];
        let ridge = self.problem.ridge()[i] + self.problem.ridge()[j];
        let own = [self.diagonal[i], self.diagonal[j]];
        let curvature = pair_curvature(own, self.cache.row(self.problem, i)[j], ridge);
        // How far t can go before a bound is met.
        let room_i = if signs[i] > 0.0 { upper[i] - self.alpha[i] } else { self.alpha[i] };
        let room_j = if signs[j] > 0.0 { self.alpha[j] } else { upper[j] - self.alpha[j] };
        let room = room_i.min(room_j);
        let wanted = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
        if wanted.min(room) == f64::INFINITY {
            return None;
        }
        let step = |k: usize, room_k: f64, direction: f64| {
            let end = if direction > 0.0 { upper[k] } else { 0.0 };
            // At the end of the segment the variable becomes the bound itself, without the rounding of a sum.
            if wanted >= room && room_k <= room {
                end
            } else {
                (self.alpha[k] + direction * wanted.min(room)).clamp(0.0, upper[k])
            }
        };
        Some((step(i, room_i, signs[i]), step(j, room_j, -signs[j])))
    }

    /// The exact minimum over the rectangle of both bounds; `None` when it has none.
    ///
    /// ```text
    /// min over (d_i, d_j):  g_i d_i + g_j d_j + ½ (a d_i² + 2c d_i d_j + b d_j²)                  (D.5)
    /// ```
    fn minimise_rectangle(&mut self, i: usize, j: usize) -> Option<(f64, f64)> {
        let (signs, upper) = (self.problem.signs(), self.problem.upper());
        let (a, b) = (self.diagonal[i], self.diagonal[j]);
        // One variable: the minimum of slope·d + ½·curvature·d² with the variable in its bounds.
        let along = |k: usize, slope: f64, curvature: f64| {
            let target = if curvature > 0.0 {
                self.alpha[k] - slope / curvature
            } else if slope < 0.0 {
                f64::INFINITY
            } else {
                0.0
            };
            target.clamp(0.0, upper[k])
        };
        if i == j {
            let alpha = along(i, self.gradient[i], a);
            return alpha.is_finite().then_some((alpha, alpha));
        }
        let c = signs[i] * signs[j] * self.cache.row(self.problem, i)[j];
        let (g_i, g_j) = (self.gradient[i], self.gradient[j]);
        let determinant = a * b - c * c;
        if determinant > 1e-14 * a * b {
            let free_i = self.alpha[i] + (c * g_j - b * g_i) / determinant;
            let free_j = self.alpha[j] + (c * g_i - a * g_j) / determinant;
            if (0.0..=upper[i]).contains(&free_i) && (0.0..=upper[j]).contains(&free_j) {
                return Some((free_i, free_j));
            }
        }
        // Otherwise the minimum lies on an edge: fix one variable at a bound, minimise over the other.
        let mut best: Option<(f64, f64, f64)> = None;
        let mut offer = |alpha_i: f64, alpha_j: f64| {
            if !(alpha_i.is_finite() && alpha_j.is_finite()) {
                return;
            }
            let (d_i, d_j) = (alpha_i - self.alpha[i], alpha_j - self.alpha[j]);
            let value = g_i * d_i + g_j * d_j + 0.5 * (a * d_i * d_i + b * d_j * d_j) + c * d_i * d_j;
            if best.is_none_or(|(least, ..)| value < least) {
                best = Some((value, alpha_i, alpha_j));
            }
        };
        for end in [0.0, upper[i]].into_iter().filter(|end| end.is_finite()) {
            offer(end, along(j, g_j + c * (end - self.alpha[i]), b));
        }
        for end in [0.0, upper[j]].into_iter().filter(|end| end.is_finite()) {
            offer(along(i, g_i + c * (end - self.alpha[j]), a), end);
        }
        best.map(|(_, alpha_i, alpha_j)| (alpha_i, alpha_j))
    }

    fn update_gradient(&mut self, i: usize, delta_i: f64, j: usize, delta_j: f64) {
        let signs = self.problem.signs();
        let (row_i, row_j) = self.cache.pair(self.problem, i, j);
        let (scale_i, scale_j) = (signs[i] * delta_i, signs[j] * delta_j);
        for k in 0..signs.len() {
            self.gradient[k] += signs[k] * (scale_i * row_i[k] + scale_j * row_j[k]);
        }
        self.gradient[i] += self.problem.ridge()[i] * delta_i;
        self.gradient[j] += self.problem.ridge()[j] * delta_j;
        self.drift.add(delta_i, self.diagonal[i], &self.gradient);
        self.drift.add(delta_j, self.diagonal[j], &self.gradient);
    }
}

/// Steps between two computations of the gap that progress shows.
const GAP_EVERY: u64 = 256;

/// Steps after which the objective must have fallen by more than rounding.
const STALL_WINDOW: u64 = 20_000;

/// A change of the gradient from which on a search has no end: the squares of larger numbers leave the range of f64.
const HUGE: f64 = 1e100;

/// Stands for a curvature that is 0 or below, so that such a pair is chosen first; where all kernel values are small, this part of them.
const TINY: f64 = 1e-12;
