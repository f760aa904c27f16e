//! The dual as a general quadratic program, by an interior-point method: the independent reference.
//!
//! # Problem
//! (D.1): hinge and squared loss, soft and hard margin, every kernel and every bias.
//!
//! # Optimality
//! The Karush-Kuhn-Tucker conditions of (D.1); see `DualProblem::violation`.
//!
//! # Step
//! A primal-dual predictor-corrector method on
//! ```text
//! min ½ x′Px + q′x,   Ax + s = b,   s in a cone                                   (IP.1)
//! ```
//! with P the upper half of Q, one row of A for each coupled sum and each finite bound, through the `clarabel` crate.
//! It runs on a thread of its own while the caller's thread waits and keeps asking the control: a factorisation cannot
//! be stopped, so after an interrupt the thread is left to end by itself at its next iteration.
//!
//! An interior point has no variable at its bound. Those that belong there are put there
//! ```text
//! α_i = 0 where α_i / max α < g_i − s_i ρ,   α_i = u_i where (u_i − α_i) / max α < s_i ρ − g_i          (IP.2)
//! ```
//! with ρ of (D.3), and the coupled sums are restored over the others, F. What error is left there is taken off by Newton's step
//! ```text
//! Q_FF δ + E λ = −g_F,   E′δ = 0,   α_F ← α_F + t δ                                                      (IP.3)
//! ```
//! with the longest t ≤ 1 within the bounds, as long as it makes the violation smaller. A column of E holds the s_i of one coupled sum.
//!
//! # Stopping
//! At the crate's own tests on gap and residuals, with a thousandth of the tolerance, from 1e-12 to 1e-8. `Converged` only when the
//! violation after (IP.3) is within the tolerance, else `Stalled`. A hard margin on data that cannot be separated has an unbounded
//! dual: `Diverged`.
//!
//! # Cost
//! O(n³) a step and some twenty steps; memory about 64n² bytes.
//!
//! # When to use
//! Up to a thousand rows or two, and to check the others.
//!
//! # Reference
//! P. J. Goulart and Y. Chen, Clarabel: an interior-point solver for conic programs with quadratic objectives, 2024.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultInfo, DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT, ZeroConeT,
};

use super::smo::DualSolution;
use super::{Settings, Solution, cholesky, dot};
use crate::control::{Control, Progress, Stop};
use crate::problem::{Coupling, DualProblem, MarginProblem};
use crate::provenance::Note;

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 500;
/// The most steps of (IP.3).
const POLISHES: usize = 5;
/// How long the caller's thread waits between two polls of the control.
const WAIT: Duration = Duration::from_millis(5);

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    let rows = problem.len() as u64;
    rows.saturating_mul(rows).saturating_mul(64)
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let limit = settings.max_iterations.unwrap_or(MAX_STEPS);
    let mut solution = super::solve_by_dual(problem, |dual| {
        let (alpha, stop, iterations) = solve_dual(dual, settings.tolerance(), limit, control);
        DualSolution { gradient: dual.gradient(&alpha), alpha, stop, iterations }
    });
    if solution.stop == Stop::Diverged {
        solution.notes.push(Note::NotSeparable);
    }
    solution
}

