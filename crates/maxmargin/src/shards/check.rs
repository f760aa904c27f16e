//! Arithmetic that tells a wrong answer from a right one.
//!
//! ```text
//! Σ C_i           = what the survey has counted                                                (SH.1)
//! ⟨Σ c_i x_i, r⟩  = Σ c_i ρ_i,   ρ_i = ⟨x_i, r⟩ of a fixed probe r, known from the start       (SH.2)
//! ⟨Σ c_i x_i, w⟩  = Σ c_i f_i                                                                  (SH.3)
//! Σ C_iℓ + Σ c_i f_i − Σ −(C_iℓ)*(−c_i)  = Σ (R.5)                                             (SH.4)
//! ```
//!
//! b counts as the weight of a column of ones. The left sides come from the numbers that a leader works with, and the right sides from others, so
//! that a change of any one of them shows. Rows left out show in (SH.1), rows that were changed after the survey in (SH.2). The check costs a
//! multiplication a column and four a row. What no identity holds, the slopes of a line search and the second order, decides how
//! far a step goes, and never what a certificate says.

use super::message::{Ask, Sums, What};
use super::probe::probe;
use crate::problem::{Bias, Direction, dot};

/// The part of what a sum is made of that rounding may change. A wrong number that hides below it moves a gap by as little.
pub(super) const ROUNDING: f64 = 1e-9;

/// What is known beforehand of a shard's answers.
pub(super) struct Expected<'a> {
    pub(super) columns: usize,
    pub(super) bias: Bias,
    /// Σ C_i of the shard.
    pub(super) costs: f64,
    /// How many of its rows have a weight above 0.
    pub(super) rows: usize,
    /// The question in full.
    pub(super) ask: &'a Ask,
}

/// Whether two sums are the same up to rounding, given the size of what they are made of. False where a number is not finite.
fn agree(one: f64, other: f64, size: f64) -> bool {
    (one - other).abs() <= ROUNDING * size.max(f64::MIN_POSITIVE) && size.is_finite()
}

impl Expected<'_> {
    /// Checks the sums of one machine.
    ///
    /// # Errors
    /// What does not hold, in words.
    pub(super) fn check(&self, sums: &Sums) -> Result<(), String> {
        match &self.ask.what {
            What::Look { matrix, diagonal } => {
                self.check_sums(sums)?;
                let size = self.columns + usize::from(self.bias != Bias::None);
                expect(
                    sums.matrix.len() == if *matrix { size * (size + 1) / 2 } else { 0 },
                    "the matrix has another size",
                )?;
                expect(
                    sums.diagonal.len() == if *diagonal { self.columns + 1 } else { 0 },
                    "the diagonal has another size",
                )?;
                expect(all_finite(&sums.matrix), "the matrix is not finite")?;
                expect(
                    sums.diagonal.iter().all(|value| *value >= 0.0 && value.is_finite()),
                    "the diagonal is not positive",
                )?;
                expect(
                    !matrix || self.matrix_agrees(sums, size),
                    "the matrix does not curve along the weights as its rows do",
                )
            }
            What::Slope { lengths, .. } => {
                let found = &sums.lengthwise;
                expect(found.len() == lengths.len(), "another number of slopes")?;
                let good =
                    |item: &[f64; 3]| item.iter().all(|value| value.is_finite()) && item[0] >= 0.0 && item[2] >= 0.0;
                expect(found.iter().all(good), "a loss or a curvature is negative, or not finite")?;
                // Losses are convex: further along the step c_i δ_i only falls.
                let falls =
                    |pair: &[[f64; 3]]| pair[1][1] <= pair[0][1] + ROUNDING * (pair[0][1].abs() + pair[1][1].abs());
                expect(found.windows(2).all(falls), "the slopes are not those of convex losses")
            }
            What::Curved { along } => {
                self.check_vector(sums)?;
                self.check_along(sums, along)
            }
            What::Balance { .. } => self.check_sums(sums),
            What::Certify { .. } => {
                expect(agree(sums.costs, self.costs, self.costs), "the rows do not cost what they cost before (SH.1)")?;
                self.check_gaps(sums)?;
                let rows = sums.counts.iter().take(4).sum::<usize>();
                expect(sums.counts.len() == 7 && rows == self.rows, "the counts are not those of all rows")
            }
        }
    }

    /// (SH.1) to (SH.4)
    fn check_sums(&self, sums: &Sums) -> Result<(), String> {
        expect(agree(sums.costs, self.costs, self.costs), "the rows do not cost what they cost before (SH.1)")?;
        self.check_vector(sums)?;
        if let Some(point) = &self.ask.point {
            self.check_along(sums, point)?;
        }
        self.check_gaps(sums)?;
        let masses = sums.free.iter().chain(&sums.bounded);
        let total: f64 = masses.clone().sum();
        expect(
            masses.clone().all(|mass| *mass >= 0.0) && agree(total, sums.mass, sums.mass),
            "the masses do not add up",
        )?;
        expect(sums.curvatures >= 0.0 && sums.largest_shift >= 0.0, "a curvature or a shift is negative")
    }

    /// (SH.2)
    fn check_vector(&self, sums: &Sums) -> Result<(), String> {
        expect(sums.combined.weights.len() == self.columns, "another number of columns")?;
        expect(sums.combined.is_finite(), "a sum is not finite")?;
        let found = sums.combined.dot(&probe(self.columns));
        expect(agree(found, sums.probe, sums.probe_size), "the sum of the rows does not meet its probe (SH.2)")
    }

    /// (SH.3)
    fn check_along(&self, sums: &Sums, along: &Direction) -> Result<(), String> {
        let found = sums.combined.dot(along);
        expect(
            agree(found, sums.products, size_along(sums, along)),
            "the sum of the rows does not have their products (SH.3)",
        )
    }

    /// (SH.4)
    fn check_gaps(&self, sums: &Sums) -> Result<(), String> {
        let of_point = self.ask.point.as_ref().map_or(0.0, |point| size_along(sums, point));
        let size = sums.losses.abs() + sums.dual_terms.abs() + of_point;
        let found = sums.losses + sums.products - sums.dual_terms;
        expect(agree(found, sums.gaps, size), "losses, dual terms and gaps do not add up (SH.4)")
    }

    /// `w̃′Hw̃ = Σ h_i f_i²`
    fn matrix_agrees(&self, sums: &Sums, size: usize) -> bool {
        let Some(point) = &self.ask.point else { return true };
        let mut whole = point.weights.clone();
        whole.extend((self.bias != Bias::None).then_some(point.bias));
        let (mut found, mut magnitude, mut start) = (0.0, 0.0, 0);
        for j in 0..size {
            let column = &sums.matrix[start..start + size - j];
            start += size - j;
            for (k, value) in column.iter().enumerate() {
                let twice = if k == 0 { 1.0 } else { 2.0 };
                let term = twice * whole[j] * whole[j + k] * value;
                found += term;
                magnitude += term.abs();
            }
        }
        agree(found, sums.curvature, magnitude.max(sums.curvature))
    }
}

/// The size of what `Σ c_i (⟨x_i, p⟩ + p_b)` is summed of.
fn size_along(sums: &Sums, along: &Direction) -> f64 {
    sums.lengths * dot(&along.weights, &along.weights).sqrt() + sums.mass * along.bias.abs()
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

fn expect(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
