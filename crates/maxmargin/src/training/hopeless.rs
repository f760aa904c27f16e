//! What a limit on time is too short for, whatever a search does: machines that are too many, and ends that are too dear.

use super::ledger::Booked;
use crate::control::{Control, Stop};
use crate::error::Error;
use crate::problem::{FromNu, MarginProblem};
use crate::solver::{self, Decision, Solution};

/// Machines from which on a training that has overrun its limit is given up. Fewer are finished, each with the solution of few rows.
const MANY: usize = 10_000;

/// How many times as long as its limit a training may take. With a larger number whoever set a limit waits for longer; with a smaller one,
/// limits are refused that would have been kept nearly.
const PATIENCE: f64 = 2.0;

/// Checks that all machines can have begun when twice the limit on time has passed. More machines would overrun the limit by far.
///
/// # Errors
/// With the time that all of them would take.
pub(super) fn check_machines(spent: Option<f64>, begun: usize, machines: usize) -> Result<(), Error> {
    let Some(spent) = spent.filter(|&spent| machines >= MANY && begun < machines && spent > PATIENCE) else {
        return Ok(());
    };
    let times = spent * machines as f64 / begun as f64;
    let how_long = if times.is_finite() { format!("about {times:.0} times as long") } else { "more time".into() };
    Err(Error::Combination {
        what: format!("the limit on time has passed, and {begun} of {machines} machines were trained"),
        help: format!("allow {how_long}, or give fewer classes"),
    })
}

/// The work of the least end that a ν allows: at least that part of the rows are support vectors, and the certificate needs their kernel
/// values with all rows. None where there is no ν.
fn least_end(problem: &MarginProblem<'_>) -> Option<f64> {
    let of_one_class = || {
        let pull = problem.pull_on_bias();
        (pull > 0.0).then(|| pull / problem.costs().iter().sum::<f64>())
    };
    let share = problem.nu().or_else(of_one_class)?;
    let rows = problem.len() as f64;
    Some(solver::OF_ENDING * share * rows * rows)
}

/// Checks that the end of a machine of one class does not take much longer than the limit on time. It has no stand-in: a few rows with the
/// weight of all are no feasible point.
///
/// # Errors
/// With how much longer it takes.
pub(super) fn check_end(problem: &MarginProblem<'_>, control: &Booked<'_>) -> Result<(), Error> {
    if !(problem.pull_on_bias() > 0.0) {
        return Ok(());
    }
    let Some(times) = least_end(problem).and_then(|end| control.time_of(end)).filter(|&times| times > PATIENCE) else {
        return Ok(());
    };
    Err(Error::Combination {
        what: format!(
            "the limit on time is too short for one class of {} rows: the certificate alone takes about {times:.0} times as long",
            problem.len()
        ),
        help: "allow more time, give fewer rows, or choose a smaller nu".into(),
    })
}

/// What is left of a machine whose ν makes the beginning of its search take longer than its limit on time: nothing, in whose place the
/// solution of few rows comes.
pub(super) fn given_up(problem: &MarginProblem<'_>, control: &Booked<'_>) -> Option<Solution> {
    problem.nu().filter(|_| !problem.kernel().is_linear())?;
    least_end(problem).zip(control.work_left()).filter(|(end, left)| end > left)?;
    let none = vec![0.0; problem.len()];
    Some(Solution {
        decision: Decision::Expansion { coefficients: none.clone(), bias: 0.0 },
        alpha: Some(none),
        decision_values: None,
        from_nu: FromNu::Nothing,
        stop: Stop::TimeLimit,
        iterations: 0,
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_given_up_when_they_are_many_and_late_and_some_have_not_begun() {
        let is_ok = |spent, begun, machines| check_machines(spent, begun, machines).is_ok();
        assert!(is_ok(None, 0, MANY) && is_ok(Some(PATIENCE), 0, MANY) && is_ok(Some(9.0), 0, MANY - 1));
        assert!(is_ok(Some(9.0), MANY, MANY));
        let error = check_machines(Some(4.0), 100, MANY).unwrap_err();
        assert_eq!(error.to_string(), "the limit on time has passed, and 100 of 10000 machines were trained");
        assert_eq!(error.help(), "allow about 400 times as long, or give fewer classes");
        let error = check_machines(Some(4.0), 0, MANY).unwrap_err();
        assert_eq!(error.help(), "allow more time, or give fewer classes");
    }
}
