//! Where a machine's dual coordinate ascent is, and what it does with a block.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::visit::Block;
use crate::control::Stop;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::model::Pairing;
use crate::problem::{Bias, RowLoss, dot};
use crate::solver::dual_ascent::{HUGE, Step, first_coefficient, step};

/// What all machines of a training share.
pub(super) struct Terms {
    pub(super) loss: RowLoss,
    pub(super) bias: Bias,
    /// What a row of each class counts, beside its own weight.
    pub(super) class_weights: Option<Vec<f64>>,
    pub(super) seed: u64,
    /// ρ of (DA.2): what an explicit bias is held by.
    pub(super) strength: f64,
}

impl Terms {
    /// What is added to every ‖x‖².
    pub(super) fn constant(&self) -> f64 {
        match self.bias {
            Bias::Explicit => self.strength,
            Bias::Folded => 1.0,
            Bias::None => 0.0,
        }
    }
}

/// What the coefficients of a block come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Σ −(C_iℓ)*(−c_i)
    pub(super) dual_terms: f64,
    /// Σ |c_i| of the negative and the positive rows: of those between their bounds, and of those at the upper one.
    free: [f64; 2],
    bounded: [f64; 2],
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.dual_terms += other.dual_terms;
        for side in 0..2 {
            self.free[side] += other.free[side];
            self.bounded[side] += other.bounded[side];
        }
    }
}

/// What the coefficients of the heavier sign are multiplied with, so that they sum to 0, as an explicit bias asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Balance {
    /// −1 or 1; 0 where nothing is to be done.
    heavier: f64,
    free: f64,
    bounded: f64,
}

impl Balance {
    pub(super) const NONE: Balance = Balance { heavier: 0.0, free: 1.0, bounded: 1.0 };

    /// Those between their bounds give way first, since those at a bound most likely belong there.
    fn of(tally: &Tally) -> Self {
        let mass = |side: usize| tally.free[side] + tally.bounded[side];
        let excess = mass(1) - mass(0);
        let side = usize::from(excess > 0.0);
        let part = |mass: f64, excess: f64| if mass > 0.0 { ((mass - excess) / mass).clamp(0.0, 1.0) } else { 1.0 };
        let excess = excess.abs();
        Balance {
            heavier: if excess > 0.0 { 2.0 * side as f64 - 1.0 } else { 0.0 },
            free: part(tally.free[side], excess),
            bounded: part(tally.bounded[side], (excess - tally.free[side]).max(0.0)),
        }
    }

    /// A coefficient, balanced.
    #[inline]
    pub(super) fn apply(&self, loss: RowLoss, c: f64, cost: f64) -> f64 {
        match c * self.heavier > 0.0 {
            true if is_bounded(loss, c, cost) => c * self.bounded,
            true => c * self.free,
            false => c,
        }
    }
}

/// Whether a coefficient is at its upper bound.
fn is_bounded(loss: RowLoss, c: f64, cost: f64) -> bool {
    c.abs() >= loss.bound(cost)
}

/// So many w, spread over a pass, make the mean (OC.3).
const MEAN_OF: usize = 32;

/// A machine on its way up: `w = Σ c_i x_i` is kept.
pub(super) struct Climb {
    pub(super) pairing: Pairing,
    /// C
    pub(super) cost: f64,
    pub(super) weights: Vec<f64>,
    /// c_i of every row of the source.
    pub(super) coefficients: Vec<f64>,
    /// b of (DA.2)
    pub(super) multiplier: f64,
    /// S of (DA.2)
    pub(super) sum: f64,
    /// What each block's coefficients come to, and whether they have begun.
    pub(super) tallies: Vec<Option<Tally>>,
    /// The mean of w, and of what is added to ⟨w, x⟩, over the blocks of this pass: (OC.3).
    pub(super) average: Vec<f64>,
    pub(super) average_bias: f64,
    averaged: u64,
    /// Groups of blocks of this pass that are done.
    groups_done: usize,
    /// What the sweeps of this pass saw of the gap, and whether they moved.
    pub(super) seen_gap: f64,
    pub(super) moved: bool,
    pub(super) diverged: bool,
    /// Why it stopped, once it has.
    pub(super) stop: Option<Stop>,
    /// Passes done.
    pub(super) passes: u64,
}

