//! Exact linear training of data that is larger than memory: rows are read block by block, as often as needed.
//!
//! # Problem
//! (LP.1), one machine or one for each class against the rest, all of them in the same passes over the blocks: hinge, squared
//! and logistic loss, any bias, weights of rows and classes. The optimum is that of the training in memory.
//!
//! # Step
//! Dual coordinate ascent, one group of small blocks at a time. Each pass takes the blocks in a new random order, so that its groups differ
//! from those before. The rows of a group are visited once, in a mixed order, by the exact steps (DA.1). `w = Σ c_i x_i` is kept up to date,
//! and the next group is read meanwhile:
//! ```text
//! for each group B:   for i in B:   c_i ← argmax of (DA.1),   w ← w + (c_i − c_i′) x_i                     (OC.1)
//! ```
//! With the same groups in every pass, ten times as many passes to the same gap were measured. An explicit bias is the multiplier of
//! `Σ c_i = 0`, moved after each pass by (DA.2).
//!
//! At the end of a pass w depends too much on the rows that came last. Its mean over the pass may have a smaller objective; the better of the
//! two becomes the model:
//! ```text
//! w̄ = the mean of w after some of the groups                                                               (OC.3)
//! ```
//!
//! # Stopping
//! At a relative duality gap: the one that is asked for, else the tolerance. A pass estimates it by
//! ```text
//! Σ_i C_i ℓ(f_i) + (C_iℓ)*(−c_i) + c_i f_i,   each row before it moves                                     (OC.2)
//! ```
//! at no cost. Once that is small enough, a pass that moves nothing computes the gap itself: the primal at w or w̄ with the best b near the
//! multiplier, the dual at coefficients that were made feasible. Only such a pass ends the training.
//!
//! # Cost
//! A pass reads everything once. One pass before the training counts the rows and takes their hash, one or
//! more look at the gap, one certifies the model. Memory: for each machine a number a row and some 8 a column, and two groups. Sums are
//! folded in an order that depends on the blocks alone, so the number of threads changes no bit.
//!
//! # When to use
//! Linear machines whose data does not fit into memory. Rows in random order are best; rows that come sorted by their label take more
//! passes. Where the coefficients do not fit either, only [`crate::stream`] is left.
//!
//! # References
//! H.-F. Yu, C.-J. Hsieh, K.-W. Chang and C.-J. Lin, Large linear classification when data cannot fit in memory, 2010. C.-J. Hsieh et
//! al., A dual coordinate descent method for large-scale linear SVM, 2008.

mod check;
mod climb;
mod finish;
mod scan;
mod source;
mod visit;

pub use source::{BlockError, BlockSource, BlocksInMemory};

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::control::{Control, Progress, Stop};
use crate::data::ScalingKind;
use crate::error::{Error, bytes, quoted};
use crate::kernel::KernelParams;
use crate::model::Model;
use crate::problem::Penalty;
use crate::problem::{Bias, Norm, RowLoss};
use crate::recipe::Multiclass;
use crate::solver::SolverKind;
use crate::training::{Training, TrainingParams};
use crate::workers::Workers;
use check::{GapResult, look};
use climb::{Climb, Sweep, Terms};
use visit::{Coding, Visits};

/// The most passes unless the settings say otherwise.
const MOST_PASSES: u64 = 10_000;
/// The gap is computed when the estimate of the sweeps is within this many times the gap that is asked for.
const LIKELY: f64 = 1.5;

/// A model that was trained block by block, and what the passes counted.
#[derive(Clone, Debug)]
pub struct FittedBlocks {
    /// The model.
    pub model: Model,
    /// How many rows each class has.
    pub class_rows: Vec<usize>,
    /// Rows that the model predicts wrongly; `None` when the training was interrupted before they were counted.
    pub training_errors: Option<usize>,
    /// How often all blocks were read.
    pub passes: u64,
}

/// Whether a training can be done block by block, memory aside.
///
/// # Errors
/// When its kernel, solver, penalty, scaling or way of several classes cannot; the help says what can.
pub fn supports_blocks(params: &TrainingParams, classes: usize) -> Result<(), Error> {
    let refuse = |what: &str, help: &str| {
        Err(Error::Combination {
            what: format!("{what} cannot be trained block by block"),
            help: format!("{help}, or give it the memory that the data needs"),
        })
    };
    if !matches!(params.kernel, KernelParams::Linear) {
        return refuse("a kernel other than linear", "leave out the kernel");
    }
    if !params.task.is_classification() {
        return refuse(params.task.name(), "choose task classification");
    }
    if params.norm == Norm::L1 {
        return refuse("the L1 norm", "choose norm l2");
    }
    if !matches!(params.solver, None | Some(SolverKind::DualAscent)) {
        return refuse("the solver that was named", "name the solver dual-ascent, or none");
    }
    if matches!(params.penalty, Penalty::Hard | Penalty::None | Penalty::Nu(_)) {
        return refuse("a hard margin, nu or no penalty", "choose C, c-over-n or lambda");
    }
    if params.scaling != ScalingKind::None {
        return refuse("columns that are to be scaled", "scale the columns beforehand");
    }
    if classes > 2 && params.positive.is_none() && !matches!(params.multiclass, None | Some(Multiclass::OneVsRest)) {
        return refuse("classes by pairs or together", "choose each class against the rest (ovr)");
    }
    Ok(())
}

