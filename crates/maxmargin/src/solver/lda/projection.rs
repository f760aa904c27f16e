//! Fisher's discriminant as a projection: K classes in K − 1 dimensions.

use std::ops::ControlFlow;

use faer::{Mat, Side};

use super::pooled::{Pooled, Sample};
use super::{Shrinkage, normalised};
use crate::control::{Control, Progress, Stop};
use crate::data::{Dataset, Matrix};
use crate::error::Error;
use crate::solver::dot;
use crate::workers::Workers;

/// The directions that tell K classes apart: the leading K − 1 solutions of `C_B w = λ C_W w`.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The directions, the most telling one first; each has one number a column and `w′ C_W w = 1`.
    pub directions: Vec<Vec<f64>>,
    /// λ of each direction: the spread of the classes' means along it, for a spread of 1 within the classes.
    pub eigenvalues: Vec<f64>,
    /// The mean of all rows, which is projected to 0.
    pub mean: Vec<f64>,
    /// The ridge that a singular C_W needed, relative to its diagonal; mostly 0.
    pub ridge: f64,
    /// Whether C_W is the scatter around the mean of all rows, because there are fewer rows than columns and no shrinkage: the
    /// rows of a class may then fall on one point, and λ goes from 0 to 1.
    pub around_common_mean: bool,
}

impl Projection {
    /// The coordinates of a row, one a direction.
    ///
    /// # Panics
    /// When the row is out of range, or the matrix has another number of columns.
    pub fn project(&self, matrix: &Matrix, row: usize) -> Vec<f64> {
        self.directions.iter().map(|direction| matrix.dot(row, direction) - dot(direction, &self.mean)).collect()
    }

    /// [`projection`] of data with weights, on all threads, and under a control: a break is handed back with its reason.
    ///
    /// # Errors
    /// As [`projection`].
    pub fn learn(
        data: &Dataset,
        shrinkage: Shrinkage,
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<ControlFlow<Stop, Projection>, Error> {
        let weight = |row: usize| data.weights().map_or(1.0, |weights| weights[row]);
        let rows: Vec<usize> = (0..data.rows()).filter(|&row| weight(row) > 0.0).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| weight(row)).collect();
        let labels = data.labels()?;
        let groups: Vec<usize> = rows.iter().map(|&row| labels.codes()[row] as usize).collect();
        let classes = labels.classes().len();
        let (matrix, mut poll) = (data.matrix(), || control.poll(Progress::default()));
        check(matrix, &groups, classes, shrinkage)?;
        let weights = normalised(&weights);
        learn(
            Sample { matrix, rows: &rows, weights: &weights, groups: &groups, classes, workers },
            shrinkage,
            &mut poll,
        )
    }
}

/// Fisher's discriminant for K classes
///
/// ```text
/// C_B w = λ C_W w,   C_B = Σ_k ω_k (m_k − m)(m_k − m)′                                    (FD.5)
/// ```
///
/// with ω_k the part of the rows that class k has. `codes` holds the class of each row, from 0 to `classes` − 1.
///
/// With fewer rows than columns no matrix of columns × columns is formed. Without shrinkage C_W is then the scatter around the
/// mean of all rows: around those of the classes there may be none in the directions that tell them apart.
///
/// Cost: n · d²/2 + O(d³), or d · n²/2 + O(n³).
///
/// # Errors
/// When there is not one code a row, a code is out of range, a class is empty, there are fewer than two classes or no columns,
/// the shrinkage is not from 0 to 1, or the numbers are too large or too small for a finite result.
///
/// # Examples
/// ```
/// use maxmargin::{data::Matrix, solver::lda_projection};
///
/// let matrix = Matrix::dense(4, 2, vec![0.0, 0.0, 0.0, 1.0, 5.0, 0.0, 5.0, 1.0])?;
/// let projection = lda_projection(&matrix, &[0, 0, 1, 1], 2, 0.1)?;
/// assert_eq!(projection.directions.len(), 1);
/// assert!(projection.directions[0][1].abs() < 1e-9); // the second column does not tell the classes apart
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn projection(
    matrix: &Matrix,
    codes: &[usize],
    classes: usize,
    shrinkage: impl Into<Shrinkage>,
) -> Result<Projection, Error> {
    if codes.len() != matrix.rows() {
        let (left, right) = (format!("{} codes", codes.len()), format!("{} rows", matrix.rows()));
        return Err(Error::Shape { operation: "projection", left, right });
    }
    let shrinkage = shrinkage.into();
    check(matrix, codes, classes, shrinkage)?;
    let rows: Vec<usize> = (0..matrix.rows()).collect();
    let weights = vec![1.0 / matrix.rows() as f64; matrix.rows()];
    let workers = Workers::none();
    let sample = Sample { matrix, rows: &rows, weights: &weights, groups: codes, classes, workers: &workers };
    match learn(sample, shrinkage, &mut || ControlFlow::Continue(()))? {
        ControlFlow::Continue(projection) => Ok(projection),
        ControlFlow::Break(_) => Err(not_finite()),
    }
}

