//! Passes that move nothing: they compute the gap of the point that the sweeps have reached, and its certificate.

use std::ops::{ControlFlow, Range};

use super::climb::{Balance, Climb, Terms};
use super::source::{BlockError, BlockSource};
use super::visit::{Block, Visits};
use crate::certificate::{Certificate, Counts, Evidence, gap_between, relative_gap};
use crate::control::Stop;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::problem::{AT_BOUND, Bias, Direction, Loss, dot};
use crate::recipe::{Multiclass, Pairing};

/// Places of an explicit b that are tried on either side of the multiplier, each at half the distance of the one before.
const STEPS: usize = 16;
const PLACES: usize = 2 * STEPS + 1;
/// The distance of the outermost places: half a margin.
const FARTHEST: f64 = 0.5;

/// The distance of a place from the middle.
fn offset(place: usize) -> f64 {
    let distance = |step: usize| FARTHEST / (1u64 << step) as f64;
    match place {
        0 => 0.0,
        place if place <= STEPS => distance(place - 1),
        place => -distance(place - 1 - STEPS),
    }
}

/// How many parts a pass sums separately for each machine: as many vectors of one number for each column as there is memory for. It depends on
/// the problem alone, so that the bits of the sums do, too.
pub(super) fn parts(columns: usize, machines: usize) -> usize {
    const ROOM: usize = 64 << 20;
    let one = 8 * columns.max(1) * machines.max(1);
    match ROOM / one {
        0 => 1,
        1..4 => 2,
        _ => 4,
    }
}

/// The rows of a part of a block.
fn range(part: usize, parts: usize, rows: usize) -> Range<usize> {
    rows * part / parts..rows * (part + 1) / parts
}

/// A machine whose gap was computed.
#[derive(Clone, Debug)]
pub(super) struct GapResult {
    /// `Σ c_i x_i` and `Σ c_i` of the balanced coefficients.
    combined: Direction,
    balance: Balance,
    /// Whether the mean of w over the last pass has a smaller objective than the w at its end.
    pub(super) averaged: bool,
    /// The best b found for that w.
    pub(super) bias: f64,
    pub(super) primal: f64,
    pub(super) gap: f64,
}

impl GapResult {
    pub(super) fn relative_gap(&self) -> f64 {
        relative_gap(self.gap, self.primal)
    }
}

/// The sums of a pass over a part of the rows that finds the gap of one machine.
#[derive(Clone)]
struct LookSums {
    combined: Direction,
    /// Σ C_i ℓ at each place of b: for w, and for its mean.
    losses: [[f64; PLACES]; 2],
    dual_terms: f64,
}

/// Computes the gap of some machines in one pass: the primal at the w of the sweeps or at its mean, the dual at balanced coefficients. Each is a
/// bound on the optimum by itself.
pub(super) fn look<S: BlockSource>(
    visits: &Visits<'_, S>,
    terms: &Terms,
    climbs: &[&Climb],
    mut poll: impl FnMut() -> ControlFlow<Stop>,
) -> Result<ControlFlow<Stop, Vec<GapResult>>, BlockError<S::Error>> {
    let columns = visits.source.columns();
    let balances: Vec<Balance> = climbs.iter().map(|climb| climb.balance(terms)).collect();
    // After a pass the multiplier is the b of the last sweep.
    let middles = |climb: &Climb| match terms.bias {
        Bias::Explicit => [climb.multiplier; 2],
        Bias::Folded => [climb.bias(terms), climb.average_bias],
        Bias::None => [0.0; 2],
    };
    let places = if terms.bias == Bias::Explicit { PLACES } else { 1 };
    let empty = LookSums { combined: Direction::zero(columns), losses: [[0.0; PLACES]; 2], dual_terms: 0.0 };
    let count = parts(columns, climbs.len());
    let mut sums: Vec<(usize, Vec<LookSums>)> =
        (0..count).map(|part| (part, vec![empty.clone(); climbs.len()])).collect();
    let order: Vec<usize> = (0..visits.source.blocks()).collect();
    let flow = visits.each(&order, |block| {
        poll()?;
        visits.workers.map_parts(&mut sums, |(part, sums)| {
            on_stored_rows!(block.matrix(), rows => for (m, sums) in sums.iter_mut().enumerate() {
                let (climb, balance) = (climbs[m], &balances[m]);
                let (coefficients, middles) = (climb.of_block(block), middles(climb));
                for row in range(*part, count, block.codes.len()) {
                    let Some((target, cost)) = climb.row(terms, block, row) else { continue };
                    for (which, weights) in [&climb.weights, &climb.average].into_iter().enumerate() {
                        let f = rows.dot(row, weights) + middles[which];
                        for (place, losses) in sums.losses[which][..places].iter_mut().enumerate() {
                            *losses += cost * terms.loss.value(target, f + offset(place));
                        }
                    }
                    let c = balance.apply(terms.loss, coefficients[row], cost);
                    if c != 0.0 {
                        rows.add_scaled(row, c, &mut sums.combined.weights);
                        sums.combined.bias += c;
                        sums.dual_terms += terms.loss.dual_term(c, target, cost);
                    }
                }
            });
        });
        ControlFlow::Continue(())
    })?;
    if let ControlFlow::Break(stop) = flow {
        return Ok(ControlFlow::Break(stop));
    }
    let mut found = Vec::with_capacity(climbs.len());
    for (m, climb) in climbs.iter().enumerate() {
        let mut all = empty.clone();
        for (_, part) in &sums {
            all.combined.add(1.0, &part[m].combined);
            all.dual_terms += part[m].dual_terms;
            for (own, other) in all.losses.as_flattened_mut().iter_mut().zip(part[m].losses.as_flattened()) {
                *own += other;
            }
        }
        let square = |weights: &[f64], bias: f64| {
            dot(weights, weights) + if terms.bias == Bias::Folded { bias * bias } else { 0.0 }
        };
        let mut best = (f64::INFINITY, false, 0.0);
        for (which, weights) in [&climb.weights, &climb.average].into_iter().enumerate() {
            for place in 0..places {
                let bias = middles(climb)[which] + offset(place);
                let primal = 0.5 * square(weights, bias) + all.losses[which][place];
                if primal < best.0 {
                    best = (primal, which == 1, bias);
                }
            }
        }
        let (primal, averaged, bias) = best;
        let dual = all.dual_terms - 0.5 * square(&all.combined.weights, all.combined.bias);
        let (combined, balance) = (all.combined, balances[m]);
        found.push(GapResult { combined, balance, averaged, bias, primal, gap: primal - dual });
    }
    Ok(ControlFlow::Continue(found))
}

