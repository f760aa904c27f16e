//! The end of a ν-regression whose tube has no width.
//!
//! Where ν is above the share of rows that lie off the function, ε is 0. Then the dual (P.7) holds `Σ α_i = Σ α*_i = ν Σ C_i / 2`
//! all the same, although `c_i = α_i − α*_i` is small: with a large C both are large, on rows that are equal or nearly so, and what they
//! cancel out to has lost its digits. The regression with ε = 0 has the c_i alone, and is the same problem where
//!
//! ```text
//! Σ |c_i| ≤ ν Σ C_i                                                          (P.13)
//! ```

use super::{Settings, SnapshotControl, Solution, SolverKind, Start, search};
use crate::control::{Progress, Stop};
use crate::error::Error;
use crate::problem::{FromNu, MarginProblem, Task};
use crate::provenance::Note;

/// The largest ε that may be none, as a part of the range of the targets. With a larger one more problems are solved twice.
const SMALL: f64 = 1e-6;

/// How much more than (P.13) allows is rounding.
const ROUNDING: f64 = 1e-9;

/// Steps of the search for ε, and for each row, after which it is tried whether there is none. With fewer, searches that would have come to an end
/// are begun anew; with more, those among rounded numbers take longer.
const STEPS: u64 = 20_000;
const STEPS_A_ROW: u64 = 100;

/// Solves a ν-regression: the search for ε, and where that has not found one soon, or finds one that is nearly 0, the regression without a tube.
///
/// # Errors
/// As [`super::solve`].
pub(super) fn solve(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn SnapshotControl,
) -> Result<Solution, Error> {
    let most = STEPS + STEPS_A_ROW * problem.len() as u64;
    let is_later = matches!(&start, Start::Snapshot(snapshot) if snapshot.iterations >= most);
    // A resumed search takes the way of one that was never broken off: this late, it was found that there is a tube.
    if is_later || settings.max_iterations.is_some_and(|cap| cap <= most) {
        return search(kind, problem, settings, start, control);
    }
    let soon = Settings { max_iterations: Some(most), ..settings.clone() };
    let mut found = search(kind, problem, &soon, start, control)?;
    if let Some(better) = without_tube(kind, problem, &mut found, settings, control)? {
        return Ok(better);
    }
    if found.stop == Stop::IterationLimit {
        return search(kind, problem, settings, Start::Scratch, control);
    }
    Ok(found)
}

/// The solution of the regression with ε = 0, where one with another ε was not found or that is nearly 0; `None` where ν asks for a tube.
fn without_tube(
    kind: SolverKind,
    problem: &MarginProblem<'_>,
    found: &mut Solution,
    settings: &Settings,
    control: &mut dyn SnapshotControl,
) -> Result<Option<Solution>, Error> {
    let (Task::NuRegression { nu }, FromNu::Epsilon(epsilon)) = (problem.task(), found.from_nu) else {
        return Ok(None);
    };
    let is_lost = matches!(found.stop, Stop::Stalled | Stop::IterationLimit);
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = problem.targets().iter().fold(ends, |(low, high), &t| (low.min(t), high.max(t)));
    let may_be_none = epsilon <= SMALL * (high - low);
    if !(is_lost || may_be_none && found.stop == Stop::Converged) {
        return Ok(None);
    }
    let before = found.iterations;
    // A closure keeps no snapshots: those of the regression without a tube are none of this problem.
    let mut ask = |progress: Progress| {
        control.poll(Progress { iteration: progress.iteration.saturating_add(before), ..progress })
    };
    let other = problem.clone().with_found(FromNu::Epsilon(0.0));
    let mut other = search(kind, &other, settings, Start::Scratch, &mut ask)?;
    other.iterations = other.iterations.saturating_add(before);
    found.iterations = other.iterations;
    if matches!(other.stop, Stop::TimeLimit | Stop::Interrupted) {
        found.stop = other.stop;
    }
    let most = nu * problem.costs().iter().sum::<f64>();
    let size: f64 = other.alpha.iter().flatten().map(|c| c.abs()).sum();
    if !(other.stop == Stop::Converged && size <= most * (1.0 + ROUNDING)) {
        return Ok(None);
    }
    other.from_nu = FromNu::Epsilon(0.0);
    other.notes.push(Note::EpsilonOfNu { nu, epsilon: 0.0 });
    Ok(Some(other))
}