fn data(what: &str, help: &str) -> Error {
    Error::Data { what: what.into(), help: help.into() }
}

fn not_finite() -> Error {
    data("the scatter matrix is not finite", "scale the columns (standard or minmax)")
}

fn check(matrix: &Matrix, codes: &[usize], classes: usize, shrinkage: Shrinkage) -> Result<(), Error> {
    shrinkage.check()?;
    if let Some(code) = codes.iter().find(|&&code| code >= classes) {
        return Err(Error::parameter("class code", code, "below the number of classes"));
    }
    let mut seen = vec![false; classes];
    codes.iter().for_each(|&code| seen[code] = true);
    if classes < 2 || seen.contains(&false) {
        return Err(data("a class has no rows, or there is one class only", "give rows of two classes at least"));
    }
    if matrix.columns() == 0 {
        return Err(data("there are no columns", "give at least one column"));
    }
    Ok(())
}

fn learn(
    sample: Sample<'_>,
    shrinkage: Shrinkage,
    poll: &mut dyn FnMut() -> ControlFlow<Stop>,
) -> Result<ControlFlow<Stop, Projection>, Error> {
    let pooled = match Pooled::new(sample, shrinkage, poll) {
        ControlFlow::Continue(Some(pooled)) => pooled,
        ControlFlow::Continue(None) => return Err(not_finite()),
        ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
    };
    let (classes, columns) = (sample.classes, sample.matrix.columns());
    let mean = pooled.mean();
    // C_B = MM′ with a column √ω_k (m_k − m) for each class.
    let between: Vec<Vec<f64>> = (0..classes)
        .map(|k| {
            let root = pooled.masses[k].sqrt();
            pooled.difference(&pooled.means[k], &mean).into_iter().map(|value| root * value).collect()
        })
        .collect();
    let mut solved = between.clone();
    let around_common_mean = pooled.on_span_only();
    let done = if around_common_mean {
        let groups = vec![0; sample.rows.len()];
        match Pooled::new(Sample { groups: &groups, classes: 1, ..sample }, shrinkage, poll) {
            ControlFlow::Continue(Some(together)) => together.solve(&mut solved, poll),
            ControlFlow::Continue(None) => return Err(not_finite()),
            ControlFlow::Break(stop) => ControlFlow::Break(stop),
        }
    } else {
        pooled.solve(&mut solved, poll)
    };
    if let ControlFlow::Break(stop) = done {
        return Ok(ControlFlow::Break(stop));
    }
    if solved.iter().flatten().any(|value| !value.is_finite()) {
        return Err(not_finite());
    }
    // The small matrix M′ C_W⁻¹ M has the same eigenvalues; its vectors v lead to those of (FD.5), w = C_W⁻¹ M v / √λ.
    let product = |k: usize, l: usize| dot(&between[k], &solved[l]);
    let small = Mat::from_fn(classes, classes, |k, l| 0.5 * (product(k, l) + product(l, k)));
    let eigen = small.self_adjoint_eigen(Side::Lower).map_err(|_| not_finite())?;
    let (mut directions, mut eigenvalues) = (Vec::new(), Vec::new());
    for k in (0..classes).rev().take((classes - 1).min(columns)) {
        let value = eigen.S()[k].max(0.0);
        // A value that is rounding has no direction: the means lie in fewer dimensions.
        if value <= 1e-14 * eigen.S()[classes - 1] {
            break;
        }
        let length = value.sqrt();
        let component = |j: usize| (0..classes).map(|l| solved[l][j] * eigen.U()[(l, k)]).sum::<f64>() / length;
        let direction: Vec<f64> = (0..columns).map(component).collect();
        if direction.iter().any(|value| !value.is_finite()) {
            return Err(not_finite());
        }
        directions.push(direction);
        eigenvalues.push(value);
    }
    let ridge = pooled.ridge;
    Ok(ControlFlow::Continue(Projection { directions, eigenvalues, mean, ridge, around_common_mean }))
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::*;
    use super::super::super::{Decision, Settings, SolverKind};
    use super::*;

    #[test]
    fn the_projection_of_two_classes_is_the_discriminant_and_whitens_the_scatter() {
        let fixture = Fixture::new(&blobs(50, 1.0, 6), 1.0);
        let codes: Vec<usize> = fixture.signs.iter().map(|&sign| usize::from(sign > 0.0)).collect();
        let found = projection(&fixture.matrix, &codes, 2, 0.0).unwrap();
        let Decision::Linear { weights, .. } = fixture.solve(SolverKind::Lda, &Settings::default()).decision else {
            panic!("not linear")
        };
        let direction = &found.directions[0];
        assert!((direction[0] * weights[1] - direction[1] * weights[0]).abs() < 1e-9 * weights[0].abs());
        let projected: Vec<f64> = (0..50).map(|row| found.project(&fixture.matrix, row)[0]).collect();
        let mean = |code: usize| (0..50).filter(|&i| codes[i] == code).map(|i| projected[i] / 25.0).sum::<f64>();
        let spread: f64 = (0..50).map(|i| (projected[i] - mean(codes[i])).powi(2) / 50.0).sum();
        assert!((spread - 1.0).abs() < 1e-9);
        // Two classes of half the rows each: the means' spread is a quarter of their squared distance.
        assert!((found.eigenvalues[0] - 0.25 * (mean(0) - mean(1)).powi(2)).abs() < 1e-9);
    }

    #[test]
    fn three_classes_in_a_triangle_have_two_directions_and_on_a_line_one() {
        let centres = |bent: f64| [[0.0, 0.0], [4.0, 0.0], [8.0, bent]];
        for (bent, expected) in [(5.0, 2), (0.0, 1)] {
            let shape = [[0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3]];
            let values: Vec<f64> = centres(bent)
                .iter()
                .flat_map(|centre| shape.iter().flat_map(move |offset| [centre[0] + offset[0], centre[1] + offset[1]]))
                .collect();
            let codes: Vec<usize> = (0..12).map(|i| i / 4).collect();
            let found = projection(&Matrix::dense(12, 2, values).unwrap(), &codes, 3, 0.0).unwrap();
            assert_eq!(found.directions.len(), expected);
            assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn without_shrinkage_fewer_rows_than_columns_put_each_class_on_one_point() {
        let values: Vec<f64> = (0..9 * 30).map(|k| ((k * k + 3 * k) as f64).sin()).collect();
        let dense = Matrix::dense(9, 30, values).unwrap();
        let codes: Vec<usize> = (0..9).map(|i| i % 3).collect();
        for matrix in [&dense, &dense.to_sparse()] {
            let found = projection(matrix, &codes, 3, 0.0).unwrap();
            assert!(found.around_common_mean && found.directions.len() == 2);
            for row in 0..9 {
                let (own, first) = (found.project(matrix, row), found.project(matrix, row % 3));
                assert!(own.iter().zip(&first).all(|(a, b)| (a - b).abs() < 1e-7), "{own:?} {first:?}");
            }
            assert!((found.eigenvalues[1] - 1.0).abs() < 1e-8, "{:?}", found.eigenvalues);
        }
    }

    #[test]
    fn bad_codes_are_errors() {
        let matrix = Matrix::dense(2, 1, vec![0.0, 1.0]).unwrap();
        assert!(projection(&matrix, &[0], 2, 0.0).is_err());
        assert!(projection(&matrix, &[0, 2], 2, 0.0).is_err());
        assert!(projection(&matrix, &[0, 0], 2, 0.0).is_err());
        assert!(projection(&matrix, &[0, 1], 2, f64::NAN).is_err());
        assert!(projection(&matrix, &[0, 1], 2, 0.0).is_ok());
    }
}
