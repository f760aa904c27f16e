//! Why a model says of a row what it says: the support vectors or columns that decided, and how far the boundary is.

#[cfg(feature = "serde")]
use serde::Serialize;

use crate::data::Dataset;
use crate::error::Error;
use crate::kernel::{Kernel, Points, expand};
use crate::model::{Machine, Model};
use crate::recipe::Pairing;
use crate::workers::Workers;

/// Support vectors up to which ‖w‖ is summed anew. Of more of them the certificate is believed, because the sum has a term for each pair.
const MOST_PAIRED: usize = 5_000;

/// How much to tell of a row.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// How many terms of each machine, the largest first.
    pub terms: usize,
    /// All machines, and not those alone that have a say in the class that won.
    pub all_machines: bool,
}

/// Ten terms of each machine that matters.
impl Default for Detail {
    fn default() -> Self {
        Detail { terms: 10, all_machines: false }
    }
}

/// Why a model says of a row what it says.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Explanation {
    /// The place of the class among the model's; `None` for a regression, whose only decision value is the answer.
    pub code: Option<u32>,
    /// The decision value of every machine.
    pub values: Vec<f64>,
    /// How many machines speak for each class, where every pair of several classes has one.
    pub votes: Option<Vec<usize>>,
    /// How far the class that won is ahead of the next one, where the largest decision value of several wins.
    pub lead: Option<Lead>,
    /// The machines that matter, in the model's order.
    pub reasons: Vec<Reason>,
    /// What the user should know of the data, if anything.
    pub note: Option<String>,
}

/// The class that won and the next one
///
/// ```text
/// lead = f_a(x) − f_b(x),   distance = lead / ‖w_a − w_b‖                (M.4)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Lead {
    /// The place of the class that came second.
    pub rival: u32,
    /// `f_a(x) − f_b(x)`
    pub value: f64,
    /// How far the boundary between the two is; `None` where the two are the same function, or too large to compare.
    pub distance: Option<f64>,
}

/// What one machine says of a row, and why: (M.1), term by term
///
/// ```text
/// f(x) = Σ_i t_i + b,   t_i = c_i k(x, x_i) or w_j x_j,   share of t_i = |t_i| / Σ|t_i|               (M.5)
/// ```
///
/// less `(q/2) k(x, x)` for a ball. The distance of x from `f = 0` is
///
/// ```text
/// |f(x)| / ‖w‖,   ‖w‖² = Σ_ij c_i c_j k(x_i, x_j)                                                     (M.6)
/// | R − ‖φ(x) − a‖ |,   a = w/q,   R² = 2b/q + ‖a‖²   for a ball                                      (M.7)
/// ```
///
/// in the columns (scaled, where the model scales them) if the kernel is linear, else in the kernel's space.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Reason {
    /// Which machine.
    pub machine: usize,
    /// f(x), as prediction computes it.
    pub value: f64,
    /// b
    pub bias: f64,
    /// `−(q/2) k(x, x)`, for a ball.
    pub own: Option<f64>,
    /// The terms that are not 0, largest first, as many as were asked for; of equal ones the first.
    pub terms: Vec<Term>,
    /// How many terms are not 0.
    pub count: usize,
    /// Σ t_i over all of them.
    pub sum: f64,
    /// Σ |t_i| over all of them.
    pub size: f64,
    /// How far the boundary is; `None` for a regression, for classes that were trained together (see [`Lead`]), and where w is 0.
    pub distance: Option<f64>,
}

/// One term of a decision value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Term {
    /// Whose term it is.
    pub source: TermSource,
    /// `c_i`, or `w_j`.
    pub coefficient: f64,
    /// `k(x, x_i)`, or `x_j` as the machine sees it: scaled.
    pub value: f64,
    /// Their product.
    pub term: f64,
    /// Its part of the sum of all |terms|.
    pub share: f64,
}

/// Whose term it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum TermSource {
    /// A training row, counted from 0: a support vector.
    TrainingRow(u64),
    /// A column of the model, counted from 0.
    Column(usize),
}

