//! The certificate of classes that were trained together: one for the whole problem.

use std::ops::ControlFlow;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Quantity;
#[cfg(feature = "serde")]
use super::null_is_infinite;
use super::{gap_between, relative_gap};
use crate::class_products::{Pass, Sums};
use crate::control::Stop;
use crate::problem::{AT_BOUND, Bias, JointProblem, Loss};
use crate::simd::Real;

/// How good a solution of (J.2) is.
///
/// ```text
/// primal = ½ Σ ‖w_k‖² + Σ C_i ℓ(y_i, f(x_i))  ≥  optimum  ≥  dual (J.3)                            (C.2)
/// gap = primal − dual ≥ 0
/// ```
///
/// Logistic loss: the dual is taken at the model's own probabilities, `q_i = softmax f(x_i)`, so the model and the data suffice. With
/// an explicit bias the mass `Σ_i C_i q_ik` of each class must be the cost of its own rows. A class with too much mass gives it up in
/// proportion; within each row it goes to the classes with too little, in proportion to their lack. Every q_i stays a probability.
///
/// Hinge loss: the dual is taken at the model's α, clipped to their bounds. With an explicit bias `Σ_i α_ik = 0` must hold for every
/// class, and α is lowered until it does (C.9).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct JointCertificate {
    /// The objective at the model's own w and b.
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub primal: f64,
    /// The dual objective, a bound below the optimum.
    pub dual: f64,
    /// primal − dual.
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub gap: f64,
    /// The gap divided by |primal|.
    #[cfg_attr(feature = "serde", serde(with = "null_is_infinite"))]
    pub relative_gap: f64,
    /// Logistic loss: the largest component of the primal's gradient. Hinge loss: the largest violation of a row's optimality
    /// conditions, (CS.2).
    pub violation: f64,
    /// How far the model's dual point was from feasible.
    pub infeasibility: f64,
    /// Rows with an α that is not 0.
    pub support: usize,
    /// Rows whose own class does not have the largest value.
    pub misclassified: usize,
}

impl JointCertificate {
    /// Every number with what it is, counts last.
    pub fn numbers(&self) -> [(Quantity, f64); 8] {
        [
            (Quantity::Primal, self.primal),
            (Quantity::Dual, self.dual),
            (Quantity::Gap, self.gap),
            (Quantity::RelativeGap, self.relative_gap),
            (Quantity::Violation, self.violation),
            (Quantity::Infeasibility, self.infeasibility),
            (Quantity::Support, self.support as f64),
            (Quantity::Misclassified, self.misclassified as f64),
        ]
    }
}

/// A certificate for all classes, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum JointEvidence {
    /// The problem is convex, and this is how good the answer is.
    Certificate(JointCertificate),
    /// There is no certificate, and this is the reason.
    None(String),
}

impl JointEvidence {
    /// The certificate, if there is one.
    pub fn certificate(&self) -> Option<&JointCertificate> {
        match self {
            JointEvidence::Certificate(certificate) => Some(certificate),
            JointEvidence::None(_) => None,
        }
    }
}

/// The α of one class that are not 0, each with the place of its row in the problem.
pub type ClassAlpha = Vec<(usize, f64)>;

/// Certifies K functions, one for each class. `alpha` holds the dual variables of each class; only hinge loss needs them.
///
/// Cost: a few passes over the data.
pub fn certify_joint(
    problem: &JointProblem<'_>,
    weights: &[Vec<f64>],
    biases: &[f64],
    alpha: Option<&[ClassAlpha]>,
) -> JointEvidence {
    if !problem.penalised() {
        let reason = "without a penalty the dual has no feasible point to bound the optimum with";
        return JointEvidence::None(reason.into());
    }
    let vectors = problem.side_by_side(weights, biases);
    let found = match (problem.loss(), alpha) {
        (Loss::Logistic, _) => of_softmax(problem, &vectors),
        (Loss::Hinge, Some(alpha)) => of_hinge(problem, &vectors, alpha),
        _ => return JointEvidence::None("the method minimises no objective".into()),
    };
    let JointParts { losses, dual, violation, infeasibility, support } = found;
    let primal = 0.5 * squared_norm(problem, &vectors) + losses; // (C.2)
    let gap = gap_between(primal, dual);
    JointEvidence::Certificate(JointCertificate {
        primal,
        dual,
        gap,
        relative_gap: relative_gap(gap, primal),
        violation,
        infeasibility,
        support,
        misclassified: errors_by_class(problem, weights, biases).iter().sum(),
    })
}

