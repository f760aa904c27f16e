//! Stochastic subgradient descent on the primal with a linear kernel: data too large for anything else.
//!
//! # Problem
//! ```text
//! min  ½‖w‖² + Σ_i C_i max(0, 1 − y_i f(x_i)),   f(x) = ⟨w, x⟩ + b                       (SG.1)
//! ```
//!
//! # Optimality
//! The duality gap is 0; see Stopping.
//!
//! # Step
//! Each sweep visits all rows in a new random order, `batch` at a time. With `Λ = Σ C_i` (`1/λ` of Pegasos) and s rows seen,
//! the step size is `Λ/s`, which makes w the sum of what it has met:
//! ```text
//! v ← v + (C_i n/Λ) y_i x_i   for each row of the batch with y_i f(x_i) < 1,   w = (Λ/s) v            (SG.2)
//! ```
//! v is never scaled, so a row costs its entries. A folded bias is one more weight. An explicit one has steps of its own,
//! without decay and as large as those of a column of the rows' mean length, and is set to its best value for w at
//! every check.
//!
//! The averaged variant returns the mean of w over the sweeps from the last power of two but one: at least the
//! last half of all steps.
//!
//! # Stopping
//! A row that was met in e sweeps and had slack in h of them has
//! ```text
//! α_i = C_i h/e,   0 ≤ α_i ≤ C_i                                                      (SG.3)
//! ```
//! a feasible point of the dual (after the heavier class is scaled down, for an explicit bias). Both all sweeps and those
//! since the last power of two but one give such a point; the better one counts. The solver stops when
//! the duality gap is at most the tolerance times the primal objective, looked at after each of the first 16 sweeps and then after
//! every sixteenth part of the sweeps done, and at the limit of 1000 sweeps.
//!
//! # Cost
//! A sweep costs the entries of the matrix, a check three times that.
//!
//! # When to use
//! Very many rows and a tolerance of 1e-2 or 1e-3. For more digits `dual-ascent` is faster.
//!
//! # Reference
//! S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, Pegasos: primal estimated sub-gradient solver for SVM,
//! Mathematical Programming 127, 2011.

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::{Decision, Settings, Solution, dot};
use crate::control::{Control, Progress, Step, Stop};
use crate::problem::{Bias, FromNu, Loss, MarginProblem};

/// The most sweeps unless the settings say otherwise.
const MAX_SWEEPS: u64 = 1000;
/// Entries of the matrix looked at between two polls.
const ENTRIES_A_POLL: usize = 1 << 20;

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    let mut best = Best {
        weights: vec![0.0; problem.points().matrix().columns()],
        bias: 0.0,
        alpha: vec![0.0; problem.len()],
        gap: f64::INFINITY,
    };
    let mut sweeps = 0;
    let stop = match descend(problem, settings, control, &mut best, &mut sweeps) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: best.weights, bias: best.bias },
        alpha: Some(best.alpha),
        decision_values: None,
        stop,
        iterations: sweeps,
        notes: Vec::new(),
    }
}

/// The last point checked.
struct Best {
    weights: Vec<f64>,
    bias: f64,
    alpha: Vec<f64>,
    gap: f64,
}

/// A sum of w over steps, in the time of the rows with slack alone: `Σ_t a_t v_t = A v − Σ A_before Δv` with A the sum of all a so far.
#[derive(Clone)]
struct Average {
    /// A
    total: f64,
    /// `Σ A_before Δv`, b last.
    late: Vec<f64>,
    /// Steps that the sum covers.
    steps: f64,
    /// Σ of the explicit b.
    bias: f64,
    /// How often each row had slack when the sum began.
    hits: Vec<u32>,
    /// Sweeps done when the sum began.
    sweeps: u64,
}

