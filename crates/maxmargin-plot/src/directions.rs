//! Planes through many columns: which two directions show best what a model decides.
//!
//! ```text
//! principal plane      the two orthonormal a that maximise a'Sa, S the covariance of the scaled rows
//! discriminant plane   one linear machine: a = w/‖w‖, and the principal direction orthogonal to it
//!                      else: the span of (S_w + εI)⁻¹ (m_k − m), m_k the mean of class k, S_w the covariance within classes;
//!                      of more than two classes its two main directions
//! place of a row       ((x − m)·a₁, (x − m)·a₂)                                                        (V.2)
//! ```
//!
//! Covariances are never formed: all is done by products of the rows with a vector. Cost: O(entries) a product, on at most 2,000 rows.
//!
//! # References
//! R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 1936.

use maxmargin::data::Matrix;
use maxmargin::model::Model;

use crate::contour::Point;
use crate::rows::Rows;

/// Rows that directions are computed from; of more, these many are taken at even distances.
const MOST_ROWS: usize = 2000;

/// Rounds of the orthogonal iteration: enough for the eye, also where two directions are nearly as long.
const ROUNDS: usize = 60;

/// Steps of conjugate gradients.
const STEPS: usize = 60;

/// ε, in parts of the mean variance of a column.
const RIDGE: f64 = 1e-3;

/// A plane through the mean of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Directions {
    kind: Kind,
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
    /// The place of the mean along each direction.
    middle: Point,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Principal,
    Normal,
    Discriminant,
}

impl Directions {
    fn new(kind: Kind, mean: &[f64], axes: [Vec<f64>; 2]) -> Self {
        let middle = (dot(mean, &axes[0]), dot(mean, &axes[1]));
        Directions { kind, mean: mean.to_vec(), axes, middle }
    }

    /// The place of a row, (V.2).
    pub(crate) fn place(&self, matrix: &Matrix, row: usize) -> Point {
        let along = |axis: &[f64]| matrix.dot(row, axis);
        (along(&self.axes[0]) - self.middle.0, along(&self.axes[1]) - self.middle.1)
    }

    /// The numbers of a place's point, column after column, scaled.
    pub(crate) fn point(&self, (x, y): Point) -> impl Iterator<Item = f64> {
        let axes = self.axes[0].iter().zip(&self.axes[1]);
        self.mean.iter().zip(axes).map(move |(mean, (a, b))| mean + x * a + y * b)
    }

    /// What the axes are called.
    pub(crate) fn titles(&self) -> (String, String) {
        let (across, up) = match self.kind {
            Kind::Principal => ("first principal direction", "second principal direction"),
            Kind::Normal => ("along w", "principal direction orthogonal to w"),
            Kind::Discriminant => ("first discriminant direction", "second discriminant direction"),
        };
        (across.into(), up.into())
    }

    /// What the plane is, in words.
    pub(crate) fn what(&self) -> &'static str {
        match self.kind {
            Kind::Principal => "the principal plane of the rows",
            Kind::Normal => "the plane through the weights and the longest direction orthogonal to them",
            Kind::Discriminant => "the discriminant plane of the rows",
        }
    }
}

/// The planes that may show a model well: discriminant, then principal.
pub(crate) fn candidates(model: &Model, rows: &Rows) -> Vec<Directions> {
    let (matrix, columns) = (&rows.matrix, model.parts().columns);
    let count = matrix.rows().min(MOST_ROWS);
    if count == 0 || columns < 2 {
        return Vec::new();
    }
    let chosen: Vec<usize> = (0..count).map(|k| k * matrix.rows() / count).collect();
    let class = |row: usize| rows.classes[row].unwrap_or(rows.predicted[row]) as usize;
    let sample = Sample::new(matrix, columns, chosen, class);
    let mut found = Vec::new();
    let weights = match model.machines() {
        [machine] if model.parts().network.is_none() => machine.weights.as_deref(),
        _ => None,
    };
    let first = match weights {
        Some(weights) => Some((Kind::Normal, vec![weights.to_vec()])),
        None => Some((Kind::Discriminant, sample.discriminants())).filter(|(_, found)| !found.is_empty()),
    };
    if let Some((kind, leading)) = first {
        let total = |v: &[f64]| spanned(&leading, v);
        let mut axes = main_directions(columns, leading.len().min(2), &[], total);
        let missing = 2 - axes.len();
        axes.extend(main_directions(columns, missing, &axes, |v| sample.covariance(v)));
        found.extend(pair(axes).map(|axes| Directions::new(kind, &sample.mean, axes)));
    }
    let axes = main_directions(columns, 2, &[], |v| sample.covariance(v));
    found.extend(pair(axes).map(|axes| Directions::new(Kind::Principal, &sample.mean, axes)));
    found
}

