//! Made-up data of two classes in the plane, from a seed.
//!
//! Rows alternate between the labels `-1` and `+1`, so every beginning of the data is balanced; the columns are `x1`
//! and `x2`. The same seed gives the same bits, on one platform and with one version of the mathematics library
//! (`sin`, `cos` and `ln` may differ in the last bit elsewhere).

use std::f64::consts::{PI, TAU};

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Dataset, Label, Labels, Matrix};
use crate::error::{Error, quoted};

/// The names that [`generate`] knows.
pub const NAMES: [&str; 5] = ["blobs", "xor", "rings", "moons", "far-blob"];

/// The most rows that a generator makes.
pub const MOST_ROWS: usize = 100_000_000;

/// Data made by the generator called `name`, with its usual noise.
///
/// # Errors
/// When no generator has that name (the message lists those there are), or `rows` is not from 2 to [`MOST_ROWS`].
///
/// # Examples
/// ```
/// use maxmargin::data::generate;
///
/// let data = generate("moons", 100, 7)?;
/// assert_eq!((data.rows(), data.columns()), (100, 2));
/// assert_eq!(data.fingerprint(), generate("moons", 100, 7)?.fingerprint());
/// assert!(generate("suns", 100, 7).is_err());
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn generate(name: &str, rows: usize, seed: u64) -> Result<Dataset, Error> {
    match name {
        "blobs" => blobs(rows, 0.7, seed),
        "xor" => xor(rows, seed),
        "rings" => rings(rows, seed),
        "moons" => moons(rows, 0.1, seed),
        "far-blob" => far_blob(rows, 0.7, seed),
        _ => Err(Error::Data {
            what: format!("there is no generator {}", quoted(name)),
            help: format!("the generators are {}", NAMES.join(", ")),
        }),
    }
}

/// Two Gaussian classes around (−2, 0) and (2, 0), with standard deviation `noise`.
///
/// # Errors
/// When `rows` is not from 2 to [`MOST_ROWS`], or `noise` not from 0 to 1e100.
///
/// # Examples
/// ```
/// let data = maxmargin::data::generate::blobs(4, 0.0, 1)?;
/// assert_eq!(data.matrix().row(1), [2.0, 0.0]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn blobs(rows: usize, noise: f64, seed: u64) -> Result<Dataset, Error> {
    check_noise(noise)?;
    plane(rows, seed, |generator, row| {
        let sign = sign_of(row);
        (around([2.0 * sign, 0.0], noise, generator), sign)
    })
}

/// Points of the square [−1, 1]², labelled by quadrant:
///
/// ```text
/// y = sign(x₁ x₂),   0.05 ≤ |x₁|, |x₂| ≤ 1                             (DG.1)
/// ```
///
/// No line separates the classes; the product x₁ x₂ does, with room to spare.
///
/// # Errors
/// When `rows` is not from 2 to [`MOST_ROWS`].
///
/// # Examples
/// ```
/// let data = maxmargin::data::generate::xor(2, 1)?;
/// let x = data.matrix().row(1);
/// assert!(x[0] * x[1] > 0.0); // row 2 has the label +1
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn xor(rows: usize, seed: u64) -> Result<Dataset, Error> {
    plane(rows, seed, |generator, row| {
        let sign = sign_of(row);
        let side = if generator.random::<bool>() { 1.0 } else { -1.0 };
        let (size1, size2) = (between(0.05, 1.0, generator), between(0.05, 1.0, generator));
        ([side * size1, sign * side * size2], sign)
    })
}

/// A disc and a ring around it:
///
/// ```text
/// y = sign(1 − x₁² − x₂²),   x₁² + x₂² ≤ 0.9²  or  1.1² ≤ x₁² + x₂² ≤ 2²    (DG.2)
/// ```
///
/// No line separates the classes; a polynomial of degree 2 does. Points are spread evenly over each area.
///
/// # Errors
/// When `rows` is not from 2 to [`MOST_ROWS`].
///
/// # Examples
/// ```
/// let data = maxmargin::data::generate::rings(2, 1)?;
/// let x = data.matrix().row(0);
/// assert!(x[0] * x[0] + x[1] * x[1] > 1.0); // row 1 has the label -1
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn rings(rows: usize, seed: u64) -> Result<Dataset, Error> {
    plane(rows, seed, |generator, row| {
        let sign = sign_of(row);
        let (inner, outer) = if sign > 0.0 { (0.0, 0.9) } else { (1.1, 2.0) };
        // Even over the area: the square of the radius is even.
        let radius = between(inner * inner, outer * outer, generator).sqrt();
        let (sin, cos) = between(0.0, TAU, generator).sin_cos();
        ([radius * cos, radius * sin], sign)
    })
}

