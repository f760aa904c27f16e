//! Outer products of rows whose entries lie in clusters, such as images: dense arithmetic on small blocks of columns, and none on blocks
//! without an entry.
//!
//! Columns are cut into blocks of [`SIDE`]. Rows are packed block by block, and each block has a mask of the rows with an entry in it. A tile
//! of S is the sum over the rows in the masks of both its blocks:
//!
//! ```text
//! S[K, J] = Σ_{i ∈ J ∩ K} x_i[K] x_i[J]′,   K ≥ J                                                 (MX.4)
//! ```
//!
//! Cost: `SIDE²` products, which fill the vector registers, for each pair of blocks of a row. Entry by entry, each single product has to be
//! added at its own place, so blocks are faster when they hold a few entries.

use std::ops::Range;

use faer::Mat;

use super::Scatter;
use crate::data::Matrix;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::simd::vectorised;
use pulp::Arch;

/// Columns of a block.
const SIDE: usize = 8;
/// Rows of a panel, a bit of a mask each.
const PANEL: usize = 128;
const WORD: usize = u64::BITS as usize;
/// The distance from a block of a panel to the next, in rows. Not a power of two, because the blocks of one row would then compete for the same
/// cache lines.
const STRIDE: usize = PANEL + 1;
/// The most blocks for which the blocks of a row lie side by side, so that a column alone gives the place of an entry.
const FEW_BLOCKS: usize = 16;
/// Panels packed per round, up to `USUAL_BLOCKS` blocks of columns. Wider data gets fewer, so that the caller is polled often enough.
const PANELS: usize = 8;
const USUAL_BLOCKS: usize = 256;
/// Blocks of columns of S that a thread works on at a time, while a panel is in its cache.
const GROUP: usize = 4;
/// The most rows that [`BlockOccupancy`] looks at.
const LOOKED_AT: usize = 1000;

/// The rows of a panel that have an entry in a block.
type Mask = [u64; PANEL / WORD];
/// A part of S, `[column][row]`.
type Tile = [[f64; SIDE]; SIDE];

/// How full the blocks of columns are, measured on some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockOccupancy {
    /// The mean number of entries other than 0 in a row.
    pub(super) entries: f64,
    /// The mean number of blocks of a row with such an entry.
    pub(super) blocks: f64,
    /// The number of blocks.
    pub(super) all: usize,
}

impl BlockOccupancy {
    /// Looks at some of the rows, evenly spread.
    pub(super) fn of(scatter: &Scatter<'_>) -> Self {
        let (mut entries, mut blocks, mut looked_at) = (0_usize, 0_usize, 0_usize);
        let all = scatter.rows.len();
        let some = (0..all).step_by(all.div_ceil(LOOKED_AT).max(1));
        for i in some.filter(|&i| scatter.weights[i] != 0.0) {
            let mut last = usize::MAX;
            scatter.matrix.visit(scatter.rows[i], |column, value| {
                if value != 0.0 {
                    entries += 1;
                    blocks += usize::from(column / SIDE != last);
                    last = column / SIDE;
                }
            });
            looked_at += 1;
        }
        let mean = |count: usize| count as f64 / looked_at.max(1) as f64;
        BlockOccupancy { entries: mean(entries), blocks: mean(blocks), all: scatter.size().div_ceil(SIDE) }
    }
}

/// The sum so far, and memory for packed rows.
pub(super) struct Blocks {
    /// For each J a tile for every K ≥ J. Long and short columns alternate, so that neighbours have the same work.
    columns: Vec<(usize, Vec<Tile>)>,
    panels: Vec<Panel>,
}

/// Some rows, packed by blocks of columns.
struct Panel {
    /// The entries; arbitrary numbers for rows that are not in a block's mask.
    values: Vec<[f64; SIDE]>,
    masks: Vec<Mask>,
    layout: PanelLayout,
}

/// The distances between blocks and between rows in the values of a panel.
#[derive(Clone, Copy)]
struct PanelLayout {
    block: usize,
    row: usize,
}

impl PanelLayout {
    /// The layout for this many blocks: `[row][block]` for up to [`FEW_BLOCKS`], else `[block][row]`.
    fn of(blocks: usize) -> Self {
        if blocks <= FEW_BLOCKS { PanelLayout { block: 1, row: blocks } } else { PanelLayout { block: STRIDE, row: 1 } }
    }
}

