//! From a recipe and rows with their answers to problems.

use std::borrow::Cow;

use super::{ClassRows, Multiclass, Pairing, Recipe};
use crate::error::Error;
use crate::kernel::{Kernel, Points};
use crate::problem::{JointParts, JointProblem, MarginParts, MarginProblem, Penalty, Task};
use crate::workers::Workers;

/// What the decision functions should say of each row, and what the row counts.
#[derive(Clone, Copy)]
pub(crate) struct RowAnswers<'a> {
    /// How many classes there are.
    pub(crate) classes: usize,
    /// The place of each row's class; one for all rows where there are no classes.
    pub(crate) codes: &'a [u32],
    /// Its number, for a regression.
    pub(crate) targets: Option<&'a [f64]>,
    /// 1 for all rows where there are none.
    pub(crate) weights: Option<&'a [f64]>,
    /// The rows of each class by these weights; `None` where each machine looks at all rows anyway.
    pub(crate) of_class: Option<&'a ClassRows>,
}

impl Recipe {
    /// The problem of one machine: the rows of its classes, those of weight 0 left out. And its C, which is `found` where a search has
    /// found it for a ν.
    ///
    /// # Errors
    /// When no problem can be made of them.
    pub(crate) fn machine_problem<'a>(
        &'a self,
        points: &'a Points,
        workers: &'a Workers,
        answers: RowAnswers<'_>,
        pairing: Pairing,
        found: Option<f64>,
    ) -> Result<(MarginProblem<'a>, f64), Error> {
        let kernel = &self.kernel;
        let (rows, signs) = answers.rows_of_machine(pairing, workers);
        let weight = |i: usize| answers.weights.map_or(1.0, |weights| weights[rows[i]]);
        let (nu, cost) = match (self.penalty, found) {
            (Penalty::Nu(_), Some(cost)) => (None, cost),
            (Penalty::Nu(nu), None) => (Some(nu), self.cost_of(&rows, answers.weights)),
            _ => (None, self.cost_of(&rows, answers.weights)),
        };
        let costs = workers.numbers(rows.len(), |i| cost * weight(i));
        let of_rows = |targets: &[f64]| rows.iter().map(|&row| targets[row]).collect();
        let mut targets = answers.targets.map_or_else(Vec::new, of_rows);
        if let Task::Svdd { nu } = self.task {
            // (P.11)
            let reach = 0.5 * nu * costs.iter().sum::<f64>();
            targets = vec![0.0; rows.len()];
            kernel.diagonal(points.rows(&rows), &mut targets);
            targets.iter_mut().for_each(|target| *target *= reach);
        }
        let parts = MarginParts {
            kernel,
            points,
            workers,
            rows,
            task: self.task,
            signs,
            targets,
            costs,
            loss: self.loss,
            bias: self.bias,
            penalised: self.penalty != Penalty::None,
            norm: self.norm,
            nu,
            shared: None,
        };
        Ok((MarginProblem::new(parts)?, cost))
    }

    /// The problem of all classes at once: their rows, those of weight 0 left out. And its C.
    ///
    /// # Errors
    /// When no problem can be made of them.
    pub(crate) fn joint_problem<'a>(
        &self,
        points: &'a Points,
        workers: &'a Workers,
        answers: RowAnswers<'_>,
    ) -> Result<(JointProblem<'a>, f64), Error> {
        let weight = |row: usize| answers.weights.map_or(1.0, |weights| weights[row]);
        let rows: Vec<usize> = (0..answers.codes.len()).filter(|&row| weight(row) > 0.0).collect();
        let cost = self.penalty.cost(rows.iter().map(|&row| weight(row)).sum());
        let parts = JointParts {
            points,
            workers,
            codes: rows.iter().map(|&row| answers.codes[row]).collect(),
            costs: rows.iter().map(|&row| cost * weight(row)).collect(),
            rows,
            classes: answers.classes,
            loss: self.loss,
            bias: self.bias,
            penalised: self.penalty != Penalty::None,
        };
        Ok((JointProblem::new(parts)?, cost))
    }

    /// The C of a machine.
    pub(crate) fn machine_cost(&self, answers: RowAnswers<'_>, pairing: Pairing, workers: &Workers) -> f64 {
        self.cost_of(&answers.rows_of_machine(pairing, workers).0, answers.weights)
    }

    /// The C of these rows; for a ν that in whose units it is searched for.
    fn cost_of(&self, rows: &[usize], weights: Option<&[f64]>) -> f64 {
        let total = match weights {
            None => rows.len() as f64,
            Some(weights) => rows.iter().map(|&row| weights[row]).sum(),
        };
        match self.penalty {
            // What weights have in common does not matter to a share, but would to a tolerance.
            Penalty::Nu(_) => rows.len() as f64 / total,
            penalty => penalty.cost_with(self.norm, total),
        }
    }

    /// The rows of each class, where there are more than two and machines for pairs of them.
    pub(crate) fn rows_of_classes(&self, answers: RowAnswers<'_>) -> Option<ClassRows> {
        let pairs = self.multiclass == Multiclass::OneVsOne && self.task.is_classification() && answers.classes > 2;
        pairs.then(|| ClassRows::new(answers.classes, answers.codes, answers.weights))
    }
}

impl RowAnswers<'_> {
    /// The rows of a machine's classes, those of weight 0 left out, and their signs.
    fn rows_of_machine(self, pairing: Pairing, workers: &Workers) -> (Vec<usize>, Vec<f64>) {
        let RowAnswers { codes, weights, of_class, .. } = self;
        if let (Some(of_class), Some(negative)) = (of_class, pairing.negative) {
            return of_class.pair(pairing.positive, negative);
        }
        let signs: Vec<Option<f64>> = (0..self.classes.max(1)).map(|class| pairing.sign(class)).collect();
        if let (None, Some(signs)) = (weights, signs.iter().copied().collect::<Option<Vec<f64>>>()) {
            // All rows, as with two classes.
            let rows = workers.numbers(codes.len(), |row| row);
            return (rows, workers.numbers(codes.len(), |row| signs[codes[row] as usize]));
        }
        // Looked up and not asked for, because classes come in no order that a processor could foresee.
        let signs: Vec<f64> = signs.into_iter().map(|sign| sign.unwrap_or(0.0)).collect();
        let taking_part = || {
            (0..codes.len())
                .filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0))
                .map(|row| (row, signs[codes[row] as usize]))
                .filter(|&(_, sign)| sign != 0.0)
        };
        let count = taking_part().count();
        let (mut rows, mut own) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (row, sign) in taking_part() {
            rows.push(row);
            own.push(sign);
        }
        (rows, own)
    }
}

/// The weight of each row times that of its class; `None` where all are 1.
pub(crate) fn row_weights<'a>(
    rows: Option<&'a [f64]>,
    codes: &[u32],
    classes: Option<&[f64]>,
) -> Option<Cow<'a, [f64]>> {
    let Some(classes) = classes else { return rows.map(Cow::Borrowed) };
    let own = |row: usize| rows.map_or(1.0, |rows| rows[row]);
    Some(codes.iter().enumerate().map(|(row, &code)| own(row) * classes[code as usize]).collect())
}
