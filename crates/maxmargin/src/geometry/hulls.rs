//! The nearest points of the two classes' convex hulls, which are the hard margin seen from the other side.
//!
//! ```text
//! min ‖p − q‖,   p = Σ_{y_i=+1} a_i φ(x_i),  q = Σ_{y_i=−1} a_i φ(x_i)
//! Σ_{+} a_i = Σ_{−} a_i = 1,   0 ≤ a_i ≤ μ                                       (G.1)
//! ```
//!
//! With μ = 1 these are the convex hulls, and `‖p − q‖ = 2/‖w‖` of the hard margin, `α = 2a/‖p − q‖²`. With μ < 1 they are
//! reduced hulls, which belong to the soft margin. (G.1) is a dual problem with a sum held fixed for either sign, so
//! `smo` solves it.

#[cfg(feature = "serde")]
use serde::Serialize;

use crate::control::{Control, Stop};
use crate::error::Error;
use crate::kernel::{Gram, Kernel, KernelFunction, Rows};
use crate::problem::{Bias, Coupling, DualParts, DualProblem, MarginProblem};
use crate::solver::Settings;
use crate::solver::smo::{DualSolution, solve_dual};

/// The nearest points of two (reduced) hulls, as combinations of rows.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct NearestPoints {
    /// ‖p − q‖, the distance of the points found: never below the hulls' distance.
    pub distance: f64,
    /// A bound below the hulls' distance; 0 when they may meet.
    pub at_least: f64,
    /// The rows (places in the points) that p is made of, with their weights.
    pub positive: Vec<(usize, f64)>,
    /// The rows that q is made of, with their weights.
    pub negative: Vec<(usize, f64)>,
    /// Why the search ended.
    pub stop: Stop,
}

/// Distances below this part of the data's own size count as 0.
const MEETING: f64 = 1e-7;

/// Steps of `smo` at each tolerance.
const MOST_STEPS: u64 = 1_000_000;

/// Finds the nearest points of the hulls of the two classes, reduced when `most` (μ) is below 1.
///
/// The bounds meet to a part of `settings.tolerance()`, or the hulls to within 1e-7 of the largest ‖φ(x)‖.
///
/// # Errors
/// When μ is so small that a class cannot reach a sum of 1.
pub fn nearest_points(
    problem: &MarginProblem<'_>,
    most: f64,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<NearestPoints, Error> {
    let n = problem.len();
    let dual = DualProblem::new(DualParts {
        gram: problem.gram(),
        rows: problem.rows().to_vec(),
        signs: problem.signs().to_vec(),
        linear: vec![0.0; n],
        upper: vec![most; n],
        ridge: vec![0.0; n],
        coupling: Coupling::BySign,
        start: start(problem.signs(), most)?,
    })?;
    let enough = |low: f64, high: f64| high - low <= settings.tolerance() * high;
    let HullSearch { weights, distance, at_least, stop, .. } = search(dual, most, enough, settings, control)?;
    let rows = |wanted: f64| {
        let of_class = (0..n).filter(|&i| weights[i] > 0.0 && problem.signs()[i] == wanted);
        of_class.map(|i| (problem.rows()[i], weights[i])).collect()
    };
    Ok(NearestPoints { distance, at_least, positive: rows(1.0), negative: rows(-1.0), stop })
}

/// Checks that a hard margin exists.
///
/// A plane through the origin of the kernel's space separates the classes exactly when the hull of the rows `y_i φ(x_i)` does not contain
/// the origin:
///
/// ```text
/// min ‖Σ a_i y_i φ(x_i)‖,   Σ a_i = 1,   a_i ≥ 0                                 (G.2)
/// ```
///
/// This is the check without an explicit bias; with one it is (G.1).
///
/// # Errors
/// [`Error::NotSeparable`] with the rows at which the hulls meet. When the search ends without an answer there is no error:
/// the solver may still find one.
pub(crate) fn check_separable(
    problem: &MarginProblem<'_>,
    classes: (String, String),
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<(), Error> {
    let n = problem.len();
    let explicit = problem.bias() == Bias::Explicit;
    let turned = Turned::new(problem);
    let (gram, signs, coupling) = if explicit {
        (problem.gram(), problem.signs().to_vec(), Coupling::BySign)
    } else {
        (Gram::new(&turned, problem.points(), problem.workers()), vec![1.0; n], Coupling::All)
    };
    let start = start(&signs, 1.0)?;
    let (linear, upper, ridge) = (vec![0.0; n], vec![1.0; n], vec![0.0; n]);
    let rows = problem.rows().to_vec();
    let dual = DualProblem::new(DualParts { gram, rows, signs, linear, upper, ridge, coupling, start })?;
    let HullSearch { weights, distance, meet, .. } = search(dual, 1.0, |low, _| low > 0.0, settings, control)?;
    if !meet {
        return Ok(());
    }
    let mut rows: Vec<usize> = (0..n).filter(|&i| weights[i] > 0.0).collect();
    rows.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
    let rows = rows.into_iter().map(|i| problem.points().number(problem.rows()[i]) + 1).collect();
    Err(Error::NotSeparable { classes, rows, distance, through_origin: problem.bias() == Bias::None })
}

/// A kernel of signed rows: `y_x y_z k(x, z)`.
#[derive(Debug)]
struct Turned<'a> {
    kernel: &'a KernelFunction,
    /// The sign of each row of the points.
    signs: Vec<f64>,
}

impl<'a> Turned<'a> {
    fn new(problem: &MarginProblem<'a>) -> Self {
        let mut signs = vec![1.0; problem.points().len()];
        problem.rows().iter().zip(problem.signs()).for_each(|(&row, &sign)| signs[row] = sign);
        Turned { kernel: problem.kernel(), signs }
    }
}

impl Kernel for Turned<'_> {
    fn block(&self, left: Rows<'_>, right: Rows<'_>, out: &mut [f64]) {
        self.kernel.block(left, right, out);
        for (&i, values) in left.list().iter().zip(out.chunks_mut(right.len().max(1))) {
            right.list().iter().zip(values).for_each(|(&j, value)| *value *= self.signs[i] * self.signs[j]);
        }
    }

    fn always_positive_semidefinite(&self) -> bool {
        self.kernel.always_positive_semidefinite()
    }
}

