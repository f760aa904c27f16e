//! What a model must be true of, and the complaints where it is not.

use maxmargin::certificate::Certificate;
use maxmargin::model::Machine;
use maxmargin::provenance::Note;
use maxmargin::{Model, Stop};

use super::joint;
use super::oracle::{Answer, Case, Finding, Seen};
use super::problems::{Problem, TOLERANCE};

/// `gap / |primal|` up to which a kernel machine may say that it has converged.
pub const KERNEL_GAP: f64 = 1e-2;
/// The same for a linear machine.
pub const LINEAR_GAP: f64 = 1e-3;
/// The same for a machine that says it is at the limits of double precision.
pub const GAP_AT_THE_LIMITS: f64 = 1e-6;
/// How far a violation may exceed the tolerance: by rounding of the comparison alone.
pub const TOLERANCE_SLACK: f64 = 1.0 + 1e-6;
/// How far stated numbers may be from the oracle's, relative to their size, beside what f64 may lose.
pub const AGREEMENT: f64 = 1e-9;
/// How far a stated gap may be from the difference of the stated objectives, relative to the larger of the two,
/// beside what f64 may lose.
pub const GAP_AGREEMENT: f64 = 1e-11;
/// Whether the stated violation of a regression is already divided by half of the range of the targets.
pub const STATED_IN_UNITS_OF_TARGETS: bool = false;
/// How far Σ α may be from what ν asks for, relative to that.
pub const NU_AGREEMENT: f64 = 1e-6;

/// How a machine ended that is done and has no certificate, because its problem is not convex or it minimises none.
pub const UNCERTIFIED: &str = "done without a certificate";

/// What is not as it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    pub kind: &'static str,
    pub text: String,
}

/// What became of a machine.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it stopped, or that it has no certificate.
    pub stop: &'static str,
    pub solver: String,
    pub complaints: Vec<Complaint>,
}

/// The numbers that a certificate states.
struct Stated {
    primal: f64,
    dual: f64,
    gap: f64,
    relative_gap: f64,
    violation: f64,
    infeasibility: f64,
}

impl Stated {
    fn of(certificate: &Certificate) -> Self {
        let &Certificate { primal, dual, gap, relative_gap, violation, infeasibility, .. } = certificate;
        Stated { primal, dual, gap, relative_gap, violation, infeasibility }
    }
}

/// The verdict on every machine of a model; one for all of them where they were trained together.
pub fn outcomes(problem: &Problem, seen: &Seen<'_>, model: &Model) -> Vec<Outcome> {
    let solver = model.provenance().origin.name();
    if let Some(evidence) = &model.parts().joint {
        let machine = &model.machines()[0];
        let Some(found) = evidence.certificate() else { return vec![uncertified(machine, solver)] };
        let stated = Stated {
            primal: found.primal,
            dual: found.dual,
            gap: found.gap,
            relative_gap: found.relative_gap,
            violation: found.violation,
            infeasibility: found.infeasibility,
        };
        let notes = model.machines().iter().flat_map(|machine| &machine.notes);
        let limits = notes.into_iter().any(Note::is_at_limit);
        let judged = Judged { finding: joint::judge(problem, model), linear: true, limits, stop: model.stop() };
        return vec![judged.outcome(&stated, solver, vec![])];
    }
    let one = |number: usize| {
        let machine = &model.machines()[number];
        let Some(certificate) = machine.evidence.certificate() else { return uncertified(machine, solver) };
        let (case, answer) = Case::of(seen, model, number);
        let judged = Judged {
            finding: case.judge(&answer),
            linear: machine.weights.is_some(),
            limits: machine.notes.iter().any(Note::is_at_limit),
            stop: machine.stop,
        };
        judged.outcome(&Stated::of(certificate), solver, beside(&case, &answer, machine, problem))
    };
    (0..model.machines().len()).map(one).collect()
}

fn uncertified(machine: &Machine, solver: &str) -> Outcome {
    let stop = if machine.stop == Stop::Converged { UNCERTIFIED } else { machine.stop.name() };
    Outcome { stop, solver: solver.into(), complaints: vec![] }
}

/// What is asked of a machine beside its certificate: ν, and the C that it states.
fn beside(case: &Case<'_>, answer: &Answer, machine: &Machine, problem: &Problem) -> Vec<Complaint> {
    let mut complaints = vec![];
    let equal = problem.params.class_weights == maxmargin::training::ClassWeights::Equal;
    if let Some(off) = case.off_nu(answer)
        && machine.stop == Stop::Converged
        && equal
        && off > NU_AGREEMENT
    {
        complaints.push(Complaint { kind: "nu", text: format!("the share is off by {off:.1e} of it") });
    }
    if let Some(stated) = machine.cost
        && (stated - case.c).abs() > 1e-12 * case.c
    {
        complaints.push(Complaint { kind: "C", text: format!("states C {stated:e}, is {:e}", case.c) });
    }
    complaints
}

