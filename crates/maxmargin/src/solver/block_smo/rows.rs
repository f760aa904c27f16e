//! Kernel rows in parts: the columns are cut into parts of fixed size, and each part keeps its piece of the rows that are kept.

use super::slab::Slab;
use super::slots::Slots;
use crate::kernel::{Panel, Tiles};
use crate::simd::{Real, vectorised};
use crate::workers::Workers;

/// Variables of one part. Fixed, so that the number of threads changes no bit.
const PART: usize = 512;

/// Kernel rows that are computed or added at a time.
pub(super) const GROUP: usize = 64;

/// A row whose variables moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// The row's place in the problem, which owns a slot.
    pub(super) row: usize,
    /// The row's place in the points.
    pub(super) place: u32,
    /// `Σ s_j Δα_j` over its variables.
    pub(super) amount: f64,
}

/// A kernel row in an update.
#[derive(Clone, Copy, Debug)]
struct Change {
    place: u32,
    amount: f64,
    /// The slot in which the row is kept, if it is.
    slot: Option<u32>,
    /// Whether it has to be computed.
    fresh: bool,
}

/// `u_k = Σ_j s_j α_j K_jk` for the active variables k, and the kernel rows kept from updates.
pub(super) struct KernelRows<'a, T: Real> {
    tiles: Tiles<'a, T>,
    workers: &'a Workers,
    parts: Vec<Part<'a, T>>,
    slots: Slots,
    budget: u64,
}

struct Part<'a, T: Real> {
    /// The part has the variables `first..end`.
    first: usize,
    end: usize,
    /// The active ones among them, increasing.
    active: Vec<u32>,
    /// The places of the active variables' rows in the points.
    places: Vec<usize>,
    /// `active.len()` rounded up to whole panels.
    width: usize,
    panels: Vec<Panel<'a, T>>,
    /// u of the active variables, padded to `width`.
    sums: Vec<f64>,
    /// `[slot][width]`
    rows: Slab,
}

impl<'a, T: Real> KernelRows<'a, T> {
    /// Begins with all variables active, no row kept, and u = 0.
    pub(super) fn new(tiles: Tiles<'a, T>, rows: &[usize], workers: &'a Workers, budget: u64) -> Self {
        let mut parts: Vec<Part<'a, T>> = (0..rows.len())
            .step_by(PART)
            .map(|first| Part {
                first,
                end: (first + PART).min(rows.len()),
                active: Vec::new(),
                places: Vec::new(),
                width: 0,
                panels: Vec::new(),
                sums: Vec::new(),
                rows: Slab::empty(),
            })
            .collect();
        workers.fill_chunks(&mut parts, 1, |_, part| {
            let part = &mut part[0];
            let active: Vec<u32> = (part.first as u32..part.end as u32).collect();
            part.activate(&tiles, active, rows);
        });
        let mut kept = KernelRows { tiles, workers, parts, slots: Slots::new(rows.len()), budget };
        kept.resize_slots();
        kept
    }

    /// Adds slots until the budget is used up at the present width. Never removes one.
    fn resize_slots(&mut self) {
        let width: usize = self.parts.iter().map(|part| part.width).sum();
        let row = (width * size_of::<T>()).max(1) as u64;
        let count = (self.budget / row).min(self.slots.owners() as u64) as usize;
        if count <= self.slots.len() {
            return;
        }
        let kept: Vec<(u32, usize)> = self.slots.kept().collect();
        let grown = self.workers.map_parts(&mut self.parts, |part| part.resize_rows(&kept, count));
        // Without memory, rows are used and not kept.
        if grown.into_iter().all(|grown| grown) {
            self.slots.grow(count);
        }
    }

    /// Visits the active variables with their u, in order.
    pub(super) fn visit(&self, mut visit: impl FnMut(u32, f64)) {
        for part in &self.parts {
            part.active.iter().zip(&part.sums).for_each(|(&k, &sum)| visit(k, sum));
        }
    }

    /// Replaces u of the active variables: `replace(variable, u)`.
    pub(super) fn replace(&mut self, replace: impl Fn(u32, f64) -> f64) {
        for part in &mut self.parts {
            part.active.iter().zip(&mut part.sums).for_each(|(&k, sum)| *sum = replace(k, *sum));
        }
    }

    /// How many variables are active.
    pub(super) fn active(&self) -> usize {
        self.parts.iter().map(|part| part.active.len()).sum()
    }

