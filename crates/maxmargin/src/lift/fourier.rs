//! Random Fourier features for the Gaussian kernel.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{Lift, assert_lengths, check_columns, check_size};
use crate::data::generate::two_normals;
use crate::error::Error;

/// A random map whose dot products are near the Gaussian kernel exp(−γ‖x − z‖²):
///
/// ```text
/// φ(x) = √(1/m) (cos⟨ωₖ, x⟩, sin⟨ωₖ, x⟩),   k = 1..m, ωₖ drawn from N(0, 2γ I)    (L.6)
/// ```
///
/// The mean over ω of ⟨φ(x), φ(z)⟩ = 1/m Σₖ cos⟨ωₖ, x − z⟩ is the kernel, and the standard deviation at most
/// √(1/(2m)); ⟨φ(x), φ(x)⟩ = 1 always. Cost of a row: O(d m).
///
/// # Examples
/// ```
/// use maxmargin::lift::{Fourier, Lift};
///
/// let map = Fourier::new(3, 100, 0.5, 42)?;
/// assert_eq!(map.output_columns(), 200);
/// # Ok::<(), maxmargin::Error>(())
/// ```
///
/// # References
/// A. Rahimi, B. Recht, Random features for large-scale kernel machines, NIPS 2007.
#[derive(Clone, Debug)]
pub struct Fourier {
    columns: usize,
    pairs: usize,
    /// ω₁, ω₂, ..., one after another.
    frequencies: Vec<f64>,
}

impl Fourier {
    /// A map of `columns` columns to `pairs` cosines and as many sines, drawn from a seed.
    ///
    /// # Errors
    /// When `pairs` is 0, `gamma` is not positive and finite, or the map would have more than
    /// [`MOST_COLUMNS`](super::MOST_COLUMNS) columns or keep more than [`MOST_ENTRIES`](super::MOST_ENTRIES) numbers.
    pub fn new(columns: usize, pairs: usize, gamma: f64, seed: u64) -> Result<Self, Error> {
        if pairs == 0 {
            return Err(Error::parameter("pairs", pairs, "1 or more"));
        }
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "above 0 and finite"));
        }
        check_columns(pairs.checked_mul(2))?;
        check_size("the random map", pairs, columns)?;
        let mut generator = Pcg64::seed_from_u64(seed);
        let deviation = std::f64::consts::SQRT_2 * gamma.sqrt();
        let mut frequencies = Vec::with_capacity(pairs * columns + 1);
        while frequencies.len() < pairs * columns {
            frequencies.extend(two_normals(&mut generator).map(|normal| deviation * normal));
        }
        frequencies.truncate(pairs * columns);
        Ok(Fourier { columns, pairs, frequencies })
    }
}

impl Lift for Fourier {
    fn input_columns(&self) -> usize {
        self.columns
    }

    fn output_columns(&self) -> usize {
        2 * self.pairs
    }

    fn lift_row(&self, x: &[f64], out: &mut [f64]) {
        assert_lengths(self, x, out);
        let scale = (1.0 / self.pairs as f64).sqrt();
        for (k, pair) in out.chunks_mut(2).enumerate() {
            let frequency = &self.frequencies[k * self.columns..(k + 1) * self.columns];
            let angle: f64 = frequency.iter().zip(x).map(|(frequency, x)| frequency * x).sum();
            // (L.6)
            let (sin, cos) = angle.sin_cos();
            pair.copy_from_slice(&[scale * cos, scale * sin]);
        }
    }

    fn names(&self, input: &[String]) -> Vec<String> {
        assert_eq!(input.len(), self.columns, "one name a column");
        (1..=self.pairs).flat_map(|k| [format!("fourier_cos_{k}"), format!("fourier_sin_{k}")]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dot, lifted};
    use super::*;
    use crate::data::generate;

    /// The mean distance between dot product and kernel over all pairs of 30 points.
    fn error(pairs: usize, seed: u64) -> f64 {
        let (gamma, data) = (0.7, generate("moons", 30, 1).unwrap());
        let points: Vec<Vec<f64>> = (0..30).map(|row| data.matrix().row(row)).collect();
        let map = Fourier::new(2, pairs, gamma, seed).unwrap();
        let images: Vec<Vec<f64>> = points.iter().map(|x| lifted(&map, x)).collect();
        let mut sum = 0.0;
        for i in 0..30 {
            for j in 0..30 {
                let square: f64 = points[i].iter().zip(&points[j]).map(|(x, z)| (x - z).powi(2)).sum();
                sum += (dot(&images[i], &images[j]) - (-gamma * square).exp()).abs();
            }
        }
        sum / 900.0
    }

    #[test]
    fn the_error_falls_with_more_features() {
        for seed in 0..10 {
            let [few, more, many] = [16, 256, 4096].map(|pairs| error(pairs, seed));
            assert!(many < more && more < few, "seed {seed}: {few}, {more}, {many}");
            assert!(many < 0.02, "seed {seed}: {many}");
        }
    }

    #[test]
    fn the_length_of_every_image_is_one_and_seeds_repeat() {
        let map = Fourier::new(3, 7, 2.0, 9).unwrap();
        let image = lifted(&map, &[0.3, -5.0, 2.0]);
        assert!((dot(&image, &image) - 1.0).abs() < 1e-14);
        assert_eq!(image, lifted(&Fourier::new(3, 7, 2.0, 9).unwrap(), &[0.3, -5.0, 2.0]));
        assert_ne!(image, lifted(&Fourier::new(3, 7, 2.0, 8).unwrap(), &[0.3, -5.0, 2.0]));
        assert_eq!(lifted(&Fourier::new(0, 1, 2.0, 9).unwrap(), &[]), [1.0, 0.0]);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert!(Fourier::new(2, 0, 1.0, 1).is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Fourier::new(2, 1, bad, 1).is_err(), "{bad}");
        }
        assert!(Fourier::new(2, usize::MAX, 1.0, 1).is_err());
        assert!(Fourier::new(1 << 30, 2, 1.0, 1).is_err());
    }
}