impl Climb {
    pub(super) fn new(pairing: Pairing, cost: f64, rows: usize, columns: usize, blocks: usize) -> Self {
        Climb {
            pairing,
            cost,
            weights: vec![0.0; columns],
            coefficients: vec![0.0; rows],
            multiplier: 0.0,
            sum: 0.0,
            tallies: vec![None; blocks],
            average: vec![0.0; columns],
            average_bias: 0.0,
            averaged: 0,
            groups_done: 0,
            seen_gap: 0.0,
            moved: false,
            diverged: false,
            stop: None,
            passes: 0,
        }
    }

    /// Before a pass.
    pub(super) fn begin_pass(&mut self) {
        (self.seen_gap, self.moved, self.averaged, self.groups_done) = (0.0, false, 0, 0);
    }

    /// After some groups of blocks: (OC.3).
    fn add_to_average(&mut self, bias: f64) {
        self.averaged += 1;
        let part = 1.0 / self.averaged as f64;
        self.average.iter_mut().zip(&self.weights).for_each(|(mean, w)| *mean += part * (w - *mean));
        self.average_bias += part * (bias - self.average_bias);
    }

    /// What is added to ⟨w, x⟩.
    pub(super) fn bias(&self, terms: &Terms) -> f64 {
        match terms.bias {
            Bias::Explicit => self.multiplier + terms.strength * self.sum, // (DA.2)
            Bias::Folded => self.sum,
            Bias::None => 0.0,
        }
    }

    /// ‖w‖², that of a folded bias included.
    fn square(&self, terms: &Terms) -> f64 {
        let folded = if terms.bias == Bias::Folded { self.sum * self.sum } else { 0.0 };
        dot(&self.weights, &self.weights) + folded
    }

    fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.tallies.iter().flatten().for_each(|tally| all.add(tally));
        all
    }

    /// What makes the coefficients feasible.
    pub(super) fn balance(&self, terms: &Terms) -> Balance {
        if terms.bias == Bias::Explicit { Balance::of(&self.tally()) } else { Balance::NONE }
    }

    /// What the last pass saw of the relative gap: the rows' parts of it, each before its row moved.
    pub(super) fn likely_gap(&self, terms: &Terms) -> f64 {
        let dual = self.tally().dual_terms - 0.5 * self.square(terms);
        self.seen_gap / (dual + self.seen_gap).abs().max(f64::MIN_POSITIVE)
    }

    /// Target and cost of a row of a block; `None` when it takes no part.
    #[inline]
    pub(super) fn row(&self, terms: &Terms, block: &Block, row: usize) -> Option<(f64, f64)> {
        let code = block.codes[row] as usize;
        let target = self.pairing.sign(code)?;
        let of_class = terms.class_weights.as_ref().map_or(1.0, |weights| weights[code]);
        let cost = self.cost * (block.weight(row) * of_class);
        (cost > 0.0).then_some((target, cost))
    }

    /// Targets and costs of a block's rows. A cost of 0 is that of a row that takes no part.
    fn view(&self, terms: &Terms, block: &Block) -> View {
        let rows = (0..block.codes.len()).map(|row| self.row(terms, block, row).unwrap_or((0.0, 0.0)));
        let (targets, costs) = rows.unzip();
        View { targets, costs }
    }

    /// Makes the coefficients of a block balanced.
    pub(super) fn make_balanced(&mut self, terms: &Terms, block: &Block, balance: &Balance) {
        for row in 0..block.codes.len() {
            if let Some((_, cost)) = self.row(terms, block, row) {
                let c = &mut self.coefficients[block.first + row];
                *c = balance.apply(terms.loss, *c, cost);
            }
        }
    }

    /// The coefficients of a block.
    pub(super) fn of_block(&self, block: &Block) -> &[f64] {
        &self.coefficients[block.first..block.first + block.codes.len()]
    }

    /// Takes a block's coefficients into w for the first time: those of a model that the training begins at, or those that
    /// the loss begins with.
    pub(super) fn begin(&mut self, terms: &Terms, block: &Block, given: bool) {
        let view = &self.view(terms, block);
        let coefficients = &mut self.coefficients[block.first..block.first + block.codes.len()];
        on_stored_rows!(block.matrix(), rows => for (row, c) in coefficients.iter_mut().enumerate() {
            let (target, cost) = (view.targets[row], view.costs[row]);
            *c = match (cost > 0.0, given) {
                (false, _) => 0.0,
                (true, true) if *c != 0.0 => terms.loss.clipped(*c, target, cost),
                (true, _) => first_coefficient(terms.loss, target, cost),
            };
            if *c != 0.0 {
                rows.add_scaled(row, *c, &mut self.weights);
                self.sum += *c;
            }
        });
        self.tallies[block.number] = Some(tally(terms, coefficients, view));
    }
}

