//! What is true of a machine, from its coefficients, weights and bias and from the data alone. It shares no code with the library.
//!
//! ```text
//! primal = ½‖w‖² + q b + Σ C_i ℓ(f_i, t_i)                 at the model's own w and b; a folded b is part of w
//! dual   = Σ −(C_i ℓ)*(−c_i) − ½‖Σ c_i φ(x_i)‖²            at the model's c, made feasible
//! ```
//!
//! Making c feasible is a rule of the oracle's own: clip to the bounds; with an explicit bias scale the heavier side down until the sum
//! is q. A second candidate is the best multiple t c that the bounds allow. The larger dual counts.

use maxmargin::Model;
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::training::{ClassWeights, Penalty};

use super::double::Double;
use super::kernel::Value;
use super::problems::Problem;

/// A variable within this part of its largest value of a bound is at the bound: what it could still move is worth nothing, but a
/// violation that asks `α < C` takes a last digit for a free variable.
pub const AT_BOUND: f64 = 1e-12;

/// How far, relative to the dual, a search for the best multiple may end below it with the L1 norm.
const L1_SEARCH: f64 = 1e-6;

/// What a row costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    Hinge,
    Squared,
    Logistic,
    Epsilon(f64),
    SquaredEpsilon(f64),
    OneClass,
    Ball,
}

/// Rows as the kernel sees them, and all kernel values where they are few enough to be kept.
pub struct Seen<'a> {
    pub problem: &'a Problem,
    rows: Vec<Vec<f64>>,
    gram: Option<Vec<Value>>,
}

/// Rows up to which all kernel values are kept.
const KEPT: usize = 700;

impl<'a> Seen<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let folded = problem.params.bias == Bias::Folded;
        let with_constant = |x: &Vec<f64>| if folded { [&x[..], &[1.0]].concat() } else { x.clone() };
        let rows: Vec<Vec<f64>> = problem.points.iter().map(with_constant).collect();
        let keep = !problem.formula.is_linear() && rows.len() <= KEPT;
        let pair = |x: &Vec<f64>| rows.iter().map(|z| problem.formula.value(x, z)).collect::<Vec<Value>>();
        let gram = keep.then(|| rows.iter().flat_map(pair).collect());
        Seen { problem, rows, gram }
    }

    fn value(&self, i: usize, j: usize) -> Value {
        match &self.gram {
            Some(gram) => gram[i * self.rows.len() + j],
            None => self.problem.formula.value(&self.rows[i], &self.rows[j]),
        }
    }
}

/// The problem of one machine in full.
pub struct Case<'a> {
    seen: &'a Seen<'a>,
    rows: Vec<usize>,
    signs: Vec<f64>,
    targets: Vec<f64>,
    /// C_i
    pub costs: Vec<f64>,
    /// C of a row of weight 1.
    pub c: f64,
    cost: Cost,
    /// q
    pull: f64,
    bias: Bias,
    norm: Norm,
}

/// What a machine says it is: c_i by the rows of its case, b, and w when it is linear.
#[derive(Clone, Debug)]
pub struct Answer {
    pub coefficients: Vec<f64>,
    pub weights: Option<Vec<f64>>,
    pub bias: f64,
}

/// A number, and what f64 may lose of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounded {
    pub value: f64,
    pub rounding: f64,
}

/// The part of an objective of one class that is nothing, (VE.2).
const NOTHING: f64 = 1e-12;

/// What is true of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    pub primal: Rounded,
    /// The larger dual of the two candidates.
    pub dual: Rounded,
    /// The smaller one.
    pub lower_dual: f64,
    pub gap: Rounded,
    /// By (D.2) with strict comparisons; for logistic loss and the L1 norm the primal's gradient.
    pub strict_violation: f64,
    /// The same with variables next to a bound counted as there.
    pub violation: Rounded,
    /// How far c was from feasible before it was mended: bounds, sums, and with the L1 norm |Σ c_i x_ij| ≤ 1.
    pub infeasibility: Rounded,
    /// In the units that the tolerance is meant in.
    pub unit: f64,
    /// The objective of one class that is nothing but rounding, (VE.2); 0 for other tasks.
    pub nothing: f64,
}

