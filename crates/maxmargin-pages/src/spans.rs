//! Which parts of a range are free: arithmetic on numbers of units, without a pointer.

/// Units from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: u32, units: u32) -> Self {
        Span { start, end: start + units }
    }

    fn len(self) -> u32 {
        self.end - self.start
    }
}

/// The free parts of a range, by their places. No two of them touch, so N are enough where fewer than N parts are taken.
pub(crate) struct Spans<const N: usize> {
    free: [Span; N],
    count: usize,
}

impl<const N: usize> Spans<N> {
    /// Nothing is free.
    pub(crate) const fn none() -> Self {
        Spans { free: [Span { start: 0, end: 0 }; N], count: 0 }
    }

    /// The free parts, from first to last.
    pub(crate) fn free(&self) -> &[Span] {
        &self.free[..self.count]
    }

    /// Takes so many units from the smallest part that has them, and of equals from the first; returns that part as it was.
    ///
    /// Cost: O(free parts). What is taken lies at its start.
    pub(crate) fn take(&mut self, units: u32) -> Option<Span> {
        let fits = |&place: &usize| self.free[place].len() >= units;
        let place = (0..self.count).filter(fits).min_by_key(|&place| self.free[place].len())?;
        let whole = self.free[place];
        self.cut(place, units);
        Some(whole)
    }

    /// Takes so many units that begin at a place; returns the free part as it was.
    pub(crate) fn take_at(&mut self, start: u32, units: u32) -> Option<Span> {
        let place = self.free().binary_search_by_key(&start, |span| span.start).ok()?;
        let whole = self.free[place];
        (whole.len() >= units).then(|| self.cut(place, units))?;
        Some(whole)
    }

    /// Cuts units off the start of a free part.
    fn cut(&mut self, place: usize, units: u32) {
        self.free[place].start += units;
        if self.free[place].len() == 0 {
            self.free.copy_within(place + 1..self.count, place);
            self.count -= 1;
        }
    }

    /// Gives units back, which were taken: the free parts that touched them, and what all of it has become. `None`, and they stay taken,
    /// where there is no room to remember them.
    pub(crate) fn give(&mut self, span: Span) -> Option<Given> {
        let place = self.free().partition_point(|other| other.start < span.start);
        let before = place.checked_sub(1).map(|k| self.free[k]).filter(|other| other.end == span.start);
        let after = self.free().get(place).copied().filter(|other| other.start == span.end);
        let whole = Span {
            start: before.map_or(span.start, |other| other.start),
            end: after.map_or(span.end, |other| other.end),
        };
        match (before, after) {
            (Some(_), Some(_)) => {
                self.free[place - 1] = whole;
                self.free.copy_within(place + 1..self.count, place);
                self.count -= 1;
            }
            (Some(_), None) => self.free[place - 1] = whole,
            (None, Some(_)) => self.free[place] = whole,
            (None, None) => {
                if self.count == N {
                    return None;
                }
                self.free.copy_within(place..self.count, place + 1);
                self.free[place] = whole;
                self.count += 1;
            }
        }
        Some(Given { joined: [before, after], whole })
    }
}

/// What giving back has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The free parts before and after it.
    pub(crate) joined: [Option<Span>; 2],
    /// The free part that it is in now.
    pub(crate) whole: Span,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Random;

    const UNITS: u32 = 1000;

    fn all_free() -> Spans<64> {
        let mut spans = Spans::none();
        assert!(spans.give(Span::new(0, UNITS)).is_some());
        spans
    }

    #[test]
    fn the_smallest_part_that_fits_is_taken_and_neighbours_join_again() {
        let mut spans = all_free();
        for start in [0, 100, 200, 300] {
            assert_eq!(spans.take(100).map(|whole| whole.start), Some(start));
        }
        spans.give(Span::new(0, 100));
        spans.give(Span::new(200, 50));
        assert_eq!(spans.take(40), Some(Span { start: 200, end: 250 }));
        assert_eq!(spans.take(60), Some(Span { start: 0, end: 100 }));
        assert_eq!(spans.take(700), None);
        assert_eq!(spans.take_at(240, 10), Some(Span { start: 240, end: 250 }));
        assert_eq!((spans.take_at(240, 1), spans.take_at(60, 41)), (None, None));
        for (start, units) in [(240, 10), (200, 40), (0, 60), (100, 100), (300, 100), (250, 50)] {
            assert!(spans.give(Span::new(start, units)).is_some());
        }
        assert_eq!(spans.free(), [Span::new(0, UNITS)]);
    }

    #[test]
    fn what_cannot_be_remembered_stays_taken() {
        let mut spans = Spans::<2>::none();
        assert!(spans.give(Span::new(0, 10)).is_some());
        assert!(spans.give(Span::new(20, 10)).is_some());
        assert_eq!(spans.give(Span::new(40, 10)), None);
        assert_eq!(spans.give(Span::new(10, 10)).map(|given| given.whole), Some(Span::new(0, 30)));
        assert_eq!(spans.free().len(), 1);
    }

    /// Thousands of random calls, each compared with a table of every unit.
    #[test]
    fn every_unit_is_free_or_taken_as_a_table_of_all_of_them_says() {
        for seed in 1..50u64 {
            let mut numbers = Random::new(seed);
            let mut random = |below: u32| numbers.below(below as usize) as u32;
            let (mut spans, mut taken, mut table) = (all_free(), Vec::<Span>::new(), [false; UNITS as usize]);
            for _ in 0..500 {
                let units = 1 + random(60);
                if taken.len() < 40 && random(3) > 0 {
                    let best = spans.free().iter().map(|span| span.len()).filter(|&len| len >= units).min();
                    let found = spans.take(units);
                    assert_eq!(found.map(Span::len), best, "seed {seed}");
                    taken.extend(found.map(|whole| Span::new(whole.start, units)));
                } else if let Some(place) = (!taken.is_empty()).then(|| random(taken.len() as u32) as usize) {
                    let span = taken.swap_remove(place);
                    if random(2) == 0 && spans.take_at(span.end, units).is_some() {
                        taken.push(Span { start: span.start, end: span.end + units });
                    } else {
                        let given = spans.give(span).unwrap();
                        assert!(given.whole.start <= span.start && given.whole.end >= span.end, "seed {seed}");
                    }
                }
                table.fill(false);
                for span in &taken {
                    for unit in span.start..span.end {
                        assert!(!std::mem::replace(&mut table[unit as usize], true), "seed {seed}: taken twice");
                    }
                }
                for pair in spans.free().windows(2) {
                    assert!(pair[0].end < pair[1].start, "seed {seed}: {pair:?} touch");
                }
                for span in spans.free() {
                    assert!(span.start < span.end && !table[span.start as usize..span.end as usize].contains(&true));
                    table[span.start as usize..span.end as usize].fill(true);
                }
                assert!(!table.contains(&false), "seed {seed}: a unit is lost");
            }
        }
    }
}