/// A finding with what is claimed of it.
struct Judged {
    finding: Finding,
    linear: bool,
    /// Whether the machine says that it is at the limits of double precision.
    limits: bool,
    stop: Stop,
}

impl Judged {
    fn outcome(&self, stated: &Stated, solver: &str, mut complaints: Vec<Complaint>) -> Outcome {
        let Finding { primal, dual, lower_dual, gap, strict_violation, violation, infeasibility, unit, nothing } =
            self.finding;
        let mut demand = |holds: bool, kind: &'static str, text: String| {
            if !holds {
                complaints.push(Complaint { kind, text });
            }
        };
        // (a)
        let relative = |gap: f64| if gap == 0.0 { 0.0 } else { gap / primal.value.abs() };
        let bound = match (self.limits, self.linear) {
            (true, _) => GAP_AT_THE_LIMITS,
            (false, true) => LINEAR_GAP,
            (false, false) => KERNEL_GAP,
        };
        let (found, rounding) = (relative(gap.value), gap.rounding / primal.value.abs());
        let is_nothing = self.limits && gap.value.max(primal.value.abs()) <= nothing;
        let above = self.stop == Stop::Converged && !(found <= bound || is_nothing);
        demand(
            !above,
            "gap",
            format!(
                "converged at a relative gap of {found:.1e} (stated {:.1e}, rounding {rounding:.1e})",
                relative(stated.gap)
            ),
        );
        // (b)
        let near = |stated: f64, found: f64, rounding: f64| {
            (stated - found).abs() <= AGREEMENT * found.abs() + rounding || stated == found
        };
        demand(
            near(stated.primal, primal.value, primal.rounding),
            "primal",
            format!("states {:e}, is {:e}, rounding {:.1e}", stated.primal, primal.value, primal.rounding),
        );
        let slack = AGREEMENT * dual.value.abs().max(lower_dual.abs()) + dual.rounding;
        demand(
            stated.dual >= lower_dual - slack && stated.dual <= dual.value + slack,
            "dual",
            format!("states {:e}, is {:e} or {lower_dual:e}, rounding {:.1e}", stated.dual, dual.value, dual.rounding),
        );
        let apart = stated.primal - stated.dual;
        // An answer that is far from the optimum may have sums so large that their digits are lost.
        let lost = AGREEMENT * stated.gap + if self.stop == Stop::Converged { 0.0 } else { gap.rounding };
        demand(
            (stated.gap - apart.max(0.0)).abs() <= GAP_AGREEMENT * stated.primal.abs().max(stated.dual.abs()) + lost,
            "gap stated",
            format!("states {:e}, is {apart:e}", stated.gap),
        );
        let wanted = if stated.gap == 0.0 { 0.0 } else { stated.gap / stated.primal.abs() };
        demand(
            // Of an objective of 0 any gap is an infinite part.
            stated.relative_gap == wanted || (stated.relative_gap - wanted).abs() <= AGREEMENT * wanted,
            "relative gap stated",
            format!("states {:e}, is {wanted:e}", stated.relative_gap),
        );
        demand(
            near(stated.infeasibility, infeasibility.value, infeasibility.rounding),
            "infeasibility",
            format!(
                "states {:e}, is {:e}, rounding {:.1e}",
                stated.infeasibility, infeasibility.value, infeasibility.rounding
            ),
        );
        // (c)
        let shown = if STATED_IN_UNITS_OF_TARGETS { unit } else { 1.0 };
        let agrees = |found: f64| near(stated.violation, found / shown, violation.rounding / shown);
        demand(
            agrees(violation.value) || agrees(strict_violation),
            "violation",
            format!(
                "states {:e}, is {:e} (strictly {strict_violation:e}), rounding {:.1e}",
                stated.violation, violation.value, violation.rounding
            ),
        );
        if self.stop == Stop::Converged && !self.linear && !self.limits {
            demand(
                violation.value <= TOLERANCE * TOLERANCE_SLACK * unit + violation.rounding,
                "tolerance",
                format!(
                    "converged at a violation of {:e} in units of {unit:e}, rounding {:.1e}",
                    violation.value, violation.rounding
                ),
            );
        }
        Outcome { stop: self.stop.name(), solver: solver.into(), complaints }
    }
}