/// Decision values, or sums over rows: the number and what f64 may lose of it, for each row.
struct Sums {
    exact: Vec<Double>,
    error: Vec<f64>,
}

/// What a sum of so many terms in f64 loses at most in practice, relative to the sum of their sizes.
pub fn lost_in_sum(terms: usize) -> f64 {
    (10.0 + (terms as f64).sqrt()) * f64::EPSILON
}

impl<'a> Case<'a> {
    /// The problem that machine `number` of a model is an answer to, and what the model says it is.
    pub fn of(seen: &'a Seen<'a>, model: &Model, number: usize) -> (Self, Answer) {
        let problem = seen.problem;
        let machine = &model.machines()[number];
        let sign = |row: usize| match problem.codes.get(row) {
            None => Some(1.0),
            Some(&code) if code == machine.pairing.positive => Some(1.0),
            Some(&code) if machine.pairing.negative.is_none_or(|negative| negative == code) => Some(-1.0),
            Some(_) => None,
        };
        let rows: Vec<usize> =
            (0..problem.rows()).filter(|&row| problem.weights[row] > 0.0 && sign(row).is_some()).collect();
        let weights = weights_of(problem, model);
        let total: f64 = rows.iter().map(|&row| weights[row]).sum();
        let norm = problem.params.norm;
        let cost = match problem.params.penalty {
            Penalty::C(c) => c,
            Penalty::COverN(c) => c / total,
            Penalty::Lambda(lambda) if norm == Norm::L1 => 1.0 / (total * lambda),
            Penalty::Lambda(lambda) => 0.5 / (total * lambda),
            // What ν came to is part of the answer.
            _ => machine.cost.unwrap_or(f64::NAN),
        };
        let costs: Vec<f64> = rows.iter().map(|&row| cost * weights[row]).collect();
        let signs: Vec<f64> = rows.iter().map(|&row| sign(row).unwrap_or(0.0)).collect();
        let (kind, pull) = match (problem.params.task, problem.params.loss) {
            (Task::Classification, Some(Loss::Squared)) => (Cost::Squared, 0.0),
            (Task::Classification, Some(Loss::Logistic)) => (Cost::Logistic, 0.0),
            (Task::Classification, _) => (Cost::Hinge, 0.0),
            (Task::Regression { epsilon }, Some(Loss::Squared)) => (Cost::SquaredEpsilon(epsilon), 0.0),
            (Task::Regression { epsilon }, _) => (Cost::Epsilon(epsilon), 0.0),
            (Task::NuRegression { .. }, _) => (Cost::Epsilon(machine.epsilon.unwrap_or(f64::NAN)), 0.0),
            (Task::OneClass { nu }, _) => (Cost::OneClass, nu * costs.iter().sum::<f64>()),
            (Task::Svdd { nu }, _) => (Cost::Ball, nu * costs.iter().sum::<f64>()),
        };
        let target = |i: usize| match kind {
            Cost::Hinge | Cost::Squared | Cost::Logistic => signs[i],
            Cost::Epsilon(_) | Cost::SquaredEpsilon(_) => problem.targets[rows[i]],
            Cost::OneClass => 0.0,
            Cost::Ball => 0.5 * pull * seen.value(rows[i], rows[i]).exact.value(),
        };
        let targets = (0..rows.len()).map(target).collect();
        let mut by_row = vec![0.0; problem.rows()];
        for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
            by_row[model.parts().support_rows[place as usize] as usize] = coefficient;
        }
        let answer = Answer {
            coefficients: rows.iter().map(|&row| by_row[row]).collect(),
            weights: machine.weights.clone(),
            bias: machine.bias,
        };
        let bias = problem.params.bias;
        (Case { seen, rows, signs, targets, costs, c: cost, cost: kind, pull, bias, norm }, answer)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The largest |c_i|.
    fn bound(&self, i: usize) -> f64 {
        if matches!(self.cost, Cost::Squared | Cost::SquaredEpsilon(_)) { f64::INFINITY } else { self.costs[i] }
    }