/// What a machine sees of a block beside its rows.
struct View {
    targets: Vec<f64>,
    costs: Vec<f64>,
}

fn tally(terms: &Terms, coefficients: &[f64], view: &View) -> Tally {
    let mut tally = Tally::default();
    for ((&c, &target), &cost) in coefficients.iter().zip(&view.targets).zip(&view.costs) {
        if c == 0.0 {
            continue;
        }
        tally.dual_terms += terms.loss.dual_term(c, target, cost);
        let side = usize::from(c > 0.0);
        match is_bounded(terms.loss, c, cost) {
            true => tally.bounded[side] += c.abs(),
            false => tally.free[side] += c.abs(),
        }
    }
    tally
}

/// The sweep of a machine over a group of blocks.
pub(super) struct Sweep<'m> {
    climb: &'m mut Climb,
    /// One a block.
    views: Vec<View>,
    /// The rows that are swept, of which block.
    order: Vec<(u32, u32)>,
}

impl<'m> Sweep<'m> {
    pub(super) fn new(climb: &'m mut Climb, terms: &Terms, blocks: &[Block]) -> Self {
        let mut order = Vec::new();
        let mut views = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            let view = climb.view(terms, block);
            if climb.tallies[block.number].is_none() {
                climb.begin(terms, block, false);
            }
            let rows = (0..view.costs.len() as u32).filter(|&row| view.costs[row as usize] > 0.0);
            order.extend(rows.map(|row| (place as u32, row)));
            views.push(view);
        }
        // The order depends on the pass and the blocks alone, so that a pass can be done again.
        let first = blocks.first().map_or(0, |block| block.number as u64);
        let place = (climb.passes << 32) ^ first;
        let mut random = Pcg64::seed_from_u64(terms.seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        order.shuffle(&mut random);
        Sweep { climb, views, order }
    }

    /// Visits every row of the group once, those of all blocks mixed.
    pub(super) fn sweep(&mut self, terms: &Terms, blocks: &[Block]) {
        let order = std::mem::take(&mut self.order);
        for &(place, row) in &order {
            let block = &blocks[place as usize];
            on_stored_rows!(block.matrix(), rows => self.visit(terms, block, place as usize, row as usize, &rows));
            if self.climb.diverged {
                return;
            }
        }
    }

    /// The step of one row.
    #[inline(always)]
    fn visit(&mut self, terms: &Terms, block: &Block, place: usize, row: usize, rows: &impl StoredRows) {
        let Sweep { climb, views, .. } = self;
        let (loss, view) = (terms.loss, &views[place]);
        let (target, cost) = (view.targets[row], view.costs[row]);
        let f = rows.dot(row, &climb.weights) + climb.bias(terms);
        let coefficient = &mut climb.coefficients[block.first + row];
        let old = *coefficient;
        let square = block.squares[row] + terms.constant();
        let Step { target: new, slope, outward } = step(loss, target, cost, f, old, square); // (DA.1)
        climb.seen_gap += cost * loss.value(target, f) - loss.dual_term(old, target, cost) + old * f; // (OC.2)
        if outward.is_some() {
            return;
        }
        if !(new.is_finite() && slope.abs() < HUGE) {
            climb.diverged = true;
            return;
        }
        let change = new - old;
        if change != 0.0 {
            *coefficient = new;
            rows.add_scaled(row, change, &mut climb.weights);
            climb.sum += change;
            climb.moved = true;
        }
    }

    /// Writes down what the blocks came to.
    pub(super) fn end(self, terms: &Terms, blocks: &[Block]) {
        for (block, view) in blocks.iter().zip(&self.views) {
            self.climb.tallies[block.number] = Some(tally(terms, self.climb.of_block(block), view));
        }
        self.climb.groups_done += 1;
        // A mean of more would be no better, and costs a step for each column.
        let groups = self.climb.tallies.len().div_ceil(blocks.len().max(1));
        if self.climb.groups_done.is_multiple_of(groups.div_ceil(MEAN_OF)) {
            let bias = self.climb.bias(terms);
            self.climb.add_to_average(bias);
        }
    }
}
