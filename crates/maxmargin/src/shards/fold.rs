//! The order in which sums are added: a tree over the numbers of the shards, and nothing else.
//!
//! ```text
//! level 0:  shards 0..7, 8..15, ..      level 1:  eight of these sums each      ..                              (SH.6)
//! ```
//!
//! So the bits depend neither on how many workers there are, nor on which answer came first.

use super::message::Sums;

/// How many sums make one of the next level.
const ARITY: usize = 8;

/// (SH.6) over the sums of all shards in the order of their numbers; `None` where there are none.
pub(super) fn fold(sums: Vec<Sums>) -> Option<Sums> {
    fold_by(sums, Sums::join)
}

/// (SH.6) over anything that is joined.
pub(super) fn fold_by<T>(mut parts: Vec<T>, join: impl Fn(&mut T, &T)) -> Option<T> {
    while parts.len() > 1 {
        let mut items = parts.into_iter();
        let mut next = Vec::new();
        while let Some(mut first) = items.next() {
            items.by_ref().take(ARITY - 1).for_each(|other| join(&mut first, &other));
            next.push(first);
        }
        parts = next;
    }
    parts.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_added_in_groups_of_eight() {
        // 1 beside 1e16 is lost, but eight of them together are not.
        let of = |losses: f64| Sums { losses, ..Sums::default() };
        let all: Vec<Sums> = std::iter::once(1e16).chain([0.0; 7]).chain([1.0; 8]).map(of).collect();
        assert_eq!(fold(all.clone()).unwrap().losses, 1e16 + 8.0);
        let one_by_one = all.iter().fold(0.0, |sum, item| sum + item.losses);
        assert_ne!(one_by_one, 1e16 + 8.0, "the order is of no matter here, so that nothing is shown");
        assert_eq!(fold(vec![of(3.0)]).unwrap().losses, 3.0);
        assert!(fold(Vec::new()).is_none());
    }
}