    /// u_i = Σ_j c_j k(x_j, x_i)
    fn products(&self, c: &[f64]) -> Sums {
        let support: Vec<usize> = (0..self.len()).filter(|&j| c[j] != 0.0).collect();
        let lost = lost_in_sum(support.len());
        if !self.seen.problem.formula.is_linear() {
            let sum = |i: usize| {
                let (mut exact, mut error) = (Double::ZERO, 0.0);
                for &j in &support {
                    let value = self.seen.value(self.rows[i], self.rows[j]);
                    exact += value.exact * c[j];
                    error += c[j].abs() * (value.error + lost * value.exact.value().abs());
                }
                (exact, error)
            };
            let (exact, error) = (0..self.len()).map(sum).unzip();
            return Sums { exact, error };
        }
        let (direction, errors) = self.direction(c);
        let mut sums = Sums { exact: vec![], error: vec![] };
        for x in self.rows.iter().map(|&row| &self.seen.rows[row]) {
            let lost = lost_in_sum(x.len());
            sums.exact.push(x.iter().zip(&direction).map(|(&x, &v)| v * x).sum());
            let term = |(x, (v, error)): (&f64, (&Double, &f64))| x.abs() * (error + lost * v.value().abs());
            sums.error.push(x.iter().zip(direction.iter().zip(&errors)).map(term).sum());
        }
        sums
    }

    /// Σ_j c_j x_j of a linear kernel, the constant of a folded bias included, and what f64 may lose of each number.
    fn direction(&self, c: &[f64]) -> (Vec<Double>, Vec<f64>) {
        let columns = self.seen.rows[0].len();
        let (mut direction, mut sizes) = (vec![Double::ZERO; columns], vec![0.0; columns]);
        for (j, &row) in self.rows.iter().enumerate().filter(|(j, _)| c[*j] != 0.0) {
            for (column, &x) in self.seen.rows[row].iter().enumerate() {
                direction[column] += Double::product(c[j], x);
                sizes[column] += (c[j] * x).abs();
            }
        }
        let lost = lost_in_sum(self.len());
        (direction, sizes.iter().map(|size| lost * size).collect())
    }

    /// f_i of the answer.
    fn decisions(&self, answer: &Answer, own: &Sums) -> Sums {
        let Some(weights) = &answer.weights else {
            let exact = own.exact.iter().map(|&u| u + answer.bias).collect();
            let error = own.error.iter().map(|error| error + 2.0 * f64::EPSILON * answer.bias.abs()).collect();
            return Sums { exact, error };
        };
        let mut sums = Sums { exact: vec![], error: vec![] };
        for &row in &self.rows {
            let x = &self.seen.problem.points[row];
            let terms = || x.iter().zip(weights).map(|(&x, &w)| Double::product(x, w));
            sums.exact.push(terms().sum::<Double>() + answer.bias);
            let size: f64 = terms().map(|term| term.value().abs()).sum::<f64>() + answer.bias.abs();
            sums.error.push(lost_in_sum(x.len()) * size);
        }
        sums
    }

    /// What the row lacks of costing nothing.
    fn slack(&self, i: usize, f: Double) -> Double {
        let t = self.targets[i];
        match self.cost {
            Cost::Hinge | Cost::Squared | Cost::Logistic => (Double::from(1.0) - f * t).positive(),
            Cost::Epsilon(width) | Cost::SquaredEpsilon(width) => ((f + -t).abs() + -width).positive(),
            Cost::OneClass | Cost::Ball => (Double::from(t) - f).positive(),
        }
    }

