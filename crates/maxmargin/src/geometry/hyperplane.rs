//! A hyperplane, and how far points lie from it.

use crate::data::Matrix;
use crate::error::Error;

/// The points x with
///
/// ```text
/// f(x) = ⟨w, x⟩ + b = 0,   w ≠ 0                                        (H.1)
/// ```
///
/// The side with f(x) > 0 is the positive one.
///
/// # Examples
/// ```
/// use maxmargin::geometry::Hyperplane;
///
/// let line = Hyperplane::through([4.0, 0.0], [2.0, 5.0])?;
/// assert_eq!((line.weights(), line.bias()), (&[5.0, 2.0][..], -20.0));
/// assert!((line.origin_distance() - -3.714).abs() < 1e-3);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperplane {
    weights: Vec<f64>,
    bias: f64,
    norm: f64,
}

impl Hyperplane {
    /// A hyperplane from w and b.
    ///
    /// # Errors
    /// When all weights are 0, or one of them, the bias, or the length ‖w‖ is not finite.
    pub fn new(weights: Vec<f64>, bias: f64) -> Result<Self, Error> {
        let norm = length(&weights);
        if !bias.is_finite() {
            return Err(Error::parameter("the bias of a hyperplane", bias, "finite"));
        }
        if !(norm > 0.0 && norm.is_finite()) {
            return Err(Error::parameter("the length of the weights of a hyperplane", norm, "above 0 and finite"));
        }
        Ok(Hyperplane { weights, bias, norm })
    }

    /// The line through two points p and q of the plane:
    ///
    /// ```text
    /// w = (q₂ − p₂, p₁ − q₁),   b = −⟨w, p⟩                              (H.2)
    /// ```
    ///
    /// # Errors
    /// When the points are one, or too far apart for f64.
    pub fn through(p: [f64; 2], q: [f64; 2]) -> Result<Self, Error> {
        // (H.2)
        let weights = [q[1] - p[1], p[0] - q[0]];
        if weights == [0.0, 0.0] {
            return Err(Error::Data {
                what: format!("one point, ({}, {}), does not make a line", p[0], p[1]),
                help: "give two different points".into(),
            });
        }
        Hyperplane::new(weights.to_vec(), -(weights[0] * p[0] + weights[1] * p[1]))
    }

    /// The weights w.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The bias b.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The length ‖w‖.
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// The decision value f(x) = ⟨w, x⟩ + b.
    ///
    /// # Panics
    /// When x has not one number a weight, here and below.
    pub fn value(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.weights.len(), "a point has one number a weight");
        self.weights.iter().zip(x).map(|(weight, x)| weight * x).sum::<f64>() + self.bias
    }

    /// The directed distance, positive on the positive side:
    ///
    /// ```text
    /// r = f(x)/‖w‖                                                       (H.3)
    /// ```
    pub fn directed_distance(&self, x: &[f64]) -> f64 {
        self.value(x) / self.norm
    }

    /// The distance of a point of class `sign` (+1 or −1), positive when the point is on its side:
    ///
    /// ```text
    /// δ = y r = y f(x)/‖w‖                                               (H.4)
    /// ```
    pub fn distance(&self, sign: f64, x: &[f64]) -> f64 {
        sign * self.directed_distance(x)
    }

    /// The directed distance of the origin, b/‖w‖: negative when the origin is on the negative side.
    pub fn origin_distance(&self) -> f64 {
        self.bias / self.norm
    }

    /// The margin of a set of points, negative when a point is on the wrong side:
    ///
    /// ```text
    /// margin = minᵢ yᵢ f(xᵢ)/‖w‖                                         (H.5)
    /// ```
    ///
    /// # Errors
    /// When there are no points, not one sign a point, or the points have another number of columns.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::{data::Matrix, geometry::Hyperplane};
    ///
    /// let plane = Hyperplane::new(vec![0.0, 2.0], -2.0)?;
    /// let points = Matrix::dense(2, 2, vec![7.0, 4.0, 5.0, 0.5])?;
    /// assert_eq!(plane.margin(&points, &[1.0, -1.0])?, 0.5);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn margin(&self, points: &Matrix, signs: &[f64]) -> Result<f64, Error> {
        self.check_points(points)?;
        if signs.len() != points.rows() {
            return Err(Error::Shape {
                operation: "margin",
                left: format!("{} signs", signs.len()),
                right: format!("{} points", points.rows()),
            });
        }
        // (H.5)
        let values = signs.iter().enumerate().map(|(row, sign)| sign * self.value_of_row(points, row));
        Ok(values.fold(f64::INFINITY, f64::min) / self.norm)
    }

    /// The canonical form of the hyperplane with respect to some points: scaled by a positive number so that
    ///
    /// ```text
    /// minᵢ |f(xᵢ)| = 1                                                   (H.6)
    /// ```
    ///
    /// The margin of points that are all on their side is then 1/‖w‖.
    ///
    /// # Errors
    /// When there are no points, one of them lies on the hyperplane, or they have another number of columns.
    pub fn canonical(&self, points: &Matrix) -> Result<Self, Error> {
        self.check_points(points)?;
        let (row, least) = (0..points.rows())
            .map(|row| (row, self.value_of_row(points, row).abs()))
            .fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
        if !(least > 0.0 && least.is_finite()) {
            return Err(Error::Data {
                what: format!("|f(x)| is {least} in row {}, so no scale makes it 1", row + 1),
                help: "leave out the points on the hyperplane".into(),
            });
        }
        Hyperplane::new(self.weights.iter().map(|weight| weight / least).collect(), self.bias / least)
    }

    fn value_of_row(&self, points: &Matrix, row: usize) -> f64 {
        points.dot(row, &self.weights) + self.bias
    }

    fn check_points(&self, points: &Matrix) -> Result<(), Error> {
        if points.columns() != self.weights.len() {
            return Err(Error::Shape {
                operation: "hyperplane",
                left: format!("points of {} columns", points.columns()),
                right: format!("{} weights", self.weights.len()),
            });
        }
        if points.rows() == 0 {
            return Err(Error::Data {
                what: "there are no points to measure".into(),
                help: "give at least one point".into(),
            });
        }
        Ok(())
    }
}