/// Two half circles that reach into each other, each point moved by a Gaussian with standard deviation `noise`:
///
/// ```text
/// y = −1: (cos t, sin t),   y = +1: (1 − cos t, 1/2 − sin t),   0 ≤ t < π    (DG.3)
/// ```
///
/// # Errors
/// When `rows` is not from 2 to [`MOST_ROWS`], or `noise` not from 0 to 1e100.
///
/// # Examples
/// ```
/// let data = maxmargin::data::generate::moons(10, 0.0, 1)?;
/// let x = data.matrix().row(0);
/// assert!((x[0] * x[0] + x[1] * x[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn moons(rows: usize, noise: f64, seed: u64) -> Result<Dataset, Error> {
    check_noise(noise)?;
    plane(rows, seed, |generator, row| {
        let sign = sign_of(row);
        let (sin, cos) = between(0.0, PI, generator).sin_cos();
        let centre = if sign < 0.0 { [cos, sin] } else { [1.0 - cos, 0.5 - sin] };
        (around(centre, noise, generator), sign)
    })
}

/// The rows of [`blobs`], and last one row in six around (8, 8), labelled `+1` and far on the right side.
///
/// The far rows say nothing new about where the classes meet. Fisher's direction swings all the same, because they move
/// the mean and the spread of their class; logistic regression and the support vector machine hardly notice them.
/// The first `rows − rows / 6` rows are those of [`blobs`] with the same noise and seed.
///
/// # Errors
/// When `rows` is not from 2 to [`MOST_ROWS`], or `noise` not from 0 to 1e100.
///
/// # Examples
/// ```
/// use maxmargin::data::generate::{blobs, far_blob};
///
/// let (near, far) = (blobs(10, 0.7, 3)?, far_blob(12, 0.7, 3)?);
/// assert_eq!(near.matrix().row(9), far.matrix().row(9));
/// assert!(far.matrix().row(11)[1] > 4.0);
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn far_blob(rows: usize, noise: f64, seed: u64) -> Result<Dataset, Error> {
    check_noise(noise)?;
    plane(rows, seed, |generator, row| {
        if row >= rows - rows / 6 {
            return (around([8.0, 8.0], noise, generator), 1.0);
        }
        let sign = sign_of(row);
        (around([2.0 * sign, 0.0], noise, generator), sign)
    })
}

/// Draws `rows` points with their signs.
fn plane(rows: usize, seed: u64, mut draw: impl FnMut(&mut Pcg64, usize) -> ([f64; 2], f64)) -> Result<Dataset, Error> {
    if !(2..=MOST_ROWS).contains(&rows) {
        return Err(Error::parameter("rows", rows, "from 2 to 100000000"));
    }
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut values = Vec::with_capacity(2 * rows);
    let labels = Labels::new((0..rows).map(|row| {
        let (point, sign) = draw(&mut generator, row);
        values.extend(point);
        Label::new(if sign > 0.0 { "+1" } else { "-1" })
    }));
    Dataset::new(Matrix::dense(rows, 2, values)?, labels)?.with_names(vec!["x1".into(), "x2".into()])
}

/// The labels alternate.
fn sign_of(row: usize) -> f64 {
    if row.is_multiple_of(2) { -1.0 } else { 1.0 }
}

fn check_noise(noise: f64) -> Result<(), Error> {
    if (0.0..=1e100).contains(&noise) {
        return Ok(());
    }
    Err(Error::parameter("noise", noise, "from 0 to 1e100"))
}

fn between(low: f64, high: f64, generator: &mut impl Rng) -> f64 {
    low + (high - low) * generator.random::<f64>()
}

fn around(centre: [f64; 2], deviation: f64, generator: &mut impl Rng) -> [f64; 2] {
    let [a, b] = two_normals(generator);
    [centre[0] + deviation * a, centre[1] + deviation * b]
}