/// Solves (D.1) with any coupling: α, why it stopped, and the steps done. The problem's own start when there is no better point.
pub(crate) fn solve_dual(
    dual: &DualProblem<'_>,
    tolerance: f64,
    max_iterations: u64,
    control: &mut dyn Control,
) -> (Vec<f64>, Stop, u64) {
    let start = dual.start().to_vec();
    let steps = Arc::new(AtomicU64::new(0));
    let outcome = minimise(dual, tolerance, max_iterations, control, &steps);
    let steps = steps.load(Ordering::Relaxed);
    let (point, status) = match outcome {
        ControlFlow::Break(stop) => return (start, stop, steps),
        ControlFlow::Continue(outcome) => outcome,
    };
    match status {
        // The crate's dual is the dual of the dual: infeasible when (D.1) has no lower bound.
        SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
            let stop = if may_be_unbounded(dual) { Stop::Diverged } else { Stop::Stalled };
            (start, stop, steps)
        }
        _ if point.len() != dual.len() || !point.iter().all(|value| value.is_finite()) => (start, Stop::Stalled, steps),
        _ => {
            let mut alpha = settle(dual, point);
            let mut violation = dual.violation(&alpha, &dual.gradient(&alpha));
            // After a break the point is the answer as it is.
            let mut poll = || control.poll(Progress { iteration: steps, violation: None, ..Progress::default() });
            for _ in 0..POLISHES {
                let ControlFlow::Continue(Some(next)) = polish(dual, &alpha, &mut poll) else { break };
                let reached = dual.violation(&next, &dual.gradient(&next));
                if reached < violation {
                    (alpha, violation) = (next, reached);
                } else {
                    break;
                }
            }
            let stop = match status {
                _ if violation <= tolerance => Stop::Converged,
                SolverStatus::MaxIterations => Stop::IterationLimit,
                _ => Stop::Stalled,
            };
            (alpha, stop, steps)
        }
    }
}

/// Whether a variable has neither an upper bound nor a ridge: the hard margin.
fn may_be_unbounded(dual: &DualProblem<'_>) -> bool {
    (0..dual.len()).any(|i| dual.upper()[i].is_infinite() && dual.ridge()[i] == 0.0)
}

/// Runs the method on a thread of its own, and hands back its point and why it stopped.
fn minimise(
    dual: &DualProblem<'_>,
    tolerance: f64,
    max_iterations: u64,
    control: &mut dyn Control,
    steps: &Arc<AtomicU64>,
) -> ControlFlow<Stop, (Vec<f64>, SolverStatus)> {
    let program = Program::new(dual, control)?;
    let precision = (1e-3 * tolerance).clamp(1e-12, 1e-8);
    let settings = DefaultSettings {
        max_iter: u32::try_from(max_iterations).unwrap_or(u32::MAX),
        verbose: false,
        tol_gap_abs: precision,
        tol_gap_rel: precision,
        tol_feas: precision,
        max_threads: 1,
        // A program that has a lower bound must not be taken for one that has none.
        tol_infeas_abs: if may_be_unbounded(dual) { 1e-8 } else { 1e-30 },
        tol_infeas_rel: if may_be_unbounded(dual) { 1e-8 } else { 1e-30 },
        ..DefaultSettings::default()
    };
    let enough = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let (told, counted) = (Arc::clone(&enough), Arc::clone(steps));
    let thread = std::thread::Builder::new().spawn(move || {
        let outcome = program.solve(settings, told, counted);
        // The receiver is gone after an interrupt: then nobody asks for the outcome.
        let _ = sender.send(outcome);
    });
    if thread.is_err() {
        return ControlFlow::Break(Stop::Stalled);
    }
    loop {
        match receiver.recv_timeout(WAIT) {
            Ok(Some(outcome)) => return ControlFlow::Continue(outcome),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(Stop::Stalled),
            Err(RecvTimeoutError::Timeout) => {
                let iteration = steps.load(Ordering::Relaxed);
                if let ControlFlow::Break(stop) = control.poll(Progress { iteration, ..Progress::default() }) {
                    enough.store(true, Ordering::Relaxed);
                    return ControlFlow::Break(stop);
                }
            }
        }
    }
}

/// (IP.1)
struct Program {
    quadratic: CscMatrix<f64>,
    linear: Vec<f64>,
    constraints: CscMatrix<f64>,
    bounds: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    /// α is this many times x, so that numbers near 1 are what the method meets.
    scale: f64,
}

