//! Passes over all rows that check what a sweep only estimates: violation, gap and the best bias.

use super::step::step;
use crate::problem::{Bias, Direction, LinearProblem, Passes, RowLoss, dot};

/// A slope, or a step in b, of this size counts as infinite.
pub(crate) const HUGE: f64 = 1e250;

/// The primal objective and the gap at a point, from a pass over all rows.
pub(super) struct GapResult {
    pub(super) primal: f64,
    pub(super) gap: f64,
}

/// Passes over all rows of one problem.
pub(super) struct Check<'p, 'a> {
    problem: &'p LinearProblem<'a>,
    passes: Passes<'p, 'a>,
    /// The last point that was looked at.
    last: Option<End>,
}

/// A point at which a machine may end.
#[derive(Clone)]
pub(super) struct End {
    /// w and b.
    pub(super) point: Direction,
    /// c_i, of which w is the sum.
    pub(super) coefficients: Vec<f64>,
    /// f_i
    pub(super) values: Vec<f64>,
}

/// The state of one machine between sweeps.
pub(super) struct Climb {
    pub(super) weights: Vec<f64>,
    /// S of (DA.2)
    pub(super) sum: f64,
    /// b + ρS of (DA.2)
    pub(super) bias: f64,
    pub(super) coefficients: Vec<f64>,
}

impl<'p, 'a> Check<'p, 'a> {
    pub(super) fn new(problem: &'p LinearProblem<'a>) -> Self {
        Check { problem, passes: Passes::new(problem), last: None }
    }

    /// `Σ c_i x_i` and `Σ c_i`.
    pub(super) fn combine(&mut self, coefficients: &[f64]) -> Direction {
        if coefficients.iter().all(|&c| c == 0.0) {
            Direction::zero(self.problem.columns())
        } else {
            self.passes.combine(coefficients)
        }
    }

    /// The point to end at: feasible coefficients, their w, and the best b for that w.
    pub(super) fn end(&mut self, climb: &Climb) -> End {
        let mut coefficients = climb.coefficients.clone();
        if self.problem.bias == Bias::Explicit {
            self.problem.balance(&mut coefficients);
        }
        if let Some(last) = self.last.take_if(|last| last.coefficients == coefficients) {
            return last;
        }
        // w is summed from scratch, without the rounding of many updates.
        let point = self.passes.combine(&coefficients);
        let mut values = self.problem.values(&point.weights, 0.0);
        let bias = match self.problem.bias {
            Bias::Explicit => self.best_bias(&values, climb.bias),
            Bias::Folded => point.bias,
            Bias::None => 0.0,
        };
        values.iter_mut().for_each(|value| *value += bias);
        End { point: Direction { weights: point.weights, bias }, coefficients, values }
    }

    /// The primal objective of a known gap: `P = D + gap`, with D from the coefficients alone.
    pub(super) fn primal_of(&self, gap: f64, climb: &Climb) -> f64 {
        let problem = self.problem;
        let terms = problem.dual_terms(&climb.coefficients);
        let folded = if problem.bias == Bias::Folded { climb.sum * climb.sum } else { 0.0 };
        (terms - 0.5 * (dot(&climb.weights, &climb.weights) + folded) + gap).abs()
    }

    /// Primal and gap at the feasible coefficients.
    pub(super) fn at(&mut self, climb: &Climb) -> GapResult {
        let problem = self.problem;
        let end = self.end(climb);
        let End { point, coefficients, values } = &end;
        let bias = point.bias;
        let folded = if problem.bias == Bias::Folded { bias * bias } else { 0.0 };
        let norm = dot(&point.weights, &point.weights) + folded;
        let primal = 0.5 * norm + problem.pull_on_bias * bias + problem.losses(values);
        let gap = primal - (problem.dual_terms(coefficients) - 0.5 * norm);
        self.last = Some(end);
        GapResult { primal, gap }
    }

    /// The violation of the optimality conditions at the feasible coefficients.
    pub(super) fn violation_at(&mut self, climb: &Climb) -> f64 {
        let end = self.end(climb);
        let violation = match self.problem.loss {
            RowLoss::Logistic => self.logistic_violation(&end.point.weights, end.point.bias, &end.values),
            _ => self.violation(&end.coefficients, &end.values),
        };
        self.last = Some(end);
        violation
    }