impl Blocks {
    pub(super) fn new(scatter: &Scatter<'_>, rows: usize) -> Self {
        let count = scatter.size().div_ceil(SIDE);
        let panels = (PANELS * USUAL_BLOCKS * USUAL_BLOCKS / (count * count).max(1)).clamp(1, PANELS);
        let panel = || Panel {
            values: vec![[0.0; SIDE]; count * STRIDE],
            masks: vec![[0; PANEL / WORD]; count],
            layout: PanelLayout::of(count),
        };
        Blocks {
            columns: (0..count)
                .map(|k| if k % 2 == 0 { k / 2 } else { count - 1 - k / 2 })
                .map(|j| (j, vec![[[0.0; SIDE]; SIDE]; count - j]))
                .collect(),
            panels: (0..panels.min(rows.div_ceil(PANEL).max(1))).map(|_| panel()).collect(),
        }
    }

    /// The most rows of one call of [`Blocks::add`].
    pub(super) fn rows(&self) -> usize {
        self.panels.len() * PANEL
    }

    /// Adds at most [`Blocks::rows`] rows.
    pub(super) fn add(&mut self, scatter: &Scatter<'_>, used: &[usize]) {
        let workers = scatter.workers;
        let panels = &mut self.panels[..used.len().div_ceil(PANEL)];
        workers.fill_chunks(panels, 1, |start, panels| {
            panels.iter_mut().for_each(|panel| panel.pack(scatter, used.chunks(PANEL).nth(start).unwrap_or(&[])));
        });
        let panels = &*panels;
        workers.fill_chunks(&mut self.columns, GROUP, |_, columns| {
            vectorised(
                Arch::new(),
                #[inline(always)]
                || {
                    for panel in panels {
                        for (j, tiles) in columns.iter_mut() {
                            panel.add_to(*j, tiles);
                        }
                    }
                },
            );
        });
    }

    /// Adds any number of rows on the calling thread.
    pub(super) fn add_alone(&mut self, scatter: &Scatter<'_>, rows: Range<usize>) {
        let Blocks { columns, panels } = self;
        let Some(panel) = panels.first_mut() else { return };
        let mut used = rows.filter(|&i| scatter.weights[i] != 0.0);
        let mut some = Vec::with_capacity(PANEL);
        loop {
            some.clear();
            some.extend(used.by_ref().take(PANEL));
            if some.is_empty() {
                return;
            }
            panel.pack(scatter, &some);
            vectorised(
                Arch::new(),
                #[inline(always)]
                || {
                    for (j, tiles) in columns.iter_mut() {
                        panel.add_to(*j, tiles);
                    }
                },
            );
        }
    }

    /// Adds the sums of other rows.
    pub(super) fn join(&mut self, other: &Blocks) {
        let tiles = self.columns.iter_mut().flat_map(|(_, tiles)| tiles);
        for (own, other) in tiles.zip(other.columns.iter().flat_map(|(_, tiles)| tiles)) {
            let numbers = own.as_flattened_mut().iter_mut().zip(other.as_flattened());
            numbers.for_each(|(own, other)| *own += other);
        }
    }

    /// Writes the lower half of S.
    pub(super) fn write(&self, sum: &mut Mat<f64>) {
        for (j, tiles) in &self.columns {
            for column in j * SIDE..((j + 1) * SIDE).min(sum.ncols()) {
                let own = &mut sum.col_as_slice_mut(column)[j * SIDE..];
                for (own, tile) in own.chunks_mut(SIDE).zip(tiles) {
                    own.copy_from_slice(&tile[column % SIDE][..own.len()]);
                }
            }
        }
    }
}

impl Panel {
    /// Packs rows, each times the root of its weight.
    fn pack(&mut self, scatter: &Scatter<'_>, used: &[usize]) {
        self.masks.fill([0; PANEL / WORD]);
        let Panel { values, masks, layout } = self;
        // Dense rows count as having an entry in every block.
        let few = masks.len() <= WORD && matches!(scatter.matrix, Matrix::Sparse(_));
        on_stored_rows!(scatter.matrix, rows => for (place, &i) in used.iter().enumerate() {
            let root = scatter.weights[i].sqrt();
            let constant = scatter.constant.then(|| (scatter.size() - 1, root));
            let slot = Slot { place, values, masks, layout: *layout };
            if !few {
                slot.take_wide(&rows, scatter.rows[i], root, constant);
            } else if layout.block == 1 {
                slot.take_few(&rows, scatter.rows[i], root, constant);
            } else {
                slot.take_narrow(&rows, scatter.rows[i], root, constant);
            }
        });
    }

