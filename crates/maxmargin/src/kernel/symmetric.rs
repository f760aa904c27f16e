//! The product with a symmetric part of the kernel matrix. Each kernel value is computed once and serves both of its rows.

use std::ops::{ControlFlow, Range};

use pulp::Arch;

use super::{Gram, Tiles};
use crate::simd::{Real, vectorised};

/// Rows that pass by a panel before their values are added up.
const ROWS_A_BLOCK: usize = 48;
const LANES: usize = f64::LANES;

/// Ranges of panels that are worked on between two polls of the caller. Fixed, so that the number of threads changes no bit.
const RANGES_AT_A_TIME: usize = 16;

impl Gram<'_> {
    /// `f_i = Σ_j c_j K[rows[i], rows[j]]` for all i, in double precision
    ///
    /// ```text
    /// f_i = Σ_{j in the panel of i} c_j K_ij + Σ_{j after} c_j K_ij + Σ_{j before} c_j K_ji              (K.10)
    /// ```
    ///
    /// The last sum was computed with the panels before i. About `values` kernel values are computed between two calls of `poll`.
    ///
    /// Cost: half of [`Gram::product`]'s kernel values. Memory: sixteen times as many numbers as there are rows, at most.
    pub(crate) fn symmetric_product<B>(
        &self,
        rows: &[usize],
        coefficients: &[f64],
        values: usize,
        poll: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Vec<f64>> {
        let tiles = Tiles::<f64>::new(self.kernel(), self.points());
        let places: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
        let mut sums = vec![0.0; rows.len()];
        // Smaller ranges for few rows, so that every thread gets some.
        let most = rows.len() * rows.len() / (2 * RANGES_AT_A_TIME);
        let ranges = ranges(rows.len(), (values / RANGES_AT_A_TIME).min(most).max(1));
        for wave in ranges.chunks(RANGES_AT_A_TIME) {
            poll()?;
            let task = |range: &mut Range<usize>| part(&tiles, range.clone(), rows, &places, coefficients);
            let parts = self.workers().map_parts(&mut wave.to_vec(), task);
            for (range, part) in wave.iter().zip(parts) {
                sums[range.start..].iter_mut().zip(part).for_each(|(sum, own)| *sum += own);
            }
        }
        ControlFlow::Continue(sums)
    }
}

