//! The one quadratic program behind all formulations.

use crate::error::Error;
use crate::kernel::Gram;

/// Which sums of the variables are held fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// None: each variable moves by itself.
    None,
    /// `Σ s_i α_i` keeps the value it has at the start.
    All,
    /// `Σ α_i` over the variables of either sign keeps the value it has at the start (ν-SVC, convex hulls).
    BySign,
}

/// A convex quadratic program over the rows of a kernel matrix
///
/// ```text
/// min  ½ α′Qα + p′α,   0 ≤ α ≤ u,   Q_ij = s_i s_j K[r_i, r_j] + δ_ij ridge_i      (D.1)
/// ```
///
/// with sums held fixed as [`Coupling`] says. `r_i` is the row of variable i: two variables may share one (regression).
#[derive(Clone, Debug)]
pub struct DualProblem<'a> {
    parts: DualParts<'a>,
}

/// The parts of (D.1), open to be filled in. [`DualProblem::new`] checks them.
#[derive(Clone, Debug)]
pub struct DualParts<'a> {
    /// Blocks of K.
    pub gram: Gram<'a>,
    /// r_i
    pub rows: Vec<usize>,
    /// s_i, +1 or −1.
    pub signs: Vec<f64>,
    /// p
    pub linear: Vec<f64>,
    /// u, possibly infinite.
    pub upper: Vec<f64>,
    /// What is added to the diagonal.
    pub ridge: Vec<f64>,
    /// Which sums are held fixed.
    pub coupling: Coupling,
    /// A feasible point.
    pub start: Vec<f64>,
}

/// Steps of the search for the best multiplier. Each leaves two thirds of its range.
const STEPS_OF_MULTIPLIER: u32 = 40;

impl<'a> DualProblem<'a> {
    /// Checks that the parts make a problem.
    ///
    /// # Errors
    /// When lengths differ, or the start is outside of its bounds.
    pub fn new(parts: DualParts<'a>) -> Result<Self, Error> {
        let DualParts { rows, signs, linear, upper, ridge, start, .. } = &parts;
        let lengths = [signs.len(), linear.len(), upper.len(), ridge.len(), start.len()];
        if lengths.iter().any(|&length| length != rows.len()) {
            return Err(Error::Shape {
                operation: "dual problem",
                left: format!("{} variables", rows.len()),
                right: format!("parts of {lengths:?}"),
            });
        }
        if start.iter().zip(upper).any(|(&alpha, &upper)| !(0.0 <= alpha && alpha <= upper)) {
            return Err(Error::parameter("start", "outside of its bounds", "between 0 and the upper bounds"));
        }
        Ok(DualProblem { parts })
    }

    /// The problem with another feasible start (a warm start).
    ///
    /// # Errors
    /// As [`DualProblem::new`]; that the coupled sums are as intended is the caller's word.
    pub fn with_start(self, start: Vec<f64>) -> Result<Self, Error> {
        DualProblem::new(DualParts { start, ..self.parts })
    }

