//! E6: iris on its first two principal components.

use faer::{Mat, Side};

use super::{Entry, Notebook, certificate, coefficients, embedded, line, machine, params};
use crate::data::{Dataset, Label, Matrix};
use crate::error::Error;
use crate::geometry::Conic;
use crate::kernel::{Gamma, KernelParams};
use crate::model::Model;
use crate::problem::{Bias, Loss};
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E6",
    title: "iris on its principal components",
    shows: "Versicolor lies between the other two species, so a line is a poor boundary and a conic a good one: four \
            errors of 150.",
    figure,
    run,
};

/// Of x1², x1x2, x1, x2², x2 and 1.
const CONIC: [f64; 6] = [-1.865776, 1.873662, 0.148380, -0.853038, 1.214631, 3.256779];

/// What the numbers are of, in that order.
pub(super) const NAMES: [&str; 6] = ["x1^2", "x1*x2", "x1", "x2^2", "x2", "1"];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    quadratic(Loss::Hinge)
}

/// The homogeneous quadratic kernel on x' = (x, 1).
pub(super) fn quadratic(loss: Loss) -> Result<(Dataset, TrainingParams), Error> {
    let kernel = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 2 };
    Ok((principal_components()?, TrainingParams { kernel, loss: Some(loss), ..linear() }))
}

fn linear() -> TrainingParams {
    let positive = Some(Label::new("versicolor"));
    TrainingParams { penalty: Penalty::C(10.0), bias: Bias::Folded, positive, ..params() }
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let data = principal_components()?;
    let params = linear();
    for (kind, model) in notebook.fit_all(&data, &params)? {
        let found = line(&model);
        let sizes = [found[0].abs(), found[1].abs(), found[2]];
        let names = ["linear: |w1|", "linear: |w2|", "linear: b"];
        notebook.all_equal(&names, kind, &[0.162953, 1.895582, -0.803994], &sizes);
        notebook.equal("linear: objective", Some(kind), 970.828162, certificate(&model)?.primal);
        notebook.equal("linear: dual objective", Some(kind), 970.828162, certificate(&model)?.dual);
    }
    notebook.descend(&data, &params, "linear: ", 970.828162)?;

    let (data, params) = quadratic(Loss::Hinge)?;
    for (kind, model) in notebook.fit_all(&data, &params)? {
        notebook.all_equal(&NAMES, kind, &CONIC, &conic(&model, &data)?);
        notebook.equal("objective", Some(kind), 114.287993, certificate(&model)?.primal);
        notebook.equal("dual objective", Some(kind), 114.287993, certificate(&model)?.dual);
        notebook.count("training errors", Some(kind), 4, machine(&model).training_errors);
    }
    Ok(())
}

/// The coefficients of the boundary's conic, in the order of [`NAMES`].
pub(super) fn conic(model: &Model, data: &Dataset) -> Result<[f64; 6], Error> {
    // ⟨x', z'⟩² = (⟨x, z⟩ + 1)²
    let conic = Conic::of_quadratic_kernel(data.matrix(), &coefficients(model), 1.0, 1.0, machine(model).bias)?;
    let [a, b, c, d, e, f] = conic.coefficients();
    Ok([a, b, d, c, e, f])
}

/// The first two principal components of iris: its centred rows along the two directions in which they vary most.
///
/// The sign of a direction is free; here its largest number in size is positive.
pub(super) fn principal_components() -> Result<Dataset, Error> {
    let iris = embedded("iris")?;
    let (rows, columns) = (iris.rows(), iris.columns());
    let mut mean = vec![0.0; columns];
    (0..rows).for_each(|row| iris.matrix().add_scaled(row, 1.0 / rows as f64, &mut mean));
    let centred: Vec<Vec<f64>> = (0..rows)
        .map(|row| iris.matrix().row(row).iter().zip(&mean).map(|(value, mean)| value - mean).collect())
        .collect();
    let covariance = Mat::from_fn(columns, columns, |i, j| {
        centred.iter().map(|row: &Vec<f64>| row[i] * row[j]).sum::<f64>() / (rows - 1) as f64
    });
    let eigen = covariance.self_adjoint_eigen(Side::Lower).map_err(|_| Error::Data {
        what: "the principal components of iris could not be found".into(),
        help: "this does not happen to finite numbers; report it".into(),
    })?;
    // The eigenvalues rise.
    let directions = [columns - 1, columns - 2].map(|place| {
        let direction: Vec<f64> = (0..columns).map(|i| eigen.U()[(i, place)]).collect();
        let largest = direction.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        direction.into_iter().map(|value| value * largest.signum()).collect::<Vec<f64>>()
    });
    let along = |row: &[f64], direction: &[f64]| row.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>();
    let values: Vec<f64> = centred.iter().flat_map(|row| [0, 1].map(|k: usize| along(row, &directions[k]))).collect();
    let matrix = Matrix::dense(rows, 2, values)?;
    Dataset::new(matrix, iris.labels()?.clone())?.with_names(vec!["component1".into(), "component2".into()])
}
