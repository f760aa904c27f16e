//! `dual-ascent`: stochastic dual coordinate ascent, one variable at a time.
//!
//! **Problem.** The dual (P.2) of hinge and squared loss with a folded or no bias: a box and no coupled sum. With the linear kernel
//! also logistic, epsilon, squared epsilon and one-class loss, and an explicit bias, whose sum is approached by (DA.2) of `linear.rs`.
//!
//! **Optimality.** The projected gradient (D.2) is 0.
//!
//! **Step.** Exact in one variable, in a new random order each sweep:
//!
//! ```text
//! α_k += (1 − y_k Σ_i α_i y_i K_ik − r_k α_k)/(K_kk + r_k),  clipped to [0, u_k]            (D.6)
//! ```
//!
//! With the linear kernel the sum is `⟨w, x_k⟩` and w is kept, so a step costs the row's non-zeros. With other kernels the gradient is
//! kept, and a step that moves costs a kernel row. Variables at a bound whose gradient points outward are left out of the sweeps until the
//! others are done; then all are visited again.
//!
//! **Stopping.** When a sweep over all variables finds no violation over the tolerance and moves α by no more than
//! the tolerance: ‖α_t − α_{t−1}‖ ≤ tolerance · max(1, ‖α_t‖). With the linear kernel also at a relative duality gap, where one is
//! asked for.
//!
//! **Cost.** A sweep: O(non-zeros) linear, O(n) for each variable moved otherwise.
//!
//! **When to use.** Linear kernel, many columns or many rows, C not too large.
//!
//! **References.** Hsieh et al. 2008; Shalev-Shwartz, Zhang 2013.

mod check;
mod linear;
mod step;
mod teams;

pub(crate) use check::HUGE;
pub(crate) use linear::{MOST_LANES, first_coefficient};
pub(crate) use step::{Step, step};

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::cache::RowCache;
use super::drift::Drift;
use super::smo::DualSolution;
use super::start::{Start, feasible};
use super::{Decision, Settings, Solution};
use crate::control::{Control, Progress, Step as Shown, Stop};
use crate::problem::{Bias, DualProblem, FromNu, LinearProblem, MarginProblem};

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    let cache = if problem.kernel().is_linear() { 0 } else { RowCache::bytes(problem.len()) };
    cache + own_bytes(problem)
}

pub(super) fn solve(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn Control,
) -> Solution {
    if problem.kernel().is_linear() && !problem.hard() {
        return solve_linear(problem, settings, start, control);
    }
    super::solve_by_dual(problem, |dual| {
        let start = match start {
            Start::Alpha(alpha) => feasible(dual, &alpha),
            Start::Scratch | Start::Weights { .. } | Start::Snapshot(_) => vec![0.0; dual.len()],
        };
        if problem.kernel().is_linear() {
            let keeper = Weights::new(problem);
            ascend(dual, keeper, &start, settings, control)
        } else {
            let vectors = 10 * 8 * dual.len() as u64;
            let cache = RowCache::new(dual.len(), settings.memory.saturating_sub(vectors));
            let (diagonal, gradient) = (dual.diagonal(), dual.linear().to_vec());
            let drift = Drift::new(&diagonal, &gradient);
            let keeper = Gradient { cache, diagonal, gradient, drift };
            ascend(dual, keeper, &start, settings, control)
        }
    })
}

/// Solves a problem with the linear kernel, keeping w.
fn solve_linear(problem: &MarginProblem<'_>, settings: &Settings, start: Start, control: &mut dyn Control) -> Solution {
    solve_together(std::slice::from_ref(problem), settings, vec![start], control).swap_remove(0)
}

/// Whether several problems like this one over the same rows are solved side by side.
pub(super) fn solves_together(problem: &MarginProblem<'_>) -> bool {
    problem.kernel().is_linear() && !problem.hard()
}

/// Bytes that a machine needs in addition to the data.
fn own_bytes(problem: &MarginProblem<'_>) -> u64 {
    10 * 8 * (problem.len() + problem.columns()) as u64
}

