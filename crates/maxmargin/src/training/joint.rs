//! Several classes trained together: one problem, one certificate, a machine for each class.

use super::Training;
use super::assembly::{Trained, assemble_by_row};
use super::last_digits;
use super::machines::Shared;
use super::verdict::settle_joint;
use crate::certificate::Evidence;
use crate::certificate::joint::errors_by_class;
use crate::checkpoint::{ByRow, Checkpoint, CheckpointControl};
use crate::control::{Control, Progress, Step, Stop};
use crate::error::Error;
use crate::model::{Machine, Model};
use crate::problem::{JointProblem, Loss, Penalty};
use crate::provenance::{Choice, Note};
use crate::recipe::{Multiclass, Pairing};
use crate::solver::{self, JointStart, SolverKind};
use crate::training::Beginning;

/// Why a machine of such a model has no evidence of its own.
pub(super) const TOGETHER: &str = "the classes were trained together, and have one certificate";

/// Passes polls on, and remembers whether one broke.
struct Heard<'a> {
    inner: &'a mut dyn CheckpointControl,
    broke: bool,
}

impl Control for Heard<'_> {
    fn poll(&mut self, progress: Progress) -> std::ops::ControlFlow<Stop> {
        let answer = self.inner.poll(progress);
        self.broke |= answer.is_break();
        answer
    }

    fn spent(&self) -> Option<f64> {
        self.inner.spent()
    }

    fn wants_steps(&self) -> bool {
        self.inner.wants_steps()
    }

    fn step(&mut self, step: Step) {
        self.inner.step(step);
    }
}

impl Training {
    /// Trains all classes at once.
    ///
    /// # Errors
    /// When there is no such problem, or the solver lacks memory.
    pub(super) fn fit_together(
        &self,
        beginning: Beginning<'_>,
        shared: &Shared<'_>,
        control: &mut dyn CheckpointControl,
    ) -> Result<Trained, Error> {
        let (kind, reason) = self.joint_solver()?;
        if self.params.penalty == Penalty::Hard {
            return Err(Error::Combination {
                what: "classes that are trained together have no hard margin".into(),
                help: "leave out hard, or choose multiclass ovo or ovr".into(),
            });
        }
        let Shared { recipe, points, workers, .. } = *shared;
        if !recipe.kernel.is_linear() {
            return Err(Error::Combination {
                what: format!("classes are trained together with the linear kernel only, not {}", recipe.kernel),
                help: "choose kernel linear, or multiclass ovo or ovr".into(),
            });
        }
        let (problem, cost) = recipe.joint_problem(points, workers, shared.answers)?;
        solver::supports_joint(kind, &problem, &self.params.settings)?;
        let (start, checkpoint) = self.joint_start(beginning, shared, &problem, cost)?;
        let mut heard = Heard { inner: control, broke: false };
        let settings = &self.params.settings;
        let finer = self.wants_last_digits(shared.data).then(|| last_digits::of_joint(settings));
        let goal = finer.as_ref().unwrap_or(settings);
        let mut solution = workers.inside(|| solver::solve_joint(kind, &problem, goal, start, &mut heard))?;
        // Before the certificate: what is kept is that nothing is done, since these solvers offer no snapshots.
        if heard.broke && heard.inner.wants_checkpoint(&Progress::default()) {
            heard.inner.keep_checkpoint(&checkpoint);
        }
        solution.notes.extend(reason.map(|why| Note::Chosen { solver: kind, why }));
        let mut evidence = settle_joint(kind, &problem, &mut solution, settings, &mut heard)?;
        let gave_up = matches!(solution.stop, Stop::IterationLimit | Stop::Stalled);
        if finer.is_some() && gave_up && settings.max_iterations.is_none() {
            solution = solver::solve_joint(kind, &problem, settings, JointStart::Scratch, &mut heard)?;
            evidence = settle_joint(kind, &problem, &mut solution, settings, &mut heard)?;
        }
        let errors = errors_by_class(&problem, &solution.weights, &solution.biases);
        let (mut machines, mut notes) = (Vec::with_capacity(problem.classes()), solution.notes);
        for (k, (weights, &bias)) in solution.weights.iter().zip(&solution.biases).enumerate() {
            machines.push(Machine {
                pairing: Pairing { positive: k, negative: None },
                bias,
                stop: solution.stop,
                iterations: solution.iterations,
                training_errors: errors[k],
                rows: problem.len(),
                cost: problem.penalised().then_some(cost),
                epsilon: None,
                reach: None,
                calibration: None,
                evidence: Evidence::None(TOGETHER.into()),
                notes: std::mem::take(&mut notes),
                weights: Some(weights.clone()),
                support: Vec::new(),
                coefficients: Vec::new(),
            });
        }
        let by_row = |list: &Vec<(usize, f64)>| -> ByRow {
            list.iter().map(|&(place, alpha)| (problem.rows()[place] as u64, alpha)).collect()
        };
        let expansions = match &solution.alpha {
            Some(alpha) => alpha.iter().map(by_row).collect(),
            None => vec![ByRow::default(); problem.classes()],
        };
        let trained = assemble_by_row(kind, machines, expansions, &recipe.kernel, points, workers);
        Ok(Trained { joint: Some(evidence), ..trained })
    }

