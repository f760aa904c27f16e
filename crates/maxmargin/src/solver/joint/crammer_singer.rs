//! Hinge loss over all classes after Crammer and Singer, by dual coordinate ascent a row at a time.
//!
//! # Problem
//! ```text
//! min  ½ Σ_k ‖w_k‖² + Σ_i C_i (max_k (f_k(x_i) + [k ≠ y_i]) − f_y(x_i))
//! dual:  min ½ Σ_k ‖w_k‖² + Σ_i Σ_k [k ≠ y_i] α_ik,   w_k = Σ_i α_ik x_i,   α_ik ≤ C_i [k = y_i],   Σ_k α_ik = 0      (CS.1)
//! ```
//!
//! # Optimality
//! With `g_ik = f_k(x_i) + [k ≠ y_i]`, the gradient of the dual, for every row
//! ```text
//! max_k g_ik − min over k with α_ik < C_i [k = y_i] of g_ik = 0                                              (CS.2)
//! ```
//!
//! # Step
//! All α of one row at once, with the others held. With `A = ‖x_i‖²` and `B_k = g_ik − A α_ik` the best are
//! ```text
//! α_ik = min(C_i [k = y_i], (β − B_k) / A),   β such that Σ_k α_ik = 0                                       (CS.3)
//! ```
//! β is found without sorting: with `D_k = B_k + A C_i [k = y_i]` it is the number for which `Σ_k max(0, D_k − β) = A C_i`. From
//! `β = max_k D_k − A C_i` on, which is too small, the average over those above β is a better one, until none of them falls below it. w follows
//! each step, so that a step costs a row and not the data.
//!
//! Rows are visited in a new random order in each sweep. A row that is far from any change, by more than the largest violation
//! of the sweep before, is left out until all the others are done.
//!
//! An explicit bias asks for `Σ_i α_ik = 0` as well, which no step of a single row can keep. So b is held near a centre b′, and
//! the centre follows,
//! ```text
//! min (CS.1) + 1/(2ρ) Σ_k (b_k − b′_k)²,   b_k = b′_k + ρ Σ_i α_ik,   then b′ ← b                           (CS.4)
//! ```
//! which is the method of multipliers: where b no longer moves, `Σ_i α_ik = 0`, and nothing holds it. Within a centre the step is
//! (CS.3) with `A = ‖x_i‖² + ρ`.
//!
//! # Stopping
//! When no row violates (CS.2) by more than the tolerance, w being computed anew from α, and b has moved by no more than that.
//!
//! # Cost
//! A sweep costs 2 · non-zeros · classes, on one thread; memory: a number for each row and class, and for each column and class.
//!
//! # When to use
//! For one linear machine over several classes with hinge loss.
//!
//! # Reference
//! K. Crammer and Y. Singer, On the algorithmic implementation of multiclass kernel-based vector machines, JMLR 2, 2001;
//! S. S. Keerthi et al., A sequential dual method for large scale multi-class linear SVMs, KDD 2008; R. T. Rockafellar, Augmented
//! Lagrangians and applications of the proximal point algorithm in convex programming, 1976.

use std::ops::ControlFlow;

use pulp::Arch;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{JointSolution, JointStart};
use crate::certificate::joint::{ClassAlpha, largest, largest_of, row_violation};
use crate::class_products::Pass;
use crate::control::{Control, Progress, Stop};
use crate::error::Error;
use crate::problem::{AT_BOUND, Bias, JointProblem};
use crate::simd::vectorised;
use crate::solver::{Settings, SolverKind, within_memory};

/// The most sweeps unless the settings say otherwise.
const MAX_SWEEPS: u64 = 100_000;
/// The violation that rows may have while b still moves: at first, and as a part of how far b moved.
const FIRST_TOLERANCE: f64 = 0.1;
const PART_OF_MOVE: f64 = 0.1;
/// Classes whose numbers are summed side by side.
const SIDE_BY_SIDE: usize = 8;
/// Numbers that are multiplied between two polls.
const WORK_A_POLL: usize = 1 << 21;

pub(super) fn supports(problem: &JointProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let products = problem.products();
    let numbers = (problem.len() as u64 * 2).saturating_mul(products.lanes() as u64) + 2 * products.size() as u64;
    within_memory(SolverKind::DualAscent, numbers.saturating_mul(8), settings.memory)
}

