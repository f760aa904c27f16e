//! What many rows cost, at once. Logistic loss asks for an exponential and up to three logarithms a row, which vector instructions find for
//! several rows in the time of one; the other losses are sums and products.

use pulp::Arch;

use super::{Row, RowLoss};
use crate::simd::{exp_double, ln_one_plus, ln_up_to_half, vectorised};

/// Rows whose terms are summed side by side.
const LANES: usize = 8;

/// Some rows: their targets t_i and costs C_i.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ManyRows<'a> {
    pub(crate) loss: RowLoss,
    pub(crate) targets: &'a [f64],
    pub(crate) costs: &'a [f64],
}

/// Where c and h of the rows go.
pub(crate) struct Pulls<'a> {
    pub(crate) coefficients: &'a mut [f64],
    pub(crate) curvatures: &'a mut [f64],
}

impl ManyRows<'_> {
    /// [`RowLoss::row`] of each row: c and h are written, and `Σ C_i ℓ_i` and `Σ −(C_iℓ)*(−c_i)` returned. Without centres they are 0.
    pub(crate) fn pulls(self, values: &[f64], centres: &[f64], sharpness: f64, pulls: Pulls<'_>) -> (f64, f64) {
        let ManyRows { loss, targets, costs } = self;
        let Pulls { coefficients, curvatures } = pulls;
        if loss == RowLoss::Logistic {
            return vectorised(
                Arch::new(),
                #[inline(always)]
                || {
                    let mut sums = [[0.0; LANES]; 2];
                    let blocks = values.len().div_ceil(LANES);
                    for block in 0..blocks {
                        let (start, rows) = (block * LANES, eight_rows(targets, costs, values, block * LANES));
                        let found = rows.pulls();
                        let end = (start + LANES).min(values.len());
                        coefficients[start..end].copy_from_slice(&found.coefficients[..end - start]);
                        curvatures[start..end].copy_from_slice(&found.curvatures[..end - start]);
                        add(&mut sums[0], &found.losses);
                        add(&mut sums[1], &found.dual_terms);
                    }
                    (sums[0].iter().sum(), sums[1].iter().sum())
                },
            );
        }
        let (mut losses, mut dual_terms) = (0.0, 0.0);
        for i in 0..values.len() {
            let centre = centres.get(i).copied().unwrap_or(0.0);
            let row: Row = loss.row(targets[i], costs[i], values[i], centre, sharpness);
            (coefficients[i], curvatures[i]) = (row.pull.coefficient, row.pull.curvature);
            losses += row.loss;
            dual_terms += row.dual_term;
        }
        (losses, dual_terms)
    }

    /// `Σ C_i ℓ(f_i)`
    pub(crate) fn losses(self, values: &[f64]) -> f64 {
        let ManyRows { loss, targets, costs } = self;
        match loss {
            RowLoss::Logistic => self.sum_of_eights(values, EightRows::losses),
            _ => (0..values.len()).map(|i| costs[i] * loss.value(targets[i], values[i])).sum(),
        }
    }

    /// `Σ −(C_iℓ)*(−c_i)`
    pub(crate) fn dual_terms(self, coefficients: &[f64]) -> f64 {
        let ManyRows { loss, targets, costs } = self;
        match loss {
            RowLoss::Logistic => self.sum_of_eights(coefficients, EightRows::dual_terms),
            _ => (0..coefficients.len()).map(|i| loss.dual_term(coefficients[i], targets[i], costs[i])).sum(),
        }
    }

    /// `Σ (R.5)`
    pub(crate) fn gaps(self, values: &[f64], coefficients: &[f64]) -> f64 {
        let ManyRows { loss, targets, costs } = self;
        if loss == RowLoss::Logistic {
            let products: f64 = values.iter().zip(coefficients).map(|(f, c)| f * c).sum();
            return (self.losses(values) + products - self.dual_terms(coefficients)).max(0.0);
        }
        (0..values.len()).map(|i| loss.gap(coefficients[i], targets[i], costs[i], values[i])).sum()
    }

    /// A sum over all rows, of each of which a number is known.
    fn sum_of_eights(self, numbers: &[f64], terms: impl Fn(&EightRows) -> [f64; LANES]) -> f64 {
        vectorised(
            Arch::new(),
            #[inline(always)]
            || {
                let mut sums = [0.0; LANES];
                for block in 0..numbers.len().div_ceil(LANES) {
                    add(&mut sums, &terms(&eight_rows(self.targets, self.costs, numbers, block * LANES)));
                }
                sums.iter().sum()
            },
        )
    }
}

