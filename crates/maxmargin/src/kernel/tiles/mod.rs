//! Kernel values many at a time: rows pass by a panel of other rows.
//!
//! A [`Panel`] holds up to [`Real::LANES`] rows side by side, `[column][lane]`. One entry of a passing row is multiplied with all of them in
//! a few vector instructions, so the cost follows the entries and the speed is that of a matrix multiplication. The kernel's function is
//! applied while the dot products are in the L1 cache.
//!
//! Every dot product is the sum over columns in increasing order, with fused multiplications. So a value depends on its pair alone, not on
//! the layout (dense, sparse, binary) and not on which of the two rows passes by.

mod function;
mod packed;
mod panel;
mod slots;

use pulp::Arch;

use super::pairs::squared_differences;
use super::{Kernel, Points};
use crate::simd::{MOST_LANES, Real, SparseRow, vectorised};
pub use function::DotFunction;
use packed::{Laid, Layout};
pub(crate) use packed::{Packable, Packed};
pub(crate) use panel::Panel;

/// Rows that pass by before the kernel's function is applied to their dot products.
const ROWS_A_BATCH: usize = 12;

/// The most pairs of rows, and the most products, that are computed without a panel.
const FEW_PAIRS: usize = 64;
const FEW_PRODUCTS: f64 = 1024.0;

/// Dot products that the kernel's function is applied to at a time, without a panel.
const LANES_OF_FEW: usize = 8;

/// A kernel between panels and the rows of some points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles<'a, T: Real> {
    kernel: &'a dyn Kernel,
    points: &'a Points,
    fast: Option<(DotFunction, &'a Packed<T>)>,
    arch: Arch,
}

impl<'a, T: Packable> Tiles<'a, T> {
    /// A kernel whose passing rows are those of `points`, which are packed at the first call for these points.
    pub(crate) fn new(kernel: &'a dyn Kernel, points: &'a Points) -> Self {
        let pack = || Packed::new(points.seen());
        let fast = kernel.of_dots().map(|function| (function, T::place(points).get_or_init(pack)));
        Tiles { kernel, points, fast, arch: Arch::new() }
    }
}

