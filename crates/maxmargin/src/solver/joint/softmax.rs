//! Multinomial logistic regression: softmax over all classes, by Newton's method with conjugate gradients.
//!
//! # Problem
//! ```text
//! min  F(W, b) = ½ Σ_k ‖w_k‖² + Σ_i C_i (log Σ_k exp f_k(x_i) − f_y(x_i)),   f_k(x) = ⟨w_k, x⟩ + b_k       (SM.1)
//! ```
//! with or without the first term; an explicit b is not part of it, a folded one is.
//!
//! # Optimality
//! The gradient vanishes. With the probabilities `p_i = softmax f(x_i)` and `α_ik = C_i ([k = y_i] − p_ik)` it is
//! ```text
//! G_k = w_k − Σ_i α_ik x_i,   G_b = −Σ_i α_ik   (b_k − Σ_i α_ik when folded)                              (SM.2)
//! ```
//! Without an explicit bias the duality gap at α is `½ ‖G‖²`.
//!
//! # Step
//! ```text
//! (HV)_k = v_k + Σ_i C_i p_ik (u_ik − Σ_l p_il u_il) x_i,   u_ik = ⟨v_k, x_i⟩,      H D = −G               (SM.3)
//! ```
//! by conjugate gradients until a tenth of the residual is left, and the longest of 1, ½, ¼, … of D that the slope of F along it
//! allows. No matrix of (classes · columns)² is formed: a product costs one pass over the rows.
//!
//! The gradients are preconditioned class by class, `M_k = I + Σ_i C_i p_ik (1 − p_ik) x_i x_i′` over some of the rows where there
//! are few columns, and its diagonal over all rows where there are many. Moving all classes by the same vector changes no
//! probability, so the mean over the classes is taken off what M makes.
//!
//! # Stopping
//! With a penalty: when the gap is at most what is asked for, else tolerance², times F (or 1). Without: when D changes no value by more than the
//! tolerance. Then there is no optimum when some W, b puts every row's own class ahead of the others, or level with them: a point
//! or a direction that does so shows this, and the solver stops with `Diverged`.
//!
//! # Cost
//! A pass costs 2 · non-zeros · classes; a step about ten of them, and ten steps are usual. Memory: two numbers for each row and class,
//! and a factor of columns² for each class where there are few columns.
//!
//! # When to use
//! For probabilities of several classes that fit together.
//!
//! # Reference
//! D. Böhning, Multinomial logistic regression algorithm, 1992; C.-J. Lin, R. C. Weng and S. S. Keerthi, Trust region Newton
//! method for large-scale logistic regression, JMLR 9, 2008; H.-F. Yu, F.-L. Huang and C.-J. Lin, Dual coordinate descent methods
//! for logistic regression and maximum entropy models, 2011.

use std::ops::ControlFlow;

use super::{JointSolution, JointStart};
use crate::certificate::joint::{certify_joint, softmax};
use crate::class_products::Pass;
use crate::control::{Control, Progress, Stop};
use crate::error::Error;
use crate::problem::{Bias, JointProblem};
use crate::provenance::Note;
use crate::solver::line_search::slope_step;
use crate::solver::preconditioner::Preconditioner;
use crate::solver::{Settings, SolverKind, dot, within_memory};

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 1000;
/// The most conjugate gradients of a step.
const MAX_GRADIENTS: usize = 300;
/// The part of the residual that conjugate gradients may leave, and that they may leave in the first steps.
const FORCING: f64 = 0.1;
const FIRST_FORCING: f64 = 0.3;
const FIRST_STEPS: u64 = 4;
/// Steps without progress before the solver gives up. Progress is half of the gradient, or an objective that is lower by more than this
/// part of it, which is rounding.
const PATIENCE: u32 = 4;
const HALVED: f64 = 0.5;
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Steps after which the preconditioner is made anew.
const RENEW: [u64; 4] = [2, 6, 12, 24];

pub(super) fn supports(problem: &JointProblem<'_>, settings: &Settings) -> Result<(), Error> {
    let lines = (problem.len() as u64).saturating_mul(problem.products().lanes() as u64).saturating_mul(16);
    let need = lines.saturating_add(Preconditioner::bytes(problem));
    within_memory(SolverKind::Logistic, need, settings.memory)
}

