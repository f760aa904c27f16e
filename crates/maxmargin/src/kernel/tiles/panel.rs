//! Rows side by side, by which other rows pass.

use super::packed::{Laid, Layout, Packed};
use super::slots::ColumnSlots;
use crate::data::Matrix;
use crate::kernel::{MOST_SPREAD_COLUMNS, Points};
use crate::simd::Real;

/// The most columns for which a panel has a slot for every column. Above, only columns with an entry in its rows have slots.
pub(super) const FEW_COLUMNS: usize = 4096;

/// Up to [`Real::LANES`] rows side by side, or up to [`Real::NARROW`], or one.
#[derive(Clone, Debug)]
pub(crate) struct Panel<'p, T> {
    pub(super) points: &'p Points,
    pub(super) lanes: usize,
    pub(super) list: Vec<usize>,
    /// The squared norm of each lane's row.
    pub(super) norms: Vec<T>,
    /// The largest of the squared norms.
    pub(super) largest: T,
    /// `[group][slot][lane of the group]`, unless in bytes.
    pub(super) values: Vec<T>,
    /// How many lanes are in a group: all of them, unless the passing rows are dense.
    pub(super) group: usize,
    /// `[slot][lane]`
    pub(super) bytes: Vec<u8>,
    pub(super) binary: bool,
    /// The slot of each column, `u32::MAX` for none. Empty when each column is its own slot, or there are very many columns.
    pub(super) slots: Vec<u32>,
    /// The slots of columns in use, where there are very many columns.
    pub(super) sought: Option<ColumnSlots>,
    /// The column of each slot, where columns and slots differ.
    pub(super) taken: Vec<u32>,
}

impl<'p, T: Real> Panel<'p, T> {
    pub(super) fn new(points: &'p Points, lanes: usize) -> Self {
        Panel {
            points,
            lanes,
            list: Vec::new(),
            norms: vec![T::default(); lanes],
            largest: T::default(),
            values: Vec::new(),
            group: lanes,
            bytes: Vec::new(),
            binary: false,
            slots: Vec::new(),
            sought: None,
            taken: Vec::new(),
        }
    }

    /// How many rows are in it.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// How many rows it has room for.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Loads the rows of the list. The passing rows are `packed`; with `own` they are rows of the same points.
    pub(super) fn load(&mut self, packed: &Packed<T>, own: bool) {
        let matrix = self.points.seen();
        self.clear();
        self.binary = packed.binary && (own || has_ones_alone(matrix, &self.list));
        let columns = matrix.columns();
        let narrow = columns <= FEW_COLUMNS;
        if columns > MOST_SPREAD_COLUMNS && matches!(packed.layout, Layout::Sparse { .. }) {
            self.sought.get_or_insert_with(ColumnSlots::default);
        } else if !narrow && self.slots.is_empty() {
            self.slots.resize(columns, u32::MAX);
        }
        let dense = matches!(packed.layout, Layout::Dense { .. });
        self.group = if narrow && dense { T::NARROW.min(self.lanes) } else { self.lanes };
        let size = if narrow { columns * self.lanes } else { 0 };
        if self.binary {
            self.bytes.resize(size.max(self.bytes.len()), 0);
        } else {
            self.values.resize(size.max(self.values.len()), T::default());
        }
        self.norms.fill(T::default());
        let rows = std::mem::take(&mut self.list);
        if own {
            self.take_packed(packed, &rows, columns);
        } else {
            self.take(matrix, &rows);
        }
        self.list = rows;
        self.largest = self.norms.iter().fold(T::default(), |most, &norm| norm.larger(most));
    }

    /// Loads rows of any matrix.
    fn take(&mut self, matrix: &Matrix, rows: &[usize]) {
        let columns = matrix.columns();
        for (lane, &row) in rows.iter().enumerate() {
            let mut norm = T::default();
            matrix.visit(row, |column, value| {
                if value != 0.0 {
                    let value = T::of(value);
                    norm = value.fused(value, norm);
                    self.put(lane, column, value, columns);
                }
            });
            self.norms[lane] = norm;
        }
    }

