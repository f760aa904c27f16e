//! `inspect`: what a model is made of, and what it looks like in space.

use maxmargin::data::{Dataset, Matrix};
use maxmargin::geometry::{Conic, Hyperplane, NearestPoints, RiskBound, nearest_points};
use maxmargin::kernel::{Kernel, KernelFunction, Points};
use maxmargin::model::Machine;
use maxmargin::problem::{Bias, Loss, MarginParts, MarginProblem};
use maxmargin::solver::Settings;
use maxmargin::view::PenaltyView;
use maxmargin::{Model, Workers};

use crate::arguments::Inspect;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::progress::Watch;
use crate::report::machines;
use crate::report::model::{self as report, Geometries, Geometry, Hulls, Plane, Risk};
use crate::size;

/// How near to the hulls' true distance is near enough, as a part of it.
const HULL_TOLERANCE: f64 = 1e-6;

/// Shows a model.
pub(super) fn run(arguments: &Inspect) -> Result<ExitCode, Failure> {
    let words = Words { quiet: false };
    let origin = arguments.data.as_deref().map(|data| Origin::new(data, words)).transpose()?;
    if !(arguments.mu > 0.0 && arguments.mu <= 1.0) {
        return Err(maxmargin::Error::parameter("mu", arguments.mu, "above 0 and at most 1").into());
    }
    let workers = Workers::new(arguments.threads)?;
    let model = crate::model_file::load(&arguments.model)?;
    let data = match &origin {
        None => None,
        Some(origin) => {
            let source = origin.fetch(arguments.reading.seed_of(&model), &workers, words)?;
            let found = input::read_for_model(&source, &model, &arguments.reading, false, words)?;
            if !found.labelled() {
                return Err(Failure::new(
                    format!("{}: the data has no label column, which the geometry needs", origin.shown()),
                    "name the label column with --label",
                ));
            }
            Some(input::training_part(&model, found.data, arguments.reading.seed_of(&model), &workers)?.0)
        }
    };
    if data.is_some() && !model.task().is_classification() {
        return Err(Failure::new(
            format!("the geometry of points is that of two classes, which a model of {} has not", model.task().name()),
            "leave the data out",
        ));
    }
    let geometries = match &data {
        None => Geometries::Alone(alone),
        Some(data) => {
            let points = Measured::new(&model, data)?;
            let measure = |machine| measure(&model, machine, &points, arguments.mu, &workers);
            Geometries::Measured(model.machines().iter().map(measure).collect::<Result<_, Failure>>()?)
        }
    };
    if arguments.json {
        output::print_json(&report::view(&model, &geometries))?;
    } else {
        let file = output::escaped(&arguments.model.to_string_lossy());
        output::print(&report::words(&file, &model, &geometries))?;
    }
    Ok(ExitCode::Done)
}

/// Data in the model's columns, scaled, with the class of each row.
struct Measured {
    matrix: Matrix,
    codes: Vec<Option<u32>>,
}

impl Measured {
    fn new(model: &Model, data: &Dataset) -> Result<Self, Failure> {
        let matrix = model.align(data)?.points.matrix().clone();
        Ok(Measured { matrix, codes: model.codes(data) })
    }

    /// The rows that a machine is about, and their signs.
    fn rows(&self, machine: &Machine) -> (Vec<usize>, Vec<f64>) {
        let sign = |row: usize| self.codes[row].and_then(|code| machine.pairing.sign(code as usize));
        (0..self.codes.len()).filter_map(|row| sign(row).map(|sign| (row, sign))).unzip()
    }
}

/// The hyperplane of a linear machine; none where the weights are those of a network's units.
fn hyperplane(model: &Model, machine: &Machine) -> Option<Hyperplane> {
    let own = machine.weights.clone().filter(|_| model.parts().network.is_none());
    own.and_then(|weights| Hyperplane::new(weights, machine.bias).ok())
}

/// What a machine looks like without data beside it.
fn alone(model: &Model, machine: &Machine) -> Geometry {
    let plane = hyperplane(model, machine).map(|plane| Plane { plane, canonical: None, margin: None });
    Geometry { plane, conic: conic(model, machine), ..Geometry::default() }
}

/// What a machine looks like beside its rows.
fn measure(
    model: &Model,
    machine: &Machine,
    points: &Measured,
    mu: f64,
    workers: &Workers,
) -> Result<Geometry, Failure> {
    let mut geometry = Geometry { conic: conic(model, machine), ..Geometry::default() };
    let (rows, signs) = points.rows(machine);
    if !(signs.contains(&1.0) && signs.contains(&-1.0)) {
        return Err(Failure::new(
            format!("the data has no rows of both classes of the machine {}", machines::title(model, machine)),
            "give data with the labels that the model was trained on",
        ));
    }
    if let Some(plane) = hyperplane(model, machine) {
        let own = points.matrix.select_rows(&rows);
        let margin = plane.margin(&own, &signs)?;
        // A point on the hyperplane has no canonical form.
        geometry.plane = Some(Plane { canonical: plane.canonical(&own).ok(), margin: Some(margin), plane });
    }
    if !model.recipe().kernel.is_precomputed() {
        geometry.hulls = Some(hulls(model, &points.matrix, rows.clone(), signs, mu, workers)?);
        geometry.risk = risk(model, machine, &points.matrix, &rows);
    }
    Ok(geometry)
}