pub(super) fn solve(
    problem: &JointProblem<'_>,
    settings: &Settings,
    start: JointStart,
    control: &mut dyn Control,
) -> JointSolution {
    let mut vectors = match &start {
        JointStart::Model { weights, biases, .. } => problem.side_by_side(weights, biases),
        JointStart::Scratch => vec![0.0; problem.products().size()],
    };
    let mut iterations = 0;
    let stop = match descend(problem, settings, control, &mut vectors, &mut iterations) {
        ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
    };
    let mut notes = Vec::new();
    if stop == Stop::Diverged {
        notes.push(Note::WeightsWithoutEnd);
    }
    let (weights, biases) = problem.apart(&vectors);
    JointSolution { weights, biases, alpha: None, stop, iterations, notes }
}

/// A point (W, b) with its probabilities, gradient and objective.
struct Point {
    vectors: Vec<f64>,
    /// p_ik, a line for each row.
    probabilities: Vec<f64>,
    /// G of (SM.2).
    gradient: Vec<f64>,
    /// F
    objective: f64,
}

impl Point {
    /// One pass over the rows; `room` is filled with the probabilities.
    fn new(
        problem: &JointProblem<'_>,
        vectors: Vec<f64>,
        mut room: Vec<f64>,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> ControlFlow<Stop, Self> {
        let (products, classes) = (problem.products(), problem.classes());
        let (codes, costs) = (problem.codes(), problem.costs());
        room.resize(problem.len() * products.lanes(), 0.0);
        let pass = Pass { vectors: Some(&vectors), lines: &mut room, pulls: true };
        let sums = products.pass(
            pass,
            #[inline(always)]
            |i, values, line| {
                let own = codes[i] as usize;
                let value = values[own];
                let total = softmax(values, classes);
                line.copy_from_slice(values);
                values[own] -= 1.0;
                values.iter_mut().for_each(|value| *value *= costs[i]);
                costs[i] * (total - value)
            },
            poll,
        )?;
        let mut gradient = sums.pulls;
        let penalty = add_penalty(problem, &vectors, &mut gradient); // (SM.2)
        let objective = 0.5 * penalty + sums.total; // (SM.1)
        ControlFlow::Continue(Point { vectors, probabilities: room, gradient, objective })
    }

    fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.gradient.iter().all(|component| component.is_finite())
    }
}

/// Adds the gradient of the penalty to sums over the rows, and returns the square of the penalised vectors. Biases that are not part of the
/// problem are 0.
fn add_penalty(problem: &JointProblem<'_>, vectors: &[f64], sums: &mut [f64]) -> f64 {
    let end = vectors.len() - problem.products().lanes();
    let (weights, biases) = vectors.split_at(end);
    let mut square = 0.0;
    if problem.penalised() {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        square += dot(weights, weights);
    }
    match problem.bias() {
        Bias::None => sums[end..].fill(0.0),
        Bias::Folded if problem.penalised() => {
            sums[end..].iter_mut().zip(biases).for_each(|(sum, bias)| *sum += bias);
            square += dot(biases, biases);
        }
        _ => {}
    }
    square
}

