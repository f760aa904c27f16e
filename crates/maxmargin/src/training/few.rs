//! What a training has to show when it is broken off early: the solution of few of its rows, or a constant where even that is better.

use std::ops::ControlFlow;

use super::finish::evidence_of;
use super::ledger::Booked;
use super::verdict::in_units;
use crate::certificate::{Evidence, best_bias, best_constant, training_errors};
use crate::control::{Control, Progress, Stop, Work};
use crate::problem::{Bias, MarginProblem, Norm};
use crate::provenance::Note;
use crate::solver::{self, Decision, Settings, Solution, SolverKind, Start};

/// The most rows that a kernel machine under a limit on time begins with, and the part of all rows that these are at most. With more of them
/// the beginning takes longer; with fewer the search that follows does.
const FEW_ROWS: usize = 4_096;
const ONE_OF: usize = 4;

/// The part of the work left that the end of a beginning may take: of the first, whose support vectors are not known, and of those that follow. A
/// larger part leaves less to find the beginning with.
const OF_LEFT: (f64, f64) = (0.25, 0.85);
/// How many times more rows have to be affordable for a beginning to be found anew.
const WORTH_IT: f64 = 2.0;
/// The least part of some rows that counts as support vectors, when the end is foreseen.
const LEAST_SUPPORT: f64 = 0.05;

/// Rows that stand in for all when nothing was found in time: of a kernel machine, whose certificate costs this many kernel values for
/// each row at most; and of a linear one, of which fewer are taken when they are long.
const KERNEL_ROWS: usize = 64;
/// Fewest rows that stand in for all, or that a machine begins with, when little time is left. Fewer of them say too little of a class.
const LEAST_ROWS: usize = 16;
const LINEAR_ROWS: usize = 1_024;
/// The most entries that the rows of a linear machine have which stand in for all: with [`SWEEPS`] a few milliseconds of work.
const LINEAR_ENTRIES: usize = 1 << 18;
/// Sweeps over these rows.
const SWEEPS: u64 = 8;
/// Steps of a kernel machine of [`KERNEL_ROWS`] rows.
const STEPS: u64 = 10_000;
/// Rows that relevance vectors are found among when nothing was found in time, and steps: with both some milliseconds of work.
const RELEVANCE_ROWS: usize = 128;
const RELEVANCE_STEPS: u64 = 200;

/// Where a kernel machine under a limit on time begins: at the solution of some of its rows, as many as leave time
/// for the final certificate.
/// From there it goes on to the same optimum; broken off, it is a model of use.
pub(super) fn begin(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    control: &mut Booked<'_>,
) -> Start {
    let (all, most) = (problem.len(), FEW_ROWS.min(problem.len() / ONE_OF));
    let is_pairwise = matches!(kind, SolverKind::BlockSmo | SolverKind::Smo);
    if !is_pairwise || all <= solver::WHOLE_ROWS || !has_part(problem) || problem.nu().is_some() {
        return Start::Scratch;
    }
    let end_of = |rows: f64| solver::OF_ENDING * rows * all as f64;
    let affordable = |control: &Booked<'_>, of_left: f64, support: f64| {
        let rows = control.work_left().map_or(most, |left| (of_left * left / end_of(support)) as usize);
        rows.clamp(LEAST_ROWS, most)
    };
    // Until it is known better, all rows may be support vectors.
    let (mut start, mut rows) = (Start::Scratch, affordable(control, OF_LEFT.0, 1.0));
    let mut to_end = end_of(rows as f64);
    loop {
        let places = spread(rows, all);
        let Ok(part) = problem.part(&places) else { return start };
        // A closure keeps no snapshots: those of the part are none of the whole. The end is that of the part before, which is left at a break.
        let mut ask =
            |progress: Progress| control.poll(Progress { work: Work { done: progress.work.done, to_end }, ..progress });
        let Ok(solution) = solver::solve(kind, &part, &in_units(settings, &part), &mut ask) else { return start };
        let is_first = start == Start::Scratch;
        let is_broken = matches!(solution.stop, Stop::TimeLimit | Stop::Interrupted);
        if let Some(found) = solution.alpha.filter(|_| is_first || !is_broken) {
            to_end = end_of(found.iter().filter(|&&alpha| alpha != 0.0).count() as f64);
            start = Start::Alpha(of_whole(problem, &places, &found));
        }
        if is_broken {
            control.stop_at(solution.stop);
            return start;
        }
        let support = (to_end / end_of(rows as f64)).max(LEAST_SUPPORT);
        let next = affordable(control, OF_LEFT.1, support);
        if (next as f64) < WORTH_IT * rows as f64 {
            return start;
        }
        rows = next;
    }
}