/// Two independent draws of the standard normal distribution, by Box and Muller:
///
/// ```text
/// (a, b) = √(−2 ln u) (cos 2πv, sin 2πv),   u even in (0, 1], v even in [0, 1)    (DG.4)
/// ```
pub(crate) fn two_normals(generator: &mut impl Rng) -> [f64; 2] {
    // 1 − u: the logarithm of 0 is not a number we want.
    let radius = (-2.0 * (1.0 - generator.random::<f64>()).ln()).sqrt();
    let (sin, cos) = (TAU * generator.random::<f64>()).sin_cos();
    [radius * cos, radius * sin]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(data: &Dataset) -> Vec<f64> {
        data.labels().unwrap().codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect()
    }

    #[test]
    fn every_name_is_known_and_an_unknown_one_is_answered_with_the_list() {
        for name in NAMES {
            let data = generate(name, 12, 5).unwrap();
            assert_eq!((data.rows(), data.labels().unwrap().classes().len()), (12, 2), "{name}");
        }
        let error = generate("sun\n", 12, 5).unwrap_err();
        assert_eq!(error.to_string(), r#"there is no generator "sun\n""#);
        assert_eq!(error.help(), "the generators are blobs, xor, rings, moons, far-blob");
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_and_another_seed_others() {
        for name in NAMES {
            let print = |seed: u64| generate(name, 50, seed).unwrap().fingerprint();
            assert_eq!(print(3), print(3), "{name}");
            assert_ne!(print(3), print(4), "{name}");
        }
    }

    #[test]
    fn sizes_and_noise_out_of_range_are_refused() {
        for rows in [0, 1, MOST_ROWS + 1] {
            let error = xor(rows, 1).unwrap_err();
            assert_eq!(error.to_string(), format!("rows is {rows}, but it must be from 2 to 100000000"));
        }
        for noise in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(blobs(10, noise, 1).is_err(), "{noise}");
            assert!(moons(10, noise, 1).is_err(), "{noise}");
            assert!(far_blob(10, noise, 1).is_err(), "{noise}");
        }
        assert_eq!(blobs(2, 1.0, 1).unwrap().labels().unwrap().codes(), [0, 1]);
    }

    #[test]
    fn labels_of_xor_and_rings_are_the_sign_of_a_quadratic_with_a_gap() {
        for seed in 0..100 {
            let (xor, rings) = (xor(200, seed).unwrap(), rings(200, seed).unwrap());
            for row in 0..200 {
                let x = xor.matrix().row(row);
                assert!(signs(&xor)[row] * x[0] * x[1] >= 0.05 * 0.05, "xor, seed {seed}, row {row}");
                let x = rings.matrix().row(row);
                let inside = 1.0 - x[0] * x[0] - x[1] * x[1];
                assert!(signs(&rings)[row] * inside >= 0.18, "rings, seed {seed}, row {row}");
            }
        }
    }

    #[test]
    fn normal_draws_have_the_moments_of_the_normal_distribution() {
        let mut generator = Pcg64::seed_from_u64(11);
        let draws: Vec<f64> = (0..50_000).flat_map(|_| two_normals(&mut generator)).collect();
        let moment = |power: i32| draws.iter().map(|draw| draw.powi(power)).sum::<f64>() / draws.len() as f64;
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            assert!((moment(power) - expected).abs() < 0.1, "moment {power} is {}", moment(power));
        }
    }

    /// The angle in degrees of C_W⁻¹ (m₊ − m₋), Fisher's direction.
    fn angle_of_fishers_direction(data: &Dataset) -> f64 {
        let (signs, mut means, mut counts) = (signs(data), [[0.0; 2]; 2], [0.0; 2]);
        let class = |row: usize| usize::from(signs[row] > 0.0);
        for row in 0..data.rows() {
            data.matrix().add_scaled(row, 1.0, &mut means[class(row)]);
            counts[class(row)] += 1.0;
        }
        (0..2).for_each(|k| means[k] = means[k].map(|sum| sum / counts[k]));
        let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
        for row in 0..data.rows() {
            let (x, mean) = (data.matrix().row(row), means[class(row)]);
            let (dx, dy) = (x[0] - mean[0], x[1] - mean[1]);
            (a, b, c) = (a + dx * dx, b + dx * dy, c + dy * dy);
        }
        let (dx, dy) = (means[1][0] - means[0][0], means[1][1] - means[0][1]);
        (a * dy - b * dx).atan2(c * dx - b * dy).to_degrees()
    }

    #[test]
    fn the_far_blob_swings_fishers_direction_and_lies_on_the_right_side() {
        for seed in 0..20 {
            let far = far_blob(600, 0.7, seed).unwrap();
            let near = far.select_rows(&(0..500).collect::<Vec<_>>());
            assert_eq!(near.fingerprint(), blobs(500, 0.7, seed).unwrap().fingerprint());
            assert!(angle_of_fishers_direction(&near).abs() < 8.0, "seed {seed}");
            assert!(angle_of_fishers_direction(&far).abs() > 25.0, "seed {seed}");
            assert!((500..600).all(|row| far.matrix().row(row)[0] > 4.0), "seed {seed}");
        }
    }
}