/// H V of (SM.3).
fn curvature(
    problem: &JointProblem<'_>,
    probabilities: &mut [f64],
    direction: &[f64],
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Vec<f64>> {
    let (products, costs) = (problem.products(), problem.costs());
    let pass = Pass { vectors: Some(direction), lines: probabilities, pulls: true };
    let sums = products.pass(
        pass,
        #[inline(always)]
        |i, values, line| {
            let mean: f64 = values.iter().zip(&*line).map(|(value, p)| value * p).sum();
            values.iter_mut().zip(&*line).for_each(|(value, p)| *value = costs[i] * p * (*value - mean)); // (SM.3)
            0.0
        },
        poll,
    )?;
    let mut product = sums.pulls;
    add_penalty(problem, direction, &mut product);
    ControlFlow::Continue(product)
}

/// D of (SM.3), by preconditioned conjugate gradients.
fn newton_direction(
    problem: &JointProblem<'_>,
    point: &mut Point,
    preconditioner: &Preconditioner,
    forcing: f64,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Vec<f64>> {
    let mut direction = vec![0.0; point.gradient.len()];
    let mut residual: Vec<f64> = point.gradient.iter().map(|component| -component).collect();
    let mut steered = preconditioner.apply(problem, &residual);
    let mut along = steered.clone();
    let mut size = dot(&residual, &steered);
    let enough = forcing * forcing * size;
    for _ in 0..MAX_GRADIENTS {
        let product = curvature(problem, &mut point.probabilities, &along, poll)?;
        let bend = dot(&along, &product);
        let step = size / bend;
        if !(bend > 0.0 && step.is_finite()) {
            break;
        }
        direction.iter_mut().zip(&along).for_each(|(d, a)| *d += step * a);
        residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= step * p);
        steered = preconditioner.apply(problem, &residual);
        let next = dot(&residual, &steered);
        if !(next > enough) {
            break;
        }
        let turn = next / size;
        along.iter_mut().zip(&steered).for_each(|(a, s)| *a = s + turn * *a);
        size = next;
    }
    ControlFlow::Continue(direction)
}

fn descend(
    problem: &JointProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
    vectors: &mut Vec<f64>,
    iterations: &mut u64,
) -> ControlFlow<Stop, Stop> {
    let mut progress = Progress::default();
    let poll = |control: &mut dyn Control, progress: Progress| control.poll(progress);
    let mut point = Point::new(problem, vectors.clone(), Vec::new(), &mut || poll(control, progress))?;
    if !point.is_finite() {
        vectors.fill(0.0);
        point = Point::new(problem, vectors.clone(), point.probabilities, &mut || poll(control, progress))?;
        if !point.is_finite() {
            return ControlFlow::Continue(Stop::Stalled);
        }
    }
    let mut room = Vec::new();
    let mut preconditioner = None;
    let (mut best, mut lowest, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
    loop {
        let most = point.gradient.iter().fold(0.0, |most: f64, component| most.max(component.abs()));
        progress = Progress { iteration: *iterations, violation: Some(most), ..Progress::default() };
        if problem.penalised() {
            let left = gap_left(problem, &point);
            progress.gap = Some(left);
            poll(control, progress)?;
            let relative = settings.linear_gap().unwrap_or(settings.tolerance() * settings.tolerance());
            let enough = relative * point.objective.abs();
            if left <= enough && is_certified(problem, &point, enough) {
                return ControlFlow::Continue(Stop::Converged);
            }
        }
        if *iterations >= settings.max_iterations.unwrap_or(MAX_STEPS) {
            return ControlFlow::Continue(Stop::IterationLimit);
        }
        if preconditioner.is_none() || RENEW.contains(iterations) {
            let made = Preconditioner::new(problem, &point.probabilities, &mut || poll(control, progress))?;
            preconditioner = made.or(preconditioner);
        }
        let Some(steering) = &preconditioner else {
            return ControlFlow::Continue(Stop::Stalled);
        };
        let forcing = if *iterations < FIRST_STEPS { FIRST_FORCING } else { FORCING };
        let direction = newton_direction(problem, &mut point, steering, forcing, &mut || poll(control, progress))?;
        if !direction.iter().all(|component| component.is_finite()) {
            return ControlFlow::Continue(Stop::Stalled);
        }
        if !problem.penalised()
            && let Some(stop) =
                without_penalty(problem, settings, &point, &direction, *iterations, &mut || poll(control, progress))?
        {
            return ControlFlow::Continue(stop);
        }
        let is_lower = lowest - point.objective > ROUNDING * lowest.abs();
        idle = if most < HALVED * best || is_lower { 0 } else { idle + 1 };
        (best, lowest) = (best.min(most), lowest.min(point.objective));
        if idle >= PATIENCE {
            return ControlFlow::Continue(Stop::Stalled);
        }
        let mut found = None;
        let mut broken = None;
        let step = slope_step((point.objective, dot(&point.gradient, &direction)), |step| {
            let moved = point.vectors.iter().zip(&direction).map(|(number, d)| number + step * d).collect();
            match Point::new(problem, moved, std::mem::take(&mut room), &mut || poll(control, progress)) {
                _ if broken.is_some() => (f64::NAN, f64::NEG_INFINITY),
                ControlFlow::Break(stop) => {
                    broken = Some(stop);
                    (f64::NAN, f64::NEG_INFINITY)
                }
                ControlFlow::Continue(next) => {
                    let there = (next.objective, dot(&next.gradient, &direction));
                    match found.replace(next) {
                        Some(last) => room = last.probabilities,
                        None => room = Vec::new(),
                    }
                    there
                }
            }
        });
        if let Some(stop) = broken {
            return ControlFlow::Break(stop);
        }
        let (Some(_), Some(next)) = (step, found) else {
            return ControlFlow::Continue(Stop::Stalled);
        };
        if !next.is_finite() {
            return ControlFlow::Continue(Stop::Stalled);
        }
        room = std::mem::replace(&mut point, next).probabilities;
        vectors.clone_from(&point.vectors);
        *iterations += 1;
    }
}

/// An estimate of the duality gap: `½ ‖G‖²`, plus the error of the classes' masses times the range of the biases.
fn gap_left(problem: &JointProblem<'_>, point: &Point) -> f64 {
    let end = point.gradient.len() - problem.products().lanes();
    match problem.bias() {
        Bias::Explicit => {
            let reach = point.vectors[end..].iter().fold(1.0, |most: f64, bias| most.max(2.0 * bias.abs()));
            let off: f64 = point.gradient[end..].iter().map(|component| component.abs()).sum();
            0.5 * dot(&point.gradient[..end], &point.gradient[..end]) + reach * off
        }
        _ => 0.5 * dot(&point.gradient, &point.gradient),
    }
}

/// Whether the certificate says so, too, where the gap is not known otherwise.
fn is_certified(problem: &JointProblem<'_>, point: &Point, enough: f64) -> bool {
    if problem.bias() != Bias::Explicit {
        return true;
    }
    let (weights, biases) = problem.apart(&point.vectors);
    certify_joint(problem, &weights, &biases, None).certificate().is_some_and(|found| found.gap <= enough)
}

/// Without a penalty: why to stop here, if so.
fn without_penalty(
    problem: &JointProblem<'_>,
    settings: &Settings,
    point: &Point,
    direction: &[f64],
    iterations: u64,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> ControlFlow<Stop, Option<Stop>> {
    let (products, classes, codes) = (problem.products(), problem.classes(), problem.codes());
    let lanes = products.lanes();
    let mut lines = vec![0.0; problem.len() * lanes];
    let pass = Pass { vectors: Some(direction), lines: &mut lines, pulls: false };
    products.pass(
        pass,
        |_, values, line| {
            line.copy_from_slice(values);
            0.0
        },
        poll,
    )?;
    // How far a row's own class is ahead of the best of the others, at least and at most over all rows.
    let ahead = |lines: &[f64], i: usize| {
        let (own, line) = (codes[i] as usize, &lines[i * lanes..][..classes]);
        let others = (0..classes).filter(|&k| k != own).map(|k| line[k]).fold(f64::NEG_INFINITY, f64::max);
        line[own] - others
    };
    let rows = 0..problem.len();
    let spread = |i: usize| {
        let line = &lines[i * lanes..][..classes];
        let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - line.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let change = rows.clone().map(spread).fold(0.0, f64::max);
    if iterations > 0 {
        let strictly = rows.clone().all(|i| ahead(&point.probabilities, i) > 0.0);
        let along = change > 0.1 && rows.clone().all(|i| ahead(&lines, i) >= -1e-9 * change);
        if strictly || along {
            return ControlFlow::Continue(Some(Stop::Diverged));
        }
    }
    ControlFlow::Continue(if change <= settings.tolerance() {
        Some(Stop::Converged)
    } else if change.is_finite() {
        None
    } else {
        Some(Stop::Stalled)
    })
}
