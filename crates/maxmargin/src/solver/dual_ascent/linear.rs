//! Dual ascent with the linear kernel: w is kept, and a step costs the non-zeros of a row.

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::control::{Control, Progress, Stop};
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::problem::{Bias, Direction, LinearProblem, Passes, RowLoss, dot};
use crate::solver::Settings;

/// Where the sweeps ended.
pub(in crate::solver) struct Ascent {
    /// `w = Σ c_i x_i`, and b.
    pub(in crate::solver) point: Direction,
    /// c_i
    pub(in crate::solver) coefficients: Vec<f64>,
    pub(in crate::solver) stop: Stop,
    pub(in crate::solver) sweeps: u64,
}

/// Maximises (LP.2), from coefficients that are clipped to what their loss allows.
///
/// An explicit bias is the multiplier of `Σ c_i = 0`, which is approached from outside: with `S = Σ c_i`
///
/// ```text
/// f_i = ⟨w, x_i⟩ + b + ρS,   and after each sweep  b ← b + ρS                   (DA.2)
/// ```
///
/// which is the method of multipliers, one sweep to a step. With ρ = 1 and b left at 0 it is a folded bias.
pub(in crate::solver) fn ascend(
    problem: &LinearProblem<'_>,
    start: Option<&[f64]>,
    settings: &Settings,
    control: &mut dyn Control,
) -> Ascent {
    let mut passes = Passes::new(problem);
    let clip = |i: usize, c: f64| problem.loss.clipped(c, problem.targets[i], problem.costs[i]);
    let coefficients: Vec<f64> = match start {
        Some(start) if start.len() == problem.len() => start.iter().enumerate().map(|(i, &c)| clip(i, c)).collect(),
        _ => {
            (0..problem.len()).map(|i| first_coefficient(problem.loss, problem.targets[i], problem.costs[i])).collect()
        }
    };
    let Direction { weights, bias: sum } = match coefficients.iter().all(|&c| c == 0.0) {
        true => Direction::zero(problem.columns()),
        false => passes.combine(&coefficients),
    };
    let strength = match problem.bias {
        Bias::Explicit => mean_square(problem).max(f64::MIN_POSITIVE),
        Bias::Folded => 1.0,
        Bias::None => 0.0,
    };
    let mut climb = Climb { weights, multiplier: 0.0, sum, strength, coefficients, sweeps: 0 };
    let mut check = Check { problem, passes };
    let stop =
        on_stored_rows!(problem.matrix, rows => sweep(problem, &rows, &mut climb, &mut check, settings, control));
    let (ControlFlow::Break(stop) | ControlFlow::Continue(stop)) = stop;
    let (point, coefficients) = check.mended(&climb);
    let bias = match problem.bias {
        Bias::Explicit => check.best_bias(&problem.values(&point.weights, 0.0), climb.bias()),
        Bias::Folded => point.bias,
        Bias::None => 0.0,
    };
    Ascent { point: Direction { weights: point.weights, bias }, coefficients, stop, sweeps: climb.sweeps }
}

/// The mean of ‖x_i‖².
fn mean_square(problem: &LinearProblem<'_>) -> f64 {
    (0..problem.len()).map(|i| problem.square(i)).sum::<f64>() / problem.len().max(1) as f64
}

/// Where the sweeps are.
struct Climb {
    weights: Vec<f64>,
    /// b of (DA.2)
    multiplier: f64,
    /// S of (DA.2)
    sum: f64,
    /// ρ of (DA.2)
    strength: f64,
    coefficients: Vec<f64>,
    sweeps: u64,
}

impl Climb {
    /// What is added to ⟨w, x⟩.
    fn bias(&self) -> f64 {
        self.multiplier + self.strength * self.sum // (DA.2)
    }
}

/// Where c begins: the dual of logistic loss has no slope at its ends.
pub(crate) fn first_coefficient(loss: RowLoss, target: f64, cost: f64) -> f64 {
    if loss == RowLoss::Logistic { target * (1e-3 * cost).min(1e-8) } else { 0.0 }
}