    /// ℓ(f_i), and how much it changes when f_i changes by this much.
    fn loss(&self, i: usize, f: Double, error: f64) -> (Double, f64) {
        let slack = self.slack(i, f);
        match self.cost {
            Cost::Logistic => {
                let z = (f * self.targets[i]).value();
                let value = (-z.abs()).exp().ln_1p() + (-z).max(0.0);
                (value.into(), error / (1.0 + (z - error).exp()) + 4.0 * f64::EPSILON * value)
            }
            Cost::Squared | Cost::SquaredEpsilon(_) => {
                let touched = if slack.value() > 0.0 { slack.value() } else { 0.0 };
                (slack * slack, 2.0 * touched * error + error * error)
            }
            // A row that is clear of its corner by more than the error costs nothing, whatever the error.
            _ if slack.value() > 0.0 || self.near_corner(i, f, error) => (slack, error),
            _ => (slack, 0.0),
        }
    }

    fn near_corner(&self, i: usize, f: Double, error: f64) -> bool {
        [-error, error].iter().any(|&off| self.slack(i, f + off).value() > 0.0)
    }

    /// A row's part in the dual at c.
    fn dual_term(&self, i: usize, c: f64) -> Double {
        let (t, cost) = (self.targets[i], self.costs[i]);
        let linear = Double::product(t, c);
        // c²/(4C) in f64: its relative error is that of one number.
        let square = Double::from(c * (c / (4.0 * cost)));
        match self.cost {
            Cost::Hinge | Cost::Ball => linear,
            Cost::Squared => linear - square,
            Cost::Epsilon(width) => linear - Double::product(width, c.abs()),
            Cost::SquaredEpsilon(width) => linear - Double::product(width, c.abs()) - square,
            Cost::OneClass => Double::ZERO,
            Cost::Logistic => {
                let part = (t * c / cost).clamp(0.0, 1.0);
                let entropy = |p: f64, log: f64| if p > 0.0 { -p * log } else { 0.0 };
                Double::from(cost) * (entropy(part, part.ln()) + entropy(1.0 - part, (-part).ln_1p()))
            }
        }
    }

    /// The nearest c that the bounds allow.
    fn clipped(&self, i: usize, c: f64) -> f64 {
        let (y, bound) = (self.signs[i], self.bound(i));
        match self.cost {
            Cost::Epsilon(_) | Cost::SquaredEpsilon(_) => c.clamp(-bound, bound),
            _ => y * (y * c).clamp(0.0, bound),
        }
    }

    /// c with the sum q: the heavier side is scaled down; a one-sided sum that is too small has every c moved towards its bound.
    fn balanced(&self, c: &[f64]) -> Vec<f64> {
        let sum = |side: f64| c.iter().filter(|c| **c * side > 0.0).map(|&c| Double::from(c)).sum::<Double>().value();
        let (plus, minus) = (sum(1.0), -sum(-1.0));
        let excess = plus - minus - self.pull;
        let room: f64 = (0..c.len()).map(|i| self.costs[i] - c[i]).sum();
        let change = |i: usize| {
            if self.pull > 0.0 && excess < 0.0 {
                c[i] + (self.costs[i] - c[i]) * (-excess / room).min(1.0)
            } else if excess > 0.0 && c[i] > 0.0 {
                c[i] * ((minus + self.pull) / plus)
            } else if excess < 0.0 && c[i] < 0.0 {
                c[i] * (plus / minus)
            } else {
                c[i]
            }
        };
        (0..c.len()).map(change).collect()
    }

