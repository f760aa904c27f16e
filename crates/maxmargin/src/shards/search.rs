//! The search of one machine: what it asks next, and what it makes of the sums.

use std::ops::ControlFlow;

use super::check::ROUNDING;
use super::message::{Ask, Balance, Move, Sums, What};
use super::probe::probe;
use super::wire::{wire_enum, wire_struct};
use crate::certificate::{Certificate, Counts, relative_gap};
use crate::control::Stop;
use crate::problem::{Bias, Direction, RowLoss, dot};
use crate::solver::cholesky;
use crate::workers::Workers;

/// Steps without a smaller gap before a search gives up: the first for smooth losses, the second for others, whose gap first grows with each
/// (PN.3).
const PATIENCE: u32 = 20;
const LONG_PATIENCE: u32 = 100;
/// A step makes progress if it lowers a smooth objective to this part, even if the gap does not become smaller.
const LOWER: f64 = 1.0 - 1e-6;
/// The first σ of (R.3), the factor of (PN.3), and the largest σ, for decision values of about 1.
const FIRST_SHARPNESS: f64 = 1.0;
const SHARPER: f64 = 2.0;
const SHARPEST: f64 = 1e9;
/// (PN.3) follows once ½‖g‖² is below this part of the gap.
const SMALL_BESIDE_GAP: f64 = 0.2;
/// The part of the gradient that conjugate gradients may leave in the first steps, and their most steps.
const LEAST_ACCURACY: f64 = 0.3;
const MOST_CG_STEPS: u64 = 250;
/// The part of its slope that a step may leave.
const ENOUGH: f64 = 0.3;
/// Lengths that a round of a line search looks at, and its most rounds.
const LENGTHS: usize = 16;
const MOST_SLOPES: u64 = 6;

/// What all searches of a training have in common.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Terms {
    pub(super) loss: RowLoss,
    pub(super) bias: Bias,
    pub(super) columns: usize,
    /// The size of decision values, by which σ is scaled.
    pub(super) scale: f64,
    /// The largest ‖x_i‖, the constant of a folded b included.
    pub(super) longest: f64,
    /// The mean C_i.
    pub(super) mean_cost: f64,
    /// The relative gap to stop at, and the most steps.
    pub(super) gap: f64,
    pub(super) most_steps: u64,
    /// Whether directions come from the matrix of (PN.2), one round a step; else from conjugate gradients, one round for each of theirs.
    pub(super) by_matrix: bool,
}

/// The search of one machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Search {
    machine: usize,
    phase: Phase,
    /// Where it is, and the look there.
    point: Direction,
    look: u64,
    next_look: u64,
    found: Found,
    sharpness: f64,
    journal: Vec<Move>,
    centred_at: u64,
    diagonal: Vec<f64>,
    first: Option<f64>,
    best: f64,
    least: f64,
    idle: u32,
    steps: u64,
    /// Why it has stopped; its certificate may still be missing.
    stop: Option<Stop>,
    certificate: Option<Found>,
    result: Option<Outcome>,
}

/// What a look found.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    gradient: Direction,
    combined: Direction,
    primal: f64,
    gap: f64,
    curvatures: f64,
    shift: f64,
    free: [f64; 2],
    bounded: [f64; 2],
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    numbers: [f64; 8],
    counts: Vec<usize>,
}

/// A step that is being tried.
#[derive(Clone, Debug, PartialEq)]
struct Trial {
    start: Direction,
    direction: Direction,
    /// The slope at the start, and the slope and the curvature of the penalty there.
    before: f64,
    along: f64,
    curvature: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// A look at a point: the start, or after a step.
    Look {
        point: Direction,
        trial: Option<Trial>,
    },
    /// A look where it is, after the centres were moved.
    Moved {},
    /// The search for the length of a step whose whole was too long or too short.
    Slope {
        trial: Trial,
        lengths: Vec<f64>,
        low: f64,
        high: f64,
        rounds: u64,
    },
    /// A step of the conjugate gradients.
    Curved {
        solution: Direction,
        residual: Direction,
        along: Direction,
        size: f64,
        enough: f64,
        steps: u64,
    },
    /// The gap at balanced coefficients.
    Balance {
        balance: Balance,
        direction: Option<Direction>,
    },
    /// The certificate.
    Certify {
        balance: Balance,
        combined: Direction,
        gap: f64,
    },
    Done {},
}