/// The certificates of the machines, and the training errors.
pub(super) struct Certified {
    /// The evidence of each machine, and its training errors.
    pub(super) machines: Vec<(Evidence, usize)>,
    /// Rows whose class is not the one that the machines speak for.
    pub(super) errors: usize,
}

/// The sums of a pass over a part of the rows that certifies one machine.
#[derive(Clone)]
struct RowSums {
    losses: f64,
    dual_terms: f64,
    slack: f64,
    counts: Counts,
    errors: usize,
    /// Σ c_i
    sum: f64,
    /// The largest slope along which a coefficient can move; with an explicit bias the two ends of (D.2).
    worst: f64,
    most: f64,
    least: f64,
    /// `Σ −C_iℓ′(f_i) y_i x_i`, for logistic loss.
    pulled: Direction,
}

/// The model that is certified.
pub(super) struct Candidate<'a> {
    pub(super) terms: &'a Terms,
    pub(super) loss: Loss,
    pub(super) tolerance: f64,
    pub(super) pairings: &'a [Pairing],
    pub(super) classes: usize,
}

impl Candidate<'_> {
    /// Computes every number of the certificates in one pass, as [`crate::certificate::certify`] defines them. Balances the coefficients.
    pub(super) fn certify<S: BlockSource>(
        &self,
        visits: &Visits<'_, S>,
        climbs: &mut [Climb],
        looked: &[GapResult],
        mut poll: impl FnMut() -> ControlFlow<Stop>,
    ) -> Result<ControlFlow<Stop, Certified>, BlockError<S::Error>> {
        let columns = if self.loss == Loss::Logistic { visits.source.columns() } else { 0 };
        let empty = RowSums {
            losses: 0.0,
            dual_terms: 0.0,
            slack: 0.0,
            counts: Counts::default(),
            errors: 0,
            sum: 0.0,
            worst: 0.0,
            most: f64::NEG_INFINITY,
            least: f64::INFINITY,
            pulled: Direction::zero(columns),
        };
        let count = parts(visits.source.columns(), climbs.len());
        let mut sums: Vec<Part> = (0..count)
            .map(|part| Part { number: part, machines: vec![empty.clone(); climbs.len()], errors: 0 })
            .collect();
        let order: Vec<usize> = (0..visits.source.blocks()).collect();
        let flow = visits.each(&order, |block| {
            poll()?;
            for (climb, looked) in climbs.iter_mut().zip(looked) {
                climb.make_balanced(self.terms, block, &looked.balance);
            }
            let climbs = &climbs[..];
            visits.workers.map_parts(&mut sums, |part| {
                let range = range(part.number, count, block.codes.len());
                on_stored_rows!(block.matrix(), rows => self.add(&rows, block, range, climbs, looked, part));
            });
            ControlFlow::Continue(())
        })?;
        if let ControlFlow::Break(stop) = flow {
            return Ok(ControlFlow::Break(stop));
        }
        let machines = climbs.iter().zip(looked).enumerate().map(|(m, (climb, looked))| {
            let mut all = empty.clone();
            sums.iter().for_each(|part| all.join(&part.machines[m]));
            (Evidence::Certificate(self.certificate(climb, looked, &all)), all.errors)
        });
        let machines = machines.collect();
        Ok(ControlFlow::Continue(Certified { machines, errors: sums.iter().map(|part| part.errors).sum() }))
    }

    /// Adds some rows of a block.
    fn add(
        &self,
        rows: &impl StoredRows,
        block: &Block,
        range: Range<usize>,
        climbs: &[Climb],
        looked: &[GapResult],
        part: &mut Part,
    ) {
        let (terms, loss) = (self.terms, self.loss);
        let mut values = vec![0.0; climbs.len()];
        for row in range {
            for (m, (climb, looked)) in climbs.iter().zip(looked).enumerate() {
                let f = rows.dot(row, &climb.weights) + looked.bias;
                values[m] = f;
                let Some((target, cost)) = climb.row(terms, block, row) else { continue };
                let sums = &mut part.machines[m];
                let c = climb.of_block(block)[row];
                let (alpha, upper) = (c * target, loss.dual_bound(cost));
                let slack = (1.0 - target * f).max(0.0);
                sums.losses += cost * loss.value(target * f);
                sums.dual_terms += loss.dual_term(alpha, cost);
                sums.slack += slack;
                sums.sum += c;
                sums.errors += usize::from((f > 0.0) != (target > 0.0));
                sums.counts.add(alpha, upper, slack, self.tolerance);
                if loss == Loss::Logistic {
                    let pull = target * loss.dual_of_margin(target * f, cost);
                    rows.add_scaled(row, pull, &mut sums.pulled.weights);
                    sums.pulled.bias += pull;
                    continue;
                }
                let folded = if terms.bias == Bias::Folded { looked.combined.bias } else { 0.0 };
                let product = rows.dot(row, &looked.combined.weights) + folded;
                let ridge = if loss == Loss::Squared { 0.5 / cost } else { 0.0 };
                let slope = target * product + ridge * alpha - 1.0; // that of (P.2)
                let edge = if upper.is_finite() { AT_BOUND * upper } else { 0.0 };
                sums.add_slope(target, slope, alpha < upper - edge, alpha > edge);
            }
            if block.weight(row) > 0.0 {
                let decided = Multiclass::OneVsRest.decide(self.pairings, self.classes, &values);
                part.errors += usize::from(decided != block.codes[row]);
            }
        }
    }

    fn certificate(&self, climb: &Climb, looked: &GapResult, sums: &RowSums) -> Certificate {
        let bias = looked.bias;
        let folded = |bias: f64| if self.terms.bias == Bias::Folded { bias * bias } else { 0.0 };
        let norm = dot(&climb.weights, &climb.weights) + folded(bias);
        let combined = &looked.combined;
        let quadratic = dot(&combined.weights, &combined.weights) + folded(combined.bias);
        let primal = 0.5 * norm + sums.losses; // (C.1)
        let dual = sums.dual_terms - 0.5 * quadratic; // (C.1)
        let gap = gap_between(primal, dual);
        let explicit = self.terms.bias == Bias::Explicit;
        let violation = match (self.loss, self.terms.bias) {
            (Loss::Logistic, bias_kind) => {
                let pairs = climb.weights.iter().zip(&sums.pulled.weights);
                let of_weights = pairs.map(|(w, pulled)| (w - pulled).abs()).fold(0.0, f64::max);
                match bias_kind {
                    Bias::Explicit => of_weights.max(sums.pulled.bias.abs()),
                    Bias::Folded => of_weights.max((bias - sums.pulled.bias).abs()),
                    Bias::None => of_weights,
                }
            }
            (_, Bias::Explicit) => (sums.most - sums.least).max(0.0),
            _ => sums.worst,
        };
        Certificate {
            columns: None,
            primal,
            dual,
            gap,
            relative_gap: relative_gap(gap, primal),
            violation,
            infeasibility: if explicit { sums.sum.abs() } else { 0.0 },
            margin: 1.0 / norm.sqrt(),
            slack_sum: sums.slack,
            counts: sums.counts,
        }
    }
}

/// A part of the rows.
struct Part {
    number: usize,
    machines: Vec<RowSums>,
    errors: usize,
}

impl RowSums {
    /// The slope of the dual in α, and where α may go: (D.2).
    fn add_slope(&mut self, sign: f64, slope: f64, can_grow: bool, can_shrink: bool) {
        if can_grow {
            self.worst = self.worst.max(-slope);
        }
        if can_shrink {
            self.worst = self.worst.max(slope);
        }
        let value = -sign * slope;
        if if sign > 0.0 { can_grow } else { can_shrink } {
            self.most = self.most.max(value);
        }
        if if sign > 0.0 { can_shrink } else { can_grow } {
            self.least = self.least.min(value);
        }
    }

    fn join(&mut self, other: &RowSums) {
        self.losses += other.losses;
        self.dual_terms += other.dual_terms;
        self.slack += other.slack;
        self.sum += other.sum;
        self.errors += other.errors;
        self.counts.join(&other.counts);
        self.worst = self.worst.max(other.worst);
        self.most = self.most.max(other.most);
        self.least = self.least.min(other.least);
        self.pulled.add(1.0, &other.pulled);
    }
}
