//! Kernel values many at a time: rows that pass by a panel of other rows.
//!
//! A [`Panel`] holds up to [`Real::LANES`] rows side by side, `[column][lane]`, so that one entry of a passing row meets
//! all of them in a few vector instructions, at the speed of a matrix multiplication and at the cost of the entries that
//! are there. The kernel's own function follows while the dot products are in the nearest cache.
//!
//! Every dot product is the sum over columns in increasing order, each term fused: a value depends on its pair alone,
//! and neither on the layout (dense, sparse, binary) nor on which of the two rows passes by.

use super::{Kernel, Points};
use crate::data::{Matrix, Values};
use crate::simd::{DenseRows, EachRow, MOST_LANES, Real, SparseRows, vectorised};

/// Columns up to which a panel has a place for each of them; above, for those of its rows alone.
const FEW_COLUMNS: usize = 4096;

/// The share of entries that are not 0 from which on zeros are multiplied with rather than skipped.
const DENSE_FROM: f64 = 0.5;

/// A kernel that is a function of the dot product (and of the squared norms).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DotFunction {
    /// (K.1)
    Linear,
    /// (K.2)
    Polynomial {
        /// γ
        gamma: f64,
        /// c
        coef0: f64,
        /// q
        degree: u32,
    },
    /// (K.3)
    Rbf {
        /// γ
        gamma: f64,
    },
    /// (K.4)
    Sigmoid {
        /// γ
        gamma: f64,
        /// c
        coef0: f64,
    },
}

impl DotFunction {
    /// Kernel values from dot products, lane by lane. `norm` and `norms` are squared norms.
    #[inline(always)]
    fn apply<T: Real>(self, dots: &[T], constant: T, norm: T, norms: &[T], out: &mut [T]) {
        let (dots, norms, out) = (&dots[..T::LANES], &norms[..T::LANES], &mut out[..T::LANES]);
        match self {
            DotFunction::Linear => {
                for lane in 0..T::LANES {
                    out[lane] = dots[lane].plus(constant);
                }
            }
            DotFunction::Rbf { gamma } => {
                let (gamma, zero) = (T::of(-gamma), T::default());
                for lane in 0..T::LANES {
                    let distance = T::of(-2.0).fused(dots[lane], norm.plus(norms[lane])).larger(zero);
                    out[lane] = gamma.times(distance).exp(); // (K.3)
                }
            }
            DotFunction::Polynomial { gamma, coef0, degree } => {
                let (gamma, coef0) = (T::of(gamma), T::of(coef0));
                let mut square = [T::default(); MOST_LANES];
                for lane in 0..T::LANES {
                    square[lane] = gamma.fused(dots[lane].plus(constant), coef0);
                    out[lane] = T::of(1.0);
                }
                let mut rest = degree;
                while rest > 0 {
                    if rest % 2 == 1 {
                        for lane in 0..T::LANES {
                            out[lane] = out[lane].times(square[lane]); // (K.2)
                        }
                    }
                    for value in &mut square[..T::LANES] {
                        *value = value.times(*value);
                    }
                    rest /= 2;
                }
            }
            DotFunction::Sigmoid { gamma, coef0 } => {
                let (gamma, coef0, one) = (T::of(gamma), T::of(coef0), T::of(1.0));
                for lane in 0..T::LANES {
                    let z = gamma.fused(dots[lane].plus(constant), coef0);
                    let minus = z.times(T::of(-1.0));
                    // (K.4): tanh |z| = (1 − e^(−2|z|)) / (1 + e^(−2|z|))
                    let decay = z.larger(minus).times(T::of(-2.0)).exp();
                    let value = one.plus(decay.times(T::of(-1.0))).over(one.plus(decay));
                    out[lane] = if z < minus { value.times(T::of(-1.0)) } else { value };
                }
            }
        }
    }
}

/// The rows of some points in one precision, laid out to pass by panels.
#[derive(Clone, Debug)]
pub(crate) struct Packed<T> {
    layout: Layout<T>,
    /// Whether every entry is 1, and a row has at most 255 of them, so that dot products count in bytes.
    binary: bool,
    norms: Vec<T>,
}