fn descend(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
    best: &mut Best,
    sweeps: &mut u64,
) -> ControlFlow<Stop, Stop> {
    let (matrix, rows, signs, costs) = (problem.points().matrix(), problem.rows(), problem.signs(), problem.costs());
    let (size, columns) = (problem.len(), matrix.columns());
    let largest = costs.iter().copied().fold(0.0, f64::max);
    let total = costs.iter().map(|cost| cost / largest).sum::<f64>() * largest; // Λ
    // C_i n/Λ: 1 on average
    let shares: Vec<f64> = costs.iter().map(|cost| cost / total * size as f64).collect();
    let folded = if problem.bias() == Bias::Folded { 1.0 } else { 0.0 };
    let bias_step = if problem.bias() == Bias::Explicit {
        let mean = problem.gram().diagonal(rows).iter().map(|square| square / size as f64).sum::<f64>();
        if mean > 0.0 { mean } else { 1.0 }
    } else {
        0.0
    };
    let rows_a_poll = (ENTRIES_A_POLL / (matrix.entries() / matrix.rows().max(1)).max(1)).max(1);
    let limit = settings.max_iterations.unwrap_or(MAX_SWEEPS);

    let mut random = Pcg64::seed_from_u64(settings.seed);
    let mut order: Vec<usize> = (0..size).collect();
    let mut sum = vec![0.0; columns + 1]; // v, the folded b last
    let mut bias = 0.0; // the explicit b
    let mut hits = vec![0u32; size];
    let mut seen = 0.0; // s
    let mut batch_hits: Vec<usize> = Vec::new();
    let empty = |hits: &[u32], sweeps: u64| Average {
        total: 0.0,
        late: vec![0.0; columns + 1],
        steps: 0.0,
        bias: 0.0,
        hits: hits.to_vec(),
        sweeps,
    };
    // The windows that begin at the last power of two and at the one before it.
    let (mut older, mut newer) = (empty(&hits, 0), empty(&hits, 0));
    let mut polled = 0;
    let is_watched = control.wants_steps();
    while *sweeps < limit {
        order.shuffle(&mut random);
        for batch in order.chunks(settings.batch.max(1)) {
            polled += batch.len();
            if polled >= rows_a_poll || seen == 0.0 {
                polled = 0;
                let gap = best.gap.is_finite().then_some(best.gap);
                control.poll(Progress { iteration: *sweeps, gap, ..Progress::default() })?;
            }
            let scale = if seen > 0.0 { total / seen } else { 0.0 };
            batch_hits.clear();
            batch_hits.extend(batch.iter().copied().filter(|&i| {
                let value = scale * (matrix.dot(rows[i], &sum[..columns]) + folded * sum[columns]) + bias;
                signs[i] * value < 1.0
            }));
            seen += batch.len() as f64;
            for &i in &batch_hits {
                let amount = shares[i] * signs[i];
                matrix.add_scaled(rows[i], amount, &mut sum[..columns]); // (SG.2)
                sum[columns] += folded * amount;
                bias += bias_step * (total / seen) * amount;
                hits[i] += 1;
                if settings.averaged {
                    for window in [&mut older, &mut newer] {
                        matrix.add_scaled(rows[i], window.total * amount, &mut window.late[..columns]);
                        window.late[columns] += window.total * folded * amount;
                    }
                }
            }
            for window in [&mut older, &mut newer] {
                window.total += total / seen;
                window.steps += 1.0;
                window.bias += bias;
            }
            if is_watched {
                let rate = total / seen;
                control.step(Step::Sample {
                    machine: 0,
                    iteration: *sweeps,
                    rows: batch.iter().map(|&i| rows[i]).collect(),
                    violating: batch_hits.iter().map(|&i| rows[i]).collect(),
                    rate,
                    weights: sum[..columns].iter().map(|v| rate * v).collect(),
                    bias: rate * sum[columns] + bias,
                });
            }
        }
        *sweeps += 1;
        let finite = bias.is_finite() && sum.iter().all(|value| value.is_finite());
        if !finite {
            return ControlFlow::Continue(Stop::Stalled);
        }
        if sweeps.is_power_of_two() {
            older = std::mem::replace(&mut newer, empty(&hits, *sweeps));
        }
        if *sweeps <= 16 || sweeps.is_multiple_of(*sweeps / 16) || *sweeps == limit {
            let scale = total / seen;
            let (weights, folded_bias, free_bias) = if settings.averaged && older.steps > 0.0 {
                let mean = |k: usize| (older.total * sum[k] - older.late[k]) / older.steps;
                ((0..columns).map(mean).collect::<Vec<f64>>(), mean(columns), older.bias / older.steps)
            } else {
                (sum[..columns].iter().map(|v| scale * v).collect(), scale * sum[columns], bias)
            };
            let whole = |i: usize| costs[i] * (f64::from(hits[i]) / *sweeps as f64); // (SG.3)
            let recent =
                |i: usize| costs[i] * (f64::from(hits[i] - older.hits[i]) / (*sweeps - older.sweeps).max(1) as f64);
            let alphas = [(0..size).map(whole).collect(), (0..size).map(recent).collect()];
            let check = check(problem, weights, folded_bias, free_bias, alphas);
            if !check.gap.is_finite() {
                return ControlFlow::Continue(Stop::Stalled);
            }
            *best = check;
            bias = if problem.bias() == Bias::Explicit && !settings.averaged { best.bias } else { bias };
            let progress = Progress { iteration: *sweeps, gap: Some(best.gap), ..Progress::default() };
            control.poll(progress)?;
            if best.gap <= settings.gap.unwrap_or(settings.tolerance()) {
                return ControlFlow::Continue(Stop::Converged);
            }
        }
    }
    ControlFlow::Continue(Stop::IterationLimit)
}