wire_struct!(Search {
    machine,
    phase,
    point,
    look,
    next_look,
    found,
    sharpness,
    journal,
    centred_at,
    diagonal,
    first,
    best,
    least,
    idle,
    steps,
    stop,
    certificate,
    result
});
wire_struct!(Found { gradient, combined, primal, gap, curvatures, shift, free, bounded });
wire_struct!(Outcome { numbers, counts });
wire_struct!(Trial { start, direction, before, along, curvature });
wire_enum!(Phase {
    0 => Look { point, trial },
    1 => Moved {},
    2 => Slope { trial, lengths, low, high, rounds },
    3 => Curved { solution, residual, along, size, enough, steps },
    4 => Balance { balance, direction },
    5 => Certify { balance, combined, gap },
    6 => Done {},
});
wire_enum!(Stop {
    0 => Converged {},
    1 => IterationLimit {},
    2 => TimeLimit {},
    3 => Interrupted {},
    4 => Stalled {},
    5 => Diverged {},
});

impl Search {
    /// A search from 0.
    pub(super) fn new(machine: usize, terms: &Terms) -> Self {
        let zero = Direction::zero(terms.columns);
        Search {
            machine,
            phase: Phase::Look { point: zero.clone(), trial: None },
            point: zero,
            look: 0,
            next_look: 1,
            found: Found::default(),
            sharpness: FIRST_SHARPNESS / terms.scale,
            journal: Vec::new(),
            centred_at: 0,
            diagonal: Vec::new(),
            first: None,
            best: f64::INFINITY,
            least: f64::INFINITY,
            idle: 0,
            steps: 0,
            stop: None,
            certificate: None,
            result: None,
        }
    }