#[derive(Clone, Debug)]
enum Layout<T> {
    Dense { columns: usize, values: Vec<T> },
    Sparse { offsets: Vec<usize>, indices: Vec<u32>, values: Vec<T> },
}

impl<T: Real> Packed<T> {
    fn new(matrix: &Matrix) -> Self {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut binary, mut norms) = (true, Vec::with_capacity(rows));
        let stored = not_zero(matrix);
        let dense = stored as f64 >= DENSE_FROM * rows as f64 * columns as f64;
        if dense {
            values.reserve_exact(rows * columns);
        } else {
            (indices, values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
        }
        for row in 0..rows {
            let (start, mut norm, mut entries) = (values.len(), T::default(), 0);
            if dense {
                values.resize(start + columns, T::default());
            }
            matrix.visit(row, |column, value| {
                if value != 0.0 {
                    let value = T::of(value);
                    norm = value.fused(value, norm);
                    binary &= value == T::of(1.0);
                    entries += 1;
                    if dense {
                        values[start + column] = value;
                    } else {
                        indices.push(column as u32);
                        values.push(value);
                    }
                }
            });
            binary &= entries <= 255;
            norms.push(norm);
            offsets.push(values.len());
        }
        let layout =
            if dense { Layout::Dense { columns, values } } else { Layout::Sparse { offsets, indices, values } };
        Packed { binary: binary && !dense, layout, norms }
    }

    /// Bytes that the packed rows of a matrix take.
    pub(crate) fn bytes(matrix: &Matrix) -> u64 {
        let size = size_of::<T>() as u64;
        let (rows, columns, stored) = (matrix.rows() as u64, matrix.columns() as u64, not_zero(matrix) as u64);
        let dense = stored as f64 >= DENSE_FROM * rows as f64 * columns as f64;
        let numbers = if dense { rows.saturating_mul(columns) * size } else { stored * (size + 4) + rows * 8 };
        numbers + rows * size
    }
}

/// How many entries are not 0.
fn not_zero(matrix: &Matrix) -> usize {
    let values = match matrix {
        Matrix::Dense(dense) => dense.values(),
        Matrix::Sparse(csr) => csr.values(),
    };
    match values {
        Values::F32(values) => values.iter().filter(|value| **value != 0.0).count(),
        Values::F64(values) => values.iter().filter(|value| **value != 0.0).count(),
    }
}

/// Up to [`Real::LANES`] rows side by side.
#[derive(Clone, Debug)]
pub(crate) struct Panel<'p, T> {
    points: &'p Points,
    list: Vec<usize>,
    norms: Vec<T>,
    /// `[slot][lane]`, unless in bytes.
    values: Vec<T>,
    bytes: Vec<u8>,
    binary: bool,
    /// The slot of each column, `u32::MAX` for none; empty when column and slot are one.
    slots: Vec<u32>,
    /// The column of each slot, where they are not one.
    taken: Vec<u32>,
}

/// A kernel between panels and the rows of some points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles<'a, T: Real> {
    kernel: &'a dyn Kernel,
    points: &'a Points,
    fast: Option<(DotFunction, &'a Packed<T>)>,
}

impl<'a, T: Real> Tiles<'a, T> {
    /// The rows of `points` will pass by. They are packed at the first call for these points, once.
    pub(crate) fn new(kernel: &'a dyn Kernel, points: &'a Points) -> Self {
        let pack = || Packed::new(points.matrix());
        let fast = kernel.of_dots().map(|function| (function, T::packed(points).get_or_init(pack)));
        Tiles { kernel, points, fast }
    }