/// Rows that are visited one after the other, in a random order of their own: neighbours in memory, which it is quicker to read
/// together.
pub(crate) const RUN: usize = 16;
/// Runs between two looks at the control.
const RUNS_A_POLL: usize = 16;
/// Stands for a row that is left out of the sweeps to come.
const LEFT_OUT: u32 = u32::MAX;
/// The most sweeps unless the settings say otherwise.
const MAX_SWEEPS: u64 = 1_000_000;
/// A gap is computed once what the sweep has seen of it is within so many times what is asked for.
const LIKELY: f64 = 1.5;
/// A slope of this size is on its way to infinity.
const HUGE: f64 = 1e250;

/// Sweeps until the tolerance or the gap is reached.
fn sweep(
    problem: &LinearProblem<'_>,
    rows: &impl StoredRows,
    climb: &mut Climb,
    check: &mut Check<'_, '_>,
    settings: &Settings,
    control: &mut dyn Control,
) -> ControlFlow<Stop, Stop> {
    let (n, loss) = (problem.len(), problem.loss);
    let explicit = problem.bias == Bias::Explicit;
    let curvature_of_bias = if explicit { climb.strength } else { 0.0 };
    control.poll(Progress::default())?;
    let mut random = Pcg64::seed_from_u64(settings.seed);
    let mut active: Vec<u32> = (0..n as u32).collect();
    // Rows at a bound whose slope points outward by more than this are left out.
    let mut outward = f64::INFINITY;
    loop {
        let whole = active.len() == n;
        let mut runs: Vec<u32> = (0..active.len().div_ceil(RUN) as u32).collect();
        runs.shuffle(&mut random);
        let (mut violation, mut gap, mut moved, mut size) = (0.0f64, 0.0, 0.0, 0.0);
        for (number, &run) in runs.iter().enumerate() {
            if number % RUNS_A_POLL == 0 {
                let progress = Progress { iteration: climb.sweeps, violation: Some(violation), ..Progress::default() };
                control.poll(progress)?;
            }
            let span = run as usize * RUN..((run as usize + 1) * RUN).min(active.len());
            active[span.clone()].shuffle(&mut random);
            for place in span {
                let i = active[place] as usize;
                let (row, target, cost) = (problem.rows[i], problem.targets[i], problem.costs[i]);
                let f = rows.dot(row, &climb.weights) + climb.bias();
                let old = climb.coefficients[i];
                let square = problem.square(i) + curvature_of_bias;
                let Step { target: new, slope, at_bound } = step(loss, target, cost, f, old, square);
                if at_bound && slope.abs() > outward {
                    active[place] = LEFT_OUT;
                    continue;
                }
                gap += cost * loss.value(target, f) - loss.dual_term(old, target, cost) + old * f;
                size += old * old;
                if at_bound {
                    continue;
                }
                violation = violation.max(slope.abs());
                if !(new.is_finite() && slope.abs() < HUGE) {
                    return ControlFlow::Continue(Stop::Diverged);
                }
                let change = new - old;
                if change != 0.0 {
                    climb.coefficients[i] = new;
                    rows.add_scaled(row, change, &mut climb.weights);
                    climb.sum += change;
                    moved += change * change;
                }
            }
        }
        active.retain(|&i| i != LEFT_OUT);
        climb.sweeps += 1;
        let left = if explicit { climb.strength * climb.sum } else { 0.0 };
        climb.multiplier += left; // (DA.2)
        outward = if violation > 0.0 { violation } else { f64::INFINITY };
        let capped = climb.sweeps >= settings.max_iterations.unwrap_or(MAX_SWEEPS);
        let still = moved.sqrt() <= settings.tolerance * size.sqrt().max(1.0);
        let all_again = match settings.gap {
            Some(target) => {
                let primal = check.primal_of(gap, climb);
                if gap <= LIKELY * target * primal || moved == 0.0 {
                    let found = check.at(climb);
                    if found.gap <= target * found.primal.abs().max(1.0) {
                        return ControlFlow::Continue(Stop::Converged);
                    }
                    if whole && moved == 0.0 && left == 0.0 {
                        return ControlFlow::Continue(Stop::Stalled);
                    }
                    // Rows that were left out may be what is missing.
                    found.gap > 2.0 * gap
                } else {
                    false
                }
            }
            None if violation.max(left.abs()) <= settings.tolerance && (still || moved == 0.0) => {
                // The sweep saw each violation before later steps moved: the claim is checked at the end point.
                if whole && check.at(climb).violation <= settings.tolerance {
                    return ControlFlow::Continue(Stop::Converged);
                }
                if whole && moved == 0.0 && left == 0.0 {
                    return ControlFlow::Continue(Stop::Stalled);
                }
                true
            }
            None if moved == 0.0 && whole && left == 0.0 => return ControlFlow::Continue(Stop::Stalled),
            None => moved == 0.0,
        };
        if capped {
            return ControlFlow::Continue(Stop::IterationLimit);
        }
        if all_again || active.is_empty() {
            active = (0..n as u32).collect();
            outward = f64::INFINITY;
        }
    }
}