    /// Adds (MX.4) for one J.
    #[inline(always)]
    fn add_to(&self, j: usize, tiles: &mut [Tile]) {
        let PanelLayout { block, row: apart } = self.layout;
        let rows = |k: usize| &self.values[k * block..][..(PANEL - 1) * apart + 1];
        let left = rows(j);
        for (k, tile) in tiles.iter_mut().enumerate() {
            let right = rows(j + k);
            let common: Mask = std::array::from_fn(|word| self.masks[j][word] & self.masks[j + k][word]);
            if common == [0; PANEL / WORD] {
                continue;
            }
            let mut sums = *tile;
            for (word, mut left_over) in common.into_iter().enumerate() {
                while left_over != 0 {
                    let place = word * WORD + left_over.trailing_zeros() as usize;
                    left_over &= left_over - 1;
                    let (own, other) = (&left[place * apart], &right[place * apart]);
                    for column in 0..SIDE {
                        for row in 0..SIDE {
                            sums[column][row] = own[column].mul_add(other[row], sums[column][row]);
                        }
                    }
                }
            }
            *tile = sums;
        }
    }
}

/// The place of a row in a panel.
struct Slot<'p> {
    place: usize,
    values: &'p mut [[f64; SIDE]],
    masks: &'p mut [Mask],
    layout: PanelLayout,
}

impl Slot<'_> {
    /// Packs a row that has entries in few of many blocks.
    #[inline(always)]
    fn take_wide(mut self, rows: &impl StoredRows, row: usize, root: f64, constant: Option<(usize, f64)>) {
        rows.visit(
            row,
            #[inline(always)]
            |column, value| {
                if value != 0.0 {
                    self.put_and_mark(column, root * value);
                }
            },
        );
        if let Some((column, value)) = constant {
            self.put_and_mark(column, value);
        }
    }

    #[inline(always)]
    fn put_and_mark(&mut self, column: usize, value: f64) {
        let (mask, bit) = (&mut self.masks[column / SIDE][self.place / WORD], 1 << (self.place % WORD));
        let own = &mut self.values[column / SIDE * self.layout.block + self.place * self.layout.row];
        if *mask & bit == 0 {
            *mask |= bit;
            *own = [0.0; SIDE];
        }
        own[column % SIDE] = value;
    }

    /// Packs a sparse row of few blocks. Without a branch at each entry, because which blocks have entries cannot be predicted.
    #[inline(always)]
    fn take_narrow(mut self, rows: &impl StoredRows, row: usize, root: f64, constant: Option<(usize, f64)>) {
        for block in 0..self.masks.len() {
            self.values[block * self.layout.block + self.place] = [0.0; SIDE];
        }
        let mut touched = 0_u64;
        rows.visit(
            row,
            #[inline(always)]
            |column, value| touched |= self.put(column, root * value),
        );
        if let Some((column, value)) = constant {
            touched |= self.put(column, value);
        }
        self.mark(touched);
    }

    /// [`Slot::take_narrow`] where the blocks of a row lie side by side.
    #[inline(always)]
    fn take_few(mut self, rows: &impl StoredRows, row: usize, root: f64, constant: Option<(usize, f64)>) {
        let blocks = self.masks.len();
        let own = &mut self.values[self.place * blocks..(self.place + 1) * blocks];
        own.fill([0.0; SIDE]);
        let own = own.as_flattened_mut();
        let mut touched = 0_u64;
        rows.visit(
            row,
            #[inline(always)]
            |column, value| {
                own[column] = root * value;
                touched |= 1 << (column / SIDE);
            },
        );
        if let Some((column, value)) = constant {
            own[column] = value;
            touched |= 1 << (column / SIDE);
        }
        self.mark(touched);
    }

    /// Sets the row's bit in the masks of the blocks with these bits.
    #[inline(always)]
    fn mark(&mut self, touched: u64) {
        for (block, mask) in self.masks.iter_mut().enumerate() {
            mask[self.place / WORD] |= (touched >> block & 1) << (self.place % WORD);
        }
    }

    /// Writes a value and returns the bit of its block.
    #[inline(always)]
    fn put(&mut self, column: usize, value: f64) -> u64 {
        self.values[column / SIDE * self.layout.block + self.place][column % SIDE] = value;
        1 << (column / SIDE)
    }
}