    /// The solver for several classes at once, and why.
    fn joint_solver(&self) -> Result<(SolverKind, Option<Choice>), Error> {
        let refuse = |what: String, help: &str| Err(Error::Combination { what, help: help.into() });
        match (self.params.way(), self.params.solver, self.loss) {
            (Multiclass::CrammerSinger, None, Loss::Hinge) => Ok((SolverKind::DualAscent, Some(Choice::JointHinge))),
            (Multiclass::CrammerSinger, Some(SolverKind::DualAscent), Loss::Hinge) => {
                Ok((SolverKind::DualAscent, None))
            }
            (Multiclass::CrammerSinger, Some(kind), Loss::Hinge) => refuse(
                format!("multiclass crammer-singer is solved by dual-ascent, not by {}", kind.name()),
                "leave out the solver, or choose multiclass ovo or ovr",
            ),
            (Multiclass::CrammerSinger, _, loss) => refuse(
                format!("multiclass crammer-singer has hinge loss, not {}", loss.name()),
                "leave out the loss, or choose multiclass ovo, ovr or joint",
            ),
            (_, Some(SolverKind::Lda), _) => Ok((SolverKind::Lda, None)),
            (_, None, Loss::Logistic) => Ok((SolverKind::Logistic, Some(Choice::JointLogistic))),
            (_, Some(SolverKind::Logistic), Loss::Logistic) => Ok((SolverKind::Logistic, None)),
            (_, Some(kind), Loss::Logistic) => refuse(
                format!("multiclass joint is solved by logistic or lda, not by {}", kind.name()),
                "choose solver logistic or lda, or multiclass ovo or ovr",
            ),
            (_, _, loss) => refuse(
                format!("multiclass joint has logistic loss, not {}", loss.name()),
                "choose loss logistic or solver lda; multiclass crammer-singer for hinge loss; or multiclass ovo or ovr",
            ),
        }
    }

    /// Where the solver begins; and the checkpoint of a training that is not begun.
    fn joint_start(
        &self,
        beginning: Beginning<'_>,
        shared: &Shared<'_>,
        problem: &JointProblem<'_>,
        cost: f64,
    ) -> Result<(JointStart, Checkpoint), Error> {
        let model = match &beginning {
            Beginning::Model(model) => Some(*model),
            _ => None,
        };
        // Whether it fits the data and the classes is checked as for machines one by one.
        self.begin(beginning, shared)?;
        let checkpoint = self.begin(Beginning::Scratch, shared)?;
        let start = match model.filter(|model| model.recipe().multiclass == shared.recipe.multiclass) {
            Some(model) => joint_start_of(model, problem, cost),
            None => JointStart::Scratch,
        };
        Ok((start, checkpoint))
    }
}

/// Where a model of the same classes says that the solver should begin.
fn joint_start_of(model: &Model, problem: &JointProblem<'_>, cost: f64) -> JointStart {
    let machines = model.machines();
    let weights = machines.iter().map(|machine| machine.weights.clone().unwrap_or_default()).collect();
    let biases = machines.iter().map(|machine| machine.bias).collect();
    let ratio = machines.first().and_then(|machine| machine.cost).map_or(1.0, |old| cost / old);
    let alpha = machines.iter().map(|machine| {
        let pairs = machine.support.iter().zip(&machine.coefficients);
        let place = |row: u64| problem.rows().binary_search(&(row as usize)).ok();
        pairs
            .filter_map(|(&at, &coefficient)| {
                Some((place(model.parts().support_rows[at as usize])?, coefficient * ratio))
            })
            .collect()
    });
    JointStart::Model { weights, biases, alpha: alpha.collect() }
}
