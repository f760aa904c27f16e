//! Random problems from a seed: every task, loss, kernel, bias, weight and scale.

use std::f64::consts::TAU;

use maxmargin::data::{Answers, Dataset, Label, Labels, Matrix};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{ClassWeights, Penalty};
use maxmargin::{Error, Model, TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::kernel::Formula;

/// Steps that a solver may take, so that a run of all problems ends. Where they are not enough the fit says so, and is no complaint.
const STEPS: u64 = 50_000;
/// The same where a step is a pass over all rows, and where there are many rows.
const SWEEPS: u64 = 3_000;
const STEPS_OF_MANY: u64 = 20_000;
/// Rows up to which a solver is tried whose time grows with their cube.
const CUBIC_ROWS: usize = 500;

/// The tolerance asked for: the default.
pub const TOLERANCE: f64 = 1e-3;

/// A problem as the library gets it, and as the oracle sees it.
pub struct Problem {
    /// What to print when it fails.
    pub name: String,
    pub formula: Formula,
    /// Rows, without the constant of a folded bias.
    pub points: Vec<Vec<f64>>,
    /// The class of each row; empty for other tasks.
    pub codes: Vec<usize>,
    pub classes: usize,
    /// The target of each row, for a regression.
    pub targets: Vec<f64>,
    /// What each row counts by itself.
    pub row_weights: Vec<f64>,
    /// What each row counts, its class included.
    pub weights: Vec<f64>,
    pub data: Dataset,
    pub params: TrainingParams,
}

impl Problem {
    pub fn rows(&self) -> usize {
        self.points.len()
    }

    /// Whether a solver is worth a try: those for few rows are not where there are many.
    pub fn suits(&self, solver: Option<SolverKind>) -> bool {
        let cubic = matches!(solver, Some(SolverKind::InteriorPoint | SolverKind::KernelNewton));
        !cubic || self.rows() <= CUBIC_ROWS
    }

    /// Trains, by the solver named or by the automatic choice.
    pub fn fit(&self, solver: Option<SolverKind>) -> Result<Model, Error> {
        let mut params = TrainingParams { solver, ..self.params.clone() };
        if let Some(SolverKind::DualAscent | SolverKind::Sgd) = solver {
            let most = &mut params.settings.max_iterations;
            *most = most.map(|steps| steps.min(SWEEPS));
        }
        params.check()?.fit(&self.data, &Workers::none(), &mut Unattended)
    }
}

/// One draw after the other.
struct Draw(Pcg64);

impl Draw {
    fn normal(&mut self) -> f64 {
        let (u, v): (f64, f64) = (self.0.random(), self.0.random());
        (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
    }

    /// A power of ten from this range of exponents.
    fn power(&mut self, from: f64, to: f64) -> f64 {
        10f64.powf(self.0.random_range(from..to))
    }

    /// Whether something happens that happens once in so many times.
    fn once_in(&mut self, times: u32) -> bool {
        self.0.random_range(0..times) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.random_range(0..all.len())]
    }
}

/// Rows and columns, and the place of each row before anything was done to its columns, by which it gets its label.
struct Rows {
    points: Vec<Vec<f64>>,
    plain: Vec<Vec<f64>>,
    name: &'static str,
}

/// Rows of one kind of scale.
fn rows(draw: &mut Draw, count: usize, columns: usize) -> Rows {
    let mut plain: Vec<Vec<f64>> = (0..count).map(|_| (0..columns).map(|_| draw.normal()).collect()).collect();
    let kind = draw.0.random_range(0..9);
    if kind == 5 {
        // Rows that repeat.
        plain.iter_mut().flatten().for_each(|value| *value = value.round());
    }
    let (mut scales, mut offsets) = (vec![1.0; columns], vec![0.0; columns]);
    let name = match kind {
        0 | 1 => {
            scales.fill(draw.power(-6.0, 6.0));
            "columns of one scale"
        }
        2 => {
            scales.iter_mut().for_each(|scale| *scale = draw.power(-6.0, 6.0));
            "columns of any scale"
        }
        3 => {
            offsets.iter_mut().for_each(|offset| *offset = draw.power(-1.0, 4.0));
            "offset columns"
        }
        4 => {
            scales.iter_mut().skip(1).step_by(2).for_each(|scale| *scale = 0.0);
            offsets.iter_mut().skip(1).step_by(2).for_each(|offset| *offset = 7.0);
            "constant columns"
        }
        5 => "rows that repeat",
        6 => {
            // Unscaled measurements: each column its own size and offset.
            for (scale, offset) in scales.iter_mut().zip(&mut offsets) {
                *scale = draw.power(-3.0, 3.0);
                *offset = *scale * draw.normal() * 3.0;
            }
            "unscaled measurements"
        }
        7 => {
            // Times, coordinates, account numbers: far from 0 beside their spread.
            offsets.iter_mut().for_each(|offset| *offset = draw.power(3.0, 8.0));
            "columns far from 0"
        }
        _ => "plain",
    };
    let place = |row: &Vec<f64>| (0..columns).map(|c| row[c] * scales[c] + offsets[c]).collect();
    let points = plain.iter().map(place).collect();
    Rows { points, plain, name }
}

/// A kernel that sees something of these rows: γ near what their distances or sizes ask for.
fn formula(draw: &mut Draw, points: &[Vec<f64>]) -> Formula {
    let (rows, columns) = (points.len() as f64, points[0].len());
    let mean = |c: usize| points.iter().map(|x| x[c]).sum::<f64>() / rows;
    let variance: f64 =
        (0..columns).map(|c| points.iter().map(|x| (x[c] - mean(c)).powi(2)).sum::<f64>() / rows).sum::<f64>();
    let size: f64 = points.iter().flatten().map(|x| x * x).sum::<f64>() / rows;
    let spread: f64 =
        (0..columns).map(|c| points.iter().map(|x| (x[c] - mean(c)).abs()).sum::<f64>() / rows).sum::<f64>();
    let per = |size: f64| 1.0 / size.max(1e-300);
    match draw.0.random_range(0..20) {
        0..=7 => Formula::Linear,
        8..=11 => {
            let degree = draw.0.random_range(1..=5);
            let constant = draw.one_of(&[0.0, 0.0, 1.0, 1.0, 10.0]);
            Formula::Polynomial(draw.power(-1.0, 1.0) * per(size), constant, degree)
        }
        12..=16 => Formula::Rbf(draw.power(-3.0, 1.5) * per(variance)),
        17 | 18 => Formula::Laplacian(draw.power(-2.0, 1.0) * per(spread)),
        _ => Formula::Sigmoid(draw.power(-1.0, 0.0) * per(size), draw.one_of(&[0.0, -0.5])),
    }
}

/// What is to be found, but for the kernel and the rows.
struct Kind {
    task: Task,
    loss: Loss,
    norm: Norm,
    bias: Bias,
    multiclass: Option<Multiclass>,
    nu: Option<f64>,
    classes: usize,
}

fn kind(draw: &mut Draw, linear: bool) -> Kind {
    let biases = [Bias::Explicit, Bias::Explicit, Bias::Folded, Bias::None];
    let nu = draw.0.random_range(0.05..0.6);
    let classes = if draw.once_in(3) { draw.0.random_range(3..=4) } else { 2 };
    let multiclass = (classes > 2).then(|| draw.one_of(&[Multiclass::OneVsOne, Multiclass::OneVsRest]));
    let plain = Kind {
        task: Task::Classification,
        loss: Loss::Hinge,
        norm: Norm::L2,
        bias: draw.one_of(&biases),
        multiclass,
        nu: None,
        classes,
    };
    let alone = Kind { classes: 1, multiclass: None, ..plain };
    let together = |way: Multiclass, loss: Loss| Kind {
        classes: classes.max(3),
        multiclass: Some(way),
        loss,
        bias: plain.bias,
        ..Kind { ..plain }
    };
    let choice = draw.0.random_range(0..24);
    match choice {
        0..=4 => plain,
        5..=7 => Kind { loss: Loss::Squared, ..plain },
        8..=10 if linear => Kind { loss: Loss::Logistic, ..plain },
        11 if linear => Kind { norm: Norm::L1, loss: draw.one_of(&[Loss::Squared, Loss::Logistic]), ..plain },
        12 if linear => together(Multiclass::CrammerSinger, Loss::Hinge),
        13 if linear => together(Multiclass::Joint, Loss::Logistic),
        // ε is set once the targets are known.
        14..=17 => {
            let loss = if choice < 16 { Loss::Hinge } else { Loss::Squared };
            Kind { task: Task::Regression { epsilon: 0.0 }, loss, ..alone }
        }
        18 => Kind { task: Task::NuRegression { nu }, bias: Bias::Explicit, ..alone },
        19 => Kind { nu: Some(nu), bias: Bias::Explicit, ..plain },
        20 => Kind { task: Task::OneClass { nu }, bias: Bias::Explicit, ..alone },
        21 => Kind { task: Task::Svdd { nu }, bias: Bias::Explicit, ..alone },
        _ => plain,
    }
}

/// The problem of a seed.
pub fn problem(seed: u64) -> Problem {
    let mut draw = Draw(Pcg64::seed_from_u64(seed ^ 0x7275_7468));
    let many = draw.once_in(40);
    let count = if many { draw.0.random_range(600..=2500) } else { draw.0.random_range(20..=200) };
    let columns = draw.0.random_range(1..=6);
    let rows = rows(&mut draw, count, columns);
    let formula = formula(&mut draw, &rows.points);
    let mut kind = kind(&mut draw, formula.is_linear());
    let direction: Vec<f64> = (0..columns).map(|_| draw.normal()).collect();
    let (noise, bend) = (draw.power(-2.0, 0.3), draw.once_in(2));
    let mut height = |x: &Vec<f64>| {
        let along: f64 = x.iter().zip(&direction).map(|(x, d)| x * d).sum();
        let bent = if bend { x[0] * x[0] - 1.0 } else { 0.0 };
        along + bent + noise * draw.normal()
    };
    let heights: Vec<f64> = rows.plain.iter().map(&mut height).collect();
    let mut codes = vec![];
    let mut targets = vec![];
    if kind.task.is_regression() {
        let (scale, offset) = match draw.0.random_range(0..3) {
            0 => (1.0, 0.0),
            1 => (draw.power(-8.0, 8.0), 0.0),
            _ => (1.0, draw.power(0.0, 4.0)),
        };
        targets = heights.iter().map(|height| scale * height + offset).collect();
        if let Task::Regression { epsilon } = &mut kind.task {
            *epsilon = scale * draw.one_of(&[0.0, 0.0, 0.01, 0.1, 0.5]);
        }
    } else if kind.task.is_classification() {
        // Sorted by height and cut into classes, of which one may be small.
        let mut order = heights.clone();
        order.sort_by(f64::total_cmp);
        let first = if draw.once_in(3) { 0.08 } else { 1.0 / kind.classes as f64 };
        let share = |k: usize| first + (1.0 - first) * k as f64 / (kind.classes - 1) as f64;
        let cuts: Vec<f64> =
            (0..kind.classes - 1).map(|k| order[((share(k) * count as f64) as usize).clamp(1, count - 1)]).collect();
        codes = heights.iter().map(|height| cuts.iter().filter(|&cut| height >= cut).count()).collect();
        // Each class has two rows at least.
        (0..2 * kind.classes).for_each(|row| codes[row] = row % kind.classes);
    }
    // C beside the size of kernel values, or whatever it is.
    let size: f64 = rows.points.iter().map(|x| formula.value(x, x).exact.value().abs()).sum::<f64>() / count as f64;
    let mut cost = if draw.once_in(2) { draw.power(-6.0, 6.0) } else { draw.power(-4.0, 4.0) / size.max(1e-30) };
    if kind.task.is_regression() && draw.once_in(2) {
        let (low, high) = range(&targets);
        cost *= (high - low).max(1e-30);
    }
    let penalty = match (kind.nu, draw.0.random_range(0..10)) {
        (Some(nu), _) => Penalty::Nu(nu),
        (None, 0) => Penalty::COverN(cost * count as f64),
        (None, 1) => Penalty::Lambda(0.5 / (cost * count as f64)),
        _ => Penalty::C(cost),
    };
    let row_weights: Option<Vec<f64>> = match draw.0.random_range(0..8) {
        0 => Some((0..count).map(|_| draw.power(-5.0, 5.0)).collect()),
        1 => Some((0..count).map(|_| f64::from(draw.0.random_range(0..4u8))).collect()),
        _ => None,
    };
    let class_weights = match draw.0.random_range(0..6) {
        0 if !codes.is_empty() => ClassWeights::Balanced,
        1 if !codes.is_empty() => {
            ClassWeights::Given((0..kind.classes).map(|k| (label(k), draw.power(-4.0, 4.0))).collect())
        }
        _ => ClassWeights::Equal,
    };
    let weights = all_weights(&codes, kind.classes, row_weights.as_deref(), &class_weights, count);
    let steps = if many { STEPS_OF_MANY } else { STEPS };
    let settings = Settings { max_iterations: Some(steps), ..Settings::default() };
    let params = TrainingParams {
        task: kind.task,
        kernel: formula.params(),
        penalty,
        norm: kind.norm,
        loss: Some(kind.loss),
        bias: kind.bias,
        multiclass: kind.multiclass,
        class_weights,
        settings,
        ..TrainingParams::default()
    };
    let answers = if kind.task.is_regression() {
        Answers::Numbers(targets.clone())
    } else if codes.is_empty() {
        Answers::None
    } else {
        Answers::Classes(Labels::new(codes.iter().map(|&code| label(code))))
    };
    let matrix = Matrix::dense(count, columns, rows.points.concat()).unwrap();
    let mut data = Dataset::new(matrix, answers).unwrap();
    if draw.once_in(6) {
        let sparse = data.matrix().to_sparse();
        data = data.with_matrix(sparse).unwrap();
    }
    if let Some(own) = &row_weights {
        data = data.with_weights(own.clone()).unwrap();
    }
    let weighted = match (&row_weights, &params.class_weights) {
        (None, ClassWeights::Equal) => "",
        (Some(_), ClassWeights::Equal) => ", row weights",
        (None, _) => ", class weights",
        (Some(_), _) => ", row and class weights",
    };
    let way = params.multiclass.map_or("", Multiclass::name);
    let name = format!(
        "seed {seed}: {count} x {columns} {}, {:?}, {:?} {:?} {way} {} classes, {formula:?}, {:?} bias, {penalty:?}{weighted}",
        rows.name, kind.task, kind.norm, kind.loss, kind.classes, kind.bias
    );
    let row_weights = row_weights.unwrap_or_else(|| vec![1.0; count]);
    let (points, classes) = (rows.points, kind.classes);
    Problem { name, formula, points, codes, classes, targets, row_weights, weights, data, params }
}

fn label(class: usize) -> Label {
    Label::new(["a", "b", "c", "d"][class])
}

/// The least and the most of some numbers.
pub fn range(numbers: &[f64]) -> (f64, f64) {
    numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &number| (low.min(number), high.max(number)))
}

/// What each row counts: its own weight times that of its class.
fn all_weights(
    codes: &[usize],
    classes: usize,
    own: Option<&[f64]>,
    of_classes: &ClassWeights,
    count: usize,
) -> Vec<f64> {
    let own: Vec<f64> = own.map_or_else(|| vec![1.0; count], <[f64]>::to_vec);
    let factors: Vec<f64> = match of_classes {
        ClassWeights::Equal => vec![1.0; classes],
        ClassWeights::Balanced => {
            let mass = |k: usize| (0..count).filter(|&i| codes[i] == k).map(|i| own[i]).sum::<f64>();
            let total: f64 = own.iter().sum();
            (0..classes).map(|k| if mass(k) > 0.0 { total / (classes as f64 * mass(k)) } else { 1.0 }).collect()
        }
        ClassWeights::Given(given) => given.iter().map(|(_, weight)| *weight).collect(),
    };
    own.iter().enumerate().map(|(i, own)| own * codes.get(i).map_or(1.0, |&code| factors[code])).collect()
}
