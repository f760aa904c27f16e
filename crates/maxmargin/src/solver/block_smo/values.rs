//! Fills in the kernel values of a block.

use super::block::{Block, FEW};
use super::rows::{GROUP, panels};
use crate::kernel::{ClassValues, Gram, Tiles};
use crate::simd::Real;

/// Rows that are transposed at a time: as many entries of one column stay in the L1 cache for any stride.
const TURNED: usize = 8;

/// Fills in the kernel values between these rows, each pair once when `mirrored`.
pub(super) fn fill<T: Real>(
    block: &mut Block<T>,
    tiles: &Tiles<'_, T>,
    gram: &Gram<'_>,
    rows: &[usize],
    mirrored: bool,
) {
    let stride = Block::<T>::stride(rows.len());
    let passing: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
    let panels = panels(tiles, rows);
    gram.workers().fill_chunks(&mut block.kernel, GROUP * stride, |start, chunk| {
        let (first, count) = (start / stride, chunk.len() / stride);
        let skipped = if mirrored { first / T::LANES } else { 0 };
        for (number, panel) in panels.iter().enumerate().skip(skipped) {
            let targets: Vec<usize> = (0..count).map(|k| k * stride + number * T::LANES).collect();
            tiles.fill(panel, &passing[first..first + count], &targets, chunk);
        }
    });
    if mirrored {
        block.mirror(GROUP);
    }
}

/// Makes a block of few rows and fills in its kernel values without panels. Values within the first `split` rows and within the others come from
/// the shared pool, if it has them; values between the two groups are computed one by one. Returns `false`, with no values filled in, where
/// panels are faster.
pub(super) fn fill_few(
    block: &mut Block<f64>,
    tiles: &Tiles<'_, f64>,
    gram: &Gram<'_>,
    rows: &[usize],
    split: usize,
) -> bool {
    if rows.len() > FEW {
        return false;
    }
    let (one, other) = rows.split_at(split);
    let mut across = [0.0; FEW * FEW / 4];
    let across = &mut across[..one.len() * other.len()];
    if !tiles.few(one, other, across) {
        return false;
    }
    block.resize_to_few(rows.len());
    for (i, values) in across.chunks(other.len().max(1)).enumerate() {
        for (j, &value) in values.iter().enumerate() {
            block.kernel[i * FEW + split + j] = value;
            block.kernel[(split + j) * FEW + i] = value;
        }
    }
    [(one, 0), (other, split)].into_iter().all(|(rows, first)| fill_among(block, tiles, gram, rows, first))
}

/// Fills in the kernel values within some rows of a small block, which begin at place `first`.
fn fill_among(block: &mut Block<f64>, tiles: &Tiles<'_, f64>, gram: &Gram<'_>, rows: &[usize], first: usize) -> bool {
    let Some(&lead) = rows.first() else { return true };
    if let Some(shared) = gram.shared()
        && let Some((class, _)) = shared.place(lead)
        && rows.iter().all(|&row| shared.place(row).is_some_and(|(other, _)| other == class))
    {
        let values = shared.values(class, gram);
        let size = values.len().isqrt();
        let place = |row: usize| shared.place(row).map_or(0, |(_, place)| place);
        for (i, &row) in rows.iter().enumerate() {
            let values = &values[place(row) * size..][..size];
            let out = &mut block.kernel[(first + i) * FEW + first..][..rows.len()];
            out.iter_mut().zip(rows).for_each(|(out, &other)| *out = values[place(other)]);
        }
        return true;
    }
    let mut room = [0.0; FEW * FEW];
    let values = &mut room[..rows.len() * rows.len()];
    if !tiles.few(rows, rows, values) {
        return false;
    }
    for (i, values) in values.chunks(rows.len()).enumerate() {
        block.kernel[(first + i) * FEW + first..][..rows.len()].copy_from_slice(values);
    }
    true
}

/// The rows of one class in a block: consecutive, from `first` on.
struct Span {
    class: usize,
    first: usize,
    /// The places of the rows in their class.
    places: Vec<usize>,
}

