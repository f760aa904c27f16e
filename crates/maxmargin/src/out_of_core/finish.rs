//! From coefficients and weights to a model with its certificate.

use std::ops::ControlFlow;

use super::check::{Candidate, Certified, GapResult};
use super::climb::{Climb, Terms};
use super::scan::Scan;
use super::source::{BlockError, BlockSource};
use super::{Ascent, FittedBlocks};
use crate::certificate::Evidence;
use crate::control::Stop;
use crate::error::bytes;
use crate::kernel::{KernelFunction, Linear};
use crate::model::{Machine, Model, ModelParts};
use crate::provenance::{Note, Origin, Provenance, SolverKind};
use crate::recipe::{Multiclass, Pairing, Recipe};

/// Why an interrupted training has no certificate.
const INTERRUPTED: &str = "the training was interrupted, and a certificate takes a pass over all rows";

/// Bytes for each support vector of a model: 28 for its row (twice), its place and its coefficient, and twice 20 for copies while it is saved.
const BYTES_A_COEFFICIENT: u64 = 28 + 20 + 20;

impl<S: BlockSource> Ascent<'_, '_, S> {
    /// Certifies the point that was reached, and makes a model of it.
    pub(super) fn finish(
        mut self,
        terms: &Terms,
        mut climbs: Vec<Climb>,
        looked: Vec<Option<GapResult>>,
        scan: Scan,
    ) -> Result<FittedBlocks, BlockError<S::Error>> {
        let coding = self.visits.coding;
        let pairings: Vec<Pairing> = climbs.iter().map(|climb| climb.pairing).collect();
        let certified = match self.certify(terms, &mut climbs, looked, &pairings)? {
            ControlFlow::Continue(found) => Some(found),
            ControlFlow::Break(_) => None,
        };
        let training_errors = certified.as_ref().map(|(found, _)| found.errors);
        let found = match certified {
            Some((found, biases)) => found.machines.into_iter().zip(biases).map(|((a, b), c)| (a, b, c)).collect(),
            None => {
                let none = |climb: &Climb| (Evidence::None(INTERRUPTED.into()), 0, climb.bias(terms));
                climbs.iter().map(none).collect::<Vec<_>>()
            }
        };
        let params = self.training.params();
        let source = self.visits.source;
        let rows = self.visits.starts.last().copied().unwrap_or(0);
        let recipe = Recipe {
            task: params.task,
            kernel: KernelFunction::Linear(Linear {}),
            bias: params.bias,
            loss: self.training.loss(),
            penalty: params.penalty,
            norm: params.norm,
            multiclass: Multiclass::OneVsRest,
            class_weights: terms.class_weights.clone(),
        };
        let mut parts = ModelParts {
            recipe,
            provenance: Provenance {
                origin: Origin::Trained(SolverKind::DualAscent),
                rows,
                fingerprint: scan.fingerprint.clone(),
                tolerance: params.settings.tolerance(),
                gap: params.settings.gap,
            },
            classes: coding.classes.clone(),
            one_against_rest: params.positive.is_some() && source.classes().len() > 2,
            columns: source.columns(),
            names: source.names().map(<[String]>::to_vec),
            scaling: None,
            network: None,
            machines: Vec::with_capacity(climbs.len()),
            joint: None,
            support_rows: Vec::new(),
            vectors: None,
            landmarks: None,
        };
        let support: u64 =
            climbs.iter().map(|climb| climb.coefficients.iter().filter(|c| **c != 0.0).count() as u64).sum();
        let need = support.saturating_mul(BYTES_A_COEFFICIENT);
        let kept = need.saturating_add(8 * rows as u64) <= params.settings.memory;
        for (climb, (evidence, training_errors, bias)) in climbs.iter_mut().zip(found) {
            let mut notes = vec![Note::BlockByBlock { passes: self.passes }];
            let evidence = match evidence {
                Evidence::Certificate(found) if !kept => {
                    let certificate = [found.primal, found.dual, found.relative_gap];
                    notes.push(Note::WithoutCoefficients { support, size: bytes(need), certificate });
                    Evidence::None("its coefficients did not fit into memory beside the rest".into())
                }
                evidence => evidence,
            };
            parts.machines.push(Machine {
                pairing: climb.pairing,
                bias,
                stop: climb.stop.unwrap_or(Stop::Converged),
                iterations: climb.passes,
                training_errors,
                rows: scan.rows(climb.pairing),
                cost: Some(climb.cost).filter(|cost| cost.is_finite()),
                epsilon: None,
                reach: None,
                calibration: None,
                evidence,
                notes,
                weights: Some(std::mem::take(&mut climb.weights)),
                support: Vec::new(),
                coefficients: Vec::new(),
            });
        }
        if kept {
            keep_coefficients(&mut parts, climbs);
        }
        let model = Model::new(parts)?;
        Ok(FittedBlocks { model, class_rows: scan.class_rows, training_errors, passes: self.passes })
    }