impl<'a, T: Real> Tiles<'a, T> {
    /// The points whose rows pass by.
    pub(crate) fn points(&self) -> &'a Points {
        self.points
    }

    /// Whether values are computed by vector instructions rather than one by one.
    pub(crate) fn is_fast(&self) -> bool {
        self.fast.is_some()
    }

    /// The cost of one kernel value in multiplications: the entries of a row, and a few for the kernel's function.
    pub(crate) fn cost(&self) -> f64 {
        let Some((_, packed)) = self.fast else { return 10.0 * self.points.matrix().columns() as f64 };
        let rows = packed.norms.len().max(1) as f64;
        match &packed.layout {
            Layout::Dense { columns, .. } => *columns as f64 / 2.0,
            Layout::Sparse { values, .. } if packed.binary => values.len() as f64 / rows / 4.0,
            Layout::Sparse { values, .. } => values.len() as f64 / rows,
        }
    }

    /// An empty panel for up to [`Real::LANES`] rows of `points`.
    pub(crate) fn panel<'p>(&self, points: &'p Points) -> Panel<'p, T> {
        Panel::new(points, T::LANES)
    }

    /// An empty panel for up to [`Real::NARROW`] rows, which costs less than a wide one with most lanes empty.
    pub(crate) fn narrow_panel<'p>(&self, points: &'p Points) -> Panel<'p, T> {
        Panel::new(points, T::NARROW)
    }

    /// An empty panel for one row. The kernel's function is then applied to several passing rows side by side.
    pub(crate) fn single_panel<'p>(&self, points: &'p Points) -> Panel<'p, T> {
        Panel::new(points, 1)
    }

    /// Replaces the rows of a panel.
    ///
    /// # Panics
    /// When there are more rows than lanes.
    pub(crate) fn load(&self, panel: &mut Panel<'_, T>, rows: &[usize]) {
        assert!(rows.len() <= panel.lanes, "a panel has {} lanes", panel.lanes);
        panel.list.clear();
        panel.list.extend_from_slice(rows);
        let Some((_, packed)) = self.fast else { return };
        panel.load(packed, std::ptr::eq(panel.points, self.points));
    }

    /// Kernel values of few pairs of rows without a panel: `out[i * right.len() + j] = k(left i, right j)`, with the bits of
    /// [`Tiles::fill`]. Returns `false` and does nothing where a panel is faster.
    ///
    /// A machine of four rows takes one microsecond this way and twenty with a panel.
    pub(crate) fn few(&self, left: &[usize], right: &[usize], out: &mut [T]) -> bool {
        let Some((function, packed)) = self.fast else { return false };
        let pairs = left.len() * right.len();
        if pairs > FEW_PAIRS || pairs as f64 * self.cost() > FEW_PRODUCTS {
            return false;
        }
        let constant = T::of(if self.points.folded() { 1.0 } else { 0.0 });
        let laid = packed.layout.borrow();
        let is_far_out = function.may_cancel(packed.largest.plus(packed.largest));
        vectorised(
            self.arch,
            #[inline(always)]
            || {
                for (&i, out) in left.iter().zip(out.chunks_mut(right.len().max(1))) {
                    for (right, out) in right.chunks(LANES_OF_FEW).zip(out.chunks_mut(LANES_OF_FEW)) {
                        let (mut dots, mut norms) = ([T::default(); LANES_OF_FEW], [T::default(); LANES_OF_FEW]);
                        for (lane, &j) in right.iter().enumerate() {
                            dots[lane] = dot_of_rows(laid, i, j);
                            norms[lane] = packed.norms[j];
                        }
                        let mut values = [T::default(); LANES_OF_FEW];
                        function.apply(&dots, constant, packed.norms[i], &norms, &mut values);
                        if is_far_out {
                            let matrix = self.points.matrix();
                            for (lane, &j) in right.iter().enumerate() {
                                let norms = packed.norms[i].plus(norms[lane]);
                                let distance = || squared_differences(matrix, i, matrix, j);
                                if let Some(mended) = function.mended(norms, dots[lane], distance) {
                                    values[lane] = mended;
                                }
                            }
                        }
                        out.copy_from_slice(&values[..right.len()]);
                    }
                }
            },
        );
        true
    }

    /// Kernel values of the rows at `places` with all lanes of a panel: `out[targets[k] + lane] = k(row places[k], lane)`. Lanes without a
    /// row get arbitrary values.
    pub(crate) fn fill(&self, panel: &Panel<'_, T>, places: &[u32], targets: &[usize], out: &mut [T]) {
        let Some((function, packed)) = self.fast else { return self.fill_slowly(panel, places, targets, out) };
        let constant = T::of(if self.points.folded() { 1.0 } else { 0.0 });
        // Clearing memory for all lanes would take longer than computing a few values.
        let (mut many, mut few);
        let dots: &mut [T] = if panel.lanes > 1 {
            many = [T::default(); MOST_LANES * ROWS_A_BATCH];
            &mut many[..panel.lanes * ROWS_A_BATCH]
        } else {
            few = [T::default(); ROWS_A_BATCH];
            &mut few
        };
        let laid = packed.layout.borrow();
        // A dense row of very many columns is treated as a sparse row with an entry in each.
        let all: Vec<u32> = match laid {
            Laid::Dense { columns, .. } if !panel.slots.is_empty() => (0..columns as u32).collect(),
            _ => Vec::new(),
        };
        let is_far_out = function.may_cancel(packed.largest.plus(panel.largest));
        for (places, targets) in places.chunks(ROWS_A_BATCH).zip(targets.chunks(ROWS_A_BATCH)) {
            self.batch(laid, panel, places, &all, dots);
            let finish = Finish { function, constant, packed, norms: &panel.norms, places, targets };
            match panel.lanes {
                64 => finish.run::<64>(self.arch, dots, out),
                32 => finish.run::<32>(self.arch, dots, out),
                16 => finish.run::<16>(self.arch, dots, out),
                8 => finish.run::<8>(self.arch, dots, out),
                _ => finish.run_across(self.arch, dots, out),
            }
            if is_far_out {
                self.mend(function, packed, panel, (places, targets), dots, out);
            }
        }
    }

    /// Computes once more, from differences, the values of a batch whose distances have lost digits.
    #[cold]
    fn mend(
        &self,
        function: DotFunction,
        packed: &Packed<T>,
        panel: &Panel<'_, T>,
        (places, targets): (&[u32], &[usize]),
        dots: &[T],
        out: &mut [T],
    ) {
        let (passing, standing) = (self.points.matrix(), panel.points.matrix());
        for ((&place, &target), dots) in places.iter().zip(targets).zip(dots.chunks(panel.lanes)) {
            let place = place as usize;
            let norm = packed.norms[place];
            if !function.may_cancel(norm.plus(panel.largest)) {
                continue;
            }
            for (lane, &row) in panel.list.iter().enumerate() {
                let distance = || squared_differences(passing, place, standing, row);
                if let Some(mended) = function.mended(norm.plus(panel.norms[lane]), dots[lane], distance) {
                    out[target + lane] = mended;
                }
            }
        }
    }

    /// Dot products of at most [`ROWS_A_BATCH`] rows with all lanes of a panel: `dots[k * lanes + lane]`.
    fn batch(&self, laid: Laid<'_, T>, panel: &Panel<'_, T>, places: &[u32], all: &[u32], dots: &mut [T]) {
        let slots = (!panel.slots.is_empty()).then_some(&panel.slots[..]);
        let mut sparse = [SparseRow::default(); ROWS_A_BATCH];
        let translated = self.slots_of_rows(laid, panel, places);
        match laid {
            Laid::Sparse { offsets, values, .. } if panel.sought.is_some() => {
                let mut rest = &translated[..];
                for (row, &place) in sparse.iter_mut().zip(places) {
                    let span = offsets[place as usize] as usize..offsets[place as usize + 1] as usize;
                    let (columns, others) = rest.split_at(span.len());
                    *row = SparseRow { columns, values: &values[span] };
                    rest = others;
                }
            }
            Laid::Sparse { offsets, indices, values } => {
                for (row, &place) in sparse.iter_mut().zip(places) {
                    let span = offsets[place as usize] as usize..offsets[place as usize + 1] as usize;
                    *row = SparseRow { columns: &indices[span.clone()], values: &values[span] };
                }
            }
            Laid::Dense { columns, values } if slots.is_some() => {
                for (row, &place) in sparse.iter_mut().zip(places) {
                    *row = SparseRow { columns: all, values: &values[place as usize * columns..][..columns] };
                }
            }
            Laid::Dense { columns, values } => {
                let mut dense: [&[T]; ROWS_A_BATCH] = [&[]; ROWS_A_BATCH];
                for (row, &place) in dense.iter_mut().zip(places) {
                    *row = &values[place as usize * columns..][..columns];
                }
                for first in (0..panel.lanes).step_by(panel.group) {
                    let group = &panel.values[first * columns..][..panel.group * columns];
                    let (rows, dots) = (&dense[..places.len()], &mut dots[first..]);
                    match panel.group {
                        16 => T::dense_dots::<16>(self.arch, rows, group, dots, panel.lanes),
                        8 => T::dense_dots::<8>(self.arch, rows, group, dots, panel.lanes),
                        _ => T::dense_dots::<1>(self.arch, rows, group, dots, panel.lanes),
                    }
                }
                return;
            }
        }
        let (rows, lanes) = (&sparse[..places.len()], panel.lanes);
        match (lanes, panel.binary) {
            (64, true) => count_common::<T, 64>(self.arch, rows, slots, &panel.bytes, dots),
            (32, true) => count_common::<T, 32>(self.arch, rows, slots, &panel.bytes, dots),
            (16, true) => count_common::<T, 16>(self.arch, rows, slots, &panel.bytes, dots),
            (8, true) => count_common::<T, 8>(self.arch, rows, slots, &panel.bytes, dots),
            (_, true) => count_common::<T, 1>(self.arch, rows, slots, &panel.bytes, dots),
            (64, false) => T::sparse_dots::<64>(self.arch, rows, slots, &panel.values, dots, lanes),
            (32, false) => T::sparse_dots::<32>(self.arch, rows, slots, &panel.values, dots, lanes),
            (16, false) => T::sparse_dots::<16>(self.arch, rows, slots, &panel.values, dots, lanes),
            (8, false) => T::sparse_dots::<8>(self.arch, rows, slots, &panel.values, dots, lanes),
            (_, false) => T::sparse_dots::<1>(self.arch, rows, slots, &panel.values, dots, lanes),
        }
    }

    /// The slots of the columns of passing rows, row after row, where a panel has no table of all columns; else nothing.
    fn slots_of_rows(&self, laid: Laid<'_, T>, panel: &Panel<'_, T>, places: &[u32]) -> Vec<u32> {
        let (Some(sought), Laid::Sparse { offsets, indices, .. }) = (&panel.sought, laid) else { return Vec::new() };
        let span = |&place: &u32| offsets[place as usize] as usize..offsets[place as usize + 1] as usize;
        places.iter().flat_map(|place| &indices[span(place)]).map(|&column| sought.get(column)).collect()
    }

    fn fill_slowly(&self, panel: &Panel<'_, T>, places: &[u32], targets: &[usize], out: &mut [T]) {
        let mut values = vec![0.0; panel.list.len()];
        for (&place, &target) in places.iter().zip(targets) {
            let row = [place as usize];
            self.kernel.block(self.points.rows(&row), panel.points.rows(&panel.list), &mut values);
            let out = &mut out[target..target + panel.lanes];
            out.fill(T::default());
            out.iter_mut().zip(&values).for_each(|(out, &value)| *out = T::of(value));
        }
    }
}