impl Training {
    /// Trains a linear model on rows that are read block by block, to the gap that the settings ask for, else to a
    /// relative gap of the tolerance. Several classes are told apart each from the rest. A model to begin at saves
    /// passes; it must be of the same rows.
    ///
    /// [`Progress::iteration`] counts passes, and [`Progress::gap`] is what they saw of the relative gap (OC.2). A control that breaks
    /// makes it return what it has; with a certificate, unless it broke because of [`Stop::Interrupted`].
    ///
    /// # Errors
    /// When a block cannot be read, no problem can be made of the data, the training cannot be done block by block
    /// ([`supports_blocks`]), or even the coefficients do not fit into the memory of the settings.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::generate;
    /// use maxmargin::out_of_core::BlocksInMemory;
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let data = generate("blobs", 1000, 1)?;
    /// let blocks = BlocksInMemory::cut(&data, 100)?;
    /// let training = TrainingParams::default().check()?;
    /// let fitted = training.fit_blocks(&blocks, None, &Workers::none(), &mut Unattended).unwrap();
    /// let certificate = fitted.model.machines()[0].evidence.certificate().unwrap();
    /// assert!(certificate.relative_gap <= 1e-3);
    /// assert!(fitted.model.verify(&data, &Workers::none())?.holds());
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn fit_blocks<S: BlockSource>(
        &self,
        source: &S,
        start: Option<&Model>,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<FittedBlocks, BlockError<S::Error>> {
        let params = self.params();
        supports_blocks(params, source.classes().len())?;
        let coding = Coding::new(source.classes(), params.positive.as_ref())?;
        let starts = starts(source);
        let rows = starts.last().copied().unwrap_or(0);
        if coding.classes.len() < 2 {
            let label = coding.classes.first().map_or("", |label| label.text());
            let what = match rows {
                0 => "the data has no rows".into(),
                _ => format!("all {rows} rows have the label {}", quoted(label)),
            };
            return Err(Error::Data { what, help: "give rows of at least two classes".into() }.into());
        }
        let machines = if coding.classes.len() > 2 { coding.classes.len() } else { 1 };
        let (need, memory) = (|group: usize| bytes_needed(source, rows, machines, group), params.settings.memory);
        check_memory(need(1), rows, source.columns(), machines, memory)?;
        let group = (1..=visit::usual_group(&starts)).rev().find(|&group| need(group) <= memory).unwrap_or(1);
        let visits = Visits { source, coding: &coding, starts: &starts, group, workers };
        let mut ascent = Ascent { training: self, visits, control, passes: 0, seen: None };
        let scan = match ascent.scan()? {
            ControlFlow::Continue(scan) => scan,
            ControlFlow::Break(_) => {
                return Err(Error::Data {
                    what: "the training was stopped before all rows had been counted".into(),
                    help: "give it more time".into(),
                }
                .into());
            }
        };
        let class_weights = scan.class_weights(&coding, &params.class_weights)?;
        let strength = if params.bias == Bias::Explicit { scan.mean_square.max(f64::MIN_POSITIVE) } else { 0.0 };
        let terms = Terms {
            loss: RowLoss::of_task(params.task, self.loss()),
            bias: params.bias,
            class_weights,
            seed: params.settings.seed,
            strength,
        };
        let pairings = Multiclass::OneVsRest.pairings(coding.classes.len());
        let mut climbs = Vec::with_capacity(machines);
        for &pairing in &pairings {
            let cost = params.penalty.cost(scan.weight(&coding, pairing, terms.class_weights.as_deref())?);
            climbs.push(Climb::new(pairing, cost, rows, source.columns(), source.blocks()));
        }
        let begun = start.map_or(Ok(ControlFlow::Continue(())), |model| ascent.begin_at(model, &terms, &mut climbs))?;
        let mut looked: Vec<Option<GapResult>> = vec![None; climbs.len()];
        let broken = match begun {
            ControlFlow::Break(stop) => Some(stop),
            ControlFlow::Continue(()) => ascent.climb(&terms, &mut climbs, &mut looked)?,
        };
        climbs.iter_mut().for_each(|climb| climb.stop = climb.stop.or(broken));
        ascent.finish(&terms, climbs, looked, scan)
    }
}

/// Where each block begins, and the end.
fn starts<S: BlockSource>(source: &S) -> Vec<usize> {
    let mut starts = vec![0];
    let mut end = 0;
    starts.extend((0..source.blocks()).map(|block| {
        end += source.block_rows(block);
        end
    }));
    starts
}

/// Bytes that a training needs: c, w and its sums, two groups of blocks, and what is computed from them.
fn bytes_needed<S: BlockSource>(source: &S, rows: usize, machines: usize, group: usize) -> u64 {
    let (rows, columns, machines) = (rows as u64, source.columns() as u64, machines as u64);
    let largest = (0..source.blocks()).map(|block| source.block_rows(block)).max().unwrap_or(0) as u64;
    let vectors = 4 + check::parts(columns as usize, machines as usize) as u64;
    let coefficients = 8u64.saturating_mul(rows).saturating_mul(machines);
    let weights = 8u64.saturating_mul(columns).saturating_mul(machines).saturating_mul(vectors);
    let of_block = largest.saturating_mul(24 + 32 * machines).saturating_add(source.working_bytes());
    let of_group = of_block.saturating_mul(group as u64);
    coefficients.saturating_add(weights).saturating_add(of_group)
}

fn check_memory(need: u64, rows: usize, columns: usize, machines: usize, budget: u64) -> Result<(), Error> {
    if need <= budget {
        return Ok(());
    }
    Err(Error::Combination {
        what: format!(
            "training block by block needs {} for the coefficients of {rows} rows, the weights of {columns} columns and two \
             blocks of rows, {machines} {} at a time, but the memory budget is {}",
            bytes(need),
            if machines == 1 { "machine" } else { "machines" },
            bytes(budget)
        ),
        help: format!(
            "grant {} or more, or learn from rows as they come, by sgd, which keeps the weights alone",
            bytes(need)
        ),
    })
}

/// The state of a training.
struct Ascent<'a, 'c, S> {
    training: &'a Training,
    visits: Visits<'a, S>,
    control: &'c mut dyn Control,
    /// How often all blocks were read.
    passes: u64,
    /// The relative gap as the last pass estimated it.
    seen: Option<f64>,
}

impl<S: BlockSource> Ascent<'_, '_, S> {
    /// The progress that the control sees.
    fn progress(&self) -> Progress {
        Progress { iteration: self.passes, gap: self.seen, ..Progress::default() }
    }