/// Rows on a plane through many columns.
#[derive(Clone, Debug, PartialEq)]
pub struct DataPlane {
    /// What the two directions are called.
    pub titles: (String, String),
    /// The place of each row, (V.2).
    pub places: Vec<Point>,
}

/// The planes that show rows and their classes well, without any model: the principal plane, and the discriminant one of three or more classes
///
/// Two classes have only one discriminant direction; the plane then has the principal direction orthogonal to it. Columns count as they are,
/// so scale those of different units first. Cost: O(entries) a product, on at most 2,000 rows.
///
/// # Panics
/// When `classes` is not as long as the matrix has rows.
pub fn data_planes(matrix: &Matrix, classes: &[u32]) -> Vec<DataPlane> {
    assert_eq!(matrix.rows(), classes.len(), "each row has a class");
    let columns = matrix.columns();
    let count = matrix.rows().min(MOST_ROWS);
    if count == 0 || columns < 2 {
        return Vec::new();
    }
    let chosen: Vec<usize> = (0..count).map(|k| k * matrix.rows() / count).collect();
    let sample = Sample::new(matrix, columns, chosen, |row| classes[row] as usize);
    let leading = sample.discriminants();
    let principal = main_directions(columns, 2, &[], |v| sample.covariance(v));
    let mut discriminant = main_directions(columns, leading.len().min(2), &[], |v| spanned(&leading, v));
    let rest = main_directions(columns, 2 - discriminant.len(), &discriminant, |v| sample.covariance(v));
    discriminant.extend(rest);
    let kinds = [(Kind::Principal, principal), (Kind::Discriminant, discriminant)];
    let plane = |(kind, axes): (Kind, Vec<Vec<f64>>)| {
        let directions = Directions::new(kind, &sample.mean, pair(axes)?);
        let places = (0..matrix.rows()).map(|row| directions.place(matrix, row)).collect();
        Some(DataPlane { titles: directions.titles(), places })
    };
    kinds.into_iter().filter_map(plane).collect()
}

fn pair(axes: Vec<Vec<f64>>) -> Option<[Vec<f64>; 2]> {
    axes.try_into().ok()
}

/// Rows to compute with, and the means of their classes.
struct Sample<'a> {
    matrix: &'a Matrix,
    rows: Vec<usize>,
    /// For each of these rows the place of its class among those that occur.
    classes: Vec<usize>,
    mean: Vec<f64>,
    class_means: Vec<Vec<f64>>,
    /// The ε of (V.2), in the units of a covariance.
    ridge: f64,
}

impl<'a> Sample<'a> {
    fn new(matrix: &'a Matrix, columns: usize, rows: Vec<usize>, class: impl Fn(usize) -> usize) -> Self {
        let mut present: Vec<usize> = rows.iter().map(|&row| class(row)).collect();
        present.sort_unstable();
        present.dedup();
        let classes: Vec<usize> = rows.iter().map(|&row| present.binary_search(&class(row)).unwrap_or(0)).collect();
        let mut sizes = vec![0.0; present.len()];
        classes.iter().for_each(|&class| sizes[class] += 1.0);
        let (mut mean, mut class_means) = (vec![0.0; columns], vec![vec![0.0; columns]; present.len()]);
        let mut square = 0.0;
        for (&row, &class) in rows.iter().zip(&classes) {
            matrix.add_scaled(row, 1.0 / rows.len() as f64, &mut mean);
            matrix.add_scaled(row, 1.0 / sizes[class], &mut class_means[class]);
            matrix.visit(row, |_, value| square += value * value / rows.len() as f64);
        }
        let variance = (square - dot(&mean, &mean)).max(0.0);
        let ridge = (RIDGE * variance / columns as f64).max(f64::MIN_POSITIVE);
        Sample { matrix, rows, classes, mean, class_means, ridge }
    }

    /// `S v`
    fn covariance(&self, v: &[f64]) -> Vec<f64> {
        self.scatter(v, |_| &self.mean)
    }

    /// `Σ (x − c)((x − c)·v) / n`, c the centre of each row.
    fn scatter<'b>(&'b self, v: &[f64], centre: impl Fn(usize) -> &'b [f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        let share = 1.0 / self.rows.len() as f64;
        for (&row, &class) in self.rows.iter().zip(&self.classes) {
            let centre = centre(class);
            let along = share * (self.matrix.dot(row, v) - dot(centre, v));
            self.matrix.add_scaled(row, along, &mut out);
            out.iter_mut().zip(centre).for_each(|(out, centre)| *out -= along * centre);
        }
        out
    }

    /// `(S_w + εI)⁻¹ (m_k − m)` for each class but one, which the others determine.
    fn discriminants(&self) -> Vec<Vec<f64>> {
        let within = |v: &[f64]| {
            let mut out = self.scatter(v, |class| &self.class_means[class]);
            out.iter_mut().zip(v).for_each(|(out, v)| *out += self.ridge * v);
            out
        };
        let leading = self.class_means.iter().skip(1).take(32).map(|mean| {
            let apart: Vec<f64> = mean.iter().zip(&self.mean).map(|(class, all)| class - all).collect();
            conjugate_gradients(within, apart)
        });
        leading.filter(|found| dot(found, found) > 0.0).collect()
    }
}