    /// Blocks of K.
    pub fn gram(&self) -> &Gram<'a> {
        &self.parts.gram
    }

    /// r_i
    pub fn rows(&self) -> &[usize] {
        &self.parts.rows
    }

    /// s_i, +1 or −1.
    pub fn signs(&self) -> &[f64] {
        &self.parts.signs
    }

    /// p
    pub fn linear(&self) -> &[f64] {
        &self.parts.linear
    }

    /// u, possibly infinite.
    pub fn upper(&self) -> &[f64] {
        &self.parts.upper
    }

    /// What is added to the diagonal.
    pub fn ridge(&self) -> &[f64] {
        &self.parts.ridge
    }

    /// Which sums are held fixed.
    pub fn coupling(&self) -> Coupling {
        self.parts.coupling
    }

    /// A feasible point.
    pub fn start(&self) -> &[f64] {
        &self.parts.start
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.parts.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.rows.is_empty()
    }

    /// `Q_ii` for each variable.
    pub fn diagonal(&self) -> Vec<f64> {
        let kernel = self.parts.gram.diagonal(&self.parts.rows);
        kernel.iter().zip(&self.parts.ridge).map(|(value, ridge)| value + ridge).collect()
    }

    /// Writes column `i` of `Q` without signs and ridge, `K[r_i, r_j]` for all j.
    pub fn kernel_row(&self, i: usize, out: &mut [f64]) {
        self.parts.gram.block(&self.parts.rows[i..=i], &self.parts.rows, out);
    }

    /// The gradient `Qα + p`, from scratch.
    ///
    /// Cost: a kernel value for each variable and each α that is not 0.
    pub fn gradient(&self, alpha: &[f64]) -> Vec<f64> {
        let active: Vec<usize> = (0..self.len()).filter(|&i| alpha[i] != 0.0).collect();
        let rows: Vec<usize> = active.iter().map(|&i| self.parts.rows[i]).collect();
        let coefficients: Vec<f64> = active.iter().map(|&i| self.parts.signs[i] * alpha[i]).collect();
        let products = self.parts.gram.product(&self.parts.rows, &rows, &coefficients);
        (0..self.len())
            .map(|i| self.parts.signs[i] * products[i] + self.parts.ridge[i] * alpha[i] + self.parts.linear[i])
            .collect()
    }

    /// `½ α′Qα + p′α`, from α and its gradient.
    pub fn objective(&self, alpha: &[f64], gradient: &[f64]) -> f64 {
        alpha.iter().zip(gradient.iter().zip(&self.parts.linear)).map(|(alpha, (g, p))| 0.5 * alpha * (g + p)).sum()
    }

    /// Whether an error of this size in each component of the gradient could show in a certificate: in the violation, or in
    /// the primal objective, where each row's slack counts by its bound (or, without one, by its α).
    pub(crate) fn is_noisy(&self, alpha: &[f64], gradient: &[f64], error: f64) -> bool {
        let weight = |(&upper, &alpha): (&f64, &f64)| if upper.is_finite() { upper } else { alpha };
        let mass: f64 = self.parts.upper.iter().zip(alpha).map(weight).sum();
        error * mass.max(1.0) > 1e-7 * self.objective(alpha, gradient).abs().max(1.0)
    }

    /// The largest violation of the optimality conditions at α, given its gradient g
    ///
    /// ```text
    /// coupled:  max over groups of  max_{i can grow} −s_i g_i − min_{i can shrink} −s_i g_i     (D.2)
    /// free:     max_i of −g_i where α_i can grow, g_i where it can shrink
    /// ```
    ///
    /// 0 or less is optimal. A group is all variables, or those of one sign. A variable can grow where `α_i < u_i − δu_i` and shrink where
    /// `α_i > δu_i`, with δ = 1e-12 (and the largest α in the place of an infinite u): bounds are products, which two programs round
    /// differently, and a row at its bound would violate in full if it missed it by the last bit. What that gives up is less than δ of
    /// the losses.
    pub fn violation(&self, alpha: &[f64], gradient: &[f64]) -> f64 {
        let DualParts { coupling, signs, upper, .. } = &self.parts;
        violation(*coupling, signs, |i| upper[i], alpha, |i| gradient[i])
    }

    /// How far the objective at α is from the optimum at most, given the gradient g; infinite where that cannot be told
    ///
    /// ```text
    /// Σ_i max over d of −(h_i d + ½ ridge_i d²),   −α_i ≤ d ≤ u_i − α_i,   h = g − ρ s        (D.8)
    /// ```
    ///
    /// because `½α′Qα + p′α` is convex and curves by at least its ridge. For C-SVC it is the duality gap.
    pub fn gap(&self, alpha: &[f64], gradient: &[f64]) -> f64 {
        let group = |sign: f64| match self.parts.coupling {
            Coupling::None => 0.0,
            Coupling::All => self.multiplier(alpha, gradient, None),
            Coupling::BySign => self.multiplier(alpha, gradient, Some(sign)),
        };
        self.gap_at(alpha, gradient, (group(1.0), group(-1.0)))
    }

    /// The least gap that any multiplier of one coupled sum gives. Far from the optimum (D.3) is a poor one.
    ///
    /// Cost: 80 passes over the variables.
    pub(crate) fn least_gap(&self, alpha: &[f64], gradient: &[f64]) -> f64 {
        if self.parts.coupling != Coupling::All {
            return self.gap(alpha, gradient);
        }
        let slopes = self.parts.signs.iter().zip(gradient).map(|(sign, slope)| sign * slope);
        let (mut low, mut high) =
            slopes.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), slope| (low.min(slope), high.max(slope)));
        let gap = |rho: f64| self.gap_at(alpha, gradient, (rho, rho));
        // The gap is convex in ρ.
        for _ in 0..STEPS_OF_MULTIPLIER {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if gap(a) > gap(b) { low = a } else { high = b }
        }
        gap(0.5 * (low + high))
    }

    /// The gap with given multipliers of the variables of either sign.
    fn gap_at(&self, alpha: &[f64], gradient: &[f64], (plus, minus): (f64, f64)) -> f64 {
        let term = |i: usize| {
            let sign = self.parts.signs[i];
            let slope = gradient[i] - sign * if sign > 0.0 { plus } else { minus };
            if slope == 0.0 {
                return 0.0;
            }
            // Downhill as far as the curvature or the bound allows; -slope/0 is an infinite step.
            let step = (-slope / self.parts.ridge[i]).clamp(-alpha[i], self.parts.upper[i] - alpha[i]);
            if step.is_finite() { -(slope + 0.5 * self.parts.ridge[i] * step) * step } else { f64::INFINITY }
        };
        (0..self.len()).map(term).sum()
    }

    /// The multiplier of the coupled sum: the average of `s_i g_i` over the free variables of a group, or the middle
    /// of the interval that the others allow when none is free
    ///
    /// ```text
    /// ρ = average of s_i g_i over 0 < α_i < u_i                            (D.3)
    /// ```
    ///
    /// `group` is a sign with [`Coupling::BySign`], `None` for all variables.
    pub fn multiplier(&self, alpha: &[f64], gradient: &[f64], group: Option<f64>) -> f64 {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut sum, mut free) = (0.0, 0.0);
        for i in (0..self.len()).filter(|&i| group.is_none_or(|group| group == self.parts.signs[i])) {
            let value = self.parts.signs[i] * gradient[i];
            if alpha[i] > 0.0 && alpha[i] < self.parts.upper[i] {
                sum += value;
                free += 1.0;
            } else if (alpha[i] > 0.0) == (self.parts.signs[i] > 0.0) {
                low = low.max(value);
            } else {
                high = high.min(value);
            }
        }
        if free > 0.0 {
            return sum / free;
        }
        match (low.is_finite(), high.is_finite()) {
            (true, true) => 0.5 * (low + high),
            (true, false) => low,
            (false, true) => high,
            (false, false) => 0.0,
        }
    }
}