/// A step of one coefficient.
pub(crate) struct Step {
    /// Where it leads.
    pub(crate) target: f64,
    /// The slope of the dual in c at the old one, downhill being positive α.
    pub(crate) slope: f64,
    /// Whether it stays because it is at a bound and the slope points outward.
    pub(crate) at_bound: bool,
}

/// The exact maximiser of (LP.2) in one coefficient c
///
/// ```text
/// max over c of  −(Cℓ)*(−c) − f(c − c_old) − ½‖x‖²(c − c_old)²                 (DA.1)
/// ```
#[inline]
pub(crate) fn step(loss: RowLoss, target: f64, cost: f64, f: f64, old: f64, square: f64) -> Step {
    match loss {
        RowLoss::Hinge | RowLoss::Squared => {
            let ridge = if loss == RowLoss::Squared { 0.5 / cost } else { 0.0 };
            let upper = if loss == RowLoss::Squared { f64::INFINITY } else { cost };
            let alpha = target * old;
            let slope = target * f - 1.0 + ridge * alpha;
            let at_bound = alpha <= 0.0 && slope >= 0.0 || alpha >= upper && slope <= 0.0;
            let curvature = square + ridge;
            // A row of zeros has no curvature and goes to the end of its box.
            let free = if curvature > 0.0 { alpha - slope / curvature } else { -slope.signum() * f64::INFINITY };
            Step { target: target * free.clamp(0.0, upper), slope, at_bound: at_bound || slope == 0.0 }
        }
        RowLoss::Logistic => {
            let alpha = target * old;
            let slope_at = |a: f64| target * f + square * (a - alpha) + (a / (cost - a)).ln();
            let slope = slope_at(alpha);
            let target_alpha = logistic_step(cost, square, alpha, slope_at);
            Step { target: target * target_alpha, slope, at_bound: false }
        }
    }
}

/// The root of a slope that rises from −∞ at 0 to ∞ at C, by Newton's steps that stay between the bounds.
fn logistic_step(cost: f64, square: f64, start: f64, slope_at: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, cost);
    let mut alpha = start.clamp(f64::MIN_POSITIVE, cost * (1.0 - 1e-15));
    for _ in 0..100 {
        let slope = slope_at(alpha);
        if slope > 0.0 {
            high = alpha;
        } else {
            low = alpha;
        }
        let curvature = square + cost / (alpha * (cost - alpha));
        let newton = alpha - slope / curvature;
        let next = if newton > low && newton < high {
            newton
        } else if newton <= low {
            // The root may be many powers of ten nearer to the end.
            if low > 0.0 { 0.5 * (low + alpha) } else { 0.1 * alpha }
        } else if high < cost {
            0.5 * (high + alpha)
        } else {
            cost - 0.1 * (cost - alpha)
        };
        if (next - alpha).abs() <= 1e-12 * alpha.min(cost - alpha) || next <= 0.0 || next >= cost {
            return alpha;
        }
        alpha = next;
    }
    alpha
}

/// What a pass over all rows says of a point.
struct Looked {
    primal: f64,
    gap: f64,
    violation: f64,
}

/// Passes over all rows, to check what the sweeps promise.
struct Check<'p, 'a> {
    problem: &'p LinearProblem<'a>,
    passes: Passes<'p, 'a>,
}