    /// Everything that is true of an answer.
    pub fn judge(&self, answer: &Answer) -> Finding {
        let n = self.len();
        let own = self.products(&answer.coefficients);
        let values = self.decisions(answer, &own);
        let primal = self.primal(answer, &own, &values);

        let clipped: Vec<f64> = (0..n).map(|i| self.clipped(i, answer.coefficients[i])).collect();
        let again = clipped != answer.coefficients;
        let at_clipped = if again { self.products(&clipped) } else { own };
        let feasible = if self.bias == Bias::Explicit { self.balanced(&clipped) } else { clipped.clone() };
        let infeasibility = self.infeasibility(&answer.coefficients, &clipped, &feasible);
        let (dual, lower_dual) = if self.norm == Norm::L1 {
            // Any multiple that is feasible is a bound: one a little below the best is none to complain about.
            let dual = self.l1_dual(&feasible);
            (dual, dual.value - L1_SEARCH * dual.value.abs())
        } else if feasible == clipped {
            self.dual(&feasible, &at_clipped)
        } else {
            self.dual(&feasible, &self.products(&feasible))
        };
        let (strict_violation, violation) = match (self.cost, self.norm, &answer.weights) {
            (Cost::Logistic, _, Some(weights)) | (_, Norm::L1, Some(weights)) => {
                let found = self.gradient(weights, answer.bias, &values);
                (found.value, found)
            }
            _ => self.violation(&clipped, &at_clipped),
        };
        let gap = Rounded { value: primal.value - dual.value, rounding: primal.rounding + dual.rounding };
        let (unit, nothing) = (self.unit(), self.nothing(&answer.coefficients));
        Finding { primal, dual, lower_dual, gap, strict_violation, violation, infeasibility, unit, nothing }
    }

    /// The part of ½‖Σ c_i φ(x_i)‖² at its largest, with all rows in one direction, that is nothing where the rows cancel out.
    fn nothing(&self, c: &[f64]) -> f64 {
        if !(self.pull > 0.0) {
            return 0.0;
        }
        let own = |i: usize| self.seen.value(self.rows[i], self.rows[i]).exact.value().max(0.0).sqrt();
        let length: f64 = (0..c.len()).filter(|&i| c[i] != 0.0).map(|i| c[i].abs() * own(i)).sum();
        NOTHING * 0.5 * length * length
    }

    /// How far c is from its bounds, its sum from q, and with the L1 norm the largest product of the mended c from 1.
    fn infeasibility(&self, c: &[f64], clipped: &[f64], feasible: &[f64]) -> Rounded {
        let mut found: f64 = (0..c.len()).map(|i| (c[i] - clipped[i]).abs()).fold(0.0, f64::max);
        if self.bias == Bias::Explicit {
            let sum: Double = clipped.iter().map(|&c| Double::from(c)).sum();
            found = found.max((sum + -self.pull).value().abs());
        }
        let mass: f64 = clipped.iter().map(|c| c.abs()).sum::<f64>() + self.pull;
        let mut rounding = lost_in_sum(self.len()) * mass;
        if self.norm == Norm::L1 {
            let (direction, lost) = self.direction(feasible);
            found = direction.iter().fold(found, |most, product| most.max(product.value().abs() - 1.0));
            rounding = lost.iter().fold(rounding, |most, lost| most.max(*lost));
        }
        Rounded { value: found, rounding }
    }

    /// What a violation is measured in. A regression's decision values are of the size of its targets.
    fn unit(&self) -> f64 {
        match self.cost {
            Cost::Epsilon(_) | Cost::SquaredEpsilon(_) => {
                let (low, high) = super::problems::range(&self.targets);
                if high > low { 0.5 * (high - low) } else { 1.0 }
            }
            // One class has C = 1 in LIBSVM.
            Cost::OneClass | Cost::Ball => (self.costs.iter().sum::<f64>() / self.len() as f64).max(1.0),
            Cost::Hinge | Cost::Squared | Cost::Logistic => 1.0,
        }
    }

