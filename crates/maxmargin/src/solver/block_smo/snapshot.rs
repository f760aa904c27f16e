//! All that the blocks to come depend on, out of the engine and back.

use super::{BLOCK, Engine, Walk};
use crate::simd::Real;
use crate::solver::start::Snapshot;

impl<T: Real> Engine<'_, T> {
    /// All that the blocks to come depend on. Lists: active variables, the last block, how often each looked settled,
    /// counters; numbers: the objective. The gradient is u.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut sums = self.sums();
        self.rows.visit(|row, sum| self.twins.variables(row as usize).for_each(|k| sums[k] = sum));
        let active = (0..self.alpha.len() as u64).filter(|&k| self.active[k as usize]).collect();
        let working = self.working.iter().map(|&k| u64::from(k)).collect();
        let Walk { steps, blocks, size, renewals, idle_steps, objective } = self.walk;
        Snapshot {
            iterations: steps,
            alpha: self.alpha.clone(),
            gradient: sums,
            lists: vec![active, working, self.settled.clone(), vec![blocks, size, renewals, idle_steps]],
            numbers: vec![objective],
        }
    }

    /// Goes on at a snapshot; `false` when it is none of this problem.
    pub(super) fn restore(&mut self, snapshot: Snapshot) -> bool {
        let variables = self.alpha.len();
        let &[objective] = snapshot.numbers.as_slice() else { return false };
        let [active, working, settled, counters] = snapshot.lists.as_slice() else { return false };
        let &[blocks, size, renewals, idle_steps] = counters.as_slice() else { return false };
        let within = |list: &[u64]| list.iter().all(|&k| k < variables as u64);
        let counted = [snapshot.iterations, blocks, renewals, idle_steps].iter().chain(settled).all(|&k| k < 1 << 60);
        let sized = (1..=BLOCK.1).contains(&size);
        let fits = snapshot.fits(self.problem) && within(active) && within(working) && settled.len() == variables;
        if !(fits && counted && sized) {
            return false;
        }
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
}
