//! Negative controls: every part of the oracle notices what it is there for.

use std::collections::BTreeMap;

use maxmargin::certificate::Evidence;
use maxmargin::certificate::joint::JointEvidence;
use maxmargin::model::{ModelParts, Multiclass};
use maxmargin::problem::{Norm, Task};
use maxmargin::provenance::Note;
use maxmargin::solver::SolverKind;
use maxmargin::{Model, Stop};

use super::oracle::Seen;
use super::problems::{Problem, problem, range};
use super::verdict::outcomes;

/// The kinds of problems that the oracle has formulas of its own for.
fn kind(problem: &Problem) -> String {
    let params = &problem.params;
    let task = match params.task {
        Task::Classification if matches!(params.penalty, maxmargin::training::Penalty::Nu(_)) => "classes with nu",
        Task::Classification => "classes",
        Task::Regression { .. } => "regression",
        Task::NuRegression { .. } => "regression with nu",
        Task::OneClass { .. } => "one class",
        Task::Svdd { .. } => "svdd",
    };
    let way = params.multiclass.filter(|way| way.is_joint(problem.classes)).map_or("", |way| way.name());
    let norm = if params.norm == Norm::L1 { "l1" } else { "" };
    let kernel = if problem.formula.is_linear() { "linear" } else { "kernel" };
    format!("{task} {:?} {kernel} {norm}{way}", params.loss)
}

/// A solver by name for linear problems of few rows: left to itself, the library finds the last digits of these, and there is nothing to falsify.
fn coarse_solver(problem: &Problem) -> Option<SolverKind> {
    let params = &problem.params;
    let is_primal = problem.formula.is_linear() && !matches!(params.penalty, maxmargin::training::Penalty::Nu(_));
    match (params.multiclass.filter(|way| way.is_joint(problem.classes)), params.norm) {
        (Some(Multiclass::CrammerSinger), _) => Some(SolverKind::DualAscent),
        (Some(_), _) => Some(SolverKind::Logistic),
        (None, Norm::L1) => Some(SolverKind::L1Newton),
        (None, _) if is_primal => Some(SolverKind::PrimalNewton),
        (None, _) => None,
    }
}

/// A problem of each kind whose model has converged, and is not complained about but for its relative gap.
fn examples() -> Vec<(Problem, Model)> {
    let mut found: BTreeMap<String, (Problem, Model)> = BTreeMap::new();
    for seed in 0..2000 {
        let problem = problem(seed);
        // Where columns are of very different size, or C is large, rounding may be as large as the violation.
        let steep = matches!(problem.params.penalty, maxmargin::training::Penalty::C(c) if c > 1e4);
        let mild = ["plain", "rows that repeat", "of one scale"].iter().any(|name| problem.name.contains(name));
        if steep || !mild || problem.rows() > 200 || found.contains_key(&kind(&problem)) {
            continue;
        }
        let Ok(model) = problem.fit(coarse_solver(&problem)) else { continue };
        let certified = model.machines().iter().any(|machine| machine.evidence.certificate().is_some());
        let kinds = complaints(&problem, &model);
        // What has no violation and no gap at all has nothing to falsify.
        let told = certificate_of(&model).is_some_and(|(gap, violation)| gap > 1e-9 && violation > 1e-9);
        if model.stop() == Stop::Converged && (certified || model.parts().joint.is_some()) && kinds.is_empty() && told {
            found.insert(kind(&problem), (problem, model));
        }
    }
    found.into_values().collect()
}

/// The stated relative gap and violation of the first machine, or of all together.
fn certificate_of(model: &Model) -> Option<(f64, f64)> {
    if let Some(joint) = &model.parts().joint {
        let found = joint.certificate()?;
        return Some((found.gap / found.primal.abs(), found.violation));
    }
    let found = model.machines()[0].evidence.certificate()?;
    Some((found.gap / found.primal.abs(), found.violation))
}

/// The violation that is stated of the first machine, or of all together.
fn exact_violation(model: &Model) -> f64 {
    match (&model.parts().joint, &model.machines()[0].evidence) {
        (Some(JointEvidence::Certificate(found)), _) => found.violation,
        (_, Evidence::Certificate(found)) => found.violation,
        _ => 0.0,
    }
}

/// The kinds of complaints about a model.
fn complaints(problem: &Problem, model: &Model) -> Vec<&'static str> {
    let found = outcomes(problem, &Seen::new(problem), model);
    let mut kinds: Vec<&str> =
        found.iter().flat_map(|outcome| outcome.complaints.iter().map(|complaint| complaint.kind)).collect();
    kinds.retain(|kind| *kind != "relative gap stated");
    kinds
}

/// The model with something changed, of which it knows nothing.
fn forged(model: &Model, change: impl FnOnce(&mut ModelParts)) -> Model {
    let mut parts = model.parts().clone();
    change(&mut parts);
    Model::new(parts).unwrap()
}

/// What a certificate states, to be falsified.
struct Numbers<'a> {
    primal: &'a mut f64,
    dual: &'a mut f64,
    gap: &'a mut f64,
    violation: &'a mut f64,
}

