//! One decision function: rows, what it should say of them, a loss, and a penalty on the weights.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Direction, FromNu, LinearProblem, Loss, Norm, Passes, RowLoss, Task, nu};
use crate::error::{Error, Parameter};
use crate::kernel::{ClassValues, Gram, KernelFunction, Points};
use crate::workers::Workers;

/// How the offset b of `f(x) = ⟨w, φ(x)⟩ + b` is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Bias {
    /// b is free and not penalised; the dual has `Σ α_i y_i = 0`.
    #[default]
    Explicit,
    /// A constant 1 is appended to each row, so b is one of the weights and penalised.
    Folded,
    /// b = 0.
    None,
}

impl Bias {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Bias::Explicit => "explicit",
            Bias::Folded => "folded",
            Bias::None => "none",
        }
    }
}

/// A problem of one decision function
///
/// ```text
/// min  ½‖w‖² + qb + Σ_i C_i ℓ(f(x_i), t_i),   f(x) = ⟨w, φ(x)⟩ + b             (P.1)
/// ```
///
/// over some rows of some points, for two classes (`t = y`, and ℓ a function of y f), for numbers, or for one class. q is 0,
/// but for one class `q = ν Σ C_i`, which keeps b from being 0. With a folded bias φ is the feature map of `x′ = (x, 1)`.
/// `C_i = ∞` for all rows (hinge loss) is the hard margin. Without a penalty (`penalised` false, logistic loss only) the
/// first term is left out. With the L1 norm it is `‖w‖₁`, see [`Norm`].
#[derive(Clone, Debug)]
pub struct MarginProblem<'a> {
    parts: MarginParts<'a>,
}

/// The parts of (P.1), open to be filled in. [`MarginProblem::new`] checks them.
#[derive(Clone, Debug)]
pub struct MarginParts<'a> {
    /// The kernel.
    pub kernel: &'a KernelFunction,
    /// The points that the rows are of; folded exactly when the bias is.
    pub points: &'a Points,
    /// The threads to work with.
    pub workers: &'a Workers,
    /// The rows' places in the points.
    pub rows: Vec<usize>,
    /// What is to be found.
    pub task: Task,
    /// y_i, +1 or −1, both of them present; for other tasks than classification +1 throughout.
    pub signs: Vec<f64>,
    /// t_i of a regression; empty for other tasks, where it is y_i.
    pub targets: Vec<f64>,
    /// C_i, above 0; all infinite for a hard margin.
    pub costs: Vec<f64>,
    /// ℓ
    pub loss: Loss,
    /// How b is treated.
    pub bias: Bias,
    /// Whether `½‖w‖²` is part of the objective; `false` for logistic loss only.
    pub penalised: bool,
    /// How the weights are measured.
    pub norm: Norm,
    /// ν of (P.5), for two classes: C is not given but found, and the costs are what each row counts.
    pub nu: Option<f64>,
    /// Kernel values that other problems over these points need, too.
    pub shared: Option<&'a ClassValues>,
}

impl<'a> MarginParts<'a> {
    /// Hinge loss with C = 1 over these rows and signs; the bias is folded where the points are, else explicit.
    pub fn new(
        kernel: &'a KernelFunction,
        points: &'a Points,
        workers: &'a Workers,
        rows: Vec<usize>,
        signs: Vec<f64>,
    ) -> Self {
        let bias = if points.folded() { Bias::Folded } else { Bias::Explicit };
        let costs = vec![1.0; rows.len()];
        MarginParts {
            kernel,
            points,
            workers,
            rows,
            task: Task::Classification,
            signs,
            targets: Vec::new(),
            costs,
            loss: Loss::Hinge,
            bias,
            penalised: true,
            norm: Norm::L2,
            nu: None,
            shared: None,
        }
    }
}

