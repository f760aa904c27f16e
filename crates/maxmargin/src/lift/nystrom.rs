//! The Nyström map: any kernel, seen from a few landmarks.

use std::fmt;

use faer::{Mat, Side};

use super::{Lift, assert_lengths};
use crate::data::Matrix;
use crate::error::Error;

/// The most landmarks: the eigenvectors of their kernel matrix cost O(m³).
const MOST_LANDMARKS: usize = 10_000;

/// A map from the kernel values between a point and m landmarks l₁, ..., l_m. With the kernel matrix of the
/// landmarks K = U Λ Uᵀ,
///
/// ```text
/// φⱼ(x) = λⱼ^(−1/2) Σᵢ Uᵢⱼ k(lᵢ, x),   for each λⱼ > threshold · λ₁       (L.7)
/// ```
///
/// in the order of falling eigenvalues λ₁ ≥ λ₂ ≥ .... Between landmarks the dot product is the kernel, up to the directions
/// that were dropped; between other points it is the best that the landmarks can see. Directions with a
/// negative λ, which only a function that is not a kernel has, are dropped too.
///
/// Cost: O(m³) once, and m kernel values and O(m · columns) a row.
///
/// # Examples
/// ```
/// use maxmargin::data::Matrix;
/// use maxmargin::lift::{Lift, Nystrom};
///
/// let landmarks = Matrix::dense(2, 1, vec![0.0, 1.0])?;
/// let gaussian = |x: &[f64], z: &[f64]| (-(x[0] - z[0]).powi(2)).exp();
/// let map = Nystrom::new(&landmarks, gaussian, 1e-12)?;
/// let (mut x, mut z) = ([0.0; 2], [0.0; 2]);
/// map.lift_row(&[0.0], &mut x);
/// map.lift_row(&[1.0], &mut z);
/// assert!((x[0] * z[0] + x[1] * z[1] - (-1f64).exp()).abs() < 1e-12);
/// # Ok::<(), maxmargin::Error>(())
/// ```
///
/// # References
/// C. Williams, M. Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.
#[derive(Clone)]
pub struct Nystrom<K> {
    kernel: K,
    columns: usize,
    /// The landmarks, one after another.
    landmarks: Vec<Vec<f64>>,
    /// λⱼ^(−1/2) Uᵢⱼ, for each j all i.
    directions: Vec<Vec<f64>>,
}

impl<K: Fn(&[f64], &[f64]) -> f64> Nystrom<K> {
    /// The map of a kernel, given as a function of two points, seen from the rows of `landmarks`.
    ///
    /// Directions whose eigenvalue is not above `threshold` times the largest are dropped; 1e-12 is a good choice, because
    /// below it there is little but rounding.
    ///
    /// # Errors
    /// When there are no landmarks or more than 10000, `threshold` is not from 0 to below 1, a kernel value is not finite,
    /// or no eigenvalue is positive.
    pub fn new(landmarks: &Matrix, kernel: K, threshold: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&threshold) {
            return Err(Error::parameter("threshold", threshold, "from 0 to below 1"));
        }
        let count = landmarks.rows();
        if !(1..=MOST_LANDMARKS).contains(&count) {
            return Err(Error::parameter("the number of landmarks", count, "from 1 to 10000"));
        }
        let points: Vec<Vec<f64>> = (0..count).map(|row| landmarks.row(row)).collect();
        let mut matrix = Mat::<f64>::zeros(count, count);
        for i in 0..count {
            for j in 0..=i {
                let value = kernel(&points[i], &points[j]);
                if !value.is_finite() {
                    return Err(Error::Data {
                        what: format!("the kernel of the landmarks {} and {} is {value}", i + 1, j + 1),
                        help: "scale the columns first (standard or minmax), or choose other kernel parameters".into(),
                    });
                }
                matrix[(i, j)] = value;
                matrix[(j, i)] = value;
            }
        }
        let none = |reason: &str| Error::Data {
            what: format!("the kernel matrix of the landmarks has {reason}"),
            help: "choose other landmarks, or check that the function is a kernel".into(),
        };
        let eigen = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| none("no eigenvalues that could be found"))?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        // The eigenvalues rise.
        let largest = values[count - 1];
        if !(largest > 0.0 && largest.is_finite()) {
            return Err(none("no positive eigenvalue"));
        }
        let kept = (0..count).rev().filter(|&j| values[j] > threshold * largest);
        // (L.7)
        let directions = kept.map(|j| (0..count).map(|i| vectors[(i, j)] / values[j].sqrt()).collect()).collect();
        Ok(Nystrom { kernel, columns: landmarks.columns(), landmarks: points, directions })
    }
}