/// The sums that a certificate is made of.
struct JointParts {
    /// Σ C_i ℓ(y_i, f(x_i))
    losses: f64,
    dual: f64,
    violation: f64,
    infeasibility: f64,
    support: usize,
}

fn whole(sums: ControlFlow<Stop, Sums>) -> Sums {
    match sums {
        ControlFlow::Continue(sums) => sums,
        ControlFlow::Break(_) => unreachable!("nobody breaks"),
    }
}

fn go_on() -> ControlFlow<Stop> {
    ControlFlow::Continue(())
}

/// Turns values into probabilities, `q_k = exp(f_k) / Σ exp(f)`, and returns `log Σ exp(f)`. Lanes beyond the classes become 0.
#[inline(always)]
pub(crate) fn softmax(values: &mut [f64], classes: usize) -> f64 {
    values[classes..].fill(f64::NEG_INFINITY);
    let most = values.iter().fold(f64::NEG_INFINITY, |most: f64, &value| if value > most { value } else { most });
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = Real::exp(*value - most);
        sum += *value;
    }
    let inverse = 1.0 / sum;
    values.iter_mut().for_each(|value| *value *= inverse);
    most + sum.ln()
}

/// ‖w‖² of all classes, a folded bias included.
fn squared_norm(problem: &JointProblem<'_>, vectors: &[f64]) -> f64 {
    penalised_part(problem, vectors).iter().map(|number| number * number).sum()
}

/// The numbers under the penalty: all but the last line, the biases, which only a folded bias puts under it.
fn penalised_part<'v>(problem: &JointProblem<'_>, vectors: &'v [f64]) -> &'v [f64] {
    let lanes = problem.products().lanes();
    &vectors[..vectors.len() - if problem.bias() == Bias::Folded { 0 } else { lanes }]
}

/// The parts with logistic loss: the dual at the model's own probabilities, made feasible where the bias is explicit.
fn of_softmax(problem: &JointProblem<'_>, vectors: &[f64]) -> JointParts {
    let (products, classes) = (problem.products(), problem.classes());
    let (lanes, columns) = (products.lanes(), products.matrix.columns());
    let (codes, costs) = (problem.codes(), problem.costs());
    let mut lines = vec![0.0; problem.len() * lanes];
    let pass = Pass { vectors: Some(vectors), lines: &mut lines, pulls: true };
    let sums = whole(products.pass(
        pass,
        #[inline(always)]
        |i, values, line| {
            let own = codes[i] as usize;
            let value = values[own];
            let total = softmax(values, classes);
            line.copy_from_slice(values);
            values[own] -= 1.0;
            values.iter_mut().for_each(|value| *value *= costs[i]);
            costs[i] * (total - value)
        },
        &mut go_on,
    ));
    // The gradient: w_k − Σ C_i ([k = y_i] − p_ik) x_i, and Σ C_i (p_ik − [k = y_i]) for an explicit bias.
    let gradient = sums.pulls.iter().zip(vectors).enumerate().map(|(place, (pull, number))| {
        match (place / lanes == columns, problem.bias()) {
            (true, Bias::None) => 0.0,
            (true, Bias::Explicit) => *pull,
            _ => number + pull,
        }
    });
    let violation = gradient.fold(0.0, |most: f64, component| most.max(component.abs()));
    // The mass that each class has too much; 0 without an explicit bias.
    let mut excess = sums.pulls[columns * lanes..][..classes].to_vec();
    if problem.bias() != Bias::Explicit {
        excess.fill(0.0);
    }
    let infeasibility = excess.iter().fold(0.0, |most: f64, excess| most.max(excess.abs()));
    let mut mass = vec![0.0; classes];
    codes.iter().zip(costs).for_each(|(&code, cost)| mass[code as usize] += cost);
    let kept: Vec<f64> =
        excess.iter().zip(&mass).map(|(&e, mass)| if e > 0.0 { 1.0 - e / (mass + e) } else { 1.0 }).collect();
    let lack: f64 = excess.iter().map(|e| (-e).max(0.0)).sum();
    let part: Vec<f64> = excess.iter().map(|e| if lack > 0.0 { (-e).max(0.0) / lack } else { 0.0 }).collect();
    let pass = Pass { vectors: None, lines: &mut lines, pulls: true };
    let mended = whole(products.pass(
        pass,
        |i, values, line| {
            let freed: f64 = (0..classes).map(|k| line[k] * (1.0 - kept[k])).sum();
            let mut entropy = 0.0;
            for k in 0..classes {
                let q = line[k] * kept[k] + freed * part[k];
                if q > 0.0 {
                    entropy -= q * q.ln();
                }
                values[k] = costs[i] * (f64::from(u8::from(codes[i] as usize == k)) - q);
            }
            costs[i] * entropy
        },
        &mut go_on,
    ));
    let dual = mended.total - 0.5 * squared_norm(problem, &mended.pulls); // (J.3)
    JointParts { losses: sums.total, dual, violation, infeasibility, support: problem.len() }
}

