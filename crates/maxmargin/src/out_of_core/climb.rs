//! The state of a machine's dual coordinate ascent, and its steps on the rows of a group of blocks.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::visit::Block;
use crate::control::Stop;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::problem::{Bias, RowLoss, dot};
use crate::recipe::Pairing;
use crate::solver::dual_ascent::{HUGE, Step, first_coefficient, step};

/// What all machines of a training share.
pub(super) struct Terms {
    pub(super) loss: RowLoss,
    pub(super) bias: Bias,
    /// The weight of each class, which multiplies the weights of its rows.
    pub(super) class_weights: Option<Vec<f64>>,
    pub(super) seed: u64,
    /// ρ of (DA.2), for an explicit bias.
    pub(super) strength: f64,
}

impl Terms {
    /// The constant that a bias adds to every ‖x‖².
    pub(super) fn constant(&self) -> f64 {
        match self.bias {
            Bias::Explicit => self.strength,
            Bias::Folded => 1.0,
            Bias::None => 0.0,
        }
    }
}

/// Sums over the coefficients of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BlockSums {
    /// Σ −(C_iℓ)*(−c_i)
    pub(super) dual_terms: f64,
    /// Σ |c_i| of the negative and of the positive rows: `free` over coefficients between their bounds, `bounded` over those at the upper one.
    free: [f64; 2],
    bounded: [f64; 2],
}

impl BlockSums {
    fn add(&mut self, other: &BlockSums) {
        self.dual_terms += other.dual_terms;
        for side in 0..2 {
            self.free[side] += other.free[side];
            self.bounded[side] += other.bounded[side];
        }
    }
}

/// The factors on the coefficients of the heavier sign that make all coefficients sum to 0, as an explicit bias requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Balance {
    /// The heavier sign, −1 or 1; 0 where the sum is 0 already.
    heavier: f64,
    free: f64,
    bounded: f64,
}

impl Balance {
    pub(super) const NONE: Balance = Balance { heavier: 0.0, free: 1.0, bounded: 1.0 };

    /// Coefficients between their bounds are scaled first, because those at a bound most likely belong there.
    fn of(tally: &BlockSums) -> Self {
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

    /// A coefficient times its factor.
    #[inline]
    pub(super) fn apply(&self, loss: RowLoss, c: f64, cost: f64) -> f64 {
        let gives_way = c * self.heavier > 0.0;
        if gives_way && is_bounded(loss, c, cost) {
            c * self.bounded
        } else if gives_way {
            c * self.free
        } else {
            c
        }
    }
}

/// Whether a coefficient is at its upper bound.
fn is_bounded(loss: RowLoss, c: f64, cost: f64) -> bool {
    c.abs() >= loss.bound(cost)
}

/// How many w, spread over a pass, make the mean (OC.3). Each costs a step for every column.
const MEAN_OF: usize = 32;

/// The state of a machine: `w = Σ c_i x_i` is kept up to date.
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
    /// The sums of each block; `None` before the block was first visited.
    pub(super) tallies: Vec<Option<BlockSums>>,
    /// The mean of w, and of the bias, over the groups of this pass (OC.3).
    pub(super) average: Vec<f64>,
    pub(super) average_bias: f64,
    averaged: u64,
    /// Groups of blocks done in this pass.
    groups_done: usize,
    /// The gap (OC.2) as this pass has seen it, and whether any coefficient has moved.
    pub(super) seen_gap: f64,
    pub(super) moved: bool,
    pub(super) diverged: bool,
    /// Why it stopped; `None` while it has not.
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

    /// Resets what belongs to a single pass.
    pub(super) fn begin_pass(&mut self) {
        (self.seen_gap, self.moved, self.averaged, self.groups_done) = (0.0, false, 0, 0);
    }

    /// Adds the present w and bias to the mean (OC.3).
    fn add_to_average(&mut self, bias: f64) {
        self.averaged += 1;
        let part = 1.0 / self.averaged as f64;
        self.average.iter_mut().zip(&self.weights).for_each(|(mean, w)| *mean += part * (w - *mean));
        self.average_bias += part * (bias - self.average_bias);
    }

    /// The number that is added to ⟨w, x⟩.
    pub(super) fn bias(&self, terms: &Terms) -> f64 {
        match terms.bias {
            Bias::Explicit => self.multiplier + terms.strength * self.sum, // (DA.2)
            Bias::Folded => self.sum,
            Bias::None => 0.0,
        }
    }