    /// No search, but the certificate of the point that another one has found.
    pub(super) fn certifying(
        machine: usize,
        point: Direction,
        sharpness: f64,
        journal: Vec<Move>,
        terms: &Terms,
    ) -> Self {
        let mut search = Search::new(machine, terms);
        search.phase = Phase::Look { point, trial: None };
        (search.sharpness, search.journal) = (sharpness, journal);
        search.stop = Some(Stop::Converged);
        search
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done {})
    }

    pub(super) fn point(&self) -> &Direction {
        &self.point
    }

    pub(super) fn sharpness(&self) -> f64 {
        self.sharpness
    }

    pub(super) fn journal(&self) -> &[Move] {
        &self.journal
    }

    pub(super) fn stop(&self) -> Stop {
        self.stop.unwrap_or(Stop::Interrupted)
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The relative gap as it was last seen.
    pub(super) fn relative_gap(&self) -> Option<f64> {
        self.first.map(|_| relative_gap(self.found.gap, self.found.primal))
    }

    /// Ends the search where it is. Its certificate still has to be asked for, unless nobody waits for it.
    pub(super) fn give_up(&mut self, stop: Stop, terms: &Terms) {
        if self.is_done() || self.stop.is_some() {
            return;
        }
        self.stop = Some(stop);
        if stop == Stop::Interrupted {
            self.phase = Phase::Done {};
        } else if self.first.is_some() && !matches!(self.phase, Phase::Moved {}) {
            self.begin_certificate(None, terms);
        }
    }

    /// What it asks now, in full; `None` when it is done.
    pub(super) fn ask(&self, terms: &Terms) -> Option<Ask> {
        let (look, point, what) = match &self.phase {
            Phase::Look { point, .. } => (self.next_look, point, self.look_for(terms)),
            Phase::Moved {} => (self.next_look, &self.point, self.look_for(terms)),
            // The look was at the end of the whole step.
            Phase::Slope { trial, lengths, .. } => {
                let mut whole = trial.start.clone();
                whole.add(1.0, &trial.direction);
                let what = What::Slope { direction: trial.direction.clone(), lengths: lengths.clone() };
                return Some(self.ask_about(self.next_look - 1, whole, what));
            }
            Phase::Curved { along, .. } => (self.look, &self.point, What::Curved { along: along.clone() }),
            Phase::Balance { balance, .. } => (self.look, &self.point, What::Balance { balance: *balance }),
            Phase::Certify { balance, combined, .. } => {
                (self.look, &self.point, What::Certify { balance: *balance, combined: combined.clone() })
            }
            Phase::Done {} => return None,
        };
        Some(self.ask_about(look, point.clone(), what))
    }

    fn look_for(&self, terms: &Terms) -> What {
        let searches = self.stop.is_none();
        What::Look { matrix: searches && terms.by_matrix, diagonal: searches && !terms.by_matrix }
    }

    fn ask_about(&self, look: u64, point: Direction, what: What) -> Ask {
        Ask {
            machine: self.machine,
            look,
            sharpness: self.sharpness,
            moves: self.journal.len(),
            centred_at: self.centred_at,
            point: Some(point),
            journal: Some(self.journal.clone()),
            what,
        }
    }

    /// Takes the sums of all shards, and decides what to ask next.
    pub(super) fn hear(&mut self, sums: Sums, terms: &Terms) {
        match std::mem::replace(&mut self.phase, Phase::Done {}) {
            Phase::Look { point, trial } => self.hear_look(point, trial, sums, terms),
            Phase::Moved {} => {
                self.take_look(self.point.clone(), &sums, terms);
                if self.stop.is_some() {
                    self.begin_certificate(None, terms);
                } else {
                    self.begin_direction(&sums, terms);
                }
            }
            Phase::Slope { trial, lengths, low, high, rounds } => {
                self.hear_slopes(trial, &lengths, (low, high), rounds, &sums);
            }
            Phase::Curved { solution, residual, along, size, enough, steps } => {
                self.hear_curved(solution, residual, along, (size, enough, steps), sums.combined, terms);
            }
            Phase::Balance { balance, direction } => self.hear_balance(balance, direction, sums, terms),
            Phase::Certify { balance: _, combined, gap } => self.hear_certificate(&combined, gap, &sums, terms),
            Phase::Done {} => {}
        }
    }

    /// Makes a look the one where the search is.
    fn take_look(&mut self, point: Direction, sums: &Sums, terms: &Terms) {
        self.found = Found::new(&point, sums, terms);
        self.point = point;
        self.look = self.next_look;
        self.next_look += 1;
        if !sums.diagonal.is_empty() {
            self.diagonal.clone_from(&sums.diagonal);
        }
    }

    fn hear_look(&mut self, point: Direction, trial: Option<Trial>, sums: Sums, terms: &Terms) {
        let seen = Found::new(&point, &sums, terms);
        if let Some(trial) = trial {
            if !(seen.primal.is_finite() && seen.gradient.is_finite()) {
                self.next_look += 1;
                self.end(Stop::Stalled, terms);
                return;
            }
            let after = seen.gradient.dot(&trial.direction);
            if after.abs() > ENOUGH * trial.before.abs() {
                self.next_look += 1;
                let (low, high) = if after > 0.0 { (0.0, 1.0) } else { (1.0, f64::INFINITY) };
                self.phase = Phase::Slope { trial, lengths: lengths(low, high), low, high, rounds: 0 };
                return;
            }
        }
        self.take_look(point, &sums, terms);
        if self.stop.is_some() {
            self.first.get_or_insert(0.0);
            self.begin_certificate(None, terms);
            return;
        }
        let size = self.size(terms);
        self.first.get_or_insert(size.sqrt());
        if self.found.gap <= terms.gap * self.found.primal.abs() {
            let direction = self.direction_of(&sums, terms);
            self.begin_certificate(direction, terms);
            return;
        }
        self.go_on(None, &sums, terms);
    }

    /// What follows a look that was not good enough: the centres move, or a step is taken, along a direction that is known or is to be found.
    fn go_on(&mut self, direction: Option<Direction>, sums: &Sums, terms: &Terms) {
        let smooth = terms.loss.is_smooth();
        let (size, gap, primal) = (self.size(terms), self.found.gap, self.found.primal);
        let measure = size.min(gap.abs());
        let is_lower = smooth && primal < LOWER * self.least;
        self.idle = if measure < self.best || is_lower { 0 } else { self.idle + 1 };
        (self.best, self.least) = (self.best.min(measure), self.least.min(primal));
        if self.idle >= if smooth { PATIENCE } else { LONG_PATIENCE } {
            return self.end(Stop::Stalled, terms);
        }
        if self.steps >= terms.most_steps {
            return self.end(Stop::IterationLimit, terms);
        }
        if !smooth && 0.5 * size <= SMALL_BESIDE_GAP * gap.max(0.0) {
            // (PN.3)
            self.journal.push(Move { point: self.point.clone(), sharpness: self.sharpness });
            self.centred_at = self.look;
            self.sharpness = (self.sharpness * SHARPER).min(SHARPEST / terms.scale);
            self.phase = Phase::Moved {};
            return;
        }
        match direction {
            Some(direction) => self.begin_step(direction, terms),
            None => self.begin_direction(sums, terms),
        }
    }

    fn end(&mut self, stop: Stop, terms: &Terms) {
        self.stop = Some(stop);
        self.begin_certificate(None, terms);
    }

    /// Newton's direction: found at once from the matrix, or by conjugate gradients.
    fn begin_direction(&mut self, sums: &Sums, terms: &Terms) {
        if terms.by_matrix {
            match self.direction_of(sums, terms) {
                Some(direction) => self.begin_step(direction, terms),
                None => self.end(Stop::Stalled, terms),
            }
            return;
        }
        self.begin_conjugate_gradients(terms);
    }

    /// (PN.2) by Cholesky's method; `None` without a matrix, or where no direction is finite.
    fn direction_of(&self, sums: &Sums, terms: &Terms) -> Option<Direction> {
        if sums.matrix.is_empty() {
            return None;
        }
        let has_bias = terms.bias != Bias::None;
        let size = terms.columns + usize::from(has_bias);
        let ridge = self.bias_ridge(terms);
        let starts: Vec<usize> = (0..size).map(|j| j * size - j * j.saturating_sub(1) / 2).collect();
        let column = |j: usize, out: &mut [f64]| {
            out.copy_from_slice(&sums.matrix[starts[j]..starts[j] + size - j]);
            out[0] += if j < terms.columns { 1.0 } else { ridge };
        };
        let go_on = &mut || ControlFlow::Continue(());
        let ControlFlow::Continue(Some(factor)) = cholesky::factor(size, &column, 0.0, &Workers::none(), go_on) else {
            return None;
        };
        let mut whole: Vec<f64> = self.found.gradient.weights.iter().map(|g| -g).collect();
        whole.extend(has_bias.then_some(-self.found.gradient.bias));
        factor.solve(&mut whole); // (PN.2)
        let bias = if has_bias { whole.pop()? } else { 0.0 };
        Some(Direction { weights: whole, bias }).filter(Direction::is_finite)
    }

    fn begin_step(&mut self, direction: Direction, terms: &Terms) {
        let before = self.found.gradient.dot(&direction);
        let (along, curvature) = penalty_along(&self.point, &direction, terms.bias);
        let mut point = self.point.clone();
        point.add(1.0, &direction);
        self.steps += 1;
        let trial = Trial { start: self.point.clone(), direction, before, along, curvature };
        self.phase = Phase::Look { point, trial: Some(trial) };
    }

    /// The length at which (PN.5) vanishes, between two where it has different signs.
    fn hear_slopes(&mut self, trial: Trial, tried: &[f64], bracket: (f64, f64), rounds: u64, sums: &Sums) {
        let (mut low, mut high) = bracket;
        let mut best: Option<(f64, f64)> = None;
        for (&length, found) in tried.iter().zip(&sums.lengthwise) {
            let slope = trial.along + length * trial.curvature - found[1]; // (PN.5)
            if best.is_none_or(|(_, least)| slope.abs() < least) {
                best = Some((length, slope.abs()));
            }
            if slope < 0.0 {
                low = low.max(length);
            } else {
                high = high.min(length);
            }
        }
        let (length, left) = best.unwrap_or((1.0, 0.0));
        if left <= ENOUGH * trial.before.abs() || rounds + 1 >= MOST_SLOPES || !(low < high) {
            let mut point = trial.start;
            point.add(length, &trial.direction);
            self.phase = Phase::Look { point, trial: None };
            return;
        }
        self.phase = Phase::Slope { trial, lengths: lengths(low, high), low, high, rounds: rounds + 1 };
    }

    fn begin_conjugate_gradients(&mut self, terms: &Terms) {
        let residual = Direction {
            weights: self.found.gradient.weights.iter().map(|g| -g).collect(),
            bias: -self.found.gradient.bias,
        };
        let along = self.preconditioned(&residual, terms);
        let size = residual.dot(&along);
        let first = self.first.unwrap_or(1.0).max(f64::MIN_POSITIVE);
        let accuracy = (self.size(terms).sqrt() / first).sqrt().clamp(1e-10, LEAST_ACCURACY);
        let solution = Direction::zero(terms.columns);
        let enough = accuracy * accuracy * size;
        if size > 0.0 && size.is_finite() {
            self.phase = Phase::Curved { solution, residual, along, size, enough, steps: 0 };
        } else {
            self.end(Stop::Stalled, terms);
        }
    }

    fn preconditioned(&self, residual: &Direction, terms: &Terms) -> Direction {
        let of = |k: usize| self.diagonal.get(k).copied().unwrap_or(0.0);
        let weights = residual.weights.iter().enumerate().map(|(k, r)| r / (1.0 + of(k))).collect();
        let bias = if terms.bias == Bias::None {
            0.0
        } else {
            residual.bias / (self.bias_ridge(terms) + of(terms.columns)).max(f64::MIN_POSITIVE)
        };
        Direction { weights, bias }
    }

    fn hear_curved(
        &mut self,
        mut solution: Direction,
        mut residual: Direction,
        mut along: Direction,
        (size, enough, steps): (f64, f64, u64),
        mut curved: Direction,
        terms: &Terms,
    ) {
        curved.weights.iter_mut().zip(&along.weights).for_each(|(value, p)| *value += p);
        curved.bias = if terms.bias == Bias::None { 0.0 } else { curved.bias + self.bias_ridge(terms) * along.bias };
        let bend = along.dot(&curved);
        let mut goes_on = bend > 0.0 && bend.is_finite();
        if goes_on {
            let step = size / bend;
            solution.add(step, &along);
            residual.add(-step, &curved);
            let next = self.preconditioned(&residual, terms);
            let new = residual.dot(&next); // (PN.6)
            let turn = new / size;
            along.weights.iter_mut().zip(&next.weights).for_each(|(p, z)| *p = z + turn * *p);
            along.bias = next.bias + turn * along.bias;
            goes_on = new > enough && new > 0.0 && new.is_finite() && steps + 1 < MOST_CG_STEPS;
            if goes_on {
                self.phase = Phase::Curved { solution, residual, along, size: new, enough, steps: steps + 1 };
                return;
            }
        }
        let is_zero = solution.dot(&solution) == 0.0;
        if solution.is_finite() && !is_zero { self.begin_step(solution, terms) } else { self.end(Stop::Stalled, terms) }
    }

    /// Asks for the certificate of where it is; first for balanced coefficients, where the bias wants them. `direction` is the step that
    /// follows if the gap is too large then.
    fn begin_certificate(&mut self, direction: Option<Direction>, terms: &Terms) {
        let balance = self.found.balance(terms);
        self.phase = if balance.sign == 0.0 {
            self.stop.get_or_insert(Stop::Converged);
            Phase::Certify { balance, combined: self.found.combined.clone(), gap: self.found.gap }
        } else {
            Phase::Balance { balance, direction }
        };
    }

    fn hear_balance(&mut self, balance: Balance, direction: Option<Direction>, sums: Sums, terms: &Terms) {
        let gap = sums.gaps + 0.5 * squared_distance(&self.point, &sums.combined, terms.bias); // (C.5)
        if self.stop.is_some() || gap <= terms.gap * self.found.primal.abs() {
            self.stop.get_or_insert(Stop::Converged);
            self.phase = Phase::Certify { balance, combined: sums.combined, gap };
            return;
        }
        self.found.gap = gap;
        self.go_on(direction, &Sums::default(), terms);
    }

    fn hear_certificate(&mut self, combined: &Direction, _: f64, sums: &Sums, terms: &Terms) {
        // (SH.2) over all shards: the certificate is of the same coefficients as the sum that it was asked with.
        let off = (combined.dot(&probe(terms.columns)) - sums.probe).abs();
        if !(off <= ROUNDING * sums.probe_size.max(f64::MIN_POSITIVE)) {
            self.stop = Some(Stop::Stalled);
            return;
        }
        let norm = squared_norm(&self.point, terms.bias);
        let primal = 0.5 * norm + sums.losses; // (C.1)
        let gap = sums.gaps + 0.5 * squared_distance(&self.point, combined, terms.bias); // (C.5)
        let violation = match (terms.loss, terms.bias) {
            (RowLoss::Logistic, bias) => {
                let largest = self.found.gradient.weights.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
                if bias == Bias::None { largest } else { largest.max(self.found.gradient.bias.abs()) }
            }
            (_, Bias::Explicit) => (sums.most + sums.least).max(0.0),
            _ => sums.most.max(sums.least).max(0.0),
        };
        let infeasible = if terms.bias == Bias::Explicit { self.found.combined.bias.abs() } else { 0.0 };
        let numbers = [
            primal,
            primal - gap,
            gap,
            relative_gap(gap, primal),
            violation,
            infeasible,
            1.0 / norm.sqrt(),
            sums.slack,
        ];
        self.result = Some(Outcome { numbers, counts: sums.counts.clone() });
        if relative_gap(gap, primal) <= terms.gap {
            self.stop = Some(Stop::Converged);
        }
        self.phase = Phase::Done {};
    }

    /// The certificate, and how many rows are on the wrong side; `None` where the search was broken off.
    pub(super) fn certificate(&self) -> Option<(Certificate, usize)> {
        let Outcome { numbers, counts } = self.result.as_ref()?;
        let [primal, dual, gap, relative_gap, violation, infeasibility, margin, slack_sum] = *numbers;
        let &[not_support, on_margin, inside, misclassified, support, bounded, errors] = &counts[..] else {
            return None;
        };
        let counts = Counts { not_support, on_margin, inside, misclassified, support, bounded };
        let certificate = Certificate {
            primal,
            dual,
            gap,
            relative_gap,
            violation,
            infeasibility,
            margin,
            slack_sum,
            counts,
            columns: None,
        };
        Some((certificate, errors))
    }

    /// The entry of P in (PN.2) for b: with an explicit bias that of one row where no row lies on the margin, else a small one.
    fn bias_ridge(&self, terms: &Terms) -> f64 {
        match terms.bias {
            Bias::Explicit => {
                let row = terms.least_curvature();
                if self.found.curvatures > 0.0 { 1e-3 * row.min(self.found.curvatures) } else { row }
            }
            Bias::Folded => 1.0,
            Bias::None => 0.0,
        }
    }

    /// ‖g‖², with an explicit bias divided by its curvature.
    fn size(&self, terms: &Terms) -> f64 {
        let Found { gradient, curvatures, .. } = &self.found;
        let of_bias = gradient.bias * gradient.bias;
        let bias =
            if terms.bias == Bias::Explicit { of_bias / curvatures.max(terms.least_curvature()) } else { of_bias };
        dot(&gradient.weights, &gradient.weights) + bias
    }

    /// The bound (PN.4) on the violation.
    pub(super) fn violation(&self, terms: &Terms) -> Option<f64> {
        self.first?;
        let Found { gradient, shift, .. } = &self.found;
        let length = dot(&gradient.weights, &gradient.weights);
        let longest = terms.longest.max(1.0);
        Some(if terms.bias == Bias::Explicit {
            2.0 * (shift + length.sqrt() * longest).max(gradient.bias.abs() * longest * longest)
        } else {
            shift + (length + gradient.bias * gradient.bias).sqrt() * longest
        })
    }
}