    /// Begins at the coefficients of a model, in one pass.
    fn begin_at(
        &mut self,
        model: &Model,
        terms: &Terms,
        climbs: &mut [Climb],
    ) -> Result<ControlFlow<Stop>, BlockError<S::Error>> {
        let parts = model.parts();
        let rows = self.visits.starts.last().copied().unwrap_or(0);
        let (classes, columns) = (&self.visits.coding.classes, self.visits.source.columns());
        if parts.provenance.rows != rows || parts.classes != *classes || parts.columns != columns {
            return Err(Error::Data {
                what: format!(
                    "the model to begin at was trained on {} rows of {} columns, or other classes, and these are {rows} of {columns}",
                    parts.provenance.rows, parts.columns
                ),
                help: "begin at a model of the same data, or from scratch".into(),
            }
            .into());
        }
        for (climb, machine) in climbs.iter_mut().zip(model.machines()) {
            for (&place, &c) in machine.support.iter().zip(&machine.coefficients) {
                climb.coefficients[parts.support_rows[place as usize] as usize] = c;
            }
            if terms.bias == Bias::Explicit {
                climb.multiplier = machine.bias;
            }
        }
        let order: Vec<usize> = (0..self.visits.source.blocks()).collect();
        let (progress, control) = (self.progress(), &mut *self.control);
        self.passes += 1;
        self.visits.each(&order, |block| {
            control.poll(progress)?;
            climbs.iter_mut().for_each(|climb| climb.begin(terms, block, true));
            ControlFlow::Continue(())
        })
    }

