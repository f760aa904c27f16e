//! The shortest driver of a training on shards: all of them in this process, one after the other.

use std::ops::ControlFlow;

use super::leader::{FittedShards, Heard, Leader, Proof};
use super::shard::Shard;
use crate::certificate::Certificate;
use crate::control::{Control, Stop};
use crate::error::{Error, quoted};
use crate::training::Training;

impl Training {
    /// Trains a linear model on shards that are all here. Any other driver finds the same bits with the same shards.
    ///
    /// [`Progress::iteration`](crate::Progress) counts rounds. A control that breaks ends the search; unless it broke because of
    /// [`Stop::Interrupted`], what was found is certified.
    ///
    /// # Errors
    /// When no problem can be made of the rows, or the training cannot be done on shards.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::generate;
    /// use maxmargin::shards::Shard;
    /// use maxmargin::{Loss, TrainingParams, Unattended, Workers};
    ///
    /// let data = generate("blobs", 1000, 1)?;
    /// let part = |k: usize| data.select_rows(&(250 * k..250 * (k + 1)).collect::<Vec<_>>());
    /// let mut shards: Vec<Shard> = (0..4).map(|k| Shard::new(k, part(k), &Workers::none())).collect();
    /// let training = TrainingParams { loss: Some(Loss::Squared), ..TrainingParams::default() }.check()?;
    /// let fitted = training.fit_shards(&mut shards, &mut Unattended)?;
    /// assert!(fitted.certificates[0].as_ref().unwrap().relative_gap <= 1e-4);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn fit_shards(&self, shards: &mut [Shard], control: &mut dyn Control) -> Result<FittedShards, Error> {
        drive(Leader::new(self.clone(), shards.len(), 0)?, shards, control)
    }

    /// Certifies what a training on shards has found, from the rows alone: the certificates, and whether the rows are the same.
    ///
    /// # Errors
    /// As [`Training::fit_shards`]; and when the rows have other columns or classes.
    pub fn verify_shards(
        &self,
        shards: &mut [Shard],
        proof: &Proof,
        control: &mut dyn Control,
    ) -> Result<Vec<Option<Certificate>>, Error> {
        let leader = Leader::verifying(self.clone(), shards.len(), 0, proof.clone())?;
        Ok(drive(leader, shards, control)?.certificates)
    }
}

/// Asks the shards until there is nothing to ask any more.
pub(super) fn drive(
    mut leader: Leader,
    shards: &mut [Shard],
    control: &mut dyn Control,
) -> Result<FittedShards, Error> {
    let mut stop = None;
    while let Some(request) = leader.request() {
        if let (None, ControlFlow::Break(reason)) = (stop, control.poll(leader.progress())) {
            stop = Some(reason);
            if !leader.has_begun() && reason == Stop::Interrupted {
                return Err(Error::Data {
                    what: "the training was stopped before all rows had been counted".into(),
                    help: "give it more time".into(),
                });
            }
            leader.give_up(reason);
            continue;
        }
        for shard in &mut *shards {
            let heard = match leader.hear(&shard.answer(&request))? {
                Heard::Behind => match leader.request_in_full() {
                    Some(full) => leader.hear(&shard.answer(&full))?,
                    None => Heard::Known,
                },
                heard => heard,
            };
            if let Heard::Wrong(reason) = heard {
                return Err(Error::Data {
                    what: format!("a shard has answered wrongly: {}", quoted(&reason)),
                    help: "the memory or the processor of this machine may be damaged".into(),
                });
            }
        }
    }
    leader.finish()
}