impl Terms {
    /// What a single row of the mean cost curves when its loss is smoothed at first.
    fn least_curvature(&self) -> f64 {
        FIRST_SHARPNESS / self.scale * self.mean_cost
    }
}

impl Found {
    fn new(point: &Direction, sums: &Sums, terms: &Terms) -> Self {
        let mut gradient = sums.combined.clone();
        gradient.weights.iter_mut().zip(&point.weights).for_each(|(value, w)| *value = w - *value); // (PN.1)
        gradient.bias = match terms.bias {
            Bias::Explicit => -sums.combined.bias,
            Bias::Folded => point.bias - sums.combined.bias,
            Bias::None => 0.0,
        };
        let primal = 0.5 * squared_norm(point, terms.bias) + sums.losses;
        let dual = sums.dual_terms - 0.5 * squared_norm(&sums.combined, terms.bias);
        // (C.5) keeps digits that the difference has lost; with an explicit bias c is not balanced yet, and the difference is an estimate.
        let gap = if terms.bias == Bias::Explicit {
            primal - dual
        } else {
            sums.gaps + 0.5 * squared_distance(point, &sums.combined, terms.bias)
        };
        Found {
            gradient,
            combined: sums.combined.clone(),
            primal,
            gap,
            curvatures: sums.curvatures,
            shift: sums.largest_shift,
            free: sums.free,
            bounded: sums.bounded,
        }
    }

