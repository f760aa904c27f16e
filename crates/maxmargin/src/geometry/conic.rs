//! The curve where a polynomial of degree 2 in two variables is 0: the boundary of a machine with a quadratic kernel.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::data::Matrix;
use crate::error::Error;

/// Two sizes that are equal up to this share of the larger one count as equal.
const TOLERANCE: f64 = 1e-12;

/// A quadratic part that is smaller than the rest by more than this counts as none, so that squares cannot overflow.
const LEAST_QUADRATIC: f64 = 1e-120;

/// What kind of curve a conic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConicKind {
    /// A closed curve with two different axes.
    Ellipse,
    /// An ellipse with equal axes.
    Circle,
    /// Two open branches.
    Hyperbola,
    /// One open branch.
    Parabola,
    /// Two lines that meet in the centre.
    CrossingLines,
    /// Two lines that never meet.
    ParallelLines,
    /// One line, as the square of a linear function.
    DoubleLine,
    /// One line, with no quadratic part.
    Line,
    /// A single point.
    Point,
    /// No point at all: the polynomial has one sign everywhere.
    Empty,
}

impl ConicKind {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            ConicKind::Ellipse => "ellipse",
            ConicKind::Circle => "circle",
            ConicKind::Hyperbola => "hyperbola",
            ConicKind::Parabola => "parabola",
            ConicKind::CrossingLines => "crossing-lines",
            ConicKind::ParallelLines => "parallel-lines",
            ConicKind::DoubleLine => "double-line",
            ConicKind::Line => "line",
            ConicKind::Point => "point",
            ConicKind::Empty => "empty",
        }
    }
}

/// The points of the plane with
///
/// ```text
/// p(x) = a x₁² + b x₁x₂ + c x₂² + d x₁ + e x₂ + f = 0                   (Q.1)
/// ```
///
/// With the matrix M of the quadratic part, its eigenvalues λ₁, λ₂ and the value at the centre,
///
/// ```text
/// M = (a, b/2; b/2, c),   M z = −(d, e)/2,   p(z) = f + (d z₁ + e z₂)/2    (Q.2)
/// semi-axis along the eigenvector of λ = √|p(z)/λ|                         (Q.3)
/// ```
///
/// the kind is read off three comparisons, each relative to the sizes of the terms it is made of, so that neither a
/// factor on all six coefficients nor the unit of x matters:
///
/// 1. |det M| ≤ 10⁻¹² λ², λ the larger eigenvalue in size: one eigenvalue counts as 0 (parabola, parallel lines, double line);
/// 2. |p(z)| ≤ 10⁻¹² (|f| + |d z₁|/2 + |e z₂|/2): the curve goes through its centre (point, crossing lines);
/// 3. |λ₁ − λ₂| ≤ 10⁻¹² |λ|: a circle.
///
/// Only a quadratic part that is 0, or smaller than the rest by a factor of 10¹²⁰, counts as none.
///
/// # Examples
/// ```
/// use maxmargin::geometry::{Conic, ConicKind};
///
/// let ellipse = Conic::new([1.0, 0.0, 4.0, -2.0, 0.0, -3.0])?; // (x₁ − 1)² + 4 x₂² = 4
/// assert_eq!(ellipse.kind(), ConicKind::Ellipse);
/// assert_eq!(ellipse.centre(), Some([1.0, 0.0]));
/// assert_eq!(ellipse.semi_axes(), Some([2.0, 1.0]));
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Conic {
    coefficients: [f64; 6],
    kind: ConicKind,
    centre: Option<[f64; 2]>,
    semi_axes: Option<[f64; 2]>,
    angle: Option<f64>,
}