/// `Σ_k g_k (g_k·v)`, each g of length 1.
fn spanned(leading: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; v.len()];
    for g in leading {
        let along = dot(g, v) / dot(g, g);
        out.iter_mut().zip(g).for_each(|(out, g)| *out += along * g);
    }
    out
}

/// Solves `A x = b` for a positive definite A.
fn conjugate_gradients(product: impl Fn(&[f64]) -> Vec<f64>, b: Vec<f64>) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    let mut rest = b;
    let mut direction = rest.clone();
    let first = dot(&rest, &rest);
    let mut size = first;
    for _ in 0..STEPS {
        let image = product(&direction);
        let curvature = dot(&direction, &image);
        if !(curvature > 0.0 && size > 1e-20 * first) {
            break;
        }
        let step = size / curvature;
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        rest.iter_mut().zip(&image).for_each(|(r, image)| *r -= step * image);
        let next = dot(&rest, &rest);
        direction.iter_mut().zip(&rest).for_each(|(d, r)| *d = r + next / size * *d);
        size = next;
    }
    x
}

/// The `count` orthonormal directions along which a symmetric product is longest, orthogonal to some others. Where the product is 0, columns
/// take their place. Each points to where its largest entry is positive.
fn main_directions(
    columns: usize,
    count: usize,
    others: &[Vec<f64>],
    product: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for k in 0..count {
        let orthogonal = |v: &mut Vec<f64>, found: &[Vec<f64>]| {
            // Twice, because the first time leaves rounding behind.
            for other in others.iter().chain(found).chain(others).chain(found) {
                let along = dot(other, v);
                v.iter_mut().zip(other).for_each(|(v, other)| *v -= along * other);
            }
            normalise(v)
        };
        // A start without a pattern, the same each time.
        let mut state = 0x9e37_79b9_u32.wrapping_mul(k as u32 + 1);
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24) - 0.5
        };
        let mut v: Vec<f64> = (0..columns).map(|_| noise()).collect();
        if !orthogonal(&mut v, &found) {
            break;
        }
        for _ in 0..ROUNDS {
            let mut next = product(&v);
            if !orthogonal(&mut next, &found) {
                break;
            }
            v = next;
        }
        let largest = v.iter().fold(0.0, |best: f64, &value| if value.abs() > best.abs() { value } else { best });
        if largest < 0.0 {
            v.iter_mut().for_each(|value| *value = -*value);
        }
        found.push(v);
    }
    found
}

/// Gives a vector the length 1, if it has a length.
fn normalise(v: &mut [f64]) -> bool {
    let length = dot(v, v).sqrt();
    let has_length = length > 1e-150 && length.is_finite();
    if has_length {
        v.iter_mut().for_each(|value| *value /= length);
    }
    has_length
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_directions_are_the_long_axes_of_a_matrix() {
        // Eigenvectors (1, 1, 0), (1, −1, 0), (0, 0, 1) of 5, 3, 1.
        let matrix = [[4.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 1.0]];
        let product = |v: &[f64]| matrix.iter().map(|row| dot(row, v)).collect();
        let half = 0.5f64.sqrt();
        let found = main_directions(3, 2, &[], product);
        for (found, expected) in found.iter().zip([[half, half, 0.0], [half, -half, 0.0]]) {
            assert!((dot(found, &expected).abs() - 1.0).abs() < 1e-9, "{found:?}");
        }
        // Orthogonal to the first axis, the second is first. The negative control: without that it is not.
        let second = &main_directions(3, 1, &found[..1], product)[0];
        assert!((dot(second, &[half, -half, 0.0]).abs() - 1.0).abs() < 1e-9);
        assert!(dot(&found[0], &[half, -half, 0.0]).abs() < 1e-9);
    }

    #[test]
    fn conjugate_gradients_solve() {
        let product = |v: &[f64]| vec![4.0 * v[0] + v[1], v[0] + 3.0 * v[1]];
        let x = conjugate_gradients(product, vec![1.0, 2.0]);
        assert!((x[0] - 1.0 / 11.0).abs() < 1e-12 && (x[1] - 7.0 / 11.0).abs() < 1e-12, "{x:?}");
        assert_eq!(conjugate_gradients(product, vec![0.0, 0.0]), [0.0, 0.0]);
    }
}