/// ‖w‖, without overflow where the result has none.
fn length(weights: &[f64]) -> f64 {
    let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    if weights.iter().any(|weight| !weight.is_finite()) {
        return f64::NAN;
    }
    if (1e-150..1e150).contains(&largest) {
        return weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    }
    if largest == 0.0 {
        return 0.0;
    }
    largest * weights.iter().map(|weight| (weight / largest).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::embedded;

    #[test]
    fn the_line_of_the_worked_example_and_its_canonical_form_come_out() {
        let line = Hyperplane::through([4.0, 0.0], [2.0, 5.0]).unwrap();
        assert_eq!((line.weights(), line.bias()), (&[5.0, 2.0][..], -20.0));
        assert!((line.origin_distance() + 20.0 / 29f64.sqrt()).abs() < 1e-15);
        let vector = Matrix::dense(1, 2, vec![2.0, 2.0]).unwrap();
        assert_eq!(line.distance(-1.0, &[2.0, 2.0]), 6.0 / 29f64.sqrt());
        let canonical = line.canonical(&vector).unwrap();
        assert_eq!((canonical.weights(), canonical.bias()), (&[5.0 / 6.0, 2.0 / 6.0][..], -20.0 / 6.0));
        assert!((canonical.margin(&vector, &[-1.0]).unwrap() - 1.1142).abs() < 1e-4);
        assert!((1.0 / canonical.norm() - 6.0 / 29f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn the_hard_margin_of_e1_is_the_one_of_its_solution() {
        let data = embedded("e1").unwrap();
        let signs: Vec<f64> = data.labels().unwrap().codes().iter().map(|&code| f64::from(code) * 2.0 - 1.0).collect();
        let plane = Hyperplane::new(vec![5.0 / 6.0, 1.0 / 3.0], -10.0 / 3.0).unwrap();
        assert!((plane.margin(data.matrix(), &signs).unwrap() - 1.114172).abs() < 1e-6);
        // The negative control: the other orientation has every point on the wrong side.
        let turned = Hyperplane::new(vec![-5.0 / 6.0, -1.0 / 3.0], 10.0 / 3.0).unwrap();
        assert!(turned.margin(data.matrix(), &signs).unwrap() < 0.0);
    }

    #[test]
    fn weights_without_a_length_are_refused() {
        for weights in [vec![], vec![0.0, -0.0], vec![f64::NAN], vec![1.0, f64::INFINITY], vec![f64::MAX; 2]] {
            assert!(Hyperplane::new(weights.clone(), 1.0).is_err(), "{weights:?}");
        }
        let error = Hyperplane::new(vec![1.0], f64::NAN).unwrap_err();
        assert_eq!(error.to_string(), "the bias of a hyperplane is NaN, but it must be finite");
        let error = Hyperplane::through([1.0, 2.0], [1.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "one point, (1, 2), does not make a line");
        for size in [1e-300, 1e300] {
            let plane = Hyperplane::new(vec![3.0 * size, 4.0 * size], 0.0).unwrap();
            assert!((plane.norm() / size - 5.0).abs() < 1e-12);
        }
    }

    #[test]
    fn points_that_do_not_fit_are_refused() {
        let plane = Hyperplane::new(vec![1.0, 1.0], -2.0).unwrap();
        assert!(plane.margin(&Matrix::without_columns(1), &[1.0]).is_err());
        let none = Matrix::dense(0, 2, Vec::<f64>::new()).unwrap();
        assert_eq!(plane.margin(&none, &[]).unwrap_err().to_string(), "there are no points to measure");
        let on = Matrix::dense(2, 2, vec![5.0, 5.0, 1.0, 1.0]).unwrap();
        let error = plane.canonical(&on).unwrap_err();
        assert_eq!(error.to_string(), "|f(x)| is 0 in row 2, so no scale makes it 1");
        assert!(plane.margin(&on, &[1.0]).is_err());
    }

    proptest! {
        #[test]
        fn both_points_lie_on_the_line_through_them(
            p in prop::array::uniform2(-1e3..1e3f64), q in prop::array::uniform2(-1e3..1e3f64)
        ) {
            prop_assume!((p[0] - q[0]).abs() + (p[1] - q[1]).abs() > 1e-3);
            let line = Hyperplane::through(p, q).unwrap();
            prop_assert!(line.directed_distance(&p).abs() < 1e-6);
            prop_assert!(line.directed_distance(&q).abs() < 1e-6);
        }

        #[test]
        fn distances_do_not_depend_on_the_scale_of_the_weights(
            weights in prop::collection::vec(0.1..10f64, 3), bias in -5.0..5.0f64,
            x in prop::collection::vec(-10.0..10f64, 3), scale in 1e-3..1e3f64
        ) {
            let plane = Hyperplane::new(weights.clone(), bias).unwrap();
            let scaled = Hyperplane::new(weights.iter().map(|w| w * scale).collect(), bias * scale).unwrap();
            prop_assert!((plane.directed_distance(&x) - scaled.directed_distance(&x)).abs() < 1e-9);
            // The nearest point of the plane is as far away as the distance says.
            let step = plane.directed_distance(&x) / plane.norm();
            let foot: Vec<f64> = x.iter().zip(&weights).map(|(x, w)| x - step * w).collect();
            prop_assert!(plane.directed_distance(&foot).abs() < 1e-9);
        }
    }
}
