//! Which variables violate optimality, by how much, and which of them make the next block.

use crate::problem::Coupling;

/// The variables of (D.1) as the choice sees them: `v_k = −s_k ∇_k`, α, bounds and signs.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) coupling: Coupling,
    pub(super) alpha: &'a [f64],
    pub(super) upper: &'a [f64],
    pub(super) sign: &'a [f64],
    pub(super) value: &'a [f64],
}

/// The v beyond which a variable has a partner to move with: one that can go up needs a v above `up_from`, one that can go down a v below
/// `down_to`. One level for each sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    up_from: [f64; 2],
    down_to: [f64; 2],
    /// (D.2)
    pub(super) violation: f64,
}

impl View<'_> {
    /// Whether a variable can move up, and down, along its sign.
    pub(super) fn free(&self, k: usize) -> (bool, bool) {
        let (grow, shrink) = (self.alpha[k] < self.upper[k], self.alpha[k] > 0.0);
        if self.sign[k] > 0.0 { (grow, shrink) } else { (shrink, grow) }
    }

    /// The place of a variable's sign in [`Levels`]: 0 for a negative one, 1 for a positive one.
    pub(super) fn side(&self, k: usize) -> usize {
        usize::from(self.sign[k] > 0.0)
    }

    /// The levels of these variables.
    pub(super) fn levels(&self, variables: impl Iterator<Item = usize>) -> Levels {
        let (mut most, mut least) = ([f64::NEG_INFINITY; 2], [f64::INFINITY; 2]);
        for k in variables {
            let ((up, down), side, value) = (self.free(k), self.side(k), self.value[k]);
            if up && value > most[side] {
                most[side] = value;
            }
            if down && value < least[side] {
                least[side] = value;
            }
        }
        match self.coupling {
            Coupling::All => {
                let (most, least) = (most[0].max(most[1]), least[0].min(least[1]));
                Levels { up_from: [least; 2], down_to: [most; 2], violation: most - least }
            }
            Coupling::BySign => {
                Levels { up_from: least, down_to: most, violation: (most[0] - least[0]).max(most[1] - least[1]) }
            }
            Coupling::None => {
                let violation = most[0].max(most[1]).max(-least[0]).max(-least[1]);
                Levels { up_from: [0.0; 2], down_to: [0.0; 2], violation }
            }
        }
    }

    /// By how much a variable violates if it goes up, and if it goes down. At most 0 where it does not violate.
    fn pulls(&self, k: usize, levels: &Levels) -> (f64, f64) {
        let ((up, down), side, value) = (self.free(k), self.side(k), self.value[k]);
        let pull = |free: bool, pull: f64| if free { pull } else { f64::NEG_INFINITY };
        (pull(up, value - levels.up_from[side]), pull(down, levels.down_to[side] - value))
    }

    /// Whether a variable is at a bound that it does not want to leave.
    pub(super) fn is_settled(&self, k: usize, levels: &Levels) -> bool {
        let (up, down) = self.pulls(k, levels);
        up < 0.0 && down < 0.0
    }

    /// The next block of at most `size` of these variables. Up to half come from the block before (`last`, the newest last), if they may
    /// still move; the rest are those that violate most, up and down in turn.
    pub(super) fn choose(
        &self,
        variables: impl Iterator<Item = usize>,
        levels: &Levels,
        last: impl DoubleEndedIterator<Item = u32>,
        size: usize,
    ) -> Vec<u32> {
        let mut taken = vec![false; self.alpha.len()];
        let mut chosen: Vec<u32> = Vec::with_capacity(size);
        for k in last.rev() {
            let place = k as usize;
            let between = self.free(place) == (true, true);
            if chosen.len() < size / 2 && (between || !self.is_settled(place, levels)) {
                taken[place] = true;
                chosen.push(k);
            }
        }
        chosen.reverse();
        let room = size - chosen.len();
        let (mut rising, mut falling) = (Vec::new(), Vec::new());
        for k in variables.filter(|&k| !taken[k]) {
            let (up, down) = self.pulls(k, levels);
            if up > 0.0 {
                rising.push((up, k as u32));
            }
            if down > 0.0 {
                falling.push((down, k as u32));
            }
        }
        // The largest pull first; equal ones in the order of the variables.
        let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        for list in [&mut rising, &mut falling] {
            if list.len() > room {
                list.select_nth_unstable_by(room, order);
                list.truncate(room);
            }
            list.sort_unstable_by(order);
        }
        let mut lists = [rising.into_iter(), falling.into_iter()];
        while chosen.len() < size {
            let before = chosen.len();
            for list in &mut lists {
                if let Some((_, k)) = list.find(|&(_, k)| !taken[k as usize])
                    && chosen.len() < size
                {
                    taken[k as usize] = true;
                    chosen.push(k);
                }
            }
            if chosen.len() == before {
                break;
            }
        }
        chosen
    }
}