/// Lowers the α of hinge loss until those of every class sum to 0. Returns whether anything changed.
///
/// A row of class y carries `−α_ik` from y to k. Let `m_yk` be what all rows of y carry to k. The sum of a class is what leaves it
/// less what comes in:
///
/// ```text
/// Σ_i α_ik = Σ_j m_kj − Σ_j m_jk                                                                        (C.9)
/// ```
///
/// From a class with a sum above 0 there is a path along positive m to a class with a sum below 0. All m on the path are lowered by the
/// largest amount possible, which brings a class or an m to 0, until no such path is left.
fn balance(lines: &mut [f64], lanes: usize, codes: &[u32], excess: &[f64]) -> bool {
    let classes = excess.len();
    let mut carried = vec![0.0; classes * classes];
    for (line, &own) in lines.chunks(lanes).zip(codes) {
        let own = own as usize;
        (0..classes).filter(|&k| k != own).for_each(|k| carried[own * classes + k] -= line[k]);
    }
    let (before, mut excess) = (carried.clone(), excess.to_vec());
    let rounding = 1e-15 * carried.iter().sum::<f64>();
    let mut changed = false;
    for _ in 0..classes * (classes + 2) {
        let Some(from) = (0..classes).max_by(|&a, &b| excess[a].total_cmp(&excess[b])) else { break };
        if !(excess[from] > rounding) {
            break;
        }
        let Some(way) = way_to_lack(from, &carried, &excess) else { break };
        let steps = || way.windows(2).map(|step| step[0] * classes + step[1]);
        let to = way[way.len() - 1];
        let amount = steps().map(|edge| carried[edge]).fold(excess[from].min(-excess[to]), f64::min);
        steps().for_each(|edge| carried[edge] -= amount);
        excess[from] -= amount;
        excess[to] += amount;
        changed = true;
    }
    if changed {
        let kept: Vec<f64> =
            carried.iter().zip(&before).map(|(now, before)| if *before > 0.0 { now / before } else { 1.0 }).collect();
        for (line, &own) in lines.chunks_mut(lanes).zip(codes) {
            let own = own as usize;
            (0..classes).filter(|&k| k != own).for_each(|k| line[k] *= kept[own * classes + k]);
            line[own] = (0..classes).filter(|&k| k != own).map(|k| -line[k]).sum();
        }
    }
    changed
}

/// The shortest path along positive `carried` from a class to one with a sum below 0.
fn way_to_lack(from: usize, carried: &[f64], excess: &[f64]) -> Option<Vec<usize>> {
    let classes = excess.len();
    let mut before = vec![None; classes];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(class) = queue.pop_front() {
        if excess[class] < 0.0 {
            let mut way: Vec<usize> = std::iter::successors(Some(class), |&at| before[at]).collect();
            way.reverse();
            return Some(way);
        }
        for next in (0..classes).filter(|&next| next != from) {
            if before[next].is_none() && carried[class * classes + next] > 0.0 {
                before[next] = Some(class);
                queue.push_back(next);
            }
        }
    }
    None
}