pub(super) fn solve(
    problem: &JointProblem<'_>,
    settings: &Settings,
    start: JointStart,
    control: &mut dyn Control,
) -> JointSolution {
    let mut ascent = Ascent::new(problem);
    if let JointStart::Model { alpha, biases, .. } = &start {
        ascent.begin_at(alpha, biases);
    }
    let mut iterations = 0;
    let stop = match ascent.run(settings, control, &mut iterations) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    // w is what α says, to the last digit.
    if ascent.weights_of_alpha(&mut || ControlFlow::Continue(())).is_break() || !ascent.is_finite() {
        ascent = Ascent::new(problem);
    }
    let (weights, biases) = problem.apart(&ascent.vectors);
    let alpha = Some(ascent.lists());
    JointSolution { weights, biases, alpha, stop, iterations, notes: Vec::new() }
}

struct Ascent<'p> {
    problem: &'p JointProblem<'p>,
    lanes: usize,
    /// α_ik, a line for each row.
    alpha: Vec<f64>,
    /// w_k side by side, a folded bias last.
    vectors: Vec<f64>,
    /// A of (CS.3): ‖x_i‖², with the constant of a folded bias, and with ρ for an explicit one.
    squares: Vec<f64>,
    /// ρ of (CS.4)
    proximity: f64,
    /// b′ of (CS.4)
    centre: Vec<f64>,
}

/// The result of visiting a row.
struct Visit {
    violation: f64,
    /// How far the row is from any change; 0 where it may change.
    distance: f64,
}

impl<'p> Ascent<'p> {
    fn new(problem: &'p JointProblem<'p>) -> Self {
        let products = problem.products();
        let lanes = products.lanes();
        let mut squares: Vec<f64> = problem.rows().iter().map(|&row| problem.points().squared_norm(row)).collect();
        let mut proximity = 0.0;
        if problem.bias() == Bias::Explicit {
            // ρ moves a value as much as the rows themselves do.
            let mean = squares.iter().sum::<f64>() / squares.len() as f64;
            proximity = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
            squares.iter_mut().for_each(|square| *square += proximity);
        }
        let mut ascent = Ascent {
            problem,
            lanes,
            alpha: vec![0.0; problem.len() * lanes],
            vectors: vec![0.0; products.size()],
            squares,
            proximity,
            centre: vec![0.0; lanes],
        };
        // A row of zeros has no part in w, and costs the same whatever w is: its best α is known.
        for i in (0..problem.len()).filter(|&i| ascent.squares[i] == 0.0) {
            let own = problem.codes()[i] as usize;
            let line = &mut ascent.alpha[i * lanes..(i + 1) * lanes];
            line[own] = problem.costs()[i];
            line[usize::from(own == 0)] = -problem.costs()[i];
        }
        ascent
    }

    /// Takes over α of a model, as far as they are feasible, and its b as a centre.
    fn begin_at(&mut self, alpha: &[ClassAlpha], biases: &[f64]) {
        if self.problem.bias() == Bias::Explicit && biases.iter().all(|bias| bias.is_finite()) {
            self.centre.iter_mut().zip(biases).for_each(|(centre, &bias)| *centre = bias);
        }
        for (k, list) in alpha.iter().enumerate().take(self.problem.classes()) {
            for &(i, value) in list.iter().filter(|(i, value)| *i < self.problem.len() && value.is_finite()) {
                if k != self.problem.codes()[i] as usize && self.squares[i] > 0.0 {
                    self.alpha[i * self.lanes + k] = value.min(0.0);
                }
            }
        }
        for (i, line) in self.alpha.chunks_mut(self.lanes).enumerate() {
            let (own, cost) = (self.problem.codes()[i] as usize, self.problem.costs()[i]);
            line[own] = 0.0;
            let pull: f64 = -line.iter().sum::<f64>();
            let scale = if pull > cost { cost / pull } else { 1.0 };
            line.iter_mut().for_each(|alpha| *alpha *= scale);
            line[own] = (pull * scale).min(cost);
        }
    }