    /// Loads rows that are packed already.
    fn take_packed(&mut self, packed: &Packed<T>, rows: &[usize], columns: usize) {
        for (lane, &row) in rows.iter().enumerate() {
            self.norms[lane] = packed.norms[row];
        }
        match packed.layout.borrow() {
            Laid::Dense { values, .. } if self.slots.is_empty() => {
                for (first, rows) in rows.chunks(self.group).enumerate() {
                    let group = &mut self.values[first * self.group * columns..][..self.group * columns];
                    for (column, lanes) in group.chunks_mut(self.group).enumerate() {
                        lanes.iter_mut().zip(rows).for_each(|(lane, &row)| *lane = values[row * columns + column]);
                    }
                }
            }
            Laid::Dense { values, .. } => {
                for (lane, &row) in rows.iter().enumerate() {
                    for (column, &value) in values[row * columns..][..columns].iter().enumerate() {
                        if value != T::default() {
                            self.put(lane, column, value, columns);
                        }
                    }
                }
            }
            Laid::Sparse { offsets, indices, values } => {
                for (lane, &row) in rows.iter().enumerate() {
                    let span = offsets[row] as usize..offsets[row + 1] as usize;
                    for (&column, &value) in indices[span.clone()].iter().zip(&values[span]) {
                        self.put(lane, column as usize, value, columns);
                    }
                }
            }
        }
    }

    /// Writes one entry.
    #[inline(always)]
    fn put(&mut self, lane: usize, column: usize, value: T, columns: usize) {
        let slot = self.slot(column);
        if self.binary {
            self.bytes[slot * self.lanes + lane] = 1;
        } else {
            let first = lane / self.group * columns;
            self.values[(first + slot) * self.group + lane % self.group] = value;
        }
    }

    /// Removes all rows.
    fn clear(&mut self) {
        if let Some(sought) = &mut self.sought {
            sought.clear();
            self.taken.clear();
            self.values.fill(T::default());
            self.bytes.fill(0);
            return;
        }
        if self.slots.is_empty() {
            self.values.fill(T::default());
            self.bytes.fill(0);
            return;
        }
        for (slot, column) in self.taken.drain(..).enumerate() {
            self.slots[column as usize] = u32::MAX;
            if self.binary {
                self.bytes[slot * self.lanes..(slot + 1) * self.lanes].fill(0);
            } else {
                self.values[slot * self.lanes..(slot + 1) * self.lanes].fill(T::default());
            }
        }
    }

    /// The slot of a column; a new slot if it has none.
    #[inline(always)]
    fn slot(&mut self, column: usize) -> usize {
        if let Some(sought) = &mut self.sought {
            let slot = sought.insert(column as u32);
            if slot == self.taken.len() {
                self.open_slot(column);
            }
            return slot;
        }
        if self.slots.is_empty() {
            return column;
        }
        if self.slots[column] == u32::MAX {
            self.slots[column] = self.taken.len() as u32;
            self.open_slot(column);
        }
        self.slots[column] as usize
    }

    /// Makes room for one more column.
    fn open_slot(&mut self, column: usize) {
        self.taken.push(column as u32);
        let size = self.taken.len() * self.lanes;
        if self.binary && self.bytes.len() < size {
            self.bytes.resize(size, 0);
        } else if !self.binary && self.values.len() < size {
            self.values.resize(size, T::default());
        }
    }
}

/// Whether all entries of these rows are 0 or 1.
fn has_ones_alone(matrix: &Matrix, rows: &[usize]) -> bool {
    let mut ones = true;
    rows.iter().for_each(|&row| matrix.visit(row, |_, value| ones &= value == 0.0 || value == 1.0));
    ones
}