/// The parts with hinge loss: the dual at α.
fn of_hinge(problem: &JointProblem<'_>, vectors: &[f64], alpha: &[ClassAlpha]) -> JointParts {
    let (products, classes) = (problem.products(), problem.classes());
    let lanes = products.lanes();
    let (codes, costs) = (problem.codes(), problem.costs());
    let mut lines = vec![0.0; problem.len() * lanes];
    for (k, list) in alpha.iter().enumerate() {
        list.iter().for_each(|&(i, value)| lines[i * lanes + k] = value);
    }
    let support = lines.chunks(lanes).filter(|line| line.iter().any(|&alpha| alpha != 0.0)).count();
    let mut infeasibility: f64 = 0.0;
    for (i, line) in lines.chunks_mut(lanes).enumerate() {
        let own = codes[i] as usize;
        let before = line.to_vec();
        line.iter_mut().enumerate().filter(|(k, _)| *k != own).for_each(|(_, alpha)| *alpha = alpha.min(0.0));
        let pull: f64 = (0..classes).filter(|&k| k != own).map(|k| -line[k]).sum();
        if pull > costs[i] {
            line.iter_mut().for_each(|alpha| *alpha *= costs[i] / pull);
        }
        line[own] = pull.min(costs[i]);
        infeasibility = before.iter().zip(&*line).map(|(a, b)| (a - b).abs()).fold(infeasibility, f64::max);
    }
    let pulled = |lines: &mut [f64]| {
        let pass = Pass { vectors: None, lines, pulls: true };
        let work = |i: usize, values: &mut [f64], line: &mut [f64]| {
            values.copy_from_slice(line);
            line[codes[i] as usize]
        };
        whole(products.pass(pass, work, &mut go_on))
    };
    let dual_of = |sums: &Sums| sums.total - 0.5 * squared_norm(problem, &sums.pulls); // (J.3)
    let sums = pulled(&mut lines);
    let mut dual = dual_of(&sums);
    if problem.bias() == Bias::Explicit {
        let excess = &sums.pulls[sums.pulls.len() - lanes..][..classes];
        infeasibility = excess.iter().fold(infeasibility, |most, excess| most.max(excess.abs()));
        let mut balanced = lines.clone();
        if balance(&mut balanced, lanes, codes, excess) {
            dual = dual_of(&pulled(&mut balanced));
        }
    }
    let mut pulls = sums.pulls;
    // The violation is measured at the w that α makes, not at the model's w.
    if problem.bias() != Bias::Folded {
        let place = pulls.len() - lanes;
        pulls[place..].copy_from_slice(&vectors[place..]);
    }
    let mut gradient = lines.clone();
    let pass = Pass { vectors: Some(&pulls), lines: &mut gradient, pulls: false };
    whole(products.pass(
        pass,
        |i, values, line| {
            for k in 0..classes {
                line[k] = values[k] + if codes[i] as usize == k { 0.0 } else { 1.0 };
            }
            0.0
        },
        &mut go_on,
    ));
    let violation = (0..problem.len())
        .map(|i| {
            let (gradient, alpha) = (&gradient[i * lanes..][..classes], &lines[i * lanes..][..classes]);
            row_violation(gradient, alpha, codes[i] as usize, costs[i])
        })
        .fold(0.0, f64::max);
    let pass = Pass { vectors: Some(vectors), lines: &mut [], pulls: false };
    let losses = whole(products.pass(
        pass,
        |i, values, _| {
            let own = codes[i] as usize;
            let most =
                (0..classes).map(|k| values[k] + if k == own { 0.0 } else { 1.0 }).fold(f64::NEG_INFINITY, f64::max);
            costs[i] * (most - values[own])
        },
        &mut go_on,
    ));
    JointParts { losses: losses.total, dual, violation, infeasibility, support }
}

/// How far a row is from optimal, the left side of (CS.2), at `g_k = f_k(x_i) + [k ≠ y_i]`.
#[inline(always)]
pub(crate) fn row_violation(gradient: &[f64], alpha: &[f64], own: usize, cost: f64) -> f64 {
    let most = largest(gradient);
    // Only α of other classes are below 0.
    let below = -AT_BOUND * cost;
    let negated = |(&g, &alpha): (&f64, &f64)| if alpha < below { -g } else { f64::NEG_INFINITY };
    let mut least = -largest_of(gradient, alpha, negated);
    if alpha[own] < cost + below {
        least = least.min(gradient[own]);
    }
    // α sums to 0, so one can always grow; rounding may hide it.
    let least = if least.is_finite() { least } else { gradient[own] };
    (most - least).max(0.0)
}

/// The largest of some numbers.
#[inline(always)]
pub(crate) fn largest(numbers: &[f64]) -> f64 {
    largest_of(numbers, numbers, |(&number, _)| number)
}