impl Program {
    fn new(dual: &DualProblem<'_>, control: &mut dyn Control) -> ControlFlow<Stop, Self> {
        let size = dual.len();
        let (signs, ridge) = (dual.signs(), dual.ridge());
        let curvature = dual.diagonal().iter().map(|value| value.abs() / size as f64).sum::<f64>();
        let largest = dual.upper().iter().chain(dual.start()).copied().filter(|value| value.is_finite());
        let largest = largest.fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest.min(1.0 / curvature) } else { 1.0 / curvature };
        let scale = if scale > 0.0 && scale.is_finite() { scale } else { 1.0 };
        let entries = size * (size + 1) / 2;
        let (mut offsets, mut places) = (vec![0], Vec::with_capacity(entries));
        let mut values = Vec::with_capacity(entries);
        let mut kernel_row = vec![0.0; size];
        for j in 0..size {
            control.poll(Progress::default())?;
            dual.kernel_row(j, &mut kernel_row);
            for i in 0..=j {
                places.push(i);
                let entry = signs[i] * signs[j] * kernel_row[i] + if i == j { ridge[i] } else { 0.0 };
                values.push(scale * entry);
            }
            offsets.push(values.len());
        }
        let quadratic = CscMatrix::new(size, size, offsets, places, values);

        let groups = groups(dual);
        let mut bounds: Vec<f64> = groups.iter().map(|group| sum_of(dual, group, dual.start()) / scale).collect();
        bounds.extend(vec![0.0; size]);
        let (mut offsets, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for (j, &sign) in signs.iter().enumerate() {
            for (row, _) in groups.iter().enumerate().filter(|(_, group)| group.contains(sign)) {
                places.push(row);
                values.push(sign);
            }
            places.push(groups.len() + j);
            values.push(-1.0);
            if dual.upper()[j].is_finite() {
                places.push(bounds.len());
                values.push(1.0);
                bounds.push(dual.upper()[j] / scale);
            }
            offsets.push(values.len());
        }
        let constraints = CscMatrix::new(bounds.len(), size, offsets, places, values);
        let mut cones = vec![NonnegativeConeT(bounds.len() - groups.len())];
        if !groups.is_empty() {
            cones.insert(0, ZeroConeT(groups.len()));
        }
        ControlFlow::Continue(Program { quadratic, linear: dual.linear().to_vec(), constraints, bounds, cones, scale })
    }

    /// The crate's answer; `None` when it refuses the program.
    fn solve(
        &self,
        settings: DefaultSettings<f64>,
        enough: Arc<AtomicBool>,
        steps: Arc<AtomicU64>,
    ) -> Option<(Vec<f64>, SolverStatus)> {
        let Program { quadratic, linear, constraints, bounds, cones, scale } = self;
        let mut solver = DefaultSolver::new(quadratic, linear, constraints, bounds, cones, settings).ok()?;
        solver.set_termination_callback(move |info: &DefaultInfo<f64>| {
            steps.store(u64::from(info.iterations), Ordering::Relaxed);
            enough.load(Ordering::Relaxed)
        });
        solver.solve();
        Some((solver.solution.x.iter().map(|x| scale * x).collect(), solver.solution.status))
    }
}

/// The variables of one coupled sum.
#[derive(Clone, Copy)]
enum Group {
    All,
    Sign(f64),
}

impl Group {
    fn contains(self, sign: f64) -> bool {
        match self {
            Group::All => true,
            Group::Sign(own) => own == sign,
        }
    }

    fn sign(self) -> Option<f64> {
        match self {
            Group::All => None,
            Group::Sign(sign) => Some(sign),
        }
    }
}

fn groups(dual: &DualProblem<'_>) -> Vec<Group> {
    match dual.coupling() {
        Coupling::None => Vec::new(),
        Coupling::All => vec![Group::All],
        Coupling::BySign => [1.0, -1.0].into_iter().filter(|s| dual.signs().contains(s)).map(Group::Sign).collect(),
    }
}

/// `Σ s_i α_i` over a group
fn sum_of(dual: &DualProblem<'_>, group: &Group, alpha: &[f64]) -> f64 {
    let of = |(alpha, sign): (&f64, &f64)| if group.contains(*sign) { alpha * sign } else { 0.0 };
    alpha.iter().zip(dual.signs()).map(of).sum()
}