impl Conic {
    /// A conic from the coefficients of x₁², x₁x₂, x₂², x₁, x₂ and 1.
    ///
    /// # Errors
    /// When a coefficient is not finite, or all are 0, so that every point belongs to it.
    pub fn new(coefficients: [f64; 6]) -> Result<Self, Error> {
        let largest = coefficients.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let finite = coefficients.iter().all(|value| value.is_finite());
        if !(finite && largest > 0.0) {
            return Err(Error::Data {
                what: format!("the coefficients {coefficients:?} make no conic"),
                help: "give six finite numbers, not all of them 0".into(),
            });
        }
        let scaled = coefficients.map(|value| value / largest);
        let quadratic = scaled[..3].iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let bare = |kind| Conic { coefficients, kind, centre: None, semi_axes: None, angle: None };
        if quadratic < LEAST_QUADRATIC {
            return Ok(if scaled[3] == 0.0 && scaled[4] == 0.0 {
                bare(ConicKind::Empty)
            } else {
                Conic { angle: Some(direction(scaled[4].atan2(scaled[3]) + FRAC_PI_2)), ..bare(ConicKind::Line) }
            });
        }
        let [a, b, c, d, e, f] = scaled.map(|value| value / quadratic);

        // The eigenvalues: the larger one in size by its formula, the other from the determinant, without cancellation.
        let (mean, radius, determinant) = (0.5 * (a + c), 0.5 * (a - c).hypot(b), a * c - 0.25 * b * b);
        let large = if mean >= 0.0 { mean + radius } else { mean - radius };
        let small = determinant / large;
        // The direction of the eigenvector of mean + radius.
        let upper_angle = 0.5 * b.atan2(a - c);
        let large_angle = if mean >= 0.0 { upper_angle } else { upper_angle + FRAC_PI_2 };

        if determinant.abs() <= TOLERANCE * large * large {
            // In coordinates u along the eigenvector and v across it: large u² + p u + q v + f = 0.
            let (sin, cos) = large_angle.sin_cos();
            let (p, q) = (d * cos + e * sin, e * cos - d * sin);
            let angle = Some(direction(large_angle + FRAC_PI_2));
            if q.abs() > TOLERANCE * d.hypot(e) {
                return Ok(Conic { angle, ..bare(ConicKind::Parabola) });
            }
            let (square, product) = (p * p, 4.0 * large * f);
            return Ok(if (square - product).abs() <= TOLERANCE * (square + product.abs()) {
                Conic { angle, ..bare(ConicKind::DoubleLine) }
            } else if square > product {
                Conic { angle, ..bare(ConicKind::ParallelLines) }
            } else {
                bare(ConicKind::Empty)
            });
        }

        // (Q.2)
        let centre =
            [(0.25 * b * e - 0.5 * c * d) / determinant + 0.0, (0.25 * b * d - 0.5 * a * e) / determinant + 0.0];
        let (half1, half2) = (0.5 * d * centre[0], 0.5 * e * centre[1]);
        let value = f + half1 + half2;
        if value.abs() <= TOLERANCE * (f.abs() + half1.abs() + half2.abs()) {
            let kind = if determinant > 0.0 { ConicKind::Point } else { ConicKind::CrossingLines };
            return Ok(Conic { centre: Some(centre), ..bare(kind) });
        }
        // (Q.3): the signed squares; the first axis is the one that the curve meets, of two the longer.
        let (of_large, of_small) = (-value / large, -value / small);
        if of_large < 0.0 && of_small < 0.0 {
            return Ok(bare(ConicKind::Empty));
        }
        let (first, second, angle) = if of_large > of_small {
            (of_large, of_small, large_angle)
        } else {
            (of_small, of_large, large_angle + FRAC_PI_2)
        };
        let round = determinant > 0.0 && 2.0 * radius <= TOLERANCE * large.abs();
        Ok(Conic {
            kind: match determinant > 0.0 {
                true if round => ConicKind::Circle,
                true => ConicKind::Ellipse,
                false => ConicKind::Hyperbola,
            },
            centre: Some(centre),
            semi_axes: Some([first.sqrt(), second.abs().sqrt()]),
            angle: (!round).then(|| direction(angle)),
            coefficients,
        })
    }