/// The result of a search for the nearest points.
struct HullSearch {
    /// a of (G.1) or (G.2).
    weights: Vec<f64>,
    /// The distance at these weights.
    distance: f64,
    /// A bound below the least distance; 0 when the hulls may meet.
    at_least: f64,
    /// Whether the distance is 0, as far as numbers of this size can tell.
    meet: bool,
    stop: Stop,
}

/// Solves (G.1) or (G.2) with smaller and smaller tolerances until `enough` accepts the bounds on the distance, or the hulls meet.
fn search(
    mut dual: DualProblem<'_>,
    most: f64,
    enough: impl Fn(f64, f64) -> bool,
    settings: &Settings,
    control: &mut dyn Control,
) -> Result<HullSearch, Error> {
    let size = dual.diagonal().into_iter().fold(0.0, f64::max);
    let mut tolerance = 1e-2 * size;
    loop {
        let settings = Settings { tolerance: Some(tolerance), max_iterations: Some(MOST_STEPS), ..settings.clone() };
        let DualSolution { alpha, gradient, stop, .. } = solve_dual(&dual, &settings, control);
        // With d = p − q: ‖d‖² = a′Qa, and no point of the hulls is nearer than (min₊⟨d, φ⟩ − max₋⟨d, φ⟩)/‖d‖.
        let squared: f64 = alpha.iter().zip(&gradient).map(|(a, g)| a * g).sum::<f64>().max(0.0);
        let distance = squared.sqrt();
        let at_least = if distance > 0.0 { (separation(&dual, &gradient, most) / distance).max(0.0) } else { 0.0 };
        let meet = distance <= MEETING * size.sqrt();
        let ended = stop != Stop::Converged || tolerance <= 1e-16 * size;
        if meet || ended || enough(at_least, distance) {
            // Both are one number in exact arithmetic: rounding must not turn them round.
            let at_least = if meet { 0.0 } else { at_least.min(distance) };
            return Ok(HullSearch { weights: alpha, distance, at_least, meet, stop });
        }
        dual = dual.with_start(alpha)?;
        tolerance *= 0.1;
    }
}

/// `min₊⟨d, φ⟩ − max₋⟨d, φ⟩` over the (reduced) hulls: the least value of a linear function on each. The gradient holds
/// `s_i ⟨d, φ(x_i)⟩`, so both are least weighted sums of it with weights of at most μ that add up to 1.
fn separation(dual: &DualProblem<'_>, gradient: &[f64], most: f64) -> f64 {
    let least = |wanted: f64| {
        let of_class = gradient.iter().zip(dual.signs()).filter(|(_, sign)| **sign == wanted);
        let mut values: Vec<f64> = of_class.map(|(value, _)| *value).collect();
        values.sort_by(f64::total_cmp);
        let mut rest = 1.0;
        let mut sum = 0.0;
        for value in values {
            let part = most.min(rest);
            sum += part * value;
            rest -= part;
        }
        sum
    };
    least(1.0) + least(-1.0)
}

