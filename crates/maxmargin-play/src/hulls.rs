//! The hulls of two classes, reduced where C bounds the weights of points, and their nearest points.
//!
//! A solution of the dual with an explicit bias is a pair of nearest points. With S the sum of α over a class,
//!
//! ```text
//! a_i = α_i / S,   μ = C / S,   p = Σ_{+} a_i x_i,   q = Σ_{−} a_i x_i,   w = S (p − q)
//! ```
//!
//! so the segment from q to p is at right angles to the boundary; for a hard margin μ ≥ 1, the hulls are not reduced, and the boundary is its
//! bisector.

use maxmargin::kernel::Points;
use maxmargin::problem::{MarginParts, MarginProblem};
use maxmargin::solver::Settings;
use maxmargin::{Bias, Control, Loss, Workers, geometry};
use serde::Serialize;

use crate::error::Error;
use crate::fit::Fitted;
use crate::request::Method;

/// Directions in which the border of a reduced hull is looked for.
const DIRECTIONS: usize = 720;

/// The hulls of both classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Hulls {
    /// μ: the most that a point may weigh; 1 where the hulls are whole.
    pub(crate) most: f64,
    /// The corners of the positive and of the negative hull, counter-clockwise.
    pub(crate) corners: [Vec<[f64; 2]>; 2],
    /// The nearest points of both.
    pub(crate) nearest: [[f64; 2]; 2],
    /// Their distance.
    pub(crate) distance: f64,
    /// The points that each nearest point is made of, with their weights.
    pub(crate) weights: [Vec<(usize, f64)>; 2],
}

/// The hulls that belong to a fit, or none where the picture is not one of hulls.
pub(crate) fn hulls(fitted: &Fitted, control: &mut dyn Control) -> Result<Option<Hulls>, Error> {
    let model = &fitted.model;
    let recipe = model.recipe();
    let is_svm = fitted.asked.method == Method::Svm && recipe.loss == Loss::Hinge && recipe.bias == Bias::Explicit;
    if fitted.only_machine().is_none() || !recipe.kernel.is_linear() || !is_svm {
        return Ok(None);
    }
    let signs = fitted.signs();
    let alpha = fitted.coefficients();
    let total: f64 = alpha.iter().map(|coefficient| coefficient.abs()).sum::<f64>() / 2.0;
    let fewest = [1.0, -1.0].map(|sign| signs.iter().filter(|other| **other == sign).count());
    let least = 1.0 / fewest[0].min(fewest[1]) as f64;
    let most = match fitted.asked.c {
        Some(c) if total > 0.0 => (c / total).clamp(least, 1.0),
        _ => 1.0,
    };
    let points = Points::new(fitted.data.matrix().clone(), false);
    let workers = Workers::none();
    let rows: Vec<usize> = (0..fitted.data.rows()).collect();
    let problem = MarginProblem::new(MarginParts::new(&recipe.kernel, &points, &workers, rows, signs.clone()))?;
    let settings = Settings { tolerance: Some(1e-6), ..Settings::default() };
    let found = geometry::nearest_points(&problem, most, &settings, control)?;
    let sum = |weights: &[(usize, f64)]| {
        weights.iter().fold([0.0; 2], |sum, &(row, weight)| {
            let x = fitted.data.matrix().row(row);
            [sum[0] + weight * x[0], sum[1] + weight * x[1]]
        })
    };
    let corners = [1.0, -1.0].map(|sign| {
        let of_class = (0..signs.len()).filter(|&row| signs[row] == sign).map(|row| fitted.data.matrix().row(row));
        reduced(&of_class.map(|x| [x[0], x[1]]).collect::<Vec<_>>(), most)
    });
    Ok(Some(Hulls {
        most,
        corners,
        nearest: [sum(&found.positive), sum(&found.negative)],
        distance: found.distance,
        weights: [found.positive, found.negative],
    }))
}

/// The corners of a reduced hull: for each direction the combination that goes farthest, which takes as much as it may of the points that do.
fn reduced(points: &[[f64; 2]], most: f64) -> Vec<[f64; 2]> {
    let mut corners: Vec<[f64; 2]> = Vec::new();
    let mut order: Vec<usize> = (0..points.len()).collect();
    let size = points.iter().flatten().fold(0.0, |size: f64, value| size.max(value.abs())).max(1e-300);
    for k in 0..DIRECTIONS {
        // Beside the axes, where points of a lattice tie.
        let angle = (k as f64 + 0.37) / DIRECTIONS as f64 * std::f64::consts::TAU;
        let along = |row: usize| points[row][0] * angle.cos() + points[row][1] * angle.sin();
        order.sort_by(|&a, &b| along(b).total_cmp(&along(a)));
        let (mut rest, mut corner) = (1.0f64, [0.0; 2]);
        for &row in &order {
            let weight = most.min(rest);
            corner = [corner[0] + weight * points[row][0], corner[1] + weight * points[row][1]];
            rest -= weight;
            if rest <= 0.0 {
                break;
            }
        }
        let is_new = corners.last().is_none_or(|last| (0..2).any(|i| (last[i] - corner[i]).abs() > 1e-9 * size));
        if is_new {
            corners.push(corner);
        }
    }
    let closes = |a: &[f64; 2], b: &[f64; 2]| (0..2).all(|i| (a[i] - b[i]).abs() <= 1e-9 * size);
    while corners.len() > 1 && closes(&corners[0], &corners[corners.len() - 1]) {
        corners.pop();
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_square_has_its_corners_and_the_smallest_hull_is_the_mean() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 1.0]];
        let mut corners = reduced(&square, 1.0);
        corners.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        assert_eq!(corners, [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]]);
        let mean = reduced(&square, 0.2);
        assert_eq!(mean.len(), 1, "{mean:?}");
        assert!((mean[0][0] - 1.0).abs() < 1e-12 && (mean[0][1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_hull_reduced_to_halves_has_the_middles_of_its_sides() {
        let corners = reduced(&[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], 0.5);
        assert_eq!(corners.len(), 3, "{corners:?}");
        for middle in [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
            assert!(corners.iter().any(|corner| (corner[0] - middle[0]).hypot(corner[1] - middle[1]) < 1e-12));
        }
    }
}
