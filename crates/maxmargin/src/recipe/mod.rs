//! What is to be solved: everything of a training's parameters that its problems and their certificates are made of.
//!
//! ```text
//! Recipe + rows, answers --machine_problem--> MarginProblem      a machine, for two classes or for numbers
//!                        --joint_problem----> JointProblem       all classes at once
//! ```
//!
//! Training makes a [`Recipe`] of its parameters and the data, and a model keeps it. So whoever doubts a certificate builds the problem that
//! was solved, from the model and the data alone.

mod class_rows;
mod multiclass;
mod problems;

use crate::kernel::{KernelFunction, Linear};
use crate::problem::{Bias, Loss, Norm, Penalty, Task};
pub(crate) use class_rows::ClassRows;
pub use multiclass::{Multiclass, Pairing};
pub(crate) use multiclass::{best_in_order, decide};
pub(crate) use problems::{RowAnswers, row_weights};

/// What is to be solved.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// What it is to find.
    pub task: Task,
    /// The kernel.
    pub kernel: KernelFunction,
    /// How b is treated.
    pub bias: Bias,
    /// What is minimised.
    pub loss: Loss,
    /// The penalty as the user gave it.
    pub penalty: Penalty,
    /// How the weights are measured.
    pub norm: Norm,
    /// How several classes are told apart.
    pub multiclass: Multiclass,
    /// What a row of each class counts, beside its own weight; `None` where it is 1.
    pub class_weights: Option<Vec<f64>>,
}

impl Recipe {
    /// The recipe of linear machines over features whose dot products are the kernel: a folded bias is part of the kernel.
    pub(crate) fn on_features(&self) -> Recipe {
        let bias = if self.bias == Bias::Folded { Bias::None } else { self.bias };
        Recipe { kernel: KernelFunction::Linear(Linear {}), bias, ..self.clone() }
    }

    /// What each machine tells apart, in their order, for a number of classes.
    pub fn pairings(&self, classes: usize) -> Vec<Pairing> {
        if self.task.is_regression() {
            return vec![Pairing { positive: 0, negative: None }];
        }
        self.multiclass.pairings(classes)
    }

    /// The place of a machine among [`Recipe::pairings`]; `None` when it is none of them. It is computed, not searched for.
    pub fn place(&self, classes: usize, pairing: Pairing) -> Option<usize> {
        if self.task.is_regression() { Some(0) } else { self.multiclass.place(classes, pairing) }
    }
}