    /// ‖w‖², a folded bias included.
    fn square(&self, terms: &Terms) -> f64 {
        let folded = if terms.bias == Bias::Folded { self.sum * self.sum } else { 0.0 };
        dot(&self.weights, &self.weights) + folded
    }

    fn tally(&self) -> BlockSums {
        let mut all = BlockSums::default();
        self.tallies.iter().flatten().for_each(|tally| all.add(tally));
        all
    }

    /// The factors that make the coefficients feasible.
    pub(super) fn balance(&self, terms: &Terms) -> Balance {
        if terms.bias == Bias::Explicit { Balance::of(&self.tally()) } else { Balance::NONE }
    }

    /// The relative gap as the last pass estimated it: the sum of the rows' parts, each taken before its row moved.
    pub(super) fn likely_gap(&self, terms: &Terms) -> f64 {
        let dual = self.tally().dual_terms - 0.5 * self.square(terms);
        self.seen_gap / (dual + self.seen_gap).abs().max(f64::MIN_POSITIVE)
    }

    /// Target and cost of a row of a block; `None` for a row that is not part of the machine's problem.
    #[inline]
    pub(super) fn row(&self, terms: &Terms, block: &Block, row: usize) -> Option<(f64, f64)> {
        let code = block.codes[row] as usize;
        let target = self.pairing.sign(code)?;
        let of_class = terms.class_weights.as_ref().map_or(1.0, |weights| weights[code]);
        let cost = self.cost * (block.weight(row) * of_class);
        (cost > 0.0).then_some((target, cost))
    }

    /// Targets and costs of a block's rows. The cost is 0 for rows that are not part of the machine's problem.
    fn view(&self, terms: &Terms, block: &Block) -> TargetsAndCosts {
        let rows = (0..block.codes.len()).map(|row| self.row(terms, block, row).unwrap_or((0.0, 0.0)));
        let (targets, costs) = rows.unzip();
        TargetsAndCosts { targets, costs }
    }

    /// Balances the coefficients of a block.
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

    /// Adds a block's first coefficients to w: those of the model that the training begins at if `given`, else those that the loss begins with.
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

/// The targets and costs of a block's rows, as one machine sees them.
struct TargetsAndCosts {
    targets: Vec<f64>,
    costs: Vec<f64>,
}

fn tally(terms: &Terms, coefficients: &[f64], view: &TargetsAndCosts) -> BlockSums {
    let mut tally = BlockSums::default();
    for ((&c, &target), &cost) in coefficients.iter().zip(&view.targets).zip(&view.costs) {
        if c == 0.0 {
            continue;
        }
        tally.dual_terms += terms.loss.dual_term(c, target, cost);
        let side = usize::from(c > 0.0);
        if is_bounded(terms.loss, c, cost) { tally.bounded[side] += c.abs() } else { tally.free[side] += c.abs() }
    }
    tally
}

/// The sweep of a machine over a group of blocks.
pub(super) struct Sweep<'m> {
    climb: &'m mut Climb,
    /// One for each block.
    views: Vec<TargetsAndCosts>,
    /// The rows in the order of their visits: the block, and the row in it.
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
        // The order depends on the pass and its blocks alone, so that a pass can be repeated.
        let first = blocks.first().map_or(0, |block| block.number as u64);
        let place = (climb.passes << 32) ^ first;
        let mut random = Pcg64::seed_from_u64(terms.seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        order.shuffle(&mut random);
        Sweep { climb, views, order }
    }

    /// Visits every row of the group once, with the rows of all blocks mixed.
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

    /// Stores the sums of the blocks.
    pub(super) fn end(self, terms: &Terms, blocks: &[Block]) {
        for (block, view) in blocks.iter().zip(&self.views) {
            self.climb.tallies[block.number] = Some(tally(terms, self.climb.of_block(block), view));
        }
        self.climb.groups_done += 1;
        // A mean over more groups would be no better and would cost more.
        let groups = self.climb.tallies.len().div_ceil(blocks.len().max(1));
        if self.climb.groups_done.is_multiple_of(groups.div_ceil(MEAN_OF)) {
            let bias = self.climb.bias(terms);
            self.climb.add_to_average(bias);
        }
    }
}