/// Turns dot products into kernel values and writes them to their places.
struct Finish<'a, T> {
    function: DotFunction,
    constant: T,
    packed: &'a Packed<T>,
    norms: &'a [T],
    places: &'a [u32],
    targets: &'a [usize],
}

impl<T: Real> Finish<'_, T> {
    fn run<const L: usize>(&self, arch: Arch, dots: &[T], out: &mut [T]) {
        let Some(norms) = self.norms.first_chunk::<L>() else { return };
        vectorised(
            arch,
            #[inline(always)]
            || {
                let rows = self.places.iter().zip(self.targets).zip(dots.as_chunks::<L>().0);
                for ((&place, &target), dots) in rows {
                    if let Some(out) = out[target..].first_chunk_mut::<L>() {
                        self.function.apply(dots, self.constant, self.packed.norms[place as usize], norms, out);
                    }
                }
            },
        );
    }

    /// [`Finish::run`] for a panel of one row: the passing rows of a batch are the lanes.
    fn run_across(&self, arch: Arch, dots: &[T], out: &mut [T]) {
        let Some(dots) = dots.first_chunk::<ROWS_A_BATCH>() else { return };
        let (mut norms, mut values) = ([T::default(); ROWS_A_BATCH], [T::default(); ROWS_A_BATCH]);
        for (norm, &place) in norms.iter_mut().zip(self.places) {
            *norm = self.packed.norms[place as usize];
        }
        vectorised(
            arch,
            #[inline(always)]
            || self.function.apply(dots, self.constant, self.norms[0], &norms, &mut values),
        );
        self.targets.iter().zip(values).for_each(|(&target, value)| out[target] = value);
    }
}