    /// The boundary of a machine with a polynomial kernel of degree 2 on points of the plane:
    ///
    /// ```text
    /// p(x) = Σᵢ βᵢ (γ ⟨vᵢ, x⟩ + c₀)² + bias                                (Q.4)
    /// a = γ² Σ βᵢ vᵢ₁²,   b = 2γ² Σ βᵢ vᵢ₁vᵢ₂,   c = γ² Σ βᵢ vᵢ₂²,
    /// d = 2γc₀ Σ βᵢ vᵢ₁,  e = 2γc₀ Σ βᵢ vᵢ₂,     f = c₀² Σ βᵢ + bias
    /// ```
    ///
    /// `vectors` are the support vectors, `coefficients` their βᵢ = αᵢ yᵢ.
    ///
    /// # Errors
    /// When the vectors do not have two columns, there is not one coefficient a vector, or no conic comes out
    /// (see [`Conic::new`]).
    ///
    /// # Examples
    /// ```
    /// use maxmargin::{data::Matrix, geometry::{Conic, ConicKind}};
    ///
    /// // ⟨v, x⟩² over the two unit vectors is ‖x‖²: a circle of radius 3.
    /// let vectors = Matrix::dense(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
    /// let conic = Conic::of_quadratic_kernel(&vectors, &[1.0, 1.0], 1.0, 0.0, -9.0)?;
    /// assert_eq!((conic.kind(), conic.semi_axes()), (ConicKind::Circle, Some([3.0, 3.0])));
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn of_quadratic_kernel(
        vectors: &Matrix,
        coefficients: &[f64],
        gamma: f64,
        coef0: f64,
        bias: f64,
    ) -> Result<Self, Error> {
        if (vectors.rows(), vectors.columns()) != (coefficients.len(), 2) {
            return Err(Error::Shape {
                operation: "conic",
                left: format!("{} vectors of {} columns", vectors.rows(), vectors.columns()),
                right: format!("{} coefficients of vectors with 2 columns", coefficients.len()),
            });
        }
        let mut sums = [0.0; 6];
        for (row, &beta) in coefficients.iter().enumerate() {
            let v = vectors.row(row);
            // (Q.4)
            let terms = [v[0] * v[0], 2.0 * v[0] * v[1], v[1] * v[1], 2.0 * v[0], 2.0 * v[1], 1.0];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += beta * term);
        }
        let (square, mixed) = (gamma * gamma, gamma * coef0);
        let factors = [square, square, square, mixed, mixed, coef0 * coef0];
        let mut found: [f64; 6] = std::array::from_fn(|k| factors[k] * sums[k]);
        found[5] += bias;
        Conic::new(found)
    }

    /// The coefficients of x₁², x₁x₂, x₂², x₁, x₂ and 1.
    pub fn coefficients(&self) -> [f64; 6] {
        self.coefficients
    }

    /// The kind of curve.
    pub fn kind(&self) -> ConicKind {
        self.kind
    }

    /// The centre of an ellipse, circle, hyperbola, point, or pair of crossing lines.
    pub fn centre(&self) -> Option<[f64; 2]> {
        self.centre
    }

    /// The semi-axes: of an ellipse the longer one first; of a hyperbola first the one that meets the curve.
    pub fn semi_axes(&self) -> Option<[f64; 2]> {
        self.semi_axes
    }

    /// The orientation in radians, above −π/2 and up to π/2, counted from the x₁ axis: of the first semi-axis of an
    /// ellipse or hyperbola, of the axis of a parabola, of a line or of parallel lines.
    pub fn orientation(&self) -> Option<f64> {
        self.angle
    }

    /// The value of the polynomial (Q.1) at a point.
    pub fn value(&self, x: [f64; 2]) -> f64 {
        let [a, b, c, d, e, f] = self.coefficients;
        (a * x[0] + b * x[1] + d) * x[0] + (c * x[1] + e) * x[1] + f
    }
}