    fn primal(&self, answer: &Answer, own: &Sums, values: &Sums) -> Rounded {
        let n = self.len();
        let folded = if self.bias == Bias::Folded { answer.bias } else { 0.0 };
        let (mut primal, mut rounding) = match (&answer.weights, self.norm) {
            (Some(weights), Norm::L1) => {
                let norm: Double = weights.iter().chain([&folded]).map(|w| Double::from(w.abs())).sum();
                (norm, lost_in_sum(weights.len()) * norm.value())
            }
            (Some(weights), _) => {
                let norm: Double = weights.iter().chain([&folded]).map(|&w| Double::product(w, w)).sum();
                (norm * 0.5, lost_in_sum(weights.len()) * norm.value())
            }
            (None, _) => {
                let c = &answer.coefficients;
                let norm: Double = (0..n).map(|i| own.exact[i] * c[i]).sum();
                (norm * 0.5, (0..n).map(|i| c[i].abs() * self.lost_of(own, i)).sum())
            }
        };
        primal += Double::product(self.pull, answer.bias);
        rounding += 4.0 * lost_in_sum(n) * (self.pull * answer.bias).abs();
        let mut losses = 0.0;
        for i in 0..n {
            let (loss, change) = self.loss(i, values.exact[i], values.error[i]);
            primal += loss * self.costs[i];
            losses += loss.value() * self.costs[i];
            rounding += change * self.costs[i];
        }
        Rounded { value: primal.value(), rounding: rounding + lost_in_sum(n) * losses }
    }

    /// What f64 may lose of a term of `Σ c_i u_i`, but for the factor |c_i|.
    fn lost_of(&self, sums: &Sums, i: usize) -> f64 {
        sums.error[i] + lost_in_sum(self.len()) * sums.exact[i].value().abs()
    }

    /// The dual at a feasible c or at its best multiple, whichever is larger; and the smaller.
    fn dual(&self, c: &[f64], products: &Sums) -> (Rounded, f64) {
        let n = self.len();
        let quadratic: Double = (0..n).map(|i| products.exact[i] * c[i]).sum();
        let terms: Vec<f64> = (0..n).map(|i| self.dual_term(i, c[i]).value()).collect();
        let linear: Double = (0..n).map(|i| self.dual_term(i, c[i])).sum();
        let as_it_is = (linear - quadratic * 0.5).value();
        let mut rounding: f64 = (0..n).map(|i| c[i].abs() * self.lost_of(products, i)).sum();
        rounding += lost_in_sum(n) * terms.iter().map(|term| term.abs()).sum::<f64>();
        let best = if self.pull == 0.0 { self.best_multiple(c, quadratic.value()) } else { as_it_is };
        (Rounded { value: as_it_is.max(best), rounding }, as_it_is.min(best))
    }

    /// The largest dual over t c within the bounds.
    fn best_multiple(&self, c: &[f64], quadratic: f64) -> f64 {
        let within = |i: usize| if c[i] == 0.0 { f64::INFINITY } else { self.bound(i) / c[i].abs() };
        let most = (0..c.len()).map(within).fold(f64::INFINITY, f64::min);
        let dual = |t: f64| {
            let terms: Double = (0..c.len()).map(|i| self.dual_term(i, t * c[i])).sum();
            terms.value() - 0.5 * t * t * quadratic
        };
        if self.cost != Cost::Logistic {
            // D(t) = a t − ½ b t², from its values at 1 and 2.
            let terms = |t: f64| (0..c.len()).map(|i| self.dual_term(i, t * c[i])).sum::<Double>();
            let curved = (terms(1.0) * 2.0 - terms(2.0)).value();
            let slope = terms(1.0).value() + 0.5 * curved;
            let bend = curved + quadratic;
            let t = if bend > 0.0 { (slope / bend).clamp(0.0, most) } else { 1.0 };
            return dual(t);
        }
        dual(highest(&dual, if most.is_finite() { most } else { 1.0 }))
    }