/// Where a limit on time came before anything was found, the solution of few rows takes the place of none: a decision function that is 0
/// everywhere is of no use. It takes a bounded number of steps, whatever the limit; only an interrupt ends it.
pub(super) fn stand_in(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    solution: Solution,
    settings: &Settings,
    control: &mut dyn Control,
) -> Solution {
    let is_zero = |numbers: &[f64]| numbers.iter().all(|&number| number == 0.0);
    let found_nothing = match &solution.decision {
        Decision::Linear { weights, .. } => is_zero(weights),
        Decision::Expansion { coefficients, .. } => is_zero(coefficients),
    };
    // With ν a search begins at a point that is not 0, and says as little.
    let is_untouched = problem.nu().is_some() && solution.iterations == 0;
    // Relevance vectors have no penalty of their own.
    let has_part = has_part(problem) || kind == SolverKind::Rvm;
    if solution.stop != Stop::TimeLimit || !(found_nothing || is_untouched) || !has_part {
        return solution;
    }
    let (solver, rows, most) = match kind {
        SolverKind::PrimalNewton | SolverKind::DualAscent if problem.kernel().is_linear() => {
            let matrix = problem.points().matrix();
            let rows = LINEAR_ENTRIES / (matrix.entries() / matrix.rows().max(1)).max(1);
            (SolverKind::DualAscent, rows.clamp(KERNEL_ROWS, LINEAR_ROWS), SWEEPS)
        }
        SolverKind::BlockSmo | SolverKind::Smo => {
            let values = solver::OF_ENDING * problem.len() as f64;
            let rows = control.work_left().map_or(KERNEL_ROWS, |left| (left / values) as usize);
            (SolverKind::BlockSmo, rows.clamp(LEAST_ROWS, KERNEL_ROWS), STEPS)
        }
        SolverKind::Rvm => (SolverKind::Rvm, RELEVANCE_ROWS, RELEVANCE_STEPS),
        _ => return solution,
    };
    let places = spread(rows, problem.len());
    let Ok(part) = problem.part(&places) else { return solution };
    let mut ask = |progress: Progress| match control.poll(progress) {
        ControlFlow::Break(Stop::TimeLimit) => ControlFlow::Continue(()),
        answer => answer,
    };
    let settings = Settings { max_iterations: Some(most), ..in_units(settings, &part) };
    let Ok(found) = solver::solve(solver, &part, &settings, &mut ask) else { return solution };
    let decision = match found.decision {
        Decision::Linear { weights, bias } => Decision::Linear { weights, bias },
        Decision::Expansion { coefficients, bias } => {
            Decision::Expansion { coefficients: of_whole(problem, &places, &coefficients), bias }
        }
    };
    // What relevance vectors say of themselves belongs to these.
    let mut notes = if kind == SolverKind::Rvm { found.notes } else { solution.notes };
    notes.push(Note::OfFewRows { rows: places.len() });
    let alpha = found.alpha.map(|alpha| of_whole(problem, &places, &alpha));
    // A C or an ε that a ν came to on these rows is that of all.
    Solution { decision, alpha, decision_values: None, from_nu: found.from_nu, notes, ..solution }
}