/// The point with its best b, the better of two sets of dual variables, and the duality gap relative to the primal objective.
fn check(
    problem: &MarginProblem<'_>,
    weights: Vec<f64>,
    folded_bias: f64,
    free_bias: f64,
    alphas: [Vec<f64>; 2],
) -> Best {
    let (signs, costs) = (problem.signs(), problem.costs());
    let mut values = problem.decisions_of_weights(&weights, 0.0);
    let bias = match problem.bias() {
        Bias::Explicit => best_bias(&values, signs, costs, free_bias),
        Bias::Folded => folded_bias,
        Bias::None => 0.0,
    };
    values.iter_mut().for_each(|value| *value += bias);
    let loss: f64 = (0..values.len()).map(|i| costs[i] * Loss::Hinge.value(signs[i] * values[i])).sum();
    let primal = 0.5 * (dot(&weights, &weights) + folded_bias * folded_bias) + loss;
    let mut best = Best { weights, bias, alpha: Vec::new(), gap: f64::INFINITY };
    let mut most = f64::NEG_INFINITY;
    for mut alpha in alphas {
        if problem.bias() == Bias::Explicit {
            problem.balance(&mut alpha);
        }
        let coefficients: Vec<f64> = alpha.iter().zip(signs).map(|(alpha, sign)| alpha * sign).collect();
        let (of_alpha, folded) = problem.weights_of_coefficients(&coefficients);
        let dual = alpha.iter().sum::<f64>() - 0.5 * (dot(&of_alpha, &of_alpha) + folded * folded);
        if dual > most || best.alpha.is_empty() {
            (most, best.alpha) = (dual, alpha);
        }
    }
    best.gap = if primal > 0.0 { (primal - most) / primal } else { 0.0 };
    best
}