impl Check<'_, '_> {
    /// The primal objective that belongs to a gap: `P = D + gap`, D from the coefficients alone.
    fn primal_of(&self, gap: f64, climb: &Climb) -> f64 {
        let problem = self.problem;
        let terms: f64 = (0..problem.len())
            .map(|i| problem.loss.dual_term(climb.coefficients[i], problem.targets[i], problem.costs[i]))
            .sum();
        let folded = if problem.bias == Bias::Folded { climb.sum * climb.sum } else { 0.0 };
        (terms - 0.5 * (dot(&climb.weights, &climb.weights) + folded) + gap).abs().max(1.0)
    }

    /// Coefficients that an explicit bias allows, the heavier sign giving way, and `Σ c_i x_i` of them without what rounding
    /// has done to it.
    fn mended(&mut self, climb: &Climb) -> (Direction, Vec<f64>) {
        let mut coefficients = climb.coefficients.clone();
        if self.problem.bias == Bias::Explicit {
            self.problem.balance(&mut coefficients);
        }
        (self.passes.combine(&coefficients), coefficients)
    }

    /// Primal, gap and violation at the mended coefficients.
    fn at(&mut self, climb: &Climb) -> Looked {
        let problem = self.problem;
        let (point, coefficients) = self.mended(climb);
        let mut values = problem.values(&point.weights, 0.0);
        let bias = match problem.bias {
            Bias::Explicit => self.best_bias(&values, climb.bias()),
            Bias::Folded => point.bias,
            Bias::None => 0.0,
        };
        values.iter_mut().for_each(|value| *value += bias);
        let folded = if problem.bias == Bias::Folded { bias * bias } else { 0.0 };
        let norm = dot(&point.weights, &point.weights) + folded;
        let (mut losses, mut terms) = (0.0, 0.0);
        for i in 0..problem.len() {
            let (target, cost) = (problem.targets[i], problem.costs[i]);
            losses += cost * problem.loss.value(target, values[i]);
            terms += problem.loss.dual_term(coefficients[i], target, cost);
        }
        let violation = match problem.loss {
            RowLoss::Logistic => self.logistic_violation(&point.weights, bias, &values),
            _ => self.violation(&coefficients, &values),
        };
        let primal = 0.5 * norm + losses;
        Looked { primal, gap: primal - (terms - 0.5 * norm), violation }
    }

    /// The largest slope that a coefficient could still follow; with an explicit bias two that differ count together.
    fn violation(&self, coefficients: &[f64], values: &[f64]) -> f64 {
        let problem = self.problem;
        let slope = |i: usize| {
            let found = step(problem.loss, problem.targets[i], problem.costs[i], values[i], coefficients[i], 0.0);
            if found.at_bound { 0.0 } else { found.slope.abs() }
        };
        let largest = (0..problem.len()).map(slope).fold(0.0, f64::max);
        if problem.bias == Bias::Explicit { 2.0 * largest } else { largest }
    }

    /// The largest component of the primal's gradient, which is what a certificate states for logistic loss.
    fn logistic_violation(&mut self, weights: &[f64], bias: f64, values: &[f64]) -> f64 {
        let problem = self.problem;
        let pull = |i: usize| problem.loss.pull(problem.targets[i], problem.costs[i], values[i], 0.0, 1.0).coefficient;
        let pulls: Vec<f64> = (0..problem.len()).map(pull).collect();
        let pulled = self.passes.combine(&pulls);
        let of_weights = weights.iter().zip(&pulled.weights).map(|(w, v)| (w - v).abs()).fold(0.0, f64::max);
        match problem.bias {
            Bias::Explicit => of_weights.max(pulled.bias.abs()),
            Bias::Folded => of_weights.max((bias - pulled.bias).abs()),
            Bias::None => of_weights,
        }
    }