    /// The largest slope along which a coefficient can move; with an explicit bias the largest difference of two slopes.
    fn violation(&self, coefficients: &[f64], values: &[f64]) -> f64 {
        let problem = self.problem;
        let slope = |i: usize| {
            let found = step(problem.loss, problem.targets[i], problem.costs[i], values[i], coefficients[i], 0.0);
            if found.outward.is_some() { 0.0 } else { found.slope.abs() }
        };
        let largest = (0..problem.len()).map(slope).fold(0.0, f64::max);
        if problem.bias == Bias::Explicit { 2.0 * largest } else { largest }
    }

    /// The largest component of the primal's gradient, which is what a certificate states for logistic loss.
    fn logistic_violation(&mut self, weights: &[f64], bias: f64, values: &[f64]) -> f64 {
        let problem = self.problem;
        let pull = |i: usize| problem.loss.pull(problem.targets[i], problem.costs[i], values[i], 0.0, 1.0).coefficient;
        let pulls: Vec<f64> = (0..problem.len()).map(pull).collect();
        let pulled = self.passes.combine(&pulls);
        let of_weights = weights.iter().zip(&pulled.weights).map(|(w, v)| (w - v).abs()).fold(0.0, f64::max);
        match problem.bias {
            Bias::Explicit => of_weights.max(pulled.bias.abs()),
            Bias::Folded => of_weights.max((bias - pulled.bias).abs()),
            Bias::None => of_weights,
        }
    }

    /// The explicit b that minimises the objective for fixed w: the slope `q − Σ c_i` changes its sign there.
    ///
    /// c_i never rises with b, so a row with the same c_i at both ends of the bracket has it in between. Such rows are left out of later
    /// halvings, which makes these nearly free for hinge loss.
    fn best_bias(&self, values: &[f64], near: f64) -> f64 {
        let problem = self.problem;
        let pull = |i: usize, bias: f64| {
            let (target, cost) = (problem.targets[i], problem.costs[i]);
            problem.loss.pull(target, cost, values[i] + bias, 0.0, SHARP).coefficient
        };
        let pulls = |rows: &[u32], bias: f64| {
            let mut pulls = vec![0.0; rows.len()];
            problem.workers.fill_chunks(&mut pulls, ROWS_A_CHUNK, |start, chunk| {
                chunk.iter_mut().zip(&rows[start..]).for_each(|(own, &i)| *own = pull(i as usize, bias));
            });
            pulls
        };
        let mut rows: Vec<u32> = (0..problem.len() as u32).collect();
        let slope = |fixed: f64, pulls: &[f64]| fixed + pulls.iter().sum::<f64>() - problem.pull_on_bias;
        // Σ c_i falls as b grows: the bracket is widened until it changes sign.
        let (mut low, mut high, mut width) = (near, near, 1e-3 * near.abs().max(1.0));
        let (mut at_low, mut fixed) = (pulls(&rows, low), 0.0);
        let mut at_high = at_low.clone();
        while slope(fixed, &at_low) < 0.0 && width < HUGE {
            low -= width;
            width *= 4.0;
            at_low = pulls(&rows, low);
        }
        while slope(fixed, &at_high) > 0.0 && width < HUGE {
            high += width;
            width *= 4.0;
            at_high = pulls(&rows, high);
        }
        for _ in 0..60 {
            let mut kept = 0;
            for k in 0..rows.len() {
                if at_low[k] == at_high[k] {
                    fixed += at_low[k];
                } else {
                    (rows[kept], at_low[kept], at_high[kept]) = (rows[k], at_low[k], at_high[k]);
                    kept += 1;
                }
            }
            rows.truncate(kept);
            at_low.truncate(kept);
            at_high.truncate(kept);
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            let at_middle = pulls(&rows, middle);
            if slope(fixed, &at_middle) > 0.0 {
                (low, at_low) = (middle, at_middle);
            } else {
                (high, at_high) = (middle, at_middle);
            }
        }
        0.5 * (low + high)
    }
}

/// Rows that a thread takes at a time.
const ROWS_A_CHUNK: usize = 8192;
/// The sharpness σ of (R.3) when b is searched for: corners of the loss are rounded by a part of 1e-12.
const SHARP: f64 = 1e12;
