//! Whether a machine has converged. Its certificate says so, here, and nobody else.
//!
//! # The rule
//! ```text
//! kernel machines:  relative gap ≤ gap bound  and  violation ≤ tolerance × unit
//! linear machines:  relative gap ≤ gap bound;  with a tolerance and no gap, the rule of kernel machines        (VE.1)
//! ```
//!
//! The bounds are those of [`Settings`]. Classes that are trained together with hinge loss have both, the gap bound being 1e-3 unless one is
//! given. The relative gap is (C.5), which no scale of columns, targets or C changes for the same geometry.
//! The violation is (D.2), LIBSVM's: its unit is 1, the distance from the boundary to the margin, and for a regression half of the range
//! of the targets.
//!
//! A violation is a matter of single rows. One whose coefficient is off its bound by rounding alone counts in full, and on columns of 1e6
//! it cannot be found to within a tolerance of 1e-3 at all. So a solution whose search can go no further, and whose relative gap proves half
//! of the digits of the objective, has converged to the limits of double precision, and says that.
//!
//! # What follows
//! A solver that thinks it is done, and is not by (VE.1), is asked again: first the solution's own numbers are used better (C.6), then the
//! search goes on with a finer goal from where it is. When that does not help, it has stalled.

use super::few::{prefer_constant, take_best_bias};
use super::finish::evidence_of;
use crate::certificate::joint::{JointEvidence, certify_joint};
use crate::certificate::{Certificate, Evidence, tighten};
use crate::control::{After, Control, Progress, Stop, Unkept};
use crate::error::Error;
use crate::problem::{FromNu, JointProblem, Loss, MarginProblem};
use crate::provenance::Note;
use crate::solver::{self, JointSolution, JointStart, Settings, Solution, SolverKind, Start};

/// How often a solver is asked again, and how much finer its goal is each time.
const MOST_ROUNDS: usize = 8;
const FINER: f64 = 0.1;

/// The finest goals that are asked for.
const FINEST_TOLERANCE: f64 = 1e-14;
const FINEST_GAP: f64 = 1e-15;

/// The relative gap that proves a solution to the limits of double precision: √ε, for an objective is flat at its optimum.
const LIMIT_GAP: f64 = 1.5e-8;

/// Times the gap must have become smaller for another round to pay.
const WORTH_IT: f64 = 0.9;

/// What (VE.1) asks of a machine.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    gap: f64,
    violation: Option<f64>,
}

impl Bounds {
    fn of(kind: SolverKind, problem: &MarginProblem<'_>, settings: &Settings) -> Self {
        let violation = settings.tolerance() * unit(problem);
        if !problem.kernel().is_linear() || problem.hard() {
            return Bounds { gap: settings.gap.unwrap_or(Settings::KERNEL_GAP), violation: Some(violation) };
        }
        match (kind, settings.linear_gap()) {
            // It has a gap and no violation, and its tolerance is one.
            (SolverKind::Sgd, _) => Bounds { gap: settings.gap.unwrap_or(settings.tolerance()), violation: None },
            (_, Some(gap)) => Bounds { gap, violation: None },
            (_, None) => Bounds { gap: Settings::KERNEL_GAP, violation: Some(violation) },
        }
    }

    fn are_met(&self, certificate: &Certificate) -> bool {
        certificate.relative_gap <= self.gap && self.violation.is_none_or(|bound| certificate.violation <= bound)
    }
}

/// What a violation is counted in: half of the range of the targets, which is 1 for classes.
pub(crate) fn unit(problem: &MarginProblem<'_>) -> f64 {
    if !problem.task().is_regression() {
        return 1.0;
    }
    let (low, high) = problem
        .targets()
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &target| (low.min(target), high.max(target)));
    let half = 0.5 * high - 0.5 * low;
    if half > 0.0 && half.is_finite() { half } else { 1.0 }
}

/// Settings whose tolerance is in units of a problem: that is how its solvers count.
pub(super) fn in_units(settings: &Settings, problem: &MarginProblem<'_>) -> Settings {
    // A linear machine that is given no tolerance stops at a gap.
    let stops_at_gap = problem.kernel().is_linear() && settings.tolerance.is_none();
    let tolerance = (!stops_at_gap).then(|| settings.tolerance() * unit(problem));
    Settings { tolerance, ..settings.clone() }
}

/// A solution, the problem that it is one of, and how good it is.
pub(super) struct Settled<'a> {
    /// Who found it.
    pub(super) kind: SolverKind,
    /// With what was found for its ν.
    pub(super) problem: MarginProblem<'a>,
    pub(super) solution: Solution,
    pub(super) evidence: Evidence,
}

