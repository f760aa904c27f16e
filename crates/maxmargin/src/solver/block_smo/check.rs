//! The check before anything is claimed: on all variables, and in double precision.

use std::ops::ControlFlow;

use super::choice::Levels;
use super::rows::KernelRows;
use super::{Engine, WORK_A_POLL};
use crate::control::{Control, Progress, Stop, poll_keeping};
use crate::problem::Coupling;
use crate::simd::Real;

/// How many times the largest error that was seen a row must be off the margin to be left as it is, and the least error that
/// is reckoned with.
const NEAR: f64 = 10.0;
const LEAST_ERROR: f64 = 1e-5;

/// Rows off the margin that the error is seen at, about.
const SAMPLE: usize = 256;

/// How often u is computed anew before `smo` takes over.
const MOST_RENEWALS: u64 = 4;

impl<T: Real> Engine<'_, T> {
    /// What looks optimal must be so for all variables, on a u that can be trusted. Breaks when it is, or when it never will
    /// be in this precision.
    pub(super) fn check(
        &mut self,
        levels: Levels,
        tolerance: f64,
        progress: Progress,
        control: &mut dyn Control,
    ) -> ControlFlow<Option<Stop>> {
        let before = self.snapshot();
        let mut poll = || match poll_keeping(control, progress, || before.clone()) {
            ControlFlow::Break(stop) => ControlFlow::Break(Some(stop)),
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
        };
        if self.look_again(levels, &mut poll)? {
            return ControlFlow::Continue(());
        }
        if self.whole && self.loaded.len() == self.alpha.len() {
            self.renew_from_block();
        } else {
            self.renew(&mut poll)?;
        }
        self.walk.renewals += 1;
        let levels = self.view().levels(0..self.alpha.len());
        if levels.violation <= tolerance {
            return ControlFlow::Break(Some(Stop::Converged));
        }
        if self.walk.renewals >= MOST_RENEWALS {
            return ControlFlow::Break(None);
        }
        let away = (0..self.alpha.len()).filter(|&k| !self.active[k]);
        let violating: Vec<usize> = away.filter(|&k| !self.view().is_settled(k, &levels)).collect();
        self.bring_back(&violating);
        ControlFlow::Continue(())
    }

    /// Looks at the variables that were set aside at 0: `true` when some of them violate, which are then active again. Those
    /// that are support vectors are looked at by [`Engine::renew`], in double precision.
    fn look_again(
        &mut self,
        levels: Levels,
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>, bool> {
        let away: Vec<usize> = (0..self.alpha.len()).filter(|&k| !self.active[k] && self.alpha[k] == 0.0).collect();
        if away.is_empty() {
            return ControlFlow::Continue(false);
        }
        // Where a twin is active, both are up to date.
        let mut stale: Vec<usize> = away.iter().map(|&k| self.twins.row(k)).collect();
        stale.sort_unstable();
        stale.dedup();
        stale.retain(|&row| self.twins.variables(row).all(|k| !self.active[k]));
        let rows: Vec<usize> = stale.iter().map(|&row| self.problem.rows()[row]).collect();
        let mut sums = KernelRows::new(self.tiles, &rows, self.problem.gram().workers(), 0);
        let moves = self.all_moves();
        let at_once = ((WORK_A_POLL / (stale.len().max(1) as f64 * self.tiles.cost())) as usize).max(1);
        for part in moves.chunks(at_once) {
            poll()?;
            sums.add_passing(part);
        }
        let mut value = std::mem::take(&mut self.value);
        sums.visit(|place, sum| {
            self.twins.variables(stale[place as usize]).for_each(|k| value[k] = self.value_of(k, sum));
        });
        self.value = value;
        let violating: Vec<usize> = away.into_iter().filter(|&k| !self.view().is_settled(k, &levels)).collect();
        self.bring_back(&violating);
        ControlFlow::Continue(!violating.is_empty())
    }

    /// Makes variables active again, whose v is up to date.
    fn bring_back(&mut self, variables: &[usize]) {
        if variables.is_empty() {
            return;
        }
        for &k in variables {
            (self.active[k], self.settled[k]) = (true, 0);
        }
        let sums = self.sums();
        self.reactivate_rows(&sums);
        self.rows.replace(|row, _| sums[row as usize]);
    }

    /// Computes v anew in double precision: of all support vectors and of a sample of the others; and then, the error of the
    /// rest being known, of those that it could put on the other side of the margin.
    fn renew(&mut self, poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>) -> ControlFlow<Option<Stop>> {
        let support: Vec<usize> = (0..self.alpha.len()).filter(|&k| self.alpha[k] > 0.0).collect();
        let error = self.renew_support(&support, poll)?;
        let others: Vec<usize> = (0..self.alpha.len()).filter(|&k| self.alpha[k] == 0.0).collect();
        let sample: Vec<usize> = others.iter().copied().step_by(others.len().div_ceil(SAMPLE).max(1)).collect();
        let error = error.max(self.renew_values(&sample, &support, poll)?);
        let gradient = self.gradient();
        let multiplier = |sign: f64| match self.problem.coupling() {
            Coupling::None => 0.0,
            Coupling::All => self.problem.multiplier(&self.alpha, &gradient, None),
            Coupling::BySign => self.problem.multiplier(&self.alpha, &gradient, Some(sign)),
        };
        let multipliers = [multiplier(-1.0), multiplier(1.0)];
        let near = |&k: &usize| {
            let slope = gradient[k] - self.problem.signs()[k] * multipliers[self.view().side(k)];
            // Also where it is not a number.
            self.alpha[k] == 0.0 && !(slope > NEAR * error.max(LEAST_ERROR))
        };
        let near: Vec<usize> = (0..self.alpha.len()).filter(near).collect();
        self.renew_values(&near, &support, poll)?;
        let sums = self.sums();
        self.rows.replace(|row, _| sums[row as usize]);
        ControlFlow::Continue(())
    }

    /// The same where the block holds all kernel values in double precision.
    fn renew_from_block(&mut self) {
        let coefficient = |&k: &u32| self.problem.signs()[k as usize] * self.alpha[k as usize];
        let coefficients: Vec<f64> = self.loaded.iter().map(coefficient).collect();
        let sums = self.block.products(&coefficients);
        let values = self.loaded.iter().zip(sums).map(|(&k, sum)| (k as usize, self.value_of(k as usize, sum)));
        for (k, value) in values.collect::<Vec<_>>() {
            self.value[k] = value;
        }
        let sums = self.sums();
        self.rows.replace(|row, _| sums[row as usize]);
    }

    /// v of all support vectors in double precision, each kernel value computed once for both of its rows. Hands back the largest change.
    fn renew_support(
        &mut self,
        support: &[usize],
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>, f64> {
        let rows: Vec<usize> = support.iter().map(|&k| self.problem.rows()[k]).collect();
        let coefficients: Vec<f64> = support.iter().map(|&k| self.problem.signs()[k] * self.alpha[k]).collect();
        let at_once = (WORK_A_POLL / self.tiles.cost()) as usize;
        let sums = self.problem.gram().symmetric_product(&rows, &coefficients, at_once, poll)?;
        ControlFlow::Continue(self.take_sums(support, sums))
    }

    /// v of some variables in double precision. Hands back the largest change.
    fn renew_values(
        &mut self,
        variables: &[usize],
        support: &[usize],
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>, f64> {
        let rows = |list: &[usize]| -> Vec<usize> { list.iter().map(|&k| self.problem.rows()[k]).collect() };
        let (left, right) = (rows(variables), rows(support));
        let coefficients: Vec<f64> = support.iter().map(|&k| self.problem.signs()[k] * self.alpha[k]).collect();
        let at_once = ((WORK_A_POLL / 4.0 / (right.len().max(1) as f64 * self.tiles.cost())) as usize).max(64);
        let mut error = 0.0f64;
        for (variables, left) in variables.chunks(at_once).zip(left.chunks(at_once)) {
            poll()?;
            let sums = self.problem.gram().product(left, &right, &coefficients);
            error = error.max(self.take_sums(variables, sums));
        }
        ControlFlow::Continue(error)
    }

    /// v of some variables from their u. Hands back the largest change.
    fn take_sums(&mut self, variables: &[usize], sums: Vec<f64>) -> f64 {
        let mut error = 0.0f64;
        for (&k, sum) in variables.iter().zip(sums) {
            let value = self.value_of(k, sum);
            // What was set aside is not up to date, and says nothing of the precision.
            if self.active[k] {
                error = error.max((value - self.value[k]).abs());
            }
            self.value[k] = value;
            self.match_twin(k);
        }
        error
    }
}