/// The nearest points of the classes' convex hulls, in the kernel's space.
fn hulls(
    model: &Model,
    matrix: &Matrix,
    rows: Vec<usize>,
    signs: Vec<f64>,
    mu: f64,
    workers: &Workers,
) -> Result<Hulls, Failure> {
    let kernel = &model.recipe().kernel;
    let points = Points::new(matrix.clone(), false);
    let problem = MarginProblem::new(MarginParts::new(kernel, &points, workers, rows, signs))?;
    let mut watch = Watch::new(None, false);
    let memory = size::default_memory().0;
    let settings = Settings { tolerance: Some(HULL_TOLERANCE), memory, ..Settings::default() };
    let found = nearest_points(&problem, mu, &settings, &mut watch);
    watch.finish();
    let nearest = found?;
    let at = |weights: &[(usize, f64)]| {
        let mut point = vec![0.0; matrix.columns()];
        weights.iter().for_each(|&(row, weight)| matrix.add_scaled(row, weight, &mut point));
        point
    };
    let NearestPoints { positive, negative, .. } = &nearest;
    let ends = kernel.is_linear().then(|| (at(positive), at(negative)));
    Ok(Hulls { mu, ends, nearest })
}

/// The conic of a kernel of degree 2 over two columns, in the columns' own units.
fn conic(model: &Model, machine: &Machine) -> Option<Conic> {
    let parts = model.parts();
    let KernelFunction::Polynomial(kernel) = &parts.recipe.kernel else { return None };
    let vectors = parts.vectors.as_ref()?;
    if kernel.degree != 2 || parts.columns != 2 {
        return None;
    }
    let places: Vec<usize> = machine.support.iter().map(|&place| place as usize).collect();
    // A folded bias adds 1 to each dot product: (γ(⟨v, x⟩ + 1) + c)².
    let coef0 = kernel.coef0 + if parts.recipe.bias == Bias::Folded { kernel.gamma } else { 0.0 };
    let vectors = vectors.select_rows(&places);
    let conic = Conic::of_quadratic_kernel(&vectors, &machine.coefficients, kernel.gamma, coef0, machine.bias).ok()?;
    let Some(scaling) = &parts.scaling else { return Some(conic) };
    Conic::new(unscaled(conic.coefficients(), scaling.offsets(), scaling.factors())).ok()
}

/// A quadratic polynomial of `(x − offset) · factor` as one of x.
fn unscaled([a, b, c, d, e, f]: [f64; 6], offsets: &[f64], factors: &[f64]) -> [f64; 6] {
    let ([o1, o2], [s, t]) = ([offsets[0], offsets[1]], [factors[0], factors[1]]);
    let (a, b, c, d, e) = (a * s * s, b * s * t, c * t * t, d * s, e * t);
    [
        a,
        b,
        c,
        d - 2.0 * a * o1 - b * o2,
        e - 2.0 * c * o2 - b * o1,
        f + a * o1 * o1 + b * o1 * o2 + c * o2 * o2 - d * o1 - e * o2,
    ]
}

/// The risk bound at the model's own size: ρ² = max k(x, x), B = ‖w‖, with the constant and b where the model is linear.
fn risk(model: &Model, machine: &Machine, matrix: &Matrix, rows: &[usize]) -> Option<Risk> {
    // The bound is one of the exact machine.
    if model.recipe().loss != Loss::Hinge || model.parts().landmarks.is_some() {
        return None;
    }
    let lambda = PenaltyView::of_machine(machine, model.recipe().norm, model.recipe().penalty).lambda?;
    let points = Points::new(matrix.clone(), machine.weights.is_some());
    let mut squares = vec![0.0; rows.len()];
    model.recipe().kernel.diagonal(points.rows(rows), &mut squares);
    let rho = squares.iter().copied().fold(0.0, f64::max).sqrt();
    let bound = match &machine.weights {
        Some(weights) => weights.iter().chain([&machine.bias]).map(|weight| weight * weight).sum::<f64>().sqrt(),
        None => 1.0 / machine.evidence.certificate()?.margin,
    };
    let found = RiskBound::new(rho, bound, machine.rows, lambda).ok()?;
    Some(Risk { rho, bound, lambda, rows: machine.rows, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_keeps_its_values_when_scaling_is_undone() {
        let (offsets, factors) = ([2.0, -1.0], [0.5, 3.0]);
        let scaled = Conic::new([1.0, -2.0, 0.5, 3.0, -1.0, 0.25]).unwrap();
        let own = Conic::new(unscaled(scaled.coefficients(), &offsets, &factors)).unwrap();
        for x in [[0.0, 0.0], [1.0, 2.0], [-3.0, 0.5]] {
            let z = [(x[0] - offsets[0]) * factors[0], (x[1] - offsets[1]) * factors[1]];
            assert!((own.value(x) - scaled.value(z)).abs() < 1e-12, "{x:?}");
        }
    }
}