    /// Passes until every machine has stopped, or until the control breaks, whose reason is returned.
    fn climb(
        &mut self,
        terms: &Terms,
        climbs: &mut [Climb],
        looked: &mut [Option<GapResult>],
    ) -> Result<Option<Stop>, BlockError<S::Error>> {
        let settings = &self.training.params().settings;
        let target = settings.gap.or(settings.tolerance).unwrap_or(crate::solver::Settings::GAP);
        let most = settings.max_iterations.unwrap_or(MOST_PASSES);
        // The estimate divided by the gap, when the gap was last computed.
        let mut trust = vec![LIKELY; climbs.len()];
        // The first pass after which the gap may be computed again, because that costs a whole pass.
        let mut earliest = vec![0u64; climbs.len()];
        let mut random = Pcg64::seed_from_u64(settings.seed);
        loop {
            if let ControlFlow::Break(stop) = self.pass(terms, climbs, &mut random)? {
                return Ok(Some(stop));
            }
            let mut due = Vec::new();
            let (mut worst, mut lefts) = (0.0f64, vec![0.0; climbs.len()]);
            for (m, climb) in climbs.iter_mut().enumerate().filter(|(_, climb)| climb.stop.is_none()) {
                climb.passes += 1;
                if climb.diverged {
                    climb.stop = Some(Stop::Diverged);
                    continue;
                }
                if terms.bias == Bias::Explicit {
                    lefts[m] = terms.strength * climb.sum;
                    climb.multiplier += lefts[m]; // (DA.2)
                }
                let likely = climb.likely_gap(terms); // (OC.2)
                worst = worst.max(likely);
                let is_likely = likely <= trust[m] * target && climb.passes >= earliest[m];
                if is_likely || !climb.moved || climb.passes >= most {
                    due.push(m);
                }
            }
            self.seen = Some(worst);
            let found = match self.look(terms, climbs, &due)? {
                ControlFlow::Break(stop) => return Ok(Some(stop)),
                ControlFlow::Continue(found) => found,
            };
            for (m, found) in due.into_iter().zip(found) {
                let climb = &mut climbs[m];
                let gap = found.relative_gap();
                if gap <= target {
                    climb.stop = Some(Stop::Converged);
                } else if !climb.moved && lefts[m] == 0.0 {
                    climb.stop = Some(Stop::Stalled);
                } else if climb.passes >= most {
                    climb.stop = Some(Stop::IterationLimit);
                } else {
                    trust[m] = (climb.likely_gap(terms) / gap).clamp(0.01, 10.0);
                    earliest[m] = climb.passes + 1 + climb.passes / 8;
                }
                looked[m] = Some(found);
            }
            if climbs.iter().all(|climb| climb.stop.is_some()) {
                return Ok(None);
            }
        }
    }

    /// One pass of (OC.1).
    fn pass(
        &mut self,
        terms: &Terms,
        climbs: &mut [Climb],
        random: &mut Pcg64,
    ) -> Result<ControlFlow<Stop>, BlockError<S::Error>> {
        climbs.iter_mut().filter(|climb| climb.stop.is_none()).for_each(Climb::begin_pass);
        let mut order: Vec<usize> = (0..self.visits.source.blocks()).collect();
        order.shuffle(random);
        self.passes += 1;
        let (progress, control, workers) = (self.progress(), &mut *self.control, self.visits.workers);
        self.visits.each_group(&order, |blocks| {
            let running = climbs.iter_mut().filter(|climb| climb.stop.is_none());
            let mut sweeps: Vec<Sweep<'_>> = running.map(|climb| Sweep::new(climb, terms, blocks)).collect();
            let flow = control.poll(progress);
            if flow.is_continue() {
                workers.map_parts(&mut sweeps, |sweeps| sweeps.sweep(terms, blocks));
            }
            sweeps.into_iter().for_each(|sweeps| sweeps.end(terms, blocks));
            flow
        })
    }

    /// Computes the gap of some machines.
    fn look(
        &mut self,
        terms: &Terms,
        climbs: &[Climb],
        which: &[usize],
    ) -> Result<ControlFlow<Stop, Vec<GapResult>>, BlockError<S::Error>> {
        if which.is_empty() {
            return Ok(ControlFlow::Continue(Vec::new()));
        }
        let chosen: Vec<&Climb> = which.iter().map(|&m| &climbs[m]).collect();
        self.passes += 1;
        let (progress, control) = (self.progress(), &mut *self.control);
        look(&self.visits, terms, &chosen, || control.poll(progress))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Loss;

    #[test]
    fn what_cannot_be_done_block_by_block_says_what_can() {
        let refused = |params: TrainingParams| supports_blocks(&params, 3).unwrap_err().to_string();
        let rbf = KernelParams::Rbf { gamma: crate::kernel::Gamma::Scale };
        let base = TrainingParams::default;
        assert_eq!(
            refused(TrainingParams { kernel: rbf, ..base() }),
            "a kernel other than linear cannot be trained block by block"
        );
        for params in [
            TrainingParams { solver: Some(SolverKind::Smo), ..base() },
            TrainingParams { penalty: Penalty::Hard, ..base() },
            TrainingParams { penalty: Penalty::None, loss: Some(Loss::Logistic), ..base() },
            TrainingParams { scaling: ScalingKind::Standard, ..base() },
            TrainingParams { multiclass: Some(Multiclass::OneVsOne), ..base() },
        ] {
            assert!(refused(params).ends_with("cannot be trained block by block"));
        }
        assert!(supports_blocks(&base(), 3).is_ok());
    }
}