// What follows is inlined into code with vector instructions: loops over lanes, and nothing that might stay a call.

/// LANES rows of logistic loss: t, C, and f or c.
struct EightRows {
    targets: [f64; LANES],
    costs: [f64; LANES],
    numbers: [f64; LANES],
}

/// What a pass wants to know of them.
struct EightPulls {
    coefficients: [f64; LANES],
    curvatures: [f64; LANES],
    losses: [f64; LANES],
    dual_terms: [f64; LANES],
}

/// The rows from a place on; beyond the last one there are rows that cost nothing.
#[inline(always)]
fn eight_rows(targets: &[f64], costs: &[f64], numbers: &[f64], start: usize) -> EightRows {
    let mut rows = EightRows { targets: [1.0; LANES], costs: [0.0; LANES], numbers: [0.0; LANES] };
    let end = (start + LANES).min(numbers.len());
    rows.targets[..end - start].copy_from_slice(&targets[start..end]);
    rows.costs[..end - start].copy_from_slice(&costs[start..end]);
    rows.numbers[..end - start].copy_from_slice(&numbers[start..end]);
    rows
}

#[inline(always)]
fn add(sums: &mut [f64; LANES], terms: &[f64; LANES]) {
    for lane in 0..LANES {
        sums[lane] += terms[lane];
    }
}

impl EightRows {
    /// (R.2) and (R.4)
    #[inline(always)]
    fn pulls(&self) -> EightPulls {
        let zeros = [0.0; LANES];
        let mut found = EightPulls { coefficients: zeros, curvatures: zeros, losses: zeros, dual_terms: zeros };
        for lane in 0..LANES {
            let (target, cost, f) = (self.targets[lane], self.costs[lane], self.numbers[lane]);
            // σ(f) σ(−f) and σ(−tf) without cancellation
            let power = exp_double(-f.abs());
            let part = 1.0 / (1.0 + power);
            let wrong = if target * f > 0.0 { power * part } else { part };
            let coefficient = cost * target * wrong;
            let loss = cost * logistic(target * f, power);
            found.coefficients[lane] = coefficient;
            found.curvatures[lane] = cost * power * part * part;
            found.losses[lane] = loss;
            found.dual_terms[lane] = loss + coefficient * f; // (R.4)
        }
        found
    }

    /// C ℓ(f)
    #[inline(always)]
    fn losses(&self) -> [f64; LANES] {
        let mut losses = [0.0; LANES];
        for lane in 0..LANES {
            let f = self.numbers[lane];
            losses[lane] = self.costs[lane] * logistic(self.targets[lane] * f, exp_double(-f.abs()));
        }
        losses
    }

    /// −(Cℓ)*(−c), (P.3)
    #[inline(always)]
    fn dual_terms(&self) -> [f64; LANES] {
        let mut terms = [0.0; LANES];
        for lane in 0..LANES {
            let cost = self.costs[lane];
            let part = self.targets[lane] * self.numbers[lane] / if cost > 0.0 { cost } else { 1.0 };
            terms[lane] = cost * entropy(part);
        }
        terms
    }
}

/// `log(1 + e^(−z))`, given `e^(−|z|)`.
#[inline(always)]
fn logistic(z: f64, power: f64) -> f64 {
    ln_one_plus(power) + if z < 0.0 { -z } else { 0.0 }
}