    /// `u += Σ_j amount_j K_j`, in the order of the moves. Returns how many rows had to be computed.
    pub(super) fn add(&mut self, moves: &[Move]) -> usize {
        let rows: Vec<usize> = moves.iter().map(|change| change.row).collect();
        let found = self.slots.take(&rows);
        let changes: Vec<Change> = moves
            .iter()
            .zip(found)
            .map(|(&Move { place, amount, .. }, (slot, fresh))| Change { place, amount, slot, fresh })
            .collect();
        let tiles = &self.tiles;
        self.workers.fill_chunks(&mut self.parts, 1, |_, part| part[0].add(tiles, &changes));
        changes.iter().filter(|change| change.fresh).count()
    }

    /// [`KernelRows::add`] without keeping rows.
    pub(super) fn add_passing(&mut self, moves: &[Move]) {
        let passing = |&Move { place, amount, .. }: &Move| Change { place, amount, slot: None, fresh: true };
        let changes: Vec<Change> = moves.iter().map(passing).collect();
        let tiles = &self.tiles;
        self.workers.fill_chunks(&mut self.parts, 1, |_, part| part[0].add(tiles, &changes));
    }

    /// Makes exactly the variables with `keep(variable)` active. Variables that come back get `sums(variable)` as u, and the kept rows get
    /// their columns.
    pub(super) fn reactivate(
        &mut self,
        rows: &[usize],
        keep: impl Fn(u32) -> bool + Sync,
        sums: impl Fn(u32) -> f64 + Sync,
    ) {
        // If the longer rows exceed the budget, none is kept and there are fewer slots.
        let width = |part: &Part<'a, T>| {
            (part.first as u32..part.end as u32).filter(|&k| keep(k)).count().next_multiple_of(T::LANES)
        };
        let width: usize = self.parts.iter().map(width).sum();
        if (self.slots.len() * width * size_of::<T>()) as u64 > self.budget {
            self.slots = Slots::new(self.slots.owners());
        }
        let kept: Vec<(u32, usize)> = self.slots.kept().collect();
        let (tiles, slots) = (&self.tiles, self.slots.len());
        let kept_all =
            self.workers.map_parts(&mut self.parts, |part| part.reactivate(tiles, rows, &kept, slots, &keep, &sums));
        if kept_all.into_iter().all(|kept| kept) {
            self.resize_slots();
        } else {
            self.slots = Slots::new(self.slots.owners());
        }
    }
}

impl<'a, T: Real> Part<'a, T> {
    fn activate(&mut self, tiles: &Tiles<'a, T>, active: Vec<u32>, rows: &[usize]) {
        self.places = active.iter().map(|&k| rows[k as usize]).collect();
        self.width = active.len().next_multiple_of(T::LANES);
        self.active = active;
        self.sums = vec![0.0; self.width];
        self.panels = panels(tiles, &self.places);
    }

    /// Makes room for `count` rows and moves the kept rows there; `false` when the system has no memory.
    fn resize_rows(&mut self, kept: &[(u32, usize)], count: usize) -> bool {
        let Some(mut slab) = Slab::new::<T>(count * self.width) else { return false };
        for &(slot, _) in kept {
            let span = slot as usize * self.width..(slot as usize + 1) * self.width;
            slab.numbers_mut::<T>()[span.clone()].copy_from_slice(&self.rows.numbers::<T>()[span]);
        }
        self.rows = slab;
        true
    }

    fn add(&mut self, tiles: &Tiles<'a, T>, changes: &[Change]) {
        if self.active.is_empty() {
            return;
        }
        let width = self.width;
        let mut scratch = Vec::new();
        for group in changes.chunks(GROUP) {
            // Kept rows go to their slots, the others to memory that is used again.
            let (mut kept, mut kept_at, mut passing, mut passing_at) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (k, change) in group.iter().enumerate() {
                match change.slot {
                    Some(slot) if change.fresh => {
                        kept.push(change.place);
                        kept_at.push(slot as usize * width);
                    }
                    None => {
                        passing.push(change.place);
                        passing_at.push(k * width);
                    }
                    Some(_) => {}
                }
            }
            if !passing.is_empty() {
                scratch.resize(GROUP * width, T::default());
            }
            for (number, panel) in self.panels.iter().enumerate() {
                let shift = number * T::LANES;
                if !kept.is_empty() {
                    let targets: Vec<usize> = kept_at.iter().map(|at| at + shift).collect();
                    tiles.fill(panel, &kept, &targets, self.rows.numbers_mut());
                }
                if !passing.is_empty() {
                    let targets: Vec<usize> = passing_at.iter().map(|at| at + shift).collect();
                    tiles.fill(panel, &passing, &targets, &mut scratch);
                }
            }
            let rows = self.rows.numbers();
            let row = |(k, change): (usize, &Change)| match change.slot {
                Some(slot) => &rows[slot as usize * width..][..width],
                None => &scratch[k * width..][..width],
            };
            let terms: Vec<(f64, &[T])> =
                group.iter().enumerate().map(|(k, change)| (change.amount, row((k, change)))).collect();
            add_rows(&mut self.sums, &terms);
        }
    }