/// Asks a solver until the certificate agrees with it, and says why it stopped. Where a linear solver that was not named stalls, a
/// slower one that is surer is tried instead: [`stand_in`].
///
/// # Errors
/// As [`solver::supports`].
pub(super) fn settle<'a>(
    kind: SolverKind,
    is_named: bool,
    problem: MarginProblem<'a>,
    mut solution: Solution,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<Settled<'a>, Error> {
    let tolerance = settings.tolerance();
    let has_nu = problem.nu().is_some();
    let judge = |solution: &mut Solution| {
        let own = has_nu.then(|| problem.clone().with_found(solution.from_nu));
        let evidence = evidence_of(own.as_ref().unwrap_or(&problem), solution, tolerance);
        (evidence, own)
    };
    let (mut evidence, mut own) = judge(&mut solution);
    // Made when the first certificate asks for more: most do not.
    let mut finer_goal = None;
    for _ in 0..MOST_ROUNDS {
        let asked = own.as_ref().unwrap_or(&problem);
        let Some(found) = evidence.certificate() else { break };
        let bounds = Bounds::of(kind, asked, settings);
        if bounds.are_met(found) {
            if matches!(solution.stop, Stop::Stalled | Stop::IterationLimit) {
                solution.stop = Stop::Converged;
            }
            break;
        }
        if !matches!(solution.stop, Stop::Converged | Stop::Stalled) {
            if solution.stop == Stop::IterationLimit && is_nothing(asked, &solution, found) {
                solution.stop = at_limit(asked, &mut solution, found);
            }
            break;
        }
        if found.relative_gap > bounds.gap
            && let Some((better, evidence_of_better)) = tightened(asked, &solution, tolerance)
        {
            let is_better = evidence_of_better.certificate().is_some_and(|better| bounds.are_met(better));
            if is_better {
                (solution, evidence) = (better, evidence_of_better);
                solution.stop = Stop::Converged;
                break;
            }
        }
        let is_at_limit = found.relative_gap <= LIMIT_GAP.min(bounds.gap) || is_nothing(asked, &solution, found);
        let goal: Settings = finer_goal.take().unwrap_or_else(|| in_units(settings, &problem));
        let is_exact = exact(problem.nu().is_none(), &goal);
        if solution.stop == Stop::Stalled || is_exact {
            solution.stop = if is_at_limit { at_limit(asked, &mut solution, found) } else { Stop::Stalled };
            break;
        }
        let goal = if has_nu { finer_of_nu(goal, found, &bounds) } else { finer(goal, kind) };
        let start = match (&solution.alpha, solution.from_nu) {
            (Some(alpha), FromNu::Nothing) if kind.takes_alpha() && !has_nu => Start::Alpha(alpha.clone()),
            // The search for ν counts α in units of the margin, (P.9).
            (Some(alpha), FromNu::Cost(cost)) if kind.takes_alpha() => {
                Start::Alpha(alpha.iter().map(|alpha| alpha / cost).collect())
            }
            _ => Start::Scratch,
        };
        // No snapshots are kept: an interrupted search goes on from the first round, to the same bits.
        let before = solution.iterations;
        let mut ask = After { inner: control, iterations: before };
        let mut next = solver::solve_from(kind, &problem, &goal, start, &mut Unkept(&mut ask))?;
        finer_goal = Some(goal);
        next.iterations = next.iterations.saturating_add(before);
        let (next_evidence, next_own) = judge(&mut next);
        let gap_of = |evidence: &Evidence| evidence.certificate().map_or(f64::INFINITY, |found| found.relative_gap);
        let violation_of = |evidence: &Evidence| evidence.certificate().map_or(f64::INFINITY, |found| found.violation);
        let (stop, is_better) = (next.stop, gap_of(&next_evidence) <= gap_of(&evidence));
        let pays = gap_of(&next_evidence) < WORTH_IT * gap_of(&evidence)
            || violation_of(&next_evidence) < WORTH_IT * violation_of(&evidence);
        if is_better || pays {
            (solution, evidence, own) = (next, next_evidence, next_own);
        }
        if !pays && stop == Stop::Converged {
            // The finer goal was met by the same point: a still finer one is needed, unless there is none.
            solution.stop = Stop::Converged;
        } else if !matches!(stop, Stop::Converged | Stop::Stalled) {
            solution.stop = stop;
        }
    }
    if solution.stop == Stop::Converged
        && let Some(found) = evidence.certificate()
        && !Bounds::of(kind, own.as_ref().unwrap_or(&problem), settings).are_met(found)
        && !solution.notes.iter().any(Note::is_at_limit)
    {
        let asked = own.as_ref().unwrap_or(&problem);
        let is_at_limit = found.relative_gap <= LIMIT_GAP || is_nothing(asked, &solution, found);
        solution.stop = if is_at_limit { at_limit(asked, &mut solution, found) } else { Stop::Stalled };
    }
    if solution.stop == Stop::Stalled
        && !is_named
        && let Some((other, second)) = stand_in(kind, &problem, &solution, settings, control)?
    {
        let mut settled = settle(other, true, problem.clone(), second, settings, control)?;
        let primal_of = |evidence: &Evidence| evidence.certificate().map_or(f64::INFINITY, |found| found.primal);
        let is_better = primal_of(&settled.evidence) < primal_of(&evidence);
        if settled.solution.stop == Stop::Converged || is_better {
            let mut notes = std::mem::take(&mut solution.notes);
            notes.push(Note::StoodIn { stalled: kind, tried: other });
            notes.append(&mut settled.solution.notes);
            settled.solution.notes = notes;
            return Ok(settled);
        }
    }
    let problem = own.unwrap_or_else(|| problem.with_found(FromNu::Nothing));
    if solution.stop != Stop::Converged && !has_nu {
        take_best_bias(&problem, &mut solution, &mut evidence, tolerance);
        prefer_constant(&problem, &mut solution, &mut evidence, tolerance);
    }
    // A search that gave up may have left an objective that is rounding, and nothing is better than that.
    if solution.stop == Stop::Stalled
        && let Some(found) = evidence.certificate()
        && is_nothing(&problem, &solution, found)
    {
        solution.stop = at_limit(&problem, &mut solution, found);
    }
    Ok(Settled { kind, problem, solution, evidence })
}