/// The largest `of(a[k], b[k])`. Eight running maxima do not wait for each other.
#[inline(always)]
pub(crate) fn largest_of(a: &[f64], b: &[f64], of: impl Fn((&f64, &f64)) -> f64) -> f64 {
    let mut most = [f64::NEG_INFINITY; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, end) = b.as_chunks::<8>();
    for (a, b) in eights.iter().zip(others) {
        for k in 0..8 {
            let number = of((&a[k], &b[k]));
            most[k] = if number > most[k] { number } else { most[k] };
        }
    }
    let last = rest.iter().zip(end).map(of).fold(f64::NEG_INFINITY, f64::max);
    most.into_iter().fold(last, f64::max)
}

/// For each class the number of its rows that another class wins. The first of tied classes wins.
pub(crate) fn errors_by_class(problem: &JointProblem<'_>, weights: &[Vec<f64>], biases: &[f64]) -> Vec<usize> {
    let (products, classes) = (problem.products(), problem.classes());
    let lanes = products.lanes();
    let vectors = problem.side_by_side(weights, biases);
    let mut lines = vec![0.0; problem.len() * lanes];
    let pass = Pass { vectors: Some(&vectors), lines: &mut lines, pulls: false };
    whole(products.pass(
        pass,
        |i, values, line| {
            let mut best = 0;
            for k in 1..classes {
                if values[k] > values[best] {
                    best = k;
                }
            }
            line[0] = f64::from(u8::from(best != problem.codes()[i] as usize));
            line[0]
        },
        &mut go_on,
    ));
    let mut errors = vec![0; classes];
    for (line, &code) in lines.chunks(lanes).zip(problem.codes()) {
        errors[code as usize] += line[0] as usize;
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_at_its_bound_up_to_rounding_is_optimal_and_one_off_it_is_not() {
        let gradient = [0.2, 1.5, 0.9];
        assert_eq!(row_violation(&gradient, &[1.0, -1.0, 0.0], 0, 1.0), 0.0);
        assert_eq!(row_violation(&gradient, &[1.0 - 1e-15, -1.0 + 1e-15, -1e-16], 0, 1.0), 0.0);
        assert_eq!(row_violation(&gradient, &[0.5, -0.5, 0.0], 0, 1.0), 1.3);
        assert_eq!(row_violation(&gradient, &[1.0, 0.0, -1.0], 0, 1.0), 0.6);
        assert_eq!(row_violation(&[2.0, 1.5, 0.9], &[0.0; 3], 0, 1.0), 0.0);
        assert_eq!(row_violation(&gradient, &[0.0; 3], 0, 1.0), 1.3);
    }

    #[test]
    fn softmax_is_a_distribution_and_lanes_beyond_the_classes_are_0() {
        let mut values = [1.0, 2.0, 3.0, 7.0];
        let total = softmax(&mut values, 3);
        assert!((total - (1f64.exp() + 2f64.exp() + 3f64.exp()).ln()).abs() < 1e-14);
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-15 && values[3] == 0.0);
        let mut far = [1e4, -1e4, 0.0, 0.0];
        softmax(&mut far, 4);
        assert_eq!(far, [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn balanced_classes_sum_to_zero_and_no_coefficient_has_grown() {
        for seed in 0..200u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut random = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let (classes, rows) = (2 + (seed % 5) as usize, 3 + (seed % 17) as usize);
            let lanes = classes.next_multiple_of(4);
            let codes: Vec<u32> = (0..rows).map(|_| (random() * classes as f64) as u32).collect();
            let mut lines = vec![0.0; rows * lanes];
            for (line, &own) in lines.chunks_mut(lanes).zip(&codes) {
                // Many are 0, so that paths lead over other classes.
                (0..classes).filter(|&k| k != own as usize).for_each(|k| line[k] = -(random() - 0.6).max(0.0));
                line[own as usize] = -line.iter().sum::<f64>();
            }
            let sum = |lines: &[f64], k: usize| lines.chunks(lanes).map(|line| line[k]).sum::<f64>();
            let (before, excess) = (lines.clone(), (0..classes).map(|k| sum(&lines, k)).collect::<Vec<f64>>());
            balance(&mut lines, lanes, &codes, &excess);
            for k in 0..classes {
                assert!(sum(&lines, k).abs() <= 1e-12, "seed {seed}: {:?}", sum(&lines, k));
            }
            for (line, before) in lines.chunks(lanes).zip(before.chunks(lanes)) {
                assert!(line.iter().sum::<f64>().abs() <= 1e-12, "seed {seed}");
                assert!(line.iter().zip(before).all(|(now, then)| now.abs() <= then.abs() + 1e-15), "seed {seed}");
            }
        }
    }
}