    /// The points whose rows pass by.
    pub(crate) fn points(&self) -> &'a Points {
        self.points
    }

    /// Whether values come from vector instructions, and not one by one from the kernel.
    pub(crate) fn is_fast(&self) -> bool {
        self.fast.is_some()
    }

    /// The arithmetic of one kernel value, in vector lanes: about the entries of a row, and a few for the function.
    pub(crate) fn cost(&self) -> f64 {
        let Some((_, packed)) = self.fast else { return 10.0 * self.points.matrix().columns() as f64 };
        let rows = packed.norms.len().max(1) as f64;
        match &packed.layout {
            Layout::Dense { columns, .. } => *columns as f64 / 2.0,
            Layout::Sparse { values, .. } if packed.binary => values.len() as f64 / rows / 4.0,
            Layout::Sparse { values, .. } => values.len() as f64 / rows,
        }
    }

    /// Bytes that a panel takes at most.
    pub(crate) fn panel_bytes(&self) -> u64 {
        let Some((_, packed)) = self.fast else { return 1024 };
        let columns = self.points.matrix().columns();
        let size = if packed.binary { 1 } else { size_of::<T>() };
        if columns <= FEW_COLUMNS {
            return (columns * T::LANES * size) as u64;
        }
        let entries = self.points.matrix().entries() / packed.norms.len().max(1) * T::LANES;
        (columns * 4 + columns.min(entries) * T::LANES * size) as u64
    }

    /// A panel with nothing in it, for rows of `points`.
    pub(crate) fn panel<'p>(&self, points: &'p Points) -> Panel<'p, T> {
        Panel {
            points,
            list: Vec::new(),
            norms: vec![T::default(); T::LANES],
            values: Vec::new(),
            bytes: Vec::new(),
            binary: false,
            slots: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Puts rows into a panel, in place of those in it.
    ///
    /// # Panics
    /// When there are more rows than lanes.
    pub(crate) fn load(&self, panel: &mut Panel<'_, T>, rows: &[usize]) {
        assert!(rows.len() <= T::LANES, "a panel has {} lanes", T::LANES);
        panel.list.clear();
        panel.list.extend_from_slice(rows);
        let Some((_, packed)) = self.fast else { return };
        let (lanes, matrix) = (T::LANES, panel.points.matrix());
        panel.clear(lanes);
        panel.binary = packed.binary && {
            let mut ones = true;
            rows.iter().for_each(|&row| matrix.visit(row, |_, value| ones &= value == 0.0 || value == 1.0));
            ones
        };
        let columns = matrix.columns();
        let narrow = columns <= FEW_COLUMNS;
        if !narrow && panel.slots.is_empty() {
            panel.slots.resize(columns, u32::MAX);
        }
        let size = if narrow { columns * lanes } else { 0 };
        if panel.binary {
            panel.bytes.resize(size.max(panel.bytes.len()), 0);
        } else {
            panel.values.resize(size.max(panel.values.len()), T::default());
        }
        panel.norms.fill(T::default());
        for (lane, &row) in rows.iter().enumerate() {
            let mut norm = T::default();
            matrix.visit(row, |column, value| {
                if value == 0.0 {
                    return;
                }
                let value = T::of(value);
                norm = value.fused(value, norm);
                let slot = panel.slot(column, narrow, lanes);
                if panel.binary {
                    panel.bytes[slot * lanes + lane] = 1;
                } else {
                    panel.values[slot * lanes + lane] = value;
                }
            });
            panel.norms[lane] = norm;
        }
    }

    /// Kernel values of rows, by their places, with all lanes of a panel:
    /// `out[targets[k] + lane] = k(row places[k], lane)`. Lanes without a row get values without a meaning.
    pub(crate) fn fill(&self, panel: &Panel<'_, T>, places: &[u32], targets: &[usize], out: &mut [T]) {
        let Some((function, packed)) = self.fast else { return self.fill_slowly(panel, places, targets, out) };
        let constant = T::of(if self.points.folded() { 1.0 } else { 0.0 });
        let finish = Finish { function, constant, packed, panel, places, targets, out };
        let slots = (!panel.slots.is_empty()).then_some(&panel.slots[..]);
        match &packed.layout {
            Layout::Sparse { offsets, indices, .. } if panel.binary => {
                count_common(offsets, indices, places, slots, &panel.bytes, finish);
            }
            Layout::Sparse { offsets, indices, values } => {
                T::sparse_dots(SparseRows { offsets, indices, values, places, slots }, &panel.values, finish);
            }
            Layout::Dense { columns, values } if panel.slots.is_empty() => {
                T::dense_dots(DenseRows { columns: *columns, values, places }, &panel.values, finish);
            }
            Layout::Dense { columns, values } => {
                // A dense row of very many columns: its entries, one after the other.
                let indices: Vec<u32> = (0..*columns as u32).collect();
                let mut finish = finish;
                for (k, place) in places.iter().enumerate() {
                    let start = *place as usize * columns;
                    let values = &values[start..start + columns];
                    let rows = SparseRows { offsets: &[0, *columns], indices: &indices, values, places: &[0], slots };
                    T::sparse_dots(rows, &panel.values, At { k, inner: &mut finish });
                }
            }
        }
    }

    fn fill_slowly(&self, panel: &Panel<'_, T>, places: &[u32], targets: &[usize], out: &mut [T]) {
        let mut values = vec![0.0; panel.list.len()];
        for (&place, &target) in places.iter().zip(targets) {
            let row = [place as usize];
            self.kernel.block(self.points.rows(&row), panel.points.rows(&panel.list), &mut values);
            out[target..target + T::LANES].fill(T::default());
            out[target..].iter_mut().zip(&values).for_each(|(out, &value)| *out = T::of(value));
        }
    }
}