    /// The dual with the L1 norm: the best multiple of c for which no |Σ c_i x_ij| exceeds 1.
    fn l1_dual(&self, c: &[f64]) -> Rounded {
        let (direction, _) = self.direction(c);
        let largest = direction.iter().fold(0.0, |most: f64, product| most.max(product.value().abs()));
        let within = |i: usize| if c[i] == 0.0 { f64::INFINITY } else { self.bound(i) / c[i].abs() };
        let most = (0..c.len()).map(within).fold(1.0 / largest, f64::min);
        if !most.is_finite() {
            return Rounded::default();
        }
        let terms = |t: f64| (0..c.len()).map(|i| self.dual_term(i, t * c[i])).sum::<Double>();
        let dual = |t: f64| terms(t).value();
        let value = match self.cost {
            // D(t) = a t − b t², from its values at 1 and 2: where products cancel out, t may be anything.
            Cost::Squared => {
                let bend = 0.5 * (terms(1.0) * 2.0 - terms(2.0)).value();
                let slope = terms(1.0).value() + bend;
                dual(if bend > 0.0 { (0.5 * slope / bend).clamp(0.0, most) } else { most })
            }
            _ => dual(highest(&dual, most)),
        };
        let size: f64 = (0..c.len()).map(|i| (most * c[i]).abs()).sum();
        Rounded { value, rounding: 1e-9 * value.abs() + lost_in_sum(c.len()) * size }
    }

    /// (D.2) at c, with strict comparisons and with those next to a bound counted as there.
    fn violation(&self, c: &[f64], products: &Sums) -> (f64, Rounded) {
        let n = self.len();
        let (mut variables, mut rounding): (Vec<Variable>, f64) = (vec![], 0.0);
        for i in 0..n {
            let u = products.exact[i];
            let ridge = if self.bound(i).is_infinite() { 0.5 / self.costs[i] } else { 0.0 };
            let bound = self.bound(i);
            let size = u.value().abs() + self.targets[i].abs() + ridge * c[i].abs() + 1.0;
            rounding = rounding.max(products.error[i] + 4.0 * f64::EPSILON * size);
            let mut add = |sign: f64, alpha: f64, slope: Double| {
                let gradient = (slope + ridge * alpha).value();
                variables.push(Variable { sign, alpha, bound, gradient });
            };
            match self.cost {
                Cost::Epsilon(width) | Cost::SquaredEpsilon(width) => {
                    let off = u + -self.targets[i];
                    add(1.0, c[i].max(0.0), off + width);
                    add(-1.0, (-c[i]).max(0.0), -off + width);
                }
                Cost::OneClass | Cost::Ball => add(1.0, c[i], u + -self.targets[i]),
                _ => add(self.signs[i], self.signs[i] * c[i], u * self.signs[i] + -1.0),
            }
        }
        let coupled = self.bias == Bias::Explicit;
        let banded = worst(&variables, coupled, AT_BOUND);
        (worst(&variables, coupled, 0.0), Rounded { value: banded, rounding: 2.0 * rounding })
    }

    /// The largest component of the primal's gradient, with the L1 norm of its smallest subgradient.
    fn gradient(&self, weights: &[f64], bias: f64, values: &Sums) -> Rounded {
        let (mut pulls, mut errors) = (vec![], vec![]);
        for i in 0..self.len() {
            let (t, cost, f, error) = (self.targets[i], self.costs[i], values.exact[i], values.error[i]);
            let (pull, off) = match self.cost {
                Cost::Logistic => (cost * t / (1.0 + (f * t).value().exp()), 0.25 * cost * error),
                _ => {
                    let slack = self.slack(i, f).value();
                    (2.0 * cost * t * slack, 2.0 * cost * error)
                }
            };
            pulls.push(pull);
            errors.push(off + 4.0 * f64::EPSILON * pull.abs());
        }
        let (mut products, sizes) = self.direction(&pulls);
        let mut off = vec![0.0; products.len()];
        for (i, &row) in self.rows.iter().enumerate() {
            self.seen.rows[row].iter().zip(&mut off).for_each(|(x, off)| *off += errors[i] * x.abs());
        }
        let mut lost: Vec<f64> = off.iter().zip(&sizes).map(|(off, size)| off + size).collect();
        let mut numbers: Vec<(f64, bool)> = weights.iter().map(|&w| (w, true)).collect();
        match self.bias {
            Bias::Folded => numbers.push((bias, true)),
            Bias::None => {}
            Bias::Explicit => {
                products.push(pulls.iter().map(|&pull| Double::from(pull)).sum());
                lost.push(
                    errors.iter().sum::<f64>() + lost_in_sum(pulls.len()) * pulls.iter().map(|p| p.abs()).sum::<f64>(),
                );
                numbers.push((bias, false));
            }
        }
        let component = |(product, &(number, penalised)): (&Double, &(f64, bool))| match (penalised, self.norm) {
            (false, _) => product.value().abs(),
            (true, Norm::L1) if number == 0.0 => (product.abs() + -1.0).positive().value(),
            (true, Norm::L1) => (*product + -number.signum()).value().abs(),
            (true, _) => (*product + -number).value().abs(),
        };
        let value = products.iter().zip(&numbers).map(component).fold(0.0, f64::max);
        Rounded { value, rounding: lost.iter().fold(0.0, |most: f64, lost| most.max(*lost)) }
    }

