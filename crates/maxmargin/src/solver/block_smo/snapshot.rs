//! Snapshots: everything that later blocks depend on, taken from the engine and put back.

use super::aside::PastAlpha;
use super::exact::PreciseSums;
use super::{BLOCK, Engine, Walk};
use crate::simd::Real;
use crate::solver::start::Snapshot;

impl<T: Real> Engine<'_, T> {
    /// Everything that later blocks depend on.
    ///
    /// Lists: active variables; the last block; how often each variable looked settled; counters; for each row set aside the number of its
    /// past α; rows whose u is known in double precision. Numbers: the objective; the past α; the α of the sums in double precision, and
    /// these sums. The gradient is u.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut sums = self.sums();
        self.rows.visit(|row, sum| self.twins.variables(row as usize).for_each(|k| sums[k] = sum));
        let list = |places: &[usize]| -> Vec<u64> { places.iter().map(|&place| place as u64).collect() };
        let active = (0..self.alpha.len() as u64).filter(|&k| self.active[k as usize]).collect();
        let working = self.working.iter().map(|&k| u64::from(k)).collect();
        let Walk { steps, blocks, size, renewals, idle_steps, objective } = self.walk;
        let counters = vec![blocks, size, renewals, idle_steps];
        let known = self.exact.known();
        let mut numbers = vec![objective];
        numbers.extend(self.aside.pasts().iter().flatten());
        if !known.is_empty() {
            numbers.extend_from_slice(self.exact.alpha());
            numbers.extend(known.iter().filter_map(|&row| self.exact.sum(row)));
        }
        let (past_of, known) = (list(self.aside.past_of()), list(&known));
        Snapshot {
            iterations: steps,
            alpha: self.alpha.clone(),
            gradient: sums,
            lists: vec![active, working, self.settled.clone(), counters, past_of, known],
            numbers,
        }
    }

    /// Puts a snapshot back; `false` when it does not fit this problem.
    pub(super) fn restore(&mut self, snapshot: Snapshot) -> bool {
        let variables = self.alpha.len();
        let Some((&objective, numbers)) = snapshot.numbers.split_first() else { return false };
        let [active, working, settled, counters, past_of, known] = snapshot.lists.as_slice() else { return false };
        let &[blocks, size, renewals, idle_steps] = counters.as_slice() else { return false };
        let within = |list: &[u64]| list.iter().all(|&k| k < variables as u64);
        let counted = [snapshot.iterations, blocks, renewals, idle_steps].iter().chain(settled).all(|&k| k < 1 << 60);
        let sized = (1..=BLOCK.1).contains(&size);
        let fits = snapshot.fits(self.problem) && within(active) && within(working) && settled.len() == variables;
        let Some((aside, exact)) = self.remembered(numbers, past_of, known) else { return false };
        if !(fits && counted && sized) {
            return false;
        }
        (self.aside, self.exact) = (aside, exact);
        self.walk = Walk { steps: snapshot.iterations, blocks, size, renewals, idle_steps, objective };
        self.alpha = snapshot.alpha;
        self.settled = settled.clone();
        self.working = working.iter().map(|&k| k as u32).collect();
        self.active = vec![false; variables];
        active.iter().for_each(|&k| self.active[k as usize] = true);
        let sums = &snapshot.gradient;
        self.value = (0..variables).map(|k| self.value_of(k, sums[k])).collect();
        self.reactivate_rows(&[]);
        self.rows.replace(|row, _| sums[row as usize]);
        true
    }

    /// The past α and the sums in double precision of a snapshot; `None` when they do not fit this problem.
    fn remembered(&self, numbers: &[f64], past_of: &[u64], known: &[u64]) -> Option<(PastAlpha, PreciseSums)> {
        let (variables, rows) = (self.alpha.len(), self.twins.rows());
        let place = |&k: &u64| usize::try_from(k).ok().filter(|&k| k < rows);
        let known: Vec<usize> = known.iter().map(place).collect::<Option<_>>()?;
        let exact_numbers = if known.is_empty() { 0 } else { variables + known.len() };
        let (pasts, exact) = numbers.split_at_checked(numbers.len().checked_sub(exact_numbers)?)?;
        let whole = pasts.len().is_multiple_of(variables.max(1)) && past_of.len() == rows;
        if !(whole && numbers.iter().all(|number| number.is_finite())) {
            return None;
        }
        let past_of = past_of.iter().map(|&past| usize::try_from(past).ok()).collect::<Option<_>>()?;
        let aside = PastAlpha::of_parts(past_of, pasts.chunks(variables.max(1)).map(<[f64]>::to_vec).collect())?;
        let mut known_sums = PreciseSums::default();
        if !known.is_empty() {
            let (alpha, sums) = exact.split_at(variables);
            known_sums.begin_at(alpha, rows);
            known_sums.note(known.into_iter().zip(sums.iter().copied()));
        }
        Some((aside, known_sums))
    }
}
