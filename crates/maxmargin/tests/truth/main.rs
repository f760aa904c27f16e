//! `converged` is never false: random problems of every task, loss, kernel, bias, weight and scale, each model judged by an oracle
//! that shares no code with the solvers.
//!
//! `cargo test` takes the first seeds; `cargo xtask truth` all of them.
#![allow(clippy::unwrap_used, unreachable_pub)] // all of this is tests

mod controls;
mod double;
mod joint;
mod kernel;
mod oracle;
mod problems;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use maxmargin::Stop;
use maxmargin::problem::Norm;
use maxmargin::solver::SolverKind;
use oracle::Seen;
use problems::Problem;
use verdict::{Outcome, UNCERTIFIED, outcomes};

/// Problems of a plain `cargo test`.
const SEEDS: Range<u64> = 0..200;

/// The largest share of problems that the automatic choice may refuse.
const MOST_REFUSED: f64 = 0.03;

/// The least share of the certified machines of the automatic choice that converge: a solver that never says so is never wrong.
const LEAST_CONVERGED: f64 = 0.8;

/// What came of all problems.
#[derive(Default)]
struct Tally {
    /// Machines by the solver that made them and why it stopped.
    stops: BTreeMap<(String, &'static str), usize>,
    problems: usize,
    /// Problems that the automatic choice refused.
    refused: Vec<String>,
    /// Machines of the automatic choice, and those of them that converged.
    chosen: [usize; 2],
    complaints: Vec<(u64, &'static str, String)>,
}

/// Solvers that minimise no convex objective, and so claim none of what is judged here.
const NOT_JUDGED: [SolverKind; 4] =
    [SolverKind::Perceptron, SolverKind::KernelPerceptron, SolverKind::Rvm, SolverKind::Mlp];

/// Of the named solvers a plain `cargo test` tries one in so many on each problem, others on the next.
const PART: u64 = 4;

/// What the caller asks for: `TRUTH_SEEDS=FROM..TO` for these seeds and every solver, `TRUTH_THREADS=N`.
struct Asked {
    seeds: Range<u64>,
    every_solver: bool,
    threads: usize,
}

impl Asked {
    fn from_environment() -> Self {
        let seeds = std::env::var("TRUTH_SEEDS").ok().map(|text| {
            let (from, to) = text.split_once("..").expect("TRUTH_SEEDS is FROM..TO");
            from.parse().unwrap()..to.parse().unwrap()
        });
        let threads = std::env::var("TRUTH_THREADS").ok().map_or(1, |text| text.parse().unwrap());
        Asked { every_solver: seeds.is_some(), seeds: seeds.unwrap_or(SEEDS), threads }
    }

    /// Solvers to try: the automatic choice, then each by name.
    fn solvers(&self, seed: u64) -> impl Iterator<Item = Option<SolverKind>> {
        let named = SolverKind::ALL.into_iter().filter(|kind| !NOT_JUDGED.contains(kind));
        let every = self.every_solver;
        let chosen = (0..).zip(named).filter(move |(place, _)| every || place % PART == seed % PART);
        std::iter::once(None).chain(chosen.map(|(_, kind)| Some(kind)))
    }
}

/// Fits one problem by one solver, and adds what came of it.
fn try_solver(seed: u64, problem: &Problem, seen: &Seen<'_>, solver: Option<SolverKind>, tally: &Mutex<Tally>) {
    let name = solver.map_or("auto", SolverKind::name);
    let fitted = catch_unwind(AssertUnwindSafe(|| problem.fit(solver)));
    let found: Vec<Outcome> = match &fitted {
        Ok(Ok(model)) => outcomes(problem, seen, model),
        _ => vec![],
    };
    let mut tally = tally.lock().unwrap();
    match fitted {
        Err(_) => tally.complaints.push((seed, "panic", format!("{}, {name}", problem.name))),
        Ok(Err(error)) if error.help().is_empty() => {
            tally.complaints.push((seed, "error without a way out", format!("{}, {name}: {error}", problem.name)));
        }
        Ok(Err(error)) if solver.is_none() => tally.refused.push(format!("{}: {error}", problem.name)),
        // A solver that was named may say that it is not for this problem.
        Ok(_) => {}
    }
    for outcome in found {
        *tally.stops.entry((outcome.solver.clone(), outcome.stop)).or_default() += 1;
        if solver.is_none() && outcome.stop != UNCERTIFIED {
            tally.chosen[0] += 1;
            tally.chosen[1] += usize::from(outcome.stop == Stop::Converged.name());
        }
        for complaint in outcome.complaints {
            let text = format!("{}, {name} ({}, {}): {}", problem.name, outcome.solver, outcome.stop, complaint.text);
            // At once, so that a long run that is broken off has said what it found.
            println!("  [{}] {text}", complaint.kind);
            tally.complaints.push((seed, complaint.kind, text));
        }
    }
}

/// Every problem of the seeds, by every solver asked for that takes it.
fn try_all(asked: &Asked) -> Tally {
    let (tally, next) = (Mutex::new(Tally::default()), AtomicU64::new(asked.seeds.start));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= asked.seeds.end {
                break;
            }
            let problem = problems::problem(seed);
            let seen = Seen::new(&problem);
            for solver in asked.solvers(seed).filter(|&solver| problem.suits(solver)) {
                try_solver(seed, &problem, &seen, solver, &tally);
            }
            tally.lock().unwrap().problems += 1;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..asked.threads {
            scope.spawn(work);
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.complaints.sort();
    tally
}

impl Tally {
    fn machines(&self) -> usize {
        self.stops.values().sum()
    }

    /// The share of the machines of the automatic choice that converged.
    fn converged(&self) -> f64 {
        self.chosen[1] as f64 / self.chosen[0].max(1) as f64
    }

    /// What came out, in lines.
    fn summary(&self) -> String {
        let mut lines = vec![format!(
            "{} problems, {} refused with a way out, {} machines; {:.1} % of {} machines by the automatic choice converged",
            self.problems,
            self.refused.len(),
            self.machines(),
            100.0 * self.converged(),
            self.chosen[0]
        )];
        let stops = self.stops.iter().map(|((solver, stop), count)| format!("  {solver:<18} {stop:<28} {count:>6}"));
        lines.extend(stops);
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        self.complaints.iter().for_each(|(_, kind, _)| *kinds.entry(kind).or_default() += 1);
        lines.push(format!("{} complaints {kinds:?}", self.complaints.len()));
        let seeds: BTreeSet<u64> = self.complaints.iter().map(|&(seed, _, _)| seed).collect();
        lines.push(format!("of seeds {seeds:?}"));
        lines.join("\n")
    }
}

#[test]
fn converged_is_true_of_every_machine_that_says_so() {
    let tally = try_all(&Asked::from_environment());
    tally.refused.iter().for_each(|refused| println!("  refused: {refused}"));
    println!("{}", tally.summary());
    assert!(tally.complaints.is_empty(), "{} complaints, listed above", tally.complaints.len());
    let share = tally.refused.len() as f64 / tally.problems as f64;
    // A few problems by themselves may be any.
    if tally.problems >= 100 {
        assert!(share <= MOST_REFUSED, "{share} of the problems are refused:\n{}", tally.refused.join("\n"));
        assert!(tally.converged() >= LEAST_CONVERGED, "only {} converged", tally.converged());
    }
}

#[test]
fn problems_are_of_every_kind() {
    let problems: Vec<Problem> = (0..400).map(problems::problem).collect();
    let count = |holds: &dyn Fn(&Problem) -> bool| problems.iter().filter(|problem| holds(problem)).count();
    assert!(count(&|problem| problem.params.norm == Norm::L1) >= 3);
    assert!(count(&|problem| problem.params.multiclass.is_some_and(|way| way.is_joint(problem.classes))) >= 10);
    assert!(count(&|problem| problem.rows() >= 600) >= 4);
    assert!(count(&|problem| problem.params.task.is_regression()) >= 40);
    assert!(count(&|problem| problem.params.task.usual().is_some()) >= 20);
    assert!(count(&|problem| !problem.formula.is_linear()) >= 150);
}