impl<T: Real> Panel<'_, T> {
    /// How many rows are in it.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Takes all rows out.
    fn clear(&mut self, lanes: usize) {
        if self.slots.is_empty() {
            self.values.fill(T::default());
            self.bytes.fill(0);
            return;
        }
        for (slot, column) in self.taken.drain(..).enumerate() {
            self.slots[column as usize] = u32::MAX;
            if self.binary {
                self.bytes[slot * lanes..(slot + 1) * lanes].fill(0);
            } else {
                self.values[slot * lanes..(slot + 1) * lanes].fill(T::default());
            }
        }
    }

    /// The slot of a column, a new one if it has none.
    fn slot(&mut self, column: usize, narrow: bool, lanes: usize) -> usize {
        if narrow {
            return column;
        }
        if self.slots[column] == u32::MAX {
            let slot = self.taken.len();
            self.slots[column] = slot as u32;
            self.taken.push(column as u32);
            let size = (slot + 1) * lanes;
            if self.binary && self.bytes.len() < size {
                self.bytes.resize(size, 0);
            } else if !self.binary && self.values.len() < size {
                self.values.resize(size, T::default());
            }
        }
        self.slots[column] as usize
    }
}

/// Turns dot products into kernel values, where they belong.
struct Finish<'a, 'p, T> {
    function: DotFunction,
    constant: T,
    packed: &'a Packed<T>,
    panel: &'a Panel<'p, T>,
    places: &'a [u32],
    targets: &'a [usize],
    out: &'a mut [T],
}

impl<T: Real> EachRow<T> for Finish<'_, '_, T> {
    #[inline(always)]
    fn take(&mut self, k: usize, dots: &[T]) {
        let norm = self.packed.norms[self.places[k] as usize];
        let out = &mut self.out[self.targets[k]..self.targets[k] + T::LANES];
        self.function.apply(dots, self.constant, norm, &self.panel.norms, out);
    }
}

/// Passes one row on under its own number.
struct At<'a, E> {
    k: usize,
    inner: &'a mut E,
}

impl<T, E: EachRow<T>> EachRow<T> for At<'_, E> {
    #[inline(always)]
    fn take(&mut self, _: usize, dots: &[T]) {
        self.inner.take(self.k, dots);
    }
}

/// Dot products of rows of ones: how many columns they have in common, counted in bytes.
fn count_common<T: Real>(
    offsets: &[usize],
    indices: &[u32],
    places: &[u32],
    slots: Option<&[u32]>,
    bytes: &[u8],
    mut each: impl EachRow<T>,
) {
    vectorised(
        #[inline(always)]
        || {
            let mut dots = [T::default(); MOST_LANES];
            for (k, &place) in places.iter().enumerate() {
                let mut counts = [0u8; MOST_LANES];
                for &column in &indices[offsets[place as usize]..offsets[place as usize + 1]] {
                    let slot = slots.map_or(column, |slots| slots[column as usize]);
                    if slot == u32::MAX {
                        continue;
                    }
                    let start = slot as usize * T::LANES;
                    let lanes = &bytes[start..start + T::LANES];
                    for lane in 0..T::LANES {
                        counts[lane] = counts[lane].wrapping_add(lanes[lane]);
                    }
                }
                for lane in 0..T::LANES {
                    dots[lane] = T::count(counts[lane]);
                }
                each.take(k, &dots[..T::LANES]);
            }
        },
    );
}