/// `−p log p − (1 − p) log(1 − p)` of 0 ≤ p ≤ 1. Of p and 1 − p the smaller one is exact.
#[inline(always)]
fn entropy(p: f64) -> f64 {
    let small = if p < 0.5 { p } else { 1.0 - p };
    let small = if small > 0.0 { small } else { 0.0 };
    -small * ln_up_to_half(small) - (1.0 - small) * ln_one_plus(-small)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every kind, the extremes of a decision value with them.
    fn rows() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let extremes = [0.0, -0.0, 1e-300, -1e-17, 36.0, -40.0, 700.0, -709.0, 800.0, -1e5];
        let mut values: Vec<f64> = (0..2011).map(|k| f64::from(k) * 0.0173 - 17.0).collect();
        values.extend(extremes);
        let targets = (0..values.len()).map(|k| if k % 3 == 0 { -1.0 } else { 1.0 }).collect();
        let costs = (0..values.len()).map(|k| 10.0f64.powi(k as i32 % 7 - 3)).collect();
        (targets, costs, values)
    }

    fn assert_near(found: f64, expected: f64, size: f64) {
        assert!((found - expected).abs() <= 1e-14 * size, "{found} {expected}");
    }

    #[test]
    fn many_rows_are_what_each_of_them_is() {
        let (targets, costs, values) = rows();
        for loss in [RowLoss::Logistic, RowLoss::Hinge, RowLoss::Squared, RowLoss::Epsilon(0.3)] {
            for count in [0, 1, 7, 8, 9, 1000, values.len()] {
                let many = ManyRows { loss, targets: &targets[..count], costs: &costs[..count] };
                let (mut coefficients, mut curvatures) = (vec![0.0; count], vec![0.0; count]);
                let pulls = Pulls { coefficients: &mut coefficients, curvatures: &mut curvatures };
                let (losses, dual_terms) = many.pulls(&values[..count], &[], 0.7, pulls);
                let (mut expected, mut terms, mut size) = (0.0, 0.0, 0.0);
                for i in 0..count {
                    let row = loss.row(targets[i], costs[i], values[i], 0.0, 0.7);
                    assert_near(coefficients[i], row.pull.coefficient, costs[i]);
                    assert_near(curvatures[i], row.pull.curvature, costs[i]);
                    (expected, terms) = (expected + row.loss, terms + row.dual_term);
                    size += row.loss.max(row.dual_term.abs());
                }
                assert_near(losses, expected, size);
                assert_near(dual_terms, terms, size.max((0..count).map(|i| costs[i] * values[i].abs()).sum()));
                assert_near(many.losses(&values[..count]), expected, size);
                let each = |i: usize| loss.dual_term(coefficients[i], targets[i], costs[i]);
                let terms: f64 = (0..count).map(each).sum();
                assert_near(many.dual_terms(&coefficients), terms, (0..count).map(|i| each(i).abs()).sum());
            }
        }
    }

    /// A row alone, so that no large neighbour hides what is lost.
    #[test]
    fn every_term_of_logistic_loss_has_its_digits() {
        let (_, _, values) = rows();
        for &f in &values {
            for target in [1.0, -1.0] {
                let alone = ManyRows { loss: RowLoss::Logistic, targets: &[target], costs: &[2.0] };
                let expected = 2.0 * RowLoss::Logistic.value(target, f);
                // Beyond e^(−708) it is 0 here.
                assert!((alone.losses(&[f]) - expected).abs() <= 4e-15 * expected + 1e-300, "{f}");
            }
        }
        for k in 0..=400 {
            for part in [10.0f64.powi(-k), 1.0 - 10.0f64.powi(-k), f64::from(k) / 400.0] {
                let alone = ManyRows { loss: RowLoss::Logistic, targets: &[1.0], costs: &[3.0] };
                let (found, expected) =
                    (alone.dual_terms(&[3.0 * part]), RowLoss::Logistic.dual_term(3.0 * part, 1.0, 3.0));
                assert!((found - expected).abs() <= 4e-15 * expected + 1e-290, "{part}: {found} {expected}");
            }
        }
    }
}