    /// The explicit b at which the losses are least, w being fixed: where their slope `Σ c_i` changes its sign.
    fn best_bias(&self, values: &[f64], near: f64) -> f64 {
        let problem = self.problem;
        let slope = |bias: f64| -> f64 {
            let parts = problem.workers.map_chunks(problem.len(), 8192, |range| {
                range
                    .map(|i| {
                        let (target, cost) = (problem.targets[i], problem.costs[i]);
                        problem.loss.pull(target, cost, values[i] + bias, 0.0, SHARP).coefficient
                    })
                    .sum::<f64>()
            });
            parts.iter().sum()
        };
        // The slope falls from the positive rows' pull to the negative ones'.
        let (mut low, mut high, mut width) = (near, near, 1e-3 * near.abs().max(1.0));
        while slope(low) < 0.0 && width < HUGE {
            low -= width;
            width *= 4.0;
        }
        while slope(high) > 0.0 && width < HUGE {
            high += width;
            width *= 4.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// A corner of a loss is rounded off by so little when b is looked for.
const SHARP: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::certify;
    use crate::control::Unattended;
    use crate::problem::Loss;
    use crate::solver::fixtures::*;
    use crate::solver::{Settings, SolverKind};

    #[test]
    fn a_step_is_the_best_there_is_in_one_coefficient() {
        for loss in [RowLoss::Hinge, RowLoss::Squared, RowLoss::Logistic] {
            for target in [1.0, -1.0] {
                for f in [-2.0, -0.3, 0.0, 0.8, 1.7] {
                    for part in [0.01, 0.4, 0.99] {
                        let (cost, square) = (1.3, 0.7);
                        let old = target * part * cost;
                        let value = |c: f64| {
                            loss.dual_term(c, target, cost) - f * (c - old) - 0.5 * square * (c - old) * (c - old)
                        };
                        let found = step(loss, target, cost, f, old, square).target;
                        for k in 0..=1000 {
                            let tried = loss.clipped(target * cost * f64::from(k) / 500.0, target, cost);
                            assert!(value(tried) <= value(found) + 1e-12, "{loss:?} {target} {f} {part}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_loss_and_bias_reaches_the_gap_that_is_asked_for_and_the_certificate_agrees() {
        for seed in 0..4 {
            for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
                for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                    let fixture = Fixture::new(&blobs(100, 0.8, seed), 0.5).loss(loss).bias(bias);
                    let settings = Settings { gap: Some(1e-6), ..Settings::default() };
                    let solution = fixture.solve(SolverKind::DualAscent, &settings);
                    let evidence = fixture.with(|problem| certify(problem, &solution, 1e-6));
                    let gap = evidence.certificate().unwrap().relative_gap;
                    assert_eq!(solution.stop, Stop::Converged, "seed {seed} {loss:?} {bias:?}");
                    assert!(gap <= 1.01e-6, "seed {seed} {loss:?} {bias:?}: {gap}");
                    let other = fixture.primal(&fixture.solve(SolverKind::PrimalNewton, &settings));
                    let own = fixture.primal(&solution);
                    assert!((own - other).abs() <= 2e-6 * other, "seed {seed} {loss:?} {bias:?}: {own} {other}");
                }
            }
        }
    }

    #[test]
    fn a_tolerance_is_kept_with_an_explicit_bias_too() {
        for seed in 0..4 {
            let fixture = Fixture::new(&blobs(80, 1.0, seed), 0.5);
            let solution = fixture.solve(SolverKind::DualAscent, &tolerance(1e-4));
            assert_eq!(solution.stop, Stop::Converged, "seed {seed}");
            assert!(fixture.violation(&solution) <= 1e-4, "seed {seed}: {}", fixture.violation(&solution));
        }
    }

    #[test]
    fn a_start_at_the_end_is_soon_done() {
        let fixture = Fixture::new(&blobs(100, 0.8, 2), 0.5).bias(Bias::Folded);
        fixture.with(|problem| {
            let linear = LinearProblem::of_margin(problem);
            let settings = Settings { gap: Some(1e-8), ..Settings::default() };
            let cold = ascend(&linear, None, &settings, &mut Unattended);
            let warm = ascend(&linear, Some(&cold.coefficients), &settings, &mut Unattended);
            assert!(warm.sweeps <= 2 && cold.sweeps > 2, "{} {}", warm.sweeps, cold.sweeps);
        });
    }
}