/// A feasible point: weights of μ on the first rows of each sign until they add up to 1.
fn start(signs: &[f64], most: f64) -> Result<Vec<f64>, Error> {
    if !(most > 0.0 && most <= 1.0) {
        return Err(Error::parameter("mu", most, "above 0 and at most 1"));
    }
    let mut rest = [-1.0, 1.0].map(|sign| if signs.contains(&sign) { 1.0 } else { 0.0 });
    let mut start = vec![0.0; signs.len()];
    for (value, &sign) in start.iter_mut().zip(signs) {
        let rest = &mut rest[usize::from(sign > 0.0)];
        *value = most.min(*rest);
        *rest -= *value;
    }
    if rest.iter().all(|&rest| rest <= 1e-12) {
        return Ok(start);
    }
    Err(Error::Combination {
        what: format!("a reduced hull with mu = {most} is empty: a class has too few rows to reach a sum of 1"),
        help: "choose mu of at least 1 divided by the rows of the smaller class".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Matrix, embedded};
    use crate::kernel::{KernelFunction, Linear, Points};
    use crate::problem::MarginParts;
    use crate::workers::Workers;

    fn with_problem<R>(values: Vec<f64>, signs: Vec<f64>, work: impl FnOnce(&MarginProblem<'_>) -> R) -> R {
        let n = signs.len();
        let points = Points::new(Matrix::dense(n, values.len() / n, values).unwrap(), false);
        let (kernel, workers) = (KernelFunction::Linear(Linear {}), Workers::none());
        work(&MarginProblem::new(MarginParts::new(&kernel, &points, &workers, (0..n).collect(), signs)).unwrap())
    }

    fn tight() -> Settings {
        Settings { tolerance: Some(1e-9), ..Settings::default() }
    }

    fn of_embedded(name: &str) -> (Vec<f64>, Vec<f64>) {
        let data = embedded(name).unwrap();
        let values = (0..data.rows()).flat_map(|row| data.matrix().row(row)).collect();
        let signs = data.labels().unwrap().codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect();
        (values, signs)
    }

    #[test]
    fn the_hulls_of_the_first_example_are_as_far_apart_as_the_book_says() {
        let (values, signs) = of_embedded("e1");
        with_problem(values, signs, |problem| {
            let nearest = nearest_points(problem, 1.0, &tight(), &mut Unattended).unwrap();
            assert!((nearest.distance - 2.228344).abs() < 1e-6, "{nearest:?}");
            assert!(nearest.at_least <= nearest.distance && nearest.at_least > 2.2283);
            for side in [&nearest.positive, &nearest.negative] {
                assert!((side.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
            }
            check_separable(problem, ("-1".into(), "+1".into()), &tight(), &mut Unattended).unwrap();
        });
    }

    #[test]
    fn hulls_that_meet_are_refused_with_the_rows_at_which_they_do() {
        // The middle point of the positive pair is the negative point.
        with_problem(vec![0.0, 2.0, 1.0, 5.0], vec![1.0, 1.0, -1.0, -1.0], |problem| {
            let error = check_separable(problem, ("no".into(), "yes".into()), &tight(), &mut Unattended).unwrap_err();
            let Error::NotSeparable { rows, distance, .. } = error else { panic!("{error}") };
            assert!(distance < 1e-6);
            assert_eq!(rows[0], 3, "{rows:?}");
        });
        // The same point in both classes.
        with_problem(vec![1.0, 1.0], vec![1.0, -1.0], |problem| {
            assert!(check_separable(problem, ("no".into(), "yes".into()), &tight(), &mut Unattended).is_err());
        });
    }

    #[test]
    fn without_a_bias_the_plane_must_pass_through_the_origin() {
        // Apart, but on one side of the origin.
        let check = |bias: Bias, values: [f64; 3]| {
            let points = Points::new(Matrix::dense(3, 1, values.to_vec()).unwrap(), bias == Bias::Folded);
            let (kernel, workers) = (KernelFunction::Linear(Linear {}), Workers::none());
            let parts = MarginParts::new(&kernel, &points, &workers, vec![0, 1, 2], vec![-1.0, 1.0, 1.0]);
            let problem = MarginProblem::new(MarginParts { bias, ..parts }).unwrap();
            check_separable(&problem, ("no".into(), "yes".into()), &tight(), &mut Unattended)
        };
        for bias in [Bias::Explicit, Bias::Folded] {
            check(bias, [1.0, 2.0, 3.0]).unwrap();
            check(bias, [2.0, 1.0, 3.0]).unwrap_err();
        }
        check(Bias::None, [-1.0, 2.0, 3.0]).unwrap();
        let error = check(Bias::None, [1.0, 2.0, 3.0]).unwrap_err();
        assert!(error.to_string().contains("cannot be separated by a plane through the origin"), "{error}");
        assert!(error.help().contains("explicit"), "{}", error.help());
    }

    #[test]
    fn reduced_hulls_lie_further_apart_and_end_at_the_means() {
        with_problem(vec![0.0, 2.0, 5.0, 9.0], vec![1.0, 1.0, -1.0, -1.0], |problem| {
            let distance = |most: f64| nearest_points(problem, most, &tight(), &mut Unattended).unwrap().distance;
            assert!((distance(1.0) - 3.0).abs() < 1e-6);
            assert!((distance(0.75) - (5.0 + 1.0 - 1.5)).abs() < 1e-6);
            assert!((distance(0.5) - 6.0).abs() < 1e-6);
            assert!(nearest_points(problem, 0.4, &tight(), &mut Unattended).is_err());
            assert!(nearest_points(problem, f64::NAN, &tight(), &mut Unattended).is_err());
        });
    }
}