/// Steps for each row that a stand-in has: where those do not suffice, rounding is in its way, too.
const STEPS_A_ROW: u64 = 200;

/// What another solver finds where this one stalled: Newton's method without conjugate gradients for logistic loss; the whole kernel
/// matrix of few rows, or chunks of many, for the others.
///
/// # Errors
/// As [`solver::solve`].
fn stand_in(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    stalled: &Solution,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<Option<(SolverKind, Solution)>, Error> {
    let other = if problem.loss() == Loss::Logistic { SolverKind::Logistic } else { SolverKind::BlockSmo };
    if kind == other || solver::supports(other, problem, settings).is_err() {
        return Ok(None);
    }
    let mut ask = |progress: Progress| control.poll(progress);
    let found = if other == SolverKind::Logistic || problem.len() <= solver::WHOLE_ROWS {
        let most = STEPS_A_ROW.saturating_mul(problem.len() as u64);
        let max_iterations = Some(settings.max_iterations.unwrap_or(most));
        Some(solver::solve(other, problem, &Settings { max_iterations, ..in_units(settings, problem) }, &mut ask)?)
    } else {
        let values = stalled.decision_values.clone().unwrap_or_default();
        solver::solve_by_chunks(problem, settings, values, &mut ask)
    };
    Ok(found.map(|found| (other, found)))
}

/// The relative gap of classes that are trained together with hinge loss, beside their violation.
const JOINT_GAP: f64 = 1e-3;

/// (VE.1) for classes that were trained together: the solver is asked until their one certificate agrees. What `lda` finds is the optimum
/// of no objective with a penalty, and has none.
///
/// # Errors
/// As [`solver::supports_joint`].
pub(super) fn settle_joint(
    kind: SolverKind,
    problem: &JointProblem<'_>,
    solution: &mut JointSolution,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<JointEvidence, Error> {
    if kind == SolverKind::Lda {
        return Ok(JointEvidence::None("the method minimises no objective".into()));
    }
    let certified = |solution: &JointSolution| {
        certify_joint(problem, &solution.weights, &solution.biases, solution.alpha.as_deref())
    };
    let is_softmax = problem.loss() == Loss::Logistic;
    let gap = settings.linear_gap().filter(|_| is_softmax).or(settings.gap).unwrap_or(JOINT_GAP);
    let violation = (!is_softmax).then(|| settings.tolerance());
    let met = |evidence: &JointEvidence| {
        evidence
            .certificate()
            .is_none_or(|found| found.relative_gap <= gap && violation.is_none_or(|bound| found.violation <= bound))
    };
    let (mut evidence, mut goal) = (certified(solution), settings.clone());
    for _ in 0..MOST_ROUNDS {
        if met(&evidence) || solution.stop != Stop::Converged {
            break;
        }
        goal = if is_softmax {
            Settings { gap: Some(FINER * goal.linear_gap().unwrap_or(gap)), ..goal }
        } else {
            Settings { tolerance: Some(FINER * goal.tolerance()), ..goal }
        };
        let (weights, biases) = (solution.weights.clone(), solution.biases.clone());
        let alpha = solution.alpha.clone().unwrap_or_else(|| vec![Vec::new(); problem.classes()]);
        let start = JointStart::Model { weights, biases, alpha };
        let before = solution.iterations;
        *solution = solver::solve_joint(kind, problem, &goal, start, control)?;
        solution.iterations = solution.iterations.saturating_add(before);
        evidence = certified(solution);
    }
    let is_open = matches!(solution.stop, Stop::Converged | Stop::Stalled | Stop::IterationLimit);
    if met(&evidence) && is_open && evidence.certificate().is_some() {
        solution.stop = Stop::Converged;
    } else if solution.stop == Stop::Converged && !met(&evidence) {
        solution.stop = Stop::Stalled;
    }
    Ok(evidence)
}

/// Notes that a solution is at the limits.
fn at_limit(problem: &MarginProblem<'_>, solution: &mut Solution, found: &Certificate) -> Stop {
    let Certificate { primal, relative_gap, violation, .. } = *found;
    solution.notes.push(if relative_gap <= LIMIT_GAP {
        Note::AtLimit { relative_gap, violation }
    } else if problem.task().is_regression() {
        Note::RoundedTargets { objective: primal } // (VE.3)
    } else {
        Note::NothingParts // (VE.2)
    });
    Stop::Converged
}

/// Whether the objective is nothing but rounding: of one class, whose rows lie around the origin and whose weights cancel out
///
/// ```text
/// |primal|, gap ≤ 1e-12 · ½ (Σ |c_i| ‖φ(x_i)‖)²,   which is ½‖w‖² as large as it could be                       (VE.2)
/// ```
///
/// and of a regression, whose targets are met as well as numbers of their size can be
///
/// ```text
/// |primal|, gap ≤ Σ C_i ℓ(t_i, (1 ± 8 ε) t_i)                                                                 (VE.3)
/// ```
///
/// Then the optimum is 0, of which no gap is a small part.
fn is_nothing(problem: &MarginProblem<'_>, solution: &Solution, found: &Certificate) -> bool {
    let largest = found.gap.max(found.primal.abs());
    if problem.task().is_regression() {
        let power = if problem.loss() == Loss::Squared { 2 } else { 1 };
        let rows = problem.targets().iter().zip(problem.costs());
        return largest <= rows.map(|(target, cost)| cost * (ROUNDED * target).abs().powi(power)).sum();
    }
    let Some(alpha) = solution.alpha.as_ref().filter(|_| problem.pull_on_bias() > 0.0) else { return false };
    let diagonal = problem.gram().diagonal(problem.rows());
    let length: f64 = alpha.iter().zip(diagonal).map(|(alpha, own)| alpha.abs() * own.max(0.0).sqrt()).sum();
    largest <= NOTHING * 0.5 * length * length
}

/// The part of a target that a decision value may miss it by, (VE.3).
const ROUNDED: f64 = 8.0 * f64::EPSILON;

/// The part of an objective that is rounding, (VE.2).
const NOTHING: f64 = 1e-12;

/// The solution by (C.6), and how good it is.
fn tightened(problem: &MarginProblem<'_>, solution: &Solution, tolerance: f64) -> Option<(Solution, Evidence)> {
    let mut better = solution.clone();
    if !tighten(problem, &mut better) {
        return None;
    }
    let evidence = evidence_of(problem, &mut better, tolerance);
    Some((better, evidence))
}

/// Whether there is no finer goal.
fn exact(has_no_nu: bool, goal: &Settings) -> bool {
    let finest = if has_no_nu { FINEST_TOLERANCE } else { FINEST_TOLERANCE * FINEST_TOLERANCE };
    goal.tolerance.is_some_and(|tolerance| tolerance <= finest) || goal.gap.is_some_and(|gap| gap <= FINEST_GAP)
}

/// A finer goal for a ν, whose search begins anew: as much finer as the last one has missed its bounds by.
///
/// The search for ν measures its violation in other units than (VE.1), a C that it does not know before the end.
fn finer_of_nu(goal: Settings, found: &Certificate, bounds: &Bounds) -> Settings {
    let of_violation = bounds.violation.map_or(1.0, |bound| bound / found.violation);
    let missed = of_violation.min(bounds.gap / found.relative_gap);
    let factor = (WITHIN * missed).clamp(FINEST_FACTOR, FINER);
    Settings { tolerance: Some(goal.tolerance().min(1.0) * factor), ..goal }
}

/// The part of a bound that a search for ν aims at, and how much finer a goal may be at once.
const WITHIN: f64 = 0.5;
const FINEST_FACTOR: f64 = 1e-4;

/// A finer goal.
fn finer(goal: Settings, kind: SolverKind) -> Settings {
    match goal.gap {
        Some(gap) if kind.facts().stops_at_gap || kind == SolverKind::Sgd => {
            Settings { gap: Some(gap * FINER), ..goal }
        }
        // Where a solver stops at a gap by default, a finer one is named.
        None if kind.facts().stops_at_gap && goal.tolerance.is_none() => {
            Settings { gap: Some(Settings::GAP * FINER), ..goal }
        }
        // What is looser than 1 asks for nothing.
        _ => Settings { tolerance: Some(goal.tolerance().min(1.0) * FINER), ..goal },
    }
}
