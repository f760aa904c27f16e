//! Remembers, for each row set aside, the α its u was computed from, so that only later changes have to be added.
//!
//! ```text
//! u_k(α') = u_k(α) + Σ_j s_j (α'_j − α_j) K_jk                                                       (B.3)
//! ```

/// How many α are remembered. The oldest is forgotten first; u of its rows is then computed from 0.
const MOST: usize = 4;

/// For each row set aside, the α that its u was computed from.
#[derive(Clone, Debug)]
pub(super) struct PastAlpha {
    /// For each row one more than the place of its α in `pasts`; 0 for none.
    past_of: Vec<usize>,
    /// The remembered α, the oldest first.
    pasts: Vec<Vec<f64>>,
}

impl PastAlpha {
    pub(super) fn new(rows: usize) -> Self {
        PastAlpha { past_of: vec![0; rows], pasts: Vec::new() }
    }

    /// The parts of a snapshot; `None` when they do not belong together.
    pub(super) fn of_parts(past_of: Vec<usize>, pasts: Vec<Vec<f64>>) -> Option<Self> {
        let fits = pasts.len() <= MOST && past_of.iter().all(|&past| past <= pasts.len());
        fits.then_some(PastAlpha { past_of, pasts })
    }

    pub(super) fn past_of(&self) -> &[usize] {
        &self.past_of
    }

    pub(super) fn pasts(&self) -> &[Vec<f64>] {
        &self.pasts
    }

    /// Remembers that u of these rows was computed from this α.
    pub(super) fn note(&mut self, rows: impl Iterator<Item = usize>, alpha: &[f64]) {
        if self.pasts.len() == MOST {
            self.pasts.remove(0);
            self.past_of.iter_mut().for_each(|past| *past = past.saturating_sub(1));
        }
        self.pasts.push(alpha.to_vec());
        rows.for_each(|row| self.past_of[row] = self.pasts.len());
    }

    /// Rows grouped by the α that their u was computed from; `None` where that is forgotten.
    pub(super) fn groups(&self, rows: &[usize]) -> Vec<(Option<&[f64]>, Vec<usize>)> {
        let of = |past: usize| rows.iter().copied().filter(|&row| self.past_of[row] == past).collect();
        let pasts = self.pasts.iter().map(|past| Some(&past[..]));
        let groups = std::iter::once(None).chain(pasts).enumerate().map(|(past, alpha)| (alpha, of(past)));
        groups.filter(|(_, rows): &(_, Vec<usize>)| !rows.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut aside = PastAlpha::new(6);
        for k in 0..5 {
            aside.note(std::iter::once(k), &[k as f64]);
        }
        let groups = aside.groups(&[0, 1, 3, 5]);
        let expected: [(Option<&[f64]>, Vec<usize>); 3] =
            [(None, vec![0, 5]), (Some(&[1.0]), vec![1]), (Some(&[3.0]), vec![3])];
        assert_eq!(groups, expected);
        assert!(PastAlpha::of_parts(aside.past_of().to_vec(), aside.pasts().to_vec()).is_some());
        assert!(PastAlpha::of_parts(vec![2], vec![vec![0.0]]).is_none());
    }
}