impl<'a> MarginProblem<'a> {
    /// Checks that the parts make a problem.
    ///
    /// # Errors
    /// When lengths differ, one sign is missing, a cost or sign is out of range, or kernel values overflow.
    pub fn new(parts: MarginParts<'a>) -> Result<Self, Error> {
        let MarginParts { kernel, points, workers, rows, signs, costs, loss, bias, penalised, norm, .. } = &parts;
        if rows.len() != signs.len() || rows.len() != costs.len() {
            return Err(Error::Shape {
                operation: "problem",
                left: format!("{} rows", rows.len()),
                right: format!("{} signs, {} costs", signs.len(), costs.len()),
            });
        }
        if let Some(row) = workers.find(rows, |&row| row >= points.len()).map(|place| rows[place]) {
            let (left, right) = (format!("row {}", row + 1), format!("{} rows", points.len()));
            return Err(Error::Shape { operation: "problem", left, right });
        }
        if points.folded() != (*bias == Bias::Folded) {
            return Err(Error::Combination {
                what: format!("a {} bias does not fit the points", bias.name()),
                help: "fold the points exactly when the bias is folded".into(),
            });
        }
        if let Some(place) = workers.find(signs, |&sign| sign.abs() != 1.0) {
            return Err(Error::parameter("sign", signs[place], "+1 or -1"));
        }
        if let Some(place) = workers.find(costs, |&cost| !(cost > 0.0)) {
            return Err(Error::parameter(Parameter::C, costs[place], "above 0 for every row"));
        }
        let hard = workers.find(costs, |cost| cost.is_infinite()).is_some();
        norm.check(*loss, *penalised, hard)?;
        norm.check_kernel(kernel)?;
        if hard && (*loss != Loss::Hinge || costs.iter().any(|cost| cost.is_finite())) {
            return Err(Error::Combination {
                what: "an infinite C is the hard margin, which has neither a loss nor finite costs beside it".into(),
                help: "use hinge loss and leave the row weights out".into(),
            });
        }
        if !penalised && *loss != Loss::Logistic {
            return Err(Error::Combination {
                what: format!("{} loss without a penalty has no single best model", loss.name()),
                help: "choose lambda above 0, or the solver logistic".into(),
            });
        }
        check_task(&parts)?;
        nu::check(&parts)?;
        kernel.check_range(points, rows, workers)?;
        Ok(MarginProblem { parts })
    }