/// The curvature of a pair step, `Q_ii + Q_jj − 2 Q_ij`, whose digits may be lost.
///
/// It is at least the ridges of the two by themselves. Where rounding leaves less, a step would have no end. A kernel that is none
/// may have less by far, and keeps it.
#[inline(always)]
pub(crate) fn pair_curvature(own: [f64; 2], cross: f64, ridge: f64) -> f64 {
    let curvature = own[0] + own[1] - 2.0 * cross;
    let rounding = 1e-12 * (own[0].abs() + own[1].abs());
    if curvature < ridge && curvature > -rounding { ridge } else { curvature }
}

/// The part of its bound by which a variable may miss it and still be there.
pub(crate) const AT_BOUND: f64 = 1e-12;

/// (D.2) of a problem that need not exist as a [`DualProblem`].
pub(crate) fn violation(
    coupling: Coupling,
    signs: &[f64],
    upper: impl Fn(usize) -> f64,
    alpha: &[f64],
    gradient: impl Fn(usize) -> f64,
) -> f64 {
    let largest = alpha.iter().copied().fold(0.0, f64::max);
    let ways = |i: usize| {
        let upper = upper(i);
        let edge = AT_BOUND * if upper.is_finite() { upper } else { largest };
        (alpha[i] < upper - edge, alpha[i] > edge)
    };
    if coupling == Coupling::None {
        let worst = |i: usize| {
            let slope = gradient(i);
            let (can_grow, can_shrink) = ways(i);
            let grow = if can_grow { -slope } else { 0.0 };
            let shrink = if can_shrink { slope } else { 0.0 };
            grow.max(shrink)
        };
        return (0..alpha.len()).map(worst).fold(0.0, f64::max);
    }
    let of_group = |group: f64| {
        let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..alpha.len() {
            let sign = signs[i];
            if coupling == Coupling::BySign && sign != group {
                continue;
            }
            let value = -sign * gradient(i);
            let (can_grow, can_shrink) = ways(i);
            if if sign > 0.0 { can_grow } else { can_shrink } {
                most = most.max(value);
            }
            if if sign > 0.0 { can_shrink } else { can_grow } {
                least = least.min(value);
            }
        }
        most - least
    };
    let groups = if coupling == Coupling::BySign { &[1.0, -1.0][..] } else { &[1.0] };
    groups.iter().map(|&group| of_group(group)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{KernelFunction, Linear, Points};
    use crate::workers::Workers;

    /// x = 1, 2 with signs +1, −1: Q = [[1, −2], [−2, 4]] and the ridge.
    fn with_problem(coupling: Coupling, upper: f64, ridge: f64, work: impl FnOnce(&DualProblem<'_>)) {
        let points = Points::new(Matrix::dense(2, 1, vec![1.0, 2.0]).unwrap(), false);
        let (kernel, workers) = (KernelFunction::Linear(Linear {}), Workers::none());
        let gram = Gram::new(&kernel, &points, &workers);
        let two = |value: f64| vec![value; 2];
        let parts = DualParts {
            gram,
            rows: vec![0, 1],
            signs: vec![1.0, -1.0],
            linear: two(-1.0),
            upper: two(upper),
            ridge: two(ridge),
            coupling,
            start: two(0.0),
        };
        work(&DualProblem::new(parts).unwrap());
    }

    #[test]
    fn gradient_objective_and_diagonal_are_those_of_the_matrix_written_out() {
        with_problem(Coupling::None, 5.0, 0.5, |problem| {
            assert_eq!(problem.diagonal(), [1.5, 4.5]);
            let gradient = problem.gradient(&[1.0, 2.0]);
            assert_eq!(gradient, [1.5 - 4.0 - 1.0, -2.0 + 9.0 - 1.0]);
            assert_eq!(problem.objective(&[1.0, 2.0], &gradient), 0.5 * (1.5 + 18.0 - 8.0) - 3.0);
        });
    }

    #[test]
    fn the_violation_is_that_of_the_coupling() {
        let zero = [0.0, 0.0];
        let gradient = [-1.0, -1.0];
        with_problem(Coupling::None, 5.0, 0.0, |problem| assert_eq!(problem.violation(&zero, &gradient), 1.0));
        with_problem(Coupling::All, 5.0, 0.0, |problem| assert_eq!(problem.violation(&zero, &gradient), 2.0));
        with_problem(Coupling::BySign, 5.0, 0.0, |problem| assert_eq!(problem.violation(&zero, &gradient), 0.0));
    }

    #[test]
    fn the_gap_bounds_what_is_left_and_ends_at_zero() {
        // Along α₁ = α₂ = a the objective is a²/2 − 2a (coupled), least at a = 2: −2.
        with_problem(Coupling::All, 5.0, 0.0, |problem| {
            for a in [0.0, 0.5, 1.0, 1.9, 2.0] {
                let alpha = [a, a];
                let gradient = problem.gradient(&alpha);
                let left = problem.objective(&alpha, &gradient) + 2.0;
                let gap = problem.gap(&alpha, &gradient);
                assert!(gap >= left - 1e-12, "a = {a}: {gap} is less than {left}");
                assert!(a < 2.0 || gap.abs() < 1e-12, "{gap}");
            }
        });
        // Without an upper bound only the ridge keeps it finite.
        with_problem(Coupling::None, f64::INFINITY, 0.0, |problem| {
            assert_eq!(problem.gap(&[0.0, 0.0], &[-1.0, -1.0]), f64::INFINITY);
        });
        with_problem(Coupling::None, f64::INFINITY, 0.5, |problem| {
            assert_eq!(problem.gap(&[0.0, 0.0], &[-1.0, -1.0]), 2.0);
        });
    }

    #[test]
    fn a_start_outside_of_its_bounds_is_refused() {
        with_problem(Coupling::None, 1.0, 0.0, |problem| {
            assert!(problem.clone().with_start(vec![0.0, 1.5]).is_err());
            assert!(problem.clone().with_start(vec![f64::NAN, 0.0]).is_err());
            assert!(problem.clone().with_start(vec![0.0]).is_err());
        });
    }
}