/// [`fill`] with the values within each class from the shared pool. `false` when a row has no class, the rows of a class are not side by
/// side, or there are more than two classes.
pub(super) fn fill_from<T: Real>(
    block: &mut Block<T>,
    shared: &ClassValues,
    tiles: &Tiles<'_, T>,
    gram: &Gram<'_>,
    rows: &[usize],
) -> bool {
    let Some(spans) = spans(shared, rows) else { return false };
    let stride = Block::<T>::stride(rows.len());
    let (one, other) = match spans.as_slice() {
        [one] => (one, None),
        [one, other] => (one, Some(other)),
        _ => return false,
    };
    let split = other.map_or(rows.len(), |other| other.first);
    let (above, below) = block.kernel.split_at_mut(split * stride);
    let passing: Vec<u32> = rows[..split].iter().map(|&row| row as u32).collect();
    let panels = panels(tiles, &rows[split..]);
    let values = shared.values(one.class, gram);
    gram.workers().fill_chunks(above, GROUP * stride, |start, chunk| {
        let (first, count) = (start / stride, chunk.len() / stride);
        for (row, &place) in chunk.chunks_mut(stride).zip(&one.places[first..]) {
            take(&mut row[..split], values, &one.places, place);
        }
        let mut tile = vec![T::default(); count * T::LANES];
        let targets: Vec<usize> = (0..count).map(|k| k * T::LANES).collect();
        for (number, panel) in panels.iter().enumerate() {
            tiles.fill(panel, &passing[first..first + count], &targets, &mut tile);
            let (column, width) = (split + number * T::LANES, panel.len());
            for (row, values) in chunk.chunks_mut(stride).zip(tile.chunks(T::LANES)) {
                row[column..column + width].copy_from_slice(&values[..width]);
            }
        }
    });
    if let Some(other) = other {
        let values = shared.values(other.class, gram);
        gram.workers().fill_chunks(below, GROUP * stride, |start, chunk| {
            let first = start / stride;
            for (row, &place) in chunk.chunks_mut(stride).zip(&other.places[first..]) {
                take(&mut row[split..rows.len()], values, &other.places, place);
            }
            // Transposes the values above the diagonal, few rows at a time, so that they stay in the L1 cache.
            for (number, rows) in chunk.chunks_mut(TURNED * stride).enumerate() {
                let (from, count) = (split + first + number * TURNED, rows.len() / stride);
                for (column, above) in above.chunks(stride).enumerate() {
                    for (k, &value) in above[from..from + count].iter().enumerate() {
                        rows[k * stride + column] = value;
                    }
                }
            }
        });
    }
    true
}

/// The spans of consecutive rows of one class.
fn spans(shared: &ClassValues, rows: &[usize]) -> Option<Vec<Span>> {
    let mut spans: Vec<Span> = Vec::new();
    for (k, &row) in rows.iter().enumerate() {
        let (class, place) = shared.place(row)?;
        match spans.last_mut() {
            Some(span) if span.class == class => span.places.push(place),
            _ => spans.push(Span { class, first: k, places: vec![place] }),
        }
    }
    Some(spans)
}

/// Copies the values of one row of a class with the rows at `places`.
fn take<T: Real>(out: &mut [T], values: &[f64], places: &[usize], place: usize) {
    let size = values.len().isqrt();
    let row = &values[place * size..(place + 1) * size];
    out.iter_mut().zip(places).for_each(|(out, &other)| *out = T::of(row[other]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Kernel, Laplacian, Linear, Points, Rbf};
    use crate::workers::Workers;

    #[test]
    fn a_handful_of_rows_has_the_bits_that_panels_give() {
        let numbers: Vec<f64> = (0..30 * 7).map(|k| (f64::from(k) * 0.37).sin()).collect();
        let (points, workers) = (Points::new(Matrix::dense(30, 7, numbers).unwrap(), false), Workers::none());
        for kernel in [&Rbf { gamma: 0.3 } as &dyn Kernel, &Linear {}] {
            let shared = ClassValues::new(vec![vec![3, 9, 4], vec![21, 7, 12, 0], vec![28]]);
            for (rows, split) in [(vec![3, 9, 4, 7, 0, 12], 3), (vec![4, 28], 1), (vec![9, 3, 21], 0)] {
                for shared in [None, Some(&shared)] {
                    let gram = Gram::new(kernel, &points, &workers).sharing(shared);
                    let tiles = Tiles::new(kernel, &points);
                    let (mut few, mut many) = (Block::<f64>::new(), Block::new());
                    assert!(fill_few(&mut few, &tiles, &gram, &rows, split));
                    many.resize(rows.len());
                    fill(&mut many, &tiles, &gram, &rows, true);
                    for k in 0..rows.len() {
                        assert_eq!(few.row(k)[..rows.len()], many.row(k)[..rows.len()], "{kernel:?} {rows:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_rows_and_kernels_without_dot_products_are_left_to_panels() {
        let (points, workers) = (Points::new(Matrix::without_columns(40), false), Workers::none());
        let rows: Vec<usize> = (0..40).collect();
        let (rbf, laplacian) = (Rbf { gamma: 0.3 }, Laplacian { gamma: 0.3 });
        for (kernel, count) in [(&rbf as &dyn Kernel, FEW + 1), (&laplacian, 4)] {
            let gram = Gram::new(kernel, &points, &workers);
            let tiles = Tiles::new(kernel, &points);
            assert!(!fill_few(&mut Block::new(), &tiles, &gram, &rows[..count], 2));
        }
    }
}