    fn reactivate(
        &mut self,
        tiles: &Tiles<'a, T>,
        rows: &[usize],
        kept: &[(u32, usize)],
        slots: usize,
        keep: impl Fn(u32) -> bool,
        sums: impl Fn(u32) -> f64,
    ) -> bool {
        let active: Vec<u32> = (self.first as u32..self.end as u32).filter(|&k| keep(k)).collect();
        if active == self.active && slots > 0 {
            return true;
        }
        let old_places: Vec<Option<usize>> = active.iter().map(|k| self.active.binary_search(k).ok()).collect();
        let (old_width, old_sums) = (self.width, std::mem::take(&mut self.sums));
        self.activate(tiles, active, rows);
        for (place, &old) in old_places.iter().enumerate() {
            self.sums[place] = old.map_or_else(|| sums(self.active[place]), |old| old_sums[old]);
        }
        let Some(mut slab) = Slab::new::<T>(slots * self.width) else { return false };
        let (old_rows, new_rows) = (self.rows.numbers::<T>(), slab.numbers_mut::<T>());
        for &(slot, _) in kept {
            let old = &old_rows[slot as usize * old_width..][..old_width];
            let new = &mut new_rows[slot as usize * self.width..][..self.width];
            for (new, place) in new.iter_mut().zip(&old_places) {
                if let Some(place) = place {
                    *new = old[*place];
                }
            }
        }
        self.rows = slab;
        let new_rows = self.rows.numbers_mut::<T>();
        // The columns that came back, for the rows that are kept.
        let back: Vec<usize> = (0..old_places.len()).filter(|&place| old_places[place].is_none()).collect();
        let back_rows: Vec<usize> = back.iter().map(|&place| self.places[place]).collect();
        let passing: Vec<u32> = kept.iter().map(|&(_, variable)| rows[variable] as u32).collect();
        let targets: Vec<usize> = (0..kept.len()).map(|k| k * T::LANES).collect();
        let mut tile = vec![T::default(); kept.len() * T::LANES];
        for (panel, places) in panels(tiles, &back_rows).iter().zip(back.chunks(T::LANES)) {
            tiles.fill(panel, &passing, &targets, &mut tile);
            for (&(slot, _), values) in kept.iter().zip(tile.chunks(T::LANES)) {
                let row = &mut new_rows[slot as usize * self.width..][..self.width];
                places.iter().zip(values).for_each(|(&place, &value)| row[place] = value);
            }
        }
        true
    }
}

/// Panels that hold these rows.
pub(super) fn panels<'a, T: Real>(tiles: &Tiles<'a, T>, rows: &[usize]) -> Vec<Panel<'a, T>> {
    rows.chunks(T::LANES)
        .map(|rows| {
            let mut panel = tiles.panel(tiles.points());
            tiles.load(&mut panel, rows);
            panel
        })
        .collect()
}

/// `sums += Σ amount · row`, in f64. Terms are added in their order, so grouping them changes no bit.
pub(super) fn add_rows<T: Real>(sums: &mut [f64], terms: &[(f64, &[T])]) {
    vectorised(
        pulp::Arch::new(),
        #[inline(always)]
        || {
            for four in terms.chunks(4) {
                if let [(a, p), (b, q), (c, r), (d, s)] = *four {
                    let width = sums.len();
                    let (p, q, r, s) = (&p[..width], &q[..width], &r[..width], &s[..width]);
                    for k in 0..width {
                        let sum = a.mul_add(p[k].into(), sums[k]);
                        let sum = b.mul_add(q[k].into(), sum);
                        let sum = c.mul_add(r[k].into(), sum);
                        sums[k] = d.mul_add(s[k].into(), sum);
                    }
                } else {
                    for &(amount, row) in four {
                        for (sum, &value) in sums.iter_mut().zip(row) {
                            *sum = amount.mul_add(value.into(), *sum);
                        }
                    }
                }
            }
        },
    );
}
