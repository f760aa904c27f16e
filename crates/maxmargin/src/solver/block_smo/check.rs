//! The check before convergence is claimed: over all variables, in double precision.

use std::ops::ControlFlow;

use super::choice::Levels;
use super::rows::{KernelRows, Move};
use super::{Engine, WORK_A_POLL};
use crate::control::{Progress, Stop};
use crate::problem::Coupling;
use crate::simd::Real;
use crate::solver::start::{SnapshotControl, poll_keeping};

/// A row keeps its u of single precision if it is farther off the margin than this many times the largest error seen.
const NEAR: f64 = 10.0;

/// The least error of single precision that is assumed.
const LEAST_ERROR: f64 = 1e-5;

/// About how many rows off the margin the error is measured at.
const SAMPLE: usize = 256;

/// The most rows that may have moved, as a part of the support vectors, for known sums to be updated. Beyond it they are computed from 0,
/// where each kernel value serves two rows.
const MOST_MOVED: f64 = 0.5;

/// How often u is computed in double precision before `smo` takes over.
const MOST_RENEWALS: u64 = 4;

impl<T: Real> Engine<'_, T> {
    /// Checks a point that looks optimal: over all variables, with u in double precision. Breaks when it is optimal, or with `None` when it
    /// will never be in single precision.
    pub(super) fn check(
        &mut self,
        levels: Levels,
        tolerance: f64,
        progress: Progress,
        control: &mut dyn SnapshotControl,
    ) -> ControlFlow<Option<Stop>> {
        let before = self.snapshot();
        let mut poll = || match poll_keeping(control, progress, || before.clone()) {
            ControlFlow::Break(stop) => ControlFlow::Break(Some(stop)),
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
        };
        if self.look_again(levels, &mut poll)? {
            return ControlFlow::Continue(());
        }
        self.renew(&mut poll)?;
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

    /// Looks at the rows that were set aside at 0 and makes those that violate active again; `true` if there are any. Support vectors that
    /// were set aside are left to [`Engine::renew`].
    fn look_again(
        &mut self,
        levels: Levels,
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>, bool> {
        let is_at_zero = |row: usize| self.twins.variables(row).all(|k| !self.active[k] && self.alpha[k] == 0.0);
        let rows: Vec<usize> = (0..self.twins.rows()).filter(|&row| is_at_zero(row)).collect();
        if !rows.is_empty() {
            for (row, sum) in self.sums_aside(&rows, poll)? {
                self.twins.variables(row).for_each(|k| self.value[k] = self.value_of(k, sum));
            }
            self.aside.note(rows.into_iter(), &self.alpha);
        }
        // A variable whose twin is set aside at a bound stays aside.
        let waits = |k: usize| self.twins.other(k).is_some_and(|twin| !self.active[twin] && self.alpha[twin] > 0.0);
        let away = (0..self.alpha.len()).filter(|&k| !self.active[k] && self.alpha[k] == 0.0 && !waits(k));
        let violating: Vec<usize> = away.filter(|&k| !self.view().is_settled(k, &levels)).collect();
        self.bring_back(&violating);
        ControlFlow::Continue(!violating.is_empty())
    }

    /// u of rows that were set aside: updated by (B.3), or computed from 0 where that is less work.
    fn sums_aside(
        &self,
        rows: &[usize],
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>, Vec<(usize, f64)>> {
        let all = self.all_moves();
        let mut found = Vec::with_capacity(rows.len());
        for (past, rows) in self.aside.groups(rows) {
            let since = past.map(|past| self.moves_since(past)).filter(|since| since.len() < all.len());
            let moves = since.as_ref().unwrap_or(&all);
            let places: Vec<usize> = rows.iter().map(|&row| self.problem.rows()[row]).collect();
            let mut sums = KernelRows::new(self.tiles, &places, self.problem.gram().workers(), 0);
            let at_once = ((WORK_A_POLL / (rows.len() as f64 * self.tiles.cost())) as usize).max(1);
            for part in moves.chunks(at_once) {
                poll()?;
                sums.add_passing(part);
            }
            sums.visit(|place, sum| {
                let row = rows[place as usize];
                found.push((row, if since.is_some() { self.sum_of(row) + sum } else { sum }));
            });
        }
        ControlFlow::Continue(found)
    }

    /// Makes variables with an up-to-date v active again.
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

    /// Computes v in double precision: of all support vectors, of a sample of the others, and of those others that the error seen in the
    /// sample could put on the other side of the margin.
    fn renew(&mut self, poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>) -> ControlFlow<Option<Stop>> {
        self.catch_up(poll)?;
        let moves = self.all_moves();
        let (support, others): (Vec<usize>, Vec<usize>) = (0..self.alpha.len()).partition(|&k| self.alpha[k] > 0.0);
        let sample: Vec<usize> = others.iter().copied().step_by(others.len().div_ceil(SAMPLE).max(1)).collect();
        self.compute_sums(&support, &moves, poll)?;
        self.compute_sums(&sample, &moves, poll)?;
        let error = self.adopt_sums(&support).max(self.adopt_sums(&sample));
        let gradient = self.gradient();
        let multiplier = |sign: f64| match self.problem.coupling() {
            Coupling::None => 0.0,
            Coupling::All => self.problem.multiplier(&self.alpha, &gradient, None),
            Coupling::BySign => self.problem.multiplier(&self.alpha, &gradient, Some(sign)),
        };
        let multipliers = [multiplier(-1.0), multiplier(1.0)];
        let near = |&k: &usize| {
            let slope = gradient[k] - self.problem.signs()[k] * multipliers[self.view().side(k)];
            // True for NaN as well.
            !(slope > NEAR * error.max(LEAST_ERROR))
        };
        let near: Vec<usize> = others.into_iter().filter(near).collect();
        self.compute_sums(&near, &moves, poll)?;
        self.adopt_sums(&near);
        let sums = self.sums();
        self.rows.replace(|row, _| sums[row as usize]);
        ControlFlow::Continue(())
    }

    /// Updates the sums known in double precision to the present α (B.3), or forgets them where computing them from 0 is less work.
    fn catch_up(&mut self, poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>) -> ControlFlow<Option<Stop>> {
        let known = self.exact.known();
        if !known.is_empty() {
            let moves = self.moves_since(self.exact.alpha());
            if moves.len() as f64 > MOST_MOVED * self.all_moves().len() as f64 {
                self.exact.forget();
            } else {
                let sums = self.products(&known, &moves, poll)?;
                self.exact.add(sums.into_iter());
            }
        }
        self.exact.begin_at(&self.alpha, self.twins.rows());
        ControlFlow::Continue(())
    }

    /// Computes, in double precision, the sums u of these variables that are not known yet. If these are exactly the support vectors, each
    /// kernel value is computed once for both of its rows.
    fn compute_sums(
        &mut self,
        variables: &[usize],
        support: &[Move],
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>> {
        let mut rows: Vec<usize> = variables.iter().map(|&k| self.twins.row(k)).collect();
        rows.retain(|&row| !self.exact.is_known(row));
        rows.sort_unstable();
        rows.dedup();
        let sums = if rows.len() == support.len() && support.iter().all(|one| rows.binary_search(&one.row).is_ok()) {
            rows = support.iter().map(|one| one.row).collect();
            let places: Vec<usize> = support.iter().map(|one| one.place as usize).collect();
            let coefficients: Vec<f64> = support.iter().map(|one| one.amount).collect();
            let at_once = (WORK_A_POLL / self.tiles.cost()) as usize;
            self.problem.gram().symmetric_product(&places, &coefficients, at_once, poll)?
        } else {
            self.products(&rows, support, poll)?
        };
        self.exact.note(rows.into_iter().zip(sums));
        ControlFlow::Continue(())
    }

    /// `Σ_j amount_j K_jk` for rows k, in double precision.
    fn products(
        &self,
        rows: &[usize],
        moves: &[Move],
        poll: &mut impl FnMut() -> ControlFlow<Option<Stop>>,
    ) -> ControlFlow<Option<Stop>, Vec<f64>> {
        let left: Vec<usize> = rows.iter().map(|&row| self.problem.rows()[row]).collect();
        let right: Vec<usize> = moves.iter().map(|one| one.place as usize).collect();
        let coefficients: Vec<f64> = moves.iter().map(|one| one.amount).collect();
        let at_once = ((WORK_A_POLL / 4.0 / (right.len().max(1) as f64 * self.tiles.cost())) as usize).max(64);
        let mut sums = Vec::with_capacity(rows.len());
        for left in left.chunks(at_once) {
            poll()?;
            sums.extend(self.problem.gram().product(left, &right, &coefficients));
        }
        ControlFlow::Continue(sums)
    }

    /// Takes v of these variables from their u in double precision. Returns the largest change.
    fn adopt_sums(&mut self, variables: &[usize]) -> f64 {
        let mut error = 0.0f64;
        for &k in variables {
            let Some(sum) = self.exact.sum(self.twins.row(k)) else { continue };
            let value = self.value_of(k, sum);
            // A variable set aside has an old v, whose change is no error of precision.
            if self.active[k] {
                error = error.max((value - self.value[k]).abs());
            }
            self.value[k] = value;
            self.match_twin(k);
        }
        error
    }
}
