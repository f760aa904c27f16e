//! Which parameters go with the L1 norm, asked before any data is read.

use super::TrainingParams;
use crate::error::Error;
use crate::kernel::KernelParams;
use crate::problem::{Loss, Norm, Penalty};
use crate::recipe::Multiclass;

impl TrainingParams {
    /// The loss, where none was named: the solver's own, else hinge; squared with the L1 norm, which hinge loss does not go with.
    pub(super) fn own_loss(&self) -> Loss {
        let is_l1 = self.norm == Norm::L1 && self.penalty != Penalty::Hard;
        let usual = if is_l1 { Loss::Squared } else { Loss::Hinge };
        self.solver.and_then(|kind| kind.facts().own_loss).unwrap_or(usual)
    }

    /// Checks that a norm goes with everything else.
    pub(super) fn check_norm(&self, loss: Loss) -> Result<(), Error> {
        if self.norm == Norm::L2 {
            return Ok(());
        }
        self.norm.check(loss, self.penalty != Penalty::None, self.penalty == Penalty::Hard)?;
        let refuse = |what: String, help: &str| Err(Error::Combination { what, help: help.into() });
        if !matches!(self.kernel, KernelParams::Linear) {
            return refuse(
                "the L1 norm is a sum over the weights of columns, which only the linear kernel has".into(),
                "choose the linear kernel, or norm l2",
            );
        }
        if let Some(kind) = self.solver {
            crate::solver::supports_norm(kind, self.norm)?;
        }
        match self.way() {
            way @ (Multiclass::Joint | Multiclass::CrammerSinger) => refuse(
                format!("classes that are trained together ({}) are penalised by the L2 norm, not by l1", way.name()),
                "choose multiclass ovo or ovr, or norm l2",
            ),
            _ => Ok(()),
        }
    }
}
