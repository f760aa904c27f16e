//! The Gaussian kernel.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{DotFunction, Kernel, Rows, pairs};

/// The Gaussian kernel
///
/// ```text
/// k(x, z) = exp(−γ ‖x − z‖²),   γ > 0;   by its bandwidth σ: γ = 1/σ²    (K.3)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Rbf {
    /// γ, the inverse of the squared bandwidth.
    pub gamma: f64,
}

impl Kernel for Rbf {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        pairs::squared_distances(left, right, self.gamma, out);
        out.iter_mut().for_each(|value| *value = (-self.gamma * *value).exp()); // (K.3)
    }

    fn diagonal(&self, _: Rows<'_>, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn always_positive_semidefinite(&self) -> bool {
        true
    }

    fn of_dots(&self) -> Option<DotFunction> {
        Some(DotFunction::Rbf { gamma: self.gamma })
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Centre, Exponential, Gram, KernelFunction, Points, Tiles, precise_sums};
    use crate::workers::Workers;

    const ROWS: usize = 70;
    const COLUMNS: usize = 11;
    const GAMMA: f64 = 0.5;

    /// Rows near to each other around 0, and around places that are far from it: `place` says which one a row is at. Some numbers are 0.
    fn rows(seed: u64, place: fn(usize) -> f64) -> Matrix {
        let mut generator = Pcg64::seed_from_u64(seed);
        let mut number = |k: usize| {
            let number = generator.random_range(-0.5..0.5);
            if k % 5 == 2 { 0.0 } else { number + place(k / COLUMNS) }
        };
        let numbers: Vec<f64> = (0..ROWS * COLUMNS).map(&mut number).collect();
        Matrix::dense(ROWS, COLUMNS, numbers).unwrap()
    }

    /// Three rows far out, two far clusters, two clusters near to each other and far from 0, and one whose norms overflow.
    fn far_out(seed: u64) -> [(&'static str, Matrix); 4] {
        [
            ("three rows", rows(seed, |row| if row % 25 == 7 { 1e7 } else { 0.0 })),
            ("two clusters", rows(seed, |row| if row % 2 == 0 { 1e7 } else { -1e7 })),
            ("two clusters on one side", rows(seed, |row| if row % 2 == 0 { 1e7 } else { 1e7 + 1e5 })),
            ("overflow", rows(seed, |row| if row % 9 == 4 { 1e160 } else { 0.0 })),
        ]
    }

    /// Every value with about 30 digits, rounded.
    fn precise(points: &Points) -> Vec<f64> {
        let kernel = KernelFunction::Rbf(Rbf { gamma: GAMMA });
        let (all, workers): (Vec<usize>, _) = ((0..points.len()).collect(), Workers::none());
        let exponential = Exponential::Precise;
        let column =
            |j: usize| precise_sums(&kernel, exponential, points.rows(&all), points.rows(&[j]), &[1.0], 0.0, &workers);
        all.iter().flat_map(|&j| column(j)).collect()
    }

    fn block(points: &Points, workers: &Workers) -> Vec<f64> {
        let all: Vec<usize> = (0..points.len()).collect();
        let mut values = vec![f64::NAN; all.len() * all.len()];
        Gram::new(&Rbf { gamma: GAMMA }, points, workers).block(&all, &all, &mut values);
        values
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn values_of_rows_far_out_have_the_digits_of_rows_near_zero() {
        for seed in 0..10 {
            for (name, matrix) in far_out(seed) {
                for matrix in [matrix.clone(), matrix.to_sparse()] {
                    let centre = Centre::of(&KernelFunction::Rbf(Rbf { gamma: GAMMA }), &matrix);
                    let points = Points::around(&Workers::none(), matrix.clone(), seed % 2 == 0, centre);
                    // Twice as many digits end at 1e290, which the squares of 1e160 are above.
                    let expected = if name == "overflow" { by_differences(&matrix) } else { precise(&points) };
                    let all: Vec<usize> = (0..ROWS).collect();
                    let mut one_by_one = vec![f64::NAN; ROWS * ROWS];
                    Rbf { gamma: GAMMA }.block(points.rows(&all), points.rows(&all), &mut one_by_one);
                    for found in [block(&points, &Workers::none()), one_by_one] {
                        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
                            let near = (found - expected).abs() < 1e-11;
                            assert!(near, "seed {seed}, {name}, pair {place}: {found}, not {expected}");
                        }
                    }
                }
            }
        }
    }

    /// Values from differences, written down naively.
    fn by_differences(matrix: &Matrix) -> Vec<f64> {
        let distance = |i: usize, j: usize| -> f64 {
            matrix.row(i).iter().zip(matrix.row(j)).map(|(x, z)| (x - z) * (x - z)).sum()
        };
        (0..ROWS * ROWS).map(|place| (-GAMMA * distance(place / ROWS, place % ROWS)).exp()).collect()
    }

    #[test]
    fn norms_and_dot_products_alone_would_lose_every_digit() {
        let (_, matrix) = &far_out(0)[1];
        let dot = |i: usize, j: usize| -> f64 { matrix.row(i).iter().zip(matrix.row(j)).map(|(x, z)| x * z).sum() };
        let value = |i: usize, j: usize| (-GAMMA * (dot(i, i) + dot(j, j) - 2.0 * dot(i, j)).max(0.0)).exp();
        let expected = precise(&Points::new(matrix.clone(), false));
        let worst = (0..ROWS * ROWS).map(|place| (value(place / ROWS, place % ROWS) - expected[place]).abs());
        assert!(worst.fold(0.0, f64::max) > 0.1);
    }

    #[test]
    fn values_of_rows_far_out_depend_on_their_pair_alone() {
        for seed in 0..5 {
            for (name, matrix) in far_out(seed) {
                let (dense, sparse) = (Points::new(matrix.clone(), true), Points::new(matrix.to_sparse(), true));
                let whole = bits(&block(&dense, &Workers::none()));
                assert_eq!(bits(&block(&sparse, &Workers::none())), whole, "seed {seed}, {name}: sparse rows");
                assert_eq!(bits(&block(&dense, &Workers::new(3).unwrap())), whole, "seed {seed}, {name}: threads");
                let kernel = Rbf { gamma: GAMMA };
                let tiles = Tiles::<f64>::new(&kernel, &dense);
                let mut panels = [tiles.panel(&sparse), tiles.narrow_panel(&sparse), tiles.single_panel(&sparse)];
                for place in 0..ROWS * ROWS {
                    let (i, j) = (place / ROWS, place % ROWS);
                    assert_eq!(whole[place], whole[j * ROWS + i], "seed {seed}, {name}: ({i}, {j}) and its mirror");
                    let mut value = [0.0];
                    assert!(tiles.few(&[i], &[j], &mut value));
                    assert_eq!(value[0].to_bits(), whole[place], "seed {seed}, {name}: ({i}, {j}) alone");
                    let panel = &mut panels[place % 3];
                    tiles.load(panel, &[i]);
                    let mut values = vec![0.0; panel.lanes()];
                    tiles.fill(panel, &[j as u32], &[0], &mut values);
                    assert_eq!(values[0].to_bits(), whole[place], "seed {seed}, {name}: ({i}, {j}), a panel");
                }
            }
        }
    }

    #[test]
    fn values_of_rows_far_out_have_three_digits_in_single_precision() {
        for seed in 0..5 {
            for (name, matrix) in far_out(seed).into_iter().filter(|(name, _)| *name != "overflow") {
                let points = Points::new(matrix, false);
                let expected = precise(&points);
                let kernel = Rbf { gamma: GAMMA };
                let tiles = Tiles::<f32>::new(&kernel, &points);
                let mut panel = tiles.single_panel(&points);
                for i in 0..ROWS {
                    tiles.load(&mut panel, &[i]);
                    for j in 0..ROWS {
                        let mut value = [0.0];
                        tiles.fill(&panel, &[j as u32], &[0], &mut value);
                        let error = (f64::from(value[0]) - expected[i * ROWS + j]).abs();
                        assert!(error < 2e-3, "seed {seed}, {name}, ({i}, {j}): {error}");
                    }
                }
            }
        }
    }
}