/// The b that makes `Σ C_i max(0, 1 − y_i (value_i + b))` least: the middle of the interval where it is; `start` when that is not finite.
///
/// The sum is convex and piecewise linear with corners at `y_i − value_i`: sort them and walk until the slope turns.
fn best_bias(values: &[f64], signs: &[f64], costs: &[f64], start: f64) -> f64 {
    let mut corners: Vec<(f64, f64)> = (0..values.len()).map(|i| (signs[i] - values[i], costs[i])).collect();
    corners.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Far to the left every positive row has slack: the slope is minus their cost, and each corner adds one cost.
    let positive: f64 = (0..values.len()).filter(|&i| signs[i] > 0.0).map(|i| costs[i]).sum();
    let (mut slope, rounding) = (-positive, 1e-12 * positive);
    for (k, &(corner, cost)) in corners.iter().enumerate() {
        slope += cost;
        if slope > rounding {
            return if corner.is_finite() { corner } else { start };
        }
        if slope >= -rounding {
            let next = corners.get(k + 1).map_or(corner, |&(next, _)| next);
            let middle = 0.5 * (corner + next);
            return if middle.is_finite() { middle } else { start };
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::solver::SolverKind;

    #[test]
    fn easy_problems_reach_a_gap_of_a_thousandth_for_every_bias() {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for averaged in [false, true] {
                for cost in [0.01, 0.1] {
                    let fixture = Fixture::new(&blobs(400, 2.5, 4), cost).bias(bias);
                    let settings = Settings { averaged, ..tolerance(1e-3) };
                    let solution = fixture.solve(SolverKind::Sgd, &settings);
                    let alpha = solution.alpha.as_ref().unwrap();
                    let gap = fixture.with(|problem| {
                        let dual = problem.dual().unwrap();
                        fixture.primal(&solution) + dual.objective(alpha, &dual.gradient(alpha))
                    });
                    assert!(
                        (0.0..=1e-3 * fixture.primal(&solution)).contains(&gap),
                        "{gap} {}",
                        fixture.primal(&solution)
                    );
                }
            }
        }
    }

    #[test]
    fn the_dual_variables_are_feasible_for_costs_that_differ_and_any_batch() {
        for batch in [1, 7, 1000] {
            let mut fixture = Fixture::new(&blobs(60, 1.0, 8), 1.0);
            fixture.costs.iter_mut().step_by(4).for_each(|cost| *cost = 3.0);
            let settings = Settings { batch, max_iterations: Some(20), ..tolerance(1e-9) };
            let solution = fixture.solve(SolverKind::Sgd, &settings);
            assert_eq!(solution.stop, Stop::IterationLimit);
            let alpha = solution.alpha.unwrap();
            assert!(alpha.iter().zip(&fixture.costs).all(|(alpha, cost)| (0.0..=*cost).contains(alpha)));
            let sum: f64 = alpha.iter().zip(&fixture.signs).map(|(alpha, sign)| alpha * sign).sum();
            assert!(sum.abs() < 1e-9);
        }
    }

    #[test]
    fn the_best_bias_has_no_better_neighbour() {
        let (values, signs) = ([0.3, -1.2, 2.0, 0.1, -0.4], [1.0, -1.0, 1.0, -1.0, 1.0]);
        let costs = [1.0, 2.0, 0.5, 1.0, 3.0];
        let at = |b: f64| -> f64 { (0..5).map(|i| costs[i] * Loss::Hinge.value(signs[i] * (values[i] + b))).sum() };
        let bias = best_bias(&values, &signs, &costs, 0.0);
        assert!((-400..400).all(|k| at(bias) <= at(f64::from(k) * 0.01) + 1e-12));
    }

    #[test]
    fn a_seed_gives_the_same_bits_and_another_seed_other_ones() {
        let fixture = Fixture::new(&blobs(50, 1.0, 8), 1.0);
        let run = |seed| {
            let settings = Settings { seed, max_iterations: Some(3), ..Settings::default() };
            numbers(&fixture.solve(SolverKind::Sgd, &settings))
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn an_interrupt_leaves_a_finite_solution() {
        assert_interrupts(SolverKind::Sgd, &Fixture::new(&separable(), 1.0));
    }
}
