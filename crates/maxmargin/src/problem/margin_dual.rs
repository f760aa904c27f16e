//! The duals of the tasks as one quadratic program, and the way back from its variables to a decision function.
//!
//! ```text
//! task         variables   p        bounds   held fixed with an explicit bias
//! two classes  n           −1       C_i      Σ y_i α_i = 0                        (P.2)
//! with ν       n           0        w_i      Σ α_i of either class = ν Σ w_i / 2  (P.5)
//! regression   2n          ε ∓ t_i  C_i      Σ (α_i − α*_i) = 0                   (P.6)
//! with ν       2n          ∓ t_i    C_i      Σ α_i = Σ α*_i = ν Σ C_i / 2         (P.7)
//! one class    n           0        C_i      Σ α_i = ν Σ C_i                      (P.8)
//! svdd         n           −t_i     C_i      the same
//! ```
//!
//! With an explicit bias t_i is counted from the middle of all targets where that is far from 0. Squared loss has no bounds, and a ridge `r_i = 1/(2C_i)` instead. The variables α* of a regression come after all α, with the sign −1:
//! they are the tube's other side, over the same rows, and `c_i = α_i − α*_i`.

use super::{Bias, Coupling, DualParts, DualProblem, Loss, MarginProblem, Task};
use crate::error::Error;

/// What a solver found in the place of ν.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FromNu {
    /// There was no ν.
    #[default]
    Nothing,
    /// C of two classes: what a row of weight 1 costs.
    Cost(f64),
    /// ε of a regression.
    Epsilon(f64),
}

/// Targets are taken from their middle where it is this many times their range away from 0. With less, targets near 0 are rounded once more;
/// with more, the search loses digits.
const FAR_TARGETS: f64 = 16.0;

/// A decision function, from a solution of the dual.
pub(crate) struct Recovered {
    /// c_i, one a row.
    pub(crate) coefficients: Vec<f64>,
    /// b of an explicit bias.
    pub(crate) bias: f64,
    /// f(x_i), without a folded bias of its own: that is part of the kernel.
    pub(crate) values: Vec<f64>,
    pub(crate) from_nu: FromNu,
}