/// The direction of an angle, as an angle above −π/2 and up to π/2.
fn direction(angle: f64) -> f64 {
    let turned = angle.rem_euclid(PI);
    if turned > FRAC_PI_2 { turned - PI } else { turned }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::SQRT_2;

    use proptest::prelude::*;

    use super::*;
    use crate::data::embedded;

    fn near(found: Option<[f64; 2]>, expected: [f64; 2], tolerance: f64) -> bool {
        found.is_some_and(|found| (0..2).all(|k| (found[k] - expected[k]).abs() <= tolerance))
    }

    fn kind(coefficients: [f64; 6]) -> ConicKind {
        Conic::new(coefficients).unwrap().kind()
    }

    #[test]
    fn the_boundary_of_e3_is_the_ellipse_of_the_worked_example() {
        let w = [0.0, -SQRT_2, -3.299832, 0.256410, 0.820513, -0.018131];
        let coefficients = [w[3], SQRT_2 * w[5], w[4], SQRT_2 * w[1], SQRT_2 * w[2], w[0] + 8.846154];
        let data = embedded("e3").unwrap();
        let betas = [0.620085, 2.070513, 3.805128, 0.318376, -2.961538, -3.852564];
        let of_kernel = Conic::of_quadratic_kernel(data.matrix(), &betas, 1.0, 1.0, 8.846154).unwrap();
        for conic in [Conic::new(coefficients).unwrap(), of_kernel] {
            assert_eq!(conic.kind(), ConicKind::Ellipse);
            assert!(near(conic.centre(), [4.04535, 2.90696], 2e-4), "{conic:?}");
            assert!(near(conic.semi_axes(), [2.78190, 1.55397], 2e-4), "{conic:?}");
            assert!(conic.orientation().unwrap().abs() < 0.03);
            assert!(conic.coefficients().iter().zip(coefficients).all(|(a, b)| (a - b).abs() < 1e-4));
        }
    }

    #[test]
    fn every_kind_is_told_from_the_others() {
        use ConicKind::*;
        for (coefficients, expected) in [
            ([1.0, 0.0, 4.0, 0.0, 0.0, -4.0], Ellipse),
            ([2.0, 0.0, 2.0, -4.0, 0.0, 0.0], Circle),
            ([1.0, 0.0, -1.0, 0.0, 0.0, -1.0], Hyperbola),
            ([0.0, 1.0, 0.0, 0.0, 0.0, -1.0], Hyperbola),
            ([1.0, 0.0, 0.0, 0.0, -1.0, 0.0], Parabola),
            ([1.0, 2.0, 1.0, 1.0, -1.0, 0.0], Parabola),
            ([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], CrossingLines),
            ([1.0, 0.0, -1.0, -2.0, 0.0, 1.0], CrossingLines),
            ([1.0, 0.0, 0.0, 0.0, 0.0, -1.0], ParallelLines),
            ([1.0, 2.0, 1.0, 0.0, 0.0, -1.0], ParallelLines),
            ([1.0, -2.0, 1.0, 2.0, -2.0, 1.0], DoubleLine),
            ([0.0, 0.0, 0.0, 1.0, 2.0, 3.0], Line),
            ([1.0, 0.0, 1.0, 0.0, 0.0, 0.0], Point),
            ([1.0, 0.0, 3.0, -2.0, 0.0, 1.0], Point),
            ([1.0, 0.0, 1.0, 0.0, 0.0, 1.0], Empty),
            ([1.0, 0.0, 0.0, 0.0, 0.0, 1.0], Empty),
            ([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], Empty),
        ] {
            assert_eq!(kind(coefficients), expected, "{coefficients:?}");
            // A factor and the unit of x change nothing.
            for (factor, unit) in [(-3.0, 1.0), (1e-300, 1.0), (1e200, 1.0), (7.0, 1e-6), (1.0 / 3.0, 1e9)] {
                let powers: [i32; 6] = [2, 2, 2, 1, 1, 0];
                let changed = std::array::from_fn(|k| factor * coefficients[k] * f64::powi(unit, powers[k]));
                assert_eq!(kind(changed), expected, "{coefficients:?} times {factor} in units of {unit}");
            }
        }
    }

    #[test]
    fn directions_are_those_of_the_figure() {
        let angle = |coefficients| Conic::new(coefficients).unwrap().orientation();
        assert_eq!(angle([1.0, 0.0, 4.0, 0.0, 0.0, -4.0]), Some(0.0));
        assert_eq!(angle([4.0, 0.0, 1.0, 0.0, 0.0, -4.0]), Some(FRAC_PI_2));
        assert_eq!(angle([1.0, 0.0, 1.0, 0.0, 0.0, -1.0]), None);
        // x₁x₂ = 1 opens along the diagonal, x₂ = x₁² upwards, and x₁ + 2 x₂ + 3 = 0 falls by a half.
        assert!((angle([0.0, 1.0, 0.0, 0.0, 0.0, -1.0]).unwrap() - PI / 4.0).abs() < 1e-15);
        assert!((angle([1.0, 0.0, 0.0, 0.0, -1.0, 0.0]).unwrap() - FRAC_PI_2).abs() < 1e-15);
        assert!((angle([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).unwrap() - (-0.5f64).atan()).abs() < 1e-15);
        let hyperbola = Conic::new([-1.0, 0.0, 4.0, 0.0, 0.0, -4.0]).unwrap();
        assert_eq!(hyperbola.semi_axes(), Some([1.0, 2.0]));
        assert_eq!(hyperbola.orientation(), Some(FRAC_PI_2));
    }

    #[test]
    fn coefficients_that_make_no_conic_are_refused() {
        for coefficients in [[0.0; 6], [f64::NAN; 6], [1.0, 0.0, 0.0, 0.0, f64::INFINITY, 0.0]] {
            assert!(Conic::new(coefficients).unwrap_err().to_string().ends_with("make no conic"));
        }
        let vectors = Matrix::dense(1, 3, vec![1.0, 2.0, 3.0]).unwrap();
        assert!(Conic::of_quadratic_kernel(&vectors, &[1.0], 1.0, 1.0, 0.0).is_err());
    }

    proptest! {
        #[test]
        fn an_ellipse_is_found_again_wherever_it_lies(
            centre in prop::array::uniform2(-20.0..20.0f64), short in 0.5..3.0f64, ratio in 1.1..5.0f64,
            angle in -1.5..1.5f64, factor in prop_oneof![-9.0..-0.1f64, 0.1..9.0f64]
        ) {
            let long = short * ratio;
            let (sin, cos) = angle.sin_cos();
            // factor ((u/long)² + (v/short)² − 1), u and v along the axes.
            let (l, s) = (factor / (long * long), factor / (short * short));
            let (a, b, c) = (l * cos * cos + s * sin * sin, 2.0 * (l - s) * sin * cos, l * sin * sin + s * cos * cos);
            let (d, e) = (-2.0 * a * centre[0] - b * centre[1], -2.0 * c * centre[1] - b * centre[0]);
            let f = a * centre[0] * centre[0] + b * centre[0] * centre[1] + c * centre[1] * centre[1] - factor;
            let conic = Conic::new([a, b, c, d, e, f]).unwrap();
            prop_assert_eq!(conic.kind(), ConicKind::Ellipse);
            prop_assert!(near(conic.centre(), centre, 1e-8));
            prop_assert!(near(conic.semi_axes(), [long, short], 1e-7));
            prop_assert!((conic.orientation().unwrap() - angle).abs() < 1e-8);
            let tip = [centre[0] + long * cos, centre[1] + long * sin];
            prop_assert!(conic.value(tip).abs() < 1e-9 * factor.abs() * 1e4);
            // The sign inside is the other one of the factor.
            prop_assert!(conic.value(centre) * factor < 0.0);
        }

        #[test]
        fn the_conic_of_a_kernel_has_the_machines_values(
            points in prop::collection::vec(-3.0..3.0f64, 10), betas in prop::collection::vec(-2.0..2.0f64, 5),
            gamma in 0.1..3.0f64, coef0 in 0.0..2.0f64, bias in -2.0..2.0f64, x in prop::array::uniform2(-3.0..3.0f64)
        ) {
            let vectors = Matrix::dense(5, 2, points).unwrap();
            let conic = Conic::of_quadratic_kernel(&vectors, &betas, gamma, coef0, bias).unwrap();
            let machine: f64 =
                (0..5).map(|row| betas[row] * (gamma * vectors.dot(row, &x) + coef0).powi(2)).sum::<f64>() + bias;
            prop_assert!((conic.value(x) - machine).abs() < 1e-9);
        }
    }
}