    /// The kernel.
    pub fn kernel(&self) -> &'a KernelFunction {
        self.parts.kernel
    }

    /// The points that the rows are of.
    pub fn points(&self) -> &'a Points {
        self.parts.points
    }

    /// The threads to work with.
    pub fn workers(&self) -> &'a Workers {
        self.parts.workers
    }

    /// The problem with kernel values that several machines share.
    pub fn sharing(mut self, shared: Option<&'a ClassValues>) -> Self {
        self.parts.shared = shared;
        self
    }

    /// Blocks of the kernel matrix of the points.
    pub fn gram(&self) -> Gram<'a> {
        Gram::new(self.parts.kernel, self.parts.points, self.parts.workers).sharing(self.parts.shared)
    }

    /// The rows' places in the points.
    pub fn rows(&self) -> &[usize] {
        &self.parts.rows
    }

    /// What is to be found.
    pub fn task(&self) -> Task {
        self.parts.task
    }

    /// y_i, +1 or −1: what turns α_i into the coefficient of a row.
    pub fn signs(&self) -> &[f64] {
        &self.parts.signs
    }

    /// t_i: y_i, but for a regression.
    pub fn targets(&self) -> &[f64] {
        match self.parts.task {
            Task::Regression { .. } | Task::NuRegression { .. } | Task::Svdd { .. } => &self.parts.targets,
            Task::Classification | Task::OneClass { .. } => &self.parts.signs,
        }
    }

    /// `q/2`, the factor of k(x, x) in what a row has to reach (P.11).
    pub fn reach(&self) -> Option<f64> {
        matches!(self.parts.task, Task::Svdd { .. }).then(|| 0.5 * self.pull_on_bias())
    }

    /// What is above 0 where a row is on the positive side: f, but for a ball.
    pub(crate) fn side(&self, i: usize, value: f64) -> f64 {
        if let Task::Svdd { .. } = self.parts.task { value - self.targets()[i] } else { value }
    }

    /// q of (P.1)
    pub fn pull_on_bias(&self) -> f64 {
        match self.parts.task {
            Task::OneClass { nu } | Task::Svdd { nu } => nu * self.parts.costs.iter().sum::<f64>(),
            Task::Classification | Task::Regression { .. } | Task::NuRegression { .. } => 0.0,
        }
    }

    /// The loss as a function of f and t.
    pub(crate) fn row_loss(&self) -> RowLoss {
        RowLoss::of_task(self.parts.task, self.parts.loss)
    }

    /// C_i.
    pub fn costs(&self) -> &[f64] {
        &self.parts.costs
    }

    /// ℓ
    pub fn loss(&self) -> Loss {
        self.parts.loss
    }

    /// How b is treated.
    pub fn bias(&self) -> Bias {
        self.parts.bias
    }

    /// ν, where something is to be found such that it comes true: C for two classes, ε for a regression.
    pub fn nu(&self) -> Option<f64> {
        match self.parts.task {
            Task::NuRegression { nu } => Some(nu),
            _ => self.parts.nu,
        }
    }

    /// The problem with what was found for its ν in the place of that.
    pub(crate) fn with_found(mut self, found: FromNu) -> Self {
        match found {
            FromNu::Nothing => {}
            FromNu::Cost(cost) => self.parts.costs.iter_mut().for_each(|weight| *weight *= cost),
            FromNu::Epsilon(epsilon) => self.parts.task = Task::Regression { epsilon },
        }
        self.parts.nu = None;
        self
    }

    /// The problem over some of its rows, given by their places in it.
    ///
    /// # Errors
    /// When they make no problem, as those of one class do not.
    pub(crate) fn part(&self, places: &[usize]) -> Result<Self, Error> {
        let some = |all: &[f64]| -> Vec<f64> { places.iter().filter_map(|&place| all.get(place).copied()).collect() };
        let parts = &self.parts;
        MarginProblem::new(MarginParts {
            rows: places.iter().map(|&place| parts.rows[place]).collect(),
            signs: some(&parts.signs),
            targets: some(&parts.targets),
            costs: some(&parts.costs),
            shared: None,
            ..parts.clone()
        })
    }

    /// Whether `½‖w‖²` is part of the objective.
    pub fn penalised(&self) -> bool {
        self.parts.penalised
    }

    /// How the weights are measured.
    pub fn norm(&self) -> Norm {
        self.parts.norm
    }

    /// Whether no slack is allowed.
    pub fn hard(&self) -> bool {
        self.parts.costs[0].is_infinite()
    }

    /// How many rows the problem has.
    pub fn len(&self) -> usize {
        self.parts.rows.len()
    }

    /// Never: a problem has rows.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The columns of w: those of the points, and one more for a folded bias.
    pub fn columns(&self) -> usize {
        self.parts.points.matrix().columns() + usize::from(self.parts.bias == Bias::Folded)
    }

    /// Changes α until `Σ α_i y_i = q`, as the dual of an explicit bias asks: the heavier sign is scaled down or, where the sum
    /// is to grow, every α is taken nearer to its bound. Returns how far the sum was away, and how much there was in all.
    pub(crate) fn balance(&self, alpha: &mut [f64]) -> [f64; 2] {
        let coefficient = |(alpha, sign): (&f64, &f64)| alpha * sign;
        let coefficients = || alpha.iter().zip(self.signs()).map(coefficient);
        let (wanted, size): (f64, f64) = (self.pull_on_bias(), coefficients().map(f64::abs).sum());
        let excess = coefficients().sum::<f64>() - wanted;
        let of_sign = |sign: f64| coefficients().map(|c| (c * sign).max(0.0)).sum::<f64>();
        let (plus, minus) = (of_sign(1.0), of_sign(-1.0));
        let room: f64 = (0..alpha.len()).map(|i| self.parts.costs[i] - alpha[i]).sum();
        // Only for one class the sum is not 0, and there every α is 0 or more.
        let factor = if excess > 0.0 { (minus + wanted) / plus } else { plus / minus };
        for (i, alpha) in alpha.iter_mut().enumerate() {
            if wanted > 0.0 && excess < 0.0 {
                *alpha += (self.parts.costs[i] - *alpha) * (-excess / room).min(1.0);
            } else if *alpha * self.parts.signs[i] * excess > 0.0 {
                *alpha *= factor;
            }
        }
        [excess.abs(), size]
    }

    /// `f(x_i)` of a vector of weights, for each row of the problem.
    pub fn decisions_of_weights(&self, weights: &[f64], bias: f64) -> Vec<f64> {
        let linear = LinearProblem::of_margin(self);
        linear.values(weights, bias)
    }

    /// `f(x_i)` of a vector of weights, for one row.
    pub(crate) fn decision_of_weights(&self, i: usize, weights: &[f64], bias: f64) -> f64 {
        LinearProblem::of_margin(self).value(i, weights, bias)
    }

    /// [`MarginProblem::weights_of_coefficients`] of two coefficients of each row, in one pass over the rows.
    pub(crate) fn weights_of_two(&self, coefficients: impl Fn(usize) -> [f64; 2] + Sync) -> [(Vec<f64>, f64); 2] {
        let linear = LinearProblem::of_margin(self);
        let folded = self.parts.bias == Bias::Folded;
        let both = Passes::new(&linear).combine_two(coefficients);
        both.map(|Direction { weights, bias }| (weights, if folded { bias } else { 0.0 }))
    }

    /// `w = Σ c_i x_i` and the folded bias `Σ c_i` (0 unless folded) of the coefficients `c_i` of a linear kernel.
    pub fn weights_of_coefficients(&self, coefficients: &[f64]) -> (Vec<f64>, f64) {
        let linear = LinearProblem::of_margin(self);
        let Direction { weights, bias } = Passes::new(&linear).combine(coefficients);
        (weights, if self.parts.bias == Bias::Folded { bias } else { 0.0 })
    }
}