/// Falsifies the numbers of the first machine, or of all together.
fn restated(model: &Model, change: impl FnOnce(Numbers<'_>)) -> Model {
    forged(model, |parts| match (&mut parts.joint, &mut parts.machines[0].evidence) {
        (Some(JointEvidence::Certificate(found)), _) => change(Numbers {
            primal: &mut found.primal,
            dual: &mut found.dual,
            gap: &mut found.gap,
            violation: &mut found.violation,
        }),
        (_, Evidence::Certificate(found)) => change(Numbers {
            primal: &mut found.primal,
            dual: &mut found.dual,
            gap: &mut found.gap,
            violation: &mut found.violation,
        }),
        _ => panic!("no certificate"),
    })
}

#[test]
fn a_number_falsified_or_an_answer_changed_is_noticed_for_every_kind_of_problem() {
    let examples = examples();
    let softmax = |problem: &Problem| kind(problem).contains("joint");
    for (problem, model) in &examples {
        let notices = |what: &str, forged: Model, expected: &[&str]| {
            let found = complaints(problem, &forged);
            assert!(found.iter().any(|kind| expected.contains(kind)), "{}: {what}: {found:?}", problem.name);
        };
        notices("gap halved", restated(model, |numbers| *numbers.gap *= 0.5), &["gap stated"]);
        // Half of nothing is nothing.
        if exact_violation(model) <= 1e-6 {
            continue;
        }
        notices("violation lowered", restated(model, |numbers| *numbers.violation *= 0.5), &["violation"]);
        let lower = |numbers: Numbers<'_>| *numbers.primal -= 1e-6 * numbers.primal.abs();
        notices("primal lowered", restated(model, lower), &["primal"]);
        let close = |numbers: Numbers<'_>| (*numbers.dual, *numbers.gap) = (*numbers.primal, 0.0);
        notices("dual raised to the primal", restated(model, close), &["dual", "gap stated"]);
        let moved = forged(model, |parts| {
            let machine = &mut parts.machines[0];
            machine.bias += 0.5 * machine.bias.abs().max(1e-3);
        });
        notices("bias moved", moved, &["primal"]);
        if !softmax(problem) && !kind(problem).contains("crammer") {
            // Softmax has no coefficients: its dual point is made of the weights. Those of Crammer and Singer may be next to nothing.
            let changed = forged(model, |parts| {
                let largest = parts.machines[0].coefficients.iter_mut().max_by(|a, b| a.abs().total_cmp(&b.abs()));
                *largest.unwrap() *= 0.5;
            });
            notices("a coefficient halved", changed, &["dual", "primal", "violation", "infeasibility"]);
        }
        if problem.formula.is_linear() {
            // By so much that decision values change by what they are.
            let most = |column: usize| problem.points.iter().map(|x| x[column].abs()).fold(1e-300, f64::max);
            let (low, high) = range(&problem.targets);
            let size = if problem.targets.is_empty() { 1.0 } else { high - low };
            let changed = forged(model, |parts| {
                let weights = parts.machines[0].weights.as_mut().unwrap();
                let place = (0..weights.len()).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs())).unwrap();
                weights[place] += 0.5 * weights[place].abs().max(size / most(place));
            });
            notices("a weight changed", changed, &["primal", "violation"]);
        }
    }
    let kinds: Vec<String> = examples.iter().map(|(problem, _)| kind(problem)).collect();
    assert!(kinds.len() >= 14, "{kinds:?}");
}

#[test]
fn an_answer_broken_off_early_that_says_converged_is_noticed() {
    let mut noticed = 0;
    for seed in 0..60 {
        let mut problem = problem(seed);
        problem.params.settings.max_iterations = Some(2);
        for solver in [SolverKind::Smo, SolverKind::BlockSmo, SolverKind::DualAscent, SolverKind::Logistic] {
            let Ok(model) = problem.fit(Some(solver)) else { continue };
            if problem.rows() > 200 || model.stop() != Stop::IterationLimit || certificate_of(&model).is_none() {
                continue;
            }
            let (gap, _) = certificate_of(&model).unwrap();
            if gap < 0.1 {
                continue;
            }
            let found = complaints(
                &problem,
                &forged(&model, |parts| parts.machines.iter_mut().for_each(|machine| machine.stop = Stop::Converged)),
            );
            assert!(found.contains(&"gap"), "{}, {}: {found:?}", problem.name, solver.name());
            noticed += 1;
        }
    }
    assert!(noticed >= 30, "{noticed}");
}

#[test]
fn what_is_at_the_limits_of_double_precision_must_have_a_gap_of_nothing() {
    let (problem, model) = examples().into_iter().find(|(_, model)| certificate_of(model).unwrap().0 > 1e-5).unwrap();
    let said = forged(&model, |parts| {
        parts.machines[0].notes.push(Note::AtLimit { relative_gap: 0.0, violation: 0.0 });
    });
    assert!(complaints(&problem, &said).contains(&"gap"), "{}", problem.name);
}