/// Ranges of rows: each is made of whole panels and has about `values` kernel values.
fn ranges(count: usize, values: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < count {
        let wanted = values.div_ceil(count - start).next_multiple_of(LANES);
        let end = (start + wanted).min(count);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// The sums of (K.10) that the panels of a range add, for the rows from the range's beginning on.
fn part(tiles: &Tiles<'_, f64>, range: Range<usize>, rows: &[usize], places: &[u32], coefficients: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; rows.len() - range.start];
    let mut panel = tiles.panel(tiles.points());
    let mut values = vec![0.0; ROWS_A_BLOCK * LANES];
    let starts: [usize; ROWS_A_BLOCK] = std::array::from_fn(|k| k * LANES);
    let arch = Arch::new();
    for first in range.clone().step_by(LANES) {
        let last = (first + LANES).min(rows.len());
        tiles.load(&mut panel, &rows[first..last]);
        let mut own = [0.0; LANES];
        own[..last - first].copy_from_slice(&coefficients[first..last]);
        let mut sums = [0.0; LANES];
        // Within the panel every pair comes twice, so these values are not mirrored.
        for (block, mirrored) in [(first..last, false), (last..rows.len(), true)] {
            for start in block.clone().step_by(ROWS_A_BLOCK) {
                let span = start..(start + ROWS_A_BLOCK).min(block.end);
                tiles.fill(&panel, &places[span.clone()], &starts[..span.len()], &mut values);
                let rest = &mut out[span.start - range.start..span.end - range.start];
                let rest = if mirrored { rest } else { &mut [] };
                vectorised(
                    arch,
                    #[inline(always)]
                    || add(&values, &coefficients[span], &own, &mut sums, rest),
                );
            }
        }
        let target = &mut out[first - range.start..last - range.start];
        target.iter_mut().zip(sums).for_each(|(target, sum)| *target += sum);
    }
    out
}

/// Adds a block of values to the sums of the panel's rows, and to those of the block's rows unless `rest` is empty.
#[inline(always)]
fn add(values: &[f64], coefficients: &[f64], own: &[f64; LANES], sums: &mut [f64; LANES], rest: &mut [f64]) {
    let lines = values.as_chunks::<LANES>().0;
    for (line, &coefficient) in lines.iter().zip(coefficients) {
        for lane in 0..LANES {
            sums[lane] = coefficient.mul_add(line[lane], sums[lane]);
        }
    }
    for (line, rest) in lines.iter().zip(rest) {
        let mut products = [0.0; 8];
        for eight in 0..LANES / 8 {
            for lane in 0..8 {
                products[lane] = own[8 * eight + lane].mul_add(line[8 * eight + lane], products[lane]);
            }
        }
        *rest += products.iter().sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Kernel, Laplacian, Points, Rbf};
    use crate::workers::Workers;

    fn points(rows: usize) -> Points {
        let value = |k: usize| if k.is_multiple_of(3) { 0.0 } else { (k as f64 * 0.37).sin() };
        Points::new(Matrix::dense(rows, 5, (0..rows * 5).map(value).collect::<Vec<f64>>()).unwrap(), false)
    }

    fn product(gram: &Gram<'_>, rows: &[usize], coefficients: &[f64], values: usize) -> Vec<f64> {
        let mut poll = || ControlFlow::<()>::Continue(());
        gram.symmetric_product(rows, coefficients, values, &mut poll).continue_value().unwrap()
    }

    #[test]
    fn it_is_the_plain_product_for_every_size() {
        let kernels: [&dyn Kernel; 2] = [&Rbf { gamma: 0.3 }, &Laplacian { gamma: 0.2 }];
        for (kernel, count) in
            kernels.into_iter().flat_map(|kernel| [0, 1, 2, 31, 32, 33, 100, 333].map(|n| (kernel, n)))
        {
            let (points, workers) = (points(count + 3), Workers::none());
            let gram = Gram::new(kernel, &points, &workers);
            // Every row but some, one of them twice.
            let mut rows: Vec<usize> = (3..count + 3).collect();
            rows.iter_mut().take(1).for_each(|row| *row = count + 2);
            let coefficients: Vec<f64> = (0..count).map(|k| (k as f64 * 0.9).cos()).collect();
            let expected = gram.product(&rows, &rows, &coefficients);
            for values in [1, 2_000, 1_000_000] {
                let found = product(&gram, &rows, &coefficients, values);
                assert_eq!(found.len(), count);
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-11 * (1.0 + b.abs());
                assert!(found.iter().zip(&expected).all(near), "{kernel:?}, {count} rows, {values} values");
            }
        }
    }

    #[test]
    fn threads_change_no_bits_and_a_break_ends_it() {
        let points = points(700);
        let rows: Vec<usize> = (0..700).collect();
        let coefficients: Vec<f64> = (0..700).map(|k| (k as f64 * 0.9).cos()).collect();
        let bits = |threads: usize| -> Vec<u64> {
            let workers = Workers::new(threads).unwrap();
            let gram = Gram::new(&Rbf { gamma: 0.3 }, &points, &workers);
            product(&gram, &rows, &coefficients, 50_000).iter().map(|value| value.to_bits()).collect()
        };
        assert!([2, 3, 4].into_iter().all(|threads| bits(threads) == bits(1)));
        let workers = Workers::none();
        let gram = Gram::new(&Rbf { gamma: 0.3 }, &points, &workers);
        let broken = gram.symmetric_product(&rows, &coefficients, 50_000, &mut || ControlFlow::Break(7));
        assert!(matches!(broken, ControlFlow::Break(7)));
    }
}