/// Whether a search was broken off.
fn is_cut_short(solution: &Solution) -> bool {
    matches!(solution.stop, Stop::TimeLimit | Stop::Interrupted)
}

/// Whether `f(x) = b` is a solution. One class with no weights at all is not a feasible point, and a hard margin has no such function.
fn has_constant(problem: &MarginProblem<'_>) -> bool {
    !problem.hard() && !(problem.pull_on_bias() > 0.0)
}

/// Moves the bias of a search that was broken off to where the objective is least. The solver's own is an average over free coefficients,
/// which says little far from the optimum.
pub(super) fn take_best_bias(
    problem: &MarginProblem<'_>,
    solution: &mut Solution,
    evidence: &mut Evidence,
    tolerance: f64,
) {
    let is_meant = is_cut_short(solution) && problem.bias() == Bias::Explicit && has_constant(problem);
    let Some(values) = solution.decision_values.as_mut().filter(|_| is_meant && evidence.certificate().is_some())
    else {
        return;
    };
    let (Decision::Linear { bias, .. } | Decision::Expansion { bias, .. }) = &mut solution.decision;
    let sums: Vec<f64> = values.iter().map(|value| value - *bias).collect();
    let best = best_bias(problem, &sums);
    if best.is_finite() {
        *bias = best;
        values.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum + best);
    }
    *evidence = evidence_of(problem, solution, tolerance);
}

/// Puts `f(x) = b`, with the best b, in the place of a solution whose objective is worse. That is what may be left of a search that was
/// stopped early, or that rounding led astray.
pub(super) fn prefer_constant(
    problem: &MarginProblem<'_>,
    solution: &mut Solution,
    evidence: &mut Evidence,
    tolerance: f64,
) {
    let Some(found) = evidence.certificate().filter(|_| has_constant(problem)) else { return };
    let none = vec![0.0; problem.len()];
    let bias = if problem.bias() == Bias::Explicit { best_constant(problem) } else { 0.0 };
    let (loss, targets, costs) = (problem.row_loss(), problem.targets(), problem.costs());
    let constant: f64 = (0..problem.len()).map(|i| costs[i] * loss.value(targets[i], bias)).sum();
    let errors_of = |values: &[f64]| training_errors(problem, values);
    // A function that was found in a hurry may be far from the optimum, and yet right about most rows.
    let tells_more = is_cut_short(solution)
        && solution
            .decision_values
            .as_deref()
            .is_some_and(|values| errors_of(values) < errors_of(&vec![bias; values.len()]));
    if found.primal <= constant || tells_more {
        return;
    }
    solution.decision = match &solution.decision {
        Decision::Linear { weights, .. } => Decision::Linear { weights: vec![0.0; weights.len()], bias },
        Decision::Expansion { .. } => Decision::Expansion { coefficients: none.clone(), bias },
    };
    solution.alpha = Some(none);
    solution.decision_values = Some(vec![bias; problem.len()]);
    solution.notes.push(Note::Constant);
    *evidence = evidence_of(problem, solution, tolerance);
}

/// Whether some rows of a problem are a problem of the same kind.
fn has_part(problem: &MarginProblem<'_>) -> bool {
    let is_usual = problem.penalised() && problem.norm() == Norm::L2;
    is_usual && problem.pull_on_bias() == 0.0 && !problem.hard()
}

/// Places of at most this many of all rows, evenly spread.
fn spread(few: usize, all: usize) -> Vec<usize> {
    let few = few.min(all);
    (0..few).map(|k| k * all / few).collect()
}

/// Numbers of the rows at some places, as numbers of all rows.
fn of_whole(problem: &MarginProblem<'_>, places: &[usize], numbers: &[f64]) -> Vec<f64> {
    let mut whole = vec![0.0; problem.len()];
    places.iter().zip(numbers).for_each(|(&place, &number)| whole[place] = number);
    whole
}