/// Checks that there is something to find.
fn check_task(parts: &MarginParts<'_>) -> Result<(), Error> {
    let MarginParts { task, signs, targets, loss, bias, costs, .. } = parts;
    let refuse = |what: &str, help: &str| Err(Error::Combination { what: what.into(), help: help.into() });
    task.check(*loss)?;
    if *task == Task::Classification {
        if signs.contains(&1.0) && signs.contains(&-1.0) {
            return Ok(());
        }
        return Err(Error::Data {
            what: "all rows are of one class".into(),
            help: "give rows of two classes at least".into(),
        });
    }
    if signs.is_empty() {
        return Err(Error::Data { what: "there are no rows".into(), help: "give rows of a weight above 0".into() });
    }
    if signs.contains(&-1.0) {
        return refuse("only classes have a sign", "give every row the sign +1");
    }
    if !costs.iter().all(|cost| cost.is_finite()) {
        return refuse(&format!("{} has no hard margin", task.name()), "choose a finite C");
    }
    match task {
        Task::Regression { .. } | Task::NuRegression { .. } | Task::Svdd { .. } if targets.len() != signs.len() => {
            Err(Error::Shape {
                operation: "problem",
                left: format!("{} rows", signs.len()),
                right: format!("{} targets", targets.len()),
            })
        }
        Task::Regression { .. } | Task::NuRegression { .. } => {
            match targets.iter().find(|target| !target.is_finite()) {
                Some(target) => Err(Error::parameter("target", target, "a finite number for every row")),
                None => Ok(()),
            }
        }
        Task::OneClass { .. } | Task::Svdd { .. } if *bias != Bias::Explicit => {
            refuse(&format!("{} needs an explicit bias: it is the threshold", task.name()), "choose bias explicit")
        }
        _ => Ok(()),
    }
}