/// Solves up to [`MOST_LANES`] problems with the same rows, loss and bias. Each ends at the optimum that it would reach alone.
pub(super) fn solve_together(
    problems: &[MarginProblem<'_>],
    settings: &Settings,
    starts: Vec<Start>,
    control: &mut dyn Control,
) -> Vec<Solution> {
    let linear: Vec<LinearProblem<'_>> = problems.iter().map(LinearProblem::of_margin).collect();
    let starts: Vec<_> = starts.iter().zip(problems).map(|(start, own)| start.coefficients(own.signs())).collect();
    let found = linear::ascend(&linear, &starts, settings, control);
    let solution = |(found, problem): (linear::Ascent, &MarginProblem<'_>)| Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: found.end.point.weights, bias: found.end.point.bias },
        alpha: Some(found.end.coefficients.iter().zip(problem.signs()).map(|(c, sign)| c * sign).collect()),
        decision_values: Some(found.end.values),
        stop: found.stop,
        iterations: found.sweeps,
        notes: Vec::new(),
    };
    found.into_iter().zip(problems).map(solution).collect()
}

/// Keeps w or the gradient up to date while α moves, so that one component of the gradient is cheap.
trait Keeper {
    /// Component `k` of the gradient, without the ridge.
    fn component(&self, dual: &DualProblem<'_>, k: usize) -> f64;
    /// Takes note that α_k has moved by `delta`.
    fn moved(&mut self, dual: &DualProblem<'_>, k: usize, delta: f64);
    /// A bound on the rounding error that the moves may have left in each component.
    fn drift(&self) -> f64;
}

/// w of a linear kernel, the folded bias last.
struct Weights<'a> {
    problem: &'a MarginProblem<'a>,
    weights: Vec<f64>,
    bias: f64,
    constant: f64,
}

impl<'a> Weights<'a> {
    fn new(problem: &'a MarginProblem<'a>) -> Self {
        let constant = if problem.bias() == Bias::Folded { 1.0 } else { 0.0 };
        Weights { problem, weights: vec![0.0; problem.points().matrix().columns()], bias: 0.0, constant }
    }
}

impl Keeper for Weights<'_> {
    fn component(&self, dual: &DualProblem<'_>, k: usize) -> f64 {
        let decision = self.problem.points().matrix().dot(dual.rows()[k], &self.weights) + self.bias;
        dual.signs()[k] * decision + dual.linear()[k]
    }

    fn moved(&mut self, dual: &DualProblem<'_>, k: usize, delta: f64) {
        let scale = delta * dual.signs()[k];
        self.problem.points().matrix().add_scaled(dual.rows()[k], scale, &mut self.weights);
        self.bias += scale * self.constant;
    }

    /// 0: the model's w is computed from α, so updates leave no error in it.
    fn drift(&self) -> f64 {
        0.0
    }
}

/// The whole gradient, for any kernel.
struct Gradient {
    cache: RowCache,
    diagonal: Vec<f64>,
    gradient: Vec<f64>,
    drift: Drift,
}

impl Keeper for Gradient {
    fn component(&self, _: &DualProblem<'_>, k: usize) -> f64 {
        self.gradient[k]
    }

    fn moved(&mut self, dual: &DualProblem<'_>, k: usize, delta: f64) {
        let scale = delta * dual.signs()[k];
        for ((value, sign), kernel) in self.gradient.iter_mut().zip(dual.signs()).zip(self.cache.row(dual, k)) {
            *value += scale * sign * kernel;
        }
        self.drift.add(delta, self.diagonal[k], &self.gradient);
    }

    fn drift(&self) -> f64 {
        self.drift.error()
    }
}

/// Sweeps until nothing moves.
fn ascend(
    dual: &DualProblem<'_>,
    mut keeper: impl Keeper,
    start: &[f64],
    settings: &Settings,
    control: &mut dyn Control,
) -> DualSolution {
    let n = dual.len();
    let cap = settings.max_iterations.unwrap_or(1_000_000);
    let diagonal = dual.diagonal();
    let mut random = Pcg64::seed_from_u64(settings.seed);
    let mut alpha = vec![0.0; n];
    let mut active: Vec<usize> = (0..n).collect();
    let mut sweeps = 0;
    let mut broken = None;
    for (moved, k) in (0..n).filter(|&k| start[k] != 0.0).enumerate() {
        if moved % POLL_EVERY == 0
            && let ControlFlow::Break(stop) = control.poll(Progress::default())
        {
            // Without a fixed sum, any part of the start is feasible.
            broken = Some(stop);
            break;
        }
        alpha[k] = start[k];
        keeper.moved(dual, k, start[k]);
    }
    let is_watched = control.wants_steps();
    let mut objective = if is_watched { dual.objective(&alpha, &gradient(dual, &keeper, &alpha)) } else { 0.0 };
    // Variables at a bound whose gradient points outward by more than this are left out.
    let mut outward = f64::INFINITY;
    let stop = 'sweeps: loop {
        if let Some(stop) = broken {
            break stop;
        }
        active.shuffle(&mut random);
        let whole = active.len() == n;
        let (mut violation, mut moved) = (0.0f64, 0.0);
        let mut kept = 0;
        for place in 0..active.len() {
            if place % POLL_EVERY == 0 {
                let progress = Progress { iteration: sweeps, violation: Some(violation), ..Progress::default() };
                if let ControlFlow::Break(stop) = control.poll(progress) {
                    break 'sweeps stop;
                }
            }
            let k = active[place];
            let slope = keeper.component(dual, k) + dual.ridge()[k] * alpha[k];
            let upper = dual.upper()[k];
            let at_bound = alpha[k] <= 0.0 && slope > 0.0 || alpha[k] >= upper && slope < 0.0;
            if at_bound && slope.abs() > outward {
                continue;
            }
            active[kept] = k;
            kept += 1;
            if at_bound || slope == 0.0 {
                continue;
            }
            violation = violation.max(slope.abs());
            // (D.6); a row of zeros has no curvature and goes to the end of its box.
            let target =
                if diagonal[k] > 0.0 { alpha[k] - slope / diagonal[k] } else { -slope.signum() * f64::INFINITY };
            let (wanted, target) = (target, target.clamp(0.0, upper));
            // The objective has no lower bound in f64: a hard margin that does not exist, or a kernel that is not positive semidefinite.
            if target == f64::INFINITY || slope.is_nan() || slope.abs() >= HUGE {
                break 'sweeps Stop::Diverged;
            }
            let delta = target - alpha[k];
            if delta != 0.0 {
                if is_watched {
                    let gain = -(slope + 0.5 * diagonal[k] * delta) * delta;
                    objective -= gain;
                    control.step(Shown::Coordinate {
                        machine: 0,
                        iteration: sweeps,
                        row: dual.rows()[k],
                        sign: dual.signs()[k],
                        low: 0.0,
                        high: upper,
                        before: alpha[k],
                        wanted,
                        taken: target,
                        gain,
                        dual: Some(-objective),
                        bias: None,
                    });
                }
                alpha[k] = target;
                keeper.moved(dual, k, delta);
                moved += delta * delta;
            }
        }
        active.truncate(kept);
        sweeps += 1;
        outward = if violation > 0.0 { violation } else { f64::INFINITY };
        let norm = alpha.iter().map(|value| value * value).sum::<f64>().sqrt();
        let still = moved.sqrt() <= settings.tolerance() * norm.max(1.0);
        if violation <= settings.tolerance() && (still || moved == 0.0) {
            // The sweep measured each violation before later steps moved, so it is measured again at the end point.
            if whole && dual.violation(&alpha, &gradient(dual, &keeper, &alpha)) <= settings.tolerance() {
                break Stop::Converged;
            }
            if whole && moved == 0.0 {
                break Stop::Stalled;
            }
            if sweeps >= cap {
                break Stop::IterationLimit;
            }
            // The active variables are done: visit all again.
            active = (0..n).collect();
            outward = f64::INFINITY;
        } else if moved == 0.0 && whole {
            break Stop::Stalled;
        } else if sweeps >= cap {
            break Stop::IterationLimit;
        } else if moved == 0.0 {
            active = (0..n).collect();
            outward = f64::INFINITY;
        }
    };
    let mut gradient = gradient(dual, &keeper, &alpha);
    if dual.is_noisy(&alpha, &gradient, keeper.drift()) {
        gradient = dual.gradient(&alpha);
    }
    DualSolution { alpha, gradient, stop, iterations: sweeps }
}

fn gradient(dual: &DualProblem<'_>, keeper: &impl Keeper, alpha: &[f64]) -> Vec<f64> {
    (0..dual.len()).map(|k| keeper.component(dual, k) + dual.ridge()[k] * alpha[k]).collect()
}

/// Steps between two polls: a few milliseconds of work at most.
const POLL_EVERY: usize = 64;