impl Model {
    /// Why the model says of a row (counted from 0) what it says.
    ///
    /// Cost: a kernel value for each support vector and machine. Distances in a kernel's space take one for each pair of a machine's
    /// support vectors, up to 5,000 of them; where there are more, the certificate tells ‖w‖.
    ///
    /// # Errors
    /// When there is no such row, the model is a network, or as [`Model::align`].
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::embedded;
    /// use maxmargin::review::{Detail, TermSource};
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let data = embedded("e2").unwrap();
    /// let model = TrainingParams::default().check()?.fit(&data, &Workers::none(), &mut Unattended)?;
    /// let found = model.explain(&data, 0, Detail::default(), &Workers::none())?;
    ///
    /// let reason = &found.reasons[0];
    /// assert_eq!(reason.terms[0].source, TermSource::Column(0), "the first column decides");
    /// assert!((reason.sum + reason.bias - found.values[0]).abs() < 1e-12);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn explain(&self, data: &Dataset, row: usize, detail: Detail, workers: &Workers) -> Result<Explanation, Error> {
        if row >= data.rows() {
            return Err(Error::Data {
                what: format!("there is no row {}: the data has {}", row.saturating_add(1), data.rows()),
                help: format!("rows are counted from 1 to {}", data.rows()),
            });
        }
        if self.parts().network.is_some() {
            return Err(Error::Combination {
                what: "what a network says is no sum over columns or training rows".into(),
                help: "train a machine in its place, linear or with a kernel".into(),
            });
        }
        // The one row alone: bringing the others into the model's columns may cost more than all that follows.
        let aligned = self.align(&data.select_rows(&[row]))?;
        let points = &aligned.points;
        let values = self.decision_values(points, workers);
        let classes = self.classes().len();
        let pairings: Vec<Pairing> = self.machines().iter().map(|machine| machine.pairing).collect();
        let code = match self.task().is_regression() {
            true => None,
            false => Some(self.recipe().multiclass.decide(&pairings, classes, &values)),
        };
        let largest_wins = pairings.len() > 1 && pairings.iter().all(|pairing| pairing.negative.is_none());
        let rival = code.filter(|_| largest_wins).and_then(|winner| runner_up(&values, winner as usize));
        let lead = code.zip(rival).map(|(winner, rival)| {
            let (winner, rival) = (winner as usize, rival as usize);
            let value = values[winner] - values[rival]; // (M.4)
            let distance = self.norm_of_difference(winner, rival, workers).map(|norm| value / norm);
            Lead { rival: rival as u32, value, distance }
        });
        let votes = (classes > 2 && !largest_wins).then(|| votes(&pairings, &values, classes));
        let matters = |machine: &Machine| match (code, rival) {
            (Some(winner), Some(rival)) => [winner, rival].contains(&(machine.pairing.positive as u32)),
            (Some(winner), None) => machine.pairing.sign(winner as usize).is_some(),
            (None, _) => true,
        };
        let chosen = self.machines().iter().enumerate();
        let chosen = chosen.filter(|(_, machine)| detail.all_machines || matters(machine));
        let reasons = chosen.map(|(k, machine)| self.reason(k, machine, values[k], points, detail, workers)).collect();
        Ok(Explanation { code, values, votes, lead, reasons, note: aligned.note })
    }

    /// The terms of one machine for the only row of `points`.
    fn reason(
        &self,
        number: usize,
        machine: &Machine,
        value: f64,
        points: &Points,
        detail: Detail,
        workers: &Workers,
    ) -> Reason {
        let mut terms = match &machine.weights {
            Some(weights) => terms_of_columns(weights, points),
            None => self.terms_of_support(machine, points),
        };
        let (sum, size) =
            terms.iter().fold((0.0, 0.0), |(sum, size), found| (sum + found.term, size + found.term.abs()));
        terms.iter_mut().for_each(|found| found.share = found.term.abs() / size); // (M.5)
        terms.sort_by(|a, b| b.term.abs().total_cmp(&a.term.abs()).then(a.source.cmp(&b.source)));
        let count = terms.len();
        terms.truncate(detail.terms);
        let own = machine.reach.map(|reach| -reach * self.own_value(points));
        let distance = self.distance(machine, value, sum, points, workers);
        Reason { machine: number, value, bias: machine.bias, own, terms, count, sum, size, distance }
    }

    /// `c_i k(x, x_i)` for each support vector of a machine, those that are 0 left out.
    fn terms_of_support(&self, machine: &Machine, points: &Points) -> Vec<Term> {
        let places: Vec<usize> = machine.support.iter().map(|&place| place as usize).collect();
        let mut values = vec![0.0; places.len()];
        self.recipe().kernel.block(points.rows(&[0]), self.support_vectors().rows(&places), &mut values);
        let found = places.iter().zip(&machine.coefficients).zip(&values);
        let term = |((&place, &coefficient), &value): ((&usize, &f64), &f64)| {
            let source = TermSource::TrainingRow(self.parts().support_rows[place]);
            Term { source, coefficient, value, term: coefficient * value, share: 0.0 } // (M.5)
        };
        found.map(term).filter(|found| found.term != 0.0).collect()
    }

    /// k(x, x) of the only row of `points`.
    fn own_value(&self, points: &Points) -> f64 {
        let mut value = [0.0];
        self.recipe().kernel.diagonal(points.rows(&[0]), &mut value);
        value[0]
    }

    /// How far a row is from the boundary of a machine; `sum` is that of its terms.
    fn distance(&self, machine: &Machine, value: f64, sum: f64, points: &Points, workers: &Workers) -> Option<f64> {
        if self.task().is_regression() || self.parts().joint.is_some() {
            return None;
        }
        let norm = self.norm(machine, workers)?;
        let Some(reach) = machine.reach else { return Some(value.abs() / norm) }; // (M.6)
        // (M.7), with q/2 = reach.
        let (twice, centre) = (2.0 * reach, norm / (2.0 * reach));
        let radius = 2.0 * machine.bias / twice + centre * centre;
        let from_centre = self.own_value(points) - 2.0 * sum / twice + centre * centre;
        let distance = (radius.max(0.0).sqrt() - from_centre.max(0.0).sqrt()).abs();
        distance.is_finite().then_some(distance)
    }

    /// ‖w‖ of a machine, without the bias; `None` where it is 0, not finite, or not known.
    fn norm(&self, machine: &Machine, workers: &Workers) -> Option<f64> {
        let summed = match &machine.weights {
            Some(weights) => Some(weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt()),
            None => {
                let terms = machine.support.iter().zip(&machine.coefficients);
                self.norm_of_terms(&terms.map(|(&place, &c)| (place as usize, c)).collect::<Vec<_>>(), workers)
            }
        };
        let known = || machine.evidence.certificate().map(|certificate| 1.0 / certificate.margin);
        summed.or_else(known).filter(|norm| *norm > 0.0 && norm.is_finite())
    }

    /// `‖w_a − w_b‖` of two machines.
    fn norm_of_difference(&self, first: usize, second: usize, workers: &Workers) -> Option<f64> {
        let machine = |class: usize| self.machines().iter().find(|machine| machine.pairing.positive == class);
        let (first, second) = (machine(first)?, machine(second)?);
        let norm = match (&first.weights, &second.weights) {
            (Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
            _ => {
                let mut all = vec![0.0; self.support_vectors().len()];
                for (machine, sign) in [(first, 1.0), (second, -1.0)] {
                    let terms = machine.support.iter().zip(&machine.coefficients);
                    terms.for_each(|(&place, c)| all[place as usize] += sign * c);
                }
                let terms: Vec<(usize, f64)> = all.into_iter().enumerate().filter(|(_, c)| *c != 0.0).collect();
                self.norm_of_terms(&terms, workers)?
            }
        };
        (norm > 0.0 && norm.is_finite()).then_some(norm)
    }

    /// ‖w‖ of (M.6) for support vectors and their coefficients; `None` where there are too many, or no vectors to sum over.
    fn norm_of_terms(&self, terms: &[(usize, f64)], workers: &Workers) -> Option<f64> {
        if terms.len() > MOST_PAIRED || self.parts().vectors.is_none() {
            return None;
        }
        let (places, coefficients): (Vec<usize>, Vec<f64>) = terms.iter().copied().unzip();
        let rows = self.support_vectors().rows(&places);
        let products = expand(&self.recipe().kernel, rows, rows, &coefficients, workers);
        Some(coefficients.iter().zip(&products).map(|(c, product)| c * product).sum::<f64>().max(0.0).sqrt()) // (M.6)
    }
}

/// `w_j x_j` for each column, those that are 0 left out.
fn terms_of_columns(weights: &[f64], points: &Points) -> Vec<Term> {
    let mut terms = Vec::new();
    points.matrix().visit(0, |column, value| {
        let coefficient = weights[column];
        let term = coefficient * value; // (M.5)
        if term != 0.0 {
            terms.push(Term { source: TermSource::Column(column), coefficient, value, term, share: 0.0 });
        }
    });
    terms
}

/// The class with the largest value but for the winner, the first of those that tie.
fn runner_up(values: &[f64], winner: usize) -> Option<u32> {
    let others = values.iter().enumerate().filter(|(class, _)| *class != winner);
    let best = others.reduce(|best, other| if other.1 > best.1 { other } else { best });
    best.map(|(class, _)| class as u32)
}

/// How many machines speak for each class.
fn votes(pairings: &[Pairing], values: &[f64], classes: usize) -> Vec<usize> {
    let mut votes = vec![0; classes];
    for (pairing, &value) in pairings.iter().zip(values) {
        if let Some(class) = if value > 0.0 { Some(pairing.positive) } else { pairing.negative } {
            votes[class] += 1;
        }
    }
    votes
}
