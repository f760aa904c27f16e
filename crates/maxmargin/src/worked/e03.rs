//! E3: a quadratic kernel and its ellipse.

use super::{Entry, Notebook, certificate, coefficients, embedded, machine, params};
use crate::data::Dataset;
use crate::error::Error;
use crate::geometry::{Conic, ConicKind};
use crate::kernel::{Gamma, KernelParams};
use crate::lift::{Lift, Monomials};
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E3",
    title: "a quadratic kernel",
    shows: "A machine with the kernel (1 + <x, z>)^2 is linear in the monomials up to degree 2, and its boundary in the \
            plane is a conic: here an ellipse.",
    figure,
    run,
};

const ALPHA: [f64; 6] = [0.620085, 2.070513, 3.805128, 0.318376, 2.961538, 3.852564];

/// In the basis (1, √2 x1, √2 x2, x1², x2², √2 x1x2).
const WEIGHTS: [f64; 6] = [0.0, -std::f64::consts::SQRT_2, -3.299832, 0.256410, 0.820513, -0.018131];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    let kernel = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
    Ok((embedded("e3")?, TrainingParams { kernel, penalty: Penalty::C(4.0), ..params() }))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (data, params) = figure()?;
    let map = Monomials::new(2, 2, 1.0, 1.0)?;
    for (kind, model) in notebook.fit_all(&data, &params)? {
        let (coefficients, bias) = (coefficients(&model), machine(&model).bias);
        let alpha: Vec<f64> = coefficients.iter().map(|coefficient| coefficient.abs()).collect();
        let names: [&str; 6] = ["alpha 1", "alpha 2", "alpha 3", "alpha 4", "alpha 5", "alpha 6"];
        notebook.all_equal(&names, kind, &ALPHA, &alpha);
        // w = Σ α_i y_i φ(x_i)
        let mut weights = vec![0.0; map.output_columns()];
        let mut lifted = weights.clone();
        for (row, &coefficient) in coefficients.iter().enumerate() {
            map.lift_row(&data.matrix().row(row), &mut lifted);
            weights.iter_mut().zip(&lifted).for_each(|(weight, value)| *weight += coefficient * value);
        }
        let names = ["w of 1", "w of √2 x1", "w of √2 x2", "w of x1^2", "w of x2^2", "w of √2 x1*x2"];
        notebook.all_equal(&names, kind, &WEIGHTS, &weights);
        notebook.equal("b", Some(kind), 8.846154, bias);
        notebook.equal("objective", Some(kind), 6.814103, certificate(&model)?.primal);
        notebook.equal("dual objective", Some(kind), 6.814103, certificate(&model)?.dual);

        let conic = Conic::of_quadratic_kernel(data.matrix(), &coefficients, 1.0, 1.0, bias)?;
        let is_ellipse = usize::from(conic.kind() == ConicKind::Ellipse);
        notebook.count("the boundary is an ellipse (1) or not (0)", Some(kind), 1, is_ellipse);
        let centre = conic.centre().unwrap_or([f64::NAN; 2]);
        notebook.all_equal(&["centre x1", "centre x2"], kind, &[4.04535, 2.90696], &centre);
        let axes = conic.semi_axes().unwrap_or([f64::NAN; 2]);
        notebook.all_equal(&["longer semi-axis", "shorter semi-axis"], kind, &[2.78190, 1.55397], &axes);
    }
    Ok(())
}