/// The dot product of two rows with the bits of a panel: the sum over columns in increasing order, with fused multiplications.
#[inline(always)]
fn dot_of_rows<T: Real>(laid: Laid<'_, T>, i: usize, j: usize) -> T {
    let mut sum = T::default();
    match laid {
        Laid::Dense { columns, values } => {
            let (x, z) = (&values[i * columns..][..columns], &values[j * columns..][..columns]);
            for (&x, &z) in x.iter().zip(z) {
                sum = x.fused(z, sum);
            }
        }
        Laid::Sparse { offsets, indices, values } => {
            let (mut a, mut b) = (offsets[i] as usize, offsets[j] as usize);
            let (end_a, end_b) = (offsets[i + 1] as usize, offsets[j + 1] as usize);
            while a < end_a && b < end_b {
                let (first, second) = (indices[a], indices[b]);
                if first == second {
                    sum = values[a].fused(values[b], sum);
                }
                a += usize::from(first <= second);
                b += usize::from(second <= first);
            }
        }
    }
    sum
}

/// Dot products of rows whose entries are all 1: the number of columns in common, counted in bytes.
fn count_common<T: Real, const L: usize>(
    arch: Arch,
    rows: &[SparseRow<'_, T>],
    slots: Option<&[u32]>,
    bytes: &[u8],
    dots: &mut [T],
) {
    let bytes = bytes.as_chunks::<L>().0;
    vectorised(
        arch,
        #[inline(always)]
        || {
            for (row, dots) in rows.iter().zip(dots.as_chunks_mut::<L>().0) {
                let mut counts = [0u8; L];
                for &column in row.columns {
                    let slot = slots.map_or(column, |slots| slots[column as usize]);
                    if let Some(lanes) = bytes.get(slot as usize) {
                        for lane in 0..L {
                            counts[lane] = counts[lane].wrapping_add(lanes[lane]);
                        }
                    }
                }
                for lane in 0..L {
                    dots[lane] = T::count(counts[lane]);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::panel::FEW_COLUMNS;
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{
        ChiSquare, Custom, KernelFunction, Laplacian, Linear, Polynomial, Precomputed, Rbf, Sigmoid, Sum,
    };

    /// More columns than a panel has places for.
    const MANY_COLUMNS: usize = FEW_COLUMNS + 900;

    /// Random rows, each entry there with probability `density`; row 3 is empty and column 1 never used.
    fn random(seed: u64, rows: usize, columns: usize, density: f64, ones: bool) -> Matrix {
        let mut generator = Pcg64::seed_from_u64(seed);
        let mut values = vec![0.0; rows * columns];
        for row in (0..rows).filter(|&row| row != 3) {
            for column in (0..columns).filter(|&column| column != 1) {
                let value = if ones { 1.0 } else { f64::from(generator.random_range(1..4000)) / 3333.0 };
                if generator.random_bool(density) {
                    values[row * columns + column] = value;
                }
            }
        }
        Matrix::dense(rows, columns, values).unwrap()
    }

    /// Every layout that rows can have.
    fn samples() -> Vec<(&'static str, Matrix)> {
        let wide = random(5, 30, MANY_COLUMNS, 0.003, false);
        let single = random(7, 40, 17, 0.7, false);
        let single: Vec<f32> = (0..40).flat_map(|row| single.row(row)).map(|value| value as f32).collect();
        let single = Matrix::dense(40, 17, single).unwrap();
        vec![
            ("dense", random(1, 75, 13, 0.8, false)),
            ("dense, stored as sparse", random(2, 40, 30, 0.8, false).to_sparse()),
            ("sparse", random(3, 75, 40, 0.2, false).to_sparse()),
            ("sparse, stored as dense", random(3, 75, 40, 0.2, false)),
            ("ones", random(4, 75, 50, 0.2, true).to_sparse()),
            ("too many ones to count in a byte", random(4, 20, 900, 0.4, true).to_sparse()),
            ("wide", wide.to_sparse()),
            ("wide, stored as dense", wide),
            ("wide ones", random(6, 30, MANY_COLUMNS, 0.003, true).to_sparse()),
            ("wide and dense", random(8, 9, MANY_COLUMNS, 0.7, false)),
            ("single precision", single.clone()),
            ("single precision, sparse", {
                let csr = random(9, 30, 20, 0.2, false).to_sparse();
                let Matrix::Sparse(csr) = csr else { unreachable!() };
                let values: Vec<f32> = (0..csr.values().len()).map(|k| csr.values().get(k) as f32).collect();
                Matrix::sparse(30, 20, csr.offsets().to_vec(), csr.indices().to_vec(), values).unwrap()
            }),
            ("one row", random(10, 1, 5, 1.0, false)),
            ("a stored zero", Matrix::sparse(2, 9, vec![0, 2, 3], vec![0, 4, 0], vec![1.0, 0.0, 1.0]).unwrap()),
            ("no columns", Matrix::without_columns(5)),
            ("no entries", Matrix::sparse(4, 3, vec![0; 5], Vec::new(), Vec::<f64>::new()).unwrap()),
        ]
    }

    fn dot_kernels(columns: usize) -> Vec<Box<dyn Kernel>> {
        let gamma = 1.0 / columns.max(1) as f64;
        vec![
            Box::new(Linear {}),
            Box::new(Polynomial { gamma, coef0: 0.5, degree: 3 }),
            Box::new(Polynomial { gamma, coef0: 0.0, degree: 1 }),
            Box::new(Rbf { gamma }),
            Box::new(Sigmoid { gamma, coef0: -0.25 }),
        ]
    }

    fn other_kernels(columns: usize) -> Vec<Box<dyn Kernel>> {
        let gamma = 1.0 / columns.max(1) as f64;
        let parts = vec![KernelFunction::Linear(Linear {}), KernelFunction::Rbf(Rbf { gamma })];
        vec![
            Box::new(Laplacian { gamma }),
            Box::new(ChiSquare { gamma }),
            Box::new(Sum { parts }),
            Box::new(Custom::new("least", |x, z| x.iter().zip(z).map(|(a, b)| a.min(*b)).sum())),
        ]
    }

    /// The value of each pair, `[passing row][row of the panel]`, with panels filled from the front.
    fn table<T: Real>(tiles: &Tiles<'_, T>, points: &Points, lanes: usize) -> Vec<f64> {
        let mut panel = Panel::new(points, lanes);
        let (rows, columns) = (tiles.points.len(), points.len());
        let mut out = vec![f64::NAN; rows * columns];
        let all: Vec<usize> = (0..columns).collect();
        for list in all.chunks(panel.lanes()) {
            tiles.load(&mut panel, list);
            assert_eq!(panel.len(), list.len());
            let places: Vec<u32> = (0..rows as u32).collect();
            for (row, values) in fill(tiles, &panel, &places).chunks(panel.lanes()).enumerate() {
                for (&column, &value) in list.iter().zip(values) {
                    out[row * columns + column] = value;
                }
            }
        }
        out
    }

    fn fill<T: Real>(tiles: &Tiles<'_, T>, panel: &Panel<'_, T>, places: &[u32]) -> Vec<f64> {
        let targets: Vec<usize> = (0..places.len()).map(|k| k * panel.lanes()).collect();
        let mut values = vec![T::default(); places.len() * panel.lanes()];
        tiles.fill(panel, places, &targets, &mut values);
        values.into_iter().map(Into::into).collect()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    fn agree_with_blocks<T: Packable>(tolerance: f64) {
        for (name, matrix) in samples() {
            for folded in [false, true] {
                let points = Points::new(matrix.clone(), folded);
                let all: Vec<usize> = (0..points.len()).collect();
                let fast = dot_kernels(matrix.columns()).into_iter().map(|kernel| (kernel, true));
                let slow = other_kernels(matrix.columns()).into_iter().map(|kernel| (kernel, false));
                for (kernel, is_fast) in fast.chain(slow) {
                    let tiles = Tiles::<T>::new(&*kernel, &points);
                    assert_eq!(tiles.is_fast(), is_fast, "{kernel:?}");
                    let mut expected = vec![0.0; all.len() * all.len()];
                    kernel.block(points.rows(&all), points.rows(&all), &mut expected);
                    let size = expected.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                    for lanes in [T::LANES, T::NARROW, 1] {
                        for (found, expected) in table(&tiles, &points, lanes).iter().zip(&expected) {
                            let near = (found - expected).abs() <= tolerance * size;
                            assert!(near, "{name}, {kernel:?}, folded {folded}: {found}, not {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_kernel_in_every_layout_agrees_with_its_blocks_in_double_precision() {
        agree_with_blocks::<f64>(1e-13);
    }

    #[test]
    fn every_kernel_in_every_layout_agrees_with_its_blocks_in_single_precision() {
        agree_with_blocks::<f32>(2e-5);
    }

    #[test]
    fn a_table_of_values_is_looked_up() {
        let values: Vec<f64> = (0..40 * 40).map(|k| f64::from((k / 40) * (k % 40)) + 0.5).collect();
        let points = Points::new(Matrix::dense(40, 40, values.clone()).unwrap(), false);
        let tiles = Tiles::<f64>::new(&Precomputed {}, &points);
        assert!(!tiles.is_fast());
        assert!([32, 8, 1].iter().all(|&lanes| table(&tiles, &points, lanes) == values));
    }

    fn pairs_alone<T: Packable>() {
        for (seed, (name, matrix)) in samples().into_iter().enumerate() {
            let mut generator = Pcg64::seed_from_u64(seed as u64);
            let points = Points::new(matrix, seed % 2 == 0);
            let rows = points.len();
            for kernel in dot_kernels(points.matrix().columns()) {
                let tiles = Tiles::<T>::new(&*kernel, &points);
                let expected = bits(&table(&tiles, &points, T::LANES));
                for i in 0..rows {
                    for j in 0..i {
                        assert_eq!(expected[i * rows + j], expected[j * rows + i], "{name}, {kernel:?}: ({i}, {j})");
                    }
                }
                // Few pairs, without a panel.
                for _ in 0..20 {
                    let mut list = |most: usize| -> Vec<usize> {
                        (0..generator.random_range(1..=most)).map(|_| generator.random_range(0..rows)).collect()
                    };
                    let (left, right) = (list(4), list(16));
                    let mut found = vec![T::default(); left.len() * right.len()];
                    if tiles.few(&left, &right, &mut found) {
                        let places = left.iter().flat_map(|i| right.iter().map(move |j| i * rows + j));
                        for (place, found) in places.zip(found) {
                            let found: f64 = found.into();
                            assert_eq!(found.to_bits(), expected[place], "{name}, {kernel:?}: few");
                        }
                    }
                }
                // The same panels, loaded again and again, with any rows anywhere in them.
                let mut panels = [tiles.panel(&points), tiles.narrow_panel(&points), tiles.single_panel(&points)];
                for _ in 0..20 {
                    for panel in &mut panels {
                        let count = generator.random_range(0..=panel.lanes());
                        let list: Vec<usize> = (0..count).map(|_| generator.random_range(0..rows)).collect();
                        tiles.load(panel, &list);
                        let mut places: Vec<u32> = (0..rows as u32).collect();
                        places.shuffle(&mut generator);
                        places.truncate(generator.random_range(0..=rows));
                        let found = fill(&tiles, panel, &places);
                        for (&place, values) in places.iter().zip(found.chunks(panel.lanes())) {
                            for (&row, value) in list.iter().zip(values) {
                                assert_eq!(
                                    value.to_bits(),
                                    expected[place as usize * rows + row],
                                    "{name}, {kernel:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_value_depends_on_its_pair_alone_and_on_no_order_in_double_precision() {
        pairs_alone::<f64>();
    }

    #[test]
    fn a_value_depends_on_its_pair_alone_and_on_no_order_in_single_precision() {
        pairs_alone::<f32>();
    }

    #[test]
    fn two_thousand_million_columns_take_no_memory_and_change_no_bit() {
        const COLUMNS: usize = 2_147_483_647;
        for ones in [false, true] {
            let Matrix::Sparse(csr) = random(21, 40, 90, 0.2, ones).to_sparse() else { unreachable!() };
            let spread: Vec<u32> = csr.indices().iter().map(|&column| column * (COLUMNS as u32 / 89)).collect();
            let wide = Matrix::sparse(40, COLUMNS, csr.offsets().to_vec(), spread, csr.values().clone()).unwrap();
            let (close, wide) = (Points::new(Matrix::Sparse(csr), false), Points::new(wide, false));
            let all: Vec<usize> = (0..40).collect();
            for kernel in dot_kernels(90) {
                let (tiles, others) = (Tiles::<f64>::new(&*kernel, &close), Tiles::<f64>::new(&*kernel, &wide));
                for lanes in [32, 8, 1] {
                    let (found, expected) = (table(&others, &wide, lanes), table(&tiles, &close, lanes));
                    assert_eq!(bits(&found), bits(&expected), "{kernel:?}");
                }
                let values = |points: &Points| {
                    let mut values = vec![0.0; 1600];
                    kernel.block(points.rows(&all), points.rows(&all), &mut values);
                    values
                };
                let size = values(&close).iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * size;
                assert!(values(&wide).iter().zip(&values(&close)).all(near), "{kernel:?}");
            }
        }
    }

    /// A matrix of the same rows, then `more`, with columns appended that no row uses.
    fn extended(matrix: &Matrix, more: &[Vec<f64>], columns: usize) -> Matrix {
        let rows = (0..matrix.rows()).map(|row| matrix.row(row)).chain(more.iter().cloned());
        let values: Vec<f64> = rows
            .flat_map(|mut row| {
                row.resize(columns, 0.0);
                row
            })
            .collect();
        Matrix::dense(matrix.rows() + more.len(), columns, values).unwrap()
    }

    fn layouts_agree<T: Packable>() {
        for ones in [false, true] {
            let matrix = random(11, 40, 30, 0.3, ones);
            let full: Vec<Vec<f64>> = (0..40).map(|row| vec![1.5 + f64::from(row); 30]).collect();
            let variants = [
                extended(&matrix, &[], 30),
                extended(&matrix, &full, 30),
                extended(&matrix, &full[..1], 30),
                extended(&matrix, &[], MANY_COLUMNS),
                extended(&matrix, &full[..1], MANY_COLUMNS),
            ];
            let layouts = [(true, ones), (false, false), (true, false), (true, ones), (true, false)];
            let gamma = 0.05;
            let kernels: [&dyn Kernel; 3] = [&Linear {}, &Rbf { gamma }, &Polynomial { gamma, coef0: 1.0, degree: 5 }];
            for kernel in kernels {
                let tables: Vec<Vec<u64>> = variants
                    .iter()
                    .zip(layouts)
                    .map(|(matrix, (sparse, binary))| {
                        let points = Points::new(matrix.clone(), true);
                        let tiles = Tiles::<T>::new(kernel, &points);
                        let (_, packed) = tiles.fast.unwrap();
                        assert_eq!(matches!(packed.layout, Layout::Sparse { .. }), sparse);
                        assert_eq!(packed.binary, binary);
                        let whole = table(&tiles, &points, T::LANES);
                        let shared: Vec<f64> =
                            (0..40).flat_map(|row| whole[row * points.len()..][..40].to_vec()).collect();
                        bits(&shared)
                    })
                    .collect();
                assert!(tables.iter().all(|table| *table == tables[0]), "{kernel:?}, ones: {ones}");
            }
        }
    }

    #[test]
    fn the_layout_of_the_rows_does_not_change_a_bit() {
        layouts_agree::<f64>();
        layouts_agree::<f32>();
    }

    #[test]
    fn a_panel_holds_ones_and_other_numbers_by_turns() {
        for columns in [60, MANY_COLUMNS] {
            let passing = Points::new(random(12, 20, columns, 0.02, true).to_sparse(), false);
            let mixed = extended(&random(13, 20, columns, 0.02, true), &[vec![0.25; columns]], columns);
            let mixed = Points::new(mixed, false);
            let tiles = Tiles::<f64>::new(&Linear {}, &passing);
            let mut panel = tiles.panel(&mixed);
            for round in 0..6 {
                let list: Vec<usize> = if round % 2 == 0 { (0..20).collect() } else { vec![20, round] };
                tiles.load(&mut panel, &list);
                assert_eq!(panel.binary, round % 2 == 0);
                let mut expected = vec![0.0; 20 * list.len()];
                let all: Vec<usize> = (0..20).collect();
                Linear {}.block(passing.rows(&all), mixed.rows(&list), &mut expected);
                let found = fill(&tiles, &panel, &(0..20).collect::<Vec<u32>>());
                for (expected, found) in expected.chunks(list.len()).zip(found.chunks(panel.lanes())) {
                    assert_eq!(expected, &found[..list.len()], "quarters are exact");
                }
            }
        }
    }

    fn machine_and_scalar<T: Packable>() {
        for (name, matrix) in samples() {
            let points = Points::new(matrix, true);
            for kernel in dot_kernels(points.matrix().columns()) {
                let tiles = Tiles::<T>::new(&*kernel, &points);
                let scalar = Tiles { arch: Arch::Scalar, ..tiles };
                for lanes in [T::LANES, T::NARROW, 1] {
                    let (found, expected) = (table(&tiles, &points, lanes), table(&scalar, &points, lanes));
                    assert_eq!(bits(&found), bits(&expected), "{name}, {kernel:?}");
                }
            }
        }
    }

    #[test]
    fn the_widest_instructions_and_none_at_all_give_the_same_bits() {
        machine_and_scalar::<f64>();
        machine_and_scalar::<f32>();
    }

    #[test]
    fn equal_rows_are_at_distance_zero_exactly() {
        fn check<T: Packable>() {
            for (name, matrix) in samples() {
                let points = Points::new(matrix, true);
                let tiles = Tiles::<T>::new(&Rbf { gamma: 1e6 }, &points);
                let values = table(&tiles, &points, T::LANES);
                assert!((0..points.len()).all(|row| values[row * (points.len() + 1)] == 1.0), "{name}");
            }
        }
        check::<f64>();
        check::<f32>();
    }

    #[test]
    #[should_panic(expected = "a panel has 8 lanes")]
    fn more_rows_than_lanes_are_refused() {
        let points = Points::new(random(16, 20, 2, 1.0, false), false);
        let tiles = Tiles::<f64>::new(&Linear {}, &points);
        tiles.load(&mut tiles.narrow_panel(&points), &(0..9).collect::<Vec<usize>>());
    }
}