    /// The certificates, and the b of each machine. Breaks when the user does not wait for them.
    #[allow(clippy::type_complexity)]
    fn certify(
        &mut self,
        terms: &Terms,
        climbs: &mut [Climb],
        mut looked: Vec<Option<GapResult>>,
        pairings: &[Pairing],
    ) -> Result<ControlFlow<Stop, (Certified, Vec<f64>)>, BlockError<S::Error>> {
        if climbs.iter().any(|climb| climb.stop == Some(Stop::Interrupted)) {
            return Ok(ControlFlow::Break(Stop::Interrupted));
        }
        // A machine that stopped at a limit may have moved since its gap was computed.
        let missing: Vec<usize> = (0..climbs.len())
            .filter(|&m| looked[m].is_none() || matches!(climbs[m].stop, Some(Stop::TimeLimit | Stop::Diverged)))
            .collect();
        let progress = self.progress();
        let control = &mut *self.control;
        // The certificate is computed even when the time is over.
        let mut poll = || match control.poll(progress) {
            ControlFlow::Break(Stop::Interrupted) => ControlFlow::Break(Stop::Interrupted),
            _ => ControlFlow::Continue(()),
        };
        if !missing.is_empty() {
            let chosen: Vec<&Climb> = missing.iter().map(|&m| &climbs[m]).collect();
            self.passes += 1;
            match super::look(&self.visits, terms, &chosen, &mut poll)? {
                ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
                ControlFlow::Continue(found) => {
                    missing.into_iter().zip(found).for_each(|(m, found)| looked[m] = Some(found));
                }
            }
        }
        let looked: Vec<GapResult> = looked.into_iter().flatten().collect();
        for (climb, looked) in climbs.iter_mut().zip(&looked) {
            if looked.averaged {
                std::mem::swap(&mut climb.weights, &mut climb.average);
            }
        }
        let params = self.training.params();
        let candidate = Candidate {
            terms,
            loss: self.training.loss(),
            tolerance: params.settings.tolerance(),
            pairings,
            classes: self.visits.coding.classes.len(),
        };
        self.passes += 1;
        let found = candidate.certify(&self.visits, climbs, &looked, poll)?;
        let biases = looked.iter().map(|looked| looked.bias).collect();
        Ok(match found {
            ControlFlow::Break(stop) => ControlFlow::Break(stop),
            ControlFlow::Continue(found) => ControlFlow::Continue((found, biases)),
        })
    }
}

/// Moves the coefficients that are not 0 into the model, machine by machine, so that memory holds each only once.
fn keep_coefficients(parts: &mut ModelParts, climbs: Vec<Climb>) {
    let rows = parts.provenance.rows;
    let used = |row: usize| climbs.iter().any(|climb| climb.coefficients[row] != 0.0);
    parts.support_rows = Vec::with_capacity((0..rows).filter(|&row| used(row)).count());
    parts.support_rows.extend((0..rows as u64).filter(|&row| used(row as usize)));
    for (machine, climb) in parts.machines.iter_mut().zip(climbs) {
        let count = climb.coefficients.iter().filter(|c| **c != 0.0).count();
        (machine.support, machine.coefficients) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (place, &row) in parts.support_rows.iter().enumerate() {
            let c = climb.coefficients[row as usize];
            if c != 0.0 {
                machine.support.push(place as u32);
                machine.coefficients.push(c);
            }
        }
    }
}