    /// How far the answer is from what ν asks for, relative to that; `None` where there is no ν.
    pub fn off_nu(&self, answer: &Answer) -> Option<f64> {
        let total: f64 = self.costs.iter().sum();
        let sum = |side: f64| answer.coefficients.iter().map(|c| (c * side).max(0.0)).sum::<f64>();
        match (self.seen.problem.params.penalty, self.seen.problem.params.task) {
            // Σ α of either class is ν Σ C_i / 2.
            (Penalty::Nu(nu), _) => {
                let wanted = 0.5 * nu * total;
                Some([1.0, -1.0].iter().map(|&side| (sum(side) - wanted).abs() / wanted).fold(0.0, f64::max))
            }
            // Σ |c| is at most ν Σ C_i: more than that would be another problem.
            (_, Task::NuRegression { nu }) => Some((sum(1.0) + sum(-1.0)) / (nu * total) - 1.0),
            _ => None,
        }
    }
}

/// What each row counts. Where no C was found for a ν, the model is the one of equal classes, and says so.
fn weights_of<'a>(problem: &'a Problem, model: &Model) -> &'a [f64] {
    let given = problem.params.class_weights != ClassWeights::Equal;
    if given && model.recipe().class_weights.is_none() { &problem.row_weights } else { &problem.weights }
}

/// A variable of the dual.
struct Variable {
    sign: f64,
    alpha: f64,
    bound: f64,
    gradient: f64,
}

/// (D.2). A variable within a part `band` of its bound is at the bound.
fn worst(variables: &[Variable], coupled: bool, band: f64) -> f64 {
    let largest = variables.iter().fold(0.0, |most: f64, variable| most.max(variable.alpha));
    let (mut most, mut least, mut alone) = (f64::NEG_INFINITY, f64::INFINITY, 0.0f64);
    for &Variable { sign, alpha, bound, gradient } in variables {
        let size = if bound.is_finite() { bound } else { largest };
        let grows = alpha < bound && (bound.is_infinite() || alpha < bound - band * size);
        let shrinks = alpha > band * size;
        alone = alone.max(if grows { -gradient } else { 0.0 }).max(if shrinks { gradient } else { 0.0 });
        let value = -sign * gradient;
        if if sign > 0.0 { grows } else { shrinks } {
            most = most.max(value);
        }
        if if sign > 0.0 { shrinks } else { grows } {
            least = least.min(value);
        }
    }
    if coupled { (most - least).max(0.0) } else { alone }
}

/// Where a concave function of 0 ≤ t ≤ most is highest, by golden sections.
fn highest(function: &dyn Fn(f64) -> f64, most: f64) -> f64 {
    let part = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.0, most);
    let (mut left, mut right) = (high - part * (high - low), low + part * (high - low));
    let (mut at_left, mut at_right) = (function(left), function(right));
    for _ in 0..60 {
        if at_left < at_right {
            (low, left, at_left) = (left, right, at_right);
            right = low + part * (high - low);
            at_right = function(right);
        } else {
            (high, right, at_right) = (right, left, at_left);
            left = high - part * (high - low);
            at_left = function(left);
        }
    }
    let middle = 0.5 * (low + high);
    if function(most) >= function(middle) { most } else { middle }
}