    /// w_k = Σ_i α_ik x_i
    fn weights_of_alpha(&mut self, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop> {
        let pass = Pass { vectors: None, lines: &mut self.alpha, pulls: true };
        let work = |_: usize, values: &mut [f64], line: &mut [f64]| {
            values.copy_from_slice(line);
            0.0
        };
        self.vectors = self.problem.products().pass(pass, work, poll)?.pulls;
        let (bias, proximity, centre) = (self.problem.bias(), self.proximity, self.centre.clone());
        let line = self.biases();
        match bias {
            Bias::None => line.fill(0.0),
            Bias::Folded => {}
            Bias::Explicit => line.iter_mut().zip(&centre).for_each(|(b, centre)| *b = centre + proximity * *b), // (CS.4)
        }
        ControlFlow::Continue(())
    }

    /// b, behind the weights.
    fn biases(&mut self) -> &mut [f64] {
        let end = self.vectors.len() - self.lanes;
        &mut self.vectors[end..]
    }

    /// How far b is from its centre.
    fn moved(&self) -> f64 {
        let end = self.vectors.len() - self.lanes;
        self.vectors[end..].iter().zip(&self.centre).map(|(b, centre)| (b - centre).abs()).fold(0.0, f64::max)
    }

    /// b′ ← b, the last of (CS.4); b goes on by as much again, since α stays.
    fn follow(&mut self) {
        let centre = std::mem::take(&mut self.centre);
        let line = self.biases();
        let next = line.to_vec();
        line.iter_mut().zip(&centre).for_each(|(b, centre)| *b += *b - centre);
        self.centre = next;
    }

    fn is_finite(&self) -> bool {
        self.vectors.iter().chain(&self.alpha).all(|number| number.is_finite())
    }

    /// The largest violation of all rows.
    fn violation(&mut self, poll: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, f64> {
        self.weights_of_alpha(poll)?;
        let (problem, classes, lanes) = (self.problem, self.problem.classes(), self.lanes);
        let mut gradient = vec![0.0; self.alpha.len()];
        let pass = Pass { vectors: Some(&self.vectors), lines: &mut gradient, pulls: false };
        let work = |i: usize, values: &mut [f64], line: &mut [f64]| {
            let own = problem.codes()[i] as usize;
            (0..classes).for_each(|k| line[k] = values[k] + if k == own { 0.0 } else { 1.0 });
            0.0
        };
        problem.products().pass(pass, work, poll)?;
        let of = |i: usize| {
            let (gradient, alpha) = (&gradient[i * lanes..][..classes], &self.alpha[i * lanes..][..classes]);
            row_violation(gradient, alpha, problem.codes()[i] as usize, problem.costs()[i])
        };
        // A row of zeros has its best α.
        let rows = (0..problem.len()).filter(|&i| self.squares[i] > 0.0);
        ControlFlow::Continue(rows.map(of).fold(0.0, f64::max))
    }

    fn run(&mut self, settings: &Settings, control: &mut dyn Control, iterations: &mut u64) -> ControlFlow<Stop, Stop> {
        let problem = self.problem;
        let mut random = Pcg64::seed_from_u64(settings.seed);
        let all: Vec<usize> = (0..problem.len()).filter(|&i| self.squares[i] > 0.0).collect();
        let mut active = all.clone();
        let entries = (problem.points().matrix().entries() / problem.points().len().max(1)).max(1);
        let rows_a_poll = (WORK_A_POLL / (entries * self.lanes)).max(1);
        let (mut scratch, mut last) = (Scratch::new(self.lanes), f64::INFINITY);
        let mut progress = Progress::default();
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let explicit = problem.bias() == Bias::Explicit;
        // As long as b moves, its centre is not worth more than a part of that.
        let mut wanted = if explicit { settings.tolerance().max(FIRST_TOLERANCE) } else { settings.tolerance() };
        self.weights_of_alpha(&mut || control.poll(progress))?;
        loop {
            progress.iteration = *iterations;
            for k in (1..active.len()).rev() {
                active.swap(k, random.random_range(0..=k));
            }
            let mut most: f64 = 0.0;
            let mut kept = Vec::with_capacity(active.len());
            for rows in active.chunks(rows_a_poll) {
                control.poll(progress)?;
                for &i in rows {
                    let visit = self.visit(i, &mut scratch);
                    most = most.max(visit.violation);
                    if visit.distance <= last {
                        kept.push(i);
                    }
                }
            }
            *iterations += 1;
            active = kept;
            last = if active.len() < all.len() { most } else { most.max(wanted) };
            progress.violation = Some(most);
            if !most.is_finite() {
                return ControlFlow::Continue(Stop::Stalled);
            }
            let limit = *iterations >= settings.max_iterations.unwrap_or(MAX_SWEEPS);
            if most <= wanted || active.is_empty() || limit {
                let mut found = self.violation(&mut || control.poll(progress))?;
                if explicit {
                    let ready = found <= wanted;
                    let moved = self.moved();
                    found = found.max(moved);
                    if ready && found > settings.tolerance() {
                        self.follow();
                        wanted = (PART_OF_MOVE * moved).clamp(settings.tolerance(), FIRST_TOLERANCE);
                    }
                }
                progress.violation = Some(found);
                if found <= settings.tolerance() {
                    return ControlFlow::Continue(Stop::Converged);
                }
                if limit {
                    return ControlFlow::Continue(Stop::IterationLimit);
                }
                // In this arithmetic some violations cannot be reached.
                idle = if found < best { 0 } else { idle + 1 };
                best = best.min(found);
                if idle >= 50 {
                    return ControlFlow::Continue(Stop::Stalled);
                }
                active.clone_from(&all);
                last = f64::INFINITY;
            }
        }
    }

    /// One step: the best α of a row, (CS.3).
    fn visit(&mut self, i: usize, scratch: &mut Scratch) -> Visit {
        let (classes, lanes) = (self.problem.classes(), self.lanes);
        let (own, cost, square) = (self.problem.codes()[i] as usize, self.problem.costs()[i], self.squares[i]);
        let products = self.problem.products();
        products.row_values(i, &self.vectors, &mut scratch.gradient);
        let gradient = &mut scratch.gradient;
        let alpha = &mut self.alpha[i * lanes..][..lanes];
        let arch = Arch::new();
        let (violation, size) = vectorised(
            arch,
            #[inline(always)]
            || {
                let (gradient, alpha) = (&mut gradient[..classes], &alpha[..classes]);
                let apart = gradient[own];
                gradient.iter_mut().for_each(|g| *g += 1.0);
                gradient[own] = apart;
                let size = largest_of(gradient, alpha, |(g, _)| g.abs()).max(1.0);
                (row_violation(gradient, alpha, own, cost), size)
            },
        );
        if violation <= 1e-14 * size {
            let distance = vectorised(
                arch,
                #[inline(always)]
                || distance(&mut gradient[..classes], &alpha[..classes], own, cost),
            );
            return Visit { violation, distance };
        }
        let change = &mut scratch.change;
        change.fill(0.0);
        let (rest, before) = vectorised(
            arch,
            #[inline(always)]
            || {
                let (gradient, alpha, change) =
                    (&mut gradient[..classes], &mut alpha[..classes], &mut change[..classes]);
                // B_k, and D_k, which differs from it for the own class.
                gradient.iter_mut().zip(&*alpha).for_each(|(g, alpha)| *g -= square * alpha);
                let apart = gradient[own];
                gradient[own] += square * cost;
                let beta = level(gradient, square * cost);
                gradient[own] = apart;
                let before = alpha[own];
                for ((change, alpha), g) in change.iter_mut().zip(&mut *alpha).zip(&*gradient) {
                    let next = ((beta - g) / square).min(0.0); // (CS.3)
                    (*change, *alpha) = (next - *alpha, next);
                }
                alpha[own] = 0.0;
                (-alpha.iter().sum::<f64>(), before)
            },
        );
        // What is left is the own class's, so that the sum is 0.
        let next = rest.min(cost);
        (change[own], alpha[own]) = (next - before, next);
        products.add_row(i, &scratch.change, &mut self.vectors);
        let (bias, more) = (self.problem.bias(), self.proximity - 1.0);
        match bias {
            Bias::None => self.biases().fill(0.0),
            Bias::Folded => {}
            // The row has moved b as a constant 1 would have.
            Bias::Explicit => self.biases().iter_mut().zip(&scratch.change).for_each(|(b, change)| *b += more * change),
        }
        Visit { violation, distance: 0.0 }
    }

    /// α of each class, zeros left out.
    fn lists(&self) -> Vec<ClassAlpha> {
        let of = |k: usize| {
            let values = self.alpha.chunks(self.lanes).enumerate().map(|(i, line)| (i, line[k]));
            values.filter(|(_, alpha)| *alpha != 0.0).collect()
        };
        (0..self.problem.classes()).map(of).collect()
    }
}

/// Memory for one visit.
struct Scratch {
    gradient: Vec<f64>,
    change: Vec<f64>,
}

impl Scratch {
    fn new(lanes: usize) -> Self {
        Scratch { gradient: vec![0.0; lanes], change: vec![0.0; lanes] }
    }
}

/// β of (CS.3): `Σ_k max(0, D_k − β) = size`.
///
/// Each round is a pass over the numbers, and all but the last take one of them or more out of the average.
#[inline(always)]
fn level(numbers: &[f64], size: f64) -> f64 {
    let mut beta = largest(numbers) - size;
    let mut before = f64::INFINITY;
    let (eights, rest) = numbers.as_chunks::<SIDE_BY_SIDE>();
    loop {
        // Without branches, because which numbers are above cannot be predicted.
        let (mut sums, mut counts) = ([0.0; SIDE_BY_SIDE], [0.0; SIDE_BY_SIDE]);
        for numbers in eights {
            for k in 0..SIDE_BY_SIDE {
                sums[k] += if numbers[k] > beta { numbers[k] } else { 0.0 };
                counts[k] += if numbers[k] > beta { 1.0 } else { 0.0 };
            }
        }
        for (k, &number) in rest.iter().enumerate() {
            sums[k] += if number > beta { number } else { 0.0 };
            counts[k] += if number > beta { 1.0 } else { 0.0 };
        }
        let (sum, count): (f64, f64) = (sums.iter().sum(), counts.iter().sum());
        // None is above where one number is as large as the others are small, and rounding takes the rest.
        if count == 0.0 || count >= before {
            return beta;
        }
        (beta, before) = ((sum - size) / count, count);
    }
}

/// How far g must change before a row's α do: where they are all 0, by how much the own class is ahead of what is asked; where the
/// own class and one other are at the bound, by how much that other is ahead of all. 0 elsewhere. The leader of g is lost on the way.
#[inline(always)]
fn distance(gradient: &mut [f64], alpha: &[f64], own: usize, cost: f64) -> f64 {
    let mut ahead_of_others =
        |leader: usize| std::mem::replace(&mut gradient[leader], f64::NEG_INFINITY) - largest(gradient);
    if alpha[own] == 0.0 {
        return ahead_of_others(own).max(0.0);
    }
    let bound = cost - AT_BOUND * cost;
    match (0..alpha.len()).find(|&k| k != own && alpha[k] <= -bound) {
        Some(other) if alpha[own] >= bound => ahead_of_others(other).max(0.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_the_one_that_sorting_finds() {
        let mut random = Pcg64::seed_from_u64(7);
        for round in 0..1000 {
            let count = random.random_range(2..40);
            let numbers: Vec<f64> = (0..count).map(|_| f64::from(random.random_range(-50..50)) * 0.13).collect();
            let size = f64::from(random.random_range(1..200)) * 0.07;
            let mut sorted = numbers.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let (mut sum, mut taken) = (sorted[0] - size, 1);
            while taken < count && sum < taken as f64 * sorted[taken] {
                sum += sorted[taken];
                taken += 1;
            }
            let (expected, found) = (sum / taken as f64, level(&numbers, size));
            assert!((found - expected).abs() <= 1e-12, "round {round}: {found}, not {expected}");
            let above: f64 = numbers.iter().map(|number| (number - found).max(0.0)).sum();
            assert!((above - size).abs() <= 1e-12 * size.max(1.0), "round {round}");
        }
    }

    #[test]
    fn the_distance_is_the_lead_over_the_second_of_any_number_of_classes() {
        for classes in 2..40 {
            let numbers: Vec<f64> = (0..classes).map(|k| f64::from(k * 7 % 41) * 0.25).collect();
            for own in 0..classes as usize {
                let second = (0..numbers.len()).filter(|&k| k != own).map(|k| numbers[k]).fold(f64::MIN, f64::max);
                let lead = (numbers[own] - second).max(0.0);
                let mut alpha = vec![0.0; numbers.len()];
                assert_eq!(distance(&mut numbers.clone(), &alpha, own, 2.0), lead, "{own} of {classes} at 0");
                // Both at the bound: the other's lead counts.
                let other = usize::from(own == 0);
                (alpha[own], alpha[other]) = (2.0, -2.0);
                let second = (0..numbers.len()).filter(|&k| k != other).map(|k| numbers[k]).fold(f64::MIN, f64::max);
                let lead = (numbers[other] - second).max(0.0);
                assert_eq!(distance(&mut numbers.clone(), &alpha, own, 2.0), lead, "{own} of {classes} at the bound");
                (alpha[own], alpha[other]) = (1.0, -1.0);
                assert_eq!(distance(&mut numbers.clone(), &alpha, own, 2.0), 0.0, "{own} of {classes} between");
            }
        }
    }

    #[test]
    fn a_level_is_found_also_of_numbers_that_leave_no_digits() {
        assert_eq!(level(&[1e300, 0.0], 1.0), 1e300);
        assert!(level(&[f64::INFINITY, 0.0], 1.0).is_infinite());
        assert!(level(&[f64::NAN, 2.0], 1.0).is_finite());
    }
}