    /// What makes `Σ c_i` 0: coefficients between their bounds give first, because those at a bound most likely belong there.
    fn balance(&self, terms: &Terms) -> Balance {
        let excess = self.combined.bias;
        if terms.bias != Bias::Explicit || excess == 0.0 {
            return Balance::default();
        }
        let side = usize::from(excess > 0.0);
        let (free, bounded) = (self.free[side], self.bounded[side]);
        let of_free = if free > 0.0 { (excess.abs() / free).min(1.0) } else { 0.0 };
        let left = (excess.abs() - free).max(0.0);
        let of_bounded = if bounded > 0.0 { (left / bounded).min(1.0) } else { 0.0 };
        Balance { sign: excess.signum(), parts: [of_free, of_bounded] }
    }
}

/// ‖w‖², b² included where it is penalised.
fn squared_norm(point: &Direction, bias: Bias) -> f64 {
    dot(&point.weights, &point.weights) + if bias == Bias::Folded { point.bias * point.bias } else { 0.0 }
}

fn squared_distance(point: &Direction, other: &Direction, bias: Bias) -> f64 {
    let square = |a: f64, b: f64| (a - b) * (a - b);
    let weights: f64 = point.weights.iter().zip(&other.weights).map(|(a, b)| square(*a, *b)).sum();
    weights + if bias == Bias::Folded { square(point.bias, other.bias) } else { 0.0 }
}

/// `⟨w, d⟩` and `⟨d, d⟩` of what is penalised.
fn penalty_along(point: &Direction, direction: &Direction, bias: Bias) -> (f64, f64) {
    let of_bias = |a: f64, b: f64| if bias == Bias::Folded { a * b } else { 0.0 };
    let along = dot(&point.weights, &direction.weights) + of_bias(point.bias, direction.bias);
    let square = dot(&direction.weights, &direction.weights) + of_bias(direction.bias, direction.bias);
    (along, square)
}

/// Lengths between two others, denser near the shorter one; doubling where there is no longer one.
fn lengths(low: f64, high: f64) -> Vec<f64> {
    let part = |k: usize| (k as f64 + 1.0) / (LENGTHS as f64 + 1.0);
    let between = |k: usize| {
        if high.is_infinite() {
            low * 2.0f64.powf(0.5 * (k as f64 + 1.0))
        } else if low == 0.0 {
            high * part(k) * part(k)
        } else {
            low + (high - low) * part(k)
        }
    };
    (0..LENGTHS).map(between).collect()
}