/// Closures cannot be shown, so the kernel is left out.
impl<K> fmt::Debug for Nystrom<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Nystrom")
            .field("landmarks", &self.landmarks)
            .field("directions", &self.directions)
            .finish_non_exhaustive()
    }
}

impl<K: Fn(&[f64], &[f64]) -> f64> Lift for Nystrom<K> {
    fn input_columns(&self) -> usize {
        self.columns
    }

    fn output_columns(&self) -> usize {
        self.directions.len()
    }

    fn lift_row(&self, x: &[f64], out: &mut [f64]) {
        assert_lengths(self, x, out);
        let values: Vec<f64> = self.landmarks.iter().map(|landmark| (self.kernel)(landmark, x)).collect();
        for (direction, out) in self.directions.iter().zip(out) {
            // (L.7)
            *out = direction.iter().zip(&values).map(|(direction, value)| direction * value).sum();
        }
    }

    fn names(&self, input: &[String]) -> Vec<String> {
        assert_eq!(input.len(), self.columns, "one name a column");
        (1..=self.directions.len()).map(|j| format!("nystrom_{j}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dot, lifted};
    use super::*;
    use crate::data::generate;

    fn gaussian(x: &[f64], z: &[f64]) -> f64 {
        (-x.iter().zip(z).map(|(x, z)| (x - z).powi(2)).sum::<f64>()).exp()
    }

    fn quadratic(x: &[f64], z: &[f64]) -> f64 {
        (dot(x, z) + 1.0).powi(2)
    }

    /// The largest distance between dot product and kernel over all pairs of points.
    fn worst(map: &dyn Lift, kernel: fn(&[f64], &[f64]) -> f64, points: &[Vec<f64>]) -> f64 {
        let images: Vec<Vec<f64>> = points.iter().map(|x| lifted(map, x)).collect();
        let pairs = (0..points.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        pairs.map(|(i, j)| (dot(&images[i], &images[j]) - kernel(&points[i], &points[j])).abs()).fold(0.0, f64::max)
    }

    fn points(matrix: &Matrix) -> Vec<Vec<f64>> {
        (0..matrix.rows()).map(|row| matrix.row(row)).collect()
    }

    #[test]
    fn all_points_as_landmarks_reproduce_the_kernel_matrix() {
        for seed in 0..5 {
            let data = generate("blobs", 60, seed).unwrap();
            for kernel in [gaussian as fn(&[f64], &[f64]) -> f64, quadratic] {
                let map = Nystrom::new(data.matrix(), kernel, 1e-13).unwrap();
                let (points, largest) = (points(data.matrix()), kernel(&[4.0, 2.0], &[4.0, 2.0]));
                assert!(worst(&map, kernel, &points) < 1e-9 * largest, "seed {seed}");
            }
        }
    }

    #[test]
    fn more_landmarks_come_nearer_to_the_kernel() {
        let data = generate("moons", 80, 3).unwrap();
        let points = points(data.matrix());
        let error = |count: usize| {
            let landmarks = data.matrix().select_rows(&(0..count).collect::<Vec<_>>());
            worst(&Nystrom::new(&landmarks, gaussian, 1e-12).unwrap(), gaussian, &points)
        };
        // The first number is the negative control: two landmarks do not see enough.
        assert!(error(2) > 0.1 && error(8) < error(2) && error(40) < 1e-3, "{} {} {}", error(2), error(8), error(40));
    }

    #[test]
    fn a_kernel_of_six_dimensions_needs_six_columns() {
        let data = generate("blobs", 40, 2).unwrap();
        assert_eq!(Nystrom::new(data.matrix(), quadratic, 1e-12).unwrap().output_columns(), 6);
        let twice = data.matrix().select_rows(&[0, 0, 0]);
        assert_eq!(Nystrom::new(&twice, gaussian, 1e-12).unwrap().output_columns(), 1);
    }

    #[test]
    fn what_cannot_be_lifted_is_refused() {
        let data = generate("blobs", 4, 2).unwrap();
        for bad in [-0.1, 1.0, f64::NAN] {
            assert!(Nystrom::new(data.matrix(), gaussian, bad).is_err(), "{bad}");
        }
        let none = data.matrix().select_rows(&[]);
        let error = Nystrom::new(&none, gaussian, 0.0).unwrap_err();
        assert_eq!(error.to_string(), "the number of landmarks is 0, but it must be from 1 to 10000");
        let error = Nystrom::new(data.matrix(), |_: &[f64], _: &[f64]| f64::NAN, 0.0).unwrap_err();
        assert_eq!(error.to_string(), "the kernel of the landmarks 1 and 1 is NaN");
        let error = Nystrom::new(data.matrix(), |_: &[f64], _: &[f64]| 0.0, 0.0).unwrap_err();
        assert_eq!(error.to_string(), "the kernel matrix of the landmarks has no positive eigenvalue");
    }
}