/// Puts variables at their bounds by (IP.2), and restores the coupled sums.
fn settle(dual: &DualProblem<'_>, point: Vec<f64>) -> Vec<f64> {
    let (upper, signs) = (dual.upper(), dual.signs());
    let mut alpha: Vec<f64> = point.iter().zip(upper).map(|(value, upper)| value.clamp(0.0, *upper)).collect();
    let gradient = dual.gradient(&alpha);
    let scale = alpha.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let groups = groups(dual);
    let multipliers: Vec<f64> =
        groups.iter().map(|group| central_multiplier(dual, *group, &alpha, &gradient)).collect();
    let reduced = |i: usize| {
        let of_group = groups.iter().position(|group| group.contains(signs[i])).map_or(0.0, |k| multipliers[k]);
        gradient[i] - signs[i] * of_group
    };
    for i in 0..alpha.len() {
        let reduced = reduced(i);
        if alpha[i] / scale < reduced {
            alpha[i] = 0.0; // (IP.2)
        } else if (upper[i] - alpha[i]) / scale < -reduced {
            alpha[i] = upper[i];
        }
    }
    for group in &groups {
        let missing = sum_of(dual, group, dual.start()) - sum_of(dual, group, &alpha);
        let room = |i: usize, alpha: &[f64]| {
            if group.contains(signs[i]) { alpha[i].min(upper[i] - alpha[i]) } else { 0.0 }
        };
        let total: f64 = (0..alpha.len()).map(|i| room(i, &alpha)).sum();
        if total > missing.abs() {
            for i in 0..alpha.len() {
                alpha[i] += signs[i] * missing * (room(i, &alpha) / total);
            }
        } else if missing != 0.0 {
            // All are at their bounds: one leaves its own, of those that can the one that loses least by it.
            let can = |i: usize| if signs[i] * missing > 0.0 { upper[i] - alpha[i] } else { alpha[i] };
            let able = (0..alpha.len()).filter(|&i| group.contains(signs[i]) && can(i) >= missing.abs());
            if let Some(i) = able.min_by(|&i, &j| reduced(i).abs().total_cmp(&reduced(j).abs())) {
                alpha[i] = (alpha[i] + signs[i] * missing).clamp(0.0, upper[i]);
            }
        }
    }
    alpha
}

/// (IP.3); `None` when there is nothing to move or no finite step.
fn polish(
    dual: &DualProblem<'_>,
    alpha: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Vec<f64>>> {
    let (upper, signs) = (dual.upper(), dual.signs());
    let free: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] > 0.0 && alpha[i] < upper[i]).collect();
    let size = free.len();
    if size == 0 {
        return ControlFlow::Continue(None);
    }
    let rows: Vec<usize> = free.iter().map(|&i| dual.rows()[i]).collect();
    let mut kernel = vec![0.0; size * size];
    for (k, block) in kernel.chunks_mut(32 * size).enumerate() {
        poll()?;
        dual.gram().block(&rows[32 * k..32 * k + block.len() / size], &rows, block);
    }
    let column = |j: usize, out: &mut [f64]| {
        for (i, value) in (j..size).zip(out.iter_mut()) {
            *value = signs[free[i]] * signs[free[j]] * kernel[j * size + i];
        }
        out[0] += dual.ridge()[free[j]];
    };
    let Some(factor) = cholesky::factor(size, &column, 1e-14, dual.gram().workers(), poll)? else {
        return ControlFlow::Continue(None);
    };
    let gradient = dual.gradient(alpha);
    let mut step: Vec<f64> = free.iter().map(|&i| -gradient[i]).collect();
    factor.solve(&mut step);
    // The groups share no variable, so their columns of E are orthogonal; they meet in Q alone.
    let sums: Vec<(Vec<f64>, Vec<f64>)> = groups(dual)
        .iter()
        .map(|group| {
            let column: Vec<f64> =
                free.iter().map(|&i| if group.contains(signs[i]) { signs[i] } else { 0.0 }).collect();
            let mut solved = column.clone();
            factor.solve(&mut solved);
            (column, solved)
        })
        .filter(|(column, _)| column.iter().any(|&entry| entry != 0.0))
        .collect();
    let multipliers: Vec<f64> = match sums.as_slice() {
        [] => Vec::new(),
        [(column, solved)] => vec![dot(column, &step) / dot(column, solved)],
        [(e, v), (f, u), ..] => {
            let (a, b, c) = (dot(e, v), dot(e, u), dot(f, u));
            let (p, q) = (dot(e, &step), dot(f, &step));
            let determinant = a * c - b * b;
            vec![(c * p - b * q) / determinant, (a * q - b * p) / determinant]
        }
    };
    for ((_, solved), multiplier) in sums.iter().zip(&multipliers) {
        step.iter_mut().zip(solved).for_each(|(step, solved)| *step -= multiplier * solved);
    }
    if !step.iter().all(|value| value.is_finite()) {
        return ControlFlow::Continue(None);
    }
    let reach = |k: usize| {
        let i = free[k];
        if step[k] < 0.0 { alpha[i] / -step[k] } else { (upper[i] - alpha[i]) / step[k] }
    };
    let longest = (0..size).filter(|&k| step[k] != 0.0).map(reach).fold(1.0, f64::min);
    let mut next = alpha.to_vec();
    for k in 0..size {
        let i = free[k];
        let moved = alpha[i] + longest * step[k];
        // The variable that ends the step lands on its bound, rounding or not.
        let ends_step = reach(k) <= longest && step[k] != 0.0;
        next[i] = if !ends_step {
            moved.clamp(0.0, upper[i])
        } else if step[k] < 0.0 {
            0.0
        } else {
            upper[i]
        };
    }
    ControlFlow::Continue(Some(next))
}