impl<'a> MarginProblem<'a> {
    /// The dual, as the table above has it.
    ///
    /// # Errors
    /// For logistic loss, whose dual is not quadratic.
    pub fn dual(&self) -> Result<DualProblem<'a>, Error> {
        if self.loss() == Loss::Logistic {
            return Err(Error::Combination {
                what: "the dual of logistic loss is not a quadratic program".into(),
                help: "choose the solver logistic".into(),
            });
        }
        let (n, nu) = (self.len(), self.nu());
        let (two_sided, variables) = (self.task().is_regression(), self.variables());
        let centre = self.centre_of_targets();
        let side = |k: usize| if k < n { 1.0 } else { -1.0 };
        let signs: Vec<f64> = if two_sided { (0..variables).map(side).collect() } else { self.signs().to_vec() };
        let linear = |k: usize| match (self.task(), nu) {
            (Task::Classification, None) => -1.0,
            (Task::Classification, Some(_)) | (Task::OneClass { .. }, _) => 0.0,
            (Task::Svdd { .. }, _) => -self.targets()[k],
            (Task::Regression { epsilon }, _) => epsilon - side(k) * (self.targets()[k % n] - centre),
            (Task::NuRegression { .. }, _) => -side(k) * (self.targets()[k % n] - centre),
        };
        let cost = |k: usize| self.costs()[k % n];
        let upper: Vec<f64> = (0..variables).map(|k| self.loss().dual_bound(cost(k))).collect();
        let coupling = match (self.bias(), nu) {
            (_, Some(_)) => Coupling::BySign,
            (Bias::Explicit, None) => Coupling::All,
            (Bias::Folded | Bias::None, None) => Coupling::None,
        };
        let mut start = vec![0.0; variables];
        let total: f64 = self.costs().iter().sum();
        match (self.task(), nu) {
            (Task::OneClass { nu } | Task::Svdd { nu }, _) => fill(&mut start, &upper, |_| true, nu * total),
            (_, Some(nu)) => {
                for sign in [1.0, -1.0] {
                    fill(&mut start, &upper, |k| signs[k] == sign, 0.5 * nu * total);
                }
            }
            (_, None) => {}
        }
        DualProblem::new(DualParts {
            gram: self.gram(),
            rows: (0..variables).map(|k| self.rows()[k % n]).collect(),
            linear: (0..variables).map(linear).collect(),
            ridge: (0..variables).map(|k| self.row_loss().ridge(cost(k))).collect(),
            signs,
            upper,
            coupling,
            start,
        })
    }

    /// What is taken off the targets of a regression in the dual, and given back to b: `Σ c_i = 0` with an explicit bias, so no objective
    /// changes. Targets of 1e4 ± 1e-8 would leave the sums of the search four digits of what they differ by. 0 where targets are not far
    /// from 0 beside their range.
    fn centre_of_targets(&self) -> f64 {
        if !self.task().is_regression() || self.bias() != Bias::Explicit {
            return 0.0;
        }
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = self.targets().iter().fold(ends, |(low, high), &t| (low.min(t), high.max(t)));
        let middle = 0.5 * low + 0.5 * high;
        if middle.abs() > FAR_TARGETS * (high - low) { middle } else { 0.0 }
    }

    /// How many variables the dual has.
    pub(crate) fn variables(&self) -> usize {
        if self.task().is_regression() { 2 * self.len() } else { self.len() }
    }

    /// The α of this problem's rows as variables of its dual.
    pub(crate) fn dual_variables(&self, alpha: Vec<f64>) -> Vec<f64> {
        if self.task().is_regression() {
            alpha.iter().map(|c| c.max(0.0)).chain(alpha.iter().map(|c| (-c).max(0.0))).collect()
        } else {
            alpha
        }
    }

    /// The way back: `c_i`, b and f(x_i), from a solution of the dual and its gradient
    ///
    /// ```text
    /// u_i = s_i (∇_i − p_i − r_i α_i) = Σ_j c_j K_ij,   f_i = u_i + b,   b = −ρ of (D.3)
    /// ```
    ///
    /// With ν there is a ρ for either sign. Rows of two classes that are free lie where `f = ±m`, on a margin m which is not 1: in
    /// units of m, C is 1/m. Rows of a regression that are free lie on the tube's edges, `f = t ∓ ε`.
    ///
    /// ```text
    /// two classes:  m = (ρ₊ − ρ₋)/2,   b = −(ρ₊ + ρ₋)/2,   C = 1/m
    /// regression:   ε = (ρ₋ − ρ₊)/2,   b = −(ρ₊ + ρ₋)/2                            (P.9)
    /// ```
    pub(crate) fn recover(&self, dual: &DualProblem<'_>, alpha: &[f64], gradient: &[f64]) -> Recovered {
        let n = self.len();
        let is_regression = self.task().is_regression();
        let of_row = |i: usize| if is_regression { alpha[i] - alpha[n + i] } else { dual.signs()[i] * alpha[i] };
        let mut coefficients: Vec<f64> = (0..n).map(of_row).collect();
        let value = |i: usize| dual.signs()[i] * (gradient[i] - dual.linear()[i] - dual.ridge()[i] * alpha[i]);
        let mut values: Vec<f64> = (0..n).map(value).collect();
        let level = |group: Option<f64>| dual.multiplier(alpha, gradient, group);
        let (mut bias, mut from_nu) = (0.0, FromNu::Nothing);
        match (dual.coupling(), self.task().is_regression()) {
            (Coupling::None, _) => {}
            (Coupling::All, _) => bias = -level(None),
            (Coupling::BySign, two_sided) => {
                let (plus, minus) = (level(Some(1.0)), level(Some(-1.0)));
                bias = -0.5 * (plus + minus); // (P.9)
                if two_sided {
                    from_nu = FromNu::Epsilon((0.5 * (minus - plus)).max(0.0));
                } else {
                    let margin = 0.5 * (plus - minus);
                    let size = values.iter().fold(bias.abs(), |most, value| most.max(value.abs()));
                    let square = coefficients.iter().zip(&values).map(|(c, u)| c * u).sum();
                    let has_one = margin > 1e-12 * size && !is_rounding(square, &coefficients, &dual.diagonal());
                    // Where the classes' hulls meet there is no margin, and no C: nothing is found.
                    let scale = if has_one { 1.0 / margin } else { 0.0 };
                    coefficients.iter_mut().chain(&mut values).for_each(|number| *number *= scale);
                    bias *= scale;
                    from_nu = if scale > 0.0 { FromNu::Cost(scale) } else { FromNu::Nothing };
                }
            }
        }
        bias += self.centre_of_targets();
        values.iter_mut().for_each(|value| *value += bias);
        Recovered { coefficients, bias, values, from_nu }
    }
}

/// Whether ‖w‖² of the hulls of two classes is nothing but rounding: they meet, as far as f64 can tell
///
/// ```text
/// ‖w‖² ≤ 4e-15 (Σ |c_i| ‖φ(x_i)‖)²                                              (P.12)
/// ```
///
/// which is some twenty times what the sums of kernel values are rounded by.
pub(crate) fn is_rounding(square: f64, coefficients: &[f64], diagonal: &[f64]) -> bool {
    let length: f64 = coefficients.iter().zip(diagonal).map(|(c, own)| c.abs() * own.max(0.0).sqrt()).sum();
    square <= NO_MARGIN * length * length
}

/// The part of (P.12). A larger one gives up margins that can be found; with a smaller one a search for none goes on among rounded numbers.
const NO_MARGIN: f64 = 4e-15;

/// Fills variables up to their bounds, one after the other, until their sum is reached.
fn fill(start: &mut [f64], upper: &[f64], chosen: impl Fn(usize) -> bool, sum: f64) {
    let mut left = sum;
    for k in (0..start.len()).filter(|&k| chosen(k)) {
        start[k] = upper[k].min(left).max(0.0);
        left -= start[k];
    }
}
