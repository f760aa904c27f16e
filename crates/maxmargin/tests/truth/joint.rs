//! What is true of classes that were trained together: softmax, and Crammer and Singer.
//!
//! ```text
//! primal  = ½ Σ_k ‖w_k‖² + Σ_i C_i ℓ_i
//! softmax:  ℓ = log Σ_k e^(f_k) − f_y,             dual = Σ C_i H(q_i) − ½ Σ_k ‖Σ_i C_i ([k = y_i] − q_ik) x_i‖²
//! hinge:    ℓ = max_k (f_k + [k ≠ y]) − f_y,       dual = Σ α_iy − ½ Σ_k ‖Σ_i α_ik x_i‖²
//! ```

use maxmargin::Model;
use maxmargin::problem::{Bias, Loss};
use maxmargin::training::Penalty;

use super::double::Double;
use super::oracle::{AT_BOUND, Finding, Rounded, lost_in_sum};
use super::problems::Problem;

struct Case<'a> {
    problem: &'a Problem,
    rows: Vec<usize>,
    codes: Vec<usize>,
    costs: Vec<f64>,
    classes: usize,
    bias: Bias,
}

/// What is true of a model of several classes at once.
pub fn judge(problem: &Problem, model: &Model) -> Finding {
    let rows: Vec<usize> = (0..problem.rows()).filter(|&row| problem.weights[row] > 0.0).collect();
    let total: f64 = rows.iter().map(|&row| problem.weights[row]).sum();
    let cost = match problem.params.penalty {
        Penalty::C(c) => c,
        Penalty::COverN(c) => c / total,
        Penalty::Lambda(lambda) => 0.5 / (total * lambda),
        _ => f64::NAN,
    };
    let case = Case {
        problem,
        codes: rows.iter().map(|&row| problem.codes[row]).collect(),
        costs: rows.iter().map(|&row| cost * problem.weights[row]).collect(),
        rows,
        classes: problem.classes,
        bias: problem.params.bias,
    };
    let weights: Vec<Vec<f64>> = model.machines().iter().map(|machine| machine.weights.clone().unwrap()).collect();
    let biases: Vec<f64> = model.machines().iter().map(|machine| machine.bias).collect();
    if problem.params.loss == Some(Loss::Logistic) {
        return case.softmax(&weights, &biases);
    }
    let mut by_row = vec![vec![0.0; case.classes]; problem.rows()];
    for (k, machine) in model.machines().iter().enumerate() {
        for (&place, &alpha) in machine.support.iter().zip(&machine.coefficients) {
            by_row[model.parts().support_rows[place as usize] as usize][k] = alpha;
        }
    }
    let alpha: Vec<Vec<f64>> = case.rows.iter().map(|&row| by_row[row].clone()).collect();
    case.crammer_singer(&weights, &biases, alpha)
}

/// Σ_i c_ik x_i for each class, and Σ_i c_ik; what f64 may lose of each number; and half of the squares that the penalty counts.
struct Direction {
    columns: Vec<Vec<Double>>,
    constants: Vec<Double>,
    lost: Vec<Vec<f64>>,
    lost_constants: Vec<f64>,
    penalty: Rounded,
}

