//! What a training has to show when a limit on time breaks it off early: the solution of few of its rows.

use std::ops::ControlFlow;

use super::verdict::in_units;
use crate::control::{Control, Progress, Stop};
use crate::problem::{MarginProblem, Norm};
use crate::solver::{self, Decision, Settings, Snapshot, Solution, SolverKind, Start};

/// Rows from which on a kernel machine that may be broken off begins with some of them, and how many these are.
const MANY_ROWS: usize = 16_384;
const FEW_ROWS: usize = 4_096;

/// Rows that stand in for all when nothing was found in time: of a kernel machine, whose certificate costs this many kernel values for
/// each row at most; and of a linear one, of which fewer are taken when they are long.
const KERNEL_ROWS: usize = 64;
const LINEAR_ROWS: usize = 1_024;
/// The most entries that the rows of a linear machine have which stand in for all: with [`SWEEPS`] a few milliseconds of work.
const LINEAR_ENTRIES: usize = 1 << 18;
/// Sweeps over these rows.
const SWEEPS: u64 = 8;
/// Steps of a kernel machine of [`KERNEL_ROWS`] rows.
const STEPS: u64 = 10_000;

/// To bring the sums to a start costs about this part of what it costs to end.
const OF_BEGINNING: f64 = 0.4;

/// Where a machine begins that a limit on time may break off.
pub(super) struct Beginning {
    pub(super) start: Start,
    /// The work that found the start, as a part of what it would cost to end there.
    work: f64,
    /// Why to end there, where no time is left to go on.
    broke: Option<Stop>,
}

/// Where a kernel machine of many rows begins that a limit on time may break off: at the solution of some of its rows, which is soon found.
/// From there it goes on to the same optimum; broken off, it is a model of use.
pub(super) fn begin(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    control: &mut dyn Control,
) -> Beginning {
    let scratch = Beginning { start: Start::Scratch, work: 0.0, broke: None };
    if kind != SolverKind::BlockSmo || problem.len() < MANY_ROWS || !has_part(problem) {
        return scratch;
    }
    let places = spread(FEW_ROWS, problem.len());
    let Ok(part) = problem.part(&places) else { return scratch };
    // What ending the part would cost, beside the work so far.
    let mut ending = 0.0;
    // A closure keeps no snapshots: those of the part are none of the whole.
    let mut ask = |progress: Progress| {
        ending = progress.ending;
        // The end is that of the whole, not of the part.
        control.poll(Progress { ending: progress.ending * problem.len() as f64 / FEW_ROWS as f64, ..progress })
    };
    let solved = solver::solve(kind, &part, &in_units(settings, &part), &mut ask);
    let Ok(Some(found)) = solved.map(|solution| solution.alpha) else { return scratch };
    let start = Start::Alpha(of_whole(problem, &places, &found));
    let work = if ending > 0.0 { FEW_ROWS as f64 / (problem.len() as f64 * ending) } else { 0.0 };
    let broke = if work > 0.0 {
        control.poll(Progress { ending: (1.0 + OF_BEGINNING) / work, ..Progress::default() }).break_value()
    } else {
        None
    };
    Beginning { start, work, broke }
}

/// Hands on what a solver says that begins where [`begin`] has led: its work is not all that was done.
pub(super) struct Begun<'a> {
    pub(super) inner: &'a mut dyn Control,
    work: f64,
    broke: Option<Stop>,
}

impl<'a> Begun<'a> {
    pub(super) fn new(inner: &'a mut dyn Control, beginnings: &[Beginning]) -> Self {
        let work = beginnings.iter().map(|beginning| beginning.work).fold(0.0, f64::max);
        let broke = beginnings.iter().find_map(|beginning| beginning.broke);
        Begun { inner, work, broke }
    }
}

impl Control for Begun<'_> {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if let Some(stop) = self.broke {
            return ControlFlow::Break(stop);
        }
        let ending = progress.ending / (1.0 + self.work * progress.ending);
        self.inner.poll(Progress { ending, ..progress })
    }

    fn wants_snapshot(&mut self, progress: &Progress) -> bool {
        self.inner.wants_snapshot(progress)
    }

    fn is_limited(&self) -> bool {
        self.inner.is_limited()
    }

    fn keep_snapshot(&mut self, snapshot: Snapshot) {
        self.inner.keep_snapshot(snapshot);
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
    if solution.stop != Stop::TimeLimit || !found_nothing || !has_part(problem) {
        return solution;
    }
    let (solver, rows, most) = match kind {
        SolverKind::PrimalNewton | SolverKind::DualAscent if problem.kernel().is_linear() => {
            let matrix = problem.points().matrix();
            let rows = LINEAR_ENTRIES / (matrix.entries() / matrix.rows().max(1)).max(1);
            (SolverKind::DualAscent, rows.clamp(KERNEL_ROWS, LINEAR_ROWS), SWEEPS)
        }
        SolverKind::BlockSmo => (kind, KERNEL_ROWS, STEPS),
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
    let mut notes = solution.notes;
    notes.push(format!("the limit on time came before the first step: this is the solution of {} rows", places.len()));
    let alpha = found.alpha.map(|alpha| of_whole(problem, &places, &alpha));
    Solution { decision, alpha, decision_values: None, notes, ..solution }
}

/// Whether some rows of a problem are a problem of the same kind.
fn has_part(problem: &MarginProblem<'_>) -> bool {
    let is_usual = problem.penalised() && problem.norm() == Norm::L2;
    is_usual && problem.nu().is_none() && problem.pull_on_bias() == 0.0 && !problem.hard()
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