/// ρ of (D.3) at an interior point: the average of `s_i g_i`, each variable counting by its distance from its bounds.
fn central_multiplier(dual: &DualProblem<'_>, group: Group, alpha: &[f64], gradient: &[f64]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for i in (0..alpha.len()).filter(|&i| group.contains(dual.signs()[i])) {
        let weight = alpha[i].min(dual.upper()[i] - alpha[i]).max(0.0);
        sum += weight * dual.signs()[i] * gradient[i];
        total += weight;
    }
    let average = sum / total;
    if average.is_finite() { average } else { dual.multiplier(alpha, gradient, group.sign()) }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::control::Unattended;
    use crate::kernel::{Gamma, KernelParams};
    use crate::problem::Loss;
    use crate::problem::{Bias, DualParts};
    use crate::solver::Decision;
    use crate::solver::SolverKind;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn e1_hard_margin_has_the_printed_weights() {
        let fixture = Fixture::new(&separable(), f64::INFINITY);
        let solution = fixture.solve(SolverKind::InteriorPoint, &tolerance(1e-6));
        assert_eq!(solution.stop, Stop::Converged);
        let Decision::Linear { weights, bias } = &solution.decision else { panic!("not linear") };
        close(weights[0], 5.0 / 6.0, 1e-7);
        close(weights[1], 1.0 / 3.0, 1e-7);
        close(*bias, -10.0 / 3.0, 1e-6);
    }

    #[test]
    fn e2_soft_margin_has_the_printed_weights_and_objective() {
        let fixture = Fixture::new(&not_separable(), 1.0);
        let solution = fixture.solve(SolverKind::InteriorPoint, &tolerance(1e-6));
        let Decision::Linear { weights, bias } = &solution.decision else { panic!("not linear") };
        close(weights[0], 5.0 / 6.0, 1e-6);
        close(weights[1], 1.0 / 3.0, 1e-6);
        close(*bias, -10.0 / 3.0, 1e-5);
        close(fixture.primal(&solution), 6.0694444, 1e-6);
    }

    #[test]
    fn e3_quadratic_kernel_has_the_printed_dual_variables() {
        let fixture = Fixture::new(&ellipse(), 4.0).kernel(quadratic());
        let solution = fixture.solve(SolverKind::InteriorPoint, &tolerance(1e-6));
        let printed = [0.620085, 2.070513, 3.805128, 0.318376, 2.961538, 3.852564];
        for (alpha, expected) in solution.alpha.as_ref().unwrap().iter().zip(printed) {
            close(*alpha, expected, 1e-5);
        }
        let Decision::Expansion { bias, .. } = solution.decision else { panic!("not an expansion") };
        close(bias, 8.846154, 1e-5);
        close(fixture.primal(&solution), 6.814103, 1e-5);
    }

    #[test]
    fn the_certificate_holds_for_both_losses_every_kernel_and_bias() {
        let kernels = [KernelParams::Linear, quadratic(), KernelParams::Rbf { gamma: Gamma::Value(0.5) }];
        for (kernel, loss) in kernels.iter().flat_map(|kernel| [(kernel, Loss::Hinge), (kernel, Loss::Squared)]) {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                for cost in [1e-3, 1.0, 1e3] {
                    let fixture = Fixture::new(&blobs(40, 1.0, 3), cost).loss(loss).bias(bias).kernel(kernel.clone());
                    let solution = fixture.solve(SolverKind::InteriorPoint, &tolerance(1e-5));
                    let what = format!("{kernel:?} {loss:?} {bias:?} {cost} {}", fixture.violation(&solution));
                    assert_eq!(solution.stop, Stop::Converged, "{what}");
                    let dual = fixture.with(|problem| {
                        let (dual, alpha) = (problem.dual().unwrap(), solution.alpha.as_ref().unwrap());
                        -dual.objective(alpha, &dual.gradient(alpha))
                    });
                    let primal = fixture.primal(&solution);
                    assert!((primal - dual).abs() <= 1e-5 * primal, "{what} {primal} {dual}");
                }
            }
        }
    }

    #[test]
    fn newton_kernel_newton_and_the_interior_point_agree() {
        for seed in 0..3 {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                for cost in [1e-3, 1e-1, 10.0, 1e3] {
                    let fixture = Fixture::new(&blobs(40, 1.0, seed), cost).loss(Loss::Squared).bias(bias);
                    let objective = |kind| fixture.primal(&fixture.solve(kind, &tolerance(1e-7)));
                    let newton = objective(SolverKind::Newton);
                    for kind in [SolverKind::KernelNewton, SolverKind::InteriorPoint] {
                        let other = objective(kind);
                        assert!(
                            (newton - other).abs() <= 1e-6 * newton,
                            "seed {seed} {bias:?} {cost}: {newton} {other}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_hard_margin_on_data_that_cannot_be_separated_diverges() {
        let fixture = Fixture::new(&not_separable(), f64::INFINITY);
        let solution = fixture.solve(SolverKind::InteriorPoint, &Settings::default());
        assert_eq!((solution.stop, solution.notes.len()), (Stop::Diverged, 1));
        assert!(numbers(&solution).iter().all(|value| value.is_finite()));
    }

    #[test]
    fn sums_by_sign_are_kept() {
        // The nearest points of the two convex hulls of E1: their distance is 2.228344.
        let fixture = Fixture::new(&separable(), 1.0);
        fixture.with(|problem| {
            let size = problem.len();
            let (signs, mut start) = (problem.signs().to_vec(), vec![0.0; size]);
            (start[0], start[size - 1]) = (1.0, 1.0);
            let parts = DualParts {
                gram: problem.gram(),
                rows: problem.rows().to_vec(),
                signs,
                linear: vec![0.0; size],
                upper: vec![f64::INFINITY; size],
                ridge: vec![0.0; size],
                coupling: Coupling::BySign,
                start,
            };
            let dual = DualProblem::new(parts).unwrap();
            let (alpha, stop, _) = solve_dual(&dual, 1e-6, 200, &mut Unattended);
            assert_eq!(stop, Stop::Converged);
            for group in groups(&dual) {
                close(sum_of(&dual, &group, &alpha).abs(), 1.0, 1e-9);
            }
            close((2.0 * dual.objective(&alpha, &dual.gradient(&alpha))).sqrt(), 2.228344, 1e-6);
        });
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::InteriorPoint, &Fixture::new(&separable(), 1.0));
        // Also when it comes while the method runs.
        let fixture = Fixture::new(&blobs(600, 0.5, 1), 1.0);
        let mut polls = 0;
        let mut control = move |_: Progress| {
            polls += 1;
            if polls > 601 { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
        };
        let solution = fixture.with(|problem| solve(problem, &Settings::default(), &mut control));
        assert_eq!(solution.stop, Stop::Interrupted);
        assert!(numbers(&solution).iter().all(|value| value.is_finite()));
    }
}