impl Case<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn point(&self, i: usize) -> &[f64] {
        &self.problem.points[self.rows[i]]
    }

    fn direction(&self, c: &[Vec<f64>]) -> Direction {
        let columns = self.problem.points[0].len();
        let mut found = Direction {
            columns: vec![vec![Double::ZERO; columns]; self.classes],
            constants: vec![Double::ZERO; self.classes],
            lost: vec![vec![0.0; columns]; self.classes],
            lost_constants: vec![0.0; self.classes],
            penalty: Rounded::default(),
        };
        let lost = lost_in_sum(self.len());
        for i in 0..self.len() {
            for k in 0..self.classes {
                for (column, &x) in self.point(i).iter().enumerate() {
                    found.columns[k][column] += Double::product(c[i][k], x);
                    found.lost[k][column] += lost * (c[i][k] * x).abs();
                }
                found.constants[k] += Double::from(c[i][k]);
                found.lost_constants[k] += lost * c[i][k].abs();
            }
        }
        let mut penalty = Double::ZERO;
        for k in 0..self.classes {
            for (&number, &lost) in found.columns[k].iter().zip(&found.lost[k]) {
                penalty += number * number;
                found.penalty.rounding += lost * number.value().abs() + lost * lost;
            }
            if self.bias == Bias::Folded {
                penalty += found.constants[k] * found.constants[k];
                found.penalty.rounding += found.lost_constants[k] * found.constants[k].value().abs();
            }
        }
        found.penalty.value = 0.5 * penalty.value();
        found
    }

    /// f_k(x_i), and what f64 may lose of it.
    fn values(&self, weights: &[Vec<f64>], biases: &[f64], i: usize) -> (Vec<Double>, f64) {
        let mut most: f64 = 0.0;
        let value = |k: usize| {
            let terms = || self.point(i).iter().zip(&weights[k]).map(|(&x, &w)| Double::product(x, w));
            let size: f64 = terms().map(|term| term.value().abs()).sum::<f64>() + biases[k].abs();
            most = most.max(lost_in_sum(weights[k].len()) * size);
            terms().sum::<Double>() + biases[k]
        };
        let values = (0..self.classes).map(value).collect();
        (values, most)
    }

    fn penalty(&self, weights: &[Vec<f64>], biases: &[f64]) -> Double {
        let folded = if self.bias == Bias::Folded { biases } else { &[] };
        weights.iter().flatten().chain(folded).map(|&w| Double::product(w, w)).sum::<Double>() * 0.5
    }

    fn softmax(&self, weights: &[Vec<f64>], biases: &[f64]) -> Finding {
        let (n, classes) = (self.len(), self.classes);
        let mut primal = self.penalty(weights, biases);
        let mut rounding = lost_in_sum(weights.len()) * primal.value();
        let (mut parts, mut off): (Vec<Vec<f64>>, Vec<f64>) = (vec![], vec![]);
        for i in 0..n {
            let (values, error) = self.values(weights, biases, i);
            let own = values[self.codes[i]];
            let ahead: Vec<f64> = values.iter().map(|&value| (value - own).value()).collect();
            let most = ahead.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = ahead.iter().map(|value| (value - most).exp()).collect();
            let sum: f64 = powers.iter().sum();
            // The own class stands for 1 where it is ahead, so that small losses keep their digits.
            let others: f64 = (0..classes).filter(|&k| k != self.codes[i]).map(|k| ahead[k].exp()).sum();
            let loss = if most <= 0.0 { others.ln_1p() } else { most + sum.ln() };
            primal += Double::product(self.costs[i], loss);
            let missing = 1.0 - powers[self.codes[i]] / sum;
            rounding += self.costs[i] * (2.0 * error * missing.min(1.0) + error * error + 1e-15 * loss + 1e-16);
            parts.push(powers.iter().map(|power| power / sum).collect());
            off.push(error);
        }
        let pull = |q: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let one = |i: usize, k: usize| if k == self.codes[i] { 1.0 } else { 0.0 };
            (0..n).map(|i| (0..classes).map(|k| self.costs[i] * (one(i, k) - q[i][k])).collect()).collect()
        };
        let direction = self.direction(&pull(&parts));
        let mut violation = Rounded::default();
        for k in 0..classes {
            let sensitive = |size: &dyn Fn(usize) -> f64| -> f64 {
                (0..n).map(|i| self.costs[i] * (off[i] + 4.0 * f64::EPSILON) * size(i)).sum()
            };
            for (column, &w) in weights[k].iter().enumerate() {
                violation.value = violation.value.max((direction.columns[k][column] + -w).value().abs());
                let lost = direction.lost[k][column] + sensitive(&|i| self.point(i)[column].abs());
                violation.rounding = violation.rounding.max(lost);
            }
            let of_bias = match self.bias {
                Bias::Explicit => direction.constants[k].value().abs(),
                Bias::Folded => (direction.constants[k] + -biases[k]).value().abs(),
                Bias::None => 0.0,
            };
            violation.value = violation.value.max(of_bias);
            violation.rounding = violation.rounding.max(direction.lost_constants[k] + sensitive(&|_| 1.0));
        }
        let mut infeasibility = Rounded { value: 0.0, rounding: violation.rounding };
        if self.bias == Bias::Explicit {
            infeasibility.value = largest(0.0, &direction.constants);
            self.give_mass_back(&mut parts);
        }
        let direction = self.direction(&pull(&parts));
        // What the errors of decision values change of the penalty, by way of the probabilities.
        let size = |k: usize| direction.columns[k].iter().map(|number| number.value().abs()).sum::<f64>();
        let moved = violation.rounding * (0..classes).map(size).sum::<f64>();
        let entropy = |q: &Vec<f64>| -> f64 { q.iter().filter(|q| **q > 0.0).map(|q| -q * q.ln()).sum() };
        let entropies: Double = (0..n).map(|i| Double::product(self.costs[i], entropy(&parts[i]))).sum();
        let of_dual =
            moved + direction.penalty.rounding + lost_in_sum(n) * (entropies.value() + self.costs.iter().sum::<f64>());
        finding(
            Rounded { value: primal.value(), rounding },
            Rounded { value: (entropies + -direction.penalty.value).value(), rounding: of_dual },
            violation.value,
            violation,
            infeasibility,
        )
    }

    /// Changes the probabilities until each class has the mass `Σ_i C_i q_ik` of its own rows: a class that has too much keeps a part of
    /// each q, and what it gives up goes to classes that lack some, by what they lack.
    fn give_mass_back(&self, q: &mut [Vec<f64>]) {
        let mut own = vec![Double::ZERO; self.classes];
        let mut has = vec![Double::ZERO; self.classes];
        for i in 0..self.len() {
            own[self.codes[i]] += Double::from(self.costs[i]);
            (0..self.classes).for_each(|k| has[k] += Double::product(self.costs[i], q[i][k]));
        }
        let excess: Vec<f64> = (0..self.classes).map(|k| (has[k] - own[k]).value()).collect();
        let lack: f64 = excess.iter().map(|e| (-e).max(0.0)).sum();
        if lack == 0.0 {
            return;
        }
        for line in q {
            let given: Vec<f64> =
                (0..self.classes).map(|k| line[k] * (excess[k].max(0.0) / has[k].value().max(1e-300))).collect();
            let all: f64 = given.iter().sum();
            for k in 0..self.classes {
                line[k] += all * (-excess[k]).max(0.0) / lack - given[k];
            }
        }
    }

    fn crammer_singer(&self, weights: &[Vec<f64>], biases: &[f64], mut alpha: Vec<Vec<f64>>) -> Finding {
        let (n, classes) = (self.len(), self.classes);
        let mut primal = self.penalty(weights, biases);
        let mut rounding = lost_in_sum(weights.len()) * primal.value();
        for i in 0..n {
            let (values, error) = self.values(weights, biases, i);
            let ahead = |k: usize| values[k] - values[self.codes[i]] + if k == self.codes[i] { 0.0 } else { 1.0 };
            let most =
                (0..classes).map(ahead).fold(Double::ZERO, |most, a| if (a - most).value() > 0.0 { a } else { most });
            let near = (0..classes).any(|k| k != self.codes[i] && ahead(k).value() > -2.0 * error);
            primal += most * self.costs[i];
            rounding += self.costs[i] * (if near { 2.0 * error } else { 0.0 } + f64::EPSILON * most.value());
        }
        let before = alpha.clone();
        // Clip: α of other classes are not above 0, and do not sum to less than −C; the own class has what is left.
        for (i, line) in alpha.iter_mut().enumerate() {
            let (own, cost) = (self.codes[i], self.costs[i]);
            (0..classes).filter(|&k| k != own).for_each(|k| line[k] = line[k].min(0.0));
            let pull: f64 = (0..classes).filter(|&k| k != own).map(|k| -line[k]).sum();
            if pull > cost {
                line.iter_mut().for_each(|alpha| *alpha *= cost / pull);
            }
            line[own] = pull.min(cost);
        }
        let direction = self.direction(&alpha);
        let (strict, violation) = self.row_violations(&direction, biases, &alpha);
        let mass: f64 = alpha.iter().flatten().map(|alpha| alpha.abs()).sum();
        let moved = before.iter().flatten().zip(alpha.iter().flatten()).map(|(before, after)| (before - after).abs());
        let mut infeasibility = Rounded { value: moved.fold(0.0, f64::max), rounding: lost_in_sum(n) * mass };
        if self.bias == Bias::Explicit {
            infeasibility.value = largest(infeasibility.value, &direction.constants);
        }
        let mut mended = alpha.clone();
        if self.bias == Bias::Explicit {
            self.cancel(&mut mended);
        }
        let dual = |alpha: &[Vec<f64>], direction: &Direction| {
            let gained: Double = (0..n).map(|i| Double::from(alpha[i][self.codes[i]])).sum();
            let rounding = direction.penalty.rounding + lost_in_sum(n) * gained.value();
            Rounded { value: (gained + -direction.penalty.value).value(), rounding }
        };
        let mut found = dual(&alpha, &direction);
        if mended != alpha {
            // There are many ways to lower α; what one costs is what they may differ by.
            let lower = dual(&mended, &self.direction(&mended));
            let differs = (found.value - lower.value).abs();
            found = Rounded { value: lower.value, rounding: lower.rounding + differs };
        }
        let dual = found;
        finding(Rounded { value: primal.value(), rounding }, dual, strict, violation, infeasibility)
    }

    /// The largest violation of a row at `g_k = f_k + [k ≠ y]` of the w that α make: `max_k g_k` minus the least g_k whose α can grow.
    fn row_violations(&self, direction: &Direction, biases: &[f64], alpha: &[Vec<f64>]) -> (f64, Rounded) {
        let (mut strict, mut banded) = (0.0f64, Rounded::default());
        for i in 0..self.len() {
            let (own, cost) = (self.codes[i], self.costs[i]);
            let (mut values, mut lost) = (vec![], 0.0f64);
            for k in 0..self.classes {
                let x = self.point(i);
                let mut value: Double = x.iter().zip(&direction.columns[k]).map(|(&x, &v)| v * x).sum();
                let lost_here = lost_in_sum(x.len());
                let off = |c: usize| direction.lost[k][c] + lost_here * direction.columns[k][c].value().abs();
                let mut error: f64 = x.iter().enumerate().map(|(c, x)| x.abs() * off(c)).sum();
                if self.bias == Bias::Folded {
                    value += direction.constants[k];
                    error += direction.lost_constants[k];
                } else {
                    value = value + biases[k];
                }
                values.push((value + if k == own { 0.0 } else { 1.0 }).value());
                lost = lost.max(error);
            }
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = |band: f64| {
                let bound = |k: usize| if k == own { cost } else { 0.0 };
                let free = (0..self.classes).filter(|&k| alpha[i][k] < bound(k) - band * cost);
                let least = free.map(|k| values[k]).fold(f64::INFINITY, f64::min);
                if least.is_finite() { least } else { values[own] }
            };
            strict = strict.max(most - least(0.0));
            banded.value = banded.value.max(most - least(AT_BOUND));
            banded.rounding = banded.rounding.max(2.0 * lost);
        }
        (strict, banded)
    }

    /// Lowers α until those of every class sum to 0: what rows of class y give to class k is cancelled along ways from classes
    /// that have too much to classes that have too little.
    fn cancel(&self, alpha: &mut [Vec<f64>]) {
        let classes = self.classes;
        let mut flow = vec![vec![0.0; classes]; classes];
        for (line, &own) in alpha.iter().zip(&self.codes) {
            (0..classes).filter(|&k| k != own).for_each(|k| flow[own][k] -= line[k]);
        }
        let before = flow.clone();
        let excess = |flow: &[Vec<f64>], k: usize| -> f64 {
            (0..classes).map(|j| flow[k][j]).sum::<f64>() - (0..classes).map(|j| flow[j][k]).sum::<f64>()
        };
        let size: f64 = flow.iter().flatten().sum();
        for _ in 0..100 * classes * classes {
            let Some(from) = (0..classes).find(|&k| excess(&flow, k) > 1e-15 * size) else { break };
            let Some(way) = self.way(from, &flow, &excess) else { break };
            let to = way[way.len() - 1];
            let least = way.windows(2).map(|step| flow[step[0]][step[1]]).fold(f64::INFINITY, f64::min);
            let amount = least.min(excess(&flow, from)).min(-excess(&flow, to));
            way.windows(2).for_each(|step| flow[step[0]][step[1]] -= amount);
        }
        for (line, &own) in alpha.iter_mut().zip(&self.codes) {
            for k in (0..classes).filter(|&k| k != own && before[own][k] > 0.0) {
                line[k] *= flow[own][k] / before[own][k];
            }
            line[own] = (0..classes).filter(|&k| k != own).map(|k| -line[k]).sum();
        }
    }

    /// A way from a class over flows above 0 to a class that has too little, depth first.
    fn way(&self, from: usize, flow: &[Vec<f64>], excess: &dyn Fn(&[Vec<f64>], usize) -> f64) -> Option<Vec<usize>> {
        let mut stack = vec![vec![from]];
        while let Some(way) = stack.pop() {
            let at = way[way.len() - 1];
            if excess(flow, at) < 0.0 {
                return Some(way);
            }
            for next in (0..self.classes).filter(|next| flow[at][*next] > 0.0 && !way.contains(next)) {
                stack.push([&way[..], &[next]].concat());
            }
        }
        None
    }
}

/// The largest size of some numbers, and this one.
fn largest(than: f64, numbers: &[Double]) -> f64 {
    numbers.iter().fold(than, |most, number| most.max(number.value().abs()))
}

fn finding(
    primal: Rounded,
    dual: Rounded,
    strict_violation: f64,
    violation: Rounded,
    infeasibility: Rounded,
) -> Finding {
    let gap = Rounded { value: primal.value - dual.value, rounding: primal.rounding + dual.rounding };
    Finding {
        primal,
        dual,
        lower_dual: dual.value,
        gap,
        strict_violation,
        violation,
        infeasibility,
        unit: 1.0,
        nothing: 0.0,
    }
}
